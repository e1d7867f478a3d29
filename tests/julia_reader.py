"""Generated Julia read as Python, so that it is run where there is no Julia.

What the target writes is a small language: functions, if, while, for over a falling range, and
expressions with && || ^ ? : and tables counted from 1. Anything else is a syntax error here.
"""

import re
from pathlib import Path

from symacct.codegen.runtime import plain

_WORDS = {"&&": "and", "||": "or", "NaN": "math.nan", "Inf": "math.inf", "Int": "int"}
_BASE = ("exp", "expm1", "log", "log1p", "sqrt", "floor")  # as IEEE 754 has them
_LINE = re.compile(r"(\s*)(const |return |(?:[\w, ]+ [-+*]?= ))?(.*)")


def as_python(text):
    """The module of Python that does the same, operation by operation."""
    runtime = Path(plain.__file__).read_text(encoding="utf-8").replace('"""', "# ", 2)
    needed = [runtime[runtime.index(f"def {name}(") :].split("\n\n\n")[0] for name in _BASE]
    assert _is_balanced(text)
    lines = [_line(line) for line in text.split("\n") if line.strip() != "end"]
    return "import math\nFloat64 = float\n\n" + "\n\n".join([*needed, "\n".join(lines)]) + "\n"


def _is_balanced(text):
    heads = re.findall(r"^\s*(?:function|if|while|for) ", text, re.MULTILINE)
    return len(heads) == len(re.findall(r"^\s*end$", text, re.MULTILINE)) > 0


def _line(line):
    line = line.partition("  # ")[0] if line.startswith("const") else line
    if line.lstrip().startswith(("#", '"')) or not line.strip():
        return line
    head = re.fullmatch(r"(\s*)(function|if|while|for) (.*)", line)
    if head is not None:
        indent, word, rest = head.groups()
        rest = re.sub(r"in (\d+):-1:(\d+)$", r"in range(\1, \2 - 1, -1)", rest)
        return f"{indent}{word.replace('function', 'def')} {_expression(rest)}:"
    indent, start, rest = _LINE.fullmatch(line).groups()
    start = (start or "").replace("const ", "")
    if rest.endswith("= ["):
        return f"{start}{rest}None,"
    return f"{indent}{start}{_expression(rest)}"


def _expression(text):
    parts = _split(text, " ? ")
    if len(parts) == 2:
        then, other = _split(parts[1], " : ")
        chosen = (_expression(part) for part in (then, parts[0], other))
        return "(({}) if ({}) else ({}))".format(*chosen)
    inside = re.sub(r"\w+|&&|\|\||\^", _word, _without_brackets(text))
    return inside.format(*(f"({_arguments(part)})" for part in _brackets(text)))


def _word(found):
    return "**" if found[0] == "^" else _WORDS.get(found[0], found[0])


def _arguments(text):
    parts, rest = [], text
    while len(cut := _split(rest, ", ")) == 2:
        parts.append(_expression(cut[0]))
        rest = cut[1]
    return ", ".join([*parts, _expression(rest)])


def _split(text, sign):
    """The text before and after the first such sign outside brackets; the text alone if none."""
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and text.startswith(sign, k):
            return [text[:k], text[k + len(sign) :]]
    return [text]


def _brackets(text):
    """What stands in the outermost brackets."""
    depth, start, found = 0, 0, []
    for k, c in enumerate(text):
        if c == "(":
            start, depth = (k + 1 if depth == 0 else start), depth + 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                found.append(text[start:k])
    return found


def _without_brackets(text):
    """The text with {} for what stands in the outermost brackets."""
    for part in _brackets(text):
        text = text.replace(f"({part})", "{}", 1)
    return text
