"""A table as learners take it, in memory or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.fitting import assign_folds
from cutscore.core.checks import Columns, check_rows
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, Where
from cutscore.core.findings.rows import BadWeight, ValueMissing
from cutscore.core.findings.training import (
    ClassMissing,
    ClassTooSmall,
    NothingToLearnFrom,
    RowsWeightless,
    UnitsTooFew,
)
from cutscore.core.labels import against, labelled
from cutscore.core.names import no_column
from cutscore.detector import Encoding
from cutscore.detector.summaries import Limits
from cutscore.linear.detector import LinearDetector
from cutscore.linear.rows import ArrayRows, Block, Flags, Floats, Rows
from cutscore.linear.streams import StreamRows
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Sweep, area, sweep, sweep_of
from cutscore.tables.roles import Roles


class Elsewhere(Rows, Protocol):
    """Rows that are not in memory, of which some can be asked for."""

    def where(self, mask: Flags) -> Elsewhere:
        """Some of the rows."""
        ...

    def take(self, mask: Flags) -> ArrayRows:
        """Some of the rows, in memory."""
        ...

    def spooled(self, *, rows: int | None = None) -> Elsewhere:
        """The same where passes over them are quick."""
        ...


class Target(NamedTuple):
    """Where labels and weights are, for whoever makes rows: see ``stream`` of
    :func:`cutscore.training.train`."""

    column: str
    label: Any
    """The positive label, as the column has it."""
    weight: str | None


_LIMITS = Limits()
MakeRows = Callable[[Encoding, Target], Elsewhere]
# Numbers of a sample that are held in memory though the table is not.
HELD = 1 << 23


@dataclass(frozen=True, eq=False)
class Data:
    """A table as learners take it."""

    X: Any
    """An array or a CSR matrix; or, if it is not in memory, rows that are elsewhere."""
    encoding: Encoding
    raw: bool
    """Whether X holds the numbers of the table, not the features of the encoding."""
    y: Flags
    label: Any
    weight: Floats | None
    unit: NDArray[Any] | None
    warnings: tuple[Finding, ...] = ()
    other: Any = None
    """The only label that is not the positive one, as the table has it; None if there are
    several."""

    @classmethod
    def of(
        cls, table: Any, roles: Roles, limits: Limits = _LIMITS, stream: bool | MakeRows = False
    ) -> Data:
        """The table, wherever it is; a file in the format of LIBSVM is in memory."""
        if getattr(table, "is_sparse", False):
            return cls.sparse(table, roles)
        return cls.read(table, roles, limits, stream)

    @classmethod
    def read(
        cls, table: Any, roles: Roles, limits: Limits = _LIMITS, stream: bool | MakeRows = False
    ) -> Data:
        from cutscore.tables import Source

        if isinstance(table, Source) and not stream:
            table = table.held()
        columns = _columns(table, [roles.label, *roles.used], numbers=[roles.weight])
        y, label, other, told = _labels(columns[roles.label], roles)
        w = None if roles.weight is None else _weights(columns[roles.weight], roles.weight)
        g = None if roles.unit is None else columns[roles.unit]
        encoding = Encoding.of(table, roles, limits, w)
        X = None if stream else encoding.transform(table)
        data = cls(X, encoding, False, y, label, w, g, told, other)._counting(roles)
        if not stream:
            return data
        if stream is True:
            return replace(data, X=_streamed(table, encoding, y, w))
        return replace(data, X=stream(encoding, Target(roles.label, label, roles.weight)))

    @classmethod
    def sparse(cls, table: Any, roles: Roles) -> Data:
        """A file in the format of LIBSVM: its matrix is never made dense."""
        from scipy.sparse import csr_array

        if roles.label != "label":
            raise DataError(BadArgument("target", "be 'label', of a libsvm file", roles.label))
        if roles.categories:
            rule = "name no column of a libsvm file, which holds numbers"
            raise DataError(BadArgument("categories", rule, roles.categories[0]))
        X, labels = table.sparse()
        y, label, other, told = _labels(labels, roles)
        # Of all indices those that some row has; there may be many more.
        used, at = np.unique(X.indices, return_inverse=True)
        names = [str(table.indices[k]) for k in used.tolist()]
        X = csr_array((X.data, at.astype(np.int32), X.indptr), shape=(X.shape[0], len(used)))
        place = {name: k for k, name in enumerate(names)}
        for name in (*(roles.columns or ()), *roles.exclude, *roles.numbers, *roles.used):
            if name not in place:
                raise no_column(name, names, table.where)
        w, g = (
            None if name is None else X[:, [place[name]]].toarray().ravel()
            for name in (roles.weight, roles.unit)
        )
        drop = {*roles.exclude, *roles.used}
        keep = [n for n in (names if roles.columns is None else roles.columns) if n not in drop]
        if not keep:
            raise DataError(NothingToLearnFrom())
        if keep != names:
            X = X[:, [place[name] for name in keep]]
        weight = None if w is None else _weights(w, str(roles.weight))
        encoding = Encoding.of_matrix(X, keep, weight)
        return cls(X, encoding, True, y, label, weight, g, told, other)._counting(roles)

    def _counting(self, roles: Roles) -> Data:
        """The same without the rows that count nothing, and checked for both classes."""
        data = self
        if self.weight is not None and not self.weight.all():
            some = np.flatnonzero(self.weight)
            left_out = len(self.weight) - len(some)
            data = replace(
                self,
                X=None if self.X is None else self.X[some],
                y=self.y[some],
                weight=self.weight[some],
                unit=None if self.unit is None else self.unit[some],
                warnings=(*self.warnings, RowsWeightless(left_out)),
            )
        y = data.y
        if y.all() or not y.any():
            only = "positive" if y.all() else "negative"
            raise DataError(ClassMissing(roles.label, len(y), only))
        return data

    @property
    def is_elsewhere(self) -> bool:
        return hasattr(self.X, "reduce")

    @property
    def features(self) -> int:
        return int(self.X.features) if self.is_elsewhere else int(self.X.shape[1])

    def rows(self, at: NDArray[np.intp] | None = None) -> Rows:
        """All rows, or some of them."""
        if self.is_elsewhere:
            rows: Elsewhere = self.X
            return rows if at is None else rows.where(self._mask(at))
        if at is None:
            return ArrayRows(self.X, self.y, self.weight)
        return ArrayRows(self.X[at], self.y[at], None if self.weight is None else self.weight[at])

    def sample(self, at: NDArray[np.intp]) -> Rows:
        """So few rows that they need not be picked out of all of them in each pass."""
        if not self.is_elsewhere:
            return self.rows(at)
        rows: Elsewhere = self.X
        if len(at) * self.features <= HELD:
            return rows.take(self._mask(at))
        return rows.where(self._mask(at)).spooled(rows=len(at))

    def sweep(self, scores: Floats) -> Sweep:
        """The sweep of scores of these rows, which were checked when they were read."""
        return sweep_of(self._columns(scores, None), squares=self.weight is not None)

    def auc(
        self, scores: Floats, at: NDArray[np.intp] | None = None, *, weighted: bool = True
    ) -> float:
        """The AUC of scores of all rows, or of some."""
        columns = self._columns(scores, at)
        pos, neg, twice = area(columns if weighted else replace(columns, weight=None))
        return twice / (2 * pos * neg)

    def _columns(self, scores: Floats, at: NDArray[np.intp] | None) -> Columns:
        y, weight = self.y, self.weight
        if at is not None:
            y, weight = y[at], None if weight is None else weight[at]
        return Columns(scores, y, 0.0, 1.0, weight, None)

    def some(self, at: NDArray[np.intp]) -> Any:
        """The features of a few rows, in memory."""
        if len(at) == len(self.y) and not self.is_elsewhere:
            return self.X
        return self.X.take(self._mask(at)).X if self.is_elsewhere else self.X[at]

    def column(self, j: int) -> Floats:
        """One feature of all rows."""
        if not self.is_elsewhere:
            return column_of(self.X, j)
        parts = self.X.reduce(lambda block: [column_of(block.X, j)], lambda p, q: p + q)
        return np.concatenate(parts)

    def _mask(self, at: NDArray[np.intp]) -> Flags:
        out = np.zeros(len(self.y), np.bool_)
        out[at] = True
        return out

    def folds(self, asked: int, seed: int) -> NDArray[np.intp]:
        """The fold of each row; each has its share of either class, and whole units."""
        rare = int(min(self.y.sum(), (~self.y).sum()))
        if asked < 2:
            raise DataError(BadArgument("folds", "be at least 2", asked))
        if rare < 2:
            raise DataError(ClassTooSmall(rare))
        count = min(asked, rare)
        rng = np.random.default_rng(check_seed(seed))
        if self.unit is None:
            return assign_folds(self.y, count, rng)
        _, code = np.unique(self.unit, return_inverse=True)
        units = int(code.max()) + 1
        if units < count:
            raise DataError(UnitsTooFew(units, count))
        # Positives and negatives of each unit, as shares of all: a row of the rarer class counts
        # for more. The largest first, each to where those like it are fewest, then to where all
        # are: squares of the folds' loads grow least there.
        rows = np.stack([np.bincount(code, self.y), np.bincount(code, ~self.y)], 1)
        both = rows / rows.sum(0)
        load = np.zeros((count, 2))
        of_unit = np.empty(units, np.intp)
        order = rng.permutation(units)
        for u in order[np.argsort(-both.max(1)[order], kind="stable")].tolist():
            of_unit[u] = k = int(np.lexsort((load.sum(1), load @ both[u]))[0])
            load[k] += both[u]
        return of_unit[code]


def _streamed(table: Any, encoding: Encoding, y: Flags, w: Floats | None) -> StreamRows:
    """The features of a table in a file, without the rows that count nothing."""
    import pyarrow as pa

    def blocks() -> Iterator[Block]:
        start = 0
        for X in encoding.blocks(table):
            at = slice(start, start + X.shape[0])
            yield Block(X, y[at], None if w is None else w[at], start)
            start = at.stop

    rows, count = StreamRows(blocks, len(encoding.features)), len(y)
    if w is not None:
        rows, count = rows.where(w > 0), int(np.count_nonzero(w))
    out = rows.spooled(rows=count)
    # What the batches of the table took, Arrow keeps for more; there are none to come.
    pa.default_memory_pool().release_unused()
    return out


def _weights(values: NDArray[Any], name: str) -> Floats:
    w = np.asarray(values, np.float64)
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        row = int(bad[0])
        raise DataError(BadWeight(float(w[row]), where=Where(row, column=name)))
    return w


def scores_of(rows: Rows, line: LinearDetector) -> Floats:
    """What a line gives rows."""
    if isinstance(rows, ArrayRows):
        return line.scores(rows.X)
    w, b = line.w, line.b
    return np.concatenate(rows.reduce(lambda block: [block.scores(w, b)], lambda p, q: p + q))


def column_of(X: Any, j: int) -> Floats:
    """A copy: what is kept of a block keeps all of it."""
    return X[:, j].copy() if isinstance(X, np.ndarray) else X[:, [j]].toarray().ravel()


def _columns(
    table: Any, names: Sequence[str], *, numbers: Sequence[str | None] = ()
) -> dict[str, NDArray[Any]]:
    """Columns, none of whose values is missing."""
    if hasattr(table, "batches") and hasattr(table, "names"):
        wanted = list(dict.fromkeys(names))
        found = table.columns(wanted, numbers=[name for name in numbers if name is not None])
        return {name: np.asarray(found[name]) for name in wanted}
    return {name: _column(table, name, number=name in numbers) for name in names}


def _column(table: Any, name: str, *, number: bool = False) -> NDArray[Any]:
    """One column of a table in memory."""
    from cutscore.detector.values import as_table, unfit

    whole = as_table(table)
    if name not in whole.schema.names:
        raise no_column(name, whole.schema.names, "the table")
    column = whole.column(name)
    # A weight that is NaN has a sentence of its own.
    missing = np.asarray(column.is_null(nan_is_null=not number))
    if missing.any():
        at = Where(int(missing.argmax()), column=name)
        raise DataError(ValueMissing(name, where=at))
    out = np.asarray(column.to_numpy(zero_copy_only=False))
    if number and out.dtype.kind not in "biuf":
        raise unfit(name, 0, "numbers", out[0])
    return out


def _labels(values: NDArray[Any], roles: Roles) -> tuple[Flags, Any, Any, tuple[Finding, ...]]:
    """Which rows are positive, the label of these as it stands in the table, the only other one or
    None, and what to say."""
    if roles.positive is not None:
        found = labelled(values, roles.positive, roles.label, count=True)
        note = against(found, roles.label)
        other = found.others[0] if len(found.others) == 1 else None
        return found.y, found.positive, other, () if note is None else (note,)
    nothing = np.zeros(len(values), np.float32)
    rows = check_rows(values, nothing)
    # Which of 0/1 and -1/1 it is, the core finds out by reading.
    sweep(values, nothing)
    y = np.asarray(rows.label == rows.positive)
    if y.all() or not y.any() or values.dtype.kind not in "biuf":
        return y, 1, None, ()
    return y, values[y.argmax()].item(), values[y.argmin()].item(), ()
