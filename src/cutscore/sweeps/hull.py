"""The upper convex hull of the ROC curve: the cuts that are best at some ratio of costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import frexp
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from cutscore.core import _native
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import shown
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import thumbnail
from cutscore.measures.prior import check_prior
from cutscore.sweeps.sweep import Floats, Masses, Sweep


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Frozen):
    """The vertices of the upper convex hull of a ROC curve; see :func:`cutscore.hull`.

    Parameters
    ----------
    threshold : array of float
        The score at which each vertex is reached, descending from ``+inf``.
    tp, fp : array of int or float
        The masses flagged there, from (0, 0) to (P, N).
    slope : array of float
        The slope of the segment that leaves each vertex but the last, falling: the likelihood ratio
        P(s|+)/P(s|−) of the scores that the segment spans.
    odds : array of float
        The same as posterior odds, slope · P/N: positives for each negative on the segment.
    cut : array of int
        How many of the distinct scores each vertex flags.
    """

    threshold: Floats
    tp: Masses
    fp: Masses
    slope: Floats
    odds: Floats
    cut: NDArray[np.int64]

    @derived
    def tpr(self) -> Floats:
        """TP/P."""
        return np.asarray(self.tp / self.tp[-1])

    @derived
    def fpr(self) -> Floats:
        """FP/N."""
        return np.asarray(self.fp / self.fp[-1])

    @derived
    def auc(self) -> float:
        """Area under the hull: the AUC of the scores after the best monotone calibration."""
        return Sweep(self.threshold[1:], np.diff(self.tp), np.diff(self.fp)).auc

    def __len__(self) -> int:
        return len(self.threshold)

    def __repr__(self) -> str:
        return f"Hull of {len(self):,} vertices, area {self.auc:.6g}"

    def _title(self) -> str:
        return "Convex hull of the ROC curve"

    def _facts(self) -> list[tuple[str, str]]:
        return [("vertices", f"{len(self):,}"), ("area", f"{self.auc:.3f}")]

    def _picture(self) -> str:
        return thumbnail(self.fpr, self.tpr, self._title())


class CostRange(NamedTuple):
    """The ratios λ₋/λ₊, of the costs of a false alarm and of a miss, at which a classifier is
    best; see :func:`cutscore.hull`."""

    name: str
    """The classifier."""
    low: float
    """The ratio from which on it is best."""
    high: float
    """Up to which; inf if there is no end."""


@dataclass(frozen=True, eq=False, repr=False)
class JointHull(Frozen):
    """The upper convex hull of several classifiers together; see :func:`cutscore.hull`.

    Parameters
    ----------
    names : tuple of str
        The classifiers.
    classifier : array of int
        Which of them each vertex belongs to; −1 at an end that is nobody's, where nothing or
        everything is flagged whatever the scores are.
    threshold : array of float
        The score at which it is reached; nan where a classifier is a single point.
    fpr, tpr : array of float
        The rates, from (0, 0) to (1, 1).
    slope : array of float
        The slope of the segment that leaves each vertex but the last, falling.
    points : array of float
        The rates (FPR, TPR) of each classifier that is a single point, on the hull or below it;
        a row of nan for each that is a sweep.
    """

    names: tuple[str, ...]
    classifier: NDArray[np.int64]
    threshold: Floats
    fpr: Floats
    tpr: Floats
    slope: Floats
    points: Floats

    @derived
    def auc(self) -> float:
        """Area under the joint hull: what choosing the classifier for the costs can reach."""
        return float(np.sum(np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])) / 2)

    def ranges(self, prior: float) -> list[CostRange]:
        """Which classifier is best at which ratio λ₋/λ₊ of costs, from cheap to expensive false
        alarms, where the share ``prior`` of the cases is positive."""
        p = check_prior(prior)
        odds = p / (1 - p)
        edges = [np.inf, *(self.slope * odds).tolist(), 0.0]
        out: list[CostRange] = []
        last = None
        for k in reversed(range(len(self.fpr))):
            at = int(self.classifier[k])
            name = self.names[at] if at >= 0 else ("flag all" if self.tpr[k] else "flag none")
            low, high = edges[k + 1], edges[k]
            if out and last == (at, name):
                out[-1] = CostRange(name, out[-1].low, high)
            elif low < high:
                out.append(CostRange(name, low, high))
                last = (at, name)
        return out

    def __len__(self) -> int:
        return len(self.fpr)

    def __repr__(self) -> str:
        inner = self.classifier[self.classifier >= 0]
        used = ", ".join(self.names[k] for k in dict.fromkeys(inner.tolist())) or "no classifier"
        return f"JointHull of {len(self):,} vertices, area {self.auc:.6g}: {used}"

    def _title(self) -> str:
        return "Convex hull of several classifiers"

    def _facts(self) -> list[tuple[str, str]]:
        used = {int(k) for k in self.classifier}
        facts = [("area", f"{self.auc:.3f}")]
        return facts + [
            (
                name,
                f"{np.count_nonzero(self.classifier == k)} vertices" if k in used else "never best",
            )
            for k, name in enumerate(self.names)
        ]

    def _picture(self) -> str:
        return thumbnail(self.fpr, self.tpr, self._title())


RocClassifier: TypeAlias = Sweep | Sequence[float]
"""What is in a ROC plot: a sweep, or the rates (FPR, TPR) of a classifier without a score."""


@overload
def hull(s: Sweep) -> Hull: ...
@overload
def hull(s: Sequence[RocClassifier] | Mapping[str, RocClassifier]) -> JointHull: ...
def hull(s: Sweep | Sequence[RocClassifier] | Mapping[str, RocClassifier]) -> Hull | JointHull:
    """Upper convex hull of the ROC curve, of one sweep or of several classifiers together.

    Its vertices are the cuts that are best for some costs: the vertex where the slope passes
    λ₋π₋/(λ₊π₊) has the lowest expected cost. The slopes are likelihood ratios, and slope · P/N are
    the odds of the isotonic regression of the labels on the scores. From counts it is found with
    integers, without rounding; points on a segment are no vertices.

    Parameters
    ----------
    s : Sweep, or sequence or dict of Sweep and (FPR, TPR)
        A sweep. Or several classifiers, as a sequence or a mapping from names: sweeps, and pairs
        (FPR, TPR) for classifiers that are a single point.

    Returns
    -------
    Hull or JointHull

    References
    ----------
    Provost & Fawcett, "Robust classification for imprecise environments", Machine Learning 42
    (2001). https://doi.org/10.1023/A:1007601015854

    Fawcett & Niculescu-Mizil, "PAV and the ROC convex hull", Machine Learning 68 (2007).
    https://doi.org/10.1007/s10994-007-5011-0

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> h = cs.hull(s)
    >>> h.tp, h.fp
    (array([0, 1, 3, 4, 4]), array([0, 0, 1, 2, 4]))
    >>> h.slope
    array([inf,  2.,  1.,  0.])
    >>> h.auc, s.auc
    (0.84375, 0.75)

    A score and a fixed rule: the rule is best where a false alarm costs 1 to 3.5 times a miss.

    >>> for best in cs.hull({"score": s, "rule": (0.1, 0.6)}).ranges(prior=0.5):
    ...     print(best)
    CostRange(name='score', low=0.0, high=1.0)
    CostRange(name='rule', low=1.0, high=3.5)
    CostRange(name='score', low=3.5, high=inf)
    """
    if isinstance(s, Sweep):
        return _hull(s)
    try:
        named = list(s.items() if isinstance(s, Mapping) else enumerate(s))
    except TypeError:
        named = []
    if not named:
        rule = "be a sweep, or a sequence or mapping of sweeps and (FPR, TPR) points"
        raise DataError(BadArgument("s", rule, s))
    return _joint([str(name) for name, _ in named], [one for _, one in named])


def _hull(s: Sweep) -> Hull:
    s.needs_both_classes("a hull")
    v = vertices(s)
    threshold = np.concatenate(([np.inf], s.threshold[v.cut[1:] - 1]))
    s.forget()
    # One product with a constant: odds that fall make slopes that fall. N / P itself may be too
    # large or too small for a float.
    (m, e), (of_n, e_n), (of_p, e_p) = np.frexp(v.odds), frexp(s.N), frexp(s.P)
    with np.errstate(over="ignore"):
        slope = np.ldexp(m * (of_n / of_p), e + (e_n - e_p))
    return Hull(threshold, v.tp, v.fp, slope, v.odds, v.cut)


class Vertices(NamedTuple):
    """Cuts of a sweep that are vertices of a hull, what they flag, and the odds TP : FP of the
    segments between them."""

    cut: NDArray[np.int64]
    tp: Masses
    fp: Masses
    odds: Floats


def vertices(s: Sweep, first: int = 0) -> Vertices:
    """The vertices of the hull of all cuts of a sweep from the ``first`` on, 0 or 1: where scores
    are +inf, no threshold makes cut 0.

    A vertex of the whole is one of its part. So parts are reduced to their own hulls, of a few
    hundred vertices each, and the hull of these is the hull of all.
    """
    find: Any = _native.weighted_corners if s.weighted else _native.corners
    found: list[Vertices] = []
    for at in s.parts():
        # Up and then right is the only turn that a vertex can have.
        cut, tp, fp = find(s.pos[at], s.neg[at], *(mass.item() for mass in s.before(at)))
        skip = 0 if found else first
        own, odds = chain(np.arange(skip, len(cut)), tp[skip:], fp[skip:])
        found.append(Vertices(cut[own] + at.start, tp[own], fp[own], odds))
    if len(found) == 1:
        return found[0]
    # Each part begins where the one before ends.
    cut, tp, fp = (
        np.concatenate([column[:1], *(each[k][1:] for each in found)])
        for k, column in enumerate(found[0][:3])
    )
    own, odds = chain(np.arange(len(cut)), tp, fp)
    return Vertices(cut[own], tp[own], fp[own], odds)


def chain(name: NDArray[np.int64], tp: Masses, fp: Masses) -> tuple[NDArray[np.int64], Floats]:
    """The names of those points of a staircase that are vertices of its hull, and the odds TP : FP
    of the segments between them."""
    if tp.dtype.kind == "f":
        # Scaled by powers of two: no product overflows or vanishes, and none is rounded by it.
        (_, up), (_, right) = np.frexp(tp[-1]), np.frexp(fp[-1])
        ends, pos, neg = _native.weighted_hull(np.ldexp(tp, -up), np.ldexp(fp, -right))
        with np.errstate(divide="ignore", over="ignore"):
            odds = np.ldexp(pos / neg, up - right)
    else:
        ends, *masses = _native.hull(np.ascontiguousarray(tp), np.ascontiguousarray(fp))
        with np.errstate(divide="ignore"):
            odds = masses[0] / masses[1]
    return np.concatenate((name[:1], name[ends])), odds


class _Vertex(NamedTuple):
    fpr: Fraction
    tpr: Fraction
    classifier: int
    threshold: float


def _joint(names: list[str], classifiers: list[RocClassifier]) -> JointHull:
    points = [
        vertex
        for k, (name, classifier) in enumerate(zip(names, classifiers, strict=True))
        for vertex in _vertices(k, name, classifier)
    ]
    # From left to right, and the best first where several share a rate.
    points.sort(key=lambda v: (v.fpr, -v.tpr, v.classifier))
    kept = [_Vertex(Fraction(0), Fraction(0), -1, np.inf)]
    for v in [*points, _Vertex(Fraction(1), Fraction(1), -1, -np.inf)]:
        if v.tpr <= kept[-1].tpr and (v.classifier >= 0 or kept[-1].fpr == 1):
            continue
        while len(kept) > 1 and _at_or_below(kept[-2], kept[-1], v):
            kept.pop()
        kept.append(v)
    rates = np.array([(float(v.fpr), float(v.tpr)) for v in kept])
    slope = [
        np.inf if b.fpr == a.fpr else float((b.tpr - a.tpr) / (b.fpr - a.fpr))
        for a, b in pairwise(kept)
    ]
    return JointHull(
        tuple(names),
        np.array([v.classifier for v in kept]),
        np.array([v.threshold for v in kept]),
        rates[:, 0].copy(),
        rates[:, 1].copy(),
        np.array(slope),
        np.array(
            [(np.nan, np.nan) if isinstance(one, Sweep) else rates_of(one) for one in classifiers]
        ),
    )


def _vertices(k: int, name: str, classifier: RocClassifier) -> list[_Vertex]:
    if isinstance(classifier, Sweep):
        h = _hull(classifier)
        P, N = Fraction(h.tp[-1].item()), Fraction(h.fp[-1].item())
        columns = (h.fp.tolist(), h.tp.tolist(), h.threshold.tolist())
        inner = list(zip(*columns, strict=True))[1:-1]
        return [_Vertex(Fraction(fp) / N, Fraction(tp) / P, k, t) for fp, tp, t in inner]
    rates = rates_of(classifier)
    if rates is None:
        rule = "be a sweep or a point (FPR, TPR) with rates from 0 to 1"
        raise DataError(BadArgument("s", rule, classifier, subject=f"classifier {name}"))
    # As the decimals that they are written as: points on a line are on a line.
    fpr, tpr = (Fraction(repr(rate)) for rate in rates)
    return [_Vertex(fpr, tpr, k, np.nan)]


def rates_of(point: object) -> tuple[float, float] | None:
    """The rates of a classifier that is a single point (FPR, TPR); None if it is none."""
    try:
        fpr, tpr = (float(rate) for rate in point)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        return None
    return (fpr, tpr) if 0 <= fpr <= 1 and 0 <= tpr <= 1 else None


def check_points(points: object) -> dict[str, tuple[float, float]]:
    """Classifiers that are single points (FPR, TPR), by name."""
    if not isinstance(points, Mapping):
        rule, hint = "map names to rates (FPR, TPR)", 'Pass points={"old rule": (0.1, 0.6)}.'
        raise DataError(BadArgument("points", rule, points, hint))
    out = {}
    for name, point in points.items():
        rates = rates_of(point)
        if rates is None:
            rule = "be a pair (FPR, TPR) of rates from 0 to 1, such as (0.1, 0.6)"
            subject = f"the point {shown(str(name))}"
            raise DataError(BadArgument("points", rule, point, subject=subject))
        out[str(name)] = rates
    return out


def _at_or_below(a: _Vertex, b: _Vertex, c: _Vertex) -> bool:
    """Whether b lies on or below the line from a to c."""
    return (b.tpr - a.tpr) * (c.fpr - a.fpr) <= (c.tpr - a.tpr) * (b.fpr - a.fpr)
