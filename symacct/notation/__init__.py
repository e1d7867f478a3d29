"""Expressions as text and as JSON, written and read back."""

from symacct.notation.documents import from_json, to_json
from symacct.notation.reading import parse, parse_formula, parse_law
from symacct.notation.writing import stated_parameters, to_text, value_text

__all__ = [
    "from_json",
    "parse",
    "parse_formula",
    "parse_law",
    "stated_parameters",
    "to_json",
    "to_text",
    "value_text",
]
