"""WBK19 Theorem 27 and the differences in it."""

import itertools
import json
from fractions import Fraction

import pytest
from flint import arb
from flint import ctx as flint_ctx

from symacct import (
    TCDP,
    ZCDP,
    Accountant,
    AssumptionError,
    Curve,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PostProcess,
    RandomizedResponse,
    SoundnessError,
    SubsampleWithoutReplacement,
    chi_divergence,
)
from symacct.theory.amplification import wbk19
from tests.kernel.hard_sums.formulas import (
    DIGITS,
    FULL,
    INFINITY,
    RATE,
    REFERENCE,
    SEEDS,
    WIDE,
    ask,
    difference_table,
    ends,
    holds,
    moments,
    mp,
    near,
    number,
    spread,
    theorem_9,
    theorem_27,
)
from tests.kernel.sums import chi
from tests.support import overlap
from tests.thinning import covering

THEOREM_27 = json.loads((REFERENCE / "without_replacement_thm27.json").read_text(encoding="utf8"))


FAMILIES = {"Gaussian": Gaussian, "Laplace": Laplace, "RandomizedResponse": RandomizedResponse}


@pytest.mark.parametrize("key", [key for key in THEOREM_27 if key.endswith("B")])
def test_reference_values_of_the_differences(key):
    family, parameter = key.split(" | ")[0].split()
    for order, text in THEOREM_27[key].items():
        found = chi_divergence(FAMILIES[family](parameter), int(order), 40)
        assert near(ends(found), text, 35), order
        assert found.digits >= 40


@covering()
@pytest.mark.parametrize("gamma", [Fraction(1, 1000), Fraction(1, 10), Fraction(9, 10)], ids=str)
@FULL
def test_theorem_27_and_its_third_branch_are_term_by_term_minima(name, gamma):
    """At orders around and beyond the one where differences are first given up; odd and even.

    Neither the formulas nor the answers are ever above those with a branch less.
    """
    base, eps = WIDE[name]
    values = moments(eps, 301)
    b, fixed = difference_table(values), SubsampleWithoutReplacement(base, gamma)
    for alpha in (2, 3, 4, 64, 65, 300):
        true = theorem_27(alpha, gamma, values, eps(INFINITY))
        found = ask(fixed, alpha, "WBK19-T27")
        assert holds(found, true, error=100), alpha
        other = theorem_9(alpha, gamma, values, eps(INFINITY))
        assert true <= other * (1 + mp.mpf(10) ** (30 - mp.dps))
        assert found.lower <= ask(fixed, alpha, "WBK19-T9").upper
        if alpha == 300:  # whose third branch reads beyond the table
            continue
        total = mp.one
        for j in range(2, alpha + 1):
            by_differences = 4 * mp.sqrt(b[2 * (j // 2)] * b[2 * ((j + 1) // 2)])
            hoelder = mp.sqrt(values[2 * j - 1] * b[2 * j])
            least = min(by_differences, hoelder, values[j] * spread(eps(INFINITY), j))
            total += mp.binomial(alpha, j) * number(gamma) ** j * least
        third = ask(fixed, alpha, "WBK19-R33")
        assert holds(third, mp.log(total) / (alpha - 1), error=100), alpha
        assert third.lower <= found.upper
        assert third.upper >= ask(fixed, alpha, "WBK19-P11").lower


@pytest.mark.parametrize(
    ("base", "epsilon", "order"),
    # By mpmath in 400 digits: sums of the least of three at orders up to 45, improved conversion.
    [(Gaussian(5), "1.2190701", 26), (Laplace(2), "2.5868399", 13)],
)
def test_600_000_runs_by_the_third_branch(base, epsilon, order):
    """1.738 and 3.208 by two branches; .8408 and 2.044 are the truth of the curve."""
    runs = 600_000 * SubsampleWithoutReplacement(base, "1/1000")
    found = runs.epsilon("1e-8", 12, by="WBK19-R33", orders="integer")
    assert found.alpha == order
    assert near(ends(found.epsilon), epsilon, 7)
    assert found.epsilon.upper < runs.epsilon("1e-8", 6, by="WBK19-T27").epsilon.lower


@covering()
@pytest.mark.parametrize("gamma", ["1/1000", "1/10"])
@pytest.mark.parametrize("alpha", [300, 601])
@pytest.mark.parametrize("name", ["Laplace(2)", "Gaussian(5)", "RandomizedResponse(0.6)"])
def test_the_order_where_differences_are_given_up_does_not_matter(name, alpha, gamma, monkeypatch):
    """With a head of 10,000 orders the sum is the full one."""
    fixed = SubsampleWithoutReplacement(SEEDS[name][0], gamma)
    answers = []
    for head in (2, 3, 16, 64, 10_000):
        monkeypatch.setattr(wbk19, "_FIRST_HEAD_ORDER", head)
        answers.append(ask(fixed, alpha, "WBK19-T27"))
    assert all(a.digits >= DIGITS for a in answers)
    assert all(overlap(a, b) for a, b in itertools.combinations(answers, 2))


@covering()
@pytest.mark.parametrize("by", ["WBK19-T27", "WBK19-R33"])
@pytest.mark.parametrize("gamma", ["1/1000", "1/2", "999/1000"])
@pytest.mark.parametrize("alpha", [20, 65, 301])
@pytest.mark.parametrize("sigma", ["5/4", 3, 20, 1000])
def test_the_terms_that_count_are_all(sigma, alpha, gamma, by, monkeypatch):
    """Between chords of log B, each B by itself, as by all differences at once."""
    fixed = SubsampleWithoutReplacement(Gaussian(sigma), gamma)
    at_once = ask(fixed, alpha, by)
    monkeypatch.setattr(wbk19, "_HEAD_LIMIT", 16)
    monkeypatch.setattr(wbk19, "_is_steep", lambda *_: False)
    found = ask(fixed, alpha, by)
    assert found.digits >= DIGITS
    assert overlap(found, at_once)


@pytest.mark.parametrize(
    ("sigma", "gamma", "alpha", "true"),
    # By numpy: B by Simpson's rule in logarithms on 36,001 points, every term of the sum.
    [
        (200, "1/10", 10**4, "0.00146119854664"),
        (50, "1/2", 5000, "0.452395417833"),
        (1000, "999/1000", 10**5, "0.0499187370152"),
    ],
)
def test_theorem_27_where_the_terms_that_count_are_far_out(sigma, gamma, alpha, true):
    fixed = SubsampleWithoutReplacement(Gaussian(sigma), gamma)
    accountant = Accountant(30)
    found = accountant.rdp(fixed, alpha, by="WBK19-T27")
    assert near(ends(found), true, 11)
    assert accountant.oracle_calls(fixed.mechanism) < 10_000  # of a sum of up to 100,000 terms


def test_theorem_27_of_laplace_at_a_large_order_from_closed_forms():
    """B by an integral recurrence instead of differences; the rest bounded by 2 e^{K_l}."""
    alpha, top = 3000, 400
    with flint_ctx.workprec(4000):
        b = chi.laplace_chi(2, top + 2)
        values = [arb(1), arb(1)]
        for l in range(2, alpha + 1):
            up, down = (arb(l - 1) / 2).exp(), (-arb(l) / 2).exp()
            values.append((l * up + (l - 1) * down) / (2 * l - 1))
        c, g = (arb(1) / 2).expm1(), arb(1) / 1000
        total, weight = arb(0), g * alpha
        for j in range(2, alpha + 1):
            weight = weight * g * (alpha - j + 1) / j
            plain = values[j] * (c**j).min(arb(2))
            if j <= top:
                four = 4 * (b[2 * (j // 2)] * b[2 * ((j + 1) // 2)]).sqrt()
                total += weight * four.min(plain)
            else:
                total += weight * plain * arb(0.5, 0.5)
        true = total.log1p() / (alpha - 1)
        assert true.rel_accuracy_bits() > 150
        found = ask(SubsampleWithoutReplacement(Laplace(2), RATE), alpha, "WBK19-T27", 40)
        low, high = (arb(mp.nstr(mp.make_mpf(x._mpf_), 80)) for x in (found.lower, found.upper))
        assert low <= true.upper() * (1 + arb("1e-70"))
        assert true.lower() * (1 - arb("1e-70")) <= high


@pytest.mark.parametrize(
    "base",
    [
        ZCDP("1/50"),
        TCDP("1/50", 100),
        Curve("alpha/50", kind="upper", adjacency="either"),
        Curve("alpha/50", kind="exact", adjacency="either"),
        PostProcess(Gaussian(5)),
        GroupPrivacy(Gaussian(5), 2),
        2 * SubsampleWithoutReplacement(Gaussian(5), "1/2"),
    ],
    ids=repr,
)
def test_theorem_27_refuses_a_base_that_no_dominating_pair_attains(base):
    with pytest.raises((SoundnessError, AssumptionError)):
        ask(SubsampleWithoutReplacement(base, "1/10"), 4, "WBK19-T27")
