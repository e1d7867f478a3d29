"""RDP ⇒ (ε, δ), a file per paper; importing this registers the conversions."""

from symacct.conversion import asoodeh21, bbghs20, mir17
from symacct.conversion.conversion import Conversion, conversions, named, proved

__all__ = ["Conversion", "asoodeh21", "bbghs20", "conversions", "mir17", "named", "proved"]
