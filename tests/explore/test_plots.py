"""Plots: what is drawn is what was certified, each kind of statement in its own style."""

import json
import math
import random
import shutil
import sys
from fractions import Fraction

import pytest
import sympy
from click.testing import CliRunner

from symacct import (
    TCDP,
    ApproximateDP,
    Curve,
    DistributionPair,
    DomainError,
    GapWarning,
    Gaussian,
    Laplace,
    MissingPackageError,
    OrderError,
    PoissonSubsample,
    SubsampleWithoutReplacement,
    phase_transition,
    plot,
    plot_profile,
    plot_risk,
    plot_runs,
    plot_sweep,
    takeover,
)
from symacct.cli import main
from symacct.explore.plots import default_orders
from symacct.export.figures import save
from symacct.kernel.answer import rational_float
from tests.thinning import some

pytest.importorskip("matplotlib", reason="matplotlib is an extra: symacct[plot]")

M = PoissonSubsample(Gaussian(5), "1/1000")
WITHOUT = SubsampleWithoutReplacement(Gaussian(5), "1/1000")


def lines(figure):
    return {
        line.get_label(): line for line in figure.axes[0].get_lines() if line.get_label()[0] != "_"
    }


def test_every_point_is_the_certified_value_in_its_sound_direction():
    with pytest.warns(GapWarning, match="ZW19-T5: 1 of 3 points are gaps"):
        drawn = lines(plot(M, [2, 8, "5/2"], by=["ZW19-T5"]))
    exact = next(line for name, line in drawn.items() if "exact" in name)
    assert list(exact.get_xdata()) == [2, 2.5, 8]
    assert list(exact.get_ydata()) == [float(M.rdp(a, 8)) for a in (2, "5/2", 8)]
    upper = next(line for name, line in drawn.items() if "ZW19-T5" in name)
    at = [float(M.rdp(a, 8, by="ZW19-T5")) for a in (2, 8)]
    assert [str(y) for y in upper.get_ydata()] == [str(at[0]), "nan", str(at[1])]
    lower = lines(plot(WITHOUT, [2, 8], by=["WBK19-P11"]))
    [low] = [line for name, line in lower.items() if "lower bound" in name]
    assert list(low.get_ydata()) == [float(WITHOUT.rdp(a, 8, by="WBK19-P11")) for a in (2, 8)]
    assert all(y <= WITHOUT.rdp(a).upper for a, y in zip((2, 8), low.get_ydata(), strict=True))


def test_a_pinned_theorem_is_drawn_in_place_of_the_best_answer():
    drawn = lines(plot({"step": M}, [2, 8], pinned="ZW19-T5"))
    [(name, upper)] = drawn.items()
    assert name.startswith("step, ZW19-T5")
    assert list(upper.get_ydata()) == [float(M.rdp(a, 8, by="ZW19-T5")) for a in (2, 8)]


def test_kinds_are_drawn_apart_and_the_open_band_is_shaded():
    bounded = SubsampleWithoutReplacement(2 * Gaussian(5), "1/1000")
    figure = plot({"exact": M, "bound": bounded}, range(2, 30), by=[])
    styles = {name: line.get_linewidth() for name, line in lines(figure).items()}
    # The two are about different neighbours, which the legend says.
    drawn = "exact, add or remove one record, sensitivity 1"
    shaded = "bound, replace one record, sensitivity 1"
    assert styles[f"{drawn} (exact)"] > styles[f"{shaded} (upper bound)"]
    assert len(figure.axes[0].collections) == 1
    assert len(plot(M, [2, 3]).axes[0].collections) == 0


def test_an_uncertified_curve_says_so():
    curve = Curve(lambda alpha: alpha / 50, kind="upper", adjacency="add_remove")
    [name] = lines(plot({"mine": curve}, [2, 3]))
    assert name == "mine (upper bound, not certified)"


@pytest.mark.parametrize(
    "figure",
    [
        lambda: plot([M, PoissonSubsample(Gaussian(4), "1/10")], [2, 3]),
        lambda: plot_sweep(M, {"delta": ["1e-5", "1e-6"]}),
        lambda: plot_profile(M, [0, 1]),
        lambda: plot_risk(M, ["0.1", "0.2"]),
    ],
)
def test_the_legend_says_what_the_numbers_are_about(figure):
    assert title(figure()) == "add or remove one record, sensitivity 1"


def title(figure):
    return figure.axes[0].get_legend().get_title().get_text()


@pytest.mark.parametrize(
    ("node", "last"),
    [
        (Gaussian(5), 250),  # ten times the best order, about 1 + 5 √(2 log 1e5)
        (3516 * PoissonSubsample(Gaussian("1.1"), "256/60000"), 15),  # where sampling ends to help
        (Laplace(2), 150),  # whose curve is flat from there on
        (TCDP("1/10", 5), 4),
    ],
    ids=repr,
)
def test_orders_are_those_that_a_usual_delta_asks_for(node, last):
    line, *_ = lines(plot(node)).values()
    x, y = line.get_xdata(), line.get_ydata()
    assert x[0] in (1.1, 2)
    assert last / 2 < x[-1] <= 2 * last
    assert all(math.isfinite(one) for one in y)
    best = node.epsilon("1e-5").alpha
    is_flat, is_wall = y[-1] > 0.98 * float(node.rdp("inf")), node.rdp(x[-1] + 1).upper == math.inf
    assert best <= x[-1] or is_flat or is_wall
    near = [b for a, b in zip(x, y, strict=True) if a <= best]
    assert y[-2] <= 100 * near[-1]  # the last but one: a wall begins to be seen


def test_theorems_of_whole_orders_are_drawn_at_those_beside_the_curve():
    answer, bound, *_ = lines(plot(M, by=["ZW19-T5"])).values()
    assert answer.get_xdata()[0] == 1.1
    assert bound.get_xdata()[0] == 2
    assert not any(map(math.isnan, bound.get_ydata()))


@pytest.mark.parametrize(
    ("node", "last"), [(40 * M, 40), (M, 1000), (3 * Gaussian(5), 3), (M + Gaussian(5), 1000)]
)
def test_runs_are_those_of_one_mechanism_up_to_as_many_as_there_are(node, last):
    figure = plot_runs(node, "1e-5")
    for line in lines(figure).values():
        assert list(line.get_xdata()) == [k for k in COUNTS if k < last] + [last]
    truth = next(line for name, line in lines(figure).items() if "profile" in name)
    known = (node if last < 1000 else last * node).epsilon("1e-5", conversion="exact", digits=8)
    assert truth.get_ydata()[-1] == pytest.approx(float(known.epsilon), rel=1e-6)
    assert title(figure).replace("\n", " ").startswith("of ")


COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def test_landmarks():
    # γ α e^{α/50} >= 1 and γ e^{α/50} >= 1 by hand: 111 e^{2.22} = 1022, 50 log 1000 = 345.4
    assert phase_transition(M) == 111
    assert takeover(M) == 346
    assert takeover(PoissonSubsample(Laplace(2), "1/1000")) is None
    assert phase_transition(Gaussian(5)) is None
    assert phase_transition(M, largest=50) is None
    assert phase_transition(M, largest=111) == 111
    assert phase_transition(M, largest=110) is None
    with pytest.raises(DomainError, match="free symbol g"):
        phase_transition(PoissonSubsample(Gaussian(5), sympy.Symbol("g")))
    _, *marked = lines(plot(M, range(2, 500)))
    assert marked == ["nearly linear up to order 111", r"saves log 1/$\gamma$ from order 346"]
    assert len(lines(plot(M, range(2, 50)))) == 1


def test_a_sweep_over_any_parameter():
    sigma, n = sympy.Symbol("sigma"), sympy.Symbol("n", integer=True, positive=True)
    node = n * PoissonSubsample(Gaussian(sigma), "1/100")
    figure = plot_sweep({"steps": node}, {sigma: [2], "n": [1, 10, 100], "delta": "1e-6"})
    [line] = lines(figure).values()
    assert list(line.get_xdata()) == [1, 10, 100]
    at = node.subs({"sigma": 2, "n": 10}).epsilon("1e-6", 8).epsilon.rounded_up(8)
    assert line.get_ydata()[1] == rational_float(Fraction(at))
    assert r"\delta$ = 1e-6" in figure.axes[0].get_ylabel()
    over_delta = plot_sweep(Gaussian(2), {"delta": ["1e-3", "1e-6"]})
    [line] = lines(over_delta).values()
    assert list(line.get_xdata()) == [1e-6, 1e-3]


def test_two_parameters_are_a_family_of_curves():
    """The first with several values is the axis, and each value of the second has a line."""
    sigma, gamma = sympy.symbols("sigma gamma", positive=True)
    node = 100 * PoissonSubsample(Gaussian(sigma), gamma)
    over = {"sigma": [2, 4, 8], "gamma": ["1/1000", "1/100"], "delta": "1e-6"}
    drawn = lines(plot_sweep(node, over))
    assert [name.partition(" (")[0] for name in drawn] == ["gamma = 1/1000", "gamma = 1/100"]
    for rate, line in zip(over["gamma"], drawn.values(), strict=True):
        assert list(line.get_xdata()) == [2, 4, 8]
        at = node.subs({"sigma": 4, "gamma": rate}).epsilon("1e-6", 8).epsilon.rounded_up(8)
        assert line.get_ydata()[1] == rational_float(Fraction(at))
    both = {"full": Gaussian(sigma), "sampled": node}
    names = [name.partition(",")[0] for name in lines(plot_sweep(both, over))]
    assert names == ["full", "sampled", "sampled"]
    with pytest.raises(DomainError, match="give one to delta"):
        plot_sweep(node, {**over, "delta": ["1e-6", "1e-5"]})


def test_a_point_without_an_answer_is_a_gap_and_no_line_across_it():
    sigma = sympy.Symbol("sigma")
    over = {sigma: [1, 2, 0, 4, -1, 8, 16], "delta": "1e-6"}
    with pytest.warns(GapWarning, match="2 of 7 points are gaps; at sigma = 0: DomainError"):
        figure = plot_sweep({"noise": Gaussian(sigma)}, over)
    [line] = lines(figure).values()
    gaps = {float(x) for x, y in zip(*line.get_data(), strict=True) if math.isnan(y)}
    assert gaps == {-1, 0}
    with pytest.warns(GapWarning, match="6 it is infinite"):
        [line] = lines(plot({"t": TCDP("1/10", 5)}, [2, 3, 6])).values()
    assert [math.isnan(y) for y in line.get_ydata()] == [False, False, True]
    with pytest.raises(DomainError, match="noise: none of 2 points has an answer; at sigma = 0"):
        plot_sweep({"noise": Gaussian(sigma)}, {**over, sigma: [0, -1]})


@pytest.mark.parametrize("seed", range(some(4, 20)))
def test_lines_join_neighbours_and_what_stands_alone_is_marked(seed):
    chance = random.Random(seed)
    runs = [n + Fraction(chance.randrange(2), 2) for n in range(1, 12)]  # whole, or no count
    over = {"n": [*runs, 20, Fraction(41, 2)], "delta": "1e-6"}
    with pytest.warns(GapWarning):
        figure = plot_sweep({"n": sympy.Symbol("n") * Gaussian(5)}, over)
    joined, *marked = figure.axes[0].get_lines()
    x, y = (list(map(float, side)) for side in joined.get_data())
    assert x == [float(n) for n in over["n"]]
    assert [a for a, b in zip(x, y, strict=True) if not math.isnan(b)] == [
        a for a in x if a % 1 == 0
    ]
    known = [False, *(not math.isnan(b) for b in y), False]
    alone = {a for i, a in enumerate(x) if known[i : i + 3] == [False, True, False]}
    assert {float(one.get_xdata()[0]) for one in marked} == alone


def test_a_grid_of_counts_is_whole_and_said(tmp_path):
    out = ["--over", "delta=1e-5", "--out", str(tmp_path / "n.png")]
    arguments = ["plot", "n * Gaussian(5)", "--over", "n=1:1000:10:log", *out]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0
    assert "n is a count, taken at 1, 2, 5, 10, 22, 46, 100, 215, 464, 1000" in done.stderr
    assert "gaps" not in done.stderr
    swept = ["sweep", "n * Gaussian(s)", "--over", "n=1:3:9", "--over", "s=1:2:3", "--json"]
    records = json.loads(CliRunner().invoke(main, [*swept, "--over", "delta=1e-5"]).stdout)
    assert {r["n"] for r in records} == {"1", "2", "3"}
    assert {r["s"] for r in records} == {"1", "3/2", "2"}
    listed = CliRunner().invoke(main, ["plot", "n * Gaussian(5)", "--over", "n=1,3/2,2,3", *out])
    assert listed.exit_code == 0
    assert "Warning: plot: n * Gaussian(5): 1 of 4 points are gaps" in listed.stderr
    none = CliRunner().invoke(main, ["plot", "n * Gaussian(5)", "--over", "n=1/2,3/2", *out])
    assert none.exit_code == 2


def test_signs_with_a_meaning_are_no_markup(tmp_path):
    figure = plot({r"a_b $\frac{1}{0}$ 100% #1": Gaussian(1)}, [2, 3])
    figure.savefig(tmp_path / "p.svg")
    [name] = lines(figure)
    assert not set(name) & set("$\\{}%#")


def test_what_cannot_be_drawn_is_refused(monkeypatch):
    for what, orders in (
        (M, ["inf"]),
        ("Gaussian(5)", [2]),
        ([M, 7], [2]),
        (TCDP("1/10", 5), [6, 7]),
    ):
        with pytest.raises(DomainError):
            plot(what, orders)
    with pytest.raises(OrderError, match="ZW19-T5"):
        plot(M, ["5/2"], by=["ZW19-T5"])
    with pytest.raises(DomainError, match="found several values for nothing"):
        plot_sweep(Gaussian(2), {"delta": "1e-6"})
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match="pip install"):
        plot(M, [2])


def test_the_command(tmp_path):
    run = CliRunner().invoke
    out = tmp_path / "p.png"
    arguments = ["plot", repr(M), "--orders", "2..9", "--also", "ZW19-T5", "--out", str(out)]
    done = run(main, arguments)
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(b"\x89PNG")
    over = ["plot", "Gaussian(sigma)", "--over", "sigma=1,2,4", "--over", "delta=1e-5"]
    assert run(main, [*over, "--out", str(tmp_path / "s.png")]).exit_code == 0
    runs = ["plot", "3*Gaussian(5)", "--delta", "1e-5", "--out", str(tmp_path / "r.png")]
    assert run(main, runs).exit_code == 0
    for arguments in [
        [*runs[1:], "--by", "ZW19-T5"],
        [*over[1:], "--also", "ZW19-T5"],
        ["Gaussian(5)", "--out", str(tmp_path / "p.gif")],
        ["Gaussian(5)", "--out", str(tmp_path / "no" / "p.png")],
        ["Gaussian(sigma)", "--out", str(tmp_path / "p.png")],
        [repr(M), "--by", "ZW19-T55", "--out", str(tmp_path / "p.png")],
    ]:
        wrong = run(main, ["plot", *arguments])
        assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1), wrong.output


def test_optimal_composition_is_nowhere_above_the_naive_one():
    """Of few runs the best is to give them all of δ, which is naive composition."""
    drawn = lines(plot_runs(M, "1e-5", counts=[1, 3, 10, 100]))
    optimal, naive = (
        list(line.get_ydata()) for name, line in drawn.items() if "composition" in name
    )
    assert all(best <= other for best, other in zip(optimal, naive, strict=True))
    assert optimal[0] == naive[0]
    assert optimal[-1] < naive[-1]


def _drawn_by(monkeypatch, tmp_path, *words):
    """The figure that the command saves, and where."""
    made = []
    file = tmp_path / "plot.png"
    monkeypatch.setattr(
        "symacct.cli.exploring.save", lambda figure, path: made.append(figure) or path
    )
    result = CliRunner().invoke(main, ["plot", *words, "--out", str(file)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return made[0]


def test_the_command_draws_the_number_to_report_against_a_parameter(monkeypatch, tmp_path):
    """As `sweep` prints it: the exact profile's, unless a theorem or orders are chosen."""
    words = ["100*PoissonSubsample(Gaussian(sigma), 1/100)", "--over", "sigma=1,20"]
    run = {s: 100 * PoissonSubsample(Gaussian(s), "1/100") for s in (1, 20)}
    [(name, line)] = lines(_drawn_by(monkeypatch, tmp_path, *words, "--delta", "1e-5")).items()
    assert name.endswith("(exact)")
    best = [run[s].epsilon("1e-5", conversion="exact", digits=8).epsilon for s in run]
    assert list(line.get_ydata()) == [rational_float(Fraction(x.rounded_up(8))) for x in best]
    pinned = [*words, "--over", "delta=1e-5", "--by", "MTZ19-EXACT"]
    [(name, line)] = lines(_drawn_by(monkeypatch, tmp_path, *pinned)).items()
    by_orders = [run[s].epsilon("1e-5", 8, "improved").epsilon for s in run]
    assert list(line.get_ydata()) == [rational_float(Fraction(x.rounded_up(8))) for x in by_orders]
    assert line.axes.get_xscale() == "log"  # 1 and 20 are more than a power of ten apart
    twice = [*words, "--over", "delta=1e-5", "--delta", "1e-6"]
    assert CliRunner().invoke(main, ["plot", *twice]).exit_code == 2


def test_a_name_keeps_its_underscores_in_every_format(tmp_path):
    figure = plot({"my_step_2": M, "_hidden": 2 * M}, [2, 3, 4])
    assert [name.split(" ")[0] for name in lines(figure)] == ["my_step_2", "hidden"]
    if shutil.which("pdflatex"):
        text = save(figure, tmp_path / "plot.pgf").read_text(encoding="utf-8")
        assert r"my\_step\_2" in text
        assert "my_step_2 (exact)" in lines(figure)  # as before


@pytest.mark.parametrize("rate", ["256/60000", "1/1000", "1/100"])
def test_the_default_orders_draw_a_bend_in_small_steps(rate):
    node = 3516 * PoissonSubsample(Gaussian("1.1"), rate)
    orders, best = default_orders(node)
    assert orders == sorted(set(orders))
    low = float(node.rdp(best))
    beyond = [alpha for alpha in orders if low < float(node.rdp(alpha)) < 100 * low]
    assert len(beyond) >= 4  # with whole orders alone, eight to an octave, one or two


@pytest.mark.parametrize(
    "m", [Gaussian(2) + ApproximateDP(1, "1e-6"), DistributionPair(["1/2", "1/2"], ["1", "0"])]
)
def test_a_profile_of_what_may_fail_is_drawn_to_a_delta_that_it_has(m):
    axes = plot_profile(m).axes[0]
    last = max(line.get_xdata()[-1] for line in axes.lines)
    assert 0 < last < 100
    assert all(0 <= y <= 1 for line in axes.lines for y in line.get_ydata())
