"""Boosted trees as plain values: the splits and leaves of LightGBM and XGBoost, for other formats.

Comparisons are in float64. XGBoost rounds numbers to float32 before it compares them; here its
thresholds are moved to the float64 from which on a number rounds to them, so that every number goes
the way it goes there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings.models import ScorerUnfit
from cutscore.detector.scorers.model import ModelScorer
from cutscore.detector.scorers.trees import LightGbm, XGBoost


class Leaf(NamedTuple):
    """What a row that ends here gets."""

    value: float


class Split(NamedTuple):
    """A question to one column: a row goes to ``yes`` or to ``no``."""

    column: int
    test: float | tuple[int, ...]
    """A number is at most this, or a category is one of these."""
    missing: bool
    """Whether a row without a value goes to ``yes``."""
    yes: Node
    no: Node


Node = Leaf | Split


@dataclass(frozen=True)
class Ensemble:
    """The score is the sum of ``base`` and of one leaf a tree, added up one after the other."""

    trees: tuple[Node, ...]
    base: float
    single: bool
    """Whether the sum is one of float32 numbers, each rounded."""

    @classmethod
    def of(cls, scorer: ModelScorer, to: str) -> Ensemble:
        """Of a scorer that has such trees; for others a DataError that names the format."""
        model = scorer.loaded
        if isinstance(model, LightGbm):
            trees = model.booster.dump_model()["tree_info"]
            return cls(tuple(_lightgbm(t["tree_structure"], to) for t in trees), 0.0, False)
        if isinstance(model, XGBoost):
            return _xgboost(json.loads(bytes(model.booster.save_raw("json"))))
        raise DataError(ScorerUnfit("model", to, f"it is a model of {model.name}"))

    @property
    def leaves(self) -> int:
        """How many there are in all."""
        return sum(isinstance(node, Leaf) for tree in self.trees for node in walk(tree))


def walk(node: Node) -> Iterator[Node]:
    """All nodes from this one on, a split before what is below it."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, Split):
            stack += [top.no, top.yes]


def _lightgbm(node: dict[str, Any], to: str) -> Node:
    if "leaf_value" in node:
        return Leaf(float(node["leaf_value"]))
    column, kind = int(node["split_feature"]), node["missing_type"]
    yes, no = (_lightgbm(node[side], to) for side in ("left_child", "right_child"))
    if node["decision_type"] == "==":
        levels = tuple(sorted(int(level) for level in node["threshold"].split("||")))
        return Split(column, levels, False, yes, no)
    at = float(node["threshold"])
    if kind == "Zero":
        raise DataError(ScorerUnfit("model", to, "it takes 0 for a missing value"))
    # Where training rows had no missing value, one counts as 0.
    missing = bool(node["default_left"]) if kind == "NaN" else at >= 0
    return Split(column, at, missing, yes, no)


def _xgboost(model: dict[str, Any]) -> Ensemble:
    learner = model["learner"]
    base = np.float32(learner["learner_model_param"]["base_score"].strip("[]"))
    # As XGBoost does it: float32 throughout, with a logarithm that is rounded correctly, which that
    # of NumPy is not.
    margin = np.float32(-log(float(np.float32(1) / base - np.float32(1))))
    trees = learner["gradient_booster"]["model"]["trees"]
    return Ensemble(tuple(_xgboost_node(tree, 0) for tree in trees), float(margin), True)


def _xgboost_node(tree: dict[str, Any], k: int) -> Node:
    left = tree["left_children"][k]
    value = np.float32(tree["split_conditions"][k])
    if left == -1:
        return Leaf(float(value))
    first, second = (_xgboost_node(tree, tree[s][k]) for s in ("left_children", "right_children"))
    column, to_left = tree["split_indices"][k], bool(tree["default_left"][k])
    if tree["split_type"][k] == 1:  # categories go to the right
        at = tree["categories_nodes"].index(k)
        start, size = tree["categories_segments"][at], tree["categories_sizes"][at]
        levels = tuple(sorted(tree["categories"][start : start + size]))
        return Split(column, levels, not to_left, second, first)
    return Split(column, below(value), to_left, first, second)


def below(threshold: np.float32) -> float:
    """The largest float64 that rounds to a float32 less than this.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.detector.export.trees import below
    >>> x = below(np.float32(0.1))
    >>> bool(np.float32(x) < np.float32(0.1) <= np.float32(np.nextafter(x, 1)))
    True
    """
    under = np.nextafter(threshold, np.float32(-np.inf))
    middle = (float(under) + float(threshold)) / 2
    # A tie rounds to the even one.
    return middle if np.float32(middle) < threshold else float(np.nextafter(middle, -np.inf))
