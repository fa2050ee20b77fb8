"""A table read batch by batch on several threads: labels, scores, weights and groups, checked.

Rules are those of :func:`cutpoint.sweep`; errors name the file, the row group and the row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from cutpoint._check import number, shown
from cutpoint._check import threads as most_threads
from cutpoint._names import no_column, spelled
from cutpoint.errors import CutpointError, DataError
from cutpoint.tables import Source, open_table
from cutpoint.tables.parts import Piece, common_type, first_line, is_text, kind_of

_T = TypeVar("_T")

# A column of labels with more different values than this is none.
_MANY_LABELS = 1000
_EXACT = 2**53


class Batch(NamedTuple):
    """Some rows: scores as float32 or float64, labels as 0 and 1."""

    score: NDArray[Any]
    label: NDArray[np.uint8]
    weight: NDArray[np.float64] | None
    group: Any
    more: tuple[NDArray[Any], ...] = ()
    """Further scores."""


class Labels:
    """What the labels of a column mean, and which were seen: one for all threads."""

    def __init__(self, name: str, positive: Any, rest: bool = False) -> None:
        self.name, self.positive, self.rest = name, positive, rest
        self._lock = threading.Lock()
        self.others: list[Any] = []
        """Labels other than the positive one, at most a few."""

    def flags(self, column: Any, where: str, start: int) -> NDArray[np.uint8]:
        """1 where a label is the positive one."""
        t = column.type
        if pa.types.is_boolean(t) and self.positive is None:
            return np.asarray(column.cast(pa.uint8()).to_numpy())
        if self.positive is None and (pa.types.is_integer(t) or pa.types.is_floating(t)):
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype.itemsize == 1 and not (values.view(np.uint8) > 1).any():
                if not values.all():
                    self._saw(0, where)
                return np.asarray(values.view(np.uint8))
            ones, zeros, minus = values == 1, values == 0, values == -1
            bad = ~(ones | zeros | minus)
            if bad.any():
                row = int(bad.argmax())
                raise DataError(
                    "labels are understood without help only as 0/1, False/True or -1/1; "
                    f"{_row(start + row, where)} has {values[row]!s} in {shown(self.name)}. Say "
                    "which one is the positive: positive=..."
                )
            for value, there in ((0, zeros), (-1, minus)):
                if there.any():
                    self._saw(value, where)
            return np.asarray(ones.view(np.uint8))
        return self._named(column, where, start)

    def _named(self, column: Any, where: str, start: int) -> NDArray[np.uint8]:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        seen = coded.dictionary.to_pylist()
        # A dictionary may have more values than rows have.
        used = np.unique(coded.indices.to_numpy(zero_copy_only=False)).tolist()
        asked = self._asked(column.type)
        hit = np.zeros(max(len(seen), 1), np.uint8)
        for k in used:
            value = seen[k]
            if value != value:  # noqa: PLR0124 - NaN
                row = int((coded.indices.to_numpy(zero_copy_only=False) == k).argmax())
                raise DataError(
                    f"{_row(start + row, where)} has NaN in {shown(self.name)}. Drop the rows that "
                    "have no label."
                )
            if value == asked:
                hit[k] = 1
            else:
                self._saw(value, where)
        return np.asarray(hit[coded.indices.to_numpy(zero_copy_only=False)])

    def _asked(self, t: Any) -> Any:
        """The positive label in the type of the column."""
        p = self.positive
        if pa.types.is_dictionary(t):
            t = t.value_type
        if p is None:
            raise DataError(
                f"the positive label is known without help only among 0/1, False/True or -1/1; "
                f"{shown(self.name)} holds {kind_of(t)}. Say which one is the positive: "
                "positive=..."
            )
        if is_text(t):
            return str(p)
        if pa.types.is_boolean(t):
            text = str(p).strip().lower()
            if text in ("true", "1"):
                return True
            if text in ("false", "0"):
                return False
        elif not isinstance(p, str):
            return p
        else:
            for read in (int, float):  # not every integer is a float
                try:
                    return read(p)
                except ValueError:
                    pass
        raise DataError(
            f"the positive label must be one of those in {shown(self.name)}, which are "
            f"{kind_of(t)}; it is {shown(p)}."
        )

    def _saw(self, value: Any, where: str) -> None:
        if value in self.others:
            return
        with self._lock:
            if value in self.others:
                return
            if self.others and not self.rest:
                one = "1" if self.positive is None else shown(self.positive)
                raise DataError(
                    f"there must be two labels at the most; {shown(self.name)} has {one}, "
                    f"{shown(self.others[0])} and, in {where}, {shown(value)}. For one against the "
                    "rest make a column of 0 and 1 first."
                )
            if len(self.others) >= _MANY_LABELS:
                raise DataError(
                    f"labels must be a few; {shown(self.name)} has more than {_MANY_LABELS:,} "
                    "different values. Is it another column?"
                )
            self.others.append(value)


def _plain(column: Any) -> Any:
    """A column whose missing values are counted: a dictionary may hold one itself."""
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        return column.dictionary_decode()
    return column


def _row(k: int, where: str) -> str:
    return f"row {k + 1:,} of {where}"


class Scan:
    """What has to be read of a table, in pieces for several threads."""

    def __init__(  # noqa: PLR0913 - what the columns are for
        self,
        data: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        group: str | None = None,
        positive: Any = None,
        filter: Any = None,
        rest: bool = False,
        more: Sequence[str] = (),
    ) -> None:
        names = [name for name in (label, score, weight, group, *more) if name is not None]
        for name in names:
            if not isinstance(name, str):
                raise DataError(f"a column is called by its name; it is {shown(name)}.")
        self.names = list(dict.fromkeys(names))
        self.label, self.score, self.weight, self.group = label, score, weight, group
        self.more = list(more)
        self.labels = Labels(label, positive, rest)
        self._stop = threading.Event()
        self.where, self.pieces, schema = opened(data, self.names, filter)
        t = schema.field(score).type
        self.single = bool(
            pa.types.is_float32(t)
            or pa.types.is_float16(t)
            or pa.types.is_boolean(t)
            or t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
        )
        for column in (score, weight, *more):
            if column is not None:
                _check_number(schema.field(column).type, column, self.where)
        for column, what in ((label, "labels"), (group, "groups")):
            if column is not None:
                _check_plain(schema.field(column).type, column, what, self.where)

    @property
    def rows(self) -> int | None:
        """How many rows there are, where the files know."""
        sizes = [piece.rows for piece in self.pieces]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def dtype(self) -> Any:
        """The type that scores are kept in."""
        return np.dtype(np.float32 if self.single else np.float64)

    def read(self, piece: Piece) -> Iterator[Batch]:
        """The batches of a piece, checked."""
        place, start, rows = None, 0, 0
        for where, batch in piece.read():
            if self._stop.is_set():  # another thread has failed, or somebody has enough of it
                return
            if where != place:
                place, start = where, 0
            if batch.num_rows:
                yield self._checked(batch, where, start)
            start += batch.num_rows
            rows += batch.num_rows
        if piece.rows is not None and rows != piece.rows:
            raise DataError(
                f"{self.where} changed while it was read: {place or 'a part of it'} has other rows "
                "than before. Try again when it is whole."
            )

    def _checked(self, batch: pa.RecordBatch, where: str, start: int) -> Batch:
        columns = {name: _plain(batch.column(k)) for k, name in enumerate(self.names)}
        for name, column in columns.items():
            if column.null_count:
                row = pc.index(pc.is_null(column), True).as_py()
                raise DataError(
                    f"{shown(name)} must have a value in every row; {_row(start + row, where)} has "
                    "none. Drop such rows or fill them in."
                )
        scores = []
        for name in (self.score, *self.more):
            score = self._numbers(columns[name], name, where, start)
            bad = np.isnan(score)
            if bad.any():
                raise DataError(
                    f"a score must be a number; {_row(start + int(bad.argmax()), where)} has NaN "
                    f"in {shown(name)}. Drop such rows or give them a score: where a missing score "
                    "ranks is a decision, not a default."
                )
            scores.append(score)
        w = None
        if self.weight is not None:
            w = self._numbers(columns[self.weight], self.weight, where, start).astype(np.float64)
            bad = ~((w >= 0) & (w < np.inf))
            if bad.any():
                row = int(bad.argmax())
                raise DataError(
                    f"a weight must be finite and at least 0; {_row(start + row, where)} has "
                    f"{w[row]!s} in {shown(self.weight)}. Drop such rows, or give them the weight "
                    "0, which is the same."
                )
        label = self.labels.flags(columns[self.label], where, start)
        group = None if self.group is None else columns[self.group]
        return Batch(scores[0], label, w, group, tuple(scores[1:]))

    def _numbers(self, column: Any, name: str, where: str, start: int) -> NDArray[Any]:
        t = column.type
        if pa.types.is_dictionary(t):
            column = column.dictionary_decode()
            t = column.type
        if pa.types.is_decimal(t):
            column = column.cast(pa.float64())
        elif pa.types.is_boolean(t):
            column = column.cast(pa.uint8())
        values = column.to_numpy(zero_copy_only=False)
        single = self.single and name == self.score
        if values.dtype == (np.float32 if single else np.float64):
            return np.asarray(values)
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
            lost = (values > _EXACT) | (values < -_EXACT)
            if lost.any():
                row = int(lost.argmax())
                raise DataError(
                    f"numbers are compared as float64, where {values[row]}, in {shown(name)} of "
                    f"{_row(start + row, where)}, may coincide with its neighbours. Rescale or "
                    "round them."
                )
        return np.asarray(values.astype(np.float32 if single else np.float64))

    def sample(self, most: int = 1 << 16) -> NDArray[np.float64]:
        """Scores from the starts of pieces all over the table, and labels that are checked."""
        step = max(1, len(self.pieces) // 16)
        some = self.pieces[::step]
        each = max(most // len(some), 1) if some else 0
        parts = []
        for piece in some:
            first = next(self.read(piece), None)
            if first is not None:
                stride = max(1, len(first.score) // each)
                parts.append(first.score[::stride].astype(np.float64))
        return np.concatenate(parts) if parts else np.empty(0)

    def each(self, work: Callable[[Iterator[Piece]], _T], workers: int) -> list[_T]:
        """The results of so many workers that share the pieces among them. The first error stops
        all of them."""
        self._stop.clear()
        return shared(self.pieces, work, workers, self._stop)


def workers_for(pieces: int) -> int:
    """How many threads read so many pieces."""
    return max(1, min(most_threads(), pieces))


def shared(
    pieces: Sequence[Piece],
    work: Callable[[Iterator[Piece]], _T],
    workers: int,
    stop: threading.Event,
) -> list[_T]:
    """See :meth:`Scan.each`."""
    lock, rest = threading.Lock(), iter(pieces)

    def own() -> Iterator[Piece]:
        while not stop.is_set():
            with lock:
                piece = next(rest, None)
            if piece is None:
                return
            yield piece

    def run(_: int) -> _T:
        try:
            return work(own())
        except BaseException:
            stop.set()
            raise

    if workers <= 1:
        return [run(0)]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run, k) for k in range(workers)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            raise


def opened(data: Any, names: list[str], filter: Any) -> tuple[str, list[Piece], pa.Schema]:
    """What a table is called, its pieces with these columns, and their types."""
    if isinstance(data, ds.Dataset) or filter is not None:
        return _opened_dataset(data, names, filter)
    source = data if isinstance(data, Source) else open_table(data, columns=names)
    pieces = source.pieces(names)
    return source.where, pieces, source._schema(names)


def _opened_dataset(data: Any, names: list[str], filter: Any) -> tuple[str, list[Piece], pa.Schema]:
    if filter is not None and not isinstance(filter, pc.Expression):
        raise DataError(
            "a filter must be an expression of pyarrow, such as pyarrow.compute.field('day') > 3; "
            f"it is {shown(filter)}."
        )
    if not isinstance(data, ds.Dataset):
        # Names and types are checked as for any table first.
        source = data if isinstance(data, Source) else open_table(data, columns=names)
        paths = [part.path for part in source._parts]
        kinds = {type(part).__name__ for part in source._parts}
        # In the types that all files share, not in those of the first.
        if kinds == {"ParquetPart"}:
            data = ds.dataset(paths, source.schema, format="parquet")
        elif kinds == {"ArrowPart"}:
            data = ds.dataset(paths, source.schema, format="ipc")
        else:
            raise DataError(
                f"a filter is pushed down into Parquet and Arrow files; {source.where} is neither. "
                "Filter it by a query (--sql, open_table(sql=...))."
            )
    where = "the dataset"
    for name in names:
        if data.schema.names.count(name) != 1:
            if name in data.schema.names:
                raise DataError(
                    f"column names must differ; {shown(name)} is twice in {where}. Rename one."
                )
            raise no_column(name, data.schema.names, where)
    pieces = []
    for fragment in _fragments(data, filter):
        _check_schema(fragment, data.schema, names)
        groups = getattr(fragment, "row_groups", None)
        rows = sum(g.num_rows for g in groups) if groups and filter is None else None
        pieces.append(Piece(partial(_read_fragment, fragment, data.schema, names, filter), rows))
    return where, pieces, pa.schema([data.schema.field(name) for name in names])


def _check_schema(fragment: Any, schema: pa.Schema, names: list[str]) -> None:
    """Raise if the numbers of a file would be rounded to those of the dataset."""
    own = fragment.physical_schema
    for name in names:
        if own.names.count(name) == 1:
            t, wanted = own.field(name).type, schema.field(name).type
            if not t.equals(wanted) and common_type(t, wanted) != wanted:
                where = getattr(fragment, "path", None)
                raise DataError(
                    f"a column must have one type in all files; {shown(name)} is {wanted} in the "
                    f"dataset and {t} in {spelled(where) if where else 'a part of it'}. Make the "
                    "dataset with a schema that fits all files, or pass the files."
                )


def _fragments(data: Any, filter: Any) -> Iterable[Any]:
    try:
        found = list(data.get_fragments(filter))
    except (pa.ArrowException, KeyError) as error:
        raise DataError(f"the filter can't be applied: {first_line(error)}.") from error
    for fragment in found:
        if isinstance(fragment, ds.ParquetFileFragment):
            try:
                yield from fragment.split_by_row_group(filter, schema=data.schema)
            except (pa.ArrowException, OSError) as error:
                raise DataError(
                    f"{spelled(fragment.path)} is no whole Parquet file: {first_line(error)}. It "
                    "may have been cut off on its way; copy or write it again."
                ) from error
        else:
            yield fragment


def _read_fragment(
    fragment: Any, schema: pa.Schema, names: list[str], filter: Any
) -> Iterator[tuple[str, pa.RecordBatch]]:
    path = getattr(fragment, "path", None)
    where = "the table" if path is None else spelled(path)
    groups = getattr(fragment, "row_groups", None)
    if groups:
        where = f"row group {groups[0].id + 1} of {where}"
    if filter is not None:
        where = f"what the filter leaves of {where}"
    try:
        batches = fragment.to_batches(
            schema=schema, columns=names, filter=filter, batch_size=1 << 16, use_threads=False
        )
        for batch in batches:
            yield where, batch
    except CutpointError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{where} can't be read: {first_line(error)}.") from error


def _check_number(t: Any, name: str, where: str) -> None:
    if pa.types.is_dictionary(t):
        t = t.value_type
    if not (
        pa.types.is_integer(t)
        or pa.types.is_floating(t)
        or pa.types.is_boolean(t)
        or pa.types.is_decimal(t)
    ):
        raise DataError(
            f"{shown(name)} must hold numbers; in {where} it holds {kind_of(t)}. Name another "
            "column, or convert it."
        )


def _check_plain(t: Any, name: str, what: str, where: str) -> None:
    if pa.types.is_dictionary(t):
        t = t.value_type
    if pa.types.is_nested(t) or pa.types.is_null(t):
        raise DataError(
            f"{what} must be plain values, numbers, text or dates; {shown(name)} of {where} holds "
            f"{kind_of(t)}. Name another column, or convert it."
        )


def bytes_of(limit: Any) -> int:
    """A size in bytes, from a number or from text such as "2 GB" or "512MiB".

    Examples
    --------
    >>> from cutpoint.engines.scan import bytes_of
    >>> bytes_of("1.5 GB"), bytes_of("64MiB")
    (1500000000, 67108864)
    """
    value, unit = limit, ""
    if isinstance(limit, str):
        text = limit.strip().lower().replace(" ", "")
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = text[len(digits) :]
        value = digits
        try:
            value = float(digits)
        except ValueError:
            value = float("nan")
    size = number(value) * _UNITS.get(unit, float("nan"))
    if not 1 <= size < 2**62:
        raise DataError(
            "a limit of memory must be a size such as '2 GB' or '512 MiB', or a number of bytes; "
            f"it is {shown(limit)}."
        )
    return int(size)


_UNITS = {"": 1, "b": 1}
for _k, _letter in enumerate("kmgt", 1):
    _UNITS |= {_letter: 1000**_k, f"{_letter}b": 1000**_k, f"{_letter}ib": 1024**_k}
