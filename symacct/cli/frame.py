"""What every command shares: the group, one clear line for an error, and how values are shown."""

from __future__ import annotations

import contextlib
import difflib
import functools
import json
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import IO, Any

import click

from symacct.core.claims import Claim, Kind
from symacct.core.errors import DomainError, SymacctError, cut, echo, reason, suggestion
from symacct.core.exact import Order, written
from symacct.core.pinning import By
from symacct.explore.grids import grid
from symacct.expressions.node import Node
from symacct.results.ascii_text import spell_out, writes_all
from symacct.results.rounding import order_text
from symacct.results.terminal import print_pairs
from symacct.text import parse_open
from symacct.version import __version__

EPILOG = (
    "EXPR is an expression such as '600000 * PoissonSubsample(Gaussian(5), 1/1000)'. "
    "Numbers in it are exact: 1/1000, 0.001 and 1e-3 are the same. Other names in it, as in "
    "Gaussian(sigma), are parameters left open."
)


#: Every command by what one comes for, with the room that it is in and what it says of itself.
JOBS = {
    "Ask": {
        "epsilon": ("asking", "The smallest ε of EXPR at this δ, the best that is proved."),
        "delta": ("asking", "The smallest δ of EXPR at this ε, the best that is proved."),
        "rdp": ("asking", "ε(α) of EXPR at one or more orders."),
        "dpsgd": ("training", "The ε of a DP-SGD training run, or the noise it needs."),
        "calibrate": (
            "exploring",
            "The least noise, or largest rate or count, for a target (ε, δ) or a risk.",
        ),
        "risk": (
            "exploring",
            "What attackers can do at most: tests of membership, guesses, reconstruction, μ.",
        ),
        "sweep": ("exploring", "One question at every point of a grid."),
        "optimum": ("papers", "The best order of EXPR and its (ε, δ) in closed form."),
    },
    "Look": {
        "compare": (
            "knowledge",
            "Every theorem that speaks of EXPR, or several EXPR side by side.",
        ),
        "explain": (
            "knowledge",
            "What EXPR is, and which theorem says what about each part of it.",
        ),
        "graph": ("exploring", "What EXPR is made of, as a tree or a drawing."),
        "plot": ("exploring", "A picture of ε(α), or of ε or δ over a parameter."),
        "expand": ("papers", "ε(α) of EXPR as powers of one of its variables."),
        "theorems": ("knowledge", "Every computable result of the papers, or those about NAME."),
    },
    "Write": {
        "statement": ("papers", "A paragraph about EXPR for a privacy section."),
        "cite": ("papers", "BibTeX of exactly the works behind EXPR's curve."),
        "latex": ("formulas", "The formula of EXPR's curve in LaTeX."),
        "table": ("formulas", "A table of ε(α) of EXPR for a paper, rounded soundly."),
        "code": ("coding", "A self-contained function that gives ε(α) of EXPR."),
        "reference": ("reference", "A table of certified values, both ends rounded outwards."),
        "vectors": ("vectors", "Test vectors: questions with two-sided answers, as JSON files."),
    },
    "Verify": {
        "verify": ("verifying", "Compare an accountant's answers with certified enclosures."),
        "certificate": ("evidence", "The guarantee of EXPR with its proof, for checker/check.py."),
        "check": ("papers", "Verify every number of the paper file FILE, or one number of EXPR."),
        "falsify": (
            "knowledge",
            "Search small finite mechanisms for a violation of THEOREM.",
        ),
    },
}
_ROOMS = {name: room for listed in JOBS.values() for name, (room, _) in listed.items()}


_LONGEST = 400  # characters of an error about an option
_ALIKE = 0.75  # the least share of signs that a misspelt option has in common with the right one

#: What others call an option of ours.
_ALSO_CALLED = {"sigma": "noise-multiplier", "lot-size": "batch-size"}


def _similar(found: str, known: list[str]) -> list[str]:
    """The options that an unknown one may be meant for: shortened, by another name or misspelt."""
    name = found.strip("-")
    name = _ALSO_CALLED.get(name, name)
    if f"--{name}" in known:
        return [f"--{name}"]
    begun = [one for one in known if one.startswith(f"--{name}")]
    return begun or difflib.get_close_matches(found, known, cutoff=_ALIKE)


class InputError(click.ClickException):
    """One clear line and exit status 2 for an input that cannot be answered."""

    exit_code = 2

    def show(self, file: IO[str] | None = None) -> None:
        click.echo(f"Error: {self.format_message()}", err=True)


@contextlib.contextmanager
def findings_alone_are_1() -> Iterator[None]:
    """A defect of ours or an interrupt must not end with 1, which says that something is wrong."""
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError) as stopped:
        raise SystemExit(130 if isinstance(stopped, KeyboardInterrupt) else 141) from None
    except (click.ClickException, SymacctError, OSError):
        raise
    except Exception:
        from symacct.verify.reporting.judgement import NOT_JUDGED  # a room that takes long to open

        traceback.print_exc()
        click.echo("Error: a defect of symacct, not a finding; please report it", err=True)
        raise SystemExit(NOT_JUDGED) from None


class Commands(click.Group):
    """The group, which turns what is wrong with an input into one line and exit status 2."""

    def main(self, *args: Any, **how: Any) -> Any:
        """Any output can be written to, and what is wrong with one is one line as well."""
        spell_out()
        try:
            return super().main(*args, **how)
        except OSError as error:  # of a closed pipe click says nothing; no file of ours gets here
            where = "standard output" if error.filename is None else echo(error.filename)
            with contextlib.suppress(OSError):
                click.echo(f"Error: {where}: {reason(error)}", err=True)
            sys.exit(InputError.exit_code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for word in args:
            # What is no UTF-8 comes as lone surrogates, which no text or file can be made of.
            if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
                raise InputError(f"found {echo(word)}, needed an argument that is text in UTF-8")
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for job, listed in JOBS.items():
            with formatter.section(job):
                formatter.write_dl([(name, line) for name, (_, line) in listed.items()])

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return list(_ROOMS)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """The command, whose room is opened where it is asked for."""
        if name in _ROOMS:
            import_module(f"symacct.cli.{_ROOMS[name]}")
        return self.commands.get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, and for a name that is none the one that is most like it."""
        if args and args[0] not in _ROOMS and not args[0].startswith("-"):
            needed = f"one of {', '.join(_ROOMS)}"
            ctx.fail(f"No such command {echo(args[0])}{suggestion(args[0], _ROOMS, needed)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:  # which repeats what was given, however long
            vars(error)["message"] = cut(error.message, _LONGEST)
            if isinstance(error, click.NoSuchOption) and error.cmd is not None:
                known = [one for option in error.cmd.params for one in option.opts]
                vars(error)["possibilities"] = _similar(error.option_name, known)
            raise
        except SymacctError as error:
            raise InputError(f"{type(error).__name__}: {error}") from None


def expression_command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand of EXPR, with the options that all of them have."""

    def wrap(function: Callable[..., None]) -> click.Command:
        run = digits_option(json_option(function))
        run = click.argument("expr")(run)
        return main.command(name, epilog=EPILOG)(run)

    return wrap


AXIS_HELP = (
    "Values of a symbol of EXPR, or of alpha, delta or epsilon: 1,2,5 or 1..10 or "
    "0.5:2:4 (evenly) or 1e-4:1e-1:20:log; repeatable."
)
digits_option = click.option(
    "--digits", default=6, show_default=True, help="Significant digits, rounded safely."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
by_option = click.option(
    "--by",
    multiple=True,
    callback=lambda ctx, parameter, names: names if names[1:] else next(iter(names), None),
    help="The theorem to use, e.g. ZW19-T5; repeatable, for what other parts do.",
)
_CONVERSIONS = (
    "classic, improved or optimal, of one order; total-variation, of the order 1; exact, the true "
    "profile."
)
conversion_option = click.option(
    "--conversion",
    help=f"{_CONVERSIONS} The default is the best that is proved: exact where it is known in "
    "time, else improved.",
)


def how_options(
    function: Callable[..., None], conversion: str | None = None
) -> Callable[..., None]:
    """--conversion, --orders and --by, which the command is given together as `how`.

    Where many questions are asked at once, `conversion` is the default, and not the best proved.
    """

    @functools.wraps(function)
    def run(conversion: str | None, orders: str | None, by: By, **rest: object) -> None:
        how = {"conversion": conversion, "orders": orders_option(orders), "by": by}
        function(how=how, **rest)

    fixed: dict[str, Any] = {"default": conversion, "show_default": True, "help": _CONVERSIONS}
    option = click.option("--conversion", **fixed) if conversion else conversion_option
    listed = click.option("--orders", help="'integer', or a list such as 2,4,8.5,64; default all.")
    return option(listed(by_option(run)))


@click.group("symacct", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symacct")
def main() -> None:
    """A privacy accountant in which every printed digit is proven."""


OWN_CURVE = "the mechanism's own curve"
_ORDER_DIGITS = 12
KIND_LABELS = {
    Kind.LOWER: "↑ lower",
    Kind.EXACT: "= exact",
    Kind.UPPER: "↓ upper",
    Kind.NEITHER: "≈ neither",
}


def print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=not writes_all()))


def print_text(
    as_json: bool, document: object, text: str, how: Callable[[str], None] = click.echo
) -> None:
    """The document as JSON, or the text."""
    if as_json:
        print_json(document)
    else:
        how(text.removesuffix("\n"))


def print_facts(as_json: bool, document: object, *facts: tuple[str, object]) -> None:
    """The document as JSON, or the facts as a table."""
    if as_json:
        print_json(document)
    else:
        print_pairs((name, written(value)) for name, value in facts)


def shown_order(alpha: Order, digits: int) -> str:
    """An order to so many digits, or as many as tell it from its neighbours."""
    return order_text(alpha, min(digits, _ORDER_DIGITS))


def orders_option(text: str | None) -> str | list[str] | None:
    if text is None or text == "integer":
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def kind_label(claim: Claim) -> str:
    return KIND_LABELS[claim.kind] + ("" if claim.certified else " (not certified)")


def in_numbers(text: str) -> Node:
    """The expression, which is asked for numbers."""
    m = parse_open(text)
    if m.free_symbols:
        names = ", ".join(sorted(map(str, m.free_symbols)))
        raise InputError(
            f"found the open parameter {names}, needed numbers; sweep asks at many values, "
            "calibrate finds one, latex, code and expand take it as it is"
        )
    return m


def axis(option: str, text: str) -> tuple[str, list[str]]:
    """The name and the values of NAME=VALUES, as an option gave it."""
    name, equals, values = text.partition("=")
    if not equals:
        raise DomainError(f"{option}: found {echo(text)}, needed NAME=VALUES such as sigma=1,2,5")
    return name.strip(), grid(values.strip())
