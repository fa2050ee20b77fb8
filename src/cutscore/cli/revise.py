"""cutscore revise."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from math import isinf, isnan
from textwrap import wrap
from typing import Any

from cutscore.cli import INFEASIBLE, policies, shared
from cutscore.cli.groups import verdict_of
from cutscore.core.checks import check_threshold
from cutscore.core.errors import DataError, UsageError
from cutscore.core.findings import COMMAND
from cutscore.core.findings.base import shown, spelled
from cutscore.core.findings.command import NothingWritten, Usage
from cutscore.core.frozen import derived
from cutscore.core.numbers import number_text, per_cent
from cutscore.decision.choice import Status
from cutscore.decision.verdict import Verdict, judge
from cutscore.decision.words import limit_outcome
from cutscore.detector import Detector
from cutscore.policy import Policy
from cutscore.policy.promises import RATES, THREE_WAY_RATES
from cutscore.policy.words import promise_name, promise_text


def run(arguments: Namespace) -> tuple[str, int]:
    """A model or a policy for another aim."""
    costs = shared.costs(arguments, by_row=True)
    _check(arguments)
    before = Detector.load(arguments.model)
    limits = "each" if before.policy.groups is not None else "subject_to"
    after = before.revised(
        costs=costs,
        maximize=arguments.maximize,
        **{limits: arguments.subject_to or None},
        gap=arguments.gap or None,
        prior=arguments.prior,
        confidence=arguments.confidence,
        threshold=arguments.threshold,
        drop_limits=arguments.drop_limits,
    )
    code = 0 if after.policy.feasible else INFEASIBLE
    if arguments.output == "-":
        return after.to_json(), code
    revision = Revision(before.policy, after.policy, arguments.output)
    if arguments.json:
        text = shared.as_json(revision.as_dict(arguments.model))
    else:
        text = revision.text(shared.width())
    if not arguments.output:
        shared.remark(arguments, NothingWritten("new.json"))
        return text, code
    model = after.to_json(os.path.dirname(arguments.output))
    shared.write_files({arguments.output: model + "\n"})
    if not arguments.json:
        text += f"\n\nWrote {spelled(arguments.output)}"
        text += shared.next_step("apply", arguments.output, "new.csv", "-o", "decided.csv")
    return text, code


_CHANGES = (
    *("costs", "maximize", "subject_to", "gap", "prior", "confidence"),
    *("threshold", "drop_limits"),
)


def _check(arguments: Namespace) -> None:
    shared.check_options(arguments, limits_known=True)
    changes = [getattr(arguments, name) for name in _CHANGES]
    if all(one is None or one is False or one == [] for one in changes):  # a threshold may be 0
        ways = (
            "Use --cost, --maximize, --subject-to, --confidence, --prior, --threshold or "
            "--drop-limits."
        )
        raise UsageError(Usage("nothing to revise", ways))
    given = arguments.threshold
    for threshold in given if isinstance(given, tuple) else (given,) if given is not None else ():
        try:
            check_threshold(threshold)
        except DataError as error:
            raise UsageError(error.finding) from None
    if arguments.output == "-" and arguments.json:
        raise UsageError(Usage("-o - and --json both write to standard output"))
    shared.check_outputs(arguments)


@dataclass(frozen=True, eq=False)
class Revision:
    """Two policies on the same evidence, for two aims."""

    before: Policy
    after: Policy
    output: str | None

    @derived
    def verdict(self) -> Verdict | None:
        """What speaks against the new threshold; None of one that was given."""
        p = self.after
        if p.given:
            return None
        if p.groups is not None:
            return verdict_of(p)
        return judge(p.point, scores=p.sweep, score=p.score, reverse=p.reverse)

    @property
    def costs(self) -> tuple[float, float] | None:
        """What 1,000 cases of the evidence cost by now, at the old threshold and at the new."""
        costs, prior = self.after.aim.costs, self.after.aim.prior
        if costs is None or (self.before.three_way and not self.after.three_way):
            return None  # nor is it known what reviews cost by now
        old, new = (
            c if prior is None else c.deployed(prior)
            for c in (self.before.confusion, self.after.confusion)
        )
        if costs.by_row:
            # Gaps are in the same order by either costs.
            money = self.after.row_point(self.after.threshold).money
            cuts = (self.before.point.cut, self.after.point.cut)
            then, now = (1000 * money.value(cut, prior) for cut in cuts)
            return then, now
        return 1000 * float(costs(old)), 1000 * float(costs(new))

    def text(self, width: int) -> str:
        """Old and new side by side, then what they mean."""
        both = (self.before, self.after)
        rows = [
            ("", "current", "new"),
            ("costs", *(repr(p.aim.costs)[6:-1] if p.aim.costs else "-" for p in both)),
            ("prior", *(per_cent(p.prior) for p in both)),
            ("objective", *map(_aim, both)),
            *self._thresholds(),
            *self._promised(),
        ]
        sizes = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [f"  {a:<{sizes[0]}}  {b:<{sizes[1]}}  {c}".rstrip() for a, b, c in rows]
        for sentence in self._sentences():
            # Options are not torn at their dashes.
            lines += wrap(sentence, width, break_on_hyphens=False, break_long_words=False)
        lines.insert(len(rows), "")
        return "\n".join(lines)

    def _thresholds(self) -> Iterator[tuple[str, str, str]]:
        before, after = self.before, self.after
        if not after.cuts.groups:
            yield "threshold", _threshold(before), _threshold(after)
            yield "probability at threshold", _percent(before), _percent(after)
        for name in after.cuts.groups:
            old, new = (repr(p.cuts.groups[name][0]) for p in (before, after))
            yield f"threshold in {shown(name)}", old, new

    def _promised(self) -> Iterator[tuple[str, str, str]]:
        old, new = self.before.promises, self.after.promises
        names = [name for name in dict.fromkeys((*new, *old)) if name != "auc"]
        if names:
            yield f"expected on new rows ({100 * self.after.aim.level:g} % CI)", "", ""
        for name in sorted(names, key=lambda name: name in (*RATES, *THREE_WAY_RATES)):
            yield (
                f"  {promise_name(name)}",
                promise_text(name, old.get(name), level=False),
                promise_text(name, new.get(name), level=False),
            )

    def _sentences(self) -> Iterator[str]:
        old, new = self.before.cuts, self.after.cuts
        before, after = self.before.confusion, self.after.confusion
        does = "blocks" if self.after.three_way else "flags"
        what = "threshold"
        if self.after.cuts.groups:
            what, does = "thresholds", "flag"
        if old == new:
            yield f"The {what} and all decisions are unchanged."
        else:
            yield (
                f"On the stored evidence, the new {what} {does} {after.flagged:,.6g} cases "
                f"(was {before.flagged:,.6g})."
            )
        if after.reviewed or before.reviewed:
            yield f"Cases to review: {after.reviewed:,.6g} (was {before.reviewed:,.6g})."
        costs = self.costs
        if costs is not None and old != new:
            at = "thresholds" if self.before.three_way or self.before.cuts.groups else "threshold"
            yield (
                f"Cost per 1,000 cases under the new settings: {number_text(costs[1])} "
                f"({number_text(costs[0])} at the old {at})."
            )
        if self.after.groups is not None:
            yield from (f"{text}." for text in self.after.group_point.limit_lines)
        limits = () if self.after.cuts.groups else self.after.aim.limits
        for limit, status in zip(limits, self._status(), strict=True):
            value = f" ({limit.value_text(status.value)} on the evidence)"
            if limit.period is not None and isnan(status.value):
                value = ""  # a file has no periods
            yield f"{status.limit}: {limit_outcome(self.after.point, status)}{value}."
        dropped = set(self.before.aim.limit_texts) - set(self.after.aim.limit_texts)
        if dropped:
            yield f"Limit dropped: {' and '.join(sorted(dropped))}."
        if not set(self.after.promises) - {"auc"}:
            what = "cluster ids" if self.after.evidence.units is not None else "periods of rows"
            yield f"No expected values: the evidence is clustered, and the file has no {what}."
        for finding in self.verdict.findings if self.verdict else ():
            yield finding.render(COMMAND)

    def _status(self) -> tuple[Status, ...]:
        return () if self.after.cuts.groups else self.after.point.status

    def as_dict(self, model: str) -> dict[str, Any]:
        """For machines."""
        verdict, costs = self.verdict, self.costs
        return {
            "schema": "cutscore.revision/2",
            "model": model,
            "written": self.output or None,
            "before": policies.plain(self.before),
            "after": policies.plain(self.after),
            "verdict": None if verdict is None else shared.plain_verdict(verdict),
            "cost_per_1000_if_kept": None if costs is None else shared.finite(costs[0]),
            "text": self.text(80),
        }


def _aim(p: Policy) -> str:
    return p.objective_words


def _threshold(p: Policy) -> str:
    # In full: a rounded threshold may be another rule.
    if p.three_way:
        return f"review {p.cuts.review!r}, block {p.cuts.block!r}"
    return f"flag {policies.flags(p)}" if isinf(p.threshold) else repr(p.threshold)


def _percent(p: Policy) -> str:
    at = policies.probability(p)
    return "-" if at is None else per_cent(at)
