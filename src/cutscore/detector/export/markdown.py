"""A model card in Markdown: the detector, its training data and its limits."""

from __future__ import annotations

import re

from cutscore.core.findings.base import PAGE
from cutscore.core.numbers import estimate_text
from cutscore.decision.words import natural
from cutscore.detector.artefact import Detector, as_text
from cutscore.detector.model_file import FORMAT
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import LinearScorer
from cutscore.detector.terms import NumberTerm, Term
from cutscore.detector.values import in_words
from cutscore.measures.confusion import Confusion
from cutscore.policy.artefact import calibration_words
from cutscore.policy.export.card import objective_in_words, text, to_card
from cutscore.policy.export.card import table as _table
from cutscore.policy.export.card import total as _total
from cutscore.policy.words import promise_name, promise_text

_MOST_LEVELS = 12


def to_markdown(detector: Detector, *, title: str | None = None) -> str:
    """A model card in Markdown.

    Names and notes from the data are shown as text, whatever they contain.

    Parameters
    ----------
    detector : Detector
        The detector.
    title : str, optional
        The heading. Default: "Model for column = label".

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import to_markdown
    >>> from cutscore.policy import Labels
    >>> table = {"age": [20, 40, 60, 80]}
    >>> linear = cs.LinearDetector(np.array([1.0]), 0.5)
    >>> scorer = LinearScorer.of(Encoding.fit(table), linear)
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(table))
    >>> ill = Labels("yes", column="ill")
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0), labels=ill)
    >>> d = Detector(scorer, policy)
    >>> print(to_markdown(d).splitlines()[0])
    # Model for ill = yes
    """
    d = detector
    if isinstance(d.scorer, ColumnScorer):
        return to_card(d.policy, title=title)
    labels = d.policy.labels
    target = "positives"
    if labels.column is not None:
        target = f"{labels.column} = {'' if labels.positive is None else as_text(labels.positive)}"
    parts = [
        f"# {text(title or f'Model for {target}')}",
        _what(d, target),
        _point(d),
        _data(d),
        _columns(d),
        _limits(d),
        f"Made by {text(d.policy.provenance.library)}; format {FORMAT}.",
    ]
    return "\n\n".join(parts) + "\n"


def _what(d: Detector, target: str) -> str:
    policy = d.policy
    how = f"A model for **{text(target)}**"
    if isinstance(d.scorer, LinearScorer):
        how = (
            f"A linear model for **{text(target)}**: the score of a case is {d.scorer.base:.6g} "
            "plus what each column adds"
        )
    words = calibration_words(policy.needs_calibrator("a card"), policy.reverse)
    return (
        f"{how}, and the rule is to **{text(policy.rule)}**. "
        f"{text(objective_in_words(policy))}\n\n"
        f"Scores become log-likelihood ratios: {text(words)}. "
        f"Probabilities assume a prevalence of {100 * policy.prior:.4g} %."
    )


def _point(d: Detector) -> str:
    t, promises = d.training, d.policy.promises
    lines = ["## Performance"]
    if "recall" in promises and "fpr" in promises:
        recall, fpr = promises["recall"].value, promises["fpr"].value
        frequencies = natural(Confusion(recall, fpr, 1 - recall, 1 - fpr), d.policy.prior)
        lines.append(f"Expected {frequencies}.")
    if promises:
        rows = [[text(promise_name(name)), promise_text(name, e)] for name, e in promises.items()]
        lines.append("Expected on new data:\n\n" + _table(["", ""], rows))
    c = d.policy.confusion
    made = text(d.policy.provenance.scores)
    lines.append(
        f"On the scores the threshold was chosen on ({made}):\n\n"
        + _table(
            ["", "positive", "negative"],
            [
                ["flagged", _total(c.tp), _total(c.fp)],
                ["not flagged", _total(c.fn), _total(c.tn)],
            ],
        )
    )
    if t.auc is not None:
        lines.append(f"Cross-validated AUC: {estimate_text(t.auc, t.auc_interval)}.")
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
    if t.fingerprint:
        lines.append(f"SHA-256 of the rows: `{re.sub('[^0-9A-Za-z:]', '', t.fingerprint)}`.")
    if t.notes:
        lines.append("\n".join(f"- {text(note.render(PAGE))}" for note in t.notes))
    return "\n\n".join(lines)


def _columns(d: Detector) -> str:
    rows: list[list[str]] = []
    if not isinstance(d.scorer, LinearScorer):
        return "## Columns\n\n" + "\n".join(f"- {text(name)}" for name in d.columns)
    for term in sorted(d.scorer.terms, key=lambda term: -term.size):
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
    lines = ["## Limitations"]
    if isinstance(d.scorer, LinearScorer):
        lines += [
            "- Only these columns are used, and their effects are additive (no interactions).",
            "- Unseen levels contribute zero, as do missing values in columns that had none in "
            "training.",
        ]
    lines += [
        "- These estimates apply to cases similar to the training rows.",
        "- If the prevalence differs, pass the prior that applies.",
    ]
    if 0 < d.training.positives < 100:
        lines.append("- It was trained on few positives: recall and precision are uncertain.")
    return "\n".join([lines[0], "", *lines[1:]])
