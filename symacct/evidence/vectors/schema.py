"""JSON Schema of the files."""

from __future__ import annotations

from typing import Any

_DOUBLE = {
    "type": "array",
    "prefixItems": [
        {"type": "string", "description": "the shortest decimal that reads back as the double"},
        {"type": "string", "pattern": "^(-?0x[01](\\.[0-9a-f]+)?p[+-]\\d+|Infinity)$"},
    ],
    "minItems": 2,
    "maxItems": 2,
}
_END = {"type": "string", "pattern": "^(0|\\d\\.\\d{29}e-?\\d+)$"}
_PART = {
    "type": "object",
    "properties": {
        "mechanism": {"enum": ["gaussian", "laplace", "randomized_response", "discrete_gaussian"]},
        "sigma": _DOUBLE,
        "b": _DOUBLE,
        "p": _DOUBLE,
        "sensitivity": _DOUBLE,
        "sampling": {"enum": ["poisson", "fixed_size"]},
        "rate": _DOUBLE,
        "count": {"type": "integer", "minimum": 1},
    },
    "required": ["mechanism"],
    "dependentRequired": {"sampling": ["rate"], "rate": ["sampling"]},
    "additionalProperties": False,
}
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
_TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "symacct's test vectors",
    "type": "object",
    "properties": {
        "file": _TEXT,
        "asks": {
            "enum": [
                "rdp",
                "epsilon",
                "delta",
                "conversion_epsilon",
                "conversion_delta",
                "calibration",
            ]
        },
        "meaning": _TEXT,
        "numbers": _TEXT,
        "count": {"type": "integer"},
        "provenance": {
            "type": "object",
            "properties": {
                "generator": _TEXT,
                "command": _TEXT,
                "seed": _TEXT,
                "method": _TEXT,
                "theorems": {"type": "array", "items": _TEXT},
                "sources": {"type": "array", "items": _TEXT},
            },
            "required": ["generator", "command", "seed", "method", "theorems", "sources"],
        },
        "questions": {"type": "array", "items": _QUESTION},
    },
    "required": ["file", "asks", "meaning", "numbers", "count", "provenance", "questions"],
    "additionalProperties": False,
}
