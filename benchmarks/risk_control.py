"""Limits that hold on new rows, beside MAPIE's BinaryClassificationController: how often is a limit
broken that may be broken in 5 % of draws, and how much recall remains?

Needs ``pip install mapie``. Draws have a known truth: normal scores, mapped to (0, 1) as MAPIE's
grid wants them. ``--draws N`` for fewer.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from mapie.risk_control import BinaryClassificationController, false_positive_rate, precision
from scipy.special import expit, ndtr

import cutscore as cs

# Rows, share of positives, distance of the classes, limit, target.
SETTINGS = [
    (1_000, 0.2, 2.0, "precision", 0.8),
    (5_000, 0.1, 2.5, "precision", 0.9),
    (1_000, 0.2, 2.0, "fpr", 0.05),
    (5_000, 0.05, 2.0, "fpr", 0.02),
]
RISKS = {"precision": precision, "fpr": false_positive_rate}


def truth(limit: str, share: float, distance: float, at: float) -> tuple[float, float]:
    """The limited measure and the recall of a threshold on the normal scores."""
    recall, fpr = float(ndtr(distance - at)), float(ndtr(-at))
    tp, fp = share * recall, (1 - share) * fpr
    return (tp / (tp + fp) if tp + fp > 0 else 1.0) if limit == "precision" else fpr, recall


def draw(setting: Any, seed: int) -> list[tuple[bool, bool, float]]:
    """Of MAPIE and of cutscore: whether a threshold was found, the limit broken, the recall."""
    rows, share, distance, limit, target = setting
    rng = np.random.default_rng(seed)
    y = rng.random(rows) < share
    x = rng.standard_normal(rows) + distance * y
    p = expit(distance * (x - distance / 2) + np.log(share / (1 - share)))  # the true probability
    controller = BinaryClassificationController(
        lambda rows: np.column_stack((1 - rows[:, 0], rows[:, 0])),
        RISKS[limit],
        target,
        confidence_level=0.95,
        best_predict_param_choice="recall",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(p[:, None], y.astype(int))
    best = controller.best_predict_param
    sign = ">=" if limit == "precision" else "<="
    point = cs.choose(
        cs.sweep(y, p), "recall", subject_to=f"{limit} {sign} {target}", confidence=0.95
    )
    found = [best, point.threshold if point.feasible else None]
    out = []
    for t in found:
        if t is None or not t < 1:
            out.append((t is not None, False, 0.0))
            continue
        at = -np.inf
        if t > 0:
            at = (np.log(t / (1 - t)) - np.log(share / (1 - share))) / distance + distance / 2
        value, recall = truth(limit, share, distance, at)
        out.append((True, value < target if limit == "precision" else value > target, recall))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2_000)
    draws = parser.parse_args().draws
    print(f"{draws:,} draws; MAPIE, then cutscore: limit broken, mean recall")
    for setting in SETTINGS:
        every = np.array([draw(setting, seed) for seed in range(draws)], np.float64).mean(axis=0)
        (_, theirs, less), (_, ours, more) = every.tolist()
        rows, share, _, limit, target = setting
        print(
            f"{rows:>6,} rows, {100 * share:g} % positive, {limit} {target:<5}"
            f"  {100 * theirs:.1f} %, {less:.3f}   {100 * ours:.1f} %, {more:.3f}"
        )


if __name__ == "__main__":
    main()
