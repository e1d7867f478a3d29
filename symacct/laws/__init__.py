"""The laws of the common families: `DistributionPair(laws.Poisson(3), laws.Poisson(2))`.

>>> from symacct import DistributionPair, laws
>>> print(DistributionPair(laws.Poisson(3), laws.Poisson(2)).rdp(2, digits=5))
0.50000
"""

from __future__ import annotations

from typing import NoReturn

from symacct.laws.density import Density
from symacct.laws.families import (
    Bernoulli,
    Beta,
    Binomial,
    Chi,
    Exponential,
    Gamma,
    Geometric,
    Laplace,
    Pareto,
    Poisson,
    Rayleigh,
    TruncatedNegativeBinomial,
    Uniform,
    Weibull,
)
from symacct.laws.law import OTHER_LAWS, Law
from symacct.laws.normal import HalfNormal, LogNormal, MultivariateNormal, Normal, NormalMixture

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Chi",
    "Density",
    "Exponential",
    "Gamma",
    "Geometric",
    "HalfNormal",
    "Laplace",
    "Law",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "NormalMixture",
    "Pareto",
    "Poisson",
    "Rayleigh",
    "TruncatedNegativeBinomial",
    "Uniform",
    "Weibull",
]


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"laws: found the name {name!r}, needed {OTHER_LAWS}")
