"""Export of detectors: SQL, ONNX, a Python module, a scikit-learn classifier and a model card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.detector.export.markdown import to_markdown
from cutscore.detector.export.onnx import onnx_inputs, to_onnx
from cutscore.detector.export.python import to_python
from cutscore.detector.export.sql import to_sql

if TYPE_CHECKING:
    from cutscore.detector.artefact import Detector
    from cutscore.detector.export.sklearn import DetectorClassifier

__all__ = ["onnx_inputs", "to_markdown", "to_onnx", "to_python", "to_sklearn", "to_sql"]


def to_sklearn(detector: Detector) -> DetectorClassifier:
    """The detector as a fitted scikit-learn classifier, for data frames, pipelines and search.

    ``decision_function`` gives the score less the threshold, ``predict_proba`` the probabilities at
    the detector's prior, and ``predict`` the decision: flagged rows get the positive label, all
    others the negative one. A detector that was trained on two labels predicts these, as they were:
    0/1, -1/1, "legit" and "fraud". Where there were several negative ones, or they are not known
    (a file of an earlier version, a detector made by hand without ``labels``), both are text:
    "fraud" and "not fraud". Without a positive label they are False and True.

    ``classes_`` are sorted, as scikit-learn has it. Where the positive label comes first (0 of 0/1,
    "fraud" of "fraud"/"legit"), so does its column of ``predict_proba``, and ``decision_function``
    is the threshold less the score.

    Parameters
    ----------
    detector : Detector
        The detector.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import to_sklearn
    >>> frame = pd.DataFrame({"age": [30, 40, 50, 60]})
    >>> linear = cs.LinearDetector(np.array([2.0]), 0.5)
    >>> scorer = LinearScorer.of(Encoding.fit(frame), linear)
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(frame))
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    >>> d = Detector(scorer, policy)
    >>> to_sklearn(d).predict(frame)
    array([False, False,  True,  True])
    """
    from cutscore.detector.export.sklearn import DetectorClassifier

    return DetectorClassifier(detector).fit()
