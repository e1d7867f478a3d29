"""A guarantee as a file for Coq 8.16 with coq-interval: its numbers as a theorem on real numbers.

What the file imports is proved in the folder `coq/`; the papers' theorems are hypotheses there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor, log2
from typing import Any, NamedTuple

from flint import arb

from symacct.evidence.certificates.expression import end_as_fraction, upper
from symacct.kernel.answer import (
    Enclosure,
    Guarantee,
    given,
    order_text,
    rational_text,
)
from symacct.kernel.arithmetic.ball import ball, precision
from symacct.kernel.claims import ADD_REMOVE
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact
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

# --- expressions as terms
#
# Expressions as terms of the type `mechanism` of coq/Published.v.

#: The parts of a composition, each behind the number of its runs.
Terms = tuple[tuple[int, Node], ...]


class CoqLeaf(NamedTuple):
    """A mechanism by its name in coq/Published.v, and what the library proves of its samples."""

    name: str
    fields: tuple[str, ...]
    #: Have its Poisson samples a curve at every real order?
    at_real_orders: bool = True
    #: The theorem that bounds that curve by an integral over the noise's law, if one does.
    integral: str = ""
    #: The field that says with which probability the truth is told: its two laws are all there is.
    truth: str = ""


#: The leaves that the Coq library knows, by class.
_LEAVES: dict[type[Node], CoqLeaf] = {
    Gaussian: CoqLeaf("Gaussian", ("sigma", "sensitivity"), integral="normal"),
    ScalarGaussian: CoqLeaf("Gaussian", ("sigma", "sensitivity"), integral="normal"),
    Laplace: CoqLeaf("Laplace", ("b", "sensitivity"), integral="laplace"),
    RandomizedResponse: CoqLeaf("RandomizedResponse", ("p",), truth="p"),
    PureDP: CoqLeaf("PureDP", ("pure",)),
    ZCDP: CoqLeaf("ZCDP", ("rho", "xi"), at_real_orders=False),
}
#: What stands for an expression that is no leaf.
_OTHER = CoqLeaf("", (), at_real_orders=False)
_KNOWN = ", ".join(kind.__name__ for kind in _LEAVES)  # as messages list them


def none_yet(what: str, remedy: str) -> DomainError:
    """Make the error where there is no certificate."""
    return DomainError(f"no Coq certificate yet for {what}", remedy=remedy)


def terms(mechanism: Node) -> Terms:
    """List the parts with their numbers of runs; DomainError if Published.v lacks one."""
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


def leaf_of(part: Node) -> CoqLeaf:
    """Return what Coq knows of a part, or of what it samples."""
    noise = part.mechanism if isinstance(part, PoissonSubsample) else part
    return _LEAVES.get(type(noise), _OTHER)


def term(node: Node, inside: bool = False) -> str:
    """Write a node as a term; a composition only `inside` a sample. DomainError for others."""
    if type(node) in _LEAVES:
        known = _LEAVES[type(node)]
        return f"({known.name} {' '.join(real(getattr(node, name)) for name in known.fields)})"
    if type(node) is PoissonSubsample and node.adjacency == ADD_REMOVE and not inside:
        if node._rewritten is not node:
            other = echo(node._rewritten)
            raise none_yet(f"{echo(node)}, whose curve is that of {other}", "ask for that one")
        return f"(PoissonSubsample {term(node.mechanism, inside=True)} {real(node.gamma)})"
    if isinstance(node, Compose) and inside and node.terms:
        return composed([repeated(count, term(part, inside)) for part, count in node.terms.items()])
    raise none_yet(echo(node), f"needed {_KNOWN}, their Poisson samples, or a composition of those")


def repeated(count: object, run: str) -> str:
    """Write a term that is run so often; DomainError for an open number."""
    if not isinstance(count, int):
        raise none_yet(f"the open number of runs {echo(count)}", "give it a value by subs")
    return run if count == 1 else f"(Times {count} {run})"


def composed(runs: list[str]) -> str:
    """Compose terms, at least one, that are run one after the other."""
    return nested("(Compose {} ", runs)


def nested(head: str, texts: list[str]) -> str:
    """Write f(x, f(y, z)) of texts x, y, z, where `head` writes f of its first argument."""
    *others, last = texts
    return "".join(map(head.format, others)) + last + ")" * len(others)


def real(x: Exact) -> str:
    """Write an exact rational as a term of type R; DomainError for an irrational number."""
    if not isinstance(x, Fraction | int):
        raise none_yet(f"the irrational number {echo(x)}", "needed rational parameters")
    x = Fraction(x)
    whole = str(x.numerator) if x >= 0 else f"(- {-x.numerator})"
    return whole if x.denominator == 1 else f"({whole} / {x.denominator})"


def comment(text: str) -> str:
    """Make of a text one that can neither end a comment of Coq nor begin a string in it."""
    return text.replace('"', "'").replace("(*", "( *").replace("*)", "* )")


# --- the order, and what each part costs there
#
# Σ n ε(α) + conversion <= ε with room to spare, worked out so that Coq need not search.
#
# Nothing rests on a number found here: Coq works all of it out again, and fails where one is wrong.

#: Balls have this many bits before they are rounded up to the short numbers that Coq is told. Coq
#: proves the rounded numbers: of fewer bits they are larger.
_BITS = 512
#: ε(α) has this many significant digits before it is rounded up. Any number is sound: of fewer the
#: bound is larger.
_DIGITS = 60
#: Beyond this shift in units of the noise Coq's integrals take minutes, so a sum is written.
_STEEPEST_SHIFT = Fraction(5, 2)
#: An order is tried with fewer decimals than this, before it is taken as it is. Any order has a
#: proof: a shorter one is quicker for Coq.
_PLACES = 12
#: Each conversion adds this to a curve, by its name in coq/FiniteLaws.v.
CONVERSIONS: dict[str, Callable[[arb, arb], arb]] = {
    "improved": lambda a, delta: ((a - 1) / a).log() - (delta.log() + a.log()) / (a - 1),
    "classic": lambda a, delta: -delta.log() / (a - 1),
}


def orders(terms: Terms, best: Fraction, longest_sum: int) -> Iterator[Fraction]:
    """Yield orders near the best one: whole ones first, then those of few decimals.

    A whole one is left out if a part is a sum that would be longer than `longest_sum`.
    """
    sums = any(needs_sum(part) for _, part in terms)
    whole = [Fraction(n) for n in dict.fromkeys((floor(best), ceil(best))) if n >= 2]
    yield from (n for n in whole if n <= longest_sum or not sums)
    if not sums:
        yield from (a for a in (round(best, places) for places in range(1, _PLACES)) if a > 1)
        yield best


def needs_sum(part: Node) -> bool:
    """Is its curve in Coq a sum at whole orders and nothing else?"""
    if not isinstance(part, PoissonSubsample):
        return False
    leaf = leaf_of(part)
    is_steep = leaf.integral != "" and shift(part.mechanism) > _STEEPEST_SHIFT
    return is_steep or not leaf.at_real_orders


def shift(noise: Any) -> Fraction:
    """Compute how far a record moves the law, in units of its scale."""
    return Fraction(noise.sensitivity) / Fraction(getattr(noise, noise.noise_scale))


def short_above(x: Fraction, room: Fraction) -> Fraction:
    """Find a number of few digits in x + room/2 … x + room, for room > 0."""
    digits = 1
    while (short := Fraction(rational_text(x + room / 2, digits, up=True))) > x + room:
        digits += 1
    return short


class Spending:
    """A mechanism's parts, the claimed ε and δ, the order, and what each part costs there.

    The claim holds at this order if `room` is > 0.
    """

    def __init__(
        self,
        mechanism: Node,
        terms: Terms,
        epsilon: Fraction,
        delta: Fraction,
        alpha: Fraction,
        conversion: str,
    ) -> None:
        self.mechanism, self.terms = mechanism, terms
        self.epsilon, self.delta, self.alpha, self.conversion = epsilon, delta, alpha, conversion
        self.runs = sum(count for count, _ in terms)
        self.curves = [self._curve(part) for _, part in terms]
        with precision(_BITS):
            added = upper(CONVERSIONS[conversion](ball(alpha), ball(delta)))
        spent = sum(count * cost for (count, _), cost in zip(terms, self.curves, strict=True))
        #: The claimed ε leaves this room, in nats.
        self.room = epsilon - spent - added

    def _curve(self, part: Node) -> Fraction:
        by = "S22-POISSON" if needs_sum(part) else None
        return end_as_fraction(part.rdp(self.alpha, digits=_DIGITS, by=by).upper)

    @property
    def spare(self) -> Fraction:
        """Each run may cost this much more than it does, a half of the room in all."""
        return self.room / (2 * self.runs)

    @property
    def costs(self) -> list[Fraction]:
        """Short numbers above the curves, of the parts in their order."""
        return [short_above(curve, self.spare) for curve in self.curves]

    @property
    def bits(self) -> int:
        """The precision at which Coq sees that there is room."""
        return max(64, 48 + ceil(log2(self.runs * (1 + self.alpha) / self.room)))


# --- the three forms of a file
#
# The three forms of a file for Coq: a sum at a whole order, integrals, and finite laws alone.

#: A sum over orders has at most this many terms, which Coq sees in half a minute. More are refused.
LONGEST_SUM = 256
#: Integrals of up to this relative width in bits are found with the processor's own numbers. It
#: costs time alone: wider ones take Coq's own numbers.
_DOUBLE_BITS = 42
#: The comment of a file whose theorem has the premise that papers' theorems hold.
_ON_PAPERS = """It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers."""
#: The comment of a file whose theorem needs no premise.
_ON_NOTHING = """It rests on nothing but the axioms of Coq's real numbers and machine integers."""
#: The text that every Coq file begins with.
_HEAD = """\
(* {mechanism}

   is ({epsilon}, {delta})-DP: at the order {alpha}, by the {conversion} conversion.
   Neighbours: {relation}.
   {rests}
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := {real_epsilon}.
Definition delta : R := {real_delta}.
"""
#: The text of a Coq file whose conversion is at a whole order.
_AT_WHOLE_ORDER = """\
Definition expression : mechanism :=
  {expression}.

Theorem numerical : whole expression {alpha} + {conversion} {alpha} delta <= epsilon.
Proof. unfold expression, epsilon, delta. evaluate_whole {bits}%positive. Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. apply (whole_{conversion} rdp dp papers expression {alpha}).
  - unfold expression. in_range.
  - lia.
  - unfold delta. lra.
  - exact numerical.
Qed.
"""
#: The text of a Coq file whose conversion is at an order that is not whole.
_AT_REAL_ORDER = """\
Definition expression : mechanism :=
  {expression}.

(* Σ n ε(α) *)
Definition total : R := {total}.

Theorem numerical : costs alpha expression total /\\ total + {conversion} alpha delta <= epsilon.
Proof.
  split.
  - exact {proof}.
  - unfold total, {unfolded}, alpha, epsilon, delta. evaluate {bits}%positive.
Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. destruct numerical as [spending enough].
  apply (real_{conversion} rdp dp papers alpha expression total); try assumption.
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold expression, {parts}. in_range.
Qed.
"""
#: The text of the lemma about one part's cost.
_PART = """\
Definition part_{i} : mechanism := {term}.
Definition cost_{i} : R := {cost}.
{inner}
Lemma costs_{i} : costs alpha part_{i} cost_{i}.
Proof.
  unfold part_{i}, cost_{i}, alpha. cbn [costs]. {proof}
Qed.
"""
#: The text of the lemma about the integral in a part's cost.
_INNER = """
Lemma inner_{i} :
  RInt ({integrand} ({shift}) {gamma} {alpha}) {left} {right} <= {value}.
Proof.
  unfold {integrand}.
  integral with (i_prec {bits}, i_degree 10, i_fuel 10000, i_relwidth {width}).
Qed.
"""
#: The proof of a part's cost by its integral.
_BY_INTEGRAL = """
  eapply integral_at_most_le;
    [| apply {theorem}_integral with {ends}(inner := {value}); try lra; exact inner_{i}].
  evaluate {bits}%positive."""
#: The text of a Coq file about runs of randomized response, whose δ is a sum over answers.
_FINITE = """\
(* How often, and the pair (p, γ): the truth is told with probability p, of a sample of rate γ. *)
Definition runs : list (positive * (R * R)) :=
  [{runs}].
Definition costs_of_runs : list R := [{costs}].

Lemma each_costs : response_costs alpha runs costs_of_runs.
Proof.
  unfold response_costs, runs, costs_of_runs, alpha.
  repeat (apply Forall2_cons; [split; evaluate {bits}%positive |]). apply Forall2_nil.
Qed.

Theorem numerical : spent runs costs_of_runs + {conversion} alpha delta <= epsilon.
Proof. unfold runs, costs_of_runs, alpha, epsilon, delta. evaluate {bits}%positive. Qed.

(* In whatever order they are run, and however what was answered decides between the laws. *)
Theorem guarantee : forall schedule (s : strategy bool (length schedule)),
  Permutation schedule (kinds_of runs) -> scheduled response_of schedule s ->
  protects (run s) epsilon delta.
Proof.
  apply (response_{conversion} alpha runs costs_of_runs).
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold possible, runs. repeat (apply Forall_cons; [simpl; lra |]). apply Forall_nil.
  - exact each_costs.
  - exact numerical.
Qed.
"""


def proof(spending: Spending, relation: str) -> str:
    """Write the file of a claim that holds, by the shortest of the three forms that it has."""
    parts = [part for _, part in spending.terms]
    if all(leaf_of(part).truth for part in parts):
        body, rests = _finite(spending), _ON_NOTHING
    elif (
        any(isinstance(part, PoissonSubsample) for part in parts)
        and spending.alpha.denominator == 1
        and spending.alpha <= LONGEST_SUM
    ):
        body, rests = _whole(spending), _ON_PAPERS
    else:
        body, rests = _real(spending), _ON_PAPERS
    head = _HEAD.format(
        mechanism=comment(repr(spending.mechanism)),
        epsilon=given(spending.epsilon),
        delta=given(spending.delta),
        alpha=order_text(spending.alpha, 12),
        conversion=spending.conversion,
        relation=relation.replace("either", "of either relation"),
        rests=rests,
        real_epsilon=real(spending.epsilon),
        real_delta=real(spending.delta),
    )
    return f"{head}{body}"


def _alpha(spending: Spending) -> str:
    return f"Definition alpha : R := {real(spending.alpha)}.\n"


def _finite(spending: Spending) -> str:
    """Write the file for randomized response alone, which rests on no paper but its two laws."""
    runs = []
    for count, part in spending.terms:
        noise, gamma = part, Fraction(1)
        if isinstance(part, PoissonSubsample):
            noise, gamma = part.mechanism, part.gamma
        p = getattr(noise, leaf_of(part).truth)
        runs.append(f"({count}%positive, ({real(p)}, {real(gamma)}))")
    return _alpha(spending) + _FINITE.format(
        runs=";\n   ".join(runs),
        costs="; ".join(map(real, spending.costs)),
        conversion=spending.conversion,
        bits=spending.bits,
    )


def _whole(spending: Spending) -> str:
    """Write the file for a whole order, at which samples are finite sums."""
    return _AT_WHOLE_ORDER.format(
        expression=composed([repeated(count, term(part)) for count, part in spending.terms]),
        alpha=spending.alpha,
        conversion=spending.conversion,
        bits=spending.bits,
    )


def _real(spending: Spending) -> str:
    """Write the file for a real order, which proves the cost of each part and adds them up."""
    texts, totals, proofs = [_alpha(spending)], [], []
    for i, ((count, part), cost, curve) in enumerate(
        zip(spending.terms, spending.costs, spending.curves, strict=True), 1
    ):
        texts.append(_part(spending, i, part, cost, curve))
        totals.append(f"cost_{i}" if count == 1 else f"{count} * cost_{i}")
        proofs.append(f"costs_{i}" if count == 1 else f"(costs_times _ {count} _ _ costs_{i})")
    names = range(1, len(texts))
    texts.append(
        _AT_REAL_ORDER.format(
            expression=composed(
                [repeated(count, f"part_{i}") for i, (count, _) in enumerate(spending.terms, 1)]
            ),
            total=nested("{} + (", totals),
            proof=nested("(costs_compose _ _ _ _ _ {} ", proofs),
            unfolded=", ".join(f"cost_{i}" for i in names),
            parts=", ".join(f"part_{i}" for i in names),
            conversion=spending.conversion,
            bits=spending.bits,
        )
    )
    return "\n".join(texts)


def _part(spending: Spending, i: int, part: Node, cost: Fraction, curve: Fraction) -> str:
    """Write the lemma of a part's cost, proved by evaluation or by an integral."""
    inner, how = "", f"evaluate {spending.bits}%positive."
    if isinstance(part, PoissonSubsample) and leaf_of(part).integral:
        with precision(_BITS):
            inner, how = _integral(spending, i, part, cost, curve)
    return _PART.format(i=i, term=term(part), cost=real(cost), inner=inner, proof=how)


def _integral(
    spending: Spending, i: int, part: PoissonSubsample, cost: Fraction, curve: Fraction
) -> tuple[str, str]:
    """Write the integral over an interval, and the proof that its tails leave room."""
    alpha, gamma = spending.alpha, Fraction(part.gamma)
    noise: Any = part.mechanism
    s, theorem = shift(noise), leaf_of(part).integral
    quotient = f"{real(noise.sensitivity)} / {real(getattr(noise, noise.noise_scale))}"
    lam = ball(alpha - 1)
    moment = (lam * ball(curve)).exp()
    # Of what the moment may be larger, a half is for the integral and less than that for tails.
    spare = (lam * ball(cost)).exp() - moment
    if theorem == "normal":
        far = (16 / spare).log()
        left, peak = ceil(upper(_root(2 * far))), (ball(alpha * alpha - alpha) * ball(s) ** 2) / 2
        right = ceil(upper(ball(alpha * s) + _root(2 * (far + peak))))
        integrand, interval = "sampled_normal", (f"(- {left})", str(right))
        ends, tails = f"(L := {left}) (U := {right}) ", arb(0)
    else:
        integrand, interval = "between", ("0", f"({quotient})")
        ends = ""
        tails = (_power(-s, gamma, alpha) + (-ball(s)).exp() * _power(s, gamma, alpha)) / 2
    value = short_above(upper(moment - tails), upper(spare) / 2)
    width = max(10, 4 + ceil(-float((spare / moment).log() / arb(2).log())))
    inner = _INNER.format(
        i=i,
        integrand=integrand,
        shift=quotient,
        gamma=real(gamma),
        alpha=real(alpha),
        left=interval[0],
        right=interval[1],
        value=real(value),
        width=width,
        bits=53 if width <= _DOUBLE_BITS else width + 24,
    )
    how = _BY_INTEGRAL.format(
        i=i, theorem=theorem, ends=ends, value=real(value), bits=spending.bits
    )
    return inner, how


def _root(x: arb) -> arb:
    """Compute the square root of a number, which counts as 1 where it is less."""
    return x.max(arb(1)).sqrt()


def _power(t: Fraction, gamma: Fraction, alpha: Fraction) -> arb:
    """Compute (1 − γ + γe^t)^α, the power of the mixture's ratio at the loss t."""
    return (ball(alpha) * (1 + ball(gamma) * ball(t).expm1()).log()).exp()


# --- the question


def coq(guarantee: Guarantee, digits: int = 6) -> str:
    """Write the guarantee as the text of a Coq file, whose last theorem is what it says.

    The number asked is rounded to `digits` on its safe side. The order is the shortest near the
    guarantee's own at which the statement holds: a whole one's curve is a finite sum, a real one's
    of sampled noise an integral. Raises DomainError for what has no such file yet. Numbers in
    nats. Source: CKS20 and MIR17 for the conversions; coq/Published.v names the others.

    >>> from symacct import Laplace
    >>> print(coq((20 * Laplace(10)).epsilon("1e-5", conversion="improved")).splitlines()[0])
    (* 20*Laplace(10)
    """
    mechanism, best = guarantee.mechanism, guarantee.alpha
    if mechanism is None:
        raise none_yet("a guarantee without its expression", "ask a mechanism for it")
    if guarantee.conversion not in CONVERSIONS:
        raise none_yet(f"the {guarantee.conversion} conversion", "needed improved or classic")
    if best in (1, INFINITY):
        raise none_yet(f"the order {best}", "needed one between 1 and ∞, as with orders 2, 3, 4")
    epsilon, delta = (
        Fraction(x.rounded_up(digits) if isinstance(x, Enclosure) else x)
        for x in (guarantee.epsilon, guarantee.delta)
    )
    if not (0 < delta < 1 and epsilon > 0):
        raise none_yet(f"epsilon={epsilon} and delta={delta}", "needed 0 < delta < 1, epsilon > 0")
    parts = terms(mechanism)
    for alpha in orders(parts, Fraction(best), LONGEST_SUM):
        spending = Spending(mechanism, parts, epsilon, delta, alpha, guarantee.conversion)
        if spending.room > 0:
            return proof(spending, str(guarantee.claim.adjacency))
    raise none_yet(
        f"{echo(mechanism)} at epsilon={float(epsilon):.6g} and orders near {float(best):.6g}",
        f"needed whole orders up to {LONGEST_SUM} where a sample's curve is a sum, as "
        "with orders 2, 3, … and by S22-POISSON",
    )
