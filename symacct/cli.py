"""The command line: rdp, epsilon, delta, compare, explain."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

import symacct
from symacct import catalogue
from symacct.accountant import ENGINES, Accountant
from symacct.claims import Claim, Kind
from symacct.enclosure import Enclosure, Guarantee, format_shared
from symacct.errors import SymacctError
from symacct.exact import INFINITY
from symacct.explore.comparison import compare
from symacct.explore.falsify import falsify
from symacct.export.explanation import Explanation, explain

_EPILOG = (
    "EXPR is an expression such as '600000 * PoissonSubsample(Gaussian(5), 1/1000)'. "
    "Numbers in it are exact: 1/1000, 0.001 and 1e-3 are the same."
)


class _InputError(click.ClickException):
    """One clear line and exit status 2 for an input that cannot be answered."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"Error: {self.format_message()}", err=True)


def _command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand of EXPR that turns our errors into one line and exit status 2."""

    def wrap(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(**options: Any) -> None:
            try:
                function(**options)
            except SymacctError as error:
                kind = type(error).__name__
                raise _InputError(f"{kind}: {error}") from None

        run = click.option("--json", "as_json", is_flag=True, help="Print JSON.")(run)
        run = click.option(
            "--digits", default=30, show_default=True, help="Significant digits, all proven."
        )(run)
        run = click.argument("expr")(run)
        return main.command(name, epilog=_EPILOG)(run)

    return wrap


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(symacct.__version__, prog_name="symacct")
def main() -> None:
    """A privacy accountant in which every printed digit is proven."""


@_command("rdp")
@click.option("--alpha", required=True, multiple=True, help="Order in [1, inf]; repeatable.")
@click.option("--by", help="The theorem to use, e.g. ZW19-T5.")
@click.option("--engine", default="ball", show_default=True, type=click.Choice(ENGINES))
@click.option("--lower", is_flag=True, help="The best lower bound instead.")
def rdp(
    expr: str,
    alpha: tuple[str, ...],
    by: str | None,
    engine: str,
    lower: bool,
    digits: int,
    as_json: bool,
) -> None:
    """ε(α) of EXPR at one or more orders."""
    m = symacct.parse(expr)
    accountant = Accountant(digits, engine)
    ask = accountant.lower_bound if lower else functools.partial(accountant.rdp, by=by)
    answers = {a: ask(m, a) for a in alpha}
    if as_json:
        _print_json([{"alpha": a, **x.as_dict()} for a, x in answers.items()])
        return
    table = Table("order α", "ε(α)", "kind", "theorem")
    for a, x in answers.items():
        table.add_row(a, _shown(x), _kind(x.claim), ", ".join(x.claim.theorems))
    _console().print(table)


@_command("epsilon")
@click.option("--delta", required=True, help="δ in [0, 1).")
@click.option(
    "--conversion", default="improved", show_default=True, help="classic, improved or optimal."
)
@click.option("--orders", help="'integer', or a list such as 2,4,8.5,64; default all.")
@click.option("--by", help="The theorem to use, e.g. ZW19-T5.")
def epsilon(
    expr: str,
    delta: str,
    conversion: str,
    orders: str | None,
    by: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """The smallest ε of EXPR at this δ."""
    m = symacct.parse(expr)
    guarantee = m.epsilon(delta, digits, conversion, _orders(orders), by)
    _print_guarantee(guarantee, "ε", guarantee.epsilon, as_json)


@_command("delta")
@click.option("--epsilon", required=True, help="ε >= 0.")
@click.option(
    "--conversion", default="improved", show_default=True, help="classic, improved or optimal."
)
@click.option("--orders", help="'integer', or a list such as 2,4,8.5,64; default all.")
@click.option("--by", help="The theorem to use, e.g. ZW19-T5.")
def delta(
    expr: str,
    epsilon: str,
    conversion: str,
    orders: str | None,
    by: str | None,
    digits: int,
    as_json: bool,
) -> None:
    """The smallest δ of EXPR at this ε."""
    m = symacct.parse(expr)
    guarantee = m.delta(epsilon, digits, conversion, _orders(orders), by)
    _print_guarantee(guarantee, "δ", guarantee.delta, as_json)


@_command("compare")
@click.option("--alpha", required=True, multiple=True, help="Order in [1, inf]; repeatable.")
def compare_command(expr: str, alpha: tuple[str, ...], digits: int, as_json: bool) -> None:
    """Every theorem that speaks of EXPR, lower bounds first, and how far from the best known."""
    rows = compare(symacct.parse(expr), alpha, min(digits, 12) if not as_json else digits)
    if as_json:
        _print_json([row.as_dict() for row in rows])
        return
    columns = (column for a in alpha for column in (f"ε({a})", "× best known"))
    table = Table("theorem", "bound", *columns)
    for row in rows:
        cells = zip(row.values, row.ratios, strict=True)
        shown = (text for value, ratio in cells for text in (_cell(value), _times(ratio)))
        table.add_row(row.name, _KINDS[row.kind], *shown)
    console = _console()
    console.print(table)
    for row in rows:
        if not row.applies:
            console.print(Text(f"{row.name} does not apply: {row.values[0]}", style="dim"))


@_command("explain")
@click.option("--alpha", default="2", show_default=True, help="The order asked about.")
def explain_command(expr: str, alpha: str, digits: int, as_json: bool) -> None:
    """What EXPR is, and which theorem says what about each part of it."""
    explanation = explain(symacct.parse(expr), alpha)
    if as_json:
        _print_json(explanation.as_dict())
    else:
        _console().print(_tree(explanation))


@main.command("theorems")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def theorems_command(as_json: bool) -> None:
    """Every result of the papers that says something computable, and what to call for it."""
    rows = catalogue.rows()
    if as_json:
        _print_json([row.as_dict() for row in rows])
        return
    table = Table("source", "what it says", "adjacency", "orders", "kind", "status", "call")
    for row in rows:
        call = row.call or f"none: {row.why}"
        # Text, for brackets in a formula are no markup.
        cells = (row.source, row.says, row.adjacency, row.orders, row.kind, row.status, call)
        table.add_row(*map(Text, cells))
    _console().print(table)


@main.command("falsify")
@click.argument("theorem")
@click.option("--budget", default=20_000, show_default=True, help="Candidates to try.")
@click.option("--seed", default=0, show_default=True, help="The same seed, the same search.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def falsify_command(theorem: str, budget: int, seed: int, as_json: bool) -> None:
    """Search small finite mechanisms for a violation of THEOREM, e.g. ZW19-T5 or improved."""
    try:
        attack = falsify(theorem, budget, seed)
    except SymacctError as error:
        raise _InputError(f"{type(error).__name__}: {error}") from None
    if as_json:
        _print_json(attack.as_dict())
    else:
        click.echo(str(attack))


# --- printing

_KINDS = {Kind.LOWER: "↑ lower", Kind.EXACT: "= exact", Kind.UPPER: "↓ upper"}


def _console() -> Console:
    # Piped output is not folded: digits must survive a grep.
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=240)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _orders(text: str | None) -> Any:
    if text is None or text == "integer":
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def _kind(claim: Claim) -> str:
    return _KINDS[claim.kind] + ("" if claim.certified else " (not certified)")


def _shown(x: Enclosure) -> str:
    """A bound rounded in its safe direction; an exact value as far as it is known."""
    if x.claim.kind is Kind.LOWER:
        return x.rounded_down()
    return x.rounded_up() if x.claim.kind is Kind.UPPER else str(x)


def _cell(value: Enclosure | str) -> str:
    return _shown(value) if isinstance(value, Enclosure) else "–"


def _times(ratio: Enclosure | None) -> str:
    """A ratio to the exact value or the best lower bound, as far as it is known."""
    return "–" if ratio is None else format_shared(ratio.lower, ratio.upper, 5)


def _print_guarantee(g: Guarantee, letter: str, x: Enclosure, as_json: bool) -> None:
    if as_json:
        _print_json(g.as_dict())
        return
    order = "∞" if g.alpha == INFINITY else f"{float(g.alpha):.12g}"
    table = Table(show_header=False)
    table.add_row(letter, f"{x.rounded_up()}  (rounded up)")
    table.add_row("given", f"δ = {g.delta}" if letter == "ε" else f"ε = {g.epsilon}")
    table.add_row("order α", order)
    table.add_row("best order", "proved" if g.optimal else "sound, not proved the best")
    table.add_row("conversion", g.conversion)
    table.add_row("theorems", ", ".join(g.claim.theorems) or "the mechanism's own curve")
    table.add_row("sources", "; ".join(map(str, g.claim.sources)))
    table.add_row("claim", f"{_kind(g.claim)}, {g.claim.adjacency}")
    _console().print(table)


def _tree(explanation: Explanation) -> Tree:
    times = f"{explanation.count} × " if explanation.count > 1 else ""
    tree = Tree(Text(times + explanation.title, style="bold"))
    for label, text in explanation.lines():
        tree.add(Text.assemble((f"{label}: ", "dim"), text))
    for part in explanation.parts:
        tree.add(_tree(part))
    return tree


if __name__ == "__main__":
    main()
