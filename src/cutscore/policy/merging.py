"""One policy of the evidence of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cutscore.core.errors import DataError, UndefinedError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import shown
from cutscore.core.findings.statistics import CantMerge, CountsRows, Undefined
from cutscore.decision.choice import choose, point_at
from cutscore.policy.artefact import Policy, calibrated
from cutscore.policy.parts import Label, Labels, Provenance, with_way_out
from cutscore.sweeps.sweep import Sweep


def merged(a: Policy, b: Policy) -> Policy:
    """One policy of the evidence of two."""
    # What must be the same, and how it is shown.
    same: dict[str, Callable[[Policy], tuple[Any, str]]] = {
        "objective": lambda p: (p.aim, p.aim.full_words),
        "positive label": lambda p: (p.labels.positive, _label(p.labels.positive)),
        "negative label": lambda p: (p.labels.negative, _label(p.labels.negative)),
        "direction": lambda p: (p.reverse, f"{'low' if p.reverse else 'high'} scores for positive"),
    }
    if (a.row_costs or b.row_costs) is not None:
        why = "needs the rows, since each policy has a calibrator of its own"
        hint = "Choose one policy on the rows of both."
        raise UndefinedError(Undefined("merging decisions by the costs of each row", why, hint))
    if (a.groups or b.groups) is not None:
        same["groups"] = lambda p: (_question_of(p), _question_words(p))
    if a.given or b.given:
        same["threshold"] = lambda p: (_of(p), str(_of(p)))
    for name, of in same.items():
        (one, first), (other, second) = of(a), of(b)
        if one != other:
            raise DataError(CantMerge("policies", name, (first, second)))
    if a.provenance.digest and a.provenance.digest == b.provenance.digest:
        rule = "have evidence from other rows: the same evidence would be counted twice"
        raise DataError(BadArgument("other", rule, subject="a policy to be merged"))
    try:
        s = a.sweep + b.sweep
    except UndefinedError as error:
        raise with_way_out(error) from error
    for given in ("units", "periods"):
        if any(getattr(p.evidence, given) is not None for p in (a, b)):
            hint = "Choose one policy on the rows of both."
            words = {"units": "clusters"}.get(given, given)
            raise UndefinedError(CountsRows("merging policies", hint, words))
    ways = (a.provenance.scores, b.provenance.scores)
    provenance = Provenance(scores="; ".join(dict.fromkeys(ways)))
    labels = replace(a.labels, others=tuple(dict.fromkeys(a.labels.others + b.labels.others)))
    if a.groups is not None and b.groups is not None:
        return _merged_groups(a, b, labels, provenance)
    point = point_at(s, a.aim, a.point.cuts) if a.given else choose(s, a.aim)
    return Policy.from_point(
        point,
        calibrated(s),
        score=a.score,
        reverse=a.reverse,
        given=a.given,
        labels=labels,
        provenance=provenance,
    )


def _merged_groups(a: Policy, b: Policy, labels: Labels, provenance: Provenance) -> Policy:
    """The groups of both, of which some are in one of them alone: chosen anew."""
    assert a.groups is not None
    assert b.groups is not None
    if a.given or b.given:
        rule = "be chosen, not set manually, where policies with groups are merged"
        raise DataError(BadArgument("threshold", rule, a.cuts.thresholds))
    sweeps: dict[str, Sweep] = dict(a.groups.sweeps.sweeps)  # type: ignore[arg-type]
    for name, s in b.groups.sweeps.items():
        sweeps[str(name)] = sweeps[str(name)] + s if name in sweeps else s
    return Policy.choose_groups(
        {name: s.negated() if a.reverse else s for name, s in sweeps.items()},
        a.aim,
        column=a.groups.column,
        each=a.groups.each,
        gap=a.groups.gaps,
        thresholds="group" if a.cuts.groups else "common",
        small=a.groups.small,
        score=a.score,
        reverse=a.reverse,
        labels=labels,
        provenance=provenance,
    )


def _question_of(p: Policy) -> tuple[Any, ...] | None:
    """What is asked of groups."""
    g = p.groups
    return None if g is None else (g.column, g.each, g.gaps, g.small, bool(p.cuts.groups))


def _question_words(p: Policy) -> str:
    g = p.groups
    if g is None:
        return "none"
    of = "a threshold for each" if p.cuts.groups else "one threshold for each"
    return ", ".join([f"{of} {shown(g.column)}", *g.limit_texts, f"small groups: {g.small}"])


def _label(label: Label | None) -> str:
    return "none" if label is None else shown(label)


def _of(p: Policy) -> tuple[float, ...] | str:
    return p.cuts.thresholds if p.given else "a chosen one"
