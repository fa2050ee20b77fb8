"""Without an optional library: an error that says which one, and how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("library", "use", "words"),
    [
        (
            "sklearn",
            "import cutpoint.estimators",
            "cutpoint.estimators needs scikit-learn: pip install 'cutpoint[sklearn]'",
        ),
        (
            "torch",
            "import cutpoint.torch",
            "cutpoint.torch needs PyTorch: pip install 'cutpoint[torch]'",
        ),
        (
            "sklearn",
            "import cutpoint.export.sklearn",
            "a classifier of scikit-learn needs it: pip install 'cutpoint[sklearn]'",
        ),
        (
            "pyspark",
            "import cutpoint.spark",
            "cutpoint.spark needs PySpark: pip install 'cutpoint[spark]'",
        ),
        (
            "matplotlib",
            "s = cp.sweep([1, 0], [2, 1]); cp.plot.roc(cp.roc(s))",
            "cutpoint.plot needs matplotlib: pip install 'cutpoint[plot]'",
        ),
        (
            "matplotlib",
            "cp.plot.overview(cp.sweep([1, 0], [2, 1]))",
            "cutpoint.plot needs matplotlib: pip install 'cutpoint[plot]'",
        ),
        (
            "matplotlib",
            "import numpy as np; cp.plot.margins(cp.Margins(np.array([1.0, -1.0])))",
            "cutpoint.plot needs matplotlib: pip install 'cutpoint[plot]'",
        ),
    ],
)
def test_what_is_missing_is_said(library: str, use: str, words: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"import cutpoint as cp\n"
        f"try:\n    {use}\n"
        f"except ImportError as error:\n    print(error.name, error, sep=': ')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == f"{library}: {words}\n", done.stderr
