"""What makes the numbers of a fit doubtful, and is not seen in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.findings.base import Finding, Fix
from cutscore.core.findings.training import FoldsApart, Leak
from cutscore.linear.rows import CsrMatrix, Flags, Floats
from cutscore.training.rows import Data, column_of

# One feature alone that ranks the classes so well is likely to know the outcome.
_LEAK = 0.99
# Rows of each class on which features are looked at first; one that leaks does so there too, about.
_LOOK = 5_000
_SUSPECT = _LEAK - 0.02
# By so much the AUC over all folds may be lower than within them.
_APART = 0.02


def fold_gap(data: Data, scores: Floats, auc: float) -> list[Finding]:
    """What to say if scores of different folds can't be laid together, though on one scale."""
    within = []
    for k in range(data.folds):
        at = np.flatnonzero(data.fold == k)
        if data.y[at].any() and not data.y[at].all():  # units may bring one class alone
            within.append(data.auc(scores[at], at))
    mean = float(np.mean(within)) if within else auc
    return [FoldsApart(mean, auc)] if mean - auc > _APART else []


def leaks(data: Data) -> list[Finding]:
    """Features that rank the classes almost alone, by their AUC in the better direction."""
    both = [np.flatnonzero(data.y)[:_LOOK], np.flatnonzero(~data.y)[:_LOOK]]
    at = np.sort(np.concatenate(both))
    X = data.some(at)
    suspects: Any = range(data.features)
    if not isinstance(X, np.ndarray):
        X = X.tocsc()
        suspects = _filled_enough(X, data.y[at]).tolist()
    found: list[Finding] = []
    for j in suspects:
        if _either(data.auc(column_of(X, j), at, weighted=False)) < _SUSPECT:
            continue
        alone = _either(data.auc(data.column(j)))
        if alone >= _LEAK:
            fix = Fix("exclude", data.encoding.column_of(j))
            found.append(Leak(data.encoding.features[j], alone, fixes=(fix,)))
    return found


def _either(auc: float) -> float:
    return max(auc, 1 - auc)


def _filled_enough(X: CsrMatrix, y: Flags) -> NDArray[np.intp]:
    """Columns of a sparse matrix that could rank the classes so well: rows that share the value 0
    are ties, so the AUC is at most 1 − p₀·n₀/2 with the shares of the classes that are 0."""
    stored = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    ones = np.bincount(stored, y[X.indices], X.shape[1])
    all_rows = np.bincount(stored, minlength=X.shape[1])
    p0 = 1 - ones / max(int(y.sum()), 1)
    n0 = 1 - (all_rows - ones) / max(int((~y).sum()), 1)
    return np.flatnonzero(p0 * n0 / 2 <= 1 - _SUSPECT)
