"""What the pages show of Spark, run as it stands there, with the names that it speaks of."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from clusters import local_session, needs_spark
from cutscore.tables import write_table

pytestmark = needs_spark

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["scale.md", "coming-from.md", "stories/clicks.md"]


def blocks(page: str) -> list[str]:
    """Python that is no session of an interpreter, which doctest runs."""
    text = (DOCS / page).read_text("utf-8")
    found = re.findall(r"```python\n(.*?)```", text, re.S)
    return [block for block in found if ">>>" not in block and "spark" in block]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler

    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    columns = {
        "fraud": y,
        "click": y,
        "label": y.astype(float),
        "score": rng.normal(size=600) + y,
        "fit": rng.normal(size=600) + y,
        "amount": rng.normal(size=600),
        "user": rng.integers(0, 20, 600),
    }
    write_table(folder / "rows.parquet", columns)
    spark = local_session()
    df = spark.read.parquet(str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = VectorAssembler(inputCols=["fit"], outputCol="features").transform(df)
        model = LogisticRegression().fit(test)
    # The model brings a column of scores itself.
    test = test.drop("score")
    return {"cs": cs, "spark": spark, "df": df, "folder": folder, "model": model, "test": test}


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str, names: dict[str, Any]) -> None:
    found = blocks(page)
    assert found
    for block in found:
        own = dict(names)
        code = block.replace("/data/scores", str(names["folder"])).splitlines()
        last = code[-1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec("\n".join(code[:-1] if last[:1] not in (" ", "") else code), own)
            if last[:1] not in (" ", "") and "=" not in last.partition("(")[0]:
                assert eval(last, own)
            elif last[:1] not in (" ", ""):
                exec(last, own)
        assert own["s"].P == 600 - own["s"].N > 0
