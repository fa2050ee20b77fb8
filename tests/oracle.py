"""The reference: the definitions written out, slowly, sharing nothing with cutscore.

Scores are Python floats, masses are integers or `Fraction`s, and every number is a `Fraction`:
there is no rounding to argue about. `exactly` turns floats (weights, rates) into the fractions they
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

Half = Fraction(1, 2)


class Table(NamedTuple):
    """Distinct scores, descending, with the mass of each class there."""

    threshold: list[float]
    pos: list[Fraction]
    neg: list[Fraction]

    @property
    def P(self) -> Fraction:
        return sum(self.pos, Fraction(0))

    @property
    def N(self) -> Fraction:
        return sum(self.neg, Fraction(0))


def exactly(values: Iterable[Any]) -> list[Fraction]:
    return [Fraction(v) for v in np.asarray(values).tolist()]


def table(y: Iterable[Any], score: Iterable[Any], weight: Iterable[Any] | None = None) -> Table:
    """The sweep by a dictionary: 0.0 and -0.0 are one key, as they are equal."""
    labels, scores = np.asarray(y).tolist(), np.asarray(score).tolist()
    weights = [Fraction(1)] * len(scores) if weight is None else exactly(weight)
    mass: dict[float, list[Fraction]] = {}
    for label, s, w in zip(labels, scores, weights, strict=True):
        if w:
            mass.setdefault(s, [Fraction(0), Fraction(0)])[label == 1] += w
    order = sorted(mass, reverse=True)
    return Table(order, [mass[s][1] for s in order], [mass[s][0] for s in order])


def counted(y: Any, score: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The unweighted sweep by np.unique and np.bincount: for more rows than Python can walk."""
    threshold, at = np.unique(np.asarray(score, np.float64), return_inverse=True)
    m = len(threshold)
    pos = np.bincount(at[np.asarray(y) == 1], minlength=m)
    neg = np.bincount(at[np.asarray(y) != 1], minlength=m)
    return threshold[::-1], pos[::-1], neg[::-1]


def twice_area(pos: Sequence[Any], neg: Sequence[Any]) -> int:
    """2U from counts in descending order of the scores, in Python's integers."""
    twice = above = 0
    for p, n in zip(np.asarray(pos).tolist(), np.asarray(neg).tolist(), strict=True):
        twice += n * (2 * above + p)
        above += p
    return twice


def auc(y: Iterable[Any], score: Iterable[Any], weight: Iterable[Any] | None = None) -> Fraction:
    """P(s₊ > s₋) + ½ P(s₊ = s₋), over all pairs of a positive and a negative."""
    labels, scores = np.asarray(y).tolist(), np.asarray(score).tolist()
    weights = [Fraction(1)] * len(scores) if weight is None else exactly(weight)
    rows = list(zip(labels, scores, weights, strict=True))
    ones = [(s, w) for label, s, w in rows if label == 1]
    zeros = [(s, w) for label, s, w in rows if label != 1]
    won = all_pairs = Fraction(0)
    for (a, v), (b, w) in product(ones, zeros):
        all_pairs += v * w
        won += v * w * ((a > b) + Half * (a == b))
    return won / all_pairs


class Point(NamedTuple):
    tp: Fraction
    fp: Fraction


def points(t: Table) -> list[Point]:
    """(TP, FP) from (0, 0) on, at every threshold."""
    out = [Point(Fraction(0), Fraction(0))]
    for p, n in zip(t.pos, t.neg, strict=True):
        out.append(Point(out[-1].tp + p, out[-1].fp + n))
    return out


def confusion(
    y: Iterable[Any], score: Iterable[Any], threshold: float, weight: Iterable[Any] | None = None
) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """(TP, FP, FN, TN) by deciding row by row."""
    out = {(flag, label): Fraction(0) for flag in (True, False) for label in (True, False)}
    labels, scores = np.asarray(y).tolist(), np.asarray(score).tolist()
    weights = [Fraction(1)] * len(scores) if weight is None else exactly(weight)
    for label, s, w in zip(labels, scores, weights, strict=True):
        out[s >= threshold, label == 1] += w
    return out[True, True], out[True, False], out[False, True], out[False, False]


def average_precision(t: Table) -> Fraction:
    """Σ (Rᵢ − Rᵢ₋₁) Pᵢ."""
    return sum(
        ((b.tp - a.tp) / t.P * b.tp / (b.tp + b.fp) for a, b in pairwise(points(t))), Fraction(0)
    )


def kolmogorov_smirnov(t: Table) -> Fraction:
    return max(abs(p.tp / t.P - p.fp / t.N) for p in points(t))


def equal_error_rate(t: Table) -> Fraction:
    """Where the polygon through the ROC points meets FPR + TPR = 1."""
    roc = [(p.fp / t.N, p.tp / t.P) for p in points(t)]
    for (x0, y0), (x1, y1) in pairwise(roc):
        if x0 + y0 <= 1 <= x1 + y1:
            return x0 + (x1 - x0) * (1 - x0 - y0) / (x1 + y1 - x0 - y0)
    raise AssertionError("a ROC curve crosses the antidiagonal")


def area_over_fpr(t: Table, low: Fraction, high: Fraction) -> Fraction:
    """∫ TPR dFPR over [low, high]: each segment cut to the interval, then a trapezoid."""
    roc = [(p.fp / t.N, p.tp / t.P) for p in points(t)]
    return _area(roc, low, high)


def area_over_tpr(t: Table, low: Fraction, high: Fraction) -> Fraction:
    """∫ (1 − FPR) dTPR over [low, high]."""
    side = [(p.tp / t.P, 1 - p.fp / t.N) for p in points(t)]
    return _area(side, low, high)


def _area(curve: list[tuple[Fraction, Fraction]], low: Fraction, high: Fraction) -> Fraction:
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(curve):
        a, b = max(x0, low), min(x1, high)
        if a < b:
            slope = (y1 - y0) / (x1 - x0)
            area += (b - a) * (y0 + slope * ((a + b) / 2 - x0))
    return area


# --------------------------------------------------------------------------------- operating points
# ruff: noqa: ARG005 - measures take all four cells


def _over(part: Fraction, whole: Fraction) -> Fraction | None:
    return part / whole if whole else None


def _times(part: Fraction | None, whole: Fraction | None) -> Any:
    """A ratio of two rates, which may be infinite."""
    if part is None or whole is None or part == whole == 0:
        return None
    return part / whole if whole else float("inf")


def _f(beta: Fraction) -> Any:
    b = beta * beta
    return lambda a, fp, fn, _: _over((1 + b) * a, (1 + b) * a + fp + b * fn)


def _sum(*terms: Fraction | None) -> Fraction | None:
    return None if any(term is None for term in terms) else sum(terms, Fraction(0))  # type: ignore[arg-type]


def _mcc(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> float | None:
    under = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    # The only irrational one: equal values must not differ by a rounding.
    return round(float(tp * tn - fp * fn) / float(under) ** 0.5, 12) if under else None


# Of (tp, fp, fn, tn): the measure, None where it is 0/0, and whether more of it is better.
MEASURES: dict[str, tuple[Any, int]] = {
    "recall": (lambda tp, fp, fn, tn: _over(tp, tp + fn), 1),
    "precision": (lambda tp, fp, fn, tn: _over(tp, tp + fp), 1),
    "specificity": (lambda tp, fp, fn, tn: _over(tn, tn + fp), 1),
    "npv": (lambda tp, fp, fn, tn: _over(tn, tn + fn), 1),
    "accuracy": (lambda tp, fp, fn, tn: _over(tp + tn, tp + fp + fn + tn), 1),
    "error_rate": (lambda tp, fp, fn, tn: _over(fp + fn, tp + fp + fn + tn), -1),
    "fpr": (lambda tp, fp, fn, tn: _over(fp, fp + tn), -1),
    "fnr": (lambda tp, fp, fn, tn: _over(fn, tp + fn), -1),
    "flagged": (lambda tp, fp, fn, tn: tp + fp, -1),
    "flagged_rate": (lambda tp, fp, fn, tn: _over(tp + fp, tp + fp + fn + tn), -1),
    "balanced": (
        lambda tp, fp, fn, tn: _sum(_over(tp, 2 * (tp + fn)), _over(tn, 2 * (tn + fp))),
        1,
    ),
    "youden": (lambda tp, fp, fn, tn: _sum(_over(tp, tp + fn), _over(-fp, fp + tn)), 1),
    "f1": (_f(Fraction(1)), 1),
    "f0.5": (_f(Fraction(1, 2)), 1),
    "f2": (_f(Fraction(2)), 1),
    "mcc": (_mcc, 1),
    "lift": (
        lambda tp, fp, fn, tn: _over(tp * (tp + fp + fn + tn), (tp + fp) * (tp + fn)),
        1,
    ),
    "lr_positive": (lambda tp, fp, fn, tn: _times(_over(tp, tp + fn), _over(fp, fp + tn)), 1),
    "lr_negative": (lambda tp, fp, fn, tn: _times(_over(fn, tp + fn), _over(tn, fp + tn)), -1),
}


def cost(fp: str, fn: str, tp: str = "0", tn: str = "0") -> tuple[Any, int]:
    """Expected cost of a case, of costs as decimals."""
    costs = [Fraction(x) for x in (fp, fn, tp, tn)]

    def of(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> Fraction:
        return (costs[0] * b + costs[1] * c - costs[2] * a - costs[3] * d) / (a + b + c + d)

    return of, -1


_measured: dict[Any, Any] = {}


def remember(t: Table) -> None:
    """Forget what was measured before: questions on one table follow each other."""
    _measured.clear()
    _measured[None] = t


def _measure(of: Any, cells: tuple[Fraction, ...], prior: Fraction | None) -> Any:
    """A measure of four cells, computed once for the table that is remembered."""
    if None not in _measured or prior is not None:
        return of(*cells)
    key = (of, cells)
    if key not in _measured:
        _measured[key] = of(*cells)
    return _measured[key]


class Chosen(NamedTuple):
    """The best cut of all, by trying each."""

    cut: int
    value: Any
    feasible: bool


def choose(
    t: Table,
    objective: tuple[Any, int],
    limits: Sequence[tuple[str, str, Fraction]] = (),
    prior: Fraction | None = None,
) -> Chosen:
    """Try every cut: of equally good ones the fewest false alarms, then the most caught."""
    of, better = objective
    best: Chosen | None = None
    nearest: tuple[Any, ...] | None = None
    for cut, point in enumerate(points(t)):
        rows = cells = (point.tp, point.fp, t.P - point.tp, t.N - point.fp)
        if prior is not None:
            n = t.P + t.N
            p, q = prior * n / t.P, (1 - prior) * n / t.N
            cells = (p * cells[0], q * cells[1], p * cells[2], q * cells[3])
        value = _measure(of, cells, prior)
        short: Any = 0
        for name, sign, bound in limits:
            counted = name in ("tp", "fp", "fn", "tn", "flagged")
            measured = _measure(MEASURES[name][0], rows if counted else cells, prior)
            if measured is None:
                short = float("inf")
            elif not (measured >= bound if sign == ">=" else measured <= bound):
                short = max(short, abs(measured - bound) / (abs(bound) or 1))
        gain = better * value if value is not None else 0
        key = (-short, value is not None, gain, -point.fp, point.tp)
        if nearest is None or key > nearest:
            nearest, best = key, Chosen(cut, value, short == 0)
    assert best is not None
    return best
