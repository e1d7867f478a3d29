"""Generated code at length: a thousand orders of every sample, every theorem compiled by gcc."""

import pytest

from symacct import Gaussian, Laplace, PoissonSubsample, SymacctError
from tests.codegen.test_code import (
    GCC,
    LEAVES,
    OPEN,
    OPERATED,
    SAMPLES,
    STATEMENTS,
    about,
    assert_agrees,
    assert_agrees_to_its_digits,
    needs_gcc,
    some_orders,
)
from tests.codegen.test_code_box import WIDE, attack

FLOAT_TARGETS = ["python", "numpy", pytest.param("c", marks=needs_gcc)]
#: Noise, rates and orders far from usual.
HARD = {
    "little noise": (PoissonSubsample(Gaussian("1/5"), "1/1000"), 256),
    "much noise, rare": (PoissonSubsample(Gaussian(1000), "1e-6"), 2000),
    "much noise, often": (PoissonSubsample(Gaussian(100), "9/10"), 2000),
    "little Laplace noise": (PoissonSubsample(Laplace("1/50"), "1e-6"), 40),
    "much Laplace noise": (PoissonSubsample(Laplace("1e6"), "1e-6"), 500),
}


@pytest.mark.parametrize("target", FLOAT_TARGETS)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_thousand_orders_of_every_sample(name, target, tmp_path):
    last = 64 if name == "nested" else 256
    text = SAMPLES[name].code(target, max_order=last)
    assert_agrees(SAMPLES[name], target, text, some_orders(1000, last), tmp_path)


@pytest.mark.parametrize("target", FLOAT_TARGETS)
@pytest.mark.parametrize("name", HARD)
def test_hard_cases(name, target, tmp_path):
    node, last = HARD[name]
    assert_agrees(node, target, node.code(target, max_order=last), some_orders(200, last), tmp_path)


@pytest.mark.parametrize("name", ["sampled Gaussian", "sampled Laplace", "subset Laplace", "all"])
def test_a_thousand_orders_in_mpmath(name, tmp_path):
    text = SAMPLES[name].code("mpmath", max_order=24, points=40)
    assert_agrees(SAMPLES[name], "mpmath", text, some_orders(1000, 24), tmp_path)


@pytest.mark.parametrize("name", ["subset Gaussian", "hull"])
def test_integrals_in_mpmath_agree_to_their_digits(name, tmp_path):
    assert_agrees_to_its_digits(SAMPLES[name], 12, tmp_path)


@pytest.mark.parametrize("target", ["numpy", "mpmath", pytest.param("c", marks=needs_gcc)])
@pytest.mark.parametrize("name", STATEMENTS)
def test_every_theorem_on_every_leaf(name, target, tmp_path):
    for leaf in LEAVES:
        for operation in set(about(name)) & set(OPERATED):
            node = OPERATED[operation](leaf)
            try:
                text = node.code(target, name, max_order=12, points=20)
            except SymacctError:
                continue  # tests/codegen/test_code.py: only where rdp has no value either
            assert_agrees(node, target, text, some_orders(20, 12), tmp_path, name)


@pytest.mark.parametrize("target", ["python", "numpy", "mpmath", *(["c"] if GCC else [])])
@pytest.mark.parametrize("which", range(len(OPEN)))
def test_open_parameters_in_every_target(which, target, tmp_path):
    node, values = OPEN[which]
    text = node.code(target, max_order=20, points=20)
    number, arguments = node.subs(values), list(values.values())
    assert_agrees(number, target, text, some_orders(60, 20), tmp_path, arguments=arguments)


@pytest.mark.parametrize("target", ["python", "numpy", "mpmath", *(["c"] if GCC else [])])
@pytest.mark.parametrize("which", range(len(WIDE)))
def test_code_holds_over_its_whole_box(which, target, tmp_path):
    count, last = (60, 24) if target == "mpmath" else (1000, 128)
    attack(WIDE[which], target, count, last, "soak", tmp_path)
