"""A column that has the score already, by whatever model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers.base import Scored, Scorer
from cutscore.detector.values import scores, stream
from cutscore.tables.literals import parsed

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike


@dataclass(frozen=True)
class ColumnScorer(Scorer):
    """The score is a column of the table. Missing scores are NaN; infinite ones are scores.

    Parameters
    ----------
    column
        Its name.

    Examples
    --------
    >>> from cutscore.detector.scorers import ColumnScorer
    >>> ColumnScorer("risk").scores({"risk": [0.25, None, 3]})
    array([0.25,  nan, 3.  ])
    """

    kind = "column"
    explains = False

    column: str

    @property
    def columns(self) -> list[str]:
        return [self.column]

    def scored(
        self,
        data: TableLike,
        keep: Sequence[str] = (),
        *,
        explain: bool = False,  # noqa: ARG002
        seen: Novelty | None = None,  # noqa: ARG002
    ) -> Iterator[Scored]:
        from cutscore.tables.frames import as_table

        wanted = list(dict.fromkeys((*keep, self.column)))
        data = as_table(data)
        # A kept column stays as it is written, 009 and not 9.
        written = self.column in keep and self.column in data.coded(wanted)
        start = 0
        for batch in stream(data, wanted, () if written else (self.column,)):
            if not batch.num_rows:
                continue
            column = batch.column(wanted.index(self.column))
            column = parsed(column) if written else column
            yield Scored(batch, np.asarray(scores(column, self.column, start)), None)
            start += batch.num_rows

    def facts(self) -> list[tuple[str, str]]:
        return [("score", f"the column {self.column}")]
