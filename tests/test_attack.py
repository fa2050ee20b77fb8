"""Files, queries, names and streams of strangers: each ends with a finding, and nothing is left.

``validation/attack.py`` draws such things at random; a short run of it is here.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import cutscore as cs
from cutscore.cli import main
from cutscore.core.errors import CutscoreError
from cutscore.core.files import written_aside
from cutscore.core.terminal import neutral
from cutscore.detector.scorers import Contributions
from cutscore.tables import open_table, parts
from raising import finding

ROOT = Path(__file__).parents[1]
ROWS = {"y": [0, 1] * 50, "score": np.linspace(0, 1, 100)}


def test_a_short_attack(tmp_path: Path) -> None:
    words = ["--share", "0.0005", "--minutes", "1", "--keep", str(tmp_path), "--seed", "0"]
    done = subprocess.run(
        [sys.executable, "validation/attack.py", *words, "--only", "models", "files", "arrays"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 broken") == 3


@pytest.mark.slow
def test_a_short_attack_on_commands(tmp_path: Path) -> None:
    words = ["--share", "0.02", "--minutes", "2", "--keep", str(tmp_path), "--seed", "0"]
    parts_ = ["kills", "streams", "disks", "memory"]
    done = subprocess.run(
        [sys.executable, "validation/attack.py", *words, "--only", *parts_],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 broken") == 4


# ------------------------------------------------------------------------------------------- files


def damaged(path: Path, column: Any, find: bytes, at: int, value: int) -> Path:
    table = pa.table({**ROWS, "g": column})
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(path.read_bytes())
    start = bytes(data).index(find) + at
    data[start : start + 4] = struct.pack("<i", value)
    path.write_bytes(data)
    return path


def test_arrow_with_an_offset_or_an_index_out_of_range(tmp_path: Path) -> None:
    text = pa.array([f"a{k}" for k in range(100)])
    offsets = text.buffers()[1].to_pybytes()[:200]
    coded = pa.array(["a", "b"] * 50).dictionary_encode()
    codes = np.array([0, 1] * 50, np.int32).tobytes()
    for name, column, find, value in (
        ("o.arrow", text, offsets, -5000),
        ("i.arrow", coded, codes, 9999),
    ):
        path = damaged(tmp_path / name, column, find, 40, value)
        with finding("file-unreadable", file=str(path)):
            open_table(path).read()
        with finding("file-unreadable", file=str(path)):
            open_table(path, sql="select g from data").read()
        with finding("file-unreadable", file=str(path)):
            cs.sweep_file(path, label="y", score="score", filter=pc.field("g") != "a")
        with finding("file-unreadable"):
            data = ds.dataset(path, format="ipc")
            cs.sweep_file(data, label="g", positive="a1", score="score")
        assert open_table(path).read(["y", "score"]).num_rows == 100


@pytest.mark.parametrize(
    ("reads", "code"),
    [
        ("import os; os.kill(os.getpid(), 11)", "file-unreadable"),
        ("import sys; sys.stdin.read(); print('no'); sys.exit('bad')", "file-unreadable"),
        ("import sys; sys.stdin.read(); sys.exit(2)", None),
    ],
)
def test_orc_whose_library_crashes(
    reads: str, code: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does where lengths of text are damaged."""
    from cutscore.tables import write_table

    path = tmp_path / "t.orc"
    write_table(path, ROWS)
    assert open_table(path).read(["score"]).num_rows == 100
    assert open_table(path, sql="select score from data where y = 1").read().num_rows == 50
    monkeypatch.setattr("cutscore.tables.formats.orc._READ", reads)
    with finding(code, file=str(path)) if code else pytest.raises(MemoryError):
        open_table(path).read()


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    for name, line in (("key", b'"\xff\xfe":1'), ("value", b'"a":"\xff\xfe"')):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b'{"y":1,"score":0.5,' + line + b"}\n")
        with finding("line-invalid"):
            open_table(path).read()
    path = tmp_path / "ragged.csv"
    path.write_bytes(b"y,score\n1,0.5\n0,0.5,\xff\n")
    with finding("line-invalid", file=str(path), line=3):
        open_table(path).read()
    path = tmp_path / "text.parquet"
    pq.write_table(pa.table({**ROWS, "g": ["zzzz"] * 100}), path, use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xff\xfez"))
    for sql in ("select g from data", "select upper(g) as g from data"):
        with pytest.raises(CutscoreError):
            open_table(path, sql=sql).read()
    path = tmp_path / "name.parquet"
    pq.write_table(pa.table({**ROWS, "zzzz": ROWS["y"]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"z\xff\xfez"))
    with finding("file-unreadable"):
        open_table(path)
    base = tmp_path / "name.db"
    with sqlite3.connect(base) as connection:
        connection.execute("create table t (yyyy int)")
        connection.execute("insert into t values (1)")
    connection.close()
    base.write_bytes(base.read_bytes().replace(b"yyyy", b"y\xff\xfey"))
    with pytest.raises(CutscoreError):
        open_table(base, sql="select * from t")


@pytest.mark.parametrize("middle", ["[" * 30_000 + "]" * 30_000, '{"a":' * 3000 + "1" + "}" * 3000])
def test_json_is_not_nested_too_deeply(tmp_path: Path, middle: str) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text('{"y":1,"score":' + middle + "}\n")
    with finding("line-invalid", value="it is nested too deeply"):
        open_table(path)
    path.write_text('{"y":1,"t":"' + r"[\"[\\" * 30_000 + '"}\n')
    assert open_table(path).names == ["y", "t"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "svm"])
def test_no_line_is_endless(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "BLOCK", 1 << 16)
    path = tmp_path / f"long.{suffix}"
    path.write_bytes({"svm": b"1 1:1 ", "jsonl": b'{"a":"'}.get(suffix, b"") + b"1" * (1 << 18))
    with finding("file-unreadable"):
        open_table(path)


def test_devices_and_pipes(tmp_path: Path) -> None:
    with finding("file-unreadable", file="/dev/zero"):
        open_table("/dev/zero")
    with finding("no-rows"):
        open_table("/dev/null")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "y,score\n" + "1,0.5\n" * 20_000
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert open_table(pipe).read().num_rows == 20_000
    writer.join()


def test_indices_of_libsvm_that_nobody_can_name(tmp_path: Path) -> None:
    (tmp_path / "t.svm").write_text("1 1:1 2147483646:1\n0 1:2\n")
    with finding("file-unreadable"):
        _ = open_table(tmp_path / "t.svm").names


def test_full_memory_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", refuse)
    with pytest.raises(MemoryError):
        table.read()


def test_a_limited_address_space(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "t.parquet")
    words = [sys.executable, "-m", "cutscore", "evaluate", "t.parquet", "-q"]
    for most, code in ((500 << 20, 1), (2500 << 20, 0)):
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=False,
            preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert ("[out-of-memory]" in done.stderr) == bool(code)


def test_dates_that_python_has_not(tmp_path: Path) -> None:
    from cutscore.tables import write_table

    days = pa.array([0, 2**30], pa.int32()).cast(pa.date32())
    table = pa.table({"day": days, "code": pa.array(["a", "b"]).dictionary_encode()})
    for name in ("t.jsonl", "t.orc", "t.csv"):
        assert write_table(tmp_path / name, table) == 2


# ----------------------------------------------------------------------------------------- queries


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("a.db") as connection:
        connection.execute("create table t (y int, s real)")
        connection.executemany("insert into t values (?, ?)", [(1, 0.5), (0, 0.25)])
    connection.close()
    Path("t.csv").write_text("y,s\n1,0.5\n0,0.25\n")
    Path("other.csv").write_text("y,s\n1,0.5\n")
    before = sorted(os.listdir())
    yield tmp_path
    assert sorted(os.listdir()) == before, "a query wrote a file"


@pytest.mark.parametrize(
    "query",
    [
        "vacuum into 'v.db'",
        "attach database 'o.db' as o",
        "insert into t values (1, 2)",
        "create temp table q (a)",
        "pragma journal_mode = delete",
        "select load_extension('x')",
        "select 1; select 2",
    ],
)
def test_queries_of_sqlite_only_read(base: Path, query: str) -> None:  # noqa: ARG001
    assert open_table("a.db", sql="select y, max(s) m from t group by y").read().num_rows == 2
    with finding("query-failed"):
        open_table("a.db", sql=query)


QUERIES = [
    "copy (select 1) to 'x.csv'",
    "attach 'x.duckdb'",
    "load httpfs",
    "install httpfs",
    "set enable_external_access = true",
    "create table q as select 1",
    "export database 'x'",
    "select 1; copy (select 1) to 'x.csv'",
]
ELSEWHERE = [
    "select * from read_csv('other.csv')",
    "select * from 'other.csv'",
    "select * from read_text('/etc/passwd')",
    "select * from glob('*')",
]


@pytest.mark.parametrize("query", QUERIES + ELSEWHERE)
def test_queries_of_duckdb_are_confined(base: Path, query: str) -> None:  # noqa: ARG001
    duckdb = pytest.importorskip("duckdb")
    with finding("query-failed"):
        open_table("t.csv", sql=query)
    assert open_table("t.csv", sql="from data").read().num_rows == 2
    if query in QUERIES:
        with finding("query-failed"):
            open_table(sql=query)
    duckdb.connect("d.duckdb").execute("create table t as select 1 y").close()
    try:
        with finding("query-failed"):
            open_table("d.duckdb", sql=query)
        assert open_table("d.duckdb", sql="from t").read().num_rows == 1
    finally:
        Path("d.duckdb").unlink()


def test_a_query_without_files_reads_those_it_names(base: Path) -> None:  # noqa: ARG001
    pytest.importorskip("duckdb")
    assert open_table(sql="select * from 'other.csv'").read().num_rows == 1


class Stop(Exception):
    pass


@pytest.fixture
def stop() -> Iterator[Any]:
    """Sends a signal after a while, whose handler raises."""

    def handle(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, handle)
    timers = []

    def later(seconds: float) -> None:
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.join()
    signal.signal(signal.SIGUSR1, before)


def test_an_endless_query_can_be_interrupted(base: Path, stop: Any) -> None:  # noqa: ARG001
    endless = (
        "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) n from c"
    )
    stop(0.2)
    with pytest.raises(Stop):
        open_table("a.db", sql=endless)


@pytest.mark.slow
def test_a_sort_can_be_interrupted(stop: Any) -> None:
    """It takes some CPU seconds; what it takes after the signal is less than a fifth of that."""
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 10_000_000).astype(np.uint8), rng.random(10_000_000)
    start = time.process_time()
    cs.sweep(y, score)
    whole = time.process_time() - start
    for _ in range(20):
        start = time.process_time()
        stop(0.02)
        try:
            cs.sweep(y, score)
            time.sleep(1)
        except Stop:
            if time.process_time() - start < 0.8 * whole:
                return
    pytest.fail("the sort was never cut short")


# ----------------------------------------------------------------------- streams, names, leftovers


def test_a_file_beside_that_a_dead_process_left(tmp_path: Path) -> None:
    target = tmp_path / "out[1].csv"
    (tmp_path / f".{target.name}.dead.part").write_text("half")
    (tmp_path / ".other.csv.dead.part").write_text("half")
    alive = tmp_path / f".{target.name}.alive.part"
    with open(alive, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with written_aside(target, text=True) as out:
            out.write("whole")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {target.name, alive.name, ".other.csv.dead.part"}
    assert target.read_text() == "whole"


def test_remarks_are_not_made_before_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("y;score\n1;0.5\n2;0.5\n3;0.25\n")
    assert main(["evaluate", str(tmp_path / "t.csv")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_cells_are_no_formulas() -> None:
    names = ["=1+1", "+a", "-b", "@c", "\td", "\re", "f", "\ud800"]
    label = np.arange(len(names))[:, None]
    said = Contributions(np.eye(len(names)), np.tile(label, len(names)), names).largest(1)
    assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r")) for text in said.to_pylist())


def test_text_on_a_terminal() -> None:
    assert "\x1b" not in neutral("a\x1b]0;title\x07b\x9b2J")
    assert neutral("Łódź\tis\n“fine”") == "Łódź\tis\n“fine”"


# ----------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "weight", [[1e-5, 8e307, 1e-5, 1], [0.1, 1e-20, 0.1, 1e-20], [5e-324, 1e300, 1, 1]]
)
def test_legal_extreme_weights(weight: list[float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = cs.sweep([1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], weight)
        for aim in ("mcc", "lift", "lr_positive"):
            repr(cs.choose(s, aim))
        h = cs.hull(s)
        assert (np.diff(h.slope) <= 0).all()
        cs.gain(s), cs.lift(s), cs.net_benefit(s)
        assert 0 <= cs.h_measure(s) <= 1


def test_the_h_measure_does_not_depend_on_the_scale_of_a_rare_class() -> None:
    """A class of next to no weight: the limit, from either side."""
    y, score = [1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.3, 0.1, 0.5, 0.5]
    for rare in (0, 1):
        found = [
            cs.h_measure(cs.sweep(y, score, [w if label == rare else 1.0 for label in y]))
            for w in (1e-12, 1e-20, 1e-100)
        ]
        assert found == pytest.approx([found[-1]] * 3, abs=1e-9)


def test_half_precision_weights_are_squared() -> None:
    torch = pytest.importorskip("torch")
    y, score, weight = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.1], [0.5, 1.0, 2.0, 0.25]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        want = cs.sweep(y, score, weight, squares=True)
        short = [torch.tensor(weight, dtype=t) for t in (torch.half, torch.bfloat16)]
        for w in (np.float32(weight), np.float16(weight), *short):
            s = cs.sweep(y, score, w, squares=True)
            assert np.array_equal(s.pos2, want.pos2)
            assert np.array_equal(s.neg2, want.neg2)
