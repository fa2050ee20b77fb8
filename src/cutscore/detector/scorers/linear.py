"""A line: the score is what each column adds, in its own units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.models import ScorerUnfit
from cutscore.core.frozen import derived
from cutscore.detector.encoding import Encoding
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers.base import Contributions, Scored, Scorer
from cutscore.detector.scorers.reading import numbers_of, read_columns, texts_of
from cutscore.detector.terms import CategoryTerm, Term, folded
from cutscore.linear.line import LinearDetector
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike

# Terms are added up in groups, so that a sum written as one expression is nowhere deep.
GROUP = 256


@dataclass(frozen=True)
class LinearScorer(Scorer):
    """score = base + Σ terms.

    Parameters
    ----------
    terms
        What each column adds to the score, in its own units.
    base
        The score of a row that is average in every column.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Encoding
    >>> from cutscore.detector.scorers import LinearScorer
    >>> e = Encoding.fit({"age": [20, 40, 60]})
    >>> line = LinearScorer.of(e, cs.LinearDetector(np.array([1.0]), 0.5))
    >>> line.scores({"age": [40, 60]}).round(3)
    array([0.5  , 1.725])
    """

    kind = "linear"

    terms: tuple[Term, ...]
    base: float

    def __post_init__(self) -> None:
        base = number(self.base)
        if not isfinite(base):
            raise DataError(BadArgument("base", "be a finite number", self.base))
        object.__setattr__(self, "base", base)
        names = self.columns
        if len(set(names)) < len(names):
            raise DataError(BadArgument("terms", "be one per column; a column has two"))

    @classmethod
    def of(cls, encoding: Encoding, line: LinearDetector) -> LinearScorer:
        """Of a line in the space of the features: weights go back to the columns."""
        return cls(*folded(encoding, line.w, line.b))

    @property
    def columns(self) -> list[str]:
        return [term.column.name for term in self.terms]

    @property
    def numbers(self) -> list[str]:
        """The columns that it takes as numbers."""
        return numbers_of([term.column for term in self.terms])

    @property
    def texts(self) -> dict[str, tuple[str, ...]]:
        """Those that it takes as they are written, with their levels."""
        return texts_of([term.column for term in self.terms])

    @property
    def bias(self) -> float:
        """b of score = b + Σ weight · value: for people who add up raw values. ``base`` is the
        same with values counted from their means, which loses no digits."""
        return self.base - sum(
            term.weight * term.column.mean
            for term in self.terms
            if not isinstance(term, CategoryTerm)
        )

    @derived
    def _names(self) -> list[str]:
        """What contributions are called, and below where those of each term begin."""
        return [name for term in self.terms for name in term.labels]

    @derived
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(term.labels) for term in self.terms)]

    def scored(
        self,
        data: TableLike,
        keep: Sequence[str] = (),
        *,
        explain: bool = False,
        seen: Novelty | None = None,
    ) -> Iterator[Scored]:
        columns = [term.column for term in self.terms]
        small = np.min_scalar_type(len(self._names))  # a place for each row and column
        for batch, values in read_columns(data, columns, keep, seen):
            score = np.full(batch.num_rows, self.base)
            added: list[Floats] = []
            labels = []
            for first in range(0, len(self.terms), GROUP):
                group = None
                for k, term in enumerate(self.terms[first : first + GROUP], first):
                    value, label = term.contributions(values[k])
                    group = value if group is None else group + value
                    if explain:
                        added.append(value)
                        labels.append(np.add(label, self._starts[k], dtype=small, casting="unsafe"))
                score += group
            why = None
            if added:
                why = Contributions(np.stack(added), np.stack(labels), self._names)
            yield Scored(batch, score, why)

    def facts(self) -> list[tuple[str, str]]:
        if not self.terms:
            return [("columns", "none")]
        largest = sorted(self.terms, key=lambda term: -term.size)[:5]
        names = ", ".join(term.column.name for term in largest)
        return [("columns", f"{len(self.terms):,}, mainly {names}")]


def line_of(scorer: Scorer, what: str) -> LinearScorer:
    """The scorer, if it is a line: nothing else can be written as ``what``."""
    if not isinstance(scorer, LinearScorer):
        raise DataError(ScorerUnfit(scorer.kind, what))
    return scorer
