"""A detector as an ONNX graph, in float64 or float32."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cutscore import __version__
from cutscore.calibration.calibrators import Affine, Calibrator, Chain, Gaussian, Monotone
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, LibraryMissing
from cutscore.core.findings.models import NoColumns, NotExportable
from cutscore.core.types import ArrayLike
from cutscore.detector.artefact import GROUP, Detector
from cutscore.detector.terms import CategoryTerm, NumberTerm
from cutscore.detector.values import stream
from cutscore.measures.prior import log_odds

if TYPE_CHECKING:
    import pyarrow as pa
    from onnx import ModelProto

    from cutscore.tables.frames import TableLike

# Operators that runtimes of several years know.
_OPSET, _ML, _IR = 17, 3, 8

OUTPUTS = ("score", "llr", "probability", "decision")


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
    >>> from cutscore.detector import Detector, Encoding
    >>> from cutscore.detector.export import to_onnx
    >>> e = Encoding.fit({"age": [20, 40, 60]})
    >>> linear = cs.LinearDetector(np.array([1.0]), 0.5)
    >>> d = Detector.of(e, linear, calibrator=cs.Affine(1.0, 0.0),
    ...                 aim=cs.Aim(prior=0.5), threshold=1.0)
    >>> [output.name for output in to_onnx(d).graph.output]
    ['score', 'llr', 'probability', 'decision']
    """
    if dtype not in ("float64", "float32"):
        raise DataError(BadArgument("dtype", "be float64 or float32", dtype))
    if not detector.terms:
        raise DataError(NoColumns())
    model: ModelProto = _Graph(detector, np.dtype(dtype)).model()
    return model


def onnx_inputs(
    detector: Detector, data: TableLike, *, dtype: Literal["float64", "float32"] = "float64"
) -> dict[str, NDArray[Any]]:
    """The inputs of :func:`to_onnx` for the rows of a table, ready for a runtime.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding
    >>> from cutscore.detector.export import onnx_inputs
    >>> table = {"age": [20, 40, None], "colour": ["red", None, "blue"]}
    >>> e = Encoding.fit(table, min_rows=1)
    >>> linear = cs.LinearDetector(np.ones(4), 0.0)
    >>> d = Detector.of(e, linear, calibrator=cs.Affine(1.0, 0.0),
    ...                 aim=cs.Aim(prior=0.5), threshold=0.0)
    >>> {name: a.ravel().tolist() for name, a in onnx_inputs(d, table).items()}
    {'age': [20.0, 40.0, nan], 'colour': ['red', '', 'blue']}
    """
    names = detector.columns
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in names}
    start = 0
    for batch in stream(data, names, detector.numbers, detector.texts):
        for k, term in enumerate(detector.terms):
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


class _Graph:
    """Nodes and constants, each under a name of its own."""

    def __init__(self, detector: Detector, dtype: np.dtype[Any]) -> None:
        try:
            from onnx import TensorProto, helper, numpy_helper
        except ImportError:
            raise DataError(LibraryMissing("export to ONNX", "onnx", "onnx")) from None
        self.helper, self.types, self.from_array = helper, TensorProto, numpy_helper.from_array
        self.detector, self.dtype = detector, dtype
        self.float = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.taken = {*detector.columns, *OUTPUTS}
        for name in detector.columns:
            if not name or name in OUTPUTS:
                raise DataError(NotExportable(name, "ONNX", "no input can be called so"))

    def name(self, hint: str) -> str:
        k = len(self.taken)
        while f"{hint}_{k}" in self.taken:
            k += 1
        self.taken.add(f"{hint}_{k}")
        return f"{hint}_{k}"

    def constant(self, value: ArrayLike, dtype: Any = None) -> str:
        name = self.name("constant")
        array = np.asarray(value, self.dtype if dtype is None else dtype)
        self.constants.append(self.from_array(array, name))
        return name

    def add(self, op: str, *inputs: str, out: str | None = None, **attributes: Any) -> str:
        out = out or self.name(op.lower())
        domain = attributes.pop("domain", "")
        self.nodes.append(
            self.helper.make_node(op, list(inputs), [out], domain=domain, **attributes)
        )
        return out

    def model(self) -> Any:
        d, helper = self.detector, self.helper
        inputs = [
            helper.make_tensor_value_info(
                term.column.name,
                self.types.STRING if term.column.kind == "category" else self.float,
                ["rows", 1],
            )
            for term in d.terms
        ]
        total = self.constant([[d.base]])
        for first in range(0, len(d.terms), GROUP):
            group: str | None = None
            for term in d.terms[first : first + GROUP]:
                value = self.term(term)
                group = value if group is None else self.add("Add", group, value)
            assert group is not None
            total = self.add("Add", total, group)
        score = self.add("Identity", total, out="score")
        llr = score
        steps = d.calibrator.steps if isinstance(d.calibrator, Chain) else (d.calibrator,)
        for step in steps:
            llr = self.llr(step, llr)
        # Steps would have a place for what is no number, too.
        llr = self.add("Where", self.add("IsNaN", score), score, llr, out="llr")
        self.sigmoid(self.add("Add", llr, self.constant(log_odds(d.prior))))
        self.add("GreaterOrEqual", score, self.constant(self.threshold()), out="decision")
        outputs = [
            helper.make_tensor_value_info(
                name, self.types.BOOL if name == "decision" else self.float, ["rows", 1]
            )
            for name in OUTPUTS
        ]
        graph = helper.make_graph(self.nodes, "cutscore", inputs, outputs, self.constants)
        model = helper.make_model(
            graph,
            producer_name="cutscore",
            producer_version=__version__,
            opset_imports=[
                helper.make_opsetid("", _OPSET),
                helper.make_opsetid("ai.onnx.ml", _ML),
            ],
            ir_version=_IR,
        )
        helper.set_model_props(
            model,
            {"target": d.target or "", "positive": d.positive or "", "fingerprint": d.fingerprint},
        )
        return model

    def threshold(self) -> float:
        """Rounded up in float32, so that what is exactly a float32 is decided as before."""
        t = self.dtype.type(self.detector.threshold)
        below = float(t) < self.detector.threshold
        return float(np.nextafter(t, self.dtype.type(np.inf)) if below else t)

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

    def llr(self, step: Calibrator, x: str) -> str:
        c = self.constant
        if isinstance(step, Affine):
            if not step.gamma:
                return self.add("Mul", x, c(0.0))
            return self.add("Mul", c(step.gamma), self.add("Sub", x, c(step.d0)))
        if isinstance(step, Gaussian):
            u = self.add("Div", self.add("Sub", x, c(step.neg_mean)), c(step.neg_sd))
            v = self.add("Div", self.add("Sub", x, c(step.pos_mean)), c(step.pos_sd))
            product = self.add("Mul", self.add("Sub", u, v), self.add("Add", u, v))
            half = self.add("Mul", c(0.5), product)
            return self.add("Add", half, c(log(step.neg_sd / step.pos_sd)))
        assert isinstance(step, Monotone)
        return self.monotone(step, x)

    def monotone(self, step: Monotone, x: str) -> str:
        """The number of thresholds that a score reaches is the number of its step."""
        c, (at, value) = self.constant, step._rising
        finite = at[np.isfinite(at)]
        value = value[: len(finite) + 1] if not step.interpolate else value
        index = self.place(x, finite)
        if step.interpolate:
            slope = np.concatenate(([0.0], np.diff(value) / np.diff(at), [0.0]))
            start = np.concatenate(([0.0], at[:-1], [0.0]))
            offset = np.concatenate(([value[0]], value[:-1], [value[-1]]))
            part = [self.add("Gather", c(a), index, axis=0) for a in (slope, start, offset)]
            away = self.add("Sub", x, part[1])
            out = self.add("Add", self.add("Mul", part[0], away), part[2])
        else:
            out = self.add("Gather", c(value), index, axis=0)
        if step.tilt:
            z = self.add("Div", self.add("Sub", x, c(step.centre)), c(step.scale))
            share = self.add("Div", z, self.add("Add", c(1.0), self.add("Abs", z)))
            out = self.add("Add", out, self.add("Mul", c(step.tilt), share))
        return out

    def place(self, x: str, at: Sequence[float] | NDArray[Any]) -> str:
        if not len(at):
            zero = self.add("Mul", x, self.constant(0.0))
            return self.add("Cast", zero, to=self.types.INT64)
        reached = self.add("GreaterOrEqual", x, self.constant(np.reshape(at, (1, -1))))
        ones = self.add("Cast", reached, to=self.types.INT64)
        return self.add("ReduceSum", ones, self.constant([1], np.int64), keepdims=1)

    def sigmoid(self, z: str) -> str:
        """As in the library: without overflow, and precise near 0."""
        one = self.constant(1.0)
        e = self.add("Exp", self.add("Neg", self.add("Abs", z)))
        up = self.add("GreaterOrEqual", z, self.constant(0.0))
        top = self.add("Where", up, one, e)
        return self.add("Div", top, self.add("Add", one, e), out="probability")
