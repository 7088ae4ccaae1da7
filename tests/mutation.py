"""Changes a module in one place at a time, and runs the tests that come there, each time in a process of its own.

The processes are forks of one that has imported what the tests need of other projects, so that a change costs about a
second. A change is made where the module is imported: no file is written, and a program that a test starts has none.
"""

import ast
import importlib
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

import pytest

SECONDS: Final = 20  # and ten times what they took before: after which the tests of a change hang, which is noticing it
MEMORY: Final = 6 << 30  # bytes that they may take
OPTIONS: Final = [
    *("-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0"),
    "--timeout=0",  # it would take the alarm away that ends what hangs
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # its plugins are imported already
    *("-p", "no:unraisableexception"),  # what is left open is collected at another time than in a run of all tests
]

_OTHER: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


_SILENT: Final = {None, "bound", "description", "strict", "usedforsecurity"}
"""Arguments that may be left out: they tell checkers and readers, or what holds by construction; and `**others`."""


class Undo:
    """Puts something else where something was, until it is called."""

    def __init__(self, holder: Any, at: Any, other: object) -> None:
        self._holder, self._at, self._was = holder, at, holder[at]
        holder[at] = other

    def __call__(self) -> None:
        self._holder[self._at] = self._was


class Without:
    """Takes an element out of a list, until it is called."""

    def __init__(self, elements: list[Any], at: int) -> None:
        self._elements, self._at, self._was = elements, at, elements.pop(at)

    def __call__(self) -> None:
        self._elements.insert(self._at, self._was)


class Module:
    """The source of a module, which is changed in one place after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tree = ast.parse(path.read_text("utf-8"))
        self.name = ".".join(path.relative_to(path.parents[_depth(path)]).with_suffix("").parts)
        self._lines = path.read_text("utf-8").splitlines()

    def changes(self) -> Iterator[tuple[str, range]]:
        """Yield what each change is, and the lines of whose tests it is for: none outside of functions.

        While the caller has it the module is changed.
        """
        seen = Counter[str]()
        for change, lines, undo in self._each_change():
            seen[change] += 1
            yield f"{change} ({seen[change]})" if seen[change] > 1 else change, lines
            undo()

    def _each_change(self) -> Iterator[tuple[str, range, Callable[[], None]]]:
        for node, lines in _below(self.tree, range(0)):
            for change, undo in _changed(node):
                yield f"{change} in {self._lines[vars(node)['lineno'] - 1].strip()}", lines, undo
            for statement, undo in _left_out(node):
                own = _lines(statement) if lines or _is_function(node) else lines
                yield f"without {ast.unparse(statement)}", own, undo

    def code(self) -> CodeType:
        """Compile the module as it is now."""
        return compile(self.tree, str(self.path), "exec", dont_inherit=True)


def _depth(path: Path) -> int:
    """Count the packages that a module is in."""
    return next(depth for depth, folder in enumerate(path.parents) if not (folder / "__init__.py").exists())


def _below(node: ast.AST, lines: range) -> Iterator[tuple[ast.AST, range]]:
    """Yield a node and all below it but decorators, each with the lines of the innermost statement of a function."""
    yield node, lines
    for name, value in ast.iter_fields(node):
        inside = name == "body" and _is_function(node)
        for child in value if isinstance(value, list) else [value]:
            if name != "decorator_list" and isinstance(child, ast.AST):
                statement = isinstance(child, ast.stmt) and (inside or lines)
                yield from _below(child, _lines(child) if statement else lines)


def _lines(statement: ast.AST) -> range:
    """Return the lines of a statement, without those of the statements in it."""
    inner = [child.lineno for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
    first = vars(statement)["lineno"]
    return range(first, max(min(inner, default=vars(statement)["end_lineno"] + 1), first + 1))


def _changed(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """Change a node in each way that there is; the caller undoes it before the next."""
    if isinstance(node, ast.expr):
        before = ast.unparse(node)
        for undo in _other_value(node):
            yield f"{before} -> {ast.unparse(node)}", undo
    match node:
        case ast.Call():
            for at, keyword in enumerate(list(node.keywords)):
                if keyword.arg not in _SILENT:
                    yield f"without {ast.unparse(keyword)}", Without(node.keywords, at)
        case ast.If() | ast.While() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            before = ast.unparse(node.test)
            yield f"{before} -> not {before}", Undo(vars(node), "test", _not(node.test))


def _left_out(node: ast.AST) -> Iterator[tuple[ast.stmt, Callable[[], None]]]:
    """Leave out each statement of a node without which it could run; the caller undoes it before the next."""
    for body in [vars(node).get(name) for name in ("body", "orelse", "finalbody")]:
        for at, statement in enumerate(body if isinstance(body, list) else []):
            if _can_go(statement):
                yield statement, Undo(body, at, ast.copy_location(ast.Pass(), statement))


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _other_value(node: ast.expr) -> Iterator[Undo]:
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                yield Undo(node.ops, at, _OTHER[type(operator)]())
        case ast.BoolOp() | ast.BinOp() if type(node.op) in _OTHER:
            yield Undo(vars(node), "op", _OTHER[type(node.op)]())
        case ast.Constant(value=bool() as value):
            yield Undo(vars(node), "value", not value)
        case ast.Constant(value=int() | float() as value):
            yield Undo(vars(node), "value", value + 1)
        case ast.UnaryOp(op=ast.Not()):
            yield Undo(vars(node), "op", ast.UAdd())
        case ast.IfExp():
            yield Undo(vars(node), "test", _not(node.test))


def _not(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _can_go(statement: ast.stmt) -> bool:
    """Tell whether a module without a statement could run: it calls, raises, counts, goes on or ends a loop."""
    match statement:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break():
            return True
    return False


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a module as it is changed."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        del path, target
        if fullname != self._module.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._module.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(self._module.code(), vars(module))


class _Coverage:
    """Notes which lines of some files each test comes to, and how long it takes."""

    def __init__(self, paths: list[str]) -> None:
        self._test = ""
        self.lines: dict[str, dict[str, set[int]]] = {path: defaultdict(set) for path in paths}
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._test, began = item.nodeid, time.perf_counter()
        result = yield
        self.seconds[item.nodeid], self._test = time.perf_counter() - began, ""
        return result

    def trace(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        lines = self.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None
        if event == "line" and self._test and frame.f_code.co_name != "<module>":
            lines[self._test].add(frame.f_lineno)
        return self.trace


class Tests:
    """Tests of some modules, and to which lines each comes. RuntimeError: they fail as the modules are."""

    def __init__(self, paths: list[Path], files: tuple[str, ...]) -> None:
        self._files = files
        told = json.loads(_in_fork(lambda: self._tell([str(path) for path in paths])))
        if told["failed"]:
            raise RuntimeError(f"{' '.join(files)} fail as the modules are")
        self._lines = {
            path: {test: set(numbers) for test, numbers in lines.items()} for path, lines in told["lines"].items()
        }
        self._seconds: dict[str, float] = told["seconds"]
        self.tried = 0  # changes, of all modules
        for name in told["imported"]:
            with suppress(Exception):
                importlib.import_module(name)

    def unnoticed(self, path: Path, processes: int, most: int | None = None) -> Iterator[str]:
        """Yield the changes of a module that no test notices; at most so many are tried, spread over all of it."""
        module = Module(path)
        if os.waitpid(self._start(module, self._come_to(path, range(0))), 0)[1]:
            raise RuntimeError(f"{module.name}: its tests fail in a fork")
        count = sum(1 for _ in module.changes())
        each = -(-count // (most or count or 1)) or 1
        running: dict[int, str] = {}
        for number, (change, lines) in enumerate(module.changes()):
            if number % each:
                continue
            self.tried += 1
            if not (tests := self._come_to(path, lines)):
                yield f"{change} (no test comes here)"
                continue
            running[self._start(module, tests)] = change
            if len(running) == processes:
                yield from _ended(running)
        while running:
            yield from _ended(running)

    def _come_to(self, path: Path, lines: range) -> list[str]:
        """Return the tests that come to one of some lines, the quickest first; without lines all tests."""
        seen = self._lines[str(path)]
        tests = [test for test, numbers in seen.items() if not numbers.isdisjoint(lines)] if lines else self._seconds
        return sorted(tests, key=self._seconds.__getitem__)

    def _start(self, module: Module, tests: list[str]) -> int:
        """Start running tests with a module as it is now, in a process whose id is returned."""
        if process := os.fork():
            return process
        _be_silent()
        sys.meta_path.insert(0, _Loader(module))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(SECONDS + round(10 * sum(map(self._seconds.__getitem__, tests))))
        os._exit(int(pytest.main([*OPTIONS, *tests])))

    def _tell(self, paths: list[str]) -> str:
        """Run all tests and tell of each which lines it comes to, and what they imported of others."""
        _be_silent()
        coverage = _Coverage(paths)
        sys.settrace(coverage.trace)
        threading.settrace(coverage.trace)
        failed = int(pytest.main([*OPTIONS, *self._files], plugins=[coverage]))
        sys.settrace(None)
        lines = {path: {test: sorted(seen) for test, seen in each.items()} for path, each in coverage.lines.items()}
        others = [name for name, module in sys.modules.items() if "site-packages" in str(vars(module).get("__file__"))]
        return json.dumps({"failed": failed, "lines": lines, "seconds": coverage.seconds, "imported": others})


def _be_silent() -> None:
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _in_fork(work: Callable[[], str]) -> str:
    """Return what work returns in a process of its own."""
    read, write = os.pipe()
    if process := os.fork():
        os.close(write)
        with os.fdopen(read) as answer:
            text = answer.read()
        os.waitpid(process, 0)
        return text
    with os.fdopen(write, "w") as answer:
        answer.write(work())
    os._exit(0)


def _ended(running: dict[int, str]) -> Iterator[str]:
    """Wait for one process; yield its change if it ended well."""
    process, status = os.wait()
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    change = running.pop(process)
    if status == 0:
        yield change
