"""Two partitions read as one, by broker time: which record may be processed now, and what must be asked first.

Pure: no I/O and no clock; times of this machine are passed in as seconds of a monotonic clock, broker times are
milliseconds and compared with each other only. One `Merge` a co-partition. Side 0 comes first at equal broker times.

The head of one side may go while the other side is empty only when it is *known* that the other holds nothing older:
its log end, asked for at least `grace` after that head arrived, has been read up to. Such an answered question is a
*barrier*; one answers for every head that arrived at least `grace` before it was asked.

The way to use it, for each merge of a worker:

    merge.offer(side, records, now)            # in Listener.arrived
    merge.consumed(side, log.position(...))    # before take: gaps in the log move the position without a record
    for side, record in merge.take(limit): ...
    ask = merge.needs_barrier()                # None, or: ask for that side's end, not before that moment
    merge.barrier(ask.side, end, asked_at)     # asked_at: the moment just before the question was sent
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream.port import Record

FIRST: Final = 0
"""The side that comes first at equal broker times (table events)."""
SECOND: Final = 1
"""The side that comes second at equal broker times (bets)."""

_NEVER: Final = float("-inf")


class Ask(NamedTuple):
    """A side's log end is to be asked for, `not_before` that moment of the monotonic clock (it may have passed)."""

    side: int
    not_before: float


class Merge:
    """Two queues of records and what is known about what lies beyond them.

    Args:
        grace: seconds between a head's arrival and a question that counts for it, so that nothing of the head's own
            millisecond can still be appended.
        patience: seconds after which a question whose answer is not read up to is asked again: the leader that
            answered may have died with records that nobody else has.
    """

    __slots__ = ("_arrivals", "_asked", "_ends", "_grace", "_marks", "_past", "_patience", "_positions", "_queues",
                 "_reached", "_taken", "_wanted", "_wanted_from")  # fmt: skip

    def __init__(self, *, grace: float = 0.002, patience: float = 1.0) -> None:
        """An empty merge that knows nothing of either side."""
        self._grace = grace
        self._patience = patience
        self._queues: tuple[deque[Record], deque[Record]] = (deque(), deque())
        # Per side and slice still queued: (count of records offered up to and with it, from when on a question counts).
        self._marks: tuple[deque[tuple[int, float]], deque[tuple[int, float]]] = (deque(), deque())
        self._taken = [0, 0]
        self._positions = [0, 0]
        # Per side: answered questions not read up to yet (end, asked at), the moment of the latest that is, of any.
        self._ends: tuple[deque[tuple[int, float]], deque[tuple[int, float]]] = (deque(), deque())
        self._reached = [_NEVER, _NEVER]
        self._asked = [_NEVER, _NEVER]
        # What `past` is made of: slices of the first side (from when on a question counts, latest broker time) that no
        # barrier covers yet.
        self._arrivals: deque[tuple[float, int]] = deque()
        self._past = -1
        self._wanted = -1
        self._wanted_from = _NEVER

    def offer(self, side: int, records: Sequence[Record], arrived_at: float) -> None:
        """Queue records of one side, in offset order, that arrived together."""
        if not records:
            return
        queue = self._queues[side]
        queue.extend(records)
        counts_from = arrived_at + self._grace
        self._marks[side].append((self._taken[side] + len(queue), counts_from))
        if side == FIRST:
            self._arrivals.append((counts_from, max(record.timestamp for record in records)))
        self.consumed(side, records[-1].offset + 1)

    def consumed(self, side: int, position: int) -> None:
        """All records of that side below `position` were offered or never will be. Lower positions change nothing."""
        if position <= self._positions[side]:
            return
        self._positions[side] = position
        self._reach(side)

    def barrier(self, side: int, end: int, asked_at: float) -> None:
        """The log end of `side` was `end` at some instant after `asked_at`."""
        self._asked[side] = max(self._asked[side], asked_at)
        self._ends[side].append((end, asked_at))
        self._reach(side)

    def needs_barrier(self) -> Ask | None:
        """Which side's end must be asked for and from when on; None: nothing waits for an answer.

        Never more than one side at a time. A question that was answered but is not read up to yet is named again with
        the moment at which patience ends: look again then, or when records arrive.
        """
        first, second = self._queues
        if first and not second:
            return self._ask(SECOND, self._head_counts_from(FIRST))
        if second and not first:
            return self._ask(FIRST, self._head_counts_from(SECOND))
        if not first and self._wanted > self.past:
            return self._ask(SECOND, self._wanted_from)
        return None

    def take(self, limit: int) -> list[tuple[int, Record]]:
        """Up to `limit` records that may be processed now, with their side, in order; they leave the queues."""
        out: list[tuple[int, Record]] = []
        add = out.append
        first, second = self._queues
        pop_first, pop_second = first.popleft, second.popleft
        waiting = (len(first), len(second))
        left = limit
        while left > 0 and first and second:
            record = first[0]
            time = record.timestamp
            other = second[0]
            # Runs of one side are the rule; each inner loop holds the other side's head still.
            while left > 0 and other.timestamp < time:
                add((SECOND, pop_second()))
                left -= 1
                if not second:
                    break
                other = second[0]
            else:
                time = other.timestamp
                while left > 0 and record.timestamp <= time:
                    add((FIRST, pop_first()))
                    left -= 1
                    if not first:
                        break
                    record = first[0]
        self._took(FIRST, waiting[FIRST] - len(first))
        self._took(SECOND, waiting[SECOND] - len(second))
        if left > 0 and first:
            self._take_covered(FIRST, left, out)
        elif left > 0 and second:
            self._take_covered(SECOND, left, out)
        return out

    @property
    def past(self) -> int:
        """The broker time up to which, itself included, the second side has nothing left: all of it was taken.

        Never goes back. Known from the second side's head, or by a barrier from the broker times of the first side's
        records that it covers. -1 where nothing is known.
        """
        second = self._queues[SECOND]
        if second:
            self._past = max(self._past, second[0].timestamp - 1)
        arrivals = self._arrivals
        reached = self._reached[SECOND]
        while arrivals and (arrivals[0][1] <= self._past or (arrivals[0][0] <= reached and not second)):
            self._past = max(self._past, arrivals.popleft()[1])
        if self._wanted > self._past and not second and self._wanted_from <= reached:
            self._past = self._wanted
        return self._past

    def is_past(self, timestamp: int) -> bool:
        """Whether every record of the second side with a broker time <= `timestamp` is known to have been taken."""
        return timestamp <= self.past

    def want_past(self, timestamp: int, known_at: float) -> None:
        """Have `needs_barrier` ask, if need be, until `is_past(timestamp)`.

        For a broker time that some record bears (a close) which was known at `known_at`: it may be of a record that was
        never offered here, for example one read again from an earlier part of the log.
        """
        if timestamp > self._wanted:
            self._wanted = timestamp
            self._wanted_from = known_at + self._grace

    def next_offset(self, side: int) -> int:
        """The offset of that side's next record, if there is one already; else of what will be appended next.

        With the second side: every record below was taken. So it is a round's seal at the moment its close `is_past`,
        unless a record later than the close was taken before.
        """
        queue = self._queues[side]
        return queue[0].offset if queue else self._positions[side]

    def waiting(self, side: int) -> int:
        """How many records of that side are queued."""
        return len(self._queues[side])

    def _head_counts_from(self, side: int) -> float:
        return self._marks[side][0][1]

    def _ask(self, side: int, not_before: float) -> Ask | None:
        if self._reached[side] >= not_before:
            return None
        if self._asked[side] >= not_before:
            not_before = self._asked[side] + self._patience
        return Ask(side, not_before)

    def _reach(self, side: int) -> None:
        ends, position = self._ends[side], self._positions[side]
        # Ends asked for later are higher, unless a leader died; then any that is read up to will do.
        for end, asked_at in ends:
            if end <= position and asked_at > self._reached[side]:
                self._reached[side] = asked_at
        reached = self._reached[side]
        while ends and ends[0][1] <= reached:
            ends.popleft()

    def _took(self, side: int, count: int) -> None:
        self._taken[side] += count
        taken, marks = self._taken[side], self._marks[side]
        while marks and marks[0][0] <= taken:
            marks.popleft()

    def _take_covered(self, side: int, limit: int, out: list[tuple[int, Record]]) -> None:
        """Take what a barrier of the other, empty side answers for."""
        reached = self._reached[1 - side]
        up_to = self._taken[side]
        for count, counts_from in self._marks[side]:
            if counts_from > reached:
                break
            up_to = count
        count = min(limit, up_to - self._taken[side])
        pop = self._queues[side].popleft
        out.extend([(side, pop()) for _ in range(count)])
        self._took(side, count)
