"""Command lines of every verb: their exit status, the keys of their JSON, the number reported."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from click.testing import CliRunner

from symacct.cli import main
from tests.surface.questions import NEAR

EXPRESSIONS = (
    "Gaussian(5)",
    "100*PoissonSubsample(Gaussian(5), 1/1000)",
    "60*SubsampleWithoutReplacement(Laplace(2), 1/100)",
    "10*RandomizedResponse(3/5) + Gaussian(3)",
    "RandomAllocation(Gaussian(1), 12)",
    "PoissonSubsample(DiscreteGaussian(2), 1/3, replace_one)",
    "ZCDP(1/2) + ApproximateDP(1/10, 1e-9)",
    "DistributionPair([9/10, 1/10], [1/2, 1/2])",
)
WRONG = (
    "Gaussian(-1)",
    "Gausian(5)",
    "Gaussian(5",
    "__import__('os')",
    "",
    "PoissonSubsample(1, 2)",
)
OPEN = ("1000*PoissonSubsample(Gaussian(sigma), 1/100)", "Laplace(b)", "k*Gaussian(20)")

#: Of each expression; each is asked for in JSON too.
OF_AN_EXPRESSION = (
    ("epsilon", "--delta", "1e-5"),
    ("epsilon", "--delta", "1e-5", "--more"),
    ("epsilon", "--delta", "1e-5", "--conversion", "improved", "--orders", "2,3,4,8"),
    ("delta", "--epsilon", "1/100"),
    ("delta", "--epsilon", "0", "--conversion", "exact"),
    ("rdp", "--alpha", "2,5/2,8"),
    ("rdp", "--alpha", "4", "--lower"),
    ("rdp", "--alpha", "3", "--engine", "float64"),
    ("risk",),
    ("compare", "--alpha", "2,8"),
    ("compare", "--delta", "1e-5"),
    ("explain",),
    ("explain", "--delta", "1e-5"),
    ("statement", "--delta", "1e-5"),
    ("cite",),
    ("latex", "--alpha", "3"),
    ("check", "--prints", "9", "--delta", "1e-5"),
)
#: Of each expression, printed as text only.
TEXT_ONLY = (
    ("graph",),
    ("graph", "--form", "mermaid"),
    ("table", "--alpha", "2,8"),
    ("certificate", "--delta", "1e-5", "--digits", "4"),
    ("code", "--form", "numpy", "--points", "20"),
)
OTHERS = (
    ("calibrate", OPEN[0], "--epsilon", "2", "--delta", "1e-5", "--digits", "4"),
    ("calibrate", OPEN[1], "--epsilon", "1", "--delta", "1e-3", "--digits", "4"),
    ("calibrate", OPEN[2], "--rho", "1/2"),
    ("calibrate", OPEN[0], "--advantage", "1/10", "--digits", "3"),
    ("sweep", OPEN[0], "--over", "sigma=1,2,4", "--delta", "1e-5"),
    ("sweep", "Gaussian(sigma)", "--over", "sigma=1,2", "--over", "alpha=2,3", "--ask", "rdp"),
    ("optimum", "Gaussian(5)"),
    ("expand", "PoissonSubsample(Gaussian(5), gamma)", "--alpha", "3"),
    ("theorems",),
    ("theorems", "ZW19-T5"),
    ("theorems", "nothing of this name"),
    ("reference", "Gaussian(5)", "--grid", "alpha=2,3"),
    ("falsify", "ZW19-T5", "--budget", "20"),
    *(
        ("dpsgd", "--n", "60000", "--batch-size", "256", "--noise-multiplier", "1.1", *more)
        for more in (
            ("--epochs", "3", "--delta", "1e-5"),
            ("--steps", "500", "--sampling", "without_replacement"),
            ("--steps", "500", "--adjacency", "replace_one"),
            ("--steps", "500", "--group", "2"),
            ("--steps", "500", "--runs", "2", "--more"),
            ("--epochs", "1", "--sampling", "shuffled", "--delta", "1e-5"),
        )
    ),
    ("dpsgd", "--n", "60000", "--batch-size", "256", "--epsilon", "2", "--epochs", "1"),
    ("dpsgd", "--n", "60000", "--batch-size", "256", "--epsilon", "2,4", "--epochs", "1"),
    ("dpsgd", "--n", "-1", "--batch-size", "256", "--noise-multiplier", "1", "--steps", "1"),
    ("verify", "--command", "false"),
    ("nothing",),
    (),
)


def commands() -> Iterator[tuple[str, ...]]:
    """More than three hundred command lines, right ones and wrong ones."""
    for name, *more in (*OF_AN_EXPRESSION, *TEXT_ONLY):
        for expression in EXPRESSIONS:
            yield (name, expression, *more)
            if (name, *more) in OF_AN_EXPRESSION:
                yield (name, expression, *more, "--json")
        if name != "epsilon":
            yield (name, WRONG[len(more) % len(WRONG)], *more)
    for wrong in WRONG:
        yield ("epsilon", wrong, "--delta", "1e-5")
        yield ("rdp", wrong, "--alpha", "2", "--json")
    for found in ("2", "-1", "nan", "x", ""):
        yield ("epsilon", "Gaussian(5)", "--delta", found)
    yield from OTHERS


def answer(command: tuple[str, ...]) -> dict[str, Any]:
    """The exit status, whether something was printed, and of JSON its keys and its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(main, list(command))
    found: dict[str, Any] = {"status": result.exit_code, "prints": bool(result.stdout)}
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        found["raised"] = type(result.exception).__name__
    if "--json" in command and result.stdout:
        document = json.loads(result.stdout)
        found["keys"] = sorted(keys(document))
        if number := reported(document):
            found["number"] = number
    return found


def keys(document: Any, path: str = "") -> set[str]:
    """The keys, with those they lie under; members of a list are one."""
    if isinstance(document, dict):
        inner = [keys(value, f"{path}.{key}") for key, value in document.items()]
        return set().union(*inner) if inner else {path}
    if isinstance(document, list):
        return set().union({f"{path}[]"}, *(keys(one, f"{path}[]") for one in document))
    return {path}


def reported(document: Any) -> str:
    """The ε of a question about ε, the δ of one about δ; nothing where it was another question."""
    if not isinstance(document, dict):
        return ""
    for name in ("epsilon", "delta"):
        one = document.get(name)
        if isinstance(one, dict) and one.get("claim", {}).get("kind") != "lower":
            return str(one.get("value", ""))
    return ""


def faults(command: tuple[str, ...], was: dict[str, Any]) -> list[str]:
    """What the command does otherwise than was written down."""
    now = answer(command)
    line = " ".join(command)
    said = [
        f"{line}: {key} was {was.get(key)}, is {now.get(key)}"
        for key in ("status", "prints", "raised", "keys")
        if was.get(key) != now.get(key)
    ]
    if "number" in was and Fraction(now.get("number", "inf")) > Fraction(was["number"]) * (
        1 + NEAR
    ):
        said.append(f"{line}: {was['number']} became {now.get('number')}")
    return said
