"""What the numbers of a risk mean, a plain sentence for each; percents are rounded up."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from fractions import Fraction

from symacct.export.description import is_open
from symacct.kernel.answer import Bound, given, rational_text, to_fraction
from symacct.kernel.claims import Adjacency, Relation
from symacct.kernel.exact import typed_value
from symacct.kernel.node import Node

CURVE_ALONE = (
    "Only a Rényi curve is known: each number is the most that the curve implies, and no test "
    "need reach it."
)
_DIGITS, _SHARE_DIGITS = 3, 6
_FEW = 8  # signs of an exact number that is written out
_WIDTH = 80  # columns


def sentences(
    asked: Iterable[tuple[str, str | None, Bound | str]],
    m: Node,
    relation: Adjacency,
    least_error: str,
) -> tuple[str, ...]:
    """A sentence for each number that is known, and for a relation left open what they are then."""
    of_values = relation.relation is Relation.REPLACE_ONE or m.is_local
    found = [
        in_words(name, argument, most, least_error, of_values)
        for name, argument, most in asked
        if isinstance(most, Bound)
    ]
    return (*found, OF_EITHER) if found and is_open(relation, m) else tuple(found)


def in_words(
    name: str, argument: str | None, most: Bound, least_error: str, of_values: bool = False
) -> str:
    """The sentence on one row: what is asked by `name` of `argument`, and at most what it is.

    `of_values`: neighbours differ in the value of a record, and not in who has one.
    """
    asked = Fraction(0) if argument is None else Fraction(typed_value(argument))
    found = {} if name in _NO_SHARES else {"most": f"{_shown(most, 100)} %"}
    told = _SENTENCES | _OF_VALUES if of_values else _SENTENCES
    return told[name].format(
        share=_percent(asked),
        blind=_percent(max(asked, 1 - asked)),
        points=found.get("most", "").removesuffix(" %"),
        number=_shown(most),
        error=least_error,
        **found,
    )


def _shown(most: Bound, times: int = 1) -> str:
    """A number rounded up to few digits; all of them where they are few and it is exact."""
    if most.exactly is not None and len(full := given(times * most.exactly)) <= _FEW:
        return full
    return rational_text(times * to_fraction(most.upper), _DIGITS, up=True)


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
    "in the data guesses right with probability at most {most}; without the output it is {blind}.",
    "reconstruction": "An attacker who would guess a record right with probability {share} without "
    "the output reconstructs it with probability at most {most}.",
    "mu": "No test whose two errors are both {error} or more " + _NORMAL,
    "regret": "These normal laws overstate how often the best guess is right by at most {most}.",
    "mu_of_all": "No test, however small its errors are, " + _NORMAL,
    "rho": "The Rényi divergence of every order α is at most {number} times α.",
}
_OF_VALUES = {
    "advantage": "An attacker who has to tell which of two values a person's record has recognises "
    "the one value at most {points} percentage points more often than the attacker takes the other "
    "for it.",
    "tpr": "An attacker who has to tell which of two values a person's record has, and takes the "
    "one for the other in at most {share} of cases, recognises the other in at most {most}.",
    "bayes_success": "An attacker who believes at first with probability {share} that a person's "
    "record has the one of two values guesses right with probability at most {most}; without the "
    "output it is {blind}.",
}
OF_EITHER = (
    "If neighbours differ by replacing one record, these sentences are about which of two values a "
    "person's record has, and not about who is in the data."
)
_NO_SHARES = ("mu", "mu_of_all", "rho")


def _percent(share: Fraction) -> str:
    """A share that was stated, in percent: 0.1 %."""
    return f"{rational_text(100 * share, _SHARE_DIGITS, up=True)} %"


def number(value: Bound | str | None) -> str:
    return value.rounded() if isinstance(value, Bound) else "–"


def kind_of(value: Bound | str) -> str:
    return str(value.claim.kind) if isinstance(value, Bound) else "not known"
