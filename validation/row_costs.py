"""Costs of each row: do intervals of costs and savings contain the truth where amounts have heavy
tails, are guaranteed limits kept, and do the promises of revised policies hold? Scores are normal,
amounts lognormal, and the truth an integral."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

import cutscore as cs
from cutscore import Policy
from cutscore.decision.row_costs import RowCostPoint

Array = NDArray[Any]

# Of limits that are guaranteed; and of intervals, for which choices are made again on folds.
DRAWS, COVERED = 2_000, 1_000
_NODES = np.linspace(-8, 8, 801)
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()


@dataclass(frozen=True)
class Payments:
    """Payments, of which so many are fraud; amounts are lognormal with this σ and a median of 50,
    and a false alarm costs 10."""

    positives: int
    prevalence: float
    sigma: float
    distance: float = 2.0
    alarm: float = 10.0
    median: float = 50.0

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Labels, scores and amounts."""
        n = round(self.positives / self.prevalence)
        y = rng.random(n) < self.prevalence
        amount = self.median * np.exp(self.sigma * rng.standard_normal(n))
        return y, rng.standard_normal(n) + self.distance * y, amount.round(2)

    @property
    def none(self) -> float:
        """The cost per case of flagging nothing."""
        return self.prevalence * self.median * exp(self.sigma**2 / 2)

    def cost(self, calibrator: cs.Calibrator, threshold: float) -> float:
        """The true cost per case of a decision."""
        out = 0.0
        for share, shift in ((self.prevalence, self.distance), (1 - self.prevalence, 0.0)):
            llr = np.asarray(calibrator.llr(_NODES + shift))
            # The amount from which a row of this score is flagged, in standard deviations.
            z = (np.log(self.alarm) + threshold - llr - np.log(self.median)) / self.sigma
            if shift:
                missed = self.none / self.prevalence * ndtr(z - self.sigma)
                out += share * float(_WEIGHTS @ missed)
            else:
                out += share * self.alarm * float(_WEIGHTS @ ndtr(-z))
        return out

    def fpr(self, p: RowCostPoint) -> float:
        """The true share of negatives that are flagged."""
        assert p.rows is not None
        llr = np.asarray(p.rows.calibrator.llr(_NODES))
        z = (np.log(self.alarm) + p.threshold - llr - np.log(self.median)) / self.sigma
        return float(_WEIGHTS @ ndtr(-z))

    def uniform(self, threshold: float) -> float:
        """The true cost per case of one threshold on the score."""
        alarms = (1 - self.prevalence) * self.alarm * ndtr(-threshold)
        return float(self.none * ndtr(threshold - self.distance) + alarms)


SETTINGS = (
    Payments(50, 0.02, 1.0),
    Payments(200, 0.02, 0.5),
    Payments(200, 0.02, 1.0),
    Payments(200, 0.02, 1.5),
    Payments(200, 0.20, 1.5),
    Payments(1_000, 0.02, 1.5),
)
# So few positives of so different amounts that a finding says so.
STRESS = (Payments(50, 0.02, 1.5), Payments(50, 0.02, 2.0), Payments(200, 0.02, 2.0))


def money_covered(task: tuple[Payments, int, int]) -> Array:
    """How often intervals of cost and saving contain the truth; the expected saving beside one
    threshold, and the true one; the cost that is expected, and that seen on the rows; how often
    amounts are said to be few; and the true costs of the decision and of one threshold."""
    setting, first, draws = task
    out = np.zeros(9)
    for seed in range(first, first + draws):
        y, score, amount = setting.draw(np.random.default_rng((seed, 51)))
        costs = cs.Costs(fp=setting.alarm, fn="amount")
        p = cs.choose_by_row(y, score, costs, {"amount": amount})
        true = setting.cost(p.rows.calibrator, p.threshold)
        uniform = setting.uniform(p.uniform.threshold)
        pairs = ((p.expected, true), (p.expect_saving(), setting.none - true))
        out[:2] += [e.low <= x <= e.high for e, x in pairs]
        out[2:4] += (p.uniform_saving, uniform - true)
        out[4:] += (p.expected.value, p.value, bool(p.findings), true, uniform)
    return out


def limit_kept(task: tuple[Payments, float, int, int]) -> Array:
    """How often a limit on the false positive rate is broken: guaranteed, and met on the rows."""
    setting, bound, first, draws = task
    out = np.zeros(2)
    for seed in range(first, first + draws):
        y, score, amount = setting.draw(np.random.default_rng((seed, 52)))
        costs, limit = cs.Costs(fp=setting.alarm, fn="amount"), f"fpr <= {bound}"
        for k, sure in enumerate((0.95, None)):
            p = cs.choose_by_row(
                y, score, costs, {"amount": amount}, subject_to=limit, confidence=sure
            )
            out[k] += setting.fpr(p) > bound
    return out


def revised_covered(task: tuple[Payments, float, int, int]) -> Array:
    """How often promises of a policy contain the truth, after false alarms have come to cost
    something else: of the cost, and of the saving."""
    setting, alarm, first, draws = task
    out, new = np.zeros(2), replace(setting, alarm=alarm)
    for seed in range(first, first + draws):
        y, score, amount = setting.draw(np.random.default_rng((seed, 53)))
        p = Policy.choose_by_row(
            y, score, cs.Costs(fp=setting.alarm, fn="amount"), {"amount": amount}
        ).revised(costs=cs.Costs(fp=alarm, fn="amount"))
        true = new.cost(p.calibrator, p.threshold)
        for k, (name, x) in enumerate((("cost", true), ("saving", setting.none - true))):
            out[k] += p.promises[name].low <= x <= p.promises[name].high
    return out


def report_row_costs(r: Any) -> None:
    """Costs and savings, then limits, then policies that were revised."""
    named = ("positives", "share", "σ of amounts")
    kept, covered = (f"{min(r.draws, most):,}" for most in (DRAWS, COVERED))
    r.table(
        MONEY_TEXT.replace("DRAWS", covered),
        *named,
        "cost",
        "saving",
        "expected / true",
        "seen / true",
        "true / one threshold",
        "saved beside it: expected",
        "true",
        "finding",
    )
    for (setting,), got in r.spread(money_covered, [(s,) for s in (*SETTINGS, *STRESS)], COVERED):
        r.row(
            *_columns(setting),
            *(f"{100 * share:.1f} %" for share in got[:2]),
            *(f"{x:.3f}" for x in (got[4] / got[7], got[5] / got[7], got[7] / got[8])),
            *(f"{x:.3f}" for x in got[2:4]),
            f"{100 * got[6]:.0f} %",
        )
        if setting not in STRESS and not all(
            0.93 - r.slack <= x <= 0.97 + r.slack for x in got[:2]
        ):
            r.faults.append(f"money of {setting}: {got}")
    r.table(LIMIT_TEXT.replace("DRAWS", kept), *named, "limit", "guaranteed", "met on the rows")
    heads = [(s, bound) for s in SETTINGS[:5] for bound in (0.02, 0.1)]
    for (setting, bound), got in r.spread(limit_kept, heads, DRAWS):
        shares = (f"{100 * share:.1f} %" for share in got)
        r.row(*_columns(setting), f"fpr ≤ {bound:g}", *shares)
        if got[0] > 0.05 + r.slack:
            r.faults.append(f"fpr <= {bound} of {setting}: {got}")
    r.table(REVISED_TEXT.replace("DRAWS", covered), *named, "false alarm", "cost", "saving")
    revised = [(SETTINGS[k], alarm) for k in (0, 3, 4) for alarm in (5.0, 20.0)]
    for (setting, alarm), got in r.spread(revised_covered, revised, COVERED):
        r.row(*_columns(setting), f"{alarm:g}", *(f"{100 * share:.1f} %" for share in got))
        if not all(0.92 - r.slack <= x <= 0.98 + r.slack for x in got):
            r.faults.append(f"revised for {alarm:g}, {setting}: {got}")


def _columns(setting: Payments) -> tuple[str, ...]:
    share = f"{100 * setting.prevalence:g} %"
    return f"{setting.positives:,}", share, f"{setting.sigma:g}"


MONEY_TEXT = """
## Costs of each row

`choose_by_row(y, score, Costs(fp=10, fn="amount"), {"amount": amount})` on normal scores, two
standard deviations apart, with lognormal amounts: coverage of the 95 % intervals of the cost per
case, and of the saving beside flagging nothing, both on new rows and after the choice. Then what
was expected and what was seen on the rows, as shares of the true cost; the true cost of the
decisions by row as a share of that of the best single threshold; the saving per case beside it that
was expected, which has no interval, and the true one; and how often the finding `few-amounts` says
that a few positives have most of the money. DRAWS samples per row.
"""

LIMIT_TEXT = """
Limits on the false positive rate of decisions by row, with a calibrator that was fitted to the same
rows: how often the true rate violates them, guaranteed with 95 % confidence, and only met on the
rows. DRAWS samples per row.
"""

REVISED_TEXT = """
`Policy.revised` for another cost of a false alarm, from the file alone: coverage of its promises of
the cost per case and of the saving beside flagging nothing. The calibrator stays as it is, also
where the choice is made again on folds. DRAWS samples per row.
"""
