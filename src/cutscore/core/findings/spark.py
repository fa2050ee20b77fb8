"""Clusters: what Spark can't do, and data that changes while it is read."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import Finding, Surface, sentence


@dataclass(frozen=True)
class SparkFailed(Finding):
    """Spark can't do the work: no Java, no executor, no cutscore where the rows are."""

    code = "spark-failed"
    example = {"rule": "Spark needs Java 17 or later; java is version 11", "hint": "Set JAVA_HOME."}
    rule: str
    hint: str = ""

    def text(self, on: Surface) -> str:
        return sentence(f"{self.rule}.", self.hint)


@dataclass(frozen=True)
class RowsChanged(Finding):
    """Rows that are read twice were not the same both times."""

    code = "rows-changed"
    example = {"what": "partition 3", "rows": 1000, "then": 990}
    what: str
    rows: int | None = None
    then: int | None = None

    def text(self, on: Surface) -> str:
        how = "" if self.rows is None else f"; there were {self.rows:,} rows and then {self.then:,}"
        return (
            f"rows must stay the same while they are read; {self.what} changed{how}. Write them to "
            "files first, and pass those."
        )
