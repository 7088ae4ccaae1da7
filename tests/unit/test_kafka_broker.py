"""What `make kafka` says where there is nothing that could run a broker."""

import subprocess
import sys

import kafka_broker


def said(**environment: str) -> str:
    """Run the module in an environment without Java, Maven and Docker; return why it gave up."""
    command = [sys.executable, kafka_broker.__file__]
    done = subprocess.run(command, env={"PATH": "", **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert not done.stdout
    return done.stderr


def test_one_line_says_all_that_would_help() -> None:
    text = said()

    assert text.count("\n") == 1
    assert all(remedy in text for remedy in ("Java 17", "Maven", "Docker", "ASOF_KAFKA=HOST:PORT"))


def test_a_named_broker_that_does_not_answer_is_not_taken_for_one() -> None:
    assert "no broker answers at 127.0.0.1:1 " in said(ASOF_KAFKA="127.0.0.1:1")
    assert "no broker answers at somewhere " in said(ASOF_KAFKA="somewhere")
