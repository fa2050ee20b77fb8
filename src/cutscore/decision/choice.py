"""The decision: which cut, for these costs or this aim, under these limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from math import nan
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
from cutscore.core.numbers import format_like
from cutscore.decision.normal import (
    NORMAL_HINT,
    answers_without_positives,
    is_known,
    is_normal,
    lowest_cut,
)
from cutscore.decision.search import (
    SomeCuts,
    all_cuts,
    best_at_vertices,
    best_between_runs,
    best_cut,
    candidate_cuts,
    cuts_at,
    keep_allowed,
    keep_nearest,
)
from cutscore.decision.words import describe
from cutscore.inference.bootstrap import Sampler, check_samples, percentiles
from cutscore.inference.guarantee import (
    CertifiedLimit,
    Rule,
    guarantee_limits,
    just_above,
    rate_of_units,
    split_error,
)
from cutscore.inference.periods import Periods, as_periods, measured_over
from cutscore.inference.rates import interval
from cutscore.inference.selection import MANY, Expected, is_large, select, select_among
from cutscore.inference.units import Units, as_units
from cutscore.measures.aim import UNITS, Aim, GoalLike, Top, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.limits import Limit, as_limits
from cutscore.measures.registry import Measure, Objective
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
        :func:`cutscore.interval`. With units it is over them."""
        goal = goal.measure if isinstance(goal, Top) else goal
        at, prior, u = self.threshold, self.question.prior, as_units(self.question.units)
        if u is not None:
            if prior is None or getattr(goal, "prior_free", False):
                rows = (u.score >= at, u.positive, u.unit, level, u.weight)
                over = measured_over(goal, *rows, what="clusters")
                if over is not None:
                    return over
            raise UndefinedError(CountsRows(f"an interval for {goal.name}", "", "clusters"))
        span = interval(self.sweep, goal, at=at, prior=prior, level=level, method=method)
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
        return periods.measured(goal, self.threshold, level, self.question.prior)

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
        units, periods = as_units(q.units), as_periods(q.periods)
        if periods is not None:
            # Of the rows that are not left out as large a share is flagged.
            if not isinstance(periods, Periods):
                return None
            if q.confidence is not None and any(limit.period is None for limit in q.limits):
                return None
            error = None if q.confidence is None else split_error(q.limits, q.confidence)
            limits = tuple(q.on_all_rows(limit, error) for limit in q.limits)
            q = replace(q, limits=limits, confidence=None, units=None, periods=None)
        if units is not None:
            scores = [units.score]
            return select_among(units.positive, scores, q, weight=units.weight, unit=units.unit)
        if periods is None:
            return select(self.sweep, q)
        rows = periods.ranked  # so that the order of the rows does not matter
        return select_among(rows.positive, [rows.score], q, unit=rows.period)

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
        if isinstance(self.among, Promised) and not self.given:
            why = "needs the clusters of the rows, which a policy does not store"
            raise UndefinedError(Undefined("stability", why))
        s, sampler = self.sweep, Sampler(self.sweep, seed)
        if len(s) > 2**16 and not s.weighted and best_between_runs(s, q):
            # No cut inside of a run can be the best, so each is one entry: among so many scores it
            # does not matter which of its rows are the outermost of a sample.
            sampler = sampler.of_runs()
        samples = range(check_samples(n))
        with ThreadPoolExecutor(threads(len(s))) as pool:
            chosen = pool.map(lambda k: _choose(sampler.sample(k), q).threshold, samples)
            threshold = np.array(list(chosen))
        cuts = cuts_at(self.sweep, q, threshold)
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
        Where rows of one unit (patient, user) are correlated: ``cutscore.units(y, score, unit)``,
        of the rows of the sweep. Intervals are then over units. Limits with a confidence are on
        the mean rate of units, each of which counts once; not for precision.
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
    if objective.units is not None:
        objective.needs_one_cut(UNITS)
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
    cuts = candidate_cuts(s, ranked, rules)
    ok = keep_allowed(s, cuts, rules)
    feasible = bool(ok.any())
    if not feasible:
        if not all(rule.helpful for rule in rules):  # the nearest may be inside of a run
            s.needs_scores("the threshold closest to these limits")
        cuts = SomeCuts(s, ranked, *all_cuts(s))
        ok = keep_nearest(s, cuts, rules)
    k = best_cut(s, ranked, cuts, ok)
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
    units = None if q.three_way or q.confidence is None else as_units(q.units)
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
    if not isinstance(s, Sketch) or (not q.limits and best_at_vertices(s, q)):
        return Interval(p.value, p.value)
    if not p.feasible or q.three_way:
        return Interval(-np.inf, np.inf)
    tp, fp = from_zero(s.tp), from_zero(s.fp)
    best = SomeCuts(s, q, np.arange(1, len(tp)), tp[1:], fp[:-1])
    open_ = s.unknown.copy()
    for rule in rules_of(s, q):
        open_ &= rule.may_hold(best.confusion_for(rule)) if isinstance(rule, Limit) else True
    own = q.goal.better * p.value
    most = q.goal.better * np.nanmax(best.values()[open_], initial=own)
    return Interval(min(p.value, most), max(p.value, most))


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
    periods, units = as_periods(q.periods), as_units(q.units)
    for of_rows in (periods, units):
        if of_rows is not None:
            of_rows.check(s)
    if q.confidence is None:
        return [q.on_all_rows(limit) for limit in q.limits]
    return guarantee_limits(s, list(q.limits), q.confidence, q.prior, units, periods)
