"""Commands that are killed while they write, have closed streams, a full disk or little memory."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cutscore.core.files import written_aside

Broken = tuple[int, list[str]]
# Seconds that a command may take.
HANG = 60.0


class Run(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    def wrong(self) -> str | None:
        """What no command may do, whatever is done to it."""
        if self.code not in (0, 1, 2, 3, 130, 143):
            return f"exit {self.code}: {self.err[-200:]!r}"
        if "[unexpected]" in self.err or "Traceback" in self.err:
            return self.err[-300:]
        if self.code in (1, 2) and self.err.count("\n") > 1:
            return f"a failure of several lines: {self.err!r}"
        return None


def run(words: Sequence[str], folder: Path, before: Callable[[], Any] | None = None) -> Run:
    """Run a command to its end, with something done to its process first."""
    done = subprocess.run(
        [sys.executable, "-m", "cutscore", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=before,
        timeout=HANG,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def made() -> Iterator[Path]:
    """A folder with tables and a policy."""
    from cutscore.tables import write_table

    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    rng, n = np.random.default_rng(0), 60_000
    y = rng.integers(0, 2, n)
    columns = {"y": y, "score": rng.normal(size=n) + y}
    write_table(folder / "t.csv", {name: column[:500] for name, column in columns.items()})
    write_table(folder / "big.parquet", columns)
    write_table(folder / "big.csv", columns)
    words = ["choose", "t.csv", "--label", "y", "--score", "score", "--cost", "fp=1,fn=5"]
    assert run([*words, "-o", "m.json"], folder).code == 0
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


NAMED = ("--label", "y", "--score", "score")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("evaluate", "t.csv", *NAMED),
    ("evaluate", "-", *NAMED),
    ("choose", "t.csv", *NAMED, "--cost", "fp=1,fn=5", "-o", "new.json"),
    ("apply", "m.json", "t.csv"),
    ("apply", "m.json", "t.csv", "-o", "new.csv"),
    ("export", "m.json", "--to", "sql"),
)
PRINTS = [words for words in COMMANDS if "new.csv" not in words]


def attack_streams(seed: int, wanted: int, until: float, _: Path) -> Broken:
    """Each command with each set of standard streams closed."""
    found, done = [], 0
    sets = [set(s) for r in range(4) for s in itertools.combinations(range(3), r)]
    every = list(itertools.product(COMMANDS, sets))
    np.random.default_rng(seed).shuffle(every)  # type: ignore[arg-type]
    with made() as folder:
        for words, closed in every[:wanted]:
            if time.monotonic() > until:
                break
            one = run(words, folder, lambda closed=closed: [os.close(fd) for fd in closed])
            wrong = one.wrong()
            # An empty pipe, or a closed one, is no table.
            fails = (1 in closed and words in PRINTS) or words[1:2] == ("-",)
            if wrong is None and bool(one.code) != fails:
                wrong = f"exit {one.code}: {one.err!r}"
            found += [f"{' '.join(words)} without {closed}: {wrong}"] if wrong else []
            done += 1
    return done, found


def attack_disks(seed: int, wanted: int, until: float, _: Path) -> Broken:
    """Files that may not grow beyond so many bytes, and /dev/full."""
    rng, found, done = np.random.default_rng(seed), [], 0
    writes = (
        ("apply", "m.json", "t.csv", "-o", "out.csv"),
        ("apply", "m.json", "t.csv", "-o", "out.parquet"),
        ("apply", "m.json", "t.csv", "-o", "out.arrow"),
        ("choose", "t.csv", *NAMED, "--cost", "fp=1,fn=5", "-o", "out.json"),
        ("evaluate", "t.csv", *NAMED, "--report", "out.html"),
    )
    with made() as folder:
        while done < wanted and time.monotonic() < until:
            words = writes[rng.integers(len(writes))]
            target = folder / next(word for word in words if word.startswith("out."))
            target.write_text("mine")
            most = int(rng.integers(0, 6000))

            def limit(most: int = most) -> None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

            if rng.random() < 0.2:
                with open("/dev/full", "w") as full:
                    os.set_inheritable(full.fileno(), True)
                    one = run(
                        PRINTS[rng.integers(len(PRINTS))],
                        folder,
                        lambda full=full: os.dup2(full.fileno(), 1),
                    )
                wrong = one.wrong() or (None if one.code == 1 else f"exit {one.code}")
            else:
                one = run(words, folder, limit)
                wrong = one.wrong()
                if wrong is None and one.code == 1 and target.read_text() != "mine":
                    wrong = "the old file is gone"
            left = [p.name for p in folder.iterdir() if p.suffix == ".part"]
            wrong = wrong or (f"left {left}" if left else None)
            found += [f"{' '.join(words)} with {most} bytes: {wrong}"] if wrong else []
            done += 1
    return done, found


def attack_memory(seed: int, wanted: int, until: float, _: Path) -> Broken:
    """Little memory: the result is what it is with more, or the failure is one line."""
    rng, found, done = np.random.default_rng(seed), [], 0
    with made() as folder:
        reads = [("evaluate", name, *NAMED, "--json") for name in ("big.csv", "big.parquet")]
        reads += [(*reads[1], "--engine", "arrow"), ("apply", "m.json", "big.parquet")]
        whole = {words: run(words, folder) for words in reads}
        while done < wanted and time.monotonic() < until:
            words = reads[rng.integers(len(reads))]
            most = int(rng.integers(400, 3000)) << 20

            def limit(most: int = most) -> None:
                resource.setrlimit(resource.RLIMIT_AS, (most, most))

            one = run(words, folder, limit)
            wrong = one.wrong()
            if wrong is None and one.code == 0 and one.out != whole[words].out:
                wrong = "another result"
            elif wrong is None and one.code and "[out-of-memory]" not in one.err:
                wrong = one.err
            found += [f"{' '.join(words)} with {most >> 20} MB: {wrong}"] if wrong else []
            done += 1
    return done, found


# ------------------------------------------------------------------------------------------- kills


def attack_with_kills(seed: int, wanted: int, until: float, _: Path) -> Broken:
    """Commands that are killed at the moment of writing: the output is the old one or the new one,
    and the next run removes what is left. All are forked from one process that has imported
    everything, which takes longest."""
    rng, found, done = np.random.default_rng(seed), [], 0
    with made() as folder, _zygote(folder) as start:
        commands = {
            "out.csv": ("apply", "m.json", "big.parquet", "-q", "-o", "out.csv"),
            "out.parquet": ("apply", "m.json", "big.parquet", "-q", "-o", "out.parquet"),
            "out.json": ("choose", "t.csv", *NAMED, "--cost", "fp=1,fn=5", "-q", "-o", "out.json"),
            "out.html": ("evaluate", "t.csv", *NAMED, "-q", "--report", "out.html"),
        }
        new = {}
        for name, words in commands.items():
            assert run(words, folder).code == 0
            new[name] = (folder / name).stat().st_size
        while done < wanted and time.monotonic() < until:
            name = str(rng.choice(list(commands)))
            which = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT][rng.integers(4)]
            (folder / name).write_text("mine")
            pid, ended = start(commands[name])
            began = time.monotonic()
            while not _parts(folder) and not ended(0.0) and time.monotonic() - began < HANG:
                time.sleep(0.0002)
            time.sleep(float(rng.exponential(0.01)))
            if not ended(0.0):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, which)
            wrong = None if ended(10.0) else "it does not end"
            text = (folder / name).read_bytes()
            # Pages have the time in them.
            if text != b"mine" and abs(len(text) - new[name]) > 100:
                wrong = f"{len(text)} bytes of {new[name]}"
            if which != signal.SIGKILL and _parts(folder):
                wrong = "it left a file beside"
            with written_aside(folder / name) as file:
                file.write(b"again")
            if _parts(folder):
                wrong = "the next run left a file beside"
            found += [f"{name} killed by {which.name}: {wrong}"] if wrong else []
            done += 1
    return done, found


def _parts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".part"]


_SERVER = r"""
import os, signal, sys
import cutscore.cli.apply, cutscore.cli.choose, cutscore.cli.evaluate, cutscore.report.page
from cutscore.cli import main
for line in sys.stdin:
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 1
        try:
            code = main(line.split())
        except SystemExit as error:
            code = error.code
        finally:
            os._exit(code)
    os.write(1, b"%d\n" % pid)
    os.waitpid(pid, 0)
    os.write(1, b"ended\n")
"""


@contextlib.contextmanager
def _zygote(folder: Path) -> Iterator[Callable[..., tuple[int, Callable[[float], bool]]]]:
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    out = server.stdout

    def start(words: Sequence[str]) -> tuple[int, Callable[[float], bool]]:
        assert server.stdin is not None
        server.stdin.write((" ".join(words) + "\n").encode())
        server.stdin.flush()
        pid, over = int(os.read(out.fileno(), 100)), False

        def ended(seconds: float) -> bool:
            nonlocal over
            if not over and select.select([out], [], [], seconds)[0]:
                over = os.read(out.fileno(), 100).strip() == b"ended"
            return over

        return pid, ended

    try:
        yield start
    finally:
        server.stdin.close()
        server.wait(HANG)
        out.close()
