"""Distributions of scores whose true rates are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

Array = NDArray[Any]


@dataclass(frozen=True)
class Truth:
    """Two normal distributions, a distance apart; perhaps rounded up to a few levels, perhaps
    positives more spread than negatives."""

    distance: float
    levels: tuple[float, ...] = ()
    spread: float = 1.0

    def draw(self, rng: np.random.Generator, y: Array) -> Array:
        score = rng.standard_normal(len(y)) * np.where(y, self.spread, 1.0) + self.distance * y
        if not self.levels:
            return score
        grid = np.array(self.levels)
        return grid[np.searchsorted(grid[:-1], score)]

    def rate(self, threshold: Any, mean: float, spread: float = 1.0) -> Any:
        """P(score >= threshold) of the class with that mean and spread."""
        t = np.asarray(threshold, np.float64)
        if self.levels:  # at least t, rounded up: above the level below
            below = np.concatenate(([-np.inf], self.levels))
            at = np.searchsorted(self.levels, t)
            t = np.where(at < len(self.levels), below[np.minimum(at, len(self.levels) - 1)], np.inf)
        return ndtr((mean - t) / spread)

    def tpr(self, threshold: Any) -> Any:
        return self.rate(threshold, self.distance, self.spread)

    def fpr(self, threshold: Any) -> Any:
        return self.rate(threshold, 0.0)

    @property
    def auc(self) -> float:
        if not self.levels:
            return float(ndtr(self.distance / (1 + self.spread**2) ** 0.5))
        edges = np.concatenate(([-np.inf], self.levels[:-1], [np.inf]))
        pos, neg = np.diff(ndtr((edges - self.distance) / self.spread)), np.diff(ndtr(edges))
        below = np.concatenate(([0.0], np.cumsum(neg)[:-1]))
        return float(np.sum(pos * (below + neg / 2)))


@cache
def truth_of(auc: float, kind: str) -> Truth:
    """The distributions of a kind that have that AUC."""
    spread = 2.0 if kind.startswith("wide") else 1.0

    def rated(distance: float) -> Truth:  # four cuts, a standard deviation apart
        cuts = tuple(distance / 2 + np.arange(-1.5, 3))
        return Truth(distance, cuts, spread)

    if kind.endswith("five levels"):
        return rated(brentq(lambda d: rated(d).auc - auc, 0.0, 12.0))
    return Truth(float(ndtri(auc)) * (1 + spread**2) ** 0.5, (), spread)
