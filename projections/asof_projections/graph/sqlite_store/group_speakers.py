"""Who has spoken in each group, and since which turn: some twenty bytes for each speaker of a group."""

from array import array
from collections.abc import Container
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from asof_projections.speakers import name_words

_SPEAKERS: Final = 1 << 31  # more than there are, so that a group and a speaker are one number


class GroupSpeakers:
    """The speakers of all groups, by number; each group has as many of them as have spoken in it."""

    def __init__(self) -> None:
        self.names: list[str] = []  # of the speakers
        self._numbers: dict[str, int] = {}  # of the speakers, by name
        self._called: dict[str, array[int]] = {}  # by a word of a name, the speakers who have it
        self._spoke = np.empty(0, np.int64)  # groups, each with a speaker: ascending
        self._first = np.empty(0, np.int64)  # the first turn of each of these

    def number(self, name: str) -> int:
        """Return the number of a speaker, who gets one with the first turn."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
            for word in name_words(name):
                self._called.setdefault(word, array("q")).append(number)
        return number

    def note(self, turns: NDArray[np.void]) -> None:
        """Note who said further turns, which are in the order of their numbers."""
        spoke, first = np.unique(turns["grp"] * _SPEAKERS + turns["speaker"], return_index=True)
        places = np.searchsorted(self._spoke, spoke)
        known = np.zeros(len(spoke), np.bool)
        inside = places < len(self._spoke)
        known[inside] = self._spoke[places[inside]] == spoke[inside]
        self._first = np.insert(self._first, places[~known], turns["n"][first[~known]])
        self._spoke = np.insert(self._spoke, places[~known], spoke[~known])

    def words(self, group: int, turn: int) -> Container[str]:
        """Return the words of the names of those who had spoken in a group, up to a turn; each is looked for alone."""
        return _Words(self, group, turn)

    def is_called(self, word: str, group: int, turn: int) -> bool:
        """Return whether somebody whose name has a word had spoken in a group, up to a turn."""
        called = self._called.get(word)
        if called is None:
            return False
        spoke = group * _SPEAKERS + np.frombuffer(called, np.int64)
        places = np.searchsorted(self._spoke, spoke)
        inside = places < len(self._spoke)
        places, spoke = places[inside], spoke[inside]
        return bool(((self._spoke[places] == spoke) & (self._first[places] <= turn)).any())


class _Words:
    def __init__(self, speakers: GroupSpeakers, group: int, turn: int) -> None:
        self._speakers = speakers
        self._at = group, turn
        self._asked: dict[str, bool] = {}  # a text has a word many times

    def __contains__(self, word: Any) -> bool:
        if word not in self._asked:
            self._asked[word] = self._speakers.is_called(word, *self._at)
        return self._asked[word]
