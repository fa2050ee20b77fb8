"""Every public function with arrays in every layout: see layouts.py.

Here each function has each layout once, with and without weights and on one thread and two by
turns, on more rows than fit into a block and into one thread's part. ``make validate`` takes every
combination, with blocks and rows as large as they are in use.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.core import _native
from cutscore.core.frozen import Frozen
from layouts import (
    LAYOUTS,
    PLAIN,
    REGISTRY,
    Case,
    Given,
    compare,
    data,
    run,
    run_refilled,
    small_blocks,
    threads,
)


@pytest.fixture(autouse=True)
def _blocks() -> Iterator[None]:
    with small_blocks():
        yield


def _id(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", REGISTRY, ids=_id)
def test_formula_and_threads(case: Case) -> None:
    """The formula holds for few rows and for many; the number of threads changes no bit."""
    for weighted in (False, True)[: 1 + case.weighted]:
        for n in (300, case.rows):
            raw = data(n, weighted)
            found = []
            for count in (1, 2):
                with threads(count):
                    found.append(case.call(Given(raw, PLAIN)))
            compare(found[1], found[0], None)
            if case.check is not None:
                case.check(raw, found[0])


@pytest.mark.slow
@pytest.mark.parametrize("case", REGISTRY, ids=_id)
def test_layouts(case: Case) -> None:
    wanted: dict[bool, Any] = {}
    for k, layout in enumerate(case.layouts()):
        weighted = case.weighted and k % 4 < 2
        raw = data(case.rows, weighted)
        with threads(1 + k % 2):
            if weighted not in wanted:
                wanted[weighted] = case.call(Given(raw, PLAIN))
            try:
                run(case, layout, raw, wanted[weighted])
            except Exception as error:
                error.add_note(f"{case.name}, {layout.name}, weighted={weighted}")
                raise


@pytest.mark.parametrize("case", REGISTRY, ids=_id)
def test_memory_is_used_again(case: Case) -> None:
    """Other rows in the same memory, between two calls whose results are looked at afterwards."""
    n = min(case.rows, 5000)
    one, other = data(n, case.weighted), data(n, case.weighted, seed=1)
    wanted = case.call(Given(one, PLAIN)), case.call(Given(other, PLAIN))
    for name in ("C", "Fortran", "strided"):
        layout = next(layout for layout in LAYOUTS if layout.name == name)
        if layout in case.layouts():
            run_refilled(case, layout, one, other, wanted)


# What is public and takes no arrays, or none that this registry could lay out.
# A sketch is a sweep: what it has from there is tried there.
SKETCH = """
    at before compact cuts flagged forget from_counts inside needs_both_classes needs_negatives
    needs_positives needs_rows needs_scores negated outline parts running sketch square_totals
    squares sums threshold_of thresholds_of
"""
ELSEWHERE = {
    "as of a sweep": " ".join(f"Sketch.{name}" for name in SKETCH.split()),
    "functions of a sweep": """
        auc auc_interval auc_variance average_precision bootstrap brier calibrate calibration_line
        choose cllr compare_curves_unpaired compare_unpaired cost_curve decompose det
        equal_error_rate gain lift gini h_measure hull interval
        kolmogorov_smirnov log_loss min_cllr net_benefit partial_auc pr reliability roc roc_band
        sensitivity_at smooth_roc specificity_at
    """,
    "functions of other results": """
        compare_groups corrected_prevalence choose_groups compare_group_choices GroupPoint.decide
        GroupPoint.gap GroupPoint.rate
        ClassMoments.needs_both_classes ClassMoments.check_finite
        LinearDetector.then LinearDetector.unit Calibrator.then Affine.then Beta.then Chain.then
        Gaussian.then Monotone.then Detector.of_policy LinearScorer.of Encoding.from_raw
        torch.AUROC.merge
        Sweep.before Sweep.cuts Sweep.flagged Sweep.forget Sweep.inside Sweep.parts Sweep.running
        Sketch Sweep.outline Policy Policy.choose Policy.from_point Policy.choose_groups
        RowCostPoint RowCostPoint.as_given RowCostPoint.expect
        RowCostPoint.expect_per_period RowCostPoint.expect_saving RowCostPoint.rule_text
        RowCostPoint.saving_as_given RowCostPoint.stability Policy.row_point
        Policy.group_facts Policy.needs_calibrator Policy.decide_known
        Sweep.sketch Sweep.square_totals Sweep.sums Sweep.thresholds_of Encoding.column_of
    """,
    "numbers and text only": """
        f Affine Beta Gaussian Chain Confusion Confusion.deployed Confusion.f Costs.gains
        Costs.needs_names
        Costs.llr Costs.probability_cost CostRange Interval JointHull.ranges Sweep.at
        Sweep.threshold_of BinnedSweep.at OperatingPoint.stability AucCovariance.intervals
        OperatingPoint.as_given ThreeWayPoint ThreeWayPoint.as_given ThreeWayPoint.expect
        ThreeWayPoint.stability Triage Triage.deployed Triage.f Aim.needs_one_cut
        AucCovariance.test PartialAuc
        GroupAuc.intervals OperatingPoint.rule_text ThreeWayPoint.rule_text
        GroupAuc.interval Margins.histogram Sweep.needs_both_classes Sweep.needs_positives
        Sweep.needs_negatives ArrayRows.part Encoding.arranged Verdict
        Sweep.needs_rows Sweep.needs_scores Sweep.squares Sweep.compact Sweep.negated
        CutscoreError DataError UndefinedError Comparison.cost_text
        DecisionClassifier.get_metadata_routing DecisionClassifier.revised
        Detector.revised Detector.facts Detector.added Detector.check_kept Detector.watch Training
        ColumnScorer ColumnScorer.facts LinearScorer LinearScorer.facts ModelScorer.facts
        Aim Aim.asked Policy.revised Policy.facts Policy.export Policy.log Policy.save Policy.load
        Policy.to_json Policy.from_json
        NumberColumn NumberTerm CategoryColumn CategoryTerm torch.AUROC.reset
    """,
    "plain lists, for JSON": """
        Policy.to_dict Policy.from_dict Costs.from_dict
        ClassMoments.to_dict ClassMoments.from_dict Calibrator.to_dict Calibrator.from_dict
        Calibrator.to_json Calibrator.from_json Affine.to_dict Affine.from_dict Affine.to_json
        Affine.from_json Beta.to_dict Beta.from_dict Beta.to_json Beta.from_json Chain.to_dict
        Chain.from_dict Chain.to_json Chain.from_json Gaussian.to_dict Gaussian.from_dict
        Gaussian.to_json Gaussian.from_json Monotone.to_dict Monotone.from_dict Monotone.to_json
        Monotone.from_json Detector.to_dict Detector.to_json Detector.from_json Detector.load
        Detector.save ColumnScorer.from_dict ColumnScorer.of_dict ColumnScorer.to_dict
        LinearScorer.from_dict LinearScorer.of_dict LinearScorer.to_dict Scorer.from_dict
        ModelScorer.from_dict ModelScorer.of_dict ModelScorer.to_dict
        Scorer.of_dict Scorer.to_dict torch.AUROC.state_dict torch.AUROC.load_state_dict
        Aim.from_dict Aim.to_dict
    """,
    "abstract: its kinds are here": """
        Calibrator Calibrator.llr Calibrator.probability Calibrator.decide Calibrator.inverse Rows
        Rows.reduce Rows.fold Scorer Scorer.facts Scorer.moved Scorer.scored Scorer.scores
    """,
    "has no inverse, and says so": "Beta.inverse Chain.inverse Gaussian.inverse Monotone.inverse",
    "made by functions that are here; Frozen owns its arrays, tested below": """
        Agreement
        AucCovariance Band BinnedSweep Bootstrap ClassMoments CostCurve Det Gain Lift GroupAuc Hull
        GroupIntervals JointHull MoneyCurve NetBenefit PrecisionRecall Reliability Roc Stability
        VennAbers Estimates NetBenefitAt NetBenefitDifference SmoothRoc
    """,
    "made by functions that are here; they hold no arrays": """
        CalibrationLine Comparison ContrastTest CurvePoint CurveTest Decomposition Fit ClassesFit
        expected_failed_checks CorrectedPrevalence
        MethodComparison OperatingPoint OperatingPoint.expect PriorShift GroupComparison GroupPoint
        GroupSweeps
    """,
    "reads files: tests/test_files.py, test_rows_files.py": "sweep_file by_group_file rows_file",
    "takes tables: tests/test_encoding.py, test_detector.py, test_apply.py": """
        Detector.novelty Encoding.of ColumnScorer.scored ColumnScorer.scores ColumnScorer.moved
        LinearScorer.scored LinearScorer.moved LinearScorer.scores ModelScorer ModelScorer.from_file
        ModelScorer.moved ModelScorer.scored ModelScorer.scores
        Encoding Encoding.blocks Detector Detector.apply Detector.apply_batches Detector.decide
        Detector.llr Detector.probability Detector.scores NumberColumn.fill NumberColumn.values
        NumberTerm.contributions CategoryColumn.fill CategoryColumn.texts CategoryColumn.values
        CategoryTerm.contributions
    """,
}
NAMES = {name: reason for reason, names in ELSEWHERE.items() for name in names.split()}


def _public() -> Iterator[str]:
    """All public functions and classes, and the methods that these have from cutscore."""
    for module, prefix in (
        ("cutscore", ""),
        ("cutscore.metrics", "metrics."),
        ("cutscore.estimators", ""),
        ("cutscore.linear", ""),
        ("cutscore.detector", ""),
        ("cutscore.torch", "torch."),
    ):
        if module == "cutscore.torch":
            pytest.importorskip("torch")
        home = import_module(module)
        for name in home.__all__:
            yield prefix + name
            thing = getattr(home, name)
            if isinstance(thing, type):
                for kind in thing.__mro__:
                    if kind.__module__.startswith("cutscore."):
                        for method, value in vars(kind).items():
                            is_method = inspect.isfunction(value) or isinstance(
                                value, (classmethod, staticmethod)
                            )
                            if is_method and not method.startswith("_"):
                                yield f"{prefix}{name}.{method}"


def test_every_public_function_is_here() -> None:
    """A new function has an entry in REGISTRY, or its reason in ELSEWHERE."""
    public = set(_public())
    here = {case.name.partition("(")[0] for case in REGISTRY}
    here |= {name for case in REGISTRY for name in case.covers}
    assert sorted(public - here - set(NAMES)) == []
    assert sorted(set(NAMES) - public) == []
    assert sorted(set(NAMES) & here) == []


@dataclass(frozen=True, eq=False)
class _Value(Frozen):
    a: Any


@pytest.mark.parametrize("name", [layout.name for layout in LAYOUTS if layout.column is not None])
def test_frozen_values_own_their_arrays(name: str) -> None:
    """Arrays that nobody else can write to are kept as they are, all others are copied."""
    layout = next(layout for layout in LAYOUTS if layout.name == name)
    given = Given(data(300, True), layout)
    a = np.asarray(given.weight)
    before = a.copy()
    value = _Value(a)
    given.arguments.check_apart(value)
    given.arguments.overwrite()
    assert np.array_equal(value.a, before)
    assert not value.a.flags.writeable
    assert np.shares_memory(_Value(value.a).a, value.a)
    assert np.shares_memory(_Value(value.a[::2]).a, value.a)
    fresh = np.arange(9.0)
    assert np.shares_memory(_Value._adopt(fresh).a, fresh)
    with pytest.raises(ValueError, match="read-only"):
        fresh[0] = 1


def test_arrays_of_the_core_are_kept() -> None:
    """Nobody else holds them: a copy would cost time and memory for nothing."""
    columns = np.array([0.1, 0.2]), np.array([1, 0], np.uint8)
    for a in _native.sweep(*columns, 0.0, 1.0, 1):
        assert np.shares_memory(_Value(a).a, a)
    view = np.asarray(memoryview(columns[0]).toreadonly())
    assert not np.shares_memory(_Value(view).a, view)


def test_values_with_arrays_are_frozen() -> None:
    arrays = ("Floats", "Masses", "NDArray", "Flags", "Array")
    for name in cs.__all__:
        thing = getattr(cs, name)
        if is_dataclass(thing) and any(str(f.type).startswith(arrays) for f in fields(thing)):
            assert issubclass(thing, Frozen), name
