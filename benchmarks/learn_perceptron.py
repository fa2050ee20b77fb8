"""Epochs of the perceptron beside scikit-learn's, rows in their order, by one thread each.
``python benchmarks/learn_perceptron.py [--quick]`` runs it alone."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as Theirs

from cutscore.estimators._perceptron import Perceptron
from cutscore.linear.perceptron import perceptron, perceptron_pass
from cutscore.linear.rows import ArrayRows, Block
from run import Line, shown

COLUMNS = 50
BAR = 5.0
ROUNDS = 7
# Standard deviation of what is added to the scores before they become labels.
NOISE = {"separable": 0.0, "6 % updates": 1.0, "27 % updates": 5.0}


def rows(n: int, noise: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, COLUMNS), np.float32)
    w = rng.standard_normal(COLUMNS).astype(np.float32)
    score = X @ w
    y = score + noise * rng.standard_normal(n, np.float32) > 0
    if not noise:
        X += 0.2 * np.where(y, 1, -1).astype(np.float32)[:, None] * (w / np.linalg.norm(w))
    return X, y


def _theirs(X: Any, y: Any, epochs: int) -> float:
    model = Theirs(shuffle=False, tol=None, max_iter=epochs)
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def _ours(X: Any, y: Any) -> float:
    state = perceptron(ArrayRows(X, y), max_passes=2).state
    assert state is not None
    start = time.perf_counter()
    for _ in range(4):
        state = perceptron_pass(state, Block(X, y, None, 0))
    return time.perf_counter() - start


def epochs(n: int = 10**6) -> list[Line]:
    """Seconds an epoch, from the third to the sixth. Of theirs, the part of a fit that grows with
    the number of epochs: reading the input is not in it."""
    lines = []
    for name, noise in NOISE.items():
        X, y = rows(n, noise)
        two = six = ours = np.inf
        for _ in range(ROUNDS):
            two, six = min(two, _theirs(X, y, 2)), min(six, _theirs(X, y, 6))
            ours = min(ours, _ours(X, y))
        line = Line(f"perceptron, an epoch, {name}", (six - two) / 4, ours / 4, BAR)
        print(
            f"{line.what:<52}{shown(line.theirs):>10}{shown(line.ours):>10}{line.ratio:>8.1f} x"
            f"  (bar {BAR:g}; {n / line.ours / 1e6:.0f} M rows/s)",
            flush=True,
        )
        lines.append(line)
    return lines


def fits(n: int = 10**6) -> None:
    """Whole fits of 10 passes with all checks of the input, for the eye: no bar."""
    X, y = rows(n, NOISE["27 % updates"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in {
            "scikit-learn": Theirs(shuffle=False, tol=None, max_iter=10),
            "plain": Perceptron(max_passes=10),
            "averaged": Perceptron(max_passes=10, variant="averaged"),
            "pocket": Perceptron(max_passes=10, variant="pocket"),
        }.items():
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
            print(
                f"fit of 10 passes, {name:<34}{shown(seconds):>10}  {model.score(X, y):.4f} right"
            )


def main() -> int:
    n = 10**5 if "--quick" in sys.argv else 10**6
    lines = epochs(n)
    fits(n)
    missed = [line for line in lines if line.ratio < line.bar]
    for line in missed:
        print(f"missed: {line.what}, {shown(line.ours)}, {line.ratio:.1f} x < {line.bar:g} x")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
