"""How Apache Kafka is reached and how patiently: one value for all connections of a log."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    """Addresses, names, timeouts, and what proves who we are."""

    bootstrap: str
    """`host:port`, several separated by commas."""

    set_by: str = "address and protocol"
    """What people set `bootstrap` and `security_protocol` by, for messages."""

    client_id: str = "pokdeng"
    instance_id: str | None = None
    """Static membership: a member that is back within its session keeps its partitions, nobody else is disturbed."""

    session_timeout_ms: int = 60_000
    """After which a silent member loses its partitions. Within the broker's own limits."""

    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 60_000
    """How long a rebalance waits for members to let go."""

    request_timeout_ms: int = 30_000
    """How long anything is asked for or published before the log counts as unavailable."""

    max_batch_bytes: int = 900_000
    """The most of one published batch; below the topics' `max.message.bytes`."""

    gather_ms: int = 5
    """How long the broker gathers records that come in quick succession: latency for CPU, one answer costs 0.6 ms."""

    credit_records: int = 20_000
    """How many delivered records may be unfinished, over all partitions, before they are read no further."""

    security_protocol: str = "PLAINTEXT"
    """`PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`."""

    ssl_ca_file: str | None = None
    """Who is trusted; None: the system's authorities."""

    ssl_certificate_file: str | None = None
    ssl_key_file: str | None = None
    sasl_mechanism: str = "PLAIN"
    """`PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`."""

    sasl_user: str | None = None
    sasl_password: str | None = field(default=None, repr=False)

    def ssl_context(self) -> ssl.SSLContext | None:
        """Certificates, read from their files; None where the protocol is not encrypted.

        Raises OSError or ValueError where a file is not what it should be, or the key is encrypted.
        """
        if "SSL" not in self.security_protocol.split("_"):
            return None
        context = ssl.create_default_context(cafile=self.ssl_ca_file)
        if self.ssl_certificate_file is not None:
            context.load_cert_chain(self.ssl_certificate_file, self.ssl_key_file, _encrypted)
        return context

    def client_arguments(self) -> dict[str, Any]:
        """What every client of aiokafka is made with."""
        return {
            "bootstrap_servers": self.bootstrap.split(","),
            "client_id": self.client_id,
            "request_timeout_ms": self.request_timeout_ms,
            "security_protocol": self.security_protocol,
            "ssl_context": self.ssl_context(),
            "sasl_mechanism": self.sasl_mechanism,
            "sasl_plain_username": self.sasl_user,
            "sasl_plain_password": self.sasl_password,
        }


def _encrypted() -> str:
    """OpenSSL would ask on the terminal."""
    raise ValueError("the key is encrypted; give one that is not, readable by this service alone")
