"""Expectations under normal laws and their mixtures, certified."""
