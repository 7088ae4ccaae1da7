"""asof tells nobody that it runs, or what it does, unless it is asked to: spans go where the environment says."""

import os
import subprocess
import sys
from pathlib import Path

from http_server import serving

WATCH = """\
import os, socket

for name in ("connect", "connect_ex", "sendto"):
    def watched(self, *given, _name=name, _do=getattr(socket.socket, name)):
        with open(os.environ["WATCHED"], "a") as file:
            file.write(f"{_name} {given[-1]}\\n")
        return _do(self, *given)
    setattr(socket.socket, name, watched)
"""
CONNECT = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('127.0.0.1', 9))"


def test_nothing_is_sent_to_anybody_while_a_memory_is_served(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    watched = tmp_path / "watched"
    watching = {"PYTHONPATH": str(tmp_path), "WATCHED": str(watched)}
    subprocess.run([sys.executable, "-c", CONNECT], check=True, env={**os.environ, **watching})
    assert watched.read_text("utf-8").startswith("connect_ex "), "a connection is seen"
    watched.unlink()

    with serving(tmp_path / "data", fresh=True, **watching) as server:
        server.say("g", "I live in Paris.")
        found = server.search("Where does Ana live?", "g")
        assert server.end() == 0

    assert [fact["fact"] for fact in found] == ["Ana lives in Paris"]
    assert not watched.exists(), watched.read_text("utf-8")
