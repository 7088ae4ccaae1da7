"""The logs as Kafka topics: connection, topics, wire form, and the local copies that readers use."""

__all__ = [
    "client",
    "connection",
    "control_topic",
    "dead_letters",
    "envelope",
    "errors",
    "event_topic",
    "fence",
    "messages_topic",
    "partitioning",
    "state",
    "topic_log",
    "topic_rules",
    "topics",
]
