"""cutscore apply."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from cutscore.cli import shared
from cutscore.core.errors import DataError, UsageError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.command import RowsFlagged
from cutscore.core.findings.models import NotAModel
from cutscore.core.progress import Report, progress
from cutscore.detector import Detector
from cutscore.detector.novelty import Novelty
from cutscore.tables import Table, write_table
from cutscore.tables.writer import is_text_format


def run(arguments: Namespace) -> tuple[str, int]:
    """Decide about the rows of a table."""
    if arguments.reasons < 0:
        raise UsageError(BadArgument("reasons", "be at least 0", arguments.reasons))
    shared.check_outputs(arguments)
    shared.check_extension(arguments.output)
    detector = _model(arguments.model)
    table = shared.source(arguments)
    keep = arguments.keep or table.names
    flagged, undecided, reviewed = 0, 0, None if not detector.policy.three_way else 0
    seen = detector.watch()

    def batches(tell: Report | None) -> Iterator[Any]:
        nonlocal flagged, undecided, reviewed
        done = 0
        for batch in _decided(detector, table, keep, arguments, seen):
            decision = batch.column("decision").drop_null().to_numpy(zero_copy_only=False)
            undecided += batch.num_rows - len(decision)
            if reviewed is None:
                flagged += int(decision.sum())
            else:
                flagged += int((decision == 2).sum())
                reviewed += int((decision == 1).sum())
            done += batch.num_rows
            if tell:
                tell(done / (done + 1e6), f"{done:,} rows")
            yield batch

    with progress("deciding", not arguments.quiet and arguments.output != "-") as tell:
        rows = write_table(arguments.output, batches(tell))
    shared.remark_all(arguments, seen.found(rows))
    file = None if arguments.output == "-" else arguments.output
    shared.remark(arguments, RowsFlagged(flagged, rows, file, reviewed, undecided))
    return "", 0


def _decided(
    detector: Detector, table: Table, keep: Sequence[str], arguments: Namespace, seen: Novelty
) -> Iterator[Any]:
    """Batches of the columns that are kept, and of what the detector adds.

    From CSV to CSV columns are kept as they are written: TRUE and 1e5 are not true and 100000. The
    detector reads some of them as numbers, so that there are two readers then, side by side, of the
    same text.
    """
    decide = partial(detector.apply_batches, table, reasons=arguments.reasons, seen=seen)
    if not (keep and table.is_text and is_text_format(arguments.output)):
        return decide(keep=keep)
    detector.check_kept(keep, arguments.reasons)
    table.hold_text(list(dict.fromkeys([*keep, *detector.columns])))
    return _beside(table.batches(keep, texts=keep), decide())


def _beside(kept: Iterator[Any], added: Iterator[Any]) -> Iterator[Any]:
    """Columns of the same rows together, in the batches of the second."""
    import pyarrow as pa

    rest: list[Any] = []
    for batch in added:
        while sum(part.num_rows for part in rest) < batch.num_rows:
            rest.append(next(kept))
        table = pa.Table.from_batches(rest).combine_chunks()
        rest = table.slice(batch.num_rows).to_batches()
        (front,) = table.slice(0, batch.num_rows).to_batches()
        yield pa.RecordBatch.from_arrays(
            [*front.columns, *batch.columns], names=[*front.schema.names, *batch.schema.names]
        )


def _model(path: str) -> Detector:
    try:
        return Detector.load(path)
    except DataError as error:
        if not isinstance(error.finding, NotAModel):
            raise
        hint = "The model comes before the table: cutscore apply model.json new.csv."
        raise UsageError(replace(error.finding, hint=hint)) from None
