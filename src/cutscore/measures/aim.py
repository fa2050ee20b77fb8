"""The aim: what is asked of a threshold, as one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

import numpy as np

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument, Conflict, PeriodsMissing
from cutscore.core.findings.base import Shown
from cutscore.core.findings.statistics import Undefined
from cutscore.core.json import read, to_plain
from cutscore.core.types import GoalFunction
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.costs import BY_ROW, BY_ROW_HINT, Costs, check_costs
from cutscore.measures.limits import (
    Limit,
    LimitsLike,
    PeriodLimits,
    PeriodRule,
    as_limits,
    parse_limit,
)
from cutscore.measures.prior import check_level, check_prior
from cutscore.measures.registry import MEASURES, Measure, Objective, find_measure


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
            rule = "return one number per threshold, an array as long as tp"
            got = Shown(f"{value.dtype} of shape {value.shape}")
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


GoalLike: TypeAlias = str | Objective | GoalFunction
"""What to aim at, as users write it: the name of a measure, costs, ``f(beta)`` or a function."""

_AT = re.compile(r"\s*([^@]+?)\s*@\s*(\d[\d_]*(?:\.\d+)?)\s*(%?)\s*")


def _top(name: str) -> Top | None:
    """``measure@k``, or None if it is not written so."""
    at = _AT.fullmatch(name)
    if at is None:
        return None
    measure, number, sign = find_measure(at[1]), at[2].replace("_", ""), " %" if at[3] else ""
    limit = parse_limit(f"flagged{'_rate' if sign else ''} <= {number}{sign}")
    return Top(f"{measure.name}@{number}{sign}", measure, limit)


class AimOptions(TypedDict, total=False):
    """The keywords of functions that are asked for a threshold, such as
    :func:`cutscore.training.train`: they hand them to :meth:`Aim.asked`, which has no others."""

    costs: Costs | None
    """The costs to have the least of, or"""
    maximize: GoalLike | None
    """the objective of :func:`cutscore.choose`, by name. Of neither, the balanced rate."""
    subject_to: LimitsLike
    """Limits, as for :func:`cutscore.choose`."""
    prior: float | None
    """The share of positives where decisions are made."""
    confidence: float | None
    """With which the limits are to hold on new rows."""
    level: float
    """Of all intervals; 0.95."""


@dataclass(frozen=True, eq=False)
class Aim:
    """The objective of a threshold, its limits and its settings; it can be applied to other rows as
    well.

    Parameters
    ----------
    goal : str, Costs, callable or Measure, optional
        The objective, as for :func:`cutscore.choose`. Default: balanced accuracy.
    limits : str or sequence of str, default ()
        The limits, as ``subject_to`` of :func:`cutscore.choose`.
    prior : float, optional
        The prevalence where decisions are made; None for the prevalence of the rows.
    confidence : float, optional
        The confidence with which limits must hold on new rows; None if they only have to hold on
        the given rows.
    units : Units, optional
        For clustered rows: the result of :func:`cutscore.units`.
    level : float, default 0.95
        The confidence level of intervals.
    assumed : bool, default False
        Whether the goal is the default rather than a choice of the user.
    periods : Periods, optional
        For limits per period: the result of :func:`cutscore.periods`.

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
    units: Sized | None = None
    level: float = 0.95
    assumed: bool = False
    periods: PeriodLimits | None = None

    if TYPE_CHECKING:  # what users may write; the fields are what became of it

        def __init__(  # noqa: PLR0913, PLR0917 - the fields
            self,
            goal: GoalLike | None = None,
            limits: LimitsLike = (),
            prior: float | None = None,
            confidence: float | None = None,
            units: Sized | None = None,
            level: float = 0.95,
            assumed: bool = False,
            periods: PeriodLimits | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        goal: Any = self.goal
        assumed = self.assumed or goal is None
        goal = MEASURES["balanced_rate"] if goal is None else as_objective(goal)
        limits, confidence = as_limits(self.limits), self.confidence
        if isinstance(goal, Top):
            if confidence is not None:
                rule = f"{goal.name} fixes the number flagged, so a confidence does not apply"
                hint = f"Use {goal.measure.name} with limits, or drop {{0}}."
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
        if self.costs is not None and self.costs.by_row:
            self.needs_one_cut(BY_ROW, BY_ROW_HINT)

    @classmethod
    def asked(  # noqa: PLR0913 - the options of users
        cls,
        *,
        costs: Costs | None = None,
        maximize: GoalLike | None = None,
        subject_to: LimitsLike = (),
        prior: float | None = None,
        confidence: float | None = None,
        level: float = 0.95,
    ) -> Aim:
        """The aim of those who give costs or a measure, or neither. A confidence without limits
        has nothing to hold."""
        if costs is not None and maximize is not None:
            raise DataError(Conflict(("costs", "maximize"), "only one objective can be given"))
        goal = maximize if costs is None else check_costs(costs)
        limits = tuple(as_limits(subject_to))
        return cls(goal, limits, prior, confidence if limits else None, level=level)

    @property
    def costs(self) -> Costs | None:
        """The goal, if it is the least cost."""
        return self.goal if isinstance(self.goal, Costs) else None

    @property
    def three_way(self) -> bool:
        """Whether cases may be reviewed: then there are two cuts."""
        costs = self.costs
        asked = [self.goal, *(limit.measure for limit in self.limits)]
        reviews = any(getattr(measure, "reviews", False) for measure in asked)
        return reviews or (costs is not None and costs.review is not None)

    def needs_one_cut(self, what: str, hint: str = "") -> None:
        """Refuse an aim that asks for two thresholds, where one is meant."""
        if self.three_way:
            rule = f"ask for one threshold: {what}"
            raise DataError(BadArgument("aim", rule, Shown(self.words), hint, "the objective"))

    @property
    def by_auc(self) -> bool:
        """Whether learners are compared by their AUC: where nothing was asked for, and where two
        cuts are chosen, one by one, on the scores of the best."""
        return self.assumed or self.three_way

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
    def full_words(self) -> str:
        """The same with costs, prior and level, which two aims may differ in."""
        costs = f" ({repr(self.costs)[6:-1]})" if self.costs is not None else ""
        prior = "" if self.prior is None else f", prior {self.prior:.6g}"
        default = "" if self.level == 0.95 else f", intervals at {100 * self.level:g} %"
        return f"{self.words}{costs}{prior}{default}"

    @property
    def symmetric(self) -> bool:
        """Whether nothing changes if the two classes change places, so that neither has to be named
        the positive one."""
        if self.limits or self.prior is not None or (self.costs is not None and self.costs.by_row):
            return False
        tp, fp, fn, tn = 11, 7, 5, 3  # any that differ
        one, other = Confusion(tp, fp, fn, tn), Confusion(tn, fn, fp, tp)
        return bool(np.isclose(self.goal(one), self.goal(other), rtol=1e-12))

    def on_all_rows(self, limit: Limit, error: float | None = None) -> Limit:
        """A limit of one threshold as one on all rows."""
        rule = self.rule_on_rows(limit, error)
        assert isinstance(rule, Limit)
        return rule

    def rule_on_rows(self, limit: Limit, error: float | None = None) -> PeriodRule:
        """A limit on all rows: what a limit per period comes to, and others as they are."""
        if limit.period is None:
            return limit
        if self.periods is None:
            raise DataError(PeriodsMissing(limit.text))
        return self.periods.rule(limit, error)

    @property
    def on_rows(self) -> Aim:
        """The same aim, with limits that only have to hold on the given rows."""
        return replace(self, confidence=None, units=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists; all but units and periods."""
        saved = _SavedAim(
            self.goal.name,
            self.costs,
            self.limit_texts,
            self.prior,
            self.confidence,
            self.level,
            self.assumed,
        )
        out: dict[str, Any] = to_plain(saved)
        return out

    @classmethod
    def from_dict(cls, data: object, where: str = "") -> Aim:
        """The aim that :meth:`to_dict` described; a function comes back by its name alone."""
        saved = read(_SavedAim, data, where)
        goal: Any = saved.costs
        if goal is None:
            try:
                goal = as_objective(saved.objective)
            except DataError:
                goal = _Custom(_raise_lost, label=saved.objective)
        return cls(
            goal,
            tuple(as_limits(saved.limits)),
            saved.prior,
            saved.confidence,
            level=saved.level,
            assumed=saved.assumed,
        )

    def __eq__(self, other: object) -> bool:
        """The same question; units and periods are not looked at, nor what a function computes."""
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


# Why there must be one threshold.
UNITS = "what to expect of two is not known for rows of units"
LABELS = "a classifier predicts one of two labels, and none for a review"


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


def _raise_lost(*_: object) -> Any:
    why = "was a function, and the file stores only its name"
    raise DataError(Undefined("this objective", why, "Pass the function again."))


def as_aim(wanted: object) -> Aim:
    """An aim, or the aim at this goal without limits."""
    return wanted if isinstance(wanted, Aim) else Aim(as_objective(wanted))


def as_objective(wanted: object) -> Objective:
    """A name, Costs, f(beta) or a function of (tp, fp, fn, tn), as an objective."""
    if isinstance(wanted, (Measure, Costs, Top, _Custom)):
        return wanted
    if isinstance(wanted, str):
        return _top(wanted) or find_measure(wanted)
    if callable(wanted):
        return _Custom(wanted)
    rule = (
        "be the name of a measure, Costs(fp=..., fn=...), f(beta) or a function of (tp, fp, fn, tn)"
    )
    raise DataError(BadArgument("objective", rule, wanted, subject="an objective"))


def undefined_error(what: str) -> UndefinedError:
    why = "is 0/0 at every threshold, so none is the best"
    hint = "Choose another objective, or add rows of the class it refers to."
    return UndefinedError(Undefined(what, why, hint))
