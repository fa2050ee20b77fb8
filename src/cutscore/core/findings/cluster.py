"""Files larger than memory, and clusters."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Surface


class DiskRefused(Finding, code="disk-refused"):
    """A temporary file could not be made, or its disk is full."""

    folder: str
    reason: str
    written: int = 0
    """How many bytes had been written."""
    need: int | None = None
    """How many it takes at least, where that is known."""
    example = {"folder": "/tmp", "reason": "No space left on device", "written": 4096}

    def text(self, on: Surface) -> str:
        need = "" if self.need is None else f" of at least {self.need:,} needed"
        return (
            f"temporary files go to {self.folder}, which can't be written: {self.reason}, after "
            f"{self.written:,} bytes{need}. Free space, set TMPDIR to another folder, or raise "
            f"{on.parameter('memory_limit')}."
        )


class SparkFailed(Finding, code="spark-failed"):
    """Spark can't do the work: no Java, no executor, no cutscore where the rows are."""

    rule: str
    hint: str = ""
    template = "{rule}. {hint}"
    example = {"rule": "Spark needs Java 17 or later; java is version 11", "hint": "Set JAVA_HOME."}


class RowsChanged(Finding, code="rows-changed"):
    """Rows that are read twice were not the same both times, or a file changed meanwhile."""

    what: str
    rows: int | None = None
    then: int | None = None
    hint: str = "Write them to files first, and pass those."
    template = "rows must stay the same while they are read; {what} changed{how}. {hint}"
    example = {"what": "partition 3", "rows": 1000, "then": 990}

    @property
    def how(self) -> str:
        if self.rows is None:
            return ""
        return f"; there were {self.rows:,} rows and then {self.then:,}"
