"""The stories: pictures are drawn from the pages' own code, and commands print what pages show."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from copy import deepcopy
from doctest import DocTestParser
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import cutscore as cs

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("torch")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
PAGES = sorted((DOCS / "stories").glob("*.md"))


def script() -> ModuleType:
    path = DOCS / "stories" / "pictures.py"
    spec = importlib.util.spec_from_file_location("story_pictures", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PICTURES = script()


def shown(page: Path) -> list[Path]:
    """The pictures of a page."""
    names = re.findall(r"!\[[^]]*\]\(([^)]*)\)", page.read_text("utf-8"))
    return [(page.parent / name).resolve() for name in names]


def test_every_story_has_pictures_and_all_are_there():
    assert [page.stem for page in PAGES] == sorted(PICTURES.STORIES)
    for page in PAGES:
        assert len(shown(page)) >= 2
        assert [path.name for path in shown(page) if not path.is_file()] == []
    assert {*IMAGES.glob("story-*")} == {path for page in PAGES for path in shown(page)}


@pytest.mark.boosting
def test_pictures_are_those_that_the_script_draws(tmp_path: Path) -> None:
    from matplotlib.image import imread

    made = PICTURES.draw(tmp_path)
    assert {path.name for path in made} == {path.name for page in PAGES for path in shown(page)}
    for path in made:
        new, kept = imread(path), imread(IMAGES / path.name)
        # Other releases of matplotlib set other pixels, but few: more is another picture.
        assert new.shape == kept.shape, path.name
        assert float(np.abs(new - kept).mean()) < 0.01, path.name


def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    page = PICTURES.run("diagnostic")
    for name in ("a.png", "b.png"):
        PICTURES.people(page).savefig(tmp_path / name, metadata={"Software": None})
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_people_are_a_thousand():
    page = PICTURES.run("diagnostic")
    for ax in PICTURES.people(page).axes:
        counts = [len(dots.get_offsets()) for dots in ax.collections]
        words = [text.get_text() for text in ax.get_legend().get_texts()]
        assert sum(counts) == 1000
        assert [int(word.split()[0]) for word in words] == counts
        assert counts[0] + counts[1] == 20


def test_commands_print_what_the_page_shows():
    page = (DOCS / "stories" / "clicks.md").read_text("utf-8")
    folder: Path = PICTURES.run("clicks")["folder"]
    blocks = re.findall(r"```console\n(.*?)```", page, re.S)
    pieces = [p for block in blocks for p in re.split(r"^\$ ", block, flags=re.M)[1:]]
    assert len(pieces) >= 3
    (folder / "bin").mkdir(exist_ok=True)
    program = folder / "bin" / "cutscore"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cutscore "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    for piece in pieces:
        line, _, printed = piece.partition("\n")
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            check=True,
            encoding="utf-8",
            capture_output=True,
            env={"PATH": path, "PYTHONUTF8": "1", "COLUMNS": "80"},
        )
        assert done.stdout.rstrip() == printed.rstrip(), line


# Coming from …: what stands in the middle column is code that runs.

COMING = (DOCS / "coming-from.md").read_text("utf-8")


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page leaves, and what its tables call a, b, x, t …"""
    left: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(COMING):
            exec(compile(example.source, "coming-from.md", "exec"), left)
    from cutscore import estimators

    left |= {name: getattr(estimators, name) for name in estimators.__all__}
    left |= {"a": left["logit"], "b": left["old"], "x": left["logit"], "t": 0.3}
    left |= {"s1": left["s"], "s2": left["s"], "n": len(left["y"]), "cutscore": cs}
    filled = left["AUROC"]()
    filled.update(left["target"], left["torch"].from_numpy(left["p"]))
    left |= {"filled": filled, "m1": filled, "m2": left["AUROC"]()}
    return left


def rows() -> list[tuple[str, str]]:
    """Each section's name, and each piece of code in the middle column of its table."""
    out = []
    for section in COMING.split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        for line in re.findall(r"^\|(?! you wrote|---).*\|$", text, re.M):
            _, _, middle, *_ = re.split(r"(?<!\\)\|", line)
            out += [(title, code) for code in re.findall(r"`([^`]+)`", middle)]
    return out


def test_middle_columns_run(names: dict[str, Any]) -> None:
    ran = dict.fromkeys(("scikit-learn", "pROC", "SVM-perf", "torchmetrics"), 0)
    for title, code in rows():
        # Fragments (`.mcc`), commands, what waits for a cluster, and what is left open.
        if code[0] == "." or "..." in code or code.startswith("cutscore fit") or title not in ran:
            continue
        if code.startswith(("load_svmlight_file", "cutscore.")):
            continue
        scope = dict(names)
        if title == "scikit-learn":
            from sklearn.linear_model import LogisticRegression

            scope["m"] = LogisticRegression()
        else:
            scope["m"] = deepcopy(names["filled"])  # which reset() empties
        if code.startswith("r."):
            scope["r"] = cs.roc(scope["s"])
        exec(compile(ast.parse(code), code, "exec"), scope)
        ran[title] += 1
    assert ran["scikit-learn"] >= 20
    assert ran["pROC"] >= 14
    assert ran["SVM-perf"] >= 6
    assert ran["torchmetrics"] >= 10


def test_modules_named_in_tables_have_what_is_called() -> None:
    from functools import reduce

    for _, code in rows():
        for path in re.findall(r"\bcutscore((?:\.\w+)+)", code):
            reduce(getattr, path.strip(".").split("."), cs)
