"""Code of a curve: code."""

from __future__ import annotations

import hashlib
from typing import Any

import click

from symacct.cli.frame import EPILOG, by_option, json_option, main, print_text
from symacct.codegen import TARGETS
from symacct.text import parse_open


@main.command("code", epilog=EPILOG)
@click.argument("expr")
@click.option("--form", "target", required=True, help=f"The language: {', '.join(TARGETS)}.")
@by_option
@click.option("--max-order", type=int, help="The largest finite order that the function answers.")
@click.option(
    "--accuracy", default="1e-11", show_default=True, help="The largest relative error allowed."
)
@click.option(
    "--points", default=100, show_default=True, help="At how many orders the error is measured."
)
@json_option
def code_command(expr: str, target: str, as_json: bool, **how: Any) -> None:
    """Print a function in another language that computes ε(α) of EXPR.

    The function needs no other file of symacct. Its error is first measured against certified
    values, and the function is not printed if the error is too large.

    \b
    Example:
      symacct code "PoissonSubsample(Gaussian(5), 1/1000)" --form python
    """
    text = parse_open(expr).code(target, **how)
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = {"expression": expr, "target": target, "sha256": digest, "code": text}
    print_text(as_json, document, text)
