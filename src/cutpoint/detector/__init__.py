"""The artefact people ship: columns in; scores, likelihood ratios, probabilities, decisions out."""

from __future__ import annotations

from cutpoint.detector.artefact import Detector, Training
from cutpoint.detector.encoding import CategoryColumn, Encoding, NumberColumn
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
