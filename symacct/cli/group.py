"""The group of commands: what it lists, and one clear line for an error; it opens no other room."""

from __future__ import annotations

import contextlib
import inspect
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import IO, Any

import click

from symacct.kernel.errors import SymacctError, cut, echo, reason, suggestion
from symacct.version import __version__

#: Every command stands under what one comes for, with the file that is opened for it, and with
#: what it says of itself.
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
            "exploring",
            "Print how much an attacker can learn at most: membership, guesses, records.",
        ),
        "sweep": ("exploring", "Ask one question at every point of a grid of parameters."),
        "optimum": ("writing", "Print the best Rényi order of EXPR and its (ε, δ) as formulas."),
    },
    "Look": {
        "compare": (
            "exploring",
            "Compare the theorems that apply to EXPR, or several expressions.",
        ),
        "explain": (
            "exploring",
            "Describe EXPR, and name the theorem that bounds each of its parts.",
        ),
        "graph": ("exploring", "Print the parts of EXPR as a tree or as a drawing."),
        "plot": ("exploring", "Draw ε(α) against the order, or ε or δ against a parameter."),
        "expand": ("writing", "Expand ε(α) of EXPR as a power series in one of its parameters."),
        "theorems": ("exploring", "List the theorems of the papers, or those that match NAME."),
    },
    "Write": {
        "statement": (
            "writing",
            "Write a paragraph about EXPR for the privacy section of a paper.",
        ),
        "cite": ("writing", "Print BibTeX entries of the works that a result of EXPR rests on."),
        "latex": (
            "writing",
            "Print a formula of EXPR in LaTeX: of ε(α), or of the number to report.",
        ),
        "table": ("writing", "Print a table of ε(α) of EXPR for a paper."),
        "code": ("writing", "Print a function in another language that computes ε(α) of EXPR."),
        "reference": ("exploring", "Print a table of certified lower and upper ends."),
        "vectors": ("verifying", "Write test vectors for other accountants, as JSON files."),
    },
    "Verify": {
        "verify": ("verifying", "Test another accountant against certified enclosures."),
        "certificate": (
            "verifying",
            "Write a guarantee of EXPR with a proof that others can check.",
        ),
        "check": ("verifying", "Check the printed numbers of a paper, or one number of EXPR."),
        "falsify": ("verifying", "Search for a small mechanism that violates THEOREM."),
    },
}
#: Each command is in this file of `symacct.cli`.
_FILES = {name: file for listed in JOBS.values() for name, (file, _) in listed.items()}


#: What was given is shown with at most this many characters, in an error that click words.
_LONGEST_GIVEN = 120
#: The words of the command line have this key in click's notes of a run.
_GIVEN = "symacct.given"


def _worded(message: str, words: Iterable[str]) -> str:
    """Shorten in a message what was given on the command line."""
    for word in words:
        for part in (word, word.partition("=")[2]):
            for shown in (part, repr(part)[1:-1]):
                if len(shown) > _LONGEST_GIVEN:
                    message = message.replace(shown, cut(shown, _LONGEST_GIVEN))
    return message


def print_note(text: str) -> None:
    """Print a line beside the answer, on standard error."""
    click.echo(text, err=True)


@contextlib.contextmanager
def _warnings_shown() -> Iterator[None]:
    """Print what is warned of as plain lines on standard error, each once, at the end."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                print_note(f"Warning: {message}")


class InputError(click.ClickException):
    """One clear line and exit status 2 for an input that cannot be answered."""

    exit_code = 2

    def show(self, file: IO[str] | None = None) -> None:
        click.echo(f"Error: {self.format_message()}", err=True)


@contextlib.contextmanager
def findings_alone_are_1() -> Iterator[None]:
    """End a defect of ours or an interrupt with another status than 1, which is a finding's.

    An interrupt ends with 130, a closed pipe with 141, and a defect with `NOT_JUDGED`.
    """
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
        """Run a command; an output that cannot be written to is one line and exit status 2."""
        for stream in (sys.stdout, sys.stderr):  # a sign that they lack is written as its escape
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **how)
        except OSError as error:  # of a closed pipe click says nothing; no file of ours gets here
            where = "standard output" if error.filename is None else echo(error.filename)
            with contextlib.suppress(OSError):
                click.echo(f"Error: {where}: {reason(error)}", err=True)
            sys.exit(InputError.exit_code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they were typed; InputError for one that is no UTF-8."""
        for word in args:
            # What is no UTF-8 comes as lone surrogates, which no text or file can be made of.
            if "\0" in word or any("\ud800" <= letter <= "\udfff" for letter in word):
                raise InputError(f"found {echo(word)}, needed an argument that is text in UTF-8")
        ctx.meta[_GIVEN] = tuple(args)
        return super().parse_args(ctx, args)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command; the examples at the end of its help are shown below its options."""
        sentences, begin, examples = inspect.cleandoc(cmd.help or "").partition("\b\n")
        cmd.help = sentences.rstrip()
        if begin:
            cmd.epilog = "\n\n".join(filter(None, (f"\b\n{examples.strip()}", cmd.epilog)))
        super().add_command(cmd, name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help of the commands, a section for each kind of question."""
        for job, listed in JOBS.items():
            with formatter.section(job):
                formatter.write_dl([(name, says) for name, (_, says) in listed.items()])

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return [name for listed in JOBS.values() for name in listed]

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """Find a command, whose file is opened where it is asked for; None for no such name."""
        if name in _FILES:
            import_module(f"symacct.cli.{_FILES[name]}")
        return self.commands.get(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a name as click does; an error on one that is none names the most similar."""
        if args and args[0] not in _FILES and not args[0].startswith("-"):
            needed = f"one of {', '.join(self.list_commands())}"
            ctx.fail(f"No such command {echo(args[0])}{suggestion(args[0], _FILES, needed)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of ours is an InputError, and its warnings are lines."""
        try:
            with _warnings_shown():
                return super().invoke(ctx)
        except click.UsageError as error:
            vars(error)["message"] = _worded(error.message, ctx.meta[_GIVEN])
            raise
        except SymacctError as error:
            raise InputError(f"{type(error).__name__}: {error}") from None


@click.group("symacct", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symacct")
def main() -> None:
    """Every digit that this privacy accountant prints is proven."""
