"""Topics have names that Kafka takes, and whatever would lose history or order in one is found and told how to mend."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from asof_streams.errors import InvalidInput, TopicUnfit
from asof_streams.kafka.topic_rules import (
    RULES,
    Kind,
    TopicDescription,
    TopicFinding,
    check_topic,
    missing_topic,
    require,
)
from asof_streams.kafka.topics import Topics

SAFE = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
KINDS: list[Kind] = ["messages", "derived", "dead letters"]
HARMFUL = [
    ("cleanup.policy", "compact", "delete"),
    ("cleanup.policy", "compact,delete", "delete"),
    ("retention.ms", "604800000", "-1"),
    ("retention.bytes", "1073741824", "-1"),
    ("message.timestamp.type", "CreateTime", "LogAppendTime"),
]


def described(kind: Kind, settings: Mapping[str, str] = MappingProxyType({}), **found: Any) -> TopicDescription:
    right = {rule.setting: rule.wanted for rule in RULES[kind]} | SAFE
    return TopicDescription(3, 3, right | dict(settings), (0, 0, 0))._replace(**found)


def found_in(kind: Kind, topic: TopicDescription) -> list[tuple[str, str, str, str]]:
    findings = check_topic("asof.x", kind, topic, partitions=3, bootstrap="kafka:9092")
    return [(f.severity, f.setting, f.found, f.wanted) for f in findings]


def test_the_names_of_a_memory_begin_with_its_prefix() -> None:
    assert Topics("shop").all(["main", "b2"]) == {
        "shop.messages": "messages",
        "shop.episodic": "derived",
        "shop.semantic.main": "derived",
        "shop.semantic.b2": "derived",
        "shop.dead-letters": "dead letters",
    }


def test_generations_are_found_among_the_names_of_all_topics() -> None:
    names = [
        "asof.messages",
        "asof.semantic.main",
        "asof.semantic.b2",
        "asof.semantic.",
        "asofx.semantic.other",
        "main",
    ]

    assert Topics().generations_of(names) == ["b2", "main"]
    assert Topics().generations_of(["asof.semantic.x.messages"]) == [], "of the memory asof.semantic.x"


@pytest.mark.parametrize("prefix", ["", ".", ".x", "two words", "a/b", "é", "a\n", "x" * 161, "asof.semantic"])
def test_a_prefix_that_cannot_begin_the_name_of_a_topic_is_refused(prefix: str) -> None:
    with pytest.raises(InvalidInput, match="ASOF_KAFKA_PREFIX"):
        Topics(prefix)


@pytest.mark.parametrize("prefix", ["asof", "team-1.memory_2", "x" * 160, "semantic"])
def test_other_prefixes_are_taken_and_leave_room_for_the_longest_generation(prefix: str) -> None:
    assert len(Topics(prefix).semantic("g" * 63)) <= 249


@pytest.mark.parametrize("kind", KINDS)
def test_a_topic_that_is_set_as_it_is_made_is_found_without_fault(kind: Kind) -> None:
    assert found_in(kind, described(kind)) == []


@pytest.mark.parametrize("kind", ["messages", "derived"])
@pytest.mark.parametrize(("setting", "found", "wanted"), HARMFUL)
def test_a_setting_that_loses_history_is_an_error_with_the_command_that_mends_it(
    kind: Kind, setting: str, found: str, wanted: str
) -> None:
    [finding] = check_topic("asof.x", kind, described(kind, {setting: found}), partitions=3, bootstrap="kafka:9092")

    assert (finding.severity, finding.setting, finding.found, finding.wanted) == ("error", setting, found, wanted)
    assert finding.fix == (
        "Run: kafka-configs.sh --bootstrap-server kafka:9092 --alter --entity-type topics"
        f" --entity-name asof.x --add-config {setting}={wanted}"
    )


@pytest.mark.parametrize(
    ("kind", "least"), [("messages", 1_048_588), ("derived", 8_388_608), ("dead letters", 2_097_152)]
)
def test_a_topic_must_take_the_largest_record_that_goes_there_and_may_take_larger_ones(kind: Kind, least: int) -> None:
    setting = "max.message.bytes"

    assert found_in(kind, described(kind, {setting: str(least + 1)})) == []
    assert found_in(kind, described(kind, {setting: str(least - 1)})) == [
        ("error", setting, str(least - 1), str(least))
    ]


def test_dead_letters_may_be_thrown_away_since_the_messages_are_kept() -> None:
    short = {"retention.ms": "1000", "retention.bytes": "1000", "message.timestamp.type": "CreateTime"}

    assert found_in("dead letters", described("dead letters", short, starts=(7, 7, 7))) == []
    assert found_in("dead letters", described("dead letters", {"cleanup.policy": "compact"}))


@pytest.mark.parametrize("count", [1, 4])
def test_another_number_of_partitions_than_the_messages_have_is_an_error_that_no_command_raises(count: int) -> None:
    [finding] = check_topic(
        "asof.x", "derived", described("derived", partitions=count), partitions=3, bootstrap="kafka:9092"
    )

    assert (finding.severity, finding.setting, finding.found, finding.wanted) == (
        "error",
        "partitions",
        f"{count}",
        "3",
    )
    assert "take new topics, by asof topics create --prefix NAME" in finding.fix
    assert "--alter" not in finding.fix


def test_a_topic_whose_first_records_are_gone_is_an_error_in_each_partition_that_lost_some() -> None:
    assert found_in("messages", described("messages", starts=(0, 12, 1))) == [
        ("error", "first offset of partition 1", "12", "0"),
        ("error", "first offset of partition 2", "1", "0"),
    ]


def test_what_endangers_history_only_when_a_broker_is_lost_is_a_warning() -> None:
    unsafe = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}

    assert found_in("derived", described("derived", unsafe)) == [
        ("warning", "min.insync.replicas", "1", "2"),
        ("warning", "unclean.leader.election.enable", "true", "false"),
    ]
    assert found_in("derived", described("derived", unsafe, replication=1)) == [
        ("warning", "replication factor", "1", "3 or more")
    ], "one copy alone says it all"


def test_nothing_is_raised_where_there_is_no_error() -> None:
    require([])
    require([replace(missing_topic("asof.x"), severity="warning")])


def test_the_first_error_is_raised_with_its_remedy_and_the_number_of_the_others() -> None:
    errors = [missing_topic("asof.messages"), missing_topic("asof.episodic"), missing_topic("asof.dead-letters")]
    warning = TopicFinding("asof.x", "replication factor", "1", "3 or more", "why", "fix", "warning")

    with pytest.raises(TopicUnfit, match=r"^asof\.messages: .* Run: asof topics create \(2 more: asof topics check"):
        require([warning, *errors])
    with pytest.raises(TopicUnfit, match=r"asof topics create$"):
        require(errors[:1])
