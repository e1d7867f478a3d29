"""The paragraph that a paper's or a model card's privacy section prints about a guarantee."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import flint

from symacct.export import description
from symacct.export.citation import STATED, places, sources_of
from symacct.export.description import (
    cited,
    code,
    describe,
    filled,
    in_few_words,
    neighbours,
    premises,
    pressing_premises,
    samplings,
    sentence,
    written,
)
from symacct.kernel import parameters
from symacct.kernel.accountant import asked_of
from symacct.kernel.answer import Enclosure, Guarantee, found_order, given
from symacct.kernel.attached import question
from symacct.kernel.claims import Kind, Source
from symacct.kernel.conversion import BEST, WholeProfile, failures_of_guarantee
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact, Numeric
from symacct.kernel.node import Marked, Node
from symacct.operations.recipes import Batches
from symacct.results.screen import Written
from symacct.theory import catalogue
from symacct.version import __version__


def fingerprint(m: Node) -> str:
    """Compute the SHA-256, in hex, of the expression's JSON with parts by their fingerprints.

    The order in which a composition was written plays no part. Raises DomainError for a curve
    made of a Python function, which has no text.

    >>> from symacct import Gaussian, Laplace
    >>> fingerprint(Gaussian(1) + Laplace(2)) == fingerprint(Laplace("2.0") + Gaussian("1e0"))
    True
    """
    document = json.loads(m.to_json())
    digests: list[str] = []
    for entry in document["nodes"]:
        closed = [document["symacct"], _closed(entry, digests)]
        text = json.dumps(closed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digests.append(hashlib.sha256(text.encode()).hexdigest())
    return digests[-1]


def _closed(entry: dict[str, Any], digests: list[str]) -> dict[str, Any]:
    """Replace the parts in a node's JSON by their digests, those of a composition sorted.

    `digests` has those of the nodes before it, by place.
    """
    if entry["type"] == "Compose":
        terms = sorted([digests[place], count] for place, count in entry["terms"])
        return {"type": "Compose", "terms": terms}
    parts = {k: v["node"] for k, v in entry.items() if isinstance(v, dict) and set(v) == {"node"}}
    return {**entry, **{name: {"node": digests[place]} for name, place in parts.items()}}


#: The number asked for has this many significant digits by default, as everywhere.
_DIGITS = 6
#: A number of a kind is called this; the letter stands in the braces.
_KINDS = {
    Kind.UPPER: "an upper bound on the smallest {} that is true",
    Kind.EXACT: "the smallest {} that is true",
}
#: This many hexadecimal digits of a hash tell expressions apart in a text.
_HASH_DIGITS = 12


#: This matches a citation in a preface, [@KEY].
_CITED = re.compile(r"\[@([\w.:-]+)\]")
#: These works define DP-SGD and differential privacy; the number does not rest on them.
DEFINING = ("ACG16", "DKM06")
#: The sentence that cites them.
_DEFINED = "DP-SGD is described in [@{}], and ($ε$, $δ$)-differential privacy in [@{}].".format(
    *DEFINING
)
#: The form of one sentence; all forms.
SHORT = "short"
FORMS = (*description.FORMS, SHORT)


@question(Node, "statement")
def statement_of(
    m: Node,
    delta: Numeric | None = None,
    epsilon: Numeric | None = None,
    form: str = "text",
    digits: int = _DIGITS,
    conversion: str = BEST,
    adjacency: str | None = None,
) -> str:
    """Write a paragraph on the best proved ε for `delta`, or the best proved δ for `epsilon`.

    `form` is "text", "markdown", "latex" or "short", one sentence. `adjacency`, "add_remove"
    or "replace_one", says for which neighbours the mechanism's parameters were stated, if the
    expression leaves that open; AdjacencyError if it does not hold for those. The number
    is that of `Node.epsilon` or `Node.delta` by the `conversion`, rounded up to `digits`
    significant digits. Raises DomainError unless one of `delta` and `epsilon` is given.
    """
    g = asked_of(m, delta, epsilon, digits=digits, conversion=conversion)
    return statement(g if adjacency is None else g.under(adjacency), form, digits)


@question(Guarantee, "statement")
def statement(
    guarantee: Guarantee, form: str = "text", digits: int = _DIGITS, preface: str = ""
) -> str:
    """Write what was done, what is guaranteed by which theorems, and what computed it.

    `preface` is what stands first, such as the words that `training` has for a run. In it [@ACG16]
    is a citation of the work with that key.

    `form` is "text", "markdown", "latex" (with \\cite of the keys that `cite()` gives) or "short",
    one sentence for a model card. The number asked for is rounded up to so many digits. Raises
    DomainError for a guarantee without its mechanism.

    >>> from symacct import Gaussian
    >>> statement(Gaussian(5).epsilon("1e-5")).split(". ")[0]
    'The released results are the output of the Gaussian mechanism (σ = 5, sensitivity 1)'
    """
    parameters.one_of(form, "form", FORMS)
    if guarantee.mechanism is None:
        raise DomainError(
            "statement: found a guarantee without its mechanism",
            remedy="ask its mechanism for the guarantee",
        )
    if not isinstance(preface, str):
        raise DomainError(f"preface: found {echo(preface)}, needed text")
    m, digits = guarantee.mechanism, parameters.digits(digits)
    if form == SHORT:
        return Written(_short(guarantee, m, digits, preface))
    text = written(form, lambda: " ".join(_sentences(guarantee, m, digits, preface)))
    # In a text authors write ε so; displays have the other letter.
    return Written(text.replace(r"\epsilon", r"\varepsilon") if form == "latex" else text)


def _short(guarantee: Guarantee, m: Node, digits: int, preface: str) -> str:
    """Write one sentence for a model card: what was released, guaranteed, and for whom.

    After a preface, which says what was done, it says by which samples.
    """
    epsilon, delta = (_number(x, digits) for x in (guarantee.epsilon, guarantee.delta))
    drawn = f", with {' and '.join(samplings(m))}" if preface and samplings(m) else ""
    begin = f"{preface}: the output" if preface else "The released output"
    of = "" if preface else f"; it is the output of {in_few_words(m)}"
    pressing = pressing_premises(m, guarantee.claim.adjacency)
    assumed = f"; assumed: {', and '.join(pressing)}" if pressing else ""
    trust = "" if guarantee.claim.certified else "; the number is not certified"
    return (
        f"{begin} is (ε = {epsilon}, δ = {delta})-differentially private, where "
        f"{neighbours(guarantee.claim.adjacency, m)}{drawn}{of}{assumed}{trust}."
    )


def training(
    n: int,
    batch_size: int,
    noise_multiplier: str,
    steps: int,
    epochs: str,
    sampling: str,
    runs: int = 1,
    times: int = 1,
) -> str:
    """Describe DP-SGD runs as readers know them: data, epochs, batches, clipping and noise.

    `noise_multiplier` is as it is shown, `epochs` may be empty, and `sampling` and `times` are
    those of `dp_sgd`.

    >>> training(60000, 256, "1.1", 3516, "15", "poisson").split(". ")[0]
    'A model was trained by DP-SGD on 60,000 records for 15 epochs (3,516 steps)'
    """
    taken = _counted(steps, "step")
    passes = f"{_counted(epochs, 'epoch')} ({taken})" if epochs else taken
    batch = Batches(n, batch_size, sampling, times).described(f"{batch_size:,}")
    models, each = ("A model was", "") if runs == 1 else (f"{runs:,} models were", ", each")
    return Marked(
        f"{models} trained by DP-SGD on {n:,} records{each} for {passes}. Each step took a batch "
        f"of {batch}. The gradient of each record was clipped to a Euclidean norm of at most $C$, "
        f"and Gaussian noise of standard deviation ${noise_multiplier} C$ was added once to each "
        f"coordinate of the sum over a batch. {_DEFINED}"
    )


def _counted(count: int | str, what: str) -> str:
    """Write a count of things: 1 epoch, 1.5 epochs, 3,516 steps."""
    number = count if isinstance(count, str) else f"{count:,}"
    return f"{number} {what}" if number == "1" else f"{number} {what}s"


def _sentences(guarantee: Guarantee, m: Node, digits: int, preface: str) -> Iterator[str]:
    """Yield the sentences: the guarantee, how it was found, what it assumes, what computed it."""
    if preface:
        read: type[str] = Marked if isinstance(preface, Marked) else str
        parts = _CITED.split(preface.template if isinstance(preface, Marked) else preface)
        yield "".join(cited(x, "") if i % 2 else sentence(read(x)) for i, x in enumerate(parts))
    epsilon, delta = (_number(x, digits) for x in (guarantee.epsilon, guarantee.delta))
    yield f"The released results are the output of {describe(m)}."
    yield filled(
        "They are ($ε = {epsilon}$, $δ = {delta}$)-differentially private, where {neighbours}.",
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours(guarantee.claim.adjacency, m),
    )
    if m._rewritten is not m:
        same, why = describe(m._rewritten), "; ".join(m._rewrites)
        yield f"Their curve is that of the output of {same}: {why}."
    yield _rounding(guarantee, digits)
    if (failing := failures_of_guarantee(guarantee, m)) is not None:
        yield filled(
            "With a probability of at most ${least}$, which is part of $δ$, something fails, and "
            "all of the data may be told; what follows is about all that does not fail.",
            least=failing.failure_text,
        )
    yield _accounting(guarantee)
    if guarantee.note:
        yield f"The number is not final: {guarantee.note}."
    yield from _reservations(guarantee, m)
    yield _computed(m)


def _number(value: Enclosure | Exact, digits: int) -> str:
    """Write the number asked for rounded up, and the one given as it is."""
    return value.rounded(digits) if isinstance(value, Enclosure) else given(value)


def _rounding(guarantee: Guarantee, digits: int) -> str:
    """Say to how many digits the number is rounded up, and what it is before rounding."""
    letter = "$ε$" if isinstance(guarantee.epsilon, Enclosure) else "$δ$"
    how = f"rounded up to {digits} significant digits; before rounding"
    if guarantee.asked.how_rounded(digits) == "exactly":
        how = "not rounded;"
    return filled(f"The value of {letter} is {how} it is {_KINDS[guarantee.kind].format(letter)}.")


def _accounting(guarantee: Guarantee) -> str:
    """Say by what the loss was accounted: the curve, the order and the conversion, or a profile."""
    if isinstance(named_conversion(guarantee.conversion), WholeProfile):
        is_true = guarantee.kind is Kind.EXACT
        by = "its exact privacy profile" if is_true else "the privacy profile of a pair above it"
        accounted = f"The privacy loss was accounted by {by}, with no Rényi order"
        return f"{accounted}{citations(guarantee.claim.sources)}."
    sources = sources_of(guarantee)
    curve = sources[: len(guarantee.claim.sources)]
    exact = guarantee.claim.kind is Kind.EXACT
    kind = "the exact Rényi curve" if exact else "an upper bound on the Rényi curve"
    accounted = f"The privacy loss was accounted by {kind}{citations(curve)} at order "
    if guarantee.alpha == INFINITY:
        return f"{accounted}{filled('$∞$')}, where it bounds pure differential privacy."
    order = filled("$α = {order}$", order=found_order(guarantee.alpha))
    best = " (the best of the orders allowed)" if guarantee.optimal else ""
    by = f"and by the {guarantee.conversion} conversion{citations(sources[len(curve) :])}"
    return f"{accounted}{order}{best}, {by}."


def citations(sources: tuple[Source, ...]) -> str:
    """Cite each work with all its places, and with a space before it; not what a user states."""
    works = places(source for source in sources if source.key != STATED)
    return "".join(f" {cited(key, '; '.join(known))}" for key, known in works.items())


def _reservations(guarantee: Guarantee, m: Node) -> Iterator[str]:
    """Yield what a reader has to know that is no theorem: trust, premises, what was checked."""
    if not guarantee.claim.certified:
        yield (
            "The curve of a mechanism was computed by a function of the authors' own and taken on "
            "trust: this number is not certified."
        )
    else:
        yield "The number is certified by interval arithmetic."
    yield f"What is assumed: {'; '.join(premises(m, guarantee.claim.adjacency))}."
    stated = dict.fromkeys(map(catalogue.assumed, guarantee.claim.theorems))
    if held := "; ".join(map(sentence, filter(None, stated))):
        yield f"What the theorems ask of such a mechanism was checked: {held}."


def _computed(m: Node) -> str:
    """Name the programs and the expression's hash, so that the number can be had again."""
    try:
        identity = f"the expression's SHA-256 begins with {code(fingerprint(m)[:_HASH_DIGITS])}"
    except DomainError:
        identity = "the expression contains a Python function and has no hash"
    return (
        f"Computed with symacct {__version__}, python-flint {version('python-flint')} "
        f"(FLINT {flint.__FLINT_VERSION__}), SymPy {version('sympy')}, "
        f"mpmath {version('mpmath')}, Python {platform.python_version()}; {identity}."
    )
