"""What is not looked at again of earlier turns: nothing could come of it, and nothing else comes of the rest."""

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random

import pytest

from asof_agents.extraction.english.announcements import Announcement
from asof_agents.extraction.english.change_signs import Signs, is_change, wording
from asof_agents.extraction.english.context import ParsedSentence, TurnContext, parse
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.extractor import EnglishExtractor
from asof_agents.extraction.english.numerals import TYPED
from asof_agents.extraction.english.patterns import patterns
from asof_agents.extraction.english.replacements import replacements
from asof_agents.extraction.english.restatements import restate, restates_nothing
from asof_agents.extraction.english.slots import slots
from asof_agents.extraction.english.work import Work
from asof_agents.extraction.ports import Extraction, KnownNames, Turn
from asof_ontologies.registry import load
from reading import DEFAULT, SAID_AT, nothing_known, turn

PATTERNS = patterns(load("default"))
SAID = (
    "We bank with Barclays.",
    "It's all at Monzo now.",
    "My sister Ana works at Acme.",
    "My brother lives in Leeds.",
    "My brother lives in Porto.",
    "I moved to Berlin in March.",
    "I moved to Porto in May.",
    "I no longer work at Acme.",
    "I started working at Kestrel two weeks ago.",
    "I don't like Kestrel any more, to be honest.",
    "Kestrel is my best friend, we met in Berlin in 1993.",
    "The board meets on Monday.",
    "The board moved to Thursday.",
    "Our interns stay for three months.",
    "HR lengthened the internships to six months.",
    "Priya owns the billing service.",
    "Priya is going on leave, and Anselm has taken over billing.",
    "oleg is doing the release notes",
    "release notes got reassigned to hannah",
    "My rent is 900 euros.",
    "The rent went up to 950 euros.",
    "I go to bed at 11.",
    "I changed my bedtime, I go to bed at 10 now.",
    "I have a meeting with Ola at 3.",
    "I have a meeting with Kim at 5.",
    "He works at Kestrel, she does too.",
    "I'm a nurse.",
    "I'm a driver now.",
    "We use Slack for chat.",
    "We switched to Kestrel.",
    "i've got a membership at PureGym, sometimes i even go",  # which has a group with the next one, once it is read
    "We finished Severance and are watching Slow Horses now.",
)


def parsed(text: str) -> list[ParsedSentence]:
    return parse(text, PATTERNS, Work())


def is_change_by_all_signs(signs: Signs) -> bool:
    """Decide as `is_change` does, with every sign looked at, in the order of how much each says."""
    if signs.of_person:
        return False
    words = wording(signs.after, signs.new)
    told = words.verb or words.now or (words.weak_verb and (signs.alike or (signs.near and signs.same_lead)))
    if signs.over:
        return told or signs.brief or words.leading or signs.typed or signs.same_lead
    if signs.handed:
        return True
    if signs.of_another or signs.contrasted:
        return False
    if signs.framed and not signs.several and (signs.alike or signs.same_lead):
        return True
    if signs.near and signs.typed and signs.brief and not (signs.several or signs.elsewhere):
        return True
    if not told:
        return False
    one = not signs.several or (signs.same_lead and words.now)
    meant = signs.known or (signs.brief and words.verb and words.leading)
    goes_on = signs.latest and signs.alike and meant and one and not signs.elsewhere
    return signs.near or (signs.shared and signs.typed) or goes_on


def test_the_signs_that_are_not_looked_at_decide_nothing() -> None:
    chance = Random(13)
    decided = set()
    for (before,), (after,) in product(map(parsed, SAID), repeat=2):
        for old, new in product(slots(before), slots(after)):
            flags = [chance.random() < 0.5 for _ in range(11)]
            signs = Signs(before, old, after, new, *flags)
            decided.add(is_change(signs))

            assert is_change(signs) == is_change_by_all_signs(signs), (before.sentence.low, after.sentence.low, signs)
    assert decided == {False, True}


def test_an_earlier_turn_that_is_not_read_again_restates_nothing() -> None:
    passed = 0
    for before, after in product(SAID, SAID):
        earlier = Turn("episode-0", "Kim", "user", before, SAID_AT)
        context = TurnContext(turn(after, 1), [earlier], nothing_known, PATTERNS, find_times)
        DEFAULT._read(context)
        told = [each for each in context.sentences if not each.sentence.question]
        announcement = Announcement(told, [word for each in told for word in each.sentence.low])
        found = list(replacements(parsed(before), announcement, latest=True))
        if not restates_nothing(context, announcement, found):
            continue
        passed += bool(found)
        read = DEFAULT._earlier(earlier, [earlier], nothing_known)
        stated = context.findings.extraction()

        assert not restate(context, announcement, read.sentences, read.relationships, earlier, latest=True)
        assert context.findings.extraction() == stated, (before, after)
    assert passed > 10  # where there is something to restate, but for what was read


STORIES = (
    # what "Kestrel" is known to be after the first turn is not what it was before
    ("We use Kestrel now.", "I don't like Kestrel any more, to be honest.", "We switched from Kestrel to Asana."),
    # "she" is nobody any more once the first turn is no context
    ("My sister Ana is here.", "Nice weather.", "Lunch was fine.", "See you.", "She works at Acme and lives in Berlin.",
     "She left Berlin."),
)  # fmt: skip
KNOWN = {"Acme": "Organization", "Ana": "Person", "Berlin": "Location"}


@pytest.mark.parametrize("known", [{}, KNOWN])
@pytest.mark.parametrize("story", STORIES)
def test_an_extractor_reads_a_story_the_same_whatever_it_read_before(
    story: tuple[str, ...], known: dict[str, str]
) -> None:
    expect_same(EnglishExtractor(load("default"), find_times), [(text, "Kim") for text in story], known)


def test_an_extractor_reads_the_same_whatever_it_read_before() -> None:
    chance = Random(7)
    warm = EnglishExtractor(load("default"), find_times)
    for story in range(60):
        said = [(chance.choice(SAID), chance.choice(("Kim", "Kim", "Priya"))) for _ in range(8)]
        expect_same(warm, said, {}, 100 * story)


def expect_same(
    warm: EnglishExtractor, said: Sequence[tuple[str, str]], known: Mapping[str, str], first: int = 0
) -> None:
    """Expect of each turn what an extractor reads that has read none before."""
    types = dict(known)
    before: list[Turn] = []
    for number, (text, role) in enumerate(said, first):
        now = turn(text, number, role)
        found = warm.extract(now, before, known_by(types))
        fresh = EnglishExtractor(load("default"), find_times).extract(now, before, known_by(types))

        assert found == fresh, [each.text for each in (*before, now)]
        assert starts(found) == starts(fresh)
        types.update({each.text: each.type for each in found.mentions if not each.speaker})
        before = [*before[-3:], Turn(now.episode_id, role, "user", text, SAID_AT, found.mentions)]


def known_by(known: Mapping[str, str]) -> KnownNames:
    return lambda names: {name: known[name] for name in names if name in known}


def starts(found: Extraction) -> list[tuple[int, int, int]]:
    """Return where the words of the relationships begin, which do not count when mentions are compared."""
    return [(each.source.start, each.target.start, each.span[0]) for each in found.relationships]


def test_the_slots_of_a_sentence_are_found_once_for_all_messages_after_it() -> None:
    (first,), (again,) = parsed("I have a meeting with Ola at 3."), parsed("I have a meeting with Ola at 3.")

    assert slots(first) is slots(again)
    assert not TYPED.isdisjoint({slot.kind for slot in slots(first)})
