"""calibrate and cross_fit: a calibrator of a sweep by any method, or by the one that does best."""

from __future__ import annotations

from dataclasses import replace
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.calibration.calibrators import Calibrator, Monotone
from cutscore.calibration.comparison import Entry, MethodComparison
from cutscore.calibration.methods import CANDIDATES, METHODS, candidate, family, starts_of, thinned
from cutscore.core.checks import check_rows, one_of
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import Finding, either, shown
from cutscore.core.findings.rows import LengthsDiffer
from cutscore.core.findings.statistics import FoldOneClass, TooFew
from cutscore.sweeps.proper_scores import check_seed
from cutscore.sweeps.sweep import Floats, Masses, Sweep, check_sweep, sweep

Flags = NDArray[np.bool_]
Folds = NDArray[np.intp]

_OPTIONS: dict[str, tuple[str, ...]] = {
    "logistic": (),
    "platt": ("smooth",),
    "beta": ("smooth",),
    "gaussian": (),
    "spline": (),
    "monotone": ("smooth", "interpolate", "strict"),
    "auto": ("folds", "seed"),
}

# NumPy draws from fewer rows than this without replacement.
_MOST_DEALT = 10**9


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
    r"""A calibrator: a map from scores to log-likelihood ratios, fitted to a sweep.

    It knows neither the prior nor the costs; these come in when it is used, and nothing is fitted
    again when they change.

    Parameters
    ----------
    s
        The sweep, with both classes. Weights count as numbers of rows.
    method
        ``"logistic"``: γ = (d̄₊ − d̄₋)/σ² and d₀ = (d̄₊ + d̄₋)/2, from the means of the classes and
        their common variance σ², the squares within classes divided by P + N. Exact for normal
        scores of equal widths. ``"platt"``: the same shape, γ (score − d₀), by maximum likelihood.
        ``"beta"``: a ln p − b ln(1−p) + c with a, b ≥ 0, for scores that are probabilities, by
        maximum likelihood; 0 and 1 count as 2⁻⁵² and 1 − 2⁻⁵². ``"gaussian"``: normal scores
        of any widths (variances divided by P and by N), a quadratic that need not be monotone.
        ``"monotone"``: the slopes of the ROC convex hull, which is isotonic regression (PAV).
        ``"spline"``: a broken line that never falls, by maximum likelihood with Platt's targets,
        constant beyond the scores seen; its 2 to 32 pieces, about 1.6 · min(P, N)^⅕, are between
        quantiles of both classes. ``"auto"``: what does best on rows it was not fitted to, of those
        that never fall.
    smooth
        Of ``"platt"`` and ``"beta"``: whether positives count as (P+1)/(P+2) of a positive and
        negatives as 1/(N+2), Platt's targets, which give a fit even where the classes are
        separated. Off unless asked for. Of ``"monotone"``: whether a first step without negatives
        and a last one without positives get finite LLRs; on unless asked off. Such a step has the
        odds of its p positives to half a negative, (p+½)/½, plus the odds of the next step, so that
        it stays above; at the other end it is the same with the classes swapped.
    interpolate
        Of ``"monotone"``: straight lines between the mean scores of the steps. Off: a staircase,
        the scores of which have the AUC of the hull. Its steps meet where
        :meth:`Sweep.threshold_of` has its thresholds, so that decisions are those of
        :func:`cutscore.choose`.
    strict
        Of ``"monotone"``: add a tilt that never exceeds 2⁻¹⁰, about 0.1 % in odds, so that the
        map is strictly increasing and the ranking is kept (to the resolution of floats).
    folds, seed
        Of ``"auto"``: how many folds, 5, and the seed that deals the rows, 0.

    Returns
    -------
    Calibrator
        With ``"auto"`` its ``comparison`` is a table of all methods and says why this one.

    Notes
    -----
    ``"auto"`` deals the rows of either class into folds, calibrates on all folds but one and takes
    the log loss of the one left out, at the prior of the sweep. A sweep of counts is enough: rows
    with the same score and class are alike, so counts are dealt (a draw without replacement). Whole
    weights are dealt like counts; of others the mass of a class at a score stays together.
    Platt, beta (if the scores are probabilities), the spline, three means of Platt's line and
    the spline, and monotone are compared: those that never fall, with smoothed targets. The one
    with the least loss is taken, where each step from the simplest to the most flexible has to gain
    half a nat over all rows; a staircase counts by its steps. From 8,192 distinct scores on
    neighbours are compared together. Scores that fall where positives are more get the LLR 0
    throughout: negate them, or name ``"platt"``, which may fall.

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
    LLR = 5.25336 (score − 0.63625), by logistic
    >>> c.llr([0.9, 0.3]).round(3), round(c.probability(0.9, prior=0.002), 4)
    (array([ 1.386, -1.766]), 0.0079)
    >>> c.decide([0.9, 0.3], cs.Costs(fp=1, fn=400), prior=0.002)
    array([ True, False])
    >>> cs.calibrate(s, "monotone").llr([0.9, 0.8, 0.5, 0.2]).round(3)
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
    elsewhere = {
        "isotonic": "Isotonic regression is 'monotone'.",
        "sigmoid": "What scikit-learn calls sigmoid is 'platt'.",
    }
    hint = elsewhere.get(method, "") if isinstance(method, str) else ""
    one_of("method", method, _OPTIONS, hint)
    for name, value in options.items():
        if name not in _OPTIONS[method]:
            users = [m for m, known in _OPTIONS.items() if name in known]
            rule = f"be left out with {shown(method)}"
            hint = f"It is an option of {either(users, 'and')}."
            raise DataError(BadArgument(name, rule, value, hint))
    check_sweep(s).needs_scores("calibration")
    if method == "auto":
        return _auto(s, **options)
    return METHODS[method](s, **options)


def cross_fit(  # noqa: PLR0913 - the columns of a sweep and the options of a calibrator
    y: Any,
    score: Any,
    method: str = "auto",
    *,
    weight: Any = None,
    positive: Any = None,
    folds: Any = 5,
    seed: int = 0,
    **options: Any,
) -> Floats:
    """Out-of-fold LLRs: each row's by a calibrator that was fitted to the other folds.

    Calibrators look better on the rows they were fitted to than they are, the monotone one most.
    These LLRs don't: their Cllr, log loss and reliability are honest.

    Parameters
    ----------
    y, score, weight, positive
        Rows, as for :func:`cutscore.sweep`.
    method
        As for :func:`cutscore.calibrate`; with ``"auto"`` each fold chooses for itself.
    folds, seed
        How many folds, each with its share of either class, and the seed that deals the rows. Or
        the fold of each row, 0, 1, 2 …, where rows belong together (claims of one customer).
    **options
        Of the method.

    Returns
    -------
    numpy.ndarray
        One LLR for each row, in the order of the rows.

    Examples
    --------
    >>> import cutscore as cs
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> score = rng.normal(size=1000) + 2 * y
    >>> llr = cs.cross_fit(y, score, "monotone")
    >>> inside = cs.calibrate(cs.sweep(y, score), "monotone").llr(score)
    >>> round(cs.cllr(cs.sweep(y, inside)), 3), round(cs.cllr(cs.sweep(y, llr)), 3)
    (0.435, 0.461)
    """
    rows = check_rows(y, score, weight, positive)
    sweep(y, score, weight, positive).needs_both_classes("cross-fitting")
    ones = np.asarray(rows.label == rows.positive)
    fold = _dealt(ones, folds, seed) if np.ndim(folds) == 0 else _check_fold(folds, ones)
    out = np.empty(len(ones))
    for k in range(int(fold.max()) + 1):
        test = fold == k
        w = None if rows.weight is None else rows.weight[~test]
        c = calibrate(sweep(ones[~test], rows.score[~test], w), method, **options)
        out[test] = c.llr(rows.score[test])
    return out


def calibrate_across(
    s: Sweep, y: Flags, score: Floats, weight: Floats | None, fold: Folds
) -> tuple[Calibrator, Floats]:
    """What "auto" fits to all rows, whose sweep is ``s``, and LLRs out of fold: each row's by a
    calibrator that was fitted to the other folds.

    The method is chosen on the same folds, so these calibrators are there already. For the rows of
    a fold it is the one that the other folds would choose.
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
    found = _out_of_fold(thinned(s), parts)
    out = np.empty(len(y))
    for k, at in enumerate(members):
        out[at] = found.calibrators[_judged(found.without(k))[1]][k].llr(score[at])
    return _chosen(s, found), out


def _auto(s: Sweep, folds: int = 5, seed: int = 0) -> Calibrator:
    s.needs_both_classes("calibration")
    if _are_rows(s):
        s = _of_rows(s)
    # What can be dealt: rows, or the masses that stay together.
    sizes = [np.count_nonzero(mass) if s.weighted else mass.sum() for mass in (s.pos, s.neg)]
    count = _check_folds(folds, int(min(sizes)))
    rng = np.random.default_rng(check_seed(seed))
    few = thinned(s)
    if s.weighted:
        both = [_deal_whole(mass, count, rng) for mass in (s.pos, s.neg)]
    else:  # rows of neighbouring scores are as good as rows of one
        both = [_deal(mass, count, rng) for mass in (few.pos, few.neg)]
    parts = [_Part.of(pos, neg) for pos, neg in zip(*both, strict=True)]
    return _chosen(s, _out_of_fold(few, parts))


def _chosen(s: Sweep, found: _OutOfFold) -> Calibrator:
    """What is fitted to all rows by the method that does well on others."""
    entries, chosen = _judged(found)
    table = MethodComparison(entries, chosen, len(found.parts), s.P + s.N)
    return replace(candidate(s, chosen), comparison=table)  # type: ignore[type-var]


class _Part(NamedTuple):
    """The masses of a fold, of neighbouring scores together, and what they add to variances."""

    pos: Masses
    neg: Masses
    squares: Floats  # of the positives, then of the negatives, where there are any

    @classmethod
    def of(cls, pos: Masses, neg: Masses) -> _Part:
        # Of counts each row varies by itself; a sum of weights is one row's or as good as one.
        squares = [mass if mass.dtype.kind == "i" else np.square(mass) for mass in (pos, neg)]
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
    """By each method that can be fitted, the log loss of each row, or group of rows that are alike,
    and the calibrator it is of; of each fold."""

    losses: dict[str, list[Floats]]
    parts: list[_Part]
    calibrators: dict[str, list[Calibrator]]
    notes: dict[str, Finding]

    def without(self, fold: int) -> _OutOfFold:
        """The same of the other folds."""

        def others(of: list[Any]) -> list[Any]:
            return of[:fold] + of[fold + 1 :]

        return _OutOfFold(
            {method: others(losses) for method, losses in self.losses.items()},
            others(self.parts),
            {method: others(fitted) for method, fitted in self.calibrators.items()},
            self.notes,
        )


def _out_of_fold(s: Sweep, parts: list[_Part]) -> _OutOfFold:
    losses: dict[str, list[Floats]] = {}
    fitted: dict[str, list[Calibrator]] = {}
    notes: dict[str, Finding] = {}
    prior = np.log(s.P) - np.log(s.N)
    rest = [_rest(s, parts, k) for k in range(len(parts))]
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


def _rest(s: Sweep, parts: list[_Part], k: int) -> Sweep:
    """The sweep of all folds but one."""
    if s.weighted:  # of weights a difference would leave what was rounded
        others = [part for j, part in enumerate(parts) if j != k]
        left = [np.sum([part[c] for part in others], axis=0) for c in (0, 1)]
    else:
        left = [s.pos - parts[k][0], s.neg - parts[k][1]]
    some = left[0] + left[1] > 0
    return Sweep._adopt(s.threshold[some], left[0][some], left[1][some])


# What each step of flexibility has to gain, in nats over all rows: by chance alone losses out of
# fold differ by that much, and the one that looks best would be taken for its luck.
_TOLL = 0.5


def _judged(found: _OutOfFold) -> tuple[tuple[Entry, ...], str]:
    mass = np.concatenate([part.mass for part in found.parts])
    squares = np.concatenate([part.squares for part in found.parts])
    losses = {method: np.concatenate(parts) for method, parts in found.losses.items()}
    total = mass.sum()
    share, noise = mass / total, squares / total / total

    def mean(of: Floats) -> tuple[float, float]:
        m = float(np.sum(share * of))
        return m, sqrt(float(np.sum(noise * np.square(of - m))))

    means = {method: mean(loss) for method, loss in losses.items()}
    best = min(means, key=lambda method: means[method][0])
    rows = 1 / noise.sum()  # as many as would vary as much
    price = {
        method: means[method][0] + _TOLL * _flexibility(k, found.calibrators[method]) / rows
        for k, method in enumerate(means)
    }
    entries = {
        method: Entry(method, *means[method], *mean(losses[method] - losses[best]))
        for method in means
    }
    failed = {method: Entry(method, nan, nan, nan, nan, of) for method, of in found.notes.items()}
    order = sorted((entries | failed).items(), key=lambda e: list(CANDIDATES).index(family(e[0])))
    return tuple(entry for _, entry in order), min(price, key=price.__getitem__)


def _flexibility(place: int, fits: list[Calibrator]) -> float:
    """The place in the order of methods; of a staircase the steps, if these are more."""
    steps = [len(c) for c in fits if isinstance(c, Monotone) and not c.interpolate]
    return max(place, float(np.mean(steps))) if steps else place


def _are_rows(s: Sweep) -> bool:
    """Whether weights say how often rows occur: these are as good as rows repeated so often."""
    return s.weighted and s.P + s.N < 2**53 and _are_whole(s.pos) and _are_whole(s.neg)


def _of_rows(s: Sweep) -> Sweep:
    return Sweep._adopt(s.threshold, s.pos.astype(np.int64), s.neg.astype(np.int64))


def _are_whole(mass: Masses) -> bool:
    return bool((mass == np.floor(mass)).all())


def _deal(mass: Masses, folds: int, rng: np.random.Generator) -> list[Masses]:
    """Rows dealt into folds as a shuffled pack of cards would be, from their counts."""
    total, left, out = int(mass.sum()), mass, []
    for k in range(folds - 1):
        if total < _MOST_DEALT:
            size = total // folds + (k < total % folds)
            part = rng.multivariate_hypergeometric(left, size, method="marginals")
        else:  # each row by itself; with so many the folds are as good as equal
            part = rng.binomial(left, 1 / (folds - k))
        out.append(part)
        left = left - part
    return [*out, left]


def _deal_whole(mass: Masses, folds: int, rng: np.random.Generator) -> list[Masses]:
    """Masses dealt into folds without dividing any."""
    some = rng.permutation(np.flatnonzero(mass))
    out = []
    for k in range(folds):
        part = np.zeros(len(mass))
        part[some[k::folds]] = mass[some[k::folds]]
        out.append(part)
    return out


def _dealt(ones: Flags, folds: Any, seed: Any) -> Folds:
    """The fold of each row; each has its share of either class."""
    count = _check_folds(folds, int(min(np.count_nonzero(ones), np.count_nonzero(~ones))))
    return dealt(ones, count, np.random.default_rng(check_seed(seed)))


def dealt(ones: Flags, count: int, rng: np.random.Generator) -> Folds:
    """The fold of each row, of so many; each has its share of either class."""
    fold = np.empty(len(ones), np.intp)
    for members in (np.flatnonzero(ones), np.flatnonzero(~ones)):
        fold[rng.permutation(members)] = np.arange(len(members)) % count
    return fold


def _check_fold(folds: Any, ones: Flags) -> Folds:
    fold = np.asarray(folds)
    if fold.ndim != 1 or fold.dtype.kind not in "iu":
        rule = "be a whole number, or the fold of each row as whole numbers"
        raise DataError(BadArgument("folds", rule, folds))
    if len(fold) != len(ones):
        raise DataError(LengthsDiffer("fold", "score", len(fold), len(ones)))
    numbers = np.unique(fold)
    if len(numbers) < 2 or not np.array_equal(numbers, np.arange(len(numbers))):
        rule = "be numbered 0, 1, 2 …, at least two, none left out"
        hint = (
            "Of the customer of each row, np.unique(customer, return_inverse=True)[1] % 5 makes "
            "five."
        )
        raise DataError(BadArgument("folds", rule, numbers.tolist(), hint))
    for k in range(int(fold.max()) + 1):
        rest = ones[fold != k]
        if rest.all() or not rest.any():
            raise UndefinedError(FoldOneClass(k))
    return fold.astype(np.intp)


def _check_folds(folds: Any, least: int) -> int:
    """How many folds to make of a class of ``least`` rows."""
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool) or folds < 2:
        raise DataError(BadArgument("folds", "be a whole number from 2 on", folds))
    if least < 2:
        hint = "Name a method, such as 'platt' with smooth=True."
        raise UndefinedError(TooFew("cross-fitting", 2, "rows of each class", least, hint))
    return min(int(folds), least)
