"""scikit-learn estimators. This package alone imports scikit-learn when it is imported itself:
``pip install 'cutpoint[sklearn]'``."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("sklearn") is None:
    raise ImportError(
        "cutpoint.estimators needs scikit-learn: pip install 'cutpoint[sklearn]'", name="sklearn"
    )

from cutpoint.estimators._bank import DetectorBank
from cutpoint.estimators._calibrated import CalibratedDetector
from cutpoint.estimators._closed import Fisher, GaussianDiscriminant, LeastSquares, MeanDifference
from cutpoint.estimators._logistic import Logistic
from cutpoint.estimators._perceptron import Perceptron
from cutpoint.estimators._structural import Structural

__all__ = [
    "CalibratedDetector",
    "DetectorBank",
    "Fisher",
    "GaussianDiscriminant",
    "LeastSquares",
    "Logistic",
    "MeanDifference",
    "Perceptron",
    "Structural",
]
