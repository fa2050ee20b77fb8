"""The binned sweep: exact at edges, certain in between."""

from __future__ import annotations

import copy
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
from cutscore.core.findings.base import Where
from raising import finding

scores = st.floats(allow_nan=False, allow_infinity=True)


@given(
    st.lists(st.tuples(st.booleans(), scores), max_size=60), st.integers(1, 12), st.integers(0, 60)
)
def test_any_split_into_batches_is_the_same_and_contains_the_exact_area(rows, bits, cut):
    y, score = [r[0] for r in rows], [r[1] for r in rows]
    whole = cs.BinnedSweep.of(y, score, bits=bits)
    split = cs.BinnedSweep.from_batches([(y[:cut], score[:cut]), (y[cut:], score[cut:])], bits=bits)
    merged = cs.BinnedSweep.of(y[cut:], score[cut:], bits=bits) + cs.BinnedSweep.of(
        y[:cut], score[:cut], bits=bits
    )
    for other in (split, merged):
        assert np.array_equal(whole.bin_pos, other.bin_pos)
        assert np.array_equal(whole.bin_neg, other.bin_neg)
        assert whole.rows == other.rows
    s = cs.sweep(y, score)
    if s.P > 0 and s.N > 0:
        twice = sum(
            2 * int(n) * int(t - p) + int(n) * int(p)
            for p, n, t in zip(s.pos, s.neg, s.tp, strict=True)
        )
        exact = Fraction(twice, 2 * s.P * s.N)
        assert Fraction(whole.auc.low) <= exact <= Fraction(whole.auc.high)
        assert whole.auc.level == 1.0


@given(
    st.lists(st.tuples(st.booleans(), scores, st.floats(0, 1e6)), max_size=60), st.integers(1, 12)
)
def test_weighted_interval_contains_the_exact_area(rows, bits):
    y, score, w = ([r[i] for r in rows] for i in range(3))
    b = cs.BinnedSweep.of(y, score, w, bits=bits)
    pos, neg = (
        [
            (Fraction(v), Fraction(x)) if np.isfinite(v) else (v, Fraction(x))
            for t, v, x in rows
            if t is label
        ]
        for label in (True, False)
    )
    pairs = sum((p * n for _, p in pos for _, n in neg), Fraction(0))
    if not pairs or not (b.P > 0 and b.N > 0):
        return
    won = sum(
        (
            p * n * (Fraction(1) if a > c else Fraction(1, 2) if a == c else Fraction(0))
            for a, p in pos
            for c, n in neg
        ),
        Fraction(0),
    )
    assert Fraction(b.auc.low) <= won / pairs <= Fraction(b.auc.high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bits", [4, 10, 16])
def test_confusion_at_every_edge_is_exact(dtype, bits):
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.3
    score = (rng.standard_normal(5000) * 10.0 ** rng.integers(-3, 3, 5000)).astype(dtype)
    s, b = cs.sweep(y, score), cs.BinnedSweep.of(y, score, bits=bits)
    assert np.all(np.diff(b.threshold) < 0)
    for k, t in enumerate(b.threshold):
        c = s.at(t)
        assert (c.tp, c.fp) == (b.tp[k], b.fp[k])
        assert b.at(t) == c
    assert b.at(1e30) == s.at(1e30)  # no score lies in that bin
    assert b.at(-1e30) == s.at(-1e30)


def test_a_threshold_inside_a_bin_is_refused_with_the_edges_around_it():
    b = cs.BinnedSweep.of([0, 1], [0.2, 0.9], bits=8)
    with finding("bad-argument", cs.DataError, value=0.2) as inside:
        b.at(0.2)
    low, high = map(float, re.findall(r"[\d.]+\d", inside.value.finding.hint))
    assert low < 0.2 < high
    with finding("bad-argument", parameter="threshold"):
        b.at(float("nan"))


@pytest.mark.parametrize("bits", [1, 8, 9, 16])
def test_infinite_scores_and_thresholds(bits):
    y, score = [1, 0, 1, 0], [np.inf, 1.0, -1.0, -np.inf]
    s, b = cs.sweep(y, score), cs.BinnedSweep.of(y, score, bits=bits)
    assert b.at(-np.inf) == s.at(-np.inf)
    if bits >= 9:  # fewer bits put infinity into one bin with the largest numbers
        assert b.at(np.inf) == s.at(np.inf)
    else:
        with finding("bad-argument", value=np.inf):
            b.at(np.inf)


def test_precision_grows_with_bits():
    rng = np.random.default_rng(1)
    y = rng.random(100_000) < 0.1
    score = 1 / (1 + np.exp(-rng.standard_normal(100_000) - y))
    widths = [cs.BinnedSweep.of(y, score, bits=b).auc.width for b in (12, 16, 20)]
    assert widths[0] > widths[1] > widths[2]
    assert widths[1] < 5e-3
    assert widths[2] < 5e-4
    assert cs.sweep(y, score).auc in cs.BinnedSweep.of(y, score).auc


def test_a_stream_is_read_once_and_a_bad_row_names_itself():
    def batches():
        yield [0, 1], [0.1, 0.2]
        yield [1, 0], [0.3, float("nan")]

    with finding("value-missing", where=Where(1, "score")):
        cs.BinnedSweep.from_batches(batches())


def test_minus_one_labels_and_named_labels():
    assert cs.BinnedSweep.of([-1, 1, 1], [1, 2, 3]).P == 2
    b = cs.BinnedSweep.from_batches([(["ok"], [1.0]), (["bad"], [2.0])], positive="bad")
    assert (b.P, b.N, b.auc.low) == (1, 1, 1.0)


def test_rules():
    with finding("bad-argument", parameter="bits", value=40):
        cs.BinnedSweep.of([0, 1], [1, 2], bits=40)
    with finding("bad-argument", parameter="batches", subject="batch 0"):
        cs.BinnedSweep.from_batches([([0, 1],)])
    with finding("bad-argument", parameter="batches", subject="batch 1"):
        cs.BinnedSweep.from_batches([([0], [1.0]), ([0], [1.0], [2.0])])
    with finding("cant-merge", values=(8, 9)):
        cs.BinnedSweep.of([0], [1.0], bits=8) + cs.BinnedSweep.of([0], [1.0], bits=9)
    with finding("one-class", cs.UndefinedError, have="negative (1 of them)"):
        _ = cs.BinnedSweep.of([0], [1.0]).auc
    with pytest.raises(cs.UndefinedError):
        _ = cs.BinnedSweep.from_batches([]).auc


def test_frozen_and_sum():
    parts = [cs.BinnedSweep.of([0, 1], [0.1 * k, 0.2 * k]) for k in range(1, 4)]
    total = sum(parts)
    assert total.rows == 6
    assert not total.bin_pos.flags.writeable
    assert repr(total).startswith("BinnedSweep of 6 rows: 3 positive, 3 negative")


def test_copies_are_frozen_and_the_callers_arrays_are_not():
    pos, neg = np.zeros(256, np.int64), np.ones(256, np.int64)
    b = cs.BinnedSweep(pos, neg, 256)
    assert pos.flags.writeable
    for one in (b, pickle.loads(pickle.dumps(b)), copy.deepcopy(b)):
        for array in (one.bin_pos, one.bin_neg, one.tp, one.fp, one.threshold):
            assert not array.flags.writeable
        assert one.rows == 256


def test_weights_that_add_up_to_too_much_are_refused():
    with finding("sum-too-large", what="weights"):
        cs.BinnedSweep.of([0, 1, 1], [0.0, 1.0, 1.0], weight=[1e308] * 3)
    half = cs.BinnedSweep.of([0, 1], [0.0, 1.0], weight=[4e307, 4e307])
    with finding("sum-too-large", what="weights"):
        half + half
