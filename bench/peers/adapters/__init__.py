"""One module a peer, each imported by the interpreter of the environment in which the peer is installed."""
