"""Scheme: which finite laws a statement speaks of, which curve it reads, what it bounds.

A scheme draws laws and numbers, names the pairs whose curve the bound reads (`base`) and the pairs
whose larger divergence is the truth (`result`). An upper bound is attacked with the curve of all
neighbouring pairs, a lower one with the curve of the pair that is said to attain it.
"""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from flint import arb

from symacct.adversary.candidates import (
    ArrayCurve,
    Candidates,
    FiniteLaws,
    Law,
    Pair,
    divergence,
    fractions,
)
from symacct.kernel.arithmetic import BALL, Arithmetic, Number
from symacct.kernel.claims import ADD_REMOVE, REPLACE_ONE, Adjacency, Kind
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import Order
from symacct.kernel.node import Node, kinds

#: Each sampling's neighbours are of this relation, where nothing else is said.
USUAL_RELATION = {"PoissonSubsample": ADD_REMOVE, "SubsampleWithoutReplacement": REPLACE_ONE}

#: The operations whose theorems have conditions on the mechanism.
_WITH_CONDITIONS = {*USUAL_RELATION, "GroupPrivacy", "RandomAllocation", "RepeatAndSelect"}

#: A statement is attacked as an upper bound, and as one that is attained.
BOTH_SIDES = (Kind.UPPER, Kind.LOWER)

#: A sample of a fixed size under add/remove is called this.
LEFT_OUT = "fixed size, a record more or less"

#: The sampling rate γ is drawn between these two, on a logarithmic scale.
RATE = ("gamma", 0.001, 1.0)


def both(*pairs: Pair) -> list[Pair]:
    """List the pairs in both orders."""
    return [ordered for p, q in pairs for ordered in ((p, q), (q, p))]


def mixed(rate: Number, p: Law, q: Law) -> Law:
    """(1−γ)Q + γP"""
    law: Law = (1 - rate) * q + rate * p
    return law


def reversed_law(p: Law) -> Law:
    """Return the law with its outcomes in the opposite order."""
    return p[:, ::-1]


def largest_ratio(laws: tuple[Law, ...]) -> Number:
    """Compute the largest P/Q over all ordered pairs of the laws, e^{ε(∞)}: (candidates, 1)."""
    stacked = np.stack(laws)
    return np.max(np.max(stacked, axis=0) / np.min(stacked, axis=0), axis=1, keepdims=True)


class Scheme:
    """How candidates of one kind are made, and what is true of them; see the module."""

    name: str
    #: Statements about this operation are attacked.
    about: str
    #: An upper bound is attacked by truth > bound, and a lower one by the reverse.
    side: Kind = Kind.UPPER
    #: The relation that the sampled neighbours are of, where it is not the sampling's usual one.
    relation: Adjacency | None = None
    #: (name, smallest, largest) of the numbers drawn, on a logarithmic scale.
    numbers: tuple[tuple[str, float, float], ...] = ()
    #: These attributes of the scheme are parameters of the operation.
    fixed: ClassVar[tuple[str, ...]] = ()
    #: The orders this scheme can be asked at: None for whatever the theorem speaks of.
    orders: tuple[Order, ...] | None = None
    #: Divergences are compared by e^{(α−1)ε} − 1, which says more where they are large.
    by_moments = True
    #: The assumption is checked by `admits`, not by asking the theorem whether it applies.
    by_condition = False
    #: A generation has this many candidates where the bound is not evaluated on arrays.
    slow_population = 12
    #: Each of these counts so many times of the budget.
    slow_cost = 16
    #: Truth and bound that are not apart at this many bits are called equal.
    last_bits = 1024
    #: This many laws are drawn, each of so many outcomes, or of as many as a climb draws.
    drawn = 2
    outcomes: int | None = None
    #: The laws shown are called this; without names they are numbered.
    names: tuple[str, ...] = ()

    def sizes(self, outcomes: int) -> tuple[int, ...]:
        """Return the number of outcomes of each law."""
        return (self.outcomes or outcomes,) * self.drawn

    def pair(self, c: Candidates) -> Pair:
        """Return P and Q."""
        p, q = c.laws[:2]
        return p, q

    def base(self, c: Candidates) -> list[Pair]:
        """List the pairs whose largest divergence is the ε(l) that the bound reads."""
        return both(self.pair(c))

    def result(self, c: Candidates) -> list[Pair]:
        """List the pairs whose largest divergence the statement bounds."""
        return self.base(c)

    def admits(self, c: Candidates, alpha: Order) -> Number:
        """Which candidates meet the assumptions of the statement? One answer, or one for each."""
        return True

    def surely_admits(self, c: Candidates, alpha: Order) -> bool:
        """Does the exact candidate provably meet the assumptions?"""
        return bool(np.all(self.admits(c, alpha)))

    def called(self, name: str, **words: object) -> Self:
        """Copy this scheme under another name, with these attributes changed."""
        other = copy(self)
        vars(other).update(words, name=name)
        return other

    # --- what the bound reads

    def array_curves(self, c: Candidates) -> ArrayCurve | tuple[ArrayCurve, ...]:
        """Return the curve or curves that the bound reads, in float64 for the search."""
        return ArrayCurve.of_pairs(self.base(c))

    def premise(self, c: Candidates) -> Node | tuple[Node, ...]:
        """Return the mechanism or mechanisms whose curve the bound reads, for the proof."""
        return FiniteLaws.of(self.base(c))

    def parameters(self, c: Candidates, ctx: Arithmetic | None) -> dict[str, Number]:
        """Return the operation's parameters, as the bound is given them.

        They are exact without an arithmetic.
        """
        fixed = {name: getattr(self, name) for name in self.fixed}
        if ctx is not None:
            fixed = {k: ctx.number(x) if isinstance(x, Fraction) else x for k, x in fixed.items()}
        drawn = {name: _plain(c, name, ctx) for name, _, _ in self.numbers if name == "gamma"}
        return {**fixed, **drawn}

    def operation(self, c: Candidates) -> Node | None:
        """Make the operation on the premise, to ask a theorem whether it applies.

        None stands for an operation whose theorems have no conditions.
        """
        if self.about not in _WITH_CONDITIONS:
            return None
        relation = () if self.relation is None else (self.relation,)
        parameters = self.parameters(c, None).values()
        operation: Node = kinds()[self.about](self.premise(c), *parameters, *relation)
        return operation

    # --- what is true

    def array_truth(self, c: Candidates, alpha: Order) -> Number:
        """Compute the truth of each candidate in float64, for the search."""
        return np.max([divergence(p, q, alpha) for p, q in self.result(c)], axis=0)

    def truth(self, c: Candidates, alpha: Order) -> arb:
        """Enclose the truth of the exact candidate in a ball, for the proof."""
        return evaluated(FiniteLaws.of(self.result(c)), alpha)

    def shown(self, c: Candidates) -> tuple[Law, ...]:
        """List the laws of the exact candidate to show, in the order of `names`."""
        return c.laws

    def laws(self, c: Candidates) -> tuple[tuple[str, tuple[Fraction, ...]], ...]:
        """List the candidate's laws as `shown`, each with its name."""
        shown = self.shown(c)
        names = self.names or tuple(f"law {i + 1}" for i in range(len(shown)))
        return tuple(zip(names, map(fractions, shown), strict=True))


class TwoMechanisms(Scheme):
    """A scheme of an operation on two mechanisms, each with pairs of its own."""

    def bases(self, c: Candidates) -> list[list[Pair]]:
        """List the pairs of each of the two mechanisms."""
        raise NotImplementedError

    def array_curves(self, c: Candidates) -> tuple[ArrayCurve, ...]:
        """Return the curve of each mechanism, in float64 for the search."""
        return tuple(ArrayCurve.of_pairs(pairs) for pairs in self.bases(c))

    def premise(self, c: Candidates) -> tuple[Node, ...]:
        """Return each mechanism, as its pairs of laws."""
        return tuple(FiniteLaws.of(pairs) for pairs in self.bases(c))


class Worded(Scheme):
    """A scheme whose name tells its fields."""

    words: ClassVar[str]

    @property
    def name(self) -> str:  # type: ignore[override]
        attained = ", attained" if self.side is Kind.LOWER else ""
        return self.words.format(self=self, attained=attained)


def evaluated(node: Node, alpha: Order) -> arb:
    """Enclose the value of a node's curve at the current precision."""
    value: arb = Evaluation(BALL).curve(node)(alpha)
    return value


def _plain(c: Candidates, name: str, ctx: Arithmetic | None) -> Number:
    """Return a number: an array of one axis in float64, else exact or in the arithmetic."""
    if not c.exact:
        return c.numbers[name][:, 0]
    return c.number(name) if ctx is None else ctx.number(c.number(name))
