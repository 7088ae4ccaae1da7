"""Every request of the stories recorded from Graphiti's server is answered by ours as by it, or as the story says."""

from pathlib import Path

import pytest

from graphiti_stories import STORIES, Story, is_accepted
from http_server import serving


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_recorded_story_is_answered_as_it_was_by_graphiti(path: Path, tmp_path: Path) -> None:
    story = Story(path)

    with serving(tmp_path / "data") as server:
        for case, given in story.requests():
            answer = server.client.request(**given)
            if is_accepted(case, answer):
                server.settled(int(answer.headers["asof-position"]) + len(case["body"]["messages"]) - 1)
            expected = {name: value for name, value in case.get("here", case["recorded"]).items() if name != "why"}
            assert story.evened(answer) == expected, (case["method"], case["path"], case.get("body"))
            if answer.status_code == 422:
                assert {error["input"] for error in answer.json()["detail"]} == {None}  # nothing is quoted


def test_where_ours_differs_on_purpose_the_story_says_why() -> None:
    differing = [case for path in STORIES for case in Story(path).cases if "here" in case]

    assert differing
    assert all(case["here"]["why"] and case["here"] != case["recorded"] for case in differing)
