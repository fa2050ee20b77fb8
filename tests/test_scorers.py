"""Scorers: from rows to scores, whatever made them."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pyarrow as pa
import pytest

import cutscore as cs
from cutscore.detector import CategoryColumn, CategoryTerm, Encoding, NumberColumn, NumberTerm
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers import ColumnScorer, Contributions, LinearScorer, Scorer
from cutscore.tables import open_table
from raising import finding

AGE = NumberTerm(NumberColumn("age", 40.0, 10.0, low=20.0, high=60.0), 0.5, -1.0)
CITY = CategoryTerm(CategoryColumn("city", ("A", "B"), (0.5, 0.5)), (2.0, -2.0), 0.0, 0.0)
ROWS = {"id": [1, 2, 3], "age": [42, None, 90], "city": ["A", "B", "C"]}


def test_line() -> None:
    line = LinearScorer((AGE, CITY), 1.0)
    assert line.columns == ["age", "city"]
    assert line.scores(ROWS).tolist() == [1 + 1 + 2, 1 - 1 - 2, 1 + 25]
    assert line.bias == 1.0 - 20.0
    assert line.facts() == [("columns", "2, mainly age, city")]


def test_line_explains_and_keeps() -> None:
    seen = Novelty()
    (part,) = LinearScorer((AGE, CITY), 1.0).scored(ROWS, ["id"], explain=True, seen=seen)
    assert part.batch.column(0).to_pylist() == [1, 2, 3]
    assert part.contributions is not None
    assert part.contributions.largest(2).to_pylist() == [
        "city = A +2, age +1",
        "city = B -2, age is missing -1",
        "age +25",
    ]
    assert [found.code for found in seen.found(3)] == ["unseen-values"] * 3


def test_line_of_features() -> None:
    e = Encoding.fit(ROWS, columns=["age", "city"], min_rows=1)
    line = cs.LinearDetector(np.arange(1.0, len(e.features) + 1), 0.5)
    np.testing.assert_allclose(
        LinearScorer.of(e, line).scores(ROWS), e.transform(ROWS) @ line.w + line.b, rtol=1e-12
    )


def test_column() -> None:
    scorer = ColumnScorer("risk")
    rows = {"risk": [0.5, None, nan, inf, -inf, 2], "id": list("abcdef")}
    np.testing.assert_array_equal(scorer.scores(rows), [0.5, nan, nan, inf, -inf, 2])
    (part,) = scorer.scored(rows, ["id"], explain=True)
    assert part.contributions is None
    assert part.batch.column(0).to_pylist() == list("abcdef")
    assert scorer.scores({"risk": [True, False]}).tolist() == [1, 0]
    assert ColumnScorer("risk").scores({"risk": pa.array([], pa.float64())}).tolist() == []


def test_column_of_text_is_kept_as_written(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("risk,id\n007,1\n1e1,2\n,3\n")
    (part,) = ColumnScorer("risk").scored(open_table(path), ["risk"])
    np.testing.assert_array_equal(part.score, [7, 10, nan])
    assert part.batch.column(0).to_pylist() == ["007", "1e1", None]


def test_column_of_words_is_refused() -> None:
    with finding("value-unfit", column="risk", value="high"):
        ColumnScorer("risk").scores({"risk": ["1", "high"]})
    with finding("column-missing", column="risk"):
        ColumnScorer("risk").scores({"rick": [1, 2]})


@pytest.mark.parametrize("scorer", [LinearScorer((AGE, CITY), 1.0), ColumnScorer("risk")])
def test_file(scorer: Scorer) -> None:
    assert Scorer.from_dict(scorer.to_dict()) == scorer
    assert next(iter(scorer.to_dict().items())) == ("kind", scorer.kind)


def test_bad_file() -> None:
    with finding("field-unfit", field="scorer.kind", rule="present"):
        Scorer.from_dict({})
    with finding("field-unfit", field="scorer.kind"):
        Scorer.from_dict({"kind": "forest"})
    with finding("field-unfit", field="scorer"):
        Scorer.from_dict([])
    with finding("field-unfit", field="scorer.column", rule="present"):
        Scorer.from_dict({"kind": "column"})


def test_largest_contributions() -> None:
    c = Contributions(np.array([[0.0], [3.0]]), np.array([[0], [1]]), ["a", "b"])
    assert c.largest(2).to_pylist() == ["b +3"]
