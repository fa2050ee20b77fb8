"""Columns of a table as scorers take them, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.models import NoColumns
from cutscore.detector.columns import CategoryColumn, Column
from cutscore.detector.novelty import Novelty
from cutscore.detector.values import stream
from cutscore.tables.literals import parsed


def read_columns(
    data: Any, columns: Sequence[Column], keep: Sequence[str] = (), seen: Novelty | None = None
) -> Iterator[tuple[Any, list[NDArray[Any]]]]:
    """Batches of a table with what the rows have in each of these columns: numbers, NaN where they
    are missing, or states of a category by their numbers. No batch is empty.

    Parameters
    ----------
    data
        Whatever :func:`cutscore.detector.values.stream` takes.
    columns
        Which, in this order. The table may have them in another, and more of them.
    keep
        Further columns of each batch, in front, as they came.
    seen
        Takes in what the rows have in each column, to count what training rows never had.

    Examples
    --------
    >>> from cutscore.detector import NumberColumn
    >>> from cutscore.detector.scorers.reading import read_columns
    >>> age = NumberColumn("age", 40.0, 9.0)
    >>> [[has.tolist() for has in values] for _, values in read_columns({"age": [30, None]}, [age])]
    [[[30.0, nan]]]
    """
    from cutscore.tables.frames import as_table

    wanted = list(dict.fromkeys((*keep, *(column.name for column in columns))))
    if not wanted:
        raise DataError(NoColumns())
    at = {name: k for k, name in enumerate(wanted)}
    names = numbers_of(columns)
    # What is handed on is as it was, 009 and not 9, though its number is scored.
    both = set(keep).intersection(names)
    table = as_table(data)
    written = table.coded(wanted) & both if both else set()
    numbers = [name for name in names if name not in written]
    start = 0
    for batch in stream(table, wanted, numbers, texts_of(columns)):
        if not batch.num_rows:
            continue
        values = []
        for column in columns:
            found = batch.column(at[column.name])
            has = column.values(parsed(found) if column.name in written else found, start)
            if seen is not None:
                seen.watch(column, has, found)
            values.append(has)
        start += batch.num_rows
        yield batch, values


def numbers_of(columns: Sequence[Column]) -> list[str]:
    """The columns that are taken as numbers."""
    return [column.name for column in columns if column.kind == "number"]


def texts_of(columns: Sequence[Column]) -> dict[str, tuple[str, ...]]:
    """Those that are taken as they are written, with their levels."""
    texts = (c for c in columns if isinstance(c, CategoryColumn) and c.is_text)
    return {c.name: c.levels for c in texts}
