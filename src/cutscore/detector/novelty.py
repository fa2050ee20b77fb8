"""What new rows have that no training row had: counts, since a score does not show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.findings.base import Finding
from cutscore.core.findings.models import ScoresOutside, UnseenValues
from cutscore.core.findings.rows import CostsUndecided, GroupUndecided
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.values import in_words
from cutscore.policy.check import FAR
from cutscore.policy.groups import Groups, group_text

if TYPE_CHECKING:
    import pyarrow as pa


# New rows like those of training have at most so many outside of their range, if these are 200.
_FEW = 0.01


@dataclass
class _Outside:
    """How many numbers are outside of a range, and the farthest."""

    low: float
    high: float
    kind: str
    count: int = 0
    far: float = 0.0
    away: float = 0.0

    def add(self, x: NDArray[Any]) -> None:
        away = np.maximum(x - self.high, self.low - x)
        out = away > 0
        if not out.any():
            return
        self.count += int(np.count_nonzero(out))
        k = int(np.nanargmax(away))
        if away[k] > self.away:
            self.far, self.away = float(x[k]), float(away[k])

    def matters(self, rows: int) -> bool:
        """Whether there are more than the few that any new rows have, just outside; or one that is
        far outside."""
        return self.count > _FEW * rows or self.away > FAR * (self.high - self.low)


class Novelty:
    """Counts values that no training row had, batch by batch.

    Parameters
    ----------
    scores
        The lowest and the highest score of the evidence, if they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.detector import NumberColumn
    >>> from cutscore.detector.novelty import Novelty
    >>> age = NumberColumn("age", 40.0, 9.0, low=18.0, high=90.0)
    >>> seen = Novelty()
    >>> seen.watch(age, np.array([17.0, 20.0, 95.0, np.nan]), None)
    >>> for found in seen.found(4):
    ...     print(found.render())
    2 of 4 rows (50 %) have a value of 'age' outside the training range, 18 to 90, such as 95.
    1 of 4 rows (25 %) has no value for 'age', which was never missing in training.
    """

    def __init__(self, scores: tuple[float, float] | None = None) -> None:
        # Scores as far beyond the evidence as half its width, which policies call far, too.
        width = 0.0 if scores is None else FAR * (scores[1] - scores[0])
        self._range = scores
        self._scores = (
            None if scores is None else _Outside(scores[0] - width, scores[1] + width, "number")
        )
        self._levels: dict[str, tuple[int, str]] = {}
        self._missing: dict[str, int] = {}
        self._numbers: dict[str, _Outside] = {}
        self._groups: Groups | None = None
        self._undecided: tuple[int, str | None] = (0, None)
        self._costs: tuple[int, tuple[str, ...]] = (0, ())

    def watch(self, c: Column, has: NDArray[Any], column: pa.Array) -> None:
        """Take in what some rows have in one column: numbers, NaN where they are missing, or states
        of a category by their numbers; and the column that this was read from."""
        if isinstance(c, CategoryColumn):
            missing = has == len(c.levels) + 1
            self._watch_levels(c, has == len(c.levels), column)
        else:
            missing = np.isnan(has)
            self._watch_range(c, has)
        if not c.missing and missing.any():
            self._missing[c.name] = self._missing.get(c.name, 0) + int(np.count_nonzero(missing))

    def watch_scores(self, score: NDArray[Any]) -> None:
        """Take in the scores of some rows."""
        if self._scores is not None:
            self._scores.add(score)

    def watch_groups(self, groups: Groups, unknown: NDArray[np.bool_], column: pa.Array) -> None:
        """Take in which rows are of no group that has a threshold."""
        count, example = self._undecided
        rows = np.flatnonzero(unknown)
        if len(rows) and example is None:
            found = (group_text(column[int(k)].as_py()) for k in rows[:1000])
            example = next((name for name in found if name is not None), None)
        self._groups, self._undecided = groups, (count + len(rows), example)

    def watch_costs(self, missing: NDArray[np.bool_], names: Sequence[str]) -> None:
        """Take in which rows lack a number that their costs are computed from."""
        self._costs = self._costs[0] + int(np.count_nonzero(missing)), tuple(names)

    def groups_undecided(self, rows: int) -> GroupUndecided | None:
        """What to say of rows whose group has no threshold."""
        count, example = self._undecided
        if self._groups is None or not count:
            return None
        return GroupUndecided(self._groups.column, count, rows, example, self._groups.names)

    def scores_outside(self, rows: int) -> ScoresOutside | None:
        """What to say of scores that are far outside of the range of the evidence."""
        if self._range is None or self._scores is None or not self._scores.count:
            return None
        low, high = self._range
        times = FAR + self._scores.away / (high - low)
        return ScoresOutside(self._scores.count / rows, low, high, self._scores.far, times)

    def _watch_levels(
        self, c: CategoryColumn, unknown: NDArray[np.bool_], column: pa.Array
    ) -> None:
        # Where training rows had rare levels, an unknown one counts as they do.
        if c.other or not unknown.any():
            return
        count, example = self._levels.get(c.name, (0, None))
        if example is None:
            example = c.texts(column.slice(int(unknown.argmax()), 1)).to_pylist()[0]
        self._levels[c.name] = count + int(np.count_nonzero(unknown)), example

    def _watch_range(self, c: NumberColumn, x: NDArray[Any]) -> None:
        if c.low is not None and c.high is not None:
            self._numbers.setdefault(c.name, _Outside(c.low, c.high, c.kind)).add(x)

    def found(self, rows: int) -> list[Finding]:
        """What there was among so many rows, the most frequent first."""
        outside = self.scores_outside(rows)
        out = [UnseenValues(name, n, rows, level) for name, (n, level) in self._levels.items()]
        out += [UnseenValues(name, n, rows) for name, n in self._missing.items()]
        out += [
            UnseenValues(
                name, o.count, rows, *(in_words(v, o.kind) for v in (o.far, o.low, o.high))
            )
            for name, o in self._numbers.items()
            if o.matters(rows)
        ]
        first: list[Finding] = [] if outside is None else [outside]
        undecided = self.groups_undecided(rows)
        if undecided is not None:
            first.append(undecided)
        if self._costs[0]:
            first.append(CostsUndecided(self._costs[1], self._costs[0], rows))
        return [*first, *sorted(out, key=lambda found: -found.rows)]
