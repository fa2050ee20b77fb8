"""The summary of a policy or a detector, from its file alone: from the evidence that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite, nan, sqrt

import numpy as np

from cutscore.calibration.calibrators import Affine, Chain
from cutscore.core.findings.base import PAGE, shown
from cutscore.core.interval import Interval
from cutscore.core.names import quote_if_spaced
from cutscore.decision.choice import OperatingPoint, Promised
from cutscore.decision.normal import is_normal
from cutscore.decision.row_costs import RowCostPoint
from cutscore.decision.verdict import judge, judge_groups
from cutscore.decision.words import headline, limit_lines
from cutscore.detector import Detector, LinearScorer, NumberTerm
from cutscore.detector.artefact import as_text
from cutscore.inference.selection import Expected
from cutscore.measures.aim import as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.measures.limits import parse_limit
from cutscore.policy import Policy
from cutscore.report.analysis import ScoreEvidence, digest, normal_notices, summary_of
from cutscore.report.summary import (
    CostOfRule,
    Estimate,
    GroupResult,
    GroupResults,
    Importance,
    NormalSummary,
    PeriodLimit,
    RowCostResults,
    Summary,
    Weight,
)
from cutscore.report.traces import histogram, money_trace
from cutscore.sweeps.sweep import Sweep

_RUNS = "runs of scores from one class are merged in the evidence and drawn at their lowest score"
# So many weights are listed.
_MOST = 30


def summarise_policy(d: Detector | Policy, source: str = "") -> Summary | NormalSummary:
    """What the terminal, the page and JSON say about a policy, or about a detector.

    Its evidence is all that is needed. What to expect on new rows is what was promised. Of normal
    rows alone there is a summary of its own: no curve is known without positives.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.report import summarise_policy
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> p = cs.Policy.choose(s, cs.Costs(fp=1, fn=3), score="risk")
    >>> summary = summarise_policy(p)
    >>> summary.scores[0].name, summary.scores[0].auc.value
    ('risk', 0.75)
    """
    d = Detector.of_policy(d) if isinstance(d, Policy) else d
    p, t = d.policy, d.training
    if is_normal(p.sweep):
        return _normal(d, source)
    s = p.sweep
    s.needs_both_classes("a report")
    c = p.needs_calibrator("a report")
    auc, results = _auc(d), None if p.groups is None else _group_results(p)
    by_row = p.row_costs is not None
    evidence = ScoreEvidence(
        t.learner or p.score,
        _group_total(p) if p.cuts.groups else p.point if by_row else _point(p),
        auc,
        # A policy's calibrator takes what rises with the chance of a positive.
        Chain((Affine(-1.0, 0.0), c)) if p.reverse else c,
        reverse=p.reverse,
        clustered=p.evidence.units is not None or p.evidence.periods is not None,
        scores=_drawn(s) if by_row else None,
    )
    if results is not None:
        verdict = judge_groups(
            p.group_point, s, results.rule, auc=auc, score=evidence.name, reverse=p.reverse
        )
        at = [s.cuts(np.array([cut]))[0] for cut in p.group_point.thresholds.values()]
        evidence = replace(evidence, verdict=verdict, cuts=at)
    rows = p.provenance.rows
    summary = summary_of(
        [evidence],
        p.aim,
        rows=int(s.P + s.N) if rows is None else rows,
        label=_label(p),
        source=source,
    )
    # The calibrator was fitted to these rows: how good it is elsewhere they can't tell.
    one = replace(summary.scores[0], brier=None, log_loss=None)
    if s.merged:
        one = replace(one, average_precision=nan)  # which depends on the order inside of a run
    return replace(
        summary,
        scores=(one,),
        training=_facts(d),
        weights=weights_of(d.scorer) if isinstance(d.scorer, LinearScorer) else (),
        importances=importances_of(d),
        group_results=results,
        periods=_periods(p),
        row_costs=_row_cost_results(p) if by_row else None,
    )


def _label(p: Policy) -> str:
    labels = p.labels
    named = [quote_if_spaced(x) for x in (labels.column, labels.positive) if x is not None]
    return " = ".join(map(as_text, named))


def _normal(d: Detector, source: str) -> NormalSummary:
    """The summary of a policy of normal rows."""
    p = d.policy
    s, point, rows = p.sweep, p.point, p.provenance.rows
    fpr, (low, high) = p.promises.get("fpr"), p.range
    name = d.training.learner or p.score
    verdict = judge(point, score=name, reverse=p.reverse)
    return NormalSummary(
        name=name,
        rows=int(s.N) if rows is None and not s.weighted else rows,
        N=s.N,
        weighted=s.weighted,
        asked=p.aim,
        point=point,
        verdict=verdict,
        fpr=Estimate(float(point.confusion.fpr)) if fpr is None else Estimate.of(fpr),
        histogram=histogram(s),
        distinct=len(s),
        lowest=low,
        highest=high,
        reverse=p.reverse,
        periods=_periods(p),
        notices=normal_notices(verdict, s, reverse=p.reverse),
        digest=digest([s]),
        label=_label(p),
        source=source,
        training=_facts(d),
        weights=weights_of(d.scorer) if isinstance(d.scorer, LinearScorer) else (),
        importances=importances_of(d),
    )


def _group_total(p: Policy) -> OperatingPoint:
    """What thresholds of groups do on all rows, as a point without a threshold."""
    found = p.group_point
    return OperatingPoint(
        nan,
        found.confusion,
        found.value,
        found.feasible,
        (),
        0,
        _drawn(p.sweep),
        found.aim,
        Promised(p.aim, p.promises, None, p.given),
    )


def _group_results(p: Policy) -> GroupResults:
    """The table of groups, the largest first."""
    g, point = p.groups, p.group_point
    assert g is not None
    names = ["recall", "fpr", "flagged_rate"]
    goal = p.aim.goal
    if isinstance(goal, Costs) or (goal.name not in names and goal.name in p.promises):
        names.append(goal.name)
    objectives = {name: goal if name == goal.name else as_objective(name) for name in names}

    def measured(promises: Mapping[str, Expected], c: Confusion) -> dict[str, Estimate]:
        return {
            name: Estimate.of(promises[name]) if name in promises else Estimate(float(objective(c)))
            for name, objective in objectives.items()
        }

    rows = [
        GroupResult(
            name,
            (p.cuts.groups.get(name) or p.cuts.thresholds)[0],
            c.total,
            c.positives,
            measured(g.promises.get(name, {}), c),
        )
        for name, c in ((str(name), c) for name, c in point.confusions.items())
    ]
    side = "≤" if p.reverse else "≥"
    rule = f"Flag scores {side} the threshold of their {shown(g.column)}"
    if not p.cuts.groups:
        common = p.point
        at = p.probability(p.threshold) if isfinite(p.threshold) else None
        rule = headline(common, p.reverse, None if at is None else float(at))
    c = point.confusion if p.aim.prior is None else point.confusion.deployed(p.aim.prior)
    return GroupResults(
        g.column,
        rule,
        bool(p.cuts.groups),
        tuple(sorted(rows, key=lambda one: -one.rows)),
        measured(p.promises, c),
        point.status,
        tuple(point.limit_lines),
        g.pooled,
    )


def _row_cost_results(p: Policy) -> RowCostResults:
    """What decisions by the costs of each row cost, beside simpler ones."""
    point = p.point
    assert isinstance(point, RowCostPoint)
    expected, known = point.expected, p.evidence.periods
    cost = Estimate(point.value) if expected is None else Estimate.of(expected)
    totals = {"decisions": point.total} | point.baselines if p.aim.prior is None else {}
    rows = [CostOfRule("decisions", cost, None, totals.get("decisions"))]
    for name, other in point.simpler_costs.items():
        saved = None if name == "uniform" else point.expect_saving(name, level=p.aim.level)
        saving = Estimate(other - cost.value) if saved is None else Estimate.of(saved)
        rows.append(CostOfRule(name, Estimate(other), saving, totals.get(name)))
    curve, uniform, per_period = point.curve, point.uniform, None
    if known is not None and totals:
        unit = next((limit.period for limit in p.aim.limits if limit.period), "period")
        per_period = (unit, known.number, point.total / known.number)
    rule = point.rule_text(p.score, reverse=p.reverse)
    return RowCostResults(
        rule[0].upper() + rule[1:],
        point.threshold,
        point.factor,
        # The evidence has that of what rises with the chance of a positive.
        None if uniform is None else 0.0 - uniform.threshold if p.reverse else uniform.threshold,
        tuple(rows),
        point.value,
        float(curve.flagged[point.cut]),
        money_trace(curve, point.cut),
        expected is not None,
        tuple(limit_lines(point)),
        per_period,
    )


def _periods(p: Policy) -> tuple[PeriodLimit, ...]:
    """What became of limits per period."""
    known = p.evidence.periods
    if known is None:
        return ()
    c, out = p.confusion, []
    for limit, status in zip(p.aim.limits, p.point.status, strict=True):
        rule = known.rules.get(limit.text)
        if limit.period is None or rule is None:
            continue
        what, count = {
            "fp": ("false alarms", c.fp),
            "reviewed": ("reviewed rows", getattr(c, "reviewed", 0)),
        }.get(limit.measure.name, ("blocked rows" if p.three_way else "flagged rows", c.flagged))
        out.append(
            PeriodLimit(
                limit.text,
                bool(status.holds),
                p.aim.confidence,
                what,
                limit.period,
                known.number,
                known.column,
                parse_limit(rule).bound if isinstance(rule, str) else rule.reviews(c.flagged),
                float(count),
            )
        )
    return tuple(out)


def _point(p: Policy) -> OperatingPoint:
    """The operating point, which promises what was promised."""
    # What was not promised is known of a choice on independent rows alone.
    single = p.groups is None and p.evidence.units is None and p.evidence.periods is None
    known = single and not p.given
    point = replace(p.point, sweep=_drawn(p.sweep))
    rest = point.chosen if known else None
    return replace(point, among=Promised(p.aim, p.promises, rest, p.given))


def _drawn(s: Sweep) -> Sweep:
    """A run of scores of one class as one score: the same ROC curve, drawn by the same code."""
    return Sweep(s.threshold, s.pos, s.neg, s.pos2, s.neg2) if s.merged else s


def _auc(d: Detector) -> Interval | None:
    promised = d.policy.promises.get("auc")
    if promised is not None:
        return Interval(promised.low, promised.high, promised.level)
    return d.training.auc_interval


def _facts(d: Detector) -> tuple[tuple[str, str], ...]:
    """How it was made."""
    p, t = d.policy, d.training
    facts = [
        ("scores", p.provenance.scores),
        ("evidence", repr(p.evidence)),
        ("histogram", _RUNS if p.sweep.merged else ""),
        ("threshold", "set manually" if p.given else ""),
        ("command", p.provenance.command),
        ("created", p.provenance.time),
        *d.scorer.facts(),
        *(("note", note.render(PAGE)) for note in t.notes),
    ]
    return tuple((name, value) for name, value in facts if value)


def importances_of(d: Detector) -> tuple[Importance, ...]:
    """Of a detector of trees, those of the columns that move the score most first."""
    found = sorted(d.training.importances.items(), key=lambda pair: -pair[1])
    return tuple(Importance(*pair) for pair in found[:_MOST])


def weights_of(line: LinearScorer) -> tuple[Weight, ...]:
    """Of a line, in the units of its columns and beside the reference level; those that move the
    score most first."""
    found = []
    for term in line.terms:
        c = term.column
        if isinstance(term, NumberTerm):
            found.append(Weight(c.name, term.weight, term.weight * term.column.scale))
            if c.missing:
                w, p = term.missing, c.missing
                found.append(Weight(f"{c.name} is missing", w, w * sqrt(p * (1 - p))))
        else:
            own = term.column
            for k in own.featured.tolist():
                w, p = float(term.table[k] - term.table[own.reference]), float(own.share[k])
                found.append(Weight(own.states[k], w, w * sqrt(p * (1 - p))))
    return tuple(sorted(found, key=lambda weight: -abs(weight.scaled))[:_MOST])
