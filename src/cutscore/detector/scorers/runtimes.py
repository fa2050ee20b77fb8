"""Models in ONNX, and of scikit-learn in the format of skops."""

from __future__ import annotations

from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import threads
from cutscore.core.errors import DataError
from cutscore.core.findings.scorers import ScorerDamaged, ScorerUntrusted, ScoresUnusable
from cutscore.detector.scorers.trees import Model, needs
from cutscore.sweeps.sweep import Floats


class Onnx(Model):
    """A graph with one input, a matrix of numbers, and as its last output a score of each row, or
    the probabilities of both classes."""

    name = "ONNX"

    @cached_property
    def session(self) -> Any:
        """The runtime's own object."""
        with needs("onnxruntime", "onnx"):
            import onnxruntime as ort
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = threads()
        try:
            return ort.InferenceSession(self.data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's errors share no base class
            raise DataError(ScorerDamaged(self.name, _first_line(error))) from error

    @cached_property
    def _input(self) -> tuple[str, Any]:
        """The name of the one input, and the type of its numbers."""
        inputs = self.session.get_inputs()
        types = {"tensor(float)": np.float32, "tensor(double)": np.float64}
        if len(inputs) != 1 or inputs[0].type not in types or len(inputs[0].shape) != 2:
            found = ", ".join(f"{one.name}: {one.type} {one.shape}" for one in inputs)
            reason = f"its inputs are {found}, not one matrix of numbers"
            raise DataError(ScoresUnusable(self.name, reason))
        return inputs[0].name, types[inputs[0].type]

    @property
    def features(self) -> int | None:
        _ = self._input
        width = self.session.get_inputs()[0].shape[1]
        return width if isinstance(width, int) else None

    def scores(self, X: Floats) -> NDArray[Any]:
        name, dtype = self._input
        last = self.session.get_outputs()[-1].name
        (out,) = self.session.run([last], {name: X.astype(dtype)})
        if not isinstance(out, np.ndarray) or out.dtype.kind not in "fiu":
            raise DataError(ScoresUnusable(self.name, f"the output {last} holds no numbers"))
        return of_classes(out)


class Sklearn(Model):
    """A classifier of scikit-learn, saved by skops. Its decision function is the score, or the
    probability of the second class where there is none."""

    name = "scikit-learn"

    @cached_property
    def estimator(self) -> Any:
        """scikit-learn's own object."""
        with needs("skops", "skops"):
            from skops import io
        try:
            types = io.get_untrusted_types(data=self.data)
            if types:
                raise DataError(ScorerUntrusted(tuple(sorted(types))))
            return io.loads(self.data)
        except DataError:
            raise
        except Exception as error:  # of a zip file, of JSON, or of whatever a type expects
            raise DataError(ScorerDamaged(self.name, _first_line(error))) from error

    @property
    def features(self) -> int | None:
        width = getattr(self.estimator, "n_features_in_", None)
        return None if width is None else int(width)

    @property
    def names(self) -> list[str]:
        return [str(name) for name in getattr(self.estimator, "feature_names_in_", ())]

    def scores(self, X: Floats) -> NDArray[Any]:
        rows: Any = X
        if self.names and find_spec("pandas") is not None:  # or it warns that names are missing
            import pandas as pd  # type: ignore[import-untyped]

            rows = pd.DataFrame(X, columns=self.names)
        score = getattr(self.estimator, "decision_function", None) or self.estimator.predict_proba
        return of_classes(np.asarray(score(rows)))


def of_classes(out: NDArray[Any]) -> NDArray[Any]:
    """One number a row: of two probabilities, the second."""
    if out.ndim == 2 and out.shape[1] in (1, 2):
        return out[:, -1]
    return out


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
