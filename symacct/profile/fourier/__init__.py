"""Profiles by a trapezoidal sum over complex orders."""
