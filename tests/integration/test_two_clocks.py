"""What docs/explanation/two-clocks.md says of the things that people say is what happens when they say them."""

import re
from pathlib import Path

import pytest

from asking import start_of
from world import World

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "two-clocks.md"
SAID = "2024-05-02"

CASES = {  # what Ana says on that day: what she had said before, by day, and then what holds and when, in order
    "I moved to Berlin in March": (
        {"2024-01-10": "I live in Madrid."},
        ["Madrid 2024-01-10 2024-03-01", "Berlin 2024-03-01 -"],
    ),
    "I left Acme last week": (
        {"2023-01-10": "I work at Zeta.", "2024-01-10": "I work at Acme."},
        ["Zeta 2023-01-10 2024-01-10", "Acme 2024-01-10 2024-04-22"],
    ),
    "I never lived in Berlin": (
        {"2024-01-10": "I live in Madrid.", "2024-04-02": "I moved to Berlin in March."},
        ["Madrid 2024-01-10 -"],
    ),
    "It was Munich, not Berlin": (
        {"2024-01-10": "I live in Madrid.", "2024-04-02": "I moved to Berlin in March."},
        ["Madrid 2024-01-10 2024-03-01", "Munich 2024-03-01 -"],
    ),
    "In 2019 I worked at Zeta": (
        {"2024-01-10": "I work at Acme since 2022."},
        ["Zeta 2019-01-01 2020-01-01", "Acme 2022-01-01 -"],
    ),
    "I still live in Berlin": ({"2024-01-10": "I live in Berlin."}, ["Berlin 2024-01-10 -"]),
    "Next month I start at Beta": (
        {"2024-01-10": "I work at Acme."},
        ["Acme 2024-01-10 2024-06-01", "Beta 2024-06-01 -"],
    ),
    "I moved to Berlin last month": (
        {"2024-05-01": "I live in Oslo."},
        ["Oslo 2024-03-31 2024-04-01", "Berlin 2024-04-01 -"],
    ),
    "I quit Acme last week": ({"2024-05-01": "I work at Acme."}, ["Acme 2024-04-21 2024-04-22"]),
    "I moved to Berlin in 2010": (
        {"2024-05-01": "I live in Oslo."},
        ["Berlin 2010-01-01 2024-05-01", "Oslo 2024-05-01 -"],
    ),
    "I moved to Berlin on April 20": (
        {"2024-05-01": "I have lived in Oslo since April 28."},
        ["Berlin 2024-04-20 2024-04-28", "Oslo 2024-04-28 -"],
    ),
    "I visited Paris in March": ({}, ["Paris 2024-03-01 2024-04-01"]),
    "I visited Paris on March 5": ({"2024-04-10": "I visited Paris in March."}, ["Paris 2024-03-05 2024-03-06"]),
    "I went to Paris in April": (
        {"2024-04-10": "I visited Paris in March."},
        ["Paris 2024-03-01 2024-04-01", "Paris 2024-04-01 2024-05-01"],
    ),
    "I visited Oslo": ({}, ["Oslo - 2024-05-02"]),
    "I'm going to Rome next week": ({}, ["Rome 2024-05-06 2024-05-13 planned"]),
    "I visited Rome": ({"2024-04-10": "I'm going to Rome next week."}, ["Rome 2024-04-15 2024-04-22"]),
    "I didn't visit Paris in April": (
        {"2024-04-30": "I visited Paris on March 5. I visited Paris on April 2."},
        ["Paris 2024-03-05 2024-03-06"],
    ),
}


def test_every_row_of_the_table_is_tried() -> None:
    assert re.findall(r'^\| "([^"]+)"', PAGE.read_text("utf-8"), re.MULTILINE) == list(CASES)


@pytest.mark.parametrize("said", CASES)
def test_what_is_said_changes_what_the_page_says(tmp_path: Path, said: str) -> None:
    before, expected = CASES[said]
    world = World(tmp_path)

    for day, text in [*before.items(), (SAID, f"{said}.")]:
        world.memory.add(text, group_id="g", role="Ana", timestamp=f"{day}T00:00:00Z")

    held = sorted(world.memory.facts(group_id="g", about="Ana", any_time=True), key=lambda f: start_of(f.valid_at))
    assert [
        f"{f.object} {(f.to_json()['valid_at'] or '-')[:10]} {(f.to_json()['invalid_at'] or '-')[:10]}"
        f"{' planned' if f.planned else ''}"
        for f in held
    ] == expected
    world.memory.close()
