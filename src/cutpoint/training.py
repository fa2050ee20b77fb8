"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutpoint._check import check_rows, shown
from cutpoint._interval import Interval
from cutpoint._labels import against, labelled
from cutpoint._names import no_column
from cutpoint._rows import ArrayRows, Block, Flags, Floats, Rows
from cutpoint._spool import StreamRows
from cutpoint._sweep import Sweep, sweep
from cutpoint.calibration.fitting import calibrate
from cutpoint.decision import OperatingPoint, choose
from cutpoint.detector import Detector, Encoding, Training
from cutpoint.errors import CutpointError, DataError
from cutpoint.inference import auc_interval, interval
from cutpoint.linear.detector import Fit, LinearDetector
from cutpoint.objectives import Costs, as_limits, as_objective, check_level, check_prior
from cutpoint.paired import bootstrap_rows, compare
from cutpoint.scoring import check_seed

__all__ = ["Compared", "Trained", "learners", "train"]

# Told how much is done, from 0 to 1, and what comes next.
Report = Callable[[float, str], None]
Learn = Callable[[Rows], Fit]


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
    :func:`cutpoint.training.train`."""

    column: str
    label: Any
    """The positive label, as the column has it."""
    weight: str | None


MakeRows = Callable[[Encoding, Target], Elsewhere]

# Fewer rows of a class than this make all numbers vague.
_FEW = 50
# One feature alone that ranks the classes so well is likely to know the outcome.
_LEAK = 0.99
# Rows of each class on which features are looked at first; one that leaks does so there too, about.
_LOOK = 5_000
_SUSPECT = _LEAK - 0.02
_REPLICATES = 200
# Cutting planes of `structural`: where columns outnumber rows it could take thousands.
_STEPS = 300
# Learners that invert matrices of all features are left out of "auto" beyond so many.
_WIDE = 2_000
# Of more rows "auto" shows `structural` a sample in each fold: it takes longer than all the others.
_SLOW = {"structural"}
_SAMPLE = 50_000
# Numbers of a sample that are held in memory though the table is not.
_HELD = 1 << 23


def learners(measure: Any = None) -> dict[str, Learn]:
    """All learners by name, the simplest first. ``structural`` trains for the measure, if it is one
    that a line can be trained for, else for the AUC.

    Examples
    --------
    >>> from cutpoint.training import learners
    >>> list(learners())[:3]
    ['mean-difference', 'fisher', 'least-squares']
    """

    def mean_difference(rows: Rows) -> Fit:
        from cutpoint.linear import closed

        return closed.mean_difference(rows)

    def fisher(rows: Rows) -> Fit:
        from cutpoint.linear import closed

        return closed.fisher(rows, shrinkage="auto")

    def least_squares(rows: Rows) -> Fit:
        from cutpoint.linear import closed

        return closed.least_squares(rows)

    def gaussian(rows: Rows) -> Fit:
        from cutpoint.linear import closed

        return closed.gaussian(rows, shrinkage="auto")

    def logistic(rows: Rows) -> Fit:
        from cutpoint.linear.logistic import logistic

        return logistic(rows)

    def perceptron(rows: Rows) -> Fit:
        from cutpoint.linear.perceptron import perceptron

        return perceptron(rows, max_passes=20, variant="averaged")

    def structural(rows: Rows) -> Fit:
        from cutpoint.linear.structural import as_aim, structural

        try:
            aim = as_aim(measure)
        except CutpointError:
            aim = as_aim("auc")
        return structural(rows, aim, max_iter=_STEPS)

    return {
        "mean-difference": mean_difference,
        "fisher": fisher,
        "least-squares": least_squares,
        "gaussian": gaussian,
        "logistic": logistic,
        "perceptron": perceptron,
        "structural": structural,
    }


# What "auto" compares.
AUTO = ("mean-difference", "gaussian", "logistic", "structural")


@dataclass(frozen=True)
class Compared:
    """A learner among others: what it achieves on rows that it was not fitted to.

    Part of what :func:`cutpoint.training.train` returns.
    """

    name: str
    value: float
    interval: Interval | None
    difference: float | None
    """To the chosen one, on the same rows."""
    difference_interval: Interval | None
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Trained:
    """A detector, and the evidence for it: see :func:`cutpoint.training.train`."""

    detector: Detector
    encoding: Encoding
    line: LinearDetector
    measure: str
    compared: tuple[Compared, ...]
    why: str
    y: Flags
    weight: Floats | None
    scores: dict[str, Floats]
    """Of each learner, out of fold: each row's by a line that was fitted to other rows."""
    point: OperatingPoint
    warnings: tuple[str, ...]
    group: str | None = None
    """The column of units, if there is one."""

    @property
    def learner(self) -> str:
        """The chosen one."""
        return self.detector.training.learner

    def __repr__(self) -> str:
        return f"{self.detector!r}\n{self.why}"


def train(  # noqa: PLR0913 - a question has many sides
    table: Any,
    target: str,
    *,
    positive: Any = None,
    learner: str = "auto",
    measure: Any = None,
    costs: Costs | None = None,
    subject_to: Any = (),
    prior: float | None = None,
    confidence: float | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    weight: str | None = None,
    group: str | None = None,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    stream: bool | MakeRows = False,
    report: Report | None = None,
) -> Trained:
    """Learn a detector from a table, and say honestly what it will do.

    Each row is scored by a line that was fitted to other rows. From these scores come the curves,
    the calibrator and the threshold; the line that is shipped is fitted to all rows.

    Parameters
    ----------
    table
        A table of :mod:`cutpoint.tables`, pyarrow, pandas or polars, or a mapping from names to
        columns.
    target
        The column of labels.
    positive
        The label to detect. Not needed for 0/1, false/true and -1/1.
    learner
        "auto" compares mean-difference, gaussian, logistic and structural; or one by its name, of
        these and fisher, least-squares and perceptron.
    measure, costs
        What to aim at, as the objective of :func:`cutpoint.choose`: a measure by name, or costs.
        Of neither, learners are compared by their AUC and the threshold is best for the balanced
        rate.
    subject_to, prior, confidence
        As for :func:`cutpoint.choose`.
    columns, exclude, categories, numbers
        As for :meth:`cutpoint.detector.Encoding.fit`.
    weight
        A column of weights: a row of weight 2 counts as two rows.
    group
        A column of units (patient, user): rows of one unit are never in different folds.
    folds, seed
        How many folds, and the seed that deals the rows.
    level
        Of all intervals.
    stream
        For tables larger than memory: features are written to a temporary file (in ``TMPDIR``, 8
        bytes each), and read from there by each pass of each learner. Of a row, only its label,
        weight, group and scores stay in memory. The result is the same, but for the last digits
        of sums. A file in the format of LIBSVM is in memory nevertheless.

        A function instead of True makes the rows of features somewhere else, of the encoding and of
        what labels and weights are: :func:`cutpoint.spark.encoded` makes them on a cluster.
    report
        Told about progress.

    Notes
    -----
    "auto" takes the first learner in its list, the simplest, for which the interval of the paired
    difference to the best one includes 0: for the AUC by DeLong's method, else by the bootstrap, in
    which each replicate chooses its cuts anew. A learner whose weights are all 0 is never taken.

    Files in the format of LIBSVM stay sparse; their target is "label". Rows of weight 0 are left
    out. Of more than two labels the positive one is told from all the others.

    Examples
    --------
    >>> import numpy as np
    >>> import cutpoint as cp
    >>> from cutpoint.training import train
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(2000) < 0.1
    >>> table = {"bad": bad, "noise": rng.normal(size=2000), "gap": rng.normal(size=2000) + 2 * bad}
    >>> t = train(table, "bad", costs=cp.Costs(fp=1, fn=10))
    >>> t.learner
    'mean-difference'
    >>> t.detector.training.auc > 0.9
    True
    """
    known = learners(measure)
    if learner != "auto" and learner not in known:
        raise DataError(
            f"learner must be 'auto' or one of {', '.join(known)}; it is {shown(learner)}."
        )
    if costs is not None and measure is not None:
        raise DataError("there must be one aim: give costs or a measure, not both.")
    question = _Question(
        costs if costs is not None else measure,
        tuple(limit.text for limit in as_limits(subject_to)),
        None if prior is None else check_prior(prior),
        confidence,
    )
    check_level(level)
    tell = report or (lambda _done, _what: None)
    tell(0.0, "reading the table")
    roles = _Roles(target, positive, weight, group, columns, exclude, categories, numbers)
    data = _Data.sparse(table, roles) if _is_sparse(table) else _Data.read(table, roles, stream)
    names = AUTO if learner == "auto" else (learner,)
    fold = data.folds(folds, seed)
    out = _out_of_fold(data, {n: known[n] for n in names}, fold, tell)
    if not out.scores:
        name, note = next(iter(out.notes.items()))
        raise DataError(f"no learner could be fitted; {name}: {note}")
    tell(0.85, "comparing")
    able = list(out.scores) if learner != "auto" else out.able()
    while True:
        if not able:
            raise DataError(
                "no learner told the classes apart: all weights are 0. The columns know nothing of "
                f"{shown(target)}; use others."
            )
        chosen, why = _chosen(out, able, data, question, level)
        tell(0.93, f"fitting {chosen} to all rows")
        fit = known[chosen](data.rows())
        if fit.detector.w.any():
            break
        if learner != "auto":
            raise _learned_nothing(chosen, question)
        able.remove(chosen)  # found nothing in all rows, though in some of them
        out.notes[chosen] = _note(0, 0, 1)
    compared = _compared(out, chosen, data, question, level)
    s = sweep(data.y, out.scores[chosen], data.weight, squares=data.weight is not None)
    point = question.point(s)
    calibrator = calibrate(s, "auto")
    auc = _Question(None, (), None, None).interval(data, out.scores[chosen], level)
    warnings = (*data.warnings, *_warnings(data, s), *_useless(s, auc, point))
    if not fit.converged and chosen != "perceptron":
        early = f"{chosen} stopped before it was done: its weights are not the best ones yet."
        warnings += (early,)
    if group is not None:
        warnings += (
            f"Rows of one {shown(group)} are drawn together for the interval of the AUC; those of "
            "the rates count rows, and are too narrow if rows of one are alike.",
        )
    line = data.encoding.from_raw(fit.detector) if data.raw else fit.detector
    detector = Detector.of(
        data.encoding,
        line,
        calibrator=calibrator,
        prior=question.prior if question.prior is not None else s.prevalence,
        threshold=point.threshold,
        costs=costs,
        objective=point.objective,
        limits=question.limits,
        confidence=confidence if question.limits else None,
        target=target,
        positive=_as_text(data.label),
        training=Training(
            rows=len(data.y),
            positives=int(np.count_nonzero(data.y)),
            learner=chosen,
            auc=s.auc,
            auc_interval=auc,
            confusion=point.confusion,
            notes=(*data.encoding.notes, *warnings),
        ),
    )
    tell(1.0, "done")
    return Trained(
        detector,
        data.encoding,
        line,
        "auc" if question.objective is None else as_objective(question.objective).name,
        compared,
        why,
        data.y,
        data.weight,
        out.scores,
        point,
        warnings,
        group,
    )


def _as_text(label: Any) -> str:
    """A label as people write it: 1 for 1.0."""
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def _is_sparse(table: Any) -> bool:
    return bool(getattr(table, "is_sparse", False))


@dataclass(frozen=True)
class _Question:
    objective: Any
    limits: tuple[str, ...]
    prior: float | None
    confidence: float | None

    def point(self, s: Sweep, sure: bool = True) -> OperatingPoint:
        return choose(
            s,
            "balanced" if self.objective is None else self.objective,
            subject_to=list(self.limits),
            prior=self.prior,
            confidence=self.confidence if sure and self.limits else None,
        )

    def better(self) -> int:
        return 1 if self.objective is None else as_objective(self.objective).better

    def value(self, s: Sweep) -> float:
        """What learners are compared by. Limits are met on the rows alone: how many more rows a
        guarantee wants is the same for all."""
        return s.auc if self.objective is None else self.point(s, sure=False).value

    def interval(self, data: _Data, scores: Floats, level: float) -> Interval | None:
        """Of that value, where the rows can tell one. Rows of one unit are drawn together."""
        try:
            if data.group is not None:
                return bootstrap_rows(
                    data.y,
                    scores,
                    self.value,
                    weight=data.weight,
                    group=data.group,
                    n=_replicates(data),
                    level=level,
                ).interval
            s = sweep(data.y, scores, data.weight, squares=data.weight is not None)
            if self.objective is None:
                return auc_interval(s, level=level)
            point = self.point(s, sure=False)
            goal = point.question.goal
            return interval(s, goal, at=point.threshold, prior=self.prior, level=level)
        except CutpointError:
            return None


@dataclass(frozen=True)
class _Roles:
    """What the columns are for."""

    target: str
    positive: Any
    weight: str | None
    group: str | None
    columns: Sequence[str] | None
    exclude: Sequence[str]
    categories: Sequence[str]
    numbers: Sequence[str] = ()

    def __post_init__(self) -> None:
        for what, name in (("weights", self.weight), ("groups", self.group)):
            if name is not None and name == self.target:
                raise DataError(f"{shown(name)} is the target; {what} must be another column.")

    @property
    def used(self) -> list[str]:
        return [name for name in (self.weight, self.group) if name is not None]


@dataclass(frozen=True, eq=False)
class _Data:
    """A table as learners take it."""

    X: Any
    """An array or a CSR matrix; or, if it is not in memory, rows that are elsewhere."""
    encoding: Encoding
    raw: bool
    """Whether X holds the numbers of the table, not the features of the encoding."""
    y: Flags
    label: Any
    weight: Floats | None
    group: NDArray[Any] | None
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, table: Any, roles: _Roles, stream: bool | MakeRows = False) -> _Data:
        columns = _columns(table, [roles.target, *roles.used], numbers=[roles.weight])
        y, label, told = _labels(columns[roles.target], roles)
        w = None if roles.weight is None else columns[roles.weight]
        g = None if roles.group is None else columns[roles.group]
        encoding = Encoding.fit(
            table,
            target=roles.target,
            columns=roles.columns,
            exclude=[*roles.exclude, *roles.used],
            categories=roles.categories,
            numbers=roles.numbers,
        )
        told = (*told, *encoding.warnings)
        X = None if stream else encoding.transform(table)
        data = cls(X, encoding, False, y, label, None, g, told)._with(w, roles)
        if not stream:
            return data
        if stream is True:
            return replace(data, X=_streamed(table, encoding, y, w))
        return replace(data, X=stream(encoding, Target(roles.target, label, roles.weight)))

    @classmethod
    def sparse(cls, table: Any, roles: _Roles) -> _Data:
        """A file in the format of LIBSVM: its matrix is never made dense."""
        from scipy.sparse import csr_array

        if roles.target != "label":
            raise DataError(
                f"the labels of a libsvm file are its column 'label'; the target is "
                f"{shown(roles.target)}."
            )
        if roles.categories:
            raise DataError(
                "columns of a libsvm file are numbers; one can't be a category: "
                f"{shown(roles.categories[0])}."
            )
        X, labels = table.sparse()
        y, label, told = _labels(labels, roles)
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
            for name in (roles.weight, roles.group)
        )
        drop = {*roles.exclude, *roles.used}
        keep = [n for n in (names if roles.columns is None else roles.columns) if n not in drop]
        if not keep:
            raise DataError("no column can be used to tell the classes apart: there are none.")
        if keep != names:
            X = X[:, [place[name] for name in keep]]
        encoding = Encoding.of_matrix(X, keep)
        return cls(X, encoding, True, y, label, None, g, told)._with(w, roles)

    def _with(self, weight: NDArray[Any] | None, roles: _Roles) -> _Data:
        """The same with weights, without the rows that count nothing, and checked."""
        data = self
        if weight is not None:
            w = np.asarray(weight, np.float64)
            bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
            if len(bad):
                raise DataError(
                    f"a weight must be finite and at least 0; row {bad[0] + 1:,} has "
                    f"{w[bad[0]]:g} in {shown(roles.weight)}."
                )
            data = replace(self, weight=w)
            some = np.flatnonzero(w > 0)
            if len(some) < len(w):
                data = _Data(
                    None if self.X is None else self.X[some],
                    self.encoding,
                    self.raw,
                    self.y[some],
                    self.label,
                    w[some],
                    None if self.group is None else self.group[some],
                    (*self.warnings, f"{len(w) - len(some):,} rows of weight 0 are left out."),
                )
        y = data.y
        if y.all() or not y.any():
            only = "positive" if y.all() else "negative"
            raise DataError(
                f"there must be rows of both classes; all {len(y):,} are {only} in "
                f"{shown(roles.target)}."
            )
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
        if len(at) * self.features <= _HELD:
            return rows.take(self._mask(at))
        return rows.where(self._mask(at)).spooled(rows=len(at))

    def scores(self, line: LinearDetector, at: NDArray[np.intp]) -> Floats:
        """What a line gives these rows."""
        if not self.is_elsewhere:
            return line.scores(self.X[at])
        w, b = line.w, line.b
        parts = self.rows(at).reduce(lambda block: [block.scores(w, b)], lambda p, q: p + q)
        return np.concatenate(parts)

    def some(self, at: NDArray[np.intp]) -> Any:
        """The features of a few rows, in memory."""
        return self.X.take(self._mask(at)).X if self.is_elsewhere else self.X[at]

    def column(self, j: int) -> Floats:
        """One feature of all rows."""
        if not self.is_elsewhere:
            return _column_of(self.X, j)
        parts = self.X.reduce(lambda block: [_column_of(block.X, j)], lambda p, q: p + q)
        return np.concatenate(parts)

    def _mask(self, at: NDArray[np.intp]) -> Flags:
        out = np.zeros(len(self.y), np.bool_)
        out[at] = True
        return out

    def folds(self, asked: int, seed: int) -> NDArray[np.intp]:
        """The fold of each row; each has its share of either class, and whole groups."""
        rare = int(min(self.y.sum(), (~self.y).sum()))
        if asked < 2:
            raise DataError(f"folds must be at least 2; they are {shown(asked)}.")
        if rare < 2:
            raise DataError(
                "there must be at least 2 rows of either class, one to learn from and one to "
                f"try it on; there is {rare} of the rarer."
            )
        count = min(asked, rare)
        rng = np.random.default_rng(check_seed(seed))
        fold = np.empty(len(self.y), np.intp)
        if self.group is None:
            for members in (np.flatnonzero(self.y), np.flatnonzero(~self.y)):
                fold[rng.permutation(members)] = np.arange(len(members)) % count
            return fold
        _, code = np.unique(self.group, return_inverse=True)
        units = int(code.max()) + 1
        if units < count:
            raise DataError(
                f"there must be as many groups as folds; there are {units} and {count}."
            )
        ones, rows = np.bincount(code, self.y), np.bincount(code)
        load = np.zeros((count, 2))
        of_unit = np.empty(units, np.intp)
        # The largest first, each to the fold that has the fewest positives, then rows.
        order = rng.permutation(units)
        for u in order[np.lexsort((-rows[order], -ones[order]))].tolist():
            k = int(np.lexsort((load[:, 1], load[:, 0]))[0])
            of_unit[u] = k
            load[k] += ones[u], rows[u]
        return of_unit[code]


def _streamed(table: Any, encoding: Encoding, y: Flags, weight: NDArray[Any] | None) -> StreamRows:
    """The features of a table in a file, without the rows that count nothing."""
    import pyarrow as pa

    w = None if weight is None else np.asarray(weight, np.float64)

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


def _column_of(X: Any, j: int) -> Floats:
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
    from cutpoint.detector.values import as_table

    whole = as_table(table)
    if name not in whole.schema.names:
        raise no_column(name, whole.schema.names, "the table")
    column = whole.column(name)
    if column.null_count:
        row = int(np.asarray(column.is_null()).argmax()) + 1
        raise DataError(f"{shown(name)} is missing in row {row}. Drop such rows first.")
    out = np.asarray(column.to_numpy(zero_copy_only=False))
    if number and out.dtype.kind not in "biuf":
        raise DataError(f"{shown(name)} must hold numbers; row 1 has {shown(out[0])}.")
    return out


def _labels(values: NDArray[Any], roles: _Roles) -> tuple[Flags, Any, tuple[str, ...]]:
    """Which rows are positive, the label of these as it stands in the table, and what to say."""
    if roles.positive is not None:
        found = labelled(values, roles.positive, roles.target)
        note = against(found, roles.target)
        return found.y, found.positive, () if note is None else (note,)
    nothing = np.zeros(len(values), np.float32)
    rows = check_rows(values, nothing)
    # Which of 0/1 and -1/1 it is, the core finds out by reading.
    sweep(values, nothing)
    y = np.asarray(rows.label == rows.positive)
    return y, values[y][0].item() if y.any() and values.dtype.kind in "biuf" else 1, ()


@dataclass(frozen=True)
class _OutOfFold:
    """Scores of the learners that could be fitted, and what is to be said of any."""

    scores: dict[str, Floats]
    seconds: dict[str, float]
    notes: dict[str, str]
    empty: set[str]
    """Those that found nothing in some fold: all weights are 0."""

    def able(self) -> list[str]:
        return [name for name in self.scores if name not in self.empty]


def _out_of_fold(
    data: _Data, chosen: dict[str, Learn], fold: NDArray[np.intp], tell: Report
) -> _OutOfFold:
    out = _OutOfFold({}, {}, {}, set())
    count = int(fold.max()) + 1
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count)]
    for k, (rest, _) in enumerate(splits):
        if data.y[rest].all() or not data.y[rest].any():
            raise DataError(
                f"all rows of one class are in fold {k + 1} of {count}, whose groups stay "
                "together: use fewer folds or smaller groups."
            )
    for j, (name, learn) in enumerate(chosen.items()):
        if len(chosen) > 1 and name in ("gaussian", "fisher") and data.features > _WIDE:
            out.notes[name] = f"left out: there are more than {_WIDE:,} features"
            continue
        scores, start = np.empty(len(data.y)), perf_counter()
        unfinished = empty = sampled = 0
        try:
            for k, (rest, test) in enumerate(splits):
                done = (j * count + k) / (len(chosen) * count)
                tell(0.1 + 0.75 * done, f"{name}, fold {k + 1} of {count}")
                if len(chosen) > 1 and name in _SLOW and len(rest) > _SAMPLE:
                    some, sampled = data.sample(_sample(data.y, rest, k)), sampled + 1
                else:
                    some = data.rows(rest)
                fit = learn(some)
                scores[test] = data.scores(fit.detector, test)
                unfinished += not fit.converged
                empty += not fit.detector.w.any()
        except (CutpointError, np.linalg.LinAlgError, MemoryError) as error:
            out.notes[name] = str(error) or "there is not enough memory for it"
            continue
        if not np.isfinite(scores).all():
            out.notes[name] = "its scores are no finite numbers"
            continue
        out.scores[name], out.seconds[name] = scores, perf_counter() - start
        if empty:
            out.empty.add(name)
        # The perceptron only ever ends by itself where a line separates the classes.
        if empty or (unfinished and name != "perceptron"):
            out.notes[name] = _note(unfinished, empty, count)
        if sampled:
            said = f"fitted to a sample of {_SAMPLE:,} rows in each fold"
            out.notes[name] = "; ".join(filter(None, (out.notes.get(name), said)))
    return out


def _sample(y: Flags, rows: NDArray[np.intp], seed: int) -> NDArray[np.intp]:
    """Some of these rows, in their order, with the share of either class that they have."""
    rng = np.random.default_rng(seed)
    ones, zeros = rows[y[rows]], rows[~y[rows]]
    p = min(max(round(_SAMPLE * len(ones) / len(rows)), 1), _SAMPLE - 1)
    both = (rng.choice(ones, p, replace=False), rng.choice(zeros, _SAMPLE - p, replace=False))
    return np.sort(np.concatenate(both))


def _note(unfinished: int, empty: int, count: int) -> str:
    of = "" if count == 1 else f" in {empty or unfinished} of {count} folds"
    if empty or not unfinished:
        return f"learned nothing{of}: all weights are 0"
    return f"stopped before it was done{of}"


def _value(out: _OutOfFold, name: str, data: _Data, question: _Question) -> float:
    return question.value(sweep(data.y, out.scores[name], data.weight))


def _chosen(
    out: _OutOfFold, able: Sequence[str], data: _Data, question: _Question, level: float
) -> tuple[str, str]:
    """The first learner that is not worse than the best; and why."""
    value = {name: _value(out, name, data, question) for name in able}
    what = "AUC" if question.objective is None else as_objective(question.objective).name
    sign = question.better()
    best = max(value, key=lambda name: sign * value[name])
    if len(out.scores) + len(out.notes.keys() - out.scores.keys()) == 1:
        return best, f"{best} was asked for."
    for name in able:
        if name == best:
            break
        difference = _difference(out, data, question, name, best, level)
        if difference is not None and difference[1].low <= 0 <= difference[1].high:
            return name, (
                f"{name} is the simplest learner that does as well as the best on rows it was not "
                f"fitted to: {what} {value[name]:.4g}, {best} {value[best]:.4g}."
            )
    return best, f"{best} has the best {what} on rows it was not fitted to, {value[best]:.4g}."


def _compared(
    out: _OutOfFold, chosen: str, data: _Data, question: _Question, level: float
) -> tuple[Compared, ...]:
    """Each learner, and how it differs from the chosen one on the same rows."""
    rows = []
    for name in dict.fromkeys((*out.scores, *out.notes)):
        note = out.notes.get(name, "")
        if name not in out.scores:
            rows.append(Compared(name, float("nan"), None, None, None, 0.0, note))
            continue
        value = _value(out, name, data, question)
        span = question.interval(data, out.scores[name], level)
        d, between = None, None
        if name != chosen:
            found = _difference(out, data, question, name, chosen, level)
            d, between = found or (value - _value(out, chosen, data, question), None)
        rows.append(Compared(name, value, span, d, between, out.seconds[name], note))
    order = {name: k for k, name in enumerate(learners())}
    return tuple(sorted(rows, key=lambda row: order[row.name]))


def _replicates(data: _Data) -> int:
    return _REPLICATES if len(data.y) <= 10**5 else _REPLICATES // 4


def _difference(  # noqa: PLR0913, PLR0917 - two scores of the same rows
    out: _OutOfFold, data: _Data, question: _Question, a: str, b: str, level: float
) -> tuple[float, Interval] | None:
    options: Any = {"weight": data.weight, "level": level}
    if question.objective is not None or data.group is not None:
        options |= {
            "method": "bootstrap",
            "statistic": question.value,
            "n": _replicates(data),
            "group": data.group,
        }
    try:
        found = compare(data.y, out.scores[a], out.scores[b], **options)
    except CutpointError:  # scores that rank all rows alike, or too few rows to tell
        return None
    return found.difference, found.interval


def _learned_nothing(name: str, question: _Question) -> DataError:
    why = ""
    if name == "structural":
        aim = "the AUC" if question.objective is None else as_objective(question.objective).name
        why = (
            f" Its bound of {aim} is lowest there, as where some negatives outdo the positives "
            "along every line: see 'When it is worth it' on the page 'Training for the measure "
            "itself'."
        )
    return DataError(
        f"{name} learned nothing: all weights are 0, and all rows get the same score.{why} Take "
        "another learner, such as logistic, or let auto choose one."
    )


def _useless(s: Sweep, auc: Interval | None, point: OperatingPoint) -> list[str]:
    """What to say if decisions would be as good without the scores."""
    out = []
    if auc is not None and auc.low <= 0.5:
        out.append(
            f"The AUC is {s.auc:.4f} [{auc.low:.4f}, {auc.high:.4f}], which may be chance: on rows "
            "that the line was not fitted to, the scores need not tell anything."
        )
    c = point.confusion
    if not point.question.limits and (not (c.tp or c.fp) or not (c.fn or c.tn)):
        every = "no row" if not (c.tp or c.fp) else "every row"
        out.append(
            f"The best threshold for {point.objective} flags {every}: by these scores nothing is "
            "gained over that."
        )
    return out


def _warnings(data: _Data, s: Sweep) -> list[str]:
    out = []
    rare = int(min(data.y.sum(), (~data.y).sum()))
    if rare < _FEW:
        which = "positives" if data.y.sum() == rare else "negatives"
        out.append(
            f"There are only {rare} {which}: intervals are wide, and so is what new rows may do."
        )
    if s.auc == 1:
        out.append("The classes are perfectly separated: look for a column that knows the outcome.")
    for name, alone in _leaks(data):
        out.append(
            f"{shown(name)} alone has an AUC of {alone:.4f}: is it known before the outcome is? If "
            "not, leave it out."
        )
    return out


def _leaks(data: _Data) -> list[tuple[str, float]]:
    """Features that rank the classes almost alone, and their AUC, of the better direction."""
    both = [np.flatnonzero(data.y)[:_LOOK], np.flatnonzero(~data.y)[:_LOOK]]
    at = np.sort(np.concatenate(both))
    y, X = data.y[at], data.some(at)
    suspects: Any = range(data.features)
    if not isinstance(X, np.ndarray):
        X = X.tocsc()
        suspects = _filled_enough(X, y).tolist()
    found = []
    for j in suspects:
        if _either(y, _column_of(X, j)) < _SUSPECT:
            continue
        alone = _either(data.y, data.column(j), data.weight)
        if alone >= _LEAK:
            found.append((data.encoding.features[j], alone))
    return found


def _either(y: Flags, values: Floats, weight: Floats | None = None) -> float:
    auc = sweep(y, values, weight).auc
    return max(auc, 1 - auc)


def _filled_enough(X: Any, y: Flags) -> NDArray[np.intp]:
    """Columns of a sparse matrix that could rank the classes so well: rows that share the value 0
    are ties, so the AUC is at most 1 − p₀·n₀/2 with the shares of the classes that are 0."""
    stored = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    ones = np.bincount(stored, y[X.indices], X.shape[1])
    all_rows = np.bincount(stored, minlength=X.shape[1])
    p0 = 1 - ones / max(int(y.sum()), 1)
    n0 = 1 - (all_rows - ones) / max(int((~y).sum()), 1)
    return np.flatnonzero(p0 * n0 / 2 <= 1 - _SUSPECT)
