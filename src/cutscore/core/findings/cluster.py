"""Files larger than memory, and clusters."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import Finding, Surface


@dataclass(frozen=True)
class MemoryTooSmall(Finding):
    """What is asked for does not fit into the limit of memory."""

    code = "memory-too-small"
    example = {"what": "2**24 bins of two classes", "limit": 10**8, "hint": "Take fewer bits."}
    what: str
    limit: int
    """In bytes."""
    hint: str

    def text(self, on: Surface) -> str:
        limit = f"{on.parameter('memory_limit')}, {self.limit:,} bytes"
        return f"{self.what} must fit into {limit}. {self.hint}"


@dataclass(frozen=True)
class DiskRefused(Finding):
    """A temporary file could not be made, or its disk is full."""

    code = "disk-refused"
    example = {"folder": "/tmp", "reason": "No space left on device", "written": 4096}
    folder: str
    reason: str
    written: int = 0
    """How many bytes had been written."""
    need: int | None = None
    """How many it takes at least, where that is known."""

    def text(self, on: Surface) -> str:
        need = "" if self.need is None else f" of at least {self.need:,} needed"
        return (
            f"temporary files go to {self.folder}, which can't be written: {self.reason}, after "
            f"{self.written:,} bytes{need}. Free space, set TMPDIR to another folder, or raise "
            f"{on.parameter('memory_limit')}."
        )
