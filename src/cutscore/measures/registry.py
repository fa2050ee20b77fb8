"""Measures of a confusion matrix by name: one row each, with all that is known of it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import inf
from typing import Any, Protocol

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, either
from cutscore.core.numbers import number_text, per_cent
from cutscore.measures.confusion import ALIASES, Confusion, Number

# What one more TP adds and one more FP takes away, for cuts of P positives and N negatives.
Gains = tuple[Fraction, Fraction]


class Objective(Protocol):
    """Anything that gives each confusion a number."""

    @property
    def name(self) -> str: ...

    @property
    def better(self) -> int:
        """1 if more is better, −1 if less is."""

    @property
    def helpful(self) -> bool:
        """Whether it never gets worse when a positive is caught or a negative spared."""

    def gains(self, P: Fraction, N: Fraction) -> Gains | None:
        """What it gains by a TP and loses by an FP, if that is the same at every cut."""

    def __call__(self, c: Confusion) -> Number: ...


# How much each of TP, FP, FN and TN counts in a sum.
Cells = tuple[int, int, int, int]
_POSITIVES: Cells = (1, 0, 1, 0)
_NEGATIVES: Cells = (0, 1, 0, 1)
_FLAGGED: Cells = (1, 1, 0, 0)
_ALL: Cells = (1, 1, 1, 1)


@dataclass(frozen=True)
class Measure:
    """All that is known of a named measure of a confusion; see :data:`MEASURES`."""

    name: str
    of: Callable[[Confusion], Number]
    better: int = 1
    helpful: bool = True
    monotone: bool = False
    """Whether it only rises, or only falls, from cut to cut."""
    linear: Callable[[Fraction, Fraction], Gains] | None = None
    beta: float | None = None
    """Of an F measure."""
    words: str = ""
    """What it is, for those who don't know its name."""
    called: str = ""
    """What people call it, if that is not its name."""
    part: Cells | None = None
    """What a count, or a ratio of sums, has above the line."""
    whole: Cells | None = None
    """And below it; None for a count."""
    even: bool = False
    """Whether both classes count the same in these sums, however many rows they have."""
    binomial: bool = False
    """Whether it is a share of counted rows, whose interval is that of a binomial one."""
    rate: bool = False
    """Whether it lies between 0 and 1."""
    prior_free: bool = False
    """Whether the share of positives does not change it."""
    guaranteed: str = ""
    """The signs of limits on it that can be guaranteed on new rows."""
    elsewhere: str = ""
    """What others call it."""
    reviews: bool = False
    """Whether it counts cases that are reviewed, so that there are two cuts."""

    @property
    def is_count(self) -> bool:
        """Whether it counts rows."""
        return self.whole is None and (self.part is not None or (self.reviews and not self.rate))

    @property
    def of_class(self) -> bool | None:
        """Of a rate of one class, whether that is the positive one."""
        return {_POSITIVES: True, _NEGATIVES: False}.get(self.whole or _ALL)

    @property
    def needs(self) -> tuple[bool, bool]:
        """Whether it says nothing of rows without positives, and of rows without negatives: it is
        0/0 there, or has the same value at all cuts. Counts, and reviews, are what they are."""
        if self.is_count or self.reviews:
            return False, False
        if self.beta is not None:
            return True, False
        if self.part is None or self.even:
            return True, True
        tp, fp, fn, tn = self.part
        return not (fp or tn), not (tp or fn)

    def sums(self, c: Confusion) -> tuple[Number, Number]:
        """What is above and below the line."""
        cells = (c.tp, c.fp, c.fn, c.tn)
        assert self.part is not None
        assert self.whole is not None
        up, down = (
            sum((cell for w, cell in zip(weights, cells, strict=True) if w), 0 * c.tp)
            for weights in (self.part, self.whole)
        )
        return up, down

    def gains(self, P: Fraction, N: Fraction) -> Gains | None:
        return self.linear(P, N) if self.linear and P and N else None

    def __call__(self, c: Confusion) -> Number:
        return self.of(c)


def f(beta: float) -> Measure:
    """The objective F_β: recall counts β times as much as precision.

    F_β = (1+β²) TP / ((1+β²) TP + FP + β² FN).

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> cs.choose(s, cs.f(2)).confusion
    8 cases, 4 positive; 4 caught, 0 missed, 2 false alarms
    """
    try:
        b = float(beta)
    except (TypeError, ValueError, OverflowError):
        b = inf
    if not 0 <= b < inf:
        raise DataError(BadArgument("beta", "be finite and at least 0", beta))
    words = f"F measure in which recall counts {b:g} times as much as precision"
    return Measure(f"f{b:g}", operator.methodcaller("f", b), beta=b, words=words)


def _equal_class_gains(p: Fraction, n: Fraction) -> Gains:
    return 1 / p, 1 / n


def _equal_case_gains(_: Fraction, __: Fraction) -> Gains:
    return Fraction(1), Fraction(1)


def _count(name: str, words: str, part: Cells, better: int = 1, **more: Any) -> Measure:
    return _measure(name, words, part=part, better=better, monotone=True, **more)


def _class_rate(name: str, words: str, part: Cells, whole: Cells, **more: Any) -> Measure:
    fixed = {"monotone": True, "binomial": True, "rate": True, "prior_free": True}
    return _measure(name, words, part=part, whole=whole, **fixed, **more)


def _measure(name: str, words: str, **facts: Any) -> Measure:
    return Measure(name, operator.attrgetter(name), words=words, **facts)


def _rows() -> list[Measure]:
    """One row a measure."""
    tp, fp, fn, tn = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
    return [
        _count("tp", "positives caught", tp, prior_free=True),
        _count("fp", "false alarms", fp, -1, prior_free=True),
        _count("fn", "positives missed", fn, -1, prior_free=True),
        _count("tn", "negatives not flagged", tn, prior_free=True),
        _class_rate(
            *("recall", "share of positives caught", tp, _POSITIVES),
            called="recall",
            guaranteed=">",
            elsewhere="hit_rate rappel",
        ),
        _class_rate(
            *("fpr", "false positive rate", fp, _NEGATIVES),
            better=-1,
            called="false positive rate",
            guaranteed="<",
            elsewhere="fall_out fallout",
        ),
        _class_rate(
            *("fnr", "share of positives missed", fn, _POSITIVES),
            better=-1,
            called="miss rate",
            guaranteed="<",
        ),
        _class_rate(
            *("specificity", "share of negatives not flagged", tn, _NEGATIVES),
            called="specificity",
            guaranteed=">",
            elsewhere="selectivity",
        ),
        _count(
            *("flagged", "number flagged", _FLAGGED, -1),
            helpful=False,
            prior_free=True,
            guaranteed="<>",
            elsewhere="alerts alarms inspections investigations capacity budget",
        ),
        _measure(
            *("flagged_rate", "share flagged"),
            better=-1,
            helpful=False,
            monotone=True,
            called="share flagged",
            part=_FLAGGED,
            whole=_ALL,
            binomial=True,
            rate=True,
            guaranteed="<>",
        ),
        _measure(
            *("precision", "share of the flagged that is positive"),
            called="precision",
            part=tp,
            whole=_FLAGGED,
            binomial=True,
            rate=True,
            guaranteed=">",
        ),
        _measure(
            *("npv", "negative predictive value"),
            called="negative predictive value",
            part=tn,
            whole=(0, 0, 1, 1),
            rate=True,
            guaranteed=">",
        ),
        _measure(
            *("reviewed", "number reviewed"),
            better=-1,
            helpful=False,
            prior_free=True,
            reviews=True,
            elsewhere="reviews",
        ),
        _measure(
            *("review_rate", "share reviewed"),
            better=-1,
            helpful=False,
            called="share reviewed",
            rate=True,
            guaranteed="<",
            reviews=True,
        ),
        _measure("lift", "precision over prevalence", called="lift", part=tp, whole=_FLAGGED),
        _measure("lr_positive", "positive likelihood ratio, LR+", prior_free=True),
        _measure(
            *("lr_negative", "negative likelihood ratio, LR−"),
            better=-1,
            prior_free=True,
        ),
        _measure(
            *("accuracy", "share of correct decisions"),
            linear=_equal_case_gains,
            called="accuracy",
            part=(1, 0, 0, 1),
            whole=_ALL,
            rate=True,
        ),
        _measure(
            *("error_rate", "share of wrong decisions"),
            better=-1,
            linear=_equal_case_gains,
            called="error rate",
            part=(0, 1, 1, 0),
            whole=_ALL,
            rate=True,
        ),
        _measure(
            *("balanced_rate", "mean of recall and specificity"),
            linear=_equal_class_gains,
            called="balanced accuracy",
            part=(1, 0, 0, 1),
            whole=_ALL,
            even=True,
            rate=True,
            prior_free=True,
        ),
        _measure(
            *("youden", "recall + specificity − 1"),
            called="Youden index",
            linear=_equal_class_gains,
            part=(1, -1, -1, 1),
            whole=_ALL,
            even=True,
            prior_free=True,
            elsewhere="informedness",
        ),
        _measure(
            *("mcc", "Matthews correlation coefficient"),
            called="Matthews correlation coefficient",
        ),
        _measure(
            *("f1", "harmonic mean of precision and recall"),
            beta=1.0,
            called="F1",
            elsewhere="f_score f_measure",
        ),
    ]


def _measures() -> dict[str, Measure]:
    known = {measure.name: measure for measure in _rows()}
    return known | {alias: known[name] for alias, name in ALIASES.items()}


MEASURES = _measures()
"""Every measure that has a name, under each of its names. Spaces stand for underscores."""


# What measures are called where people read of them, if not by their names.
WORDS = {m.name: m.called for m in MEASURES.values() if m.called} | {"cost": "cost per case"}


def find_measure(name: str) -> Measure:
    key = _key(name)
    if key in MEASURES:
        return MEASURES[key]
    for measure in MEASURES.values():  # as a message explains it
        if key in (_key(measure.words), _key(measure.called)):
            return measure
    beta = re.fullmatch(r"f(\d+(?:\.\d*)?)", key)
    if beta:
        return f(float(beta[1]))
    raise DataError(_unknown(name, key))


_OTHER_NAMES = {other: m.name for m in MEASURES.values() for other in m.elsewhere.split()}
# Numbers that no cut has.
_OF_ALL_CUTS = {"auc", "roc_auc", "auroc", "pr_auc", "average_precision", "gini"}


def _unknown(name: str, key: str) -> BadArgument:
    return BadArgument("measure", "be a known one", name, _near_names(key), "the measure")


def _near_names(key: str) -> str:
    """What was meant instead of a name that no measure has."""
    if key in _OF_ALL_CUTS:
        return "It summarises all thresholds, so it can't be used to choose one."
    if key in ("ks", "ks_statistic", "kolmogorov_smirnov"):
        return "The Kolmogorov–Smirnov statistic is the highest Youden index: use youden."
    if near := [f"{one} ({MEASURES[one].words})" for one in _similar_names(key)]:
        return f"Did you mean {either(near, show=str)}?"
    # What most people ask for comes first.
    names = dict.fromkeys(m.name for m in MEASURES.values() if m.beta is None)
    known = (*sorted(names, key=lambda one: MEASURES[one].is_count), "f1", "f2", "f0.5")
    return f"Known measures: {', '.join(known)} …"


def _similar_names(key: str) -> list[str]:
    """Names that may be meant: what it is called here, those that start so, if they are few
    measures, or one like it."""
    if key in _OTHER_NAMES:
        return [_OTHER_NAMES[key]]
    starts: dict[str, str] = {}
    for name, measure in MEASURES.items():
        if name.startswith(key):
            starts.setdefault(measure.name, name)
    if 0 < len(starts) <= 3:
        return list(starts.values())
    return get_close_matches(key[:100], list(MEASURES), 1, 0.7)


def _key(name: str) -> str:
    ratio = re.fullmatch(r"lr ?([+−-])", name.strip().lower())  # as they are written
    if ratio:
        return "lr_positive" if ratio[1] == "+" else "lr_negative"
    return re.sub(r"[\s_-]+", "_", re.sub("['’]", "", name.strip().lower()))


def is_rate(name: str) -> bool:
    """Whether a measure is a share of cases, which is written in per cent."""
    return name in MEASURES and MEASURES[name].rate


def measure_text(name: str, value: float) -> str:
    """The value of a measure.

    Examples
    --------
    >>> from cutscore.measures.registry import measure_text
    >>> measure_text("recall", 0.8125), measure_text("mcc", 0.8125)
    ('81.2 %', '0.812')
    """
    return per_cent(value) if is_rate(name) else number_text(value)
