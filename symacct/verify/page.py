"""The report as one self-contained HTML page: tables, and plots of the error; all text escaped."""

from __future__ import annotations

import base64
import importlib
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symacct.errors import SymacctError
from symacct.verify.report import Point, Report, finding_as_dict
from symacct.verify.verdict import ALLOWANCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FLOOR, _TOP = 1e-17, 1e12

_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: .25em .7em; text-align: left;
border-bottom: 1px solid #ccc; vertical-align: top; } td.n { text-align: right; }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; } img { max-width: 100%; }
.below { border-left: 5px solid #b00020; padding-left: .8em; }
.other { border-left: 5px solid #888; padding-left: .8em; } .dim { color: #666; }
</style></head><body>
<h1>{{ title }}</h1>
<p>Every value is compared with a certified enclosure of the truth. <b>Below</b> means: smaller
than what is proved, so no guarantee. Values within a relative {{ allowance }} of the truth count
as right. Where rounding numbers near 1 to float64 would explain an error, that is said.</p>
<table><tr><th>peer</th><th>version</th><th>questions</th><th>not offered</th><th>seconds</th>
{% for verdict in verdicts %}<th>{{ verdict }}</th>{% endfor %}</tr>
{% for r in reports %}<tr><td><a href="#peer{{ loop.index }}">{{ r.report.peer }}</a></td>
<td>{{ r.report.version }}</td><td class="n">{{ r.report.asked }}</td>
<td class="n">{{ r.report.unsupported }}</td>
<td class="n">{{ "%.0f"|format(r.report.seconds) }}</td>
{% for verdict in verdicts %}<td class="n">{{ r.report.counts.get(verdict, "") }}</td>
{% endfor %}</tr>
{% endfor %}{% for name, why in absent %}<tr><td>{{ name }}</td>
<td colspan="{{ 4 + verdicts|length }}">not run: {{ why }}</td></tr>{% endfor %}</table>
{% for r in reports %}<h2 id="peer{{ loop.index }}">{{ r.report.peer }} {{ r.report.version }}</h2>
<p class="dim">Answers below the truth within rounding: {{ r.report.within_rounding }}, at most
{{ "%.1e"|format(r.report.worst_within) }} of it. Seed {{ r.report.seed }}.
{% for why in r.report.cut %}Not all was asked ({{ why }}). {% endfor %}</p>
{% for quote in r.report.incidents.quotes %}<p class="dim">{{ quote }}</p>{% endfor %}
{% if r.plot %}<img alt="relative error against the order, the noise and the rate"
src="data:image/png;base64,{{ r.plot }}">{% endif %}
{% if not r.findings %}<p>No finding.</p>{% endif %}
{% for f in r.findings %}<div class="{{ 'below' if f.below_proved else 'other' }}">
<h3>{{ f.verdict }}: {{ f.call }} of {{ f.expression }}</h3>
<table><tr><th>value</th><td>{{ f.peer_value }}</td></tr>
<tr><th>truth</th><td>{{ f.truth_lower }} … {{ f.truth_upper }}</td></tr>
<tr><th>value / truth</th><td>{{ f.ratio }}</td></tr>
<tr><th>below what is proved</th><td>{{ "yes" if f.below_proved else "no" }}{{
"" if f.beyond_rounding else ", explained by rounding near 1" }}</td></tr>
{% if f.formula_matched %}<tr><th>the value is that of</th>
<td>{{ f.formula_matched }}</td></tr>{% endif %}
{% if f.claims %}<tr><th>claims</th><td>{{ f.claims }}</td></tr>{% endif %}
{% if f.note %}<tr><th>note</th><td>{{ f.note }}</td></tr>{% endif %}
<tr><th>answers like it</th><td>{{ f.answers }}; the worst: {{ f.worst_call }} of
{{ f.worst_expression }}, {{ f.worst_ratio }} of the truth</td></tr></table>
<pre>{{ f.reproduce }}</pre></div>{% endfor %}{% endfor %}
</body></html>
"""


def needs() -> None:
    """SymacctError unless the packages that a page needs are here."""
    for module in ("jinja2", "matplotlib"):
        try:
            importlib.import_module(module)
        except ImportError:
            raise SymacctError(
                f"--html: found no {module}, needed it for the page; pip install 'symacct[plot]'"
            ) from None


def page(reports: Sequence[Report], absent: Sequence[tuple[str, str]] = ()) -> str:
    """One page for one or several peers; `absent` are (name, why it was not run)."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    verdicts = sorted({verdict for report in reports for verdict in report.counts})
    title = "symacct verify: " + (reports[0].peer if len(reports) == 1 else "all peers")
    return environment.from_string(_TEMPLATE).render(
        title=title,
        allowance=f"{float(ALLOWANCE):g}",
        verdicts=verdicts,
        reports=[_shown(report) for report in reports],
        absent=absent,
    )


def _shown(report: Report) -> dict[str, Any]:
    return {
        "report": report,
        "findings": [finding_as_dict(c, report.command) for c in report.clusters],
        "plot": plot(report.points) if report.points else None,
    }


def plot(points: Sequence[Point]) -> str:
    """The relative error against α − 1, the noise and the rate: a PNG in base64."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.2), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    across: list[tuple[str, Callable[[Point], float | None]]] = [
        ("order, α − 1", lambda p: p.alpha - 1),
        ("parameter of the noise (σ, b, p, ε, ρ)", lambda p: p.scale),
        ("sampling rate", lambda p: p.gamma),
    ]
    for axis, (name, of) in zip(axes, across, strict=True):
        _scatter(axis, points, of)
        axis.set_xlabel(name)
        axis.axhline(float(ALLOWANCE), color="0.6", linewidth=0.8)
    axes[0].set_ylabel("|value / truth − 1|")
    axes[0].legend(loc="upper left", fontsize="small")
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    return base64.b64encode(image.getvalue()).decode()


def _scatter(axis: Axes, points: Sequence[Point], of: Callable[[Point], float | None]) -> None:
    sides: dict[str, tuple[str, Callable[[float], bool]]] = {
        "below the truth": ("#b00020", lambda error: error < 0),
        "above the truth": ("#1f5fa8", lambda error: error > 0),
        "in the enclosure": ("0.6", lambda error: error == 0),
    }
    for name, (colour, chosen) in sides.items():
        drawn = [(x, p.error) for p in points if chosen(p.error) and (x := of(p)) is not None]
        xs = [x for x, _ in drawn]
        ys = [min(max(abs(error), _FLOOR), _TOP) for _, error in drawn]
        axis.plot(xs, ys, ".", markersize=3, color=colour, label=name, alpha=0.6)
    axis.set_xscale("log")
    axis.set_yscale("log")
    top = max([10.0, *(3 * abs(p.error) for p in points if abs(p.error) < _TOP)])
    axis.set_ylim(_FLOOR / 3, top)
