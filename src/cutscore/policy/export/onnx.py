"""A policy as an ONNX graph, in float64 or float32; and the part of a graph that decides."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from cutscore import __version__
from cutscore.calibration.calibrators import (
    EPS,
    Affine,
    Beta,
    Calibrator,
    Chain,
    Gaussian,
    Monotone,
)
from cutscore.core.checks import one_of
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import LibraryMissing
from cutscore.core.findings.models import NotExportable
from cutscore.core.types import ArrayLike
from cutscore.decision.three_way import rounded
from cutscore.measures.prior import log_odds
from cutscore.policy.export.sql import check_unicode

if TYPE_CHECKING:
    from onnx import ModelProto

    from cutscore.policy.artefact import Policy

# Operators that runtimes of several years know.
OPSET, ML, IR = 17, 3, 8

OUTPUTS = ("score", "llr", "probability", "decision")

# In the metadata of each file, since the file alone would not tell it.
_MISSING = (
    "Without a score, NaN, llr and probability are NaN. The decision is the one of a case that is "
    "not flagged: ONNX has no value for an unknown one. Look at isnan(score) first."
)


def to_onnx(policy: Policy, *, dtype: Literal["float64", "float32"] = "float64") -> ModelProto:
    """An ONNX model with one input, the score; it returns score, LLR, probability and decision.

    Parameters
    ----------
    policy
        The policy.
    dtype
        The type of numbers. With float32 the threshold is rounded so that scores which are exactly
        float32 are decided as before.

    Returns
    -------
    onnx.ModelProto
        The input is called ``x`` and has the shape [rows, 1], NaN where the score is missing;
        outputs have the same shape. A missing score has NaN for LLR and probability, and is not
        flagged: ONNX has no value for an unknown decision, as the file's metadata says
        (``missing``). Save it with ``onnx.save(model, path)``.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    >>> p = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 2.5))
    >>> [output.name for output in p.export("onnx").graph.output]
    ['score', 'llr', 'probability', 'decision']
    """
    one_of("dtype", dtype, ("float64", "float32"))
    one_input, hint = "the graph has one input, the score, and", "Export it as SQL or Python."
    if policy.row_costs is not None:
        reason = f"{one_input} costs of each row need columns"
        raise DataError(NotExportable(repr(policy.aim.costs), "ONNX", reason, hint))
    if policy.cuts.groups and policy.groups is not None:
        reason = f"{one_input} groups have thresholds of their own"
        raise DataError(NotExportable(policy.groups.column, "ONNX", reason, hint))
    graph = Graph(["x"], np.dtype(dtype))
    score = graph.add("Identity", "x", out="score")
    graph.decide(policy, score)
    model: ModelProto = graph.model(
        [graph.helper.make_tensor_value_info("x", graph.float, ["rows", 1])],
        {
            "column": policy.score,
            "target": policy.labels.column or "",
            "positive": "" if policy.labels.positive is None else str(policy.labels.positive),
            "digest": policy.provenance.digest,
        },
    )
    return model


class Graph:
    """Nodes and constants, each under a name of its own."""

    def __init__(self, inputs: Sequence[str], dtype: np.dtype[Any]) -> None:
        try:
            from onnx import TensorProto, helper, numpy_helper
        except ImportError:
            raise DataError(LibraryMissing("export to ONNX", "onnx", "onnx")) from None
        self.helper, self.types, self.from_array = helper, TensorProto, numpy_helper.from_array
        self.dtype = dtype
        self.float = TensorProto.DOUBLE if dtype == np.float64 else TensorProto.FLOAT
        self.decision_type = TensorProto.BOOL
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.taken = {*inputs, *OUTPUTS}
        for name in inputs:
            if not name or name in OUTPUTS:
                raise DataError(NotExportable(name, "ONNX", "no input can be called so"))
            check_unicode(name, "ONNX")

    def name(self, hint: str) -> str:
        k = len(self.taken)
        while f"{hint}_{k}" in self.taken:
            k += 1
        self.taken.add(f"{hint}_{k}")
        return f"{hint}_{k}"

    def constant(self, value: ArrayLike, dtype: DTypeLike | None = None) -> str:
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

    def decide(self, policy: Policy, score: str) -> None:
        """The outputs llr, probability and decision of a score."""
        c, reverse = policy.needs_calibrator("export to ONNX"), policy.reverse
        llr = self.add("Sub", self.constant(0.0), score) if reverse else score
        for step in c.steps if isinstance(c, Chain) else (c,):
            # Steps would have a place for what is no number, too.
            llr = self.add("Where", self.add("IsNaN", llr), llr, self.llr(step, llr))
        llr = self.add("Identity", llr, out="llr")
        self.sigmoid(self.add("Add", llr, self.constant(log_odds(policy.prior))))
        compare = "LessOrEqual" if reverse else "GreaterOrEqual"
        t = [rounded(self.dtype, one, up=not reverse) for one in policy.cuts.thresholds]
        if len(t) == 1:
            self.add(compare, score, self.constant(t[0]), out="decision")
            return
        review, block = (
            self.add("Cast", self.add(compare, score, self.constant(one)), to=self.types.INT64)
            for one in t
        )
        self.add("Add", review, block, out="decision")
        self.decision_type = self.types.INT64

    def model(self, inputs: list[Any], props: dict[str, str], ml: int = ML) -> Any:
        """The whole graph; ``ml`` is the version of the operators for models."""
        helper = self.helper
        outputs = [
            helper.make_tensor_value_info(
                name, self.decision_type if name == "decision" else self.float, ["rows", 1]
            )
            for name in OUTPUTS
        ]
        graph = helper.make_graph(self.nodes, "cutscore", inputs, outputs, self.constants)
        model = helper.make_model(
            graph,
            producer_name="cutscore",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ml)],
            ir_version=IR,
        )
        helper.set_model_props(model, props | {"missing": _MISSING})
        return model

    def llr(self, step: Calibrator, x: str) -> str:
        c = self.constant
        if isinstance(step, Affine):
            if not step.gamma:
                return self.add("Where", self.add("IsNaN", x), x, c([[0.0]]))
            return self.add("Mul", c(step.gamma), self.add("Sub", x, c(step.d0)))
        if isinstance(step, Beta):
            return self.beta(step, x)
        if isinstance(step, Gaussian):
            u = self.add("Div", self.add("Sub", x, c(step.neg_mean)), c(step.neg_sd))
            v = self.add("Div", self.add("Sub", x, c(step.pos_mean)), c(step.pos_sd))
            product = self.add("Mul", self.add("Sub", u, v), self.add("Add", u, v))
            half = self.add("Mul", c(0.5), product)
            return self.at_ends(step, x, self.add("Add", half, c(log(step.neg_sd / step.pos_sd))))
        assert isinstance(step, Monotone)
        return self.monotone(step, x)

    def at_ends(self, step: Calibrator, x: str, value: str) -> str:
        """The limits at infinity, where both terms of a difference may be infinite."""
        for end in (inf, -inf):
            there = self.add("Equal", x, self.constant(end))
            value = self.add("Where", there, self.constant(float(step.llr(end))), value)
        return value

    def beta(self, step: Beta, x: str) -> str:
        c = self.constant
        p = self.add("Max", self.add("Min", x, c(1 - EPS)), c(EPS))
        up = self.add("Mul", c(step.a), self.add("Log", p))
        down = self.add("Mul", c(step.b), self.add("Log", self.add("Sub", c(1.0), p)))
        value = self.add("Add", self.add("Sub", up, down), c(step.c))
        below = self.add("Less", x, c(0.0))
        outside = self.add("Or", below, self.add("Greater", x, c(1.0)))
        return self.add("Where", outside, c(np.nan), value)

    def monotone(self, step: Monotone, x: str) -> str:
        """The number of thresholds that a score reaches is the number of its step."""
        c, (at, value) = self.constant, step._rising
        index = self.place(x, at)
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
        return self.at_ends(step, x, out) if step.tilt or step.interpolate else out

    def place(self, x: str, at: Sequence[float] | NDArray[Any]) -> str:
        if not len(at):
            zero = self.add("Where", self.add("IsNaN", x), x, self.constant([[0.0]]))
            zero = self.add("Where", self.add("IsNaN", x), self.constant(0.0), zero)
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
