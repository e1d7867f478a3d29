"""Poisson sampling, a file a paper."""
