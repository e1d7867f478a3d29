"""Expressions as text and as JSON, written and read back."""

from symacct.text.expression_reader import parse, parse_open
from symacct.text.expression_writer import heading, to_text
from symacct.text.json_documents import from_json, to_json

__all__ = ["from_json", "heading", "parse", "parse_open", "to_json", "to_text"]
