"""A mechanism that may fail, and which operations fail where a part of them does."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import singledispatch

from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.arithmetic.within_limits import bits
from symacct.kernel.claims import AttainedBy
from symacct.kernel.conversion import Failures, FailuresOf, failures_of
from symacct.kernel.exact import Exact, Numeric, exact, expression, sympy, typed_value
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import Compose, Operation
from symacct.kernel.parameters import probability
from symacct.laws.families import Binomial, Poisson, TruncatedNegativeBinomial
from symacct.mechanisms import ApproximateDP, PureDP
from symacct.operations.allocation import RandomAllocation
from symacct.operations.either import Either
from symacct.operations.group import GroupPrivacy
from symacct.operations.postprocess import PostProcess
from symacct.operations.repeat import RepeatAndSelect, Runs
from symacct.operations.subsample import PoissonSubsample, Sampling, SubsampleWithoutReplacement

#: Bits of the balls that tell whether a probability of failing is below 1. What they leave open
#: counts as 1: it costs answers, and no bound.
_RATE_BITS = 128
#: The most bits of (1−γ)^k; for a longer power the larger kγ stands in its place. Both are bounds:
#: the shorter one saves time, and is the larger.
_MOST_RATE_BITS = 4096


class Failing(Operation):
    """The mechanism, which fails with probability `delta`, and may then tell all of the data.

    Whether it fails depends neither on the data nor on who takes part. So δ′(ε) = δ + (1−δ)δ(ε),
    with δ(ε) that of `mechanism`, and the Rényi curve is infinite. On a sample at a rate γ it fails
    for a record with probability γδ, and of a group with δ. For two neighbours,
    `Failing(PureDP(epsilon), delta)` is `ApproximateDP(epsilon, delta)`, and `Failing(ZCDP(rho),
    delta)` is δ-approximate ρ-zCDP; a mechanism of which only this is known is
    `PostProcess(Failing(…), premise=…)`, and nothing is then said of groups. A `delta` of 0 gives
    the mechanism itself. Raises DomainError for a δ outside [0, 1). ε is in nats. Source: KOV15 and
    BS16; docs/proofs/conversions.md, Lemmas stated-failure and failing-below.

    >>> from symacct import ZCDP
    >>> print(Failing(ZCDP("1/2"), "5e-6").epsilon("1e-5", 6, "improved").epsilon.rounded(6))
    4.88223
    """

    mechanism: Node

    def __new__(cls, mechanism: Node, delta: Numeric) -> Node:  # type: ignore[misc]
        mechanism = as_node(mechanism, "Failing, mechanism")
        if typed_value(delta, "Failing, delta") == 0:
            return mechanism
        return cls._intern(mechanism=mechanism, delta=probability(delta, "Failing, delta"))

    _says_who_takes_part = True
    words = "{mechanism}, which fails with probability {delta} and may then tell everything"
    premises = ("whether a mechanism fails depends neither on the data nor on who takes part",)

    @property
    def attained(self) -> AttainedBy:  # type: ignore[override]
        """The mechanism's pair, with the data told on failure: exchanged as that pair is."""
        return self.mechanism.attained


@failures_of.register
def _(node: ApproximateDP, below: FailuresOf) -> Failures:
    """The probability δ of failing, and PureDP(ε) otherwise, of each two neighbours."""
    epsilon, delta, relation = node.fields().values()
    return Failures(PureDP(epsilon, relation), ((delta, 1),), by_itself=False)


@failures_of.register
def _(node: Failing, below: FailuresOf) -> Failures:
    """The probability δ of failing, beside the failures of the mechanism below."""
    inner = below(node.mechanism) or Failures(node.mechanism, ())
    return replace(inner, parts=(*inner.parts, (node.parameters()["delta"], 1)))


@failures_of.register
def _(node: PostProcess, below: FailuresOf) -> Failures | None:
    """The failures of the mechanism below, the rest post-processed; None for no failures.

    With a premise it is not run itself: its pairs of neighbours bound those of another run. Whether
    a failure shows in what is made of the output, nobody knows.
    """
    inner = below(node.mechanism)
    if inner is None:
        return None
    is_run = inner.by_itself and node._is_run_below
    return replace(inner, rest=_over(node, inner.rest), by_itself=is_run, is_shown=False)


@failures_of.register
def _(node: Either, below: FailuresOf) -> Failures | None:
    """The mean s d₁ + (1−s)d₂ of both probabilities of failing, and else a coin between both rests.

    Given that nothing fails its share is s(1−d₁)/(1 − s d₁ − (1−s)d₂). None where no side that may
    be run fails, or the numbers are no short fractions.
    """
    if not isinstance(node.share, Fraction):
        return None
    left, right = (below(part) or Failures(part, ()) for part in (node.first, node.second))
    if not (left.parts or right.parts) or left.survival is None or right.survival is None:
        return None
    first, second = node.share * left.survival, (1 - node.share) * right.survival
    if first + second == 1:  # what fails is on the side that is never run
        return None
    return Failures(
        Either(left.rest, right.rest, first / (first + second)),
        ((1 - first - second, 1),),
        attained=left.attained and right.attained,
        by_itself=left.by_itself and right.by_itself,
        is_shown=left.is_shown and right.is_shown,
    )


# --- below samples, groups and repetitions, by docs/proofs/conversions.md, Lemma failing-below


@failures_of.register
def _(node: PoissonSubsample, below: FailuresOf) -> Failures | None:
    """A failure of those in the sample, γ times as probable; all of it where all are taken.

    A record replaced is compared with its absence too: what fails must then fail by itself.
    """
    inner = below(node.mechanism)
    if inner is None or not (node._is_one_step() or inner.by_itself):
        return None
    return _sampled(node, inner)


@failures_of.register
def _(node: SubsampleWithoutReplacement, below: FailuresOf) -> Failures | None:
    """A failure of those in the sample, γ times as probable, of what fails by itself.

    Others may take the record's place, with which the failures of a pair are not compared.
    """
    inner = below(node.mechanism)
    return _sampled(node, inner) if inner is not None and inner.by_itself else None


@failures_of.register
def _(node: RandomAllocation, below: FailuresOf) -> Failures | None:
    """A failure of each run that the record takes part in, of which each block has one."""
    inner = below(node.mechanism)
    if inner is None:
        return None
    in_all = node.steps == node.times
    blocks = (
        {RandomAllocation(inner.rest, steps, adjacency=node.adjacency): count}
        for steps, count in node.blocks
    )
    return Failures(
        Compose(*blocks),
        tuple((delta, count * node.times) for delta, count in inner.parts),
        attained=inner.attained and in_all,
        by_itself=inner.by_itself and in_all,
        is_shown=inner.is_shown,
    )


@failures_of.register
def _(node: GroupPrivacy, below: FailuresOf) -> Failures | None:
    """What may fail of a group, by the mechanism that the group is of."""
    return _of_group(node.mechanism, node, below)


@singledispatch
def _of_group(mechanism: Node, node: GroupPrivacy, below: FailuresOf) -> Failures | None:
    """A failure of what fails by itself, which is one for the whole group."""
    inner = below(mechanism)
    if inner is None or not inner.by_itself:
        return None
    return replace(inner, rest=_over(node, inner.rest))


@_of_group.register
def _(mechanism: ApproximateDP, node: GroupPrivacy, below: FailuresOf) -> Failures | None:
    """(kε, δ(1 + e^ε + … + e^{(k−1)ε}))-DP, by a chain of k neighbours; None for a δ of 1."""
    epsilon, delta, relation = mechanism.fields().values()
    powers = node.size if epsilon == 0 else (_exp(node.size * epsilon) - 1) / (_exp(epsilon) - 1)
    chained = exact(delta * powers)
    with precision(_RATE_BITS):
        if not BALL.number(chained) < 1:
            return None
    rest = GroupPrivacy(PureDP(epsilon, relation), node.size)
    return Failures(rest, ((chained, 1),), attained=False, by_itself=False)


@_of_group.register
def _(mechanism: PoissonSubsample, node: GroupPrivacy, below: FailuresOf) -> Failures | None:
    """A failure by itself of the mechanism, in whose sample some record of the group is."""
    inner, gamma = below(mechanism.mechanism), mechanism.gamma
    if inner is None or not inner.by_itself or not isinstance(gamma, Fraction):
        return None
    rest = GroupPrivacy(_over(mechanism, inner.rest), node.size)
    if gamma == 1:
        return replace(inner, rest=rest, attained=False)
    is_short = node.size * bits(gamma) <= _MOST_RATE_BITS
    some = 1 - (1 - gamma) ** node.size if is_short else min(node.size * gamma, Fraction(1))
    return _thinned(rest, inner, some) if some else None


@failures_of.register
def _(node: RepeatAndSelect, below: FailuresOf) -> Failures | None:
    """A failure of some run, and the best of those that no failure leaves to be run.

    Their number has a law of the same family. None where the probabilities are not rational.
    """
    inner = below(node.mechanism)
    if inner is None or inner.survival is None or not inner.attained:  # else it is no mixture
        return None
    found = _without_failures(node.runs, inner.survival)
    if found is None:
        return None
    part, runs = found
    return replace(inner, rest=RepeatAndSelect(inner.rest, runs), parts=(part,), attained=False)


def _without_failures(runs: Runs, kept: Fraction) -> tuple[tuple[Exact, int], Runs] | None:
    """A part (δ, k) that some run fails, each with 1 − `kept`, and the law of K where none does."""
    match runs:
        case Binomial(n=n, theta=Fraction() as theta):
            failing = theta * (1 - kept)
            return (failing, int(n)), Binomial(n, theta * kept / (1 - failing))
        case Poisson(rate=Fraction() as mean):
            return (exact(1 - _exp(-mean * (1 - kept))), 1), Poisson(mean * kept)
        case TruncatedNegativeBinomial(eta=Fraction() as eta, gamma=Fraction() as gamma):
            left = 1 - (1 - gamma) * kept
            old, new = (_log_or_power(x, eta) for x in (gamma, left))
            return (exact(1 - new / old), 1), TruncatedNegativeBinomial(eta, left)
    return None


def _log_or_power(x: Fraction, eta: Fraction) -> sympy.Expr:
    """x^{−η} − 1, or log x for η = 0, whose quotients are values of K's generating function."""
    return sympy.log(expression(x)) if eta == 0 else expression(x) ** -expression(eta) - 1


def _exp(x: Exact) -> sympy.Expr:
    """e^x."""
    return sympy.exp(expression(x))


def _sampled(node: Sampling, inner: Failures) -> Failures | None:
    """The failures of a sample: γ times as probable, or as below where all is taken; None at 0."""
    rest = _over(node, inner.rest)
    if node.gamma == 1:
        return replace(inner, rest=rest, attained=inner.attained and node._is_one_step())
    return None if node.gamma == 0 else _thinned(rest, inner, node.gamma)


def _thinned(rest: Node, inner: Failures, gamma: Exact) -> Failures:
    """What may fail with γ times the probability, beside a rest.

    1 − Π(1−γδ_i)^k_i is no less than γ(1 − Π(1−δ_i)^k_i), as it is concave in γ.
    """
    parts = tuple((exact(gamma * delta), count) for delta, count in inner.parts)
    if inner.survival is not None and isinstance(gamma, Fraction):
        parts = ((gamma * (1 - inner.survival), 1),)
    return Failures(rest, parts, attained=False, by_itself=False)


def _over(node: Node, mechanism: Node) -> Node:
    """The operation over another mechanism."""
    return type(node)(**{**node.fields(), "mechanism": mechanism})
