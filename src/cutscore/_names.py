"""Names in messages: of files in full, of missing columns with those that may be meant, and in SQL.
And the columns that nobody named."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from cutscore._check import shown
from cutscore.errors import DataError


def spelled(path: Any) -> str:
    """A path in full, on one line: what can't be printed is escaped."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def worded(name: Any) -> str:
    """A name as it is if it is one word, else in quotes: "is fraud" within a sentence misleads.

    Examples
    --------
    >>> from cutscore._names import worded
    >>> print(worded("fraud"), worded("is fraud"))
    fraud 'is fraud'
    """
    text = str(name)
    return text if text and not any(c.isspace() for c in text) else shown(text)


def no_column(name: Any, names: Sequence[str], where: str) -> DataError:
    """The error for a column that is not there, with the nearest names."""
    parts = [part.strip() for part in name.split(",")] if isinstance(name, str) else []
    found = [part for part in parts if part in names]
    if len(parts) > 1 and found:
        return DataError(
            f"{where} has no column {shown(name)}, but {' and '.join(map(shown, found[:2]))}"
            f"{', …' if len(found) > 2 else ''}. Commas don't separate names: give the option for "
            "each, in Python a list."
        )
    known = {n.casefold(): n for n in reversed(names)}
    text = name if isinstance(name, str) else ""
    near = [known[k] for k in get_close_matches(text[:200].casefold(), list(known), 3, 0.6)]
    if near:
        hint = f"Did you mean {' or '.join(map(shown, near))}?"
    else:
        some = ", ".join(map(shown, names[:8]))
        hint = f"It has {some}" + (f", … ({len(names):,} in all)." if len(names) > 8 else ".")
    return DataError(f"{where} has no column {shown(name)}. {hint}")


def in_sql(name: str) -> str:
    """A column as it is written in a query: quotes tell it from words of SQL.

    Examples
    --------
    >>> from cutscore._names import in_sql
    >>> print(in_sql("is fraud"))
    "is fraud"
    """
    return '"' + name.replace('"', '""') + '"'


def named_columns(schema: Any) -> list[str]:
    """The columns of an Arrow schema without the index of a pandas frame, if it has no name: that
    counts the rows of a frame that these were taken from.

    Examples
    --------
    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> from cutscore._names import named_columns
    >>> frame = pd.DataFrame({"x": [1, 2, 3]})
    >>> named_columns(pa.table(frame[frame.x > 1]).schema)
    ['x']
    """
    names = list(schema.names)
    stored = (schema.metadata or {}).get(b"pandas")
    if stored is None:
        return names
    try:
        index = json.loads(stored)["index_columns"]
        unnamed = {n for n in index if isinstance(n, str) and re.fullmatch(_UNNAMED, n)}
    except (ValueError, TypeError, KeyError):
        return names
    return [name for name in names if name not in unnamed]


# As pandas and pyarrow call it.
_UNNAMED = r"__index_level_\d+__"
