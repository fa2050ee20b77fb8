"""Net benefit at given threshold probabilities, with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutscore.core.checks import as_array
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.frozen import Frozen
from cutscore.core.types import ArrayLike
from cutscore.inference.placements import effective
from cutscore.inference.rates import wilson
from cutscore.inference.selection import Expected
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.proper_scores import check_probabilities
from cutscore.sweeps.sweep import Floats, Sweep


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Frozen):
    """Several values with their confidence intervals.

    Parameters
    ----------
    value, low, high : array of float
        The values, and the ends of their intervals. ``estimates[k]`` has the k-th of each.
    level : float
        The confidence of each interval by itself.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.1], [30, 10], [20, 140])
    >>> found = cs.net_benefit_at(s, [0.2, 0.5]).net_benefit
    >>> found[1], round(found[1].low, 4)
    (0.050 (95 % CI −0.020 to 0.120), -0.0198)
    """

    value: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, k: int) -> Expected:
        return Expected(float(self.value[k]), float(self.low[k]), float(self.high[k]), self.level)

    def __iter__(self) -> Iterator[Expected]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        shown_ = ", ".join(map(repr, (self[k] for k in range(min(3, len(self))))))
        return f"{shown_}, …" if len(self) > 3 else shown_


@dataclass(frozen=True, eq=False, repr=False)
class NetBenefitAt(Frozen):
    """Net benefit at threshold probabilities; made by :func:`cutscore.net_benefit_at`.

    Parameters
    ----------
    threshold : array of float
        The requested threshold probabilities.
    net_benefit : Estimates
        The net benefit of flagging all cases with at least that probability.
    flag_all : Estimates
        The net benefit of flagging everything. (For flagging nothing it is 0.)
    avoided : Estimates
        The reduction in false alarms per 100 cases compared with flagging everything, net of missed
        positives; nan at a threshold of 0, where a miss outweighs any number of false alarms.
    prior : float
        The share of positives.
    """

    threshold: Floats
    net_benefit: Estimates
    flag_all: Estimates
    avoided: Estimates
    prior: float

    @property
    def standardized(self) -> Floats:
        """Net benefit as a share of the highest possible value, the prevalence."""
        return np.asarray(self.net_benefit.value / self.prior)

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        rows = [
            f"at {t:g}: net benefit {own!r}, flag all {every.value:.3g}"
            for t, own, every in zip(self.threshold, self.net_benefit, self.flag_all, strict=True)
        ]
        return "\n".join([*rows[:10], "…"] if len(rows) > 10 else rows)

    def _title(self) -> str:
        return f"Net benefit at a prevalence of {100 * self.prior:.3g} %"


def net_benefit_at(
    s: Sweep, at: ArrayLike, *, prior: float | None = None, level: float = 0.95
) -> NetBenefitAt:
    r"""Net benefit at given threshold probabilities, with confidence intervals.

    A decision maker who acts at a probability of t or more values a false alarm at t/(1 − t) caught
    positives:

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{t}{1 - t} \cdot \frac{\mathrm{FP}}{n},
              \qquad \text{or with a prior} \quad
              \pi \, \mathrm{TPR} - \frac{t}{1 - t} (1 - \pi) \, \mathrm{FPR}.

    Parameters
    ----------
    s : Sweep
        A sweep whose scores are probabilities. Weighted rows need ``sweep(..., squares=True)``.
    at : float or array-like
        Threshold probabilities, from 0 to less than 1, in any order: a number or several.
    prior : float, optional
        The prevalence where decisions are made, treated as known; needed for case-control samples,
        whose own prevalence is arbitrary. Default: the prevalence of the sweep, treated as an
        estimate.
    level : float, default 0.95
        The confidence of each interval.

    Returns
    -------
    NetBenefitAt
        ``net_benefit``, ``flag_all`` and ``avoided``, each with ``value``, ``low`` and ``high``.

    Notes
    -----
    Intervals combine Wilson's intervals for the two shares (Zou and Donner's method), with their
    correlation if both are shares of the same rows. They cover 93 to 98 %, and more if almost
    nothing is flagged, where ± z standard errors covers as little as 61 %. See the page
    *Validation*.

    References
    ----------
    Vickers & Elkin, "Decision curve analysis", Medical Decision Making 26 (2006).
    https://doi.org/10.1177/0272989X06295361. Zou & Donner, "Construction of confidence limits about
    effect measures: A general approach", Statistics in Medicine 27 (2008).
    https://doi.org/10.1002/sim.3095

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.6, 0.3, 0.05], [40, 35, 30], [20, 125, 500])
    >>> found = cs.net_benefit_at(s, [0.05, 0.1, 0.2])
    >>> found
    at 0.05: net benefit 0.0947 (95 % CI 0.0705–0.1228), flag all 0.0947
    at 0.1: net benefit 0.0785 (95 % CI 0.0582–0.1027), flag all 0.0444
    at 0.2: net benefit 0.0517 (95 % CI 0.0297–0.0772), flag all -0.075
    >>> found.avoided[2], found.standardized.round(3)
    (50.7 (95 % CI 42.4–57.2), array([0.677, 0.561, 0.369]))
    """
    level = check_level(level)
    t = check_probability_thresholds(at)
    check_probabilities(s, "net benefit")
    s.needs_both_classes("net benefit")
    p = s.prevalence if prior is None else check_prior(prior)
    cells = [s.at(one) for one in t.tolist()]
    tp, fp = (np.array([getattr(c, name) for c in cells], np.float64) for name in ("tp", "fp"))
    pos2, neg2 = (float(mass.sum()) for mass in s.squares("the interval of net benefit"))
    if prior is None:  # shares of all rows
        of_pos = of_neg = _Whole(s.P + s.N, 1.0, effective(s.P + s.N, pos2 + neg2))
    else:  # of either class
        of_pos = _Whole(s.P, p, effective(s.P, pos2))
        of_neg = _Whole(s.N, 1 - p, effective(s.N, neg2))
    rate = t / (1 - t)
    own = _subtract(_Term(of_pos, 1.0, tp), _Term(of_neg, rate, fp), level)
    P, N = s.P + 0 * rate, s.N + 0 * rate
    every = _subtract(_Term(of_pos, 1.0, P), _Term(of_neg, rate, N), level)
    if prior is not None:  # nothing is estimated
        every = Estimates(every.value, every.value, every.value, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        avoided = _subtract(_Term(of_neg, 100.0, N - fp), _Term(of_pos, 100 / rate, P - tp), level)
    return NetBenefitAt(t, own, every, avoided, p)


class _Whole(NamedTuple):
    """What a share is of: its mass, the weight it has in a case, and as how many rows it counts."""

    mass: float
    weight: float
    rows: float


class _Term(NamedTuple):
    """A coefficient times a part of a whole."""

    whole: _Whole
    by: Any
    part: Floats

    def bounds(self, level: float) -> tuple[Floats, Floats, Floats, Floats]:
        """The share, the term, and how far Wilson's interval lets it be lower and higher."""
        mass, weight, rows = self.whole
        share = self.part / mass
        low, high = np.vectorize(wilson, otypes=[float, float])(share * rows, rows, level)
        by = self.by * weight
        return share, by * share, by * (share - low), by * (high - share)


def check_probability_thresholds(at: ArrayLike) -> Floats:
    """Threshold probabilities as an array of their own."""
    t = np.atleast_1d(as_array(at, "at"))
    if t.dtype.kind not in "biuf" or t.ndim != 1:
        raise DataError(BadArgument("at", "be threshold probabilities, one or several", at))
    t = t.astype(np.float64)
    inside = (t >= 0) & (t < 1)
    if not inside.all():
        rule, one = "be at least 0 and less than 1", float(t[np.argmin(inside)])
        raise DataError(BadArgument("at", rule, one, subject="a threshold probability"))
    return t


def _subtract(first: _Term, second: _Term, level: float) -> Estimates:
    """One term less another, with Zou and Donner's interval."""
    p, x, x_below, x_above = first.bounds(level)
    q, y, y_below, y_above = second.bounds(level)
    # Shares of the same rows: what is in one of them is not in the other.
    same = first.whole is second.whole
    r = -np.sqrt(np.minimum(_odds(p) * _odds(q), 1.0)) if same else 0.0
    low, high = (
        x - y - _combine_errors(x_below, y_above, r),
        x - y + _combine_errors(x_above, y_below, r),
    )
    return Estimates(x - y, low, high, level)


def _combine_errors(a: Floats, b: Floats, r: Floats | float) -> Floats:
    return np.asarray(np.sqrt(np.maximum(a * a + b * b - 2 * r * a * b, 0.0)))


def _odds(share: Floats) -> Floats:
    return np.asarray(share / np.maximum(1 - share, np.finfo(np.float64).tiny))
