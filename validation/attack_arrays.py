"""Rows in arrays of all kinds against the exact oracle, and rows that break a rule."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import cutscore as cs
import oracle
from cutscore.core.errors import CutscoreError, DataError
from cutscore.core.findings import Where
from strategies import LAYOUTS

_SPECIAL = (0.0, -0.0, np.inf, -np.inf, 1.0, 0.5, 0.1, 5e-324, 1e300, -1e300, 2.0**53)
_TYPES = (np.float64, np.float32, np.float16, np.int8, np.int16, np.int64, np.uint32, np.bool_)
_LABELS = (np.int64, np.int8, np.uint8, np.bool_, np.float32, np.float64)
_WEIGHTS = (0.0, 1.0, 2.0, 7.0, 0.5, 0.25, 3.0)
_EXTREME = (5e-324, 1e-300, 1e-20, 0.1, 1.0, 1e10, 1e300)
# Of these functions no number is known here: they must say something, or raise what is ours.
_SAY = (
    *("average_precision", "brier", "cost_curve", "det", "gain", "gini", "h_measure", "hull"),
    *("kolmogorov_smirnov", "lift", "log_loss", "net_benefit", "partial_auc", "pr", "roc"),
    *("reliability", "equal_error_rate", "cllr", "min_cllr", "auc_interval", "calibration_line"),
)
_AIMS = ("f1", "mcc", "lift", "lr_positive", "balanced", "precision")


def attack_arrays(seed: int, wanted: int, until: float, _: Path) -> tuple[int, list[str]]:
    """So many inputs, of up to 12 rows mostly; what broke, each with how to draw it again."""
    found: list[str] = []
    done = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while done < wanted and time.monotonic() < until and len(found) < 100:
            rng = np.random.default_rng([seed, done])
            try:
                _one(rng, done)
            except CutscoreError as error:
                found.append(f"input {done} of seed {seed}: refused, {error}")
            except Exception as error:  # whatever it is, it is not ours
                found.append(f"input {done} of seed {seed}: {type(error).__name__}: {error}")
            done += 1
    return done, found


def _one(rng: np.random.Generator, k: int) -> None:
    n = int(rng.integers(2, 13)) if k % 500 else int(rng.integers(17_000, 40_000))
    y = rng.integers(0, 2, n)
    y[:2] = (0, 1) if rng.random() < 0.5 else (1, 0)
    score = _scores(rng, n)
    layout = LAYOUTS[rng.integers(len(LAYOUTS))]
    labels = layout(y.astype(_LABELS[rng.integers(len(_LABELS))]))
    given = layout(score)
    kind = rng.integers(10)
    if kind == 0 and n < 100:
        _refused(rng, y, score)
    elif kind == 1 and n < 100:
        _extreme(rng, y, score)
    elif kind < 5 and n < 100:
        weight = rng.choice(_WEIGHTS, n)
        weight[:2] = 1.0
        _equal(cs.sweep(labels, given, weight), oracle.table(y, _plain(score), weight), rng)
    elif n < 100:
        _equal(cs.sweep(labels, given), oracle.table(y, _plain(score)), rng)
    else:
        s = cs.sweep(labels, given)
        threshold, pos, neg = oracle.counted(y, score)
        assert np.array_equal(s.threshold, threshold), "thresholds"
        assert np.array_equal(s.pos, pos), "positives"
        assert np.array_equal(s.neg, neg), "negatives"
        twice, pairs = oracle.twice_area(pos.tolist(), neg.tolist()), int(pos.sum() * neg.sum())
        assert s.auc == float(Fraction(twice, 2 * pairs)), "AUC"


def _plain(score: Any) -> Any:
    return np.asarray(score).astype(np.float64)


def _scores(rng: np.random.Generator, n: int) -> Any:
    dtype = _TYPES[rng.integers(len(_TYPES))]
    if np.issubdtype(dtype, np.floating):
        pool = np.concatenate((rng.normal(size=4), rng.choice(_SPECIAL, 4)))
        with np.errstate(over="ignore", under="ignore"):
            pool = pool.astype(dtype)
            pool = np.concatenate((pool, np.nextafter(pool, dtype(np.inf))))
        if n > 100:
            pool = np.concatenate((pool, rng.random(n // 2).astype(dtype)))
        return rng.choice(pool, n)
    if dtype is np.bool_:
        return rng.integers(0, 2, n).astype(np.bool_)
    info = np.iinfo(dtype)
    most = min(int(info.max), 2**53)
    few = rng.integers(max(int(info.min), -(2**53)), most, 5, endpoint=True)
    return rng.choice(few, n).astype(dtype)


def _equal(s: cs.Sweep, t: oracle.Table, rng: np.random.Generator) -> None:
    """The sweep, its area and what it says of one cut are those of the definitions."""
    assert s.threshold.tolist() == t.threshold, "thresholds"
    assert [Fraction(x) for x in s.pos.tolist()] == t.pos, "positives"
    assert [Fraction(x) for x in s.neg.tolist()] == t.neg, "negatives"
    if not (t.P and t.N):
        return
    wins, below = Fraction(0), t.N
    for p, q in zip(t.pos, t.neg, strict=True):
        below -= q
        wins += p * (below + q / 2)
    area = wins / (t.P * t.N)
    assert s.auc == float(area) or (s.weighted and abs(s.auc - area) < 1e-15), "AUC"
    cut = float(rng.choice(t.threshold)) if rng.random() < 0.8 else float(rng.normal())
    flagged = [k for k, threshold in enumerate(t.threshold) if threshold >= cut]
    c = s.at(cut)
    assert c.tp == sum((t.pos[k] for k in flagged), Fraction(0)), "TP"
    assert c.fp == sum((t.neg[k] for k in flagged), Fraction(0)), "FP"
    assert c.fn == t.P - Fraction(c.tp), "FN"
    low = min(abs(oracle.kolmogorov_smirnov(t) - Fraction(cs.kolmogorov_smirnov(s))), 1)
    assert low < 1e-15, "KS"
    best = cs.choose(s, "youden")
    gain = max(
        (Fraction(tp) / t.P - Fraction(fp) / t.N for tp, fp in _cuts(t)), default=Fraction(0)
    )
    here = Fraction(best.confusion.tp) / t.P - Fraction(best.confusion.fp) / t.N
    assert here == gain or abs(here - gain) < 1e-15, "choose"


def _cuts(t: oracle.Table) -> list[tuple[Fraction, Fraction]]:
    tp = fp = Fraction(0)
    # Where scores are +inf no threshold flags nothing.
    out = [] if t.threshold[0] == np.inf else [(tp, fp)]
    for p, q in zip(t.pos, t.neg, strict=True):
        tp, fp = tp + p, fp + q
        out.append((tp, fp))
    return out


def _refused(rng: np.random.Generator, y: Any, score: Any) -> None:
    """A row that breaks a rule is named."""
    row, what = int(rng.integers(len(y))), rng.integers(3)
    weight, score, y = np.ones(len(y)), score.astype(np.float64), y.astype(np.float64)
    if what == 0:
        score[row] = np.nan
    elif what == 1:
        y[row] = rng.choice([np.nan, 2.0, 0.5])
    else:
        weight[row] = rng.choice([-1.0, np.nan, np.inf, -5e-324])
    place: Any = None
    try:
        cs.sweep(y, score, weight)
    except DataError as error:
        place = error.finding.where or Where()
    assert place is not None, f"row {row} was taken"
    # Of three labels any may be the one too many.
    assert what == 1 or place.row == row, f"row {row} is at fault, not {place}"


def _extreme(rng: np.random.Generator, y: Any, score: Any) -> None:
    """Weights that are legal, however large or small: no warning, no foreign exception."""
    try:
        s = cs.sweep(y, score, rng.choice(_EXTREME, len(y)))
    except CutscoreError:
        return
    for say in (repr, *(getattr(cs, name) for name in rng.choice(_SAY, 3))):
        _ours(lambda say=say: say(s))
    aim = str(rng.choice(_AIMS))
    _ours(lambda: repr(cs.choose(s, aim)))


def _ours(call: Any) -> None:
    with suppress(CutscoreError):
        call()
