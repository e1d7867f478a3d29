"""What the closed-form theorems about the sampled Gaussian mechanism share."""

from __future__ import annotations

from typing import Any

from symacct.kernel.exact import Exact
from symacct.kernel.node import Node
from symacct.mechanisms import Gaussian


def noise_ratio(mechanism: Any) -> Exact:
    """σ/Δ, the only thing that a bound on the Gaussian mechanism depends on."""
    ratio: Exact = mechanism.sigma / mechanism.sensitivity
    return ratio


def not_gaussian(node: Node) -> str | None:
    """The reason why the mechanism below is not the Gaussian one; None if it is."""
    mechanism = node.mechanism  # type: ignore[attr-defined]
    if isinstance(mechanism, Gaussian):
        return None
    return f"it is about the Gaussian mechanism, got {type(mechanism).__name__}"


def rate_and_noise(mechanism: Node, gamma: Exact) -> tuple[Exact, Exact]:
    """q and σ/Δ."""
    return gamma, noise_ratio(mechanism)
