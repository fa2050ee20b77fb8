"""The native core by itself: every route to an area agrees, and a fault names the first bad row."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import oracle
from cutscore.core import _native
from strategies import Array, Case, rows

# Where the kernels change their way: no buckets / buckets, one part / several, sort / rank.
SIZES = (1, 2, 7, 1023, 1024, 1025, 4095, 4096, 4097, 16383, 16384, 16385, 20_001, 32_768, 70_000)


def _data(n: int, share: float, dtype: type, decimals: int | None = None) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    score = rng.standard_normal(n)
    if decimals is not None:
        score = score.round(decimals)
    y = np.zeros(n, np.uint8)
    y[rng.permutation(n)[: int(share * n)]] = 1
    return y, score.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_areas_of_all_routes(n: int, dtype: type) -> None:
    # 1/8 is the largest share of the rarer class that is ranked; 7/8 has few negatives.
    for share in (0.0, 0.003, 0.12, 0.125, 0.13, 0.5, 0.875, 0.99, 1.0):
        for decimals in (None, 1):
            y, score = _data(n, share, dtype, decimals)
            threshold, pos, neg = oracle.counted(y, score)
            twice = oracle.twice_area(pos, neg)
            assert _native.area(score, y, 0, 1, 2) == (pos.sum(), neg.sum(), twice)
            assert _native.twice_area(pos.copy(), neg.copy()) == twice
            swept = _native.sweep(score, y, 0, 1, 2)
            for a, b in zip(swept, (threshold, pos, neg), strict=True):
                assert_array_equal(a, b)
            # Weights of 1 are exact too.
            ones = np.ones(n)
            assert _native.weighted_area(score, y, 0, 1, ones, 2) == (pos.sum(), neg.sum(), twice)
            for a, b in zip(_native.weighted_sweep(score, y, 0, 1, ones, 2), swept, strict=True):
                assert_array_equal(a, b)


@pytest.mark.parametrize("n", [5000, 70_000])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.995])
def test_weighted_areas(n: int, share: float) -> None:
    y, score = _data(n, share, np.float64, 2)
    w = np.random.default_rng(1).exponential(size=n)
    w[::7] = 0
    runs = {_native.weighted_area(score, y, 0, 1, w, k) for k in (1, 2, 7)}
    assert len(runs) == 1
    t = oracle.table(y, score, w)
    area = sum(
        (n * (p.tp + q.tp) for n, p, q in _steps(t)),
        Fraction(0),
    )
    pos, neg, twice = runs.pop()
    assert pos == pytest.approx(float(t.P), rel=1e-13)
    assert neg == pytest.approx(float(t.N), rel=1e-13)
    assert twice == pytest.approx(float(area), rel=1e-12)


def _steps(t: oracle.Table) -> Any:
    p = oracle.points(t)
    return zip(t.neg, p, p[1:], strict=False)


def test_counts_past_64_bits() -> None:
    pos, neg = np.array([2**62, 0, 5]), np.array([0, 2**62, 7])
    assert _native.twice_area(pos, neg) == oracle.twice_area(pos, neg) > 2**124


@given(rows(most=30), rows(most=30))
def test_merge(a: Case, b: Case) -> None:
    one, two = (_native.sweep(c.score, c.y, 0, 1, 1) for c in (a, b))
    both = oracle.table(np.append(a.y, b.y), np.append(a.score, b.score))
    for merged in (_native.merge(*one, *two), _native.merge(*two, *one)):
        assert [m.tolist() for m in merged] == [both.threshold, both.pos, both.neg]
        assert merged[1].dtype == merged[2].dtype == np.int64


# ------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("n", [3, 5000, 70_000])
@pytest.mark.parametrize("share", [0.01, 0.5])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_first_fault_is_named(n: int, share: float, threads: int) -> None:
    y, score = _data(n, share, np.float64)
    w = np.ones(n)
    first, later = n // 3, n - 1

    def faults(y: Array, score: Array, w: Array) -> set[str]:
        seen = set()
        args: tuple[Any, ...]
        for kernel, args in (
            (_native.weighted_area, (w,)),
            (_native.weighted_sweep, (w,)),
            (_native.area, ()),
            (_native.sweep, ()),
        ):
            with pytest.raises(_native.RowFault) as fault:
                kernel(score, y, 0, 1, *args, threads)  # type: ignore[operator]
            seen.add(str(fault.value))
        return seen

    bad = score.copy()
    bad[[first, later]] = np.nan, -np.nan
    assert faults(y, bad, w) == {f"score:{first}"}
    odd = y.copy()
    odd[[first, later]] = 2, 255
    assert faults(odd, score, w) == {f"label:{first}"}
    assert faults(odd, bad, w) == {f"label:{first}"}  # a label goes before a score
    for value in (-1.0, np.nan, np.inf, -np.inf, -5e-324):
        heavy = w.copy()
        heavy[[first, later]] = value
        for kernel in (_native.weighted_area, _native.weighted_sweep):
            with pytest.raises(_native.RowFault, match=f"^weight:{first}$"):
                kernel(score, y, 0, 1, heavy, threads)


NANS = """
import numpy as np
from cutscore.core import _native
for n in (10, 5000, 40_000):
    for bits, width in ((0x7FF8 << 48, 64), (0x7FF0 << 48 | 1, 64), (0xFFF8 << 48, 64),
                        (2**63 - 1, 64), (2**64 - 1, 64), (0x7FC0 << 16, 32), (2**32 - 1, 32)):
        for where in (slice(n - 1, n), slice(None)):
            for rare in (100, 2):
                score = np.random.default_rng(n).standard_normal(n).astype(f"f{width // 8}")
                score.view(f"u{width // 8}")[where] = bits
                y = (np.arange(n) % rare == 0).astype("u1")
                for kernel in (_native.area, _native.sweep):
                    try:
                        kernel(score, y, 0, 1, 2)
                    except _native.RowFault as fault:
                        assert str(fault) == f"score:{where.start or 0}", (fault, n, hex(bits))
                    else:
                        raise AssertionError((kernel, n, hex(bits)))
"""


def test_every_nan_is_seen() -> None:
    """Quiet, signalling, negative, all ones; in a process of its own, which might not survive."""
    done = subprocess.run([sys.executable, "-c", NANS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_arguments_that_no_kernel_reads() -> None:
    y, score = np.zeros(3, np.uint8), np.zeros(3)
    with pytest.raises(ValueError, match="differ in length"):
        _native.sweep(score, y[:2], 0, 1, 1)
    with pytest.raises(ValueError, match="differ in length"):
        _native.weighted_sweep(score, y, 0, 1, np.ones(2), 1)
    with pytest.raises(TypeError, match="score has a type"):
        _native.sweep(y, y, 0, 1, 1)
    with pytest.raises(TypeError, match="label has a type"):
        _native.sweep(score, score.astype(complex), 0, 1, 1)
    with pytest.raises(TypeError):
        _native.sweep(np.zeros((3, 1)), y, 0, 1, 1)
    with pytest.raises(ValueError, match="differ in length"):
        _native.twice_area(np.zeros(2, np.int64), np.zeros(3, np.int64))


@given(st.integers(1, 4), st.booleans())
def test_zero_and_negative_strides(step: int, backwards: bool) -> None:
    y, score = _data(6000, 0.05, np.float32)
    stride = -step if backwards else step
    expected = _native.area(score[::stride].copy(), y[::stride].copy(), 0, 1, 1)
    assert _native.area(score[::stride], y[::stride], 0, 1, 1) == expected
    one = np.broadcast_to(np.float32(0.5), 6000)
    assert _native.sweep(one, y, 0, 1, 1)[1].tolist() == [y.sum()]
    assert _native.area(one, y, 0, 1, 1)[2] == int(y.sum()) * int((1 - y).sum())


# Flushing denormals is a state of the processor's thread; a comparison of floats would merge them.
@pytest.mark.slow  # PyTorch is imported for it
def test_denormals_when_the_process_flushes_them() -> None:
    torch = pytest.importorskip("torch")
    y = np.array([1, 0, 1, 0] * 5000, np.uint8)
    score = np.array([2, 1, -1, 0] * 5000) * 5e-324
    bits = score.view(np.uint64).copy()
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor can't")
    try:
        swept = _native.sweep(score, y, 0, 1, 2)
        small = _native.area(score[:4], y[:4], 0, 1, 1)
    finally:
        torch.set_flush_denormal(False)
    assert_array_equal(swept[0].view(np.uint64), bits[[0, 1, 3, 2]])
    assert swept[1].tolist() == [5000, 0, 0, 5000]
    assert swept[2].tolist() == [0, 5000, 5000, 0]
    assert small == (2, 2, 4)


@pytest.mark.parametrize("n", [10, 5000, 40_000])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_finite_scores_on_request(n: int, value: float) -> None:
    for share in (0.01, 0.5):
        for dtype in (np.float32, np.float64):
            y, score = _data(n, share, dtype)
            assert _native.area(score, y, 0, 1, 2, finite=True) == _native.area(score, y, 0, 1, 2)
            score[n - 3] = value
            for kernel in (_native.area, _native.sweep):
                with pytest.raises(_native.RowFault, match=f"^score:{n - 3}$"):
                    kernel(score, y, 0, 1, 2, finite=True)


# ------------------------------------------------------------------------------------------ look-up


@pytest.mark.parametrize("m", [0, 1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_look_up_is_searchsorted(m: int, threads: int) -> None:
    rng = np.random.default_rng(m)
    table = np.sort(rng.integers(-20, 20, m) / 4)
    for n in (0, 1, 15, 16, 17, 70_000):
        x = rng.integers(-24, 24, n) / 4
        x[: n // 9] = np.inf
        for level, side in ((False, "left"), (True, "right")):
            found = _native.look_up(table, x, level, threads)
            assert found.tolist() == np.searchsorted(table, x, side).tolist()  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distinct", [1, 1000, 4000])
def test_few_scores_are_counted(dtype: type, distinct: int) -> None:
    """Of 131,072 rows or more few scores are counted; one too many, and all rows are sorted."""
    n, rng = 140_000, np.random.default_rng(distinct)
    values = np.concatenate(([0.0], rng.standard_normal(distinct - 1))).astype(dtype)
    y, score = rng.integers(0, 2, n).astype(np.uint8), values[rng.integers(0, distinct, n)]
    score[rng.integers(0, n, 50)] = -0.0  # one score with 0.0
    score[:3] = np.inf, -np.inf, np.finfo(dtype).tiny
    many = score.copy()
    many[-6000:] += np.linspace(1, 2, 6000, dtype=dtype)
    for scores in (score, many):
        threshold, pos, neg = oracle.counted(y, scores)
        for threads in (1, 3):
            twice = oracle.twice_area(pos, neg)
            assert _native.area(scores, y, 0, 1, threads) == (pos.sum(), neg.sum(), twice)
            swept = _native.sweep(scores, y, 0, 1, threads)
            for a, b in zip(swept, (threshold, pos, neg), strict=True):
                assert_array_equal(a, b)


@pytest.mark.parametrize(("n", "weighted"), [(5_000_000, False), (2_500_000, True)])
def test_more_rows_than_caches_hold(n: int, weighted: bool) -> None:
    """Buckets of more than 32 MiB are written a line at a time."""
    rng = np.random.default_rng(0)
    score, y = rng.permutation(n).astype(np.float64), rng.integers(0, 2, n).astype(np.uint8)
    w = rng.integers(0, 4, n).astype(np.float64)
    order = score.argsort()[::-1]
    if weighted:
        found = _native.weighted_sweep(score, y, 0, 1, w, 2)
        order = order[w[order] > 0]
    else:
        found = _native.sweep(score, y, 0, 1, 2)
        w[:] = 1
    one = w[order] * y[order]
    for a, b in zip(found, (score[order], one, w[order] - one), strict=True):
        assert_array_equal(a, b)


def test_faults_among_few_scores() -> None:
    y, score = np.zeros(140_000, np.uint8), np.ones(140_000)
    y[::2] = 1
    for column, row, value, fault in (
        (score, 139_000, np.nan, "score"),
        (y, 138_000, 7, "label"),
    ):
        column[row] = value
        with pytest.raises(_native.RowFault, match=f"{fault}:{row}"):
            _native.area(score, y, 0, 1, 2)


def placements(ones: Any, score: Any, w: Any) -> Any:
    """Twice the weight of the other class that each row beats, by binary search."""
    out = np.empty(len(w))
    for own, sign in ((ones, 1), (~ones, -1)):
        order = np.argsort(sign * score[~own], kind="stable")
        others = sign * score[~own][order]
        below = np.concatenate(([0.0], np.cumsum(w[~own][order])))
        x = sign * score[own]
        out[own] = sum(below[np.searchsorted(others, x, side)] for side in ("left", "right"))
    return out


@pytest.mark.parametrize("n", [0, 1, 5, 1025, 20_001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_placements(n: int, dtype: type) -> None:
    y, score = _data(n, 0.3, dtype, 1)
    weighed, w = np.empty(n), np.arange(n) % 3 + 0.5
    _native.weighted_placements(score, y, 0, 1, w, 2, weighed)
    assert_array_equal(weighed, placements(y == 1, score, w))


@pytest.mark.parametrize("n", [0, 1, 5, 1025, 20_001])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_products_of_placements(n: int, k: int) -> None:
    """Sums of integers, the same of any number of threads, and of 64 and 128 bits."""
    y, first = _data(n, 0.3, np.float32, 1)
    scores = [first, np.round(first[::-1].astype(np.float64), 1), -first][:k]
    ones = y == 1
    lines = [[int(v) for v in placements(ones, score, np.ones(n))] for score in scores]
    expected = []
    for own in (ones, ~ones):
        of = [[v for v, mine in zip(line, own, strict=True) if mine] for line in lines]
        for i, a in enumerate(of):
            expected.append(sum(a))
            expected += [sum(x * z for x, z in zip(a, b, strict=True)) for b in of[: i + 1]]
    for threads in (1, 2, 3):
        for wide in (False, True):
            sums = _native.placement_sums(scores, y, 0, 1, threads, wide)
            assert sums == (ones.sum(), expected)


def test_products_need_good_rows() -> None:
    """The fault of the first score that has one, however many threads look."""
    y, score = np.arange(100) % 2, np.ones(100)
    bad, worse = score.copy(), score.copy()
    bad[70] = worse[3] = np.nan
    for scores, fault in (([score, bad, worse], "score:70"), ([bad], "score:70")):
        with pytest.raises(_native.RowFault, match=fault):
            _native.placement_sums(scores, y, 0, 1, 2, False)
    with pytest.raises(_native.RowFault, match="label:1"):
        _native.placement_sums([score, bad], y, 0, 2, 2, False)
    with pytest.raises(ValueError, match="no scores"):
        _native.placement_sums([], y, 0, 1, 2, False)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("limit", [1, 1 << 30])
def test_streams_of_few_scores(single: bool, compact: bool, limit: int, tmp_path: Any) -> None:
    """Counted as they come; all are dealt after all if one worker finds too many."""
    rng, dtype = np.random.default_rng(0), np.float32 if single else np.float64
    few = rng.integers(0, 500, 30_000).astype(dtype)
    for scores in (few, np.concatenate((few, rng.permutation(20_000).astype(dtype) + 0.5))):
        y = rng.integers(0, 2, len(scores)).astype(np.uint8)
        with (tmp_path / "rows").open("w+b") as file, (tmp_path / "sweep").open("w+b") as out:
            stream = _native.stream(single, 2, limit, 2048, file.fileno())
            for worker, rows in ((0, slice(9000)), (1, slice(9000, None))):
                if not stream.add(worker, scores[rows], y[rows], None):
                    assert len(scores) > len(few)
                    stream.begin(few[:4000].astype(np.float64), 16)
                    assert stream.add(worker, scores[rows], y[rows], None)
            assert (stream.spilled > 0) == (limit == 1 and len(scores) > len(few))
            threshold, pos, neg, top = stream.finish(2, compact, 10**6, out.fileno())
        expected = oracle.counted(y, scores)
        if not compact or not len(top):
            for a, b in zip((threshold, pos, neg), expected, strict=True):
                assert_array_equal(a, b)
        assert (pos.sum(), neg.sum()) == (expected[1].sum(), expected[2].sum())
        assert oracle.twice_area(pos, neg) == oracle.twice_area(*expected[1:])
        bad = np.array([1, 2, np.nan], dtype)
        stream = _native.stream(single, 1, limit, 2048, -1)
        with pytest.raises(_native.RowFault, match="score:2"):
            stream.add(0, bad, np.zeros(3, np.uint8), None)
