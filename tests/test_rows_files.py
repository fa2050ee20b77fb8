"""Rows wherever they are: streams, spools, files and partitions teach what arrays teach."""

from __future__ import annotations

import errno
import gc
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import ipc

from cutscore.core.errors import DataError
from cutscore.core.findings.rows import NoRows
from cutscore.linear import rows as _rows
from cutscore.linear.closed import fisher, gaussian, least_squares, mean_difference
from cutscore.linear.line import Fit
from cutscore.linear.logistic import logistic
from cutscore.linear.moments import ClassMoments
from cutscore.linear.perceptron import State, mix_states, perceptron, perceptron_pass
from cutscore.linear.rows import ArrayRows, Block, Rows
from cutscore.linear.streams import Later, Spool, StreamRows
from cutscore.linear.structural import as_trainable, structural
from cutscore.tables import open_table
from cutscore.tables.scans.rows import rows_file
from raising import finding

LEARNERS: dict[str, Callable[[Rows], Fit]] = {
    "mean-difference": mean_difference,
    "least-squares": least_squares,
    "fisher": lambda rows: fisher(rows, shrinkage="auto"),
    "gaussian": lambda rows: gaussian(rows, shrinkage="auto"),
    "logistic": logistic,
    "structural": lambda rows: structural(rows, as_trainable("f1"), C=0.01),
    "structural auc": lambda rows: structural(rows, as_trainable("auc"), C=0.01),
    "plain": lambda rows: perceptron(rows, max_passes=7),
    "averaged": lambda rows: perceptron(rows, max_passes=7, variant="averaged"),
    "pocket": lambda rows: perceptron(rows, max_passes=7, variant="pocket"),
}


class Case:
    """A labelled table."""

    def __init__(
        self,
        n: int = 3000,
        d: int = 5,
        *,
        weighted: bool = False,
        sparse: bool = False,
        seed: int = 0,
    ) -> None:
        rng = np.random.default_rng([n, d, seed])
        self.X: Any = rng.normal(size=(n, d)) + np.arange(d)
        score = self.X @ rng.normal(size=d) + rng.normal(size=n)
        self.y = score > np.quantile(score, 0.6)
        if sparse:
            self.X = sp.csr_array(self.X * (rng.random((n, d)) < 0.3))
        self.weight = rng.integers(1, 4, n).astype(float) if weighted else None

    @property
    def rows(self) -> ArrayRows:
        return ArrayRows(self.X, self.y, self.weight)

    def cut(self, ends: list[int]) -> Iterator[Block]:
        n = len(self.y)
        for a, b in zip([0, *ends], [*ends, n], strict=True):
            w = None if self.weight is None else self.weight[a:b]
            yield Block(self.X[a:b], self.y[a:b], w, a)

    def stream(self, ends: list[int]) -> StreamRows:
        return StreamRows(lambda: self.cut(ends), self.X.shape[1])

    def where(self, mask: Any) -> Case:
        out = object.__new__(Case)
        out.X, out.y = self.X[mask], self.y[mask]
        out.weight = None if self.weight is None else self.weight[mask]
        return out


def whole(rows: Rows) -> tuple[Any, Any, Any, list[int]]:
    """All that the blocks hold, and where each starts."""
    parts = rows.reduce(lambda block: [block], lambda a, b: a + b)
    X = [b.X if isinstance(b.X, np.ndarray) else b.X.toarray() for b in parts]
    weight = None if parts[0].weight is None else np.concatenate([b.weight for b in parts])
    return np.concatenate(X), np.concatenate([b.y for b in parts]), weight, [b.start for b in parts]


def same(rows: StreamRows, case: Case) -> None:
    X, y, weight, starts = whole(rows)
    assert_array_equal(X, case.X if isinstance(case.X, np.ndarray) else case.X.toarray())
    assert_array_equal(y, case.y)
    assert (weight is None) == (case.weight is None)
    if weight is not None:
        assert_array_equal(weight, case.weight)
    # In the order of the rows, one after the other; also for those who go through in turn.
    blocks = list(rows.blocks())
    sizes = [len(b.y) for b in blocks]
    assert starts == [b.start for b in blocks] == np.cumsum([0, *sizes])[:-1].tolist()
    assert rows.fold(lambda so_far, b: [*so_far, b.start], []) == [starts]


# ------------------------------------------------------------------------------------- streams


@settings(max_examples=60)
@given(sparse=st.booleans(), weighted=st.booleans(), data=st.data())
def test_a_stream_is_its_rows(sparse: bool, weighted: bool, data: Any) -> None:
    """Blocks of any size, empty ones included; masks, masks of masks, spools and samples."""
    n = data.draw(st.integers(1, 60))
    case = Case(n, 3, weighted=weighted, sparse=sparse)
    ends = sorted(data.draw(st.lists(st.integers(0, n), max_size=5)))
    rows = case.stream(ends)
    same(rows, case)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    mask[data.draw(st.integers(0, n - 1))] = True
    some = case.where(mask)
    same(rows.where(mask), some)
    again = np.arange(len(some.y)) % 2 == 0
    same(rows.where(mask).where(again), some.where(again))
    same(rows.spooled(), case)
    same(rows.spooled().where(mask), some)
    same(rows.where(mask).spooled(), some)
    taken = rows.take(mask)
    assert_array_equal(taken.y, some.y)
    assert type(taken.X) is type(case.X)
    dense = np.asarray if not sparse else (lambda X: X.toarray())
    assert_array_equal(dense(taken.X), dense(some.X))


@pytest.mark.parametrize("spooled", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("form", ["dense", "weighted", "sparse"])
def test_streams_teach_what_arrays_teach(form: str, name: str, spooled: bool) -> None:
    case = Case(weighted=form == "weighted", sparse=form == "sparse")
    rows = case.stream([1, 1, 700, 2000, 3000])
    if spooled:
        rows = rows.spooled()
    alike(LEARNERS[name](rows), LEARNERS[name](case.rows))
    mask = np.arange(3000) % 3 != 0
    alike(LEARNERS[name](rows.where(mask)), LEARNERS[name](case.where(mask).rows))


def alike(a: Fit, b: Fit, tolerance: float = 1e-8) -> None:
    for x, y in ((a.detector.w, b.detector.w), (a.detector.b, b.detector.b)):
        assert_allclose(x, y, rtol=tolerance, atol=tolerance * np.abs(b.detector.w).max())
    assert a.converged == b.converged


def test_float32_stays() -> None:
    case = Case()
    case.X = case.X.astype(np.float32)
    rows = case.stream([100, 900])
    for stream in (rows, rows.spooled(), rows.where(case.y | True)):
        assert {b.X.dtype for b in stream.blocks()} == {np.dtype(np.float32)}
        alike(logistic(stream), logistic(case.rows))


@pytest.mark.parametrize("spooled", [False, True])
def test_any_number_of_threads_to_the_bit(spooled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(20_000, 7, weighted=True)
    monkeypatch.setattr(_rows, "_BLOCK", 1 << 12)
    rows = case.stream(list(range(500, 20_000, 500)))
    if spooled:
        rows = rows.spooled()
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("CUTSCORE_THREADS", threads)
        m = ClassMoments.of_rows(rows)
        found.append((m.offset.tobytes(), m.scatter.tobytes(), logistic(rows).detector.w.tobytes()))
    assert len(set(found)) == 1


def test_few_blocks_exist_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", "3")
    alive, most = set(), [0]

    class Counted:
        def __init__(self, k: int) -> None:
            self.k = k
            alive.add(k)
            most[0] = max(most[0], len(alive))

        def __del__(self) -> None:
            alive.discard(self.k)

    def blocks() -> Iterator[Block]:
        for k in range(200):
            X = np.full((1, 1), float(k)).view(Owned)
            X.owner = Counted(k)
            yield Block(X, np.array([True]), None, k)

    class Owned(np.ndarray):
        owner: Any = None

    rows = StreamRows(blocks, 1)
    assert rows.reduce(lambda block: float(block.X.sum()), lambda a, b: a + b) == 199 * 100
    assert rows.fold(lambda s, block: s + float(block.X[0, 0]), 0.0) == [199 * 100]
    gc.collect()
    assert not alive
    assert 2 <= most[0] <= 3 + 3


def test_blocks_without_kept_rows_are_not_loaded() -> None:
    loaded: list[int] = []

    def later(k: int) -> Later:
        def load() -> Block:
            loaded.append(k)
            return Block(np.full((10, 1), k), np.zeros(10, bool), None, 10 * k)

        return Later(10, load)

    rows = StreamRows(lambda: map(later, range(5)), 1)
    mask = np.zeros(50, bool)
    mask[[3, 41, 42]] = True
    X, _, _, starts = whole(rows.where(mask))
    assert X.ravel().tolist() == [0, 4, 4]
    assert starts == [0, 1]
    assert sorted(loaded) == [0, 4]


def test_masks_have_one_entry_for_each_row() -> None:
    rows = Case(100).stream([40])
    for length in (99, 101, 0, 40):
        with finding("bad-argument", parameter="mask", value=length):
            rows.where(np.ones(length, bool)).take(np.ones(length, bool))


def test_no_rows_are_one_empty_block() -> None:
    rows = Case(10, 4).stream([]).where(np.zeros(10, bool))
    for empty in (rows, rows.spooled(), StreamRows(lambda: iter(()), 4)):
        assert empty.reduce(lambda block: (block.X.shape, len(block.y)), max) == ((0, 4), 0)
        assert empty.fold(lambda a, _: a + 1, 0) == [0]
        with finding("one-class"):
            logistic(empty)


@pytest.mark.parametrize("threads", ["1", "4"])
def test_errors_come_through(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", threads)
    case = Case(1000)

    def broken() -> Iterator[Block]:
        yield from list(case.cut([100, 200]))[:2]
        raise DataError(NoRows("the file"))

    def fail(block: Block) -> Any:
        raise ZeroDivisionError(block.start)

    for way in (
        lambda rows: rows.reduce(len, max),
        lambda rows: rows.fold(lambda a, _: a, 0),
        lambda rows: rows.spooled(),
    ):
        with finding("no-rows"):
            way(StreamRows(broken, 5))
    rows = case.stream([300, 600])
    with pytest.raises(ZeroDivisionError, match=r"^0$"):  # the first in the order of the rows
        rows.reduce(fail, max)
    with pytest.raises(ZeroDivisionError, match=r"^0$"):
        rows.fold(lambda _, block: fail(block), 0)
    # And once more, as if nothing had been.
    assert rows.reduce(lambda block: len(block.y), lambda a, b: a + b) == 1000


# ------------------------------------------------------------------------------------- the spool


def test_blocks_of_a_spool_have_the_size_that_learners_like(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_rows, "_BLOCK", 1000)
    for case in (Case(2000), Case(2000, sparse=True)):
        for ends in (list(range(1, 2000, 3)), []):
            rows = case.stream(ends).spooled()
            same(rows, case)
            sizes = [len(b.y) for b in rows.blocks()]
            assert len(set(sizes[:-1])) <= (1 if isinstance(case.X, np.ndarray) else 50)
            assert 64 <= min(sizes[:-1]) <= max(sizes) <= 1000


def test_arrays_of_all_kinds_come_back(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    assert list(tmp_path.iterdir()) == []  # it has no name
    arrays = [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        np.array([True, False]),
        np.empty(0),
        np.arange(10, dtype=np.int32)[::3],
    ]
    places = spool.write(arrays)
    for array, place in reversed(list(zip(arrays, places, strict=True))):
        back = spool.read(place)
        assert back.dtype == array.dtype
        assert_array_equal(back, array.ravel())
        back[:] = 0  # one's own
    assert spool._file.size == sum(a.nbytes for a in arrays)


def test_without_preadv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "preadv", raising=False)
    case = Case()
    same(case.stream([50, 800]).spooled(), case)


def test_short_writes_and_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(500)
    write, read = os.write, os.preadv
    monkeypatch.setattr(os, "write", lambda f, data: write(f, data[:1001]))
    monkeypatch.setattr(os, "preadv", lambda f, into, at: read(f, [into[0][:777]], at))
    same(case.stream([50]).spooled(), case)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "_BLOCK", 1000)
    write, room = os.write, [30_000]

    def until_full(f: int, data: Any) -> int:
        if not room[0]:
            raise OSError(code, os.strerror(code))
        done = write(f, data[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", until_full)
    rows = Case(2000).stream(list(range(100, 2000, 100)))
    # 5 features of 8 bytes and a label
    with finding("disk-refused", folder=str(tmp_path), need=82_000, written=30_000):
        rows.spooled(rows=2000, folder=str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    same(rows.spooled(rows=2000, folder=str(tmp_path)), Case(2000))


def test_other_faults_of_a_disk_are_not_called_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> int:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="broken"):
        Case(20).stream([]).spooled()


def test_no_folder(tmp_path: Path) -> None:
    with finding("disk-refused", folder=str(tmp_path / "gone")):
        Case(20).stream([]).spooled(folder=str(tmp_path / "gone"))


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path))
    (place,) = spool.write([np.arange(10.0)])
    os.ftruncate(spool._file.fileno(), 40)
    with finding("rows-changed", DataError):
        spool.read(place)


def test_the_file_goes_with_the_rows() -> None:
    rows = Case(100).stream([]).spooled()
    number = rows._spool._file.fileno()  # type: ignore[attr-defined]
    os.fstat(number)
    some = rows.where(np.ones(100, bool))
    del rows
    gc.collect()
    os.fstat(number)  # who needs it keeps it
    del some
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_nothing_is_left_by_a_process_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import os, signal, numpy as np\n"
        "from cutscore.linear.streams import StreamRows\n"
        "from cutscore.linear import Block\n"
        "X = np.zeros((1000, 10))\n"
        "rows = StreamRows(lambda: iter([Block(X, X[:, 0] > 0, None, 0)]), 10).spooled()\n"
        "assert len(rows) == 1000\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"TMPDIR": str(tmp_path)}, check=False
    )
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------ partitions


class Cluster:
    """Rows in partitions elsewhere: functions travel there, summaries back, as they do by Spark."""

    def __init__(self, case: Case, ends: list[int], size: int = 300) -> None:
        self.features = case.X.shape[1]
        self.parts = [self._cut(block, size) for block in case.cut(ends)]
        self.sent = 0

    @staticmethod
    def _cut(block: Block, size: int) -> list[Block]:
        X, y, weight, start = block
        slices = [slice(k, k + size) for k in range(0, len(y), size)]
        return [
            Block(X[at], y[at], None if weight is None else weight[at], start + at.start)
            for at in slices
        ]

    def _there(self, functions: Any) -> Any:
        data = dumps(functions)
        self.sent = max(self.sent, len(data))
        return pickle.loads(data)

    def reduce(self, summarise: Any, merge: Any) -> Any:
        found = []
        for part in filter(None, self.parts):
            there, join = self._there((summarise, merge))
            found.append(pickle.loads(pickle.dumps(reduce(join, map(there, part)))))
        return reduce(merge, found)

    def fold(self, step: Any, start: Any) -> list[Any]:
        found = []
        for part in self.parts:
            there, state = self._there((step, start))
            for block in part:
                state = there(state, block)
            found.append(pickle.loads(pickle.dumps(state)))
        return found


try:
    from cloudpickle import dumps
except ImportError:
    dumps = pytest.importorskip("pyspark.cloudpickle").dumps


@pytest.mark.parametrize("form", ["dense", "weighted", "sparse"])
@pytest.mark.parametrize("name", [k for k in LEARNERS if k not in ("plain", "averaged", "pocket")])
def test_partitions_teach_what_arrays_teach(name: str, form: str) -> None:
    case = Case(6000, 20, weighted=form == "weighted", sparse=form == "sparse")
    rows = Cluster(case, [100, 100, 2500, 6000])
    alike(LEARNERS[name](rows), LEARNERS[name](case.rows))
    # What travels is no table. The worst labelling is as long as the rows: one number for each.
    aligned = 8 * 6000 if name.startswith("structural") else 0
    assert rows.sent < aligned + 10_000


@pytest.mark.parametrize("variant", ["plain", "averaged", "pocket"])
def test_one_partition_is_the_perceptron_itself(variant: Any) -> None:
    case = Case(weighted=True)
    here = perceptron(case.rows, variant=variant, max_passes=6)
    there = perceptron(Cluster(case, []), variant=variant, max_passes=6)
    assert_array_equal(there.detector.w, here.detector.w)
    assert (there.updates, there.errors, there.radius) == (here.updates, here.errors, here.radius)


def by_the_paper(case: Case, ends: list[int], passes: int) -> tuple[Any, Any, int]:
    """Iterative parameter mixing row by row: the line, the mean of all lines, the updates."""
    square = float((case.X**2).sum(1).max())
    line, updates, trail = np.zeros(case.X.shape[1] + 1), 0, []
    for _ in range(passes):
        lines = []
        for block in case.cut(ends):
            own = line.copy()
            for x, positive in zip(block.X, block.y, strict=True):
                sign = 1.0 if positive else -1.0
                if sign * (own[:-1] @ x + own[-1]) <= 0:
                    own[:-1] += sign * x
                    own[-1] += sign * square
                    updates += 1
                trail.append(own.copy())
            lines.append(len(block.y) / len(case.y) * own)
        line = np.sum(lines, axis=0)
    return line, np.mean(trail, axis=0), updates


@given(st.sampled_from([8, 16, 32]), st.integers(0, 100), st.integers(1, 5), st.data())
@settings(max_examples=50)
def test_mixing_is_that_of_the_paper(n: int, seed: int, passes: int, data: Any) -> None:
    """Whole numbers, and shares of a power of two: every sum is exact."""
    case = Case(n, 3, seed=seed)
    case.X = np.rint(4 * case.X)
    ends = sorted(data.draw(st.lists(st.integers(0, n), min_size=1, max_size=3)))
    line, mean, updates = by_the_paper(case, ends, passes)
    rows = Cluster(case, ends, size=7)
    plain = perceptron(rows, max_passes=passes)
    averaged = perceptron(rows, max_passes=passes, variant="averaged")
    assert plain.updates == averaged.updates == updates
    assert [*plain.detector.w, plain.detector.b] == line.tolist()
    if plain.passes == passes:  # else it separates them, and goes no further
        got = [*averaged.detector.w, averaged.detector.b]
        assert_allclose(got, mean, rtol=0, atol=1e-12 * np.abs(line).max())
    else:
        assert plain.converged
        assert plain.errors == 0


def test_mixing_separates_what_can_be_separated() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        case = Case(400, 4)
        u = rng.normal(size=4)
        case.X = rng.normal(size=(400, 4))
        case.y = case.X @ u > 0.2
        case.X += np.where(case.y, 0.3, -0.3)[:, None] * u
        fit = perceptron(Cluster(case, [50, 120, 300]), max_passes=10_000)
        assert fit.converged
        assert fit.errors == 0
        # The last pass moved nothing: the line is the one that was mixed before, to the bit.
        again = perceptron(Cluster(case, [50, 120, 300]), max_passes=5, state=fit.state)
        assert again.passes == 1
        assert_array_equal(again.detector.w, fit.detector.w)


@pytest.mark.parametrize("variant", ["plain", "averaged", "pocket"])
def test_the_same_accuracy_on_partitions(variant: Any) -> None:
    case = Case(8000, 6)
    case.X -= case.X.mean(0)
    here = perceptron(case.rows, variant=variant, max_passes=30)
    there = perceptron(Cluster(case, [2000, 2000, 3000, 6000], 500), variant=variant, max_passes=30)
    # To mix lines averages them: the last one and the pocket's gain by it.
    assert there.errors <= here.errors + 0.01 * 8000
    if variant == "averaged":
        assert abs(there.errors - here.errors) <= 0.003 * 8000


def test_the_pocket_of_partitions_is_the_best_line_that_was_tried() -> None:
    case = Case(600, 3)
    ends = [100, 220, 480]
    for passes in (1, 3, 8):
        pocket = perceptron(Cluster(case, ends), variant="pocket", max_passes=passes)
        plain = perceptron(Cluster(case, ends), max_passes=passes)
        assert pocket.errors <= plain.errors
        line = [*pocket.detector.w, pocket.detector.b]
        score = case.X @ np.array(line[:-1]) + line[-1]
        assert pocket.errors == np.count_nonzero(np.where(case.y, score, -score) <= 0)
    many = Cluster(case, list(range(10, 600, 10)))  # more parts than lines that one part keeps
    assert perceptron(many, variant="pocket", max_passes=3).errors <= 300


def test_parts_without_rows_change_nothing() -> None:
    case = Case(300, 3)
    for variant in ("plain", "averaged", "pocket"):
        a = perceptron(Cluster(case, [100]), variant=variant, max_passes=4)
        b = perceptron(Cluster(case, [0, 0, 100, 100, 300]), variant=variant, max_passes=4)
        assert_allclose(b.detector.w, a.detector.w, rtol=1e-13)
        assert b.updates == a.updates
    start = State.fresh(3, "averaged")
    done = perceptron_pass(start, Block(case.X, case.y, None, 0))
    assert mix_states(done, [done, done]).counts.tolist() == done.counts.tolist()


# ----------------------------------------------------------------------------------------- files

NAMES = [f"x{k}" for k in range(4)]


def table(case: Case, **more: Any) -> pa.Table:
    columns = {name: case.X[:, k] for k, name in enumerate(NAMES)}
    weight = {} if case.weight is None else {"w": case.weight}
    return pa.table(
        {"skipped": ["a"] * len(case.y), "y": case.y.astype(int)} | columns | weight | more
    )


def as_csv(t: pa.Table, folder: Path) -> Any:
    from pyarrow import csv

    csv.write_csv(t, folder / "t.csv")
    return folder / "t.csv"


def as_json(t: pa.Table, folder: Path) -> Any:
    lines = "\n".join(map(json.dumps, t.to_pylist()))
    (folder / "t.jsonl").write_text(lines)
    return folder / "t.jsonl"


def as_parquet(t: pa.Table, folder: Path) -> Any:
    pq.write_table(t, folder / "t.parquet", row_group_size=700)
    return folder / "t.parquet"


def as_folder(t: pa.Table, folder: Path) -> Any:
    (folder / "parts").mkdir()
    for k, start in enumerate(range(0, len(t), 1100)):
        pq.write_table(t.slice(start, 1100), folder / "parts" / f"{k}.parquet", row_group_size=400)
    return folder / "parts"


def as_dataset(t: pa.Table, folder: Path) -> Any:
    return ds.dataset(as_folder(t, folder))


def as_arrow(t: pa.Table, folder: Path) -> Any:
    with ipc.new_file(folder / "t.arrow", t.schema) as writer:
        writer.write_table(t, 512)
    return folder / "t.arrow"


def as_opened(t: pa.Table, folder: Path) -> Any:
    return open_table(as_parquet(t, folder))


FORMATS = [as_csv, as_json, as_parquet, as_folder, as_dataset, as_arrow, as_opened]


@pytest.mark.parametrize("write", FORMATS)
def test_files_teach_what_arrays_teach(write: Any, tmp_path: Path) -> None:
    for weighted in (False, True):
        case = Case(3000, 4, weighted=weighted)
        folder = tmp_path / str(weighted)
        folder.mkdir()
        data = write(table(case), folder)
        rows = rows_file(data, features=NAMES, label="y", weight="w" if weighted else None)
        same(rows, case)
        for name, learn in LEARNERS.items():
            if weighted or name in ("logistic", "averaged", "structural"):
                alike(learn(rows), learn(case.rows))


def test_features_are_in_the_order_that_was_asked_for(tmp_path: Path) -> None:
    case = Case(300, 4)
    rows = rows_file(as_folder(table(case), tmp_path), features=["x2", "x0"], label="y")
    case.X = case.X[:, [2, 0]]
    same(rows, case)


def test_types_of_files(tmp_path: Path) -> None:
    case = Case(900, 4)
    case.X = np.rint(20 * case.X).clip(-100, 100)
    for k, types in enumerate(
        [
            ["float32"] * 4,
            ["float32", "float32", "float64", "float32"],
            ["int8", "int64", "float", "double"],
        ]
    ):
        t = table(case)
        for name, of in zip(NAMES, types, strict=True):
            t = t.set_column(t.column_names.index(name), name, t[name].cast(of))
        pq.write_table(t, tmp_path / f"{k}.parquet")
        rows = rows_file(tmp_path / f"{k}.parquet", features=NAMES, label="y")
        same(rows, case)
        (dtype,) = {b.X.dtype for b in rows.blocks()}
        assert dtype == (np.float32 if set(types) == {"float32"} else np.float64)
    # Files of one table may differ in that.
    both = [tmp_path / "0.parquet", tmp_path / "2.parquet"]
    X, _, _, _ = whole(rows_file(both, features=NAMES, label="y"))
    assert_array_equal(X, np.vstack([case.X, case.X]))


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (lambda y: y, None),
        (lambda y: np.where(y, 1, -1), None),
        (lambda y: np.where(y, 1.0, 0.0), None),
        (lambda y: np.where(y, 7, 3), 7),
        (lambda y: np.where(y, "yes", "no"), "yes"),
        (lambda y: ~y, False),
    ],
)
def test_labels(labels: Any, positive: Any, tmp_path: Path) -> None:
    case = Case(500, 4)
    t = table(case, label=labels(case.y))
    for write in (as_parquet, as_csv):
        same(rows_file(write(t, tmp_path), features=NAMES, label="label", positive=positive), case)


@pytest.mark.parametrize("write", [as_parquet, as_folder, as_dataset, as_arrow])
def test_filters(write: Any, tmp_path: Path) -> None:
    case = Case(3000, 4, weighted=True)
    data = write(table(case), tmp_path)
    mask = (case.X[:, 3] > 3) & (case.X[:, 0] < 1)
    expression = (pc.field("x3") > 3) & (pc.field("x0") < 1)
    rows = rows_file(data, features=["x0", "x1"], label="y", weight="w", filter=expression)
    some = case.where(mask)
    some.X = some.X[:, :2]
    same(rows, some)


def test_filters_that_cannot_be(tmp_path: Path) -> None:
    t = table(Case(50, 4))
    with finding("bad-argument", parameter="filter", value="x0 > 1"):
        rows_file(as_parquet(t, tmp_path), features=NAMES, label="y", filter="x0 > 1")
    with finding("bad-argument", parameter="filter"):
        rows_file(as_csv(t, tmp_path), features=NAMES, label="y", filter=pc.field("x0") > 1)
    nothing = pc.field("x0") > 1e9
    none = rows_file(tmp_path / "t.parquet", features=NAMES, label="y", filter=nothing)
    with finding("no-rows", DataError):
        logistic(none)


def test_rows_of_weight_zero_are_left_out(tmp_path: Path) -> None:
    case = Case(2000, 4, weighted=True)
    assert case.weight is not None
    case.weight[::3] = 0
    case.weight[:900] = 0
    for write in (as_csv, as_parquet):
        rows = rows_file(write(table(case), tmp_path), features=NAMES, label="y", weight="w")
        same(rows, case.where(case.weight > 0))


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("column", ["x1", "y", "w"])
def test_missing_values_are_named(write: Any, column: str, tmp_path: Path) -> None:
    case = Case(2500, 4, weighted=True)
    t = table(case)
    values = t[column].to_pylist()
    values[1234] = None
    t = t.set_column(t.column_names.index(column), column, pa.array(values, t[column].type))
    data = write(t, tmp_path)
    with finding("value-missing", DataError) as caught:
        logistic(rows_file(data, features=NAMES, label="y", weight="w"))
    row, of = {
        as_parquet: (534, "t.parquet"),  # of the second row group
        as_opened: (534, "t.parquet"),
        as_folder: (134, "1.parquet"),
        as_dataset: (134, "1.parquet"),
    }.get(write, (1234, "t."))
    where = caught.value.finding.where
    assert (where.row, where.column) == (row, column)
    assert of in where.file


@pytest.mark.parametrize("column", ["x1", "y", "w"])
def test_missing_values_inside_of_a_dictionary_are_named(column: str, tmp_path: Path) -> None:
    t = table(Case(300, 4, weighted=True))
    values = t[column].combine_chunks()
    holes = pa.concat_arrays([values.slice(0, 5), pa.nulls(1, values.type), values.slice(6)])
    index = pa.array(np.arange(300), pa.int32())
    coded = pa.DictionaryArray.from_arrays(index, holes)
    assert coded.null_count == 0
    data = as_arrow(t.set_column(t.column_names.index(column), column, coded), tmp_path)
    ask = {"positive": True} if column == "y" else {}
    with finding("value-missing", column=column, row=5):
        logistic(rows_file(data, features=NAMES, label="y", weight="w", **ask))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_features_are_finite(value: float, tmp_path: Path) -> None:
    case = Case(2500, 4)
    case.X[1600, 2] = value
    rows = rows_file(as_parquet(table(case), tmp_path), features=NAMES, label="y")
    for _ in range(2):  # each pass says so
        with finding("not-finite", column="x2", row=200):
            mean_difference(rows)


@pytest.mark.parametrize(
    ("change", "ask", "code"),
    [
        ({}, {"features": ["x0", "x9"]}, "column-missing"),
        ({}, {"features": "x0"}, "bad-argument"),
        ({}, {"features": []}, "bad-argument"),
        ({}, {"features": ["x0", 3]}, "bad-argument"),
        ({}, {"features": ["x0", "y"]}, "arguments-conflict"),
        ({}, {"features": ["x0", "x0"]}, "arguments-conflict"),
        ({}, {"features": ["x0", "skipped"]}, "value-unfit"),
        ({}, {"label": "gone"}, "column-missing"),
        ({}, {"label": "skipped"}, "positive-unstated"),
        ({}, {"positive": 2}, "one-class"),
        ({"y": [0] * 300}, {"positive": 2}, "one-class"),
        ({}, {"weight": "skipped"}, "value-unfit"),
        ({}, {"weight": "x0", "features": ["x1"]}, "bad-weight"),
        ({"y": [0, 1, 2] * 100}, {}, "positive-unstated"),
        ({}, {"memory_limit": 100}, "bad-argument"),
        ({}, {"memory_limit": "a lot"}, "bad-argument"),
    ],
)
def test_what_is_refused(change: Any, ask: Any, code: str, tmp_path: Path) -> None:
    t = table(Case(300, 4), **change)
    for write in (as_parquet, as_csv):
        with finding(code):
            logistic(rows_file(write(t, tmp_path), **({"features": NAMES, "label": "y"} | ask)))


def test_damaged_files_and_files_that_differ(tmp_path: Path) -> None:
    file = as_parquet(table(Case(3000, 4)), tmp_path)
    data = bytearray(file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 2000] = bytes(2000)
    file.write_bytes(data)
    with pytest.raises(DataError, match=r"t.parquet.*row group|row group.*t.parquet"):
        logistic(rows_file(file, features=NAMES, label="y"))
    folder = as_folder(table(Case(3000, 4)), tmp_path)
    pq.write_table(pa.table({"y": [1]}), folder / "9.parquet")
    with pytest.raises(DataError, match=r"9\.parquet does not"):
        rows_file(folder, features=NAMES, label="y")


def test_memory_limit_bounds_the_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", "2")
    case = Case(3000, 4)
    file = as_parquet(table(case), tmp_path)
    rows = rows_file(file, features=NAMES, label="y", memory_limit="50 kB")
    same(rows, case)
    assert max(b.X.nbytes for b in rows.blocks()) * 3 * 5 <= 50_000


def test_features_never_are_all_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 MB of them, by blocks of 0.25 MB: NumPy's memory stays below 4 MB."""
    monkeypatch.setenv("CUTSCORE_THREADS", "2")
    monkeypatch.setattr(_rows, "_BLOCK", 1 << 15)
    case = Case(60_000, 40)
    names = [f"x{k}" for k in range(40)]
    t = pa.table({"y": case.y} | {name: case.X[:, k] for k, name in enumerate(names)})
    pq.write_table(t, tmp_path / "t.parquet", row_group_size=6000)
    mask = np.arange(60_000) % 5 > 0
    want = [gaussian(case.rows), gaussian(case.rows), gaussian(case.where(mask).rows)]
    del case, t
    gc.collect()
    tracemalloc.start(1)
    try:
        rows = rows_file(tmp_path / "t.parquet", features=names, label="y")
        spooled = rows.spooled()
        got = [gaussian(r) for r in (rows, spooled, spooled.where(mask))]
        perceptron(spooled, max_passes=1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4e6
    for a, b in zip(got, want, strict=True):
        alike(a, b)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_stream_may_use_its_memory_again(threads: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", threads)
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(4000, 3)), rng.random(4000) < 0.4, rng.random(4000)

    def blocks() -> Iterator[Block]:
        x, one, weight = np.empty((500, 3)), np.empty(500, np.bool_), np.empty(500)
        for k in range(0, 4000, 500):
            at = slice(k, k + 500)
            x[:], one[:], weight[:] = X[at], y[at], w[at]
            yield Block(x, one, weight, k)

    rows, whole = StreamRows(blocks, 3), ClassMoments.from_arrays(X, y, w)
    assert_allclose(ClassMoments.of_rows(rows).mean, whole.mean, rtol=1e-12)
    assert_array_equal(rows.take(np.ones(4000, np.bool_)).X, X)
    assert_array_equal(np.concatenate([block.X for block in rows.blocks()]), X)
