"""Every kind of node with parameters far outside the range of floats, and what is asked of them."""

import random
import signal
from contextlib import contextmanager

from symacct import (
    TCDP,
    ZCDP,
    Compose,
    Convexify,
    Curve,
    DistributionPair,
    Either,
    ExponentialFamily,
    Gaussian,
    GroupPrivacy,
    Laplace,
    PoissonSubsample,
    PostProcess,
    PureDP,
    RandomAllocation,
    RandomizedResponse,
    RepeatAndSelect,
    Scale,
    SubsampleWithoutReplacement,
    SymacctError,
    laws,
)
from symacct.kernel.exact import exact
from symacct.laws import families, normal

SMALL = ("1e-324", "1e-400", "1e-5000")
LARGE = ("1e324", "1e400", "1e5000")
VALUES = SMALL + LARGE

#: A leaf for each parameter that may be any number > 0; those of `PROBABILITIES` lie below 1.
SCALES = {
    "Gaussian": Gaussian,
    "Gaussian, sensitivity": lambda v: Gaussian(1, v),
    "Laplace": Laplace,
    "Laplace, sensitivity": lambda v: Laplace(1, v),
    "PureDP": PureDP,
    "ZCDP": ZCDP,
    "ZCDP, xi": lambda v: ZCDP("1/50", v),
    "TCDP": lambda v: TCDP(v, 12),
    "TCDP, omega": lambda v: TCDP("1/50", 1 + exact(v)),
    "ExponentialFamily": lambda v: ExponentialFamily(v, "inf"),
    "ExponentialFamily, B": lambda v: ExponentialFamily("1/2", v),
    "ExponentialFamily, kappa": lambda v: ExponentialFamily(1, 2, 1 + exact(v)),
    "Curve": lambda v: Curve(f"alpha*{v}", "exact", "either", "inf"),
    "Curve, at_infinity": lambda v: Curve("1-1/(1+alpha)", "upper", "either", v),
    "DistributionPair of normal laws": lambda v: DistributionPair(
        normal.Normal(0, v), normal.Normal(1, v)
    ),
    "DistributionPair of Poisson laws": lambda v: DistributionPair(
        families.Poisson(v), families.Poisson(2 * exact(v))
    ),
}
PROBABILITIES = {
    "RandomizedResponse": RandomizedResponse,
    "RandomizedResponse, truth": lambda p: RandomizedResponse(1 - exact(p)),
    "DistributionPair": lambda p: DistributionPair([p, 1 - exact(p)], ["1/2", "1/2"]),
    "DistributionPair, apart": lambda p: DistributionPair([p, 1 - exact(p)], [1 - exact(p), p]),
}

PLAIN = {"Gaussian(5)": lambda: Gaussian(5), "PureDP(1)": lambda: PureDP(1)}

OPERATIONS = {
    "itself": lambda m: m,
    "Compose": lambda m: Compose({m: 3, Laplace(2): 1}),
    "Convexify": lambda m: Convexify(m, 8),
    "Either": lambda m: Either(m, Laplace(2), "1/3"),
    "GroupPrivacy": lambda m: GroupPrivacy(m, 4),
    "PostProcess": PostProcess,
    "RandomAllocation": lambda m: RandomAllocation(m, 5),
    "RepeatAndSelect": lambda m: RepeatAndSelect(m, laws.Poisson(3)),
    "Scale": lambda m: Scale(m, "1/3"),
    "PoissonSubsample": lambda m: PoissonSubsample(m, "1/100"),
    "PoissonSubsample, replaced": lambda m: PoissonSubsample(m, "1/100", "replace_one"),
    "SubsampleWithoutReplacement": lambda m: SubsampleWithoutReplacement(m, "1/100"),
    "SubsampleWithoutReplacement, added": lambda m: SubsampleWithoutReplacement(
        m, "1/100", "add_remove"
    ),
}
#: Operations with a parameter that may be extreme itself.
EXTREME_OPERATIONS = {
    "Compose": lambda m, v: Compose({m: exact(v)}),
    "RepeatAndSelect": lambda m, v: RepeatAndSelect(m, laws.Poisson(v)),
    "RepeatAndSelect, binomial": lambda m, v: RepeatAndSelect(
        m, laws.TruncatedNegativeBinomial(0, v)
    ),
    "RepeatAndSelect, of n": lambda m, v: RepeatAndSelect(m, laws.Binomial(9, v)),
    "Either": lambda m, v: Either(m, Laplace(2), v),
    "Scale": Scale,
    "PoissonSubsample": PoissonSubsample,
    "PoissonSubsample, kept": lambda m, v: PoissonSubsample(m, 1 - exact(v)),
    "PoissonSubsample, replaced": lambda m, v: PoissonSubsample(m, v, "replace_one"),
    "PoissonSubsample, replaced, kept": lambda m, v: PoissonSubsample(
        m, 1 - exact(v), "replace_one"
    ),
    "SubsampleWithoutReplacement": SubsampleWithoutReplacement,
    "SubsampleWithoutReplacement, kept": lambda m, v: SubsampleWithoutReplacement(m, 1 - exact(v)),
}

QUESTIONS = {
    **{
        f"rdp {alpha}": lambda m, alpha=alpha: m.rdp(alpha, digits=10)
        for alpha in (1, 2, 5, "7/3", "inf", 1 + exact("1e-400"), "1e400")
    },
    **{f"cgf {lam}": lambda m, lam=lam: m.cgf(lam, digits=10) for lam in (0, 3, "1e-400")},
    **{f"lower_bound {a}": lambda m, a=a: m.lower_bound(a, digits=10) for a in (3, "5/2", "inf")},
    **{
        f"epsilon {delta} {conversion}": lambda m, delta=delta, conversion=conversion: m.epsilon(
            delta, digits=6, conversion=conversion
        )
        for delta in ("1e-5", "1e-400", "1e-5000", 1 - exact("1e-400"))
        for conversion in ("improved", "optimal")
    },
    **{
        f"delta {epsilon} {conversion}": lambda m, epsilon=epsilon, conversion=conversion: m.delta(
            epsilon, digits=6, conversion=conversion
        )
        for epsilon in (0, 1, "1e-400", "1e400", "1e5000")
        for conversion in ("improved", "optimal")
    },
}


def nodes():
    """(name, a function that makes the node) over all mechanisms, operations and values."""
    leaves = [(f"{name} {v}", make, v) for name, make in SCALES.items() for v in VALUES]
    leaves += [(f"{name} {v}", make, v) for name, make in PROBABILITIES.items() for v in SMALL]
    for leaf, make, v in leaves:
        for operation, wrap in OPERATIONS.items():
            yield f"{operation} of {leaf}", lambda make=make, v=v, wrap=wrap: wrap(make(v))
    for leaf, plain in PLAIN.items():
        for operation, wrap in EXTREME_OPERATIONS.items():
            for v in VALUES:
                yield f"{operation} {v} of {leaf}", lambda p=plain, v=v, wrap=wrap: wrap(p(), v)


def cases():
    """Every (name of the node, its maker, question)."""
    return [(name, make, question) for name, make in nodes() for question in QUESTIONS]


def selection(count, seed=1):
    """Some of the cases, the same in every run."""
    return random.Random(seed).sample(cases(), count)


class Hang(Exception):
    """A question took longer than anyone waits."""


@contextmanager
def bounded(seconds):
    """Hang after so many seconds by the processor's clock: what else runs does not count."""

    def stop(signum, frame):
        raise Hang(f"no answer in {seconds} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def answer(make, question, seconds=60):
    """The answer, or the typed error; anything else is raised."""
    with bounded(seconds):
        try:
            return QUESTIONS[question](make())
        except SymacctError as error:
            return error


def is_ordered(found):
    """Do the two ends stand in order, from 0 on?"""
    asked = getattr(found, "asked", found)
    return bool(0 <= asked.lower <= asked.upper)
