"""Boosted trees by LightGBM, XGBoost and CatBoost, stopped where held-out rows say so.

Columns are as these libraries take them: categories by the number of their level, missing values
as NaN. The number of rounds of a fold's model is found by cross-validation within its own training
rows. The model that is shipped has all rows to learn from, and the median of the folds' rounds.
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
from cutscore.core.findings.statistics import TooFew
from cutscore.detector.columns import CategoryColumn
from cutscore.detector.scorers.trees import (
    CatBoost,
    LightGbm,
    XGBoost,
    catboost_pool,
    xgb_matrix,
)
from cutscore.linear.rows import Flags, Floats
from cutscore.training.fitted import Fitted, FittedTrees
from cutscore.training.rows import Part, assign_folds_by_unit

Library = Literal["lightgbm", "xgboost", "catboost"]

_RATE = 0.1
# Rounds at the most, and rounds without a better log loss after which it stops.
_MOST, _PATIENCE = 1_000, 30
# Folds within the training rows of a fold. On one held-out part alone, numbers of rounds differ so
# much between folds that their scores are hardly on one scale.
_INNER = 3


Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class _Rows:
    """Rows to learn from."""

    X: Floats
    y: Flags
    weight: Floats | None
    categorical: Flags
    seed: int

    @property
    def threads(self) -> int:
        return threads(len(self.y))


def boost(name: Library, part: Part, folds: Sequence[Fitted] = ()) -> FittedTrees:
    """Trees for the log loss of some rows.

    Parameters
    ----------
    name
        The library.
    part
        The rows.
    folds
        What it made of the folds before. If there are none, the number of rounds is found by
        cross-validation on these rows, in whole units.
    """
    one = _LIBRARIES[name]
    categorical = np.array([isinstance(c, CategoryColumn) for c in part.data.encoding.columns])
    rows = _Rows(part.values, part.y, part.weight, categorical, part.data.seed)
    known = [fitted.rounds for fitted in folds if isinstance(fitted, FittedTrees)]
    rounds = round(median(known)) if known else one.rounds(rows, _splits(part))
    model = one.model(one.fit(rows, rounds), categorical)
    return FittedTrees(name, model, rounds, empty=bool(np.ptp(model.scores(rows.X)) == 0))


def _splits(part: Part) -> Splits:
    """Rows to learn from and to validate on: the latter with their share of either class, and in
    whole units."""
    rare = int(min(part.y.sum(), (~part.y).sum()))
    if rare < 2:
        raise DataError(TooFew("early stopping", 2, "rows of each class", rare))
    rng = np.random.default_rng(part.data.seed)
    fold = assign_folds_by_unit(part.y, part.unit, min(_INNER, rare), rng)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(fold.max() + 1)]


class _LightGbm:
    """LightGBM's way to find rounds, and to fit so many."""

    model = LightGbm

    @staticmethod
    def rounds(rows: _Rows, splits: Splits) -> int:
        lgb, options, data = _LightGbm._data(rows)
        stop = lgb.early_stopping(_PATIENCE, verbose=False)
        found = lgb.cv(options, data, _MOST, folds=splits, callbacks=[stop])
        return len(found["valid binary_logloss-mean"])

    @staticmethod
    def fit(rows: _Rows, rounds: int) -> bytes:
        lgb, options, data = _LightGbm._data(rows)
        text: str = lgb.train(options, data, rounds).model_to_string()
        return text.encode()

    @staticmethod
    def _data(rows: _Rows) -> tuple[Any, dict[str, Any], Any]:
        import lightgbm as lgb

        options = {
            "objective": "binary",
            "learning_rate": _RATE,
            "lambda_l2": 1.0,  # without, a leaf of positives alone has no finite value
            "seed": rows.seed,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": rows.threads,
            "verbosity": -1,
        }
        data = lgb.Dataset(
            rows.X,
            rows.y.astype(np.float64),
            weight=rows.weight,
            categorical_feature=np.flatnonzero(rows.categorical).tolist(),
            params=options,
            free_raw_data=False,
        )
        return lgb, options, data


class _XGBoost:
    """The same of XGBoost."""

    model = XGBoost

    @staticmethod
    def rounds(rows: _Rows, splits: Splits) -> int:
        xgb, options, data = _XGBoost._data(rows)
        found = xgb.cv(
            options, data, _MOST, folds=splits, early_stopping_rounds=_PATIENCE, as_pandas=False
        )
        return len(found["test-logloss-mean"])

    @staticmethod
    def fit(rows: _Rows, rounds: int) -> bytes:
        xgb, options, data = _XGBoost._data(rows)
        return bytes(xgb.train(options, data, rounds).save_raw("json"))

    @staticmethod
    def _data(rows: _Rows) -> tuple[Any, dict[str, Any], Any]:
        import xgboost as xgb

        options = {
            "objective": "binary:logistic",
            "eval_metric": "logloss",
            "eta": _RATE,
            "min_child_weight": 5.0,  # about LightGBM's 20 rows, where a class is not rare
            "tree_method": "hist",
            "seed": rows.seed,
            "nthread": rows.threads,
            "verbosity": 0,
        }
        data = xgb_matrix(xgb, rows.X, rows.categorical, label=rows.y, weight=rows.weight)
        return xgb, options, data


class _CatBoost:
    """The same of CatBoost."""

    model = CatBoost

    @staticmethod
    def rounds(rows: _Rows, splits: Splits) -> int:
        catboost, options, data = _CatBoost._data(rows)
        options |= {"iterations": _MOST, "early_stopping_rounds": _PATIENCE}
        found = catboost.cv(data, options, folds=splits, as_pandas=False)
        return int(np.argmin(found["test-Logloss-mean"])) + 1

    @staticmethod
    def fit(rows: _Rows, rounds: int) -> bytes:
        catboost, options, data = _CatBoost._data(rows)
        booster = catboost.CatBoost(options | {"iterations": rounds}).fit(data)
        for name in ("model_guid", "train_finish_time"):  # which differ each time
            del booster.get_metadata()[name]
        with NamedTemporaryFile(suffix=".cbm") as file:
            booster.save_model(file.name)
            return file.read()

    @staticmethod
    def _data(rows: _Rows) -> tuple[Any, dict[str, Any], Any]:
        import catboost

        options = {
            "loss_function": "Logloss",
            "learning_rate": _RATE,
            # Statistics of single categories only: those of combinations have no exact export, and
            # trees combine columns anyway.
            "max_ctr_complexity": 1,
            "random_seed": rows.seed,
            "thread_count": rows.threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }
        label = rows.y.astype(np.int64)
        return (
            catboost,
            options,
            catboost_pool(rows.X, rows.categorical, label=label, weight=rows.weight),
        )


_LIBRARIES: dict[str, Any] = {"lightgbm": _LightGbm, "xgboost": _XGBoost, "catboost": _CatBoost}
