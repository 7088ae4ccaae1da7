"""Schemathesis over the whole description of the API: no error of the server, and no answer that is not described."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

from effort import tries
from http_server import Server, serving
from patience import SECONDS

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
# Hypothesis keeps there which characters there are: to find them again takes two seconds.
KEPT = {"HYPOTHESIS_STORAGE_DIRECTORY": str(Path(__file__).resolve().parents[2] / ".hypothesis")}
EXAMPLES = tries(10, nightly=100)
FEED = "/v1/events/stream"  # which would not end
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("http") / "data") as running:
        running.say("ana", "I moved to Berlin in March.", "I live in Paris now.")
        yield running


@pytest.mark.long
def test_whatever_is_sent_is_answered_as_described_and_by_no_error_of_the_server(
    server: Server, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [
            *(SCHEMATHESIS, "run", f"{server.url}/openapi.json"),
            *(
                "--phases",
                "examples,coverage,fuzzing,stateful",
                "--max-examples",
                str(EXAMPLES),
                "--generation-deterministic",
            ),
            *("--checks", ",".join(CHECKS), "--exclude-path", FEED, "--continue-on-failure"),
            *("--suppress-health-check", "all", "--request-timeout", str(SECONDS), "--no-color", "--warnings", "off"),
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **KEPT},
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    tested = re.search(r"Tested: (\d+)", ended.stdout)
    assert tested, ended.stdout
    assert int(tested[1]) >= 50
    assert server.process.poll() is None
    assert "Traceback" not in server.log


def test_the_feed_is_answered_as_described(server: Server) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    operation = schema[FEED]["GET"]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    def answered(case: schemathesis.Case) -> None:
        case.query = {**(case.query or {}), "to": 0}
        case.call_and_validate(timeout=SECONDS, checks=[getattr(schemathesis.checks, name) for name in CHECKS])

    answered()
