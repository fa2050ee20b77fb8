"""The methods of calibration: each fits a calibrator to a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, isinf, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import EPS, Affine, Beta, Calibrator, Gaussian, Monotone
from cutscore.calibration.logistic import fit, fit_pieces, overlaps
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import Conflict
from cutscore.core.findings.statistics import BeyondFloats, NoOverlap, NotFinite, NoVariation
from cutscore.sweeps.proper_scores import blocks, check_probabilities
from cutscore.sweeps.sweep import Floats, Masses, Sweep

Places = NDArray[np.intp]

_CHUNK = 1 << 15


def logistic(s: Sweep) -> Affine:
    """γ = (d̄₊ − d̄₋)/σ² and d₀ = (d̄₊ + d̄₋)/2."""
    unit = _unit(s, "logistic")
    if unit.half == 0:
        return Affine(0.0, unit.centre, "logistic")
    m, variance = _common_variance(s, unit)
    gamma = (m.pos_mean - m.neg_mean) / variance
    return _affine(unit, gamma, 0.5 * m.pos_mean + 0.5 * m.neg_mean, "logistic")


class NormalClasses(NamedTuple):
    """The model of logistic calibration: scores normal in each class, with equal variances."""

    pos_mean: float
    neg_mean: float
    sd: float


def normal_classes(s: Sweep) -> NormalClasses:
    """The means of the classes and their pooled standard deviation."""
    unit = _unit(s, "logistic")
    m, variance = _common_variance(s, unit)
    pos, neg = (unit.centre + unit.half * z for z in (m.pos_mean, m.neg_mean))
    return NormalClasses(pos, neg, unit.half * sqrt(variance))


def _common_variance(s: Sweep, unit: _Unit) -> tuple[_Moments, float]:
    m = _moments(s, unit) if unit.half else _Moments(0.0, 0.0, 0.0, 0.0)
    variance = s.P / (s.P + s.N) * m.pos_var + s.N / (s.P + s.N) * m.neg_var
    if not variance > _ROUNDING:
        raise _constant("logistic", "within either class")
    return m, variance


def gaussian(s: Sweep) -> Gaussian:
    """Mean and variance of each class."""
    unit = _unit(s, "gaussian")
    m = _moments(s, unit) if unit.half else None
    if m is None or not (m.pos_var > _ROUNDING and m.neg_var > _ROUNDING):
        raise _constant("gaussian", "within one of the classes")
    return Gaussian(
        unit.centre + unit.half * m.pos_mean,
        unit.half * sqrt(m.pos_var),
        unit.centre + unit.half * m.neg_mean,
        unit.half * sqrt(m.neg_var),
        float(s.threshold[-1]),
        float(s.threshold[0]),
    )


def platt(s: Sweep, smooth: bool = False) -> Affine:
    """The maximum of the likelihood of P(+|score) = σ(γ (score − d₀) + ln(P/N))."""
    unit = _unit(s, "platt")
    if unit.half == 0:
        return Affine(0.0, unit.centre, "platt")
    if not smooth and not all(overlaps(s.pos, s.neg)):
        raise _separation_error("platt")

    def features(t: Floats) -> list[Floats]:
        return [(t - unit.centre) / unit.half]

    constant, (slope,) = fit(s, features, _targets(s, smooth), rising=False)
    if abs(slope) < 1e-12:  # from the lowest score to the highest, by rounding at the most
        return Affine(0.0, unit.centre, "platt")
    return _affine(unit, slope, (_log_ratio(s) - constant) / slope, "platt")


def beta(s: Sweep, smooth: bool = False) -> Beta:
    """The maximum of the likelihood of log odds a ln p − b ln(1−p) + c + ln(P/N), a and b ≥ 0."""
    s.needs_both_classes("beta calibration")
    check_probabilities(s, "beta calibration", hint="")
    if not smooth and len(s) > 1 and not overlaps(s.pos, s.neg)[0]:
        raise _separation_error("beta")

    def features(t: Floats) -> list[Floats]:
        p = np.clip(t, EPS, 1 - EPS)
        return [np.log(p), -np.log1p(-p)]

    constant, (a, b) = fit(s, features, _targets(s, smooth), rising=True)
    if a == b == 0:
        return Beta(0.0, 0.0, 0.0)
    return Beta(a, b, constant - _log_ratio(s))


def isotonic(
    s: Sweep, smooth: bool = True, interpolate: bool = False, strict: bool = False
) -> Monotone:
    """Isotonic regression: the slopes of the ROC convex hull, as a step function."""
    s.needs_both_classes("isotonic calibration")
    if not smooth and (interpolate or strict):
        rule = "a calibrator that is interpolated or strictly increasing must have finite ends"
        raise DataError(Conflict(("smooth", "interpolate", "strict"), rule, "Drop {0}=False."))
    b = blocks(s)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        odds = b.pos / b.neg
    # Only where a class is absent is its likelihood 0, not where a quotient of weights vanishes.
    both = (b.pos > 0) & (b.neg > 0)
    odds[both] = np.clip(odds[both], 1e-300, 1e300)
    if smooth:
        odds = _with_finite_ends(odds, b.pos, b.neg)
    with np.errstate(divide="ignore"):
        value = np.log(odds) - _log_ratio(s)
    value = np.minimum.accumulate(value)  # sums of weights are rounded
    if interpolate:
        _unit(s, "interpolated isotonic")
        at = _mean_scores(s, b.cut)
    else:
        at = _starts(s, b.cut[1:])
    centre, scale = _middle(s) if strict else (0.0, 1.0)
    return Monotone(at, value, interpolate, 2.0**-10 if strict else 0.0, centre, scale)


def spline(s: Sweep) -> Monotone:
    """The piecewise linear monotone map of maximum likelihood, with smoothed targets."""
    return splines(s)["spline"]


# The weight of the spline in its mean with Platt's map.
_SHARES = {"spline-25": 0.25, "spline-50": 0.5, "spline-75": 0.75, "spline": 1.0}


def splines(s: Sweep) -> dict[str, Monotone]:
    """Weighted means of Platt's map and the spline, up to the spline itself."""
    s = merge_neighbours(s)
    unit = _unit(s, "spline")
    knots = _knots(s, unit)
    if len(knots) == 1:
        return {name: Monotone(knots, np.zeros(1), True, method=name) for name in _SHARES}
    rising = knots[::-1]
    z, edges = ((t - unit.centre) / unit.half for t in (s.threshold, rising))
    constant, steps = fit_pieces(s, z, edges, _targets(s, smooth=True))
    bent = constant - _log_ratio(s) + np.concatenate(((0.0,), np.cumsum(steps)))
    straight = non_decreasing(platt(s, smooth=True)).llr(rising)
    return {
        name: Monotone(
            knots,
            np.maximum.accumulate(share * bent + (1 - share) * straight)[::-1],
            True,
            method=name,
        )
        for name, share in _SHARES.items()
    }


def _knots(s: Sweep, unit: _Unit) -> Floats:
    """Quantiles of the scores, the classes weighted equally, and the outermost scores."""
    pieces = int(np.clip(round(1.6 * min(s.P, s.N) ** 0.2), 2, 32))
    upto = np.cumsum(s.pos / s.P + s.neg / s.N) / 2
    inner = np.searchsorted(upto, np.arange(1, pieces) / pieces)
    places = np.unique(np.concatenate(((0,), inner, (len(s) - 1,))).clip(0, len(s) - 1))
    # Scores that differ by rounding only are one.
    z = (s.threshold[places] - unit.centre) / (unit.half or 1.0)
    return np.asarray(s.threshold[places[np.flatnonzero(np.diff(z, prepend=np.inf) < 0)]])


# More distinct scores than this don't change which method is best.
_MOST = 1 << 13


def starts_of(m: int) -> NDArray[np.intp]:
    """The starts of groups of neighbouring scores; single scores if m is small."""
    return np.arange(0, m, max(1, -(-m // _MOST)))


def merge_neighbours(s: Sweep) -> Sweep:
    """A sweep of at most some thousand scores: neighbours are merged at the middle one."""
    starts = starts_of(len(s))
    if len(starts) == len(s):
        return s
    pos, neg = (np.add.reduceat(mass, starts) for mass in (s.pos, s.neg))
    middle = (starts + np.append(starts[1:], len(s))) // 2
    return Sweep._adopt(s.threshold[middle], pos, neg)


METHODS: dict[str, Callable[..., Calibrator]] = {
    "logistic": logistic,
    "platt": platt,
    "beta": beta,
    "gaussian": gaussian,
    "spline": spline,
    "isotonic": isotonic,
}
"""The methods by name."""


def non_decreasing(c: Affine) -> Affine:
    """The calibrator itself if it is monotone, else the most likely one that is: LLR = 0."""
    return c if c.monotone else Affine(0.0, c.d0, c.method)


# Decisions flag scores above a threshold, so "auto" considers monotone calibrators only; `gaussian`
# has to be named. Smoothed targets give a fit even to separable classes, which are not rare in
# small folds.
CANDIDATES: dict[str, Callable[[Sweep], Mapping[str, Calibrator]]] = {
    "platt": lambda s: {"platt": non_decreasing(platt(s, smooth=True))},
    "beta": lambda s: {"beta": beta(s, smooth=True)},
    "spline": splines,
    "isotonic": lambda s: {"isotonic": isotonic(s)},
}
"""The candidates of "auto", from the simplest to the most flexible; a family is fitted at once."""


def family(method: str) -> str:
    """The family of methods that is fitted at once with this one."""
    return method.partition("-")[0]


def candidate(s: Sweep, method: str) -> Calibrator:
    """One of the candidates of "auto", fitted."""
    return CANDIDATES[family(method)](s)[method]


class _Unit(NamedTuple):
    """Scores as centre + half · z with z from −1 to 1: sums of squares neither overflow nor
    vanish, whatever the scale."""

    centre: float
    half: float


# A variance of z below this is rounding error.
_ROUNDING = 1e-30


def _unit(s: Sweep, method: str) -> _Unit:
    s.needs_both_classes(f"{method} calibration")
    high, low = float(s.threshold[0]), float(s.threshold[-1])
    if not (isfinite(high) and isfinite(low)):
        hint = "Drop or clip such rows, or use 'isotonic', which only compares scores."
        one = high if isinf(high) else low
        raise DataError(NotFinite(f"scores of {method} calibration", one, hint=hint))
    half = 0.5 * high - 0.5 * low
    return _Unit(0.5 * high + 0.5 * low, half if half or high == low else high - low)


class _Moments(NamedTuple):
    pos_mean: float
    pos_var: float
    neg_mean: float
    neg_var: float


def _moments(s: Sweep, unit: _Unit) -> _Moments:
    """Mean and variance of z in either class; the denominators are the masses P and N."""
    out: list[float] = []
    for mass, total in ((s.pos, s.P), (s.neg, s.N)):
        mean = _total(s, lambda z, share: z * share, mass, total, unit)
        spread = _total(s, lambda z, share, m=mean: np.square(z - m) * share, mass, total, unit)
        out += [mean, spread]
    return _Moments(*out)


def _total(s: Sweep, term: Callable[..., Floats], mass: Masses, total: float, unit: _Unit) -> float:
    out = 0.0
    for k in range(0, len(s), _CHUNK):
        at = slice(k, k + _CHUNK)
        z = (s.threshold[at] - unit.centre) / unit.half
        out += float(np.sum(term(z, mass[at] / total)))
    return out


def _affine(unit: _Unit, slope: float, zero: float, method: str) -> Affine:
    """LLR = slope · (z − zero), in terms of the score."""
    gamma, d0 = slope / unit.half, unit.centre + unit.half * zero
    if not (isfinite(gamma) and isfinite(d0)):
        name, value = ("d₀", d0) if isfinite(gamma) else ("γ", gamma)
        raise DataError(BeyondFloats(f"{name} of {method}", value, "Rescale the scores."))
    return Affine(gamma, d0, method)


def _log_ratio(s: Sweep) -> float:
    """ln(P/N), the prior log odds of the rows."""
    return log(s.P) - log(s.N)


def _targets(s: Sweep, smooth: bool) -> tuple[float, float]:
    return ((s.P + 1) / (s.P + 2), 1 / (s.N + 2)) if smooth else (1.0, 0.0)


def _separation_error(method: str) -> UndefinedError:
    return UndefinedError(
        NoOverlap(f"{method} calibration", hint="Use smooth=True, or 'isotonic'.")
    )


def _constant(method: str, where: str) -> UndefinedError:
    so = f"{method} calibration is undefined"
    hint = "Use 'platt' with smooth=True, or 'isotonic'."
    return UndefinedError(NoVariation("the score", where, so, hint))


def _with_finite_ends(odds: Floats, pos: Masses, neg: Masses) -> Floats:
    """Odds where the end steps have half a row of the other class, plus the next step's odds."""
    out = odds.copy()
    top, bottom = neg == 0, pos == 0
    inner = odds[~top & ~bottom]
    if top.any():
        out[top] = (inner[0] if len(inner) else 0.0) + (pos[top].sum() + 0.5) / 0.5
    if bottom.any():
        most = (1 / inner[-1] if len(inner) else 0.0) + (neg[bottom].sum() + 0.5) / 0.5
        out[bottom] = 1 / most
    return out


def _starts(s: Sweep, cut: Places) -> Floats:
    """The threshold of each step: in the gap below it; −inf for the last."""
    at = np.array([s.threshold_of(k) for k in cut.tolist()])
    # Among the largest floats a decimal in the gap may round to its end.
    upper, lower = s.threshold[cut[:-1] - 1], s.threshold[cut[:-1]]
    at[:-1] = np.where((lower < at[:-1]) & (at[:-1] <= upper), at[:-1], upper)
    return at


def _mean_scores(s: Sweep, cut: Places) -> Floats:
    """The mean score of each step."""
    mass = (s.pos + s.neg).astype(np.float64)
    share = mass / np.repeat(np.add.reduceat(mass, cut[:-1]), np.diff(cut))
    mean = np.add.reduceat(share * s.threshold, cut[:-1])
    # Rounding must not carry a mean out of its step, into the next one.
    return np.clip(mean, s.threshold[cut[1:] - 1], s.threshold[cut[:-1]])


def _middle(s: Sweep) -> tuple[float, float]:
    """The median and half the interquartile range of the finite scores."""
    t = s.threshold[np.isfinite(s.threshold)]
    if not len(t):
        return 0.0, 1.0
    m = len(t) - 1
    for high, low in ((m // 4, m - m // 4), (0, m)):
        half = float(0.5 * t[high] - 0.5 * t[low])
        if half > 0:
            return float(t[m // 2]), half
    return float(t[0]), 1.0
