"""Whether two ROC curves are the same everywhere, and not only in their area."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from cutscore.comparison.rows import Bools, Ints, needs_both_classes, read_rows
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import CountsRows
from cutscore.core.html import Card
from cutscore.core.types import Array, ArrayLike, Label
from cutscore.inference.bootstrap import check_samples
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

# As many keys are sorted at once.
_BLOCK = 2**18


@dataclass(frozen=True, slots=True, repr=False)
class CurveTest(Card):
    """Venkatraman's test of two ROC curves.

    Made by :func:`cutscore.compare_curves` and :func:`cutscore.compare_curves_unpaired`.

    Parameters
    ----------
    statistic : float
        E, the distance between the two curves: see the functions.
    p_value : float
        (1 + number of permutations with at least this distance) / (1 + number of permutations).
    n : int
        The number of permutations.
    paired : bool
        Whether the two scores belong to the same rows.
    """

    statistic: float
    p_value: float
    n: int
    paired: bool

    def __repr__(self) -> str:
        words = f"E = {self.statistic:.4g}, p = {self.p_value:.2g}"
        kind = "paired" if self.paired else "unpaired"
        what = "test whether the curves of a and b differ"
        return f"{what}: {words} ({self.n:,} {kind} permutations)"

    def _title(self) -> str:
        return "Test of two ROC curves"


def compare_curves(  # noqa: PLR0913 - all but three are options
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    positive: Label | None = None,
    n: int = 2000,
    seed: int = 0,
) -> CurveTest:
    r"""Test whether two scores on the same rows have the same ROC curve.

    Curves that cross may have the same area, so :func:`cutscore.compare` finds no difference. With
    N rows sorted by a score, let :math:`e(k)` be the number of errors if all but the lowest k are
    flagged. Venkatraman and Begg's distance is

    .. math:: E = \sum_{k=1}^{N-1} |e_a(k) - e_b(k)|.

    It is compared with its values in permutations that swap the two ranks of each row with
    probability ½. Ties are broken at random: those of the scores once, those of swapped ranks in
    each permutation. If many scores are tied, the p-value depends on the ``seed``.

    Parameters
    ----------
    y : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    score_a, score_b : array-like of shape (n,)
        The two scores of each row. They may be on different scales.
    n : int, default 2000
        Number of permutations.
    seed : int, default 0
        Random seed.

    References
    ----------
    Venkatraman & Begg, "A distribution-free procedure for comparing receiver operating
    characteristic curves from a paired experiment", Biometrika 83 (1996).
    https://doi.org/10.1093/biomet/83.4.835

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> a = rng.normal(size=300) + 1.5 * y
    >>> b = rng.normal(size=300) * (1 + 3 * y) + 3.5 * y  # crosses the curve of a
    >>> cs.compare_curves(y, a, b)
    test whether the curves of a and b differ: E = 4896, p = 0.0015 (2,000 paired permutations)
    >>> cs.compare(y, a, b).p_value > 0.05
    True
    """
    rows = read_rows(y, {"score_a": score_a, "score_b": score_b}, None, positive)
    needs_both_classes(rows, "a test of curves")
    rng = np.random.default_rng(check_seed(seed))
    rank = np.stack([_random_ranks(s, rng) for s in rows.scores])
    found = _distances(rank[:1], rank[1:], rows.ones)[0]

    def permute(size: int) -> Floats:
        swap = rng.random((size, len(rows.ones))) < 0.5
        a, b = (
            np.where(swap, other, one) + rng.random(swap.shape) for one, other in (rank, rank[::-1])
        )
        return _distances(a, b, rows.ones).astype(np.float64)

    p_value = _p_value(float(found), permute, check_samples(n), len(rows.ones))
    return CurveTest(float(found), p_value, int(n), paired=True)


def compare_curves_unpaired(a: Sweep, b: Sweep, *, n: int = 2000, seed: int = 0) -> CurveTest:
    r"""Test whether two independent sweeps have the same ROC curve.

    Both samples are weighted to the same share of positives :math:`\kappa`, the share in all rows.
    With p the share of this mixture below a threshold, let :math:`e(p)` be the error rate if
    everything above it is flagged. Venkatraman's distance is

    .. math:: E = \int_0^1 |e_a(p) - e_b(p)| \, dp = 2 \kappa \int_0^1 |F_a(p) - F_b(p)| \, dp,

    where F is the share of positives below the threshold. It is compared with its values in
    permutations that assign the p of the positives, and those of the negatives, to the two samples
    at random. Ties are broken at random: see :func:`cutscore.compare_curves`.

    Parameters
    ----------
    a, b : Sweep
        Sweeps of rows without weights.
    n : int, default 2000
        Number of permutations.
    seed : int, default 0
        Random seed.

    References
    ----------
    Venkatraman, "A permutation test to compare receiver operating characteristic curves",
    Biometrics 56 (2000). https://doi.org/10.1111/j.0006-341X.2000.01134.x

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 2
    >>> a = cs.sweep(y, rng.normal(size=300) + 1.5 * y)
    >>> b = cs.sweep(y, rng.normal(size=300) * (1 + 3 * y) + 3.5 * y)  # crosses the curve of a
    >>> cs.compare_curves_unpaired(a, b, n=500)
    test whether the curves of a and b differ: E = 0.0544, p = 0.004 (500 unpaired permutations)
    """
    for s in (a, b):
        check_sweep(s).needs_both_classes("a test of curves")
        if s.weighted:
            raise UndefinedError(CountsRows("a permutation"))
        s.needs_rows("a test of curves")
    rng, share = np.random.default_rng(check_seed(seed)), (a.P + b.P) / (a.P + b.P + a.N + b.N)
    labels = [_sorted_labels(s, rng) for s in (a, b)]
    # In the middle of what a row takes up: samples may differ in size.
    places = [(x[:-1] + x[1:]) / 2 for x, _ in (_line(ones, share) for ones in labels)]
    found = _area_between(labels[0], labels[1], share)
    # What is permuted: the places of all positives, and those of all negatives.
    stock = [np.concatenate([p[ones == one] for p, ones in zip(places, labels, strict=True)])
             for one in (True, False)]  # fmt: skip

    def permute(size: int) -> Floats:
        out = np.empty(size)
        for k in range(size):
            pos, neg = (rng.permutation(of) for of in stock)
            places = ((pos[: a.P], neg[: a.N]), (pos[a.P :], neg[a.N :]))
            first, second = (
                (np.arange(len(p) + len(q)) < len(p))[_order(np.concatenate((p, q)), rng)]
                for p, q in places
            )
            out[k] = _area_between(first, second, share)
        return out

    p_value = _p_value(found, permute, check_samples(n), sum(map(len, labels)))
    return CurveTest(found, p_value, int(n), paired=False)


def _random_ranks(score: Floats, rng: np.random.Generator) -> Ints:
    """Ranks from 0 on, ties broken at random."""
    rank = np.empty(len(score), np.int64)
    rank[_order(score, rng)] = np.arange(len(score))
    return rank


def _order(key: Array, rng: np.random.Generator) -> Ints:
    """The order of keys, ties broken at random."""
    return np.lexsort((rng.random(len(key)), key))


def _distances(a: Ints, b: Ints, ones: Bools) -> Ints:
    """E of each line of two tables of keys: e(k) is a constant less k plus twice the positives
    among the lowest k, so that E is twice the sum of their differences."""
    below = (np.cumsum(ones[np.argsort(of, axis=1)], axis=1, dtype=np.int32) for of in (a, b))
    total: Ints = 2 * np.abs(np.subtract(*below)).sum(axis=1, dtype=np.int64)
    return total


def _sorted_labels(s: Sweep, rng: np.random.Generator) -> Bools:
    """Which rows are positives, from the lowest score to the highest, ties broken at random."""
    cells = np.stack([s.neg, s.pos], axis=1)[::-1].ravel()
    ones = np.repeat(np.tile([False, True], len(s)), cells)
    at = np.repeat(np.arange(len(s)), (s.pos + s.neg)[::-1])
    ordered: Bools = ones[_order(at, rng)]
    return ordered


def _line(ones: Bools, share: float) -> tuple[Floats, Floats]:
    """F as a function of p: the places in a mixture with that share of positives up to which rows
    reach, and the shares of positives up to there. Both start at 0."""
    pos = np.cumsum(ones) / np.count_nonzero(ones)
    neg = np.cumsum(~ones) / np.count_nonzero(~ones)
    return np.concatenate(([0.0], share * pos + (1 - share) * neg)), np.concatenate(([0.0], pos))


def _area_between(a: Bools, b: Bools, share: float) -> float:
    """2κ ∫ |F_a − F_b| dp, of two broken lines that may cross."""
    (x, f), (z, g) = _line(a, share), _line(b, share)
    grid = np.union1d(x, z)
    gap = np.interp(grid, x, f) - np.interp(grid, z, g)
    left, right, width = gap[:-1], gap[1:], np.diff(grid)
    both = np.abs(left) + np.abs(right)
    # Of two triangles where the lines cross: (l² + r²) / 2(l + r).
    crossed = np.divide(left**2 + right**2, both, out=np.zeros(len(both)), where=both > 0)
    return float(share * np.sum(width * np.where(left * right < 0, crossed, both)))


def _p_value(found: float, permute: Callable[[int], Floats], n: int, rows: int) -> float:
    least = found * (1 - 1e-12)  # rounding
    beyond = sum(int(np.count_nonzero(permute(k) >= least)) for k in _blocks(n, rows))
    return (1 + beyond) / (1 + n)


def _blocks(n: int, rows: int) -> Iterator[int]:
    """How many permutations to draw at once."""
    each = max(1, _BLOCK // rows)
    return (min(each, n - first) for first in range(0, n, each))
