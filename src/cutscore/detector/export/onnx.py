"""A detector as an ONNX graph, in float64 or float32."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.models import NoColumns, ScorerUnfit
from cutscore.detector.artefact import Detector, as_text
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.export.trees import Ensemble, Leaf, Split, walk
from cutscore.detector.scorers.base import Scorer
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import GROUP, line_of
from cutscore.detector.scorers.model import ModelScorer
from cutscore.detector.scorers.reading import numbers_of, texts_of
from cutscore.detector.terms import CategoryTerm, NumberTerm
from cutscore.detector.values import stream
from cutscore.policy.export.onnx import ML, Graph
from cutscore.policy.export.sql import check_unicode

if TYPE_CHECKING:
    import pyarrow as pa
    from onnx import ModelProto

    from cutscore.tables.frames import TableLike

# As the operator TreeEnsemble numbers them.
_AT_MOST, _MEMBER, _SUM = 0, 6, 1


def to_onnx(detector: Detector, *, dtype: Literal["float64", "float32"] = "float64") -> ModelProto:
    """An ONNX model with an input for each column; it returns score, LLR, probability, decision.

    Parameters
    ----------
    detector : Detector
        The detector.
    dtype : {"float64", "float32"}, default "float64"
        The type of numbers. With float32, scores of a line have relative errors of about 10⁻⁶;
        decisions may differ for rows that close to the threshold. Trees of LightGBM and CatBoost
        add up float64 numbers and have no such export; those of XGBoost give the same scores in
        both.

    Returns
    -------
    onnx.ModelProto
        Inputs have the names of the columns and the shape [rows, 1]. Numbers, booleans (0 and 1)
        and dates (days since 1970-01-01) are floats, NaN where they are missing; categories are
        strings, empty where they are missing: whole numbers as "10", dates as "2020-01-31" or
        "2020-01-31 12:30:00". :func:`onnx_inputs` makes them from a table. Outputs have the shape
        [rows, 1]; the decision is boolean. Infinite numbers, which the detector refuses, have NaN
        for a score and are not flagged: ONNX has no value for an unknown decision, as the file's
        metadata says (``missing``). Trees of LightGBM, XGBoost and CatBoost are one operator each,
        added up in their order, so that scores are the same to the last bit; they need a runtime
        that knows TreeEnsemble, such as onnxruntime 1.21. Save it with ``onnx.save(model, path)``,
        or write ``model.SerializeToString()``.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import to_onnx
    >>> table = {"age": [20, 40, 60, 80]}
    >>> linear = cs.LinearDetector(np.array([1.0]), 0.5)
    >>> scorer = LinearScorer.of(Encoding.fit(table), linear)
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(table))
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    >>> d = Detector(scorer, policy)
    >>> [output.name for output in to_onnx(d).graph.output]
    ['score', 'llr', 'probability', 'decision']
    """
    if isinstance(detector.scorer, ColumnScorer):
        decides: ModelProto = detector.policy.export("onnx", dtype=dtype)
        return decides
    if dtype not in ("float64", "float32"):
        raise DataError(BadArgument("dtype", "be float64 or float32", dtype))
    if not detector.columns:
        raise DataError(NoColumns())
    graph = _TreeGraph if isinstance(detector.scorer, ModelScorer) else _LineGraph
    model: ModelProto = graph(detector, np.dtype(dtype)).whole()
    return model


def onnx_inputs(
    detector: Detector, data: TableLike, *, dtype: Literal["float64", "float32"] = "float64"
) -> dict[str, NDArray[Any]]:
    """The inputs of :func:`to_onnx` for the rows of a table, ready for a runtime.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import onnx_inputs
    >>> table = {"age": [20, 40, None], "colour": ["red", None, "blue"]}
    >>> linear = cs.LinearDetector(np.ones(4), 0.0)
    >>> scorer = LinearScorer.of(Encoding.fit(table, min_rows=1), linear)
    >>> s = cs.sweep([0, 1, 1], scorer.scores(table))
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    >>> d = Detector(scorer, policy)
    >>> {name: a.ravel().tolist() for name, a in onnx_inputs(d, table).items()}
    {'age': [20.0, 40.0, nan], 'colour': ['red', '', 'blue']}
    """
    columns = _columns_of(detector.scorer)
    parts: dict[str, list[NDArray[Any]]] = {column.name: [] for column in columns}
    names, start = list(parts), 0
    for batch in stream(data, names, numbers_of(columns), texts_of(columns)):
        for k, column in enumerate(columns):
            values: NDArray[Any]
            if isinstance(column, NumberColumn):
                values = column.values(batch.column(k), start).astype(dtype)
            elif column.kind == "boolean":
                values = _booleans(column, batch.column(k), start).astype(dtype)
            else:
                values = _strings(column, batch.column(k), start)
            parts[column.name].append(values.reshape(-1, 1))
        start += batch.num_rows
    return {name: np.concatenate(some) for name, some in parts.items()}


def _columns_of(scorer: Scorer) -> Sequence[Column]:
    if isinstance(scorer, ModelScorer):
        return scorer.inputs
    return [term.column for term in line_of(scorer, "ONNX").terms]


def _booleans(column: CategoryColumn, values: pa.Array, start: int) -> NDArray[np.float64]:
    known = {"true": 1.0, "false": 0.0, None: np.nan}
    return np.array([known[v] for v in column.texts(values, start).to_pylist()])


def _strings(column: CategoryColumn, values: pa.Array, start: int) -> NDArray[Any]:
    texts = column.texts(values, start).to_pylist()
    out = np.empty(len(texts), object)
    out[:] = ["" if v is None else v for v in texts]
    return out


class _Graph(Graph, ABC):
    """Nodes and constants of a detector."""

    ml = ML

    def __init__(self, detector: Detector, dtype: np.dtype[Any]) -> None:
        super().__init__(detector.columns, dtype)
        self.detector, self.columns = detector, _columns_of(detector.scorer)

    @abstractmethod
    def scores(self) -> str:
        """The name of the score."""

    def whole(self) -> Any:
        policy, helper = self.detector.policy, self.helper
        inputs = [
            helper.make_tensor_value_info(
                column.name,
                self.types.STRING if column.kind == "category" else self.float,
                ["rows", 1],
            )
            for column in self.columns
        ]
        score = self.add("Identity", self.scores(), out="score")
        self.decide(policy, score)
        labels = policy.labels
        properties = {
            "target": labels.column or "",
            "positive": "" if labels.positive is None else as_text(labels.positive),
            "fingerprint": self.detector.training.fingerprint,
        }
        return self.model(inputs, properties, self.ml)

    def by_state(self, column: CategoryColumn, table: Any) -> str:
        """What a table has for the state of a category: its levels, another one, none."""
        if column.kind == "boolean":
            of_level = dict(zip(column.levels, table, strict=False))
            yes, no = (of_level.get(level, table[-2]) for level in ("true", "false"))
            known = (self.add("Equal", column.name, self.constant(x)) for x in (0.0, 1.0))
            value = self.constant(np.nan)  # what the detector refuses
            for is_so, added in zip(known, (no, yes), strict=True):
                value = self.add("Where", is_so, self.constant(added), value)
            return self.where_missing(column.name, table[-1], value)
        keys = [check_unicode(level, "ONNX") for level in (*column.levels, "")]
        code = self.add(
            "LabelEncoder",
            column.name,
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_int64s=[*range(len(column.levels)), len(keys)],
            default_int64=len(keys) - 1,
        )
        return self.add("Gather", self.constant(table), code, axis=0)

    def where_missing(self, name: str, missing: float, value: str) -> str:
        return self.add("Where", self.add("IsNaN", name), self.constant(missing), value)


class _LineGraph(_Graph):
    """The sum of the terms of a line."""

    def scores(self) -> str:
        line = line_of(self.detector.scorer, "ONNX")
        total = self.constant([[line.base]])
        for first in range(0, len(line.terms), GROUP):
            group: str | None = None
            for term in line.terms[first : first + GROUP]:
                value = self.term(term)
                group = value if group is None else self.add("Add", group, value)
            assert group is not None
            total = self.add("Add", total, group)
        return total

    def term(self, term: NumberTerm | CategoryTerm) -> str:
        name = term.column.name
        if isinstance(term, NumberTerm):
            away = self.add("Sub", name, self.constant(term.column.mean))
            value = self.add("Mul", self.constant(term.weight), away)
            # What the detector refuses has no score.
            value = self.add("Where", self.add("IsInf", name), self.constant(np.nan), value)
            return self.where_missing(name, term.missing, value)
        return self.by_state(term.column, term.table)


class _TreeGraph(_Graph):
    """One operator a tree, added up one after the other as their library does it."""

    ml = 5

    def scores(self) -> str:
        scorer = self.detector.scorer
        assert isinstance(scorer, ModelScorer)
        ensemble = Ensemble.of(scorer, "ONNX")
        if self.dtype == np.float32 and not ensemble.single:
            reason = "its scores are sums in float64, which float32 can't represent exactly"
            raise DataError(ScorerUnfit("model", "ONNX in float32", reason))
        double, one = self.types.DOUBLE, self.types.FLOAT if ensemble.single else self.types.DOUBLE
        values = [self.add("Cast", self.value(column), to=double) for column in self.columns]
        matrix = self.add("Concat", *values, axis=1)
        kind = np.float32 if ensemble.single else np.float64
        total = self.constant([[ensemble.base]], kind)
        for tree in ensemble.trees:
            if isinstance(tree, Leaf):
                leaf = self.constant([[tree.value]], kind)
            else:
                leaf = self.add("Cast", self.tree(tree, matrix), to=one)
            total = self.add("Add", total, leaf)
        total = self.add("Cast", total, to=self.float)
        for column in self.columns:
            if column.kind != "category":
                # What the detector refuses has no score.
                x = column.name
                if column.kind == "boolean":
                    is_level = (self.add("Equal", x, self.constant(v)) for v in (0.0, 1.0))
                    known = self.add("Or", *is_level)
                    odd = self.add("Not", self.add("Or", known, self.add("IsNaN", x)))
                else:
                    odd = self.add("IsInf", x)
                total = self.add("Where", odd, self.constant(np.nan), total)
        return total

    def value(self, column: Column) -> str:
        """A column as the model takes it."""
        if isinstance(column, NumberColumn):
            return column.name
        levels = range(len(column.levels))
        other = len(column.levels) if column.other else np.nan
        return self.by_state(column, np.array([*levels, other, np.nan]))

    def tree(self, root: Split, matrix: str) -> str:
        """What each row gets of a tree."""
        nodes = list(walk(root))
        splits = [node for node in nodes if isinstance(node, Split)]
        leaves = [node for node in nodes if isinstance(node, Leaf)]
        place = {id(node): k for some in (splits, leaves) for k, node in enumerate(some)}
        members = [
            level
            for split in splits
            if isinstance(split.test, tuple)
            for level in (*(split.test or (-1,)), np.nan)  # -1 is no level: there must be some
        ]
        is_set = [isinstance(split.test, tuple) for split in splits]
        more = {}
        if members:
            more["membership_values"] = self.from_array(np.array(members, np.float64), "members")
        return self.add(
            "TreeEnsemble",
            matrix,
            domain="ai.onnx.ml",
            n_targets=1,
            aggregate_function=_SUM,
            post_transform=0,
            tree_roots=[0],
            nodes_modes=self.from_array(
                np.where(is_set, _MEMBER, _AT_MOST).astype(np.uint8), "modes"
            ),
            nodes_splits=self.from_array(
                np.array([0.0 if isinstance(s.test, tuple) else s.test for s in splits]), "splits"
            ),
            nodes_featureids=[split.column for split in splits],
            nodes_truenodeids=[place[id(split.yes)] for split in splits],
            nodes_falsenodeids=[place[id(split.no)] for split in splits],
            nodes_trueleafs=[int(isinstance(split.yes, Leaf)) for split in splits],
            nodes_falseleafs=[int(isinstance(split.no, Leaf)) for split in splits],
            nodes_missing_value_tracks_true=[int(split.missing) for split in splits],
            leaf_weights=self.from_array(np.array([leaf.value for leaf in leaves]), "leaves"),
            leaf_targetids=[0] * len(leaves),
            **more,
        )
