"""cutscore apply."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from cutscore._progress import progress
from cutscore.cli import UsageError, shared
from cutscore.detector import Detector
from cutscore.detector.columns import LostZeros
from cutscore.detector.saved import NoModel
from cutscore.detector.strange import Strange
from cutscore.tables import write_table


def run(arguments: Namespace) -> tuple[str, int]:
    """Decide about the rows of a table."""
    if arguments.reasons < 0:
        raise UsageError(f"--reasons must be at least 0; it is {arguments.reasons}.")
    shared.check_outputs(arguments)
    detector = _model(arguments.model)
    table = shared.source(arguments)
    keep = table.names if arguments.keep is None else arguments.keep
    flagged = 0
    strange = Strange(detector.training.rows)

    def batches(tell: Any) -> Iterator[Any]:
        nonlocal flagged
        done = 0
        decided = detector.apply_batches(
            table, keep=keep, reasons=arguments.reasons, watch=strange.watch
        )
        for batch in decided:
            flagged += batch.column("decision").true_count
            done += batch.num_rows
            if tell:
                tell(done / (done + 1e6), f"{done:,} rows")
            yield batch

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        with progress("deciding", not arguments.quiet and arguments.output != "-") as tell:
            rows = write_table(arguments.output, batches(tell))
    said = dict.fromkeys(str(w.message) for w in told if w.category is LostZeros)
    for text in (*said, *strange.remarks(rows)):
        shared.remark(arguments, text)
    shared.remark(
        arguments,
        f"{flagged:,} of {rows:,} rows flagged"
        + ("." if arguments.output == "-" else f"; wrote {arguments.output}."),
    )
    return "", 0


def _model(path: str) -> Detector:
    try:
        return Detector.load(path)
    except NoModel as error:
        raise UsageError(
            f"{error} The model comes before the table: cutscore apply model.json new.csv."
        ) from None
