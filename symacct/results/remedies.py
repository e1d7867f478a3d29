"""The remedies of errors and notes, which are written for Python, for other readers."""

from __future__ import annotations

import re
from typing import Any

_NAME = r"[\w.-]+"
#: What is written in Python, and the words of the command line for it; "" where it has none.
_WORDS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern), words)
    for pattern, words in (
        # What only Python does, with the words that lead to it.
        (r"; for it alone, ask (?:in Python )?(?:risk\(m\)|m\.lower_)\S*[\w)]", ""),
        (r"; use \.convexify\(\)[^;]*", "; leave out --by, or name a theorem that holds there"),
        (r"m\.latex\(\) is the formula", "symacct latex without --delta prints the formula"),
        (r",? or ask for m\.formula\(\)", ", or use symacct latex"),
        (r"m\.formula\('?([\d/]+)'?\)", r"symacct latex --alpha \1"),
        (r"symacct\.limits\(seconds=(\w+)\)", r"--seconds \1"),
        (r"m\.(\w+)\('[^']*'\) may give", r"symacct \1 may give"),
        (
            r"m\.epsilon\('?([^',]*)'?, conversion='([\w-]+)'\)",
            r"symacct epsilon --delta \1 --conversion \2",
        ),
        (r"m\.report\(delta, adjacency='(\w+)'\)", r"--adjacency \1"),
        (r"(?:m\.epsilon|\bepsilon)\(delta\)", "symacct epsilon"),
        (r"m\.rdp\(alpha, engine=\W?(\w+)\W?\)", r"symacct rdp --engine \1"),
        (r"(?:for )?\.rdp\(alpha, by=\.\.\.\)", "symacct rdp with --by"),
        (r"(?:for )?\.rdp\(alpha\)", "symacct rdp"),
        (r"m\.report\(\S*\)", "symacct epsilon"),
        # A limit has no option.
        (
            r"raise (?:it with |the limit with )?(?:symacct\.)?limits\((\w+)=(?:\.\.\.|…)\)",
            r"raise the limit on \1 in Python",
        ),
        (r"symacct\.limits\([^)]*\) allows larger ones", "Python can raise both limits"),
        # Symbols get numbers in the expression itself.
        (r"replace (it|them) (?:with m|by )\.subs\(\{\.\.\.\}\)", r"write a number in place of \1"),
        (r"(?:with m|by |m)\.subs\(\{\.\.\.\}\)", "by numbers in their place"),
        (r"write sympy\.Symbol\('(\w+)'\)", r"write \1 in EXPR, without quotes"),
        (r"\bsympy\.sqrt\(", "sqrt("),
        (r"\bSymbol\('(\w+)'\)", r"\1"),
        # The values of a sweep.
        (r"; add \{'(\w+)': '?([\w.-]+)'?\}", r"; add --over \1=\2"),
        (
            r"; add \{'(\w+)': \['?([\w.-]+)'?, '?([\w.-]+)'?, '?([\w.-]+)'?\]\}",
            r"; add --over \1=\2,\3,\4",
        ),
        # Arguments that have an option.
        (rf"\b(conversion|by)='({_NAME})'", r"--\1 \2"),
        (r"\borders=None", "no --orders"),
        (r"\borders=\[([^\]]*)\]", r"--orders \1"),
        (r"\b(by|orders|conversion)=(?=[\s;,.)]|$)", r"--\1"),
    )
]


#: What a note says of calls, and what a paper says of the same: its readers call nothing.
_FOR_PAPERS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"symacct\.limits\([^)]*\)"), "more time"),
    (re.compile(r", and conversion='[\w-]+' runs to its end"), ""),
    (re.compile(r"conversion='([\w-]+)'"), r"the \1 conversion"),
]


def for_papers(note: str) -> str:
    """The note without the calls that it proposes.

    >>> for_papers("symacct.limits(seconds=15) may prove a smaller ε")
    'more time may prove a smaller ε'
    """
    return _replaced(note, _FOR_PAPERS)


def as_options(text: str) -> str:
    """The text with each remedy as one writes it on the command line.

    >>> as_options("found ZCDP; use conversion='improved', or leave out by=")
    'found ZCDP; use --conversion improved, or leave out --by'
    """
    return _replaced(text, _WORDS)


def _replaced(text: str, table: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, words in table:
        text = pattern.sub(words, text)
    return text


def document_as_options(document: Any) -> Any:
    """A document of JSON types, all of its texts so."""
    if isinstance(document, str):
        return as_options(document)
    if isinstance(document, dict):
        return {key: document_as_options(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [document_as_options(value) for value in document]
    return document
