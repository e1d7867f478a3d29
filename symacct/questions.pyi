"""The questions that the package attaches to classes of the kernel, for checkers and editors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symacct.baselines.ways import OfferedBound
from symacct.export.expansions import Expansion, Optimum
from symacct.export.explanation import Explanation
from symacct.export.graph import Graph
from symacct.kernel.answer import Bound, ErrorBound
from symacct.kernel.exact import Numeric
from symacct.kernel.parameters import By
from symacct.papers.report import PrivacyReport

class NodeQuestions:
    def _ways(self, has_profile: bool = False) -> list[OfferedBound]: ...
    def cite(self, alpha: Numeric | None = None, by: By = None) -> str: ...
    def code(
        self,
        target: str,
        by: By = None,
        *,
        max_order: int | None = None,
        accuracy: Numeric = "1e-11",
        points: int = 100,
        at: Mapping[str | sympy.Symbol, Iterable[Numeric]] | None = None,
    ) -> str: ...
    def expansion(
        self,
        variable: str | sympy.Symbol = "gamma",
        at: Numeric | None = None,
        order: int = 3,
        alpha: Numeric | None = None,
        by: By = None,
        within: Numeric | None = None,
    ) -> Expansion: ...
    def explain(
        self,
        alpha: Numeric | None = None,
        *,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
    ) -> Explanation: ...
    def formula(self, alpha: Numeric | None = None, by: By = None) -> sympy.Expr: ...
    def gdp(self, digits: int | None = None, least_error: Numeric = 0) -> Bound: ...
    def graph(self) -> Graph: ...
    def latex(
        self,
        alpha: Numeric | None = None,
        names: Mapping[str | sympy.Symbol, str] | None = None,
        by: By = None,
    ) -> str: ...
    def optimum(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        conversion: str = "classic",
    ) -> Optimum: ...
    def paper(
        self,
        alphas: Iterable[Numeric] | None = None,
        delta: Numeric | None = None,
        names: Mapping[str | sympy.Symbol, str] | None = None,
        values: Mapping[str | sympy.Symbol, Numeric] | None = None,
        by: By = None,
        digits: int = 6,
    ) -> str: ...
    def plot(
        self,
        orders: Iterable[Numeric] | None = None,
        by: Sequence[str] = (),
        axes: Axes | None = None,
        *,
        pinned: By = None,
    ) -> Figure: ...
    def plot_profile(
        self, epsilons: Iterable[Numeric] | None = None, axes: Axes | None = None
    ) -> Figure: ...
    def plot_runs(
        self, delta: Numeric, counts: Iterable[int] | None = None, axes: Axes | None = None
    ) -> Figure: ...
    def report(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        digits: int = 6,
        adjacency: str | None = None,
    ) -> PrivacyReport: ...
    def statement(
        self,
        delta: Numeric | None = None,
        epsilon: Numeric | None = None,
        form: str = "text",
        digits: int = 6,
        conversion: str = "best",
        adjacency: str | None = None,
    ) -> str: ...
    def tcdp(self, omega: Numeric, digits: int = 10) -> Bound: ...
    def to_json(self) -> str: ...
    def tradeoff(self, alpha: Numeric, digits: int = 30) -> ErrorBound: ...
    def zcdp(self, digits: int = 10) -> Bound: ...

class GuaranteeQuestions:
    def certificate(self) -> dict[str, Any]: ...
    def cite(self) -> str: ...
    def latex(self) -> str: ...
    def statement(self, form: str = "text", digits: int = 6, preface: str = "") -> str: ...
