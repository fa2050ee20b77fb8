"""CSV and its relatives, and JSON lines. Types are found such that every row fits."""

from __future__ import annotations

import csv as python_csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.json as pajson

from cutscore._check import shown
from cutscore._written import EUROPEAN, EXACT, MISSING, parsed, unmarked
from cutscore.errors import DataError
from cutscore.tables.digits import (
    Codes,
    Commas,
    Grouped,
    Pointed,
    has_empty_quotes,
    may_hold_codes,
    pointed,
)
from cutscore.tables.parts import BATCH, Part, check_names, common_type, first_line, is_text, row_of

# Bytes that are parsed at a time. Types of a file of one block are known after one look.
_BLOCK = 1 << 23

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}


def compression_of(start: bytes) -> str | None:
    """How a file that starts like this is compressed."""
    return next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)


def open_bytes(path: str) -> Any:
    """The bytes of a file, decompressed if need be."""
    with open(path, "rb") as file:
        packed = compression_of(file.read(4))
    return pa.input_stream(path, compression=packed)


def _lines(path: str) -> Iterator[bytes]:
    with open_bytes(path) as file:
        yield from io.BufferedReader(file)


def _bare(line: bytes) -> str:
    """A line without what is in quotes."""
    return re.sub(r'"[^"]*"', "", line.decode("utf-8", "replace"))


# What a column becomes when a row does not fit, in the order in which a file's types are tried.
_WIDER: dict[str, list[pa.DataType]] = {
    "null": [
        pa.int64(),
        pa.bool_(),
        pa.date32(),
        pa.timestamp("s"),
        pa.timestamp("ns"),
        pa.float64(),
        pa.string(),
    ],
    "int64": [pa.float64(), pa.string()],
    "date32[day]": [pa.timestamp("s"), pa.timestamp("ns"), pa.string()],
    "timestamp[s]": [pa.timestamp("ns"), pa.string()],
}


_SEPARATORS = ",;\t|"

# What Excel takes from a first line, which is no row: the separator.
_SAID = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([\x01-\x7f])"?\r?\n?', re.IGNORECASE)

# What to do about a line above the names.
_UNTITLED = "Delete what is above the names of the columns."

# What pyarrow takes numbers for.
NUMBERS = (pa.int64(), pa.float64())


# What may keep Python from reading a file once more, for a message; and from which row on it is not
# asked to, as that takes a second.
_ODD = (pa.ArrowException, OSError, python_csv.Error)
_FAR = 1_000_000


class CsvPart(Part):
    """A CSV or TSV file, possibly compressed.

    NA, N/A, NaN and null without quotes are missing values, in text as in numbers. So are nothing
    and what ``missing`` names, in quotes too. What would lose digits as a number is text.
    """

    def __init__(  # noqa: PLR0913 - how to read a file has many sides
        self,
        path: str,
        shown_as: str | None = None,
        *,
        separator: str | None = None,
        header: bool | None = None,
        decimal: str = ".",
        missing: tuple[str, ...] = (),
    ) -> None:
        super().__init__(path, shown_as)
        self.decimal = decimal
        self.missing = missing
        with self.guard():
            said = _SAID.fullmatch(next(_lines(self.path), b""))
            self.skip = 1 if said else 0
            """How many lines are above that of the names."""
            own = said[1].decode() if said else None
            self.separator = separator or own or self._find_separator()
            self.header = header is not False
            # The types of the first block, with names as they are in the file.
            first = self._stream().schema
            self._raw = list(first.names)
        self._first = list(first.types)
        self._names = self._named(header)
        self._at = {name: k for k, name in enumerate(self._names)}
        self._types: dict[str, pa.DataType] = {}
        self.codes: set[str] = set()
        """Columns that are text although each value could be a number: see :meth:`_decide`."""
        self.commas: set[str] = set()
        """Columns of numbers with decimal commas, or with thousands, which are text to pyarrow."""
        self.marked: set[str] = set()
        """Columns of numbers that are text to pyarrow for marks of missing values in quotes."""
        with self.guard():
            self._small = os.path.getsize(path) < _BLOCK and not self._packed()

    def _packed(self) -> bool:
        with open(self.path, "rb") as file:
            return compression_of(file.read(4)) is not None

    def _find_separator(self) -> str:
        bare = _bare(next(_lines(self.path), b""))
        counts = {c: bare.count(c) for c in _SEPARATORS}
        # A decimal comma separates columns only where nothing else does.
        if self.decimal == "," and (sum(counts.values()) > counts[","] or not counts[","]):
            del counts[","]
        best = max(counts, key=lambda c: counts[c])  # the comma, of several
        if best != "," and counts[best]:
            self.notes.append(f"{self.where} is read with {shown(best)} between its columns.")
        return best

    def if_alone(self, names: Sequence[str]) -> str:
        """A sentence, if there is only one name and the line of names seems to be another, or to
        have another separator in it."""
        if len(names) != 1:
            return ""
        other = next((c for c in _SEPARATORS if c != self.separator and c in names[0]), None)
        if other is None:
            with self.guard():
                lines = enumerate(_lines(self.path))
                below = (line for k, line in lines if k > self.skip and line.strip())
                line = _bare(next(below, b""))
            title = f"Line {self.skip + 1} looks like a title, {shown(names[0])}. {_UNTITLED}"
            return title if any(c in line for c in _SEPARATORS) else ""
        return (
            f"It is read with {shown(self.separator)} between its columns; {shown(other)} may be "
            "what separates them: --separator."
        )

    def _named(self, header: bool | None) -> list[str]:
        if not self.header:
            return [f"c{k}" for k in range(1, len(self._raw) + 1)]
        hint = " If the first line holds values, say header=False."
        if header is None:
            value = next((name for name in self._raw if _is_value(name, self.decimal)), None)
            if value is not None:
                raise DataError(
                    f"the first line of {self.where} must hold the names of its columns; "
                    f"{shown(value)} looks like a value. Say header=False if there are no names, "
                    "header=True if that is one."
                )
        names = [name if name.strip() else f"column {k}" for k, name in enumerate(self._raw, 1)]
        new = [name for name, raw in zip(names, self._raw, strict=True) if not raw.strip()]
        if len(new) == len(names) - 1 > 1 and names[0] == self._raw[0]:
            self.notes.append(
                f"line {self.skip + 1} of {self.where} looks like a title, {shown(names[0])}: the "
                f"other columns have no name there. {_UNTITLED}"
            )
        elif new:
            have, are = ("has", "is") if len(new) == 1 else ("have", "are")
            called = ", ".join(map(repr, new[:4])) + (", …" if len(new) > 4 else "")
            what = new[0] if len(new) == 1 else f"{len(new)} columns"
            self.notes.append(f"{what} of {self.where} {have} no name and {are} called {called}.")
        check_names(names, self.where, hint)
        return names

    @property
    def names(self) -> list[str]:
        return list(self._names)

    def _options(
        self, columns: Sequence[str] | None, types: Mapping[str, pa.DataType]
    ) -> dict[str, Any]:
        convert: dict[str, Any] = {
            "null_values": (*MISSING, *self.missing),
            "strings_can_be_null": True,
            "quoted_strings_can_be_null": False,
            "decimal_point": self.decimal,
        }
        if columns is not None:
            raw = [self._raw[self._at[name]] for name in columns]
            convert["include_columns"] = raw
            # Numbers that pyarrow can't read are read as text, and converted then.
            convert["column_types"] = {
                r: pa.string() if name in self._as_text else types[name]
                for r, name in zip(raw, columns, strict=True)
                if name in types
            }
        return {
            "read_options": pacsv.ReadOptions(
                block_size=_BLOCK,
                skip_rows=self.skip,
                autogenerate_column_names=not self.header,
            ),
            "parse_options": pacsv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
            "convert_options": pacsv.ConvertOptions(**convert),
        }

    @property
    def _as_text(self) -> set[str]:
        """Columns of numbers that are read as text, and converted then."""
        return self.commas | self.marked

    def _stream(
        self, columns: Sequence[str] | None = None, types: Mapping[str, pa.DataType] | None = None
    ) -> Any:
        return pacsv.open_csv(open_bytes(self.path), **self._options(columns, types or {}))

    def can_be_text(self, name: str) -> bool:  # noqa: ARG002
        return True

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        new = {n: self._first[self._at[n]] for n in columns if n not in self._types}
        if new:
            self._decide(new if self._small else self._settled(new))
        fields = [pa.field(name, self._types[name]) for name in columns]
        for field in fields:
            self._check_text(field.type)
        return pa.schema(fields)

    def _settled(self, started: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
        """Types that all rows fit, by a pass over the file: one more for each that has to widen."""
        types = dict(started)
        while True:
            try:
                with self.guard():
                    for _ in self._stream(list(types), types):
                        pass
                return types
            except DataError as error:
                if not self._widen(types, started, str(error.__cause__)):
                    raise

    def _widen(
        self, types: dict[str, pa.DataType], started: Mapping[str, pa.DataType], message: str
    ) -> bool:
        found = re.match(r"In CSV column #(\d+): .*CSV conversion error", message, re.DOTALL)
        if not found:
            return False
        name = self._names[int(found[1])]
        ladder = _WIDER.get(str(started.get(name)), [pa.string()])
        now = types.get(name)
        at = ladder.index(now) + 1 if now in ladder else 0
        if name not in started or at >= len(ladder):
            return False
        types[name] = ladder[at]
        return True

    def _decide(self, types: Mapping[str, pa.DataType]) -> None:
        """Take these types, which all rows fit, but for codes and for decimal commas.

        A column with 007 in it is text, and so is one of whole numbers that are too long: as
        numbers, different ones would become the same. It takes one such value, wherever it is.
        """
        codes = {
            name: Codes(exact=t == pa.int64())
            for name, t in types.items()
            if t in NUMBERS and self._may_hold_codes
        }
        texts = [name for name, t in types.items() if is_text(t)]
        points = {name: Pointed() for name in texts if self.marks and self.decimal == "."}
        self._look(points)
        marked = {name: looked.type for name, looked in points.items() if looked.found}
        commas: dict[str, Commas | Grouped] = {
            name: Grouped() if self.decimal == "," else Commas()
            for name in texts
            if name not in marked and (self.decimal == "," or self.separator != ",")
        }
        self._look({**codes, **commas})
        self.marked |= set(marked)
        found = {name: looked for name, looked in commas.items() if looked.found}
        self._types |= {**types, **marked, **{n: looked.type for n, looked in found.items()}}
        self.commas |= set(found)
        long = {name for name, looked in found.items() if looked.long}
        self.add_codes(long.union(name for name, looked in codes.items() if looked.found))
        self.inexact |= {
            name: looked.inexact
            for name, looked in (*codes.items(), *found.items())
            if looked.inexact is not None and self._types[name] == pa.float64()
        }

    @cached_property
    def _may_hold_codes(self) -> bool:
        with self.guard(), open_bytes(self.path) as file:
            return may_hold_codes(file, self.separator)

    def _look(self, looked: Mapping[str, Codes | Pointed | Commas | Grouped]) -> None:
        """Read these columns as text until nothing more can be learned of them."""
        names, left = list(looked), dict(looked)
        if not left:
            return
        with self.guard():
            stream = self._stream(names, dict.fromkeys(names, pa.string()))
        for batch in self.guarded(stream):
            for name, column in zip(names, batch.columns, strict=True):
                if name in left and not left[name].add(self._unmarked(column)):
                    del left[name]
            if not left:
                return

    def add_codes(self, names: Collection[str]) -> bool:
        """Take these columns for codes if they are numbers, and say whether any is."""
        new = {name for name in names if self._types[name] in NUMBERS}
        self.codes |= new
        self.commas -= new
        self.marked -= new
        self._types |= dict.fromkeys(new, pa.string())
        return bool(new)

    @property
    def with_commas(self) -> set[str]:
        """Columns of numbers that may have decimal commas, for those who read the file again."""
        return set(self._types) - self.codes if self.decimal == "," else self.commas

    def has_numbers(self, name: str) -> bool:
        """Whether every value of a column can be read as a number, codes included."""
        return name in self.codes or not is_text(self._types[name])

    def _check_text(self, t: pa.DataType) -> None:
        if pa.types.is_binary(t):
            raise DataError(self._not_utf8())

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        types = dict(zip(schema.names, schema.types, strict=True))
        with self.guard():
            stream = self._stream(columns, types)
        for batch in self.guarded(stream):
            arrays = self._pointed(batch.columns, types)
            named = pa.RecordBatch.from_arrays(arrays, schema=schema)
            for start in range(0, named.num_rows, BATCH):
                yield named.slice(start, BATCH)

    def _pointed(self, arrays: Sequence[Any], types: Mapping[str, pa.DataType]) -> list[Any]:
        """Columns with decimal commas as numbers, and marks of missing values as such."""
        at = row_of(self.where)
        return [
            self.number(array, t, name, at) if is_text(array.type) and t in NUMBERS else array
            for (name, t), array in zip(types.items(), map(self._unmarked, arrays), strict=True)
        ]

    def _unmarked(self, column: Any) -> Any:
        """Without the marks that are in quotes: others pyarrow takes out."""
        return unmarked(column, self.marks) if self.marks and is_text(column.type) else column

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """What stands for a missing value in quotes too: what was said to, and nothing at all."""
        with self.guard(), open_bytes(self.path) as file:
            return (*([""] if has_empty_quotes(file) else []), *self.missing)

    def number(
        self,
        column: Any,
        t: pa.DataType,
        name: str,
        row_at: Callable[[int], str],
        *,
        exact: bool = False,
    ) -> Any:
        """Text that is known to be numbers, as numbers of a type; ``exact`` as :func:`parsed` has
        it."""
        text = pointed(column) if self.decimal == "," else pc.utf8_trim_whitespace(column)
        return text.cast(t) if t == pa.int64() else parsed(text, name, row_at, exact=exact)

    def read(self, columns: Sequence[str]) -> pa.Table:
        # Of a whole file pyarrow itself finds the types that every row fits.
        table = self._read(columns)
        found = dict(zip(columns, table.schema.types, strict=True))
        for t in found.values():
            self._check_text(t)
        self._decide({n: t for n, t in found.items() if n not in self._types})
        again = [n for n in columns if found[n] != self._types[n] and n not in self._as_text]
        if again:
            texts = self._read(again)
            for name in again:
                table = table.set_column(columns.index(name), name, texts.column(name))
        types = {name: self._types[name] for name in columns}
        return pa.table(self._pointed(table.columns, types), names=list(columns))

    def _read(self, columns: Sequence[str]) -> pa.Table:
        with self.guard():
            options = self._options(columns, self._types)
            return pacsv.read_csv(open_bytes(self.path), **options).rename_columns(list(columns))

    def explain(self, error: Exception) -> str:
        text = str(error)
        if "Empty CSV" in text:
            return f"{self.where} is empty. A table has a line of column names, then rows."
        if isinstance(error, UnicodeDecodeError) or "UTF8" in text:
            return self._not_utf8()
        if "Expected" in text and "columns, got" in text:
            return self._ragged(text)
        if "straddling" in text:
            return (
                f"{self.where} has a line of more than {_BLOCK >> 20} MB; perhaps a quote is never "
                "closed. Correct it."
            )
        return super().explain(error)

    def _not_utf8(self) -> str:
        line = 0
        with suppress(pa.ArrowException, OSError):
            for line, content in enumerate(_lines(self.path), 1):
                try:
                    content.decode("utf-8")
                except UnicodeDecodeError as bad:
                    return (
                        f"text must be UTF-8; line {line} of {self.where} has the byte "
                        f"0x{content[bad.start]:02x}, which is not. Convert it: iconv -f latin1 "
                        "-t utf-8."
                    )
        return f"text must be UTF-8; that of {self.where} is not. Convert it with iconv."

    @contextmanager
    def _lines_by_python(self) -> Iterator[Any]:
        """Python's own reader, which counts lines: from that of the names on."""
        with open_bytes(self.path) as file:
            lines = io.TextIOWrapper(
                io.BufferedReader(file), "utf-8-sig", errors="replace", newline=""
            )
            for _ in range(self.skip):
                next(lines)
            yield python_csv.reader(lines, delimiter=self.separator)

    def place(self, row: int) -> str:
        """The same with the line, which editors count by, if it is not too far down."""
        found = super().place(row)
        if row >= _FAR:
            return found
        with suppress(*_ODD), self._lines_by_python() as reader:
            left, before = row + self.header, 0
            for values in reader:
                if values and not left:
                    return f"{found} (line {before + self.skip + 1:,})"
                left, before = left - bool(values), reader.line_num
        return found

    def _ragged(self, text: str) -> str:
        """Which line has too many columns or too few; Python's own reader counts lines."""
        expected = len(self._raw) if hasattr(self, "_raw") else None
        first: list[str] = []
        with suppress(*_ODD), self._lines_by_python() as reader:
            for row in reader:
                first = first or row
                expected = len(row) if expected is None else expected
                if row and len(row) != expected:
                    line = reader.line_num + self.skip
                    below: list[str] = next(filter(None, reader), [])
                    way = self.if_alone(first)
                    if not way:
                        way = "Correct that line; a value with a separator in it needs quotes."
                        # A title with a separator in it, as "Sales, 2024".
                        if len(below) == len(row) > expected:
                            way += f" If line {self.skip + 1} is a title: {_UNTITLED.lower()}"
                    return (
                        f"every line must have as many columns as the first, {expected}; line "
                        f"{line} of {self.where} has {len(row)}. {way}"
                    )
        text = first_line(ValueError(text))
        return f"every line must have as many columns as the first; {self.where}: {text}."


def _is_value(name: str, decimal: str | None) -> bool:
    """Whether a name reads like a number, other than one that may count or date something."""
    if re.fullmatch(r"\s*\d+\s*", name):
        return False
    if decimal == ",":
        return bool(re.search(EUROPEAN, name))
    try:
        float(name)
    except ValueError:
        return False
    return True


class JsonPart(Part):
    """JSON lines: one object a line. A key that a line lacks is a missing value."""

    def __init__(self, path: str, shown_as: str | None = None) -> None:
        super().__init__(path, shown_as)
        self._found: dict[str, pa.DataType] = {}
        self._rows = 0
        long: dict[str, tuple[int, Any]] = {}
        for row, block in self._blocks():
            table = self._parsed(block, row, None)
            for field, column in zip(table.schema, table.columns, strict=True):
                self._join(field)
                if field.name not in long and _may_be_inexact(column):
                    long |= _first_inexact(block, row, field.name)
        if not self._found:
            raise DataError(f"{self.where} is empty. A table of JSON lines has one object a line.")
        self.inexact = {n: v for n, v in long.items() if pa.types.is_floating(self._found[n])}

    def _join(self, field: pa.Field) -> None:
        old = self._found.get(field.name, pa.null())
        joined = common_type(old, field.type)
        if joined is None and all(
            is_text(t) or pa.types.is_timestamp(t) for t in (old, field.type)
        ):
            joined = pa.string()  # text, some of which reads like a date
        if joined is None:
            raise DataError(
                f"a column must have one type; {shown(field.name)} of {self.where} is {old} and, "
                f"further down, {field.type}. Make it one."
            )
        self._found[field.name] = joined

    def _blocks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, a few megabytes at a time, with the number of the first."""
        row, rest = 0, b""
        with self.guard():
            file = open_bytes(self.path)
        with file:
            while True:
                with self.guard():
                    piece = file.read(_BLOCK)
                if not row and not rest and piece.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
                    raise DataError(
                        f"{self.where} holds one JSON array; JSON lines have one object a line. "
                        "Convert it: jq -c '.[]'."
                    )
                whole, end, tail = (rest + piece).rpartition(b"\n")
                if not piece:
                    whole, end, tail = whole + end + tail, b"", b""
                if whole.strip():
                    yield row, whole + end
                row += whole.count(b"\n") + (1 if end else 0)
                rest = tail
                if not piece:
                    return

    def _parsed(self, block: bytes, row: int, schema: pa.Schema | None) -> pa.Table:
        self._row = row
        odd = "infer" if schema is None else "ignore"
        with self.guard():
            return pajson.read_json(
                pa.BufferReader(block),
                read_options=pajson.ReadOptions(block_size=len(block) + 1),
                parse_options=pajson.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior=odd
                ),
            )

    @property
    def names(self) -> list[str]:
        return list(self._found)

    def can_be_text(self, name: str) -> bool:
        # Text that reads like a date is one to pyarrow.
        return bool(pa.types.is_timestamp(self._found[name]))

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([pa.field(name, self._found[name]) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for row, block in self._blocks():
            table = self._parsed(block, row, schema).select(list(columns))
            yield from table.to_batches(BATCH)

    def explain(self, error: Exception) -> str:
        text = first_line(error)
        found = re.search(r" in row (\d+)", text)
        if found:
            line = self._row + int(found[1]) + 1
            what = text.replace("JSON parse error: ", "").replace(found[0], "").rstrip(". ")
            return (
                f"every line of JSON lines must be one object, with values of one type a column; "
                f"line {line} of {self.where} is not: {what}. Correct that line."
            )
        return f"{self.where} can't be read as JSON lines: {text}."


def _may_be_inexact(column: Any) -> bool:
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


def text_file(path: str) -> IO[bytes]:
    """A compressed or plain file as Python reads it, line by line."""
    return io.BufferedReader(open_bytes(path))
