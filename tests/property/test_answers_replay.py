"""What a search, a context or a why answered at a moment it answers again as of it, whatever was done since."""

from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st

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
OF_A_SLOT = st.tuples(st.just("slot"), st.sampled_from(["end", "retract"]), NAMES, PLACES)  # perhaps of none: parked
OF_A_NUMBER = st.tuples(st.sampled_from(["withdraw", "retract", "end", "settle"]), NUMBERS)
IDENTITY = st.one_of(
    st.tuples(st.sampled_from(["merge", "split"]), st.sampled_from(["Annie", "Ana", "Rome"]), NAMES),
    st.tuples(st.sampled_from(["split", "unalias"]), st.just("Boss"), st.sampled_from(["Annie", "Chief"])),
    st.tuples(st.just("alias"), NAMES, st.sampled_from(["Nia", "Chief"])),
)
ENTITY = st.tuples(st.just("entity"), st.sampled_from(["id-1", "id-2"]), NAMES, st.sampled_from(["", "A cook."]))
WHOLE = st.sampled_from([("retry",), ("consolidate", False), ("consolidate", True), ("zone",), ("restart",)])
ERASE = st.tuples(st.just("erase"), st.none() | NAMES)
STEPS = st.lists(
    st.one_of(SAY, SAY, STATE, OF_A_SLOT, OF_A_NUMBER, OF_A_NUMBER, IDENTITY, IDENTITY, ENTITY, WHOLE, ERASE),
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
)
EACH = [  # a step of each kind that takes something back, or tells it anew
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
    ever = world.memory.facts(group_id="g", any_time=True, **({} if known is None else {"known_at": known}))
    for fact in ever:
        found += [world.memory.why(fact.uuid, known_at=known), world.memory.history(fact.uuid, known_at=known)]
    return found


@settings(max_examples=tries(3, nightly=300), deadline=None)
@given(STEPS)
@example(EACH)
def test_what_was_answered_at_a_moment_is_answered_again_as_of_it(steps) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder) / "data", embedder="hash")
        given_then = []
        for number, step in enumerate((*BEFORE, *steps)):
            world.now += HOUR
            with suppress(InvalidInput, NotFound):
                do(world, step)
            if number >= len(BEFORE) - 1:
                given_then.append((world.now, answers(world, world.now, None)))
        for now, then in given_then:
            assert answers(world, now, now) == then, f"as of {now}"
        world.memory.close()
