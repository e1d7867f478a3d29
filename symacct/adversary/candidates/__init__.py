"""Candidates for a counterexample: finite laws and noise, and the verdict on one of them."""
