"""Money as people read it: US format, with the decimals that ISO 4217 gives the currency."""

from __future__ import annotations

from typing import Final

_NO_DECIMALS: Final = frozenset({
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG",
    "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF",
})  # fmt: skip
_THREE_DECIMALS: Final = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})


def decimals_of(currency: str) -> int:
    """How many decimals a currency has. Unknown codes have two."""
    if currency in _NO_DECIMALS:
        return 0
    return 3 if currency in _THREE_DECIMALS else 2


def shown_money(minor: int, currency: str) -> str:
    """Minor units as people read them.

    >>> shown_money(123400, "THB"), shown_money(-1500, "JPY"), shown_money(3702, "KWD")
    ('1,234.00 THB', '-1,500 JPY', '3.702 KWD')
    """
    decimals = decimals_of(currency)
    sign, minor = ("-", -minor) if minor < 0 else ("", minor)
    if not decimals:
        return f"{sign}{minor:,} {currency}"
    whole, part = divmod(minor, 10**decimals)
    return f"{sign}{whole:,}.{part:0{decimals}} {currency}"
