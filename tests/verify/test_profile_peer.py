"""An accountant that is not a Rényi one is held to the truth: half a percent less is caught."""

import sys
from pathlib import Path

import pytest

from symacct import (
    Accountant,
    Gaussian,
    Laplace,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    parse,
)
from symacct.testing import UnsoundError, assert_sound
from symacct.verify import verify
from symacct.verify.asking.questions import Extent
from symacct.verify.judging.truth import Oracle
from symacct.verify.peer.protocol import Ask, AskedPart

PEER = Path(__file__).with_name("profile_accountant.py")
HOW = {"count": ["number", "repeat"]}
SMALL = Extent(
    parameters=3,
    rates=3,
    orders=3,
    ends=6,
    bases=1,
    refinements=0,
    simplified=1,
    seconds=60,
)


@pytest.mark.parametrize("share", [1.005, 0.995])
def test_a_share_of_the_truth(share, tmp_path):
    """Far below every Rényi answer both are: only the exact profile tells them apart."""
    program = tmp_path / "accountant.py"
    text = PEER.read_text(encoding="utf-8")
    program.write_text(text.replace("SHARE = 1.0", f"SHARE = {share}"), encoding="utf-8")
    report = verify([sys.executable, str(program)], SMALL)
    assert report.asked > 10
    assert report.unsound == (share < 1)


def test_two_ways_of_writing_that_are_both_too_small_are_no_finding_beside_it(tmp_path):
    program = tmp_path / "accountant.py"
    text = PEER.read_text(encoding="utf-8").replace('"supports"', f'"how": {HOW}, "supports"')
    share = '{"value": (0.5 if ask["how"] else 0.9)'
    program.write_text(text.replace('{"value": SHARE', share), encoding="utf-8")
    counts = verify([sys.executable, str(program)], SMALL).counts
    assert counts["unsound"] > 1
    assert "inconsistent" not in counts


#: A part of a question for each law of which verify's own truth is compared.
LAWS = {
    1000 * PoissonSubsample(Gaussian(1), "1/100"): ("1", "1/100", 1000),
    600_000 * PoissonSubsample(Gaussian(5), "1/1000"): ("5", "1/1000", 600_000),
    2000 * PoissonSubsample(Laplace(2), "1/100"): None,
    30 * PoissonSubsample(Gaussian(3), "1/10") + 5 * parse("RandomizedResponse(11/20)"): None,
}


@pytest.mark.parametrize("m", LAWS, ids=repr)
@pytest.mark.parametrize(("lowered", "at"), [("epsilon", "1e-6"), ("delta", "3/2")])
def test_half_a_percent_less_is_found(m, lowered, at):
    """Of ε(δ) and of δ(ε): by assert_sound, and by the truth that verify judges by."""
    right = float(getattr(Accountant(13), lowered)(m, at, "exact").asked)
    assert assert_sound(lambda _: right, m, what=lowered, at=[at]) == 1
    with pytest.raises(UnsoundError, match=r"0\.995"):
        assert_sound(lambda _: 0.995 * right, m, what=lowered, at=[at])
    if LAWS[m] is not None:
        sigma, gamma, steps = LAWS[m]
        part = AskedPart("Gaussian", (("sigma", sigma),), "poisson", gamma, steps)
        truth = Oracle().truth(Ask(lowered, (part,), at))
        assert truth.exact
        assert 0.995 * right < truth.lower <= right * (1 + 1e-12)


def test_a_sample_of_fixed_size_is_held_to_its_lower_bound():
    """Poisson's truth is below that of the fixed size in 600,000 steps, by three means."""
    m = 600_000 * SubsampleWithoutReplacement(Gaussian(5), "1/1000")
    poisson = 600_000 * PoissonSubsample(Gaussian(5), "1/1000")
    answer = float(poisson.epsilon("1e-8", digits=10, conversion="exact").epsilon)
    with pytest.raises(UnsoundError, match="of the truth"):
        assert_sound(lambda _: answer, m, what="epsilon", at=["1e-8"])


#: Noise, rate, steps: ε(10⁻⁵) of dp-accounting 0.6.0's PLDAccountant, run in a process of its own.
PLD = {
    (2, "1/100", 3000): "1.1195732381844725",
    (1, "1/200", 1000): "0.8639106669462886",
    ("4/5", "1/20", 200): "7.702169671197308",
    (20, None, 300): "3.7086349369651264",
    (10, None, 100): "4.37717810002493",
    (8, None, 20): "2.2581453734161285",
}


@pytest.mark.parametrize("setting", PLD, ids=repr)
def test_a_share_of_what_a_pld_accountant_says_is_found_where_it_is_taken(setting):
    """Of everything, or of samples only: what is left as it was is right."""
    sigma, gamma, steps = setting
    said, one = float(PLD[setting]), Gaussian(sigma)
    m = steps * (one if gamma is None else PoissonSubsample(one, gamma))
    assert assert_sound(lambda _: said, m, what="epsilon", at=["1e-5"]).width < 1 + 1e-9
    with pytest.raises(UnsoundError, match=r"0\.995.* of the truth"):
        assert_sound(lambda _: 0.995 * said, m, what="epsilon", at=["1e-5"])


def test_a_function_of_whole_orders_is_asked_at_these():
    """Between whole orders its own error is raised."""

    def whole(alpha):
        if alpha != int(alpha):
            raise TypeError("needed an int")
        return alpha / 50

    assert assert_sound(whole, "Gaussian(5)", at=range(2, 65)) == 63
    for more in ({}, {"at": [2.5]}):
        with pytest.raises(TypeError, match=r"^needed an int$"):
            assert_sound(whole, "Gaussian(5)", **more)
