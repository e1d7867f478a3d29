"""Certified integrals and searches over laws and densities. No privacy in here."""
