"""docs/conformance.md names every criterion, and for each a test that exists or what is not here yet."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = re.findall(
    r"^\| ([\w., ]+) \| .+ \| (.+) \|$", (ROOT / "docs" / "conformance.md").read_text("utf-8"), re.MULTILINE
)
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_criterion_is_held_by_a_test_that_exists_or_is_said_not_to_be_here_yet() -> None:
    held = {criterion: text for criterion, text in ROWS if criterion != "criterion"}

    for criterion, text in held.items():
        named = NAMED.fullmatch(text)
        assert named or text.startswith("not here yet"), criterion
        if named:
            tree = ast.parse((ROOT / named[1]).read_text("utf-8"))
            assert named[2] in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, criterion


def test_no_criterion_is_left_out() -> None:
    criteria = [criterion for criterion, _ in ROWS]
    numbers = [int(criterion.split()[1]) for criterion in criteria if re.fullmatch(r"[a-z]+ \d+", criterion)]

    assert len(criteria) == len(set(criteria)) + 1  # two headings
    assert numbers == [*range(1, 37), 35, 36, 37, 37, 38, 39]
    for number in (
        "1.1",
        "1.2",
        "1.3",
        "1.4",
        "1.5",
        "2.1",
        "2.2",
        "2.3",
        "3.1",
        "3.2",
        "3.3",
        "4.1",
        "4.2",
        "5.1",
        "5.2",
        "5.3",
        "5.4",
    ):
        assert any(number in criterion.split(", ") for criterion in criteria), number
