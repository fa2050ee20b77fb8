"""What a policy by the costs of each row knows of its rows: the gaps, and the money at each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, log
from typing import Any

import numpy as np

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.findings.statistics import SweepCompact, Undefined
from cutscore.core.frozen import Frozen
from cutscore.core.json import Count, Extended, Mass, read_fields, to_plain
from cutscore.decision.money import MoneySweep
from cutscore.decision.row_costs import RowCostPoint, Uniform
from cutscore.measures.costs import Costs
from cutscore.measures.expression import Expression
from cutscore.policy.evidence import LISTED, Evidence
from cutscore.policy.packing import pack, unpack
from cutscore.sweeps.sketch import Sketch
from cutscore.sweeps.sweep import Floats, Sweep

_MONEY = ("gain", "loss", "gain2", "loss2")


@dataclass(frozen=True, eq=False, repr=False)
class RowEvidence(Frozen):
    """The evidence of a policy by the costs of each row; see :meth:`cutscore.Policy.choose_by_row`.

    Parameters
    ----------
    gaps
        The rows at each gap between the odds of a row and those from which flagging it pays.
    gain, loss, gain2, loss2
        What the positives of each gap gain by being flagged and the negatives lose, and the sums of
        squares; in units of 1/scale.
    scale
        How many units one has: 100 if costs are in cents.
    uniform
        The best single threshold on the score, with ``reverse`` on −score, and its cost per case.
    """

    gaps: Evidence
    gain: Floats
    loss: Floats
    gain2: Floats
    loss2: Floats
    scale: int
    uniform: Uniform | None = None

    @classmethod
    def of(cls, point: RowCostPoint, kind: str = "auto") -> RowEvidence:
        """The evidence of a choice."""
        m = point.money
        kept = Evidence.of(m.counts, kind, cuts=(point.cut,))
        s = kept.sweep
        columns = dict(zip(_MONEY, (m.gain, m.loss, *m.squares), strict=True))
        if s.top is not None:
            first = np.searchsorted(-m.counts.threshold, -s.top)
            columns = {name: np.add.reduceat(one, first) for name, one in columns.items()}
        return cls(kept, **columns, scale=m.scale, uniform=_uniform(point))

    def money(self, costs: Costs) -> MoneySweep:
        """The money at each gap."""
        return MoneySweep(
            *(self.gaps.sweep, self.gain, self.loss, self.scale, costs.tp, costs.tn),
            stored=(self.gain2, self.loss2),
        )

    def rescaled(self, old: Costs, new: Costs) -> RowEvidence:
        """The evidence for other costs; an error unless they differ from those there are by
        constant factors, since the file has no amounts."""
        miss, alarm = (_factor(getattr(old, n), getattr(new, n)) for n in ("fn", "fp"))
        same = (old.tp, old.tn) == (new.tp, new.tn) == (0.0, 0.0) or old == new
        if miss is None or alarm is None or not same:
            why = "need the amounts of the rows, which the policy does not store"
            hint = "Choose the policy on the rows again; here only numbers above 0 can change."
            raise UndefinedError(Undefined("costs by other formulas", why, hint))
        if miss == alarm == 1:
            return self
        s, higher = self.gaps.sweep, log(miss) - log(alarm)
        if isinstance(s, Sketch):
            raise UndefinedError(SweepCompact("a decision for other costs"))
        top = None if s.top is None else s.top + higher
        moved = Sweep(s.threshold + higher, s.pos, s.neg, s.pos2, s.neg2, top)
        return RowEvidence(
            replace(self.gaps, sweep=moved),
            *(self.gain * miss, self.loss * alarm, self.gain2 * miss**2, self.loss2 * alarm**2),
            scale=self.scale,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists."""
        packed = len(self.gain) > LISTED
        write: Any = pack if packed else to_plain
        return {
            "gaps": to_plain(self.gaps),
            "scale": self.scale,
            "uniform": None if self.uniform is None else to_plain(self.uniform),
            "packed": packed,
            **{name: write(getattr(self, name)) for name in _MONEY},
        }

    @classmethod
    def from_dict(cls, data: object, where: str = "") -> RowEvidence:
        """The evidence that :meth:`to_dict` described; anything else is a DataError."""
        packed = isinstance(data, dict) and data.get("packed") is True
        saved: Any = read_fields(_Packed if packed else _Listed, data, where)
        count, columns = len(saved.gaps.sweep), {}
        for name in _MONEY:
            place, values = f"{where}.{name}", getattr(saved, name)
            column: Any = unpack(values, count, np.float64, place) if packed else np.array(values)
            if len(column) != count or not (np.isfinite(column) & (column >= 0)).all():
                raise DataError(FieldUnfit(place, "finite numbers of at least 0, one of each gap"))
            columns[name] = column.astype(np.float64)
        if saved.scale < 1:
            raise DataError(FieldUnfit(f"{where}.scale", "at least 1", saved.scale))
        return cls(saved.gaps, **columns, scale=saved.scale, uniform=saved.uniform)


def _uniform(point: RowCostPoint) -> Uniform | None:
    """The best single threshold, with what it is expected to cost on new rows."""
    cost = point.uniform_cost
    return None if point.uniform is None or cost is None else point.uniform._replace(value=cost)


@dataclass(frozen=True)
class _Listed:
    """Money in a file."""

    gaps: Evidence
    scale: Count
    uniform: _SavedUniform | None
    packed: bool
    gain: tuple[Mass, ...]
    loss: tuple[Mass, ...]
    gain2: tuple[Mass, ...]
    loss2: tuple[Mass, ...]


@dataclass(frozen=True)
class _Packed:
    """Money of many gaps in a file."""

    gaps: Evidence
    scale: Count
    uniform: _SavedUniform | None
    packed: bool
    gain: str
    loss: str
    gain2: str
    loss2: str


class _SavedUniform:
    """The best single threshold in a file."""

    @staticmethod
    def from_dict(data: object, where: str = "") -> Uniform:
        saved = read_fields(_UniformFields, data, where)
        return Uniform(saved.threshold, saved.value)


@dataclass(frozen=True)
class _UniformFields:
    threshold: Extended
    value: float


def _factor(old: object, new: object) -> float | None:
    """The constant that one cost is of another; None if it is no constant."""
    if isinstance(old, Expression) or isinstance(new, Expression):
        same = isinstance(old, Expression) and isinstance(new, Expression) and old.tree == new.tree
        return 1.0 if same else None
    assert isinstance(old, float)
    assert isinstance(new, float)
    if old == new:
        return 1.0
    ratio = new / old if old > 0 < new else 0.0
    return ratio if ratio > 0 and isfinite(ratio) else None
