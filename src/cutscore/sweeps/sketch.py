"""A sketch of a sweep: some of its cuts, all that is best for some costs among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.frozen import derived
from cutscore.core.interval import Interval
from cutscore.sweeps.hull import vertices
from cutscore.sweeps.sweep import Floats, Sweep


@dataclass(frozen=True, eq=False, repr=False)
class Sketch(Sweep):
    """Some cuts of a sweep, each with exact counts; see :meth:`cutscore.Sweep.sketch`.

    An entry is a block of neighbouring scores: ``threshold`` is the lowest and ``top`` the highest
    of them, and ``pos`` and ``neg`` are their masses. All vertices of the convex hull are kept, so
    the best cut for any costs is among these. Any other cut lies in the rectangle between two
    neighbouring points of the ROC curve.

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(100_000) < 0.1
    >>> s = cs.sweep(y, rng.standard_normal(100_000) + 2 * y)
    >>> k = s.sketch(points=500)
    >>> len(k) <= 500, round(k.error, 4), s.auc in k.auc_bounds
    (True, 0.0093, True)
    >>> cs.choose(k, cs.Costs(fp=1, fn=9)).confusion == cs.choose(s, cs.Costs(fp=1, fn=9)).confusion
    True
    """

    @derived
    def unknown(self) -> NDArray[np.bool_]:
        """Blocks of several scores of both classes: where the curve runs inside is not known."""
        top = self.threshold if self.top is None else self.top
        return (self.pos > 0) & (self.neg > 0) & (top > self.threshold)

    @property
    def error(self) -> float:
        """How far any cut may be from those kept: neither TPR nor FPR differs by more."""
        self.needs_both_classes("the error of a sketch")
        at = self.unknown
        sides = (self.pos[at] / self.P, self.neg[at] / self.N)
        return max((float(side.max(initial=0.0)) for side in sides), default=0.0)

    @property
    def auc_bounds(self) -> Interval:
        """An interval that certainly contains the AUC of all cuts."""
        at = self.unknown
        half = 0.5 * float(np.sum((self.pos[at] / self.P) * (self.neg[at] / self.N)))
        if half == 0:
            return Interval(self.auc, self.auc)
        # Sums of so many products are off by less than this.
        slack = 4 * len(self) * 2.0**-53
        return Interval(max(0.0, self.auc - half - slack), min(1.0, self.auc + half + slack))

    def __repr__(self) -> str:
        known = f", rates within {self.error:.2g}" if self.P > 0 < self.N else ""
        return f"{super().__repr__().replace('Sweep', 'Sketch', 1)}{known}"

    def compact(self) -> Sketch:
        """Itself: its blocks are no runs of one class."""
        return self


def sketch(s: Sweep, points: int, keep: Sequence[int] = ()) -> Sketch:
    """At most so many cuts of a sweep: the vertices of its hull, those to ``keep``, and others at
    about equal steps along the ROC curve."""
    s.needs_both_classes("a sketch")
    most = _check_points(points)
    if isinstance(s, Sketch):
        s.needs_scores("another sketch")
    c = s if s.merged else s.compact()
    own = np.searchsorted(-c.threshold, -s.threshold[_inner(s, keep) - 1])
    # A cut inside of a run of one class is not among those of the compact sweep.
    if len(own) and not np.array_equal(c.threshold[own], s.threshold[_inner(s, keep) - 1]):
        c = s
        own = _inner(s, keep) - 1
    fixed = _hull_cuts(c)
    fixed[own] = True
    if fixed.sum() > most:
        rule = f"be at least {int(fixed.sum()):,}, the number of vertices of the convex hull"
        raise DataError(BadArgument("points", rule, points))
    along = c.tp / c.P + c.fp / c.N
    return _merged(c, _kept(along, fixed, most))


def _check_points(points: object) -> int:
    if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
        raise DataError(BadArgument("points", "be an integer of at least 2", points))
    return int(points)


def _inner(s: Sweep, cuts: Sequence[int]) -> NDArray[np.int64]:
    return np.array([k for k in cuts if 0 < k < len(s)], np.int64)


def _hull_cuts(s: Sweep) -> NDArray[np.bool_]:
    """Whether each entry ends at a vertex; where scores are +inf no threshold flags none."""
    out = np.zeros(len(s), np.bool_)
    first = int(s.threshold[0] == np.inf)
    for start in {0, first}:
        cut = vertices(s, start).cut
        out[cut[cut > 0] - 1] = True
    out[-1] = True
    out[0] |= first == 1
    return out


def _kept(along: Floats, fixed: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """The entries that end a block: of cells of equal length along the curve the last, so that no
    block is longer than two cells, but for ties."""
    m = len(along)
    if m <= most:
        return np.arange(m)
    cells = most - int(fixed.sum())
    jump = np.diff(along, prepend=0.0)
    while cells > 0:
        cell = np.floor(along * (0.5 * cells))
        new = np.append(cell[1:] > cell[:-1], True)
        # One long step is a block of its own, which hides nothing.
        far = jump > 2.0 / cells
        ends = fixed | new | far | np.append(far[1:], False)
        if (count := int(ends.sum())) <= most:
            return np.flatnonzero(ends)
        cells = min(cells - 1, ceil(cells * most / count) - 1)
    return np.flatnonzero(fixed)


def _merged(s: Sweep, ends: NDArray[np.intp]) -> Sketch:
    starts = np.concatenate(([0], ends[:-1] + 1))
    masses = (s.pos, s.neg, s.pos2, s.neg2)
    sums = (None if mass is None else np.add.reduceat(mass, starts) for mass in masses)
    top = (s.threshold if s.top is None else s.top)[starts]
    return Sketch._adopt(s.threshold[ends], *sums, top)
