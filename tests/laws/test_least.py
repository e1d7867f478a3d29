"""No answer is above a bound that others have proved and that applies, nor above a way of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    ZCDP,
    ApproximateDP,
    Compose,
    Failing,
    Gaussian,
    GroupPrivacy,
    InfiniteError,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    SymacctError,
    sample_with_replacement,
    theorems,
)
from symacct.baselines import advanced, naive, optimal, with_replacement
from symacct.kernel import limits
from symacct.kernel.exact import INFINITY
from symacct.kernel.theorem_registry import is_about
from tests.thinning import examples

DIGITS = 4
#: Of a bound: the two numbers are rounded to the safe side, to so many digits.
ROUNDED = 1 + 10.0 ** (1 - DIGITS)
DELTAS = st.sampled_from([Fraction(1, 10**9), Fraction(1, 10**5), Fraction(1, 1000)])
COUNTS = st.sampled_from([1, 2, 10, 60])
SMALL = st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(3)])
SCALES = st.sampled_from([Fraction(2, 3), Fraction(2), Fraction(7)])
RATES = st.sampled_from([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)])
TINY = st.sampled_from([Fraction(1, 10**8), Fraction(1, 10**6)])

NOISES = st.builds(Gaussian, SCALES) | st.builds(Laplace, SCALES)
PURE = st.builds(PureDP, SMALL) | st.builds(Laplace, SCALES)
LEAVES = PURE | st.builds(ZCDP, SMALL) | st.builds(Gaussian, SCALES)
LEAVES |= st.just(RandomizedResponse(Fraction(2, 3)))
SAMPLES = st.builds(PoissonSubsample, NOISES, RATES)
PARTS = {
    "pure": PURE,
    "zCDP": st.builds(ZCDP, SMALL) | st.builds(Gaussian, SCALES) | st.builds(PureDP, SMALL),
    "failing": st.builds(ApproximateDP, SMALL, TINY) | st.builds(Failing, LEAVES, TINY),
    "sample": SAMPLES,
    "fixed size": st.builds(SubsampleWithoutReplacement, NOISES, RATES),
    "mixed": LEAVES | st.builds(ApproximateDP, SMALL, TINY),
}


def terms_of(m):
    return m.terms if isinstance(m, Compose) else {m: 1}


def upper(bound):
    """The upper end of an enclosure, or of a guarantee's ε."""
    return float(getattr(bound, "epsilon", bound).upper)


def epsilon(m, delta, conversion="best", by=None):
    return m.epsilon(delta, DIGITS, conversion, by=by)


def pure_of(m):
    """(e, d) for which it is (e, d)-DP with no more said, or None."""
    if isinstance(m, Failing):
        inner = pure_of(m.mechanism)
        return inner and (inner[0], 1 - (1 - inner[1]) * (1 - m.fields()["delta"]))
    if isinstance(m, ApproximateDP):
        return m.fields()["epsilon"], m.fields()["delta"]
    top = m.rdp("inf", digits=20)
    return (
        None if float(top.upper) == INFINITY else (Fraction(str(top.rounded_up(12))), Fraction(0))
    )


def rho_of(m):
    """ρ for which it is ρ-zCDP by what is known of the leaf alone (Bun and Steinke), or None."""
    if isinstance(m, Gaussian):
        return float((m.sensitivity / m.sigma) ** 2 / 2)
    if isinstance(m, ZCDP):
        return float(m.rho)
    stated = pure_of(m)
    return float(stated[0]) ** 2 / 2 if stated and not stated[1] else None


def of_composition(m, delta) -> Iterator[tuple[str, float]]:
    """The bounds of a composition by (ε, δ) of its parts, and by ρ."""
    terms = terms_of(m)
    stated = {part: pure_of(part) for part in terms}
    if all(stated.values()):
        total = [naive(*stated[part], k) for part, k in terms.items()]
        if sum(k * stated[part][1] for part, k in terms.items()) <= delta:
            yield "basic composition", sum(upper(one) for one in total)
        if len(terms) == 1:
            ((part, k),) = terms.items()
            e, d = stated[part]
            with suppress(SymacctError):
                yield "optimal composition", upper(optimal(e, d, k, delta))
            if delta > k * d:
                yield "advanced composition", upper(advanced(e, d, k, delta - k * d))
    rhos = {part: rho_of(part) for part in terms}
    if None not in rhos.values():
        rho = sum(k * rhos[part] for part, k in terms.items())
        yield "zCDP", rho + 2 * sqrt(rho * log(1 / float(delta)))
    with suppress(SymacctError):
        runs = sum(terms.values())
        yield (
            "basic composition of the best of each",
            sum(k * upper(epsilon(part, delta / runs)) for part, k in terms.items()),
        )


def of_conversions(m, delta) -> Iterator[tuple[str, float]]:
    """By one Rényi order, with every theorem by its name."""
    for conversion in ("classic", "improved", "optimal", "exact"):
        for name in [None, *(t.name for t in theorems() if any(is_about(t, n) for n in m.walk()))]:
            if name is not None and conversion in ("exact", "optimal"):
                continue
            with suppress(SymacctError):
                yield f"{conversion} by {name}", upper(epsilon(m, delta, conversion, name))


def check(m, delta, bounds):
    found = INFINITY
    with limits.limits(seconds=5), suppress(InfiniteError):
        found = upper(epsilon(m, delta))
    above = [f"{name}: {bound}" for name, bound in bounds if found > bound * ROUNDED]
    assert not above, f"{m!r} at {delta}: {found} is above {'; '.join(above)}"


@pytest.mark.parametrize("kind", PARTS)
def test_no_composition_is_above_what_its_parts_prove(kind):
    @examples(3, 300)
    @given(st.lists(st.tuples(PARTS[kind], COUNTS), min_size=1, max_size=3), DELTAS)
    def law(parts, delta):
        m = sum((k * part for part, k in parts), start=Compose())
        check(m, delta, of_composition(m, delta))

    law()


@pytest.mark.parametrize("kind", PARTS)
def test_no_answer_is_above_a_conversion_by_any_theorem(kind):
    @examples(1, 100)
    @given(PARTS[kind], COUNTS, DELTAS)
    def law(part, count, delta):
        m = count * part
        check(m, delta, of_conversions(m, delta))

    law()


@examples(1, 60)
@given(SCALES, st.sampled_from([(1000, 10), (50, 5)]), COUNTS, DELTAS)
def test_no_sample_with_replacement_is_above_the_rare_draws_left_out(sigma, sizes, count, delta):
    m = count * sample_with_replacement(Gaussian(sigma), *sizes)
    bound = with_replacement(delta, sigma, *sizes, count, digits=DIGITS)
    check(m, delta, [("with_replacement", upper(bound))])


@examples(2, 100)
@given(st.one_of(LEAVES, SAMPLES), st.integers(2, 4), DELTAS)
def test_no_group_is_above_what_one_record_proves(part, size, delta):
    """(ε, d)-DP is (kε, d(e^{kε} − 1)/(e^ε − 1))-DP for groups of k (Vadhan 2017, Lemma 2.2)."""
    m, bounds = GroupPrivacy(part, size), []
    for share in range(2, 40, 4):
        d = delta / 10**share
        with suppress(SymacctError):
            e = upper(epsilon(part, d))
            if float(d) * sum(2.718281828459046 ** (i * e) for i in range(size)) <= float(delta):
                bounds.append((f"groups by δ/10^{share}", size * e))
    check(m, delta, bounds)
