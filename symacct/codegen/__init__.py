"""Code of a curve in another language, measured against certified values as it is made."""

from symacct.codegen.generate import code
from symacct.codegen.targets import TARGETS

__all__ = ["TARGETS", "code"]
