"""Sums of independent lognormal variables, by the Laplace transform of one."""
