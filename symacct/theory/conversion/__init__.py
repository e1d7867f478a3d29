"""RDP ⇒ (ε, δ), a file per paper; importing this registers the conversions."""

from symacct.theory.conversion import asoodeh21, bbghs20, mir17, total_variation

__all__ = ["asoodeh21", "bbghs20", "mir17", "total_variation"]
