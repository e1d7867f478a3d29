"""Test vectors, for accountants in any language."""

from __future__ import annotations

from pathlib import Path

import click

from symacct.cli.frame import main
from symacct.core.errors import DomainError, echo, reason
from symacct.evidence.vectors import SEED, write


@main.command("vectors")
@click.option("--out", default="vectors", show_default=True, metavar="DIR", help="Where they go.")
@click.option("--only", multiple=True, metavar="FILE", help="A file, as rdp_laplace; repeatable.")
@click.option("--seed", default=SEED, show_default=True, help="What the questions are drawn by.")
def vectors_command(out: str, only: tuple[str, ...], seed: str) -> None:
    """Test vectors: questions with two-sided answers, as JSON files.

    The same seed makes the same bytes on every machine.
    """
    try:
        written = write(Path(out), only, seed)
    except OSError as error:
        raise DomainError(f"--out: {echo(out)} cannot be written ({reason(error)})") from None
    for path in written:
        click.echo(path)
