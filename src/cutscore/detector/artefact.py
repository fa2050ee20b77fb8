"""The detector: a scorer and a policy. From a table's rows to scores, likelihood ratios,
probabilities and decisions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Chain
from cutscore.core.errors import DataError
from cutscore.core.files import written_aside
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, Shown, shown
from cutscore.core.findings.models import ColumnReserved
from cutscore.core.findings.rows import NoRows
from cutscore.core.html import Card, Facts
from cutscore.core.interval import Interval
from cutscore.core.json import Count
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers.base import Scorer
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.values import kind_of, scores
from cutscore.measures.aim import GoalLike
from cutscore.measures.costs import Costs
from cutscore.measures.limits import LimitsLike
from cutscore.policy.artefact import Policy
from cutscore.policy.groups import UNKNOWN
from cutscore.policy.parts import Threshold
from cutscore.sweeps.sweep import Floats
from cutscore.tables.literals import parsed

if TYPE_CHECKING:
    import pyarrow as pa

    from cutscore.tables.frames import TableLike


@dataclass(frozen=True)
class Training:
    """How a :class:`cutscore.detector.Detector` was trained.

    Parameters
    ----------
    rows, positives
        How many rows there were.
    learner
        The learner that produced the scorer.
    auc
        The AUC of out-of-fold scores, with its interval.
    notes
        Findings about the encoding of the columns, and warnings.
    fingerprint
        A hash of the training rows: see :meth:`cutscore.detector.Encoding.fit`.
    importances
        For trees: the mean absolute SHAP value of each column over the training rows, computed by
        the library that trained them.
    """

    rows: Count
    positives: Count
    learner: str = ""
    auc: float | None = None
    auc_interval: Interval | None = None
    notes: tuple[Finding, ...] = ()
    fingerprint: str = ""
    importances: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Detector(Card):
    """A scorer and a policy: the artefact that decides about rows of a table.

    row → scorer → score → calibrator → LLR → + ln clr → probability; flagged by the policy's
    threshold. It is saved as readable JSON.

    Parameters
    ----------
    scorer
        Maps rows to scores.
    policy
        Maps scores to log-likelihood ratios, probabilities and decisions; contains the evidence.
    training
        What it was learned from.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> table = {"age": [30, 40, 50, 60], "colour": ["red", "blue", "red", "red"]}
    >>> e = Encoding.fit(table, min_rows=1)
    >>> line = cs.LinearDetector(np.array([2.0, -1.0]), 0.5)  # by any learner, from e.transform
    >>> scorer = LinearScorer.of(e, line)
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(table))
    >>> d = Detector(scorer, cs.Policy.choose(s, "youden", calibrator=cs.Affine(1.0, 0.0)))
    >>> d.apply({"age": [65, None], "colour": ["blue", "green"]}).to_pylist()[0]["why"]
    'age +3.6, colour = blue -0.75'
    >>> d.scores({"age": [65, None], "colour": ["blue", "green"]}).round(3)
    array([3.078, 0.25 ])
    >>> Detector.from_json(d.to_json()).to_json() == d.to_json()
    True
    """

    scorer: Scorer
    policy: Policy
    training: Training = field(default_factory=lambda: Training(0, 0))

    def __post_init__(self) -> None:
        if isinstance(self.scorer, ColumnScorer):
            if self.scorer.column != self.policy.score:
                rule = f"be that of the policy, {shown(self.policy.score)}"
                raise DataError(BadArgument("column", rule, self.scorer.column))
            return
        self.policy.cuts.needs_common("one threshold for the scores of a model")
        c = self.policy.calibrator
        if c is None:
            return
        first = c.steps[0] if isinstance(c, Chain) else c
        if first.domain != (-inf, inf):
            hint = "Calibrate scores, not probabilities."
            kind = Shown(f"a {type(first).__name__}")
            raise DataError(BadArgument("calibrator", "map any number", kind, hint))

    @classmethod
    def of_policy(cls, policy: Policy) -> Detector:
        """The detector of a policy alone, whose score is a column of the table."""
        return cls(ColumnScorer(policy.score), policy)

    @property
    def columns(self) -> list[str]:
        """The columns it needs."""
        return list(dict.fromkeys([*self.scorer.columns, *self._decision_columns]))

    @property
    def _decision_columns(self) -> list[str]:
        """The columns that decisions need besides the score: that of groups, and of costs."""
        group, costs = self._group_column, self.policy.aim.costs
        names = [] if group is None else [group]
        return names if costs is None else [*names, *costs.columns]

    @property
    def _group_column(self) -> str | None:
        """The column of groups that have thresholds of their own."""
        p = self.policy
        return p.groups.column if p.groups is not None and p.cuts.groups else None

    def scores(self, data: TableLike) -> Floats:
        """The score of each row of a table; NaN where a column that has the score has none."""
        return self.scorer.scores(data)

    def llr(self, data: TableLike) -> Floats:
        """The log-likelihood ratio of each row."""
        return self.policy.llr(self.scores(data))

    def probability(self, data: TableLike, prior: float | None = None) -> Floats:
        """P(positive) of each row, where the share ``prior`` is positive; its own if not given."""
        return self.policy.probability(self.scores(data), prior)

    def decide(self, data: TableLike) -> NDArray[Any]:
        """Whether to flag each row; of two thresholds 0 to pass, 1 to review, 2 to block it."""
        group = self._group_column
        if self.policy.row_costs is not None:
            names = self._decision_columns
            parts = list(self.scorer.scored(data, names))
            scores = np.concatenate([part.score for part in parts])
            found = [numbers_of(part.batch, names) for part in parts]
            columns = {name: np.concatenate([one[name] for one in found]) for name in names}
            return self.policy.decide(scores, columns=columns)
        if group is None:
            return self.policy.decide(self.scores(data))
        parts = list(self.scorer.scored(data, [group]))
        groups = [name for part in parts for name in part.batch.column(group).to_pylist()]
        return self.policy.decide(np.concatenate([part.score for part in parts]), groups)

    def apply(self, data: TableLike, *, keep: Sequence[str] = (), reasons: int = 3) -> Any:
        """Decide about each row of a table, and say why.

        Parameters
        ----------
        data
            A table of :mod:`cutscore.tables`, pyarrow, pandas or polars, or a mapping from names
            to columns. Columns that are not needed do no harm.
        keep
            Columns of it to put in front: by default none, where the command keeps all. The rows
            stay in their order; ``keep=frame.columns`` keeps all of a frame, ``keep=table.names``
            of a table of :mod:`cutscore.tables`.
        reasons
            How many of the largest contributions to name; 0 for no column ``why``.

        Returns
        -------
        pyarrow.Table
            score; llr; probability, at the policy's prior; decision; and why, such as
            "income -1.3, colour = red +0.8": what moved the score of the row most, compared with an
            average row. Where the score is a column of the table already: llr, probability and
            decision alone, and null where the score is missing. A policy of normal rows alone has
            neither llr nor probability.

        Raises
        ------
        DataError
            If most scores are so far outside of the range of the evidence that they must be on
            another scale.
        """
        import pyarrow as pa

        batches = list(self.apply_batches(data, keep=keep, reasons=reasons))
        if not batches:
            raise DataError(NoRows())
        return pa.Table.from_batches(batches)

    def apply_batches(
        self,
        data: TableLike,
        *,
        keep: Sequence[str] = (),
        reasons: int = 3,
        seen: Novelty | None = None,
    ) -> Iterator[Any]:
        """As :meth:`apply`, some rows at a time. ``seen``, made by :meth:`watch`, counts what no
        training row had."""
        import pyarrow as pa

        keep = self.check_kept(keep, reasons)
        count = self.watch() if seen is None else seen
        rows = 0
        group = self._group_column
        read = list(dict.fromkeys([*keep, *self._decision_columns]))
        parts = self.scorer.scored(data, read, explain=bool(reasons), seen=seen)
        for batch, score, contributions in parts:
            count.watch_scores(score)
            rows += len(score)
            columns = {name: batch.column(name) for name in keep}
            columns |= self._decided(score)
            if group is not None:
                columns["decision"] = self._by_group(score, batch.column(group), count)
            if self.policy.row_costs is not None:
                columns["decision"] = self._by_row(score, batch, count, rows - len(score))
            if contributions is not None:
                columns["why"] = contributions.largest(reasons)
            yield pa.RecordBatch.from_pydict(columns)
        outside = count.scores_outside(rows)
        if outside is not None and outside.share > 0.5:
            raise DataError(outside)
        undecided = count.groups_undecided(rows)
        if undecided is not None and undecided.rows == rows:
            raise DataError(undecided)

    def _decided(self, score: Floats) -> dict[str, Any]:
        """The columns that follow from scores; null where there is none."""
        import pyarrow as pa

        gone = np.isnan(score)
        known = score[~gone] if gone.any() else score
        found = {}
        if self.policy.calibrator is not None:
            found = {"llr": self.policy.llr(known), "probability": self.policy.probability(known)}
        if not self._decision_columns:
            found["decision"] = self.policy.decide(known)
        if gone.any():
            place = pa.array(np.cumsum(~gone) - 1, mask=gone)
            found = {name: pa.array(values).take(place) for name, values in found.items()}
        return found if isinstance(self.scorer, ColumnScorer) else {"score": score} | found

    def _by_group(self, score: Floats, column: pa.Array, count: Novelty) -> pa.Array:
        """Decisions by the threshold of the group of each row; null where it has none."""
        import pyarrow as pa

        assert self.policy.groups is not None
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values = coded.dictionary.to_pylist()
        known = np.append(self.policy.groups.known(values), UNKNOWN)
        codes = coded.indices.cast(pa.int64()).fill_null(len(values)).to_numpy()
        numbers = known[codes]
        count.watch_groups(self.policy.groups, numbers == UNKNOWN, column)
        gone = np.isnan(score) | (numbers == UNKNOWN)
        out = np.zeros(len(score), np.bool_)
        out[~gone] = self.policy.decide_known(score[~gone], numbers[~gone])
        return pa.array(out, mask=gone)

    def _by_row(self, score: Floats, batch: pa.RecordBatch, count: Novelty, start: int) -> pa.Array:
        """Decisions by the costs of each row; null where one of its numbers is missing."""
        import pyarrow as pa

        columns = numbers_of(batch, self._decision_columns, start)
        missing = reduce(np.logical_or, map(np.isnan, columns.values()))
        count.watch_costs(missing, self._decision_columns)
        gone = np.isnan(score) | missing
        some = np.flatnonzero(~gone)
        out = np.zeros(len(score), np.bool_)
        try:
            known = {name: column[some] for name, column in columns.items()}
            out[some] = self.policy.decide(score[some], columns=known)
        except DataError as error:
            row = None if error.finding.where is None else error.finding.where.row
            if row is None:
                raise
            raise DataError(error.finding.at(row=start + int(some[row]))) from None
        return pa.array(out, mask=gone)

    def added(self, reasons: int = 3) -> list[str]:
        """The names of the columns that :meth:`apply` adds."""
        score = [] if isinstance(self.scorer, ColumnScorer) else ["score"]
        why = ["why"] if reasons and self.scorer.explains else []
        calibrated = ["llr", "probability"] if self.policy.calibrator is not None else []
        return [*score, *calibrated, "decision", *why]

    def check_kept(self, keep: str | Sequence[str], reasons: int = 3) -> Sequence[str]:
        """Columns to put in front of what is added, of which none may have the name."""
        keep = [keep] if isinstance(keep, str) else keep
        added = self.added(reasons)
        for name in keep:
            if name in added:
                raise DataError(ColumnReserved(name))
        return keep

    def watch(self) -> Novelty:
        """A counter of what no training row had, for :meth:`apply_batches`."""
        # Scorers of rows watch the columns they read instead.
        if not isinstance(self.scorer, ColumnScorer) or not len(self.policy.sweep):
            return Novelty()
        low, high = self.policy.range
        return Novelty((low, high) if 0 < high - low < inf else None)

    def novelty(self, data: TableLike) -> list[Finding]:
        """What the rows of a table have that no training row had: levels, missing values in columns
        where none was missing, numbers and dates outside of the range, and scores far outside of
        the range of the evidence; a count for each, the most frequent first. ``cutscore apply``
        says the same.

        Examples
        --------
        >>> import cutscore as cs
        >>> from cutscore.detector import CategoryColumn, CategoryTerm, Detector, LinearScorer
        >>> machine = CategoryTerm(CategoryColumn("machine", ("A", "B"), (0.5, 0.5)), (1, -1), 0, 0)
        >>> p = cs.Policy.choose(cs.sweep([1, 0], [1, -1]), "f1", calibrator=cs.Affine(1.0, 0.0))
        >>> d = Detector(LinearScorer((machine,), 0.0), p)
        >>> print(d.novelty({"machine": ["A", "C", "C"]})[0].render())
        2 of 3 rows (66.7 %) have a value of 'machine' not seen in training, such as 'C'.
        """
        seen, rows = self.watch(), 0
        group = self._group_column
        for part in self.scorer.scored(data, self._decision_columns, seen=seen):
            seen.watch_scores(part.score)
            if group is not None:
                self._by_group(part.score, part.batch.column(group), seen)
            elif self.policy.row_costs is not None:
                self._by_row(part.score, part.batch, seen, rows)
            rows += len(part.score)
        return seen.found(rows)

    def revised(  # noqa: PLR0913 - the options of users
        self,
        *,
        costs: Costs | None = None,
        maximize: GoalLike | None = None,
        subject_to: LimitsLike | None = None,
        prior: float | None = None,
        confidence: float | None = None,
        threshold: Threshold | None = None,
        drop_limits: bool = False,
        each: LimitsLike | None = None,
        gap: LimitsLike | None = None,
    ) -> Detector:
        """The same detector with another aim: its threshold is chosen anew on the evidence, with
        new promises, and nothing is learned again.

        Parameters
        ----------
        costs, maximize, subject_to, prior, confidence, threshold, drop_limits, each, gap
            What changes, as for :meth:`cutscore.Policy.revised`.

        Examples
        --------
        >>> import cutscore as cs
        >>> from cutscore.detector import Detector
        >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
        >>> d = Detector.of_policy(cs.Policy.choose(s, cs.Costs(fp=1, fn=20)))
        >>> d.revised(costs=cs.Costs(fp=1, fn=500)).policy.threshold
        0.3
        """
        policy = self.policy.revised(
            costs=costs,
            maximize=maximize,
            subject_to=subject_to,
            prior=prior,
            confidence=confidence,
            threshold=threshold,
            drop_limits=drop_limits,
            each=each,
            gap=gap,
        )
        return replace(self, policy=policy)

    def __add__(self, other: object) -> Detector:
        """The detector with the evidence of both, which must score alike."""
        if not isinstance(other, Detector):
            return NotImplemented
        policy = self.policy + other.policy
        if self.scorer.to_dict() != other.scorer.to_dict():
            rule = "use the same scorer as the first, so that scores mean the same"
            raise DataError(BadArgument("other", rule, subject="the second detector"))
        return replace(self, policy=policy)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists: what :meth:`to_json` writes."""
        from cutscore.detector.model_file import as_dict

        return as_dict(self)

    def to_json(self, folder: str = "") -> str:
        """A readable JSON text; floats are written so that they come back exactly. Where the score
        is a column, that of the policy alone. A model in a file of its own is referred to from
        ``folder``, by default the working directory."""
        from cutscore.detector.model_file import as_text

        return as_text(replace(self, scorer=self.scorer.moved("", folder)) if folder else self)

    @staticmethod
    def from_json(text: str | bytes, *, verify: bool = True) -> Detector:
        """The detector that :meth:`to_json` wrote, or that of a policy; anything else is a
        DataError.

        ``verify=False`` takes a text that was changed by hand, as long as it makes sense.
        """
        from cutscore.detector.model_file import from_text

        return from_text(text, verify=verify)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file, aside first: a file that is there survives a failure. A model in
        a file of its own is referred to from the folder of this file."""
        text = self.to_json(os.path.dirname(os.fspath(path)))
        with written_aside(path, text=True) as file:
            file.write(text + "\n")

    @staticmethod
    def load(path: str | os.PathLike[str], *, verify: bool = True) -> Detector:
        """Read the file that :meth:`save` wrote, or that of a policy."""
        from cutscore.detector.model_file import from_file

        return from_file(path, verify=verify)

    def facts(self) -> list[tuple[str, str]]:
        """What there is to know about it, by name."""
        t = self.training
        auc = "" if t.auc is None else f"{t.auc:.4f}"
        if t.auc_interval is not None:
            auc += f" {t.auc_interval!r}"
        learned = f"{t.learner} from {t.rows:,} rows, {t.positives:,} positive" if t.rows else ""
        facts = [
            *self.policy.facts(),
            *self.scorer.facts(),
            ("learner", learned),
            ("cross-validated AUC", auc),
        ]
        return [(name, value) for name, value in facts if value]

    def __repr__(self) -> str:
        words = self.policy.labels.words
        head = f"Detector for {words}" if words else "Detector"
        facts = [(k, v) for k, v in self.facts() if k not in ("detects", "rule")]
        lines = [f"{head}: {self.policy.rule}", *(f"{k}: {v}" for k, v in facts)]
        return "\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)

    def _facts(self) -> Facts:
        return self.facts()

    def _warning(self) -> str:
        return self.policy._warning()

    def _picture(self) -> str:
        return self.policy._picture()


def numbers_of(batch: pa.RecordBatch, names: Sequence[str], start: int = 0) -> dict[str, Floats]:
    """Columns of numbers that costs are computed from; NaN where there is none."""
    import pyarrow as pa

    out = {}
    for name in names:
        column = batch.column(name)
        if kind_of(column.type) == "category":  # as it is written, where it is kept as well
            with suppress(pa.ArrowInvalid):  # what is no number is refused below
                column = parsed(column)
        out[name] = np.asarray(scores(column, name, start))
    return out


def as_text(label: object) -> str:
    """A label as people write it: 1 for 1.0."""
    return f"{label:.17g}" if isinstance(label, float) else str(label)
