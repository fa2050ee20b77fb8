"""The command line: ``cutscore COMMAND``. Commands load what they need when they run, so that
``--help`` waits for nothing. This module loads next to nothing either: whoever interrupts it early
should not see a traceback."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import NoReturn

    from cutscore.core.findings.base import Finding

# Exit codes. Whatever a program prints, scripts look at these.
DONE, FAILED, WRONGLY_ASKED, INFEASIBLE, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    It returns an exit code; ``cutscore --help`` lists them.
    """
    arguments, as_json = None, False
    _open_streams()
    try:
        with _quiet_and_interruptible():
            from cutscore.cli.parser import parsed

            as_json = "--json" in (sys.argv if argv is None else argv)
            arguments = parsed(argv)
            arguments.remarks = []
            text, code = _run(arguments)
            print_text(text)
            # After all that may fail: a failure is one line.
            for sentence in arguments.remarks:
                _say(sentence)
            return code
    except Exception as error:
        # Whatever goes wrong is one sentence. Those who look for its cause ask for more.
        if os.environ.get("CUTSCORE_TRACEBACK"):
            raise
        return _report_failure(error, arguments, as_json)
    except KeyboardInterrupt:
        _drop_output()
        several = getattr(arguments, "command", "") == "demo"
        _say("interrupted." if several else "interrupted; no files were changed.")
        return INTERRUPTED


def _run(arguments: Namespace) -> tuple[str, int]:
    from importlib import import_module

    _heed_memory_limit()
    command = import_module(f"cutscore.cli.{arguments.command}")
    return command.run(arguments)  # type: ignore[no-any-return]


def _heed_memory_limit() -> None:
    """Where the address space is limited, take less of it: an arena of pyarrow is 1 GiB of it, and
    OpenBLAS waits for ever for threads that it can't have. Below 1 GiB libraries abort."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if most < 1 << 30:
        raise MemoryError


@contextmanager
def _quiet_and_interruptible() -> Iterator[None]:
    """No warnings of libraries. Termination raises, so that files written aside are removed."""
    import signal
    import warnings

    before = None
    with suppress(ValueError):  # only the main thread may set handlers
        before = signal.signal(signal.SIGTERM, _terminate)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _terminate(*_: object) -> NoReturn:
    _drop_output()
    sys.exit(TERMINATED)


def _open_streams() -> None:
    """Open the standard streams that are closed, such that what is read from them or written to
    them fails as it would have; but nobody listens to what is said on stderr. No file that is
    opened later has their numbers."""
    for name, mode in (("stdin", "w"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_WRONLY if mode == "w" else os.O_RDONLY)
            use = "r" if name == "stdin" else "w"
            setattr(sys, name, open(handle, use, encoding="utf-8"))  # noqa: SIM115 - for good


def print_text(text: str) -> None:
    """Write text to the standard output, if there is some, and see that it arrived."""
    if not text:
        return
    import io

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal has no dash like ours
    print(text, flush=True)


def _say(sentence: str) -> None:
    """One line on stderr, if anybody listens."""
    import io

    line = " ".join(sentence.split())
    with suppress(OSError, ValueError):
        if isinstance(sys.stderr, io.TextIOWrapper):
            sys.stderr.reconfigure(errors="backslashreplace")
        print(f"cutscore: {line}", file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Forget what the standard output still holds: the interpreter would try again at its exit, and
    complain."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_failure(error: Exception, arguments: Namespace | None, as_json: bool) -> int:
    # A file has a name, so does a table that is read; the standard output has none.
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        _drop_output()
        if isinstance(error, BrokenPipeError):
            return DONE  # the reader has seen enough
        _say(f"can't write to standard output: {error.strerror}.")
        return FAILED
    from cutscore.core.errors import UsageError
    from cutscore.core.findings.base import COMMAND

    found = _finding(error, arguments)
    if as_json:
        import json

        error_as_json = {"schema": "cutscore.error/1", "error": found.as_dict(COMMAND)}
        with suppress(OSError):  # what went wrong before is said below
            print_text(json.dumps(error_as_json, indent=2))
    _say(f"{found.render(COMMAND)} [{found.code}]")  # which cutscore explain takes
    return WRONGLY_ASKED if isinstance(error, UsageError) else FAILED


_EXTRAS = {"matplotlib": "plot", "duckdb": "sql", "onnx": "onnx", "sklearn": "sklearn"}


def _finding(error: Exception, arguments: Namespace | None) -> Finding:
    """What went wrong, as a fact."""
    from cutscore.core.errors import CutscoreError
    from cutscore.core.findings.arguments import LibraryMissing
    from cutscore.core.findings.base import COMMAND, Where
    from cutscore.core.findings.command import OutOfMemory, Unexpected
    from cutscore.core.findings.tables import FileUnreadable, FileUnwritable

    if isinstance(error, CutscoreError):
        return error.finding
    if isinstance(error, ImportError) and error.name in _EXTRAS:
        return LibraryMissing("this", error.name, _EXTRAS[error.name])
    if isinstance(error, MemoryError):
        return OutOfMemory()
    if isinstance(error, OSError) and error.filename is not None:
        path, reason = os.fsdecode(error.filename), error.strerror or str(error)
        place = Where(file=path)
        for option in ("output", "report"):
            own = getattr(arguments, option, None)
            if own and (path == own or path.startswith(os.path.join(own, ""))):
                hint = f"Choose another place with {COMMAND.parameter(option)}."
                return FileUnwritable(reason, hint, where=place)
        return FileUnreadable(reason, where=place)
    return Unexpected(type(error).__name__, str(error))
