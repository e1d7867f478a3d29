"""An expression and its numbers as a certificate has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from operator import itemgetter
from typing import Any, NamedTuple

import mpmath
from flint import arb

from symacct.export.description import describe
from symacct.export.description import value as described
from symacct.kernel.answer import decimal_exponent, to_fraction
from symacct.kernel.arithmetic.ball import rational
from symacct.kernel.claims import EITHER
from symacct.kernel.errors import DomainError, cut
from symacct.kernel.formula import value_text
from symacct.kernel.node import Node
from symacct.kernel.operation import Compose, terms_of
from symacct.mechanisms import (
    ZCDP,
    DistributionPair,
    FiniteMechanism,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from symacct.mechanisms.response import response_of
from symacct.operations.subsample import PoissonSubsample, SubsampleWithoutReplacement

# --- what is said where there is no certificate yet

#: What an error says there are certificates for.
_WHAT_THERE_IS = (
    "there is one for Gaussian, Laplace, RandomizedResponse, PureDP and ZCDP, their Poisson "
    "samples, samples of fixed size by TRIPLE-PURE or by='TRIPLE-DOMINATED', and compositions, "
    "by the classic, improved and optimal conversion at one order; and by the exact one for "
    "Gaussian noise, two answers and laws in numbers, on Poisson samples or not"
)
#: An error shows at most this many characters of an expression.
_LONGEST = 400
#: A number has at most this many characters, which is how many the checker reads. A longer one is
#: refused.
_MOST_DIGITS = 400


def no_certificate(subject: str, remedy: str = _WHAT_THERE_IS) -> DomainError:
    """Make the error for what no certificate speaks of."""
    return DomainError(
        f"no certificate yet for {cut(subject, _LONGEST)}", where="certificate", remedy=remedy
    )


def number_text(x: Fraction | int) -> str:
    """Write a number in lowest terms; DomainError for one that is too long for the checker."""
    value = Fraction(x)
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    if bits > 4 * _MOST_DIGITS or len(text := str(value)) > _MOST_DIGITS:
        raise no_certificate(f"a number of more than {_MOST_DIGITS} digits")
    return text


def end_as_fraction(x: mpmath.mpf) -> Fraction:
    """Return an end of an enclosure as it is; DomainError for ∞, and where no rounding is short.

    A number with too many digits before or after the point would not even fit into memory.
    """
    if not mpmath.isfinite(x):
        raise no_certificate("an infinite bound")
    _, mantissa, power, _ = x._mpf_
    _refuse_long(int(mantissa), int(power))
    return to_fraction(x)


def _refuse_long(mantissa: int, power: int) -> None:
    """DomainError for mantissa · 2^power where a number of its size has too many digits."""
    if mantissa and abs(power + mantissa.bit_length()) > 4 * _MOST_DIGITS:
        raise no_certificate(f"a number of more than {_MOST_DIGITS} digits")


# --- numbers
#
# Numbers of a certificate: decimal fractions not below what they bound, and a little above it.

#: A bound is above what it bounds by at least one over this of its last digit's unit.
_MARGIN_PARTS = 64


def above(x: Fraction, digits: int) -> Fraction:
    """Round up to the least decimal of so many digits above x >= 0 by 1/64 of the last digit.

    Equality can't be decided in intervals: the margin is what lets a checker prove the claim.

    >>> print(above(Fraction(1, 3), 4), above(Fraction(2), 3))
    1667/5000 201/100
    """
    if x <= 0:
        return Fraction(0)
    step = Fraction(10) ** (decimal_exponent(x) - digits + 1)
    return -((-x / step - Fraction(1, _MARGIN_PARTS)) // 1) * step


def upper(x: arb) -> Fraction:
    """Return the upper end of a finite ball; DomainError where no rounding of it is short."""
    end = x.upper()
    mantissa, power = end.man_exp()
    _refuse_long(int(mantissa), int(power))
    return rational(end)


# --- expressions
#
# An expression as a certificate has it: a tree of JSON types, and its text with all named.

#: The operations that a certificate takes for samples.
SAMPLES = (PoissonSubsample, SubsampleWithoutReplacement)


class KnownLeaf(NamedTuple):
    """What the checker knows of a mechanism: the open ranges of its parameters, and theorems."""

    ranges: dict[str, tuple[int, int | None]]
    #: Its curve rests on this theorem.
    curve: str
    #: Its exact profile rests on these; None where the checker has no proof of that.
    profile: tuple[str, ...] | None = None


class KnownLaws(NamedTuple):
    """What the checker knows of a mechanism that is laws in numbers: fields, pairs of (p, q)."""

    fields: tuple[str, ...]
    pairs: Callable[[Any], Iterable[Iterable[tuple[Fraction, Fraction]]]]


#: The leaves that the checker knows, each with the ranges of its parameters.
LEAVES: dict[type[Node], KnownLeaf] = {
    Gaussian: KnownLeaf({"sigma": (0, None), "sensitivity": (0, None)}, "MIR17-T2", ("ZDW22",)),
    Laplace: KnownLeaf({"b": (0, None), "sensitivity": (0, None)}, "MIR17-T2"),
    RandomizedResponse: KnownLeaf({"p": (0, 1)}, "MIR17-T2", ("ZDW22",)),
    PureDP: KnownLeaf({"epsilon": (0, None)}, "KOV15", ("KOV15", "ZDW22")),
    ZCDP: KnownLeaf({"rho": (0, None), "xi": (-1, None)}, "BS16-D1.1"),
}
#: The leaves whose laws a certificate lists.
LAWS: dict[type[Node], KnownLaws] = {
    FiniteMechanism: KnownLaws(("laws",), lambda m: m.pairs),
    DistributionPair: KnownLaws(("P", "Q"), lambda m: [m.masses or ()]),
}


def parts_of(node: Node) -> list[tuple[Node, int]]:
    """List the parts of an expression and their counts, in the order of the parts' texts.

    DomainError for no parts, and for an open count.
    """
    terms = terms_of(node)
    counted = [(part, count) for part, count in terms.items() if isinstance(count, int)]
    if not terms or len(counted) < len(terms):
        raise no_certificate(f"the composition {node!r}")
    return sorted(counted, key=lambda term: written(term[0])[1])


def written(node: Node, inside: bool = False) -> tuple[dict[str, Any], str]:
    """Write the tree and the text of an expression; DomainError for what no certificate knows.

    `inside` says that it is in a sample, where no other sample may be.

    >>> from symacct import Laplace
    >>> tree, text = written(2 * Laplace("2/4"))
    >>> print(text, tree["terms"][0][0])
    2*Laplace(b='1/2', sensitivity='1') 2
    """
    name = type(node).__name__
    if isinstance(node, Compose):
        terms = [(*written(part, inside), number_text(count)) for part, count in parts_of(node)]
        terms = sorted(terms, key=itemgetter(1))
        tree: dict[str, Any] = {"type": name, "terms": [[n, subtree] for subtree, _, n in terms]}
        texts = [text if count == "1" else f"{count}*{text}" for _, text, count in terms]
        return tree, " + ".join(texts)
    if isinstance(node, SAMPLES) and not inside:
        below, text = written(node.mechanism, inside=True)
        gamma, relation = _number(node, "gamma", 0, 1), node.adjacency.relation.value
        tree = {"type": name, "mechanism": below, "gamma": gamma, "adjacency": relation}
        return tree, f"{name}(mechanism={text}, gamma='{gamma}', adjacency='{relation}')"
    if made := response_of(node):
        epsilon = value_text(made[0])
        shown = described(made[0])
        raise no_certificate(
            describe(node),
            f"it is {shown}-DP: the certificate of PureDP({epsilon}) in its place proves a "
            "larger ε, which is true of this mechanism too",
        )
    if type(node) in LAWS and _is_plain(node):
        laws = {field: _laws(node.fields()[field]) for field in LAWS[type(node)].fields}
        named = ", ".join(f"{field}={value!r}" for field, value in laws.items())
        return {"type": name, **laws}, f"{name}({named})"
    if type(node) not in LEAVES or node.claim.adjacency != EITHER:
        where = " inside a sample" if inside else f" under {node.claim.adjacency}"
        raise no_certificate(
            f"{name}{where if isinstance(node, SAMPLES) or type(node) in LEAVES else ''}"
        )
    ranges = LEAVES[type(node)].ranges
    values = {field: _number(node, field, *ends) for field, ends in ranges.items()}
    named = ", ".join(f"{field}='{value}'" for field, value in values.items())
    return {"type": name, **values}, f"{name}({named})"


def _is_plain(node: Node) -> bool:
    """Is the pair given by its masses alone, without a relation, a role or a size of the data?"""
    fields = node.fields()
    return (
        node.claim.adjacency == EITHER
        and fields.get("with_record", "either") == "either"
        and fields.get("records") is None
        and all(isinstance(fields[field], tuple) for field in LAWS[type(node)].fields)
    )


def _laws(law: Any) -> Any:
    """Write a law, or a list of laws, as a certificate has it."""
    return [_laws(x) for x in law] if isinstance(law, tuple) else number_text(law)


def _number(node: Node, field: str, low: int, high: int | None) -> str:
    """Write a parameter that is a rational number in its open range; DomainError for another."""
    value = node.fields()[field]
    if isinstance(value, Fraction | int):
        text = number_text(value)
        if value > low and (high is None or value < high):
            return text
    raise no_certificate(f"{type(node).__name__} with {field} = {described(value)}")
