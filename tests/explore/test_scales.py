"""The scale of an axis is that of the grid that somebody chose for it."""

import pytest
import sympy

from symacct import Gaussian, plot, plot_sweep

pytest.importorskip("matplotlib", reason="matplotlib is an extra: symacct[plot]")

RUNS = sympy.Symbol("n", integer=True, positive=True) * Gaussian(50)


@pytest.mark.parametrize(
    ("counts", "scale"),
    [
        ([100, 657, 1214, 1771, 2329, 2886, 3443, 4000], "linear"),  # 100:4000:8, whole
        ([4000, 2050, 100], "linear"),
        ([100, 342, 1170, 4000], "log"),
        ([100, 4000], "log"),
        ([10, 20, 30], "linear"),
    ],
)
def test_even_steps_are_even_in_the_picture(counts, scale):
    figure = plot_sweep(RUNS, {"n": counts, "delta": "1e-5"}, conversion="classic")
    assert figure.axes[0].get_xscale() == scale


def test_orders_are_on_a_logarithmic_axis():
    assert plot(Gaussian(5), range(2, 40)).axes[0].get_xscale() == "log"
