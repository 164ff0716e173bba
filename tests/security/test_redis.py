"""The ledger on a Redis with TLS, as a user with the least rights: all its work goes, and nothing else."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from pokdeng import ledger as ledger_package
from pokdeng.events.ids import TransferId
from pokdeng.events.reasons import TransferKind
from pokdeng.ledger.port import LedgerError, LedgerUnavailableError
from pokdeng.ledger.redis_ledger import RedisLedger
from pokdeng.ledger.restoring import After, RestoredBet, RestoredNote, RestoredRound, RestoredTransfer
from pokdeng.ledger.values import FOR_EVER, BetState, Note
from tests.ledger.world import (
    FUNDS,
    GROUP,
    ONE,
    SOURCES,
    TABLES,
    THB,
    deposit,
    hold,
    name_of,
    own,
    refuse,
    round_of,
    settle,
    withdraw,
    withdrawal,
)
from tests.support.certificates import Authority
from tests.support.secure_redis import USERS, password_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pokdeng.ledger.redis_settings import RedisSettings
    from tests.support.secure_redis import SecureRedis

pytestmark = pytest.mark.timeout(120)

ELSEWHERE = ("select", "cluster|slots", "wait")
"""Needed for a database other than 0, on a Redis Cluster, and where replicas are waited for."""
SETTLEMENT, READER = "pokdeng-settlement", "pokdeng-reader"


def ledger_on(settings: RedisSettings) -> RedisLedger:
    """A handle that gives up soon."""
    return RedisLedger(settings, timeout_ms=1_000, retry_budget_ms=100)


def commands_of(user: str) -> list[str]:
    """What the file lets a user do, without the `+`."""
    (line,) = [line for line in USERS.read_text().splitlines() if line.startswith(f"user {user} ")]
    return [word[1:] for word in line.split() if word.startswith("+")]


async def all_work(settings: RedisSettings) -> None:
    """Every call of the ledger, with every kind of operation."""
    ledger = ledger_on(settings)
    try:
        await own(ledger)
        first, second = hold(2), hold(3, bet_id="b2")
        await ledger.apply([deposit(1), withdrawal(2, 100), first, second, refuse(hold(4, bet_id="b3"))])
        await ledger.apply([withdraw(second, 5), settle(first, 3_000)])
        await ledger.remember([Note(TABLES, "page", "field", b"value", keep_first=True, ttl_ms=60_000)])
        await ledger.remember([Note(TABLES, "page", "field", b"other", keep_first=False, ttl_ms=None)])
        await ledger.remember([Note(TABLES, "page", "field", b"other", keep_first=False, ttl_ms=FOR_EVER)])
        assert await ledger.recall(["page"]) == [{"field": b"other"}]
        assert len((await ledger.round_bets([round_of(first)]))[0]) == 3
        assert (await ledger.find_bets([name_of(first)]))[0]
        assert await ledger.newest_transfers([FUNDS]) == [2]
        await ledger.finish([round_of(first)], ttl_ms=60_000)
        await look(ledger)
        await restore(ledger)
        await ledger.doubt()
        await ledger.accept_incarnation()
        await ledger.acquire(SOURCES, group=GROUP, generation=2)
        await ledger.renew(SOURCES)
        await ledger.release(SOURCES)
    finally:
        await ledger.close()


async def restore(ledger: RedisLedger) -> None:
    """Every step of filling the ledger anew."""
    before = await ledger.account(ONE)
    assert before is not None
    await ledger.doubt()
    restoring = ledger.restoring()
    name = await restoring.begin()
    await restoring.say_quiet(name, dict.fromkeys(SOURCES, 0))
    assert await restoring.unquiet(name, SOURCES) == {}
    assert await restoring.lead(name, "test") == 1
    assert await restoring.lead(name, "test") == 1, "it keeps the lead"
    assert await restoring.leader() == "test"
    await restoring.clear()
    assert await restoring.is_torn()
    assert not await restoring.leased()
    await restoring.put_accounts([before])
    after = After(before.available, before.held, before.sequence)
    await restoring.put_transfers(
        [RestoredTransfer(TransferKind.DEPOSIT, ONE, TransferId("D-1"), 1, 10_000, THB, "", after, 60_000)]
    )
    bet = hold(2)
    await restoring.put_bets(
        [
            RestoredBet(
                ONE,
                bet.table,
                bet.round,
                bet.bet_id,
                str(bet.bet),
                1_000,
                THB,
                2,
                BetState.ACCEPTED,
                "",
                2_000,
                0,
                0,
                after,
                -1,
                None,
                None,
            )
        ]
    )
    await restoring.put_notes([RestoredNote("page", "field", b"value", True, None)])
    await restoring.put_offsets({FUNDS: 2})
    assert [one.bet_id async for one in restoring.holds()] == [bet.bet_id]
    await restoring.expire([RestoredRound(bet.table, bet.round, 60_000)])
    await restoring.open()


async def look(ledger: RedisLedger) -> None:
    """What `balances show` asks, and the list of all accounts."""
    assert await ledger.open()
    account = await ledger.account(ONE)
    assert account is not None
    assert [one async for one in ledger.accounts()] == [account]
    assert (account.available, account.held) == (10_000 - 100 + 1_000, 0)


def words_to(client: Redis) -> Any:
    """For what redis-py has not typed."""
    return client.execute_command


async def as_admin(redis: SecureRedis) -> AsyncIterator[Redis]:
    """A connection that may do everything, on an empty store."""
    settings = redis.settings("admin")
    client: Redis = Redis.from_url(settings.url, **settings.client_arguments())
    await client.flushall()
    await client.script_flush()
    try:
        yield client
    finally:
        await client.aclose()


def test_the_least_rights_are_enough(redis: SecureRedis) -> None:
    """All of the ledger's work, over TLS with a client's certificate; then a reader looks."""

    async def tried() -> None:
        async for _ in as_admin(redis):
            await all_work(redis.settings(SETTLEMENT))
            reader = ledger_on(redis.settings(READER))
            await look(reader)
            await reader.close()

    asyncio.run(tried())


@pytest.mark.parametrize("command", [one for one in commands_of(SETTLEMENT) if one not in ELSEWHERE])
def test_none_of_the_rights_can_be_left_out(command: str, redis: SecureRedis) -> None:
    """Without it the work stops, and no balance has moved without the record of what moved it."""

    async def tried() -> None:
        async for admin in as_admin(redis):
            await words_to(admin)("ACL", "SETUSER", SETTLEMENT, f"-{command}")
            try:
                with pytest.raises(LedgerError):
                    await all_work(redis.settings(SETTLEMENT))
            finally:
                await words_to(admin)("ACL", "SETUSER", SETTLEMENT, f"+{command}")
            moved: list[Any] = [key async for key in admin.scan_iter("pokdeng:{*}a")]
            records: list[Any] = [key async for key in admin.scan_iter("pokdeng:{*}[tr]:*")]
            is_closed = await admin.hget("pokdeng:{0}m", "r") == b"-"
            assert not moved or len(records) >= 2 or is_closed

    asyncio.run(tried())


def test_every_command_that_the_ledger_names_is_granted() -> None:
    """Those in the scripts and those that are sent: who adds one sees it here."""
    folder = Path(ledger_package.__file__).parent
    scripts = " ".join(file.read_text() for file in sorted(folder.glob("scripts/*.lua")))
    named = {name.lower() for name in re.findall(r"'([A-Z]{3,})'", scripts)}
    for file in sorted(folder.glob("redis_*.py")):
        named |= {name.lower() for name in re.findall(r'\("([A-Z]{3,}(?: [A-Z]+)?)"', file.read_text())}
    named = {name.replace(" ", "|") for name in named} - _ANSWERS
    assert {"hset", "hmget", "evalsha", "script|load"} <= named
    assert named <= set(commands_of(SETTLEMENT)), named - set(commands_of(SETTLEMENT))


_ANSWERS = {"cold", "check", "fenced", "behind", "gap", "corrupt", "over", "busy"}


FORBIDDEN = [
    ("FLUSHALL",),
    ("CONFIG", "GET", "*"),
    ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"),
    ("KEYS", "*"),
    ("ACL", "LIST"),
    ("SHUTDOWN",),
    ("EVAL", "return 1", "0"),
    ("HGET", "other:{0}a", "A-1"),
    ("SET", "other:x", "1"),
    ("RENAME", "pokdeng:{0}a", "pokdeng:{1}a"),
    ("MONITOR",),
    ("REPLICAOF", "NO", "ONE"),
]


@pytest.mark.parametrize("user", [SETTLEMENT, READER])
@pytest.mark.parametrize("words", FORBIDDEN, ids=" ".join)
def test_nothing_else_goes(words: tuple[str, ...], user: str, redis: SecureRedis) -> None:
    """Neither other commands nor other keys."""

    async def tried() -> None:
        settings = redis.settings(user)
        client: Redis = Redis.from_url(settings.url, **settings.client_arguments())
        try:
            with pytest.raises(NoPermissionError):
                await words_to(client)(*words)
        finally:
            await client.aclose()

    asyncio.run(tried())


def test_a_reader_writes_nothing(redis: SecureRedis) -> None:
    """Not one field, not by a script either."""

    async def tried() -> None:
        async for _ in as_admin(redis):
            await all_work(redis.settings(SETTLEMENT))
            reader = ledger_on(redis.settings(READER))
            with pytest.raises(LedgerError, match="permissions"):
                await reader.doubt()
            with pytest.raises(LedgerError, match="can't run this command"):
                await reader.acquire(SOURCES, group=GROUP, generation=9)
            await reader.close()

    asyncio.run(tried())


@pytest.mark.parametrize("what", ["authority", "certificate", "password", "user", "no user", "no tls"])
def test_who_is_not_trusted_does_not_get_in(
    what: str, redis: SecureRedis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Unavailable, which a worker waits for, not ready; what it says and logs holds no password."""
    good = redis.settings(SETTLEMENT)
    settings = {
        "authority": replace(good, ca_file=str(Authority(tmp_path).ca)),
        "certificate": replace(good, certificate_file=None, key_file=None),
        "password": replace(good, password=password_of("admin")),
        "user": replace(good, username="nobody"),
        "no user": replace(good, username=None, password=None),
        "no tls": replace(good, url=good.url.replace("rediss", "redis")),
    }[what]

    async def tried() -> None:
        ledger = ledger_on(settings)
        try:
            await ledger.open()
        finally:
            await ledger.close()

    with pytest.raises(LedgerUnavailableError) as raised:
        asyncio.run(tried())
    said = f"{raised.value!r} {raised.value.__cause__!r} {caplog.text}"
    assert "CHANGE-ME" not in said


def test_a_password_in_the_address_works_and_is_never_shown(redis: SecureRedis) -> None:
    """As some secret stores give it: the address as a whole."""
    good = redis.settings(SETTLEMENT)
    url = good.url.replace("rediss://", f"rediss://{good.username}:{good.password}@")
    settings = replace(good, url=url, username=None, password=None)
    assert "CHANGE-ME" not in f"{settings} {settings!r}"

    async def tried() -> None:
        async for _ in as_admin(redis):
            await all_work(settings)

    asyncio.run(tried())
