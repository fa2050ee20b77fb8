"""How often the tests find what is not there, and how often what was planned to be found.

Two sections of ``docs/validation.md``: ``python validation/run.py --only tests`` and
``--only power``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import binom

import cutscore as cs

Array = Any
DRAWS = 2000
PERMUTATIONS = 99
LOW, HIGH = 0.035, 0.065


def scores(
    rng: np.random.Generator, sizes: tuple[int, int], aucs: list[float], shared: float = 0.5
) -> tuple[Array, list[Array]]:
    """Normal scores of the same rows, correlated within a class."""
    y = np.repeat([1, 0], sizes)
    common = shared**0.5 * rng.standard_normal(len(y))
    noise = (1 - shared) ** 0.5 * rng.standard_normal((len(aucs), len(y)))
    return y, [common + e + 2**0.5 * ndtri(a) * y for e, a in zip(noise, aucs, strict=True)]


# ------------------------------------------------------------------------------------------- sizes

SIZES = [(20, 20), (20, 200), (50, 50), (50, 200), (200, 200)]
KINDS = {(0.76, False): SIZES, (0.9, False): SIZES[2:4], (0.76, True): SIZES[1:4]}
MARGIN = 0.05
NAMES = (
    "one-sided",
    "not worse",
    "equivalent",
    "bootstrap",
    "four AUCs, F",
    "chi²",
    "FPR ≤ 0.2",
    "TPR ≥ 0.8",
    "unpaired, FPR ≤ 0.2",
    "curves",
    "curves, unpaired",
)


def found(call: Any, *arguments: Any, **options: Any) -> float:
    """The p-value, or 1 where the rows can't tell."""
    try:
        return float(call(*arguments, **options).p_value)
    except cs.UndefinedError:
        return 1.0


def sizes(task: tuple[float, bool, int, int, int, int]) -> Array:
    """False findings of each test, where what is to be shown is just not so."""
    auc, tied, p, n, first, draws = task
    hits = np.zeros(len(NAMES))
    low, high = cs.PartialAuc(max_fpr=0.2), cs.PartialAuc(min_tpr=0.8)
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 16))
        y, drawn = scores(rng, (p, n), [auc] * 4)
        worse = drawn[0] + 2**0.5 * (ndtri(auc - MARGIN) - ndtri(auc)) * y
        z, (other,) = scores(rng, (p + p // 2, n - n // 4), [auc])
        a, b, c, d, worse, other = (
            (2 * x).round() / 2 if tied else x for x in (*drawn, worse, other)
        )
        several, apart = cs.auc_covariance(y, [a, b, c, d]), (cs.sweep(y, b), cs.sweep(z, other))
        hits += np.array([
            found(cs.compare, y, a, b, alternative="greater"),
            found(cs.compare, y, worse, b, alternative="greater", margin=MARGIN),
            found(cs.compare, y, worse, b, alternative="equivalent", margin=MARGIN),
            found(cs.compare, y, a, b, method="bootstrap", n=PERMUTATIONS, seed=seed),
            found(several.test),
            found(several.test, method="delong"),
            found(cs.compare, y, a, b, statistic=low),
            found(cs.compare, y, a, b, statistic=high),
            found(cs.compare_unpaired, *apart, statistic=low),
            found(cs.compare_curves, y, a, b, n=PERMUTATIONS, seed=seed),
            found(cs.compare_curves_unpaired, *apart, n=PERMUTATIONS, seed=seed),
        ]) <= 0.05  # fmt: skip
    return hits


def report_tests(r: Any) -> None:
    r.table(TEST_TEXT, "AUC, scores", "positives, negatives", *NAMES)
    heads = [(*kind, *size) for kind, several in KINDS.items() for size in several]
    draws = min(DRAWS, r.draws)
    slack = 2.5 * (0.05 * 0.95 / draws) ** 0.5
    for (auc, tied, p, n), got in r.spread(sizes, heads, draws):
        kind = f"{auc}, {'rounded' if tied else 'continuous'}"
        cells = [f"{100 * x:.1f} %" if LOW <= x <= HIGH else f"**{100 * x:.1f} %**" for x in got]
        r.row(kind, f"{p}, {n}", *cells)
        sound = [x for name, x in zip(NAMES, got, strict=True) if name not in ("chi²", "bootstrap")]
        if min(p, n) >= 50 and max(sound) > HIGH + slack:
            r.faults.append(f"tests of {kind}, {p}, {n}: {got}")


# ------------------------------------------------------------------------------------------- power

ONE = [(0.65, 0.5, 30, 60), (0.7, 0.5, 20, 40), (0.75, 0.6, 60, 60), (0.8, 0.7, 30, 300),
       (0.9, 0.8, 40, 160), (0.95, 0.9, 60, 300)]  # fmt: skip
TWO = [(0.75, 0.65, 0.5, 60, 60), (0.8, 0.7, 0.3, 40, 120), (0.85, 0.8, 0.6, 100, 400),
       (0.95, 0.9, 0.5, 100, 400), (0.7, 0.7, 0.8, 100, 200)]  # fmt: skip
LIMITS = [("fpr <= 0.05", 0.02, 200), ("fpr <= 0.01", 0.004, 1500), ("fpr <= 0.1", 0.06, 400)]
QUESTIONS: list[dict[str, Any]] = [
    {},
    {"alternative": "greater"},
    {"alternative": "greater", "margin": 0.05},
    {"alternative": "equivalent", "margin": 0.1},
]


def one_found(task: tuple[float, float, int, int, int, int]) -> Array:
    auc, against, p, n, first, draws = task
    hits = np.zeros(1)
    for seed in range(first, first + draws):
        y, (score,) = scores(np.random.default_rng((seed, 17)), (p, n), [auc])
        hits += against not in cs.auc_interval(cs.sweep(y, score))
    return hits


def two_found(task: tuple[float, float, float, int, int, int, int]) -> Array:
    a, b, correlation, p, n, first, draws = task
    hits = np.zeros(len(QUESTIONS))
    for seed in range(first, first + draws):
        rng = np.random.default_rng((seed, 18))
        y, (one, other) = scores(rng, (p, n), [a, b], correlation)
        hits += [cs.compare(y, one, other, **asked).shown for asked in QUESTIONS]
    return hits


def limit_found(task: tuple[str, float, int, int, int]) -> Array:
    """How often a threshold that was fixed beforehand, with that true rate, is shown to hold."""
    limit, rate, n, first, draws = task
    bound = float(limit.split()[-1])
    hits = np.zeros(1)
    for seed in range(first, first + draws):
        alarms = int(np.random.default_rng((seed, 19)).binomial(n, rate))
        hits += binom.cdf(alarms, n, bound) <= 0.05
    return hits


def report_power(r: Any) -> None:
    draws = min(DRAWS, r.draws)
    slack = 2.5 * (0.25 / draws) ** 0.5

    def row(what: str, rows: str, planned: float, drawn: float, *more: str) -> None:
        r.row(what, rows, f"{100 * planned:.1f} %", f"{100 * drawn:.1f} %", *(more or ("–",)))
        if abs(planned - drawn) > 0.03 + slack / 2:
            r.faults.append(f"power of {what}, {rows}: {planned} planned, {drawn} found")

    r.table(POWER_TEXT, "hypothesis", "rows", "planned", "observed", "by Obuchowski's formula")
    for (auc, against, p, n), (drawn,) in r.spread(one_found, ONE, draws):
        planned, pROC = (
            cs.power.auc_power(auc, p, n, against=against, method=method)
            for method in ("score", "obuchowski")
        )
        what = f"AUC {auc:g} is not {against:g}"
        row(what, f"{p} + {n}", planned, drawn, f"{100 * pROC:.1f} %")
    for (a, b, correlation, p, n), got in r.spread(two_found, TWO, draws):
        pair = cs.power.AucPair(a, b, correlation)
        for asked, drawn in zip(QUESTIONS, got, strict=True):
            planned = cs.power.difference_power(pair, p, n, **asked)
            by = "–"
            if not asked:
                by = f"{100 * cs.power.difference_power(pair, p, n, method='obuchowski'):.1f} %"
            margin = f" by {asked['margin']:g}" if "margin" in asked else ""
            what = f"{a:g} against {b:g}, {asked.get('alternative', 'two-sided')}{margin}"
            row(f"{what}, r = {correlation:g}", f"{p} + {n}", planned, drawn, by)
    for (limit, rate, n), (drawn,) in r.spread(limit_found, LIMITS, draws):
        planned = cs.power.limit_power(limit, n, expected=rate)
        row(f"{limit}, truly {rate:g}", f"{n:,} negatives", planned, drawn)


TEST_TEXT = f"""
## Tests

Type I errors of tests at the 5 % level. {DRAWS:,} samples per row, normal scores with a
correlation of 0.5. Values outside 3.5 to 6.5 % are in bold. For *not worse* (non-inferiority) and
*equivalent*, the true difference is exactly the margin of {MARGIN:g}. With few rows equivalence
is rarely shown at all, so its type I error is small. The *bootstrap* has {PERMUTATIONS} samples,
and the tests of curves have as many permutations. *F* is the default of `AucCovariance.test`,
*chi²* is `method="delong"`. Partial areas depend on few rows if positives or negatives are few,
and their tests are then conservative. Rounded scores are multiples of ½. Unpaired tests compare
samples of different sizes.
"""

POWER_TEXT = f"""
## Power

The power that `cutscore.comparison.power` computes, and how often the test succeeds, {DRAWS:,}
samples per row. Success means that `auc_interval` excludes the other AUC, that `compare` shows
the difference, or that the limit can be guaranteed. Obuchowski's formulas are those of pROC, for
tests with the normal distribution.
"""
