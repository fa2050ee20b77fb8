"""What the script of a page computes with, and every text that it keeps up to date.

The texts at the start are written by Python; the script writes the same ones, in the same formats.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

import numpy as np

from cutscore.decision.choice import headline, natural, worth
from cutscore.measures.confusion import counted
from cutscore.measures.costs import Costs
from cutscore.report.escaped import clean
from cutscore.report.summary import MEASURES, ScoreSummary, Summary, aim_words
from cutscore.report.terminal import general, measured


def page_data(summary: Summary) -> str:
    """What the script computes with, as JSON that is safe inside of a script element."""
    asked = summary.asked
    costs = _page_costs(summary)
    start = start_ratio(summary)
    ratios, at = ratio_steps(start)
    priors, here = prior_steps(summary)
    data = {
        "weighted": summary.weighted,
        "digits": len(counted(1 / 3).partition(".")[2]),  # of a sum of weights
        "P": _number(summary.P),
        "N": _number(summary.N),
        "prior": asked.prior,
        "costs": {"fp": costs.fp, "fn": costs.fn, "tp": costs.tp, "tn": costs.tn},
        # Whether the start is the best for these costs, and stays so as the prior moves.
        "follows": costs is asked.costs and not asked.limits,
        "limited": bool(asked.limits),
        # Costs that nobody gave are not spoken of until somebody sets them.
        "given": costs is asked.costs,
        # As whole numbers: the start may be a third, which no decimal is.
        "ratio": [str(start.numerator), str(start.denominator)],
        "ratios": ratios,
        "ratioAt": at,
        "benefit": benefit_ends(summary),
        "priors": priors,
        "priorAt": here,
        "why": why(summary),
        "scores": [_score_data(summary, one) for one in summary.scores],
    }
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _number(x: float) -> Any:
    return x if isinstance(x, int) else float(x)


def given_costs(summary: Summary) -> Costs | None:
    """The costs that were given, if they have a ratio."""
    costs = summary.asked.costs
    return costs if costs is not None and costs.on_negatives and costs.on_positives else None


def cost_word(summary: Summary) -> str:
    """What the cost is called; nobody knows the unit of costs that were not given."""
    return "cost of 1,000 cases" + ("" if given_costs(summary) else ", in false alarms")


def about_costs(summary: Summary) -> str:
    """What to say where costs can be set: they stand there even if nobody gave any."""
    if given_costs(summary) is not None:
        return ""
    return "No costs were given. At first a miss costs so much that both classes weigh the same."


def _page_costs(summary: Summary) -> Costs:
    """The costs that were given; else in false alarms."""
    given = given_costs(summary)
    if given is not None:
        return given
    return Costs(fp=1, fn=float(start_ratio(summary)))


def start_ratio(summary: Summary) -> Fraction:
    """What a miss costs, in false alarms: as asked, or so that both classes count the same."""
    costs = given_costs(summary)
    if costs is not None:
        return costs.on_positives / costs.on_negatives
    p = summary.prevalence if summary.asked.prior is None else summary.asked.prior
    return Fraction(f"{(1 - p) / p:.3g}")


def benefit_ends(summary: Summary) -> tuple[float, float]:
    """The ends of the axis of net benefit, as powers of ten: wide enough for the ratio that was
    asked for, if one can still see anything then."""
    decade = log10(float(start_ratio(summary)))
    low, high = max(min(-1, floor(decade)), -5), min(max(3, ceil(decade)), 7)
    return 10.0**low, 10.0**high


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
    return {
        "name": clean(one.name),
        "t": [x if np.isfinite(x) else ("inf" if x > 0 else "-inf") for x in t.threshold.tolist()],
        "tp": masses["tp"].tolist(),
        "fp": masses["fp"].tolist(),
        "hull": np.diff(t.vertex, prepend=0).tolist(),
        "axis": [t.axis.kind, t.axis.low, t.axis.high],
        "reverse": one.reverse,
        "asked": int(np.searchsorted(t.cut, one.point.cut)),
        "askedT": one.point.threshold if np.isfinite(one.point.threshold) else None,
        "chance": one.probabilities,
        "shares": on_score_axis(one),
        "expected": expected_of(summary, one),
    }


def expected_of(summary: Summary, one: ScoreSummary) -> dict[str, str]:
    """What to expect on new rows, in words: of the point that was asked for, and of no other."""
    p = one.point
    out = {"expected": f"{measured(p.objective)}: {worth(p, summary.asked.level)}"}
    for name in MEASURES:
        out[f"{name}-expected"] = "" if p.typical is None else general(one.measures[name])
    cost = one.measures.get("cost")
    out["cost-expected"] = "" if cost is None or p.typical is None else general(cost.times(1000))
    return out


def on_score_axis(one: ScoreSummary) -> bool:
    return one.calibrator is None


def live(key: str, text: str, tag: str = "span", more: str = "") -> str:
    """Text that the script keeps up to date."""
    return f'<{tag} data-live="{key}"{more}>{text}</{tag}>'


def why(summary: Summary) -> str:
    words = f"Chosen for {aim_words(summary.asked)}."
    if summary.asked.assumed:
        words += " No costs were given; say yours with the sliders."
    return words


def state_of(summary: Summary, one: ScoreSummary) -> dict[str, str]:
    """Every live text at the start, as the script would write it."""
    p = one.point
    c, d = p.confusion, p.deployed
    out = {
        "headline": headline(p, one.reverse),
        "natural": natural(c, p.question.prior),
        "why": why(summary),
        "threshold": threshold_text(one),
        "sense": "Flag up to this score" if one.reverse else "Flag from this score on",
    }
    for cell in ("tp", "fp", "fn", "tn"):
        out[cell] = counted(getattr(c, cell))
    for cell, rate in (("tp", "recall"), ("fn", "fnr"), ("fp", "fpr"), ("tn", "specificity")):
        out[f"{cell}-share"] = per_cent(float(getattr(c, rate)))
    out["right-share"] = per_cent(float(d.precision))
    for name in MEASURES:
        out[name] = _shown(float(getattr(d, name)))
    out |= expected_of(summary, one)
    out["cost"] = _shown(1000 * float(_page_costs(summary)(d)))
    return out


def per_cent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.3g} %"


def _shown(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.4g}"


def share_text(share: float) -> str:
    """Per cent, for a box with room for few digits; never 100 where some are negative."""
    text = f"{100 * share:.4g}"
    return f"{100 * share:.6g}" if text == "100" else text


def threshold_text(one: ScoreSummary) -> str:
    t = float(one.point.threshold)
    return repr(0.0 - t if one.reverse else t).replace("inf", "∞")
