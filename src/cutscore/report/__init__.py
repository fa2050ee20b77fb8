"""Reports: one summary of scores and labels, for the terminal, for machines and for people.

:func:`summarise` computes everything once; ``Summary.text()``, ``Summary.as_dict()`` and
:func:`render` print it.
"""

from __future__ import annotations

from cutscore.core.lazy import attributes, homes

_HOME = homes(__file__)

__all__ = list(_HOME)

__getattr__ = attributes(__name__, _HOME)
