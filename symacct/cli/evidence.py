"""What anyone can check without symacct: certificate."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from symacct.accountant.accountant import asked_of
from symacct.accountant.best import BY_ORDERS
from symacct.cli.frame import EPILOG, InputError, how_options, in_numbers, main
from symacct.core.errors import DomainError, echo, reason
from symacct.evidence.certificates import FORMS
from symacct.results.enclosure import Guarantee
from symacct.results.progress import progress


@main.command("certificate", epilog=EPILOG)
@click.argument("expr")
@click.option("--delta", help="Certify the best ε at this δ, in (0, 1).")
@click.option("--epsilon", help="Certify the best δ at this ε, at least 0.")
@how_options
@click.option(
    "--form",
    default="json",
    show_default=True,
    type=click.Choice(list(FORMS)),
    help="The form of the certificate: JSON for checker/check.py, or a file for Coq.",
)
@click.option(
    "--digits",
    default=6,
    show_default=True,
    help="How many digits the claim has: at most 12, and at most 9 for Coq.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    help="The file to write. By default the certificate is printed.",
)
def certificate_command(
    expr: str,
    delta: str | None,
    epsilon: str | None,
    how: dict[str, Any],
    form: str,
    digits: int,
    out: str | None,
) -> None:
    """Write a guarantee of EXPR with a proof that others can check.

    It is the guarantee that the commands epsilon and delta report first, if symacct can write a
    certificate for it. Otherwise it is the guarantee by Rényi orders, and a note gives the reason.

    "python checker/check.py FILE" checks a JSON certificate without symacct. Coq with the package
    coq-interval checks a Coq certificate, with the library in the folder coq/ of symacct.

    \b
    Example:
      symacct certificate "100 * Gaussian(50)" --delta 1e-5 --out run.json
    """
    m = in_numbers(expr)
    if (delta is None) == (epsilon is None):
        raise InputError(
            "certificate: needed --delta or --epsilon, and one of them only, as in --delta 1e-5"
        )
    with progress("certificate"):
        ask = functools.partial(asked_of, m, delta, epsilon, digits=digits)
        text, note = _written(ask, how, FORMS[form])
    if note:
        click.echo(f"Note: {note}", err=True)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{echo(out)}: {reason(error)}") from None
    checked = {"json": f"python checker/check.py {out}"}.get(
        form, "Coq, as docs/certificates.md says,"
    )
    click.echo(f"{out} holds the {form} certificate; {checked} checks it without symacct")


def _written(
    ask: Callable[..., Guarantee], how: dict[str, Any], write: Callable[[Guarantee], str]
) -> tuple[str, str]:
    """The certificate of the number to report, or of the usual one by Rényi orders with why."""
    best = ask(**how)
    try:
        return write(best), ""
    except DomainError as error:
        if not best.is_best or best.conversion == BY_ORDERS:
            raise
        usual = ask(conversion=BY_ORDERS)
        here = f"this certifies {usual.letter} = {usual.asked.rounded()} by Rényi orders"
        why = f"{here}, and not the {best.asked.rounded()} to report: {error.finding}"
        return write(usual), why
