"""The three forms of a file for Coq: a sum at a whole order, integrals, and finite laws alone."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from flint import arb

from symacct.evidence.certificates.coq.spending import Spending, shift, short_above
from symacct.evidence.certificates.coq.terms import comment, composed, real, repeated, term
from symacct.evidence.certificates.rounding import upper
from symacct.kernel.answer import given, order_text
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.node import Node
from symacct.kernel.sums.balls import ball
from symacct.mechanisms import Gaussian, Laplace, RandomizedResponse
from symacct.operations import PoissonSubsample

#: Terms of a sum over orders, which Coq sees in half a minute.
LONGEST_SUM = 256
_BITS = 512
_DOUBLE_BITS = 42  # up to which integrals are found with the processor's own numbers
_ON_PAPERS = """It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers."""
_ON_NOTHING = """It rests on nothing but the axioms of Coq's real numbers and machine integers."""
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
_PART = """\
Definition part_{i} : mechanism := {term}.
Definition cost_{i} : R := {cost}.
{inner}
Lemma costs_{i} : costs alpha part_{i} cost_{i}.
Proof.
  unfold part_{i}, cost_{i}, alpha. cbn [costs]. {proof}
Qed.
"""
_INNER = """
Lemma inner_{i} :
  RInt ({integrand} ({shift}) {gamma} {alpha}) {left} {right} <= {value}.
Proof.
  unfold {integrand}.
  integral with (i_prec {bits}, i_degree 10, i_fuel 10000, i_relwidth {width}).
Qed.
"""
_BY_INTEGRAL = """
  eapply integral_at_most_le;
    [| apply {theorem}_integral with {ends}(inner := {value}); try lra; exact inner_{i}].
  evaluate {bits}%positive."""
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


def proof(said: Spending, relation: str) -> str:
    """The file of a claim that holds."""
    parts = [part for _, part in said.terms]
    if all(isinstance(_noise(part), RandomizedResponse) for part in parts):
        body, rests = _finite(said), _ON_NOTHING
    elif (
        any(isinstance(part, PoissonSubsample) for part in parts)
        and said.alpha.denominator == 1
        and said.alpha <= LONGEST_SUM
    ):
        body, rests = _whole(said), _ON_PAPERS
    else:
        body, rests = _real(said), _ON_PAPERS
    head = _HEAD.format(
        mechanism=comment(repr(said.mechanism)),
        epsilon=given(said.epsilon),
        delta=given(said.delta),
        alpha=order_text(said.alpha, 12),
        conversion=said.conversion,
        relation=relation.replace("either", "of either relation"),
        rests=rests,
        real_epsilon=real(said.epsilon),
        real_delta=real(said.delta),
    )
    return f"{head}{body}"


def _noise(part: Node) -> Node:
    return part.mechanism if isinstance(part, PoissonSubsample) else part


def _alpha(said: Spending) -> str:
    return f"Definition alpha : R := {real(said.alpha)}.\n"


def _finite(said: Spending) -> str:
    runs = []
    for count, part in said.terms:
        p = _noise(part).p  # type: ignore[attr-defined]
        gamma = part.gamma if isinstance(part, PoissonSubsample) else 1
        runs.append(f"({count}%positive, ({real(p)}, {real(gamma)}))")
    return _alpha(said) + _FINITE.format(
        runs=";\n   ".join(runs),
        costs="; ".join(map(real, said.costs)),
        conversion=said.conversion,
        bits=said.bits,
    )


def _whole(said: Spending) -> str:
    return _AT_WHOLE_ORDER.format(
        expression=composed([repeated(count, term(part)) for count, part in said.terms]),
        alpha=said.alpha,
        conversion=said.conversion,
        bits=said.bits,
    )


def _real(said: Spending) -> str:
    texts, totals, proofs = [_alpha(said)], [], []
    for i, ((count, part), cost, curve) in enumerate(
        zip(said.terms, said.costs, said.curves, strict=True), 1
    ):
        texts.append(_part(said, i, part, cost, curve))
        totals.append(f"cost_{i}" if count == 1 else f"{count} * cost_{i}")
        proofs.append(f"costs_{i}" if count == 1 else f"(costs_times _ {count} _ _ costs_{i})")
    names = range(1, len(texts))
    *others, last = proofs
    combined = "".join(f"(costs_compose _ _ _ _ _ {one} " for one in others) + last
    *sums, final = totals
    texts.append(
        _AT_REAL_ORDER.format(
            expression=composed(
                [repeated(count, f"part_{i}") for i, (count, _) in enumerate(said.terms, 1)]
            ),
            total="".join(f"{one} + (" for one in sums) + final + ")" * len(sums),
            proof=combined + ")" * len(others),
            unfolded=", ".join(f"cost_{i}" for i in names),
            parts=", ".join(f"part_{i}" for i in names),
            conversion=said.conversion,
            bits=said.bits,
        )
    )
    return "\n".join(texts)


def _part(said: Spending, i: int, part: Node, cost: Fraction, curve: Fraction) -> str:
    inner, how = "", f"evaluate {said.bits}%positive."
    if isinstance(part, PoissonSubsample) and isinstance(part.mechanism, Gaussian | Laplace):
        with precision(_BITS):
            inner, how = _integral(said, i, part.mechanism, Fraction(part.gamma), cost, curve)
    return _PART.format(i=i, term=term(part), cost=real(cost), inner=inner, proof=how)


def _integral(
    said: Spending,
    i: int,
    noise: Gaussian | Laplace,
    gamma: Fraction,
    cost: Fraction,
    curve: Fraction,
) -> tuple[str, str]:
    """The integral over an interval, and the proof that its tails leave room."""
    alpha = said.alpha
    s = shift(noise)
    scale = noise.sigma if isinstance(noise, Gaussian) else noise.b
    quotient = f"{real(noise.sensitivity)} / {real(scale)}"
    lam = ball(alpha - 1)
    moment = (lam * ball(curve)).exp()
    # Of what the moment may be larger, a half is for the integral and less than that for tails.
    spare = (lam * ball(cost)).exp() - moment
    if isinstance(noise, Gaussian):
        far = (16 / spare).log()
        left, peak = ceil(upper(_root(2 * far))), (ball(alpha * alpha - alpha) * ball(s) ** 2) / 2
        right = ceil(upper(ball(alpha * s) + _root(2 * (far + peak))))
        integrand, interval = "sampled_normal", (f"(- {left})", str(right))
        theorem, ends, tails = "normal", f"(L := {left}) (U := {right}) ", arb(0)
    else:
        integrand, interval = "between", ("0", f"({quotient})")
        theorem, ends = "laplace", ""
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
    how = _BY_INTEGRAL.format(i=i, theorem=theorem, ends=ends, value=real(value), bits=said.bits)
    return inner, how


def _root(x: arb) -> arb:
    """The square root of a number, of 1 where it is less."""
    return x.max(arb(1)).sqrt()


def _power(t: Fraction, gamma: Fraction, alpha: Fraction) -> arb:
    """The power of the mixture's ratio at the loss t."""
    return (ball(alpha) * (1 + ball(gamma) * ball(t).expm1()).log()).exp()
