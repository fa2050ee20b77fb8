"""The four counts at a threshold, and every rate that people make of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import attrgetter
from typing import Any

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.html import fact_table, grid_table

# A count or rate at one cut (a Python number), or at many cuts at once (an array).
Number = Any


def _ratio(part: Number, whole: Number) -> Number:
    """``part / whole``; 0/0 is nan: a rate of nothing has no value."""
    if isinstance(whole, np.ndarray) or isinstance(part, np.ndarray):
        part, whole = np.broadcast_arrays(np.asarray(part), np.asarray(whole))
        out = np.full(whole.shape, np.nan)
        with np.errstate(over="ignore"):
            return np.divide(part, whole, out=out, where=whole != 0)
    return part / whole if whole else float("nan")


def _times(part: Number, whole: Number) -> Number:
    """How many times ``whole`` goes into ``part``: 0/0 is nan, anything else over 0 is inf."""
    times, beyond = _ratio(part, whole), (whole == 0) & (part > 0)
    if isinstance(times, np.ndarray):
        return np.where(beyond, np.inf, times)
    return float("inf") if beyond else times


class Alias(property):
    """Another name of a count or rate."""

    def __init__(self, name: str) -> None:
        super().__init__(attrgetter(name), doc=f"The same as ``{name}``.")
        self.name = name


def count_text(mass: Number) -> str:
    """A count or a sum of weights for people to read."""
    return f"{mass:,}" if isinstance(mass, (int, np.integer)) else f"{mass:,.6g}"


@dataclass(frozen=True, slots=True, repr=False)
class Confusion:
    r"""True and false positives and negatives at a threshold.

    The rates use the names of the literature, several where it has several; ``0/0`` is ``nan`` in
    all of them. Counts may also be arrays, one entry a cut: the rates are then arrays too.

    Parameters
    ----------
    tp, fp, fn, tn : int, float or array
        True positives, false positives (false alarms), false negatives (misses) and true
        negatives: integers when the rows are unweighted.

    Examples
    --------
    >>> from cutscore import Confusion
    >>> c = Confusion(tp=17, fp=41, fn=3, tn=9939)
    >>> c.recall, round(c.precision, 3), round(c.fpr, 4)
    (0.85, 0.293, 0.0041)
    >>> c.sensitivity, round(c.lr_positive, 1), round(c.lr_negative, 3)
    (0.85, 206.9, 0.151)
    >>> c
    10,000 cases, 20 positive; 17 caught, 3 missed, 41 false alarms
    """

    tp: Number
    fp: Number
    fn: Number
    tn: Number

    @property
    def positives(self) -> Number:
        """P = TP + FN."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Number:
        """N = FP + TN."""
        return self.fp + self.tn

    @property
    def total(self) -> Number:
        """All cases, or their weight."""
        return self.positives + self.negatives

    @property
    def flagged(self) -> Number:
        """TP + FP: how many cases are decided positive."""
        return self.tp + self.fp

    @property
    def reviewed_positives(self) -> Number:
        """Positives that are neither flagged nor passed: 0 of one cut, see :class:`Triage`."""
        return 0 * self.tp

    @property
    def reviewed(self) -> Number:
        """How many cases are reviewed: 0 of one cut, see :class:`Triage`."""
        return 0 * self.tp

    @property
    def review_rate(self) -> Number:
        """The share of cases that is reviewed."""
        return _ratio(self.reviewed, self.total)

    @property
    def prevalence(self) -> Number:
        """P / (P + N)."""
        return _ratio(self.positives, self.total)

    @property
    def recall(self) -> Number:
        """TP / P, also called sensitivity, hit rate, TPR."""
        return _ratio(self.tp, self.positives)

    @property
    def fpr(self) -> Number:
        """FP / N, the false positive rate."""
        return _ratio(self.fp, self.negatives)

    @property
    def fnr(self) -> Number:
        """FN / P, the miss rate."""
        return _ratio(self.fn, self.positives)

    @property
    def specificity(self) -> Number:
        """TN / N, also called TNR."""
        return _ratio(self.tn, self.negatives)

    @property
    def precision(self) -> Number:
        """TP / (TP + FP), also called positive predictive value."""
        return _ratio(self.tp, self.flagged)

    @property
    def npv(self) -> Number:
        """TN / (TN + FN), the negative predictive value."""
        return _ratio(self.tn, self.tn + self.fn)

    @property
    def flagged_rate(self) -> Number:
        """(TP + FP) / (P + N)."""
        return _ratio(self.flagged, self.total)

    @property
    def accuracy(self) -> Number:
        """(TP + TN) / (P + N)."""
        return _ratio(self.tp + self.tn, self.total)

    @property
    def error_rate(self) -> Number:
        """(FP + FN) / (P + N), the 0-1 loss."""
        return _ratio(self.fp + self.fn, self.total)

    @property
    def balanced_rate(self) -> Number:
        """½ (TP/P + TN/N), also called balanced accuracy."""
        sizes = self._class_sizes()
        if sizes is None:
            return 0.5 * (self.recall + self.specificity)
        p, n = sizes
        return _ratio(self.tp * n + self.tn * p, 2 * p * n)

    @property
    def youden(self) -> Number:
        """Youden's J = TPR − FPR."""
        sizes = self._class_sizes()
        if sizes is None:
            return self.recall - self.fpr
        p, n = sizes
        return _ratio(self.tp * n - self.fp * p, p * n)

    def _class_sizes(self) -> tuple[Number, Number] | None:
        """P and N, where products with them are safe: one quotient of those is rounded once, and
        1 − 0.8 is 0.2."""
        p, n = self.positives, self.negatives
        return (p, n) if 1e-140 < np.max(p + n, initial=0) < 2**26 else None

    @property
    def lift(self) -> Number:
        """Precision over prevalence: how much richer the flagged cases are than all."""
        if self._class_sizes() is None:
            return _ratio(self.precision, self.prevalence)
        return _ratio(self.tp * self.total, self.flagged * self.positives)

    @property
    def lr_positive(self) -> Number:
        """TPR / FPR, the likelihood ratio LR+ of a flagged case; x/0 is inf."""
        sizes = self._class_sizes()
        if sizes is None:
            return _times(self.recall, self.fpr)
        p, n = sizes
        return _times(self.tp * n, self.fp * p)

    @property
    def lr_negative(self) -> Number:
        """FNR / TNR, the likelihood ratio LR− of a case that is not flagged; x/0 is inf."""
        sizes = self._class_sizes()
        if sizes is None:
            return _times(self.fnr, self.specificity)
        p, n = sizes
        return _times(self.fn * n, self.tn * p)

    @property
    def f1(self) -> Number:
        """2 TP / (2 TP + FP + FN)."""
        return self.f(1.0)

    def f(self, beta: float) -> Number:
        """F_β = (1+β²) TP / ((1+β²) TP + FP + β² FN): recall counts β times as much as
        precision."""
        if not 0 <= beta < np.inf:
            raise DataError(BadArgument("beta", "be finite and at least 0", beta))
        # Divided by the larger of 1 and β², which may be past every float.
        a, b = (1.0, beta * beta) if beta <= 1 else ((1 / beta) ** 2, 1.0)
        return _ratio((a + b) * self.tp, (a + b) * self.tp + a * self.fp + b * self.fn)

    @property
    def mcc(self) -> Number:
        """Matthews' correlation of decision and label; nan if either never varies."""
        # As floats, since a product of counts overflows an int64; scaled by a power of two, which
        # rounds nothing, since products of weights leave the floats; and the roots in these pairs,
        # since that makes a perfect decision exactly 1.
        cells = (self.tp, self.fp, self.fn, self.tn)
        tp, fp, fn, tn = (np.multiply(cell, 1.0) for cell in cells)
        if not all(
            isinstance(cell, (int, np.ndarray)) and np.asarray(cell).dtype.kind == "i"
            for cell in cells
        ):
            _, size = np.frexp(reduce(np.maximum, (tp, fp, fn, tn)))
            tp, fp, fn, tn = (np.ldexp(cell, -size) for cell in (tp, fp, fn, tn))
        scale = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
        mcc = np.clip(_ratio(tp * tn - fp * fn, scale), -1.0, 1.0)
        return mcc if isinstance(mcc, np.ndarray) else float(mcc)

    # Names that others use, and those in which counts are printed; measures are known by all.
    tpr = Alias("recall")
    true_positive_rate = Alias("recall")
    sensitivity = Alias("recall")
    tnr = Alias("specificity")
    true_negative_rate = Alias("specificity")
    ppv = Alias("precision")
    positive_predictive_value = Alias("precision")
    balanced = Alias("balanced_rate")
    balanced_accuracy = Alias("balanced_rate")
    error = Alias("error_rate")
    caught = Alias("tp")
    missed = Alias("fn")
    false_alarms = Alias("fp")
    false_alarm_rate = Alias("fpr")
    false_positive_rate = Alias("fpr")
    false_negative_rate = Alias("fnr")
    miss_rate = Alias("fnr")
    share_flagged = Alias("flagged_rate")
    alert_rate = Alias("flagged_rate")
    negative_predictive_value = Alias("npv")
    f1_score = Alias("f1")
    matthews_correlation = Alias("mcc")
    positive_likelihood_ratio = Alias("lr_positive")
    negative_likelihood_ratio = Alias("lr_negative")

    def deployed(self, prior: float) -> Confusion:
        """The same rates among as many cases, of which the share ``prior`` is positive.

        Examples
        --------
        >>> from cutscore import Confusion
        >>> Confusion(tp=40, fp=5, fn=10, tn=45).deployed(0.1)
        100 cases, 10 positive; 8 caught, 2 missed, 9 false alarms
        """
        p, n = prior * self.total, (1 - prior) * self.total
        return Confusion(p * self.recall, n * self.fpr, p * self.fnr, n * self.specificity)

    def __repr__(self) -> str:
        if isinstance(self.tp, np.ndarray):
            return f"Confusion at {self.tp.size:,} thresholds"
        n, p, tp, fn, fp = map(count_text, (self.total, self.positives, self.tp, self.fn, self.fp))
        cases, alarms = ("case" if n == "1" else "cases"), ("alarm" if fp == "1" else "alarms")
        return f"{n} {cases}, {p} positive; {tp} caught, {fn} missed, {fp} false {alarms}"

    def _repr_html_(self) -> str:
        if isinstance(self.tp, np.ndarray):
            return fact_table(repr(self), ())
        rates = [
            f"{name} {'0/0' if np.isnan(rate) else f'{100 * rate:.3g} %'}"
            for name, rate in (
                ("recall", self.recall),
                ("precision", self.precision),
                ("false positive rate", self.fpr),
            )
        ]
        rows = (("positive", self.tp, self.fn), ("negative", self.fp, self.tn))
        return grid_table(
            "Confusion matrix",
            ("", "flagged", "not flagged"),
            [(name, *map(count_text, counts)) for name, *counts in rows],
            ", ".join(rates),
        )


ALIASES = {name: own.name for name, own in vars(Confusion).items() if isinstance(own, Alias)}
"""Other names, and what each stands for."""
