"""The README's commands and figures, and the limits it keeps to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutscore.cli import main
from test_cli import console

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert README.count("\n") <= 120


def test_the_demo_prints_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ((line, printed),) = console(README)
    assert line == "cutscore demo"
    assert main(["demo"]) == 0
    assert capsys.readouterr().out == printed
    assert "<svg" in (tmp_path / "demo" / "report.html").read_text("utf-8")


def test_times_are_those_of_the_benchmarks() -> None:
    """Six rows of docs/benchmarks.md without their targets."""
    table = README.partition("<!-- speed")[2].partition("<!-- end of speed")[0]
    rows = re.findall(r"^(\| .+ ×) \|$", table, re.M)
    assert len(rows) == 6
    kept = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert [row for row in rows if f"\n{row} | ≥ " not in kept] == []


def test_links_lead_somewhere() -> None:
    for name in re.findall(r"\]\(([^)#]+)", README):
        assert (ROOT / name).is_file(), name


def test_the_tree_in_contributing_is_the_tree() -> None:
    root = Path(__file__).parent.parent
    text = (root / "CONTRIBUTING.md").read_text("utf-8")
    tree = re.search(r"```\nsrc/cutscore/(.*?)```", text, re.S)
    assert tree is not None
    package, _, native = tree[1].partition("\nnative/")
    told = set(re.findall(r"[\w.]+(?:/|\.pyi?\b)", package))
    there = {path.name for path in (root / "src" / "cutscore").glob("*.py")}
    there |= {f"{path.parent.name}/" for path in (root / "src" / "cutscore").glob("*/__init__.py")}
    assert there <= told, "modules that CONTRIBUTING.md does not name"
    every = {path.name for path in (root / "src" / "cutscore").rglob("*.py*")}
    assert {name for name in told if not name.endswith("/")} <= every, "modules that are gone"
    sources = {path.name for path in (root / "native").glob("*.?pp")}
    named = set(re.findall(r"\w+\.[ch]pp", native))
    assert sources - named <= {"bindings.cpp"}
    assert named <= sources
