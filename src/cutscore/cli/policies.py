"""A policy as the commands show it."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, isinf
from shlex import join
from typing import Any

from cutscore.cli import shared
from cutscore.policy import Policy, Provenance
from cutscore.report.json import plain_cuts


def flags(p: Policy) -> str:
    """What is flagged: "nothing", "everything", or scores "from" or "up to" the threshold."""
    turned = 0.0 - p.threshold if p.reverse else p.threshold
    side = "up to" if p.reverse else "from"
    return {inf: "nothing", -inf: "everything"}.get(turned, side)


def probability(p: Policy) -> float | None:
    """Of a case at the threshold, at the policy's prior."""
    return None if isinf(p.threshold) or p.calibrator is None else float(p.probability(p.threshold))


def plain(p: Policy) -> dict[str, Any]:
    """For JSON: all but the evidence."""
    number = shared.finite
    return {
        "threshold": number(p.threshold),
        "flags": flags(p),
        **plain_cuts(p.point, p.reverse),
        "probability": probability(p),
        "given": p.given,
        "feasible": p.feasible,
        "aim": p.aim.to_dict(),
        "limits": [
            {"limit": s.limit, "value": number(s.value), "holds": bool(s.holds)}
            for s in p.point.status
        ],
        "promises": {name: shared.estimate(e.value, e) for name, e in p.promises.items()},
    }


def made_by(arguments: Namespace, provenance: Provenance) -> Provenance:
    """The same, with the command and the time."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(provenance, command=join(["cutscore", *arguments.words]), time=now)
