"""From options to how Redis is reached. What contradicts itself is refused before anything is connected."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import click

from pokdeng.cli.secrets import secret
from pokdeng.ledger.redis_settings import RedisSettings

NAMES: Final = (
    *("redis", "redis_user", "redis_password", "redis_password_file"),
    *("redis_ca", "redis_certificate", "redis_key"),
)
"""The keyword arguments of `redis_settings`."""


def redis_settings(redis: str | None, **options: str | None) -> RedisSettings | None:
    """The settings that the options of `options.redis` say; None where no address is given.

    Raises:
        click.UsageError: when they contradict each other, or a file is not what it should be.
    """
    if redis is None:
        return None
    url = urlsplit(redis)
    password = secret("--redis-password", options["redis_password"], options["redis_password_file"])
    user = options["redis_user"]
    if password is not None and url.password is not None:
        raise click.UsageError("--redis has a password, and POKDENG_REDIS_PASSWORD or its file another; use one")
    if user is not None and url.username:
        raise click.UsageError(f"--redis names a user, and --redis-user is {user!r}; use one of them")
    if user is not None and password is None and url.password is None:
        raise click.UsageError(f"--redis-user {user!r} needs POKDENG_REDIS_PASSWORD or --redis-password-file")
    files = [f"--{name.replace('_', '-')}" for name in ("redis_ca", "redis_certificate", "redis_key") if options[name]]
    if files and url.scheme != "rediss":
        raise click.UsageError(f"{' and '.join(files)} would be ignored with {url.scheme}://; use rediss://")
    if options["redis_key"] and not options["redis_certificate"]:
        raise click.UsageError("--redis-key needs --redis-certificate")
    settings = RedisSettings(
        url=redis,
        username=user,
        password=password,
        ca_file=options["redis_ca"],
        certificate_file=options["redis_certificate"],
        key_file=options["redis_key"],
    )
    try:
        settings.ssl_context()
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{' and '.join(files) or '--redis'}: {error}") from error
    return settings
