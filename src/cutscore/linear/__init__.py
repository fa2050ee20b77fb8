"""Linear detectors: each learner is a few reduces over rows, and its result one LinearDetector."""

from __future__ import annotations

from cutscore._rows import ArrayRows, Block, Rows
from cutscore.linear.detector import ClassesFit, Discriminants, Fit, LinearDetector, Margins

__all__ = [
    "ArrayRows",
    "Block",
    "ClassesFit",
    "Discriminants",
    "Fit",
    "LinearDetector",
    "Margins",
    "Rows",
]
