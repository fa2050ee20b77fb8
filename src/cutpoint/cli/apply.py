"""cutpoint apply."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Iterator
from math import lgamma, log
from typing import Any

import numpy as np

from cutpoint._check import shown
from cutpoint._progress import progress
from cutpoint.cli import UsageError, shared
from cutpoint.detector import Detector, NumberColumn
from cutpoint.detector.columns import LostZeros
from cutpoint.detector.terms import CategoryTerm, Term
from cutpoint.detector.values import in_words
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
    strange = _Strange(detector.training.rows)

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


# So many columns are spoken of.
_MOST = 5
# How often rows like those of training may be remarked upon, of all ends of all columns together.
_BY_CHANCE = 0.001
# So many times the range of training rows out of it is worth a remark, be it a single row: of
# lognormal values with sigma = 1.5 that befalls the largest of 1,000 twice in a thousand times.
_FAR = 10


class _Strange:
    """Counts values such as no training row had: unknown ones add nothing to a score, and numbers
    out of the range may add anything."""

    def __init__(self, training: int) -> None:
        self.training = training
        self.new: dict[str, int] = {}
        self.gone: dict[str, int] = {}
        self.beyond: dict[tuple[str, str], _Beyond] = {}
        self.numbers: dict[str, int] = {}

    def watch(self, term: Term, has: Any) -> None:
        """Look at what some rows have in one column."""
        if isinstance(term, CategoryTerm):
            c = term.column
            other = len(c.levels)
            missing = has == other + 1
            if not c.other:
                self._count(self.new, c.name, has == other)
        else:
            missing = np.isnan(has)
            self._range(term.column, has)
        if not term.column.missing:
            self._count(self.gone, term.column.name, missing)

    def _count(self, counts: dict[str, int], name: str, which: Any) -> None:
        found = int(np.count_nonzero(which))
        if found:
            counts[name] = counts.get(name, 0) + found

    def _range(self, c: NumberColumn, x: Any) -> None:
        if c.low is None or c.high is None:
            return
        self.numbers[c.name] = self.numbers.get(c.name, 0) + int(np.count_nonzero(~np.isnan(x)))
        for side, out, end in (("above", x > c.high, c.high), ("below", x < c.low, c.low)):
            count = int(np.count_nonzero(out))
            if count:
                far = float(x[out].max() if side == "above" else x[out].min())
                seen = self.beyond.setdefault((c.name, side), _Beyond(c, end, c.high - c.low))
                seen.count += count
                if abs(far - end) > abs(seen.far - end):
                    seen.far = far

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
        said += [
            (b.count, b.sentence(side, rows))
            for (name, side), b in self.beyond.items()
            if b.is_far or self._is_no_chance(b, self.numbers[name])
        ]
        said.sort(key=lambda pair: -pair[0])
        out = [text for _, text in said[:_MOST]]
        if len(said) > _MOST:
            out.append(f"the same of {len(said) - _MOST:,} more columns.")
        return out

    def _is_no_chance(self, b: _Beyond, m: int) -> bool:
        n = round(self.training * (1 - b.column.missing))
        ends = 2 * len(self.numbers)
        return not n or log_chance_beyond(b.count, n, m) < log(_BY_CHANCE / ends)


def log_chance_beyond(count: int, n: int, m: int) -> float:
    """ln P(at least ``count`` of m rows lie above the largest of n others like them).

    All orders of the n + m rows are equally likely: the topmost ``count`` must be of the m,
    P = ∏ (m − i) / (n + m − i) for i < count. With ties it is less.

    Examples
    --------
    >>> from math import exp
    >>> from cutpoint.cli.apply import log_chance_beyond
    >>> round(exp(log_chance_beyond(2, n=2, m=2)), 6)  # 2/4 · 1/3
    0.166667
    """
    return (lgamma(m + 1) - lgamma(m - count + 1)) - (lgamma(n + m + 1) - lgamma(n + m - count + 1))


class _Beyond:
    """How many values of a column lie beyond one end of its training rows, and the farthest."""

    def __init__(self, column: NumberColumn, end: float, width: float) -> None:
        self.column, self.end, self.width = column, end, width
        self.count, self.far = 0, end

    @property
    def is_far(self) -> bool:
        """Whether the farthest is out of the range by many times the range."""
        return abs(self.far - self.end) > _FAR * self.width

    def sentence(self, side: str, rows: int) -> str:
        """In words."""
        end, far = (in_words(x, self.column.kind) for x in (self.end, self.far))
        which = "largest" if side == "above" else "smallest"
        return (
            f"{self.count:,} of {rows:,} rows have {shown(self.column.name)} {side} the {which} "
            f"of the training rows, {end}; the {which} is {far}."
        )
