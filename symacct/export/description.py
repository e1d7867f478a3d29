"""An expression in words, as a privacy section says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate
from typing import TypeAlias

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
from symacct.mechanisms.matrix import UNIT_OF
from symacct.mechanisms.response import OF_ABSENT, RandomizedResponse, response_of
from symacct.operations import (
    Compose,
    GroupPrivacy,
    PoissonSubsample,
    PostProcess,
    RandomAllocation,
    SubsampleWithoutReplacement,
)
from symacct.operations.compose import Count
from symacct.operations.operation import Operation

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
    if fields.get("with_record") == "P":
        name = "DistributionPair, with the record"
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
    is_plain = isinstance(m, Compose | GroupPrivacy | PostProcess)
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
        said
        for node in _as_run(m)
        for kind, said in _DRAWN.items()
        if isinstance(node, kind) and node.fields().get("gamma") != 1
    ]
    return list(dict.fromkeys(named))


_DRAWN: dict[type[Node], str] = {
    PoissonSubsample: "Poisson sampling",
    SubsampleWithoutReplacement: "samples of a fixed size",
    RandomAllocation: "each record drawing its batch independently and in secret",
}
_ON_SAMPLE = " on a fresh "
_SAMPLES = ("PoissonSubsample", "SubsampleWithoutReplacement")


def _as_run(m: Node) -> list[Node]:
    """The nodes of m that say what was run, and not only what costs as much as the run."""
    return [node for node, _, run, _ in _contexts(m, m.claim.adjacency.relation) if run]


Context: TypeAlias = tuple[Node, Relation, bool, bool]


def _contexts(m: Node, relation: Relation) -> list[Context]:
    """Each node of m, the relation it is read for, and whether it was run, and on a sample.

    Mechanisms come before what was done to them. A node was not run where a premise says what was,
    and the node only costs as much.
    """
    found: dict[Context, None] = {(m, relation, True, False): None}
    left = list(found)
    while left:
        node, read, run, sampled = left.pop()
        if isinstance(node, Operation) and node.read_adjacency.relation is not Relation.EITHER:
            read = node.read_adjacency.relation
        below = (read, run and node.fields().get("premise") is None, sampled or _samples(node))
        new = [(child, *below) for child in node.children if (child, *below) not in found]
        left += new
        found |= dict.fromkeys(new)
    return list(reversed(found))


def _samples(node: Node) -> bool:
    return isinstance(node, Operation) and node.changes_size


OF_OUTSIDE = (
    "nobody sees whose answers a sample holds, because randomized response draws an answer as for "
    "a fixed value for a person outside of it"
)
ALWAYS = (
    "the mechanism runs as it is described, with ideal randomness",
    "nothing else about the data is released",
)


def own_premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """What has to be true of the program that ran, beyond what is assumed of every program.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian
    >>> own_premises(Gaussian(5))
    ['one record changes the query by no more than its sensitivity, in the Euclidean norm']
    """
    return list(dict.fromkeys(_premises(m, adjacency)))


def _premises(m: Node, adjacency: Adjacency | None) -> Iterator[str]:
    for node, relation, run, sampled in _contexts(m, (adjacency or m.claim.adjacency).relation):
        if (not run and node.says_who_takes_part) or (response_of(node) and node.children):
            continue
        is_response = sampled and isinstance(node, RandomizedResponse)
        for premise in node.premises_for(relation):
            if premise != OF_ABSENT or not is_response:
                yield _filled(premise, node)
        if is_response:
            yield OF_OUTSIDE


def _filled(premise: str, node: Node) -> str:
    """The sentence with the fields of the node in their places."""
    if "{" not in premise:
        return premise
    fields = {k: v for k, v in node.fields().items() if not isinstance(v, Node)}
    return premise.format(**{k: Counted(value(v)) for k, v in fields.items()})


def pressing_premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """The premises that are said beside the number itself: many a run does not meet them.

    They are about persons whose answers are missing, about the unit of noise for a replaced record,
    and what an author stated.
    """
    stated = [node.fields().get("premise") for node in m.walk()]
    pressing = {OF_ABSENT, OF_OUTSIDE, UNIT_OF[Relation.REPLACE_ONE], *stated}
    return [said for said in own_premises(m, adjacency) if said in pressing]


def premises(m: Node, adjacency: Adjacency | None = None) -> list[str]:
    """What has to be true of the program that ran, for what is proved to be about it.

    `adjacency` stands for a relation that m leaves open.

    >>> from symacct import Gaussian
    >>> premises(Gaussian(5))[-1]
    'nothing else about the data is released'
    """
    return [*own_premises(m, adjacency), *ALWAYS]


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
