"""Changes a module in one place at a time, and runs the tests that come there, each time in a process of its own.

A change inside a function is tried in a fork of a process that has collected the tests: the function gets other code,
which costs some hundredths of a second. All other changes, and those of functions that ran before the first test, are
made where the module is imported, in a fork of a process that has imported what the tests need of other projects alone:
that costs a second. No file is written, and a program that a test starts has no change.
"""

import ast
import gc
import importlib
import importlib.abc
import importlib.util
import inspect
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Final

import pytest
from _pytest.main import pytest_runtestloop
from hypothesis import Phase, settings

SECONDS: Final = 60  # and ten times what it took before: then a test seems to wait for ever; on a busy machine later
PROCESSOR_SECONDS: Final = 6  # and twice what it computed while its lines were noted: it computes for ever, and notices
COLLECTING: Final = 60  # seconds of the processor in which tests are collected
FORGETTING: Final = 0.9  # what a test noticed of one change counts for the next
IMPOSSIBLE: Final = 77  # the exit code of a process in which a function cannot be given other code
MEMORY: Final = 6 << 30  # bytes that they may take
OPTIONS: Final = [
    *("-q", "-x", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-seed=0"),
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
    """Notes to which lines of some files each test comes, and what comes to them before (""); how long each takes.

    What functions of these files keep of their results is dropped before each test, or only the first comes to them.
    """

    def __init__(self, paths: list[str]) -> None:
        self._test = ""
        self.lines: dict[str, dict[str, set[int]]] = {path: defaultdict(set) for path in paths}
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._drop_results()
        self._test, began, computed = item.nodeid, time.perf_counter(), time.process_time()
        result = yield
        self.seconds[item.nodeid], self._test = time.perf_counter() - began, ""
        self.processor[item.nodeid] = time.process_time() - computed
        return result

    def _drop_results(self) -> None:
        for module in list(sys.modules.values()):
            if vars(module).get("__file__") in self.lines:
                for each in vars(module).values():
                    if hasattr(each, "cache_clear"):
                        each.cache_clear()

    def trace(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        lines = self.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None
        if event == "line" and frame.f_code.co_name != "<module>":
            lines[self._test].add(frame.f_lineno)
        return self.trace


class _Watch:
    """Notes in a file which test runs, and ends this process when one takes far longer than it did."""

    def __init__(self, tests: "Tests", current: Path) -> None:
        self._tests = tests
        self._current = current

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._current.write_text(item.nodeid, "utf-8")
        self._tests.end_in_time(item.nodeid)
        return (yield)


class _Trial:
    """Tries changes of functions, each in a fork of a session of pytest that has collected all tests.

    tell: gets as JSON the number of each change that could be tried, its tests in their order, and which of them
    noticed it.
    """

    def __init__(
        self, module: Module, tests: "Tests", numbers: set[int], processes: int, tell: Callable[[str], None]
    ) -> None:
        self._module = module
        self._tests = tests
        self._numbers = numbers
        self._processes = processes
        self._tell = tell

    def pytest_collection(self) -> None:
        """Let no test look for the smallest example that fails."""
        phases = (Phase.explicit, Phase.reuse, Phase.generate)
        settings.register_profile("mutation", settings.get_profile("asof"), phases=phases)
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        importlib.import_module(self._module.name)  # some are imported by the first test that needs them
        were = _functions(self._module.code())
        gc.unfreeze()
        functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
        own = [each for each in functions if each.__code__.co_filename == str(self._module.path)]
        gc.freeze()
        with tempfile.TemporaryDirectory() as folder:
            running: dict[int, _Run] = {}
            for number, (_, lines) in enumerate(self._module.changes()):
                if number in self._numbers:
                    tests = self._tests.come_to(self._module.path, lines)
                    codes = _functions(self._module.code())
                    changed = {key: code for key, code in codes.items() if code != were.get(key)}
                    others = [(each, changed[_key(each.__code__)]) for each in own if _key(each.__code__) in changed]
                    if not others:
                        continue
                    current = Path(folder, str(number))
                    running[self._start(session, others, tests, current)] = _Run(number, tests, current)
                    if len(running) == self._processes:
                        self._wait(session, running)
            while running:
                self._wait(session, running)
        return True

    def _start(
        self, session: pytest.Session, others: list[tuple[FunctionType, CodeType]], tests: list[str], current: Path
    ) -> int:
        """Start running tests with other code of functions, in a process whose id is returned."""
        if process := os.fork():
            return process
        failed = True
        try:
            os.setpgid(0, 0)
            os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = tempfile.mkdtemp(dir=current.parent)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            session.config.pluginmanager.register(_Watch(self._tests, current))
            try:
                for function, code in others:
                    function.__code__ = code
            except ValueError:  # it closes over something else now
                os._exit(IMPOSSIBLE)
            items = {item.nodeid: item for item in session.items}
            session.items = [items[test] for test in tests]
            pytest_runtestloop(session)  # raises where a test fails
            failed = bool(session.testsfailed)
        finally:
            shutil.rmtree(str(tempfile.tempdir), ignore_errors=True)
            os._exit(int(failed))

    def _wait(self, session: pytest.Session, running: dict[int, "_Run"]) -> None:
        run, status = _ended(running)
        if is_lost(status):
            return  # the module is imported changed instead
        if (by := run.noticed_by(status)) == "" or (
            by and not self._tests.is_sound(by, lambda: self._start(session, [], [by], run.current))
        ):
            return  # as there
        self._tests.learn(run.tests, by)
        self._tell(json.dumps([run.number, run.tests, by]))


def _functions(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return the code of each function of a module or class that is in no other function."""
    found: dict[tuple[str, int], CodeType] = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            is_class = not inner.co_flags & inspect.CO_OPTIMIZED
            found.update(_functions(inner) if is_class else {_key(inner): inner})
    return found


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


@dataclass(frozen=True)
class _Run:
    """A change that is tried: the tests in their order, and the file with the one that runs."""

    number: int
    tests: list[str]
    current: Path

    def noticed_by(self, status: int) -> str | None:
        """Return which test ran when its process ended with a status: "" before the first, None after the last."""
        return None if status == 0 else self.reached()

    def reached(self) -> str:
        """Return which test ran last; "": none began."""
        return self.current.read_text("utf-8") if self.current.exists() else ""


def is_lost(status: int) -> bool:
    """Tell whether a process ended so that nothing follows of its tests: it waited too long, or something killed it.

    One whose tests fail, or whose changed module cannot be imported, ends by itself, and one that computes for ever by
    its limit.
    """
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) != signal.SIGXCPU
    return os.WEXITSTATUS(status) not in _TOLD


_TOLD: Final = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, IMPOSSIBLE)


class Tests:
    """Tests of some modules, and to which lines each comes. RuntimeError: they fail as the modules are.

    Those that notice most a second come first. What was found lately counts most, since changes are tried line by line.
    """

    def __init__(self, paths: list[Path], files: tuple[str, ...]) -> None:
        self._files = files
        [answer] = _in_fork(partial(self._tell, [str(path) for path in paths]))
        told = json.loads(answer)
        if told["failed"]:
            raise RuntimeError(f"{' '.join(files)} fail as the modules are")
        self._lines = {
            path: {test: set(numbers) for test, numbers in lines.items()} for path, lines in told["lines"].items()
        }
        self._seconds: dict[str, float] = told["seconds"]
        self._processor: dict[str, float] = told["processor"]
        self._ran: dict[str, float] = dict.fromkeys(self._seconds, 0.0)
        self._noticed: dict[str, float] = dict.fromkeys(self._seconds, 0.0)
        self._sound: dict[str, bool] = {}
        self.tried = 0  # changes, of all modules
        self.lost: list[str] = []  # those of which nothing is known: their tests were ended, not they themselves
        for name in told["imported"]:
            with suppress(Exception):
                importlib.import_module(name)

    def unnoticed(self, path: Path, processes: int, most: int | None = None) -> Iterator[str]:
        """Yield the changes of a module that no test notices; at most so many are tried, spread over all of it."""
        module = Module(path)
        count = sum(1 for _ in module.changes())
        each = -(-count // (most or count or 1)) or 1
        chosen = {number: change for number, change in enumerate(module.changes()) if number % each == 0}
        early = self._lines[str(path)].get("", set())
        quick = {n for n, (_, own) in chosen.items() if self.come_to(path, own) and own and early.isdisjoint(own)}
        for line in _in_fork(partial(self._try_collected, module, quick, processes)):
            number, tests, by = json.loads(line)
            change, _ = chosen.pop(number)
            self.learn(tests, by)
            if by is None:
                yield change
        self.tried += -(-count // each)
        running: dict[int, _Run] = {}
        lost: list[_Run] = []
        with tempfile.TemporaryDirectory() as folder:
            for number, (change, lines) in enumerate(module.changes()):
                if number not in chosen:
                    continue
                if not (tests := self.come_to(path, lines)):
                    yield f"{change} (no test comes here)"
                    continue
                current = Path(folder, str(number))
                running[self._start(module, tests, current)] = _Run(number, tests, current)
                if len(running) == processes:
                    yield from self._unnoticed(running, chosen, lost)
            while running:
                yield from self._unnoticed(running, chosen, lost)
            again = {run.number: run for run in lost}
            for number, (change, _) in enumerate(module.changes()):
                if number in again:
                    yield from self._unnoticed_again(module, change, again[number])

    def _unnoticed(
        self, running: dict[int, _Run], changes: dict[int, tuple[str, range]], lost: list[_Run]
    ) -> Iterator[str]:
        """Wait for one run; yield its change if it ended well. RuntimeError: a test fails without the change, too."""
        run, status = _ended(running)
        if is_lost(status):
            lost.append(run)
        else:
            yield from self._told(run, status, changes[run.number][0])

    def _told(self, run: _Run, status: int, change: str) -> Iterator[str]:
        by = run.noticed_by(status)
        if by and not self.is_sound(by, lambda: self._start(None, [by], run.current)):
            raise RuntimeError(f"{by} fails in a fork")
        self.learn(run.tests, by)
        if by is None:
            yield change

    def _unnoticed_again(self, module: Module, change: str, run: _Run) -> Iterator[str]:
        """Try a change alone whose process was lost; yield it if it ends well now.

        That its process is lost again is by the change if one without it, which runs the same test, is not. Else
        nothing is known of the change.
        """
        run.current.unlink(missing_ok=True)
        status = _wait_for(self._start(module, run.tests, run.current))
        if not is_lost(status):
            yield from self._told(run, status, change)
        elif _wait_for(self._start(None, [run.reached()] if run.reached() else run.tests, run.current)):
            self.lost.append(change)

    def is_sound(self, test: str, start: Callable[[], int]) -> bool:
        """Tell whether a test comes out well alone, in the process that start starts without a change.

        It is tried once, unless that process is lost.
        """
        if test not in self._sound:
            status = _wait_for(start())
            if is_lost(status):
                return False
            self._sound[test] = status == 0
        return self._sound[test]

    def learn(self, tests: list[str], by: str | None) -> None:
        """Count which tests ran, in their order, and which of them noticed the change."""
        for counts in (self._ran, self._noticed):
            counts.update({test: count * FORGETTING for test, count in counts.items()})
        for test in tests:
            self._ran[test] += 1
            if test == by:
                self._noticed[test] += 1
                return

    def _try_collected(self, module: Module, numbers: set[int], processes: int, tell: Callable[[str], None]) -> None:
        """Tell of changes of functions whether tests that are collected once notice them, as far as that can be."""
        _be_silent()
        trial = _Trial(module, self, numbers, processes, tell)
        pytest.main([*OPTIONS, "--capture=no", *self.come_to(module.path, range(0))], plugins=[trial])

    def come_to(self, path: Path, lines: range) -> list[str]:
        """Return the tests that come to one of some lines, the likeliest first; without lines all tests."""
        seen = self._lines[str(path)]
        some = [test for test, numbers in seen.items() if test and not numbers.isdisjoint(lines)]
        tests = some if lines else list(self._seconds)
        return sorted(tests, key=self._worth, reverse=True)

    def _worth(self, test: str) -> float:
        """Return how often a test may notice a change, for each second."""
        return (self._noticed[test] + 0.02) / (self._ran[test] + 1) / (self._seconds[test] + 0.02)

    def _start(self, module: Module | None, tests: list[str], current: Path) -> int:
        """Start running tests, with a module as it is now, in a process whose id is returned."""
        if process := os.fork():
            return process
        status = pytest.ExitCode.INTERNAL_ERROR
        try:
            _be_silent()
            if module:
                sys.meta_path.insert(0, _Loader(module))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            _end_in(COLLECTING, SECONDS)
            status = pytest.ExitCode(pytest.main([*OPTIONS, *tests], plugins=[_Watch(self, current)]))
        finally:
            os._exit(status)

    def end_in_time(self, test: str) -> None:
        """Let this process end when a test takes far longer than it did."""
        _end_in(2 * self._processor[test] + PROCESSOR_SECONDS, SECONDS + 10 * self._seconds[test])

    def _tell(self, paths: list[str], tell: Callable[[str], None]) -> None:
        """Run all tests and tell of each which lines it comes to, and what they imported of others."""
        _be_silent()
        coverage = _Coverage(paths)
        sys.settrace(coverage.trace)
        threading.settrace(coverage.trace)
        failed = int(pytest.main([*OPTIONS, *self._files], plugins=[coverage]))
        sys.settrace(None)
        lines = {path: {test: sorted(seen) for test, seen in each.items()} for path, each in coverage.lines.items()}
        others = [name for name, module in sys.modules.items() if "site-packages" in str(vars(module).get("__file__"))]
        told: dict[str, object] = {"failed": failed, "lines": lines, "imported": others}
        tell(json.dumps(told | {"seconds": coverage.seconds, "processor": coverage.processor}))


def _end_in(processor: float, seconds: float) -> None:
    """Let this process be ended once it computed so long, or so long by the clock of a machine that is not busy."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + processor), most))
    signal.alarm(math.ceil(seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))))


def _be_silent() -> None:
    os.setpgid(0, 0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


def _in_fork(work: Callable[[Callable[[str], None]], None]) -> Iterator[str]:
    """Yield the lines that work tells in a process of its own, as it tells them."""
    read, write = os.pipe()
    if process := os.fork():
        os.close(write)
        with os.fdopen(read) as answer:
            yield from answer
        os.waitpid(process, 0)
        return
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as answer:
        work(lambda line: print(line, file=answer))
    os._exit(0)


def _wait_for(process: int) -> int:
    """Wait for one process, whatever others there are; return how it ended."""
    _, status = os.waitpid(process, 0)
    _end_group(process)
    return status


def _ended(running: dict[int, Any]) -> tuple[Any, int]:
    """Wait for one process; return what it was started for, and how it ended."""
    process, status = os.wait()
    _end_group(process)
    return running.pop(process), status


def _end_group(process: int) -> None:
    """End what a process that has ended left running."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
