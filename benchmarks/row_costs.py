"""Decisions by the costs of each row, beside Empulse's ``CSThresholdClassifier`` and the rule of
costcla's ``BayesMinimumRiskClassifier``, on the same rows, amounts and calibrated probabilities:
what they cost on the rows that were chosen on, what on as many new ones, and how long it takes.
Then the time of ``choose_by_row`` beside that of one sweep. CPU time, of all threads.

Writes nothing. Needs ``pip install empulse``. costcla can't be imported by current versions of
Python and NumPy (it needs pyea and ``np.float``), so its published rule stands here: flag iff
p > (fp − tn) / (fn − tn − tp + fp). Its time is not compared. ``--rows N`` for other sizes,
``--days`` for the last table with that many rows, amounts and days.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

import cutscore as cs
from cutscore.inference.means import Moments, mean_interval

Array = NDArray[Any]


class Data(NamedTuple):
    """Rows with amounts, and what errors cost."""

    name: str
    y: Array
    score: Array
    amount: Array
    costs: cs.Costs

    def half(self, second: bool) -> Data:
        """The first or the second half."""
        middle = len(self.y) // 2
        part = slice(middle, None) if second else slice(middle)
        return self._replace(y=self.y[part], score=self.score[part], amount=self.amount[part])

    @property
    def stakes(self) -> tuple[Array, Array]:
        """What a miss costs, and a false alarm."""
        return self.costs.stakes(len(self.y), {"amount": self.amount})

    def cost(self, flagged: Array) -> Array:
        """What each row costs."""
        miss, alarm = self.stakes
        return np.where(self.y, miss * ~flagged, alarm * flagged)


def generated(n: int, seed: int) -> Iterator[Data]:
    """Four generators, which differ in shapes of scores, amounts, and what costs depend on."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.02
    amount = rng.lognormal(4, 1.5, n).round(2)
    payments = cs.Costs(fp=10, fn="amount")
    yield Data("payments", y, rng.standard_normal(n) + 2 * y, amount, payments)
    amount = (amount * np.where(y, 2.5, 1.0)).round(2)
    score = rng.standard_t(4, n) + 2 * y + 0.3 * np.log(amount)
    yield Data("larger frauds, t", y, score, amount, cs.Costs(fp="5 + 0.01*amount", fn="amount"))
    y = rng.random(n) < 0.15
    loan = (100 * rng.gamma(2, 25, n)).round()
    score = 1 / (1 + np.exp(-(rng.logistic(size=n) + 1.8 * y - 2)))
    yield Data("loans", y, score, loan, cs.Costs(fp="0.12*amount + 50", fn="0.75*amount"))
    y = rng.random(n) < 0.2
    part = rng.choice([2.0, 5.0, 20.0, 80.0], n)
    score = np.round(rng.standard_normal(n) * np.where(y, 1.5, 1) + 1.2 * y)
    yield Data("parts, tied scores", y, score, part, cs.Costs(fp="amount", fn="max(3*amount, 30)"))


class AsGiven(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose features are the probabilities."""

    def fit(self, X: Array, y: Array) -> AsGiven:
        self.classes_ = np.unique(y)
        assert X.ndim == 2
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.column_stack((1 - X[:, 0], X[:, 0]))


def empulse(p: Array, d: Data) -> Array:
    """Decisions of CSThresholdClassifier by probabilities, which it takes as calibrated."""
    from empulse.models import CSThresholdClassifier

    miss, alarm = d.stakes
    model = CSThresholdClassifier(AsGiven(), calibrator=None).fit(p[:, None], d.y.astype(int))
    return np.asarray(model.predict(p[:, None], fn_cost=miss, fp_cost=alarm)) == 1


def minimum_risk(p: Array, d: Data) -> Array:
    """The rule of costcla's BayesMinimumRiskClassifier."""
    miss, alarm = d.stakes
    return np.asarray(p > alarm / (alarm + miss))


def compare(rows: int, seeds: int) -> None:
    """Costs per case on the rows that were chosen on, and on new ones."""
    print("cost per case on the rows chosen on, and of new rows; less than theirs (95 % CI)\n")
    head = f"{'data':<20} {'ours':>8} {'Empulse':>8} {'costcla':>8}"
    print(head, " new:", head[21:], "   Empulse − ours, costcla − ours")
    for seed in range(seeds):
        for d in generated(2 * rows, seed):
            chosen, new = d.half(False), d.half(True)
            point = cs.choose_by_row(
                chosen.y, chosen.score, d.costs, {"amount": chosen.amount}, calibrator="auto"
            )
            assert point.rows is not None
            share, cells, less = float(chosen.y.mean()), [], []
            for part in (chosen, new):
                p = point.rows.calibrator.probability(part.score, share)
                miss, alarm = part.stakes
                gap = point.rows.calibrator.llr(part.score) - np.log(alarm / miss)
                flags = gap >= point.threshold, empulse(p, part), minimum_risk(p, part)
                cost = [part.cost(flag) for flag in flags]
                cells += [f"{np.mean(one):>8.4f}" for one in cost]
                less = [mean_interval([(1.0, Moments.of(one - cost[0]))], 0.95) for one in cost[1:]]
                if part is chosen:
                    assert min(np.sum(one) for one in cost) >= np.sum(cost[0]) * (1 - 1e-12), d.name
            print(f"{d.name:<20}", *cells[:3], "     ", *cells[3:], "  ", *less)
            assert all(one.high >= 0 for one in less), d.name


def seconds(run: Callable[[], Any], turns: int = 3) -> float:
    """The least CPU time of some turns."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def times(rows: int) -> None:
    """How long it takes, beside Empulse and one sweep."""
    from empulse.models import CSThresholdClassifier
    from sklearn.linear_model import LogisticRegression

    d = next(generated(rows, 0))
    columns, x, y = {"amount": d.amount}, d.score[:, None], d.y.astype(int)
    miss, alarm = d.stakes
    sweep = seconds(lambda: cs.sweep(d.y, d.score))
    print(f"\n{rows:,} rows; one sweep {1000 * sweep:.0f} ms")

    def theirs() -> None:
        model = CSThresholdClassifier(LogisticRegression()).fit(x, y)
        model.predict(x, fn_cost=miss, fp_cost=alarm)

    platt = cs.calibrate(cs.sweep(d.y, d.score), "platt")
    p = platt.probability(d.score, float(d.y.mean()))
    kinds: dict[str, Callable[[], Any]] = {
        f"choose_by_row, {name}": lambda c=c: cs.choose_by_row(
            d.y, d.score, d.costs, columns, calibrator=c
        )
        for name, c in (("auto", "auto"), ("platt", "platt"), ("calibrator given", platt))
    }
    kinds["Empulse, sigmoid of a logistic regression"] = theirs
    kinds["Empulse, probabilities given"] = lambda: empulse(p, d)
    for name, run in kinds.items():
        own = seconds(run)
        print(f"{name:<44} {1000 * own:>8.0f} ms {own / sweep:>7.1f} × the sweep")


def with_days(rows: int) -> None:
    """Rows with amounts and days, under a limit per day."""
    d = next(generated(rows, 0))
    day = np.random.default_rng(1).integers(0, 365, rows)
    platt = cs.calibrate(cs.sweep(d.y, d.score), "platt")
    sweep = seconds(lambda: cs.sweep(d.y, d.score), 1)
    start = time.process_time()
    point = cs.choose_by_row(
        d.y,
        d.score,
        d.costs,
        {"amount": d.amount},
        calibrator=platt,
        period=day,
        subject_to=f"flagged <= {rows // 365 // 100} per day",
    )
    own = time.process_time() - start
    print(f"\n{rows:,} rows with amounts and days, limit per day: {own:.1f} s,")
    print(f"{own / sweep:.1f} × one sweep of {sweep:.2f} s; {point.status[0]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--days", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.days:
        with_days(arguments.days)
        return
    compare(min(arguments.rows, 20_000), arguments.seeds)
    times(arguments.rows)


if __name__ == "__main__":
    main()
