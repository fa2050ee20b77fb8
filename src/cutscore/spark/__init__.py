"""Apache Spark: sweeps, groups and learners on the rows of a cluster, with the same results."""

from __future__ import annotations

from importlib.util import find_spec

from cutscore.core.errors import missing_library

if find_spec("pyspark") is None:
    raise ImportError(missing_library("cutscore.spark", "PySpark", "spark"), name="pyspark")

from cutscore.spark.errors import SparkError
from cutscore.spark.groups import by_group
from cutscore.spark.partitions import SparkRows, rows
from cutscore.spark.sessions import check_executors, session
from cutscore.spark.sweeps import sweep
from cutscore.spark.training import encoded

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
