"""How many rows a study needs: power, sample size and the least effect that can be found.

All of it is planning: it rests on values that are expected, not known. Scores are taken to be
normal with equal spreads in both classes, unless data of a pilot study say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import asin, ceil, exp, inf, pi, sqrt
from statistics import NormalDist

import numpy as np

from cutscore.comparison.covariance import AucCovariance
from cutscore.comparison.hypotheses import Hypothesis, as_hypothesis, quantile
from cutscore.core.checks import number, one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument, Conflict
from cutscore.core.findings.statistics import NoVariation, Undefined
from cutscore.inference.guarantee import max_errors
from cutscore.inference.placements import placement_variances
from cutscore.inference.rates import wilson
from cutscore.measures.limits import Limit, as_limits, bad_limit
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.areas import auc as area_under
from cutscore.sweeps.sweep import Sweep

__all__ = [
    "AucPair",
    "LimitSize",
    "SampleSize",
    "auc_power",
    "auc_sample_size",
    "detectable_auc",
    "detectable_difference",
    "difference_power",
    "difference_sample_size",
    "limit_power",
    "limit_sample_size",
    "rate_sample_size",
    "sensitivity_sample_size",
]

_MOST = 1e12
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of rows of each class; see :func:`cutscore.comparison.power.auc_sample_size`."""

    positives: int
    negatives: int

    @property
    def total(self) -> int:
        """Rows of both classes."""
        return self.positives + self.negatives

    def __repr__(self) -> str:
        return f"{self.positives:,} positives and {self.negatives:,} negatives"


# ---------------------------------------------------------------------------------------- one AUC


def auc_power(  # noqa: PLR0913 - options have names
    auc: float | Sweep,
    positives: float,
    negatives: float,
    *,
    against: float = 0.5,
    alternative: str = "two-sided",
    method: str = "score",
    level: float = 0.95,
) -> float:
    r"""The power of a test that an AUC differs from a given value.

    With :math:`v(\theta)`, the variance of the AUC for this number of rows, the power is

    .. math:: \Phi\left(\frac{|\theta - \theta_0| - z \sqrt{v(\theta_0)}}{\sqrt{v(\theta)}}\right).

    Parameters
    ----------
    auc : float or Sweep
        The expected AUC :math:`\theta`, or the sweep of a pilot study, which supplies the AUC and
        its DeLong variance (for other AUCs, the variance is scaled as for normal scores).
    positives, negatives : float
        The number of rows of each class.
    against : float, default 0.5
        The AUC :math:`\theta_0` under the null hypothesis.
    alternative : str, default 'two-sided'
        ``"two-sided"``, ``"greater"`` (the AUC is above) or ``"less"``.
    method : str, default 'score'
        ``"score"``: :math:`\theta_0` is rejected if :func:`cutscore.auc_interval` excludes it. The
        variance is that of normal scores; under :math:`\theta_0`, it includes the interval's
        allowance for few rows. ``"obuchowski"``: the formula of Obuchowski et al., as pROC has it,
        :math:`P v(\theta) = 0.0099 e^{-A^2/2} (5 A^2 + 8 + (A^2 + 8) / \kappa)` with
        :math:`A = 1.414 \Phi^{-1}(\theta)` and :math:`\kappa = N/P`; it overstates the variance of
        high AUCs.
    level : float, default 0.95
        1 minus the significance level: 0.95 for tests at 5 %.

    References
    ----------
    Obuchowski, Lieber & Wians, "ROC curves in clinical chemistry: uses, misuses, and possible
    solutions", Clinical Chemistry 50 (2004). https://doi.org/10.1373/clinchem.2004.031823

    Examples
    --------
    >>> import cutscore as cs
    >>> round(cs.power.auc_power(0.73, positives=41, negatives=72), 3)
    0.988
    >>> round(cs.power.auc_power(0.73, positives=41, negatives=72, method="obuchowski"), 7)
    0.9897453
    """
    test = _OneAuc.of(auc, against, alternative, method, level)
    return test.power(_rows(positives, "positives"), _rows(negatives, "negatives"))


def auc_sample_size(  # noqa: PLR0913 - options have names
    auc: float | Sweep,
    *,
    power: float = 0.8,
    ratio: float = 1.0,
    against: float = 0.5,
    alternative: str = "two-sided",
    method: str = "score",
    level: float = 0.95,
) -> SampleSize:
    """The sample size for a test that an AUC differs from a given value.

    Parameters
    ----------
    auc : float or Sweep
        As in :func:`cutscore.comparison.power.auc_power`.
    against : float, default 0.5
        As in :func:`cutscore.comparison.power.auc_power`.
    alternative : str, default 'two-sided'
        As in :func:`cutscore.comparison.power.auc_power`.
    method : str, default 'score'
        As in :func:`cutscore.comparison.power.auc_power`.
    level : float, default 0.95
        As in :func:`cutscore.comparison.power.auc_power`.
    power : float, default 0.8
        The probability of detecting it.
    ratio : float, default 1.0
        Negatives per positive.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.power.auc_sample_size(0.73, power=0.95, ratio=1.7)
    32 positives and 54 negatives
    >>> cs.power.auc_sample_size(0.73, power=0.95, ratio=1.7, method="obuchowski")
    30 positives and 51 negatives
    """
    test, kappa = _OneAuc.of(auc, against, alternative, method, level), _ratio(ratio)
    return _fewest_rows(lambda n: test.power(n, kappa * n), check_level(power, "power"), kappa)


def detectable_auc(  # noqa: PLR0913 - options have names
    positives: float,
    negatives: float,
    *,
    power: float = 0.8,
    against: float = 0.5,
    alternative: str = "two-sided",
    method: str = "score",
    level: float = 0.95,
) -> float:
    """The AUC closest to a given value that a test can distinguish from it with the given power.

    Parameters
    ----------
    positives, negatives : float
        As in :func:`cutscore.comparison.power.auc_power`.
    against : float, default 0.5
        As in :func:`cutscore.comparison.power.auc_power`.
    method : str, default 'score'
        As in :func:`cutscore.comparison.power.auc_power`.
    level : float, default 0.95
        As in :func:`cutscore.comparison.power.auc_power`.
    power : float, default 0.8
        The probability of detecting it.
    alternative : str, default 'two-sided'
        ``"two-sided"`` and ``"greater"`` return an AUC above the given value, ``"less"`` one below.

    Examples
    --------
    >>> import cutscore as cs
    >>> round(cs.power.detectable_auc(41, 72, power=0.95), 3)
    0.703
    """
    pos, neg = _rows(positives, "positives"), _rows(negatives, "negatives")
    test = _OneAuc.of(against, against, alternative, method, level)
    return _nearest(
        lambda x: replace(test, auc=x).power(pos, neg),
        check_level(power, "power"),
        test.against,
        0.0 if alternative == "less" else 1.0,
    )


@dataclass(frozen=True, slots=True)
class _OneAuc:
    """A test of one AUC."""

    auc: float
    against: float
    asked: Hypothesis
    level: float
    score: bool
    spread: tuple[float, float] | None
    """Variances of the placements of a pilot study."""

    @classmethod
    def of(
        cls, auc: float | Sweep, against: float, alternative: str, method: str, level: float
    ) -> _OneAuc:
        one_of("method", method, ("score", "obuchowski"))
        if method == "obuchowski" and isinstance(auc, Sweep):
            rule = "Obuchowski's formula takes an AUC, not a pilot study"
            hint = "Use {1}=s.auc, or drop {0}."
            raise DataError(Conflict(("method", "auc"), rule, hint))
        one_of("alternative", alternative, ("two-sided", "greater", "less"))
        other, level, spread = _rate(against, "against"), check_level(level), None
        if isinstance(auc, Sweep):
            spread, auc = placement_variances(auc, area_under), auc.auc
            if not sum(spread) > 0:
                what, so = "the AUC of the pilot study", "nothing can be planned from it"
                hint = "Pass the AUC that you expect, such as 0.95."
                raise UndefinedError(NoVariation(what, so=so, hint=hint))
        asked = Hypothesis(alternative)
        return cls(_rate(auc, "auc"), other, asked, level, method == "score", spread)

    def power(self, positives: float, negatives: float) -> float:
        gap = self.auc - self.against
        gap = {"greater": gap, "less": -gap}.get(self.asked.alternative, abs(gap))
        z = quantile(inf, self.asked.of_interval(self.level)[0])
        null, there = (self.variance(x, positives, negatives) for x in (self.against, self.auc))
        if self.score:
            null *= 1 + 1 / sqrt(min(positives, negatives))
        return _NORMAL.cdf((gap - z * sqrt(null)) / sqrt(there))

    def variance(self, auc: float, positives: float, negatives: float) -> float:
        if not self.score:
            a, ratio = 1.414 * _NORMAL.inv_cdf(auc), negatives / positives
            each = 0.0099 * exp(-a * a / 2) * (5 * a * a + 8 + (a * a + 8) / ratio)
            return each / positives
        normal = AucPair(auc, self.auc, 0.0).variances(positives, negatives)
        if self.spread is None:
            return normal[0]
        measured = self.spread[0] / positives + self.spread[1] / negatives
        return normal[0] * measured / normal[1]


# --------------------------------------------------------------------------------- a difference


@dataclass(frozen=True, slots=True)
class AucPair:
    """The expected AUCs of two scores on the same rows.

    Parameters
    ----------
    a, b : float
        The AUCs.
    correlation : float
        The correlation of the two scores within a class, from 0 to less than 1.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.power.difference_sample_size(cs.power.AucPair(0.85, 0.8, correlation=0.6))
    242 positives and 242 negatives
    """

    a: float
    b: float
    correlation: float

    def __post_init__(self) -> None:
        _rate(self.a, "a")
        _rate(self.b, "b")
        if not 0 <= number(self.correlation) < 1:
            rule = "be at least 0 and less than 1"
            raise DataError(BadArgument("correlation", rule, self.correlation))

    def variances(self, positives: float, negatives: float) -> tuple[float, float, float]:
        """Those of a and of b and their covariance, for normal scores of equal spreads.

        Of all pairs of a positive and a negative, the covariance of two that share a row is that
        of two normal variables correlated at half the correlation of the scores.
        """
        h, k = _NORMAL.inv_cdf(self.a), _NORMAL.inv_cdf(self.b)

        def covariance(h: float, k: float, r: float, same: float) -> float:
            others = (positives + negatives - 2) * _above_both(h, k, r / 2)
            return (others + same) / (positives * negatives)

        return (
            covariance(h, h, 1.0, self.a * (1 - self.a)),
            covariance(k, k, 1.0, self.b * (1 - self.b)),
            covariance(h, k, self.correlation, _above_both(h, k, self.correlation)),
        )


def _above_both(h: float, k: float, r: float) -> float:
    """P(X < h, Z < k) − P(X < h) P(Z < k) of standard normal variables correlated at r.

    Its derivative by the correlation is the density at (h, k) (Plackett), integrated here over
    the angle whose sine the correlation is.
    """
    node, weight = np.polynomial.legendre.leggauss(64)
    angle = asin(r) * (node + 1) / 2
    cosine = np.cos(angle)
    density = np.exp(-(h * h + k * k - 2 * h * k * np.sin(angle)) / (2 * cosine * cosine))
    return float(asin(r) / 2 * np.sum(weight * density) / (2 * pi))


def difference_power(  # noqa: PLR0913 - options have names
    expected: AucPair | AucCovariance,
    positives: float,
    negatives: float | None = None,
    *,
    alternative: str = "two-sided",
    margin: float = 0.0,
    method: str = "t",
    level: float = 0.95,
) -> float:
    r"""The power of :func:`cutscore.compare`: the probability that its alternative hypothesis is
    supported.

    With :math:`\mathrm{se}^2 = v_a + v_b - 2c` the variance of the expected difference, t has a
    noncentral distribution whose noncentrality is the difference (plus the margin, if any) divided
    by se.

    Parameters
    ----------
    expected : AucPair or AucCovariance
        An :class:`cutscore.comparison.power.AucPair`; or the :func:`cutscore.auc_covariance` of two
        scores in a pilot study.
    positives, negatives : float
        The numbers of rows of each class, or of clusters if the pilot study has clusters. By
        default, there are as many negatives per positive as in the pilot study, or one. (The
        covariance from a pilot study is only valid for its own ratio.)
    alternative : str, default 'two-sided'
        As in :func:`cutscore.compare`.
    margin : float, default 0.0
        As in :func:`cutscore.compare`.
    level : float, default 0.95
        As in :func:`cutscore.compare`.
    method : str, default 't'
        ``"t"``: for the test used by :func:`cutscore.compare`. ``"obuchowski"``: Obuchowski and
        McClish's formula, as in pROC, with z and, under the null hypothesis, the variance 2 (v −
        c), where v is the variance of the first score.

    References
    ----------
    Obuchowski & McClish, "Sample size determination for diagnostic accuracy studies involving
    binormal ROC curve indices", Statistics in Medicine 16 (1997).
    https://doi.org/10.1002/(SICI)1097-0258(19970715)16:13<1529::AID-SIM565>3.0.CO;2-H

    Examples
    --------
    >>> import cutscore as cs
    >>> pair = cs.power.AucPair(0.85, 0.8, correlation=0.6)
    >>> round(cs.power.difference_power(pair, positives=100, negatives=400), 3)
    0.621
    >>> equal = cs.power.AucPair(0.8, 0.8, correlation=0.6)
    >>> round(cs.power.difference_power(equal, 100, 400, alternative="equivalent", margin=0.05), 3)
    0.394
    """
    study = _Study.of(expected, method)
    asked = as_hypothesis(alternative, margin, check_level(level), 1.0)
    pos = _rows(positives, "positives")
    ratio = study.ratio or 1.0
    if negatives is not None:
        given = _rows(negatives, "negatives") / pos
        if study.ratio is not None and abs(given - ratio) > 0.01 * ratio:
            rule = f"be {ratio:.4g} per positive, as in the pilot study"
            hint = "Drop negatives, or pass an AucPair."
            raise DataError(BadArgument("negatives", rule, negatives, hint))
        ratio = given
    return study.power(pos, ratio * pos, asked, level)


def difference_sample_size(  # noqa: PLR0913 - options have names
    expected: AucPair | AucCovariance,
    *,
    power: float = 0.8,
    ratio: float | None = None,
    alternative: str = "two-sided",
    margin: float = 0.0,
    method: str = "t",
    level: float = 0.95,
) -> SampleSize:
    """The sample size for :func:`cutscore.compare` to reach a given power.

    Parameters
    ----------
    expected : AucPair or AucCovariance
        As in :func:`cutscore.comparison.power.difference_power`.
    alternative : str, default 'two-sided'
        As in :func:`cutscore.comparison.power.difference_power`.
    margin : float, default 0.0
        As in :func:`cutscore.comparison.power.difference_power`.
    method : str, default 't'
        As in :func:`cutscore.comparison.power.difference_power`.
    level : float, default 0.95
        As in :func:`cutscore.comparison.power.difference_power`.
    power : float, default 0.8
        The probability of showing it.
    ratio : float, optional
        Negatives per positive. Default: 1, or the ratio of the pilot study, which can't be changed.

    Returns
    -------
    SampleSize

    Examples
    --------
    To show that the new score is less than 0.03 worse than the old one, if both are expected to be
    equal:

    >>> import cutscore as cs
    >>> equal = cs.power.AucPair(0.8, 0.8, correlation=0.6)
    >>> cs.power.difference_sample_size(equal, alternative="greater", margin=0.03, ratio=4)
    363 positives and 1,451 negatives
    """
    study = _Study.of(expected, method)
    asked = as_hypothesis(alternative, margin, check_level(level), 1.0)
    if ratio is not None and study.ratio is not None:
        rule = f"be omitted with a pilot study, which has {study.ratio:.4g}"
        raise DataError(BadArgument("ratio", rule, ratio, "Or pass an AucPair."))
    kappa = study.ratio or _ratio(1.0 if ratio is None else ratio)
    wanted = check_level(power, "power")
    return _fewest_rows(lambda n: study.power(n, kappa * n, asked, level), wanted, kappa)


def detectable_difference(  # noqa: PLR0913 - options have names
    b: float,
    positives: float,
    negatives: float,
    *,
    correlation: float,
    power: float = 0.8,
    alternative: str = "two-sided",
    level: float = 0.95,
) -> float:
    """The smallest difference between two AUCs that a test can detect with the given power.

    Parameters
    ----------
    b : float
        The expected AUC of the other score.
    positives, negatives : float
        The number of rows of each class.
    correlation : float
        The correlation of the two scores within a class.
    power : float, default 0.8
        The probability of detecting it.
    alternative : str, default 'two-sided'
        As in :func:`cutscore.compare`; ``"two-sided"`` or ``"greater"``.
    level : float, default 0.95
        As in :func:`cutscore.compare`; ``"two-sided"`` or ``"greater"``.

    Examples
    --------
    >>> import cutscore as cs
    >>> round(cs.power.detectable_difference(0.8, 100, 400, correlation=0.6), 4)
    0.0611
    """
    one_of("alternative", alternative, ("two-sided", "greater"))
    pair, asked = AucPair(b, b, correlation), as_hypothesis(alternative, 0.0, level, 1.0)
    pos, neg = _rows(positives, "positives"), _rows(negatives, "negatives")

    def power_at(a: float) -> float:
        return _Study.of(replace(pair, a=a), "t").power(pos, neg, asked, level)

    return _nearest(power_at, check_level(power, "power"), pair.b, 1.0) - pair.b


@dataclass(frozen=True, slots=True)
class _Study:
    """A difference and how much it varies."""

    difference: float
    variances: Callable[[float, float], tuple[float, float, float]]
    ratio: float | None
    t: bool

    @classmethod
    def of(cls, expected: AucPair | AucCovariance, method: str) -> _Study:
        one_of("method", method, ("t", "obuchowski"))
        if isinstance(expected, AucPair):
            return cls(expected.a - expected.b, expected.variances, None, method == "t")
        if not isinstance(expected, AucCovariance) or len(expected.auc) != 2:
            rule = "be an AucPair(a, b, correlation), or the auc_covariance of two scores"
            raise DataError(BadArgument("expected", rule, expected))
        (pos, neg), (a, b) = expected.sizes, expected.auc.tolist()
        (v, c), (_, w) = expected.covariance.tolist()

        def scale(positives: float, _: float) -> tuple[float, float, float]:
            return v * pos / positives, w * pos / positives, c * pos / positives

        return cls(a - b, scale, neg / pos, method == "t")

    def power(self, positives: float, negatives: float, asked: Hypothesis, level: float) -> float:
        v, w, shared = self.variances(positives, negatives)
        error = sqrt(max(v + w - 2 * shared, 0.0))
        df = min(positives, negatives) - 1 if self.t else inf
        if not error > 0 or not df > 0:
            return 0.0
        # What the test multiplies by its quantile, as a share of the error.
        null = 1.0 if self.t else sqrt(max(2 * (v - shared), 0.0)) / error
        above = (self.difference + asked.margin) / error
        below = (asked.margin - self.difference) / error
        reach = quantile(df, asked.of_interval(level)[0]) * null
        if asked.alternative == "equivalent":
            return max(0.0, _power_beyond(reach, df, above) + _power_beyond(reach, df, below) - 1)
        if asked.alternative == "two-sided" and self.t:
            return _power_beyond(reach, df, above) + _power_beyond(reach, df, -above)
        shift = {"greater": above, "less": below}.get(asked.alternative, abs(above))
        return _power_beyond(reach, df, shift)


def _power_beyond(reach: float, df: float, shift: float) -> float:
    """The probability that a noncentral t, or a normal variable, is above ``reach``."""
    from scipy.special import nctdtr

    if df > 1e6:
        return _NORMAL.cdf(shift - reach)
    return float(1 - nctdtr(df, shift, reach))


# ------------------------------------------------------------------------------- limits and rates


@dataclass(frozen=True, slots=True)
class LimitSize:
    """The number of rows needed for a limit; see
    :func:`cutscore.comparison.power.limit_sample_size`.

    Parameters
    ----------
    rows : int
        How many,
    of : str
        and of which class: "positives", "negatives" or "rows" of both.
    errors : int
        The number of errors allowed among them: false alarms or missed positives.
    power : float
        The probability that there are no more errors than that.
    total : int or None
        The number of rows of both classes, at the given prevalence.
    """

    rows: int
    of: str
    errors: int
    power: float
    total: int | None = None

    def __repr__(self) -> str:
        total = "" if self.total is None else f" ({self.total:,} rows in all)"
        return (
            f"{self.rows:,} {self.of}{total}, of which {self.errors:,} may be errors; "
            f"power {100 * self.power:.3g} %"
        )


def limit_sample_size(
    limit: str | Limit,
    *,
    expected: float | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
    prevalence: float | None = None,
) -> LimitSize:
    """The sample size for guaranteeing a limit.

    A limit such as ``"fpr <= 0.001"`` is guaranteed if a one-sided test rejects all higher rates,
    given the number of false alarms among n negatives, as in ``choose(..., confidence=)``. The test
    is exact (binomial). Because the number of errors is discrete, slightly more rows can have
    slightly less power, until one more false alarm is allowed.

    Parameters
    ----------
    limit : str
        On fpr, specificity, fnr, recall or flagged_rate.
    expected : float, optional
        The expected true rate, within the limit. Default: no errors at all, which gives the
        minimum: with fewer rows the limit can't be guaranteed whatever their outcome.
    confidence : float, default 0.95
        The confidence of the guarantee.
    power : float, default 0.8
        The probability that the limit can be guaranteed.
    prevalence : float, optional
        The share of positives among all rows, to compute the total number of rows.

    References
    ----------
    Flahault, Cadilhac & Thomas, "Sample size calculation should be performed for design accuracy in
    diagnostic test studies", Journal of Clinical Epidemiology 58 (2005).
    https://doi.org/10.1016/j.jclinepi.2004.12.009

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.power.limit_sample_size("fpr <= 0.001")
    2,995 negatives, of which 0 may be errors; power 100 %
    >>> cs.power.limit_sample_size("fpr <= 0.001", expected=0.0005, prevalence=0.02)
    19,439 negatives (19,836 rows in all), of which 12 may be errors; power 81.7 %
    >>> cs.power.limit_sample_size("recall >= 0.8", expected=0.9, power=0.9)
    112 positives, of which 15 may be errors; power 90.8 %
    """
    of, bound, rate = _of_limit(limit, expected)
    error = 1 - check_level(confidence, "confidence")
    wanted = check_level(power, "power")
    share = None if prevalence is None else check_prior(prevalence)
    part = {"positives": share, "negatives": None if share is None else 1 - share}.get(of, 1.0)
    rows, errors, found = _least_rows(bound, rate, error, wanted)
    total = None if part is None or share is None else ceil(rows / part - 1e-9)
    return LimitSize(rows, of, errors, found, total)


def limit_power(
    limit: str | Limit, rows: int, *, expected: float, confidence: float = 0.95
) -> float:
    """The probability that a limit can be guaranteed.

    Parameters
    ----------
    limit : str
        As in :func:`cutscore.comparison.power.limit_sample_size`.
    expected : float
        As in :func:`cutscore.comparison.power.limit_sample_size`.
    confidence : float, default 0.95
        As in :func:`cutscore.comparison.power.limit_sample_size`.
    rows : int
        The number of rows of the class that the limit refers to.

    Examples
    --------
    >>> import cutscore as cs
    >>> round(cs.power.limit_power("fpr <= 0.001", 20_000, expected=0.0005), 3)
    0.792
    """
    from scipy.special import bdtr

    _, bound, rate = _of_limit(limit, expected)
    n = int(_rows(rows, "rows"))
    k = max_errors(n, bound, 1 - check_level(confidence, "confidence"))
    return float(bdtr(k, n, rate)) if k >= 0 else 0.0


# Whose rows a rate counts.
_COUNTED = {True: "positives", False: "negatives", None: "rows"}


def _of_limit(limit: str | Limit, expected: float | None) -> tuple[str, float, float]:
    """The class that a limit counts, the share of errors that it allows, and the one expected."""
    limits = as_limits(limit)
    if len(limits) != 1:
        raise DataError(BadArgument("limit", "be one limit", limit))
    (one,) = limits
    measure = one.measure
    counted = measure.of_class is not None or measure.name == "flagged_rate"
    if not counted or one.sign[0] not in measure.guaranteed:
        rule = (
            "be fpr <=, fnr <=, recall >=, specificity >= or one on "
            "flagged_rate, to have a sample size"
        )
        raise bad_limit(one.text, rule)
    of, upper = _COUNTED[measure.of_class], one.sign[0] == "<"
    bound = one.bound if upper else 1 - one.bound
    if not 0 < bound < 1:
        raise bad_limit(one.text, "require rows to be demonstrated")
    if expected is None:
        return of, bound, 0.0
    given = number(expected)
    rate = given if upper else 1 - given
    if not 0 <= rate < bound:
        raise DataError(BadArgument("expected", f"meet the limit {one.text!r}", expected))
    return of, bound, rate


def _least_rows(bound: float, rate: float, error: float, power: float) -> tuple[int, int, float]:
    """The fewest rows of which so many may err that it happens with enough power."""
    from scipy.special import bdtr, betainc

    first, size = 0, 64
    while first < 2**24:
        k = np.arange(first, first + size)
        # The fewest rows that allow k errors: P(Bin(n, bound) ≤ k) ≤ error.
        low, high = k.astype(np.int64), np.full(size, 2**40)
        while (high - low > 1).any():
            n = (low + high) // 2
            enough = betainc(n - k, k + 1, 1 - bound) <= error
            low, high = np.where(enough, low, n), np.where(enough, n, high)
        found = bdtr(k, high, rate)
        if (found >= power).any():
            at = int(np.argmax(found >= power))
            return int(high[at]), int(k[at]), float(found[at])
        first, size = first + size, min(4 * size, 2**16)
    why = f"is too near to the limit of {bound:g}: more than 10⁷ errors would be needed"
    hint = "Expect a better one, or ask for less."
    raise UndefinedError(Undefined(f"a rate of {rate:g}", why, hint))


def rate_sample_size(rate: float, half_width: float, *, level: float = 0.95) -> int:
    """The sample size for an interval of a given half-width for a rate at a fixed threshold.

    For recall, count positives; for fpr and specificity, negatives. The interval is Wilson's.

    Parameters
    ----------
    rate : float
        The expected rate.
    half_width : float
        The largest half-width allowed.
    level : float, default 0.95
        Its confidence.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.power.rate_sample_size(0.9, 0.05)
    141
    """
    r, half = _rate(rate, "rate"), _rate(half_width, "half_width")
    level, most = check_level(level), 1

    def narrow(n: float) -> bool:
        low, high = wilson(n * r, n, level)
        return high - low <= 2 * half

    while not narrow(most):
        most *= 2
    return ceil(_bisect(narrow, most / 2, most) - 1e-9)


def sensitivity_sample_size(  # noqa: PLR0913 - options have names
    sensitivity: float,
    specificity: float,
    *,
    half_width: float | None = None,
    above: float | None = None,
    power: float = 0.8,
    ratio: float = 1.0,
    level: float = 0.95,
) -> SampleSize:
    r"""The sample size for estimating the sensitivity at a fixed specificity.

    The threshold is estimated from the negatives, which adds to the variance:

    .. math:: \frac{s (1 - s)}{P} + \left(\frac{\varphi(\Phi^{-1}(s))}{\varphi(\Phi^{-1}(f))}
              \right)^2 \frac{f (1 - f)}{N}, \qquad f = 1 - \text{specificity},

    where the slope of the ROC curve is that of normal scores with equal variances. If the
    *threshold* is fixed beforehand, only the positives matter:
    :func:`cutscore.comparison.power.rate_sample_size`, and
    :func:`cutscore.comparison.power.limit_sample_size` with ``"recall >= 0.8"``.

    Parameters
    ----------
    sensitivity, specificity : float
        The expected rates.
    half_width : float, optional
        The largest half-width allowed for the interval of the sensitivity; or
    above : float, optional
        a lower sensitivity to be rejected by a one-sided test.
    power : float, default 0.8
        The probability of rejecting it.
    ratio : float, default 1.0
        Negatives per positive.
    level : float, default 0.95
        Confidence level.

    References
    ----------
    Linnet, "Comparison of quantitative diagnostic tests: type I error, power, and sample size",
    Statistics in Medicine 6 (1987). https://doi.org/10.1002/sim.4780060207

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.power.sensitivity_sample_size(0.8, 0.9, half_width=0.1, ratio=2)
    106 positives and 211 negatives
    >>> cs.power.sensitivity_sample_size(0.8, 0.9, above=0.7, ratio=2)
    215 positives and 429 negatives
    """
    s, f = _rate(sensitivity, "sensitivity"), 1 - _rate(specificity, "specificity")
    kappa, level = _ratio(ratio), check_level(level)
    if (half_width is None) == (above is None):
        rule = "a study either estimates (half_width) or tests (above)"
        raise DataError(Conflict(("half_width", "above"), rule, "Use {0} or {1}."))

    def variance(at: float) -> float:
        slope = _NORMAL.pdf(_NORMAL.inv_cdf(at)) / _NORMAL.pdf(_NORMAL.inv_cdf(f))
        return at * (1 - at) + slope * slope * f * (1 - f) / kappa

    if half_width is not None:
        half = _rate(half_width, "half_width")
        n = (quantile(inf, (1 - level) / 2) / half) ** 2 * variance(s)
    else:
        bound = _rate(above, "above")
        if not bound < s:
            raise DataError(BadArgument("above", f"be below the sensitivity, {s:g}", above))
        z, beta = (quantile(inf, 1 - x) for x in (level, check_level(power, "power")))
        n = ((z * sqrt(variance(bound)) + beta * sqrt(variance(s))) / (s - bound)) ** 2
    return _sample_size(n, kappa)


# --------------------------------------------------------------------------------- solve and check


def _fewest_rows(power: Callable[[float], float], wanted: float, ratio: float) -> SampleSize:
    """The fewest positives, and negatives in that ratio, that have the power."""
    most = 2.0
    while power(most) < wanted:
        most *= 2
        if most > _MOST:
            why = "has that power: the expected values do not satisfy the hypothesis"
            hint = "Expect a larger difference, or allow a wider margin."
            raise UndefinedError(Undefined("no number of rows", why, hint))
    return _sample_size(_bisect(lambda n: power(n) >= wanted, most / 2, most), ratio)


def _sample_size(positives: float, ratio: float) -> SampleSize:
    """Whole rows; a hair of rounding is no row."""
    return SampleSize(ceil(positives - 1e-9), ceil(positives * ratio - 1e-9))


def _nearest(power: Callable[[float], float], wanted: float, start: float, end: float) -> float:
    """The value nearest to ``start``, on the way to ``end``, that has the power."""
    inner, outer = start, end + (start - end) * 1e-12
    if power(outer) < wanted:
        why = "not have that power for any AUC, not even a perfect one"
        hint = "Use more rows, or ask for less power."
        raise UndefinedError(Undefined("so few rows", why, hint))
    return _bisect(lambda x: power(x) >= wanted, inner, outer)


def _bisect(holds: Callable[[float], bool], inner: float, outer: float) -> float:
    """The value nearest to ``inner`` from which on something holds, on the way to ``outer``."""
    for _ in range(100):
        middle = (inner + outer) / 2
        inner, outer = (inner, middle) if holds(middle) else (middle, outer)
    return outer


def _rate(value: object, name: str) -> float:
    x = number(value)
    if not 0 < x < 1:
        raise DataError(BadArgument(name, "be between 0 and 1", value))
    return x


def _ratio(value: object) -> float:
    x = number(value)
    if not 0 < x < inf:
        raise DataError(BadArgument("ratio", "be negatives per positive, above 0", value))
    return x


def _rows(value: object, name: str) -> float:
    x = number(value)
    if not 1 <= x < _MOST:
        raise DataError(BadArgument(name, "be a number of rows, at least 1", value))
    return x
