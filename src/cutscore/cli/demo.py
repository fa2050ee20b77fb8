"""The demonstration: simulated card payments, from a table to decisions, in a few seconds."""

from __future__ import annotations

import csv
import random
from argparse import Namespace
from io import StringIO
from math import exp, log
from pathlib import Path
from statistics import NormalDist
from typing import Any

from cutscore.comparison.row_costs import choose_by_row
from cutscore.core.files import written_aside
from cutscore.core.interval import Interval
from cutscore.core.numbers import number_text
from cutscore.core.types import Array
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs
from cutscore.report import Estimate, render, summarise_fit
from cutscore.report.terminal import baselines
from cutscore.tables import open_table, write_table
from cutscore.training import train

_TITLE = "Card payments: which ones to hold?"
_COSTS = Costs(fp=1, fn=25)
_BY_AMOUNT = Costs(fp=4, fn="0.9*amount + 10")
_COUNTRIES = {"DE": 0.0, "FR": 0.1, "NL": -0.1, "PL": 0.2, "US": 0.5, "BR": 1.1}
_CHANNELS = {"shop": -1.2, "app": 0.0, "web": 0.5, "phone": 0.9}

Row = tuple[str, float, int, str, str, str, int | None, int]
_NAMES = ("payment", "amount", "hour", "country", "channel", "new device", "account days", "fraud")


def payments(n: int, seed: int) -> list[Row]:
    """Card payments, some of them fraud: the same on every machine."""
    uniform = random.Random(seed).random  # which is promised to stay the same, unlike gauss()
    normal = NormalDist()
    rows: list[Row] = []
    for i in range(n):
        amount = round(exp(normal.inv_cdf(uniform() or 0.5) * 1.1 + 3.3), 2)
        hour = int(24 * uniform())
        country = list(_COUNTRIES)[int(len(_COUNTRIES) * uniform() ** 1.6)]
        channel = list(_CHANNELS)[int(len(_CHANNELS) * uniform())]
        new_device = uniform() < 0.15
        days = int(-700 * log(uniform() or 0.5))
        odds = (
            -7.6
            + 0.55 * log(amount)
            + _COUNTRIES[country]
            + _CHANNELS[channel]
            + 2.1 * new_device
            + (0.9 if hour < 6 else 0.0)
            + 1.6 * exp(-days / 60)
        )
        fraud = uniform() < 1 / (1 + exp(-odds))
        known = None if uniform() < (0.2 if fraud else 0.04) else days
        yes = "yes" if new_device else "no"
        rows.append((f"p{i:05d}", amount, hour, country, channel, yes, known, int(fraud)))
    return rows


def run(arguments: Namespace) -> tuple[str, int]:
    """Go through it all."""
    return demonstrate(Path(arguments.output)), 0


def demonstrate(folder: Path) -> str:
    """Write tables, a model, decisions and a report to a folder; return what to print."""
    folder.mkdir(parents=True, exist_ok=True)
    seen, new = folder / "payments.csv", folder / "new.csv"
    rows = payments(12_000, seed=20)
    _write(seen, _csv(_NAMES, rows))
    _write(new, _csv(_NAMES[:-1], [row[:-1] for row in payments(1_000, seed=21)]))
    trained = train(open_table(seen), "fraud", costs=_COSTS)
    model, decided, page = (folder / n for n in ("model.json", "decided.csv", "report.html"))
    trained.detector.save(model)
    decisions = trained.detector.apply(open_table(new), keep=["payment"])
    write_table(decided, decisions)
    # Of each learner, by lines that were fitted to other rows: something to evaluate and compare.
    amount = [row[1] for row in rows]
    scores = {"fraud": trained.y.astype("int8"), **trained.scores, "amount": amount}
    write_table(folder / "scores.csv", scores)
    summary = summarise_fit(trained, str(seen))
    _write(page, render(summary, _TITLE))
    flagged = [row for row in decisions.to_pylist() if row["decision"]]
    flagged.sort(key=lambda row: -row["probability"])
    point, expected = trained.point, trained.point.expected
    assert expected is not None
    cost = Estimate(expected.value, Interval(expected.low, expected.high, expected.level))
    lines = [
        f"12,000 simulated card payments, {summary.P} of them fraud; a false alarm costs "
        f"{_COSTS.fp:g}, a missed fraud {_COSTS.fn:g}.",
        "",
        f"  learner    {trained.learner}, the best of {len(trained.compared)} in cross-validation",
        f"  AUC        {summary.scores[0].auc.text()}",
        f"  threshold  hold payments with score ≥ {point.threshold:g}: catches "
        f"{_caught(point.confusion)}",
        f"  cost       {cost.times(1000).text()} per 1,000 payments; {baselines(point)[0]}",
        "",
        *_by_amount(trained.y, trained.scores[trained.learner], amount),
        "",
        f"{len(flagged)} of 1,000 new payments are held. The three most suspicious:",
        *(f"  {r['payment']}  {100 * r['probability']:.0f} %  {r['why']}" for r in flagged[:3]),
        "",
        f"next: open {page} in a browser; {model.name} and the CSV files are in the same folder",
    ]
    return "\n".join(lines)


def _by_amount(y: Array, score: Array, amount: list[float]) -> list[str]:
    """The same payments, where a missed one costs its amount."""
    p = choose_by_row(y, score, _BY_AMOUNT, {"amount": amount})
    expected, beside = p.expected, p.simpler_costs
    assert expected is not None
    assert beside is not None
    cost = Estimate(expected.value, Interval(expected.low, expected.high, expected.level))
    return [
        "If a false alarm costs 4 and a missed fraud costs 0.9 × its amount + 10, deciding by the "
        "amount",
        f"  costs      {cost.times(1000).text()} per 1,000 payments; the best single threshold: "
        f"{number_text(1000 * beside['uniform'])}",
    ]


def _caught(c: Confusion) -> str:
    return f"{c.tp} of {c.tp + c.fn} frauds, {c.fp:,} false alarms"


def _csv(names: tuple[str, ...], rows: list[Any]) -> str:
    out = StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([names, *rows])
    return out.getvalue()


def _write(path: Path, text: str) -> None:
    with written_aside(path, text=True) as file:
        file.write(text)
