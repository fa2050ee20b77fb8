"""The decision: which cut, for these costs or this aim, under these limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, gcd, lcm, log10, nan
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings import Conflict
from cutscore.core.findings.report import Infeasible, Notice
from cutscore.core.findings.statistics import CountsRows, Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import Card, thumbnail
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text, format_like
from cutscore.core.types import Selector
from cutscore.decision.normal import (
    NORMAL_HINT,
    answers_without_positives,
    is_known,
    is_normal,
    lowest_cut,
)
from cutscore.inference.bootstrap import Sampler, check_samples, percentiles
from cutscore.inference.guarantee import (
    CertifiedLimit,
    Rule,
    guarantee_limits,
    just_above,
    rate_of_units,
    shortage_text,
    split_error,
)
from cutscore.inference.periods import Periods, as_periods
from cutscore.inference.rates import interval
from cutscore.inference.selection import MANY, Expected, is_large, select, select_among
from cutscore.inference.units import Units, as_units
from cutscore.measures.aim import Aim, GoalLike, Top, as_objective, undefined_error
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit, as_limits
from cutscore.measures.registry import WORDS, Measure, Objective, is_rate
from cutscore.measures.triage import Triage
from cutscore.sweeps.curves import from_zero
from cutscore.sweeps.sketch import Sketch
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

if TYPE_CHECKING:
    from cutscore.decision.verdict import Verdict


class Status(NamedTuple):
    """A limit that was asked for, the measure's value at the point, and whether the limit holds."""

    limit: str
    value: float
    holds: bool


class CutPair(NamedTuple):
    """The scores from which on a case is reviewed, and blocked. If there is one cut, they are the
    same."""

    review: float
    block: float


class Baseline(NamedTuple):
    """Flagging everything or nothing, whichever costs less, beside a chosen cut."""

    name: str
    """``"flag all"`` or ``"flag none"``."""
    value: float
    """Its cost of a case, at the share of positives that was asked about."""
    difference: Expected | None
    """What the chosen cut is expected to cost, less that; None where ``expected`` is."""

    @property
    def shown(self) -> bool:
        """Whether the chosen cut is shown to cost less: the interval is below 0."""
        return self.difference is not None and self.difference.high < 0


class Chosen(Protocol):
    """What making a choice again on folds and bootstrap samples came to: a :class:`Selection`, or
    the same of two cuts."""

    @property
    def confusion(self) -> Confusion:
        """What to expect of as many rows."""

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """A measure on new rows; None if it has no value on some of the folds."""


@dataclass(frozen=True, eq=False)
class Promised:
    """What was promised of a choice whose alternatives are not known any more: in place of a
    :class:`Selection`, for those who have a policy and not its rows.

    Parameters
    ----------
    aim
        What the choice was for.
    promises
        What to expect on new rows, by the name of the measure.
    rest
        What is known of everything else.
    given
        Whether the threshold was set manually.
    """

    aim: Aim
    promises: Mapping[str, Expected]
    rest: Chosen | None = None
    given: bool = False

    def expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        """What was promised; of other measures, other costs and other levels what is known."""
        found = self.promises.get(goal.name)
        same = not isinstance(goal, Costs) or goal == self.aim.goal
        if found is not None and same and found.level == level:
            return found
        return None if self.rest is None else self.rest.expect(goal, level)

    def confusion_of(self, c: Confusion) -> Confusion | None:
        """What to expect of as many rows as these."""
        known = {name: e.value for name, e in self.promises.items()}
        if "recall" not in known or "fpr" not in known:
            return None
        tp, fp = known["recall"] * c.positives, known["fpr"] * c.negatives
        if not isinstance(c, Triage):
            return Confusion(tp, fp, c.positives - tp, c.negatives - fp)
        if "fnr" not in known or "specificity" not in known:
            return None
        fn, tn = known["fnr"] * c.positives, known["specificity"] * c.negatives
        return Triage(tp, fp, fn, tn, c.positives - tp - fn, c.negatives - fp - tn)


@dataclass(frozen=True, eq=False, repr=False)
class OperatingPoint(Card):
    """A threshold, why it was chosen and what it does; see :func:`cutscore.choose`.

    Parameters
    ----------
    threshold : float
        Flag a case iff its score is at least this.
    confusion : Confusion
        What that does on the rows of the sweep.
    value : float
        The objective's value there. Of costs it is the expected cost of a case.
    feasible : bool
        Whether the limits hold. If no cut satisfies them this is the nearest to doing so.
    status : tuple of Status
        Each limit, with the measure's value and whether it holds.
    cut : int
        How many of the distinct scores are flagged.
    sweep : Sweep
        The rows it was chosen on.
    question : Aim
        What was asked for: goal, limits, prior, confidence, units.
    among : Selection or None
        What choosing it together with something else came to on folds, a learner say; None if the
        threshold alone was chosen.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    >>> p = cs.choose(s, cs.Costs(fp=1, fn=20))
    >>> p
    flag scores ≥ 0.7, minimum cost per case: 0.0101 (95 % CI 0.0051–0.0200) expected on new rows,
    0.0101 on these rows
    on these rows: 10,000 cases, 20 positive; 17 caught, 3 missed, 41 false alarms
    """

    threshold: float
    confusion: Confusion
    value: float
    feasible: bool
    status: tuple[Status, ...]
    cut: int
    sweep: Sweep
    question: Aim
    among: Chosen | Promised | None = None

    @property
    def objective(self) -> str:
        """What was asked for, by name."""
        return self.question.goal.name

    @property
    def cuts(self) -> CutPair:
        """The scores from which on a case is reviewed, and blocked: nothing is reviewed here."""
        return CutPair(self.threshold, self.threshold)

    @property
    def given(self) -> bool:
        """Whether the threshold was set manually, rather than chosen for the objective."""
        return isinstance(self.among, Promised) and self.among.given

    @property
    def cut_indices(self) -> tuple[int, ...]:
        """How many of the distinct scores are above each threshold."""
        return (self.cut,)

    @property
    def findings(self) -> tuple[Notice, ...]:
        """What should be known of it, besides its verdict."""
        return ()

    @property
    def simpler_costs(self) -> dict[str, float] | None:
        """What a case costs by simpler rules, by name; None if costs were not the objective."""
        return self.trivial_costs

    @property
    def money_lines(self) -> tuple[str, ...]:
        """What is to be said of money, in sentences; nothing unless costs differ by row."""
        return ()

    def rule_text(self, score: str = "score", *, reverse: bool = False) -> str:  # noqa: ARG002
        """The decision in words, where it is none of a threshold on the score alone; else empty."""
        return ""

    def as_given(self, goal: Objective, level: float = 0.95, method: str | None = None) -> Expected:
        """A measure with its interval as at a threshold that was given, not chosen; see
        :func:`cutscore.interval`."""
        at, prior = self.threshold, self.question.prior
        span = interval(self.sweep, goal, at=at, prior=prior, level=level, method=method)
        goal = goal.measure if isinstance(goal, Top) else goal
        return Expected(float(goal(self.deployed)), span.low, span.high, level)

    @property
    def deployed(self) -> Confusion:
        """The confusion of as many cases with the prior that was given, else of these."""
        prior = self.question.prior
        return self.confusion if prior is None else self.confusion.deployed(prior)

    @property
    def cost_per_1000(self) -> float | None:
        """Expected cost of 1,000 cases, if costs were the objective."""
        return 1000 * self.value if isinstance(self.question.goal, Costs) else None

    @derived
    def interval(self) -> Interval:
        """A 95 % interval of the value at this threshold, as if it had not been chosen on these
        rows: too narrow, and around a value that is too good. ``expected`` knows of the choice.

        For other levels and measures: ``cutscore.interval(s, measure, at=point)``.
        """
        found = self.as_given(self.question.goal)
        return Interval(found.low, found.high, found.level)

    @derived
    def expected(self) -> Expected | None:
        """The value expected on new rows, with its 95 % interval; see :meth:`expect`."""
        return self.expect(self.question.goal)

    def expect(self, measure: GoalLike, *, level: float = 0.95) -> Expected | None:
        """A measure expected on new rows, with its confidence interval: as the threshold was chosen
        on these rows, it does better on them than it will.

        The choice is made again on nine tenths of the rows and judged on the tenth left out, ten
        times in turn; how far that may be off is seen on bootstrap samples. None where the measure
        is 0/0, and for aims that this is not known for: functions, likelihood ratios, a precision
        with a confidence, and weighted rows if the sweep was made without ``squares``, or with
        limits that have a confidence. None as well if a class has a single row.

        Parameters
        ----------
        measure : str, Costs or callable
            The name of a measure, ``Costs``, ``f(beta)`` or a function of (tp, fp, fn, tn).
        level : float, default 0.95
            Confidence level of the interval.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([1, 0], (40, 360))
        >>> p = cs.choose(cs.sweep(y, rng.standard_normal(400) + 1.5 * y), cs.Costs(fp=1, fn=20))
        >>> p.value, p.expected, p.expect("recall")
        (0.4125, 0.559 (95 % CI 0.339–0.873), 0.891 (95 % CI 0.671–0.970))
        """
        return self._expect(as_objective(measure), level)

    def _expect(self, goal: Objective, level: float = 0.95) -> Expected | None:
        if isinstance(self.among, Promised):
            return self.among.expect(goal, level)
        if self.sweep.weighted and self.sweep.pos2 is None:
            return None
        if self.question.periods is not None and self._by_periods:
            return self._over_own_periods(goal, level)
        if is_normal(self.sweep) and answers_without_positives(self.question):
            # Also for the chosen threshold: see cutscore.decision.normal.
            known = is_known(self.sweep, goal)
            return self.as_given(goal, level, "clopper-pearson") if known else None
        if self.trivial or is_large(self.sweep):
            # Flagging all or nothing does the same on any rows; and many rows leave little choice.
            return None if np.isnan(float(goal(self.deployed))) else self.as_given(goal, level)
        found = self.chosen
        return None if found is None else found.expect(goal, level)

    @property
    def _by_periods(self) -> bool:
        """Whether there are so many rows that leaving out periods in turn takes long and tells no
        more; or no positives."""
        s = self.sweep
        return bool(s.P + s.N > MANY or not s.P)

    def _over_own_periods(self, goal: Objective, level: float) -> Expected | None:
        """A rate as at a threshold that was given, with its interval over periods: of so many rows
        the choice adds next to nothing."""
        periods = self.question.periods
        if not isinstance(periods, Periods) or not is_known(self.sweep, goal):
            return None
        with suppress(UndefinedError):
            return self.over_periods(periods, goal, level)
        return None

    def over_periods(self, periods: Periods, goal: Objective, level: float) -> Expected | None:
        """A measure of rows at these thresholds, as if they had been given, with its interval over
        the periods of the rows; None if it is no ratio of sums."""
        return periods.measured(goal, self.threshold, level)

    @property
    def typical(self) -> Confusion | None:
        """What to expect of as many new rows as these; None where :meth:`expect` knows nothing."""
        if isinstance(self.among, Promised):
            return self.among.confusion_of(self.confusion)
        if self.trivial or is_large(self.sweep) or is_normal(self.sweep):
            return self.confusion
        return None if self.chosen is None else self.chosen.confusion

    @property
    def trivial_costs(self) -> dict[str, float] | None:
        """What a case costs if all are decided alike, by name: ``"flag none"`` and ``"flag all"``;
        None if costs were not the objective."""
        goal = self.question.goal
        if not isinstance(goal, Costs):
            return None
        return {name: float(goal(does)) for name, does in self.alike.items()}

    @property
    def alike(self) -> dict[str, Confusion]:
        """The same cases if nothing is flagged, and if everything is."""
        c = self.deployed
        return {
            "flag none": Confusion(0, 0, c.positives, c.negatives),
            "flag all": Confusion(c.positives, c.negatives, 0, 0),
        }

    @derived
    def baseline(self) -> Baseline | None:
        """What flagging everything or nothing would cost, whichever is less, and the difference
        that is expected on new rows; None if costs were not the objective, or if limits allow
        neither.

        A score that knows nothing does no better than that, and one of few rows may not be shown
        to. The difference is that of :meth:`expect`: the same choices on folds and the same
        bootstrap samples, in which the cost of the baseline varies with the share of positives.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = np.repeat([1, 0], (40, 360))
        >>> p = cs.choose(cs.sweep(y, rng.standard_normal(400) + 0.5 * y), cs.Costs(fp=1, fn=9))
        >>> p.baseline.name, p.baseline.value, p.baseline.difference.value < 0, p.baseline.shown
        ('flag all', 0.9, True, False)
        """
        q = self.question
        if not isinstance(q.goal, Costs):
            return None
        gain, loss = q.goal.fn + q.goal.tp, q.goal.fp + q.goal.tn
        # The difference is itself a cost: of what is flagged, beside flagging nothing, and of what
        # is not, beside flagging everything.
        beside = {
            "flag none": Costs(fp=loss, fn=0, tp=gain),
            "flag all": Costs(fp=0, fn=gain, tn=loss),
        }
        return self._baseline(lambda name: beside[name])

    def _baseline(self, beside: Callable[[str], Objective]) -> Baseline | None:
        """The best of deciding all cases alike, of what limits allow."""
        q = self.question
        allowed = [
            (float(q.goal(does)), name)
            for name, does in self.alike.items()
            if all(rule.holds(does) for rule in map(q.rule_on_rows, q.limits))
        ]
        if not allowed:
            return None
        value, name = min(allowed, key=lambda one: one[0])
        with suppress(CutscoreError):
            return Baseline(name, value, self._expect(beside(name)))
        return Baseline(name, value, None)

    @property
    def trivial(self) -> bool:
        """Whether all is flagged, or nothing."""
        return self.cut in (0, len(self.sweep))

    @derived
    def chosen(self) -> Chosen | None:
        """What making this choice again came to; None where that is not known."""
        known = None if isinstance(self.among, Promised) else self.among
        return known or self._choose_again()

    def _choose_again(self) -> Chosen | None:
        q = self.question
        if q.periods is None:
            return select(self.sweep, q)
        # Whole periods are left out, and of the others as large a share is flagged.
        if not isinstance(q.periods, Periods):
            return None
        if q.confidence is not None and any(limit.period is None for limit in q.limits):
            return None
        error = None if q.confidence is None else split_error(q.limits, q.confidence)
        limits = tuple(q.on_all_rows(limit, error) for limit in q.limits)
        aim = replace(q, limits=limits, confidence=None, units=None, periods=None)
        rows = q.periods
        return select_among(rows.positive, [rows.score], aim, unit=rows.period)

    def stability(self, n: int = 200, *, seed: int = 0) -> Stability:
        """Choose again on ``n`` bootstrap samples: how far do the threshold and the result move?

        Each sample's threshold is judged on the rows of the sweep: its regret is how much worse it
        does there than this point. One that breaks a limit there may do better, but could not have
        been chosen; it has no regret. A weighted sweep needs squares, as for
        :func:`cutscore.bootstrap`.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = rng.random(2000) < 0.1
        >>> p = cs.choose(cs.sweep(y, rng.standard_normal(2000) + 2 * y), "f1")
        >>> p.threshold, p.stability(100).thresholds
        (1.7, [1.60..., 2.01...] at 95 %)
        """
        q = self.question
        if q.units is not None or q.periods is not None:
            given = "units" if q.units is not None else "periods"
            hint = (
                f"Choose without {given} to see how the threshold would move if rows were "
                "independent."
            )
            what = "clusters" if q.units is not None else "periods"
            raise UndefinedError(CountsRows("stability", hint, what))
        if q.three_way:
            raise UndefinedError(Undefined("stability", "is available for a single threshold only"))
        s, sampler = self.sweep, Sampler(self.sweep, seed)
        if len(s) > 2**16 and not s.weighted and _best_between_runs(s, q):
            # No cut inside of a run can be the best, so each is one entry: among so many scores it
            # does not matter which of its rows are the outermost of a sample.
            sampler = sampler.of_runs()
        samples = range(check_samples(n))
        with ThreadPoolExecutor(threads(len(s))) as pool:
            chosen = pool.map(lambda k: _choose(sampler.sample(k), q).threshold, samples)
            threshold = np.array(list(chosen))
        cuts = _at_thresholds(self.sweep, q, threshold)
        broken = np.full(len(threshold), not self.feasible)
        for limit in q.limits:
            broken |= ~limit.holds(limit.sees(cuts.c, cuts.deployed))
        allowed = np.full(len(threshold), self.feasible)
        for rule in rules_of(self.sweep, q):
            allowed &= rule.holds(cuts.confusion_for(rule))
        value, best = cuts.values(), q.goal.better * self.value
        with np.errstate(invalid="ignore"):  # inf − inf
            regret = np.where(value == best, 0.0, best - value)
        return Stability(threshold, np.where(allowed, regret, np.nan), broken)

    def __repr__(self) -> str:
        return "\n".join(describe(self))

    @derived
    def verdict(self) -> Verdict:
        """Whether to use it at all; see :class:`cutscore.decision.verdict.Verdict`."""
        from cutscore.decision.verdict import judge

        return judge(self)

    @property
    def explanation(self) -> str:
        """Why the limits can't be met, if they can't."""
        if self.feasible:
            return "All limits are met."
        limits = tuple(limit.text for limit in self.question.limits)
        return Infeasible(limits, self.question.confidence).render()

    def _title(self) -> str:
        return "Operating point"

    def _warning(self) -> str:
        return "" if self.verdict.state != "unusable" else self.verdict.headline

    def _picture(self) -> str:
        if not (self.sweep.P > 0 and self.sweep.N > 0):
            return ""
        at = (self.confusion.fpr, self.confusion.recall)
        return thumbnail(*self.sweep.outline(), point=at)


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Frozen):
    """What choosing again on bootstrap samples gives; see
    :meth:`cutscore.OperatingPoint.stability`."""

    threshold: Floats
    """The threshold that each sample chose."""
    regret: Floats
    """How much worse each does on the rows of the sweep than the point itself; nan where it could
    not be chosen there, because of the limits and the confidence that was asked for."""
    broken: NDArray[np.bool_]
    """Whether it breaks a limit there."""

    @property
    def thresholds(self) -> Interval:
        """The range of 95 % of the thresholds."""
        return percentiles(self.threshold, 0.95)

    @property
    def comparable(self) -> NDArray[np.bool_]:
        """Whether it has a regret."""
        return ~np.isnan(self.regret)

    @property
    def regrets(self) -> Interval:
        """The range of 95 % of the regrets; nan if there are none."""
        known = self.regret[self.comparable]
        return percentiles(known, 0.95) if len(known) else Interval(nan, nan, 0.95)

    @property
    def mean_regret(self) -> float:
        """The mean of the regrets; nan if there are none."""
        known = self.regret[self.comparable]
        return float(np.mean(known)) if len(known) else nan

    def __repr__(self) -> str:
        text = (
            f"thresholds {self.thresholds.low:.6g} to {self.thresholds.high:.6g} in 95 % of "
            f"{len(self.threshold):,} samples"
        )
        known = np.count_nonzero(self.comparable)
        if known:
            text += f", mean regret {self.mean_regret:.4g}"
        if known < len(self.regret):
            text += f" of the {known:,} that" if known else ", none of which"
            text += " could be chosen on these rows"
        if self.broken.any():
            text += f"; limits violated in {100 * np.mean(self.broken):.3g} % of samples"
        return text

    def _title(self) -> str:
        return f"Stability in {len(self.threshold):,} bootstrap samples"

    def _facts(self) -> list[tuple[str, str]]:
        low, high = format_like(*self.thresholds)
        facts = [("95 % of the thresholds", f"{low} to {high}")]
        if self.comparable.any():
            facts.append(("mean regret", format_like(self.mean_regret)[0]))
        return [*facts, ("limits violated in", f"{100 * np.mean(self.broken):.3g} %")]


def choose(  # noqa: PLR0913 - all but two are options
    s: Sweep,
    objective: GoalLike | Aim,
    *,
    subject_to: str | Limit | Sequence[str | Limit] | None = None,
    prior: float | None = None,
    confidence: float | None = None,
    units: Units | None = None,
    periods: Periods | None = None,
) -> OperatingPoint:
    """The best of all cuts there are, exactly: no grid, no search that may miss it.

    Parameters
    ----------
    s : Sweep
        The sweep.
    objective : str, Costs, callable or Aim
        What to aim at: ``Costs(fp=1, fn=20)``; the name of a measure, such as "f1", "balanced",
        "youden", "mcc", "recall", "precision" or "fpr" (a rate of errors, and flagged, is made
        small; anything else large); ``"precision@500"``, ``"recall@5 %"``: a measure where as many
        rows are flagged as that, those that score highest; ``f(beta)``; or a function of
        (tp, fp, fn, tn), arrays with an entry a cut, whose largest value is best. Or a
        :class:`cutscore.Aim`, which has all of the rest.
    subject_to : str or sequence of str, optional
        Limits, each a text such as "precision >= 0.9", "fpr <= 0.1 %" or "flagged <= 500". A
        measure that is 0/0 satisfies none. With ``periods`` also "flagged <= 200 per day", on the
        mean of all days, "flagged <= 200 on 95 % of days", and the same of fp.
    prior : float, optional
        The share of positives where decisions will be made, if it differs from that of the sweep.
        Rates and limits on rates refer to that share. Limits on counts, such as "flagged <= 500",
        always count rows of the sweep.
    confidence : float, optional
        Limits hold *out of sample* with this confidence, rather than on these rows: for fpr, fnr,
        recall, specificity, precision and the share flagged.
    units : Units, optional
        For limits with a confidence, where rows of one unit (patient, user) are not independent:
        ``cutscore.units(y, score, unit)``, of the rows of the sweep. Limits are then on the mean
        rate of units, each of which counts once; not for precision.
    periods : Periods, optional
        For limits per day or hour: ``cutscore.periods(y, score, day)``, of the rows of the sweep.
        With a confidence they hold on new days.

    Returns
    -------
    OperatingPoint
        If no cut satisfies the limits, the nearest one, with ``feasible=False``: that whose worst
        shortfall, as a share of the limit, is least.

    Notes
    -----
    There are m + 1 cuts of m distinct scores, from flagging nothing to flagging everything. Of
    equally good ones that with the fewest false alarms is chosen, and of those the one that catches
    most. "Equally good" is exact for costs, accuracy, balanced rate and Youden's J: costs are taken
    as the decimals they are written as, and compared in integers. The threshold is placed between
    scores by :meth:`Sweep.threshold_of`. (Where scores are ``+inf``, no threshold flags nothing.)

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.choose(s, "f1").confusion
    8 cases, 4 positive; 4 caught, 0 missed, 2 false alarms
    >>> cs.choose(s, "recall", subject_to=["flagged <= 4", "fpr <= 30 %"]).threshold
    0.67
    >>> p = cs.choose(s, "recall", subject_to="fpr <= 0.1", confidence=0.95)
    >>> p.feasible, p.threshold  # four negatives prove nothing: only flagging nothing is safe
    (True, inf)
    >>> cs.choose(s, lambda tp, fp, fn, tn: tp - 0.5 * fp).threshold
    0.45
    """
    if units is not None and confidence is None:
        rule, hint = "units apply to limits with a confidence", "Add {1}, such as 0.95."
        raise DataError(Conflict(("units", "confidence"), rule, hint))
    if not isinstance(objective, Aim):
        objective = Aim(
            as_objective(objective),
            tuple(as_limits(subject_to)),
            prior,
            confidence,
            as_units(units),
            periods=as_periods(periods),
        )
    elif (subject_to, prior, confidence, units, periods) != (None,) * 5:
        rule = "an Aim has its own limits, prior, confidence, units and periods"
        raise DataError(Conflict(("objective", "subject_to"), rule, "Set them there."))
    check_sweep(s)
    if objective.three_way:
        from cutscore.decision.three_way import choose_three_way

        return choose_three_way(s, objective)
    return _choose(s, objective)


def _choose(s: Sweep, q: Aim) -> OperatingPoint:
    s.needs_rows("an operating point")
    if is_normal(s) and answers_without_positives(q):
        k, _ = lowest_cut(s, rules_of(s, q))
        return _at_threshold(s, q, s.threshold_of(k))
    needs_classes(s, q.goal.measure if isinstance(q.goal, Top) else q.goal)
    if q.prior is not None:
        s.needs_both_classes("an operating point for another prior")
    rules, ranked = rules_of(s, q), q.ranked
    cuts = _candidate_cuts(s, ranked, rules)
    ok = _keep_allowed(s, cuts, rules)
    feasible = bool(ok.any())
    if not feasible:
        if not all(rule.helpful for rule in rules):  # the nearest may be inside of a run
            s.needs_scores("the threshold closest to these limits")
        cuts = _Cuts(s, ranked, *_all_cuts(s))
        ok = _keep_nearest(s, cuts, rules)
    k = _best(s, ranked, cuts, ok)
    tp, fp = cuts.c.tp[k].item(), cuts.c.fp[k].item()
    confusion = Confusion(tp, fp, s.P - tp, s.N - fp)
    deployed = confusion if q.prior is None else confusion.deployed(q.prior)
    cut = int(cuts.cut[k])
    threshold = place_threshold(s, cut, rules)
    status = limit_statuses(q, rules, threshold, confusion)
    value = float(q.goal(deployed))
    return OperatingPoint(threshold, confusion, value, feasible, status, cut, s, q)


def limit_statuses(
    q: Aim, rules: Sequence[Rule], threshold: float, confusion: Confusion
) -> tuple[Status, ...]:
    """What became of the limits, at a threshold that does this on the rows."""
    deployed = confusion if q.prior is None else confusion.deployed(q.prior)
    return tuple(
        Status(
            limit.text,
            limited_value(q, limit, (threshold, threshold), limit.sees(confusion, deployed)),
            bool(rule.holds(confusion if q.confidence else limit.sees(confusion, deployed))),
        )
        for limit, rule in zip(q.limits, rules, strict=True)
    )


def limited_value(q: Aim, limit: Limit, cuts: tuple[float, float], c: Confusion) -> float:
    """What a limit is on at the thresholds for reviewing and blocking: rows, the mean rate of
    units, or periods."""
    if limit.period is not None and q.periods is not None:
        if limit.share is None:
            return float(limit.measure(c)) / len(q.periods)
        return q.periods.value(limit, cuts)
    units = None if q.three_way else as_units(q.units)
    return float(limit.measure(c)) if units is None else rate_of_units(units, limit, cuts[1])


def place_threshold(s: Sweep, cut: int, rules: Sequence[Rule]) -> float:
    """The threshold of a cut, where what was tested of it allows to place it."""
    certified = {rule.measure for rule in rules if isinstance(rule, CertifiedLimit)}
    if not certified or not 0 < cut < len(s):
        return s.threshold_of(cut)
    # What was tested is flagging all that lies above the next lower score, or not flagging all
    # that lies below the next higher one.
    next_higher = float(s.threshold[cut - 1])
    if "precision" in certified:
        return just_above(float(s.threshold[cut]), next_higher)
    return next_higher


def point_at(s: Sweep, q: Aim, cuts: CutPair) -> OperatingPoint:
    """What thresholds do that were given, beside what was asked."""
    if q.three_way:
        from cutscore.decision.three_way import three_way_at

        return three_way_at(check_sweep(s), q, cuts)
    threshold = cuts.block
    return _at_threshold(check_sweep(s), q, threshold)


def _at_threshold(s: Sweep, q: Aim, threshold: float) -> OperatingPoint:
    confusion = s.at(threshold)
    deployed = confusion if q.prior is None else confusion.deployed(q.prior)
    status = limit_statuses(q, rules_of(s, q), threshold, confusion)
    feasible = all(one.holds for one in status)
    cut = int(s.cuts(np.array([threshold]))[0])
    value = float(q.goal(deployed))
    return OperatingPoint(threshold, confusion, value, feasible, status, cut, s, q)


def reach(p: OperatingPoint) -> Interval:
    """An interval that certainly contains the value of the best of all cuts, where the sweep keeps
    some of them: between that of the point, and the best that a block could hide.

    It is one point where all cuts are known, or where the best is a vertex of the convex hull.
    """
    s, q = p.sweep, p.question
    if not isinstance(s, Sketch) or (not q.limits and _best_at_vertices(s, q)):
        return Interval(p.value, p.value)
    if not p.feasible or q.three_way:
        return Interval(-np.inf, np.inf)
    tp, fp = from_zero(s.tp), from_zero(s.fp)
    best = _Cuts(s, q, np.arange(1, len(tp)), tp[1:], fp[:-1])
    open_ = s.unknown.copy()
    for rule in rules_of(s, q):
        open_ &= rule.may_hold(best.confusion_for(rule)) if isinstance(rule, Limit) else True
    own = q.goal.better * p.value
    most = q.goal.better * np.nanmax(best.values()[open_], initial=own)
    return Interval(min(p.value, most), max(p.value, most))


def _best_at_vertices(s: Sweep, q: Aim) -> bool:
    """Whether the best cut is a vertex of the convex hull: for what is linear in TP and FP, and for
    the F measures, which are ratios of such."""
    return _gains(s, q) is not None or bool(getattr(q.goal, "beta", None))


def with_choice(
    p: OperatingPoint,
    y: NDArray[np.bool_],
    scores: Sequence[Floats],
    *,
    weight: Floats | None = None,
    unit: NDArray[Any] | None = None,
) -> OperatingPoint:
    """The same point, that knows what it was chosen among: several scores of its rows, or rows of
    units, which are numbered from 0 on."""
    if (len(scores) == 1 and unit is None) or is_large(p.sweep):
        return p
    return replace(p, among=select_among(y, scores, p.question, weight=weight, unit=unit))


def needs_classes(s: Sweep, goal: Objective) -> None:
    """Refuse rows of one class, of which the measure says nothing."""
    positives, negatives = goal.needs if isinstance(goal, Measure) else (False, False)
    if positives:
        s.needs_positives(f"the best {goal.name}", NORMAL_HINT)
    if negatives:
        s.needs_negatives(f"the best {goal.name}")


def rules_of(s: Sweep, q: Aim) -> list[Rule]:
    """What the limits ask of cuts of this sweep."""
    periods = as_periods(q.periods)
    if periods is not None:
        periods.check(s)
    if q.confidence is None:
        return [q.on_all_rows(limit) for limit in q.limits]
    return guarantee_limits(s, list(q.limits), q.confidence, q.prior, as_units(q.units), periods)


class _Cuts:
    """Some cuts: what they do on the rows of the sweep, on what the objective looks at, and on what
    limits look at."""

    def __init__(
        self, s: Sweep, q: Aim, cut: NDArray[Any], tp: NDArray[Any], fp: NDArray[Any]
    ) -> None:
        self.cut, self.q = cut, q
        self.c = Confusion(tp, fp, s.P - tp, s.N - fp)
        self.deployed = self.c if q.prior is None else self.c.deployed(q.prior)

    def confusion_for(self, rule: Rule, k: Selector = slice(None)) -> Confusion:
        """What a limit looks at; a guarantee looks at the rows themselves."""
        if isinstance(rule, CertifiedLimit) or self.q.confidence is not None:
            j = self.c
        else:
            j = rule.sees(self.c, self.deployed)
        return Confusion(j.tp[k], j.fp[k], j.fn[k], j.tn[k])

    def values(self) -> Floats:
        """The objective's values, of which more is better."""
        return self.q.goal.better * np.asarray(self.q.goal(self.deployed), np.float64)


def _all_cuts(s: Sweep) -> tuple[NDArray[Any], ...]:
    return np.arange(len(s) + 1), from_zero(s.tp), from_zero(s.fp)


def _candidate_cuts(s: Sweep, q: Aim, rules: list[Rule]) -> _Cuts:
    """All cuts that can be the best, among few others.

    No cut of a block of cuts catches more than the last of them, nor has fewer false alarms than
    the first. Where that does an objective good, it bounds what the block can reach, and blocks
    that can't be better than the best of their ends are not looked into.
    """
    by_bounds = q.goal.helpful and all(
        rule.helpful or isinstance(rule, CertifiedLimit) or rule.measure.monotone for rule in rules
    )
    known = all(rule.helpful or _holds_at_an_end(s, rule) for rule in rules)
    if s.merged and not (known and _best_at_corners(s, q)):
        # Inside of a run one rate changes alone; what gains by that may gain in the middle of it,
        # and what is 0/0 at an end may be known there.
        s.needs_scores("this objective with these limits")
    if not by_bounds or len(s) <= 4 * s.blocks.size:
        return _Cuts(s, q, *_all_cuts(s))
    cut, tp, fp = s.blocks.cut, s.blocks.tp, s.blocks.fp
    ends = _Cuts(s, q, cut, tp, fp)
    most = _Cuts(s, q, cut[1:], tp[1:], fp[:-1])
    bound = most.values()
    bound[np.isnan(bound)] = np.inf  # 0/0 here, but perhaps not inside
    open_ = np.ones(len(bound), np.bool_)
    for rule in rules:
        if isinstance(rule, CertifiedLimit):
            open_ &= rule.may_hold_between(ends.c)
        elif rule.helpful:
            open_ &= rule.may_hold(most.confusion_for(rule))
        else:  # monotone: if it holds anywhere inside, then at one of the ends
            holds = rule.holds(ends.confusion_for(rule))
            open_ &= holds[1:] | holds[:-1]
    found = ends.values()[_keep_allowed(s, ends, rules)]
    best = np.nanmax(found, initial=-np.inf)
    slack = 1e-12 * np.abs(bound[np.isfinite(bound)]).max(initial=0.0)
    return _Cuts(s, q, *_cuts_in(s, np.flatnonzero(open_ & (bound >= best - slack))))


def _holds_at_an_end(s: Sweep, rule: Rule) -> bool:
    """Whether a limit asks to flag nothing, or everything: what too few rows can guarantee."""
    if not isinstance(rule, Limit) or rule.measure.name != "flagged":
        return False
    return rule.bound <= 0 if rule.sign == "<=" else rule.bound >= s.P + s.N


def _best_between_runs(s: Sweep, q: Aim) -> bool:
    """Whether a choice is the same where runs of one class are merged."""
    if q.confidence is not None or not all(limit.helpful for limit in q.limits):
        return False
    return _best_at_corners(s, q.ranked)


def _best_at_corners(s: Sweep, q: Aim) -> bool:
    """Whether no cut inside of a run of one class can be the best: for what is linear in TP and FP,
    F measures, and counts and rates of one class."""
    goal = q.goal
    monotone = isinstance(goal, Measure) and goal.monotone and goal.helpful
    return monotone or _best_at_vertices(s, q)


def _cuts_in(s: Sweep, blocks: NDArray[np.intp]) -> tuple[NDArray[Any], ...]:
    """All cuts of some blocks, in order, and flagging nothing."""
    at, there = s.inside(blocks)
    tp, fp = (
        np.cumsum(np.column_stack((start[blocks], mass[at])), axis=1)[:, 1:][there]
        for mass, start in ((s.pos, s.blocks.tp), (s.neg, s.blocks.fp))
    )
    s.forget()
    return from_zero(at[there] + 1), from_zero(tp), from_zero(fp)


def _keep_allowed(s: Sweep, cuts: _Cuts, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    ok = np.ones(len(cuts.cut), np.bool_)
    for rule in rules:
        ok &= rule.holds(cuts.confusion_for(rule))
    ok[0] &= s.threshold[0] < np.inf  # else no threshold flags nothing
    return ok


def _keep_nearest(s: Sweep, cuts: _Cuts, rules: Sequence[Rule]) -> NDArray[np.bool_]:
    """The cuts whose worst shortfall, as a share of the limit, is least; where none is allowed."""
    short = np.max([rule.shortfall(cuts.confusion_for(rule)) for rule in rules], axis=0)
    short[0] = short[0] if s.threshold[0] < np.inf else np.inf
    return np.asarray(short <= short.min() * (1 + 1e-12))  # equally near, but for rounding


def allowed_cuts(s: Sweep, q: Aim, rules: Sequence[Rule]) -> tuple[NDArray[np.bool_], bool]:
    """Of all cuts those that the limits allow; if there are none the nearest, and False."""
    if not rules:
        return np.arange(len(s) + 1) >= (s.threshold[0] == np.inf), True
    cuts = _Cuts(s, q, *_all_cuts(s))
    ok = _keep_allowed(s, cuts, rules)
    return (ok, True) if ok.any() else (_keep_nearest(s, cuts, rules), False)


def _best(s: Sweep, q: Aim, cuts: _Cuts, ok: NDArray[np.bool_]) -> int:
    """The best of the cuts that are allowed."""
    allowed = np.flatnonzero(ok)
    tp, fp = cuts.c.tp[allowed], cuts.c.fp[allowed]
    gains = _gains(s, q)
    if gains is not None:
        value = linear_value(gains, (s.P, s.N), tp, fp)
    else:
        everywhere = cuts.values()
        if np.isnan(everywhere).all():
            raise undefined_error(q.goal.name)
        value = np.maximum(everywhere[allowed], np.finfo(np.float64).min)
        value[np.isnan(value)] = -np.inf  # 0/0 is worse than any value
    return int(allowed[first_of_best(value, fp)])


def first_of_best(value: NDArray[Any], fp: NDArray[Any]) -> int:
    """Of equally good cuts the one with the fewest false alarms, and of those the last, which may
    catch more."""
    first = int(np.argmax(value))
    same = int(np.searchsorted(fp, fp[first], side="right"))
    return same - 1 - int(np.argmax(value[first:same][::-1] == value[first]))


def _gains(s: Sweep, q: Aim) -> tuple[Fraction, Fraction] | None:
    """What a TP gains and an FP loses, for objectives where that is the same at every cut."""
    P, N = Fraction(s.P), Fraction(s.N)
    if q.prior is None:
        return q.goal.gains(P, N)
    prior = Fraction(repr(q.prior))
    # One row of the sweep stands for so many cases of its class.
    as_pos, as_neg = prior * (P + N) / P, (1 - prior) * (P + N) / N
    gains = q.goal.gains(as_pos * P, as_neg * N)
    return None if gains is None else (gains[0] * as_pos, gains[1] * as_neg)


def linear_value(
    gains: tuple[Fraction, Fraction],
    totals: tuple[float, float],
    tp: NDArray[Any],
    fp: NDArray[Any],
) -> NDArray[Any]:
    """Something that is greatest, and equal, exactly where a·TP − b·FP is; of masses, counts or
    money, with these totals."""
    scale = lcm(gains[0].denominator, gains[1].denominator)
    a, b = int(gains[0] * scale), int(gains[1] * scale)
    common = gcd(a, b)
    a, b = a // common, b // common
    up, down = totals
    if tp.dtype.kind == "i" and a * int(up) + b * int(down) < 2**62:
        return np.asarray(a * tp - b * fp)
    # Too large for integers of the processor: floats find the few that may be best.
    x, y = (float(Fraction(g, max(a, b))) for g in (a, b))
    rough = x * tp - y * fp
    near = np.flatnonzero(rough >= rough.max() - 1e-12 * (x * float(up) + y * float(down)))
    pairs = zip(tp[near].tolist(), fp[near].tolist(), strict=True)
    exact = [a * Fraction(t) - b * Fraction(f) for t, f in pairs]
    best, most = np.zeros(len(tp)), max(exact)
    best[near] = [value == most for value in exact]
    return best


def _at_thresholds(s: Sweep, q: Aim, threshold: Floats) -> _Cuts:
    k = s.cuts(threshold)
    return _Cuts(s, q, k, *s.flagged(k))


def rule_of(p: OperatingPoint, reverse: bool = False) -> tuple[str, float | None]:
    """What is flagged: ``"nothing"``, ``"everything"``, ``"from"`` a threshold on; ``"up to"`` it,
    where scores were negated since low ones mean positive. And that threshold."""
    if p.threshold == np.inf and not p.confusion.flagged:
        return "nothing", None
    if p.threshold == -np.inf:
        return "everything", None
    return ("up to", 0.0 - p.threshold) if reverse else ("from", p.threshold)


def headline(
    p: OperatingPoint, reverse: bool = False, probability: float | None = None, score: str = "score"
) -> str:
    """What to do, in a few words; with the calibrated probability at the threshold if it is known:
    "Flag scores ≥ -3.3 (probability ≥ 3.5 %)"."""
    if p.question.three_way:
        return three_way_text(p.cuts, reverse)
    own = p.rule_text(score, reverse=reverse)
    if own:
        return own[0].upper() + own[1:]
    rule, threshold = rule_of(p, reverse)
    if threshold is None:
        return f"Flag {rule}"
    chance = "" if probability is None else f" (probability ≥ {100 * probability:.3g} %)"
    # In full: a rounded threshold may be another rule.
    return f"Flag scores {'≤' if reverse else '≥'} {threshold!r}{chance}"


def three_way_text(cuts: CutPair, reverse: bool = False) -> str:
    """What to do with two thresholds: "Block scores ≥ 0.9, review scores ≥ 0.4, pass the rest"."""
    sign = "≤" if reverse else "≥"
    review, block = (0.0 - t if reverse else t for t in cuts)
    parts = []
    if cuts.block < np.inf:
        parts.append(
            "block everything" if cuts.block == -np.inf else f"block scores {sign} {block!r}"
        )
    if cuts.review < cuts.block:
        rest = "the rest" if parts else "everything"
        parts.append(f"review {rest if cuts.review == -np.inf else f'scores {sign} {review!r}'}")
    if cuts.review > -np.inf:
        parts.append("pass the rest" if parts else "pass everything")
    text = ", ".join(parts)
    return text[0].upper() + text[1:]


def describe(p: OperatingPoint, reverse: bool = False) -> list[str]:
    """An operating point in a few lines: what to do, what it is worth, and what it does; before
    that, if it is not significantly better than doing without the score."""
    best = "" if p.given else f"{extreme(p.question.goal)} "
    first = f"{headline(p, reverse)}, {best}{value_text(p)}"
    doubt = filter(None, [against_trivial(p)])
    return [*doubt, first[0].lower() + first[1:], *describe_outcome(p)]


def extreme(goal: Objective) -> str:
    """How an objective is optimised."""
    return "minimum" if goal.better < 0 else "maximum"


def value_text(p: OperatingPoint, level: float = 0.95, *, cases: int = 1) -> str:
    """The value of the objective, expected on new rows and on these; a cost is that of so many
    cases."""
    costs = p.question.costs is not None
    word, factor = WORDS.get(p.objective, p.objective), cases if costs else 1
    if costs and cases > 1:
        word = f"cost per {cases:,} cases"
    if np.isnan(p.value) and is_normal(p.sweep):
        return f"{word}: not known, no row is positive"
    if np.isnan(p.value):
        return f"{word}: undefined (0/0) {_undefined_because(p.confusion)}"
    rate, prior = is_rate(p.objective), p.question.prior
    here = f"{estimate_text(factor * p.value, rate=rate)} on these rows"
    if prior is not None and not getattr(p.question.goal, "prior_free", False):
        here += f", reweighted to {100 * prior:.6g} % prevalence"
    found = expectation(p, p.question.goal, level)
    if found is None:
        return f"{word}: {here}"
    span = None  # certain: everything is flagged, or nothing
    if found.low < found.high:
        span = Interval(factor * found.low, factor * found.high, found.level)
    expected = estimate_text(factor * found.value, span, rate=rate)
    return f"{word}: {expected} expected on new rows, {here}"


def expectation(
    p: OperatingPoint, measure: GoalLike | None = None, level: float = 0.95
) -> Expected | None:
    """The value expected on new rows, or another measure, for those who show it: None if these rows
    can't tell."""
    with suppress(CutscoreError):
        return p.expected if measure is None else p.expect(measure, level=level)
    return None


def describe_outcome(p: OperatingPoint) -> list[str]:
    """What an operating point does, in a few lines."""
    lines = [cases_text(p), *limit_lines(p)]
    return lines if p.feasible else [*lines, p.explanation]


def limit_lines(p: OperatingPoint) -> list[str]:
    """What became of the limits."""
    q, lines = p.question, []
    level = f" at {100 * q.confidence:g} % confidence" if q.confidence else ""
    units = f" for the mean over {len(q.units):,} clusters" if q.units is not None else ""
    for limit, status in zip(q.limits, p.status, strict=True):
        sure = level + (units if limit.period is None else "")
        here = f" ({limit.value_text(status.value)} on these rows)"
        if np.isnan(status.value):
            # A file has no periods.
            known = limit.period is None
            here = f" (0/0 {_undefined_because(p.confusion)})" if known else ""
        lines.append(f"{status.limit}{sure}: {limit_outcome(p, status)}{here}")
        lines += filter(None, [shortage(p, limit)])
    return lines


def shortage(p: OperatingPoint, limit: Limit) -> str:
    """What to say where there are too few rows, clusters or periods to guarantee a limit."""
    q = p.question
    if not q.confidence or p.sweep.weighted:
        return ""
    error, periods = split_error(q.limits, q.confidence), as_periods(q.periods)
    if limit.period is not None and periods is not None:
        return periods.shortage_text(limit, error)
    return shortage_text(p.sweep, limit, error, as_units(q.units))


_ALIKE = {"all": "everything", "none": "nothing"}


def against_trivial(p: OperatingPoint) -> str | None:
    """What to say of a choice for costs that is not significantly cheaper than flagging everything
    or nothing; None if it is, or if these rows can't tell."""
    base = p.baseline
    if base is None or base.difference is None or base.shown:
        return None
    value, low, high, level = base.difference
    cost, *rest = format_like(base.value, value, low, high)
    what, of = base.name.split()
    trivial = f"{what}{what[-1] if what == 'flag' else ''}ing {_ALIKE[of]}"
    if value == 0 and p.trivial:
        return f"no cheaper than {trivial} (cost per case {cost})"
    return (
        f"not significantly cheaper than {trivial} (cost per case {cost}; expected difference "
        f"{rest[0]}, {100 * level:g} % CI {rest[1]} to {rest[2]})"
    )


def limit_outcome(p: OperatingPoint, status: Status) -> str:
    """What became of a limit. With a confidence it may hold on these rows without a guarantee."""
    if status.holds:
        return "met"
    return "cannot be guaranteed" if p.question.confidence else "violated"


def _undefined_because(c: Confusion) -> str:
    """Where a measure has no value."""
    if not (c.positives and c.negatives):
        return f"because no row is {'negative' if c.positives else 'positive'}"
    if not c.flagged:
        return "because nothing is flagged"
    return "because everything is flagged" if c.flagged == c.total else "on these rows"


def cases_text(p: OperatingPoint) -> str:
    """What it did with these rows; of more than 10,000, or at another prior, what to expect of so
    many cases."""
    prior = p.question.prior
    expected = None if in_rows(p.confusion, prior) else p.typical
    return (
        on_rows(p.confusion, prior) if expected is None else f"expected {natural(expected, prior)}"
    )


def on_rows(c: Confusion, prior: float | None) -> str:
    """What a threshold does on the rows, in natural frequencies."""
    return f"on these rows{':' if in_rows(c, prior) else ','} {natural(c, prior)}"


def natural(c: Confusion, prior: float | None) -> str:
    """In natural frequencies: per 10,000 cases, or so many more that ten are positive; the counts
    themselves where they are no more than that."""
    if in_rows(c, prior):
        return repr(c)
    d = c if prior is None else c.deployed(prior)
    base = 10_000
    if not d.positives:
        fp = _rounded(base * float(d.fp) / float(d.total))
        return f"per {base:,} cases, none positive: {_shown(fp)} false alarm{'s' * (fp != 1)}"
    if 0 < d.prevalence < 0.001:
        base = 10 ** min(ceil(1 - log10(d.prevalence)), 12)
    if isinstance(d, Triage):
        return f"per {base:,} cases: {_triage_text(d, base)}"
    # As fractions: weights that are large would overflow.
    total = Fraction(float(d.total))
    p, tp, fp = (
        _rounded(float(base * Fraction(float(m)) / total)) for m in (d.positives, d.tp, d.fp)
    )
    return (
        f"per {base:,} cases: {_shown(p)} positive; {_shown(tp)} caught, {_shown(p - tp)} missed, "
        f"{_shown(fp)} false {'alarm' if fp == 1 else 'alarms'}"
    )


def _triage_text(d: Triage, base: int) -> str:
    """Six counts of so many cases."""
    cells = (d.positives, d.tp, d.reviewed_pos, d.fn, d.fp, d.reviewed_neg, d.tn)
    p, *six = (_shown(_rounded(base * float(m) / float(d.total))) for m in cells)
    words = [
        f"{n} {word}" for n, word in zip(six, 2 * ("blocked", "reviewed", "passed"), strict=True)
    ]
    return f"{p} positive: {', '.join(words[:3])}; negatives: {', '.join(words[3:])}"


def in_rows(c: Confusion, prior: float | None) -> bool:
    """Whether natural frequencies are the counts of the rows."""
    return bool(prior is None and c.total <= 10_000)


def _rounded(x: float) -> float:
    return round(x, 0 if x >= 10 else 1) if x >= 0.1 else x


def _shown(x: float) -> str:
    return f"{x:,.0f}" if x == round(x) else f"{x:,.1f}" if x >= 0.1 else f"{x:.2g}"
