"""The true (ε, δ) of an expression, from its laws: the privacy profile at complex orders."""

from symacct.profile.answer import Profile, refuse_pinned

__all__ = ["Profile", "refuse_pinned"]
