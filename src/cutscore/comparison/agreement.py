"""Agreement of two raters beyond chance: Cohen's kappa with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.comparison.rows import Ints, ScoredRows, encode_column
from cutscore.core.checks import as_vector, check_weights, one_of
from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import shown
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.findings.statistics import TooFew, Undefined
from cutscore.core.frozen import Frozen
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text
from cutscore.core.types import Label
from cutscore.inference.bootstrap import percentiles
from cutscore.measures.confusion import count_text
from cutscore.measures.prior import check_level
from cutscore.sweeps.sweep import Floats, Masses

_WHAT = "Cohen's kappa"

# Simulated tables for an interval, and how many cells of them are held at a time.
_DRAWS = 10_000
_CELLS = 2**20

# A table of the labels of two raters has the square of this number of cells.
_MOST_LABELS = 100


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Frozen):
    """Agreement of two raters; see :func:`cutscore.cohen_kappa`.

    Parameters
    ----------
    kappa : float
        Cohen's kappa: 1 for perfect agreement, 0 for the agreement expected by chance, negative for
        less.
    interval : Interval
        Its confidence interval.
    observed : float
        The observed agreement: the share of rows with the same label. For ordinal labels, 1 minus
        the mean disagreement, relative to the largest possible one.
    expected : float
        The agreement of independent raters with the same shares of labels.
    labels : tuple
        All labels, in ascending order.
    counts : ndarray of shape (n_labels, n_labels)
        The number of rows, or their weight, with each pair of labels: rows for the first rater,
        columns for the second.
    """

    kappa: float
    interval: Interval
    observed: float
    expected: float
    labels: tuple[Label, ...]
    counts: Masses

    def __repr__(self) -> str:
        unit = "weight" if self.counts.dtype.kind == "f" else "rows"
        return (
            f"kappa {estimate_text(self.kappa, self.interval)}; observed agreement "
            f"{self.observed:.3f}, by chance {self.expected:.3f}; {len(self.labels)} labels, "
            f"{count_text(self.counts.sum())} {unit}"
        )

    def _title(self) -> str:
        return "Agreement"

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("Cohen's kappa", estimate_text(self.kappa, self.interval)),
            ("observed agreement", f"{self.observed:.3f}"),
            ("agreement by chance", f"{self.expected:.3f}"),
            ("labels", ", ".join(map(str, self.labels))),
        ]


def cohen_kappa(  # noqa: PLR0913 - options have names
    a: ArrayLike,
    b: ArrayLike,
    *,
    ordinal: Literal["linear", "quadratic"] | None = None,
    weight: ArrayLike | None = None,
    unit: ArrayLike | None = None,
    level: float = 0.95,
) -> Agreement:
    r"""Cohen's kappa for two raters of the same rows, with a confidence interval.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}

    with the observed agreement p_o and the agreement p_e of independent raters whose labels have
    the same shares.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        The labels of each rater: gold labels and the decisions of a judge, or those of two judges.
        At most 100 distinct labels, all of them text or all of them numbers.
    ordinal : {"linear", "quadratic"}, optional
        For ratings, which must be numbers: a disagreement counts by its size |a − b|, or by
        (a − b)². By default all disagreements count the same.
    weight : array-like of shape (n_samples,), optional
        Weights of the rows, such as inverse sampling rates.
    unit : array-like of shape (n_samples,), optional
        The cluster of each row (conversation, patient), if rows of one cluster are correlated.
    level : float, default 0.95
        The confidence level of the interval.

    Returns
    -------
    Agreement

    Raises
    ------
    UndefinedError
        If both raters give all rows the same label: kappa is 0/0.

    Notes
    -----
    The interval consists of percentiles of kappa in 10,000 tables drawn from a Dirichlet
    distribution with the observed counts plus a prior. In the prior, the cells of agreement share
    one row, and those of disagreement half a row. So a table without disagreement does not give an
    interval of zero width. The asymptotic interval of Fleiss, Cohen & Everitt covers as little as
    20 % if few rows disagree; this one covered 93 to 98 % in our simulations, from 50 rows on. It
    under-covers if kappa is below 0 and one label is rare, and for ordinal labels if a few large
    disagreements determine kappa: 89 % with 50 rows.

    Weighted or clustered rows count as the number of independent rows with the same variance of
    kappa, by linearisation.

    References
    ----------
    Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20 (1960). https://doi.org/10.1177/001316446002000104. Cohen, "Weighted kappa",
    Psychological Bulletin 70 (1968). https://doi.org/10.1037/h0026256. Fleiss, Cohen & Everitt,
    "Large sample standard errors of kappa and weighted kappa", Psychological Bulletin 72 (1969).
    https://doi.org/10.1037/h0028106

    Examples
    --------
    >>> import cutscore as cs
    >>> gold = ["ok"] * 70 + ["bad"] * 30
    >>> judge = ["ok"] * 66 + ["bad"] * 28 + ["ok"] * 6
    >>> agreement = cs.cohen_kappa(gold, judge)
    >>> agreement
    kappa 0.757 (95 % CI 0.590–0.872); observed agreement 0.900, by chance 0.588; 2 labels, 100 rows
    >>> agreement.labels, agreement.counts.tolist()
    (('bad', 'ok'), [[24, 6], [4, 66]])
    """
    level = check_level(level)
    if ordinal is not None:
        one_of("ordinal", ordinal, ("linear", "quadratic"))
    rows, codes, labels = _read(a, b, weight)
    size = len(labels)
    cell = size * codes[0] + codes[1]
    counts: Any = np.bincount(cell, rows.weight, size * size).reshape(size, size)
    table = _Disagreement.of(labels, ordinal)
    total, (disagree, by_chance) = counts.sum().item(), table.sums(counts)
    if not by_chance > 0:
        why = f"is 0/0: both raters give every row the label {shown(labels[0])}"
        raise UndefinedError(Undefined(_WHAT, why, "Report the observed agreement."))
    kappa = float((by_chance - total * disagree) / by_chance)
    n = (
        total
        if rows.weight is None and unit is None
        else _independent(table, counts, cell, rows, unit)
    )
    interval = _interval(table, counts * (n / total), kappa, level)
    largest = table.distance.max().item()
    observed, expected = (
        float(1 - part / largest) for part in (disagree / total, by_chance / total / total)
    )
    return Agreement._adopt(kappa, interval, observed, expected, tuple(labels), counts)


@dataclass(frozen=True)
class _Disagreement:
    """How much each pair of labels disagrees: 0 on the diagonal."""

    distance: NDArray[Any]

    @classmethod
    def of(cls, labels: list[Any], ordinal: str | None) -> _Disagreement:
        if ordinal is None:
            return cls(1 - np.eye(len(labels), dtype=np.int64))
        if any(isinstance(label, str) for label in labels):
            hint = "Drop ordinal, or use numbers as labels."
            raise DataError(BadArgument("a", "be numbers for an ordinal kappa", labels[0], hint))
        value = np.asarray(labels, np.float64)
        gap = np.abs(value[:, None] - value)
        return cls(gap if ordinal == "linear" else gap**2)

    def sums(self, counts: NDArray[Any]) -> tuple[Any, Any]:
        """Σ v n, and Σ v r c of the margins r and c: n² times what chance gives."""
        margins = np.einsum("...ij->...i", counts), np.einsum("...ij->...j", counts)
        disagree = np.einsum("...ij,ij->...", counts, self.distance)
        return disagree, np.einsum("...i,ij,...j->...", margins[0], self.distance, margins[1])

    def slope(self, counts: Masses) -> Floats:
        """How kappa changes with the share of each pair of labels, but for a constant."""
        p = counts / counts.sum()
        disagree, by_chance = self.sums(p)
        of_a, of_b = self.distance @ p.sum(axis=0), p.sum(axis=1) @ self.distance
        expected = of_a[:, None] + of_b
        return np.asarray((disagree / by_chance * expected - self.distance) / by_chance)


def _read(
    a: ArrayLike, b: ArrayLike, weight: ArrayLike | None
) -> tuple[ScoredRows, tuple[Ints, Ints], list[Any]]:
    """Rows of positive weight, the codes of both raters' labels, and the labels in order."""
    sizes = [len(as_vector(column, name)) for column, name in ((a, "a"), (b, "b"))]
    if sizes[0] != sizes[1]:
        raise DataError(LengthsDiffer("b", "a", sizes[1], sizes[0]))
    w = None if weight is None else check_weights(weight)
    if w is not None and len(w) != sizes[0]:
        raise DataError(LengthsDiffer("weight", "a", len(w), sizes[0]))
    kept = np.ones(sizes[0], np.bool_) if w is None else w > 0
    rows = ScoredRows(kept, [], None if w is None else w[kept], kept)
    if (have := int(kept.sum())) < 2:
        raise UndefinedError(TooFew(_WHAT, 2, "rows", have))
    found = [encode_column(column, name, rows) for column, name in ((a, "a"), (b, "b"))]
    seen = [label.tolist() for label, _ in found]
    if len({isinstance(label, (str, bytes)) for label in seen[0] + seen[1]}) > 1:
        rule = f"have labels of the same type as a, such as {shown(seen[0][0])}"
        raise DataError(BadArgument("b", rule, seen[1][0]))
    labels = sorted({*seen[0], *seen[1]})
    if len(labels) > _MOST_LABELS:
        hint = "Compare decisions: cut scores at a threshold first."
        rule = f"have at most {_MOST_LABELS} distinct labels"
        raise DataError(BadArgument("a", rule, len(labels), hint))
    place = {label: k for k, label in enumerate(labels)}
    first, second = (
        np.array([place[label] for label in own])[code]
        for own, (_, code) in zip(seen, found, strict=True)
    )
    return rows, (first, second), labels


def _independent(
    table: _Disagreement, counts: Masses, cell: Ints, rows: ScoredRows, unit: ArrayLike | None
) -> float:
    """The number of independent rows of equal weight for which kappa has the same variance."""
    w = np.ones(len(cell)) if rows.weight is None else rows.weight / rows.weight.mean()
    of = np.arange(len(cell)) if unit is None else encode_column(unit, "unit", rows)[1]
    units = int(of.max()) + 1
    if units < 2:
        raise UndefinedError(TooFew(_WHAT, 2, "clusters", units))
    p, slope = counts.ravel() / counts.sum(), table.slope(counts).ravel()
    slope = slope - p @ slope
    variance = p @ slope**2
    errors = np.bincount(of, w * slope[cell], units)
    noise = errors @ errors / len(cell) ** 2 * (units / (units - 1))
    if not noise > 0 or not variance > 0:  # no disagreement, or no other: count the units
        mass = np.bincount(of, w, units)
        return float(mass.sum() ** 2 / (mass @ mass))
    return float(variance / noise)


def _interval(table: _Disagreement, counts: Floats, kappa: float, level: float) -> Interval:
    """Percentiles of kappa in tables drawn from a Dirichlet distribution."""
    size = len(counts)
    # Jeffreys' half a row for the rate of disagreement, which may be near 0; and one row for the
    # cells of agreement, of which each may be as rare. Pairs of labels that are far apart get less,
    # or they would exceed the disagreement that was observed.
    apart = table.distance > 0
    prior = np.divide(1.0, np.sqrt(table.distance), out=np.zeros((size, size)), where=apart)
    prior *= 0.5 / prior.sum()
    np.fill_diagonal(prior, 1 / size)
    rng, values = np.random.default_rng(0), []
    block = max(1, _CELLS // size**2)
    for start in range(0, _DRAWS, block):
        draws = min(block, _DRAWS - start)
        drawn = rng.standard_gamma(counts + prior, (draws, size, size))
        disagree, by_chance = table.sums(drawn)
        some = by_chance > 0  # a draw may have one label only
        total = drawn.sum(axis=(1, 2))[some]
        values.append(1 - total * disagree[some] / by_chance[some])
    low, high = percentiles(np.concatenate(values), level)
    return Interval(min(low, kappa), max(high, kappa), level)
