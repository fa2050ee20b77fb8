"""The decision as an artefact: aim, cut, calibrator, and the evidence of the choice."""

from __future__ import annotations

from cutscore.core.lazy import attributes, homes

_HOME = homes(__file__)

__all__ = list(_HOME)

__getattr__ = attributes(__name__, _HOME)
