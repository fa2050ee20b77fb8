"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Calibrator
from cutscore.calibration.fitting import calibrate_across
from cutscore.calibration.odds import probability
from cutscore.comparison.rows import units
from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, LibraryMissing
from cutscore.core.findings.base import Finding
from cutscore.core.findings.statistics import NotConverged
from cutscore.core.findings.training import (
    ColumnCategory,
    ColumnNumber,
    LearnerEmpty,
    LinePrice,
    NoLearner,
    NothingLearned,
    RowsWeighted,
)
from cutscore.core.html import Card, Facts
from cutscore.core.interval import Interval
from cutscore.core.progress import Report
from cutscore.core.types import Label
from cutscore.decision.choice import OperatingPoint, choose
from cutscore.decision.verdict import Verdict, judge
from cutscore.detector import Detector, Encoding, NumberColumn, Training
from cutscore.detector.artefact import as_text
from cutscore.detector.column_summaries import Limits
from cutscore.linear.line import LinearDetector
from cutscore.linear.rows import Flags, Floats
from cutscore.measures.aim import UNITS, Aim, AimOptions
from cutscore.measures.registry import WORDS
from cutscore.policy.artefact import Policy
from cutscore.policy.parts import Labels, Provenance, is_label
from cutscore.policy.promises import promises_of
from cutscore.sweeps.sweep import Sweep
from cutscore.tables.roles import Roles
from cutscore.training.comparison import (
    Compared,
    Result,
    best_of,
    compare_learners,
    interval_of_auc,
    result_of,
    with_data,
)
from cutscore.training.diagnostics import fold_gap, leaks
from cutscore.training.fitted import Fitted, FittedLine
from cutscore.training.folds import NEEDS_MEMORY, OutOfFold, Plan, out_of_fold
from cutscore.training.registry import LEARNERS, Learner
from cutscore.training.rows import Data, MakeRows, Options, TrainingLabels, column_of

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike


class Plane(NamedTuple):
    """Two columns of numbers by name, their values in some rows, and whether these are positive; of
    what :func:`cutscore.training.train` returns."""

    names: tuple[str, str]
    x1: Floats
    x2: Floats
    positive: Flags


@dataclass(frozen=True, eq=False)
class Trained(Card):
    """A detector, and the evidence for it: see :func:`cutscore.training.train`."""

    detector: Detector
    encoding: Encoding
    """What each column became."""
    line: LinearDetector | None
    """The line of all rows, of these features; None if the learner makes none."""
    measure: str
    """What learners were compared by."""
    compared: tuple[Compared, ...]
    why: str
    """Why this learner was taken, in a sentence."""
    y: Flags
    """True where the row is positive. Rows of weight 0 are left out, here and below."""
    weight: Floats | None
    scores: dict[str, Floats]
    """Of each learner, out of fold: each row's by a model that was fitted to other rows, all on one
    scale; those of a line on that of the line that is shipped."""
    probability: Floats
    """By the chosen one, out of fold as well: each row's by a calibrator that was fitted to the
    scores of the other folds, at the share of positives in all rows."""
    point: OperatingPoint
    """The threshold, and what it does to these scores."""
    warnings: tuple[Finding, ...]
    """What should be known before it is used: findings."""
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

    def _title(self) -> str:
        return "Detector"

    def _facts(self) -> Facts:
        more = [(found.severity.value, found.render()) for found in self.warnings]
        return [*self.detector.facts(), ("why this learner", self.why), *more]


def train(  # noqa: PLR0913 - a question has many sides
    table: TableLike,
    target: str,
    *,
    positive: Label | None = None,
    learner: str = "auto",
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    max_categories: int = 50,
    weight: str | None = None,
    unit: str | None = None,
    folds: int = 5,
    seed: int = 0,
    stream: bool | MakeRows = False,
    report: Report | None = None,
    **asked: Unpack[AimOptions],
) -> Trained:
    """Train a detector on a table, with an honest estimate of its performance on new rows.

    Each row is scored by a model that was fitted to other rows (out-of-fold scores). The curves,
    the calibrator and the threshold are computed from these scores; the final model is fitted to
    all rows. Out-of-fold scores of linear models are rescaled to the scale of the final model;
    those of trees are log-odds already. Probabilities are evaluated by cross-fitting: each comes
    from a calibrator that was fitted to the other folds. The final calibrator is fitted to all
    out-of-fold scores.

    Parameters
    ----------
    table
        A table of :mod:`cutscore.tables`, pyarrow, pandas or polars, or a mapping from names to
        columns.
    target
        The label column.
    positive
        The label to detect. Not needed for 0/1, false/true and -1/1.
    learner
        "auto" compares mean-difference, gaussian, logistic and structural and, where it is
        installed, lightgbm; or the name of one learner: one of these, fisher, least-squares,
        perceptron, xgboost or catboost.
    columns, exclude, categories, numbers, max_categories
        As for :meth:`cutscore.detector.Encoding.fit`.
    weight
        The weight column: a row of weight 2 counts as two rows.
    unit
        The cluster id column (patient, user). Rows of one cluster stay in one fold, and guaranteed
        limits apply to the mean rate over clusters.
    folds, seed
        Number of folds, and random seed for fold assignment.
    stream
        For tables larger than memory: features are written to a temporary file (in ``TMPDIR``, 8
        bytes each), and read from there by each pass of each learner. Of a row, only its label,
        weight, unit and scores stay in memory. The result is the same, except for the last digits
        of sums and for the perceptron, which depends on the order of the rows: in memory they are
        ordered by fold. LIBSVM files are always read into memory.

        A function instead of True encodes the rows elsewhere, given the encoding, the labels and
        the weights: :func:`cutscore.spark.encoded` does so on a cluster.
    report
        Called with the progress: the completed share and a short text.
    **asked
        The objective, as for :func:`cutscore.choose`: ``maximize`` with the name of a measure, or
        ``costs``. Without either, learners are compared by AUC and the threshold maximises balanced
        accuracy. ``subject_to``, ``prior`` and ``confidence`` are as for :func:`cutscore.choose`;
        ``level`` is the confidence level of all intervals, by default 0.95.

    Notes
    -----
    "auto" selects the learner with the best objective on held-out rows; among equally good ones,
    the first in its list, which is the simplest. The values expected on new rows account for that
    selection: learner and threshold are re-chosen without the held-out rows, see
    :meth:`cutscore.OperatingPoint.expect`. If trees are chosen, a note compares them with the best
    linear model. Intervals for differences from the chosen learner use DeLong's method for the AUC;
    those for costs are as in :func:`cutscore.compare`, and others use the bootstrap, with
    thresholds re-chosen in each sample. A learner whose weights are all 0 is never selected.

    Boosted trees use columns as they are, including missing values, and need the table in memory.
    Each fold determines its number of rounds by cross-validation within its training rows; the
    final model uses the median of these.

    LIBSVM files stay sparse; their target is "label". Rows of weight 0 are dropped. With more than
    two labels, the positive one is compared with all others (one-vs-rest).

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
    aim = Aim.asked(**asked)
    if unit is not None:
        aim.needs_one_cut(UNITS)
    if learner != "auto" and learner not in LEARNERS:
        rule = f"be 'auto' or one of {', '.join(LEARNERS)}"
        raise DataError(BadArgument("learner", rule, learner))
    if learner != "auto":
        _check_learner(LEARNERS[learner], stream)
    roles = Roles(target, positive, weight, unit, columns, exclude, categories, numbers)
    tell = report or (lambda _done, _what: None)
    tell(0.0, "reading the table")
    wanted = [
        one
        for name, one in LEARNERS.items()
        if (one.auto and one.installed if learner == "auto" else name == learner)
    ]
    values = not all(one.is_line for one in wanted)
    data = Data.of(table, roles, Options(Limits(max_categories), stream, folds, seed, values))
    plan = Plan(tuple(wanted), aim)
    out = out_of_fold(data, plan, tell)
    if not out.scores:
        name, (note, *_) = next(iter(out.notes.items()))
        raise DataError(NoLearner(name, note.render()))
    tell(0.85, "comparing")
    results = {name: result_of(data, scores, aim) for name, scores in out.scores.items()}
    able, chosen, fitted = _fit_best(data, plan, out, results, tell)
    compared = compare_learners(out, chosen, results, data, aim)
    out.scores[chosen] = out.onto(chosen, fitted)
    made = _decide(data, plan, out, able, chosen)
    warnings = (
        *data.labels.warnings,
        *leaks(data),
        *fold_gap(data, out.scores[chosen], made.sweep.auc),
        *_verdict(data, made).findings,
        *_convergence_note(LEARNERS[chosen], fitted),
        *_line_price(able, results, aim),
    )
    line = fitted.encoded(data) if isinstance(fitted, FittedLine) else None
    encoding = data.encoding if line is not None else _unencoded(data.encoding)
    notes = (*encoding.notes, *_weighted(weight, made.sweep), *warnings)
    tell(1.0, "done")
    return Trained(
        detector=_detector(data, fitted, made, target, notes, folds),
        encoding=encoding,
        line=line,
        measure="auc" if aim.by_auc else aim.goal.name,
        compared=compared,
        why=_why(chosen, results[chosen].value, plan),
        y=data.y,
        weight=data.weight,
        scores=out.scores,
        probability=made.probability,
        point=made.point,
        warnings=warnings,
        unit=unit,
        units=data.unit,
        plane=_plane(data),
    )


def _fit_best(
    data: Data,
    plan: Plan,
    out: OutOfFold,
    results: dict[str, Result],
    tell: Report,
) -> tuple[list[str], str, Fitted]:
    """The learners to choose from, the best of them, and its fit to all rows."""
    able = out.able() if plan.auto else list(out.scores)
    while able:
        chosen = best_of(able, results, plan.aim)
        tell(0.93, f"fitting {chosen} to all rows")
        fitted = LEARNERS[chosen].learn(data.whole, plan.goal, out.fitted[chosen])
        if not fitted.empty:
            return able, chosen, fitted
        able.remove(chosen)  # found nothing in all rows, though in some of them
        out.notes[chosen] = (LearnerEmpty(1, 1),)
    raise DataError(NothingLearned(tuple(out.scores)))


@dataclass(frozen=True)
class _Outcome:
    """What is made of the out-of-fold scores of the chosen learner."""

    learner: str
    sweep: Sweep
    point: OperatingPoint
    auc: Interval | None
    calibrator: Calibrator
    probability: Floats
    compared: int
    """How many learners it was chosen from."""


def _decide(data: Data, plan: Plan, out: OutOfFold, able: list[str], chosen: str) -> _Outcome:
    aim = plan.aim
    scores = out.scores[chosen]
    s = data.sweep(scores)
    if data.unit is not None:
        aim = replace(aim, units=units(data.y, scores, data.unit, weight=data.weight))
    # Learners that are compared by their AUC are not chosen for what the threshold is chosen for.
    together = [chosen] if aim.by_auc else able
    point = with_data(choose(s, aim), data, [out.scores[name] for name in together])
    calibrator, llr = calibrate_across(s, data.y, scores, data.weight, data.fold)
    auc = interval_of_auc(data, scores, s, aim.level)
    p = probability(llr, s.prevalence)
    return _Outcome(chosen, s, point, auc, calibrator, p, len(together))


def _detector(  # noqa: PLR0913, PLR0917 - what a detector is made of
    data: Data,
    fitted: Fitted,
    made: _Outcome,
    target: str,
    notes: tuple[Finding, ...],
    folds: int,
) -> Detector:
    point = made.point
    policy = Policy.from_point(
        point,
        made.calibrator,
        labels=_labels(data.labels, target),
        provenance=Provenance(f"out-of-fold, {folds} folds, {made.learner}"),
        promises=promises_of(point, scores=made.compared),
    )
    return Detector(
        fitted.scorer(data),
        policy,
        Training(
            rows=len(data.y),
            positives=int(np.count_nonzero(data.y)),
            learner=made.learner,
            auc=made.sweep.auc,
            auc_interval=made.auc,
            notes=notes,
            fingerprint=data.encoding.fingerprint,
            importances=fitted.importances(data),
        ),
    )


def _unencoded(encoding: Encoding) -> Encoding:
    """The same, with notes on columns that are taken as they are."""
    notes = tuple(
        replace(note, indicator=False)
        if isinstance(note, ColumnNumber)
        else replace(note, reference="")
        if isinstance(note, ColumnCategory)
        else note
        for note in encoding.notes
    )
    return replace(encoding, notes=notes)


def _why(chosen: str, value: float, plan: Plan) -> str:
    if not plan.auto:
        return f"{chosen} was chosen by the user."
    aim = plan.aim
    what = "AUC" if aim.by_auc else WORDS.get(aim.goal.name, aim.goal.name)
    best = "lowest" if aim.goal.better < 0 and not aim.by_auc else "highest"
    why = f"{chosen} has the {best} cross-validated {what} ({value:.4g})."
    if aim.confidence is not None:
        why += " Learners were compared with the limits on these rows, without the confidence."
    return why


def _check_learner(learner: Learner, stream: bool | MakeRows) -> None:
    """Raise if it was asked for and can't be fitted, before the table is read."""
    if not learner.installed:
        raise DataError(LibraryMissing(f"the learner {learner.name}", learner.name, learner.name))
    if stream and not learner.is_line:
        raise DataError(NoLearner(learner.name, NEEDS_MEMORY))


def _verdict(data: Data, made: _Outcome) -> Verdict:
    """Whether to use the threshold. Of clusters that tell no interval the AUC may be anything."""
    auc = made.auc
    if auc is None and data.labels.unit is not None:
        auc = Interval(0.0, 1.0, made.point.question.level)
    return judge(made.point, auc=auc, score=made.learner)


def _convergence_note(learner: Learner, fitted: Fitted) -> list[Finding]:
    """What to say of a learner that did not get to the end."""
    if fitted.converged or not learner.converges:
        return []
    return [NotConverged(learner.name, hint="Its weights are not optimal.")]


def _line_price(able: Sequence[str], results: dict[str, Result], aim: Aim) -> list[Finding]:
    """What the best line costs beside the best trees, if both were compared."""
    lines = [name for name in able if LEARNERS[name].is_line]
    trees = [name for name in able if not LEARNERS[name].is_line]
    if not lines or not trees:
        return []
    line, other = (best_of(names, results, aim) for names in (lines, trees))
    measure = "auc" if aim.by_auc else aim.goal.name
    return [LinePrice(measure, line, results[line].value, other, results[other].value)]


# A picture can show so many rows apart.
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


def _weighted(name: str | None, s: Sweep) -> list[Finding]:
    """For the record: shares of rows are not what rates and the prior are of."""
    return [] if name is None else [RowsWeighted(name, s.prevalence)]


def _labels(labels: TrainingLabels, target: str) -> Labels:
    """What the classes are called; the negative one if there is just one."""
    pair = labels.positive, labels.other
    if all(map(is_label, pair)):
        return Labels(*pair, target)
    return Labels(as_text(labels.positive), column=target)
