"""The summary: everything a report says, as plain values, and the words for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cutscore.comparison.groups import GroupAuc
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.base import PYTHON, Finding, Surface, shown
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text, number_text
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.groups import GroupStatus
from cutscore.decision.row_costs import MoneyCurve
from cutscore.decision.verdict import Verdict
from cutscore.decision.words import extreme
from cutscore.inference.selection import Expected
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import count_text
from cutscore.measures.costs import Costs, cost_text
from cutscore.measures.registry import Measure
from cutscore.policy.words import figure_text
from cutscore.report.traces import DecisionCurve, Histogram, Shares, Trace
from cutscore.sweeps.cost_curve import CostCurve
from cutscore.sweeps.sweep import Floats

SCHEMA = "cutscore.summary/1"
NORMAL_SCHEMA = "cutscore.normal_summary/1"


# What is said of an operating point, in the order of reading.
MEASURES = (
    *("recall", "fpr", "precision", "flagged_rate", "specificity", "npv"),
    *("accuracy", "balanced_rate", "f1", "mcc", "lift"),
)


# The same of two thresholds: reviewed cases count among all of a class, and as none decided.
THREE_WAY_MEASURES = (
    *("review_rate", "fnr", "fpr", "precision", "npv", "error_rate"),
    *("recall", "specificity", "flagged_rate"),
)


def measures_of(aim: Aim) -> tuple[str, ...]:
    """What is said of the operating point of an aim."""
    return THREE_WAY_MEASURES if aim.three_way else MEASURES


_T = TypeVar("_T")


@dataclass(frozen=True)
class Estimate:
    """A number, and its interval where the rows can tell one.

    Made by :func:`cutscore.report.summarise`.
    """

    value: float
    interval: Interval | None = None

    @classmethod
    def of(cls, found: Expected) -> Estimate:
        """A value that is expected on new rows."""
        return cls(found.value, Interval(found.low, found.high, found.level))

    def text(self, *, rate: bool = False) -> str:
        """With its confidence interval, in per cent if it is a rate."""
        return estimate_text(self.value, self.interval, rate=rate)

    def times(self, factor: float) -> Estimate:
        """In another unit."""
        span = self.interval
        if span is not None:
            span = Interval(factor * span.low, factor * span.high, span.level)
        return Estimate(factor * self.value, span)


@dataclass(frozen=True, eq=False)
class ScoreSummary:
    """What one score achieves; made by :func:`cutscore.report.summarise`."""

    name: str
    distinct: int
    """How many different scores there are."""
    lowest: float
    highest: float
    probabilities: bool
    """Whether all scores lie between 0 and 1."""
    auc: Estimate
    average_precision: float
    brier: float | None
    log_loss: float | None
    hull_vertices: int
    """How many cuts are best for some costs."""
    hull_auc: float
    """The AUC of the upper convex hull of the ROC curve."""
    point: OperatingPoint
    """The threshold, for what was asked."""
    verdict: Verdict
    """Whether to use it; what to say first."""
    measures: Mapping[str, Estimate]
    """What to expect of the operating point on new rows, for the prior if one was given; where
    nothing can be said of them, what it does on these."""
    trace: Trace
    """The cuts that a picture can show apart, the histogram, and the ROC curve's band."""
    cost_curve: CostCurve
    decision_curve: DecisionCurve
    shares: Shares
    """The share of positives by score; of the calibrated probability if there is a calibrator."""
    llr: Floats | None = None
    """The calibrated log-likelihood ratio at each cut of the trace, if there is a calibrator."""
    probability: float | None = None
    """The calibrated probability at the threshold, if there is a calibrator."""
    calibrator: str | None = None
    """How scores become probabilities, in words."""
    certain: tuple[float, float] = (0, 0)
    """The positives with probability 0, and the negatives with probability 1."""
    cross_fitted: bool = False
    """Whether each probability is by a calibrator that was fitted to other rows."""
    reverse: bool = False
    """Whether low scores mean positive. Then ``point`` and ``trace`` are of ``-score``."""


@dataclass(frozen=True)
class Difference:
    """The AUCs of two scores of the same rows: a − b, by DeLong's method.

    Made by :func:`cutscore.report.summarise`.
    """

    a: str
    b: str
    difference: float
    interval: Interval | None
    p_value: float | None

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval."""
        return Estimate(self.difference, self.interval)


@dataclass(frozen=True, eq=False)
class Groups:
    """The AUC inside groups of rows, for each score; made by :func:`cutscore.report.summarise`."""

    name: str
    """The column of groups."""
    by_score: Mapping[str, GroupAuc]


@dataclass(frozen=True)
class Learner:
    """One line of a comparison of learners; made by :func:`cutscore.report.summarise_fit`."""

    name: str
    value: Estimate
    difference: Estimate | None = None
    """To the chosen one, on the same rows."""
    seconds: float | None = None
    """What all folds took together."""
    note: str = ""
    """Why it was left out, or what else is to be said."""


@dataclass(frozen=True)
class Learners:
    """Learners compared on one measure, out of fold.

    Made by :func:`cutscore.report.summarise_fit`.
    """

    measure: str
    rows: tuple[Learner, ...]
    chosen: str
    why: str = ""
    """The choice in a sentence."""


@dataclass(frozen=True)
class Weight:
    """A weight of a linear detector, in the units of its column.

    Made by :func:`cutscore.report.summarise_fit`.
    """

    column: str
    """And the level, if it is a category: "region = north"."""
    weight: float
    scaled: float
    """For one standard deviation of the column, so that weights compare."""


@dataclass(frozen=True)
class Importance:
    """How much a column moves the scores of trees; made by
    :func:`cutscore.report.summarise_fit`."""

    column: str
    value: float
    """The mean of its absolute SHAP values, in the unit of the score."""


@dataclass(frozen=True, eq=False)
class ProbabilityGrid:
    """The probability of a positive over two columns; made by
    :func:`cutscore.report.summarise_fit`."""

    names: tuple[str, str]
    x1: Floats
    """The values of the first column that it is known at, upwards."""
    x2: Floats
    p: Floats
    """At each value of the second column, by rows, and of the first."""
    rows: tuple[Floats, Floats, NDArray[np.bool_]]
    """Some of the rows that it was fitted to: both columns, and whether they are positive."""


@dataclass(frozen=True, eq=False)
class GroupResult:
    """What a policy does to the rows of one group; made by
    :func:`cutscore.report.summarise_policy`."""

    name: str
    threshold: float
    rows: int | float
    positives: int | float
    measures: Mapping[str, Estimate]
    """What to expect on new rows of the group; where nothing is known of them, what there is on
    these, without an interval."""


@dataclass(frozen=True, eq=False)
class GroupResults:
    """What a policy does to each group; made by :func:`cutscore.report.summarise_policy`."""

    column: str
    """The column of groups."""
    rule: str
    """What is flagged, in words."""
    own: bool
    """Whether each group has a threshold of its own."""
    rows: tuple[GroupResult, ...]
    """The largest first."""
    total: Mapping[str, Estimate]
    """The measures of all rows together."""
    limits: tuple[GroupStatus, ...]
    lines: tuple[str, ...]
    """What became of the limits, and which groups were tested together, in sentences."""
    pooled: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(self.total)

    def bounds(self, measure: str) -> list[float]:
        """The limits on a measure in each group."""
        return [one.bound for one in self.limits if one.measure == measure]


_WAYS = {
    "decisions": "these decisions",
    "uniform": "best single threshold",
    "flag none": "flagging none",
    "flag all": "flagging all",
}


@dataclass(frozen=True)
class CostOfRule:
    """What a way to decide costs, beside the decisions of a policy whose costs differ by row; made
    by :func:`cutscore.report.summarise_policy`."""

    name: str
    """"decisions" of the policy; "uniform", the best single threshold; "flag none", "flag all"."""
    cost: Estimate
    """Of a case: expected on new rows where that is known."""
    saving: Estimate | None = None
    """How much less a case is expected to cost by the decisions of the policy."""
    total: float | None = None
    """In all on these rows, if that is known."""


@dataclass(frozen=True, eq=False)
class RowCostResults:
    """The decisions of a policy whose costs differ by row, in money; made by
    :func:`cutscore.report.summarise_policy`."""

    rule: str
    """What is flagged, in words."""
    threshold: float
    """On the gap between the odds of a row and those from which flagging it pays."""
    factor: float
    """A row is flagged if what a miss is expected to cost is so many times what a false alarm is
    expected to cost."""
    uniform: float | None
    """The best single threshold on the score."""
    rows: tuple[CostOfRule, ...]
    """The decisions first."""
    here: float
    """What a case of these rows costs."""
    flagged: float
    """The share of cases that is flagged."""
    curve: MoneyCurve
    """What other thresholds on the gap cost on these rows, as far as a picture can show them."""
    expected: bool
    """Whether costs are those expected on new rows."""
    limits: tuple[str, ...] = ()
    """What became of the limits, in sentences."""
    per_period: tuple[str, int, float] | None = None
    """The word for a period, how many there were, and what one cost on these rows."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the table leaves out."""
        span = self.rows[0].cost.interval
        where = "expected on new rows" if self.expected else "on these rows"
        where += "" if span is None else f" ({100 * span.level:g} % CI)"
        out = [f"Costs, and what these decisions save, are per 1,000 cases, {where}."]
        if self.expected:
            out.append(f"On these rows 1,000 cases cost {number_text(1000 * self.here)}.")
        if self.rows[0].total is not None:
            out.append("Totals are those of these rows.")
        if self.uniform is not None:
            out.append(f"The best single threshold on the score is {self.uniform:.6g}.")
        if self.per_period is not None:
            unit, number, cost = self.per_period
            days = f"{number:,} {unit}{'s' if number != 1 else ''}"
            out.append(f"On these rows a {unit} cost {number_text(cost)}, the mean of {days}.")
        if self.limits:
            out.append("Limits are those of these decisions; the others may break them.")
        return tuple(out)

    @property
    def table(self) -> list[list[str]]:
        """The head of the table, and its rows; totals only where they are known."""
        out = [["", "cost", "saving", "total"]]
        for one in self.rows:
            saving = ["–"] if one.saving is None else estimates({"saving": one.saving})
            total = "–" if one.total is None else number_text(one.total)
            out.append([_WAYS[one.name], *estimates({"cost": one.cost}), *saving, total])
        return out if self.rows[0].total is not None else [row[:-1] for row in out]


@dataclass(frozen=True)
class PeriodLimit:
    """A limit per period of a policy; made by :func:`cutscore.report.summarise_policy`."""

    limit: str
    holds: bool
    confidence: float | None
    what: str
    """What it counts: "flagged rows", or where there are reviews "blocked" or "reviewed rows", or
    "false alarms"."""
    period: str
    """The word for a period: "day"."""
    periods: int
    """How many there were."""
    column: str | None
    most: float
    """The most that it allows on all rows together."""
    count: float
    """How many there are."""

    @property
    def sentences(self) -> tuple[str, str]:
        """What became of it, and what it came to."""
        sure = f" at {100 * self.confidence:g} % confidence" if self.confidence else ""
        failed = "cannot be guaranteed" if self.confidence else "violated"
        where = f" (column {shown(self.column)})" if self.column is not None else ""
        days = f"{self.periods:,} {self.period}{'s' if self.periods != 1 else ''}"
        return (
            f"{self.limit}{sure}: {'met' if self.holds else failed}",
            f"On the evidence of {days}{where} it allows {self._counted(self.most)}; the policy "
            f"has {self._counted(self.count)}.",
        )

    def _counted(self, count: float) -> str:
        mean = number_text(count / self.periods)
        return f"{count_text(count)} {self.what}, {mean} per {self.period}"


@dataclass(frozen=True, eq=False, repr=False)
class NormalSummary:
    """Everything a report says of a policy of normal rows: there are no positives, so that all that
    is known is how often it flags them. See :func:`cutscore.report.summarise_policy`."""

    name: str
    """The score."""
    rows: int | None
    """None of weighted rows, whose number a policy does not keep."""
    N: int | float
    weighted: bool
    asked: Aim
    point: OperatingPoint
    verdict: Verdict
    fpr: Estimate
    """What to expect on new normal rows."""
    histogram: Histogram
    distinct: int
    lowest: float
    highest: float
    reverse: bool = False
    """Whether low scores are anomalous. Then ``point`` and ``histogram`` are of ``-score``."""
    periods: tuple[PeriodLimit, ...] = ()
    notices: tuple[Finding, ...] = ()
    digest: str = ""
    label: str = ""
    source: str = ""
    training: tuple[tuple[str, str], ...] = ()
    weights: tuple[Weight, ...] = ()
    importances: tuple[Importance, ...] = ()

    @property
    def alarms(self) -> tuple[tuple[str, Estimate], ...]:
        """False alarms in words and numbers: as a rate, of 1,000 normal cases, and of as many as
        the evidence has in a period."""
        out = [("false alarms per 1,000 normal cases", self.fpr.times(1000))]
        if self.periods:
            one = self.periods[0]
            size = self.N / one.periods
            words = f"false alarms per {one.period}, at {number_text(size)} normal cases"
            out.append((f"{words} per {one.period}", self.fpr.times(size)))
        return tuple(out)

    def as_dict(self, on: Surface = PYTHON) -> dict[str, Any]:
        """The summary as plain values for JSON: the keys of :meth:`Summary.as_dict` that have a
        meaning without positives. Schema ``cutscore.normal_summary/1``."""
        from cutscore.report.json import normal_as_dict

        return normal_as_dict(self, on)

    def text(self, width: int = 80, on: Surface = PYTHON) -> str:
        """The summary for a terminal; see :meth:`Summary.text`."""
        from cutscore.report.terminal import text

        return text(self, width, on)

    def log(self, prefix: str = "") -> None:
        """Write it to the active run of MLflow; see :meth:`Summary.log`."""
        from cutscore.policy.tracking import log
        from cutscore.report.page import render

        ends = (None, None) if self.fpr.interval is None else tuple(self.fpr.interval)
        params = {"aim": self.asked.words, "digest": self.digest}
        params["threshold"] = repr(self.point.threshold)
        metrics = {"fpr": (self.fpr.value, ends[0], ends[1])}
        log(metrics, params, {"report.html": render(self)}, prefix)

    def __repr__(self) -> str:
        return self.text()


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """Everything a report says; see :func:`cutscore.report.summarise`.

    ``text()`` prints it for a terminal, ``as_dict()`` for machines, and
    :func:`cutscore.report.render` makes a page of it.
    """

    rows: int
    P: int | float
    """The positives, or their weight."""
    N: int | float
    """The negatives, or their weight."""
    weighted: bool
    asked: Aim
    scores: tuple[ScoreSummary, ...]
    differences: tuple[Difference, ...] = ()
    groups: Groups | None = None
    notices: tuple[Finding, ...] = ()
    """What should be known before the numbers are believed."""
    baselines: Mapping[str, float] | None = None
    """What a case costs if all are decided alike, such as "flag none"; None without costs."""
    digest: str = ""
    """SHA-256 of labels and scores, as counts by score: the same whatever the order of the rows."""
    label: str = ""
    """What is positive, for display: "fraud = 1"."""
    source: str = ""
    """Where the rows come from, for display."""
    learners: Learners | None = None
    """Those that were compared, if a detector was learned."""
    training: tuple[tuple[str, str], ...] = ()
    """How a detector was made, as facts: (name, value)."""
    weights: tuple[Weight, ...] = ()
    """Those of that detector, the largest first."""
    importances: tuple[Importance, ...] = ()
    """Of a detector of trees, instead: the largest first."""
    grid: ProbabilityGrid | None = None
    """Its probabilities, if it has two columns of numbers; drawn on the page alone."""
    group_results: GroupResults | None = None
    """What a policy does to each group, if it knows of groups."""
    periods: tuple[PeriodLimit, ...] = ()
    """Its limits per period."""
    row_costs: RowCostResults | None = None
    """What its decisions cost, if costs differ by row."""

    @property
    def on_score(self) -> bool:
        """Whether the same thresholds on the score decide about all rows."""
        return not self.own_thresholds and self.row_costs is None

    @property
    def own_thresholds(self) -> bool:
        """Whether each group has a threshold of its own, so that all rows have none."""
        return self.group_results is not None and self.group_results.own

    @property
    def prevalence(self) -> float:
        """P / (P + N)."""
        return self.P / (self.P + self.N)

    @property
    def prior(self) -> float:
        """The share of positives that was asked about; that of the rows if none was."""
        return self.prevalence if self.asked.prior is None else self.asked.prior

    def as_dict(self, on: Surface = PYTHON) -> dict[str, Any]:
        """The summary as plain values for JSON: no NaN, no infinity, only ``null``.

        The keys of schema ``cutscore.summary/1``, which later versions may add to but not change:

        ========================  ==================================================================
        schema, version           ``"cutscore.summary/1"``; that of cutscore
        digest                    SHA-256 of labels and scores, whatever the order of the rows
        source, label             where the rows are from, and what is positive: text for display
        rows                      count, positives, negatives (sums of weights if weighted),
                                  weighted, prevalence
        asked                     objective, assumed, costs {fp, fn, tp, tn, review, review_miss}
                                  or null, limits, confidence, prior, level
        baselines                 cost of a case if nothing is flagged, and if everything is:
                                  {flag_none, flag_all}, or {pass_all, block_all, review_all};
                                  null without costs
        scores[]                  name, verdict {state, headline, codes}, reverse, distinct, lowest,
                                  highest, probabilities, auc, hull {vertices, auc},
                                  average_precision, brier, log_loss, calibration {calibrator,
                                  outside_band} or null, probability at the threshold if calibrated,
                                  operating_point
        scores[].operating_point  rule ("from", "nothing" or "everything"; "up to" if low scores
                                  mean positive), threshold (null for "nothing" and "everything"),
                                  feasible, value, here and limits[] {limit, value, holds} on
                                  these rows, confusion {tp, fp, fn, tn} of them; expected, an
                                  estimate of the value on new rows or null, measures, estimates of
                                  others; text. Of two thresholds also cuts {review, block}, and
                                  reviewed_pos and reviewed_neg in the confusion
        differences[]             a, b, difference {value, low, high}, p_value
        groups                    name, scores[] {name, groups[] {group, positives, negatives, auc},
                                  pooled, weighted, macro, covered, averages {pooled, weighted,
                                  macro}: the same three as estimates}; or null
        warnings[]                code, severity, where, fixes, fields, text: see 'Messages'
        learners                  measure, chosen, why, rows[] {name, value, difference, seconds,
                                  note}; or null
        training[]                name, value
        weights[]                 column, weight, scaled
        importances[]             column, value: of trees, the mean absolute SHAP value
        group_results             column, rule, own_thresholds, pooled[], limits[] {limit, value,
                                  holds}, total and groups[] {group, threshold, rows, positives,
                                  measures}, estimates on new rows; or null. If groups have
                                  thresholds of their own, the operating point has the rule
                                  "by group" and no threshold
        row_costs                 rule, threshold (on the gap), factor, uniform_threshold, value and
                                  flagged (shares and costs of a case on these rows), rows[] {rule,
                                  cost, saving, total}, per_period {period, periods, cost} or null;
                                  or null. If costs differ by row, the operating point has the rule
                                  "by row" and no threshold
        period_limits[]           limit, holds, counts, period, periods, column, most, count
        ========================  ==================================================================

        An estimate is an object {value, low, high, level}; its ends are null where the rows can't
        tell them. A number that has no finite value, such as the log loss of a certainty that was
        wrong, is null.

        Examples
        --------
        >>> from cutscore.report import summarise
        >>> d = summarise([1, 0, 1, 0], {"mine": [0.9, 0.4, 0.6, 0.2]}).as_dict()
        >>> d["schema"], d["scores"][0]["auc"]["value"]
        ('cutscore.summary/1', 1.0)
        """
        from cutscore.report.json import as_dict

        return as_dict(self, on)

    def text(self, width: int = 80, on: Surface = PYTHON) -> str:
        """The summary for a terminal: plain text, no line longer than ``width`` where words allow.

        ``on`` is the surface that warnings are worded for, Python or the command line.

        Examples
        --------
        >>> from cutscore.report import summarise
        >>> y, a = [1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1]
        >>> print(summarise(y, {"mine": a}, maximize="f1").text())
        Too few positives: 4
        ...
        8 rows: 4 positive (50 %), 4 negative
        ...
          AUC                0.750 (95 % CI 0.301–0.954)
          average precision  0.771
        ...
        """
        from cutscore.report.terminal import text

        return text(self, width, on)

    def log(self, prefix: str = "") -> None:
        """Write it to the active run of MLflow: measures with their intervals as metrics, the
        thresholds as parameters, the page as the artefact ``report.html``.

        Of several scores each has its name in front of its metrics; ``prefix`` stands in front of
        all names.
        """
        from cutscore.policy.tracking import log
        from cutscore.report.page import render

        metrics: dict[str, tuple[float, float | None, float | None]] = {}
        params = {"aim": self.asked.words, "digest": self.digest}
        for one in self.scores:
            head = f"{one.name}." if len(self.scores) > 1 else ""
            for name, e in {"auc": one.auc, **one.measures}.items():
                ends = (None, None) if e.interval is None else tuple(e.interval)
                metrics[head + name] = (e.value, ends[0], ends[1])
            cuts = dict.fromkeys(one.point.cuts)  # one, or two
            text = ", ".join(map(repr, cuts))
            if not self.on_score:
                text = "by group" if self.own_thresholds else "by row"
            params[f"{head}threshold"] = text
        log(metrics, params, {"report.html": render(self)}, prefix)

    def __repr__(self) -> str:
        return self.text()


def maybe(make: Callable[..., _T], *arguments: object, **options: object) -> _T | None:
    """An interval, or several, or None where the rows can't tell."""
    try:
        return make(*arguments, **options)
    except UndefinedError:
        return None


# What the three averages over groups are.
AVERAGES = {
    "pooled": "share of within-group pairs ranked correctly",
    "weighted": "mean over groups, weighted by group size",
    "macro": "unweighted mean over groups",
}


def group_means(g: GroupAuc, level: float) -> dict[str, Estimate]:
    """The three averages, with intervals that count groups where there are enough; nothing where no
    group has both classes."""
    if np.isnan(g.auc).all():
        return {}
    out = {}
    for name in AVERAGES:
        out[name] = Estimate(getattr(g, name), maybe(g.interval, name, level=level))
    return out


# So many groups are listed in full, so many if there are more, and only of so many rows a class.
_FULL, _LISTED, _ENOUGH = 12, 8, 10


def listed(g: GroupAuc) -> tuple[list[int], str]:
    """Which groups to show, and which these are: all by size; of many those with the lowest AUC,
    where there are enough rows to say so."""
    by_size = np.argsort(-(g.P + g.N), kind="stable")
    if len(g) <= _FULL:
        return by_size.tolist(), ""
    enough = np.flatnonzero(np.minimum(g.P, g.N) >= _ENOUGH)
    lowest = enough[np.argsort(g.auc[enough], kind="stable")]
    if len(enough) < _LISTED:
        # A group of one class has no AUC to show.
        both = by_size[~np.isnan(g.auc[by_size])]
        if len(both) < _LISTED:
            return by_size[:_LISTED].tolist(), f"the {_LISTED} largest"
        return both[:_LISTED].tolist(), f"the {_LISTED} largest with both classes"
    each = f"at least {_ENOUGH} positives and {_ENOUGH} negatives"
    return lowest[:_LISTED].tolist(), f"the {_LISTED} lowest of {len(enough):,} with {each}"


def aim_words(p: OperatingPoint) -> str:
    """The objective of an operating point, with its limits and the prior."""
    asked = p.question
    goal = asked.goal
    name = goal.name
    if isinstance(goal, Measure):
        name = goal.called or (goal.words if goal.is_count else name)
    words = f"none, threshold set manually; {name}" if p.given else f"{extreme(goal)} {name}"
    if asked.costs is not None:
        words += f" ({_costs(asked.costs)})"
    if asked.limit_texts:
        sure = f" at {100 * asked.confidence:g} % confidence" if asked.confidence else ""
        words += f", subject to {' and '.join(asked.limit_texts)}{sure}"
    if asked.prior is not None:
        words += f", at {100 * asked.prior:.6g} % prevalence"
    return words


def _costs(c: Costs) -> str:
    words = f"false alarm {cost_text(c.fp)}, miss {cost_text(c.fn)}"
    if c.tp:
        words += f", benefit of a true positive {c.tp:g}"
    words += f", benefit of a true negative {c.tn:g}" if c.tn else ""
    words += f", review {c.review:g}" if c.review is not None else ""
    return words + (f", reviewed positive {c.review_miss:g} more" if c.review_miss else "")


def rows_text(summary: Summary) -> str:
    """How many rows there are of either class."""
    share = f"{100 * summary.prevalence:.3g} %"
    what = f"{summary.rows:,} row{'s' if summary.rows != 1 else ''}"
    if summary.weighted:
        what += f" of weight {count_text(summary.P + summary.N)}"
    return f"{what}: {count_text(summary.P)} positive ({share}), {count_text(summary.N)} negative"


UNKNOWN = (
    "All rows are normal. How many anomalies are caught, how many alarms are right, and what any "
    "of it costs is not known without positives."
)


def normal_rows_text(summary: NormalSummary) -> str:
    """How many normal rows there are."""
    if summary.rows is None:
        return f"normal rows of weight {count_text(summary.N)}"
    what = f"{summary.rows:,} normal row{'s' if summary.rows != 1 else ''}"
    return f"{what} of weight {count_text(summary.N)}" if summary.weighted else what


def estimates(measures: Mapping[str, Estimate]) -> list[str]:
    """Numbers with their intervals, whose level stands above."""
    return [
        figure_text(name, e.value, e.interval, level=False) if isfinite(e.value) else "–"
        for name, e in measures.items()
    ]
