"""The command line, run as a person would, and what the README shows of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cutpoint
from cutpoint.cli import main

ROOT = Path(__file__).parent.parent


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutpoint", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env={"PYTHONUTF8": "1"},
    )


def test_demo_prints_what_the_readme_shows_and_leaves_a_report(tmp_path):
    done = command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = re.search(
        r"```console\n\$ cutpoint demo\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S
    )
    assert shown is not None
    assert done.stdout == shown[1]
    page = (tmp_path / "demo" / "report.html").read_text("utf-8")
    assert "0.9283" in page
    assert "http" not in page.replace("http-equiv", "")  # nothing is fetched
    assert (tmp_path / "demo" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "demo" / "scores.csv").read_text().count("\n") == 10_001


def test_version_and_help(capsys):
    for arguments, expected in (
        (["--version"], cutpoint.__version__),
        (["demo", "--help"], "example:"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert expected in capsys.readouterr().out


def test_help_needs_neither_numpy_nor_matplotlib():
    code = (
        "import sys\nfrom cutpoint.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "assert not {'numpy', 'matplotlib', 'cutpoint._native'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_what_can_not_be_written_is_said_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert main(["demo", "-o", str(tmp_path / "file")]) == 1
    out = capsys.readouterr()
    assert out.out == ""
    assert "can't write" in out.err
    assert out.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"


def test_unknown_words_exit_with_2(capsys):
    for words in ([], ["decide"], ["demo", "--colour"]):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
    assert "usage: cutpoint" in capsys.readouterr().err
