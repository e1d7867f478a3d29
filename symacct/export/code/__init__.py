"""Code of a curve in another language, measured against certified values as it is made."""

from symacct.export.code.generate import code
from symacct.export.code.targets import TARGETS

__all__ = ["TARGETS", "code"]
