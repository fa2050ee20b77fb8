"""Types of the estimators' parameters."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol, Self

from numpy.typing import ArrayLike

from cutscore.measures.costs import Costs

Label = Hashable
"""A label of a class."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    shape: tuple[int, ...]

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


Matrix = ArrayLike | SparseMatrix
"""Features: an array, a data frame (any that NumPy reads) or a sparse matrix."""


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
