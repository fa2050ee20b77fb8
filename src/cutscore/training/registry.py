"""The learners that training chooses from: one row each. Standard library only, since the command
lists them before it knows what to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutscore.linear.line import Fit
    from cutscore.linear.rows import Rows
    from cutscore.measures.registry import Objective
    from cutscore.training.fitted import Fitted
    from cutscore.training.rows import Part

# Cutting planes of `structural`: where columns outnumber rows it could take thousands.
_STEPS = 300
# Multiples of C = "scale" that `structural` tries, and the number of inner folds that it tries them
# on: each is some of the folds of the table, so that no unit is in two.
_PATH = (0.1, 1.0, 10.0)
_INNER = 3


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """A learner, and how training uses it.

    Parameters
    ----------
    name
        What it is called.
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
    >>> from cutscore.training.registry import LEARNERS
    >>> [name for name, learner in LEARNERS.items() if learner.auto]
    ['mean-difference', 'gaussian', 'logistic', 'structural', 'lightgbm']
    """

    is_line: ClassVar[bool]
    """Whether it makes a line, that people can read; the scale of its scores is its own then."""

    name: str
    auto: bool = False
    dense_below: int | None = None
    sample_above: int | None = None
    converges: bool = True

    @abstractmethod
    def learn(self, part: Part, goal: Any, folds: Sequence[Fitted] = ()) -> Fitted:
        """Fit it to some rows, for an objective or for None.

        ``folds`` is what it made of the folds before, if these are all rows.
        """

    @property
    def installed(self) -> bool:
        """Whether the library that it needs is there."""
        return True


@dataclass(frozen=True, kw_only=True)
class LineLearner(Learner):
    """A learner of lines: sums of blocks of features are all it asks for.

    ``fit`` makes a :class:`cutscore.linear.Fit` of rows, of what is aimed at, and of the fold of
    each row, if it has a parameter to choose on rows left out.
    """

    is_line = True

    fit: Callable[[Rows, Any, NDArray[np.intp]], Fit]

    def learn(self, part: Part, goal: Any, folds: Sequence[Fitted] = ()) -> Fitted:  # noqa: ARG002
        from cutscore.training.fitted import FittedLine

        return FittedLine(self.fit(part.rows, goal, part.fold))


@dataclass(frozen=True, kw_only=True)
class TreeLearner(Learner):
    """Boosted trees of another library, for the log loss: their scores are log-odds."""

    is_line = False

    library: Literal["lightgbm", "xgboost", "catboost"]

    def learn(self, part: Part, goal: Any, folds: Sequence[Fitted] = ()) -> Fitted:  # noqa: ARG002
        from cutscore.training.boosting import boost

        return boost(self.library, part, folds)

    @property
    def installed(self) -> bool:
        return find_spec(self.library) is not None


def _mean_difference(rows: Rows, *_: object) -> Fit:
    from cutscore.linear import closed

    return closed.mean_difference(rows)


def _fisher(rows: Rows, *_: object) -> Fit:
    from cutscore.linear import closed

    return closed.fisher(rows, shrinkage="auto")


def _least_squares(rows: Rows, *_: object) -> Fit:
    from cutscore.linear import closed

    return closed.least_squares(rows)


def _gaussian(rows: Rows, *_: object) -> Fit:
    from cutscore.linear import closed

    return closed.gaussian(rows, shrinkage="auto")


def _logistic(rows: Rows, *_: object) -> Fit:
    from cutscore.linear.logistic import logistic

    return logistic(rows)


def _perceptron(rows: Rows, *_: object) -> Fit:
    from cutscore.linear.perceptron import perceptron

    return perceptron(rows, max_passes=20, variant="averaged")


def _structural(rows: Rows, objective: Objective | None, fold: NDArray[np.intp]) -> Fit:
    """For the measure or the costs, if a line can be trained for them, else for the AUC."""
    import numpy as np

    from cutscore.core.errors import CutscoreError
    from cutscore.linear.logistic import logistic
    from cutscore.linear.structural import as_trainable, scaled_C, search_C, structural
    from cutscore.measures.aim import Top

    try:
        wanted = objective.name if isinstance(objective, Top) else objective
        aim = as_trainable("auc" if wanted is None else wanted)
    except CutscoreError:
        aim = as_trainable("auc")
    start = logistic(rows).detector
    # Folds that are left, numbered from 0, so that inner folds are of about equal size.
    inner = np.unique(fold, return_inverse=True)[1] % _INNER
    C = (
        search_C(rows, aim, inner, path=_PATH, max_iter=_STEPS, start=start).C
        if inner.any()
        else scaled_C(rows, aim)
    )
    return structural(rows, aim, C=C, max_iter=_STEPS, start=start)


LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in (
        LineLearner(name="mean-difference", fit=_mean_difference, auto=True),
        LineLearner(name="fisher", fit=_fisher, dense_below=2_000),
        LineLearner(name="least-squares", fit=_least_squares),
        LineLearner(name="gaussian", fit=_gaussian, auto=True, dense_below=2_000),
        LineLearner(name="logistic", fit=_logistic, auto=True),
        # It only ever ends by itself where a line separates the classes.
        LineLearner(name="perceptron", fit=_perceptron, converges=False),
        LineLearner(name="structural", fit=_structural, auto=True, sample_above=50_000),
        TreeLearner(name="lightgbm", library="lightgbm", auto=True, sample_above=200_000),
        TreeLearner(name="xgboost", library="xgboost"),
        TreeLearner(name="catboost", library="catboost"),
    )
}
"""All learners by name, the simplest first."""
