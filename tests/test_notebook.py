"""The page about notebooks runs in a real kernel, and what it says is shown there."""

from __future__ import annotations

import re
import struct
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import cutscore as cs

pytest.importorskip("matplotlib")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "notebook.md"
CELLS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def shown() -> dict[str, list[dict[str, Any]]]:
    """What each cell shows, by its last line."""
    cells = [nbformat.v4.new_code_cell(cell.rstrip()) for cell in CELLS]
    book = nbformat.v4.new_notebook(cells=cells)
    # What the kernel's own libraries say about each other is no error of ours.
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    return {
        cell.source.splitlines()[-1]: [out.data for out in cell.outputs if "data" in out]
        for cell in book.cells
    }


@pytest.mark.filterwarnings("ignore")
def test_every_cell_shows_what_it_ends_with(shown: dict[str, list[dict[str, Any]]]) -> None:
    for line, outputs in shown.items():
        assert len(outputs) == 1, line
        (data,) = outputs
        drawn = line.startswith(("cs.plot", "ax"))
        assert ("image/png" in data) == drawn, line
        assert ("text/html" in data) != drawn, line


@pytest.mark.filterwarnings("ignore")
def test_a_picture_is_twice_as_fine_as_its_size(shown: dict[str, list[dict[str, Any]]]) -> None:
    (data,) = shown["ax"]
    width, height = struct.unpack(">II", b64decode(data["image/png"])[16:24])
    assert width > 600 < height


@pytest.mark.filterwarnings("ignore")
def test_the_infeasible_point_says_so_first(shown: dict[str, list[dict[str, Any]]]) -> None:
    line = next(line for line in shown if "subject_to" in line)
    page = shown[line][0]["text/html"]
    words = re.sub(r"<[^>]*>", "\n", page).split("\n")
    assert next(filter(None, words)).startswith("No threshold meets precision ≥ 0.9")


def test_axes_and_figures_are_pictures() -> None:
    import pickle

    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    ax = cs.plot.roc(s)
    for drawn in (ax, ax.figure, cs.plot.overview(s), pickle.loads(pickle.dumps(ax))):
        data, size = drawn._repr_png_()
        width, height = struct.unpack(">II", data[16:24])
        assert (width, height) == (round(2 * size["width"]), round(2 * size["height"]))
