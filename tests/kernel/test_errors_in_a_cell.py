"""An error in a notebook: the reader's own lines and one message, and all frames on demand."""

import re
import traceback

import pytest

from symacct import Accountant, Gaussian, OrderGridWarning, PoissonSubsample, SymacctError

nbformat = pytest.importorskip("nbformat", reason="a notebook is made by nbformat")
nbclient = pytest.importorskip("nbclient", reason="a notebook is executed by nbclient")
pytest.importorskip("ipykernel", reason="a notebook needs a kernel")

AROUND = 5  # dashes, a header, the cell's number, a blank line, the message
#: A cell, its own lines that are shown, and what the last line says.
CELLS = {
    "sa.Gaussian(-1)": (1, "DomainError: Gaussian, sigma: found -1, needed > 0"),
    "sa.Gaussian(1, foo=2)": (1, "TypeError: "),
    "sa.Gaussian(5).epsilon(2)": (1, "DomainError: delta: found 2"),
    "run.rdp(3, by='ZW19-T27')": (1, "DomainError: "),
    "sa.parse('Gausian(1)')": (1, "ParseError: column 1: found the name 'Gausian'"),
    "sum([run])\n\nrun.epsilon('1e-5', orders=[])": (3, "OrderError: "),
    "def mine(x):\n    return run.rdp(x)\nmine('x')": (7, "DomainError: order alpha: found 'x'"),
    "law = sa.Curve(lambda a: 'no', kind='upper', adjacency='add_remove')\nlaw.rdp(2)": (
        2,
        "DomainError: Curve, value at order 2",
    ),
}
BEFORE = ["import symacct as sa", "run = sa.PoissonSubsample(sa.Gaussian(5), '1/9')"]
OWN = "def f(alpha):\n    raise ValueError('mine')\n"
CALLBACK = OWN + "sa.Curve(f, kind='upper', adjacency='add_remove').rdp(2)"
CAUGHT = (
    "try:\n    sa.Gaussian(-1)\nexcept sa.SymacctError as e:\n    raise RuntimeError('m') from e"
)
KEPT = "import sys, traceback\nassert 'symacct' in str(traceback.extract_tb(sys.last_traceback))"
WHOLE = "sa.Gaussian(-2)"


@pytest.fixture(scope="module")
def shown():
    """What each cell shows of its error, without colours."""
    cells = [*BEFORE, *CELLS, KEPT, CALLBACK, CAUGHT, "%xmode Verbose", WHOLE]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", allow_errors=True
    ).execute()
    return {cell.source: tracebacks(cell) for cell in notebook.cells}


def tracebacks(cell):
    said = ["\n".join(one.traceback) for one in cell.outputs if one.output_type == "error"]
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(said))


@pytest.mark.parametrize("source", CELLS)
def test_an_error_shows_the_cell_s_own_lines_and_one_message(shown, source):
    own, message = CELLS[source]
    lines = shown[source].splitlines()
    assert len(lines) <= own + AROUND
    assert lines[-1].startswith(message)
    assert "symacct/" not in shown[source]
    assert "contextlib" not in shown[source]
    called = source.splitlines()[-1]
    assert any(line.startswith("---->") and line.endswith(called) for line in lines)


def test_a_function_of_one_s_own_that_failed_is_shown(shown):
    text = shown[CALLBACK]
    assert "raise ValueError('mine')" in text
    assert "symacct/" not in text


def test_verbose_mode_shows_every_frame(shown):
    assert "symacct/mechanisms/gaussian.py" in shown[WHOLE]


def test_an_error_of_another_kind_has_the_frames_that_it_always_had(shown):
    assert "symacct/mechanisms/gaussian.py" in shown[CAUGHT]
    assert shown[CAUGHT].endswith("RuntimeError: m")


def test_the_traceback_that_a_debugger_reads_is_whole(shown):
    assert shown[KEPT] == ""


def test_outside_of_ipython_it_is_python_s_own():
    with pytest.raises(SymacctError) as raised:
        Gaussian(-1)
    frames = traceback.format_tb(raised.value.__traceback__)
    assert len(frames) > 2
    assert raised.value._render_traceback_() == traceback.format_exception(raised.value)
    assert traceback.format_tb(raised.value.__traceback__) == frames


def test_a_warning_is_about_the_line_that_asked():
    step = PoissonSubsample(Gaussian(5), "1/1000")
    for ask in (step.epsilon, lambda *x, **how: Accountant().epsilon(step, *x, **how)):
        with pytest.warns(OrderGridWarning) as found:
            ask("1e-5", orders=[2, 8])
        assert {one.filename for one in found} == {__file__}
