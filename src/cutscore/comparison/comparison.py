"""Which of two scores is better, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from cutscore.comparison.bootstrap import Sampler
from cutscore.comparison.costs import compare_costs
from cutscore.comparison.covariance import (
    MISTAKES,
    effective_sizes,
    exact_placements,
    partial_row_placements,
    placement_covariance,
    row_placements,
    units_by_class,
)
from cutscore.comparison.hypotheses import TWO_SIDED, Hypothesis, as_hypothesis, quantile
from cutscore.comparison.rows import read_rows
from cutscore.core.checks import one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import Conflict
from cutscore.core.findings.statistics import NoVariation
from cutscore.core.html import Card
from cutscore.core.interval import Interval
from cutscore.core.numbers import difference_text, number_text
from cutscore.core.progress import Report
from cutscore.core.types import ArrayLike, Label
from cutscore.inference.bootstrap import as_statistic, bootstrap, check_samples
from cutscore.inference.placements import Statistic, area_variance, effective, sizes_of
from cutscore.measures.costs import Costs, check_costs
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.areas import PartialAuc, auc
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

_WORDS = {
    "t": "paired DeLong",
    "delong": "paired DeLong",
    "bootstrap": "paired bootstrap",
    "unpaired": "unpaired DeLong, Welch's test",
    "unpaired bootstrap": "unpaired bootstrap",
    "groups": "paired by group",
    "units": "paired DeLong, clustered",
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Card):
    """The difference between two scores, with its p-value and interval.

    Made by :func:`cutscore.compare`, :func:`cutscore.compare_unpaired` and
    :func:`cutscore.compare_groups`.

    Parameters
    ----------
    a, b : float
        The statistic of either score.
    difference : float
        a − b.
    standard_error : float
        Of the difference.
    z : float
        difference / standard_error: standard normal if there is no difference, or Student's t with
        ``df`` degrees of freedom. With a margin, the distance between the difference and the
        margin, in standard errors.
    p_value : float
        The probability of a difference at least this large if the :attr:`hypothesis` does not hold.
    interval : Interval
        The confidence interval for the difference; for AUCs it is clipped to [−1, 1]. It agrees
        with the p-value: p < 1 − level if and only if the interval excludes the null value. A
        one-sided interval ends at the largest possible difference. An equivalence test consists of
        two one-sided tests, so its interval has the level 1 − 2 (1 − level): 90 % for 95 %.
    statistic : str
        Its name.
    method : str
        ``"t"``, ``"delong"``, ``"units"``, ``"bootstrap"``, ``"unpaired"``,
        ``"unpaired bootstrap"`` or ``"groups"``.
    df : float
        Degrees of freedom; ``inf`` for the normal distribution.
    powerless : bool
        Whether a paired comparison of areas has too little power: the test could not have shown
        that a perfect score is better than the worse of these two or, with a margin, that equal
        areas differ by less than the margin. A large p-value then means nothing.
    cost_a, cost_b : float or None
        The expected cost per case on new rows, for each score at its own best threshold, if costs
        were given: the value of ``choose(...).expected``.
    cost_interval : Interval or None
        The interval for :attr:`cost_difference`; it accounts for the choice of the thresholds on
        these rows. It is based on bootstrap samples that both scores share, and the difference need
        not be its midpoint.
    alternative, margin : str and float
        The alternative hypothesis, as requested; :attr:`hypothesis` has it in words.
    names : (str, str)
        The names of the two scores.
    """

    a: float
    b: float
    difference: float
    standard_error: float
    z: float
    p_value: float
    interval: Interval
    statistic: str
    method: str
    df: float = inf
    powerless: bool = False
    cost_a: float | None = None
    cost_b: float | None = None
    cost_interval: Interval | None = None
    alternative: str = "two-sided"
    margin: float = 0.0
    names: tuple[str, str] = ("a", "b")

    @property
    def hypothesis(self) -> str:
        """The alternative hypothesis in words: "a is less than 0.02 worse than b"."""
        return self._hypothesis.words(self._better, self.names)

    @property
    def shown(self) -> bool:
        """Whether the test supports the :attr:`hypothesis`: p < 1 − level, in agreement with the
        interval."""
        return self._hypothesis.holds_for(self.interval)

    @property
    def _hypothesis(self) -> Hypothesis:
        return Hypothesis(self.alternative, self.margin)

    @property
    def _better(self) -> str:
        return "better" if self.statistic.endswith("auc") else "higher"

    @property
    def cost_difference(self) -> float | None:
        """cost_a − cost_b, if costs were given. Lower costs are better, so a negative value favours
        a, whereas a negative :attr:`difference` of AUCs favours b."""
        if self.cost_a is None or self.cost_b is None:
            return None
        return self.cost_a - self.cost_b

    @property
    def text(self) -> str:
        """Both values, the conclusion, the difference with its interval, and the p-value."""
        if self.alternative != "two-sided":
            verdict = f"{'shown' if self.shown else 'not shown'} that {self.hypothesis}"
        elif not self.shown:
            verdict = "no significant difference"
        else:
            verdict = f"{self.names[self.difference < 0]} is {self._better}"
        bound = {"greater": "lower", "less": "upper"}.get(self.alternative, "")
        found = (self.difference, self.interval, self.p_value)
        return difference_text(self.names, (self.a, self.b), verdict, *found, bound=bound)

    def cost_text(self, cases: int = 1) -> str | None:
        """The same for the expected costs on new cases, if costs were given."""
        if self.cost_a is None or self.cost_b is None or self.cost_interval is None:
            return None
        values, verdict = (cases * self.cost_a, cases * self.cost_b), "no significant difference"
        difference, interval = values[0] - values[1], self.cost_interval
        if 0 not in interval:
            verdict = f"{self.names[difference > 0]} costs less"
        interval = Interval(cases * interval.low, cases * interval.high, interval.level)
        return difference_text(self.names, values, verdict, difference, interval)

    def _facts(self) -> dict[str, str]:
        t = "z" if self.df == inf else f"t({self.df:.4g})"
        z = abs(self.z) if self.alternative == "two-sided" else self.z
        facts = {
            self.statistic: self.text,
            "test": f"{_WORDS[self.method]}, {t} = {number_text(z)}",
        }
        if self.powerless:
            what = (
                "equal areas are within the margin" if self.margin else "a perfect score is better"
            )
            facts["test"] += f"; too little power to show even that {what}"
        costs = self.cost_text()
        if costs is not None:
            facts["expected cost per case"] = costs
        return facts

    def __repr__(self) -> str:
        found, test, *costs = self._facts().values()
        name = "" if self.statistic == "auc" else f"{self.statistic}: "
        return "\n".join([f"{name}{found}", test, *(f"expected cost per case: {c}" for c in costs)])


def compare(  # noqa: PLR0913 - all but three are options
    y: ArrayLike,
    score_a: ArrayLike,
    score_b: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    unit: ArrayLike | None = None,
    statistic: Statistic | str = "auc",
    method: str = "t",
    alternative: str = "two-sided",
    margin: float = 0.0,
    costs: Costs | None = None,
    prior: float | None = None,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
    names: tuple[str, str] = ("a", "b"),
    report: Report | None = None,
) -> Comparison:
    r"""Compare two scores on the same rows.

    DeLong's method compares AUCs. Each row has a placement, the share of the other class that is
    ranked correctly relative to it. With :math:`D`, the difference between a row's two placements,

    .. math:: \mathrm{se}^2 = \frac{S^2_+}{P} + \frac{S^2_-}{N}, \qquad
              z = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\mathrm{se}},

    where :math:`S^2` is the sample variance of D within a class. Because the variance is estimated
    from few rows, z is compared with Student's t with min(P, N) − 1 degrees of freedom. With
    weights, a class of n rows counts as :math:`n_\mathrm{eff} = (\sum w)^2 / \sum w^2`. If rows are
    clustered, pass ``unit``: D is then summed over each cluster, and the covariance between the
    positives and the negatives of a cluster is included. If every row is its own cluster, this is
    the formula above. (This is Obuchowski's variance, except that classes count as
    :math:`n_\mathrm{eff}` clusters, which is less if their sizes differ.)

    A partial AUC is compared in the same way: a positive's placement is then the part of the
    interval that lies above its FPR, and a negative's placement is clipped to the ends. The degrees
    of freedom are at most the expected number of negatives in the interval of FPRs (or of positives
    in an interval of TPRs), minus one.

    The bootstrap compares any statistic. Each replicate draws rows of each class with replacement,
    the same rows for both scores; with ``unit`` it draws whole clusters, regardless of their
    classes. The interval consists of percentiles of the replicates' differences; the k-th of n is
    at k/(n + 1). The p-value inverts that interval, so the two agree; it is at least 2/(n + 1). z
    divides by the standard deviation of the replicates and is only informative.

    Parameters
    ----------
    y : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    weight : array-like of shape (n,), optional
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    score_a, score_b : array-like of shape (n,)
        The two scores of each row. They may be on different scales.
    unit : array-like of shape (n,), optional
        Cluster id of each row (patient, user, session), where rows of one cluster are correlated.
    statistic : "auc", PartialAuc or callable, default 'auc'
        "auc", a :class:`cutscore.PartialAuc`, or for the bootstrap any function of a sweep that
        returns a number.
    method : str, default 't'
        ``"t"``; ``"delong"``, which compares z with the normal distribution, as most software does,
        and rejects too often if there are few positives; or ``"bootstrap"``.
    alternative : str, default 'two-sided'
        The alternative hypothesis. ``"two-sided"``: a and b differ. ``"greater"``: a is better (or
        higher) than b; with a margin, a is worse by less than the margin (non-inferiority).
        ``"less"``: the same for b. ``"equivalent"``: they differ by less than the margin.
    margin : float, default 0.0
        The difference that does not matter, at least 0. Choose it before you see the data.
    costs : Costs, optional
        Also compare the expected cost per case on new rows, with each score at its own best
        threshold: the value of ``choose(...).expected``. A threshold looks better on the rows it
        was chosen on, and more so for a continuous score than for a binary rule. The interval for
        the difference is based on bootstrap samples in which thresholds are re-chosen: 200 samples
        whatever ``n`` is, and 50 if there are more than 100,000 rows.
    prior : float, optional
        The prevalence where decisions are made, for ``costs``. Default: the prevalence of the rows.
    level : float, default 0.95
        Confidence level of the intervals.
    n : int, default 2000
        Number of samples.
    seed : int, default 0
        Random seed.
    names : (str, str), default ('a', 'b')
        Names for the two scores in messages and in the result.
    report : callable, optional
        Called with the progress of the bootstrap: the completed share and a short text.

    Returns
    -------
    Comparison

    Raises
    ------
    UndefinedError
        If a class is missing; for DeLong's method, if a class has fewer than two rows; or if the
        scores differ but the difference doesn't vary, as between a perfect score and a constant
        one. The standard error is then 0, because there are too few rows and not because the
        difference is certain. Scores that rank all pairs identically have z = 0 and p = 1; with a
        margin they raise, because the rows don't show how much the scores differ on other rows.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach", Biometrics 44 (1988).
    https://doi.org/10.2307/2531595. With units: Obuchowski, "Nonparametric analysis of clustered
    ROC curve data", Biometrics 53 (1997). https://doi.org/10.2307/2533958. Two one-sided tests:
    Schuirmann, "A comparison of the two one-sided tests procedure and the power approach for
    assessing the equivalence of average bioavailability", Journal of Pharmacokinetics and
    Biopharmaceutics 15 (1987). https://doi.org/10.1007/BF01068419

    Examples
    --------
    >>> import cutscore as cs
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> old, new = [7, 5, 6, 2, 4, 3, 6, 1], [9, 7, 8, 5, 2, 4, 6, 1]
    >>> cs.compare(y, new, old, names=("new", "old"))
    new 0.938, old 0.719: no significant difference (Δ 0.219, 95 % CI −0.203 to 0.641, p = 0.2)
    paired DeLong, t(3) = 1.65; too little power to show even that a perfect score is better
    >>> cs.compare(y, new, old, alternative="greater", margin=0.1)
    a 0.938, b 0.719: shown that a is less than 0.1 worse than b (Δ 0.219, 95 % lower bound −0.093,
    p = 0.048)
    paired DeLong, t(3) = 2.40
    >>> c = cs.compare(y, new, old, method="bootstrap", statistic=cs.average_precision)
    >>> c.difference, c.p_value < 0.5
    (0.202..., True)
    """
    test = DifferenceTest.of(statistic, method, ("t", "delong", "bootstrap"), level, names)
    measure, asked = test.measure, test.ask(alternative, margin)
    if prior is not None and costs is None:
        rule = "a prior only affects costs"
        raise DataError(Conflict(("prior", "costs"), rule, "Add {1}."))
    if costs is not None:
        check_costs(costs, one_cut="a comparison")
    prior = None if prior is None else check_prior(prior)
    scores = {"score_a": score_a, "score_b": score_b}
    n, seed, exact = check_samples(n), check_seed(seed), None
    if method != "bootstrap" and measure is auc and weight is None and unit is None:
        exact = exact_placements(y, scores, positive)
    if exact is None or costs is not None:
        rows = read_rows(y, scores, weight, positive)
    if exact is None:
        sampler = Sampler(rows, unit, n, seed)
        whole = [s.sweep() for s in sampler.scores]
        whole[0].needs_both_classes("a comparison")
        a, b = map(measure, whole)
    else:
        a, b = exact.auc
    if method == "bootstrap":
        replicates = np.subtract(*sampler.replicates(measure, report).T)
        result = test.of_replicates(a, b, replicates, asked, method)
    else:
        # The difference, and by itself the one that another would have to beat.
        beaten = {"greater": 1, "less": 0}.get(alternative, 0 if a < b else 1)
        if exact is None:
            placements = (
                partial_row_placements(sampler.scores, rows, measure)
                if isinstance(measure, PartialAuc)
                else row_placements(rows)
            )
            columns = [(np.stack([v[0] - v[1], v[beaten]]), w) for v, w in placements]
            of = units_by_class(rows, sampler.unit)
            error, alone = np.sqrt(np.diag(placement_covariance(columns, of))).tolist()
            sizes = effective_sizes(columns, of)
        else:
            contrasts = [1, -1], [1 - beaten, beaten]
            error, alone = (sqrt(exact.covariance(c, c)) for c in contrasts)
            sizes = exact.sizes
        df = inf if method == "delong" else _df(sizes, measure)
        result = test.result(a, b, error, method if unit is None else "units", df, asked)
        reach = quantile(df, asked.of_interval(test.level)[0])
        room, spread = (asked.margin, error) if asked.margin else (test.top - (a, b)[beaten], alone)
        found = asked.margin and result.shown
        result = replace(result, powerless=not (found or room > reach * spread))
    if costs is None:
        return result
    of_rows = None if exact is not None else sampler.unit
    both = compare_costs(
        rows, of_rows, costs, prior=prior, level=test.level, seed=seed, report=report
    )
    return replace(result, cost_a=both.a, cost_b=both.b, cost_interval=both.interval)


def compare_unpaired(  # noqa: PLR0913 - all but two are options
    a: Sweep,
    b: Sweep,
    *,
    statistic: Statistic | str = "auc",
    method: str = "t",
    alternative: str = "two-sided",
    margin: float = 0.0,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
    names: tuple[str, str] = ("a", "b"),
) -> Comparison:
    r"""Compare the AUCs of two independent sweeps, or any other statistic.

    Welch's t-test with DeLong's variances :math:`v` of the two AUCs,

    .. math:: t = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\sqrt{v_a + v_b}}, \qquad
              \mathrm{df} = \frac{(v_a + v_b)^2}{v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)},

    where n is the number of rows of a sweep, as in pROC, or :math:`(\sum w)^2 / \sum w^2` for
    weighted rows. For two scores on the same rows use :func:`cutscore.compare`, which accounts for
    their correlation.

    Parameters
    ----------
    a, b : Sweep
        Sweeps with at least two rows of each class. Weighted ones need squares:
        ``sweep(..., squares=True)``.
    statistic : "auc", PartialAuc or callable, default 'auc'
        "auc", a :class:`cutscore.PartialAuc`, or for the bootstrap any function of a sweep that
        returns a number.
    method : str, default 't'
        ``"t"``, or ``"bootstrap"``, which resamples each sweep independently.
    alternative : str, default 'two-sided'
        As in :func:`cutscore.compare`.
    margin : float, default 0.0
        As in :func:`cutscore.compare`.
    level : float, default 0.95
        Confidence level of the interval.
    n : int, default 2000
        Number of bootstrap samples.
    seed : int, default 0
        Random seed.
    names : (str, str), default ('a', 'b')
        Names for the two sweeps in the result.

    Returns
    -------
    Comparison
        ``z`` is the t of the formula.

    Raises
    ------
    UndefinedError
        If a class has fewer than two rows; or if the AUCs differ but both variances are 0: see
        :func:`cutscore.compare`.

    References
    ----------
    Robin et al., "pROC: an open-source package for R and S+ to analyze and compare ROC curves",
    BMC Bioinformatics 12 (2011). https://doi.org/10.1186/1471-2105-12-77

    Examples
    --------
    >>> import cutscore as cs
    >>> a = cs.sweep([1, 1, 1, 0, 0, 0, 0], [7, 6, 3, 5, 4, 2, 1])
    >>> b = cs.sweep([1, 1, 0, 0, 0, 1], [6, 3, 5, 4, 2, 1])
    >>> cs.compare_unpaired(a, b)
    a 0.833, b 0.444: no significant difference (Δ 0.389, 95 % CI −0.453 to 1.000, p = 0.32)
    unpaired DeLong, Welch's test, t(8.462) = 1.06
    """
    test = DifferenceTest.of(statistic, method, ("t", "bootstrap"), level, names)
    measure, asked = test.measure, test.ask(alternative, margin)
    values, df = (measure(check_sweep(a)), measure(check_sweep(b))), inf
    if method == "bootstrap":
        # Two streams of random numbers: of one, samples of equal sizes would vary together.
        other = int(np.random.SeedSequence((check_seed(seed), 1)).generate_state(1)[0])
        samples = bootstrap(a, measure, n=n, seed=seed), bootstrap(b, measure, n=n, seed=other)
        replicates = samples[0].replicates - samples[1].replicates
        return test.of_replicates(*values, replicates, asked, "unpaired bootstrap")
    v_a, v_b = area_variance(a, measure), area_variance(b, measure)
    v = v_a + v_b
    if v > 0:
        df = v * v / sum(u * u / _unpaired_df(s, measure) for s, u in ((a, v_a), (b, v_b)))
    return test.result(*values, sqrt(v), "unpaired", df, asked)


def _unpaired_df(s: Sweep, measure: Statistic) -> float:
    """How many equally weighted rows say as much as a sweep's, less one, as in pROC; of a partial
    AUC those of the interval."""
    if isinstance(measure, PartialAuc):
        return _df(sizes_of(s, "a comparison"), measure)
    pos2, neg2 = s.square_totals("a comparison")
    return effective(s.P + s.N, pos2 + neg2) - 1


def _df(sizes: tuple[float, float], measure: Statistic) -> float:
    """Rows of the rarer class less one. Of a partial AUC only those rows vary, of the class whose
    rate it is, that are in the interval."""
    if not isinstance(measure, PartialAuc):
        return min(sizes) - 1
    low, high = measure.ends
    return max(1.0, min(*sizes, (high - low) * sizes[measure.over_fpr]) - 1)


class DifferenceTest(NamedTuple):
    """What two values are of, and how sure their difference is to be."""

    measure: Statistic
    name: str
    level: float
    names: tuple[str, str]
    top: float = 1.0
    """The highest value of the statistic,"""
    bound: float = 1.0
    """and by how much two can differ."""

    @classmethod
    def of(
        cls,
        statistic: Statistic | str,
        method: str,
        methods: tuple[str, ...],
        level: float,
        names: tuple[str, str],
    ) -> DifferenceTest:
        """The test of a statistic, provided that the method can compare it."""
        one_of("method", method, methods)
        measure = as_statistic(statistic)
        name, top, bound = str(getattr(statistic, "__name__", statistic)), inf, inf
        if isinstance(measure, PartialAuc):
            name, top, bound = measure.name, measure.highest, measure.highest - measure.lowest
        elif measure is auc:
            top = bound = 1.0
        elif method != "bootstrap":
            rule = "DeLong's method compares AUCs, and the statistic is another"
            raise DataError(Conflict(("method", "statistic"), rule, "Use {0}='bootstrap'."))
        return cls(measure, name, check_level(level), names, top, bound)

    def ask(self, alternative: str, margin: float) -> Hypothesis:
        return as_hypothesis(alternative, margin, self.level, self.bound)

    def result(  # noqa: PLR0913, PLR0917 - what a test needs
        self,
        a: float,
        b: float,
        error: float,
        method: str,
        df: float = inf,
        asked: Hypothesis = TWO_SIDED,
    ) -> Comparison:
        """The z or t test of the difference of two values with a standard error."""
        difference, size = a - b, max(abs(a), abs(b))
        varies = error > 1e-14 * size
        if not varies and (asked.margin or abs(difference) > 1e-12 * size):
            one, other = self.names
            what = f"the difference between {one} = {a:.6g} and {other} = {b:.6g}"
            raise UndefinedError(NoVariation(what, hint=MISTAKES))
        if varies:
            z, p_value, interval = asked.test(difference, error, df, self.level, self.bound)
        else:  # nothing but rounding
            difference = error = z = 0.0
            p_value, interval = 1.0, asked.ends(0.0, 0.0, self.level, self.bound)
        found = (a, b, difference, error, z, p_value, interval, self.name, method, df)
        return Comparison(
            *found, alternative=asked.alternative, margin=asked.margin, names=self.names
        )

    def of_replicates(
        self, a: float, b: float, replicates: Floats, asked: Hypothesis, method: str
    ) -> Comparison:
        """With p-value and interval from bootstrap replicates of the difference."""
        result = self.result(a, b, float(np.std(replicates, ddof=1)), method, asked=asked)
        p_value, interval = asked.bootstrap_test(replicates, self.level, self.bound)
        if not result.standard_error:
            return result
        return replace(result, p_value=p_value, interval=interval)
