"""What every scorer offers: the columns it needs, the scores of a table's rows, and why."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.json import read_fields, to_plain
from cutscore.detector.novelty import Novelty
from cutscore.detector.scorers.registry import SCORERS, find
from cutscore.sweeps.sweep import Floats

if TYPE_CHECKING:
    from cutscore.tables.frames import TableLike


class Contributions(NamedTuple):
    """What each of several causes adds to the score of each row, compared with an average row."""

    value: Floats
    """One row for each cause, one column for each row of the table."""
    label: NDArray[np.integer[Any]]
    """Of the same shape: under which of the names it stands."""
    names: Sequence[str]

    def largest(self, most: int) -> Any:
        """The ``most`` largest contributions to each row as text: "income -1.3, colour = red +0.8".

        Examples
        --------
        >>> import numpy as np
        >>> from cutscore.detector.scorers import Contributions
        >>> value = np.array([[0.5, -0.01], [-1.25, 2.0]])
        >>> c = Contributions(value, np.array([[0, 0], [1, 1]]), ["age", "income"])
        >>> c.largest(1).to_pylist()
        ['income -1.2', 'income +2']
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        names = pa.array([_as_cell(name) for name in self.names], pa.string())
        causes, n = self.value.shape
        size = np.empty((n, causes))  # by rows, or each argmax would copy all
        np.abs(self.value.T, out=size)
        label, value = self.label.ravel(), self.value.ravel()
        rows = np.arange(n)
        pieces: list[Any] = []
        for _ in range(min(most, causes)):
            # A few times the largest one: cheaper than sorting all, and ties go to the first.
            largest = size.argmax(axis=1)
            some = pa.array(size[rows, largest] > 0)
            size[rows, largest] = -1
            at = largest * n + rows
            text = pc.binary_join_element_wise(
                ", " if pieces else "",
                names.take(pa.array(label.take(at))),
                " ",
                _signed(value.take(at)),
                "",
            )
            pieces.append(pc.if_else(some, text, ""))
        return pc.binary_join_element_wise(*pieces, "")


def _as_cell(name: str) -> str:
    """A name as a cell of a table begins with it: in quotes where a spreadsheet would take it for a
    formula, or where it is no Unicode text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return repr(name)
    return repr(name) if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


class Scored(NamedTuple):
    """Some rows of a table, with their scores."""

    batch: Any
    """The columns to keep first, then those that the scorer needs."""
    score: Floats
    """NaN for a row without a score."""
    contributions: Contributions | None
    """None where they were not asked for, or the scorer has none."""


class Scorer(ABC):
    """Turns rows of a table into scores; with a policy it is a
    :class:`cutscore.detector.Detector`.

    Scorers are frozen dataclasses. Their fields are saved under their ``kind``, unless they
    override ``to_dict`` and ``of_dict``. A new kind is registered in ``registry.py``.
    """

    kind: ClassVar[str]
    explains: ClassVar[bool] = True
    """Whether it can say what a score is made of."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The columns it needs."""

    @abstractmethod
    def scored(
        self,
        data: TableLike,
        keep: Sequence[str] = (),
        *,
        explain: bool = False,
        seen: Novelty | None = None,
    ) -> Iterator[Scored]:
        """Score the rows of a table, batch by batch, in their order; no batch is empty.

        Parameters
        ----------
        data
            Any table that ``cutscore.detector.values.stream`` accepts.
        keep
            Columns that ``batch`` should have as they came.
        explain
            Whether contributions are wanted.
        seen
            Takes in what the rows have in each column, to count what training rows never had.
        """

    def moved(self, start: str, to: str) -> Scorer:  # noqa: ARG002 - most refer to no file
        """The same scorer, where paths of files were from one folder and are to be from another."""
        return self

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """What there is to know about it, by name."""

    def scores(self, data: TableLike) -> Floats:
        """The score of each row of a table."""
        parts = [part.score for part in self.scored(data)]
        return np.concatenate(parts) if parts else np.empty(0)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists, with the kind."""
        values = {f.name: to_plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind} | values

    @classmethod
    def of_dict(cls, data: Mapping[str, object], where: str) -> Scorer:
        """The scorer of this kind that has these fields."""
        scorer: Scorer = read_fields(cls, data, where)
        return scorer

    @staticmethod
    def from_dict(data: object, where: str = "scorer") -> Scorer:
        """The scorer that :meth:`to_dict` wrote, of whatever kind.

        Examples
        --------
        >>> from cutscore.detector.scorers import ColumnScorer, Scorer
        >>> Scorer.from_dict(ColumnScorer("risk").to_dict())
        ColumnScorer(column='risk')
        """
        if not isinstance(data, dict):
            raise DataError(FieldUnfit(where, "an object", data))
        if "kind" not in data:
            raise DataError(FieldUnfit(f"{where}.kind", "present"))
        kind = data["kind"]
        if not isinstance(kind, str) or kind not in SCORERS:
            raise DataError(FieldUnfit(f"{where}.kind", " or ".join(SCORERS), kind))
        scorer: type[Scorer] = find(SCORERS[kind])
        return scorer.of_dict({k: v for k, v in data.items() if k != "kind"}, where)


def _signed(values: Floats) -> Any:
    """Numbers with two digits and a sign. There are few different ones, so few are formatted."""
    import pyarrow as pa

    size = np.abs(values)
    power = np.zeros(len(size))
    np.log10(size, where=size > 0, out=power)
    power = np.clip(np.floor(power), -300, 300)
    digits = np.rint(values / 10.0 ** (power - 1))
    # One integer for both, which sorts faster than pairs.
    code, where = np.unique((digits * 1024 + power + 512).astype(np.int64), return_inverse=True)
    rounded = [float(f"{c // 1024}e{c % 1024 - 513}") for c in code.tolist()]
    words = [f"{v:+.0f}" if 100 <= abs(v) < 1e6 else f"{v:+.2g}" for v in rounded]
    return pa.array(words, pa.string()).take(pa.array(where))
