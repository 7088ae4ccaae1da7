"""The public corpus of English time expressions is read as well as promised."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.data


def test_at_least_85_in_100_expressions_without_a_holiday_are_read_right(data_dir: Path) -> None:
    read_corpus = runpy.run_path(str(ROOT / "bench" / "time_expressions.py"))["read_corpus"]
    corpus = read_corpus(data_dir / "time-expressions" / "time_en.json")
    right = [ok for example, _, ok in corpus if not example["holiday"]]

    assert len(right) > 600
    assert sum(right) / len(right) >= 0.85
