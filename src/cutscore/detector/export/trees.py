"""Boosted trees as plain values: the splits and leaves of LightGBM, XGBoost and CatBoost, for other
formats.

Comparisons are in float64. XGBoost and CatBoost round numbers to float32 before they compare them;
here their thresholds are moved to the float64 from which on a number rounds to them, so that every
number goes the way it goes there.

CatBoost knows categories by their hashes, and by statistics of the training labels of each level.
What such a split does to a level is a fact of the model, and is asked of CatBoost itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings.models import ScorerUnfit
from cutscore.detector.columns import CategoryColumn, Column
from cutscore.detector.scorers.model import ModelScorer
from cutscore.detector.scorers.trees import CatBoost, LightGbm, XGBoost


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
            return _lightgbm(model.booster.dump_model(), to)
        if isinstance(model, XGBoost):
            return _xgboost(json.loads(bytes(model.booster.save_raw("json"))), to)
        if isinstance(model, CatBoost):
            return _CatBoostTrees(model, scorer.inputs, to).ensemble()
        raise _unfit(to, f"it is a model of {model.name}")

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


def _unfit(to: str, reason: str) -> DataError:
    return DataError(ScorerUnfit("model", to, reason))


_SEVERAL = "it gives each row several scores"


def _lightgbm(model: dict[str, Any], to: str) -> Ensemble:
    if model["num_tree_per_iteration"] != 1:
        raise _unfit(to, _SEVERAL)
    if model["average_output"]:
        raise _unfit(to, "its scores are means of trees, not sums")
    trees = tuple(_lightgbm_node(tree["tree_structure"], to) for tree in model["tree_info"])
    return Ensemble(trees, 0.0, False)


def _lightgbm_node(node: dict[str, Any], to: str) -> Node:
    if "leaf_value" in node:
        if "leaf_coeff" in node:
            raise _unfit(to, "its leaves hold lines")
        return Leaf(float(node["leaf_value"]))
    column, kind = int(node["split_feature"]), node["missing_type"]
    yes, no = (_lightgbm_node(node[side], to) for side in ("left_child", "right_child"))
    if node["decision_type"] == "==":
        levels = tuple(sorted(int(level) for level in node["threshold"].split("||")))
        return Split(column, levels, False, yes, no)
    at = float(node["threshold"])
    if kind == "Zero":
        raise _unfit(to, "it takes 0 for a missing value")
    # Where training rows had no missing value, one counts as 0.
    missing = bool(node["default_left"]) if kind == "NaN" else at >= 0
    return Split(column, at, missing, yes, no)


def _xgboost(model: dict[str, Any], to: str) -> Ensemble:
    learner = model["learner"]
    booster, objective = learner["gradient_booster"], learner["objective"]["name"]
    if booster["name"] != "gbtree":
        raise _unfit(to, f"its booster is {booster['name']}")
    if objective != "binary:logistic":
        raise _unfit(to, f"its objective is {objective}, not binary:logistic")
    base = np.float32(learner["learner_model_param"]["base_score"].strip("[]"))
    # As XGBoost does it: float32 throughout, with a logarithm that is rounded correctly, which that
    # of NumPy is not.
    margin = np.float32(-log(float(np.float32(1) / base - np.float32(1))))
    trees = booster["model"]["trees"]
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


class _CatBoostTrees:
    """The trees of a model of CatBoost.

    They are symmetric: all nodes of one depth ask the same question. Written as others are, they
    are cut back where an earlier question has answered a later one.
    """

    def __init__(self, model: CatBoost, columns: Sequence[Column], to: str) -> None:
        self.model, self.columns, self.to = model, columns, to
        with NamedTemporaryFile(suffix=".json") as file:
            model.booster.save_model(file.name, format="json")
            self.dump = json.load(file)
        self.known = {
            at: _Known(levels=frozenset(range(_levels_of(column))))
            if isinstance(column, CategoryColumn)
            else _Known()
            for at, column in enumerate(columns)
        }

    def ensemble(self) -> Ensemble:
        if "oblivious_trees" not in self.dump:
            raise _unfit(self.to, "its trees are not symmetric")
        scale, bias = self.dump["scale_and_bias"]
        if len(bias) != 1:
            raise _unfit(self.to, _SEVERAL)
        if scale != 1:
            raise _unfit(self.to, "its scores are scaled")
        categories = self._categories()
        trees: list[Node] = []
        for k, tree in enumerate(self.dump["oblivious_trees"]):
            questions = [
                self._question(split, {at: bits[:, k] >> j & 1 for at, bits in categories.items()})
                for j, split in enumerate(tree["splits"] or ())
            ]
            leaves = [float(value) for value in tree["leaf_values"]]
            trees.append(_symmetric(questions, leaves, self.known))
        # It is added last.
        trees += [Leaf(float(bias[0]))] if bias[0] else []
        return Ensemble(tuple(trees), 0.0, False)

    def _categories(self) -> dict[int, Any]:
        """Of each category, which leaf of each tree a row of each level falls into, a missing one
        last: each bit is the answer to one question. Nothing else about the rows matters to the
        questions that are about this category."""
        found = {}
        for at, column in enumerate(self.columns):
            if isinstance(column, CategoryColumn):
                levels = _levels_of(column)
                rows = np.zeros((levels + 1, len(self.columns)))
                rows[:, at] = [*range(levels), np.nan]
                found[at] = self.model.leaves(rows)
        return found

    def _question(self, split: dict[str, Any], answers: Mapping[int, Any]) -> _Question:
        features = self.dump["features_info"]
        kind = split["split_type"]
        if kind == "FloatFeature":
            one = features["float_features"][split["float_feature_index"]]
            above = np.nextafter(np.float32(split["border"]), np.float32(inf))
            return _Question(
                one["flat_feature_index"], below(above), one["nan_value_treatment"] != "AsTrue"
            )
        if kind == "OneHotFeature":
            asked = split["cat_feature_index"]
        elif kind == "OnlineCtr":
            asked = self._category_of(split["split_index"])
        else:
            raise _unfit(self.to, f"it has splits of the type {kind}")
        at = features["categorical_features"][asked]["flat_feature_index"]
        *of_level, missing = (answers[at] == 0).tolist()
        levels = tuple(level for level, is_yes in enumerate(of_level) if is_yes)
        return _Question(at, levels, missing)

    def _category_of(self, split: int) -> int:
        """The category whose statistics a split is about."""
        features = self.dump["features_info"]
        # Splits are numbered: first those of numbers, then of levels, then of statistics.
        split -= sum(len(one["borders"] or ()) for one in features.get("float_features", ()))
        split -= sum(len(one.get("values", ())) for one in features["categorical_features"])
        for one in features["ctrs"]:
            if split < len(one["borders"]):
                break
            split -= len(one["borders"])
        elements = one["elements"]
        if [element["combination_element"] for element in elements] != ["cat_feature_value"]:
            way_out = "train it with max_ctr_complexity=1"
            raise _unfit(self.to, f"it has statistics of combined columns; {way_out}")
        return int(elements[0]["cat_feature_index"])


def _levels_of(column: CategoryColumn) -> int:
    """How many levels the model knows: rare ones together are the last."""
    return len(column.levels) + (column.other > 0)


class _Question(NamedTuple):
    """What all nodes of one depth ask: as :class:`Split`, without what follows."""

    column: int
    test: float | tuple[int, ...]
    missing: bool


class _Known(NamedTuple):
    """What is known about a column where some questions are answered: numbers are above ``low`` and
    at most ``high``, or a category is one of ``levels``."""

    low: float = -inf
    high: float = inf
    levels: frozenset[int] | None = None
    missing: bool = True
    """Whether it may be missing."""

    @property
    def possible(self) -> bool:
        some = self.low < self.high if self.levels is None else bool(self.levels)
        return some or self.missing

    def answered(self, question: _Question, yes: bool) -> _Known:
        """The same of rows that give this answer."""
        test, missing = question.test, self.missing and question.missing == yes
        if isinstance(test, float):
            low, high = (
                (self.low, min(self.high, test)) if yes else (max(self.low, test), self.high)
            )
            return _Known(low, high, None, missing)
        assert self.levels is not None
        levels = self.levels & set(test) if yes else self.levels - set(test)
        return _Known(levels=levels, missing=missing)


def _symmetric(
    questions: Sequence[_Question], leaves: Sequence[float], known: Mapping[int, _Known]
) -> Node:
    """The tree of some questions, of which the last one divides the leaves in halves."""
    if len(set(leaves)) == 1:
        return Leaf(leaves[0])
    *rest, last = questions
    half = len(leaves) // 2
    sides = []
    for yes, some in ((True, leaves[:half]), (False, leaves[half:])):
        now = known[last.column].answered(last, yes)
        sides.append(_symmetric(rest, some, {**known, last.column: now}) if now.possible else None)
    first, second = sides
    if first is None or second is None:
        only = first or second
        assert only is not None
        return only
    return first if first == second else Split(*last, first, second)


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
