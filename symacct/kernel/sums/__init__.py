"""Certified sums, hulls and the search over orders. No privacy in here: numbers only."""
