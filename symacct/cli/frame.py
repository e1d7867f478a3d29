"""What every command shares: the group, one clear line for an error, and how values are shown."""

from __future__ import annotations

import codecs
import contextlib
import functools
import inspect
import json
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import IO, Any

import click

from symacct.core import limits
from symacct.core.errors import DomainError, SymacctError, cut, echo, reason, suggestion
from symacct.core.exact import written
from symacct.core.pinning import By
from symacct.explore.grids import grid
from symacct.expressions.node import Node
from symacct.results.terminal import print_pairs
from symacct.text import parse_open
from symacct.theory.conversion import BEST
from symacct.version import __version__

EPILOG = (
    "EXPR says which mechanisms were run, as in '600000 * PoissonSubsample(Gaussian(5), 1/1000)', "
    "or in 'dp_sgd(60000, 256, 1.1, epochs=15) + dp_sgd(60000, 512, 1.5, epochs=5)'. "
    "Every number is taken exactly as it is written: 1/1000, 0.001 and 1e-3 are the same number. "
    "A name such as sigma in Gaussian(sigma) is a parameter without a value. Privacy losses are "
    "in nats."
)


#: Every command by what one comes for, with the room that it is in and what it says of itself.
JOBS = {
    "Ask": {
        "epsilon": ("asking", "Print the smallest ε that is proved for EXPR at a δ."),
        "delta": ("asking", "Print the smallest δ that is proved for EXPR at an ε."),
        "rdp": ("asking", "Print the Rényi privacy loss ε(α) of EXPR at orders α."),
        "dpsgd": ("training", "Print the ε of a DP-SGD training run, or the noise that it needs."),
        "calibrate": (
            "exploring",
            "Find the least noise, or the largest rate or count, that meets a target.",
        ),
        "risk": (
            "asking",
            "Print how much an attacker can learn at most: membership, guesses, records.",
        ),
        "sweep": ("exploring", "Ask one question at every point of a grid of parameters."),
        "optimum": ("papers", "Print the best Rényi order of EXPR and its (ε, δ) as formulas."),
    },
    "Look": {
        "compare": (
            "knowledge",
            "Compare the theorems that apply to EXPR, or several expressions.",
        ),
        "explain": (
            "knowledge",
            "Describe EXPR, and name the theorem that bounds each of its parts.",
        ),
        "graph": ("exploring", "Print the parts of EXPR as a tree or as a drawing."),
        "plot": ("exploring", "Draw ε(α) against the order, or ε or δ against a parameter."),
        "expand": ("papers", "Expand ε(α) of EXPR as a power series in one of its parameters."),
        "theorems": ("knowledge", "List the theorems of the papers, or those that match NAME."),
    },
    "Write": {
        "statement": ("papers", "Write a paragraph about EXPR for the privacy section of a paper."),
        "cite": ("papers", "Print BibTeX entries of the works that a result of EXPR rests on."),
        "latex": (
            "formulas",
            "Print a formula of EXPR in LaTeX: of ε(α), or of the number to report.",
        ),
        "table": ("formulas", "Print a table of ε(α) of EXPR for a paper."),
        "code": ("coding", "Print a function in another language that computes ε(α) of EXPR."),
        "reference": ("reference", "Print a table of certified lower and upper ends."),
        "vectors": ("vectors", "Write test vectors for other accountants, as JSON files."),
    },
    "Verify": {
        "verify": ("verifying", "Test another accountant against certified enclosures."),
        "certificate": (
            "evidence",
            "Write a guarantee of EXPR with a proof that others can check.",
        ),
        "check": ("papers", "Check the printed numbers of a paper, or one number of EXPR."),
        "falsify": (
            "knowledge",
            "Search for a small mechanism that violates THEOREM.",
        ),
    },
}
_ROOMS = {name: room for listed in JOBS.values() for name, (room, _) in listed.items()}


_LONGEST = 120  # characters of what was given, in an error that click words

_MANY = 200  # values of an axis, from which on fewer are offered
_GIVEN = "symacct.given"  # the words of the command line, in click's notes of a run


def _worded(message: str, given: Iterable[str]) -> str:
    """The message, with what was given shortened."""
    for word in given:
        for part in (word, word.partition("=")[2]):
            for shown in (part, repr(part)[1:-1]):
                if len(shown) > _LONGEST:
                    message = message.replace(shown, cut(shown, _LONGEST))
    return message


def print_note(text: str) -> None:
    """A line beside the answer, on standard error."""
    click.echo(text, err=True)


@contextlib.contextmanager
def _warnings_said() -> Iterator[None]:
    """What is warned of as a plain line on standard error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in said):
                print_note(f"Warning: {message}")


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


def _escape_signs() -> None:
    """Let standard output and error write every text: a sign that they lack as its escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class Commands(click.Group):
    """The group, which turns what is wrong with an input into one line and exit status 2."""

    def main(self, *args: Any, **how: Any) -> Any:
        """Any output can be written to, and what is wrong with one is one line as well."""
        _escape_signs()
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
        ctx.meta[_GIVEN] = tuple(args)
        return super().parse_args(ctx, args)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """The examples at the end of a command's help are shown below its options."""
        sentences, begin, examples = inspect.cleandoc(cmd.help or "").partition("\b\n")
        cmd.help = sentences.rstrip()
        if begin:
            cmd.epilog = "\n\n".join(filter(None, (f"\b\n{examples.strip()}", cmd.epilog)))
        super().add_command(cmd, name)

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
            with _warnings_said():
                return super().invoke(ctx)
        except click.UsageError as error:
            vars(error)["message"] = _worded(error.message, ctx.meta[_GIVEN])
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
    "Give values to a parameter of EXPR, or to alpha, delta or epsilon. VALUES is a list such as "
    "1,2,5, a range such as 1..10, START:END, or START:END:COUNT, with :log at the end for a "
    "logarithmic scale. This option can be repeated."
)
ALPHA_HELP = (
    "A Rényi order from 1 to inf, or several, as in 2,8,inf or 2..64. This option can be repeated."
)
DIGITS_HELP = "How many significant digits are printed. The last one is rounded to the safe side."
digits_option = click.option("--digits", default=6, show_default=True, help=DIGITS_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
by_option = click.option(
    "--by",
    multiple=True,
    callback=lambda ctx, parameter, names: names if names[1:] else next(iter(names), None),
    metavar="THEOREM",
    help="Use only this theorem, such as ZW19-T5, and not the best one. If it is repeated, each "
    "part of EXPR uses the theorem that applies to it.",
)
also_option = click.option(
    "--also",
    multiple=True,
    metavar="THEOREM",
    help="Show the result of this theorem as well. This option can be repeated.",
)
_CONVERSIONS = (
    "How (ε, δ) is found. The value best is the smallest number that is proved in time. The "
    "values classic, improved and optimal use one Rényi order, total-variation uses the order 1, "
    "and exact uses the true privacy profile."
)
conversion_option = click.option(
    "--conversion", metavar="NAME", default=BEST, show_default=True, help=_CONVERSIONS
)


def _give_seconds(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    if value is not None:
        ctx.with_resource(limits.limits(seconds=value))


#: --seconds, the time of every question of the command.
seconds_option = click.option(
    "--seconds",
    type=int,
    expose_value=False,
    callback=_give_seconds,
    help="The processor time for the smallest number that is proved. The default is "
    f"{limits.Limits().seconds} seconds.",
)
more_option = click.option(
    "--more",
    is_flag=True,
    help="Also print what the number rests on, what Rényi orders give, and what is known of the "
    "true one.",
)
ask_option = functools.partial(
    click.option,
    "--ask",
    show_default=True,
    help="The question: ε(α) at an order alpha, ε at a delta, or δ at an epsilon.",
)


def how_options(function: Callable[..., None]) -> Callable[..., None]:
    """--conversion, --orders, --by and --seconds; the first three are given together as `how`."""

    @functools.wraps(function)
    def run(conversion: str, orders: str | None, by: By, **rest: object) -> None:
        how = {"conversion": conversion, "orders": orders_option(orders), "by": by}
        function(how=how, **rest)

    listed = click.option(
        "--orders",
        help="The Rényi orders that may be used: 'integer', or a list such as 2,4,8.5,64. By "
        "default all orders may be used.",
    )
    return conversion_option(listed(by_option(seconds_option(run))))


@click.group("symacct", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symacct")
def main() -> None:
    """Every digit that this privacy accountant prints is proven."""


def print_json(value: object) -> None:
    # A sign that the encoding lacks is JSON's escape, which is not always Python's.
    encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
    click.echo(json.dumps(value, indent=2, ensure_ascii=encoding != "utf-8"))


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


def orders_option(text: str | None) -> str | list[str] | None:
    if text is None or text == "integer":
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def listed_orders(given: Iterable[str]) -> tuple[str, ...]:
    """The orders of an option that can be repeated, each time with one order or several."""
    return tuple(one for text in given for one in grid(text) or [text])


def in_numbers(text: str) -> Node:
    """The expression, which is asked for numbers."""
    m = parse_open(text)
    if m.free_symbols:
        names = ", ".join(sorted(map(str, m.free_symbols)))
        raise InputError(
            f"found the parameter {names} without a value, needed a number; write it, or use sweep "
            "for many values, calibrate to find one, or latex, code or expand, which keep it"
        )
    return m


def axes_of(option: str, texts: Iterable[str]) -> dict[str, list[str]]:
    """The values by the names of all NAME=VALUES of an option, each of which is given once."""
    axes: dict[str, list[str]] = {}
    for name, values in (axis(option, text) for text in texts):
        if name in axes:
            both = ",".join(dict.fromkeys((*axes[name], *values)))
            raise InputError(f"found {option} {name} twice; write {option} {name}={both}")
        axes[name] = values
        if len(values) > _MANY and ":" not in "".join(texts):
            print_note(
                f"Note: {name} has {len(values):,} values; {option} "
                f"{name}={values[0]}:{values[-1]}:20:log asks at 20 of them."
            )
    return axes


def axis(option: str, text: str) -> tuple[str, list[str]]:
    """The name and the values of NAME=VALUES, as an option gave it."""
    name, equals, values = text.partition("=")
    if not equals:
        raise DomainError(f"{option}: found {echo(text)}, needed NAME=VALUES such as sigma=1,2,5")
    return name.strip(), grid(values.strip())
