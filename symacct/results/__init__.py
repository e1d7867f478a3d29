"""Answers and how they are shown: enclosures, guarantees, rounding, progress, terminal."""
