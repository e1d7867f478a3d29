"""Test vectors, for accountants in any language."""

from __future__ import annotations

from pathlib import Path

import click

from symacct.cli.frame import main
from symacct.core.errors import DomainError, echo, reason
from symacct.evidence.vectors import SEED, write


@main.command("vectors")
@click.option("--out", default="vectors", show_default=True, metavar="DIR", help="Write into DIR.")
@click.option(
    "--only",
    multiple=True,
    metavar="FILE",
    help="Write only FILE, such as rdp_laplace. This option can be repeated.",
)
@click.option(
    "--seed", default=SEED, show_default=True, help="The questions are drawn by this seed."
)
def vectors_command(out: str, only: tuple[str, ...], seed: str) -> None:
    """Write test vectors for other accountants, as JSON files.

    Each vector is a question with a lower and an upper end of its answer. The same seed makes the
    same bytes on every machine.

    \b
    Example:
      symacct vectors --out vectors --only rdp_randomized_response
    """
    try:
        written = write(Path(out), only, seed)
    except OSError as error:
        raise DomainError(f"--out: {echo(out)} cannot be written ({reason(error)})") from None
    for path in written:
        click.echo(path)
