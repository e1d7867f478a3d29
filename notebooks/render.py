"""Execute every notebook at the full setting and write its page into docs/notebooks."""

import io
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from PIL import Image

HERE = Path(__file__).parent
PAGES = HERE.parent / "docs" / "notebooks"


def executed(path):
    """The notebook with its outputs; an error in a cell ends the run with its traceback."""
    notebook = nbformat.read(path, as_version=4)
    done = NotebookClient(notebook, kernel_name="python3", timeout=1800).execute()
    for cell in done.cells:  # what told how long something takes is empty now
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("data") != {"text/plain": ""}]
    return done


def small(png):
    """The same picture in 128 colours: a line drawing needs no more, and git keeps versions."""
    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(128).save(out, "PNG", optimize=True)
    return out.getvalue()


def render(path):
    resources = {"unique_key": path.stem, "output_files_dir": "pictures"}
    exporter = MarkdownExporter()
    exporter.register_preprocessor(CoalesceStreamsPreprocessor, enabled=True)
    text, resources = exporter.from_notebook_node(executed(path), resources)
    # A link from the folder of the notebooks into docs/ is one from docs/notebooks to its parent.
    text = text.replace("![png](", "![figure](").replace("(../docs/", "(../")
    lines = (line.rstrip() for line in text.splitlines())
    (PAGES / f"{path.stem}.md").write_text("\n".join(lines).strip() + "\n", encoding="utf-8")
    for name, png in resources["outputs"].items():
        (PAGES / name).write_bytes(small(png))


def main(names):
    os.environ.pop("SYMACCT_FAST", None)
    os.environ.pop("MPLBACKEND", None)  # the kernel's own, which puts pictures into the page
    (PAGES / "pictures").mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.glob("*.ipynb")):
        if not names or path.stem in names:
            print(path.stem, flush=True)
            for old in PAGES.glob(f"pictures/{path.stem}_*.png"):
                old.unlink()
            render(path)


if __name__ == "__main__":
    main(sys.argv[1:])
