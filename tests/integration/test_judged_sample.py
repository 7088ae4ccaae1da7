"""What the rules read of a judged sample of real conversations, which lies in the repository as ids and verdicts."""

import json
import re
from pathlib import Path

import pytest
from bench import judged


def test_the_sample_has_ids_verdicts_and_counts_alone() -> None:
    sample = json.loads(judged.FILE.read_text("utf-8"))

    assert sample.keys() == {"about", "relationships", "turns"}
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in sample["relationships"])
    assert set(sample["relationships"].values()) == {*judged.VERDICTS}
    assert all(re.fullmatch(r"locomo-conv-(26|30|41)/D\d+:\d+", each) for each in sample["turns"])
    assert len(sample["turns"]) == judged.DRAWN
    assert all(isinstance(count, int) for count in sample["turns"].values())


@pytest.mark.data
def test_most_of_what_the_rules_read_of_the_sample_is_right(data_dir: Path) -> None:
    precision, found = judged.report(data_dir / "locomo-dev")

    right = re.match(r"precision: (\d+)% of (\d+) relationships", precision)
    read = re.match(r"yield: (\d+)% of (\d+) statements", found)

    assert right is not None
    assert read is not None
    assert int(right[1]) >= 85
    assert int(read[1]) >= 35
