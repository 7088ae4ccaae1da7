"""Words of a change: those that put something in another's place, say that it is over, or that it is so now."""

from collections.abc import Sequence
from typing import Final

CHANGING: Final = frozenset(  # verbs that put something in another's place
    "adopted adopting appointed attends became become becomes bought booked bumped changed chose climbed "
    "converted crawled cut downgraded dropped dyed elected ended exchanged extended flipped gave giving goes "
    "going gone got handed handled handles hired increased joined jumped lengthened lowered made migrated moved "
    "moves moving named opted painted picked ported postponed prescribed promoted pushed put raised reassigned "
    "rechristened redone reduced relaxed relocated renamed repainted replaced rescheduled reset revised rewrote "
    "rolled rotated serves set settled shifted signed slipped slips started stretched swapped switched taken "
    "takes tightened took traded transferred transitioned trimmed turned updated upgraded upped went worked cover "
    "covering covers acts running runs trying ported redid repapered repainted renewed rolled rotated reseated risen "
    "rose grown fallen fell shrank doubled halved tripled nudged rebranded renumbered tightened trimmed "
    "flipped".split()
)
SWAPS: Final = frozenset("swapped traded exchanged ditched dropped left replaced switched sold".split())
SWITCHING: Final = frozenset(  # verbs that say of no thing what is changed, but of what was said last
    "bumped changed converted downgraded gone migrated moved promoted put rebooked relocated swapped switched "
    "transferred transitioned upgraded went".split()
)
CHANGED: Final = frozenset(  # verbs before the thing that is otherwise now, and not before its value
    "bumped changed cut extended increased lowered moved postponed pushed raised reduced renamed repainted "
    "rescheduled reset revised shifted swapped switched updated upgraded upped".split()
)
WEAK: Final = frozenset(  # of these, those that mostly tell no change
    "bought chose cover covering dropped ended gave giving goes going gone got handed handles increased joined "
    "made painted picked put reduced rolled runs running serves set started taken takes took trying turned went "
    "worked acts".split()
)
NOWS: Final = frozenset(  # pairs of words for now
    {
        ("these", "days"),
        ("at", "present"),
        ("by", "now"),
        ("from", "here"),
        ("as", "of"),
        ("this", "season"),
        ("since", "then"),
        ("any", "more"),
    }
)
SURE_NOW: Final = frozenset("now instead nowadays currently anymore henceforth".split())
ENDING: Final = frozenset(  # words that say that something is over
    "axed binned bye cancelled canceled closed closes dead deleted died ditched divorced done down dropped dumped "
    "ended ends expired farewell finished fired forget gone goodbye gave killed left lasted leaving longer lost "
    "merged more anymore off out over parted passed quit read-only removed remove replaced resigned retired rip "
    "scrap scrapped scratch shut sold stepped steps stolen stole stopped swapped switched threw tired took traded "
    "dethroned ousted overtaken superseded uninstalled upstairs vetoed instead flogged chucked sacked canned "
    "nixed broke split".split()
)
OLD_LEADS: Final = frozenset(  # words before an old value
    "from than over not without of was were dropped ditched left quit sold cancelled deleted uninstalled scrap "
    "scratch forget off replaced rather swapped traded finished since because closed stopped out no".split()
)
NEW_LEADS: Final = frozenset(  # words before a new one
    "be become but to with now instead on onto into at in by as called named is are 's am : = for get got have "
    "has under using adopted bought chose via through".split()
)
TAKES_OVER: Final = frozenset(  # verbs after a new value
    "is 's has does do runs handles acts covers takes took becomes became owns leads".split()
)
ONCE: Final = frozenset(  # verbs of what is done with a thing that one does not have for it
    "admired ate borrowed drank fed lifted liked looked rented saw sampled spotted tasted tested "
    "tried visited watched".split()
)
PAST_BE: Final = frozenset({"was", "were"})
BE: Final = frozenset({"is", "are", "am", "'s", "be", "been"})
TAKING_OVER: Final = frozenset(  # after "has" or "will": "Anselm has taken over billing"
    "taken taking take covering cover handling handle running run leading lead doing do managing manage".split()
)
HANDED: Final = frozenset(  # before "to" or "by", and the one who has it now
    "assigned delegated given handed led made managed owned passed reassigned run transferred went".split()
)
OWNERS: Final = frozenset("my our the his her their a an".split())
STRONG: Final = (  # words of which one is enough to tell a change
    (CHANGING - WEAK)
    | SURE_NOW
    | (
        ENDING
        - frozenset("done down ended ends finished gave left lost more off out over passed stopped took since".split())
    )
)
# words without which only the very same thing can be told again
HINTS: Final = CHANGING | SURE_NOW | ENDING | PAST_BE | {"new", "not", "from", "up", "down", "back"}


def takes_over(low: Sequence[str], at: int) -> bool:
    """Whether words say that what stands before them has something now: "is", "has taken over"."""
    helped = low[at : at + 1] in (("has",), ("will",), ("'ll",), ("have",)) and not TAKING_OVER.isdisjoint(
        low[at + 1 : at + 2]
    )
    return helped or not TAKES_OVER.isdisjoint(low[at : at + 1])
