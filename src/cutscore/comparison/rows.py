"""Rows with one score or several, and columns that say which of them belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import (
    Columns,
    as_array,
    as_vector,
    check_rows,
    check_totals,
    missing_row,
)
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Where, shown
from cutscore.core.findings.rows import LengthsDiffer, ValueMissing
from cutscore.core.findings.statistics import OneClass
from cutscore.core.types import ArrayLike, Frame, Label, Scores
from cutscore.inference.periods import Periods, unit_of
from cutscore.inference.units import Units
from cutscore.sweeps.sweep import Floats, area

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Rows of positive weight: which of them are positives, their scores, their weights."""

    ones: Bools
    scores: list[Floats]
    weight: Floats | None
    kept: Bools
    """Which they are of the rows that came in."""


def read_columns(
    y: ArrayLike,
    scores: Mapping[Any, Any],
    weight: ArrayLike | None,
    positive: Label | None,
    kernel: Callable[[Columns], object] = area,
) -> list[Columns]:
    """Rows as :func:`cutscore.sweep` reads them, one score after the other. The kernel is called
    with each: the core finds what is wrong with single rows."""
    columns = []
    for name, score in scores.items():
        try:
            columns.append(check_rows(y, score, weight, positive))
            kernel(columns[-1])
        except DataError as error:
            if len(scores) == 1:
                raise
            raise DataError(error.finding.at(part=str(name))) from None
    return columns


def read_rows(
    y: ArrayLike, scores: Mapping[Any, Any], weight: ArrayLike | None, positive: Label | None
) -> ScoredRows:
    """The same, as arrays of float64."""
    read = read_columns(y, scores, weight, positive)
    # -0.0 becomes 0.0
    columns = [np.add(each.score, 0.0, dtype=np.float64) for each in read]
    rows = read[-1]
    ones: Bools = rows.label == rows.positive
    if rows.weight is None:
        return ScoredRows(ones, columns, None, np.ones(len(ones), np.bool_))
    check_totals(rows.weight[ones], rows.weight[~ones])
    kept = rows.weight > 0
    w = rows.weight[kept].astype(np.float64)
    return ScoredRows(ones[kept], [s[kept] for s in columns], w, kept)


def needs_both_classes(rows: ScoredRows, measure: str) -> None:
    """Refuse rows of one class."""
    if rows.ones.all() or not rows.ones.any():
        only = "positive" if rows.ones.any() else "negative"
        have = f"{only} ({len(rows.ones):,} of them)"
        raise UndefinedError(OneClass(measure, "positives and negatives", have))


def units(
    y: ArrayLike,
    score: ArrayLike,
    unit: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
) -> Units:
    """Rows with their cluster ids, for :func:`cutscore.choose` if rows of one cluster are
    correlated.

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    weight, positive : array-like of shape (n,) and label, optional
        As in :func:`cutscore.sweep`.
    unit : array-like of shape (n,)
        Cluster id of each row (patient, user, session).

    Returns
    -------
    Units

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(400), 10)  # ten visits of each
    >>> y = rng.random(4000) < 0.2
    >>> score = rng.normal(size=400)[patient] + rng.normal(size=4000) + 3 * y
    >>> s, limit = cs.sweep(y, score), "fpr <= 0.05"
    >>> as_rows = cs.choose(s, "recall", subject_to=limit, confidence=0.95)
    >>> u = cs.units(y, score, patient)
    >>> as_patients = cs.choose(s, "recall", subject_to=limit, confidence=0.95, units=u)
    >>> u, as_rows.threshold < as_patients.threshold
    (400 clusters with 4,000 rows, True)
    """
    rows = read_rows(y, {"score": score}, weight, positive)
    order = np.argsort(-rows.scores[0], kind="stable")
    _, of = encode_column(unit, "unit", rows)
    w = None if rows.weight is None else rows.weight[order]
    return Units._adopt(rows.scores[0][order], rows.ones[order], of[order], w)


def periods(
    y: ArrayLike,
    score: ArrayLike,
    period: ArrayLike,
    *,
    exposure: int | None = None,
    positive: Label | None = None,
) -> Periods:
    """Rows with the day, hour or other period of each: what :func:`cutscore.choose` needs for
    limits such as "flagged <= 200 per day".

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    period : array-like of shape (n,)
        The period of each row: a date, a time truncated to the hour, or any number or text.
    exposure : int, optional
        How many periods were observed, if some of them have no rows. Default: as many as there are
        different values.
    positive : label, optional
        As in :func:`cutscore.sweep`.

    Returns
    -------
    Periods
        Its :meth:`~cutscore.Periods.top` has recall and precision at k per period.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> day = np.repeat(np.arange(90), 400)
    >>> y = rng.random(len(day)) < 0.02
    >>> score = rng.normal(size=90)[day] / 3 + rng.normal(size=len(day)) + 3 * y
    >>> days = cs.periods(y, score, day)
    >>> p = cs.choose(
    ...     cs.sweep(y, score), "recall", subject_to="flagged <= 20 on 90 % of days", periods=days,
    ...     confidence=0.95,
    ... )
    >>> days, p.status[0].holds, round(p.status[0].value, 3)
    (90 periods with 36,000 rows, True, 0.956)
    """
    rows = read_rows(y, {"score": score}, None, positive)
    values, of = encode_column(period, "period", rows)
    unit, gaps = unit_of(values)
    number = len(values)
    if exposure is not None:
        if not isinstance(exposure, (int, np.integer)) or exposure < number:
            rule = f"be an integer of at least {number:,}, as many periods have rows"
            raise DataError(BadArgument("exposure", rule, exposure))
        number, gaps = int(exposure), 0
    return Periods._adopt(rows.scores[0], rows.ones, of, number, unit, gaps)


def score_columns(scores: Scores) -> dict[Any, Any]:
    """Several scores by name, or by number where they have none."""
    if isinstance(scores, Mapping):
        columns = dict(scores)
    elif isinstance(scores, Frame) and type(scores).__name__ == "DataFrame":
        columns = {name: scores[name] for name in scores.columns}
    elif isinstance(scores, Sequence) and not isinstance(scores, (str, bytes)):
        columns = dict(enumerate(scores))
    else:
        a = as_array(scores, "scores")  # type: ignore[arg-type]
        if a.ndim != 2:
            rule = f"have two dimensions, a column for each score, not the shape {a.shape}"
            raise DataError(BadArgument("scores", rule, hint="Pass a list of columns."))
        columns = dict(enumerate(a.T))
    if not columns:
        raise DataError(BadArgument("scores", "have at least one column"))
    return columns


def encode_column(values: ArrayLike, name: str, rows: ScoredRows) -> tuple[NDArray[Any], Ints]:
    """The different values of a column in the order of their appearance, and each row's number."""
    return encode_values(values, name, rows.kept)


def encode_values(values: ArrayLike, name: str, kept: Bools) -> tuple[NDArray[Any], Ints]:
    """The same of the rows that are kept."""
    a = as_vector(_as_objects(values), name)
    if len(a) != len(kept):
        raise DataError(LengthsDiffer(name, "score", len(a), len(kept)))
    if a.dtype.kind in "iu" and len(a) and (span := int(a.max()) - int(a.min()) + 1) <= 4 * len(a):
        return _encode_whole(a, span, kept)
    if a.dtype.kind in "biufmM":
        missing = np.isnan(a)
        if missing.any():
            _refuse_missing(name, int(missing.argmax()), a[missing][0])
        label, first, code = np.unique(a[kept], return_index=True, return_inverse=True)
        rank = np.argsort(first)
        return label[rank], np.argsort(rank)[code]
    # By hash: text takes long to sort, and other objects may have no order.
    listed = a.tolist()
    try:
        seen = dict.fromkeys(listed)
    except TypeError:
        raise DataError(
            BadArgument(name, "contain plain values, numbers or text", listed)
        ) from None
    row = missing_row(listed, seen)
    if row is not None:
        _refuse_missing(name, row, listed[row])
    if not kept.all():
        listed = list(compress(listed, kept))
        seen = dict.fromkeys(listed)
    number = {value: i for i, value in enumerate(seen)}
    label = np.fromiter(number, a.dtype if a.dtype.kind in "SU" else object, len(number))
    return label, np.fromiter(map(number.__getitem__, listed), np.int64, len(listed))


def _as_objects(values: ArrayLike) -> ArrayLike:
    """A list of tuples as an array of them: NumPy would make a table of it."""
    if not (isinstance(values, list) and values and isinstance(values[0], tuple)):
        return values
    out = np.empty(len(values), object)
    for k, value in enumerate(values):
        out[k] = value
    return out


def _encode_whole(a: NDArray[Any], span: int, kept: Bools) -> tuple[NDArray[Any], Ints]:
    """The same of integers of which so many could be there: a table of them, nothing is sorted."""
    low = a.min().astype(np.int64)  # as its bits, where it is larger than any int64
    a = a[kept]
    offset = a.astype(np.int64) - low
    number = np.full(span, len(a), np.int64)
    number[offset[::-1]] = np.arange(len(a) - 1, -1, -1)  # the first row that has it
    seen = np.flatnonzero(number < len(a))
    seen = seen[np.argsort(number[seen])]
    number[seen] = np.arange(len(seen))
    return (seen + low).astype(a.dtype), number[offset]


def _refuse_missing(name: str, row: int, value: object) -> NoReturn:
    hint = "Drop such rows, or give them a value of their own."
    raise DataError(ValueMissing(name, f"missing ({shown(value)})", hint, where=Where(row, name)))
