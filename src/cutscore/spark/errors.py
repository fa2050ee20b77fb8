"""What goes wrong on a cluster, in one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from cutscore.core.errors import CutscoreError
from cutscore.core.findings.cluster import SparkFailed


class SparkError(CutscoreError, RuntimeError):
    """Spark can't run the job: Java, an executor, or cutscore on the executors is missing."""


def _ship(said: str) -> SparkFailed:
    rule = f"executors must have the same version of cutscore as the driver; Python reports: {said}"
    hint = (
        "Install the wheel for the Python that PYSPARK_PYTHON names on each executor, or ship it "
        "with the job: see 'What executors need' on the page 'Scale'."
    )
    return SparkFailed(rule, hint)


def _large(said: str) -> SparkFailed:
    rule = f"the result exceeds what Spark lets the driver receive ({said})"
    return SparkFailed(rule, "Raise spark.driver.maxResultSize.")


def _python(said: str) -> SparkFailed:
    rule = f"executors must run the same Python as the driver: {said}"
    return SparkFailed(rule, _which_python())


def _no_python(said: str) -> SparkFailed:
    return SparkFailed(f"executors can't start Python: {said}", _which_python())


def _which_python() -> str:
    named = os.environ.get("PYSPARK_PYTHON")
    now = f"it is {named}" if named else "it is not set"
    return f"Set PYSPARK_PYTHON to a Python that every executor has; on the driver {now}."


# What Spark's own messages hold, which are interpreted here and nowhere else.
_KNOWN: list[tuple[re.Pattern[str], Callable[[str], SparkFailed]]] = [
    (
        re.compile(r"No module named '?cutscore[^\n]*|cannot import name [^\n]*cutscore[^\n]*"),
        _ship,
    ),
    (re.compile(r"module 'cutscore[^\n]* has no attribute [^\n]*"), _ship),
    (re.compile(r"Total size of serialized results[^\n]*"), _large),
    (re.compile(r"PYTHON_VERSION_MISMATCH[^\n]*"), _python),
    (re.compile(r'Cannot run program "[^\n]*'), _no_python),
]


@contextmanager
def in_a_sentence(too_large: str = "") -> Iterator[None]:
    """Spark's own errors become one SparkError. The first is kept as its cause where the sentence
    is Spark's, too. ``too_large`` says what else to do where the driver receives too much."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    known: SparkError | None = None
    try:
        yield
    except (PySparkException, Py4JError) as error:
        text = str(error)
        for pattern, finding in _KNOWN:
            hit = pattern.search(text)
            if hit:
                said = finding(hit.group().strip().rstrip("."))
                if finding is _large and too_large:
                    said = replace(said, hint=f"{too_large} {said.hint}")
                known = SparkError(said)
                break
        else:
            raise SparkError(SparkFailed(f"the Spark job failed: {_main_line(text)}")) from error
    # Outside the handler: a page of Java would only hide the sentence.
    if known is not None:
        raise known


def _main_line(text: str) -> str:
    """The line of a long message that says most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    # Of an error in Python the last line of the trace names it; it stands before Java's own.
    python = [line for line in lines if re.match(r"^[A-Za-z_.]*(Error|Exception): ", line)]
    line = (causes[-1:] or python[-1:] or lines[:1] or ["no reason given"])[0]
    line = line.removeprefix("Caused by: ")
    return (line if len(line) <= 300 else line[:299] + "…").rstrip(".")
