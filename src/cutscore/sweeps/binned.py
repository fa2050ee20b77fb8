"""A sweep of fixed size: one pass, constant memory, and an interval instead of a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.checks import check_rows, check_threshold, check_totals, run_kernel
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument, either
from cutscore.core.findings.statistics import CantMerge, OneClass
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import thumbnail
from cutscore.core.interval import Interval
from cutscore.core.types import ArrayLike, Label
from cutscore.measures.confusion import Confusion, count_text

Masses = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class BinnedSweep(Frozen):
    """The mass of each class in 2^bits fixed bins of scores: another type, not a lesser Sweep.

    A bin is the leading bits of a score as a float32 (sign, exponent, then the first digits). So it
    needs no range in advance, any two of them merge by ``+``, and bins are narrow around zero.
    At the edge of a bin the confusion is exact. Inside a bin the order of the rows is forgotten, so
    the AUC is an interval: pairs inside a bin are counted 0 for its low end and 1 for its high end.

    Make one with :meth:`of` or, from a stream, with :meth:`from_batches`.

    Parameters
    ----------
    bin_pos, bin_neg : array of int or float
        Mass of each class in each bin, upwards: int64 counts or float64 sums of weights.
    rows : int
        How many rows were added.

    Examples
    --------
    >>> import cutscore as cs
    >>> b = cs.BinnedSweep.from_batches([([0, 1], [0.2, 0.9]), ([1, 0], [0.21, 0.1])])
    >>> b
    BinnedSweep of 4 rows: 2 positive, 2 negative in 4 of 65,536 bins, AUC [1, 1] guaranteed
    >>> b + cs.BinnedSweep.of([0, 1], [0.5, 0.5])
    BinnedSweep of 6 rows: 3 positive, 3 negative in 5 of 65,536 bins, AUC [0.777778, 0.888889]
    guaranteed
    """

    bin_pos: Masses
    bin_neg: Masses
    rows: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_totals(self.bin_pos, self.bin_neg)

    @classmethod
    def of(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        weight: ArrayLike | None = None,
        positive: Label | None = None,
        *,
        bits: int = 16,
    ) -> BinnedSweep:
        """Bin rows; the arguments are those of :func:`cutscore.sweep`."""
        return cls.from_batches([(y, score, weight)], positive, bits=bits)

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[Sequence[ArrayLike | None]],
        positive: Label | None = None,
        *,
        bits: int = 16,
    ) -> BinnedSweep:
        """Bin a stream of batches ``(y, score)`` or ``(y, score, weight)`` in one pass.

        Each batch is read as :func:`cutscore.sweep` would read it alone: one may have the labels
        0/1 and the next -1/1.

        Parameters
        ----------
        batches : iterable of tuples of arrays
            Any iterable of batches; all of them weighted, or none.
        positive : label, optional
            The positive label, as in :func:`cutscore.sweep`.
        bits : int, default 16
            2^bits bins, from 1 to 24. 16 take 1 MiB and settle the AUC to a few thousandths; 20
            take 16 MiB and settle it to a few ten-thousandths.
        """
        if isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 24:
            raise DataError(BadArgument("bits", "be an integer from 1 to 24", bits))
        pos = neg = np.zeros(0)
        rows = 0
        weighted: bool | None = None
        for number, batch in enumerate(batches):
            if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
                rule = "be (y, score) or (y, score, weight)"
                raise DataError(BadArgument("batches", rule, subject=f"batch {number}"))
            y, score, weight = (*batch, None)[:3]
            columns = check_rows(y, score, weight, positive)
            if weighted is None:
                weighted = columns.weight is not None
                pos, neg = (np.zeros(2**bits, np.float64 if weighted else np.int64) for _ in "pn")
            elif weighted != (columns.weight is not None):
                rule = f"have {'' if weighted else 'no '}weights, as all before it"
                raise DataError(BadArgument("batches", rule, subject=f"batch {number}"))
            run_kernel(columns, _native.weighted_bin if weighted else _native.bin, pos, neg)
            rows += len(columns.score)
        if weighted is None:
            pos, neg = np.zeros(2**bits, np.int64), np.zeros(2**bits, np.int64)
        return cls(pos, neg, rows)

    @property
    def bits(self) -> int:
        """There are 2^bits bins."""
        return len(self.bin_pos).bit_length() - 1

    @property
    def weighted(self) -> bool:
        """Whether the masses are sums of weights rather than counts."""
        return self.bin_pos.dtype.kind == "f"

    @derived
    def _occupied(self) -> NDArray[np.intp]:
        """Bins that hold any mass, downwards."""
        return np.flatnonzero((self.bin_pos > 0) | (self.bin_neg > 0))[::-1]

    @derived
    def threshold(self) -> NDArray[np.float64]:
        """Lower edge of each bin that holds any mass, descending."""
        return _native.bin_edges(self.bits)[self._occupied]

    @derived
    def tp(self) -> Masses:
        """Positives at or above each threshold: exact."""
        return np.cumsum(self.bin_pos[self._occupied])

    @derived
    def fp(self) -> Masses:
        """Negatives at or above each threshold: exact."""
        return np.cumsum(self.bin_neg[self._occupied])

    @derived
    def P(self) -> int | float:
        """Mass of all positives."""
        return self.bin_pos.sum().item()  # type: ignore[no-any-return]

    @derived
    def N(self) -> int | float:
        """Mass of all negatives."""
        return self.bin_neg.sum().item()  # type: ignore[no-any-return]

    @derived
    def auc(self) -> Interval:
        """An interval that certainly contains the exact AUC.

        From counts its ends are fractions of integers, rounded outwards; from weights they are
        widened by the most that rounding can have lost.
        """
        if not (self.P > 0 and self.N > 0):
            have = f"{'positive' if self.P > 0 else 'negative'} ({self.P + self.N:,} of them)"
            raise UndefinedError(OneClass("the AUC", "positives and negatives", have))
        pos, neg = self.bin_pos[self._occupied], self.bin_neg[self._occupied]
        if self.weighted:
            # Shares before products: P·N may be more, or less, than a float64 holds.
            neg_share = neg / self.N
            low = float(np.dot(neg_share, (self.tp - pos) / self.P))
            high = low + float(np.dot(neg_share, pos / self.P))
            slack = 8 * (self.rows + len(pos)) * 2.0**-53
            return Interval(max(0.0, low - slack), min(1.0, high + slack))
        every = 2 * int(self.P) * int(self.N)
        ties = _native.twice_area(pos, neg)  # pairs inside a bin counted ½
        mixed = (pos > 0) & (neg > 0)
        inside = sum(map(mul, pos[mixed].tolist(), neg[mixed].tolist()))
        return Interval(
            _round_towards(Fraction(ties - inside, every), -inf),
            _round_towards(Fraction(ties + inside, every), inf),
        )

    def at(self, threshold: float) -> Confusion:
        """The exact confusion at an edge of a bin; any other threshold is refused.

        The edges are ``self.threshold`` and whatever lies outside the bins that hold any mass.
        """
        t = check_threshold(threshold)
        edges = _native.bin_edges(self.bits)
        k = int(np.searchsorted(edges, t))  # the first bin whose scores are all at or above t
        inside = k > 0 and (k == len(edges) or edges[k] != t)  # t cuts through bin k - 1
        if inside and k - 1 in self._occupied:
            around = either(edges[k - 1 : k + 1].tolist(), "and", show="{:.9g}".format)
            hint = f"The nearest edges are {around}."
            raise DataError(BadArgument("threshold", "be an edge of a bin", t, hint))
        tp, fp = self.bin_pos[k:].sum().item(), self.bin_neg[k:].sum().item()
        return Confusion(tp=tp, fp=fp, fn=self.P - tp, tn=self.N - fp)

    def __add__(self, other: object) -> BinnedSweep:
        if not isinstance(other, BinnedSweep):
            return NotImplemented
        if self.bits != other.bits:
            raise DataError(CantMerge("binned sweeps", "bits", (self.bits, other.bits)))
        return BinnedSweep(
            self.bin_pos + other.bin_pos, self.bin_neg + other.bin_neg, self.rows + other.rows
        )

    def __radd__(self, other: object) -> BinnedSweep:
        return self if other == 0 else NotImplemented  # for sum(): it starts from 0

    def __repr__(self) -> str:
        area = f"AUC {self.auc}" if self.P > 0 and self.N > 0 else "one class only, no AUC"
        return (
            f"BinnedSweep of {self.rows:,} rows: {count_text(self.P)} positive, "
            f"{count_text(self.N)} negative in {len(self._occupied):,} of {len(self.bin_pos):,} "
            f"bins, {area}"
        )

    def _title(self) -> str:
        return "Binned sweep"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            ("rows", f"{self.rows:,}"),
            ("positive", count_text(self.P)),
            ("negative", count_text(self.N)),
            ("bins", f"{len(self._occupied):,} of {len(self.bin_pos):,} contain rows"),
        ]
        if self.P > 0 and self.N > 0:
            low, high = floor(1000 * self.auc.low) / 1000, ceil(1000 * self.auc.high) / 1000
            facts.append(("AUC", f"{low:.3f} to {high:.3f} (guaranteed)"))
        return facts

    def _picture(self) -> str:
        if not (self.P > 0 and self.N > 0):
            return ""
        return thumbnail(np.append(0.0, self.fp / self.N), np.append(0.0, self.tp / self.P))


def _round_towards(value: Fraction, towards: float) -> float:
    """The nearest float on the side of ``towards``."""
    f = float(value)
    outside = f <= value if towards < 0 else f >= value
    return f if outside else nextafter(f, towards)
