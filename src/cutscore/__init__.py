"""cutscore: from scores to decisions.

A sweep is everything a set of scores can tell about its labels. Every curve, number, calibration
and decision in cutscore is a short function of one; every learner is a few passes that add up
summaries of blocks of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.core.lazy import attributes

if TYPE_CHECKING:
    from cutscore.calibration.calibrators import Affine as Affine
    from cutscore.calibration.calibrators import Beta as Beta
    from cutscore.calibration.calibrators import Calibrator as Calibrator
    from cutscore.calibration.calibrators import Chain as Chain
    from cutscore.calibration.calibrators import Gaussian as Gaussian
    from cutscore.calibration.calibrators import Monotone as Monotone
    from cutscore.calibration.comparison import MethodComparison as MethodComparison
    from cutscore.calibration.fitting import calibrate as calibrate
    from cutscore.calibration.fitting import cross_fit as cross_fit
    from cutscore.calibration.intervals import VennAbers as VennAbers
    from cutscore.calibration.intervals import venn_abers as venn_abers
    from cutscore.calibration.line import CalibrationLine as CalibrationLine
    from cutscore.calibration.line import calibration_line as calibration_line
    from cutscore.calibration.odds import llr as llr
    from cutscore.calibration.odds import probability as probability
    from cutscore.calibration.prevalence import CorrectedPrevalence as CorrectedPrevalence
    from cutscore.calibration.prevalence import corrected_prevalence as corrected_prevalence
    from cutscore.calibration.shift import PriorShift as PriorShift
    from cutscore.calibration.shift import prior_shift as prior_shift
    from cutscore.comparison import power as power
    from cutscore.comparison.agreement import Agreement as Agreement
    from cutscore.comparison.agreement import cohen_kappa as cohen_kappa
    from cutscore.comparison.bootstrap import bootstrap_rows as bootstrap_rows
    from cutscore.comparison.comparison import Comparison as Comparison
    from cutscore.comparison.comparison import compare as compare
    from cutscore.comparison.comparison import compare_unpaired as compare_unpaired
    from cutscore.comparison.covariance import AucCovariance as AucCovariance
    from cutscore.comparison.covariance import ContrastTest as ContrastTest
    from cutscore.comparison.covariance import auc_covariance as auc_covariance
    from cutscore.comparison.curves import CurveTest as CurveTest
    from cutscore.comparison.curves import compare_curves as compare_curves
    from cutscore.comparison.curves import compare_curves_unpaired as compare_curves_unpaired
    from cutscore.comparison.groups import GroupAuc as GroupAuc
    from cutscore.comparison.groups import by_group as by_group
    from cutscore.comparison.groups import compare_groups as compare_groups
    from cutscore.comparison.net_benefit import (
        NetBenefitDifference as NetBenefitDifference,
    )
    from cutscore.comparison.net_benefit import compare_net_benefit as compare_net_benefit
    from cutscore.comparison.rows import units as units
    from cutscore.core.errors import CutscoreError as CutscoreError
    from cutscore.core.errors import DataError as DataError
    from cutscore.core.errors import UndefinedError as UndefinedError
    from cutscore.core.interval import Interval as Interval
    from cutscore.decision.choice import OperatingPoint as OperatingPoint
    from cutscore.decision.choice import Stability as Stability
    from cutscore.decision.choice import choose as choose
    from cutscore.decision.three_way import ThreeWayPoint as ThreeWayPoint
    from cutscore.decision.verdict import Verdict as Verdict
    from cutscore.detector import export as export
    from cutscore.inference.auc import auc_interval as auc_interval
    from cutscore.inference.bootstrap import Bootstrap as Bootstrap
    from cutscore.inference.bootstrap import bootstrap as bootstrap
    from cutscore.inference.net_benefit import Estimates as Estimates
    from cutscore.inference.net_benefit import NetBenefitAt as NetBenefitAt
    from cutscore.inference.net_benefit import net_benefit_at as net_benefit_at
    from cutscore.inference.placements import auc_variance as auc_variance
    from cutscore.inference.points import CurvePoint as CurvePoint
    from cutscore.inference.points import sensitivity_at as sensitivity_at
    from cutscore.inference.points import specificity_at as specificity_at
    from cutscore.inference.rates import interval as interval
    from cutscore.inference.roc_band import Band as Band
    from cutscore.inference.roc_band import roc_band as roc_band
    from cutscore.inference.smoothing import SmoothRoc as SmoothRoc
    from cutscore.inference.smoothing import smooth_roc as smooth_roc
    from cutscore.inference.units import Units as Units
    from cutscore.linear.line import Fit as Fit
    from cutscore.linear.line import LinearDetector as LinearDetector
    from cutscore.linear.line import Margins as Margins
    from cutscore.linear.moments import ClassMoments as ClassMoments
    from cutscore.measures.aim import Aim as Aim
    from cutscore.measures.confusion import Confusion as Confusion
    from cutscore.measures.costs import Costs as Costs
    from cutscore.measures.registry import f as f
    from cutscore.measures.triage import Triage as Triage
    from cutscore.policy.artefact import Policy as Policy
    from cutscore.sweeps.areas import PartialAuc as PartialAuc
    from cutscore.sweeps.areas import auc as auc
    from cutscore.sweeps.areas import average_precision as average_precision
    from cutscore.sweeps.areas import equal_error_rate as equal_error_rate
    from cutscore.sweeps.areas import gini as gini
    from cutscore.sweeps.areas import kolmogorov_smirnov as kolmogorov_smirnov
    from cutscore.sweeps.areas import partial_auc as partial_auc
    from cutscore.sweeps.binned import BinnedSweep as BinnedSweep
    from cutscore.sweeps.cost_curve import CostCurve as CostCurve
    from cutscore.sweeps.cost_curve import NetBenefit as NetBenefit
    from cutscore.sweeps.cost_curve import cost_curve as cost_curve
    from cutscore.sweeps.cost_curve import h_measure as h_measure
    from cutscore.sweeps.cost_curve import net_benefit as net_benefit
    from cutscore.sweeps.cost_curve import thresholds_for as thresholds_for
    from cutscore.sweeps.curves import Det as Det
    from cutscore.sweeps.curves import Gain as Gain
    from cutscore.sweeps.curves import Lift as Lift
    from cutscore.sweeps.curves import PrecisionRecall as PrecisionRecall
    from cutscore.sweeps.curves import Roc as Roc
    from cutscore.sweeps.curves import det as det
    from cutscore.sweeps.curves import gain as gain
    from cutscore.sweeps.curves import lift as lift
    from cutscore.sweeps.curves import pr as pr
    from cutscore.sweeps.curves import roc as roc
    from cutscore.sweeps.hull import CostRange as CostRange
    from cutscore.sweeps.hull import Hull as Hull
    from cutscore.sweeps.hull import JointHull as JointHull
    from cutscore.sweeps.hull import hull as hull
    from cutscore.sweeps.proper_scores import Decomposition as Decomposition
    from cutscore.sweeps.proper_scores import Reliability as Reliability
    from cutscore.sweeps.proper_scores import brier as brier
    from cutscore.sweeps.proper_scores import cllr as cllr
    from cutscore.sweeps.proper_scores import decompose as decompose
    from cutscore.sweeps.proper_scores import log_loss as log_loss
    from cutscore.sweeps.proper_scores import min_cllr as min_cllr
    from cutscore.sweeps.proper_scores import reliability as reliability
    from cutscore.sweeps.sketch import Sketch as Sketch
    from cutscore.sweeps.sweep import Sweep as Sweep
    from cutscore.sweeps.sweep import sweep as sweep
    from cutscore.tables.scans.groups import by_group_file as by_group_file
    from cutscore.tables.scans.rows import rows_file as rows_file
    from cutscore.tables.scans.sweeps import sweep_file as sweep_file

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use: `cutscore --help` and `import cutscore` need no
# NumPy. A test holds this table and the imports above together.
_HOME = {
    "CostRange": "sweeps.hull",
    "Hull": "sweeps.hull",
    "JointHull": "sweeps.hull",
    "hull": "sweeps.hull",
    "Interval": "core.interval",
    "Sketch": "sweeps.sketch",
    "Sweep": "sweeps.sweep",
    "sweep": "sweeps.sweep",
    "Units": "inference.units",
    "PartialAuc": "sweeps.areas",
    "auc": "sweeps.areas",
    "average_precision": "sweeps.areas",
    "equal_error_rate": "sweeps.areas",
    "gini": "sweeps.areas",
    "kolmogorov_smirnov": "sweeps.areas",
    "partial_auc": "sweeps.areas",
    "BinnedSweep": "sweeps.binned",
    "Affine": "calibration.calibrators",
    "Beta": "calibration.calibrators",
    "Calibrator": "calibration.calibrators",
    "Chain": "calibration.calibrators",
    "Gaussian": "calibration.calibrators",
    "Monotone": "calibration.calibrators",
    "MethodComparison": "calibration.comparison",
    "calibrate": "calibration.fitting",
    "cross_fit": "calibration.fitting",
    "VennAbers": "calibration.intervals",
    "venn_abers": "calibration.intervals",
    "CalibrationLine": "calibration.line",
    "calibration_line": "calibration.line",
    "llr": "calibration.odds",
    "probability": "calibration.odds",
    "CorrectedPrevalence": "calibration.prevalence",
    "corrected_prevalence": "calibration.prevalence",
    "PriorShift": "calibration.shift",
    "prior_shift": "calibration.shift",
    "Confusion": "measures.confusion",
    "Triage": "measures.triage",
    "CostCurve": "sweeps.cost_curve",
    "NetBenefit": "sweeps.cost_curve",
    "cost_curve": "sweeps.cost_curve",
    "h_measure": "sweeps.cost_curve",
    "net_benefit": "sweeps.cost_curve",
    "thresholds_for": "sweeps.cost_curve",
    "Det": "sweeps.curves",
    "Gain": "sweeps.curves",
    "Lift": "sweeps.curves",
    "PrecisionRecall": "sweeps.curves",
    "Roc": "sweeps.curves",
    "det": "sweeps.curves",
    "gain": "sweeps.curves",
    "lift": "sweeps.curves",
    "pr": "sweeps.curves",
    "roc": "sweeps.curves",
    "OperatingPoint": "decision.choice",
    "Stability": "decision.choice",
    "Verdict": "decision.verdict",
    "choose": "decision.choice",
    "Policy": "policy.artefact",
    "sweep_file": "tables.scans.sweeps",
    "by_group_file": "tables.scans.groups",
    "rows_file": "tables.scans.rows",
    "CutscoreError": "core.errors",
    "DataError": "core.errors",
    "UndefinedError": "core.errors",
    "Band": "inference.roc_band",
    "Bootstrap": "inference.bootstrap",
    "auc_interval": "inference.auc",
    "auc_variance": "inference.placements",
    "bootstrap": "inference.bootstrap",
    "interval": "inference.rates",
    "roc_band": "inference.roc_band",
    "Fit": "linear.line",
    "LinearDetector": "linear.line",
    "Margins": "linear.line",
    "ClassMoments": "linear.moments",
    "Aim": "measures.aim",
    "Costs": "measures.costs",
    "f": "measures.registry",
    "Agreement": "comparison.agreement",
    "cohen_kappa": "comparison.agreement",
    "AucCovariance": "comparison.covariance",
    "Comparison": "comparison.comparison",
    "ContrastTest": "comparison.covariance",
    "CurveTest": "comparison.curves",
    "GroupAuc": "comparison.groups",
    "auc_covariance": "comparison.covariance",
    "bootstrap_rows": "comparison.bootstrap",
    "by_group": "comparison.groups",
    "compare": "comparison.comparison",
    "compare_unpaired": "comparison.comparison",
    "compare_curves": "comparison.curves",
    "compare_curves_unpaired": "comparison.curves",
    "compare_groups": "comparison.groups",
    "units": "comparison.rows",
    "Decomposition": "sweeps.proper_scores",
    "Reliability": "sweeps.proper_scores",
    "brier": "sweeps.proper_scores",
    "cllr": "sweeps.proper_scores",
    "decompose": "sweeps.proper_scores",
    "log_loss": "sweeps.proper_scores",
    "min_cllr": "sweeps.proper_scores",
    "reliability": "sweeps.proper_scores",
    "Estimates": "inference.net_benefit",
    "NetBenefitAt": "inference.net_benefit",
    "net_benefit_at": "inference.net_benefit",
    "NetBenefitDifference": "comparison.net_benefit",
    "compare_net_benefit": "comparison.net_benefit",
    "CurvePoint": "inference.points",
    "sensitivity_at": "inference.points",
    "specificity_at": "inference.points",
    "SmoothRoc": "inference.smoothing",
    "ThreeWayPoint": "decision.three_way",
    "smooth_roc": "inference.smoothing",
}
# Modules that go by a short name.
_MODULES = {
    "detector": "detector",
    "estimators": "estimators",
    "export": "detector.export",
    "linear": "linear",
    "metrics": "metrics",
    "plot": "plot",
    "policy": "policy",
    "power": "comparison.power",
    "report": "report",
    "spark": "spark",
    "tables": "tables",
    "torch": "torch",
    "training": "training",
}

__all__ = list(_HOME)  # not the modules: import * must not need torch

__getattr__ = attributes(__name__, _HOME, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
