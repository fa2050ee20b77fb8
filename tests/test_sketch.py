"""Sketches: some cuts of a sweep, exact where they are kept and bounded elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.sweeps.sketch import Sketch, sketch
from raising import finding


def drawn(n: int = 20_000, seed: int = 0, *, digits: int | None = None, **more: Any) -> cs.Sweep:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    x = rng.standard_normal(n) + 1.2 * y
    return cs.sweep(y, x if digits is None else np.round(x, digits), **more)


@pytest.mark.parametrize("digits", [None, 2, 0])
@pytest.mark.parametrize("points", [120, 500, 3000])
def test_kept_cuts_are_exact_and_others_bounded(points: int, digits: int | None) -> None:
    s = drawn(digits=digits)
    k = s.sketch(points)
    assert isinstance(k, Sketch)
    assert len(k) <= points
    assert (k.P, k.N) == (s.P, s.N)
    for t, tp, fp in zip(k.threshold, k.tp, k.fp, strict=True):
        c = s.at(t)
        assert (c.tp, c.fp) == (tp, fp)
    # Each cut of the sweep lies between two kept ones that are no further away than the error.
    tpr, fpr = s.tp / s.P, s.fp / s.N
    for own, kept in ((tpr, k.tp / k.P), (fpr, k.fp / k.N)):
        at = np.searchsorted(-k.threshold, -s.threshold)
        below = np.append(0.0, kept)[at]
        inside = k.unknown[at]
        assert (own[inside] >= below[inside]).all()
        assert (kept[at][inside] - below[inside] <= k.error + 1e-12).all()
    assert s.auc in k.auc_bounds
    assert k.auc_bounds.width <= k.error
    assert k.error <= 12 / points


def test_the_hull_is_kept() -> None:
    s = drawn()
    a, b = cs.hull(s), cs.hull(s.sketch(200))
    assert a.tp.tolist() == b.tp.tolist()
    assert a.fp.tolist() == b.fp.tolist()
    for ratio in (0.01, 0.3, 1, 7, 500):
        costs = cs.Costs(fp=1, fn=ratio)
        p, q = cs.choose(s, costs), cs.choose(s.sketch(200), costs)
        assert (p.threshold, p.confusion, p.value) == (q.threshold, q.confusion, q.value)


def test_infinite_scores() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.3
    x = rng.standard_normal(5000) + y
    x[:200], x[200:300] = np.inf, -np.inf
    s = cs.sweep(y, x)
    k = s.sketch(200)
    assert k.threshold[0] == np.inf
    assert k.at(np.inf) == s.at(np.inf)
    costs = cs.Costs(fp=1, fn=0.001)
    assert cs.choose(k, costs).confusion == cs.choose(s, costs).confusion


def test_weights_and_their_squares() -> None:
    rng = np.random.default_rng(0)
    s = drawn(weight=rng.random(20_000), squares=True)
    k = s.sketch(300)
    assert k.pos2 is not None
    assert k.pos2.sum() == pytest.approx(s.pos2.sum())
    assert pytest.approx(s.P) == k.P
    assert s.auc in k.auc_bounds


def test_a_cut_to_keep() -> None:
    s = cs.sweep([1, 1, 1, 0, 0, 1, 0], [7, 6, 5, 4, 3, 2, 1])
    assert 6.0 not in sketch(s, 6).threshold
    k = sketch(s, 6, keep=[2])
    assert k.at(6.0) == s.at(6.0)


def test_what_a_sketch_refuses() -> None:
    s = drawn()
    k = s.sketch(200)
    inside = int(np.flatnonzero(k.unknown)[0])
    with finding("sweep-compact"):
        k.at(float(np.nextafter(k.threshold[inside], np.inf)))
    for what in (lambda: k + k, lambda: cs.average_precision(k), lambda: k.sketch(100)):
        with finding("sweep-compact"):
            what()
    with finding("bad-argument", parameter="points"):
        s.sketch(3)
    with finding("bad-argument", parameter="points"):
        s.sketch(True)
    with finding("one-class"):
        cs.sweep([1, 1], [1, 2]).sketch()


def test_few_cuts_are_all_kept() -> None:
    s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    assert s.sketch().threshold.tolist() == s.threshold.tolist()
    assert s.sketch().error == 0
    assert tuple(s.sketch().auc_bounds) == (s.auc, s.auc)
