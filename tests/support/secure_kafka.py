"""An Apache Kafka of a test's own that asks who is there: SASL over TLS, client certificates, and its authorizer.

Names in `users` are known by password to PLAIN and both SCRAM mechanisms; a client's certificate makes its common name
the user. `admin` may do everything, everybody else nothing that was not granted.
"""

from __future__ import annotations

import asyncio
import shlex
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from aiokafka.protocol.admin import CreateAclsRequest

from pokdeng.stream.kafka import KafkaSettings
from pokdeng.stream.kafka.untyped import AIOKafkaClient
from tests.support.certificates import Authority
from tests.support.kafka import Secured, free_port, native_kafka

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tests.support.certificates import Pair

ADMIN: Final = "admin"
_SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
_PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
_RESOURCES = {"topic": 2, "group": 3}
_OPERATIONS = {"Read": 3, "Write": 4, "Create": 5, "Describe": 8, "DescribeConfigs": 10}
_ALLOW, _LITERAL, _PREFIXED = 3, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureKafka:
    """A broker that answers."""

    sasl: str
    """The address of SASL_SSL."""

    ssl: str
    """The address that wants a client's certificate."""

    authority: Authority
    passwords: Mapping[str, str]
    certificates: Mapping[str, Pair]

    def settings(self, user: str, mechanism: str = "SCRAM-SHA-512") -> KafkaSettings:
        """As this user."""
        return KafkaSettings(
            bootstrap=self.sasl,
            security_protocol="SASL_SSL",
            ssl_ca_file=str(self.authority.ca),
            sasl_mechanism=mechanism,
            sasl_user=user,
            sasl_password=self.passwords[user],
            session_timeout_ms=10_000,
        )

    def variables(self, user: str) -> dict[str, str]:
        """The environment of a command as this user."""
        return {
            "POKDENG_BOOTSTRAP": self.sasl,
            "POKDENG_KAFKA_SECURITY": "SASL_SSL",
            "POKDENG_KAFKA_CA": str(self.authority.ca),
            "POKDENG_KAFKA_USER": user,
            "POKDENG_KAFKA_PASSWORD": self.passwords[user],
        }

    async def grant(self, script: Iterable[str]) -> int:
        """Do what a script of `pokdeng topics acls` does. How many rights it gave."""
        rows = [row for line in script if line.startswith("kafka-acls.sh") for row in _rights(line)]
        client: Any = AIOKafkaClient(**self.settings(ADMIN).client_arguments())
        await client.bootstrap()
        try:
            for row in rows:
                answer: Any = await client.send(client.get_random_node(), CreateAclsRequest(*row))
                if any(code for code, *_ in answer.creation_responses):
                    raise RuntimeError(f"{row}: {answer}")
        finally:
            await client.close()
        return len(rows)


def _rights(line: str) -> list[tuple[int, str, int, str, str, int, int]]:
    """The rows of a CreateAcls request; anything that Kafka's tool would not take either raises."""
    command, arguments, *words = shlex.split(line)
    if (command, arguments, words.pop(0)) != ("kafka-acls.sh", "$@", "--add"):
        raise ValueError(line)
    told: dict[str, list[str]] = {}
    for name, value in zip(words[::2], words[1::2], strict=True):
        told.setdefault(name, []).append(value)
    (principal,), (operation,) = told.pop("--allow-principal"), told.pop("--operation")
    (pattern,) = told.pop("--resource-pattern-type", ["literal"])
    kind = {"literal": _LITERAL, "prefixed": _PREFIXED}[pattern]
    return [
        (_RESOURCES[resource.removeprefix("--")], name, kind, principal, "*", _OPERATIONS[operation], _ALLOW)
        for resource, names in told.items()
        for name in names
    ]


@contextmanager
def secure_kafka(folder: Path, users: Iterable[str]) -> Iterator[SecureKafka]:
    """One such broker, empty, gone after the block."""
    passwords = {name: f"{name}-planted-password" for name in (ADMIN, *users)}
    authority = Authority(folder)
    server = authority.issue("broker", "127.0.0.1", "localhost")
    certificates = {name: authority.issue(name) for name in passwords}
    ssl_port = free_port()
    plain_users = " ".join(f'user_{name}="{password}"' for name, password in passwords.items())
    with native_kafka(
        secured=Secured(
            users=passwords,
            properties={
                "listeners": (
                    f"SASL_SSL://127.0.0.1:@port@,SSL://127.0.0.1:{ssl_port},CONTROLLER://127.0.0.1:@controller_port@"
                ),
                "advertised.listeners": f"SASL_SSL://127.0.0.1:@port@,SSL://127.0.0.1:{ssl_port}",
                "listener.security.protocol.map": "SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT",
                "inter.broker.listener.name": "SSL",
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
                "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"{_SCRAM_MODULE} required;",
                "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"{_SCRAM_MODULE} required;",
                "listener.name.sasl_ssl.plain.sasl.jaas.config": f"{_PLAIN_MODULE} required {plain_users};",
                "listener.name.ssl.ssl.client.auth": "required",
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": str(server.both),
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(authority.ca),
                "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/,DEFAULT",
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "allow.everyone.if.no.acl.found": "false",
                # The controller's listener is on the loopback and asks nobody; no client is let in there.
                "super.users": f"User:{ADMIN};User:broker;User:ANONYMOUS",
            },
        )
    ) as address:
        yield SecureKafka(
            sasl=address,
            ssl=f"127.0.0.1:{ssl_port}",
            authority=authority,
            passwords=passwords,
            certificates=certificates,
        )


def granted(kafka: SecureKafka, script: Iterable[str]) -> int:
    """`grant`, for a fixture."""
    return asyncio.run(kafka.grant(script))
