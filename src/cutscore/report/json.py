"""A summary as JSON: see ``Summary.as_dict``."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, isnan
from typing import Any

import numpy as np

from cutscore import __version__
from cutscore.core.findings.base import Surface
from cutscore.core.json import to_plain
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.row_costs import RowCostPoint
from cutscore.decision.verdict import Verdict
from cutscore.decision.words import describe_outcome, expectation, rule_of
from cutscore.measures.aim import Aim
from cutscore.report.summary import (
    AVERAGES,
    NORMAL_SCHEMA,
    SCHEMA,
    Estimate,
    GroupResults,
    Groups,
    Learners,
    NormalSummary,
    PeriodLimit,
    RowCostResults,
    ScoreSummary,
    Summary,
    group_means,
    measures_of,
)


def as_dict(summary: Summary, on: Surface) -> dict[str, Any]:
    """See ``Summary.as_dict``."""
    out: dict[str, Any] = _plain(
        {
            "schema": SCHEMA,
            "version": __version__,
            "digest": summary.digest,
            "source": summary.source,
            "label": summary.label,
            "rows": {
                "count": summary.rows,
                "positives": summary.P,
                "negatives": summary.N,
                "weighted": summary.weighted,
                "prevalence": summary.prevalence,
            },
            "asked": _aim_fields(summary.asked),
            "baselines": None
            if summary.baselines is None
            else {name.replace(" ", "_"): cost for name, cost in summary.baselines.items()},
            "scores": [_score(one, summary.asked.level) for one in summary.scores],
            "differences": [
                {
                    "a": d.a,
                    "b": d.b,
                    "difference": _estimate(Estimate(d.difference, d.interval)),
                    "p_value": d.p_value,
                }
                for d in summary.differences
            ],
            "groups": None
            if summary.groups is None
            else _groups(summary.groups, summary.asked.level),
            "warnings": [notice.as_dict(on) for notice in summary.notices],
            "learners": None if summary.learners is None else _learners(summary.learners),
            "training": [{"name": name, "value": value} for name, value in summary.training],
            "weights": [
                {"column": w.column, "weight": w.weight, "scaled": w.scaled}
                for w in summary.weights
            ],
            "importances": [
                {"column": one.column, "value": one.value} for one in summary.importances
            ],
            "group_results": None
            if summary.group_results is None
            else _group_results(summary.group_results),
            "period_limits": [_period_limit(one) for one in summary.periods],
            "row_costs": None if summary.row_costs is None else _row_costs(summary.row_costs),
        }
    )
    return out


def normal_as_dict(summary: NormalSummary, on: Surface) -> dict[str, Any]:
    """See ``NormalSummary.as_dict``."""
    p, verdict = summary.point, summary.verdict
    rule, threshold = rule_of(p, summary.reverse)
    out: dict[str, Any] = _plain(
        {
            "schema": NORMAL_SCHEMA,
            "version": __version__,
            "digest": summary.digest,
            "source": summary.source,
            "label": summary.label,
            "rows": {
                "count": summary.rows,
                "positives": 0,
                "negatives": summary.N,
                "weighted": summary.weighted,
            },
            "asked": _aim_fields(summary.asked),
            "name": summary.name,
            "verdict": _verdict(verdict),
            "reverse": summary.reverse,
            "distinct": summary.distinct,
            "lowest": summary.lowest,
            "highest": summary.highest,
            "rule": rule,
            "threshold": threshold,
            "feasible": p.feasible,
            "limits": _limits(p),
            "false_alarms": p.confusion.fp,
            "fpr": _estimate(summary.fpr),
            "period_limits": [_period_limit(one) for one in summary.periods],
            "warnings": [notice.as_dict(on) for notice in summary.notices],
            "training": [{"name": name, "value": value} for name, value in summary.training],
            "weights": [asdict(w) for w in summary.weights],
            "importances": [asdict(one) for one in summary.importances],
        }
    )
    return out


def _plain(value: object) -> Any:
    """With Python's own types, and None for what JSON has no number for."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _estimate(e: Estimate) -> dict[str, Any]:
    low, high, level = (None,) * 3
    if e.interval is not None:
        low, high, level = e.interval.low, e.interval.high, e.interval.level
    return {"value": e.value, "low": low, "high": high, "level": level}


def _aim_fields(asked: Aim) -> dict[str, Any]:
    c = asked.costs
    return {
        "objective": asked.goal.name,
        "assumed": asked.assumed,
        "costs": None if c is None else to_plain(c),
        "limits": list(asked.limit_texts),
        "confidence": asked.confidence,
        "prior": asked.prior,
        "level": asked.level,
    }


def _score(one: ScoreSummary, level: float) -> dict[str, Any]:
    calibrated = one.probabilities or one.calibrator is not None
    return {
        "name": one.name,
        "verdict": _verdict(one.verdict),
        "reverse": one.reverse,
        "distinct": one.distinct,
        "lowest": one.lowest,
        "highest": one.highest,
        "probabilities": one.probabilities,
        "auc": _estimate(one.auc),
        "hull": {"vertices": one.hull_vertices, "auc": one.hull_auc},
        "average_precision": one.average_precision,
        "brier": one.brier,
        "log_loss": one.log_loss,
        "calibration": {"calibrator": one.calibrator, "outside_band": one.shares.outside}
        if calibrated
        else None,
        "probability": one.probability,
        "operating_point": _point(one, level),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": verdict.state.value,
        "headline": verdict.headline,
        "codes": [found.code for found in verdict.findings],
    }


def _limits(p: OperatingPoint) -> list[dict[str, Any]]:
    return [{"limit": t.limit, "value": t.value, "holds": bool(t.holds)} for t in p.status]


def _group_results(g: GroupResults) -> dict[str, Any]:
    return {
        "column": g.column,
        "rule": g.rule,
        "own_thresholds": g.own,
        "pooled": list(g.pooled),
        "limits": [{"limit": t.limit, "value": t.value, "holds": t.holds} for t in g.limits],
        "total": {name: _estimate(e) for name, e in g.total.items()},
        "groups": [
            {
                "group": one.name,
                "threshold": one.threshold,
                "rows": one.rows,
                "positives": one.positives,
                "measures": {name: _estimate(e) for name, e in one.measures.items()},
            }
            for one in g.rows
        ],
    }


def _row_costs(m: RowCostResults) -> dict[str, Any]:
    return {
        "rule": m.rule,
        "threshold": m.threshold,
        "factor": m.factor,
        "uniform_threshold": m.uniform,
        "value": m.here,
        "flagged": m.flagged,
        "rows": [
            {
                "rule": one.name.replace(" ", "_"),
                "cost": _estimate(one.cost),
                "saving": None if one.saving is None else _estimate(one.saving),
                "total": one.total,
            }
            for one in m.rows
        ],
        "per_period": None
        if m.per_period is None
        else dict(zip(("period", "periods", "cost"), m.per_period, strict=True)),
    }


def _period_limit(one: PeriodLimit) -> dict[str, Any]:
    return {
        "limit": one.limit,
        "holds": one.holds,
        "counts": one.what,
        "period": one.period,
        "periods": one.periods,
        "column": one.column,
        "most": one.most,
        "count": one.count,
    }


def plain_cuts(p: OperatingPoint, reverse: bool) -> dict[str, Any]:
    """Both thresholds as people type them; nothing if there is one."""
    if not p.question.three_way:
        return {}
    return {"cuts": _plain({k: 0.0 - t if reverse else t for k, t in p.cuts._asdict().items()})}


def _point(one: ScoreSummary, level: float) -> dict[str, Any]:
    p, c = one.point, one.point.confusion
    rule, threshold = rule_of(p, one.reverse)
    if isnan(p.threshold):
        rule, threshold = "by group", None
    elif isinstance(p, RowCostPoint):
        rule, threshold = "by row", None
    expected = expectation(p, p.question.goal, level)
    return {
        "rule": rule,
        "threshold": threshold,
        **plain_cuts(p, one.reverse),
        "feasible": p.feasible,
        "value": p.value,
        "expected": None if expected is None else expected._asdict(),
        "here": {name: getattr(p.deployed, name) for name in measures_of(p.question)},
        "limits": _limits(p),
        "confusion": asdict(c),
        "measures": {name: _estimate(e) for name, e in one.measures.items()},
        "text": describe_outcome(p),
    }


def _groups(groups: Groups, level: float) -> dict[str, Any]:
    means = {name: group_means(g, level) for name, g in groups.by_score.items()}
    return {
        "name": groups.name,
        "scores": [
            {
                "name": name,
                "groups": [
                    {"group": str(label), "positives": p, "negatives": n, "auc": a}
                    for label, p, n, a in zip(
                        g.group.tolist(), g.P.tolist(), g.N.tolist(), g.auc.tolist(), strict=True
                    )
                ],
                **{one: means[name][one].value if means[name] else None for one in AVERAGES},
                "covered": g.covered,
                "averages": {one: _estimate(e) for one, e in means[name].items()} or None,
            }
            for name, g in groups.by_score.items()
        ],
    }


def _learners(learners: Learners) -> dict[str, Any]:
    return {
        "measure": learners.measure,
        "chosen": learners.chosen,
        "why": learners.why,
        "rows": [
            {
                "name": one.name,
                "value": _estimate(one.value),
                "difference": None if one.difference is None else _estimate(one.difference),
                "seconds": one.seconds,
                "note": one.note,
            }
            for one in learners.rows
        ],
    }
