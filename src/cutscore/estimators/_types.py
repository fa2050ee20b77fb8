"""Types of the estimators' parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol, Self

from cutscore.core.types import ArrayLike, Label
from cutscore.measures.costs import Costs


class Classifier(Protocol):
    """A classifier of scikit-learn, with ``decision_function`` or ``predict_proba`` as well."""

    def fit(self, X: Any, y: Any) -> Self: ...

    def predict(self, X: Any) -> Any: ...


class Splitter(Protocol):
    """A splitter of scikit-learn, such as ``KFold``."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterator[tuple[Any, Any]]: ...


Folds = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | str | None
"""A number of folds, a splitter, or pairs of indices."""

ClassWeight = Literal["balanced"] | Mapping[Label, float] | Costs | None
"""Weights of the classes."""

ClassShares = ArrayLike | Mapping[Label, float] | None
"""The share of each class, in the order of the labels or by label."""

CostMatrix = ArrayLike | Mapping[Label, Mapping[Label, float]] | Costs | None
"""What each prediction costs, by true class."""
