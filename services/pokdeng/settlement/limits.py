"""What the house takes: currencies, and stakes per currency and table. One settings file, checked at the start.

A file in TOML::

    [currencies.THB]
    stake_min = 1000
    stake_max = 50_000_000

    [currencies.THB.tables.T-VIP]
    stake_max = 5_000_000_000

    [currencies.JPY]

Without a file every currency is taken, and stakes of 1 .. 10^12 minor units. With one, deposits in other currencies are
`currency_mismatch`. Amounts are minor units.
"""

from __future__ import annotations

import hashlib
import tomllib
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from pokdeng.rules import STAKE_MAX

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

_Stake = Annotated[int, Field(ge=1, le=STAKE_MAX, strict=True)]
_Code = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$", strict=True)]
_TableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$", strict=True)]


_RANGES_MAX = 10_000
"""A bound on what strangers' table ids can make us remember."""


class InvalidLimitsError(ValueError):
    """The settings file cannot be used; the message names the place, the value and the limit it broke."""


class StakeRange(BaseModel):
    """The stakes taken, ends included; what a table does not say is its currency's."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    stake_min: _Stake | None = None
    stake_max: _Stake | None = None


class CurrencyLimits(StakeRange):
    """The stakes taken in one currency, and the tables that differ."""

    tables: dict[_TableName, StakeRange] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _no_empty_range(self) -> Self:
        for name in ("", *self.tables):
            low, high = self.range_for(name or None)
            if low > high:
                raise ValueError(f"stake_min {low} is above stake_max {high}{f' at table {name}' if name else ''}")
        return self

    def range_for(self, table_id: str | None) -> tuple[int, int]:
        """The lowest and the highest stake at a table (None: at tables that are not named)."""
        table = self.tables.get(table_id) if table_id is not None else None
        low = table.stake_min if table is not None and table.stake_min is not None else self.stake_min
        high = table.stake_max if table is not None and table.stake_max is not None else self.stake_max
        return (1 if low is None else low), (STAKE_MAX if high is None else high)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    currencies: dict[_Code, CurrencyLimits] = Field(min_length=1)


class Limits:
    """The limits in force, and the digest that names them in the log."""

    def __init__(self, currencies: dict[str, CurrencyLimits] | None = None, *, digest: str = "none") -> None:
        """None: every currency, every stake of the contract."""
        self._currencies = currencies
        self._ranges: dict[tuple[str, str], tuple[int, int]] = {}
        self.digest = digest

    @property
    def currencies(self) -> tuple[str, ...] | None:
        """The currencies taken, None for all."""
        return None if self._currencies is None else tuple(sorted(self._currencies))

    def takes_currency(self, currency: str) -> bool:
        """Whether deposits in a currency are taken."""
        return self._currencies is None or currency in self._currencies

    def takes_stake(self, table_id: str, currency: str, stake: int) -> bool:
        """Whether a stake is within the range of its currency and table."""
        if self._currencies is None:
            return True  # the range of the contract was checked when the record was decoded
        low, high = self._ranges.get((table_id, currency)) or self._range(table_id, currency)
        return low <= stake <= high

    def _range(self, table_id: str, currency: str) -> tuple[int, int]:
        known = (self._currencies or {}).get(currency)
        found = (1, STAKE_MAX) if known is None else known.range_for(table_id)
        if len(self._ranges) >= _RANGES_MAX:
            self._ranges.clear()
        self._ranges[table_id, currency] = found
        return found


def load_limits(path: Path | None) -> Limits:
    """Read and check the settings file; None for none.

    Raises:
        InvalidLimitsError: when it is missing, no TOML, or says something that cannot be.
    """
    if path is None:
        return Limits()
    try:
        raw = path.read_bytes()
        read = _File.model_validate(tomllib.loads(raw.decode()))
    except OSError as exc:
        raise InvalidLimitsError(f"{path}: {exc.strerror}") from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidLimitsError(f"{path}: {exc}") from exc
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidLimitsError(f"{path}: {where or 'top level'}: {first['msg']} (got {first['input']!r})") from exc
    return Limits(dict(read.currencies), digest=hashlib.sha256(raw).hexdigest()[:16])
