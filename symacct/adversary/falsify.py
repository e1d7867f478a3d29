"""The adversary: candidates climb in float64, become small fractions, are decided in balls."""

from __future__ import annotations

import numpy as np

from symacct.adversary.candidates.outcome import Attack, Trial
from symacct.adversary.search import Search, tasks
from symacct.adversary.statements import statements
from symacct.kernel import limits
from symacct.kernel.claims import INTEGER_ORDERS, Kind, Orders
from symacct.kernel.claims import orders as named_orders
from symacct.kernel.conversion import Conversion
from symacct.kernel.deadline import progress
from symacct.kernel.parameters import whole
from symacct.kernel.theorem_registry import Bound, Theorem


@progress("falsify")
def falsify(
    theorem: Theorem | Conversion | Bound | str,
    budget: int = 20_000,
    seed: int = 0,
    about: str | None = None,
    kind: Kind | str = "upper",
    orders: Orders | str = INTEGER_ORDERS,
) -> Attack:
    """Search `budget` small finite mechanisms for one that violates a statement.

    `theorem` is a name ("ZW19-T5", "improved", or a wrong claim such as "T8-SHIFTED"), a Theorem, a
    Conversion, or a function `bound(ctx, eps, alpha, ...)` about the operation `about`. For a
    function, `kind` says whether it claims to be "upper" or "lower", and `orders` are the orders of
    its claim. `budget` is how many mechanisms are tried. `seed` is the number that the
    search is drawn by: the same one repeats the same search. Raises DomainError for anything else.

    >>> falsify("T8-WITHOUT-REPLACEMENT", budget=2000).refuted
    True
    """
    orders = named_orders(orders)
    budget = whole(budget, "falsify, budget", least=1)
    limits.check("points", budget, "falsify, budget")
    seed = whole(seed, "falsify, seed")
    name, stated, parts = statements(theorem, about, kind, orders)
    every = [task for part in parts for task in tasks(*part)]
    search = Search(every, budget, np.random.default_rng(seed))
    search.run()
    return Attack(
        theorem=name,
        kind=stated.kind,
        statement=" ".join(stated.statement.split()),
        budget=budget,
        seed=seed,
        candidates=sum(search.tried.values()),
        schemes=tuple(search.tried.items()),
        witness=search.witness,
        closest=search.closest,
        tie=search.tie,
        nearest=tuple(search.nearest[alpha] for alpha in sorted(search.nearest)),
        sides=tuple(sorted(search.sides, key=str)),
    )


__all__ = ["Attack", "Trial", "falsify"]
