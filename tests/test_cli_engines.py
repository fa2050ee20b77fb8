"""Commands give the same answer wherever the work is done."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clusters import local_session, needs_spark
from cutscore.cli import main
from cutscore.core.errors import DataError
from cutscore.tables import open_table, write_table
from cutscore.tables.scans.scan import as_label
from raising import finding


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n = 6000
    y = rng.random(n) < 0.2
    data = {
        "kind": np.where(y, "bad", np.where(rng.random(n) < 0.5, "good", "fine")),
        "y": y,
        "a": 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * y - 1))),
        "b": rng.normal(size=n) + y,
        "w": rng.integers(0, 3, n).astype(float),
        "user": rng.integers(0, 40, n),
        "town": rng.choice(["x", "y", "z"], n),
    }
    folder = tmp_path_factory.mktemp("rows")
    for k in range(2):
        at = slice(k * n // 2, (k + 1) * n // 2)
        part = pa.table({name: column[at] for name, column in data.items()})
        pq.write_table(part, folder / f"{k}.parquet", row_group_size=1000)
    return folder


def ran(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, dict[str, Any], str]:
    code = main([*map(str, words), "--json"])
    out, error = capsys.readouterr()
    return code, json.loads(out) if out else {}, error


def close(a: Any, b: Any, path: str = "") -> None:
    """The same, but for the last digits of sums."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), path
        for key in a:
            if key != "seconds":
                close(a[key], b[key], f"{path}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), path
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            close(x, y, f"{path}/{k}")
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=1e-7, abs=1e-9), path
    else:
        assert a == b, path


QUESTIONS = [
    ["--label", "y", "--score", "a", "--cost", "fp=1,fn=5"],
    ["--label", "y", "--score", "a", "--score", "b", "--maximize", "f1"],
    ["--label", "y", "--score", "a", "--score", "b", "--weight", "w"],
    ["--label", "y", "--score", "b", "--score", "a", "--group", "user", "--reverse", "b"],
    ["--label", "kind", "--positive", "bad", "--score", "a", "--subject-to", "fpr <= 5 %"],
]


@pytest.mark.parametrize("question", QUESTIONS, ids=["costs", "two", "weights", "groups", "text"])
def test_evaluate(table: Path, capsys: pytest.CaptureFixture[str], question: list[str]) -> None:
    code, expected, said = ran(capsys, "evaluate", table, *question, "--engine", "memory")
    assert code == 0, said
    code, found, again = ran(capsys, "evaluate", table, *question, "--engine", "arrow")
    assert code == 0, again
    close(found, expected)
    assert again == said  # remarks too
    if "kind" in question:
        assert expected["warnings"][0]["code"] == "one-vs-rest"
        assert expected["warnings"][0]["fields"]["others"] == ["fine", "good"]


SPARK = ["--engine", "spark", "--master", "local[2]", "--deadline", "240"]


@needs_spark
@pytest.mark.parametrize("question", QUESTIONS[:4], ids=["costs", "two", "weights", "groups"])
def test_evaluate_on_spark(
    table: Path, capsys: pytest.CaptureFixture[str], question: list[str]
) -> None:
    local_session()  # which the command leaves alone
    code, expected, said = ran(capsys, "evaluate", table, *question, "--engine", "memory")
    assert code == 0, said
    code, found, said = ran(capsys, "evaluate", table, *question, *SPARK)
    assert code == 0, said
    close(found, expected)


@needs_spark
def test_fit_on_spark(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local_session()
    words = ["fit", table, "--target", "y", "--exclude", "kind", "--weight", "w"]
    words += ["--learner", "logistic", "--folds", "2"]  # each pass is a job, and takes its time
    _, expected, _ = ran(capsys, *words, "--engine", "memory")
    code, found, said = ran(capsys, *words, *SPARK)
    assert code == 0, said
    # Scores of folds differ in their last digits.
    found.pop("digest"), expected.pop("digest")
    close(found, expected)


@needs_spark
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--label", "kind"], "labels-many|positive-unstated"),
        (["--label", "town", "--positive", "nowhere"], "."),
    ],
)
def test_bad_labels_on_spark(
    table: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    local_session()
    code, _, error = ran(capsys, "evaluate", table, "--score", "a", *words, *SPARK)
    assert code == 1
    assert re.search(message, error)
    assert "Traceback" not in error


def test_choose(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["choose", table, "--label", "y", "--score", "a", "--cost", "fp=1,fn=5"]
    _, expected, _ = ran(capsys, *words)
    code, found, _ = ran(capsys, *words, "--engine", "arrow", "--memory-limit", "300MB")
    assert code == 0
    assert found == expected


# Not the perceptron, which depends on the order of the rows: in memory they are ordered by fold.
@pytest.mark.parametrize("learner", ["auto", "logistic"])
def test_fit(table: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, learner: str) -> None:
    words = ["fit", table, "--target", "y", "--exclude", "kind", "--weight", "w"]
    words += ["--learner", learner]
    models = []
    for engine in ("memory", "arrow"):
        model = tmp_path / f"{engine}.json"
        code, found, said = ran(capsys, *words, "--engine", engine, "-o", model)
        assert code == 0, said
        models.append((json.loads(model.read_text("utf-8")), found))
    (a, x), (b, y) = models
    a.pop("checksum", None), b.pop("checksum", None)
    for one in (a, b):
        one.pop("fingerprint", None)
        one.get("training", {}).pop("trained", None)
    # Scores of folds differ in their last digits.
    x.pop("digest"), y.pop("digest")
    close(x, y)


def test_a_page_is_the_same(table: Path, tmp_path: Path) -> None:
    pages = []
    for engine in ("memory", "arrow"):
        page = tmp_path / f"{engine}.html"
        words = ["evaluate", table, "--label", "y", "--score", "a", "--engine", engine]
        assert main([*map(str, words), "-q", "--report", str(page)]) == 0
        # But for the command, which names the engine.
        pages.append(re.sub("<code>.*?</code>", "", page.read_text("utf-8")))
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["--master", "local[2]"], "--master applies only to --engine spark", 2),
        (["--engine", "arrow", "--memory-limit", "lots"], "--memory-limit", 2),
        (["--engine", "arrow", "--memory-limit", "1MB"], "at least 256 MiB", 2),
        (["--engine", "arrow", "--positive", "maybe"], "no row has the label", 1),
    ],
)
def test_bad_options(
    table: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str, code: int
) -> None:
    label = "kind" if "--positive" in words else "y"
    got, _, error = ran(capsys, "evaluate", table, "--label", label, "--score", "a", *words)
    assert got == code
    assert message in error


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("single", ["--positive", "0.1"]),
        ("decimal", ["--positive", "0.1"]),
        ("whole", []),
        ("y", ["--group", "day"]),
    ],
)
def test_labels_and_groups_mean_the_same_to_both_engines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], label: str, words: list[str]
) -> None:
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    table = {
        "y": y,
        "single": np.where(y, 0.1, 0.2).astype("f4"),
        "decimal": [Decimal("0.1") if one else Decimal("0.2") for one in y],
        "whole": [Decimal("1.0") if one else Decimal("0.0") for one in y],
        "day": [date(2026, 1, 1 + int(k)) for k in rng.integers(0, 5, 400)],
        "s": rng.normal(y * 1.0),
    }
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table(table), file)
    asked = ["evaluate", file, "--label", label, "--score", "s", *words]
    found = [ran(capsys, *asked, "--engine", engine) for engine in ("memory", "arrow")]
    assert found[0][0] == found[1][0] == 0
    memory, arrow = (json.dumps(one[1]["scores"]) for one in found)
    assert memory == arrow


def test_float_labels_that_may_be_several_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"y": [2.0**53, 5.0], "s": [1.0, 2.0]}), file)
    for engine in ("memory", "arrow"):
        got, _, error = ran(capsys, "evaluate", file, "--positive", "5", "--engine", engine)
        assert got == 1
        assert "number-inexact" in error


def test_spark_reads_parquet_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.csv"
    file.write_text("y,s\n1,2\n0,1\n")
    got, _, error = ran(capsys, "evaluate", file, "--engine", "spark")
    assert (got, "[usage]" in error) == (2, True)
    # As it says.
    write_table(tmp_path / "t.parquet", open_table(file).batches())
    assert ran(capsys, "evaluate", tmp_path / "t.parquet")[0] == 0


def test_large_tables_are_streamed_without_a_word(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["evaluate", table, "--label", "y", "--score", "a"]
    _, expected, _ = ran(capsys, *words)
    seen = []
    from cutscore.cli import engines

    real = engines._by_arrow
    monkeypatch.setattr(engines, "_by_arrow", lambda *a: seen.append(1) or real(*a))
    ran(capsys, *words)
    assert not seen
    monkeypatch.setattr(engines, "limit", lambda _: 200 << 20)
    monkeypatch.setattr(type(engines.shared.open_table(table)), "rows", property(lambda _: 10**8))
    _, found, _ = ran(capsys, *words)
    assert seen
    found["rows"] = expected["rows"]
    close(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["evaluate", "choose"])
def test_a_small_table_waits_for_no_other_engine(tmp_path: Path, command: str) -> None:
    file = tmp_path / "t.csv"
    file.write_text("y,s\n1,0.9\n0,0.4\n1,0.35\n0,0.2\n")
    code = (
        "import sys; from cutscore.cli import main; code = main(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    words = [command, str(file), "--label", "y", "--score", "s", "--cost", "fp=1,fn=5"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert "cutscore.cli.engines" in loaded
    assert not loaded & {"pyarrow.dataset", "cutscore.tables.scans.scan", "pyspark"}


# Not every integer is a float: the two next to 2**53 are one.
IDS = 2**53, 2**53 + 1


@pytest.fixture(scope="module")
def ids(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("ids") / "ids.parquet"
    y = np.array([IDS[0]] * 90 + [IDS[1]] * 10)
    pq.write_table(pa.table({"y": y, "s": np.arange(100.0)}), file)
    return file


@pytest.mark.parametrize(
    ("text", "t", "label"),
    [
        (str(IDS[1]), pa.int64(), IDS[1]),
        (str(IDS[1]), pa.dictionary(pa.int32(), pa.uint64()), IDS[1]),
        ("1.0", pa.int8(), 1),
        ("1e3", pa.float64(), 1000),
        ("-inf", pa.float32(), -np.inf),
        ("2", pa.decimal128(5, 2), 2),
        (" TRUE ", pa.bool_(), True),
        ("0", pa.bool_(), False),
        ("1", pa.string(), "1"),
        ("1", pa.dictionary(pa.int8(), pa.large_string()), "1"),
    ],
)
def test_labels_read_as_their_column(text: str, t: pa.DataType, label: Any) -> None:
    found = as_label(text, t, "y")
    assert found == label
    assert isinstance(found, bool) == isinstance(label, bool)
    assert isinstance(found, str) == isinstance(label, str)


@pytest.mark.parametrize("t", [pa.int64(), pa.float64(), pa.bool_(), pa.date32()])
def test_labels_that_no_column_of_that_type_has(t: pa.DataType) -> None:
    with finding("positive-unknown", DataError, positive="yes", column="y"):
        as_label("yes", t, "y")


@pytest.mark.parametrize(
    "engine", ["arrow", pytest.param("spark", marks=needs_spark)], ids=["arrow", "spark"]
)
def test_labels_past_every_float(
    ids: Path, capsys: pytest.CaptureFixture[str], engine: str
) -> None:
    how = ["--engine", "arrow"]
    if engine == "spark":
        local_session()
        how = SPARK
    words = ["evaluate", ids, "--label", "y", "--score", "s", "--positive", IDS[1]]
    code, found, said = ran(capsys, *words, *how)
    assert code == 0, said
    assert (found["rows"]["positives"], found["rows"]["negatives"]) == (10, 90)


@needs_spark
def test_a_process_of_its_own(table: Path) -> None:
    """As people run it: nothing has loaded pandas, or Spark, before."""
    words = ["choose", str(table), "--label", "y", "--score", "a", "--cost", "fp=1,fn=5"]
    code = "import sys; from cutscore.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *words, *SPARK],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    here = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    # But for the next step, which names the engine.
    spark, plain = (out.partition("next:")[0] for out in (done.stdout, here.stdout))
    assert spark == plain != ""
