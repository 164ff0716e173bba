"""Options that several commands share. Each is an environment variable, too: `POKDENG_` and its name.

A variable means the same to every command that reads it. What does not has the command's name in its variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import click

from pokdeng.cli.redis_address import NAMES as _REDIS_NAMES
from pokdeng.cli.redis_address import redis_settings
from pokdeng.cli.secrets import refuse_on_command_line
from pokdeng.ledger.values import BUCKETS

_Command = TypeVar("_Command", bound=Callable[..., Any])

CONSENTS: Final = frozenset({"yes", "fence", "stopped"})
"""Options that one may be sorry for."""
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PORTS_END: Final = 65_536
_DURATION: Final = re.compile(r"([1-9][0-9]{0,8})(ms|s|m|h|d)")


def option(*names: str, of: str = "", **settings: Any) -> Callable[[_Command], _Command]:
    """A click option that is also the environment variable `POKDENG_` + its name (the contract).

    `of` is a command, such as `rounds cancel`, of which `POKDENG_ROUNDS_CANCEL_` + its name is read first: for what
    would mean something else to another command. Of a consent only that is read: what somebody sets for one command,
    or for all of a container, must not answer the question of another.
    """
    name = next(name for name in names if name.startswith("--")).removeprefix("--").partition("/")[0]
    plain, own = (re.sub("[ -]", "_", text).upper() for text in (f"POKDENG {name}", f"POKDENG {of} {name}"))
    if not of:
        settings.setdefault("envvar", plain)
    else:
        settings.setdefault("envvar", own if name in CONSENTS else [own, plain])
    settings.setdefault("show_envvar", True)
    return click.option(*names, **settings)


class Duration(click.ParamType):
    """A time such as `500ms`, `90s`, `26h`, `7d`; its value is milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Milliseconds; exit 2 with a sentence where it is none."""
        if isinstance(value, int):
            return value
        found = _DURATION.fullmatch(value)
        if found is None:
            self.fail(f"{value!r} is no time; write a whole number and ms, s, m, h or d, for example 26h", param, ctx)
        return int(found[1]) * _UNITS_MS[found[2]]


def written(duration_ms: int) -> str:
    """A time as an option takes it: `93600000` is `26h`."""
    unit = max((one for one in _UNITS_MS if duration_ms % _UNITS_MS[one] == 0), key=_UNITS_MS.__getitem__)
    if unit == "d":
        unit = "h"  # as all defaults are written
    return f"{duration_ms // _UNITS_MS[unit]}{unit}"


class Prefix(click.ParamType):
    """What begins the names of topics and of keys in Redis."""

    name = "prefix"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The prefix itself; exit 2 with a sentence where Kafka would not take it."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", value):
            self.fail(f"{value!r} cannot begin topic names; use up to 64 of A-Z a-z 0-9 . _ -", param, ctx)
        return str(value)


class Name(click.ParamType):
    """A name that Kafka takes for a group or a member."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name itself; exit 2 with a sentence where it is none."""
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,200}", value):
            self.fail(f"{value!r} is no name; use 1 to 200 of A-Z a-z 0-9 . _ -", param, ctx)
        return str(value)


class Host(click.ParamType):
    """A name or an address of this machine."""

    name = "host"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The host itself; exit 2 with a sentence where nothing can have that name."""
        try:
            encoded = str(value).encode("idna")
        except UnicodeError:
            encoded = b""
        if not encoded:
            self.fail(f"{value!r} is no host; write an address of this machine, such as 0.0.0.0", param, ctx)
        return str(value)


class Id(click.ParamType):
    """An id as the events have them."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The id itself; exit 2 with a sentence where it is none."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}", value):
            self.fail(
                f"{value!r} is no id; ids are 1 to 64 of A-Z a-z 0-9 . _ : - and begin with one of the first",
                param,
                ctx,
            )
        return str(value)


class Bootstrap(click.ParamType):
    """Addresses of Kafka's brokers."""

    name = "addresses"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The addresses themselves; exit 2 with a sentence where they are none."""
        for address in value.split(","):
            host, _, port = address.rpartition(":")
            if not host or not port.isdecimal() or not 0 < int(port) < _PORTS_END:
                self.fail(f"{address!r} is no address; write HOST:PORT, several separated by commas", param, ctx)
        return str(value)


class RedisUrl(click.ParamType):
    """Where Redis is."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address itself; exit 2 with a sentence where it is none. Never shows a password."""
        try:
            url = urlsplit(value)
            is_server = url.scheme in ("redis", "rediss") and bool(url.hostname) and url.port != 0
            is_socket = url.scheme == "unix" and bool(url.path)
            database = url.path.removeprefix("/")
            has_database = not is_server or not database or database.isdecimal()
        except ValueError:  # a port that is no number
            is_server = is_socket = has_database = False
        if not ((is_server or is_socket) and has_database) or (is_server and (url.query or url.fragment)):
            self.fail("write redis://HOST:PORT/DATABASE, rediss://... (TLS) or unix:///PATH", param, ctx)
        if url.password is not None and ctx is not None and param is not None:
            refuse_on_command_line(ctx, param, value)
        return str(value)


bootstrap = option(
    "--bootstrap", type=Bootstrap(), metavar="HOST:PORT", default="127.0.0.1:9092", show_default=True, help="Kafka."
)
prefix = option(
    "--prefix",
    type=Prefix(),
    default="pokdeng",
    show_default=True,
    help="Begins the names of topics and of keys in Redis.",
)
buckets = option(
    "--buckets",
    type=click.IntRange(1, 1024),
    default=BUCKETS,
    show_default=True,
    help="Buckets of the ledger; fixed when it is created.",
)


def group(says: str) -> Callable[[_Command], _Command]:
    """The workers' consumer group; `says` what it is to this command."""
    return option("--group", type=Name(), default="pokdeng-settlement", show_default=True, help=says)


def remember(says: str) -> Callable[[_Command], _Command]:
    """How long ids are remembered, milliseconds; `says` what it is to this command."""
    return option("--remember", "remember_ms", type=Duration(), default="26h", show_default=True, help=says)


def yes(of: str, says: str = "Do it without asking.") -> Callable[[_Command], _Command]:
    """Consent beforehand, to the command `of` alone."""
    return option("--yes", of=of, is_flag=True, help=says)


as_json = option("--json", "as_json", is_flag=True, help="Answer with JSON.")

_FILE = click.Path(exists=True, dir_okay=False)
_KAFKA_OPTIONS = (
    option(
        "--kafka-security",
        type=click.Choice(["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]),
        default="PLAINTEXT",
        show_default=True,
        help="Kafka's security protocol.",
    ),
    option(
        "--kafka-ca",
        type=_FILE,
        metavar="FILE",
        help="Certificate authorities that Kafka's brokers are trusted by. [default: the system's]",
    ),
    option("--kafka-certificate", type=_FILE, metavar="FILE", help="Our certificate for Kafka."),
    option("--kafka-key", type=_FILE, metavar="FILE", help="The key of it, where that file has none. Not encrypted."),
    option(
        "--kafka-sasl",
        type=click.Choice(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]),
        default=None,
        help="How we prove to Kafka who we are. [default: SCRAM-SHA-512]",
    ),
    option("--kafka-user", metavar="NAME", help="Our name for Kafka."),
    option(
        "--kafka-password",
        metavar="SECRET",
        callback=refuse_on_command_line,
        help="Our password; only as the variable.",
    ),
    option("--kafka-password-file", type=_FILE, metavar="FILE", help="A file with our password."),
)
_REDIS_OPTIONS = (
    option(
        "--redis",
        type=RedisUrl(),
        metavar="URL",
        default="redis://127.0.0.1:6379/0",
        show_default=True,
        help="Redis: redis://, rediss:// (TLS) or unix://.",
    ),
    option("--redis-user", metavar="NAME", help="Our ACL user in Redis. [default: Redis' default user]"),
    option(
        "--redis-password",
        metavar="SECRET",
        callback=refuse_on_command_line,
        help="Its password; only as the variable.",
    ),
    option("--redis-password-file", type=_FILE, metavar="FILE", help="A file with its password."),
    option(
        "--redis-ca",
        type=_FILE,
        metavar="FILE",
        help="Certificate authorities that Redis is trusted by. [default: the system's]",
    ),
    option("--redis-certificate", type=_FILE, metavar="FILE", help="Our certificate for Redis."),
    option("--redis-key", type=_FILE, metavar="FILE", help="The key of it, where that file has none. Not encrypted."),
)


def kafka_security(command: _Command) -> _Command:
    """What belongs to an address of Kafka, for a command with a `--bootstrap` of its own."""
    for decorate in reversed(_KAFKA_OPTIONS):
        command = decorate(command)
    return command


def kafka(command: _Command) -> _Command:
    """All options about how Kafka is reached: the command gets them as keyword arguments of `kafka_settings`."""
    return bootstrap(kafka_security(command))


def redis(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options about how Redis is reached: the command gets one argument, `redis`, a `RedisSettings`."""
    return _with_redis(command, _REDIS_OPTIONS)


def redis_or_none(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same where Redis need not be given: `redis` is None then."""
    own = option("--redis", type=RedisUrl(), metavar="URL", help="Your own Redis. [default: an embedded server]")
    return _with_redis(command, (own, *_REDIS_OPTIONS[1:]))


def _with_redis(command: Callable[..., Any], declared: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    @wraps(command)
    def with_settings(**options: Any) -> Any:
        told = {name: options.pop(name) for name in list(options) if name in _REDIS_NAMES}
        return command(redis=redis_settings(**told), **options)

    settled: Callable[..., Any] = with_settings
    for decorate in reversed(declared):
        settled = decorate(settled)
    return settled
