"""Multinomial logistic regression: its objective as sums over blocks, and its minimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any

import numpy as np

from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import TooFew
from cutscore.linear.line import ClassesFit, Discriminants, Step
from cutscore.linear.logistic import FeatureScale, add_sums, check_options, parts_of
from cutscore.linear.newton import Conjugate, FactoredHessian, Point, Solve, minimise
from cutscore.linear.rows import Block, Floats, Matrix, Rows, one_thread_blas

__all__ = ["multinomial"]

# Up to so many coefficients the Hessian is a matrix; beyond, it is known by its products only.
_DENSE = 1024


def multinomial(  # noqa: PLR0913 - all but two are options
    rows: Rows,
    classes: int,
    *,
    C: float = 1.0,
    tol: float = 1e-11,
    max_iter: int = 100,
    on_step: Callable[[Step], None] | None = None,
) -> ClassesFit:
    """The functions g_k = W[k]·x + b[k] with P(k|x) = exp(g_k) / Σ_j exp(g_j): the minimum of
    ½‖W‖² + C · Σ weight · (ln Σ_j exp(g_j) − g_y).

    The objective is that of scikit-learn's ``LogisticRegression`` for more than two classes. Adding
    a constant to all g does not change the probabilities; the solution returned is the one whose b
    add up to 0. It is found by Newton's method; with more than 1,024 coefficients, steps are
    computed by conjugate gradients from Hessian-vector products.

    Parameters
    ----------
    rows : Rows
        The table; y of its blocks contains class codes, starting at 0.
    classes : int
        The number of classes. Each needs rows.
    C, tol, max_iter, on_step : float, int and callable
        As for :func:`cutscore.linear.logistic.logistic`. If C is infinite and the classes are
        separable, there is no minimum, and the fit has not ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.multinomial import multinomial
    >>> X, y = np.array([[0.0], [2.0], [4.0], [6.0], [8.0], [10.0]]), np.repeat([0, 1, 2], 2)
    >>> fit = multinomial(ArrayRows(X, y), 3)
    >>> fit.discriminants.W[[0, 2]].round(3).ravel().tolist(), fit.converged
    ([-0.902, 0.902], True)
    """
    check_options(C, tol, max_iter)
    with one_thread_blas():
        mass = rows.reduce(partial(_mass, classes=classes), np.add)
        if not (mass > 0).all():
            raise UndefinedError(
                TooFew("logistic regression", 1, f"row of class {mass.argmin()}", 0)
            )
        objective = _MultinomialObjective(rows, mass, C)
        start = np.zeros((classes, rows.features + 1))
        start[:, -1] = np.log(mass) - np.log(mass).mean()
        unit = objective.total if isinf(C) else objective.total * C
        first = objective.at(start.ravel())
        best = minimise(objective, first, tol=tol, max_iter=max_iter, unit=unit, on_step=on_step)
    return ClassesFit(
        objective.functions(best.point.theta),
        best.iterations,
        objective.passes,
        best.converged,
        best.point.value * unit,
    )


class _MultinomialObjective:
    """λ/2 ‖W‖² + the mean of ln Σ exp(g) − g_y + ½‖Σ_k θ_k‖², as a function of the coefficients of
    scaled features. The last term is 0 at the minimum, and makes it the only one."""

    def __init__(self, rows: Rows, mass: Floats, C: float) -> None:
        self.rows, self.classes, self.total = rows, len(mass), float(mass.sum())
        self.scale = FeatureScale.of(rows)
        self.passes = 2
        ridge = np.append(1 / C / self.total / self.scale.spread / self.scale.spread, 0.0)
        self.ridge = np.tile(ridge, (self.classes, 1))
        self.penalised = bool(ridge.any())
        size = self.ridge.size
        # Nanoseconds of a Hessian by those of a gradient, about.
        self.price = size / 8 if size <= _DENSE else 0.0

    def functions(self, theta: Floats) -> Discriminants:
        """As functions of the features themselves."""
        t = theta.reshape(self.classes, -1)
        W = t[:, :-1] / self.scale.spread
        return Discriminants(W, t[:, -1] - W @ self.scale.mean)

    def _scale_gradient(self, sums: Floats) -> Floats:
        """Derivatives by the scaled coefficients, from those by W and b."""
        rest = sums[:, :-1] - np.outer(sums[:, -1], self.scale.mean)
        return np.column_stack((rest / self.scale.spread, sums[:, -1])) / self.total

    def _reduce(self, summarise: Callable[[Block], tuple[Any, ...]]) -> Any:
        self.passes += 1
        return self.rows.reduce(summarise, add_sums)

    def at(self, theta: Floats, *, bound: bool = False) -> Point:  # noqa: ARG002 - none is known
        loss, sums = self._reduce(partial(losses, g=self.functions(theta)))
        t = theta.reshape(self.classes, -1)
        common = t.sum(axis=0)
        value = loss / self.total + 0.5 * float(np.sum(self.ridge * t * t) + common @ common)
        slope = self._scale_gradient(sums) + self.ridge * t + common
        return Point(theta, value, slope.ravel())

    def inverse(self, theta: Floats) -> Solve:
        g = self.functions(theta)
        if self.price:
            (h,) = self._reduce(partial(hessian, g=g, mean=self.scale.mean))
            unit = np.tile(np.append(1 / self.scale.spread, 1.0), self.classes)
            h *= unit[:, None] * unit / self.total
            common = np.kron(np.ones((self.classes, self.classes)), np.eye(len(self.ridge[0])))
            # A constant column has no curvature of its own: let it be like others.
            flat = np.tile(np.append(self.scale.constant, False), self.classes)
            return FactoredHessian(h + common + np.diag(self.ridge.ravel() + flat))
        (sums,) = self._reduce(partial(diagonal, g=g, mean=self.scale.mean))
        unit = np.append(1 / self.scale.spread, 1.0)
        diag = sums * unit * unit / self.total + self.ridge + 1
        return Conjugate(partial(self._times, g), diag.ravel())

    def _times(self, g: Discriminants, v: Floats) -> Floats:
        along = v.reshape(self.classes, -1)
        (sums,) = self._reduce(partial(hessian_times, g=g, along=self.functions(v)))
        out = self._scale_gradient(sums) + self.ridge * along + along.sum(axis=0)
        return np.asarray(out.ravel())


def _mass(block: Block, classes: int) -> Floats:
    return np.bincount(block.y, block.weight, classes).astype(np.float64)


def _probabilities(z: Floats) -> tuple[Floats, Floats]:
    """ln Σ exp(z) of each row, and its softmax."""
    top = z.max(axis=1, keepdims=True)
    e = np.exp(z - top)
    total = e.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], e / total


def _parts(block: Block, g: Discriminants) -> Any:
    """Some rows at a time: features in float64, codes, weights, and their scores."""
    for at in parts_of(block):
        X = block.X[at].astype(np.float64)
        weight = np.ones(X.shape[0]) if block.weight is None else block.weight[at]
        yield X, block.y[at], weight, np.asarray(X @ g.W.T) + g.b


def losses(block: Block, g: Discriminants) -> tuple[float, Floats]:
    """Σ weight·(ln Σ exp(g) − g_y) of a block, and its derivatives by W and, last column, by b."""
    loss, sums = 0.0, np.zeros((len(g.b), g.W.shape[1] + 1))
    for X, y, weight, z in _parts(block, g):
        at = np.arange(len(y)), y
        norm, p = _probabilities(z)
        loss += float(weight @ (norm - z[at]))
        p[at] -= 1
        p *= weight[:, None]
        sums += _sums(X, p)
    return loss, sums


def _sums(X: Matrix, coefficient: Floats) -> Floats:
    """Σ coefficient_k·(x, 1) over rows, for each column k of the coefficients."""
    return np.column_stack((np.asarray((X.T @ coefficient).T), coefficient.sum(axis=0)))


def hessian_times(block: Block, g: Discriminants, along: Discriminants) -> tuple[Floats]:
    """The Hessian by W and b, times a direction."""
    sums = np.zeros((len(g.b), g.W.shape[1] + 1))
    for X, _, weight, z in _parts(block, g):
        _, p = _probabilities(z)
        u = np.asarray(X @ along.W.T) + along.b
        t = p * (u - np.sum(p * u, axis=1, keepdims=True)) * weight[:, None]
        sums += _sums(X, t)
    return (sums,)


def hessian(block: Block, g: Discriminants, mean: Floats) -> tuple[Floats]:
    """The Hessian by the coefficients of x − mean and of 1, class by class."""
    K, d = g.W.shape
    out = np.zeros((K, d + 1, K, d + 1))
    for X, _, weight, z in _parts(block, g):
        _, p = _probabilities(z)
        Z = np.column_stack((_dense(X) - mean, np.ones(len(weight))))
        for k in range(K):
            for j in range(k, K):
                c = weight * p[:, k] * ((k == j) - p[:, j])
                part = Z.T @ (c[:, None] * Z)
                out[k, :, j] += part
                if j > k:
                    out[j, :, k] += part.T
    return (out.reshape(K * (d + 1), K * (d + 1)),)


def diagonal(block: Block, g: Discriminants, mean: Floats) -> tuple[Floats]:
    """The diagonal of that."""
    out = np.zeros((len(g.b), g.W.shape[1] + 1))
    for X, _, weight, z in _parts(block, g):
        _, p = _probabilities(z)
        c = weight[:, None] * p * (1 - p)
        squares = np.square(X - mean) if isinstance(X, np.ndarray) else X.multiply(X).tocsr()
        out += _sums(squares, c)
    return (out,)


def _dense(X: Matrix) -> Floats:
    return X if isinstance(X, np.ndarray) else X.toarray()
