"""The settings that a topic needs to keep history and order, and the check of a topic against them. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple

from asof_streams.errors import TopicUnfit

MESSAGE_BYTES: Final = 1_048_588  # Kafka's default limit
DERIVED_BYTES: Final = 8 * 2**20  # the longest record that asof may send: escaping makes a text longer
DEAD_LETTER_BYTES: Final = 2 * 2**20  # a copy has more headers than the original
SAFE_REPLICAS: Final = 3
SAFE_IN_SYNC: Final = 2
AGENTS: Final = ("recorder", "believer", "responder")  # of a worker: each has topics of its own

Severity = Literal["error", "warning"]
Kind = Literal["messages", "derived", "dead letters"]


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """A setting of a topic that is not as it must be (error) or should be (warning), with the reason and the remedy."""

    topic: str
    setting: str
    found: str
    wanted: str
    why: str
    fix: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.topic}: {self.setting} is {self.found}, not {self.wanted}: {self.why}. {self.fix}"

    def to_json(self) -> dict[str, Any]:
        """Return its fields, as the command line shows them."""
        return asdict(self)


class SettingRule(NamedTuple):
    """The required value of one setting. `topics.create` sets `wanted`; `holds` accepts other values that are safe."""

    setting: str
    wanted: str
    holds: Callable[[str], bool]
    why: str


class TopicDescription(NamedTuple):
    """A topic as a broker describes it."""

    partitions: int
    replication: int  # of the partition that has the fewest
    settings: Mapping[str, str]
    starts: Sequence[int]  # the first offset that each partition still has


def _exactly(setting: str, wanted: str, why: str) -> SettingRule:
    return SettingRule(setting, wanted, lambda found: found == wanted, why)


def _at_least(setting: str, wanted: int, why: str) -> SettingRule:
    return SettingRule(setting, str(wanted), lambda found: int(found) >= wanted, why)


_NOT_COMPACTED: Final = SettingRule(
    "cleanup.policy",
    "delete",
    lambda found: "compact" not in found,
    "compaction keeps only the last record of each group",
)
_KEPT: Final = (
    _NOT_COMPACTED,
    _exactly("retention.ms", "-1", "records older than that are deleted, and they are the history"),
    _exactly("retention.bytes", "-1", "records beyond that size are deleted, and they are the history"),
    _exactly("message.timestamp.type", "LogAppendTime", "known time is the broker's clock, not that of a producer"),
)
_SIZE: Final = "max.message.bytes"
RULES: Final[Mapping[Kind, Sequence[SettingRule]]] = {
    "messages": (*_KEPT, _at_least(_SIZE, MESSAGE_BYTES, "it would refuse messages that other brokers take")),
    "derived": (*_KEPT, _at_least(_SIZE, DERIVED_BYTES, "it would refuse records that asof may send")),
    "dead letters": (
        _NOT_COMPACTED,
        _at_least(_SIZE, DEAD_LETTER_BYTES, "a copy has more headers than the record that it is a copy of"),
    ),
}
_IN_SYNC: Final = _at_least("min.insync.replicas", SAFE_IN_SYNC, "a write counts as kept while one broker has it")
_CLEAN: Final = _exactly(
    "unclean.leader.election.enable", "false", "a broker that missed records may become leader, and they are gone"
)


def check_topic(
    topic: str, kind: Kind, found: TopicDescription, partitions: int, bootstrap: str
) -> Iterator[TopicFinding]:
    """Yield the findings of one topic; `partitions` is the number that the messages topic has."""
    if found.partitions != partitions:
        yield _uneven(topic, found.partitions, partitions, bootstrap)
    for rule in RULES[kind]:
        yield from _broken(topic, rule, found, bootstrap)
    if kind != "dead letters":
        yield from (_truncated(topic, number, start) for number, start in enumerate(found.starts) if start)
    if found.replication < SAFE_REPLICAS:
        yield _thin(topic, found.replication)
    if found.replication > 1:  # with a single copy, the finding above says it all
        yield from _broken(topic, _IN_SYNC, found, bootstrap, "warning")
        yield from _broken(topic, _CLEAN, found, bootstrap, "warning")


def missing_topic(topic: str) -> TopicFinding:
    """Return the finding of a topic that does not exist."""
    why = "it is not there, or this user may not see it"
    return TopicFinding(topic, "topic", "absent", "present", why, "Run: asof topics create")


def require(findings: Sequence[TopicFinding]) -> None:
    """Raise TopicUnfit with the first error and the number of the others; warnings raise nothing."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        more = f" ({len(errors) - 1} more: asof topics check lists them)" if errors[1:] else ""
        raise TopicUnfit(f"{errors[0]}{more}")


def _broken(
    topic: str, rule: SettingRule, found: TopicDescription, bootstrap: str, severity: Severity = "error"
) -> Iterator[TopicFinding]:
    value = found.settings.get(rule.setting)
    if value is not None and not rule.holds(value):
        fix = (
            f"Run: kafka-configs.sh --bootstrap-server {bootstrap} --alter --entity-type topics"
            f" --entity-name {topic} --add-config {rule.setting}={rule.wanted}"
        )
        yield TopicFinding(topic, rule.setting, value, rule.wanted, rule.why, fix, severity)


def _uneven(topic: str, found: int, wanted: int, bootstrap: str) -> TopicFinding:
    """Return the finding of another number; no remedy raises one, since groups would leave their history behind."""
    fix = (
        "If the messages topic was given another number: take new topics, by asof topics create --prefix NAME, produce"
        " there, and replay into them what a worker's directory has, for each partition P: asof replay"
        f" kafka://{bootstrap}/NAME.messages --log messages --data DIR --partition P. If only {topic} is wrong, stop"
        f" all workers and run: kafka-topics.sh --bootstrap-server {bootstrap} --delete --topic {topic}; then asof"
        " topics create. A worker fills it again"
    )
    why = "a partition holds what follows from the same partition of the messages, and a group stays in its own"
    return TopicFinding(topic, "partitions", str(found), str(wanted), why, fix)


def _truncated(topic: str, partition: int, start: int) -> TopicFinding:
    return TopicFinding(
        topic,
        f"first offset of partition {partition}",
        str(start),
        "0",
        f"the {start} records before it were deleted",
        "What is gone does not come back: restore the topic from a backup, or begin anew with another --prefix",
    )


def _thin(topic: str, replication: int) -> TopicFinding:
    return TopicFinding(
        topic,
        "replication factor",
        str(replication),
        f"{SAFE_REPLICAS} or more",
        "with fewer copies a broker that is lost can take history with it",
        f"On a cluster of {SAFE_REPLICAS} brokers or more, raise it with kafka-reassign-partitions.sh",
        "warning",
    )
