"""The detector: from a table's rows to scores, likelihood ratios, probabilities and decisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutscore import __version__
from cutscore.calibration.calibrators import Calibrator, Chain, Gaussian
from cutscore.calibration.odds import sigmoid
from cutscore.core.checks import check_threshold, number
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.files import written_aside
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, Fix, Shown, shown
from cutscore.core.findings.models import ColumnReserved, CostsMissing, LimitsKept, NoColumns
from cutscore.core.findings.rows import NoRows
from cutscore.core.findings.statistics import Undefined
from cutscore.core.html import Card, Facts
from cutscore.core.interval import Interval
from cutscore.core.json import Count, Extended
from cutscore.detector.encoding import Encoding
from cutscore.detector.novelty import Novelty
from cutscore.detector.terms import CategoryTerm, Term, folded
from cutscore.detector.values import stream
from cutscore.inference.selection import Expected
from cutscore.linear.detector import LinearDetector
from cutscore.measures.aim import Aim
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs, check_costs
from cutscore.measures.measure import WORDS
from cutscore.measures.prior import check_prior, log_odds
from cutscore.sweeps.sweep import Floats
from cutscore.tables.literals import parsed

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike

# Terms are added up in groups, so that a sum written as one expression is nowhere deep.
GROUP = 256
_COLUMNS = ("score", "llr", "probability", "decision", "why")
Watch = Callable[[Term, NDArray[Any], Any], None]
Label = bool | int | float | str


@dataclass(frozen=True)
class Training:
    """What a :class:`cutscore.detector.Detector` was learned from, and what it did on rows it had
    not seen.

    Parameters
    ----------
    rows, positives
        How many rows there were.
    learner
        What learned the weights.
    auc
        The AUC of cross-fitted scores, and its interval.
    confusion
        What the threshold does on cross-fitted scores, on which it was chosen.
    expected
        What to expect of it on new rows, by the name of the measure: of what was aimed at, of the
        recall, the false alarm rate, the precision and the share flagged.
    notes
        What was decided about the columns, and warnings: findings.
    """

    rows: Count
    positives: Count
    learner: str = ""
    auc: float | None = None
    auc_interval: Interval | None = None
    confusion: Confusion | None = None
    notes: tuple[Finding, ...] = ()
    expected: Mapping[str, Expected] = field(default_factory=dict)

    @property
    def rates(self) -> tuple[float, float] | None:
        """The recall and the false alarm rate: those to expect, or those on cross-fitted scores
        where nothing else is known."""
        known = [self.expected.get(name) for name in ("recall", "fpr")]
        if known[0] is not None and known[1] is not None:
            return known[0].value, known[1].value
        c = self.confusion
        return None if c is None or isnan(c.recall) or isnan(c.fpr) else (c.recall, c.fpr)

    def elsewhere(self, moved: bool) -> Training:
        """What still holds for other costs and another prior, or a threshold that was moved."""
        same = {} if moved else {k: v for k, v in self.expected.items() if k in ("recall", "fpr")}
        return replace(self, confusion=None if moved else self.confusion, expected=same)


@dataclass(frozen=True, repr=False)
class Detector(Card):
    """A linear detector with all that it needs to decide about rows of a table.

    score = base + Σ terms → calibrator → LLR → + ln clr → probability; flagged iff
    score ≥ threshold. It is saved as JSON that people can read.

    Parameters
    ----------
    terms
        What each column adds to the score, in its own units.
    base
        The score of a row that is average in every column.
    calibrator
        From the score to the log-likelihood ratio.
    aim
        What the threshold was chosen for. Its prior is the share of positives where the detector is
        used.
    threshold
        A row is flagged iff its score is at least this.
    given
        Whether the threshold was given, rather than chosen for the aim.
    target, positive
        The column of labels, and the label that is flagged, as text.
    labels
        The negative and the positive label as the column has them, (0, 1) or ("legit", "fraud"),
        if there are just these two.
    training
        What it was learned from.
    fingerprint
        A hash of the training rows: see :meth:`cutscore.detector.Encoding.fit`.
    library
        What made it.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding
    >>> table = {"age": [30, 40, 50, 60], "colour": ["red", "blue", "red", "red"]}
    >>> e = Encoding.fit(table, min_rows=1)
    >>> line = cs.LinearDetector(np.array([2.0, -1.0]), 0.5)  # by any learner, from e.transform
    >>> d = Detector.of(e, line, calibrator=cs.Affine(1.0, 0.0), aim=cs.Aim(prior=0.2),
    ...                 threshold=1.0)
    >>> d.apply({"age": [65, None], "colour": ["blue", "green"]}).to_pylist()[0]["why"]
    'age +3.6, colour = blue -0.75'
    >>> d.scores({"age": [65, None], "colour": ["blue", "green"]}).round(3)
    array([3.078, 0.25 ])
    >>> Detector.from_json(d.to_json()).to_json() == d.to_json()
    True
    """

    terms: tuple[Term, ...]
    base: float
    calibrator: Calibrator
    aim: Aim
    threshold: Extended
    given: bool = False
    target: str | None = None
    positive: str | None = None
    training: Training = field(default_factory=lambda: Training(0, 0))
    fingerprint: str = ""
    library: str = f"cutscore {__version__}"
    labels: tuple[Label, Label] | None = None

    def __post_init__(self) -> None:
        base = number(self.base)
        if not isfinite(base):
            raise DataError(BadArgument("base", "be a finite number", self.base))
        first = self.calibrator
        if isinstance(first, Chain):
            first = first.steps[0]
        if not isinstance(first, Calibrator) or first.domain != (-inf, inf):
            hint = "Calibrate scores, not probabilities."
            kind = Shown(f"a {type(first).__name__}")
            raise DataError(BadArgument("calibrator", "map any number", kind, hint))
        if not isinstance(self.aim, Aim) or self.aim.prior is None:
            rule = "be an Aim with a prior, the share of positives where the detector is used"
            raise DataError(BadArgument("aim", rule, self.aim))
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "threshold", check_threshold(self.threshold))
        if self.labels is not None:
            object.__setattr__(self, "labels", _check_labels(self.labels, self.positive))
        names = self.columns
        if len(set(names)) < len(names):
            raise DataError(BadArgument("terms", "be one for each column; some column has two"))

    @classmethod
    def of(
        cls,
        encoding: Encoding,
        line: LinearDetector,
        *,
        calibrator: Calibrator,
        aim: Aim,
        threshold: float,
        **more: object,
    ) -> Detector:
        """The detector of a line in the space of the features: weights go back to the columns.

        ``more`` are further fields: given, target, positive, labels and training. The threshold is
        on the score of that line.
        """
        terms, base = folded(encoding, line.w, line.b)
        more.setdefault("fingerprint", encoding.fingerprint)
        return cls(terms, base, calibrator, aim, threshold, **more)  # type: ignore[arg-type]

    @property
    def prior(self) -> float:
        """The share of positives where it is used."""
        assert self.aim.prior is not None
        return self.aim.prior

    @property
    def columns(self) -> list[str]:
        """The columns it needs."""
        return [term.column.name for term in self.terms]

    @property
    def numbers(self) -> list[str]:
        """Those of them that it takes as numbers."""
        return [term.column.name for term in self.terms if term.column.kind == "number"]

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """Those of them that it takes as they are written, with their levels."""
        terms = (term for term in self.terms if isinstance(term, CategoryTerm))
        return {t.column.name: t.column.levels for t in terms if t.column.is_text}

    @property
    def bias(self) -> float:
        """b of score = b + Σ weight · value: for people who add up raw values. ``base`` is the
        same with values counted from their means, which loses no digits."""
        return self.base - sum(
            term.weight * term.column.mean
            for term in self.terms
            if not isinstance(term, CategoryTerm)
        )

    def scores(self, data: TableLike) -> Floats:
        """The score of each row of a table."""
        parts = [score for _, score, _, _ in self._scored(data)]
        return np.concatenate(parts) if parts else np.empty(0)

    def llr(self, data: TableLike) -> Floats:
        """The log-likelihood ratio of each row."""
        return np.asarray(self.calibrator.llr(self.scores(data)))

    def probability(self, data: TableLike, prior: float | None = None) -> Floats:
        """P(positive) of each row, where the share ``prior`` is positive; its own if not given."""
        return np.asarray(
            sigmoid(self.llr(data) + log_odds(self.prior if prior is None else prior))
        )

    def decide(self, data: TableLike) -> NDArray[np.bool_]:
        """Whether to flag each row: its score is at least the threshold."""
        return self.scores(data) >= self.threshold

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
            score; llr; probability, at the detector's prior; decision; and why, such as
            "income -1.3, colour = red +0.8": what moved the score of the row most, compared with an
            average row.
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
        watch: Watch | None = None,
    ) -> Iterator[Any]:
        """As :meth:`apply`, some rows at a time. ``watch`` is told, for each term, what the rows
        have: numbers, NaN where they are missing, or states of a category by their numbers; and
        the column that this was read from."""
        import pyarrow as pa

        keep = check_kept(keep, reasons)
        shift = log_odds(self.prior)
        for batch, score, terms, labels in self._scored(
            data, keep, explain=bool(reasons), watch=watch
        ):
            llr = self.calibrator.llr(score)
            columns = {name: batch.column(name) for name in keep}
            columns |= {
                "score": score,
                "llr": llr,
                "probability": sigmoid(llr + shift),
                "decision": score >= self.threshold,
            }
            if reasons:
                columns["why"] = self._why(terms, labels, reasons)
            yield pa.RecordBatch.from_pydict(columns)

    def _scored(
        self,
        data: TableLike,
        keep: Sequence[str] = (),
        *,
        explain: bool = False,
        watch: Watch | None = None,
    ) -> Iterator[tuple[Any, Floats, list[Floats], list[NDArray[np.int64]]]]:
        """Batches with their scores and, for explanations, what each term adds."""
        from cutscore.tables.frames import as_table

        wanted = list(dict.fromkeys((*keep, *self.columns)))
        if not wanted:
            raise DataError(NoColumns())
        at = {name: k for k, name in enumerate(wanted)}
        # What is handed on is as it was, 009 and not 9, though its number is scored.
        both = set(keep).intersection(self.numbers)
        data = as_table(data)
        written = data.coded(wanted) & both if both else set()
        start = 0
        numbers = [name for name in self.numbers if name not in written]
        for batch in stream(data, wanted, numbers, self.texts):
            if not batch.num_rows:
                continue
            score = np.full(batch.num_rows, self.base)
            terms: list[Floats] = []
            labels: list[NDArray[np.int64]] = []
            for first in range(0, len(self.terms), GROUP):
                group = None
                for term in self.terms[first : first + GROUP]:
                    column = batch.column(at[term.column.name])
                    if term.column.name in written:
                        column = parsed(column)
                    has = term.column.values(column, start)
                    value, label = term.contributions(has)
                    group = value if group is None else group + value
                    if watch is not None:
                        watch(term, has, column)
                    if explain:
                        terms.append(value)
                        labels.append(label)
                score += group
            start += batch.num_rows
            yield batch, score, terms, labels

    def _why(self, terms: list[Floats], labels: list[NDArray[np.int64]], reasons: int) -> Any:
        """The largest contributions of each row, as text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pa.array([name for term in self.terms for name in term.labels], pa.string())
        ends = np.cumsum([0, *(len(term.labels) for term in self.terms)])
        value, label = np.stack(terms), np.stack(labels)
        size = np.abs(value)
        rows = np.arange(value.shape[1])
        pieces: list[Any] = []
        for _ in range(min(reasons, len(terms))):
            # A few times the largest one: cheaper than sorting all, and ties go to the first.
            k = size.argmax(axis=0)
            text = pc.binary_join_element_wise(
                ", " if pieces else "",
                names.take(pa.array(ends[k] + label[k, rows])),
                " ",
                _signed(value[k, rows]),
                "",
            )
            pieces.append(pc.if_else(pa.array(size[k, rows] > 0), text, ""))
            size[k, rows] = -1
        return pc.binary_join_element_wise(*pieces, "")

    def novelty(self, data: TableLike) -> list[Finding]:
        """What the rows of a table have that no training row had: levels, missing values in columns
        where none was missing, numbers and dates outside of the range; a count for each column, the
        most frequent first. ``cutscore apply`` says the same.

        Examples
        --------
        >>> import cutscore as cs
        >>> from cutscore.detector import CategoryColumn, CategoryTerm, Detector
        >>> machine = CategoryTerm(CategoryColumn("machine", ("A", "B"), (0.5, 0.5)), (1, -1), 0, 0)
        >>> d = Detector((machine,), 0.0, cs.Affine(1.0, 0.0), cs.Aim(prior=0.5), threshold=0.0)
        >>> print(d.novelty({"machine": ["A", "C", "C"]})[0].render())
        2 of 3 rows (67 %) have a value of 'machine' that was not seen in training, such as 'C'.
        """
        seen = Novelty()
        rows = sum(len(score) for _, score, *_ in self._scored(data, watch=seen.watch))
        return seen.found(rows)

    def revised(
        self,
        *,
        costs: Costs | None = None,
        prior: float | None = None,
        threshold: float | None = None,
        drop_limits: bool = False,
    ) -> Detector:
        """The same detector for other costs or another prior: nothing is learned again.

        The threshold becomes the lowest score whose LLR is at least ln(λ₋/λ₊) − ln clr, by the
        calibrator. Training took the best cut of its rows, so that at the costs it was given the
        two need not be the same. What training found of a threshold that moves is left out:
        ``training.confusion`` becomes None, and ``training.expected`` empty.

        Parameters
        ----------
        costs, prior
            What has changed; what is left out stays.
        threshold
            Flag from this score on, whatever follows from costs: one that :func:`cutscore.choose`
            found on rows of today.
        drop_limits
            Let go of the limits that the threshold was chosen under. Costs know nothing of them, so
            a detector that has some is not revised without a word.

        Examples
        --------
        >>> import cutscore as cs
        >>> from cutscore.detector import Detector
        >>> d = Detector((), 0.0, cs.Affine(2.0, 0.5), cs.Aim(prior=0.5), threshold=0.0)
        >>> d.revised(costs=cs.Costs(fp=1, fn=1), prior=0.1).threshold.__round__(6)
        1.598612
        """
        old = self.aim
        new = Aim(
            old.goal if costs is None else check_costs(costs),
            prior=old.prior if prior is None else prior,
            level=old.level,
            assumed=old.assumed and costs is None,
        )
        if threshold is None and new.costs is None:
            raise DataError(CostsMissing(fixes=(Fix("costs"), Fix("threshold"))))
        if old.limit_texts and not drop_limits:
            raise DataError(LimitsKept(old.limit_texts, fixes=(Fix("drop_limits", True),)))
        if threshold is None:
            assert new.costs is not None
            # Past every LLR where a catch is worth nothing, also past those that overflow.
            llr = new.costs.llr(self.prior if prior is None else check_prior(prior))
            moved = inf if llr == inf else lowest_score(self.calibrator, llr)
        else:
            moved = check_threshold(threshold)
        same = (new.goal, new.prior, moved) == (old.goal, old.prior, self.threshold)
        training = self.training if same else self.training.elsewhere(moved != self.threshold)
        return replace(
            self, aim=new, threshold=moved, given=threshold is not None, training=training
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists: what :meth:`to_json` writes."""
        from cutscore.detector.model_file import as_dict

        return as_dict(self)

    def to_json(self) -> str:
        """A readable JSON text; floats are written so that they come back exactly."""
        from cutscore.detector.model_file import as_text

        return as_text(self)

    @staticmethod
    def from_json(text: str | bytes, *, verify: bool = True) -> Detector:
        """The detector that :meth:`to_json` wrote; anything else is a DataError.

        ``verify=False`` takes a text that was changed by hand, as long as it makes sense.
        """
        from cutscore.detector.model_file import from_text

        return from_text(text, verify=verify)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file, aside first: a file that is there survives a failure."""
        text = self.to_json()
        with written_aside(path, text=True) as file:
            file.write(text + "\n")

    @staticmethod
    def load(path: str | os.PathLike[str], *, verify: bool = True) -> Detector:
        """Read the file that :meth:`save` wrote."""
        from cutscore.detector.model_file import from_file

        return from_file(path, verify=verify)

    @property
    def rule(self) -> str:
        """The decision in words."""
        if self.threshold == inf:
            return "flag nothing"
        # In full: a rounded threshold may be another rule.
        return (
            "flag everything"
            if self.threshold == -inf
            else f"flag from score {self.threshold!r} on"
        )

    @property
    def calibration(self) -> str:
        """The calibrator in words, without the comparison of methods that it may come with."""
        c = self.calibrator
        steps = c.steps if isinstance(c, Chain) else (c,)
        return ", then ".join(repr(step).partition("\n")[0] for step in steps)

    def facts(self) -> list[tuple[str, str]]:
        """What there is to know about it, by name."""
        t = self.training
        target = "" if self.target is None else f"{self.target} = {self.positive}"
        auc = "" if t.auc is None else f"{t.auc:.4f}"
        if t.auc_interval is not None:
            auc += f" {t.auc_interval!r}"
        largest = sorted(self.terms, key=lambda term: -term.size)[:5]
        facts = [
            ("detects", target),
            ("rule", self.rule),
            ("chosen for", "" if self.given else self.aim.words),
            ("costs", repr(self.aim.costs) if self.aim.costs else ""),
            ("prior", f"{100 * self.prior:.4g} %"),
            ("calibration", self.calibration),
            (
                "columns",
                f"{len(self.terms):,}, above all {', '.join(x.column.name for x in largest)}",
            ),
            ("learned by", f"{t.learner} from {t.rows:,} rows, {t.positives:,} positive"),
            ("AUC, cross-fitted", auc),
            *((f"{WORDS.get(name, name)} to expect", repr(e)) for name, e in t.expected.items()),
        ]
        if not self.terms:
            facts[6] = ("columns", "none")
        if not t.rows:
            facts[7] = ("learned by", "")
        return [(name, value) for name, value in facts if value]

    def __repr__(self) -> str:
        facts = dict(self.facts())
        head = f"Detector of {shown(facts['detects'])}" if "detects" in facts else "Detector"
        lines = [f"{head}: {self.rule}", *(f"{k}: {v}" for k, v in self.facts() if k not in _HEAD)]
        return "\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)

    def _facts(self) -> Facts:
        return self.facts()


def check_kept(keep: str | Sequence[str], reasons: int) -> Sequence[str]:
    """Columns to put in front of what a detector adds, of which none may have the name."""
    keep = [keep] if isinstance(keep, str) else keep
    for name in keep:
        if name in (_COLUMNS if reasons else _COLUMNS[:-1]):
            raise DataError(ColumnReserved(name))
    return keep


_HEAD = {"detects", "rule"}


def as_text(label: object) -> str:
    """A label as people write it: 1 for 1.0."""
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def is_label(value: object) -> bool:
    """Whether JSON can keep a label as it is."""
    return isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value))


def _check_labels(labels: object, positive: str | None) -> tuple[Label, Label]:
    pair = tuple(labels) if isinstance(labels, (tuple, list)) else ()
    pair = tuple(v.item() if isinstance(v, np.generic) else v for v in pair)
    kinds = {next((k for k in (bool, str) if isinstance(v, k)), float) for v in pair}
    if len(pair) != 2 or not all(map(is_label, pair)) or len(kinds) > 1 or pair[0] == pair[1]:
        rule = "be two that differ, the negative one first: numbers, booleans or texts"
        raise DataError(BadArgument("labels", rule, labels))
    if positive is None or as_text(pair[1]).casefold() != positive.casefold():
        rule = f"have the positive one, {shown(positive)}, in the second place"
        raise DataError(BadArgument("labels", rule, labels))
    return pair[0], pair[1]


def lowest_score(calibrator: Calibrator, llr: float) -> float:
    """The lowest score whose LLR is at least this; inf if there is none.

    Found by halving the floats, of which there are less than 2⁶⁴: for any calibrator that never
    falls. A quadratic one must not fall among the scores it was fitted to; all beyond them are
    taken as its lowest and highest.
    """
    if not calibrator.monotone:
        raise UndefinedError(
            Undefined(
                "the lowest score to flag from",
                "does not exist: the calibrator's LLR falls where the score rises",
                "Calibrate with one that never falls, such as 'monotone'.",
            )
        )
    first = calibrator.steps[0] if isinstance(calibrator, Chain) else calibrator
    ends = (first.low, first.high) if isinstance(first, Gaussian) else (-inf, inf)
    if not calibrator.llr(ends[1]) >= llr:
        return inf
    if calibrator.llr(ends[0]) >= llr:
        return -inf
    low, high = map(_key, ends)
    while high - low > 1:
        middle = (low + high) // 2
        if calibrator.llr(_float(middle)) >= llr:
            high = middle
        else:
            low = middle
    return _float(high)


def _key(x: float) -> int:
    bits = int(np.float64(x).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(key: int) -> float:
    x = float(np.int64(abs(key)).view(np.float64))
    return x if key >= 0 else -x


def _signed(values: Floats) -> Any:
    """Numbers with two digits and a sign. There are few different ones, so few are formatted."""
    import pyarrow as pa

    size = np.abs(values)
    power = np.zeros(len(size))
    np.log10(size, where=size > 0, out=power)
    power = np.clip(np.floor(power), -300, 300)
    digits = np.rint(values / 10.0 ** (power - 1))
    # One integer for both, which sorts faster than pairs.
    code, where = np.unique((digits * 1024 + power + 512).astype(np.int64), return_inverse=True)
    rounded = [float(f"{c // 1024}e{c % 1024 - 513}") for c in code.tolist()]
    words = [f"{v:+.0f}" if 100 <= abs(v) < 1e6 else f"{v:+.2g}" for v in rounded]
    return pa.array(words, pa.string()).take(pa.array(where))
