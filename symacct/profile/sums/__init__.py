"""Sums that profiles share: powers on equispaced nodes, interpolation, bounds of tails."""
