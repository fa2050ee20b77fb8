"""Bad input on purpose: one sentence on stderr, an exit code, and files that were there survive."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore import auc_covariance, compare
from cutscore.cli import main
from cutscore.tables import write_table

HOSTILE = ["<script>alert(1)</script>", 'a"b\nc', "\u202eltr", "it's; drop table data"]


def payments(n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return {
        "y": y.astype(np.int64),
        "a": rng.normal(size=n) + y,
        "b": rng.normal(size=n),
        "c": rng.choice(["red", "blue"], n),
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of every bad kind, and a model."""
    folder = tmp_path_factory.mktemp("bad")
    data = payments()
    write_table(folder / "t.csv", data)
    write_table(folder / "t.parquet", data)
    assert main(["fit", str(folder / "t.csv"), "--target", "y", "--learner", "fisher", "-o",
                 str(folder / "model.json"), "-q"]) == 0  # fmt: skip
    text, model = (folder / "t.csv").read_bytes(), (folder / "model.json").read_text()
    files: dict[str, bytes | str] = {
        "empty.csv": "",
        "header.csv": "y,a,b,c\n",
        "ragged.csv": "y,a\n1,2\n0,1,5\n",
        "text.csv": "y,a\n1,2\n0,x\n1,3\n",
        "one.csv": "y,a\n1,2\n1,4\n1,3\n",
        "gap.csv": "y,a\n1,2\n0,\n1,3\n",
        "three.csv": "y,a\nx,2\nz,4\nw,3\n",
        "cut.csv": text[:1000].rpartition(b"\n")[0] + b"\n1,2",
        "cut.parquet": (folder / "t.parquet").read_bytes()[:2000],
        "cut.csv.gz": gzip.compress(text)[:3000],
        "latin.csv": b"y,a,c\n1,2,\xe9\n0,1,b\n",
        "wide.csv": ",".join(["y", *(f"x{k}" for k in range(10_000))]) + "\n1,2\n",
        "tampered.json": model.replace('"rows": 400', '"rows": 401'),
        "infinite.json": model.replace('"base": ', '"base": NaN, "was": '),
        "old.json": model.replace("cutscore.detector/3", "cutscore.detector/9"),
        "cut.json": model[:700],
        "no.json": "{}",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "folder").mkdir()
    return folder


def fails(capsys: Any, *words: str, code: int = 1) -> str:
    assert main(list(words)) == code
    out = capsys.readouterr()
    assert out.out == ""
    assert out.err.startswith("cutscore: ")
    assert out.err.count("\n") == 1
    assert "Traceback" not in out.err
    assert "[unexpected]" not in out.err
    return out.err


TABLES = {
    "none.csv": "there is no file",
    "folder": "is a folder without Parquet files",
    "empty.csv": "no-rows",
    "header.csv": "no-rows",
    "ragged.csv": "row 2 of .* has 3",
    "one.csv": "",
    "three.csv": "name it .--positive VALUE",
    "cut.csv": "every row must have as many columns as the first, 4",
    "cut.parquet": "file-unreadable",
    "cut.csv.gz": "can't be read: Truncated",
    "wide.csv": "as the first, 10001; row 1|has no column 'a'",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("command", ["evaluate", "fit", "choose", "compare", "apply"])
def test_bad_tables(made, tmp_path, capsys, name, command):
    import re

    if (command, name) in {("apply", "one.csv"), ("apply", "three.csv"), ("choose", "one.csv")}:
        pytest.skip("nothing is wrong with it")
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    columns = ["--label", "y", "--score", "a"]
    more = {
        "evaluate": [*columns, "--report", str(kept)],
        "fit": ["--target", "y", "-o", str(kept), "--report", str(tmp_path / "page.html")],
        "choose": [*columns, "--maximize", "f1"],
        "compare": ["--label", "y", "--score", "a", "--score", "b"],
        "apply": ["-o", str(kept)],
    }[command]
    model = [str(made / "model.json")] if command == "apply" else []
    said = fails(capsys, command, *model, str(made / name), *more)
    if command in ("evaluate", "fit"):
        assert re.search(TABLES[name], said), said
    assert kept.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["kept.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate t.csv --label yy --score a", "has no column 'yy'. Did you mean 'y'"),
        ("evaluate t.csv --label y --score aa", "has no column 'aa'. Did you mean 'a'"),
        ("evaluate t.csv --label y --score c", "'c' must contain real numbers, but row 1 (t.csv)"),
        ("evaluate text.csv --label y --score a", "row 2 (text.csv) is 'x'"),
        ("evaluate gap.csv --label y --score a", "row 2 (gap.csv) has no value for 'a'"),
        ("evaluate t.csv --label c --score a", "[positive-unstated]"),
        ("evaluate t.csv --label c --score a --positive pink", "[positive-unknown]"),
        ("evaluate t.csv --label c --score a --positive RED", "'red'? [positive-unknown]"),
        ("fit t.csv --target c --positive RED", "'red'? [positive-unknown]"),
        ("evaluate t.csv --label y --score a --format parquet", "[file-unreadable]"),
        ("evaluate t.csv --label y --score a --group g", "has no column 'g'"),
        ("evaluate t.csv", "[column-unstated]"),
        ("evaluate no-*.csv --label y --score a", "matches no file"),
        ("fit latin.csv --target y", "text must be UTF-8; line 2"),
        ("fit t.csv --target Y", "has no column 'Y'. Did you mean 'y'"),
        ("fit t.csv --target c", "[positive-unstated]"),
        ("fit t.csv --target y --exclude aa", "has no column 'aa'"),
        ("fit t.csv --target y --weight b", "a weight must be finite and at least 0"),
        ("apply tampered.json t.csv", "[model-changed]"),
        ("apply infinite.json t.csv", "a number must be finite, got NaN"),
        ("apply old.json t.csv", "[format-unknown]"),
        ("apply cut.json t.csv", "[not-json]"),
        ("apply no.json t.csv", "[field-unfit]"),
        ("export t.csv --to sql", "[not-a-model]"),
        ("apply folder t.csv", "[file-unreadable]"),
        ("apply none.json t.csv", "[file-missing]"),
        ("apply model.json text.csv", "text.csv has no column 'b'"),
        ("apply model.json t.csv --keep d", "has no column 'd'"),
        ("apply model.json t.csv -o none/out.csv", "[file-unwritable]"),
        ("apply model.json t.csv -o folder", "[file-unwritable]"),
        ("export tampered.json --to sql", "[model-changed]"),
        ("export model.json --to sql -o none/x.sql", "[file-unwritable]"),
        ("evaluate t.csv --label y --score a --report none/r.html", "place with --report"),
        *(
            (f"fit t.csv --target y --{option} y", "[arguments-conflict]")
            for option in ("number", "category", "column")
        ),
        ("fit t.csv --target y -o none/m.json", "[file-unwritable]"),
    ],
)  # fmt: skip
def test_bad_words(made, monkeypatch, capsys, words, message):
    monkeypatch.chdir(made)
    before = sorted(os.listdir(made))
    assert message in fails(capsys, *words.split(" "))
    assert sorted(os.listdir(made)) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate", "FILE is missing"),
        ("evaluate t.csv --label y --score a --cost fp=1", "look like fp=1,fn=20 (no spaces)"),
        ("evaluate t.csv --label y --score a --cost fp=1", "Missing: fn."),
        ("compare t.csv --label y --score a --score b --cost fp=1,fn=x", "costs that are the same"),
        ("evaluate t.csv --label y --score a --cost fp=2 fn=40", "like fp=1,fn=20 (no spaces)"),
        ("choose t.csv --label y --score a --cost fp=2, fn=40", "look like fp=1,fn=20 (no spaces)"),
        ("fit --target y --cost fp=2 t.csv fn=40 tp=1", "look like fp=1,fn=20 (no spaces)"),
        ("apply t.csv t.csv", "[not-a-model]"),
        ("apply t.csv model.json", "The model comes before the table: cutscore apply model.json "),
        ("evaluate t.csv --label y --score a --cost fp=-1,fn=1", "[bad-argument]"),
        ("evaluate t.csv --label y --score a --confidence 0.9", "Add --subject-to, or drop --conf"),
        ("choose t.csv --label y --score a", "no objective given. Use --cost fp=1,fn=20 or"),
        *(
            (f"{one} --cost fp=1,fn=2 --maximize f1", "Use --cost or --maximize, not both")
            for one in ("choose t.csv --label y --score a", "fit t.csv --target y",
                        "evaluate t.csv --label y --score a")
        ),
        ("choose t.csv --label y --score a --score b --maximize f1", "must name exactly one score"),
        *(
            (f"{one} {option}", message)
            for one in ("choose none.csv --label y --score a --maximize f1",
                        "fit none.csv --target y", "evaluate none.csv --label y --score a")
            for option, message in (
                ("--prior 2", "--prior must be between 0 and 1, got 2.0."),
                ("--subject-to fpr<=0,05", "with a decimal point, not a comma"),
                ("--subject-to fpr<=0.1 --confidence 95", "--confidence must be between 0 and 1"),
                ("--subject-to mcc>=0.1 --confidence 0.9", "must be one that can be guaranteed"),
                ("--subject-to precision>=0.1 --confidence 0.9 --prior 0.1", "not at another pr"),
                ("--separator ;;", "--separator must be one character, got ';;'"),
            )
        ),
        *(
            (f"{one} --maximize {aim}", message)
            for one in ("choose none.csv --label y --score a", "fit none.csv --target y",
                        "evaluate none.csv --label y --score a")
            for aim, message in (
                ("recal", "got 'recal'. Did you mean recall (share of"),
                ("best", "got 'best'. Known measures: recall, fpr, fnr, spec"),
                ("auc", "so it can't be used to choose one"),
            )
        ),
        ("compare none.csv --label y --score a --score b --cost fp=1,fn=2 --prior 2", "0 and 1"),
        ("fit none.csv --target y --folds 1", "--folds must be at least 2, got 1"),
        ("fit none.csv --target y --seed -1", "seed must be an integer from 0"),
        ("apply model.json t.csv -o out.xyz", "[file-unwritable]"),
        ("compare t.csv --label y --score a", "--score must name exactly two scores, got"),
        ("compare t.csv --label y --score a --score a", "--score must be named once, got 'a'"),
        ("compare t.csv --label y --score a --score b --prior 0.1", "[arguments-conflict]"),
        ("evaluate t.csv --label y --score y", "[arguments-conflict]"),
        ("choose t.csv --label y --score y --maximize f1", "[arguments-conflict]"),
        ("apply model.json t.csv --reasons -1", "--reasons must be at least 0"),
        ("apply model.json t.csv -o t.csv", "[file-unwritable]"),
        ("fit t.csv --target y -o ./t.csv", "[file-unwritable]"),
        ("fit t.csv --target y -o m.json --report m.json", "and --report name the same file"),
    ],
)  # fmt: skip
def test_asked_wrongly(made, monkeypatch, capsys, words, message):
    monkeypatch.chdir(made)
    before = (made / "t.csv").read_bytes()
    assert message in fails(capsys, *words.split(" "), code=2)
    assert (made / "t.csv").read_bytes() == before


def test_what_is_minimised_is_said(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    for words in (
        ["choose", "t.csv", "--label", "y", "--score", "a"],
        ["evaluate", "t.csv", "--label", "y", "--score", "a"],
        ["fit", "t.csv", "--target", "y", "--learner", "fisher", "-o", os.devnull],
    ):
        assert main([*words, "--maximize", "false alarm rate"]) == 0
        assert capsys.readouterr().err == (
            "cutscore: lower is better for 'false alarm rate', so it is minimised.\n"
        )
        assert main([*words, "--maximize", "recall"]) == 0
        assert capsys.readouterr().err == ""


def test_files_stand_anywhere(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    (made / "-odd.csv").write_bytes((made / "t.csv").read_bytes())
    label, score = ["--label", "y"], ["--score", "a"]
    for words in (
        ["t.csv", "t.parquet", *label, *score],
        ["t.csv", *label, "t.parquet", *score],
        [*label, *score, "t.csv", "t.parquet"],
        [*label, "t.csv", *score, "--", "-odd.csv"],
    ):
        assert main(["evaluate", *words]) == 0
        assert ", 800 rows: " in capsys.readouterr().out
    assert main(["apply", "-q", "model.json", "--keep", "y", "t.csv"]) == 0
    assert capsys.readouterr().out.startswith("y,score")
    assert main(["export", "model.json", "--to", "sql", "again"]) == 2
    assert "unexpected argument 'again'" in capsys.readouterr().err


def test_scores_the_wrong_way_round_are_told(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    data = payments()
    write_table("low.csv", {"y": data["y"], "a": -data["a"], "b": -data["b"]})
    way = "If low scores indicate positives, pass --reverse "
    assert main(["compare", "low.csv", "--label", "y", "--score", "a", "--score", "b"]) == 0
    assert way in capsys.readouterr().err
    assert main(["choose", "low.csv", "--label", "y", "--score", "a", "--maximize", "f1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Worse than chance: AUC ")
    assert way in out
    assert main(["choose", "t.csv", "--label", "y", "--score", "a", "--maximize", "f1"]) == 0
    assert way not in capsys.readouterr().err
    # One of them is enough.
    write_table("one.csv", {"y": data["y"], "a": data["a"], "b": -data["b"]})
    assert main(["compare", "one.csv", "--label", "y", "--score", "a", "--score", "b"]) == 0
    err = capsys.readouterr().err
    assert (err.count("\n"), f"{way}b." in err) == (1, True)
    # As it is told, so it goes.
    words = ["low.csv", "--label", "y", "--score", "a", "--reverse", "a"]
    assert main(["choose", *words, "--maximize", "f1"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    s = cs.sweep(data["y"], data["a"])
    point = cs.choose(s, "f1")
    assert out.startswith(f"Flag scores ≤ {-point.threshold!r}\n  objective: maximum F1\n  F1: ")
    for engine in ("memory", "arrow"):
        assert main(["choose", *words, "--maximize", "f1", "--json", "--engine", engine]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["flags"], found["threshold"]) == ("up to", -point.threshold)
        assert found["text"] == out.partition("\n\nnext: ")[0]
    both = ["low.csv", "--label", "y", "--score", "a", "--score", "b", "--reverse"]
    assert main(["compare", *both, "a", "--reverse", "b"]) == 0
    out = capsys.readouterr().out
    c = cs.compare(data["y"], data["a"], data["b"])
    said = f"AUC: a (low = positive) {c.a:.3f}, b (low = positive) {c.b:.3f}: a (low = positive)"
    assert " ".join(out.split()).startswith(f"{said} is better (Δ {c.difference:.3f}, 95 % CI ")
    assert main(["compare", *both, "c"]) == 2
    assert "--reverse must be one of the scores, 'a', 'b', got 'c'" in capsys.readouterr().err


def test_the_summary_goes_to_the_standard_output(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    before = sorted(Path().iterdir())
    assert main(["fit", "t.csv", "--target", "y", "-o", "-"]) == 2
    assert "Use -o model.json." in capsys.readouterr().err
    words = ["t.csv", "--label", "y", "--score", "a", "--report", "-"]
    assert main(["evaluate", *words]) == 2
    assert "Use --report report.html." in capsys.readouterr().err
    assert sorted(Path().iterdir()) == before


def test_names_of_users_are_not_translated(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    for name in ("score[2]", 'sql="b', "positive=x", "header=False"):
        assert main(["evaluate", "t.csv", "--label", "y", "--score", name]) == 1
        assert f"has no column {name!r}." in capsys.readouterr().err


def test_rows_count_from_1(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    write_table("w.csv", {"y": [1, 0, 1, 3], "s": [4, 3, 2, 1], "w": [1, -1, 1, 1]})
    assert main(["evaluate", "w.csv", "--label", "y", "--score", "s"]) == 1
    assert "(the label of row 4 is 3)" in capsys.readouterr().err
    words = ["w.csv", "--label", "y", "--positive", "1", "--score", "s", "--weight", "w"]
    assert main(["evaluate", *words, "--engine", "memory"]) == 1
    assert "at least 0; the weight of row 2 is -1" in capsys.readouterr().err


def test_units_are_drawn_whole(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    words = ["compare", "t.csv", "--label", "y", "--score", "a", "--score", "b", "--unit"]
    data = payments()
    write_table("unit.csv", data | {"unit": np.arange(400) // 4})
    words[1] = "unit.csv"
    assert main([*words, "unit"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    found = compare(data["y"], data["a"], data["b"], unit=np.arange(400) // 4)
    low, high = (f"{x:.3f}".replace("-", "−") for x in found.interval)
    assert f"95 % CI {low} to {high}, p" in said
    assert "paired DeLong test for clustered rows: t(" in said
    assert found.standard_error != compare(data["y"], data["a"], data["b"]).standard_error
    words[0] = "evaluate"
    assert main([*words, "unit", "--json", "-q"]) == 0
    whole = json.loads(capsys.readouterr().out)
    (difference,) = whole["differences"]
    assert difference["difference"]["low"] == pytest.approx(found.interval.low, rel=1e-9)
    both = auc_covariance(data["y"], [data["a"], data["b"]], unit=np.arange(400) // 4)
    for one, span in zip(whole["scores"], both.intervals(), strict=True):
        assert one["auc"]["high"] == pytest.approx(span.high, rel=1e-9)
    limited = ["--subject-to", "fpr <= 0.2", "--maximize", "recall", "--confidence", "0.9"]
    main([*words, "unit", *limited])
    assert "at 90 % confidence for the mean over" in " ".join(capsys.readouterr().out.split())
    assert main([*words, "unit", "--engine", "arrow"]) == 2
    assert "intervals for clusters require all rows in memory" in capsys.readouterr().err
    assert main(["fit", "unit.csv", "--target", "y", "--group", "unit"]) == 2
    assert "cutscore fit has no option --group. Did you mean --unit?" in capsys.readouterr().err


def test_a_file_of_bytes_is_not_for_text(made, monkeypatch, capsys):
    pytest.importorskip("onnx")
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert main(["export", "model.json", "--to", "onnx"]) == 2
    assert "Use -o model.onnx" in capsys.readouterr().err


def test_limits_that_nothing_meets_end_with_3(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    limit = ["--subject-to", "recall >= 0.999", "--subject-to", "fpr <= 0.001"]
    base = ["t.csv", "--label", "y", "--score", "a", "--maximize", "recall", *limit]
    for words in (
        ["choose", *base],
        ["evaluate", *base],
        ["fit", "t.csv", "--target", "y", "--learner", "fisher", "--maximize", "recall", "-q",
         *limit],
    ):  # fmt: skip
        assert main(words) == 3
        out = capsys.readouterr()
        assert out.err == ""
        assert "recall >= 0.999" in out.out


def test_hostile_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = payments()
    named = dict(zip([*HOSTILE, "y"], [data["a"], data["b"], data["c"], data["b"], data["y"]],
                     strict=True))  # fmt: skip
    write_table("t.csv", named)
    write_table("t.jsonl", named)
    for file in ("t.csv", "t.jsonl"):
        words = ["--target", "y", "-o", "m.json", "--report", "r.html"]
        assert main(["fit", file, *words]) == 0
        out = capsys.readouterr()
        assert out.err == ""
        assert "\u202e" not in out.out  # would turn the rest of the line round
        page = Path("r.html").read_text("utf-8")
        assert "<script>alert" not in page
        assert main(["apply", "m.json", file, "-o", "out.parquet", "-q"]) == 0
        for to in ("sql", "card", "sklearn"):
            assert main(["export", "m.json", "--to", to, "-o", f"x{to}.py"]) == 0
        compile(Path("xsklearn.py").read_text("utf-8"), "x", "exec")
        label = ["--label", "y", "--score", HOSTILE[0], "--score", HOSTILE[1]]
        assert main(["evaluate", file, *label, "--report", "e.html"]) == 0
        assert "<script>alert" not in Path("e.html").read_text("utf-8")
        capsys.readouterr()
    said = fails(capsys, "evaluate", "t.csv", "--label", "x\ny<b>", "--score", HOSTILE[0])
    assert "'x\\ny<b>'" in said
    said = fails(capsys, "evaluate", "no\nfile\u202e.csv", "--label", "y", "--score", "a")
    assert "\u202e" not in said


@pytest.mark.slow
def test_two_thousand_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    write_table("t.parquet", {"y": y} | {f"x{k}": rng.normal(size=60) for k in range(2_000)})
    words = ["--learner", "mean-difference", "-o", "m.json", "--report", "r.html"]
    assert main(["fit", "t.parquet", "--target", "y", *words]) == 0
    out = capsys.readouterr().out
    assert "and 1,988 more columns" in out
    assert out.count("\n") < 80
    assert Path("r.html").stat().st_size < 400_000
    assert "Did you mean 'x77'" in fails(capsys, "fit", "t.parquet", "--target", "y", "--exclude",
                                         "x77_")  # fmt: skip


def command(*words: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutscore", *words], cwd=cwd, check=False, encoding="utf-8",
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )  # fmt: skip


@pytest.mark.slow
def test_no_space_left(made, tmp_path):
    resource = pytest.importorskip("resource")
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # Python would leave half a .pyc behind
    for words, name, file, most in (
        (["apply", "model.json", "t.csv", "-o"], "out.csv", None, 6_000),
        (["apply", "model.json", "t.csv", "-o"], "out.parquet", None, 6_000),
        (["fit", "t.csv", "--target", "y", "--learner", "fisher", "-o", str(tmp_path / "m.json"),
          "--report"], "r.html", "m.json", 60_000),
    ):  # fmt: skip
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (most, most))
        kept = tmp_path / name
        kept.write_text("mine")
        if file:  # the model would fit on the disk, the report does not: both stay as they were
            (tmp_path / file).write_text("mine too")
        done = command(*words, str(kept), cwd=made, preexec_fn=limit, env=env)
        assert done.returncode == 1
        assert done.stderr.startswith(f"cutscore: {kept} can't be written: File too large.")
        assert done.stderr.count("\n") == 1
        assert kept.read_text() == "mine"
        assert not file or (tmp_path / file).read_text() == "mine too"
    assert {p.name for p in tmp_path.iterdir()} == {"out.csv", "out.parquet", "r.html", "m.json"}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file of Linux")
def test_a_standard_output_that_is_full(made):
    for words in (
        ["apply", "model.json", "t.csv"],
        ["evaluate", "t.csv", "--label", "y", "--score", "a"],
    ):
        with open("/dev/full", "w") as full:
            done = command(*words, cwd=made, stdout=full)
        assert done.returncode == 1
        assert done.stderr.startswith("cutscore: can't write to standard output: No space")
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(made):
    for words in (["apply", "model.json", "t.csv"], ["export", "model.json", "--to", "sql"]):
        read, write = os.pipe()
        os.close(read)
        try:
            done = command(*words, cwd=made, stdout=write)
        finally:
            os.close(write)
        assert (done.returncode, done.stderr) == (0, "")


def interrupted(
    words: list[str], cwd: Path, ready: Callable[[int], bool], which: int = signal.SIGINT
) -> tuple[int, str]:
    """The command is interrupted as soon as something is so of its process."""
    running = subprocess.Popen(
        [sys.executable, "-m", "cutscore", *words], cwd=cwd, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # What runs the tests in the background may ignore it, and processes inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )  # fmt: skip
    # Long enough for any load; without an end, a bug here would be a run that never ends.
    until = time.monotonic() + 300
    try:
        while not ready(running.pid):
            assert running.poll() is None, running.stderr and running.stderr.read()
            assert time.monotonic() < until, "what was waited for never came"
            time.sleep(0.002)
        assert running.stderr is not None
        # A signal that comes between Python's last look for one and a read that waits is seen when
        # that ends: people press Ctrl-C again, and so do we.
        for _ in range(6):
            running.send_signal(which)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(10)
                break
        return running.wait(0), running.stderr.read()
    finally:
        running.kill()
        running.wait()
        for pipe in (running.stdin, running.stdout, running.stderr):
            if pipe is not None:
                pipe.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_while_it_writes(made, tmp_path, which):
    """The decisions of a pipe that never ends: some are written, more never come."""
    rng = np.random.default_rng(0)
    n = 400_000
    big = {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": np.full(n, "red")}
    write_table(tmp_path / "big.parquet", big)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "out.csv").write_text("mine")
    code, said = interrupted(
        ["apply", str(made / "model.json"), "big.parquet", "-o", "out/out.csv"],
        tmp_path,
        # A file beside the old one, with rows in it.
        lambda _: any(p.suffix == ".part" and p.stat().st_size for p in folder.iterdir()),
        which,
    )
    if which == signal.SIGINT:
        assert (code, said) == (130, "cutscore: interrupted; no files were changed.\n")
    else:
        assert (code, said) == (143, "")
    assert [p.name for p in folder.iterdir()] == ["out.csv"]
    assert (folder / "out.csv").read_text() == "mine"


def open_files(pid: int) -> Iterator[str]:
    """The files that a process has open."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            yield os.readlink(link)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupted_while_it_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    # Waits for a standard input that says nothing, which is kept in a file until the end.
    code, said = interrupted(
        ["evaluate", "-", "--label", "y", "--score", "a"],
        tmp_path,
        lambda pid: any(name.startswith(str(tmp_path)) for name in open_files(pid)),
    )
    assert (code, said) == (130, "cutscore: interrupted; no files were changed.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_our_own_is_one_sentence_too(made, monkeypatch, capsys):
    monkeypatch.setattr("cutscore.cli.evaluate.summarise", lambda *_, **__: 1 / 0)
    words = ["evaluate", str(made / "t.csv"), "--label", "y", "--score", "a"]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert said.startswith("cutscore: internal error (ZeroDivisionError: division by zero)")
    assert said.count("\n") == 1
    monkeypatch.setenv("CUTSCORE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(words)


def test_warnings_of_libraries_stay_inside(made, monkeypatch, capsys):
    import warnings

    from cutscore.report import summarise

    def noisy(*arguments: Any, **options: Any) -> Any:
        warnings.warn("overflow encountered in exp", RuntimeWarning, stacklevel=1)
        return summarise(*arguments, **options)

    monkeypatch.setattr("cutscore.cli.evaluate.summarise", noisy)
    assert main(["evaluate", str(made / "t.csv"), "--label", "y", "--score", "a"]) == 0
    assert capsys.readouterr().err == ""


def test_points_of_the_page_are_rates_by_name(made, monkeypatch, capsys):
    monkeypatch.chdir(made)
    words = ["evaluate", "t.csv", "--label", "y", "--score", "a"]
    page = [*words, "--report", "points.html"]
    assert main([*page, "--point", "old = rule=10 %,0.6", "--point", "b=1,1"]) == 0
    text = Path("points.html").read_text(encoding="utf-8")
    assert 'left:10%;bottom:60%"><i></i><bdi>old = rule</bdi>' in text
    assert 'left:100%;bottom:100%"><i></i><bdi>b</bdi>' in text
    capsys.readouterr()
    for wrong in ("0.1,0.6", "=0.1,0.6", "a=0.1", "a=0.1,0.6,0.7", "a=1.1,0.5", "a=nan,1", "a=x,1"):
        assert main([*page, "--point", wrong]) == 2
        assert f"such as 'old rule=0.1,0.6', got {wrong!r}." in capsys.readouterr().err
    assert main([*page, "--point", "a=0,1", "--point", "a=0,1"]) == 2
    assert "--point must be named once, got 'a'." in capsys.readouterr().err
    assert main([*words, "--point", "a=0,1"]) == 2
    assert "Add --report, or drop --point." in capsys.readouterr().err


def test_little_is_imported_before_interrupts_are_handled():
    """An interrupt is answered from `main` on: what is imported before that has to be fast."""
    lines = (
        "import sys; old = set(sys.modules); import cutscore.cli; print(*set(sys.modules) - old)"
    )
    found = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=True
    )
    names = set(found.stdout.split())
    assert {name for name in names if name.startswith("cutscore")} <= {
        "cutscore",
        "cutscore.cli",
        "cutscore.core",
        "cutscore.core.lazy",
    }
    assert not names & {"argparse", "typing", "pathlib", "dataclasses", "numpy"}
