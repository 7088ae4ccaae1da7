"""A responder that is killed at a step, or answers all that is there, as the work of a child process."""

import time
from contextlib import closing
from pathlib import Path

from asof.runtime.child_process import Channel
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof.service.responder import Responder
from asof.service.topic_responder import ResponderPartition
from asof.settings import Settings
from asof_streams.kafka.client import Client
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.event_topic import EventTopic
from asof_streams.kafka.topics import Topics
from killed_platform import end_at

STEPS: dict[str, tuple[type, str, str]] = {  # where the process ends, before a call or after it
    "the topic is claimed": (EventTopic, "take_over", "after"),
    "the message is known": (ConversationLog, "_follow_messages", "after"),
    "the reply is begun": (Responder, "reply", "before"),
    "the reply is made": (Responder, "_events", "after"),
    "the reply is to be sent": (EventTopic, "append", "before"),
    "the reply is on the topic alone": (EventTopic, "_expect_to_stand", "before"),
    "the reply is on the topic, and here": (EventTopic, "append", "after"),
    "the reply is known": (ConversationLog, "append", "after"),
}
_LOOK_SECONDS = 0.05


def answer(_: Channel, bootstrap: str, prefix: str, directory: Path, step: str | None) -> None:
    connection, topics = Connection(bootstrap), Topics(prefix)
    settings = Settings(data=directory, embedder="none")
    if step is not None:
        end_at(*STEPS[step])
    with (
        Client(connection) as client,
        closing(ResponderPartition(DirectoryLayout(directory), settings, connection, topics, 0)) as responder,
    ):
        while responder.offset < client.end(topics.messages, 0) or responder.is_answering:
            responder.ingest([])
            time.sleep(_LOOK_SECONDS)
