"""RDP ⇒ (ε, δ), a file per paper; importing this registers the conversions."""

from symacct.kernel.conversion import (
    BEST,
    Conversion,
    OrderOne,
    WholeProfile,
    conversions,
    named,
    of_one_order,
    proved,
)
from symacct.theory.conversion import asoodeh21, bbghs20, mir17, total_variation

__all__ = [
    "BEST",
    "Conversion",
    "OrderOne",
    "WholeProfile",
    "asoodeh21",
    "bbghs20",
    "conversions",
    "mir17",
    "named",
    "of_one_order",
    "proved",
    "total_variation",
]
