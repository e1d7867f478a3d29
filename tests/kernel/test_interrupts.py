"""What is raised while flint integrates comes out as it was raised, and leaves nothing behind."""

import os
import signal
from fractions import Fraction
from pathlib import Path

import flint
import pytest
from flint import arb

import symacct
from symacct import Accountant, DistributionPair, Laplace, PoissonSubsample, laws
from symacct.adversary.schemes import noise
from symacct.analysis import densities, sampled_laplace
from symacct.kernel.arithmetic.ball import integral
from symacct.kernel.errors import PrecisionError
from tests.thinning import covering

RAISED = [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, ZeroDivisionError, ValueError]
RAISED += [TypeError, PrecisionError, SystemError, RecursionError, OSError, StopIteration]


def stopping(error, at):
    """e^z, which raises at its `at`-th evaluation."""
    calls = 0

    def integrand(z, analytic):
        nonlocal calls
        calls += 1
        if calls == at:
            raise error("stop here")
        return z.exp()

    return integrand


@covering()
@pytest.mark.parametrize("at", [1, 2, 3, 7])
@pytest.mark.parametrize("error", RAISED)
def test_an_integrand_s_exception_is_its_own(error, at):
    for integrate in (
        lambda f: integral(f, 0, 5),
        lambda f: sampled_laplace.integrate(f, [arb(0), arb(5)], -60.0),
        lambda f: densities.integrate(f, arb(0), arb(5), arb(2) ** -80),
        lambda f: noise._integral(f, arb(0), arb(2), arb(5)),
    ):
        with pytest.raises(error, match="stop here"):
            integrate(stopping(error, at))
        assert integrate(stopping(error, -1)).real.overlaps(arb(5).exp() - 1)


def test_flint_integrates_in_one_place():
    package = Path(symacct.__file__).parent
    found = [
        file.name for file in package.rglob("*.py") if "acb.integral(" in file.read_text("utf-8")
    ]
    assert found == ["ball.py"]


QUESTIONS = [
    (PoissonSubsample(Laplace(3), "1/33"), Fraction(4001, 2), 12),
    (PoissonSubsample(DistributionPair(laws.Normal(0, 1), laws.Normal(1, 2)), "1/33"), 1, 8),
]


@pytest.mark.parametrize(("m", "alpha", "digits"), QUESTIONS)
def test_ctrl_c_is_a_keyboard_interrupt_wherever_it_falls(m, alpha, digits, monkeypatch):
    """The signal comes at every evaluation in turn, as it would from outside."""
    expected, bits = Accountant().rdp(m, alpha, digits=digits), flint.ctx.prec
    calls = 0

    def counting(integrand, low, high, **options):
        def watched(z, analytic):
            nonlocal calls
            calls += 1
            if calls == stop:
                os.kill(os.getpid(), signal.SIGINT)
            return integrand(z, analytic)

        return integral(watched, low, high, **options)

    for module in (sampled_laplace, densities):
        monkeypatch.setattr(module, "integral", counting)
    for stop in (1, 7, 40):  # noqa: B007  # the integrand reads it
        calls, accountant = 0, Accountant()
        with pytest.raises(KeyboardInterrupt):
            accountant.rdp(m, alpha, digits=digits)
        assert accountant.rdp(m, alpha, digits=digits) == expected
        assert flint.ctx.prec == bits
