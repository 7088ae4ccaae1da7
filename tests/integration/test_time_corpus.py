"""The public corpus of English time expressions is read as well as promised."""

import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ASOF_TEST_DATA") or ROOT.parent / "shared" / "data")
CORPUS = DATA / "time-expressions" / "time_en.json"

pytestmark = pytest.mark.data


@pytest.mark.skipif(not CORPUS.exists(), reason=f"no corpus of time expressions at {CORPUS}: set ASOF_TEST_DATA")
def test_at_least_85_in_100_expressions_without_a_holiday_are_read_right():
    read_corpus = runpy.run_path(str(ROOT / "bench" / "time_expressions.py"))["read_corpus"]
    right = [ok for example, _, ok in read_corpus(CORPUS) if not example["holiday"]]

    assert len(right) > 600
    assert sum(right) / len(right) >= 0.85
