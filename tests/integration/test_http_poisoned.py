"""A job that fails never stops the next: one poisoned message in ten, of every kind that there is."""

from pathlib import Path
from typing import Any

import model_server
from effort import tries
from http_server import Server, serving

COUNT, EVERY = tries(200, nightly=1_000), 10
POISONS: list[tuple[str, dict[str, Any], str]] = [  # its group, what is wrong with it, why
    ("jobs", {"uuid": "nobody"}, "uuid: no episode of this group has it"),
    ("no\tgroup", {}, "group_id: "),
    ("jobs", {"excluded_entity_types": ["Unheard"]}, "excluded_entity_types"),
    ("jobs", {"previous_episode_ids": ["nobody"]}, "previous_episode_ids.0: no episode of this group has it"),
]
FAILURES: list[str | tuple[int, str]] = [
    (400, "broken"),
    "no JSON",
    '{"entities": 7}',
    "",
]  # of a model, each as often as it has to be asked again


def test_a_job_that_fails_never_stops_the_next_be_it_one_in_ten(tmp_path: Path) -> None:
    with model_server.serving() as model:
        model.faults = FAILURES * 5
        settings = {"ASOF_EXTRACTOR": "model", "ASOF_MODEL_NAME": "fake", "ASOF_MODEL_URL": model.url}
        with serving(tmp_path / "data", **settings) as server:
            answers = [_post(server, number) for number in range(COUNT)]
            server.settled(COUNT - 1)
            outcomes = [server.client.get(f"/v1/messages/{n}").json() for n in range(0, COUNT, EVERY)]
            told = [episode["content"] for episode in server.episodes("jobs")]

    assert {answer.status_code for answer in answers} == {202}
    assert told == [f"Ana(user): {_content(n)}" for n in range(COUNT) if n % EVERY]
    for number, outcome in enumerate(outcomes):
        assert outcome["state"] == "parked"
        assert outcome["reason"].startswith(POISONS[number % len(POISONS)][-1])
    assert not model.faults
    assert server.log.count(" done in ") == COUNT


def _content(number: int) -> str:
    return f"Turn {number}."


def _post(server: Server, number: int) -> Any:
    said = {"content": _content(number), "role_type": "user", "role": "Ana", "timestamp": 1_700_000_000 + number}
    group, wrong, _ = POISONS[number // EVERY % len(POISONS)] if number % EVERY == 0 else ("jobs", {}, "")
    return server.client.post("/messages", json={"group_id": group, "messages": [{**said, **wrong}]})
