"""After the choice: is the value to expect on new rows what new rows show?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cutscore as cs
from cutscore.inference.selection import Expected, select_among
from cutscore.measures.aim import Aim, as_objective
from cutscore.training import train
from truths import Truth, truth_of

Array = NDArray[Any]
RATES = ("recall", "fpr", "precision", "flagged_rate")


@dataclass(frozen=True)
class Choice:
    """A cut that is chosen and judged on the same rows; the share of positives is counted, too.

    Rows may have exponential weights ("weights"), or come in units of ten whose scores are alike
    ("units"); the sweep may be compact.
    """

    goal: str
    rows: int
    positives: int
    truth: Truth
    kind: str = ""
    limit: str | None = None
    confidence: float | None = None

    @property
    def objective(self) -> Any:
        ratio = (self.rows - self.positives) / self.positives if self.goal == "even cost" else 20
        return cs.Costs(fp=1, fn=ratio) if self.goal.endswith("cost") else self.goal

    @property
    def name(self) -> str:
        parts = [self.goal, self.limit or "", "guaranteed" if self.confidence else "", self.kind]
        return ", ".join(filter(None, parts))

    def true(self, threshold: float, measure: Any) -> float:
        """The value on new rows."""
        share = self.positives / self.rows
        tpr, fpr = float(self.truth.tpr(threshold)), float(self.truth.fpr(threshold))
        tp, fp = share * tpr, (1 - share) * fpr
        return float(as_objective(measure)(cs.Confusion(tp, fp, share - tp, 1 - share - fp)))

    def point(self, rng: np.random.Generator) -> cs.OperatingPoint:
        share = self.positives / self.rows
        y = rng.random(self.rows) < share
        if y.sum() < 3:
            y[:3] = True
        aim = {"subject_to": self.limit or (), "confidence": self.confidence}
        if self.kind == "units":
            unit = np.arange(self.rows) // 10
            common = rng.standard_normal(self.rows // 10 + 1)[unit]
            score = 0.5**0.5 * (common + rng.standard_normal(self.rows)) + self.truth.distance * y
            p = cs.choose(cs.sweep(y, score), self.objective)
            among = select_among(y, [score], Aim(as_objective(self.objective)), unit=unit)
            return cs.OperatingPoint(
                *(getattr(p, name) for name in p.__dataclass_fields__ if name != "among"), among
            )
        weight = rng.exponential(size=self.rows) if self.kind == "weights" else None
        s = cs.sweep(y, self.truth.draw(rng, y), weight, squares=weight is not None)
        return cs.choose(s.compact() if self.kind == "compact" else s, self.objective, **aim)


CHOICES = (
    *(Choice("cost", n, p, Truth(d)) for n, p, d in ((400, 40, 1.5), (2000, 40, 1.5))),
    *(Choice("cost", n, p, Truth(d)) for n, p, d in ((2000, 40, 2.5), (5000, 100, 1.5))),
    Choice("cost", 150, 15, Truth(1.5)),
    *(Choice("f1", n, p, Truth(1.5)) for n, p in ((400, 40), (2000, 40), (10_000, 200))),
    Choice("youden", 100, 50, Truth(1.0)),
    Choice("mcc", 400, 40, Truth(1.5)),
    Choice("cost", 400, 40, Truth(1.5), "weights"),
    Choice("f1", 2000, 100, Truth(1.5), "weights"),
    Choice("cost", 2000, 40, Truth(1.5), "compact"),
    Choice("cost", 2000, 200, Truth(1.5), "units"),
    Choice("youden", 1000, 500, Truth(1.0), "units"),
    Choice("recall", 400, 40, Truth(1.5), limit="fpr <= 0.1"),
    Choice("recall", 400, 40, Truth(1.5), limit="fpr <= 0.1", confidence=0.95),
    Choice("cost", 1000, 100, Truth(1.5), limit="recall >= 0.8", confidence=0.9),
)


def choice_coverage(task: tuple[Choice, int, int]) -> Array:
    """Values on the rows, expected and true, then how often the intervals contain the truth: that
    of the threshold alone, that of the value expected, and those of the rates expected."""
    choice, first, draws = task
    out = np.zeros(5 + len(RATES))
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        while (p := choice.point(rng)).expected is None:
            pass  # with about one positive, by their weights, nothing is said
        true = choice.true(p.threshold, choice.objective)
        out[:3] += p.value, p.expected.value, true
        out[3] += true in p.interval
        out[4] += _in(true, p.expected)
        out[5:] += [_in(choice.true(p.threshold, rate), p.expect(rate)) for rate in RATES]
    return out


def grid_coverage(task: tuple[Choice, int, int]) -> Array:
    """Values expected and true, and how often the interval contains the truth."""
    choice, first, draws = task
    out = np.zeros(3)
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        while (p := choice.point(rng)).expected is None:
            pass
        true = choice.true(p.threshold, choice.objective)
        out += p.expected.value, true, _in(true, p.expected)
    return out


def _in(value: float, span: Expected | None) -> bool:
    # Without a value there, there is nothing to contain.
    return span is None or np.isnan(value) or span.low <= value <= span.high


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _low(coverage: float) -> str:
    return f"**{_per_cent(coverage)}**" if coverage < 0.93 else _per_cent(coverage)


def report_choices(r: Any) -> None:
    draws = min(r.draws, 2500)
    r.table(
        CHOICE_TEXT.format(draws=draws), "aim", "rows, positive", "AUC", "on the rows", "expected",
        "true", "threshold alone", "covers", *RATES,
    )  # fmt: skip
    for (choice,), got in r.spread(choice_coverage, [(choice,) for choice in CHOICES], draws):
        here, expected, true, plain, covers, *rates = got
        r.row(
            choice.name,
            f"{choice.rows:,}, {choice.positives}",
            f"{choice.truth.auc:.2f}",
            f"{here:.4f}",
            f"{expected:.4f} ({100 * (expected / true - 1):+.1f} %)",
            f"{true:.4f}",
            *map(_per_cent, (plain, covers, *rates)),
        )
        bias = abs(expected / true - 1)
        if covers < 0.93 - r.slack or (choice.positives >= 40 and covers > 0.98 + r.slack):
            r.faults.append(f"value after the choice, {choice}: {got}")
        if bias > (0.06 if choice.positives < 40 else 0.04):
            r.faults.append(f"bias after the choice, {choice}: {got}")


GRID_DRAWS = 2000
GRID_KINDS = ("continuous", "five levels", "weights")


def report_grid(r: Any) -> None:
    columns = [f"{goal}, {kind}" for goal in ("cost", "F1") for kind in GRID_KINDS]
    draws = min(r.draws, GRID_DRAWS)
    r.table(GRID_TEXT.format(draws=draws), "AUC", "positives, negatives", *columns)
    settings = list(product((0.6, 0.8, 0.95, 0.99), (10, 20, 50, 500), (200, 2000)))
    heads = [
        (Choice(goal, p + n, p, truth_of(auc, kind), kind if kind == "weights" else ""),)
        for auc, p, n in settings
        for goal in ("even cost", "f1")
        for kind in GRID_KINDS
    ]
    found = [got for _, got in r.spread(grid_coverage, heads, draws)]
    for k, (auc, p, n) in enumerate(settings):
        cells = found[6 * k : 6 * k + 6]
        told = [f"{_low(g[2])} ({100 * (g[0] / g[1] - 1):+.0f} %)" for g in cells]
        r.row(f"{auc:g}", f"{p:,}, {n:,}", *told)
        if min(g[2] for g in cells) < 0.93 - r.slack:
            r.faults.append(f"after the choice, {auc, p, n}: {[g[2] for g in cells]}")


@dataclass(frozen=True)
class Lesson:
    """Rows to learn from: normal columns, some of which tell the classes apart."""

    rows: int
    columns: int
    share: float
    learner: str

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Array, dict[str, Array]]:
        y = rng.random(n) < self.share
        tells = np.zeros(self.columns)
        tells[:5] = (1.0, 0.8, 0.6, 0.4, 0.2)
        X = rng.standard_normal((n, self.columns)) + np.outer(y, tells)
        return y, {f"x{j}": X[:, j] for j in range(self.columns)}


LESSONS = (
    Lesson(300, 5, 0.05, "logistic"),
    Lesson(3000, 20, 0.05, "logistic"),
    Lesson(300, 5, 0.05, "auto"),
    Lesson(1000, 10, 0.1, "auto"),
)


def lesson_coverage(task: tuple[Lesson, int, int]) -> Array:
    """Cost and recall: on the rows, expected, true; and how often the intervals hold the truth."""
    lesson, first, draws = task
    out, costs = np.zeros(8), cs.Costs(fp=1, fn=20)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 9))
        y, columns = lesson.draw(rng, lesson.rows)
        while y.sum() < 5:
            y, columns = lesson.draw(rng, lesson.rows)
        t = train({"y": y, **columns}, "y", learner=lesson.learner, costs=costs)
        new, rows = lesson.draw(rng, 20_000)
        flagged = t.detector.decide(rows)
        recall, fpr = float(flagged[new].mean()), float(flagged[~new].mean())
        cost = 20 * lesson.share * (1 - recall) + (1 - lesson.share) * fpr
        told, caught = t.detector.policy.promises["cost"], t.detector.policy.promises["recall"]
        out[:4] += t.point.value, told.value, cost, _in(cost, told)
        out[4:] += t.point.confusion.recall, caught.value, recall, _in(recall, caught)
    return out


def report_train(r: Any) -> None:
    draws = min(r.draws, 2000)
    r.table(
        TRAIN_TEXT.format(draws=draws), "learner", "rows, columns",
        "cost on the rows", "expected", "true", "covers",
        "recall on the rows", "expected", "true", "covers",
    )  # fmt: skip
    for (lesson,), got in r.spread(lesson_coverage, [(lesson,) for lesson in LESSONS], draws):
        told = [
            f"{got[0]:.3f}", f"{got[1]:.3f} ({100 * (got[1] / got[2] - 1):+.1f} %)",
            f"{got[2]:.3f}", _per_cent(got[3]),
            f"{got[4]:.3f}", f"{got[5]:.3f}", f"{got[6]:.3f}", _per_cent(got[7]),
        ]  # fmt: skip
        r.row(lesson.learner, f"{lesson.rows:,}, {lesson.columns}", *told)
        if min(got[3], got[7]) < 0.93 - r.slack or abs(got[1] / got[2] - 1) > 0.06:
            r.faults.append(f"train, {lesson}: {got}")


CHOICE_TEXT = """
## After the choice

A threshold is chosen for an objective (costs: false positive 1, false negative 20) and evaluated.
The value on the same rows is optimistic; `expected` is cross-validated. Then follows the coverage
of 95 % intervals: of the value as if the threshold had been given, of `expected`, and of the rates
beside it. Weights are exponential. Clusters have ten rows with a correlation of 0.5. Compact sweeps
have no scores within runs of one class. With 15 positives the interval of the cost over-covers.
{draws:,} samples per row.
"""

GRID_TEXT = """
### Few positives

Coverage of the 95 % interval of the expected value, and its bias in parentheses. The objectives are
costs that weight both classes equally, and F1. Scores are continuous, in five levels, or with
exponential weights, which halve the effective sample size. Coverage below 93 % is in bold. With
fewer than 15 positives, expected values are too low for F1 and for costs, by up to a tenth. A
threshold chosen on nine tenths of so few rows, or on a bootstrap sample of them, is not
representative. {draws:,} samples per cell.
"""

TRAIN_TEXT = """
### Training and choice

`train` with costs (false positive 1, false negative 20) and normal columns: the expected values of
the model, compared with 20,000 new rows. Learner and threshold are re-chosen in each fold.
{draws:,} samples per row.
"""
