"""What every command shares: the group, one clear line for an error, its options, `show`."""

from __future__ import annotations

import codecs
import contextlib
import functools
import inspect
import json
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Annotated, Any, get_args, get_origin, get_type_hints

import click

from symacct.explore.grids import grid
from symacct.kernel import limits
from symacct.kernel.arguments import By
from symacct.kernel.claims import adjacency
from symacct.kernel.conversion import BEST
from symacct.kernel.errors import SymacctError, cut, echo, reason, suggestion
from symacct.kernel.node import Node
from symacct.results.screen import Labelled, Note, Part, Verbatim
from symacct.results.terminal import print_part
from symacct.text import parse_open
from symacct.version import __version__

EPILOG = (
    "EXPR says which mechanisms were run, as in '600000 * PoissonSubsample(Gaussian(5), 1/1000)', "
    "or in 'dp_sgd(60000, 256, 1.1, epochs=15) + dp_sgd(60000, 512, 1.5, epochs=5)'. "
    "Every number is taken exactly as it is written: 1/1000, 0.001 and 1e-3 are the same number. "
    "A name such as sigma in Gaussian(sigma) is a parameter without a value. Privacy losses are "
    "in nats."
)


#: Every command by what one comes for, with what it says of itself.
JOBS = {
    "Ask": {
        "epsilon": "Print the smallest ε that is proved for EXPR at a δ.",
        "delta": "Print the smallest δ that is proved for EXPR at an ε.",
        "rdp": "Print the Rényi privacy loss ε(α) of EXPR at orders α.",
        "dpsgd": "Print the ε of a DP-SGD training run, or the noise that it needs.",
        "calibrate": "Find the least noise, or the largest rate or count, that meets a target.",
        "risk": "Print how much an attacker can learn at most: membership, guesses, records.",
        "sweep": "Ask one question at every point of a grid of parameters.",
        "optimum": "Print the best Rényi order of EXPR and its (ε, δ) as formulas.",
    },
    "Look": {
        "compare": "Compare the theorems that apply to EXPR, or several expressions.",
        "explain": "Describe EXPR, and name the theorem that bounds each of its parts.",
        "graph": "Print the parts of EXPR as a tree or as a drawing.",
        "plot": "Draw ε(α) against the order, or ε or δ against a parameter.",
        "expand": "Expand ε(α) of EXPR as a power series in one of its parameters.",
        "theorems": "List the theorems of the papers, or those that match NAME.",
    },
    "Write": {
        "statement": "Write a paragraph about EXPR for the privacy section of a paper.",
        "cite": "Print BibTeX entries of the works that a result of EXPR rests on.",
        "latex": "Print a formula of EXPR in LaTeX: of ε(α), or of the number to report.",
        "table": "Print a table of ε(α) of EXPR for a paper.",
        "code": "Print a function in another language that computes ε(α) of EXPR.",
        "reference": "Print a table of certified lower and upper ends.",
        "vectors": "Write test vectors for other accountants, as JSON files.",
    },
    "Verify": {
        "verify": "Test another accountant against certified enclosures.",
        "certificate": "Write a guarantee of EXPR with a proof that others can check.",
        "check": "Check the printed numbers of a paper, or one number of EXPR.",
        "falsify": "Search for a small mechanism that violates THEOREM.",
    },
}
#: The commands of each file, which is opened where one of them is asked for.
_FILES = {
    "asking": "epsilon delta rdp",
    "exploring": "calibrate risk sweep compare explain graph plot theorems reference",
    "training": "dpsgd",
    "verifying": "verify certificate check falsify vectors",
    "writing": "optimum expand statement cite latex table code",
}
_ROOMS = {name: file for file, names in _FILES.items() for name in names.split()}


_LONGEST = 120  # characters of what was given, in an error that click words
_GIVEN = "symacct.given"  # the words of the command line, in click's notes of a run


def _worded(message: str, words: Iterable[str]) -> str:
    """The message, with what was given shortened."""
    for word in words:
        for part in (word, word.partition("=")[2]):
            for shown in (part, repr(part)[1:-1]):
                if len(shown) > _LONGEST:
                    message = message.replace(shown, cut(shown, _LONGEST))
    return message


def print_note(text: str) -> None:
    """A line beside the answer, on standard error."""
    click.echo(text, err=True)


@contextlib.contextmanager
def _warnings_shown() -> Iterator[None]:
    """What is warned of as a plain line on standard error."""
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
                formatter.write_dl(list(listed.items()))

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return [name for listed in JOBS.values() for name in listed]

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
            needed = f"one of {', '.join(self.list_commands())}"
            ctx.fail(f"No such command {echo(args[0])}{suggestion(args[0], _ROOMS, needed)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _warnings_shown():
                return super().invoke(ctx)
        except click.UsageError as error:
            vars(error)["message"] = _worded(error.message, ctx.meta[_GIVEN])
            raise
        except SymacctError as error:
            raise InputError(f"{type(error).__name__}: {error}") from None


@dataclass(frozen=True)
class Like:
    """How an option differs from what the signature says of its parameter."""

    help: str = ""
    _: KW_ONLY
    names: tuple[str, ...] = ()
    metavar: str | None = None
    type: click.ParamType[Any] | None = None
    default: Any = None
    is_repeated: bool = False
    #: What the function is given for the text that was typed.
    read: Callable[[Any], Any] | None = None
    #: Is the function given it? Otherwise all of it is done where it is read.
    is_given: bool = True


def one_or_several(names: tuple[str, ...]) -> By:
    return names if names[1:] else next(iter(names), None)


def orders_option(text: str) -> str | list[str]:
    return text if text == "integer" else grid(text)


def _give_seconds(value: int) -> None:
    click.get_current_context().with_resource(limits.limits(seconds=value))


#: A parameter of this name is the same option of every command, unless its annotation or a
#: docstring says otherwise.
SHARED = {
    "delta": Like("The δ at which ε is asked for, in [0, 1)."),
    "epsilon": Like("The ε at which δ is asked for, at least 0."),
    "by": Like(
        "Use only this theorem, such as ZW19-T5, and not the best one. If it is repeated, each "
        "part of EXPR uses the theorem that applies to it.",
        metavar="THEOREM",
        is_repeated=True,
        read=one_or_several,
    ),
    "also": Like(
        "Show the result of this theorem as well. This option can be repeated.",
        metavar="THEOREM",
        is_repeated=True,
    ),
    "conversion": Like(
        "How (ε, δ) is found. The value best is the smallest number that is proved in time. The "
        "values classic, improved and optimal use one Rényi order, total-variation uses the order "
        "1, and exact uses the true privacy profile.",
        metavar="NAME",
        default=BEST,
    ),
    "orders": Like(
        "The Rényi orders that may be used: 'integer', or a list such as 2,4,8.5,64. By default "
        "all orders may be used.",
        read=orders_option,
    ),
    "seconds": Like(
        "The processor time for the smallest number that is proved. The default is "
        f"{limits.Limits().seconds} seconds.",
        type=click.INT,
        read=_give_seconds,
        is_given=False,
    ),
    "sampling": Like(read=lambda text: text.replace("-", "_")),
    "adjacency": Like(
        "Which datasets are neighbours, if EXPR leaves it open: add_remove or replace_one. Name "
        "the relation for which the parameters of EXPR were stated.",
        metavar="RELATION",
        read=adjacency,
    ),
    "ask": Like(
        "The question: ε(α) at an order alpha, ε at a delta, or δ at an epsilon.",
        type=click.Choice(["rdp", "epsilon", "delta"]),  # the keys of sweeps.NEEDED
    ),
    "more": Like(
        "Also print what the number rests on, what Rényi orders give, and what is known of the "
        "true one.",
        default=False,
    ),
    "digits": Like(
        "How many significant digits are printed. The last one is rounded to the safe side.",
        type=click.INT,
        default=6,
    ),
    "as_json": Like("Print the answer as JSON.", names=("--json",), default=False),
}
#: How a number is found, as every question about (ε, δ) takes it.
HOW = "conversion orders by seconds digits"
Orders = Annotated[
    tuple[str, ...],
    Like(
        "A Rényi order from 1 to inf, or several, as in 2,8,inf or 2..64. This option can be "
        "repeated.",
        read=lambda texts: tuple(order for text in texts for order in grid(text) or [text]),
    ),
]
Axes = Annotated[
    tuple[str, ...],
    Like(
        "Give values to a parameter of EXPR, or to alpha, delta or epsilon. VALUES is a list "
        "such as 1,2,5, a range such as 1..10, START:END, or START:END:COUNT, with :log at the "
        "end for a logarithmic scale. This option can be repeated.",
        metavar="NAME=VALUES",
    ),
]
Expressions = Annotated[tuple[str, ...], Like(metavar="EXPR...")]
File = Annotated[str | None, Like(metavar="FILE")]
_NAMED = inspect.Parameter.KEYWORD_ONLY


def command(
    name: str,
    taken: str = "",
    of: Callable[..., Any] | None = None,
    *,
    prints_json: bool = True,
    epilog: str | None = EPILOG,
) -> Callable[[Callable[..., Any]], click.Command]:
    """The subcommand of a function, which gives back the answer to show.

    A parameter of the function before the slash is an argument, and another one is an option. So
    are the parameters that are `taken` from `of`, the Python function that answers, and the
    function gets them by name. The help of an option is what a docstring says of it.
    """

    def wrap(function: Callable[..., Any]) -> click.Command:
        """The function as a click command, which is added to the group."""
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(function, include_extras=True)
        parameter = functools.partial(_parameter, function, of)
        answering = inspect.signature(of).parameters if of else {}
        listed = []
        for each in (answering.get(x) or _open(x) for x in taken.split()):
            is_int = "int" in re.findall(r"\w+", str(each.annotation))
            listed.append(parameter(each.replace(kind=_NAMED), int if is_int else str))
        for each in parameters.values():
            if each.kind is not each.VAR_KEYWORD and each.name not in taken.split():
                listed.append(parameter(each, hints[each.name]))
        if prints_json and "as_json" not in parameters:
            listed.append(parameter(_open("as_json"), bool))
        arguments = [each.name for each in listed if isinstance(each, click.Argument)]

        @functools.wraps(function)
        def run(**values: Any) -> None:
            as_json = values["as_json"] if "as_json" in parameters else values.pop("as_json", False)
            typed = [values.pop(each) for each in arguments]
            show(function(*typed, **values), as_json)

        text = str(function.__doc__).partition("\f")[0]
        made = click.Command(name, callback=run, params=listed, help=text, epilog=epilog)
        main.add_command(made)
        return made

    return wrap


def _open(name: str) -> inspect.Parameter:
    """A parameter that the answering function does not have, or passes on."""
    return inspect.Parameter(name, _NAMED, default=None)


def _parameter(
    function: Callable[..., Any], of: Callable[..., Any] | None, one: inspect.Parameter, hint: Any
) -> click.Parameter:
    """The argument or option of one parameter, by its name, type and default."""
    hint, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    like = next((known for known in more if isinstance(known, Like)), SHARED.get(one.name, Like()))
    kinds, read = {hint, *get_args(hint)}, like.read
    is_repeated = like.is_repeated or get_origin(hint) is tuple
    typed = next((known for known in more if isinstance(known, click.ParamType)), like.type)
    if typed is None:
        typed = click.INT if int in kinds else _FILE if Path in kinds else click.STRING
    default = one.default if like.default is None else like.default
    kept: dict[str, Any] = {"required": default is one.empty, "metavar": like.metavar}
    if default not in (one.empty, None, ()):  # click takes None for a value that was given
        kept["default"] = default
    if one.kind is one.POSITIONAL_ONLY:
        return click.Argument([one.name], nargs=-1 if is_repeated else 1, **kept)
    if bool in kinds or default is False:
        kept["is_flag"] = True
    else:
        kept |= {"type": typed, "multiple": is_repeated, "show_default": "default" in kept}
    return click.Option(
        [*(like.names or [_flag(one.name)]), one.name],
        callback=None if read is None else _reading(read),
        help=_option_help(one.name, function) or like.help or _sentence(one.name, of),
        expose_value=like.is_given,
        **kept,
    )


def _reading(read: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """What click calls with the value of an option, which nothing is read of where it has none."""
    return lambda ctx, parameter, value: value if value is None else read(value)


def _flag(name: str) -> str:
    """The option of a parameter."""
    return f"--{name.replace('_', '-')}"


_FILE = click.Path(dir_okay=False, path_type=Path)


def _option_help(name: str, function: Callable[..., Any]) -> str:
    """What a command says of its option, in a line "name: …" after the form feed."""
    unseen = str(function.__doc__).partition("\f")[2]
    match = re.search(rf"^ *{name}: (.*?)(?=^ *\w+: |\Z)", unseen, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def _sentence(name: str, of: Callable[..., Any] | None) -> str:
    """What the docstring of the answering function says of a parameter: "`name` is …"."""
    match = re.search(rf"`{name}` is (.*?\.)(?=\s|$)", str(of.__doc__ if of else ""), re.DOTALL)
    text = " ".join(match[1].split()) if match else ""
    return re.sub(r"`(\w+)`", lambda name_match: _flag(name_match[1]), text[:1].upper() + text[1:])


@click.group("symacct", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="symacct")
def main() -> None:
    """Every digit that this privacy accountant prints is proven."""


@dataclass(frozen=True)
class Reply:
    """An answer that is put together here: what makes its document for JSON, and its screen."""

    as_dict: Callable[[], Any]
    _screen_: Callable[[], Iterable[Part]]


def text_reply(text: str, **document: Any) -> Reply:
    """A text that is printed as it is."""
    return Reply(lambda: document, lambda: [Verbatim(text)])


def show(answer: Any, as_json: bool = False) -> None:
    """Print an answer: its document as JSON; or the parts of its screen, its rows, or its text."""
    if answer is None:
        return
    if as_json:
        # A sign that the encoding lacks is JSON's escape, which is not always Python's.
        encoding = codecs.lookup(getattr(sys.stdout, "encoding", None) or "utf-8").name
        click.echo(json.dumps(_document(answer), indent=2, ensure_ascii=encoding != "utf-8"))
        return
    if hasattr(answer, "_screen_"):
        parts: Iterable[Part] = answer._screen_()
    else:
        parts = [Labelled(answer.rows())] if hasattr(answer, "rows") else [str(answer)]
    for part in parts:
        _print(part)
        sys.stdout.flush()  # the next part may take seconds


def _print(part: Part) -> None:
    match part:
        case Note():
            print_note(part.text)
        case Verbatim():
            click.secho(part.text.removesuffix("\n"), dim=part.is_dim)
        case _:
            print_part(part)


def _document(answer: Any) -> Any:
    if hasattr(answer, "as_dict"):
        return answer.as_dict()
    is_list = isinstance(answer, list | tuple)
    return [_document(part) for part in answer] if is_list else answer


def one_of(verb: str, **options: object) -> None:
    """InputError unless exactly one of the options was given."""
    if sum(value is not None for value in options.values()) != 1:
        needed = " or ".join(map(_flag, options))
        raise InputError(f"{verb}: needed {needed}, and one of them only")


def typed(name: str) -> bool:
    """Was the option of this parameter given on the command line?"""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def refuse(beside: str, *names: str) -> None:
    """InputError for an option that was typed where it does not belong, `beside` what it stood."""
    for option in click.get_current_context().command.params:
        if option.name in names and typed(option.name):
            raise InputError(f"found {option.opts[0]} {beside}")


def write(file: str | Path, text: str) -> None:
    """Write the text to a file."""
    with writing(file):
        Path(file).write_text(text, encoding="utf-8")


@contextlib.contextmanager
def writing(file: str | Path) -> Iterator[None]:
    """InputError for a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{echo(str(file))} cannot be written ({reason(error)})") from None


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


def pairs_of(option: str, texts: Iterable[str], needed: str) -> Iterator[tuple[str, str]]:
    """The two sides of each NAME=VALUE of an option; InputError says what is needed."""
    for text in texts:
        name, equals, value = map(str.strip, text.partition("="))
        if not equals:
            raise InputError(f"{option}: found {echo(text)}, needed {needed}")
        yield name, value


def axes_of(option: str, texts: Iterable[str]) -> dict[str, list[str]]:
    """The values by the names of all NAME=VALUES of an option, each of which is given once."""
    axes: dict[str, list[str]] = {}
    for name, values in pairs_of(option, texts, "NAME=VALUES such as sigma=1,2,5"):
        if name in axes:
            raise InputError(f"{option}: found {name} twice, needed all its values in one")
        axes[name] = grid(values)
    return axes
