"""The command line: a file per kind of command; importing one adds its commands to `main`."""

from symacct.cli.group import main

__all__ = ["main"]
