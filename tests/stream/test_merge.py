"""Two partitions read as one: the order of the broker, whatever arrives when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pokdeng.stream.merge import FIRST, SECOND, Ask, Merge
from pokdeng.stream.port import LogRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream.port import Record

GRACE = 0.002


def record(side: int, offset: int, timestamp: int) -> LogRecord:
    """A record of one side; nothing but its place and time matters."""
    return LogRecord("events" if side == FIRST else "bets", 0, offset, timestamp, None, None, ())


def records(side: int, *timestamps: int) -> list[LogRecord]:
    """Records of one side from offset 0 on."""
    return [record(side, offset, timestamp) for offset, timestamp in enumerate(timestamps)]


def taken(merge: Merge, limit: int = 1000) -> list[tuple[int, int]]:
    """Side and broker time of what may go now."""
    return [(side, one.timestamp) for side, one in merge.take(limit)]


def test_heads_are_compared_by_broker_time() -> None:
    """While both sides hold something the older head goes first."""
    merge = Merge()
    merge.offer(SECOND, records(SECOND, 1, 4, 6), 0.0)
    merge.offer(FIRST, records(FIRST, 2, 3, 5), 0.0)
    assert taken(merge) == [(1, 1), (0, 2), (0, 3), (1, 4), (0, 5)]
    assert merge.waiting(SECOND) == 1


def test_the_first_side_goes_first_at_equal_times() -> None:
    """A table event comes before the bets of its millisecond."""
    merge = Merge()
    merge.offer(SECOND, records(SECOND, 7, 7), 0.0)
    merge.offer(FIRST, records(FIRST, 7, 7, 8), 0.0)
    assert taken(merge) == [(0, 7), (0, 7), (1, 7), (1, 7)]


def test_a_head_waits_while_the_other_side_may_hold_something_older() -> None:
    """An empty queue says nothing about the log."""
    merge = Merge(grace=GRACE)
    merge.offer(FIRST, records(FIRST, 5), 1.0)
    assert taken(merge) == []
    assert merge.needs_barrier() == Ask(SECOND, 1.0 + GRACE)


@pytest.mark.parametrize("side", [FIRST, SECOND])
def test_a_barrier_lets_a_head_go(side: int) -> None:
    """The other side's end, asked for at least the grace after the head arrived, is read up to."""
    merge = Merge(grace=GRACE)
    merge.offer(side, records(side, 5, 6), 1.0)
    merge.barrier(1 - side, 3, 1.0 + GRACE)
    assert taken(merge) == []
    merge.consumed(1 - side, 2)
    assert taken(merge) == []
    merge.consumed(1 - side, 3)
    assert taken(merge) == [(side, 5), (side, 6)]
    assert merge.needs_barrier() is None


def test_a_barrier_asked_too_early_does_not_count() -> None:
    """Something of the head's own millisecond could still have been appended after it."""
    merge = Merge(grace=GRACE)
    merge.offer(FIRST, records(FIRST, 5), 1.0)
    merge.barrier(SECOND, 0, 1.0 + GRACE / 2)
    assert taken(merge) == []
    assert merge.needs_barrier() == Ask(SECOND, 1.0 + GRACE)


def test_one_barrier_answers_for_every_head_that_came_before_it() -> None:
    """But not for one that came within the grace before it was asked."""
    merge = Merge(grace=GRACE)
    merge.offer(FIRST, [record(FIRST, 0, 1)], 1.0)
    merge.offer(FIRST, [record(FIRST, 1, 2)], 1.001)
    merge.offer(FIRST, [record(FIRST, 2, 3)], 1.002)
    merge.barrier(SECOND, 0, 1.0035)
    assert taken(merge, 1) == [(0, 1)]
    assert taken(merge) == [(0, 2)]
    assert merge.needs_barrier() == Ask(SECOND, 1.002 + GRACE)


def test_what_arrives_below_a_barrier_goes_first() -> None:
    """The barrier counts only once the other side was read up to it, and then its records are compared."""
    merge = Merge(grace=GRACE)
    merge.offer(FIRST, records(FIRST, 5), 1.0)
    merge.barrier(SECOND, 2, 2.0)
    merge.offer(SECOND, records(SECOND, 3, 4), 3.0)
    assert taken(merge) == [(1, 3), (1, 4), (0, 5)]


def test_an_answer_that_is_never_read_up_to_is_asked_for_again() -> None:
    """A leader that died may have named an end that nobody else has."""
    merge = Merge(grace=GRACE, patience=1.0)
    merge.offer(FIRST, records(FIRST, 5), 1.0)
    merge.barrier(SECOND, 9, 1.5)
    assert merge.needs_barrier() == Ask(SECOND, 2.5)
    merge.barrier(SECOND, 0, 2.5)
    assert taken(merge) == [(0, 5)]


def test_take_honours_its_limit() -> None:
    """Never more than asked for, and nothing is lost between calls."""
    merge = Merge()
    merge.offer(SECOND, records(SECOND, *range(0, 20, 2)), 0.0)
    merge.offer(FIRST, records(FIRST, *range(1, 21, 2)), 0.0)
    slices = [taken(merge, 3) for _ in range(7)]
    assert list(map(len, slices)) == [3, 3, 3, 3, 3, 3, 1]
    assert [time for one in slices for _, time in one] == list(range(19))


def test_the_second_sides_head_says_what_is_past() -> None:
    """Everything older than its head was taken; what bears the head's own time may be more than the head."""
    merge = Merge()
    assert not merge.is_past(0)
    merge.offer(SECOND, records(SECOND, 8, 8), 0.0)
    assert merge.past == 7
    assert merge.is_past(7)
    assert not merge.is_past(8)
    assert merge.next_offset(SECOND) == 0


def test_a_barrier_says_that_a_close_is_past() -> None:
    """An empty queue and a barrier that covers the record of that time, in whichever order they are known."""
    merge = Merge(grace=GRACE)
    merge.offer(FIRST, records(FIRST, 5), 1.0)
    merge.offer(SECOND, records(SECOND, 5), 1.0)
    assert taken(merge) == [(0, 5)]
    assert not merge.is_past(5)
    merge.barrier(SECOND, 1, 1.0 + GRACE)
    assert not merge.is_past(5)
    merge.consumed(FIRST, 1)
    merge.barrier(FIRST, 1, 1.0 + GRACE)
    assert taken(merge) == [(1, 5)]
    assert merge.is_past(5)
    assert merge.next_offset(SECOND) == 1


def test_a_close_that_is_waited_for_is_asked_about() -> None:
    """Also where no head waits for an answer, and for a record that was never offered."""
    merge = Merge(grace=GRACE)
    merge.want_past(5, 4.0)
    assert merge.needs_barrier() == Ask(SECOND, 4.0 + GRACE)
    merge.barrier(SECOND, 0, 4.0 + GRACE)
    assert merge.is_past(5)
    assert not merge.is_past(6)
    assert merge.needs_barrier() is None


@dataclass
class Simulation:
    """Two logs of one broker and a reader of both; elapsed time in microseconds, broker time in milliseconds."""

    merge: Merge = field(default_factory=lambda: Merge(grace=GRACE))
    now_us: int = 0
    logs: tuple[list[LogRecord], list[LogRecord]] = field(default_factory=lambda: ([], []))
    ends: list[int] = field(default_factory=lambda: [0, 0])
    positions: list[int] = field(default_factory=lambda: [0, 0])
    order: list[tuple[int, Record]] = field(default_factory=list)
    pasts: list[tuple[int, int, int]] = field(default_factory=list)
    pending: tuple[int, float, int] | None = None

    @property
    def now(self) -> float:
        """The reader's monotonic clock, seconds."""
        return self.now_us / 1e6

    def append(self, side: int) -> None:
        """A producer appends; the broker stamps."""
        self.logs[side].append(record(side, self.ends[side], self.now_us // 1000))
        self.ends[side] += 1

    def skip(self, side: int) -> None:
        """An offset without a record."""
        self.ends[side] += 1

    def deliver(self, side: int, count: int) -> None:
        """The reader is given the next records, or learns that the position passed a gap."""
        start = self.positions[side]
        came = [one for one in self.logs[side] if one.offset >= start][:count]
        self.positions[side] = came[-1].offset + 1 if came else self.ends[side]
        self.merge.offer(side, came, self.now)
        self.merge.consumed(side, self.positions[side])

    def ask(self) -> None:
        """Ask for an end if one is needed and due; the answer comes later and is the end of then."""
        ask = self.merge.needs_barrier()
        if self.pending is None and ask is not None and ask.not_before <= self.now:
            self.pending = (ask.side, self.now, self.ends[ask.side])

    def answer(self, *, late: bool) -> None:
        """The answer is the end at the question, or at the answer."""
        if self.pending is not None:
            side, asked_at, end = self.pending
            self.merge.barrier(side, self.ends[side] if late else end, asked_at)
            self.pending = None

    def take(self, limit: int) -> None:
        """Process what may be processed."""
        self.order += self.merge.take(limit)
        self.pasts.append((self.merge.past, self.merge.next_offset(SECOND), len(self.order)))

    def step(self, action: Sequence[int]) -> None:
        """One action, named by a number, with an argument."""
        kind, side, amount = action
        match kind:
            case 0 | 1:
                for _ in range(amount % 4 + 1):
                    self.append(side)
            case 2:
                self.skip(side)
            case 3 | 4:
                self.deliver(side, amount % 5 + 1)
            case 5:
                self.ask()
            case 6:
                self.answer(late=bool(side))
            case 7:
                self.take(amount % 7 + 1)
            case _:
                self.now_us += amount * 97

    def finish(self) -> None:
        """No producer appends any more: everything must go within a few rounds."""
        for _ in range(12):
            for side in (FIRST, SECOND):
                while self.positions[side] < self.ends[side]:
                    self.deliver(side, 1000)
            self.now_us += 2_000
            self.ask()
            self.answer(late=False)
            self.take(10_000)


actions = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1), st.integers(0, 30)), max_size=120)


@settings(max_examples=400, deadline=None)
@given(actions)
def test_any_schedule_gives_the_order_of_the_full_merge(schedule: list[tuple[int, int, int]]) -> None:
    """Whatever arrives when, everything is taken once, in the order that a reader of both whole logs would see."""
    simulation = Simulation()
    for action in schedule:
        simulation.step(action)
    simulation.finish()
    expected = sorted(
        ((side, one) for side in (FIRST, SECOND) for one in simulation.logs[side]),
        key=lambda pair: (pair[1].timestamp, pair[0], pair[1].offset),
    )
    assert simulation.order == expected


@settings(max_examples=400, deadline=None)
@given(actions)
def test_what_is_past_was_taken_and_stays_past(schedule: list[tuple[int, int, int]]) -> None:
    """No bet of a broker time that is past is ever taken later, nor any below the next offset."""
    simulation = Simulation()
    for action in schedule:
        simulation.step(action)
        if action[0] == 7:
            simulation.merge.want_past(simulation.merge.past + 1, simulation.now)
    simulation.finish()
    for past, next_offset, count in simulation.pasts:
        for side, one in simulation.order[count:]:
            if side == SECOND:
                assert one.timestamp > past
                assert one.offset >= next_offset
    pasts = [past for past, _, _ in simulation.pasts]
    assert pasts == sorted(pasts)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 8), st.integers(1, 9)), max_size=30),
)
def test_times_that_go_backwards_hold_nothing_up(
    first: list[int], second: list[int], schedule: list[tuple[int, int, int]]
) -> None:
    """After a change of leaders times may fall: each side stays in its offset order, each record goes once."""
    merge = Merge(grace=GRACE)
    logs = (records(FIRST, *first), records(SECOND, *second))
    given_up_to = [0, 0]
    order: list[tuple[int, object]] = []
    for side, count, limit in schedule:
        merge.offer(side, logs[side][given_up_to[side] : given_up_to[side] + count], 0.0)
        given_up_to[side] = min(len(logs[side]), given_up_to[side] + count)
        order += merge.take(limit)
    for side in (FIRST, SECOND):
        merge.offer(side, logs[side][given_up_to[side] :], 0.0)
        merge.barrier(side, len(logs[side]), 1.0)
    order += merge.take(1000)
    for side in (FIRST, SECOND):
        assert [one for which, one in order if which == side] == list(logs[side])
    assert merge.needs_barrier() is None
