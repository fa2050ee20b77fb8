"""Boosted trees by LightGBM, XGBoost and CatBoost, stopped where a validation set says so.

Columns are as these libraries take them: categories by the number of their level, missing values
as NaN. The number of rounds of a fold's model is found on a part of its own training rows. The
model that is shipped has all rows to learn from, and the median of the folds' rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from tempfile import NamedTemporaryFile
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.findings.training import ClassTooSmall
from cutscore.detector.columns import CategoryColumn
from cutscore.detector.scorers.trees import (
    CatBoost,
    LightGbm,
    Model,
    XGBoost,
    catboost_pool,
    library,
    xgb_matrix,
)
from cutscore.linear.rows import Flags, Floats
from cutscore.training.fitted import Fitted, FittedTrees
from cutscore.training.rows import Part, deal

Library = Literal["lightgbm", "xgboost", "catboost"]

_RATE = 0.1
# Rounds at the most, and rounds without a better log loss after which it stops.
_MOST, _PATIENCE = 1_000, 30
# One in so many training rows is for validation.
_INNER = 5


@dataclass(frozen=True)
class _Rows:
    """Rows to learn from, or to validate on."""

    X: Floats
    y: Flags
    weight: Floats | None

    def some(self, mask: Flags) -> _Rows:
        weight = None if self.weight is None else self.weight[mask]
        return _Rows(self.X[mask], self.y[mask], weight)


def boost(name: Library, part: Part, folds: Sequence[Fitted] = ()) -> FittedTrees:
    """Trees for the log loss of some rows.

    Parameters
    ----------
    name
        The library.
    part
        The rows.
    folds
        What it made of the folds before. If there are none, the number of rounds is found on a
        fifth of the rows, in whole units, by a first model of the others.
    """
    make, model = _LIBRARIES[name]
    flags = np.array([isinstance(c, CategoryColumn) for c in part.data.encoding.columns])
    rows = _Rows(part.values, part.y, part.weight)
    known = [fitted.rounds for fitted in folds if isinstance(fitted, FittedTrees)]
    if known:
        rounds = max(1, round(median(known)))
    else:
        held = _held_out(part)
        _, rounds = make(rows.some(~held), flags, part.data.seed, rows.some(held), _MOST)
    data, _ = make(rows, flags, part.data.seed, None, rounds)
    fitted: Model = model(data, flags)
    margins = fitted.scores(rows.X)
    return FittedTrees(name, fitted, rounds, empty=bool(np.ptp(margins) == 0))


def _held_out(part: Part) -> Flags:
    """The rows to validate on: their share of either class, and whole units."""
    rare = int(min(part.y.sum(), (~part.y).sum()))
    if rare < 2:
        raise DataError(ClassTooSmall(rare))
    rng = np.random.default_rng(part.data.seed)
    return np.asarray(deal(part.y, part.unit, min(_INNER, rare), rng) == 0)


def _lightgbm(
    rows: _Rows, flags: NDArray[np.bool_], seed: int, held: _Rows | None, most: int
) -> tuple[bytes, int]:
    lgb = library("lightgbm", "LightGBM", "lightgbm")
    options: dict[str, Any] = {
        "objective": "binary",
        "learning_rate": _RATE,
        "lambda_l2": 1.0,  # or a leaf of a few positives alone has no end
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads(len(rows.y)),
        "verbosity": -1,
    }
    data = lgb.Dataset(
        rows.X,
        rows.y.astype(np.float64),
        weight=rows.weight,
        categorical_feature=np.flatnonzero(flags).tolist(),
        params=options,
    )
    more: dict[str, Any] = {}
    if held is not None:
        valid = lgb.Dataset(
            held.X, held.y.astype(np.float64), weight=held.weight, reference=data, params=options
        )
        stop = lgb.early_stopping(_PATIENCE, verbose=False)
        more = {"valid_sets": [valid], "callbacks": [stop]}
    booster = lgb.train(options, data, most, **more)
    rounds = booster.best_iteration if held is not None else most
    return booster.model_to_string(num_iteration=rounds).encode(), max(1, rounds)


def _xgboost(
    rows: _Rows, flags: NDArray[np.bool_], seed: int, held: _Rows | None, most: int
) -> tuple[bytes, int]:
    xgb = library("xgboost", "XGBoost", "xgboost")
    options = {
        "objective": "binary:logistic",
        "eval_metric": "logloss",
        "eta": _RATE,
        "tree_method": "hist",
        "seed": seed,
        "nthread": threads(len(rows.y)),
        "verbosity": 0,
    }
    data = xgb_matrix(xgb, rows.X, flags, label=rows.y, weight=rows.weight)
    more: dict[str, Any] = {}
    if held is not None:
        valid = xgb_matrix(xgb, held.X, flags, label=held.y, weight=held.weight)
        more = {"evals": [(valid, "held")], "early_stopping_rounds": _PATIENCE}
    booster = xgb.train(options, data, most, verbose_eval=False, **more)
    rounds = booster.best_iteration + 1 if held is not None else most
    return bytes(booster[:rounds].save_raw("json")), rounds


def _catboost(
    rows: _Rows, flags: NDArray[np.bool_], seed: int, held: _Rows | None, most: int
) -> tuple[bytes, int]:
    catboost = library("catboost", "CatBoost", "catboost")
    options: dict[str, Any] = {
        "loss_function": "Logloss",
        "iterations": most,
        "learning_rate": _RATE,
        "random_seed": seed,
        "thread_count": threads(len(rows.y)),
        "allow_writing_files": False,
        "logging_level": "Silent",
    }
    data = catboost_pool(rows.X, flags, label=rows.y.astype(np.int64), weight=rows.weight)
    more: dict[str, Any] = {}
    if held is not None:
        options |= {"early_stopping_rounds": _PATIENCE, "use_best_model": True}
        label = held.y.astype(np.int64)
        more = {"eval_set": catboost_pool(held.X, flags, label=label, weight=held.weight)}
    booster = catboost.CatBoost(options).fit(data, **more)
    with NamedTemporaryFile(suffix=".cbm") as file:
        booster.save_model(file.name)
        return file.read(), max(1, int(booster.tree_count_))


_LIBRARIES: dict[str, tuple[Any, type[Model]]] = {
    "lightgbm": (_lightgbm, LightGbm),
    "xgboost": (_xgboost, XGBoost),
    "catboost": (_catboost, CatBoost),
}
