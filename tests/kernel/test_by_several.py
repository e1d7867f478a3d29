"""`by=` of several theorems, each for the parts that it is about; `orders=` of an iterator."""

import json
import math
from fractions import Fraction

import pytest
import sympy
from click.testing import CliRunner

from symacct import (
    AdjacencyError,
    AssumptionError,
    DomainError,
    Gaussian,
    OrderError,
    PoissonSubsample,
    RepeatAndSelect,
    SoundnessError,
    SubsampleWithoutReplacement,
    calibrate,
    sweep,
)
from symacct.cli import main
from symacct.export.tables import table
from symacct.interop import EventAccountant
from symacct.laws.families import Poisson, TruncatedNegativeBinomial
from symacct.papers.paper_check import PaperEntry, Verdict, check_entry

SAMPLED = PoissonSubsample(Gaussian(4), "1/50")
OFTEN = RepeatAndSelect(Gaussian(6), TruncatedNegativeBinomial(1, "1/4"))
MEAN = RepeatAndSelect(Gaussian(6), Poisson(5))
RUN = 3 * SAMPLED + 2 * OFTEN + MEAN
BY = ("MTZ19-T11", "PS22-T2", "PS22-T6")
TEXT = (
    "3*PoissonSubsample(Gaussian(4), 1/50) + 2*RepeatAndSelect(Gaussian(6), "
    "TruncatedNegativeBinomial(1, 1/4)) + RepeatAndSelect(Gaussian(6), Poisson(5))"
)


@pytest.mark.parametrize("alpha", [2, 5])
def test_each_part_by_the_theorem_about_it(alpha):
    parts = [(3, SAMPLED, BY[0]), (2, OFTEN, BY[1]), (1, MEAN, BY[2])]
    expected = sum(n * m.rdp(alpha, 20, by=name).upper for n, m, name in parts)
    found = RUN.rdp(alpha, 20, by=BY)
    assert float(found.upper) == pytest.approx(float(expected), rel=1e-15)
    assert set(BY) <= set(found.claim.theorems)
    assert found.upper > RUN.rdp(alpha).upper  # none of them is what answers by itself


def test_below_one_another():
    m = RepeatAndSelect(SAMPLED, Poisson(5))
    found = m.rdp(3, 20, by=("PS22-T6", "MTZ19-T11"))
    assert {"PS22-T6", "MTZ19-T11"} <= set(found.claim.theorems)
    assert found.upper > m.rdp(3, 20, by="PS22-T6").upper


@pytest.mark.parametrize(
    ("by", "error", "said"),
    [
        (("MTZ19-T11", "ZW19-T5"), DomainError, "MTZ19-T11, ZW19-T5, which all apply to"),
        (("MTZ19-T11", "ZW19-T6"), DomainError, "upper and lower bounds"),
        (("MTZ19-T11", "WBK19-T27"), AssumptionError, "contains none"),
        (("MTZ19-T11", "TRIPLE-ANY-POISSON"), AdjacencyError, "under replace_one"),
        (("MTZ19-T11", "MTZ19"), DomainError, "did you mean"),
        (("MTZ19-T11", None), DomainError, "needed a name that theorems lists"),
        (["MTZ19-T11", "PS22-T2"], DomainError, "or a tuple of such names"),
    ],
)
def test_what_cannot_be_meant_is_refused(by, error, said):
    for ask in (lambda: RUN.rdp(4, by=by), lambda: RUN.epsilon("1e-5", by=by)):
        with pytest.raises(error, match=said):
            ask()


def test_one_that_is_refuted_among_them_guarantees_nothing():
    by, m = ("PS22-T2", "BLOG-C26"), OFTEN + SubsampleWithoutReplacement(Gaussian(4), "1/50")
    assert m.rdp(4, by=by).claim.certified is False
    with pytest.raises(SoundnessError, match="BLOG-C26"):
        m.epsilon("1e-5", by=by)


def test_every_place_takes_them():
    expected = RUN.epsilon("1e-5", 8, by=BY, orders=[2, 4, 8])
    runs = sympy.Symbol("n", integer=True, positive=True)
    open_run = runs * SAMPLED + 2 * OFTEN + MEAN
    (row,) = sweep(open_run, {"n": [3], "delta": "1e-5"}, digits=8, by=BY, orders=iter([2, 4, 8]))
    assert row["value"] == expected.epsilon.rounded_up(8)
    found = calibrate(open_run, epsilon=9, delta="1e-5", digits=3, by=BY, orders=iter([2, 4, 8]))
    assert set(BY) <= set(found.guarantee.claim.theorems)
    accountant = EventAccountant(iter([2, 4, 8]), by=BY).compose(RUN)
    assert accountant.get_epsilon(1e-5) == pytest.approx(float(expected.epsilon), rel=1e-7)
    best = (BY[0], "PS22-T2-BEST", "PS22-T6-BEST")
    columns = table(RUN, [2, 4], by=[best, BY]).columns
    assert [one.heading for one in columns] == [" + ".join(best), " + ".join(BY)]
    assert columns[1].cells[1].value.upper > columns[0].cells[1].value.upper
    assert all(key in RUN.cite(by=BY) for key in ("Theorem 2", "Theorem 6", "Theorem 11"))
    for name in BY:
        assert f"by={name}" in RUN.code("python", by=BY, points=20)
    value = sympy.N(RUN.formula(4, by=BY), 20)
    assert float(value) == pytest.approx(float(RUN.rdp(4, by=BY).upper), rel=1e-15)


def test_the_accountant_leaves_out_what_is_about_nothing_composed():
    composed = EventAccountant([2, 4, 8], by=BY).compose(SAMPLED, 10)
    assert composed.get_epsilon(1e-5) == EventAccountant([2, 4, 8], by=BY[0]).compose(
        SAMPLED, 10
    ).get_epsilon(1e-5)


def test_the_command_and_the_entry_of_a_paper_take_them():
    asked = ["rdp", TEXT, "--alpha", "4", *(x for name in BY for x in ("--by", name)), "--json"]
    said = CliRunner().invoke(main, asked)
    (row,) = json.loads(said.output)
    value = RUN.rdp(4, 6, by=BY).rounded()
    assert row["value"] == value
    entry = PaperEntry(TEXT, "rdp", "4", value, "here", direction="upper", by=tuple(BY))
    assert check_entry(entry).verdict is Verdict.TRUE


@pytest.mark.parametrize("alpha", [1, "3/2", 2, "5/2", "63/2", 32])
def test_a_hull_of_what_holds_at_whole_orders_speaks_between_them(alpha):
    """Proposition 35's chord of K at ⌊α⌋ and ⌈α⌉, and the theorem named for both ends."""
    m = SubsampleWithoutReplacement(Gaussian(2), "1/100")
    found = m.convexify(32).rdp(alpha, 20, by="WBK19-T27")
    lam = Fraction(alpha) - 1
    low, high = max(1, math.floor(lam)), max(1, math.ceil(lam))
    ends = [at * m.rdp(at + 1, 20, by="WBK19-T27").upper for at in (low, high)]
    chord = (high - lam) * ends[0] + (1 - high + lam) * ends[1] if lam > 1 else lam * ends[0]
    expected = chord / lam if lam else ends[0]
    assert float(found.upper) == pytest.approx(float(expected), rel=1e-15)
    assert found.claim.theorems[:2] == ("WBK19-P35", "WBK19-T27")
    with pytest.raises(OrderError, match="integer orders"):
        m.convexify(32).rdp("65/2", by="WBK19-T27")
