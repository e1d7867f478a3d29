"""Losses of pairs that are given by densities on the line."""
