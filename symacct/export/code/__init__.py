"""Code of a curve: Python, mpmath, NumPy or C, measured against certified values as it is made."""

from symacct.export.code.generate import TARGETS, code

__all__ = ["TARGETS", "code"]
