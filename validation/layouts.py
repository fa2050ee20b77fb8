"""Every public function with arrays in every layout, in all combinations: see tests/layouts.py.

Layouts × with and without weights × one thread and two × rows below and beyond one block and one
thread's part × other rows in the same memory. ``tests/test_layouts.py`` runs a selection of it.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from layouts import (
    PLAIN,
    REGISTRY,
    WRITEABLE,
    Case,
    Data,
    Given,
    compare,
    data,
    run,
    run_refilled,
    small_blocks,
    threads,
)

# Four columns of so many rows are more than one block, for more than one thread.
LARGE = 300_000
# Learners that solve many times over have less.
SLOW = 6_000


def sizes(case: Case) -> Iterator[tuple[int, bool]]:
    """Numbers of rows, and whether blocks are made small."""
    yield 300, False
    yield case.rows, True
    yield (LARGE if case.rows >= 10_000 else SLOW), case.rows < 10_000


def combinations(case: Case) -> Iterator[tuple[str, Callable[[], None]]]:
    """What to run, while it is asked for, and what it is called."""
    for n, small in sizes(case):
        for weighted in (False, True)[: 1 + case.weighted]:
            rows = f"{n:,} rows, weights {weighted}"
            with small_blocks(small):
                raw, other = data(n, weighted), data(n, weighted, seed=1)
                with threads(1):
                    wanted = case.call(Given(raw, PLAIN)), case.call(Given(other, PLAIN))
                if case.check is not None:
                    yield f"{rows}, formula", partial(case.check, raw, wanted[0])
                with threads(2):
                    yield f"{rows}, bits", partial(same_bits, case, raw, wanted[0])
                for count in (1, 2):
                    for layout in case.layouts():
                        what = f"{layout.name}, {rows}, {count} threads"
                        with threads(count):
                            yield what, partial(run, case, layout, raw, wanted[0])
                            if layout.name in WRITEABLE and layout.name not in case.refuses:
                                again = partial(run_refilled, case, layout, raw, other, wanted)
                                yield f"{what}, refilled", again


def same_bits(case: Case, raw: Data, wanted: Any) -> None:
    compare(case.call(Given(raw, PLAIN)), wanted, None)


def main() -> int:
    ran = failed = 0
    for case in REGISTRY:
        start = time.perf_counter()
        for what, check in combinations(case):
            ran += 1
            try:
                check()
            except Exception:
                failed += 1
                print(f"{case.name}: {what}")
                traceback.print_exc(limit=-2, file=sys.stdout)
        data.cache_clear()
        print(f"{case.name}: {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{ran:,} combinations of {len(REGISTRY)} functions, {failed:,} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
