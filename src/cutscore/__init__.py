"""cutscore: from scores to decisions.

A sweep is everything a set of scores can tell about its labels. Every curve, number, calibration
and decision in cutscore is a short function of one; every learner is a few passes that add up
summaries of blocks of rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutscore._hull import CostRange as CostRange
    from cutscore._hull import Hull as Hull
    from cutscore._hull import JointHull as JointHull
    from cutscore._hull import hull as hull
    from cutscore._interval import Interval as Interval
    from cutscore._sweep import Sweep as Sweep
    from cutscore._sweep import sweep as sweep
    from cutscore._units import Units as Units
    from cutscore.areas import PartialAuc as PartialAuc
    from cutscore.areas import auc as auc
    from cutscore.areas import average_precision as average_precision
    from cutscore.areas import equal_error_rate as equal_error_rate
    from cutscore.areas import gini as gini
    from cutscore.areas import kolmogorov_smirnov as kolmogorov_smirnov
    from cutscore.areas import partial_auc as partial_auc
    from cutscore.benefit import Estimates as Estimates
    from cutscore.benefit import NetBenefitAt as NetBenefitAt
    from cutscore.benefit import net_benefit_at as net_benefit_at
    from cutscore.binned import BinnedSweep as BinnedSweep
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
    from cutscore.calibration.shift import PriorShift as PriorShift
    from cutscore.calibration.shift import prior_shift as prior_shift
    from cutscore.confusion import Confusion as Confusion
    from cutscore.costs import CostCurve as CostCurve
    from cutscore.costs import NetBenefit as NetBenefit
    from cutscore.costs import cost_curve as cost_curve
    from cutscore.costs import h_measure as h_measure
    from cutscore.costs import net_benefit as net_benefit
    from cutscore.costs import thresholds_for as thresholds_for
    from cutscore.curves import Det as Det
    from cutscore.curves import Gain as Gain
    from cutscore.curves import Lift as Lift
    from cutscore.curves import PrecisionRecall as PrecisionRecall
    from cutscore.curves import Roc as Roc
    from cutscore.curves import det as det
    from cutscore.curves import gain as gain
    from cutscore.curves import lift as lift
    from cutscore.curves import pr as pr
    from cutscore.curves import roc as roc
    from cutscore.decision import OperatingPoint as OperatingPoint
    from cutscore.decision import Stability as Stability
    from cutscore.decision import choose as choose
    from cutscore.engines.files import sweep_file as sweep_file
    from cutscore.engines.groups import by_group_file as by_group_file
    from cutscore.engines.rows import rows_file as rows_file
    from cutscore.errors import CutscoreError as CutscoreError
    from cutscore.errors import DataError as DataError
    from cutscore.errors import UndefinedError as UndefinedError
    from cutscore.inference import Band as Band
    from cutscore.inference import Bootstrap as Bootstrap
    from cutscore.inference import auc_interval as auc_interval
    from cutscore.inference import auc_variance as auc_variance
    from cutscore.inference import bootstrap as bootstrap
    from cutscore.inference import interval as interval
    from cutscore.inference import roc_band as roc_band
    from cutscore.linear.detector import Fit as Fit
    from cutscore.linear.detector import LinearDetector as LinearDetector
    from cutscore.linear.detector import Margins as Margins
    from cutscore.moments import ClassMoments as ClassMoments
    from cutscore.objectives import Aim as Aim
    from cutscore.objectives import Costs as Costs
    from cutscore.objectives import f as f
    from cutscore.paired.benefit import NetBenefitDifference as NetBenefitDifference
    from cutscore.paired.benefit import compare_net_benefit as compare_net_benefit
    from cutscore.paired.comparing import AucCovariance as AucCovariance
    from cutscore.paired.comparing import Comparison as Comparison
    from cutscore.paired.comparing import ContrastTest as ContrastTest
    from cutscore.paired.comparing import auc_covariance as auc_covariance
    from cutscore.paired.comparing import compare as compare
    from cutscore.paired.comparing import compare_unpaired as compare_unpaired
    from cutscore.paired.curves import CurveTest as CurveTest
    from cutscore.paired.curves import compare_curves as compare_curves
    from cutscore.paired.curves import compare_curves_unpaired as compare_curves_unpaired
    from cutscore.paired.drawing import bootstrap_rows as bootstrap_rows
    from cutscore.paired.groups import GroupAuc as GroupAuc
    from cutscore.paired.groups import by_group as by_group
    from cutscore.paired.groups import compare_groups as compare_groups
    from cutscore.paired.rows import units as units
    from cutscore.points import CurvePoint as CurvePoint
    from cutscore.points import sensitivity_at as sensitivity_at
    from cutscore.points import specificity_at as specificity_at
    from cutscore.scoring import Decomposition as Decomposition
    from cutscore.scoring import Reliability as Reliability
    from cutscore.scoring import brier as brier
    from cutscore.scoring import cllr as cllr
    from cutscore.scoring import decompose as decompose
    from cutscore.scoring import log_loss as log_loss
    from cutscore.scoring import min_cllr as min_cllr
    from cutscore.scoring import reliability as reliability
    from cutscore.smoothing import SmoothRoc as SmoothRoc
    from cutscore.smoothing import smooth_roc as smooth_roc

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use: `cutscore --help` and `import cutscore` need no
# NumPy. A test holds this table and the imports above together.
_HOME = {
    "CostRange": "_hull",
    "Hull": "_hull",
    "JointHull": "_hull",
    "hull": "_hull",
    "Interval": "_interval",
    "Sweep": "_sweep",
    "sweep": "_sweep",
    "Units": "_units",
    "PartialAuc": "areas",
    "auc": "areas",
    "average_precision": "areas",
    "equal_error_rate": "areas",
    "gini": "areas",
    "kolmogorov_smirnov": "areas",
    "partial_auc": "areas",
    "BinnedSweep": "binned",
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
    "PriorShift": "calibration.shift",
    "prior_shift": "calibration.shift",
    "Confusion": "confusion",
    "CostCurve": "costs",
    "NetBenefit": "costs",
    "cost_curve": "costs",
    "h_measure": "costs",
    "net_benefit": "costs",
    "thresholds_for": "costs",
    "Det": "curves",
    "Gain": "curves",
    "Lift": "curves",
    "PrecisionRecall": "curves",
    "Roc": "curves",
    "det": "curves",
    "gain": "curves",
    "lift": "curves",
    "pr": "curves",
    "roc": "curves",
    "OperatingPoint": "decision",
    "Stability": "decision",
    "choose": "decision",
    "sweep_file": "engines.files",
    "by_group_file": "engines.groups",
    "rows_file": "engines.rows",
    "CutscoreError": "errors",
    "DataError": "errors",
    "UndefinedError": "errors",
    "Band": "inference",
    "Bootstrap": "inference",
    "auc_interval": "inference",
    "auc_variance": "inference",
    "bootstrap": "inference",
    "interval": "inference",
    "roc_band": "inference",
    "Fit": "linear.detector",
    "LinearDetector": "linear.detector",
    "Margins": "linear.detector",
    "ClassMoments": "moments",
    "Aim": "objectives",
    "Costs": "objectives",
    "f": "objectives",
    "AucCovariance": "paired.comparing",
    "Comparison": "paired.comparing",
    "ContrastTest": "paired.comparing",
    "CurveTest": "paired.curves",
    "GroupAuc": "paired.groups",
    "auc_covariance": "paired.comparing",
    "bootstrap_rows": "paired.drawing",
    "by_group": "paired.groups",
    "compare": "paired.comparing",
    "compare_unpaired": "paired.comparing",
    "compare_curves": "paired.curves",
    "compare_curves_unpaired": "paired.curves",
    "compare_groups": "paired.groups",
    "units": "paired.rows",
    "Decomposition": "scoring",
    "Reliability": "scoring",
    "brier": "scoring",
    "cllr": "scoring",
    "decompose": "scoring",
    "log_loss": "scoring",
    "min_cllr": "scoring",
    "reliability": "scoring",
    "Estimates": "benefit",
    "NetBenefitAt": "benefit",
    "net_benefit_at": "benefit",
    "NetBenefitDifference": "paired.benefit",
    "compare_net_benefit": "paired.benefit",
    "CurvePoint": "points",
    "sensitivity_at": "points",
    "specificity_at": "points",
    "SmoothRoc": "smoothing",
    "smooth_roc": "smoothing",
}
_MODULES = (
    "detector",
    "estimators",
    "export",
    "linear",
    "metrics",
    "plot",
    "power",
    "report",
    "spark",
    "tables",
    "torch",
    "training",
)

__all__ = list(_HOME)  # not the modules: import * must not need torch


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cutscore.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'cutscore' has no attribute {name!r}")
    value = getattr(import_module(f"cutscore.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
