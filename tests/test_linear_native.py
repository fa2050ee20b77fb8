"""The kernels under all linear learners: sums of rows in float64, of any type, layout and form."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cutscore.core import _native
from cutscore.linear.rows import Block, readable

# Around whole eights and fours of columns, and around the tile of sums.
COLUMNS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 50, 1023, 1024, 1029)
FORMS = ("c", "fortran", "every other", "backwards", "unaligned", "csr", "csr64")


def block(X: Any, form: str) -> Block:
    if form == "fortran":
        X = np.asfortranarray(X)
    elif form == "every other":
        wide = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan, X.dtype)
        wide[::2, ::2] = X
        X = wide[::2, ::2]
    elif form == "backwards":
        X = np.ascontiguousarray(X[::-1])[::-1]
    elif form == "unaligned":
        raw = np.empty(X.nbytes + 1, np.uint8)[1:].view(X.dtype).reshape(X.shape)
        raw[...] = X
        X = raw
    elif form != "c":
        X = sp.csr_array(X)
        if form == "csr64":
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return Block(X, np.zeros(X.shape[0], bool), None, 0)


def whole(n: int, d: int, dtype: Any, seed: int = 0) -> Any:
    """Small whole numbers, of which sums are exact in any order; a third of them 0."""
    rng = np.random.default_rng([seed, n, d])
    return (rng.integers(-40, 40, (n, d)) * (rng.random((n, d)) < 0.67)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", COLUMNS)
def test_whole_numbers_are_exact(d: int, dtype: Any) -> None:
    rng = np.random.default_rng(d)
    for n in (0, 1, 3, 4, 5, 18):
        X = whole(n, d, dtype)
        w, c = rng.integers(-9, 9, d).astype(float), rng.integers(-3, 3, n).astype(float)
        exact = X.astype(float)
        for form in FORMS:
            b = block(X, form)
            assert_array_equal(b.scores(w, 0.5), exact @ w + 0.5)
            assert_array_equal(b.combine(c), exact.T @ c)
            if n:
                most = _native.largest_square(*readable(b.X), d)
                assert most == (exact**2).sum(1).max()


def test_sums_are_in_float64() -> None:
    """Of float32 too: the small term next to the large ones is not lost."""
    X = np.array([[2.0**40, 1 + 2.0**-9, -(2.0**40)]], np.float32)
    for form in ("c", "csr"):
        assert block(X, form).scores(np.ones(3)).tolist() == [1 + 2.0**-9]
        assert block(X.T, form).combine(np.ones(3)).tolist() == [1 + 2.0**-9]


def test_lanes() -> None:
    """The order of the sum is part of what is promised: column k is in lane k mod 8."""
    rng = np.random.default_rng(0)
    for d in COLUMNS:
        X, w = rng.standard_normal((7, d)), rng.standard_normal(d)
        lanes = np.zeros((7, 8))
        for k in range(d):
            lanes[:, k % 8] += X[:, k] * w[k]
        four = lanes[:, :4] + lanes[:, 4:]
        expected = (four[:, 0] + four[:, 2]) + (four[:, 1] + four[:, 3])
        assert_array_equal(block(X, "c").scores(w), expected)


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 2**32), st.sampled_from(FORMS))
def test_any_numbers(n: int, d: int, seed: int, form: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    w, c = rng.standard_normal(d), rng.standard_normal(n) * (rng.random(n) < 0.5)
    b = block(X, form)
    assert_allclose(b.scores(w, 1.0), X @ w + 1.0, rtol=0, atol=1e-13)
    assert_allclose(b.combine(c), X.T @ c, rtol=0, atol=1e-13)


def test_slices_of_csr() -> None:
    X = sp.csr_array(whole(50, 9, np.float32))
    w = np.arange(9.0)
    assert_array_equal(Block(X[10:30], np.zeros(20, bool), None, 10).scores(w), (X @ w)[10:30])
    # An indptr that does not start at 0.
    got = _native.scores(X.data, X.indices, X.indptr[10:31], w, 0.0)
    assert_array_equal(got, (X @ w)[10:30])


def test_weightless_rows_are_not_read() -> None:
    X = np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, 4.0]])
    assert block(X, "c").combine(np.array([1.0, 0.0, 2.0])).tolist() == [7.0, 10.0]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 3], [0, 1, 2], "column numbers"),
        ([0, -1], [0, 1, 2], "column numbers"),
        ([0, 2**31 - 1], [0, 1, 2], "column numbers"),
        ([0, 1], [0, 1, 3], "indptr"),
        ([0, 1], [-1, 1, 2], "indptr"),
        ([0, 1], [0, 2, 1], "indptr"),
        ([0, 1], [0, 2**31 - 1, 2], "indptr"),
    ],
)
def test_damaged_csr_is_refused(index: Any, indices: Any, indptr: Any, message: str) -> None:
    """It neither crashes nor reads what is not its own."""
    X = (np.ones(2), np.array(indices, index), np.array(indptr, index))
    with pytest.raises(ValueError, match=message):
        _native.scores(*X, np.ones(3), 0.0)
    with pytest.raises(ValueError, match=message):
        _native.combine(*X, np.ones(2), 3)
    with pytest.raises(ValueError, match=message):
        _native.largest_square(*X, 3)
    with pytest.raises(ValueError, match=message):
        _native.logistic(*X, np.ones(2, bool), None, np.ones(3), 0.0, False)
    with pytest.raises(ValueError, match=message):
        _native.products(*X, np.ones(2), np.zeros((3, 3)), np.zeros(3))
    args = (np.ones(2, bool), None, 1.0, 1.0, np.zeros(4), None, None, np.zeros(5, np.int64))
    with pytest.raises(ValueError, match=message):
        _native.perceptron(*X, *args)


def losses(X: Any, y: Any, w: Any, b: float, weight: Any = None) -> Any:
    """What the kernel adds up, by NumPy: loss, its derivatives by w and b, theirs by b."""
    X = np.hstack((X, np.ones((len(X), 1))))
    z = np.where(y, -1.0, 1.0) * (X[:, :-1] @ w + b)
    m = np.ones(len(z)) if weight is None else weight
    e = np.exp(-np.abs(z))
    first = np.where(y, -1.0, 1.0) * np.where(z > 0, 1.0, e) / (1 + e)
    return np.concatenate(
        ([m @ np.logaddexp(0, z)], X.T @ (m * first), X.T @ (m * e / (1 + e) ** 2))
    )


# Around pieces of 8, 80 and 256 rows, and around whole fours.
@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 8, 9, 79, 80, 81, 161, 255, 256, 257, 519])
@pytest.mark.parametrize("d", [0, 1, 4, 50, 600])
def test_logistic_losses(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    y, w, weight = rng.random(n) < 0.4, rng.standard_normal(d), rng.random(n)
    for form in FORMS:
        part = readable(block(X, form).X)
        for m in (None, weight):
            want = losses(X, y, w, 0.3, m)
            got = _native.logistic(*part, y, m, w, 0.3, True)
            assert_allclose(got, want, rtol=0, atol=1e-13 * (n + 1))
            less = _native.logistic(*part, y, m, w, 0.3, False)
            assert_allclose(less, got[: d + 2], rtol=0, atol=1e-13 * (n + 1))


def test_logistic_losses_are_exact_to_a_few_digits_of_the_last_place() -> None:
    """Tiny losses too, which 1 + exp(z) would forget."""
    z = np.concatenate((np.linspace(-700, 40, 7401), [0.0, 1e-300, -1e-300, -0.8814, 0.8814]))
    for v in z.tolist():
        got = _native.logistic(
            np.array([[v]]), None, None, np.zeros(1, bool), None, np.ones(1), 0, True
        )
        e = math.exp(-abs(v))
        loss = max(v, 0.0) + math.log1p(e)
        first, second = (1.0 if v > 0 else e) / (1 + e), e / (1 + e) ** 2
        assert_allclose(got[[0, 2, 4]], [loss, first, second], rtol=2e-15, atol=0)


def test_logistic_losses_far_out() -> None:
    def of(v: float) -> Any:
        X = np.array([[v], [0.0]])
        return _native.logistic(X, None, None, np.zeros(2, bool), None, np.ones(1), 0.0, True)

    assert of(1e308)[0] == 1e308
    assert of(1e5)[[0, 1, 2]].tolist() == [1e5 + math.log(2), 1e5, 1.5]
    assert_allclose(of(-1e5)[[0, 2, 4]], [math.log(2), 0.5, 0.25], rtol=1e-15)
    for v in (np.nan, np.inf, -np.inf):
        assert not np.isfinite(of(v)).all()


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 2**32))
def test_products_of_sparse_rows(n: int, d: int, seed: int) -> None:
    """Also of rows whose columns come in any order, or twice."""
    rng = np.random.default_rng(seed)
    filled = rng.integers(0, 9, n)
    indptr = np.append(0, np.cumsum(filled))
    X = sp.csr_array(
        (rng.integers(-9, 9, indptr[-1]).astype(float), rng.integers(0, d, indptr[-1]), indptr),
        shape=(n, d),
    )
    c = rng.integers(-3, 3, n).astype(float)
    sums, squares = np.zeros((d, d)), np.zeros(d)
    _native.products(*readable(X), c, sums, squares)
    dense = X.toarray()
    assert_array_equal(sums + sums.T + np.diag(squares), (dense.T * c) @ dense)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 3, 7, 8, 9, 24, 50, 130])
def test_products_of_columns(d: int, dtype: Any) -> None:
    rng = np.random.default_rng(d)
    start = rng.integers(-9, 9, d).astype(float)
    for n in (0, 1, 63, 64, 65, 200):
        X = whole(n, d, dtype)
        z = np.column_stack([X - start, np.ones(n)])
        some = rng.permutation(n)[: n // 2]
        for chosen, rows in ((None, np.arange(n)), (some, some)):
            weight = rng.integers(0, 3, len(rows)).astype(float) ** 2  # whole roots
            for w, by in ((None, 1), (weight, weight[:, None])):
                want = z[rows].T @ (by * z[rows])
                got = _native.scatter(X, chosen, w, start, True).reshape(d + 1, d + 1)
                assert_array_equal(got, want)
                assert_array_equal(_native.scatter(X, chosen, w, start, False), want[-1])


def test_products_of_rows_that_are_not_there() -> None:
    X, start = np.ones((3, 2)), np.zeros(2)
    for row in (3, -1):
        with pytest.raises(IndexError, match="past the end"):
            _native.scatter(X, np.array([0, row]), None, start, True)
    with pytest.raises(ValueError, match="one weight for each row"):
        _native.scatter(X, np.array([0, 1]), np.ones(3), start, True)
    with pytest.raises(ValueError, match="number of columns"):
        _native.scatter(X, None, None, np.zeros(3), True)


def test_what_does_not_fit_is_refused() -> None:
    X = np.ones((4, 3))
    with pytest.raises(ValueError, match="one value for each row"):
        _native.logistic(X, None, None, np.ones(3, bool), None, np.ones(3), 0.0, False)
    with pytest.raises(ValueError, match="one value for each row"):
        _native.logistic(X, None, None, np.ones(4, bool), np.ones(5), np.ones(3), 0.0, False)
    with pytest.raises(ValueError, match="of CSR matrices only"):
        _native.products(X, None, None, np.ones(4), np.zeros((3, 3)), np.zeros(3))
    with pytest.raises(ValueError, match="must be square"):
        _native.products(X, None, None, np.ones(4), np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(ValueError, match="number of columns"):
        _native.scores(X, None, None, np.ones(4), 0.0)
    with pytest.raises(ValueError, match="one value for each row"):
        _native.combine(X, None, None, np.ones(3), 3)
    with pytest.raises(ValueError, match="contiguous"):
        _native.scores(np.asfortranarray(X), None, None, np.ones(3), 0.0)
    with pytest.raises(TypeError, match="does not read"):
        _native.scores(X.astype(np.int64), None, None, np.ones(3), 0.0)
    with pytest.raises(TypeError, match="both be int32 or both int64"):
        _native.scores(np.ones(1), np.zeros(1, np.int16), np.array([0, 1]), np.ones(3), 0.0)
    with pytest.raises(ValueError, match="don't fit"):
        _native.scores(np.ones(2), np.zeros(1, np.int64), np.array([0, 1]), np.ones(3), 0.0)
