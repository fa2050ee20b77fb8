"""scikit-learn estimators. This package alone imports scikit-learn when it is imported itself:
the extra ``sklearn``."""

from __future__ import annotations

from importlib.util import find_spec

from cutscore.core.errors import missing_library

if find_spec("sklearn") is None:
    raise ImportError(
        missing_library("cutscore.estimators", "scikit-learn", "sklearn"), name="sklearn"
    )

from cutscore.estimators._bank import DetectorBank
from cutscore.estimators._checks import expected_failed_checks
from cutscore.estimators._closed import Fisher, GaussianDiscriminant, LeastSquares, MeanDifference
from cutscore.estimators._decision import DecisionClassifier
from cutscore.estimators._logistic import Logistic
from cutscore.estimators._perceptron import Perceptron
from cutscore.estimators._structural import Structural, StructuralCV

__all__ = [
    "DecisionClassifier",
    "DetectorBank",
    "Fisher",
    "GaussianDiscriminant",
    "LeastSquares",
    "Logistic",
    "MeanDifference",
    "Perceptron",
    "Structural",
    "StructuralCV",
    "expected_failed_checks",
]
