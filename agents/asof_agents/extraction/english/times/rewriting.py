"""A cascade of rewriting rules over typed tokens: each rule turns a run of tokens into one token.

A pattern is a regular expression whose letters are kinds of token: "the? (ordinal) of? (month)". Each kind is kept
as one private character, so that a sentence is a short string and the re module does the matching.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from asof_agents.extraction.english.times.rule_index import RuleIndex, needs
from asof_agents.extraction.english.times.when import Now


@dataclass(slots=True)
class Token:
    """One word or, after rewriting, one phrase: its kind, its value and its span in the text."""

    kind: str
    value: Any = field(repr=False)
    start: int
    end: int


Build = Callable[..., Any]
"""Called with Now and the values of the pattern's groups; returns the phrase's value, or None to reject the match."""
B = TypeVar("B", bound=Build)


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """Rewrites a match of its pattern into one token. A lenient rule is only for a text that is one time expression."""

    kind: str
    pattern: re.Pattern[str]
    build: Build
    lenient: bool = False


class Grammar:
    """An ordered list of rules; each is applied as often as it matches before the next one."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases  # a name for several kinds: "time" for "(when|latent)"
        self._letters: dict[str, str] = {}
        self.rules: list[RewriteRule] = []
        self._index = RuleIndex()

    def rule(self, kind: str, *patterns: str, lenient: bool = False) -> Callable[[B], B]:
        """Add a rule for each pattern, in their order. Of stacked decorators the lowest is first."""

        def add(build: B) -> B:
            for encoded in map(self._encode, patterns):
                self.rules.append(RewriteRule(kind, re.compile(encoded), build, lenient))
                self._index.add(needs(encoded))
            return build

        return add

    def rewrite(self, tokens: Sequence[Token], now: Now, *, lenient: bool) -> list[Token]:
        """Return the tokens after all rules have been applied."""
        done = list(tokens)
        code = "".join([self._letter(t.kind) for t in done])
        near = self._index.near(code)
        for number in near:
            rule = self.rules[number]
            if rule.lenient and not lenient:
                continue
            found = rule.pattern.search(code)
            while found:
                value = _build(rule, found, done, now)
                begin, end = found.span()
                if value is None:
                    found = rule.pattern.search(code, begin + 1)
                    continue
                done[begin:end] = [Token(rule.kind, value, done[begin].start, done[end - 1].end)]
                letter = self._letter(rule.kind)
                code = code[:begin] + letter + code[end:]
                near.add(letter)
                found = rule.pattern.search(code, begin)
        return done

    def _letter(self, kind: str) -> str:
        return self._letters.get(kind) or self._letters.setdefault(kind, chr(0xE000 + len(self._letters)))

    def _encode(self, pattern: str) -> str:
        def encode(kind: re.Match[str]) -> str:
            kinds: Iterable[str] = self._aliases.get(kind[0], kind[0]).split("|")
            return "[" + "".join(map(self._letter, kinds)) + "]"

        return re.sub(r"[a-z_]+", encode, pattern).replace(" ", "")


def _build(rule: RewriteRule, found: re.Match[str], tokens: Sequence[Token], now: Now) -> Any:
    groups = range(1, rule.pattern.groups + 1)
    values = [None if found.start(g) < 0 else tokens[found.start(g)].value for g in groups]
    try:
        return rule.build(now, *values)
    except (ValueError, OverflowError):  # no such day, or beyond the calendar
        return None
