"""cutpoint apply."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from cutpoint._check import shown
from cutpoint._progress import progress
from cutpoint.cli import UsageError, shared
from cutpoint.detector import Detector
from cutpoint.detector.terms import CategoryTerm, Term
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
    strange = _Strange()

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

    with progress("deciding", not arguments.quiet and arguments.output != "-") as tell:
        rows = write_table(arguments.output, batches(tell))
    for text in strange.remarks(rows):
        shared.remark(arguments, text)
    shared.remark(
        arguments,
        f"{flagged:,} of {rows:,} rows flagged"
        + ("." if arguments.output == "-" else f"; wrote {arguments.output}."),
    )
    return "", 0


# So many columns are spoken of.
_MOST = 5


class _Strange:
    """Counts values of a kind that no training row had: they add nothing to a score."""

    def __init__(self) -> None:
        self.new: dict[str, int] = {}
        self.gone: dict[str, int] = {}

    def watch(self, term: Term, label: Any) -> None:
        """Look at what some rows have in one column."""
        c = term.column
        missing = 1
        if isinstance(term, CategoryTerm):
            other = len(term.column.levels)
            missing = other + 1
            if not term.column.other:
                self._count(self.new, c.name, label == other)
        if not c.missing:
            self._count(self.gone, c.name, label == missing)

    def _count(self, counts: dict[str, int], name: str, which: Any) -> None:
        found = int(np.count_nonzero(which))
        if found:
            counts[name] = counts.get(name, 0) + found

    def remarks(self, rows: int) -> list[str]:
        """A sentence for each column, the worst first."""
        said = [
            (n, f"{n:,} of {rows:,} rows have a {shown(name)} that the training rows never had.")
            for name, n in self.new.items()
        ]
        said += [
            (n, f"{n:,} of {rows:,} rows have no {shown(name)}, which all training rows had.")
            for name, n in self.gone.items()
        ]
        said.sort(key=lambda pair: -pair[0])
        out = [text for _, text in said[:_MOST]]
        if len(said) > _MOST:
            out.append(f"the same of {len(said) - _MOST:,} more columns.")
        return out
