"""Shuffled answers: the other people's clones of one person's answers, of three kinds.

Of two inputs' laws μ and μ′ of total variation β, at most the factor p apart, (μ−μ′)₊/β is an
answer of the first kind, (μ′−μ)₊/β one of the second and what the laws have in common one of the
third: μ gives them with probabilities pa, a and 1 − (p+1)a, a = β/(p−1), and μ′ exchanges the first
two. Every other person answers by these with the probabilities r, r and s at least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, singledispatch
from itertools import chain, combinations, groupby, repeat

from flint import arb

from symacct.analysis.coin_counts import MovedCount, Signs, binomial, sign_moments
from symacct.kernel import deadline
from symacct.kernel.arithmetic import BALL, Arithmetic, BallArithmetic, MpmathArithmetic, Number
from symacct.kernel.arithmetic.ball import precision, rational, up_to
from symacct.kernel.claims import ABOVE_ONE, ALL_ORDERS, REPLACE_ONE, Kind
from symacct.kernel.errors import AssumptionError, DomainError, LimitError, echo
from symacct.kernel.exact import Exact, Order, exact, expression, sympy
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT
from symacct.kernel.theorem_registry import RDPCurve, always, theorem
from symacct.laws.neighbours import (
    AnyPure,
    FinitePairs,
    LaplaceShift,
    Neighbours,
    TwoAnswers,
    law_of,
)
from symacct.mechanisms.response import response_of
from symacct.operations.shuffled import Shuffled

# --- clones

#: Of any pure randomizer, total variations within this share of the largest have one pair. Each
#: pair is proved for its range (Lemma ranges-of-variation): a larger share is quicker, and its ε
#: larger.
_NEAREST = Fraction(1, 500)
#: Each range of total variations, from the largest one down, takes this share of the third kind of
#: clones at its upper end: little where that end is about the worst. Any shares are sound: they
#: choose how many pairs there are, and how near each is.
_SPENT = (Fraction(1, 20), Fraction(1, 4), Fraction(9, 10))
#: β/β_max is rounded to so many bits. It is rounded to the safe side, by a unit more than float64
#: needs: more than 50 bits would be unsound.
_SHARE_BITS = 30


@dataclass(frozen=True)
class Clones:
    """How one person's answer is given under two inputs, and which clones of it others give.

    `log_ratio` is log p, `own` is pa. `clone` is r, and `alike` is s, None for all of the rest,
    1 − 2r.
    """

    log_ratio: Exact
    own: Exact
    clone: Exact
    alike: Exact | None = Fraction(0)


def clones_of(randomizer: Node) -> list[Clones]:
    """The clones for any two inputs of a randomizer that have different laws.

    AssumptionError where they are not known.
    """
    response = response_of(randomizer)
    every = clones_of_law(law_of(randomizer)) if response is None else [_of_response(*response)]
    return [clones for clones in every if clones.log_ratio != 0]


@singledispatch
def clones_of_law(law: Neighbours) -> list[Clones]:
    """The clones for a randomizer of these laws; AssumptionError where none are known."""
    raise AssumptionError(
        "found a randomizer whose clones are not known, needed RandomizedResponse, "
        "FiniteMechanism, Laplace or PureDP",
        where="shuffled",
    )


# Proved in docs/proofs/mechanisms.md, Lemma three-clones.
def _of_response(epsilon: Exact, answers: int) -> Clones:
    """Of k-ary response the clones are of all k answers, alike: pa = e^ε/(e^ε+k−1), r = a."""
    odds = sympy.exp(expression(epsilon))
    other = exact(1 / (odds + answers - 1))
    return Clones(epsilon, exact(odds * other), other, exact((answers - 2) * other))


@clones_of_law.register
def _(law: TwoAnswers) -> list[Clones]:
    """Of one bit others answer by the smaller of its two probabilities at least."""
    p = law.p
    if not isinstance(p, Fraction):
        largest = p if expression(p - Fraction(1, 2)).is_nonnegative else exact(1 - p)
    else:
        largest = max(p, 1 - p)
    log_ratio = exact(sympy.log(expression(largest / (1 - largest))))
    return [Clones(log_ratio, largest, exact(1 - largest))]


@clones_of_law.register
def _(law: AnyPure) -> list[Clones]:
    """Of any ε₀-DP randomizer the total variation is at most (p−1)/(p+1)."""
    if law.pure == 0:
        return []
    return list(_of_any(law.pure, Fraction(1)))


@clones_of_law.register
def _(law: LaplaceShift) -> list[Clones]:
    """Of Laplace noise on an interval of length Δ it is at most 1 − e^{−Δ/2b}."""
    half = math.exp(-float(law.shift) / 2)
    share = (1 + half**2) / (1 + half)  # (1−half)(p+1)/(p−1), 1/p = half², without differences
    scale = 2**_SHARE_BITS
    return list(_of_any(law.shift, Fraction(min(math.ceil(share * scale) + 1, scale), scale)))


# Proved in docs/proofs/mechanisms.md, Lemma ranges-of-variation.
def _of_any(log_ratio: Exact, top: Fraction) -> Iterator[Clones]:
    """The clones of all laws that are e^`log_ratio` apart, for each range of total variations.

    `top` is at least the largest total variation as a share of (p−1)/(p+1).
    """
    p = sympy.exp(expression(log_ratio))
    most = _above((p - 1) / (p + 1))
    large, known = p / (p + 1), top
    if top == 1:
        known = 1 - min(_NEAREST, most / 4)
        yield Clones(log_ratio, exact(large), exact(known / (p + 1)))
    # Below this share the clones of the mean of two laws give less than those of `top` do.
    last = top / 2 * (1 + _below(1 / p))
    every_spent = chain(_SPENT if top < 1 else _SPENT[1:], repeat(_SPENT[-1]))
    while known > last:
        rest, spent = 1 - known, next(every_spent)
        alike = exact((1 - spent) * rest / p)
        yield Clones(log_ratio, exact(known * large), exact(known / (p + 1)), alike)
        known -= spent * rest / most
    own = max(known, Fraction(0)) or Fraction(1, 2**_SHARE_BITS)
    yield Clones(log_ratio, exact(own * large), exact(own / (2 * p)), exact((1 - own) / p))


def _above(x: sympy.Expr) -> Fraction:
    """A fraction above x in (0, 1), and at most 1."""
    scale = 2**_SHARE_BITS
    return min(Fraction(math.ceil(float(x) * scale) + 1, scale), Fraction(1))


def _below(x: sympy.Expr) -> Fraction:
    """A fraction next to x in (0, 1)."""
    scale = 2**_SHARE_BITS
    return Fraction(math.floor(float(x) * scale), scale)


@clones_of_law.register
def _(law: FinitePairs) -> list[Clones]:
    """Of each two of finitely many laws, their own; each once."""
    laws = law.all_laws
    if laws is None or not all(isinstance(x, Fraction) for row in laws for x in row):
        return clones_of_law(Neighbours())
    return list(dict.fromkeys(_of_two(laws, *pair) for pair in combinations(laws, 2)))


def _of_two(
    laws: tuple[tuple[Exact, ...], ...], first: tuple[Exact, ...], second: tuple[Exact, ...]
) -> Clones:
    """The clones for two of the laws, exactly, where others have any of them.

    AssumptionError where an answer has probability 0 by some law and not by all.
    """
    least = [min(masses) for masses in zip(*laws, strict=True)]
    places = [(p, q, low) for p, q, low in zip(first, second, least, strict=True) if max(p, q) > 0]
    if any(low == 0 for _, _, low in places):
        raise AssumptionError(
            "found a FiniteMechanism with an answer that only some of its laws give, needed "
            "answers that all of them give",
            where="shuffled",
        )
    ratio = max(max(p / q, q / p) for p, q, _ in places)
    apart = [(p, q, low) for p, q, low in places if p != q]
    third = max(max(p, q) / low for p, q, low in apart)
    beta = sum(abs(p - q) for p, q, _ in apart) / 2
    share = ratio / (third * (ratio - 1))  # r Q₁ = share·(p − q)₊
    common = [
        (min(p, q) - abs(p - q) / (ratio - 1), low - share * abs(p - q)) for p, q, low in places
    ]
    quotients = [rest / both for both, rest in common if both > 0]
    own = beta * ratio / (ratio - 1)
    weight = 1 - own - beta / (ratio - 1)
    alike = weight * min(quotients) if quotients else Fraction(0)
    return Clones(exact(sympy.log(ratio)), own, own / third, alike)


# --- from below
#
# What others answer who all have a third value, merged to three kinds of answers.


# Proved in docs/proofs/mechanisms.md, Lemma third-value.
def clones_below(randomizer: Node) -> list[Clones]:
    """What some people's answers tell, who all have a third value; [] where that is not known."""
    response = response_of(randomizer)
    if response is not None:
        return _below_response(*response)
    return clones_below_law(law_of(randomizer))


def _below_response(epsilon: Exact, answers: int) -> list[Clones]:
    """k-ary response tells how many answers are one of the two values, k >= 3."""
    if answers < 3 or epsilon == 0:
        return []
    odds = sympy.exp(expression(epsilon))
    other = exact(1 / (odds + answers - 1))
    return [Clones(epsilon, exact(odds * other), other, None)]


@singledispatch
def clones_below_law(law: Neighbours) -> list[Clones]:
    """None is known."""
    return []


@clones_below_law.register
def _(law: AnyPure) -> list[Clones]:
    """Any randomizer may be response on three values."""
    return _below_response(law.pure, 3) if law.is_worst else []


@clones_below_law.register
def _(law: LaplaceShift) -> list[Clones]:
    """The two values are the ends of the interval, where nobody's answer is between, else its half.

    Answers beyond one end and beyond the other are told, or those on either side of the middle.
    """
    half = sympy.exp(-expression(law.shift) / 2)
    ends = Clones(law.shift, Fraction(1, 2), exact(half / 2), None)
    odds = exact(sympy.log(2 / half - 1))
    return [ends, Clones(odds, exact(1 - half / 2), Fraction(1, 2), None)]


@clones_below_law.register
def _(law: FinitePairs) -> list[Clones]:
    """The answers that one of two laws gives more often, and those that the other does.

    Where each law gives its own as often, and some third law both alike.
    """
    laws = law.all_laws
    if laws is None or not all(isinstance(x, Fraction) for row in laws for x in row):
        return []
    found = (_merged(laws, *pair) for pair in combinations(laws, 2))
    return list(dict.fromkeys(clones for clones in found if clones is not None))


def _merged(
    laws: tuple[tuple[Exact, ...], ...], first: tuple[Exact, ...], second: tuple[Exact, ...]
) -> Clones | None:
    """The clones of two laws that a third law has alike in both; None where no law does.

    The answers with p > q are one value, those with p < q the other. Of several third laws the one
    with the fewest clones is taken.
    """
    more = [p > q for p, q in zip(first, second, strict=True)]
    less = [p < q for p, q in zip(first, second, strict=True)]

    def mass(law: tuple[Exact, ...], kept: list[bool]) -> Fraction:
        return sum((x for x, is_kept in zip(law, kept, strict=True) if is_kept), Fraction(0))

    own, other = mass(first, more), mass(first, less)
    if (own, other) != (mass(second, less), mass(second, more)) or not other:
        return None
    thirds = {mass(law, more) for law in laws if mass(law, more) == mass(law, less)}
    if not thirds:
        return None
    return Clones(exact(sympy.log(own / other)), own, min(thirds), None)


# --- the counts of clones
#
# Of n people's answers x and x′ are of the first and of the second kind, and u of the third. With
# m = x + x′ and W = x − x′ the densities of both laws are S ± bW, b = β/(2rn) and
# S = ((p+1)am/2r + (1−(p+1)a)u/s)/n, under the law by which every answer is a clone with the
# probabilities r, r, s: then W is the sum of m fair signs. Of many people u is moved to multiples
# of a step, its mean kept, which tells more (docs/proofs/mechanisms.md, Lemma moved-clones).

#: Bits of chances beyond those of the precision, which second differences lose besides as many.
#: Where they are too few, the ball is wider.
_SPARE_BITS = 32


@dataclass(frozen=True)
class Steps:
    """By how much u may be moved: not at all of `few` people, else `deviations` of its own.

    That are `of_many` of 10⁵ people or more, of whom u hardly matters. Of these, counts m that are
    up to the share `block` apart are moved together; 0 moves none.
    """

    few: int
    deviations: float
    of_many: float = 2.0
    block: float = 2.0**-12

    def step(self, n: int, deviation: float) -> int:
        """The step for n people, `deviation` that of u."""
        if n <= self.few:
            return 1
        deviations = self.of_many if n >= _MANY_PEOPLE else self.deviations
        return max(1, math.floor(deviations * deviation))


#: From so many people on counts are moved together, and u hardly matters. What is moved tells more,
#: and so is sound: it costs sharpness, and saves time.
_MANY_PEOPLE = 10**5
#: A power series has at most so many terms, and so many and a share more than is estimated. The
#: rest is bounded: they cost time.
_MOST_POWERS, _SPARE_POWERS = 400, 8
#: Bits beyond the precision's are rounded up to a multiple of so many. Series of nearby questions
#: are shared for that: it costs time alone.
_ROUNDED_BITS = 64


class CloneCounts:
    """The counts m with the values of S and their chances, from the largest m down, in balls.

    `rows` has each m with its (S, chance), S rising; `slope` is b, and `seen` is the mass of either
    law in the rows.
    """

    def __init__(self, clones: Clones, n: int, steps: Steps) -> None:
        """Sum the chances of the counts within what the precision asks."""
        log_ratio, own, clone = map(BALL.number, (clones.log_ratio, clones.own, clones.clone))
        other = own * (-log_ratio).exp()
        both, self.slope = (own + other) / (2 * clone * n), (own - other) / (2 * clone * n)
        each, pull = (1 - own - other) / n, arb(0)
        #: tanh(log(p)/2), the largest |bW/S|, or a little more where m is moved.
        self.largest = (log_ratio / 2).tanh()
        size, least = 1, math.floor(n * float(clone))
        if n >= _MANY_PEOPLE and (moved := math.floor(2 * least * steps.block)) > 1:
            if clones.alike != 0:
                pull = each / (1 - 2 * clone)
            largest = self.slope * (least + moved) / (both * least - (both + pull) * moved)
            if 0 < largest < 1:
                size, self.largest = moved, largest
        self._powers: list[arb] = []
        self.rows: list[tuple[int, list[tuple[arb, arb]]]] = []
        tiny, counts = arb(2) ** -(BALL.bits + _SPARE_BITS), list(binomial(n, 2 * clone))[::-1]
        blocks = list(_blocks(counts, size, least))
        lows = [ends[-1][0] for _, ends in blocks]
        every = zip(blocks, lows, _others(clones, n, lows, steps), strict=True)
        for (m, ends), low, others in every:
            deadline.check()
            cells = [
                (both * e + each * u - pull * (e - low), chance * weight)
                for e, chance in ends
                for u, weight in others
            ]
            if cells := [cell for cell in cells if not cell[1] < tiny]:
                self.rows.append((m, sorted(cells, key=lambda cell: float(cell[0]))))
        self.seen = sum((s * chance for _, cells in self.rows for s, chance in cells), arb(0))

    # Proved in docs/proofs/mechanisms.md, Lemma moved-clones.
    def by_powers(self, signs: Signs, bits: int) -> arb | None:
        """Σ_i g_{2i} E[S (bW/S)^{2i}] to about so many bits, g of `signs`; None for too many terms.

        |bW/S| is at most d = `largest`, so that the terms from i on are at most E[S (bW/S)^{2i}]
        d^{−2i} times the largest value.
        """
        most = signs.most(self.largest)
        needed = self._terms(float(most.log()) + bits * math.log(2))
        if needed is None:
            return None
        if len(self._powers) < needed:
            self._powers = self._worked_out(needed)
        total, tiny = arb(0), arb(2) ** -bits
        for i, power in enumerate(self._powers):
            deadline.check()
            rest = most * power / self.largest ** (2 * i)
            if rest < tiny:
                break
            total += signs.coefficient(i) * power
        else:
            i += 1
            rest = most * self._powers[-1] / self.largest ** (2 * i - 2)
        return total + up_to(rest)

    def _terms(self, need: float) -> int | None:
        """Estimate how many powers make the rest e^{−need} of the largest value; None for too many.

        E[W^{2i}] is about (2i−1)!! m^i.
        """
        m, i = self.rows[len(self.rows) // 2][0], 0
        while need > 0:
            if i == _MOST_POWERS or 2 * i >= m:
                return None
            need, i = need - math.log(m / (2 * i + 1)), i + 1
        return i + _SPARE_POWERS + i // _SPARE_POWERS

    def _worked_out(self, count: int) -> list[arb]:
        """E[S (bW/S)^{2i}] over the rows for i < `count`."""
        powers = [arb(0)] * count
        for m, cells in self.rows:
            deadline.check()
            masses = [s * chance for s, chance in cells]
            squares = [(self.slope / s) ** 2 for s, _ in cells]
            for i, moment in enumerate(sign_moments(m, count)):
                powers[i] += moment * sum(masses, arb(0))
                masses = [x * square for x, square in zip(masses, squares, strict=True)]
        factorial = arb(1)
        for i in range(count):
            powers[i] *= factorial
            factorial *= (2 * i + 1) * (2 * i + 2)
        return powers

    def one_by_one(self, signs: Signs) -> arb:
        """E[S (1+bW/S)^α (1−bW/S)^{1−α}] over the rows, each by itself."""
        total = arb(0)
        for m, cells in self.rows:
            deadline.check()
            for s, chance in cells:
                total += s * chance * (signs.moment(m, self.slope * m / s) if m else 1)
        return total


# Proved in docs/proofs/mechanisms.md, Lemma clones-together.
def _blocks(
    counts: list[tuple[int, arb]], size: int, least: int
) -> Iterator[tuple[int, list[tuple[int, arb]]]]:
    """List (M, [(e, chance)]) of counts m, which fall: those e that m is moved to, its mean kept.

    They are the multiples of `size` on either side of m, first the larger one, M. Counts of at
    most `least`, rounded up to a multiple, and all of them where the size is 1, are not moved. So
    the least e of each M falls, too.
    """
    least = -(-least // size) * size
    for place, block in groupby(counts, lambda one: (one[0] <= least, -(-one[0] // size))):
        if size == 1 or place[0]:
            yield from ((m, [(m, chance)]) for m, chance in block)
            continue
        high, inside = size * place[1], list(block)
        upper = sum((chance * (m - high + size) for m, chance in inside), arb(0)) / size
        lower = sum((chance * (high - m) for m, chance in inside), arb(0)) / size
        yield high, [(high, upper), (high - size, lower)]


def _others(
    clones: Clones, n: int, counts: list[int], steps: Steps
) -> Iterator[list[tuple[arb, arb]]]:
    """The values of u/s and their chances for each m of `counts`, which fall."""
    if clones.alike is None:  # all others are of the third kind
        alike = 1 - 2 * BALL.number(clones.clone)
        for m in counts:
            yield [((n - m) / alike if m < n else arb(0), arb(1))]
        return
    if clones.alike == 0:
        yield from ([(arb(0), arb(1))] for _ in counts)
        return
    bits = 2 * BALL.bits + 2 * n.bit_length() + _SPARE_BITS
    with precision(bits):
        alike, clone = map(BALL.number, (clones.alike, clones.clone))
        rho = alike / (1 - 2 * clone)
        fewest, most = n - counts[0], n - counts[-1]
        share = float(rho)
        step = steps.step(n, math.sqrt(n * (1 - 2 * float(clone)) * share * (1 - share)))
        moved = MovedCount(rho, step, fewest, most)
    for m in counts:
        with precision(bits):
            while moved.count < n - m:
                moved.one_more()
            chances = moved.chances()
        yield [(u / alike, chance) for u, chance in chances]


# --- Rényi orders


@theorem(
    "SHUFFLED-TOLD",
    operation=Shuffled,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/mechanisms.md, three-clones"),
    orders=ALL_ORDERS,
    adjacency=REPLACE_ONE,
    applies=always,
    monotone=True,
    status="proved",
)
def as_if_told(ctx: Arithmetic, eps: RDPCurve, alpha: Order, n: int) -> Number:
    """ε′(α) <= ε(α), as if it were told whose answer is which"""
    return eps(alpha)


def _why_not(node: Node) -> str | None:
    """Why no clones are known; None where they are, and all parameters are numbers."""
    if node.free_symbols:
        return "found a symbol without a value, needed numbers"
    try:
        clones_of(node.mechanism)  # type: ignore[attr-defined]
    except AssumptionError as error:
        return str(error)
    return None


@theorem(
    "SHUFFLED-CLONES",
    operation=Shuffled,
    kind=Kind.UPPER,
    source=SYMACCT.at("docs/proofs/mechanisms.md, three-clones and moved-clones"),
    orders=ABOVE_ONE,
    adjacency=REPLACE_ONE,
    assumes="randomized response, finite laws, Laplace noise or pure DP, in numbers",
    applies=_why_not,
    partial=True,
    monotone=True,
    status="proved",
)
def by_clones(ctx: Arithmetic, eps: RDPCurve, alpha: Order, n: int) -> Number:
    """ε′(α) <= log E[S (1+bW/S)^α (1−bW/S)^{1−α}]/(α−1), with S and W by the counts of clones, and
    the largest for two inputs"""
    if isinstance(ctx, MpmathArithmetic):
        with precision(ctx.bits):
            return ctx.number(rational(by_clones(BALL, eps.using(BALL), alpha, n)))
    if not isinstance(ctx, BallArithmetic):
        raise DomainError(
            f"SHUFFLED-CLONES: found {type(ctx).__name__}, needed balls or mpmath: how many clones "
            "are summed depends on the numbers, so there is no one formula"
        )
    known = eps.remember("clones")
    randomizer = eps.node
    if known["clones"] is None:
        known["clones"] = clones_of(randomizer)
    logs = [_moment(each, n, alpha) for each in known["clones"]]
    return BALL.maximum(arb(0), *logs) / ctx.number(alpha - 1)


#: No clones are counted at orders α at which p^α has more bits. It costs time: the randomizer's own
#: curve, which is hardly larger there, is the bound.
_MOST_MORE_BITS = 2**14


def _moment(clones: Clones, n: int, alpha: Order) -> arb:
    """log of the mean over the counts of clones, of which what is negligible is bounded.

    A value may be p^α, so that as many bits more tell what is negligible. LimitError where these
    are too many.
    """
    more = float(alpha) * float(BALL.number(clones.log_ratio)) / math.log(2)
    bits = BALL.bits
    rounded = _ROUNDED_BITS * math.ceil(more / _ROUNDED_BITS)
    if rounded > _MOST_MORE_BITS:
        raise LimitError(
            f"SHUFFLED-CLONES: found order {echo(alpha)}, at which p^α has {rounded:,} bits, "
            f"needed at most {_MOST_MORE_BITS:,}"
        )
    with precision(bits + rounded):
        counts, signs = _counted(clones, n, BALL.bits), Signs(alpha)
        total = counts.by_powers(signs, bits)
        if total is None:
            total = counts.one_by_one(signs)
        left = (1 - counts.seen).max(arb(0))
        log: arb = (total + left.union(left * signs.most(counts.largest)) - 1).log1p()
        return log


#: By how much u and counts are moved for a Rényi curve. What is moved tells more, and so is sound:
#: larger steps are quicker, and ε larger.
_STEPS = Steps(few=30, deviations=2.0)


@lru_cache(32)
def _counted(clones: Clones, n: int, bits: int) -> CloneCounts:
    """The counts at the current precision, which is `bits`."""
    return CloneCounts(clones, n, _STEPS)
