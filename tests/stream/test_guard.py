"""One call of the listener at a time, none after the first failure."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pokdeng.stream.guard import Guard
from pokdeng.stream.port import Assignment, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pokdeng.stream.port import Record

ONE = Assignment(partitions=frozenset([TopicPartition("bets", 0)]), generation=1)


class Slow:
    """A listener whose `revoked` waits to be let go."""

    def __init__(self) -> None:
        """Nothing was called."""
        self.calls: list[str] = []
        self.may_go = asyncio.Event()
        self.is_in_revoked = asyncio.Event()

    async def assigned(self, assignment: Assignment) -> None:
        """Keep the generation."""
        self.calls.append(f"assigned {assignment.generation}")

    async def revoked(self) -> None:
        """Wait."""
        self.calls.append("revoked")
        self.is_in_revoked.set()
        await self.may_go.wait()

    def arrived(self, partition: TopicPartition, records: Sequence[Record]) -> None:  # noqa: ARG002 - fails anyhow
        """Fail."""
        raise ZeroDivisionError


async def revoked_twice(listener: Slow) -> tuple[Guard, list[asyncio.Task[None]]]:
    """A guard whose assignment is being revoked, by the first of two that ask for it."""
    guard = Guard(listener)
    guard.assign(ONE)
    await guard.ready.wait()
    revoking = [asyncio.create_task(guard.revoke()) for _ in range(2)]
    await listener.is_in_revoked.wait()
    return guard, revoking


def test_nothing_may_be_delivered_once_revoking_began() -> None:
    """`ready` falls before the listener is called, and a second revocation waits for the first."""

    async def scenario() -> None:
        listener = Slow()
        guard, revoking = await revoked_twice(listener)
        assert not guard.ready.is_set()
        assert not any(task.done() for task in revoking)
        listener.may_go.set()
        await asyncio.gather(*revoking)
        assert listener.calls == ["assigned 1", "revoked"]
        assert guard.owned is None

    asyncio.run(scenario())


def test_the_first_failure_is_the_one_that_is_raised() -> None:
    """Later ones follow from it; nothing is called any more."""

    async def scenario() -> None:
        listener = Slow()
        guard = Guard(listener)
        guard.assign(ONE)
        await guard.ready.wait()
        guard.arrive(TopicPartition("bets", 0), [])
        guard.fail(KeyError("later"))
        assert guard.is_over
        assert guard.has_failed
        guard.assign(ONE)
        await guard.revoke()
        with pytest.raises(ZeroDivisionError):
            await guard.wait()
        assert listener.calls == ["assigned 1"]

    asyncio.run(scenario())


def test_a_closed_guard_did_not_fail() -> None:
    """Stopping is no error."""

    async def scenario() -> None:
        guard = Guard(Slow())
        guard.close()
        await guard.wait()
        assert not guard.has_failed

    asyncio.run(scenario())


class Deaf(Slow):
    """One whose `assigned` comes to its end although it is cancelled, as where a library swallows that."""

    async def assigned(self, assignment: Assignment) -> None:
        """Be late."""
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.calls.append(f"assigned {assignment.generation} all the same")


def test_what_is_recovered_while_it_is_revoked_is_not_delivered_to() -> None:
    """A cancellation that got lost in a library makes nothing ready: the records would come to nobody."""

    async def scenario() -> None:
        listener = Deaf()
        guard = Guard(listener)
        guard.assign(ONE)
        await asyncio.sleep(0)
        revoking = asyncio.create_task(guard.revoke())
        await listener.is_in_revoked.wait()
        assert not guard.ready.is_set()
        listener.may_go.set()
        await revoking
        assert listener.calls == ["assigned 1 all the same", "revoked"]
        assert not guard.ready.is_set()
        assert guard.owned is None

    asyncio.run(scenario())


def test_what_is_assigned_while_something_is_revoked_is_owned_after_it() -> None:
    """In order; and a revocation that waited was of what had been owned before, so it leaves that alone."""

    async def scenario() -> None:
        listener = Slow()
        guard, revoking = await revoked_twice(listener)
        two = Assignment(partitions=ONE.partitions, generation=2)
        guard.assign(two)
        await asyncio.sleep(0.01)
        assert listener.calls == ["assigned 1", "revoked"]
        listener.may_go.set()
        await asyncio.gather(*revoking)
        await guard.ready.wait()
        assert listener.calls == ["assigned 1", "revoked", "assigned 2"]
        assert guard.owned is two

    asyncio.run(scenario())
