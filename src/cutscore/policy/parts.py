"""The parts of a policy: where decisions change, what classes are called, where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from cutscore import __version__
from cutscore.core.checks import check_threshold
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Fix, shown
from cutscore.core.findings.statistics import SweepCompact, Undefined
from cutscore.core.json import Count, Extended
from cutscore.decision.choice import CutPair, OperatingPoint
from cutscore.measures.aim import Aim

Label = bool | int | float | str
Threshold = float | tuple[float, float]
"""A threshold that is given; of two that for reviewing, then that for blocking."""


@dataclass(frozen=True)
class Cuts:
    """Where decisions change, in the units of the score.

    Parameters
    ----------
    thresholds
        One, or two: that for reviewing, then that for blocking. None if each group has its own.
    groups
        The threshold of each group, by its name, where groups have their own.

    Examples
    --------
    >>> from cutscore.policy import Cuts
    >>> Cuts((0.7,))
    Cuts(thresholds=(0.7,), groups={})
    """

    thresholds: tuple[Extended, ...]
    groups: Mapping[str, tuple[Extended, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.groups:
            if self.thresholds or any(len(cuts) != 1 for cuts in self.groups.values()):
                rule = "have one threshold each, and no other is there"
                raise DataError(BadArgument("groups", rule, self.groups))
        elif len(self.thresholds) not in (1, 2):
            raise DataError(BadArgument("thresholds", "be one or two", self.thresholds))
        object.__setattr__(self, "thresholds", tuple(map(check_threshold, self.thresholds)))
        groups = {name: (check_threshold(one),) for name, (one,) in self.groups.items()}
        object.__setattr__(self, "groups", groups)

    @property
    def review(self) -> float:
        """The score from which on a case is reviewed; the only one if there is one."""
        self.needs_common()
        return self.thresholds[0]

    @property
    def block(self) -> float:
        """The score from which on a case is blocked, or flagged."""
        self.needs_common()
        return self.thresholds[-1]

    def needs_common(
        self, what: str = "one threshold for all rows", hint: str = "See cuts.groups."
    ) -> None:
        """Refuse thresholds of groups, where the same for all rows is meant."""
        if self.groups:
            why = "can't be given: each group has a threshold of its own"
            raise UndefinedError(Undefined(what, why, hint))


def is_label(value: object) -> bool:
    """Whether JSON can keep a label as it is."""
    return isinstance(value, (bool, int, str)) or (isinstance(value, float) and isfinite(value))


@dataclass(frozen=True)
class Labels:
    """What the classes are called.

    Parameters
    ----------
    positive, negative
        The labels as the column has them, where they are known; ``negative`` if there is just one.
    column
        The name of the column.
    others
        All labels that count as negative, if there are several.

    Examples
    --------
    >>> from cutscore.policy import Labels
    >>> Labels("fraud", "legit", "status").words
    "'status' = 'fraud'"
    """

    positive: Label | None = None
    negative: Label | None = None
    column: str | None = None
    others: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        for name in ("positive", "negative"):
            value = getattr(self, name)
            object.__setattr__(self, name, value.item() if isinstance(value, np.generic) else value)
        pair = [one for one in (self.negative, self.positive) if one is not None]
        kinds = {next((k for k in (bool, str) if isinstance(v, k)), float) for v in pair}
        if (
            not all(map(is_label, pair))
            or len(kinds) > 1
            or (len(pair) == 2 and len(set(pair)) < 2)
        ):
            rule = "be two different values: numbers, booleans or text"
            raise DataError(BadArgument("labels", rule, tuple(pair)))

    @property
    def words(self) -> str:
        """What is flagged; empty if nothing is known."""
        names = [shown(one) for one in (self.column, self.positive) if one is not None]
        return " = ".join(names)


@dataclass(frozen=True)
class Provenance:
    """Where a policy comes from.

    Parameters
    ----------
    scores
        How the scores were made: "supplied by user", or "out-of-fold, 5 folds, logistic".
    digest
        SHA-256 of the distinct scores and masses of all rows: see :class:`Evidence`.
    rows
        How many rows there were, if all count the same.
    command, time
        What made it and when, if it was recorded.
    library
        The version that made it.

    Examples
    --------
    >>> from cutscore.policy import Provenance
    >>> Provenance("out-of-fold, 5 folds, logistic", command="cutscore fit t.csv").scores
    'out-of-fold, 5 folds, logistic'
    """

    scores: str = "supplied by user"
    digest: str = ""
    rows: Count | None = None
    command: str = ""
    time: str = ""
    library: str = f"cutscore {__version__}"


def cuts_of(point: OperatingPoint, reverse: bool) -> Cuts:
    """The thresholds of a point, as people type them."""
    two = point.cuts if point.question.three_way else (point.threshold,)
    return Cuts(tuple(turned(t, reverse) for t in two))


def given_cuts(aim: Aim, threshold: Threshold, reverse: bool) -> CutPair:
    """Thresholds that are given, as cuts of what rises with the chance of a positive."""
    two = threshold if isinstance(threshold, (tuple, list)) else (threshold,)
    if len(two) != 1 + aim.three_way:
        rule = "be one number"
        if aim.three_way:
            rule = "be two, (review, block), since the aim reviews cases"
        raise DataError(BadArgument("threshold", rule, threshold))
    review, block = (turned(check_threshold(two[k]), reverse) for k in (0, -1))
    if review > block:
        rule = "be (review, block): what is blocked is part of what is not passed"
        raise DataError(BadArgument("threshold", rule, threshold))
    return CutPair(review, block)


def turned(threshold: float, reverse: bool) -> float:
    """A threshold of the score as one of −score, and back."""
    return 0.0 - threshold if reverse else threshold


def with_way_out(error: UndefinedError) -> UndefinedError:
    """Evidence without every score: what would have helped."""
    found = error.finding
    if not isinstance(found, SweepCompact):
        return error
    hint = "Choose the policy on the rows again, and keep every score."
    return UndefinedError(replace(found, hint=hint, fixes=(Fix("evidence", "scores"),)))
