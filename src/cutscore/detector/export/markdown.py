"""A model card in Markdown: the detector, its training data and its limits."""

from __future__ import annotations

import re

from cutscore.core.findings.base import PAGE
from cutscore.decision.choice import natural
from cutscore.detector.artefact import Detector
from cutscore.detector.model_file import FORMAT
from cutscore.detector.terms import NumberTerm, Term
from cutscore.detector.values import in_words
from cutscore.measures.confusion import Confusion
from cutscore.measures.measure import WORDS
from cutscore.policy.export.card import costs_in_words as _in_words
from cutscore.policy.export.card import table as _table
from cutscore.policy.export.card import text
from cutscore.policy.export.card import total as _total

_MOST_LEVELS = 12


def to_markdown(detector: Detector, *, title: str | None = None) -> str:
    """A model card in Markdown.

    Names and notes from the data are shown as text, whatever they contain.

    Parameters
    ----------
    detector : Detector
        The detector.
    title : str, optional
        The heading. Default: "Detector of column = label".

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding
    >>> from cutscore.detector.export import to_markdown
    >>> e = Encoding.fit({"age": [20, 40, 60]})
    >>> linear = cs.LinearDetector(np.array([1.0]), 0.5)
    >>> d = Detector.of(e, linear, calibrator=cs.Affine(1.0, 0.0),
    ...                 aim=cs.Aim(prior=0.5), threshold=1.0, target="ill", positive="yes")
    >>> print(to_markdown(d).splitlines()[0])
    # Detector of ill = yes
    """
    d = detector
    target = "positives" if d.target is None else f"{d.target} = {d.positive}"
    parts = [
        f"# {text(title or f'Detector of {target}')}",
        _what(d, target),
        _point(d),
        _data(d),
        _columns(d),
        _limits(d),
        f"Made by {text(d.library)}; format {FORMAT}.",
    ]
    return "\n\n".join(parts) + "\n"


def _what(d: Detector, target: str) -> str:
    a = d.aim
    aim = [f"for the best {a.goal.name}"]
    aim += [f"subject to {' and '.join(a.limit_texts)}"] if a.limit_texts else []
    aim += [f"with {100 * a.confidence:g} % confidence"] if a.confidence else []
    chosen = "" if d.given else f" The threshold was chosen {' '.join(aim)}."
    costs = f" {_in_words(a.costs)}." if a.costs else ""
    return (
        f"A linear detector of **{text(target)}**: the score of a case is {d.base:.6g} plus what "
        f"each column adds, and the rule is to **{text(d.rule)}**.{text(chosen)}{text(costs)}\n\n"
        f"Scores become log-likelihood ratios: {text(d.calibration)}. Probabilities are those "
        f"where {100 * d.prior:.4g} % of the cases are positive."
    )


def _point(d: Detector) -> str:
    lines = ["## What it does"]
    t = d.training
    if t.confusion is None:
        lines.append("This threshold has not been evaluated on held-out rows.")
    else:
        if t.rates is not None:
            recall, fpr = t.rates
            told = natural(Confusion(recall, fpr, 1 - recall, 1 - fpr), d.prior)
            lines.append(f"{told[0].upper()}{told[1:]}.")
        if t.expected:
            rows = [[text(WORDS.get(name, name)), repr(e)] for name, e in t.expected.items()]
            lines.append("To expect on new rows:\n\n" + _table(["", ""], rows))
        c = t.confusion
        lines.append(
            "On cross-fitted scores of the training rows, on which the threshold was chosen:\n\n"
            + _table(
                ["", "positive", "negative"],
                [
                    ["flagged", _total(c.tp), _total(c.fp)],
                    ["not flagged", _total(c.fn), _total(c.tn)],
                ],
            )
        )
    if t.auc is not None:
        sure = f", {t.auc_interval!r}" if t.auc_interval else ""
        lines.append(f"AUC, cross-fitted: {t.auc:.4f}{sure}.")
    return "\n\n".join(lines)


def _data(d: Detector) -> str:
    t = d.training
    lines = ["## Data"]
    if t.rows:
        learner = f" by {text(t.learner)}" if t.learner else ""
        lines.append(
            f"Trained{learner} on {t.rows:,} rows, of which {t.positives:,} "
            f"({100 * t.positives / t.rows:.3g} %) are positive."
        )
    if d.fingerprint:
        lines.append(f"Fingerprint of the rows: `{re.sub('[^0-9A-Za-z:]', '', d.fingerprint)}`.")
    if t.notes:
        lines.append("\n".join(f"- {text(note.render(PAGE))}" for note in t.notes))
    return "\n\n".join(lines)


def _columns(d: Detector) -> str:
    rows: list[list[str]] = []
    for term in sorted(d.terms, key=lambda term: -term.size):
        rows += _rows(term)
    return (
        "## Columns\n\nContributions to the score relative to an average row, the most important "
        "first.\n\n" + _table(["column", "value", "adds", "share of rows"], rows)
    )


def _rows(term: Term) -> list[list[str]]:
    name = text(term.column.name)
    if isinstance(term, NumberTerm):
        c = term.column
        date = c.kind == "date"
        start = in_words(c.mean, c.kind)
        spread = f"{c.scale:.4g} days" if date else f"{c.scale:.4g}"
        value = f"each {'day' if date else 'unit'} above {start} (standard deviation {spread})"
        rows = [[name, value, _signed(term.weight), _share(1 - c.missing)]]
        return [
            *rows,
            *([[name, "missing", _signed(term.missing), _share(c.missing)]] if c.missing else []),
        ]
    states = [*map(text, term.column.levels), "*other*", "*missing*"]
    rows = [
        [name, state, _signed(weight), _share(share)]
        for state, weight, share in zip(
            states, term.table.tolist(), term.column.share.tolist(), strict=True
        )
        if share or weight
    ]
    if len(rows) > _MOST_LEVELS:
        more = len(rows) - _MOST_LEVELS
        rows = sorted(rows, key=lambda row: -abs(float(row[2].replace("−", "-"))))[:_MOST_LEVELS]
        rows.append([name, f"{more:,} more levels", "", ""])
    return rows


def _signed(x: float) -> str:
    return f"{x:+.4g}".replace("-", "−", 1) if x < 0 else f"{x:+.4g}"


def _share(x: float) -> str:
    return f"{100 * x:.3g} %"


def _limits(d: Detector) -> str:
    lines = [
        "## Limits of use",
        "- It uses these columns only, and their effects are additive (no interactions).",
        "- Figures hold for cases like the training rows. New levels count as the average level, "
        "and so do missing values in columns without any in training.",
        f"- Probabilities assume that {100 * d.prior:.4g} % of the cases are positive. Where that "
        "differs, pass the prior that applies.",
    ]
    if 0 < d.training.positives < 100:
        lines.append("- It was trained on few positives: sensitivity and precision are uncertain.")
    return "\n".join([lines[0], "", *lines[1:]])
