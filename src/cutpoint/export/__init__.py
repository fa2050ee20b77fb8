"""Detectors elsewhere: in a database, in ONNX, in scikit-learn, and on paper."""

from __future__ import annotations

from typing import Any

from cutpoint.export.markdown import to_markdown
from cutpoint.export.onnx import onnx_inputs, to_onnx
from cutpoint.export.sql import to_sql

__all__ = ["onnx_inputs", "to_markdown", "to_onnx", "to_sklearn", "to_sql"]


def to_sklearn(detector: Any) -> Any:
    """A fitted classifier of scikit-learn: for data frames, pipelines, search and inspection.

    ``decision_function`` gives the score less the threshold, ``predict_proba`` the probability at
    the detector's prior, and ``predict`` the decision: flagged rows get the positive label. A
    detector that was trained on 0/1 or False/True predicts these; -1/1 become 0/1, since it knows
    the positive label only. Any other is text, "fraud" and "not fraud". Without a label it is
    False/True.

    Parameters
    ----------
    detector
        A :class:`cutpoint.detector.Detector`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import cutpoint as cp
    >>> from cutpoint.detector import Detector, Encoding
    >>> from cutpoint.export import to_sklearn
    >>> frame = pd.DataFrame({"age": [30, 40, 50, 60]})
    >>> line = cp.LinearDetector(np.array([2.0]), 0.5)
    >>> d = Detector.of(Encoding.fit(frame), line, calibrator=cp.Affine(1.0, 0.0), prior=0.2,
    ...                 threshold=1.0)
    >>> to_sklearn(d).predict(frame)
    array([False, False,  True,  True])
    """
    from cutpoint.export.sklearn import DetectorClassifier

    return DetectorClassifier(detector).fit()
