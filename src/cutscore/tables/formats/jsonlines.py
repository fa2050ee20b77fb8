"""JSON lines: one object a line. A key that a line lacks is a missing value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson

from cutscore.core.errors import DataError
from cutscore.core.findings import Finding
from cutscore.core.findings.tables import LineInvalid, TypesDiffer
from cutscore.tables import parts
from cutscore.tables.literals import EXACT
from cutscore.tables.parts import (
    BATCH,
    File,
    Format,
    Part,
    Style,
    common_type,
    empty_file,
    first_line,
    inexact,
    is_text,
    kind_of,
    long_line,
    row_of,
)


class JsonPart(Part):
    """JSON lines: one object a line. A key that a line lacks is a missing value."""

    def __init__(self, file: File, style: Style) -> None:  # noqa: ARG002
        super().__init__(file.path, file.where)
        self._file = file
        self._found: dict[str, pa.DataType] = {}
        long: dict[str, tuple[int, int]] = {}
        small: list[pa.Table] = []
        for row, block in self._blocks():
            table = self._parse(block, row, None)
            if file.is_small:
                small.append(table)
            for field, column in zip(table.schema, table.columns, strict=True):
                self._join(field)
                if field.name not in long and _may_be_inexact(column):
                    long |= _first_inexact(block, row, field.name)
        if not self._found:
            raise empty_file(self.where)
        self._whole = small[0] if len(small) == 1 else None
        for name, (row, value) in long.items():
            if pa.types.is_floating(self._found[name]):
                raise inexact(value, name, row_of(self.where)(row))

    def _join(self, field: pa.Field) -> None:
        old = self._found.get(field.name, pa.null())
        joined = common_type(old, field.type)
        if joined is None and all(
            is_text(t) or pa.types.is_timestamp(t) for t in (old, field.type)
        ):
            joined = pa.string()  # text, some of which reads like a date
        if joined is None:
            kinds = kind_of(old), kind_of(field.type)
            raise DataError(TypesDiffer(field.name, kinds, where=self.at))
        self._found[field.name] = joined

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, a few megabytes at a time, with the number of the first."""
        row, rest = 0, b""
        with self.guard():
            file = self._file.stream()
        with file:
            while True:
                with self.guard():
                    piece = file.read(parts.BLOCK)
                if not row and not rest and piece.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
                    raise DataError(LineInvalid("jsonl", "an array", where=self.at))
                if len(rest) > parts.BLOCK:
                    raise long_line(self.where)
                whole, end, tail = (rest + piece).rpartition(b"\n")
                if not piece:
                    whole, end, tail = whole + end + tail, b"", b""
                if whole.strip():
                    yield row, whole + end
                row += whole.count(b"\n") + (1 if end else 0)
                rest = tail
                if not piece:
                    return

    def _parse(self, block: bytes, row: int, schema: pa.Schema | None) -> pa.Table:
        self._row = row
        odd = "infer" if schema is None else "ignore"
        if _depth(block) > _DEEPEST:
            raise DataError(LineInvalid("jsonl", "it is nested too deeply", where=self.at))
        with self.guard():
            table = pajson.read_json(
                pa.BufferReader(block),
                read_options=pajson.ReadOptions(block_size=len(block) + 1),
                parse_options=pajson.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior=odd
                ),
            )
            table.validate(full=True)
            _ = table.column_names  # which must be UTF-8, too
            return table

    @property
    def names(self) -> list[str]:
        return list(self._found)

    def can_be_text(self, name: str) -> bool:
        # Text that reads like a date is one to pyarrow.
        return bool(pa.types.is_timestamp(self._found[name]))

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([pa.field(name, self._found[name]) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        if self._whole is not None and schema.equals(self.schema(columns)):
            yield from self._whole.select(list(columns)).to_batches(BATCH)
            return
        for row, block in self._blocks():
            table = self._parse(block, row, schema).select(list(columns))
            yield from table.to_batches(BATCH)

    def explain(self, error: Exception) -> Finding:
        if isinstance(error, UnicodeError):
            return super().explain(error)
        return LineInvalid("jsonl", first_line(error), where=self.at)


# Where pyarrow recurses, the stack ends it; no table is nested so deeply.
_DEEPEST = 100
_BRACKETS = b'"[]{}'
_OTHERS = bytes(set(range(256)) - set(_BRACKETS))
_STEP = np.zeros(256, np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1


def _depth(block: bytes) -> int:
    """How deeply the values of some lines are nested; brackets in a text don't count."""
    bare = block.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
    found = np.frombuffer(bare, np.uint8)
    outside = ~np.logical_xor.accumulate(found == ord('"'))
    return int(np.cumsum(_STEP[found[outside]]).max(initial=0))


def _may_be_inexact(column: pa.Array) -> bool:
    """Whether some number is so large that floats don't tell it from its neighbours."""
    t = column.type
    if not (pa.types.is_integer(t) or pa.types.is_floating(t)):
        return False
    ends = pc.min_max(column)
    return any(x is not None and abs(x) >= EXACT for x in ends.as_py().values())


def _first_inexact(block: bytes, row: int, name: str) -> dict[str, tuple[int, Any]]:
    """The first whole number that is too long for a float, by the column it is in."""
    text, decoder, at = block.decode("utf-8-sig", "replace"), json.JSONDecoder(), 0
    while start := re.compile(r"\S").search(text, at):
        try:
            found, at = decoder.raw_decode(text, start.start())
        except ValueError:
            break
        value = found.get(name)
        if isinstance(value, int) and abs(value) > EXACT:
            return {name: (row, value)}
        row += 1
    return {}


class JsonWriter:
    """One object a line; what is no number is null, as JSON has no NaN."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:  # noqa: ARG002
        self.file = file

    def __enter__(self) -> JsonWriter:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write some more rows."""
        columns = [_plain(_values(column)) for column in batch.columns]
        names = batch.schema.names
        lines = [
            json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
            for row in zip(*columns, strict=True)
        ]
        if lines:
            self.file.write(("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))


def _values(column: pa.Array) -> list[Any]:
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError):  # dates that Python has not
        return list(column.cast(pa.string()).to_pylist())


def _plain(values: list[Any]) -> list[Any]:
    return [v if v is None or isinstance(v, (str, int)) else _valued(v) for v in values]


def _valued(value: object) -> Any:
    """A value as JSON has it: decimals are numbers, dates are text."""
    if isinstance(value, (float, Decimal)):
        return float(value) if math.isfinite(value) else None
    return str(value)


def _fits(start: bytes) -> bool:
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


JSONL = Format("jsonl", ("jsonl", "ndjson", "json"), _fits, JsonPart, JsonWriter, is_text=True)
