"""What tasks do with columns: Arrow in, NumPy out, and errors that say where the rows are."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore.core.checks import check_rows
from cutscore.core.errors import DataError
from cutscore.core.findings import Where
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import PositiveUnknown, TooManyLabels, ValueUnfit
from cutscore.tables.parts import filled, is_text, kind_of, plain, row_of

Array = NDArray[Any]

_T = TypeVar("_T")


class Columns(NamedTuple):
    """What columns are called, and which label is the positive one."""

    label: str
    score: str
    weight: str | None = None
    group: str | None = None
    positive: Any = None

    @property
    def names(self) -> list[str]:
        """Those to be read, each once."""
        named = (self.label, self.score, self.weight, self.group)
        return list(dict.fromkeys(name for name in named if name is not None))


class Located(NamedTuple):
    """A batch, and the place that its rows come from."""

    batch: pa.RecordBatch
    where: str


class Piece(NamedTuple):
    """Rows of a chunk that come from one place, the first of them its row ``first``."""

    rows: int
    where: str
    first: int

    def __str__(self) -> str:
        return self.where if not self.first else f"{self.where}, starting at row {self.first + 1:,}"


@dataclass(frozen=True)
class Chunk:
    """Columns of some rows that follow each other, and the places where they come from."""

    columns: dict[str, Array]
    pieces: list[Piece]

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    def locate_errors(self, read: Callable[[dict[str, Array]], _T]) -> _T:
        """What is read from the columns; an error names the place of the rows that it is about."""
        try:
            return read(self.columns)
        except DataError as error:
            whole = error
        start = 0
        for piece in self.pieces:
            at = slice(start, start + piece.rows)
            start += piece.rows
            try:
                read({name: column[at] for name, column in self.columns.items()})
            except DataError as error:
                raise DataError(error.finding.at(part=str(piece))) from None
        # Each place is fine by itself; two of them differ.
        part = f"{self.pieces[0]} to {self.pieces[-1]}"
        raise DataError(whole.finding.at(part=part))


def chunks(
    batches: Iterable[Located], names: Sequence[str], texts: Sequence[str], size: int
) -> Iterator[Chunk]:
    """Batches put together to about so many rows each.

    Columns in ``texts`` may hold text or dates, that is anything hashable; all others
    hold numbers.
    """
    held: list[dict[str, Array]] = []
    pieces: list[Piece] = []
    rows, last, seen = 0, "", 0
    for batch, where in batches:
        n = batch.num_rows
        if not n:
            continue
        seen = seen if where == last else 0
        held.append(
            {
                name: _as_numpy(batch.column(name), name, where, seen, name in texts)
                for name in names
            }
        )
        if pieces and pieces[-1].where == where:
            pieces[-1] = pieces[-1]._replace(rows=pieces[-1].rows + n)
        else:
            pieces.append(Piece(n, where, seen))
        rows, last, seen = rows + n, where, seen + n
        if rows >= size:
            yield _concatenate(held, pieces, names)
            held, pieces, rows = [], [], 0
    if rows:
        yield _concatenate(held, pieces, names)


def _concatenate(held: list[dict[str, Array]], pieces: list[Piece], names: Sequence[str]) -> Chunk:
    if len(held) == 1:
        return Chunk(held[0], pieces)
    return Chunk({name: np.concatenate([h[name] for h in held]) for name in names}, pieces)


def _as_numpy(column: pa.Array, name: str, where: str, first: int, text: bool) -> Array:
    """A column as NumPy has it. No value may be missing."""
    column = plain(filled(column, name, row_of(where, first)))
    t = column.type
    number = pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_boolean(t)
    if not number and not (text and (is_text(t) or pa.types.is_temporal(t))):
        hint = "Convert it, or use another column."
        place = Where(column=name, part=where)
        raise DataError(ValueUnfit(shown(name), type=kind_of(t), hint=hint, where=place))
    out: Array = column.to_numpy(zero_copy_only=False)
    return out


class Labels(NamedTuple):
    """Labels as the core reads them."""

    y: Array
    positive: Any
    other: str | None
    """The other label, as JSON; None if no row has another."""


def encode_labels(y: Array, positive: Hashable) -> Labels:
    """The labels of a chunk, which may lack either of the two. That all chunks have the same ones
    is seen where they meet: :func:`one_other`."""
    if y.dtype.kind == "O":
        return _encode_text(y, positive)
    if positive is not None and (y.dtype.kind != "f" or not np.isnan(y).any()):
        # One against the rest; a chunk may lack it.
        return Labels(_encode_numbers(y, positive), None, None)
    one = 1 if positive is None else positive
    try:
        hit = np.asarray(y == one)
    except (TypeError, OverflowError):  # no number, which the border will say
        hit = np.ones(len(y), np.bool_)
    if hit.ndim != 1 or hit.all():
        return Labels(y, positive, None)
    other = y[int(hit.argmin())]
    return Labels(y, positive, json.dumps(other.item() if y.dtype.kind in "biuf" else str(other)))


def _encode_text(y: Array, positive: Hashable) -> Labels:
    """Text as 0/1, by way of its few different values."""
    coded = pa.array(y).dictionary_encode()
    seen = np.array(coded.dictionary.to_pylist(), object)
    if positive is None:
        code = check_rows(seen, np.zeros(len(seen)), None, None).label
    else:
        code = np.array([value == positive for value in seen], np.uint8)
        return Labels(code[coded.indices.to_numpy()], None, None)
    others = [value for value, hit in zip(seen.tolist(), code, strict=True) if not hit]
    return Labels(code[coded.indices.to_numpy()], None, json.dumps(others[0]) if others else None)


def _encode_numbers(y: Array, positive: Hashable) -> Array:
    try:
        return np.asarray(y == positive).astype(np.uint8)
    except (TypeError, OverflowError):
        raise DataError(PositiveUnknown(positive, kind="numbers")) from None


def one_other(found: Iterable[str | None], name: str) -> None:
    """Raise if the labels besides the positive one, which goes without saying, are several."""
    others = sorted({json.loads(other) for other in found if other is not None}, key=str)
    if len(others) > 1:
        place = Where(column=name)
        raise DataError(TooManyLabels((1, *others), others[1], where=place))
