"""Tables of any columns for ``cutscore.training``: encoded and kept where the rows are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings import Where, dumps
from cutscore.core.findings.rows import BadWeight, ValueMissing
from cutscore.linear.rows import ArrayRows, Flags, MaskedRows
from cutscore.spark.columns import Located
from cutscore.spark.partitions import Packed, SparkRows
from cutscore.spark.sources import Paths, open_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from cutscore.detector import Encoding
    from cutscore.training.rows import Target


def encoded(
    paths: Paths, *, spark: SparkSession | None = None
) -> Callable[[Encoding, Target], EncodedRows]:
    """Encode the features of Parquet files on a cluster, for ``stream=`` of
    :func:`cutscore.training.train`.

    The driver reads the table once, to determine the encoding, and stores the label, fold and
    scores of each row. All passes of all learners run on the executors.

    Parameters
    ----------
    paths : path or sequence of paths
        Parquet files, as for :func:`cutscore.spark.sweep`.
    spark : SparkSession, optional
        The session; by default the active one, or a local one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.tables import open_table, write_table
    >>> from cutscore.training import train
    >>> rng = np.random.default_rng(0)
    >>> bad = rng.random(2000) < 0.1
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "rows.parquet"
    >>> _ = write_table(file, {"bad": bad, "gap": rng.normal(size=2000) + 2 * bad})
    >>> spark = cs.spark.session("local[2]")
    >>> t = train(open_table(file), "bad", learner="fisher", stream=cs.spark.encoded(file))
    >>> t.detector.training.auc > 0.9
    True
    """

    def make(encoding: Encoding, target: Target) -> EncodedRows:
        names = [*encoding.names, target.column]
        if target.weight is not None:
            names.append(target.weight)
        make_blocks: Any = _Encode(encoding, target.column, target.label, target.weight)
        return EncodedRows(open_source(paths, names, spark), make_blocks, names)

    return make


class EncodedRows(SparkRows):
    """Rows of features in the partitions of a cluster; made by :func:`cutscore.spark.encoded`."""

    def where(self, mask: Flags) -> _Some:
        """Some of the rows."""
        return _Some(self, mask)

    def take(self, mask: Flags) -> ArrayRows:
        """Some of the rows, in memory."""
        return self.where(mask).take(np.ones(int(np.count_nonzero(mask)), np.bool_))

    def spooled(self, *, rows: int | None = None) -> EncodedRows:  # noqa: ARG002
        """They are kept already."""
        return self


class _Some(MaskedRows):
    def where(self, mask: Flags) -> _Some:
        whole = self.mask.copy()
        whole[np.flatnonzero(whole)[~mask]] = False
        return _Some(self.whole, whole)

    def take(self, mask: Flags) -> ArrayRows:
        some = self if mask.all() else self.where(mask)
        parts = some.reduce(
            lambda block: [(block.X.copy(), block.y.copy(), block.weight)], lambda a, b: a + b
        )
        X, y, weights = zip(*parts, strict=True)
        weight = None if weights[0] is None else np.concatenate(weights)
        return ArrayRows(np.concatenate(X), np.concatenate(y), weight)

    def spooled(self, *, rows: int | None = None) -> _Some:  # noqa: ARG002
        return self


@dataclass(frozen=True)
class _Encode:
    """The task that makes blocks of features of a table's columns."""

    encoding: Any
    label: str
    positive: Any
    weight: str | None

    @property
    def features(self) -> Sequence[str]:
        names: list[str] = self.encoding.features
        return names

    def blocks(self, batches: Iterable[Located]) -> Iterator[Packed]:
        """Blocks; an error is one, too."""
        try:
            for batch, where in batches:
                if batch.num_rows:
                    yield from self._of(batch, where)
        except DataError as error:
            yield Packed(0, 0, error=dumps(error.finding))

    def _of(self, batch: pa.RecordBatch, where: str) -> Iterator[Packed]:
        ones = self._ones(batch, where)
        weight = None if self.weight is None else self._weights(batch, where)
        table = pa.Table.from_batches([batch]).select(self.encoding.names)
        start = 0
        try:
            for X in self.encoding.blocks(table, sparse=False):
                at = slice(start, start + len(X))
                start = at.stop
                yield Packed.of(X, ones[at], None if weight is None else weight[at])
        except DataError as error:
            raise DataError(error.finding.at(part=where)) from None

    def _ones(self, batch: pa.RecordBatch, where: str) -> Flags:
        column = batch.column(self.label)
        if column.null_count:
            raise DataError(ValueMissing("label", where=Where(column=self.label, part=where)))
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        value = pa.scalar(self.positive)
        if not column.type.equals(value.type):
            value = value.cast(column.type)
        return np.asarray(pc.equal(column, value).to_numpy(zero_copy_only=False))

    def _weights(self, batch: pa.RecordBatch, where: str) -> NDArray[np.float64]:
        column = batch.column(self.weight)
        w = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        bad = ~((w >= 0) & (w < np.inf))
        if bad.any():
            raise DataError(BadWeight(w[bad][0], where=Where(column=self.weight, part=where)))
        return np.asarray(w)
