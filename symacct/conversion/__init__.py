"""RDP ⇒ (ε, δ), a file per paper; importing this registers the conversions."""

from symacct.conversion import asoodeh21, bbghs20, mir17, zhu22
from symacct.conversion.conversion import (
    Conversion,
    WholeProfile,
    conversions,
    named,
    of_one_order,
    proved,
)

__all__ = [
    "Conversion",
    "WholeProfile",
    "asoodeh21",
    "bbghs20",
    "conversions",
    "mir17",
    "named",
    "of_one_order",
    "proved",
    "zhu22",
]
