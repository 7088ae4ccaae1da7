"""A CSV file is imported as structured facts, by the names of its columns."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asof.cli import app, calls

Run = Callable[..., Any]
JOBS = """\
employee,company,start,end,note
Ana,Acme,2020,2022-05-01,"a ""quoted"",
note"
Ana,Beta,2022-05-01,,
 Ben ,Acme,2021-03,,
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASOF_EMBEDDER", "none")

    def run(*arguments: str, code: int = 0) -> Any:
        ended = calls.run(app, [*arguments, "--data", str(tmp_path / "data"), "--json"])
        out, err = capsys.readouterr()
        assert ended == code, (out, err)
        return json.loads(out) if out else json.loads(err)

    return run


def rows(run: Run, *more: str) -> list[tuple[str, ...]]:
    found = run("facts", "--any-time", *more)
    return [(f["subject"], f["relation"], f["object"], f["valid_at"], f["invalid_at"]) for f in found]


MAPPING = (
    "--subject",
    "employee",
    "--relation",
    "works_at",
    "--object",
    "company",
    "--from",
    "start",
    "--until",
    "end",
)


def test_columns_are_mapped_to_a_fact_and_dates_alone_are_times(run: Run, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS, "utf-8-sig")

    done = run("import", str(tmp_path / "jobs.csv"), *MAPPING)

    assert (done["accepted"], done["refused"]) == (3, [])
    assert sorted(rows(run), key=str) == [
        ("Ana", "works_at", "Acme", "2020-01-01T00:00:00Z", "2022-05-01T00:00:00Z"),
        ("Ana", "works_at", "Beta", "2022-05-01T00:00:00Z", None),
        ("Ben", "works_at", "Acme", "2021-03-01T00:00:00Z", None),
    ]


def test_columns_that_are_named_like_fields_need_no_option(run: Run, tmp_path: Path) -> None:
    lines = ["subject,relation,object,ref,confidence", "Ana,knows,Ben,k-1,0.5", "Ana,likes,tea,k-2,"]
    (tmp_path / "facts.csv").write_text("\n".join(lines))

    run("import", str(tmp_path / "facts.csv"))

    found = {fact["object"]: fact["confidence"] for fact in run("facts", "--about", "Ana")}
    assert found == {"Ben": 0.5, "tea": 1.0}


def test_a_relation_may_have_a_column(run: Run, tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("who,what,whom\nAna,knows,Ben\nAna,likes,Eve\n")

    run("import", str(tmp_path / "facts.csv"), "--subject", "who", "--relation", "what", "--object", "whom")

    assert {(relation, object_) for _, relation, object_, *_ in rows(run)} == {("knows", "Ben"), ("likes", "Eve")}


def test_a_row_that_is_wrong_is_refused_with_its_number_and_the_others_are_taken(run: Run, tmp_path: Path) -> None:
    lines = [
        "employee,company,start,end",
        "Ana,Acme,2020,",
        "Ana,,2021,",
        "Ana,Beta,someday,",
        "Ana,B,2022,,more",
        "Ben,C,,",
    ]
    (tmp_path / "jobs.csv").write_text("\n".join(lines))

    done = run("import", str(tmp_path / "jobs.csv"), *MAPPING, code=1)

    assert done["accepted"] == 2
    assert [(one["line"], one["field"]) for one in done["refused"]] == [(3, None), (4, "valid_at"), (5, "(a name)")]
    assert "object" in done["refused"][0]["reason"]


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        (b"employee,company\nAna,Acme\n", ("--subject", "worker"), "no column worker: the first line names employee"),
        (b"", ("--subject", "worker"), "no column worker"),
        (b"subject,object\nAna\xff,x\n", ("--relation", "knows"), "not UTF-8"),
        (b'subject,object\n"Ana,x\n', ("--relation", "knows"), "not CSV"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_remedy(
    run: Run, tmp_path: Path, content: bytes, options: tuple[str, ...], says: str
) -> None:
    (tmp_path / "jobs.csv").write_bytes(content)

    assert says in run("import", str(tmp_path / "jobs.csv"), *options, code=2)["error"]
