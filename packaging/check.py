"""Is what is in ``dist/`` fit to be released? ``make release-check`` runs it after ``make wheel``.

The wheel was built from the source distribution alone, in an environment of its own. Here it is
installed into a new virtual environment and used in an empty directory, as by somebody who has
never seen the repository.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

HERE = Path(__file__).parent.resolve()

# Three lines as a user would write them; types must come from the installed package.
TYPED = """\
import cutscore as cs
area: float = cs.sweep([1, 0, 1], [0.9, 0.8, 0.7]).auc
wrong: str = cs.sweep([1, 0, 1], [0.9, 0.8, 0.7]).auc
"""
FAULT = 'user.py:3: error: Incompatible types in assignment (expression has type "float"'


def only(folder: Path, pattern: str) -> Path:
    """The one file there."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"{folder} must have one {pattern}; it has {len(found)}. Run make wheel.")
    return found[0].resolve()


def same_package(sdist: Path, wheel: Path) -> None:
    """The wheel has the sources' package, the compiled core, and nothing else."""
    with tarfile.open(sdist) as archive:
        paths = [PurePosixPath(m.name) for m in archive.getmembers() if m.isfile()]
    sources = {str(PurePosixPath(*p.parts[2:])) for p in paths if p.parts[1] == "src"}
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    core = {name for name in names if PurePosixPath(name).match("cutscore/core/_native.*.so")}
    if len(core) != 1 or names - core != sources:
        odd = sorted((names - core) ^ sources) or sorted(core)
        raise SystemExit(f"the wheel and the sources differ in {odd}")


def run(folder: Path, *words: str, status: int = 0) -> str:
    """What a command prints when it is run in a folder, without our own settings of Python."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode != status:
        raise SystemExit(
            f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        )
    return done.stdout


def main() -> None:
    """Contents, installation, use, types."""
    dist = Path(sys.argv[1])
    sdist, wheel = only(dist, "*.tar.gz"), only(dist, "*.whl")
    same_package(sdist, wheel)
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        empty = Path(name, "empty")
        empty.mkdir()
        venv.create(Path(name, "venv"), with_pip=True)
        python = str(Path(name, "venv", "bin", "python"))
        run(empty, python, "-m", "pip", "install", "--quiet", str(wheel))
        run(empty, python, "-m", "pip", "check")
        print(run(empty, python, str(HERE / "smoke.py")), end="")

        run(empty, python, "-m", "pip", "install", "--quiet", "mypy")
        Path(empty, "user.py").write_text(TYPED, "utf-8")
        said = run(empty, python, "-m", "mypy", "--strict", "user.py", status=1)
        if not said.startswith(FAULT) or "Found 1 error in 1 file" not in said:
            raise SystemExit(f"mypy must find the one fault in line 3 of user.py; it said:\n{said}")
    print("typed: mypy --strict finds the one fault that is there, and no other")


if __name__ == "__main__":
    main()
