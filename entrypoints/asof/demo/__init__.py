"""The demonstration: a conversation over two years, and what a memory with two clocks makes of it."""
