"""Tables in files: many formats, one stream of typed columns, and errors in one sentence."""

from __future__ import annotations

from cutscore.tables.files import open_table
from cutscore.tables.table import Table
from cutscore.tables.writer import write_table

__all__ = ["Table", "open_table", "write_table"]
