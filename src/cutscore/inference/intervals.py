"""How sure: intervals of the AUC, of rates, of any function of a sweep, and of the whole curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import check_threshold, one_of, threads
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import TooFew, Undefined
from cutscore.core.frozen import Frozen
from cutscore.core.interval import Interval
from cutscore.measures.aim import Top, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.measure import Measure, Objective
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.areas import PartialAuc, auc
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import EqualRows, Floats, Masses, Sweep, check_sweep

Statistic = Callable[[Sweep], float]


def auc_variance(s: Sweep) -> float:
    r"""DeLong's variance of the AUC, from the placements of each class among the other.

    :math:`\mathrm{var} = \frac{1}{P(P-1)} \sum_i (V_i - A)^2 + \frac{1}{N(N-1)} \sum_j (V_j - A)^2`
    where :math:`V` is the share of the other class that a row is on the right side of, ties one
    half. From counts it is a fraction of two integers, rounded once. With weights, squares of
    weights stand in the sums, and (ΣW)²/Σw² for the number of rows.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves", Biometrics 44 (1988). https://doi.org/10.2307/2531595

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.auc_variance(cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]))
    0.041666666666666664
    """
    check_sweep(s).needs_both_classes("the variance of the AUC")
    rows_pos, rows_neg = sizes_of(s, "the variance of the AUC")
    if not (rows_pos > 1 and rows_neg > 1):
        of, have, hint = "rows of each class", min(rows_pos, rows_neg), "auc_interval(s) needs one."
        raise UndefinedError(TooFew("DeLong's variance", 2, of, float(have), hint))
    P, N = int(s.P), int(s.N)
    # The integers of the native core: P (2N)² in 128 bits and 2PN in 64.
    if not s.weighted and 4 * P * N * max(P, N) < 2**128 and 2 * P * N < 2**64:
        twice, of_pos, of_neg = s.twice_area, 0, 0
        for at in s.parts():
            tp, fp = s.before(at)
            sums = _native.squared_placements(s.pos[at], s.neg[at], int(tp), N - int(fp))
            of_pos, of_neg = of_pos + sums[0], of_neg + sums[1]
        in_pos, in_neg = P * of_pos - twice * twice, N * of_neg - twice * twice
        a, b = P * (P - 1), N * (N - 1)
        return (in_pos * P * b + in_neg * N * a) / (4 * P * P * N * N * a * b)
    pos2, neg2 = s.squares("the variance of the AUC")
    spread_pos = spread_neg = 0.0
    for at, tp, fp in s.running():
        won, lost = _placed(s, at, tp, fp)
        spread_pos += float(np.sum(pos2[at] * (won - s.auc) ** 2))
        spread_neg += float(np.sum(neg2[at] * (lost - s.auc) ** 2))
    spread_pos *= rows_pos / (rows_pos - 1)
    spread_neg *= rows_neg / (rows_neg - 1)
    return spread_pos / s.P / s.P + spread_neg / s.N / s.N


def _placements(s: Sweep) -> tuple[Floats, Floats]:
    """At each score, the share of negatives below it and that of positives above it, ties half."""
    return _placed(s, slice(None), s.tp, s.fp)


def _placed(s: Sweep, at: slice, tp: Masses, fp: Masses) -> tuple[Floats, Floats]:
    return ((s.N - fp) + 0.5 * s.neg[at]) / s.N, (tp - 0.5 * s.pos[at]) / s.P


def partial_placements(s: Sweep, area: PartialAuc) -> tuple[Floats, Floats]:
    """At each score, what a positive and what a negative there add to a partial AUC.

    Of FPRs from c to d: a positive at the FPR u adds the part of [c, d] that is above u, and a
    negative at u adds the TPR at u, or at c or d if u is outside. Both but for a constant, on which
    no variance depends. Rows of equal scores are spread evenly over the line that they make.
    """
    swap = -1 if not area.over_fpr else 1  # TPRs are FPRs of the other class, from the other side
    pos, neg = (s.pos, s.neg)[::swap]
    x, y = (np.concatenate(([0.0], np.cumsum(m[::swap]) / m.sum())) for m in (neg, pos))
    c, d = area.ends if area.over_fpr else (1 - area.ends[1], 1 - area.ends[0])
    lo, hi = x[:-1], x[1:]
    a, b, gap = np.clip(lo, c, d), np.clip(hi, c, d), hi - lo
    # How much of each step is below c, inside and above d.
    parts = np.minimum(hi, c) - np.minimum(lo, c), b - a, np.maximum(hi, d) - np.maximum(lo, d)
    flat = gap <= 0

    def mean(*values: Any) -> Floats:
        total = sum(part * value for part, value in zip(parts, values, strict=True))
        out: Floats = np.divide(total, gap, out=np.zeros(len(gap)), where=~flat)
        return out

    slope = np.divide(np.diff(y), gap, out=np.zeros(len(gap)), where=~flat)
    low, high = (
        _on_curve(x, y, np.array([c]), "right")[0],
        _on_curve(x, y, np.array([d]), "left")[0],
    )
    heights = y[:-1] + slope * ((a + b) / 2 - lo)
    of_pos = d - np.where(flat, a, mean(c, (a + b) / 2, d))
    of_neg = mean(low, heights, high)
    out = area.scale * of_pos[::swap], area.scale * of_neg[::swap]
    return out if area.over_fpr else out[::-1]


def placement_variances(s: Sweep, area: Statistic) -> tuple[float, float]:
    """The sample variances of what the positives and the negatives add to an area: DeLong's
    variance of it is their sum, each over the number of its rows."""
    auc_variance(s)  # whatever that needs
    values = partial_placements(s, area) if isinstance(area, PartialAuc) else _placements(s)
    out = []
    for v, mass, squares in zip(values, (s.pos, s.neg), s.squares("the variance"), strict=True):
        rows, share = effective(mass.sum(), squares.sum()), mass / mass.sum()
        spread = np.sum(squares / squares.sum() * (v - np.sum(share * v)) ** 2)
        out.append(float(spread) * rows / (rows - 1))
    return out[0], out[1]


def area_variance(s: Sweep, area: Statistic) -> float:
    """DeLong's variance of the AUC, or its counterpart for a :class:`cutscore.PartialAuc`."""
    if not isinstance(area, PartialAuc):
        return auc_variance(s)
    variances, sizes = placement_variances(s, area), sizes_of(s, "the variance")
    return variances[0] / sizes[0] + variances[1] / sizes[1]


def effective(mass: float, squares: float) -> float:
    """Kish's number of equally weighted rows that say as much as these: (Σw)² / Σw²."""
    return float(mass * (mass / squares)) if squares > 0 else 0.0


def sizes_of(s: Sweep, what: str) -> tuple[float, float]:
    """As how many equally weighted rows the positives and the negatives count."""
    pos2, neg2 = s.square_totals(what)
    return effective(s.P, pos2), effective(s.N, neg2)


def auc_interval(s: Sweep, *, level: float = 0.95, method: str = "score") -> Interval:
    r"""Confidence interval of the AUC.

    The default holds all AUCs :math:`\theta` that the observed :math:`\hat\theta` does not
    contradict, each judged by the spread that estimates would have if it were true:

    .. math:: |\hat\theta - \theta| \le z \sqrt{v(\theta)}, \qquad
              v(\theta) = (1 - \lambda) \, v_0(\theta)
              + \lambda \, \frac{\theta (1 - \theta)}{\min(P, N)}.

    :math:`v_0` is the variance for two normal distributions of equal spread,

    .. math:: v_0(\theta) = \frac{\theta (1 - \theta) + (P + N - 2) \, \xi}{P N}, \qquad
              \xi = \theta (1 - \theta) - 2 \, T\!\left(\Phi^{-1}(\theta), 1/\sqrt 3\right)

    with Owen's T, and the other end is the largest variance that any two distributions have. The
    data say where between them to be: :math:`\lambda`, from 0 to 1, is such that
    :math:`v(\hat\theta)` is DeLong's variance times :math:`1 + 1/\sqrt{\min(P, N)}`, an allowance
    for the few rows that it is estimated from, chosen by simulation.

    Parameters
    ----------
    s
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``. P and N are the
        effective numbers (Σw)²/Σw² then.
    level
        The confidence.
    method
        ``"score"``: the above. ``"delong"``: the AUC ± z standard errors, cut off at 0 and 1, as
        most software gives it. ``"logit"``: the same on the scale ln(A/(1−A)). ``"newcombe"``: as
        ``"score"``, but with the variance for exponential scores (Hanley & McNeil's) whatever the
        data say. ``"bootstrap"`` and ``"bca"``: 2,000 stratified samples; see
        :func:`cutscore.bootstrap`.

    Returns
    -------
    Interval

    Notes
    -----
    ``"delong"``, ``"logit"`` and the bootstrap cover too little where positives are few and the AUC
    is high, and ``"newcombe"`` where positives are more spread than negatives: see the page
    *Validation*. Where the estimated variance is 0, as with perfectly separated classes,
    ``"delong"`` and ``"logit"`` would be a single point; they give the score interval instead.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson 1988, https://doi.org/10.2307/2531595. Newcombe, "Confidence
    intervals for an effect size measure based on the Mann–Whitney statistic. Part 2", Statistics in
    Medicine 25 (2006). https://doi.org/10.1002/sim.2324. The largest variance: Birnbaum & Klose,
    "Bounds for the variance of the Mann–Whitney statistic", Annals of Mathematical Statistics 28
    (1957). https://doi.org/10.1214/aoms/1177706794

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.auc_interval(s)
    [0.300642, 0.954413] at 95 %
    >>> cs.auc_interval(s, method="delong")
    [0.349924, 1] at 95 %
    """
    level = check_level(level)
    one_of("method", method, ("score", "delong", "logit", "newcombe", "bootstrap", "bca"))
    if method in ("bootstrap", "bca"):
        how = "percentile" if method == "bootstrap" else "bca"
        return bootstrap(s, auc, level=level, method=how).interval
    check_sweep(s).needs_both_classes("an interval of the AUC")
    sizes = sizes_of(s, "an interval of the AUC")
    if method == "newcombe":
        return newcombe(s.auc, *sizes, level)
    # One row of a class has no variance that could be estimated: any may be true.
    variance = inf if method == "score" and min(sizes) <= 1 else auc_variance(s)
    if method == "score" or not variance > 1e-20:  # what rounding leaves of 0
        return score_interval(s.auc, variance, *sizes, level)
    a, z = s.auc, NormalDist().inv_cdf((1 + level) / 2)
    if method == "delong":
        half = z * sqrt(variance)
        return Interval(max(0.0, a - half), min(1.0, a + half), level)
    middle, half = log(a / (1 - a)), z * sqrt(variance) / (a * (1 - a))
    return Interval(_sigmoid(middle - half), _sigmoid(middle + half), level)


def _sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x >= 0 else exp(x) / (1 + exp(x))


def score_interval(  # noqa: PLR0913 - what the formula needs
    a: float, variance: float, pos: float, neg: float, level: float, *, fewer: float | None = None
) -> Interval:
    """The score interval of an AUC with an estimated variance; see :func:`auc_interval`.

    ``fewer`` is the number of independent units of the rarer class, where rows are not.
    """
    from scipy.special import ndtri, owens_t

    z, fewer = NormalDist().inv_cdf((1 + level) / 2), min(pos, neg) if fewer is None else fewer

    def normal(x: float) -> float:
        one = x * (1 - x)
        shared = one - 2 * float(owens_t(ndtri(x), 1 / sqrt(3)))  # covariance of pairs with a row
        return max(0.0, one + (pos + neg - 2) * shared) / (pos * neg)

    share = 0.0
    if fewer <= 1 or variance == inf:
        share = 1.0
    elif variance > 1e-20:  # what rounding leaves of 0
        wanted = variance * (1 + 1 / sqrt(fewer))
        least, largest = normal(a), a * (1 - a) / fewer
        share = min(1.0, max(0.0, (wanted - least) / (largest - least)))
    return _score(
        a, lambda x: z * sqrt((1 - share) * normal(x) + share * x * (1 - x) / fewer), level
    )


def _score(a: float, reach: Callable[[float], float], level: float) -> Interval:
    """All values that are no further from ``a`` than their own reach, which is 0 at 0 and at 1."""

    def end(outer: float) -> float:
        inner = a
        for _ in range(60):
            middle = (inner + outer) / 2
            if abs(middle - a) < reach(middle):
                inner = middle
            else:
                outer = middle
        return inner

    return Interval(end(0.0), end(1.0), level)


def newcombe(a: float, pos: float, neg: float, level: float) -> Interval:
    """Newcombe's interval of an AUC, of so many positives and negatives."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    others = (pos + neg) / 2 - 1

    def reach(t: float) -> float:
        pairs = 1 + others * ((1 - t) / (2 - t) + t / (1 + t))
        return z * sqrt(t * (1 - t) * pairs / (pos * neg))

    return _score(a, reach, level)


# Ratios of two rates: those rates, the first of positives and the second of negatives.
_RATIOS = {"lr_positive": ("recall", "fpr"), "lr_negative": ("fnr", "specificity")}


def interval(  # noqa: PLR0913 - options have names
    s: Sweep,
    measure: Any,
    *,
    at: Any = None,
    prior: float | None = None,
    level: float = 0.95,
    method: str | None = None,
) -> Interval:
    """Confidence interval of a measure at a threshold that is given.

    Parameters
    ----------
    s
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``.
    measure
        The name of a measure, ``Costs``, ``f(beta)`` or a function of (tp, fp, fn, tn); or "auc".
    at
        A threshold, or an operating point. An interval at a threshold that was chosen on the same
        rows does not know of the choice: see ``OperatingPoint.expect``.
    prior
        The share of positives where decisions are made, for measures that depend on it; that of
        the operating point if left out.
    level
        The confidence.
    method
        For rates, which are shares of counted rows (recall, fnr, fpr, specificity, precision and
        flagged_rate): ``"wilson"``, the default, or ``"clopper-pearson"``, which never covers less
        than it says and is wider. For "auc" those of :func:`cutscore.auc_interval`. Likelihood
        ratios have the interval of their logarithm (Simel, Samsa & Matchar). All other measures,
        and likelihood ratios of a rate of 0 or 1, have the percentiles of 10,000 draws of TPR and
        FPR, each from Jeffreys' distribution Beta(k + ½, n − k + ½), which does not take a rate
        of 0 for certain.

        The thresholds -inf and +inf flag everything and nothing on any rows, so TPR, FPR and the
        share flagged are certain there. What depends on the share of positives still is not.

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

    Flagging everything catches all positives; how many of the flagged are positive varies:

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
        hint = "For several write [interval(s, measure, at=t) for t in thresholds]."
        raise DataError(BadArgument("at", "be one threshold", at, hint))
    goal = as_objective(measure)
    goal = goal.measure if isinstance(goal, Top) else goal
    threshold = check_threshold(getattr(at, "threshold", at))
    c = s.at(threshold)
    rows = _rows_at(s, threshold) if s.weighted else c
    by_rule = threshold == -inf or (threshold == inf and not c.flagged)
    if isinstance(goal, Measure) and goal.binomial and (prior is None or goal.prior_free):
        return _share(goal, c, rows, level, method or "wilson", by_rule)
    if method is not None:
        rule = f"be left out for the {goal.name}, which is no share of counted rows"
        raise DataError(BadArgument("method", rule, method))
    if isinstance(goal, Measure) and goal.name in _RATIOS:
        part, whole = (getattr(c, rate) for rate in _RATIOS[goal.name])
        if 0 < part < 1 and 0 < whole < 1:
            return _log_ratio(part, whole, c, rows, level)
    return _simulated(goal, c, rows, level, prior, by_rule)


def _no_interval(name: str) -> UndefinedError:
    return UndefinedError(
        Undefined(f"the {name}", "is 0/0 at this threshold, so it has no interval")
    )


def _rows_at(s: Sweep, threshold: float) -> Confusion:
    """Sums of squared weights in the four cells."""
    pos2, neg2 = s.squares("an interval")
    return Sweep(s.threshold, pos2, neg2, top=s.top).at(threshold)


def _share(  # noqa: PLR0913 - what the two formulas need
    of: Measure, c: Confusion, rows: Confusion, level: float, method: str, by_rule: bool
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
    equal rows: where negatives were thinned out, a row of theirs weighs more. Of a part that no row
    is in, a row would weigh what those of its class do: n = (a + b)/w.
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


def _simulated(  # noqa: PLR0913 - the formula's numbers
    goal: Objective,
    c: Confusion,
    rows: Confusion,
    level: float,
    prior: float | None,
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
        recall = _draws(rng, c.tp, P, rows.positives)
        fpr = _draws(rng, c.fp, N, rows.negatives)
    if prior is None and (by_rule or (P and N)):
        # So is the share of positives, if nobody has said what it is.
        P = c.total * _draws(rng, P, c.total, rows.total)
        N = c.total - P
    tp, fp = recall * P, fpr * N
    many = Confusion(tp, fp, P - tp, N - fp)
    values = goal(many if prior is None else many.deployed(prior))
    low, high = percentiles(values[~np.isnan(values)], level)
    return Interval(min(low, here), max(high, here), level)


def _draws(rng: np.random.Generator, part: Any, whole: Any, squares: Any) -> Any:
    """The share of a class, as it might be in truth; of counts the squares are the counts."""
    if not whole:
        return np.zeros(10_000)
    share, rows = part / whole, effective(whole, squares)
    return rng.beta(share * rows + 0.5, (1 - share) * rows + 0.5, 10_000)


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Frozen):
    """What a statistic does under resampling; see :func:`cutscore.bootstrap`.

    Parameters
    ----------
    estimate
        The statistic of the rows themselves.
    replicates
        That of each sample.
    interval
        Its confidence interval.
    """

    estimate: float
    replicates: Floats
    interval: Interval

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates; nan if one is infinite."""
        finite = bool(np.isfinite(self.replicates).all())
        return float(np.std(self.replicates, ddof=1)) if finite else np.nan

    @property
    def bias(self) -> float:
        """The mean of the replicates less the estimate."""
        return float(np.mean(self.replicates)) - self.estimate

    def __repr__(self) -> str:
        return (
            f"{self.estimate:.6g} {self.interval!r}, standard error {self.standard_error:.3g}, "
            f"{len(self.replicates):,} bootstrap samples"
        )


def bootstrap(  # noqa: PLR0913 - options have names
    s: Sweep,
    statistic: Statistic | str = "auc",
    *,
    method: str = "percentile",
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
) -> Bootstrap:
    """Stratified bootstrap of any function of a sweep.

    Each sample draws as many positives and as many negatives as there are, with replacement, as new
    masses on the same scores: nothing is sorted again. The AUC is computed in the native core, some
    hundred times faster than resampling rows.

    Parameters
    ----------
    s
        The sweep. A weighted one needs squares: ``sweep(..., squares=True)``; rows of one class and
        score are then drawn as so many of equal weight as have the same sum and sum of squares.
        (Rows in clusters: :func:`cutscore.bootstrap_rows`.)
    statistic
        A function of a sweep that returns a number, or "auc".
    method
        ``"percentile"``, or ``"bca"``: Efron's, corrected for bias and skewness.
    level
        The confidence of the interval.
    n, seed
        How many samples, and the seed of their random numbers: equal seeds draw equal samples, on
        every machine and any number of threads.

    References
    ----------
    Efron & Tibshirani, *An Introduction to the Bootstrap* (1993).
    https://doi.org/10.1201/9780429246593

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> b = cs.bootstrap(s, cs.average_precision, n=500)
    >>> round(b.estimate, 4), len(b.replicates), b.interval.low < b.estimate < b.interval.high
    (0.7708, 500, True)
    """
    level = check_level(level)
    one_of("method", method, ("percentile", "bca"))
    statistic = as_statistic(statistic)
    sampler = Sampler(s, seed)
    estimate = as_number(statistic(s))
    replicates = sampler.areas(n) if statistic is auc else sampler.values(statistic, n)
    if method == "percentile":
        return Bootstrap(estimate, replicates, percentiles(replicates, level))
    return Bootstrap(estimate, replicates, _bca(sampler, statistic, estimate, replicates, level))


def as_statistic(statistic: Any) -> Statistic:
    """ "auc" or a function of a sweep, as a function."""
    if isinstance(statistic, str) and statistic == "auc":
        return auc
    if not callable(statistic):
        raise DataError(BadArgument("statistic", "be 'auc' or a function of a sweep", statistic))
    function: Statistic = statistic
    return function


def check_samples(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 2 <= n <= 10**7:
        raise DataError(BadArgument("n", "be a whole number from 2 to 10,000,000", n))
    return int(n)


class Sampler:
    """Stratified bootstrap samples of a sweep.

    A row takes its weight along. A sweep knows the sum of the weights at a score and the sum of
    their squares: rows of one class and score are taken as so many of equal weight that both sums
    agree. That is exact where these rows weigh the same, or where there is one. Where they differ,
    what depends on each class by itself has the right variance, and what depends on the ratio of
    the classes, as the precision does, one that is too small: how much the class weighs varies with
    the weights, which ``bootstrap_rows`` knows.
    """

    def __init__(self, s: Sweep, seed: int) -> None:
        check_sweep(s).needs_rows("a bootstrap sample")
        self.s, self.seed = s, check_seed(seed)
        self.pos, self.neg = EqualRows.of(s, "a bootstrap sample")
        # Row by row where rows are few; where most scores are shared by many, score by score.
        P, N = self.pos.total, self.neg.total
        self.by_rows = 16 * len(s) + 4096 >= P + N and max(P, N) < 2**31

    def areas(self, n: int) -> Floats:
        """The AUCs of n samples."""
        s = self.s
        s.needs_both_classes("the AUC")
        if not s.weighted and self.by_rows and 2 * int(s.P) * int(s.N) < 2**63:
            small = s.compact()
            n, rows = check_samples(n), int(s.P + s.N)
            workers, each = threads(n * rows), max(1, 10**9 // rows)
            # In parts of about a second, after which Python sees whether it was interrupted.
            parts = [
                _native.bootstrap_area(
                    small.pos, small.neg, first, min(each, n - first), self.seed, workers
                )
                for first in range(0, n, each)
            ]
            return np.concatenate(parts)
        return self.values(auc, n)

    def sample(self, k: int) -> Sweep:
        """The k-th sample."""
        if self.by_rows:
            pos = _native.resample(self.pos.rows, self.seed, 2 * k)
            neg = _native.resample(self.neg.rows, self.seed, 2 * k + 1)
        else:
            rng = np.random.default_rng((self.seed, k))
            pos, neg = (_multinomial(rng, of.rows, of.total) for of in (self.pos, self.neg))
        return self.of_rows(pos, neg)

    def of_rows(self, pos: NDArray[Any], neg: NDArray[Any]) -> Sweep:
        """The sweep of so many rows at each score, without the scores that no row has any more."""
        s, there = self.s, (pos > 0) | (neg > 0)
        top = None if s.top is None else s.top[there]
        pos, neg = pos[there], neg[there]
        if not s.weighted:
            return Sweep._adopt(s.threshold[there], pos, neg, top=top)
        w, v = self.pos.each[there], self.neg.each[there]
        masses = (pos * w, neg * v, pos * w * w, neg * v * v)
        return Sweep._adopt(s.threshold[there], *masses, top=top)

    def values(self, statistic: Statistic, n: int) -> Floats:
        """A statistic of each of n samples."""
        return np.array([as_number(statistic(self.sample(k))) for k in range(check_samples(n))])


def _multinomial(rng: np.random.Generator, mass: NDArray[Any], total: int) -> NDArray[Any]:
    return rng.multinomial(total, mass / total) if total else mass


def as_number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        rule = "be a number for each sample"
        raise DataError(
            BadArgument("statistic", rule, value, subject="what a statistic returns")
        ) from None
    if np.isnan(number):
        why = "is nan in a bootstrap sample, so it has no distribution"
        raise UndefinedError(Undefined("the statistic", why, "Give it a value there."))
    return number


def percentiles(replicates: Floats, level: float) -> Interval:
    """The range of the middle replicates."""
    tail = (1 - level) / 2
    low, high = _quantiles(replicates, (tail, 1 - tail))
    return Interval(low, high, level)


def _quantiles(values: Floats, at: Any) -> list[float]:
    # Between infinite values there is nothing to interpolate.
    how: Any = "linear" if np.isfinite(values).all() else "inverted_cdf"
    out: list[float] = np.quantile(values, at, method=how).tolist()
    return out


def _bca(
    sampler: Sampler, statistic: Statistic, estimate: float, replicates: Floats, level: float
) -> Interval:
    from scipy.special import ndtr, ndtri

    n = len(replicates)
    # Half of the ties; and off the ends, where the normal deviate is infinite.
    below = np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates == estimate) / 2
    z0 = float(ndtri(min(max(below, 0.5), n - 0.5) / n))
    a = _acceleration(sampler, statistic)
    z = ndtri(np.array([(1 - level) / 2, (1 + level) / 2])) + z0
    low, high = _quantiles(replicates, ndtr(z0 + z / (1 - a * z)))
    return Interval(low, high, level)


def _acceleration(sampler: Sampler, statistic: Statistic) -> float:
    """Skewness of the statistic's influence: Σ l³ / 6 (Σ l²)^1.5, by leaving out row after row.

    Rows of one class and score are alike, so each such cell is left out once. Of more than 1,000
    cells of a class a random sample stands for all.
    """
    s, classes = sampler.s, (sampler.pos, sampler.neg)
    rng = np.random.default_rng(0)
    cubes = squares = 0.0
    placements = _placements(s) if statistic is auc else (s.threshold, s.threshold)
    for of, other, placed, swap in zip(classes, classes[::-1], placements, (1, -1), strict=True):
        total, cells = of.total, np.flatnonzero(of.rows)
        if total < 2:
            continue
        if statistic is auc:
            influence = of.each[cells] * (total / of.mass) * (placed[cells] - s.auc)
        else:
            if len(cells) > 1000:
                cells = np.sort(rng.choice(cells, 1000, replace=False))
            values = np.empty(len(cells))
            for i, k in enumerate(cells):
                less = of.rows.copy()
                less[k] -= 1
                values[i] = as_number(statistic(sampler.of_rows(*(less, other.rows)[::swap])))
            influence = (total - 1) * (np.average(values, weights=of.rows[cells]) - values)
        # Influences count by 1/n of their own class.
        share = of.rows[cells] / of.rows[cells].sum()
        squares += float(np.sum(share * influence**2)) / total
        cubes += float(np.sum(share * influence**3)) / total**2
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Band(Frozen):
    """A region that contains the whole ROC curve; see :func:`cutscore.roc_band`.

    Parameters
    ----------
    fpr, low, high
        False positive rates from 0 to 1, with the lowest and the highest TPR at each.
    level
        The confidence.
    """

    fpr: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        return len(self.fpr)

    def __repr__(self) -> str:
        return f"Band of {len(self):,} points at {100 * self.level:g} %: fpr, low, high"


def roc_band(s: Sweep, *, level: float = 0.95) -> Band:
    r"""A simultaneous confidence band: it contains the whole true ROC curve at the given level.

    Every score's TPR is known to within :math:`\sqrt{\ln(2/\alpha)/2P}`, and every FPR to within
    :math:`\sqrt{\ln(2/\alpha)/2N}`, with :math:`\alpha = 1 - \sqrt{level}` each (Dvoretzky,
    Kiefer, Wolfowitz and Massart); the curve, moved by as much to either side, is the band. It
    holds for any distributions, tied or not, and any number of rows, and is rather wide for it.
    With weights, (ΣW)²/Σw² stands for the number of rows, which is an approximation.

    Returns
    -------
    Band
        At each ``fpr``, from 0 to 1, the lowest and the highest TPR of the band.

    References
    ----------
    Campbell, "Advances in statistical methodology for the evaluation of diagnostic and laboratory
    tests", Statistics in Medicine 13 (1994). https://doi.org/10.1002/sim.4780130513

    Massart, "The tight constant in the Dvoretzky–Kiefer–Wolfowitz inequality", Annals of
    Probability 18 (1990). https://doi.org/10.1214/aop/1176990746

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> band = cs.roc_band(cs.sweep(y, rng.standard_normal(2000) + y))
    >>> at = np.searchsorted(band.fpr, 0.2)
    >>> band.low[at].round(2), band.high[at].round(2)
    (np.float64(0.45), np.float64(0.68))
    """
    level = check_level(level)
    check_sweep(s).needs_both_classes("a ROC band")
    rows = sizes_of(s, "a ROC band")
    up, right = (sqrt(log(2 / (1 - sqrt(level))) / (2 * n)) for n in rows)
    small = s.compact()
    fpr = np.concatenate(([0.0], small.fp / s.N))
    tpr = np.concatenate(([0.0], small.tp / s.P))
    x = np.unique(np.clip(np.concatenate((fpr - right, fpr, fpr + right, [0.0, 1.0])), 0.0, 1.0))
    # The highest point of the curve at a rate, and the lowest: they differ where it goes straight
    # up. Tied scores make a diagonal, on which it is interpolated.
    highest = _on_curve(fpr, tpr, np.minimum(x + right, 1.0), side="right")
    lowest = _on_curve(fpr, tpr, np.maximum(x - right, 0.0), side="left")
    return Band(x, np.maximum(0.0, lowest - up), np.minimum(1.0, highest + up), level)


def _on_curve(fpr: Floats, tpr: Floats, x: Floats, side: Literal["left", "right"]) -> Floats:
    k = np.searchsorted(fpr, x, side=side)
    a, b = np.maximum(k - 1, 0), np.minimum(k, len(fpr) - 1)
    on = b if side == "left" else a  # where a point of the curve has that very rate
    gap = fpr[b] - fpr[a]
    share = np.divide(x - fpr[a], gap, out=np.zeros(len(x)), where=gap > 0)
    return np.where(fpr[on] == x, tpr[on], tpr[a] + share * (tpr[b] - tpr[a]))
