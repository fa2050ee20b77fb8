"""Sweeps of files: the integers of memory, within a limit of it, and errors that name the place."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.report import summarise_sweeps
from cutscore.sweeps import sweep as _sweep
from cutscore.tables import open_table
from cutscore.tables.scans import sweeps as files
from cutscore.tables.scans.memory import Spill, limit_of
from cutscore.tables.scans.runs import merged, pack, quantiles, split, stacked, unpack
from cutscore.tables.scans.sample import draw
from raising import finding

FIELDS = ("threshold", "pos", "neg", "pos2", "neg2", "top")


def same(a: cs.Sweep, b: cs.Sweep, exact: bool = True) -> None:
    for name in FIELDS:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None), name
        if x is not None:
            assert x.dtype == y.dtype
            if exact or name in ("threshold", "top"):
                assert np.array_equal(x, y), name
            else:
                np.testing.assert_allclose(x, y, rtol=1e-12)


def columns(n: int, kind: str, dtype: Any = np.float32, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    s = rng.normal(size=n) + y
    if kind == "rounded":
        s = s.round(1)
    elif kind == "infinite":
        s = np.where(rng.random(n) < 0.05, np.inf, np.where(rng.random(n) < 0.05, -np.inf, s))
        s[rng.random(n) < 0.1] = -0.0
    elif kind == "sorted":
        s = np.sort(s)
    elif kind == "heavy":  # most rows share one score
        s = np.where(rng.random(n) < 0.9, 0.25, s)
    return {
        "y": y.astype(np.uint8),
        "s": s.astype(dtype),
        "w": rng.integers(0, 4, n).astype(float),
        "g": rng.integers(0, 5, n),
    }


def written(folder: Path, data: dict[str, Any], parts: int = 1, group: int = 3000) -> Path:
    n = len(data["y"])
    for k in range(parts):
        at = slice(k * n // parts, (k + 1) * n // parts)
        table = pa.table({name: column[at] for name, column in data.items()})
        pq.write_table(table, folder / f"part-{k}.parquet", row_group_size=group)
    return folder


@pytest.mark.parametrize("kind", ["plain", "rounded", "infinite", "sorted", "heavy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("small", [False, True], ids=["memory", "spilled"])
def test_the_sweep_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, dtype: Any, small: bool
) -> None:
    data = columns(40_000, kind, dtype)
    folder = written(tmp_path, data, parts=3)
    if small:

        class Tiny(files._Plan):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                self.pool, self.sorted = 1, 1024

        monkeypatch.setattr(files, "_Plan", Tiny)
        monkeypatch.setattr("cutscore.tables.formats.parquet._PIECE", 1)
    found = cs.sweep_file(folder, label="y", score="s")
    same(found, cs.sweep(data["y"], data["s"]))
    same(
        cs.sweep_file(folder, label="y", score="s", compact=True),
        cs.sweep(data["y"], data["s"]).compact(),
    )
    weighted = cs.sweep_file(folder, label="y", score="s", weight="w", squares=True)
    same(weighted, cs.sweep(data["y"], data["s"], data["w"], squares=True))
    same(
        cs.sweep_file(folder, label="y", score="s", weight="w", squares=True, compact=True),
        cs.sweep(data["y"], data["s"], data["w"], squares=True, compact=True),
    )


@pytest.mark.parametrize("kind", ["rounded", "heavy"])
@pytest.mark.parametrize("small", [False, True], ids=["memory", "spilled"])
def test_weights_are_added_in_the_order_of_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, small: bool
) -> None:
    """To the bit, whichever thread reads what: rounding depends on the order of a sum."""
    data = columns(40_000, kind, np.float64)
    data["w"] = 10 ** np.random.default_rng(1).uniform(-6, 6, 40_000)
    folder = written(tmp_path, data, parts=3)
    monkeypatch.setattr("cutscore.tables.formats.parquet._PIECE", 1)
    if small:

        class Tiny(files._Plan):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments)
                self.pool, self.sorted = 1, 1024

        monkeypatch.setattr(files, "_Plan", Tiny)
        monkeypatch.setattr(files, "_GROUP_ROWS", 700)
        monkeypatch.setattr(files, "_BLOCK_ROWS", 100_000)
    names: dict[str, Any] = {"label": "y", "score": "s", "weight": "w"}
    whole = cs.sweep(data["y"], data["s"], data["w"], squares=True)
    binned, draws = [], []
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("CUTSCORE_THREADS", threads)
        same(cs.sweep_file(folder, **names, squares=True), whole)
        groups = cs.sweep_file(folder, **names, squares=True, group="g")
        for g, s in groups.items():
            at = data["g"] == g
            same(s, cs.sweep(data["y"][at], data["s"][at], data["w"][at], squares=True))
        binned.append(cs.sweep_file(folder, **names, binned=True))
        draws.append(draw(folder, label="y", weight="w", scores=["s"], most=100))
    for b, (ones, zeros) in zip(binned, draws, strict=True):
        assert np.array_equal(b.bin_pos, binned[0].bin_pos)
        assert np.array_equal(b.bin_neg, binned[0].bin_neg)
        assert (ones.pairs, zeros.pairs) == (draws[0][0].pairs, draws[0][1].pairs)


def test_rows_are_written_where_memory_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = columns(200_000, "plain")
    folder = written(tmp_path, data)
    spilled = []

    class Watched(files._Stream):
        def sweep(self) -> cs.Sweep:
            spilled.append(self.streams[0].spilled)
            return super().sweep()

    monkeypatch.setattr(files, "_Stream", Watched)
    cs.sweep_file(folder, label="y", score="s")
    monkeypatch.setattr(files._Plan, "pool", property(lambda _: 1, lambda *_: None), raising=False)
    same(cs.sweep_file(folder, label="y", score="s"), cs.sweep(data["y"], data["s"]))
    assert spilled[0] == 0
    assert spilled[1] >= 100_000 * 4  # bytes: a float32 and its label take 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("small", [False, True], ids=["memory", "spilled"])
def test_few_scores_that_become_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool, dtype: Any
) -> None:
    """Rows are counted as long as there are few scores, and sorted after all once there are not."""
    data = columns(400_000, "infinite", dtype)
    late = np.arange(len(data["s"])) % 200_000 >= 1 << 17
    scores = data["s"]
    for few in (True, False):
        data["s"] = np.where(late & np.array(not few), scores, scores.round(2))
        folder = written(tmp_path, data, parts=2, group=200_000)
        if small:
            monkeypatch.setattr(
                files._Plan, "pool", property(lambda _: 1, lambda *_: None), raising=False
            )
        spilled = []

        class Watched(files._Stream):
            def sweep(self, spilled: list[int] = spilled) -> cs.Sweep:
                found = super().sweep()
                spilled.append(self.streams[0].spilled)
                return found

        monkeypatch.setattr(files, "_Stream", Watched)
        for compact in (False, True):
            found = cs.sweep_file(folder, label="y", score="s", compact=compact)
            same(found, cs.sweep(data["y"], data["s"], compact=compact))
        assert (spilled[0] > 0) == (small and not few)


@pytest.mark.parametrize("extension", ["csv", "jsonl", "arrow", "parquet"])
def test_every_format(tmp_path: Path, extension: str) -> None:
    data = columns(5000, "rounded", np.float64)
    file = tmp_path / f"t.{extension}"
    cs.tables.write_table(file, data)
    same(cs.sweep_file(file, label="y", score="s"), cs.sweep(data["y"], data["s"]))
    b = cs.sweep_file(open_table(file), label="y", score="s", binned=True, bits=12)
    expected = cs.BinnedSweep.of(data["y"], data["s"], bits=12)
    assert np.array_equal(b.bin_pos, expected.bin_pos)
    assert np.array_equal(b.bin_neg, expected.bin_neg)
    assert b.rows == 5000
    heavy = cs.sweep_file(file, label="y", score="s", weight="w", binned=True)
    assert pytest.approx(data["w"][data["y"] == 1].sum()) == heavy.P


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_rows(tmp_path: Path, n: int) -> None:
    data = columns(100, "plain")
    file = tmp_path / "few.parquet"
    pq.write_table(pa.table({name: column[:n] for name, column in data.items()}), file)
    same(cs.sweep_file(file, label="y", score="s"), cs.sweep(data["y"][:n], data["s"][:n]))


def test_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = columns(30_000, "plain")
    folder = written(tmp_path, data, parts=2)
    for least in (1 << 16, 1000):
        monkeypatch.setattr(files, "_GROUP_ROWS", least)
        found = cs.sweep_file(folder, label="y", score="s", group="g")
        assert list(found) == [0, 1, 2, 3, 4]
        for g, s in found.items():
            at = data["g"] == g
            same(s, cs.sweep(data["y"][at], data["s"][at]))
    monkeypatch.setattr(files, "_GROUPS", 3)
    with finding("bad-argument", parameter="group", value="g"):
        cs.sweep_file(folder, label="y", score="s", group="g")


@pytest.mark.parametrize("weight", [None, "w"])
def test_groups_of_several_columns(tmp_path: Path, weight: str | None) -> None:
    data = columns(30_000, "rounded")
    data["user"] = np.array([f"u{k}" for k in np.random.default_rng(1).integers(0, 300, 30_000)])
    data["day"] = np.arange(30_000) // 7000
    folder, names = written(tmp_path, data, parts=3), ["user", "g", "day"]
    keys = list(zip(*(data[name].tolist() for name in names), strict=True))
    found = cs.by_group_file(folder, label="y", score="s", group=names, weight=weight)
    w = None if weight is None else data[weight]
    expected = cs.by_group(data["y"], data["s"], keys, weight=w)
    assert found.group.tolist() == expected.group.tolist()
    assert len(found) > 1000
    for of in ("P", "N", "auc"):
        np.testing.assert_array_equal(getattr(found, of), getattr(expected, of))
    sweeps = cs.sweep_file(folder, label="y", score="s", group=["g", "day"], weight=weight)
    assert list(sweeps) == sorted({key[1:] for key in keys})
    for (g, day), s in sweeps.items():
        at = (data["g"] == g) & (data["day"] == day)
        same(s, cs.sweep(data["y"][at], data["s"][at], None if w is None else w[at]))


@pytest.mark.parametrize("group", [[], ["g", 3], 3])
def test_groups_are_columns(tmp_path: Path, group: Any) -> None:
    folder = written(tmp_path, columns(100, "plain"), parts=1)
    with pytest.raises(cs.DataError):
        cs.by_group_file(folder, label="y", score="s", group=group)


@pytest.mark.parametrize("kind", ["numbers", "text", "floats"])
@pytest.mark.parametrize("limit", [None, "256 MiB"])
def test_the_auc_inside_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, limit: Any
) -> None:
    data = columns(30_000, "rounded")
    rng = np.random.default_rng(1)
    user = rng.integers(0, 3000, 30_000)
    data["user"] = {"numbers": user, "text": np.array([f"u{k}" for k in user]), "floats": user / 8}[
        kind
    ]
    folder = written(tmp_path, data, parts=3)
    if limit:  # as if there were much more of it
        monkeypatch.setattr("cutscore.tables.scans.groups._ROW", 1 << 16)
        monkeypatch.setattr("cutscore.tables.scans.groups._CHUNK", 1000)
        monkeypatch.setattr("cutscore.tables.formats.parquet._PIECE", 1)
    for weight in (None, "w"):
        found = cs.by_group_file(
            folder, label="y", score="s", group="user", weight=weight, memory_limit=limit
        )
        w = None if weight is None else data["w"]
        expected = cs.by_group(data["y"], data["s"], data["user"], weight=w)
        assert found.group.tolist() == expected.group.tolist()
        np.testing.assert_array_equal(found.P, expected.P)
        np.testing.assert_array_equal(found.N, expected.N)
        np.testing.assert_array_equal(found.auc, expected.auc)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        ([True, False, True], None),
        ([1, -1, 1], None),
        ([1.0, 0.0, 1.0], None),
        (["bad", "ok", "bad"], "bad"),
        ([7, 3, 7], 7),
        ([7, 3, 7], "7"),
        ([True, False, True], "true"),
    ],
)
def test_labels(tmp_path: Path, labels: list[Any], positive: Any) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"y": labels, "s": [3, 2, 1]}), file)
    s = cs.sweep_file(file, label="y", score="s", positive=positive)
    same(s, cs.sweep([1, 0, 1], np.array([3, 2, 1])))


def test_a_filter_is_pushed_down(tmp_path: Path) -> None:
    data = columns(20_000, "plain")
    data["day"] = np.sort(data["g"])
    folder = written(tmp_path, data, parts=2)
    some = data["day"] >= 3
    expected = cs.sweep(data["y"][some], data["s"][some])
    condition = pc.field("day") >= 3
    same(cs.sweep_file(folder, label="y", score="s", filter=condition), expected)
    dataset = ds.dataset(folder)
    same(cs.sweep_file(dataset, label="y", score="s", filter=condition), expected)
    same(cs.sweep_file(dataset, label="y", score="s"), cs.sweep(data["y"], data["s"]))
    # Row groups that have no such day are not even read: what is broken in them does no harm.
    broken = folder / "part-0.parquet"
    content = bytearray(broken.read_bytes())
    group = pq.ParquetFile(broken).metadata.row_group(0).column(1)
    at = group.dictionary_page_offset or group.data_page_offset
    content[at : at + 64] = b"\xff" * 64
    broken.write_bytes(content)
    same(cs.sweep_file(folder, label="y", score="s", filter=condition), expected)
    with finding("file-unreadable", cs.DataError) as damaged:
        cs.sweep_file(ds.dataset(folder), label="y", score="s")
    assert re.fullmatch(r"row group 1 of .*part-0\.parquet", damaged.value.finding.where.file)
    with finding("bad-argument", parameter="filter", value="day >= 3"):
        cs.sweep_file(folder, label="y", score="s", filter="day >= 3")
    text = tmp_path / "t.csv"
    text.write_text("y,s\n1,2\n")
    with finding("bad-argument", parameter="filter"):
        cs.sweep_file(text, label="y", score="s", filter=condition)


def test_hive_partitions_of_a_dataset(tmp_path: Path) -> None:
    data = columns(3000, "plain")
    table = pa.table(data)
    ds.write_dataset(
        table,
        tmp_path,
        format="parquet",
        partitioning=ds.partitioning(pa.schema([("g", pa.int64())]), flavor="hive"),
    )
    dataset = ds.dataset(tmp_path, partitioning="hive")
    found = cs.sweep_file(dataset, label="y", score="s", group="g")
    for g, s in found.items():
        at = data["g"] == int(g)
        same(s, cs.sweep(data["y"][at], data["s"][at]))


# ------------------------------------------------------------------------------------------- faults


def faulty(tmp_path: Path, change: Any, row: int = 7000) -> Path:
    """A file of row groups of 3,000 rows, one of which was changed."""
    data = columns(10_000, "plain", np.float64)
    lists = {name: column.tolist() for name, column in data.items()}
    change(lists, row)
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table(lists), file, row_group_size=3000)
    return file


def put(name: str, value: Any) -> Any:
    def change(lists: dict[str, list[Any]], row: int) -> None:
        lists[name][row] = value

    return change


@pytest.mark.parametrize(
    ("name", "value", "code", "row"),
    [
        ("s", float("nan"), "value-missing", 1000),
        ("w", -1.0, "bad-weight", 1000),
        ("y", 2, "positive-unstated", 1000),
        ("y", -1, "labels-many", None),
    ],
)
def test_one_bad_row(tmp_path: Path, name: str, value: Any, code: str, row: int | None) -> None:
    file = faulty(tmp_path, put(name, value))
    with finding(code, cs.DataError) as error:
        cs.sweep_file(file, label="y", score="s", weight="w")
    where = error.value.finding.where
    assert (where.column, where.row) == (name, row)
    assert where.file.startswith("row group 3 of 4 of")
    assert where.file.endswith("rows.parquet")


@pytest.mark.parametrize("name", ["y", "s", "w"])
def test_a_missing_value(tmp_path: Path, name: str) -> None:
    file = faulty(tmp_path, put(name, None))
    with finding("value-missing", column=name, row=1000, file=f"row group 3 of 4 of {file}"):
        cs.sweep_file(file, label="y", score="s", weight="w")


def test_damaged_and_different_files(tmp_path: Path) -> None:
    folder = written(tmp_path, columns(9000, "plain"), parts=3)
    one = folder / "part-1.parquet"
    whole = one.read_bytes()
    one.write_bytes(whole[: len(whole) // 2])
    with finding("file-unreadable", file=str(one), part=None):
        cs.sweep_file(folder, label="y", score="s")
    meta = pq.ParquetFile(folder / "part-0.parquet").metadata.row_group(0).column(1)
    start = meta.dictionary_page_offset or meta.data_page_offset
    damaged = bytearray(whole)
    damaged[start : start + 40] = b"\xff" * 40
    one.write_bytes(damaged)
    with finding("file-unreadable", file=str(one), part="row group 1 of 1"):
        cs.sweep_file(folder, label="y", score="s")
    pq.write_table(pa.table({"y": [1], "s": ["high"]}), one)
    with pytest.raises(cs.DataError, match=r"lacks 'w'|must have the same columns|one type"):
        cs.sweep_file(folder, label="y", score="s")
    names = ["y", "s", "w", "g"]
    pq.write_table(pa.table({n: ["x"] if n == "s" else [1] for n in names}), one)
    with pytest.raises(cs.DataError, match=r"'s' is numbers in .*part-0.* and text in .*part-1"):
        cs.sweep_file(folder, label="y", score="s")
    one.unlink()
    source = open_table(folder)
    (folder / "part-2.parquet").unlink()
    with pytest.raises(cs.DataError, match=r"part-2\.parquet can't be read"):
        cs.sweep_file(source, label="y", score="s")


def test_integers_and_floats_of_several_files_are_one_column(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": [1, 0], "s": [3, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"y": [True, False], "s": [2.5, 0.5]}), tmp_path / "b.parquet")
    with pytest.raises(cs.DataError, match=r"'y' is numbers in .* and booleans in"):
        cs.sweep_file(tmp_path, label="y", score="s")
    pq.write_table(pa.table({"y": [1.0, 0.0], "s": [2.5, 0.5]}), tmp_path / "b.parquet")
    same(cs.sweep_file(tmp_path, label="y", score="s"), cs.sweep([1, 0, 1, 0], [3, 1, 2.5, 0.5]))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"score": "nothing"}, {"code": "column-missing", "column": "nothing"}),
        ({"score": 3}, {"code": "bad-argument", "value": 3}),
        ({"memory_limit": "much"}, {"code": "bad-argument", "parameter": "memory_limit"}),
        ({"memory_limit": 1000}, {"code": "bad-argument", "value": 1000}),
        ({"binned": True, "compact": True}, {"code": "arguments-conflict"}),
        ({"binned": True, "bits": 30}, {"code": "bad-argument", "parameter": "bits"}),
        ({"positive": "maybe", "label": "g"}, {"code": "positive-unknown", "positive": "maybe"}),
    ],
)
def test_bad_questions(tmp_path: Path, options: dict[str, Any], found: dict[str, Any]) -> None:
    folder = written(tmp_path, columns(100, "plain"))
    with finding(**found):
        cs.sweep_file(folder, **({"label": "y", "score": "s"} | options))


def few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no more than 100 entries of a sweep fitted into the limit."""
    monkeypatch.setattr(
        files._Plan, "entries", property(lambda _: 100, lambda *_: None), raising=False
    )


def are_mapped(folder: Path) -> bool:
    """Whether this process looks at a temporary file in a folder."""
    return str(folder) in Path("/proc/self/maps").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "rounded", "infinite", "sorted", "heavy"])
@pytest.mark.parametrize("weight", [None, "w"], ids=["counts", "weights"])
@pytest.mark.parametrize("compact", [False, True], ids=["whole", "compact"])
@pytest.mark.parametrize("most", [1 << 20, 1024], ids=["buckets", "slices"])
def test_a_sweep_in_a_file(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    weight: str | None,
    compact: bool,
    most: int,
) -> None:
    data = columns(20_000, kind, np.float64)
    (tmp_path / "temporary").mkdir()
    folder = written(tmp_path, data, 2)
    squares = weight is not None
    monkeypatch.setattr(_sweep, "_PART", 512)  # so that there are many
    wanted = cs.sweep(
        data["y"], data["s"], data.get(weight or ""), squares=squares, compact=compact
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    few_entries(monkeypatch)
    monkeypatch.setattr(
        files._Plan, "sorted", property(lambda _: most, lambda *_: None), raising=False
    )
    roles: dict[str, Any] = {"label": "y", "score": "s", "weight": weight}
    s = cs.sweep_file(folder, **roles, squares=squares, compact=compact)
    assert are_mapped(tmp_path / "temporary") == (len(wanted) > 101)
    assert list((tmp_path / "temporary").iterdir()) == []  # it has no name
    same(s, wanted)
    assert (s.P, s.N, s.auc, repr(s)) == (wanted.P, wanted.N, wanted.auc, repr(wanted))
    for name in ("threshold", "tp", "fp", "slope", "cut"):
        assert getattr(cs.hull(s), name).tolist() == getattr(cs.hull(wanted), name).tolist()
    assert cs.thresholds_for(s, [0.1, 1]).tolist() == cs.thresholds_for(wanted, [0.1, 1]).tolist()
    for aim, limits in (
        (cs.Costs(fp=1, fn=7), None),
        ("f1", None),
        ("balanced", None),
        (cs.Costs(fp=1, fn=7), "recall >= 0.4"),
    ):
        p, q = (cs.choose(one, aim, subject_to=limits) for one in (s, wanted))
        assert (p.threshold, p.confusion, p.value) == (q.threshold, q.confusion, q.value)
        assert p.interval == q.interval
        assert s.at(p.threshold) == wanted.at(p.threshold)
    for method in ("score", "delong", "logit"):
        assert cs.auc_interval(s, method=method) == cs.auc_interval(wanted, method=method)
    if not compact:
        assert cs.average_precision(s) == cs.average_precision(wanted)
        one, other = (summarise_sweeps({"s": each}).as_dict() for each in (s, wanted))
        assert one == other
    same(pickle.loads(pickle.dumps(s)), wanted)
    del s, p
    gc.collect()
    assert not are_mapped(tmp_path / "temporary")


def test_sweeps_of_groups_larger_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path, columns(20_000, "plain"))
    few_entries(monkeypatch)
    with finding("bad-argument", cs.DataError):
        cs.sweep_file(folder, label="y", score="s", group="g")


def test_limits() -> None:
    assert limit_of("256 MiB") == 256 << 20
    assert limit_of(1e9) == 10**9
    assert limit_of(None) >= 256 << 20


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """16 million rows, which take 128 MiB as they are sorted."""
    file = tmp_path_factory.mktemp("large") / "large.parquet"
    rng = np.random.default_rng(0)
    schema = pa.schema([("y", pa.uint8()), ("s", pa.float64())])
    with pq.ParquetWriter(file, schema) as writer:
        for _ in range(16):
            y = rng.random(1 << 20) < 0.01
            s = rng.standard_normal(1 << 20) + y
            writer.write_table(pa.table([y.astype(np.uint8), s], schema=schema))
    return file


@pytest.fixture(scope="module")
def in_memory(large: Path) -> cs.Sweep:
    table = pq.read_table(large)
    return cs.sweep(table["y"].to_numpy(), table["s"].to_numpy(), compact=True)


@pytest.mark.slow
@pytest.mark.parametrize("compact", [False, True], ids=["in a file", "compact"])
def test_peak_memory_stays_within_the_limit(
    large: Path, in_memory: cs.Sweep, compact: bool
) -> None:
    code = f"""
import cutscore as cs, cutscore.tables.scans.sweeps, scipy.special
def status(name):
    return int(open("/proc/self/status").read().partition(name)[2].split()[0]) // 1024
start = status("VmRSS:")
s = cs.sweep_file({str(large)!r}, label="y", score="s", compact={compact}, memory_limit="256 MiB")
cs.hull(s), cs.choose(s, cs.Costs(fp=1, fn=20)), cs.auc_interval(s)
# Not ru_maxrss: a child begins with what its parent had.
print(s.P, s.N, s.auc, status("VmHWM:") - start)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    P, N, auc, growth = done.stdout.split()
    assert (int(P), int(N), float(auc)) == (in_memory.P, in_memory.N, in_memory.auc)
    assert int(growth) < 256


@pytest.mark.slow
def test_a_full_disk(large: Path, tmp_path: Path) -> None:
    code = f"""
import resource, signal, cutscore as cs
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    cs.sweep_file({str(large)!r}, label="y", score="s", compact=True, memory_limit="256 MiB")
except cs.DataError as error:
    print(error.finding.code, error.finding.reason)
"""
    done = run(code, TMPDIR=str(tmp_path))
    assert done.stdout.strip() == "disk-refused File too large"
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_a_file_that_was_never_made_matters_when_it_is_needed(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path / "gone"))
    assert spill.fileno() == -1
    reason = "No such file or directory"
    with finding("disk-refused", written=0, reason=reason), spill.guard():
        spill.write(b"something")
    spill.close()


def test_how_far_a_file_came_is_said(tmp_path: Path) -> None:
    spill = Spill(str(tmp_path))
    # As the native core does: not by write().
    os.pwrite(spill.fileno(), b"12345", 0)
    with finding("disk-refused", written=5), spill.guard():
        raise OSError(errno.ENOSPC, "full")
    spill.close()


def test_several_threads_write_and_read_one_file() -> None:
    spill = Spill()

    def work(k: int) -> bool:
        data = bytes([k]) * (1000 + k)
        places = [spill.write(data) for _ in range(50)]
        return all(spill.read(*place) == data for place in places)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(32)))
    assert spill.size == 50 * sum(1000 + k for k in range(32))
    spill.close()


# ------------------------------------------------------------------------- sweeps on their way

masses = st.lists(
    st.tuples(
        st.floats(allow_nan=False, width=32) | st.floats(allow_nan=False),
        st.integers(0, 1 << 34),
        st.integers(0, 300),
    ),
    max_size=30,
)


@given(masses, st.lists(st.floats(allow_nan=False), max_size=5))
def test_cut_and_put_together(rows: list[Any], bounds: list[float]) -> None:
    t, p, n = zip(*rows, strict=True) if rows else ((), (), ())
    s = cs.Sweep.from_counts(np.array(t, float), np.array(p, int), np.array(n, int))
    pieces = split(s, np.unique(np.array(bounds, float)))
    same(stacked([unpack(pack(piece)) for piece in pieces]), s)
    for low, piece in zip([-np.inf, *np.unique(bounds).tolist()], pieces, strict=True):
        assert not len(piece) or piece.threshold[-1] >= low
    same(merged([s, s, s]), s + s + s)
    small = s.compact()
    same(unpack(pack(small)), small)


def test_compact_pieces_stack_to_the_compact_whole() -> None:
    data = columns(5000, "plain", np.float64)
    s = cs.sweep(data["y"], data["s"], data["w"], squares=True)
    bounds = quantiles(data["s"], 7)
    assert len(bounds) == 6
    pieces = [piece.compact() for piece in split(s, bounds)]
    same(stacked(pieces).compact(), s.compact(), exact=False)
    assert len(pack(cs.sweep(data["y"], data["s"].astype(np.float32)))) < 6.1 * 5000


# --------------------------------------------------------------------- what reviewers once found


def test_a_batch_of_one_label_says_nothing_of_the_other(tmp_path: Path) -> None:
    y = np.array([1] * 2000 + [-1] * 2000, np.int8)
    s = np.arange(4000.0)
    pq.write_table(pa.table({"y": y, "s": s}), tmp_path / "t.parquet", row_group_size=1000)
    same(cs.sweep_file(tmp_path, label="y", score="s"), cs.sweep(y, s))


def test_a_filter_over_files_of_several_types_rounds_nothing(tmp_path: Path) -> None:
    data = columns(2000, "plain", np.float64)
    narrow = {**data, "s": data["s"].astype(np.float32)}
    pq.write_table(pa.table(narrow), tmp_path / "a.parquet")
    pq.write_table(pa.table(data), tmp_path / "b.parquet")
    both = np.concatenate((narrow["s"].astype(np.float64), data["s"]))
    expected = cs.sweep(np.tile(data["y"], 2), both)
    everything = pc.field("w") >= 0
    same(cs.sweep_file(tmp_path, label="y", score="s", filter=everything), expected)
    with finding("types-differ", column="s", kinds=("float", "double")):
        cs.sweep_file(ds.dataset(tmp_path), label="y", score="s")


def test_a_filter_by_a_hive_partition(tmp_path: Path) -> None:
    data = columns(3000, "plain")
    hive = ds.partitioning(pa.schema([("g", pa.int64())]), flavor="hive")
    ds.write_dataset(pa.table(data), tmp_path, format="parquet", partitioning=hive)
    dataset = ds.dataset(tmp_path, partitioning="hive")
    some = data["g"] == 1
    found = cs.sweep_file(dataset, label="y", score="s", filter=pc.field("g") == 1)
    same(found, cs.sweep(data["y"][some], data["s"][some]))
    with finding("bad-argument", parameter="filter"):
        cs.sweep_file(dataset, label="y", score="s", filter=pc.field("nothing") == 1)


def test_infinite_scores_stay_alone() -> None:
    full = cs.sweep([0, 0, 1, 0], [np.inf, 3, 2, 1])
    small = full.compact()
    assert small.threshold.tolist() == [np.inf, 3, 2, 1]
    y = np.array([0, 0, 0, 1, 0, 0])
    s = np.array([np.inf, np.inf, 4, 3, 2, 1])
    for sweep in (cs.sweep(y, s).compact(), cs.sweep(y, s, compact=True)):
        assert sweep.threshold.tolist() == [np.inf, 4, 3, 1]
        a, b = (cs.choose(x, cs.Costs(fp=1, fn=1)) for x in (sweep, cs.sweep(y, s)))
        assert (a.threshold, a.confusion) == (b.threshold, b.confusion)


def test_files_that_change_are_found_out(tmp_path: Path) -> None:
    data = columns(4000, "plain")
    file = written(tmp_path, data, group=1000) / "part-0.parquet"
    source = open_table(file)
    from cutscore.tables.scans.scan import Scan

    scan = Scan(source, label="y", score="s")
    other = {name: column[:3200] for name, column in data.items()}
    pq.write_table(pa.table(other), file, row_group_size=800)
    with finding("rows-changed", cs.DataError):
        files.sweep_scan(scan, limit=1 << 30)
    pq.write_table(pa.table({"y": data["y"]}), file, row_group_size=1000)
    with pytest.raises(cs.DataError, match=r"part-0\.parquet"):
        files.sweep_scan(scan, limit=1 << 30)


def test_integers_past_every_float_are_labels(tmp_path: Path) -> None:
    big = 2**60
    y = np.array([big] * 90 + [big + 1] * 10)
    pq.write_table(pa.table({"y": y, "s": np.arange(100.0)}), tmp_path / "t.parquet")
    assert cs.sweep_file(tmp_path, label="y", score="s", positive=str(big + 1)).P == 10


def test_dictionaries_with_holes(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["a", "b", "zz"]))
    table = pa.table({"y": [1, 0, 0, 1], "s": [1.0, 2, 3, 4], "g": words})
    file = tmp_path / "t.arrow"
    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    assert list(cs.sweep_file(file, label="y", score="s", group="g")) == ["a", "b"]
    holes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array(["a", None]))
    table = table.set_column(2, "g", holes)
    with pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    with finding("value-missing", column="g", row=1):
        cs.sweep_file(file, label="y", score="s", group="g")


@pytest.mark.parametrize("coded", [False, True])
def test_nan_is_no_group(tmp_path: Path, coded: bool) -> None:
    groups = pa.array([1.5, -0.0, 0.0, float("nan")])
    g = groups.dictionary_encode() if coded else groups
    file = tmp_path / "t.arrow"

    def put(rows: int) -> None:
        table = pa.table({"y": [1, 0, 0, 1], "s": [1.0, 2, 3, 4], "g": g}).slice(0, rows)
        with pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)

    put(4)
    for find in (cs.sweep_file, cs.by_group_file):
        with finding("value-missing", what="group"):
            find(file, label="y", score="s", group="g")
    put(3)  # a dictionary may still hold it
    assert list(cs.sweep_file(file, label="y", score="s", group="g")) == [0.0, 1.5]
    found = cs.by_group_file(file, label="y", score="s", group="g")
    assert (found.group.tolist(), found.N.tolist()) == ([1.5, 0.0], [0, 2])


def test_sorted_rows_past_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample sees the lowest scores only, and one bucket gets nearly all rows."""
    s = np.sort(np.random.default_rng(0).normal(size=300_000))
    y = (np.arange(300_000) % 7 == 0).astype(np.uint8)
    file = tmp_path / "sorted.csv"
    cs.tables.write_table(file, {"y": y, "s": s})
    monkeypatch.setattr(files._Plan, "pool", property(lambda _: 1, lambda *_: None), raising=False)
    monkeypatch.setattr(
        files._Plan, "sorted", property(lambda _: 2000, lambda *_: None), raising=False
    )
    same(cs.sweep_file(file, label="y", score="s"), cs.sweep(y, s))
    same(cs.sweep_file(file, label="y", score="s", compact=True), cs.sweep(y, s, compact=True))


@pytest.mark.parametrize(
    ("column", "options", "code"),
    [
        ([[1], [0]], {"label": "x"}, "type-unfit"),
        ([{"a": 1}, {"a": 2}], {"group": "x"}, "type-unfit"),
        ([2**60, 1], {"score": "x"}, "number-inexact"),
    ],
)
def test_columns_of_odd_types(
    tmp_path: Path, column: list[Any], options: dict[str, Any], code: str
) -> None:
    pq.write_table(pa.table({"y": [1, 0], "s": [1.0, 2.0], "x": column}), tmp_path / "t.parquet")
    with finding(code, cs.DataError):
        cs.sweep_file(tmp_path, **({"label": "y", "score": "s"} | options))


@pytest.mark.slow
def test_memory_that_is_enough_needs_no_folder(tmp_path: Path) -> None:
    folder = written(tmp_path, columns(100, "plain"))
    code = f"""
import tempfile
tempfile.tempdir = {str(tmp_path / "nowhere")!r}
import cutscore as cs
print(len(cs.sweep_file({str(folder)!r}, label="y", score="s")))
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
