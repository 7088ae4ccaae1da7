"""Writes entrypoints/asof/api/async_memory.py: the verbs of Memory, each to be awaited, with the same signatures."""

import ast
import inspect
import re
from collections.abc import Iterator

from asof.api import memory

_HEAD = '''"""The Python API for programs with an event loop: the verbs of Memory, each to be awaited.

Made by docs/generate.py from memory.py: change the verbs there.

    async with asof.open_async("./asof-data") as memory:
        await memory.add("I moved to Berlin in March", role="Ana")
        await memory.facts(about="Ana", relation="lives_in", valid_at="2024-01-01")
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack, overload

{imports}

A = TypeVar("A")
T = TypeVar("T")

_END = object()


class AsyncMemory:
    """A memory in one directory, for the tasks of any event loop. Use it as an async context manager, or close() it.

    One thread does the work, in the order in which it was asked for; cancelling a task does not stop its verb. Verbs
    that yield, such as `events`, are asynchronous iterators; what they are given by the caller is read by that thread.
    After `close` every verb raises ContractError.
    """

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._pool = ResourcePool("asof-memory", lambda: closing(open_memory()))

    async def _run(self, work: Callable[[Memory], A]) -> A:
        return await asyncio.wrap_future(self._pool.submit(work))

    async def _each(self, begin: Callable[[Memory], Iterator[T]]) -> AsyncIterator[T]:
        """Yield what a verb yields, an item at a time, so that other verbs are answered in between."""
        items = await self._run(begin)
        while (item := await self._run(lambda _: next(items, _END))) is not _END:
            yield item  # type: ignore[misc]

'''
_TAIL = '''
    async def close(self) -> None:
        """Close everything, after the verbs that were asked for before; what was acknowledged stays."""
        for closed in self._pool.finish():
            await asyncio.wrap_future(closed)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
'''


def source() -> str:
    """Return the text of the module, before formatting."""
    tree = ast.parse(inspect.getsource(memory))
    (cls,) = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Memory"]
    verbs = [node for node in cls.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    text = "\n".join(_verb(verb) for verb in verbs if verb.name != "close")
    names = {node.id for verb in verbs for node in ast.walk(verb.args) if isinstance(node, ast.Name)}
    names |= {
        node.id for verb in verbs if verb.returns for node in ast.walk(verb.returns) if isinstance(node, ast.Name)
    }
    return _HEAD.replace("{imports}", "\n".join(_imports(tree, names))) + text + _TAIL


def _verb(verb: ast.FunctionDef) -> str:
    lines = inspect.getsource(memory).splitlines()
    if verb.decorator_list:
        return _awaitable("\n".join(lines[verb.decorator_list[0].lineno - 1 : verb.end_lineno]))
    signature = "\n".join(lines[verb.lineno - 1 : verb.body[0].lineno - 1])
    docstring = ast.get_docstring(verb, clean=False) or ""
    arguments = [*(a.arg for a in verb.args.args[1:]), *(f"{a.arg}={a.arg}" for a in verb.args.kwonlyargs)]
    if verb.args.kwarg:
        arguments.append(f"**{verb.args.kwarg.arg}")
    call = f"lambda memory: memory.{verb.name}({', '.join(arguments)})"
    if "-> Iterator[" in signature:
        return f'{_awaitable(signature)}\n        """{docstring}"""\n        return self._each({call})\n'
    signature = re.sub(r"^    def ", "    async def ", signature)
    return f'{signature}\n        """{docstring}"""\n        return await self._run({call})\n'


def _awaitable(signature: str) -> str:
    """Return the signature of a verb that yields, as that of its twin."""
    head, arrow, answer = signature.rpartition("->")
    return head + arrow + answer.replace("Iterator[", "AsyncIterator[")


def _imports(tree: ast.Module, used: set[str]) -> Iterator[str]:
    """Yield the imports of our own names that the verbs use."""
    yield "from asof.api.memory import LogName, Memory"
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("asof"):
            names = [alias.name for alias in node.names if alias.name in used]
            if names:
                yield f"from {node.module} import {', '.join(names)}"
    yield "from asof_streams.resource_pool import ResourcePool"
