"""Broken documents: odd JSON values in valid places, and bytes flipped, cut, doubled, shuffled."""

import copy
import json


class Raw(str):
    """Stands in a document as it is, without quotes."""


NUMBERS = ["0", "-0", "1", "2", "-1", "0.5", "1e3000", "1E-3000", "1e999999999", "-1e308", "5e-324"]
NUMBERS += [
    "NaN",
    "Infinity",
    "-Infinity",
    "1" * 4000,
    "1" * 6000,
    "0." + "1" * 3000,
    "1e+2",
    "4097",
]
TEXTS = ["", " ", "inf", "+-inf", "-Inf", "nan", "+nan", "infinity", "1/0", "1/3", "0/1", "-5/2"]
TEXTS += [
    "1_0",
    "٣",
    "1e3000",
    "1e99999999999",
    "0x10",
    "real",
    "rdp",
    "epsilon",
    "Gaussian",
    "none",
]
TEXTS += ["\ud800", "\x00", "\x1b[2J", "a" * 5000, "9" * 5000, "ZW19-T8", "ZW19-T11:tau=999999999"]
TEXTS += [
    "__import__('os')",
    "PoissonSubsample(Gaussian(1), 1/2)",
    "none",
    "poisson",
    "number",
    "upper",
]
PLAIN = [Raw("null"), Raw("true"), Raw("false"), [], {}, [[]], {"": []}, [Raw("1")], ["2", "3"]]


def value(chance):
    """One odd value."""
    kind = chance.randrange(8)
    if kind < 3:
        return Raw(chance.choice(NUMBERS))
    if kind < 6:
        return chance.choice(TEXTS)
    if kind == 6:
        return copy.deepcopy(chance.choice(PLAIN))
    depth = chance.choice([3, 30, 300, 3000, 100_000])
    return Raw("[" * depth + "]" * depth)


def text(document):
    """The document as JSON, what is Raw as it stands."""
    if isinstance(document, Raw):
        return str(document)
    if isinstance(document, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {text(v)}" for k, v in document.items()) + "}"
    if isinstance(document, list | tuple):
        return "[" + ", ".join(map(text, document)) + "]"
    return json.dumps(document)


def places(document):
    """(container, key) of everything in a document."""
    keys = list(document) if isinstance(document, dict) else range(len(document))
    for key in keys:
        yield document, key
        if isinstance(document[key], dict | list):
            yield from places(document[key])


def document(chance, valid):
    """A valid document with one to three of its fields replaced, removed, renamed or added."""
    broken = copy.deepcopy(valid)
    for _ in range(chance.randrange(1, 4)):
        found = list(places(broken))
        if not found:
            break
        container, key = chance.choice(found)
        kind = chance.randrange(6)
        if kind == 0 and isinstance(container, dict):
            del container[key]
        elif kind == 1 and isinstance(container, dict):
            container[chance.choice([*TEXTS, "comment"])] = value(chance)
        elif kind == 2 and isinstance(container, dict):
            container[chance.choice([*container, "id"])] = container.pop(key)
        else:
            container[key] = value(chance)
    return text(broken)


def damaged(chance, content):
    """Bytes with one to four of them flipped, cut out, doubled, moved or overwritten."""
    found = bytearray(content)
    for _ in range(chance.randrange(1, 5)):
        at, end = sorted(chance.randrange(len(found) + 1) for _ in range(2))
        end = min(end, at + chance.choice([1, 2, 8, 64, 10**6]))
        kind = chance.randrange(6)
        if kind == 0 and at < len(found):
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del found[at:end]
        elif kind == 2:
            found[at:at] = found[at:end]
        elif kind == 3:
            found[at:end] = bytes(chance.randrange(256) for _ in range(min(end - at, 64)))
        elif kind == 4 and at < len(found):
            found[at : at + 1] = chance.choice(
                [b"0", b"9", b"e", b"-", b'"', b"\n", b"\xff", b"\0"]
            )
        else:
            found = found[end:] + found[:end]
    return bytes(found)
