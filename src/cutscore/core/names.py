"""Names in messages: of files in full, of missing columns with those that may be meant, and in SQL.
And the columns that nobody named."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cutscore.core.errors import DataError
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import ColumnMissing


def quote_if_spaced(name: object) -> str:
    """A name as it is if it is one word, else in quotes: "is fraud" within a sentence misleads.

    Examples
    --------
    >>> from cutscore.core.names import quote_if_spaced
    >>> print(quote_if_spaced("fraud"), quote_if_spaced("is fraud"))
    fraud 'is fraud'
    """
    text = str(name)
    return text if text and not any(c.isspace() for c in text) else shown(text)


def missing_column_error(name: object, names: Sequence[str], where: str) -> DataError:
    """The error for a column that is not there, with the nearest names."""
    return DataError(ColumnMissing(name, where, tuple(names)))


def quote_sql(name: str) -> str:
    """A column as it is written in a query: quotes tell it from words of SQL.

    Examples
    --------
    >>> from cutscore.core.names import quote_sql
    >>> print(quote_sql("is fraud"))
    "is fraud"
    """
    return '"' + name.replace('"', '""') + '"'


def data_columns(schema: Any) -> list[str]:
    """The columns of an Arrow schema without the index of a pandas frame, if it has no name: that
    counts the rows of a frame that these were taken from.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> from cutscore.core.names import data_columns
    >>> frame = pd.DataFrame({"x": [1, 2, 3]})
    >>> data_columns(pa.table(frame[frame.x > 1]).schema)
    ['x']
    """
    names = list(schema.names)
    stored = (schema.metadata or {}).get(b"pandas")
    if stored is None:
        return names
    try:
        index = json.loads(stored)["index_columns"]
        unnamed = {n for n in index if isinstance(n, str) and re.fullmatch(_UNNAMED, n)}
    except (ValueError, TypeError, KeyError, RecursionError):
        return names
    return [name for name in names if name not in unnamed]


# As pandas and pyarrow call it.
_UNNAMED = r"__index_level_\d+__"
