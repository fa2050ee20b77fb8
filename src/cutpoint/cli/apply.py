"""cutpoint apply."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from cutpoint._progress import progress
from cutpoint.cli import UsageError, shared
from cutpoint.detector import Detector
from cutpoint.tables import write_table


def run(arguments: Namespace) -> tuple[str, int]:
    """Decide about the rows of a table."""
    if arguments.reasons < 0:
        raise UsageError(f"--reasons must be at least 0; it is {arguments.reasons}.")
    shared.check_outputs(arguments)
    detector = Detector.load(arguments.model)
    table = shared.source(arguments)
    keep = table.names if arguments.keep is None else arguments.keep
    flagged = 0

    def batches(tell: Any) -> Iterator[Any]:
        nonlocal flagged
        done = 0
        for batch in detector.apply_batches(table, keep=keep, reasons=arguments.reasons):
            flagged += batch.column("decision").true_count
            done += batch.num_rows
            if tell:
                tell(done / (done + 1e6), f"{done:,} rows")
            yield batch

    with progress("deciding", not arguments.quiet and arguments.output != "-") as tell:
        rows = write_table(arguments.output, batches(tell))
    shared.remark(
        arguments,
        f"{flagged:,} of {rows:,} rows flagged"
        + ("." if arguments.output == "-" else f"; wrote {arguments.output}."),
    )
    return "", 0
