"""The settings of a connection to Kafka. Contradictions are found here, before anything is opened."""

import logging
import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import SecretStr

from asof_streams.errors import InvalidInput

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

_SERVER: Final = re.compile(r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})", re.ASCII)

logging.getLogger("aiokafka").addHandler(logging.NullHandler())  # asof's own exception reports a failure, once


@dataclass(frozen=True, slots=True)
class Connection:
    """Addresses of brokers, with the protocol and credentials. InvalidInput names the setting (ASOF_...) at fault."""

    bootstrap: str
    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: SaslMechanism | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None

    def __post_init__(self) -> None:
        for server in self.bootstrap.split(","):
            address = _SERVER.fullmatch(server.strip())
            if not address or not 0 < int(address[1]) < 65_536:
                raise InvalidInput("ASOF_KAFKA takes HOST:PORT, or several with commas between them")
        self._check(
            "SASL", {name: getattr(self, name) for name in ("sasl_mechanism", "sasl_username", "sasl_password")}
        )
        self._check("SSL", {name: getattr(self, name) for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile")})
        if self.ssl_keyfile and not self.ssl_certfile:
            raise InvalidInput("ASOF_KAFKA_SSL_KEYFILE needs ASOF_KAFKA_SSL_CERTFILE, the certificate of that key")

    @property
    def user(self) -> str:
        """The name that a broker knows the client by, as sentences have it."""
        return self.sasl_username or "this client"

    @property
    def uses_sasl(self) -> bool:
        """Whether the client authenticates with a name and a password."""
        return self.security_protocol.startswith("SASL")

    @property
    def uses_ssl(self) -> bool:
        """Whether the connection is encrypted."""
        return self.security_protocol.endswith("SSL")

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of aiokafka's clients. InvalidInput: a certificate or key cannot be read."""
        arguments: dict[str, Any] = {"bootstrap_servers": self.bootstrap, "security_protocol": self.security_protocol}
        if self.uses_sasl:
            assert self.sasl_password is not None
            arguments |= {
                "sasl_mechanism": self.sasl_mechanism,
                "sasl_plain_username": self.sasl_username,
                "sasl_plain_password": self.sasl_password.get_secret_value(),
            }
        if self.uses_ssl:
            arguments["ssl_context"] = self._ssl_context()
        return arguments

    def _check(self, layer: Literal["SASL", "SSL"], parts: dict[str, object]) -> None:
        """Check the settings of one layer: all that it needs are set, and none is set that would be ignored."""
        used = self.uses_sasl if layer == "SASL" else self.uses_ssl
        needed = f"ASOF_KAFKA_SECURITY_PROTOCOL={self.security_protocol}"
        for name, value in parts.items():
            setting = f"ASOF_KAFKA_{name.upper()}"
            if value is not None and not used:
                others = "SASL_SSL or SASL_PLAINTEXT" if layer == "SASL" else "SSL or SASL_SSL"
                raise InvalidInput(f"{setting} has no use with {needed}: set that to {others}, or leave this out")
            if value is None and used and layer == "SASL":
                raise InvalidInput(f"{needed} needs {setting}")

    def _ssl_context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ssl_cafile)
        except OSError:
            raise InvalidInput(f"ASOF_KAFKA_SSL_CAFILE: {self.ssl_cafile} is no file of PEM certificates") from None
        if self.ssl_certfile:
            try:  # without any password OpenSSL would ask for one on the terminal
                context.load_cert_chain(self.ssl_certfile, self.ssl_keyfile, password="")
            except OSError:
                raise InvalidInput(
                    f"ASOF_KAFKA_SSL_CERTFILE, ASOF_KAFKA_SSL_KEYFILE: {self.ssl_certfile}"
                    f"{f' and {self.ssl_keyfile}' if self.ssl_keyfile else ''} must hold, in PEM, a certificate"
                    " and its private key, without a passphrase"
                ) from None
        return context
