"""The perceptron: a line that each row on its wrong side moves, until there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import isfinite, sqrt
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.statistics import BeyondFloats
from cutscore.linear.line import Fit, LinearDetector, Margins
from cutscore.linear.rows import Block, Floats, Rows, collect, readable

__all__ = ["Pass", "PerceptronFit", "perceptron"]

Variant = Literal["plain", "averaged", "pocket"]

# Lines with record runs that a pass can put into the pocket: the latest, whose runs were longest.
_POCKET = 16
# Numbers in a slice of the rows: large, since rows are read one by one, yet so small that an
# interrupt is heard soon, and that a copy of rows in an odd order is no copy of all.
_SLICE = 1 << 22
# Squares of lengths below this lose digits, down to all of them.
_R2 = "R², the largest squared length of a row,"
_TINY = 1e-290


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass over all rows, the weights after it, and the margins.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.perceptron import perceptron
    >>> rows = ArrayRows(np.array([[1.0], [3.0]]), np.array([False, True]))
    >>> seen = []
    >>> fit = perceptron(rows, on_pass=seen.append)
    >>> [(p.passes, p.updates, p.margins.smallest) for p in seen[:2]]
    [(1, 2, -1.0), (2, 2, -1.0)]
    >>> seen[-1].updates, seen[-1].detector, seen[-1].margins.value.tolist()
    (0, LinearDetector(w=[5], b=-9), [0.8, 1.2])
    """

    passes: int
    """Passes so far."""
    updates: int
    """Rows that this pass found on the wrong side."""
    limit: int
    """How many passes there are at most."""
    detector: LinearDetector
    """The line that the variant would give out now."""
    rows: Rows = field(repr=False)
    """The rows of the pass."""

    @cached_property
    def margins(self) -> Margins:
        """γₘ = y(w·x + w₀) with ‖w‖ = 1 of each row, in the order of the rows. Rows are read once,
        when it is asked for; undefined where w is 0."""
        line = self.detector.unit()

        def margins(block: Block) -> Floats:
            return np.where(block.y, 1.0, -1.0) * block.scores(line.w, line.b)

        return Margins(collect(self.rows, margins))


@dataclass
class State:
    """What a perceptron carries from row to row, and from one call to the next.

    Lines are w and then the bias, in one array.
    """

    line: Floats
    drift: Floats | None
    """Σ (rows before) · (move), for the mean of the line: line − drift / steps."""
    kept: Floats | None
    """Lines whose run of right rows was longer than all before, in this pass."""
    counts: NDArray[np.int64]
    """Lines kept, rows read, updates, the run, the longest run."""
    square: float = 0.0
    """R², the largest squared length of a row."""
    passes: int = 0
    pocket: Floats | None = None

    @classmethod
    def fresh(cls, features: int, variant: Variant) -> State:
        """Before the first row: w = 0, w₀ = 0."""
        return cls(
            line=np.zeros(features + 1),
            drift=np.zeros(features + 1) if variant == "averaged" else None,
            kept=np.empty((_POCKET, features + 1)) if variant == "pocket" else None,
            counts=np.zeros(5, np.int64),
        )

    @property
    def updates(self) -> int:
        """How often the line was moved."""
        return int(self.counts[2])

    def sum(self) -> Floats:
        """Of the averaged variant: the lines after each row so far, added up."""
        assert self.drift is not None
        return np.asarray(int(self.counts[1]) * self.line - self.drift)

    @property
    def result(self) -> Floats:
        """The line that the variant gives out."""
        if self.drift is not None:
            return np.asarray(self.line - self.drift / max(int(self.counts[1]), 1))
        return self.line if self.pocket is None else self.pocket


@dataclass(frozen=True)
class PerceptronFit(Fit):
    """The result of :func:`cutscore.linear.perceptron.perceptron`, and the state from which it can
    continue."""

    updates: int = 0
    """How often the line was moved."""
    radius: float = 0.0
    """R, the largest length of a row."""
    errors: float = 0.0
    """Weight of the rows that the line has on the wrong side, or on it; their number if there are
    no weights."""
    state: State | None = None
    """From which to go on with other rows."""


def perceptron(  # noqa: PLR0913 - all but one are options
    rows: Rows,
    *,
    rate: float = 1.0,
    max_passes: int = 100,
    variant: Variant = "plain",
    state: State | None = None,
    on_pass: Callable[[Pass], None] | None = None,
) -> PerceptronFit:
    """Rosenblatt's perceptron.

    w = 0, w₀ = 0, R = max‖x‖; then for each row in order, if y(w·x + w₀) ≤ 0 with y = ±1: w +=
    α·y·x and w₀ += α·y·R². Passes are repeated until one makes no update or the limit is reached.
    If a hyperplane with ‖w‖ = 1 separates the classes with margin γ, there are at most (2R/γ)²
    updates.

    The order of the rows matters. Rows in memory and in files are read one after the other. If a
    table has several parts, such as the partitions of a cluster, each part makes its pass starting
    from the same weights, and the resulting weights are averaged in proportion to the numbers of
    rows (iterative parameter mixing). This also finds a separating hyperplane if there is one,
    though a different one.

    Parameters
    ----------
    rows : Rows
        The table. A row's weight scales its updates: α·weight instead of α.
    rate : float, default 1.0
        The learning rate α. Because w starts at 0, it scales the weights and changes no decision.
    max_passes : int, default 100
        Maximum number of passes over the rows.
    variant : str, default 'plain'
        ``"plain"`` keeps the last weights. ``"averaged"``: the mean of the weights after each row
        of each pass. ``"pocket"``: the weights with the fewest training errors (by row weight),
        among those with the longest runs of correct rows and those at the ends of passes (Gallant's
        ratchet).
    state : State, optional
        The state in which an earlier call ended; it is not modified. R is then the largest norm so
        far.
    on_pass : callable, optional
        Called with a :class:`cutscore.linear.perceptron.Pass` after each pass: the weights and, on
        request, the margin of each row.

    References
    ----------
    N. Cristianini, J. Shawe-Taylor, An Introduction to Support Vector Machines, 2000, table 2.1
    and theorem 2.3. Y. Freund, R. Schapire, Machine Learning 37 (1999). S. Gallant, IEEE Trans.
    Neural Networks 1 (1990). R. McDonald, K. Hall, G. Mann, Distributed training strategies for
    the structured perceptron, NAACL 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.linear import ArrayRows
    >>> from cutscore.linear.perceptron import perceptron
    >>> fit = perceptron(ArrayRows(np.array([[1.0], [3.0]]), np.array([False, True])))
    >>> fit.detector.w.tolist(), fit.detector.b, fit.converged
    ([5.0], -9.0, True)
    """
    _check(rate, max_passes, variant)
    state = State.fresh(rows.features, variant) if state is None else deepcopy(state)
    state.square = max(state.square, _largest_square(rows))
    fewest = np.inf if state.pocket is None else _wrong_weight(rows, state.pocket[None])[0]
    made, passes = -1, 0
    while made and passes < max_passes:
        before = state.updates
        parts = rows.fold(partial(perceptron_pass, rate=rate), state)
        # Several parts started from copies: the state is as it was.
        state = mix_states(state, parts)
        made, passes = state.updates - before, passes + 1
        state.passes += 1
        _check_finite(state, rate)
        if state.kept is not None:
            lines = np.vstack((*_records(parts), state.line))
            state.counts[0] = 0
            errors = _wrong_weight(rows, lines)
            best = int(errors.argmin())
            if errors[best] < fewest:
                fewest, state.pocket = float(errors[best]), lines[best]
        if on_pass is not None:
            on_pass(Pass(passes, made, max_passes, _detector(state), rows))
    return PerceptronFit(
        _detector(state),
        iterations=state.passes,
        passes=passes,
        converged=not made,
        updates=state.updates,
        radius=sqrt(state.square),
        errors=float(_wrong_weight(rows, state.result[None])[0]),
        state=state,
    )


def _detector(state: State) -> LinearDetector:
    line = state.result
    return LinearDetector(line[:-1].copy(), float(line[-1]))


def perceptron_pass(state: State, block: Block, rate: float = 1.0) -> State:
    """The state after these rows. It is the one given, changed: a line of a million columns should
    not be copied for every few rows."""
    n = len(block.y)
    filled = block.X.size if isinstance(block.X, np.ndarray) else block.X.nnz
    size = max(_SLICE * n // max(filled, 1), 1)
    for start in range(0, n, size):
        part = block.part(start, start + size)
        _native.perceptron(
            *readable(part.X),
            np.ascontiguousarray(part.y),
            None if part.weight is None else np.ascontiguousarray(part.weight),
            rate,
            state.square,
            state.line,
            state.drift,
            state.kept,
            state.counts,
        )
    return state


def mix_states(before: State, parts: Sequence[State]) -> State:
    """One state of those that the parts of a table have come to from one that was before."""
    if len(parts) == 1:
        return parts[0]
    out = deepcopy(before)
    counts = np.array([before.counts, *(part.counts for part in parts)])
    _, rows, updates = (counts[1:] - counts[0]).sum(0)[:3].tolist()
    if updates:
        # Of a part that moved nothing it is the line before. If none did, so is the mean of all,
        # but for rounding, which would be a move after all.
        shares = (counts[1:, 1] - counts[0, 1]) / rows
        out.line = sum(share * part.line for share, part in zip(shares, parts, strict=True))
    if out.drift is not None:
        # Lines after each row add up, over the parts as over the passes: steps·line − drift.
        so_far = before.sum()
        total = so_far + sum(part.sum() - so_far for part in parts)
        out.drift = (counts[0, 1] + rows) * out.line - total
    out.counts[1:3] += rows, updates
    # A run ends where the line changes.
    out.counts[3] = 0 if updates else counts[1:, 3].sum() - (len(parts) - 1) * counts[0, 3]
    out.counts[4] = counts[:, 4].max()
    return out


def _records(parts: Sequence[State]) -> list[Floats]:
    """Lines that the parts kept: of many parts the latest few of each, whose runs were longest, and
    as many in all as one part keeps."""
    if len(parts) == 1:
        (one,) = parts
        assert one.kept is not None
        return [one.kept[: one.counts[0]]]
    out: list[Floats] = []
    for part in sorted(parts, key=lambda part: -int(part.counts[4])):
        assert part.kept is not None
        found = int(part.counts[0])
        latest = range(found - 1, max(found - max(_POCKET // len(parts), 1), 0) - 1, -1)
        out += [part.kept[k % _POCKET] for k in latest]
    return out[:_POCKET]


def _wrong_weight(rows: Rows, lines: Floats) -> Floats:
    """The weight of the rows on the wrong side of each line, or on it."""

    def summarise(block: Block) -> Floats:
        sign = np.where(block.y, 1.0, -1.0)
        mass = np.ones(len(sign)) if block.weight is None else block.weight
        return np.array(
            [mass[~(sign * block.scores(line[:-1], line[-1]) > 0)].sum() for line in lines]
        )

    return rows.reduce(summarise, np.add)


def _largest_square(rows: Rows) -> float:
    square = rows.reduce(
        lambda block: _native.largest_square(*readable(block.X), block.X.shape[1]), max
    )
    if not isfinite(square):
        raise DataError(BeyondFloats(_R2, square, "Divide the features by a constant."))
    if square < _TINY and rows.reduce(_any, lambda a, b: a or b):
        raise DataError(BeyondFloats(_R2, square, "Multiply the features by a constant."))
    return square


def _any(block: Block) -> bool:
    X = block.X
    return bool((X if isinstance(X, np.ndarray) else X.data).any())


def _check(rate: float, max_passes: float, variant: str) -> None:
    if not (rate > 0 and isfinite(rate)):
        raise DataError(BadArgument("rate", "be positive and finite", rate))
    if not max_passes >= 1:
        raise DataError(BadArgument("max_passes", "be at least 1", max_passes))
    if variant not in get_args(Variant):
        known = ", ".join(map(repr, get_args(Variant)))
        raise DataError(BadArgument("variant", f"be one of {known}", variant))


def _check_finite(state: State, rate: float) -> None:
    if not (np.isfinite(state.line).all() and np.isfinite(state.result).all()):
        what = f"the line of a perceptron after {state.updates:,} updates"
        hint = (
            f"R is {sqrt(state.square):.3g} and the rate {rate:g}: divide the features by a "
            "constant, or lower the rate or the weights."
        )
        raise DataError(BeyondFloats(what, hint=hint))
