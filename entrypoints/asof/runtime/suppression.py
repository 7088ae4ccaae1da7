"""Content that its producer asked not to keep: once it was read, the log of messages is made to forget it."""

from asof_streams.events import Record
from asof_streams.messages import AnyMessage, Message
from asof_streams.sqlite_log import SqliteLog


class Suppression:
    """Remembers from which position on messages may have content to forget. A reader of the log delays it.

    What was read of it is on the disk, in the episodic log, before it cannot be read again.
    """

    def __init__(self, messages: SqliteLog, episodic: SqliteLog, start: int) -> None:
        self._messages = messages
        self._episodic = episodic
        self._start: int | None = start

    def note(self, message: Record) -> None:
        """Remember a message that wishes it."""
        if self._start is None and type(message.event) is Message and message.event.suppress_content:
            self._start = message.position

    def apply(self, stop: int) -> None:
        """Make the content of the messages before a position unreadable, where it is not to be kept."""
        if self._start is not None:
            self._episodic.sync()
            done = self._messages.suppress(self._start, stop)
            self._start = None if done and not self._messages.has_content_keys else stop


def suppressed(message: AnyMessage) -> AnyMessage:
    """Return a message whose content is to be suppressed; one without content stays as it is."""
    return message.model_copy(update={"suppress_content": True}) if isinstance(message, Message) else message
