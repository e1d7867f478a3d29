"""Losses of samples of fixed size, a record replaced."""
