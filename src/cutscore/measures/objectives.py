"""What people aim at: costs, measures of a confusion by name, and limits on them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from math import inf, isfinite, log
from typing import Any, Protocol

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Shown, kept, shown
from cutscore.core.findings.statistics import BadCosts, BadLimit, MeasureUnknown, Undefined
from cutscore.core.json import plain, read
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
        """Whether it never gets worse when a positive is caught or a negative left alone."""

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
    """What it is called in tables, if it stands there."""
    aim: str = ""
    """What is aimed at, if "the most" or "the least" of its name would not say it."""
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
    """The signs of limits on it that can be shown to hold out of sample."""
    elsewhere: str = ""
    """What others call it."""

    @property
    def is_count(self) -> bool:
        """Whether it counts rows."""
        return self.part is not None and self.whole is None

    @property
    def of_class(self) -> bool | None:
        """Of a rate of one class, whether that is the positive one."""
        return {_POSITIVES: True, _NEGATIVES: False}.get(self.whole or _ALL)

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
    of 8 cases 4 are positive: 4 caught, 0 missed, 2 false alarms
    """
    try:
        b = float(beta)
    except (TypeError, ValueError, OverflowError):
        b = inf
    if not 0 <= b < inf:
        raise DataError(BadArgument("beta", "be finite and at least 0", beta))
    words = "recall counts so many times as much as precision"
    return Measure(f"f{b:g}", operator.methodcaller("f", b), beta=b, words=words)


def _even(p: Fraction, n: Fraction) -> Gains:
    return 1 / p, 1 / n


def _each(_: Fraction, __: Fraction) -> Gains:
    return Fraction(1), Fraction(1)


def _count(name: str, words: str, aim: str, part: Cells, better: int = 1, **more: Any) -> Measure:
    return _measure(name, words, aim=aim, part=part, better=better, monotone=True, **more)


def _class_rate(name: str, words: str, part: Cells, whole: Cells, **more: Any) -> Measure:
    fixed = {"monotone": True, "binomial": True, "rate": True, "prior_free": True}
    return _measure(name, words, part=part, whole=whole, **fixed, **more)


def _measure(name: str, words: str, **facts: Any) -> Measure:
    return Measure(name, operator.attrgetter(name), words=words, **facts)


def _rows() -> list[Measure]:
    """One row a measure."""
    tp, fp, fn, tn = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
    return [
        _count("tp", "positives caught", "the most positives caught", tp, prior_free=True),
        _count("fp", "false alarms", "the fewest false alarms", fp, -1, prior_free=True),
        _count("fn", "positives missed", "the fewest misses", fn, -1, prior_free=True),
        _count("tn", "negatives left alone", "the most negatives left alone", tn, prior_free=True),
        _class_rate(
            *("recall", "share of positives caught", tp, _POSITIVES),
            called="recall",
            guaranteed=">",
            elsewhere="true_positive_rate hit_rate rappel",
        ),
        _class_rate(
            *("fpr", "false alarm rate", fp, _NEGATIVES),
            better=-1,
            called="false alarm rate",
            aim="the least false alarm rate",
            guaranteed="<",
            elsewhere="false_positive_rate fall_out fallout",
        ),
        _class_rate(
            *("fnr", "share of positives missed", fn, _POSITIVES),
            better=-1,
            aim="the least share of positives missed",
            guaranteed="<",
            elsewhere="false_negative_rate miss_rate",
        ),
        _class_rate(
            *("specificity", "share of negatives left alone", tn, _NEGATIVES),
            called="specificity",
            guaranteed=">",
            elsewhere="true_negative_rate selectivity",
        ),
        _count(
            *("flagged", "how many are flagged", "the fewest flagged", _FLAGGED, -1),
            helpful=False,
            prior_free=True,
            guaranteed="<>",
            elsewhere="alerts alarms inspections reviews investigations capacity budget",
        ),
        _measure(
            *("flagged_rate", "share flagged"),
            better=-1,
            helpful=False,
            monotone=True,
            called="share flagged",
            aim="the least share flagged",
            part=_FLAGGED,
            whole=_ALL,
            binomial=True,
            rate=True,
            guaranteed="<>",
            elsewhere="alert_rate",
        ),
        _measure(
            *("precision", "share of the flagged that is positive"),
            called="precision",
            part=tp,
            whole=_FLAGGED,
            binomial=True,
            rate=True,
            guaranteed=">",
            elsewhere="positive_predictive_value",
        ),
        _measure(
            *("npv", "negative predictive value"),
            called="negative predictive value",
            aim="the best negative predictive value",
            part=tn,
            whole=(0, 0, 1, 1),
            rate=True,
        ),
        _measure("lift", "precision over prevalence", called="lift", part=tp, whole=_FLAGGED),
        _measure("lr_positive", "likelihood ratio LR+ of the flagged", prior_free=True),
        _measure(
            *("lr_negative", "likelihood ratio LR− of those left alone"), better=-1, prior_free=True
        ),
        _measure(
            *("accuracy", "share decided right"),
            linear=_each,
            called="accuracy",
            part=(1, 0, 0, 1),
            whole=_ALL,
            rate=True,
        ),
        _measure(
            *("error_rate", "share decided wrong"),
            better=-1,
            linear=_each,
            aim="the least share of errors",
            part=(0, 1, 1, 0),
            whole=_ALL,
            rate=True,
        ),
        _measure(
            *("balanced_rate", "mean of recall and specificity"),
            linear=_even,
            called="balanced rate",
            aim="the best mean of recall and specificity",
            part=(1, 0, 0, 1),
            whole=_ALL,
            even=True,
            rate=True,
            prior_free=True,
        ),
        _measure(
            *("youden", "recall + specificity − 1"),
            linear=_even,
            aim="the best Youden index (recall + specificity − 1)",
            part=(1, -1, -1, 1),
            whole=_ALL,
            even=True,
            prior_free=True,
            elsewhere="informedness",
        ),
        _measure(
            *("mcc", "Matthews' correlation"),
            called="Matthews' correlation",
            aim="the best Matthews' correlation",
        ),
        _measure(
            *("f1", "harmonic mean of precision and recall"),
            beta=1.0,
            called="F1",
            aim="the best F1",
            elsewhere="f_score f1_score f_measure",
        ),
    ]


def _measures() -> dict[str, Measure]:
    known = {measure.name: measure for measure in _rows()}
    return known | {alias: known[name] for alias, name in ALIASES.items()}


MEASURES = _measures()
"""Every measure that has a name, under each of its names. Spaces stand for underscores."""


# What measures are called where people read of them, if not by their names.
WORDS = {m.name: m.called for m in MEASURES.values() if m.called} | {"cost": "cost of a case"}


@dataclass(frozen=True)
class Costs:
    """What each outcome costs or brings in: the objective of a decision.

    Parameters
    ----------
    fp, fn
        Cost of a false alarm and of a missed positive (λ₋ and λ₊ of the literature).
    tp, tn
        Benefit of a caught positive and of a negative left alone; a negative one is a cost, as that
        of acting on a case.

    Notes
    -----
    A decision depends on two differences only: what a positive gains by being flagged,
    λ₊ = fn + tp, and what a negative loses by it, λ₋ = fp + tn. Neither may be less than 0.

    Examples
    --------
    >>> import cutscore as cs
    >>> costs = cs.Costs(fp=1, fn=20)
    >>> costs.ratio, round(costs.probability, 4), round(costs.log_odds, 4)
    (0.05, 0.0476, -2.9957)
    >>> round(costs.llr(prior=0.002), 4)  # for scores that are log-likelihood ratios
    3.2169
    >>> round(costs.probability_cost(prior=0.02), 4)  # the axis of cost_curve
    0.2899
    """

    fp: float
    fn: float
    tp: float = 0.0
    tn: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            cost = number(value)
            if not abs(cost) <= 1e100:
                rule = "a cost must be a finite number, up to 1e100"
                each = "Where each case has its own, weigh rows by it: see 'Weights'."
                raise DataError(
                    BadCosts(
                        f"{rule}; {field.name} is {shown(value)}", each if np.ndim(value) else ""
                    )
                )
            object.__setattr__(self, field.name, cost)
        for what, a, b in (("positive gains", "fn", "tp"), ("negative loses", "fp", "tn")):
            worth = getattr(self, a) + getattr(self, b)
            if worth < 0:
                rule = f"what a {what} by being flagged, {a} + {b}, must be at least 0"
                hint = "Costs are positive numbers, and so are the benefits tp and tn."
                raise DataError(BadCosts(f"{rule}; it is {worth:g}", hint))
        if not self.on_positives + self.on_negatives:
            raise DataError(
                BadCosts("some decision must make a difference; with these costs none does")
            )

    @property
    def on_positives(self) -> Fraction:
        """λ₊ = fn + tp, as the decimal number that it is written as."""
        return _decimal(self.fn) + _decimal(self.tp)

    @property
    def on_negatives(self) -> Fraction:
        """λ₋ = fp + tn."""
        return _decimal(self.fp) + _decimal(self.tn)

    @property
    def ratio(self) -> float:
        """λ₋/λ₊: how many missed positives a false alarm is worth."""
        if not self.on_positives:
            return inf
        try:
            return float(self.on_negatives / self.on_positives)
        except OverflowError:
            return inf

    @property
    def log_odds(self) -> float:
        """w₀ = ln(λ₋/λ₊): the best threshold for scores that are log posterior odds."""
        up, down = self.on_negatives, self.on_positives
        if not (up and down):
            return inf if up else -inf
        ratio = up / down
        return log(ratio.numerator) - log(ratio.denominator)

    @property
    def probability(self) -> float:
        """λ₋/(λ₋+λ₊): the best threshold for scores that are probabilities."""
        return float(self.on_negatives / (self.on_negatives + self.on_positives))

    def llr(self, prior: float) -> float:
        """ln(λ₋/λ₊) − ln clr: the best threshold for scores that are log-likelihood ratios, where
        the share ``prior`` of the cases is positive and clr = prior / (1 − prior)."""
        return self.log_odds - log_odds(prior)

    def probability_cost(self, prior: float) -> float:
        """π₊λ₊ / (π₊λ₊ + π₋λ₋): where these costs are on the axis of a cost curve, if the share
        ``prior`` of the cases is positive."""
        up = Fraction(check_prior(prior)) * self.on_positives
        return float(up / (up + (1 - Fraction(prior)) * self.on_negatives))

    @property
    def name(self) -> str:
        """What is aimed at: "cost"."""
        return "cost"

    @property
    def better(self) -> int:
        """-1: less is better."""
        return -1

    @property
    def helpful(self) -> bool:
        """True: it never gets worse when a positive is caught or a negative left alone."""
        return True

    def gains(self, _: Fraction, __: Fraction) -> Gains:
        """λ₊ and λ₋: what a TP gains and an FP loses, however many of each class there are."""
        return self.on_positives, self.on_negatives

    def __call__(self, c: Confusion) -> Number:
        """Expected cost of a case."""
        cost = self.fp * c.fp + self.fn * c.fn - self.tp * c.tp - self.tn * c.tn
        return cost / c.total

    def __repr__(self) -> str:
        shown_fields = (
            f"{field.name}={getattr(self, field.name):g}"
            for field in fields(self)
            if field.name in ("fp", "fn") or getattr(self, field.name)
        )
        return f"Costs({', '.join(shown_fields)})"


@dataclass(frozen=True)
class _Custom:
    """A user's function of (tp, fp, fn, tn), of which more is better."""

    function: Callable[..., Any]
    better: int = 1
    helpful: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        if self.label:
            return self.label
        name = getattr(self.function, "__name__", "<")
        return "objective" if name.startswith("<") else name

    def gains(self, _: Fraction, __: Fraction) -> None:
        return None

    def __call__(self, c: Confusion) -> Number:
        cells = [np.atleast_1d(cell) for cell in (c.tp, c.fp, c.fn, c.tn)]
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no value, here as elsewhere
            value = np.asarray(self.function(*cells))
        if value.shape != cells[0].shape or value.dtype.kind not in "biuf":
            rule = "return a number for each cut, an array as long as tp"
            got = Shown(f"{value.dtype} of the shape {value.shape}")
            hint = "Write it with NumPy operations."
            raise DataError(BadArgument("objective", rule, got, hint, "an objective"))
        out = value.astype(np.float64)
        return out if np.ndim(c.tp) else out.item()


@dataclass(frozen=True)
class Top:
    """A measure of the rows that score highest, such as ``"precision@500"`` or ``"recall@5 %"``:
    as many are flagged as there may be, whatever that does to the measure."""

    name: str
    measure: Measure
    limit: Limit
    """How many may be flagged, or which share."""
    helpful: bool = False

    @property
    def better(self) -> int:
        return self.measure.better

    def gains(self, _: Fraction, __: Fraction) -> None:
        return None

    def __call__(self, c: Confusion) -> Number:
        return self.measure(c)


_AT = re.compile(r"\s*([^@]+?)\s*@\s*(\d[\d_]*(?:\.\d+)?)\s*(%?)\s*")


def _top(name: str) -> Top | None:
    """``measure@k``, or None if it is not written so."""
    at = _AT.fullmatch(name)
    if at is None:
        return None
    measure, number, sign = _named(at[1]), at[2].replace("_", ""), " %" if at[3] else ""
    limit = _limit(f"flagged{'_rate' if sign else ''} <= {number}{sign}")
    return Top(f"{measure.name}@{number}{sign}", measure, limit)


@dataclass(frozen=True, eq=False)
class Aim:
    """What is asked of a threshold: it can be asked of other rows again.

    Parameters
    ----------
    goal
        What to have the most or the least of, as for :func:`cutscore.choose`. Where nobody asked,
        the balanced rate.
    limits
        What must hold, as ``subject_to`` of :func:`cutscore.choose`.
    prior
        The share of positives where it is used; None for that of the rows.
    confidence
        With which the limits are to hold on new rows; None if on these.
    units
        For a confidence where rows come in units: what :func:`cutscore.units` makes of them.
    level
        Of intervals.
    assumed
        Whether nobody asked for the goal.

    Examples
    --------
    >>> import cutscore as cs
    >>> aim = cs.Aim("recall", "fpr <= 1 %", confidence=0.95)
    >>> aim
    Aim(recall, fpr <= 0.01, confidence=0.95)
    >>> cs.Aim.from_dict(aim.to_dict())
    Aim(recall, fpr <= 0.01, confidence=0.95)
    """

    goal: Objective = None  # type: ignore[assignment]  # never None once it is made
    limits: tuple[Limit, ...] = ()
    prior: float | None = None
    confidence: float | None = None
    units: Any = None
    level: float = 0.95
    assumed: bool = False

    def __post_init__(self) -> None:
        goal: Any = self.goal
        assumed = self.assumed or goal is None
        goal = MEASURES["balanced_rate"] if goal is None else as_objective(goal)
        limits, confidence = as_limits(self.limits), self.confidence
        if isinstance(goal, Top):
            if confidence is not None:
                rule = f"{goal.name} flags as many rows as it says, and a confidence is for limits"
                hint = f"Ask for {goal.measure.name} subject to limits, or leave {{0}} out."
                raise DataError(Conflict(("confidence",), rule, hint))
            limits = [goal.limit, *(limit for limit in limits if limit != goal.limit)]
        values = {
            "goal": goal,
            "limits": tuple(limits),
            "prior": None if self.prior is None else check_prior(self.prior),
            "confidence": None if confidence is None else check_level(confidence, "confidence"),
            "level": check_level(self.level),
            "assumed": assumed,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def asked(  # noqa: PLR0913 - the options of users
        cls,
        *,
        costs: Any = None,
        maximize: Any = None,
        subject_to: Any = (),
        prior: float | None = None,
        confidence: float | None = None,
        level: float = 0.95,
    ) -> Aim:
        """The aim of those who give costs or a measure, or neither. A confidence without limits
        has nothing to hold."""
        if costs is not None and maximize is not None:
            raise DataError(Conflict(("costs", "maximize"), "there must be one aim"))
        goal = maximize if costs is None else check_costs(costs)
        limits = tuple(as_limits(subject_to))
        return cls(goal, limits, prior, confidence if limits else None, level=level)

    @property
    def costs(self) -> Costs | None:
        """The goal, if it is the least cost."""
        return self.goal if isinstance(self.goal, Costs) else None

    @property
    def limit_texts(self) -> tuple[str, ...]:
        """The limits besides that of the goal itself."""
        own = self.goal.limit if isinstance(self.goal, Top) else None
        return tuple(limit.text for limit in self.limits if limit != own)

    @property
    def words(self) -> str:
        """The goal, limits and confidence."""
        sure = f", with {100 * self.confidence:g} % confidence" if self.confidence else ""
        return ", ".join([self.goal.name, *self.limit_texts]) + sure

    @property
    def on_rows(self) -> Aim:
        """The same with limits that hold on the rows at hand alone."""
        return replace(self, confidence=None, units=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists; all but the units."""
        saved = _SavedAim(
            self.goal.name,
            self.costs,
            self.limit_texts,
            self.prior,
            self.confidence,
            self.level,
            self.assumed,
        )
        out: dict[str, Any] = plain(saved)
        return out

    @classmethod
    def from_dict(cls, data: Any, where: str = "") -> Aim:
        """The aim that :meth:`to_dict` described; a function comes back by its name alone."""
        saved = read(_SavedAim, data, where)
        goal: Any = saved.costs
        if goal is None:
            try:
                goal = as_objective(saved.objective)
            except DataError:
                goal = _Custom(_lost, label=saved.objective)
        return cls(
            goal,
            tuple(as_limits(saved.limits)),
            saved.prior,
            saved.confidence,
            level=saved.level,
            assumed=saved.assumed,
        )

    def __eq__(self, other: object) -> bool:
        """The same question; units are not looked at, nor what a function computes."""
        return self.to_dict() == other.to_dict() if isinstance(other, Aim) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.goal.name, self.limit_texts, self.prior, self.confidence))

    def __repr__(self) -> str:
        more = [
            f"{name}={value:g}"
            for name, value, usual in (
                ("prior", self.prior, None),
                ("confidence", self.confidence, None),
                ("level", self.level, 0.95),
            )
            if value is not None and value != usual
        ]
        goal = repr(self.goal) if isinstance(self.goal, Costs) else self.goal.name
        return f"Aim({', '.join([goal, *self.limit_texts, *more])})"

    @property
    def ranked(self) -> Aim:
        """What cuts are ranked by: of the rows that score highest, how many are flagged."""
        if not isinstance(self.goal, Top):
            return self
        return replace(self, goal=replace(MEASURES["flagged"], better=1))

    @property
    def helpful(self) -> bool:
        """Whether flagging a positive more never does harm: then cuts inside of a run of one class
        need not be looked at."""
        return bool(self.goal.helpful and all(limit.helpful for limit in self.limits))


@dataclass(frozen=True)
class _SavedAim:
    """An aim in a file."""

    objective: str
    costs: Costs | None
    limits: tuple[str, ...]
    prior: float | None
    confidence: float | None
    level: float
    assumed: bool


def _lost(*_: Any) -> Any:
    why = "was a function, of which the file knows the name only"
    raise DataError(Undefined("this aim", why, "Give the function again."))


def as_objective(wanted: Any) -> Objective:
    """A name, Costs, f(beta) or a function of (tp, fp, fn, tn), as an objective."""
    if isinstance(wanted, (Measure, Costs, Top, _Custom)):
        return wanted
    if isinstance(wanted, str):
        return _top(wanted) or _named(wanted)
    if callable(wanted):
        return _Custom(wanted)
    rule = (
        "be the name of a measure, Costs(fp=..., fn=...), f(beta) or a function of (tp, fp, fn, tn)"
    )
    raise DataError(BadArgument("objective", rule, wanted, subject="an objective"))


def _named(name: str) -> Measure:
    key = _key(name)
    if key in MEASURES:
        return MEASURES[key]
    for measure in MEASURES.values():  # as a message explains it
        if key == _key(measure.words):
            return measure
    beta = re.fullmatch(r"f(\d+(?:\.\d*)?)", key)
    if beta:
        return f(float(beta[1]))
    raise DataError(_unknown(name, key))


_OTHER_NAMES = {other: m.name for m in MEASURES.values() for other in m.elsewhere.split()}
# Numbers that no cut has.
_OF_ALL_CUTS = {"auc", "roc_auc", "auroc", "pr_auc", "average_precision", "gini"}


def _unknown(name: str, key: str) -> MeasureUnknown:
    if key in _OF_ALL_CUTS:
        what = "2 AUC − 1, " if key == "gini" else ""
        reason = f"It is {what}of all cuts together: no threshold has one of its own."
        return MeasureUnknown(name, reason=reason)
    if key in ("ks", "ks_statistic", "kolmogorov_smirnov"):
        reason = "The Kolmogorov–Smirnov statistic is the highest Youden index: aim at youden."
        return MeasureUnknown(name, reason=reason)
    near = tuple(f"{one} ({MEASURES[one].words})" for one in _near(key))
    # What most people aim at comes first.
    names = dict.fromkeys(m.name for m in MEASURES.values() if m.beta is None)
    known = (*sorted(names, key=lambda one: MEASURES[one].is_count), "f1", "f2", "f0.5")
    return MeasureUnknown(name, near, known)


def _near(key: str) -> list[str]:
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


_HOLDS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Limit:
    """A limit on a measure, such as ``fpr <= 0.001``; it does not hold where the measure is 0/0."""

    measure: Measure
    sign: str
    bound: float
    scale: float | None = None
    """What a shortfall is measured by, if not by the bound."""

    @property
    def text(self) -> str:
        return f"{self.measure.name} {self.sign} {self.bound:.12g}"

    @property
    def helpful(self) -> bool:
        """Whether catching a positive or sparing a negative never breaks it."""
        return self.measure.helpful and (self.sign[0] == ">") == (self.measure.better == 1)

    def holds(self, c: Confusion) -> Any:
        return _HOLDS[self.sign](self.measure(c), self.bound)

    def sees(self, here: Any, there: Any) -> Any:
        """What it looks at: the rows here or the cases there, at another prior. A count is one of
        rows; a rate of one class is the same in both, but for rounding."""
        return here if self.measure.prior_free else there

    def may_hold(self, c: Confusion) -> Any:
        """Where it holds, or is 0/0."""
        return self.holds(c) | np.isnan(self.measure(c))

    def shortfall(self, c: Confusion) -> Any:
        """How far the measure is on the wrong side, as a share of the bound; inf where 0/0."""
        short = (self.bound - self.measure(c)) * (1 if self.sign[0] == ">" else -1)
        short = np.where(self.holds(c), 0.0, short / (self.scale or abs(self.bound) or 1.0))
        return np.where(np.isnan(short), inf, short)


_LIMIT = re.compile(r"\s*([A-Za-z_][\w.'’ +−-]*?)\s*(>=|<=|≥|≤|>|<)\s*([^\s%]+)\s*(%?)\s*")


def as_limits(subject_to: Any) -> list[Limit]:
    """Limits from one text or several."""
    if subject_to is None:
        return []
    if isinstance(subject_to, np.ndarray):
        subject_to = subject_to.tolist()
    several = isinstance(subject_to, Iterable) and not isinstance(subject_to, (str, bytes))
    return [_limit(one) for one in (subject_to if several else [subject_to])]


def _limit(text: Any) -> Limit:
    if isinstance(text, Limit):
        return text
    parts = _LIMIT.fullmatch(text) if isinstance(text, str) else None
    try:
        bound = float(parts[3].replace("_", "")) if parts else inf
    except ValueError:
        bound = inf
    if parts is None or not isfinite(bound):
        rule = "a limit must have the form 'measure >= number' or 'measure <= number' (or > or <)"
        hint = "Write it as 'precision >= 0.9'; numbers have a point, no comma."
        raise DataError(BadLimit(kept(text), rule, hint))
    sign, measure = {"≥": ">=", "≤": "<="}.get(parts[2], parts[2]), _named(parts[1])
    if measure.is_count and bound < 0:
        raise DataError(BadLimit(text, "a count is at least 0"))
    if parts[4] and measure.is_count:
        hint = "Limit a rate: recall, fpr, fnr, specificity or flagged_rate."
        raise DataError(BadLimit(text, "a count has no per cent", hint))
    if parts[4]:
        bound = float(Fraction(parts[3].replace("_", "")) / 100)  # 0.7 % is 0.007
    if measure.rate and not 0 <= bound <= 1:
        hint = "Write a share: 90 % or 0.9."
        raise DataError(BadLimit(text, f"the {measure.name} lies between 0 and 1", hint))
    return Limit(measure, sign, bound)


def check_costs(costs: Any) -> Costs:
    """Costs and nothing else: a mapping might miss one of them, a name is a measure."""
    if not isinstance(costs, Costs):
        raise DataError(BadArgument("costs", "be Costs(fp=..., fn=...)", costs))
    return costs


def check_prior(prior: Any) -> float:
    """A prevalence strictly between 0 and 1."""
    p = number(prior)
    if not 0 < p < 1:
        hint = "It is the share of positives where decisions are made: 0.02 or 2 %."
        raise DataError(BadArgument("prior", "lie between 0 and 1", prior, hint))
    return p


def log_odds(prior: float) -> float:
    """ln clr = ln(prior / (1 − prior)), of a prior strictly between 0 and 1."""
    p = check_prior(prior)
    return log(p / (1 - p))


def check_level(level: Any, name: str = "level") -> float:
    """A confidence strictly between 0 and 1."""
    p = number(level)
    if not (p > 0 and (1 + p) / 2 < 1):
        raise DataError(BadArgument(name, "lie between 0 and 1, as 0.95 does", level))
    return p


def _decimal(x: float) -> Fraction:
    """A float as the shortest decimal that it is written as: 0.1 is 1/10."""
    return Fraction(repr(x))


def undefined(what: str) -> UndefinedError:
    why = "is 0/0 at every cut of this sweep, so none is the best"
    hint = "Aim at something else, or add rows of the class that it is a share of."
    return UndefinedError(Undefined(what, why, hint))
