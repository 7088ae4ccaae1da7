"""The words of an agent's episode stand where they stood, and no markup is among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asof_agents.extraction.markup import words

PROMOTED = """\
<graphiti_episode kind="decision">
source: copilot-chat
scope: workspace
timestamp: 2025-01-02T03:04:05.000Z
content:
We settled on ruff, and source: it is fast.
- Ana owns a<b.
</graphiti_episode>"""


def test_tags_and_headers_are_blanked_and_the_words_stay_where_they_were():
    read = words(PROMOTED)

    assert [line for line in read.split("\n") if line.strip()] == [
        "We settled on ruff, and source: it is fast.",
        "- Ana owns a<b.",
    ]
    assert read.index("We settled") == PROMOTED.index("We settled")


@pytest.mark.parametrize(
    ("content", "left"),
    [
        (
            '<graphiti_episode kind="memory_directive">preference (workspace): Keep it small.</graphiti_episode>',
            "Keep it small.",
        ),
        ("<graphiti_episode>content: Ana owns it.</graphiti_episode>", "Ana owns it."),
        ("<graphiti_episode/>\ncontent: Ana owns it.", "Ana owns it."),
        ("<graphiti_episode>if a < b and c > d</graphiti_episode>", "if a < b and c > d"),
        (
            "<graphiti_episode>The project (workspace): it is new.</graphiti_episode>",
            "The project (workspace): it is new.",
        ),
    ],
)
def test_what_is_left_of_a_content(content, left):
    assert words(content).strip() == left


def test_what_stands_in_two_elements_is_two_lines():
    assert words("<a>Ana</a><b>Bo</b>").split() == ["Ana", "Bo"]
    assert "\n" in words("<a>Ana</a><b>Bo</b>").strip()


@given(st.text(alphabet='<>/a \n:="()', max_size=60))
def test_nothing_moves_and_no_line_is_lost(content):
    read = words(content)

    assert len(read) == len(content)
    assert all(now == before or now in " \n" for now, before in zip(read, content, strict=True))
    assert all(now == "\n" for now, before in zip(read, content, strict=True) if before == "\n")
