"""Expressions as text and as JSON, written and read back."""

from symacct.notation.documents import from_json, to_json
from symacct.notation.reading import parse
from symacct.notation.writing import heading, to_text

__all__ = ["from_json", "heading", "parse", "to_json", "to_text"]
