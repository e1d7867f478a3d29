"""The true (ε, δ) of an expression, from its laws: the privacy profile at complex orders."""

from symacct.profile.answer import Profile, lower_bound, profile, profile_below

__all__ = ["Profile", "lower_bound", "profile", "profile_below"]
