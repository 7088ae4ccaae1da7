"""How Kafka is reached: what contradicts itself is refused before anything is opened, and what fails says why."""

import asyncio
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from aiokafka import errors as theirs

from asof import settings
from asof.runtime.wiring import connection_of
from asof_streams.distribution import install_command
from asof_streams.errors import (
    AccessDenied,
    AsofError,
    BrokerUnavailable,
    DamagedLog,
    InvalidInput,
    NotFound,
    TopicUnfit,
)
from asof_streams.kafka import errors
from asof_streams.kafka.connection import Connection
from asof_streams.kafka.errors import expect_reachable, translate, translate_errors
from refusal import refusing
from unchecked import not_checked

TLS_ALERT = bytes.fromhex("15030300020250")  # how TLS answers who speaks something else
SASL = {
    "kafka_sasl_mechanism": "SCRAM-SHA-512",
    "kafka_sasl_username": "asof",
    "kafka_sasl_password": "hidden",
}


def connection(**given: str | Path) -> Connection:
    return connection_of(settings.read(**{"kafka": "kafka:9092", **given}))


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ASOF_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of localhost that nobody else has signed, and its key."""
    if shutil.which("openssl") is None:
        not_checked("over TLS: openssl, which makes the certificate, is not installed")
    folder = tmp_path_factory.mktemp("tls")
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run(
        [*asked.split(), "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, capture_output=True
    )
    return folder / "cert.pem", folder / "key.pem"


def hang_up(one: socket.socket) -> None:
    del one


def say_nothing(one: socket.socket) -> None:
    while one.recv(4096):
        pass


def alert(one: socket.socket) -> None:
    one.recv(4096)
    one.sendall(TLS_ALERT)


def tls(cert: Path, key: Path) -> Callable[[socket.socket], None]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)

    def shake_hands(one: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(one, server_side=True) as encrypted:
            encrypted.recv(4096)

    return shake_hands


@contextmanager
def listening(answer: Callable[[socket.socket], None], host: str = "localhost") -> Iterator[str]:
    """Serve every connection with a function, after which it is closed; give the address."""

    def serve() -> None:
        while True:
            try:
                one, _ = server.accept()
            except OSError:
                return
            with one:
                answer(one)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"{host}:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_without_an_address_it_says_how_to_give_one() -> None:
    with pytest.raises(InvalidInput, match="--kafka HOST:PORT, or set ASOF_KAFKA"):
        connection_of(settings.read())


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiokafka", None)  # as Python marks a module that cannot be imported

    with pytest.raises(InvalidInput, match=re.escape(install_command("kafka"))):
        connection()


@pytest.mark.parametrize("address", ["kafka:9092", "10.0.0.1:1", "[::1]:65535", "a.b-c.example:9092, d:9093"])
def test_brokers_are_hosts_with_ports(address: str) -> None:
    assert connection(kafka=address).arguments() == {"bootstrap_servers": address, "security_protocol": "PLAINTEXT"}


@pytest.mark.parametrize(
    "address", ["", "kafka", "kafka://kafka:9092", "kafka:0", "kafka:65536", "a:1,", "a:1;b:2", "::1:9"]
)
def test_what_is_no_host_with_a_port_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="ASOF_KAFKA takes HOST:PORT"):
        connection(kafka=address)


def test_a_password_is_given_to_the_client_and_shown_nowhere_else() -> None:
    made = connection(kafka_security_protocol="SASL_PLAINTEXT", **SASL)

    assert made.arguments() == {
        "bootstrap_servers": "kafka:9092",
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "asof",
        "sasl_plain_password": "hidden",
    }
    assert "hidden" not in f"{made!r} {made}"


@pytest.mark.parametrize("missing", SASL)
def test_sasl_needs_all_of_its_settings(missing: str) -> None:
    given = {name: value for name, value in SASL.items() if name != missing}

    with pytest.raises(InvalidInput, match=f"^ASOF_KAFKA_SECURITY_PROTOCOL=SASL_SSL needs ASOF_{missing.upper()}$"):
        connection(kafka_security_protocol="SASL_SSL", **given)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
@pytest.mark.parametrize("name", SASL)
def test_a_part_of_sasl_that_would_be_passed_over_is_refused(name: str, protocol: str) -> None:
    with pytest.raises(InvalidInput, match=f"^ASOF_{name.upper()} has no use with .*={protocol}: set that to SASL"):
        connection(kafka_security_protocol=protocol, **{name: SASL[name]})


@pytest.mark.parametrize("name", ["kafka_ssl_cafile", "kafka_ssl_certfile", "kafka_ssl_keyfile"])
def test_a_part_of_tls_that_would_be_passed_over_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"^ASOF_{name.upper()} has no use with .*=PLAINTEXT: set that to SSL"):
        connection(**{name: "file.pem"})


@pytest.mark.parametrize(
    ("name", "value"), [("kafka_security_protocol", "TLS"), ("kafka_sasl_mechanism", "GSSAPI"), ("kafka_topics", "x")]
)
def test_a_value_or_a_setting_that_is_not_known_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        connection(**{name: value})


def test_a_key_needs_its_certificate() -> None:
    with pytest.raises(InvalidInput, match="ASOF_KAFKA_SSL_KEYFILE needs ASOF_KAFKA_SSL_CERTFILE"):
        connection(kafka_security_protocol="SSL", kafka_ssl_keyfile="key.pem")


def test_tls_trusts_the_given_certificates_and_shows_its_own(certificate: tuple[Path, Path]) -> None:
    cert, key = certificate
    made = connection(
        kafka_security_protocol="SSL", kafka_ssl_cafile=cert, kafka_ssl_certfile=cert, kafka_ssl_keyfile=key
    )

    context = made.arguments()["ssl_context"]
    assert [dict(part[0] for part in trusted["subject"]) for trusted in context.get_ca_certs()] == [
        {"commonName": "localhost"}
    ]
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_files_of_tls_that_are_not_what_they_must_be_are_named(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    cert, key = certificate
    locked = tmp_path / "locked.pem"
    asked = ["openssl", "rsa", "-aes256", "-passout", "pass:word", "-in", key, "-out", locked]
    subprocess.run(asked, check=True, capture_output=True)

    with pytest.raises(InvalidInput, match=r"ASOF_KAFKA_SSL_CAFILE: .*key.pem"):
        connection(kafka_security_protocol="SSL", kafka_ssl_cafile=key).arguments()
    with pytest.raises(InvalidInput, match=r"ASOF_KAFKA_SSL_CAFILE: .*absent.pem"):
        connection(kafka_security_protocol="SSL", kafka_ssl_cafile=tmp_path / "absent.pem").arguments()
    with pytest.raises(InvalidInput, match=r"ASOF_KAFKA_SSL_CERTFILE, .*cert.pem must hold"):
        connection(kafka_security_protocol="SSL", kafka_ssl_certfile=cert).arguments()
    with pytest.raises(InvalidInput, match=r"ASOF_KAFKA_SSL_KEYFILE: .*locked.pem must hold.* without a passphrase"):
        connection(kafka_security_protocol="SSL", kafka_ssl_certfile=cert, kafka_ssl_keyfile=locked).arguments()


def test_a_broker_that_is_not_there_is_named() -> None:
    with refusing() as address, pytest.raises(BrokerUnavailable, match=f"no broker at {address}.*: Connection refused"):
        asyncio.run(expect_reachable(Connection(address)))


def test_a_host_that_is_not_there_is_named() -> None:
    with pytest.raises(BrokerUnavailable, match=r"kafka\.invalid:9092.* no host of that name"):
        asyncio.run(expect_reachable(Connection("kafka.invalid:9092")))


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_what_hangs_up_before_it_has_said_anything_may_be_a_broker_later(protocol: str) -> None:
    with listening(hang_up) as address, pytest.raises(BrokerUnavailable, match="it hangs up"):
        asyncio.run(expect_reachable(connection(kafka=address, kafka_security_protocol=protocol)))


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_what_never_answers_is_not_waited_for(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors.ANSWER_MS <= 5_000
    monkeypatch.setattr(errors, "ANSWER_MS", 200)

    with listening(say_nothing) as address, pytest.raises(BrokerUnavailable, match="it does not answer"):
        asyncio.run(expect_reachable(connection(kafka=address, kafka_security_protocol=protocol)))


def test_the_second_broker_is_asked_where_the_first_is_away() -> None:
    with refusing() as away, listening(alert) as address, pytest.raises(InvalidInput, match=address):
        asyncio.run(expect_reachable(Connection(f"{away},{address}")))


@pytest.mark.parametrize(
    ("protocol", "sasl", "remedy"), [("PLAINTEXT", {}, "SSL"), ("SASL_PLAINTEXT", SASL, "SASL_SSL")]
)
def test_who_speaks_in_the_clear_to_tls_is_told_to_encrypt(protocol: str, sasl: dict[str, str], remedy: str) -> None:
    with (
        listening(alert) as address,
        pytest.raises(InvalidInput, match=f"set ASOF_KAFKA_SECURITY_PROTOCOL to {remedy}$"),
    ):
        asyncio.run(expect_reachable(connection(kafka=address, kafka_security_protocol=protocol, **sasl)))


def test_a_broker_with_a_certificate_that_nobody_vouches_for_is_refused(certificate: tuple[Path, Path]) -> None:
    with (
        listening(tls(*certificate)) as address,
        pytest.raises(InvalidInput, match=r"ASOF_KAFKA_SSL_CAFILE.*self.signed"),
    ):
        asyncio.run(expect_reachable(connection(kafka=address, kafka_security_protocol="SSL")))


def test_a_certificate_for_another_host_is_refused(certificate: tuple[Path, Path]) -> None:
    trusting = {"kafka_security_protocol": "SSL", "kafka_ssl_cafile": certificate[0]}

    with (
        listening(tls(*certificate), "127.0.0.1") as address,
        pytest.raises(InvalidInput, match=r"not valid for '127\."),
    ):
        asyncio.run(expect_reachable(connection(kafka=address, **trusting)))


@pytest.mark.parametrize(
    ("theirs_", "ours", "said"),
    [
        (theirs.UnknownTopicOrPartitionError(), NotFound, "asof.messages.*asof topics create"),
        (theirs.OffsetOutOfRangeError({}), TopicUnfit, "asof.messages.*asof topics check"),
        (theirs.MessageSizeTooLargeError(), TopicUnfit, "asof.messages.*asof topics check"),
        (theirs.CorruptRecordException(), DamagedLog, "asof.messages"),
        (theirs.TopicAuthorizationFailedError(), AccessDenied, "this client use asof.messages"),
        (theirs.ClusterAuthorizationFailedError(), AccessDenied, "ACLs"),
        (theirs.UnsupportedVersionError(), InvalidInput, "too old"),
        (theirs.KafkaTimeoutError(), BrokerUnavailable, "in time"),
        (TimeoutError(), BrokerUnavailable, "in time"),
        (theirs.NodeNotReadyError(), BrokerUnavailable, "advertised.listeners"),
        (theirs.NotEnoughReplicasError(), BrokerUnavailable, "NotEnoughReplicasError"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_what_aiokafka_raises_says_what_to_do(theirs_: Exception, ours: type[AsofError], said: str) -> None:
    error = translate(Connection("kafka:9092"), theirs_, "asof.messages")

    assert type(error) is ours
    assert re.search(said, str(error))
    assert "\n" not in str(error)


def test_what_is_not_aiokafkas_passes_the_guard_as_it_is() -> None:
    async def fail() -> None:
        async with translate_errors(Connection("kafka:9092")):
            raise NotFound("as it was")

    with pytest.raises(NotFound, match=r"^as it was$"):
        asyncio.run(fail())
