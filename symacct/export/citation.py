"""Citations: BibTeX of exactly the works that a claim rests on, with the place in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from symacct.export.latex.sentences import cite_key, plain_tex
from symacct.kernel.answer import Guarantee
from symacct.kernel.arithmetic import BALL
from symacct.kernel.arithmetic.ball import precision
from symacct.kernel.attached import question
from symacct.kernel.claims import Claim, Source
from symacct.kernel.conversion import named as named_conversion
from symacct.kernel.errors import AssumptionError, OrderError, PrecisionError, SymacctError
from symacct.kernel.evaluation import Evaluation
from symacct.kernel.exact import INFINITY, Numeric, order
from symacct.kernel.node import Node
from symacct.kernel.parameters import By
from symacct.kernel.sources import SYMACCT, WORKS
from symacct.kernel.theorem_registry import goal_of
from symacct.results.screen import Written

#: Balls have this many bits, which show which theorem is best at an order.
_BITS = 128
#: A theorem may speak of orders of these kinds, each of which has one order here.
_OF_EACH_KIND = (2, Fraction(5, 2), Fraction(3, 2), 1, INFINITY)
#: Sources with this key are stated by a user: there is nothing to cite.
STATED = "user"
#: Our own proofs stand in this folder.
_OUR_PATH = "docs/proofs/"
#: The text of a source in our proofs begins like this.
_OUR_FILE = f"{SYMACCT.key}, {_OUR_PATH}"
#: This matches a first word in small letters, but no path and no formula.
_FIRST_WORD = re.compile(r"^[a-z]+(?![\w(/.])")
#: This matches lemmas of a chapter of our proofs.
_LEMMAS = re.compile(r"docs/proofs/(\w+\.md), ([a-z0-9-]+(?:(?:, [a-z0-9-]+)* and [a-z0-9-]+)?)")


@question(Node, "cite")
def cite(m: Node, alpha: Numeric | None = None, by: By = None) -> str:
    """Write BibTeX of the works behind ε(α) of `m`: its theorems and its mechanisms' curves.

    Without an order, it is of all that answer: at whole orders first, then between them, at 1 and
    at ∞. The field `note` says where in each work. What a user states has no work to cite, and is
    named in a comment. Raises as `rdp` does; without an order it raises the error at order 2, if
    there is an answer at none.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(cite(PoissonSubsample(Gaussian(5), "1/1000")).splitlines()[0])
    @inproceedings{ZW19,
    """
    if alpha is not None:
        return bibtex(claim_at(m, alpha, by).sources)
    claims: list[Claim] = []
    refused: list[SymacctError] = []
    for at in _OF_EACH_KIND:
        try:
            claims.append(claim_at(m, at, by))  # an error that is the same everywhere comes here
        except (OrderError, AssumptionError, PrecisionError) as error:
            refused.append(error)
    if not claims:
        raise refused[0]
    return bibtex(source for claim in claims for source in claim.sources)


def claim_at(m: Node, alpha: Numeric | None = None, by: By = None) -> Claim:
    """Return what is claimed of ε(α), by default at order 2, with its theorems and sources.

    Raises as `rdp` does.
    """
    at = 2 if alpha is None else order(alpha)
    with precision(_BITS):
        curve = Evaluation(BALL, goal_of(m, by), by).curve(m)
        curve(at)
        return curve.claim(at)


@question(Guarantee, "cite")
def cite_guarantee(guarantee: Guarantee) -> str:
    """Write BibTeX of the works behind this guarantee: theorems, curves and conversion."""
    return bibtex(sources_of(guarantee))


def sources_of(guarantee: Guarantee) -> tuple[Source, ...]:
    """List the sources of the curve, then that of the conversion.

    A guarantee of pure DP (α = ∞), or of a profile, needs no conversion.
    """
    curve = guarantee.claim.sources
    if guarantee.alpha == INFINITY or guarantee.needs_no_order:
        return curve
    return (*curve, named_conversion(guarantee.conversion).source)


def bibtex(sources: Iterable[Source]) -> str:
    """Write one entry for each work, in the order of first use, its places joined in `note`."""
    return Written("\n".join(_entry(key, known) for key, known in places(sources).items()))


def places(sources: Iterable[Source]) -> dict[str, list[str]]:
    """List the keys of the works in the order of first use, each with the places named in it."""
    by_key: dict[str, list[str]] = {}
    for source in sources:
        for work in each_work(source):
            known = by_key.setdefault(work.key, [])
            if work.place and work.place not in known:
                known.append(work.place)
    return by_key


def source_line(sources: Iterable[Source]) -> str:
    """Write the places in each work in a line, none twice; our path once for neighbours.

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
    """Split a source that names places in several works, "…; BBGHS20, Theorem 21", by work."""
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
    """Write the BibTeX entry of one work, with the places in it.

    What a user states is a comment, and a user's own source of another key an entry of its key.
    """
    work, note = WORKS.get(key), "; ".join(places)
    if key == SYMACCT.key:
        # The entry names the folder; later versions keep the names of lemmas.
        note = _LEMMAS.sub(lambda m: f"lemma{'s' * (' and ' in m[2])} {m[2]} ({m[1]})", note)
    if work is not None:
        return work.entry.removesuffix("}\n") + _note(note) + "}\n"
    if key == STATED:
        # Text between entries is ignored, but for the sign that starts one.
        return f"% stated by the user, nothing to cite: {note or 'a curve'}\n".replace("@", "at")
    # A source of the user's own theorem is not in the bibliography: its key and place are known.
    return f"@misc{{{cite_key(key)},\n  title = {{{{{plain_tex(key)}}}}},\n{_note(note)}}}\n"


def _note(places: str) -> str:
    """Write the field `note`, which begins with a capital letter; empty without places."""
    begun = _FIRST_WORD.sub(lambda word: word[0][0].upper() + word[0][1:], places)
    return f"  note = {{{plain_tex(begun)}}},\n" if places else ""
