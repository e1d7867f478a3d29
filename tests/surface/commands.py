"""Command lines of every verb: their exit status, the keys of their JSON, the number reported."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from typing import Any

from click.testing import CliRunner

from symacct.cli import main
from tests.surface.questions import NEAR


def answer(command: tuple[str, ...]) -> dict[str, Any]:
    """The exit status, whether something was printed, and of JSON its keys and its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(main, list(command))
    found: dict[str, Any] = {"status": result.exit_code, "prints": bool(result.stdout)}
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        found["raised"] = type(result.exception).__name__
    if "--json" in command and result.stdout:
        document = json.loads(result.stdout)
        found["keys"] = sorted(keys(document))
        if number := reported(document):
            found["number"] = number
    return found


def keys(document: Any, path: str = "") -> set[str]:
    """The keys, with those they lie under; members of a list are one."""
    if isinstance(document, dict):
        inner = [keys(value, f"{path}.{key}") for key, value in document.items()]
        return set().union(*inner) if inner else {path}
    if isinstance(document, list):
        return set().union({f"{path}[]"}, *(keys(one, f"{path}[]") for one in document))
    return {path}


def reported(document: Any) -> str:
    """The ε of a question about ε, the δ of one about δ; nothing where it was another question."""
    if not isinstance(document, dict):
        return ""
    for name in ("epsilon", "delta"):
        one = document.get(name)
        if isinstance(one, dict) and one.get("claim", {}).get("kind") != "lower":
            return str(one.get("value", ""))
    return ""


def faults(command: tuple[str, ...], was: dict[str, Any]) -> list[str]:
    """What the command does otherwise than was written down."""
    now = answer(command)
    line = " ".join(command)
    said = [
        f"{line}: {key} was {was.get(key)}, is {now.get(key)}"
        for key in ("status", "prints", "raised", "keys")
        if was.get(key) != now.get(key)
    ]
    if "number" in was and Fraction(now.get("number", "inf")) > Fraction(was["number"]) * (
        1 + NEAR
    ):
        said.append(f"{line}: {was['number']} became {now.get('number')}")
    return said
