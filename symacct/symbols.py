"""The symbols that formulas are written in."""

from __future__ import annotations

import sympy

#: The Rényi order α.
alpha = sympy.Symbol("alpha", positive=True)

__all__ = ["alpha"]
