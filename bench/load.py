"""The load of the benchmark: tables that all open, take bets, close and deal together, wave after wave.

Written with the service's own publisher; the partitions follow from the keys. Each wave's opening, bets, closing and
cards are acknowledged before the next part is sent, so that broker time puts them in this order.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from pokdeng.rules import CARDS, Bet, Seat
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.stream.kafka import KafkaLog
    from pokdeng.wire import Topics

DEPOSIT_MINOR = 10**11
_NOW = "2026-01-01T00:00:00Z"
_BETS = tuple(Bet)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much is played."""

    tables: int = 64
    bets_per_round: int = 50
    accounts: int = 20_000
    partitions: int = 4
    seed: int = 1


class Player:
    """Makes the records of one benchmark."""

    def __init__(self, load: Load, topics: Topics) -> None:
        """Seeded: the same load makes the same records."""
        self._load = load
        self._topics = topics
        self._random = random.Random(load.seed)
        self._ids = 0
        self._partition_of: dict[str, int] = {}
        self.rounds = 0
        self.bets = 0

    def deposits(self) -> dict[TopicPartition, list[Message]]:
        """One deposit for each account."""
        batch: dict[TopicPartition, list[Message]] = {}
        for number in range(self._load.accounts):
            account = f"A{number:05}"
            self._put(
                batch,
                self._topics.funds,
                account,
                type="funds_deposited",
                transfer_id="d1",
                account_id=account,
                amount=DEPOSIT_MINOR,
                currency="THB",
            )
        return batch

    def shoes(self, wave: int) -> dict[TopicPartition, list[Message]]:
        """A new shoe at each table."""
        batch: dict[TopicPartition, list[Message]] = {}
        for table in self._tables():
            self._put(
                batch,
                self._topics.table_events,
                table,
                type="shoe_started",
                table_id=table,
                shoe_id=f"S{wave}",
                decks=8,
                burn_card="2h",
            )
        return batch

    def opening(self, wave: int, shoe: int) -> dict[TopicPartition, list[Message]]:
        """Every table opens its round."""
        batch: dict[TopicPartition, list[Message]] = {}
        for table in self._tables():
            self.rounds += 1
            self._put(
                batch,
                self._topics.table_events,
                table,
                type="round_opened",
                table_id=table,
                shoe_id=f"S{shoe}",
                round_id=f"R{wave}",
            )
        return batch

    def betting(self, wave: int) -> list[tuple[TopicPartition, Message]]:
        """All bets of a wave, tables mixed."""
        out: dict[TopicPartition, list[Message]] = {}
        mixed: list[tuple[TopicPartition, Message]] = []
        choose, between = self._random.choice, self._random.randrange
        for number in range(self._load.bets_per_round):
            for table in self._tables():
                self.bets += 1
                out.clear()
                self._put(
                    out,
                    self._topics.bets,
                    table,
                    type="bet_placed",
                    bet_id=f"b{wave}-{number}",
                    table_id=table,
                    round_id=f"R{wave}",
                    account_id=f"A{between(self._load.accounts):05}",
                    bet=choose(_BETS),
                    stake=between(100, 100_000),
                    currency="THB",
                )
                ((partition, messages),) = out.items()
                mixed.append((partition, messages[0]))
        return mixed

    def closing(self, wave: int) -> dict[TopicPartition, list[Message]]:
        """Every table closes its betting and deals its twelve cards."""
        batch: dict[TopicPartition, list[Message]] = {}
        for table in self._tables():
            common = {"table_id": table, "round_id": f"R{wave}"}
            self._put(batch, self._topics.table_events, table, type="betting_closed", **common)
            cards = iter(self._random.sample(CARDS, 12))
            for position in (1, 2):
                for seat in Seat:
                    self._put(
                        batch,
                        self._topics.table_events,
                        table,
                        type="card_dealt",
                        seat=seat,
                        position=position,
                        card=str(next(cards)),
                        **common,
                    )
        return batch

    def _tables(self) -> Iterator[str]:
        return (f"T{number:02}" for number in range(self._load.tables))

    def _put(self, batch: dict[TopicPartition, list[Message]], topic: str, key: str, **fields: object) -> None:
        self._ids += 1
        value = msgspec.json.encode(
            {"event_id": f"0198c0de-7000-7000-8000-{self._ids:012x}", "occurred_at": _NOW, **fields}
        )
        partition = self._partition_of.get(key)
        if partition is None:
            partition = self._partition_of[key] = partition_for(key.encode(), self._load.partitions)
        batch.setdefault(TopicPartition(topic, partition), []).append(Message(key.encode(), value, ()))


async def play_deposits(log: KafkaLog, player: Player) -> None:
    """Give every account its money."""
    await log.publish(player.deposits())


async def play_backlog(log: KafkaLog, player: Player, waves: int, *, first: int = 0) -> None:
    """Write waves, from the `first` on, as fast as they are acknowledged."""
    for wave in range(first, first + waves):
        await _open(log, player, wave)
        batch: dict[TopicPartition, list[Message]] = {}
        for partition, message in player.betting(wave):
            batch.setdefault(partition, []).append(message)
        await log.publish(batch)
        await _close(log, player, wave)


async def play_steadily(log: KafkaLog, player: Player, *, rate: int, seconds: int) -> None:
    """Write `rate` bets a second, in small batches; each wave closes and deals at once when its bets are in."""
    due = time.monotonic()
    until = due + seconds
    wave = 0
    while due < until:
        await _open(log, player, wave)
        bets = player.betting(wave)
        per_tick = max(1, round(rate * TICK_S))
        for start in range(0, len(bets), per_tick):
            batch: dict[TopicPartition, list[Message]] = {}
            for partition, message in bets[start : start + per_tick]:
                batch.setdefault(partition, []).append(message)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await log.publish(batch)
            due += len(bets[start : start + per_tick]) / rate
        await _close(log, player, wave)
        wave += 1


TICK_S = 0.005
"""How often bets are sent at a steady rate."""


async def _open(log: KafkaLog, player: Player, wave: int) -> None:
    shoe = wave // ROUNDS_PER_SHOE
    if wave % ROUNDS_PER_SHOE == 0:
        await log.publish(player.shoes(shoe))
    await log.publish(player.opening(wave, shoe))
    await _next_millisecond()


async def _close(log: KafkaLog, player: Player, wave: int) -> None:
    await _next_millisecond()
    await log.publish(player.closing(wave))
    await _next_millisecond()


async def _next_millisecond() -> None:
    """Broker time has whole milliseconds; what comes next must be later."""
    await asyncio.sleep(0.002)


ROUNDS_PER_SHOE = 4
"""Few enough that eight copies of a face are never used up by random deals of distinct cards."""
