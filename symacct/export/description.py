"""An expression in words, as a privacy section says it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from symacct.export.spoken import (
    LISTED,
    filled,
    in_tex,
    in_words,
    marked,
    spoken,
    value,
    written,
)
from symacct.kernel import symbols
from symacct.kernel.claims import Adjacency, Claim, Kind, Relation, said_of
from symacct.kernel.errors import is_float
from symacct.kernel.exact import expression, sympy, text
from symacct.kernel.node import Mechanism, Node
from symacct.kernel.operation import Count, Operation
from symacct.kernel.words import Counted
from symacct.mechanisms.matrix import UNIT_OF
from symacct.mechanisms.response import OF_ABSENT, RandomizedResponse, response_of
from symacct.operations import Compose, GroupPrivacy, PostProcess
from symacct.operations.subsample import Sampling

if TYPE_CHECKING:
    from symacct.export.latex.printer import PaperPrinter

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
    return _described(m, _Way(LISTED))


def describe_tex(m: Node) -> str:
    """What was done, as a noun phrase in LaTeX."""
    return in_tex(lambda: describe(m))


def described_by_names(m: Node, names: Mapping[Node, str], printer: PaperPrinter) -> str:
    """What was done to parts that have names in LaTeX, as a noun phrase in LaTeX."""
    return in_tex(lambda: _described(m, _Way(len(m.children) + 1, names)), printer)


@dataclass(frozen=True)
class _Way:
    """How parts are told: of a composition so many one by one, and some by names in LaTeX."""

    listed: int
    names: Mapping[Node, str] = field(default_factory=dict)


def _described(m: Node, way: _Way, drawn: str = "") -> str:
    """What was done, compositions of up to so many mechanisms named one by one.

    `drawn` is said before how a sample in it is drawn: by each of several runs, or by all parts.
    """
    if isinstance(m, Compose):
        return _composition(m, way)
    if response := _response(m):
        return response
    if isinstance(m, Sampling):
        if m.gamma == 1:
            return f"{_inner(m.mechanism, way, drawn)} on all of the records"
        if isinstance(m.mechanism, Compose) and m.mechanism not in way.names:
            said = {"mechanism": _described(m.mechanism, way), "each": drawn or ", all"}
            return filled(m.words, _parameters(m) | said)
    if "words" in vars(type(m)):  # a subclass is not what its parent is called
        parts = {k: _inner(v, way, drawn) for k, v in m.fields().items() if isinstance(v, Node)}
        return filled(m.words, _parameters(m) | parts | {"each": drawn})
    # The relation is said where the guarantee is.
    fields = {k: v for k, v in m.fields().items() if v is not None and k != "adjacency"}
    given = ", ".join(f"{k} = {in_words(v)}" for k, v in fields.items())
    return f"the mechanism {type(m).__name__} ({given})"


def _parameters(m: Node) -> dict[str, str]:
    """What stands in the places of a template, but for the parts."""
    return {
        k: Counted(value(_of_greek(v))) for k, v in m.fields().items() if not isinstance(v, Node)
    }


def _of_greek(parameter: object) -> object:
    """A formula in the order with that letter as readers know it."""
    if isinstance(parameter, sympy.Expr) and parameter.has(symbols.alpha):
        return parameter.xreplace({symbols.alpha: sympy.Symbol("α")})
    return parameter


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
        return filled(RandomizedResponse.words, {"p": truth})
    given = {"answers": f"{k:,}", "others": f"{k - 1:,}", "p": truth}
    return filled(RandomizedResponse.words_for_more_answers, given)


def _composition(m: Compose, way: _Way) -> str:
    if not m.terms:
        return "no mechanism at all"
    if len(m.terms) > way.listed:
        return _together([f"{_runs(m.runs)} of {len(m.terms):,} mechanisms"])
    runs = [said for said, _ in _runs_of_parts(m, way)]
    return runs[0] if len(runs) == 1 else _together(runs)


def _runs_of_parts(m: Compose, way: _Way) -> list[tuple[str, Count]]:
    """The runs of each mechanism in words, and how many they are."""
    parts = sorted((_of_run(part, count, way), count) for part, count in m.terms.items())
    return [(f"{_runs(count)} of {part}", count) for part, count in parts]


def _of_run(part: Node, count: Count, way: _Way) -> str:
    """What is run; of several runs it is said that each has a sample of its own."""
    if part in way.names:
        return marked(way.names[part])
    own = count != 1 and _samples_said(part) == 1
    return _described(part, way, ", each" if own else "")


def _samples_said(m: Node) -> int:
    """How many samples the words of m say to be drawn, those in a composition left out."""
    if isinstance(m, Compose) or response_of(m) is not None:
        return 0
    own = isinstance(m, Sampling) and m.gamma != 1
    return own + sum(map(_samples_said, m.children))


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


def _inner(m: Node, way: _Way, drawn: str) -> str:
    """A part: a composition is put in brackets."""
    if m in way.names:
        return marked(way.names[m])
    if m == Compose():
        return "no answer at all"
    words = _described(m, way, drawn)
    return f"({words})" if isinstance(m, Compose) else words


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
    leaves = [] if m is None else [node for node in m.walk() if isinstance(node, Mechanism)]
    stated = next((leaf.stated_by for leaf in leaves if leaf.stated_by != _USUAL), _USUAL)
    return (
        f"neighbouring datasets differ by adding or removing {one}, or by replacing {one}, "
        f"whichever the mechanism's {stated} were stated for"
    )


_USUAL = Mechanism.stated_by


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
    drawing = (node for node in _as_run(m) if isinstance(node, Operation) and node.drawing)
    return list(dict.fromkeys(one.drawing for one in drawing if one.fields().get("gamma") != 1))


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
    """The sentence with the parameters of the node in their places."""
    return premise if "{" not in premise else premise.format(**_parameters(node))


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
    return ", ".join(filter(None, [first or _described(m, _Way(0)), sensitivity(m)]))


def _first_parts(m: Compose) -> str:
    """As many mechanisms as a few words name, and how many others; nothing if it is none."""
    parts = _runs_of_parts(m, _Way(LISTED))
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
