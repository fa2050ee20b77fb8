"""Reports: one summary of scores and labels, for the terminal, for machines and for people.

:func:`summarise` computes everything once; ``Summary.text()``, ``Summary.as_dict()`` and
:func:`render` print it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutscore.report.fitted import summarise_fit as summarise_fit
    from cutscore.report.html import render as render
    from cutscore.report.making import Drawn as Drawn
    from cutscore.report.making import summarise as summarise
    from cutscore.report.making import summarise_sweeps as summarise_sweeps
    from cutscore.report.summary import Difference as Difference
    from cutscore.report.summary import Estimate as Estimate
    from cutscore.report.summary import Groups as Groups
    from cutscore.report.summary import Learner as Learner
    from cutscore.report.summary import Learners as Learners
    from cutscore.report.summary import ProbabilityGrid as ProbabilityGrid
    from cutscore.report.summary import ScoreSummary as ScoreSummary
    from cutscore.report.summary import Summary as Summary
    from cutscore.report.summary import Weight as Weight

_HOME = {
    "Difference": "summary",
    "Drawn": "making",
    "Estimate": "summary",
    "Groups": "summary",
    "Learner": "summary",
    "Learners": "summary",
    "ProbabilityGrid": "summary",
    "ScoreSummary": "summary",
    "Summary": "summary",
    "Weight": "summary",
    "render": "html",
    "summarise": "making",
    "summarise_fit": "fitted",
    "summarise_sweeps": "making",
}

__all__ = [
    "Difference",
    "Drawn",
    "Estimate",
    "Groups",
    "Learner",
    "Learners",
    "ProbabilityGrid",
    "ScoreSummary",
    "Summary",
    "Weight",
    "render",
    "summarise",
    "summarise_fit",
    "summarise_sweeps",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cutscore.report' has no attribute {name!r}")
    return getattr(import_module(f"cutscore.report.{_HOME[name]}"), name)
