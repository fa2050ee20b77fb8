"""Tables in memory, of whatever library: at the border they become one type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Shown, Where, shown
from cutscore.core.findings.rows import ValueMissing, ValueUnfit
from cutscore.core.findings.tables import NamesRepeat
from cutscore.core.names import data_columns, missing_column_error
from cutscore.core.types import FrameLike
from cutscore.tables.table import Table

_BATCH = 1 << 16


class Frame:
    """A table in memory, read as a :class:`cutscore.tables.Table` is; made by :func:`as_table`.

    Its columns have types of their own, whatever anybody says that they are.
    """

    def __init__(self, table: pa.Table | pa.RecordBatch) -> None:
        self.table = table

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types."""
        return self.table.schema

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def coded(self, names: Collection[str]) -> set[str]:  # noqa: ARG002
        """No column is text for the zeros in front of its numbers."""
        return set()

    def batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        numbers: Sequence[str] = (),  # noqa: ARG002
        texts: Collection[str] | None = None,  # noqa: ARG002
    ) -> Iterator[pa.RecordBatch]:
        """All rows, some at a time; only these columns, if they are named."""
        table = self.table
        if columns is not None:
            for name in columns:
                self._check(name)
            table = table.select(list(columns))
        if isinstance(table, pa.RecordBatch):
            yield table
        else:
            yield from table.to_batches(_BATCH)

    def columns(
        self, names: Sequence[str], *, numbers: Sequence[str] = ()
    ) -> dict[str, NDArray[Any]]:
        """Columns as NumPy arrays, none of whose values is missing."""
        return {name: self._column(name, number=name in numbers) for name in names}

    def _column(self, name: str, *, number: bool) -> NDArray[Any]:
        self._check(name)
        column = self.table.column(name)
        # A weight that is NaN has a finding of its own.
        missing = np.asarray(column.is_null(nan_is_null=not number))
        if missing.any():
            raise DataError(ValueMissing(name, where=Where(int(missing.argmax()), column=name)))
        out = np.asarray(column.to_numpy(zero_copy_only=False))
        if number and out.dtype.kind not in "biuf":
            place = Where(0, column=name)
            raise DataError(ValueUnfit(shown(name), out[0], wanted="numbers", where=place))
        return out

    def _check(self, name: str) -> None:
        if name not in self.table.schema.names:
            raise missing_column_error(name, self.table.schema.names, "the table")


TableLike: TypeAlias = Table | Frame | FrameLike
"""A table of files, or one in memory: of pandas, polars or Arrow, or columns by name."""


def as_table(data: TableLike) -> Table | Frame:
    """A table of files as it is; anything else that is a table in memory as a :class:`Frame`.

    Parameters
    ----------
    data : Table, pyarrow.Table, pyarrow.RecordBatch, DataFrame of pandas or polars, or mapping
        What users hand in as a table.

    Examples
    --------
    >>> from cutscore.tables.frames import as_table
    >>> as_table({"age": [30, 40]}).schema.names
    ['age']
    """
    return data if isinstance(data, (Table, Frame)) else Frame(_arrow(data))


def _arrow(data: FrameLike) -> pa.Table | pa.RecordBatch:
    """A table of pyarrow, or one of its batches; without the index of a pandas frame that has no
    name."""
    if isinstance(data, (pa.Table, pa.RecordBatch)):
        table = data
    elif hasattr(data, "to_frame") and hasattr(data, "name"):
        hint = "For one row of a frame use frame.iloc[[0]], for one column frame[['name']]."
        raise _not_a_table(Shown(f"a {type(data).__name__}"), hint)
    elif isinstance(data, Mapping) or hasattr(data, "__arrow_c_stream__"):
        try:
            table = pa.table(dict(data) if isinstance(data, Mapping) else data)
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise _not_a_table(..., f"Arrow says: {str(error).splitlines()[0]}") from error
    else:
        lazy = type(data).__name__ == "LazyFrame"
        hint = "Call collect() first." if lazy else ""
        raise _not_a_table(data, hint)
    names = table.schema.names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(NamesRepeat(twice, twice))
    used = data_columns(table.schema)
    return table if len(used) == len(names) else table.select(used)


def _not_a_table(value: object, hint: str) -> DataError:
    rule = (
        "be one of cutscore.tables, pyarrow, pandas or polars, or a mapping from names to columns "
        "of one length"
    )
    return DataError(BadArgument("table", rule, value, hint, "a table"))
