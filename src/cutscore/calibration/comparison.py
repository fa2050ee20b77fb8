"""The table behind ``calibrate(s, "auto")``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cutscore.core.findings.base import Finding
from cutscore.core.html import grid_table


class Entry(NamedTuple):
    """One method, on rows that it was not fitted to.

    ``log_loss`` and ``se`` are its mean log loss and standard error; ``excess`` and ``excess_se``
    the mean of the differences to the best method on the same rows, and theirs. All are nan, and
    ``note`` says why, where the method could not be fitted.
    """

    method: str
    log_loss: float
    se: float
    excess: float
    excess_se: float
    note: Finding | None = None


@dataclass(frozen=True, repr=False)
class MethodComparison:
    """How the methods did out of fold, and which one is recommended; see
    :func:`cutscore.calibrate`.

    Parameters
    ----------
    entries
        One for each method, from the simplest to the most flexible.
    chosen
        The method with the least loss, where each step from the simplest to the most flexible has
        to gain half a nat over all rows.
    folds
        How many parts the rows were split into.
    rows
        How many rows, or their weight.
    """

    entries: tuple[Entry, ...]
    chosen: str
    folds: int
    rows: float

    @property
    def best(self) -> str:
        """The method with the least loss."""
        return min((e for e in self.entries if not e.note), key=lambda e: e.log_loss).method

    def _title(self) -> str:
        return f"log loss out of {self.folds} folds, {self.rows:,.10g} rows"

    def _lines(self) -> list[tuple[str, str, str]]:
        out = []
        for e in self.entries:
            if e.note:
                out.append((e.method, "–", e.note.render()))
                continue
            far = "best" if e.method == self.best else f"+{e.excess:.2g} ± {e.excess_se:.2g}"
            if e.method == self.chosen:
                far += "  ← chosen"
            out.append((e.method, f"{e.log_loss:.6f} ± {e.se:.2g}", far))
        return out

    def __repr__(self) -> str:
        wide = max(len(loss) for _, loss, _ in self._lines())
        body = "\n".join(f"  {m:<9} {loss:<{wide}}  {far}" for m, loss, far in self._lines())
        return f"{self._title()}\n{body}"

    def _repr_html_(self) -> str:
        head = ("method", "log loss", "above the best")
        return grid_table(self._title(), head, self._lines())
