"""The artefact people ship: columns in; scores, likelihood ratios, probabilities, decisions out."""

from __future__ import annotations

from cutpoint.detector.artefact import Detector, Training
from cutpoint.detector.columns import CategoryColumn, NumberColumn
from cutpoint.detector.encoding import Encoding
from cutpoint.detector.terms import CategoryTerm, NumberTerm

__all__ = [
    "CategoryColumn",
    "CategoryTerm",
    "Detector",
    "Encoding",
    "NumberColumn",
    "NumberTerm",
    "Training",
]
