"""Tables in files: many formats, one stream of typed columns, and errors in one sentence."""

from __future__ import annotations

from cutscore.tables.opening import open_table
from cutscore.tables.source import Source
from cutscore.tables.writing import write_table

__all__ = ["Source", "open_table", "write_table"]
