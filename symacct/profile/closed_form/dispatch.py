"""Profiles that need no contour: of no run, of one, and those that a sum or a lattice gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import arb

from symacct.kernel.claims import Proof
from symacct.profile.closed_form.discrete_gaussian import discrete_gaussian_form
from symacct.profile.closed_form.few_laplace import laplace_form
from symacct.profile.closed_form.finite import finite_form
from symacct.profile.closed_form.integers import integer_form
from symacct.profile.closed_form.one_lattice import lattice_form
from symacct.profile.closed_form.unsampled import unsampled_form
from symacct.profile.losses.density.bounded_range import BoundedRange, several_runs
from symacct.profile.losses.density.densities import DensityLoss
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.proofs import (
    AT_0,
    BOUNDED_RANGE,
    DENSITIES,
    FINITE,
    GAUSSIAN,
    INTEGERS,
    LAPLACE,
    LATTICE,
    ONE_INTEGER,
    ONE_RUN,
)
from symacct.profile.roots import Value
from symacct.profile.runs import Runs

_RUNS_OF_RANGE = 100


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
        named = (source for kinds, source in _ONE_RUN if isinstance(part, kinds))
        return partial(part.hockey_stick, reverse=reverse), next(named, ONE_RUN)
    asked = (row for row in _FORMS if all(isinstance(part, row[0]) for part, _ in runs))
    return next(
        ((form, source) for _, ask, source in asked if (form := ask(runs, reverse)) is not None),
        None,
    )


def _bounded_range(runs: Runs, reverse: bool) -> Value | None:
    """Of few runs, for the digits that their sum loses; alike both ways."""
    (part, count), *more = runs
    if isinstance(part, BoundedRange) and not more and count <= _RUNS_OF_RANGE:
        return partial(several_runs, part.pure, count)
    return None


# By the kinds of all parts; the one with the most digits for its time comes first.
_FORMS: tuple[tuple[tuple[type, ...], Callable[[Runs, bool], Value | None], Proof], ...] = (
    ((LaplaceLoss, GaussianLoss), unsampled_form, LAPLACE),
    ((BoundedRange,), _bounded_range, BOUNDED_RANGE),
    ((Atoms,), finite_form, FINITE),
    ((Atoms, IntegerLoss), lattice_form, LATTICE),
    ((IntegerLoss,), discrete_gaussian_form, LATTICE),
    ((LaplaceLoss,), laplace_form, LAPLACE),
    ((IntegerLoss,), integer_form, INTEGERS),
)
#: Where the profile of one run is proved.
_ONE_RUN: tuple[tuple[type, Proof], ...] = (
    (GaussianLoss, GAUSSIAN),
    (BoundedRange, BOUNDED_RANGE),
    (LaplaceLoss, LAPLACE),
    (DensityLoss, DENSITIES),
    (Atoms, FINITE),
    (IntegerLoss, ONE_INTEGER),
)
