"""cutscore: from scores to decisions.

A sweep is everything a set of scores can tell about its labels. Every curve, number, calibration
and decision in cutscore is a short function of one; every learner is a few passes that add up
summaries of blocks of rows.
"""

from __future__ import annotations

from cutscore.core.lazy import attributes, homes

__version__ = "0.1.0"

# Modules that go by a short name.
_MODULES = {
    "detector": "cutscore.detector",
    "estimators": "cutscore.estimators",
    "export": "cutscore.detector.export",
    "linear": "cutscore.linear",
    "metrics": "cutscore.metrics",
    "plot": "cutscore.plot",
    "policy": "cutscore.policy",
    "power": "cutscore.comparison.power",
    "report": "cutscore.report",
    "spark": "cutscore.spark",
    "tables": "cutscore.tables",
    "torch": "cutscore.torch",
    "training": "cutscore.training",
}
# Loaded on first use: `cutscore --help` and `import cutscore` need no NumPy.
_HOME = homes(__file__, _MODULES)

__all__ = list(_HOME)  # not the modules: import * must not need torch

__getattr__ = attributes(__name__, _HOME, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
