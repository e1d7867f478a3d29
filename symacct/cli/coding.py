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
@click.option("--target", required=True, help=f"One of {', '.join(TARGETS)}.")
@by_option
@click.option("--max-order", type=int, help="The largest finite order answered.")
@click.option("--accuracy", default="1e-11", show_default=True, help="Largest relative error.")
@click.option("--points", default=100, show_default=True, help="Orders to measure it at.")
@json_option
def code_command(expr: str, target: str, as_json: bool, **how: Any) -> None:
    """A self-contained function that gives ε(α) of EXPR.

    It is measured against certified values before it is given out.
    """
    text = parse_open(expr).code(target, **how)
    digest = hashlib.sha256(text.encode()).hexdigest()
    document = {"expression": expr, "target": target, "sha256": digest, "code": text}
    print_text(as_json, document, text)
