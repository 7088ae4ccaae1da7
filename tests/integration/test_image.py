"""The steps of docker/Dockerfile, run without a container: in a folder that stands for its file system."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from uv import find_uv_bin

from patience import SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[2]
MAKES_A_USER = "useradd "  # which only the container's own system may
PLACES = re.compile(r"(?<![\w.])/(opt|src|data|usr/local/bin)\b")


class Image:
    """What the steps of a Dockerfile leave in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        path = f"{root}/python/bin:{root}/usr/local/bin:{os.environ['PATH']}"
        self.environment = {"PATH": path, "HOME": os.environ["HOME"], "UV_SYSTEM_CERTS": "true"}
        self.folder = root
        self.entrypoint: list[str] = []
        self.command: list[str] = []

    def build(self, dockerfile: str) -> None:
        """Take all steps, in order."""
        python = ["--python", sys.executable, str(self.root / "python")]
        subprocess.run([find_uv_bin(), "venv", "--quiet", "--seed", *python], check=True)
        for line in re.sub(r"^#.*\n|\\\n", "", dockerfile, flags=re.MULTILINE).splitlines():
            if line:
                self._take(*line.split(" ", 1))

    def _take(self, step: str, given: str) -> None:
        match step:
            case "WORKDIR":
                self.folder = self._here(given)
                self.folder.mkdir(parents=True, exist_ok=True)
            case "ENV":
                for name, _, value in (pair.partition("=") for pair in shlex.split(given)):
                    self.environment[name] = self._placed(value).replace("$PATH", self.environment["PATH"])
                self.environment["UV_COMPILE_BYTECODE"] = "0"  # what a first start gains from costs a minute here
            case "COPY":
                self._copy(given.split())
            case "RUN" if MAKES_A_USER not in given:
                subprocess.run(self._placed(given), shell=True, cwd=self.folder, env=self.environment, check=True)
            case "ENTRYPOINT":
                self.entrypoint = json.loads(given)
            case "CMD":
                self.command = json.loads(given)
            case _:
                assert step in {"FROM", "RUN", "USER", "VOLUME", "EXPOSE"}, step

    def _copy(self, given: list[str]) -> None:
        match given:
            case [stage, source, target]:
                assert stage == "--from=build"
                assert source == target
                assert self._here(target).is_dir()
            case [".", "."]:
                for name in let_in():
                    (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / name, self.folder / name)
            case [source, target]:
                assert source in let_in()
                self._here(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / source, self._here(target))

    def _here(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _placed(self, text: str) -> str:
        """Return text whose absolute paths are those of this folder."""
        return PLACES.sub(rf"{self.root}/\1", text)

    def answer(self, *command: str) -> Any:
        """Return what a command of the entry point prints as JSON."""
        run = [self.entrypoint[0], *command, "--json"]
        executable = shutil.which(run[0], path=self.environment["PATH"])
        done = subprocess.run(
            run, cwd=self.folder, env=self.environment, executable=executable, capture_output=True, check=True
        )
        return json.loads(done.stdout)

    @contextmanager
    def running(self, *options: str) -> Iterator[str]:
        """Start the command of the image, with some options more; yield where it answers."""
        out, log = self.root / "out", self.root / "log"
        with out.open("wb") as stdout, log.open("ab") as stderr:
            process = subprocess.Popen(
                [*self.entrypoint, *self.command, *options, "--port", "0", "--json"],
                cwd=self.folder,
                env={**self.environment, "ASOF_EMBEDDER": "hash"},
                executable=shutil.which(self.entrypoint[0], path=self.environment["PATH"]),
                stdout=stdout,
                stderr=stderr,
            )
        try:
            wait_until(lambda: out.read_text().endswith("\n") or process.poll() is not None, log.read_text)
            assert process.poll() is None, log.read_text()
            yield json.loads(out.read_text())["url"]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def let_in() -> set[str]:
    """Return the files of git that docker/Dockerfile.dockerignore lets into the context."""
    lines = (ROOT / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    names = [line.removeprefix("!") for line in lines if line.startswith("!")]
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *names]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    made = Image(tmp_path_factory.mktemp("image"))
    made.build((ROOT / "docker" / "Dockerfile").read_text("utf-8"))
    return made


@pytest.mark.long("image")
def test_what_the_image_starts_serves_the_memory_on_its_volume_to_whoever_has_the_key_it_made(image: Image) -> None:
    message = {"content": "I live in Lisbon.", "role": "Ana", "role_type": "user"}
    body = {"group_id": "g", "messages": [message]}

    with image.running() as url:
        file = image.root / "data" / "keys.toml"
        key = tomllib.loads(file.read_text())["admin"]["key"]
        client = httpx2.Client(base_url=url.replace("0.0.0.0", "127.0.0.1"), timeout=SECONDS)
        assert client.post("/messages", json=body).status_code == 401
        assert file.stat().st_mode & 0o077 == 0
        client.headers["Authorization"] = f"Bearer {key}"
        assert client.post("/messages", json=body).status_code == 202
        assert objects(client) == ["Lisbon"]
        client.close()

    with image.running() as url:
        client = httpx2.Client(base_url=url.replace("0.0.0.0", "127.0.0.1"), timeout=SECONDS)
        client.headers["Authorization"] = f"Bearer {key}"
        assert objects(client) == ["Lisbon"]
        client.close()


def objects(client: httpx2.Client) -> list[Any]:
    """Return what is known of the group, once its first message is processed."""
    answers = []

    def answered() -> bool:
        answers[:] = [client.get("/v1/facts", params={"group_id": "g", "min_position": "0"})]
        return bool(answers[0].is_success)

    wait_until(answered)
    return [fact["object"] for fact in answers[0].json()["facts"]]


@pytest.mark.long("image")
def test_all_that_its_settings_may_ask_for_is_in_the_image(image: Image) -> None:
    extras = {found["what"]: found["state"] for found in image.answer("doctor") if found["what"].startswith("extra ")}

    assert {extra for extra, state in extras.items() if state != "ok"} == {"extra torch", "extra parquet"}
