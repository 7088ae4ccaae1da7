"""What docker/compose.yaml and docker/Dockerfile promise, read from their texts: no container is run here."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from asof.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
SERVING = yaml.safe_load((ROOT / "docker" / "compose.serve.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BOTH: dict[str, dict[str, Any]] = SERVICES | SERVING["services"]
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8")

ENDS = {"topics"}
every_service = pytest.mark.parametrize("service", BOTH.values(), ids=BOTH)
LASTING = {name: service for name, service in BOTH.items() if name not in ENDS}
long_running = pytest.mark.parametrize("service", LASTING.values(), ids=LASTING)


def mounted(service: dict[str, Any]) -> dict[str, str]:
    """Return which volume is where: {path in the container: name}."""
    return {path: name for name, path in (line.split(":") for line in service.get("volumes", []))}


def test_there_are_a_broker_its_topics_a_worker_a_projector_and_the_api() -> None:
    assert set(SERVICES) == {"kafka", "topics", "worker", "projector", "api"}


def test_the_api_alone_is_one_container() -> None:
    assert list(SERVING["services"]) == ["asof"]


@pytest.mark.parametrize("service", [SERVICES["api"], SERVING["services"]["asof"]], ids=["api", "asof"])
def test_the_api_answers_on_port_8000_of_this_machine_and_is_healthy_when_it_is_ready(service: dict[str, Any]) -> None:
    assert service["ports"] == ["127.0.0.1:8000:8000"]
    assert "http://127.0.0.1:8000/readyz" in service["healthcheck"]["test"][-1]
    assert service.get("command", ["serve", "--host", "0.0.0.0"]) == ["serve", "--host", "0.0.0.0"]


@every_service
def test_a_port_is_published_on_loopback_only(service: dict[str, Any]) -> None:
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in service.get("ports", []))


@every_service
def test_an_image_is_built_here_or_pinned_to_a_version(service: dict[str, Any]) -> None:
    if "build" in service:
        build = service["build"]
        assert (ROOT / "docker" / build["context"] / build["dockerfile"]).resolve() == ROOT / "docker" / "Dockerfile"
    else:
        assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+", service["image"])


@every_service
def test_a_service_comes_back_keeps_its_log_small_and_has_no_privileges(service: dict[str, Any]) -> None:
    assert service["restart"] in {"unless-stopped", "on-failure"}
    assert {"max-size", "max-file"} <= service["logging"]["options"].keys()
    assert service["cap_drop"] == ["ALL"]


@long_running
def test_what_runs_on_has_a_health_check_and_a_named_volume_for_its_data(service: dict[str, Any]) -> None:
    data = service.get("environment", {}).get("KAFKA_LOG_DIRS", "/data")

    assert service["healthcheck"]["test"][0] == "CMD"
    assert mounted(service)[data] in COMPOSE["volumes"] | SERVING["volumes"]


def test_no_two_services_write_to_the_same_volume() -> None:
    used = [name for service in SERVICES.values() for name in mounted(service).values()]

    assert sorted(used) == sorted(COMPOSE["volumes"])


def test_every_service_finds_the_broker_where_it_listens_for_them() -> None:
    kafka = SERVICES["kafka"]["environment"]
    inside, outside = kafka["KAFKA_ADVERTISED_LISTENERS"].split(",")

    given = {name: service["environment"]["ASOF_KAFKA"] for name, service in SERVICES.items() if name != "kafka"}
    assert set(given.values()) == {inside.removeprefix("INSIDE://")}
    assert SERVICES["kafka"]["ports"] == [f"{outside.removeprefix('OUTSIDE://')}:9092"]


def test_no_worker_starts_before_the_topics_are_made() -> None:
    assert SERVICES["topics"]["depends_on"] == {"kafka": {"condition": "service_healthy"}}
    for name in ("worker", "projector", "api"):
        assert SERVICES[name]["depends_on"] == {"topics": {"condition": "service_completed_successfully"}}


def test_no_topic_is_made_by_accident_with_settings_that_lose_history() -> None:
    assert SERVICES["kafka"]["environment"]["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"


def test_the_image_runs_asof_as_nobody_in_particular_on_its_volume() -> None:
    last = DOCKERFILE.rpartition("FROM ")[2]

    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert "ASOF_DATA=/data" in last
    assert 'CMD ["serve", "--host", "0.0.0.0"]' in last


def test_the_image_is_built_from_all_that_the_wheel_is_made_of() -> None:
    lines = (ROOT / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}

    assert {"streams", "agents", "projections", "ontologies", "entrypoints"} <= let_in
    assert {"pyproject.toml", "uv.lock", "README.md", "LICENSE"} <= let_in
    assert all((ROOT / name).exists() for name in let_in)


ARANGO = yaml.safe_load((ROOT / "docker" / "compose.arangodb.yaml").read_text("utf-8"))


def test_the_graph_database_keeps_its_data_takes_its_password_from_a_secret_and_is_waited_for() -> None:
    server, projector = ARANGO["services"]["arangodb"], ARANGO["services"]["projector"]
    [secret] = ARANGO["secrets"]

    assert re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+", server["image"])
    assert server["ports"] == ["127.0.0.1:8529:8529"]
    assert mounted(server)["/var/lib/arangodb3"] in ARANGO["volumes"]
    assert server["healthcheck"]["test"][0] == "CMD"
    assert server["secrets"] == projector["secrets"] == [secret]
    assert server["environment"]["ARANGO_ROOT_PASSWORD_FILE"] == f"/run/secrets/{secret}"
    assert projector["environment"]["ASOF_GRAPH_PASSWORD_FILE"] == f"/run/secrets/{secret}"
    assert projector["environment"]["ASOF_GRAPH_URL"] == "http://root@arangodb:8529/asof"
    assert projector["depends_on"]["arangodb"] == {"condition": "service_healthy"}


def test_each_setting_that_a_container_gets_is_one_of_asof() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "docker").iterdir() if path.is_file()]
    named = {name for text in texts for name in re.findall(r"\bASOF_(\w+)", text)}

    assert {name for name in named if name.lower() not in Settings.model_fields} == set()
    assert named >= {"DATA", "KAFKA", "KEYS_FILE", "GRAPH_URL"}
