"""Formats of tables, by the names that people give them and by extensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cutscore._check import shown
from cutscore.errors import DataError

# The first name of each is its own; extensions are the names with a dot.
_NAMES = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "libsvm": ("libsvm", "svm", "svmlight"),
}
READ = tuple(_NAMES)
WRITTEN = READ[:-1]
EXTENSIONS = {f".{name}": kind for kind, names in _NAMES.items() for name in names}


def format_named(format: Any, among: Sequence[str]) -> str:
    """The format of that name, which must be one of some."""
    name = format.lower().lstrip(".") if isinstance(format, str) else ""
    kind = EXTENSIONS.get(f".{name}")
    if kind is None or kind not in among:
        raise DataError(f"format must be one of {', '.join(among)}; it is {shown(format)}.")
    return kind
