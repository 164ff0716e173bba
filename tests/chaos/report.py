"""What a storm came to, as text: the figures, and each promise that was broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.chaos.checkpoints import is_wrong
from tests.chaos.storm import KILLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.chaos.run import Plan
    from tests.chaos.storm import Happened
    from tests.chaos.watch import Stall
    from tests.checker.report import Report

_LOST = ("was never said", "and is none")
_DOUBLE = ("must not have been said", "again in other bytes", "in other bytes", "has the sequences", "two seals")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaosReport:
    """Everything about one run."""

    plan: Plan
    checked: Report
    faults: Counter[str]
    happened: Sequence[Happened]
    sent_bets: int
    longest: Stall
    ends: Counter[int]
    errors: Counter[str]
    checkpoints: Counter[str]
    """How the writers of checkpoints ended."""

    @property
    def is_clean(self) -> bool:
        """Whether all promises hold; but for holes in a sequence after Redis has lost what it acknowledged.

        A movement that was applied, never said, and lost with Redis leaves one: docs/reliability.md, "Known limits".
        Books that did not balance for the writer of a checkpoint are a broken promise, too, and so is one that crashed.
        """
        known = self.checked.counts["holes"] if self.plan.is_lossy else 0
        return self.checked.counts["findings"] == known and not any(map(is_wrong, self.checkpoints))

    @property
    def harm(self) -> Counter[str]:
        """What was found, as lost, double or wrong."""
        found: Counter[str] = Counter({"lost": 0, "double": 0, "wrong": 0, "accounts with a hole": 0})
        for finding in self.checked.findings:
            if "has a hole in its sequence" in finding:
                found["accounts with a hole"] += 1
            elif any(words in finding for words in _LOST):
                found["lost"] += 1
            elif any(words in finding for words in _DOUBLE):
                found["double"] += 1
            else:
                found["wrong"] += 1
        return found

    @property
    def _when(self) -> str:
        return f"at {self.longest.at_s:.0f} s" + (f" ({self.longest.during})" if self.longest.during else "")

    def __str__(self) -> str:
        """For people."""
        counts, plan = self.checked.counts, self.plan
        decided = counts["bet_accepted"] + counts["bet_rejected"]
        settled = counts["bet_settled"] + counts["bet_refunded"]
        kills = sum(number for kind, number in self.faults.items() if kind in KILLS)
        lines = [
            "",
            f"seed {plan.seed}, {plan.brokers} brokers, {plan.workers} workers, traffic over {plan.seconds} s",
            f"{'kills (-9)':<34}{kills:>10,}",
            f"{'faults':<34}{self.faults.total():>10,}",
            *(f"  {kind:<32}{number:>10,}" for kind, number in sorted(self.faults.items(), key=lambda one: -one[1])),
            f"{'bets sent':<34}{self.sent_bets:>10,}",
            f"{'records in':<34}{sum(counts[kind] for kind in ('bets', 'table-events', 'funds')):>10,}",
            f"{'bets decided':<34}{decided:>10,}",
            f"{'  accepted':<34}{counts['bet_accepted']:>10,}",
            f"{'bets settled or refunded':<34}{settled:>10,}",
            f"{'bets reversed':<34}{counts['bet_reversed']:>10,}",
            f"{'rounds said':<34}{counts['round_settled'] + counts['round_refunded']:>10,}",
            f"{'dead letters':<34}{counts['dead letters']:>10,}",
            f"{'duplicates taken':<34}{self.checked.duplicates.total():>10,}",
            f"{'said again, same bytes':<34}{counts['copies']:>10,}",
            f"{'bets behind a seal':<34}{counts['bets behind a seal']:>10,}",
            f"{'longest time without a fact':<34}{self.longest.lasted_s:>9.1f}s  {self._when}",
            f"{'workers ended':<34}"
            + ", ".join(f"{number} x {status}" for status, number in sorted(self.ends.items())),
            *(f"  {number:>4} x {error}" for error, number in self.errors.most_common(12)),
            f"{'checkpoints':<34}" + ", ".join(f"{number} {how}" for how, number in self.checkpoints.most_common()),
            "",
            *(f"{name:<34}{number:>10,}" for name, number in self.harm.items()),
        ]
        for currency, book in sorted(self.checked.books.items()):
            rest = book["deposits"] - book["withdrawals"] - book["house_net"]
            difference = book["available"] + book["held"] - rest
            lines.append(f"{f'books, {currency}: difference':<34}{difference:>10,}  {book}")
        lines += [finding[:300] for finding in self.checked.findings[:20]]
        return "\n".join(lines)
