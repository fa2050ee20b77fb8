"""Limits that hold out of sample, with a stated confidence.

Rows are taken to be drawn independently, the deployed ones as these. Nothing else is assumed: not
the distribution of the scores, nor their number of ties. Where rows come in units, units are taken
to be drawn independently, and limits are on the mean rate of units: see ``_units``.

**Rates that only rise or only fall with the threshold** (FPR, FNR, share flagged). Let the k + 1
highest of N negatives be known, and flag what lies strictly above the lowest of them. The true FPR
of that rule is at most a Beta(k + 1, N − k) variable, hence above α with probability at most
P(Bin(N, α) ≤ k), which is the Clopper–Pearson bound for k of N. Take the largest k for which that
is at most 1 − confidence, before looking at the data: then *every* cut with at most k false alarms
holds at once, because FPRs are in the order of the cuts. The many cuts need no correction.

**Precision** is not monotone, so it is tested cut by cut (learn then test). Given the score of the
(j + 1)-th highest row, those strictly above it are independent, and their number of positives is
binomial with the true precision of flagging above that score. Testing at j, then at j + 1 and so on
until the first failure is valid without correction (a fixed sequence). A sequence that starts in
the wrong place fails at once, so several start, at j four times as large each, and share the
allowance: half for the first, a quarter for the next, and so on. One that arrives at the next start
without a failure hands its share on to it, so that nothing is lost (the fallback procedure).

Several limits share it as well, so that they hold together.

**Weights.** Where rows of a class weigh differently, the weighted rate is above α iff the mean of
w (x − α) is above 0, where x is 1 for a row in error and 0 for others. That is tested by Gaffke's
bound as for units: with independent exponential weights E, and one more row that is in error and as
heavy as the heaviest seen, W,

    P(E₀ W (1 − α) + Σ Eᵢ wᵢ (xᵢ − α) > 0) ≤ error.

It takes for granted that no row weighs more than W. Where all weigh the same it is the
Clopper–Pearson bound. Rows of one class and score whose weights differ are taken as so many of
equal weight that sum and sum of squares agree, and so are rows whose weights are within 0.4 %.

References: Tong, Feng & Li, "Neyman–Pearson classification algorithms and NP receiver operating
characteristics", Science Advances 4 (2018), https://doi.org/10.1126/sciadv.aao1659. Angelopoulos,
Bates, Candès, Jordan & Lei, "Learn then test", Annals of Applied Statistics 19 (2025),
https://doi.org/10.1214/24-AOAS1998. Wiens & Dmitrienko, "The fallback procedure for evaluating a
single family of hypotheses", Journal of Biopharmaceutical Statistics 15 (2005),
https://doi.org/10.1080/10543400500265660.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from math import ceil, log, log1p
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import Conflict
from cutscore.core.findings.arguments import PeriodsMissing
from cutscore.core.findings.statistics import CountsRows
from cutscore.inference.units import Units, gaffke_p_value
from cutscore.measures.confusion import Confusion
from cutscore.measures.limits import Limit, PeriodLimits, bad_limit
from cutscore.measures.registry import MEASURES
from cutscore.sweeps.sweep import Floats, Sweep

# Of so many cuts one pass is faster than a search for each.
_MANY_CUTS = 10_000


@dataclass(frozen=True, eq=False)
class CertifiedLimit:
    """The cuts that were tested and found to hold, by how many rows they flag, in rising order."""

    flagged: NDArray[Any]
    bound: float
    measure: str = "precision"
    helpful: bool = False

    def holds(self, c: Confusion) -> Any:
        return self.certifies(c.flagged)

    def certifies(self, flagged: NDArray[Any]) -> Any:
        """Whether cuts that flag so many rows hold."""
        return self._upto(flagged, "right") > self._upto(flagged, "left")

    def may_hold_between(self, ends: Confusion) -> NDArray[np.bool_]:
        """Whether it holds anywhere from each of some cuts, in order, to the next."""
        found = self._upto(ends.flagged[1:], "right") > self._upto(ends.flagged[:-1], "left")
        return np.asarray(found)

    def _upto(self, flagged: NDArray[Any], side: Literal["left", "right"]) -> Any:
        """How many of the cuts that hold flag fewer rows; on the right, no more."""
        if np.size(flagged) > _MANY_CUTS and (flagged[1:] >= flagged[:-1]).all():
            # One pass over both.
            return _native.count_below(self.flagged, flagged, side == "right")
        return np.searchsorted(self.flagged, flagged, side)

    def shortfall(self, c: Confusion) -> Any:
        """How much was measured too little, as a share of the bound; a cut that has enough, but
        can't be shown to, falls short by the least."""
        value = getattr(c, self.measure)
        short = np.maximum((self.bound - value) / self.bound, 0.0) + 1e-9 * (2 - value)
        return np.where(self.holds(c), 0.0, np.where(np.isnan(value), np.inf, short))


Rule = Limit | CertifiedLimit


def guarantee_limits(  # noqa: PLR0913, PLR0917 - two are options
    s: Sweep,
    limits: list[Limit],
    confidence: float,
    prior: float | None,
    units: Units | None = None,
    periods: PeriodLimits | None = None,
) -> list[Rule]:
    """Limits on the counts of this sweep, under which the given ones hold out of sample."""
    if not limits:
        rule, hint = "a confidence applies to limits", "Add {1}, such as 'fpr <= 0.001'."
        raise DataError(Conflict(("confidence", "subject_to"), rule, hint))
    if units is not None and s.weighted:
        hint = "Drop the weights or the confidence."
        raise UndefinedError(CountsRows("a guarantee for clusters", hint))
    error = split_error(limits, confidence)
    return [
        certify_limit(s, limit, error, prior, units)
        if limit.period is None
        else _certify_period(limit, error, prior, periods)
        for limit in limits
    ]


def _certify_period(
    limit: Limit, error: float, prior: float | None, periods: PeriodLimits | None
) -> Rule:
    check_guarantee(limit, prior)
    if periods is None:
        raise DataError(PeriodsMissing(limit.text))
    rule = periods.rule(limit, error)
    assert isinstance(rule, Limit)  # of one threshold
    return rule


def split_error(limits: Sequence[Limit], confidence: float) -> float:
    """The error that each of several limits is allowed, so that they hold together."""
    return (1 - confidence) / len(limits)


# Rates that depend on the share of positives.
_OF_CASES = ("precision", "npv", "flagged_rate", "review_rate", "error_rate")


def check_guarantee(limit: Limit, prior: float | None, *, three_way: bool = False) -> None:
    """Raise if no guarantee exists for a limit on one threshold, or on two, whatever the rows."""
    name, sign = limit.measure.name, limit.sign[0]
    if prior is not None and (name == "flagged" or name in _OF_CASES or limit.period is not None):
        rule = (
            f"a guarantee for {name} applies at the prevalence of these rows, not at another prior"
        )
        hint = "Drop {0}, or limit fpr and recall."
        raise DataError(Conflict(("prior", "subject_to"), rule, hint))
    if three_way and name == "error_rate" and sign == "<":
        return
    if limit.period is None and sign not in limit.measure.guaranteed:
        rule = (
            "be one that can be guaranteed: fpr <=, fnr <=, review_rate <=, recall >=, "
            "specificity >=, precision >=, npv >=, flagged or flagged_rate"
        )
        raise bad_limit(limit.text, rule)


def certify_limit(
    s: Sweep, limit: Limit, error: float, prior: float | None, units: Units | None
) -> Rule:
    check_guarantee(limit, prior)
    name, upper, bound = limit.measure.name, limit.sign[0] == "<", limit.bound
    if units is not None and name in ("precision", "npv"):
        hint = "Limit fpr and recall, or keep one row per cluster."
        raise UndefinedError(CountsRows(f"a guarantee for {name}", hint, "clusters"))
    if s.weighted and name in ("precision", "npv"):
        hint = "Limit fpr and recall instead."
        raise UndefinedError(CountsRows(f"a guarantee for {name}", hint))
    P, N = s.P, s.N
    if name == "flagged":
        name, bound = "flagged_rate", bound / (P + N)
    strict = len(limit.sign) == 1
    if (bound < 0 or (strict and bound == 0)) if upper else (bound > 1 or (strict and bound == 1)):
        return Limit(MEASURES["flagged"], "<=", -1, P + N)  # no rate is that small, or that large
    if name == "precision":
        return CertifiedLimit(precise(s, bound, error), bound)
    if name == "npv":  # a precision of the negatives, from below
        passed = precise(_mirrored(s), bound, error)[::-1]
        return CertifiedLimit(P + N - passed, bound, "npv")
    rate = bound if upper else 1 - bound
    positive = limit.measure.of_class
    if positive is not None:
        k = _max_error_mass(s, units, rate, error, positive=positive, flagged=not positive)
        if positive:
            everything = Limit(MEASURES["flagged"], ">=", P + N, P + N)
            return Limit(MEASURES["fn"], "<=", k, rate * P) if k >= 0 else everything
        nothing = Limit(MEASURES["flagged"], "<=", 0, P + N)
        return Limit(MEASURES["fp"], "<=", k, rate * N) if k >= 0 else nothing
    k = max(_max_error_mass(s, units, rate, error, positive=None, flagged=upper), 0)
    sign, size = ("<=", k) if upper else (">=", P + N - k)
    return Limit(MEASURES["flagged"], sign, size, bound * (P + N))


def rate_of_units(units: Units, limit: Limit, threshold: float) -> float:
    """What a guarantee for units looks at: the mean of their own rates."""
    name = limit.measure.name
    share = float(np.mean(units.shares(limit.measure.of_class, threshold)))
    if name == "flagged":
        return share * len(units.unit)
    return 1 - share if name in ("fnr", "specificity") else share


def _max_error_mass(  # noqa: PLR0913 - two are options
    s: Sweep,
    units: Units | None,
    rate: float,
    error: float,
    *,
    positive: bool | None,
    flagged: bool,
) -> float:
    """The most mass to allow in error, of a class or of both: of flagged rows, or of those that are
    not. Negative if even none is too much."""
    if units is not None:
        return units.most(rate, error, positive=positive, flagged=flagged)
    mass = s.pos + s.neg if positive is None else s.pos if positive else s.neg
    if not s.weighted:
        return max_errors(int(mass.sum()), rate, error)
    pos2, neg2 = s.squares("a guarantee")
    squares = pos2 + neg2 if positive is None else pos2 if positive else neg2
    seen = np.flatnonzero(mass > 0)[:: 1 if flagged else -1]
    # Sums of weights are rounded.
    return (1 + 1e-9) * most_weight(mass[seen], squares[seen], rate, error)


def most_weight(mass: Floats, squares: Floats, rate: float, error: float) -> float:
    """The most weight to allow in error, of rows in the order in which they come to be: sums of
    weights, and of their squares, at each score. −1 if even none is too much.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.inference.guarantee import max_errors, most_weight
    >>> max_errors(200, 0.05, 0.1), most_weight(np.full(200, 3.0), np.full(200, 9.0), 0.05, 0.1)
    (5, 15.0)
    """
    each = squares / mass
    if not len(mass) or np.allclose(each, each[0], rtol=1e-9, atol=0):
        # Undersampled negatives weigh more, but their rates still count rows.
        w = float(squares.sum() / mass.sum()) if len(mass) else 1.0
        k = max_errors(round(float(mass.sum()) / w), rate, error)
        return w * k if k >= 0 else -1.0
    if not 0 < rate < 1:
        return float(mass.sum()) if rate >= 1 else -1.0
    # Rows of nearly the same weight as equal ones.
    _, kind = np.unique(np.round(256 * np.log(each)), return_inverse=True)
    kinds, heaviest = int(kind.max()) + 1, float(each.max())

    def holds(k: int) -> bool:
        """Whether the first k scores may be in error."""
        wrong, right = (
            [np.bincount(kind[part], m[part], kinds) for m in (mass, squares)]
            for part in (slice(k), slice(k, None))
        )
        m, q = (np.concatenate(pair) for pair in zip(wrong, right, strict=True))
        share, some = np.repeat([1.0, 0.0], kinds), m > 0
        m, q, share = m[some], q[some], share[some]
        weight = q / m / heaviest
        return gaffke_p_value(share, m * (m / q), rate, weight) <= error

    low, high = -1, len(mass)  # not all
    while high - low > 1:
        k = (low + high) // 2
        low, high = (k, high) if holds(k) else (low, k)
    return float(mass[:low].sum()) if low >= 0 else -1.0


def max_errors(n: int, rate: float, error: float) -> int:
    """The most of n rows to allow, so that the true share is above ``rate`` with probability at
    most ``error``: the largest k with P(Bin(n, rate) ≤ k) ≤ error, or −1."""
    from scipy.special import betainc

    if rate >= 1:
        return n
    if rate <= 0:
        return -1
    low, high = -1, n  # P(Bin ≤ −1) = 0, and P(Bin ≤ n) = 1
    while high - low > 1:
        k = (low + high) // 2
        low, high = (k, high) if betainc(n - k, k + 1, 1 - rate) <= error else (low, k)
    return low


def shortage_text(s: Sweep, limit: Limit, error: float, units: Units | None = None) -> str:
    """What to say where rows, or clusters, are too few to allow a single one: it takes
    (1 − rate)ⁿ ≤ error."""
    name, upper, bound = limit.measure.name, limit.sign[0] == "<", limit.bound
    rate, alone = (bound if upper else 1 - bound), not upper
    positive = limit.measure.of_class
    if positive is not None:
        alone = positive
        what, n = ("positives", int(s.P)) if alone else ("negatives", int(s.N))
    elif name == "flagged_rate":
        what, n = "rows", int(s.P + s.N)
    else:
        return ""
    if units is not None:
        what, n = f"clusters with {what}", len(np.unique(units.rows(positive)[1]))
    if not 0 < rate < 1 or max_errors(n, rate, error) >= 0:
        return ""
    fewest = ceil(log(error) / log1p(-rate))
    doing = "leaving anything unflagged" if alone else "flagging anything"
    return (
        f"guaranteeing this limit while {doing} requires at least {fewest:,} {what}; there are "
        f"{n:,}"
    )


def precise(s: Sweep, bound: float, error: float) -> NDArray[Any]:
    """How many rows those cuts flag whose true precision is at least ``bound``."""
    flagged, total = s.tp + s.fp, int(s.P + s.N)
    if bound <= 0:
        return flagged
    if bound >= 1 or not total:
        return flagged[:0]
    starts = _start_sizes(total, bound, error)
    # Of j rows those strictly above the next one are flagged: all but those that tie with it.
    rows = np.array([*starts, total + 1])
    first = np.maximum(np.searchsorted(flagged, rows[:-1], side="right") - 1, 0)
    end = np.searchsorted(flagged, rows[1:] - 1, side="right")
    certified, level = np.zeros(len(s), np.bool_), 0.0
    for a, b, share in zip(first.tolist(), end.tolist(), starts.values(), strict=True):
        level += share
        passed = _count_passing(s, slice(a, b), bound, level)
        certified[a : a + passed] = True
        if a + passed < b:
            level = 0.0  # it was spent on the cut that failed
    return flagged[certified]


def _mirrored(s: Sweep) -> Sweep:
    """Negated scores, and the classes swapped."""
    s.needs_scores("a guarantee of the npv")
    columns = (0.0 - s.threshold, s.neg, s.pos)
    return Sweep._adopt(*(column[::-1].copy() for column in columns))


def max_between(n: int, rate: float, error: float) -> int:
    """The most of n rows to allow between two cuts, so that the true share between them is above
    ``rate`` with probability at most ``error``, wherever both were placed.

    With k rows between them, two cuts are at most k + 1 of the n + 1 gaps between rows apart. These
    are inside of one of ⌈(n + 1) / g⌉ windows of k + 1 + g gaps that start at every g-th row; the
    share of cases in L gaps is above the rate with probability P(Bin(n, rate) < L), and all windows
    together share the error. The best g is taken; none depends on the data.

    Examples
    --------
    >>> from cutscore.inference.guarantee import max_between, max_errors
    >>> max_errors(10_000, 0.02, 0.05), max_between(10_000, 0.02, 0.05)
    (176, 140)
    """
    best, step = -1, 1
    while step <= n:
        windows = -(-(n + 1) // step)
        best = max(best, max_errors(n, rate, error / windows) - step)
        step *= 2
    return best if best >= 0 else -1


def _count_passing(s: Sweep, cuts: slice, bound: float, error: float) -> int:
    """How many of these cuts pass before the first that fails.

    No cut of a block has fewer positives than the first of it, nor more false alarms than the last:
    if it would pass with these, the block does.
    """
    from scipy.special import betainc

    at, step, fewest = cuts.start, 64, 64
    while at < cuts.stop:
        part = slice(at, min(at + step, cuts.stop))
        tp, fp = s.tp[at : at + 1], s.fp[part.stop - 1 : part.stop]
        if step == fewest:
            tp, fp = s.tp[part], s.fp[part]
        # P(Bin(rows, bound) ≥ tp); without a positive there is nothing to show.
        p_value = np.where(tp > 0, betainc(np.maximum(tp, 1), fp + 1.0, bound), 1.0)
        fails = np.flatnonzero(~(p_value <= error))
        if not len(fails):
            at, step = part.stop, 2 * step
        elif step == fewest:
            return int(at - cuts.start + fails[0])
        else:
            step = max(fewest, step // 4)
    return int(cuts.stop - cuts.start)


def _start_sizes(total: int, bound: float, error: float) -> dict[int, float]:
    """At how many rows sequences of tests start, and the error that each is allowed.

    The first starts at the fewest rows that can prove anything and has half of the error; each
    further one at four times as many, with half of what the one before has. The last has the rest.
    """
    starts, share = [max(1, ceil(log(error / 2) / log(bound)))], error
    while 4 * starts[-1] <= total:
        starts.append(4 * starts[-1])
    if len(starts) == 1:
        return {max(1, ceil(log(error) / log(bound))): error}
    out = {}
    for start in starts[:-1]:
        share /= 2
        out[start] = share
    return out | {starts[-1]: share}


def just_above(low: float, high: float) -> float:
    """The shortest number between ``low`` and the next float32, if that is not past ``high``:
    float32 scores are compared as such, and between a float64 and the next float32 there is next to
    nothing. It is that float32 when it is read as one."""
    with np.errstate(over="ignore"):
        single = np.float32(low)
        while float(single) <= low and single < np.inf:
            single = np.nextafter(single, np.float32(np.inf))
        if float(single) > high:
            return float(np.nextafter(low, np.inf))
        if not np.isfinite(single):
            return float(single)
        exact = Decimal(float(single))
        for digits in range(1, 18):
            short = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
            if short > low and np.float32(short) == single:
                return short
    return float(single)
