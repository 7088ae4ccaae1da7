"""The runtime on Kafka: a directory that is a replica of topics, and the processes that keep it up."""

__all__ = [
    "encryption",
    "follower",
    "producer",
    "projector_process",
    "prompts",
    "rebuild",
    "replay_topic",
    "replica_keeper",
    "replies_log",
    "topic_logs",
    "topic_rewrite",
    "worker_process",
]
