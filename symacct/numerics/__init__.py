"""Numerics without privacy: certified sums, quadrature, hulls, and searches over the order."""
