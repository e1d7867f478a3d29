"""Fractions on the screen as they were given, 256/60000 and not 8/1875: a reader knows them so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

_FRACTION = re.compile(r"(?<![\w./])(\d{1,18})/(\d{1,18})(?![\w/]|\.\d)")


def as_given(text: str, given: str) -> str:
    """The text with the fractions in it spelled as in what was given, where that is one way.

    >>> as_given("a share 8/1875 of 1/2", "Gaussian(1/2), 256/60000")
    'a share 256/60000 of 1/2'
    """
    spelled: dict[str, set[str]] = {}
    for reduced, one in _fractions(given):
        spelled.setdefault(reduced, set()).add(one)
    known = {reduced: ones.pop() for reduced, ones in spelled.items() if len(ones) == 1}
    return _FRACTION.sub(lambda found: known.get(found[0], found[0]), text)


def _fractions(given: str) -> Iterator[tuple[str, str]]:
    """Each fraction in lowest terms, and as it stands there."""
    for found in _FRACTION.finditer(given):
        if int(found[2]):
            yield "/".join(map(str, Fraction(found[0]).as_integer_ratio())), found[0]
