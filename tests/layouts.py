"""Every public function that takes arrays, and every way in which an array can lie in memory.

A case of the registry is called with its arguments laid out in some way, which are overwritten
before the result is looked at: it has to be that of plain arrays, to rounding, must share no memory
with its arguments, and must leave them as they were. ``tests/test_layouts.py`` runs a selection
that takes seconds, ``validation/layouts.py`` all of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

import cutscore as cs
from cutscore import estimators, linear, metrics
from cutscore.core.errors import UndefinedError
from cutscore.core.frozen import derived
from cutscore.detector import Encoding
from cutscore.linear import moments
from cutscore.linear import rows as _rows
from cutscore.linear.streams import StreamRows

try:
    import torch
except ImportError:  # the tests with the oldest versions of everything leave it out
    torch = None  # type: ignore[assignment]

Array = Any

# ---------------------------------------------------------------------------------------- layouts


class Arguments:
    """Arrays in one layout, and the memory behind them, to be overwritten."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.memory: list[Array] = []
        self.before: list[Array] = []

    def lay(self, a: Array) -> Any:
        """An array in the layout. What the layout has no form for stays as it is, but a copy."""
        make = self.layout.matrix if a.ndim == 2 else self.layout.column
        laid = (make or _c)(a)
        value, *memory = laid if isinstance(laid, tuple) else (laid, laid)
        memory = [m for m in memory if isinstance(m, np.ndarray) and m.flags.writeable]
        self.memory += memory
        self.before += [m.copy() for m in memory]
        return value

    def check_untouched(self) -> None:
        """The function may read its arguments, not write to them."""
        for now, before in zip(self.memory, self.before, strict=True):
            np.testing.assert_array_equal(now, before, "an argument was written to")

    def check_apart(self, result: Any) -> None:
        """No array of a result may lie in the memory of an argument."""
        for path, value in leaves(result):
            if isinstance(value, np.ndarray) and value.size:
                for m in self.memory:
                    assert not np.shares_memory(value, m), f"{path} is a view of an argument"

    def overwrite(self) -> None:
        """As a caller may who uses a buffer again."""
        for m in self.memory:
            m[...] = m.dtype.type(True) if m.dtype.kind == "b" else m.dtype.type(77)


@dataclass(frozen=True)
class Layout:
    """How columns and matrices lie in memory. A function gives the argument and the arrays that
    share its memory; or one array that is both."""

    name: str
    column: Callable[[Array], Any] | None = None
    matrix: Callable[[Array], Any] | None = None


def _c(a: Array) -> Array:
    return np.array(a, order="C")


def _fortran(a: Array) -> Array:
    return np.array(a, order="F")


def _strided(a: Array) -> Any:
    """Every other row of a table, of which every other column."""
    room = np.zeros([2 * k + 1 for k in a.shape], a.dtype)
    view = room[tuple(slice(1, None, 2) for _ in a.shape)]
    view[...] = a
    return view, room


def _column_of_rows(a: Array) -> Any:
    """A column of a table whose rows are contiguous."""
    room = np.zeros((len(a), 3), a.dtype)
    room[:, 1] = a
    return room[:, 1], room


def _field(a: Array) -> Any:
    """A column of records, of which none but the first begins where its type should."""
    room = np.zeros(len(a), np.dtype([("tag", np.int8), ("value", a.dtype)]))
    room["value"] = a
    return room["value"], room["value"]


def _reversed(a: Array) -> Any:
    room = np.array(a[tuple(slice(None, None, -1) for _ in a.shape)], order="C")
    return room[tuple(slice(None, None, -1) for _ in a.shape)], room


def _transposed(a: Array) -> Any:
    room = np.array(a.T, order="C")
    return room.T, room


def _part(a: Array) -> Any:
    """Some rows and columns of a larger table."""
    room = np.zeros([k + 5 for k in a.shape], a.dtype)
    view = room[tuple(slice(2, -3) for _ in a.shape)]
    view[...] = a
    return view, room


def _read_only(a: Array) -> Any:
    room = np.array(a, order="C")
    view = room.view()
    view.setflags(write=False)
    return view, room


def _big_endian(a: Array) -> Any:
    return np.array(a, a.dtype.newbyteorder(">"))


def _single(a: Array) -> Any:
    return np.array(a, np.float32) if a.dtype.kind == "f" else np.array(a)


def _flags(dtype: Any) -> Callable[[Array], Any]:
    """Labels in another type."""
    return lambda a: np.array(a, dtype) if a.dtype.kind == "b" else np.array(a)


def _pandas(a: Array) -> Any:
    if a.ndim == 1:
        made: Any = pd.Series(np.array(a), copy=False)
        return made, made.array.to_numpy()
    made = pd.DataFrame(np.array(a), columns=[f"x{k}" for k in range(a.shape[1])], copy=False)
    return made, made.to_numpy()


def _polars(a: Array) -> Any:
    if a.ndim == 1:
        return (pl.Series(a),)
    return (pl.DataFrame({f"x{k}": a[:, k] for k in range(a.shape[1])}),)


def _arrow(a: Array) -> Any:
    """The arrays of NumPy that Arrow shares, where it does; booleans become bits."""
    room = np.array(a, order="F")
    if a.ndim == 1:
        return pa.array(room), room
    return pa.table({f"x{k}": pa.array(room[:, k]) for k in range(a.shape[1])}), room


def _chunked(a: Array) -> Any:
    half = len(a) // 2
    return (pa.chunked_array([pa.array(np.array(a[:half])), pa.array(np.array(a[half:]))]),)


def _torch(a: Array) -> Any:
    room = np.array(a)
    return torch.from_numpy(room), room


def _torch_strided(a: Array) -> Any:
    _, room = _strided(a)
    return torch.from_numpy(room)[tuple(slice(1, None, 2) for _ in a.shape)], room


def _csr(a: Array, indices: Any = np.int32, indptr: Any = np.int32) -> Any:
    made = sp.csr_array(a)
    # SciPy makes the narrowest type of indices that will do, unless it is put there.
    made.indices, made.indptr = made.indices.astype(indices), made.indptr.astype(indptr)
    return made, made.data, made.indices, made.indptr


def _csr_of(data: Array, indices: Array, indptr: Array, shape: Any) -> Any:
    made = sp.csr_array((data, indices, indptr), shape=shape)
    return made, made.data, made.indices, made.indptr


def _row_numbers(made: Any) -> Array:
    return np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))


def _duplicated(a: Array) -> Any:
    """Each number as two halves, the second at the end of the row."""
    made = sp.csr_array(a)
    at = np.argsort(np.tile(_row_numbers(made), 2), kind="stable") % made.nnz
    return _csr_of(made.data[at] / 2, made.indices[at], 2 * made.indptr, a.shape)


def _unsorted(a: Array) -> Any:
    made = sp.csr_array(a)
    at = np.lexsort((-np.arange(made.nnz), _row_numbers(made)))
    return _csr_of(made.data[at], made.indices[at], made.indptr, a.shape)


def _csc(a: Array) -> Any:
    made = sp.csc_array(a)
    return made, made.data, made.indices, made.indptr


PLAIN = Layout("C", _c, _c)
LAYOUTS = [
    PLAIN,
    Layout("Fortran", _flags(np.int64), _fortran),
    Layout("strided", _strided, _strided),
    Layout("column of rows", _column_of_rows),
    Layout("field", _field),
    Layout("reversed", _reversed, _reversed),
    Layout("transposed", _flags(np.float32), _transposed),
    Layout("part", _part, _part),
    Layout("read-only", _read_only, _read_only),
    Layout("big-endian", _big_endian, _big_endian),
    Layout("float32", _single, _single),
    Layout("float32, Fortran", None, lambda a: np.array(a, np.float32, order="F")),
    Layout("pandas", _pandas, _pandas),
    Layout("polars", _polars, _polars),
    Layout("pyarrow", _arrow, _arrow),
    Layout("pyarrow, chunked", _chunked),
    Layout("CSR", None, _csr),
    Layout("CSR, float32", None, lambda a: _csr(a.astype(np.float32))),
    Layout("CSR, duplicates", None, _duplicated),
    Layout("CSR, unsorted", None, _unsorted),
    Layout("CSR, 64 bits", None, lambda a: _csr(a, np.int64, np.int64)),
    Layout("CSR, mixed indices", None, lambda a: _csr(a, np.int32, np.int64)),
    Layout("CSC", None, _csc),
]
if torch is not None:
    LAYOUTS += [
        Layout("torch", _torch, _torch),
        Layout("torch, strided", _torch_strided, _torch_strided),
    ]

NATIVE = ("C", "strided", "column of rows", "field", "reversed", "part", "read-only")
# NumPy's own, whose memory can be filled with other rows.
WRITEABLE = (*NATIVE[:-1], "Fortran", "transposed", "big-endian", "float32", "float32, Fortran")

# ------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class Data:
    """Rows to call functions with. All numbers are exact in float32, so that no layout rounds."""

    X: Array
    far: Array
    """The same far from 0, where float32 loses its digits when it is added up."""
    y: Array
    score: Array
    other: Array
    probability: Array
    group: Array
    weight: Array | None
    line: Array
    threshold: Array
    pos: Array
    neg: Array


@cache
def data(n: int, weighted: bool, seed: int = 0) -> Data:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = np.round(16 * (rng.normal(size=(n, 4)) + y[:, None])) / 16 + np.array([0, 0, 2, 0])
    X[rng.random((n, 4)) < 0.3] = 0.0
    score = np.round(64 * (rng.normal(size=n) + y)) / 64
    other = np.round(64 * (score + rng.normal(size=n))) / 64
    weight = np.float32(10 ** rng.uniform(-3, 3, n)).astype(np.float64)
    return Data(
        X=X,
        far=X + 1000,
        y=y,
        score=score,
        other=other,
        probability=np.round(254 / (1 + np.exp(-score)) + 1) / 256,
        group=rng.integers(0, 4, n),
        weight=weight if weighted else None,
        line=np.array([1.0, -0.5, 0.25, 2.0]),
        threshold=np.unique(score)[::-1],
        pos=rng.integers(0, 9, len(np.unique(score))),
        neg=rng.integers(1, 9, len(np.unique(score))),
    )


class Given:
    """The same rows in a layout: each attribute is laid out when it is first asked for."""

    def __init__(self, raw: Data, layout: Layout) -> None:
        self.raw, self.arguments = raw, Arguments(layout)
        self.laid: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name not in self.laid:
            raw = getattr(self.raw, name)
            self.laid[name] = None if raw is None else self.arguments.lay(raw)
        return self.laid[name]

    def refill(self, raw: Data) -> bool:
        """Put other rows into the same memory; whether the layout has any that can be written."""
        if any(not isinstance(v, np.ndarray) for v in self.laid.values() if v is not None):
            return False
        for name, value in self.laid.items():
            if value is not None:
                if not value.flags.writeable or value.shape != getattr(raw, name).shape:
                    return False
                value[...] = getattr(raw, name)
        self.raw = raw
        return True


# --------------------------------------------------------------------------------------- registry


@dataclass(frozen=True)
class Case:
    """A public function and how to call it."""

    name: str
    call: Callable[[Any], Any]
    check: Callable[[Data, Any], None] | None = None
    """Against a formula of its own."""
    covers: tuple[str, ...] = ()
    """Other public names that the call goes through."""
    matrix: bool = False
    weighted: bool = False
    """Whether there are weights to be had."""
    rows: int = 17_000
    rtol: float = 1e-9
    exact: bool = False
    """Whether layouts agree to the bit."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Layouts that are refused by rule, and what the error says."""

    skips: tuple[str, ...] = ()
    """What may differ by layout: how often rows were read, or where means are counted from."""
    only: tuple[str, ...] | None = None
    """The layouts that there are, where most have no meaning."""

    def layouts(self) -> list[Layout]:
        return [
            layout
            for layout in LAYOUTS
            if (layout.column is not None or (self.matrix and layout.matrix is not None))
            and (self.only is None or layout.name in self.only)
        ]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All arrays and numbers of a result; of frozen values those that derive from them too, which
    may be computed only now."""
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.numpy()
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from leaves(part, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for k, part in enumerate(value):
            yield from leaves(part, f"{path}[{k}]")
    elif isinstance(value, BaseEstimator):
        for name, part in sorted(vars(value).items()):
            if name.endswith("_") and not name.endswith("__"):
                yield from leaves(part, f"{path}.{name}")
    elif is_dataclass(value) and not isinstance(value, type):
        for name in _parts(value):
            try:
                part = getattr(value, name)
            except UndefinedError:
                continue
            yield from leaves(part, f"{path}.{name}")
    else:
        yield path, value


def _parts(value: Any) -> list[str]:
    """Fields, and what derives from them."""
    own = [] if isinstance(value, Later) else [one.name for one in fields(value)]
    attributes = {k: v for kind in type(value).__mro__ for k, v in vars(kind).items()}
    return own + [k for k, v in attributes.items() if isinstance(v, derived) and k[0] != "_"]


def compare(found: Any, wanted: Any, rtol: float | None, skips: tuple[str, ...] = ()) -> None:
    """Two results, to rounding; to the bit if rtol is None."""
    a, b = (
        [(path, leaf) for path, leaf in leaves(x) if not any(skip in path for skip in skips)]
        for x in (found, wanted)
    )
    assert [path for path, _ in a] == [path for path, _ in b], "results have other parts"
    for (path, got), (_, expected) in zip(a, b, strict=True):
        if not isinstance(expected, (float, np.floating, np.ndarray)):
            assert np.array_equal(got, expected), path
            continue
        x, y = np.asarray(got), np.asarray(expected)
        assert x.shape == y.shape, path
        if rtol is None or y.dtype.kind != "f":
            np.testing.assert_array_equal(x, y, path)
        else:
            size = float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
            np.testing.assert_allclose(x, y, rtol, rtol * size, err_msg=path)


@contextmanager
def threads(n: int) -> Iterator[None]:
    before = os.environ.get("CUTSCORE_THREADS")
    os.environ["CUTSCORE_THREADS"] = str(n)
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUTSCORE_THREADS"]
        else:
            os.environ["CUTSCORE_THREADS"] = before


@contextmanager
def small_blocks(on: bool = True) -> Iterator[None]:
    """Blocks so small that 17,000 rows are many, for any number of threads."""
    before = _rows._BLOCK, moments._CHUNK
    if on:
        _rows._BLOCK, moments._CHUNK = 1 << 12, 1 << 10
    try:
        yield
    finally:
        _rows._BLOCK, moments._CHUNK = before


def run(case: Case, layout: Layout, raw: Data, wanted: Any) -> None:
    """A call in a layout, with all that must hold of it."""
    given = Given(raw, layout)
    if layout.name in case.refuses:
        with pytest.raises(ValueError, match=case.refuses[layout.name]):
            case.call(given)
        return
    result = case.call(given)
    given.arguments.check_untouched()
    given.arguments.check_apart(result)
    given.arguments.overwrite()
    compare(result, wanted, None if case.exact else case.rtol, case.skips)


def run_refilled(
    case: Case, layout: Layout, raw: Data, other: Data, wanted: tuple[Any, Any]
) -> None:
    """Two calls with other rows in the same memory; results are looked at when both are over."""
    given = Given(raw, layout)
    first = case.call(given)
    if not given.refill(other):
        return
    second = case.call(given)
    given.arguments.overwrite()
    for result, expected in zip((first, second), wanted, strict=True):
        compare(result, expected, None if case.exact else case.rtol, case.skips)


def masses(raw: Data) -> tuple[Array, Array, Array]:
    """Distinct scores, descending, and the mass of each class: weights added row by row."""
    t, at = np.unique(-raw.score, return_inverse=True)
    pos, neg = (np.bincount(at[of], _some(raw.weight, of), len(t)) for of in (raw.y, ~raw.y))
    return 0.0 - t, pos, neg


def _some(weight: Array | None, of: Array) -> Array | None:
    return None if weight is None else weight[of]


def area(raw: Data, score: Array | None = None) -> float:
    """The AUC: pairs in order, and half of those that tie."""
    _, at = np.unique(raw.score if score is None else score, return_inverse=True)
    pos, neg = (np.bincount(at[of], _some(raw.weight, of), at.max() + 1) for of in (raw.y, ~raw.y))
    return float(pos @ (np.cumsum(neg) - neg / 2) / pos.sum() / neg.sum())


def _is_close(a: Any, b: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol, rtol * float(np.max(np.abs(b))))


def _check_sweep(raw: Data, s: Any) -> None:
    t, pos, neg = masses(raw)
    np.testing.assert_array_equal(s.threshold, t)
    np.testing.assert_array_equal(s.pos, pos)
    np.testing.assert_array_equal(s.neg, neg)
    _is_close(s.auc, area(raw), 1e-12)


def _moments(raw: Data) -> tuple[Array, Array, Array]:
    weight = np.ones(len(raw.y)) if raw.weight is None else raw.weight
    mass, mean, scatter = [], [], []
    for of in (~raw.y, raw.y):
        w, X = weight[of], raw.X[of]
        mean.append(w @ X / w.sum())
        mass.append(w.sum())
        scatter.append((X - mean[-1]).T @ (w[:, None] * (X - mean[-1])))
    return np.array(mass), np.array(mean), np.array(scatter)


def _check_moments(raw: Data, m: Any) -> None:
    mass, mean, scatter = _moments(raw)
    _is_close(m.weight, mass)
    _is_close(m.mean, mean)
    _is_close(m.scatter, scatter)


def _check_mean_difference(raw: Data, found: Any) -> None:
    _, mean, _ = _moments(raw)
    _is_close(found[0].coef_[0], mean[1] - mean[0])


def _check_direction(raw: Data, found: Any) -> None:
    """Fisher's direction, which all three closed forms share."""
    _, mean, scatter = _moments(raw)
    w = np.linalg.solve(scatter.sum(0), mean[1] - mean[0])
    got = found[0].coef_[0]
    _is_close(got / np.linalg.norm(got), w / np.linalg.norm(w), 1e-8)


def _check_logistic(raw: Data, found: Any) -> None:
    """The gradient of the penalised likelihood vanishes."""
    weight = np.ones(len(raw.y)) if raw.weight is None else raw.weight
    z = raw.X @ found[0].coef_[0] + found[0].intercept_[0]
    slope = raw.X.T @ (weight * (1 / (1 + np.exp(-z)) - raw.y)) + found[0].coef_[0]
    assert np.abs(slope).max() < 1e-5 * weight.sum()
    _is_close(found[1], z)


def _check_radius(raw: Data, found: Any) -> None:
    assert found[0].fit_.radius == np.sqrt(np.square(raw.X).sum(axis=1).max())


def _check_scores(raw: Data, found: Any) -> None:
    _is_close(found, raw.X @ raw.line + 0.5, 1e-12)


@dataclass(frozen=True)
class Later:
    """What is asked of a value only when the result is looked at."""

    ask: Callable[[], Any]

    @derived
    def answer(self) -> Any:
        return self.ask()


def fitted(made: Any, *methods: str) -> Callable[[Any], Any]:
    """An estimator, learned, and what it says of the same rows."""
    several = isinstance(made, estimators.DetectorBank)

    def call(g: Any) -> Any:
        X, y, weight = g.X, g.group if several else g.y, g.weight
        learned = clone(made).fit(X, y, **({} if weight is None else {"sample_weight": weight}))
        more = [learned.margins(X, y)] if hasattr(learned, "margins") else []
        return [learned, *(getattr(learned, name)(X) for name in methods), *more]

    return call


def _refilled_stream(g: Any) -> Any:
    """A stream whose blocks lie in the same memory, one after the other."""
    X, y, weight = np.asarray(g.raw.X), g.raw.y, g.raw.weight

    def blocks() -> Iterator[linear.Block]:
        room, flags, mass = np.empty((700, X.shape[1])), np.empty(700, np.bool_), np.empty(700)
        for k in range(0, len(y), 700):
            n = len(y[k : k + 700])
            room[:n], flags[:n] = X[k : k + 700], y[k : k + 700]
            if weight is not None:
                mass[:n] = weight[k : k + 700]
            yield linear.Block(room[:n], flags[:n], None if weight is None else mass[:n], k)
            room[:], flags[:], mass[:] = 77, True, 77

    return cs.ClassMoments.of_rows(StreamRows(blocks, X.shape[1]))


def _rows_of(g: Any, X: Any = None) -> linear.ArrayRows:
    X = g.X if X is None else X
    if not hasattr(X, "tocsr"):
        X = np.asarray(X)
        X = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    weight = None if g.weight is None else np.array(g.raw.weight)
    return linear.ArrayRows(X, np.array(g.raw.y), weight)


AFFINE = cs.Affine(2.0, 0.5)
BETA = cs.Beta(1.0, 0.5, 0.25)
GAUSSIAN = cs.Gaussian(1.0, 1.5, 0.0, 1.0, -5.0, 5.0)
MONOTONE = cs.calibrate(cs.sweep(data(2000, False).y, data(2000, False).score), "monotone")
CHAIN = MONOTONE.then(AFFINE)
SWEEP = cs.sweep(data(2000, False).y, data(2000, False).score)
PROBABLE = cs.sweep(data(2000, False).y, data(2000, False).probability)
COSTS = cs.Costs(fp=1, fn=4)
LINE = cs.LinearDetector(data(8, False).line, 0.5)


def calibrators() -> Iterator[Case]:
    for c in (AFFINE, BETA, GAUSSIAN, MONOTONE, CHAIN):
        kind = type(c).__name__

        def call(g: Any, c: Any = c) -> Any:
            x = g.probability
            return c.llr(x), c.probability(x, 0.2), c.decide(x, COSTS, 0.2)

        def check(raw: Data, found: Any, c: Any = c) -> None:
            z = found[0]
            _is_close(found[1], 0.25 / (0.25 + np.exp(-z)), 1e-12)
            x = raw.probability
            if c is AFFINE:
                _is_close(z, 2 * (x - 0.5))
            elif c is BETA:
                _is_close(z, np.log(x) - 0.5 * np.log1p(-x) + 0.25)
            elif c is GAUSSIAN:
                _is_close(z, x**2 / 2 - ((x - 1) / 1.5) ** 2 / 2 - np.log(1.5))

        covers = tuple(f"{kind}.{name}" for name in ("probability", "decide"))
        yield Case(f"{kind}.llr", call, check, covers, exact=True)


def policies() -> Iterator[Case]:
    p = cs.Policy.choose(PROBABLE, COSTS, calibrator=AFFINE)
    two = cs.choose(PROBABLE, cs.Costs(fp=4, fn=9, review=1))

    def call(g: Any) -> Any:
        x = g.probability
        return p.llr(x), p.probability(x, 0.2), p.decide(x), two.decide(x)

    def check(raw: Data, found: Any) -> None:
        _is_close(found[0], 2 * (raw.probability - 0.5))
        assert (found[2] == (raw.probability >= p.threshold)).all()
        above = [raw.probability >= t for t in two.cuts]
        assert (found[3] == above[0].astype(int) + above[1]).all()

    covers = ("Policy.probability", "Policy.decide", "ThreeWayPoint.decide")
    yield Case("Policy.llr", call, check, covers, exact=True)

    def checked(g: Any) -> Any:
        found = p.check(g.y, g.probability, g.weight)
        return np.array([one.observed[:3] for one in found.promises])

    def by_rows(raw: Data, found: Any) -> None:
        w = np.ones(len(raw.y)) if raw.weight is None else raw.weight
        flagged, y = raw.probability >= p.threshold, raw.y == 1
        _is_close(found[1][0], w[flagged & y].sum() / w[y].sum())

    yield Case("Policy.check", checked, by_rows, weighted=True)


def row_costs() -> Iterator[Case]:
    def call(g: Any) -> Any:
        columns = {"amount": g.probability}
        named = cs.Costs(fp=0.125, fn="2*amount + 0.5")
        options = {"calibrator": AFFINE, "weight": g.weight}
        one = cs.choose_by_row(g.y, g.score, named, columns, **options)
        by_array = cs.Costs(fp=g.probability, fn=2.0)
        other = cs.choose_by_row(g.y, g.score, by_array, threshold=0.5, **options)
        p = cs.Policy.choose_by_row(g.y, g.score, named, columns, threshold=0.5, **options)
        at = np.array([one.threshold, one.value, other.value])
        rows = p.row_gaps(g.score, columns), p.decide(g.score, columns=columns)
        assert (one.decide(g.score, columns) == (rows[0] >= one.threshold)).all()
        return at, *rows, *named.stakes(len(g.y), columns)

    def check(raw: Data, found: Any) -> None:
        w = np.ones(len(raw.y)) if raw.weight is None else raw.weight
        miss = 2 * raw.probability + 0.5
        gap = 2 * (raw.score - 0.5) - np.log(0.125 / miss)
        _is_close(found[1], gap)
        assert (found[2] == (found[1] >= 0.5)).all()
        _is_close(found[3], miss)
        flagged = found[1] >= found[0][0]
        cost = np.where(raw.y, np.where(flagged, 0, miss), np.where(flagged, 0.125, 0))
        _is_close(found[0][1], np.average(cost, weights=w))

    gaps = ("Policy.row_gaps", "Policy.towards")
    covers = ("Policy.choose_by_row", *gaps, "Costs.stakes", "Costs", "RowCostPoint.decide")
    yield Case("choose_by_row", call, check, covers, weighted=True)


def _learners() -> Iterator[Case]:
    e = estimators
    says = ("decision_function", "predict", "signed_distance")
    chance = (*says, "predict_proba", "predict_log_proba")
    for made, methods, check, more in (
        (e.MeanDifference(), says, _check_mean_difference, {}),
        (e.LeastSquares(), says, _check_direction, {}),
        (e.Fisher(), says, _check_direction, {}),
        (e.GaussianDiscriminant(), chance, _check_direction, {}),
        (e.Logistic(), chance, _check_logistic, {"rtol": 1e-6}),
        (e.Perceptron(max_passes=3, variant="averaged"), says, _check_radius, {"rtol": 1e-6}),
        (e.Structural("auc", C=0.001), says, None, {"rtol": 1e-3, "rows": 1000}),
        (e.Structural("f1", C=0.001), says, None, {"rtol": 1e-3, "rows": 1000}),
        (e.StructuralCV("auc", Cs=(0.01,), cv=2), says, None, {"rtol": 1e-3, "rows": 1000}),
        (
            e.DecisionClassifier(e.Fisher(), calibration="platt", cv=2),
            ("decision_function", "scores", "log_odds", "predict", *chance[-2:]),
            None,
            {"rtol": 1e-7, "rows": 1000},
        ),
        (
            e.DetectorBank(e.Fisher(), method="platt", cv=2, costs=1 - np.eye(4)),
            ("decision_function", "predict", "predict_proba", "expected_cost"),
            None,
            {"rtol": 1e-7, "rows": 1000},
        ),
    ):
        name = type(made).__name__
        covers = tuple(f"{name}.{method}" for method in (*methods, "fit", "margins"))
        # Frames have names; of sparse rows means are counted from 0 and products are made at once.
        # The gap of logistic regression is what rounding leaves of the gradient; a digest of scores
        # is another for the last bit of one, and a threshold in a text shows it.
        skips = ("feature_names_in_", ".moments_.origin", ".moments_.offset", ".passes", ".gap")
        skips += (".digest", ".verdict")
        options: dict[str, Any] = {"matrix": True, "weighted": True, "skips": skips, **more}
        yield Case(f"{name}", fitted(made, *methods), check, covers, **options)


def _in_parts(g: Any) -> Any:
    """A perceptron that learns from one batch after the other."""
    p, half = estimators.Perceptron(max_passes=1), len(g.raw.y) // 2
    X, y = g.X, g.y
    X = np.asarray(X) if isinstance(X, (pd.DataFrame, pl.DataFrame, pa.Table)) else X
    for at in (slice(0, half), slice(half, None)):
        p.partial_fit(X[at], y[at], classes=[False, True])
    return p


def _check_groups(raw: Data, found: Any) -> None:
    for g, auc in zip(found.group.tolist(), found.auc.tolist(), strict=True):
        at = raw.group == g
        weight = _some(raw.weight, at)
        part = Data(**{**vars(raw), "y": raw.y[at], "score": raw.score[at], "weight": weight})
        _is_close(auc, area(part))


def _check_binned(raw: Data, b: Any) -> None:
    assert b.auc.low <= area(raw) <= b.auc.high
    _is_close(b.P, masses(raw)[1].sum())


def _check_peer(name: str) -> Callable[[Data, Any], None]:
    """The function of the same name in scikit-learn."""

    def check(raw: Data, found: Any) -> None:
        from sklearn import metrics as peer

        wanted = getattr(peer, name)(raw.y, raw.score, sample_weight=raw.weight)
        for a, b in zip(
            *((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True
        ):
            there = np.isfinite(b)
            _is_close(np.asarray(a)[there], np.asarray(b)[there])

    return check


def _check_benefit(raw: Data, c: cs.NetBenefitDifference) -> None:
    w = np.ones(len(raw.y)) if raw.weight is None else raw.weight
    for found, t in zip(c.a, (0.2, 0.4), strict=True):
        worth = (raw.probability >= t) * np.where(raw.y == 1, 1.0, -t / (1 - t))
        _is_close(found, np.sum(w * worth) / w.sum())


def _check_counts(raw: Data, s: Any) -> None:
    np.testing.assert_array_equal(s.threshold, raw.threshold)
    np.testing.assert_array_equal(s.pos, raw.pos)
    np.testing.assert_array_equal(s.neg, raw.neg)


def _check_matrix(raw: Data, columns: Any) -> None:
    _is_close([c.mean for c in columns], raw.far.mean(axis=0))
    _is_close([c.scale for c in columns], raw.far.std(axis=0))


def _encoded(g: Any) -> Any:
    table = {"a": g.score, "b": g.other}
    e = Encoding.fit(table)
    return e.columns, e.transform(table)


def _check_encoded(raw: Data, found: Any) -> None:
    x = np.column_stack((raw.score, raw.other))
    _is_close(found[1], (x - x.mean(axis=0)) / x.std(axis=0))


def _accumulated(g: Any) -> Any:
    from cutscore.torch import AUROC

    metric = AUROC()
    y, score, weight = g.y, g.score, g.weight
    for at in (slice(0, 500), slice(500, None)):
        metric.update(y[at], score[at], *(() if weight is None else (weight[at],)))
    return Later(metric.sweep)


def _plain_columns() -> Iterator[Case]:
    w: dict[str, Any] = {"weighted": True}
    yield Case(
        "sweep",
        lambda g: cs.sweep(g.y, g.score, g.weight, squares=True),
        _check_sweep,
        exact=True,
        **w,
    )
    yield Case(
        "sweep(compact=True)",
        lambda g: cs.sweep(g.y, g.score, g.weight, compact=True),
        lambda raw, s: _is_close(s.auc, area(raw)),
        exact=True,
        **w,
    )
    yield Case(
        "BinnedSweep.of",
        lambda g: cs.BinnedSweep.of(g.y, g.score, g.weight),
        _check_binned,
        exact=True,
        **w,
    )
    yield Case(
        "BinnedSweep.from_batches",
        lambda g: cs.BinnedSweep.from_batches(2 * [(g.y, g.score, g.weight)]),
        lambda raw, b: _is_close(b.P, 2 * masses(raw)[1].sum()),
        exact=True,
        **w,
    )
    yield Case(
        "Sweep.from_counts",
        lambda g: cs.Sweep.from_counts(g.threshold, g.pos, g.neg),
        _check_counts,
        exact=True,
    )
    yield Case(
        "by_group",
        lambda g: cs.by_group(g.y, g.score, g.group, weight=g.weight),
        _check_groups,
        **w,
    )
    yield Case(
        "sweeps_by_group",
        lambda g: cs.sweeps_by_group(g.y, g.score, g.group, weight=g.weight),
        **w,
    )
    yield Case(
        "compare",
        lambda g: cs.compare(g.y, g.score, g.other, weight=g.weight),
        lambda raw, c: _is_close(c.difference, area(raw) - area(raw, raw.other)),
        **w,
    )
    yield Case(
        "compare_curves",
        lambda g: cs.compare_curves(g.y, g.score, g.other, n=5),
        exact=True,
    )
    yield Case(
        "compare_net_benefit",
        lambda g: cs.compare_net_benefit(
            g.y, g.probability, g.probability, [0.2, 0.4], weight=g.weight
        ),
        _check_benefit,
        **w,
    )
    yield Case(
        "auc_covariance",
        lambda g: cs.auc_covariance(
            g.y, {"a": g.score, "b": g.other}, weight=g.weight, unit=g.group
        ),
        lambda raw, c: _is_close(c.auc, [area(raw), area(raw, raw.other)]),
        **w,
    )
    yield Case(
        "bootstrap_rows",
        lambda g: cs.bootstrap_rows(g.y, g.score, weight=g.weight, n=5),
        lambda raw, b: _is_close(b.estimate, area(raw)),
        **w,
    )
    yield Case(
        "units",
        lambda g: cs.units(g.y, g.score, g.group),
        exact=True,
        covers=(
            "Units",
            *(f"Units.{one}" for one in ("check", "most", "negated", "rows", "shares")),
        ),
    )
    yield Case(
        "periods",
        lambda g: cs.periods(g.y, g.score, g.group),
        exact=True,
        covers=(
            *("Periods", "Periods.check", "Periods.counts", "Periods.expect", "Periods.findings"),
            *("Periods.known", "Periods.measured", "Periods.negated", "Periods.rule"),
            *("Periods.shortage_text", "Periods.top", "Periods.value", "PeriodTop"),
            *("Periods.worth", "Aim.on_all_rows", "Aim.rule_on_rows"),
            *(f"{kind}Point.over_periods" for kind in ("Operating", "RowCost", "ThreeWay")),
        ),
    )
    yield Case(
        "cross_fit",
        lambda g: cs.cross_fit(g.y, g.score, "platt", weight=g.weight, folds=2),
        rtol=1e-7,
        rows=3000,
        **w,
    )
    yield Case(
        "cross_fit(folds=[...])",
        lambda g: cs.cross_fit(g.y, g.score, "monotone", folds=g.group),
        rows=3000,
    )
    yield Case("venn_abers", lambda g: cs.venn_abers(SWEEP, g.score))
    yield Case(
        "llr",
        lambda g: cs.llr(g.probability, 0.2),
        lambda raw, x: _is_close(x, np.log(raw.probability / (1 - raw.probability)) - np.log(0.25)),
        exact=True,
    )
    yield Case(
        "probability",
        lambda g: cs.probability(g.score, 0.2),
        lambda raw, p: _is_close(p, 0.25 / (0.25 + np.exp(-raw.score))),
        exact=True,
    )
    yield Case(
        "cohen_kappa",
        lambda g: cs.cohen_kappa(g.y, g.group, weight=g.weight, unit=g.group),
        rows=300,
        **w,
    )
    yield Case("prior_shift", lambda g: cs.prior_shift(SWEEP, g.score))
    yield Case(
        "PriorShift.probability",
        lambda g: cs.prior_shift(SWEEP, data(2000, False).score).probability(g.score),
        exact=True,
    )
    yield Case(
        "thresholds_for", lambda g: cs.thresholds_for(SWEEP, g.probability, prior=0.3), exact=True
    )
    yield Case("net_benefit_at", lambda g: cs.net_benefit_at(PROBABLE, g.probability), rows=300)
    yield Case("SmoothRoc.at", lambda g: cs.smooth_roc(SWEEP).at(g.probability), exact=True)
    yield Case(
        "CostCurve.net_benefit",
        lambda g: cs.cost_curve(SWEEP).net_benefit(g.probability, 0.1),
        exact=True,
    )
    yield Case("CostCurve.cost", lambda g: cs.cost_curve(SWEEP).cost(g.probability), exact=True)
    yield Case(
        "Affine.inverse",
        lambda g: AFFINE.inverse(g.score),
        lambda raw, x: _is_close(x, raw.score / 2 + 0.5),
        exact=True,
    )
    yield Case(
        "Encoding.fit",
        _encoded,
        _check_encoded,
        ("Encoding.transform",),
        refuses={
            "big-endian": "Byte-swapped arrays not supported",
            "torch": "Could not convert tensor",
            "torch, strided": "Could not convert tensor",
        },
    )
    for name in (
        "roc_auc_score",
        "average_precision_score",
        "roc_curve",
        "precision_recall_curve",
        "det_curve",
    ):
        yield Case(f"metrics.{name}", _metric(name), _check_peer(name), **w)
    yield Case(
        "metrics.auc",
        lambda g: metrics.auc(g.threshold, g.pos),
        lambda raw, a: _is_close(a, -np.trapezoid(raw.pos, raw.threshold)),
    )


def _metric(name: str) -> Callable[[Any], Any]:
    return lambda g: getattr(metrics, name)(g.y, g.score, sample_weight=g.weight)


def _constructors() -> Iterator[Case]:
    """Values that users may make themselves: they own what they are made of."""
    yield Case(
        "Sweep",
        lambda g: cs.Sweep(g.threshold, g.pos, g.neg),
        _check_counts,
        exact=True,
        only=NATIVE,  # it trusts its arguments
    )
    yield Case("Margins", lambda g: cs.Margins(g.score), exact=True)
    yield Case("LinearDetector", lambda g: cs.LinearDetector(g.line, 0.5), exact=True)
    yield Case("Monotone", lambda g: cs.Monotone(g.threshold, g.threshold, True), exact=True)


def _means(g: Any) -> Later:
    # Sparse ones are counted from 0, others from a row.
    m = cs.ClassMoments.from_arrays(g.X, g.y, g.weight, scatter=False)
    return Later(lambda: m.mean)


def _tables() -> Iterator[Case]:
    both: dict[str, Any] = {"matrix": True, "weighted": True}
    yield Case(
        "ClassMoments.from_arrays",
        lambda g: cs.ClassMoments.from_arrays(g.X, g.y, g.weight),
        _check_moments,
        **both,
    )
    yield Case(
        "ClassMoments.from_arrays(scatter=False)",
        _means,
        lambda raw, m: _is_close(m.answer, _moments(raw)[1]),
        **both,
    )
    yield Case(
        "ClassMoments.of_rows",
        lambda g: cs.ClassMoments.of_rows(_rows_of(g)),
        _check_moments,
        ("ArrayRows", "ArrayRows.reduce"),
        **both,
    )
    yield Case(
        "ClassMoments.of",
        lambda g: cs.ClassMoments.of(linear.Block(_rows_of(g).X, g.raw.y, g.raw.weight, 0)),
        _check_moments,
        ("Block",),
        **both,
    )
    yield Case(
        "ClassMoments.from_arrays(far from 0)",
        lambda g: cs.ClassMoments.from_arrays(g.far, g.y, g.weight),
        lambda raw, m: _is_close(m.mean - 1000, _moments(raw)[1], 1e-8),
        **both,
    )
    yield Case("ClassMoments.of_rows(StreamRows)", _refilled_stream, _check_moments, **both)
    yield Case(
        "Block.scores",
        lambda g: linear.Block(_rows_of(g).X, g.raw.y, None, 0).scores(g.line, 0.5),
        _check_scores,
        matrix=True,
    )
    yield Case(
        "Block.part",
        lambda g: linear.Block(_rows_of(g).X, g.raw.y, None, 0).part(7, 10**6).scores(g.line, 0.5),
        lambda raw, x: _is_close(x, (raw.X @ raw.line + 0.5)[7:], 1e-12),
        matrix=True,
    )
    yield Case(
        "Block.combine",
        lambda g: linear.Block(_rows_of(g).X, g.raw.y, None, 0).combine(g.score),
        lambda raw, x: _is_close(x, raw.score @ raw.X),
        matrix=True,
    )
    yield Case(
        "ArrayRows.fold",
        lambda g: _rows_of(g).fold(
            lambda sums, block: sums + block.combine(np.ones(len(block.y))), 0
        ),
        lambda raw, x: _is_close(x[0], raw.X.sum(axis=0)),
        matrix=True,
    )
    yield Case("LinearDetector.scores", lambda g: LINE.scores(g.X), _check_scores, matrix=True)
    yield Case(
        "LinearDetector.signed_distance",
        lambda g: LINE.signed_distance(g.X),
        lambda raw, x: _is_close(x, (raw.X @ raw.line + 0.5) / np.linalg.norm(raw.line)),
        matrix=True,
    )
    yield Case(
        "Discriminants.scores",
        lambda g: linear.Discriminants(np.stack((LINE.w, -LINE.w)), np.array([0.5, 0.0])).scores(
            g.X
        ),
        lambda raw, x: _is_close(x, np.stack((raw.X @ raw.line + 0.5, -raw.X @ raw.line), axis=1)),
        matrix=True,
        covers=("Discriminants",),
    )
    yield Case(
        "LinearDetector.margins",
        lambda g: LINE.margins(g.X, g.y),
        lambda raw, m: _is_close(
            m.value,
            np.where(raw.y, 1, -1) * (raw.X @ raw.line + 0.5) / np.linalg.norm(raw.line),
        ),
        matrix=True,
    )
    yield Case(
        "Encoding.of_matrix",
        lambda g: Encoding.of_matrix(_rows_of(g, g.far).X, ["a", "b", "c", "d"]).columns,
        _check_matrix,
        matrix=True,
    )
    yield Case(
        "Perceptron.partial_fit", _in_parts, matrix=True, rtol=1e-6, skips=("feature_names_in_",)
    )


def _tensors() -> Iterator[Case]:
    from cutscore import torch as own

    def call(name: str) -> Callable[[Any], Any]:
        return lambda g: getattr(own, name)(g.y, g.score, g.weight)

    refused = {
        "field": "memory that torch can share",
        "big-endian": "memory that torch can share",
        "pandas": "must be a tensor",
        "polars": "must be a tensor",
        "pyarrow, chunked": "must be a tensor",
    }
    # Of Arrow's own tensors DLPack warns.
    both: dict[str, Any] = {
        "weighted": True,
        "refuses": refused,
        "only": tuple(layout.name for layout in LAYOUTS if layout.name != "pyarrow"),
    }
    yield Case("torch.sweep", call("sweep"), _check_sweep, exact=True, **both)
    yield Case(
        "torch.roc_auc_score",
        call("roc_auc_score"),
        lambda raw, a: _is_close(a, area(raw)),
        **both,
    )
    yield Case(
        "torch.AUROC",
        _accumulated,
        lambda raw, a: _is_close(a.answer.auc, area(raw)),
        ("torch.AUROC.update", "torch.AUROC.sweep", "torch.AUROC.compute"),
        **both,
    )


REGISTRY = [
    *_plain_columns(),
    *calibrators(),
    *policies(),
    *row_costs(),
    *_constructors(),
    *_tables(),
    *_learners(),
    *(() if torch is None else _tensors()),
]
