"""Sampling without replacement, a file a paper."""
