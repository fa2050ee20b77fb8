"""The command line, run as a person would, and what the README shows of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import cutpoint
from cutpoint.cli import main

ROOT = Path(__file__).parent.parent


def command(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutpoint", *arguments],
        cwd=cwd,
        check=False,
        encoding="utf-8",
        env={"PYTHONUTF8": "1"} if env is None else env,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def test_demo_prints_what_the_readme_shows_and_leaves_a_report(tmp_path):
    done = command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = re.search(
        r"```console\n\$ \.venv/bin/cutpoint demo\n(.*?)```",
        (ROOT / "README.md").read_text("utf-8"),
        re.S,
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


def test_a_disk_that_is_full_costs_nothing_that_was_there(tmp_path):
    resource = pytest.importorskip("resource")
    folder = tmp_path / "demo"
    folder.mkdir()
    for name in ("scores.csv", "report.html"):
        (folder / name).write_text("mine")
    # Files of more than 50,000 bytes can't be written: like ENOSPC, an error without a file name.
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (50_000, 50_000))
    done = command("demo", cwd=tmp_path, preexec_fn=limit)
    assert done.returncode == 1
    assert done.stderr.startswith("cutpoint: can't write demo/scores.csv: ")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "scores.csv"]
    assert {path.read_text() for path in folder.iterdir()} == {"mine"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file of Linux")
def test_standard_output_that_is_full(tmp_path):
    with open("/dev/full", "w") as full:
        done = command("demo", cwd=tmp_path, stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith("cutpoint: can't write to the standard output: No space left")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough(tmp_path):
    read, write = os.pipe()
    os.close(read)
    try:
        done = command("demo", cwd=tmp_path, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "demo" / "report.html").exists()


def test_a_terminal_that_knows_ascii_only(tmp_path):
    done = command("demo", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "Kolmogorov?Smirnov" in done.stdout
    assert "Kolmogorov–Smirnov" not in done.stdout
