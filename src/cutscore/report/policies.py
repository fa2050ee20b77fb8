"""The summary of a policy or a detector, from its file alone: from the evidence that it carries."""

from __future__ import annotations

from dataclasses import replace
from math import nan, sqrt

from cutscore.calibration.calibrators import Affine, Chain
from cutscore.core.findings.base import PAGE
from cutscore.core.interval import Interval
from cutscore.core.names import quote_if_spaced
from cutscore.decision.choice import OperatingPoint, Promised
from cutscore.detector import Detector, LinearScorer, NumberTerm
from cutscore.detector.artefact import as_text
from cutscore.policy import Policy
from cutscore.report.analysis import ScoreEvidence, summary_of
from cutscore.report.summary import Importance, Summary, Weight
from cutscore.sweeps.sweep import Sweep

_RUNS = "runs of scores from one class are merged in the evidence and drawn at their lowest score"
# So many weights are listed.
_MOST = 30


def summarise_policy(d: Detector | Policy, source: str = "") -> Summary:
    """What the terminal, the page and JSON say about a policy, or about a detector.

    Its evidence is all that is needed. What to expect on new rows is what was promised.

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
    s, labels = p.sweep, p.labels
    p.cuts.needs_common("a report on one threshold", "Export it as a card instead.")
    s.needs_both_classes("a report")
    c = p.needs_calibrator("a report")
    evidence = ScoreEvidence(
        t.learner or p.score,
        _point(p),
        _auc(d),
        # A policy's calibrator takes what rises with the chance of a positive.
        Chain((Affine(-1.0, 0.0), c)) if p.reverse else c,
        reverse=p.reverse,
        clustered=p.evidence.units is not None or p.evidence.periods is not None,
    )
    named = [quote_if_spaced(x) for x in (labels.column, labels.positive) if x is not None]
    rows = p.provenance.rows
    summary = summary_of(
        [evidence],
        p.aim,
        rows=int(s.P + s.N) if rows is None else rows,
        label=" = ".join(map(as_text, named)),
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
    )


def _point(p: Policy) -> OperatingPoint:
    """The operating point, which promises what was promised."""
    # What was not promised is known of a choice on independent rows alone.
    single = p.groups is None and p.evidence.units is None and p.evidence.periods is None
    known = single and not p.given
    s = p.sweep
    if s.merged:
        # A run of scores of one class as one score: the same ROC curve, drawn by the same code.
        s = Sweep(s.threshold, s.pos, s.neg, s.pos2, s.neg2)
    point = replace(p.point, sweep=s)
    rest = point.chosen if known else None
    return replace(point, among=Promised(p.aim, p.promises, rest, p.given))


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
        *p.group_facts(),
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
