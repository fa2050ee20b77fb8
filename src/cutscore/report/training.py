"""The summary of a fit: the summary of its out-of-fold scores, and how it came about."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import numpy as np

from cutscore.core.findings.base import shown
from cutscore.core.findings.training import ColumnUnused
from cutscore.core.names import quote_if_spaced
from cutscore.detector import LinearScorer
from cutscore.detector.artefact import as_text
from cutscore.report.analysis import ScoreEvidence, summary_of
from cutscore.report.policies import importances_of, weights_of
from cutscore.report.summary import Estimate, Learner, Learners, ProbabilityGrid, Summary
from cutscore.sweeps.sweep import sweep
from cutscore.training import Trained

# So many unused columns are named in one line too.
_MANY = 12


def summarise_fit(t: Trained, source: str = "") -> Summary:
    """What the terminal, the page and JSON say about a fit: see :func:`cutscore.training.train`.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.report import summarise_fit
    >>> from cutscore.training import train
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(500) < 0.3
    >>> t = train({"bad": bad, "gap": rng.normal(size=500) + 2 * bad}, "bad", learner="fisher")
    >>> summary = summarise_fit(t)
    >>> summary.rows, summary.weights[0].column
    (500, 'gap')
    """
    d = t.detector
    evidence = ScoreEvidence(
        t.learner,
        t.point,
        d.training.auc_interval,
        d.policy.calibrator,
        forecast=sweep(t.y, t.probability, t.weight, squares=t.weight is not None),
        clustered=t.unit is not None,
    )
    labels = d.policy.labels
    label = f"{quote_if_spaced(labels.column)} = {quote_if_spaced(as_text(labels.positive))}"
    aim = replace(t.point.question, units=None)
    summary = summary_of([evidence], aim, rows=len(t.y), label=label, source=source)
    rows = tuple(
        Learner(
            c.name,
            Estimate(c.value, c.interval),
            None if c.difference is None else Estimate(c.difference, c.difference_interval),
            c.seconds,
            " ".join(found.render() for found in c.notes),
        )
        for c in t.compared
    )
    said = {found.code for found in t.warnings}
    return replace(
        summary,
        # What the training says is not said again.
        notices=(*t.warnings, *(found for found in summary.notices if found.code not in said)),
        learners=Learners(t.measure, rows, d.training.learner, _why(t)) if len(rows) > 1 else None,
        training=_facts(t),
        weights=weights_of(d.scorer) if isinstance(d.scorer, LinearScorer) else (),
        importances=importances_of(d),
        grid=_grid(t),
    )


# Points of the grid along each column.
_GRID = 49


def _grid(t: Trained) -> ProbabilityGrid | None:
    """The probability over two columns of numbers, from the lowest to the highest value drawn."""
    if t.plane is None or not len(t.plane.x1):
        return None
    names, x1, x2, positive = t.plane
    ends = [(float(x.min()), float(x.max())) for x in (x1, x2)]
    if not all(isfinite(high - low) and high > low for low, high in ends):
        return None
    pads = [0.04 * (high - low) for low, high in ends]
    a, b = (
        np.linspace(low - pad, high + pad, _GRID)
        for (low, high), pad in zip(ends, pads, strict=True)
    )
    across, up = (grid.ravel() for grid in np.meshgrid(a, b))
    p = t.detector.probability(dict(zip(names, (across, up), strict=True)))
    return ProbabilityGrid(names, a, b, p.reshape(_GRID, _GRID), (x1, x2, positive))


def _why(t: Trained) -> str:
    if t.unit is None:
        return t.why
    return f"{t.why} Confidence intervals treat clusters as independent, not rows."


def _facts(t: Trained) -> tuple[tuple[str, str], ...]:
    facts = [
        ("learner", _why(t)),
        (
            "scores",
            "out-of-fold: each row was scored and calibrated by models fitted without it. The "
            "final model was fitted to all rows.",
        ),
    ]
    if t.line is not None:
        features, columns = len(t.encoding.features), len(t.encoding.columns)
        facts.append(("features", f"{features:,}, from {columns:,} columns"))
    if t.unit is not None:
        facts.append(
            (
                "cluster",
                f"{shown(t.unit)}: rows with the same id stay in one fold; not used as a feature",
            )
        )
    # Those that are not used first: a terminal shows a few, and nobody misses what is not said.
    unused = [note for note in t.encoding.notes if isinstance(note, ColumnUnused)]
    if len(unused) > _MANY:
        facts.append(("not used", ", ".join(shown(note.column) for note in unused)))
    used = (note for note in t.encoding.notes if not isinstance(note, ColumnUnused))
    return (*facts, *(("column", note.render()) for note in (*unused, *used)))
