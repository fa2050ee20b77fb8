"""A policy as the commands show it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from math import inf, isinf
from shlex import join
from typing import Any

from cutscore.cli import shared
from cutscore.decision.choice import OperatingPoint, Status
from cutscore.decision.groups import GroupStatus
from cutscore.decision.row_costs import RowCostPoint
from cutscore.inference.selection import Expected
from cutscore.policy import Labels, Policy, Provenance
from cutscore.policy.artefact import calibrated
from cutscore.report.json import plain_cuts


def labels_of(arguments: Namespace, what: shared.Named) -> Labels:
    """What the classes are called, as far as it was said."""
    positive = arguments.positive
    if positive is not None:
        from cutscore.tables.scans.scan import as_label

        column = what.source.types([what.label]).field(what.label)
        positive = as_label(positive, column.type, what.label)
    return Labels(positive, column=what.label or None)


def flags(p: Policy) -> str:
    """What is flagged: "nothing", "everything", or scores "from" or "up to" the threshold."""
    turned = 0.0 - p.threshold if p.reverse else p.threshold
    side = "up to" if p.reverse else "from"
    return {inf: "nothing", -inf: "everything"}.get(turned, side)


def probability(p: Policy) -> float | None:
    """Of a case at the threshold, at the policy's prior."""
    on_score = p.calibrator is not None and p.row_costs is None
    return None if isinf(p.threshold) or not on_score else float(p.probability(p.threshold))


def plain(p: Policy) -> dict[str, Any]:
    """For JSON: all but the evidence."""
    number = shared.finite
    status: tuple[Status | GroupStatus, ...] = ()
    if p.groups is not None:
        status = p.group_point.status
    if p.cuts.groups:
        rule: dict[str, Any] = {"threshold": None, "flags": None}
    else:
        status = status or p.point.status
        rule = {
            "threshold": number(p.threshold),
            "flags": flags(p),
            **plain_cuts(p.point, p.reverse),
            "probability": probability(p),
        }
    return {
        **rule,
        **plain_groups(p),
        "given": p.given,
        "feasible": p.feasible,
        "aim": p.aim.to_dict(),
        "limits": [
            {"limit": s.limit, "value": number(s.value), "holds": bool(s.holds)} for s in status
        ],
        "promises": _promises(p.promises),
    }


def plain_groups(p: Policy) -> dict[str, Any]:
    """The groups of a policy, for JSON; nothing if it has none."""
    g = p.groups
    if g is None:
        return {}
    groups = [
        {
            "group": name,
            "threshold": shared.finite((p.cuts.groups.get(name) or p.cuts.thresholds)[0]),
            "confusion": asdict(p.group_point.confusions[name]),
            "promises": _promises(g.promises.get(name, {})),
        }
        for name in g.names
    ]
    return {
        "column": g.column,
        "each": list(g.each),
        "gaps": list(g.gaps),
        "pooled": list(g.pooled),
        "groups": groups,
    }


def _promises(promises: Mapping[str, Expected]) -> dict[str, Any]:
    return {name: shared.estimate(e.value, e) for name, e in promises.items()}


def made_by(arguments: Namespace, provenance: Provenance) -> Provenance:
    """The same, with the command and the time."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(provenance, command=join(["cutscore", *arguments.words]), time=now)


def policy_of(arguments: Namespace, what: shared.Named, point: OperatingPoint) -> Policy:
    """A choice for a single score as an artefact, with the sweep it was chosen on."""
    (name,) = what.scores
    return Policy.from_point(
        point,
        None if isinstance(point, RowCostPoint) else calibrated(point.sweep),
        score=name,
        reverse=name in arguments.reverse,
        evidence=getattr(arguments, "evidence", "auto"),
        labels=labels_of(arguments, what),
        provenance=made_by(arguments, Provenance()),
    )
