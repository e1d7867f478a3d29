"""A theorem of the user's own, ten lines outside the package, takes part in everything."""

import itertools
import math
import re
import warnings
from fractions import Fraction

import pytest

from symacct import (
    Accountant,
    DomainError,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    Source,
    compare,
    falsify,
    theorem,
    theorems,
)
from symacct.kernel.claims import ADD_REMOVE, FINITE_ORDERS, INTEGER_ORDERS
from symacct.kernel.errors import EqualTheoremWarning, SoundnessError
from symacct.kernel.theorem_registry import always, forget, named
from tests import support

NODE = PoissonSubsample(Gaussian(5), "1/100")


def state(name, bound, **options):
    """What a user writes; the test adds only the name."""
    return theorem(
        name,
        operation=PoissonSubsample,
        kind=Kind.UPPER,
        source=Source("me", "notebook, page 3"),
        **{"orders": FINITE_ORDERS, "status": "proved", **options},
        adjacency=ADD_REMOVE,
        applies=always,
        monotone=True,
    )(bound)


@pytest.fixture
def capped():
    """ε′(α) <= min{ε(α), log(1 + γ(e^{ε(∞)} − 1))}: sound, and what the base alone gives."""

    def bound(ctx, eps, alpha, gamma):
        """ε′(α) <= ε(α)"""
        return eps(alpha)

    state("MINE-1", bound)
    yield "MINE-1"
    forget("MINE-1")


def every_mechanism(ctx, eps, alpha, gamma):
    """S22-POISSON, by another way of adding."""
    lam, moment = ctx.number(alpha - 1), lambda l: ctx.exp((l - 1) * eps(l)) if l > 1 else 1
    terms = [math.comb(alpha, l) * gamma**l * (1 - gamma) ** (alpha - l) for l in range(alpha + 1)]
    return ctx.log(sum(w * moment(l) for l, w in enumerate(terms))) / lam


EQUAL = {
    "VEH14-T13": (lambda ctx, eps, alpha, gamma: eps(alpha), FINITE_ORDERS),
    "S22-POISSON": (every_mechanism, INTEGER_ORDERS),
    None: (lambda ctx, eps, alpha, gamma: eps(alpha) * (1 + gamma / 10**9), FINITE_ORDERS),
}


@pytest.mark.parametrize("known", EQUAL)
def test_a_theorem_of_the_values_of_another_warns(known):
    bound, orders = EQUAL[known]
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            state("MINE-EQUAL", bound, orders=orders)
    finally:
        forget("MINE-EQUAL")
    if known is None:
        assert not said
    else:
        (warning,) = said
        assert warning.category is EqualTheoremWarning
        assert f"found the values of {known} " in str(warning.message)
        assert warning.filename == __file__


def test_what_fails_or_takes_long_is_registered_without_a_word():
    def never(ctx, eps, alpha, gamma):
        """ε′(α) <= an endless sum, stopped where it reads the curve"""
        return sum(eps(j) for j in itertools.count(2))

    def broken(ctx, eps, alpha, gamma):
        """ε′(α) <= 1/0"""
        return 1 / 0

    for bound in (never, broken):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            state("MINE-3", bound)
        forget("MINE-3")


@pytest.fixture
def too_good():
    def bound(ctx, eps, alpha, gamma):
        """ε′(α) <= γ² ε(α)"""
        return gamma**2 * eps(alpha)

    state("MINE-2", bound, default=False)
    yield "MINE-2"
    forget("MINE-2")


def test_it_takes_part_wherever_theorems_do(capped):
    (found,) = (t for t in theorems() if t.name == capped)
    assert str(found.source) == "me, notebook, page 3"
    assert found.statement == "ε′(α) <= ε(α)"
    answer = NODE.rdp(Fraction(5, 2), by=capped)
    assert answer <= Fraction(1, 20) + Fraction(1, 10**20)
    assert answer >= Fraction(1, 20) - Fraction(1, 10**20)
    assert answer.claim.theorems[0] == capped
    assert answer.certified
    for engine in ("ball", "mpmath", "float64"):
        assert abs(float(Accountant(12, engine).rdp(NODE, 8, by=capped)) - 0.16) < 1e-9
    (row,) = (row for row in compare(NODE, [2, "5/2"]) if row.name == capped)
    assert row.applies
    assert all(ratio.lower > 1 for ratio in row.ratios)
    assert capped in support.answers(NODE, 4)


def test_it_takes_part_in_the_default_answer_and_in_explain():
    def bound(ctx, eps, alpha, gamma):
        """ε′(α) <= ε(α), stated as the only tight one"""
        return eps(alpha)

    # Being tight it stands alone among those that apply; a real user would have to prove that.
    node = PoissonSubsample(2 * Laplace(3), "1/10")
    before = node.explain("5/2").theorem
    state("MINE-3", bound, tight=True)
    try:
        assert node.explain("5/2").theorem == "MINE-3"
        assert Accountant(12).rdp(node, "5/2").claim.theorems[0] == "MINE-3"
    finally:
        forget("MINE-3")
    assert node.explain("5/2").theorem == before


def test_falsify_finds_nothing_against_a_sound_one(capped):
    attack = falsify(capped, budget=2000)
    assert attack.attacked
    assert not attack.refuted


def test_falsify_refutes_a_wrong_one(too_good):
    attack = falsify(too_good, budget=2000)
    assert attack.refuted
    assert attack.witness.truth.lower > attack.witness.bound.upper


def test_a_bound_that_meets_a_fraction_or_another_name_is_told_so():
    def met(ctx, eps, alpha, gamma):
        """ε′(α) <= (α−1)ε(α)"""
        return (alpha - 1) * eps(alpha)

    def misnamed(ctx, eps, alpha, rate):
        """ε′(α) <= rate · ε(α)"""
        return rate * eps(alpha)

    for bound, found in ((met, "unsupported operand"), (misnamed, "unexpected keyword")):
        state("MINE-5", bound, default=False)
        try:
            said = rf"MINE-5 at order 5/2: found .*{found}.*\(ctx, eps, alpha, gamma\).*number\("
            with pytest.raises(DomainError, match=said):
                NODE.rdp("5/2", by="MINE-5")
        finally:
            forget("MINE-5")


def test_a_name_is_given_once(capped):
    with pytest.raises(DomainError, match="already registered"):
        state(capped, lambda ctx, eps, alpha, gamma: eps(alpha))


def test_what_was_forgotten_is_gone(capped):
    state("MINE-4", lambda ctx, eps, alpha, gamma: eps(alpha))
    forget("MINE-4")
    with pytest.raises(DomainError):
        NODE.rdp(2, by="MINE-4")
    assert "MINE-4" not in {row.name for row in compare(NODE, 2)}


@pytest.mark.parametrize("status", ["conjecture", "approximation", "proved"])
def test_what_is_not_proved_takes_no_part_in_the_default_answer(status):
    step = PoissonSubsample(Gaussian(5), "1/100")
    before = step.rdp(2, digits=6)
    too_small = lambda ctx, eps, alpha, gamma: gamma**2 * eps(alpha) / 2  # noqa: E731
    too_small.__doc__ = "ε′(α) <= γ² ε(α)/2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state("MINE-9", too_small, status=status)
    try:
        assert named("MINE-9").default == (status == "proved")
        if status != "proved":
            assert step.rdp(2, digits=6) == before
            with pytest.raises(SoundnessError, match="needed default=False"):
                state("MINE-10", too_small, status=status, default=True)
    finally:
        forget("MINE-9")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (
            lambda ctx, eps, alpha, gamma: math.exp(0.5),
            "a float; write ctx.exp",
        ),
        (lambda ctx, eps, alpha, gamma: None, "None; write what it returns by eps"),
    ],
)
def test_a_bound_that_returns_no_number_is_told_what_to_write(returned, said):
    """By name it is an error, and a comparison with others goes on without it."""
    state("BADMATH", returned, status="conjecture")
    try:
        for ask in (lambda: NODE.rdp(4, by="BADMATH"), lambda: falsify("BADMATH"),
                    lambda: NODE.formula(by="BADMATH")):  # fmt: skip
            with pytest.raises(DomainError, match=f"^BADMATH returned {re.escape(said)}"):
                ask()
        shown = str(compare(NODE, [4]))
        assert f"BADMATH does not answer: returned {said}" in shown
        assert "ZW19-T8" in shown
    finally:
        forget("BADMATH")


WORDS = {
    "kind": ("upper", Kind.UPPER, "uper"),
    "orders": ("integer", INTEGER_ORDERS, "whole ones"),
    "adjacency": ("add_remove", ADD_REMOVE, "sometimes"),
    "source": ("my draft, Theorem 1", Source("my draft", "Theorem 1"), 5),
    "status": ("conjecture", "conjecture", "conjectured"),
}


def test_a_theorem_is_stated_in_words_and_all_that_is_wrong_is_one_error():
    words = {name: word for name, (word, _, _) in WORDS.items()}
    theorem("ME", operation=PoissonSubsample, monotone=True, applies=always, **words)(
        lambda ctx, eps, alpha, gamma: 2 * gamma * eps(alpha)
    )
    try:
        for name, (_, meant, _) in WORDS.items():
            assert getattr(named("ME"), name) == meant
        assert NODE.rdp(4, by="ME").upper > 0
    finally:
        forget("ME")
    wrong = {name: bad for name, (_, _, bad) in WORDS.items()}
    for more, error in (({}, SoundnessError), ({"monotone": True, "applies": always}, DomainError)):
        with pytest.raises(error) as caught:
            theorem("ME", operation=PoissonSubsample, **wrong, **more)
        assert all(f"{name}: found {bad!r}" in str(caught.value) for name, bad in wrong.items())
