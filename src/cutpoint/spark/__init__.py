"""Apache Spark: sweeps, groups and learners on the rows of a cluster, with the same results."""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("pyspark") is None:
    raise ImportError("cutpoint.spark needs PySpark: pip install 'cutpoint[spark]'", name="pyspark")

from cutpoint.spark.errors import SparkError
from cutpoint.spark.grouping import by_group
from cutpoint.spark.learning import encoded
from cutpoint.spark.partitions import SparkRows, rows
from cutpoint.spark.sessions import check_executors, session
from cutpoint.spark.sweeping import sweep

__all__ = [
    "SparkError",
    "SparkRows",
    "by_group",
    "check_executors",
    "encoded",
    "rows",
    "session",
    "sweep",
]
