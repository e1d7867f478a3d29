"""What theorems about samples share: the scheme that they are about, and its neighbours."""

from __future__ import annotations

from functools import partial

from symacct.kernel.claims import ADD_REMOVE, EITHER, REPLACE_ONE
from symacct.kernel.theorem_registry import theorem
from symacct.operations.subsample import (
    SAMPLINGS,
    PoissonSubsample,
    SubsampleWithoutReplacement,
)

#: The decorator of what is proved of a record added to a sample of either scheme, or removed. As in
#: the others below, the bound never falls where the mechanism's curve rises, unless it says so.
of_a_record = partial(
    theorem, operation=SAMPLINGS, adjacency=ADD_REMOVE, monotone=True, status="proved"
)

#: The decorator of what is proved of a record replaced in samples of a fixed size.
of_fixed_samples = partial(
    theorem,
    operation=SubsampleWithoutReplacement,
    adjacency=REPLACE_ONE,
    monotone=True,
    status="proved",
)

#: The decorator of what is proved of a record replaced in Poisson samples.
of_poisson_replaced = partial(
    theorem, operation=PoissonSubsample, adjacency=REPLACE_ONE, monotone=True, status="proved"
)

#: The decorator of what is proved of samples of either scheme, whatever the neighbours.
of_samples = partial(theorem, operation=SAMPLINGS, adjacency=EITHER, monotone=True, status="proved")
