"""How much memory there is, and a file for what does not fit into it."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cutscore.core import _native
from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.files import Nameless
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.cluster import DiskRefused

# Less than this is of no use: a few batches, and what sorts them.
_LEAST = 256 << 20

_UNITS = {"": 1, "b": 1}
for _k, _letter in enumerate("kmgt", 1):
    _UNITS |= {_letter: 1000**_k, f"{_letter}b": 1000**_k, f"{_letter}ib": 1024**_k}


def limit_of(limit: int | str | None) -> int:
    """A limit of memory in bytes. If none is given: half of what is free now."""
    if limit is None:
        return max(_free() // 2, 2 * _LEAST)
    size = bytes_of(limit)
    if size < _LEAST:
        rule = f"be at least {_LEAST >> 20} MiB, with which a few batches are read and sorted"
        raise DataError(BadArgument("memory_limit", rule, size))
    return size


def _free() -> int:
    """Memory that this process may still take: of the machine, or of its container."""
    found = [1 << 32]
    try:
        text = Path("/proc/meminfo").read_text("ascii")
        found = [1024 * int(text.partition("MemAvailable:")[2].split()[0])]
    except (OSError, IndexError, ValueError):
        if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
            found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2]
    try:
        most = int(Path("/sys/fs/cgroup/memory.max").read_text("ascii"))
        used = int(Path("/sys/fs/cgroup/memory.current").read_text("ascii"))
        found.append(max(most - used, 0))
    except (OSError, ValueError):
        pass
    with suppress(OSError, ValueError):
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
        if most != resource.RLIM_INFINITY:
            found.append(max(most - used, 0))
    return min(found)


def bytes_of(limit: int | str) -> int:
    """A size in bytes, from a number or from text such as "2 GB" or "512MiB".

    Examples
    --------
    >>> from cutscore.tables.scans.memory import bytes_of
    >>> bytes_of("1.5 GB"), bytes_of("64MiB")
    (1500000000, 67108864)
    """
    value: float | str = limit
    unit = ""
    if isinstance(limit, str):
        text = limit.strip().lower().replace(" ", "")
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = text[len(digits) :]
        try:
            value = float(digits)
        except ValueError:
            value = float("nan")
    size = number(value) * _UNITS.get(unit, float("nan"))
    if not 1 <= size < 2**62:
        rule = "be a size such as '2 GB' or '512 MiB', or a number of bytes"
        raise DataError(BadArgument("memory_limit", rule, limit))
    return int(size)


class Spill(Nameless):
    """A temporary file, and what is said where the system refuses it."""

    @contextmanager
    def guard(self) -> Iterator[None]:
        """What the system refuses becomes a DataError."""
        try:
            yield
        except OSError as error:
            code = error.errno
            if isinstance(error, _native.SpillFault):
                code = int(str(error))
            if self.refused is not None:
                code = self.refused.errno
            reason = os.strerror(code) if code else str(self.refused or error)
            done = 0
            if self.refused is None:
                # The native core writes to it, too; and not everywhere, if it is a sweep.
                there = os.fstat(self.fileno())
                done = min(there.st_size, 512 * there.st_blocks)
            raise DataError(DiskRefused(self.folder, reason, done)) from error
