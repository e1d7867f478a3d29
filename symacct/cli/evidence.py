"""What others can check, and what is checked of others: certificate, check, vectors, falsify."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import click

from symacct.adversary.falsify import Attack, falsify
from symacct.cli.frame import (
    InputError,
    Like,
    command,
    findings_alone_are_1,
    in_numbers,
    one_of,
    print_note,
    show,
)
from symacct.evidence.certificates import FORMS
from symacct.evidence.certificates.forms import of_the_reported
from symacct.evidence.vectors import write
from symacct.explore.sweeps.worker import NEEDED
from symacct.kernel import limits
from symacct.kernel.accountant import asked_of
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, cut, echo, reason
from symacct.papers import paper_check
from symacct.papers.paper_check import CheckedNumbers

_LONGEST_PATH = 300  # characters of a file's name in a message


@command("certificate", "delta epsilon conversion orders by seconds", prints_json=False)
def certificate_command(
    expr: str,
    /,
    delta: str | None,
    epsilon: str | None,
    form: Annotated[str, click.Choice(list(FORMS))] = "json",
    digits: Annotated[
        int, Like("How many digits the claim has: at most 12, and at most 9 for Coq.")
    ] = 6,
    out: Path | None = None,
    **how: Any,
) -> None:
    """Write a guarantee of EXPR with a proof that others can check.

    It is the guarantee that the commands epsilon and delta report first, if symacct can write a
    certificate for it. Otherwise it is the guarantee by Rényi orders, and a note gives the reason.

    "python checker/check.py FILE" checks a JSON certificate without symacct. Coq with the package
    coq-interval checks a Coq certificate, with the library in the folder coq/ of symacct.

    \b
    Example:
      symacct certificate "100 * Gaussian(50)" --delta 1e-5 --out run.json
    \f
    form: The form of the certificate: JSON for checker/check.py, or a file for Coq.
    out: The file to write. By default the certificate is printed.
    """
    m = in_numbers(expr)
    one_of("certificate", delta=delta, epsilon=epsilon)
    with progress("certificate"):
        ask = functools.partial(asked_of, m, delta, epsilon, digits=digits)
        text, note = of_the_reported(ask, how, FORMS[form])
    if note:
        print_note(f"Note: {note}")
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{echo(str(out))}: {reason(error)}") from None
    checked = {"json": f"python checker/check.py {out}"}.get(
        form, "Coq, as docs/certificates.md says,"
    )
    click.echo(f"{out} holds the {form} certificate; {checked} checks it without symacct")


@command("check", "delta epsilon conversion by", epilog=None)
@findings_alone_are_1()
def check_command(
    what: Annotated[str, Like(metavar="FILE|EXPR")],
    /,
    prints: str | None = None,
    alpha: str | None = None,
    direction: Annotated[str, click.Choice(paper_check.DIRECTIONS)] = paper_check.SAFE,
    as_json: bool = False,
    **how: Any,
) -> None:
    """Check the printed numbers of a paper, or one number of EXPR.

    FILE is a JSON file of the numbers that a paper prints, or a file whose name ends in .csv, of
    lines EXPR,delta,printed. With --prints, one number is checked, and --delta, --epsilon or
    --alpha says which question it answers. A guarantee that is rounded down is not true as printed,
    even if its digits are right. A guarantee that is larger than the value rounded up is true but
    loose. The exit status is 1 if a number is not true as printed. It is 2 if an entry of FILE
    cannot be read. The other entries are still checked.

    \b
    Examples:
      symacct check examples/papers.json
      symacct check "Gaussian(5)" --alpha 2 --prints 0.04
    \f
    prints: One printed number, which is checked for EXPR.
    alpha: The Rényi order at which the printed number is ε(α).
    direction: How the paper rounds the number: safe is up, as a guarantee is rounded, and down for
        a lower bound.
    """
    given = {"delta": how.pop("delta"), "epsilon": how.pop("epsilon"), "alpha": alpha}
    asked = {name: number for name, number in given.items() if number is not None}
    if prints is not None:
        entry = _entry(what, prints, asked, direction=direction, **how)
        checked = CheckedNumbers([paper_check.check_entry(entry)], is_one=True)
    elif given_with_file := _given_of_one():
        raise InputError(
            f"found {given_with_file} and no --prints: in a FILE each entry has a field for it; "
            "for one number of EXPR add --prints, as in --prints 0.73"
        )
    elif asked:
        raise InputError(
            f"found --{min(asked)} and no --prints, needed the number printed, as in --prints 0.73"
        )
    else:
        checked = _checked(_read(Path(what)), "csv" if what.lower().endswith(".csv") else "json")
    show(checked, as_json)
    if checked.status:
        raise SystemExit(checked.status)


def _given_of_one() -> str:
    """An option that is of one number, where it was given; nothing where none was."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    names = ("direction", "conversion", "by")
    return next((f"--{name}" for name in names if ctx.get_parameter_source(name) is typed), "")


_ASKED_BY = {number: ask for ask, number in NEEDED.items()}


def _entry(expr: str, prints: str, asked: dict[str, str], **how: Any) -> paper_check.PaperEntry:
    """The question that one printed number answers, by the best proved if nothing is pinned."""
    if len(asked) != 1:
        raise InputError(
            "check: needed --delta, --epsilon or --alpha with --prints, and one only, as in "
            "--delta 1e-5"
        )
    ((name, number),) = asked.items()
    in_numbers(expr)  # a parameter without a value is refused before anything is computed
    paper_check.printed_number(prints)
    return paper_check.PaperEntry(expr, _ASKED_BY[name], number, prints, "command line", **how)


def _read(file: Path) -> str:
    """The text of a file that is not too large and is text; no more is read than is allowed."""
    try:
        with open(file, "rb") as opened:
            content = opened.read(limits.current().text_bytes + 1)
        limits.check("text_bytes", len(content), f"{file}, in bytes (or more)")
        return content.decode()
    except OSError as error:
        of_expr = "; for an EXPR add --delta 1e-5 --prints 0.73, for example" * ("(" in str(file))
        name = cut(str(file), _LONGEST_PATH)
        raise InputError(f"{name}: {reason(error)}{of_expr}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{cut(str(file), _LONGEST_PATH)}: no UTF-8 ({error})") from None


def _checked(text: str, form: str) -> CheckedNumbers:
    checked = []
    with progress("checking", len(paper_check.entries(text, form))) as advance:
        for one in paper_check.check(text, form):
            checked.append(one)
            advance(1)
    return CheckedNumbers(checked)


@command("vectors", "seed", write, prints_json=False, epilog=None)
def vectors_command(
    out: Annotated[str, Like(metavar="DIR")] = "vectors",
    only: Annotated[tuple[str, ...], Like(metavar="FILE")] = (),
    *,
    seed: str,
) -> None:
    """Write test vectors for other accountants, as JSON files.

    Each vector is a question with a lower and an upper end of its answer. The same seed makes the
    same bytes on every machine.

    \b
    Example:
      symacct vectors --out vectors --only rdp_randomized_response
    \f
    out: Write into DIR.
    only: Write only FILE, such as rdp_laplace. This option can be repeated.
    seed: The questions are drawn by this seed.
    """
    try:
        written = write(Path(out), only, seed)
    except OSError as error:
        raise DomainError(f"--out: {echo(out)} cannot be written ({reason(error)})") from None
    for path in written:
        click.echo(path)


@command("falsify", "budget seed", falsify, epilog=None)
def falsify_command(theorem: str, /, budget: int, seed: int) -> Attack:
    """Search for a small mechanism that violates THEOREM.

    THEOREM is the code of a theorem, such as ZW19-T5, or the name of a conversion, such as
    improved.

    \b
    Example:
      symacct falsify ZW19-T5 --budget 200
    """
    return falsify(theorem, budget, seed)
