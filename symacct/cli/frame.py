"""What every command shares: its options, made of the signatures that answer, and `show`."""

from __future__ import annotations

import codecs
import contextlib
import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click

from symacct.cli.group import InputError, main, print_note
from symacct.explore.grids import grid
from symacct.kernel import limits
from symacct.kernel.claims import adjacency
from symacct.kernel.conversion import BEST
from symacct.kernel.errors import echo, reason
from symacct.kernel.node import Node
from symacct.results.screen import Labelled, Note, Part, Verbatim
from symacct.results.terminal import print_part
from symacct.text import parse_open

#: The help of each command ends with this.
EPILOG = (
    "EXPR says which mechanisms were run, as in '600000 * PoissonSubsample(Gaussian(5), 1/1000)', "
    "or in 'dp_sgd(60000, 256, 1.1, epochs=15) + dp_sgd(60000, 512, 1.5, epochs=5)'. "
    "Every number is taken exactly as it is written: 1/1000, 0.001 and 1e-3 are the same number. "
    "A name such as sigma in Gaussian(sigma) is a parameter without a value. Privacy losses are "
    "in nats."
)


@dataclass(frozen=True)
class Like:
    """How an option differs from what the signature says of its parameter.

    `names` are flags in the place of the parameter's own, and `type` is click's.
    """

    help: str = ""
    _: KW_ONLY
    names: tuple[str, ...] = ()
    metavar: str | None = None
    type: click.ParamType[Any] | None = None
    default: Any = None
    is_repeated: bool = False
    #: The function is given what this makes of the text that was typed.
    read: Callable[[Any], Any] | None = None
    #: Is the function given the value? Otherwise reading it does all that it is for.
    is_given: bool = True


def orders_option(text: str) -> str | list[str]:
    """Read the Rényi orders of an option: "integer", or the values of a grid."""
    return text if text == "integer" else grid(text)


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
        read=lambda names: names if names[1:] else next(iter(names), None),
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
        read=lambda value: click.get_current_context().with_resource(limits.limits(seconds=value)),
        is_given=False,
    ),
    "sampling": Like(read=lambda text: text.replace("-", "_")),
    "adjacency": Like(
        "Which datasets are neighbours, if EXPR leaves it open: add_remove, replace_one or "
        "zero_out. Name the relation for which the parameters of EXPR were stated.",
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
#: The kind of a parameter that becomes an option.
_NAMED = inspect.Parameter.KEYWORD_ONLY


def command(
    name: str,
    taken: str = "",
    of: Callable[..., Any] | None = None,
    *,
    prints_json: bool = True,
    epilog: str | None = EPILOG,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Make the subcommand of a function, which returns the answer to show.

    A parameter of the function before the slash is an argument, and another one is an option. So
    are the parameters that are `taken` from `of`, the Python function that answers, and the
    function gets them by name. The help of an option is what a docstring says of it.
    """

    def wrap(function: Callable[..., Any]) -> click.Command:
        """Make a click command of the function, and add it to the group."""
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
    """Make a parameter that the answering function does not have, or passes on."""
    return inspect.Parameter(name, _NAMED, default=None)


def _parameter(
    function: Callable[..., Any], of: Callable[..., Any] | None, one: inspect.Parameter, hint: Any
) -> click.Parameter:
    """Make the argument or option of one parameter, by its name, type and default.

    A `Like` in its annotation counts before one in `SHARED`.
    """
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

    def reading(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        return read(value) if read and value is not None else value

    return click.Option(
        [*(like.names or [_flag(one.name)]), one.name],
        callback=reading,
        help=_own_help(one.name, function) or like.help or _sentence(one.name, of),
        expose_value=like.is_given,
        **kept,
    )


def _flag(name: str) -> str:
    """Name the option of a parameter."""
    return f"--{name.replace('_', '-')}"


#: The type of an option that is a file's path.
_FILE = click.Path(dir_okay=False, path_type=Path)


def _own_help(name: str, function: Callable[..., Any]) -> str:
    """Read what a command says of its option, in a line "name: …" after the form feed."""
    unseen = str(function.__doc__).partition("\f")[2]
    match = re.search(rf"^ *{name}: (.*?)(?=^ *\w+: |\Z)", unseen, re.MULTILINE | re.DOTALL)
    return " ".join(match[1].split()) if match else ""


def _sentence(name: str, of: Callable[..., Any] | None) -> str:
    """Read what the docstring of the answering function says of a parameter: "`name` is …"."""
    match = re.search(rf"`{name}` is (.*?\.)(?=\s|$)", str(of.__doc__ if of else ""), re.DOTALL)
    text = " ".join(match[1].split()) if match else ""
    return re.sub(r"`(\w+)`", lambda name_match: _flag(name_match[1]), text[:1].upper() + text[1:])


@dataclass(frozen=True)
class Reply:
    """An answer that a command puts together: what makes its document for JSON, and its screen."""

    as_dict: Callable[[], Any]
    _screen_: Callable[[], Iterable[Part]]


def text_reply(text: str, **document: Any) -> Reply:
    """Make the reply of a text that is printed as it is; its JSON is the `document`."""
    return Reply(lambda: document, lambda: [Verbatim(text)])


def show(answer: Any, as_json: bool = False) -> None:
    """Print an answer: its document as JSON; or the parts of its screen, its rows, or its text.

    None prints nothing.
    """
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
        match part:
            case Note():  # to standard error
                print_note(part.text)
            case Verbatim():
                click.secho(part.text.removesuffix("\n"), dim=part.is_dim)
            case _:
                print_part(part)
        sys.stdout.flush()  # the next part may take seconds


def _document(answer: Any) -> Any:
    """Return the document of an answer, or of each one in a list."""
    if hasattr(answer, "as_dict"):
        return answer.as_dict()
    is_list = isinstance(answer, list | tuple)
    return [_document(part) for part in answer] if is_list else answer


def one_of(verb: str, **options: object) -> None:
    """Refuse a command, by an InputError, unless exactly one of the options was given."""
    if sum(value is not None for value in options.values()) != 1:
        needed = " or ".join(map(_flag, options))
        raise InputError(f"{verb}: needed {needed}, and one of them only")


def typed(name: str) -> bool:
    """Was the option of this parameter given on the command line?"""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def refuse(beside: str, *names: str) -> None:
    """Refuse, by an InputError, an option that was typed where it does not belong.

    `beside` ends the sentence that begins with the option: beside what it stood, what is needed.
    """
    for option in click.get_current_context().command.params:
        if option.name in names and typed(option.name):
            raise InputError(f"found {option.opts[0]} {beside}")


def write(file: str | Path, text: str) -> None:
    """Write the text to a file; InputError where it cannot be written."""
    with writing(file):
        Path(file).write_text(text, encoding="utf-8")


@contextlib.contextmanager
def writing(file: str | Path) -> Iterator[None]:
    """Raise an OSError of writing a file as an InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{echo(str(file))} cannot be written ({reason(error)})") from None


def in_numbers(text: str) -> Node:
    """Read an expression that is asked for numbers; InputError for a parameter without a value."""
    m = parse_open(text)
    if m.free_symbols:
        names = ", ".join(sorted(map(str, m.free_symbols)))
        raise InputError(
            f"found the parameter {names} without a value, needed a number; write it, or use sweep "
            "for many values, calibrate to find one, or latex, code or expand, which keep it"
        )
    return m


def pairs_of(option: str, texts: Iterable[str], needed: str) -> Iterator[tuple[str, str]]:
    """Yield the two sides of each NAME=VALUE of an option; InputError says what is needed."""
    for text in texts:
        name, equals, value = map(str.strip, text.partition("="))
        if not equals:
            raise InputError(f"{option}: found {echo(text)}, needed {needed}")
        yield name, value


def axes_of(option: str, texts: Iterable[str]) -> dict[str, list[str]]:
    """Read the values of all NAME=VALUES of an option by name; InputError for a repeated name."""
    axes: dict[str, list[str]] = {}
    for name, values in pairs_of(option, texts, "NAME=VALUES such as sigma=1,2,5"):
        if name in axes:
            raise InputError(f"{option}: found {name} twice, needed all its values in one")
        axes[name] = grid(values)
    return axes
