"""Tensors: sweeps and areas on the device that holds them.

CPU tensors are read in place by the native core. On any other device the same numbers come from
torch operations there: one sort, counts in int64, and only the result is copied to the host.
Arguments are never changed, and scores never squashed: they are only ever compared. A column may be
a matrix of one column or of one row, as networks give it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import isnan
from numbers import Real
from operator import add

import numpy as np

from cutscore.core.errors import DataError, missing_library
from cutscore.core.findings import BadArgument, Conflict
from cutscore.core.findings.base import Shown
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.findings.rows import TooManyLabels
from cutscore.core.findings.statistics import CantMerge

try:
    import torch
    from torch import Tensor
    from torch.utils.dlpack import from_dlpack
except ImportError as error:  # pragma: no cover
    raise ImportError(
        missing_library("cutscore.torch", "PyTorch", "torch"), name="torch"
    ) from error

from cutscore.core.checks import check_rows
from cutscore.sweeps.sweep import Sweep, area
from cutscore.sweeps.sweep import sweep as _host_sweep

__all__ = ["AUROC", "roc_auc_score", "sweep"]

# Tensors of an AUROC's state: a sweep of the unweighted rows, the weighted rows, the two labels.
_STATE = ("threshold", "pos", "neg", "label", "score", "weight", "classes")


def roc_auc_score(
    y: Tensor, score: Tensor, weight: Tensor | None = None, positive: float | None = None
) -> float:
    """Area under the ROC curve, P(s₊ > s₋) + ½ P(s₊ = s₋), computed on the tensors' device.

    Without weights it is the fraction 2U / 2PN of two integers, rounded once, on every device.

    Parameters
    ----------
    y, score : torch.Tensor
        As in :func:`sweep`.
    weight : torch.Tensor, optional
        As in :func:`sweep`.
    positive : float, optional
        As in :func:`sweep`.

    Raises
    ------
    DataError
        If the input breaks a rule of :func:`sweep`.
    UndefinedError
        If the rows are all of one class.

    Examples
    --------
    >>> import torch, cutscore.torch
    >>> y = torch.tensor([1, 0, 0, 1, 1, 0, 1])
    >>> s = torch.tensor([0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2])
    >>> cutscore.torch.roc_auc_score(y, s) == 11 / 24
    True
    """
    y, score, w = _tensors(y, score, weight)
    if score.device.type != "cpu":
        return _device_auc(_read(y, score, w, positive))
    if w is not None:
        return _host_sweep(y, score, w, positive).auc
    pos, neg, twice = area(check_rows(y, score, None, positive))
    _needs_both_classes(pos, neg)
    return twice / (2 * pos * neg)


def sweep(
    y: Tensor, score: Tensor, weight: Tensor | None = None, positive: float | None = None
) -> Sweep:
    """The sweep of tensors, computed on their device; only its counts are copied to the host.

    Parameters
    ----------
    y : torch.Tensor
        Labels of B rows, of the shape (B,), (B, 1) or (1, B): ``0/1``, ``False/True`` or ``-1/1``;
        for any others, pass ``positive``.
    score : torch.Tensor
        Scores, of one of these shapes, higher meaning more positive: any real dtype, any range
        (logits or probabilities). ``±inf`` are scores; NaN is refused.
    weight : torch.Tensor, optional
        Weights, finite and at least 0, added up in float64. A device that has no float64 (Apple's
        ``mps``) refuses them: pass all columns on the CPU.
    positive : float, optional
        The positive label.

    Returns
    -------
    Sweep
        With the masses in the host's memory.

    Raises
    ------
    DataError
        If the input breaks one of the rules above, or is spread over several devices.

    Notes
    -----
    Other objects that support DLPack (CuPy, JAX) are used without copying.

    Counts are exact everywhere. On CUDA weights of equal scores are added in no fixed order, so
    that weighted masses may differ in the last bit from run to run, unless
    ``torch.use_deterministic_algorithms`` is on.

    The columns are copied to the host only if a row is invalid, so that the native core can find
    it.

    Examples
    --------
    >>> import torch, cutscore.torch
    >>> s = cutscore.torch.sweep(torch.tensor([-1, 1, 1]), torch.tensor([-2.5, 7.0, -2.5]))
    >>> s.threshold.tolist(), s.pos.tolist(), s.neg.tolist()
    ([7.0, -2.5], [1, 1], [0, 1])
    """
    y, score, w = _tensors(y, score, weight)
    if score.device.type == "cpu":
        return _host_sweep(y, score, w, positive)
    return _device_sweep(_read(y, score, w, positive))


class AUROC:
    """The exact AUC of rows that arrive in batches. It does not depend on how rows are divided into
    batches.

    Each batch is swept on its own device and the sweep is kept on the host, so that memory grows
    with the distinct scores, not with the rows. Weighted rows are kept on their device, because
    floating-point sums depend on the order of addition and the result must not depend on the
    batches.

    An invalid batch is rejected as a whole, without changing the accumulated rows. Batches may be
    empty or have one class only. Scores may be logits: no sigmoid is ever applied.

    Parameters
    ----------
    positive : float or None
        The positive label, as in :func:`sweep`.

    Examples
    --------
    >>> import torch
    >>> from cutscore.torch import AUROC
    >>> metric = AUROC()
    >>> metric.update(torch.tensor([1, 0, 0]), torch.tensor([0.1, 0.3, 0.3]))
    >>> metric.update(torch.tensor([1, 1, 0, 1]), torch.tensor([0.3, 0.9, 0.2, 0.2]))
    >>> metric
    AUROC of 7 rows
    >>> metric.compute() == 11 / 24
    True

    Merge the accumulators of several workers, or continue from a checkpoint:

    >>> other = AUROC()
    >>> other.load_state_dict(metric.state_dict())
    >>> metric.merge(other)
    >>> metric, metric.compute() == other.compute()
    (AUROC of 14 rows, True)
    """

    def __init__(self, positive: float | None = None) -> None:
        self.positive = positive
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self._negative: float | None = None  # the other label, if none was named as positive
        self._counts: list[Sweep] = []  # each more than twice as long as the next
        self._weighted: list[tuple[Tensor, Tensor, Tensor]] = []  # label, score, weight in order

    def update(self, y: Tensor, score: Tensor, weight: Tensor | None = None) -> None:
        """Add a batch of rows; the arguments are those of :func:`sweep`."""
        rows = _read(*_tensors(y, score, weight), self.positive)
        negative = self._common_negative(rows.negative)
        if rows.weight is None:
            self._push(_sweep_rows(rows))
        elif len(rows.score):
            # Clones: the caller may go on to change its tensors.
            self._weighted.append((rows.label, rows.score.clone(), rows.weight.clone()))
        self._negative = negative

    def merge(self, other: AUROC) -> None:
        """Add all rows of another accumulator, which stays as it is."""
        if not isinstance(other, AUROC):
            raise DataError(BadArgument("other", "be an AUROC", other))
        if _label(other.positive) != _label(self.positive):
            labels = (_label(self.positive), _label(other.positive))
            raise DataError(CantMerge("accumulators", "positive label", labels))
        self._negative = self._common_negative(other._negative)
        self._weighted += other._weighted
        for s in list(other._counts):
            self._push(s)

    def sweep(self) -> Sweep:
        """The sweep of all rows so far, for every curve and number that follows from it."""
        counts = self._fold()
        if not self._weighted:
            return counts
        weighted = _sweep_rows(_Rows(*self._rows()))
        return counts + weighted if len(counts) else weighted

    def compute(self) -> float:
        """The AUC of all rows so far; an UndefinedError while there is one class only."""
        return self.sweep().auc

    def state_dict(self) -> dict[str, Tensor]:
        """All rows so far as plain tensors, which ``torch.load(weights_only=True)`` reads."""
        s = self._fold()
        # NaN: no negative was seen yet.
        negative = np.nan if self._negative is None else self._negative
        classes = np.array([negative, _label(self.positive)], np.float64)
        # On the CPU, whatever the default device is: it may have no float64.
        threshold, pos, neg, labels = (
            torch.tensor(a, device="cpu") for a in (s.threshold, s.pos, s.neg, classes)
        )
        return dict(zip(_STATE, (threshold, pos, neg, *self._rows(), labels), strict=True))

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Replace all rows by those of a :meth:`state_dict`."""
        if not isinstance(state, Mapping):
            raise DataError(FieldUnfit("state", "what state_dict() returned", state))
        missing = [name for name in _STATE if name not in state]
        if missing:
            raise DataError(FieldUnfit(missing[0], "present"))
        for name in _STATE:
            if not isinstance(state[name], Tensor):
                raise DataError(FieldUnfit(name, "a tensor", state[name]))
        classes = state["classes"]
        if classes.shape != (2,) or classes.is_complex():
            value = Shown(f"{classes.dtype} of shape {tuple(classes.shape)}")
            raise DataError(FieldUnfit("classes", "the negative and the positive label", value))
        negative, positive = classes.tolist()
        if positive != _label(self.positive):
            rule = f"{_label(self.positive):g}, the positive label of this accumulator"
            raise DataError(FieldUnfit("classes[1]", rule, positive))
        counts = Sweep.from_counts(*(state[k].cpu() for k in ("threshold", "pos", "neg")))
        rows = _read(*_tensors(state["label"], state["score"], state["weight"]), None)
        assert rows.weight is not None
        self.reset()
        self._negative = None if isnan(negative) else negative
        self._push(counts)
        if len(rows.score):
            self._weighted = [(rows.label, rows.score.clone(), rows.weight.clone())]

    def __repr__(self) -> str:
        rows = sum(int(s.pos.sum() + s.neg.sum()) for s in self._counts) + sum(
            len(w) for _, _, w in self._weighted
        )
        return f"AUROC of {rows:,} rows"

    def _push(self, s: Sweep) -> None:
        # Like carries in a binary counter: a row is merged O(log n) times, not once a batch.
        while self._counts and len(self._counts[-1]) <= 2 * len(s):
            s = self._counts.pop() + s
        self._counts.append(s)

    def _fold(self) -> Sweep:
        if not self._counts:
            return Sweep(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        self._counts = [reduce(add, reversed(self._counts))]
        return self._counts[0]

    def _rows(self) -> tuple[Tensor, Tensor, Tensor]:
        """Label, score and weight of all weighted rows, on the device of the first."""
        if not self._weighted:
            none = torch.empty(0, dtype=torch.float64, device="cpu")
            return none.bool(), none, none
        device = self._weighted[0][0].device
        label, score, weight = (
            torch.cat([part.to(device) for part in parts])
            for parts in zip(*self._weighted, strict=True)
        )
        self._weighted = [(label, score, weight)]
        return label, score, weight

    def _common_negative(self, negative: float | None) -> float | None:
        """The negative label, provided that all rows have the same one."""
        if self._negative is None or negative is None or negative == self._negative:
            return self._negative if negative is None else negative
        raise DataError(TooManyLabels((1.0, self._negative, negative), negative))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Columns on one device that were checked: nothing else about them needs to be."""

    label: Tensor  # bool: positive or not
    score: Tensor  # no NaN, and exact as float64
    weight: Tensor | None  # float64
    negative: float | None = None  # what a negative looked like, if there was one


def _tensors(y: object, score: object, weight: object) -> tuple[Tensor, Tensor, Tensor | None]:
    """Tensors on one device; what is in them is not looked at."""
    label, s = _tensor(y, "label"), _tensor(score, "score")
    w = None if weight is None else _tensor(weight, "weight")
    for name, column in (("label", label), ("weight", w)):
        if column is not None and column.device != s.device:
            rule = f"be on the device of the scores, {s.device}"
            hint = f"Use tensor.to({str(s.device)!r})."
            raise DataError(BadArgument(name, rule, Shown(f"one on {column.device}"), hint))
    return label, s, w


def _tensor(given: object, name: str) -> Tensor:
    if isinstance(given, Tensor):
        values = given
    else:
        if not hasattr(given, "__dlpack__"):
            hint = "Use cutscore.sweep for lists, data frames and other data in host memory."
            raise DataError(BadArgument(name, "be a tensor", given, hint))
        if isinstance(given, np.ndarray) and min(given.strides, default=0) < 0:
            given = given.copy()  # torch has no such tensors: it would end the process
        try:
            values = from_dlpack(given)
        except (BufferError, RuntimeError, TypeError) as error:
            rule, hint = (
                "be in memory that torch can share",
                "Pass a tensor, or use cutscore.sweep.",
            )
            raise DataError(BadArgument(name, rule, given, hint)) from error
    if values.layout is not torch.strided:
        value, hint = Shown(str(values.layout)), "Pass .to_dense()."
        raise DataError(BadArgument(name, "be a dense tensor", value, hint))
    tensor: Tensor = values.detach().resolve_neg()
    if tensor.ndim == 2 and 1 in tensor.shape:
        # A view of one dimension; (1, 1) is one row. The caller's tensor keeps its shape.
        tensor = tensor.squeeze(0 if tensor.shape[0] == 1 else 1)
    if tensor.is_floating_point() and tensor.element_size() < 4:
        return tensor.float()  # NumPy lacks some of the small types, torch some of the operations
    return tensor


def _read(y: Tensor, score: Tensor, weight: Tensor | None, positive: float | None) -> _Rows:
    """Check the columns where they are; one small copy to the host tells that all is well."""
    columns = (y, score) if weight is None else (y, score, weight)
    # The rules on shapes, by the one function that knows them: arrays that have only a shape.
    shapes = [np.broadcast_to(np.float32(0), column.shape) for column in columns]
    check_rows(shapes[0], shapes[1], None if weight is None else shapes[2])
    rows = None
    if len(score) and not any(column.is_complex() for column in columns):
        rows = _check_columns(y, score, weight, positive)
    if rows is None:
        # A row breaks a rule. The native core knows which, and how to say it.
        _host_sweep(y.cpu(), score.cpu(), None if weight is None else weight.cpu(), positive)
        if len(score) and positive is not None:
            # It breaks none: there are several labels besides the positive one.
            rows = _check_columns(_is_positive(y, positive), score, weight, None)
        if len(score) and rows is None:
            rule = f"torch can't compare all values of the types {y.dtype} and {score.dtype} here"
            hint = "Convert them first: y == positive, score.double()."
            raise DataError(Conflict(("y", "score"), rule, hint))
        rows = rows or _Rows(y.bool(), score, _float64(weight))
    return rows if positive is None else replace(rows, negative=None)


def _is_positive(y: Tensor, positive: float) -> Tensor:
    """Where a label is the positive one."""
    label = _as_signed(y)
    if not y.dtype.is_signed and positive < 0:  # torch finds uint8 255 equal to -1
        return torch.zeros_like(label, dtype=torch.bool)
    return label == positive


def _check_columns(
    y: Tensor, score: Tensor, weight: Tensor | None, positive: float | None
) -> _Rows | None:
    """The columns if every row keeps every rule, else None."""
    label, s, w = _as_signed(y), _as_signed(score), _float64(weight)
    low, high = label.aminmax()
    # Labels are compared with labels only, or on the host: torch finds uint8 255 equal to -1.
    fine = [((label == low) | (label == high)).all()]
    if s.is_floating_point():
        fine.append(~s.isnan().any())
    elif s.element_size() == 8:
        least = -(2**53) if score.dtype.is_signed else 0  # a uint64 may have wrapped around
        fine.append(((s >= least) & (s <= 2**53)).all())
    if w is not None:
        fine += [(w >= 0).all(), w.sum().isfinite()]
    facts = torch.stack([low, high, *(fact.to(label.dtype) for fact in fine)])
    lowest, highest, *kept = facts.cpu().tolist()
    if not all(kept) or (lowest < 0 and not y.dtype.is_signed):
        return None
    seen = {lowest, highest}
    if positive is None:
        known = seen <= {0, 1} or seen <= {-1, 1}
    else:
        known = isinstance(positive, (Real, np.bool_)) and positive == positive  # noqa: PLR0124
        known = known and (positive in seen or len(seen) == 1)
    if not known:
        return None
    if w is not None and not s.is_floating_point():
        # As the native core reads them, so that batches of all types can be concatenated.
        s = s.to(torch.float32 if score.element_size() <= 2 else torch.float64)
    target = _label(positive)
    is_positive = torch.zeros_like(label, dtype=torch.bool)
    if target in seen:
        is_positive = label == (high if highest == target else low)
    negative = next((float(value) for value in seen if value != target), None)
    return _Rows(is_positive, s, w, negative)


def _as_signed(values: Tensor) -> Tensor:
    """As a type that has all operations: bool and the wide unsigned integers lack some."""
    if values.dtype is torch.bool:
        return values.to(torch.uint8)
    if not values.dtype.is_signed and values.element_size() > 1:
        return values.to(torch.int64)
    return values


def _float64(weight: Tensor | None) -> Tensor | None:
    try:
        return None if weight is None else weight.double()
    except TypeError as error:  # Apple's mps
        assert weight is not None
        rule = "be on a device that has float64, in which weights are added up"
        value, hint = Shown(f"one on {weight.device}"), "Pass all columns on the CPU: tensor.cpu()."
        raise DataError(BadArgument("weight", rule, value, hint)) from error


def _label(positive: float | None) -> float:
    return 1 if positive is None else positive


def _masses(rows: _Rows) -> tuple[Tensor, Tensor, Tensor]:
    """Distinct scores, descending, and the mass of each class at each, all on the rows' device."""
    score, order = rows.score.sort(descending=True)
    label = rows.label[order]
    if rows.weight is None:
        # -0.0 and 0.0 are neighbours, and equal to unique_consecutive.
        threshold, count = torch.unique_consecutive(score, return_counts=True)
        tp = label.cumsum(0, dtype=torch.int64)[count.cumsum(0) - 1]
        pos = tp.diff(prepend=tp.new_zeros(1))
        return threshold, pos, count - pos
    # Differences of cumulated floats would lose small weights that come after large ones.
    threshold, place = torch.unique_consecutive(score, return_inverse=True)
    weight, none = rows.weight[order], rows.weight.new_zeros(len(threshold))
    pos = none.index_add(0, place, weight * label)
    neg = none.index_add(0, place, weight * ~label)
    return threshold, pos, neg


def _sweep_rows(rows: _Rows) -> Sweep:
    if rows.score.device.type == "cpu":
        return _host_sweep(rows.label, rows.score, rows.weight)
    return _device_sweep(rows)


def _device_sweep(rows: _Rows) -> Sweep:
    threshold, pos, neg = (column.cpu().numpy() for column in _masses(rows))
    s = Sweep(threshold.astype(np.float64) + 0.0, pos, neg)  # -0.0 + 0.0 is 0.0
    if not s.weighted:
        return s
    some = (pos > 0) | (neg > 0)  # rows of weight 0 are ignored
    return Sweep(s.threshold[some], pos[some], neg[some])


def _device_auc(rows: _Rows) -> float:
    if rows.weight is not None and torch.are_deterministic_algorithms_enabled():
        return _device_sweep(rows).auc  # on the host: CUDA cumulates floats in no fixed order
    _, pos, neg = _masses(rows)
    if rows.weight is None:
        return _area(pos, neg)
    P, N = pos.sum(), neg.sum()
    p, n = pos / P, neg / N  # divided first, because P * N can leave the range of a float64
    auc, *classes = torch.stack([(n * (p.cumsum(0) - p / 2)).sum(), P, N]).cpu().tolist()
    _needs_both_classes(*classes)
    return min(1.0, float(auc))


def _area(pos: Tensor, neg: Tensor) -> float:
    """The AUC of counts: two integers, 2U and 2PN, and one division.

    2U leaves int64 from 2^31 positives and negatives on, so its terms are added up in two parts,
    which hold up to 2^38 rows.
    """
    beaten = 2 * pos.cumsum(0) - pos  # twice the positives above, once those at the same score
    sums = (pos, neg, neg * (beaten >> 24), neg * (beaten & (1 << 24) - 1))
    P, N, upper, lower = map(int, torch.stack([x.sum() for x in sums]).cpu().tolist())
    _needs_both_classes(P, N)
    return ((upper << 24) + lower) / (2 * P * N)


def _needs_both_classes(pos: float, neg: float) -> None:
    Sweep(np.zeros(1), np.array([pos]), np.array([neg])).needs_both_classes("the AUC")
