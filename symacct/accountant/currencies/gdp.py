"""Gaussian differential privacy (Dong, Roth, Su 2022): a μ whose trade-off curve lies below."""

from __future__ import annotations

from functools import singledispatch

from flint import arb

from symacct.accountant.accountant import Accountant, certified_number, refuse_symbols
from symacct.arithmetic import BALL
from symacct.core.claims import Claim, Kind
from symacct.core.errors import AssumptionError, SoundnessError, echo
from symacct.core.exact import INFINITY
from symacct.core.sources import DRS22, SYMACCT
from symacct.expressions.node import Node, as_node
from symacct.mechanisms import Gaussian
from symacct.mechanisms.laplace import LaplacePair
from symacct.mechanisms.response import ResponsePair
from symacct.operations.compose import Compose
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.subsample import Sampling
from symacct.results.enclosure import Bound, bound

_SOURCES = (
    DRS22.at("μ-GDP, its composition and its groups"),
    SYMACCT.at("docs/proofs.md, section 26"),
)


def gdp(m: Node, digits: int = 30) -> Bound:
    """μ of the node; see `Node.gdp`."""
    node = as_node(m, "gdp").rewritten
    refuse_symbols(m)
    if node.claim.kind is Kind.LOWER:
        raise SoundnessError(
            f"gdp: found only a lower bound of {echo(m)}, which guarantees nothing"
        )
    kind = node.claim.kind if _is_smallest(node) else Kind.UPPER
    claim = Claim(kind, node.claim.adjacency, sources=_SOURCES, certified=node.claim.certified)

    def value(accountant: Accountant) -> tuple[arb, Claim]:
        mu = _least(node, accountant)
        if not mu.is_finite():
            raise AssumptionError(
                f"gdp: found {echo(m)}, needed sums of Gaussian noise and of what has a finite "
                "ε(∞), or their samples: of a curve alone no μ is known"
            )
        return mu, claim

    return bound(certified_number(value, digits, f"gdp of {echo(m)}"), kind)


def _is_smallest(node: Node) -> bool:
    """Is the trade-off curve known, and a Gaussian one touches it?"""
    if isinstance(node, Compose):
        return all(isinstance(part, Gaussian) for part in node.terms)
    return isinstance(node, Gaussian | LaplacePair | ResponsePair)


def _least(node: Node, accountant: Accountant) -> arb:
    """The smaller of what the node's parts give and what its ε(∞) gives; ∞ if neither does."""
    pure = accountant.curve(node)(INFINITY)
    by_pure = _touching(1 / (1 + pure.exp())) if pure.is_finite() else arb("inf")
    return _mu(node, accountant).min(by_pure)


def _touching(error: arb) -> arb:
    """μ of the Gaussian trade-off curve through (error, error): 2Φ⁻¹(1 − error)."""
    return 2 * arb(2).sqrt() * (2 * error).erfcinv()


@singledispatch
def _mu(node: Node, accountant: Accountant) -> arb:
    """A μ of the node by what it is; ∞ where that says nothing."""
    return arb("inf")


@_mu.register
def _(node: Gaussian, accountant: Accountant) -> arb:
    return BALL.number(node.sensitivity) / BALL.number(node.sigma)


@_mu.register
def _(node: LaplacePair, accountant: Accountant) -> arb:
    """Where α f(α) = e^{−s}/4 its curve is nearest to Gaussian ones at α = f(α)."""
    return _touching((-node.shift(BALL) / 2).exp() / 2)


@_mu.register
def _(node: ResponsePair, accountant: Accountant) -> arb:
    return _touching(node.truth_probability(BALL).min(node.lie_probability(BALL)))


@_mu.register
def _(node: Compose, accountant: Accountant) -> arb:
    """μ² adds."""
    squares = (count * _least(part, accountant) ** 2 for part, count in node.terms.items())
    return sum(squares, arb(0)).sqrt()


@_mu.register
def _(node: GroupPrivacy, accountant: Accountant) -> arb:
    return node.size * _least(node.mechanism, accountant)


@_mu.register
def _(node: PostProcess, accountant: Accountant) -> arb:
    return _least(node.mechanism, accountant)


@_mu.register
def _(node: Sampling, accountant: Accountant) -> arb:
    """A sample that holds the record, or does not, is never worse than all of the data."""
    return _least(node.mechanism, accountant) if node.is_one_step() else arb("inf")
