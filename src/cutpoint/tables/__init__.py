"""Tables in files: many formats, one stream of typed columns, and errors in one sentence."""

from __future__ import annotations

from cutpoint.tables.opening import open_table
from cutpoint.tables.source import Source
from cutpoint.tables.writing import write_table

__all__ = ["Source", "open_table", "write_table"]
