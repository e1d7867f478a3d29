"""An expression in words, as a privacy section says it."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import accumulate

from symacct.core import symbols
from symacct.core.claims import Adjacency, Claim, Kind, Relation, said_of
from symacct.core.errors import is_float
from symacct.core.exact import expression, text
from symacct.core.lazy_import import sympy
from symacct.export.mechanism_words import WORDS, Counted
from symacct.export.spoken import (
    LISTED,
    in_tex,
    in_words,
    marked,
    spoken,
    value,
    written,
)
from symacct.expressions.node import Node
from symacct.mechanisms.curve import Curve
from symacct.mechanisms.response import RandomizedResponse, response_of
from symacct.operations import Compose
from symacct.operations.compose import Count

_SENSITIVITIES = 4  # that are named one by one
_BITS = 2  # answers of randomized response that is not said to have more
_FEW = 600  # characters of a description beside a number
_BRACKETS = re.compile(r"\([^()]*\)")
_UNWRITTEN = 10**4300  # the first number that Python writes by no f"{n:,}"


def describe(m: Node) -> str:
    """What was done, as a noun phrase.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> describe(1000 * PoissonSubsample(Gaussian(5), "1/100"))
    '1,000 runs of the Gaussian mechanism (σ = 5, sensitivity 1), each on a fresh Poisson sample \
(each record kept independently with probability 0.01)'
    """
    words = _described(m, LISTED)
    return words.replace("= ≈", "≈").replace("probability ≈", "probability about")


def describe_tex(m: Node) -> str:
    """What was done, as a noun phrase in LaTeX."""
    return in_tex(lambda: describe(m))


def _described(m: Node, listed: int) -> str:
    """What was done, compositions of up to so many mechanisms named one by one."""
    if isinstance(m, Compose):
        return _composition(m, listed)
    if isinstance(m, Curve):
        return f"a mechanism whose Rényi curve was stated by the authors as {_stated(m)}"
    if response := _response(m):
        return response
    fields, name = m.fields(), type(m).__name__
    if name in _SAMPLES and fields["gamma"] == 1:
        return f"{_inner(fields['mechanism'], listed)} on all of the records"
    if name in _SAMPLES and isinstance(fields["mechanism"], Compose):
        together = WORDS[name].format(mechanism="", gamma=value(fields["gamma"]))
        return f"{_described(fields['mechanism'], listed)}, all{together}"
    if fields.get("premise") is not None:
        return (
            "a mechanism that reveals no more about a record than "
            f"{_inner(fields['mechanism'], listed)}"
        )
    if name in WORDS:
        said = {
            k: _inner(v, listed) if isinstance(v, Node) else Counted(value(v))
            for k, v in fields.items()
        }
        return WORDS[name].format(**said)
    # The relation is said where the guarantee is.
    said = {k: v for k, v in fields.items() if v is not None and k != "adjacency"}
    given = ", ".join(f"{k} = {in_words(v)}" for k, v in said.items())
    return f"the mechanism {name} ({given})"


def _response(m: Node) -> str:
    """Randomized response by ε, or of several answers, in a statistician's words; else nothing."""
    made = response_of(m)
    if made is None:
        return ""
    epsilon, k = made
    odds = sympy.exp(expression(epsilon))
    if odds.is_Rational:
        p = Fraction(int(odds.p), int(odds.p + (k - 1) * odds.q))
        truth = marked(text(p))
    else:
        shown = written(odds)
        shown = f"({shown})" if odds.is_Add else shown
        truth = marked(f"{shown}/({shown} + {k - 1})")
    if k == _BITS:
        return f"randomized response (the true answer with probability {truth})"
    return (
        f"randomized response with {k:,} answers (the true one with probability {truth}, else "
        f"one of the other {k - 1:,}, each equally likely)"
    )


def _composition(m: Compose, listed: int) -> str:
    if not m.terms:
        return "no mechanism at all"
    if len(m.terms) > listed:
        return _together([f"{_runs(m.runs)} of {len(m.terms):,} mechanisms"])
    runs = [said for said, _ in _runs_of_parts(m, listed)]
    return runs[0] if len(runs) == 1 else _together(runs)


def _runs_of_parts(m: Compose, listed: int) -> list[tuple[str, Count]]:
    """The runs of each mechanism in words, and how many they are."""
    parts = sorted((_of_run(part, count, listed), count) for part, count in m.terms.items())
    return [(f"{_runs(count)} of {part}", count) for part, count in parts]


def _of_run(part: Node, count: Count, listed: int) -> str:
    """What is run; of several runs it is said that each has a sample of its own."""
    said = _described(part, listed)
    if count == 1 or said.count(_ON_SAMPLE) != 1:
        return said
    mechanism, drawn, sample = said.partition(_ON_SAMPLE)
    return f"{mechanism.removesuffix(', all')}, each{drawn}{sample}"


def _together(runs: list[str]) -> str:
    """The parts of a composition, between semicolons if one of them has a comma of its own."""
    between, last = ("; ", "; and ") if any(map(_has_comma, runs)) else (", ", " and ")
    begun = f"{between.join(runs[:-1])}{last}" if runs[1:] else ""
    return f"the adaptive composition of {begun}{runs[-1]}"


def _has_comma(words: str) -> bool:
    """Is there a comma outside brackets, as in "2 runs of A (σ = 5), each on a fresh sample"?"""
    left = words
    while (outside := _BRACKETS.sub("", left)) != left:
        left = outside
    return ", " in left


def _runs(n: Count) -> str:
    return "one run" if n == 1 else f"{_counted(n)} runs"


def _counted(n: Count) -> str:
    """With commas, where Python writes it."""
    if isinstance(n, sympy.Expr):
        return spoken(n)
    return f"{n:,}" if n < _UNWRITTEN else text(Fraction(n))


def _inner(m: Node, listed: int) -> str:
    """A part: a composition is put in brackets."""
    if m == Compose():
        return "no answer at all"
    words = _described(m, listed)
    return f"({words})" if isinstance(m, Compose) else words


def _stated(m: Curve) -> str:
    if not m.is_formula:
        return "a Python function"
    return f"ε(α) = {spoken(m.f.xreplace({symbols.alpha: sympy.Symbol('α')}))}"


OWN_CURVE = "the mechanism's own curve"  # where no theorem is behind a number
KIND_LABELS = {
    Kind.LOWER: "↑ lower",
    Kind.EXACT: "= exact",
    Kind.UPPER: "↓ upper",
    Kind.NEITHER: "≈ neither",
}


def kind_label(claim: Claim) -> str:
    """The kind of a claim, and whether it is trusted alone."""
    return KIND_LABELS[claim.kind] + ("" if claim.certified else " (not certified)")


def _changed(adjacency: Adjacency) -> str:
    """How many records neighbours differ in."""
    return "one record" if adjacency.group == 1 else f"up to {adjacency.group} records"


def neighbours(adjacency: Adjacency, m: Node | None = None) -> str:
    """Which datasets the guarantee protects against telling apart; `m` says what they were for."""
    one = _changed(adjacency)
    if adjacency.relation is Relation.ADD_REMOVE:
        return f"neighbouring datasets differ by adding or removing {one}"
    if adjacency.relation is Relation.REPLACE_ONE:
        return f"neighbouring datasets differ by replacing {one}"
    if m is not None and is_local(m):
        answer = "the true answer" if adjacency.group == 1 else "the true answers"
        return f"neighbouring datasets differ in {answer} of {one} (local differential privacy)"
    kinds = set() if m is None else {type(node).__name__ for node in m.walk()}
    stated = "laws" if not kinds.isdisjoint(_OF_LAWS) else "parameters"
    return (
        f"neighbouring datasets differ by adding or removing {one}, or by replacing {one}, "
        f"whichever the mechanism's {stated} were stated for"
    )


_OF_LAWS = ("FiniteMechanism", "DistributionPair")


def is_local(m: Node) -> bool:
    """Is all that is run randomized response, by which each person hides the own answer?"""
    if response_of(m) is not None or isinstance(m, RandomizedResponse):
        return True
    is_plain = type(m).__name__ in ("Compose", "GroupPrivacy", "PostProcess")
    return is_plain and bool(m.children) and all(map(is_local, m.children))


def is_open(adjacency: Adjacency, m: Node | None) -> bool:
    """Does it have to be said which of the two relations the parameters were stated for?"""
    return adjacency.relation is Relation.EITHER and not (m is not None and is_local(m))


def neighbours_short(adjacency: Adjacency) -> str:
    """The relation where there is room for few words: add or remove one record."""
    return f"{_SHORT[adjacency.relation]} {_changed(adjacency)}"


_SHORT = {
    Relation.ADD_REMOVE: "add or remove",
    Relation.REPLACE_ONE: "replace",
    Relation.EITHER: "add, remove or replace",
}


def samplings(m: Node) -> list[str]:
    """How records are drawn in m, in few words: Poisson sampling."""
    named = [
        _DRAWN[type(node).__name__]
        for node in _as_run(m)
        if type(node).__name__ in _DRAWN and node.fields().get("gamma") != 1
    ]
    return list(dict.fromkeys(named))


_DRAWN = {
    "PoissonSubsample": "Poisson sampling",
    "SubsampleWithoutReplacement": "samples of a fixed size",
    "RandomAllocation": "each record in a batch of its own at random",
}
_ON_SAMPLE = " on a fresh "
_SAMPLES = ("PoissonSubsample", "SubsampleWithoutReplacement")


def _as_run(m: Node) -> list[Node]:
    """The nodes of m that say what was run, and not only what costs as much as the run."""
    found = {m: None}
    left = [m]
    while left:
        node = left.pop()
        if node.fields().get("premise") is None:
            left += [child for child in node.children if child not in found]
            found |= dict.fromkeys(node.children)
    return list(found)


#: Without this, the best of many runs costs more than `RepeatAndSelect` says.
NUMBER_OF_RUNS = (
    "the number of runs is drawn at random from the stated law, independently of the data, and "
    "only the best run is released"
)


OF_ABSENT = (
    "for a person who is not in the data, randomized response draws an answer as for a fixed value"
)


def answers_for_absent(m: Node, adjacency: Adjacency | None = None) -> bool:
    """Is a person removed, whose response is then to be drawn all the same?

    The two laws of a response are those of two values, and someone who is absent has none.
    """
    adds = (adjacency or m.claim.adjacency).relation is Relation.ADD_REMOVE
    return adds and any(isinstance(node, RandomizedResponse) for node in _as_run(m))


def premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """What has to be true of the program that ran, for what is proved to be about it.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian
    >>> premises(Gaussian(5))[0]
    'one record changes the query by no more than its sensitivity'
    """
    names = {type(node).__name__ for node in m.walk()}
    stated = (node.fields().get("premise") for node in m.walk())
    found = {
        "one record changes the query by no more than its sensitivity": any(
            "sensitivity" in node.fields() for node in m.walk()
        ),
        OF_ABSENT: answers_for_absent(m, adjacency),
        # A share of 1 is all of the data, as of batches that are told.
        "each sample is drawn anew and at random, and is kept secret": any(
            type(node).__name__ in _SAMPLES and node.fields()["gamma"] != 1 for node in _as_run(m)
        ),
        NUMBER_OF_RUNS: "RepeatAndSelect" in names,
        **{said: True for said in stated if said is not None},
        "whether a mechanism fails does not depend on the data": "Failing" in names,
        "what is stated of a mechanism's privacy holds of it": not names.isdisjoint(
            {"PureDP", "ApproximateDP", "ZCDP", "TCDP", "Curve", "Scale"}
        ),
        "the mechanism runs as it is described, with ideal randomness": True,
        "nothing else about the data is released": True,
    }
    return [said for said, needed in found.items() if needed]


def about(m: Node, adjacency: Adjacency | None = None) -> str:
    """The relation of m's curve and the sensitivities of its noise, without which no ε says much.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> about(10 * PoissonSubsample(Gaussian(5), "1/100") + Gaussian(8, sensitivity=2))
    'add_remove, sensitivities 1 and 2'
    """
    return ", ".join(filter(None, [str(adjacency or m.claim.adjacency), sensitivity(m)]))


def pictured(*nodes: Node, adjacency: str | Adjacency | None = None) -> str:
    """What `about` says of all nodes, in words for the legend of a picture; a relation once.

    `adjacency` stands for a relation that a node leaves open.
    """
    found: dict[str, dict[str, None]] = {}
    for m in nodes:
        said = m.claim.adjacency if adjacency is None else said_of(m.claim.adjacency, adjacency)
        found.setdefault(neighbours_short(said), {})[sensitivity(m)] = None
    named = (
        ", ".join(filter(None, [relation, " or ".join(filter(None, noise))]))
        for relation, noise in found.items()
    )
    return " and ".join(named)


def in_few_words(m: Node) -> str:
    """What was done; of a long composition the first parts whole, with the sensitivities of all.

    No part is cut, and what is left out is counted.
    """
    words = describe(m)
    if len(words) <= _FEW:
        return words
    first = _first_parts(m) if isinstance(m, Compose) else ""
    return ", ".join(filter(None, [first or _described(m, 0), sensitivity(m)]))


def _first_parts(m: Compose) -> str:
    """As many mechanisms as a few words name, and how many others; nothing if it is none."""
    parts = _runs_of_parts(m, LISTED)
    lengths = accumulate(len(said) for said, _ in parts)
    named = sum(length <= _FEW for length in lengths)
    left = parts[named:]
    if not named or not left:
        return describe(m) if named else ""
    others = f"{len(left):,} other mechanism{'s' * (len(left) > 1)}"
    rest = f"{_runs(sum(count for _, count in left))} of {others}"
    return _together([*(said for said, _ in parts[:named]), rest])


def sensitivity(m: Node) -> str:
    """What the noise in m is for, as "sensitivity 1"; nothing where no part has a sensitivity."""
    given = (node.fields().get("sensitivity") for node in m.walk())
    found = sorted({value(one) for one in given if one is not None})
    if len(found) > _SENSITIVITIES:
        return f"{len(found)} sensitivities"
    plural = "sensitivities" if len(found) > 1 else "sensitivity"
    listed = " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))
    return f"{plural} {listed}" if found else ""


def float_note(m: Node) -> str:
    """A line about the first parameter that is the bits of a float; or nothing."""
    for node in m.walk():
        for given in node.fields().values():
            if isinstance(given, Fraction) and is_float(given):
                shown = repr(float(given))
                return f"{shown} stands for the bits of that float, which are another number"
    return ""
