"""Reports: one summary of scores and labels, for the terminal, for machines and for people.

:func:`summarise` computes everything once; ``Summary.text()``, ``Summary.as_dict()`` and
:func:`render` print it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.core.lazy import attributes

if TYPE_CHECKING:
    from cutscore.comparison.class_samples import ClassSample as ClassSample
    from cutscore.report.analysis import summarise as summarise
    from cutscore.report.analysis import summarise_sweeps as summarise_sweeps
    from cutscore.report.page import render as render
    from cutscore.report.policies import summarise_policy as summarise_policy
    from cutscore.report.summary import Difference as Difference
    from cutscore.report.summary import Estimate as Estimate
    from cutscore.report.summary import Groups as Groups
    from cutscore.report.summary import Importance as Importance
    from cutscore.report.summary import Learner as Learner
    from cutscore.report.summary import Learners as Learners
    from cutscore.report.summary import ProbabilityGrid as ProbabilityGrid
    from cutscore.report.summary import ScoreSummary as ScoreSummary
    from cutscore.report.summary import Summary as Summary
    from cutscore.report.summary import Weight as Weight
    from cutscore.report.training import summarise_fit as summarise_fit

_HOME = {
    "ClassSample": "analysis",
    "Difference": "summary",
    "Estimate": "summary",
    "Groups": "summary",
    "Learner": "summary",
    "Importance": "summary",
    "Learners": "summary",
    "ProbabilityGrid": "summary",
    "ScoreSummary": "summary",
    "Summary": "summary",
    "Weight": "summary",
    "render": "page",
    "summarise": "analysis",
    "summarise_fit": "training",
    "summarise_policy": "policies",
    "summarise_sweeps": "analysis",
}

__all__ = [
    "ClassSample",
    "Difference",
    "Estimate",
    "Groups",
    "Importance",
    "Learner",
    "Learners",
    "ProbabilityGrid",
    "ScoreSummary",
    "Summary",
    "Weight",
    "render",
    "summarise",
    "summarise_fit",
    "summarise_policy",
    "summarise_sweeps",
]

__getattr__ = attributes(__name__, _HOME)
