"""Every public call with its good arguments, and some forty values of any type to put in place."""

import inspect
import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import repeat

import mpmath
import numpy as np
import sympy

import symacct
from symacct import (
    Accountant,
    DistributionPair,
    Enclosure,
    ExponentialFamily,
    Gaussian,
    Guarantee,
    Node,
    PoissonSubsample,
    SymacctError,
    baselines,
    interop,
    laws,
    testing,
    verify,
)
from symacct.export.tables import table
from symacct.kernel.claims import INTEGER_ORDERS
from symacct.verify.peer.process import Incidents
from symacct.verify.reporting.judgement import Judgement


class Odd:
    """An object that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("no text")


class Endless(Iterator):
    """One value again and again; who reads on without a limit is found out."""

    def __init__(self, value):
        self.left = repeat(value, 2_000_000)

    def __next__(self):
        for value in self.left:
            return value
        raise RuntimeError("read on and on")


INSIDE = []
INSIDE.append(INSIDE)

ODD = {
    "None": None, "True": True, "5": 5, "0": 0, "-1": -1, "1/2": Fraction(1, 2), "0.1": 0.1,
    "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "huge": 10**5000, "tiny": "1e-5000",
    "decimal": Decimal("sNaN"), "x": "x", "empty": "", "surrogate": "\ud800", "NUL": "a\x00b",
    "long": "x" * 10_000, "bytes": b"\xff", "complex": 1j, "list": [], "dict": {}, "tuple": (),
    "set": {1, 2}, "frozen": frozenset(["x"]), "nested": [[[]]], "lists": [1, "x", None],
    "keys": {5: None, "x": []}, "object": object(), "odd": Odd(), "class": Odd,
    "lambda": lambda *_: None, "raises": lambda *_: 1 / 0, "builtin": len, "range": range(3),
    "array": np.array([2.0, 3.0]), "objects": np.array([None, "x"], dtype=object),
    "bool array": np.array([True]), "int8": np.int8(5), "date": np.datetime64("2020-01-01"),
    "zoo": sympy.zoo, "sympy nan": sympy.nan, "symbol": sympy.Symbol("z"),
    "relation": sympy.Symbol("z") > 1, "matrix": sympy.Matrix([1]), "mpf nan": mpmath.mpf("nan"),
    "mpc": mpmath.mpc(1, 1), "node": Gaussian(3), "law": laws.Poisson(3), "module": math,
    "inside itself": INSIDE,
}  # fmt: skip
M = Gaussian(5)
ODD_MAKERS = {
    "generator": lambda: (x for x in (2, "x")),
    "endless numbers": lambda: Endless(5),
    "endless nodes": lambda: Endless(M),
}
SAMPLED = PoissonSubsample(M, "1/100")
OPEN = PoissonSubsample(Gaussian(sympy.Symbol("sigma", positive=True)), "1/100")
NOISE = Gaussian(sympy.Symbol("sigma", positive=True))
PAIR = DistributionPair(["1/2", "1/2"], ["1/4", "3/4"])
ANSWER = M.rdp(2, digits=5)
GUARANTEE = M.epsilon("1e-5", digits=5, orders=[2, 8])
#: Good values of a question's parameters.
VALUES = {
    "m": M, "alpha": 2, "lam": 2, "delta": "1e-5", "epsilon": 1, "digits": 5, "by": None,
    "engine": "ball", "conversion": "improved", "orders": [2, 8], "omega": 3, "least_error": "1e-6",
    "names": None, "alphas": [2], "values": None, "target": "python", "max_order": 4, "points": 20,
    "accuracy": "1e-9", "at": None, "adjacency": None, "form": "text", "variable": "sigma",
    "order": 3, "within": None, "replacements": {"sigma": 2}, "spent": M, "rho": None,
    "preface": "", "event": M, "count": 2, "neighboring_relation": "add_remove",
    "accountant": None, "target_delta": "1e-5", "target_epsilon": 1,
}  # fmt: skip


def asking(function, **other):
    """A call with the good values of all its parameters, some of them others."""
    known = VALUES | other
    return function, {name: known[name] for name in inspect.signature(function).parameters}


#: What is asked of a node, and what with other values where those do not fit.
PLAIN = ("rdp", "cgf", "lower_bound", "lower_epsilon", "lower_delta", "zcdp", "gdp", "tcdp")
PLAIN += ("epsilon", "delta", "formula", "latex", "cite", "convexify", "subs")
OTHERS = {
    "tradeoff": {"alpha": "1/20"},
    "paper": {"delta": None, "digits": 6},
    "code": {"max_order": 8},
    "explain": {"alpha": None, "epsilon": None},
    "report": {"epsilon": None},
    "statement": {"epsilon": None, "conversion": None},
    "expansion": {"at": "inf"},
    "optimum": {"epsilon": None, "conversion": "classic"},
}


def node_calls():
    """The questions to a node."""
    nodes = {"gdp": SAMPLED, "tcdp": SAMPLED, "subs": OPEN}
    return {
        name: asking(getattr(nodes.get(name, M), name), **OTHERS.get(name, {}))
        for name in (*PLAIN, *OTHERS)
    }


def accountant_calls():
    """The questions to an accountant, and what keeps a budget or an answer."""
    a, kept = Accountant(5), symacct.Filter(9, "1e-5")
    asked = ("rdp", "cgf", "lower_bound", "lower_epsilon", "lower_delta", "epsilon", "delta")
    return {
        "Accountant": asking(Accountant),
        **{f"Accountant.{name}": asking(getattr(a, name)) for name in asked},
        "Accountant.oracle_calls": asking(a.oracle_calls),
        "Accountant.curve": asking(a.curve),
        "Filter": asking(symacct.Filter, epsilon=9, orders=[8]),
        **{f"Filter.{name}": asking(getattr(kept, name)) for name in ("admits", "spend", "left")},
        "Filter.from_json": (symacct.Filter.from_json, {"document": kept.to_json()}),
        "Odometer": asking(symacct.Odometer, orders=[8]),
        "Odometer.add": asking(symacct.Odometer("1e-5").add),
        "Odometer.epsilon": asking(symacct.Odometer("1e-5", spent=M).epsilon),
        "Enclosure.rounded_up": asking(ANSWER.rounded_up),
        "Enclosure.rounded_down": asking(ANSWER.rounded_down),
        "Guarantee.statement": asking(GUARANTEE.statement),
    }


#: What builds a node or a law, by its parameters' good values.
GOOD = {
    "laws": [["1/2", "1/2"], ["1/3", "2/3"]],
    "sigma": 5, "sensitivity": 1, "b": 2, "mu": 3, "p": "1/3", "epsilon": 1, "adjacency": "either",
    "rho": "1/50", "xi": 0, "omega": 5, "gamma": "1/100", "mechanism": M, "c": 1, "size": 2,
    "max_order": 4, "first": M, "second": M, "share": "1/3", "records": 7,
    "premise": "a coin is fair",
    "with_record": "either",
    "f": "alpha/50", "kind": "upper", "at_infinity": 3, "P": ["1/2", "1/2"], "Q": ["1/4", "3/4"],
    "L": "1/50", "B": "inf", "kappa": "inf", "a": 2, "degrees": 3, "shape": 2, "rate": 3,
    "mean": 0, "scale": 1, "runs": laws.Poisson(3), "eta": 0, "variance": 1,
    "start": 1, "low": 0, "high": 1, "strategy": [[1]], "participations": 1, "separation": 1,
    "steps": 3, "times": 2, "parties": 3, "dimension": 2, "contraction": "1/2", "diameter": 5,
    "candidates": 3, "queries": 3, "count": 1, "b_threshold": 2, "b_query": 4,
    "sigma_threshold": 2, "sigma_query": 4,
}  # fmt: skip
LAW_GOOD = {"gamma": "1/10"} | {
    "b": 3,
    "f": "exp(-x)",
    "cuts": [0, "inf"],
    "mass": 1,
    "rate": 3,
    "means": [0, 1],
    "weights": ["1/2", "1/2"],
    "p": "1/3",
}
OWN = {
    "Binomial": {"n": 5, "theta": "1/3"},
    "MultivariateNormal": {"mean": [0, 0], "covariance": [[1, 0], [0, 1]]},
    "ApproximateDP": {"delta": "1/1000"},
    "Failing": {"delta": "1/1000"},
    "Shuffled": {"n": 9},
    "BallsInBins": {"strategy": [1, "1/2"], "bins": 4, "epochs": 2, "adjacency": "add_remove"},
    "Curve": {"adjacency": "either"},
}


def built(name, cls, good):
    """The constructor with good values for all its parameters."""
    function = cls.__new__ if issubclass(cls, Node) else cls
    names = [n for n in inspect.signature(function).parameters if n != "cls"]
    own = good | OWN.get(name, {})
    return cls, {n: own[n] for n in names}


def constructors():
    """Every mechanism, operation and law."""
    nodes = [getattr(symacct, name) for name in symacct.__all__]
    nodes = [x for x in nodes if isinstance(x, type) and issubclass(x, Node)]
    calls = {
        cls.__name__: built(cls.__name__, cls, GOOD)
        for cls in nodes
        if cls not in (Node, symacct.Compose)
    }
    families = {name: getattr(laws, name) for name in laws.__all__ if name != "Law"}
    return calls | {
        f"laws.{name}": built(name, cls, GOOD | LAW_GOOD) for name, cls in families.items()
    }


def falsified(**how):
    """The adversary against a function of the user's own."""
    return symacct.falsify(lambda ctx, eps, alpha, gamma: ctx.number(9), **how)


def exploring_calls():
    """Functions of whole expressions."""
    grid = {"delta": ["1e-5"], "sigma": [2]}
    how = {"digits": 5, "by": None, "conversion": "improved", "orders": [2, 8]}
    return {
        "Compose": (lambda parts: symacct.Compose(parts), {"parts": M}),
        "Compose.count": (lambda count: symacct.Compose({M: count}), {"count": 2}),
        "binary": (symacct.binary, {"value": 0.5}),
        "parse": (symacct.parse, {"text": "Gaussian(5)", "symbols": ()}),
        "from_json": (symacct.from_json, {"text": M.to_json()}),
        "limits": (lambda **k: symacct.limits(**k).__enter__(), {"digits": 10_000}),
        "noise": (symacct.noise, {"n": 1000, "batch_size": 10, "epsilon": 2, "delta": "1/100",
                                  "epochs": 1, "steps": None, "sampling": "poisson",
                                  "adjacency": None, "digits": 2, "conversion": "improved"}),
        "calibrate": (symacct.calibrate, {"m": NOISE, "epsilon": 2, "delta": "1/100",
                                          "digits": 2,

                                          "conversion": "improved",
                                          "orders": [2, 4, 8, 16], "by": None}),
        "compare_epsilon": (symacct.compare_epsilon, {"m": SAMPLED, "delta": "1e-5", "digits": 5}),
        "compare": (symacct.compare, {"m": SAMPLED, "orders": [2], "digits": 5,
                                      "accountant": None}),
        "sweep": (symacct.sweep, {"m": OPEN, "over": grid, "ask": "epsilon", **how,
                                  "executor": None, "file": None, "progress": False}),
        "plot": (symacct.plot, {"curves": M, "orders": [2, 3], "by": (), "axes": None}),
        "plot_sweep": (symacct.plot_sweep, {"curves": NOISE,
                                            "over": grid | {"sigma": [2, 3]},
                                            "ask": "epsilon",
                                            "by": None, "orders": [2, 8],
                                            "conversion": "improved", "executor": None,
                                            "axes": None}),
        "calibrate_risk": (symacct.calibrate_risk, {"m": NOISE, "advantage": "1/2", "tpr": None,
                                                    "fpr": None, "mu": None, "digits": 2}),
        "risk": (symacct.risk, {"m": M, "digits": 5, "least_error": "1e-6", "adjacency": None}),
        "plot_risk": (symacct.plot_risk, {"m": M, "fprs": ["1e-2", "1/2"], "axes": None,
                                            "adjacency": None}),
        "plot_profile": (symacct.plot_profile, {"m": SAMPLED, "epsilons": [1, 2], "axes": None}),
        "plot_runs": (symacct.plot_runs, {"m": SAMPLED, "delta": "1/100", "counts": [1, 2],
                                          "axes": None}),
        "falsify": (symacct.falsify, {"theorem": "ZW19-T5", "budget": 5, "seed": 0, "about": None,
                                      "kind": "upper", "orders": INTEGER_ORDERS}),
        "falsify a function": (falsified, {"budget": 5, "about": "PoissonSubsample",
                                           "kind": "upper", "orders": INTEGER_ORDERS}),
        "dp_sgd": (
            symacct.dp_sgd,
            {"n": 100, "batch_size": 10, "noise_multiplier": 1, "epochs": 1, "sampling": "poisson",
             "quantile_noise": 2, "times": 1},
        ),
        "band_mf": (
            symacct.band_mf,
            {"n": 100, "batch_size": 10, "noise_multiplier": 1, "bands": 2, "steps": 4,
             "strategy": [1, "1/2"], "sampling": "min_sep", "adjacency": "add_remove"},
        ),
        "truncated_poisson": (
            symacct.truncated_poisson, {"mechanism": M, "gamma": "1/9", "n": 9, "batch": 2}
        ),
        "sample_with_replacement": (
            symacct.sample_with_replacement,
            {"mechanism": M, "n": 9, "batch": 2, "largest_share": "1/3"},
        ),
        "thresholded": (
            symacct.thresholded, {"noise": M, "threshold": 9, "keys": 2, "contribution": 1}
        ),
        "calibrate_thresholded": (
            symacct.calibrate_thresholded,
            {"noise": NOISE, "epsilon": 1, "delta": "1/9", "keys": 2, "share": "1/2", "digits": 3},
        ),
        "shuffled": (symacct.shuffled, {"randomizer": M, "n": 9}),
        "sampled_descent": (
            symacct.sampled_descent, {"step": SAMPLED, "steps": 9, "diameter": 1, "order": 3}
        ),
        "softmax_bounds": (symacct.softmax_bounds, {"m": SAMPLED, "alpha": 2, "digits": 5}),
        "check_odd_chi": (symacct.check_odd_chi, {"m": M, "up_to": 5}),
        "chi_divergence": (symacct.chi_divergence, {"m": M, "l": 2, "digits": 5}),
        "ternary_bound": (symacct.ternary_bound, {"m": M, "l": 2, "digits": 5}),
        "phase_transition": (symacct.phase_transition, {"m": SAMPLED, "largest": 16}),
        "takeover": (symacct.takeover, {"m": SAMPLED, "largest": 16}),
        "table": (table, {"m": M, "alphas": [2], "digits": 4, "by": ()}),
        "pair.divergence": (PAIR.divergence, {"alpha": 2, "digits": 5, "reverse": False}),
        "pair.sampled": (PAIR.sampled, {"gamma": "1/3"}),
        "over_radii": (ExponentialFamily.over_radii, {"L": "1/50", "B": None, "sensitivity": 1,
                                                      "adjacency": "either",
                                                      "at_infinity": None}),
        "assert_sound": (testing.assert_sound, {"function": lambda a: a / 50, "expression": M,
                                                "what": "rdp", "at": [2], "conversion": None,
                                                "rounding": 1e-9, "loose": None}),
        "from_dp_event": (interop.from_dp_event, {"event": None, "relation": "add_remove"}),
        "from_opacus_history": (interop.from_opacus_history, {"history": [(1.0, 0.01, 5)]}),
        "to_opacus_history": (interop.to_opacus_history, {"node": M}),
        "to_dp_event": (interop.to_dp_event, {"node": M}),
    }  # fmt: skip


def event_calls():
    """dp_accounting's methods."""
    a = interop.EventAccountant([2, 8]).compose(M)
    named = ("get_epsilon", "get_epsilon_and_optimal_order", "get_delta")
    named = ("supports", *named, "get_delta_and_optimal_order")
    return {
        "EventAccountant": asking(interop.EventAccountant, by="ZW19-T5"),
        "PublishedAccountant": asking(interop.PublishedAccountant),
        "EventAccountant.compose": asking(interop.EventAccountant().compose),
        **{f"EventAccountant.{name}": asking(getattr(a, name)) for name in named},
    }


SILENT_PEER = [sys.executable, "-c", "pass"]
OFFERS_NOTHING = verify.Report("p", "1", SILENT_PEER, 0, 0, 0.0, 0, [], Incidents())


def verify_calls():
    """The verification of a program, here of one that ends before it says anything."""
    good = {"command": SILENT_PEER, "timeout": 1.0}
    return {
        "verify": (verify.verify, good | {
            "extent": verify.QUICK, "seed": 0, "progress": lambda stage, asked: None}),
        "verify.Peer": (verify.Peer, good),
        "verify.Judgement": (lambda fail_on: Judgement(OFFERS_NOTHING, fail_on),
                             {"fail_on": "unsound"}),
    }  # fmt: skip


def baseline_calls():
    """The papers' older routes."""
    good = {"epsilon": "1/10", "delta": "1e-6", "k": 3, "slack": "1e-6", "digits": 5, "sigma": 5,
            "sensitivity": 1, "alpha": 3, "gamma": "1/100", "n": 5, "xi": "1/100", "i": 1,
            "c1": 1, "c2": 2, "total_delta": "1e-5", "r": "1/2", "tail": "exact", "terms": 4,
            "mu": 3, "l1": 2, "l2": 1, "steps": 7, "epochs": 2,
            "batch": 2, "adjacency": "add_remove", "profile": baselines.gaussian_profile(5),
            "epsilon_0": "1/9", "each": "1/9", "runs": 3, "parties": 2,
            "added": True}  # fmt: skip
    calls = {}
    for name in baselines.__all__:
        function = getattr(baselines, name)
        if inspect.isfunction(function):
            calls[f"baselines.{name}"] = (
                function,
                {n: good[n] for n in inspect.signature(function).parameters},
            )
    calls["baselines.shuffled_closed"][1]["n"] = 400
    return calls


#: Numbers of extreme size have a matrix of their own; here they would only take long.
EXTREMES = {"huge", "tiny"}
#: What is refused at once where it is no number, and takes many seconds where it is one.
HEAVY = {"baselines.moment_constant"}
#: The user's own function is called, and its errors are the user's.
FUNCTIONS = {"function", "profile"}
CALLABLES = {"class", "lambda", "raises", "builtin"}


def asked(call, parameter, name, value):
    """Is this value put in place of this parameter?"""
    if call in HEAVY and isinstance(value, int | float | Fraction | np.int8):
        return isinstance(value, bool)
    if call == "softmax_bounds" and name == "huge":
        return False
    return not (parameter in FUNCTIONS and name in CALLABLES)


#: Records that the library fills in; nothing is computed from what they are given.
RECORDS = {"Adjacency", "Attack", "Calibration", "Claim", "Kind", "OddChiReport", "Orders",
           "PrivacyReport", "Risk", "RiskCalibration", "Source", "Sweep", "Theorem",
           Enclosure.__name__, Guarantee.__name__}  # fmt: skip


def all_calls():
    questions = node_calls() | accountant_calls() | exploring_calls() | event_calls()
    return constructors() | questions | baseline_calls() | verify_calls()


def values(good):
    """The odd values, generators made anew, and without an end what is good in a list."""
    yield from ODD.items()
    yield from ((name, make()) for name, make in ODD_MAKERS.items())
    if isinstance(good, list | tuple):
        yield "endless", Endless(next(iter(good), "sigma"))
    if isinstance(good, dict):
        yield "endless inside", {key: Endless(5) for key in good}


def faults(call, step=1):
    """What ends in an untyped error, of every `step`-th odd value of each parameter."""
    function, good = all_calls()[call]
    for i, parameter in enumerate(good):
        for j, (name, value) in enumerate(values(good[parameter])):
            if (i + j) % step == 0 and asked(call, parameter, name, value):
                fault = _fault(function, {**good, parameter: value})
                if fault is not None:
                    yield f"{call}({parameter}={name}): {fault}"


def _fault(function, arguments):
    try:
        function(**arguments)
    except (SymacctError, testing.UnsoundError) as error:
        message = str(error)
        fine = len(message) <= 2000 and "\n" not in message and _writable(message)
        return None if fine else f"{len(message)} characters of {message[:50]!a}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return None


def _writable(message):
    return message.encode("utf-8", "replace").decode() == message
