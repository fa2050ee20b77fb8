"""Names in messages: of files in full, of missing columns with those that may be meant."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from cutpoint._check import shown
from cutpoint.errors import DataError


def spelled(path: Any) -> str:
    """A path in full, on one line: what can't be printed is escaped."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def worded(name: Any) -> str:
    """A name as it is if it is one word, else in quotes: "is fraud" within a sentence misleads.

    Examples
    --------
    >>> from cutpoint._names import worded
    >>> print(worded("fraud"), worded("is fraud"))
    fraud 'is fraud'
    """
    text = str(name)
    return text if text and not any(c.isspace() for c in text) else shown(text)


def no_column(name: Any, names: Sequence[str], where: str) -> DataError:
    """The error for a column that is not there, with the nearest names."""
    known = {n.casefold(): n for n in reversed(names)}
    text = name if isinstance(name, str) else ""
    near = [known[k] for k in get_close_matches(text[:200].casefold(), list(known), 3, 0.6)]
    if near:
        hint = f"Did you mean {' or '.join(map(shown, near))}?"
    else:
        some = ", ".join(map(shown, names[:8]))
        hint = f"It has {some}" + (f", … ({len(names):,} in all)." if len(names) > 8 else ".")
    return DataError(f"{where} has no column {shown(name)}. {hint}")
