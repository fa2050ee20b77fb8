"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from cutscore.core.lazy import attributes, homes

_HOME = homes(__file__)

__all__ = list(_HOME)

__getattr__ = attributes(__name__, _HOME)
