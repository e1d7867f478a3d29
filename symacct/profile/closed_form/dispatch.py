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
from symacct.profile.roots import Value
from symacct.profile.runs import Runs

_RUNS_OF_RANGE = 100


def closed_form(runs: Runs, reverse: bool) -> Value | None:
    """D(y) as a function of y at flint's current precision; None where only a contour gives it."""
    return next((form for ask in _FORMS if (form := ask(runs, reverse)) is not None), None)


def _no_run(runs: Runs, reverse: bool) -> Value | None:
    return None if runs else lambda y: arb(0)


def _one_run(runs: Runs, reverse: bool) -> Value | None:
    """The hockey-stick divergence of its pair."""
    is_one = len(runs) == 1 and runs[0][1] == 1
    return partial(runs[0][0].hockey_stick, reverse=reverse) if is_one else None


def _bounded_range(runs: Runs, reverse: bool) -> Value | None:
    """Of few runs, for the digits that their sum loses; alike both ways."""
    (part, count), *more = runs
    if isinstance(part, BoundedRange) and not more and count <= _RUNS_OF_RANGE:
        return partial(several_runs, part.pure, count)
    return None


# Each says whether it can, by its answer; the one with the most digits for its time comes first.
_FORMS: tuple[Callable[[Runs, bool], Value | None], ...] = (
    _no_run,
    _one_run,
    unsampled_form,
    _bounded_range,
    finite_form,
    lattice_form,
    discrete_gaussian_form,
    laplace_form,
    integer_form,
)
