"""Opacus's histories, lists of (noise multiplier, sample rate, steps), to nodes and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from symacct.interop import floats
from symacct.interop.dp_events import NO_PRIVACY
from symacct.interop.floats import scalar
from symacct.kernel import parameters
from symacct.kernel.errors import DomainError, echo
from symacct.kernel.exact import Exact, Numeric
from symacct.kernel.node import Node, as_node
from symacct.kernel.operation import terms_of
from symacct.mechanisms import Gaussian
from symacct.operations import Compose, PoissonSubsample

#: What an error says that a history has.
_ROW = "a row of the history is (noise multiplier, sampling rate, steps)"


def from_opacus_history(history: Iterable[Sequence[Numeric]] | Mapping[str, Any]) -> Node:
    """Read a history as Poisson-sampled Gaussian noise under add/remove, as Opacus does.

    `history` is an accountant's `history`, or its state_dict(): (σ, q, steps), where no noise is
    no privacy. Floats keep their exact binary value. Raises DomainError.

    >>> from_opacus_history([(1.5, 0.25, 100), (2.0, 0.25, 50)])
    100*PoissonSubsample(Gaussian('3/2'), '1/4') + 50*PoissonSubsample(Gaussian(2), '1/4')
    """
    if isinstance(history, Mapping):
        if "history" not in history:
            raise DomainError(f"state_dict: found {echo(list(history))}, needed the key 'history'")
        history = history["history"]
    rows = parameters.members(history, "history", "[(1.5, 0.25, 100)]: (sigma, q, steps)")
    return Compose(*map(_step, rows))


def _step(row: object) -> Node:
    """Read a row of a history as runs of a sample; DomainError for what is none."""
    if not isinstance(row, list | tuple) or len(row) != 3:
        raise DomainError(f"history: found {echo(row)}", remedy=_ROW)
    sigma, rate, steps = map(scalar, row)
    try:
        noise = NO_PRIVACY if sigma == 0 else Gaussian(sigma)
        return Compose({PoissonSubsample(noise, rate): steps})
    except DomainError as error:
        raise DomainError(f"history: {error}", remedy=_ROW) from None


def register_with_opacus() -> None:
    """Make "symacct" and "symacct-exact" names that Opacus's PrivacyEngine knows.

    `PrivacyEngine(accountant="symacct")` and `get_noise_multiplier(..., accountant="symacct")` then
    answer by every real Rényi order, "symacct-exact" by the exact profile, both rounded up. Raises
    MissingPackageError where Opacus is not installed.
    """
    what, remedy = "register_with_opacus", "pip install opacus"
    register = parameters.package("opacus.accountants", what, remedy).register_accountant
    ours = parameters.package("symacct.interop.opacus_accountant", what, remedy)
    for accountant in (ours.SymacctAccountant, ours.ExactAccountant):
        register(accountant.mechanism(), accountant, force=True)


def to_opacus_history(node: Node) -> list[tuple[float, float, int]]:
    """Write composed Gaussian noise as [(σ, q, steps)], rounded to the sound side.

    Raises DomainError for anything that a history cannot say.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> to_opacus_history(100 * PoissonSubsample(Gaussian(2), "1/4") + Gaussian(3))
    [(2.0, 0.25, 100), (3.0, 1.0, 1)]
    """
    node = as_node(node, "to_opacus_history")
    return [_row(part, count) for part, count in terms_of(node).items()]


def _row(part: Node, count: object) -> tuple[float, float, int]:
    """Write Gaussian noise as (σ/Δ rounded down, q rounded up, steps), q = 1 without a sample.

    DomainError for other parts, for Poisson samples of another relation than add/remove, and for
    what is no number.
    """
    what = "to_opacus_history"
    if not isinstance(count, int):
        raise DomainError(f"{what}: found the count {count}, needed a number")
    rate: Exact = Fraction(1)
    if isinstance(part, PoissonSubsample) and part._is_one_step():
        rate, part = part.gamma, part.mechanism
    if not isinstance(part, Gaussian):
        raise DomainError(
            f"{what}: found {echo(part)}, needed Gaussian(sigma), alone or under PoissonSubsample "
            "for add_remove neighbours"
        )
    noise = floats.noise_multiplier(part.sigma, part.sensitivity, what)
    return noise, floats.up(rate, what), count
