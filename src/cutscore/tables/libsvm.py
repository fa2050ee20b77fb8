"""The sparse format of LIBSVM: a label, then index:value for what is not 0, one row a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore.errors import DataError
from cutscore.tables.parts import BATCH, Part
from cutscore.tables.text import text_file

_BLOCK = 1 << 22
# No index is larger: column numbers of a sparse matrix are 32-bit integers.
_MOST = 2**31 - 2


class _Rows:
    """Some rows: labels, where each row starts, and its indices and values."""

    def __init__(self, label: Any, start: Any, index: Any, value: Any) -> None:
        self.label, self.start, self.index, self.value = label, start, index, value


class LibsvmPart(Part):
    """A libsvm file. Its columns are ``label`` and the indices, as text; what is absent is 0."""

    def __init__(self, path: str, shown_as: str | None = None) -> None:
        super().__init__(path, shown_as)
        self._low, self._high, rows = _MOST, -1, 0
        for block in self._rows():
            rows += len(block.label)
            if len(block.index):
                self._low = min(self._low, int(block.index.min()))
                self._high = max(self._high, int(block.index.max()))
        if not rows:
            raise DataError(f"{self.where} is empty. A libsvm file has one row a line.")

    @property
    def names(self) -> list[str]:
        return ["label", *map(str, range(self._low, self._high + 1))]

    def has(self, name: str) -> bool:
        # A feature that no row of this file has is 0 in all of them.
        return name == "label" or _index(name) is not None

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([pa.field(name, pa.float64()) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        place = {_index(name): k for k, name in enumerate(columns) if name != "label"}
        size = max(1, min(BATCH, (1 << 23) // max(len(columns), 1)))
        slot = np.full(max([self._high, *[i for i in place if i is not None]], default=0) + 1, -1)
        for i, k in place.items():
            slot[i] = k
        for rows in self._rows():
            for a in range(0, len(rows.label), size):
                z = min(a + size, len(rows.label))
                dense = np.zeros((len(columns), z - a))
                at = slice(rows.start[a], rows.start[z])
                column = slot[rows.index[at]]
                row = np.repeat(np.arange(z - a), np.diff(rows.start[a : z + 1]))
                used = column >= 0
                dense[column[used], row[used]] = rows.value[at][used]
                if "label" in columns:
                    dense[list(columns).index("label")] = rows.label[a:z]
                yield pa.RecordBatch.from_arrays([pa.array(c) for c in dense], schema=schema)

    def sparse(self, least: int | None = None, most: int | None = None) -> tuple[Any, Any]:
        """All rows as a CSR matrix whose columns are the indices from ``least`` to ``most``."""
        from scipy.sparse import csr_array

        low = self._low if least is None else least
        high = self._high if most is None else most
        blocks = list(self._rows())
        label = np.concatenate([b.label for b in blocks])
        index = np.concatenate([b.index for b in blocks]) - low
        value = np.concatenate([b.value for b in blocks])
        start = np.concatenate([[0], *[np.diff(b.start) for b in blocks]]).cumsum()
        X = csr_array((value, index, start), shape=(len(label), max(high - low + 1, 0)))
        X.sum_duplicates()
        return X, label

    def _rows(self) -> Iterator[_Rows]:
        line, rest = 0, b""
        with self.guard():
            file = text_file(self.path)
        with file:
            while True:
                with self.guard():
                    piece = file.read(_BLOCK)
                whole, end, tail = (rest + piece).rpartition(b"\n")
                if not piece:
                    whole, end, tail = whole + end + tail, b"", b""
                if whole.strip():
                    yield self._parsed(whole + b"\n", line)
                line += whole.count(b"\n") + (1 if end else 0)
                rest = tail
                if not piece:
                    return

    def _parsed(self, block: bytes, line: int) -> _Rows:
        fast = None if b"#" in block or b"_" in block else _fast(block)
        return self._slow(block, line) if fast is None else fast

    def _slow(self, block: bytes, line: int) -> _Rows:
        """Line by line, where something is odd: comments, blank lines, mistakes."""
        label: list[float] = []
        start, index, value = [0], [], []
        for number, raw in enumerate(block.splitlines(), line + 1):
            words = raw.partition(b"#")[0].split()
            if not words:
                continue
            try:
                label.append(_number(words[0]))
                last = -1
                for word in words[1:]:
                    i, colon, v = word.partition(b":")
                    k = int(i)
                    if not colon or not last < k <= _MOST:
                        raise ValueError
                    last = k
                    index.append(k)
                    value.append(_number(v))
            except ValueError:
                text = shown(raw.decode("utf-8", "replace"))
                raise DataError(
                    "a line of a libsvm file must be a label, then index:value with rising "
                    f"indices; line {number} of {self.where} is {text}. Correct that line."
                ) from None
            start.append(len(index))
        return _Rows(
            np.array(label), np.array(start), np.array(index, np.int64), np.array(value, np.float64)
        )


def _fast(block: bytes) -> _Rows | None:
    """All numbers of a block at once; None unless everything is as it should be."""
    marks = np.frombuffer(block, np.uint8)
    ends, colons = np.flatnonzero(marks == 10), np.flatnonzero(marks == 58)
    space = (marks == 32) | ((marks >= 9) & (marks <= 13))
    word = np.flatnonzero(~space & np.concatenate(([True], space[:-1])))
    first = np.searchsorted(word, np.concatenate(([0], ends[:-1] + 1)))
    in_word = np.diff(np.searchsorted(colons, np.concatenate((word, [len(marks)]))))
    label = np.zeros(len(word), np.bool_)
    label[first[first < len(word)]] = True
    # One label a line, then words with one colon each.
    if np.count_nonzero(label) != len(ends) or (in_word == label).any() or in_word.max() > 1:
        return None
    try:
        flat: NDArray[np.float64] = np.array(block.replace(b":", b" ").split(), np.float64)
    except ValueError:
        return None
    if len(flat) != len(word) + len(colons):
        return None
    start = np.concatenate((first - np.arange(len(first)), [len(colons)]))
    at = 2 * start[:-1] + np.arange(len(ends))
    pairs = np.delete(flat, at).reshape(-1, 2)
    index = pairs[:, 0].astype(np.int64)
    rises = np.ones(len(index), np.bool_)
    rises[1:] = np.diff(index) > 0
    rises[start[:-1][np.diff(start) > 0]] = True
    whole = (index == pairs[:, 0]) & (index >= 0) & (index <= _MOST)
    if not (whole.all() and rises.all() and np.isfinite(flat).all()):
        return None
    return _Rows(flat[at], start, index, np.ascontiguousarray(pairs[:, 1]))


def _number(word: bytes) -> float:
    out = float(word)
    if not np.isfinite(out) or b"_" in word:
        raise ValueError
    return out


def _index(name: str) -> int | None:
    if name.isascii() and name.isdigit() and len(name) < 11 and str(int(name)) == name:
        return int(name) if int(name) <= _MOST else None
    return None
