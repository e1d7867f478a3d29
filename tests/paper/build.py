"""`make paper`: every LaTeX output through a real pdflatex, over all theorems and mechanisms.

Writes out/paper/: a document with every formula, table and sentence, and a few whole papers.
Fails where LaTeX reports an error, or a line that runs into the margin by more than 3 pt.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from symacct import parse
from symacct.export.figures import figure, save
from symacct.export.latex.sentences import plain_tex
from symacct.export.tables import table
from symacct.papers.document import PACKAGES
from tests.export import outputs

PLACE = Path("out/paper")
DEBIAN = "texlive-latex-base texlive-latex-recommended texlive-science texlive-pictures lmodern"
FILES = [f"{name}.sty" for name in (*PACKAGES, "pgf")]
MARGIN = 3.0  # points


def main():
    check_install()
    PLACE.mkdir(parents=True, exist_ok=True)
    drawn = table(
        parse("PoissonSubsample(Laplace(2), 1/9)"), [2, 4, 8, 16], 6, ["ZW19-T5", "ZW19-T8"]
    )
    save(figure(drawn), PLACE / "curves.pgf")
    documents = {"formulas": everything(), **dict(outputs.papers())}
    faults = [fault for name, text in documents.items() for fault in compiled(name, text)]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(documents)} documents compiled in {PLACE}, {len(faults)} faults")
    sys.exit(1 if faults else 0)


def check_install(files=FILES):
    """One clear line where LaTeX or a package is missing."""
    needed = f"install them, on Debian: apt-get install --no-install-recommends {DEBIAN}"
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        sys.exit(f"make paper: found no pdflatex, needed LaTeX with its packages; {needed}")
    for file in files:
        if not run(["kpsewhich", file]).stdout.strip():
            sys.exit(f"make paper: found no {file}, needed it to compile the outputs; {needed}")


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def everything():
    """One document of all displays, tables and sentences, and a figure."""
    lines = [
        r"\documentclass{article}",
        *(rf"\usepackage{{{name}}}" for name in (*PACKAGES, "pgf")),
    ]
    lines += [r"\allowdisplaybreaks", r"\sloppy", r"\begin{document}"]
    titled = [*outputs.displays(every=True), *outputs.numbers(), *outputs.tables()]
    for title, tex in titled:
        lines += [rf"\paragraph{{{plain_tex(title)}}}", tex, ""]
    for title, tex in outputs.sentences():
        lines += [rf"{plain_tex(title)}: {tex}", ""]
    lines += [r"\begin{figure}", r"\input{curves.pgf}", r"\end{figure}", r"\end{document}"]
    print(f"{len(titled)} formulas and tables")
    return "\n".join(lines)


def compiled(name, text):
    """What pdflatex says is wrong with a document."""
    (PLACE / f"{name}.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name]
    for _ in range(2):  # the second time for references
        done = run(command, cwd=PLACE, errors="replace")
    yield from faults_of(name, done, PLACE)


def faults_of(name, done, place):
    """What the last run of pdflatex and its log say is wrong."""
    log = (place / f"{name}.log").read_text(errors="replace")
    if done.returncode:
        said = re.findall(r"^(?:!|l\.).*", log, re.M)[:3]
        yield f"{name}: pdflatex failed: {' '.join(said)}"
    for width, where in re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\) (.*)", log):
        if float(width) > MARGIN:
            yield f"{name}: {width} pt too wide {where}"
    for warning in re.findall(r"LaTeX Warning: (?:Reference|Citation).*undefined.*", log):
        yield f"{name}: {warning}"


if __name__ == "__main__":
    main()
