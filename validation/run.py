"""Are the intervals and guarantees honest? Simulations where the truth is known.

Writes ``docs/validation.md`` and exits with 1 if a promise is broken. ``--quick`` draws a tenth and
writes nothing. Takes some twenty minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import cutscore as cs
from cutscore.guarantee import most
from cutscore.inference import percentiles
from cutscore.objectives import as_objective

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

Array = Any


@dataclass(frozen=True)
class Truth:
    """Two normal distributions, a distance apart; perhaps rounded up to a few levels."""

    distance: float
    levels: tuple[float, ...] = ()

    def draw(self, rng: np.random.Generator, y: Array) -> Array:
        score = rng.standard_normal(len(y)) + self.distance * y
        if not self.levels:
            return score
        grid = np.array(self.levels)
        return grid[np.searchsorted(grid[:-1], score)]

    def rate(self, threshold: Any, mean: float) -> Any:
        """P(score >= threshold) of the class with that mean."""
        t = np.asarray(threshold, np.float64)
        if self.levels:  # at least t, rounded up: above the level below
            below = np.concatenate(([-np.inf], self.levels))
            at = np.searchsorted(self.levels, t)
            t = np.where(at < len(self.levels), below[np.minimum(at, len(self.levels) - 1)], np.inf)
        return ndtr(mean - t)

    def tpr(self, threshold: Any) -> Any:
        return self.rate(threshold, self.distance)

    def fpr(self, threshold: Any) -> Any:
        return self.rate(threshold, 0.0)

    @property
    def auc(self) -> float:
        if not self.levels:
            return float(ndtr(self.distance / 2**0.5))
        edges = np.concatenate(([-np.inf], self.levels[:-1], [np.inf]))
        pos, neg = np.diff(ndtr(edges - self.distance)), np.diff(ndtr(edges))
        below = np.concatenate(([0.0], np.cumsum(neg)[:-1]))
        return float(np.sum(pos * (below + neg / 2)))


SMOOTH = Truth(1.0)
STRONG = Truth(2.5)
TIED = Truth(1.0, (-1.0, 0.0, 1.0, 2.0, 3.0))
NAMES = {SMOOTH: "binormal, AUC 0.76", STRONG: "binormal, AUC 0.96", TIED: "five levels, AUC 0.74"}


def sample(truth: Truth, positives: int, negatives: int, seed: Any) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], (positives, negatives))
    return y, truth.draw(rng, y)


# ----------------------------------------------------------------------------- coverage of the AUC

AUC_METHODS = ("delong", "logit", "newcombe", "bootstrap", "bca")


def auc_coverage(task: tuple[Truth, int, int, int, int]) -> Array:
    """How many of the intervals of each method contain the true AUC."""
    truth, positives, negatives, first, draws = task
    hits = np.zeros(len(AUC_METHODS))
    for seed in range(first, first + draws):
        s = cs.sweep(*sample(truth, positives, negatives, seed))
        intervals = [cs.auc_interval(s, method=m) for m in AUC_METHODS[:3]]
        resampled = cs.bootstrap(s, n=1000, method="bca", seed=seed)
        intervals += [percentiles(resampled.replicates, 0.95), resampled.interval]
        hits += [truth.auc in interval for interval in intervals]
    return hits


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


def pair_coverage(task: tuple[float, int, int, int, int]) -> Array:
    """Of two correlated scores: intervals that contain the true difference, and false findings."""
    shift, positives, negatives, first, draws = task
    true = float(ndtr((1 + shift) / 2**0.5) - ndtr(1 / 2**0.5))
    hits = np.zeros(2)
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], (positives, negatives))
        common, *own = rng.standard_normal((3, len(y)))
        a, b = (
            0.8**0.5 * common + 0.2**0.5 * noise + mean * y
            for noise, mean in zip(own, (1 + shift, 1.0), strict=True)
        )
        c = cs.compare(y, a, b)
        hits += [true in c.interval, c.p_value < 0.05]
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
            ok = c.fp <= most(int(s.N), float(bound), error)
        elif name == "recall":
            ok = c.fn <= most(int(s.P), 1 - float(bound), error)
        else:
            ok = c.flagged <= most(int(s.P + s.N), float(bound), error)
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


@dataclass
class Report:
    """Lines of the page, and promises that were broken."""

    pool: ProcessPoolExecutor
    draws: int
    sweeps: int
    text: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def slack(self) -> float:
        """How far a rate of 5 % may be off by luck."""
        return 3 * (0.05 * 0.95 / self.draws) ** 0.5

    def spread(self, run: Callable[[Any], Any], heads: list[Any], draws: int | None = None) -> Any:
        """Pairs of a head and the mean of run(*head, first, draws), in parts over the processes."""
        parts = 10
        each = -(-(draws or self.draws) // parts)
        tasks = [(*head, k * each, each) for head in heads for k in range(parts)]
        done = list(self.pool.map(run, tasks))
        for i, head in enumerate(heads):
            yield head, np.sum(done[i * parts : (i + 1) * parts], axis=0) / (parts * each)

    def table(self, introduction: str, *columns: str) -> None:
        self.text += [introduction, f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]

    def row(self, *cells: str) -> None:
        self.text.append(f"| {' | '.join(cells)} |")


SIZES = [(20, 20), (20, 200), (100, 100), (500, 500), (2000, 2000)]


def report_force(r: Report) -> None:
    parts = 40
    tasks = [(k * r.sweeps // parts, r.sweeps // parts) for k in range(parts)]
    done = list(r.pool.map(by_force, tasks))
    differ = [fault for _, faults in done for fault in faults]
    r.faults += differ
    r.text.append(
        FORCE_TEXT.format(
            sweeps=r.sweeps, asked=sum(n for n, _ in done), differ=len(differ) or "no"
        )
    )


def report_auc(r: Report) -> None:
    r.table(AUC_TEXT, "truth", "positives, negatives", *AUC_METHODS)
    heads = [(truth, p, n) for truth in NAMES for p, n in SIZES]
    for (truth, p, n), got in r.spread(auc_coverage, heads):
        r.row(NAMES[truth], f"{p:,}, {n:,}", *map(_marked, got))
        promised = [c for c, m in zip(got, AUC_METHODS, strict=True) if m != "newcombe"]
        if p >= 500 and not all(abs(c - 0.95) <= max(0.01, r.slack) for c in promised):
            r.faults.append(f"AUC of {p} and {n} {NAMES[truth]}: {got}")


# ------------------------------------------------------------------------------- after the choice


@dataclass(frozen=True)
class Choice:
    """A cut that is chosen and judged on the same rows; the share of positives is counted, too."""

    goal: str
    rows: int
    positives: int
    truth: Truth

    @property
    def objective(self) -> Any:
        return cs.Costs(fp=1, fn=20) if self.goal == "cost" else self.goal

    def true(self, threshold: float) -> float:
        """The value on new rows."""
        share = self.positives / self.rows
        tpr, fpr = float(self.truth.tpr(threshold)), float(self.truth.fpr(threshold))
        tp, fp = share * tpr, (1 - share) * fpr
        c = cs.Confusion(tp, fp, share - tp, 1 - share - fp)
        return float(as_objective(self.objective)(c))


CHOICES = (
    *(Choice("cost", n, p, Truth(d)) for n, p, d in ((400, 40, 1.5), (2000, 40, 1.5))),
    *(Choice("cost", n, p, Truth(d)) for n, p, d in ((2000, 40, 2.5), (5000, 100, 1.5))),
    Choice("cost", 150, 15, Truth(1.5)),
    *(Choice("f1", n, p, Truth(1.5)) for n, p in ((400, 40), (2000, 40), (10_000, 200))),
    Choice("youden", 100, 50, Truth(1.0)),
)


def choice_coverage(task: tuple[Choice, int, int]) -> Array:
    """Values on the rows, expected and true, then how often the intervals contain the truth: that
    of the threshold alone, that of the value expected, and that of the recall expected."""
    choice, first, draws = task
    out = np.zeros(6)
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        y = rng.random(choice.rows) < choice.positives / choice.rows
        p = cs.choose(cs.sweep(y, choice.truth.draw(rng, y)), choice.objective)
        true, recall = choice.true(p.threshold), p.expect("recall")
        assert p.expected is not None
        assert recall is not None
        out[:3] += p.value, p.expected.value, true
        out[3] += true in p.interval
        out[4] += p.expected.low <= true <= p.expected.high
        out[5] += recall.low <= choice.truth.tpr(p.threshold) <= recall.high
    return out


def report_choices(r: Report) -> None:
    r.table(
        CHOICE_TEXT, "aim", "rows, positive", "AUC", "on the rows", "expected", "true",
        "threshold alone", "covers", "recall covers",
    )  # fmt: skip
    for (choice,), got in r.spread(
        choice_coverage, [(choice,) for choice in CHOICES], r.draws // 2
    ):
        here, expected, true, plain, covers, recall = got
        r.row(
            choice.goal,
            f"{choice.rows:,}, {choice.positives}",
            f"{choice.truth.auc:.2f}",
            f"{here:.4f}",
            f"{expected:.4f} ({100 * (expected / true - 1):+.1f} %)",
            f"{true:.4f}",
            *map(percent, (plain, covers, recall)),
        )
        bias = abs(expected / true - 1)
        if covers < 0.93 - r.slack or (choice.positives >= 40 and covers > 0.98 + r.slack):
            r.faults.append(f"value after the choice, {choice}: {got}")
        if bias > (0.06 if choice.positives < 40 else 0.04):
            r.faults.append(f"bias after the choice, {choice}: {got}")


def report_others(r: Report) -> None:
    r.table(OTHER_TEXT, "positives, negatives", *OTHERS)
    for (_, p, n), got in r.spread(other_coverage, [(SMOOTH, p, n) for p, n in SIZES]):
        r.row(f"{p:,}, {n:,}", *map(_marked, got))
        if min(got[1], got[3]) < 0.95 - r.slack or (p >= 500 and got[0] < 0.94 - r.slack):
            r.faults.append(f"intervals of {p} and {n}: {got}")


def report_pairs(r: Report) -> None:
    r.table(PAIR_TEXT, "difference of means", "positives, negatives", "coverage", "p < 0.05")
    heads = [(shift, p, n) for shift in (0.0, 0.3) for p, n in SIZES]
    for (shift, p, n), got in r.spread(pair_coverage, heads):
        r.row(f"{shift:g}", f"{p:,}, {n:,}", _marked(got[0]), percent(got[1]))
        if p >= 100 and abs(got[0] - 0.95) > max(0.012, r.slack):
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
        "broken",
        "without guarantee",
        "achieved",
        "grid of 100",
        "no cut",
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, no page")
    quick = parser.parse_args().quick
    draws, start = 500 if quick else 5000, time.time()
    with ProcessPoolExecutor() as pool:
        r = Report(pool, draws, 200 if quick else 10_000, [INTRODUCTION.format(draws=draws)])
        for part in (
            report_guarantees,
            report_auc,
            report_choices,
            report_others,
            report_pairs,
            report_groups,
            report_calibration,
            report_force,
        ):
            part(r)
            print(f"{part.__name__}: {time.time() - start:.0f} s", flush=True)
    page = "\n".join(r.text) + "\n"
    if quick:
        print(page)
    else:
        (ROOT / "docs" / "validation.md").write_text(page, encoding="utf-8")
    for fault in r.faults:
        print(f"broken: {fault}", file=sys.stderr)
    return bool(r.faults)


def _marked(coverage: float) -> str:
    return percent(coverage) if 0.94 <= coverage <= 0.96 else f"**{percent(coverage)}**"


INTRODUCTION = """# Validation

How often do intervals contain the truth, and how often are guarantees broken? Simulated from
distributions whose true values are known, {draws:,} draws a line, by `make validate`. A coverage
outside of 94 to 96 % is in bold: by luck alone that happens once in a thousand lines."""

AUC_TEXT = """
## Intervals of the AUC

At 95 %. `delong` is the default of `auc_interval`; theory promises it for many rows of both
classes. With few rows and a high AUC it promises too much; `logit` is the method for that.
`newcombe` takes the spread of exponential scores for granted, which is too wide for normal ones.
"""

CHOICE_TEXT = """
## After the choice

A threshold chosen for an aim (costs: false alarm 1, miss 20) and judged on the same rows. The value
on these rows is too good; `expected` chooses again on folds. Then how often 95 % intervals contain
the truth: that of the threshold as if it had been given, that of `expected`, and that of
`expect("recall")`. With 15 positives the interval of the cost is wider than it need be.
"""

OTHER_TEXT = """
## Other intervals

At 95 %, at a threshold halfway between the classes. Wilson's interval covers 95 % on average over
true rates, not at each; Clopper–Pearson's at least 95 % always. The F₁ is a percentile interval and
needs more positives. The band contains the whole curve, at least 95 % of the time by construction.
"""

PAIR_TEXT = """
## Paired comparison

Two scores of the same rows, correlated at 0.8. The last column is the power of the test, and where
there is no difference the rate of its false findings.
"""

GROUP_TEXT = """
## Inside groups

`GroupAuc.interval` at 95 %, of groups of very different sizes and shares of positives; in the last
column how often `compare_groups` finds a difference between two scores of equal worth. Groups of
one class count for nothing. Most pairs are those of a few large groups: intervals of `pooled` are
the widest.
"""

GUARANTEE_TEXT = """
## Guarantees

`choose(s, ..., subject_to=limit, confidence=0.95)`: the true rate may break the limit in at most
5 % of the draws. Beside it, how often the limit is broken that is only met on the data. Then what
it costs: the mean true recall (or specificity) at the guaranteed cut, and at the best of 100
quantiles of the scores tested at 5 %/100 each, on the same data. Last, how often there was no such
cut, here and on the grid.
"""

CALIBRATION_TEXT = """
## Calibration

Scores of two normal distributions, whose true log-likelihood ratio is a straight line: the root
mean square error of the calibrated LLR of new rows. The logistic calibrator assumes that line, and
its error falls as 1/√n, the parametric rate: the last column, error · √n, stays the same. The
monotone one assumes nothing and pays for it.
"""

FORCE_TEXT = """
## Every cut, by force

`choose` was held against trying every cut in fractions on {sweeps:,} random sweeps with ties, half
of them weighted, for every objective under every set of limits (a tenth of these pairs on each
sweep, in turn), feasible or not: {asked:,} questions, {differ} differences.
"""

if __name__ == "__main__":
    sys.exit(main())
