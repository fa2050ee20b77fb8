"""Fuzz the readers with atheris, which is guided by the branches that an input takes.

    python validation/fuzz.py                          each target for five minutes
    python validation/fuzz.py --seconds 60 --only csv policy

Needs atheris (``pip install atheris``). A target may only raise what is ours. Inputs that broke
something stay in ``build/fuzz``, and so does what was learned of each target, for the next run.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from math import isnan
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Of the tables and models of the attack: those to start from. None for grammars.
SEEDS = {
    "csv": ("t.csv", "t.tsv"),
    "jsonl": ("t.jsonl",),
    "arrow": ("t.arrow", "s.arrow"),
    "parquet": ("t.parquet", "g.parquet"),
    "orc": ("t.orc",),
    "policy": ("choose", "limits"),
    "detector": ("fit",),
    "limit": (),
    "formula": (),
    "literal": (),
}


def main() -> int:
    """Run each target in a process of its own, and say what it found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=300, help="for each target")
    parser.add_argument("--only", nargs="*", choices=SEEDS, default=list(SEEDS))
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--target", choices=SEEDS, help=argparse.SUPPRESS)
    asked, more = parser.parse_known_args()
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris", file=sys.stderr)
        return 2
    if asked.target:
        _fuzz(asked.target, more)
    broken = 0
    for name in asked.only:
        corpus = asked.keep / name
        corpus.mkdir(parents=True, exist_ok=True)
        _write_seeds(name, corpus)
        words = [sys.executable, __file__, "--target", name, str(corpus)]
        words += [f"-artifact_prefix={asked.keep}/{name}-", f"-max_total_time={asked.seconds}"]
        words += ["-timeout=10", "-rss_limit_mb=6000", "-max_len=20000", "-print_final_stats=1"]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        runs = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        count = f"{int(runs[1]):,}" if runs else "?"
        print(f"{name}: {count} inputs, {'broken' if done.returncode else 'nothing'}", flush=True)
        if done.returncode:
            (asked.keep / f"{name}.log").write_text(done.stderr)
            print(f"  {asked.keep / name}.log", flush=True)
        broken += done.returncode != 0
    return 1 if broken else 0


def _write_seeds(name: str, corpus: Path) -> None:
    sys.path[:0] = [str(ROOT / "validation")]
    from attack_files import _models, _tables

    with tempfile.TemporaryDirectory() as folder:
        if name in ("policy", "detector"):
            seeds = _models(Path(folder))
        else:
            seeds = _tables(Path(folder)) if SEEDS[name] else {}
        for seed in SEEDS[name]:
            (corpus / seed).write_bytes(seeds[seed])
    if name == "limit":
        (corpus / "limit").write_bytes(b"precision >= 95 % at 90 % confidence")
    elif name == "formula":
        (corpus / "formula").write_bytes(b"max(0.8 * amount + 15, 2.5) - 1e-3")
    elif name == "literal":
        (corpus / "literal").write_bytes(b"-12.5e3\n007\n2025-04-24 10:30\nNA\n1,5")


def _fuzz(name: str, words: list[str]) -> None:
    """Fuzz one target until its time is over; does not return."""
    import atheris

    with atheris.instrument_imports(include=["cutscore"]):
        from cutscore.core.errors import CutscoreError

        read = _target(name)
    warnings.simplefilter("ignore")

    def one(data: bytes) -> None:
        try:
            read(data)
        except (CutscoreError, MemoryError):
            return

    atheris.Setup([sys.argv[0], *words], one)
    atheris.Fuzz()


def _target(name: str) -> Callable[[bytes], object]:
    import pyarrow as pa

    from cutscore.detector import Detector
    from cutscore.measures.expression import Expression
    from cutscore.measures.limits import parse_limit
    from cutscore.policy import Policy
    from cutscore.tables import open_table
    from cutscore.tables.literals import floats

    path = Path(tempfile.mkdtemp(prefix="fuzz-")) / f"t.{name}"

    def table(data: bytes) -> None:
        path.write_bytes(data)
        source = open_table(path)
        source.read().validate(full=True)
        if {"y", "score"} <= set(source.names):
            source.columns(["y", "score"], numbers=["score"])

    def policy(data: bytes) -> None:
        read = Policy.from_json(data, verify=False)
        assert Policy.from_json(read.to_json()).to_json() == read.to_json()

    def detector(data: bytes) -> None:
        read = Detector.from_json(data, verify=False)
        assert Detector.from_json(read.to_json()).to_json() == read.to_json()

    def limit(data: bytes) -> None:
        parse_limit(data.decode(errors="replace"))

    def formula(data: bytes) -> None:
        read = Expression(data.decode(errors="replace"))
        value = read.evaluate(dict.fromkeys(read.names, 1.5))
        with suppress(ZeroDivisionError):  # where NumPy has inf
            same = eval(read.to_python(lambda _: "1.5"), {"min": min, "max": max})
            assert same == value or isnan(value)

    def literal(data: bytes) -> None:
        """Numbers in text, one a line, and the same as a column of CSV."""
        lines = data.decode(errors="replace").split("\n")
        with suppress(pa.ArrowInvalid):  # callers know it as text that is not a number
            floats(pa.array(lines))
        path.with_suffix(".csv").write_bytes(b"x\n" + data)
        open_table(path.with_suffix(".csv")).read().validate(full=True)

    other = {"policy": policy, "detector": detector, "limit": limit, "formula": formula}
    other["literal"] = literal
    return other.get(name, table)


if __name__ == "__main__":
    sys.exit(main())
