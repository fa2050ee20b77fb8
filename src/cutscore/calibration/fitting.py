"""calibrate and cross_fit: fit a calibrator to a sweep by a named method, or by the best one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from math import nan, sqrt
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.calibration.calibrators import Calibrator, Monotone
from cutscore.calibration.comparison import Entry, MethodComparison
from cutscore.calibration.methods import (
    CANDIDATES,
    METHODS,
    candidate,
    family,
    merge_neighbours,
    starts_of,
)
from cutscore.core.checks import check_rows, one_of
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings import BadArgument
from cutscore.core.findings.base import Finding, either, shown
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.findings.statistics import FoldOneClass, TooFew
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep, square_weights, sweep

Flags = NDArray[np.bool_]
Folds = NDArray[np.intp]
_T = TypeVar("_T")

_OPTIONS: dict[str, tuple[str, ...]] = {
    "logistic": (),
    "platt": ("smooth",),
    "beta": ("smooth",),
    "gaussian": (),
    "spline": (),
    "isotonic": ("smooth", "interpolate", "strict"),
    "auto": ("folds", "seed"),
}

# NumPy draws from fewer rows than this without replacement.
_MOST_DRAWN = 10**9


def calibrate(  # noqa: PLR0913 - the options of the methods
    s: Sweep,
    method: str = "auto",
    *,
    smooth: bool | None = None,
    interpolate: bool | None = None,
    strict: bool | None = None,
    folds: int | None = None,
    seed: int | None = None,
) -> Calibrator:
    r"""Fit a calibrator, a map from scores to log-likelihood ratios, to a sweep.

    It depends on neither the prior nor the costs: both are arguments at prediction, and nothing is
    refitted when they change.

    Parameters
    ----------
    s : Sweep
        The sweep, with both classes. Weights count as numbers of rows.
    method : str, default "auto"
        ``"logistic"``: γ = (d̄₊ − d̄₋)/σ² and d₀ = (d̄₊ + d̄₋)/2, from the means of the classes and
        their pooled variance σ² (divisor P + N). Exact for normal scores of equal variance.
        ``"platt"``: the same shape, γ (score − d₀), by maximum likelihood. ``"beta"``: a ln p − b
        ln(1−p) + c with a, b ≥ 0, for scores that are probabilities, by maximum likelihood; 0 and 1
        count as 2⁻⁵² and 1 − 2⁻⁵². ``"gaussian"``: normal scores of any variances (divisors P and
        N), a quadratic that need not be monotone. ``"isotonic"``, or its alias ``"monotone"``:
        isotonic regression (PAV), which is the slopes of the ROC convex hull. ``"spline"``:
        piecewise linear and monotone, by maximum likelihood with Platt's targets, constant beyond
        the observed scores; its 2 to 32 pieces, about 1.6 · min(P, N)^⅕, lie between quantiles of
        both classes. ``"auto"``: the monotone method with the least log loss in cross-validation.
    smooth : bool, optional
        For ``"platt"`` and ``"beta"``, default False: use Platt's targets (P+1)/(P+2) and 1/(N+2)
        instead of 1 and 0, which give a finite fit even to separable classes. For ``"isotonic"``,
        default True: give finite LLRs to a top step without negatives and a bottom step without
        positives. A top step with p positives has the odds (p+½)/½, plus the odds of the next
        step, so that it stays above; the bottom step has the same with the classes swapped.
    interpolate : bool, default False
        For ``"isotonic"``: interpolate linearly between the mean scores of the steps. Otherwise the
        map is a step function, and its LLRs have the AUC of the convex hull. Steps begin at the
        thresholds of :meth:`Sweep.threshold_of`, so that decisions agree with
        :func:`cutscore.choose`.
    strict : bool, default False
        For ``"isotonic"``: add a slope of at most 2⁻¹⁰ in total, about 0.1 % in odds, so that the
        map is strictly increasing and keeps the ranking (to the resolution of floats).
    folds : int, default 5
        For ``"auto"``: the number of folds.
    seed : int, default 0
        For ``"auto"``: the random seed for fold assignment.

    Returns
    -------
    Calibrator
        With ``"auto"`` its ``comparison`` is the table of all methods.

    Notes
    -----
    ``"auto"`` uses stratified folds: it calibrates on all folds but one and computes the log loss
    of the held-out fold, at the prior of the sweep. A sweep of counts is enough: rows with the same
    score and class are exchangeable, so counts are drawn without replacement. Integer weights are
    treated as counts; with other weights the mass of a class at a score stays in one fold.

    The candidates are monotone and use smoothed targets: Platt, beta (if the scores are
    probabilities), the spline, three weighted means of Platt and the spline, and isotonic
    regression. The one with the least loss is chosen, penalised by half a nat (over all rows) for
    each step from the simplest to the most flexible, or for each step of the isotonic fit. Above
    8,192 distinct scores, neighbouring scores are merged for the comparison. Scores that are
    negatively associated with the positive class get the LLR 0: negate them, or use ``"platt"``,
    which may decrease.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines" (1999); Lin, Lin & Weng 2007,
    https://doi.org/10.1007/s10994-007-5018-6. Kull, Silva Filho & Flach, "Beta calibration",
    AISTATS (2017), https://proceedings.mlr.press/v54/kull17a.html. Fawcett & Niculescu-Mizil, "PAV
    and the ROC convex hull", https://doi.org/10.1007/s10994-007-5011-0. Niculescu-Mizil & Caruana,
    "Predicting good probabilities with supervised learning", ICML (2005).
    https://doi.org/10.1145/1102351.1102430

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
    >>> c = cs.calibrate(s, "logistic")
    >>> c
    LLR = 5.25 (score − 0.6362), logistic
    >>> c.llr([0.9, 0.3]).round(3), round(c.probability(0.9, prior=0.002), 4)
    (array([ 1.386, -1.766]), 0.0079)
    >>> c.decide([0.9, 0.3], cs.Costs(fp=1, fn=400), prior=0.002)
    array([ True, False])
    >>> cs.calibrate(s, "isotonic").llr([0.9, 0.8, 0.5, 0.2]).round(3)
    array([ 1.609,  0.693,  0.   , -1.792])
    """
    given = {
        "smooth": smooth,
        "interpolate": interpolate,
        "strict": strict,
        "folds": folds,
        "seed": seed,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if method == "monotone":
        method = "isotonic"
    hint = "scikit-learn's sigmoid is called 'platt' here." if method == "sigmoid" else ""
    one_of("method", method, _OPTIONS, hint)
    for name, value in options.items():
        if name not in _OPTIONS[method]:
            users = [m for m, known in _OPTIONS.items() if name in known]
            rule = f"be omitted with {shown(method)}"
            hint = f"It is an option of {either(users, 'and')}."
            raise DataError(BadArgument(name, rule, value, hint))
    check_sweep(s).needs_scores("calibration")
    if method == "auto":
        return _select_method(s, **options)
    return METHODS[method](s, **options)


def cross_fit(  # noqa: PLR0913 - the columns of a sweep and the options of a calibrator
    y: ArrayLike,
    score: ArrayLike,
    method: str = "auto",
    *,
    weight: ArrayLike | None = None,
    positive: Hashable = None,
    folds: int | ArrayLike = 5,
    seed: int = 0,
    **options: bool | int | None,
) -> Floats:
    """Out-of-fold LLRs: each row's by a calibrator that was fitted to the other folds.

    On their training rows calibrators look better than they are, isotonic regression most of all.
    Cllr, log loss and reliability of out-of-fold LLRs are free of this bias.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, as for :func:`cutscore.sweep`.
    score : array-like of shape (n_samples,)
        Scores.
    method : str, default "auto"
        As for :func:`cutscore.calibrate`; with ``"auto"`` each fold chooses for itself.
    weight : array-like of shape (n_samples,), optional
        Sample weights.
    positive : label, optional
        The positive class.
    folds : int or array-like of shape (n_samples,), default 5
        The number of stratified folds, or the fold of each row, 0, 1, 2 …, to keep the rows of a
        cluster (claims of one customer) together.
    seed : int, default 0
        Random seed for fold assignment.
    **options : keyword arguments, optional
        Options of the method.

    Returns
    -------
    numpy.ndarray
        The LLR of each row, in the order of the rows.

    Examples
    --------
    >>> import cutscore as cs
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> score = rng.normal(size=1000) + 2 * y
    >>> llr = cs.cross_fit(y, score, "isotonic")
    >>> inside = cs.calibrate(cs.sweep(y, score), "isotonic").llr(score)
    >>> round(cs.cllr(cs.sweep(y, inside)), 3), round(cs.cllr(cs.sweep(y, llr)), 3)
    (0.435, 0.461)
    """
    rows = check_rows(y, score, weight, positive)
    sweep(y, score, weight, positive).needs_both_classes("cross-fitting")
    ones = np.asarray(rows.label == rows.positive)
    fold = _assign(ones, folds, seed) if np.ndim(folds) == 0 else _check_fold(folds, ones)
    out = np.empty(len(ones))
    for k in range(int(fold.max()) + 1):
        test = fold == k
        w = None if rows.weight is None else rows.weight[~test]
        c = calibrate(sweep(ones[~test], rows.score[~test], w), method, **options)  # type: ignore[arg-type]
        out[test] = c.llr(rows.score[test])
    return out


def calibrate_across(
    s: Sweep, y: Flags, score: Floats, weight: Floats | None, fold: Folds
) -> tuple[Calibrator, Floats]:
    """The calibrator that "auto" fits to all rows, whose sweep is ``s``, and out-of-fold LLRs.

    The method is chosen on the same folds, so these calibrators exist already. The rows of a fold
    get the method that the other folds would choose.
    """
    count = int(fold.max()) + 1
    members = [np.flatnonzero(fold == k) for k in range(count)]
    own = [sweep(y[at], score[at], None if weight is None else weight[at]) for at in members]
    falling = -s.threshold
    places = [np.searchsorted(falling, -part.threshold) for part in own]
    masses = [(part.pos, part.neg) for part in own]
    # Weights that add up to whole numbers over all folds need not do so in each.
    if all(map(_are_rows, own)):
        s = _of_rows(s)
        masses = [(pos.astype(np.int64), neg.astype(np.int64)) for pos, neg in masses]
    parts = []
    for at, both in zip(places, masses, strict=True):
        pos, neg = np.zeros_like(s.pos), np.zeros_like(s.neg)
        pos[at], neg[at] = both
        parts.append(_Part.of(pos, neg))
    fits = _fit_out_of_fold(merge_neighbours(s), parts)
    out = np.empty(len(y))
    for k, at in enumerate(members):
        out[at] = fits.calibrators[_rank_methods(fits.without(k))[1]][k].llr(score[at])
    return _fit_best(s, fits), out


def _select_method(s: Sweep, folds: int = 5, seed: int = 0) -> Calibrator:
    s.needs_both_classes("calibration")
    if _are_rows(s):
        s = _of_rows(s)
    # What folds are made of: rows, or masses that stay together.
    sizes = [np.count_nonzero(mass) if s.weighted else mass.sum() for mass in (s.pos, s.neg)]
    count = _check_folds(folds, int(min(sizes)))
    rng = np.random.default_rng(check_seed(seed))
    few = merge_neighbours(s)
    if s.weighted:
        both = [_split_masses(mass, count, rng) for mass in (s.pos, s.neg)]
    else:  # rows of neighbouring scores count as rows of one
        both = [_split_counts(mass, count, rng) for mass in (few.pos, few.neg)]
    parts = [_Part.of(pos, neg) for pos, neg in zip(*both, strict=True)]
    return _fit_best(s, _fit_out_of_fold(few, parts))


def _fit_best(s: Sweep, fits: _OutOfFold) -> Calibrator:
    """The calibrator of all rows, by the method chosen on held-out rows."""
    entries, chosen = _rank_methods(fits)
    table = MethodComparison(entries, chosen, len(fits.parts), s.P + s.N)
    return replace(candidate(s, chosen), comparison=table)  # type: ignore[type-var]


class _Part(NamedTuple):
    """The masses of a fold, neighbouring scores merged, and their contributions to variances."""

    pos: Masses
    neg: Masses
    squares: Floats  # of the positives, then of the negatives, where there are any

    @classmethod
    def of(cls, pos: Masses, neg: Masses) -> _Part:
        # Each of the counted rows varies by itself; a sum of weights counts as one row.
        squares = [mass if mass.dtype.kind == "i" else square_weights(mass) for mass in (pos, neg)]
        starts = starts_of(len(pos))
        if len(starts) < len(pos):
            pos, neg = (np.add.reduceat(mass, starts) for mass in (pos, neg))
            squares = [np.add.reduceat(of, starts) for of in squares]
        some = (pos > 0, neg > 0)
        kept = [of[at] for of, at in zip(squares, some, strict=True)]
        return cls(pos, neg, np.concatenate(kept).astype(np.float64))

    @property
    def mass(self) -> Floats:
        both = (self.pos[self.pos > 0], self.neg[self.neg > 0])
        return np.concatenate(both).astype(np.float64)


class _OutOfFold(NamedTuple):
    """For each method that can be fitted and each fold: the log loss of each row (or group of equal
    rows) and the calibrator."""

    losses: dict[str, list[Floats]]
    parts: list[_Part]
    calibrators: dict[str, list[Calibrator]]
    notes: dict[str, Finding]

    def without(self, fold: int) -> _OutOfFold:
        """The same for the other folds."""

        def others(of: list[_T]) -> list[_T]:
            return of[:fold] + of[fold + 1 :]

        return _OutOfFold(
            {method: others(losses) for method, losses in self.losses.items()},
            others(self.parts),
            {method: others(fitted) for method, fitted in self.calibrators.items()},
            self.notes,
        )


def _fit_out_of_fold(s: Sweep, parts: list[_Part]) -> _OutOfFold:
    losses: dict[str, list[Floats]] = {}
    fitted: dict[str, list[Calibrator]] = {}
    notes: dict[str, Finding] = {}
    prior = np.log(s.P) - np.log(s.N)
    rest = [_without_fold(s, parts, k) for k in range(len(parts))]
    for name, fits in CANDIDATES.items():
        try:
            folds = [fits(train) for train in rest]
        except CutscoreError as error:
            notes[name] = error.finding
            continue
        for method in folds[0]:
            fitted[method] = [fold[method] for fold in folds]
            losses[method] = [
                np.concatenate(
                    (
                        np.logaddexp(0, -prior - c.llr(s.threshold[part.pos > 0])),
                        np.logaddexp(0, prior + c.llr(s.threshold[part.neg > 0])),
                    )
                )
                for c, part in zip(fitted[method], parts, strict=True)
            ]
    return _OutOfFold(losses, parts, fitted, notes)


def _without_fold(s: Sweep, parts: list[_Part], k: int) -> Sweep:
    """The sweep of all folds but one."""
    if s.weighted:  # a difference of weights would leave rounding errors
        others = [part for j, part in enumerate(parts) if j != k]
        left = [np.sum([part[c] for part in others], axis=0) for c in (0, 1)]
    else:
        left = [s.pos - parts[k][0], s.neg - parts[k][1]]
    some = left[0] + left[1] > 0
    return Sweep._adopt(s.threshold[some], left[0][some], left[1][some])


# The penalty of each step of flexibility, in nats over all rows: by chance alone held-out losses
# differ by that much.
_PENALTY = 0.5


def _rank_methods(fits: _OutOfFold) -> tuple[tuple[Entry, ...], str]:
    mass = np.concatenate([part.mass for part in fits.parts])
    squares = np.concatenate([part.squares for part in fits.parts])
    losses = {method: np.concatenate(parts) for method, parts in fits.losses.items()}
    total = mass.sum()
    share, noise = mass / total, squares / total / total

    def mean(of: Floats) -> tuple[float, float]:
        m = float(np.sum(share * of))
        return m, sqrt(float(np.sum(noise * np.square(of - m))))

    means = {method: mean(loss) for method, loss in losses.items()}
    best = min(means, key=lambda method: means[method][0])
    rows = 1 / noise.sum()  # the effective sample size
    price = {
        method: means[method][0] + _PENALTY * _flexibility(k, fits.calibrators[method]) / rows
        for k, method in enumerate(means)
    }
    entries = {
        method: Entry(method, *means[method], *mean(losses[method] - losses[best]))
        for method in means
    }
    failed = {method: Entry(method, nan, nan, nan, nan, of) for method, of in fits.notes.items()}
    order = sorted((entries | failed).items(), key=lambda e: list(CANDIDATES).index(family(e[0])))
    return tuple(entry for _, entry in order), min(price, key=price.__getitem__)


def _flexibility(place: int, fits: list[Calibrator]) -> float:
    """The place in the order of methods; of a step function its steps, if these are more."""
    steps = [len(c) for c in fits if isinstance(c, Monotone) and not c.interpolate]
    return max(place, float(np.mean(steps))) if steps else place


def _are_rows(s: Sweep) -> bool:
    """Whether weights are integers: they count as repeated rows."""
    return s.weighted and s.P + s.N < 2**53 and _are_whole(s.pos) and _are_whole(s.neg)


def _of_rows(s: Sweep) -> Sweep:
    return Sweep._adopt(s.threshold, s.pos.astype(np.int64), s.neg.astype(np.int64))


def _are_whole(mass: Masses) -> bool:
    return bool((mass == np.floor(mass)).all())


def _split_counts(mass: Masses, folds: int, rng: np.random.Generator) -> list[Masses]:
    """Counts of rows in each fold, as if the rows were shuffled: a draw without replacement."""
    total, left, out = int(mass.sum()), mass, []
    for k in range(folds - 1):
        if total < _MOST_DRAWN:
            size = total // folds + (k < total % folds)
            part = rng.multivariate_hypergeometric(left, size, method="marginals")
        else:  # each row by itself; with so many the folds are nearly equal
            part = rng.binomial(left, 1 / (folds - k))
        out.append(part)
        left = left - part
    return [*out, left]


def _split_masses(mass: Masses, folds: int, rng: np.random.Generator) -> list[Masses]:
    """Masses in each fold, without dividing any."""
    some = rng.permutation(np.flatnonzero(mass))
    out = []
    for k in range(folds):
        part = np.zeros(len(mass))
        part[some[k::folds]] = mass[some[k::folds]]
        out.append(part)
    return out


def _assign(ones: Flags, folds: object, seed: int) -> Folds:
    """The stratified fold of each row."""
    count = _check_folds(folds, int(min(np.count_nonzero(ones), np.count_nonzero(~ones))))
    return assign_folds(ones, count, np.random.default_rng(check_seed(seed)))


def assign_folds(ones: Flags, count: int, rng: np.random.Generator) -> Folds:
    """The fold of each row, of ``count`` stratified folds."""
    fold = np.empty(len(ones), np.intp)
    for members in (np.flatnonzero(ones), np.flatnonzero(~ones)):
        fold[rng.permutation(members)] = np.arange(len(members)) % count
    return fold


def _check_fold(folds: ArrayLike, ones: Flags) -> Folds:
    fold = np.asarray(folds)
    if fold.ndim != 1 or fold.dtype.kind not in "iu":
        rule = "be an integer, or the fold of each row as integers"
        raise DataError(BadArgument("folds", rule, folds))
    if len(fold) != len(ones):
        raise DataError(LengthsDiffer("fold", "score", len(fold), len(ones)))
    numbers = np.unique(fold)
    if len(numbers) < 2 or not np.array_equal(numbers, np.arange(len(numbers))):
        rule = "be consecutive numbers 0, 1, 2 …, at least two"
        hint = "For five: np.unique(customer, return_inverse=True)[1] % 5."
        raise DataError(BadArgument("folds", rule, numbers.tolist(), hint))
    for k in range(int(fold.max()) + 1):
        rest = ones[fold != k]
        if rest.all() or not rest.any():
            raise UndefinedError(FoldOneClass(k + 1, int(fold.max()) + 1))
    return fold.astype(np.intp)


def _check_folds(folds: object, least: int) -> int:
    """The number of folds for a class of ``least`` rows."""
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool) or folds < 2:
        raise DataError(BadArgument("folds", "be an integer of at least 2", folds))
    if least < 2:
        hint = "Choose a method, such as 'platt' with smooth=True."
        raise UndefinedError(TooFew("cross-fitting", 2, "rows of each class", least, hint))
    return min(int(folds), least)
