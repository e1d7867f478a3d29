"""Numbers and formulas as text, written and read back."""

from symacct.formulas.reading import parse_formula
from symacct.formulas.writing import formula_text, is_default, plain_text, value_text

__all__ = ["formula_text", "is_default", "parse_formula", "plain_text", "value_text"]
