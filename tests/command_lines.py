"""A good command line of every verb, and what its arguments and options may be given instead."""

import click

from symacct.cli import main

GOOD = {
    "epsilon": ["Gaussian(5)", "--json", "--delta", "1e-5", "--orders", "2,8"],
    "delta": ["Gaussian(5)", "--json", "--epsilon", "1", "--orders", "2,8"],
    "rdp": ["Gaussian(5)", "--alpha", "2"],
    "dpsgd": ["--json", "--n", "1000", "--batch-size", "10", "--noise-multiplier", "1",
              "--steps", "10", "--delta", "1e-5"],
    "calibrate": ["Gaussian(sigma)", "--digits", "2", "--epsilon", "1", "--delta", "1e-1",
                  "--adjacency", "replace_one"],
    "sweep": ["Gaussian(sigma)", "--over", "sigma=1", "--over", "delta=1e-5"],
    "optimum": ["Gaussian(5)"],
    "compare": ["PoissonSubsample(Gaussian(5), 1/100)", "--alpha", "2"],
    "explain": ["PoissonSubsample(Gaussian(5), 1/100)"],
    "graph": ["Gaussian(5)"],
    "plot": ["Gaussian(5)", "--orders", "2,4"],
    "expand": ["Gaussian(sigma)", "--in", "sigma"],
    "theorems": [],
    "statement": ["Gaussian(5)", "--delta", "1e-5"],
    "cite": ["Gaussian(5)"],
    "latex": ["Gaussian(sigma)"],
    "table": ["Gaussian(5)", "--alpha", "2"],
    "code": ["Gaussian(5)", "--form", "python", "--points", "20"],
    "reference": ["Gaussian(5)", "--grid", "alpha=2"],
    "verify": ["--command", "false"],
    "risk": ["Gaussian(5)"],
    "certificate": ["Gaussian(5)", "--delta", "1e-5"],
    "vectors": ["--only", "rdp_randomized_response"],
    "check": ["papers.csv"],
    "falsify": ["ZW19-T5", "--budget", "10"],
}  # fmt: skip
#: Those whose good command line finds fault with what it is asked of.
FINDING = {"verify", "check"}

VALUES = [
    "1e9999", "1e-9999", "1e999999999", "9" * 5000, "99999999999", "-1", "0", "-0.0", "nan", "inf",
    "-inf", "", " ", "x" * 10_000, "²", "٣", "é∞", "1/0", "1_0", "0x10", "+5", "1,,2", "=", "=1",
    "..", "1:2", "1:2:99999999999", "1..99999999999", f"1:2:{'9' * 5000}", "sigma=1e9999",
    "sigma=", "alpha=²", f"alpha={'9' * 5000}..{'9' * 5000}", "-", "--", "[", "'",
]  # fmt: skip
EXPRESSIONS = [
    "Gaussian(1e9999)", "PoissonSubsample(Gaussian(5), 1e-9999)", "Gaussian(1e-9999)",
    "ZCDP(1e9999)", "ZCDP(1e-9999)", "PureDP(1e-9999)", "1e30*Gaussian(5)",
    "RandomizedResponse(1e-9999)", "PoissonSubsample(Gaussian(5), 1-1e-9999)",
    "Gaussian(sqrt(2)**9999)", "TCDP(1e9999, 12)",
    "GroupPrivacy(Gaussian(5), 1e30)", "Gaussian(²)", "5*" * 3000 + "Gaussian(5)",
]  # fmt: skip


def options():
    """(verb, option or None for its argument, what it is given)."""
    for name in main.list_commands():
        for parameter in main.get_command(None, name).params:
            if isinstance(parameter, click.Option):
                if not parameter.is_flag and parameter.name != "help":
                    yield from ((name, parameter.opts[0], value) for value in VALUES)
            else:
                written = [] if name in (*FINDING, "falsify") else EXPRESSIONS
                yield from ((name, None, value) for value in [*VALUES, *written])


def shown(name, option, value):
    """Every option of every verb, every value, and the first expressions to every verb."""
    return {(name, option), value} | {(name, one) for one in EXPRESSIONS[:2] if one == value}


def words(name, option, value):
    """The good command line with that in the place of what was there, or beside it."""
    good = list(GOOD[name])
    if option is None:
        has = bool(good) and not good[0].startswith("--")
        return [name, value, *good[has:]]
    if option in good:
        good[good.index(option) + 1] = value
        return [name, *good]
    return [name, *good, option, value]
