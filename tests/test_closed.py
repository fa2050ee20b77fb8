"""Learners in closed form: against NumPy's least squares, scikit-learn, and where these give up."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import oas
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.core.errors import UndefinedError
from cutscore.estimators._closed import Fisher, GaussianDiscriminant, LeastSquares, MeanDifference
from cutscore.linear.closed import (
    fisher,
    gaussian,
    least_squares,
    mean_difference,
    shrinkage_of,
)
from cutscore.linear.moments import ClassMoments
from cutscore.linear.rows import ArrayRows
from raising import finding

LEARN: dict[str, Callable[..., Any]] = {
    "mean_difference": mean_difference,
    "least_squares": least_squares,
    "gaussian": gaussian,
    "fisher": fisher,
}
ESTIMATORS = [MeanDifference(), LeastSquares(), GaussianDiscriminant(), Fisher()]


@pytest.mark.slow
@parametrize_with_checks(
    [
        LeastSquares(alpha=1.0),
        GaussianDiscriminant(shrinkage="auto"),
        LeastSquares(class_weight="balanced"),
        Fisher(shrinkage=0.1),
    ]
)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    """Other parameters than the defaults, which test_estimators.py has."""
    check(estimator)


def table(n: int = 300, d: int = 4, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 0.7 * y[:, None]
    return X, y, rng.random(n) + 0.1


def solved(X: Any, y: Any, weight: Any, alpha: float = 0.0) -> tuple[Any, float]:
    """Least squares by NumPy, from the rows themselves."""
    t = np.where(y, 1.0, -1.0)
    weight = np.ones(len(y)) if weight is None else weight
    mean, mid = np.average(X, 0, weight), np.average(t, 0, weight)
    root = np.sqrt(weight)
    rows = np.vstack([root[:, None] * (X - mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    w = np.linalg.lstsq(rows, np.append(root * (t - mid), np.zeros(X.shape[1])), rcond=None)[0]
    return w, mid - w @ mean


# ---------------------------------------------------------------------------------------- by hand


def test_values_by_hand() -> None:
    # Means (1, 1) and (5, 4), scatters [[2, 0], [0, 0]] and [[2, 2], [2, 2]].
    m = ClassMoments.from_arrays([[0, 1], [2, 1], [4, 3], [6, 5]], [0, 0, 1, 1])
    line = mean_difference(m).detector
    assert (line.w.tolist(), line.b) == ([4, 3], -(4 * 3 + 3 * 2.5))
    # Σ = [[4, 2], [2, 2]] / 4, its inverse [[2, -2], [-2, 4]].
    line = gaussian(m).detector
    assert_allclose(line.w, [2, 4], rtol=1e-14)
    assert line.b == pytest.approx(-(2 * 3 + 4 * 2.5), rel=1e-14)
    line = fisher(m).detector
    assert_allclose(line.w, [2, 4], rtol=1e-14)
    line = gaussian(m, prior=0.2).detector
    assert line.b == pytest.approx(-16 + log(0.25), rel=1e-14)
    # At the other end of shrinkage Σ is diag(1, 1/2).
    assert_allclose(fisher(m, shrinkage=1).detector.w, [4, 6], rtol=1e-14)
    assert_allclose(fisher(m, shrinkage=0).detector.w, [2, 4], rtol=1e-14)


# ---------------------------------------------------------------------------------- against peers


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_least_squares(weighted: bool, alpha: float, dtype: Any) -> None:
    X, y, w = table()
    X = X.astype(dtype)
    weight = w if weighted else None
    line = least_squares(ArrayRows(X, y, weight), alpha=alpha).detector
    want, b = solved(X.astype(np.float64), y, weight, alpha)
    assert_allclose(line.w, want, rtol=1e-11)
    assert line.b == pytest.approx(b, rel=1e-11)
    peer = Ridge(alpha=alpha, solver="cholesky").fit(
        X.astype(np.float64), np.where(y, 1.0, -1.0), weight
    )
    assert_allclose(line.w, peer.coef_, rtol=1e-9)


def test_gaussian_is_linear_discriminant_analysis() -> None:
    X, y, _ = table(2000, 6)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    ours = GaussianDiscriminant().fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-10)
    assert_allclose(ours.intercept_, peer.intercept_, rtol=1e-10)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-10, atol=1e-14)
    assert_array_equal(ours.predict(X), peer.predict(X))
    # Another prior moves the odds alone; scikit-learn's weighs the covariances by it too.
    ours_at = GaussianDiscriminant(prior=0.1).fit(X, y)
    assert_allclose(ours_at.coef_, ours.coef_, rtol=1e-15)
    moved = log(0.1 / 0.9) - log(y.mean() / (1 - y.mean()))
    assert_allclose(ours_at.intercept_, ours.intercept_ + moved, rtol=1e-12)


def test_posterior_of_the_densities() -> None:
    from scipy.stats import multivariate_normal

    X, y, w = table(200, 3)
    d = GaussianDiscriminant(shrinkage=0.2).fit(X, y, w)
    m = d.moments_
    cov = m.within / m.weight.sum()
    cov = 0.8 * cov + 0.2 * np.diag(cov.diagonal())
    density = [m.weight[k] * multivariate_normal(m.mean[k], cov).pdf(X) for k in (0, 1)]
    want = density[1] / (density[0] + density[1])
    assert_allclose(d.predict_proba(X)[:, 1], want, rtol=1e-10)
    assert_allclose(d.predict_proba(X).sum(1), 1, rtol=1e-15)
    far = np.full((1, 3), 1e6) * np.sign(d.coef_)
    assert np.isfinite(d.predict_log_proba(far)).all()


def test_shrinkage_is_oracle_approximating() -> None:
    X, y, _ = table(60, 12)
    means = np.array([X[~y].mean(0), X[y].mean(0)])
    z = X - means[y.astype(int)]
    _, want = oas(z / z.std(0), assume_centered=True)
    m = ClassMoments.from_arrays(X, y)
    assert shrinkage_of(m) == pytest.approx(want, rel=1e-12)
    assert 0.05 < want < 0.95
    d = GaussianDiscriminant(shrinkage="auto").fit(X, y)
    assert d.shrinkage_ == pytest.approx(want, rel=1e-12)
    assert_array_equal(d.coef_, GaussianDiscriminant(shrinkage=d.shrinkage_).fit(X, y).coef_)
    assert Fisher().fit(X, y).shrinkage_ == 0
    # In other units it is the same.
    other = ClassMoments.from_arrays(X * 10.0 ** np.arange(-6, 6), y)
    assert shrinkage_of(other) == pytest.approx(want, rel=1e-10)
    assert shrinkage_of(ClassMoments.from_arrays(X[:, :1], y)) == 1
    assert shrinkage_of(ClassMoments.from_arrays(np.ones((4, 2)), [0, 1, 0, 1])) == 1


def test_fisher_maximises_its_ratio() -> None:
    X, y, w = table()
    m = ClassMoments.from_arrays(X, y, w)
    line = fisher(m).detector
    apart = m.mean[1] - m.mean[0]

    def ratio(v: Any) -> float:
        return float((v @ apart) ** 2 / (v @ m.within @ v))

    best = ratio(line.w)
    for v in np.random.default_rng(1).standard_normal((200, 4)):
        assert ratio(v) <= best * (1 + 1e-12)
        assert ratio(line.w + 1e-3 * v) <= best * (1 + 1e-12)
    assert line.scores(m.mean) @ [1, 1] == pytest.approx(0, abs=1e-12)


# ------------------------------------------------------------------------------------- invariances


@pytest.mark.parametrize("name", LEARN)
@given(data=st.data())
def test_a_stream_gives_the_same_line(name: str, data: Any) -> None:
    X, y, w = table(150, 3)
    center = data.draw(st.sampled_from([0.0, 1e6, 1e8]))
    X = X + center
    cuts = sorted(data.draw(st.lists(st.integers(1, 149), max_size=8, unique=True)))
    parts = [
        ClassMoments.from_arrays(*(a[at] for a in (X, y, w)))
        for at in np.split(np.arange(150), cuts)
    ]
    data.draw(st.randoms(use_true_random=False)).shuffle(parts)
    one, many = LEARN[name](ArrayRows(X, y, w)).detector, LEARN[name](sum(parts)).detector
    assert_allclose(many.w, one.w, rtol=1e-10, atol=1e-10 * np.abs(one.w).max())
    assert many.b == pytest.approx(one.b, rel=1e-10)


@pytest.mark.parametrize("name", ["least_squares", "gaussian", "fisher"])
def test_units_do_not_matter(name: str) -> None:
    X, y, _ = table(400, 5)
    units = np.array([1e8, 1e-8, 1, 1e8, 1e-8])
    plain = LEARN[name](ArrayRows(X, y)).detector
    scaled = LEARN[name](ArrayRows(X * units, y)).detector
    assert_allclose(scaled.w * units, plain.w, rtol=1e-10)
    # Columns that depend on others still are found out.
    twice = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2]])
    units = 10.0 ** np.array([8, -8, 0, 3, 4, -8, 8])
    scores = LEARN[name](ArrayRows(twice * units, y)).detector.scores(twice * units)
    assert_allclose(scores, plain.scores(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", LEARN)
@pytest.mark.parametrize("center", [1e6, 1e8])
def test_far_from_zero(name: str, center: float) -> None:
    X, y, _ = table(400, 4)
    X = np.round(X * 2**20) / 2**20  # so that the sum below is exact
    near = LEARN[name](ArrayRows(X, y)).detector
    far = LEARN[name](ArrayRows(X + 2.0**20 * round(center / 2**20), y)).detector
    assert_allclose(far.w, near.w, rtol=1e-10)


@pytest.mark.parametrize("name", LEARN)
def test_swapped_classes(name: str) -> None:
    X, y, w = table()
    a, b = (LEARN[name](ArrayRows(X, flags, w)).detector for flags in (y, ~y))
    assert_allclose(a.w, -b.w, rtol=1e-12)
    assert a.b == pytest.approx(-b.b, rel=1e-12, abs=1e-12)


# -------------------------------------------------------------------------------------- odd tables


def test_constant_columns() -> None:
    X, y, _ = table()
    more = np.column_stack([np.full(300, 0.1), X, np.zeros(300), np.full(300, 1e9 + 0.1)])
    # Equal but for rounding.
    more[::2, 0] = 0.3 - 0.2
    for name, learn in LEARN.items():
        a, b = learn(ArrayRows(X, y)).detector, learn(ArrayRows(more, y)).detector
        assert_allclose(b.w[1:5], a.w, rtol=1e-12)
        if name != "mean_difference":
            assert_array_equal(b.w[[0, 5, 6]], 0)
        assert_allclose(b.scores(more), a.scores(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("d", [30, 80])
def test_more_columns_than_rows(d: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((24, d)), np.arange(24) % 3 == 0
    for dtype, digits in ((np.float64, 1e-9), (np.float32, 1e-5)):
        rows = ArrayRows(X.astype(dtype), y)
        line = least_squares(rows).detector
        # A table with more columns than rows is fitted without error, and classes lie on points.
        assert_allclose(line.scores(rows.X), np.where(y, 1.0, -1.0), rtol=digits)
        assert_allclose(fisher(rows).detector.scores(rows.X), np.where(y, 1, -1), rtol=digits)
        sure = gaussian(rows).detector.scores(rows.X)
        assert np.abs(sure).min() > 1e9
        assert_array_equal(sure > 0, y)
        m = ClassMoments.of_rows(rows)
        cov = m.within / 24
        cov = 0.7 * cov + 0.3 * np.diag(cov.diagonal())
        want = np.linalg.solve(cov, m.mean[1] - m.mean[0])
        assert_allclose(gaussian(rows, shrinkage=0.3).detector.w, want, rtol=1e-10)
    # The shortest, in units of the columns' deviations within classes.
    m = ClassMoments.from_arrays(X, y)
    units = np.sqrt(m.within.diagonal())
    want, _ = solved(X / units, y, None)
    assert_allclose(least_squares(m).detector.w * units, want, rtol=1e-8, atol=1e-10)


def test_duplicated_columns_share_the_weight() -> None:
    X, y, _ = table()
    one = least_squares(ArrayRows(X, y)).detector
    two = least_squares(ArrayRows(np.column_stack([X, X[:, 1]]), y)).detector
    want, b = solved(np.column_stack([X, X[:, 1]]), y, None)
    assert_allclose(two.w, want, rtol=1e-9)
    assert_allclose(two.w[[1, 4]], one.w[1] / 2, rtol=1e-9)
    assert two.b == pytest.approx(b, rel=1e-9)


def test_a_column_that_tells_the_classes_apart() -> None:
    X, y, _ = table()
    X = np.column_stack([X, np.where(y, 0.3, 0.1)])
    for learn in (least_squares, fisher):
        line = learn(ArrayRows(X, y)).detector
        assert_allclose(line.scores(X), np.where(y, 1.0, -1.0), rtol=1e-12)
        assert_allclose(line.w, [0, 0, 0, 0, 10], atol=1e-12)
    for shrinkage in (None, 0.5, "auto"):
        line = gaussian(ArrayRows(X, y), shrinkage=shrinkage).detector
        assert np.abs(line.w[:4]).max() < 1e-6 * line.w[4]
        assert_array_equal(line.scores(X) > 0, y)


def test_one_row_of_each_class() -> None:
    X, y = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 1.0]]), np.array([True, False])
    for learn in (least_squares, fisher):
        line = learn(ArrayRows(X, y)).detector
        assert_allclose(line.scores(X), [1, -1], rtol=1e-14)
        assert line.w[1] == 0
    scores = gaussian(ArrayRows(X, y)).detector.scores(X)
    assert scores[0] > 1e9
    assert scores[1] == pytest.approx(-scores[0], rel=1e-12)


def test_one_positive() -> None:
    X, y, _ = table()
    y[:] = False
    y[17] = True
    want, b = solved(X, y, None)
    line = least_squares(ArrayRows(X, y)).detector
    assert_allclose(line.w, want, rtol=1e-11)
    assert line.b == pytest.approx(b, rel=1e-11)
    cov = np.cov(X[~y].T, bias=True) * 299 / 300
    want = np.linalg.solve(cov, X[17] - X[~y].mean(0))
    assert_allclose(gaussian(ArrayRows(X, y)).detector.w, want, rtol=1e-10)


def test_classes_that_do_not_differ() -> None:
    X = np.array([[1.0, 2.0], [3.0, 5.0], [1.0, 2.0], [3.0, 5.0]])
    y = np.array([True, True, False, False])
    for learn in LEARN.values():
        line = learn(ArrayRows(X, y)).detector
        assert_array_equal(line.w, 0)
        assert line.b == 0
    assert_array_equal(least_squares(ArrayRows(np.ones((4, 2)), y)).detector.w, 0)


@pytest.mark.parametrize("name", LEARN)
def test_sparse_tables(name: str) -> None:
    X, y, w = table(500, 6)
    X[np.abs(X) < 1] = 0
    X[:5] = 0
    X[:, 2] = 0
    want = LEARN[name](ArrayRows(X, y, w)).detector
    for dtype in (np.float32, np.float64):
        got = LEARN[name](ArrayRows(sparse.csr_array(X.astype(dtype)), y, w)).detector
        assert_allclose(got.w, want.w, rtol=2e-6 if dtype == np.float32 else 1e-12, atol=1e-15)


def test_errors() -> None:
    X, y, _ = table(20, 2)
    with finding("bad-argument", parameter="alpha", value=-1):
        least_squares(ArrayRows(X, y), alpha=-1)
    for bad in (1.5, -0.1, "ledoit", np.nan):
        with finding("bad-argument", parameter="shrinkage"):
            fisher(ArrayRows(X, y), shrinkage=bad)
    with finding("bad-argument", parameter="prior", value=1.0):
        gaussian(ArrayRows(X, y), prior=1.0)
    for learn in LEARN.values():
        with finding("one-class", UndefinedError):
            learn(ArrayRows(X, np.ones(20, bool)))
    with finding("undefined", UndefinedError):
        fisher(ClassMoments.from_arrays(X, y, scatter=False))


# -------------------------------------------------------------------------------- the estimators


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_estimators_are_the_learners(estimator: Any) -> None:
    X, y, w = table()
    learn = {
        MeanDifference: mean_difference,
        LeastSquares: least_squares,
        GaussianDiscriminant: gaussian,
        Fisher: fisher,
    }[type(estimator)]
    fitted = clone(estimator).fit(X, y, w)
    line = learn(ClassMoments.from_arrays(X, y, w)).detector
    assert_array_equal(fitted.coef_, [line.w])
    assert fitted.intercept_ == [line.b]
    assert_allclose(fitted.moments_.weight, [w[~y].sum(), w[y].sum()], rtol=1e-14)
    assert (fitted.moments_.scatter is None) == isinstance(estimator, MeanDifference)
    assert fitted.n_iter_ == fitted.fit_.passes == 1
    if not hasattr(estimator, "class_weight"):
        return
    weighted = clone(estimator).set_params(class_weight=cs.Costs(fp=1, fn=5)).fit(X, y)
    copies = clone(estimator).fit(np.vstack([X, *[X[y]] * 4]), np.append(y, [True] * 4 * y.sum()))
    assert_allclose(weighted.coef_, copies.coef_, rtol=1e-10)
    assert_allclose(weighted.intercept_, copies.intercept_, rtol=1e-10)


def test_costs_move_least_squares() -> None:
    X, y, _ = table()
    plain, dear = (
        LeastSquares().fit(X, y),
        LeastSquares(class_weight=cs.Costs(fp=1, fn=20)).fit(X, y),
    )
    assert plain.predict(X).sum() < dear.predict(X).sum()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(estimator: Any, bad: float) -> None:
    X, y, _ = table(50, 3)
    X[3, 1] = bad
    for kind in (X, X.astype(np.float32), sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"NaN|inf"):
            clone(estimator).fit(kind, y)
