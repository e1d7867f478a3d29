"""Who is protected, and in what, beside every number that a command prints."""

from __future__ import annotations

from symacct.export.description import about, in_few_words, neighbours
from symacct.expressions.node import Node
from symacct.results.enclosure import Guarantee
from symacct.results.terminal import print_prose


def print_relation(m: Node) -> None:
    """Which neighbours the numbers above are about, and what the noise was for."""
    print_prose(f"relation: {about(m)}")


def protected(g: Guarantee) -> list[tuple[str, str]]:
    """The neighbours and the expression of a guarantee in words."""
    of = [] if g.mechanism is None else [("of", in_few_words(g.mechanism))]
    return [("neighbours", neighbours(g.claim.adjacency)), *of]
