"""Certified sums. No privacy in here: numbers, binomials and convexity only."""
