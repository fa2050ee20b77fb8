"""ClassMoments: against exact fractions, and against itself in parts."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.base import Where
from cutscore.linear import moments
from cutscore.linear import rows as _rows
from cutscore.linear.moments import ClassMoments
from cutscore.linear.rows import ArrayRows, Block, one_thread_blas
from raising import finding

RNG = np.random.default_rng(0)


def table(n: int = 400, d: int = 5, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + y[:, None]
    return X, y, rng.random(n) + 0.1


def exact(X: Any, y: Any, weight: Any = None) -> tuple[Any, Any, Any]:
    """Mass, mean and scatter by their definitions, rounded once."""
    d = X.shape[1]
    weight = np.ones(len(y)) if weight is None else weight
    mass, mean, scatter = np.zeros(2), np.zeros((2, d)), np.zeros((2, d, d))
    for k in (0, 1):
        rows = [[Fraction(v) for v in row] for row in X[y == bool(k)].tolist()]
        w = [Fraction(v) for v in weight[y == bool(k)].tolist()]
        total = sum(w, Fraction(0))
        mass[k] = total
        if not total:
            continue
        mu = [sum(a * r[i] for a, r in zip(w, rows, strict=True)) / total for i in range(d)]
        mean[k] = mu
        for i in range(d):
            for j in range(d):
                scatter[k, i, j] = sum(
                    a * (r[i] - mu[i]) * (r[j] - mu[j]) for a, r in zip(w, rows, strict=True)
                )
    return mass, mean, scatter


def same(a: ClassMoments, b: ClassMoments, rtol: float = 1e-12) -> None:
    """Equal, differences being measured by the spread of the columns."""
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-14)
    assert a.scatter is not None
    assert b.scatter is not None
    spread = np.sqrt(b.scatter.diagonal(axis1=1, axis2=2))
    wide = np.maximum(spread[:, :, None] * spread[:, None], 1e-300)
    assert np.max(np.abs(a.scatter - b.scatter) / wide) < rtol
    between = (a.offset + (a.origin - b.origin)) - b.offset
    deviation = np.maximum(spread / np.sqrt(b.weight)[:, None], 1e-300)
    assert np.max(np.abs(between) / deviation) < rtol


@pytest.fixture(params=["native", "BLAS"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of narrow tables by the native core, and as those of wide ones."""
    if request.param == "BLAS":
        monkeypatch.setattr(_rows, "NARROW", 0)
        monkeypatch.setattr(moments, "NARROW", 0)


# -------------------------------------------------------------------------------------- the values


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("center", [0.0, 1e6, -1e8])
@pytest.mark.parametrize("weighted", [False, True])
def test_definition(center: float, weighted: bool) -> None:
    X, y, w = table(60, 3)
    X = X + center
    weight = w if weighted else None
    m = ClassMoments.from_arrays(X, y, weight)
    mass, mean, scatter = exact(X, y, weight)
    np.testing.assert_allclose(m.weight, mass, rtol=1e-15)
    np.testing.assert_allclose(m.mean, mean, rtol=3e-16, atol=1e-15)
    assert m.scatter is not None
    # Not by 1e-8: what is far from 0 loses no digits of its spread.
    np.testing.assert_allclose(m.scatter, scatter, rtol=1e-12, atol=1e-13)
    shift = [
        [float(Fraction(a) - Fraction(b)) for a, b in zip(r, m.origin, strict=True)] for r in X
    ]
    offset = exact(np.array(shift), y, weight)[1]
    np.testing.assert_allclose(m.offset, offset, rtol=1e-13, atol=1e-14)


def test_counts_are_exact() -> None:
    m = ClassMoments.from_arrays([[1, 2], [3, 4], [6, 6]], [-1, 1, 1])
    assert m.weight.tolist() == [1, 2]
    assert m.mean.tolist() == [[1, 2], [4.5, 5]]
    assert m.scatter is not None
    assert m.scatter.tolist() == [[[0, 0], [0, 0]], [[4.5, 3], [3, 2]]]
    assert m.within.tolist() == [[4.5, 3], [3, 2]]
    assert m.features == 2


@pytest.mark.usefixtures("either")
def test_float32_is_summed_up_in_float64() -> None:
    X, y, _ = table(3000, 4)
    narrow = (X + 1000).astype(np.float32)
    wide = ClassMoments.from_arrays(narrow.astype(np.float64), y)
    same(ClassMoments.from_arrays(narrow, y), wide, 1e-13)


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_memory_does_not_matter(dtype: Any, weighted: bool) -> None:
    X, y, w = table(5000, 6)
    X = X.astype(dtype)
    X[np.abs(X) < 0.8] = 0
    weight = w if weighted else None
    want = ClassMoments.from_arrays(X.astype(np.float64), y, weight)
    gaps = np.zeros((10000, 12), dtype)
    gaps[::2, ::2] = X
    backwards = X[::-1].copy()[::-1]
    swapped = np.asfortranarray(gaps.T).T[::2, ::2]
    frame = pd.DataFrame(X)
    for kind in (np.asfortranarray(X), gaps[::2, ::2], backwards, swapped, frame, X.tolist()):
        same(ClassMoments.from_arrays(kind, y, weight), want, 1e-12)
    for kind in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        same(ClassMoments.from_arrays(kind, y, weight), want, 1e-12)
        means = ClassMoments.from_arrays(kind, y, weight, scatter=False)
        np.testing.assert_allclose(means.mean, want.mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sort", [np.int64, np.int8, np.bool_, np.float16, object])
def test_other_types_of_numbers(sort: Any) -> None:
    X = RNG.integers(0, 2, (200, 3))
    y = np.arange(200) % 3 == 0
    want = ClassMoments.from_arrays(X.astype(float), y)
    same(ClassMoments.from_arrays(X.astype(sort), y), want)
    if sort is not object and sort is not np.float16:
        same(ClassMoments.from_arrays(sparse.csr_array(X.astype(sort)), y), want)


@pytest.mark.usefixtures("either")
def test_an_outlier_in_the_first_row() -> None:
    X, y, _ = table(500, 3)
    X[0] = X[int(np.argmax(y != y[0]))] = 1e9
    m = ClassMoments.from_arrays(X, y)
    _, _, scatter = exact(X, y)
    assert m.scatter is not None
    spread = np.sqrt(scatter.diagonal(axis1=1, axis2=2))
    error = np.abs(m.scatter - scatter) / (spread[:, :, None] * spread[:, None])
    assert error.max() < 1e-14


@pytest.mark.usefixtures("either")
def test_a_column_far_away_in_one_class_only() -> None:
    X, y, _ = table(500, 3)
    X[y, 1] += 1e8
    want = exact(X, y)[2]
    m = ClassMoments.from_arrays(X, y)
    assert m.scatter is not None
    np.testing.assert_allclose(m.scatter, want, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("either")
def test_columns_of_equal_values_have_exactly_no_scatter() -> None:
    n = 70_000
    y = RNG.random(n) < 0.2
    X = np.column_stack([np.full(n, 0.1), RNG.random(n), np.where(y, 0.3, 0.7), np.zeros(n)])
    for weight in (None, RNG.random(n) + 0.01):
        m = ClassMoments.from_arrays(X, y, weight)
        assert m.scatter is not None
        assert not m.scatter[:, [0, 3]].any()
        assert not m.scatter[:, :, [0, 3]].any()
        assert m.mean[:, 0].tolist() == [0.1, 0.1]
        # One value in each class: exactly so in a block, and merged from different origins nearly.
        assert m.scatter[:, 2, 2].max() < n * 1e-31
        np.testing.assert_allclose(m.mean[:, 2], [0.7, 0.3], rtol=2e-16)


# --------------------------------------------------------------------------------------- in parts


@given(
    cuts=st.lists(st.integers(0, 120), max_size=12),
    order=st.randoms(use_true_random=False),
    center=st.sampled_from([0.0, 1e6, 1e8]),
    weighted=st.booleans(),
    sort=st.booleans(),
)
def test_any_split_in_any_order(
    cuts: list[int], order: Any, center: float, weighted: bool, sort: bool
) -> None:
    X, y, w = table(120, 3)
    X = X + center
    if sort:  # most parts then have no rows of one class
        by = np.argsort(y, kind="stable")
        X, y, w = X[by], y[by], w[by]
    edges = [0, *sorted(cuts), 120]
    parts = [
        ClassMoments.of(Block(X[a:b], y[a:b], w[a:b] if weighted else None, a))
        for a, b in pairwise(edges)
    ]
    order.shuffle(parts)
    merged = sum(parts)
    assert isinstance(merged, ClassMoments)
    assert merged.scatter is not None
    np.testing.assert_array_equal(merged.scatter, merged.scatter.transpose(0, 2, 1))
    same(merged, ClassMoments.from_arrays(X, y, w if weighted else None), 1e-12)


def test_nothing_adds_nothing() -> None:
    X, y, _ = table(50, 3)
    m = ClassMoments.from_arrays(X, y)
    nothing = ClassMoments.of(Block(X[:0], y[:0], None, 0))
    assert m + nothing is m
    assert nothing + m is m
    assert not (nothing + nothing).weight.any()
    with pytest.raises(TypeError):
        _ = m + 1


@pytest.mark.usefixtures("either")
def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, w = table(60_000, 4)
    monkeypatch.setattr(_rows, "_BLOCK", 1 << 12)
    seen = []
    for k in ("1", "2", "5"):
        monkeypatch.setenv("CUTSCORE_THREADS", k)
        m = ClassMoments.of_rows(ArrayRows(X, y, w))
        seen.append((m.weight.tobytes(), m.offset.tobytes(), m.scatter.tobytes()))  # type: ignore[union-attr]
    assert len(set(seen)) == 1


@pytest.mark.usefixtures("either")
@pytest.mark.parametrize("chunk", [1, 1 << 6, 1 << 9])
def test_chunks_of_a_block(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    X, y, w = table(1003, 3)
    want = ClassMoments.from_arrays(X + 1e6, y, w)
    monkeypatch.setattr(moments, "_CHUNK", chunk)
    for kind in (X + 1e6, np.asfortranarray(X + 1e6), sparse.csr_array(X + 1e6)):
        same(ClassMoments.from_arrays(kind, y, w), want, 1e-12)


@pytest.mark.usefixtures("either")
def test_weights_are_copies() -> None:
    X, y, _ = table(80, 3)
    times = RNG.integers(0, 4, 80)
    copies = ClassMoments.from_arrays(np.repeat(X, times, 0), np.repeat(y, times))
    same(ClassMoments.from_arrays(X, y, times), copies)


def test_wide_tables() -> None:
    X, y, _ = table(300, 700)
    m = ClassMoments.from_arrays(X, y)
    for k in (0, 1):
        some = X[y == bool(k)]
        want = (some - some.mean(0)).T @ (some - some.mean(0))
        assert m.scatter is not None
        np.testing.assert_allclose(m.scatter[k], want, rtol=1e-9, atol=1e-11 * want.max())


# ----------------------------------------------------------------------------- errors, and the rest


def test_a_scatter_too_wide() -> None:
    X = sparse.csr_array((4, 50_000), dtype=np.float32)
    with finding("bad-argument", DataError, parameter="X", value=50_000) as wide:
        ClassMoments.from_arrays(X, [0, 1, 0, 1])
    assert "37.3 GiB" in wide.value.finding.hint
    m = ClassMoments.from_arrays(X, [0, 1, 0, 1], scatter=False)
    assert m.weight.tolist() == [2, 2]
    assert not m.mean.any()
    with finding("undefined", UndefinedError):
        _ = m.within


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("scatter", [False, True])
def test_not_finite(bad: float, scatter: bool) -> None:
    X, y, _ = table(50, 3)
    X[20, 1] = bad
    for kind in (X, X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X)):
        with finding("not-finite", what="features", index=1):
            ClassMoments.from_arrays(kind, y, scatter=scatter)


def test_squares_past_every_float() -> None:
    X, y, _ = table(50, 3)
    X[:, 2] *= 1e200
    with finding("beyond-floats", what="squares of column 2"):
        ClassMoments.from_arrays(X, y)
    assert np.isfinite(ClassMoments.from_arrays(X, y, scatter=False).mean).all()


@pytest.mark.parametrize(
    ("X", "y", "weight", "found"),
    [
        ([1.0, 2.0], [0, 1], None, {"code": "bad-argument", "value": "float64 of shape (2,)"}),
        ([["a"], ["b"]], [0, 1], None, {"code": "bad-argument", "parameter": "X"}),
        (np.array([["a"], [1]], object), [0, 1], None, {"code": "value-unfit", "name": "X"}),
        (np.zeros((2, 0)), [0, 1], None, {"code": "bad-argument", "parameter": "X"}),
        (
            np.zeros((2, 1), complex),
            [0, 1],
            None,
            {"code": "bad-argument", "value": "complex128 of shape (2, 1)"},
        ),
        (np.zeros((2, 1)), [0, 1, 1], None, {"code": "lengths-differ", "have": 3, "need": 2}),
        (np.zeros((3, 1)), [0, 1, 2], None, {"code": "labels-many"}),
        (
            np.zeros((2, 1)),
            [0, 1],
            [1, -1],
            {"code": "bad-weight", "where": Where(1, "weight")},
        ),
        (
            np.zeros((2, 1)),
            [0, 1],
            [np.nan, 1],
            {"code": "bad-weight", "where": Where(0, "weight")},
        ),
    ],
)
def test_refused(X: Any, y: Any, weight: Any, found: dict[str, Any]) -> None:
    with finding(**found):
        ClassMoments.from_arrays(X, y, weight)


def test_labels() -> None:
    X, y, _ = table(30, 2)
    want = ClassMoments.from_arrays(X, y)
    same(ClassMoments.from_arrays(X, np.where(y, 1, -1)), want, 1e-15)
    same(ClassMoments.from_arrays(X, np.where(y, "ham", "spam"), positive="ham"), want, 1e-15)
    same(ClassMoments.from_arrays(X, np.where(y, 7, 3), positive=7), want, 1e-15)


def test_adding_what_does_not_fit() -> None:
    a = ClassMoments.from_arrays([[1.0]], [1])
    with finding("cant-merge", same="columns", values=(1, 2)):
        _ = a + ClassMoments.from_arrays([[1.0, 2.0]], [1])
    with finding("cant-merge", same="scatter=", values=(True, False)):
        _ = a + ClassMoments.from_arrays([[1.0]], [1], scatter=False)


def test_json_and_pickle() -> None:
    X, y, w = table(40, 3)
    for scatter in (True, False):
        m = ClassMoments.from_arrays(X, y, w, scatter=scatter)
        for again in (
            ClassMoments.from_dict(json.loads(json.dumps(m.to_dict()))),
            pickle.loads(pickle.dumps(m)),
        ):
            assert again.to_dict() == m.to_dict()
    for change in (
        {"format": "other"},
        {"version": 2},
        {"offset": [[1.0]]},
        {"weight": [1, -1]},
        {"scatter": [["a"]]},
        {"origin": [np.nan, 0, 0]},
        {"origin": 3},
    ):
        name = next(iter(change))
        code = "format-unknown" if name in ("format", "version") else "field-unfit"
        with finding(code, DataError):
            ClassMoments.from_dict({**m.to_dict(), **change})
    with finding("format-unknown", DataError, format="[1]"):
        ClassMoments.from_dict([1])


def test_summaries_travel() -> None:
    # To the workers of a cluster, without what a thread keeps.
    X, y, _ = table(40, 3)
    summary = moments.BlockMoments(True)
    block = Block(X, y, None, 0)
    want = summary(block)
    assert pickle.loads(pickle.dumps(summary))(block).to_dict() == want.to_dict()


def test_repr_and_frozen() -> None:
    m = ClassMoments.from_arrays(np.zeros((3, 2)), [0, 1, 1], [1, 0.5, 2], scatter=False)
    assert repr(m) == "ClassMoments(features=2, negatives=1, positives=2.5, scatter=None)"
    with pytest.raises(ValueError, match="read-only"):
        m.mean[0, 0] = 1
    with pytest.raises(AttributeError):
        m.weight = m.weight  # type: ignore[misc]


# ---------------------------------------------------------------------------------------- the BLAS


def _blas() -> set[int]:
    return {lib["num_threads"] for lib in threadpool_info() if "numpy" in lib["filepath"]}


@pytest.fixture
def before() -> Iterator[set[int]]:
    """More threads than one, which is what conftest.py sets; any thread may change it."""
    _, libraries = _rows._blas.libraries
    usual = _rows._set(libraries, [2] * len(libraries))
    yield _blas()
    _rows._set(libraries, usual)


def test_blas_has_one_thread_in_a_reduce_and_then_as_many_as_before(before: set[int]) -> None:
    X, y, _ = table(40_000, 2)
    seen = ArrayRows(X, y).reduce(lambda _: _blas(), set.union)
    assert seen <= {1}
    assert _blas() == before


def test_fits_on_several_threads_share_one_limit(before: set[int]) -> None:
    X, y, _ = table(20_000, 4)
    with ThreadPoolExecutor(4) as pool:
        out = list(pool.map(lambda _: ClassMoments.from_arrays(X, y), range(16)))
    assert {m.scatter.tobytes() for m in out} == {out[0].scatter.tobytes()}  # type: ignore[union-attr]
    assert _blas() == before


def test_the_last_to_leave_sets_blas_back(before: set[int]) -> None:
    with ThreadPoolExecutor(1) as pool:
        first = one_thread_blas()
        pool.submit(first.__enter__).result()
        with one_thread_blas():
            pool.submit(first.__exit__, None, None, None).result()
            assert _blas() <= {1}
        assert _blas() == before
        with threadpool_limits(1, user_api="blas"), one_thread_blas():
            pass
        assert _blas() == before


@pytest.mark.parametrize("shape", [(20_000, 4), (3_000, 100)])
def test_origin_is_no_view(shape: tuple[int, int]) -> None:
    """Past one block the buffers of a thread are used again, and so may the caller's be."""
    X, y, _ = table(*shape)
    whole = ClassMoments.from_arrays(X, y)
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1][::-1]):
        m = ClassMoments.from_arrays(other, y)
        assert_allclose(m.mean, whole.mean, rtol=1e-12, atol=1e-14)
        assert m.scatter is not None
        assert_allclose(m.scatter, whole.scatter, rtol=1e-9, atol=1e-9)
    buffer, total = np.empty((shape[0] // 4, shape[1])), 0
    for k in range(0, shape[0], len(buffer)):
        buffer[:] = X[k : k + len(buffer)]
        total = total + ClassMoments.from_arrays(buffer, y[k : k + len(buffer)])
    assert_allclose(total.mean, whole.mean, rtol=1e-12, atol=1e-14)
    before = whole.mean.copy()
    X[0] += 100
    assert_array_equal(whole.origin + whole.offset, before)
