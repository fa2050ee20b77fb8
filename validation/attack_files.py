"""Mutated files of every format and mutated models, read in a process that may die of them.

A worker reads one after the other. It says which one it is at before it begins, and ends itself
where one takes more than 10 s; whoever started it notes what is left of a crash and goes on.
"""

from __future__ import annotations

import copy
import faulthandler
import gzip
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cutscore.core.errors import CutscoreError

# Seconds that one input may take, and bytes that the process may.
HANG, MEMORY = 10, 6 << 30
Broken = tuple[int, list[str]]


def attack_files(seed: int, wanted: int, until: float, keep: Path) -> Broken:
    """So many mutated tables."""
    return _in_workers("files", seed, wanted, until, keep)


def attack_models(seed: int, wanted: int, until: float, keep: Path) -> Broken:
    """So many mutated detectors and policies."""
    return _in_workers("models", seed, wanted, until, keep)


def _in_workers(what: str, seed: int, wanted: int, until: float, keep: Path) -> Broken:
    done, found = 0, []
    while done < wanted and time.monotonic() < until and len(found) < 100:
        words = [sys.executable, __file__, what, str(seed), str(done), str(wanted), str(keep)]
        left = str(max(until - time.monotonic(), 1))
        worker = subprocess.run([*words, left], capture_output=True, text=True, check=False)
        lines = worker.stdout.splitlines()
        found += [line.removeprefix("broken ") for line in lines if line.startswith("broken ")]
        last = next((int(line.split()[1]) for line in reversed(lines) if line[:3] == "at "), done)
        if worker.returncode:
            why = worker.stderr.strip().splitlines()
            name = keep / f"{what}-{seed}-{last}"
            found.append(f"{name}: exit {worker.returncode}, {why[:1]} {why[-1:]}")
        done = last + 1
    return done, found


def _worker(what: str, seed: int, span: range, keep: Path, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    until = time.monotonic() + seconds
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="attack-"))
    try:
        seeds, read = (_tables(folder), _read) if what == "files" else (_models(folder), _use)
        # Fewer of ORC, whose reader is a process of its own each time.
        names = [name for name in sorted(seeds) for _ in range(1 if name == "t.orc" else 8)]
        for k in span:
            if time.monotonic() > until:
                return
            rng = np.random.default_rng([seed, k])
            name = names[k % len(names)]
            bad = (_mutate if what == "files" or rng.random() < 0.2 else _mutate_json)(
                rng, seeds[name]
            )
            path = keep / f"{what}-{seed}-{k}"  # named after the format where that has to be said
            path = path.with_name(f"{path.name}.{name.partition('.')[2]}") if "." in name else path
            path.write_bytes(bad)
            print(f"at {k}", flush=True)
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                read(path, folder)
            except (CutscoreError, MemoryError):
                pass
            except Exception as error:
                print(f"broken {path}: {type(error).__name__}: {str(error)[:200]!r}", flush=True)
                continue
            path.unlink()
        print(f"at {span.stop - 1}", flush=True)
    finally:
        faulthandler.cancel_dump_traceback_later()
        shutil.rmtree(folder, ignore_errors=True)


# ------------------------------------------------------------------------------------------ tables


def _tables(folder: Path) -> dict[str, bytes]:
    """A small table in every format."""
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import ipc

    from cutscore.tables import write_table

    rng, n = np.random.default_rng(0), 60
    table = pa.table(
        {
            "y": rng.integers(0, 2, n),
            "score": rng.random(n),
            "w": rng.random(n).astype(np.float32),
            "city": pa.array(rng.choice(["Wien", "Rom", "Łódź", None], n)),
            "day": pa.array(rng.integers(0, 20_000, n), pa.int32()).cast(pa.date32()),
            "code": pa.array(rng.choice(["a", "b"], n)).dictionary_encode(),
            "old": pa.array(rng.choice([True, False, None], n)),
        }
    )
    out = {}
    for suffix in ("csv", "tsv", "parquet", "arrow", "orc", "jsonl"):
        path = folder / f"t.{suffix}"
        write_table(path, table)
        out[path.name] = path.read_bytes()
    pq.write_table(table, folder / "g.parquet", row_group_size=17, compression="none")
    out["g.parquet"] = (folder / "g.parquet").read_bytes()
    with ipc.new_stream(folder / "s.arrow", table.schema) as stream:
        stream.write_table(table, 25)
    out["s.arrow"] = (folder / "s.arrow").read_bytes()
    out["z.csv.gz"] = gzip.compress(out["t.csv"])
    lines = [f"{y} 1:{s:.4f} 7:2 {9 + k}:1" for k, (y, s) in enumerate(zip(
        table["y"].to_pylist(), table["score"].to_pylist(), strict=True))]  # fmt: skip
    out["t.svm"] = "\n".join(lines).encode()
    with sqlite3.connect(folder / "t.db") as base:
        base.execute("create table t (y int, score real, city text)")
        rows = zip(*(table[name].to_pylist() for name in ("y", "score", "city")), strict=True)
        base.executemany("insert into t values (?, ?, ?)", rows)
    base.close()
    out["t.db"] = (folder / "t.db").read_bytes()
    with duckdb.connect(str(folder / "t.duckdb")) as duck:
        duck.register("seen", table.select(["y", "score", "city"]))
        duck.execute("create table t as select * from seen")
    out["t.duckdb"] = (folder / "t.duckdb").read_bytes()
    return out


def _read(path: Path, _: Path) -> None:
    """A table that can be read is whole, and the same whichever way it is read."""
    import cutscore as cs
    from cutscore.tables import open_table

    sql = "select * from t" if path.suffix in (".db", ".duckdb") else None
    table = open_table(path, sql=sql)
    whole = table.read()
    whole.validate(full=True)
    batches = list(table.batches())
    assert sum(batch.num_rows for batch in batches) == whole.num_rows, "rows differ"
    for name in whole.column_names:
        if name == "old" and path.suffix == ".parquet":
            continue  # pyarrow reads booleans of a damaged page differently each time
        together = [value for batch in batches for value in _values(batch.column(name))]
        assert repr(together) == repr(_values(whole.column(name))), f"{name} differs"
    if {"y", "score"} <= set(table.names):
        c = table.columns(["y", "score"], numbers=["score"])
        repr(cs.sweep(c["y"], c["score"]))
        cs.sweep_file(path, label="y", score="score") if sql is None else None
    if path.suffix in (".parquet", ".arrow", ".orc"):
        open_table(path, sql="select upper(city), * from data").read().validate(full=True)


def _values(column: Any) -> list[Any]:
    import pyarrow as pa

    # Arrow has dates that Python has not.
    return list(
        (column.cast(pa.string()) if pa.types.is_temporal(column.type) else column).to_pylist()
    )


_ODD = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b'"',
    b"\n",
    b"\r",
    b",",
    b";",
    b"{",
    b"[",
    b"\xef\xbb\xbf",
)
_ODD += (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"nan", b"1e999", b"-", b"=", b"\xed\xa0\x80")


def _mutate(rng: np.random.Generator, data: bytes) -> bytes:
    """A few changes of bytes: some flipped, cut, doubled, moved, or replaced by odd ones."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(out) + 1))
        some = int(min(rng.geometric(0.05), len(out)))
        kind = rng.integers(8)
        if kind <= 2 and out:
            at = min(at, len(out) - 1)
            out[at] = int(rng.integers(256)) if kind else out[at] ^ (1 << int(rng.integers(8)))
        elif kind == 3:
            del out[at : at + some]
        elif kind == 4:
            out[at:at] = out[at : at + some]
        elif kind == 5:
            out[at : at + (some if rng.random() < 0.5 else 0)] = _ODD[rng.integers(len(_ODD))]
        elif kind == 6 and rng.random() < 0.3:
            del out[at:]
        else:
            number = int(rng.choice([0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1]))
            out[at : at + 8] = number.to_bytes(8, "little")
    return bytes(out)


# ------------------------------------------------------------------------------------------ models


def _models(folder: Path) -> dict[str, bytes]:
    """A linear detector, a policy of a column and one with limits."""
    import contextlib
    import io

    import pyarrow as pa

    from cutscore.cli import main
    from cutscore.tables import write_table

    rng, n = np.random.default_rng(1), 300
    a, city = rng.normal(size=n), rng.choice(["Wien", "Rom", "Łódź"], n)
    y = (a + (city == "Rom") + rng.normal(size=n) > 0).astype(int)
    table = folder / "rows.csv"
    write_table(table, pa.table({"y": y, "a": a, "=b": rng.normal(size=n), "city": city}))
    write_table(folder / "few.csv", pa.table({"a": a[:9], "=b": a[:9], "city": city[:9]}))
    named = [str(table), "--label", "y", "--score", "a"]
    commands = {
        "fit": ["fit", str(table), "--target", "y", "--learner", "logistic"],
        "choose": ["choose", *named, "--cost", "fp=1,fn=5"],
        "limits": ["choose", *named, "--maximize", "recall", "--subject-to", "fpr <= 30 %"],
    }
    out = {}
    for name, words in commands.items():
        path = folder / f"{name}.json"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([*words, "-o", str(path)])
        out[name] = path.read_bytes()
    return out


def _use(path: Path, folder: Path) -> None:
    """A model that can be read can be used, or says why not."""
    from cutscore.detector import Detector
    from cutscore.detector.export import to_markdown, to_python, to_sql
    from cutscore.report import render
    from cutscore.report.policies import summarise_policy
    from cutscore.tables import open_table

    detector = Detector.load(path)
    again = Detector.from_json(detector.to_json())
    assert again.to_json() == detector.to_json(), "it is another one when it is read again"
    table = open_table(folder / "few.csv")
    uses: tuple[Callable[[], Any], ...] = (
        lambda: repr(detector),
        lambda: render(summarise_policy(detector), "a policy", "cutscore report").encode(),
        lambda: detector.apply(table).validate(full=True),
        lambda: to_sql(detector, "t"),
        lambda: to_python(detector),
        lambda: to_markdown(detector).encode(errors="backslashreplace"),
    )
    for use in uses:
        try:
            use()
        except (CutscoreError, MemoryError):
            continue


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 0.5, -0.0, 1e308, -1e308, 5e-324, 2**63, 10**400, "inf", "-inf", "nan"),
    *(
        "",
        "a",
        "\ud800",
        "=1+1",
        "\x1b[2J",
        "x" * 5000,
        [],
        [1],
        [0.5, 0.5],
        {},
        {"a": 1},
        [[]] * 3,
    ),
)


def _mutate_json(rng: np.random.Generator, data: bytes) -> bytes:
    """A value or two replaced, removed or moved, and the checksum made to fit."""
    from cutscore.core.json import digest

    parsed = json.loads(data)
    parsed.pop("checksum", None)
    for _ in range(int(rng.geometric(0.7))):
        node: Any = parsed
        while True:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = keys[rng.integers(len(keys))]
            if not (isinstance(node[key], dict | list) and node[key]) or rng.random() < 0.1:
                break
            node = node[key]
        kind, old = rng.integers(5), node[key]
        if type(old) in (int, float) and abs(old) < 1e300 and rng.random() < 0.7:
            node[key] = type(old)(old * float(rng.choice([-1, 0, 0.5, 1.001, 2, 1e10, 1e-10])))
        elif kind == 0 and isinstance(node, dict):
            del node[key]
        elif kind == 1 and isinstance(node, dict):
            node[str(_VALUES[rng.integers(len(_VALUES))])[:40]] = node.pop(key)
        elif kind == 2 and isinstance(node, list):
            node.insert(key, copy.deepcopy(node[rng.integers(len(node))]))
        else:
            node[key] = copy.deepcopy(_VALUES[rng.integers(len(_VALUES))])
        if not parsed:
            break
    return json.dumps(parsed | {"checksum": digest(parsed)}).encode()


if __name__ == "__main__":
    _what, _seed, _start, _wanted, _keep, _seconds = sys.argv[1:]
    _span = range(int(_start), int(_wanted))
    _worker(_what, int(_seed), _span, Path(_keep), float(_seconds))
