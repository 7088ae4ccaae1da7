"""A real Kafka of one node on this machine, for tests, for measuring and for trying out: `make kafka` runs this module.

Java runs it from jars that Maven fetches once into `.kafka/`. It listens on loopback only, at three neighbouring ports:
the plain one, the controller's, and one that asks for a name and a password. No broker outlives the process that
started it.
"""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, flock
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
COMPOSE = ["docker", "compose", "-f", str(HERE.parent / "compose.yaml")]
CACHE = HERE.parents[1] / ".kafka"
SASL_USER, SASL_PASSWORD = "admin", "asof-secret"
NEEDED = "Java 17 or later and Maven (java and mvn on the PATH)"

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAIN://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller},SASL://127.0.0.1:{sasl}
listener.security.protocol.map=PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
    username="{user}" password="{password}" {users};
log.dirs={data}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms={heartbeat}
broker.session.timeout.ms={session}
metadata.max.idle.interval.ms=0
"""

# Then only what ACLs allow is allowed; who comes by the plain port may do everything.
AUTHORIZER = """\
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""

_HEARTBEATS = 6  # of a session: one that is never killed has no need of two a second

# Only the first stage of compilation: it starts in two thirds of the time, and one node for one user is not kept busy.
JAVA = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=WARN"]

# The shell becomes Java, so its process id is Java's. Beside it a watcher reads a pipe whose other end this process
# holds: when that closes, because the broker is stopped or this process died in whatever way, Java is asked to stop.
WATCHED = 'exec 3<&0; (cat <&3 >/dev/null; kill $$) & exec "$@" </dev/null 3<&-'


class BrokerError(Exception):
    """There is no broker; the text says why, and what to do."""


class Broker:
    """A broker whose data, settings and log are in `directory`; `with` starts and stops it.

    `bootstrap` is where it answers, and `sasl_bootstrap` where it asks for `SASL_USER` and `SASL_PASSWORD` (SASL/PLAIN
    over plain text). Without a `port`, free ones are taken; they stay the same for as long as the object lives.
    session: seconds without a sign of life after which the broker counts as gone. The session of one that was killed
    has to end before it may come back; one that a busy machine keeps waiting for as long answers that there is none.
    users: of the same password, who may do what ACLs allow them; none: everybody may do everything.
    """

    def __init__(
        self, directory: Path, port: int | None = None, session: int = 3, *, users: Sequence[str] = ()
    ) -> None:
        self.directory = directory
        self.port = port or free_ports(3)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.sasl_bootstrap = f"127.0.0.1:{self.port + 2}"
        self.log = directory / "broker.log"
        self._session = session
        self._users = users
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, seconds: float = 240) -> None:
        """Return once the broker answers; raise BrokerError, with the end of its log, if it does not in `seconds`."""
        assert self._process is None, "it runs already"
        if not all(is_free(self.port + n) for n in range(3)):
            ports = f"{self.port} to {self.port + 2} of 127.0.0.1"
            raise BrokerError(
                f"the ports {ports} are not all free; stop what listens there, or use it if it is a broker"
            )
        settings = self._prepare(seconds)
        self._launch(settings, seconds, f"-XX:SharedArchiveFile={classes()}")

    def stop(self, seconds: float = 30) -> None:
        """Ask it to stop and wait until it has; kill it after `seconds`. Nothing happens where none runs."""
        if self._process is not None and self._process.poll() is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """Kill it as a power cut would (SIGKILL). Nothing happens where none runs."""
        if self._process is not None:
            with self._process, suppress(ProcessLookupError):  # the group is Java and its watcher
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process = None

    def restart(self) -> None:
        """Start it again, on the same ports and data; stop it before if it runs."""
        self.stop()
        self.start()

    def wait(self) -> None:
        """Return when the broker has ended by itself."""
        assert self._process is not None, "it does not run"
        self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _prepare(self, seconds: float) -> Path:
        """Write the settings, and format the data directory where it is new; give the file of settings."""
        self.directory.mkdir(parents=True, exist_ok=True)
        file, data = self.directory / "server.properties", (self.directory / "data").resolve()
        ports = {"plain": self.port, "controller": self.port + 1, "sasl": self.port + 2}
        times = {"session": self._session * 1_000, "heartbeat": self._session * 1_000 // _HEARTBEATS}
        users = " ".join(f'user_{user}="{SASL_PASSWORD}"' for user in (SASL_USER, *self._users))
        given = {"user": SASL_USER, "password": SASL_PASSWORD, "users": users, "data": data}
        settings = SETTINGS.format(**ports, **times, **given)
        file.write_text(settings + (AUTHORIZER if self._users else ""), encoding="utf-8")
        if not (data / "meta.properties").exists():
            shutil.copytree(formatted(file), data, dirs_exist_ok=True)
        with _one_at_a_time():
            if not classes().exists():
                self._archive_classes(file, seconds)
        return file

    def _archive_classes(self, settings: Path, seconds: float) -> None:
        """Start and stop it once, so that Java writes down what it loaded: it then starts in three fifths of the time.

        Java takes no notice of an archive of other jars, of another Java, or of an empty one.
        """
        with TemporaryDirectory(dir=CACHE) as made:
            archive = Path(made, classes().name)
            self._launch(settings, seconds, f"-XX:ArchiveClassesAtExit={archive}")
            self.stop(seconds)
            archive.touch()  # where it was not made: then nobody tries again
            archive.rename(classes())

    def _launch(self, settings: Path, seconds: float, option: str) -> None:
        """Return once it answers."""
        self._process = self._run(settings, option)
        until = time.monotonic() + seconds
        while not answers(self.bootstrap):
            if self._process.poll() is not None or time.monotonic() > until:
                self.kill()
                raise BrokerError(
                    f"Kafka did not start within {seconds:.0f} s, or ended; the end of {self.log}:\n{self._tail()}"
                )
            time.sleep(0.05)

    def _run(self, settings: Path, option: str) -> subprocess.Popen[bytes]:
        kafka = [*JAVA, option, "-cp", f"{jars()}/*", "kafka.Kafka", str(settings)]
        with self.log.open("ab") as log:
            return subprocess.Popen(
                ["sh", "-c", WATCHED, "sh", *kafka],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the one who started it
            )

    def _tail(self) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])


@cache
def jars() -> Path:
    """The folder of Kafka's jars, which Maven fetches where they are not there yet; BrokerError where it cannot."""
    if not can_run():
        raise BrokerError(f"this needs {NEEDED}")
    folder = jars_folder()
    if not folder.is_dir():
        CACHE.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as fetched:
            goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fetched}/libs"]
            maven = ["mvn", "-q", "-B", "-f", str(POM), *goal]
            done = subprocess.run(maven, capture_output=True, text=True, check=False)
            if done.returncode:
                raise BrokerError(f"Maven could not fetch Kafka; it said:\n{(done.stdout + done.stderr)[-2000:]}")
            with suppress(OSError):  # another process was quicker
                Path(fetched, "libs").rename(folder)
    return folder


def formatted(settings: Path) -> Path:
    """The data directory of a new node, which Kafka's tool makes once: that takes longer than to copy it."""
    folder = CACHE / f"formatted-{_digest(POM.read_bytes() + SETTINGS.encode())}"
    if not folder.is_dir():
        classpath = f"{jars()}/*"
        with TemporaryDirectory(dir=CACHE) as made:
            data = Path(made, "data")
            file = Path(made, settings.name)
            file.write_text(re.sub("(?m)^log.dirs=.*", f"log.dirs={data}", settings.read_text("utf-8")), "utf-8")
            tool = ["kafka.tools.StorageTool", "format", "-t", "asof-one-node-cluster", "-c", str(file)]
            done = subprocess.run([*JAVA, "-cp", classpath, *tool], capture_output=True, text=True, check=False)
            if done.returncode:
                raise BrokerError(
                    f"Kafka could not format a directory; it said:\n{(done.stdout + done.stderr)[-2000:]}"
                )
            with suppress(OSError):  # another process was quicker
                data.rename(folder)
    return folder


def jars_folder() -> Path:
    return CACHE / f"libs-{_digest(POM.read_bytes())}"


def classes() -> Path:
    """The file of the classes that Kafka loads, as Java maps them into its memory; it goes with the jars."""
    return jars() / "classes.jsa"


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Let no other process do the same meanwhile."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        yield


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:8]


def can_run() -> bool:
    """Whether Java is there, as new as Kafka needs it, and the jars or Maven to fetch them."""
    if shutil.which("java") is None or not (jars_folder().is_dir() or shutil.which("mvn")):
        return False
    said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said)
    return version is not None and int(version[1]) >= 17


def free_ports(count: int) -> int:
    """The first of `count` neighbouring ports that nobody listens on.

    They are below those that the system gives to outgoing connections, so that no client comes to sit on the port of a
    broker that is down for a moment.
    """
    beginning = 20_000 + os.getpid() * count % 10_000
    return next(port for port in range(beginning, 32_000) if all(is_free(port + n) for n in range(count)))


def is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def answers(bootstrap: str) -> bool:
    """Whether a Kafka broker at this address says which versions of the protocol it speaks (ApiVersions, version 0)."""
    host, _, port = bootstrap.rpartition(":")
    request = struct.pack(">hhih", 18, 0, 1, -1)
    try:
        with socket.create_connection((host, int(port)), timeout=5) as one:
            one.sendall(struct.pack(">i", len(request)) + request)
            answer = one.makefile("rb").read(10)  # its size, the number of the request, an error code
    except (OSError, ValueError):  # a port that is no number
        return False
    return answer[4:] == struct.pack(">ih", 1, 0)


def main() -> None:
    """Run a broker on 127.0.0.1:9092 until Ctrl-C, by Java, else by Docker; else say which one ASOF_KAFKA names."""
    given = os.environ.get("ASOF_KAFKA")
    if can_run():
        with suppress(KeyboardInterrupt), Broker(CACHE, port=9092) as broker:
            print(f"Kafka answers at {broker.bootstrap} until Ctrl-C; its data is in .kafka/data", flush=True)
            broker.wait()
            raise BrokerError(f"Kafka has ended by itself; its log is {broker.log}")
    elif docker_is_there():
        os.execvp("docker", [*COMPOSE, "up", "kafka"])
    elif given and answers(given):
        print(f"Nothing was started: a broker answers at {given} (ASOF_KAFKA).")
    elif given:
        raise BrokerError(f"no broker answers at {given} (ASOF_KAFKA); start that one, or install {NEEDED}, or Docker")
    else:
        raise BrokerError(f"there is no Kafka; install {NEEDED}, or Docker, or name a broker: ASOF_KAFKA=HOST:PORT")


def docker_is_there() -> bool:
    """Whether Docker has its compose command, and an engine that answers."""
    asked = [[*COMPOSE, "version"], ["docker", "info"]]
    return shutil.which("docker") is not None and all(
        subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in asked
    )


if __name__ == "__main__":
    try:
        main()
    except BrokerError as error:
        sys.exit(f"make kafka: {error}")
