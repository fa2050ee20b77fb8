"""Output files: written aside, and renamed when they are whole. Temporary ones: without a name."""

from __future__ import annotations

import fcntl
import glob
import os
import stat
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from cutscore.core.errors import DataError
from cutscore.core.findings.cluster import RowsChanged


@contextmanager
def written_aside(path: str | os.PathLike[str], *, text: bool = False) -> Iterator[IO[Any]]:
    """A file to write to, beside ``path``, that takes its name when the block ends.

    If the block raises, is interrupted, or the disk is full, what ``path`` held before is still
    there and nothing else is left behind. What a killed process left is removed by the next one
    that writes the same file. A link stays a link: the file it points to is replaced. Devices and
    pipes are written to directly.

    Parameters
    ----------
    path : path
        Where the file shall be in the end.
    text : bool, default False
        Whether the file takes text, which is written as UTF-8 with its lines as they are; else
        bytes.

    Raises
    ------
    OSError
        With ``path`` as its file name, whatever went wrong.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with written_aside(folder / "note.txt", text=True) as file:
    ...     _ = file.write("kept")
    >>> (folder / "note.txt").read_text()
    'kept'
    """
    options: dict[str, Any] = (
        {"mode": "w", "encoding": "utf-8", "newline": ""} if text else {"mode": "wb"}
    )
    target = Path(os.path.realpath(path))
    aside = None
    try:
        there = target.stat()
    except OSError:
        there = None
    try:
        if there is not None and stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(21, "it is a directory", str(path))
        if there is not None and not stat.S_ISREG(there.st_mode):
            with open(target, **options) as file:
                yield file
            return
        _remove_orphans(target)
        aside = str(target.parent / f".{target.name[:100]}.{uuid4().hex}.part")
        try:  # from before it is there: an interrupt at any time leaves none
            with open(_make_locked(aside), **options) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(aside, _mode(there))
            os.replace(aside, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(aside)
            raise
    except OSError as error:
        # The name that was asked for, not that of the file beside it. An error about another file,
        # one that is read meanwhile, stays what it is.
        ours = (None, aside, str(target), str(target.parent))
        if error.errno is None or not (error.filename in ours or _is_beside(error, target)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _make_locked(path: str) -> int:
    """The descriptor of a new file, which is locked for as long as it is open."""
    while True:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.exists(path):
            return handle
        os.close(handle)  # somebody took it for an orphan before it was locked


def _remove_orphans(target: Path) -> None:
    """Remove files beside the target that a process left which died while it wrote: nobody holds
    their locks."""
    for path in target.parent.glob(f".{glob.escape(target.name[:100])}.*.part"):
        # A file that somebody else has made, or removed meanwhile, is none of our business.
        with suppress(OSError):
            handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def _is_beside(error: OSError, target: Path) -> bool:
    """Whether the file beside the target could not be made."""
    return str(error.filename).startswith(str(target.parent / f".{target.name[:100]}."))


def _mode(there: os.stat_result | None) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if there is not None:
        return stat.S_IMODE(there.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


class Nameless:
    """A temporary file of bytes without a name: it is gone with the process, however that ends. Any
    thread may write and read.

    Examples
    --------
    >>> from cutscore.core.files import Nameless
    >>> file = Nameless()
    >>> file.write(b"some"), file.write(b"more")
    ((0, 4), (4, 4))
    >>> file.read(4, 4)
    bytearray(b'more')
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder or tempfile.gettempdir()
        self.size = 0
        self.refused: OSError | None = None
        """Why there is no file. That matters only to those who come to need it."""
        self._lock = threading.Lock()
        self._file: Any = None
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=self.folder)  # noqa: SIM115 - kept
        except OSError as error:
            self.refused = error
        else:
            weakref.finalize(self, self._file.close)

    def close(self) -> None:
        """Give the disk back, rather than when nobody needs this any more."""
        if self._file is not None:
            self._file.close()

    def fileno(self) -> int:
        """The descriptor; -1 if there is no file."""
        return -1 if self._file is None else int(self._file.fileno())

    def write(self, data: bytes | memoryview) -> tuple[int, int]:
        """Where these bytes are from now on: start and length."""
        rest = memoryview(data)
        with self._lock:
            start = self.size
            while rest:
                done = os.write(self.fileno(), rest)
                rest, self.size = rest[done:], self.size + done
            return start, self.size - start

    def read(self, start: int, length: int) -> bytearray:
        """Bytes that were written."""
        out = bytearray(length)
        self.fill(memoryview(out), start)
        return out

    def fill(self, into: memoryview, start: int) -> None:
        """The same, into memory that is there."""
        while into:
            done = self._read_at(into, start)
            if not done:
                raise DataError(RowsChanged(f"a temporary file in {self.folder}"))
            into, start = into[done:], start + done

    def _read_at(self, into: memoryview, at: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self.fileno(), [into], at)
        some = os.pread(self.fileno(), len(into), at)
        into[: len(some)] = some
        return len(some)
