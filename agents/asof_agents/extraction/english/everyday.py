"""Everyday values of the speaker: "I make $18 an hour", "we're on the family plan", "my brother lives in Denver".

Each frame says which attribute of the speaker its value is, or which relation it states. Only what goes on now, or has
begun, is read; what was, might be or is denied is not.
"""

from collections.abc import Callable
from functools import cache
from itertools import compress
from typing import Final

from asof_agents.extraction.english.context import ParsedSentence, TurnContext
from asof_agents.extraction.english.everyday_readers import READERS, of_us, on_plan
from asof_agents.extraction.english.first_names import FIRST_NAMES
from asof_agents.extraction.english.frame_values import (
    BE,
    Frame,
    FrameMatch,
    Frames,
    Rows,
    closes,
    frames_of,
    name_value,
    tells,
)
from asof_agents.extraction.english.lexicon import ADVERBS, UNSURE_FROM, VAGUE
from asof_agents.extraction.english.lower_names import may_name
from asof_agents.extraction.english.patterns import match_steps, next_words
from asof_agents.extraction.english.quantities import Value
from asof_agents.extraction.english.work import WORD

_FRAMES: Final[Rows] = (
    ("pay", "money", "<make>, <earn>, <get> paid, <be> on, <be> paid"),
    ("weight", "number", "<weigh>, !<get> down to, !<be> down to"),
    ("address", "address", "<live> at, <be> at, <stay> at, !<move> to, !<move> into"),
    ("wake-up time", "time", "<get> up (at), <wake> up (at)"),
    ("bedtime", "time", "<go> to bed (at|by), <go> to sleep (at|by)"),
    ("start time", "time", "<start> (work|school) at"),
    ("finish time", "time", "<finish> (work|school) at"),
    ("landing time", "time", "<land> at, <land> in * at"),
    ("departure time", "time", "<leave> at, <fly> out at, <set> off at"),
    ("arrival time", "time", "<arrive> at, <arrive> in * at, <get> in at"),
    ("bank", "name", "<bank> with, !<switch> banks to"),
    ("destination", "name", "<be> going to, <be> flying to, <be> heading to, <be> off to, <be> doing, =<go> to"),
    ("provider", "provider", "<be> with"),
    ("team", "name", "<support>"),
    ("size", "size", "<wear> (a|an) size, <take> (a|an) size, <be> a size"),
    ("dose", "dose", "<take>, <be> on, <use>, <need>"),
    ("membership", "name", "<have> (got) a membership|subscription|account|pass|season at|with|to|for (the)"),
    ("device", "model", "<have> (got) (a|an|the), !<get> (myself) (a|an|the), !<buy> (myself) (a|an|the)"),
    ("device", "model", "!<end> up with (a|an)"),
    ("partner_of", "partner", "<be> going out with, <go> out with, <be> seeing"),
    ("relationship status", "status", "<be>"),
    ("lives_in", "relation", "<live> in a|an|the|our|my * in, <share> a|an * in"),
    ("owns", "relation", "<drive> (a|an|my|the)"),
    ("show", "name", "=<watch>"),
    ("book", "name", "=<read>"),
    ("stay", "name", "=<stay> at|in"),
    ("payday", "time", "<get> paid on (the)"),
    ("training day", "time", "<train> on, <work> out on"),
    ("is_a", "identity", "!<go>, !<turn>"),
    ("gym", "name", "<train> at, <work> out at, <lift> at, <go> to the gym at"),
    ("doctor", "titled", "<see>, <be> with, <go> to"),
    ("medication", "medicine", "<be> on, =<take>"),
    ("role", "role", "<be> the"),
    ("budget", "spending", "<pay>, <spend>, <budget>, <give> myself, <put> aside, <set> aside"),
    ("taste", "taste", "<take> my, <drink> my, <have> my, <like> my"),
    ("drink", "meal", "<drink>, <have>, <eat>"),
    ("hobby", "activity", "<do>, !<take> up"),
)
_OF_KIN: Final[Rows] = (  # of a relative without a name
    ("home", "name", "<live> in, !<move> to, !<relocate> to, <be> based in"),
    ("school", "name", "<go> to, <attend>, !<start> at, <be> at"),
    ("employer", "name", "<work> at|for, !<join>, !<start> at"),
    ("age", "number", "<be>, !<turn> (just)"),
    ("club", "phrase", "<be> a member of the|a, <be> in the"),
)
_JOINED: Final = frozenset("band cast choir club crew group league orchestra society squad team troupe union".split())
_LEADING: Final = frozenset("doing handling heading leading managing organising organizing running".split())
_LED: Final[Rows] = (("lead", "phrase", "<run>"),)
_OTHERS: Final = _LEADING | {"of"}
_KIN_BACK: Final = 6  # words from "my" to the verb of a relative
_PLANNED: Final = BE | {"have", "got"}
_AGE_MAX: Final = 120
_BACK: Final = 6  # words before a verb among which a thought or a wish makes it unsure


def extract_everyday(context: TurnContext, parsed: ParsedSentence) -> None:
    """Add the values that everyday frames of a sentence, which is no question, state."""
    low = parsed.sentence.low
    if "quality" not in context.patterns.values or parsed.sentence.unsure:
        return
    frames, of_kin, heads = _heads()
    mine = "my" in low
    for at in compress(range(len(low)), map(heads.__contains__, low)):
        word = low[at]
        if mine and word in of_kin and "my" in low[max(0, at - _KIN_BACK) : at]:
            _of_kin(context, parsed, at, of_kin[word])
        if word in _LEADING:
            _led(context, parsed, at)
        elif word == "of":
            of_us(context, parsed, at)
        elif word in frames and (told := tells(low, at, frames[word][0].forms)) and _is_sure(low, at):
            context.work.spend(WORD)
            if not (word in _PLANNED and on_plan(context, parsed, at, frames[word][0])):
                _read(context, parsed, at, frames[word], now=told == "now")


def everyday_cues() -> frozenset[str]:
    """Return the words by which a frame begins: one of them is in every sentence that tells an everyday value."""
    return _heads()[2]


@cache
def _heads() -> tuple[Frames, Frames, frozenset[str]]:
    """Return the frames of the speaker and of kin, by their verbs, and the words by which a frame begins."""
    frames, of_kin = frames_of(_FRAMES), frames_of(_OF_KIN)
    return frames, of_kin, frozenset({*_OTHERS, *frames, *of_kin})


def _is_sure(low: tuple[str, ...], at: int) -> bool:
    return UNSURE_FROM.isdisjoint(low[max(0, at - _BACK) : at])


def _read(context: TurnContext, parsed: ParsedSentence, at: int, frames: tuple[Frame, ...], *, now: bool) -> None:
    """Add what the first frame states that fits a verb and what follows it."""
    near = next_words(parsed.sentence, at + 1, parsed.timed)
    for frame in frames:
        if not (frame.begun or now) or (frame.next and frame.next.isdisjoint(near)):
            continue
        after = match_steps(frame.steps, parsed.sentence, at + 1, parsed.timed)
        reader: Callable[[FrameMatch], bool] = READERS[frame.takes]
        if after is not None and reader(FrameMatch(context, parsed, at, after, frame)):
            return


def _of_kin(context: TurnContext, parsed: ParsedSentence, at: int, frames: tuple[Frame, ...]) -> None:
    """Read "my brother lives in Denver": of a relative without a name, who is told by whose relative it is."""
    low, begin = parsed.sentence.low, at
    while begin and (low[begin - 1] in ADVERBS or low[begin - 1] in {"is", "'s", "has"}):
        begin -= 1
    name = parsed.names_by_end.get(begin)
    begin = name.first if name and name.first > 1 else begin
    kin = low[begin - 1]
    if begin < 2 or low[begin - 2] != "my" or context.patterns.types_of_words((kin,))[:1] != ("Kinship",):
        return
    for frame in frames:
        after = match_steps(frame.steps, parsed.sentence, at + 1, parsed.timed)
        if after is None or (name and frame.key != "school"):
            continue  # a relative with a name is a person of the other rules
        match = FrameMatch(context, parsed, at, after, frame)
        if frame.takes == "number":
            told = after < len(low) and low[after].isdigit() and int(low[after]) < _AGE_MAX and closes(low, after + 1)
            value = Value("number", after, after + 1) if told else None
        else:
            value = name_value(match)
        if value is None and frame.takes == "phrase":
            phrase = parsed.phrase_at(after)
            joined = phrase is not None and low[phrase.last - 1] in _JOINED  # "in the backyard" is no club
            value = Value("code", phrase.first, phrase.last) if phrase and joined and not phrase.vague else None
        if value is not None:
            match.attribute(value, f"{name.text if name else kin} {frame.key}")
            return


def _led(context: TurnContext, parsed: ParsedSentence, at: int) -> None:
    """Read "Hassan's running the website redesign": who leads it."""
    low, text = parsed.sentence.low, parsed.sentence.raw[0]
    if at != 2 or low[1] not in {"is", "'s"} or low[3:4] != ("the",):
        return
    last = 4
    while last < len(low) and last < 7 and low[last].isalpha() and not closes(low, last) and low[last] not in VAGUE:
        last += 1
    kind = context.types.of(text)
    lower = parsed.sentence.raw[0].islower() and may_name(low[0], context.patterns)
    person = kind == "Person" or (kind is None and (0 in parsed.names or lower)) or low[0] in FIRST_NAMES
    if last < 6 or not person or not closes(low, last):
        return
    match = FrameMatch(context, parsed, at, 4, frames_of(_LED)["running"][0])
    source = context.findings.mention("Matter", *parsed.sentence.span(4, last))
    relation = context.patterns.values["quality"].of_noun("lead")
    match.state_of(source, relation, "Person", Value("code", 0, 1))
