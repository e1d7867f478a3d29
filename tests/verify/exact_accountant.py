"""The correct accountant with every function in mpmath, 60 digits: its text, and with noise."""

from tests.verify.defects import CORRECT

_MATH = """
import types
from random import Random

import mpmath

mpmath.mp.dps = 60
names = ("exp", "expm1", "log", "log1p", "sqrt", "fsum", "inf")
math = types.SimpleNamespace(**{name: getattr(mpmath, name) for name in names})
math.lgamma, chance = mpmath.loggamma, Random(0)
"""
_SAID = """
    if "value" in row:
        row["value"] = str(row["value"] * (1 + NOISE * chance.uniform(-1, 1)))
    print("""
#: What is replaced in the accountant's text. Whole orders: no quadrature.
_CHANGES = {
    "import math\n": _MATH,
    "return x if isinstance(x, int) else float(x)": "return mpmath.mpf(float(x))",
    'part.get("gamma_float")': 'mpmath.mpf(part.get("gamma_float", 1))',
    '"sampling": "poisson", **ENDS,': '"sampling": "poisson", **WHOLE, "max_order": 256,',
    '"max_order": 512': '"max_order": 64',
    "if s > 0.01": "if s > 0",
    "\n    print(": _SAID,
}


def exact(noise="0"):
    """The program; `noise` is the largest share by which an answer is off."""
    text = CORRECT.read_text(encoding="utf-8")
    for old, new in _CHANGES.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.replace("NOISE", noise)
