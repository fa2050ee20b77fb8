"""Logistic regression: against SciPy on its objective, against scikit-learn, and odd tables."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.core.errors import DataError, UndefinedError
from cutscore.estimators._logistic import Logistic
from cutscore.linear import logistic as module
from cutscore.linear import newton, rows
from cutscore.linear.line import Fit
from cutscore.linear.logistic import logistic
from cutscore.linear.rows import ArrayRows, Block
from raising import finding, warned

Floats = NDArray[np.float64]
TIGHT: dict[str, Any] = {"tol": 1e-20}


def table(n: int, d: int, seed: int = 0, shift: float = -1.0) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = 2 * rng.standard_normal(d) / np.sqrt(d)
    return X, X @ w + rng.logistic(size=n) + shift > 0


def objective(X: Any, y: Any, line: Any, C: float, weight: Any = None) -> float:
    """The definition, in double precision; the sum of losses where C is infinite."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    z = np.where(y, -1.0, 1.0) * (X.astype(np.float64) @ line.w + line.b)
    loss = np.logaddexp(0, z)
    total = float(np.sum(loss if weight is None else weight * loss))
    return total if C == inf else 0.5 * float(line.w @ line.w) + C * total  # noqa: SIM300


def gradient(X: Any, y: Any, line: Any, C: float, weight: Any = None) -> Floats:
    """By w and b."""
    X = np.asarray(X, np.float64)
    sign = np.where(y, -1.0, 1.0)
    p = sign / (1 + np.exp(-sign * (X @ line.w + line.b)))
    p = p if weight is None else p * weight
    penalty = 0 if C == inf else line.w / C  # noqa: SIM300
    return np.append(X.T @ p + penalty, p.sum())


def by_scipy(X: Floats, y: Any, C: float, weight: Any = None) -> cs.LinearDetector:
    d = X.shape[1]

    def line(theta: Floats) -> cs.LinearDetector:
        return cs.LinearDetector(theta[:d], float(theta[d]))

    def hessian(theta: Floats) -> Floats:
        q = 1 / (1 + np.exp(-(X @ theta[:d] + theta[d])))
        Z = np.column_stack((X, np.ones(len(X))))
        k = q * (1 - q) * (1 if weight is None else weight)
        return np.asarray((Z.T * k) @ Z + np.diag([1 / C] * d + [0.0]))

    best = minimize(
        lambda t: objective(X, y, line(t), C, weight) / C,
        np.zeros(d + 1),
        jac=lambda t: gradient(X, y, line(t), C, weight),
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-11, "maxiter": 500},
    )
    return line(best.x)


def same(a: Fit | cs.LinearDetector, b: Fit | cs.LinearDetector, rtol: float = 1e-8) -> None:
    a, b = (f.detector if isinstance(f, Fit) else f for f in (a, b))
    top = float(np.max(np.abs(np.append(b.w, b.b))))
    np.testing.assert_allclose(a.w, b.w, rtol=0, atol=rtol * top)
    assert a.b == pytest.approx(b.b, rel=0, abs=rtol * top)


def test_four_rows_by_hand() -> None:
    """At w = 0 the loss of P positives and N negatives is that of their odds; C → 0 leads there."""
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([False, True, True, True])
    fit = logistic(ArrayRows(X, y), C=1e-9, **TIGHT)
    assert fit.detector.b == pytest.approx(log(3), rel=1e-8)
    # d/dw at w = 0: Σ x·(y − ¾) = 1·¼ + 2·¼ + 5·¼ = 2.
    assert fit.detector.w[0] == pytest.approx(2e-9, rel=1e-6)


def test_two_rows_by_hand() -> None:
    """One row of either class at ±1: w solves w = 2C/(1 + eʷ), and b = 0."""
    fit = logistic(ArrayRows(np.array([[1.0], [-1.0]]), np.array([True, False])), C=3.0, **TIGHT)
    w = fit.detector.w[0]
    assert w == pytest.approx(6 / (1 + np.exp(w)), rel=1e-9)
    assert fit.detector.b == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("weighted", [False, True])
def test_scipy(C: float, weighted: bool) -> None:
    X, y = table(400, 6)
    weight = np.random.default_rng(3).uniform(0.1, 3, 400) if weighted else None
    fit = logistic(ArrayRows(X, y, weight), C=C, **TIGHT)
    best = by_scipy(X, y, C, weight)
    same(fit, best)
    assert fit.converged
    assert fit.objective == pytest.approx(objective(X, y, best, C, weight), rel=1e-14)
    assert fit.objective == pytest.approx(objective(X, y, fit.detector, C, weight), rel=1e-14)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_scikit_learn(C: float) -> None:
    X, y = table(2000, 8, seed=1)
    peer = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(X, y)
    fit = logistic(ArrayRows(X, y), C=C, **TIGHT)
    same(fit, cs.LinearDetector(peer.coef_[0], float(peer.intercept_[0])))


# 30,000 rows are drawn from, 400 are not; more than 1,024 columns go by conjugate gradients.
SHAPES = [(400, 5), (30_000, 5), (60_000, 12), (300, 1100)]


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("C", [0.1, 1.0, 1e3])
def test_ways_end_at_the_minimum(n: int, d: int, C: float) -> None:
    X, y = table(n, d, seed=2)
    fit = logistic(ArrayRows(X, y), C=C, **TIGHT)
    assert fit.converged
    g = gradient(X, y, fit.detector, C)
    assert np.max(np.abs(g)) < 1e-6 * len(y)
    assert fit.gap is not None
    assert fit.objective is not None
    assert 0 <= fit.gap < 1e-6 * fit.objective


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 30.0]), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_the_gap_is_a_bound(seed: int, C: float, steps: int) -> None:
    """Also where the fit was stopped long before its minimum."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 60)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.integers(-3, 3)
    y = rng.random(n) < 0.3
    y[:2] = True, False
    weight = rng.uniform(0.1, 2, n)
    best = logistic(ArrayRows(X, y, weight), C=C, **TIGHT)
    short = logistic(ArrayRows(X, y, weight), C=C, tol=1e-3, max_iter=steps)
    assert short.gap is not None
    assert short.objective is not None
    assert best.objective is not None
    assert short.objective - best.objective <= short.gap * (1 + 1e-9) + 1e-12 * best.objective


def test_a_gap_that_is_not_the_trivial_one() -> None:
    X, y = table(500, 4)
    best = logistic(ArrayRows(X, y), **TIGHT)
    fit = logistic(ArrayRows(X, y), tol=1e-4)
    assert fit.gap is not None
    assert fit.objective is not None
    assert best.objective is not None
    assert 0 < fit.objective - best.objective < fit.gap < 0.1 * fit.objective


def test_weights_are_repetitions() -> None:
    X, y = table(300, 4)
    times = np.random.default_rng(0).integers(1, 5, 300)
    a = logistic(ArrayRows(X, y, times.astype(np.float64)), **TIGHT)
    b = logistic(ArrayRows(np.repeat(X, times, axis=0), np.repeat(y, times)), **TIGHT)
    same(a, b, 1e-10)
    assert a.objective == pytest.approx(b.objective, rel=1e-13)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_weights_of_any_scale(scale: float) -> None:
    """C times the weights is all that counts."""
    X, y = table(300, 4)
    weight = np.full(300, scale)
    plain = logistic(ArrayRows(X, y), **TIGHT)
    same(logistic(ArrayRows(X, y, weight), C=1 / scale, **TIGHT), plain)


def test_weights_that_are_no_number_in_all() -> None:
    X, y = table(300, 4)
    with finding("beyond-floats", DataError, value=inf):
        logistic(ArrayRows(X, y, np.full(300, 1e308)))


def test_the_number_of_threads_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(60_000, 6)
    fits = []
    for threads in ("1", "3"):
        monkeypatch.setenv("CUTSCORE_THREADS", threads)
        fits.append(logistic(ArrayRows(X, y)))
    a, b = fits
    assert a.detector.w.tolist() == b.detector.w.tolist()
    assert (a.detector.b, a.objective, a.gap, a.passes) == (
        b.detector.b,
        b.objective,
        b.gap,
        b.passes,
    )


class Pieces:
    """The same table cut at other places, and each summary sent through pickle."""

    def __init__(self, rows: ArrayRows, size: int) -> None:
        self.rows, self.size = rows, size

    @property
    def features(self) -> int:
        return self.rows.features

    def reduce(self, summarise: Any, merge: Any) -> Any:
        out: Any = None
        summarise = pickle.loads(pickle.dumps(summarise))
        for k in range(0, len(self.rows), self.size):
            at = slice(k, k + self.size)
            weight = None if self.rows.weight is None else self.rows.weight[at]
            part = summarise(Block(self.rows.X[at], self.rows.y[at], weight, k))
            part = pickle.loads(pickle.dumps(part))
            out = part if out is None else merge(out, part)
        return out


@pytest.mark.parametrize("shift", [-1.0, -7.0])
def test_where_blocks_are_cut_does_not_matter(shift: float) -> None:
    X, y = table(40_000, 5, shift=shift)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    rows = ArrayRows(X, y, weight)
    a, b = logistic(rows), logistic(Pieces(rows, 777))
    same(a, b, 1e-9)
    assert a.passes == b.passes  # the same sample, hence the same steps
    wide = ArrayRows(*table(60, 1100))
    same(logistic(wide), logistic(Pieces(wide, 7)), 1e-8)


def test_the_sample_has_both_classes_and_their_mass() -> None:
    X, y = table(100_000, 3, shift=-9)
    assert 20 < y.sum() < 1250
    rows = ArrayRows(X, y)
    mass = rows.reduce(module._mass, module._Mass.plus)
    sample = module._sample(rows, mass, 5000)
    assert sample.weight is not None
    assert np.count_nonzero(sample.y) == y.sum()
    assert sample.weight[sample.y].tolist() == [1.0] * int(y.sum())
    assert 4900 < np.count_nonzero(~sample.y) < 5100
    assert sample.weight[~sample.y].sum() == pytest.approx(np.count_nonzero(~y), rel=1e-2)
    # A class that is not so rare is thinned as well, and counts as before.
    X, y = table(100_000, 3, shift=-4)
    rows = ArrayRows(X, y)
    sample = module._sample(rows, rows.reduce(module._mass, module._Mass.plus), 5000)
    assert sample.weight is not None
    for label in (True, False):
        assert np.count_nonzero(sample.y == label) >= 1150
        mass_of = sample.weight[sample.y == label].sum()
        assert mass_of == pytest.approx(np.count_nonzero(y == label), rel=0.1)


def test_rows_are_drawn_once_and_everywhere() -> None:
    start = np.arange(0, 10_000, 250)
    drawn = np.concatenate([k + module._systematic_sample(int(k), 250, 0.1) for k in start])
    assert len(drawn) == 1000
    assert np.array_equal(drawn // 10, np.arange(1000))
    assert len(np.unique(drawn % 10)) == 10
    assert module._systematic_sample(5, 7, 1.0).tolist() == list(range(7))


# ---- odd tables


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("n", [2000, 30_000])
def test_features_of_any_scale(C: float, n: int) -> None:
    """Each column times s: the same as w/s, with a penalty that was scaled to match."""
    X, y = table(n, 5)
    s = np.array([1e-8, 1e-4, 1.0, 1e4, 1e8])
    fit = logistic(ArrayRows(X * s, y), C=C, **TIGHT)
    assert fit.converged
    g = gradient(X * s, y, fit.detector, C)
    np.testing.assert_array_less(np.abs(g[:-1] / s), 1e-8 * n)
    assert abs(g[-1]) < 1e-8 * n


def test_a_mean_far_from_the_spread() -> None:
    X, y = table(2000, 3)
    here, there = (logistic(ArrayRows(X + m, y), **TIGHT).detector for m in (0, 1e6))
    np.testing.assert_allclose(there.w, here.w, rtol=1e-6)


@pytest.mark.parametrize("noise", [0.0, 1e-6])
@pytest.mark.parametrize("C", [1.0, 1e6, inf])
def test_columns_that_depend_on_each_other(noise: float, C: float) -> None:
    X, y = table(3000, 4)
    twice = np.hstack((X, X + noise * np.random.default_rng(0).standard_normal(X.shape)))
    fit = logistic(ArrayRows(twice, y), C=C, **TIGHT)
    assert fit.converged
    assert np.max(np.abs(gradient(twice, y, fit.detector, C))) < 1e-7
    if not noise and C < inf:  # noqa: SIM300 - half of the weight each, so half the penalty
        one = logistic(ArrayRows(X * np.sqrt(2), y), C=C, **TIGHT)
        np.testing.assert_allclose(fit.detector.w[:4], one.detector.w / np.sqrt(2), rtol=1e-6)
        np.testing.assert_allclose(fit.detector.w[:4], fit.detector.w[4:], rtol=1e-6)


@pytest.mark.parametrize("C", [1.0, inf])
@pytest.mark.parametrize("n", [300, 30_000])
def test_constant_columns_weigh_nothing(C: float, n: int) -> None:
    X, y = table(n, 3)
    more = np.hstack((X, np.zeros((n, 1)), np.full((n, 1), 7.0), np.full((n, 1), 1e8 / 3)))
    fit = logistic(ArrayRows(more, y), C=C, **TIGHT)
    plain = logistic(ArrayRows(X, y), C=C, **TIGHT)
    np.testing.assert_allclose(fit.detector.w[:3], plain.detector.w, rtol=1e-8)
    np.testing.assert_allclose(fit.detector.w[3:], 0, atol=1e-12)


def test_a_column_that_no_sample_sees() -> None:
    X, y = table(40_000, 3)
    X[:, 2] = 0
    X[123:40_000:13_000, 2] = 5.0
    for C in (1.0, 1e4):
        fit = logistic(ArrayRows(X, y), C=C, **TIGHT)
        assert fit.converged
        assert np.max(np.abs(gradient(X, y, fit.detector, C))) < 1e-6


@pytest.mark.parametrize("n", [100, 30_000])
def test_one_positive(n: int) -> None:
    X, _ = table(n, 3)
    y = np.zeros(n, bool)
    y[n // 3] = True
    fit = logistic(ArrayRows(X, y), **TIGHT)
    assert fit.converged
    assert np.max(np.abs(gradient(X, y, fit.detector, 1.0))) < 1e-8


def test_one_row_of_each_class_and_many_columns() -> None:
    X, y = table(50, 200)
    fit = logistic(ArrayRows(X, y), C=10.0)
    assert fit.converged
    # The minimum lies in the span of the rows.
    left = fit.detector.w - X.T @ np.linalg.lstsq(X.T, fit.detector.w, rcond=None)[0]
    assert np.max(np.abs(left)) < 1e-10
    assert np.max(np.abs(gradient(X, y, fit.detector, 10.0))) < 1e-4
    two = logistic(ArrayRows(X[:2], np.array([True, False])))
    assert two.converged


@pytest.mark.parametrize("C", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("n", [200, 30_000])
def test_separable_with_a_penalty(C: float, n: int) -> None:
    X = np.linspace(-1, 1, n)[:, None]
    y = X[:, 0] > 0.1
    fit = logistic(ArrayRows(X, y), C=C)
    assert fit.converged
    assert fit.gap is not None
    assert fit.objective is not None
    assert fit.gap < 1e-5 * fit.objective


@pytest.mark.parametrize("n", [200, 30_000])
def test_separable_without_a_penalty(n: int) -> None:
    X = np.linspace(-1, 1, n)[:, None]
    weight = np.linspace(1, 9, n)
    with finding("no-overlap", UndefinedError):
        logistic(ArrayRows(X, X[:, 0] > 0.1, weight), C=inf)


def test_rows_on_the_line_that_separates_without_a_penalty() -> None:
    X = np.array([[0.0], [0.0], [1.0], [-1.0]])
    fit = logistic(ArrayRows(X, np.array([True, False, True, False])), C=inf)
    assert not fit.converged
    assert fit.gap is None


def test_a_sample_that_separates_where_the_rows_do_not() -> None:
    n = 40_000
    X = np.linspace(-1, 1, n)[:, None]
    y = X[:, 0] > 0
    rows = ArrayRows(X, y)
    mass = rows.reduce(module._mass, module._Mass.plus)
    sample = module._sample(rows, mass, module._sample_size(mass, 1))
    unseen = np.setdiff1d(np.arange(n), np.searchsorted(X[:, 0], sample.X[:, 0]))
    y[unseen[[5, -5]]] ^= True  # the farthest rows on either side, and outside the sample
    for C in (1e6, inf):
        fit = logistic(ArrayRows(X, y), C=C, **TIGHT)
        assert fit.converged
        assert np.max(np.abs(gradient(X, y, fit.detector, C))) < 1e-6


def test_no_penalty() -> None:
    X, y = table(1000, 4)
    fit = logistic(ArrayRows(X, y), C=inf, **TIGHT)
    assert fit.converged
    assert fit.gap is None
    assert np.max(np.abs(gradient(X, y, fit.detector, inf))) < 1e-8
    assert fit.objective == pytest.approx(objective(X, y, fit.detector, inf), rel=1e-14)


def test_scores_beyond_exp() -> None:
    """A start at which most rows have losses in the thousands."""
    X, y = table(100, 2)
    (sums,) = module.losses(Block(X * 1e5, y, None, 0), np.ones(2), 0.0)
    z = np.where(y, -1.0, 1.0) * (X * 1e5).sum(axis=1)
    assert sums[0] == pytest.approx(np.logaddexp(0, z).sum(), rel=1e-14)
    assert np.isfinite(sums).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(500, 30), (30_000, 20), (200, 1100)])
def test_sparse_is_dense(n: int, d: int, dtype: Any) -> None:
    S = sparse.random(n, d, 0.1, format="csr", random_state=0, dtype=np.float64).astype(dtype)
    S = S @ sparse.diags([1.0] * 3 + [0.0] + [1.0] * (d - 4), dtype=dtype).tocsr()  # no column 3
    S = sparse.vstack((sparse.csr_matrix((2, d), dtype=dtype), S[2:]), "csr")
    rng = np.random.default_rng(0)
    y = S @ rng.standard_normal(d) * 3 + rng.logistic(size=n) > 0
    a = logistic(ArrayRows(S, y), **TIGHT)
    b = logistic(ArrayRows(S.toarray(), y), **TIGHT)
    assert a.converged
    assert b.converged
    same(a, b, 1e-7)


@pytest.mark.parametrize("n", [500, 30_000])
def test_types_and_orders_of_memory(n: int) -> None:
    X, y = table(n, 4)
    X = X.astype(np.float32)
    wide = logistic(ArrayRows(X.astype(np.float64), y), **TIGHT)
    for other in (X, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2]):
        same(logistic(ArrayRows(other, y), **TIGHT), wide, 1e-9)


@pytest.mark.parametrize("n", [300, 30_000])
@pytest.mark.parametrize("bad", [np.nan, inf, -inf])
def test_what_is_not_finite_is_found_in_any_row(n: int, bad: float) -> None:
    X, y = table(n, 3)
    for row in (0, 7, n // 2 + 1, n - 1):
        broken = X.astype(np.float32)
        broken[row, 1] = bad
        for form in (broken, sparse.csr_array(broken)):
            with finding("not-finite", DataError, index=1):
                logistic(ArrayRows(form, y))
            with finding("not-finite", DataError, index=1):
                Logistic().fit(form, y)


def test_both_ways_to_a_sparse_hessian() -> None:
    """By pairs of entries where rows have few, else as if it were dense."""
    for density in (0.03, 0.5):
        S = sparse.random(200, 40, density, format="csr", random_state=0)
        w, k = np.linspace(-1, 1, 40), np.linspace(0.5, 2, 200)
        y = np.zeros(200, bool)
        assert module._few_pairs(S.nnz / 200, 40) == (density < 0.1)
        (got,) = module.hessian(Block(S, y, k, 0), w, 0.1, np.zeros(40))
        (want,) = module.hessian(Block(S.toarray(), y, k, 0), w, 0.1, np.zeros(40))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


def test_both_ways_to_a_dense_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the native core where columns are few, else by BLAS."""
    X, y = table(3000, 40)
    weight = np.linspace(0.5, 2, len(y))
    w, mean = np.linspace(-1, 1, 40), np.linspace(-3, 3, 40)
    found = []
    for narrow in (128, 0):
        monkeypatch.setattr(rows, "NARROW", narrow)
        found.append(module.hessian(Block(X, y, weight, 0), w, 0.1, mean)[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12, atol=1e-12 * found[1].max())


def test_a_mean_that_moves_the_sample() -> None:
    """Features are centred for the solver only where it matters; the line is the same."""
    X, y = table(30_000, 3)
    plain = logistic(ArrayRows(X, y), C=inf, **TIGHT).detector
    for mean in (5.0, 50.0, 1e4):
        moved = logistic(ArrayRows(X + mean, y), C=inf, **TIGHT).detector
        np.testing.assert_allclose(moved.w, plain.w, rtol=1e-7)
        assert moved.b == pytest.approx(plain.b - mean * plain.w.sum(), rel=1e-7)


def test_one_class() -> None:
    with finding("one-class", UndefinedError, have="positive (weight 3)"):
        logistic(ArrayRows(np.ones((3, 1)), np.ones(3, bool)))


@pytest.mark.parametrize(
    "option", [{"C": 0.0}, {"C": -1.0}, {"C": float("nan")}, {"tol": -1e-3}, {"max_iter": 0}]
)
def test_options_are_checked(option: dict[str, Any]) -> None:
    with finding("bad-argument", DataError, parameter=next(iter(option))):
        logistic(ArrayRows(*table(20, 2)), **option)


def test_features_too_large_to_be_squared() -> None:
    X, y = table(50, 2)
    X[:, 1] *= 1e200
    with finding("beyond-floats", what="squares of column 1"):
        logistic(ArrayRows(X, y))


def test_steps_are_told() -> None:
    X, y = table(40_000, 3)
    steps: list[newton.Step] = []
    fit = logistic(ArrayRows(X, y), on_step=steps.append)
    assert [s.iteration for s in steps] == list(range(fit.iterations + 1))
    values = [s.objective for s in steps]
    assert values == sorted(values, reverse=True)
    assert values[-1] == fit.objective
    assert steps[-1].gap <= 1e-11 * values[-1] < steps[0].gap


# ---- the solver alone


class Quartic:
    """Σ c·t⁴/4 + (t − 1)²/2, whose Hessian changes."""

    price = 1.0
    penalised = False

    def __init__(self, lie: float = 1.0) -> None:
        self.c = np.array([1.0, 10.0, 100.0])
        self.lie = lie

    def at(self, theta: Floats, *, bound: bool = False) -> newton.Point:  # noqa: ARG002
        value = float(np.sum(self.c * theta**4 / 4 + (theta - 1) ** 2 / 2))
        return newton.Point(theta, value, self.c * theta**3 + theta - 1)

    def inverse(self, theta: Floats) -> newton.Solve:
        return newton.FactoredHessian(np.diag(3 * self.c * theta**2 + 1) * self.lie)


@pytest.mark.parametrize("lie", [0.2, 1.0, 5.0])
def test_the_solver_copes_with_wrong_curvature(lie: float) -> None:
    q = Quartic(lie)
    best = newton.minimise(q, q.at(np.full(3, 20.0)), tol=1e-15, max_iter=300)
    assert best.converged
    root = best.point.theta
    np.testing.assert_allclose(q.c * root**3 + root, 1, rtol=1e-6)


def test_the_solver_says_that_it_ran_out_of_steps() -> None:
    q = Quartic()
    best = newton.minimise(q, q.at(np.full(3, 20.0)), tol=1e-15, max_iter=3)
    assert (best.converged, best.iterations) == (False, 3)


def test_a_singular_hessian_has_an_inverse_of_sorts() -> None:
    h = np.array([[1.0, 1.0], [1.0, 1.0]])
    g = np.array([2.0, 2.0])
    np.testing.assert_allclose(h @ newton.FactoredHessian(h)(g), g, rtol=1e-8)


def test_conjugate_gradients_solve() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 40))
    h = A @ A.T + np.diag(10.0 ** rng.uniform(-3, 3, 40))
    g = 1e-8 * rng.standard_normal(40)
    x = newton.Conjugate(lambda v: h @ v, np.diagonal(h))(g)
    size = lambda v: float(v @ (v / np.diagonal(h)))  # noqa: E731
    assert size(h @ x - g) <= 1e-6 * size(g)


# ---- the estimator


@pytest.mark.slow
@parametrize_with_checks([Logistic(C=0.1, class_weight="balanced")])
def test_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def test_estimator_is_scikit_learns() -> None:
    X, y = table(500, 5)
    names = np.where(y, "yes", "no")
    weight = np.random.default_rng(0).uniform(0, 2, 500)
    weight[:50] = 0
    ours = Logistic(C=0.5, tol=1e-20, class_weight="balanced").fit(X, names, weight)
    peer = LogisticRegression(
        C=0.5, solver="newton-cholesky", tol=1e-12, class_weight="balanced"
    ).fit(X, names, weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-8)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-8)
    assert ours.predict(X).tolist() == peer.predict(X).tolist()
    assert ours.classes_.tolist() == ["no", "yes"]


def test_attributes() -> None:
    X, y = table(500, 5)
    model = Logistic().fit(X, y)
    assert model.converged_ is True
    assert model.objective_ == model.fit_.objective
    assert model.objective_ == pytest.approx(objective(X, y, model.detector_, 1.0), rel=1e-14)
    assert 0 <= model.gap_ <= 1e-8 * model.objective_
    assert model.n_iter_ == model.fit_.iterations >= 1


def test_costs_are_weights() -> None:
    X, y = table(500, 3)
    a = Logistic(class_weight=cs.Costs(fp=2, fn=7)).fit(X, y)
    costs = cs.Costs(fp=2, fn=7)
    weight = np.where(y, float(costs.on_positives), float(costs.on_negatives))
    b = Logistic().fit(X, y, weight)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)


def test_probabilities_far_out() -> None:
    X, y = table(100, 1)
    model = Logistic(C=100).fit(X, y)
    far = np.array([[1e4], [-1e4]]) * np.sign(model.coef_[0, 0])
    odds = model.decision_function(far)
    np.testing.assert_allclose(
        model.predict_log_proba(far)[[0, 1], [0, 1]], -np.abs(odds), rtol=1e-12
    )
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1, rtol=1e-15)


def test_float32_is_not_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def spy(rows: Any, **options: Any) -> Fit:
        seen.add(rows.X.dtype)
        return logistic(rows, **options)

    monkeypatch.setattr("cutscore.estimators._logistic.logistic", spy)
    X, y = table(100, 2)
    Logistic().fit(X.astype(np.float32), y)
    Logistic().fit(X, y)
    assert seen == {np.dtype(np.float32), np.dtype(np.float64)}


def test_convergence_is_told() -> None:
    X, y = table(500, 5)
    with warned("not-converged", ConvergenceWarning, learner="Logistic", steps=1, most=1):
        model = Logistic(max_iter=1, tol=1e-14).fit(X, y)
    assert model.converged_ is False
    assert model.n_iter_ == 1
    X = np.array([[0.0], [0.0], [1.0], [-1.0]])
    with warned("not-converged", ConvergenceWarning):
        Logistic(C=inf).fit(X, [1, 0, 1, 0])
    with finding("no-overlap", UndefinedError):
        Logistic(C=inf).fit(X[2:], [1, 0])


def test_progress_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[float, str]] = []

    @contextmanager
    def bar(label: str, wanted: bool) -> Iterator[Any]:
        assert label == "Logistic"
        yield (lambda done, note: told.append((done, note))) if wanted else None

    monkeypatch.setattr("cutscore.estimators._logistic.progress", bar)
    Logistic().fit(*table(500, 5))
    assert not told
    model = Logistic(verbose=True).fit(*table(500, 5))
    assert len(told) == model.n_iter_ + 1
    done = [share for share, _ in told]
    assert done[0] == 0
    assert done == sorted(done)
    assert done[-1] >= 1
    assert told[0][1].startswith("iteration 0, gap ")
