"""cutscore revise."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator
from math import inf, isinf
from textwrap import wrap
from typing import Any, NamedTuple

from cutscore.calibration.odds import sigmoid
from cutscore.cli import UsageError, shared
from cutscore.core.checks import check_threshold
from cutscore.core.errors import DataError
from cutscore.core.findings.base import spelled
from cutscore.core.findings.command import NothingWritten, Usage
from cutscore.core.numbers import number_text, per_cent
from cutscore.detector import Detector
from cutscore.measures.confusion import Confusion
from cutscore.measures.prior import log_odds


def run(arguments: Namespace) -> tuple[str, int]:
    """A model for other costs, another prior or another threshold."""
    costs = shared.costs(arguments)
    _check(arguments)
    before = Detector.load(arguments.model)
    after = before.revised(
        costs=costs,
        prior=arguments.prior,
        threshold=arguments.threshold,
        drop_limits=arguments.drop_limits,
    )
    if arguments.output == "-":
        return after.to_json(), 0
    revision = Revision(before, after, arguments.output)
    if arguments.json:
        text = shared.as_json(revision.as_dict(arguments.model))
    else:
        text = revision.text(shared.width())
    if not arguments.output:
        shared.remark(arguments, NothingWritten("new.json"))
        return text, 0
    shared.write_files({arguments.output: after.to_json() + "\n"})
    if not arguments.json:
        text += f"\n\nWrote {spelled(arguments.output)}"
        text += shared.next_step("apply", arguments.output, "new.csv", "-o", "decided.csv")
    return text, 0


def _check(arguments: Namespace) -> None:
    shared.check_options(arguments)
    given = (arguments.costs, arguments.prior, arguments.threshold)
    if all(value is None for value in given) and not arguments.drop_limits:
        ways = "Give --cost fp=1,fn=50, --prior 0.02, both, or --threshold."
        raise UsageError(Usage("there is nothing to revise", ways))
    if arguments.threshold is not None:
        try:
            check_threshold(arguments.threshold)
        except DataError as error:
            raise UsageError(error.finding) from None
    if arguments.output == "-" and arguments.json:
        raise UsageError(Usage("-o - and --json both write to standard output"))
    shared.check_outputs(arguments)


class Span(NamedTuple):
    """Bounds of a rate."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return per_cent(self.low)
        if self == (0, 1):
            return "unknown"
        return f"≥ {per_cent(self.low)}" if self.high == 1 else f"≤ {per_cent(self.high)}"


class Revision(NamedTuple):
    """Two detectors that differ in their threshold, costs and prior."""

    before: Detector
    after: Detector
    output: str | None

    def rates(self) -> dict[str, tuple[float | None, Span | None]]:
        """What is known of each threshold, on cross-fitted scores of the training rows. A model has
        no scores, but a lower threshold never flags less."""
        recall, fpr = self.before.training.rates or (None, None)
        old, new = self.before.threshold, self.after.threshold
        recalls, alarms = (_span(value, old, new) for value in (recall, fpr))
        share = shares = None
        if recall is not None and fpr is not None:
            share = _flagged(recall, fpr, self.before.prior)
        if recalls is not None and alarms is not None:
            ends = zip(recalls, alarms, strict=True)
            shares = Span(*(_flagged(r, f, self.after.prior) for r, f in ends))
        return {
            "recall": (recall, recalls),
            "false alarm rate": (fpr, alarms),
            "share flagged": (share, shares),
        }

    @property
    def kept(self) -> float | None:
        """What 1,000 cases would cost by now if the threshold stayed."""
        rates, costs, prior = self.before.training.rates, self.after.aim.costs, self.after.prior
        if rates is None or costs is None:
            return None
        tp, fp = prior * rates[0], (1 - prior) * rates[1]
        return 1000 * float(costs(Confusion(tp, fp, prior - tp, 1 - prior - fp)))

    def text(self, width: int) -> str:
        """Old and new side by side, then what they mean."""
        both = (self.before, self.after)
        rows = [
            ("", "was", "is" if self.output else "would be"),
            ("costs", *(repr(d.aim.costs)[6:-1] if d.aim.costs else "-" for d in both)),
            ("prior", *(per_cent(d.prior) for d in both)),
            ("chosen for", *map(_aim, both)),
            ("threshold", *map(_threshold, both)),
            ("probability at threshold", *map(_percent, both)),
        ]
        rates = self.rates()
        if any(pair != (None, None) for pair in rates.values()):
            for name, (then, now) in rates.items():
                known = "-" if then is None else per_cent(then)
                rows.append((name, known, "-" if now is None else str(now)))
        sizes = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [f"  {a:<{sizes[0]}}  {b:<{sizes[1]}}  {c}".rstrip() for a, b, c in rows]
        for sentence in self._sentences(rates["share flagged"][1]):
            # Options are not torn at their dashes.
            lines += wrap(sentence, width, break_on_hyphens=False, break_long_words=False)
        lines.insert(len(rows), "")
        return "\n".join(lines)

    def _sentences(self, flagged: Span | None) -> Iterator[str]:
        old, new = self.before.threshold, self.after.threshold
        if old == new:
            yield "The threshold is unchanged, and so is every decision."
        elif isinf(new):
            yield f"The new threshold flags {'every' if new < 0 else 'no'} case."
        else:
            what = "lower: it flags more" if new < old else "higher: it flags fewer"
            yield f"The new threshold is {what} cases."
        kept = self.kept
        if kept is not None and old != new:
            yield f"With the old threshold, 1,000 cases would now cost {number_text(kept)}."
        limits = self.before.aim.limit_texts
        if limits:
            yield f"The model no longer respects {' and '.join(limits)}."
        if flagged is None:
            yield (
                "The model does not say what the new threshold does: its threshold was moved "
                f"before, or given. {self._way()}"
            )
        elif not isinf(new):
            yield "Rates are those expected on new rows." + (
                ""
                if flagged.low == flagged.high
                else " The model stores no scores, so only bounds are known for the new "
                f"threshold. {self._way()}"
            )
        both = (self.before, self.after)
        same = len({(d.aim.costs, d.prior, d.given) for d in both}) == 1
        if same and old != new and self.after.aim.costs and not self.after.given:
            yield (
                "Costs and prior are unchanged: the old threshold was the best one on the "
                "training rows, the new one follows from the calibration."
            )

    def _way(self) -> str:
        """How to know more."""
        d = self.after
        label = "NAME" if d.target is None else shlex.quote(d.target)
        if d.positive is not None:
            label += f" --positive {shlex.quote(str(d.positive))}"
        model = shlex.quote(self.output or "new.json")
        return (
            f"To measure it on labelled rows: cutscore apply {model} rows.csv -o decided.csv, then "
            f"cutscore choose decided.csv --label {label} --score decision --maximize youden."
        )

    def as_dict(self, model: str) -> dict[str, Any]:
        """For machines."""
        return {
            "schema": "cutscore.revision/1",
            "model": model,
            "written": self.output or None,
            "before": _plain(self.before),
            "after": _plain(self.after),
            "rates": {
                name.replace(" ", "_"): {
                    "before": then,
                    "after": None if now is None else now._asdict(),
                }
                for name, (then, now) in self.rates().items()
            },
            "cost_per_1000_if_kept": shared.finite(self.kept),
            "text": self.text(80),
        }


def _span(then: float | None, old: float, new: float) -> Span | None:
    if isinf(new):
        end = 0.0 if new > 0 else 1.0
        return Span(end, end)
    if then is None:
        return None
    return Span(0.0 if new > old else then, 1.0 if new < old else then)


def _flagged(recall: float, fpr: float, prior: float) -> float:
    # Written so that everything is exactly 1.
    return fpr + prior * (recall - fpr)


def _aim(d: Detector) -> str:
    return "as given" if d.given else d.aim.words


def _flags(d: Detector) -> str:
    return {inf: "nothing", -inf: "everything"}.get(d.threshold, "from")


def _threshold(d: Detector) -> str:
    # In full: a rounded threshold may be another rule.
    return f"flag {_flags(d)}" if isinf(d.threshold) else repr(d.threshold)


def _probability(d: Detector) -> float | None:
    """Of a case at the threshold, where the share of its prior is positive."""
    if isinf(d.threshold):
        return None
    return float(sigmoid(d.calibrator.llr(d.threshold) + log_odds(d.prior)))


def _percent(d: Detector) -> str:
    p = _probability(d)
    return "-" if p is None else per_cent(p)


def _plain(d: Detector) -> dict[str, Any]:
    return {
        "threshold": shared.finite(d.threshold),
        "flags": _flags(d),
        "probability": _probability(d),
        "given": d.given,
        "aim": d.aim.to_dict(),
    }
