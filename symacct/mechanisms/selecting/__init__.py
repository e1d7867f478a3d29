"""Choosing among candidates or queries: exponential mechanism, noisy max, sparse vector."""
