"""Several AUCs tested at once: against published figures, compare, and F from scipy."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import cutscore as cs
from raising import finding

Array = NDArray[Any]

# DeLong, DeLong & Clarke-Pearson 1988: albumin, total protein, K-G score, and whether surgery
# helped, of 43 patients.
PATIENTS = """
30 58 10 0  32 63 5 1  39 68 3 1  28 48 6 0  32 58 3 1  09 40 5 0  25 57 8 0  16 56 5 1  38 57 5 1
37 67 6 1  32 54 4 1  38 66 6 1  41 66 5 1  36 57 5 1  43 70 4 1  36 67 4 0  23 44 6 1  42 76 4 0
40 66 6 0  35 58 6 1  38 68 7 1  30 47 8 0  45 74 5 1  37 74 5 1  31 66 6 1  41 82 6 1  43 70 5 1
43 65 4 1  32 51 5 1  26 47 6 1  33 68 6 0  17 40 7 0  37 61 5 1  33 63 7 1  42 77 6 1  35 62 5 1
29 57 9 0  21 48 7 1  28 62 8 0  40 70 7 1  33 57 6 1  37 69 5 1  36 66 5 1
"""


def several(n: int = 200, k: int = 4, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 4 == 0).astype(int)
    common = rng.standard_normal(n)[:, None]
    return y, common + rng.standard_normal((n, k)) + y[:, None] * (1 + np.arange(k) / 10)


def test_published() -> None:
    """The figures that SAS prints for these data: PROC LOGISTIC, ROCCONTRAST."""
    albumin, protein, kg, helped = np.array(PATIENTS.split(), int).reshape(-1, 4).T
    c = cs.auc_covariance(helped, {"albumin": albumin, "protein": protein, "K-G": 10 - kg})
    assert c.auc == pytest.approx([0.7366, 0.6478, 0.7258], abs=5e-5)
    test = c.test(method="delong")
    assert (test.statistic, test.rank) == (pytest.approx(2.5340, abs=5e-5), 2)
    assert test.p_value == pytest.approx(0.2817, abs=5e-5)
    assert repr(test) == "test whether albumin, protein and K-G differ: chi²(2) = 2.53, p = 0.28"


@pytest.mark.parametrize("unit", [None, np.arange(200) // 2])
def test_two_scores_are_a_comparison(unit: Array | None) -> None:
    y, scores = several(k=2)
    covariance = cs.auc_covariance(y, scores, unit=unit)
    c = cs.compare(y, *scores.T, unit=unit)
    assert covariance.test().p_value == pytest.approx(c.p_value, rel=1e-9)
    assert covariance.test().statistic == pytest.approx(c.z**2, rel=1e-9)
    assert covariance.test().df == pytest.approx(c.df)
    by_z = 2 * stats.norm.sf(abs(c.z))
    assert covariance.test(method="delong").p_value == pytest.approx(by_z, rel=1e-9)
    assert covariance.test().powerless == c.powerless


def test_by_solving() -> None:
    y, scores = several()
    c = cs.auc_covariance(y, scores)
    difference = c.auc[1:] - c.auc[0]
    jacobian = np.c_[-np.ones(3), np.eye(3)]
    squared = difference @ np.linalg.solve(jacobian @ c.covariance @ jacobian.T, difference)
    test = c.test()
    assert test.statistic == pytest.approx(squared, rel=1e-9)
    m = 49  # positives less one
    f = squared * (m - 3 + 1) / (m * 3)
    assert (test.rank, test.df, test.f) == (3, 47, pytest.approx(f))
    assert test.p_value == pytest.approx(stats.f.sf(f, 3, 47), rel=1e-9)
    plain = c.test(method="delong")
    assert (plain.df, plain.p_value) == (inf, pytest.approx(stats.chi2.sf(squared, 3), rel=1e-9))
    # The same contrasts in other words, of other lengths, and one of them twice.
    other = [[1e-3, 0, 0, -1e-3], [0, 5, -5, 0], [1, 1, -2, 0], [2, 2, -4, 0]]
    assert c.test(other).statistic == pytest.approx(squared, rel=1e-9)


def test_copies_count_once() -> None:
    y, scores = several(k=3)
    a, b, c = scores.T
    once = cs.auc_covariance(y, [a, b, c]).test()
    more = cs.auc_covariance(y, [a, b, c, 2 * a, np.exp(b)]).test()
    assert (more.statistic, more.rank) == (pytest.approx(once.statistic, rel=1e-6), once.rank)
    assert more.p_value == pytest.approx(once.p_value, rel=1e-6)
    none = cs.auc_covariance(y, [a, a, 2 * a]).test()
    assert (none.statistic, none.rank, none.p_value, none.f) == (0, 0, 1, 0)


def test_differences_that_never_vary() -> None:
    y, perfect, useless = [1, 1, 0, 0], [2, 2, 1, 1], [1, 1, 1, 1]
    with finding("no-variation", cs.UndefinedError):
        cs.auc_covariance(y, [perfect, useless]).test()


def test_a_test_without_power_says_so() -> None:
    y, b = np.repeat([1, 0], [10, 90]), np.r_[np.full(9, 2), 0, np.ones(90)]
    a, c = np.r_[np.full(9, 2), 1, np.ones(90)], np.r_[np.full(9, 2), 1, 2, np.ones(89)]
    test = cs.auc_covariance(y, [a, b, c]).test()
    assert test.powerless
    assert repr(test).endswith("even a perfect score would not be significant")
    y, scores = several(2000)
    assert not cs.auc_covariance(y, scores).test().powerless


@pytest.mark.parametrize(
    "contrasts", [[1, -1], [1, 1, -1], [0, 0, 0], [[1, -1, 0], [np.nan, 0, 0]], "abc"]
)
def test_refuses(contrasts: Any) -> None:
    y, scores = several(k=3)
    with finding("bad-argument", parameter="contrasts"):
        cs.auc_covariance(y, scores).test(contrasts)


def test_refuses_the_rest() -> None:
    y, scores = several(20, 5)
    with finding("too-few", cs.DataError, need=2, have=1):
        cs.auc_covariance(y, scores[:, :1]).test()
    with finding("bad-argument", parameter="method", value="t"):
        cs.auc_covariance(y, scores).test(method="t")
    with finding("too-few", what="a test of 4 contrasts", need=4, above=True):
        cs.auc_covariance(y[:16], scores[:16]).test()
