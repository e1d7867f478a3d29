"""Who is protected, and in what, beside every number that a command prints."""

from __future__ import annotations

import click

from symacct.core.claims import Adjacency, said_of
from symacct.core.claims import adjacency as named
from symacct.export.description import about
from symacct.expressions.node import Node
from symacct.results.enclosure import Guarantee
from symacct.results.terminal import print_prose

#: What to type where a relation is left open.
SAY_WHICH = "say which by --adjacency add_remove or --adjacency replace_one"

#: --adjacency, for what EXPR leaves open.
relation_option = click.option(
    "--adjacency",
    metavar="RELATION",
    callback=lambda ctx, parameter, value: None if value is None else named(value),
    help=(
        "Which datasets are neighbours, if EXPR leaves it open: add_remove or replace_one. "
        "Name the relation for which the parameters of EXPR were stated."
    ),
)


def print_relation(m: Node, adjacency: Adjacency | None = None) -> None:
    """Which neighbours the numbers above are about, and what the noise was for."""
    print_prose(f"relation: {about(m, relation(m, adjacency))}")


def relation(m: Node, adjacency: Adjacency | None) -> Adjacency:
    """The relation of m, or the one that is said where m leaves it open."""
    found = m.claim.adjacency
    return found if adjacency is None else said_of(found, adjacency)


def under(g: Guarantee, adjacency: Adjacency | None) -> Guarantee:
    """The answer with the relation said that the expression leaves open."""
    return g if adjacency is None else g.under(adjacency)
