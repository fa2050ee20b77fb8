"""DeLong's covariance of AUCs from sweeps and a sample of each class, where rows are too many or
elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from cutscore.comparison.comparison import Comparison, DifferenceTest
from cutscore.comparison.covariance import AucCovariance
from cutscore.core.checks import check_rows
from cutscore.core.types import ArrayLike, Label
from cutscore.inference.placements import sizes_of
from cutscore.sweeps.areas import auc as area_under
from cutscore.sweeps.sweep import Floats, Sweep

# Of a class with more rows than this, the covariance is estimated from so many.
MOST_SAMPLED = 100_000


@dataclass(frozen=True, eq=False)
class ClassSample:
    """A sample of the rows of one class, and how many rows it stands for.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> from cutscore.report import ClassSample, summarise_sweeps
    >>> new, old = [[9, 7, 8, 5], [2, 4, 6, 1]], [[7, 5, 6, 2], [4, 3, 6, 1]]
    >>> y = [1] * 4 + [0] * 4
    >>> sweeps = {"new": cs.sweep(y, new[0] + new[1]), "old": cs.sweep(y, old[0] + old[1])}
    >>> samples = tuple(
    ...     ClassSample(k == 0, {"new": np.array(new[k]), "old": np.array(old[k])}, None, 4, 12.0)
    ...     for k in range(2)
    ... )
    >>> round(summarise_sweeps(sweeps, samples=samples).differences[0].p_value, 2)
    0.2
    """

    positive: bool
    scores: Mapping[str, Floats]
    weight: Floats | None
    n: int
    """How many rows of the class there are,"""
    pairs: float
    """and W² − Σw² of all of them, in the unit of the weights: n(n − 1) if there are none."""

    def negated(self, names: Collection[str]) -> ClassSample:
        """The same rows with these scores negated."""
        scores = {name: 0.0 - x if name in names else x for name, x in self.scores.items()}
        return replace(self, scores=scores)

    def covariance(self, sweeps: Mapping[str, Sweep]) -> Floats:
        """What this class adds to the covariance of the AUCs."""
        v = np.stack([self._placements(self.scores[name], s) for name, s in sweeps.items()])
        if not self.pairs > 0:
            return np.zeros((len(v), len(v)))
        w = np.ones(v.shape[1]) if self.weight is None else self.weight
        d = w * (v - np.average(v, axis=1, weights=w)[:, None])
        # Not d @ d.T: its rounding depends on the threads of the BLAS.
        sums = np.array([[np.sum(x * y) for x in d] for y in d])
        return np.asarray(self.n / v.shape[1] * sums / self.pairs)

    def _placements(self, score: Floats, s: Sweep) -> Floats:
        """The share of the other class that each row ranks right against: looked up in the sweep,
        nothing is sorted again."""
        # In order, so that neighbours look in the same place.
        distinct, back = np.unique(score, return_inverse=True)
        cut = s.cuts(distinct)
        (tp, fp), (above_tp, above_fp) = s.flagged(cut), s.flagged(cut - 1)
        if self.positive:
            return np.asarray(((s.N - fp) + 0.5 * (fp - above_fp)) / s.N)[back]
        return np.asarray((tp - 0.5 * (tp - above_tp)) / s.P)[back]


def sample_classes(
    y: ArrayLike, columns: Mapping[str, Any], weight: ArrayLike | None, positive: Label | None
) -> tuple[ClassSample, ClassSample]:
    """At most ``MOST_SAMPLED`` rows of each class, with all of their scores."""
    rows = {name: check_rows(y, column, weight, positive) for name, column in columns.items()}
    one = next(iter(rows.values()))
    ones = np.asarray(one.label == one.positive)
    both = []
    for own, is_positive in ((ones, True), (~ones, False)):
        at = np.flatnonzero(own if one.weight is None else own & (one.weight > 0))
        n, w = len(at), None
        pairs = float(n * (n - 1))
        if one.weight is not None:
            w = one.weight[at] / one.weight[at].max()  # they will be squared
            pairs = float(w.sum() ** 2 - np.square(w).sum())
        if n > MOST_SAMPLED:
            some = np.random.default_rng(0).choice(n, MOST_SAMPLED, replace=False, shuffle=False)
            at, w = at[some], None if w is None else w[some]
        scores = {name: rows[name].score[at].astype(np.float64) for name in columns}
        both.append(ClassSample(is_positive, scores, w, n, pairs))
    return both[0], both[1]


def sampled_covariance(
    sweeps: Mapping[str, Sweep], samples: tuple[ClassSample, ClassSample]
) -> AucCovariance:
    """DeLong's covariance of the AUCs of sweeps of the same rows; see
    :func:`cutscore.auc_covariance`.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.comparison.class_samples import sample_classes, sampled_covariance
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"new": [9, 7, 8, 5, 2, 4, 6, 1], "old": [7, 5, 6, 2, 4, 3, 6, 1]}
    >>> sweeps = {name: cs.sweep(y, column) for name, column in scores.items()}
    >>> sampled_covariance(sweeps, sample_classes(y, scores, None, None))
    AUC ± standard error: new 0.9375 ± 0.088, old 0.7188 ± 0.21
    """
    auc = np.array([s.auc for s in sweeps.values()])
    sizes = sizes_of(next(iter(sweeps.values())), "a comparison")
    covariance = samples[0].covariance(sweeps) + samples[1].covariance(sweeps)
    return AucCovariance(auc, covariance, tuple(sweeps), sizes, sizes, np.ones(len(auc)))


def auc_difference(c: AucCovariance, a: Label, b: Label, *, level: float) -> Comparison:
    """The difference of two of the AUCs, tested as by :func:`cutscore.compare`."""
    j, k, v = c.names.index(a), c.names.index(b), c.covariance
    error = sqrt(max(0.0, float(v[j, j] + v[k, k] - 2 * v[j, k])))
    test = DifferenceTest(area_under, "auc", level, (str(a), str(b)))
    return test.result(float(c.auc[j]), float(c.auc[k]), error, "t", min(c.sizes) - 1)
