"""Profiles that need no contour: of no run, of one, and those that a sum or a lattice gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import arb

from symacct.profile.closed_form.discrete_gaussian import discrete_gaussian_form
from symacct.profile.closed_form.few_laplace import laplace_form
from symacct.profile.closed_form.finite import finite_form
from symacct.profile.closed_form.integers import integer_form
from symacct.profile.closed_form.one_lattice import lattice_form
from symacct.profile.closed_form.unsampled import unsampled_form
from symacct.profile.losses.density.bounded_range import BoundedRange, several_runs
from symacct.profile.losses.finite import Atoms
from symacct.profile.losses.gaussian import GaussianLoss
from symacct.profile.losses.integer_noise import IntegerLoss
from symacct.profile.losses.laplace import LaplaceLoss
from symacct.profile.roots import Value
from symacct.profile.runs import Runs

_RUNS_OF_RANGE = 100


def closed_form(runs: Runs, reverse: bool) -> Value | None:
    """D(y) as a function of y at flint's current precision; None where only a contour gives it."""
    if not runs:
        return lambda y: arb(0)
    if len(runs) == 1 and runs[0][1] == 1:
        return partial(runs[0][0].hockey_stick, reverse=reverse)
    asked = (ask for kinds, ask in _FORMS if all(isinstance(part, kinds) for part, _ in runs))
    return next((form for ask in asked if (form := ask(runs, reverse)) is not None), None)


def _bounded_range(runs: Runs, reverse: bool) -> Value | None:
    """Of few runs, for the digits that their sum loses; alike both ways."""
    (part, count), *more = runs
    if isinstance(part, BoundedRange) and not more and count <= _RUNS_OF_RANGE:
        return partial(several_runs, part.pure, count)
    return None


# By the kinds of all parts; the one with the most digits for its time comes first.
_FORMS: tuple[tuple[tuple[type, ...], Callable[[Runs, bool], Value | None]], ...] = (
    ((LaplaceLoss, GaussianLoss), unsampled_form),
    ((BoundedRange,), _bounded_range),
    ((Atoms,), finite_form),
    ((Atoms, IntegerLoss), lattice_form),
    ((IntegerLoss,), discrete_gaussian_form),
    ((LaplaceLoss,), laplace_form),
    ((IntegerLoss,), integer_form),
)
