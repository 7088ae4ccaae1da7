"""The log of a process that serves or works: its level, and its form."""

import json
import re
import subprocess
import sys

import pytest

SAYING = """\
import logging
from asof.runtime.processes import log_to_stderr
from asof.settings import read
log_to_stderr(read(**{settings}), "asof")
log = logging.getLogger("asof.service")
for name in ("debug", "info", "warning"):
    getattr(log, name)("said %s:\\nin lines", name)
logging.getLogger("other").info("said by others")
try:
    raise ValueError("CANARY")
except ValueError:
    log.exception("said in error")
"""


def log_of(**settings: str) -> str:
    code = SAYING.replace("{settings}", repr(settings))
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stderr


def test_a_log_in_json_has_an_object_a_line_and_no_text_of_an_error() -> None:
    first, *_, last = map(json.loads, log_of(log_format="json").splitlines())

    assert (first["level"], first["logger"], first["message"]) == ("info", "asof.service", "said info:\nin lines")
    assert first["time"].endswith("Z")
    assert last["error"] == "ValueError"
    assert "CANARY" not in json.dumps(last)


@pytest.mark.parametrize(("level", "said"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_the_level_is_that_of_asof_and_of_others_only_what_is_wrong_shows(level: str, said: int) -> None:
    assert len(re.findall("said (?:debug|info|warning|by|in)", log_of(log_level=level))) == said
