"""What every command shares: the group, one clear line for an error, and how values are shown."""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import traceback
from collections.abc import Callable, Iterator
from typing import IO, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

import symacct
from symacct.claims import Claim, Kind
from symacct.errors import DomainError, SymacctError, echo
from symacct.explore.grids import grid
from symacct.verify.judgement import NOT_JUDGED

EPILOG = (
    "EXPR is an expression such as '600000 * PoissonSubsample(Gaussian(5), 1/1000)'. "
    "Numbers in it are exact: 1/1000, 0.001 and 1e-3 are the same."
)


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
    except (click.ClickException, SymacctError):
        raise
    except (KeyboardInterrupt, BrokenPipeError) as stopped:
        raise SystemExit(130 if isinstance(stopped, KeyboardInterrupt) else 141) from None
    except Exception:
        traceback.print_exc()
        click.echo("Error: a defect of symacct, not a finding; please report it", err=True)
        raise SystemExit(NOT_JUDGED) from None


class Commands(click.Group):
    """The group, which turns what is wrong with an input into one line and exit status 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for word in args:
            # What is no UTF-8 comes as lone surrogates, which no text or file can be made of.
            if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
                raise InputError(f"found {echo(word)}, needed an argument that is text in UTF-8")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SymacctError as error:
            raise InputError(f"{type(error).__name__}: {error}") from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # who reads the output has read enough
                raise
            raise InputError(f"{echo(error.filename)}: {error.strerror or error}") from None


def expression_command(name: str) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand of EXPR, with the options that all of them have."""

    def wrap(function: Callable[..., None]) -> click.Command:
        run = click.option(
            "--digits", default=6, show_default=True, help="Significant digits, rounded safely."
        )(json_option(function))
        run = click.argument("expr")(run)
        return main.command(name, epilog=EPILOG)(run)

    return wrap


AXIS_HELP = (
    "Values of a symbol of EXPR, or of alpha, delta or epsilon: 1,2,5 or 1..10 or "
    "0.5:2:4 (evenly) or 1e-4:1e-1:20:log; repeatable."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
symbol_option = click.option(
    "--symbol", "symbols", multiple=True, help="A parameter left open; repeatable."
)
by_option = click.option("--by", help="The theorem to use, e.g. ZW19-T5.")
conversion_option = click.option(
    "--conversion",
    default="improved",
    show_default=True,
    help="classic, improved or optimal, of one order; total-variation, of the order 1; exact, the "
    "true profile.",
)


def how_options(function: Callable[..., None]) -> Callable[..., None]:
    """--conversion, --orders and --by, which the command is given together as `how`."""

    @functools.wraps(function)
    def run(conversion: str, orders: str | None, by: str | None, **rest: object) -> None:
        how = {"conversion": conversion, "orders": orders_option(orders), "by": by}
        function(how=how, **rest)

    listed = click.option("--orders", help="'integer', or a list such as 2,4,8.5,64; default all.")
    return conversion_option(listed(by_option(run)))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(symacct.__version__, prog_name="symacct")
def main() -> None:
    """A privacy accountant in which every printed digit is proven."""


KIND_LABELS = {
    Kind.LOWER: "↑ lower",
    Kind.EXACT: "= exact",
    Kind.UPPER: "↓ upper",
    Kind.NEITHER: "≈ neither",
}


def console() -> Console:
    # Piped output is not folded: digits must survive a grep.
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=240)


def print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_text(as_json: bool, document: object, text: str) -> None:
    """The document as JSON, or the text."""
    if as_json:
        print_json(document)
    else:
        click.echo(text.removesuffix("\n"))


def print_facts(as_json: bool, document: object, *facts: tuple[str, object]) -> None:
    """The document as JSON, or the facts as a table; brackets in a formula are no markup."""
    if as_json:
        print_json(document)
        return
    table = Table(show_header=False)
    for name, value in facts:
        table.add_row(name, Text(str(value)))
    console().print(table)


def orders_option(text: str | None) -> str | list[str] | None:
    if text is None or text == "integer":
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def kind_label(claim: Claim) -> str:
    return KIND_LABELS[claim.kind] + ("" if claim.certified else " (not certified)")


def axis(option: str, text: str) -> tuple[str, list[str]]:
    """The name and the values of NAME=VALUES, as an option gave it."""
    name, equals, values = text.partition("=")
    if not equals:
        raise DomainError(f"{option}: found {echo(text)}, needed NAME=VALUES such as sigma=1,2,5")
    return name.strip(), grid(values.strip())
