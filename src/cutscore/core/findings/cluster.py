"""Files larger than memory, and clusters."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Surface


class DiskRefused(Finding, code="disk-refused"):
    """A temporary file could not be created, or its disk is full."""

    folder: str
    reason: str
    written: int = 0
    """How many bytes had been written."""
    need: int | None = None
    """How many are needed at least, where that is known."""
    example = {"folder": "/tmp", "reason": "No space left on device", "written": 4096}

    def text(self, on: Surface) -> str:
        need = "" if self.need is None else f" of at least {self.need:,} needed"
        return (
            f"can't write temporary files to {self.folder}: {self.reason}, after "
            f"{self.written:,} bytes{need}. Free space, set TMPDIR to another folder, or raise "
            f"{on.parameter('memory_limit')}."
        )


class SparkFailed(Finding, code="spark-failed"):
    """Spark can't run the job: Java, an executor or cutscore on the executors is missing."""

    rule: str
    hint: str = ""
    template = "{rule}. {hint}"
    example = {"rule": "Spark requires Java 17 or later, got version 11", "hint": "Set JAVA_HOME."}


class RowsChanged(Finding, code="rows-changed"):
    """Rows that are read twice differed between the two passes, or a file changed."""

    what: str
    rows: int | None = None
    then: int | None = None
    hint: str = "Write the rows to files first, and pass those."
    template = "rows must not change while they are read; {what} changed{how}. {hint}"
    example = {"what": "partition 3", "rows": 1000, "then": 990}

    @property
    def how(self) -> str:
        if self.rows is None:
            return ""
        return f" from {self.rows:,} rows to {self.then:,}"
