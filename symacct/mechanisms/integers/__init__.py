"""Noise on whole numbers, and sums of it."""
