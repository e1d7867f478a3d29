"""What anyone can check without symacct: certificate."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from symacct.accountant.accountant import Accountant
from symacct.cli.frame import EPILOG, InputError, how_options, in_numbers, main
from symacct.core.errors import echo, reason
from symacct.evidence.certificates import FORMS
from symacct.results.progress import progress


@main.command("certificate", epilog=EPILOG)
@click.argument("expr")
@click.option("--delta", help="δ in (0, 1): the best ε is certified.")
@click.option("--epsilon", help="ε >= 0: the best δ is certified.")
@partial(how_options, conversion="improved")
@click.option(
    "--form", default="json", show_default=True, type=click.Choice(list(FORMS)), help="Of the file."
)
@click.option(
    "--digits", default=6, show_default=True, help="Digits of the claim, at most 12, 9 for Coq."
)
@click.option("--out", type=click.Path(dir_okay=False), help="The file to write; default print.")
def certificate_command(
    expr: str,
    delta: str | None,
    epsilon: str | None,
    how: dict[str, Any],
    form: str,
    digits: int,
    out: str | None,
) -> None:
    """The guarantee of EXPR with its proof, for checker/check.py.

    The checker needs neither symacct nor trust in it: python checker/check.py FILE. The form coq
    is a file that Coq with coq-interval proves from the library in the folder coq/.
    """
    m = in_numbers(expr)
    if (delta is None) == (epsilon is None):
        raise InputError("needed one of --delta and --epsilon")
    with progress("certificate"):
        accountant = Accountant(digits)
        ask = accountant.epsilon if epsilon is None else accountant.delta
        text = FORMS[form](ask(m, delta if epsilon is None else epsilon, **how))
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{echo(out)}: {reason(error)}") from None
