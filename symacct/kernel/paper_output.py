"""What a node writes for a paper: formulas, code, explanations and statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from symacct.kernel import upward
from symacct.kernel.arguments import By
from symacct.kernel.errors import DomainError
from symacct.kernel.exact import Numeric, sympy

if TYPE_CHECKING:
    from symacct.kernel.node import Node


class PaperOutput:
    """What is written of a node, in other languages than its own."""

    def formula(self, alpha: Numeric | None = None, by: By = None) -> sympy.Expr:
        """The formula of ε(α) as a SymPy expression.

        Without an order the formula is in `symacct.symbols.alpha`.
        """
        return upward.formula.formula(cast("Node", self), alpha, by)

    def latex(
        self,
        alpha: Numeric | None = None,
        names: Mapping[str | sympy.Symbol, str] | None = None,
        by: By = None,
    ) -> str:
        r"""The formula of ε(α) as a LaTeX display for amsmath; `names` maps symbols to LaTeX."""
        return upward.display.latex(cast("Node", self), alpha, names, by)

    def _repr_latex_(self) -> str | None:
        return upward.display.inline(cast("Node", self))

    def _repr_html_(self) -> str:
        return upward.cards.node_card(cast("Node", self))

    def paper(
        self,
        alphas: Iterable[Numeric] | None = None,
        delta: Numeric | None = None,
        names: Mapping[str | sympy.Symbol, str] | None = None,
        values: Mapping[str | sympy.Symbol, Numeric] | None = None,
        by: By = None,
        digits: int = 6,
    ) -> str:
        """A LaTeX document: definition, formula, assumptions, values, bibliography.

        With `delta` it begins with the ε to report and its formula. Its table of ε(α) is of the
        orders `alphas`; if they are left out, of 2, 4 and 8, or there is none with `delta`.
        """
        return upward.document.paper(cast("Node", self), alphas, delta, names, values, by, digits)

    def code(
        self,
        target: str,
        by: By = None,
        *,
        max_order: int | None = None,
        accuracy: Numeric = "1e-11",
        points: int = 100,
        at: Mapping[str | sympy.Symbol, Iterable[Numeric]] | None = None,
    ) -> str:
        """The text of a function of α, in another language, that computes ε(α) in nats.

        `target` is "numpy", "mpmath", "python" (standard library only) or "c" (C99, <math.h>). The
        function needs no other file of ours. Its error is measured against certified values, and
        its header says where and how large it was; a measured error is no bound.
        `max_order` is the largest finite order that the function answers. `accuracy` is the largest
        relative error allowed. `points` is the number of orders at which the error is measured.
        `at` gives ranges to open symbols, such as {"sigma": [1, 5]}; outside of them the function
        gives no answer. Raises DomainError
        for a curve that cannot be written, and PrecisionError if the error is larger than allowed.

        >>> from symacct import Gaussian
        >>> "double rdp(double alpha)" in Gaussian(5).code("c")
        True
        """
        how: Any = {"max_order": max_order, "accuracy": accuracy, "points": points, "at": at}
        return upward.codegen.code(cast("Node", self), target, by, **how)

    def explain(
        self,
        alpha: Numeric | None = None,
        *,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
    ) -> upward.explanation.Explanation:
        """The tree of what was done, with theorem, source, assumptions and kind of each part.

        It explains ε(α) at the order `alpha`, or the number to report at `delta` or `epsilon`,
        which may come from the exact privacy profile. Raises DomainError for several of them.
        """
        m = cast("Node", self)
        if delta is None and epsilon is None:
            return upward.explanation.explain(m, alpha)
        if alpha is not None:
            raise DomainError("explain: found alpha with delta or epsilon, needed one of them")
        return upward.report.report(m, delta, epsilon).explain()

    def cite(self, alpha: Numeric | None = None, by: By = None) -> str:
        """BibTeX entries of exactly the works behind ε(α); the field `note` names the theorems."""
        return upward.citation.cite(cast("Node", self), alpha, by)

    def statement(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        form: str = "text",
        digits: int = 6,
        conversion: str = "best",
        adjacency: str | None = None,
    ) -> str:
        """A paragraph on the best proved ε for `delta`, or the best proved δ for `epsilon`.

        `form` is "text", "markdown", "latex" or "short", one sentence. `adjacency`, "add_remove"
        or "replace_one", says for which neighbours the mechanism's parameters were stated, if the
        expression leaves that open; AdjacencyError if it does not hold for those. The number
        is that of `Node.epsilon` or `Node.delta` by the `conversion`.
        """
        m = cast("Node", self)
        ask = upward.accountant.asked_of
        g = ask(m, delta, epsilon, digits=digits, conversion=conversion)
        return (g if adjacency is None else g.under(adjacency)).statement(form, digits)

    def expansion(
        self,
        variable: str | sympy.Symbol = "gamma",
        at: Numeric | None = None,
        order: int = 3,
        alpha: Numeric | None = None,
        by: By = None,
        within: Numeric | None = None,
    ) -> upward.expansion.Expansion:
        """The power series of ε(α) in a parameter near a point, with a remainder if one is proved.

        `at` is the point of the expansion, by default inf for sigma and b, 1 for alpha, and 0 for
        others. `order` is the power in the last term O(·). `alpha` is the Rényi order, by default
        the symbol alpha. `within` is the distance from the point up to which a remainder is proved.
        See `symacct.export.expansions.expansion`.

        >>> from symacct import Gaussian, PoissonSubsample
        >>> print(PoissonSubsample(Gaussian(5), "1/1000").expansion("gamma", alpha=8).leading)
        4*gamma**2*(-1 + exp(1/25))
        """
        m = cast("Node", self)
        return upward.expansion.expansion(m, variable, at, order, alpha, by, within)

    def optimum(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        conversion: str = "classic",
    ) -> upward.optimum.Optimum:
        """The best order and its (ε, δ) as formulas, if the curve is a line ξ + ρα.

        `delta` is the δ at which ε is asked for, by default the symbol delta. `epsilon` is the ε at
        which δ is asked for.
        """
        return upward.optimum.optimum(cast("Node", self), delta, epsilon, conversion)

    def graph(self) -> upward.graph.Graph:
        """The graph of the expression, which prints as a tree.

        `.mermaid` and `.dot` are texts for Mermaid and Graphviz, and `.svg()` is a picture.
        """
        return upward.graph.Graph(cast("Node", self))
