"""How a play is to be: its size, its seed, and how much goes wrong in it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Mischief:
    """How often things go wrong: each a rate 0 .. 1, of bets, of rounds, or (duplicates) of all records."""

    duplicates: float = 0.0
    """Of all records: delivered again, byte for byte, now or up to a round later."""
    malformed: float = 0.0
    """Of bets: beside it a record that is no event, on any of the input topics."""
    conflicts: float = 0.0
    """Of bets: the same id with other content."""
    late_bets: float = 0.0
    unknown_rounds: float = 0.0
    cancels: float = 0.0
    """Of bets: taken back in time; sometimes twice."""
    late_cancels: float = 0.0
    early_cancels: float = 0.0
    """Of bets: the cancel comes before its bet."""
    foreign_cancels: float = 0.0
    """Of bets: another account tries to take it back."""
    overdrafts: float = 0.0
    other_currencies: float = 0.0
    photo_finishes: float = 0.0
    transfers: float = 0.0
    """Of bets: a deposit or withdrawal, now and then one too large, in another currency, or with the id of another."""
    repeated_cards: float = 0.0
    """Of rounds, as all below."""
    any_order: float = 0.0
    """The cards come in any order."""
    second_closes: float = 0.0
    pauses: float = 0.0
    strays: float = 0.0
    seat_conflicts: float = 0.0
    corrections: float = 0.0
    """A card is corrected before the round is complete."""
    ninth_copies: float = 0.0
    cancelled_open: float = 0.0
    """Cancelled before the close."""
    cancelled_closed: float = 0.0
    """Cancelled after the close, before it is complete."""
    stalled: float = 0.0
    """The last card comes only when the next round is open."""
    forgotten_cut_cards: float = 0.0
    """Of shoes: no cut card is ever drawn, until a 417th card is dealt."""
    corrections_after_settlement: float = 0.0
    cancels_after_settlement: float = 0.0
    spent_before_correction: float = 0.0
    """Of the rounds that are corrected or cancelled after settlement: before it, some draw out all they have."""

    def __post_init__(self) -> None:
        """Refuse what is no rate.

        Raises:
            ValueError: naming the rate.
        """
        for rate in fields(self):
            value = getattr(self, rate.name)
            if not 0 <= value <= 1:
                raise ValueError(f"{rate.name} is {value}, a rate is 0 .. 1")

    @classmethod
    def at(cls, scale: float) -> Mischief:
        """Everything but what comes after a settlement, as often as `scale` (0 .. 1) says; 0.1 is a bad night.

        Raises:
            ValueError: when the scale is not 0 .. 1.

        >>> Mischief.at(0.5).late_bets
        0.1
        >>> Mischief.at(2)
        Traceback (most recent call last):
        ValueError: mischief is 2, it is 0 .. 1
        """
        if not 0 <= scale <= 1:
            raise ValueError(f"mischief is {scale}, it is 0 .. 1")
        of_bets, of_rounds = 0.2 * scale, 0.5 * scale
        small = 0.25 * of_bets
        return cls(
            duplicates=of_bets,
            malformed=small,
            conflicts=small,
            late_bets=of_bets,
            unknown_rounds=small,
            cancels=of_bets,
            late_cancels=small,
            early_cancels=small,
            foreign_cancels=small,
            overdrafts=small,
            other_currencies=small,
            photo_finishes=small,
            transfers=of_bets,
            repeated_cards=of_rounds,
            any_order=of_rounds,
            second_closes=of_rounds,
            pauses=of_rounds,
            strays=of_rounds,
            seat_conflicts=0.25 * of_rounds,
            corrections=0.25 * of_rounds,
            ninth_copies=0.25 * of_rounds,
            cancelled_open=0.1 * of_rounds,
            cancelled_closed=0.1 * of_rounds,
            stalled=0.25 * of_rounds,
            forgotten_cut_cards=0.1 * of_rounds,
        )

    def with_corrections(self, share: float) -> Mischief:
        """The same, and about that share of the rounds (0 .. 1) corrected or cancelled after their settlement.

        Three in five are corrected, some of them twice, the others cancelled; before a third the winnings are spent.

        Raises:
            ValueError: when the share is not 0 .. 1.

        >>> QUIET.with_corrections(0.1).cancels_after_settlement
        0.04
        """
        if not 0 <= share <= 1:
            raise ValueError(f"corrections is {share}, it is 0 .. 1")
        return replace(
            self,
            corrections_after_settlement=round(0.6 * share, 6),
            cancels_after_settlement=round(0.4 * share, 6),
            spent_before_correction=0.3 if share else 0.0,
        )


QUIET = Mischief()
"""Nothing goes wrong."""

STARTS_AT_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: where the clock of a play begins unless it is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A play. The same play makes the same bytes, for ever.

    Tables, accounts and their currencies are the same in every play; the ids of rounds, shoes, bets and transfers carry
    the seed, so that plays of other seeds may follow on the same topics.
    """

    tables: int = 8
    rounds: int = 10
    """Of each table."""
    accounts: int = 500
    bets_per_round: int = 20
    """About so many of each round."""
    seed: int = 1
    mischief: Mischief = field(default=QUIET)
    starts_at_ms: int = STARTS_AT_MS
    """Milliseconds since the epoch: the first `occurred_at`."""
    beat_ms: int = 4_000
    """How long a beat lasts in the play's own time; a round has eight."""
    is_staggered: bool = True
    """Tables open one after the other, as in life; False: all at once, and all close at once."""
    puts_money_in: bool = True
    """Begin with a deposit for every account."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played.

        Raises:
            ValueError: naming the number and its limit.
        """
        for name, least in (("tables", 1), ("rounds", 1), ("accounts", 2), ("bets_per_round", 0), ("seed", 0)):
            value = getattr(self, name)
            if value < least:
                raise ValueError(f"{name} is {value}, it must be {least} or more")
