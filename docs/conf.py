"""Settings of the Sphinx site: ``sphinx-build -W -b html docs build/docs``."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from cutscore import __version__

project = "cutscore"
author = "the cutscore developers"
release = version = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary"]

# Pages are Markdown; their `>>>` blocks are run by pytest, not by Sphinx.
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3

# The API page calls every object by its public name, `cutscore.sweep`: autodoc then goes through
# the lazy attributes of the package, as users do. Types are for the checkers; spelt out, those of
# NumPy would fill the page.
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "none"
autosummary_generate = False
numpydoc_show_class_members = False  # autoclass lists them
toc_object_entries_show_parents = "hide"

# The site can be built where PyTorch is not installed.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]

# A reference to a name that the API page lacks is an error.
nitpicky = True
# The base of errors and warnings is private.
nitpick_ignore = [("py:class", "cutscore.core.errors._Carrier")]

html_theme = "furo"
html_title = f"cutscore {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_theme_options = {
    "light_css_variables": {"code-font-size": "0.75rem"},
    "dark_css_variables": {"code-font-size": "0.75rem"},
}
html_copy_source = False
html_show_copyright = False


def setup(app: Any) -> None:
    """In our docstrings ``|x|`` is an absolute value, never a substitution."""

    def escape_bars(*event: Any) -> None:
        lines: list[str] = event[-1]
        for k, line in enumerate(lines):
            if not line.lstrip().startswith(">>>"):
                lines[k] = re.sub(r"(?<!`)\|([^|`]+)\|", r"\|\1\|", line)

    app.connect("autodoc-process-docstring", escape_bars)
