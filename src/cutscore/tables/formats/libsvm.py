"""The sparse format of LIBSVM: a label, then index:value for what is not 0, one row a line."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from cutscore.core.errors import DataError
from cutscore.core.findings import Where
from cutscore.core.findings.base import shown
from cutscore.core.findings.tables import FileUnreadable, LineInvalid
from cutscore.tables.parts import BATCH, File, Format, Part, Style, bounded, empty_file

# No index is larger: column numbers of a sparse matrix are 32-bit integers.
_MOST = 2**31 - 2
# Each has a name in memory, whether a row has a value there or not.
_MOST_NAMES = 1 << 25


class LibsvmPart(Part):
    """A libsvm file, read into memory. Its columns are ``label`` and the indices, as text; what is
    absent is 0."""

    def __init__(self, file: File, style: Style) -> None:  # noqa: ARG002
        super().__init__(file.path, file.where)
        label, start, index, value = array("d"), array("q", [0]), array("q"), array("d")
        with self.guard(), io.BufferedReader(file.stream()) as lines:
            for number, line in enumerate(bounded(lines, self.where), 1):
                words = line.partition(b"#")[0].split()
                if not words:
                    continue
                try:
                    label.append(_number(words[0]))
                    last = -1
                    for word in words[1:]:
                        before, colon, after = word.partition(b":")
                        k = int(before)
                        if not colon or not last < k <= _MOST:
                            raise ValueError
                        last = k
                        index.append(k)
                        value.append(_number(after))
                except ValueError:
                    raise self._odd(line, number) from None
                start.append(len(index))
        if not label:
            raise empty_file(self.where)
        self._label, self._value = np.array(label), np.array(value)
        self._start, self._index = np.array(start), np.array(index)
        self.low = int(self._index.min(initial=_MOST))
        """The smallest index, and the largest."""
        self.high = int(self._index.max(initial=-1))

    def _odd(self, line: bytes, number: int) -> DataError:
        text = shown(line.decode("utf-8", "replace").rstrip())
        place = Where(file=self.where, line=number)
        return DataError(LineInvalid("libsvm", text, where=place))

    @property
    def names(self) -> list[str]:
        if self.high - self.low >= _MOST_NAMES:
            reason = f"it has indices up to {self.high:,}: more than {_MOST_NAMES:,} columns"
            raise DataError(FileUnreadable(reason, where=self.at))
        return ["label", *map(str, range(self.low, self.high + 1))]

    @property
    def rows(self) -> int | None:
        return None  # how many values a row has, nobody knows

    def has(self, name: str) -> bool:
        # A feature that no row of this file has is 0 in all of them.
        return name == "label" or _index(name) is not None

    def schema(self, columns: Sequence[str]) -> pa.Schema:
        return pa.schema([pa.field(name, pa.float64()) for name in columns])

    def batches(self, columns: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        place = {_index(name): k for k, name in enumerate(columns) if name != "label"}
        size = max(1, min(BATCH, (1 << 23) // max(len(columns), 1)))
        slot = np.full(max([self.high, *[i for i in place if i is not None]], default=0) + 1, -1)
        for i, k in place.items():
            slot[i] = k
        for a in range(0, len(self._label), size):
            z = min(a + size, len(self._label))
            dense = np.zeros((len(columns), z - a))
            at = slice(self._start[a], self._start[z])
            column = slot[self._index[at]]
            row = np.repeat(np.arange(z - a), np.diff(self._start[a : z + 1]))
            used = column >= 0
            dense[column[used], row[used]] = self._value[at][used]
            if "label" in columns:
                dense[list(columns).index("label")] = self._label[a:z]
            yield pa.RecordBatch.from_arrays([pa.array(c) for c in dense], schema=schema)

    def sparse(self, low: int, high: int) -> tuple[Any, Any]:
        """All rows as a CSR matrix whose columns are the indices from ``low`` to ``high``, and the
        labels."""
        from scipy.sparse import csr_array

        shape = (len(self._label), max(high - low + 1, 0))
        return csr_array((self._value, self._index - low, self._start), shape=shape), self._label


def _number(word: bytes) -> float:
    out = float(word)
    if not np.isfinite(out) or b"_" in word:
        raise ValueError
    return out


def _index(name: str) -> int | None:
    if name.isascii() and name.isdigit() and len(name) < 11 and str(int(name)) == name:
        return int(name) if int(name) <= _MOST else None
    return None


def _fits(start: bytes) -> bool:
    line = start.partition(b"\n")[0].strip()
    return re.fullmatch(rb"[-+.\deE]+(\s+\d+:[-+.\deE]+)+(\s*#.*)?", line) is not None


LIBSVM = Format("libsvm", ("libsvm", "svm", "svmlight"), _fits, LibsvmPart, is_text=True)
