"""The picture of an expression: what was done to what, shared parts drawn once."""

from __future__ import annotations

import html
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from symacct.kernel.attached import question
from symacct.kernel.errors import MissingPackageError
from symacct.kernel.formula import value_text
from symacct.kernel.node import Node
from symacct.text import heading

#: A part is led in by one of the first two, and the lines below it by one of the others.
_BRANCH, _LAST, _ON, _PAST = "├── ", "└── ", "│   ", "    "
#: The repr of a graph shows this many lines of the tree.
_REPR_LINES = 4
#: Graphviz has this many seconds for a picture.
_GRAPHVIZ_SECONDS = 60


@dataclass(frozen=True)
class Graph:
    """The expression DAG of a node, as a tree for the terminal, Graphviz, Mermaid or SVG text.

    >>> from symacct import Gaussian, PoissonSubsample
    >>> print((3 * PoissonSubsample(Gaussian(5), "1/1000")).graph())
    Compose
    └── 3 × PoissonSubsample, gamma=1/1000
        └── Gaussian, sigma=5
    """

    root: Node

    def __str__(self) -> str:
        return "\n".join([heading(self.root), *_tree(self.root, "", set())])

    def __repr__(self) -> str:
        """Write the first lines of the tree, and how many more there are."""
        lines = str(self).splitlines()
        head, rest = lines[:_REPR_LINES], len(lines) - _REPR_LINES
        return "\n".join([*head, f"… and {rest:,} more lines"] if rest > 0 else head)

    @property
    def dot(self) -> str:
        """The graph as text for Graphviz."""
        lines = ["digraph symacct {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
        for node, number in self._numbered.items():
            lines.append(f'  n{number} [label="{_quoted(heading(node))}"];')
        for above, below, count in self._edges():
            label = f' [label=" {_quoted(count)} ×"]' if count else ""
            lines.append(f"  n{above} -> n{below}{label};")
        return "\n".join([*lines, "}"])

    @property
    def mermaid(self) -> str:
        """The graph as text for Mermaid, as Markdown pages and notebooks draw it."""
        lines = ["flowchart TD"]
        for node, number in self._numbered.items():
            lines.append(f'  n{number}["{html.escape(heading(node))}"]')
        for above, below, count in self._edges():
            label = f'|"{html.escape(count)} ×"|' if count else ""
            lines.append(f"  n{above} -->{label} n{below}")
        return "\n".join(lines)

    def svg(self) -> str:
        """Draw the picture as SVG. MissingPackageError where Graphviz is not installed.

        Graphviz's own failure raises subprocess.SubprocessError, also after 60 seconds.
        """
        program = shutil.which("dot")
        if program is None:
            raise MissingPackageError(
                "graph: found no Graphviz, needed its program dot",
                remedy="install it (Debian: apt install graphviz), or use .mermaid or .dot",
            )
        drawn = subprocess.run(  # noqa: S603  # our own text, on its standard input
            [program, "-Tsvg"], input=self.dot, capture_output=True, text=True, check=True,
            timeout=_GRAPHVIZ_SECONDS, encoding="utf-8",
        )  # fmt: skip
        return drawn.stdout

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Give Jupyter the picture where there is Graphviz, and text everywhere."""
        picture = {"image/svg+xml": self.svg()} if shutil.which("dot") else {}
        tree = f"<pre>{html.escape(str(self))}</pre>"
        return {"text/plain": str(self), "text/html": tree, **picture}

    @property
    def _numbered(self) -> dict[Node, int]:
        """Every node has a number, the root 0."""
        return {node: number for number, node in enumerate(reversed(list(self.root.walk())))}

    def _edges(self) -> Iterator[tuple[int, int, str]]:
        """Yield each node's number, its part's, and how many times that is run, empty for once."""
        numbers = self._numbered
        for node, number in numbers.items():
            for child, count in _parts(node):
                yield number, numbers[child], count


@question(Node, "graph")
def graph(m: Node) -> Graph:
    """Make the graph of the expression, which prints as a tree.

    `.mermaid` and `.dot` are texts for Mermaid and Graphviz, and `.svg()` is a picture.
    """
    return Graph(m)


def _parts(node: Node) -> Iterator[tuple[Node, str]]:
    """Yield what a node is made of, sorted, with how many times; empty where that is once."""
    for child, count in sorted(node.parts.items(), key=lambda part: heading(part[0])):
        yield child, "" if count == 1 else value_text(count).strip("'")


def _tree(node: Node, margin: str, seen: set[Node]) -> Iterator[str]:
    """Yield the lines below a node; a part `seen` before is named, its own parts are left out.

    `seen` grows by the parts that are met.
    """
    parts = list(_parts(node))
    for place, (child, count) in enumerate(parts, 1):
        branch, beyond = (_LAST, _PAST) if place == len(parts) else (_BRANCH, _ON)
        again = " (as above)" if child in seen and child.children else ""
        yield f"{margin}{branch}{count + ' × ' if count else ''}{heading(child)}{again}"
        if not again:
            seen.add(child)
            yield from _tree(child, margin + beyond, seen)


def _quoted(text: str) -> str:
    """Escape a text for a quoted string of Graphviz."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
