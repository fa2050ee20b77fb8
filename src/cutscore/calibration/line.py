"""Calibration slope and intercept: logistic recalibration of probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from cutscore.calibration.logistic import fit, overlaps
from cutscore.calibration.odds import sigmoid
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.statistics import NoOverlap, NotProbabilities, NoVariation
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.measures.prior import check_level
from cutscore.sweeps.proper_scores import check_probabilities
from cutscore.sweeps.sweep import Floats, Sweep


@dataclass(frozen=True, repr=False)
class CalibrationLine(Card):
    """Calibration intercept and slope, with intervals; see :func:`cutscore.calibration_line`.

    Parameters
    ----------
    intercept : float
        Calibration in the large, in log odds: 0 is ideal; below 0 the probabilities are too high on
        average, above 0 too low.
    intercept_interval : Interval
        Its confidence interval.
    slope : float
        1 is ideal; below 1 the probabilities are too extreme, above 1 not extreme enough.
    slope_interval : Interval
        Its confidence interval.
    """

    intercept: float
    intercept_interval: Interval
    slope: float
    slope_interval: Interval

    def __repr__(self) -> str:
        return f"calibration {', '.join(f'{name} {value}' for name, value in self._facts())}"

    def _facts(self) -> list[tuple[str, str]]:
        both = {
            "intercept": (self.intercept, self.intercept_interval),
            "slope": (self.slope, self.slope_interval),
        }
        return [(name, estimate_text(x, ci)) for name, (x, ci) in both.items()]

    def _title(self) -> str:
        return "Calibration"


def calibration_line(s: Sweep, *, level: float = 0.95) -> CalibrationLine:
    r"""Calibration intercept and slope of probabilities, with confidence intervals.

    The slope is β of :math:`\operatorname{logit} P(+) = \alpha + \beta \operatorname{logit} p`; the
    intercept, or calibration in the large, is α with β fixed at 1. Both by maximum likelihood.
    Calibrated probabilities have intercept 0 and slope 1.

    Parameters
    ----------
    s : Sweep
        A sweep of probabilities, above 0 and below 1, of held-out rows. Convert log-likelihood
        ratios first: ``cutscore.probability(llr, prior)``. Weighted rows need
        ``sweep(..., squares=True)``.
    level : float, default 0.95
        The confidence level of the intervals.

    Returns
    -------
    CalibrationLine

    Notes
    -----
    Intervals are Wald intervals: ± z standard errors from the information matrix, or from the
    sandwich estimator for weighted rows. The slope needs classes that overlap: if every positive
    has a higher probability than every negative, its maximum likelihood estimate is infinite.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 45 (1958).
    https://doi.org/10.1093/biomet/45.3-4.562. Van Calster et al., "A calibration hierarchy for risk
    models was defined: from utopia to empirical data", Journal of Clinical Epidemiology 74 (2016).
    https://doi.org/10.1016/j.jclinepi.2015.12.005

    Examples
    --------
    >>> import cutscore as cs
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(-1, 1, 2_000)
    >>> y = rng.random(2_000) < 1 / (1 + np.exp(-odds))
    >>> too_sure = 1 / (1 + np.exp(-2 * odds))
    >>> cs.calibration_line(cs.sweep(y, too_sure))
    calibration intercept 0.634 (95 % CI 0.513–0.755), slope 0.505 (95 % CI 0.443–0.567)
    """
    level = check_level(level)
    p = check_probabilities(s, "a calibration line")
    s.needs_both_classes("a calibration line")
    if p[0] == 1 or p[-1] == 0:
        certain, rule = 1.0 if p[0] == 1 else 0.0, "above 0 and below 1"
        hint = "Clip them, and report that you did."
        raise DataError(NotProbabilities("a calibration line", certain, rule, hint))
    if len(s) < 2:
        raise UndefinedError(
            NoVariation("the probability", "over these rows", "the calibration slope is undefined")
        )
    if not all(overlaps(s.pos, s.neg)):
        raise UndefinedError(NoOverlap("a calibration slope"))
    squares = s.squares("a calibration line")
    z = NormalDist().inv_cdf((1 + level) / 2)

    def interval(value: float, error: float) -> Interval:
        return Interval(value - z * error, value + z * error, level)

    odds = _log_odds(p)
    shift = _shift(s, odds)
    (shift_error,) = _errors(s, squares, np.ones((1, len(s))), sigmoid(odds + shift))
    constant, (slope,) = fit(s, lambda t: [_log_odds(t)], (1.0, 0.0), rising=False)
    rows = np.stack((np.ones(len(s)), odds))
    _, slope_error = _errors(s, squares, rows, sigmoid(constant + slope * odds))
    return CalibrationLine(shift, interval(shift, shift_error), slope, interval(slope, slope_error))


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p) - np.log1p(-p))


def _shift(s: Sweep, odds: Floats) -> float:
    """The shift of all log odds that makes the expected number of positives the observed one."""
    from scipy.optimize import brentq

    share = (s.pos + s.neg) / (s.P + s.N)

    def excess(shift: float) -> float:
        return float(share @ sigmoid(odds + shift)) - s.prevalence

    # Between the log odds of the prevalence less the highest and less the lowest.
    middle = float(np.log(s.P) - np.log(s.N))
    return float(brentq(excess, middle - odds[0] - 1e-9, middle - odds[-1] + 1e-9, xtol=1e-13))


def _errors(s: Sweep, squares: tuple[Floats, Floats], rows: Floats, p: Floats) -> Floats:
    """Standard errors of the coefficients of rows, at the expected probabilities p."""
    try:
        inverse = np.linalg.inv((rows * ((s.pos + s.neg) * p * (1 - p))) @ rows.T)
    except np.linalg.LinAlgError:  # one score has next to all of the weight
        why = "next to all of the weight is at one score"
        raise UndefinedError(NoOverlap("a calibration slope", why)) from None
    if s.weighted:
        noise = squares[0] * np.square(1 - p) + squares[1] * np.square(p)
        inverse = inverse @ ((rows * noise) @ rows.T) @ inverse
    return np.asarray(np.sqrt(np.diag(inverse)))
