"""Bad input, twenty thousand records of it; a million more with `make fuzz`."""

from __future__ import annotations

import pytest

from tests.fuzz.runs import RECORDS_A_RUN, fuzz_decoder, fuzz_worker
from tests.support.fresh import fresh_seed

SEEDS = (1, fresh_seed())
"""One that is always the same, and one that is new each time: it is the name of the test."""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_decoder_finds_the_one_right_end_of_every_record(seed: int) -> None:
    """An event, or the reason that an independent reading of the contract finds."""
    fuzzed = fuzz_decoder(seed, RECORDS_A_RUN)
    assert not fuzzed.findings, fuzzed.findings[:5]
    assert fuzzed.ends["event"] > RECORDS_A_RUN // 3
    assert set(fuzzed.ends) >= {
        "tombstone",
        "too_large",
        "not_json",
        "unknown_type",
        "not_an_event",
        "key_mismatch",
        "wrong_partition",
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_no_record_stops_the_worker_or_moves_what_it_must_not(seed: int) -> None:
    """Each ends as a fact, a dead letter or a counted duplicate, and every balance is as the inputs alone say."""
    fuzzed = fuzz_worker(seed, RECORDS_A_RUN)
    assert not fuzzed.findings, fuzzed.findings[:5]
    assert fuzzed.ends["bet_accepted"] > RECORDS_A_RUN // 100
    assert fuzzed.ends["bet_settled"] > 0
    assert fuzzed.ends["duplicates"] > 0
    if seed == SEEDS[0]:  # another may have no round whose correction survives what is done to records
        assert fuzzed.ends["bet_reversed"] > 0
