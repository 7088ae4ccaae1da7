"""Changes one thing at a time in modules that the criteria are about; a change that no test notices is printed.

    python tests/mutants.py [MODULE ...]      as `make mutants`; without modules, all of MODULES

It works in a copy of the tree, and ends with 1 if a change was not noticed that is not one of EQUAL.
"""

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ("streams", "ontologies", "projections", "agents", "entrypoints")
SECONDS: Final = 900  # after which the tests of a change hang, which is noticing it
MODULES: Final[dict[str, tuple[str, ...]]] = {
    "streams/asof_streams/backoff.py": ("tests/unit/test_backoff.py",),
    "projections/asof_projections/versions.py": ("tests/unit/test_versions.py",),
    "agents/asof_agents/handlers/episodes.py": ("tests/unit/test_episodes_agent.py", "tests/unit/test_withdrawals.py"),
    "agents/asof_agents/handlers/mentions.py": ("tests/unit/test_mentions_agent.py",),
    "projections/asof_projections/retrieval/pipeline/mindset.py": ("tests/unit/test_retrieval_ranking.py",),
    "projections/asof_projections/retrieval/pipeline/reranker.py": ("tests/unit/test_retrieval_ranking.py",),
}
EQUAL: Final[dict[str, str]] = {
    "streams/asof_streams/backoff.py: 0.5 -> 1.5 in OUTAGE = Backoff(0.5, longest=10.0)": (
        "how long an outage is waited for at first was chosen"
    ),
    "streams/asof_streams/backoff.py: 10.0 -> 11.0 in OUTAGE = Backoff(0.5, longest=10.0)": (
        "how long at most was chosen, too"
    ),
    "agents/asof_agents/handlers/mentions.py: 1 -> 2 in "
    "recent = known.recent(group, episode.source, episode.valid_at, before, CONTEXT_TURNS + 1)": (
        "one episode more is read, and left out again"
    ),
    "projections/asof_projections/versions.py: 4 -> 5 in "
    "_NEAR: Final = 4  # assertions that are looked at one by one: nearly always the next one ends another": (
        "how many are looked at before the tree is made was chosen"
    ),
    "projections/asof_projections/versions.py: True -> False in "
    "return {a.fact_id: ((a.start, end),) for a, end in zip(ordered, stated, strict=True)}": (
        "there is a stated end for each assertion, by construction"
    ),
    "projections/asof_projections/versions.py: covered[-1][0] >= end -> covered[-1][0] > end in "
    "if not covered or covered[-1][0] >= end:": "what begins at its end takes nothing from it",
    "projections/asof_projections/versions.py: covered[-1][0] <= end -> covered[-1][0] < end in "
    "while covered and covered[-1][0] <= end:": "two periods that meet cover the same as one of both",
    "projections/asof_projections/versions.py: 0 -> 1 in while covered and covered[-1][0] <= end:": (
        "two periods that overlap cover the same as one of both"
    ),
    "projections/asof_projections/versions.py: 1 -> 2 in self._width = 1 << (len(ordered) - 1).bit_length()": (
        "a tree with more empty leaves finds the same"
    ),
    "projections/asof_projections/versions.py: True -> False in "
    "leaves = [(end, a.value, NEG) for a, end in zip(self._ordered, self._stated, strict=True)]": (
        "there is a stated end for each assertion here, too"
    ),
    "projections/asof_projections/versions.py: len(ordered) - 1 -> len(ordered) + 1 in "
    "self._width = 1 << (len(ordered) - 1).bit_length()": "a tree with more empty leaves finds the same",
    "projections/asof_projections/versions.py: self._width - len(leaves) -> self._width + len(leaves) in "
    "self._latest = [nothing] * self._width + leaves + [nothing] * (self._width - len(leaves))": (
        "nobody looks behind the last leaf"
    ),
    "projections/asof_projections/versions.py: node < self._width -> node <= self._width in "
    "while node < self._width:": ("the first leaf is never found: no search begins there"),
    "projections/asof_projections/versions.py: 0 -> 1 in for node in range(self._width - 1, 0, -1):": (
        "the root is never asked: no search begins at the first leaf"
    ),
    "projections/asof_projections/retrieval/pipeline/mindset.py: True -> False in "
    'model_config = ConfigDict(frozen=True, extra="forbid")': "nobody writes to rules",
    "projections/asof_projections/retrieval/pipeline/reranker.py: 0 -> 1 in "
    "most = max((node.degree for node in nodes), default=0) or 1": "without nodes nothing is divided by it",
    "projections/asof_projections/retrieval/pipeline/reranker.py: 1 -> 2 in "
    "most = max((node.degree for node in nodes), default=0) or 1": "where it counts, every degree is 0",
    "projections/asof_projections/retrieval/pipeline/reranker.py: 0 -> 1 in "
    "latest = max((node.time for node in nodes), default=0)": "without nodes nothing has an age",
    "projections/asof_projections/retrieval/pipeline/reranker.py: 1 -> 2 in "
    "return latest if at.known is None or at.known >= INF - 1 else at.known": "nothing is known at that microsecond",
}
"""Changes that need not be noticed, by what is printed of them, each with the reason."""

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


def changes(source: str) -> Iterator[tuple[str, str]]:
    """Yield each change of a module: what it is, with the line where it is, and the module that it makes."""
    tree, lines = ast.parse(source), source.splitlines()
    for node in _below(tree):
        if not isinstance(node, ast.expr):
            continue
        before = ast.unparse(node)
        for undo in _changed(node):
            yield f"{before} -> {ast.unparse(node)} in {lines[node.lineno - 1].strip()}", ast.unparse(tree)
            undo()


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it but decorators."""
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if name != "decorator_list" and isinstance(child, ast.AST):
                yield from _below(child)


def _changed(node: ast.AST) -> Iterator["_Undo"]:
    """Change a node in each way that there is; the caller undoes it before the next."""
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                yield _Undo(node.ops, at, _OTHER[type(operator)]())
        case ast.BoolOp() | ast.BinOp() if type(node.op) in _OTHER:
            yield _Undo(vars(node), "op", _OTHER[type(node.op)]())
        case ast.Constant(value=bool() as value):
            yield _Undo(vars(node), "value", not value)
        case ast.Constant(value=int() | float() as value):
            yield _Undo(vars(node), "value", value + 1)
        case ast.UnaryOp(op=ast.Not()):
            yield _Undo(vars(node), "op", ast.UAdd())
        case ast.IfExp():
            yield _Undo(vars(node), "test", ast.UnaryOp(ast.Not(), node.test))


class _Undo:
    """Puts something else where something was, until it is called."""

    def __init__(self, holder: object, at: object, other: object) -> None:
        self._holder, self._at, self._was = holder, at, holder[at]  # type: ignore[index]
        holder[at] = other  # type: ignore[index]

    def __call__(self) -> None:
        self._holder[self._at] = self._was  # type: ignore[index]


def unnoticed(module: str, tests: tuple[str, ...], copy: Path) -> Iterator[str]:
    """Yield the changes of a module that its tests do not notice. SystemExit: they fail without one."""
    path = copy / module
    source = path.read_text("utf-8")
    if not _pass(tests, copy):
        raise SystemExit(f"{module}: its tests fail as it is")
    for what, changed in changes(source):
        path.write_text(changed, "utf-8")
        if _pass(tests, copy):
            yield f"{module}: {what}"
    path.write_text(source, "utf-8")


def _pass(tests: tuple[str, ...], copy: Path) -> bool:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    paths = os.pathsep.join(str(copy / source) for source in SOURCES)
    environment = {**os.environ, "PYTHONPATH": paths}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main(modules: list[str]) -> int:
    """Print what was not noticed; return 1 if it has no reason."""
    unexplained = 0
    with tempfile.TemporaryDirectory(prefix="asof-mutants-") as folder:
        copy = Path(folder) / "asof"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "shared"))
        for module in modules or MODULES:
            for what in unnoticed(module, MODULES[module], copy):
                reason = EQUAL.get(what, "")
                unexplained += not reason
                sys.stdout.write(f"{what}: {reason or 'NOT NOTICED'}\n")
                sys.stdout.flush()
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
