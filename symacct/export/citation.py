"""Citations: BibTeX of exactly the works that a claim rests on, with the place in each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from symacct.arithmetic import BALL
from symacct.arithmetic.ball import precision
from symacct.claims import Claim, Source
from symacct.conversion import named as named_conversion
from symacct.enclosure import Guarantee
from symacct.evaluation import Evaluation, goal_of
from symacct.exact import INFINITY, Numeric, order
from symacct.export.plain_tex import plain_tex
from symacct.expr import Node
from symacct.sources import WORKS

# Which theorem is best at an order shows at a modest precision.
_BITS = 128
#: The keys of what users state themselves: there is nothing to cite.
STATED = "user"


def cite(m: Node, alpha: Numeric | None = None, by: str | None = None) -> str:
    """BibTeX of the works behind ε(α) of `m`: its theorems and the curves of its mechanisms.

    Without an order, at whole orders (2). `note` says where in each work. What a user states
    has no work to cite, and is named in a comment. Raises as `rdp` does.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print(cite(PoissonSubsample(Gaussian(5), "1/1000")).splitlines()[0])
    @inproceedings{ZW19,
    """
    return bibtex(claim_at(m, alpha, by).sources)


def cite_guarantee(guarantee: Guarantee) -> str:
    """BibTeX of the works behind an (ε, δ) guarantee, the conversion's among them."""
    return bibtex(sources_of(guarantee))


def claim_at(m: Node, alpha: Numeric | None = None, by: str | None = None) -> Claim:
    """What is claimed of ε(α), which names the theorems and curves that gave it."""
    at = 2 if alpha is None else order(alpha)
    with precision(_BITS):
        curve = Evaluation(BALL, goal_of(m, by), by).curve(m)
        curve(at)
        return curve.claim(at)


def sources_of(guarantee: Guarantee) -> tuple[Source, ...]:
    """The sources of the curve, then that of the conversion; pure DP needs no conversion."""
    curve = guarantee.claim.sources
    if guarantee.alpha == INFINITY:
        return curve
    return (*curve, named_conversion(guarantee.conversion).source)


def bibtex(sources: Iterable[Source]) -> str:
    """One entry for each work, in the order of first use, its places joined in `note`."""
    return "\n".join(_entry(key, known) for key, known in places(sources).items())


def places(sources: Iterable[Source]) -> dict[str, list[str]]:
    """The keys of the works in the order of first use, each with the places named in it."""
    found: dict[str, list[str]] = {}
    for source in sources:
        for one in each_work(source):
            known = found.setdefault(one.key, [])
            if one.place and one.place not in known:
                known.append(one.place)
    return found


def each_work(source: Source) -> Iterator[Source]:
    """A source that names a place in a second work, "…; BBGHS20, Theorem 21", as two sources."""
    key = source.key
    found: list[str] = []
    for part in source.place.split("; "):
        head, comma, rest = part.partition(", ")
        if comma and head in WORKS:
            yield Source(key, "; ".join(found))
            key, found = head, [rest]
        else:
            found.append(part)
    yield Source(key, "; ".join(found))


def _entry(key: str, places: list[str]) -> str:
    work, note = WORKS.get(key), "; ".join(places)
    if work is not None:
        return work.entry.removesuffix("}\n") + _note(note) + "}\n"
    if key == STATED:
        # Text between entries is ignored, but for the sign that starts one.
        return f"% stated by the user, nothing to cite: {note or 'a curve'}\n".replace("@", "at")
    # A source of the user's own theorem is not in the bibliography: its key and place are known.
    name = re.sub(r"[^\w.:-]", "-", key)
    return f"@misc{{{name},\n  title = {{{{{plain_tex(key)}}}}},\n{_note(note)}}}\n"


def _note(places: str) -> str:
    return f"  note = {{{plain_tex(places)}}},\n" if places else ""
