"""Are all rows whole? The capabilities the project is judged by, and the items of its sources.

Each row is one small check against an oracle that is not ours: values worked out in the source
documents, fractions, brute force in NumPy, scikit-learn, SciPy, PyTorch, published figures. Exits
with 1 if one is not whole. ``--quick`` leaves out those that take long; ``--only TEXT`` runs the
rows whose number or name contains a text.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row: its number, or its document and number there; what it says; and its check."""

    key: str
    name: str
    check: Callable[[], None]
    slow: bool = False

    def run(self) -> None:
        """Raise if it is not whole."""
        os.environ.setdefault("MPLBACKEND", "agg")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of peers
            self.check()
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


ROWS: list[Row] = []


def row(key: str, name: str, *, slow: bool = False) -> Callable[[Callable[[], None]], Callable]:
    """Register a check, which raises if the row is not whole."""

    def add(check: Callable[[], None]) -> Callable[[], None]:
        ROWS.append(Row(key, name, check, slow))
        return check

    return add


def all_rows() -> list[Row]:
    """All rows: capabilities first, then the items of each document."""
    import row_capabilities  # noqa: F401
    import row_seeds  # noqa: F401

    return sorted(ROWS, key=lambda r: ("." in r.key, *map(int, r.key.split("."))))


def main() -> int:
    import rows  # as the others import it: one list for all

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    parser.add_argument("--only", default="", help="rows whose number or name contains this")
    parser.add_argument("--verbose", action="store_true", help="show where a check failed")
    arguments = parser.parse_args()
    found = [r for r in rows.all_rows() if arguments.only in r.key or arguments.only in r.name]
    failed = skipped = 0
    for one in found:
        if one.slow and arguments.quick:
            skipped += 1
            continue
        start, said = time.perf_counter(), "whole"
        try:
            one.run()
        except Exception as error:
            failed += 1
            said = f"NOT WHOLE: {type(error).__name__}: {' '.join(str(error).split())[:150]}"
            if arguments.verbose:
                traceback.print_exc()
        print(
            f"{one.key:>6}  {one.name:<76} {time.perf_counter() - start:6.2f} s  {said}", flush=True
        )
    print(f"{len(found) - failed - skipped} whole, {failed} not, {skipped} left out")
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
