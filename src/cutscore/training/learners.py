"""The linear learners that training chooses from: one row each. Standard library only, since the
command lists them before it knows what to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutscore.linear.detector import Fit
    from cutscore.linear.rows import Rows
    from cutscore.measures.measure import Objective

# Cutting planes of `structural`: where columns outnumber rows it could take thousands.
_STEPS = 300


@dataclass(frozen=True)
class Learner:
    """A learner, and how training uses it.

    Parameters
    ----------
    name
        What it is called.
    fit
        Makes a :class:`cutscore.linear.Fit` of rows and of what is aimed at: an objective, or None.
    auto
        Whether "auto" tries it.
    dense_below
        In "auto" it is left out of tables with more features: it inverts a matrix of all of them.
    sample_above
        In "auto" it is fitted to a sample of so many rows in each fold, if there are more.
    converges
        Whether it ends by itself on any rows.

    Examples
    --------
    >>> from cutscore.training.learners import LEARNERS
    >>> [name for name, learner in LEARNERS.items() if learner.auto]
    ['mean-difference', 'gaussian', 'logistic', 'structural']
    """

    name: str
    fit: Callable[[Rows, Any], Fit]
    auto: bool = False
    dense_below: int | None = None
    sample_above: int | None = None
    converges: bool = True


def _mean_difference(rows: Rows, _: object) -> Fit:
    from cutscore.linear import closed

    return closed.mean_difference(rows)


def _fisher(rows: Rows, _: object) -> Fit:
    from cutscore.linear import closed

    return closed.fisher(rows, shrinkage="auto")


def _least_squares(rows: Rows, _: object) -> Fit:
    from cutscore.linear import closed

    return closed.least_squares(rows)


def _gaussian(rows: Rows, _: object) -> Fit:
    from cutscore.linear import closed

    return closed.gaussian(rows, shrinkage="auto")


def _logistic(rows: Rows, _: object) -> Fit:
    from cutscore.linear.logistic import logistic

    return logistic(rows)


def _perceptron(rows: Rows, _: object) -> Fit:
    from cutscore.linear.perceptron import perceptron

    return perceptron(rows, max_passes=20, variant="averaged")


def _structural(rows: Rows, objective: Objective) -> Fit:
    """For the measure, if it is one that a line can be trained for, else for the AUC."""
    from cutscore.core.errors import CutscoreError
    from cutscore.linear.logistic import logistic
    from cutscore.linear.structural import as_trainable, structural
    from cutscore.measures.aim import Top

    try:
        aim = as_trainable(objective.name if isinstance(objective, Top) else objective)
    except CutscoreError:
        aim = as_trainable("auc")
    return structural(rows, aim, max_iter=_STEPS, start=logistic(rows).detector)


LEARNERS = {
    learner.name: learner
    for learner in (
        Learner("mean-difference", _mean_difference, auto=True),
        Learner("fisher", _fisher, dense_below=2_000),
        Learner("least-squares", _least_squares),
        Learner("gaussian", _gaussian, auto=True, dense_below=2_000),
        Learner("logistic", _logistic, auto=True),
        # It only ever ends by itself where a line separates the classes.
        Learner("perceptron", _perceptron, converges=False),
        Learner("structural", _structural, auto=True, sample_above=50_000),
    )
}
"""All learners by name, the simplest first."""
