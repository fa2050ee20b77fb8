"""The difference of two models' net benefits on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from cutscore.comparison.rows import Bools, ScoredRows, needs_both_classes, read_rows
from cutscore.core.errors import DataError
from cutscore.core.findings.statistics import NotProbabilities
from cutscore.core.frozen import Frozen
from cutscore.core.types import ArrayLike, Label
from cutscore.inference.net_benefit import Estimates, check_probability_thresholds
from cutscore.inference.placements import effective
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.sweep import Floats


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefitDifference(Frozen):
    """Two models' net benefits at threshold probabilities; made by
    :func:`cutscore.compare_net_benefit`.

    Parameters
    ----------
    threshold : array of float
        The requested threshold probabilities.
    a, b : array of float
        The net benefit of each model.
    difference : Estimates
        a − b, with intervals.
    """

    threshold: Floats
    a: Floats
    b: Floats
    difference: Estimates

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        columns = zip(self.threshold, self.a, self.b, self.difference, strict=True)
        rows = [f"at {t:g}: a {a:.4g}, b {b:.4g}, difference {d!r}" for t, a, b, d in columns]
        return "\n".join([*rows[:10], "…"] if len(rows) > 10 else rows)


def compare_net_benefit(  # noqa: PLR0913 - all but four are options
    y: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    at: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    prior: float | None = None,
    level: float = 0.95,
) -> NetBenefitDifference:
    r"""The difference of two models' net benefits on the same rows, with confidence intervals.

    Only rows that exactly one of the models flags make a difference. With :math:`u_a, u_b` such
    positives and :math:`v_a, v_b` such negatives,

    .. math:: \mathrm{NB}_a - \mathrm{NB}_b
              = \frac{u_a - u_b}{n} - \frac{t}{1 - t} \cdot \frac{v_a - v_b}{n}.

    Parameters
    ----------
    y : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    weight : array-like of shape (n,), optional
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    a, b : array-like of shape (n,)
        The probabilities that each model assigns to the rows.
    at : float or array-like
        Threshold probabilities, from 0 to less than 1: a number or several.
    prior : float, optional
        The prevalence where decisions are made, treated as known. Default: the prevalence of the
        rows, treated as an estimate.
    level : float, default 0.95
        The confidence of each interval.

    Returns
    -------
    NetBenefitDifference

    Notes
    -----
    The interval is ± z standard errors after half a row is added to each of the four counts, as
    Bonett and Price do with two, so an observed count of 0 is not treated as exact. It covers 94 %
    or more, and up to 100 % if the models disagree on only a handful of rows; see the page
    *Validation*. Weighted rows count as (Σw)²/Σw² rows.

    References
    ----------
    Bonett & Price, "Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data", Journal of Educational and Behavioral Statistics 37 (2012).
    https://doi.org/10.3102/1076998611411915

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(-2, 1.5, 1000)
    >>> y = rng.random(1000) < 1 / (1 + np.exp(-odds))
    >>> new = 1 / (1 + np.exp(-odds))
    >>> old = 1 / (1 + np.exp(1.5 - 0.5 * (odds + rng.normal(size=1000))))
    >>> cs.compare_net_benefit(y, new, old, [0.1, 0.3])
    at 0.1: a 0.1277, b 0.09411, difference 0.0336 (95 % CI 0.0187–0.0483)
    at 0.3: a 0.04586, b 0.008714, difference 0.0371 (95 % CI 0.0177–0.0564)
    """
    level = check_level(level)
    t = check_probability_thresholds(at)
    share = None if prior is None else check_prior(prior)
    rows = read_rows(y, {"a": a, "b": b}, weight, positive)
    _check(rows)
    classes = [_Class.of(rows, which, t) for which in (rows.ones, ~rows.ones)]
    if share is None:  # shares of all rows
        mass, squares = (sum(getattr(c, name) for c in classes) for name in ("mass", "squares"))
        gains = [1.0 / mass + 0 * t, -t / (1 - t) / mass]
        groups = [(classes, gains, mass, effective(mass, squares))]
    else:  # of either class
        gains = [share / classes[0].mass + 0 * t, -t / (1 - t) * (1 - share) / classes[1].mass]
        groups = [
            ([c], [gain], c.mass, effective(c.mass, c.squares))
            for c, gain in zip(classes, gains, strict=True)
        ]
    nb_a, nb_b = (
        sum(g * c.flagged[k] for c, g in zip(classes, gains, strict=True)) for k in (0, 1)
    )
    middle, variance = np.sum([_moments(*group) for group in groups], axis=0)
    half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variance)
    value = nb_a - nb_b
    low, high = np.minimum(middle - half, value), np.maximum(middle + half, value)
    return NetBenefitDifference(t, nb_a, nb_b, Estimates(value, low, high, level))


class _Class(NamedTuple):
    """The mass of a class and its squared weights; and at each threshold the mass that a flags,
    that b flags, that only a does and that only b does."""

    mass: float
    squares: float
    flagged: Floats

    @classmethod
    def of(cls, rows: ScoredRows, which: Bools, at: Floats) -> _Class:
        w = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
        w, (a, b) = w[which], (score[which] for score in rows.scores)
        flagged = []
        for t in at:
            by_a, by_b = a >= t, b >= t
            kinds = (by_a, by_b, by_a & ~by_b, by_b & ~by_a)
            flagged.append([float(w[kind].sum()) for kind in kinds])
        mass, squares = float(w.sum()), float(np.square(w).sum())
        return cls(mass, squares, np.array(flagged).reshape(-1, 4).T)


def _moments(classes: list[_Class], gains: list[Floats], mass: float, n: float) -> Floats:
    """Mean and variance of what rows of these classes contribute to the difference, with half a row
    more of each kind on which the models disagree; the mass counts as n rows."""
    cells = np.concatenate([c.flagged[2:] for c in classes]) * (n / mass) + 0.5
    worth = np.concatenate([[gain * mass, -gain * mass] for gain in gains])
    total = n + len(cells) / 2
    mean = np.sum(worth * cells, axis=0) / total
    return np.stack((mean, (np.sum(worth**2 * cells, axis=0) / total - mean**2) / total))


def _check(rows: ScoredRows) -> None:
    for name, score in zip("ab", rows.scores, strict=True):
        bad = (score < 0) | (score > 1)
        if bad.any():
            found = NotProbabilities(
                "net benefit", float(score[bad][0]), hint="Calibrate the scores first."
            )
            raise DataError(found.at(part=name))
    needs_both_classes(rows, "net benefit")
