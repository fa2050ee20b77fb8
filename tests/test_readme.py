"""The README's commands and figures, and the limits it keeps to."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cutscore.cli import main
from test_cli import console

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert README.count("\n") <= 120


def test_commands_print_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert "<svg" in (tmp_path / "demo" / "report.html").read_text("utf-8")
    capsys.readouterr()
    shown = console(README)
    assert [shlex.split(line)[1] for line, _ in shown] == ["choose"]
    for line, printed in shown:
        assert main(shlex.split(line)[1:]) == 0
        assert capsys.readouterr().out == printed


def test_times_are_those_of_the_benchmarks() -> None:
    """Six rows of docs/benchmarks.md without their targets."""
    table = README.partition("<!-- speed")[2].partition("<!-- end of speed")[0]
    rows = re.findall(r"^(\| .+ ×) \|$", table, re.M)
    assert len(rows) == 6
    kept = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert [row for row in rows if f"\n{row} | ≥ " not in kept] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    for name in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text("utf-8")):
        assert (ROOT / name).is_file(), name


def test_files_that_contributing_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = ("src", "native", "tests", "docs", "benchmarks", "validation", "packaging")
    there = [path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*")]
    there += [path.as_posix() for path in ROOT.glob("*.*")]
    named = set(re.findall(r"`([\w/]+\.(?:pyi?|[ch]pp|md))`", text))
    assert len(named) >= 30
    missing = [n for n in named if not any(path.endswith(f"/{n}") for path in there)]
    assert missing == []
