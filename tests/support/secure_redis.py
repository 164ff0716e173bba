"""A Redis of a test's own: TLS with client certificates, and the users of `ops/redis/users.acl`."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pokdeng.ledger.embedded import server_binary
from pokdeng.ledger.redis_settings import RedisSettings
from tests.support.certificates import Authority
from tests.support.kafka import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.certificates import Pair

USERS: Final = Path(__file__).resolve().parents[2] / "ops" / "redis" / "users.acl"
_START_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureRedis:
    """A server that answers."""

    url: str
    authority: Authority
    client: Pair

    def settings(self, user: str) -> RedisSettings:
        """As one of the file's users."""
        return RedisSettings(
            url=self.url,
            username=user,
            password=password_of(user),
            ca_file=str(self.authority.ca),
            certificate_file=str(self.client.certificate),
            key_file=str(self.client.key),
        )

    def variables(self, user: str) -> dict[str, str]:
        """The environment of a command as this user."""
        return {
            "POKDENG_REDIS": self.url,
            "POKDENG_REDIS_USER": user,
            "POKDENG_REDIS_PASSWORD": password_of(user),
            "POKDENG_REDIS_CA": str(self.authority.ca),
            "POKDENG_REDIS_CERTIFICATE": str(self.client.certificate),
            "POKDENG_REDIS_KEY": str(self.client.key),
        }


def password_of(user: str) -> str:
    """As the file has them."""
    return f"CHANGE-ME-{user.removeprefix('pokdeng-')}"


def tls_server() -> str | None:
    """A server of this machine that was built with TLS, None where there is none."""
    for binary in (os.environ.get("REDIS_SERVER"), "/usr/bin/redis-server", server_binary()):
        if binary and shutil.which(binary):
            linked = subprocess.run(["/usr/bin/ldd", binary], capture_output=True, text=True, check=False)  # noqa: S603 - our own words
            if "libssl" in linked.stdout:
                return binary
    return None


@contextmanager
def secure_redis(binary: str, folder: Path, users: str | None = None) -> Iterator[SecureRedis]:
    """One server on 127.0.0.1, gone after the block. `users`: in place of the file's."""
    authority = Authority(folder)
    server, client = authority.issue("redis", "127.0.0.1"), authority.issue("pokdeng")
    acl, port = folder / "users.acl", free_port()
    acl.write_text(USERS.read_text() if users is None else users)
    options = {
        "port": "0",
        "tls-port": str(port),
        "tls-cert-file": str(server.certificate),
        "tls-key-file": str(server.key),
        "tls-ca-cert-file": str(authority.ca),
        "tls-auth-clients": "yes",
        "bind": "127.0.0.1",
        "aclfile": str(acl),
        "dir": str(folder),
        "save": "",
        "appendonly": "yes",
        "maxmemory-policy": "noeviction",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen([binary, *words], stdout=said, stderr=said, process_group=0)  # noqa: S603 - our own words
    try:
        _wait_until_it_answers(port, process, folder / "said")
        yield SecureRedis(url=f"rediss://127.0.0.1:{port}/0", authority=authority, client=client)
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_it_answers(port: int, process: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.01)
    raise RuntimeError(said.read_text()[-2000:])
