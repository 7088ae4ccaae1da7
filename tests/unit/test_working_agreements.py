"""What coding agents are told: rules, choices with their reasons, commands, owners and deadlines."""

import pytest

from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_ontologies.registry import load
from reading import AGENT_MEMORY, check, read, shown, talk, turn

RULES = [
    "Always run make lint before committing",
    "Never edit the lock file",
    "Don't push directly to main",
    "Run the migrations before the tests",
    "Make sure to update the changelog when you fix a bug",
    "Commit messages must start with a verb",
    "We always run the linter before a release",
    "Never use print in library code",
    "Do not touch vendor/",
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("opening", ["", "Please ", "From now on, "])
def test_a_rule_is_kept_whole(opening: str, rule: str) -> None:
    text = opening + (rule[0].lower() + rule[1:] if opening else rule)

    assert f"I has_rule {text[len(opening) :]}" in shown(read(f"{text}.", AGENT_MEMORY))


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests.",
        "Don't worry about the lock file.",
        "Don't merge that yet.",
        "I must go now.",
        "Can you run the tests before you push?",
        "Maybe always run the tests before you push.",
        "He said the tests should pass.",
        "Always.",
        "Thanks, that looks good to me.",
    ],
)
def test_what_is_to_be_done_once_or_only_said_is_no_rule(text: str) -> None:
    check(text, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Use tabs, not spaces.",
            ["I prefers tabs", "I avoids spaces", "I prefers spaces ended", "I avoids tabs ended"],
        ),
        (
            "Please use uv rather than pip.",
            ["I prefers uv", "I avoids pip", "I prefers pip ended", "I avoids uv ended"],
        ),
        ("Prefer composition over inheritance.", ["I prefers composition"]),
        ("Use Redis.", []),
        (
            "We chose Postgres over MySQL because it has better JSON support.",
            ["I decided Postgres", "Postgres chosen_because it has better JSON support", "Postgres chosen_over MySQL"],
        ),
        ("We decided on Redis because of its speed.", ["I decided Redis", "Redis chosen_because of its speed"]),
        ("We have used Redis since March.", ["I uses Redis 2024-03-01.."]),
        ("Did we choose Redis because it is fast?", []),
    ],
)
def test_a_choice_is_told_with_its_reason_and_what_was_not_chosen(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The test command is `make test`.", ["test command has_value make test"]),
        ("Our build command is now npm run build.", ["build command has_value npm run build"]),
        ("The test command is broken.", []),
        ("The command is long.", []),
    ],
)
def test_a_command_is_the_value_of_its_name(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Ben took over the billing service from Dana on 3 March.",
            ["Ben owns billing service 2024-03-03..", "Dana owns billing service ended ..2024-03-03"],
        ),
        (
            "Dana handed over the billing service to Ben.",
            ["Ben owns billing service", "Dana owns billing service ended"],
        ),
        ("Ben took over from Dana.", []),
        ("Maybe Ben took over the billing service from Dana.", []),
    ],
)
def test_a_change_of_owner_ends_what_the_earlier_one_owned(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        (
            ("Peter owns the mobile app.", "We dropped Kafka and chose NATS instead because it is simpler."),
            ["I uses Kafka ended", "I decided NATS", "NATS chosen_because it is simpler"],
        ),
        (
            ("Peter owns the mobile app.", "We use pnpm instead because it is faster."),
            ["I uses pnpm", "pnpm chosen_because it is faster"],
        ),
        (("Tom owns the search module.", "Tom now owns the billing service."), ["Tom owns billing service"]),
        (
            (
                "Felix is on the platform team. The platform team owns the gateway.",
                "Felix moved over to the data team.",
            ),
            ["Felix member_of data team", "Felix member_of platform team ended"],
        ),
        (
            ("Tom owns the search module.", "Tom took over the billing service from Maria."),
            ["Tom owns billing service", "Maria owns billing service ended"],
        ),
        (
            ("Anna owns the search module.", "The search module is now owned by Bob."),
            ["Bob owns search module", "Anna owns search module ended"],
        ),
        (
            ("Anna owns the search module.", "Anna no longer owns the search module."),
            ["Anna owns search module ended"],
        ),
    ],
)
def test_a_responsibility_ends_where_another_has_it_and_no_other_thing_takes_its_place(
    texts: tuple[str, ...], last: list[str]
) -> None:
    assert sorted(shown(talk(*texts, extractor=AGENT_MEMORY)[-1])) == sorted(last)


def test_what_a_person_owns_is_replaced_as_before_where_things_are_owned_and_no_work() -> None:
    found = talk("I drive a Honda Civic.", "I sold the Honda Civic and bought a Toyota Yaris.")[-1]

    assert {"I owns Honda Civic ended", "I owns Toyota Yaris"} <= {line.replace("the ", "") for line in shown(found)}


BETA = "The deadline for the beta is 5 May."
COMMAND = "The test command is `make test`."


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        ((BETA, "The deadline for the beta is no longer 5 May."), ["beta scheduled_for 5 May ended"]),
        ((BETA, "The deadline of the beta isn't 5 May anymore."), ["beta scheduled_for 5 May ended"]),
        ((BETA, "The deadline for the beta is no longer 3 April."), ["beta scheduled_for 3 April ended"]),
        ((BETA, "The deadline for the beta is not 5 May but 12 May."), ["beta scheduled_for 12 May"]),
        (
            (BETA, "The deadline for the beta is not 5 May any more, it's 12 May."),
            ["beta scheduled_for 5 May ended", "beta scheduled_for 12 May"],
        ),
        ((COMMAND, "The test command is not `make test`."), ["test command has_value make test ended"]),
        ((COMMAND, "The test command is no longer make test."), ["test command has_value make test ended"]),
        (
            (COMMAND, "The test command is not `make test` but `make check`."),
            ["test command has_value make check", "test command has_value make test denied"],
        ),
        (("The port is 8080.", "The port is not 8080."), ["port has_value 8080 ended"]),
        (("The API is on version 2.", "The API is no longer on version 2."), ["API has_version 2 ended"]),
        (
            (
                "The rate limit is 100 requests per second.",
                "The rate limit is no longer 100 requests per second.",
            ),
            ["rate limit has_value 100 requests per second ended"],
        ),
        (("The limit is 100 MB.", "The limit is not only 100 MB."), []),
        (("The limit is 100 MB.", "The limit is not over 100 MB."), []),
        (("The freeze is on 5 May.", "The freeze is not before 5 May."), []),
        ((COMMAND, "The test command is not what I meant."), []),
        (("Thanks.", "The port is not 8080."), []),
    ],
)
def test_a_value_that_a_thing_is_said_not_to_have_has_ended(texts: tuple[str, ...], last: list[str]) -> None:
    assert sorted(shown(talk(*texts, extractor=AGENT_MEMORY)[-1])) == sorted(last)


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        (("We decided to use Kafka.", "We no longer use Kafka."), ["I uses Kafka ended", "I decided Kafka ended"]),
        (("We decided to use Kafka.", "We stopped using Kafka."), ["I uses Kafka ended", "I decided Kafka ended"]),
        (
            ("We decided on Postgres.", "We switched from Postgres to MySQL because of licensing."),
            [
                "I uses MySQL",
                "I uses Postgres ended",
                "I decided Postgres ended",
                "I decided MySQL",
                "MySQL chosen_because of licensing",
            ],
        ),
        (("We decided on Redis.", "We decided against Redis."), ["I decided Redis ended"]),
        (("We decided on Redis.", "We decided not to use Redis."), ["I decided Redis ended"]),
        (("We decided on tabs.", "We decided on spaces instead."), ["I decided spaces", "I decided tabs ended"]),
        (
            ("We chose Redis over Memcached.", "We chose Memcached over Redis after all."),
            ["I decided Memcached", "Memcached chosen_over Redis", "I decided Redis ended"],
        ),
        (("Good morning.", "We decided against Redis."), []),
        (("We decided on Redis.", "We argued against Redis."), []),
        (("We decided on Postgres.", "We may switch from Postgres to MySQL."), []),
        (("We decided on Postgres.", "Redis runs in staging."), []),
        (("We use Kafka.", "We never used Kafka."), ["I uses Kafka denied"]),
    ],
)
def test_a_choice_that_is_taken_back_has_ended(texts: tuple[str, ...], last: list[str]) -> None:
    assert sorted(shown(talk(*texts, extractor=AGENT_MEMORY)[-1])) == sorted(last)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom is the new owner of the search module.", ["Tom owns search module"]),
        ("The new owner of the parser is Tom.", ["Tom owns parser"]),
        ("The parser's owner is now Bob.", ["Bob owns parser"]),
        ("Ownership of the parser moved from Ann to Bob.", ["Bob owns parser", "Ann owns parser ended"]),
        ("Maria owns billing.", ["Maria owns billing"]),
        ("Bob maintains the parser.", ["Bob maintains parser"]),
        ("The parser belongs to Bob.", ["Bob owns parser"]),
        ("The billing service belongs to Ann's team.", ["Ann's team owns billing service"]),
        ("The old owner of the parser is Tom.", []),
        ("Maybe Maria owns billing.", []),
        ("Maria owns it.", []),
        ("I think Maria owns billing.", []),
        ("Who owns the parser?", []),
        ("The book belongs to Ann.", []),
        ("The parser belongs to the team's backlog.", []),
    ],
)
def test_an_owner_is_told_in_many_ways(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize("text", ["Maria owns billing.", "The owner of the cafe is Bob.", "Ownership moved to Bob."])
def test_where_people_own_other_things_than_work_such_words_tell_no_owner(text: str) -> None:
    assert "owns" not in " ".join(shown(read(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Prefer small commits.", ["I has_rule Prefer small commits"]),
        ("Prefer small commits over big ones.", ["I has_rule Prefer small commits over big ones"]),
        ("Prefer composition over inheritance.", ["I prefers composition"]),
        ("I prefer small commits.", ["I prefers small commits"]),
    ],
)
def test_a_practice_that_is_asked_for_is_a_rule(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You may edit the lock file now.", ["I has_rule never edit the lock file ended"]),
        ("It's fine to push to main again.", ["I has_rule never push to main ended"]),
        ("Pushing to main is fine now.", ["I has_rule never Pushing to main ended"]),
        ("You don't have to run make lint any more.", ["I has_rule always run make lint ended"]),
        ("Forget the rule about the lock file.", ["I has_rule about the lock file ended"]),
        ("The rule about the lock file no longer applies.", ["I has_rule about the lock file ended"]),
        ("You may never edit the lock file.", []),
        ("You may want to edit the lock file.", []),
        ("Maybe you can edit the lock file.", []),
        ("Can you edit the lock file?", []),
        ("Don't forget the rule about the lock file.", []),
        ("Forget it.", []),
    ],
)
def test_a_rule_is_lifted_by_what_it_said(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)


def test_a_short_name_is_the_one_known_thing_that_it_begins() -> None:
    def known(names: object) -> dict[str, str]:
        return {"billing service": "Component"} if "billing service" in list(names) else {}  # type: ignore[call-overload]

    extractor = EnglishExtractor(load("agent_memory_v1"), find_times)
    found = extractor.extract(turn("Ben took over billing from Dana."), [], known)

    assert shown(found) == ["Ben owns billing service", "Dana owns billing service ended"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The deadline for the beta is 5 May.", ["beta scheduled_for 5 May"]),
        ("The deadline of the beta has moved to 12 May.", ["beta scheduled_for 12 May"]),
        ("The deadline for the beta moved from 5 May to 12 May.", ["beta scheduled_for 12 May"]),
        ("We moved the deadline for the beta to 12 May.", ["beta scheduled_for 12 May"]),
        ("The beta slipped to 12 May.", ["beta scheduled_for 12 May"]),
        ("The deadline for the beta might be 5 May.", []),
        ("The deadline for the beta was missed by Ana on 5 May.", []),
    ],
)
def test_a_deadline_is_the_date_of_the_thing(text: str, expected: list[str]) -> None:
    check(text, *expected, extractor=AGENT_MEMORY)
