"""YAML in which words stay words, with the line of each of its parts."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

_UNREAD: Final = (AttributeError, LookupError, TypeError, ValueError, RecursionError)  # PyYAML's own, of odd values
_DEEPEST: Final = 50  # parts within each other


class Unreadable(Exception):
    """A text that is no YAML: its message is the remedy. `line`: from 1; None where no line can be told."""

    def __init__(self, remedy: str, line: int | None = None) -> None:
        super().__init__(remedy)
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """What a text says, in Python's own types."""

    data: Any
    node: yaml.Node | None
    _members: dict[int, dict[str | int, tuple[yaml.Node, yaml.Node]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def line(self, where: Sequence[str | int]) -> int:
        """Return the line of the deepest part on a path, from 1."""
        line, node = 1, self.node
        for step in where:
            if isinstance(node, yaml.MappingNode):
                pair = self._members_of(node).get(step)
                if pair is None:
                    break
                line, node = pair[0].start_mark.line + 1, pair[1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
        return line

    def _members_of(self, mapping: yaml.MappingNode) -> dict[str | int, tuple[yaml.Node, yaml.Node]]:
        """Return the key and the value of each member by its name: a file may have a problem in every one."""
        if (found := self._members.get(id(mapping))) is None:
            found = self._members[id(mapping)] = {key.value: (key, value) for key, value in mapping.value}
        return found


def read_yaml(content: str, *, own: bool) -> Document:
    """Return the document of a text. Unreadable: it is no YAML.

    own: it is a text of asof itself, which is read in C in a tenth of the time. There, text of anybody that nests
    deeply ends the process.
    """
    try:
        loader = _loader(content, own=own)
        node = loader.get_single_node()
        return Document(loader.construct_document(node) if node else None, node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise Unreadable(f"not YAML: {error.problem}", line) from None
    except yaml.YAMLError:
        raise Unreadable("not YAML: save it as plain UTF-8 text") from None
    except _UNREAD:
        raise Unreadable("not YAML that can be read: leave tags and nested keys out") from None


def _loader(content: str, *, own: bool) -> Any:
    loading: Any = _OwnLoader if own else _Loader
    return loading(content)


class _Words(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """Only true, false and null are not text: `on`, `no`, 1984 and dates stay words. Keys are unique."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Words.yaml_implicit_resolvers = {}
_Words.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
_Words.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|)$"), ["~", "n", ""])


class _Loader(_Words, yaml.SafeLoader):
    """Any text. PyYAML takes seconds for a line that nests more deeply than any ontology does."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self._depth == _DEEPEST:
            raise RecursionError
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


class _OwnLoader(_Words, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Text of asof itself."""
