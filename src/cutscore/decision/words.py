"""An operating point in words: what to do, what it is worth, and what it does."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from math import ceil, log10
from typing import TYPE_CHECKING

import numpy as np

from cutscore.core.errors import CutscoreError
from cutscore.core.findings.base import counted
from cutscore.core.interval import Interval
from cutscore.core.numbers import estimate_text, format_like
from cutscore.decision.normal import (
    is_normal,
)
from cutscore.inference.guarantee import (
    shortage_text,
    split_error,
)
from cutscore.inference.periods import as_periods
from cutscore.inference.selection import Expected
from cutscore.inference.units import as_units
from cutscore.measures.aim import GoalLike
from cutscore.measures.confusion import Confusion
from cutscore.measures.limits import Limit
from cutscore.measures.registry import WORDS, Objective, is_rate
from cutscore.measures.triage import Triage

if TYPE_CHECKING:
    from cutscore.decision.choice import CutPair, OperatingPoint, Status


def rule_of(p: OperatingPoint, reverse: bool = False) -> tuple[str, float | None]:
    """What is flagged: ``"nothing"``, ``"everything"``, ``"from"`` a threshold on; ``"up to"`` it,
    where scores were negated since low ones mean positive. And that threshold."""
    if p.threshold == np.inf and not p.confusion.flagged:
        return "nothing", None
    if p.threshold == -np.inf:
        return "everything", None
    return ("up to", 0.0 - p.threshold) if reverse else ("from", p.threshold)


def headline(
    p: OperatingPoint, reverse: bool = False, probability: float | None = None, score: str = "score"
) -> str:
    """What to do, in a few words; with the calibrated probability at the threshold if it is known:
    "Flag scores ≥ -3.3 (probability ≥ 3.5 %)"."""
    if p.question.three_way:
        return three_way_text(p.cuts, reverse)
    own = p.rule_text(score, reverse=reverse)
    if own:
        return own[0].upper() + own[1:]
    rule, threshold = rule_of(p, reverse)
    if threshold is None:
        return f"Flag {rule}"
    chance = "" if probability is None else f" (probability ≥ {100 * probability:.3g} %)"
    # In full: a rounded threshold may be another rule.
    return f"Flag scores {'≤' if reverse else '≥'} {threshold!r}{chance}"


def three_way_text(cuts: CutPair, reverse: bool = False) -> str:
    """What to do with two thresholds: "Block scores ≥ 0.9, review scores ≥ 0.4, pass the rest"."""
    sign = "≤" if reverse else "≥"
    review, block = (0.0 - t if reverse else t for t in cuts)
    parts = []
    if cuts.block < np.inf:
        parts.append(
            "block everything" if cuts.block == -np.inf else f"block scores {sign} {block!r}"
        )
    if cuts.review < cuts.block:
        rest = "the rest" if parts else "everything"
        parts.append(f"review {rest if cuts.review == -np.inf else f'scores {sign} {review!r}'}")
    if cuts.review > -np.inf:
        parts.append("pass the rest" if parts else "pass everything")
    text = ", ".join(parts)
    return text[0].upper() + text[1:]


def describe(p: OperatingPoint, reverse: bool = False) -> list[str]:
    """An operating point in a few lines: what to do, what it is worth, and what it does; before
    that, if it is not significantly better than doing without the score."""
    best = "" if p.given else f"{extreme(p.question.goal)} "
    first = f"{headline(p, reverse)}, {best}{value_text(p)}"
    doubt = filter(None, [against_trivial(p)])
    return [*doubt, first[0].lower() + first[1:], *describe_outcome(p)]


def extreme(goal: Objective) -> str:
    """How an objective is optimised."""
    return "minimum" if goal.better < 0 else "maximum"


def value_text(p: OperatingPoint, level: float = 0.95, *, cases: int = 1) -> str:
    """The value of the objective, expected on new rows and on these; a cost is that of so many
    cases."""
    costs = p.question.costs is not None
    word, factor = WORDS.get(p.objective, p.objective), cases if costs else 1
    if costs and cases > 1:
        word = f"cost per {cases:,} cases"
    if np.isnan(p.value) and is_normal(p.sweep):
        return f"{word}: not known, no row is positive"
    if np.isnan(p.value):
        return f"{word}: undefined (0/0) {_undefined_because(p.confusion)}"
    rate, prior = is_rate(p.objective), p.question.prior
    here = f"{estimate_text(factor * p.value, rate=rate)} on these rows"
    if prior is not None and not getattr(p.question.goal, "prior_free", False):
        here += f", reweighted to {100 * prior:.6g} % prevalence"
    found = expectation(p, p.question.goal, level)
    if found is None:
        return f"{word}: {here}"
    span = None  # certain: everything is flagged, or nothing
    if found.low < found.high:
        span = Interval(factor * found.low, factor * found.high, found.level)
    expected = estimate_text(factor * found.value, span, rate=rate)
    return f"{word}: {expected} expected on new rows, {here}"


def expectation(
    p: OperatingPoint, measure: GoalLike | None = None, level: float = 0.95
) -> Expected | None:
    """The value expected on new rows, or another measure, for those who show it: None if these rows
    can't tell."""
    with suppress(CutscoreError):
        return p.expected if measure is None else p.expect(measure, level=level)
    return None


def describe_outcome(p: OperatingPoint) -> list[str]:
    """What an operating point does, in a few lines."""
    lines = [cases_text(p), *limit_lines(p)]
    return lines if p.feasible else [*lines, p.explanation]


def limit_lines(p: OperatingPoint) -> list[str]:
    """What became of the limits."""
    q, lines = p.question, []
    level = f" at {100 * q.confidence:g} % confidence" if q.confidence else ""
    units = ""
    if q.units is not None and q.confidence:
        units = f" for the mean over {len(q.units):,} clusters"
    for limit, status in zip(q.limits, p.status, strict=True):
        sure = level + (units if limit.period is None else "")
        rows = "rows"
        if limit.period is not None and q.periods is not None:
            rows = counted(len(q.periods), limit.period)
        here = f" ({limit.value_text(status.value)} on these {rows})"
        if np.isnan(status.value):
            # A file has no periods.
            known = limit.period is None
            here = f" (0/0 {_undefined_because(p.confusion)})" if known else ""
        lines.append(f"{status.limit}{sure}: {limit_outcome(p, status)}{here}")
        lines += filter(None, [shortage(p, limit)])
    return lines


def shortage(p: OperatingPoint, limit: Limit) -> str:
    """What to say where there are too few rows, clusters or periods to guarantee a limit."""
    q = p.question
    if not q.confidence or p.sweep.weighted:
        return ""
    error, periods = split_error(q.limits, q.confidence), as_periods(q.periods)
    if limit.period is not None and periods is not None:
        return periods.shortage_text(limit, error)
    return shortage_text(p.sweep, limit, error, as_units(q.units))


_ALIKE = {"all": "everything", "none": "nothing"}


def against_trivial(p: OperatingPoint) -> str | None:
    """What to say of a choice for costs that is not significantly cheaper than flagging everything
    or nothing; None if it is, or if these rows can't tell."""
    base = p.baseline
    if base is None or base.difference is None or base.shown:
        return None
    value, low, high, level = base.difference
    cost, *rest = format_like(base.value, value, low, high)
    what, of = base.name.split()
    trivial = f"{what}{what[-1] if what == 'flag' else ''}ing {_ALIKE[of]}"
    if value == 0 and p.trivial:
        return f"no cheaper than {trivial} (cost per case {cost})"
    return (
        f"not significantly cheaper than {trivial} (cost per case {cost}; expected difference "
        f"{rest[0]}, {100 * level:g} % CI {rest[1]} to {rest[2]})"
    )


def limit_outcome(p: OperatingPoint, status: Status) -> str:
    """What became of a limit. With a confidence it may hold on these rows without a guarantee."""
    if status.holds:
        return "met"
    return "cannot be guaranteed" if p.question.confidence else "violated"


def _undefined_because(c: Confusion) -> str:
    """Where a measure has no value."""
    if not (c.positives and c.negatives):
        return f"because no row is {'negative' if c.positives else 'positive'}"
    if not c.flagged:
        return "because nothing is flagged"
    return "because everything is flagged" if c.flagged == c.total else "on these rows"


def cases_text(p: OperatingPoint) -> str:
    """What it did with these rows; of more than 10,000, or at another prior, what to expect of so
    many cases."""
    prior = p.question.prior
    expected = None if in_rows(p.confusion, prior) else p.typical
    return (
        on_rows(p.confusion, prior) if expected is None else f"expected {natural(expected, prior)}"
    )


def on_rows(c: Confusion, prior: float | None) -> str:
    """What a threshold does on the rows, in natural frequencies."""
    return f"on these rows{':' if in_rows(c, prior) else ','} {natural(c, prior)}"


def natural(c: Confusion, prior: float | None) -> str:
    """In natural frequencies: per 10,000 cases, or so many more that ten are positive; the counts
    themselves where they are no more than that."""
    if in_rows(c, prior):
        return repr(c)
    d = c if prior is None else c.deployed(prior)
    base = 10_000
    if not d.positives:
        fp = _rounded(base * float(d.fp) / float(d.total))
        return f"per {base:,} cases, none positive: {_shown(fp)} false alarm{'s' * (fp != 1)}"
    if 0 < d.prevalence < 0.001:
        base = 10 ** min(ceil(1 - log10(d.prevalence)), 12)
    if isinstance(d, Triage):
        return f"per {base:,} cases: {_triage_text(d, base)}"
    # As fractions: weights that are large would overflow.
    total = Fraction(float(d.total))
    p, tp, fp = (
        _rounded(float(base * Fraction(float(m)) / total)) for m in (d.positives, d.tp, d.fp)
    )
    return (
        f"per {base:,} cases: {_shown(p)} positive; {_shown(tp)} caught, {_shown(p - tp)} missed, "
        f"{_shown(fp)} false {'alarm' if fp == 1 else 'alarms'}"
    )


def _triage_text(d: Triage, base: int) -> str:
    """Six counts of so many cases."""
    cells = (d.positives, d.tp, d.reviewed_pos, d.fn, d.fp, d.reviewed_neg, d.tn)
    p, *six = (_shown(_rounded(base * float(m) / float(d.total))) for m in cells)
    words = [
        f"{n} {word}" for n, word in zip(six, 2 * ("blocked", "reviewed", "passed"), strict=True)
    ]
    return f"{p} positive: {', '.join(words[:3])}; negatives: {', '.join(words[3:])}"


def in_rows(c: Confusion, prior: float | None) -> bool:
    """Whether natural frequencies are the counts of the rows."""
    return bool(prior is None and c.total <= 10_000)


def _rounded(x: float) -> float:
    return round(x, 0 if x >= 10 else 1) if x >= 0.1 else x


def _shown(x: float) -> str:
    return f"{x:,.0f}" if x == round(x) else f"{x:,.1f}" if x >= 0.1 else f"{x:.2g}"
