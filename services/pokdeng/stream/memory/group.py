"""A consumer group: members, generations, eager rebalances, committed offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.stream.port import Assignment, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Member:
    """One member as its group sees it. `wake` tells it to look at `must_revoke` and `offered`."""

    def __init__(
        self, name: str, copartitioned: tuple[str, ...], others: tuple[str, ...], wake: Callable[[], None]
    ) -> None:
        """Not in the group yet."""
        self.name = name
        self.copartitioned = copartitioned
        self.others = others
        self.wake = wake
        self.owned: Assignment | None = None
        self.offered: Assignment | None = None
        self.must_revoke = False


class Group:
    """Members share partitions: of co-partitioned topics, those with the same number go to the same member.

    Each rebalance is eager: everything is revoked everywhere, and when the last owner has let go, everything is shared
    anew in the order of joining, in the next generation.
    """

    def __init__(self, topics: Callable[[], Mapping[str, int]]) -> None:
        """No members; `topics` says how many partitions each topic has."""
        self._topics = topics
        self._members: list[Member] = []
        self._holding: list[Member] = []
        self.generation = 0
        self.committed: dict[TopicPartition, int] = {}

    def join(self, member: Member) -> None:
        """Add a member; it is offered its share when all have let go."""
        if member not in self._members:
            self._members.append(member)
        self._rebalance()

    def leave(self, member: Member) -> None:
        """Take a member out, whether it knows or not; what it owned goes to the others."""
        if member not in self._members:
            return
        self._members.remove(member)
        member.offered = None
        if member in self._holding:
            self.released(member)
        else:
            self._rebalance()

    def released(self, member: Member) -> None:
        """A member has let go of what it owned."""
        member.owned = None
        member.must_revoke = False
        if member in self._holding:
            self._holding.remove(member)
            if not self._holding:
                self._share()

    def accept(self, member: Member) -> Assignment | None:
        """A member takes what it is offered, if anything."""
        offered, member.offered = member.offered, None
        if offered is not None:
            member.owned = offered
        return offered

    def commit(self, member: Member, offsets: Mapping[TopicPartition, int]) -> bool:
        """Keep offsets of a member's own partitions; False where they are no longer its own."""
        owned = member.owned
        # The generation rises only when nobody owns anything: who is in the group and owns, owns in this generation.
        if owned is None or member not in self._members:
            return False
        if not owned.partitions.issuperset(offsets):
            return False
        self.committed.update(offsets)
        return True

    def _rebalance(self) -> None:
        if self._holding:  # one is under way; who joined meanwhile shares in it
            return
        for member in self._members:
            member.offered = None
        self._holding = [member for member in self._members if member.owned is not None]
        for member in list(self._holding):
            member.must_revoke = True
            member.wake()
        if not self._holding:
            self._share()

    def _share(self) -> None:
        self.generation += 1
        shares: list[set[TopicPartition]] = [set() for _ in self._members]
        counts = self._topics()
        names = {name for member in self._members for name in (*member.copartitioned, *member.others)}
        for name in sorted(names):
            for number in range(counts.get(name, 0)):
                takers = [i for i, m in enumerate(self._members) if name in m.copartitioned or name in m.others]
                shares[takers[number % len(takers)]].add(TopicPartition(name, number))
        for member, share in zip(self._members, shares, strict=True):
            member.offered = Assignment(partitions=frozenset(share), generation=self.generation)
            member.wake()
