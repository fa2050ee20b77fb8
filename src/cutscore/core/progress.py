"""Progress of long work: on stderr, and only where somebody looks at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Called with the share that is done, from 0 to 1, and what to say beside the bar.
Report = Callable[[float, str], None]


@contextmanager
def progress(label: str, wanted: bool = True) -> Iterator[Report | None]:
    """A bar on the terminal while this lasts; None where stderr is none, or nothing is wanted."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=1.0, note="")

        def report(done: float, note: str) -> None:
            bar.update(task, completed=min(max(done, 0.0), 1.0), note=note)

        yield report
