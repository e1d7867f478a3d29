"""Who is protected, and in what, beside every number that a command prints."""

from __future__ import annotations

from symacct.export.description import about
from symacct.expressions.node import Node
from symacct.results.terminal import print_prose


def print_relation(m: Node) -> None:
    """Which neighbours the numbers above are about, and what the noise was for."""
    print_prose(f"relation: {about(m)}")
