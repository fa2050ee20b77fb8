"""Settings of the tests: threads, examples that hypothesis draws, and tests that need Spark."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import databases

# `make check` draws few examples, `make test` more; HYPOTHESIS_PROFILE=slow is for a long search.
settings.register_profile("quick", deadline=None, max_examples=20)
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=100,
    derandomize=True,  # the same examples every time
    suppress_health_check=[HealthCheck.too_slow],  # a busy runner is no bug
)
settings.register_profile("slow", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))

# Small matrices, two processes: threads of BLAS wait for each other in a loop, so that fitting
# scikit-learn's logistic regression takes ten times the processor time. Set before NumPy is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Jobs of tests are over before Java's second compiler pays off: without it they take 40 % less
# processor time. Executors and processes of their own read this too.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

EXAMPLES = Path(__file__).parents[1] / "src" / "cutscore" / "spark"
LONGEST = Path(__file__).parent / "test_spark_cluster.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples of ``cutscore.spark`` need Spark, like the tests that are marked.

    The file that takes longest comes first: another process has the rest meanwhile.
    """
    items.sort(key=lambda item: item.path != LONGEST)
    java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    for item in items:
        if EXAMPLES in item.path.parents:
            item.add_marker(pytest.mark.spark)
        if item.get_closest_marker("spark") and not (java and find_spec("pyspark")):
            item.add_marker(pytest.mark.skip(reason="Spark needs Java 17 and the extra spark"))


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules stay to the end: the collector need not look at them.

    A test that collects garbage would take a fifth of a second otherwise.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    gc.unfreeze()  # or the native modules would report what is never freed


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """The folder of a PostgreSQL server's socket, where one is installed."""
    try:
        with databases.postgresql() as folder:
            yield folder
    except databases.NoServer as error:
        pytest.skip(str(error))
