"""Eight threads give what one gives, whatever they share."""

import threading
from concurrent.futures import ThreadPoolExecutor

import flint
import mpmath
import pytest

from symacct import (
    Accountant,
    Curve,
    Gaussian,
    Laplace,
    PoissonSubsample,
    RandomizedResponse,
    SubsampleWithoutReplacement,
    limits,
    parse,
)
from symacct.kernel.arithmetic.ball import _flint
from symacct.kernel.evaluation import LeafCurve
from symacct.kernel.limits import current

THREADS = 8
TEXTS = [
    "PoissonSubsample(Gaussian(5), 1/100)",
    "PoissonSubsample(PoissonSubsample(Laplace(2), 1/10), 1/20)",
    "1000*PoissonSubsample(RandomizedResponse(3/5), 1/20) + Gaussian(50)",
    "SubsampleWithoutReplacement(Laplace(3), 1/20)",
]


def exactly(answer):
    return answer.lower._mpf_, answer.upper._mpf_, str(answer.claim)


def questions(accountant, place):
    """Different precisions and orders, in another sequence for each thread."""
    tasks = [
        (text, alpha, digits)
        for text in TEXTS
        for alpha in ("2", "5/2", "33")
        for digits in (10, 40, 200)
    ]
    tasks = tasks[place:] + tasks[:place]
    return {
        task: exactly(accountant.rdp(parse(task[0]), task[1], digits=task[2])) for task in tasks
    }


def at_once(work):
    """work(0) … work(7) in eight threads that start together."""
    barrier = threading.Barrier(THREADS)

    def run(place):
        barrier.wait()
        return work(place)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.parametrize("engine", ["ball", "mpmath"])
@pytest.mark.parametrize("shared", [True, False])
def test_eight_threads_give_what_one_gives(engine, shared):
    if engine == "mpmath":

        def work(place, accountant=None):
            accountant = accountant or Accountant(engine=engine)
            return [
                exactly(accountant.rdp(PoissonSubsample(Curve_, "1/9"), alpha, digits=digits))
                for alpha in (2, 9 + place % 2, 30)
                for digits in (10, 80)
            ]

        Curve_ = Curve("alpha/50 + log(alpha)/9", kind="upper", adjacency="either")
        serial = [work(place) for place in range(THREADS)]
        one = Accountant(engine=engine) if shared else None
        assert at_once(lambda place: work(place, one)) == serial
        return
    serial = questions(Accountant(), 0)
    one = Accountant()
    for found in at_once(lambda place: questions(one if shared else Accountant(), 5 * place)):
        assert found == serial


def test_guarantees_in_threads_are_those_of_one_thread():
    nodes = [n * PoissonSubsample(Gaussian(5), "1/100") for n in range(100, 108)]
    wor = 300 * SubsampleWithoutReplacement(RandomizedResponse("3/5"), "1/50")

    def work(place):
        accountant = Accountant(12)
        return [
            str(accountant.epsilon(nodes[place], "1e-6").as_dict()),
            str(accountant.epsilon(wor, "1e-6", orders="integer").as_dict()),
            str(accountant.delta(nodes[place], "1/2").as_dict()),
        ]

    assert at_once(work) == [work(place) for place in range(THREADS)]


def test_a_plain_mpmath_curve_is_right_in_threads_of_its_own():
    """Such a function computes in mpmath's global precision; each thread needs another."""

    def work(place):
        digits = 10 + 30 * place
        curve = Curve(lambda alpha: mpmath.log(1 + alpha) / 7, kind="upper", adjacency="either")
        found = [
            exactly(Accountant(digits, engine).rdp(curve, alpha))[:2]
            for engine in ("ball", "mpmath")
            for alpha in range(2, 30)
        ]
        return found

    assert at_once(work) == [work(place) for place in range(THREADS)]


def test_equal_expressions_are_one_object_across_threads():
    def work(place):
        return [2 * PoissonSubsample(Gaussian(f"{i}/7919") + Laplace(i), f"1/{i}")
                for i in range(2, 200)]  # fmt: skip

    first, *others = at_once(work)
    for other in others:
        assert all(a is b for a, b in zip(first, other, strict=True))


def test_limits_belong_to_their_thread():
    def work(place):
        with limits(digits=10_000 + place):
            return current().digits

    assert at_once(work) == [10_000 + place for place in range(THREADS)]
    assert current().digits == 10_000


def test_no_ball_is_computed_without_the_lock_on_flint_s_precision(monkeypatch):
    """flint's precision is the process's: a value computed outside would have that of anyone."""
    held, compute = [], LeafCurve.compute

    def watched(self, alpha):
        held.append(_flint._is_owned())
        return compute(self, alpha)

    monkeypatch.setattr(LeafCurve, "compute", watched)
    general = PoissonSubsample(PoissonSubsample(Gaussian(3), "1/10"), "1/7")
    nodes = [300 * general, 300 * SubsampleWithoutReplacement(Laplace(3), "1/20"), general]
    for node in nodes:
        accountant = Accountant(12)
        accountant.rdp(node, "7/2")
        accountant.lower_bound(node, 4)
        accountant.epsilon(node, "1e-6")
        accountant.epsilon(node, "1e-6", orders="integer")
        accountant.epsilon(node, "1e-6", orders=[2, 9, "17/2", 40])
        accountant.delta(node, 2)
        node.explain(5)
    assert len(held) > 100
    assert all(held)


def test_the_precision_of_flint_is_as_before_afterwards():
    before = flint.ctx.prec
    at_once(lambda place: questions(Accountant(), place))
    assert flint.ctx.prec == before
