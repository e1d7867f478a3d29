"""Test vectors: questions with two-sided values that any accountant can be asked."""

from symacct.evidence.vectors.files import FILES, SEED, count_of, document, line, write

__all__ = ["FILES", "SEED", "count_of", "document", "line", "write"]
