"""Profiles that need no contour: of no run, of one, and those that a sum or a lattice gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import arb

from symacct.kernel.claims import Proof
from symacct.profile.closed_form.finite import finite_form
from symacct.profile.closed_form.one_lattice import lattice_form
from symacct.profile.closed_form.unsampled import unsampled_form
from symacct.profile.part import Runs
from symacct.profile.proofs import AT_0, FINITE, LAPLACE, LATTICE
from symacct.profile.roots import Value


def closed_form(runs: Runs, reverse: bool) -> Value | None:
    """D(y) as a function of y at flint's current precision; None where only a contour gives it."""
    found = proved_form(runs, reverse)
    return None if found is None else found[0]


def proved_form(runs: Runs, reverse: bool) -> tuple[Value, Proof] | None:
    """`closed_form`, and where it is proved."""
    if not runs:
        return lambda y: arb(0), AT_0
    if len(runs) == 1 and runs[0][1] == 1:
        part = runs[0][0]
        return partial(part.hockey_stick, reverse=reverse), part.proof
    for ask, proof in _FORMS:
        if (form := ask(runs, reverse)) is not None:
            return form, proof
    kinds = {type(part) for part, _ in runs}
    return kinds.pop().form_of_runs(runs, reverse) if len(kinds) == 1 else None


#: Of losses of several classes; the one with the most digits for its time comes first.
_FORMS: tuple[tuple[Callable[[Runs, bool], Value | None], Proof], ...] = (
    (unsampled_form, LAPLACE),
    (finite_form, FINITE),
    (lattice_form, LATTICE),
)
