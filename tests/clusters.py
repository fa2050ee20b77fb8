"""Places where Spark runs: a local session for all tests, and a standalone cluster on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Skipped where Spark can't run: see conftest.py.
needs_spark = pytest.mark.spark


@cache
def local_session() -> Any:
    """The one session of this process; doctests find it active. It ends with the process."""
    import cutscore.spark

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cutscore.spark.session(
            "local[2]", deadline=240, **{"spark.sql.shuffle.partitions": 2}
        )


class Cluster:
    """A master and its workers, each a process group of its own, executors included."""

    def __init__(self, folder: Path, memory: str) -> None:
        self.folder, self.memory = folder, memory
        self.processes: list[subprocess.Popen[bytes]] = []
        self.port = _free_port()
        self.url = f"spark://127.0.0.1:{self.port}"

    def start(self, workers: int) -> None:
        self._class("master.Master", "--host", "127.0.0.1", "--port", str(self.port))
        self._wait(0, "I have been elected leader")
        for _ in range(workers):
            self.add_worker()
        for k in range(workers):
            self._wait(k + 1, "Successfully registered with master")

    def add_worker(self) -> None:
        k = len(self.processes)
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", self.memory]
        self._class("worker.Worker", *options, "--work-dir", str(self.folder / f"w{k}"), self.url)

    def _class(self, name: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        k = len(self.processes)
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
        }
        with open(self.folder / f"{k}.log", "wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [
                        str(home / "bin" / "spark-class"),
                        f"org.apache.spark.deploy.{name}",
                        "--webui-port",
                        "0",
                        *arguments,
                    ],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=environment,
                    start_new_session=True,
                )
            )

    def _wait(self, k: int, words: str, seconds: float = 180) -> None:
        log = self.folder / f"{k}.log"
        end = time.monotonic() + seconds
        while words not in log.read_text(errors="replace"):
            if time.monotonic() > end or self.processes[k].poll() is not None:
                raise RuntimeError(f"no {words!r} from Spark:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)

    def kill(self, k: int) -> None:
        """Process k and everything that it started, as if the plug were pulled."""
        with suppress(ProcessLookupError):
            os.killpg(self.processes[k].pid, signal.SIGKILL)
        self.processes[k].wait()

    def stop(self) -> None:
        for k in reversed(range(len(self.processes))):
            self.kill(k)


@contextmanager
def standalone(folder: Path, workers: int = 2, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster that is gone afterwards, whatever happens."""
    cluster = Cluster(folder, memory)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port
