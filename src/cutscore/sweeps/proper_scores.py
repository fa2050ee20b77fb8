"""Proper scores: how good probabilities and likelihood ratios are, and where the loss comes from.

The scores of the sweep are the forecasts: probabilities, or natural logarithms of likelihood ratios
for :func:`cllr`. A forecast of 0 or 1 is legal and final: if the impossible happens, its log loss
is ``+inf``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import NotProbabilities, Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import Card
from cutscore.measures.prior import check_level
from cutscore.sweeps.hull import chain, vertices
from cutscore.sweeps.sweep import EqualRows, Floats, Masses, Sweep, check_sweep


def brier(s: Sweep) -> float:
    r"""Brier score of probabilities: the mean of (p − y)², with y = 0 or 1.

    0 is perfect, and ¼ is what p = ½ always gets.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78
    (1950). https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.brier(cs.sweep([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.6]))
    0.1425...
    """
    p = check_probabilities(s, "the Brier score")
    return _mean_loss(s, np.square(1 - p), np.square(p))


def log_loss(s: Sweep) -> float:
    r"""Log loss of probabilities: the mean of −ln p over positives and −ln(1−p) over negatives.

    In nats. Probabilities are not clipped: where a positive was given p = 0, or a negative p = 1,
    it is ``+inf``, since no finite sum repays a certainty that was wrong.

    References
    ----------
    Good, "Rational decisions", Journal of the Royal Statistical Society B 14 (1952).
    https://doi.org/10.1111/j.2517-6161.1952.tb00104.x

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.log_loss(cs.sweep([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.6]))
    0.438...
    >>> cs.log_loss(cs.sweep([1, 0], [1, 0])), cs.log_loss(cs.sweep([0, 0], [1, 0]))
    (0.0, inf)
    """
    p = check_probabilities(s, "the log loss")
    with np.errstate(divide="ignore"):
        return _mean_loss(s, -np.log(p), -np.log1p(-p))


def cllr(s: Sweep) -> float:
    r"""Cost of log-likelihood ratios: what they lose on average over all decisions.

    :math:`C_{llr} = \tfrac12 \big(\mathrm{mean}_+ \log_2(1 + 1/LR) + \mathrm{mean}_- \log_2(1 +
    LR)\big)`, for scores that are ln LR. It is the log loss in bits where both classes have the
    same weight, whatever their shares: 0 is perfect, 1 is what LR = 1 always gets, and more is
    worse than saying nothing. ``±inf`` are legal; on the wrong side they make it ``+inf``.

    References
    ----------
    Brümmer & du Preez, "Application-independent evaluation of speaker detection", Computer Speech &
    Language 20 (2006). https://doi.org/10.1016/j.csl.2005.08.001

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 1, 0, 0], [2.0, 0.5, -1.0, 0.5])
    >>> cs.cllr(s), cs.min_cllr(s)
    (0.681..., 0.5)
    """
    check_sweep(s).needs_both_classes("Cllr")
    s.needs_scores("Cllr")
    llr = s.threshold
    return (
        0.5
        * (
            _weighted_mean(s.pos, s.P, np.logaddexp(0, -llr))
            + _weighted_mean(s.neg, s.N, np.logaddexp(0, llr))
        )
        / log(2)
    )


def min_cllr(s: Sweep) -> float:
    r"""Cllr after the best monotone calibration: the loss that no calibration removes.

    The likelihood ratios are the slopes of the ROC convex hull. Of the scores it uses the order
    only, so they may be anything, and it is always finite. ``cllr(s) - min_cllr(s)`` is the loss by
    miscalibration.

    References
    ----------
    Brümmer & du Preez 2006, https://doi.org/10.1016/j.csl.2005.08.001

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.min_cllr(cs.sweep([1, 0, 1, 0], [9, 4, 2, 1]))
    0.5
    """
    check_sweep(s).needs_both_classes("the minimum of Cllr")
    b = blocks(s)
    return float(_entropy(b.pos / s.P, b.neg / s.N)) / (2 * log(2))


@dataclass(frozen=True)
class Decomposition(Card):
    """A mean score and what it consists of; see :func:`cutscore.decompose`.

    ``score = miscalibration - discrimination + uncertainty``.

    Parameters
    ----------
    score : float
        The mean score; less is better.
    miscalibration : float
        What the best monotone recalibration would take away: 0 is calibrated.
    discrimination : float
        What recalibrated forecasts gain on always saying the share of positives.
    uncertainty : float
        The score of always saying the share of positives.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def __repr__(self) -> str:
        return (
            f"score {self.score:.6g} = miscalibration {self.miscalibration:.6g} − discrimination "
            f"{self.discrimination:.6g} + uncertainty {self.uncertainty:.6g}"
        )

    def _facts(self) -> list[tuple[str, str]]:
        return [(name, f"{value:.3g}") for name, value in vars(self).items()]


def decompose(s: Sweep, score: str = "brier") -> Decomposition:
    r"""Split a mean score into miscalibration, discrimination and uncertainty.

    With S̄ the mean score of the forecasts, S̄_c that of the forecasts recalibrated by isotonic
    regression (PAV), and S̄_r that of the constant share of positives: miscalibration = S̄ − S̄_c,
    discrimination = S̄_r − S̄_c, uncertainty = S̄_r. All three are at least 0, and nothing has to be
    binned (the CORP approach).

    Parameters
    ----------
    s : Sweep
        A sweep of probabilities; of log-likelihood ratios for ``"cllr"``.
    score : str, default 'brier'
        ``"brier"``, ``"log"`` or ``"cllr"``.

    Returns
    -------
    Decomposition

    References
    ----------
    Dimitriadis, Gneiting & Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 118 (2021). https://doi.org/10.1073/pnas.2016191118

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.decompose(cs.sweep([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.6]))
    score 0.1425 = miscalibration 0.0175 − discrimination 0.125 + uncertainty 0.25
    """
    one_of("score", score, ("brier", "log", "cllr"))
    b = blocks(s)
    if score == "cllr":
        value, best, constant = cllr(s), min_cllr(s), 1.0
    elif score == "brier":
        value, total = brier(s), s.P + s.N
        # Σ pos · neg / (pos + neg): the shares first, since masses may be as large as floats go.
        best = float(np.sum(b.pos / total * (b.neg / (b.pos + b.neg))))
        constant = s.P / total * (s.N / total)
    else:
        value, total = log_loss(s), s.P + s.N
        best = _entropy(b.pos / total, b.neg / total)
        constant = _entropy(np.array([s.P / total]), np.array([s.N / total]))
    # Rounding must not make one of them negative.
    best = min(best, value, constant)
    return Decomposition(value, value - best, constant - best, constant)


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Frozen):
    """A reliability curve: what was forecast and what happened; see :func:`cutscore.reliability`.

    Parameters
    ----------
    forecast : array of float
        The distinct probabilities, descending.
    calibrated : array of float
        The recalibrated probability at each: the share of positives in its block.
    mass : array of int or float
        The mass of cases at each.
    start : array of int
        Where each block begins: the forecasts of a block are ``forecast[start[k]:start[k + 1]]``.
    low, high : array of float or None
        The consistency band at each forecast, or None: where the calibrated value lies, with the
        probability ``level`` at each forecast, if the forecasts are right.
    level : float or None
        Confidence level of the band.
    samples : int
        Number of samples that the band was made of.
    """

    forecast: Floats
    calibrated: Floats
    mass: Masses
    start: NDArray[np.int64]
    low: Floats | None = None
    high: Floats | None = None
    level: float | None = None
    samples: int = 0

    @derived
    def outside(self) -> NDArray[np.bool_]:
        """Whether the calibrated value is outside the band, at each forecast."""
        if self.low is None or self.high is None:
            hint = "Use reliability(s, level=0.95)."
            raise UndefinedError(
                Undefined("the share outside", "requires a consistency band", hint)
            )
        return np.asarray((self.calibrated < self.low) | (self.calibrated > self.high))

    def __len__(self) -> int:
        return len(self.forecast)

    def _facts(self) -> list[tuple[str, str]]:
        facts = [("forecasts", f"{len(self):,}"), ("blocks", f"{len(self.start):,}")]
        if self.level is not None:
            share = float(np.sum(self.mass[self.outside] / np.sum(self.mass)))
            facts.append(
                (f"outside the {100 * self.level:g} % band", f"{100 * share:.3g} % of cases")
            )
        return facts

    def __repr__(self) -> str:
        return "Reliability: " + ", ".join(f"{value} {name}" for name, value in self._facts())


def reliability(
    s: Sweep, *, level: float | None = 0.95, n: int = 1000, seed: int = 0
) -> Reliability:
    r"""Reliability curve of probabilities, by isotonic regression, with a consistency band.

    Nothing is binned by hand: the blocks are those of the isotonic regression of the labels on the
    forecasts (PAV), which are the segments of the ROC convex hull. The band shows what the curve of
    *calibrated* forecasts would look like: labels are drawn at each distinct forecast with just
    that probability, the curve is computed anew, and the band holds the share ``level`` of the
    values at each forecast.

    Parameters
    ----------
    s : Sweep
        A sweep of probabilities.
    level : float, optional
        Of the band, at each forecast by itself; None for no band. For the band of weighted rows
        the sweep needs squares: ``sweep(..., squares=True)``.
    n : int, default 1000
        How many times labels are drawn.
    seed : int, default 0
        Equal seeds draw equal labels.

    Returns
    -------
    Reliability

    Notes
    -----
    From 6,144 distinct forecasts on, neighbours are drawn together for the band, at their mean
    forecast: the 1,024 highest and lowest stay alone, the others make 4,096 groups of nearly equal
    mass, much finer than the blocks of so many rows. The curve itself is exact.

    Of weighted rows, labels are drawn such that positives have the share of *weight* that was
    forecast. A row of the other label would weigh so many times more or less as the mean weights of
    the classes say, and otherwise keeps its weight: where negatives were sampled, more of the rows
    there are positive than of all cases. Rows of one forecast count as (Σw)²/Σw², rounded.

    References
    ----------
    Dimitriadis, Gneiting & Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 118 (2021). https://doi.org/10.1073/pnas.2016191118

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.7, 0.5, 0.1], pos=[80, 30, 32, 10], neg=[20, 30, 28, 90])
    >>> r = cs.reliability(s)
    >>> r
    Reliability: 4 forecasts, 3 blocks, 50 % of cases outside the 95 % band
    >>> r.calibrated.round(3)
    array([0.8  , 0.517, 0.517, 0.1  ])
    >>> r.outside
    array([ True,  True, False, False])
    """
    p = check_probabilities(s, "a reliability curve")
    b = blocks(s)
    calibrated = np.repeat(b.pos / (b.pos + b.neg), np.diff(b.cut))
    mass, start = s.pos + s.neg, b.cut[:-1]
    if level is None:
        return Reliability(p, calibrated, mass, start)
    level = check_level(level)
    if not isinstance(n, (int, np.integer)) or not 1 <= n <= 10**6:
        raise DataError(BadArgument("n", "be an integer from 1 to 1,000,000", n))
    low, high = _consistency(s, level, int(n), check_seed(seed))
    return Reliability(p, calibrated, mass, start, low, high, level, int(n))


# The forecasts that the band treats one by one at either end, and the groups between.
_ALONE, _GROUPS = 1024, 4096


def _consistency(s: Sweep, level: float, samples: int, seed: int) -> tuple[Floats, Floats]:
    p, mass, m = s.threshold, s.pos + s.neg, len(s)
    first = np.arange(m)
    if m >= 2 * _ALONE + _GROUPS:
        inner = np.cumsum(mass[_ALONE : m - _ALONE])
        steps = np.linspace(0, inner[-1], _GROUPS, endpoint=False)
        middle = _ALONE + np.searchsorted(inner, steps, side="right")
        first = np.unique(np.concatenate((first[:_ALONE], middle, first[m - _ALONE :])))
    mean = np.add.reduceat(p * mass, first) / np.add.reduceat(mass, first)
    mean = np.clip(mean, 0.0, 1.0)  # rounding
    drawn = _Labels.of(s, first, mean)
    rng = np.random.default_rng(seed)
    curves = np.empty((samples, len(first)))
    corners = _native.weighted_corners if s.weighted else _native.corners
    for curve in curves:
        cut, tp, fp = corners(*drawn.masses(rng))
        end, _ = chain(cut, tp, fp)
        sums = np.diff(tp[np.searchsorted(cut, end)]), np.diff(fp[np.searchsorted(cut, end)])
        curve[:] = np.repeat(sums[0] / (sums[0] + sums[1]), np.diff(end))
    low, high = np.quantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    sizes = np.diff(first, append=m)
    return np.repeat(low, sizes), np.repeat(high, sizes)


@dataclass(frozen=True)
class _Labels:
    """Rows at each forecast, how likely each is positive, and what it weighs in either class."""

    rows: NDArray[np.int64]
    share: Floats
    weight: tuple[Floats, Floats] | None

    @classmethod
    def of(cls, s: Sweep, first: NDArray[np.int64], mean: Floats) -> _Labels:
        if not s.weighted:
            return cls(np.add.reduceat(s.pos + s.neg, first), mean, None)
        pos, neg = EqualRows.of(s, "a consistency band")
        # A class without rows is taken to weigh what the other does.
        a, b = (of.mass / of.total if of.total else 0.0 for of in (pos, neg))
        a, b = a or b, b or a
        pos2, neg2 = s.squares("a consistency band")
        size = np.add.reduceat(s.pos / a + s.neg / b, first)
        squares = np.add.reduceat(pos2 / a / a + neg2 / b / b, first)
        rows = EqualRows.made(size, squares)
        share = mean * b / (mean * b + (1 - mean) * a)
        return cls(rows.rows, share, (a * rows.each, b * rows.each))

    def masses(self, rng: np.random.Generator) -> tuple[Masses, Masses]:
        pos = rng.binomial(self.rows, self.share)
        neg = self.rows - pos
        return (pos, neg) if self.weight is None else (pos * self.weight[0], neg * self.weight[1])


_CALIBRATE = "Calibrate the scores first: calibrate(s).probability(score, prior)."


def check_seed(seed: object) -> int:
    """A seed for our generators of random numbers and for NumPy's."""
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and 0 <= seed < 2**64:
        return int(seed)
    raise DataError(BadArgument("seed", "be an integer from 0 to 2**64 - 1", seed))


def check_probabilities(s: Sweep, measure: str, hint: str = _CALIBRATE) -> Floats:
    """The scores of a sweep that are probabilities."""
    check_sweep(s).needs_rows(measure)
    s.needs_scores(measure)
    top, bottom = float(s.threshold[0]), float(s.threshold[-1])
    if bottom < 0 or top > 1:
        raise DataError(NotProbabilities(measure, bottom if bottom < 0 else top, hint=hint))
    return s.threshold


class Blocks(NamedTuple):
    """Runs of scores with one calibrated value (PAV), from the highest on."""

    cut: NDArray[np.int64]  # 0 and the end of each
    pos: Masses
    neg: Masses


def blocks(s: Sweep) -> Blocks:
    check_sweep(s).needs_rows("isotonic regression")
    cut = vertices(s).cut
    # Summed anew: differences of long cumulative sums of weights would lose digits.
    pos, neg = (s.sums(mass, cut[:-1]) for mass in (s.pos, s.neg))
    return Blocks(cut, pos, neg)


def _entropy(a: Floats, b: Floats) -> float:
    """Σ a ln((a+b)/a) + b ln((a+b)/b), where 0 ln 0 = 0."""
    out = 0.0
    for part in (a, b):
        some = part > 0
        out += float(np.sum(part[some] * -np.log(part[some] / (a + b)[some])))
    return out


def _mean_loss(s: Sweep, on_pos: Floats, on_neg: Floats) -> float:
    """The mean loss of all cases."""
    total = s.P + s.N
    return _weighted_mean(s.pos, total, on_pos) + _weighted_mean(s.neg, total, on_neg)


def _weighted_mean(mass: Masses, total: float, loss: Floats) -> float:
    # Where there is nobody an infinite loss hurts nobody; elsewhere it does, be there ever so few.
    loss = np.where(mass > 0, loss, 0.0)
    if np.isinf(loss).any():
        return inf
    return float(np.sum(mass / total * loss))
