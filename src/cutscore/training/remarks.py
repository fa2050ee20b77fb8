"""What is to be said of a fit besides its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._interval import Interval
from cutscore._names import worded
from cutscore._rows import Flags, Floats
from cutscore._sweep import Sweep, far_ends, sweep
from cutscore.decision import OperatingPoint, against_trivial
from cutscore.detector.columns import NumberColumn
from cutscore.errors import DataError
from cutscore.linear.detector import Fit
from cutscore.objectives import as_objective
from cutscore.training.comparing import Question
from cutscore.training.data import Data, column_of

# Fewer rows of a class than this make all numbers vague.
_FEW = 50
# One feature alone that ranks the classes so well is likely to know the outcome.
_LEAK = 0.99
# Rows of each class on which features are looked at first; one that leaks does so there too, about.
_LOOK = 5_000
_SUSPECT = _LEAK - 0.02
# By so much the AUC over all folds may be lower than within them.
_APART = 0.02
# A rank correlation with the order of the rows from which on a column follows it.
_RISING = 0.98
# A column with fewer values has no order.
_VALUES = 12


def learned_nothing(name: str, question: Question) -> DataError:
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


def apart(data: Data, fold: NDArray[np.intp], scores: Floats, auc: float) -> list[str]:
    """What to say if scores of different folds can't be laid together, though on one scale."""
    within = []
    for k in range(int(fold.max()) + 1):
        at = np.flatnonzero(fold == k)
        if data.y[at].any() and not data.y[at].all():  # units may bring one class alone
            weight = None if data.weight is None else data.weight[at]
            within.append(sweep(data.y[at], scores[at], weight).auc)
    mean = float(np.mean(within)) if within else auc
    if mean - auc <= _APART:
        return []
    return [
        f"The AUC is {mean:.4f} within folds and {auc:.4f} over all of them: lines fitted to a "
        "few other rows differ so much that a threshold of one is none for the next. More rows, or "
        "fewer columns, would steady them."
    ]


def useless(s: Sweep, auc: Interval | None, point: OperatingPoint) -> list[str]:
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
    elif doubt := against_trivial(point):
        out.append(f"At these costs the detector is {doubt}.")
    return out


def unfinished(name: str, fit: Fit) -> list[str]:
    """What to say of a learner that did not get to the end; the perceptron has none."""
    if fit.converged or name == "perceptron":
        return []
    return [f"{name} stopped before it was done: its weights are not the best ones yet."]


def warnings_of(data: Data, s: Sweep) -> list[str]:
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
    return out + _odd(data)


def _odd(data: Data) -> list[str]:
    """What to say of numbers that follow the order of the rows, or have a value far off."""
    if data.raw:
        return []
    n = len(data.y)
    # Of many columns fewer rows: what there is to see is seen there too.
    most = min(n, 2 * _LOOK if data.features <= 1000 else _LOOK // 5)
    X = data.some(np.unique(np.linspace(0, n - 1, most).astype(np.intp)))
    X = X if isinstance(X, np.ndarray) else X.tocsc()
    rising, far = [], []
    for column, place in zip(data.encoding.columns, data.encoding.places, strict=True):
        if not isinstance(column, NumberColumn):
            continue
        x = column_of(X, place.start)
        if column.missing:
            x = x[~(column_of(X, place.start + 1) > 0)]
        values, own, count = np.unique(x, return_inverse=True, return_counts=True)
        if len(values) < _VALUES:
            continue
        # Those that are alike share the mean of their ranks.
        rank = (np.cumsum(count) - count / 2)[own]
        if abs(np.corrcoef(rank, np.arange(len(x)))[0, 1]) >= _RISING:
            rising.append(column.name)
        if column.kind == "number":
            far += _far_off(column, values, count, whole=most == n)
    return (
        _rising([name for name in rising if not any(shown(name) in w for w in data.warnings)]) + far
    )


def _rising(names: list[str]) -> list[str]:
    if not names:
        return []
    options = " ".join(f"--exclude {worded(name)}" for name in names[:4])
    return [
        f"{_and(names)} {'follow' if len(names) > 1 else 'follows'} the order of the rows. If that "
        "is the order of time, new rows lie beyond all that was learned from, and rates need not "
        f"hold there: {options}. Where rows that share a value are alike, such as parts of a "
        "batch, name it as --unit."
    ]


def _and(names: list[str]) -> str:
    some = [shown(name) for name in names[:4]]
    if len(names) > 4:
        return f"{', '.join(some)} and {len(names) - 4:,} more columns"
    return " and ".join(filter(None, (", ".join(some[:-1]), some[-1])))


def _far_off(
    column: NumberColumn, values: Floats, count: NDArray[np.intp], *, whole: bool
) -> list[str]:
    out = []
    for end, *others in far_ends(values, count):
        odd, low, high = (
            f"{column.mean + column.scale * v:.12g}" for v in (values[end], *sorted(values[others]))
        )
        rows = (
            f"{count[end]:,} rows"
            if whole
            else f"{100 * count[end] / count.sum():.2g} % of the rows"
        )
        out.append(
            f"{shown(column.name)} is {odd} in {rows}, far from all others, which are {low} to "
            f"{high}. If it stands for a missing value, say so, as the file writes it: "
            f"--missing={odd}."
        )
    return out


def _leaks(data: Data) -> list[tuple[str, float]]:
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
        if _either(y, column_of(X, j)) < _SUSPECT:
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
