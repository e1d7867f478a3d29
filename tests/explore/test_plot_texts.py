"""No text of a picture lies on another, wide or narrow, and curves are told apart in grey."""

import itertools

import pytest
import sympy

from symacct import (
    TCDP,
    ZCDP,
    Gaussian,
    Kind,
    Laplace,
    PoissonSubsample,
    PureDP,
    RandomizedResponse,
    plot,
    plot_profile,
    plot_risk,
    plot_runs,
    plot_sweep,
)
from symacct.explore.plots import Drawing, PlotLine
from symacct.export.figures import picture
from tests.thinning import covering

pytest.importorskip("matplotlib", reason="matplotlib is an extra: symacct[plot]")

SIGMA, GAMMA = sympy.symbols("sigma gamma", positive=True)
N = sympy.Symbol("n", integer=True, positive=True)
STEP = PoissonSubsample(Gaussian(1), "1/100")
OTHER = PoissonSubsample(Gaussian(2), "1/100")
FIVE = [Gaussian(5), Laplace(2), RandomizedResponse("3/4"), PureDP(1), ZCDP("0.1")]
PICTURES = {
    "one": lambda axes: plot(STEP, axes=axes),
    "a training run": lambda axes: plot(
        3516 * PoissonSubsample(Gaussian("1.1"), "256/60000"), axes=axes
    ),
    "two": lambda axes: plot([STEP, OTHER], axes=axes),
    "five": lambda axes: plot(FIVE, axes=axes),
    "infinite from an order on": lambda axes: plot([TCDP("0.1", 20), Gaussian(2)], axes=axes),
    "with a theorem": lambda axes: plot(STEP, range(2, 60), by=["ZW19-T5"], axes=axes),
    "far orders": lambda axes: plot(Gaussian(5), [2, 10**6], axes=axes),
    "small numbers": lambda axes: plot(Gaussian(10**5), [2, 3, 4], axes=axes),
    "over gamma": lambda axes: plot_sweep(
        PoissonSubsample(Gaussian(2), GAMMA),
        {"gamma": ["1/1000", "1/100", "1/10", 1], "delta": "1e-5"},
        axes=axes,
    ),
    "over sigma": lambda axes: plot_sweep(
        [PoissonSubsample(Gaussian(SIGMA), "1/100"), Gaussian(SIGMA)],
        {"sigma": ["1/2", 1, 2, 4, 8], "delta": "1e-5"},
        axes=axes,
    ),
    "over n": lambda axes: plot_sweep(
        N * Gaussian(20), {"n": [1, 10, 100], "delta": "1e-6"}, axes=axes
    ),
    "over delta": lambda axes: plot_sweep(
        100 * Gaussian(20), {"delta": ["1e-10", "1e-6", "1e-2"]}, axes=axes
    ),
    "profile": lambda axes: plot_profile(100 * OTHER, [0, "1/10", "1/2", 1], axes=axes),
    "runs": lambda axes: plot_runs(Gaussian(20), "1e-5", [1, 10, 100], axes=axes),
    "risk": lambda axes: plot_risk(Gaussian(2), ["0.1", "0.2", "0.5"], axes=axes),
}


def new_axes(width):
    figure = picture((width / 100, 3.6))
    figure.set_dpi(100)
    return figure.add_subplot()


def boxes(axes):
    """(text, box) of each text that is shown."""
    figure = axes.figure
    figure.draw_without_rendering()
    ticks = [
        label
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if axis.get_view_interval()[0] <= tick.get_loc() <= axis.get_view_interval()[1]
        for label in (tick.label1,)
    ]
    legend = axes.get_legend()
    texts = [*ticks, axes.xaxis.label, axes.yaxis.label, axes.title, *axes.texts]
    texts += [legend.get_title(), *legend.get_texts()]
    texts += [axes.xaxis.get_offset_text(), axes.yaxis.get_offset_text()]
    return [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text().strip()]


@covering()
@pytest.mark.parametrize("width", [640, 420])
@pytest.mark.parametrize("name", PICTURES)
def test_no_text_lies_on_another_or_beyond_the_picture(name, width):
    axes = new_axes(width)
    PICTURES[name](axes)
    found = boxes(axes)
    assert len(found) >= 6
    for (one, box), (other, beside) in itertools.combinations(found, 2):
        assert not box.overlaps(beside), (one, other)
    for text, box in found:
        assert axes.figure.bbox.padded(1).contains(box.x0, box.y0), text
        assert axes.figure.bbox.padded(1).contains(box.x1, box.y1), text
    assert "Symbol" not in str(found)


@pytest.mark.parametrize("kind", [Kind.EXACT, Kind.UPPER])
def test_curves_are_told_apart_without_colours(kind):
    from matplotlib.colors import to_rgb

    drawing = Drawing(new_axes(640), "x", "y", "about")
    for i in range(1, 7):
        drawing.add(PlotLine(f"line {i}", kind, True, ((1.0, float(i)), (2.0, 2.0 * i))))
    drawing.finished()
    drawn = drawing.axes.get_lines()
    looks = {(line.get_marker(), line.get_fillstyle()) for line in drawn}
    assert len(looks) == len(drawn) == 6
    greys = [
        sum(share * x for share, x in zip((0.299, 0.587, 0.114), rgb, strict=True))
        for rgb in (to_rgb(line.get_color()) for line in drawn)
    ]
    assert all(abs(a - b) > 0.12 for a, b in itertools.pairwise(greys))


def test_landmarks_are_those_of_the_only_curve():
    assert len(plot(STEP, range(2, 60)).axes[0].get_lines()) > 1
    assert len(plot([STEP, OTHER], range(2, 60)).axes[0].get_lines()) == 2


def test_landmarks_are_told_apart_and_the_legend_has_their_places():
    drawing = Drawing(new_axes(420), "x", "y", "about")
    drawing.add(PlotLine("line", Kind.EXACT, True, ((1.0, 1.0), (100.0, 100.0))))
    for x in (40, 45, 70):
        drawing.mark(float(x), "landmark at")
    drawing.finished()
    _, *marked = drawing.axes.get_lines()
    assert [line.get_label() for line in marked] == [f"landmark at {x}" for x in (40, 45, 70)]
    assert len({line.get_linestyle() for line in marked}) == 3
