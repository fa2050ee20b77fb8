"""K classes directly, g: R^D → R^K, beside scikit-learn's LDA, LinearRegression and
LogisticRegression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_score

import cutscore as cs
from cutscore.core.errors import UndefinedError
from cutscore.estimators import DetectorBank, Fisher, GaussianDiscriminant, LeastSquares, Logistic
from cutscore.linear import Discriminants
from cutscore.linear import multinomial as module
from cutscore.linear.closed import gaussian_classes, least_squares_classes
from cutscore.linear.moments import ClassMoments
from cutscore.linear.multinomial import multinomial
from cutscore.linear.rows import ArrayRows
from raising import finding, warned

IRIS = load_iris(return_X_y=True)
WINE = load_wine(return_X_y=True)
SETS = {"iris": IRIS, "wine": WINE}
ESTIMATORS = [LeastSquares(), GaussianDiscriminant(), Logistic()]


def named(estimator: Any) -> str:
    return type(estimator).__name__


def one_hot(y: Any) -> Any:
    return np.eye(int(y.max()) + 1)[y]


def four_clouds(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    centre = np.array([[0, 0, 0], [2, 0, 1], [0, 2, 0], [1, 1, -2.0]])
    return centre[y] + rng.normal(size=(n, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0], [0, 0.3, 2]]), y


# ---------------------------------------------------------------------------------------- moments


@pytest.mark.parametrize("scatter", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_moments_of_each_class(kind: Any, scatter: bool) -> None:
    X, y = four_clouds(500)
    w = np.random.default_rng(1).uniform(0.5, 2, 500)
    m = ClassMoments.of_rows(ArrayRows(kind(X), y, w), scatter=scatter, classes=4)
    assert (m.classes, m.features) == (4, 3)
    for k in range(4):
        of = y == k
        mean = np.average(X[of], axis=0, weights=w[of])
        assert m.weight[k] == pytest.approx(w[of].sum(), rel=1e-13)
        np.testing.assert_allclose(m.mean[k], mean, rtol=1e-12, atol=1e-12)
        if m.scatter is not None:
            z = X[of] - mean
            np.testing.assert_allclose(m.scatter[k], z.T @ (w[of, None] * z), rtol=1e-10)
    parts = [
        ClassMoments.of_rows(ArrayRows(X[at], y[at], w[at]), scatter=scatter, classes=4)
        for at in (slice(0, 7), slice(7, 200), slice(200, None))
    ]
    np.testing.assert_allclose(sum(parts).offset + sum(parts).origin, m.mean, rtol=1e-12)  # type: ignore[attr-defined]
    again = ClassMoments.from_dict(m.to_dict())
    np.testing.assert_array_equal(again.offset, m.offset)
    assert repr(m).startswith("ClassMoments(features=3, rows=[")
    with finding("cant-merge", same="classes", values=(4, 2)):
        m + ClassMoments.of_rows(ArrayRows(X, y == 1), scatter=scatter)


def test_each_class_needs_rows() -> None:
    X, y = four_clouds(100)
    m = ClassMoments.of_rows(ArrayRows(X, y), classes=5)
    for learn in (gaussian_classes, least_squares_classes):
        with finding("too-few", UndefinedError, of="row of class 4"):
            learn(m)
    with finding("too-few", UndefinedError, of="row of class 4"):
        multinomial(ArrayRows(X, y), 5)
    with finding("bad-argument", parameter="W"):
        Discriminants(np.zeros((3, 2)), np.zeros(2))


# ------------------------------------------------------------------------------ beside other routes


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("prior", [None, [0.2, 0.3, 0.5]])
def test_gaussian_is_linear_discriminant_analysis(data: str, prior: Any) -> None:
    X, y = SETS[data]
    peer = LinearDiscriminantAnalysis(solver="lsqr", priors=prior)
    ours = GaussianDiscriminant(prior=prior).fit(X, y)
    if prior is None:
        peer.fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    # scikit-learn weighs covariances by its priors, so by hand: the densities.
    m = ours.moments_
    share = m.weight / m.weight.sum() if prior is None else np.array(prior)
    z = X[:, None] - m.mean
    log_p = np.log(share) - 0.5 * np.einsum(
        "nki,ij,nkj->nk", z, np.linalg.inv(m.within / len(y)), z
    )
    np.testing.assert_allclose(ours.predict_proba(X), softmax(log_p, axis=1), atol=1e-8)
    by_label = GaussianDiscriminant(
        prior=None if prior is None else dict(zip("abc", prior, strict=True))
    ).fit(X, np.array(list("abc"))[y])
    np.testing.assert_array_equal(by_label.coef_, ours.coef_)
    np.testing.assert_array_equal(by_label.intercept_, ours.intercept_)


@pytest.mark.parametrize("data", SETS)
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_least_squares_is_the_regression_on_one_hot_targets(data: str, alpha: float) -> None:
    X, y = SETS[data]
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    peer = Ridge(alpha=alpha, solver="cholesky") if alpha else LinearRegression()
    peer.fit(X, one_hot(y), sample_weight=w)
    ours = LeastSquares(alpha).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.decision_function(X), 2 * peer.predict(X) - 1, atol=1e-7)
    # Each column is the line of its class against the rest, where alpha is the same.
    for k in range(3):
        line = LeastSquares(alpha).fit(X, y == k, sample_weight=w)
        np.testing.assert_allclose(ours.coef_[k], line.coef_[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_logistic_is_multinomial(C: float) -> None:
    X, y = IRIS
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    peer = LogisticRegression(C=C, tol=1e-8, max_iter=10_000).fit(X, y, sample_weight=w)
    ours = Logistic(C).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)

    def objective(W: Any, b: Any) -> float:
        z = X @ W.T + b
        return float(0.5 * np.sum(W**2) + C * w @ (logsumexp(z, axis=1) - z[np.arange(len(y)), y]))

    here = objective(ours.coef_, ours.intercept_)
    assert here == pytest.approx(ours.objective_, rel=1e-12)
    assert here <= objective(peer.coef_, peer.intercept_) * (1 + 1e-10)
    assert ours.converged_
    assert ours.gap_ is None
    assert abs(ours.intercept_.sum()) < 1e-8
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("dense", [1024, 1])
def test_the_minimum_of_a_general_optimiser(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the matrix, and by products with it; slopes by hand at the end."""
    monkeypatch.setattr(module, "_DENSE", dense)
    X, y = four_clouds(300)
    X[:, 2] += 50  # far from 0
    fit = multinomial(ArrayRows(X, y), 4, C=0.5)
    assert fit.converged

    def objective(t: Any) -> Any:
        W, b = t[:12].reshape(4, 3), t[12:]
        z = X @ W.T + b
        p = softmax(z, axis=1) - one_hot(y)
        loss = logsumexp(z, axis=1) - z[np.arange(300), y]
        value = 0.5 * np.sum(W**2) + 0.5 * loss.sum()
        return value, np.append((W + 0.5 * p.T @ X).ravel(), 0.5 * p.sum(0))

    g = fit.discriminants
    value, slope = objective(np.append(g.W.ravel(), g.b))
    assert fit.objective == pytest.approx(value, rel=1e-12)
    assert np.abs(slope).max() < 1e-3
    found = optimize.minimize(
        objective, np.zeros(16), jac=True, method="BFGS", options={"gtol": 1e-6}
    )
    assert value <= found.fun + 1e-9 * abs(found.fun)
    assert value == pytest.approx(found.fun, rel=1e-6)


def test_without_a_penalty_separated_classes_have_no_minimum() -> None:
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    with warned("not-converged", ConvergenceWarning):
        Logistic(C=np.inf, max_iter=20).fit(X, y)
    X, y = four_clouds(300)
    free = Logistic(C=np.inf).fit(X, y)
    peer = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(free.predict_proba(X), peer.predict_proba(X), atol=1e-4)


# ------------------------------------------------------------------------------------- invariances


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_weights_sparse_float32_and_order(estimator: Any) -> None:
    X, y = four_clouds(200)
    w = np.random.default_rng(2).integers(0, 4, 200)
    once = clone(estimator).fit(X, y, sample_weight=w)
    many = clone(estimator).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(
        once.decision_function(X), many.decision_function(X), rtol=1e-6, atol=1e-7
    )
    plain = clone(estimator).fit(X, y)
    thin = clone(estimator).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), plain.decision_function(X), atol=1e-6
    )
    small = clone(estimator).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(small.decision_function(X), plain.decision_function(X), atol=1e-3)
    order = np.array([2, 0, 3, 1])
    moved = clone(estimator).fit(X, order[y])
    np.testing.assert_allclose(
        moved.decision_function(X)[:, order], plain.decision_function(X), atol=1e-6
    )
    np.testing.assert_array_equal(moved.predict(X), order[plain.predict(X)])
    units = clone(estimator).fit(X * [1e-6, 1, 1e6], y)
    if named(estimator) != "Logistic":  # whose penalty is in units of the columns
        np.testing.assert_allclose(
            units.decision_function(X * [1e-6, 1, 1e6]), plain.decision_function(X), atol=1e-6
        )
    even = clone(estimator).set_params(class_weight="balanced").fit(X, y)
    by_row = clone(estimator).fit(X, y, sample_weight=len(y) / 4 / np.bincount(y)[y])
    np.testing.assert_allclose(even.coef_, by_row.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_hard_tables(estimator: Any) -> None:
    """Constant and copied columns, and more columns than rows."""
    X, y = four_clouds(200)
    wide = np.column_stack((X, X[:, 0], np.full(200, 7.0)))
    plain, odd = clone(estimator).fit(X, y), clone(estimator).fit(wide, y)
    assert np.isfinite(odd.coef_).all()
    assert (odd.predict(wide) == plain.predict(X)).mean() > 0.97
    few = np.random.default_rng(0).normal(size=(12, 40))
    fit = clone(estimator).fit(few, np.arange(12) % 3)
    np.testing.assert_array_equal(fit.predict(few), np.arange(12) % 3)


def test_what_is_of_two_classes_only() -> None:
    X, y = IRIS
    g = LeastSquares().fit(X, y)
    assert g.coef_.shape == (3, 4)
    assert not hasattr(g, "detector_")
    for ask in (lambda: g.signed_distance(X), lambda: g.margins(X, y), lambda: g.detector_):
        with pytest.raises(AttributeError, match="exists for two classes only; there are 3"):
            ask()
    with finding("bad-argument", parameter="class_weight"):
        Logistic(class_weight=cs.Costs(fp=1, fn=2)).fit(X, y)
    with finding("bad-argument", parameter="prior"):
        GaussianDiscriminant(prior=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"class 2 needs at least 1 row with a weight above 0"):
        Logistic().fit(X, y, sample_weight=(y < 2).astype(float))
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        Fisher().fit(X, y)


def test_iris_directly_and_by_one_line_a_class() -> None:
    """What one pass and K columns gain over K lines of one class against the rest."""
    X, y = IRIS
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def accuracy(estimator: Any) -> float:
        return float(cross_val_score(estimator, X, y, cv=folds).mean())

    direct = accuracy(GaussianDiscriminant())
    assert direct == accuracy(LinearDiscriminantAnalysis(solver="lsqr")) > 0.97
    assert accuracy(DetectorBank(GaussianDiscriminant())) < direct - 0.01
    assert accuracy(Logistic()) == pytest.approx(accuracy(LogisticRegression(max_iter=1000)))
