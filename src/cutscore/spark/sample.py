"""Some rows of a large table with all of their scores, drawn on a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cutscore.comparison.class_samples import ClassSample
from cutscore.spark.blobs import ignore_pandas_warnings
from cutscore.spark.errors import in_a_sentence
from cutscore.spark.sources import Paths, quote_name
from cutscore.tables import open_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A little more than is wanted is asked for: how many come is random.
_MORE = 1.05


def draw(  # noqa: PLR0913 - names of columns
    paths: Paths,
    *,
    label: str,
    scores: Sequence[str],
    most: int,
    spark: SparkSession,
    weight: str | None = None,
    positive: Hashable = None,
) -> tuple[ClassSample, ClassSample]:
    """At most so many rows of the positives and of the negatives of Parquet files, with all of
    their scores: as :func:`cutscore.tables.scans.sample.draw`. The rows have been swept, and so
    checked.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import cutscore as cs
    >>> from cutscore.spark.sample import draw
    >>> from cutscore.tables import write_table
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> _ = write_table(file, {"y": [1, 0, 1, 0], "a": [4.0, 3, 2, 1], "b": [3.0, 4, 2, 1]})
    >>> spark = cs.spark.session("local[2]")
    >>> pos, neg = draw([file], label="y", scores=["a", "b"], most=10, spark=spark)
    >>> sorted(pos.scores["b"].tolist()), neg.n
    ([2.0, 3.0], 2)
    """
    from pyspark.sql import functions as sql

    files = open_table(paths, format="parquet").paths
    y = sql.col(quote_name(label))
    w = sql.lit(1.0) if weight is None else sql.col(quote_name(weight)).cast("double")
    columns = [
        sql.col(quote_name(name)).cast("double").alias(f"s{k}") for k, name in enumerate(scores)
    ]
    one = y.cast("double") == 1.0 if positive is None else y == sql.lit(positive)
    with in_a_sentence(), ignore_pandas_warnings():
        frame = spark.read.parquet(*files).select(one.alias("one"), w.alias("w"), *columns)
        frame = frame.filter("w > 0")
        counts = frame.groupBy("one").agg(
            sql.count("*"), sql.sum("w"), sql.sum(sql.col("w") * sql.col("w")), sql.max("w")
        )
        facts = {bool(row[0]): row[1:] for row in counts.collect()}
        both = [
            _sample(frame, positive=k, facts=facts.get(k), most=most, scores=scores, weight=weight)
            for k in (True, False)
        ]
    return both[0], both[1]


def _sample(  # noqa: PLR0913 - as above
    frame: DataFrame,
    *,
    positive: bool,
    facts: Sequence[Any] | None,
    most: int,
    scores: Sequence[str],
    weight: str | None,
) -> ClassSample:
    if facts is None:
        return ClassSample(positive, {name: np.empty(0) for name in scores}, None, 0, 0.0)
    n, total, squares, largest = facts
    own = frame.filter("one" if positive else "not one").drop("one")
    if n > most:
        own = own.sample(fraction=min(_MORE * most / n, 1.0), seed=0).limit(most)
    table = own.toArrow()
    drawn = {name: table.column(f"s{k}").to_numpy() for k, name in enumerate(scores)}
    pairs = float(n) * (n - 1)
    w = None
    if weight is not None:
        w = table.column("w").to_numpy() / largest
        pairs = (total**2 - squares) / largest**2
    return ClassSample(positive, drawn, w, int(n), float(pairs))
