"""Are the intervals and guarantees honest? Simulations where the truth is known.

Writes each section into ``docs/validation.md`` as soon as all of it was run, and exits with 1 if a
promise is broken. ``--only NAME`` runs one section; ``--quick`` makes at most 500 draws and writes
nothing. Draws are kept in ``build/validation.json`` as they finish: ``--resume`` takes these as
they are and makes the missing ones. ``--draws N`` makes fewer. All of it takes some two hours of
one processor; the page has what each section took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom, lognorm, norm, rv_discrete
from scipy.stats import t as student

import agreement
import choices
import cutscore as cs
import page
import points
from cutscore.core.files import written_aside
from cutscore.inference.bootstrap import percentiles
from cutscore.inference.guarantee import max_errors
from decisions import report_baselines, report_precision, report_two_costs, report_unit_limits
from groups import report_group_choice
from hypotheses import report_power, report_tests
from periods import report_periods
from policy import report_policy
from promises import report_promises
from review import report_review
from row_costs import report_row_costs
from truths import Truth, truth_of
from weights import report_weighted

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

Array = Any


SMOOTH = Truth(1.0)
STRONG = Truth(2.5)
TIED = Truth(1.0, (-1.0, 0.0, 1.0, 2.0, 3.0))
NAMES = {SMOOTH: "binormal, AUC 0.76", STRONG: "binormal, AUC 0.96", TIED: "five levels, AUC 0.74"}


def sample(truth: Truth, positives: int, negatives: int, seed: Any) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], (positives, negatives))
    return y, truth.draw(rng, y)


# ----------------------------------------------------------------------------- coverage of the AUC

AUC_METHODS = ("score", "delong", "logit", "newcombe", "bootstrap", "bca")


def auc_coverage(task: tuple[Truth, int, int, int, int]) -> Array:
    """How many of the intervals of each method contain the true AUC."""
    truth, positives, negatives, first, draws = task
    hits = np.zeros(len(AUC_METHODS))
    for seed in range(first, first + draws):
        s = cs.sweep(*sample(truth, positives, negatives, seed))
        intervals = [cs.auc_interval(s, method=m) for m in AUC_METHODS[:4]]
        resampled = cs.bootstrap(s, n=1000, method="bca", seed=seed)
        intervals += [percentiles(resampled.replicates, 0.95), resampled.interval]
        hits += [truth.auc in interval for interval in intervals]
    return hits


# Where positives are few: how scores are drawn, and the number of draws of each setting.
KINDS = ("continuous", "five levels", "weights", "wide", "wide, five levels")
RARE_DRAWS = 2000


def rare_coverage(task: tuple[str, float, int, int, int, int]) -> Array:
    """Coverage and width of the score interval; both of Newcombe's and of DeLong's."""
    kind, auc, positives, negatives, first, draws = task
    truth, out = truth_of(auc, kind), np.zeros(6)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 5))
        y = np.repeat([1, 0], (positives, negatives))
        score = truth.draw(rng, y)
        weight = rng.exponential(size=len(y)) if kind == "weights" else None
        s = cs.sweep(y, score, weight, squares=weight is not None)
        found = [cs.auc_interval(s, method=m) for m in ("score", "newcombe", "delong")]
        out += [x for interval in found for x in (auc in interval, interval.width)]
    return out


def unit_coverage(task: tuple[bool, float, float, int, int, int, int]) -> Array:
    """Coverage of the interval of units; of ± z standard errors; and the widths."""
    mixed, icc, auc, positives, negatives, first, draws = task
    units, out = positives + negatives, np.zeros(4)
    unit = np.repeat(np.arange(units), 10)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 6))
        y = rng.random(len(unit)) < positives / units if mixed else unit < positives
        own, common = rng.standard_normal(len(unit)), rng.standard_normal(units)[unit]
        score = icc**0.5 * common + (1 - icc) ** 0.5 * own + 2**0.5 * ndtri(auc) * y
        c = cs.auc_covariance(y, [score], unit=unit)
        (interval,) = c.intervals()
        half = 1.959964 * float(c.standard_error[0])
        low, high = max(0.0, c.auc[0] - half), min(1.0, c.auc[0] + half)
        out += [auc in interval, low <= auc <= high, interval.width, high - low]
    return out


# -------------------------------------------------------------------------------- other intervals

OTHERS = ("recall, Wilson", "recall, Clopper–Pearson", "F₁ at a fixed threshold", "whole ROC curve")


def other_coverage(task: tuple[Truth, int, int, int, int]) -> Array:
    truth, positives, negatives, first, draws = task
    at = truth.distance / 2
    tpr, fpr = float(truth.tpr(at)), float(truth.fpr(at))
    f1 = 2 * positives * tpr / (positives * tpr + negatives * fpr + positives)
    grid = np.linspace(0.001, 0.999, 999)
    hits = np.zeros(len(OTHERS))
    for seed in range(first, first + draws):
        s = cs.sweep(*sample(truth, positives, negatives, seed))
        band = cs.roc_band(s)
        curve = ndtr(ndtri(grid) + truth.distance)
        # Between its points the band is no lower than the one before, and no higher than the next.
        k = np.searchsorted(band.fpr, grid)
        inside = (band.low[np.maximum(k - 1, 0)] <= curve).all() and (curve <= band.high[k]).all()
        hits += [
            tpr in cs.interval(s, "recall", at=at),
            tpr in cs.interval(s, "recall", at=at, method="clopper-pearson"),
            f1 in cs.interval(s, "f1", at=at),
            inside,
        ]
    return hits


def pair_coverage(task: tuple[float, float, int, int, int, int]) -> Array:
    """Of two correlated scores: intervals that contain the true difference, false findings by t and
    by z, and tests that say that they have no power."""
    distance, shift, positives, negatives, first, draws = task
    true = float(ndtr((distance + shift) / 2**0.5) - ndtr(distance / 2**0.5))
    hits = np.zeros(4)
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], (positives, negatives))
        common, *own = rng.standard_normal((3, len(y)))
        a, b = (
            0.8**0.5 * common + 0.2**0.5 * noise + mean * y
            for noise, mean in zip(own, (distance + shift, distance), strict=True)
        )
        c = cs.compare(y, a, b)
        by_z = 2 * ndtr(-abs(c.z))
        hits += [true in c.interval, c.p_value < 0.05, by_z < 0.05, c.powerless]
    return hits


# ----------------------------------------------------------------------------------------- groups

AVERAGES = ("weighted", "pooled", "macro")


def grouped(rng: np.random.Generator, groups: int, spread: float) -> tuple[Array, ...]:
    """Rows of groups of very different sizes and shares of positives, whose own AUCs vary."""
    sizes = np.maximum(2, rng.lognormal(np.log(20), 0.8, groups).astype(int))
    group = np.repeat(np.arange(groups), sizes)
    share, distance = rng.normal(-1.5, 1.2, groups), rng.normal(1.0, spread, groups)
    y = rng.random(len(group)) < 1 / (1 + np.exp(-share[group]))
    return y, rng.standard_normal(len(group)) + distance[group] * y, group


@cache
def group_truth(spread: float) -> tuple[float, ...]:
    """The averages over 150,000 groups: their own error is some 1/27 of that of 200."""
    rng = np.random.default_rng(7)
    g = cs.by_group(*grouped(rng, 150_000, spread))
    return g.weighted, g.pooled, g.macro


def group_coverage(task: tuple[float, int, int, int]) -> Array:
    """Intervals of the averages that contain the true ones; and false findings of a comparison."""
    spread, groups, first, draws = task
    hits = np.zeros(len(AVERAGES) + 1)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 4))
        y, score, group = grouped(rng, groups, spread)
        # Two scores of equal worth: one signal, two kinds of noise.
        one, other = (score + rng.standard_normal(len(y)) for _ in range(2))
        a, b = cs.by_group(y, one, group), cs.by_group(y, other, group)
        g = cs.by_group(y, score, group)
        inside = zip(AVERAGES, group_truth(spread), strict=True)
        hits += [
            *(true in g.interval(average) for average, true in inside),
            cs.compare_groups(a, b).p_value < 0.05,
        ]
    return hits


# ------------------------------------------------------------------------------------- guarantees


@dataclass(frozen=True)
class Promise:
    limit: str
    aim: str
    rows: int
    prevalence: float
    truth: Truth = field(default=SMOOTH)

    def broken(self, threshold: float) -> bool:
        tpr, fpr = float(self.truth.tpr(threshold)), float(self.truth.fpr(threshold))
        flagged = self.prevalence * tpr + (1 - self.prevalence) * fpr
        name, sign, bound = self.limit.split()
        value = {
            "fpr": fpr,
            "recall": tpr,
            "flagged_rate": flagged,
            "precision": self.prevalence * tpr / flagged if flagged else 1.0,
        }[name]
        return not (value <= float(bound) if sign == "<=" else value >= float(bound))


PROMISES = [
    Promise("fpr <= 0.01", "recall", 3000, 0.1),
    Promise("fpr <= 0.01", "recall", 3000, 0.1, TIED),
    Promise("fpr <= 0.1", "recall", 500, 0.3),
    Promise("recall >= 0.8", "fpr", 1000, 0.2),
    Promise("recall >= 0.8", "fpr", 1000, 0.2, TIED),
    Promise("precision >= 0.6", "recall", 2000, 0.3, STRONG),
    Promise("precision >= 0.9", "recall", 5000, 0.2, STRONG),
    Promise("precision >= 0.6", "recall", 2000, 0.4, TIED),
    Promise("flagged_rate <= 0.05", "recall", 1000, 0.2),
]


def promise_kept(task: tuple[Promise, int, int]) -> Array:
    """Broken with a guarantee; without; recall of the guaranteed cut, and of the best of a grid;
    no cut at all."""
    promise, first, draws = task
    out = np.zeros(6)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 1))
        y = rng.random(promise.rows) < promise.prevalence
        s = cs.sweep(y, promise.truth.draw(rng, y))
        sure = cs.choose(s, promise.aim, subject_to=promise.limit, confidence=0.95)
        plain = cs.choose(s, promise.aim, subject_to=promise.limit)
        grid = _grid(s, promise)
        out += [
            sure.feasible and promise.broken(sure.threshold),
            plain.feasible and promise.broken(plain.threshold),
            _worth(promise, sure.threshold if sure.feasible else np.inf),
            _worth(promise, grid),
            not sure.feasible,
            grid == np.inf and promise.aim == "recall",
        ]
    return out


def _worth(promise: Promise, threshold: float) -> float:
    """The true recall; or where recall is the limit, the true specificity."""
    if promise.aim == "fpr":
        return 1 - float(promise.truth.fpr(threshold))
    return float(promise.truth.tpr(threshold))


def _grid(s: cs.Sweep, promise: Promise) -> float:
    """The best of 100 quantiles of the scores, each tested at a hundredth of the error."""
    name, _, bound = promise.limit.split()
    scores = np.repeat(s.threshold, s.pos + s.neg)
    thresholds = np.unique(np.quantile(scores, np.linspace(0, 1, 100), method="inverted_cdf"))[::-1]
    best = np.inf if promise.aim == "recall" else -np.inf
    for t in thresholds.tolist():
        c = s.at(t)
        error = 0.05 / len(thresholds)
        if name == "precision":
            ok = c.flagged and binom.sf(c.tp - 1, c.flagged, float(bound)) <= error
        elif name == "fpr":
            ok = c.fp <= max_errors(int(s.N), float(bound), error)
        elif name == "recall":
            ok = c.fn <= max_errors(int(s.P), 1 - float(bound), error)
        else:
            ok = c.flagged <= max_errors(int(s.P + s.N), float(bound), error)
        if ok:
            best = min(best, t) if promise.aim == "recall" else max(best, t)
    return best


# -------------------------------------------------------------------------------------- calibration

CALIBRATORS = ("logistic", "platt", "gaussian", "monotone")


def calibration_error(task: tuple[Truth, int, int, int]) -> Array:
    """Mean squared errors of the LLRs of new rows, whose true ones are known, by each method."""
    truth, rows, first, draws = task
    out = np.zeros(len(CALIBRATORS))
    new = ndtri((np.arange(2000) + 0.5) / 2000)
    new = np.concatenate((new, new + truth.distance))
    true = truth.distance * (new - truth.distance / 2)
    for seed in range(first, first + draws):
        s = cs.sweep(*sample(truth, rows // 2, rows // 2, (seed, 3)))
        out += [np.mean(np.square(cs.calibrate(s, m).llr(new) - true)) for m in CALIBRATORS]
    return out


@dataclass(frozen=True)
class Shape:
    """Frozen distributions of the scores of either class; or the shares of levels."""

    name: str

    def pair(self) -> tuple[Any, Any]:
        return {
            "normal, equal spreads": (norm(1.5), norm()),
            "normal, wide positives": (norm(1.5, 1.5), norm()),
            "normal, narrow positives": (norm(1.5, 0.7), norm()),
            "t, 3 degrees": (student(3, 1.5), student(3)),
            "log-normal": (lognorm(0.8, 0, exp(1.2)), lognorm(0.8)),
            "five levels": tuple(
                rv_discrete(values=(range(5), shares))
                for shares in ((0.05, 0.1, 0.2, 0.3, 0.35), (0.35, 0.3, 0.2, 0.1, 0.05))
            ),
        }[self.name]


SHAPES = [
    Shape(name)
    for name in (
        "normal, equal spreads",
        "normal, wide positives",
        "normal, narrow positives",
        "t, 3 degrees",
        "log-normal",
        "five levels",
    )
]
SINGLE = ("logistic", "platt", "spline", "monotone")


def auto_excess(task: tuple[Shape, int, float, int, int]) -> Array:
    """Log loss of new rows above that of the true LLR, in 10⁻⁴ nats, by each method and auto."""
    shape, rows, share, first, draws = task
    pos, neg = shape.pair()
    q = (np.arange(4000) + 0.5) / 4000
    new = [of.ppf(q) for of in (pos, neg)]
    density = "pmf" if shape.name == "five levels" else "pdf"
    true = [np.log(getattr(pos, density)(x) / getattr(neg, density)(x)) for x in new]
    odds = np.log(share / (1 - share))

    def loss(llr: list[Array]) -> float:
        on = [
            np.mean(np.logaddexp(0, sign * (x + odds)))
            for sign, x in zip((-1, 1), llr, strict=True)
        ]
        return float(share * on[0] + (1 - share) * on[1])

    p = max(5, round(rows * share))
    out = np.zeros(len(SINGLE) + 1)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 7))
        score = [of.rvs(size=n, random_state=rng) for of, n in ((pos, p), (neg, rows - p))]
        s = cs.sweep(np.arange(rows) < p, np.concatenate(score).astype(float))
        fits = [cs.calibrate(s, m, **({"smooth": True} if m == "platt" else {})) for m in SINGLE]
        out += [
            1e4 * (loss([c.llr(x) for x in new]) - loss(true)) for c in (*fits, cs.calibrate(s))
        ]
    return out


def line_coverage(task: tuple[int, float, int, int]) -> Array:
    """Intercept and slope inside their intervals; and both not defined, for want of overlap."""
    rows, mean, first, draws = task
    out = np.zeros(3)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 8))
        odds = rng.normal(mean, 1.0, rows)
        y = rng.random(rows) < expit(0.8 * odds + 0.3)
        # The intercept at slope 1 that these rows would have if there were all of them.
        try:
            line = cs.calibration_line(cs.sweep(y, expit(odds)))
        except cs.UndefinedError:
            out[2] += 1
            continue
        out[:2] += [in_the_large(mean) in line.intercept_interval, 0.8 in line.slope_interval]
    return out


@cache
def in_the_large(mean: float) -> float:
    """What has to be added to log odds N(mean, 1), so that the share of positives is right."""
    odds = mean + ndtri((np.arange(100_000) + 0.5) / 100_000)
    share = np.mean(expit(0.8 * odds + 0.3))
    return float(brentq(lambda a: np.mean(expit(odds + a)) - share, -5, 5))


# -------------------------------------------------------------------------------------- prior shift

BATCH, RARE, MOVED = 5000, 0.05, 0.2


def prior_coverage(task: tuple[float, float, int, int, int]) -> Array:
    """Prior inside the interval; false alarm of the test of the mixture; a shift of all scores by
    0.2 standard deviations noticed; the width of the interval."""
    distance, share, positives, first, draws = task
    truth = Truth(distance)
    out = np.zeros(4)
    for seed in range(first, first + draws):
        s = cs.sweep(*sample(truth, positives, round(positives / share) - positives, (seed, 5)))
        rng = np.random.default_rng((seed, 6))
        batch = truth.draw(rng, rng.random(BATCH) < RARE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, moved = (cs.prior_shift(s, batch + by) for by in (0, MOVED))
        out += [
            RARE in found.interval,
            found.p_value < 0.05,
            moved.p_value < 0.05,
            found.interval.width,
        ]
    return out


# ------------------------------------------------------------------------------ every cut, by force


def by_force(task: tuple[int, int]) -> tuple[int, list[str]]:
    """On how many questions choose() was held against trying every cut, and where it differed."""
    import oracle
    import test_decision as t

    first, sweeps = task
    asked, faults = 0, []
    for seed in range(first, first + sweeps):
        rng = np.random.default_rng((seed, 2))
        s, table = t.random_sweep(rng)
        oracle.remember(table)
        pairs = list(product(t.OBJECTIVES, t.LIMITS))
        for objective, limits in pairs[seed % 10 :: 10]:
            try:
                t.agree(s, table, objective, limits)
            except AssertionError as error:
                faults.append(f"{error}")
            asked += 1
    return asked, faults


# ---------------------------------------------------------------------------------------- the page


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


class Cell(NamedTuple):
    """What some draws came to, the processor time they took, and the library they were run with."""

    value: Any
    seconds: float
    library: str


class Cells(dict[str, Cell]):
    """Cells by what was run; kept in a file, if there is one."""

    def __init__(self, path: Path | None, resume: bool) -> None:
        super().__init__()
        self.path, self.resume, self.new = path, resume, set[str]()
        self.saved = time.monotonic()
        self.library = page.library()
        if path is not None and path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.update({name: Cell(*cell) for name, cell in kept.items()})

    def done(self, name: str) -> bool:
        return name in (self if self.resume else self.new)

    def keep(self, name: str, value: Any, seconds: float) -> None:
        self[name] = Cell(value, seconds, self.library)
        self.new.add(name)
        if time.monotonic() > self.saved + 10:
            self.save()

    def save(self) -> None:
        self.saved = time.monotonic()
        if self.path is not None:
            self.path.parent.mkdir(exist_ok=True)
            with written_aside(self.path, text=True) as file:
                json.dump(self, file)


# Draws of a cell, where its section does not make fewer.
DRAWS = 5000
# Draws that are run, and kept, at once: more draws are more of these.
PART = 250


def timed(run: Callable[[Any], Any], task: Any) -> tuple[Any, float]:
    start = time.process_time()
    return run(task), time.process_time() - start


@dataclass
class Report:
    """Lines of the page, and promises that were broken."""

    pool: ProcessPoolExecutor
    draws: int
    sweeps: int
    cells: Cells
    used: list[Cell] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def slack(self) -> float:
        """How far a rate of 5 % may be off by luck."""
        return 3 * (0.05 * 0.95 / self.draws) ** 0.5

    def spread(self, run: Callable[[Any], Any], heads: list[Any], draws: int | None = None) -> Any:
        """Pairs of a head and the mean of run(*head, first, draws), in parts over the processes."""
        draws = min(draws or self.draws, self.draws)
        each = PART if draws >= 2 * PART else -(-draws // 10)
        starts = range(0, draws, each)
        names = {
            (head, k): f"{run.__name__} {head}, draws {k} to {k + each}"
            for k in starts
            for head in heads
        }
        begun = {
            self.pool.submit(timed, run, (*head, k, each)): name
            for (head, k), name in names.items()
            if not self.cells.done(name)
        }
        for part in as_completed(begun):
            found, seconds = part.result()
            self.cells.keep(begun[part], np.asarray(found).tolist(), seconds)
        for head in heads:
            parts = [self.cells[names[head, k]] for k in starts]
            self.used += parts
            yield head, np.sum([part.value for part in parts], axis=0) / (len(parts) * each)

    def table(self, introduction: str, *columns: str) -> None:
        self.text += [introduction, f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]

    def row(self, *cells: str) -> None:
        self.text.append(f"| {' | '.join(cells)} |")


SIZES = [(20, 20), (20, 200), (100, 100), (500, 500), (2000, 2000)]


def report_force(r: Report) -> None:
    parts = 40
    tasks = [(k * r.sweeps // parts, r.sweeps // parts) for k in range(parts)]
    name = f"by_force, {r.sweeps} sweeps"
    if not r.cells.done(name):
        found, seconds = zip(*r.pool.map(timed, [by_force] * parts, tasks), strict=True)
        differ = [fault for _, faults in found for fault in faults]
        r.cells.keep(name, (sum(n for n, _ in found), differ), sum(seconds))
    r.used.append(r.cells[name])
    asked, differ = r.cells[name].value
    r.faults += differ
    r.text.append(FORCE_TEXT.format(sweeps=r.sweeps, asked=asked, differ=len(differ) or "no"))


def report_auc(r: Report) -> None:
    r.table(AUC_TEXT, "truth", "positives, negatives", *AUC_METHODS)
    heads = [(truth, p, n) for truth in NAMES for p, n in SIZES]
    for (truth, p, n), got in r.spread(auc_coverage, heads):
        r.row(NAMES[truth], f"{p:,}, {n:,}", *map(_marked, got))
        others = ("score", "newcombe")
        promised = [c for c, m in zip(got, AUC_METHODS, strict=True) if m not in others]
        if not 0.93 - r.slack <= got[0] <= 0.98 + r.slack:
            r.faults.append(f"AUC of {p} and {n} {NAMES[truth]}: {got}")
        if p >= 500 and not all(abs(c - 0.95) <= max(0.01, r.slack) for c in promised):
            r.faults.append(f"AUC of {p} and {n} {NAMES[truth]}: {got}")


def report_others(r: Report) -> None:
    r.table(OTHER_TEXT, "positives, negatives", *OTHERS)
    for (_, p, n), got in r.spread(other_coverage, [(SMOOTH, p, n) for p, n in SIZES]):
        r.row(f"{p:,}, {n:,}", *map(_marked, got))
        if min(got[1], got[3]) < 0.95 - r.slack or (p >= 500 and got[0] < 0.94 - r.slack):
            r.faults.append(f"intervals of {p} and {n}: {got}")


def report_rare(r: Report) -> None:
    r.table(
        RARE_TEXT,
        "AUC",
        "positives, negatives",
        *KINDS,
        "delong",
        "delong, wide",
        "newcombe, wide",
        "width / newcombe's",
    )
    draws = min(r.draws, RARE_DRAWS)
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    grid = list(product((0.6, 0.8, 0.95, 0.99), (10, 20, 50, 100, 500), (200, 2000)))
    heads = [(kind, *rest) for rest in grid for kind in KINDS]
    found = dict(r.spread(rare_coverage, heads, draws))
    for rest in grid:
        auc, p, n = rest
        plain, wide = found["continuous", *rest], found["wide", *rest]
        covered = [found[kind, *rest][0] for kind in KINDS]
        others = (plain[4], wide[4], wide[2])
        ratio = f"{plain[1] / plain[3]:.2f}"
        r.row(f"{auc:g}", f"{p:,}, {n:,}", *map(_marked, covered), *map(percent, others), ratio)
        low, high = min(covered[:4]), max(covered[:3])
        if not (low >= 0.93 - slack and high <= 0.98 + slack):
            r.faults.append(f"rare positives {rest}: {covered}")
    r.table(MANY_TEXT, "AUC", "positives, negatives", "score", "delong", "width / delong's")
    heads = [("continuous", auc, n, n) for n in (300, 500, 2000) for auc in (0.6, 0.8, 0.95, 0.99)]
    for (_, auc, p, n), got in r.spread(rare_coverage, heads, draws):
        ratio = f"{got[1] / got[5]:.3f}"
        r.row(f"{auc:g}", f"{p:,}, {n:,}", _marked(got[0]), _marked(got[4]), ratio)
        if got[0] < 0.93 - slack or (auc <= 0.8 and got[1] > 1.03 * got[5]):
            r.faults.append(f"many positives {auc, p, n}: {got}")


def report_units(r: Report) -> None:
    columns = ("positive, negative", "correlation", "AUC", "coverage", "± z", "width / ± z")
    r.table(UNIT_TEXT, "clusters with", *columns)
    draws = min(r.draws, RARE_DRAWS)
    slack = 3 * (0.05 * 0.95 / draws) ** 0.5
    sizes = ((10, 10), (20, 20), (20, 80), (50, 50))
    heads = [
        (mixed, icc, auc, *size)
        for mixed, size, icc, auc in product((False, True), sizes, (0.1, 0.5, 0.9), (0.7, 0.95))
    ]
    for (mixed, icc, auc, p, n), got in r.spread(unit_coverage, heads, draws):
        kind, width = "both classes" if mixed else "one class", f"{got[2] / got[3]:.2f}"
        r.row(kind, f"{p}, {n}", f"{icc:g}", f"{auc:g}", _marked(got[0]), _marked(got[1]), width)
        if min(p, n) >= 20 and got[0] < 0.93 - slack:
            r.faults.append(f"units {mixed, icc, auc, p, n}: {got}")


def report_pairs(r: Report) -> None:
    columns = ("positives, negatives", "coverage", "p < 0.05", "by z", "no power")
    r.table(PAIR_TEXT, "AUC of b", "difference of means", *columns)
    sizes = [(10, 200), (10, 2000), *SIZES]
    heads = [(1.0, shift, p, n) for shift in (0.0, 0.3) for p, n in sizes]
    strong = [2**0.5 * float(ndtri(auc)) for auc in (0.95, 0.99)]
    heads += [(d, 0.0, p, n) for d in strong for p, n in ((10, 2000), (50, 2000), (500, 2000))]
    for (d, shift, p, n), got in r.spread(pair_coverage, heads):
        covered, found, by_z, powerless = got
        cells = (_marked(covered), percent(found), percent(by_z), percent(powerless))
        r.row(f"{float(ndtr(d / 2**0.5)):.2f}", f"{shift:g}", f"{p:,}, {n:,}", *cells)
        many = d == 1.0 and p >= 100 and abs(covered - 0.95) > max(0.012, r.slack)
        if many or (shift == 0 and found > 0.06 + r.slack):
            r.faults.append(f"comparison of {p} and {n}: {got}")


def report_groups(r: Report) -> None:
    r.table(GROUP_TEXT, "AUCs of the groups", "groups", *AVERAGES, "p < 0.05")
    names = {0.0: "all alike", 0.7: "vary"}
    heads = [(spread, groups) for spread in names for groups in (20, 50, 200)]
    for (spread, groups), got in r.spread(group_coverage, heads):
        r.row(names[spread], f"{groups:,}", *map(_marked, got[:3]), percent(got[3]))
        if groups >= 200 and (min(got[0], got[2]) < 0.935 - r.slack or got[3] > 0.06 + r.slack):
            r.faults.append(f"averages over {groups} groups: {got}")


def report_guarantees(r: Report) -> None:
    r.table(
        GUARANTEE_TEXT,
        "limit",
        "rows, positive",
        "truth",
        "violated",
        "without guarantee",
        "achieved",
        "grid of 100",
        "no threshold",
    )
    for (promise,), got in r.spread(promise_kept, [(promise,) for promise in PROMISES]):
        broken, plain, mine, grid, none, no_grid = got
        what = "specificity" if promise.aim == "fpr" else "recall"
        r.row(
            promise.limit,
            f"{promise.rows:,}, {100 * promise.prevalence:g} %",
            NAMES[promise.truth],
            percent(broken),
            percent(plain),
            f"{what} {mine:.3f}",
            f"{grid:.3f}",
            f"{percent(none)}, {percent(no_grid)}",
        )
        if broken > 0.05 + r.slack or mine < grid:
            r.faults.append(f"promise {promise}: {got}")


def report_calibration(r: Report) -> None:
    r.table(CALIBRATION_TEXT, "rows", *CALIBRATORS, "logistic · √n")
    rates = []
    for rows in (100, 1_000, 10_000, 100_000, 1_000_000):
        draws = max(20, r.draws // 25) if rows < 10**5 else 20
        (_, got), *_ = r.spread(calibration_error, [(SMOOTH, rows)], draws)
        errors = np.sqrt(got)
        rates.append(float(errors[0]) * rows**0.5)
        r.row(f"{rows:,}", *(f"{e:.4f}" for e in errors), f"{rates[-1]:.2f}")
    if not 0.6 < rates[-1] / rates[1] < 1.6:
        r.faults.append(f"the logistic calibrator does not converge as it should: {rates}")


def report_auto(r: Report) -> None:
    r.table(
        AUTO_TEXT,
        "scores",
        "rows",
        "positive",
        *SINGLE,
        "auto",
        "auto / best",
        "auto / best but spline",
    )
    above = []
    for rows in (100, 300, 1_000, 10_000):
        heads = [(shape, rows, share) for shape in SHAPES for share in (0.05, 0.2, 0.5)]
        draws = max(20, r.draws // (50 if rows < 5000 else 200))
        for (shape, _, share), got in r.spread(auto_excess, heads, draws):
            others = min(got[0], got[1], got[3])
            above.append(got[4] / others)
            r.row(
                shape.name,
                f"{rows:,}",
                f"{100 * share:g} %",
                *(f"{x:.1f}" for x in got),
                f"{got[4] / min(got[:4]):.2f}",
                f"{above[-1]:.2f}",
            )
    if np.mean(above) > 1 or max(above) > 2:
        r.faults.append(f"auto is worse than a single method: {np.mean(above)}, {max(above)}")


def report_line(r: Report) -> None:
    r.table(LINE_TEXT, "rows", "positive", "intercept", "slope", "undefined")
    heads = [(rows, mean) for rows in (100, 300, 1_000, 10_000) for mean in (0.0, -3.0)]
    for (rows, mean), got in r.spread(line_coverage, heads, max(500, r.draws * 2 // 5)):
        odds = mean + ndtri((np.arange(1000) + 0.5) / 1000)
        share = float(np.mean(expit(0.8 * odds + 0.3)))
        r.row(f"{rows:,}", percent(share), *map(_marked, got[:2]), percent(got[2]))
        if rows * share >= 50 and min(got[:2]) < 0.935 - r.slack:
            r.faults.append(f"calibration line of {rows} rows at {share}: {got}")


def report_prior(r: Report) -> None:
    r.table(
        PRIOR_TEXT,
        "distance",
        "labelled: positives, negatives",
        "coverage",
        "mean width",
        "false alarm",
        "shift noticed",
    )
    heads = [(d, share, p) for d in (1.5, 2.5) for share in (0.1, 0.5) for p in (50, 200, 1000)]
    for (distance, share, p), got in r.spread(prior_coverage, heads, max(500, r.draws * 2 // 5)):
        n = round(p / share) - p
        cover, alarm, noticed, width = got
        r.row(f"{distance:g}", f"{p:,}, {n:,}", *map(percent, (cover, width, alarm, noticed)))
        enough = n >= 1000 and noticed < 0.9
        if not 0.93 - r.slack <= cover <= 0.97 + r.slack or alarm > 0.07 + r.slack or enough:
            r.faults.append(f"prior shift of {p} and {n} at {distance}: {got}")


PARTS = {
    "guarantees": report_guarantees,
    "unit-limits": report_unit_limits,
    "periods": report_periods,
    "precision": report_precision,
    "auc": report_auc,
    "rare": report_rare,
    "units": report_units,
    "choices": choices.report_choices,
    "grid": choices.report_grid,
    "train": choices.report_train,
    "promises": report_promises,
    "policy": report_policy,
    "two-costs": report_two_costs,
    "baselines": report_baselines,
    "review": report_review,
    "row-costs": report_row_costs,
    "group-choice": report_group_choice,
    "others": report_others,
    "pairs": report_pairs,
    "tests": report_tests,
    "power": report_power,
    "groups": report_groups,
    "calibration": report_calibration,
    "auto": report_auto,
    "line": report_line,
    "prior": report_prior,
    "prevalence": agreement.report_prevalence,
    "agreement": agreement.report_agreement,
    "rates": lambda r: points.report_rates(r, truth_of),
    "areas": lambda r: points.report_areas(r, truth_of),
    "benefit": points.report_benefit,
    "weighted": report_weighted,
    "force": report_force,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="at most 500 draws, no page")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help="at most so many; the page says so"
    )
    parser.add_argument("--only", choices=PARTS, help="run this section")
    parser.add_argument("--resume", action="store_true", help="keep draws that were made before")
    arguments = parser.parse_args()
    quick, only = arguments.quick, arguments.only
    cells = Cells(None if quick else ROOT / "build" / "validation.json", arguments.resume)
    with ProcessPoolExecutor() as pool:
        draws = min(arguments.draws, 500 if quick else DRAWS)
        r = Report(pool, draws, 200 if quick else 10_000, cells)
        for name in [only] if only else PARTS:
            r.text, r.used = [], []
            PARTS[name](r)
            if draws < DRAWS:
                r.text.append(f"\nRun with at most {draws:,} samples per cell.")
            section = page.Section(
                "\n".join(r.text).strip("\n"),
                f"{sum(cell.seconds for cell in r.used) / 60:.1f}",
                ", ".join(sorted({cell.library for cell in r.used})),
            )
            print(section.text)
            print(f"{name}: {section.minutes} CPU minutes", file=sys.stderr, flush=True)
            if not quick:
                cells.save()
                kept = page.read() | {name: section}
                page.write({part: kept[part] for part in PARTS if part in kept})
    for fault in r.faults:
        print(f"broken: {fault}", file=sys.stderr)
    return bool(r.faults)


def _marked(coverage: float) -> str:
    return percent(coverage) if 0.94 <= coverage <= 0.96 else f"**{percent(coverage)}**"


AUC_TEXT = """
## Confidence intervals for the AUC

Coverage of 95 % intervals. `score` is the default of `auc_interval`. `delong`, `logit` and the
bootstrap are asymptotic: with few rows and a high AUC they under-cover. `newcombe` assumes the
variance of exponential scores, which is too large for normal ones.
"""

RARE_TEXT = f"""
### Few positives

Coverage at 95 %, {RARE_DRAWS:,} samples per cell. The first five columns are the default, `score`.
Scores are continuous and normal; in five levels, one standard deviation apart; or with exponential
weights. *Wide* means that positives have twice the standard deviation of negatives, continuous or
in five levels. Then follow `delong` for continuous scores, and `delong` and `newcombe` for wide
positives. The last column is the mean width of `score` relative to `newcombe`, for continuous
scores.

With equal variances the default covers about 94 to 98 %. It falls below 93 % if the rarer class is
wide and its size times 1 − AUC is about 1 to 3. It is lowest for 100 wide positives at an AUC of
0.99. One or two positives with low scores then determine the AUC. A sample without them looks like
a better detector with a smaller variance, and nothing in it shows otherwise. Reports warn
(`few-errors`) if the number of positives times 1 − AUC is below 4. An interval that covers 95 %
there as well would cover more than 99 % with equal variances, and be wider than Newcombe's. With
few positives and an AUC below 0.9, the default is wider than Newcombe's. That is the price of
covering wide positives as well.
"""

MANY_TEXT = """
### Many positives

The default and `delong` with many rows. With P positives the default is wider by a factor of about
1 + 0.5/√P, and by more where `delong` under-covers.
"""

UNIT_TEXT = """
### Clustered rows

`auc_covariance(..., unit=).intervals()` for clusters of ten correlated rows, compared with the AUC
± z clustered standard errors. The rows of a cluster have one class, or both.
"""

OTHER_TEXT = """
## Other intervals

Coverage at 95 %, for a threshold midway between the classes. Wilson's interval covers 95 % on
average over the true rates, not at each of them. The Clopper–Pearson interval covers at least 95 %
always. The interval of F₁ is a percentile interval and needs more positives. The band contains the
whole curve at least 95 % of the time by construction.
"""

PAIR_TEXT = """
## Paired comparison

Two scores of the same rows with a correlation of 0.8. `p < 0.05` is the power of the test or,
without a difference, its type I error. The next column is the same for `method="delong"`, which
uses the normal distribution. With few positives and a high AUC the test has no power and says so;
the last column is how often. It then finds no differences, real or not.
"""

GROUP_TEXT = """
## AUC within groups

Coverage of `GroupAuc.interval` at 95 %, for groups with very different sizes and prevalences. The
last column is the type I error of `compare_groups` for two equally good scores. Groups with one
class are excluded. Most pairs belong to a few large groups, so intervals of `pooled` are the
widest.
"""

GUARANTEE_TEXT = """
## Guarantees

`choose(s, ..., subject_to=limit, confidence=0.95)`: the true rate may violate the limit in at most
5 % of the samples. The next column is the same for a limit that is only met on the sample. Then
follows the cost of the guarantee: the mean true recall (or specificity) at the guaranteed
threshold. For comparison, the best of 100 quantiles of the scores was tested at a level of
5 %/100 each, on the same data. The last column is how often there was no such threshold, here and
on the grid.
"""

CALIBRATION_TEXT = """
## Calibration

Normal scores with equal variances, whose true log-likelihood ratio is linear: root mean square
error of the calibrated LLR on new rows. The logistic calibrator assumes this linear form, and its
error falls like 1/√n, the parametric rate: error · √n, the last column, is constant. Isotonic
(monotone) calibration assumes no shape and has a larger variance.
"""

AUTO_TEXT = """
### Automatic choice of the method

Excess log loss on new rows over that of the true likelihood ratio, in 10⁻⁴ nats. The table shows
each monotone method, and `calibrate(s)`, which does not know which one is right. If one method is
exact, as a linear one is for normal scores with equal variances, the selection has a cost. If none
is, an average of two may be better than either. 100 samples per row, 30 with 10,000 rows.
"""

LINE_TEXT = """
### Slope and intercept

Coverage of `calibration_line(s)` at 95 %. The log odds are normal with standard deviation 1, and
the true slope is 0.8. The intercept is that at slope 1. Undefined if the classes don't overlap.
2,000 samples per row.
"""

PRIOR_TEXT = """
## Label shift

Coverage of `prior_shift(s, score)` at 95 %, for normal scores. There are 5,000 unlabelled rows, 5 %
of them positive, and labelled rows, 10 or 50 % of them positive. A false alarm is a warning that
the batch is not a mixture of the labelled classes although it is one. The last column is the power
to detect a shift of all scores by 0.2 standard deviations. It takes about a thousand labelled
negatives to detect that. 2,000 samples per row.
"""

FORCE_TEXT = """
## Exhaustive search

`choose` was compared with an exhaustive search over all thresholds in exact fractions. There were
{sweeps:,} random sweeps with ties, half of them weighted. The queries combine all objectives with
all sets of limits, feasible or not, a tenth of these pairs on each sweep in turn. There were
{asked:,} queries and {differ} differences.
"""

if __name__ == "__main__":
    sys.exit(main())
