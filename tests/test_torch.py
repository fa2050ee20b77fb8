"""cutscore.torch: both routes against the native core, and a device where there is no GPU.

``Device`` tensors say that they are on ``lazy:0`` and compute with CPU tensors inside: NumPy can't
read them, they don't mix with CPU tensors, and every copy to the host is written down. So the
public functions take the device's route, for real, on any machine.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import cutscore as cs
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.base import Shown, Where
from raising import finding

torch = pytest.importorskip("torch")

from torch.utils._pytree import tree_map  # noqa: E402

import cutscore.torch as ct  # noqa: E402

INF, NAN = float("inf"), float("nan")


class Device(torch.Tensor):
    """A tensor on a device that is not there (of a type that torch does not look for)."""

    copied: list[int] = []  # noqa: RUF012 - how many elements each copy to the host had
    float64 = True

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(
            cls, held.shape, dtype=held.dtype, device="lazy:0", strides=held.stride()
        )

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        def lowered(x):
            if isinstance(x, torch.Tensor) and not isinstance(x, Device):
                assert x.ndim == 0, f"{op} mixes devices"
            return x.held if isinstance(x, Device) else x

        kwargs = dict(kwargs or {})
        to_host = op is torch.ops.aten._local_scalar_dense.default
        if kwargs.get("device") is not None:
            to_host = kwargs["device"].type == "cpu"
            kwargs["device"] = torch.device("cpu")
        out = op(*tree_map(lowered, args), **tree_map(lowered, kwargs))
        if to_host:
            cls.copied.append(args[0].numel())
            return out
        if isinstance(out, torch.Tensor) and out.dtype is torch.float64 and not cls.float64:
            raise TypeError("this device has no float64")
        return tree_map(lambda x: Device(x) if isinstance(x, torch.Tensor) else x, out)


PLACES = {
    "cpu": torch.as_tensor,
    "device": lambda x: Device(torch.as_tensor(x)),
    "cuda": lambda x: torch.as_tensor(x).cuda(),
}
# What a GPU run needs: see docs/torch.md. `pytest -m cuda` runs these alone.
ON_CUDA = [
    pytest.mark.cuda,
    pytest.mark.skipif(
        not torch.cuda.is_available(),
        reason="torch.cuda.is_available() is False: no GPU, no driver or a build without CUDA",
    ),
]


@pytest.fixture(params=["cpu", "device", pytest.param("cuda", marks=ON_CUDA)])
def put(request):
    """Puts a tensor on the CPU or on a device: the same tests for both routes."""
    return PLACES[request.param]


@pytest.fixture
def copied():
    Device.copied = []
    return Device.copied


def same(a, b):
    assert a.weighted == b.weighted
    assert a.threshold.dtype == b.threshold.dtype == np.float64
    assert a.threshold.tolist() == b.threshold.tolist()
    if a.weighted:
        np.testing.assert_allclose(a.pos, b.pos, rtol=1e-13, atol=0)
        np.testing.assert_allclose(a.neg, b.neg, rtol=1e-13, atol=0)
    else:
        assert a.pos.dtype == b.pos.dtype == np.int64
        assert a.pos.tolist() == b.pos.tolist()
        assert a.neg.tolist() == b.neg.tolist()


# --- The worked examples of the source document, and the faults of its function -------------------


def test_worked_example(put):
    y = put([1, 0, 1, 1, 0, 1, 0, 0])
    s = put([0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33])
    found = ct.sweep(y, s)
    assert (found.tp / 4).tolist() == [0.25, 0.25, 0.5, 0.75, 0.75, 1, 1, 1]
    assert (found.fp / 4).tolist() == [0, 0.25, 0.25, 0.25, 0.5, 0.5, 0.75, 1]
    assert ct.roc_auc_score(y, s) == found.auc == 0.75


def test_worked_example_with_ties(put):
    y, s = put([1.0, 0, 0, 1, 1, 0, 1]), put([0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
    found = ct.sweep(y, s)
    assert found.tp.tolist() == [1, 2, 3, 4]
    assert found.fp.tolist() == [0, 2, 3, 3]
    assert ct.roc_auc_score(y, s) == 11 / 24


def test_arguments_stay_as_they_are(put):
    y, s, w = put([1, 0, 1]), put([0.5, 0.5, 0.75]), put([1.0, 2.0, 3.0])
    before = [str(getattr(t, "held", t)) for t in (y, s, w)]
    ct.roc_auc_score(y, s)
    ct.sweep(y, s, w)
    ct.AUROC().update(y, s, w)
    assert [str(getattr(t, "held", t)) for t in (y, s, w)] == before
    # The function of the document squeezes them in place.
    column, row = put(torch.tensor([[0.5], [0.5], [0.75]])), put(torch.tensor([[1, 0, 1]]))
    assert ct.roc_auc_score(row, column) == 0.75
    ct.sweep(row, column, column)
    ct.AUROC().update(row, column, column)
    assert (column.shape, row.shape) == ((3, 1), (1, 3))


@pytest.mark.parametrize("n", [2, 3, 64])
def test_matrices_of_one_column_or_one_row(put, n):
    """The outputs of a network, (B, 1), against scikit-learn's areas of flat arrays."""
    roc_auc_score = pytest.importorskip("sklearn.metrics").roc_auc_score
    rng = np.random.default_rng(n)
    y, s, w = np.arange(n) % 2, np.round(rng.normal(size=n), 1), rng.uniform(0.5, 2, n)
    shapes = [(n,), (n, 1), (1, n)]
    for of_y in shapes:
        for of_s in shapes:
            label, score, weight = (
                put(a.reshape(to)) for a, to in ((y, of_y), (s, of_s), (w, of_s))
            )
            assert ct.roc_auc_score(label, score) == pytest.approx(roc_auc_score(y, s), rel=1e-15)
            weighted = roc_auc_score(y, s, sample_weight=w)
            assert ct.roc_auc_score(label, score, weight) == pytest.approx(weighted, rel=1e-13)
            same(ct.sweep(label, score), cs.sweep(y, s))
            metric = ct.AUROC()
            metric.update(label, score)
            same(metric.sweep(), cs.sweep(y, s))


def test_a_matrix_of_one_number_is_one_row(put):
    found = ct.sweep(put([[1]]), put([[0.5]]))
    assert (found.threshold.tolist(), found.pos.tolist(), found.neg.tolist()) == ([0.5], [1], [0])
    for shape in ((0, 1), (1, 0)):
        assert len(ct.sweep(put(torch.empty(shape)), put(torch.empty(shape)))) == 0


def test_exactly_two_distinct_scores(put):
    assert ct.roc_auc_score(put([1, 0, 1, 0]), put([0.9, 0.1, 0.9, 0.9])) == 0.75
    assert ct.roc_auc_score(put([1, 0]), put([0.5, 0.5])) == 0.5


def test_more_rows_than_float32_counts(put):
    n = 2**24 + 11  # odd numbers of this size are no float32
    y, s = torch.ones(n, dtype=torch.uint8), torch.zeros(n)
    y[-3:] = torch.tensor([0, 1, 0], dtype=torch.uint8)
    s[-3:] = torch.tensor([1.0, 1.0, -1.0])
    y, s = put(y), put(s)
    found = ct.sweep(y, s)
    assert found.tp.tolist() == [1, n - 2, n - 2]
    assert found.fp.tolist() == [1, 1, 2]
    # Against the negative at 1 one positive ties; all of them beat the negative at -1.
    assert ct.roc_auc_score(y, s) == (2 * (n - 2) + 1) / (4 * (n - 2))


@pytest.mark.parametrize(("label", "name"), [(0, "negative"), (1, "positive")])
def test_one_class_is_an_error(put, label, name):
    y, s = put([label] * 3), put([0.1, 0.2, 0.3])
    for weight in (None, put([1.0, 1.0, 1.0])):
        with finding("one-class", UndefinedError) as error:
            ct.roc_auc_score(y, s, weight)
        assert error.value.finding.have.startswith(name)
    assert ct.sweep(y, s).pos.tolist() == [label] * 3


def test_other_shape_is_the_right_error(put):
    with finding("lengths-differ", name="label", have=2, need=3):
        ct.roc_auc_score(put([1, 0]), put([0.1, 0.2, 0.3]))
    with finding("lengths-differ", name="weight", have=1, need=2):
        ct.sweep(put([1, 0]), put([0.1, 0.2]), put([1.0]))
    with finding("bad-argument", parameter="score"):
        ct.sweep(put([1]), put(0.5))
    for shape in ((2, 2), (4, 1, 1), (1, 1, 4)):
        with finding("bad-argument", value=Shown(f"shape {shape}")):
            ct.roc_auc_score(put([1, 0, 1, 0]), put(torch.arange(4.0).reshape(shape)))


# --- The device's route against the native core ---------------------------------------------------


def test_thousands_of_sets_of_rows():
    rng = np.random.default_rng(3)
    for case in range(3000):
        n = int(rng.integers(1, 40))
        y = rng.integers(0, 2, n)
        s = rng.normal(size=n).round(int(rng.integers(0, 4))).astype(rng.choice(["f4", "f8"]))
        s[rng.random(n) < 0.1] = rng.choice([INF, -INF, 0.0, -0.0, 5e-324, 1e-45])
        w = rng.integers(0, 4, n) * 0.1 if case % 3 == 0 else None
        expected = cs.sweep(y, s, w)
        columns = ct._tensors(*(c if c is None else torch.from_numpy(c) for c in (y, s, w)))
        rows = ct._read(*columns, None)
        found = ct._device_sweep(rows)
        same(found, expected)
        assert not np.signbit(found.threshold[found.threshold == 0]).any()
        if not (expected.P and expected.N):
            with pytest.raises(UndefinedError):
                ct._device_auc(rows)
        elif w is None:
            assert ct._device_auc(rows) == expected.auc
        else:
            assert ct._device_auc(rows) == pytest.approx(expected.auc, rel=1e-13)


scores = st.one_of(
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(allow_nan=False)),
    hnp.arrays(np.float32, st.integers(1, 30), elements=st.floats(allow_nan=False, width=32)),
    hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(-(2**53), 2**53)),
    hnp.arrays(np.int8, st.integers(1, 30)),
)


@settings(max_examples=300, deadline=None)
@given(st.data(), scores, st.sampled_from([(0, 1), (-1, 1), (7, 2)]), st.booleans())
def test_any_rows(data, s, classes, weighted):
    positive = classes[1]
    y = np.array(data.draw(st.lists(st.sampled_from(classes), min_size=len(s), max_size=len(s))))
    w = None
    if weighted:
        w = data.draw(hnp.arrays(np.float64, len(s), elements=st.floats(0, 1e6)))
    asked = None if positive == 1 else positive
    expected = cs.sweep(y, s, w, asked)
    on_device = [None if c is None else Device(torch.from_numpy(c)) for c in (y, s, w)]
    same(ct.sweep(*on_device, positive=asked), expected)
    if expected.P > 0 and expected.N > 0:
        found = ct.roc_auc_score(*on_device, positive=asked)
        assert found == (pytest.approx(expected.auc, rel=1e-12) if weighted else expected.auc)


def test_brute_force(put):
    rng = np.random.default_rng(4)
    y, s = rng.integers(0, 2, 60), rng.integers(0, 9, 60)
    pairs = [Fraction(int(a > b) * 2 + int(a == b), 2) for a in s[y == 1] for b in s[y == 0]]
    assert ct.roc_auc_score(put(y), put(s)) == float(sum(pairs) / len(pairs))


TYPES = (
    "float16 bfloat16 float8_e4m3fn float8_e5m2 float32 float64 bool "
    "uint8 uint16 uint32 uint64 int8 int16 int32 int64"
)


@pytest.mark.parametrize("dtype", TYPES.split())
def test_types(put, dtype):
    if not hasattr(torch, dtype):
        pytest.skip("this torch does not have it")

    def column(*values):
        return put(torch.tensor(values).to(getattr(torch, dtype)))

    s = torch.tensor([0.0, 1, 1, 3, 0, 2]).to(getattr(torch, dtype))
    y = put([0, 1, 0, 1, 1, 0])
    expected = cs.sweep([0, 1, 0, 1, 1, 0], s.double())
    same(ct.sweep(y, put(s)), expected)
    same(ct.sweep(column(0, 1, 0, 1, 1, 0), put(s)), expected)
    if dtype != "bool":
        same(ct.sweep(column(5, 2, 5, 2, 2, 5), put(s), positive=2), expected)
    expected = cs.sweep([0, 1, 0, 1, 1, 0], s.double(), [1, 1, 0, 1, 1, 1])
    same(ct.sweep(y, put(s), column(1, 1, 0, 1, 1, 1)), expected)


def test_small_floats_keep_their_distances(put):
    s = torch.tensor([1.0, 1.0078125, 256, 258], dtype=torch.bfloat16)
    assert ct.sweep(put([1, 0, 1, 0]), put(s)).threshold.tolist() == [258, 256, 1.0078125, 1]


@pytest.mark.parametrize("value", [2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_long_integers_are_exact_or_refused(put, value):
    y, s = torch.tensor([1, 0, 0]), torch.tensor([value, 5, 0])
    if abs(value) <= 2**53:
        same(ct.sweep(put(y), put(s)), cs.sweep(y, s))
    else:
        with finding("number-inexact", DataError):
            ct.sweep(put(y), put(s))


def test_uint64_does_not_wrap_around(put):
    s = torch.tensor([2**64 - 1, 3, 4], dtype=torch.uint64)
    with finding("number-inexact", DataError):
        ct.sweep(put([1, 0, 1]), put(s))
    y = torch.tensor([2**64 - 1, 1], dtype=torch.uint64)
    with finding("positive-unstated", DataError):
        ct.sweep(put(y), put([0.0, 1.0]))
    y = torch.tensor([255, 1], dtype=torch.uint8)  # torch finds 255 == -1
    with finding("positive-unstated", DataError):
        ct.sweep(put(y), put([0.0, 1.0]))
    y = torch.tensor([2**64 - 1, 1], dtype=torch.uint64)
    metric = ct.AUROC(positive=1)
    metric.update(put(y), put([0.0, 1.0]))
    assert metric.compute() == 1.0


def test_labels_that_float32_would_merge(put):
    y = put([2**24, 2**24 + 1, 2**24])
    assert ct.sweep(y, put([1.0, 2.0, 3.0]), positive=2.0**24).pos.tolist() == [1, 0, 1]
    assert ct.sweep(y, put([1.0, 2.0, 3.0]), positive=2**24 + 1).pos.tolist() == [0, 1, 0]


def test_strides_gradients_and_signs(put):
    y = put([1, 0, 1, 0])
    grid = torch.arange(12.0).reshape(4, 3).requires_grad_()
    assert ct.roc_auc_score(y, put(grid[:, 1])) == 0.25
    assert ct.roc_auc_score(y, put(grid[:, 1].expand(4).flip(0))) == 0.75
    assert ct.roc_auc_score(y, put(torch.tensor(2.0).expand(4))) == 0.5
    if put is torch.as_tensor:
        negated = torch.tensor([1j, 2j, 3j, 4j]).conj().imag  # NumPy can't read this one
        assert ct.roc_auc_score(y, negated) == 0.75


def test_no_rows(put):
    empty = torch.empty(0)
    assert len(ct.sweep(put(empty), put(empty))) == 0
    assert ct.sweep(put(empty), put(empty), put(empty)).weighted
    with finding("too-few", UndefinedError):
        ct.roc_auc_score(put(empty), put(empty))


BAD = {
    "NaN score": ([0, 1, 1], [0.5, 1.0, NAN], None, None),
    "NaN label": ([0, NAN, 1], [0.5, 1.0, 2.0], None, None),
    "unknown labels": ([1, 2, 1], [0.5, 1.0, 2.0], None, None),
    "unknown single label": ([3, 3, 3], [0.5, 1.0, 2.0], None, None),
    "-1, 0 and 1": ([0, 1, -1], [0.5, 1.0, 2.0], None, None),
    "absent positive": ([0, 1, 1], [0.5, 1.0, 2.0], None, 7),
    "NaN positive": ([0, 0, 0], [0.5, 1.0, 2.0], None, NAN),
    "text positive": ([0, 0, 0], [0.5, 1.0, 2.0], None, "yes"),
    "negative weight": ([0, 1, 1], [0.5, 1.0, 2.0], [1.0, -1.0, 0.0], None),
    "NaN weight": ([0, 1, 1], [0.5, 1.0, 2.0], [1.0, 1.0, NAN], None),
    "infinite weight": ([0, 1, 1], [0.5, 1.0, 2.0], [1.0, INF, 0.0], None),
    "huge weights": ([0, 1, 1], [0.5, 1.0, 2.0], [1e308, 1e308, 1e308], None),
    "complex scores": ([0, 1, 1], [0.5j, 1.0, 2.0], None, None),
    "complex labels": ([0j, 1, 1], [0.5, 1.0, 2.0], None, None),
    "two dimensions": ([[0, 1], [1, 0]], [[0.5, 1.0], [2.0, 3.0]], None, None),
    "other length": ([0, 1], [0.5, 1.0, 2.0], None, None),
}


@pytest.mark.parametrize("columns", BAD.values(), ids=BAD)
def test_errors_are_those_of_the_native_core(put, columns):
    *columns, positive = columns
    host = [None if c is None else torch.tensor(c, dtype=_wide(c)) for c in columns]
    with pytest.raises(DataError) as expected:
        cs.sweep(*host, positive=positive)
    placed = [None if c is None else put(c) for c in host]
    for function in (ct.sweep, ct.roc_auc_score):
        with pytest.raises(DataError) as error:
            function(*placed, positive=positive)
        assert str(error.value) == str(expected.value)
    metric = ct.AUROC(positive)
    with pytest.raises(DataError) as error:
        metric.update(*placed)
    assert str(error.value) == str(expected.value)
    assert repr(metric) == "AUROC of 0 rows"


def _wide(values):
    return {"f": torch.float64, "c": torch.complex128}.get(np.asarray(values).dtype.kind)


def test_columns_on_several_devices():
    cpu, device = torch.tensor([1.0, 0.0]), Device(torch.tensor([1.0, 0.0]))
    with finding("bad-argument", parameter="label", value="one on cpu"):
        ct.roc_auc_score(cpu, device)
    with finding("bad-argument", parameter="weight", value="one on lazy:0"):
        ct.sweep(cpu, cpu, device)


def test_a_positive_label_past_every_float(put):
    with finding("positive-unknown", seen=(1.0, 2.0)):
        ct.sweep(put([1.0, 2.0]), put([0.5, 0.25]), positive=10**5000)


def test_what_is_no_tensor(monkeypatch):
    s = torch.tensor([0.5, 0.25])
    with finding("bad-argument", parameter="label", rule="be a tensor"):
        ct.sweep([1, 0], s)
    with finding("bad-argument", parameter="score", rule="be a dense tensor"):
        ct.sweep(torch.tensor([1, 0]), s.to_sparse())
    with finding("bad-argument", parameter="score", rule="be in memory that torch can share"):
        ct.sweep(torch.tensor([1, 0]), np.array([0.5, 0.25], ">f8"))
    # Arrays of other libraries: by DLPack, without a copy.
    assert ct.roc_auc_score(np.array([1, 0]), np.array([0.5, 0.25])) == 1.0

    class Foreign:
        def __dlpack__(self):
            raise AssertionError

    monkeypatch.setattr(ct, "from_dlpack", lambda _: Device(s))
    assert ct.roc_auc_score(Device(torch.tensor([1, 0])), Foreign()) == 1.0


# --- What is copied where -------------------------------------------------------------------------


def test_only_the_result_leaves_the_device(copied):
    n = 5000
    y, s = Device(torch.arange(n) % 3 == 0), Device(torch.arange(n) % 1000 / 8)
    w = Device(torch.ones(n))
    ct.roc_auc_score(y, s)
    assert max(copied) <= 5
    assert len(copied) == 2  # that all rows are well; the sums
    copied.clear()
    ct.roc_auc_score(y, s, w)
    assert max(copied) <= 6
    assert len(copied) == 2
    copied.clear()
    ct.sweep(y, s)
    assert sorted(copied) == [4, 1000, 1000, 1000]
    copied.clear()
    ct.AUROC().update(y, s)
    assert sorted(copied) == [4, 1000, 1000, 1000]
    copied.clear()
    ct.AUROC().update(y, s, w)
    assert max(copied) <= 6
    assert len(copied) == 1


def test_a_device_without_float64(monkeypatch):
    monkeypatch.setattr(Device, "float64", False)
    y, s = Device(torch.tensor([1, 0, 1])), Device(torch.tensor([3, 2, 1]))
    assert ct.roc_auc_score(y, s) == 0.5
    assert ct.sweep(y, Device(torch.tensor([0.5, 0.25, -0.5]))).auc == 0.5
    with finding("bad-argument", parameter="weight", value="one on lazy:0"):
        ct.sweep(y, s, s)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_cpu_tensors_are_not_copied(monkeypatch, dtype):
    seen = []
    monkeypatch.setattr(ct, "area", lambda rows: seen.append(rows) or (1, 1, 2))
    y, grid = torch.tensor([1, 0, 1]), torch.rand(3, 2, dtype=dtype).requires_grad_()
    ct.roc_auc_score(y, grid[:, 1])
    assert np.shares_memory(seen[0].score, grid.detach().numpy())
    assert np.shares_memory(seen[0].label, y.numpy())
    monkeypatch.setattr(ct, "_host_sweep", lambda *columns: seen.append(columns))
    ct.sweep(y, grid[:, 1], grid[:, 0])
    pointers = [c.data_ptr() for c in seen[1][:3]]
    assert pointers == [y.data_ptr(), grid[:, 1].data_ptr(), grid.data_ptr()]


def test_areas_beyond_64_bits():
    pos = torch.tensor([2**36, 5, 2**37 - 11, 0, 1])
    neg = torch.tensor([3, 2**37, 2**36 + 7, 2**36, 0])
    expected = cs.Sweep(np.arange(5.0)[::-1], pos.numpy(), neg.numpy())
    assert 2 * expected.P * expected.N > 2**70
    assert ct._area(pos, neg) == expected.auc
    above, twice = 0, 0
    for p, n in zip(pos.tolist(), neg.tolist(), strict=True):
        twice += n * (2 * above + p)
        above += p
    assert ct._area(pos, neg) == twice / (2 * expected.P * expected.N)


def test_weights_of_any_size(put):
    y, s = put([1, 0, 1, 0]), put([4.0, 3.0, 2.0, 1.0])
    for scale in (1e-300, 1e-200, 1.0, 1e200, 1e307):
        w = put(torch.tensor([1, 1, 1, 1], dtype=torch.float64) * scale)
        assert ct.roc_auc_score(y, s, w) == pytest.approx(0.75, rel=1e-15)
    # A small weight after a large one is there in full.
    w = put(torch.tensor([1e20, 1.0, 1.0, 1.0], dtype=torch.float64))
    assert ct.sweep(y, s, w).pos.tolist() == [1e20, 0, 1, 0]


def test_deterministic_weights(monkeypatch, put):
    """CUDA has no deterministic cumsum of floats, and refuses if one is asked for."""
    y, s, w = put([1, 0, 1, 0]), put([4.0, 3.0, 2.0, 1.0]), put([1.0, 2.0, 3.0, 4.0])
    expected = ct.roc_auc_score(y, s, w)
    try:
        torch.use_deterministic_algorithms(True)
        monkeypatch.setattr(torch.Tensor, "cumsum", None)
        assert ct.roc_auc_score(y, s, w) == pytest.approx(expected, rel=1e-15)
    finally:
        torch.use_deterministic_algorithms(False)


# --- The accumulator ------------------------------------------------------------------------------


def batches(data, *columns):
    n = len(columns[0])
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=8)))
    return [[c[a:b] for c in columns] for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


@settings(max_examples=150, deadline=None)
@given(st.data(), scores, st.booleans(), st.booleans())
def test_the_same_whatever_the_batches(data, s, weighted, on_device):
    n = len(s)
    put = Device if on_device else torch.as_tensor
    y = torch.tensor(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    columns = [y, torch.from_numpy(s)]
    if weighted:
        columns.append(torch.tensor(data.draw(st.lists(st.floats(0, 1e3), min_size=n, max_size=n))))
    whole = ct.sweep(*map(put, columns))
    metrics = [ct.AUROC(), ct.AUROC()]
    for batch in batches(data, *columns):
        metrics[0].update(*map(put, batch))
    parts = batches(data, *columns)
    for batch in parts:
        other = ct.AUROC()
        other.update(*map(put, batch))
        metrics[1].merge(other)
    for metric in metrics:
        found = metric.sweep()
        assert found.threshold.tolist() == whole.threshold.tolist()
        assert found.pos.tolist() == whole.pos.tolist()  # to the last bit, weighted or not
        assert found.neg.tolist() == whole.neg.tolist()
        assert found.weighted == (weighted and n > 0)
        if whole.P > 0 and whole.N > 0:
            assert metric.compute() == whole.auc
        else:
            with pytest.raises(UndefinedError):
                metric.compute()


def test_many_small_batches():
    rng = np.random.default_rng(5)
    y, s = torch.from_numpy(rng.integers(0, 2, 20_000)), torch.from_numpy(rng.normal(size=20_000))
    metric = ct.AUROC()
    for a in range(0, 20_000, 10):
        metric.update(y[a : a + 10], s[a : a + 10])
    sizes = [len(part) for part in metric._counts]
    assert all(a > 2 * b for a, b in pairwise(sizes))
    assert metric.compute() == ct.roc_auc_score(y, s)
    assert metric.compute() == metric.compute()


def test_memory_grows_with_the_distinct_scores():
    metric = ct.AUROC()
    for seed in range(200):
        s = torch.rand(1000, generator=torch.Generator().manual_seed(seed)).round(decimals=2)
        metric.update(s > 0.5, s)
    assert sum(map(len, metric._counts)) < 210
    assert repr(metric) == "AUROC of 200,000 rows"


def test_never_a_sigmoid(put):
    logits = torch.tensor([40.0, 50.0, -1.0, 60.0])  # all but one are 1.0 after a float32 sigmoid
    metric = ct.AUROC()
    metric.update(put([0, 1, 0, 1]), put(logits[:4]))
    assert metric.compute() == 1.0
    assert metric.sweep().threshold.tolist() == [60, 50, 40, -1]


def test_one_class_empty_and_refused_batches(put):
    metric = ct.AUROC()
    with finding("too-few", UndefinedError):
        metric.compute()
    metric.update(put(torch.empty(0)), put(torch.empty(0)))
    metric.update(put(torch.empty(0)), put(torch.empty(0)), put(torch.empty(0)))
    metric.update(put([0, 0]), put([0.5, 0.25]))
    with finding("one-class", UndefinedError):
        metric.compute()
    with finding("value-missing", where=Where(1, "score")):
        metric.update(put([1, 0]), put([0.5, NAN]))
    metric.update(put([1]), put([0.5]))
    assert metric.compute() == 0.75
    metric.reset()
    assert repr(metric) == "AUROC of 0 rows"


def test_one_label_against_the_rest(put):
    y, score = [0, 1, 2, 2, 255], [0.5, 1.0, 2.0, 0.75, 3.0]
    for dtype in (torch.uint8, torch.int64, torch.float32, torch.float16):
        s = ct.sweep(put(y).to(dtype), put(score), positive=2)
        same(s, cs.sweep([v == 2 for v in y], score))
    assert ct.sweep(put([0, 255, 3]).to(torch.uint8), put(score[:3]), positive=255).P == 1


def test_labels_mean_the_same_in_all_batches(put):
    metric = ct.AUROC()
    metric.update(put([1]), put([0.5]))
    metric.update(put([-1]), put([0.5]))
    with finding("labels-many", seen=(1.0, -1.0, 0.0)):
        metric.update(put([0]), put([0.5]))
    other = ct.AUROC()
    other.update(put([0, 1]), put([0.5, 0.5]))
    with finding("labels-many", value=0.0):
        metric.merge(other)
    three = ct.AUROC(positive=2)
    three.update(put([1]), put([0.5]))
    three.update(put([3, 2]), put([0.5, 0.7]))  # one against the rest
    assert (three.sweep().P, three.sweep().N, three.compute()) == (1, 2, 1.0)
    with finding("cant-merge", values=(1.0, 2.0)):
        metric.merge(three)
    assert repr(metric) == "AUROC of 2 rows"


def test_caller_may_reuse_its_tensors():
    y, s, w = torch.tensor([1, 0]), torch.tensor([2.0, 1.0]), torch.ones(2, dtype=torch.float64)
    for weight in (None, w):
        metric = ct.AUROC()
        metric.update(y, s, weight)
        s.fill_(0)
        w.fill_(0)
        assert metric.compute() == 1.0
        s.copy_(torch.tensor([2.0, 1.0]))
        w.fill_(1)


def test_batches_of_several_types_and_kinds(put):
    metric = ct.AUROC()
    metric.update(put([1, 0]), put([2**53 - 1, 3]), put([1, 1]))
    metric.update(put([0]), put(torch.tensor([2.0**53 - 2], dtype=torch.float64)), put([1.0]))
    metric.update(put([1]), put(torch.tensor([3.5], dtype=torch.bfloat16)), put([2.0]))
    metric.update(put([True]), put([2.0]))  # no weights: each is 1
    expected = cs.sweep(
        [1, 0, 0, 1, 1], np.array([2**53 - 1, 3, 2**53 - 2, 3.5, 2.0]), [1, 1, 1, 2, 1]
    )
    same(metric.sweep(), expected)
    # Long integers and float32 have a common type, which is not torch's.
    metric = ct.AUROC()
    metric.update(put([1]), put([2**24 + 1]), put([1.0]))
    metric.update(put([0]), put([2.0**24]), put([1.0]))
    assert metric.compute() == 1.0
    # On the CPU first, then where `put` puts them.
    metric = ct.AUROC()
    metric.update(torch.tensor([0]), torch.tensor([9.0]), torch.tensor([0.5]))
    metric.update(put([0, 1]), put([1.0, 2.0]), put([2.0, 3.0]))
    same(metric.sweep(), cs.sweep([0, 0, 1], [9.0, 1, 2], [0.5, 2, 3]))


def test_merge_with_itself_counts_twice():
    metric = ct.AUROC()
    y, s = torch.tensor([1, 0, 1, 0]), torch.tensor([4.0, 3.0, 2.0, 1.0])
    metric.update(y, s)
    metric.update(y[:1], s[:1])
    assert len(metric._counts) == 2
    metric.update(y[1:2], s[1:2], torch.tensor([1.0]))
    metric.merge(metric)
    same(metric.sweep(), cs.sweep(y, s, [4.0, 4.0, 2.0, 2.0]))


@pytest.mark.parametrize("weighted", [False, True, None])
def test_state(put, weighted, tmp_path):
    metric = ct.AUROC(positive=2)
    if weighted is not None:
        w = (put([0.1, 0.2, 0.3]),) if weighted else ()
        metric.update(put([2, 1, 2]), put([3.0, 2.0, 1.0]), *w)
        metric.update(put([2, 1, 1]), put([0.3, 0.2, 5.0]))
    state = {k: getattr(v, "held", v) for k, v in metric.state_dict().items()}
    assert all(isinstance(v, torch.Tensor) for v in state.values())
    torch.save(state, tmp_path / "state.pt")
    again = ct.AUROC(positive=2)
    again.update(put([2, 7]), put([1.0, 1.0]))  # is replaced
    again.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    same(again.sweep(), metric.sweep())
    assert repr(again) == repr(metric)
    if weighted is not None:
        assert again.compute() == metric.compute()
        again.update(put([7]), put([1.0]))
        assert again.sweep().N == metric.sweep().N + 1


def test_inference_and_another_default_device():
    with torch.inference_mode():
        metric = ct.AUROC()
        metric.update(torch.tensor([1, 0]), torch.tensor([2.0, 1.0]), torch.ones(2))
        metric.update(torch.tensor([1, 0]), torch.tensor([2.0, 1.0]))
    assert metric.compute() == 1.0
    with torch.device("meta"):  # where nothing can be computed
        assert metric.compute() == 1.0
        state, none = metric.state_dict(), ct.AUROC().state_dict()
    assert {v.device.type for v in (*state.values(), *none.values())} == {"cpu"}


def test_bad_states_change_nothing():
    metric = ct.AUROC()
    metric.update(torch.tensor([1, 0]), torch.tensor([2.0, 1.0]))
    state = metric.state_dict()
    with finding("field-unfit", field="pos"):
        metric.load_state_dict({k: v for k, v in state.items() if k not in ("pos", "neg")})
    with finding("field-unfit", field="threshold"):
        metric.load_state_dict({})
    with finding("bad-weight", where=Where(0, "pos")):
        metric.load_state_dict(state | {"pos": -state["pos"]})
    with finding("field-unfit", field="classes[1]", value=1.0):
        ct.AUROC(positive=3).load_state_dict(state)
    with finding("field-unfit", field="state", value=None):
        metric.load_state_dict(None)
    for classes, value in (
        (None, None),
        (torch.ones(1), "torch.float32 of shape (1,)"),
        (torch.ones(()), "torch.float32 of shape ()"),
        (torch.ones(2) * 1j, "torch.complex64 of shape (2,)"),
    ):
        with finding("field-unfit", field="classes", value=value):
            metric.load_state_dict(state | {"classes": classes})
    with finding("field-unfit", field="pos"):
        metric.load_state_dict(state | {"pos": [1, 2]})
    with finding("bad-argument", parameter="other", value=5):
        metric.merge(5)
    assert metric.compute() == 1.0


def test_pickle():
    metric = ct.AUROC()
    metric.update(torch.tensor([1, 0]), torch.tensor([2.0, 1.0]))
    assert pickle.loads(pickle.dumps(metric)).compute() == 1.0


def test_two_processes(tmp_path):
    """A real process group: every rank has half of the rows and gets the AUC of all."""
    script = tmp_path / "rank.py"
    script.write_text(
        textwrap.dedent("""
        import sys
        import torch
        import torch.distributed as dist
        from cutscore.torch import AUROC

        rank, meeting = int(sys.argv[1]), sys.argv[2]
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
        y = torch.tensor([1, 0, 0, 1, 1, 0, 1])
        s = torch.tensor([0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
        metric = AUROC()
        metric.update(y[rank::2], s[rank::2])

        gathered = [None] * dist.get_world_size()
        dist.all_gather_object(gathered, metric)
        total = AUROC()
        for part in gathered:
            total.merge(part)
        assert total.compute() == 11 / 24, total.compute()
        dist.destroy_process_group()
        """)
    )
    command = [sys.executable, str(script)]
    ranks = [subprocess.Popen([*command, str(r), str(tmp_path / "meeting")]) for r in range(2)]
    assert [rank.wait(60) for rank in ranks] == [0, 0]
