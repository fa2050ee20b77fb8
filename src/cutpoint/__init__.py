"""cutpoint: from scores to decisions.

A sweep is everything a set of scores can tell about its labels. Every curve, number, calibration
and decision in cutpoint is a short function of one; every learner is a few passes that add up
summaries of blocks of rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutpoint._sweep import Sweep as Sweep
    from cutpoint._sweep import sweep as sweep
    from cutpoint.areas import auc as auc
    from cutpoint.areas import average_precision as average_precision
    from cutpoint.areas import equal_error_rate as equal_error_rate
    from cutpoint.areas import kolmogorov_smirnov as kolmogorov_smirnov
    from cutpoint.areas import partial_auc as partial_auc
    from cutpoint.binned import BinnedSweep as BinnedSweep
    from cutpoint.confusion import Confusion as Confusion
    from cutpoint.curves import Det as Det
    from cutpoint.curves import Gain as Gain
    from cutpoint.curves import PrecisionRecall as PrecisionRecall
    from cutpoint.curves import Roc as Roc
    from cutpoint.curves import det as det
    from cutpoint.curves import gain as gain
    from cutpoint.curves import pr as pr
    from cutpoint.curves import roc as roc
    from cutpoint.errors import CutpointError as CutpointError
    from cutpoint.errors import DataError as DataError
    from cutpoint.errors import UndefinedError as UndefinedError
    from cutpoint.interval import Interval as Interval

__version__ = "0.1.0.dev0"

# Where each public name lives. Loaded on first use: `cutpoint --help` and `import cutpoint` need no
# NumPy. A test holds this table and the imports above together.
_HOME = {
    "Sweep": "_sweep",
    "sweep": "_sweep",
    "auc": "areas",
    "average_precision": "areas",
    "equal_error_rate": "areas",
    "kolmogorov_smirnov": "areas",
    "partial_auc": "areas",
    "BinnedSweep": "binned",
    "Confusion": "confusion",
    "Det": "curves",
    "Gain": "curves",
    "PrecisionRecall": "curves",
    "Roc": "curves",
    "det": "curves",
    "gain": "curves",
    "pr": "curves",
    "roc": "curves",
    "CutpointError": "errors",
    "DataError": "errors",
    "UndefinedError": "errors",
    "Interval": "interval",
}
_MODULES = ("metrics", "plot", "torch")

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
