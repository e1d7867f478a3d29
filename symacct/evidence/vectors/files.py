"""The files: their questions by number, a line each, with header, schema and checksums."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from symacct.evidence.vectors.answers import (
    MEANINGS,
    MECHANISMS,
    SAMPLINGS,
    answer,
    both_forms,
)
from symacct.evidence.vectors.questions import (
    BASES,
    Chance,
    Recipe,
    calibration,
    compositions,
    conversions,
    curves_alone,
    curves_of_samples,
    fixed_size,
    other_relation,
    profiles_alone,
    profiles_of_samples,
)
from symacct.kernel.claims import Source
from symacct.kernel.deadline import progress
from symacct.kernel.errors import DomainError, echo, suggestion
from symacct.version import __version__

# --- JSON Schema of the files

#: The JSON schema of a double, as a decimal and as hexadecimal digits.
_DOUBLE = {
    "type": "array",
    "prefixItems": [
        {"type": "string", "description": "the shortest decimal that reads back as the double"},
        {"type": "string", "pattern": "^(-?0x[01](\\.[0-9a-f]+)?p[+-]\\d+|Infinity)$"},
    ],
    "minItems": 2,
    "maxItems": 2,
}
#: The JSON schema of an end of thirty digits.
_END = {"type": "string", "pattern": "^(0|\\d\\.\\d{29}e-?\\d+)$"}
#: The JSON schema of a mechanism, its sampling and its number of runs.
_PART = {
    "type": "object",
    "properties": {
        "mechanism": {"enum": [*MECHANISMS]},
        "sigma": _DOUBLE,
        "b": _DOUBLE,
        "p": _DOUBLE,
        "sensitivity": _DOUBLE,
        "sampling": {"enum": [*SAMPLINGS]},
        "rate": _DOUBLE,
        "count": {"type": "integer", "minimum": 1},
    },
    "required": ["mechanism"],
    "dependentRequired": {"sampling": ["rate"], "rate": ["sampling"]},
    "additionalProperties": False,
}
#: The JSON schema of a question.
_QUESTION = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "parts": {"type": "array", "items": _PART, "minItems": 1},
        "relation": {"enum": ["add_remove", "replace_one", "either"]},
        "order": _DOUBLE,
        "delta": _DOUBLE,
        "epsilon": _DOUBLE,
        "sensitivity": _DOUBLE,
        "conversion": {"enum": ["classic", "improved", "optimal"]},
        "curve": {
            "type": "array",
            "items": {"type": "array", "items": _DOUBLE, "minItems": 2, "maxItems": 2},
            "minItems": 1,
        },
        "lower": _END,
        "upper": _END,
    },
    "required": ["n", "tags", "lower", "upper"],
    "additionalProperties": False,
}
#: The JSON schema of a text.
_TEXT = {"type": "string"}
#: The JSON schema of a file of vectors.
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "symacct's test vectors",
    "type": "object",
    "properties": {
        "file": _TEXT,
        "asks": {"enum": [*MEANINGS]},
        "meaning": _TEXT,
        "numbers": _TEXT,
        "count": {"type": "integer"},
        "provenance": {
            "type": "object",
            "properties": {
                **dict.fromkeys(("generator", "command", "seed", "method"), _TEXT),
                **{key: {"type": "array", "items": _TEXT} for key in ("theorems", "sources")},
            },
            "required": ["generator", "command", "seed", "method", "theorems", "sources"],
        },
        "questions": {"type": "array", "items": _QUESTION},
    },
    "required": ["file", "asks", "meaning", "numbers", "count", "provenance", "questions"],
    "additionalProperties": False,
}


# --- the files

#: The published files are drawn by this seed.
SEED = "31"
#: Each file asks one kind of question, by these recipes.
FILES: dict[str, tuple[str, tuple[Recipe, ...]]] = {
    **{f"rdp_{name}": ("rdp", tuple(curves_alone(name))) for name in BASES},
    "rdp_poisson_gaussian": ("rdp", tuple(curves_of_samples("gaussian", 3))),
    **{
        f"rdp_poisson_{name}": ("rdp", tuple(curves_of_samples(name)))
        for name in BASES
        if name != "gaussian"
    },
    "rdp_poisson_replace_one": ("rdp", tuple(other_relation())),
    "rdp_fixed_size": ("rdp", tuple(fixed_size())),
    "rdp_compositions": ("rdp", tuple(compositions())),
    **{
        f"{asks}_{name}": (asks, tuple(recipes(asks)))
        for asks in ("epsilon", "delta")
        for name, recipes in (("alone", profiles_alone), ("poisson", profiles_of_samples))
    },
    **{
        f"conversion_{asks}": (f"conversion_{asks}", tuple(conversions(asks)))
        for asks in ("epsilon", "delta")
    },
    "calibration_gaussian": ("calibration", tuple(calibration())),
}
#: The file with the SHA-256 of all others.
_SUMS = "SHA256SUMS"
#: What a file says of how its numbers were computed.
_METHOD = (
    "Ball arithmetic (Arb), refined until the number lies strictly between two neighbouring "
    "decimals of thirty digits, which are `lower` and `upper`; one that is such a decimal lies "
    "between its two neighbours, and 0 is 0."
)
#: What the list of files says of its numbers.
_NUMBERS = (
    "A number in brackets is a double: the shortest decimal that reads back as it, and its exact "
    "value in base 16. The question is about exactly this value, never about the decimal. Other "
    "numbers are whole. What is absent is 1: sensitivity, count, and no sampling."
)


def count_of(file: str) -> int:
    """Count the questions of a file."""
    return sum(recipe.count for recipe in FILES[file][1])


def line(file: str, number: int, seed: str = SEED) -> str:
    """Write the question of this number, with its answer, as the file has it."""
    return _answered(file, number, seed)[0]


def _answered(file: str, number: int, seed: str) -> tuple[str, frozenset[str], frozenset[Source]]:
    """Draw the question of this number by the recipe that it falls in, and answer it.

    Returns its line, with the theorems and the sources of the answer.
    """
    asks, recipes = FILES[file]
    place, at = number, 0
    while place >= recipes[at].count:
        place, at = place - recipes[at].count, at + 1
    drawn = recipes[at].draw(Chance(seed, file, number))
    question = _in_both_forms(drawn)
    (lower, upper), names, sources = answer(asks, question)
    tags = [*recipes[at].tags, *_shown(upper)]
    whole = {"n": number, "tags": tags, **question, "lower": lower, "upper": upper}
    return json.dumps(whole, separators=(",", ":")), names, sources


def _shown(upper: str) -> list[str]:
    """List the tags of what is hard in an answer: that it is 0, or below the doubles."""
    if upper == "0":
        return ["answer 0"]
    return ["below double"] if float(upper) < sys.float_info.min else []


def _in_both_forms(value: Any) -> Any:
    """Write every double in a question in both forms, however deep."""
    if isinstance(value, float):
        return both_forms(value)
    if isinstance(value, dict):
        return {key: _in_both_forms(item) for key, item in value.items()}
    return list(map(_in_both_forms, value)) if isinstance(value, list) else value


def document(file: str, seed: str = SEED) -> Iterator[str]:
    """Yield the lines of a file: one JSON object, of which each question has one line."""
    asks, names, sources, lines = FILES[file][0], set[str](), set[Source](), list[str]()
    with progress(file, count_of(file)) as advance:
        for number in range(count_of(file)):
            text, some_names, some_sources = _answered(file, number, seed)
            lines.append(text)
            names |= some_names
            sources |= some_sources
            advance(1)
    header = {
        "file": file,
        "asks": asks,
        "meaning": MEANINGS[asks],
        "numbers": _NUMBERS,
        "count": len(lines),
        "provenance": {
            "generator": f"symacct {__version__}",
            "command": f"symacct vectors --only {file} --seed {seed}",
            "seed": seed,
            "method": _METHOD,
            "theorems": sorted(names),
            "sources": sorted(map(str, sources)),
        },
    }
    for key, value in header.items():
        first = "{" if key == "file" else ""
        yield f"{first}{json.dumps(key)}:{json.dumps(value, ensure_ascii=False)},"
    yield '"questions":['
    yield from (text + "," for text in lines[:-1])
    yield lines[-1]
    yield "]}"


def write(folder: Path, only: Iterable[str] = (), seed: str = SEED) -> list[Path]:
    """Write the files, all or those named, with the schema and the checksums of what is there.

    Returns the paths written. DomainError for a file that is none; OSError comes as it is.
    """
    for name in (chosen := list(only) or list(FILES)):
        if name not in FILES:
            meant = suggestion(name, FILES, f"one of {', '.join(FILES)}")
            raise DomainError(f"vectors: found the file {echo(name)}{meant}")
    folder.mkdir(parents=True, exist_ok=True)
    written = [_write(folder / "schema.json", json.dumps(SCHEMA, indent=1) + "\n")]
    for name in chosen:
        text = "\n".join(document(name, seed)) + "\n"
        written.append(_write(folder / f"{name}.json", text))
    known = [(path.read_bytes(), path.name) for path in sorted(folder.glob("*.json"))]
    sums = (f"{hashlib.sha256(text).hexdigest()}  {name}\n" for text, name in known)
    return [*written, _write(folder / _SUMS, "".join(sums))]


def _write(path: Path, text: str) -> Path:
    """Write a text with the same bytes on every machine, and return the path."""
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
