"""Linear detectors: each learner is a few reduces over rows, and its result one LinearDetector."""

from __future__ import annotations

from cutpoint._rows import ArrayRows, Block, Rows
from cutpoint.linear.detector import Fit, LinearDetector, Margins

__all__ = ["ArrayRows", "Block", "Fit", "LinearDetector", "Margins", "Rows"]
