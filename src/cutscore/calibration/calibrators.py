"""Calibrators: maps from a score to its log-likelihood ratio. They know neither prior nor cost."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass, field, fields
from math import inf, isfinite, isnan, log
from numbers import Real
from typing import ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.calibration.comparison import MethodComparison
from cutscore.calibration.odds import probability, reshape
from cutscore.core import _native
from cutscore.core.checks import as_array, score_column
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Where
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.findings.rows import LengthsDiffer, ValueMissing
from cutscore.core.findings.statistics import NotProbabilities, Undefined
from cutscore.core.frozen import Frozen, derived
from cutscore.core.html import fact_table
from cutscore.core.json import Positive, loads, read_fields, with_format, without_format
from cutscore.measures.costs import Costs, check_costs
from cutscore.sweeps.sweep import Floats

# Scores are mapped in blocks that stay in the cache with everything computed of them.
_BLOCK = 1 << 14

_FORMAT, _VERSION = "cutscore calibrator", 1

# A probability of 0 counts as this, and 1 as 1 minus this, where logarithms are taken.
EPS = 2.0**-52


class Calibrator(Frozen):
    """A map from scores to log-likelihood ratios; make one with :func:`cutscore.calibrate`.

    ``LLR = ln P(score|+) − ln P(score|−)`` contains neither the share of positives nor the costs,
    so neither has to be known when it is fitted, and nothing is refitted when they change. Both
    are arguments at prediction: ``probability(score, prior)``, ``decide(score, costs, prior)``.
    """

    kind: ClassVar[str]
    """The kind of map, as it is named in the JSON."""
    domain: ClassVar[tuple[float, float]] = (-inf, inf)
    """The range that scores must lie in."""

    method: str
    """How it was fitted."""
    comparison: MethodComparison | None
    """The methods that "auto" compared, if "auto" chose this one."""

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if f.type == "Floats":
                vars(self)[f.name] = np.asarray(value, np.float64)
            elif f.type in ("float", "Positive"):
                if not isinstance(value, Real) or isnan(value):
                    raise DataError(BadArgument(f.name, "be a number", value))
                vars(self)[f.name] = float(value)
        super().__post_init__()
        self._validate()

    @overload
    def llr(self, score: float) -> float: ...
    @overload
    def llr(self, score: ArrayLike) -> Floats: ...
    def llr(self, score: ArrayLike) -> Floats | float:
        """The log-likelihood ratio of each score, in nats.

        Parameters
        ----------
        score : float or array-like
            Scores of any shape. NaN is refused. ``±inf`` have the limit of the LLR.

        Returns
        -------
        float or numpy.ndarray
            In the shape of ``score``.
        """
        a = as_array(score, "score")
        x = score_column(a.reshape(-1))
        out = np.empty(len(x))
        for start in range(0, len(x), _BLOCK):
            block = x[start : start + _BLOCK].astype(np.float64, copy=False)
            self._check(block, start)
            out[start : start + _BLOCK] = self._llr(block)
        return reshape(out, a.shape)

    @overload
    def probability(self, score: float, prior: float) -> float: ...
    @overload
    def probability(self, score: ArrayLike, prior: float) -> Floats: ...
    def probability(self, score: ArrayLike, prior: float) -> Floats | float:
        """P(+|score) at a prior: σ(LLR + ln clr), with clr = prior / (1 − prior).

        Parameters
        ----------
        score : float or array-like
            Scores of any shape.
        prior : float
            The share of positives where decisions are made.
        """
        return probability(self.llr(score), prior)

    @overload
    def decide(self, score: float, costs: Costs, prior: float) -> bool: ...
    @overload
    def decide(self, score: ArrayLike, costs: Costs, prior: float) -> NDArray[np.bool_]: ...
    def decide(self, score: ArrayLike, costs: Costs, prior: float) -> NDArray[np.bool_] | bool:
        """Whether flagging each case minimises expected cost: LLR ≥ ln(λ₋/λ₊) − ln clr.

        Parameters
        ----------
        score : float or array-like
            Scores of any shape.
        costs : Costs
            Costs of errors.
        prior : float
            The share of positives where decisions are made.
        """
        check_costs(costs, one_cut="a calibrator")
        return self.llr(score) >= costs.llr(prior)

    @property
    def monotone(self) -> bool:
        """Whether the LLR never decreases over the range of the scores it was fitted to."""
        return True

    def inverse(self, llr: ArrayLike) -> Floats | float:  # noqa: ARG002 - what an inverse takes
        """The score that has this log-likelihood ratio, for invertible calibrators."""
        why, hint = "can't be inverted: scores may share an LLR", "Affine calibrators can be."
        raise UndefinedError(Undefined(f"a {self.kind} calibrator", why, hint))

    def then(self, other: Calibrator) -> Calibrator:
        """The calibrator that applies this one and then ``other`` to its LLRs."""
        if not isinstance(other, Calibrator):
            raise DataError(BadArgument("other", "be a calibrator", other))
        return Chain((*_steps(self), *_steps(other)))

    def to_dict(self) -> dict[str, object]:
        """Numbers, strings and lists that :meth:`from_dict` reads back. The table ``comparison``
        is not saved."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.compare}  # type: ignore[arg-type]
        return with_format(_FORMAT, _VERSION, {"kind": self.kind} | own)

    def __eq__(self, other: object) -> bool:
        """The same map, fitted by the same method; ``comparison`` is ignored."""
        if not isinstance(other, Calibrator):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.kind, self.method))

    def to_json(self) -> str:
        """Readable JSON; floats survive the round trip exactly."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)

    @staticmethod
    def from_dict(data: object, where: str = "") -> Calibrator:
        """The calibrator that :meth:`to_dict` described; anything else is a DataError."""
        values = without_format(_FORMAT, _VERSION, data)
        kind = values.pop("kind", None)
        cls = _KINDS.get(kind) if isinstance(kind, str) else None
        if cls is None:
            raise DataError(FieldUnfit("kind", f"one of {', '.join(_KINDS)}", kind))
        found: Calibrator = read_fields(cls, values, where or cls.kind)
        return found

    @staticmethod
    def from_json(text: str | bytes) -> Calibrator:
        """The calibrator that :meth:`to_json` wrote."""
        return Calibrator.from_dict(loads(text, "a calibrator"))

    @abstractmethod
    def _llr(self, x: Floats) -> Floats:
        """The map itself, for float64 scores without NaN."""

    def _validate(self) -> None:
        """Raise a DataError unless the values fit together."""

    def _check(self, x: Floats, start: int) -> None:
        low, high = self.domain
        ok = (x >= low) & (x <= high)
        if ok.all():
            return
        row = int(ok.argmin())
        where = Where(start + row, "score")
        if np.isnan(x[row]):
            raise DataError(ValueMissing("score", "NaN", where=where))
        raise DataError(NotProbabilities(f"a {self.kind} calibrator", float(x[row]), where=where))

    def _facts(self) -> list[tuple[str, str]]:
        return [
            (f.name, f"{getattr(self, f.name):.3g}")
            for f in fields(self)  # type: ignore[arg-type]
            if isinstance(getattr(self, f.name), float)
        ]

    def _repr_html_(self) -> str:
        facts = [("method", self.method), *self._facts()]
        table = self.comparison._repr_html_() if self.comparison else ""
        return fact_table(f"{self.kind.capitalize()} calibrator", facts) + table

    def _with_comparison(self, text: str) -> str:
        return f"{text}\n{self.comparison!r}" if self.comparison else text


@dataclass(frozen=True, eq=False, repr=False)
class Affine(Calibrator):
    """LLR = γ (score − d₀): logistic and Platt's calibration.

    ``±inf`` have the LLR ±inf; with γ = 0 every score has LLR 0.

    Parameters
    ----------
    gamma : float
        The slope, in nats per unit of the score. Negative if positives score lower.
    d0 : float
        The score at which the LLR is 0.
    method : str
        How it was fitted.

    Examples
    --------
    >>> import cutscore as cs
    >>> c = cs.Affine(gamma=2.0, d0=0.5)
    >>> c.llr([0.5, 1.5]), c.inverse(2.0)
    (array([0., 2.]), 1.5)
    """

    kind = "affine"
    gamma: float
    d0: float
    method: str = "affine"
    comparison: MethodComparison | None = field(default=None, compare=False)

    @property
    def monotone(self) -> bool:
        """Whether γ is at least 0."""
        return self.gamma >= 0

    def _llr(self, x: Floats) -> Floats:
        if not self.gamma:
            return np.zeros(len(x))
        with np.errstate(over="ignore"):  # to ±inf, as it should
            return np.asarray(self.gamma * (x - self.d0))

    def inverse(self, llr: ArrayLike) -> Floats | float:
        """The score that has this log-likelihood ratio: LLR/γ + d₀."""
        if not self.gamma:
            why = "can't be inverted: every score has LLR 0"
            raise UndefinedError(Undefined("a calibrator with γ = 0", why))
        # The inverse of an affine map is an affine map, checks of the input included.
        return Affine(1 / self.gamma, -self.gamma * self.d0).llr(llr)

    def then(self, other: Calibrator) -> Calibrator:
        """The calibrator that applies this one and then ``other``; affine if both are."""
        if isinstance(other, Affine) and self.gamma:
            gamma, d0 = self.gamma * other.gamma, self.d0 + other.d0 / self.gamma
            if isfinite(gamma) and isfinite(d0):
                return Affine(gamma, d0)
        return super().then(other)

    def __repr__(self) -> str:
        sign = "−" if self.d0 >= 0 else "+"
        text = f"LLR = {self.gamma:.3g} (score {sign} {abs(self.d0):.4g}), {self.method}"
        if self.gamma < 0:
            text += "; decreasing: low scores indicate positives"
        return self._with_comparison(text)


@dataclass(frozen=True, eq=False, repr=False)
class Beta(Calibrator):
    """LLR = a ln p − b ln(1−p) + c, for scores p that are probabilities.

    0 and 1 count as 2⁻⁵² and 1 − 2⁻⁵². a = b = 1 leaves log odds as they are, up to c.

    Parameters
    ----------
    a, b : float
        At least 0, so that the map is monotone.
    c : float
        The intercept.

    Examples
    --------
    >>> import cutscore as cs
    >>> c = cs.Beta(a=1.0, b=0.5, c=0.2)
    >>> c
    LLR = 1 ln p − 0.5 ln(1−p) + 0.2, beta
    >>> c.llr([0.1, 0.5, 0.9]).round(3)
    array([-2.05 , -0.147,  1.246])
    """

    kind = "beta"
    domain = (0.0, 1.0)
    a: float
    b: float
    c: float
    method: str = "beta"
    comparison: MethodComparison | None = field(default=None, compare=False)

    def _llr(self, x: Floats) -> Floats:
        p = np.clip(x, EPS, 1 - EPS)
        return self.a * np.log(p) - self.b * np.log1p(-p) + self.c

    def _validate(self) -> None:
        for name, value in (("a", self.a), ("b", self.b)):
            if value < 0:
                raise DataError(BadArgument(name, "be at least 0", value))

    def __repr__(self) -> str:
        return self._with_comparison(
            f"LLR = {self.a:.3g} ln p − {self.b:.3g} ln(1−p) {_signed_text(self.c)}, {self.method}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Gaussian(Calibrator):
    """The LLR of two normal distributions, quadratic in the score where their variances differ.

    LLR = ln(σ₋/σ₊) + ½((score − μ₋)/σ₋)² − ½((score − μ₊)/σ₊)². A quadratic is not monotone: it
    changes direction at its turning point. ``±inf`` have the limit of the LLR there.

    Parameters
    ----------
    pos_mean, pos_sd, neg_mean, neg_sd : float
        Mean and standard deviation of the scores of either class.
    low, high : float
        The range of the scores it was fitted to.

    Examples
    --------
    >>> import cutscore as cs
    >>> c = cs.Gaussian(pos_mean=2.0, pos_sd=1.5, neg_mean=0.0, neg_sd=1.0, low=-3.0, high=6.0)
    >>> c.llr([-3, -1.6, 0, 2]).round(3)
    array([-1.461, -2.005, -1.294,  1.595])
    >>> c.monotone, round(c.turning_point, 3)
    (False, -1.6)
    """

    kind = "gaussian"
    pos_mean: float
    pos_sd: Positive
    neg_mean: float
    neg_sd: Positive
    low: float
    high: float
    method: str = "gaussian"
    comparison: MethodComparison | None = field(default=None, compare=False)

    @property
    def turning_point(self) -> float | None:
        """The score at the extremum of the LLR; None if there is none, since both classes have the
        same variance."""
        ratio = self.neg_sd / self.pos_sd
        if ratio == 1:
            return None
        if ratio > 1e100:  # its square is past every float; the limit
            return self.pos_mean
        return (self.neg_mean - ratio**2 * self.pos_mean) / (1 - ratio**2)

    @property
    def monotone(self) -> bool:
        """Whether the LLR never decreases over the range of the scores it was fitted to."""
        turn = self.turning_point
        if turn is None:
            return self.pos_mean >= self.neg_mean
        return turn <= self.low if self.neg_sd < self.pos_sd else turn >= self.high

    def _llr(self, x: Floats) -> Floats:
        # A difference of squares as a product: no cancellation where both are large.
        with np.errstate(over="ignore", invalid="ignore"):
            u, v = (x - self.neg_mean) / self.neg_sd, (x - self.pos_mean) / self.pos_sd
            out = 0.5 * (u - v) * (u + v) + log(self.neg_sd / self.pos_sd)
        lost = np.isnan(out)
        if lost.any():
            out[lost] = self._limit(x[lost])
        return np.asarray(out)

    def _limit(self, x: Floats) -> Floats:
        if self.neg_sd != self.pos_sd:
            return np.full(len(x), inf if self.neg_sd < self.pos_sd else -inf)
        if self.pos_mean == self.neg_mean:
            return np.zeros(len(x))
        return np.copysign(inf, x if self.pos_mean > self.neg_mean else -x)

    def _validate(self) -> None:
        if not self.low <= self.high:
            raise DataError(BadArgument("low", f"be at most high, {self.high:g}", self.low))

    def _facts(self) -> list[tuple[str, str]]:
        return [*super()._facts(), ("monotone", self._shape())]

    def _shape(self) -> str:
        turn = self.turning_point
        if turn is None:
            return "monotone" if self.monotone else "decreasing"
        side = "below" if self.neg_sd < self.pos_sd else "above"
        where = f"decreases {side} {turn:.4g}"
        if self.monotone:
            return f"monotone on the fitted range {self.low:.4g} to {self.high:.4g}; {where}"
        return f"not monotone: {where}"

    def __repr__(self) -> str:
        return self._with_comparison(
            f"LLR of N({self.pos_mean:.3g}, {self.pos_sd:.3g}²) against "
            f"N({self.neg_mean:.3g}, {self.neg_sd:.3g}²), {self.method}; {self._shape()}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Monotone(Calibrator):
    """A monotone map to LLRs: a step function (isotonic regression) or piecewise linear.

    Parameters
    ----------
    threshold : array of float
        The lower end of each step, decreasing; the last is −inf. The step of a score is the first
        whose threshold is at most that score. If interpolated: the knots.
    value : array of float
        The LLR of each step or knot, non-increasing.
    interpolate : bool
        Whether the map is linear between knots; it is constant beyond the outermost.
    tilt, centre, scale : float
        A term that makes the map strictly increasing: tilt · z/(1+\\|z\\|) with z = (score −
        centre)/scale. The tilt is 2⁻¹⁰ or 0.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([3, 2, 1], pos=[6, 3, 1], neg=[1, 3, 6])
    >>> c = cs.calibrate(s, "isotonic")
    >>> c.threshold, c.value.round(3)
    (array([ 2.5,  1.5, -inf]), array([ 1.792,  0.   , -1.792]))
    """

    kind = "monotone"
    threshold: Floats
    value: Floats
    interpolate: bool = False
    tilt: float = 0.0
    centre: float = 0.0
    scale: Positive = 1.0
    method: str = "isotonic"
    comparison: MethodComparison | None = field(default=None, compare=False)

    @derived
    def _rising(self) -> tuple[Floats, Floats]:
        inner = self.threshold if self.interpolate else self.threshold[:-1]
        return inner[::-1].copy(), self.value[::-1].copy()

    def _llr(self, x: Floats) -> Floats:
        at, value = self._rising
        if self.interpolate:
            out = np.interp(x, at, value)
        else:
            out = value[_native.look_up(at, np.ascontiguousarray(x), True, 1)]
        if self.tilt:
            z = np.clip((x - self.centre) / self.scale, -1e300, 1e300)
            out = out + self.tilt * (z / (1 + np.abs(z)))
        return np.asarray(out)

    def _validate(self) -> None:
        t, v = self.threshold, self.value
        if len(t) != len(v):
            raise DataError(LengthsDiffer("value", "threshold", len(v), len(t)))
        for name, fits, rule in (
            ("threshold", len(t) > 0, "have at least one step"),
            ("threshold", (t[1:] < t[:-1]).all(), "be decreasing"),
            ("value", (v[1:] <= v[:-1]).all(), "be non-increasing"),
            ("tilt", self.tilt >= 0, "be at least 0"),
            ("threshold", np.isfinite(t).all() or not self.interpolate, "be finite"),
            ("value", np.isfinite(v).all() or not self.interpolate, "be finite"),
            ("threshold", self.interpolate or (t[-1:] == -inf).all(), "end with -inf"),
        ):
            if not fits:
                raise DataError(BadArgument(name, rule, getattr(self, name)))

    def __len__(self) -> int:
        return len(self.value)

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("shape", self._shape()),
            (self._unit(2), f"{len(self):,}"),
            ("LLR", f"{self.value[-1]:.3g} to {self.value[0]:.3g}"),
        ]

    def _shape(self) -> str:
        shape = "piecewise linear" if self.interpolate else "step function"
        return shape + (", strictly increasing" if self.tilt else "")

    def _unit(self, n: int) -> str:
        return ("knot" if self.interpolate else "step") + ("s" if n > 1 else "")

    def __repr__(self) -> str:
        n = len(self)
        return self._with_comparison(
            f"LLR {self.value[-1]:.3g} to {self.value[0]:.3g}, {self.method}: {self._shape()} with "
            f"{n:,} {self._unit(n)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Chain(Calibrator):
    """Calibrators one after the other; see :meth:`cutscore.Calibrator.then`.

    Parameters
    ----------
    steps : tuple of Calibrator
        The calibrators: the first maps scores, each of the others the LLRs of the one before it.

    Examples
    --------
    >>> import cutscore as cs
    >>> c = cs.Beta(1.0, 1.0, 0.0).then(cs.Affine(0.5, 0.0))  # half the log odds
    >>> c
    LLR = 1 ln p − 1 ln(1−p) + 0, beta, then LLR = 0.5 (score − 0), affine
    >>> round(c.llr(0.9), 3)
    1.099
    """

    kind = "chain"
    steps: tuple[Calibrator, ...]
    method: str = "chain"
    comparison: MethodComparison | None = field(default=None, compare=False)

    @property
    def monotone(self) -> bool:
        """Whether all steps are monotone."""
        return all(step.monotone for step in self.steps)

    def _llr(self, x: Floats) -> Floats:
        for step in self.steps:
            x = step._llr(x)
        return x

    def _check(self, x: Floats, start: int) -> None:
        self.steps[0]._check(x, start)

    def _validate(self) -> None:
        if not self.steps or any(isinstance(step, Chain) for step in self.steps):
            raise DataError(BadArgument("steps", "have at least one calibrator, and no chain"))
        for step in self.steps[1:]:
            if step.domain != (-inf, inf):
                rule = f"have a {step.kind} calibrator first: it maps probabilities, not LLRs"
                raise DataError(BadArgument("steps", rule))

    def __repr__(self) -> str:
        return ", then ".join(map(repr, self.steps))


_KINDS: dict[str, type[Calibrator]] = {
    cls.kind: cls for cls in (Affine, Beta, Gaussian, Monotone, Chain)
}


def _steps(c: Calibrator) -> tuple[Calibrator, ...]:
    return c.steps if isinstance(c, Chain) else (c,)


def _signed_text(x: float) -> str:
    return f"{'−' if x < 0 else '+'} {abs(x):.3g}"
