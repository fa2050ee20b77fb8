"""The table behind ``calibrate(s, "auto")``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cutscore.core.findings.base import Finding
from cutscore.core.html import grid_table


class Entry(NamedTuple):
    """One method, on held-out rows.

    ``log_loss`` and ``se`` are its mean log loss and standard error; ``excess`` and ``excess_se``
    the mean difference to the best method on the same rows, and its standard error. All are nan
    where the method could not be fitted; ``note`` says why.
    """

    method: str
    log_loss: float
    se: float
    excess: float
    excess_se: float
    note: Finding | None = None


@dataclass(frozen=True, repr=False)
class MethodComparison:
    """The cross-validated log loss of each method, and the one chosen; see
    :func:`cutscore.calibrate`.

    Parameters
    ----------
    entries : tuple of Entry
        One for each method, from the simplest to the most flexible.
    chosen : str
        The method with the least loss, penalised by half a nat (over all rows) for each step from
        the simplest to the most flexible.
    folds : int
        The number of folds.
    rows : float
        The number of rows, or their total weight.
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
        return f"log loss, {self.folds}-fold cross-validation, {self.rows:,.10g} rows"

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
