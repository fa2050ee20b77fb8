"""The sweep against the definitions: exact where counts are exact, and the same from any route."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import cutscore as cs
import oracle
from cutscore.core.checks import check_rows
from cutscore.core.findings.base import Where
from cutscore.sweeps import sweep as _sweep
from cutscore.sweeps.sweep import area
from raising import finding
from strategies import LAYOUTS, Array, Case, label_columns, layouts, rows, weights

# --------------------------------------------------------------------- the worked examples

PLAIN = ([1, 0, 1, 1, 0, 1, 0, 0], [0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33])
TIED = ([1, 0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])


def assert_same(a: cs.Sweep, b: cs.Sweep) -> None:
    for name in ("threshold", "pos", "neg"):
        x, y = getattr(a, name), getattr(b, name)
        assert x.dtype == y.dtype
        assert_array_equal(x, y, strict=True)
        # -0.0 equals 0.0, but a sweep has only one of them.
        assert not np.signbit(x[x == 0]).any()


def test_worked_example() -> None:
    s = cs.sweep(*PLAIN)
    assert_array_equal(s.threshold, PLAIN[1])
    assert_array_equal(s.tp, [1, 1, 2, 3, 3, 4, 4, 4])
    assert_array_equal(s.fp, [0, 1, 1, 1, 2, 2, 3, 4])
    assert s.auc == 0.75
    assert oracle.auc(*PLAIN) == Fraction(3, 4)


def test_worked_example_with_ties() -> None:
    s = cs.sweep(*TIED)
    assert_array_equal(s.threshold, [0.9, 0.3, 0.2, 0.1])
    assert_array_equal(s.tp, [1, 2, 3, 4])
    assert_array_equal(s.fp, [0, 2, 3, 3])
    assert s.auc == 11 / 24
    assert oracle.auc(*TIED) == Fraction(11, 24)


def test_two_distinct_scores() -> None:  # the fewest that tell classes apart
    s = cs.sweep([1, 0, 1], [0.2, 0.2, 0.7])
    assert (s.tp.tolist(), s.fp.tolist(), s.auc) == ([1, 2], [0, 1], 0.75)


# ------------------------------------------------------------------------------- against the oracle


@given(rows())
def test_masses_are_the_definition(case: Case) -> None:
    t = oracle.table(*case)
    s = cs.sweep(*case)
    assert s.threshold.dtype == np.float64
    assert s.pos.dtype == s.neg.dtype == np.int64
    assert s.threshold.tolist() == t.threshold
    assert s.pos.tolist() == t.pos
    assert s.neg.tolist() == t.neg
    assert (s.P, s.N, len(s)) == (t.P, t.N, len(t.threshold))
    assert type(s.P) is int
    p = oracle.points(t)
    assert s.tp.tolist() == [a.tp for a in p[1:]]
    assert s.fp.tolist() == [a.fp for a in p[1:]]


@given(rows(both=True))
def test_auc_is_a_fraction_rounded_once(case: Case) -> None:
    exact = oracle.auc(*case)
    s = cs.sweep(*case)
    assert s.auc == float(exact)
    assert cs.auc(s) == s.auc
    pos, neg, twice = area(check_rows(*case))
    assert Fraction(int(twice), 2 * int(pos) * int(neg)) == exact
    assert s.prevalence == float(Fraction(s.P, len(case.y)))


@given(st.data(), rows())
def test_weighted_masses_are_sums_in_the_order_of_the_rows(data: st.DataObject, case: Case) -> None:
    w = data.draw(weights(len(case.y)))
    mass: dict[float, list[float]] = {}
    for label, score, weight in zip(*(a.tolist() for a in (*case, w)), strict=True):
        if weight:
            mass.setdefault(score, [0.0, 0.0])[label] += weight
    order = sorted(mass, reverse=True)
    s = cs.sweep(*case, w)
    assert s.pos.dtype == s.neg.dtype == np.float64
    assert s.threshold.tolist() == order
    assert s.pos.tolist() == [mass[t][1] for t in order]
    assert s.neg.tolist() == [mass[t][0] for t in order]


@given(st.data(), rows(both=True))
def test_weighted_auc(data: st.DataObject, case: Case) -> None:
    w = data.draw(weights(len(case.y)))
    s = cs.sweep(*case, w)
    assume(s.P > 0 and s.N > 0)
    assert s.auc == pytest.approx(float(oracle.auc(*case, w)), rel=1e-14, abs=1e-15)
    assert 0 <= s.auc <= 1


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e150, 1e300])
def test_weighted_auc_at_any_scale(scale: float) -> None:
    """P·N overflows or vanishes in most of these."""
    assert cs.sweep([1, 0, 1, 0], [4, 3, 2, 1], np.full(4, scale)).auc == 0.75
    assert cs.sweep([1, 0], [1, 1], [scale, scale]).auc == 0.5


# -------------------------------------------------------------------------------------- invariances


@given(st.data(), rows(both=True))
def test_integer_weights_are_copies_of_rows(data: st.DataObject, case: Case) -> None:
    w = data.draw(weights(len(case.y), exact=True))
    many = w.astype(int)
    copies = cs.sweep(np.repeat(case.y, many), np.repeat(case.score, many))
    weighted = cs.sweep(*case, w)
    assert_array_equal(weighted.threshold, copies.threshold)
    assert_array_equal(weighted.pos, copies.pos)
    assert_array_equal(weighted.neg, copies.neg)
    if copies.P and copies.N:
        assert weighted.auc == copies.auc  # exact sums make an exact fraction


@given(st.data(), rows())
def test_negated_scores(data: st.DataObject, case: Case) -> None:
    assert_same(cs.sweep(*case).negated(), cs.sweep(case.y, -case.score))
    w = data.draw(weights(len(case.y), exact=True))
    s, turned = (cs.sweep(case.y, x, w, squares=True) for x in (case.score, -case.score))
    assert_same(s.negated(), turned)
    assert_array_equal(s.negated().pos2, turned.pos2)
    assert_array_equal(s.negated().neg2, turned.neg2)
    assert not np.signbit(cs.sweep([1, 0], [0.0, 1.0]).negated().threshold[0])
    small = cs.sweep(*case).compact()
    if small.merged:
        with finding("sweep-compact", cs.UndefinedError):
            small.negated()


@given(st.data(), rows())
def test_order_of_the_rows(data: st.DataObject, case: Case) -> None:
    order = data.draw(st.permutations(range(len(case.y))))
    assert_same(cs.sweep(case.y[order], case.score[order]), cs.sweep(*case))


@given(rows(both=True))
def test_swap_of_the_classes(case: Case) -> None:
    s, swapped = cs.sweep(*case), cs.sweep(*case, positive=0)
    assert_same(swapped, cs.Sweep(s.threshold, s.neg, s.pos))
    one, other = (Fraction(int(area(check_rows(y, case.score))[2])) for y in (case.y, 1 - case.y))
    assert one + other == 2 * s.P * s.N
    # The same from the other end: a score's negative ranks the other way round.
    assert cs.sweep(case.y, -case.score).auc == swapped.auc


@given(st.data(), rows(both=True))
def test_strictly_increasing_transforms(data: st.DataObject, case: Case) -> None:
    before = np.unique(case.score)
    after = data.draw(
        st.lists(
            st.floats(allow_nan=False), min_size=len(before), max_size=len(before), unique=True
        )
    )
    mapped = np.sort(after)[np.searchsorted(before, case.score)]
    s, t = cs.sweep(*case), cs.sweep(case.y, mapped)
    assert_array_equal(s.pos, t.pos)
    assert_array_equal(s.neg, t.neg)
    assert s.auc == t.auc


def test_float32_and_float64_are_the_same_scores() -> None:
    rng = np.random.default_rng(1)
    y, score = rng.integers(0, 2, 30_000), rng.standard_normal(30_000).astype(np.float32)
    assert_same(cs.sweep(y, score), cs.sweep(y, score.astype(np.float64)))


# ---------------------------------------------------------------------------------- split and merge


@given(st.data(), rows(most=60))
def test_split_and_merge(data: st.DataObject, case: Case) -> None:
    n = len(case.y)
    part = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), int)
    parts = [cs.sweep(case.y[part == k], case.score[part == k]) for k in range(5)]
    whole = cs.sweep(*case)
    assert_same(sum(parts), whole)  # type: ignore[arg-type]
    shuffled = data.draw(st.permutations(parts))
    assert_same(reduce(add, shuffled), whole)
    assert_same((parts[0] + parts[1]) + parts[2], parts[0] + (parts[1] + parts[2]))


@given(st.data(), rows(most=60))
def test_split_and_merge_with_weights(data: st.DataObject, case: Case) -> None:
    """Exactly when the sums are exact."""
    w = data.draw(weights(len(case.y), exact=True))
    cut = data.draw(st.integers(0, len(w)))
    halves = [cs.sweep(case.y[k], case.score[k], w[k]) for k in (slice(cut), slice(cut, None))]
    assert_same(halves[1] + halves[0], cs.sweep(*case, w))


def test_merge_of_counts_and_weights() -> None:
    s = cs.sweep([1, 0], [0.5, 0.5]) + cs.sweep([1], [0.5], [0.25])
    assert (s.weighted, s.pos.tolist(), s.neg.tolist()) == (True, [1.25], [1.0])


def test_merge_of_many() -> None:
    rng = np.random.default_rng(2)
    y, score = rng.integers(0, 2, 50_000), rng.standard_normal(50_000).round(2)
    blocks = np.array_split(np.arange(50_000), 97)
    assert_same(sum(cs.sweep(y[b], score[b]) for b in blocks), cs.sweep(y, score))  # type: ignore[arg-type]


def test_what_does_not_merge() -> None:
    s = cs.sweep(*PLAIN)
    assert sum([s]) is s  # type: ignore[comparison-overlap]
    for other in (1, 0.0, None, np.zeros(3), "s"):
        with pytest.raises(TypeError):
            _ = other + s  # type: ignore[operator]
        with pytest.raises(TypeError):
            _ = s + other  # type: ignore[operator]


def test_masses_that_no_number_holds() -> None:
    with finding("sum-too-large", cs.DataError, most="2**1023"):
        cs.sweep([1, 1], [1, 2], [1e308, 1e308])
    with finding("sum-too-large", cs.DataError, most="2**1023"):
        _ = cs.sweep([1], [1], [8e307]) + cs.sweep([0], [2], [8e307])
    s = cs.Sweep.from_counts([1.0], [2**52], [0])
    for _ in range(10):
        s = s + s
    assert s.P == 2**62
    with finding("sum-too-large", cs.DataError, most="2**63"):
        _ = s + s


# ------------------------------------------------------------------------------ any type and layout


@given(st.data(), rows(both=True, most=20))
def test_labels_and_layouts(data: st.DataObject, case: Case) -> None:
    y = data.draw(layouts().filter(lambda f: f is not memoryview))(data.draw(label_columns(case.y)))
    score = data.draw(layouts())(case.score)
    assert_same(cs.sweep(y, score), cs.sweep(*case))
    w = data.draw(st.sampled_from((np.float32, np.float64)).map(np.arange(len(case.y)).astype))
    layout = data.draw(layouts())
    assert_same(cs.sweep(y, score, layout(w)), cs.sweep(*case, w))


@given(st.data(), st.sampled_from(("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "g")))
def test_score_types(data: st.DataObject, kind: str) -> None:
    """Up to the largest numbers that the type tells apart, and float64 as well."""
    ends = {"?": 1, "f2": 2**11, "g": 2**53}
    high = min(ends.get(kind) or int(np.iinfo(kind).max), 2**53)
    value = st.one_of(st.integers(0, high), st.integers(max(high - 3, 0), high))
    score = np.array(data.draw(st.lists(value, max_size=30)), np.float64)
    y = np.arange(len(score)) % 2
    assert_same(cs.sweep(y, score.astype(kind)), cs.sweep(y, score))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_the_core_can_read_is_not_copied(layout: Callable[[Array], Any]) -> None:
    """And what it can't is made aligned, native and evenly spaced."""
    given = layout(np.arange(6.0))
    score = check_rows(np.zeros(6), given).score
    assert score.flags.aligned
    assert score.dtype.isnative
    assert score.strides[0] % 8 == 0
    odd = layout.__name__ in ("_unaligned", "_field", "_byte_swapped", "list")
    assert np.shares_memory(score, np.asarray(given)) != odd


@given(st.data(), rows(both=True, most=20))
def test_any_two_labels(data: st.DataObject, case: Case) -> None:
    label = st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text())
    no, yes = data.draw(st.tuples(label, label).filter(lambda pair: pair[0] != pair[1]))
    y = [yes if one else no for one in case.y]
    if isinstance(no, str) != isinstance(yes, str):
        y = np.array(y, object)  # NumPy would make text of the numbers
    elif np.asarray(y).dtype.kind == "f":
        assume(float(no) != float(yes))  # type: ignore[arg-type]
    assert_same(cs.sweep(y, case.score, positive=yes), cs.sweep(*case))


# --------------------------------------------------------------------------- many rows, any threads

N = 60_000  # several buckets and several parts


def _crowded(rng: np.random.Generator) -> Array:
    score = 0.5 + 1e-6 * rng.standard_normal(N)
    score[N // 2] = -1e30
    return score


def _equal(rng: np.random.Generator) -> Array:
    score = rng.standard_normal(N)
    score[rng.random(N) < 0.3] = 0.25
    return score


def _any_bits(rng: np.random.Generator) -> Array:
    score = rng.integers(0, 2**64, N, np.uint64).view(np.float64)
    return np.where(np.isnan(score), 0.0, score)


def _near_ties(rng: np.random.Generator) -> Array:
    score = np.full(N, 1.0)
    for _ in range(3):
        score = np.where(rng.random(N) < 0.5, np.nextafter(score, 2), score)
    return score


def _signs(rng: np.random.Generator) -> Array:
    tiny = rng.integers(-3, 4, N) * 5e-324
    return np.where(rng.random(N) < 0.5, tiny, np.copysign(0.0, tiny))


def _exponentials(rng: np.random.Generator) -> Array:
    return np.asarray(np.exp(rng.uniform(-700, 700, N)))


CROWDS: dict[str, Callable[[np.random.Generator], Array]] = {
    "crowded with an outlier": _crowded,
    "30 % equal": _equal,
    "any bits": _any_bits,
    "near ties": _near_ties,
    "denormals and zeros": _signs,
    "exponentials": _exponentials,
    "sorted": lambda rng: np.sort(rng.standard_normal(N)),
    "reversed": lambda rng: np.sort(rng.standard_normal(N))[::-1],
    "blocks": lambda rng: np.repeat(rng.standard_normal(N // 1000), 1000),
    "one outlier": lambda _: np.where(np.arange(N) == 7, 1.0, 0.0),
    "all equal": lambda _: np.zeros(N),
    "sawtooth": lambda _: np.arange(N) % 1009 / 1009.0,
    "two far ends": lambda rng: np.where(rng.random(N) < 0.5, -np.inf, np.inf),
    "all negative": lambda rng: -np.exp(rng.standard_normal(N)),
    # A sample sees none of the other scores.
    "rare spread": lambda rng: np.where(np.arange(N) % 997, 3.0, rng.standard_normal(N)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rare", [0.5, 0.01])
@pytest.mark.parametrize("crowd", CROWDS)
def test_many_rows(crowd: str, rare: float, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(len(crowd))
    with np.errstate(over="ignore", under="ignore"):
        score = CROWDS[crowd](rng).astype(dtype)
    y = (rng.random(N) < rare).astype(np.int8)
    weight = rng.exponential(size=N) * (rng.random(N) > 0.05)
    threshold, pos, neg = oracle.counted(y, score)
    twice = oracle.twice_area(pos, neg)
    seen = []
    for n in (1, 2, 7):
        monkeypatch.setenv("CUTSCORE_THREADS", str(n))
        s = cs.sweep(y, score)
        assert_array_equal(s.threshold, threshold)
        assert_array_equal(s.pos, pos)
        assert_array_equal(s.neg, neg)
        assert s.auc == float(Fraction(twice, 2 * s.P * s.N))  # type: ignore[arg-type]
        assert area(check_rows(y, score)) == (s.P, s.N, twice)
        # Weights: the bits are the same, whatever the threads.
        w = cs.sweep(y, score, weight)
        seen.append((w.threshold.tobytes(), w.pos.tobytes(), w.neg.tobytes(), w.auc))
        seen[-1] += area(check_rows(y, score, weight))
    assert seen[0] == seen[1] == seen[2]
    p, q, twice_weighted = seen[0][-3:]
    assert twice_weighted / (2 * p * q) == pytest.approx(seen[0][3], rel=1e-12)
    # Row by row, the masses are those of NumPy, which adds in the order of the rows too.
    kept = weight > 0
    at = np.searchsorted(-w.threshold, -score[kept].astype(np.float64))
    assert_array_equal(w.pos, np.bincount(at, weight[kept] * (y[kept] == 1), len(w)))
    assert_array_equal(w.neg, np.bincount(at, weight[kept] * (y[kept] == 0), len(w)))


@pytest.mark.slow
def test_more_rows_than_float32_counts() -> None:
    """2^25 rows: a float32 that counts by ones stops at 2^24."""
    n = 2**25
    y = np.zeros(n, np.uint8)
    y[:: 2**3] = 1
    score = np.zeros(n, np.float32)
    score[2**24 :] = 1
    s = cs.sweep(y, score)
    assert s.threshold.tolist() == [1.0, 0.0]
    assert s.pos.tolist() == [2**21, 2**21]
    assert s.neg.tolist() == [7 * 2**21, 7 * 2**21]
    assert s.auc == 0.5
    assert area(check_rows(y, score)) == (2**22, 7 * 2**22, 7 * 2**44)


def test_python_threads() -> None:
    """The GIL is released while rows are read: calls at the same time share nothing."""
    rng = np.random.default_rng(3)
    y, score, w = rng.integers(0, 2, N), rng.standard_normal(N).round(3), rng.exponential(size=N)
    few = rng.random(N) < 0.01
    whole, weighted = cs.sweep(y, score), cs.sweep(y, score, w)
    areas = area(check_rows(y, score)), area(check_rows(few, score, w))
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            (
                pool.submit(cs.sweep, y, score),
                pool.submit(cs.sweep, y, score, w),
                pool.submit(area, check_rows(y, score)),
                pool.submit(area, check_rows(few, score, w)),
            )
            for _ in range(24)
        ]
        for a, b, c, d in jobs:
            assert_same(a.result(), whole)
            assert_same(b.result(), weighted)
            assert (c.result(), d.result()) == areas


@pytest.mark.parametrize("asked", ["0", "-1", "two", "1.5", "", " 2", "²", "9" * 30])
def test_nonsense_threads(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", asked)
    with finding("bad-argument", parameter="CUTSCORE_THREADS"):
        cs.sweep(*PLAIN)


# ---------------------------------------------------------------------------------- at(), compact()


@given(st.data(), rows(both=True))
def test_at_decides_row_by_row(data: st.DataObject, case: Case) -> None:
    between = st.floats(allow_nan=False)
    t = data.draw(st.one_of(st.sampled_from(case.score.tolist()), between))
    tp, fp, fn, tn = oracle.confusion(*case, t)
    assert cs.sweep(*case).at(t) == cs.Confusion(tp=tp, fp=fp, fn=fn, tn=tn)


def test_at_the_ends() -> None:
    s = cs.sweep([1, 0, 1], [np.inf, 0.0, -np.inf])
    assert s.at(np.inf) == cs.Confusion(tp=1, fp=0, fn=1, tn=1)
    assert s.at(-0.0) == s.at(0.0) == cs.Confusion(tp=1, fp=1, fn=1, tn=0)
    assert s.at(-np.inf) == cs.Confusion(tp=2, fp=1, fn=0, tn=0)
    assert cs.sweep([], []).at(0) == cs.Confusion(tp=0, fp=0, fn=0, tn=0)
    with finding("bad-argument", parameter="threshold"):
        s.at(np.nan)
    c = cs.sweep([1], [0.0], [0.5]).at(1)
    assert (c.tp, type(c.tp), c.fn) == (0.0, float, 0.5)


@given(rows(both=True))
def test_compact(case: Case) -> None:
    s = cs.sweep(*case)
    small = s.compact()
    assert len(small) <= 2 * min(s.P, s.N) + 2
    assert small.auc == s.auc
    assert set(small.threshold) <= set(s.threshold)
    assert (small.P, small.N) == (s.P, s.N)
    for t in small.threshold:
        assert small.at(t) == s.at(t)
    assert_same(small.compact(), small)
    # Every vertex of the staircase is still there: dropped points lie on a straight side.
    roc, kept = list(zip(s.fp, s.tp, strict=True)), set(zip(small.fp, small.tp, strict=True))
    for before, here, after in zip([(0, 0), *roc], roc, roc[1:], strict=False):
        if here not in kept:
            assert before[0] == here[0] == after[0] or before[1] == here[1] == after[1]


def test_compact_of_nothing_and_of_one_class() -> None:
    assert len(cs.sweep([], []).compact()) == 0
    one = cs.sweep([1, 1, 1], [3, 2, 1]).compact()
    assert (one.threshold.tolist(), one.pos.tolist(), one.neg.tolist()) == ([1.0], [3], [0])


# ------------------------------------------------------------------------------------ from_counts()


@given(st.data(), rows())
def test_from_counts(data: st.DataObject, case: Case) -> None:
    """Every row for itself, in any order, makes the same sweep as the rows."""
    order = data.draw(st.permutations(range(len(case.y))))
    y, score = case.y[order], case.score[order]
    assert_same(cs.Sweep.from_counts(score, y, 1 - y), cs.sweep(*case))
    assert_same(cs.Sweep.from_counts(score, y * 0.5, 0.5 - y * 0.5), _halved(cs.sweep(*case)))


def _halved(s: cs.Sweep) -> cs.Sweep:
    if not len(s):  # nothing is weighted, nor counted: it stays a count
        return s
    return cs.Sweep(s.threshold, s.pos / 2, s.neg / 2)


def test_from_counts_of_large_counts() -> None:
    big = 2**52 - 1
    s = cs.Sweep.from_counts([0.1, 0.1, 0.9], [big, 1, 0], np.array([0, 0, 2**51], np.uint64))
    assert (s.pos.tolist(), s.neg.tolist()) == ([0, 2**52], [2**51, 0])
    assert s.auc == 0


@pytest.mark.parametrize(
    ("args", "found"),
    [
        (([1], [2**62], [2**62]), {"code": "sum-too-large", "most": "2**53"}),
        (([1, 1], [2**62, 2**62], [0, 0]), {"code": "sum-too-large", "most": "2**53"}),
        (([1], np.array([2**63], np.uint64), [0]), {"code": "sum-too-large", "most": "2**53"}),
        (([1, 2], [1, -1], [1, 1]), {"code": "bad-weight", "where": Where(1, "pos")}),
        (([1, 2], [1, 1], [1, np.nan]), {"code": "bad-weight", "where": Where(1, "neg")}),
        (([1, 2], [1, 1], [np.inf, 1]), {"code": "bad-weight", "where": Where(0, "neg")}),
        (([1, 2], [1e308, 1e308], [0, 0]), {"code": "sum-too-large", "most": "2**1023"}),
        (([1, 2], [1], [1, 1]), {"code": "lengths-differ", "name": "pos", "have": 1, "need": 2}),
        (([1, np.nan], [1, 1], [1, 1]), {"code": "value-missing", "where": Where(1, "threshold")}),
        (([1, 2], ["a", "b"], [1, 1]), {"code": "value-unfit", "name": "pos", "value": "a"}),
        (([1, 2], [1, None], [1, 1]), {"code": "value-missing", "where": Where(1, "pos")}),
        (([[1], [2]], [1, 1], [1, 1]), {"code": "bad-argument", "parameter": "threshold"}),
    ],
)
def test_from_counts_refuses(args: Any, found: dict[str, Any]) -> None:
    with finding(**found):
        cs.Sweep.from_counts(*args)


# ---------------------------------------------------------------------------- frozen, copied, shown


@pytest.mark.parametrize("weight", [None, np.arange(8.0)])
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies(weight: Any, copied: Callable[[cs.Sweep], cs.Sweep]) -> None:
    s = cs.sweep(*PLAIN, weight)
    before = s.auc
    t = copied(s)
    assert_same(s, t)
    assert t.auc == before
    for a in (t.threshold, t.pos, t.neg, t.tp, t.fp):
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1


def test_frozen() -> None:
    s = cs.sweep(*PLAIN)
    with pytest.raises(FrozenInstanceError):
        s.pos = s.neg  # type: ignore[misc]
    mine = np.array([1.0]), np.array([1]), np.array([2])
    own = cs.Sweep(*mine)
    with pytest.raises(ValueError, match="read-only"):
        own.pos[0] = 3
    assert all(a.flags.writeable for a in mine)  # the caller's arrays stay the caller's


def test_arguments_are_left_alone() -> None:
    y, score, w = np.array(PLAIN[0]), np.array(PLAIN[1]), np.ones(8)
    before = [a.copy() for a in (y, score, w)]
    cs.sweep(y, score, w)
    for a, b in zip((y, score, w), before, strict=True):
        assert_array_equal(a, b)
        assert a.flags.writeable


def test_repr() -> None:
    assert repr(cs.sweep(*TIED)) == (
        "Sweep of 7 rows: 4 positive (57.1 %), 3 negative, 4 distinct scores from 0.1 to 0.9, "
        "AUC 0.458333"
    )
    assert repr(cs.sweep([1, 0], [1, 1], [0.5, 1])) == (
        "Sweep of weight 1.5: 0.5 positive (33.3 %), 1 negative, 1 distinct score from 1 to 1, "
        "AUC 0.5"
    )
    assert repr(cs.sweep([0], [np.inf])) == (
        "Sweep of 1 row: 0 positive (0 %), 1 negative, 1 distinct score from inf to inf, "
        "one class only, no AUC"
    )
    assert repr(cs.sweep([], [])) == "Sweep of no rows"


def test_html() -> None:
    page = cs.sweep(*TIED)._repr_html_()
    assert "<svg" in page
    assert "4 (57.1 %)" in page
    assert "0.458333" in page
    # (0, 0), (0, 1/4), (2/3, 1/2), (1, 3/4), (1, 1) on 120 pixels, y downwards.
    assert "0.0,120.0 0.0,90.0 80.0,60.0 120.0,30.0 120.0,0.0" in page
    for one_class in (cs.sweep([], []), cs.sweep([1], [1])):
        assert "<svg" not in one_class._repr_html_()
    rng = np.random.default_rng(4)
    large = cs.sweep(rng.integers(0, 2, N), rng.standard_normal(N))._repr_html_()
    assert len(large) < 10_000
    assert "0.0,120.0 " in large  # thinned, but from end
    assert " 120.0,0.0'" in large  # to end


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_forked_while_others_sweep_goes_on():
    """No lock of ours may be held at the fork: the child would wait for it for ever."""
    code = """
import os, signal, threading, time, warnings
import numpy as np, cutscore as cs
warnings.simplefilter("ignore")
y, score = np.arange(300_000) % 3 == 0, np.random.default_rng(0).random(300_000)
cs.sweep(y, score).auc  # Python's own lock on imports is held while modules load
stop = threading.Event()
def busy():
    while not stop.is_set():
        cs.sweep(y, score).auc
threads = [threading.Thread(target=busy) for _ in range(2)]
[t.start() for t in threads]
failed = 0
for _ in range(12):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        cs.sweep(y, score).auc
        os._exit(0)
    failed += os.waitpid(child, 0)[1] != 0
stop.set()
[t.join() for t in threads]
print(failed)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "0\n"


@pytest.mark.parametrize("threshold", [None, "0.5", np.nan, 10**400, [0.1], 1j])
def test_a_threshold_that_is_none_is_refused(threshold):
    for s in (cs.sweep([0, 1], [0.1, 0.2]), cs.BinnedSweep.of([0, 1], [0.1, 0.2])):
        with finding("bad-argument", parameter="threshold"):
            s.at(threshold)


def test_labels_and_scores_the_other_way_round() -> None:
    rng = np.random.default_rng(0)
    with finding("labels-many", like_scores=True):
        cs.sweep(rng.normal(size=200), rng.integers(2, size=200))
    with finding("labels-many", like_scores=False):
        cs.sweep(np.arange(200) % 5, rng.normal(size=200))


@given(rows(both=True))
def test_cuts_of_some_scores(case: Case) -> None:
    s = cs.sweep(*case)
    wanted = [int(np.count_nonzero(s.threshold >= x)) for x in s.threshold]
    assert s.cuts(s.threshold).tolist() == wanted
    tp, fp = s.flagged(np.arange(len(s) + 1)[::-1])
    assert tp.tolist() == [0, *s.tp.tolist()][::-1]
    assert fp.tolist() == [0, *s.fp.tolist()][::-1]


@pytest.mark.parametrize("m", [1, 255, 256, 257, 512, 513, 1025, 5_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sweep_in_parts(m: int, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(m)
    y, score = rng.random(2 * m) < 0.3, rng.integers(0, m, 2 * m).astype(float)
    y[:2] = [True, False]
    w = rng.random(2 * m) if weighted else None
    whole = cs.sweep(y, score, w, squares=weighted)
    monkeypatch.setattr(_sweep, "_PART", 512)
    s = cs.sweep(y, score, w, squares=weighted)
    assert [at.stop for at in s.parts()] == [*range(512, len(s), 512), len(s)]
    # To the last bit, whatever the order of weights: sums are made one by one.
    assert (s.P, s.N) == (whole.P, whole.N)
    joined = [
        np.concatenate(each) for each in zip(*((t, f) for _, t, f in s.running()), strict=True)
    ]
    assert joined[0].tolist() == s.tp.tolist()
    assert joined[1].tolist() == s.fp.tolist()
    assert s.blocks.cut.tolist() == [*range(0, len(s), 256), len(s)]
    assert s.blocks.tp.tolist() == np.append(0, s.tp)[s.blocks.cut].tolist()
    assert s.blocks.fp.tolist() == np.append(0, s.fp)[s.blocks.cut].tolist()
    assert s.blocks.first.tolist() == s.threshold[::256].tolist()
    # The core adds them up while it sorts. Those of any other sweep are added up later.
    later = cs.Sweep(s.threshold, s.pos, s.neg).blocks
    assert (later.tp.tolist(), later.fp.tolist()) == (s.blocks.tp.tolist(), s.blocks.fp.tolist())
    assert later.first.tolist() == s.blocks.first.tolist()
    for cut in (rng.integers(0, len(s) + 1, 2), rng.integers(0, len(s) + 1, 3000), [0, len(s)]):
        tp, fp = s.flagged(np.asarray(cut))
        assert tp.tolist() == np.append(0, s.tp)[cut].tolist()
        assert fp.tolist() == np.append(0, s.fp)[cut].tolist()
    at = np.concatenate((s.threshold, s.threshold + 0.5, [-1.0, np.inf, -np.inf]))
    assert s.cuts(at).tolist() == [int(np.count_nonzero(s.threshold >= x)) for x in at]
    starts = np.union1d(0, rng.integers(0, len(s), 20))
    assert s.sums(s.pos, starts) == pytest.approx(np.add.reduceat(s.pos, starts), rel=1e-13)
    exact = (lambda x: pytest.approx(x, rel=1e-13)) if weighted else (lambda x: x)
    assert s.auc == exact(whole.auc)
    assert cs.auc_interval(s) == exact(cs.auc_interval(whole))
    assert cs.average_precision(s) == pytest.approx(cs.average_precision(whole), rel=1e-13)
    monkeypatch.undo()
    assert cs.hull(whole).cut.tolist() == cs.hull(s).cut.tolist()
