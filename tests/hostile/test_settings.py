"""The file of settings in the current directory, as in a cloned repository, against every setting there is."""

from pathlib import Path

import pytest

from asof.cli import app, calls
from asof.settings import Settings, from_found, read
from asof_streams.errors import InvalidInput

HARMLESS = {
    "policy": '"graded"',
    "model_timeout": "5.0",
    "model_calls": "2",
    "group_budget": "{ tokens = 1000 }",
    "model_prices": '{ "gpt-4.1-mini" = { input = 0.4, output = 1.6 } }',
    "embedding_dimensions": "8",
    "graph_vectors": '"database"',
    "pipeline": "{ recency_weight = 0.0 }",
    "consolidation": "{ budget = 1000 }",
    "ingestion": "{ min_confidence = 0.5 }",
    "clock_years": "5.0",
    "quiet_hours": '"23:00-07:00"',
    "log_level": '"debug"',
    "log_format": '"json"',
    "rate_limit": "5.0",
    "worker_patience": "5.0",
}
PATHS = {"data", "ontology", "model_dir"}
SENSITIVE = {
    "settings_file": '"other.toml"',
    "keys": '"/tmp/keys"',
    "suppress_content": "true",
    "trace_content": "true",
    "extractor": '"both"',
    "model_url": '"http://evil.example/v1"',
    "model_key": '"stolen"',
    "model_name": '"evil"',
    "embedder": '"openai"',
    "embedding_url": '"http://evil.example/v1"',
    "embedding_key": '"stolen"',
    "embedding_model": '"evil/model"',
    "kafka": '"evil.example:9092"',
    "kafka_prefix": '"evil"',
    "kafka_security_protocol": '"PLAINTEXT"',
    "kafka_sasl_mechanism": '"PLAIN"',
    "kafka_sasl_username": '"evil"',
    "kafka_sasl_password": '"stolen"',
    "kafka_ssl_cafile": '"evil.pem"',
    "kafka_ssl_certfile": '"evil.pem"',
    "kafka_ssl_keyfile": '"evil.pem"',
    "graph": '"arango"',
    "graph_url": '"http://evil.example/asof"',
    "graph_password": '"stolen"',
    "graph_password_file": '"secret.txt"',
    "graph_query_memory": "1",
    "keys_file": '"keys.toml"',
    "mcp_profile": '"core"',
    "mcp_read_only": "false",
    "mcp_instructions": '"obey"',
    "mcp_oauth": '{ issuer = "https://evil.example", resource = "https://evil.example/mcp" }',
    "discord_token": '"stolen"',
    "discord": '{ memory = "guild" }',
    "message_seconds": "0.001",
    "worker_metrics": '"0.0.0.0:9100"',
}
SECRETS = [
    ("model_url", "http://a.example/v1", "model_key"),
    ("embedding_url", "http://a.example/v1", "embedding_key"),
    ("kafka", "a.example:9092", "kafka_sasl_password"),
    ("graph_url", "http://a.example/asof", "graph_password"),
    ("graph_url", "http://a.example/asof", "graph_password_file"),
]


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cloned repository, in which asof is called."""
    clone = tmp_path / "clone"
    clone.mkdir()
    monkeypatch.chdir(clone)
    return clone


def test_every_setting_is_classified() -> None:
    """A new setting is added to HARMLESS, PATHS or SENSITIVE: may a stranger's file set it?"""
    assert HARMLESS.keys() | PATHS | SENSITIVE.keys() == set(Settings.model_fields)
    assert {name for name in Settings.model_fields if from_found(name) == "yes"} == HARMLESS.keys()
    assert {name for name in Settings.model_fields if from_found(name) == "inside"} == PATHS


def test_each_secret_has_its_address() -> None:
    secret = {name for name in Settings.model_fields if name.endswith(("_key", "_password", "_password_file"))}

    assert secret == {name for _, _, name in SECRETS}


@pytest.mark.parametrize("name", sorted(Settings.model_fields.keys() - HARMLESS.keys() - PATHS))
def test_a_file_that_nobody_named_sets_nothing_that_reaches_out(here: Path, name: str) -> None:
    (here / "asof.toml").write_text(f"{name} = {SENSITIVE[name]}\n")

    with pytest.raises(InvalidInput, match="--settings asof") as refused:
        read()

    assert refused.value.field == name
    assert "stolen" not in str(refused.value)
    assert "evil" not in str(refused.value)


@pytest.mark.parametrize("name", sorted(HARMLESS))
def test_a_file_that_nobody_named_sets_what_is_harmless(here: Path, name: str) -> None:
    (here / "asof.toml").write_text(f"{name} = {HARMLESS[name]}\n")

    assert name in read().model_fields_set


@pytest.mark.parametrize("name", sorted(PATHS))
def test_a_path_of_a_file_that_nobody_named_stays_inside_its_folder(here: Path, name: str) -> None:
    (here / "link").symlink_to(here.parent)
    for outside in ("../other", "/etc", "a/../../other", "link/other", str(here.parent)):
        (here / "asof.toml").write_text(f"{name} = '{outside}'\n")
        with pytest.raises(InvalidInput) as refused:
            read()
        assert refused.value.field == name, outside

    for inside in ("memory", "a/../memory", str(here / "memory")):
        (here / "asof.toml").write_text(f"{name} = '{inside}'\n")
        assert str(getattr(read(), name)) == inside


def test_a_file_that_is_named_sets_everything_and_the_one_that_lies_there_is_not_read(here: Path) -> None:
    (here / "asof.toml").write_text(f"keys_file = {SENSITIVE['keys_file']}\n")
    named = here.parent / "mine.toml"
    named.write_text(
        "".join(
            f"{name} = {value}\n" for name, value in SENSITIVE.items() if name not in {"settings_file", "keys_file"}
        )
    )

    settings = read(settings_file=named)

    assert (settings.model_url, settings.extractor, settings.keys_file) == ("http://evil.example/v1", "both", None)


def test_the_command_line_and_the_environment_name_a_file(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "asof.toml").write_text('embedder = "none"\n')

    assert calls.run(app, ["doctor"]) == 2
    assert "--settings asof.toml" in capsys.readouterr().err
    assert calls.run(app, ["add", "I live in Oslo.", "--role", "Ana", "--settings", "asof.toml"]) == 0
    monkeypatch.setenv("ASOF_SETTINGS_FILE", "asof.toml")
    assert read().embedder == "none"
    assert calls.run(app, ["facts", "--settings", "none.toml"]) == 2
    assert "settings_file: none.toml: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(("address", "place", "secret"), SECRETS)
def test_a_secret_is_sent_only_to_the_address_that_it_was_set_with(
    here: Path, monkeypatch: pytest.MonkeyPatch, address: str, place: str, secret: str
) -> None:
    named = here / "named.toml"
    both = f"{address} = '{place}'\n", f"{secret} = 'hidden'\n"

    named.write_text("".join(both))
    assert getattr(read(settings_file=named), address) == place

    named.write_text(both[0])
    monkeypatch.setenv(f"ASOF_{secret.upper()}", "hidden")
    for arguments in ({"settings_file": named}, {address: place}):
        with pytest.raises(InvalidInput, match="only to") as refused:
            read(**arguments)
        assert refused.value.field == secret
        assert "hidden" not in str(refused.value)

    monkeypatch.setenv(f"ASOF_{address.upper()}", "http://other.example/x")
    assert getattr(read(settings_file=named), address) == "http://other.example/x", "both of the environment"

    named.write_text(both[1])
    monkeypatch.delenv(f"ASOF_{secret.upper()}")
    with pytest.raises(InvalidInput, match="only to"):
        read(settings_file=named)


def test_a_variable_that_is_set_to_nothing_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASOF_KEYS", "ASOF_DATA", "ASOF_KAFKA", "ASOF_MODEL_TIMEOUT"):
        monkeypatch.setenv(name, "")

    settings = read()

    assert (settings.keys, settings.data, settings.kafka) == (None, Path("asof-data"), None)
    assert settings.model_timeout == 60
