"""A table read batch by batch on several threads: labels, scores, weights and groups, checked.

Rules are those of :func:`cutscore.sweep`; errors name the file, the row group and the row.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Fix, Shown, Where, shown, spelled
from cutscore.core.findings.rows import (
    BadWeight,
    PositiveUnstated,
    TooManyLabels,
    TypeUnfit,
    ValueMissing,
    ValueUnfit,
)
from cutscore.core.findings.tables import FileUnreadable, NamesRepeat, TypesDiffer
from cutscore.core.labels import label_type_error, parse_label
from cutscore.core.names import missing_column_error
from cutscore.core.types import Label
from cutscore.sweeps.sweep import Floats
from cutscore.tables import Table, open_table
from cutscore.tables.files import Paths
from cutscore.tables.parts import (
    Piece,
    cell,
    changed_file,
    check_names_in_floats,
    common_type,
    damaged_file,
    decoded,
    filled,
    first_line,
    inexact,
    is_text,
    kind_of,
    plain,
    row_of,
    value_type,
)

_T = TypeVar("_T")

# A column of labels with more different values than this is none.
_MANY_LABELS = 1000
_EXACT = 2**53


class Batch(NamedTuple):
    """Some rows: scores as float32 or float64, labels as 0 and 1."""

    score: NDArray[Any]
    label: NDArray[np.uint8]
    weight: Floats | None
    groups: tuple[Any, ...]
    """A column for each part of the name of a group."""
    more: tuple[NDArray[Any], ...] = ()
    """Further scores."""


class Labels:
    """What the labels of a column mean, and which were seen: one for all threads."""

    def __init__(self, name: str, positive: Label) -> None:
        self.name, self.positive = name, positive
        self._lock = threading.Lock()
        self.others: list[Any] = []
        """Labels other than the positive one, at most a few."""

    def flags(
        self, column: pa.Array, where: str, row_at: Callable[[int], Any]
    ) -> NDArray[np.uint8]:
        """1 where a label is the positive one. ``where`` the rows are, and what each is called."""
        if pa.types.is_decimal(value_type(column.type)):
            column = plain(column)
        t = column.type
        if pa.types.is_boolean(t) and self.positive is None:
            return np.asarray(column.cast(pa.uint8()).to_numpy())
        if self.positive is None and (pa.types.is_integer(t) or pa.types.is_floating(t)):
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype.itemsize == 1 and values.view(np.uint8).max() <= 1:
                if not values.all():
                    self._saw(0, where)
                return np.asarray(values.view(np.uint8))
            ones, zeros, minus = values == 1, values == 0, values == -1
            bad = ~(ones | zeros | minus)
            if bad.any():
                row = int(bad.argmax())
                value = values[row].item()
                place = cell(row_at(row), self.name)
                if value != value:  # noqa: PLR0124 - NaN
                    raise DataError(ValueMissing("label", "NaN", where=place))
                raise DataError(
                    PositiveUnstated((value,), value, where=place, fixes=(Fix("positive"),))
                )
            for value, there in ((0, zeros), (-1, minus)):
                if there.any():
                    self._saw(value, where)
            return np.asarray(ones.view(np.uint8))
        return self._named(column, where, row_at)

    def _named(
        self, column: pa.Array, where: str, row_at: Callable[[int], Any]
    ) -> NDArray[np.uint8]:
        t = column.type
        if self.positive is None:
            place = Where(column=self.name, file=where)
            seen = (Shown(kind_of(t)),)
            raise DataError(PositiveUnstated(seen, where=place, fixes=(Fix("positive"),)))
        asked = as_label(self.positive, t, self.name)
        if pa.types.is_floating(value_type(t)):
            values = decoded(column).to_numpy(zero_copy_only=False)
            check_names_in_floats(values, self.name, row_at)
            asked = values.dtype.type(asked).item()  # 0.1 is another number in float32
        coded = column if pa.types.is_dictionary(t) else column.dictionary_encode()
        seen, code = coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)
        hit = np.zeros(max(len(seen), 1), np.uint8)
        for k in np.unique(code).tolist():  # a dictionary may have more values than rows have
            value = seen[k]
            if value != value:  # noqa: PLR0124 - NaN
                place = cell(row_at(int((code == k).argmax())), self.name)
                raise DataError(ValueMissing("label", "NaN", where=place))
            if value == asked:
                hit[k] = 1
            else:
                self._saw(value, where)
        return np.asarray(hit[code])

    def _saw(self, value: Label, where: str) -> None:
        if value in self.others:
            return
        with self._lock:
            if value in self.others:
                return
            if self.others and self.positive is None:
                place = Where(column=self.name, file=where)
                raise DataError(TooManyLabels((1, self.others[0], value), value, where=place))
            if len(self.others) >= _MANY_LABELS:
                rule, hint = f"have at most {_MANY_LABELS:,} values", "Is it another column?"
                raise DataError(BadArgument("label", rule, self.name, hint))
            self.others.append(value)


def as_label(positive: Label, t: pa.DataType, name: str) -> Any:
    """The positive label in the type of its column: on the command line all are text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cutscore.tables.scans.scan import as_label
    >>> [as_label("1", t, "y") for t in (pa.int64(), pa.bool_(), pa.string())]
    [1, True, '1']
    """
    t = value_type(t)
    if is_text(t):
        return str(positive)
    boolean = pa.types.is_boolean(t)
    if not boolean and not isinstance(positive, str):
        return positive
    asked = parse_label(str(positive), boolean=boolean)
    if asked is None:
        raise label_type_error(positive, kind_of(t), name)
    return asked


def check_number(t: pa.DataType, name: str, where: str, way_out: str = "convert it") -> None:
    """Raise if a type is not of numbers or booleans."""
    if kind_of(t) not in ("numbers", "booleans"):
        hint = f"Use another column, or {way_out}."
        place = Where(column=name, file=where)
        raise DataError(ValueUnfit(shown(name), type=kind_of(t), hint=hint, where=place))


def as_weights(values: NDArray[Any], name: str, row_at: Callable[[int], Any]) -> Floats:
    """Weights in float64; or the error that says which row has none."""
    w = values.astype(np.float64, copy=False)
    bad = ~((w >= 0) & (w < np.inf))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(BadWeight(float(w[row]), where=cell(row_at(row), name)))
    return w


class Scan:
    """What has to be read of a table, in pieces for several threads."""

    def __init__(  # noqa: PLR0913 - what the columns are for
        self,
        data: Source,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        group: str | Sequence[str] | None = None,
        positive: Label | None = None,
        filter: pc.Expression | None = None,
        more: Sequence[str] = (),
    ) -> None:
        if group is not None and (not group or not isinstance(group, (str, list, tuple))):
            raise DataError(BadArgument("group", "be a column, or a list of columns", group))
        self.groups = [group] if isinstance(group, str) else list(group or ())
        names = [name for name in (label, score, weight, *self.groups, *more) if name is not None]
        for name in names:
            if not isinstance(name, str):
                raise DataError(BadArgument("columns", "be names", name))
        self.names = list(dict.fromkeys(names))
        self.label, self.score, self.weight = label, score, weight
        self.more = list(more)
        self.labels = Labels(label, positive)
        self._stop = threading.Event()
        numbers = [name for name in (score, weight, *more) if name is not None]
        self.where, self.pieces, schema = opened(data, self.names, filter, numbers)
        t = schema.field(score).type
        self.single = bool(
            pa.types.is_float32(t)
            or pa.types.is_float16(t)
            or pa.types.is_boolean(t)
            or t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16())
        )
        for name in numbers:
            check_number(schema.field(name).type, name, self.where)
        for column in (label, *self.groups):
            _check_plain(schema.field(column).type, column, self.where)

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
        where, rows = "a part of it", 0
        for where, start, batch in placed(piece):
            if self._stop.is_set():  # another thread has failed, or somebody has enough of it
                return
            if batch.num_rows:
                yield self._checked(batch, where, start)
            rows += batch.num_rows
        if piece.rows is not None and rows != piece.rows:
            raise changed_file(where)

    def _checked(self, batch: pa.RecordBatch, where: str, start: int) -> Batch:
        row_at = row_of(where, start)
        columns = {name: filled(batch.column(k), name, row_at) for k, name in enumerate(self.names)}
        scores = []
        for name in (self.score, *self.more):
            score = self._numbers(columns[name], name, row_at)
            if np.isnan(score.min()):  # faster than to look at each
                row = int(np.isnan(score).argmax())
                raise DataError(ValueMissing("score", "NaN", where=cell(row_at(row), name)))
            scores.append(score)
        w = None
        if self.weight is not None:
            w = as_weights(
                self._numbers(columns[self.weight], self.weight, row_at), self.weight, row_at
            )
        label = self.labels.flags(columns[self.label], where, row_at)
        groups = tuple(self._grouped(columns[name], name, row_at) for name in self.groups)
        return Batch(scores[0], label, w, groups, tuple(scores[1:]))

    def _grouped(self, column: pa.Array, name: str, row_at: Callable[[int], Any]) -> Any:
        if pa.types.is_floating(value_type(column.type)):
            values = plain(column).to_numpy(zero_copy_only=False)
            bad = np.isnan(values)
            if bad.any():
                place = cell(row_at(int(bad.argmax())), name)
                hint = "Drop such rows, or give them a group of their own."
                raise DataError(ValueMissing("group", "NaN", hint, where=place))
            check_names_in_floats(values, name, row_at)
        return column

    def _numbers(self, column: pa.Array, name: str, row_at: Callable[[int], Any]) -> NDArray[Any]:
        column = plain(column)
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        values = column.to_numpy(zero_copy_only=False)
        dtype = np.float32 if self.single and name == self.score else np.float64
        if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
            lost = (values > _EXACT) | (values < -_EXACT)
            if lost.any():
                row = int(lost.argmax())
                raise inexact(values[row], name, row_at(row))
        return np.asarray(values.astype(dtype, copy=False))

    def sample(self, most: int = 1 << 16) -> Floats:
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

    def each(self, work: Callable[[Iterator[tuple[int, Piece]]], _T], workers: int) -> list[_T]:
        """The results of so many workers that share the pieces, each with its number, among them.
        The first error stops all of them. Who gets which piece is chance: see :meth:`in_runs`."""
        self._stop.clear()
        lock, rest = threading.Lock(), enumerate(self.pieces)

        def own() -> Iterator[tuple[int, Piece]]:
            while not self._stop.is_set():
                with lock:
                    numbered = next(rest, None)
                if numbered is None:
                    return
                yield numbered

        def run(_: int) -> _T:
            try:
                return work(own())
            except BaseException:
                self._stop.set()
                raise

        if workers <= 1:
            return [run(0)]
        with ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(run, k) for k in range(workers)]
            try:
                return [future.result() for future in futures]
            except BaseException:
                self._stop.set()
                raise

    def in_runs(
        self, work: Callable[[int, Sequence[Piece]], _T], runs: int, workers: int
    ) -> Iterator[_T]:
        """The results of so many runs of pieces that follow each other, in their order: for what
        depends on the order of the rows, as sums of weights do. ``work`` gets the number of a run
        and its pieces. Only as many results as there are workers, and one more, wait for their
        turn."""
        self._stop.clear()

        def run(k: int, pieces: Sequence[Piece]) -> _T:
            try:
                return work(k, pieces)
            except BaseException:
                self._stop.set()
                raise

        cut = list(enumerate(_runs(self.pieces, runs)))
        if workers <= 1:
            yield from (run(k, pieces) for k, pieces in cut)
            return
        with ThreadPoolExecutor(workers) as pool:
            ahead: deque[Future[_T]] = deque()
            try:
                for k, pieces in cut:
                    ahead.append(pool.submit(run, k, pieces))
                    if len(ahead) > workers:
                        yield ahead.popleft().result()
                while ahead:
                    yield ahead.popleft().result()
            except BaseException:
                self._stop.set()
                pool.shutdown(cancel_futures=True)
                raise


def _runs(pieces: Sequence[Piece], runs: int) -> Iterator[Sequence[Piece]]:
    """Pieces cut into so many runs, or as many as there are pieces, of about as many rows each; of
    about as many pieces where the files don't know their rows."""
    known = all(piece.rows is not None for piece in pieces)
    size = np.array([1 + (piece.rows or 0) if known else 1 for piece in pieces], np.float64)
    middle = np.cumsum(size) - size / 2
    of = np.floor(middle / max(size.sum(), 1.0) * min(runs, len(pieces)))
    ends = [*(np.flatnonzero(np.diff(of)) + 1).tolist(), len(pieces)]
    yield from (pieces[a:b] for a, b in zip([0, *ends], ends, strict=False))


def placed(piece: Piece) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """The batches of a piece, each with its place and how many rows of that came before."""
    place, start = None, 0
    for where, batch in piece.read():
        start = start if where == place else 0
        yield where, start, batch
        place, start = where, start + batch.num_rows


def workers_for(pieces: int) -> int:
    """How many threads read so many pieces."""
    return max(1, min(threads(), pieces))


Source: TypeAlias = Paths | Table | ds.Dataset
"""Paths, an opened table, or a dataset of Arrow."""


def opened(
    data: Source, names: list[str], filter: pc.Expression, numbers: Sequence[str]
) -> tuple[str, list[Piece], pa.Schema]:
    """What a table is called, its pieces with these columns, and their types. Codes with zeros in
    front are text, but for ``numbers``."""
    if isinstance(data, ds.Dataset) or filter is not None:
        return _opened_dataset(data, names, filter)
    source = data if isinstance(data, Table) else open_table(data, columns=names)
    pieces = source.pieces(names, numbers=numbers)
    return source.where, pieces, source.types(names, numbers=numbers)


def _opened_dataset(
    data: Source, names: list[str], filter: pc.Expression
) -> tuple[str, list[Piece], pa.Schema]:
    if filter is not None and not isinstance(filter, pc.Expression):
        rule = "be a pyarrow expression, such as pyarrow.compute.field('day') > 3"
        raise DataError(BadArgument("filter", rule, filter))
    if not isinstance(data, ds.Dataset):
        # Names and types are checked as for any table first.
        source = data if isinstance(data, Table) else open_table(data, columns=names)
        # In the types that all files share, not in those of the first.
        if source.dataset_format is not None:
            data, _ = source.dataset()
        else:
            rule = f"be omitted for {source.where}, which is neither Parquet nor Arrow"
            raise DataError(BadArgument("filter", rule, hint="Filter it by a query."))
    where = "the dataset"
    for name in names:
        if data.schema.names.count(name) != 1:
            if name in data.schema.names:
                first, second, *_ = (k for k, one in enumerate(data.schema.names) if one == name)
                place = Where(file=where)
                raise DataError(NamesRepeat(name, name, (first, second), where=place))
            raise missing_column_error(name, data.schema.names, where)
    pieces = []
    for fragment in _fragments(data, filter):
        _check_schema(fragment, data.schema, names)
        groups = getattr(fragment, "row_groups", None)
        rows = sum(g.num_rows for g in groups) if groups and filter is None else None
        pieces.append(Piece(partial(_read_fragment, fragment, data.schema, names, filter), rows))
    return where, pieces, pa.schema([data.schema.field(name) for name in names])


def _check_schema(fragment: ds.Fragment, schema: pa.Schema, names: list[str]) -> None:
    """Raise if the numbers of a file would be rounded to those of the dataset."""
    own = fragment.physical_schema
    for name in names:
        if own.names.count(name) == 1:
            t, wanted = own.field(name).type, schema.field(name).type
            if not t.equals(wanted) and common_type(t, wanted) != wanted:
                where = getattr(fragment, "path", None)
                places = ("the dataset", spelled(where) if where else "a part of it")
                raise DataError(TypesDiffer(name, (str(wanted), str(t)), places))


def _fragments(data: ds.Dataset, filter: pc.Expression) -> Iterable[Any]:
    try:
        found = list(data.get_fragments(filter))
    except (pa.ArrowException, KeyError) as error:
        rule = "fit the columns of the dataset"
        raise DataError(BadArgument("filter", rule, filter)) from error
    for fragment in found:
        if isinstance(fragment, ds.ParquetFileFragment):
            try:
                yield from fragment.split_by_row_group(filter, schema=data.schema)
            except (pa.ArrowException, OSError) as error:
                reason = first_line(error)
                raise DataError(damaged_file(fragment.path, "it, as Parquet,", reason)) from error
        else:
            yield fragment


def _read_fragment(
    fragment: ds.Fragment, schema: pa.Schema, names: list[str], filter: pc.Expression
) -> Iterator[tuple[str, pa.RecordBatch]]:
    path = getattr(fragment, "path", None)
    where = "the table" if path is None else spelled(path)
    groups = getattr(fragment, "row_groups", None)
    if groups:
        where = f"row group {groups[0].id + 1} of {where}"
    if filter is not None:
        where = f"{where} after the filter"
    try:
        batches = fragment.to_batches(
            schema=schema, columns=names, filter=filter, batch_size=1 << 16, use_threads=False
        )
        for batch in batches:
            batch.validate(full=True)  # a dataset does not check offsets
            yield where, batch
    except CutscoreError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(FileUnreadable(first_line(error), where=Where(file=where))) from error


def _check_plain(t: pa.DataType, name: str, where: str) -> None:
    t = value_type(t)
    if pa.types.is_nested(t) or pa.types.is_null(t):
        raise DataError(TypeUnfit(f"{shown(name)} of {where}", kind_of(t), where=Where(file=where)))
