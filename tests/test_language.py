"""Nobody reads a message: in a made-up language the command does the same, but for the words."""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutscore.cli import main
from cutscore.core.findings import base
from cutscore.tables import write_table

# Asked rightly and wrongly, of every command. {} is a folder of its own for what is written.
CASES = """
evaluate t.csv --label y --score a --json
evaluate t.csv --label y --score a --score b --cost fp=1,fn=9 --json
evaluate t.csv --label kind --positive bad --score a --json
evaluate t.csv --label kind --score a --json
evaluate t.csv --label y --score low --json --report {}/page.html
evaluate t.csv --label y --score a --group kind --json
evaluate t.csv --label y --score gone --json
evaluate t.csv --label gone --score a
evaluate t.csv --label y --score kind
evaluate t.csv --score a --json
evaluate gone.csv --label y --score a --json
evaluate hole.csv --label y --score a --json
evaluate ragged.csv --label y --score a
choose t.csv --label y --score a --maximize f1 --json
choose t.csv --label y --score a --maximize recal --json
choose t.csv --label y --score a --maximize recall --subject-to precision>=0.999999 --json
choose t.csv --label y --score a --maximize recall --subject-to precision>=9 --json
choose t.csv --label y --score a --json
choose t.csv --label y --score a --cost fp=1 --json
compare t.csv --label y --score a --score b --json
compare t.csv --label y --score a --json
fit t.csv --target y --exclude kind --cost fp=1,fn=9 --json -o {}/m.json --report {}/page.html
fit t.csv --target kind --positive bad --learner fisher --json -o {}/m.json
fit t.csv --target y --learner fisher --column a --column leak --json -o {}/m.json
fit t.csv --target gone --json
fit t.csv --target y --positive 7 --json
apply model.json t.csv -o {}/decided.csv
apply model.json hole.csv -o {}/decided.csv
apply t.csv t.csv -o {}/decided.csv
apply model.json short.csv -o {}/decided.csv
revise model.json --cost fp=1,fn=50 --json -o {}/new.json
revise model.json --prior 2 --json
export model.json --to sql -o {}/score.sql
export model.json --to markdown -o {}/card.md
explain inverted
explain nonsense
"""


def made_up(text: str) -> str:
    """Every letter another one, but for what is in quotes: that is somebody's own."""
    return "".join(
        part if part.startswith("'") else codecs.encode(part, "rot13").upper()
        for part in re.split(r"('[^']*')", text)
    )


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.3).astype(int)
    a, b = rng.normal(size=(2, 300)) + y
    kind = np.where(y == 1, "bad", np.where(a > 0, "good", "fine"))
    columns = {"y": y, "a": a, "b": b, "low": -a, "leak": y + 0.001 * a, "kind": kind}
    write_table(str(folder / "t.csv"), columns)
    write_table(str(folder / "short.csv"), {"y": y, "b": b})
    (folder / "hole.csv").write_text("y,a,b\n1,2.5,1\n0,,1\n1,0.5,2\n")
    (folder / "ragged.csv").write_text("y,a\n1,2.5\n0,1,7\n1,0.5\n")
    words = "fit t.csv --target y --learner logistic --column a --column b -q -o model.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(words.split()) == 0
    return folder


def without_words(value: Any) -> Any:
    """JSON without what is said in words, and what depends on when it was said."""
    words = ("text", "checksum", "digest", "seconds", "why", "training", "note", "written", "paths")
    if isinstance(value, dict):
        return {k: without_words(v) for k, v in value.items() if k not in words}
    return [without_words(v) for v in value] if isinstance(value, list) else value


def outcome(capsys: pytest.CaptureFixture[str], words: str, folder: Path) -> Any:
    folder.mkdir()
    capsys.readouterr()
    try:
        code = main(words.format(*[folder] * words.count("{}")).split(" "))
    except SystemExit as left:  # argparse's own
        code = left.code  # type: ignore[assignment]
    out, err = capsys.readouterr()
    told = without_words(json.loads(out)) if out.startswith("{") else None
    files = {}
    for path in sorted(folder.iterdir()):
        text = path.read_text("utf-8")
        files[path.name] = without_words(json.loads(text)) if path.suffix == ".json" else None
        if path.suffix in (".csv", ".sql"):
            files[path.name] = text
    codes = re.findall(r"\[([a-z-]+)\]$", err, re.MULTILINE)
    return (code, told, files, codes, err.count("\n")), out + err


@pytest.mark.parametrize("words", CASES.strip().splitlines())
def test_nothing_but_the_words_changes(
    tables: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.chdir(tables)
    expected, _ = outcome(capsys, words, tmp_path / "plain")
    monkeypatch.setattr(base, "voice", made_up)
    found, _ = outcome(capsys, words, tmp_path / "other")
    assert found == expected


def test_the_other_language_is_spoken(
    tables: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tables)
    monkeypatch.setattr(base, "voice", made_up)
    _, said = outcome(capsys, "evaluate t.csv --label gone --score a", tmp_path / "x")
    assert "UNF AB PBYHZA 'gone'" in said
