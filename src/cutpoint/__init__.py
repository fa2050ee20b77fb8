"""cutpoint: from scores to decisions.

A sweep is everything a set of scores can tell about its labels. Every curve, number, calibration
and decision in cutpoint is a short function of one; every learner is a few passes that add up
summaries of blocks of rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutpoint._hull import CostRange as CostRange
    from cutpoint._hull import Hull as Hull
    from cutpoint._hull import JointHull as JointHull
    from cutpoint._hull import hull as hull
    from cutpoint._interval import Interval as Interval
    from cutpoint._sweep import Sweep as Sweep
    from cutpoint._sweep import sweep as sweep
    from cutpoint.areas import auc as auc
    from cutpoint.areas import average_precision as average_precision
    from cutpoint.areas import equal_error_rate as equal_error_rate
    from cutpoint.areas import gini as gini
    from cutpoint.areas import kolmogorov_smirnov as kolmogorov_smirnov
    from cutpoint.areas import partial_auc as partial_auc
    from cutpoint.binned import BinnedSweep as BinnedSweep
    from cutpoint.calibration.calibrators import Affine as Affine
    from cutpoint.calibration.calibrators import Beta as Beta
    from cutpoint.calibration.calibrators import Calibrator as Calibrator
    from cutpoint.calibration.calibrators import Chain as Chain
    from cutpoint.calibration.calibrators import Gaussian as Gaussian
    from cutpoint.calibration.calibrators import Monotone as Monotone
    from cutpoint.calibration.comparison import MethodComparison as MethodComparison
    from cutpoint.calibration.fitting import calibrate as calibrate
    from cutpoint.calibration.fitting import cross_fit as cross_fit
    from cutpoint.calibration.intervals import VennAbers as VennAbers
    from cutpoint.calibration.intervals import venn_abers as venn_abers
    from cutpoint.calibration.odds import llr as llr
    from cutpoint.calibration.odds import probability as probability
    from cutpoint.calibration.shift import PriorShift as PriorShift
    from cutpoint.calibration.shift import prior_shift as prior_shift
    from cutpoint.confusion import Confusion as Confusion
    from cutpoint.costs import CostCurve as CostCurve
    from cutpoint.costs import NetBenefit as NetBenefit
    from cutpoint.costs import cost_curve as cost_curve
    from cutpoint.costs import h_measure as h_measure
    from cutpoint.costs import net_benefit as net_benefit
    from cutpoint.costs import thresholds_for as thresholds_for
    from cutpoint.curves import Det as Det
    from cutpoint.curves import Gain as Gain
    from cutpoint.curves import PrecisionRecall as PrecisionRecall
    from cutpoint.curves import Roc as Roc
    from cutpoint.curves import det as det
    from cutpoint.curves import gain as gain
    from cutpoint.curves import pr as pr
    from cutpoint.curves import roc as roc
    from cutpoint.decision import OperatingPoint as OperatingPoint
    from cutpoint.decision import Stability as Stability
    from cutpoint.decision import choose as choose
    from cutpoint.engines.files import sweep_file as sweep_file
    from cutpoint.engines.groups import by_group_file as by_group_file
    from cutpoint.engines.rows import rows_file as rows_file
    from cutpoint.errors import CutpointError as CutpointError
    from cutpoint.errors import DataError as DataError
    from cutpoint.errors import UndefinedError as UndefinedError
    from cutpoint.inference import Band as Band
    from cutpoint.inference import Bootstrap as Bootstrap
    from cutpoint.inference import auc_interval as auc_interval
    from cutpoint.inference import auc_variance as auc_variance
    from cutpoint.inference import bootstrap as bootstrap
    from cutpoint.inference import interval as interval
    from cutpoint.inference import roc_band as roc_band
    from cutpoint.linear.detector import Fit as Fit
    from cutpoint.linear.detector import LinearDetector as LinearDetector
    from cutpoint.linear.detector import Margins as Margins
    from cutpoint.moments import ClassMoments as ClassMoments
    from cutpoint.objectives import Costs as Costs
    from cutpoint.objectives import f as f
    from cutpoint.paired.comparing import AucCovariance as AucCovariance
    from cutpoint.paired.comparing import Comparison as Comparison
    from cutpoint.paired.comparing import auc_covariance as auc_covariance
    from cutpoint.paired.comparing import compare as compare
    from cutpoint.paired.comparing import compare_unpaired as compare_unpaired
    from cutpoint.paired.drawing import bootstrap_rows as bootstrap_rows
    from cutpoint.paired.groups import GroupAuc as GroupAuc
    from cutpoint.paired.groups import by_group as by_group
    from cutpoint.paired.groups import compare_groups as compare_groups
    from cutpoint.scoring import Decomposition as Decomposition
    from cutpoint.scoring import Reliability as Reliability
    from cutpoint.scoring import brier as brier
    from cutpoint.scoring import cllr as cllr
    from cutpoint.scoring import decompose as decompose
    from cutpoint.scoring import log_loss as log_loss
    from cutpoint.scoring import min_cllr as min_cllr
    from cutpoint.scoring import reliability as reliability

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use: `cutpoint --help` and `import cutpoint` need no
# NumPy. A test holds this table and the imports above together.
_HOME = {
    "CostRange": "_hull",
    "Hull": "_hull",
    "JointHull": "_hull",
    "hull": "_hull",
    "Interval": "_interval",
    "Sweep": "_sweep",
    "sweep": "_sweep",
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
    "PrecisionRecall": "curves",
    "Roc": "curves",
    "det": "curves",
    "gain": "curves",
    "pr": "curves",
    "roc": "curves",
    "OperatingPoint": "decision",
    "Stability": "decision",
    "choose": "decision",
    "sweep_file": "engines.files",
    "by_group_file": "engines.groups",
    "rows_file": "engines.rows",
    "CutpointError": "errors",
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
    "Costs": "objectives",
    "f": "objectives",
    "AucCovariance": "paired.comparing",
    "Comparison": "paired.comparing",
    "GroupAuc": "paired.groups",
    "auc_covariance": "paired.comparing",
    "bootstrap_rows": "paired.drawing",
    "by_group": "paired.groups",
    "compare": "paired.comparing",
    "compare_unpaired": "paired.comparing",
    "compare_groups": "paired.groups",
    "Decomposition": "scoring",
    "Reliability": "scoring",
    "brier": "scoring",
    "cllr": "scoring",
    "decompose": "scoring",
    "log_loss": "scoring",
    "min_cllr": "scoring",
    "reliability": "scoring",
}
_MODULES = (
    "detector",
    "estimators",
    "export",
    "linear",
    "metrics",
    "plot",
    "report",
    "spark",
    "tables",
    "torch",
    "training",
)

__all__ = list(_HOME)  # not the modules: import * must not need torch


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"cutpoint.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'cutpoint' has no attribute {name!r}")
    value = getattr(import_module(f"cutpoint.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
