"""Boosted trees of LightGBM, XGBoost and CatBoost: margins, and what each column adds to them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from tempfile import NamedTemporaryFile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import LibraryMissing
from cutscore.core.findings.scorers import ScorerDamaged
from cutscore.sweeps.sweep import Floats

# What XGBoost and CatBoost make of all numbers; larger ones would be infinite, which they refuse.
_LARGEST = float(np.finfo(np.float32).max)


class Model(ABC):
    """A model of some library, that scores rows of a matrix: numbers, NaN where they are missing,
    and categories by the number of their level."""

    name: ClassVar[str]
    """Of the library."""

    def __init__(self, data: bytes, categorical: NDArray[np.bool_]) -> None:
        """``categorical`` says which columns are categories."""
        self.data, self.categorical = data, categorical

    @property
    @abstractmethod
    def features(self) -> int | None:
        """How many columns it takes; None if it does not say."""

    @property
    def names(self) -> list[str]:
        """What it calls its columns, in their order; empty if it does not say."""
        return []

    @property
    def categories(self) -> list[int] | None:
        """Which of its columns must be categories; None if it takes any."""
        return None

    @abstractmethod
    def scores(self, X: Floats) -> NDArray[Any]:
        """The score of each row."""

    def contributions(self, X: Floats) -> Floats | None:  # noqa: ARG002
        """What each column adds to the score of each row, compared with an average row; None if it
        can't say."""
        return None


class LightGbm(Model):
    """A model of LightGBM, as text."""

    name = "LightGBM"

    @cached_property
    def booster(self) -> Any:
        """LightGBM's own object."""
        with needs("LightGBM", "lightgbm"):
            import lightgbm as lgb
        text = self.data.decode("utf-8", "replace")
        if not is_whole(text):
            raise DataError(ScorerDamaged(self.name, "some trees are missing"))
        try:
            return lgb.Booster(model_str=text)
        except lgb.basic.LightGBMError as error:
            raise DataError(ScorerDamaged(self.name, str(error))) from error

    @property
    def features(self) -> int:
        return int(self.booster.num_feature())

    @property
    def names(self) -> list[str]:
        return list(self.booster.feature_name())

    def scores(self, X: Floats) -> NDArray[Any]:
        out = self.booster.predict(X, raw_score=True, num_threads=threads(len(X)))
        return np.asarray(out)

    def contributions(self, X: Floats) -> Floats:
        out = self.booster.predict(X, pred_contrib=True, num_threads=threads(len(X)))
        return np.asarray(out)[:, :-1]


def is_whole(text: str) -> bool:
    """Whether a text has all the trees that its head announces.

    LightGBM itself ends the process where some are missing.
    """
    sizes = re.search(r"^tree_sizes=([0-9 ]*)\n\n", text, re.MULTILINE)
    if sizes is None:
        return False
    end = len(text[: sizes.end()].encode()) + sum(map(int, sizes[1].split()))
    return text.encode()[end:].startswith(b"end of trees")


class XGBoost(Model):
    """A model of XGBoost, as JSON or UBJSON."""

    name = "XGBoost"

    @cached_property
    def booster(self) -> Any:
        """XGBoost's own object."""
        with needs("XGBoost", "xgboost"):
            import xgboost as xgb
        booster = xgb.Booster()
        if not self.data:  # which ends the process
            raise DataError(ScorerDamaged(self.name, "it is empty"))
        try:
            booster.load_model(bytearray(self.data))
        except Exception as error:  # of XGBoost, of memory or of text
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise DataError(ScorerDamaged(self.name, reason)) from error
        return booster

    @property
    def features(self) -> int:
        return int(self.booster.num_features())

    @property
    def names(self) -> list[str]:
        return list(self.booster.feature_names or [])

    def _matrix(self, X: Floats) -> Any:
        import xgboost as xgb

        self.booster.set_param({"nthread": threads(len(X))})
        return xgb_matrix(xgb, X, self.categorical, feature_names=self.booster.feature_names)

    def scores(self, X: Floats) -> NDArray[Any]:
        return np.asarray(self.booster.predict(self._matrix(X), output_margin=True))

    def contributions(self, X: Floats) -> Floats:
        out = self.booster.predict(self._matrix(X), pred_contribs=True)
        return np.asarray(out[:, :-1], np.float64)


def xgb_matrix(xgb: Any, X: Floats, categorical: NDArray[np.bool_], **more: Any) -> Any:
    """Rows as XGBoost takes them."""
    return xgb.DMatrix(
        in_float32(X),
        missing=np.nan,
        feature_types=["c" if c else "q" for c in categorical.tolist()],
        enable_categorical=True,
        nthread=threads(len(X)),
        **more,
    )


def in_float32(X: Floats) -> NDArray[np.float32]:
    """Numbers as float32, none of them infinite."""
    return np.clip(X, -_LARGEST, _LARGEST).astype(np.float32)


class CatBoost(Model):
    """A model of CatBoost, in its binary format or as JSON."""

    name = "CatBoost"

    @cached_property
    def booster(self) -> Any:
        """CatBoost's own object."""
        with needs("CatBoost", "catboost"):
            import catboost
        booster = catboost.CatBoost()
        try:
            if not self.data.lstrip().startswith(b"{"):
                return booster.load_model(blob=self.data)
            # JSON it reads from files only.
            with NamedTemporaryFile(suffix=".json") as file:
                file.write(self.data)
                file.flush()
                return booster.load_model(file.name, format="json")
        except catboost.CatBoostError as error:
            raise DataError(ScorerDamaged(self.name, str(error))) from error

    @property
    def features(self) -> int:
        return len(self.booster.feature_names_)

    @property
    def names(self) -> list[str]:
        return list(self.booster.feature_names_)

    @property
    def categories(self) -> list[int]:
        return list(self.booster.get_cat_feature_indices())

    def scores(self, X: Floats) -> NDArray[Any]:
        pool = catboost_pool(X, self.categorical)
        return np.asarray(
            self.booster.predict(
                pool, prediction_type="RawFormulaVal", thread_count=threads(len(X))
            )
        )

    def leaves(self, X: Floats) -> NDArray[Any]:
        """The number of the leaf of each tree that each row falls into: bit by bit the answers to
        the tree's splits."""
        return np.asarray(self.booster.calc_leaf_indexes(catboost_pool(X, self.categorical)))

    def contributions(self, X: Floats) -> Floats:
        out = self.booster.get_feature_importance(
            catboost_pool(X, self.categorical),
            type="ShapValues",
            thread_count=threads(len(X)),
        )
        return np.asarray(out)[:, :-1]


def catboost_pool(X: Floats, categorical: NDArray[np.bool_], **more: Any) -> Any:
    """Rows as CatBoost takes them: it has no missing category, so that this is level -1."""
    from catboost import Pool

    if not categorical.any():
        return Pool(in_float32(X), thread_count=threads(len(X)), **more)
    rows = in_float32(X).astype(object)
    codes = X[:, categorical]
    rows[:, categorical] = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    which = np.flatnonzero(categorical).tolist()
    return Pool(rows, cat_features=which, thread_count=threads(len(X)), **more)


@contextmanager
def needs(name: str, extra: str) -> Iterator[None]:
    """For an import of a library that may not be installed."""
    try:
        yield
    except ImportError:
        raise DataError(LibraryMissing("this model", name, extra)) from None
