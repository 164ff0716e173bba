"""What the house takes: the settings file, read and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pokdeng.rules import STAKE_MAX
from pokdeng.settlement.limits import InvalidLimitsError, Limits, load_limits

if TYPE_CHECKING:
    from pathlib import Path

HOUSE = """
[currencies.THB]
stake_min = 1000
stake_max = 50_000_000

[currencies.THB.tables.T-VIP]
stake_max = 5_000_000_000

[currencies.JPY]
"""


def limits_of(folder: Path, text: str | bytes) -> Limits:
    """The limits that a file of this text sets."""
    path = folder / "limits.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_limits(path)


def test_without_a_file_everything_of_the_contract_is_taken() -> None:
    """Every currency, stakes of 1 .. 10^12."""
    limits = load_limits(None)
    assert limits.currencies is None
    assert limits.takes_currency("XYZ")
    assert limits.takes_stake("T-1", "XYZ", 1)
    assert limits.takes_stake("T-1", "XYZ", STAKE_MAX)
    assert limits.digest == "none"


def test_with_a_file_only_its_currencies_are_taken(tmp_path: Path) -> None:
    """Deposits in others are not."""
    limits = limits_of(tmp_path, HOUSE)
    assert limits.currencies == ("JPY", "THB")
    assert [limits.takes_currency(code) for code in ("THB", "JPY", "EUR")] == [True, True, False]


@pytest.mark.parametrize(
    ("table", "currency", "stake", "is_taken"),
    [
        ("T-1", "THB", 999, False),
        ("T-1", "THB", 1000, True),
        ("T-1", "THB", 50_000_000, True),
        ("T-1", "THB", 50_000_001, False),
        ("T-VIP", "THB", 999, False),
        ("T-VIP", "THB", 5_000_000_000, True),
        ("T-VIP", "THB", 5_000_000_001, False),
        ("T-1", "JPY", 1, True),
        ("T-1", "JPY", STAKE_MAX, True),
        ("T-1", "EUR", 1, True),
    ],
)
def test_ends_are_included_and_tables_may_differ(
    tmp_path: Path, table: str, currency: str, stake: int, *, is_taken: bool
) -> None:
    """What a table does not say is its currency's; in another currency no account can have money to bet."""
    assert limits_of(tmp_path, HOUSE).takes_stake(table, currency, stake) is is_taken


def test_the_digest_names_the_file(tmp_path: Path) -> None:
    """The same text has the same digest, another text another one."""
    first = limits_of(tmp_path, HOUSE).digest
    assert first == limits_of(tmp_path, HOUSE).digest
    assert first != limits_of(tmp_path, HOUSE + "\n").digest
    assert len(first) == 16


def test_strangers_table_ids_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Ranges are remembered within bounds, and stay right beyond them."""
    limits = limits_of(tmp_path, HOUSE)
    for number in range(10_050):
        assert not limits.takes_stake(f"T-{number}", "THB", 1)
    assert len(limits._ranges) <= 10_000
    assert limits.takes_stake("T-VIP", "THB", 5_000_000_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "currencies: Field required"),
        ("[currencies]", "currencies: Dictionary should have at least 1 item"),
        ("currencies = 3", r"currencies: Input should be a valid dictionary .*got 3"),
        ("[currencies.baht]", r"currencies.baht.\[key\]: String should match pattern"),
        (
            "[currencies.THB]\nstake_min = 0",
            "currencies.THB.stake_min: Input should be greater than or equal to 1 .*got 0",
        ),
        (
            "[currencies.THB]\nstake_max = 1000000000001",
            "stake_max: Input should be less than or equal to 1000000000000",
        ),
        ("[currencies.THB]\nstake_max = 1e6", "stake_max: Input should be a valid integer .*got 1000000.0"),
        ('[currencies.THB]\nstake_max = "5"', "stake_max: Input should be a valid integer"),
        ("[currencies.THB]\nstake_max = true", "stake_max: Input should be a valid integer"),
        ("[currencies.THB]\nmaximum = 5", "currencies.THB.maximum: Extra inputs are not permitted"),
        ("[currencies.THB]\nstake_min = 6\nstake_max = 5", "stake_min 6 is above stake_max 5"),
        (
            "[currencies.THB]\nstake_min = 6\n[currencies.THB.tables.T-1]\nstake_max = 5",
            "stake_min 6 is above stake_max 5 at table T-1",
        ),
        ("[currencies.THB.tables.'T 1']", "String should match pattern"),
        ("[tables]\n[currencies.THB]", "tables: Extra inputs are not permitted"),
        ("[currencies.THB", "Expected"),
        (b"\xff\xfe", "can't decode byte"),
    ],
)
def test_a_file_that_cannot_be_is_refused_with_place_value_and_limit(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    """The message names the file, where it is wrong, and what it broke."""
    with pytest.raises(InvalidLimitsError, match=message) as refused:
        limits_of(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / "limits.toml"))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(InvalidLimitsError, match=r"nowhere\.toml: No such file"):
        load_limits(tmp_path / "nowhere.toml")
