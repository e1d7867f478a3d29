"""The theorem table: every numbered result of the papers that says something computable."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symacct import theory
from symacct.conversion import named as named_conversion
from symacct.sources import (
    ALCKS21,
    BLOG,
    BW18,
    CKS20,
    DRV10,
    KOV15,
    MIR17,
    MTZ19,
    WBK19,
    ZW19,
    Work,
)

_START, _END = "<!-- table -->", "<!-- end of table -->"


@dataclass(frozen=True)
class Row:
    """One result: what it says, under what, and what to call or why there is nothing to call.

    `call` is a theorem for by= ("ZW19-T8"), a conversion ("conversion:classic") or a dotted name
    ("symacct.baselines.naive"); `why` is given where there is none.
    """

    source: str
    says: str
    assumes: str
    adjacency: str
    orders: str
    kind: str
    status: str
    call: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        return asdict(self)


def rows() -> list[Row]:
    """The whole table: the papers' results in their order, then what else is registered."""
    listed = [_row(*entry) for entry in _RESULTS]
    named = {row.call for row in listed}
    rest = [t for t in theory.theorems() if t.name not in named]
    return [*listed, *(_of_theorem(t, "") for t in rest)]


def _row(
    work: Work,
    place: str,
    says: str,
    call: str = "",
    why: str = "",
    assumes: str = "",
    adjacency: str = "any",
    orders: str = "",
    kind: str = "",
    status: str = "proved",
) -> Row:
    source = f"{work.key}, {place}"
    if _is_theorem(call):
        return _of_theorem(theory.named(call), source)
    blank = "–"
    return Row(
        source, says, assumes or blank, adjacency, orders or blank, kind or blank, status, call, why
    )


def _of_theorem(theorem: theory.Theorem, source: str) -> Row:
    return Row(
        source or str(theorem.source),
        " ".join(theorem.statement.split()),
        theorem.assumes,
        str(theorem.adjacency),
        str(theorem.orders),
        str(theorem.kind),
        theorem.status,
        theorem.name,
        "",
    )


def _is_theorem(call: str) -> bool:
    return bool(call) and ":" not in call and "." not in call


def resolve(call: str) -> Any:
    """The object that a row names: a Theorem, a Conversion, a function or a class."""
    if call.startswith("conversion:"):
        return named_conversion(call.partition(":")[2])
    if _is_theorem(call):
        return theory.named(call)
    parts = call.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for name in parts[split:]:
            found = getattr(found, name)
        return found
    raise LookupError(call)


def as_markdown(table: Iterable[Row] | None = None) -> str:
    """The table as Markdown."""
    head = ("source", "what it says", "assumes", "adjacency", "orders", "kind", "status", "call")
    lines = [_line(head), _line("---" for _ in head)]
    for row in rows() if table is None else table:
        call = f"`{row.call}`" if row.call else f"none: {row.why}"
        if row.call and row.why:
            call += f"; {row.why}"
        cells = (row.source, row.says, row.assumes, row.adjacency, row.orders, row.kind, row.status)
        lines.append(_line((*cells, call)))
    return "\n".join(lines)


def write(path: Path) -> None:
    """Put the table as it is now between its two marks in a document."""
    before, _, rest = path.read_text().partition(_START)
    _, _, after = rest.partition(_END)
    path.write_text(f"{before}{_START}\n\n{as_markdown()}\n\n{_END}{after}")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_LEMMA = "a step of a proof that bounds no mechanism by itself"
_B = "symacct.baselines."

# (work, place, what it says, keywords); a theorem's own record fills in the rest.
_RESULTS: list[tuple[Any, ...]] = []


def _add(work: Work, place: str, says: str = "", call: str = "", **more: str) -> None:
    fields = ("why", "assumes", "adjacency", "orders", "kind", "status")
    defaults = {"adjacency": "any", "status": "proved"}
    _RESULTS.append(
        (work, place, says, call, *(more.get(name, defaults.get(name, "")) for name in fields))
    )


_add(
    ZW19,
    "Lemma 4",
    "(ε, δ) at rate γ: ε′ = log(1+γ(e^ε−1)), δ′ = γδ",
    _B + "subsampled_dp",
    adjacency="add_remove",
    kind="exact",
)
_add(ZW19, "Lemma 4, at δ = 0", call="ZW19-L4")
_add(ZW19, "Theorem 5", call="ZW19-T5")
_add(ZW19, "Theorem 6", call="ZW19-T6")
_add(ZW19, "Theorem 8", call="ZW19-T8")
_add(
    ZW19,
    "Lemma 9",
    "E_Q[(P/Q−1)^l] = E_P[(P/Q−1)^{l−1}] − E_Q[(P/Q−1)^{l−1}]",
    why="an identity between χ-divergences; `symacct.chi_divergence` gives their values",
    kind="exact",
)
_add(
    ZW19,
    "Proposition 10",
    "condition (4) of Theorem 8 holds for Gaussian and Laplace noise",
    "symacct.check_odd_chi",
    adjacency="add_remove",
    why="ZW19-T8 asks for it",
)
_add(ZW19, "Theorem 11", call="ZW19-T11")
_add(
    ZW19,
    "Appendix A, (5)",
    "A₂ = E_Q[(1−γ+γP/Q)^{1−α}] <= (1−γ)^{1−α}, and <= (1−γ(1−e^{−ε(∞)}))^{1−α}",
    _B + "reverse_moment_bound",
    adjacency="add_remove",
    orders="real orders >= 1",
    kind="upper",
    why="of the reverse direction alone, so not a theorem for by=",
)
_add(
    ZW19,
    "Lemma 13",
    "E_Q[(2−P/Q)^l] = E_Q[(P/Q)^l] − 2 Σ_{odd j<=l} C(l,j) χ^j",
    why="an identity inside the proofs of Theorems 5 and 8",
    kind="exact",
)
_add(
    ZW19,
    "Lemma 14",
    "E_Q[(2−P/Q)^l] <= e^{lε(l+1)} (l odd), + e^{(l−1)ε(l)} (l even)",
    why=_LEMMA + "; it leads to Theorem 5",
    kind="upper",
)
_add(
    ZW19,
    "Lemma 15",
    "E_Q[(2−P/Q)^l] <= 2e^{(l−1)ε(l)} (l odd), 3e^{(l−1)ε(l)} (l even)",
    why=_LEMMA + "; its 3 is the 3 of Theorem 5",
    kind="upper",
)
_add(
    ZW19,
    "Lemma 16",
    "E_Q[(P/Q)²(P/Q−1)^{l−2}] >= E_Q[(P/Q−1)^{l−2}], odd l >= 3",
    why=_LEMMA + "; it leads to Theorem 17",
    kind="lower",
)
_add(
    ZW19,
    "Theorem 17",
    "χ^l >= 0 of N(√t, 1) from N(0, 1), odd l",
    "symacct.chi_divergence",
    why="the value; that it is >= 0 is what ZW19-T8 rests on",
    kind="lower",
)
_add(
    ZW19,
    "Theorem 18",
    "χ^l of two Laplace laws is >= 0 and grows with their distance",
    "symacct.chi_divergence",
    why="the value; the monotonicity is what makes WBK19-T27 hold for Laplace noise",
    kind="lower",
)
_add(ZW19, "Theorem 20", call="ZW19-T20")
_add(
    WBK19,
    "Lemma 3",
    "(ε, δ) at rate γ: ε′ = log(1+γ(e^ε−1)), δ′ = γδ",
    _B + "subsampled_dp",
    adjacency="replace_one",
    kind="exact",
)
_add(WBK19, "Lemma 3, at δ = 0", call="WBK19-L3")
_add(WBK19, "Lemma 5", call="MIR17-P1")
_add(
    WBK19,
    "Lemma 6",
    "ε(δ) = ε(α) + log(1/δ)/(α−1)",
    "conversion:classic",
    orders="real orders > 1",
    kind="upper",
)
_add(
    WBK19,
    "Remark 8",
    "(ξ, ρ)-zCDP: K(λ) <= λξ + λ(λ+1)ρ",
    "symacct.ZCDP",
    orders="real orders >= 1",
    kind="upper",
)
_add(WBK19, "Theorem 9", call="WBK19-T9")
_add(WBK19, "remark after Theorem 9", call="WBK19-PURE")
_add(WBK19, "Corollary 10", call="WBK19-C10")
_add(WBK19, "Proposition 11", call="WBK19-P11")
_add(WBK19, "Theorem 12", "k runs of (ε, δ): (kε, kδ)", _B + "naive", kind="upper")
_add(
    WBK19,
    "Theorem 13",
    "(√(2k log(1/δ*)) ε + 2kε², kδ+δ*)",
    _B + "strong",
    assumes="ε <= 1",
    kind="upper",
)
_add(
    WBK19,
    "Proposition 16",
    "ternary |χ|-DP: ζ′(α) = γζ(α)",
    why="it is inside WBK19-T9 and T27; multiply `symacct.ternary_bound` by γ",
    adjacency="replace_one",
    orders="real orders >= 1",
    kind="upper",
)
_add(
    WBK19,
    "Lemmas 17 and 22",
    "ξ(α)^α <= ζ(α)^α <= 4ξ(α)^α",
    "symacct.ternary_bound",
    why="the 4 of Theorems 9 and 27",
    adjacency="replace_one",
    kind="upper",
)
_add(
    WBK19,
    "Lemma 18",
    "E|X−Y|^j <= E X^j + E Y^j",
    "symacct.ternary_bound",
    why="its e^{(l−1)ε(l)}·2",
    kind="upper",
)
_add(
    WBK19,
    "Lemma 19",
    "E|X−Y|^j <= (e^ε−1)^j E Y^j",
    "symacct.ternary_bound",
    why="its e^{(l−1)ε(l)}(e^{ε(∞)}−1)^l",
    kind="upper",
)
_add(WBK19, "Theorem 27", call="WBK19-T27")
_add(
    WBK19,
    "Example 28",
    "D_α <≈ αγ²/(2σ²)(α*−1)/(α*−α) + ½log((α*−1)/α*) + log((α*−1)/(α*−α))/(2(α−1))",
    _B + "bad_data",
    assumes="normal limit laws, equal records",
    adjacency="replace_one",
    orders="real orders > 1",
    kind="neither",
    status="approximation",
)
_add(
    WBK19,
    "Example 29",
    "D_α ≈ αγ²/(2σ² + γ(n−1/n)/2)",
    _B + "good_data",
    assumes="normal limit laws, records half ½ and half −½",
    adjacency="replace_one",
    orders="real orders > 1",
    kind="neither",
    status="approximation",
)
_add(
    WBK19,
    "Lemma 30",
    "the Gaussian mechanism's curve is tight and self-consistent",
    "symacct.amplification.wbk19.has_dominating_pair",
    why="it is the condition that WBK19-T27 asks for",
)
_add(
    WBK19,
    "Lemma 31, as printed",
    "ξ-binary-|χ|^α-DP is (ε, (ξ/(e^ε−1))^α)-DP",
    why="P = (19, 81)/100, Q = (1, 99)/100, α = 2, e^ε = 10 has δ = 0.09 and a printed bound below "
    "0.041: Markov's inequality is applied under Q where P is needed",
    kind="upper",
    status="refuted",
)
_add(
    WBK19,
    "Lemma 31, put right",
    "δ = ξ^α (α−1)^{α−1}/(α^α (e^ε−1)^{α−1})",
    _B + "chi_to_delta",
    assumes="ε > 0",
    orders="real orders > 1",
    kind="upper",
)
_add(
    WBK19,
    "Proposition 35",
    call="WBK19-P35",
)
_add(
    WBK19,
    "Appendix G",
    "max_j x_j <= log Σ e^{x_j} <= max_j x_j + log(number of terms)",
    why="the sums are enclosed to the digits asked, from the terms that matter (sums/mixture.py)",
    kind="upper",
)
_add(
    WBK19,
    "Proposition 38",
    "exponential families: ε(α) <= min(αLΔ²/2, 2BΔ), 1 < α <= κ/Δ+1",
    call="symacct.ExponentialFamily",
    orders="real orders > 1",
    kind="upper",
)
_add(
    WBK19,
    "Remark 39",
    "the least of Proposition 38's bounds over κ",
    call="symacct.ExponentialFamily",
    orders="real orders > 1",
    kind="upper",
)
_add(
    WBK19,
    "Appendix I",
    "D_α of two multivariate normal laws, and of two laws of an exponential family",
    call="symacct.DistributionPair",
    kind="exact",
)
_add(
    MTZ19,
    "Theorem 4",
    "the sampled Gaussian mechanism in any dimension has the curve of its one-dimensional pair",
    "MTZ19-EXACT",
)
_add(
    MTZ19,
    "Theorem 5",
    "E_Q[(1−γ+γP/Q)^α] is the larger direction where an involution swaps P and Q",
    "PAIR-EXACT",
)
_add(
    MTZ19,
    "Corollary 7",
    "A_α is the larger direction of the sampled Gaussian mechanism",
    "symacct.amplification.pairs.is_gaussian",
    why="it is why MTZ19-EXACT is exact",
    adjacency="add_remove",
)
_add(MTZ19, "Theorem 11", call="MTZ19-T11")
_add(
    BLOG,
    "Claim 20",
    "δ = e^{−κ*(ε)} for a pair of laws",
    "conversion:classic",
    orders="real orders > 1",
    kind="upper",
    why="m.delta(epsilon, conversion='classic') takes the Legendre transform over all orders",
)
_add(
    BLOG,
    "Claim 21",
    "the same for a mechanism, at one order and at the best one",
    "conversion:classic",
    orders="real orders > 1",
    kind="upper",
    why="its item 2 is printed δ = −e^{κ*(ε)} and means e^{−κ*(ε)}",
)
_add(BLOG, "Claim 22", call="MIR17-P1")
_add(
    BLOG,
    "Claim 23",
    "k runs: δ = e^{−kκ*(ε/k)}",
    "conversion:classic",
    orders="real orders > 1",
    kind="upper",
    why="(k * m).delta(epsilon, conversion='classic')",
)
_add(BLOG, "Claim 24", call="BLOG-C24")
_add(
    BLOG,
    "Claim 25",
    "(Σp)^λ/(Σq)^{λ−1} <= Σ p^λ/q^{λ−1}",
    why=_LEMMA + "; it leads to Claim 24",
    kind="upper",
)
_add(BLOG, "Claim 26, part 1", call="BLOG-C26")
_add(
    BLOG,
    "Claim 26, part 2",
    "G_λ <= C(c₁, c₂) for r <= c₁/σ, λ <= c₂σ²",
    _B + "moment_constant",
    orders="real orders >= 1",
    kind="exact",
    why="encloses log C from both sides; the claim's 'limit 0' is e^{c₁²c₂²/2}",
)
_add(
    BLOG,
    "Claim 27",
    "G_λ(rp+(1−r)q‖q) = Σ_{k=0}^{λ} C(λ,k)r^k(1−r)^{λ−k}G_k(p‖q)",
    "ZW19-T6",
)
_add(
    BLOG,
    "Claim 28",
    "T = c₂εσ²/(2C) steps at r <= c₁/σ are (ε, e^{−c₂σ²ε/2})-DP",
    _B + "route_three",
    kind="upper",
    assumes="Conjecture 1, which is false; what it is needed for may still hold",
    status="conjecture",
)
_add(
    BLOG,
    "Conjecture 1",
    "D_α(p_i‖q_i) <= D_α(μ_i‖ν_i) for all i implies it for their averages",
    why="p₁ = p₂ = μ₁ = ν₂ = (9, 1)/10 and q₁ = q₂ = ν₁ = μ₂ = (1, 9)/10 has right side 0 and "
    "left side > 0",
    status="refuted",
)
_add(
    BLOG,
    "route 1",
    "δ₁ = min_ε̃ e^{−(ε−Ta)²/(2T(ε̃+a)²)} + kδ(ε′), T = k/r",
    _B + "route_one",
    kind="upper",
)
_add(
    BLOG,
    "route 2",
    "δ₂ = e^{−(εσ/√k − √k/(2σ))²/2}",
    _B + "route_two",
    assumes="2εσ² >= k",
    kind="upper",
)
_add(
    DRV10,
    "advanced composition",
    "(ε√(2k log(1/δ*)) + kε(e^ε−1), kδ+δ*)",
    _B + "advanced",
    kind="upper",
)
_add(
    KOV15,
    "Theorem 3.3",
    "((k−2i)ε, 1−(1−δ)^k(1−δ_i)), i <= k/2",
    _B + "kairouz",
    why=f"{_B}optimal gives ε at any δ, {_B}best_over_rounds also chooses the rounds' δ",
    kind="exact",
)
_add(
    BW18,
    "Theorem 8",
    "δ(ε) = Φ(Δ/(2σ)−εσ/Δ) − e^ε Φ(−Δ/(2σ)−εσ/Δ)",
    _B + "gaussian_delta",
    why=f"{_B}gaussian_epsilon is its inverse",
    kind="exact",
)
_add(
    MIR17,
    "Proposition 3",
    "ε(δ) = ε(α) + log(1/δ)/(α−1)",
    "conversion:classic",
    orders="real orders > 1",
    kind="upper",
)
_add(
    CKS20,
    "Proposition 12",
    "ε(δ) = ε(α) + log((α−1)/α) − (log δ + log α)/(α−1)",
    "conversion:improved",
    orders="real orders > 1",
    kind="upper",
)
_add(
    ALCKS21,
    "the exact conversion of one order",
    "the least ε with min_v p^α q^{1−α} + (1−p)^α(1−q)^{1−α} >= e^{(α−1)ε(α)}, "
    "p = v+δ, q = ve^{−ε}",
    "conversion:optimal",
    orders="real orders > 1",
    kind="exact",
    why="exact for one order; the search over orders is not proved to meet one valley",
)
