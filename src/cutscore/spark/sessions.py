"""Sessions that say what is wrong in time: Spark itself waits for executors without a word."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.cluster import SparkFailed
from cutscore.spark.errors import SparkError, in_a_sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The oldest Java that Spark 4 runs on.
_JAVA = 17
# Seconds that a driver may take to start, on a busy machine.
_DRIVER = 60.0


def session(master: str | None = None, *, deadline: float = 60, **conf: object) -> SparkSession:
    """A Spark session, or an error before a deadline.

    If a session is already active, it is returned. A new session uses the current Python
    interpreter, logs only errors and has no web interface.

    Parameters
    ----------
    master : str, optional
        ``"local[2]"``, ``"spark://host:7077"``, ``"yarn"`` and so on; by default all CPUs of this
        machine.
    deadline : float, default 60
        Seconds within which an executor must have run a task, counted from the time when the driver
        is running and the master has answered.
    conf : keyword arguments
        Spark settings, with underscores instead of dots: ``spark_executor_memory="4g"``. Pass other
        names as ``**{"spark.sql.shuffle.partitions": 8}``.

    Raises
    ------
    SparkError
        If Java 17 or later is missing, the master does not answer, or no executor runs a task
        before the deadline.

    Examples
    --------
    >>> import cutscore as cs
    >>> spark = cs.spark.session("local[2]")
    >>> spark.range(3).count()
    3
    """
    from pyspark.sql import SparkSession

    if not deadline > 0:
        raise DataError(BadArgument("deadline", "be above 0", deadline))
    active = SparkSession.getActiveSession()
    if active is not None:
        check_executors(active, deadline)
        return active
    master = master or "local[*]"
    _check_java()
    _check_master(master, deadline)
    settings = _settings(master, conf)
    with in_a_sentence():
        _start_java(settings)
    # The driver itself takes seconds to start, which say nothing of the cluster.
    allowed = deadline + _DRIVER
    _in_time(
        lambda: _make_session(settings),
        allowed,
        SparkFailed(
            f"the driver was not up within {allowed:g} s: the master {master} accepted no "
            "connection",
            "Check that it is a Spark master of the same version.",
        ),
    )
    # Once more: a session is the active one of the thread that asked for it.
    made = _make_session({})
    made.sparkContext.setLogLevel("ERROR")
    check_executors(made, deadline)
    return made


def check_executors(spark: SparkSession, deadline: float = 60) -> None:
    """Raise a SparkError unless an executor runs a task within a number of seconds.

    Spark itself waits for executors indefinitely, without a message.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.spark.check_executors(cs.spark.session("local[2]"), deadline=30)
    """
    context = spark.sparkContext
    group = f"cutscore-{uuid4()}"

    def job() -> int:
        context.setJobGroup(group, "cutscore: is anybody there?", interruptOnCancel=True)
        return spark.range(0, 1, 1, 1).count()

    try:
        _in_time(
            job,
            deadline,
            SparkFailed(
                f"no executor of {context.master} started work within {deadline:g} s of the "
                "driver being up; workers are missing, not the master",
                "Check that workers are running and that they have the cores and the memory that "
                "are asked for (spark.executor.memory, spark.executor.cores).",
            ),
        )
    except SparkError:
        # Future ones too: a query that is still being planned has no job yet.
        context._jsc.sc().cancelJobGroupAndFutureJobs(group)
        raise


def _in_time(do: Callable[[], Any], deadline: float, late: SparkFailed) -> Any:
    """What is done in a thread of its own, or an error when it takes too long."""
    done: list[Any] = []

    def run() -> None:
        try:
            with in_a_sentence():
                done.append((True, do()))
        except BaseException as error:
            done.append((False, error))

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(deadline)
    if not done:
        raise SparkError(late)
    fine, out = done[0]
    if not fine:
        raise out
    return out


def _settings(master: str, conf: dict[str, object]) -> dict[str, str]:
    # Executors on this machine, and those that start from its environment, run this Python.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.master": master,
        "spark.app.name": "cutscore",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    if _is_local(master):
        # A name that resolves to a network card that is down must not keep anybody waiting.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings | {name.replace("_", "."): str(value) for name, value in conf.items()}


def _start_java(settings: dict[str, str]) -> None:
    """Apart from all that waits for others, which has a deadline."""
    from pyspark import SparkConf, SparkContext

    with _ignore_library_warnings():
        SparkContext._ensure_initialized(conf=SparkConf().setAll(list(settings.items())))


def _make_session(settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _ignore_library_warnings():
        return builder.getOrCreate()


@contextmanager
def _ignore_library_warnings() -> Iterator[None]:
    """No warnings about libraries that PySpark looks for, and does not need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_local(master: str) -> bool:
    """Whether all that takes part is on this machine."""
    hosts = {host for host, _ in _addresses(master)}
    return master.startswith("local") or bool(hosts and hosts <= {"127.0.0.1", "localhost"})


def _addresses(master: str) -> list[tuple[str, int]]:
    """Hosts and ports of a standalone master."""
    if not master.startswith("spark://"):
        return []
    out = []
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise DataError(BadArgument("master", "be spark://host:port", master))
        out.append((host.strip("[]"), int(port)))
    return out


def _check_master(master: str, deadline: float) -> None:
    """Raise if nobody listens: Spark itself tries for a minute."""
    addresses = _addresses(master)
    reasons = []
    for host, port in addresses:
        try:
            socket.create_connection((host, port), timeout=deadline / len(addresses)).close()
            return
        except OSError as error:
            reasons.append(f"{host}:{port}: {error.strerror or error}")
    if reasons:
        rule = f"no master answers at {'; '.join(reasons)}"
        raise SparkError(SparkFailed(rule, "Start it, or use another."))


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    hint = f"Install Java {_JAVA} or later, and set JAVA_HOME."
    if java is None or not os.path.exists(java):
        where = f"JAVA_HOME is {home}" if home else "java is not on the PATH"
        raise SparkError(SparkFailed(f"Spark requires Java; {where}", hint))
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        rule = f"Spark requires Java; {java} does not start ({error})"
        raise SparkError(SparkFailed(rule, hint)) from None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    if found is None or int(found.group(1)) < _JAVA:
        which = f"version {found.group(1)}" if found else "no Java"
        rule = f"Spark requires Java {_JAVA} or later; {java} is {which}"
        raise SparkError(SparkFailed(rule, hint))
