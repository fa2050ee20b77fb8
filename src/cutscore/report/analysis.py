"""summarise: from rows to a summary, with everything that is computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations
from math import exp, log
from typing import Unpack

import numpy as np

from cutscore.calibration.calibrators import Calibrator
from cutscore.comparison.class_samples import (
    ClassSample,
    auc_difference,
    sample_classes,
    sampled_covariance,
)
from cutscore.comparison.covariance import AucCovariance, auc_covariance
from cutscore.comparison.groups import GroupAuc, by_group
from cutscore.comparison.rows import encode_column, read_rows, units
from cutscore.core.checks import check_rows
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, shown
from cutscore.core.findings.report import (
    CertainAndWrong,
    FewErrors,
    FewRows,
    Miscalibrated,
    NoProbability,
    Notice,
    Outlier,
    PriorFar,
    Separated,
    Ties,
    about,
)
from cutscore.core.interval import Interval
from cutscore.core.names import quote_if_spaced
from cutscore.core.types import ArrayLike, Label
from cutscore.decision.choice import OperatingPoint, choose
from cutscore.decision.normal import is_normal
from cutscore.decision.verdict import Verdict, judge
from cutscore.decision.words import expectation
from cutscore.inference.auc import auc_interval
from cutscore.inference.placements import sizes_of
from cutscore.inference.selection import Selection, select_among
from cutscore.inference.units import Units
from cutscore.measures.aim import UNITS, Aim, AimOptions
from cutscore.measures.costs import Costs
from cutscore.measures.registry import MEASURES as KNOWN
from cutscore.report.summary import (
    Difference,
    Estimate,
    Groups,
    ScoreSummary,
    Summary,
    maybe,
    measures_of,
)
from cutscore.report.traces import (
    by_parts,
    decision_curve,
    largest_tie,
    shares,
    trace,
    useful_range,
)
from cutscore.sweeps.areas import average_precision
from cutscore.sweeps.cost_curve import cost_curve
from cutscore.sweeps.hull import hull
from cutscore.sweeps.proper_scores import brier, log_loss
from cutscore.sweeps.sweep import Sweep, far_ends, sweep


def summarise(  # noqa: PLR0913 - options have names
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    group: ArrayLike | None = None,
    unit: ArrayLike | None = None,
    calibrators: Mapping[str, Calibrator] | None = None,
    forecasts: Mapping[str, ArrayLike] | None = None,
    among: Mapping[str, Selection | None] | None = None,
    reverse: Collection[str] = (),
    label: str = "",
    group_name: str = "group",
    source: str = "",
    **asked: Unpack[AimOptions],
) -> Summary:
    """Everything worth saying about one score or several of the same rows.

    Parameters
    ----------
    y, weight, positive
        As for :func:`cutscore.sweep`.
    scores
        The scores by name, or a frame of them.
    group
        The group of each row, for the AUC inside groups.
    unit
        The unit each row belongs to (patient, user), where rows of one unit are not independent:
        all intervals count units then, but for those of the share of positives by score; and limits
        with a confidence are on the mean rate of units.
    calibrators
        Calibrators by the name of their score: the reliability is that of their probabilities.
    forecasts
        Probabilities of the rows by the name of their score, for calibrators that were fitted to
        these rows: out of fold, as of :func:`cutscore.cross_fit`. Then the Brier score, the log
        loss and the reliability are those of these.
    among
        What choosing a score together with its threshold came to, by the name of the score: the
        ``point.among`` of :func:`cutscore.training.train`.
    reverse
        The names of scores of which low ones mean positive, such as credit scores: cases are
        flagged up to a threshold rather than from it on. Text, page and JSON tell scores as they
        are, and so calibrators take them; the ``point`` of a score is of ``-score``.
    label, group_name, source
        For display: what is positive, what groups are, and where the rows are from.
    **asked
        What to aim at: ``costs``, or ``maximize`` with any objective of :func:`cutscore.choose`.
        Of neither, the mean of recall and specificity ("balanced_rate"), and the summary says so.
        ``subject_to``, ``prior`` and ``confidence`` are as for :func:`cutscore.choose`; ``level``
        is that of all intervals, 0.95.

    Returns
    -------
    Summary

    Raises
    ------
    UndefinedError
        If a class is missing.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.report import summarise
    >>> y, a, b = [1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], [8, 3, 6, 5, 4, 7, 2, 1]
    >>> summary = summarise(y, {"old": a, "new": b}, costs=cs.Costs(fp=1, fn=3))
    >>> summary.scores[1].point.threshold, summary.differences[0].difference
    (4.5, -0.25)
    """
    aim = Aim.asked(**asked)
    if hasattr(scores, "columns") and not isinstance(scores, Mapping):  # a frame
        scores = {str(name): scores[name] for name in scores.columns}
    if not isinstance(scores, Mapping) or not scores:
        rule = "be columns by name, such as {'score': ...}"
        raise DataError(BadArgument("scores", rule, scores))
    low = _some_of(scores, reverse, "reverse")
    _some_of(scores, calibrators or (), "calibrators")
    _some_of(calibrators or {}, forecasts or (), "forecasts", "scores with a calibrator")
    columns = {str(name): column for name, column in scores.items()}
    sweeps = {}
    for name, column in columns.items():
        sweeps[name] = _sweep(y, column, weight, positive, None if len(columns) == 1 else name)
        if name in low:
            sweeps[name] = sweeps[name].negated()
            columns[name] = 0.0 - check_rows(y, column, weight, positive).score
    inside = None
    if group is not None:
        inside = {
            name: by_group(y, column, group, weight=weight, positive=positive)
            for name, column in columns.items()
        }
    among = among or {}
    if unit is not None:
        aim.needs_one_cut(UNITS)
        areas = maybe(auc_covariance, y, columns, weight=weight, positive=positive, unit=unit)
        # Those of rows would be too narrow.
        spans = dict.fromkeys(columns)
        if areas is not None:
            spans = dict(zip(columns, areas.intervals(level=aim.level), strict=True))
        rows = read_rows(y, columns, weight, positive)
        _, code = encode_column(unit, "unit", rows)
        if aim.confidence is None:  # of guarantees for units it is not known what they come to
            found = {
                name: select_among(rows.ones, [one], aim, weight=rows.weight, unit=code)
                for name, one in zip(columns, rows.scores, strict=True)
                if among.get(name) is None
            }
            among = {**among, **found}
    else:
        spans, areas = _spans(sweeps, aim.level), None
        if len(columns) > 1:
            samples = sample_classes(y, columns, weight, positive)
            areas = maybe(sampled_covariance, sweeps, samples)
    of_units: dict[str, Units] = {}
    if unit is not None and aim.confidence is not None:
        of_units = {name: units(y, one, unit, positive=positive) for name, one in columns.items()}
    squares = weight is not None
    fitted = {
        n: sweep(y, p, weight, positive, squares=squares) for n, p in (forecasts or {}).items()
    }
    evidence = [
        ScoreEvidence(
            name,
            _point(s, replace(aim, units=of_units.get(name)), among.get(name)),
            spans[name],
            (calibrators or {}).get(name),
            fitted.get(name),
            name in low,
            clustered=unit is not None,
        )
        for name, s in sweeps.items()
    ]
    first = next(iter(columns.values()))
    return summary_of(
        evidence,
        aim,
        rows=len(check_rows(y, first, weight, positive).score),
        areas=areas,
        groups=None if inside is None else Groups(group_name, inside),
        label=f"{label} = {quote_if_spaced(positive)}" if label and positive is not None else label,
        source=source,
    )


def _sweep(
    y: ArrayLike,
    score: ArrayLike,
    weight: ArrayLike | None,
    positive: Label | None,
    name: str | None,
) -> Sweep:
    """The sweep of a score; an error says which one it is of, if there are several."""
    try:
        s = sweep(y, score, weight, positive, squares=weight is not None)
    except DataError as error:
        if name is None:
            raise
        raise DataError(error.finding.at(part=name)) from None
    s.needs_both_classes("a report")
    return s


def _some_of(
    scores: Collection[str], names: Collection[str], option: str, what: str = "scores"
) -> set[str]:
    """Names that an option gives, all of which must be known."""
    found = {names} if isinstance(names, str) else set(map(str, names))
    for name in sorted(found - set(map(str, scores))):
        rule = f"name {what}, which are {', '.join(map(shown, scores)) or 'none'}"
        raise DataError(BadArgument(option, rule, name))
    return found


def summarise_sweeps(  # noqa: PLR0913 - options have names
    sweeps: Mapping[str, Sweep],
    *,
    rows: int | None = None,
    samples: tuple[ClassSample, ClassSample] | None = None,
    groups: Mapping[str, GroupAuc] | None = None,
    reverse: Collection[str] = (),
    label: str = "",
    group_name: str = "group",
    source: str = "",
    **asked: Unpack[AimOptions],
) -> Summary:
    """The same as :func:`cutscore.report.summarise` where the rows are elsewhere: from sweeps.

    Parameters
    ----------
    sweeps
        The sweeps of the scores, by name, each with all of its scores; weighted ones with their
        squares.
    rows
        How many rows there were, if not as many as the sweeps have mass.
    samples
        A sample of the positives and one of the negatives, with all scores of each row: what
        differences between scores are tested with.
    groups
        The AUC inside groups by each score.
    reverse, label, group_name, source, **asked
        As there.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.report import summarise_sweeps
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    >>> summarise_sweeps({"score": s}, costs=cs.Costs(fp=1, fn=3)).scores[0].auc.value
    0.75
    """
    aim = Aim.asked(**asked)
    for s in sweeps.values():
        s.needs_both_classes("a report")
        s.needs_scores("a report")
    low = _some_of(sweeps, reverse, "reverse")
    sweeps = {name: s.negated() if name in low else s for name, s in sweeps.items()}
    areas = None
    if samples is not None:
        samples = samples[0].negated(low), samples[1].negated(low)
        areas = maybe(sampled_covariance, sweeps, samples)
    if groups is not None:
        groups = {
            name: replace(g, auc=1.0 - g.auc) if name in low else g for name, g in groups.items()
        }
    first = next(iter(sweeps.values()))
    spans = _spans(sweeps, aim.level)
    return summary_of(
        [
            ScoreEvidence(name, choose(s, aim), spans[name], reverse=name in low)
            for name, s in sweeps.items()
        ],
        aim,
        rows=int(first.P + first.N) if rows is None else rows,
        areas=areas,
        groups=None if groups is None else Groups(group_name, groups),
        label=label,
        source=source,
    )


def _spans(sweeps: Mapping[str, Sweep], level: float) -> dict[str, Interval | None]:
    """The intervals of the AUCs, where rows can tell them."""
    return {name: maybe(auc_interval, s, level=level) for name, s in sweeps.items()}


def _point(s: Sweep, aim: Aim, among: Selection | None) -> OperatingPoint:
    point = choose(s, aim)
    return point if among is None else replace(point, among=among)


@dataclass(frozen=True, eq=False)
class ScoreEvidence:
    """What is known of one score before a report is made of it."""

    name: str
    point: OperatingPoint
    """The cut that was chosen, with the sweep of the score."""
    auc: Interval | None
    """Of the AUC, where the rows can tell it."""
    calibrator: Calibrator | None = None
    forecast: Sweep | None = None
    """The sweep of the probabilities by calibrators that were fitted to other rows."""
    reverse: bool = False
    """Whether low scores mean positive. Then ``point`` is of ``-score``."""
    clustered: bool = False
    """Whether rows come in units, so that intervals of rows would be too narrow."""
    verdict: Verdict | None = None
    """Of groups; else it follows from the point."""
    cuts: Sequence[int] = ()
    """Cuts that a picture must show, beside those of the point."""
    scores: Sweep | None = None
    """The sweep of the score, where the cut is on something else."""

    @property
    def sweep(self) -> Sweep:
        """The sweep of the score."""
        return self.point.sweep if self.scores is None else self.scores


def summary_of(  # noqa: PLR0913 - what a report shows beside the scores
    evidence: Sequence[ScoreEvidence],
    aim: Aim,
    *,
    rows: int,
    areas: AucCovariance | None = None,
    groups: Groups | None = None,
    label: str = "",
    source: str = "",
) -> Summary:
    """The summary of scores whose sweeps, cuts and intervals are known."""
    sweeps = {one.name: one.sweep for one in evidence}
    first = evidence[0].sweep
    # Pages of many scores, or of weights, which have more digits than counts, stay small.
    detail = min(1.0, max(0.25, (4 if first.weighted else 8) / len(sweeps)))
    out = Summary(
        rows=rows,
        P=first.P,
        N=first.N,
        weighted=first.weighted,
        asked=aim,
        scores=tuple(_score_summary(one, aim, detail) for one in evidence),
        differences=_differences(sweeps, areas, aim.level),
        groups=groups,
        baselines=evidence[0].point.trivial_costs,
        digest=digest(sweeps.values()),
        label=label,
        source=source,
    )
    return replace(out, notices=tuple(_notices(out, sweeps)))


def _score_summary(one: ScoreEvidence, aim: Aim, detail: float) -> ScoreSummary:
    point, calibrator, reverse = one.point, one.calibrator, one.reverse
    s, level = one.sweep, aim.level
    prior = s.prevalence if aim.prior is None else aim.prior
    forecast = _forecast(s, calibrator, one.forecast, reverse)
    h, low, high = hull(s), float(s.threshold[-1]), float(s.threshold[0])
    probabilities = 0 <= low <= high <= 1
    p = forecast if forecast is not None else s if probabilities else None
    # Bands of rows would be too narrow for clusters.
    of_rows = None if one.clustered else level
    own = point.cut_indices if one.scores is None else ()
    drawn = trace(s, h, *own, *one.cuts, level=of_rows, detail=detail)
    turn = -1.0 if reverse else 1.0
    at = None
    if calibrator is not None and one.scores is None and np.isfinite(point.threshold):
        at = float(calibrator.probability(turn * point.threshold, prior))
    # Of clusters that tell no interval the AUC may be anything.
    span = Interval(0.0, 1.0, level) if one.clustered and one.auc is None else one.auc
    curve = cost_curve(s)
    return ScoreSummary(
        name=one.name,
        distinct=len(s),
        lowest=0.0 - high if reverse else low,
        highest=0.0 - low if reverse else high,
        probabilities=probabilities,
        auc=Estimate(s.auc, one.auc),
        average_precision=average_precision(s),
        brier=None if p is None else by_parts(p, brier),
        log_loss=None if p is None else by_parts(p, log_loss),
        hull_vertices=len(h),
        hull_auc=h.auc,
        point=point,
        verdict=one.verdict
        or judge(point, auc=span, score=one.name, reverse=reverse, probability=at, scores=s),
        probability=at,
        measures=_measures(point, level),
        trace=drawn,
        cost_curve=curve,
        decision_curve=decision_curve(
            curve,
            # Calibrated ones are those of the prior of the rows.
            None if forecast is not None and aim.prior is not None else p,
            prior,
            useful_range(prior, threshold_probability(aim, prior)),
            of_rows,
            known=aim.prior is not None,
        ),
        shares=shares(
            s if p is None else p,
            h if forecast is None else hull(forecast),
            level=level,
            probabilities=p is not None,
        ),
        llr=None if calibrator is None else calibrator.llr(turn * drawn.threshold),
        calibrator=None if calibrator is None else repr(calibrator).splitlines()[0],
        certain=(0, 0) if p is None else _certain(p),
        cross_fitted=one.forecast is not None,
        reverse=reverse,
    )


def threshold_probability(aim: Aim, prior: float) -> float:
    """λ₋ / (λ₊ + λ₋) of the costs; without costs, or if they differ by row, the share of positives,
    so that both classes weigh the same."""
    c = aim.costs
    if c is None or c.by_row:
        return prior
    return c.probability if c.on_negatives and c.on_positives else prior


def digest(sweeps: Iterable[Sweep]) -> str:
    found = sha256()
    for s in sweeps:
        for at in s.parts():
            for column in (s.threshold, s.pos, s.neg):
                found.update(np.ascontiguousarray(column[at]).tobytes())
            s.forget(at)
    return found.hexdigest()


def _forecast(
    s: Sweep, calibrator: Calibrator | None, forecast: Sweep | None, reverse: bool
) -> Sweep | None:
    """The sweep of the calibrated probabilities, if there is a calibrator."""
    if calibrator is None or forecast is not None:
        return forecast
    # At the prior of the rows: then forecasts and what happened speak of the same cases.
    p = calibrator.probability(0.0 - s.threshold if reverse else s.threshold, s.prevalence)
    return Sweep.from_counts(p, s.pos, s.neg)


def _certain(s: Sweep) -> tuple[float, float]:
    """The positives with probability 0, and the negatives with probability 1."""
    first, last = s.threshold[0], s.threshold[-1]
    pos, neg = (s.pos[-1] if last == 0 else 0), (s.neg[0] if first == 1 else 0)
    return (float(pos), float(neg)) if s.weighted else (int(pos), int(neg))


def _measures(point: OperatingPoint, level: float) -> dict[str, Estimate]:
    """What to expect on new rows; where nothing is known of them, what there is on these."""
    goal, prior, c = point.question.goal, point.question.prior, point.typical
    # Of a policy that promises few measures, the others follow from the rates that it promises.
    c = point.deployed if c is None else c if prior is None else c.deployed(prior)
    out = {}
    for name in measures_of(point.question):
        found = expectation(point, name, level)
        if found is None:
            out[name] = Estimate(float(getattr(c, name)))
        else:
            sure = KNOWN[name].binomial or name == goal.name or point.question.three_way
            out[name] = Estimate.of(found) if sure else Estimate(found.value)
    if isinstance(goal, Costs):
        found = expectation(point, goal, level)
        out["cost"] = Estimate(point.value) if found is None else Estimate.of(found)
    return out


def _differences(
    sweeps: Mapping[str, Sweep], areas: AucCovariance | None, level: float
) -> tuple[Difference, ...]:
    """All pairs; of more than five scores only those with the first."""
    names = list(sweeps)
    pairs = list(combinations(names, 2)) if len(names) <= 5 else [(names[0], b) for b in names[1:]]
    out = []
    for a, b in pairs:
        found = None if areas is None else maybe(auc_difference, areas, a, b, level=level)
        if found is None:
            out.append(Difference(a, b, sweeps[a].auc - sweeps[b].auc, None, None))
        else:
            out.append(Difference(a, b, found.difference, found.interval, found.p_value))
    return tuple(out)


def _notices(summary: Summary, sweeps: Mapping[str, Sweep]) -> list[Finding]:
    """Verdicts first; what one says is not said twice."""
    verdicts: list[Finding] = []
    others: list[Finding] = [*_few(next(iter(sweeps.values()))), *_far(summary)]
    for one in summary.scores:
        name = one.name if len(sweeps) > 1 else None
        # Rows are few whatever the score.
        verdicts += (n if isinstance(n, FewRows) else about(n, name) for n in one.verdict.findings)
        others += (about(notice, name) for notice in _about(one, sweeps[one.name]))
    return list(dict.fromkeys((*verdicts, *others)))


def _few(s: Sweep) -> Iterator[Notice]:
    known = not s.weighted or s.pos2 is not None
    sizes = sizes_of(s, "a report") if known else (float(s.P), float(s.N))
    for word, rows in zip(("positive", "negative"), sizes, strict=True):
        if rows < 50 and not (word == "positive" and is_normal(s)):
            yield FewRows(word, rows, s.pos2 is not None)


def _far(summary: Summary) -> Iterator[Notice]:
    prior, here = summary.asked.prior, summary.prevalence
    if prior is None:
        return
    # No more than a float holds.
    times = exp(min(abs(log(prior / (1 - prior)) - log(here / (1 - here))), 700.0))
    if times >= 10:
        yield PriorFar(prior, here, times)


def _about(one: ScoreSummary, s: Sweep) -> Iterator[Notice]:
    auc = one.auc.value
    if auc >= 0.999:
        yield Separated(auc)
    elif auc >= 0.5 and one.auc.interval is not None:
        yield from _few_errors(auc, s)
    for mass, word, chance in zip(one.certain, ("positive", "negative"), (0, 1), strict=True):
        if mass:
            yield CertainAndWrong(mass, chance, word)
    at, share = largest_tie(s)
    if share >= 0.1 and s.P + s.N > 50:
        yield Ties(0.0 - at if one.reverse else at, share)
    yield from _outliers(s, reverse=one.reverse)
    if not one.probabilities and one.calibrator is None and "prob" in one.name.lower():
        yield NoProbability(one.name, one.lowest, one.highest)
    outside = one.shares.outside
    if outside is not None and outside > 0.5:
        yield Miscalibrated(outside)


def normal_notices(verdict: Verdict, s: Sweep, *, reverse: bool) -> tuple[Finding, ...]:
    """What should be known of normal rows."""
    few: list[Finding] = [] if any(isinstance(n, FewRows) for n in verdict.findings) else [*_few(s)]
    return (*verdict.findings, *few, *_outliers(s, reverse=reverse))


def _few_errors(auc: float, s: Sweep) -> Iterator[Notice]:
    """Where single rows decide about the AUC: a sample without them looks better and surer."""
    rows, of = min(zip(sizes_of(s, "a report"), ("positive", "negative"), strict=True))
    if rows * (1 - auc) < 4:
        yield FewErrors(rows * (1 - auc), of, rows)


def _outliers(s: Sweep, *, reverse: bool) -> Iterator[Notice]:
    t = s.threshold
    if s.weighted or not np.isfinite(t[[0, -1]]).all():
        return
    for ends in far_ends(t, s.pos[[0, -1]] + s.neg[[0, -1]]):
        at, *others = (0.0 - x if reverse else x for x in t[list(ends)].tolist())
        yield Outlier(at, int(s.pos[ends[0]] + s.neg[ends[0]]), min(others), max(others))
