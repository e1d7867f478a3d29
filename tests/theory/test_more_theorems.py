"""Theorems with conditions, S22-POISSON, what is no theorem, and the theorem table."""

import pkgutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from symacct import (
    TCDP,
    ZCDP,
    AssumptionError,
    Curve,
    Gaussian,
    Kind,
    Laplace,
    OrderError,
    PoissonSubsample,
    SoundnessError,
    SubsampleWithoutReplacement,
    catalogue,
    theorems,
)
from symacct.baselines.ways import RARE
from symacct.explore.comparison import compare
from symacct.kernel import theorem_registry
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.claims import Proof
from symacct.kernel.conversion import FAILING_BELOW
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.evaluation import Evaluation
from symacct.profile import proofs
from symacct.theory.amplification import wbk19
from tests import independent
from tests.support import MP

POISSON = PoissonSubsample(Gaussian(5), "1/1000")
FIXED = SubsampleWithoutReplacement(Gaussian(5), "1/1000")

# --- conditions

SUBSET, ROOT = SubsampleWithoutReplacement, sympy.sqrt(2)
REFUSALS = [
    (PoissonSubsample(Gaussian(5), "1/4"), "MTZ19-T11", 3, AssumptionError, "q <= 1/5"),
    (PoissonSubsample(Gaussian(5), ROOT / 4), "MTZ19-T11", 3, AssumptionError, "q <= 1/5"),
    (PoissonSubsample(Gaussian(3), "1/100"), "MTZ19-T11", 3, AssumptionError, "σ/Δ >= 4"),
    (PoissonSubsample(Gaussian(6, 2), "1/100"), "MTZ19-T11", 3, AssumptionError, "σ/Δ >= 4"),
    (PoissonSubsample(Gaussian(ROOT), "1/100"), "MTZ19-T11", 3, AssumptionError, "σ/Δ >= 4"),
    (PoissonSubsample(Laplace(5), "1/100"), "MTZ19-T11", 3, AssumptionError, "Gaussian"),
    (POISSON, "MTZ19-T11", 800, OrderError, "σ²L/2"),
    (POISSON, "MTZ19-T11", "inf", OrderError, "inf"),
    (PoissonSubsample(Gaussian(5), "1/5"), "MTZ19-T11", 10, OrderError, "log"),
    (PoissonSubsample(Gaussian(5), "1/80"), "ACG16-L3", 3, AssumptionError, "q < Δ/"),
    (PoissonSubsample(Gaussian("9/10"), "1/80"), "ACG16-L3", 3, AssumptionError, "σ/Δ >= 1"),
    (PoissonSubsample(Gaussian(ROOT / 2), "1/100"), "ACG16-L3", 3, AssumptionError, "σ/Δ >= 1"),
    (POISSON, "ACG16-L3", 200, OrderError, "log"),
    (POISSON, "ACG16-L3", "5/2", OrderError, "integer"),
    (SUBSET(Gaussian(5), "1/5"), "BDRS18-T11", 3, AssumptionError, "s <= 1/10"),
    (SUBSET(Gaussian(2), "1/20"), "BDRS18-T11", 3, AssumptionError, "ρ <= 1/10"),
    (SUBSET(ZCDP(ROOT), "1/100"), "BDRS18-T11", 3, AssumptionError, "ρ <= 1/10"),
    (SUBSET(ZCDP("1/10"), "1/10"), "BDRS18-T11", 3, None, ""),
    (SUBSET(TCDP("1/50", 30), "1/20"), "BDRS18-T11", 3, AssumptionError, "ω >="),
    (SUBSET(Laplace(5), "1/20"), "BDRS18-T11", 3, AssumptionError, "TCDP"),
    (FIXED, "BDRS18-T11", 87, OrderError, "log"),
]


@pytest.mark.parametrize(("node", "name", "alpha", "error", "says"), REFUSALS)
def test_outside_its_conditions_a_theorem_names_the_one_that_fails(node, name, alpha, error, says):
    if error is None:
        assert node.rdp(alpha, by=name).upper > 0
        return
    with pytest.raises(error, match=None) as caught:
        node.rdp(alpha, by=name)
    assert says in str(caught.value)
    assert name in str(caught.value)


def test_a_value_remembered_inside_the_conditions_does_not_open_the_outside():
    assert POISSON.rdp(8, by="MTZ19-T11").upper > 0
    with pytest.raises(OrderError):
        POISSON.rdp(900, by="MTZ19-T11")
    with pytest.raises(OrderError):
        POISSON.rdp(np.array([3.0, 900.0]), by="MTZ19-T11", engine="float64")


def test_conditions_at_their_edge():
    # α < log(1/s)/(4ρ) = log(1000)/0.08 = 86.3…
    assert FIXED.rdp(86, by="BDRS18-T11").upper == FIXED.rdp(86, by="BDRS18-T11").upper
    # λ <= σ² log(1/(qσ)) = 25 log 200 = 132.45…
    assert POISSON.rdp(133, by="ACG16-L3").upper > 0
    with pytest.raises(OrderError):
        POISSON.rdp(134, by="ACG16-L3")


def test_a_search_with_a_pinned_theorem_stays_where_it_says_something():
    steps = 1000 * POISSON
    for name, least in (("ACG16-L3", 2), ("S22-POISSON", 2), ("ZW19-T5", 2), ("MTZ19-T11", 1)):
        found = steps.epsilon("1e-5", digits=10, by=name)
        assert found.alpha > least
        assert not found.optimal
        assert found.epsilon.upper >= steps.epsilon("1e-5", digits=10).epsilon.lower


# --- WBK19-T27: what bounds a term that is left out


@pytest.mark.parametrize("l", [2, 3, 7, 12, 15])
@pytest.mark.parametrize("sigma", ["1/2", 4])
def test_a_ternary_term_is_below_the_bound_by_which_it_is_left_out(l, sigma):
    """4√(B(2⌊l/2⌋)B(2⌈l/2⌉)), B(j) = Σ (−1)^{j−i} C(j,i) e^{i(i−1)/(2σ²)}, from mpmath."""

    def chi(j):
        at = independent.number(MP, Fraction(sigma))
        terms = (
            (-1) ** (j - i) * MP.binomial(j, i) * MP.exp(i * (i - 1) / 2 / at**2)
            for i in range(j + 1)
        )
        return MP.fsum(terms)

    with precision(120):
        eps = Evaluation(BALL).curve(Gaussian(sigma))
        difference = wbk19.differences(BALL, eps, range(2, 2 * l + 2, 2))
        spread = wbk19.loss_spread(BALL, eps)
        terms = wbk19.TernaryTerms(
            eps,
            difference=difference,
            power=lambda j: wbk19.ternary_power(BALL, eps, spread, difference, j),
        )
        bound = 4 * terms.log_moment(l).exp()
        assert terms(l) <= bound or terms(l).overlaps(bound)
        known = 4 * MP.sqrt(chi(2 * (l // 2)) * chi(2 * ((l + 1) // 2)))
        assert abs(MP.mpf(bound.str(40, radius=False)) / known - 1) < MP.mpf(10) ** -20


# --- S22-POISSON: the proof's steps on numbers, and the claim on random pairs

unit = st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def pointwise_gap(alpha, gamma, ratio):
    """c m^α + (1−c) r (1−γ+γ/r)^α + κ(r−1) − m^{1−α}, m = 1−γ+γr, c = 3(1−γ)/(3+2γ(α−2)).

    κ makes the slope at r = 1 vanish; its mean is 0, since E_Q[P/Q] = 1.
    """
    a, g, r = (arb(x.numerator) / x.denominator for x in map(Fraction, (alpha, gamma, ratio)))
    c = 3 * (1 - g) / (3 + 2 * g * (a - 2))
    m, swapped = 1 - g + g * r, 1 - g + g / r
    slope = (1 - a) * g - c * a * g - (1 - c) * (1 - a * g)
    return c * m**a + (1 - c) * r * swapped**a + slope * (r - 1) - 1 / m ** (a - 1)


@given(st.fractions(2, 60, max_denominator=7), unit, st.fractions(Fraction(1, 10**6), 10**4))
def test_the_pointwise_inequality_of_the_proof(alpha, gamma, ratio):
    with precision(400):
        gap = pointwise_gap(alpha, gamma, ratio)
        assert gap > 0 or gap.contains(0)


@pytest.mark.parametrize(("alpha", "gamma"), [(2, "1/10"), (Fraction(7, 2), "1/3"), (9, "9/10")])
def test_the_gap_of_equal_laws_is_0(alpha, gamma):
    """At P = Q the inequality holds with equality, so that no term of it may be larger."""
    with precision(200):
        gap = pointwise_gap(alpha, gamma, 1)
        assert gap.contains(0)
        assert abs(gap) < arb(2) ** -150


def test_it_speaks_of_curves_that_theorem_8_says_nothing_about():
    node = PoissonSubsample(Curve("alpha/50", kind="upper", adjacency="add_remove"), "1/100")
    with pytest.raises(AssumptionError):
        node.rdp(8, by="ZW19-T8")
    answer = node.rdp(8, by="S22-POISSON")
    assert answer.claim.kind is Kind.UPPER
    assert answer.upper < node.rdp(8, by="ZW19-T5").lower


# --- what is no theorem


def test_what_is_not_proved_is_a_number_and_never_certified_nor_a_guarantee():
    answer = FIXED.rdp(8, by="BLOG-C26")
    assert not answer.certified
    assert not answer.claim.certified
    assert not (3 * FIXED).rdp(8, by="BLOG-C26").certified
    for ask in (FIXED.epsilon, (3 * FIXED).epsilon, FIXED.delta):
        with pytest.raises(SoundnessError, match="refuted"):
            ask("1/100", by="BLOG-C26")
    (row,) = [row for row in compare(FIXED, 8) if row.name == "BLOG-C26"]
    assert not row.values[0].certified


def test_claim_26_is_exceeded_by_three_normal_laws_in_the_plane():
    """D₂ of the mixtures from below: E[(P−Q)²/q] >= E_R[((P−Q)/R)²]²/E_R[((P−Q)/R)² q/R]."""
    for sigma in (Fraction(2, 3), 1, 5):
        gamma = Fraction(1, 10**6)
        g, x = independent.number(MP, gamma), MP.exp(1 / (2 * independent.number(MP, sigma) ** 2))
        # The means are at mutual distance 1 from each other: inner products 1/2 about R's.
        spread, skew = 2 * x**2 - 2 * x, x**6 - x**4
        truth = MP.log1p(g**2 * spread**2 / ((1 - g) * spread + g * skew))
        claim = SubsampleWithoutReplacement(Gaussian(sigma), gamma).rdp(2, by="BLOG-C26")
        assert independent.fraction(claim.upper) < independent.fraction(truth)


#: What gives a number that is of no theorem for by=, by its code.
PROOFS = {
    proof.code: proof
    for proof in (RARE, FAILING_BELOW, *vars(proofs).values())
    if isinstance(proof, Proof)
}

# --- the table


def resolve(call):
    """What a row names: a Theorem, a Conversion, a Proof of a profile, a function or a class."""
    if call.startswith("conversion:"):
        return named_conversion(call.partition(":")[2])
    if call in PROOFS:
        return PROOFS[call]
    if "." not in call:
        return theorem_registry.named(call)
    return pkgutil.resolve_name(call)


@pytest.mark.parametrize("code", PROOFS)
def test_every_proof_has_the_source_of_its_row(code):
    (row,) = (row for row in catalogue.rows() if row.call == code)
    assert row.source == str(PROOFS[code].source)


@pytest.mark.parametrize("row", catalogue.rows(), ids=lambda row: f"{row.source}:{row.call}")
def test_every_row_names_what_exists_or_says_why_not(row):
    assert row.says
    assert row.status in ("proved", "conjecture", "approximation", "refuted")
    if row.call:
        assert resolve(row.call) is not None
    else:
        assert row.why


def test_every_registered_theorem_is_in_the_table():
    assert {t.name for t in theorems()} <= {row.call for row in catalogue.rows()}


def test_the_document_holds_the_table_as_it_is(tmp_path):
    document = Path(__file__).parents[2] / "docs" / "theorems.md"
    copy = tmp_path / "theorems.md"
    copy.write_text(document.read_text())
    catalogue.write(copy)
    assert copy.read_text() == document.read_text(), (
        "run symacct.catalogue.write on docs/theorems.md"
    )


def test_a_condition_on_the_order_is_asked_of_irrational_constants_too():
    node = PoissonSubsample(Gaussian(sympy.sqrt(26)), "1/100")
    assert float(node.rdp(3, by="MTZ19-T11")) == pytest.approx(2 * 1e-4 * 3 / 26)
    with pytest.raises(OrderError, match="MTZ19-T11 needs α"):
        node.rdp(10**4, by="MTZ19-T11")
