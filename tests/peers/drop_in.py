"""What a drop-in has to be, beside the packages themselves; run by `make peers-tests`."""

from __future__ import annotations

import copy
import doctest
import pickle
from pathlib import Path

import dp_accounting
import jax.numpy as jnp
import numpy as np
import opacus
import pytest
import torch
from opacus.accountants import IAccountant, create_accountant

from symacct.interop import EventAccountant, register_with_opacus

PAGE = Path(__file__).parents[2] / "docs" / "drop_in.md"
STEP = dp_accounting.PoissonSampledDpEvent(0.25, dp_accounting.GaussianDpEvent(2.0))


def test_the_page_says_what_is_printed():
    assert doctest.testfile(str(PAGE), module_relative=False) == doctest.TestResults(0, 20)


def test_it_is_one_of_their_accountants():
    accountant = EventAccountant()
    assert isinstance(accountant, dp_accounting.PrivacyAccountant)
    relation = dp_accounting.NeighboringRelation
    assert accountant.neighboring_relation is relation.ADD_OR_REMOVE_ONE
    for one in relation:
        assert EventAccountant(neighboring_relation=one).neighboring_relation is one
    assert isinstance(accountant.ledger, dp_accounting.NoOpDpEvent)
    assert accountant.compose(STEP, 3).ledger == dp_accounting.SelfComposedDpEvent(STEP, 3)


@pytest.mark.parametrize(
    "event", [dp_accounting.UnsupportedDpEvent(), dp_accounting.RandomizedResponseDpEvent(0.5, 2)]
)
def test_what_is_not_read_is_their_error(event):
    accountant = EventAccountant()
    details = accountant._maybe_compose(dp_accounting.ComposedDpEvent([STEP, event]), 1, False)
    assert isinstance(details, dp_accounting.PrivacyAccountant.CompositionErrorDetails)
    assert details.invalid_event == event
    with pytest.raises(dp_accounting.UnsupportedEventError, match="caused by subevent"):
        accountant.compose(event)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])  # noqa: S301
def test_copies_go_on_by_themselves(copied):
    accountant = EventAccountant([2.0, 8.0]).compose(STEP, 5)
    other = copied(accountant)
    assert other.compose(STEP).ledger == dp_accounting.SelfComposedDpEvent(STEP, 6)
    assert accountant.ledger == dp_accounting.SelfComposedDpEvent(STEP, 5)
    assert accountant.get_epsilon(1e-5) < other.get_epsilon(1e-5)


def test_numbers_of_jax_and_numpy_are_numbers():
    noise = dp_accounting.GaussianDpEvent(np.float32(2))
    event = dp_accounting.PoissonSampledDpEvent(jnp.float32(0.25), noise)
    accountant = EventAccountant(jnp.array([2.0, 8.0])).compose(event, jnp.int32(5))
    expected = EventAccountant([2, 8]).compose(STEP, 5)
    assert accountant.node is expected.node
    assert accountant.get_epsilon(jnp.float32(0.125)) == expected.get_epsilon(0.125)
    assert accountant.orders.tolist() == [2.0, 8.0]


def test_opacus_trains_with_it():
    register_with_opacus()
    assert all(isinstance(create_accountant(x), IAccountant) for x in ("symacct", "symacct-exact"))
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.zeros(64, dtype=torch.long))
    engine = opacus.PrivacyEngine(accountant="symacct")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=16),
        noise_multiplier=2.0,
        max_grad_norm=1.0,
    )
    steps = 0
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        steps += 1
    expected = EventAccountant().compose(STEP, steps).get_epsilon(1e-5)
    assert engine.get_epsilon(1e-5) == expected
