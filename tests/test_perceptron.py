"""The perceptron against its algorithm, written down line by line."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.core.errors import DataError
from cutscore.estimators import Perceptron, expected_failed_checks
from cutscore.linear import perceptron as module
from cutscore.linear.perceptron import Pass, State, perceptron, perceptron_pass
from cutscore.linear.rows import ArrayRows, Block
from raising import finding, warned


class Literal(NamedTuple):
    w: Any
    w0: float
    converged: bool
    passes: int
    updates: int
    trail: list[Any]
    """The line after each row."""


def literal(X: Any, positive: Any, rate: float = 1.0, limit: int = 100, weight: Any = None) -> Any:
    """The algorithm as it stands in the lesson, row by row and column by column."""
    M, D = X.shape
    y = [1 if p else -1 for p in positive]
    w, w0, i = [0.0] * D, 0.0, 0
    R2 = max(sum(float(v) ** 2 for v in row) for row in X)
    trail = []
    passes, update = 0, True
    while update and passes < limit:
        update, passes = False, passes + 1
        for m in range(M):
            alpha = rate if weight is None else rate * weight[m]
            if y[m] * (sum(w[d] * float(X[m, d]) for d in range(D)) + w0) <= 0:
                update = True
                w = [w[d] + alpha * y[m] * float(X[m, d]) for d in range(D)]
                w0 = w0 + alpha * y[m] * R2
                i += 1
            trail.append([*w, w0])
    return Literal(w, w0, not update, passes, i, trail)


def errors(X: Any, positive: Any, line: Any) -> int:
    score = X @ np.asarray(line[:-1]) + line[-1]
    return int(np.sum(np.where(positive, score, -score) <= 0))


def separable(n: int, d: int, seed: int, gap: float = 0.5) -> tuple[Any, Any, float]:
    """Rows at least `gap` away from a line, and how far they really are."""
    rng = np.random.default_rng([n, d, seed])
    X = rng.standard_normal((n, d))
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    b = 0.3 * rng.standard_normal()
    positive = X @ u + b > 0
    X += np.where(positive, gap, -gap)[:, None] * u
    return X, positive, float(np.abs(X @ u + b).min())


# ------------------------------------------------------------------------------------ by hand


def test_by_hand() -> None:
    """x = 1 negative, x = 3 positive; R² = 9. Updates at -, +, -, +, -, +, -: w = 5, w₀ = -9."""
    fit = perceptron(ArrayRows(np.array([[1.0], [3.0]]), np.array([False, True])))
    assert (fit.detector.w.tolist(), fit.detector.b) == ([5.0], -9.0)
    assert (fit.updates, fit.passes, fit.converged) == (7, 5, True)
    assert (fit.radius, fit.errors) == (3.0, 0.0)


def test_averaged_by_hand() -> None:
    """The lines after the rows of the first two passes: (-1, -9), (2, 0), (1, -9), (4, 0)."""
    rows = ArrayRows(np.array([[1.0], [3.0]]), np.array([False, True]))
    fit = perceptron(rows, variant="averaged", max_passes=2)
    assert (fit.detector.w.tolist(), fit.detector.b) == ([1.5], -4.5)
    assert not fit.converged


# ------------------------------------------------------------------ against the lesson's algorithm


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_array])
@given(data=st.data())
def test_to_the_bit(form: Any, dtype: Any, data: Any) -> None:
    """Whole numbers, whose sums are exact: every bit of w, and the same count of everything."""
    n, d = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 19))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    X = (rng.integers(-9, 10, (n, d)) * (rng.random((n, d)) < 0.6)).astype(dtype)
    positive = rng.random(n) < 0.4
    weight = data.draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float)]))
    rate = data.draw(st.sampled_from([1.0, 0.25, 3.0]))
    want = literal(X, positive, rate, 12, weight)
    got = perceptron(ArrayRows(form(X), positive, weight), rate=rate, max_passes=12)
    assert got.detector.w.tolist() == want.w
    assert got.detector.b == want.w0
    assert (got.converged, got.passes, got.updates) == want[2:5]
    wrong = np.zeros(n, bool)
    score = X.astype(float) @ np.array(want.w) + want.w0
    wrong = np.where(positive, score, -score) <= 0
    assert got.errors == (wrong.sum() if weight is None else weight[wrong].sum())
    averaged = perceptron(
        ArrayRows(form(X), positive, weight), rate=rate, max_passes=12, variant="averaged"
    )
    mean = np.mean(want.trail, axis=0)
    scale = np.abs(want.trail).max()
    assert_allclose([*averaged.detector.w, averaged.detector.b], mean, rtol=0, atol=1e-13 * scale)


def test_slices_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    X, positive, _ = separable(500, 6, 0)
    positive = positive ^ (np.arange(500) % 11 == 0)
    for variant in ("plain", "averaged", "pocket"):
        whole = perceptron(ArrayRows(X, positive), max_passes=7, variant=variant)
        for numbers in (1, 100, 2999):
            monkeypatch.setattr(module, "_SLICE", numbers)
            parts = perceptron(ArrayRows(X, positive), max_passes=7, variant=variant)
            assert_array_equal(parts.detector.w, whole.detector.w)
            assert (parts.detector.b, parts.updates) == (whole.detector.b, whole.updates)
        monkeypatch.undo()


def test_a_pass_is_a_piece() -> None:
    """perceptron_pass over blocks, by hand, is the first pass of the learner."""
    X, positive, _ = separable(300, 4, 1)
    state = State.fresh(4, "plain")
    state.square = float((X**2).sum(1).max())
    for k in range(0, 300, 70):
        at = slice(k, k + 70)
        state = perceptron_pass(state, Block(X[at], positive[at], None, k))
    once = perceptron(ArrayRows(X, positive), max_passes=1)
    assert_array_equal(state.line[:-1], once.detector.w)
    assert state.line[-1] == once.detector.b


# ------------------------------------------------------------------------------------ properties


@given(st.integers(2, 200), st.integers(1, 8), st.integers(0, 1000))
def test_novikoff(n: int, d: int, seed: int) -> None:
    """A line that has all rows γ on their side bounds the updates by (2R/γ)²."""
    X, positive, gap = separable(n, d, seed)
    assume(positive.any() and not positive.all())  # else a line beyond R has any margin
    fit = perceptron(ArrayRows(X, positive), max_passes=10**6)
    assert fit.converged
    assert fit.errors == 0
    assert 1 <= fit.updates <= (2 * fit.radius / gap) ** 2
    assert errors(X, positive, [*fit.detector.w, fit.detector.b]) == 0


@given(st.integers(2, 60), st.integers(1, 5), st.integers(0, 1000), st.integers(1, 9))
def test_the_pocket_is_never_worse(n: int, d: int, seed: int, passes: int) -> None:
    rng = np.random.default_rng([n, d, seed])
    X, positive = rng.integers(-5, 6, (n, d)).astype(float), rng.random(n) < 0.5
    rows = ArrayRows(X, positive)
    plain = perceptron(rows, max_passes=passes)
    pocket = perceptron(rows, max_passes=passes, variant="pocket")
    trail = literal(X, positive, limit=passes).trail
    ends = [errors(X, positive, line) for line in trail[n - 1 :: n]]
    assert pocket.errors <= min(ends) <= plain.errors == ends[-1]
    # It is one of the lines that there were, and its errors are counted on the rows.
    line = [*pocket.detector.w, pocket.detector.b]
    assert line in trail
    assert pocket.errors == errors(X, positive, line)


def test_the_pocket_has_the_longest_runs() -> None:
    """By brute force: all lines that set a record of right rows, and the ends of passes."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.integers(-5, 6, (40, 3)).astype(float)
        positive = X @ [1, 2, -1] + 4 * rng.standard_normal(40) > 0
        trail = literal(X, positive, limit=5).trail
        run = longest = 0
        best = np.inf
        line = [0.0] * 4
        for k, after in enumerate(trail):
            if after == line:
                run += 1
            else:
                if run > longest:
                    longest, best = run, min(best, errors(X, positive, line))
                run, line = 0, after
            if k % 40 == 39:
                best = min(best, errors(X, positive, after))
        fit = perceptron(ArrayRows(X, positive), max_passes=5, variant="pocket")
        assert fit.errors == best


@given(st.integers(0, 1000), st.sampled_from([2.0**-40, 2.0**-300, 2.0**26, 2.0**400]))
def test_units_do_not_matter(seed: int, unit: float) -> None:
    """Features in other units: the same rows move the line, to the bit with a power of two."""
    X, positive, _ = separable(50, 3, seed)
    one, other = (perceptron(ArrayRows(x, positive), max_passes=20) for x in (X, X * unit))
    assert one.updates == other.updates
    assert_array_equal(other.detector.w, one.detector.w * unit)
    assert other.detector.b == one.detector.b * unit * unit


# ------------------------------------------------------------------------------------ odd cases


@pytest.mark.parametrize("unit", [1e8, 1e-8])
def test_scales(unit: float) -> None:
    X, positive, _ = separable(80, 3, 0)
    for dtype in (np.float32, np.float64):
        model = Perceptron(max_passes=10**4).fit((X * unit).astype(dtype), positive)
        assert model.converged_
        assert np.isfinite(model.coef_).all()
        assert model.score(X * unit, positive) == 1


def test_features_out_of_range() -> None:
    X, positive, _ = separable(20, 3, 0)
    with finding("beyond-floats", DataError, value=np.inf):
        Perceptron().fit(X * 1e200, positive)
    with finding("beyond-floats", hint="Multiply the features by a constant."):
        Perceptron().fit(X * 1e-200, positive)
    with finding("beyond-floats", value=None):
        Perceptron(rate=1e10).fit(X * 1e149, positive)


def test_nothing_to_learn_from() -> None:
    """Rows of zeros alone: no line, and it is said."""
    with warned("not-converged", ConvergenceWarning, learner="Perceptron", steps=3):
        model = Perceptron(max_passes=3).fit(np.zeros((4, 2)), [0, 0, 1, 1])
    assert model.coef_.tolist() == [[0.0, 0.0]]
    assert (model.converged_, model.radius_, model.errors_) == (False, 0.0, 4)


def test_not_separable_is_said() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    with warned("not-converged", ConvergenceWarning):
        Perceptron().fit(X, y)
    for variant in ("averaged", "pocket"):
        model = Perceptron(variant=variant).fit(X, y)
        assert not model.converged_
        assert model.n_iter_ == 100
    assert model.errors_ == 1


def test_sparse_with_empty_rows_and_columns() -> None:
    X = sp.csr_array(np.array([[0.0, 0, 0], [0, 0, 2], [0, 0, 3], [0, 0, 0]], np.float32))
    model = Perceptron().fit(X, [0, 1, 1, 0])
    assert model.converged_
    assert model.coef_[0, :2].tolist() == [0.0, 0.0]
    assert_array_equal(model.coef_, Perceptron().fit(X.toarray(), [0, 1, 1, 0]).coef_)


def test_more_columns_than_rows() -> None:
    X = np.random.default_rng(0).standard_normal((6, 40))
    model = Perceptron().fit(X, [0, 1, 1, 0, 0, 1])
    assert model.converged_
    assert model.margins(X, [0, 1, 1, 0, 0, 1]).errors == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0}, "rate must be positive"),
        ({"rate": np.inf}, "rate must be positive"),
        ({"rate": np.nan}, "rate must be positive"),
        ({"max_passes": 0}, "max_passes must be at least 1"),
        ({"variant": "voted"}, "variant must be one of 'plain', 'averaged', 'pocket', got 'vo"),
    ],
)
def test_options(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Perceptron(**options).fit([[0.0], [1.0]], [0, 1])


def by_hand(X: Any, positive: Any, limit: int) -> list[tuple[Any, float, int]]:
    """The algorithm of the lesson, row by row in plain Python: the line and moves of each pass."""
    w, w0, R = np.zeros(X.shape[1]), 0.0, np.linalg.norm(X, axis=1).max()
    out = []
    while not out or (out[-1][2] and len(out) < limit):
        moves = 0
        for x, y in zip(X, np.where(positive, 1.0, -1.0), strict=True):
            if y * (w @ x + w0) <= 0:
                w, w0, moves = w + y * x, w0 + y * R**2, moves + 1
        out.append((w, w0, moves))
    return out


def test_the_line_and_its_margins_after_each_pass() -> None:
    X, positive, _ = separable(60, 3, 3)
    seen: list[Pass] = []
    fit = perceptron(ArrayRows(X, positive), on_pass=seen.append)
    expected = by_hand(X, positive, 100)
    assert len(seen) == len(expected) == fit.passes > 2
    for k, (done, (w, w0, moves)) in enumerate(zip(seen, expected, strict=True)):
        assert (done.passes, done.updates, done.limit) == (k + 1, moves, 100)
        np.testing.assert_allclose(done.detector.w, w, rtol=1e-12, atol=1e-12)
        assert done.detector.b == pytest.approx(w0, rel=1e-12)
        gamma = np.where(positive, 1, -1) * (X @ w + w0) / np.linalg.norm(w)
        np.testing.assert_allclose(done.margins.value, gamma, rtol=1e-9, atol=1e-9)
    assert seen[-1].margins.errors == 0
    assert seen[0].margins.errors > 0
    assert seen[0].margins is seen[0].margins  # one pass over the rows, not one for each look


def test_the_estimator_hands_passes_on() -> None:
    X, positive, _ = separable(60, 3, 3)
    weight = np.ones(60)
    weight[:5] = 0
    seen: dict[int, Any] = {}
    for variant in ("plain", "averaged", "pocket"):
        seen.clear()
        line = Perceptron(variant=variant, max_passes=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line.fit(X, positive, weight, on_pass=lambda p: seen.update({p.passes: p}))
        assert list(seen) == list(range(1, line.n_iter_ + 1))
        last = seen[line.n_iter_]
        np.testing.assert_array_equal(last.detector.w, line.coef_[0])
        np.testing.assert_array_equal(last.margins.value, line.margins(X[5:], positive[5:]).value)


# ------------------------------------------------------------------------------------ estimator


def test_weights() -> None:
    """They scale the updates; a row of weight 0 is absent, also from R."""
    X, positive, _ = separable(40, 3, 2)
    X, positive = np.vstack((X, [[100.0, 0, 0]])), np.append(positive, True)
    weight = np.append(np.random.default_rng(0).integers(1, 4, 40), 0).astype(float)
    model = Perceptron(max_passes=10**4).fit(X, positive, weight)
    want = literal(X[:40], positive[:40], 1.0, 10**4, weight[:40])
    assert_allclose(model.coef_[0], want.w, rtol=1e-9)
    assert model.updates_ == want.updates
    assert model.radius_ < 100
    doubled = Perceptron(max_passes=10**4).fit(X[:40], positive[:40], np.full(40, 2.0))
    assert_array_equal(
        doubled.coef_, 2 * Perceptron(max_passes=10**4).fit(X[:40], positive[:40]).coef_
    )


def test_costs() -> None:
    """Costs of classes are weights of their rows."""
    X = np.random.default_rng(1).standard_normal((60, 2))
    y = np.random.default_rng(2).random(60) < 0.4
    costs = cs.Costs(fp=1, fn=3)
    one = Perceptron(variant="averaged", class_weight=costs).fit(X, y)
    other = Perceptron(variant="averaged").fit(X, y, np.where(y, 3.0, 1.0))
    assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("variant", ["plain", "averaged"])
def test_partial_fit_is_fit(variant: Any) -> None:
    """Where R is known from the start, passes piece by piece are those of fit."""
    X, positive, _ = separable(90, 3, 3)
    X = X[np.argsort(-np.linalg.norm(X, axis=1))]  # the longest row first
    positive = np.random.default_rng(0).random(90) < 0.5
    model = Perceptron(variant=variant)
    for _ in range(3):
        for k in range(0, 90, 30):
            model.partial_fit(X[k : k + 30], positive[k : k + 30], classes=[False, True])
    whole = perceptron(ArrayRows(X, positive), max_passes=3, variant=variant)
    assert_array_equal(model.coef_[0], whole.detector.w)
    assert model.intercept_[0] == whole.detector.b
    assert model.updates_ == whole.updates
    assert model.n_iter_ == 9


def test_partial_fit_goes_on_from_fit() -> None:
    X, positive, _ = separable(60, 3, 4)
    model = Perceptron(max_passes=10**4).fit(X, positive)
    before = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.partial_fit(X, positive).coef_, before.coef_)  # nothing was wrong
    assert model.converged_
    far = 50 * X[:1]
    model.partial_fit(far, ~positive[:1])
    assert model.radius_ == pytest.approx(np.linalg.norm(far), rel=1e-14)
    sign = -1 if positive[0] else 1
    assert_array_equal(model.coef_[0], before.coef_[0] + sign * far[0])
    # The state of the copy is its own.
    assert_array_equal(before.partial_fit(X, positive).coef_, before.coef_)


def test_partial_fit_of_the_pocket() -> None:
    """Judged by the rows of each call."""
    X, positive, _ = separable(60, 2, 5)
    model = Perceptron(variant="pocket")
    for _ in range(30):
        model.partial_fit(X, positive)
    assert model.errors_ == 0
    model.partial_fit(X, ~positive)  # all of which the line has on the wrong side
    assert model.errors_ == model.margins(X, ~positive).errors < 60


def test_partial_fit_needs_classes() -> None:
    model = Perceptron()
    with finding("bad-argument", parameter="classes", rule="be two in the first call"):
        model.partial_fit([[1.0]], [1])
    model.partial_fit([[1.0]], [1], classes=[0, 1])
    model.partial_fit([[-1.0]], [0])
    with finding("bad-argument", parameter="y", value=2):
        model.partial_fit([[1.0]], [2])
    with finding("bad-argument", parameter="classes", rule="stay [0, 1]"):
        model.partial_fit([[1.0]], [0], classes=[0, 2])
    with finding("too-few", what="partial_fit", have=0):
        Perceptron(class_weight={0: 0, 1: 1}).partial_fit([[1.0]], [0], classes=[0, 1])
    with finding("bad-argument", parameter="class_weight", value="balanced"):
        Perceptron(class_weight="balanced").partial_fit([[1.0], [2.0]], [0, 1])


@pytest.mark.slow
@parametrize_with_checks(
    [Perceptron(variant="averaged"), Perceptron(variant="pocket")],
    expected_failed_checks=expected_failed_checks,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_a_line_goes_on_as_it_was_begun() -> None:
    line = Perceptron().partial_fit([[0.0], [1.0]], [0, 1])
    with finding("bad-argument", parameter="variant", value="averaged"):
        line.set_params(variant="averaged").partial_fit([[0.0], [1.0]], [0, 1])


def test_entries_of_one_column_are_added_before_they_are_squared() -> None:
    X = sp.csr_array(([3.0, 4.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    assert perceptron(ArrayRows(X, np.array([True, False])), max_passes=1).radius == 7.0
    assert X.nnz == 3
