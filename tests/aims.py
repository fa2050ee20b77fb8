"""Aims drawn at random, for whoever compares two routes to one choice."""

from __future__ import annotations

from typing import Any

import numpy as np

import cutscore as cs

# What a compact sweep can answer: the best cut is a corner of the ROC curve.
AT_CORNERS = ("accuracy", "error_rate", "balanced_rate", "youden", "f1")
AT_CORNERS += ("recall", "fpr", "fnr", "specificity", "tp", "fp", "fn", "tn")
HELPFUL = (("fpr", "<="), ("recall", ">="), ("fnr", "<"), ("specificity", ">"), ("precision", ">="))
OTHERS = ("mcc", "precision", "npv", "lift", "flagged_rate", "lr_positive", "lr_negative")
MORE = (("flagged_rate", "<="), ("flagged_rate", ">"), ("npv", ">="), ("recall", "<="))


def random_aim(
    rng: np.random.Generator, *, corners: bool, vertices: bool = False
) -> dict[str, Any]:
    """Arguments of :meth:`cutscore.Aim.asked` and of :meth:`cutscore.Policy.revised`.

    ``corners`` draws only what evidence of corners can answer; ``vertices`` only what has its best
    cut at a vertex of the convex hull.
    """
    out: dict[str, Any] = {}
    kind = rng.integers(4)
    if kind == 0:
        fp, fn = (round(float(10 ** rng.uniform(-2, 3)), int(rng.integers(1, 5))) for _ in "ab")
        gains = {"tp": round(float(rng.uniform(0, 5)), 1)} if rng.random() < 0.3 else {}
        out["costs"] = cs.Costs(fp=fp + 0.01, fn=fn + 0.01, **gains)
    elif kind == 1:
        out["maximize"] = cs.f(round(float(rng.uniform(0.1, 4)), 2))
    else:
        names = AT_CORNERS[:5] if vertices else AT_CORNERS if corners else AT_CORNERS + OTHERS
        out["maximize"] = str(rng.choice(names))
        if not corners and rng.random() < 0.15:
            share = round(float(rng.uniform(0.1, 60)), 1)
            out["maximize"] = f"{rng.choice(['precision', 'recall'])}@{share} %"
    if rng.random() < 0.4:
        out["prior"] = round(float(rng.uniform(0.001, 0.9)), 4)
    if vertices:
        return out
    limits = HELPFUL if corners else HELPFUL + MORE
    for k in rng.permutation(len(limits))[: rng.integers(3)]:
        name, sign = limits[k]
        bound = min(max(round(float(rng.random()), int(rng.integers(1, 5))), 0.01), 0.99)
        out.setdefault("subject_to", []).append(f"{name} {sign} {bound}")
    sure = all(one.split()[0] in ("fpr", "recall", "fnr", "specificity") for one in _of(out))
    if _of(out) and sure and "@" not in str(out.get("maximize")) and rng.random() < 0.5:
        out["confidence"] = float(rng.choice([0.6, 0.9, 0.95]))
    return out


def _of(aim: dict[str, Any]) -> list[str]:
    limits: list[str] = aim.get("subject_to", [])
    return limits


def outcome(choose: Any) -> tuple[Any, ...]:
    """What a choice came to: threshold, counts, value and feasibility, or the code of its error."""
    try:
        point = choose()
    except cs.CutscoreError as error:
        return (error.finding.code,)
    point = getattr(point, "point", point)
    return repr(point.threshold), point.confusion, repr(point.value), point.feasible
