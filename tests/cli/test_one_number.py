"""One question has one number, whichever verb, drop-in or form of the command it is asked by."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from click.testing import CliRunner

import symacct as sa
from symacct.cli import main
from symacct.explore.reference import reference_table
from symacct.interop import EventAccountant
from symacct.papers import paper_check
from tests.thinning import some

#: Texts of expressions with a δ: of exact profiles, of bounds by pairs, and of curves alone.
QUESTIONS = [
    ("Gaussian(5)", "1e-5"),
    ("1000*PoissonSubsample(Gaussian(2), 1/100)", "1e-5"),
    ("3516*PoissonSubsample(Gaussian(1.1), 256/60000)", "1e-5"),
    ("10*Laplace(2) + Gaussian(3)", "1e-6"),
    ("3*SubsampleWithoutReplacement(RandomizedResponse(3/5), 1/10)", "1e-3"),
    ("ZCDP(1/100)", "1e-5"),
    ("100*PoissonSubsample(ZCDP(1/10), 1/100)", "1e-6"),
    ("12*RandomizedResponse(3/5)", "1e-4"),
    ("RandomAllocation(Gaussian(4), 3)", "1e-5"),
    ("GroupPrivacy(Gaussian(9), 3)", "1e-5"),
]
QUESTIONS = some(QUESTIONS[::2], QUESTIONS)
DIGITS = 6
#: A verb: the ε that it prints or gives for an expression and a δ, as text or number.
Verb = Callable[[str, str], object]


@functools.cache
def said(*words: str) -> str:
    """What the command prints, with exit status 0."""
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 0, found.output
    return found.stdout


def as_json(*words: str) -> object:
    return json.loads(said(*words, "--json"))


def number_in(text: str) -> str:
    """The ε of a text, which says `ε = …`."""
    found = re.search(r"ε = ([\d.e-]+\d)", text)
    assert found is not None, text
    return found[1]


def checked(text: str, delta: str) -> str:
    """By `check` of a number that is far too large: the value that it is compared with."""
    words = (
        "check",
        text,
        "--delta",
        delta,
        "--prints",
        "1000",
        "--direction",
        "at most",
        "--json",
    )
    (row,) = json.loads(said(*words))
    return row["value"]["value"]


def in_a_file(text: str, delta: str) -> str:
    """By a paper file, which pins no conversion."""
    (found,) = paper_check.check(f"{text},{delta},1000", direction="at most")
    return found.value.rounded(DIGITS)


VERBS: dict[str, Verb] = {
    "report": lambda m, d: sa.parse(m).report(d).epsilon,
    "Accountant": lambda m, d: sa.Accountant(digits=DIGITS).epsilon(sa.parse(m), d).epsilon,
    "float": lambda m, d: float(sa.parse(m).epsilon(d)),
    "EventAccountant": lambda m, d: (
        EventAccountant(neighboring_relation=relation_of(m)).compose(sa.parse(m)).get_epsilon(d)
    ),
    "statement": lambda m, d: number_in(sa.parse(m).statement(d)),
    "short statement": lambda m, d: number_in(sa.parse(m).statement(d, form="short")),
    "explain": lambda m, d: number_in(str(sa.parse(m).explain(delta=d))),
    "sweep": lambda m, d: sa.sweep(sa.parse(m), {"delta": d}, digits=DIGITS)[0]["value"],
    "compare_epsilon": lambda m, d: least(sa.compare_epsilon(sa.parse(m), d, DIGITS)),
    "reference": lambda m, d: reference_table(sa.parse(m), {"delta": [d]}, "epsilon", DIGITS).rows[
        0
    ]["upper"],
    "check": checked,
    "check of a file": in_a_file,
    "symacct epsilon": lambda m, d: number_in(said("epsilon", m, "--delta", d)),
    "symacct epsilon --more": lambda m, d: number_in(said("epsilon", m, "--delta", d, "--more")),
    "symacct epsilon --json": lambda m, d: as_json("epsilon", m, "--delta", d)["epsilon"]["value"],
    "symacct compare": lambda m, d: as_json("compare", m, m, "--delta", d)[0]["epsilon"]["value"],
    "symacct statement": lambda m, d: number_in(said("statement", m, "--delta", d)),
    "symacct sweep": lambda m, d: as_json("sweep", m, "--over", f"delta={d}")[0]["value"],
}


def relation_of(text: str) -> str:
    """The relation that an expression fixes, or add/remove."""
    relation = str(sa.parse(text).adjacency)
    return "replace_one" if relation.startswith("replace_one") else "add_remove"


def least(rows: sa.Comparison) -> object:
    """The first ε of a comparison, which is the least upper bound."""
    return rows[0].epsilon


def as_fraction(found: object) -> Fraction:
    text = found.rounded(DIGITS) if isinstance(found, sa.Enclosure) else str(found)
    return Fraction(text)


@pytest.mark.parametrize(("text", "delta"), QUESTIONS)
def test_every_verb_gives_one_number(text: str, delta: str) -> None:
    """To the digits of a screen, the last of which is rounded up from ends of its own."""
    known = as_fraction(sa.parse(text).epsilon(delta, digits=DIGITS).epsilon)
    for name, verb in VERBS.items():
        if name == "EventAccountant" and "GroupPrivacy" in text:
            continue  # dp_accounting's relations are those of one record
        found = as_fraction(verb(text, delta))
        assert abs(found - known) <= known / 10**5, f"{name}: {float(found)} for {float(known)}"


def test_delta_has_one_number_too() -> None:
    m, text = 100 * sa.Gaussian(20), "100*Gaussian(20)"
    known = as_fraction(m.delta(1, digits=DIGITS).delta)
    found = {
        "report": m.report(epsilon=1).delta,
        "sweep": sa.sweep(m, {"epsilon": 1}, "delta", digits=DIGITS)[0]["value"],
        "command": as_json("delta", text, "--epsilon", "1")["delta"]["value"],
        "accountant": EventAccountant().compose(m).get_delta(1),
    }
    for name, one in found.items():
        assert abs(as_fraction(one) - known) <= known / 10**5, name


@pytest.mark.parametrize(("text", "delta"), QUESTIONS)
def test_what_gives_the_number_has_codes_that_theorems_shows(text: str, delta: str) -> None:
    g = sa.parse(text).epsilon(delta, digits=DIGITS)
    assert g.claim.theorems or not g.needs_no_order
    for code in (*g.claim.theorems, f"conversion:{g.conversion}"):
        if code == "conversion:exact":
            continue  # the codes of the profile say which way it is
        (row, *_) = json.loads(said("theorems", code, "--json"))
        assert row["call"] == code
        assert row["says"]
        assert row["status"] == "proved"


@pytest.mark.parametrize(("text", "delta"), QUESTIONS)
def test_an_upper_bound_is_never_called_exact(text: str, delta: str) -> None:
    g = sa.parse(text).epsilon(delta, digits=DIGITS)
    if g.needs_no_order:
        assert (", an upper bound by" in str(g)) is (g.kind is sa.Kind.UPPER)
        assert ("by the exact conversion" in str(g)) is (g.kind is sa.Kind.EXACT)
