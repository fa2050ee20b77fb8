"""cutscore.metrics against sklearn.metrics: the same values, or the same warnings and errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import sklearn
import sklearn.metrics as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import cutscore.metrics as ours

AREAS = ["roc_auc_score", "average_precision_score"]
CURVES = ["roc_curve", "precision_recall_curve", "det_curve"]
BINARY = AREAS + CURVES
NAMES = [*BINARY, "auc"]


def outcome(function, *args, **kwargs):
    """What came out: the value or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = function(*args, **kwargs), None
        except Exception as e:
            value, error = None, (type(e), str(e))
    return value, error, [(w.category, str(w.message)) for w in caught]


def same(name, *args, exact=True, **kwargs):
    """Compare the two functions; arrays to the last bit unless weights were rounded."""
    value, error, said = outcome(getattr(ours, name), *args, **kwargs)
    expected, expected_error, expected_said = outcome(getattr(theirs, name), *args, **kwargs)
    assert error == expected_error
    assert said == expected_said
    assert type(value) is type(expected)
    values, expecteds = (v if isinstance(v, tuple) else (v,) for v in (value, expected))
    for a, b in zip(values, expecteds, strict=True):
        if isinstance(b, np.ndarray):
            assert type(a) is np.ndarray
            assert a.dtype == b.dtype
            assert a.shape == b.shape
        if b is None:
            continue
        if (exact and isinstance(value, tuple)) or np.asarray(b).dtype == object:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    return value


@pytest.fixture
def _alone(monkeypatch):
    """No scikit-learn to fall back on."""
    monkeypatch.setitem(sys.modules, "sklearn.metrics", None)


# The interface ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_those_of_sklearn(name):
    mine, other = (inspect.signature(getattr(m, name)).parameters.values() for m in (ours, theirs))
    assert [(p.name, p.kind, p.default) for p in mine] == [
        (p.name, p.kind, p.default) for p in other
    ]


def test_all_is_all():
    assert set(ours.__all__) == set(NAMES)


PLAIN = """
import sys
import numpy as np
import cutscore.metrics as m
assert not {"sklearn", "scipy", "pandas"} & set(sys.modules), "imported on import"
y, s, w = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.7]), np.arange(1.0, 6.0)
for labels in (y, y == 1, 2 * y - 1, y.tolist(), y.astype(float), y.astype(np.uint8)):
    for scores in (s, s.astype(np.float32), s.tolist(), np.arange(5), s[::-1]):
        for weight in (None, w, [1, 2, 3, 0, 1]):
            for f in (m.roc_auc_score, m.average_precision_score, m.roc_curve,
                      m.precision_recall_curve, m.det_curve):
                f(labels, scores, sample_weight=weight)
m.roc_auc_score(y + 1, s, max_fpr=0.3)
m.roc_curve(y + 1, s, pos_label=2)
m.auc(*m.roc_curve(y, s)[:2])
assert "sklearn" not in sys.modules, "imported on use"
"""


def test_plain_input_does_not_import_sklearn():
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("name", BINARY)
def test_without_sklearn_the_error_says_what_is_wrong_and_the_way_out(name):
    with pytest.raises(ModuleNotFoundError, match=rf"{name}.*finite.*pip install '.\[sklearn"):
        getattr(ours, name)([0, 1], [0.1, np.inf])


# Two classes --------------------------------------------------------------------------------------

Y = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1])
S = np.array([0.1, 0.4, 0.35, 0.8, 0.7, 0.7, 0.2, 0.9, 0.9, 0.9, 0.3, 0.3])
W = np.array([0.1, 0.7, 0.7, 0.3, 1.5, 0, 0.1, 0.1, 2.25, 0.3, 0, 1])
TEXT = np.where(Y == 1, "yes", "no")

LABELS = {
    "int": Y,
    "bool": Y == 1,
    "float": Y.astype(float),
    "float32": Y.astype(np.float32),
    "float16": Y.astype(np.float16),
    "uint8": Y.astype(np.uint8),
    "big-endian": Y.astype(">i4"),
    "strided": np.repeat(Y, 2)[::2],
    "-1/1": 2 * Y - 1,
    "-1/1 floats": 2.0 * Y - 1,
    "list": Y.tolist(),
    "tuple": tuple(Y.tolist()),
    "column": Y[:, None],
    "list of lists": [[v] for v in Y.tolist()],
    "frame": pd.DataFrame({"y": Y}),
    "series": pd.Series(Y, index=range(50, 62)),
    "categorical": pd.Series(Y, dtype="category"),
    "nullable": pd.Series(Y, dtype="Int64"),
    "nullable booleans": pd.Series(Y == 1, dtype="boolean"),
    "pandas of arrow": pd.Series(Y, dtype="int64[pyarrow]"),
    "polars": pl.Series(Y),
    "arrow": pa.array(Y),
    "longdouble": Y.astype(np.longdouble),
    "range": range(12),
    "matrix": np.asmatrix(Y[:, None]),
    "masked": np.ma.array(Y, mask=[0] * 11 + [1]),
    "1/2": Y + 1,
    "0/2": 2 * Y,
    "-1/0": Y - 1,
    "5/-3": 5 - 8 * Y,
    "large": 2**60 + Y,
    "three": np.arange(12) % 3,
    "three floats": np.arange(12) % 3 * 1.0,
    "fractions": Y + 0.5,
    "half": Y / 2,
    "huge": np.where(Y == 1, 1e300, 0),
    "nan": np.where(np.arange(12) == 3, np.nan, Y),
    "inf": np.where(np.arange(12) == 3, np.inf, Y),
    "ones": np.ones(12, int),
    "zeros": np.zeros(12),
    "minus ones": -np.ones(12),
    "twos": np.full(12, 2),
    "text": TEXT,
    "text list": TEXT.tolist(),
    "text objects": TEXT.astype(object),
    "text series": pd.Series(TEXT),
    "text categorical": pd.Series(TEXT, dtype="category"),
    "text polars": pl.Series(TEXT.tolist()),
    "text column": TEXT[:, None],
    "text with a gap": pd.Series([*TEXT[:-1], None]),
    "text digits": Y.astype(str),
    "three texts": np.array(list("abc") * 4),
    "one text": np.array(["yes"] * 12),
    "bytes": TEXT.astype("S"),
    "objects": Y.astype(object),
    "mixed": [*TEXT[:-1].tolist(), 1],
    "None": [*Y[:-1].tolist(), None],
    "complex": Y + 0j,
    "dates": Y.astype("M8[D]"),
    "short": Y[:-1],
    "empty": [],
    "scalar": 1,
    "word": "yes",
    "nothing": None,
    "ragged": [[0, 1], [1]] * 6,
    "two columns": np.column_stack((Y, 1 - Y)),
    "three dimensions": Y.reshape(3, 2, 2),
    "sparse": scipy.sparse.csr_array(Y[:, None]),
    "no dimension": np.array(1),
}

SCORES = {
    "float32": S.astype(np.float32),
    "float16": S.astype(np.float16),
    "longdouble": S.astype(np.longdouble),
    "int": np.arange(12) // 2,
    "int8": (np.arange(12) // 2 - 3).astype(np.int8),
    "uint8": (np.arange(12) // 3).astype(np.uint8),
    "large": 2**60 + np.arange(12),
    "uint64": np.uint64(2**63) + np.arange(12, dtype=np.uint64),
    "bool": Y == 0,
    "big-endian": S.astype(">f8"),
    "strided": np.repeat(S, 3)[::3],
    "backwards": S[::-1],
    "list": S.tolist(),
    "list of ints": list(range(12)),
    "column": S[:, None],
    "list of lists": [[v] for v in S.tolist()],
    "series": pd.Series(S, index=range(7, 19)),
    "series32": pd.Series(S, dtype="float32"),
    "nullable": pd.Series(S, dtype="Float64"),
    "nullable32": pd.Series(S, dtype="Float32"),
    "nullable ints": pd.Series(range(12), dtype="Int64"),
    "nullable int8": pd.Series(range(12), dtype="Int8"),
    "nullable booleans": pd.Series(Y == 0, dtype="boolean"),
    "pandas of arrow": pd.Series(S, dtype="double[pyarrow]"),
    "pandas of arrow32": pd.Series(S, dtype="float[pyarrow]"),
    "pandas of arrow ints": pd.Series(range(12), dtype="int32[pyarrow]"),
    "pandas of arrow booleans": pd.Series(Y == 0, dtype="bool[pyarrow]"),
    "categorical": pd.Series(range(12), dtype="category"),
    "polars": pl.Series(S),
    "polars32": pl.Series(S.astype(np.float32)),
    "arrow": pa.array(S),
    "chunked arrow": pa.chunked_array([S[:5], S[5:]]),
    "equal": np.zeros(12),
    "signed zeros": np.where(Y == 1, -0.0, 0.0),
    "huge": np.where(Y == 1, 1.7e308, 1.6e308),
    "denormal": np.arange(12) * 5e-324,
    "huge32": np.full(12, 3e38, np.float32),
    "nan": np.where(np.arange(12) == 5, np.nan, S),
    "inf": np.where(np.arange(12) == 5, np.inf, S),
    "-inf": np.where(np.arange(12) == 5, -np.inf, S),
    "both infs": np.where(np.arange(12) < 6, np.inf, -np.inf),
    "missing": pd.Series([*S[:-1], None], dtype="Float64"),
    "null": pl.Series([*S[:-1].tolist(), None]),
    "objects": S.astype(object),
    "text": S.astype(str),
    "complex": S + 0j,
    "masked": np.ma.array(S, mask=[1] + [0] * 11),
    "two columns": np.column_stack((S, S)),
    "three columns": np.column_stack((S, S, S)),
    "row": S[None, :],
    "three dimensions": S.reshape(3, 2, 2),
    "long": [*S, 0.5],
    "empty": [],
    "nothing": None,
    "scalar": 0.5,
    "sparse": scipy.sparse.csr_array(S[:, None]),
}

WEIGHTS = {
    "floats": W,
    "float32": W.astype(np.float32),
    "float16": W.astype(np.float16),
    "ints": np.arange(12),
    "bool": np.arange(12) > 3,
    "list": W.tolist(),
    "column": W[:, None],
    "series": pd.Series(W),
    "nullable": pd.Series(W, dtype="Float64"),
    "polars": pl.Series(W),
    "equal": np.full(12, 0.1),
    "by class": np.where(Y == 1, 0.7, 0.1),
    "large": W * 1e160,
    "larger": W * 1e300,
    "small": W * 1e-200,
    "zeros": np.zeros(12),
    "only positives": Y * 0.5,
    "only negatives": 1 - Y,
    "negative": W - 0.2,
    "nan": np.where(W == 1, np.nan, W),
    "inf": np.where(W == 1, np.inf, W),
    "short": W[:-1],
    "text": W.astype(str),
    "objects": W.astype(object),
    "complex": W + 0j,
    "two columns": np.column_stack((W, W)),
    "scalar": 2.0,
    "word": "balanced",
    "empty": [],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", BINARY)
def test_labels(name, kind):
    y = LABELS[kind]
    same(name, y, S)
    same(name, y, S, sample_weight=W, exact=False)
    if name == "roc_auc_score":
        same(name, y, S, max_fpr=0.4)
        return
    for pos_label in (0, 1, True, 2, -1, 0.5, np.int64(1), np.float32(0), np.True_, 2**60):
        same(name, y, S, pos_label=pos_label)
    for pos_label in ("yes", "no", "b", "1", np.str_("yes"), ""):
        same(name, y, S, pos_label=pos_label)


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("name", BINARY)
def test_scores(name, kind):
    same(name, Y, SCORES[kind])
    same(name, Y, SCORES[kind], sample_weight=W, exact=False)
    if name in CURVES:
        same(name, Y, SCORES[kind], drop_intermediate=name != "roc_curve")
    if name == "roc_auc_score":
        same(name, Y, SCORES[kind], max_fpr=0.25)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", BINARY)
def test_weights(name, kind):
    for y in (Y, TEXT):
        more = {"pos_label": "yes"} if y is TEXT and name != "roc_auc_score" else {}
        same(name, y, S, sample_weight=WEIGHTS[kind], exact=False, **more)
        # No ties, and the score that carries the weight 0 is not a number.
        same(name, y, np.arange(12.0), sample_weight=WEIGHTS[kind], exact=False, **more)
        inf = np.where(W == 0, np.inf, S)
        same(name, y, inf, sample_weight=WEIGHTS[kind], exact=False, **more)
    if name in CURVES:
        same(name, Y, S, None, WEIGHTS[kind], exact=False)  # positional: det_curve only
        dropped = name != "roc_curve"
        weight = WEIGHTS[kind]
        same(name, Y, S, sample_weight=weight, drop_intermediate=dropped, exact=False)
    if name == "roc_auc_score":
        same(name, Y, S, sample_weight=WEIGHTS[kind], max_fpr=0.4)


PARAMETERS = [
    {"average": "mean"},
    {"average": None},
    {"average": "samples"},
    {"average": 1},
    {"average": ["macro"]},
    {"max_fpr": 0},
    {"max_fpr": 1},
    {"max_fpr": 1.0},
    {"max_fpr": 1.5},
    {"max_fpr": -0.5},
    {"max_fpr": True},
    {"max_fpr": float("nan")},
    {"max_fpr": "0.5"},
    {"max_fpr": np.float64(0.5)},
    {"max_fpr": np.float32(0.25)},
    {"max_fpr": 1e-300},
    {"multi_class": "ovr"},
    {"multi_class": "ovo"},
    {"multi_class": "all"},
    {"multi_class": None},
    {"labels": [0, 1]},
    {"labels": [1, 0, 2]},
    {"labels": 3},
    {"pos_label": None},
    {"pos_label": 3},
    {"pos_label": 1j},
    {"pos_label": [1]},
    {"pos_label": np.array([0, 1])},
    {"pos_label": Fraction(1)},
    {"pos_label": float("nan")},
    {"pos_label": float("inf")},
    {"drop_intermediate": 1},
    {"drop_intermediate": np.True_},
    {"drop_intermediate": np.False_},
    {"drop_intermediate": None},
    {"sample_weights": W},
    {},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_parameters(name, parameters):
    same(name, Y, S, **parameters)
    same(name, y_score=S, y_true=Y, **parameters)
    same(name, Y, **parameters)
    same(name, **parameters)
    same(name, Y, S, W, **parameters)


@pytest.mark.parametrize("max_fpr", [1e-9, 0.1, 1 / 3, 0.4, 0.5, 0.99])
@pytest.mark.parametrize("weight", [None, W])
def test_partial_area(max_fpr, weight):
    same("roc_auc_score", Y, S, max_fpr=max_fpr, sample_weight=weight)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", BINARY)
def test_few_rows(name, n):
    for code in range(2**n):
        y = [code >> i & 1 for i in range(n)]
        for s in ([1.0] * n, list(range(n)), [2, 1, 1][:n]):
            same(name, y, s)


def test_settings_of_sklearn_are_obeyed():
    with sklearn.config_context(assume_finite=True):
        same("precision_recall_curve", Y, np.where(np.arange(12) == 5, np.inf, S))
        same("roc_curve", Y, np.where(np.arange(12) == 5, np.inf, S))
    with sklearn.config_context(skip_parameter_validation=True):
        same("roc_curve", Y, S, drop_intermediate=1)


def test_errors_of_sklearn_come_without_ours_as_context():
    with pytest.raises(ValueError, match="NaN") as caught:
        ours.roc_auc_score([0, 1], [0.5, np.nan])
    assert caught.value.__context__ is None


def test_errors_inside_are_not_handed_on(monkeypatch):
    def broken(*_):
        raise TypeError("a mistake of ours")

    monkeypatch.setattr("cutscore.metrics._columns.check_rows", broken)
    with pytest.raises(TypeError, match="a mistake of ours"):
        ours.roc_auc_score(list(Y), S)  # plain arrays go to the core as they are


def test_results_can_be_written_to():
    for name in CURVES:
        for column in getattr(ours, name)(Y, S):
            column[0] = 0


def test_input_is_left_alone():
    y, s, w = Y.copy(), S.copy(), W.copy()
    for name in BINARY:
        getattr(ours, name)(y, s, sample_weight=w)
    assert y.flags.writeable
    assert s.flags.writeable
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(s, S)
    np.testing.assert_array_equal(w, W)


def test_many_rows():
    rng = np.random.default_rng(0)
    y, s, w = rng.random(70_000) < 0.2, rng.normal(size=70_000), rng.random(70_000)
    for name in BINARY:
        for score in (s, s.astype(np.float32), s.round(2)):
            same(name, y, score)
            same(name, y, score, sample_weight=w, exact=False)


def test_the_area_is_the_exact_fraction_rounded_once():
    rng = np.random.default_rng(1)
    y, s = rng.random(300) < 0.3, rng.integers(0, 40, 300)
    pairs = [(a > b) + Fraction(int(a == b), 2) for a in s[y] for b in s[~y]]
    assert ours.roc_auc_score(y, s) == float(sum(pairs) / len(pairs))


def test_ours_makes_a_scorer():
    x = np.column_stack((S, np.roll(S, 1)))
    model = LogisticRegression().fit(x, Y)
    for name in AREAS:
        mine, other = (
            theirs.make_scorer(getattr(m, name), response_method="predict_proba")(model, x, Y)
            for m in (ours, theirs)
        )
        assert mine == pytest.approx(other, rel=1e-12)


# Several classes, and matrices of labels ----------------------------------------------------------

RNG = np.random.default_rng(5)
Y3 = RNG.integers(0, 3, 30)
P3 = RNG.dirichlet(np.ones(3), 30).round(2)
P3[:, 2] = 1 - P3[:, 0] - P3[:, 1]
P4 = RNG.dirichlet(np.ones(4), 30)
W3 = RNG.random(30)
M = RNG.integers(0, 2, (30, 3))
M0 = np.column_stack((M[:, :2], np.zeros(30, int)))
AVERAGE = ["micro", "macro", "weighted", "samples", None]

CLASSES = {
    "ints": Y3,
    "others": 3 * Y3 - 2,
    "floats": Y3.astype(float),
    "fractions": Y3 / 2,
    "nan": np.where(Y3 == 0, np.nan, Y3),
    "text": np.array(list("abc"))[Y3],
    "text objects": np.array(list("abc"))[Y3].astype(object),
    "text series": pd.Series(np.array(list("abc"))[Y3]),
    "series": pd.Series(Y3),
    "list": Y3.tolist(),
    "column": Y3[:, None],
    "two of three": Y3 % 2,
    "two of three text": np.array(list("ac"))[Y3 % 2],
    "one of three": np.ones(30, int),
    "four": np.arange(30) % 4,
    "each its own": np.arange(30),
    "short": Y3[:-1],
    "objects": Y3.astype(object),
    "matrix": M,
    "matrix of floats": M.astype(float),
    "matrix of booleans": M == 1,
    "matrix of lists": M.tolist(),
    "frame": pd.DataFrame(M),
    "matrix with an empty column": M0,
    "matrix with a full column": 1 - M0,
    "matrix of zeros": np.zeros((30, 3), int),
    "matrix of -1/1": 2 * M - 1,
    "matrix of 0/2": 2 * M,
    "matrix of 0/1/2": M + M0,
    "matrix of fractions": M / 2,
    "matrix of text": M.astype(str),
    "matrix of nan": np.where(M == 0, np.nan, M),
    "matrix, sparse": scipy.sparse.csr_array(M),
    "two columns": M[:, :2],
    "four columns": np.column_stack((M, M[:, 0])),
    "one row": M[:1],
}

SCORE_MATRICES = {
    "floats": P3,
    "float32": P3.astype(np.float32),
    "int": np.eye(3, dtype=int)[Y3[::-1]],
    "columns first": np.asfortranarray(P3),
    "frame": pd.DataFrame(P3),
    "mixed frame": pd.DataFrame(P3).astype({1: "Float64"}),
    "lists": P3.tolist(),
    "not probabilities": 10 * P3,
    "nan": np.where(P3[3, 1] == P3, np.nan, P3),
    "inf": np.where(P3[3, 1] == P3, np.inf, P3),
    "four": P4,
    "two": P4[:, :2],
    "one": P4[:, :1],
    "vector": P4[:, 0],
    "short": P3[:-1],
    "objects": P3.astype(object),
    "text": P3.astype(str),
    "sparse": scipy.sparse.csr_array(P3),
}

MATRIX_WEIGHTS = {
    "floats": W3,
    "ints": RNG.integers(0, 3, 30),
    "series": pd.Series(W3),
    "column": W3[:, None],
    "zeros": np.zeros(30),
    "tiny": W3 * 1e-12,
    "one class": (Y3 == 1) * 1.0,
    "negative": W3 - 0.1,
    "nan": np.where(W3 < 0.2, np.nan, W3),
    "short": W3[:-1],
    "text": W3.astype(str),
}


def variants(name):
    if name == "average_precision_score":
        return [{"average": a} for a in AVERAGE]
    return [{"average": a, "multi_class": m} for a in AVERAGE for m in ("raise", "ovr", "ovo")]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", AREAS)
def test_classes(name, kind):
    for parameters in variants(name):
        same(name, CLASSES[kind], P3, **parameters)
    same(name, CLASSES[kind], P3, sample_weight=W3)
    if name == "average_precision_score":
        for pos_label in (0, 1.0, True, "a"):
            same(name, CLASSES[kind], P3, pos_label=pos_label)


@pytest.mark.parametrize("kind", SCORE_MATRICES)
@pytest.mark.parametrize("name", AREAS)
def test_score_matrices(name, kind):
    for parameters in variants(name):
        same(name, Y3, SCORE_MATRICES[kind], **parameters)
        same(name, M, SCORE_MATRICES[kind], **parameters)


@pytest.mark.parametrize("kind", MATRIX_WEIGHTS)
@pytest.mark.parametrize("name", AREAS)
def test_matrix_weights(name, kind):
    for parameters in variants(name):
        for y in (Y3, M, M0):
            same(name, y, P3, sample_weight=MATRIX_WEIGHTS[kind], **parameters)


@pytest.mark.parametrize("max_fpr", [0.3, 1, 1.0, 0])
def test_partial_areas_of_matrices(max_fpr):
    for average in AVERAGE:
        same("roc_auc_score", M, P3, max_fpr=max_fpr, average=average)
        same("roc_auc_score", M, P3, max_fpr=max_fpr, average=average, sample_weight=W3)
    for y in (M0, Y3, Y3 % 2):
        same("roc_auc_score", y, P3, max_fpr=max_fpr, multi_class="ovr")


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        (0, 1, 2),
        np.array([0, 1, 2])[:, None],
        pd.Series([0, 1, 2]),
        [0.0, 1.0, 2.0],
        [0, 1, 2, 3],
        [0, 1],
        [2, 1, 0],
        [0, 1, 1],
        [-1, 0, 1],
        ["a", "b", "c"],
        ["0", "1", "2"],
        [0, 1, 5],
        [0, 1, np.nan],
        [],
        [[0, 1, 2]],
        [0, "1", 2],
    ],
    ids=str,
)
def test_named_classes(labels):
    text = np.array(list("abc"))
    for y in (Y3, Y3 % 2, Y3 * 1.0, np.ones(30, int), text[Y3], text[Y3 % 2]):
        for p in (P3, P4):
            for multi_class in ("raise", "ovr", "ovo"):
                same("roc_auc_score", y, p, labels=labels, multi_class=multi_class)
            same("roc_auc_score", y, p, labels=labels, multi_class="ovr", average=None)


# The plain area -----------------------------------------------------------------------------------

X = np.linspace(0, 1, 7) ** 2
CURVE_POINTS = {
    "floats": (X, X[::-1]),
    "downwards": (X[::-1], X),
    "float32": (X.astype(np.float32), X.astype(np.float32)),
    "float32 ordinates": (X, X.astype(np.float32)),
    "float32 abscissae": (X.astype(np.float32), X),
    "float16": (X.astype(np.float16), X.astype(np.float16)),
    "ints": ([0, 1, 5, 6], [3, 1, 4, 1]),
    "int8": (np.array([-100, 100], np.int8), np.array([100, 100], np.int8)),
    "uint8": (np.array([3, 1], np.uint8), np.array([200, 100], np.uint8)),
    "booleans": ([False, True], [True, True]),
    "columns": (X[:, None], X[:, None]),
    "series": (pd.Series(X), pd.Series(X)),
    "polars": (pl.Series(X), pl.Series(X)),
    "vertical": ([1, 1, 1], [0, 1, 2]),
    "there and back": ([0, 1, 0.5], [0, 1, 2]),
    "nan": ([0, np.nan, 1], [0, 1, 2]),
    "nan ordinates": ([0, 0.5, 1], [0, np.nan, 2]),
    "inf ordinates": ([0, 0.5, 1], [0, np.inf, 2]),
    "one": ([1], [1]),
    "none": ([], []),
    "lengths": ([0, 1], [0, 1, 2]),
    "text": (["a", "b"], [0, 1]),
    "matrix": (np.ones((3, 2)), np.ones((3, 2))),
    "complex": (X + 0j, X),
    "objects": (X.astype(object), X),
    "nothing": (None, X),
    "scalar": (1.0, 2.0),
}


@pytest.mark.parametrize("kind", CURVE_POINTS)
def test_auc(kind):
    x, y = CURVE_POINTS[kind]
    same("auc", x, y)
    same("auc", y=y, x=x)
    same("auc", x)


def test_auc_of_a_file(tmp_path):
    X.tofile(tmp_path / "x")
    x = np.memmap(tmp_path / "x", np.float64)
    same("auc", x, x)
    same("roc_auc_score", (np.arange(7) % 2), x)


# Whose kernel it was ------------------------------------------------------------------------------


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("name", BINARY)
def test_ours_needs_no_help_with_plain_values(name):
    function = getattr(ours, name)
    for kind in list(LABELS)[: list(LABELS).index("longdouble")]:
        function(LABELS[kind], S)
        function(LABELS[kind], S, sample_weight=W)
    positive = "yes" if name != "roc_auc_score" else None
    for kind in (k for k in LABELS if k.startswith("text") and k != "text with a gap"):
        if kind != "text digits":
            more = {"pos_label": positive} if positive else {}
            function(LABELS[kind], S, **more)
    for kind in (
        "float32",
        "int",
        "list",
        "series",
        "nullable",
        "polars",
        "arrow",
        "column",
        "huge",
    ):
        function(Y, SCORES[kind])
    if name != "roc_auc_score":
        function(Y + 1, S, pos_label=1)
        function(Y + 1, S, pos_label=2)
    if name in ("roc_curve", "precision_recall_curve"):
        function(np.arange(12) % 3, S, pos_label=2)
        function(np.array(list("abc") * 4), S, pos_label="b")


@pytest.mark.usefixtures("_alone")
def test_ours_needs_no_help_with_several_classes():
    for y in (Y3, Y3.astype(float), np.array(list("abc"))[Y3]):
        for average in ("micro", "macro", "weighted", None):
            ours.roc_auc_score(y, P3, multi_class="ovr", average=average, sample_weight=W3)
            ours.average_precision_score(y, P3, average=average)
        for average in ("macro", "weighted"):
            ours.roc_auc_score(y, P3, multi_class="ovo", average=average)
    few = M[(M.sum(axis=1) % 3) > 0]
    for average in AVERAGE:
        ours.roc_auc_score(few, P3[: len(few)], average=average)
        ours.average_precision_score(few, P3[: len(few)], average=average)


# At random ----------------------------------------------------------------------------------------

KINDS = {
    "0/1": lambda y: y,
    "bool": lambda y: y == 1,
    "-1/1": lambda y: 2 * y - 1,
    "1/2": lambda y: y + 1.0,
    "text": lambda y: np.where(y == 1, "b", "a"),
    "list": lambda y: y.tolist(),
}
POSITIVE = {"1/2": [1, 2], "text": ["a", "b"], "-1/1": [None, 1, -1]}
WEIGHT = {
    "none": st.none(),
    "ints": st.integers(0, 3),
    "few": st.sampled_from([0.0, 0.1, 0.3, 0.7]),
    "any": st.floats(0.001, 1000),
}


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    score = draw(
        st.one_of(
            st.lists(st.integers(-3, 3), min_size=n, max_size=n),
            st.lists(st.sampled_from([0.1, 0.2, 0.3, -0.0, 0.0]), min_size=n, max_size=n),
            st.lists(st.floats(-1e6, 1e6, width=32), min_size=n, max_size=n),
        )
    )
    dtype = draw(st.sampled_from([None, np.float32, np.float64, np.float16]))
    weight = WEIGHT[draw(st.sampled_from(list(WEIGHT)))]
    w = draw(st.lists(weight, min_size=n, max_size=n))
    if dtype is np.float16:
        # Further apart, their differences overflow: scikit-learn lets NumPy warn of that.
        score = np.clip(score, -3e4, 3e4)
    return y, np.asarray(score, dtype), None if w[0] is None else np.array(w)


@settings(deadline=None, max_examples=150)
@given(tables(), st.sampled_from(list(KINDS)), st.booleans(), st.data())
def test_at_random(table, kind, drop, data):
    y, score, weight = table
    y = KINDS[kind](y)
    same("roc_auc_score", y, score, sample_weight=weight)
    same("roc_auc_score", y, score, sample_weight=weight, max_fpr=data.draw(st.floats(0.001, 1)))
    pos_label = data.draw(st.sampled_from(POSITIVE.get(kind, [None, 1, 0])))
    more = {"pos_label": 1 if pos_label is None else pos_label, "sample_weight": weight}
    same("average_precision_score", y, score, **more)
    for name in CURVES:
        more = {"pos_label": pos_label, "sample_weight": weight, "drop_intermediate": drop}
        same(name, y, score, exact=weight is None, **more)


@settings(deadline=None)
@given(
    st.integers(2, 4),
    st.integers(0, 2**31),
    st.sampled_from([None, "ints", "floats"]),
    st.sampled_from(variants("roc_auc_score")),
)
def test_matrices_at_random(k, seed, weighted, parameters):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    m = rng.integers(0, 2, (n, k))
    y = rng.integers(0, k, n)
    p = rng.dirichlet(np.ones(k), n).round(1)
    p[:, -1] = 1 - p[:, :-1].sum(axis=1)
    weight = {"ints": rng.integers(0, 3, n), "floats": rng.random(n), None: None}[weighted]
    for labels in (m, y):
        same("roc_auc_score", labels, p, sample_weight=weight, **parameters)
        average = parameters["average"]
        same("average_precision_score", labels, p, sample_weight=weight, average=average)


@pytest.mark.parametrize("n", [5, 50, 5000])
def test_weighted_areas_stay_within_0_and_1(n):
    """Rounded sums may come out beyond; separated classes are where it would show."""
    rng = np.random.default_rng(n)
    for _ in range(200):
        y = np.arange(n) % (2 if n < 5000 else 20) == 0
        weight, score = rng.random(n), y + 0.5 * rng.random(n)
        assert 1 - 1e-12 <= ours.roc_auc_score(y, score, sample_weight=weight) <= 1
        assert 0 <= ours.roc_auc_score(y, -score, sample_weight=weight) <= 1e-12
