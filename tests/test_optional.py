"""Without an optional library: an error that says which one, and how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("library", "use", "words", "extra"),
    [
        (
            "sklearn",
            "import cutscore.estimators",
            "cutscore.estimators needs scikit-learn",
            "sklearn",
        ),
        (
            "torch",
            "import cutscore.torch",
            "cutscore.torch needs PyTorch",
            "torch",
        ),
        (
            "sklearn",
            "import cutscore.detector.export.sklearn",
            "to_sklearn needs scikit-learn",
            "sklearn",
        ),
        (
            "pyspark",
            "import cutscore.spark",
            "cutscore.spark needs PySpark",
            "spark",
        ),
        (
            "matplotlib",
            "s = cs.sweep([1, 0], [2, 1]); cs.plot.roc(cs.roc(s))",
            "cutscore.plot needs matplotlib",
            "plot",
        ),
        (
            "matplotlib",
            "cs.plot.overview(cs.sweep([1, 0], [2, 1]))",
            "cutscore.plot needs matplotlib",
            "plot",
        ),
        (
            "matplotlib",
            "import numpy as np; cs.plot.margins(cs.Margins(np.array([1.0, -1.0])))",
            "cutscore.plot needs matplotlib",
            "plot",
        ),
    ],
)
def test_what_is_missing_is_said(library: str, use: str, words: str, extra: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"import cutscore as cs\n"
        f"try:\n    {use}\n"
        f"except ImportError as error:\n    print(error.name, error, sep=': ')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    way = f"pip install '.[{extra}]' in a clone of cutscore"
    assert done.stdout == f"{library}: {words}: {way}\n", done.stderr
