"""How much memory there is, and a file for what does not fit into it."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cutpoint import _native
from cutpoint.engines.scan import bytes_of
from cutpoint.errors import DataError

# Less than this is of no use: a few batches, and what sorts them.
_LEAST = 256 << 20


def limit_of(limit: Any) -> int:
    """A limit of memory in bytes. If none is given: half of what is free now."""
    if limit is None:
        return max(_free() // 2, 2 * _LEAST)
    size = bytes_of(limit)
    if size < _LEAST:
        raise DataError(
            f"a limit of memory must be at least {_LEAST >> 20} MiB, with which a few batches are "
            f"read and sorted; it is {size:,} bytes."
        )
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
    return min(found)


class Spill:
    """A temporary file of bytes, for several threads; gone with the process, however it ends."""

    def __init__(self) -> None:
        self._folder = tempfile.gettempdir()
        self._lock = threading.Lock()
        self.size = 0
        self._file: Any = None
        self._why: OSError | None = None
        try:
            self._file = tempfile.TemporaryFile(prefix="cutpoint-", buffering=0)  # noqa: SIM115
        except OSError as error:  # which matters only to those who need it
            self._why = error

    @property
    def descriptor(self) -> int:
        """For the native core; -1 if there is no file."""
        return -1 if self._file is None else int(self._file.fileno())

    def write(self, data: bytes) -> tuple[int, int]:
        """Where the bytes lie from now on: start and length."""
        with self._lock:
            start = self.size
            self.size += len(data)
        rest, at = memoryview(data), start
        while rest:
            done = os.pwrite(self.descriptor, rest, at)
            rest, at = rest[done:], at + done
        return start, len(data)

    def read(self, start: int, length: int) -> bytearray:
        """Bytes that were written."""
        out = bytearray(length)
        rest, at = memoryview(out), start
        while rest:
            done = os.preadv(self.descriptor, [rest], at)
            if not done:
                raise DataError(f"a temporary file in {self._folder} was cut short. Try again.")
            rest, at = rest[done:], at + done
        return out

    def close(self) -> None:
        """Give the disk back."""
        if self._file is not None:
            self._file.close()

    @contextmanager
    def guard(self, written: int | None = None) -> Iterator[None]:
        """What the system refuses becomes a DataError; too many entries, an OverflowError."""
        try:
            yield
        except OSError as error:
            number = error.errno
            if isinstance(error, _native.SpillFault):
                number = int(str(error))
                if number == errno.E2BIG:
                    raise OverflowError from None
            if self._why is not None:
                number = self._why.errno
            reason = os.strerror(number) if number else str(self._why or error)
            done = self.size if written is None else written
            raise DataError(
                f"what does not fit into memory is kept in {self._folder}, which refused it after "
                f"{done:,} bytes: {reason}. Free some space there, set TMPDIR to another folder, "
                "or raise memory_limit."
            ) from error
