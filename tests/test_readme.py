"""What the README tells people to type is typed here, in the order in which it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from cutscore.cli import main
from cutscore.detector import Detector
from cutscore.tables import open_table

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", README, re.S)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert len(lines) >= 7
    for line in lines:
        program, *words = shlex.split(line)
        assert program.endswith("cutscore")
        assert main(words) == 0, capsys.readouterr().err
    assert "<svg" in (tmp_path / "report.html").read_text("utf-8")
    assert (tmp_path / "decided.parquet").stat().st_size > 1000
    # Blocks without a prompt go on from there.
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", README, re.S) if ">>>" not in b)
    found: dict[str, Any] = {}
    exec(block, found)
    assert found["decided"].equals(open_table("decided.parquet").read())
    assert found["flags"].tolist() == (found["scores"] >= found["d"].threshold).tolist()
    assert Detector.load("dearer.json").threshold < found["d"].threshold


def test_pictures_are_there() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", README)
    assert pictures
    for name in pictures:
        assert (Path(__file__).parent.parent / name).is_file()


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
