"""A table as learners take it, in memory or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.fitting import assign_folds
from cutscore.core.checks import Columns, check_rows
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Fix, shown
from cutscore.core.findings.base import Finding, Where
from cutscore.core.findings.rows import BadWeight
from cutscore.core.findings.statistics import OneClass, TooFew
from cutscore.core.findings.training import (
    NothingToLearnFrom,
    RowsWeightless,
)
from cutscore.core.frozen import derived
from cutscore.core.labels import binarize, one_versus_rest_note
from cutscore.core.names import missing_column_error
from cutscore.detector import Encoding
from cutscore.detector.column_summaries import Limits
from cutscore.detector.scorers.model import matrix_of
from cutscore.detector.scorers.reading import read_columns
from cutscore.linear.rows import (
    ArrayRows,
    Block,
    Flags,
    Floats,
    JoinedRows,
    Matrix,
    Rows,
    collect,
)
from cutscore.linear.streams import StreamRows
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Sweep, area, sweep, sweep_of
from cutscore.tables.roles import Roles

if TYPE_CHECKING:
    from cutscore.tables import Table
    from cutscore.tables.frames import TableLike


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


MakeRows = Callable[[Encoding, Target], Elsewhere]
# Numbers of a sample that are held in memory though the table is not.
HELD = 1 << 23
# Numbers of a sparse table that are held in memory with all its zeros: a gigabyte.
_DENSE = 1 << 27


@dataclass(frozen=True)
class Options:
    """How a table is made ready for learners."""

    limits: Limits = field(default_factory=Limits)
    stream: bool | MakeRows = False
    folds: int = 5
    seed: int = 0
    values: bool = False
    """Whether some learner takes columns as they are."""


_USUAL = Options()


@dataclass(frozen=True, eq=False)
class TrainingLabels:
    """What is known of the rows that count, besides their features, in the order of the table."""

    y: Flags
    positive: Any
    """The positive label, as the table has it."""
    other: Any
    """The only other label, as the table has it; None if there are several."""
    weight: Floats | None
    unit: NDArray[Any] | None
    kept: Flags | None
    """Which rows of the table count: all but those of weight 0. None for all."""
    warnings: tuple[Finding, ...]

    @classmethod
    def of(
        cls, labels: NDArray[Any], weight: Floats | None, unit: NDArray[Any] | None, roles: Roles
    ) -> TrainingLabels:
        """The labels of a table, of which both classes must have rows that count."""
        y, positive, other, warnings = _labels(labels, roles)
        kept = None
        if weight is not None and not weight.all():
            kept = weight > 0
            warnings = (*warnings, RowsWeightless(int(np.count_nonzero(~kept))))
            y, weight = y[kept], weight[kept]
            unit = None if unit is None else unit[kept]
        if y.all() or not y.any():
            only = "positive" if y.all() else "negative"
            have, need = f"{only} ({len(y):,} of them)", "positives and negatives"
            raise DataError(OneClass(f"training on {shown(roles.label)}", need, have))
        return cls(y, positive, other, weight, unit, kept, warnings)

    def folds(self, asked: int, seed: int) -> NDArray[np.intp]:
        """The fold of each row; each has its share of either class, and whole units."""
        rare = int(min(self.y.sum(), (~self.y).sum()))
        if asked < 2:
            raise DataError(BadArgument("folds", "be at least 2", asked))
        if rare < 2:
            raise DataError(TooFew("cross-validation", 2, "rows of each class", rare))
        count = min(asked, rare)
        return assign_folds_by_unit(
            self.y, self.unit, count, np.random.default_rng(check_seed(seed))
        )


def assign_folds_by_unit(
    y: Flags, unit: NDArray[Any] | None, count: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """The fold of each row, of so many; each has its share of either class, and whole units."""
    if unit is None:
        return assign_folds(y, count, rng)
    _, code = np.unique(unit, return_inverse=True)
    units = int(code.max()) + 1
    if units < count:
        what, fix = f"cross-validation in {count} folds", Fix("folds", max(units, 2))
        raise DataError(TooFew(what, count, "clusters", units, fixes=(fix,)))
    # Positives and negatives of each unit, as shares of all: a row of the rarer class counts for
    # more. The largest first, each to where those like it are fewest, then to where all are:
    # squares of the folds' loads grow least there.
    rows = np.stack([np.bincount(code, y), np.bincount(code, ~y)], 1)
    both = rows / rows.sum(0)
    load = np.zeros((count, 2))
    of_unit = np.empty(units, np.intp)
    order = rng.permutation(units)
    for u in order[np.argsort(-both.max(1)[order], kind="stable")].tolist():
        of_unit[u] = k = int(np.lexsort((load.sum(1), load @ both[u]))[0])
        load[k] += both[u]
    return of_unit[code]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows of a table, as each kind of learner takes them."""

    rows: Rows
    """Their features, for lines."""
    data: Data
    at: NDArray[np.intp]
    """Which they are, in the order of the table."""
    fold: NDArray[np.intp]
    """The fold of each, in the order of ``rows``."""

    @property
    def values(self) -> Floats:
        """What they have in each column, for trees: see
        :func:`cutscore.detector.scorers.model.matrix_of`."""
        assert self.data.values is not None
        return self.data.values[self.at]

    @property
    def y(self) -> Flags:
        """True where the row is positive."""
        return self.data.y[self.at]

    @property
    def weight(self) -> Floats | None:
        """The weight of each row."""
        return None if self.data.weight is None else self.data.weight[self.at]

    @property
    def unit(self) -> NDArray[Any] | None:
        """The unit of each row."""
        return None if self.data.unit is None else self.data.unit[self.at]


@dataclass(frozen=True, eq=False)
class Data:
    """A table as learners take it: rows of features, in memory or elsewhere, in folds.

    Rows in memory are ordered by their folds, each of which is a slice: to leave one out copies
    nothing.
    """

    X: Matrix | None
    """Rows in memory, fold by fold; None if they are elsewhere."""
    elsewhere: Elsewhere | None
    encoding: Encoding
    raw: bool
    """Whether X holds the numbers of the table, not the features of the encoding."""
    labels: TrainingLabels
    fold: NDArray[np.intp]
    """The fold of each row."""
    seed: int = 0
    values: Floats | None = None
    """What the rows have in each column, for learners that take it as it is; in the order of the
    table."""

    @classmethod
    def of(cls, table: TableLike, roles: Roles, options: Options = _USUAL) -> Data:
        """The table, wherever it is; a file in the format of LIBSVM is in memory."""
        from cutscore.tables import Table
        from cutscore.tables.frames import as_table

        if isinstance(table, Table):
            if table.is_sparse:
                return cls._sparse(table, roles, options)
            if not options.stream:
                table = table.held()
        table = as_table(table)
        numbers = [] if roles.weight is None else [roles.weight]
        columns = table.columns([roles.label, *roles.used], numbers=numbers)
        w = None if roles.weight is None else _weights(columns[roles.weight], roles.weight)
        g = None if roles.unit is None else columns[roles.unit]
        labels = TrainingLabels.of(columns[roles.label], w, g, roles)
        fold = labels.folds(options.folds, options.seed)
        encoding = Encoding.of(table, roles, options.limits, w)
        if not options.stream:
            X = encoding.arranged(table, _places(fold, labels.kept), len(fold))
            values = _values(table, encoding, labels) if options.values else None
            return cls(X, None, encoding, False, labels, fold, options.seed, values)
        if options.stream is True:
            rows: Elsewhere = _stream(table, encoding, labels)
        else:
            target = Target(roles.label, labels.positive, roles.weight)
            rows = options.stream(encoding, target)
        return cls(None, rows, encoding, False, labels, fold, options.seed)

    @classmethod
    def _sparse(cls, table: Table, roles: Roles, options: Options) -> Data:
        """A file in the format of LIBSVM: its matrix is never made dense."""
        from scipy.sparse import csr_array

        if roles.label != "label":
            raise DataError(BadArgument("target", "be 'label' for a libsvm file", roles.label))
        if roles.categories:
            rule = "not name a column of a libsvm file, which is numeric"
            raise DataError(BadArgument("categories", rule, roles.categories[0]))
        X, column = table.sparse()
        # Of all indices those that some row has; there may be many more.
        used, at = np.unique(X.indices, return_inverse=True)
        names = [str(table.indices[k]) for k in used.tolist()]
        X = csr_array((X.data, at.astype(np.int32), X.indptr), shape=(X.shape[0], len(used)))
        place = {name: k for k, name in enumerate(names)}
        for name in (*(roles.columns or ()), *roles.exclude, *roles.numbers, *roles.used):
            if name not in place:
                raise missing_column_error(name, names, table.where)
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
        labels = TrainingLabels.of(column, weight, g, roles)
        fold = labels.folds(options.folds, options.seed)
        encoding = Encoding.of_matrix(X, keep, weight)
        there = np.arange(X.shape[0]) if labels.kept is None else np.flatnonzero(labels.kept)
        values = None
        if options.values and len(there) * len(keep) <= _DENSE:
            values = X[there].toarray()
        X = X[there[np.argsort(fold, kind="stable")]]
        return cls(X, None, encoding, True, labels, fold, options.seed, values)

    @property
    def y(self) -> Flags:
        """True where the row is positive."""
        return self.labels.y

    @property
    def weight(self) -> Floats | None:
        """The weight of each row."""
        return self.labels.weight

    @property
    def unit(self) -> NDArray[Any] | None:
        """The unit of each row."""
        return self.labels.unit

    @property
    def features(self) -> int:
        """How many there are."""
        return self.rows.features

    @property
    def folds(self) -> int:
        """How many there are."""
        return len(self.ends) - 1

    @derived
    def places(self) -> NDArray[np.intp]:
        """Where each row is in X."""
        return _places(self.fold, None)

    @derived
    def ends(self) -> list[int]:
        """Where the folds of X begin, and the last one ends."""
        return [0, *np.cumsum(np.bincount(self.fold)).tolist()]

    @derived
    def _held(self) -> ArrayRows | None:
        if self.X is None:
            return None
        order = np.argsort(self.fold, kind="stable")
        return ArrayRows(self.X, self.y[order], None if self.weight is None else self.weight[order])

    @property
    def rows(self) -> Rows:
        """All rows."""
        rows = self._held or self.elsewhere
        assert rows is not None
        return rows

    @property
    def whole(self) -> Part:
        """All rows, as a learner takes them."""
        return self._part(self.rows, np.arange(len(self.y)))

    def of_fold(self, fold: int) -> Part:
        """The rows of a fold."""
        return self._part(self._rows_of(fold), np.flatnonzero(self.fold == fold))

    def without(self, fold: int) -> Part:
        """The rows of all other folds."""
        return self._part(self._rows_without(fold), np.flatnonzero(self.fold != fold))

    def _part(self, rows: Rows, at: NDArray[np.intp]) -> Part:
        fold = self.fold[at]
        return Part(rows, self, at, fold if self._held is None else np.sort(fold))

    def _rows_of(self, fold: int) -> Rows:
        if self._held is not None:
            return self._held.part(self.ends[fold], self.ends[fold + 1])
        assert self.elsewhere is not None
        return self.elsewhere.where(self.fold == fold)

    def _rows_without(self, fold: int) -> Rows:
        if self._held is not None:
            before = self._held.part(0, self.ends[fold])
            after = self._held.part(self.ends[fold + 1], self.ends[-1])
            return JoinedRows([part for part in (before, after) if len(part)])
        assert self.elsewhere is not None
        return self.elsewhere.where(self.fold != fold)

    def sample(self, at: NDArray[np.intp]) -> Part:
        """So few rows that they need not be picked out of all of them in each pass."""
        return Part(self._rows_at(at), self, at, self.fold[at])

    def _rows_at(self, at: NDArray[np.intp]) -> Rows:
        if self.elsewhere is None:
            weight = None if self.weight is None else self.weight[at]
            return ArrayRows(self.some(at), self.y[at], weight)
        if len(at) * self.features <= HELD:
            return self.elsewhere.take(self._mask(at))
        return self.elsewhere.where(self._mask(at)).spooled(rows=len(at))

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

    def some(self, at: NDArray[np.intp]) -> Matrix:
        """The features of a few rows, in memory."""
        if self.elsewhere is not None:
            return self.elsewhere.take(self._mask(at)).X
        assert self.X is not None
        return self.X[self.places[at]]

    def column(self, j: int) -> Floats:
        """One feature of all rows."""
        if self.X is not None:
            return column_of(self.X, j)[self.places]
        assert self.elsewhere is not None
        return collect(self.elsewhere, lambda block: column_of(block.X, j))

    def _mask(self, at: NDArray[np.intp]) -> Flags:
        out = np.zeros(len(self.y), np.bool_)
        out[at] = True
        return out


def _places(fold: NDArray[np.intp], kept: Flags | None) -> NDArray[np.intp]:
    """Where each row comes to lie if rows are ordered by their folds; -1 for those not kept."""
    places = np.empty(len(fold), np.intp)
    places[np.argsort(fold, kind="stable")] = np.arange(len(fold))
    if kept is None:
        return places
    out = np.full(len(kept), -1)
    out[kept] = places
    return out


def _values(table: TableLike, encoding: Encoding, labels: TrainingLabels) -> Floats:
    """What the rows that count have in each column."""
    parts = [matrix_of(encoding.columns, has) for _, has in read_columns(table, encoding.columns)]
    whole = np.concatenate(parts)
    return whole if labels.kept is None else whole[labels.kept]


def _stream(table: TableLike, encoding: Encoding, labels: TrainingLabels) -> StreamRows:
    """The features of a table in a file, without the rows that count nothing."""
    import pyarrow as pa

    kept, y, w = labels.kept, labels.y, labels.weight

    def blocks() -> Iterator[Block]:
        row = start = 0
        for block in encoding.blocks(table):
            X, row = block, row + block.shape[0]
            if kept is not None:
                X = block[kept[row - block.shape[0] : row]]
            at = slice(start, start + X.shape[0])
            if X.shape[0]:
                yield Block(X, y[at], None if w is None else w[at], start)
            start = at.stop

    out = StreamRows(blocks, len(encoding.features)).spooled(rows=len(y))
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


def column_of(X: Matrix, j: int) -> Floats:
    """A copy: what is kept of a block keeps all of it."""
    return X[:, j].copy() if isinstance(X, np.ndarray) else X[:, [j]].toarray().ravel()


def _labels(values: NDArray[Any], roles: Roles) -> tuple[Flags, Any, Any, tuple[Finding, ...]]:
    """Which rows are positive, the label of these as it stands in the table, the only other one or
    None, and what to say."""
    if roles.positive is not None:
        found = binarize(values, roles.positive, roles.label, count=True)
        note = one_versus_rest_note(found, roles.label)
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
