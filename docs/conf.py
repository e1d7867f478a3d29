"""The documentation site: `make docs`."""

import sys
from pathlib import Path

import symacct
from symacct.cli import main

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

for name in main.list_commands():  # the extension reads those that are there
    main.get_command(None, name)

project = "symacct"
author = "the symacct developers"
project_copyright = "the symacct developers"
version = release = symacct.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click", "catalogue", "mathml", "reading"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_block"]
myst_heading_anchors = 3
smartquotes = False  # two hyphens are two hyphens, in an option above all
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"symacct {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
nitpicky = False
