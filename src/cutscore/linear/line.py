"""The one result of all learners: a line in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Affine
from cutscore.core.checks import check_rows, not_a_column
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Shown
from cutscore.core.findings.rows import ValueUnfit
from cutscore.core.findings.statistics import Undefined
from cutscore.core.frozen import Frozen
from cutscore.core.types import MatrixLike, SparseMatrix
from cutscore.linear.rows import ArrayRows, Flags, Floats, Matrix, collect
from cutscore.sweeps.sweep import sweep


@dataclass(frozen=True, eq=False)
class LinearDetector(Frozen):
    """score = w·x + b; a row is classified as positive iff its score is at least 0.

    Parameters
    ----------
    w : array of float
        One weight for each feature.
    b : float
        The bias.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> line = cs.LinearDetector(np.array([3.0, 4.0]), -5.0)
    >>> X = np.array([[3.0, 4.0], [0.0, 0.0]])
    >>> line.scores(X).tolist()
    [20.0, -5.0]
    >>> line.signed_distance(X).tolist()
    [4.0, -1.0]
    >>> line.then(cs.Affine(gamma=2.0, d0=1.0))  # its scores are log-likelihood ratios
    LinearDetector(w=[6, 8], b=-12)
    """

    w: Floats
    b: float

    def __post_init__(self) -> None:
        w = np.asarray(self.w, np.float64)
        if w.ndim != 1:
            raise not_a_column("w", w)
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "b", float(self.b))
        super().__post_init__()

    def scores(self, X: MatrixLike) -> Floats:
        """w·x + b of each row of an array or a sparse matrix."""
        known = _matrix(X, len(self.w))
        rows = ArrayRows(known, np.broadcast_to(np.False_, known.shape[0]))
        return collect(rows, lambda block: block.scores(self.w, self.b))

    def unit(self) -> LinearDetector:
        """The same line with ‖w‖ = 1: scores are distances from it."""
        norm = _norm(self.w)
        if not norm:
            why = "has no decision boundary, so distances are undefined"
            raise UndefinedError(Undefined("a detector with w = 0", why))
        return LinearDetector(self.w / norm, self.b / norm)

    def signed_distance(self, X: MatrixLike) -> Floats:
        """The distance of each row from the line, positive on the side of the positives."""
        return self.unit().scores(X)

    def margins(self, X: MatrixLike, y: Flags) -> Margins:
        """The signed distance of each row, negated for the negatives: above 0 is the right side.
        y is True, or 1, for positives."""
        distance = self.signed_distance(X)
        columns = check_rows(y, distance)
        sweep(y, distance)  # which also tells -1/1 from 0/1, and refuses what is neither
        return Margins._adopt(np.where(columns.label == columns.positive, 1.0, -1.0) * distance)

    def then(self, calibrator: Affine) -> LinearDetector:
        """The detector whose scores are the LLRs of this detector's scores: (γ w, γ (b − d₀)). The
        direction of w stays the same; the boundary and the slope may change."""
        if not isinstance(calibrator, Affine):
            rule = "be affine, as 'logistic' and 'platt' make, so that the model stays linear"
            raise DataError(BadArgument("calibrator", rule, calibrator))
        gamma = calibrator.gamma
        return LinearDetector(gamma * self.w, gamma * (self.b - calibrator.d0))

    def __repr__(self) -> str:
        some = ", ".join(f"{v:.4g}" for v in self.w[:4].tolist())
        more = f", … {len(self.w):,} in all" if len(self.w) > 4 else ""
        return f"LinearDetector(w=[{some}{more}], b={self.b:.4g})"


@dataclass(frozen=True, eq=False)
class Margins(Frozen):
    """γₘ = y(w·x + b) with ‖w‖ = 1: the signed distance of each row from the boundary, positive if
    it is classified correctly.

    Parameters
    ----------
    value : array of float
        The margin of each row; a margin of at most 0 is an error.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> line = cs.LinearDetector(np.array([3.0, 4.0]), -5.0)
    >>> X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]])
    >>> m = line.margins(X, np.array([True, False, False]))
    >>> m
    Margins(rows=3, smallest=-0.4, errors=1)
    >>> count, edges = m.histogram(4)
    >>> count.tolist()
    [1, 1, 0, 0, 1]
    """

    value: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", np.asarray(self.value, np.float64))
        super().__post_init__()

    @cached_property
    def smallest(self) -> float:
        """The smallest margin; above 0 iff the hyperplane separates the classes."""
        return float(self.value.min())

    @property
    def errors(self) -> int:
        """How many rows are on the wrong side, or on the line."""
        return int(np.count_nonzero(self.value <= 0))

    def histogram(self, bins: int = 40) -> tuple[NDArray[np.int64], Floats]:
        """Counts and edges, with an edge at 0."""
        lo, hi = min(self.smallest, 0.0), max(float(self.value.max()), 0.0)
        width = hi / bins - lo / bins or 1.0
        first, last = np.floor(lo / width), np.ceil(hi / width)
        edges = width * np.arange(first, max(last, first + 1) + 1)
        # Rounding may put the outermost edge a bit inside of the outermost row.
        count, _ = np.histogram(np.clip(self.value, edges[0], edges[-1]), edges)
        return count.astype(np.int64), edges

    def __repr__(self) -> str:
        return (
            f"Margins(rows={len(self.value):,}, smallest={self.smallest:.4g}, "
            f"errors={self.errors:,})"
        )


@dataclass(frozen=True)
class Fit:
    """The result of a learner: the linear detector, and how the fit went.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.linear.closed import fisher
    >>> fit = fisher(cs.ClassMoments.from_arrays([[0.0], [2], [4], [6]], [0, 0, 1, 1]))
    >>> fit.detector, fit.passes, fit.converged
    (LinearDetector(w=[4], b=-12), 1, True)
    """

    detector: LinearDetector
    """The line."""
    iterations: int = 1
    """How many steps were taken."""
    passes: int = 1
    """How often all rows were read."""
    converged: bool = True
    """Whether it ended by its own rule, not for lack of steps."""
    objective: float | None = None
    """What was minimised, at the end; None where there is a closed form."""
    gap: float | None = None
    """How far the objective can be above its minimum, at most; None where nothing certifies it."""
    at_zero: float | None = None
    """The objective of w = 0, if it is known: a minimum next to it has learned nothing."""


@dataclass(frozen=True, eq=False)
class Discriminants(Frozen):
    """g: R^D → R^K, one linear function W[k]·x + b[k] for each of K classes; the class with the
    largest value is predicted.

    Parameters
    ----------
    W : array of float
        One row of weights for each class.
    b : array of float
        One constant for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import Discriminants
    >>> g = Discriminants(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0, 0, 1]))
    >>> g.scores(np.array([[2.0, 1.0], [-1.0, 0.0]])).tolist()
    [[2.0, 1.0, -2.0], [-1.0, 0.0, 2.0]]
    """

    W: Floats
    b: Floats

    def __post_init__(self) -> None:
        W, b = np.asarray(self.W, np.float64), np.asarray(self.b, np.float64)
        if W.ndim != 2 or b.shape != W.shape[:1]:
            rule = f"have one row of weights per entry of b, whose shape is {b.shape}"
            raise DataError(BadArgument("W", rule, Shown(f"shape {W.shape}")))
        object.__setattr__(self, "W", W)
        object.__setattr__(self, "b", b)
        super().__post_init__()

    def scores(self, X: MatrixLike) -> Floats:
        """W·x + b of each row of an array or a sparse matrix, a column for each class."""
        lines = [LinearDetector(w, b) for w, b in zip(self.W, self.b.tolist(), strict=True)]
        return np.column_stack([line.scores(X) for line in lines])

    def __repr__(self) -> str:
        return f"Discriminants(classes={len(self.b)}, features={self.W.shape[1]:,})"


@dataclass(frozen=True)
class ClassesFit:
    """The result of a learner for K classes; the fields are those of :class:`cutscore.Fit`."""

    discriminants: Discriminants
    iterations: int = 1
    passes: int = 1
    converged: bool = True
    objective: float | None = None
    gap: float | None = None


class Step(NamedTuple):
    """Where a solver has got to, for whoever watches it."""

    iteration: int
    objective: float
    gap: float
    """About how far above the minimum."""
    goal: float
    """The gap to stop at."""


def _matrix(data: MatrixLike, features: int) -> Matrix:
    """X as blocks are cut from it: floats, two dimensions, CSR if it is sparse."""
    X: Matrix = data.tocsr() if isinstance(data, SparseMatrix) else np.asarray(data)
    if X.ndim != 2 or X.shape[1] != features:
        rule = f"have one row per case and {features} columns, like w"
        raise DataError(BadArgument("X", rule, Shown(f"shape {X.shape}")))
    if X.dtype in (np.float32, np.float64):
        return X
    if X.dtype.kind not in "biuf":
        raise DataError(ValueUnfit("X", type=str(X.dtype)))
    return X.astype(np.float64)


def _norm(w: Floats) -> float:
    """‖w‖, also where its square is no float."""
    top = float(np.max(np.abs(w), initial=0.0))
    return top * float(np.linalg.norm(w / top)) if top else 0.0
