"""A conversation in a terminal, as a person has it, and through pipes, as a program has it."""

import json
import os
import pty
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import asof
from asof.runtime.conversation_log import ConversationLog
from asof.runtime.layout import DirectoryLayout
from asof_process import ASOF, launcher
from asof_streams.conversation import CheckinScheduled
from patience import wait_until
from reply_server import replying


@pytest.fixture
def environment() -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("ASOF_")}
    return {**others, "ASOF_EMBEDDER": "hash", "TERM": "xterm", "ASOF_QUIET_HOURS": "00:00-00:00"}


def piped(
    data: Path, environment: Mapping[str, str], *lines: str, options: tuple[str, ...] = ("--name", "Ana")
) -> subprocess.CompletedProcess[str]:
    """Say lines through a pipe; return what is answered on stdout, and what is told on stderr."""
    command = launcher("chat", "--data", str(data), *options)
    said = "".join(f"{line}\n" for line in lines)
    return subprocess.run(command, input=said, capture_output=True, text=True, env=environment, check=False)


class Terminal:
    """A terminal in which `asof chat` runs: what is on it, and what is typed."""

    def __init__(self, process: "subprocess.Popen[bytes]", side: int) -> None:
        self.process = process
        self._side = side
        self._shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        try:
            while piece := os.read(self._side, 65_536):
                self._shown += piece
        except OSError:  # the other side is closed
            pass

    @property
    def text(self) -> str:
        return self._shown.decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self._side, text.encode())

    def says(self, text: str, times: int = 1) -> None:
        """Wait until a text was shown so many times."""
        wait_until(lambda: self.text.count(text) >= times, lambda: self.text)

    def ends(self) -> int:
        wait_until(lambda: self.process.poll() is not None, lambda: self.text)
        self._reader.join()
        assert self.process.returncode is not None
        return self.process.returncode


@contextmanager
def terminal(data: Path, environment: Mapping[str, str], *, fresh: bool = False) -> Iterator[Terminal]:
    """Run a chat whose three streams are a terminal, and wait until somebody may type.

    `fresh`: by new interpreters, as a person has them; otherwise all processes are forks.
    """
    ours, theirs = pty.openpty()
    arguments = ["chat", "--data", str(data), "--name", "Ana"]
    command = [str(ASOF), *arguments] if fresh else launcher(*arguments)
    with subprocess.Popen(
        command, env=environment, start_new_session=True, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        here = Terminal(process, ours)
        try:
            here.says("Ana: ")
            yield here
        finally:
            if process.poll() is None:
                process.terminate()  # which goes on to the fork, as a kill would not
    here._reader.join()
    os.close(ours)


def episodes(data: Path) -> list[str]:
    with asof.open(data, embedder="hash") as memory:
        return [episode.content for episode in memory.episodes()]


def test_what_is_said_is_kept_and_answered_from_and_a_program_is_told_that_no_model_is_set(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    told = piped(tmp_path, environment, "I moved to Berlin in March 2024", "Where do I live?")

    assert told.returncode == 0
    assert told.stdout == (
        "asof: I have kept this. (No language model is set.)\n"
        "asof: This is what I remember. (No language model is set.)\n"
        "- Ana lives in Berlin\n"
    )
    assert "No language model is set" in told.stderr.splitlines()[0]
    assert "  began: Ana lives in Berlin, from 2024-03-01\n" in told.stderr
    assert "INFO" not in told.stderr
    again = piped(tmp_path, environment, "Where do I live?", "", "/quit", "I live in Oslo.")
    assert "- Ana lives in Berlin\n" in again.stdout
    assert "I live in Oslo." not in episodes(tmp_path)
    assert len(episodes(tmp_path)) == 6


def test_a_program_gets_what_is_answered_as_json_lines(tmp_path: Path, environment: dict[str, str]) -> None:
    options = ("--name", "Ana", "--group", "team", "--json")
    told = piped(tmp_path, environment, "My goal is to run a marathon", "Hello!", "/feedback Shorter!", options=options)

    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(answer["action"], answer["group"]) for answer in answers] == [
        ("reply", "team"),
        ("reply", "team"),
        ("react", "team"),
    ]
    assert [answers[0]["text"], answers[2]["text"]] == ["Noted 🌟", "🫡"]


def test_a_command_answers_a_program_in_a_line_of_json(tmp_path: Path, environment: dict[str, str]) -> None:
    told = piped(
        tmp_path, environment, "I live in Rome.", "/undo", "/what-do-you-know", options=("--name", "Ana", "--json")
    )

    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert [answer["text"] for answer in answers if answer["action"] == "note"] == [
        "Taken back: I live in Rome.",
        "I know nothing yet.",
    ]


def test_a_conversation_has_a_group_with_a_name(tmp_path: Path, environment: dict[str, str]) -> None:
    refused = piped(tmp_path, environment, "I live in Rome.", options=("--group", ""))

    assert refused.returncode == 2
    assert "a conversation needs a group with a name" in refused.stderr
    assert not (tmp_path / "messages.sqlite").exists()


def test_who_asks_for_goals_is_told_them(tmp_path: Path, environment: dict[str, str]) -> None:
    goals = ("My goal is to run a marathon", "I want to focus on chess", "/what-do-you-know")
    listed = piped(tmp_path, environment, *goals)
    asked = piped(tmp_path, environment, "I live in Rome.", "What is my goal?", "What are my goals?")

    assert "I know nothing yet." not in listed.stderr
    assert listed.stderr.endswith("- a goal of Ana: run a marathon\n- a goal of Ana: chess\n")
    assert asked.stdout.count("- a goal: run a marathon\n- a goal: chess\n") == 2
    assert "- Ana lives in Rome" not in asked.stdout


def test_nothing_is_told_of_another_group(tmp_path: Path, environment: dict[str, str]) -> None:
    piped(tmp_path, environment, "I live in Berlin.", options=("--name", "Ana", "--group", "ana"))
    told = piped(tmp_path, environment, "Where does Ana live?", "/what-do-you-know", options=("--group", "ben"))

    assert "Berlin" not in told.stdout + told.stderr
    assert "I know nothing yet." in told.stderr


def test_feedback_is_no_part_of_the_conversation_and_what_is_taken_back_is_gone(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    first = (
        "/feedback Hm.",
        "/undo",
        "It rains.",
        "/feedback Shorter!",
        "/undo",
        "I like jazz.",
        "/undo",
        "/what-do-you-know",
    )
    told = piped(tmp_path, environment, *first, "/feedback", "/sing", " /etc is full", "/help")

    assert "Feedback is on something that I said" in told.stderr
    assert "There is nothing to take back" in told.stderr
    assert told.stdout.count("🫡") == 1
    taken_back = [line for line in told.stderr.splitlines() if line.startswith("Taken back: ")]
    assert taken_back == ["Taken back: Shorter!", "Taken back: I like jazz."]
    assert "I know nothing yet." in told.stderr
    assert "There is no command /sing" in told.stderr
    assert "/forget-me  " in told.stderr
    assert [text for text in episodes(tmp_path) if "No language model" not in text] == ["It rains.", "/etc is full"]


def test_who_asks_for_it_and_says_yes_is_forgotten_with_a_receipt(tmp_path: Path, environment: dict[str, str]) -> None:
    piped(tmp_path, environment, "I live in Canaryville.")
    kept = piped(tmp_path, environment, "/forget-me", "no", "/what-do-you-know")
    gone = piped(tmp_path, environment, "/forget-me", "yes", "/what-do-you-know")

    assert "Nothing was erased." in kept.stderr
    assert "- Ana lives in Canaryville" in kept.stderr
    assert "Erased 2 messages of the group default: no file here holds any of it." in gone.stderr
    assert "I know nothing yet." in gone.stderr
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and b"Canaryville" in path.read_bytes()] == []


def test_a_person_talks_and_sees_what_is_learned_above_the_line_that_is_being_typed(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with terminal(tmp_path, environment, fresh=True) as here:
        here.type("I live in Romee.\x1b[D\x7f\n")  # lines can be edited
        here.says("asof: I have kept this.")
        here.says("  began: Ana lives in Rome")
        here.type("Where do I live?\n")
        here.says("- Ana lives in Rome")
        here.type("/quit\n")
        assert here.ends() == 0

    assert {"I live in Rome.", "Where do I live?"} <= {*episodes(tmp_path)}


def test_the_end_of_what_is_typed_ends_it(tmp_path: Path, environment: dict[str, str]) -> None:
    with terminal(tmp_path, environment) as here:
        here.type("\x04")
        assert here.ends() == 0


def test_a_check_in_is_shown_to_who_waits_and_becomes_a_turn(tmp_path: Path, environment: dict[str, str]) -> None:
    with terminal(tmp_path, environment) as here:
        here.type("It rains.\n")
        here.says("asof: I have kept this.")
        here.type("I was about")
        here.says("I was about")
        with ConversationLog(DirectoryLayout(tmp_path), beside=True) as log:
            assert log.append("default", 0, [CheckinScheduled(checkin_id="a", answers=0, due_at=0)], 0)
        here.says("asof: Hello! How are things going?\r\nAna: I was about")
        here.type(" to write.\n")
        here.says("asof: ", times=3)
        here.type("/quit\n")
        assert here.ends() == 0

    assert episodes(tmp_path)[2:4] == ["Hello! How are things going?", "I was about to write."]


def test_an_interrupt_ends_it_and_nothing_that_was_answered_is_lost(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with terminal(tmp_path, environment) as here:
        here.type("I live in Rome.\n")
        here.says("asof: I have kept this.")
        os.killpg(here.process.pid, signal.SIGINT)
        assert here.ends() == 130

    assert "Traceback" not in here.text
    assert episodes(tmp_path)[0] == "I live in Rome."


@pytest.mark.long
def test_it_ends_where_the_worker_dies_before_it_has_learned(tmp_path: Path, environment: dict[str, str]) -> None:
    with terminal(tmp_path, environment) as here:
        worker = int((tmp_path / "writer.lock").read_text("utf-8"))
        os.kill(worker, signal.SIGSTOP)
        here.type("I live in Rome.\n")
        here.says("asof: I have kept this.")
        os.kill(worker, signal.SIGKILL)
        here.type("/quit\n")
        assert here.ends() == 1

    assert "Traceback" not in here.text
    assert "the worker ended" in here.text
    assert "I live in Rome." in episodes(tmp_path)


def test_a_model_answers_where_one_is_set(tmp_path: Path, environment: dict[str, str]) -> None:
    with replying() as server:
        set_ = {"ASOF_MODEL_URL": server.url, "ASOF_MODEL_NAME": "m", "ASOF_MODEL_KEY": "k"}
        server.says = ["Rome is lovely.\nNEXT_PROACTIVE_IN_MINUTES: 180"]
        told = piped(tmp_path, {**environment, **set_}, "I live in Rome.", "Where do I live?")

    assert told.stdout.splitlines() == ["asof: Rome is lovely.", "asof: Thank you for telling me."]
    assert "No language model" not in told.stderr
    assert "- Ana lives in Rome" in server.prompts[1]


def test_a_chat_in_a_directory_that_somebody_writes_says_so(tmp_path: Path, environment: dict[str, str]) -> None:
    with terminal(tmp_path, environment):
        told = piped(tmp_path, environment, "Hello!")

    assert told.returncode != 0
    assert told.stdout == ""
    assert "Traceback" not in told.stderr
    assert len(told.stderr.splitlines()) == 1
