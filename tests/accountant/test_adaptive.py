"""Budgets for mechanisms chosen on the way: all histories counted out, and closed forms."""

import copy
import pickle
import random
import threading
from fractions import Fraction

import pytest

from symacct import (
    AdjacencyError,
    BudgetError,
    Curve,
    DistributionPair,
    DomainError,
    Filter,
    Gaussian,
    Kind,
    Laplace,
    Odometer,
    ParseError,
    PoissonSubsample,
    PrecisionError,
    PureDP,
    RandomizedResponse,
    SoundnessError,
    SubsampleWithoutReplacement,
    limits,
)
from symacct.accountant.adaptive import ORDERS
from tests import independent
from tests.support import INFINITY, holds
from tests.thinning import covering, some

MP = independent.context(60)


def number(x):
    return independent.number(MP, x)


# --- all histories of a few mechanisms on two outcomes, each chosen from what was told

CHOICES = [
    DistributionPair(["1/2", "1/2"], ["1/3", "2/3"]),
    DistributionPair(["1/10", "9/10"], ["1/5", "4/5"]),
    RandomizedResponse("7/10"),
    RandomizedResponse("51/100"),
]


def masses(m):
    if isinstance(m, DistributionPair):
        return list(zip(m.P, m.Q, strict=True))
    return [(m.p, 1 - m.p), (1 - m.p, m.p)]


def chosen(seed, history):
    """What the adversary runs next: any function of what was told."""
    return random.Random(f"{seed} {history}").choice(CHOICES)


def histories(seed, budget, most, history=(), p=Fraction(1), q=Fraction(1)):
    """(history, P, Q) at which the budget ends it, or the adversary does."""
    m = chosen(seed, history)
    if len(history) == most or not budget.admits(m):
        yield history, p, q
        return
    budget.spend(m)
    for outcome, (a, b) in enumerate(masses(m)):
        branch = copy.copy(budget)
        yield from histories(seed, branch, most, (*history, outcome), p * a, q * b)


@covering()
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("orders", [None, [4], [2, 8, 20]])
def test_whatever_is_admitted_keeps_to_the_budget(seed, orders):
    delta = Fraction(1, random.Random(seed).choice([10, 50, 1000]))
    budget = Filter("3/2", delta, orders)
    ends = list(histories(seed, budget, 6))
    assert sum(p for _, p, _ in ends) == 1
    e = MP.exp(MP.mpf("1.5"))
    for first, second in ((1, 2), (2, 1)):
        found = MP.fsum(max(number(end[first]) - e * number(end[second]), 0) for end in ends)
        assert found <= number(delta)


def readings(seed, meter, left, history=(), p=Fraction(1), q=Fraction(1)):
    """The share of P whose loss is above the reading at some time."""
    if history:
        e = MP.exp(meter.epsilon(12).upper)
        if number(p) > e * number(q):
            return p
    if not left:
        return 0
    m = chosen(seed, history)
    meter.add(m)
    return sum(
        readings(seed, copy.copy(meter), left - 1, (*history, outcome), p * a, q * b)
        for outcome, (a, b) in enumerate(masses(m))
    )


@pytest.mark.parametrize("seed", range(some(3, 6)))
def test_the_loss_is_above_the_reading_with_probability_delta_at_most(seed):
    delta = Fraction(1, 2) ** (1 + seed % 3)
    assert readings(seed, Odometer(delta, [2, 4]), 6) <= delta


# --- closed forms


def improved(alpha, eps, delta):
    a, d = number(alpha), number(delta)
    return eps + MP.log((a - 1) / a) - (MP.log(d) + MP.log(a)) / (a - 1)


@pytest.mark.parametrize("seed", range(some(5, 15)))
def test_the_runs_left_of_a_gaussian_are_a_quotient(seed):
    """At one order: the largest n with n α/(2σ²) at most what the conversion leaves of ε."""
    rng = random.Random(seed)
    sigma, epsilon = Fraction(rng.randrange(20, 900), 10), Fraction(rng.randrange(20, 90), 10)
    alpha, delta = rng.choice([Fraction(5, 2), 4, 17]), Fraction(1, 10 ** rng.randrange(1, 9))
    each = number(alpha / (2 * sigma**2))
    room = number(epsilon) - improved(alpha, 0, delta)
    expected = max(0, int(MP.floor(room / each)))
    assert Filter(epsilon, delta, [alpha]).left(Gaussian(sigma)) == expected


@pytest.mark.parametrize("seed", range(some(4, 12)))
def test_a_reading_is_its_formula(seed):
    rng = random.Random(seed)
    sigma, runs = Fraction(rng.randrange(20, 90), 10), rng.randrange(1, 9)
    delta = Fraction(1, 10 ** rng.randrange(1, 12))
    meter = Odometer(delta)
    for _ in range(runs):
        meter.add(Gaussian(sigma))
    value = min(
        number(a * runs / (2 * sigma**2)) + MP.log(len(ORDERS) / number(delta)) / (number(a) - 1)
        for a in ORDERS
    )
    answer = meter.epsilon(digits=25)
    assert holds(answer, value, 25, 50)
    assert answer.claim.kind is Kind.UPPER


def test_one_order_costs_nothing_more_than_the_conversion_of_all_runs():
    m = PoissonSubsample(Gaussian(1), "1/100")
    budget = Filter(2, "1e-6", [9])
    n = budget.left(m)
    at = {n: True, n + 1: False}
    for runs, keeps in at.items():
        with pytest.warns(UserWarning, match="edge"):
            known = (runs * m).epsilon("1e-6", orders=[9]).epsilon
        assert (known.upper <= 2) is keeps
        assert budget.admits(runs * m) is keeps


def test_pure_budgets_are_kept_exactly():
    budget = Filter(1, 0)
    for _ in range(3):
        assert budget.admits(PureDP("1/3"))
        budget.spend(PureDP("1/3"))
    assert budget.left(PureDP("1e-40")) == 0
    assert budget.left(PureDP(0)) == INFINITY
    with pytest.raises(BudgetError, match=r"would exceed the budget ε = 1, δ = 0"):
        budget.spend(PureDP("1e-40"))
    assert budget.spent == 3 * PureDP("1/3")
    assert Filter(1, "1e-9").left(Laplace(7)) >= 7
    assert Filter(1, "1e-9", []).left(Gaussian(100)) == 0


def test_the_smallest_budget_that_admits_it_is_its_epsilon():
    m = 5 * Gaussian(7)
    value = improved(8, number(Fraction(5 * 8, 98)), Fraction(1, 10**5))
    near = independent.fraction(value)
    step = Fraction(1, 10**30)
    assert Filter(near + step, "1e-5", [8]).admits(m)
    assert not Filter(near - step, "1e-5", [8]).admits(m)


# --- as an object


def test_what_is_refused_is_not_counted_and_copies_go_their_own_way():
    budget = Filter(2, "1e-6", [8, 16])
    budget.spend(Gaussian(5))
    for again in (copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):  # noqa: S301
        assert again.spent is budget.spent
        again.spend(Gaussian(40))
        assert again.spent != budget.spent
        assert again.left(Gaussian(50)) < budget.left(Gaussian(50))
    with pytest.raises(BudgetError):
        budget.spend(Gaussian("1/10"))
    assert budget.spent is Gaussian(5)
    assert eval(repr(budget), {"Filter": Filter, "Gaussian": Gaussian}).spent is Gaussian(5)  # noqa: S307


@pytest.mark.parametrize("made", [lambda: Filter("7/3", "1e-6", [8]), lambda: Odometer("1e-6")])
def test_json_goes_on_where_it_was(made):
    one = made()
    (one.spend if isinstance(one, Filter) else one.add)(Gaussian(9))
    again = type(one).from_json(one.to_json())
    assert again.to_json() == one.to_json()
    assert again.spent is Gaussian(9)
    with pytest.raises(ParseError):
        (Odometer if isinstance(one, Filter) else Filter).from_json(one.to_json())


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"symacct": 1, "Filter": {}}', 7, "[" * 10**5])
def test_what_is_no_filter_is_refused(text):
    with pytest.raises(ParseError):
        Filter.from_json(text)


def test_two_threads_do_not_both_take_the_last_run():
    budget = Filter(1, 0)
    taken = []

    def take():
        for _ in range(20):
            try:
                budget.spend(PureDP("1/25"))
                taken.append(1)
            except BudgetError:
                return

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 25


LOWER = Curve("alpha/50", kind="lower", adjacency="either", at_infinity="inf")
TRUSTED = Curve(lambda a: a / 50, kind="upper", adjacency="either")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (lambda: Filter(-1, "1e-5"), DomainError, "epsilon"),
        (lambda: Filter(1, 1), DomainError, "delta"),
        (lambda: Filter(1, "1e-5", [1]), DomainError, "above 1"),
        (lambda: Filter(1, "1e-5", 7), DomainError, "a list such as"),
        (lambda: Filter(1, "1e-5").admits(7), DomainError, "Filter"),
        (lambda: Filter(1, "1e-5").admits(LOWER), SoundnessError, "a lower bound"),
        (lambda: Odometer("1e-5").add(LOWER), SoundnessError, "a lower bound"),
        (lambda: Filter(1, "1e-5").admits(TRUSTED), SoundnessError, "on trust"),
        (lambda: Filter(1, "1e-5", spent=Gaussian(1)), BudgetError, "exceeds"),
        (
            lambda: Filter(1, "1e-5", spent=PoissonSubsample(Gaussian(9), "1/100")).admits(
                SubsampleWithoutReplacement(Gaussian(9), "1/100")
            ),
            AdjacencyError,
            "needed one neighbouring relation",
        ),
    ],
)
def test_bad_input(asked, error, message):
    with pytest.raises(error, match=message):
        asked()


def test_what_stays_undecided_raises():
    with limits(bits=64), pytest.raises(PrecisionError, match="undecided at 64 bits"):
        Filter(1, "1e-5", [8]).admits(Gaussian(9))


# --- a budget of zCDP

RHOS = [Gaussian(5), Gaussian("3/2"), 3 * Gaussian(3), PureDP("1/10"), Laplace(4)]


@covering()
@pytest.mark.parametrize("m", RHOS, ids=repr)
@pytest.mark.parametrize("rho", ["1/3", "7/10", "1/50"])
def test_a_filter_of_rho_admits_as_many_runs_as_rho_has_room_for(m, rho):
    """As many as ρ of so many runs together is at most the budget; ties such as 3 · 1/9 too."""
    left = Filter(rho=rho).left(m)
    each, most = Fraction(str((m).zcdp(digits=40).upper)), Fraction(rho)
    assert (left * each <= most * (1 + Fraction(1, 10**12))) or left == 0
    assert (left + 1) * each > most * (1 - Fraction(1, 10**12))
    budget = Filter(rho=rho, spent=left * m) if left else Filter(rho=rho)
    assert not budget.admits(m)
    with pytest.raises(BudgetError, match="the budget ρ"):
        budget.spend(m)
    again = Filter.from_json(budget.to_json())
    assert (again.rho, again.spent) == (budget.rho, budget.spent)


def test_a_tie_of_fractions_that_are_no_decimals_is_admitted():
    budget = Filter(rho="1/3", spent=Gaussian("3/2"))  # ρ = 2/9
    assert budget.left(Gaussian(3)) == 2  # of 1/18


def known_record(one, other):
    return DistributionPair(one, other, "add_remove", with_record="P")


@pytest.mark.parametrize("share", [Fraction(1), Fraction(3, 4)])
def test_no_adaptive_choice_of_three_runs_costs_more_than_rho(share):
    """The choices that cost the most at an order, by recursion over the histories, both ways."""
    laws = [  # the first two are dear in opposite directions, so that ρ of both is not a sum
        ((Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 2), Fraction(1, 2))),
        ((Fraction(1, 2), Fraction(1, 2)), (Fraction(9, 10), Fraction(1, 10))),
        ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))),
    ]
    menu = [known_record(*map(list, pair)) for pair in laws]
    rho = share * Fraction(str((menu[0] + menu[1]).zcdp(8).upper)) + Fraction(1, 10**6)
    admitted = {}

    def admits(runs, i):
        now = tuple(sorted((*runs, i)))
        if now not in admitted:
            budget = Filter(rho=rho)
            for earlier in runs:
                budget.spend(menu[earlier])
            admitted[now] = budget.admits(menu[i])
        return admitted[now]

    def moment(runs, alpha, turned):
        largest = MP.mpf(1)
        for i, pair in enumerate(laws):
            if len(runs) == 3 or not admits(runs, i):
                continue
            p, q = (map(number, law) for law in (pair[::-1] if turned else pair))
            own = sum(x**alpha / y ** (alpha - 1) for x, y in zip(p, q, strict=True))
            largest = max(largest, own * moment((*runs, i), alpha, turned))
        return largest

    used = []
    for alpha in map(MP.mpf, ("1.01", "2", "5", "40")):
        for turned in (False, True):
            cost = MP.log(moment((), alpha, turned)) / (alpha - 1)
            used.append(cost / (alpha * number(rho)))
    assert max(used) <= 1
    assert any(admitted.values())
    assert not all(admitted.values())
    assert max(used) > (0.95 if share == 1 else 0)


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ({}, "no budget"),
        ({"epsilon": 1}, "epsilon, needed"),
        ({"epsilon": 1, "delta": 0, "rho": 1}, "epsilon and delta and rho"),
        ({"rho": 1, "orders": [2]}, "rho with orders"),
    ],
)
def test_a_filter_has_one_budget(stated, found):
    with pytest.raises(DomainError, match=f"Filter: found {found}"):
        Filter(**stated)
