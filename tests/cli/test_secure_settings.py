"""What belongs to TLS and passwords is refused at the start where it contradicts itself; no secret is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trustme
from click.testing import CliRunner
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from pokdeng.cli import main
from pokdeng.cli.connect import kafka_settings
from pokdeng.cli.redis_address import redis_settings

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "Xyzzy-planted-1"  # noqa: S105 - planted
NO_KAFKA = dict.fromkeys(
    ["kafka_ca", "kafka_certificate", "kafka_key", "kafka_sasl", "kafka_user", "kafka_password", "kafka_password_file"]
)
NO_REDIS = dict.fromkeys(
    ["redis_user", "redis_password", "redis_password_file", "redis_ca", "redis_certificate", "redis_key"]
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """An authority, a certificate of it, its key, the key encrypted, a password, and two files that are none."""
    authority = trustme.CA()
    certificate = authority.issue_cert("client")
    key = certificate.private_key_pem.bytes()
    encrypted = load_pem_private_key(key, None).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"opensesame")
    )
    contents = {
        "ca": authority.cert_pem.bytes(),
        "certificate": certificate.cert_chain_pems[0].bytes(),
        "key": key,
        "both": certificate.private_key_and_cert_chain_pem.bytes(),
        "encrypted": encrypted,
        "password": f"{SECRET}\n".encode(),
        "empty": b"",
        "lines": f"{SECRET}\nmore\n".encode(),
        "binary": b"\xff" + SECRET.encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return {name: str(tmp_path / name) for name in contents}


KAFKA_TLS = ("--kafka-security", "SSL")
REDIS_TLS = ("--redis", "rediss://127.0.0.1:1/0")
SASL = ("--kafka-security", "SASL_SSL", "--kafka-user", "u")
CONTRADICTIONS = [
    ((*KAFKA_TLS, "--kafka-key", "@key"), {}, "--kafka-key needs --kafka-certificate"),
    ((*KAFKA_TLS, "--kafka-certificate", "@certificate"), {}, "--kafka-certificate: "),
    ((*KAFKA_TLS, "--kafka-certificate", "@certificate", "--kafka-key", "@encrypted"), {}, "the key is encrypted"),
    (("--kafka-ca", "@ca"), {}, "--kafka-ca would be ignored with --kafka-security PLAINTEXT"),
    ((*KAFKA_TLS, "--kafka-user", "u"), {}, "--kafka-user would be ignored with --kafka-security SSL"),
    (("--kafka-password-file", "@password"), {}, "--kafka-password-file would be ignored"),
    ((), {"POKDENG_KAFKA_PASSWORD": SECRET}, "--kafka-password would be ignored"),
    (SASL, {}, "needs --kafka-user and --kafka-password: POKDENG_KAFKA_PASSWORD, or --kafka-password-file"),
    ((*SASL, "--kafka-password-file", "@empty"), {}, "it has 0 bytes; it must be one line of 1 to 4096 bytes"),
    ((*SASL, "--kafka-password-file", "@lines"), {}, "it must be one line"),
    ((*SASL, "--kafka-password-file", "@binary"), {}, "it is not UTF-8"),
    (
        (*SASL, "--kafka-password-file", "@password"),
        {"POKDENG_KAFKA_PASSWORD": SECRET},
        "POKDENG_KAFKA_PASSWORD and --kafka-password-file (POKDENG_KAFKA_PASSWORD_FILE) are both set",
    ),
    ((*SASL, "--kafka-password", SECRET), {}, "set POKDENG_KAFKA_PASSWORD, or use --kafka-password-file"),
    (("--redis-ca", "@ca"), {}, "--redis-ca would be ignored with redis://; use rediss://"),
    ((*REDIS_TLS, "--redis-key", "@key"), {}, "--redis-key needs --redis-certificate"),
    ((*REDIS_TLS, "--redis-ca", "@password"), {}, "--redis-ca: "),
    ((*REDIS_TLS, "--redis-certificate", "@certificate", "--redis-key", "@encrypted"), {}, "the key is encrypted"),
    (("--redis-password", SECRET), {}, "set POKDENG_REDIS_PASSWORD, or use --redis-password-file"),
    (("--redis", f"redis://u:{SECRET}@h:1/0"), {}, "set POKDENG_REDIS_PASSWORD, or use --redis-password-file"),
    (("--redis-user", "v"), {"POKDENG_REDIS": f"redis://u:{SECRET}@h:1/0"}, "--redis names a user"),
    (
        (),
        {"POKDENG_REDIS": f"redis://:{SECRET}@h:1/0", "POKDENG_REDIS_PASSWORD": SECRET},
        "--redis has a password, and POKDENG_REDIS_PASSWORD or its file another",
    ),
    ((), {"POKDENG_REDIS": f"redis://u:{SECRET}@h:port/0"}, "redis://HOST:PORT"),
    ((), {"POKDENG_REDIS": f"redis://u:{SECRET}#@h:1/0"}, "redis://HOST:PORT"),
]


@pytest.mark.parametrize(("arguments", "variables", "said"), CONTRADICTIONS, ids=lambda value: str(value)[:60])
def test_a_contradiction_is_refused_with_the_options_named(
    arguments: tuple[str, ...], variables: dict[str, str], said: str, files: dict[str, str]
) -> None:
    """Exit 2 before anything is connected, and no secret in the sentence."""
    named = [files[one[1:]] if one.startswith("@") else one for one in arguments]
    result = CliRunner().invoke(main, ["worker", *named], env=variables)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.output.split())
    assert SECRET not in result.output


@pytest.mark.parametrize("command", [["worker"], ["topics", "check"], ["simulate"], ["demo", "--bootstrap", "h:1"]])
def test_every_command_that_uses_kafka_takes_the_same_options(command: list[str]) -> None:
    """The same contradiction is refused everywhere."""
    result = CliRunner().invoke(main, [*command, "--kafka-user", "x"])
    assert result.exit_code == 2
    assert "would be ignored" in result.output


@pytest.mark.parametrize("command", [["worker"], ["balances", "show", "A-1"], ["demo"]])
def test_every_command_that_uses_redis_takes_the_same_options(command: list[str]) -> None:
    """The same contradiction is refused everywhere."""
    result = CliRunner().invoke(main, [*command, "--redis", "redis://h:1/0", "--redis-user", "x"])
    assert result.exit_code == 2
    assert "--redis-user 'x' needs" in result.output


def test_passwords_come_from_files_without_their_line_end(files: dict[str, str]) -> None:
    """As an editor or a secret store leaves them."""
    told = {"kafka_security": "SASL_SSL", "kafka_user": "u", "kafka_password_file": files["password"]}
    settings = kafka_settings(bootstrap="h:1", **{**NO_KAFKA, **told})
    assert settings.sasl_password == SECRET
    assert settings.sasl_mechanism == "SCRAM-SHA-512"
    redis = redis_settings("redis://h:1/0", **{**NO_REDIS, "redis_password_file": files["password"]})
    assert redis is not None
    assert redis.password == SECRET


def test_a_file_may_hold_certificate_and_key(files: dict[str, str]) -> None:
    """As some tools write them."""
    kafka_settings(bootstrap="h:1", **{**NO_KAFKA, "kafka_security": "SSL", "kafka_certificate": files["both"]})
    redis_settings("rediss://h:1/0", **{**NO_REDIS, "redis_certificate": files["both"]})
