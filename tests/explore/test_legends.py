"""A legend is inside the picture, in any axes that a picture is drawn into, and hides no curve."""

import pytest
import sympy

from symacct import Gaussian, PoissonSubsample, plot, plot_profile, plot_risk, plot_runs, plot_sweep
from tests.thinning import covering, some

pytest.importorskip("matplotlib", reason="matplotlib is an extra: symacct[plot]")
from matplotlib.figure import Figure

STEP = PoissonSubsample(Gaussian("11/10"), "256/60000")
OPEN = STEP + Gaussian(sympy.Symbol("sigma", positive=True))
DRAWN = {
    "plot": lambda axes: plot(STEP, [2, 3, 4, 30], by=["ZW19-T5", "ZW19-T8"], axes=axes),
    "plot_sweep": lambda axes: plot_sweep(
        OPEN, {"sigma": [1, 2], "delta": "1e-5"}, conversion="classic", axes=axes
    ),
    "plot_runs": lambda axes: plot_runs(3 * STEP, "1e-5", [1, 2, 3], axes=axes),
    "plot_profile": lambda axes: plot_profile(STEP, [0, 1, 2], axes=axes),
    "plot_risk": lambda axes: plot_risk({"a": Gaussian(2), "b": Gaussian(3)}, ["0.1"], axes=axes),
}
SHAPES = [(1, (3.3, 2.5)), (2, (6.4, 4.8)), *some([], [(1, (12, 4)), (2, (9, 7))])]


def is_within(box, whole):
    return (
        whole.x0 - 1 <= box.x0
        and box.x1 <= whole.x1 + 1
        and whole.y0 - 1 <= box.y0
        and box.y1 <= whole.y1 + 1
    )


@covering()
@pytest.mark.filterwarnings("ignore::symacct.kernel.errors.GapWarning")
@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_a_legend_is_inside_the_picture_and_off_the_curves(draw, layout):
    for count, size in SHAPES:
        figure = Figure(figsize=size, layout=layout)
        every = figure.subplots(count, count, squeeze=False)
        axes = every[-1][0]
        before = axes.get_position()
        assert draw(axes) is figure
        figure.draw_without_rendering()
        legend = axes.get_legend().get_window_extent()
        assert is_within(legend, figure.bbox), size
        assert legend.y0 >= axes.get_window_extent().y1 - 1
        others = [one for row in every for one in row if one is not axes]
        assert not any(legend.overlaps(one.get_window_extent()) for one in others), size
        if layout is None:
            assert axes.get_position().height >= before.height / 4
            assert axes.get_position().y0 == before.y0


def test_a_second_picture_in_the_same_axes_takes_no_more_room_than_it_needs():
    axes = Figure(figsize=(6, 4)).add_subplot()
    heights = []
    for sigma in (2, 3):
        plot(Gaussian(sigma), [2, 3], axes=axes)
        legend = axes.get_legend().get_window_extent()
        heights.append(axes.get_window_extent().height + legend.height)
    assert heights[1] == pytest.approx(heights[0], abs=2)
