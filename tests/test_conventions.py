"""The table of docs/conventions.md, row by row: its inputs are run and give what it says.

The cases are listed here as well, so that none gets lost from the table without anybody noticing.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import cutscore as cs

DOC = Path(__file__).parents[1] / "docs" / "conventions.md"

CASES = """
empty empty-measure empty-curve one-class one-class-merged one-class-auc one-class-weighted
one-class-roc no-positives-pr no-negatives-pr no-positives-ap no-negatives-ap all-equal ties
length-labels length-weights

score-nan score-infinite score-infinite-curve score-negative-zero score-denormal score-near-tie
score-float32 score-float16 score-longdouble score-longdouble-inexact score-longdouble-nan
score-bool score-int score-int64-beyond score-uint64-beyond score-int-huge score-decimal
score-int-unprintable score-int-among-floats score-fraction-huge score-decimal-nan
score-none score-complex score-datetime score-text score-object-text score-masked
score-masked-nothing score-missing-column score-string score-number score-0d score-2d score-n-by-1
score-ragged score-iterator

weight-zero weight-zero-class weight-all-zero weight-negative weight-inf weight-nan
weight-overflow weight-overflow-merged weight-huge weight-denormal weight-int weight-bool
weight-none weight-text weight-complex weight-number weight-n-by-1 weight-and-count weight-int-huge

label-01 label-bool label-minus-1-1 label-float label-float16 label-longdouble label-only-1
label-only-minus-1 label-only-2 label-12 label-12-named label-0-named label-three
label-three-named label-minus-1-0-1 label-probability label-two-floats label-text label-text-named
label-text-01 label-text-three label-bytes label-object-numbers label-object-mixed
label-unhashable label-none label-text-none label-nan label-nan-named label-int64-beyond
label-complex label-datetime label-masked label-string label-missing-column label-0d label-n-by-1
positive-unknown positive-unknown-text positive-absent positive-text-of-numbers positive-nan
positive-out-of-type positive-huge positive-array positive-list positive-expression label-int-huge
label-int-huge-named

numpy-strided numpy-byte-swapped memoryview pandas pandas-index pandas-nullable pandas-nullable-na
pandas-boolean pandas-boolean-na pandas-object-na pandas-text pandas-category
pandas-category-numbers pandas-category-na pandas-arrow pandas-frame polars polars-null polars-nan
polars-text polars-categorical polars-frame arrow arrow-null arrow-chunked arrow-chunked-null
polars-expression
arrow-dictionary arrow-table torch-cpu torch-gradient torch-bfloat16 torch-elsewhere

at-nan at-inf at-nothing at-ratio at-ratio-nothing at-ratio-negative at-ratio-everything
at-ratio-one-class at-no-positives start-of-pr start-of-gain start-of-lift
counts-any-order counts-zero
counts-negative counts-nan counts-too-many counts-length partial-empty partial-both-axes
beta-infinite beta-huge counts-too-many-huge counts-too-many-mixed counts-negative-huge
counts-floats counts-object counts-decimal counts-decimal-parts

choose-empty choose-only-negatives choose-only-positives choose-no-positives
choose-no-positives-rate choose-no-positives-top choose-no-negatives choose-no-negatives-both
choose-all-equal
choose-tie choose-tie-catches choose-tie-decimals choose-between choose-neighbours
choose-next-to-inf choose-inf choose-nan choose-all-nan choose-infinite choose-infinite-nan
choose-broken-regret choose-weighted-stability
review-nothing review-free review-negative review-miss-alone
review-capacity-0 review-contradiction review-only-positives review-only-negatives
review-no-negatives-limit review-other-measure review-inf review-threshold-one
 limit-undefined
limit-infeasible limit-infeasible-nearest limit-percent limit-no-sign prior-zero
guarantee-few-negatives guarantee-enough guarantee-few-positives guarantee-precision
guarantee-weighted guarantee-other guarantee-prior confidence-percent

costs-nothing costs-negative costs-infinite costs-free-miss costs-free-alarm hull-one-class
hull-on-a-line hull-worse-than-chance hull-point-useless ratios ratios-negative
benefit-no-probability benefit-certain benefit-certain-wrong h-worse-than-chance
benefit-at-one benefit-at-zero

interval-perfect interval-perfect-bootstrap interval-one-row interval-one-row-delong
interval-one-class interval-weighted
interval-level interval-nowhere interval-several interval-ratio interval-undefined
interval-flag-all interval-flag-none interval-flag-all-precision
rate-at-end rate-between rate-tied rate-perfect smooth-separated smooth-one-threshold
smooth-infinite
squares-merged squares-huge bootstrap-weighted bootstrap-nan bootstrap-one

compare-alike compare-no-spread compare-nan compare-statistic compare-units group-interval-one
compare-alike-margin compare-two-sided-margin compare-few-samples contrasts-copies curves-alike
curves-one-class
group-interval-flat group-one-class
group-none-has-both group-missing
kappa-perfect kappa-one-label kappa-one-rater kappa-one-row kappa-types kappa-missing kappa-scores
kappa-ordinal-text kappa-absent-rating

probability-outside probability-certain probability-certain-wrong probability-one-class
cllr-infinite cllr-infinite-wrong cllr-one-class cllr-nothing-said min-cllr-any-scores
decompose-infinite decompose-one-class reliability-weighted reliability-no-band

calibrate-one-class calibrate-infinite calibrate-infinite-monotone calibrate-separated
calibrate-separated-smooth calibrate-no-variance calibrate-all-equal calibrate-beta-outside
calibrate-beta-certain calibrate-ends calibrate-ends-bare calibrate-auto-few calibrate-option
llr-nan llr-infinite llr-infinite-flat llr-number inverse-none calibrator-json
calibrator-json-version calibrator-json-unknown shift-empty shift-few shift-flat shift-beyond
probability-certain llr-certain llr-no-probability
prevalence-no-errors prevalence-beyond prevalence-one-class prevalence-chance prevalence-weighted
prevalence-too-many
shift-infinite venn-abers-infinite venn-abers-one-class

learn-one-class learn-one-class-weighted learn-three-classes learn-no-rows learn-one-positive
learn-one-positive-structural learn-labels learn-labels-costs learn-nan learn-nan-logistic
learn-nan-perceptron learn-infinite learn-weight-zero learn-weight-two learn-weight-negative
learn-class-weight-zero learn-constant-column learn-constant-column-free learn-all-constant
learn-all-constant-logistic learn-copied-column learn-copied-column-penalty learn-wide
learn-wide-squares learn-flat learn-small-units learn-far-from-zero learn-shrinkage learn-bank-few

line-on-it line-on-it-margin line-zero line-zero-scores line-zero-margins line-margins-label
line-no-rows

logistic-separated logistic-separated-free logistic-touching-free logistic-no-penalty-gap
logistic-c

perceptron-separated perceptron-not-separated perceptron-averaged perceptron-huge perceptron-tiny
perceptron-overflow perceptron-first-batch perceptron-batch-of-one-class

structural-nothing structural-k-too-large structural-k-zero structural-k-missing
structural-k-without-at structural-k-share structural-measure structural-c structural-stopped

moments-one-class moments-one-class-line moments-nan moments-squares moments-one-dimension
moments-columns-differ moments-too-wide moments-version

table-no-file table-empty-file table-header-only table-ragged table-name-twice
table-unknown-column table-type-of-all-rows
table-code table-code-number table-long table-comma table-comma-either
table-number-missing table-number-text table-infinite

column-no-rows column-no-columns column-constant column-only-constant column-identifier
column-running column-running-named column-nested column-boolean column-missing column-nan
column-empty-text column-whole-levels column-text-levels column-weights
table-number-inexact table-quoted-nothing column-first-missing column-infinite
column-text-among-numbers column-unseen-level column-rare-level column-unknown column-target
column-lengths

detector-missing detector-infinite detector-no-column detector-no-rows detector-on-threshold
detector-prior-percent detector-calibrator detector-revised detector-column-missing-score
detector-column-infinite detector-other-scale detector-json detector-json-version
detector-json-changed detector-json-meant detector-json-cut-off detector-json-nan
detector-json-twice detector-json-other detector-no-file

train-one-class train-one-positive train-label-missing train-two-aims train-learner
""".split()  # noqa: SIM905 - easier to read

LIBRARIES = {"pd": "pandas", "pl": "polars", "pa": "pyarrow", "torch": "torch"}
MODULES = ("estimators", "tables", "detector", "training", "linear.closed")


class Row(NamedTuple):
    case: str
    code: str
    error: str
    outcome: str  # the code of a finding, a piece of another's message, or the value


def _rows() -> list[Row]:
    """The table's rows; one that has not the form of the others is an error, not skipped."""
    _, _, table = DOC.read_text(encoding="utf-8").partition(
        "| case | input | outcome |\n|---|---|---|\n"
    )
    out = []
    for line in table.strip().splitlines():
        if re.fullmatch(r"\| \*\*[a-z ]+\*\* \| \| \|", line):
            continue
        row = re.fullmatch(
            r"\| `([a-z0-9-]+)` \| `(.+?)` \| "
            r"(?:(\w+(?:Error|Warning)) (?:\[`(.+)`\]\(messages.md#.+\)|“(.+)”)"
            r"|`(.+?)`(?:, .+| at .+)?) \|",
            line,
        )
        assert row, f"what is this row of {DOC.name}? {line}"
        case, code, error, *outcome = row.groups()
        out.append(Row(case, code, error or "", next(filter(None, outcome))))
    return out


ROWS = _rows()


def test_every_case_is_in_the_table_once() -> None:
    assert sorted(row.case for row in ROWS) == sorted(CASES)


@cache
def _names() -> dict[str, Any]:
    """What the inputs may use."""
    names: dict[str, Any] = {name: getattr(cs, name) for name in cs._HOME}
    for short in MODULES:
        module = import_module(f"cutscore.{short}")
        names |= {name: getattr(module, name) for name in module.__all__}
    x = names["NumberTerm"](
        names["NumberColumn"]("x", mean=0.0, scale=1.0), weight=1.0, missing=0.0
    )
    s, aim = cs.sweep([0, 1], [-1, 1]), cs.Aim("youden", prior=0.5)
    policy = cs.Policy.choose(s, aim, calibrator=cs.Affine(1.0, 0.0))
    names["d"] = names["Detector"](names["LinearScorer"]((x,), 0.5), policy)
    numbers = {"nan": math.nan, "inf": math.inf, "Decimal": Decimal, "Fraction": Fraction}
    return names | numbers | {"np": np}


def _files(folder: Path) -> Callable[[str], Path]:
    number = count()

    def file(text: str) -> Path:
        path = folder / f"{next(number)}.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return file


def _category(name: str) -> Any:
    """An error or a warning: cutscore's, Python's or scikit-learn's."""
    for place in (cs, builtins, import_module("sklearn.exceptions")):
        if hasattr(place, name):
            return getattr(place, name)
    raise AssertionError(f"what is a {name}?")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.case)
def test_case(row: Row, tmp_path: Path) -> None:
    if row.case == "score-longdouble-inexact" and np.finfo(np.longdouble).nmant == 52:
        pytest.skip("a long double is a double here")
    names = _names() | {"file": _files(tmp_path)}
    for name, library in LIBRARIES.items():
        if f"{name}." in row.code or f"[{library}]" in row.code:
            names[name] = pytest.importorskip(library)
    if row.error:
        # Warnings are errors here.
        with pytest.raises(_category(row.error)) as error:
            eval(row.code, names)
        found = getattr(error.value, "finding", None)
        assert row.outcome in (str(error.value) if found is None else [found.code])
        # Users see one traceback: nothing "happened during the handling of" something else.
        assert error.value.__suppress_context__ or error.value.__context__ is None
        return
    value = eval(row.code, names)
    expected = eval(row.outcome, names)
    if isinstance(value, list):
        assert value == expected
        return
    if isinstance(value, np.ndarray):
        value = value.tolist()
        if value and isinstance(value[0], str):
            assert value == expected
            return
        assert list(map(type, value)) == list(map(type, expected))  # counts or weights
        assert [math.copysign(1, v) for v in value] == [math.copysign(1, v) for v in expected]
        assert np.array_equal(value, expected, equal_nan=True)
        return
    assert type(value) is type(expected)
    assert value == expected or (math.isnan(value) and math.isnan(expected))


def test_the_parser_reads_both_kinds_of_rows() -> None:
    assert sum(bool(row.error) for row in ROWS) > 50
    assert sum(not row.error for row in ROWS) > 50


@pytest.mark.parametrize("asked", ["0", "1025", "two", "", "-1", "²", "1" * 5000])
def test_number_of_threads(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    monkeypatch.setenv("CUTSCORE_THREADS", asked)
    with pytest.raises(cs.DataError, match="must be an integer from 1 to 1024, got '") as e:
        cs.sweep([1, 0], [2, 1])
    assert len(str(e.value)) < 130
