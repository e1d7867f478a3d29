"""Laplace beside Gaussian noise, on one sample or on none, against mpmath and plain sums."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

import symacct as sa
from symacct import Gaussian, Laplace, PoissonSubsample, RandomizedResponse
from symacct.kernel.errors import LimitError
from symacct.profile.closed_form import profile
from symacct.profile.losses.noisy_sample import NoisySample
from symacct.profile.pairs import products
from symacct.profile.part import OrderLine
from tests.thinning import covering, examples

SHIFTS = st.fractions(Fraction(1, 20), 3, max_denominator=20)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def plain(shifts, ratio, y):
    """D(y) by an integral for each run of Laplace noise, under P; float64."""
    if not shifts:
        if not ratio:
            return max(0.0, -math.expm1(y))
        x, half = y / math.sqrt(2 * ratio), math.sqrt(ratio / 8)
        return (math.erfc(x - half) - math.exp(y) * math.erfc(x + half)) / 2
    s, *rest = shifts
    total = plain(rest, ratio, y - s) / 2 + math.exp(-s) / 2 * plain(rest, ratio, y + s)
    bends = [(y + s + sign * sum(rest)) / 2 for sign in (-1, 0, 1)]
    for left, right in pairwise([0, *sorted(x for x in bends if 0 < x < s), s]):
        for u, weight in zip(NODES, WEIGHTS, strict=True):
            x = left + (right - left) * (1 + u) / 2
            share = (right - left) / 4 * weight * math.exp(x - s)
            total += share * plain(rest, ratio, y - 2 * x + s)
    return total


@examples(6, 300)
@given(SHIFTS, SHIFTS | st.none(), st.fractions(0, 4, max_denominator=10), st.floats(-0.9, 0.9))
@example(Fraction(1), Fraction(1), Fraction(0), 1 / 6)
@example(Fraction(1), Fraction(1), Fraction(0), 0.75)
def test_what_is_not_sampled_in_closed_form(first, second, ratio, share):
    shifts = [first] if second is None else [first, second]
    noise = ((first, 2),) if second == first else tuple((s, 1) for s in shifts)
    y = share * float(sum(shifts))
    with ctx.workprec(200):
        found = profile(noise, ratio, arb(y))
        assert found.rad() < 1e-20
        assert abs(float(found) - plain([float(s) for s in shifts], float(ratio), y)) < 1e-9


def moment(noise, gamma, sigma, z):
    """Σ q E_Q[R^z] by a plain sum over Gaussian and an integral over Laplace noise, float64."""
    x = np.linspace(-12 * sigma, 12 * sigma + 12, 4001)
    density = np.exp(-x * x / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi)) * (x[1] - x[0])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    shift, has_answer = noise
    places = shift * (1 + nodes) / 2
    losses = np.concatenate([[-shift, shift], 2 * places - shift])
    masses = np.concatenate(
        [[0.5, np.exp(-shift) / 2], shift / 4 * weights * np.exp(-places)],
    )
    if has_answer:  # of randomized response with 3/5
        more = np.log(1.5)
        losses = np.concatenate([losses + more, losses - more])
        masses = np.concatenate([masses * 0.4, masses * 0.6])
    grown = gamma * np.exp(losses[:, None] + (2 * x - 1) / (2 * sigma**2))
    return complex(masses @ np.exp(z * np.log(1 - gamma + grown)) @ density)


@covering()
@pytest.mark.parametrize("has_answer", [False, True])
@pytest.mark.parametrize("shift", ["1/10", "1", "5/2"])
@pytest.mark.parametrize(("sigma", "gamma"), [("1", "1/2"), ("2", "1/100"), ("6", "9/10")])
@pytest.mark.parametrize("a", [-3.0, -0.5, 2.0, 9.0])
def test_moments_on_one_sample(has_answer, shift, sigma, gamma, a):
    """They hold a plain sum's, and their bound from some t on holds them there."""
    both = Gaussian(sigma) + Laplace(1 / Fraction(shift))
    if has_answer:
        both += RandomizedResponse("3/5")
    (product,) = products(PoissonSubsample(both, gamma))
    part, noise = product.runs[0][0], (float(Fraction(shift)), has_answer)
    assert isinstance(part, NoisySample)
    with ctx.workprec(96), np.errstate(all="ignore"):
        values = part.transform(OrderLine(a, 0.5, 12), 25.0)
        size = values[0].abs_upper()
        for n in (0, 1, 12):
            known = moment(noise, float(Fraction(gamma)), float(Fraction(sigma)), a + 0.5j * n)
            assert values[n].real.rad() < 1e-10 * size
            assert abs(complex(values[n]) - known) < 1e-9 * float(size)
        for first in (1, 6):
            bound = part.decay(a, 0.5 * first, 0.25).exp()
            assert all(not abs(value) > bound for value in values[first:])
            assert bound < 2.5 * size


def answered(text, given_number, most, name="epsilon", digits=4):
    """Has the profile an answer to so many digits, by contours of so many bits?"""
    with sa.limits(contour=most):
        found = getattr(sa.Accountant(), name)(sa.parse(text), given_number, "exact", digits=digits)
    assert found.conversion == "exact"
    assert getattr(found, name).digits >= digits


SMALL = 2**27  # bits of a contour, of which some seconds take 2**30


@pytest.mark.parametrize(
    ("text", "given_number", "digits"),
    [
        ("3*SubsampleWithoutReplacement(Gaussian(2),1/2)", "1e-5", 2),
        ("4*SubsampleWithoutReplacement(Laplace(5.5),0.69)", "6e-9", 4),
        ("3*SubsampleWithoutReplacement(Laplace(18),0.0013)", "2e-12", 4),
        ("100*PoissonSubsample(Gaussian(2)+Laplace(10),1/100)", "1e-5", 4),
        ("93*PoissonSubsample(Gaussian(1.3)+Laplace(4.6),0.013)", "3e-13", 4),
        ("50*PoissonSubsample(Laplace(10)+Laplace(5),1/20)", "1e-5", 3),
        (
            "2*PoissonSubsample(Gaussian(20),1/1000)+20*PoissonSubsample(Laplace(2),1/10)"
            "+3*RandomizedResponse(3/5)",
            "1e-5",
            4,
        ),
    ],
)
def test_by_few_nodes_or_a_grid(text, given_number, digits):
    """What took ten seconds or was refused; `dispatch.given` asked one direction for 22 digits."""
    answered(text, given_number, SMALL, digits=digits)


def test_a_refusal_of_a_tail_that_is_out_of_reach_sums_no_node(monkeypatch):
    """One run that jumps tells how small D is before a contour of 14,111 nodes is summed."""
    monkeypatch.setattr("symacct.profile.contours.contour", None)
    with pytest.raises(LimitError):
        (3 * PoissonSubsample(Gaussian(5), "1e-20")).delta("1/2", conversion="exact", digits=4)
