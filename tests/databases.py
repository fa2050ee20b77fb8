"""A PostgreSQL server for the tests, where one is installed."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NoServer(Exception):
    """There is no PostgreSQL, or it does not start."""


def _binary(name: str) -> str:
    found = shutil.which(name) or next(
        iter(sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True)), None
    )
    if found is None:
        raise NoServer(f"{name} of PostgreSQL is not installed")
    return found


def _user() -> str | None:
    """Whom the server runs as: it refuses to be root."""
    if os.getuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in known), None)


@contextmanager
def postgresql() -> Iterator[Path]:
    """The folder of the socket of a server that runs meanwhile; nothing listens to a network."""
    initdb, postgres = _binary("initdb"), _binary("postgres")
    _binary("psql")
    user = _user()
    # Short, since the name of a socket is.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    owned: dict[str, str] = {} if user is None else {"user": user}
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        made = subprocess.run(
            [initdb, "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "--no-sync"],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            **owned,  # type: ignore[arg-type]
        )
        if made.returncode:
            raise NoServer(made.stderr.strip())
        server = subprocess.Popen(
            [postgres, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            **owned,  # type: ignore[arg-type]
        )
        try:
            _await(folder, server)
            yield folder
        finally:
            server.terminate()
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await(folder: Path, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise NoServer("the server has ended")
        with_it = query(folder, "SELECT 1", check=False)
        if with_it.returncode == 0:
            return
        time.sleep(0.1)
    raise NoServer("the server does not answer")


def query(
    folder: Path, sql: str, text: str | None = None, *, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """What psql prints, without decoration; ``text`` is its standard input."""
    command = [_binary("psql"), "-h", str(folder), "-U", "test", "-d", "postgres", "-XAtq"]
    command += ["-v", "ON_ERROR_STOP=1", "--csv", "-c", sql]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done
