"""Spark on a real cluster: a master and two workers on loopback, drivers in processes of their own.

A process has one driver at a time, and that of the other tests is local.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cutscore as cs
from clusters import Cluster, needs_spark, standalone
from cutscore.core import _native as native

pytestmark = needs_spark

ROWS = 60_000

# What every driver begins with. A session on this machine only, whatever its name resolves to.
START = """
import json, sys, time, warnings
warnings.filterwarnings("ignore", message=".*pandas.*")
import numpy as np
import cutscore as cs
import cutscore.spark
master, path, told = sys.argv[1:4]
def say(**facts):
    with open(told, "a") as file:
        file.write(json.dumps(facts) + "\\n")
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet files that all processes see."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    for k in range(4):
        y = rng.random(ROWS // 4) < 0.1
        s = rng.normal(size=len(y)) + y
        columns = {"y": y.astype(np.int8), "s": s, "g": rng.integers(0, 900, len(y))}
        pq.write_table(pa.table(columns), folder / f"{k}.parquet", row_group_size=4000)
    return folder


class Driver:
    """A program that uses the cluster, and what it told."""

    def __init__(self, cluster: Cluster, folder: Path, tmp_path: Path, code: str) -> None:
        self.told = tmp_path / "told"
        script = tmp_path / "driver.py"
        script.write_text(START + textwrap.dedent(code))
        environment = {k: v for k, v in os.environ.items() if k != "CUTSCORE_THREADS"}
        self.log = tmp_path / "driver.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(script), cluster.url, str(folder), str(self.told)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )

    def facts(self, seconds: float = 240) -> list[dict[str, Any]]:
        """All that it told, when it has ended."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"too late:\n{self.log.read_text()[-3000:]}") from None
        finally:
            self.process.kill()
        assert code == 0, self.log.read_text()[-3000:]
        return self.so_far()

    def so_far(self) -> list[dict[str, Any]]:
        if not self.told.exists():
            return []
        return [json.loads(line) for line in self.told.read_text().splitlines()]

    def wait_for(self, name: str, seconds: float = 240) -> None:
        end = time.monotonic() + seconds
        while not any(name in fact for fact in self.so_far()):
            assert time.monotonic() < end, self.log.read_text()[-3000:]
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            time.sleep(0.05)


def read(folder: Path) -> dict[str, Any]:
    table = pq.read_table([str(path) for path in sorted(folder.iterdir())])
    return {name: table.column(name).to_numpy() for name in table.column_names}


def digest(s: Any) -> str:
    """All that a sweep has, in a few characters; the drivers do the same."""
    from hashlib import sha256

    return sha256(b"".join(a.tobytes() for a in (s.threshold, s.pos, s.neg))).hexdigest()


def test_the_contract_of_all_engines(cluster: Cluster) -> None:
    """With a driver of its own, on files that the workers read themselves."""
    tests = Path(__file__).parent / "test_contract.py"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("-k", "spark and not frame", str(tests)),
        ],
        env={**os.environ, "CUTSCORE_TEST_MASTER": cluster.url},
        cwd=tests.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout


def test_executors_without_cutscore_get_it_with_the_job(
    cluster: Cluster, folder: Path, tmp_path: Path
) -> None:
    """Executors run a Python that lacks the package; then the same one finds it in an archive that
    came with the job. A wheel is such an archive, but for its ending."""
    wheel = tmp_path / "wheel" / "cutscore"
    shutil.copytree(
        Path(cs.__file__).parent, wheel, ignore=shutil.ignore_patterns("__pycache__", "*.so")
    )
    shutil.copy(native.__file__, wheel / "core")
    archive = shutil.make_archive(str(tmp_path / "cutscore"), "zip", wheel.parent)
    # All that is installed here but cutscore.
    bare = tmp_path / "bare"
    bare.mkdir()
    for path in Path(np.__file__).parent.parent.iterdir():
        if "cutscore" not in path.name and path.suffix != ".pth":
            (bare / path.name).symlink_to(path)
    python = tmp_path / "python"
    run = f'PYTHONPATH="$PYTHONPATH:{bare}" exec "{sys.executable}" -S "$@"'
    python.write_text(f"#!/bin/sh\n{run}\n")
    python.chmod(0o755)
    driver = Driver(
        cluster,
        folder,
        tmp_path,
        f"""
        import os
        os.environ["PYSPARK_PYTHON"] = {str(python)!r}
        memory = {{"spark.executor.memory": "512m"}}
        spark = cs.spark.session(master, deadline=120, **memory)
        try:
            cs.spark.sweep(path, label="y", score="s")
        except cs.spark.SparkError as error:
            say(error=str(error))
        spark.stop()
        spark = cs.spark.session(master, deadline=120, **memory, **{{
            "spark.archives": {archive + "#shipped"!r},
            "spark.executorEnv.PYTHONPATH": "shipped",
        }})
        say(auc=cs.spark.sweep(path, label="y", score="s").auc)
        spark.stop()
        """,
    )
    refused, found = driver.facts()
    assert "executors must have the same version of cutscore" in refused["error"]
    assert "No module named 'cutscore'" in refused["error"]
    c = read(folder)
    assert found == {"auc": cs.sweep(c["y"], c["s"]).auc}


def test_no_executor_no_waiting(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    driver = Driver(
        cluster,
        folder,
        tmp_path,
        """
        from pyspark.sql import SparkSession

        mine = SparkSession.builder.master(master).config("spark.executor.memory", "900g")
        mine = mine.config("spark.driver.host", "127.0.0.1").getOrCreate()
        again = lambda _, deadline: cs.spark.session(master, deadline=deadline)
        for ask in (cs.spark.check_executors, again):
            start = time.monotonic()
            try:
                ask(mine, deadline=2)
            except cs.spark.SparkError as error:
                say(error=str(error), after=time.monotonic() - start)
        # Spark calls jobs off in its own time.
        jobs, end = mine.sparkContext.statusTracker().getActiveJobsIds, time.monotonic() + 60
        while jobs() and time.monotonic() < end:
            time.sleep(0.1)
        say(jobs=len(jobs()))
        """,
    )
    *told, jobs = driver.facts()
    assert len(told) == 2
    for fact in told:
        assert fact["error"].startswith(f"no executor of {cluster.url} started work within")
        assert "spark.executor.memory" in fact["error"]
        assert 2 <= fact["after"] < 20
    assert jobs == {"jobs": 0}


def test_a_worker_that_dies_in_the_middle(cluster: Cluster, folder: Path, tmp_path: Path) -> None:
    """Last: one of the two workers is gone for good, with its executor and what that had kept."""
    driver = Driver(
        cluster,
        folder,
        tmp_path,
        """
        from hashlib import sha256

        def slowly(batches):
            import time
            for batch in batches:
                time.sleep(0.3)
                yield batch

        def total(rows):
            return rows.reduce(lambda block: float(block.X.sum()), lambda a, b: a + b)

        conf = {"spark.executor.memory": "512m", "spark.excludeOnFailure.enabled": "false"}
        spark = cs.spark.session(master, deadline=120, **conf)
        frame = spark.read.parquet(path)
        slow = frame.repartition(8).mapInArrow(slowly, frame.schema)
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        rows = cs.spark.rows(path, features=["s"], label="y")
        before = total(rows)
        executors = lambda: spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        say(executors=len(executors()) - 1)
        s = cs.spark.sweep(slow, label="y", score="s", ranges=3)
        parts = (s.threshold, s.pos, s.neg)
        say(sweep=sha256(b"".join(a.tobytes() for a in parts)).hexdigest())
        say(same=before == total(rows))
        say(left=len(executors()) - 1)
        spark.stop()
        """,
    )
    driver.wait_for("executors")
    time.sleep(2.0)
    assert not any("sweep" in fact for fact in driver.so_far())  # it is in the middle
    cluster.kill(2)
    executors, sweep, same, left = driver.facts()
    assert executors == {"executors": 2}
    c = read(folder)
    assert sweep == {"sweep": digest(cs.sweep(c["y"], c["s"]))}
    assert same == {"same": True}
    assert left == {"left": 1}
