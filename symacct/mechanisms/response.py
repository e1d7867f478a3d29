"""Randomized response, and pure differential privacy through it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, cast

from symacct.kernel.arithmetic import Arithmetic, Number
from symacct.kernel.claims import SWAPPED, Adjacency, Kind, Relation
from symacct.kernel.claims import adjacency as named_adjacency
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import (
    INFINITY,
    Exact,
    Numeric,
    Order,
    exact,
    expression,
    sympy,
    without_long_numbers,
)
from symacct.kernel.node import STATED_OF_IT, AskedValues, Mechanism, Node, Pressing, kinds
from symacct.kernel.parameters import nonnegative, probability, whole
from symacct.kernel.sources import KOV15, MIR17
from symacct.laws.neighbours import AnyApproximate, AnyPure, ResponseLaws, TwoAnswers

#: The premise of add/remove neighbours, as an absent person has no value to answer of.
OF_ABSENT = Pressing(
    "for a person who is not in the data, randomized response draws an answer as for a fixed value"
)
#: The premise of a sample, as a person outside of it has no value to answer of.
OF_OUTSIDE = Pressing(
    "nobody sees whose answers a sample holds, because randomized response draws an answer as for "
    "a fixed value for a person outside of it"
)
#: Randomized response of `answers` answers, of which `others` are not the true one.
SEVERAL_ANSWERS = (
    "randomized response with {answers} answers (the true one with probability {p}, else one of "
    "the other {others}, each equally likely)"
)


class ResponsePair(Mechanism):
    """A curve attained by the laws (p, 1−p) and (1−p, p), in terms of p and t = log(p/(1−p))."""

    kind = Kind.EXACT
    is_cheap = True
    attained = SWAPPED  # swapping the two answers swaps the two laws
    _steepest_up_to = INFINITY

    @property
    def neighbours(self) -> ResponseLaws:
        """The two laws (p, 1−p) and (1−p, p), by p and t."""
        raise NotImplementedError

    def excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ p(e^{λt} − 1) + (1−p)(e^{−λt} − 1), λ = α − 1, t the log odds"""
        laws = self.neighbours
        p, t = laws.truth_probability(ctx), laws.log_odds(ctx)

        def excess(alpha: Order) -> Any:
            lam = ctx.number(alpha) - 1
            # p^α(1−p)^{1−α} = p e^{λt}; the weights p and 1−p sum to 1.
            return p * ctx.expm1(lam * t) + (1 - p) * ctx.expm1(-lam * t)

        return excess

    def stable_excess(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ E_Q[r^α − 1 − α(r − 1)] over both answers, r = p/q, where nothing cancels"""
        one, laws = ctx.number(1), self.neighbours

        def excess(alpha: Order) -> Any:
            lam = ctx.number(alpha) - 1
            return laws.over_answers(ctx, lambda x: ctx.power_gap(one, x, lam))

        return excess

    def at_one(self, ctx: Arithmetic) -> Number:
        """(2p − 1)·t, or E_Q[r log r − r + 1] where the arithmetic rounds, r = p/q"""
        laws = self.neighbours
        if ctx.rounds:
            return laws.over_answers(ctx, lambda x: ctx.entropy_gap(ctx.number(1), x))
        return (2 * laws.truth_probability(ctx) - 1) * laws.log_odds(ctx)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """The larger log ratio of an answer's probabilities."""
        return self.neighbours.odds_apart(ctx)


class RandomizedResponse(ResponsePair):
    """Randomized response: one bit, which is told truly with probability p.

    ε(α) = log( p^α(1−p)^{1−α} + (1−p)^α p^{1−α} ) / (α−1).

    `p` lies strictly between 0 and 1. Raises DomainError for another p. ε(α) is in nats. Source:
    MIR17, Table II.

    >>> print(RandomizedResponse("3/4").rdp("inf", digits=10))
    1.098612288
    """

    p: Exact
    asked = AskedValues(
        called="randomized response",
        parameters=("p",),
        values=("0.6", "0.9", "0.999999", "0.5001", "0.75"),
        harmless="0.5001",
        simple=("0.75", "0.6", "0.9", "0.99"),
        typical=(0.55, 0.95),
        drawn=(1e-6, 0.499),
        covered=((0.51, 0.6), (0.6, 0.8), (0.8, 0.99), (0.05, 0.2), (0.2, 0.45), "0.999999"),
        rho=lambda p: math.log(p / (1 - p)) ** 2 / 2,
        is_scale=False,
        is_probability=True,
    )
    words = "randomized response (the true answer with probability {p})"
    source = MIR17.at("Table II")
    _makers = ("of_epsilon",)
    premises = ("a person gives one answer in each response",)

    def _premises_for(self, relation: Relation) -> tuple[str, ...]:
        """The two laws are those of two values: a person who is absent has none."""
        may_be_absent = relation in (Relation.ADD_REMOVE, Relation.ZERO_OUT)
        return self.premises + ((OF_ABSENT,) if may_be_absent else ())

    def _premises_in_sample(self, relation: Relation) -> tuple[str, ...]:
        """A person outside of the sample has no value, whichever the neighbours are."""
        return (*self.premises, OF_OUTSIDE)

    @property
    def _is_local(self) -> bool:
        """True: each person's own answer is randomized."""
        return True

    def __new__(cls, p: Numeric) -> RandomizedResponse:
        return cls._intern(p=probability(p, "RandomizedResponse, p"))

    @property
    def neighbours(self) -> TwoAnswers:
        """The answers to two values."""
        return TwoAnswers(self.p)

    @staticmethod
    def of_epsilon(epsilon: Numeric, k: Numeric = 2) -> Node:
        """Randomized response with k answers, which is exactly ε-DP.

        The true answer is e^ε times as likely as each other one, and p = e^ε/(e^ε + k − 1). For
        more than two answers the result is an expression with the same curve: the laws of two
        neighbours agree on k − 2 answers of probability 1/(e^ε + k − 1) each, which tell nothing,
        and are those of one bit on the other two. If e^ε is rational,
        `FiniteMechanism.randomized_response` has all the laws, and more is known of samples of it.
        `epsilon` >= 0 is in nats, and `k` >= 2. Raises DomainError for other parameters.

        >>> RandomizedResponse.of_epsilon(1)
        RandomizedResponse.of_epsilon(1)
        >>> print(RandomizedResponse.of_epsilon(1, k=4).epsilon(0).epsilon)
        1
        """
        answers = whole(k, "RandomizedResponse, k", least=2)
        odds = sympy.exp(expression(nonnegative(epsilon, "RandomizedResponse, epsilon")))
        bit = RandomizedResponse(odds / (odds + 1))
        if answers == 2:
            return bit
        make = kinds()
        return make["Either"](make["Compose"](), bit, (answers - 2) / (odds + answers - 1))


def response_of(node: Node) -> tuple[Exact, int] | None:
    """The ε and k by which `RandomizedResponse.of_epsilon` makes the node; else None.

    Of two answers it is found where the probability is written with a power of e: one of another
    probability is `RandomizedResponse` itself.

    >>> response_of(RandomizedResponse.of_epsilon("1/2", k=4))
    (Fraction(1, 2), 4)
    >>> response_of(RandomizedResponse.of_epsilon(sympy.log(3), k=4))
    (log(3), 4)
    """
    is_either = isinstance(node, cast(type, kinds()["Either"]))
    bit, share = (
        (node.fields()[k] for k in ("second", "share")) if is_either else (node, Fraction())
    )
    if not isinstance(bit, RandomizedResponse) or share == 1:
        return None
    if not is_either and isinstance(bit.p, Fraction):
        return None
    if isinstance(bit.p, sympy.Expr) and without_long_numbers(bit.p)[1]:
        return None  # of an e^(10^9999) SymPy works out every digit
    odds = _odds(bit.p)
    k = (2 + share * (odds - 1)) / (1 - share)
    k = k if isinstance(k, Fraction) else sympy.simplify(k)
    is_whole = k.denominator == 1 if isinstance(k, Fraction) else k.is_Integer
    if not is_whole or k < 2:
        return None
    base, power = expression(odds).as_base_exp()
    epsilon = power if base == sympy.E else sympy.log(expression(odds))
    if not is_either and base != sympy.E:
        return None
    try:
        made = RandomizedResponse.of_epsilon(epsilon, int(k))
    except DomainError:  # it tells lies more often than the truth
        return None
    return (exact(epsilon), int(k)) if made is node else None


def several_answers(node: Node) -> dict[str, Any]:
    """What stands in the places of `SEVERAL_ANSWERS`, for what `of_epsilon` makes; else nothing."""
    made = response_of(node)
    if made is None:
        return {}
    epsilon, k = made
    odds = sympy.exp(expression(epsilon))
    return {"answers": f"{k:,}", "others": f"{k - 1:,}", "p": exact(odds / (odds + k - 1))}


def _odds(p: Exact) -> Exact:
    """p/(1−p), for a p that is not 1, simplified by radicals where it is an expression."""
    if isinstance(p, Fraction):
        return p / (1 - p)
    top, bottom = sympy.fraction(p)
    return cast(sympy.Expr, sympy.radsimp(top / (bottom - top)))


class PureDP(ResponsePair):
    """An arbitrary ε₀-DP mechanism, accounted for by the worst one.

    The curve is that of RandomizedResponse(e^{ε₀}/(1+e^{ε₀})). Every ε₀-DP mechanism is a
    post-processing of it, so this curve is the exact worst case. This remains true if the mechanism
    is run on a sample. `epsilon` >= 0 is in nats. `adjacency` says for which neighbours it holds;
    by default any neighbours will do. Raises DomainError for other parameters. Source: KOV15, every
    ε-DP mechanism is a post-processing of randomized response.

    >>> print(PureDP("1/2").rdp("inf", digits=3))
    0.5
    """

    adjacency: Adjacency
    asked = AskedValues(
        called="pure DP",
        parameters=("epsilon",),
        values=("1", "0.1", "20", "1e-6", "5"),
        harmless="1e-6",
        simple=("1", "2", "0.1", "10", "0.01"),
        typical=(0.01, 2),
        drawn=(1e-6, 30),
        covered=((0.001, 0.03), (0.03, 0.3), (0.3, 2), (2, 8)),
        rho=lambda epsilon: epsilon**2 / 2,
        is_scale=False,
    )
    words = "an $ε$-differentially private mechanism ($ε = {epsilon}$)"
    source = KOV15.at("every ε-DP mechanism is a post-processing of randomized response")
    premises = (STATED_OF_IT,)

    def __new__(cls, epsilon: Numeric, adjacency: str | Adjacency = "either") -> PureDP:
        return cls._intern(
            epsilon=nonnegative(epsilon, "PureDP, epsilon"), adjacency=named_adjacency(adjacency)
        )

    @property
    def pure(self) -> Exact:
        """ε₀ in nats; the attribute `epsilon` is the question."""
        epsilon: Exact = self._fields["epsilon"]
        return epsilon

    @property
    def neighbours(self) -> AnyPure:
        """Any ε₀-DP mechanism may have been run."""
        return AnyPure(self.pure)

    @property
    def _tells_nothing(self) -> bool:  # type: ignore[override]
        """Is ε₀ = 0? It is, of what is left of a mechanism that tells something only by failing."""
        return self.pure == 0


class ApproximateDP(Mechanism):
    """An arbitrary (ε, δ)-DP mechanism, accounted for by the worst one.

    The worst mechanism tells its law with probability δ, and is otherwise randomized response with
    p = e^ε/(1+e^ε). Every (ε, δ)-DP mechanism is a post-processing of it. Its Rényi curve is
    infinite at every order, so it needs `conversion="exact"`, alone or in a composition. `epsilon`
    >= 0 is in nats, and 0 < `delta` < 1. `adjacency` says for which neighbours it holds; by default
    any neighbours will do. Raises DomainError for other parameters. Source: KOV15, every (ε, δ)-DP
    mechanism is a post-processing of four outcomes.

    >>> m = 10 * ApproximateDP("1/10", "1e-6")
    >>> print(m.epsilon("1e-4", conversion="exact", digits=4).epsilon)
    0.9418
    """

    adjacency: Adjacency
    kind = Kind.EXACT
    attained = SWAPPED
    convex = True
    finite_up_to = Fraction(1)
    words = "an ($ε$, $δ$)-differentially private mechanism ($ε = {epsilon}$, $δ = {delta}$)"
    source = KOV15.at("every (ε, δ)-DP mechanism is a post-processing of four outcomes")
    premises = (STATED_OF_IT,)

    def __new__(
        cls, epsilon: Numeric, delta: Numeric, adjacency: str | Adjacency = "either"
    ) -> ApproximateDP:
        return cls._intern(
            epsilon=nonnegative(epsilon, "ApproximateDP, epsilon"),
            delta=probability(delta, "ApproximateDP, delta"),
            adjacency=named_adjacency(adjacency),
        )

    @property
    def neighbours(self) -> AnyApproximate:
        """Any (ε, δ)-DP mechanism may have been run."""
        return AnyApproximate(self._fields["epsilon"], self._fields["delta"])

    def curve(self, ctx: Arithmetic) -> Callable[[Order], Number]:
        """α ↦ ∞: what is told with probability δ has no finite divergence"""
        return lambda alpha: ctx.number(INFINITY)

    def at_one(self, ctx: Arithmetic) -> Number:
        """∞, as at every order."""
        return ctx.number(INFINITY)

    def at_infinity(self, ctx: Arithmetic) -> Number:
        """∞, as at every order."""
        return ctx.number(INFINITY)
