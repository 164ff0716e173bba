"""Facts by the million, as the service says them: what a restore reads. Money is exact, hands are any."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from pokdeng.events.ids import AccountId, BetId, Cause, Currency, EventId, Minor, RoundId, TableId, Timestamp
from pokdeng.events.outputs import Balance, FundsCredited, HandShown
from pokdeng.rules import RULESET, Bet, Outcome
from pokdeng.settlement.finished import HEADER, Finished, ShoeNote, TableNote, encode_note
from pokdeng.stream.partitioner import partition_for
from pokdeng.stream.port import Message, TopicPartition
from pokdeng.wire import AcceptedTemplate, SettledRound, encode, headers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pokdeng.wire import Topics

_NOW = "2026-01-01T00:00:00Z"
_THB = Currency("THB")
_HAND = HandShown(cards=("Th", "9c"), value="9", points=9, combination=None, pair=False, flush=False)
_RULE = "the player wins with a special pattern"
DEPOSIT_MINOR = 10**10
Batch = dict[TopicPartition, list[Message]]


class Facts:
    """The facts of tables that play round after round."""

    def __init__(self, topics: Topics, *, accounts: int, tables: int, partitions: int, bets_a_round: int = 50) -> None:
        """Nothing is said yet."""
        self._topics = topics
        self._partitions = partitions
        self._bets = bets_a_round
        self._tables = [TableId(f"T{number:03}") for number in range(tables)]
        self._names = [AccountId(f"A{number:06}") for number in range(accounts)]
        self._keys = [name.encode() for name in self._names]
        self._places = [partition_for(key, partitions) for key in self._keys]
        self._balances = [[0, 0, 0] for _ in range(accounts)]
        self._random = random.Random(7)
        self._offsets = count()
        self._rounds = count()
        self.said = 0

    def deposits(self) -> Iterator[Batch]:
        """One for each account."""
        topic = self._topics.funds_decisions
        some: Batch = defaultdict(list)
        for at, name in enumerate(self._names):
            self._balances[at] = [DEPOSIT_MINOR, 0, 1]
            fact = FundsCredited(
                event_id=EventId(f"d{at}"),
                occurred_at=Timestamp(_NOW),
                cause=Cause(self._topics.funds, self._places[at], at),
                transfer_id="d1",  # type: ignore[arg-type]  # an id
                account_id=name,
                amount=Minor(DEPOSIT_MINOR),
                currency=_THB,
                balance=Balance(available=Minor(DEPOSIT_MINOR), held=Minor(0), sequence=1),
            )
            self._put(some, topic, at, "funds_credited", f"d{at}", encode(fact))
            if at % 10_000 == 9_999:
                yield some
                some = defaultdict(list)
        yield some

    def waves(self, bets: int) -> Iterator[Batch]:
        """Rounds at all tables, until so many bets are decided and settled."""
        done = 0
        while done < bets:
            some: Batch = defaultdict(list)
            number = next(self._rounds)
            for table in self._tables:
                self._round(some, table, RoundId(f"R{number}"))
                done += self._bets
            yield some

    def _round(self, some: Batch, table: TableId, round_id: RoundId) -> None:
        topics, source = self._topics, self._topics.source
        partition = partition_for(table.encode(), self._partitions)
        accepted = AcceptedTemplate(table_id=table, round_id=round_id, topic=topics.bets, partition=partition)
        settled = SettledRound(
            table_id=table,
            round_id=round_id,
            banker=_HAND,
            ruleset=RULESET,
            cause=Cause(topics.table_events, partition, next(self._offsets)),
            occurred_at=Timestamp(_NOW),
            revision=1,
        )
        templates = {bet: settled.of(bet=bet, outcome=Outcome.WIN, odds="2:1", player=_HAND, rule=_RULE) for bet in Bet}
        bets = []
        for number in range(self._bets):
            at = self._random.randrange(len(self._names))
            bet = self._random.choice(tuple(Bet))
            stake = self._random.randrange(100, 10_000)
            taken = stake * bet.units_taken
            balance = self._balances[at]
            balance[0], balance[1], balance[2] = balance[0] - taken, balance[1] + taken, balance[2] + 1
            bet_id, event_id = BetId(f"b{number}"), f"0198c0de-7000-7000-8000-{next(self._offsets):012x}"
            value = accepted.render(
                EventId(event_id), Timestamp(_NOW), next(self._offsets), bet_id, self._names[at], bet, Minor(stake),
                _THB, Minor(taken), *balance,
            )  # fmt: skip
            self._put(some, topics.bet_decisions, at, "bet_accepted", event_id, value)
            bets.append((at, bet, bet_id, stake, taken, event_id))
        for at, bet, bet_id, stake, taken, event_id in bets:
            returned = self._random.choice((0, taken, stake * 3))
            balance = self._balances[at]
            balance[0], balance[1], balance[2] = balance[0] + returned, balance[1] - taken, balance[2] + 1
            value = templates[bet].render(
                EventId(event_id), bet_id, self._names[at], Minor(stake), _THB, Minor(taken), Minor(returned), *balance
            )
            self._put(some, topics.settlements, at, "bet_settled", event_id, value)
        self._say_round(some, table, round_id, partition, source)

    def _say_round(self, some: Batch, table: TableId, round_id: RoundId, partition: int, source: str) -> None:
        shoe = ShoeNote("S1", 8, "2h", 100, "0", None)
        now_ms = time.time_ns() // 1_000_000
        finished = Finished(
            "S1", 0, 17, 0, 50, 1, None, now_ms, 1, 17, now_ms, self._bets, {_THB: (1, 1)}, "Th9c" * 6, shoe,
            TableNote(17, "S1", round_id, (shoe,)),
        )  # fmt: skip
        value = msgspec.json.encode({"type": "round_settled", "table_id": table, "round_id": round_id, "revision": 1})
        said = [*headers("round_settled", "r", _NOW, source), (HEADER, encode_note(finished))]
        place = TopicPartition(self._topics.rounds, partition)
        some[place].append(Message(table.encode(), value, said))
        self.said += 1

    def _put(self, some: Batch, topic: str, at: int, kind: str, event_id: str, value: bytes) -> None:
        said = headers(kind, event_id, _NOW, self._topics.source)
        some[TopicPartition(topic, self._places[at])].append(Message(self._keys[at], value, said))
        self.said += 1
