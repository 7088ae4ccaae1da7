"""What is not looked at again of earlier turns: nothing could come of it, and nothing else comes of the rest."""

from itertools import product
from random import Random

from asof_agents.extraction.english.announcements import Announcement
from asof_agents.extraction.english.change_signs import Signs, is_change, wording
from asof_agents.extraction.english.context import ParsedSentence, TurnContext, parse
from asof_agents.extraction.english.dates import find_times
from asof_agents.extraction.english.numerals import TYPED
from asof_agents.extraction.english.patterns import patterns
from asof_agents.extraction.english.replacements import replacements
from asof_agents.extraction.english.restatements import restate, restates_nothing
from asof_agents.extraction.english.slots import slots
from asof_agents.extraction.english.work import Work
from asof_agents.extraction.ports import Turn
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


def test_the_slots_of_a_sentence_are_found_once_for_all_messages_after_it() -> None:
    (first,), (again,) = parsed("I have a meeting with Ola at 3."), parsed("I have a meeting with Ola at 3.")

    assert slots(first) is slots(again)
    assert not TYPED.isdisjoint({slot.kind for slot in slots(first)})
