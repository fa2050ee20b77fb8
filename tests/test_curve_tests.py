"""Venkatraman's tests: against their definitions, all permutations, and each other."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cutscore as cs
from cutscore.core.findings.base import Where
from raising import finding

Array = NDArray[Any]


def by_definition(y: Array, a: Array, b: Array) -> int:
    """Errors of flagging all above the k-th lowest, counted one by one; no ties."""
    total = 0
    for k in range(1, len(y)):
        errors = []
        for score in (a, b):
            cut = np.sort(score)[k - 1]
            missed = sum(1 for label, s in zip(y, score, strict=True) if label and s <= cut)
            alarms = sum(1 for label, s in zip(y, score, strict=True) if not label and s > cut)
            errors.append(missed + alarms)
        total += abs(errors[0] - errors[1])
    return total


def integrated(samples: list[tuple[Array, Array]]) -> float:
    """E of two samples by 200,000 midpoints: e(p) as it is defined, on a fine grid of p."""
    positives = sum(int(y.sum()) for y, _ in samples)
    kappa = positives / sum(len(y) for y, _ in samples)
    grid = (np.arange(200_000) + 0.5) / 200_000
    curves = []
    for y, score in samples:
        ordered = y[np.argsort(score)]
        f = np.r_[0, np.cumsum(ordered) / ordered.sum()]
        g = np.r_[0, np.cumsum(1 - ordered) / (1 - ordered).sum()]
        p, error = kappa * f + (1 - kappa) * g, kappa * f + (1 - kappa) * (1 - g)
        curves.append(np.interp(grid, p, error))
    return float(np.abs(curves[0] - curves[1]).mean())


def rows(n: int, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return y, rng.standard_normal(n) + y, rng.standard_normal(n) + y


@pytest.mark.parametrize("seed", range(5))
def test_statistics(seed: int) -> None:
    y, a, b = rows(41, seed)
    found = cs.compare_curves(y, a, b, n=2)
    assert found.statistic == by_definition(y, a, b)
    assert cs.compare_curves(y, np.exp(a), b**3, n=2).statistic == found.statistic
    z, c, _ = rows(60, seed + 100)
    apart = cs.compare_curves_unpaired(cs.sweep(y, a), cs.sweep(z, c), n=2)
    assert apart.statistic == pytest.approx(integrated([(y, a), (z, c)]), abs=1e-6)
    # Of the same rows the two distances are one, in other units.
    same = cs.compare_curves_unpaired(cs.sweep(y, a), cs.sweep(y, b), n=2)
    assert same.statistic <= found.statistic / 41**2 * (1 + 1e-9)
    assert same.statistic == pytest.approx(found.statistic / 41**2, rel=0.15)


def test_all_swaps() -> None:
    """The p-value of eight rows, against all 2⁸ swaps with all ways to break what then ties."""
    y = np.array([1, 0, 1, 1, 0, 1, 0, 0])
    a, b = np.array([7, 0, 6, 5, 3, 4, 2, 1]), np.array([2, 7, 6, 1, 5, 4, 3, 0])
    found, rng, share = by_definition(y, a, b), np.random.default_rng(0), 0.0
    for swap in product([False, True], repeat=8):
        one, other = np.where(swap, b, a), np.where(swap, a, b)
        draws = [by_definition(y, *(x + rng.random(8) / 2 for x in (one, other)))
                 for _ in range(8)]  # fmt: skip
        share += np.mean([d >= found for d in draws]) / 2**8
    test = cs.compare_curves(y, a, b, n=20_000)
    assert test.statistic == found
    assert test.p_value == pytest.approx(share, abs=0.02)


@pytest.mark.slow
def test_all_deals() -> None:
    """Two samples of four: all ways to deal positives and negatives to them."""
    y = np.array([1, 0, 1, 0])
    a, b = np.array([4, 3, 2, 1]), np.array([1, 2, 3, 4])  # labels from below: 0 1 0 1, 1 0 1 0
    found, rng, share, deals = integrated([(y, a), (y, b)]), np.random.default_rng(0), 0.0, 0
    # Their places are 1, 2, 3, 4 in both samples: positives 2, 4 and 1, 3; negatives 1, 3 and 2, 4.
    pos, neg = np.array([2.0, 4, 1, 3]), np.array([1.0, 3, 2, 4])
    for p, q in product(combinations(range(4), 2), repeat=2):
        first = np.r_[pos[list(p)], neg[list(q)]]
        second = np.r_[np.delete(pos, p), np.delete(neg, q)]
        label = np.array([1, 1, 0, 0])
        draws = [integrated([(label, s + rng.random(4) / 2) for s in (first, second)])
                 for _ in range(12)]  # fmt: skip
        share += np.mean(np.array(draws) >= found - 1e-6)
        deals += 1
    test = cs.compare_curves_unpaired(cs.sweep(y, a), cs.sweep(y, b), n=5000)
    assert test.statistic == pytest.approx(found, abs=1e-5)
    assert test.p_value == pytest.approx(share / deals, abs=0.04)


def test_crossing_curves_are_seen() -> None:
    """Equal areas, different curves: where the test of areas has nothing to find."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    a = rng.standard_normal(600) + 1.5 * y
    b = rng.standard_normal(600) * (1 + 3 * y) + 1.5 / 2**0.5 * 17**0.5 * y
    assert cs.compare(y, a, b).p_value > 0.05
    assert cs.compare_curves(y, a, b, n=999).p_value == 0.001
    assert cs.compare_curves_unpaired(cs.sweep(y, a), cs.sweep(y, b), n=999).p_value == 0.001


def test_equal_scores_and_seeds() -> None:
    y, a, b = rows(50, 0)
    assert cs.compare_curves(y, a, 2 * a).p_value == 1
    assert cs.compare_curves(y, a, b, seed=3) == cs.compare_curves(y, a, b, seed=3)
    assert cs.compare_curves(y, a, b, seed=3) != cs.compare_curves(y, a, b, seed=4)
    s, t = cs.sweep(y, a), cs.sweep(y, b)
    again = [cs.compare_curves_unpaired(s, t, n=200, seed=1) for _ in range(2)]
    assert again[0] == again[1]
    assert repr(again[0]).endswith("(200 unpaired permutations)")


def test_ties_are_broken_at_random() -> None:
    """Whatever the order of the rows, over many seeds the mean distance is the same."""
    y, a, b = rows(40, 2)
    a, b = a.round(), b.round()
    order = np.argsort(a + 100 * y)
    means = [
        np.mean([cs.compare_curves(u, v, w, n=2, seed=k).statistic for k in range(400)])
        for u, v, w in ((y, a, b), (y[order], a[order], b[order]))
    ]
    assert means[0] == pytest.approx(means[1], rel=0.05)


def test_refuses() -> None:
    with finding("one-class", cs.UndefinedError, have="negative (2 of them)"):
        cs.compare_curves([0, 0], [1, 2], [2, 1])
    y, a, b = rows(20, 0)
    with finding("counts-rows", cs.UndefinedError):
        cs.compare_curves_unpaired(cs.sweep(y, a), cs.sweep(y, b, np.ones(20)))
    with finding("value-missing", where=Where(0, "score", part="score_b")):
        cs.compare_curves(y, a, np.full(20, np.nan))
    with finding("bad-argument", parameter="n", value=0):
        cs.compare_curves(y, a, b, n=0)
