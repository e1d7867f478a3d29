"""Write the example certificates again:  python checker/examples.py [FOLDER]

Unlike the checker this needs symacct. `symacct certificate` writes the same files
one by one, with --conversion where that is not the number to report.
"""

from __future__ import annotations

import sys
from pathlib import Path

from symacct import Accountant, parse
from symacct.evidence.certificates import FORMS

#: A file: the expression, δ (or None), ε (or None), the digits, and how it is asked.
EXAMPLES: dict[str, tuple[str, str | None, str | None, int, dict[str, str]]] = {
    "sampled_gaussian": ("3516*PoissonSubsample(Gaussian(1.1), 256/60000)", "1e-5", None, 6, {}),
    "sampled_gaussian_exact": (
        "3516*PoissonSubsample(Gaussian(1.1), 256/60000)",
        "1e-5",
        None,
        6,
        {"conversion": "exact"},
    ),
    "gaussians_delta": (
        "Gaussian(5, sensitivity=2) + 3*Gaussian(4)",
        None,
        "2",
        12,
        {"conversion": "classic"},
    ),
    "laplace_optimal": ("10*Laplace(2)", "1e-6", None, 12, {"conversion": "optimal"}),
    "answers_exact": (
        "100*PoissonSubsample(RandomizedResponse(3/5), 1/100) + 3*PureDP(1/10)",
        "1e-5",
        None,
        8,
        {"conversion": "exact"},
    ),
    "zcdp_sampled": ("100*PoissonSubsample(ZCDP(1/10, 1/20), 1/100)", "1e-5", None, 6, {}),
    "pure_fixed_size": (
        "600000*SubsampleWithoutReplacement(PureDP(1), 1/1000)",
        "1e-8",
        None,
        6,
        {},
    ),
    "gaussian_fixed_size": (
        "600000*SubsampleWithoutReplacement(Gaussian(5), 1/1000)",
        "1e-8",
        None,
        6,
        {"by": "TRIPLE-DOMINATED"},
    ),
    "laplace_fixed_size": (
        "1000*SubsampleWithoutReplacement(Laplace(2), 1/100)",
        "1e-6",
        None,
        6,
        {"by": "TRIPLE-DOMINATED"},
    ),
    "composition": (
        "10*Gaussian(5) + 100*PoissonSubsample(Laplace(2), 1/100) + ZCDP(1/10)"
        " + 20*PoissonSubsample(RandomizedResponse(3/4), 1/50)",
        "1e-5",
        None,
        6,
        {"conversion": "optimal"},
    ),
    "mixed_contour": (
        "1000*PoissonSubsample(Gaussian(2), 1/100) + 5*Gaussian(20) + 20*RandomizedResponse(11/20)",
        "1e-6",
        None,
        6,
        {"conversion": "exact"},
    ),
}


def text(name: str) -> str:
    """The certificate of this name."""
    expression, delta, epsilon, digits, how = EXAMPLES[name]
    how = {"conversion": "improved"} | how
    accountant = Accountant(digits)
    if delta is None:
        return FORMS["json"](accountant.delta(parse(expression), epsilon, **how))
    return FORMS["json"](accountant.epsilon(parse(expression), delta, **how))


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in EXAMPLES:
        (folder / f"{name}.json").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "examples")
