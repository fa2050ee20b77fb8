"""Limits on measures, such as ``fpr <= 0.001``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import Any, TypeAlias

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.measures.confusion import Confusion
from cutscore.measures.registry import Measure, find_measure

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

    @property
    def text(self) -> str:
        return f"{self.measure.name} {self.sign} {self.bound:.12g}"

    @property
    def helpful(self) -> bool:
        """Whether catching a positive or sparing a negative never breaks it."""
        return self.measure.helpful and (self.sign[0] == ">") == (self.measure.better == 1)

    def holds(self, c: Confusion) -> Any:
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


LimitsLike: TypeAlias = str | Limit | Iterable[str | Limit] | None
"""Limits as users write them: one, several, or none."""

_LIMIT = re.compile(r"\s*([A-Za-z_][\w.'’ +−-]*?)\s*(>=|<=|≥|≤|>|<)\s*([^\s%]+)\s*(%?)\s*")


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
    return Limit(measure, sign, bound)


def _unreadable(text: object) -> DataError:
    rule = "have the form 'measure >= number' or 'measure <= number' (or > or <)"
    hint = "Write 'precision >= 0.9', with a decimal point, not a comma."
    return bad_limit(text, rule, hint)


def bad_limit(text: object, rule: str, hint: str = "") -> DataError:
    """The error for a limit that breaks a rule."""
    return DataError(BadArgument("subject_to", rule, text, hint, "a limit"))
