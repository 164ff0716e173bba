"""Finds or starts Apache Kafka for tests and benches.

In this order: the address in `POKDENG_TEST_KAFKA`; a container, where a Docker engine answers and has the image
already; the released jars run natively, where Java and Maven are at hand; else there is none.

    with kafka_for_tests() as kafka:      # kafka is None, or: kafka.bootstrap, kafka.how
        ...

As a program it runs a native broker until SIGTERM or SIGINT: `python -m tests.support.kafka run [--port N]`. Its
address is the first line on standard output.
"""

from __future__ import annotations

import argparse
import base64
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.containers import KAFKA_IMAGE, has_image, kafka_container

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts" / "kafka"

_START_SECONDS = 180.0
_STOP_SECONDS = 15.0
_ATTEMPTS = 3
_PORTS = range(15_000, 30_000)
"""Below those that systems give to connections."""
_given: set[int] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """A broker that answers."""

    bootstrap: str
    how: str
    """`given`, `container` or `native`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secured:
    """What makes a native broker one that asks who is there."""

    properties: Mapping[str, str]
    """Put behind those of the file; `@port@` and `@controller_port@` are filled in."""

    users: Mapping[str, str]
    """Names and passwords, for both SCRAM mechanisms."""


@contextmanager
def kafka_for_tests() -> Iterator[Kafka | None]:
    """A broker for the time of the block, None where none is at hand. One that was started is stopped."""
    given = os.environ.get("POKDENG_TEST_KAFKA")
    if given:
        yield Kafka(bootstrap=given, how="given")
        return
    with ExitStack() as stack:
        if has_image(KAFKA_IMAGE):
            yield Kafka(bootstrap=stack.enter_context(kafka_container(_settings())), how="container")
        elif _runs_natively():
            yield Kafka(bootstrap=stack.enter_context(native_kafka()), how="native")
        else:
            yield None


def runs_natively() -> bool:
    """Whether `native_kafka` can start one."""
    return _runs_natively()


def is_at_hand() -> bool:
    """Whether `kafka_for_tests` will give a broker, without starting it."""
    return bool(os.environ.get("POKDENG_TEST_KAFKA") or has_image(KAFKA_IMAGE) or _runs_natively())


@contextmanager
def native_kafka(port: int | None = None, secured: Secured | None = None) -> Iterator[str]:
    """One broker on 127.0.0.1, empty, gone after the block. Yields its address."""
    if port is not None and _answers(port):
        raise RuntimeError(f"somebody listens on port {port} already")
    with tempfile.TemporaryDirectory(prefix="pokdeng-kafka-") as home:
        broker, bootstrap = _started(Path(home), port, secured)
        try:
            yield bootstrap
        finally:
            _stop(broker)


def _started(home: Path, port: int | None, secured: Secured | None) -> tuple[subprocess.Popen[bytes], str]:
    """Format and start; where the port was ours to choose and somebody else took it meanwhile, choose again."""
    libraries = str(_libraries() / "*")
    java = shutil.which("java") or "java"
    logging = f"-Dlog4j2.configurationFile={SCRIPTS / 'log4j2.properties'}"
    cluster = "A" + base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")[1:]  # "-" would be an option
    for attempt in range(1, _ATTEMPTS + 1):
        chosen, controller = (port or free_port(), free_port())
        folder = home / str(attempt)
        folder.mkdir()
        config, said = folder / "server.properties", folder / "said"
        words = {"port": str(chosen), "controller_port": str(controller), "logs": str(folder / "logs")}
        config.write_text(_filled(words, secured.properties if secured else {}))
        _run_quietly(
            java,
            logging,
            "-cp",
            libraries,
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={cluster}",
            "-c",
            str(config),
            *(f"--add-scram={one}" for one in _scram(secured.users if secured else {})),
        )
        # A session of its own: an interrupt from the keyboard reaches the tests first, which still need the broker.
        with said.open("wb") as output:
            broker = subprocess.Popen(  # noqa: S603 - our own words
                [java, "-Xms512m", "-Xmx1g", "-XX:+UseSerialGC", logging, "-cp", libraries, "kafka.Kafka", str(config)],
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            _wait_until_it_answers(chosen, broker, said)
        except BaseException as error:
            _stop(broker)
            if isinstance(error, RuntimeError) and port is None and attempt < _ATTEMPTS:
                continue
            raise
        return broker, f"127.0.0.1:{chosen}"
    raise AssertionError


def _stop(broker: subprocess.Popen[bytes]) -> None:
    broker.terminate()
    try:
        broker.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        broker.kill()
        broker.wait()


def free_port() -> int:
    """A port of the loopback that nobody listens on now, and that no connection is given by chance.

    None is given twice: some time passes before it is listened on. Processes that test side by side share none.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ours = _PORTS[number :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]
    for port in random.SystemRandom().sample(ours, len(ours)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port
    raise RuntimeError("no port is free")


def main(arguments: list[str] | None = None) -> int:
    """Run a native broker until a signal."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.kafka", description="a broker for tests and benches")
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--port", type=int, default=None, help="a port of 127.0.0.1; a free one where not given")
    options = parser.parse_args(arguments)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with native_kafka(options.port) as bootstrap:
        sys.stdout.write(f"{bootstrap}\n")
        sys.stdout.flush()
        stopped.wait()
    return 0


def _settings() -> dict[str, str]:
    """The settings of the native broker that a container's broker has, too: all but where things are."""
    lines = (line.partition("=") for line in (SCRIPTS / "server.properties").read_text().splitlines())
    return {name: value for name, _, value in lines if value and not name.startswith("#") and "@" not in value}


def _cache() -> Path:
    return Path(os.environ.get("POKDENG_CACHE") or ROOT / ".cache") / "kafka"


@cache
def _runs_natively() -> bool:
    """Whether there is Java, and the jars are here or can be fetched: a Maven without a network is no broker."""
    if shutil.which("java") is None:
        return False
    if not _libraries_are_cached() and shutil.which("mvn") is not None:
        with suppress(RuntimeError):
            _libraries()
    return _libraries_are_cached()


def _libraries_are_cached() -> bool:
    return any((_cache() / "libs").glob("kafka_*.jar"))


def _libraries() -> Path:
    """The broker's jars, fetched by name once."""
    libraries = _cache() / "libs"
    if not _libraries_are_cached():
        libraries.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_cache()) as fresh:
            _run_quietly(
                shutil.which("mvn") or "mvn",
                *("-q", "-B", "-f", str(SCRIPTS / "pom.xml"), "dependency:copy-dependencies"),
                *(f"-DoutputDirectory={fresh}", "-DincludeScope=runtime"),
            )
            for jar in sorted(Path(fresh).iterdir(), key=lambda path: path.name.startswith("kafka_")):
                jar.replace(libraries / jar.name)
    return libraries


def _scram(users: Mapping[str, str]) -> Iterator[str]:
    for name, password in users.items():
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            yield f"{mechanism}=[name={name},password={password}]"


def _filled(words: Mapping[str, str], properties: Mapping[str, str]) -> str:
    text = (SCRIPTS / "server.properties").read_text()
    text += "".join(f"{name}={value}\n" for name, value in properties.items())  # the last one of a name holds
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def _run_quietly(*command: str) -> None:
    """Run to the end; what it said is shown only where it fails."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - our own words
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}: {done.stdout[-2000:]}")


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _wait_until_it_answers(port: int, broker: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if broker.poll() is not None:
            raise RuntimeError(f"the broker ended with status {broker.returncode}: {said.read_text()[-2000:]}")
        if _answers(port):
            return
        time.sleep(0.05)
    raise TimeoutError(
        f"the broker did not answer on port {port} within {_START_SECONDS} s: {said.read_text()[-2000:]}"
    )


if __name__ == "__main__":
    sys.exit(main())
