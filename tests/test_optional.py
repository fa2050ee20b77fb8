"""Without an optional library: an error that says which one, and how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest

MATPLOTLIB = "cutscore.plot needs matplotlib"


@pytest.mark.parametrize(
    ("library", "extra", "uses"),
    [
        ("torch", "torch", {"import cutscore.torch": "cutscore.torch needs PyTorch"}),
        ("pyspark", "spark", {"import cutscore.spark": "cutscore.spark needs PySpark"}),
        (
            "sklearn",
            "sklearn",
            {
                "import cutscore.estimators": "cutscore.estimators needs scikit-learn",
                "import cutscore.detector.export.sklearn": "to_sklearn needs scikit-learn",
            },
        ),
        (
            "matplotlib",
            "plot",
            {
                "cs.plot.roc(cs.roc(cs.sweep([1, 0], [2, 1])))": MATPLOTLIB,
                "cs.plot.overview(cs.sweep([1, 0], [2, 1]))": MATPLOTLIB,
                "cs.plot.margins(cs.Margins(numpy.array([1.0, -1.0])))": MATPLOTLIB,
            },
        ),
    ],
)
def test_what_is_missing_is_said(library: str, extra: str, uses: dict[str, str]) -> None:
    code = f"import sys; sys.modules[{library!r}] = None\nimport numpy, cutscore as cs\n" + "".join(
        f"try:\n    {use}\nexcept ImportError as error:\n    print(error.name, error, sep=': ')\n"
        for use in uses
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    way = f"pip install '.[{extra}]' in a clone of cutscore"
    wanted = [f"{library}: {words}: {way}" for words in uses.values()]
    assert done.stdout.splitlines() == wanted, done.stderr
