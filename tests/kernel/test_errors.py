"""An error is data: its class, where, what was found and needed, and at most one remedy."""

import pytest

from symacct import (
    ZCDP,
    AssumptionError,
    Curve,
    DomainError,
    Gaussian,
    Laplace,
    OrderError,
    PoissonSubsample,
    PrecisionError,
    SoundnessError,
    SymacctError,
    limits,
)
from symacct.kernel.errors import CurveAloneError, InfiniteError

STEP = PoissonSubsample(Gaussian(5), "1/9")
LOWER = Curve("alpha", kind="lower", adjacency="either")


def within_a_hundred_bits():
    with limits(bits=100):
        return Laplace(2).rdp(3, digits=40)


@pytest.mark.parametrize(
    ("ask", "error", "where"),
    [
        (lambda: Gaussian(-1), DomainError, "Gaussian, sigma"),
        (lambda: STEP.rdp(2, by="ZW19-T88"), DomainError, "by"),
        (lambda: STEP.epsilon("1e-5", conversion="exact", orders=[2]), OrderError, "orders"),
        (lambda: Gaussian(5).epsilon(2), DomainError, "delta"),
        (lambda: Gaussian(5).epsilon(0), InfiniteError, "delta"),
        (lambda: ZCDP(1).epsilon("1e-5", conversion="exact"), CurveAloneError, "conversion exact"),
        (lambda: LOWER.epsilon("1e-5"), SoundnessError, repr(LOWER)),
        (within_a_hundred_bits, PrecisionError, "Laplace(2) at order 3"),
    ],
)
def test_an_error_is_one_line_that_says_where_it_is(ask, error, where):
    with pytest.raises(error) as caught:
        ask()
    assert type(caught.value) is error
    assert str(caught.value).startswith(f"{where}: ")
    assert "\n" not in str(caught.value)


def test_an_error_is_its_parts_and_renders_them_once():
    with pytest.raises(AssumptionError) as caught:
        PoissonSubsample(ZCDP(1), "1/9").rdp(2, by="MTZ19-EXACT")
    error = caught.value
    assert error.where == "MTZ19-EXACT"
    assert error.finding == "the mechanism is not the Gaussian one"
    assert error.remedy == "ask without by for the default bound"
    assert str(error) == f"{error.where}: {error.finding}; {error.remedy}"
    assert str(SymacctError("found 1")) == "found 1"
    assert str(DomainError("found 1", remedy="ask")) == "found 1; ask"
