"""What the numbers of a risk mean, a plain sentence for each; percents are rounded up."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from fractions import Fraction

from symacct.core.exact import typed_value
from symacct.results.enclosure import Bound, to_fraction
from symacct.results.rounding import rational_text

CURVE_ALONE = (
    "Only a Rényi curve is known: each number is the most that the curve implies, and no test "
    "need reach it."
)
_DIGITS = 3
_WIDTH = 80  # columns


def in_words(name: str, argument: str | None, most: Bound, least_error: str) -> str:
    """The sentence on one row: what is asked by `name` of `argument`, and at most what it is."""
    share = "" if argument is None else _percent(Fraction(typed_value(argument)))
    found = {} if name in _NO_SHARES else {"most": _percent(to_fraction(most.upper))}
    found["points"] = found.get("most", "").removesuffix(" %")
    value = rational_text(to_fraction(most.upper), _DIGITS, up=True)
    return _SENTENCES[name].format(share=share, number=value, error=least_error, **found)


def listed(sentences: Iterable[str]) -> list[str]:
    """The sentences as a list below a table; nothing where there are none."""
    lines = [f"- {one}" for one in sentences]
    return ["in words:", *lines] if lines else []


def wrapped(line: str) -> str:
    """A line of such a list, wrapped between words."""
    return textwrap.fill(line, _WIDTH, subsequent_indent="  ")


_NORMAL = (
    "tells the two datasets apart better than the best test tells a normal law of mean 0 from one "
    "of mean {number}, both of variance 1."
)
_SENTENCES = {
    "advantage": "The share of the people in the data whom an attacker recognises is at most "
    "{points} percentage points above the share of others whom the attacker wrongly accuses.",
    "tpr": "An attacker who wrongly accuses at most {share} of the people who are not in the data "
    "recognises at most {most} of those who are.",
    "bayes_success": "An attacker who believes at first with probability {share} that a person is "
    "in the data guesses right with probability at most {most}.",
    "reconstruction": "An attacker who would guess a record right with probability {share} without "
    "the output reconstructs it with probability at most {most}.",
    "mu": "No test whose two errors are both {error} or more " + _NORMAL,
    "regret": "These normal laws overstate how often the best guess is right by at most {most}.",
    "mu_of_all": "No test, however small its errors are, " + _NORMAL,
    "rho": "The Rényi divergence of every order α is at most {number} times α.",
}
_NO_SHARES = ("mu", "mu_of_all", "rho")


def _percent(share: Fraction) -> str:
    """A share in percent, rounded up: 2.3 %."""
    return f"{rational_text(100 * share, _DIGITS, up=True)} %"


def number(value: Bound | str | None) -> str:
    return value.rounded() if isinstance(value, Bound) else "–"


def kind_of(value: Bound | str) -> str:
    return str(value.claim.kind) if isinstance(value, Bound) else "not known"
