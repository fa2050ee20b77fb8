"""The artefact people ship: columns in; scores, likelihood ratios, probabilities, decisions out."""

from __future__ import annotations

from cutscore.detector.artefact import Detector, Training
from cutscore.detector.columns import CategoryColumn, NumberColumn
from cutscore.detector.encoding import Encoding
from cutscore.detector.scorers import ColumnScorer, LinearScorer, ModelScorer, Scorer
from cutscore.detector.terms import CategoryTerm, NumberTerm

__all__ = [
    "CategoryColumn",
    "CategoryTerm",
    "ColumnScorer",
    "Detector",
    "Encoding",
    "LinearScorer",
    "ModelScorer",
    "NumberColumn",
    "NumberTerm",
    "Scorer",
    "Training",
]
