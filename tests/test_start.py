"""What docs/start.md tells people to type is typed here, and prints what stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_cli import console, shell

PAGE = (Path(__file__).parents[1] / "docs" / "start.md").read_text("utf-8")
MAKE, DECIDE, LOAD = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page has got to before its first command."""
    path = tmp_path_factory.mktemp("start")
    subprocess.run([sys.executable, "-c", MAKE], cwd=path, check=True)
    (path / "decide.py").write_text(DECIDE, encoding="utf-8")
    (path / "load.py").write_text(LOAD, encoding="utf-8")
    shell("true", path)  # puts `cutscore` into the PATH
    (path / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (path / "bin" / "python").chmod(0o755)
    return path


def test_commands_print_what_the_page_shows(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = console(PAGE)
    assert len(shown) == 9
    for line, printed in shown:
        assert shell(line, folder) == printed, line
    assert "<svg" in (folder / "report.html").read_text("utf-8")
    assert (folder / "roc.png").stat().st_size > 5_000


def test_the_python_is_as_short_as_promised() -> None:
    for lines in (DECIDE, LOAD):
        assert sum(bool(line.strip()) for line in lines.splitlines()) <= 10


def test_what_it_says_of_flagging_nothing_and_everything(folder: Path) -> None:
    prose = " ".join(PAGE.split())
    said = re.search(r"would have cost (\d+) per 1,000 pumps .*? all of them (\d+)\.", prose)
    assert said is not None
    rows = (folder / "pumps.csv").read_text("utf-8").splitlines()[1:]
    share = sum(row.endswith(",yes") for row in rows) / len(rows)
    assert [round(1000 * 15 * share), round(1000 * (1 - share))] == [int(n) for n in said.groups()]


def test_the_command_asks_for_the_positive_label(folder: Path) -> None:
    said = shell("cutscore evaluate pumps.csv --label failed --score risk", folder)
    assert "--positive VALUE" in said
