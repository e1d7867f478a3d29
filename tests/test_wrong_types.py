"""Every public call answers any value in place of any argument, or raises a typed error."""

import inspect

import pytest

import symacct
from symacct import Accountant, Node, baselines, interop
from symacct.kernel.memory import Interned
from tests import wrong_types
from tests.thinning import covering, every, some

CALLS = sorted(wrong_types.all_calls())
STEP = some(24, 1)  # a part of the matrix; a soak asks all of it


@covering(every)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_a_value_of_any_type_is_answered_or_refused(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not list(wrong_types.faults(call, STEP))


def test_every_public_call_is_in_the_matrix():
    def public(owner):
        named = [name for name in vars(owner) if name[0] != "_"]
        return {name for name in named if inspect.isfunction(getattr(owner, name))}

    exported = {name for name in symacct.__all__ if callable(getattr(symacct, name))}
    errors = {n for n in exported if n.endswith(("Error", "Warning"))}
    plain = {"theorem", "theorems", "conversions", "Node"}  # no arguments, or a decorator's
    assert exported - errors - plain - wrong_types.RECORDS - set(CALLS) == set()
    silent = {"parameters", "walk", "graph", "to_json", "for_group"}
    asked = set().union(*map(public, Node.__mro__[:-1])) - public(Interned)
    assert asked - silent - set(CALLS) == set()
    asked = {f"Accountant.{name}" for name in public(Accountant) - {"clear"}}
    assert asked - set(CALLS) == set()
    events = {f"EventAccountant.{name}" for name in public(interop.EventAccountant)}
    assert events - set(CALLS) == set()
    other = {f"baselines.{name}" for name in baselines.__all__} | set(interop.__all__)
    records = {"baselines.Baseline", "baselines.MomentConstant"}
    assert other - records - {"register_with_opacus"} - set(CALLS) == set()
    assert {"verify", "verify.Peer"} <= set(CALLS)
