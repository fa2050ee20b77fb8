"""A detector as an ONNX graph, in float64 or float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.models import NoColumns
from cutscore.detector.artefact import Detector, as_text
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import GROUP, line_of
from cutscore.detector.terms import CategoryTerm, NumberTerm
from cutscore.detector.values import stream
from cutscore.policy.export.onnx import Graph

if TYPE_CHECKING:
    import pyarrow as pa
    from onnx import ModelProto

    from cutscore.tables.frames import TableLike


def to_onnx(detector: Detector, *, dtype: Literal["float64", "float32"] = "float64") -> ModelProto:
    """An ONNX model with an input for each column; it returns score, LLR, probability, decision.

    Parameters
    ----------
    detector : Detector
        The detector.
    dtype : {"float64", "float32"}, default "float64"
        The type of numbers. With float32, scores have relative errors of about 10⁻⁶; decisions may
        differ for rows that close to the threshold.

    Returns
    -------
    onnx.ModelProto
        Inputs have the names of the columns and the shape [rows, 1]. Numbers, booleans (0 and 1)
        and dates (days since 1970-01-01) are floats, NaN where they are missing; categories are
        strings, empty where they are missing: whole numbers as "10", dates as "2020-01-31" or
        "2020-01-31 12:30:00". :func:`onnx_inputs` makes them from a table. Outputs have the shape
        [rows, 1]; the decision is boolean. Infinite numbers, which the detector refuses, have NaN
        for a score and are not flagged. Save it with ``onnx.save(model, path)``,
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
        graph: ModelProto = detector.policy.export("onnx", dtype=dtype)
        return graph
    if dtype not in ("float64", "float32"):
        raise DataError(BadArgument("dtype", "be float64 or float32", dtype))
    if not line_of(detector.scorer, "ONNX").terms:
        raise DataError(NoColumns())
    model: ModelProto = _Graph(detector, np.dtype(dtype)).whole()
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
    line = line_of(detector.scorer, "ONNX")
    names = line.columns
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    start = 0
    for batch in stream(data, names, line.numbers, line.texts):
        for k, term in enumerate(line.terms):
            column = batch.column(k)
            if isinstance(term, NumberTerm):
                values: NDArray[Any] = term.column.values(column, start).astype(dtype)
            elif term.column.kind == "boolean":
                values = _booleans(term, column, start).astype(dtype)
            else:
                values = _strings(term, column, start)
            parts[term.column.name].append(values.reshape(-1, 1))
        start += batch.num_rows
    return {name: np.concatenate(some) for name, some in parts.items()}


def _booleans(term: CategoryTerm, column: pa.Array, start: int) -> NDArray[np.float64]:
    known = {"true": 1.0, "false": 0.0, None: np.nan}
    return np.array([known[v] for v in term.column.texts(column, start).to_pylist()])


def _strings(term: CategoryTerm, column: pa.Array, start: int) -> NDArray[Any]:
    values = term.column.texts(column, start).to_pylist()
    out = np.empty(len(values), object)
    out[:] = ["" if v is None else v for v in values]
    return out


class _Graph(Graph):
    """Nodes and constants of a detector."""

    def __init__(self, detector: Detector, dtype: np.dtype[Any]) -> None:
        super().__init__(detector.columns, dtype)
        self.detector, self.line = detector, line_of(detector.scorer, "ONNX")

    def whole(self) -> Any:
        line, policy, helper = self.line, self.detector.policy, self.helper
        inputs = [
            helper.make_tensor_value_info(
                term.column.name,
                self.types.STRING if term.column.kind == "category" else self.float,
                ["rows", 1],
            )
            for term in line.terms
        ]
        total = self.constant([[line.base]])
        for first in range(0, len(line.terms), GROUP):
            group: str | None = None
            for term in line.terms[first : first + GROUP]:
                value = self.term(term)
                group = value if group is None else self.add("Add", group, value)
            assert group is not None
            total = self.add("Add", total, group)
        score = self.add("Identity", total, out="score")
        self.decide(policy.calibrator, policy.prior, policy.threshold, score)
        labels = policy.labels
        properties = {
            "target": labels.column or "",
            "positive": "" if labels.positive is None else as_text(labels.positive),
            "fingerprint": self.detector.training.fingerprint,
        }
        return self.model(inputs, properties)

    def term(self, term: NumberTerm | CategoryTerm) -> str:
        name = term.column.name
        if isinstance(term, NumberTerm):
            away = self.add("Sub", name, self.constant(term.column.mean))
            value = self.add("Mul", self.constant(term.weight), away)
            # What the detector refuses has no score.
            value = self.add("Where", self.add("IsInf", name), self.constant(np.nan), value)
            return self.where_missing(name, term.missing, value)
        if term.column.kind == "boolean":
            weight = dict(zip(term.column.levels, term.weights, strict=True))
            yes, no = (weight.get(level, term.other) for level in ("true", "false"))
            known = (self.add("Equal", name, self.constant(x)) for x in (0.0, 1.0))
            value = self.constant(np.nan)  # what the detector refuses
            for is_so, added in zip(known, (no, yes), strict=True):
                value = self.add("Where", is_so, self.constant(added), value)
            return self.where_missing(name, term.missing, value)
        keys = [*term.column.levels, ""]
        codes = [*range(len(term.column.levels)), len(keys)]
        code = self.add(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_int64s=codes,
            default_int64=len(keys) - 1,
        )
        return self.add("Gather", self.constant(term.table), code, axis=0)

    def where_missing(self, name: str, missing: float, value: str) -> str:
        return self.add("Where", self.add("IsNaN", name), self.constant(missing), value)
