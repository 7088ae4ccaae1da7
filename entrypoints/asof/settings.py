"""The settings of an operator: read once, from arguments, ASOF_* variables or a TOML file.

The file is ./asof.toml unless one is named. Whoever made the current directory, such as the author of a cloned
repository, may have put that one there, so it sets only what sends nothing anywhere and reads nothing outside. They may
have put ./asof-data there, too, so a data directory that nobody named has to be this user's own.
"""

import os
import stat
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from asof_agents.conversation.checkins import QuietHours
from asof_projections.model.prices import ModelBudget, ModelPrice
from asof_projections.retrieval.pipeline.configuration import PipelineConfig
from asof_streams.consolidation_config import ConsolidationConfig
from asof_streams.distribution import install_command
from asof_streams.errors import InvalidInput
from asof_streams.ingestion_config import IngestionConfig
from asof_streams.kafka.connection import SaslMechanism, SecurityProtocol
from asof_streams.known_names import nearest

_PREFIX: Final = "ASOF_"
_FOUND: Final = Path("asof.toml")
_HARMLESS: Final = frozenset(
    {
        "policy",
        "model_timeout",
        "model_calls",
        "model_prices",
        "group_budget",
        "embedding_dimensions",
        "graph_vectors",
        "pipeline",
        "consolidation",
        "ingestion",
        "clock_years",
        "quiet_hours",
        "log_level",
        "log_format",
        "rate_limit",
        "worker_patience",
    }
)
_PATHS: Final = frozenset({"data", "ontology", "model_dir"})
_SENT: Final = (
    ("model_url", "model_key"),
    ("embedding_url", "embedding_key"),
    ("kafka", "kafka_sasl_password"),
    ("graph_url", "graph_password"),
    ("graph_url", "graph_password_file"),
)  # an address, and the secret that is sent there

FromFound = Literal["yes", "inside", "no"]


def from_found(name: str) -> FromFound:
    """Return whether ./asof.toml may set a setting when nobody named it; inside: to a path below its folder.

    What is not listed as harmless may not, so a new setting is safe until somebody has thought about it.
    """
    return "yes" if name in _HARMLESS else "inside" if name in _PATHS else "no"


class DiscordConfig(BaseModel):
    """What `asof discord` remembers, of whom and for how long. Ids are Discord's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory: Literal["channel", "guild"] = Field(
        default="channel", description="Whose memory it is: each channel's and thread's, or a whole guild's."
    )
    excluded_channels: frozenset[int] = Field(
        default=frozenset(), description="Channels, threads and categories of which nothing is taken."
    )
    excluded_roles: frozenset[int] = Field(
        default=frozenset(), description="Roles of whose members nothing is taken, whatever they opted in to."
    )
    retention_days: int | None = Field(
        default=None, ge=1, le=36_500, description="Days after which what was said is erased; left out, it is kept."
    )


class OauthConfig(BaseModel):
    """The authorization server whose access tokens `/mcp` takes, as a resource server of OAuth 2.1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str = Field(description="Its issuer, as its metadata and tokens name it.")
    resource: str = Field(description="The public address of `/mcp`, which has to be the audience of tokens.")
    jwks_url: str | None = Field(default=None, description="The address of its keys; left out, its metadata has it.")

    @field_validator("issuer", "resource", "jwks_url")
    @classmethod
    def _is_safe(cls, address: str | None) -> str | None:
        if address is None:
            return None
        parts = urlsplit(address)
        near = parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"}
        if not parts.hostname or not (parts.scheme == "https" or near) or parts.query or parts.fragment:
            raise ValueError("it must be an https address without a query; http only on this machine")
        return address


class Settings(BaseSettings):
    """Every setting, in the order of docs/reference/settings.md.

    InvalidInput: ./asof.toml sets what only a named file may, a secret was not set where its address was, or the data
    directory was not named and is not this user's own.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, frozen=True, extra="forbid")

    settings_file: Path | None = None
    """A TOML file of settings to read in place of ./asof.toml; it may set everything."""
    data: Path = Path("asof-data")
    """The directory that holds everything."""
    keys: Path | None = None
    """A folder for keys, outside of `data`: what a new directory keeps in its logs and backups is encrypted with them.

    For an existing directory, where its keys are now; for topics that were made encrypted, what each machine needs."""
    ontology: str = "default"
    """The ontology of a new directory: a name that `asof doctor` lists, or a YAML file."""
    policy: Literal["recency", "graded"] = "recency"
    """The policy for contradictions within a single-valued relation, in a new directory."""
    suppress_content: bool = False
    """Whether the content of every message is forgotten once it was read, as with its own `suppress_content`."""
    extractor: Literal["rules", "model", "both", "rules+reader"] = "rules"
    """The extractor: rules, a language model, or both, where the model adds what the rules do not find.

    Or `rules+reader`, where a small trained reader adds clauses; it needs the weights of `minilm`."""
    model_url: str = "https://api.openai.com/v1"
    """The OpenAI-compatible endpoint of the language model."""
    model_key: SecretStr | None = None
    """Its API key."""
    model_name: str | None = None
    """Its name; a language model needs one."""
    model_timeout: float = Field(default=60.0, gt=0.0)
    """Seconds to wait for an answer of it."""
    model_calls: int = Field(default=8, ge=1, le=256)
    """The number of calls to it that may be under way at once."""
    model_prices: dict[str, ModelPrice] = {}
    """What models cost, as a table or a JSON object: by name, per million tokens of `input` and of `output`."""
    group_budget: ModelBudget = ModelBudget()
    """What models may cost each group, as a table or a JSON object of `tokens` and `cost`; then rules read it."""
    embedder: Literal["auto", "minilm", "hash", "sentence-transformers", "openai", "none"] = "auto"
    """The source of vectors. auto: all-MiniLM-L6-v2 if its weights are installed, otherwise the lexical hash."""
    model_dir: Path | None = None
    """A directory with model.safetensors and tokenizer.json of all-MiniLM-L6-v2."""
    embedding_url: str = "https://api.openai.com/v1"
    """The OpenAI-compatible endpoint of the openai embedder."""
    embedding_key: SecretStr | None = None
    """Its API key."""
    embedding_model: str = "text-embedding-3-small"
    """Its model, or that of sentence-transformers."""
    embedding_dimensions: int | None = Field(default=None, gt=0)
    """The number of dimensions of its vectors; left out, the model's own."""
    pipeline: PipelineConfig = PipelineConfig()
    """Parameters of searches by the profile `pipeline`, as a table or a JSON object; what a question says wins."""
    ingestion: IngestionConfig = IngestionConfig()
    """What ingestion takes up, in a new directory and in a rebuild, as a table or a JSON object."""
    consolidation: ConsolidationConfig = ConsolidationConfig()
    """What consolidation does, in a new directory and in a rebuild, as a table or a JSON object."""
    kafka: str | None = None
    """Kafka's brokers, HOST:PORT with commas between several; left out, the logs are files in the directory."""
    kafka_prefix: str = "asof"
    """The prefix of the topics' names."""
    kafka_security_protocol: SecurityProtocol = "PLAINTEXT"
    """The security protocol of the brokers: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."""
    kafka_sasl_mechanism: SaslMechanism | None = None
    """SASL mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""
    kafka_sasl_username: str | None = None
    """SASL user name."""
    kafka_sasl_password: SecretStr | None = None
    """SASL password."""
    kafka_ssl_cafile: Path | None = None
    """With SSL, a PEM file of the certificates that vouch for the brokers; left out, the system's."""
    kafka_ssl_certfile: Path | None = None
    """With SSL, a PEM file of the certificate that this client shows, if the brokers ask for one."""
    kafka_ssl_keyfile: Path | None = None
    """With SSL, a PEM file of its private key, unless that is in the same file."""

    graph: Literal["sqlite", "arango"] | None = None
    """The graph that answers: in the directory's files, or in ArangoDB. Left out, ArangoDB if ASOF_GRAPH_URL is set."""
    graph_url: str = "http://root@localhost:8529/asof"
    """The address of ArangoDB with its database: http[s]://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE."""
    graph_password: SecretStr | None = None
    """The password of that user."""
    graph_password_file: Path | None = None
    """A file with that password, where it is not set."""
    graph_vectors: Literal["files", "database"] = "files"
    """Where vectors are that are searched beside a graph in ArangoDB: in FAISS's files, or in the database."""
    graph_query_memory: int = Field(default=1024, gt=0)
    """The megabytes (2^20 bytes) that one query may take on the server of ArangoDB, which may allow less itself."""

    clock_years: float = Field(default=10.0, gt=0.0)
    """The years by which this machine's clock may be ahead of the last message and of this release of asof."""

    keys_file: Path | None = None
    """A TOML file of the API keys of `asof serve`; left out, it serves programs on its own machine alone."""
    rate_limit: float | None = Field(default=None, gt=0.0)
    """The requests that each key may make in a second, or all programs together without keys; left out, any number."""

    mcp_profile: Literal["core", "full", "graphiti", "chatgpt"] = "core"
    """The tools that agents get over MCP: `core`, `full`, or those of `graphiti` and `chatgpt`."""
    mcp_read_only: bool = False
    """Whether agents only read over MCP: no tool that writes is listed, and none is run."""
    mcp_instructions: str | None = None
    """What agents are told over MCP about when to use which tool; left out, asof's own text."""
    mcp_oauth: OauthConfig | None = None
    """The OAuth server whose tokens `/mcp` takes: a table or a JSON object of `issuer`, `resource` and `jwks_url`."""

    quiet_hours: str = "22:00-08:00"
    """The hours in which a bot sends no check-in, by the time zone of the group; 00:00-00:00: there are none."""
    discord_token: SecretStr | None = None
    """The token of the bot that `asof discord` runs."""
    discord: DiscordConfig = DiscordConfig()
    """Its policy: a table or a JSON object of `memory`, `excluded_channels`, `excluded_roles` and `retention_days`."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """From which level on asof's own log is written; of other packages only warnings and errors are."""
    log_format: Literal["text", "json"] = "text"
    """The form of the log that `serve` and `worker` write to stderr: text, or a JSON object a line."""

    trace_content: bool = False
    """Whether spans of OpenTelemetry carry what was said, asked and found, not only how much; where spans are made."""

    message_seconds: float = Field(default=120.0, gt=0.0)
    """Seconds of processor time that `asof serve` and `asof worker` give to one message before they park it."""
    worker_patience: float = Field(default=300.0, gt=0.0)
    """Seconds for which a worker may stand still while its topic goes on, before it gives up to be started again."""
    worker_metrics: str | None = Field(default=None, pattern=r"^.+:[0-9]{1,5}$")
    """HOST:PORT at which `asof worker` serves /metrics and /readyz, without a key; left out, nowhere."""

    @field_validator("quiet_hours")
    @classmethod
    def _are_hours(cls, quiet_hours: str) -> str:
        QuietHours.parse(quiet_hours)
        return quiet_hours

    @field_validator("pipeline")
    @classmethod
    def _of_no_question(cls, pipeline: PipelineConfig) -> PipelineConfig:
        if pipeline.model_fields_set & {"namespace", "final_top_k"}:
            raise ValueError("every question has its own group_id and limit: leave namespace and final_top_k out")
        return pipeline

    @property
    def in_arango(self) -> bool:
        """Whether questions are answered from ArangoDB."""
        return self.graph == "arango" or (self.graph is None and "graph_url" in self.model_fields_set)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over the file."""
        del dotenv_settings, file_secret_settings
        # Read once: to look for each field in the environment takes milliseconds, even where none is set.
        arguments = init_settings()
        environment = env_settings() if any(name.upper().startswith(_PREFIX) for name in os.environ) else {}
        named = arguments.get("settings_file") or environment.get("settings_file")
        if named is not None and not Path(named).is_file():
            raise InvalidInput(f"{named}: there is no such file", "settings_file")
        path = Path(named or _FOUND)
        file = TomlConfigSettingsSource(settings_cls, path)() if path.is_file() else {}
        if named is None:
            _expect_harmless(file)
            if arguments.get("data") is None and environment.get("data") is None:
                _expect_own(Path(file.get("data", settings_cls.model_fields["data"].default)))
        _expect_secrets_with_addresses((arguments, environment, file))
        return init_settings, *(InitSettingsSource(settings_cls, found) for found in (environment, file) if found)


def _expect_harmless(found: Mapping[str, Any]) -> None:
    """Refuse settings of ./asof.toml that only a file may have that somebody named."""
    here = Path.cwd().resolve()
    for name, value in found.items():
        match from_found(name):
            case "no" if name in Settings.model_fields:
                raise InvalidInput(
                    f"./{_FOUND} may not set it, as anybody may have put that file there: if you trust it, name it "
                    f"with --settings {_FOUND}, else set ASOF_{name.upper()}",
                    name,
                )
            case "inside" if isinstance(value, str) and not (here / value).resolve().is_relative_to(here):
                raise InvalidInput(
                    f"./{_FOUND} may not name a path outside of its folder: if you trust it, name it with "
                    f"--settings {_FOUND}, else set ASOF_{name.upper()}",
                    name,
                )


def _expect_own(data: Path) -> None:
    """Refuse a data directory that nobody named, if it is another user's, open to all, or leads out of here."""
    named = f"if you trust it, name it with --data {data}, or set ASOF_DATA"
    if not data.resolve().is_relative_to(Path.cwd().resolve()):
        raise InvalidInput(f"./{data} leads outside of its folder: {named}", "data")
    if not data.exists():
        return
    status = data.stat()
    if status.st_uid != os.geteuid():
        raise InvalidInput(f"./{data} belongs to another user: {named}", "data")
    if status.st_mode & stat.S_IWOTH:
        raise InvalidInput(f"every user may write to ./{data}: {named}; or chmod 700 {data}", "data")


def _expect_secrets_with_addresses(sources: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a secret that would be sent to an address that was set elsewhere. The address by default is asof's own."""
    for address, secret in _SENT:
        places = [
            next((place for place, source in enumerate(sources) if source.get(name) is not None), None)
            for name in (address, secret)
        ]
        if None not in places and len(set(places)) > 1:
            raise InvalidInput(
                f"it is sent only to the {address} that it was set with: set both as arguments, both in the "
                f"environment (ASOF_{address.upper()}, ASOF_{secret.upper()}), or both in one file",
                secret,
            )


def read(**given: Any) -> Settings:
    """Read the settings; what is given wins. InvalidInput names the one that cannot be, never what it was set to."""
    try:
        settings = Settings(**given)
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the file of settings: {error}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == "extra_forbidden":
            raise InvalidInput(f"no such setting; {nearest(name, Settings.model_fields)}", field=name) from None
        raise InvalidInput(f"{first['msg']} (given, as ASOF_{name.upper()}, or in a file)", field=name) from None
    if settings.kafka is not None and find_spec("aiokafka") is None:
        raise InvalidInput(f"Kafka needs aiokafka, which is not installed. Get it with: {install_command('kafka')}")
    return settings
