"""What a text that is no number, or no expression, was most likely meant to be.

>>> [remedy(text, str.isdecimal) for text in ("4000%", "60,000", "60k")]
['; did you mean 40?', '; did you mean 60000?', '']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeAlias

_Correction: TypeAlias = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
_LONGEST_NAME = 30
_NO_PARAMETER = {"inf", "infinity", "oo", "nan", "None", "True", "False"}
_LONGEST = 300  # characters of a text that is looked at, and of what is proposed
_POWER = r"(?:\*\*|\^)"

#: What can be read in no other way: signs of other scripts, a share in percent, C's float.
_CERTAIN: list[_Correction] = [
    (re.compile("[−–]"), "-"),
    (re.compile("[×·]"), "*"),
    (re.compile("[“”„‘’]"), "'"),
    (re.compile(";"), ","),
    (re.compile(r"(?<![\w.])(\d+\.\d*|\.\d+)[fF](?!\w)"), r"\1"),
    (re.compile(r"(?<![\w.])(\d*\.?\d+)\s*%"), lambda found: _percent(found[1])),
]
#: What may be meant otherwise, and is tried one by one, the likeliest first.
_POSSIBLE: list[_Correction] = [
    (re.compile(r"(?<![\d.,])\d{1,3}(?:[, ]\d{3})+(?![\d,])"), lambda m: re.sub("[, ]", "", m[0])),
    (
        re.compile(rf"(?<![\w.])(?:(\d+\.?\d*)\s*[x*]\s*)?10\s*(?:{_POWER}\s*(-)?|(-))\s*(\d+)"),
        lambda found: f"{found[1] or 1}e{found[2] or found[3] or ''}{found[4]}",
    ),
    (re.compile(r"(?<![\w.])(\d+),(\d+)(?![\d,])"), r"\1.\2"),
    (re.compile(r"[\[\]{}]"), lambda found: "(" if found[0] in "[{" else ")"),
    (re.compile(r"\^"), "**"),
]
#: What only a number by itself may be.
#: One over the number of records, or over some times that.
_ROOT = re.compile(r"(?:sympy\.|math\.)?((sqrt|log|exp)\(\d{1,30}(?:/\d{1,30})?\))")
_NAMES = {"sqrt": "a root", "log": "a logarithm", "exp": "a power of e"}
_RECORDS = re.compile(r"\s*\d+\s*/\s*\(?\s*(?:\d+\s*\*?\s*)?[nN]\s*\)?\s*")
_ALONE = [
    (re.compile(r"(?<=\d)\s*[kK]$"), "e3"),
    (re.compile(r"(?<=\d)\s*M$"), "e6"),
    (re.compile(r"\s+"), ""),
]


def corrected(text: str) -> Iterator[str]:
    """The text as it may have been meant, the likeliest first; the first is mostly itself."""
    if len(text) > _LONGEST:
        return
    for pattern, put in _CERTAIN:
        text = pattern.sub(put, text)
    yield text
    for pattern, put in _POSSIBLE:
        if (other := pattern.sub(put, text)) != text:
            yield other


def remedy(text: str, is_number: Callable[[str], object]) -> str:
    """The end of a message on a text that is no number: the first correction that is one."""
    if _RECORDS.fullmatch(text[:_LONGEST]):
        return "; write the number of records for n, as in 1/60000"
    alone = (pattern.sub(put, text) for pattern, put in _ALONE if len(text) <= _LONGEST)
    for other in chain(corrected(text), alone):
        if is_number(other):
            return proposed([other.strip()])
    return ""


def symbol(text: str) -> str:
    """The end of a message on a name where a number was needed: how it is a parameter.

    >>> symbol("sigma")
    "; for a parameter without a value write sympy.Symbol('sigma')"
    """
    if not text.isidentifier() or text in _NO_PARAMETER or len(text) > _LONGEST_NAME:
        return ""
    return f"; for a parameter without a value write sympy.Symbol({text!r})"


def root(text: str) -> str:
    """The end of a message on a root or a logarithm in quotes, where only a rational is read.

    >>> root("sqrt(27)"), root("log(3)")
    ('; write a root without quotes, as in sympy.sqrt(27)', \
'; write a logarithm without quotes, as in sympy.log(3)')
    """
    found = _ROOT.fullmatch(text)
    if not found:
        return ""
    call = re.sub(r"(\d+)/(\d+)", r"sympy.Rational(\1, \2)", found[1])
    return f"; write {_NAMES[found[2]]} without quotes, as in sympy.{call}"


def proposed(texts: list[str]) -> str:
    """The end of a message: these texts, where they are one or two, and short."""
    if not 1 <= len(texts) <= 2 or sum(map(len, texts)) > _LONGEST:
        return ""
    return f"; did you mean {' or '.join(texts)}?"


def _percent(number: str) -> str:
    """A hundredth of a decimal, as a decimal: of 0.4 it is 0.004."""
    whole, _, decimals = number.partition(".")
    digits = whole.zfill(3)
    return f"{digits[:-2].lstrip('0') or '0'}.{digits[-2:]}{decimals}".rstrip("0").rstrip(".")


#: How others end the name of a mechanism.
_ENDING = re.compile("(mechanism|mech|noise|dpevent)$")
_RESPONSE = "FiniteMechanism.randomized_response"
#: Their names in small letters, without underscores and endings; ours, the likeliest first.
_OURS = {
    "krr": (_RESPONSE,), "grr": (_RESPONSE,), "karyrandomizedresponse": (_RESPONSE,),
    "generalizedrandomizedresponse": (_RESPONSE,),
    "rr": ("RandomizedResponse",), "binaryrandomizedresponse": ("RandomizedResponse",),
    "geometric": ("DiscreteLaplace",), "twosidedgeometric": ("DiscreteLaplace",),
    "analyticgaussian": ("Gaussian",), "normal": ("Gaussian",), "bounded": ("PureDP",),
    "svt": ("SparseVector",), "abovethreshold": ("SparseVector",),
    "sparsevectortechnique": ("SparseVector",),
    "reportnoisymax": ("NoisyMax",), "rnm": ("NoisyMax",), "noisyargmax": ("NoisyMax",),
    "exp": ("ExponentialMechanism",), "exponential": ("ExponentialMechanism",),
    "em": ("ExponentialMechanism",), "pf": ("PermuteAndFlip",),
    "subsampledgaussian": ("PoissonSubsample",), "sampledgaussian": ("PoissonSubsample",),
    "poissonsampled": ("PoissonSubsample",), "poissonsubsampledgaussian": ("PoissonSubsample",),
    "poissonsampledgaussian": ("PoissonSubsample",),
    "dpsgd": ("dp_sgd", "PoissonSubsample"), "noisysgd": ("dp_sgd", "PoissonSubsample"),
    "sampledwithoutreplacement": ("SubsampleWithoutReplacement",),
    "composed": ("Compose",), "composition": ("Compose",), "selfcomposed": ("Compose",),
    "zerocdp": ("ZCDP",), "zconcentrated": ("ZCDP",), "cdp": ("ZCDP",),
    "puredifferentialprivacy": ("PureDP",), "epsilondelta": ("ApproximateDP",),
    "approxdp": ("ApproximateDP",), "dpftrl": ("TreeAggregation",),
    "treecomposition": ("TreeAggregation",), "matrixfactorization": ("MatrixMechanism",),
}  # fmt: skip
#: Forms of a text by what their files are called.
_FORMS = {"tex": "latex", "md": "markdown", "txt": "text"}
#: Questions by the names that other libraries have for them.
THEIR_QUESTIONS = {
    **dict.fromkeys(("get_epsilon", "compute_epsilon", "eps"), "epsilon(delta), or report(delta)"),
    "get_privacy_spent": "epsilon(delta), or report(delta)",
    **dict.fromkeys(("get_delta", "compute_delta"), "delta(epsilon)"),
    **dict.fromkeys(("get_rdp", "compute_rdp", "renyi"), "rdp(alpha)"),
    **dict.fromkeys(("compose", "self_compose"), "m1 + m2, or n * m"),
}


def our_name(found: str, known: Iterable[str]) -> str | None:
    """The known name of what others call `found`, if there is one.

    >>> our_name("LaplaceMechanism", ["Gaussian", "Laplace"]), our_name("SVT", ["Gaussian"])
    ('Laplace', None)
    """
    whole = found[:60].replace("_", "").lower()
    plain, names = _ENDING.sub("", whole), {one.lower(): one for one in known}
    for ours in (*_OURS.get(whole, ()), *_OURS.get(plain, ())):
        if ours.partition(".")[0].lower() in names:
            return names.get(ours.lower(), ours)
    return names.get(plain) or names.get(_FORMS.get(whole, whole))
