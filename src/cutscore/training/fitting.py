"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._html import fact_table
from cutscore._rows import Flags, Floats
from cutscore._sweep import Sweep, sweep
from cutscore.calibration.fitting import calibrate_across
from cutscore.calibration.odds import probability
from cutscore.decision import OperatingPoint, expectation
from cutscore.detector import Detector, Encoding, NumberColumn, Training
from cutscore.detector.artefact import as_text, is_label
from cutscore.errors import DataError
from cutscore.linear.detector import LinearDetector
from cutscore.objectives import (
    Costs,
    as_limits,
    as_objective,
    check_costs,
    check_level,
    check_prior,
)
from cutscore.selection import Expected
from cutscore.training.comparing import (
    Compared,
    Question,
    chosen_of,
    compared_of,
    estimates_of,
    with_choice,
)
from cutscore.training.data import Data, MakeRows, Roles, column_of
from cutscore.training.folds import Report, note_of, out_of_fold
from cutscore.training.known import AUTO, learners
from cutscore.training.remarks import (
    apart,
    learned_nothing,
    unfinished,
    useless,
    warnings_of,
)


class Plane(NamedTuple):
    """Two columns of numbers by name, their values in some rows, and whether these are positive; of
    what :func:`cutscore.training.train` returns."""

    names: tuple[str, str]
    x1: Floats
    x2: Floats
    positive: Flags


@dataclass(frozen=True, eq=False)
class Trained:
    """A detector, and the evidence for it: see :func:`cutscore.training.train`."""

    detector: Detector
    encoding: Encoding
    """What each column became."""
    line: LinearDetector
    """The line of all rows, of these features."""
    measure: str
    """What learners were compared by."""
    compared: tuple[Compared, ...]
    why: str
    """Why this learner was taken, in a sentence."""
    y: Flags
    """True where the row is positive. Rows of weight 0 are left out, here and below."""
    weight: Floats | None
    scores: dict[str, Floats]
    """Of each learner, out of fold: each row's by a line that was fitted to other rows, all on one
    scale; those of the chosen one on that of the line that is shipped."""
    probability: Floats
    """By the chosen one, out of fold as well: each row's by a calibrator that was fitted to the
    scores of the other folds, at the share of positives in all rows."""
    point: OperatingPoint
    """The threshold, and what it does to these scores."""
    warnings: tuple[str, ...]
    """What should be known before it is used."""
    unit: str | None = None
    """The column of units, if there is one."""
    units: NDArray[Any] | None = None
    """The unit of each row."""
    plane: Plane | None = None
    """Of a detector of two columns of numbers: these columns, in some of the rows."""

    @property
    def learner(self) -> str:
        """The chosen one."""
        return self.detector.training.learner

    def __repr__(self) -> str:
        return f"{self.detector!r}\n{self.why}"

    def _repr_html_(self) -> str:
        more = [("why this learner", self.why), *(("mind", text) for text in self.warnings)]
        return fact_table("Trained", [*self.detector.facts(), *more])


def train(  # noqa: PLR0913 - a question has many sides
    table: Any,
    target: str,
    *,
    positive: Any = None,
    learner: str = "auto",
    maximize: Any = None,
    costs: Costs | None = None,
    subject_to: Any = (),
    prior: float | None = None,
    confidence: float | None = None,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    max_categories: int = 50,
    weight: str | None = None,
    unit: str | None = None,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    stream: bool | MakeRows = False,
    report: Report | None = None,
) -> Trained:
    """Learn a detector from a table, and say honestly what it will do.

    Each row is scored by a line that was fitted to other rows. From these scores come the curves,
    the calibrator and the threshold; the line that is shipped is fitted to all rows, and the scores
    of all folds are brought to its scale. How good the probabilities are is told by calibrators
    that were fitted to the scores of the other folds; the one that is shipped is fitted to all.

    Parameters
    ----------
    table
        A table of :mod:`cutscore.tables`, pyarrow, pandas or polars, or a mapping from names to
        columns.
    target
        The column of labels.
    positive
        The label to detect. Not needed for 0/1, false/true and -1/1.
    learner
        "auto" compares mean-difference, gaussian, logistic and structural; or one by its name, of
        these and fisher, least-squares and perceptron.
    maximize, costs
        What to aim at, as the objective of :func:`cutscore.choose`: a measure by name, or costs.
        Of neither, learners are compared by their AUC and the threshold is best for the balanced
        rate.
    subject_to, prior, confidence
        As for :func:`cutscore.choose`.
    columns, exclude, categories, numbers, max_categories
        As for :meth:`cutscore.detector.Encoding.fit`.
    weight
        A column of weights: a row of weight 2 counts as two rows.
    unit
        A column of units (patient, user): rows of one unit are never in different folds, and limits
        with a confidence are on the mean rate of units.
    folds, seed
        How many folds, and the seed that deals the rows.
    level
        Of all intervals.
    stream
        For tables larger than memory: features are written to a temporary file (in ``TMPDIR``, 8
        bytes each), and read from there by each pass of each learner. Of a row, only its label,
        weight, unit and scores stay in memory. The result is the same, but for the last digits
        of sums. A file in the format of LIBSVM is in memory nevertheless.

        A function instead of True makes the rows of features somewhere else, of the encoding and of
        what labels and weights are: :func:`cutscore.spark.encoded` makes them on a cluster.
    report
        Told about progress.

    Notes
    -----
    "auto" takes the learner that does best on rows it was not fitted to, in what is asked for; of
    equally good ones the first in its list, the simplest. What is expected of it on new rows knows
    of that choice: learner and threshold are chosen again without the rows that they are judged on,
    see :meth:`cutscore.OperatingPoint.expect`. Intervals of differences to the chosen one are by
    DeLong's method for the AUC; those of costs are as in :func:`cutscore.compare`, and others by
    the bootstrap, in which each replicate chooses its cuts anew. A learner whose weights are all 0
    is never taken.

    Files in the format of LIBSVM stay sparse; their target is "label". Rows of weight 0 are left
    out. Of more than two labels the positive one is told from all the others.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.training import train
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(2000) < 0.1
    >>> table = {"bad": bad, "noise": rng.normal(size=2000), "gap": rng.normal(size=2000) + 2 * bad}
    >>> t = train(table, "bad", costs=cs.Costs(fp=1, fn=10))
    >>> t.learner
    'gaussian'
    >>> t.detector.training.auc > 0.9
    True
    """
    known = learners(maximize)
    if learner != "auto" and learner not in known:
        raise DataError(
            f"learner must be 'auto' or one of {', '.join(known)}; it is {shown(learner)}."
        )
    if costs is not None and maximize is not None:
        raise DataError("there must be one aim: give costs or maximize, not both.")
    question = Question(
        maximize if costs is None else check_costs(costs),
        tuple(limit.text for limit in as_limits(subject_to)),
        None if prior is None else check_prior(prior),
        confidence,
    )
    check_level(level)
    tell = report or (lambda _done, _what: None)
    tell(0.0, "reading the table")
    roles = Roles(
        target, positive, weight, unit, columns, exclude, categories, numbers, max_categories
    )
    data = Data.sparse(table, roles) if _is_sparse(table) else Data.read(table, roles, stream)
    names = AUTO if learner == "auto" else (learner,)
    fold = data.folds(folds, seed)
    out = out_of_fold(data, {n: known[n] for n in names}, fold, tell)
    if not out.scores:
        name, note = next(iter(out.notes.items()))
        raise DataError(f"no learner could be fitted; {name}: {note}")
    tell(0.85, "comparing")
    able = list(out.scores) if learner != "auto" else out.able()
    estimates = estimates_of(out, data, question, level)
    while True:
        if not able:
            raise DataError(
                "no learner told the classes apart: all weights are 0. The columns know nothing of "
                f"{shown(target)}; use others."
            )
        chosen, why = chosen_of(out, able, estimates, data, question)
        tell(0.93, f"fitting {chosen} to all rows")
        fit = known[chosen](data.rows())
        if fit.detector.w.any():
            break
        if learner != "auto":
            raise learned_nothing(chosen, question)
        able.remove(chosen)  # found nothing in all rows, though in some of them
        out.notes[chosen] = note_of(0, 0, 1)
    if learner == "auto" and confidence is not None and question.limits:
        why += " They were compared under limits on these rows alone, without the confidence."
    out.scores[chosen] = out.onto(chosen, fit.detector)
    compared = compared_of(out, chosen, estimates, data, question, level)
    s = sweep(data.y, out.scores[chosen], data.weight, squares=data.weight is not None)
    rows = None if data.unit is None else (data.y, out.scores[chosen], data.unit)
    # Learners that are compared by their AUC are not chosen for what the threshold is chosen for.
    together = able if question.objective is not None else [chosen]
    point = with_choice(question.point(s, rows=rows), data, [out.scores[name] for name in together])
    calibrator, llr = calibrate_across(s, data.y, out.scores[chosen], data.weight, fold)
    auc = Question(None, (), None, None).interval(data, out.scores[chosen], level)
    warnings = (
        *data.warnings,
        *warnings_of(data, s),
        *apart(data, fold, out.scores[chosen], s.auc),
        *useless(s, auc, point),
        *unfinished(chosen, fit),
    )
    line = data.encoding.from_raw(fit.detector) if data.raw else fit.detector
    detector = Detector.of(
        data.encoding,
        line,
        calibrator=calibrator,
        prior=question.prior if question.prior is not None else s.prevalence,
        threshold=point.threshold,
        costs=costs,
        objective=point.objective,
        limits=question.limits,
        confidence=confidence if question.limits else None,
        target=target,
        positive=as_text(data.label),
        labels=_both(data),
        training=Training(
            rows=len(data.y),
            positives=int(np.count_nonzero(data.y)),
            learner=chosen,
            auc=s.auc,
            auc_interval=auc,
            confusion=point.confusion,
            expected=_expected(point, level),
            notes=(*data.encoding.notes, *_weighted(weight, s), *warnings),
        ),
    )
    tell(1.0, "done")
    return Trained(
        detector,
        data.encoding,
        line,
        "auc" if question.objective is None else as_objective(question.objective).name,
        compared,
        why,
        data.y,
        data.weight,
        out.scores,
        probability(llr, s.prevalence),
        point,
        warnings,
        unit,
        data.unit,
        _plane(data),
    )


# So many rows can still be told apart in a picture.
_DRAWN = 500


def _plane(data: Data) -> Plane | None:
    """Rows at equal steps, none of whose two numbers is missing; None for other columns."""
    columns, places = data.encoding.columns, data.encoding.places
    if len(columns) != 2 or not all(
        isinstance(c, NumberColumn) and c.kind == "number" for c in columns
    ):
        return None
    n = len(data.y)
    at = np.linspace(0, n - 1, min(n, _DRAWN)).astype(np.intp)
    some, values = data.some(at), []
    for column, place in zip(columns, places, strict=True):
        assert isinstance(column, NumberColumn)
        first, *missing = (column_of(some, j) for j in range(*place.indices(data.features)))
        x = first if data.raw else column.mean + column.scale * first
        values.append(np.where(missing[0] > 0, np.nan, x) if missing else x)
    x1, x2 = values
    there = np.isfinite(x1) & np.isfinite(x2)
    return Plane((columns[0].name, columns[1].name), x1[there], x2[there], data.y[at][there])


def _expected(point: OperatingPoint, level: float) -> dict[str, Expected]:
    """What to expect on new rows of what was aimed at, and of the usual rates."""
    wanted: dict[str, Any] = {point.objective: point.question.goal}
    for name in ("recall", "fpr", "precision", "flagged_rate"):
        wanted.setdefault(name, name)
    found = {name: expectation(point, measure, level) for name, measure in wanted.items()}
    return {name: e for name, e in found.items() if e is not None}


def _weighted(name: str | None, s: Sweep) -> list[str]:
    """For the record: shares of rows are not what rates and the prior are of."""
    if name is None:
        return []
    share = f"{100 * s.prevalence:.4g} %"
    return [f"Rows count by {shown(name)}: of their weight {share} is positive."]


def _both(data: Data) -> tuple[Any, Any] | None:
    """The negative and the positive label, if there are just these two."""
    pair = (data.other, data.label)
    return pair if all(map(is_label, pair)) else None


def _is_sparse(table: Any) -> bool:
    return bool(getattr(table, "is_sparse", False))
