"""The summary of a fit: the summary of its out-of-fold scores, and how it came about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cutpoint.report.making import summarise
from cutpoint.report.summary import Estimate, Learner, Learners, Notice, Summary, Weight
from cutpoint.training import Trained


def summarise_fit(t: Trained, source: str = "") -> Summary:
    """What the terminal, the page and JSON say about a fit: see :func:`cutpoint.training.train`.

    Examples
    --------
    >>> import numpy as np
    >>> from cutpoint.report import summarise_fit
    >>> from cutpoint.training import train
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(500) < 0.3
    >>> t = train({"bad": bad, "gap": rng.normal(size=500) + 2 * bad}, "bad", learner="fisher")
    >>> summary = summarise_fit(t)
    >>> summary.rows, summary.weights[0].column
    (500, 'gap')
    """
    d = t.detector
    asked: dict[str, Any] = {"costs": d.costs} if d.costs else {"maximize": d.objective}
    summary = summarise(
        t.y,
        {d.training.learner: t.scores[d.training.learner]},
        weight=t.weight,
        subject_to=d.limits,
        prior=t.point.question.prior,
        confidence=d.confidence,
        calibrators={d.training.learner: d.calibrator},
        label=f"{d.target} = {d.positive}",
        source=source,
        **asked,
    )
    rows = tuple(
        Learner(
            c.name,
            Estimate(c.value, c.interval),
            None if c.difference is None else Estimate(c.difference, c.difference_interval),
            c.seconds,
            c.note,
        )
        for c in t.compared
    )
    notices = tuple(Notice("training", text) for text in t.warnings)
    return replace(
        summary,
        asked=replace(summary.asked, assumed=t.measure == "auc"),
        notices=(*notices, *summary.notices),
        learners=Learners(t.measure, rows, d.training.learner, t.why) if len(rows) > 1 else None,
        training=_facts(t),
        weights=_weights(t),
    )


def _facts(t: Trained) -> tuple[tuple[str, str], ...]:
    facts = [
        ("learner", t.why),
        ("scores", "each by a line that was fitted to other rows; the detector to all"),
        ("features", f"{len(t.encoding.features):,}, from {len(t.encoding.columns):,} columns"),
    ]
    return (*facts, *(("column", note) for note in t.encoding.notes))


def _weights(t: Trained) -> tuple[Weight, ...]:
    """Of the features, in the units of their columns; those that move the score most first."""
    found = []
    for column, place in zip(t.encoding.columns, t.encoding.places, strict=True):
        scale = getattr(column, "scale", 1.0)
        for k, (name, w) in enumerate(zip(column.features, t.line.w[place].tolist(), strict=True)):
            unit = scale if k == 0 else 1.0
            found.append(Weight(name, w / unit, w))
    return tuple(sorted(found, key=lambda weight: -abs(weight.scaled))[:30])
