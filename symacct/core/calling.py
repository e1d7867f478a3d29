"""A call with arguments that a function does not take: one error, which says what it takes."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from symacct.core.errors import ArgumentError, DomainError, echo, nearest

_P = ParamSpec("_P")
_T = TypeVar("_T")
_K = TypeVar("_K")
#: As other libraries call the ε that is to be met.
_AIM = "; symacct.calibrate(m, epsilon, delta) finds the parameter that meets a target"
#: What an argument for the relation is called, and the text of a relation given without its name.
_RELATION_NAMES = {"adjacency", "relation", "neighbors", "neighbours"}
_RELATION = re.compile("(add|replace)([-/_]or)?[-/_](remove|one)")
#: How a relation is said that is no argument.
UNDER = "say the relation of an answer, as in m.report(delta, adjacency='replace_one')"


class Constructed(type):
    """A class whose constructor says what it takes where it is called with something else."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """Without this, Python shows the signature of `__call__` below."""
        own: Any = cls
        maker = own.__init__ if own.__new__ is object.__new__ else own.__new__
        if maker is object.__init__:
            return inspect.Signature()
        signature = inspect.signature(maker)
        return signature.replace(parameters=[*signature.parameters.values()][1:])

    if not TYPE_CHECKING:  # editors and checkers would take what it returns for the type of a call

        def __call__(cls, *values: Any, **keywords: Any) -> Any:
            try:
                return super().__call__(*values, **keywords)
            except (TypeError, DomainError):
                _check_relation(cls, values)
                _check(cls.__name__, cls, values, keywords)
                raise


#: What others call an argument, and what it is called here.
_THEIR_ARGUMENTS = {
    "sigma": ("noise_multiplier",), "noise": ("noise_multiplier", "sigma"),
    "noise_scale": ("noise_multiplier", "sigma"), "scale": ("sigma", "b"),
    "stddev": ("sigma", "noise_multiplier"), "std": ("sigma", "noise_multiplier"),
    "noise_multiplier": ("sigma",), "lot_size": ("batch_size",), "batch": ("batch_size",),
    "sample_size": ("n",), "dataset_size": ("n",), "num_examples": ("n",), "records": ("n",),
    "num_epochs": ("epochs",), "num_steps": ("steps",), "iterations": ("steps",),
    "sample_rate": ("gamma", "batch_size"), "sampling_rate": ("gamma", "batch_size"),
    "sampling_probability": ("gamma", "batch_size"), "q": ("gamma",), "rate": ("gamma",),
    **dict.fromkeys(("orders", "alphas", "alpha", "deltas", "epsilons"), ("at",)),
}  # fmt: skip
#: What a question is asked at, where the values of a grid are given in `over`.
_ON_AN_AXIS = {"delta": "1e-5", "epsilon": "1", "alpha": "8"}
_VARIANCES = ("sigma2", "sigma_squared", "variance")
#: What answers where a call has the arguments of another one.
_OTHERS = {
    "theorems": "; one of them is symacct.theorem(name), as in symacct.theorem('ZW19-T8')",
    "RandomizedResponse": "; answers of other probabilities are FiniteMechanism",
}


def explained(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """The function, which says what it takes where it is called with something else."""

    @functools.wraps(function)
    def call(*values: _P.args, **keywords: _P.kwargs) -> _T:
        __tracebackhide__ = True  # of assert_sound, whose report ends at the line that called
        try:
            return function(*values, **keywords)
        except TypeError:
            # Of a method its owner comes first, which nobody writes as an argument.
            first = next(iter(inspect.signature(function).parameters), "")
            owned = first in ("cls", "self")
            bound: Any = functools.partial(cast(Any, function), *values[:owned])
            name = function.__name__ if first == "self" else function.__qualname__
            _check(name, bound, values[owned:], keywords)
            raise

    return call


def explained_methods(kind: type[_K]) -> type[_K]:
    """The class, whose own public methods say what they take."""
    for name, found in list(vars(kind).items()):
        if inspect.isfunction(found) and not name.startswith("_"):
            setattr(kind, name, explained(found))
    return kind


def _check(
    name: str, function: Callable[..., Any], values: Sequence[Any], keywords: Mapping[str, Any]
) -> None:
    told = fault(name, function, values, keywords)
    if told:
        raise ArgumentError(told) from None


def _check_relation(cls: Constructed, values: Sequence[Any]) -> None:
    """DomainError for a relation in the place of a number: how it is said."""
    signature = inspect.signature(cls)
    places = zip_longest(list(signature.parameters)[: len(values)], values)
    given = (value for name, value in places if name != "adjacency" and isinstance(value, str))
    if word := next(filter(_RELATION.fullmatch, given), ""):
        if "adjacency" in signature.parameters:
            said = f"without its name, needed adjacency={word!r}"
        else:
            said = f"in {_written(cls.__name__, signature)}{_elsewhere(cls)}"
        raise DomainError(f"{cls.__name__}: found the relation {word!r} {said}") from None


def _elsewhere(function: object) -> str:
    """The end of a message about a relation that is no argument here: where it is said."""
    return f"; {getattr(function, 'relation_elsewhere', UNDER)}"


def fault(
    name: str, function: Callable[..., Any], values: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    """What is wrong with the number or the names of the arguments, or nothing if they fit.

    >>> fault("pow", lambda base, exponent=2: None, [], {"bas": 3})
    "pow: found the argument 'bas', needed pow(base, exponent=2); did you mean base?"
    """
    signature = inspect.signature(function)
    try:
        signature.bind(*values, **keywords)
    except TypeError:
        found, meant = _found(function, signature, values, keywords)
        makers = [f"{name}.{maker}" for maker in getattr(function, "makers", ())]
        others = (inspect.signature(getattr(function, one.rpartition(".")[2])) for one in makers)
        written = [_written(name, signature), *map(_written, makers, others)]
        meant = meant or _OTHERS.get(name, "")
        return f"{name}: found {found}, needed {' or '.join(written)}{meant}"
    return ""


def _found(
    function: object,
    signature: inspect.Signature,
    values: Sequence[Any],
    keywords: Mapping[str, Any],
) -> tuple[str, str]:
    """What was found of arguments that do not fit, and the name that may be meant."""
    known = signature.parameters
    by_place = [name for name, one in known.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    for name in keywords:
        if name not in known:
            return f"the argument {echo(name)}", _meant(function, name, known)
        if name in by_place[: len(values)]:
            return f"{name} twice", ""
    if len(values) > len(by_place):
        return f"{len(values)} arguments without a name", ""
    missing = [
        name
        for name, one in known.items()
        if one.default is one.empty
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and name not in {*by_place[: len(values)], *keywords}
    ]
    return f"no {' and no '.join(missing)}", ""


def _meant(function: object, name: str, known: Iterable[str]) -> str:
    """The end of a message about an argument of an unknown name: what to write for it."""
    if name.startswith("target"):
        return _AIM
    if name in _RELATION_NAMES:
        return "; did you mean adjacency?" if "adjacency" in known else _elsewhere(function)
    if name == "conversion" and {"delta", "epsilon"} <= set(known):
        return "; the method epsilon takes a conversion, which answers alone"
    if name in _VARIANCES and "sigma" in known:
        return f"; sigma is the square root of {name}, as in sympy.sqrt(27) for 27"
    if name.startswith("eps") and {"b", "sensitivity"} <= set(known):
        return "; b is the sensitivity over ε"
    if "over" in known and name in _ON_AN_AXIS:
        return (
            f"; {name} goes into over, as in {{'sigma': [1, 2], {name!r}: '{_ON_AN_AXIS[name]}'}}"
        )
    theirs = _THEIR_ARGUMENTS.get(name.lower(), ())
    near = next((ours for ours in theirs if ours in known), None) or nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def _written(name: str, signature: inspect.Signature) -> str:
    """The call as it is written: Gaussian(sigma, sensitivity=1)."""
    bare = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    return f"{name}{inspect.Signature(bare)}"
