"""Expressions as text and as JSON, written and read back."""

from symacct.text.expressions import heading, parse, parse_open, to_text
from symacct.text.json_documents import from_json, to_json

__all__ = ["from_json", "heading", "parse", "parse_open", "to_json", "to_text"]
