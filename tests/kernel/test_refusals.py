"""47 kinds of bad input, each with its error and the one line that it gets."""

import pytest
import sympy
from click.testing import CliRunner

from symacct import (
    ZCDP,
    AdjacencyError,
    AssumptionError,
    Compose,
    Curve,
    DistributionPair,
    DomainError,
    Gaussian,
    Laplace,
    LimitError,
    OrderError,
    ParseError,
    PoissonSubsample,
    PrecisionError,
    SoundnessError,
    SubsampleWithoutReplacement,
    SymacctError,
    from_json,
    limits,
    parse,
    sweep,
)
from symacct.cli import main
from symacct.kernel.errors import CurveAloneError, InfiniteError

G = Gaussian(5)
STEP = PoissonSubsample(G, "1/9")
SIGMA = sympy.Symbol("sigma")


def within(ask, **lower):
    """The question under lower limits."""

    def asked():
        with limits(**lower):
            return ask()

    return asked


IN_PYTHON = {
    "a number out of its domain": (
        lambda: Gaussian(-1), DomainError, "Gaussian, sigma: found -1, needed > 0"),
    "a word for a number": (
        lambda: Gaussian("five"), DomainError,
        "Gaussian, sigma: found 'five', needed a number such as 5, 1/1000 or 1e-8"),
    "a percentage": (
        lambda: PoissonSubsample(G, "1%"), DomainError,
        "PoissonSubsample, gamma: found '1%', needed a number such as 5, 1/1000 or 1e-8"),
    "a rate above 1": (
        lambda: PoissonSubsample(G, 256), DomainError,
        "PoissonSubsample, gamma: found 256, needed 0 <= rate <= 1"),
    "no number": (
        lambda: Laplace(float("nan")), DomainError,
        "Laplace, b: found nan, needed a finite number"),
    "a part of a run": (
        lambda: "3/2" * G, DomainError,
        "Compose, number of runs: found 1.5, needed a whole number >= 0: round up to 2; "
        "Scale(m, c) multiplies a curve by any c >= 0"),
    "a number too large": (
        lambda: Gaussian("1e999999999"), LimitError,
        "Gaussian, sigma in bits: found 2,999,999,997, the limit is 65,536; "
        "raise the limit parameter_bits"),
    "a relation of another name": (
        lambda: PoissonSubsample(G, "1/9", adjacency="substitute"), DomainError,
        "adjacency: found 'substitute', needed 'add_remove', 'replace_one' or 'either'"),
    "two relations": (
        lambda: STEP + SubsampleWithoutReplacement(G, "1/9"), AdjacencyError,
        "Compose: found add_remove and replace_one together, needed one neighbouring relation; "
        "GroupPrivacy(m, 2) turns an add_remove curve into one that covers replace_one"),
    "text in the place of a mechanism": (
        lambda: Compose(G, "Gaussian(5)"), DomainError,
        "Compose: found 'Gaussian(5)', needed mechanisms such as Gaussian(5)"),
    "probabilities of another sum": (
        lambda: DistributionPair(["1/2", "1/3"], ["1/2", "1/2"]), DomainError,
        "DistributionPair, P: found probabilities that sum to 5/6, needed exactly 1; write them "
        "as fractions, as '1/3': a float is the decimal that it prints as"),
    "a curve without its relation": (
        lambda: Curve("alpha", kind="upper"), AdjacencyError,
        "Curve: found no adjacency, needed the neighbouring relation it is stated for; "
        'pass adjacency="add_remove", "replace_one" or "either"'),
    "an order below 1": (
        lambda: G.rdp("1/2"), DomainError, "order alpha: found '1/2', needed 1 <= alpha <= ∞"),
    "an order that a theorem does not cover": (
        lambda: STEP.rdp("5/2", by="ZW19-T8"), OrderError,
        "ZW19-T8 holds at integer orders >= 2, got 5/2; convexify gives an upper bound"),
    "no orders": (
        lambda: G.epsilon("1e-5", orders=[]), OrderError,
        "orders: found none above 1, needed at least one order > 1"),
    "orders beside the exact profile": (
        lambda: G.epsilon("1e-5", conversion="exact", orders=[2]), OrderError,
        "orders: found some with conversion exact, which takes no order; ask without orders"),
    "a δ above 1": (
        lambda: G.epsilon(2), DomainError, "delta: found 2, needed 0 <= delta < 1"),
    "a δ of 0 without a largest loss": (
        lambda: G.epsilon(0), InfiniteError,
        "delta: found 0, needed delta > 0, because the privacy loss has no largest value"),
    "a theorem that is none": (
        lambda: STEP.rdp(2, by="ZW19-T88"), DomainError,
        "by: found 'ZW19-T88'; did you mean ZW19-T8?"),
    "a theorem about something else": (
        lambda: G.rdp(2, by="ZW19-T5"), AssumptionError,
        "ZW19-T5 is about PoissonSubsample, SubsampleWithoutReplacement, and Gaussian contains "
        "none"),
    "a theorem that needs another mechanism": (
        lambda: PoissonSubsample(ZCDP(1), "1/9").rdp(2, by="MTZ19-EXACT"), AssumptionError,
        "MTZ19-EXACT: the mechanism is not the Gaussian one; ask without by for the default "
        "bound"),
    "a conversion that is none": (
        lambda: G.epsilon("1e-5", conversion="none"), DomainError,
        "conversion: found 'none', needed one of 'improved', 'optimal', 'classic', "
        "'total-variation', 'exact', 'best'"),
    "a curve that is asked for its laws": (
        lambda: ZCDP(1).epsilon("1e-5", conversion="exact"), CurveAloneError,
        "conversion exact: found ZCDP, for which only a Rényi curve is known, needed its two "
        "output laws; use conversion improved for the bound from the curve"),
    "a parameter without a value": (
        lambda: Gaussian(SIGMA).rdp(2), DomainError,
        "found the free symbol sigma, needed a number; put a number in its place, or ask for the "
        "formula"),
    "a lower bound for a guarantee": (
        lambda: Curve("alpha", kind="lower", adjacency="either").epsilon("1e-5"), SoundnessError,
        "Curve('alpha', kind='lower', adjacency='either'): found only a lower bound, which "
        "guarantees nothing; needed an exact curve or an upper bound"),
    "digits beyond the limit": (
        lambda: G.rdp(2, digits=10**9), PrecisionError,
        "digits: found 1000000000, needed at most 10,000; raise the limit digits"),
    "digits that are not reached": (
        within(lambda: Laplace(2).rdp(3, digits=40), bits=100), PrecisionError,
        "Laplace(2) at order 3: 40 digits not reached at 100 bits; ask for fewer digits, or raise "
        "the limit bits"),
    "a sweep without a parameter's values": (
        lambda: sweep(Gaussian(SIGMA), {"delta": ["1e-5"]}), DomainError,
        "grid: found values for delta, needed them for sigma, delta"),
    "an argument left out": (
        lambda: Gaussian(), TypeError,
        "Gaussian.__new__() missing 1 required positional argument: 'sigma'"),
    "an argument of another name": (
        lambda: Gaussian(sigm=5), TypeError,
        "Gaussian.__new__() got an unexpected keyword argument 'sigm'"),
    "a product of mechanisms": (
        lambda: G * G, TypeError, "unsupported operand type(s) for *: 'Gaussian' and 'Gaussian'"),
    "an open bracket": (
        lambda: parse("Gaussian(5"), ParseError,
        "column 11: found the end, needed ',' or ')' for the '(' at column 9"),
    "a name that is none": (
        lambda: parse("Gausian(5)"), ParseError,
        "column 1: found the name 'Gausian'; did you mean Gaussian?"),
    "a call with another argument": (
        lambda: parse("Gaussian(sigm=3)"), ParseError,
        "column 1: found Gaussian(sigm=…), needed Gaussian(sigma, sensitivity=1)"),
    "brackets without an end": (
        lambda: parse("(" * 500), LimitError,
        "text, nesting depth: found 61, the limit is 60; raise the limit depth"),
    "JSON of something else": (
        lambda: from_json("[1]"), ParseError, 'JSON: found no {"symacct": 1, "nodes": [...]}'),
}  # fmt: skip
ON_THE_COMMAND_LINE = {
    "a command that is none": (
        ["epsilonn", "Gaussian(5)"], "No such command 'epsilonn'; did you mean epsilon?"),
    "an option that is none": (
        ["epsilon", "Gaussian(5)", "--dleta", "1e-5"],
        "No such option '--dleta'. Did you mean '--delta'?"),
    "an option left out": (["epsilon", "Gaussian(5)"], "Missing option '--delta'."),
    "a choice that is none": (
        ["statement", "Gaussian(5)", "--delta", "1e-5", "--form", "tex"],
        "Invalid value for '--form': 'tex' is not one of 'text', 'markdown', 'latex', 'short'."),
    "a word for a whole number": (
        ["rdp", "Gaussian(5)", "--alpha", "2", "--digits", "six"],
        "Invalid value for '--digits': 'six' is not a valid integer."),
    "a formula for a number": (
        ["epsilon", "Gaussian(5)", "--delta", "1/n"],
        "DomainError: delta: found '1/n', needed a number such as 5, 1/1000 or 1e-8"),
    "values without a name": (
        ["sweep", "Gaussian(sigma)", "--over", "1,2"],
        "--over: found '1,2', needed NAME=VALUES such as sigma=1,2,5"),
    "half a target": (
        ["calibrate", "Gaussian(sigma)", "--epsilon", "1"],
        "found --epsilon alone; add --delta 1e-5"),
    "no length of a run": (
        ["dpsgd", "--n", "9", "--batch-size", "3", "--noise-multiplier", "1", "--delta", "1e-5"],
        "dpsgd: needed --epochs or --steps, and one of them only"),
    "a file that is not there": (
        ["check", "nowhere.json"], "StorageError: nowhere.json: No such file or directory"),
    "an argument that is no text": (
        ["rdp", "Gaussian(\udcff)", "--alpha", "2"],
        r"found 'Gaussian(\udcff)', needed an argument that is text in UTF-8"),
}  # fmt: skip


def test_there_are_47_kinds():
    assert len(IN_PYTHON) + len(ON_THE_COMMAND_LINE) == 47


@pytest.mark.parametrize("kind", IN_PYTHON)
def test_bad_input_is_one_error_with_what_was_found_and_needed(kind):
    ask, error, line = IN_PYTHON[kind]
    with pytest.raises(error) as caught:
        ask()
    assert type(caught.value) is error
    assert str(caught.value) == line


@pytest.mark.parametrize("kind", ON_THE_COMMAND_LINE)
def test_bad_input_is_one_line_and_exit_status_2(kind):
    words, line = ON_THE_COMMAND_LINE[kind]
    ended = CliRunner().invoke(main, words)
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert [one for one in ended.stderr.splitlines() if "Error" in one] == [f"Error: {line}"]


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
