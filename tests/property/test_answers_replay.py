"""What a memory answered at a moment it answers again as of it, whatever was done since: every question of Python."""

from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from asof.api.memory import Memory
from asof_streams.errors import InvalidInput, NotFound
from effort import tries
from world import World

HOUR = 3_600 * 1_000_000
NAMES = st.sampled_from(["Ana", "Ben", "Annie", "Boss", "Chief"])
PLACES = st.sampled_from(["Oslo", "Rome", "Lima"])
ENTITIES = st.one_of(NAMES, PLACES)
NUMBERS = st.integers(0, 5)
SENTENCES = [
    "I live in {}.",
    "I moved to {} yesterday.",
    "I never lived in {}.",
    "It was {}, not Rome.",
    "I no longer live in {}.",
    "My sister Annie lives in {}.",
    "I'm going to visit {} next month.",
    "I visited {} last week.",
    "{} is loud.",
    "Thanks!",
]
GROUPS = st.sampled_from(["g", "g", "g", "other"])
SAY = st.tuples(st.just("say"), GROUPS, NAMES, st.sampled_from(SENTENCES), PLACES)
STATE = st.tuples(
    st.just("state"),
    GROUPS,
    NAMES,
    st.sampled_from(["lives_in", "knows", "visited"]),
    ENTITIES,
    st.integers(2018, 2025),
    st.none() | st.integers(1, 3),
)
TELL = st.tuples(  # of a few facts, so that most are told again
    st.just("tell"),
    st.sampled_from(["Ana", "Ben"]),
    st.sampled_from([("rent", 900), ("rent", "900"), ("lives_in", "Rome")]),
    st.dictionaries(st.sampled_from(["floor", "by"]), st.sampled_from([3, "Ben"]), max_size=2),
)
OF_A_SLOT = st.tuples(st.just("slot"), st.sampled_from(["end", "retract"]), NAMES, PLACES)  # perhaps of none: parked
OF_A_NUMBER = st.tuples(st.sampled_from(["withdraw", "retract", "end", "settle"]), NUMBERS)
IDENTITY = st.one_of(
    st.tuples(st.sampled_from(["merge", "split"]), st.sampled_from(["Annie", "Ana", "Rome"]), NAMES),
    st.tuples(st.sampled_from(["split", "unalias"]), st.just("Boss"), st.sampled_from(["Annie", "Chief"])),
    st.tuples(st.just("alias"), NAMES, st.sampled_from(["Nia", "Chief"])),
)
ENTITY = st.tuples(st.just("entity"), st.sampled_from(["id-1", "id-2"]), NAMES, st.sampled_from(["", "A cook."]))
POST = st.tuples(
    st.just("post"),
    st.sampled_from(["message", "feedback", "edit", "deletion", "reaction"]),
    st.sampled_from(["1", "2"]),
    st.sampled_from(["I live in Oslo.", "My goal is to learn to sail.", "\N{WASTEBASKET}\N{VARIATION SELECTOR-16}"]),
)
WHOLE = st.sampled_from([("retry",), ("consolidate", False), ("consolidate", True), ("zone",), ("restart",)])
ERASE = st.tuples(st.just("erase"), st.none() | NAMES)
STEPS = st.lists(
    st.one_of(
        SAY,
        SAY,
        STATE,
        TELL,
        TELL,
        OF_A_SLOT,
        OF_A_NUMBER,
        OF_A_NUMBER,
        IDENTITY,
        IDENTITY,
        ENTITY,
        POST,
        POST,
        WHOLE,
        ERASE,
    ),
    min_size=1,
    max_size=6,
)
BEFORE = (
    ("say", "other", "Ana", "I live in {}.", "Oslo"),
    ("slot", "end", "Annie", "Rome"),  # of nobody yet, so it is parked
    ("say", "g", "Ben", "My sister Annie lives in {}.", "Rome"),
    ("say", "g", "Ben", "Annie Bell moved to {} yesterday.", "Rome"),  # gives her another name
    ("state", "g", "Ana", "lives_in", "Rome", 2019, None),
    ("state", "g", "Boss", "knows", "Ana", 2020, None),
    ("alias", "Boss", "Chief"),
    ("merge", "Annie", "Boss"),
    ("entity", "id-1", "Ana", "A cook."),
    ("say", "g", "Ana", "I moved to {} yesterday.", "Lima"),
    ("consolidate", False),
    ("tell", "Ana", ("rent", "900"), {"by": "Ben"}),
    ("say", "g", "Ben", "I'm going to visit {} next month.", "Oslo"),
    ("post", "message", "1", "My goal is to learn to sail."),
    ("post", "feedback", "2", "Thanks."),
    ("state", "g", "Ben", "lives_in", "Oslo", 2019, None),
    ("state", "g", "Ben", "lives_in", "Lima", 2019, None),
)
EACH = [  # a step of each kind that takes something back, or tells it anew
    ("tell", "Ana", ("rent", "900"), {"floor": 3}),
    ("say", "g", "Ben", "I'm going to visit {} next month.", "Oslo"),
    ("settle", 3),
    ("state", "g", "Annie", "knows", "Oslo", 2023, 3),
    ("withdraw", 2),
    ("say", "other", "Ana", "I live in {}.", "Rome"),
    ("split", "Boss", "Annie"),
    ("unalias", "Boss", "Chief"),
    ("end", 0),
    ("consolidate", True),
    ("retry",),
    ("erase", "Ana"),
    ("retract", 0),
    ("withdraw", 2),
    ("withdraw", 2),
    ("entity", "id-1", "Ana", "A baker."),
    ("state", "g", "Ana", "visited", "Rome", 2020, None),
    ("restart",),
    ("merge", "Ana", "Ben"),
    ("alias", "Annie", "Nia"),
    ("say", "g", "Ana", "It was {}, not Rome.", "Lima"),
    ("post", "message", "3", "My goal is to learn to sail."),
    ("post", "deletion", "1", ""),
    ("post", "deletion", "2", ""),
    ("say", "g", "Ben", "I visited {} last week.", "Oslo"),
]
WAYS = ({"min_probability": 0}, {"profile": "pipeline"}, {"center": "Ana"})
QUESTIONS = ("Where does Ana live?", "Who does the chief know in Rome?", "Where does Ben's sister live?")


def do(world: World, step: tuple) -> None:
    """Take one step; what cannot be asked for, such as the erasure of a group that has nothing, is left out."""
    memory = world.memory
    match step:
        case "say", group, who, text, place:
            memory.add(text.format(place), role=who, group_id=group)
        case "state", group, subject, relation, object_, year, lasts:
            until = lasts and f"{year + lasts}"
            memory.state_fact(
                subject=subject, relation=relation, object=object_, valid_at=f"{year}", invalid_at=until, group_id=group
            )
        case "post", kind, number, text:
            ids = {"reply_to": number} if kind == "reaction" else {"external_id": number}
            memory.add("" if kind == "deletion" else text, kind=kind, role="Ana", group_id="g", **ids)
        case "tell", subject, (relation, object_), qualifiers:
            memory.state_fact(
                subject=subject, relation=relation, object=object_, valid_at="2019", qualifiers=qualifiers, group_id="g"
            )
        case "slot", op, subject, place:
            memory.state_fact(op=op, subject=subject, relation="lives_in", object=place, group_id="g")
        case "withdraw", number:
            for episode in memory.episodes(group_id="g")[number : number + 1]:
                memory.withdraw(episode.uuid, group_id="g")
        case "retract" | "end" | "settle" as op, number:
            for fact in memory.overlapping("1900", "2100", group_id="g")[number : number + 1]:
                getattr(memory, op)(fact.uuid, group_id="g")
        case "merge" | "split" | "alias" | "unalias" as op, one, other:
            getattr(memory, op)(one, other, group_id="g")
        case "entity", own_id, name, summary:
            memory.state_entity(own_id, name, summary=summary, group_id="g")
        case ("retry",):
            memory.retry(group_id="g")
        case "consolidate", undo:
            memory.consolidate(group_id="g", undo=undo)
        case ("zone",):
            memory.state_timezone("America/New_York", group_id="g")
        case ("restart",):
            world.restart()
        case "erase", person:
            memory.erase("other", person=person)


def answers(world: World, now: int, known: int | None) -> list[object]:
    """Return what is answered at a moment of valid time, as known at another (None: now)."""
    found: list[object] = []
    at = {"valid_at": now, "group_id": "g"} | ({} if known is None else {"known_at": known})
    for text in QUESTIONS:
        for more in WAYS:
            hits = world.memory.search(text, **at, **more)
            found.append(
                (text, more, [astuple(hit) for hit in hits], list(map(astuple, hits.episodes)), hits.retrieval)
            )
        context = world.memory.context(text, **at, budget=600)
        found.append((text, context.items, context.left_out))
    return found + believed(world.memory, now, known)


def believed(memory: Memory, now: int, known: int | None) -> list[object]:
    """Return what the questions about belief and its history answer, as of the same moments."""
    then: dict[str, Any] = {"group_id": "g"} | ({} if known is None else {"known_at": known})
    at, period = {**then, "valid_at": now}, ("2019", "2024-06")
    ever = memory.facts(any_time=True, **then)
    found = [ever, memory.facts(**at), memory.overlapping(*period, **then), memory.throughout(*period, **then)]
    for fact in ever:
        found += [memory.why(fact.uuid, known_at=known), memory.history(fact.uuid, known_at=known)]
    for name in ("Ana", "Boss", "Chief", "Rome"):
        found += [memory.entity(name, **at), memory.neighbourhood(name, **at), memory.history(name, **then)]
        found += [memory.timeline(name, **then), memory.facts(about=name, **at), memory.facts(object=name, **at)]
        found += [memory.diff(("2020", known), (now, known), about=name, group_id="g")]
    found += [memory.entities(**then), memory.communities(**then), memory.episodes(**then)]
    found += [memory.entities(like="Anna", limit=20, **then), memory.contradictions(settled=True, **then)]
    found += [memory.objectives(**then), memory.feedback(**then), memory.feedback(withdrawn=True, **then)]
    found += [[*memory.export(details=details, episodic=details, **at)] for details in (False, True)]
    return [*found, [*memory.export(versions=True, **then)]]


def changed(memory: Memory, after: int) -> list[object]:
    """Return what messages after a position changed, and the outcome of each of them."""
    changes = memory.changes(after=after, group_id="g").changes
    return [(change, memory.message(change.position)) for change in changes]


@settings(max_examples=tries(3, nightly=300), deadline=None)
@given(STEPS)
@example(EACH)
def test_what_was_answered_at_a_moment_is_answered_again_as_of_it(steps) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "data", embedder="hash")
        given_then = []
        told: list[object] = []
        for number, step in enumerate((*BEFORE, *steps)):
            world.now += HOUR
            after = world.memory.changes().next
            with suppress(InvalidInput, NotFound):
                do(world, step)
            told += changed(world.memory, after)
            if number >= len(BEFORE) - 1:
                given_then.append((world.now, answers(world, world.now, None)))
        for now, then in given_then:
            assert answers(world, now, now) == then, f"as of {now}"
        assert changed(world.memory, -1) == told
        world.memory.close()
