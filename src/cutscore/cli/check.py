"""cutscore check."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from textwrap import wrap
from typing import Any

import numpy as np

from cutscore.cli import INFEASIBLE, shared
from cutscore.core.errors import UsageError
from cutscore.core.findings import COMMAND, Conflict
from cutscore.core.labels import binarize
from cutscore.core.numbers import p_value_text
from cutscore.decision.normal import is_normal
from cutscore.detector import Detector
from cutscore.policy import Policy
from cutscore.policy.check import Outcome, PolicyCheck, limit_word
from cutscore.policy.words import promise_text


def run(arguments: Namespace) -> tuple[str, int]:
    """What was expected, beside what labelled rows show."""
    detector = Detector.load(arguments.model)
    table = shared.source(arguments)
    label = arguments.label or detector.policy.labels.column
    if label is None and (not is_normal(detector.policy.sweep) or shared.has_label(table)):
        label = shared.label_of(arguments, table)
    period = _period(arguments, detector.policy)
    known = detector.policy.groups
    group = None if known is None else known.column
    costs = detector.policy.aim.costs
    amounts = () if costs is None else costs.columns
    named = (label, arguments.weight, period, group, *amounts)
    names = list(dict.fromkeys(name for name in named if name is not None))
    numbers = [*([arguments.weight] if arguments.weight else []), *amounts]
    columns = table.columns(names, numbers=numbers) if names else {}
    scores = detector.scores(table)
    # Without a label all rows are normal, as those that the policy was chosen on.
    y = np.zeros(len(scores), np.bool_) if label is None else columns[label]
    if arguments.positive is not None and label is not None:
        y = binarize(y, arguments.positive, label).y
    weight = columns[arguments.weight] if arguments.weight else None
    found = detector.policy.check(
        *(y, scores, weight),
        period=None if period is None else columns[period],
        exposure=arguments.exposure,
        groups=None if group is None else columns[group],
        columns={name: columns[name] for name in amounts},
    )
    code = 0 if found.ok else INFEASIBLE
    if arguments.json:
        return shared.as_json(_plain(found, arguments)), code
    return _text(found, shared.width()), code


def _period(arguments: Namespace, policy: Policy) -> str | None:
    """The column of periods, if a limit needs one."""
    known = policy.evidence.periods
    period: str | None = arguments.period or (None if known is None else known.column)
    if arguments.exposure is not None and period is None:
        rule = "an exposure counts periods"
        raise UsageError(Conflict(("exposure", "period"), rule, shared.NEEDS))
    return period


def _plain(found: PolicyCheck, arguments: Namespace) -> dict[str, Any]:
    findings = [one.as_dict(COMMAND) for one in found.findings]
    return found.to_dict() | {"findings": findings, "model": arguments.model}


def _text(found: PolicyCheck, width: int) -> str:
    """The verdict, then limits, promises and the share of positives, then what else there is."""
    rows = [("", "expected", "observed", ""), *_rows(found)]
    sizes = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [
        f"  {a:<{sizes[0]}}  {b:<{sizes[1]}}  {c:<{sizes[2]}}  {d}".rstrip() for a, b, c, d in rows
    ]
    texts = (one.render(COMMAND) for one in found.findings)
    notes = [
        line
        for text in texts
        for line in wrap(f"{text[0].upper()}{text[1:]}", width, break_on_hyphens=False)
    ]
    seen = f"{found.rows:,.6g} rows; {100 * found.level:g} % confidence intervals"
    first = wrap(found.headline, width, break_on_hyphens=False)
    return "\n".join([*first, seen, "", *lines, *([""] if notes else []), *notes])


def _rows(found: PolicyCheck) -> Iterator[tuple[str, str, str, str]]:
    for one in found.limits:
        here = promise_text(one.measure, one.observed, level=False)
        yield one.words, "", here, limit_word(one)
    for each in found.outcomes:
        promised, here = (
            promise_text(each.name, e, level=False) for e in (each.promised, each.observed)
        )
        yield each.words, promised, here, _agreement(each)


def _agreement(one: Outcome) -> str:
    if one.agrees is None or one.p is None:
        return ""
    return "consistent" if one.agrees else f"differs, {p_value_text(one.p)}"
