"""The demonstration: its facts come out of the real extractor, and its answers are what the conversation says."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from asof.api.memory import Memory
from asof.cli import app, calls, demo_story
from asof.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TOLD_WHOLE = {  # the relations of which the conversation says this and no more, as read by a person: from, until
    "lives_in": {
        ("Ana lives in Lisbon", "2023-01-14", "2023-05-01"),
        ("Ana lives in Berlin", "2023-05-01", "2024-09-01"),
        ("Ana lives in Vienna", "2024-09-01", ""),
        ("Ben lives in Manchester", "2023-01-14", "2025-03-01"),
        ("Ben lives in Leeds", "2025-03-01", ""),
        ("Clara lives in Zurich", "2023-09-25", ""),
        ("Tomas lives in Edinburgh", "2023-07-22", ""),
    },
    "works_at": {
        ("Ana works at Tidewater Press", "2023-01-14", "2023-04-01"),
        ("Ana works at Kompass Press", "2023-05-15", "2024-10-06"),
        ("Ana works at Donau Atlas", "2024-10-06", ""),
        ("Ben works at Northgate Health", "2023-01-14", "2023-03-01"),
        ("Ben works at Harbour Health", "2023-03-01", ""),
    },
    "partner_of": {("Ben is the partner of Marta", "2024-04-07", "")},
    "sibling_of": {("Ana is a sibling of Clara", "2023-01-14", "")},
    "friend_of": {("Ana is a friend of Tomas", "2023-07-22", "")},
    "has_pet": {("Ben has a pet, Biscuit", "2023-02-20", "")},
    "owns": {("Ana owns red bicycle", "2023-04-01", "2023-06-10")},
    "eats": {("Ana eats meat", "2023-04-16", "2023-11-12")},
    "allergic_to": {("Ben is allergic to peanuts", "2023-11-12", "")},
    "member_of": {("Ana is a member of choir", "2023-07-01", "")},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "data"


@pytest.fixture(scope="module")
def told(place: Path) -> demo_story.Story:
    return demo_story.tell(Settings(data=place, embedder="none"))


@pytest.fixture
def memory(told: demo_story.Story, place: Path):
    del told
    with Memory(Settings(data=place, embedder="none")) as opened:
        yield opened


def test_the_conversation_is_of_two_people_and_more_over_two_years() -> None:
    messages = demo_story.conversation()
    recorded = [message["recorded_at"] for message in messages]

    assert 55 <= len(messages) <= 70
    assert recorded == sorted(recorded)
    assert (recorded[0][:4], recorded[-1][:4]) == ("2023", "2024")
    assert {message["role"] for message in messages} == {"Ana", "Ben", "Clara", "Iris"}
    late = [m for m in messages if "timestamp" in m]
    assert [m["role"] for m in late] == ["Clara"]
    assert late[0]["timestamp"] < "2024" < late[0]["recorded_at"]


@pytest.mark.parametrize("relation", TOLD_WHOLE)
def test_the_facts_of_the_story_are_what_the_conversation_says(memory: Memory, relation: str) -> None:
    facts = [fact.to_json() for fact in memory.facts(relation=relation, any_time=True, group_id=demo_story.GROUP)]
    held = {(fact["fact"], fact["valid_at"][:10], (fact["invalid_at"] or "")[:10]) for fact in facts}

    assert held == TOLD_WHOLE[relation]


def test_the_five_answers_differ_as_the_clocks_do(told: demo_story.Story) -> None:
    answers = [(a.moment.valid_at, a.moment.known_at, *a.objects) for a in told.answers]

    assert answers == [
        ("2023-05-20", "2023-05-20", "Lisbon"),
        ("2023-05-20", "2024-12-31", "Berlin"),
        ("2023-09-15", "2023-09-15", "Hamburg"),
        ("2024-07-01", "2024-04-01", "Porto"),
        ("2024-12-31", "2024-12-31", "Vienna"),
    ]


def test_why_leads_to_the_words_and_to_what_became_of_them(told: demo_story.Story) -> None:
    said = [(evidence.role, evidence.quote) for evidence in told.why.evidence]
    became = [(c.kind, c.evidence.role if c.evidence else "") for c in told.why.consequences]

    assert said == [("Ana", "Big news: I moved to Berlin on 1 May.")]
    assert became == [
        ("superseded", "Ben"),
        ("restored", "Ana"),
        ("superseded", "Ana"),
        ("restored", "Ana"),
        ("superseded", "Ana"),
    ]


def test_a_letter_that_came_late_tells_of_its_own_time(memory: Memory) -> None:
    def where(known_at: str) -> list[str]:
        found = memory.facts(
            about="Clara", relation="lives_in", valid_at="2024-01-01", known_at=known_at, group_id=demo_story.GROUP
        )
        return [fact.object for fact in found]

    assert (where("2024-11-01"), where("2024-12-01")) == ([], ["Zurich"])


def test_the_rebuild_has_the_same_digest(told: demo_story.Story) -> None:
    assert told.same
    assert list(told.digests) == ["main", "again"]


def test_the_story_is_the_same_whenever_it_is_told(told: demo_story.Story, tmp_path: Path) -> None:
    again = demo_story.tell(Settings(data=tmp_path, embedder="none"))

    assert again.to_json() == told.to_json()


def test_the_story_goes_to_a_directory_even_where_a_broker_is_named(told: demo_story.Story, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, embedder="none", kafka="127.0.0.1:1")

    assert demo_story.tell(settings).answers == told.answers


def test_the_command_tells_it_in_less_than_forty_lines_and_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import asof.cli; asof.cli.script()", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    lines = done.stdout.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 120
    for words in ("message.sent", "fact.asserted", "Hamburg", "superseded", "identical"):
        assert words in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_the_command_gives_all_of_it_as_json_and_keeps_the_directory_that_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "kept"

    assert calls.run(app, ["demo", "--data", str(data), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["messages"], told["same"], len(told["answers"])) == (len(demo_story.conversation()), True, 5)
    assert told["events"]["messages"] == {"message.sent": told["messages"]}
    assert calls.run(app, ["timeline", "Ana", "--group", demo_story.GROUP, "--data", str(data)]) == 0
    assert "Vienna" in capsys.readouterr().out
    assert calls.run(app, ["demo", "--data", str(data)]) == 2
    assert "is not empty" in capsys.readouterr().err


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a newcomer has: the files that git has, and nothing made from them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in listed:
        if name and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.long
def test_make_demo_fetches_what_a_demo_needs_says_so_in_one_line_and_ends_with_a_command_that_runs(clone: Path) -> None:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("ASOF_", "VIRTUAL_", "MAKE"))
    }
    demo = ["make", "demo", f"UV={find_uv_bin()}", f"PYTHON={sys.executable}"]
    told = subprocess.run(demo, cwd=clone, env=environment, capture_output=True, text=True, check=True)

    first, second, *_, last = told.stdout.splitlines()
    assert first.startswith("Fetching ")
    assert "messages from" in second
    assert told.stderr == ""
    assert not [tool for tool in ("pytest", "mypy", "ruff", "hypothesis") if list(clone.glob(f".venv/bin/{tool}"))]
    ended = subprocess.run(last, shell=True, cwd=clone, env=environment, capture_output=True, text=True, check=True)
    assert "Vienna" in ended.stdout.rpartition("subject")[2]
    again = subprocess.run(demo, cwd=clone, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.splitlines()[0] == second
