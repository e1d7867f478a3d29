"""Profiles that are closed forms, finite sums, or one integral."""
