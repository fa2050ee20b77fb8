"""Which of two scores is better, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from cutscore.core.checks import one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.statistics import NoVariation, TooFew
from cutscore.core.frozen import Frozen
from cutscore.core.html import fact_table
from cutscore.core.interval import Interval
from cutscore.core.progress import Report
from cutscore.inference.cost_comparison import compare_costs
from cutscore.inference.hypotheses import TWO_SIDED, Hypothesis, as_hypothesis, quantile
from cutscore.inference.intervals import (
    Statistic,
    area_variance,
    as_statistic,
    bootstrap,
    effective,
    partial_placements,
    score_interval,
    sizes_of,
)
from cutscore.inference.labelled_rows import Ints, ScoredRows, columns_of, encoded, read
from cutscore.inference.row_bootstrap import Sampler, Score
from cutscore.measures.costs import Costs, check_costs
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.areas import PartialAuc, auc
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

_MISTAKES = "Get rows on which the better score makes mistakes."

_WORDS = {
    "t": "paired DeLong",
    "delong": "paired DeLong",
    "bootstrap": "paired bootstrap",
    "unpaired": "unpaired DeLong, Welch's t",
    "unpaired bootstrap": "unpaired bootstrap",
    "groups": "paired by group",
    "units": "paired DeLong, of units",
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two scores, the difference of what they achieve, and how sure it is.

    Made by :func:`cutscore.compare`, :func:`cutscore.compare_unpaired` and
    :func:`cutscore.compare_groups`.

    Parameters
    ----------
    a, b
        The statistic of either score.
    difference
        a − b.
    standard_error
        Of the difference.
    z
        difference / standard_error: standard normal if there is no difference, or Student's t with
        ``df`` degrees of freedom. With a margin, how far the difference is from the margin that is
        to be ruled out, in standard errors.
    p_value
        How probable such a difference is if the :attr:`hypothesis` does not hold.
    interval
        Of the difference; that of AUCs is cut off at −1 and 1. It agrees with the p-value: p < 1 −
        level exactly where the interval excludes what is to be ruled out. The other end of a
        one-sided one is the largest difference there is. That of equivalence has the level
        1 − 2 (1 − level), so 90 % for 95 %: two one-sided tests.
    statistic
        Its name.
    method
        ``"t"``, ``"delong"``, ``"units"``, ``"bootstrap"``, ``"unpaired"``,
        ``"unpaired bootstrap"`` or ``"groups"``.
    df
        Degrees of freedom; ``inf`` for the normal distribution.
    powerless
        Whether a paired comparison of areas has no power: even a perfect score would not have been
        found better than the worse one of these two; or with a margin, even equal areas would not
        have been found to be within it. A large p-value means nothing then.
    cost_a, cost_b
        Cost per case that is expected on new rows, of either score at its own best cut, if costs
        were given.
    cost_interval
        Interval of :attr:`cost_difference`; it knows that the cuts were chosen on these rows.
    alternative, margin
        What was to be shown, as it was asked for; :attr:`hypothesis` has it in words.
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

    @property
    def hypothesis(self) -> str:
        """What was to be shown, in words: "a is less than 0.02 worse than b"."""
        return self._asked.words(self._better)

    @property
    def shown(self) -> bool:
        """Whether it was shown: whether p < 1 − level, which the interval agrees with."""
        return self._asked.shown(self.interval)

    @property
    def _asked(self) -> Hypothesis:
        return Hypothesis(self.alternative, self.margin)

    @property
    def _better(self) -> str:
        return "better" if self.statistic.endswith("auc") else "higher"

    @property
    def cost_difference(self) -> float | None:
        """cost_a − cost_b, if costs were given. Less cost is better: where this is negative a is
        the better one, and where the :attr:`difference` of AUCs is, b."""
        if self.cost_a is None or self.cost_b is None:
            return None
        return self.cost_a - self.cost_b

    def _facts(self) -> dict[str, str]:
        t = "z" if self.df == inf else f"t({self.df:.4g})"
        two_sided, shown = self.alternative == "two-sided", "shown" if self.shown else "not shown"
        z = abs(self.z) if two_sided else self.z  # as the difference is told, of the better one
        test = f"{t} = {z:.3g}, p = {self.p_value:.2g} ({_WORDS[self.method]})"
        facts = {
            self.statistic: f"a {self.a:.4f}, b {self.b:.4f}",
            "difference": _verdict(self.difference, self.interval, self._better)
            if two_sided
            else _one_sided(self.difference, self.interval, self.alternative),
            "test": test if two_sided else f"{self.hypothesis}: {shown}, {test}",
        }
        if self.powerless:
            what = (
                "equal areas to be within the margin"
                if self.margin
                else "a perfect score as better"
            )
            facts["test"] += f", no power: these rows would not show even {what}"
        if self.cost_difference is not None and self.cost_interval is not None:
            facts["expected cost per case"] = f"a {self.cost_a:.4g}, b {self.cost_b:.4g}"
            facts["difference of costs"] = _verdict(
                self.cost_difference, self.cost_interval, "dearer"
            )
        return facts

    def __repr__(self) -> str:
        values, difference, test, *costs = self._facts().values()
        name = "" if self.statistic == "auc" else f"{self.statistic} "
        words = f"{name}{values}: {difference}, {test}"
        return f"{words}; expected cost per case {': '.join(costs)}" if costs else words

    def _repr_html_(self) -> str:
        return fact_table("Comparison", list(self._facts().items()))


@dataclass(frozen=True, eq=False, repr=False)
class AucCovariance(Frozen):
    """AUCs of several scores of the same rows, and DeLong's covariance matrix of them.

    Made by :func:`cutscore.auc_covariance`.

    Parameters
    ----------
    auc
        The k AUCs.
    covariance
        Their k × k covariance matrix.
    names
        What the scores are called: the keys of a mapping, the columns of a frame, else 0, 1, …
    sizes
        As how many equally weighted rows, or units, the positives and the negatives count.
    rows
        As how many equally weighted rows they count, whatever units they are of.
    design
        The design effect of each score: by how much units increase the variance of its AUC.
    """

    auc: Floats
    covariance: Floats
    names: tuple[Any, ...]
    sizes: tuple[float, float]
    rows: tuple[float, float]
    design: Floats

    @property
    def standard_error(self) -> Floats:
        """The roots of the diagonal."""
        error: Floats = np.sqrt(np.diag(self.covariance))
        return error

    def intervals(self, *, level: float = 0.95) -> tuple[Interval, ...]:
        """The score interval of each AUC; see :func:`cutscore.auc_interval`.

        With units, the normal model counts rows / design effect of each class, but no less than
        units; the largest variance counts units.

        Examples
        --------
        >>> import cutscore as cs
        >>> y, new = [1, 1, 1, 1, 0, 0, 0, 0], [9, 7, 8, 5, 2, 4, 6, 1]
        >>> cs.auc_covariance(y, [new], unit=[1, 1, 2, 2, 3, 3, 4, 4]).intervals()
        ([0.440956, 0.995417] at 95 %,)
        """
        level = check_level(level)
        out = []
        for a, v, by in zip(self.auc, np.diag(self.covariance), self.design, strict=True):
            both = zip(self.sizes, self.rows, strict=True)
            pos, neg = (max(units, rows / by) for units, rows in both)
            out.append(score_interval(float(a), float(v), pos, neg, level, fewer=min(self.sizes)))
        return tuple(out)

    def test(
        self, contrasts: Any = None, *, method: str = "f", level: float = 0.95
    ) -> ContrastTest:
        r"""Test whether all AUCs are equal, or any other contrasts of them are 0.

        With L a row for each contrast, DeLong's statistic is
        :math:`T^2 = (L\hat\theta)^\top (L \Sigma L^\top)^+ L\hat\theta`. Where scores are copies
        of each other the matrix has less than its full rank r, which is what counts.

        Parameters
        ----------
        contrasts
            A row of k numbers that add up to 0 for each contrast; all differences if left out.
        method
            ``"f"``: :math:`T^2 (m - r + 1) / (m r)` is judged by F with r and m − r + 1 degrees of
            freedom, where m is the rows (or units) of the rarer class less one. Of two scores it is
            the test of :func:`cutscore.compare`. ``"delong"``: T² is judged by chi-square with r
            degrees of freedom, as most software does; too often significant where positives are
            few.
        level
            The confidence that :attr:`ContrastTest.powerless` asks for.

        Raises
        ------
        UndefinedError
            If AUCs differ by an amount that doesn't vary, or positives are too few for so many
            contrasts.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> y, rng = np.arange(200) % 4 == 0, np.random.default_rng(0)
        >>> scores = {name: rng.normal(size=200) + d * y for name, d in zip("abc", (1, 1, 1.5))}
        >>> cs.auc_covariance(y, scores).test()
        test whether a, b and c differ: T² = 12.5, F(2, 48) = 6.14, p = 0.0042
        >>> cs.auc_covariance(y, scores).test([1, -1, 0])
        contrast of a, b and c: T² = 0.0152, F(1, 49) = 0.0152, p = 0.9
        """
        one_of("method", method, ("f", "delong"))
        given, level = _contrasts(contrasts, self.names), check_level(level)
        squared, rank = _wald(given, self.auc, self.covariance)
        df = inf if method == "delong" else min(self.sizes) - rank
        if not df > 0:
            what, of = f"a test of {rank} contrasts", "rows or units of each class"
            hint = "Compare fewer scores."
            raise UndefinedError(TooFew(what, rank, of, float(min(self.sizes)), hint, above=True))
        p_value, critical = _squared_test(squared, rank, df, level)
        worst = int(np.argmin(self.auc))
        enough = (1 - self.auc[worst]) ** 2 > critical * self.covariance[worst, worst]
        named = tuple(str(name) for name in self.names)
        whole = contrasts is None
        return ContrastTest(squared, rank, df, p_value, not bool(enough), named, whole)

    def _facts(self) -> list[tuple[str, str]]:
        columns = zip(self.names, self.auc.tolist(), self.standard_error.tolist(), strict=True)
        return [(str(name), f"{a:.4f} ± {error:.2g}") for name, a, error in columns]

    def __repr__(self) -> str:
        return "AUC ± standard error: " + ", ".join(f"{n} {value}" for n, value in self._facts())

    def _repr_html_(self) -> str:
        return fact_table("AUC ± standard error", self._facts())


@dataclass(frozen=True, slots=True, repr=False)
class ContrastTest:
    """A test of several AUCs at once; made by :meth:`cutscore.AucCovariance.test`, see there.

    Parameters
    ----------
    statistic
        T²: how far the contrasts are from 0, squared, in standard errors.
    rank
        How many independent contrasts there are.
    df
        Degrees of freedom of the denominator of F; ``inf`` for chi-square.
    p_value
        How probable such differences are if all contrasts are 0.
    powerless
        Whether the test has no power: even a perfect score would not have been found better than
        the worst of these. A large p-value means nothing then.
    names
        What the scores are called.
    all_equal
        Whether it was tested that all AUCs are equal, and not other contrasts.
    """

    statistic: float
    rank: int
    df: float
    p_value: float
    powerless: bool
    names: tuple[str, ...]
    all_equal: bool = True

    @property
    def f(self) -> float:
        """The statistic that is judged by F: T² (m − r + 1) / (m r); T² / r for chi-square."""
        if not self.rank:
            return 0.0
        shrink = 1.0 if self.df == inf else self.df / (self.df + self.rank - 1)
        return self.statistic * shrink / self.rank

    def _facts(self) -> dict[str, str]:
        names = " and ".join(filter(None, (", ".join(self.names[:-1]), self.names[-1])))
        what = f"test whether {names} differ" if self.all_equal else f"contrast of {names}"
        judged = f"chi²({self.rank})" if self.df == inf else f"F({self.rank}, {self.df:.4g})"
        value = self.statistic if self.df == inf else self.f
        test = f"{judged} = {value:.3g}, p = {self.p_value:.2g}"
        if self.df != inf:
            test = f"T² = {self.statistic:.3g}, {test}"
        if self.powerless:
            test += ", no power: these rows would not show even a perfect score as better"
        return {what: test}

    def __repr__(self) -> str:
        ((what, test),) = self._facts().items()
        return f"{what}: {test}"

    def _repr_html_(self) -> str:
        return fact_table("Test of AUCs", list(self._facts().items()))


def compare(  # noqa: PLR0913 - all but three are options
    y: Any,
    score_a: Any,
    score_b: Any,
    *,
    weight: Any = None,
    positive: Any = None,
    unit: Any = None,
    statistic: Statistic | str = "auc",
    method: str = "t",
    alternative: str = "two-sided",
    margin: float = 0.0,
    costs: Costs | None = None,
    prior: float | None = None,
    level: float = 0.95,
    n: int = 2000,
    seed: int = 0,
    report: Report | None = None,
) -> Comparison:
    r"""Compare two scores of the same rows.

    DeLong's method compares AUCs. Each row has a placement, the share of the other class that the
    score ranks right against it; with :math:`D` the difference of a row's two placements,

    .. math:: \mathrm{se}^2 = \frac{S^2_+}{P} + \frac{S^2_-}{N}, \qquad
              z = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\mathrm{se}},

    where :math:`S^2` is the sample variance of D within a class. Few rows estimate it, so z is
    judged by Student's t with min(P, N) − 1 degrees of freedom. With weights a class of n rows
    counts as :math:`n_\mathrm{eff} = (\sum w)^2 / \sum w^2`. Where rows of one ``unit`` vary
    together, D is summed over each, and what its positives and its negatives have in common counts
    too; with as many units as rows that is the formula above. (Obuchowski's, but that classes count
    as :math:`n_\mathrm{eff}` units, of which there are less the more they differ in size.)

    A partial AUC is compared in the same way: a positive's placement is then the part of the
    interval that lies above its FPR, and that of a negative is cut off at the ends. Degrees of
    freedom are at most the negatives that are expected in the interval of FPRs (or the positives
    in that of TPRs) less one.

    The bootstrap compares any statistic. Each replicate draws rows of each class with replacement,
    the same ones for both scores; or, with ``unit``, whole units whatever their classes. The
    interval goes from percentile to percentile of the replicates' differences, the k-th of n
    at k/(n + 1). The p-value inverts that interval, so that the two agree; it is 2/(n + 1) at the
    least. z divides by the standard deviation of the replicates and is for reading only.

    Parameters
    ----------
    y, weight, positive
        As in :func:`cutscore.sweep`.
    score_a, score_b
        The two scores of each row. They may be on different scales.
    unit
        The unit each row belongs to (patient, user, session), where rows of one unit are not
        independent.
    statistic
        "auc", a :class:`cutscore.PartialAuc`, or for the bootstrap any function of a sweep that
        returns a number.
    method
        ``"t"``; ``"delong"``, which judges z by the normal distribution, as most software does, and
        finds differences too often where positives are few; or ``"bootstrap"``.
    alternative
        What is to be shown. ``"two-sided"``: a and b differ. ``"greater"``: a is better (or
        higher) than b; with a margin, a is worse by less than the margin (non-inferiority).
        ``"less"``: the same of b. ``"equivalent"``: they differ by less than the margin.
    margin
        The difference that does not matter, at least 0. Choose it before you see the data.
    costs
        Compare the cost per case that is expected on new rows as well, each score at its own best
        cut. On the rows it was chosen on a cut looks better than it is, a score of many values
        more so than a rule of yes or no; by how much is seen on bootstrap samples, which choose
        their cuts anew. There are 200 of these whatever ``n`` is, of more than 100,000 rows 50.
    prior
        The share of positives where decisions are made, for ``costs``; that of the rows if left
        out.
    level
        The confidence of the intervals.
    n, seed
        How many samples, and the seed of their random numbers.
    report
        Told about progress of the bootstrap: the share that is done, and a few words.

    Returns
    -------
    Comparison

    Raises
    ------
    UndefinedError
        If a class is missing; for DeLong's method, if a class has less than two rows; or if the
        scores differ but the difference doesn't vary, as between a perfect score and a constant
        one: the standard error is 0 then, which tells how little the rows can tell and not how sure
        the difference is. Scores that rank all pairs alike have z = 0 and p = 1; with a margin they
        raise, since they don't show how far apart the scores are on other rows.

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
    >>> cs.compare(y, new, old)
    a 0.9375, b 0.7188: a is better by 0.2188 [-0.2032, 0.6407] at 95 %, which may be chance,
    t(3) = 1.65, p = 0.2 (paired DeLong), no power: these rows would not show even a perfect score
    as better
    >>> cs.compare(y, new, old, alternative="greater", margin=0.1)
    a 0.9375, b 0.7188: a − b = 0.2188, at least -0.09326 at 95 %, a is less than 0.1 worse than b:
    shown, t(3) = 2.4, p = 0.048 (paired DeLong)
    >>> c = cs.compare(y, new, old, method="bootstrap", statistic=cs.average_precision)
    >>> c.difference, c.p_value < 0.5
    (0.202..., True)
    """
    measure = _measure(statistic, method, ("t", "delong", "bootstrap"))
    level, (top, bound) = check_level(level), _range(measure)
    asked = as_hypothesis(alternative, margin, level, bound)
    if prior is not None and costs is None:
        rule = "a prior is the share of positives that costs are expected at"
        raise DataError(Conflict(("prior", "costs"), rule, "Give {1} too."))
    if costs is not None:
        check_costs(costs)
    prior = None if prior is None else check_prior(prior)
    rows = read(y, {"score_a": score_a, "score_b": score_b}, weight, positive)
    sampler = Sampler(rows, unit, n, seed)
    whole = [s.sweep() for s in sampler.scores]
    whole[0].needs_both_classes("a comparison")
    a, b = map(measure, whole)
    name = _name(statistic)
    if method != "bootstrap":
        # The difference, and by itself the one that another would have to beat.
        beaten = {"greater": 1, "less": 0}.get(alternative, 0 if a < b else 1)
        placements = (
            _placements(rows) if measure is auc else _partial(sampler.scores, rows, measure)
        )
        columns = [(np.stack([v[0] - v[1], v[beaten]]), w) for v, w in placements]
        of = _by_class(rows, sampler.unit)
        error, alone = np.sqrt(np.diag(_covariance(columns, of))).tolist()
        df = inf if method == "delong" else _df(_sizes(columns, of), measure)
        how = method if unit is None else "units"
        result = difference_tested(
            a, b, error, level, statistic=name, method=how, df=df, asked=asked, bound=bound
        )
        reach = quantile(df, asked.of_interval(level)[0])
        room, spread = (asked.margin, error) if asked.margin else (top - (a, b)[beaten], alone)
        found = asked.margin and result.shown
        result = replace(result, powerless=not (found or room > reach * spread))
    else:
        difference = np.subtract(*sampler.replicates(measure, report).T)
        error = float(np.std(difference, ddof=1))
        result = difference_tested(
            a, b, error, level, statistic=name, method=method, asked=asked, bound=bound
        )
        result = _resampled(result, difference, level, bound)
    if costs is None:
        return result
    both = compare_costs(
        rows, sampler.unit, costs, prior=prior, level=level, seed=sampler.seed, report=report
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
) -> Comparison:
    r"""Compare the AUCs of two sweeps of different rows, or any other statistic.

    Welch's t-test with DeLong's variances :math:`v` of the two AUCs,

    .. math:: t = \frac{\mathrm{AUC}_a - \mathrm{AUC}_b}{\sqrt{v_a + v_b}}, \qquad
              \mathrm{df} = \frac{(v_a + v_b)^2}{v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)},

    where n is the number of rows of a sweep, as in pROC, or :math:`(\sum w)^2 / \sum w^2` of
    weighted rows. For two scores of the same rows use
    :func:`cutscore.compare`, which knows that they vary together.

    Parameters
    ----------
    a, b
        Sweeps with at least two rows of each class. Weighted ones need squares:
        ``sweep(..., squares=True)``.
    statistic
        "auc", a :class:`cutscore.PartialAuc`, or for the bootstrap any function of a sweep that
        returns a number.
    method
        ``"t"``, or ``"bootstrap"``: each sweep is drawn from by itself.
    alternative, margin
        As in :func:`cutscore.compare`.
    level
        The confidence of the interval.
    n, seed
        How many bootstrap samples, and the seed of their random numbers.

    Returns
    -------
    Comparison
        ``z`` is the t of the formula.

    Raises
    ------
    UndefinedError
        If a class has less than two rows; or if the AUCs differ but both variances are 0: see
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
    a 0.8333, b 0.4444: a is better by 0.3889 [-0.4529, 1] at 95 %, which may be chance,
    t(8.462) = 1.06, p = 0.32 (unpaired DeLong, Welch's t)
    """
    measure, name = _measure(statistic, method, ("t", "bootstrap")), _name(statistic)
    level, (_, bound) = check_level(level), _range(measure)
    asked = as_hypothesis(alternative, margin, level, bound)
    values, df, how = (measure(check_sweep(a)), measure(check_sweep(b))), inf, "unpaired"
    if method == "bootstrap":
        # Two streams of random numbers: of one, samples of equal sizes would vary together.
        other = int(np.random.SeedSequence((check_seed(seed), 1)).generate_state(1)[0])
        samples = bootstrap(a, measure, n=n, seed=seed), bootstrap(b, measure, n=n, seed=other)
        difference = samples[0].replicates - samples[1].replicates
        error, how = float(np.std(difference, ddof=1)), "unpaired bootstrap"
    else:
        v_a, v_b = area_variance(a, measure), area_variance(b, measure)
        v = v_a + v_b
        if v > 0:
            df = v * v / sum(u * u / _unpaired_df(s, measure) for s, u in ((a, v_a), (b, v_b)))
        error = sqrt(v)
    result = difference_tested(
        *values, error, level, statistic=name, method=how, df=df, asked=asked, bound=bound
    )
    return _resampled(result, difference, level, bound) if method == "bootstrap" else result


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


def auc_covariance(
    y: Any, scores: Any, *, weight: Any = None, positive: Any = None, unit: Any = None
) -> AucCovariance:
    r"""DeLong's covariance matrix of the AUCs of several scores of the same rows.

    With :math:`V` the placements of :func:`cutscore.compare` it is
    :math:`\Sigma = \mathrm{cov}(V_+) / P + \mathrm{cov}(V_-) / N`. Any contrast :math:`c` of the
    AUCs then has the variance :math:`c^\top \Sigma c`. With ``unit``, placements are summed over
    each unit first.

    Parameters
    ----------
    y, weight, positive
        As in :func:`cutscore.sweep`. With weights a class of n rows counts as
        :math:`(\sum w)^2 / \sum w^2`.
    scores
        A mapping from names to columns, a frame, an array with a column for each score, or a
        sequence of columns.
    unit
        The unit each row belongs to (patient, user, session), where rows of one unit are not
        independent.

    Returns
    -------
    AucCovariance

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated receiver
    operating characteristic curves: a nonparametric approach", Biometrics 44 (1988).
    https://doi.org/10.2307/2531595

    Examples
    --------
    >>> import cutscore as cs
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0]
    >>> scores = {"new": [9, 7, 8, 5, 2, 4, 6, 1], "old": [7, 5, 6, 2, 4, 3, 6, 1]}
    >>> c = cs.auc_covariance(y, scores)
    >>> c
    AUC ± standard error: new 0.9375 ± 0.088, old 0.7188 ± 0.21
    >>> c.covariance.round(4)
    array([[0.0078, 0.0169],
           [0.0169, 0.0436]])

    """
    columns = columns_of(scores)
    rows = read(y, columns, weight, positive)
    auc = [Score(s, rows).sweep().auc for s in rows.scores]
    units = None if unit is None else encoded(unit, "unit", rows)[1]
    placements, of = _placements(rows), _by_class(rows, units)
    covariance, design = _covariance(placements, of), np.ones(len(auc))
    if of is not None:
        alone = np.diag(_covariance(placements, None))
        # Where nothing varies, units are all that is known to be independent.
        ratio = np.divide(np.diag(covariance), alone, out=np.full(len(auc), inf), where=alone > 0)
        design = np.maximum(1.0, ratio)
    sizes = _sizes(placements, of), _sizes(placements, None)
    return AucCovariance(np.array(auc), covariance, tuple(columns), *sizes, design)


def _contrasts(contrasts: Any, names: tuple[Any, ...]) -> Floats:
    """Contrasts of k scores as an array with a row for each."""
    k = len(names)
    if contrasts is None:
        if k < 2:
            raise DataError(TooFew("a test", 2, "scores", k))
        return np.eye(k)[:-1] - np.eye(k)[1:]
    try:
        given = np.atleast_2d(np.asarray(contrasts, np.float64))
    except (TypeError, ValueError):
        given = np.full((1, 0), np.nan)
    fits = given.ndim == 2 and given.shape[1] == k and np.isfinite(given).all()
    size = np.abs(given).sum(axis=-1)
    if not (fits and (size > 0).all() and (np.abs(given.sum(axis=1)) <= 1e-9 * size).all()):
        rule = f"have {k} numbers, one for each score, that add up to 0 and are not all 0"
        hint = f"Such as {[1, -1, *[0] * (k - 2)]}."
        raise DataError(BadArgument("contrasts", rule, contrasts, hint))
    return given


def _wald(contrasts: Floats, auc: Floats, covariance: Floats) -> tuple[float, int]:
    """How far contrasts are from 0, squared, in standard errors; and how many there are."""
    _, size, basis = np.linalg.svd(contrasts, full_matrices=False)
    basis = basis[size > 1e-9 * size.max()]  # the same contrasts, of length 1 and at right angles
    value, matrix = basis @ auc, basis @ covariance @ basis.T
    spread, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    along = axes.T @ value
    varies = spread > 1e-12 * float(np.diag(covariance).max())
    if (np.abs(along[~varies]) > 1e-12).any():
        raise UndefinedError(NoVariation("the difference of the AUCs", hint=_MISTAKES))
    return float(np.sum(along[varies] ** 2 / spread[varies])), int(varies.sum())


def _squared_test(squared: float, rank: int, df: float, level: float) -> tuple[float, float]:
    """The p-value of Hotelling's T², or of chi-square; and the value that it must exceed."""
    from scipy.special import chdtrc, chdtri, fdtrc, fdtri

    if not rank:  # copies of one score
        return 1.0, inf
    if df == inf:
        return float(chdtrc(rank, squared)), float(chdtri(rank, 1 - level))
    per = rank * (df + rank - 1) / df
    return float(fdtrc(rank, df, squared / per)), float(fdtri(rank, df, level)) * per


def _sizes(classes: list[tuple[Floats, Floats]], units: list[Ints] | None) -> tuple[float, float]:
    """As how many rows, or units, of equal weight those of either class count."""
    mass = [w if units is None else np.bincount(units[j], w) for j, (_, w) in enumerate(classes)]
    pos, neg = (effective(float(w.sum()), float((w * w).sum())) for w in mass)
    return pos, neg


def _by_class(rows: ScoredRows, unit: Ints | None) -> list[Ints] | None:
    """The units of the positives, and those of the negatives."""
    return None if unit is None else [unit[rows.ones], unit[~rows.ones]]


def _placements(rows: ScoredRows) -> list[tuple[Floats, Floats]]:
    """For each class: the placements, a line for each score, and the weights of its rows.

    A placement is the share of the other class that the score ranks right against this row, ties
    counting one half: V₁₀ of a positive, V₀₁ of a negative.
    """
    weight = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
    out = []
    for own, sign in ((rows.ones, 1.0), (~rows.ones, -1.0)):
        v = [_share_below(sign * s[own], sign * s[~own], weight[~own]) for s in rows.scores]
        out.append((np.stack(v), weight[own] / weight[own].max()))  # they will be squared
    return out


def _partial(scores: list[Score], rows: ScoredRows, area: Any) -> list[tuple[Floats, Floats]]:
    """The same for a partial AUC."""
    weight = np.ones(len(rows.ones)) if rows.weight is None else rows.weight
    at = [(partial_placements(score.sweep(), area), score.at) for score in scores]
    return [
        (np.stack([v[k][i[own]] for v, i in at]), weight[own] / weight[own].max())
        for k, own in enumerate((rows.ones, ~rows.ones))
    ]


def _share_below(score: Floats, others: Floats, weight: Floats) -> Floats:
    """P(other < score) + ½ P(other = score) for each score."""
    order = np.argsort(others, kind="stable")
    mass = np.concatenate(([0.0], np.cumsum(weight[order])))
    less, upto = (mass[np.searchsorted(others[order], score, side)] for side in ("left", "right"))
    share: Floats = (less + upto) / (2 * mass[-1])
    return share


def _covariance(classes: list[tuple[Floats, Floats]], units: list[Ints] | None) -> Floats:
    """Covariance matrix of the means of placements: the sum of what each class adds, and of what
    units add that have rows of both."""
    k = len(classes[0][0])
    out, parts = np.zeros((k, k)), []
    count = 0 if units is None else 1 + max(int(of.max()) for of in units)
    for j, ((v, w), name) in enumerate(zip(classes, ("positive", "negative"), strict=True)):
        d, mass = w * (v - np.average(v, axis=1, weights=w)[:, None]), w
        if units is not None:
            d = np.stack([np.bincount(units[j], x, count) for x in d])
            mass = np.bincount(units[j], w, count).astype(np.float64)
        # n_eff / (n_eff − 1) / W² with n_eff = W² / Σw²: 1 / n (n − 1) for equal weights.
        square = w.sum() ** 2
        pairs = square - (mass * mass).sum()
        if not pairs > 1e-9 * square:
            of = f"{name} {'rows' if units is None else 'units'}"
            hint = "One that has nearly all of the weight counts as one."
            have = float(square / (mass * mass).sum())
            raise UndefinedError(TooFew("DeLong's variance", 2, of, have, hint))
        # Not d @ d.T: its rounding depends on the threads of the BLAS.
        out += [[np.sum(x * y) / pairs for x in d] for y in d]
        parts.append(d / w.sum())
    if units is not None:
        a, b = parts
        both = np.array([[np.sum(x * y) for x in a] for y in b]) * (count / (count - 1))
        out += both + both.T
        # What rounding leaves of 0.
        np.fill_diagonal(out, np.maximum(np.diag(out), 0.0))
    return out


def difference_tested(  # noqa: PLR0913 - what a test needs
    a: float,
    b: float,
    error: float,
    level: float,
    *,
    statistic: str,
    method: str,
    df: float = inf,
    asked: Hypothesis = TWO_SIDED,
    bound: float = 1.0,
) -> Comparison:
    """The z or t test of a difference with a standard error; no two values differ by more than
    ``bound``."""
    difference, size = a - b, max(abs(a), abs(b))
    varies = error > 1e-14 * size
    if not varies and (asked.margin or abs(difference) > 1e-12 * size):
        what = f"the difference between a = {a:.6g} and b = {b:.6g}"
        raise UndefinedError(NoVariation(what, hint=_MISTAKES))
    if varies:
        z, p_value, interval = asked.tested(difference, error, df, level, bound)
    else:  # nothing but rounding
        difference = error = z = 0.0
        p_value, interval = 1.0, asked.ends(0.0, 0.0, level, bound)
    found = (a, b, difference, error, z, p_value, interval, statistic, method, df)
    return Comparison(*found, alternative=asked.alternative, margin=asked.margin)


def _resampled(result: Comparison, replicates: Floats, level: float, bound: float) -> Comparison:
    """The comparison with p-value and interval from replicates of the difference."""
    p_value, interval = result._asked.resampled(replicates, level, bound)
    return replace(result, p_value=p_value, interval=interval) if result.standard_error else result


def _measure(statistic: Any, method: str, methods: tuple[str, ...]) -> Statistic:
    """The statistic as a function, provided that the method can compare it."""
    one_of("method", method, methods)
    measure = as_statistic(statistic)
    if method != "bootstrap" and not (measure is auc or isinstance(measure, PartialAuc)):
        rule = "DeLong's method compares AUCs, and the statistic is another"
        raise DataError(Conflict(("method", "statistic"), rule, "Use {0}='bootstrap'."))
    return measure


def _range(measure: Statistic) -> tuple[float, float]:
    """The highest value of a statistic, and by how much two can differ."""
    if isinstance(measure, PartialAuc):
        return measure.highest, measure.highest - measure.lowest
    return (1.0, 1.0) if measure is auc else (inf, inf)


def _name(statistic: Any) -> str:
    if isinstance(statistic, PartialAuc):
        return statistic.name
    return str(getattr(statistic, "__name__", statistic))


def _one_sided(difference: float, interval: Interval, alternative: str) -> str:
    """The difference, and the end or the ends of its interval that a test is about."""
    low, high = interval
    ends = {"greater": f", at least {low:.4g}", "less": f", at most {high:.4g}"}
    said = ends.get(alternative, f" [{low:.4g}, {high:.4g}]")
    return f"a − b = {difference:.4g}{said} at {100 * interval.level:g} %"


def _verdict(difference: float, interval: Interval, word: str) -> str:
    """Which of a and b is more of something, and by how much."""
    low, high = interval
    who = f"a is {word} by"
    if difference < 0:
        difference, low, high, who = -difference, -high, -low, f"b is {word} by"
    elif difference == 0:
        who = "no difference:"
    chance = ", which may be chance" if difference and low <= 0 <= high else ""
    return f"{who} {difference:.4g} [{low:.4g}, {high:.4g}] at {100 * interval.level:g} %{chance}"
