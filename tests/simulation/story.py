"""What happened in a world, as a text for people, and how to play it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokdeng.simulator import QUIET
from tests.simulation.faults import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.simulation.faults import Fired
    from tests.simulation.inputs import Spec
    from tests.simulation.world import Outcome

_SHOWN = 5
_LASTS_SHORT = frozenset({Kind.LEDGER_LATE, Kind.LOG_LATE, Kind.LOG_DOWN, Kind.THROW_OUT})
_LASTS_LONG = frozenset({Kind.FREEZE, Kind.LOG_HIDES})


def setting(spec: Spec) -> str:
    """A world in a sentence."""
    play = spec.play
    mischief = "no mischief" if play.mischief == QUIET else f"mischief (late bets {play.mischief.late_bets:.2f})"
    return (
        f"seed {spec.seed}: {play.tables} tables, {play.rounds} rounds of about {play.bets_per_round} bets, "
        f"{play.accounts} accounts, {mischief}; {spec.partitions} partitions, {spec.buckets} buckets, "
        f"{spec.workers} workers at first, slices of {spec.slice_records}, beats of {play.beat_ms} ms"
    )


def line(fired: Fired) -> str:
    """A fault that happened, as a line."""
    fault = fired.fault
    lasts = ""
    if fault.kind in _LASTS_SHORT:
        lasts = f" for {fault.short_s:g} s"
    elif fault.kind in _LASTS_LONG:
        lasts = f" for {fault.long_s:g} s"
    return f"{fired.at_s:10.4f} s  {fault.kind.value}{lasts}: {fired.whom}  [{fault.site} {fault.nth}]"


def story(spec: Spec, outcome: Outcome, shrunk: Outcome | None = None) -> str:
    """All of it: the world, what was found, what went wrong, and the fewest faults that are enough."""
    lines = [setting(spec), *_found(outcome.findings), f"  {len(outcome.fired)} faults:"]
    lines += [f"    {line(fired)}" for fired in outcome.fired]
    if shrunk is not None:
        lines.append(f"  {len(shrunk.fired)} of them are enough:")
        lines += [f"    {line(fired)}" for fired in shrunk.fired]
        lines += _found(shrunk.findings)
    lines.append(f"  again: make faults SEED={spec.seed}")
    return "\n".join(lines)


def _found(findings: Sequence[str]) -> Iterable[str]:
    yield from (f"  found: {finding}" for finding in findings[:_SHOWN])
    if len(findings) > _SHOWN:
        yield f"  and {len(findings) - _SHOWN} more"
