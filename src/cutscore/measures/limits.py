"""Limits on measures, such as ``fpr <= 0.001``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.arguments import PeriodsMissing
from cutscore.core.findings.statistics import Undefined
from cutscore.core.json import Count
from cutscore.core.numbers import number_text, per_cent
from cutscore.measures.confusion import Confusion, Number
from cutscore.measures.registry import Measure, find_measure, measure_text

HOLDS: dict[str, Callable[[Any, Any], Any]] = {
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
    period: str | None = None
    """Of a limit on the number in a period what that is: "day"."""
    share: float | None = None
    """On which share of the periods it must hold; None if the mean of all must."""

    @property
    def text(self) -> str:
        text = f"{self.measure.name} {self.sign} {self.bound:.12g}"
        if self.period is None:
            return text
        if self.share is None:
            return f"{text} per {self.period}"
        return f"{text} on {100 * self.share:.12g} % of {self.period}s"

    def value_text(self, value: float) -> str:
        """A value of what it is on."""
        if self.period is None:
            return measure_text(self.measure.name, value)
        if self.share is None:
            return f"{number_text(value)} per {self.period}"
        return f"on {per_cent(value)} of {self.period}s"

    def scaled(self, share: float) -> Limit:
        """The same for a share of the rows: of fewer rows there may be fewer."""
        return replace(self, bound=share * self.bound) if self.measure.is_count else self

    @property
    def helpful(self) -> bool:
        """Whether catching a positive or sparing a negative never breaks it."""
        return self.measure.helpful and (self.sign[0] == ">") == (self.measure.better == 1)

    def keeps(self, count: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether numbers of single periods are within the bound."""
        return np.asarray(HOLDS[self.sign](count, self.bound))

    def holds(self, c: Confusion) -> Any:
        if self.period is not None:  # counts of all rows say nothing of it
            raise DataError(PeriodsMissing(self.text))
        return HOLDS[self.sign](self.measure(c), self.bound)

    def sees(self, here: Confusion, there: Confusion) -> Any:
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


@dataclass(frozen=True)
class ReviewWindows:
    """What a limit per period on reviews comes to, if that depends on how many rows are blocked.

    Parameters
    ----------
    blocked : tuple of int
        Numbers of rows, rising.
    most : tuple of int
        If at least as many rows are blocked, so many may be blocked or reviewed.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.measures.limits import ReviewWindows
    >>> ReviewWindows((0, 50), (20, 90)).allowed(np.array([0, 30, 50, 100]))
    array([ 20,  30,  90, 100])
    """

    blocked: tuple[Count, ...]
    most: tuple[Count, ...]

    def __post_init__(self) -> None:
        if len(self.blocked) != len(self.most) or list(self.blocked) != sorted(self.blocked):
            raise DataError(BadArgument("most", "be as long as blocked, which rises", self.most))

    def allowed(self, blocked: NDArray[Any]) -> NDArray[np.int64]:
        """How many rows may be blocked or reviewed, by how many are blocked."""
        step = np.searchsorted(self.blocked, blocked, "right")
        most: NDArray[np.int64] = np.maximum(np.array([0, *self.most])[step], blocked)
        return most

    def reviews(self, blocked: Number) -> float:
        """How many rows may be reviewed if so many are blocked."""
        return float(self.allowed(np.asarray(blocked)) - blocked)

    def scaled(self, share: float) -> ReviewWindows:
        """The same of a share of the rows."""
        blocked, most = (
            tuple(int(share * k) for k in column) for column in (self.blocked, self.most)
        )
        return ReviewWindows(blocked, most)

    def at(self, blocked: Number) -> ReviewWindows:
        """What it comes to if so many are blocked, or more."""
        return ReviewWindows((int(blocked),), (int(self.allowed(np.asarray(blocked))),))

    def holds(self, c: Confusion) -> Any:
        """Whether the cases that are neither passed nor blocked are few enough."""
        if self.blocked and c.flagged < self.blocked[0]:
            why = "needs the rows with their periods; the policy stores it at its own thresholds"
            hint = "Choose the policy on the rows again, with periods."
            raise UndefinedError(Undefined("a limit per period", why, hint))
        return c.flagged + getattr(c, "reviewed", 0) <= self.allowed(np.asarray(c.flagged))


PeriodRule: TypeAlias = Limit | ReviewWindows
"""What a limit per period comes to on all rows."""


class PeriodLimits(Protocol):
    """What knows what limits per period come to: the rows with their periods, or a file."""

    def __len__(self) -> int: ...

    def rule(self, limit: Limit, error: float | None) -> PeriodRule:
        """The limit on all rows that a limit per period comes to."""

    def value(self, limit: Limit, cuts: Sequence[float]) -> float:
        """What it is on, at thresholds for reviewing and blocking."""


LimitsLike: TypeAlias = str | Limit | Iterable[str | Limit] | None
"""Limits as users write them: one, several, or none."""

_LIMIT = re.compile(
    r"\s*([A-Za-z_][\w.'’ +−-]*?)\s*(>=|<=|≥|≤|>|<)\s*([^\s%]+)\s*(%?)"
    r"(?:\s+per\s+([a-z]+)|\s+on\s+([\d.]+)\s*%\s*of\s+([a-z]+?)s)?\s*"
)


def as_limits(subject_to: LimitsLike) -> list[Limit]:
    """Limits from one text or several."""
    if subject_to is None:
        return []
    if isinstance(subject_to, (str, bytes, Limit)) or not isinstance(subject_to, Iterable):
        subject_to = [subject_to]
    return [parse_limit(one) for one in subject_to]


def parse_limit(text: object) -> Limit:
    if isinstance(text, Limit):
        return text
    if not isinstance(text, str):
        raise _unreadable(text)
    parts = _LIMIT.fullmatch(text)
    try:
        bound = float(parts[3].replace("_", "")) if parts else inf
    except ValueError:
        bound = inf
    if parts is None or not isfinite(bound):
        raise _unreadable(text)
    sign, measure = {"≥": ">=", "≤": "<="}.get(parts[2], parts[2]), find_measure(parts[1])
    if measure.is_count and bound < 0:
        raise bad_limit(text, "be at least 0 for a count")
    if parts[4] and measure.is_count:
        hint = "Limit a rate instead: recall, fpr, fnr, specificity or flagged_rate."
        raise bad_limit(text, "have no per cent sign for a count", hint)
    if parts[4]:
        bound = float(Fraction(parts[3].replace("_", "")) / 100)  # 0.7 % is 0.007
    if measure.rate and not 0 <= bound <= 1:
        hint = "Use a share: 90 % or 0.9."
        raise bad_limit(text, f"be between 0 and 1 for {measure.name}", hint)
    if parts[5] or parts[7]:
        return _per_period(Limit(measure, sign, bound, None, parts[5] or parts[7]), parts[6], text)
    return Limit(measure, sign, bound)


def _per_period(limit: Limit, share: str | None, text: str) -> Limit:
    """A limit on the number in each period: on the mean, or on a share of the periods."""
    if limit.measure.name not in ("flagged", "fp", "reviewed") or limit.sign[0] != "<":
        raise bad_limit(text, "be flagged <=, fp <= or reviewed <= if it is per period")
    if limit.sign == "<" and limit.bound == 0:
        raise bad_limit(text, "allow 0: no count is below it")
    if share is None:
        return limit
    try:
        of = float(Fraction(share) / 100)
    except ValueError:
        of = inf
    if not 0 < of < 1:
        raise bad_limit(text, "hold on more than 0 % and less than 100 % of periods")
    return replace(limit, share=of)


def _unreadable(text: object) -> DataError:
    rule = "have the form 'measure >= number' or 'measure <= number' (or > or <)"
    hint = "Write 'precision >= 0.9', with a decimal point, not a comma."
    return bad_limit(text, rule, hint)


def bad_limit(text: object, rule: str, hint: str = "") -> DataError:
    """The error for a limit that breaks a rule."""
    return DataError(BadArgument("subject_to", rule, text, hint, "a limit"))
