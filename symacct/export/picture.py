"""A matplotlib Figure that a notebook shows by itself."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A Figure that is a picture in any notebook, also before pyplot or %matplotlib is met."""

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png")
        return content.getvalue()
