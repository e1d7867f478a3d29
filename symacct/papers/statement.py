"""The paragraph that a paper's or a model card's privacy section prints about a guarantee."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version

import flint

from symacct.export.citation import STATED, places, sources_of
from symacct.export.description import (
    describe,
    describe_tex,
    in_few_words,
    neighbours,
    premises,
    pressing_premises,
    samplings,
)
from symacct.export.latex import sentences as latex
from symacct.export.latex.plain_tex import plain_tex
from symacct.kernel import arguments
from symacct.kernel.answer import Enclosure, Guarantee, found_order, given
from symacct.kernel.claims import Kind, Source
from symacct.kernel.conversion import WholeProfile
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import INFINITY, Exact
from symacct.kernel.node import Node
from symacct.kernel.question import may_fail
from symacct.kernel.sources import WORKS
from symacct.kernel.words import Marked
from symacct.mechanisms.curve import Curve
from symacct.papers.fingerprint import fingerprint
from symacct.results.written import Written
from symacct.theory import catalogue
from symacct.version import __version__

_DIGITS = 6  # of the number asked for, as everywhere
_KINDS = {
    Kind.UPPER: "an upper bound on the smallest {} that is true",
    Kind.EXACT: "the smallest {} that is true",
}
_HASH = 12  # digits of a hash that tell expressions apart in a text


@dataclass(frozen=True)
class Form:
    """How a text is written: sentences, what was done, code, and a citation."""

    words: Callable[[str], str]
    described: Callable[[Node], str]
    code: Callable[[str], str]
    cited: Callable[[str, str], str]


def _markdown(words: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", words)


def _tex_words(words: str) -> str:
    """Sentences with ε as authors write it in a text; displays have the other letter."""
    return latex.tex(words).replace(r"\epsilon", r"\varepsilon")


def _tex_described(m: Node) -> str:
    return describe_tex(m).replace(r"\epsilon", r"\varepsilon")


def _tex_code(code: str) -> str:
    return rf"\texttt{{{plain_tex(code)}}}"


def _tex_citation(key: str, place: str) -> str:
    where = f"[{{{_tex_words(place)}}}]" if place else ""
    return rf"\cite{where}{{{key}}}"


def _named_citation(key: str, place: str) -> str:
    work = WORKS[key].named if key in WORKS else key
    return f"[{work}, {place}]" if place else f"[{work}]"


_FORMS = {
    "text": Form(str, describe, str, _named_citation),
    "markdown": Form(
        _markdown,
        lambda m: _markdown(describe(m)),
        lambda code: f"`{code}`",
        lambda key, place: _markdown(_named_citation(key, place)),
    ),
    "latex": Form(_tex_words, _tex_described, _tex_code, _tex_citation),
}


_CITED = re.compile(r"\[@([\w.:-]+)\]")
#: What a run is named by, and what it is said to be: not works that its number rests on.
DEFINING = ("ACG16", "DKM06")
_DEFINED = "DP-SGD is described in [@{}], and ($ε$, $δ$)-differential privacy in [@{}].".format(
    *DEFINING
)
SHORT = "short"
FORMS = (*_FORMS, SHORT)


def statement(
    guarantee: Guarantee, form: str = "text", digits: int = _DIGITS, preface: str = ""
) -> str:
    """What was done, what is guaranteed by which theorems, and with what it was computed.

    `preface` is what stands first, such as the words that `training` has for a run. In it [@ACG16]
    is a citation of the work with that key.

    `form` is "text", "markdown", "latex" (with \\cite of the keys that `cite()` gives) or "short",
    one sentence for a model card. The number asked for is rounded up to so many digits.

    >>> from symacct import Gaussian
    >>> statement(Gaussian(5).epsilon("1e-5")).split(". ")[0]
    'The released results are the output of the Gaussian mechanism (σ = 5, sensitivity 1)'
    """
    arguments.one_of(form, "form", FORMS)
    if guarantee.mechanism is None:
        raise DomainError(
            "statement: found a guarantee without its mechanism",
            remedy="ask its mechanism for the guarantee",
        )
    if not isinstance(preface, str):
        raise DomainError(f"preface: found {echo(preface)}, needed text")
    if form == SHORT:
        return Written(_short(guarantee, guarantee.mechanism, arguments.digits(digits), preface))
    written = _FORMS[form]
    sentences = _sentences(guarantee, guarantee.mechanism, written, arguments.digits(digits))
    text = " ".join([*([_preface(preface, written)] if preface else []), *sentences])
    return Written(text)


def _short(guarantee: Guarantee, m: Node, digits: int, preface: str) -> str:
    """One sentence for a model card: what was released, what is guaranteed, for which neighbours.

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
) -> str:
    """The words of DP-SGD runs that a reader knows them by: data, epochs, batches, clipping, noise.

    >>> training(60000, 256, "1.1", 3516, "15", "poisson").split(". ")[0]
    'A model was trained by DP-SGD on 60,000 records for 15 epochs (3,516 steps)'
    """
    taken = _counted(steps, "step")
    passes = f"{_counted(epochs, 'epoch')} ({taken})" if epochs else taken
    batches = {
        "poisson": "Each step took a Poisson sample: each record was in the batch with probability "
        f"{batch_size}/{n}, independently of all else, so that a batch had {batch_size:,} records "
        "on average.",
        "without_replacement": f"Each step took a batch of exactly {batch_size:,} records, drawn "
        "anew without replacement.",
        "balls_and_bins": f"In each epoch each record was put into one of {n // batch_size:,} "
        "batches, drawn at random and independently of all else.",
        "shuffled": "In each epoch the records were put into a new random order and cut into "
        f"batches of {batch_size:,}; neighbouring datasets have the same number of batches. The "
        "guarantee holds even if it is published which batch each record was in: an epoch then "
        "costs no more than one run of the Gaussian mechanism on all of the records.",
    }
    models, each = ("A model was", "") if runs == 1 else (f"{runs:,} models were", ", each")
    return Marked(
        f"{models} trained by DP-SGD on {n:,} records{each} for {passes}. {batches[sampling]} The "
        "gradient of each record was clipped to a Euclidean norm of at most $C$, and Gaussian "
        f"noise of standard deviation ${noise_multiplier} C$ was added once to each coordinate of "
        f"the sum over a batch. {_DEFINED}"
    )


def _preface(words: str, form: Form) -> str:
    """The words with [@KEY] as a citation of that work."""
    read: type[str] = Marked if isinstance(words, Marked) else str
    parts = _CITED.split(words.template if isinstance(words, Marked) else words)
    return "".join(
        form.cited(part, "") if i % 2 else form.words(read(part)) for i, part in enumerate(parts)
    )


def _counted(count: int | str, what: str) -> str:
    """A count of things: 1 epoch, 1.5 epochs, 3,516 steps."""
    number = count if isinstance(count, str) else f"{count:,}"
    return f"{number} {what}" if number == "1" else f"{number} {what}s"


def _sentences(guarantee: Guarantee, m: Node, form: Form, digits: int) -> Iterator[str]:
    words = form.words
    yield words("The released results are the output of ") + form.described(m) + words(".")
    epsilon, delta = (_number(x, digits) for x in (guarantee.epsilon, guarantee.delta))
    private = words(Marked(f"They are ($ε = {epsilon}$, $δ = {delta}$)-differentially private"))
    yield private + words(f", where {neighbours(guarantee.claim.adjacency, m)}.")
    if m.rewritten is not m:
        why = "; ".join(m.rewrites)
        same = form.described(m.rewritten)
        yield f"{words('Their curve is that of the output of ')}{same}{words(f': {why}.')}"
    yield _rounding(guarantee, form, digits)
    if (parts := may_fail(m)) is not None:
        yield words(
            Marked(
                f"With a probability of at most ${parts.least}$, which is part of $δ$, something "
                "fails, and all of the data may be told; what follows is about all that does not "
                "fail."
            )
        )
    yield _accounting(guarantee, form)
    if guarantee.note:
        yield form.words(f"The number is not final: {guarantee.note}.")
    yield from _reservations(guarantee, m, form)
    yield _computed(m, form)


def _number(value: Enclosure | Exact, digits: int) -> str:
    """The number asked for rounded up; the one given as it is."""
    return value.rounded(digits) if isinstance(value, Enclosure) else given(value)


def _rounding(guarantee: Guarantee, form: Form, digits: int) -> str:
    letter = "$ε$" if isinstance(guarantee.epsilon, Enclosure) else "$δ$"
    what = _KINDS[guarantee.kind].format(letter)
    if guarantee.asked.how_rounded(digits) == "exactly":
        return form.words(Marked(f"The value of {letter} is not rounded; it is {what}."))
    return form.words(
        Marked(
            f"The value of {letter} is rounded up to {digits} significant digits; before rounding "
            f"it is {what}."
        )
    )


def _accounting(guarantee: Guarantee, form: Form) -> str:
    """The curve's sources, the order and the conversion; or the profile's alone."""
    if isinstance(named_conversion(guarantee.conversion), WholeProfile):
        is_true = guarantee.kind is Kind.EXACT
        by = "its exact privacy profile" if is_true else "the privacy profile of a pair above it"
        said = f"The privacy loss was accounted by {by}, with no Rényi order"
        return form.words(said) + _citations(guarantee.claim.sources, form) + "."
    sources = sources_of(guarantee)
    curve = sources[: len(guarantee.claim.sources)]
    exact = guarantee.claim.kind is Kind.EXACT
    kind = "the exact Rényi curve" if exact else "an upper bound on the Rényi curve"
    start = form.words(f"The privacy loss was accounted by {kind}") + _citations(curve, form)
    if guarantee.alpha == INFINITY:
        beyond = " at order $∞$, where it bounds pure differential privacy."
        return start + form.words(Marked(beyond))
    best = " (the best of the orders allowed)" if guarantee.optimal else ""
    order = form.words(Marked(f" at order $α = {found_order(guarantee.alpha)}$"))
    order += form.words(f"{best}, and by the {guarantee.conversion} conversion")
    return start + order + _citations(sources[len(curve) :], form) + "."


def _citations(sources: tuple[Source, ...], form: Form) -> str:
    found = places(source for source in sources if source.key != STATED)
    return "".join(" " + form.cited(key, "; ".join(known)) for key, known in found.items())


def _reservations(guarantee: Guarantee, m: Node, form: Form) -> Iterator[str]:
    """What a reader has to know that is not a theorem."""
    if not guarantee.claim.certified:
        yield form.words(
            "The curve of a mechanism was computed by a function of the authors' own and taken on "
            "trust: this number is not certified."
        )
    else:
        yield form.words("The number is certified by interval arithmetic.")
    if any(isinstance(node, Curve) for node in m.walk()):
        yield form.words("That the stated curve holds for the mechanism is the authors' claim.")
    assumed = "; ".join(premises(m, guarantee.claim.adjacency))
    yield form.words(f"What is assumed: {assumed}.")
    stated = dict.fromkeys(map(catalogue.assumed, guarantee.claim.theorems))
    held = "; ".join(map(form.words, filter(None, stated)))
    if held:
        asked = form.words("What the theorems ask of such a mechanism was checked: ")
        yield f"{asked}{held}."


def _computed(m: Node, form: Form) -> str:
    """The programs and the expression, so that the number can be had again."""
    programs = (
        f"symacct {__version__}, python-flint {version('python-flint')} "
        f"(FLINT {flint.__FLINT_VERSION__}), SymPy {version('sympy')}, "
        f"mpmath {version('mpmath')}, Python {platform.python_version()}"
    )
    return form.words(f"Computed with {programs}; ") + _identity(m, form)


def _identity(m: Node, form: Form) -> str:
    try:
        digest = fingerprint(m)
    except DomainError:
        return form.words("the expression contains a Python function and has no hash.")
    return form.words("the expression's SHA-256 begins with ") + form.code(digest[:_HASH]) + "."
