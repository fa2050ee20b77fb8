"""The learners by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutscore._rows import Rows
from cutscore.errors import CutscoreError
from cutscore.linear.detector import Fit

Learn = Callable[[Rows], Fit]
# Cutting planes of `structural`: where columns outnumber rows it could take thousands.
_STEPS = 300


def learners(measure: Any = None) -> dict[str, Learn]:
    """All learners by name, the simplest first. ``structural`` trains for the measure, if it is one
    that a line can be trained for, else for the AUC.

    Examples
    --------
    >>> from cutscore.training import learners
    >>> list(learners())[:3]
    ['mean-difference', 'fisher', 'least-squares']
    """

    def mean_difference(rows: Rows) -> Fit:
        from cutscore.linear import closed

        return closed.mean_difference(rows)

    def fisher(rows: Rows) -> Fit:
        from cutscore.linear import closed

        return closed.fisher(rows, shrinkage="auto")

    def least_squares(rows: Rows) -> Fit:
        from cutscore.linear import closed

        return closed.least_squares(rows)

    def gaussian(rows: Rows) -> Fit:
        from cutscore.linear import closed

        return closed.gaussian(rows, shrinkage="auto")

    def logistic(rows: Rows) -> Fit:
        from cutscore.linear.logistic import logistic

        return logistic(rows)

    def perceptron(rows: Rows) -> Fit:
        from cutscore.linear.perceptron import perceptron

        return perceptron(rows, max_passes=20, variant="averaged")

    def structural(rows: Rows) -> Fit:
        from cutscore.linear.structural import as_aim, structural

        try:
            aim = as_aim(measure)
        except CutscoreError:
            aim = as_aim("auc")
        return structural(rows, aim, max_iter=_STEPS)

    return {
        "mean-difference": mean_difference,
        "fisher": fisher,
        "least-squares": least_squares,
        "gaussian": gaussian,
        "logistic": logistic,
        "perceptron": perceptron,
        "structural": structural,
    }


# What "auto" compares.
AUTO = ("mean-difference", "gaussian", "logistic", "structural")
