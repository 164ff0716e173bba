"""Wrong settings are refused at the start: exit 2, with the option, its variable and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from pokdeng.cli import main

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = {
    ("--redis", "http://x"): "POKDENG_REDIS",
    ("--redis", "redis://h:port/0"): "redis://HOST:PORT",
    ("--redis", "redis://h:1/abc"): "redis://HOST:PORT",
    ("--redis", "redis://h:1/0?foo=bar"): "redis://HOST:PORT",
    ("--group", ""): "POKDENG_GROUP",
    ("--instance-id", "a/b c"): "POKDENG_INSTANCE_ID",
    ("--prefix", "a b"): "cannot begin topic names",
    ("--kafka-ca", "/nonexistent"): "does not exist",
    ("--kafka-user", "x"): "would be ignored",
    ("--kafka-sasl", "PLAIN"): "--kafka-sasl would be ignored with --kafka-security PLAINTEXT",
    ("--kafka-sasl", "SCRAM-SHA-1"): "POKDENG_KAFKA_SASL",
    ("--kafka-security", "TLS"): "POKDENG_KAFKA_SECURITY",
    ("--redis-user", "x"): "--redis-user 'x' needs POKDENG_REDIS_PASSWORD or --redis-password-file",
    ("--redis-ca", "/nonexistent"): "does not exist",
    ("--redis", "rediss://h:1/0#x"): "redis://HOST:PORT",
    ("--kafka-security", "SASL_SSL"): "needs --kafka-user and --kafka-password",
    ("--bootstrap", "nonsense"): "HOST:PORT",
    ("--bootstrap", "a:99999"): "HOST:PORT",
    ("--http-port", "1e+06"): "POKDENG_HTTP_PORT",
    ("--buckets", "0"): "POKDENG_BUCKETS",
    ("--remember", "1h"): "--remember (POKDENG_REMEMBER) is 1h; it must be at least the correction window + 2h: 26h",
    ("--http-host", "a..b"): "write an address of this machine, such as 0.0.0.0",
    ("--http-host", ""): "POKDENG_HTTP_HOST",
    ("--remember", "26"): "for example 26h",
    ("--limits", "/nonexistent"): "POKDENG_LIMITS",
}


@pytest.mark.parametrize(("arguments", "said"), REFUSED.items(), ids=lambda value: "-".join(value)[:40])
def test_a_worker_with_a_wrong_setting_does_not_start(arguments: tuple[str, str], said: str) -> None:
    """Nothing is connected; the sentence says what is wrong."""
    result = CliRunner().invoke(main, ["worker", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_a_wrong_environment_variable_is_named() -> None:
    """As a chart that writes large numbers with an exponent would set it."""
    result = CliRunner().invoke(main, ["worker"], env={"POKDENG_HTTP_PORT": "1e+06"})
    assert result.exit_code == 2
    assert "POKDENG_HTTP_PORT" in result.output
    assert "1e+06" in result.output


def test_a_file_that_is_no_certificate_is_refused(tmp_path: Path) -> None:
    """Before anything is connected."""
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    result = CliRunner().invoke(main, ["worker", "--kafka-security", "SSL", "--kafka-ca", str(file)])
    assert result.exit_code == 2
    assert "--kafka-ca" in result.output


def test_an_account_that_is_no_id_is_refused() -> None:
    """It could not be any account's."""
    result = CliRunner().invoke(main, ["balances", "show", "a|b"])
    assert result.exit_code == 2
    assert "is no id" in result.output
