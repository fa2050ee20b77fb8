"""Intervals of rates and other measures at a threshold."""

from __future__ import annotations

from math import inf, log, sqrt
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from cutscore.core.checks import check_threshold, one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import Undefined
from cutscore.core.interval import Interval
from cutscore.inference.auc import auc_interval
from cutscore.inference.bootstrap import percentiles
from cutscore.inference.placements import effective
from cutscore.measures.aim import GoalLike, Top, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.prior import check_level, check_prior
from cutscore.measures.registry import Measure, Objective
from cutscore.sweeps.sweep import Sweep, check_sweep

# Ratios of two rates: those rates, the first of positives and the second of negatives.
_RATIOS = {"lr_positive": ("recall", "fpr"), "lr_negative": ("fnr", "specificity")}


class HasThreshold(Protocol):
    """An operating point."""

    @property
    def threshold(self) -> float: ...


def interval(  # noqa: PLR0913 - options have names
    s: Sweep,
    measure: GoalLike,
    *,
    at: float | HasThreshold | None = None,
    prior: float | None = None,
    level: float = 0.95,
    method: str | None = None,
) -> Interval:
    """Confidence interval for a measure at a given threshold.

    Parameters
    ----------
    s : Sweep
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``.
    measure : str, Costs or callable
        The name of a measure, ``Costs``, ``f(beta)`` or a function of (tp, fp, fn, tn); or "auc".
    at : float or OperatingPoint, optional
        A threshold, or an operating point. If the threshold was chosen on the same rows, the
        interval ignores that choice: use ``OperatingPoint.expect`` instead.
    prior : float, optional
        The prevalence where decisions are made, for measures that depend on it. Default: the prior
        of the operating point.
    level : float, default 0.95
        Confidence level.
    method : str, optional
        For rates (recall, fnr, fpr, specificity, precision and flagged_rate): ``"wilson"``, the
        default, or ``"clopper-pearson"``, which never under-covers and is wider. For "auc", the
        methods of :func:`cutscore.auc_interval`. Likelihood ratios have the interval of their
        logarithm (Simel, Samsa & Matchar). All other measures, and likelihood ratios with a rate of
        0 or 1, have the percentiles of 10,000 draws of TPR and FPR, each from Jeffreys'
        distribution Beta(k + ½, n − k + ½), which does not treat a rate of 0 as exact.

        The thresholds -inf and +inf flag everything and nothing on any rows, so TPR, FPR and the
        share flagged are known exactly there. Measures that depend on the prevalence are not.

    References
    ----------
    Simel, Samsa & Matchar, "Likelihood ratios with confidence: sample size estimation for
    diagnostic test studies", Journal of Clinical Epidemiology 44 (1991).
    https://doi.org/10.1016/0895-4356(91)90128-V

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    >>> cs.interval(s, "recall", at=0.9)
    [0.639581, 0.947631] at 95 %
    >>> cs.interval(s, "recall", at=0.9, method="clopper-pearson")
    [0.621073, 0.967929] at 95 %

    At several thresholds:

    >>> [cs.interval(s, "recall", at=t) for t in (0.9, 0.5)]
    [[0.639581, 0.947631] at 95 %, [0.763869, 0.991119] at 95 %]

    Flagging everything catches all positives; the precision still has an interval:

    >>> cs.interval(s, "recall", at=-float("inf")), cs.interval(s, "precision", at=-float("inf"))
    ([1, 1] at 95 %, [0.00129511, 0.00308735] at 95 %)
    """
    level = check_level(level)
    check_sweep(s)
    if prior is None:
        prior = getattr(getattr(at, "question", None), "prior", None)
    prior = None if prior is None else check_prior(prior)
    if isinstance(measure, str) and measure == "auc":
        return auc_interval(s, level=level, method=method or "score")
    if at is None:
        raise DataError(BadArgument("at", "be a threshold or an operating point", at))
    if isinstance(at, (list, tuple)) or getattr(at, "ndim", 0) > 0:
        hint = "For several, use [interval(s, measure, at=t) for t in thresholds]."
        raise DataError(BadArgument("at", "be one threshold", at, hint))
    goal = as_objective(measure)
    goal = goal.measure if isinstance(goal, Top) else goal
    threshold = check_threshold(getattr(at, "threshold", at))
    c = s.at(threshold)
    rows = _rows_at(s, threshold) if s.weighted else c
    by_rule = threshold == -inf or (threshold == inf and not c.flagged)
    if isinstance(goal, Measure) and goal.binomial and (prior is None or goal.prior_free):
        return _share(goal, c, rows, level, method or "wilson", by_rule=by_rule)
    if method is not None:
        rule = f"be omitted for {goal.name}, which is not a share of counted rows"
        raise DataError(BadArgument("method", rule, method))
    if isinstance(goal, Measure) and goal.name in _RATIOS:
        part, whole = (getattr(c, rate) for rate in _RATIOS[goal.name])
        if 0 < part < 1 and 0 < whole < 1:
            return _log_ratio(part, whole, c, rows, level)
    return _simulate(goal, c, rows, level, prior, by_rule=by_rule)


def _no_interval(name: str) -> UndefinedError:
    return UndefinedError(
        Undefined(f"the {name}", "is 0/0 at this threshold, so it has no interval")
    )


def _rows_at(s: Sweep, threshold: float) -> Confusion:
    """Sums of squared weights in the four cells."""
    pos2, neg2 = s.squares("an interval")
    return Sweep(s.threshold, pos2, neg2, top=s.top).at(threshold)


def _share(  # noqa: PLR0913 - what the two formulas need
    of: Measure, c: Confusion, rows: Confusion, level: float, method: str, *, by_rule: bool
) -> Interval:
    one_of("method", method, ("wilson", "clopper-pearson"))
    part, whole = of.sums(c)
    if not of.sums(rows)[1] > 0:
        raise _no_interval(of.name)
    if by_rule and of.name != "precision":  # which is the share of positives there
        return Interval(float(part / whole), float(part / whole), level)
    n = whole if rows is c else _as_many(of, c, rows)
    k = part if rows is c else part / whole * n
    low, high = (wilson if method == "wilson" else clopper_pearson)(k, n, level)
    return Interval(low, high, level)


def _as_many(of: Measure, c: Confusion, rows: Confusion) -> float:
    """How many equally weighted rows say as much about a share of weighted ones.

    Rows of one class weigh differently by chance: Kish's number. A share of both, a/(a + b), has
    the variance (a₂b² + b₂a²)/(a + b)⁴ with sums of squares a₂ and b₂, which is p(1 − p)/n for n
    equal rows: where negatives were undersampled, each of their rows weighs more. In a cell without
    rows, a row would weigh what those of its class do: n = (a + b)/w.
    """
    (a, whole), (a2, whole2) = of.sums(c), of.sums(rows)
    if of.of_class is not None:
        return effective(whole, whole2)
    b, b2 = whole - a, whole2 - a2
    if a > 0 and b > 0:
        p, q = a / whole, b / whole
        return float(p * q / (a2 / whole / whole * q * q + b2 / whole / whole * p * p))
    missing = "total"
    if of.name == "precision":
        missing = "negatives" if a > 0 else "positives"
    mass, squares = getattr(c, missing), getattr(rows, missing)
    return float(whole / (squares / mass)) if squares > 0 else effective(whole, whole2)


def _log_ratio(part: float, whole: float, c: Confusion, rows: Confusion, level: float) -> Interval:
    """exp(ln r ± z σ), where σ² = (1 − part) / (P part) + (1 − whole) / (N whole)."""
    P, N = effective(c.positives, rows.positives), effective(c.negatives, rows.negatives)
    spread = sqrt((1 - part) / (P * part) + (1 - whole) / (N * whole))
    middle, half = log(part / whole), NormalDist().inv_cdf((1 + level) / 2) * spread
    with np.errstate(over="ignore"):  # a rate of next to no weight may be anything
        low, high = np.exp([middle - half, middle + half]).tolist()
    return Interval(low, high, level)


def wilson(k: float, n: float, level: float) -> tuple[float, float]:
    """Wilson's interval of a share, of which k of n rows were seen."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, more = k / n, z * z / n
    middle = (share + more / 2) / (1 + more)
    half = z * sqrt((share * (1 - share) + more / 4) / n) / (1 + more)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if k == 0 else low), (1.0 if k == n else high)


def clopper_pearson(k: float, n: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of a share."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k > 0 else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return low, high


def _simulate(  # noqa: PLR0913 - the formula's numbers
    goal: Objective,
    c: Confusion,
    rows: Confusion,
    level: float,
    prior: float | None,
    *,
    by_rule: bool,
) -> Interval:
    here = float(goal(c if prior is None else c.deployed(prior)))
    if np.isnan(here):
        raise _no_interval(goal.name)
    if by_rule and prior is not None:
        return Interval(here, here, level)
    rng = np.random.default_rng(0)
    P, N = c.positives, c.negatives
    if by_rule:  # all are flagged, or none is, on any rows
        recall = fpr = float(c.flagged > 0)
    else:
        recall = _draw_rates(rng, c.tp, P, rows.positives)
        fpr = _draw_rates(rng, c.fp, N, rows.negatives)
    if prior is None and (by_rule or (P and N)):
        # So is the share of positives, if nobody has said what it is.
        P = c.total * _draw_rates(rng, P, c.total, rows.total)
        N = c.total - P
    tp, fp = recall * P, fpr * N
    many = Confusion(tp, fp, P - tp, N - fp)
    values = goal(many if prior is None else many.deployed(prior))
    low, high = percentiles(values[~np.isnan(values)], level)
    return Interval(min(low, here), max(high, here), level)


def _draw_rates(rng: np.random.Generator, part: float, whole: float, squares: float) -> Any:
    """The share of a class, as it might be in truth; of counts the squares are the counts."""
    if not whole:
        return np.zeros(10_000)
    share, rows = part / whole, effective(whole, squares)
    return rng.beta(share * rows + 0.5, (1 - share) * rows + 0.5, 10_000)
