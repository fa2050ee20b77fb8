"""What turns rows of a table into scores: a line, a column that is there already."""

from __future__ import annotations

from cutscore.detector.scorers.base import Contributions, Scored, Scorer
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import LinearScorer

__all__ = ["ColumnScorer", "Contributions", "LinearScorer", "Scored", "Scorer"]
