"""Translates aiokafka's errors: either an operator must change a setting, or the broker is away for now."""

import os
import socket
import ssl
from asyncio import IncompleteReadError
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, Literal

from aiokafka import errors as theirs
from aiokafka.conn import collect_hosts, create_conn
from aiokafka.protocol.metadata import MetadataRequest

from asof_streams.errors import (
    AccessDenied,
    AsofError,
    BrokerUnavailable,
    DamagedLog,
    InvalidInput,
    NotFound,
    TopicUnfit,
)
from asof_streams.kafka.connection import Connection

ANSWER_MS: Final = 5_000  # for a broker to answer a connection, or one request for metadata
_LARGEST: Final = 100 * 2**20  # of the first response; a greater length means that it is not Kafka's protocol

_AWAY = (theirs.KafkaConnectionError, theirs.NodeNotReadyError, theirs.NoBrokersAvailable, OSError)
_TIMED_OUT = (theirs.KafkaTimeoutError, theirs.RequestTimedOutError, TimeoutError)
_CREDENTIALS = (theirs.AuthenticationFailedError, theirs.SaslAuthenticationFailed)
_TOO_OLD = (theirs.IncompatibleBrokerVersion, theirs.UnsupportedVersionError, theirs.UnrecognizedBrokerVersion)
_DENIED = (
    theirs.TopicAuthorizationFailedError,
    theirs.GroupAuthorizationFailedError,
    theirs.ClusterAuthorizationFailedError,
    theirs.TransactionalIdAuthorizationFailed,
)


@asynccontextmanager
async def translate_errors(connection: Connection, *topics: str) -> AsyncIterator[None]:
    """Translate aiokafka's errors inside `async with`; `topics` are named in the error's message."""
    try:
        yield
    except _AWAY as error:
        await expect_reachable(connection)  # raises the reason, which aiokafka only logs
        raise translate(connection, error, *topics) from error
    except theirs.KafkaError as error:
        raise translate(connection, error, *topics) from error


async def expect_reachable(connection: Connection) -> None:
    """Return once a broker accepts the connection and its credentials.

    InvalidInput: a setting is wrong, and the message names it. BrokerUnavailable: no broker answers now.
    """
    arguments = connection.arguments()
    failure: AsofError | None = None
    for host, port, _ in collect_hosts(arguments.pop("bootstrap_servers"), randomize=False):
        failure = await _try(connection, host, port, arguments)
        if failure is None:
            return
        if isinstance(failure, InvalidInput):
            break
    assert failure is not None, "there is at least one server"
    raise failure


def translate(connection: Connection, error: BaseException, *topics: str) -> AsofError:
    """Return asof's exception for one that aiokafka raised on an open connection."""
    where = connection.bootstrap
    named = ", ".join(topics) or "a topic"
    match error:
        case theirs.UnknownTopicOrPartitionError():
            return NotFound(f"{where} has no topic {named}, or does not show it: asof topics create makes it")
        case theirs.OffsetOutOfRangeError() | theirs.NoOffsetForPartitionError():
            return TopicUnfit(f"{named} no longer has all of its records: asof topics check says more")
        case theirs.MessageSizeTooLargeError():
            return TopicUnfit(f"{named} takes no record of that size: asof topics check says how to raise it")
        case theirs.CorruptRecordException():
            return DamagedLog(f"{named}: a record is not what was written")
        case _ if isinstance(error, _DENIED):
            what = f"use {', '.join(of)}" if (of := topics or _resources(error)) else "do this"
            return AccessDenied(
                f"{where} does not let {connection.user} {what} ({type(error).__name__}): its ACLs must allow it"
            )
        case _ if isinstance(error, _TOO_OLD):
            return InvalidInput(f"{where} is too old a broker ({type(error).__name__}): asof needs Kafka 2.1 or later")
        case _ if isinstance(error, _TIMED_OUT):
            return BrokerUnavailable(f"{where} did not answer in time")
        case _ if isinstance(error, _AWAY):
            return BrokerUnavailable(
                f"{where} answers, but a broker of its cluster could not be reached:"
                " it is starting or stopping, or its advertised.listeners cannot be reached from here"
            )
        case _:
            return BrokerUnavailable(f"{where} failed: {type(error).__name__}")


def topic_not_found(topic: str, options: str = "") -> NotFound:
    """Return the exception for a topic that the user does not see. options: those of the command that makes it."""
    return NotFound(f"there is no topic {topic}, or this user may not see it: asof topics create{options} makes it")


def denied(connection: Connection, right: str, kind: Literal["topic", "group"], name: str) -> AccessDenied:
    """Return the exception for a right that is missing on a topic or consumer group."""
    return AccessDenied(
        f"{connection.bootstrap} does not let {connection.user} {right} {kind} {name}."
        f" Run: {grant(connection, right, kind, name)}"
    )


def grant(connection: Connection, right: str, kind: Literal["topic", "group"], name: str) -> str:
    """Return the command that grants a right to the user of a connection; NAME, where only the broker knows it."""
    return (
        f"kafka-acls.sh --bootstrap-server {connection.bootstrap} --add"
        f" --allow-principal User:{connection.sasl_username or 'NAME'} --operation {right} --{kind} {name}"
    )


def _resources(error: BaseException) -> list[str]:
    """Return the topics or groups that an error of aiokafka is about, as far as it says so."""
    return sorted(str(name) for found in error.args for name in ([found] if isinstance(found, str) else found))


async def _try(connection: Connection, host: str, port: int, arguments: dict[str, Any]) -> AsofError | None:
    """Return the reason why a server refuses the connection; None: it accepts it."""
    try:
        server = await create_conn(host, port, request_timeout_ms=ANSWER_MS, **arguments)
    except (theirs.KafkaError, OSError) as error:
        if connection.uses_ssl and isinstance(error, ConnectionError) and await _is_plain(host, port):
            return InvalidInput(f"{host}:{port} does not speak TLS: {_protocol(connection, tls=False)}")
        return _refusal(connection, f"{host}:{port}", error)
    try:
        await server.send(MetadataRequest([]))
    except _AWAY as error:
        if isinstance(error, TimeoutError) or connection.uses_sasl:
            return _refusal(connection, f"{host}:{port}", error)
        return InvalidInput(f"{host}:{port} wants a password: {_protocol(connection, sasl=True)}")
    finally:
        server.close()
    return None


async def _is_plain(host: str, port: int) -> bool:
    try:
        (await create_conn(host, port, request_timeout_ms=ANSWER_MS)).close()
    except (theirs.KafkaError, OSError):
        return False
    return True


def _refusal(connection: Connection, where: str, error: BaseException) -> AsofError:
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                reason = cause.verify_message
                return InvalidInput(
                    f"{where} has a certificate that ASOF_KAFKA_SSL_CAFILE does not vouch for: {reason}"
                )
            case ssl.SSLError(reason=str(reason)) if "ALERT" in reason:
                return InvalidInput(
                    f"{where} ends the TLS handshake ({reason}): ASOF_KAFKA_SSL_CERTFILE and"
                    " ASOF_KAFKA_SSL_KEYFILE must be a certificate that it trusts"
                )
            case ssl.SSLError():
                return InvalidInput(f"{where} does not speak TLS: {_protocol(connection, tls=False)}")
            case IncompleteReadError(expected=int(size)) if size > _LARGEST:
                return InvalidInput(f"{where} does not speak Kafka in the clear: {_protocol(connection, tls=True)}")
            case theirs.UnsupportedSaslMechanismError():
                return InvalidInput(
                    f"{where} does not know {connection.sasl_mechanism}: set ASOF_KAFKA_SASL_MECHANISM to one it does"
                )
            case theirs.IllegalSaslStateError():
                return InvalidInput(f"{where} takes no password: {_protocol(connection, sasl=False)}")
            case _ if isinstance(cause, _CREDENTIALS):
                return InvalidInput(f"{where} refuses ASOF_KAFKA_SASL_USERNAME with ASOF_KAFKA_SASL_PASSWORD")
            case _ if isinstance(cause, _TOO_OLD):
                return translate(connection, cause)
    return BrokerUnavailable(f"no broker at {where}, where ASOF_KAFKA says that one is: {_reason(error)}")


def _reason(error: BaseException) -> str:
    match error:
        case TimeoutError():
            return "it does not answer"
        case socket.gaierror():
            return "there is no host of that name"
        case ConnectionResetError() | theirs.KafkaError():
            return "it hangs up"
        case OSError(errno=int(number)):
            return os.strerror(number)
        case _:
            return "no connection"  # to any of several addresses


def _protocol(connection: Connection, *, sasl: bool | None = None, tls: bool | None = None) -> str:
    """Return the remedy: the security protocol with `sasl` or `tls` as given, and the rest as it is set."""
    first = "SASL_" if (connection.uses_sasl if sasl is None else sasl) else ""
    second = "SSL" if (connection.uses_ssl if tls is None else tls) else "PLAINTEXT"
    return f"set ASOF_KAFKA_SECURITY_PROTOCOL to {first}{second}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__
