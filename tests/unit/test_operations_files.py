"""The files for running a service name what there is: commands, settings, metrics."""

import re
from configparser import ConfigParser
from pathlib import Path

import pytest
import yaml

from asof.cli.commands import CommandGroup
from asof.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
PAGE = ROOT / "docs" / "how-to" / "operate.md"
METRIC = re.compile(r"\basof_\w+")


def rules() -> list[dict[str, str]]:
    [group] = yaml.safe_load((DOCKER / "alerts.yaml").read_text("utf-8"))["groups"]
    found: list[dict[str, str]] = group["rules"]
    return found


@pytest.fixture(scope="module")
def metrics() -> set[str]:
    """The names of all metrics that a service has."""
    from asof.http.middleware.metrics import Metrics

    declared = Metrics().text().decode()
    return {line.split()[2] for line in declared.splitlines() if line.startswith("# TYPE ")}


def test_each_alert_is_over_metrics_that_there_are(metrics: set[str]) -> None:
    named = {name.removesuffix("_bucket") for rule in rules() for name in METRIC.findall(rule["expr"])}

    assert named
    assert named - metrics == set()


def test_each_alert_is_explained_and_none_is_that_there_is_not() -> None:
    explained = re.findall(r"^\| `(Asof\w+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)

    assert explained == [rule["alert"] for rule in rules()]


def test_the_unit_of_systemd_starts_a_command_that_can_be_with_settings_that_there_are() -> None:
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(DOCKER / "asof.service", "utf-8")
    program, name, *arguments = unit["Service"]["ExecStart"].split()
    setting, _, data = unit["Service"]["Environment"].partition("=")

    assert Path(program).name == "asof"
    CommandGroup(name="asof").commands[name].make_context(name, arguments)
    assert setting.removeprefix("ASOF_").lower() in Settings.model_fields
    assert data == f"/var/lib/{unit['Service']['StateDirectory']}"
