"""Text for an output that cannot write all signs: each is spelled out in ASCII, ε as epsilon."""

from __future__ import annotations

import codecs
import sys
import unicodedata

_NEEDED = "εαδσ₀⁻⁹×−≤∞…│─━é"  # what an encoding has that needs no help
_HANDLER = "symacct.spelled"
_ASCII = "symacct_ascii"  # by a name of its own: into what is called ascii click writes UTF-8
_SIGNS = {
    "×": "x", "·": "*", "−": "-", "–": "-", "—": "-", "…": "...", "≤": "<=", "≥": ">=", "≠": "!=",
    "≈": "~", "±": "+-", "∞": "inf", "√": "sqrt", "∑": "sum", "∫": "int", "→": "->", "↦": "->",
    "↑": "^", "↓": "v", "∈": " in ", "′": "'", "’": "'", "‘": "'", "“": "'", "”": "'", "│": "|",
    "─": "-", "━": "-", "⌈": "ceil(", "⌊": "floor(", "⌉": ")", "⌋": ")",
}  # fmt: skip


def spell_out() -> None:
    """Let standard output and error write every text, in ASCII alone where they lack a sign.

    Not by their own few: in Latin-1 a power of 15 would be half a superscript.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            has_all = _has_all(stream.encoding)
            stream.reconfigure(encoding=None if has_all else _ASCII, errors=_HANDLER)


def writes_all() -> bool:
    """Can standard output write every sign?"""
    return _has_all(getattr(sys.stdout, "encoding", None) or "utf-8")


def writable(text: str) -> str:
    """The text as `spell_out` lets standard output write it."""
    return text if writes_all() else text.encode("ascii", _HANDLER).decode("ascii")


def _has_all(encoding: str) -> bool:
    try:
        _NEEDED.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """The signs of a run that cannot be written, in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text, found = error.object, ""
    for place in range(error.start, error.end):
        before, after = text[place - 1 : place] if place else "", text[place + 1 : place + 2]
        word = _in_ascii(text[place], before)
        apart = word.isalpha() and len(word) > 1
        if (apart or "/" in word) and (found[-1:] or before).isalnum():
            word = f" {word}"
        found += word + " " * (apart and after.isascii() and after.isalnum())
    return found, error.end


def _in_ascii(sign: str, before: str) -> str:
    """ε as epsilon, ⁹ as ^9 after what is no superscript, é as e; else its code."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    name = unicodedata.name(sign, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        word = name.split(" LETTER ")[1].split()[0].lower()
        return word.capitalize() if "CAPITAL" in name else word
    if name.startswith("BOX DRAWINGS"):
        return "+"
    sort = unicodedata.decomposition(sign).partition(" ")[0]
    mark = {"<super>": "^", "<sub>": "_"}.get(sort, "")
    if mark and unicodedata.decomposition(before or " ").startswith(sort):
        mark = ""  # it goes on
    parts = unicodedata.normalize("NFKD", sign).replace("\u2044", "/")
    kept = "".join(_SIGNS.get(part, part) for part in parts if not unicodedata.combining(part))
    return mark + kept if kept.isascii() else sign.encode("ascii", "backslashreplace").decode()


def _ascii(name: str) -> codecs.CodecInfo | None:
    if name != _ASCII:
        return None
    codec = codecs.lookup("ascii")
    return codecs.CodecInfo(
        codec.encode, codec.decode, incrementalencoder=codec.incrementalencoder,
        incrementaldecoder=codec.incrementaldecoder, name=_ASCII,
    )  # fmt: skip


codecs.register_error(_HANDLER, _spelled)
codecs.register(_ascii)
