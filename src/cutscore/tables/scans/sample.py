"""Some rows of a large table, drawn at random: for what needs several scores of the same row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.comparison.class_samples import ClassSample
from cutscore.sweeps.sweep import Floats
from cutscore.tables.frames import TableLike
from cutscore.tables.parts import Piece
from cutscore.tables.scans.scan import Batch, Scan, workers_for


def draw(
    data: TableLike, *, scores: Sequence[str], most: int, **roles: Any
) -> tuple[ClassSample, ClassSample]:
    """At most so many rows of the positives and of the negatives, with all of their scores.

    ``data``, ``label``, ``weight`` and ``positive`` are as for :func:`cutscore.sweep_file`. Rows
    are drawn by random numbers of their own, the same in each run.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from cutscore.tables.scans.sample import draw
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("y,a,b\\n1,0.9,0.8\\n0,0.4,0.6\\n1,0.35,0.1\\n0,0.2,0.3\\n")
    >>> pos, neg = draw(file, label="y", scores=["a", "b"], most=10)
    >>> sorted(pos.scores["b"].tolist()), neg.n, neg.pairs
    ([0.1, 0.8], 2, 2.0)
    """
    scan = Scan(data, score=scores[0], more=scores[1:], **roles)

    def work(pieces: Iterator[tuple[int, Piece]]) -> tuple[_Urn, _Urn]:
        urns = _Urn(most), _Urn(most)
        for k, piece in pieces:
            rng = np.random.default_rng((0, k))
            for batch in scan.read(piece):
                key = rng.random(len(batch.score))
                for urn, own in zip(urns, (batch.label == 1, batch.label == 0), strict=True):
                    urn.add(batch, key, np.flatnonzero(own))
        return urns

    both = scan.each(work, workers_for(len(scan.pieces)))
    made = [_Urn.joined([urns[k] for urns in both]).sample(k == 0, scores) for k in (0, 1)]
    return made[0], made[1]


class _Urn:
    """The rows of one class with the smallest random numbers."""

    def __init__(self, most: int) -> None:
        self.most, self.n, self.largest = most, 0, 0.0
        # Of each batch: added up in the order of their size, whoever read which.
        self.sums: list[float] = []
        self.squares: list[float] = []
        self.kept: list[NDArray[Any]] = []
        self.held, self.below = 0, 1.0

    def add(self, batch: Batch, key: Floats, at: NDArray[np.intp]) -> None:
        w = None
        if batch.weight is not None:
            at = at[batch.weight[at] > 0]
            w = batch.weight[at]
            if len(w):
                self.sums.append(float(w.sum()))
                self.squares.append(float(np.square(w).sum()))
                self.largest = max(self.largest, float(w.max()))
        self.n += len(at)
        some = key[at] <= self.below
        chosen = at[some]
        columns = [key[chosen], batch.score[chosen], *(column[chosen] for column in batch.more)]
        columns.append(np.ones(len(chosen)) if w is None else w[some])
        self.kept.append(np.array(columns, np.float64))
        self.held += len(chosen)
        if self.held > 4 * self.most:
            self._prune()

    def _prune(self) -> None:
        rows = np.concatenate(self.kept, axis=1)
        if rows.shape[1] > self.most:
            rows = rows[:, np.argsort(rows[0], kind="stable")[: self.most]]
            self.below = float(rows[0, -1])
        self.kept, self.held = [rows], rows.shape[1]

    @classmethod
    def joined(cls, urns: Sequence[_Urn]) -> _Urn:
        out = cls(urns[0].most)
        for urn in urns:
            out.n += urn.n
            out.sums += urn.sums
            out.squares += urn.squares
            out.largest = max(out.largest, urn.largest)
            out.kept += urn.kept
        return out

    def sample(self, positive: bool, names: Sequence[str]) -> ClassSample:
        weighted = self.largest > 0
        pairs = float(self.n) * (self.n - 1)
        if weighted:
            pairs = (sum(sorted(self.sums)) ** 2 - sum(sorted(self.squares))) / self.largest**2
        if not self.kept:
            return ClassSample(positive, {name: np.empty(0) for name in names}, None, 0, 0.0)
        self._prune()
        key, *scores, w = self.kept[0][:, np.argsort(self.kept[0][0], kind="stable")]
        del key
        columns = dict(zip(names, scores, strict=True))
        return ClassSample(positive, columns, w / self.largest if weighted else None, self.n, pairs)
