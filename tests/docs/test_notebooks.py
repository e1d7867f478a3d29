"""The notebooks run, end in a picture, and say of the papers what their prose says of them."""

import ast
import re
from pathlib import Path

import pytest

from tests.thinning import covering

nbformat = pytest.importorskip("nbformat", reason="the notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="the notebooks need nbclient to be executed")
pytest.importorskip("ipykernel", reason="the notebooks need ipykernel to be executed")
pytest.importorskip("matplotlib", reason="the notebooks draw with matplotlib")

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# How often a sentence of a paper is contradicted by the numbers; the prose explains each.
DISAGREEMENTS = {
    "blog_routes": 3,
    "wbk19_figure_1": 3,
    "wbk19_figure_2": 2,
    "zw19_figure_2": 1,
    "zw19_figure_3": 3,
    "zw19_figure_4": 8,
}

#: Questions whose answer depends on the conversion.
NUMBERS = {"epsilon", "delta"}

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@each_notebook
def test_it_is_kept_without_outputs(path):
    cells = code(nbformat.read(path, as_version=4))
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@each_notebook
def test_it_names_the_conversion_of_what_it_compares(path):
    """A default may come to prove less, so that a column of Rényi orders is of something else."""
    for cell in code(nbformat.read(path, as_version=4)):
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in NUMBERS:
                named = {word.arg for word in call.keywords}
                assert len(call.args) > 2 or named & {"conversion", "by", "orders", None}, (
                    ast.unparse(call)
                )


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """One kernel for all of them: to start it takes longer than to run most."""
    where = {"metadata": {"path": str(tmp_path_factory.mktemp("notebooks"))}}
    first = nbformat.v4.new_notebook()
    client = nbclient.NotebookClient(first, resources=where, kernel_name="python3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYMACCT_FAST", "1")
        patch.delenv("MPLBACKEND", raising=False)
        client.execute(cleanup_kc=False)
    client.kc.stop_channels()
    yield client.km
    nbclient.util.run_sync(client.km.shutdown_kernel)(now=True)


def test_a_fresh_kernel_shows_pictures_tables_and_formulas_without_being_asked():
    """No pyplot, no %matplotlib: what a cell ends in is drawn."""
    ends = {
        "sa.plot(sa.Gaussian(5), orders=[2, 3])": ("image/png", None),
        "sa.theorems()": ("text/html", "<td style"),
        "sa.theorem('ZW19-T8')": ("text/html", "ZW19-T8"),
        "sa.PoissonSubsample(sa.Gaussian(5), '1/9').expansion()": ("text/html", r"$\displaystyle"),
        "sa.sweep(sa.Laplace(2), {'delta': ['1e-5', '1e-6']})": ("text/html", "overflow-x:auto"),
    }
    cells = ["import symacct as sa", *ends]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MPLBACKEND", raising=False)
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell, (kind, within) in zip(code(notebook)[1:], ends.values(), strict=True):
        *_, shown = cell.outputs  # after the progress that a busy machine shows
        assert kind in shown.data, cell.source
        assert within is None or within in shown.data[kind]


@each_notebook
def test_a_picture_is_near_its_top(path):
    """On the page: the first one is above the second piece of code."""
    page = (PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
    assert page.index("![figure]") < [at.start() for at in re.finditer("```python", page)][1]
    first = re.search(r"!\[figure\]\((.*?)\)", page)[1]
    assert (PAGES / first).exists()


#: Seconds of drawing: one of them runs here, in the soak all.
LONG = {
    "blog_routes",
    "how_loose_is_each_bound",
    "sampling_exactly",
    "what_renyi_accounting_loses",
    *(f"wbk19_figure_{number}" for number in (1, 2)),
    *(f"zw19_figure_{number}" for number in (3, 4, 5)),
}


@covering(lambda path: {"long" if path.stem in LONG else path})
@each_notebook
def test_it_runs_and_ends_in_a_picture(path, kernel):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    client = nbclient.NotebookClient(notebook, km=kernel, timeout=300)
    client.execute()
    client.kc.stop_channels()  # else they warn, when collected, in the midst of another test
    outputs = [output for cell in code(notebook) for output in cell.outputs]
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
    assert any("image/png" in output.get("data", {}) for output in code(notebook)[-1].outputs)
    printed = "".join(output.text for output in outputs if output.get("name") == "stdout")
    assert printed.count("DISAGREES") == DISAGREEMENTS.get(path.stem, 0), printed


@each_notebook
def test_its_page_is_of_this_version(path):
    page = (PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
    for cell in nbformat.read(path, as_version=4).cells:
        source = cell.source.replace("(../docs/", "(../")
        assert source in page, f"make notebooks: {path.stem} has changed"
    assert str(ROOT) not in page
    pictures = re.findall(r"!\[figure\]\((.*?)\)", page)
    assert pictures
    assert all((PAGES / name).stat().st_size < 80_000 for name in pictures)


def test_every_page_is_in_the_index():
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```{toctree}.*?\n\n(.*?)```", index, re.S).group(1).split()
    assert sorted(listed) == [path.stem for path in NOTEBOOKS]
