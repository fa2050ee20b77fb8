"""What the script of a page computes with, and every text that it keeps up to date.

The texts at the start are written by Python; the script writes the same ones, in the same formats.
"""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from cutscore.core.numbers import baselines_text, number_text, per_cent
from cutscore.core.types import Array
from cutscore.decision.verdict import State
from cutscore.decision.words import expectation, headline, on_rows, value_text
from cutscore.measures.confusion import count_text
from cutscore.measures.costs import Costs
from cutscore.measures.registry import is_rate, measure_text
from cutscore.report.summary import ScoreSummary, Summary, aim_words, measures_of
from cutscore.report.traces import ENDS


def script_data(summary: Summary) -> dict[str, Any]:
    """What the script computes with, as plain values for JSON."""
    asked = summary.asked
    costs = _page_costs(summary)
    start = start_ratio(summary)
    ratios, at = ratio_steps(start)
    priors, here = prior_steps(summary)
    g = summary.group_results
    limited = bool(asked.limits) or (g is not None and bool(g.limits))
    return {
        "weighted": summary.weighted,
        "digits": len(count_text(1 / 3).partition(".")[2]),  # of a sum of weights
        "P": _plain(summary.P),
        "N": _plain(summary.N),
        "prior": asked.prior,
        "costs": asdict(costs),
        "threeWay": asked.three_way,
        # Whether the start is the best for these costs, and stays so as the prior moves.
        "follows": costs is asked.costs and not limited,
        "limited": limited,
        # Costs that nobody gave are not spoken of until somebody sets them.
        "given": costs is asked.costs,
        # As whole numbers: the start may be a third, which no decimal is.
        "ratio": [str(start.numerator), str(start.denominator)],
        "ratios": ratios,
        "ratioAt": at,
        "ends": ENDS,
        "rates": [name for name in measures_of(asked) if is_rate(name)],
        "priors": priors,
        "priorAt": here,
        "why": why(summary),
        "scores": [_score_data(summary, one) for one in summary.scores],
    }


def _plain(x: float) -> Any:
    """A number for JSON, which has no infinity."""
    if isinstance(x, int):
        return x
    return float(x) if np.isfinite(x) else "inf" if x > 0 else "-inf"


def given_costs(summary: Summary) -> Costs | None:
    """The costs that were given, if they have a ratio: that of all rows."""
    costs = summary.asked.costs
    if costs is None or costs.by_row:
        return None
    return costs if costs.on_negatives and costs.on_positives else None


def _page_costs(summary: Summary) -> Costs:
    """The costs that were given; else in false alarms."""
    return given_costs(summary) or Costs(fp=1, fn=float(start_ratio(summary)))


def start_ratio(summary: Summary) -> Fraction:
    """What a miss costs, in false alarms: as asked, or so that both classes count the same."""
    costs = given_costs(summary)
    if costs is not None:
        return costs.on_positives / costs.on_negatives
    p = summary.prior
    return Fraction(f"{min((1 - p) / p, 1e300):.3g}")


def start_probability(summary: Summary) -> float:
    """The threshold probability of that ratio."""
    return float(1 / (1 + start_ratio(summary)))


_MANTISSAS = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")


def ratio_steps(start: Fraction) -> tuple[list[str], int]:
    """The stops of the slider, evenly spaced as ratios, and where it starts."""
    stops = {
        Fraction(f"{m}e{e}"): f"{float(m) * 10**e:.6g}" for e in range(-3, 5) for m in _MANTISSAS
    }
    stops[Fraction(10**5)] = "100000"
    stops[start] = f"{float(start):.6g}"
    order = sorted(stops)
    return [stops[one] for one in order], order.index(start)


def prior_steps(summary: Summary) -> tuple[list[float | None], int]:
    """The stops of the share of positives; None is that of the rows."""
    asked, here = summary.asked.prior, summary.prevalence
    stops: dict[float, float | None] = {
        float(f"{m}e{e}"): float(f"{m}e{e}") for e in range(-5, -1) for m in _MANTISSAS
    }
    stops |= {k / 100: k / 100 for k in (*range(10, 96, 5), 98, 99)}
    stops[here] = None
    if asked is not None:
        stops[asked] = asked
    order = sorted(stops)
    return [stops[one] for one in order], order.index(here if asked is None else asked)


def _score_data(summary: Summary, one: ScoreSummary) -> dict[str, Any]:
    t = one.trace
    masses = {"tp": t.tp, "fp": t.fp}
    if not summary.weighted:  # differences are shorter
        masses = {name: np.diff(mass, prepend=0) for name, mass in masses.items()}
    p = one.point
    asked, review = (int(np.searchsorted(t.cut, k)) for k in (p.cut, p.cut_indices[-1]))
    return {
        "name": one.name,
        "t": [_plain(x) for x in t.threshold.tolist()],
        "tp": masses["tp"].tolist(),
        "fp": masses["fp"].tolist(),
        "hull": np.diff(t.vertex, prepend=0).tolist(),
        "axis": [t.axis.kind, t.axis.low, t.axis.high],
        "edges": _short(t.axis.score(t.edges)),
        "bins": [_short(t.pos * summary.P), _short(t.neg * summary.N)],
        "shares": [_short(one.shares.high), _short(one.shares.low), _short(one.shares.share)],
        "reverse": one.reverse,
        "asked": asked,
        "askedT": p.threshold if np.isfinite(p.threshold) else None,
        "askedReview": review,
        "askedReviewT": p.cuts.review if np.isfinite(p.cuts.review) else None,
        "chance": one.probabilities and one.calibrator is None,
        # The calibrated probability at the cuts follows the prior; at the start it is known.
        "llr": None if one.llr is None else [_plain(x) for x in one.llr.tolist()],
        "askedP": one.probability,
        "verdict": one.verdict.headline if one.verdict.state is State.UNUSABLE else "",
        "expected": expected_texts(summary, one),
    }


def _short(values: Array) -> list[Any]:
    return [_plain(float(f"{x:.6g}")) for x in values.tolist()]


def expected_texts(summary: Summary, one: ScoreSummary) -> dict[str, str]:
    """What to expect on new rows, in words: of the point that was asked for, and of no other."""
    p = one.point
    out = {"expected": _worth(summary, one)}
    for name in measures_of(p.question):
        known = "" if p.typical is None else one.measures[name].text(rate=is_rate(name))
        out[f"{name}-expected"] = known
    cost = None if p.typical is None else one.measures.get("cost")
    return out | {"cost-expected": "" if cost is None else cost.times(1000).text()}


def _worth(summary: Summary, one: ScoreSummary) -> str:
    """The value of what was aimed at, as it is expected on new rows."""
    p, level = one.point, summary.asked.level
    text = _capitalised(value_text(p, level, cases=1000))
    simpler = p.simpler_costs
    if simpler is None:
        return text
    found = expectation(p, p.question.goal, level)
    cost = p.value if found is None else found.value
    others = {name: 1000 * one for name, one in simpler.items()}
    return f"{text}; {baselines_text(others, 1000 * cost)}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def why(summary: Summary) -> str:
    """What the threshold was chosen for."""
    words = f"Objective: {aim_words(summary.scores[0].point)}."
    if summary.asked.assumed:
        words += " No costs were given; use the sliders to set yours."
    return words


def start_texts(summary: Summary, one: ScoreSummary) -> dict[str, str]:
    """Every live text at the start, as the script would write it."""
    p = one.point
    c, d = p.confusion, p.deployed
    rule = headline(p, one.reverse, one.probability, one.name)
    if summary.group_results is not None:
        rule = summary.group_results.rule
    stops = one.verdict.state is State.UNUSABLE
    side = "≤" if one.reverse else "≥"
    ratios, at = ratio_steps(start_ratio(summary))
    costs = f"A missed positive costs as much as {ratios[at]} false alarms. "
    out = {
        "headline": one.verdict.headline if stops else rule,
        "rule": rule[0].lower() + rule[1:],
        "natural": _capitalised(on_rows(c, p.question.prior)),
        "why": why(summary),
        "threshold": threshold_text(one),
        "review-threshold": threshold_text(one, p.cuts.review),
        "sense": f"{'Block' if p.question.three_way else 'Flag'} scores {side}",
        "review-sense": f"Review scores {side}",
        "settings": (
            f"{costs if given_costs(summary) else ''}Prevalence {share_text(summary.prior)} %"
            f"{f', threshold {threshold_text(one)}' if summary.on_score else ''}."
        ),
    }
    masses = (
        {"tp": c.tp, "fn": c.fn, "rp": c.reviewed_positives},
        {
            "fp": c.fp,
            "tn": c.tn,
            "rn": c.reviewed - c.reviewed_positives,
        },
    )
    for cells, of in zip(masses, (c.positives, c.negatives), strict=True):
        for cell, mass in cells.items():
            out[cell] = count_text(mass)
            out[f"{cell}-share"] = per_cent(float(mass) / float(of))
    for name in measures_of(p.question):
        out[name] = measure_text(name, float(getattr(d, name)))
    by_row = summary.row_costs is not None
    cost = p.value if by_row else float(_page_costs(summary)(d))
    out["cost"] = number_text(1000 * cost)
    return out | expected_texts(summary, one)


def share_text(share: float) -> str:
    """Per cent, for a box with room for few digits; never 100 where some are negative."""
    text = f"{100 * share:.4g}"
    return f"{100 * share:.6g}" if text == "100" else text


def threshold_text(one: ScoreSummary, threshold: float | None = None) -> str:
    """The threshold in full, or another: a rounded one may be another rule."""
    t = float(one.point.threshold if threshold is None else threshold)
    return repr(0.0 - t if one.reverse else t).replace("inf", "∞")
