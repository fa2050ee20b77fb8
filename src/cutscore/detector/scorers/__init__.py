"""What turns rows of a table into scores: a line, a column, a model of another library."""

from __future__ import annotations

from cutscore.detector.scorers.base import Contributions, Scored, Scorer
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import LinearScorer
from cutscore.detector.scorers.model import ModelScorer

__all__ = ["ColumnScorer", "Contributions", "LinearScorer", "ModelScorer", "Scored", "Scorer"]
