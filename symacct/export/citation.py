"""Citations: BibTeX of exactly the works that a claim rests on, with the place in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from symacct.export.latex.sentences import cite_key, plain_tex
from symacct.kernel.answer import Guarantee
from symacct.kernel.arguments import By
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Source
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import AssumptionError, OrderError, PrecisionError, SymacctError
from symacct.kernel.evaluation import Evaluation, goal_of
from symacct.kernel.exact import INFINITY, Numeric, order
from symacct.kernel.node import Node
from symacct.kernel.sources import SYMACCT, WORKS
from symacct.results.written import Written

# Which theorem is best at an order shows at a modest precision.
_BITS = 128
#: An order of each kind that a theorem may speak of.
_OF_EACH_KIND = (2, Fraction(5, 2), Fraction(3, 2), 1, INFINITY)
#: The keys of what users state themselves: there is nothing to cite.
STATED = "user"
_OUR_PATH = "docs/proofs/"
_OUR_FILE = f"{SYMACCT.key}, {_OUR_PATH}"
_FIRST_WORD = re.compile(r"^[a-z]+(?![\w(/.])")  # of words, and no path or formula
_LEMMAS = re.compile(r"docs/proofs/(\w+\.md), ([a-z0-9-]+(?:(?:, [a-z0-9-]+)* and [a-z0-9-]+)?)")


@question(Node, "cite")
def cite(m: Node, alpha: Numeric | None = None, by: By = None) -> str:
    """BibTeX of the works behind ε(α) of `m`: its theorems and the curves of its mechanisms.

    Without an order, of all that answer: at whole orders first, then between them, at 1 and ∞.
    `note` says where in each work. What a user states has no work to cite, and is named in a
    comment. Raises as `rdp` does.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(cite(PoissonSubsample(Gaussian(5), "1/1000")).splitlines()[0])
    @inproceedings{ZW19,
    """
    if alpha is not None:
        return bibtex(claim_at(m, alpha, by).sources)
    return bibtex(source for claim in _claims(m, by) for source in claim.sources)


def _claims(m: Node, by: By) -> list[Claim]:
    """What is claimed at an order of each kind, where there is an answer."""
    claims: list[Claim] = []
    refused: list[SymacctError] = []
    for alpha in _OF_EACH_KIND:
        try:
            claims.append(claim_at(m, alpha, by))
        except (OrderError, AssumptionError, PrecisionError) as error:
            refused.append(error)
    if not claims:
        raise refused[0]
    return claims


def claim_at(m: Node, alpha: Numeric | None = None, by: By = None) -> Claim:
    """What is claimed of ε(α), which names the theorems and curves that gave it."""
    at = 2 if alpha is None else order(alpha)
    with precision(_BITS):
        curve = Evaluation(BALL, goal_of(m, by), by).curve(m)
        curve(at)
        return curve.claim(at)


@question(Guarantee, "cite")
def cite_guarantee(guarantee: Guarantee) -> str:
    """BibTeX of the works behind this guarantee: theorems, curves and conversion."""
    return bibtex(sources_of(guarantee))


def sources_of(guarantee: Guarantee) -> tuple[Source, ...]:
    """The sources of the curve, then that of the conversion; pure DP and a profile need none."""
    curve = guarantee.claim.sources
    if guarantee.alpha == INFINITY or guarantee.needs_no_order:
        return curve
    return (*curve, named_conversion(guarantee.conversion).source)


def bibtex(sources: Iterable[Source]) -> str:
    """One entry for each work, in the order of first use, its places joined in `note`."""
    return Written("\n".join(_entry(key, known) for key, known in places(sources).items()))


def places(sources: Iterable[Source]) -> dict[str, list[str]]:
    """The keys of the works in the order of first use, each with the places named in it."""
    by_key: dict[str, list[str]] = {}
    for source in sources:
        for work in each_work(source):
            known = by_key.setdefault(work.key, [])
            if work.place and work.place not in known:
                known.append(work.place)
    return by_key


def source_line(sources: Iterable[Source]) -> str:
    """The places in each work in a line, none twice; beside each other one path of our proofs.

    >>> lemmas = ("mechanisms.md, skellam", "selection.md, k-best", "mechanisms.md, skellam")
    >>> source_line(SYMACCT.at(f"docs/proofs/{lemma}") for lemma in lemmas)
    'SYMACCT, docs/proofs/mechanisms.md, skellam; selection.md, k-best'
    """
    parts: list[str] = []
    for part in dict.fromkeys("; ".join(map(str, sources)).split("; ")):
        is_beside = parts and parts[-1].startswith(_OUR_FILE) and part.startswith(_OUR_FILE)
        if is_beside:
            parts[-1] += f"; {part.removeprefix(_OUR_FILE)}"
        else:
            parts.append(part)
    return "; ".join(parts)


def each_work(source: Source) -> Iterator[Source]:
    """A source that names a place in a second work, "…; BBGHS20, Theorem 21", as two sources."""
    key = source.key
    pieces: list[str] = []
    for part in source.place.split("; "):
        head, comma, rest = part.partition(", ")
        if comma and head in WORKS:
            yield Source(key, "; ".join(pieces))
            key, pieces = head, [rest]
        else:
            pieces.append(part)
    yield Source(key, "; ".join(pieces))


def _entry(key: str, places: list[str]) -> str:
    """The BibTeX entry of one work, with the places in it; a comment for what a user states."""
    work, note = WORKS.get(key), "; ".join(places)
    if key == SYMACCT.key:
        note = _LEMMAS.sub(_entitled, note)  # the entry names the folder
    if work is not None:
        return work.entry.removesuffix("}\n") + _note(note) + "}\n"
    if key == STATED:
        # Text between entries is ignored, but for the sign that starts one.
        return f"% stated by the user, nothing to cite: {note or 'a curve'}\n".replace("@", "at")
    # A source of the user's own theorem is not in the bibliography: its key and place are known.
    return f"@misc{{{cite_key(key)},\n  title = {{{{{plain_tex(key)}}}}},\n{_note(note)}}}\n"


def _entitled(match: re.Match[str]) -> str:
    """Lemmas of docs/proofs/, by the names that they keep in later versions, and their chapter."""
    word = "lemmas" if " and " in match[2] else "lemma"
    return f"{word} {match[2]} ({match[1]})"


def _note(places: str) -> str:
    """The field `note`, which begins as a sentence does."""
    begun = _FIRST_WORD.sub(lambda word: word[0][0].upper() + word[0][1:], places)
    return f"  note = {{{plain_tex(begun)}}},\n" if places else ""
