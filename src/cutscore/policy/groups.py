"""What a policy knows of groups of rows: the column, the limits in each group, and the evidence."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.core.checks import as_vector
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import GroupUnknown, LengthsDiffer, ValueMissing
from cutscore.decision.groups import GroupPoint
from cutscore.inference.selection import Expected
from cutscore.measures.limits import as_limits
from cutscore.policy.evidence import Evidence
from cutscore.sweeps.groups import GroupSweeps
from cutscore.sweeps.sweep import Sweep

UNKNOWN = -1
"""The number of a group that has no threshold, or of none."""


@dataclass(frozen=True)
class Groups:
    """The groups of a policy; see :meth:`cutscore.Policy.choose_groups`.

    Parameters
    ----------
    column
        The column that has the group of a row.
    each
        Limits that hold in each group.
    gaps
        The most by which rates of two groups may differ.
    small
        What to do with groups that are too small to be tested alone: "pool" or "refuse".
    pooled
        The groups that were tested together.
    evidence
        The evidence of each group, by its name.
    promises
        What to expect on new rows of each group, by the name of the measure.

    Examples
    --------
    >>> import cutscore as cs
    >>> groups = {"a": cs.sweep([1, 0], [4, 3]), "b": cs.sweep([1, 0], [7, 4])}
    >>> p = cs.Policy.choose_groups(groups, "youden", column="site", thresholds="group")
    >>> p.groups.column, p.groups.names
    ('site', ('a', 'b'))
    """

    column: str
    each: tuple[str, ...]
    gaps: tuple[str, ...]
    small: Literal["pool", "refuse"]
    pooled: tuple[str, ...]
    evidence: Mapping[str, Evidence]
    promises: Mapping[str, Mapping[str, Expected]]

    def __post_init__(self) -> None:
        if not self.evidence:
            raise DataError(BadArgument("groups", "have evidence of at least one group"))
        for name, of in (("promises", self.promises), ("pooled", self.pooled)):
            odd = [group for group in of if group not in self.evidence]
            if odd:
                rule = f"have evidence of each group in its {name}"
                raise DataError(BadArgument("groups", rule, odd[0]))
        as_limits(self.each)
        as_limits(self.gaps)

    @classmethod
    def of(
        cls,
        point: GroupPoint,
        column: str,
        evidence: str,
        promises: Mapping[Hashable, Mapping[str, Expected]],
    ) -> Groups:
        """The groups of a choice, which have names of text."""
        parts = {
            str(name): Evidence.of(s, evidence, cuts=[_cut(s, point.thresholds[name])])
            for name, s in point.sweeps.items()
        }
        return cls(
            column,
            tuple(limit.text for limit in point.each),
            tuple(limit.text for limit in point.gaps),
            "refuse" if point.small == "refuse" else "pool",
            tuple(map(str, point.pooled)),
            parts,
            {str(name): of for name, of in promises.items()},
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups."""
        return tuple(self.evidence)

    @property
    def sweeps(self) -> GroupSweeps:
        """The sweep of each group: of −score where low scores mean positive."""
        return GroupSweeps({name: one.sweep for name, one in self.evidence.items()})

    @property
    def limit_texts(self) -> tuple[str, ...]:
        """Limits and gaps in words."""
        gaps = (f"gap({one.measure.name}) <= {one.bound:.12g}" for one in as_limits(self.gaps))
        return (*(f"{text} in each group" for text in self.each), *gaps)

    def numbers(self, groups: ArrayLike, rows: int) -> NDArray[np.int64]:
        """The number of the group of each row; every one must be known."""
        names = as_vector(groups, "groups")
        if len(names) != rows:
            raise DataError(LengthsDiffer("groups", "scores", len(names), rows))
        values, codes = _distinct(names.tolist())
        known = self.known(values)
        for value, number in zip(values, known.tolist(), strict=True):
            if number == UNKNOWN:
                name = group_text(value)
                if name is None:
                    raise DataError(ValueMissing("group"))
                raise DataError(GroupUnknown(name, self.names))
        return known[codes]

    def known(self, values: Sequence[object]) -> NDArray[np.int64]:
        """The numbers of groups, of which some may have none."""
        place = {name: k for k, name in enumerate(self.evidence)}
        texts = map(group_text, values)
        return np.array([UNKNOWN if t is None else place.get(t, UNKNOWN) for t in texts], np.int64)


def _distinct(values: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """The values there are, and which of them each row has. True is not 1 here."""
    place: dict[Any, int] = {}
    codes = [place.setdefault((type(value), value), len(place)) for value in values]
    return [value for _, value in place], np.array(codes, np.int64)


def _cut(s: Sweep, threshold: float) -> int:
    """How many of the distinct scores are at or above a threshold."""
    return int(np.searchsorted(-s.threshold, -threshold, side="right"))


def group_text(value: object) -> str | None:
    """The name of a group as a file has it, whatever type its column has; None if it is missing.

    Examples
    --------
    >>> from datetime import date
    >>> from cutscore.policy.groups import group_text
    >>> [group_text(v) for v in ("de", 49, 49.0, True, date(2026, 1, 31), None, float("nan"))]
    ['de', '49', '49', 'true', '2026-01-31', None, None]
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # those of pandas
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return None if isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str | int | date):
        return str(value)
    rule = "be text, numbers, booleans or dates"
    raise DataError(BadArgument("groups", rule, value, subject="names of groups"))


def named_sweeps(sweeps: Mapping[Hashable, Sweep], *, reverse: bool = False) -> GroupSweeps:
    """Sweeps by names that a file can hold; of −score with ``reverse``."""
    if not isinstance(sweeps, Mapping):
        return GroupSweeps(sweeps)  # which refuses it
    out: dict[Hashable, Sweep] = {}
    for name, s in GroupSweeps(sweeps).items():
        text = group_text(name)
        if text is None or text in out:
            rule = "be given, and stay different as text"
            raise DataError(BadArgument("sweeps", rule, name, subject="names of groups"))
        out[text] = s.negated() if reverse else s
    return GroupSweeps(out)


def thresholds_text(cuts: Mapping[str, tuple[float, ...]]) -> str:
    """The thresholds of groups in full: a rounded one may be another rule."""
    return ", ".join(f"{shown(name)} {t!r}" for name, (t,) in cuts.items())
