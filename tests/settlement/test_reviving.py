"""Finished rounds folded again: in few reads, each with its own events only."""

from __future__ import annotations

import asyncio
import json

import pytest

from pokdeng.events.ids import RoundId, TableId
from pokdeng.settlement.reviving import GAP_RECORDS, Bygone, stretches_of
from pokdeng.wire import TopicKind
from tests.settlement.lives import forgotten, noted_only
from tests.settlement.scene import scene
from tests.settlement.table_talk import FIVE_ACCOUNTS, S1_R1
from tests.settlement.test_finished import a_round

OVERLAPPING = f"""
    {S1_R1}
    bet b1 A-1 player_1 1000
    close R-1
    deal R-1 W but banker 2
    open R-2
    bet b2 A-2 player_1 1000 of R-2
    card R-1 banker 2 3d
    close R-2
    open R-3
    deal R-2 W
"""


def bygone(start: int, end: int, name: str = "R-1") -> Bygone:
    """A round between two offsets."""
    finished = a_round()
    changed = type(finished)(
        **{field: getattr(finished, field) for field in finished.__struct_fields__}
        | {"first_event": start, "settled_event": end - 1}
    )
    return Bygone(0, TableId("T-1"), RoundId(name), changed, [], 0)


def test_rounds_that_lie_near_each_other_are_read_in_one_stretch() -> None:
    """Overlapping, one in the other, or with a small gap; not across a large one."""
    near, inside, far = bygone(100, 500), bygone(200, 300), bygone(500 + GAP_RECORDS, 6_000)
    beyond = bygone(6_001 + GAP_RECORDS, 20_000)
    assert stretches_of([beyond, far, inside, near]) == [[near, inside, far], [beyond]]
    assert stretches_of([]) == []


@pytest.mark.parametrize("life", [forgotten, noted_only])
def test_overlapping_rounds_corrected_at_once_take_their_own_events(life: object) -> None:
    """What came for one of them after its end lies among the other's: it is judged, not taken for known."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(OVERLAPPING)
            await played.play("void R-3")
            await life(played)  # type: ignore[operator]  # a life
            await played.play("correct R-1 player_1 1 2c\ncorrect R-2 player_1 1 2c\nvoid R-1")
            assert await played.balance("A-1") == "10000/0/7"
            assert await played.balance("A-2") == "9000/0/5"

    asyncio.run(play())


def test_a_correction_tells_the_cards_of_its_own_shoe() -> None:
    """Those of an open round of another shoe are not among them: whoever restores a ledger knows the old shoe by it."""

    async def play() -> None:
        async with scene() as played:
            await played.play(f"{S1_R1}\nclose R-1\ndeal R-1 W")
            await played.play("shoe S-2 3h\nopen R-2 in S-2\ncard R-2 player_1 1 7s\ncorrect R-1 player_1 1 2c")
            told = json.loads(dict(played.line.records(TopicKind.ROUNDS)[-1].headers)["pokdeng-resume"])
            assert (told["revision"], told["shoe"][0], told["shoe"][3]) == (2, "S-1", 3 + 1 + 12)
            assert "7s" not in str(told)

    asyncio.run(play())


CARD_OF = """{"type":"card_dealt","event_id":"odd","occurred_at":"2026-01-01T12:00:00Z","table_id":"TABLE",
"round_id":"R-1","seat":"banker","position":2,"card":"7s"}""".replace("\n", "")


@pytest.mark.parametrize("life", [forgotten, noted_only])
def test_a_record_under_another_tables_key_is_no_event_of_a_round_that_is_folded_again(life: object) -> None:
    """It was a dead letter, and lies among the events of the round that its key names, or that it names itself."""

    async def play() -> None:
        async with scene() as played:
            await played.play(FIVE_ACCOUNTS)
            await played.play(f"{S1_R1}\nbet b1 A-1 player_1 1000")
            await played.play("shoe S-1 2h at T-2\nopen R-1 in S-1 at T-2\nbet b2 A-2 player_1 1000 at T-2")
            await played.play(f"raw table-events T-1 {CARD_OF.replace('TABLE', 'T-2')}")
            await played.play(f"raw table-events T-2 {CARD_OF.replace('TABLE', 'T-1')}")
            await played.play("close R-1\ndeal R-1 W\nclose R-1 at T-2\ndeal R-1 W at T-2")
            await life(played)  # type: ignore[operator]  # a life
            await played.play("correct R-1 player_1 1 2c")
            assert await played.balance("A-1") == "9000/0/5"
            await life(played)  # type: ignore[operator]  # a life
            await played.play("correct R-1 player_1 1 2s\ncorrect R-1 player_1 1 2c at T-2\ncard R-1 banker 2 7s #odd")
            assert await played.balance("A-1") == "9000/0/7"
            assert await played.balance("A-2") == "9000/0/5"
            assert [fact.split()[-1] for fact in played.facts() if fact.startswith("dead")] == [
                "key_mismatch", "key_mismatch", "seat_conflict",
            ]  # fmt: skip

    asyncio.run(play())
