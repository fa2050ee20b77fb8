"""The AUC inside of each of millions of groups: rows of one group meet by the hash of its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cutscore.comparison.groups import GroupAuc, by_group, of_codes
from cutscore.core.checks import check_rows
from cutscore.core.types import Label
from cutscore.tables.parts import Piece, is_text
from cutscore.tables.scans.memory import Spill, limit_of
from cutscore.tables.scans.scan import Scan, Source, workers_for

# Rows that a thread deals at a time, at most.
_CHUNK = 1 << 20
# Bytes of a row on its way to a slot, and while the rows of a slot are evaluated.
_ROW = 150


def by_group_file(  # noqa: PLR0913 - what the columns are for
    data: Source,
    *,
    label: str,
    score: str,
    group: str | Sequence[str],
    weight: str | None = None,
    positive: Label | None = None,
    filter: pc.Expression | None = None,
    memory_limit: int | str | None = None,
) -> GroupAuc:
    """The AUC inside of each group of a table in files, however many groups there are.

    The numbers, and the order of groups, are those of :func:`cutscore.by_group`.

    Parameters
    ----------
    data, label, score, weight, positive, filter, memory_limit
        As for :func:`cutscore.sweep_file`. Rows are kept in a temporary file, those of a group
        together; the rows of the largest group have to fit into memory.
    group : str or sequence of str
        The column that says to which group a row belongs: numbers, text or dates. With several,
        rows belong together whose values are equal in all of them, and groups are tuples.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import cutscore as cs
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "clicks.csv"
    >>> rows = ["click,s,user", "1,0.9,ann", "0,0.3,ann", "0,0.2,ann", "1,0.4,bob", "0,0.6,bob"]
    >>> _ = file.write_text("\\n".join(rows))
    >>> cs.by_group_file(file, label="click", score="s", group="user")
    GroupAuc of 2 groups: 2 have both classes (100 % of 5 rows), AUC 0.666667 pooled, 0.6 weighted,
    0.5 macro
    >>> cs.by_group_file(file, label="click", score="s", group=["user", "click"]).group.tolist()
    [('ann', 1), ('ann', 0), ('bob', 1), ('bob', 0)]
    """
    limit = limit_of(memory_limit)
    scan = Scan(
        data,
        label=label,
        score=score,
        group=group,
        weight=weight,
        positive=positive,
        filter=filter,
    )
    rows = scan.rows
    workers = workers_for(len(scan.pieces))
    # A quarter of the limit for rows on their way to slots, and a quarter for the rows of one slot:
    # what was found in the slots before is held beside them.
    chunk = min(_CHUNK, limit // 4 // workers // _ROW)
    slots = 64 if rows is None else max(1, -(-4 * _ROW * rows // limit))
    spill, lock = Spill(), Lock()
    numbers = GroupNumbers() if len(scan.groups) > 1 else None
    index: list[list[tuple[int, int, int]]] = [[] for _ in range(slots)]

    whole: list[tuple[int, pa.Table]] = []

    def keep(origin: int, table: pa.Table) -> None:
        if slots == 1:  # all rows are to be in memory together: here they are
            with lock:
                whole.append((origin, table))
            return
        for k, part in deal(table, slots):
            with spill.guard():
                where = spill.write(pack(part))
            with lock:
                index[k].append((origin, *where))

    def work(pieces: Iterator[tuple[int, Piece]]) -> None:
        for k, piece in pieces:
            held, n, row = [], 0, 0
            for batch in scan.read(piece):
                at = np.arange(row, row + len(batch.score))
                some = slice(None) if batch.weight is None else np.flatnonzero(batch.weight)
                columns = {
                    "row": at[some],
                    "one": batch.label[some].view(np.bool_),
                    "score": batch.score[some],
                    "group": _values(batch.groups[0], some)
                    if numbers is None
                    else numbers.of(batch.groups)[some],
                }
                if batch.weight is not None:
                    columns["weight"] = batch.weight[some]
                held.append(pa.table(columns))
                row += len(at)
                n += len(at)
                if n >= chunk:
                    keep(k, pa.concat_tables(held))
                    held, n = [], 0
            if held:
                keep(k, pa.concat_tables(held))

    try:
        scan.each(work, workers)
        found = []
        for some in index:
            # In the order of the rows, whoever read them.
            tables = [(o, unpack(spill.read(start, length))) for o, start, length in some]
            tables += whole
            tables.sort(key=lambda one: (one[0], one[1].column("row")[0].as_py()))
            if tables:
                found.append(evaluate(tables))
        out = joined(found, weighted=weight is not None)
        return out if numbers is None else replace(out, group=numbers.names_of(out.group))
    finally:
        spill.close()


class GroupNumbers:
    """A number for each group as it comes up, from 0 on: one for all threads. A group is a value
    of a column, or a tuple of values of several."""

    def __init__(self) -> None:
        self._lock, self._number = Lock(), dict[Any, int]()

    def __len__(self) -> int:
        return len(self._number)

    @property
    def values(self) -> list[Any]:
        """The groups, in the order of their numbers."""
        return list(self._number)

    def of(self, columns: Sequence[pa.Array]) -> NDArray[np.int64]:
        """The numbers of some rows."""
        coded = [c if hasattr(c, "indices") else c.dictionary_encode() for c in columns]
        codes = [c.indices.to_numpy(zero_copy_only=False) for c in coded]
        code, values = codes[0], coded[0].dictionary.to_pylist()
        for k in range(1, len(coded)):
            own = coded[k].dictionary.to_pylist()
            pairs, code = _different(code.astype(np.int64) * len(own) + codes[k])
            front = values if k > 1 else [(value,) for value in values]
            values = [(*front[pair // len(own)], own[pair % len(own)]) for pair in pairs.tolist()]
        number = np.zeros(max(len(values), 1), np.int64)
        there: Iterable[int] = range(len(values))
        if len(coded) == 1:  # a dictionary may have more values than rows have
            there = np.flatnonzero(np.bincount(code)).tolist()
        with self._lock:
            for at in there:
                number[at] = self._number.setdefault(values[at], len(self._number))
        return np.asarray(number[code])

    def names_of(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The groups with these numbers."""
        names = self.values
        return np.fromiter((names[k] for k in numbers.tolist()), object, len(numbers))


def _different(numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different numbers, ascending, and the place of each among them."""
    most = int(numbers.max(initial=-1)) + 1
    if most > 4 * len(numbers):
        return np.unique(numbers, return_inverse=True)
    some = np.flatnonzero(np.bincount(numbers, minlength=most))
    if len(some) == most:
        return some, numbers
    place = np.zeros(most, np.int64)
    place[some] = np.arange(len(some))
    return some, place[numbers]


def _encoded(column: pa.ChunkedArray, *, ordered: bool) -> tuple[Any, NDArray[np.int64]]:
    """The different values of a column, ``ordered`` as they appear, and the place of each row's
    value among them."""
    if not ordered and pa.types.is_integer(column.type):
        numbers = column.to_numpy()
        if numbers.min() >= 0 and numbers.max() < 4 * len(numbers):  # a table, not a hash table
            some, place = _different(numbers.astype(np.int64, copy=False))
            return some.astype(numbers.dtype), place
    coded = pc.dictionary_encode(column).combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0)
    return coded.dictionary, coded.indices.to_numpy().astype(np.int64)


def _values(column: pa.Array, some: Any) -> Any:
    """The groups of some rows: text as it is, since each would become an object, else an array."""
    if is_text(column.type):
        return column if isinstance(some, slice) else column.take(pa.array(some))
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)[some]
    return values + 0.0 if values.dtype.kind == "f" else values  # -0.0 becomes 0.0


def deal(table: pa.Table, slots: int) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each slot that has some, by the hash of their group."""
    slot = slots_of(table.column("group"), slots)
    # Stable: rows of a slot stay in their order.
    table = table.take(pa.array(np.argsort(slot, kind="stable")))
    ends = np.cumsum(np.bincount(slot, minlength=slots)).tolist()
    for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        if end > start:
            yield k, table.slice(start, end - start)


def slots_of(column: pa.ChunkedArray, slots: int) -> NDArray[Any]:
    """The slot of each row, the same for the same group in every process."""
    if is_text(column.type) or column.to_numpy().dtype.kind == "O":
        coded = pa.concat_arrays(column.dictionary_encode().unify_dictionaries().chunks)
        text = (str(value).encode() for value in coded.dictionary.to_pylist())
        code = np.fromiter((crc32(t) for t in text), np.uint64, len(coded.dictionary))
        return np.asarray(_scatter(code, slots)[coded.indices.to_numpy()])
    group = column.to_numpy()
    if group.dtype.kind == "f":
        # As numbers: of files one may have float32 and another float64.
        return _scatter(group.astype(np.float64).view(np.uint64), slots)
    return _scatter(group.astype(np.int64).view(np.uint64), slots)


def _scatter(code: NDArray[np.uint64], slots: int) -> NDArray[Any]:
    """Codes that follow a pattern go everywhere all the same: Fibonacci hashing, twice."""
    code = (code ^ (code >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(((code >> np.uint64(40)) % np.uint64(slots)).astype(np.int32))


def pack(table: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def unpack(blob: bytes | bytearray | memoryview) -> pa.Table:
    """The table that was packed."""
    return pa.ipc.open_stream(blob).read_all()


def evaluate(tables: Sequence[tuple[int, pa.Table]]) -> pa.Table:
    """The groups of rows (row, one, score, group and perhaps weight) that hold all rows of theirs,
    with where each first appears: the number that came with its table, and the row."""
    rows = [table.num_rows for _, table in tables]
    whole = pa.concat_tables([table for _, table in tables], promote_options="permissive")
    whole = whole.combine_chunks()
    weighted = "weight" in whole.column_names
    group, code = _encoded(whole.column("group"), ordered=weighted)  # by_group() orders them so
    first = np.empty(len(group), np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    c = {name: whole.column(name).to_numpy() for name in ("one", "score", "row")}
    if not weighted:
        out = of_codes(check_rows(c["one"], c["score"]), np.arange(len(first)), code)
    else:
        out = by_group(c["one"], c["score"], code, weight=whole.column("weight").to_numpy())
    return pa.table(
        {
            "group": group,
            "P": out.P,
            "N": out.N,
            "auc": out.auc,
            "origin": np.repeat([origin for origin, _ in tables], rows)[first],
            "row": c["row"][first],
        }
    )


def joined(tables: Sequence[pa.Table], *, weighted: bool) -> GroupAuc:
    """All groups, in the order in which they first appear."""
    if not tables:
        none = np.empty(0)
        return by_group(none, none, none, weight=none if weighted else None)
    table = pa.concat_tables(tables)
    order = pc.sort_indices(table, [("origin", "ascending"), ("row", "ascending")]).to_numpy()
    # One column after the other, and no copy of them: there may be millions of groups.
    columns = (table.column(name).to_numpy()[order] for name in ("group", "P", "N", "auc"))
    return GroupAuc._adopt(*columns)
