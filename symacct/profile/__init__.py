"""The true (ε, δ) of an expression, from its laws: the privacy profile at complex orders."""

from symacct.profile.answer import Profile, profile, profile_below

__all__ = ["Profile", "profile", "profile_below"]
