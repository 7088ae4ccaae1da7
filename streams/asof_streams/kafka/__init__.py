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
    "inbox",
    "messages_topic",
    "partitioning",
    "rewritten_records",
    "rights",
    "state",
    "topic_log",
    "topic_rules",
    "topics",
]
