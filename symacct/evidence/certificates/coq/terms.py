"""Expressions as terms of the type `mechanism` of coq/Published.v."""

from __future__ import annotations

from fractions import Fraction

from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Exact
from symacct.kernel.node import Node
from symacct.mechanisms import (
    ZCDP,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    ScalarGaussian,
)
from symacct.operations import Compose, PoissonSubsample

#: How often each part of a composition is run.
Terms = tuple[tuple[int, Node], ...]

_LEAVES: dict[type[Node], tuple[str, tuple[str, ...]]] = {
    Gaussian: ("Gaussian", ("sigma", "sensitivity")),
    ScalarGaussian: ("Gaussian", ("sigma", "sensitivity")),
    Laplace: ("Laplace", ("b", "sensitivity")),
    RandomizedResponse: ("RandomizedResponse", ("p",)),
    PureDP: ("PureDP", ("pure",)),
    ZCDP: ("ZCDP", ("rho", "xi")),
}
_KNOWN = ", ".join(kind.__name__ for kind in _LEAVES)


def none_yet(what: str, remedy: str) -> DomainError:
    """What to raise where there is no certificate."""
    return DomainError(f"no Coq certificate yet for {what}", remedy=remedy)


def terms(mechanism: Node) -> Terms:
    """How often each part is run, if Published.v knows all parts."""
    parts = mechanism.terms if isinstance(mechanism, Compose) else {mechanism: 1}
    counted = []
    for part, count in parts.items():
        if not isinstance(count, int):
            raise none_yet(f"the open number of runs {echo(count)}", "give it a value by subs")
        term(part)
        counted.append((count, part))
    if not counted:
        raise none_yet("no mechanism at all", "run one at least")
    return tuple(counted)


def term(node: Node, inside: bool = False) -> str:
    """The node, no composition or that `inside` a sample, as a term."""
    if type(node) in _LEAVES:
        name, fields = _LEAVES[type(node)]
        return f"({name} {' '.join(real(getattr(node, field)) for field in fields)})"
    if type(node) is PoissonSubsample and node.adjacency == ADD_REMOVE and not inside:
        if node.rewritten is not node:
            other = echo(node.rewritten)
            raise none_yet(f"{echo(node)}, whose curve is that of {other}", "ask for that one")
        return f"(PoissonSubsample {term(node.mechanism, inside=True)} {real(node.gamma)})"
    if isinstance(node, Compose) and inside and node.terms:
        return composed([repeated(count, term(part, inside)) for part, count in node.terms.items()])
    raise none_yet(echo(node), f"needed {_KNOWN}, their Poisson samples, or a composition of those")


def repeated(count: object, run: str) -> str:
    """A term that is run so often."""
    if not isinstance(count, int):
        raise none_yet(f"the open number of runs {echo(count)}", "give it a value by subs")
    return run if count == 1 else f"(Times {count} {run})"


def composed(runs: list[str]) -> str:
    """Terms run one after the other."""
    *others, last = runs
    return "".join(f"(Compose {one} " for one in others) + last + ")" * len(others)


def real(x: Exact) -> str:
    """An exact rational, as a term of type R."""
    if not isinstance(x, Fraction | int):
        raise none_yet(f"the irrational number {echo(x)}", "needed rational parameters")
    x = Fraction(x)
    whole = str(x.numerator) if x >= 0 else f"(- {-x.numerator})"
    return whole if x.denominator == 1 else f"({whole} / {x.denominator})"


def comment(text: str) -> str:
    """Text that can neither end a comment of Coq nor begin a string in it."""
    return text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")
