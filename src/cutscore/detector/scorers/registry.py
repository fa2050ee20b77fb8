"""The kinds of scorers, and the formats of models of other libraries: one row each. What a row
names is imported when a file asks for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class ModelFormat(NamedTuple):
    """How a model of another library is recognised, and the class that reads it."""

    suffixes: tuple[str, ...]
    model: str


SCORERS = {
    "linear": "linear.LinearScorer",
    "column": "column.ColumnScorer",
    "model": "model.ModelScorer",
}

MODELS = {
    "lightgbm": ModelFormat((".txt", ".lgb"), "trees.LightGbm"),
    "xgboost": ModelFormat((".json", ".ubj"), "trees.XGBoost"),
    "catboost": ModelFormat((".cbm",), "trees.CatBoost"),
    "onnx": ModelFormat((".onnx",), "runtimes.Onnx"),
    "sklearn": ModelFormat((".skops",), "runtimes.Sklearn"),
}


def find(path: str) -> Any:
    """The class that a row names, as module and name.

    Examples
    --------
    >>> from cutscore.detector.scorers.registry import SCORERS, find
    >>> find(SCORERS["column"]).__name__
    'ColumnScorer'
    """
    module, name = path.split(".")
    return getattr(import_module(f"cutscore.detector.scorers.{module}"), name)
