"""Linear detectors: each learner is a few reduces over rows, and its result one LinearDetector."""

from __future__ import annotations

from cutscore.linear.line import ClassesFit, Discriminants, Fit, LinearDetector, Margins
from cutscore.linear.rows import ArrayRows, Block, Rows

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
