"""What values are held against: checked with methods that are not ours, and from both sides."""

import math
import re
import warnings
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from symacct import ZCDP, Accountant, Gaussian, OrderGridWarning, PoissonSubsample
from symacct.kernel.accountant import FormulaAccountant
from symacct.kernel.answer import Enclosure
from symacct.kernel.claims import Claim, Kind
from symacct.profile.contours import Contour
from symacct.verify.judging import matching
from symacct.verify.judging.bounds import Truth, decimal_text, ends
from symacct.verify.judging.truth import Oracle, _lower_or_zero, _reflected, node, readings
from symacct.verify.judging.verdict import Finding, Judge, excess, explained_by_rounding
from symacct.verify.peer.protocol import LARGEST, Answer, Ask, AskedPart, Hello, Support

ONE = Truth(Fraction(1), Fraction(1), exact=True)
GAUSSIAN = AskedPart("Gaussian", (("sigma", "1"),))
SAMPLED = AskedPart("Gaussian", (("sigma", "2"),), "poisson", "0.1")
FIXED = AskedPart("Gaussian", (("sigma", "2"),), "without_replacement", "0.1")


def judged(part, kind, at, value, claims=None, relation="add_remove", conversion=None):
    hello = Hello(
        "p", "1", (Support(part.mechanism, part.sampling, relation),), conversion=conversion
    )
    answer = Answer(value=Fraction(value) if math.isfinite(value) else value, claims=claims)
    return Judge(Oracle(), hello).judge(Ask(kind, (part,), at, relation), answer)


@pytest.mark.parametrize(
    ("value", "verdict"), [("1/10", "unsound"), ("2", "slow"), ("3", "loose"), (None, "slow")]
)
def test_a_number_that_comes_late_is_judged_all_the_same(value, verdict):
    """ε(4) of noise of σ = 1 is 2; where it is right, or is none, it is late alone."""
    hello = Hello("p", "1", (Support("Gaussian", "none", "add_remove"),))
    given = {"late": True} if value is None else {"value": Fraction(value)}
    answer = Answer(**given, seconds=3.0)
    ask = Ask("rdp", (GAUSSIAN,), "4", "add_remove")
    assert Judge(Oracle(), hello).judge(ask, answer).verdict == verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(-math.inf, "negative"), (math.nan, "nan"), (math.inf, None), (1.0, None)],
)
def test_what_no_truth_is_known_of_is_judged_by_its_sign(value, verdict, monkeypatch):
    monkeypatch.setattr(Oracle, "truth", lambda self, ask: None)
    found = judged(GAUSSIAN, "rdp", "4", value)
    assert (found and found.verdict) == verdict
    assert found is None or found.below is (verdict == "negative")


def density(z, mean, sigma):
    """The normal density, of an array too."""
    return np.exp(-((z - mean) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))


def integral(function, first, last):
    """∫ by mpmath's Gauss–Legendre rule on twenty pieces."""
    return float(mpmath.quad(function, mpmath.linspace(first, last, 21), method="gauss-legendre"))


def quadrature(sigma, gamma, alpha):
    """ε(α) of the sampled Gaussian."""

    def integrand(z):
        ratio = 1 - gamma + gamma * math.exp((2 * z - 1) / (2 * sigma**2))
        return float(density(float(z), 0, sigma)) * ratio**alpha

    return math.log(integral(integrand, -12 * sigma, alpha + 12 * sigma)) / (alpha - 1)


@pytest.mark.parametrize("alpha", ["2", "3.7", "12"])
def test_rdp_by_quadrature(alpha):
    truth = Oracle().truth(Ask("rdp", (SAMPLED,), alpha))
    assert truth.exact
    assert float(truth.upper) == pytest.approx(quadrature(2, 0.1, float(alpha)), rel=1e-8)


def test_of_an_order_grid_of_ours_nobody_is_warned():
    m = PoissonSubsample(Gaussian(10_000), "1e-6")
    with pytest.warns(OrderGridWarning):
        Accountant().epsilon(m, "1e-12", "improved")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Oracle().ask("epsilon", m, "1e-12", "improved")


def test_both_readings_of_a_number_are_enclosed():
    ask = Ask("rdp", (AskedPart("Gaussian", (("sigma", "0.1"),)),), "2")
    truth = Oracle().truth(ask)
    by_text, by_float = Fraction(100), 1 / Fraction(0.1) ** 2
    assert truth.lower <= min(by_text, by_float) < max(by_text, by_float) <= truth.upper
    assert len(readings(ask)) == 2
    assert len(readings(Ask("rdp", (GAUSSIAN,), "2.5"))) == 1


def sampled_hockey_stick(sigma, gamma, epsilon):
    """δ(ε) of one sampled run by quadrature: ∫ (P̂ − e^ε Q)₊, P̂ = (1−γ)Q + γP."""

    def excess(z):
        q, p = (float(density(float(z), mean, sigma)) for mean in (0, 1))
        return (1 - gamma) * q + gamma * p - math.exp(epsilon) * q

    first = 0.5 + sigma**2 * math.log1p(math.expm1(epsilon) / gamma)
    return integral(excess, first, first + 12 * sigma)


def test_delta_of_one_run_by_quadrature():
    truth = Oracle().truth(Ask("delta", (SAMPLED,), "0.1"))
    assert float(truth.lower) == pytest.approx(sampled_hockey_stick(2, 0.1, 0.1), rel=1e-7)
    assert truth.lower < truth.upper


def test_what_would_take_too_long_is_bracketed(monkeypatch):
    """Two million nodes would give this profile; bounds are found in its place."""
    small = AskedPart("Gaussian", (("sigma", "50"),), "poisson", "1e-6", count=100_000)
    monkeypatch.setattr(Contour, "nodes", property(lambda _: pytest.fail("begun")))
    truth = Oracle().truth(Ask("delta", (small,), "1"))
    assert not truth.exact
    assert 0 <= truth.lower < truth.upper < Fraction(1, 10**100)


def test_epsilon_inverts_delta():
    oracle = Oracle()
    epsilon = oracle.truth(Ask("epsilon", (SAMPLED,), "0.0001")).lower
    assert sampled_hockey_stick(2, 0.1, float(epsilon)) == pytest.approx(1e-4, rel=1e-6)


@pytest.mark.parametrize(
    ("part", "epsilon", "delta"),
    [
        (AskedPart("Laplace", (("b", "2"),)), "0.25", 1 - math.exp((0.25 - 0.5) / 2)),
        (AskedPart("RandomizedResponse", (("p", "0.75"),)), "0.5", 0.75 - math.exp(0.5) * 0.25),
        (AskedPart("PureDP", (("epsilon", "1"),)), "0.5", (math.e - math.exp(0.5)) / (math.e + 1)),
    ],
)
def test_profiles_in_closed_form(part, epsilon, delta):
    assert float(Oracle().truth(Ask("delta", (part,), epsilon)).lower) == pytest.approx(delta)
    again = Oracle().truth(Ask("epsilon", (part,), repr(delta))).lower
    assert float(again) == pytest.approx(float(epsilon))


@pytest.fixture
def bracketing(monkeypatch):
    """An oracle without what balls prove order by order of a fixed size: bounds on both sides."""
    monkeypatch.setattr("symacct.verify.judging.truth.Accountant", FormulaAccountant)


def test_replacing_is_known_between_its_bounds(monkeypatch):
    ask = Ask("rdp", (FIXED,), "3", "replace_one")
    known = Oracle().truth(ask)
    monkeypatch.setattr("symacct.verify.judging.truth.Accountant", FormulaAccountant)
    between = Oracle().truth(ask)
    assert known.exact
    assert not between.exact
    assert between.lower < known.lower <= known.upper < between.upper


def test_what_is_of_no_kind_that_counts_has_no_lower_end_above_0():
    upper = Accountant().rdp(ZCDP("1/50"), 2)
    assert upper.claim.kind is Kind.UPPER
    assert _lower_or_zero(lambda: upper, (Kind.EXACT,)) == 0
    assert _lower_or_zero(lambda: upper, (Kind.UPPER,)) == ends(upper)[0]


@pytest.mark.usefixtures("bracketing")
def test_removing_is_a_lower_bound_of_replacing_at_every_order():
    fixed = Oracle().truth(Ask("rdp", (FIXED,), "1.5", "replace_one"))
    removed = Oracle().truth(Ask("rdp", (SAMPLED,), "1.5"))
    assert removed.lower <= fixed.lower <= removed.upper < fixed.upper


# --- verdicts

EXACT = 0.05


@pytest.mark.parametrize(
    ("off", "verdict"), [("1/100", "unsound"), ("1e-8", "unsound"), ("1e-10", None)]
)
def test_the_allowance_is_a_share_of_a_tiny_truth_too(off, verdict):
    """ε(2) = log(1 + γ²(e − 1)), here 1.7e-8: the allowance is a share of it, no distance."""
    tiny = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "1/10000")
    with mpmath.workdps(40):
        truth = Fraction(str(mpmath.log1p(mpmath.expm1(1) / 10**8)))
    found = judged(tiny, "rdp", "2", truth * (1 - Fraction(off)))
    assert (found and found.verdict) == verdict


@pytest.mark.parametrize(
    ("value", "verdict", "below"),
    [
        (1.0, None, None),
        (1.0 - 1e-10, None, None),
        (1.0 + 1e-10, None, None),
        (1.0 - 1e-8, "unsound", True),
        (0.5, "unsound", True),
        (1.0 + 1e-8, "loose", False),
        (0.0, "zero", True),
        (-1e-30, "negative", True),
        (math.nan, "nan", False),
        (math.inf, "inf", False),
        (-math.inf, "negative", True),
    ],
)
def test_a_value_and_its_verdict(value, verdict, below):
    found = judged(GAUSSIAN, "rdp", "2", value)
    assert (found and found.verdict) == verdict
    if found:
        assert found.below is below


def test_the_ratio_is_exact():
    assert judged(GAUSSIAN, "rdp", "2", 0.75).ratio == 0.75
    assert judged(GAUSSIAN, "rdp", "2", 3.0).ratio == 3.0


def test_infinity_is_right_where_float64_ends():
    steep = AskedPart("Gaussian", (("sigma", "1e-160"),))
    assert judged(steep, "rdp", "2", math.inf) is None


def test_a_theorem_that_is_named_is_held_to():
    oracle = Oracle()
    five = float(oracle.accountant.rdp(node(Ask("rdp", (SAMPLED,), "3")), 3, by="ZW19-T5").upper)
    ask = Ask("rdp", (SAMPLED,), "3")
    assert matching.matched(oracle, ask, Fraction(five)) == "ZW19-T5"
    assert judged(SAMPLED, "rdp", "3", five).verdict == "loose"
    assert judged(SAMPLED, "rdp", "3", five, "ZW19-T5") is None
    wrong = judged(SAMPLED, "rdp", "3", five * 1.001, "ZW19-T5")
    assert wrong.verdict == "wrong-formula"
    assert not wrong.below
    assert not wrong.short  # it is more than the theorem gives
    assert judged(SAMPLED, "rdp", "3", five * 0.999, "ZW19-T5").short
    assert judged(SAMPLED, "rdp", "3", five, "ZW19-T8").verdict == "wrong-formula"


@pytest.mark.parametrize(
    ("alpha", "factor", "name"),
    [
        ("4", 3, "the CGF, (α − 1) ε(α)"),
        ("3", Fraction(2, 3), "ε(α) (α − 1)/α"),
        ("3", Fraction(1, 2), "half ε(α)"),
        # Where two of them are one number, both are said.
        ("3", 2, "the CGF, (α − 1) ε(α) or twice ε(α)"),
        ("2", Fraction(1, 2), "ε(α) (α − 1)/α or half ε(α)"),
    ],
)
def test_a_likely_mistake_is_named(alpha, factor, name):
    ask = Ask("rdp", (SAMPLED,), alpha)
    value = Oracle().truth(ask).upper * factor
    assert matching.matched(Oracle(), ask, value) == name


@pytest.mark.usefixtures("bracketing")
def test_a_value_between_the_bounds_is_neither_right_nor_wrong():
    """Somebody may have proved more than we have: no finding, and no answer that was judged."""
    ask = Ask("rdp", (FIXED,), "3", "replace_one")
    truth = Oracle().truth(ask)
    middle = Fraction(truth.lower + 9 * truth.upper) / 10
    judge = Judge(Oracle(), Hello("p", "1", ()))
    assert judge.judge(ask, Answer(value=middle)) is None
    assert judge.undecided == judge.answered == {(ask, middle)}
    assert not judge.judged
    assert judge.judge(ask, Answer(value=middle, claims="WBK19-T9")).verdict == "wrong-formula"


@pytest.mark.usefixtures("bracketing")
@pytest.mark.parametrize("off", [0, Fraction(1, 10**12), Fraction(-1, 10**12)])
def test_the_best_bound_to_rounding_is_judged_and_right(off):
    """It is no better bound that somebody may have proved."""
    ask = Ask("rdp", (FIXED,), "3", "replace_one")
    near = Fraction(Oracle().truth(ask).upper) * (1 + off)
    judge = Judge(Oracle(), Hello("p", "1", ()))
    assert judge.judge(ask, Answer(value=near)) is None
    assert judge.judged == {(ask, near)}
    assert not judge.undecided


def at_opposite_ends(sigma, gamma, alpha):
    """ε(α) of sampled Gaussian noise, one record at 1 in place of one at −1, by mpmath."""
    with mpmath.workdps(30):
        sigma, gamma, alpha = mpmath.mpf(sigma), mpmath.mpf(gamma), mpmath.mpf(alpha)

        def density(x, mean):
            away = mpmath.npdf(x, mean, sigma)
            return (1 - gamma) * mpmath.npdf(x, 0, sigma) + gamma * away

        def excess(x):
            q = density(x, -1)
            r = density(x, 1) / q
            return q * (r**alpha - 1 - alpha * (r - 1))

        places = [0, 1, alpha, -1]
        edges = sorted({float(p + s * sigma) for p in places for s in (-14, 0, 14)})
        return float(mpmath.log1p(mpmath.quad(excess, edges)) / (alpha - 1))


@pytest.mark.parametrize(("sigma", "gamma", "alpha"), [("5", "0.01", "2"), ("1", "0.5", "2.5")])
def test_a_right_value_for_a_replaced_record_of_a_poisson_sample_is_no_finding(sigma, gamma, alpha):
    relation = "replace_one"
    part = AskedPart("Gaussian", (("sigma", sigma),), "poisson", gamma)
    right = at_opposite_ends(sigma, gamma, alpha)
    assert judged(part, "rdp", alpha, right, relation=relation) is None
    assert judged(part, "rdp", alpha, right * 0.999, relation=relation).verdict == "unsound"
    assert judged(part, "rdp", alpha, right * 1.001, relation=relation).verdict == "loose"


def test_a_theorem_of_one_part_is_no_claim_about_the_others():
    """A sample of fixed size by Theorem 9 beside a Poisson sample, a record replaced in both."""
    parts = FIXED, SAMPLED
    oracle, ask = Oracle(), Ask("rdp", parts, "3", "replace_one")
    nine = oracle.accountant.rdp(node(replace(ask, parts=parts[:1])), 3, by="WBK19-T9").upper
    other = oracle.truth(replace(ask, parts=parts[1:])).upper
    value = Fraction(float(nine)) + other
    answer = Answer(value=value, claims="WBK19-T9")
    assert value > oracle.truth(ask).upper * Fraction(101, 100)
    assert Judge(oracle, Hello("p", "1", ())).judge(ask, answer) is None


def test_what_all_of_a_zcdp_have_is_what_gaussian_noise_has():
    part = AskedPart("ZCDP", (("rho", "0.1"), ("xi", "0")))
    truth = Oracle().truth(Ask("rdp", (part,), "3"))
    assert truth.upper == pytest.approx(0.3, rel=1e-12)
    assert truth.lower == pytest.approx(0.3, rel=1e-12)
    assert judged(part, "rdp", "3", 0.15).verdict == "unsound"


@pytest.mark.parametrize("alpha", ["1", "2", "40"])
@pytest.mark.parametrize("rho", ["0", "0.005"])
def test_what_all_of_a_zcdp_have_is_what_pure_privacy_beside_gaussian_noise_has(rho, alpha):
    """Two answers whose probabilities are e : 1 and 1 : e, beside noise of ρα; ρα + 1 is proved."""
    truth = Oracle().truth(Ask("rdp", (AskedPart("ZCDP", (("rho", rho), ("xi", "1"))),), alpha))
    order, p = mpmath.mpf(alpha), 1 / (1 + mpmath.exp(-1))
    moment = p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
    two = 2 * p - 1 if order == 1 else mpmath.log(moment) / (order - 1)
    noise = order * mpmath.mpf(rho)
    assert float(truth.lower) == pytest.approx(float(two + noise), rel=1e-12)
    assert float(truth.upper) == pytest.approx(float(1 + noise), rel=1e-12)
    assert not truth.exact


def test_epsilon_below_its_own_conversion():
    ask = Ask("epsilon", (SAMPLED,), "1e-5")
    least = float(Oracle().by_method(ask, "improved", None).lower)
    assert judged(SAMPLED, "epsilon", "1e-5", least, conversion="improved") is None
    found = judged(SAMPLED, "epsilon", "1e-5", least * 0.999, conversion="improved")
    assert found.verdict == "wrong-formula"
    assert judged(SAMPLED, "epsilon", "1e-5", least * 0.999, conversion="none").verdict == "loose"
    true = float(Oracle().truth(ask).lower)
    assert true < least
    assert judged(SAMPLED, "epsilon", "1e-5", true * (1 + 1e-9), conversion="none") is None
    assert judged(SAMPLED, "epsilon", "1e-5", true * 0.99, conversion="none").verdict == "unsound"
    assert judged(SAMPLED, "epsilon", "1e-5", 1e-3, conversion="none").verdict == "unsound"


def test_what_is_true_is_not_unsound_whatever_conversion_is_declared():
    """The exact ε is less than any order proves, and true; between the two is another formula."""
    hello = Hello("p", "1", (Support("Gaussian"),), conversion="improved")
    judge = Judge(Oracle(), hello)
    for ask in (
        Ask("epsilon", (GAUSSIAN,), "1e-5"),
        Ask("epsilon", (replace(GAUSSIAN, count=30),), "1e-300"),
        Ask("epsilon", (GAUSSIAN, SAMPLED), "1e-7"),
        Ask("delta", (GAUSSIAN,), "4"),
        Ask("noise", (AskedPart("Gaussian", ()),), "1e-5", within="1"),
        Ask("rate", (replace(SAMPLED, gamma=None, count=100),), "1e-5", within="1"),
        Ask(
            "runs", (replace(GAUSSIAN, parameters=(("sigma", "30"),), count=0),), "1e-5", within="2"
        ),
    ):
        truth, best = judge.oracle.truth(ask), judge.oracle.by_method(ask, "improved", None)
        largest = ask.kind in LARGEST
        true, proved = (t.upper if largest else t.lower for t in (truth, best))
        assert (true > proved) if largest else (true < proved)
        answer = Answer(value=Fraction(float(true)))
        assert judge.judge(ask, answer) is None
        assert (ask, answer.value) in judge.judged
        middle = (true + proved) / 2
        between = judge.judge(ask, Answer(value=Fraction(float(middle))))
        assert between.verdict == "wrong-formula"
        assert "not by the declared conversion" in between.note
        assert not judge.complete(between).below
        wrong = judge.judge(
            ask, Answer(value=true * Fraction(101 if largest else 98, 100) + largest)
        )
        assert (wrong.verdict, wrong.below) == ("unsound", True)


def test_epsilon_over_orders_that_were_given():
    hello = Hello("p", "1", (Support("Gaussian"),), conversion="classic", order_grid=True)
    ask = Ask("epsilon", (GAUSSIAN,), "1e-5", orders=("2", "3"))
    right = 1.5 + math.log(1e5) / 2  # classic at α = 3

    def verdict(value):
        found = Judge(Oracle(), hello).judge(ask, Answer(value=Fraction(value)))
        return found and found.verdict

    values = (right, right * (1 - 1e-6), right * 1.02, 1.0)
    assert [verdict(v) for v in values] == [None, "wrong-formula", "loose", "unsound"]


def test_the_excess_is_split():
    hello = Hello(
        "p",
        "1",
        (Support("Gaussian"),),
        conversion="classic",
        default_orders=(Fraction(2), Fraction(3)),
    )
    ask = Ask("epsilon", (GAUSSIAN,), "1e-5")
    judge = Judge(Oracle(), hello)
    # classic at α = 3: 3/2 + log(1e5)/2, and a series that adds 1
    value = 1.5 + math.log(1e5) / 2 + 1
    found = judge.complete(judge.judge(ask, Answer(value=Fraction(value))))
    split = dict(found.split)
    best_classic = 0.5 + math.sqrt(2 * math.log(1e5))
    assert split["series"] == pytest.approx(1, rel=1e-6)
    assert split["order grid"] == pytest.approx(value - 1 - best_classic, rel=1e-6)
    assert sum(split.values()) == pytest.approx(value - 4.377178095681)
    share, whole, more = re.match(
        r"mostly from the order grid: (\S+) of the excess of (\S+); "
        "over all orders it would be (.*)",
        found.note,
    ).groups()
    assert float(share) <= float(whole)
    assert float(more) == pytest.approx(best_classic, rel=0.01)
    given = replace(ask, orders=("2", "3"))
    found = judge.complete(judge.judge(given, Answer(value=Fraction(value))))
    assert (
        found.note == "mostly from the series: all of the excess of 1"
    )  # the orders are not the peer's choice


@settings(deadline=None)
@drawn(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.booleans())
def test_no_part_is_said_to_be_larger_than_the_whole(sizes, given):
    """Whatever the ends are: a peer may do better than the orders that it declares give."""
    value, least, every, grid = (Fraction(n, 10) for n in sizes)
    methods = [Truth(end, end, exact=True) for end in (least, max(least, every), grid)]
    split, note = excess(value, ONE, tuple(methods), given)
    assert sum(dict(split).values()) == pytest.approx(float(value - 1))
    said = re.search(r": (\S+) of the excess of (\S+?)(;|$)", note)
    assert said[1] == "all" or float(said[1]) < float(said[2])
    if "order grid" in note:
        assert note.endswith(
            f"over all orders it would be {decimal_text(methods[1].upper, True, 3)}"
        )


def test_what_the_total_variation_gives_is_no_fault_of_the_orders():
    """No order above 1 gives the ε = 0 that the total variation proves."""
    rows = (Support("Gaussian", "poisson", asks=("epsilon",)),)
    orders = tuple(map(Fraction, range(2, 64)))
    judge = Judge(Oracle(), Hello("p", "1", rows, conversion="improved", default_orders=orders))
    part = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.00105")
    ask = Ask("epsilon", (part,), "0.001")
    value = judge.oracle.by_method(ask, "improved", orders).upper + Fraction(1, 10)
    finding = Finding("loose", ask, Answer(value=value), judge.oracle.truth(ask), converted=True)
    found = judge.complete(finding)
    assert dict(found.split)["total variation at order 1"] == float(value - Fraction(1, 10))
    assert "order grid" not in dict(found.split)
    assert found.note.startswith("mostly from the total variation at order 1")


def test_zero_is_right_where_the_total_variation_is_small():
    part = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.00105")
    ask = Ask("epsilon", (part,), "0.001")
    assert Oracle().by_method(ask, "improved", range(2, 64)).lower > 0
    assert Oracle().by_method(ask, "improved", None).upper == 0
    assert judged(part, "epsilon", "0.001", 0.0, conversion="improved") is None
    assert judged(part, "epsilon", "0.0001", 0.0, conversion="improved").verdict == "zero"


def test_delta_by_the_total_variation_is_proved():
    part = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.01")
    kl = float(Oracle().truth(Ask("rdp", (part,), "1")).upper)
    ask = Ask("delta", (part,), "0.1")
    least = float(Oracle().by_method(ask, "improved", range(2, 64)).lower)
    variation = math.sqrt(kl / 2)
    assert variation < least
    assert float(Oracle().by_method(ask, "improved", None).upper) == pytest.approx(variation)
    assert judged(part, "delta", "0.1", variation, conversion="improved") is None
    found = judged(part, "delta", "0.1", variation * 0.7, conversion="improved")
    assert found.verdict == "wrong-formula"


def test_nobody_is_accused_where_the_total_variation_is_not_had_in_time(monkeypatch):
    part = AskedPart("Gaussian", (("sigma", "1"),), "poisson", "0.01")
    variation = math.sqrt(float(Oracle().truth(Ask("rdp", (part,), "1")).upper) / 2)

    def without_order_1(oracle, ask, known=Oracle.truth):
        return None if ask.kind == "rdp" else known(oracle, ask)

    monkeypatch.setattr(Oracle, "truth", without_order_1)
    assert judged(part, "delta", "0.1", variation, conversion="classic") is None


@pytest.mark.parametrize("part", [replace(GAUSSIAN, count=10), replace(SAMPLED, count=100)])
def test_delta_below_zero_is_held_against_the_mirror_image_of_its_conversion(part):
    """1 − e^{−1} + e^{−1} δ(1), and without the second factor too much."""
    at_one = float(Oracle().by_method(Ask("delta", (part,), "1"), "improved", None).upper)
    right = -math.expm1(-1) + math.exp(-1) * at_one
    assert judged(part, "delta", "-1", right, conversion="improved") is None
    assert judged(part, "delta", "-1", right * 1.005, conversion="improved") is None
    found = judged(part, "delta", "-1", -math.expm1(-1) + at_one, conversion="improved")
    assert found.verdict == "loose"


def test_delta_below_zero_by_the_total_variation_is_proved():
    """As at a positive ε, but for the factor; what is less than all that is proved is none."""
    part = AskedPart("Gaussian", (("sigma", "50"),), "poisson", "0.01", 100)
    kl = float(Oracle().truth(Ask("rdp", (part,), "1")).upper)
    least = 1 - math.exp(-0.1) * (1 - math.sqrt(kl / 2))
    assert judged(part, "delta", "-0.1", least, conversion="improved") is None


def test_rounding_explains_only_what_it_can():
    ask = Ask("rdp", (SAMPLED,), "2")
    assert explained_by_rounding(ask, Fraction(1, 10**16), Fraction(1, 10**15))
    assert not explained_by_rounding(ask, Fraction(1, 10**10), Fraction(1, 10**9))
    for other in (Ask("rdp", (SAMPLED,), "1"), Ask("epsilon", (SAMPLED,), "0.001")):
        assert not explained_by_rounding(other, Fraction(1, 10**16), Fraction(1, 10**15))


def test_rounding_explains_up_to_its_bound():
    """64 · 8 units of 2^−53 times (α − 1) size, over α − 1: of a large size about 10 of them."""
    ask = Ask("rdp", (SAMPLED,), "2")
    most = 64 * 8 * 10 * Fraction(1, 2**53)
    assert explained_by_rounding(ask, most, Fraction(10))
    assert not explained_by_rounding(ask, most * 2, Fraction(10))


def test_the_same_value_but_for_rounding():
    one = Fraction(1), Fraction(1)
    assert matching.same(1 - Fraction(1, 10**10), one)
    assert matching.same(1 + Fraction(1, 10**10), one)
    assert not matching.same(1 - Fraction(1, 10**8), one)
    assert not matching.same(1 + Fraction(1, 10**8), one)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("1e-9999", "1e-9998", (0, Fraction(1, 2**4096))),
        ("0", "1e-9998", (0, Fraction(1, 2**4096))),
        ("0", "0", (0, 0)),
        ("0.5", "inf", (Fraction(1, 2), math.inf)),
        ("1e9998", "1e9999", (2**4096, math.inf)),
    ],
)
def test_ends_are_of_bounded_size(low, high, expected):
    claim = Claim(Kind.EXACT)
    assert ends(Enclosure(mpmath.mpf(low), mpmath.mpf(high), claim)) == expected


def test_replacing_a_record_of_a_poisson_sample_costs_more_than_removing_one():
    """dp_accounting 0.6.0's PLDAccountant, REPLACE_ONE: .34437; ADD_OR_REMOVE_ONE: .18980."""
    part = AskedPart("Gaussian", (("sigma", "2"),), "poisson", "0.01", 100)
    removed, replaced = (
        Oracle().truth(Ask("epsilon", (part,), "1e-5", relation))
        for relation in ("add_remove", "replace_one")
    )
    assert removed.exact
    assert replaced.exact
    assert 0.34436 <= replaced.lower <= replaced.upper <= 0.34437
    assert (
        Judge(Oracle(), Hello("p", "1", (), conversion="none")).judge(
            Ask("epsilon", (part,), "1e-5", "replace_one"), Answer(value=Fraction("0.34437"))
        )
        is None
    )


def test_the_mirror_image_of_a_bracket_is_a_bracket():
    """δ(−ε) = 1 − e^{−ε}(1 − δ(ε)), of both ends."""
    ask = Ask("delta", (AskedPart("Gaussian", (("sigma", "1"),)),), "-1", "add_remove")
    found = _reflected(ask, Truth(Fraction(1, 4), Fraction(1, 2), False))
    assert float(found.lower) == pytest.approx(float(1 - math.exp(-1) * 3 / 4), abs=1e-12)
    assert float(found.upper) == pytest.approx(float(1 - math.exp(-1) / 2), abs=1e-12)
