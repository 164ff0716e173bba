"""How Redis is reached: address, who we are, whom we trust. The only place where a Redis password is kept."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSettings:
    """An address with what belongs to it. As a text it is the address without name and password.

    >>> str(RedisSettings(url="redis://worker:s3cret@127.0.0.1:6379/0"))
    'redis://127.0.0.1:6379/0'
    >>> "s3cret" in repr(RedisSettings(url="redis://worker:s3cret@127.0.0.1:6379/0", password="s3cret"))
    False
    """

    url: str = field(repr=False)
    """`redis://HOST:PORT/DATABASE`, `rediss://...` (TLS) or `unix:///PATH`; may hold a name and a password."""

    username: str | None = None
    """An ACL user; None: that of the address, else Redis' default user."""

    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    """Who is trusted; None: the system's authorities."""

    certificate_file: str | None = None
    key_file: str | None = None

    def __str__(self) -> str:
        """The address for people and logs: without name and password."""
        url = urlsplit(self.url)
        return url._replace(netloc=url.netloc.rpartition("@")[2]).geturl()

    def ssl_context(self) -> ssl.SSLContext | None:
        """Certificates, read from their files as redis-py will read them; None where the address is not encrypted.

        Raises OSError or ValueError where a file is not what it should be, or the key is encrypted.
        """
        if urlsplit(self.url).scheme != "rediss":
            return None
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.certificate_file is not None:
            context.load_cert_chain(self.certificate_file, self.key_file, _encrypted)
        return context

    def client_arguments(self) -> dict[str, Any]:
        """What redis-py is told besides the address."""
        arguments: dict[str, Any] = {}
        if self.username is not None:
            arguments["username"] = self.username
        if self.password is not None:
            arguments["password"] = self.password
        if urlsplit(self.url).scheme == "rediss":
            files = {
                "ssl_ca_certs": self.ca_file,
                "ssl_certfile": self.certificate_file,
                "ssl_keyfile": self.key_file,
            }
            arguments["ssl_min_version"] = ssl.TLSVersion.TLSv1_2
            arguments |= {name: file for name, file in files.items() if file is not None}
        return arguments


def _encrypted() -> str:
    """OpenSSL would ask on the terminal."""
    raise ValueError("the key is encrypted; give one that is not, readable by this service alone")
