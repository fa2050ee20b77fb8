"""Does an installed cutscore work? Needs the standard library and cutscore only.

Meant for a directory without the sources, so that only the installed package can be found.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, version
from importlib.resources import files
from pathlib import Path

import cutscore as cs

ROWS = "score,fraud\n0.9,yes\n0.8,no\n0.7,yes\n0.4,no\n0.2,no\n"  # 5 of 6 pairs in order


def run(*words: str) -> str:
    """What a command prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def expect(what: str, found: object, wanted: object) -> None:
    """Stop if they differ."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r} instead of {wanted!r}")


def main() -> None:
    """Library, module and command, once each."""
    expect("AUC", cs.sweep([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.2]).auc, 5 / 6)
    expect("version", version("cutscore"), cs.__version__)
    expect("py.typed", files("cutscore").joinpath("py.typed").is_file(), True)
    scripts = [
        e.name for e in distribution("cutscore").entry_points if e.value == "cutscore.cli:main"
    ]
    expect("commands", scripts, ["cutscore"])

    module = (sys.executable, "-m", "cutscore")
    command = (str(Path(sys.executable).with_name("cutscore")),)
    for program in (module, command):
        expect("--version", run(*program, "--version"), f"cutscore {cs.__version__}\n")
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder, "rows.csv"), Path(folder, "report.html")
        table.write_text(ROWS, "utf-8")
        asked = ("evaluate", str(table), "--label", "fraud", "--positive", "yes")
        summary = json.loads(run(*command, *asked, "--json", "--report", str(page)))
        expect("AUC on the command line", summary["scores"][0]["auc"]["value"], 5 / 6)
        expect("the report", "<svg" in page.read_text("utf-8"), True)
    print(f"cutscore {cs.__version__} works: {Path(cs.__file__).parent}")


if __name__ == "__main__":
    main()
