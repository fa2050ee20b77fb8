"""Reports of policies whose costs differ by row."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.core.numbers import number_text
from cutscore.decision.row_costs import MoneyCurve, RowCostPoint
from cutscore.report import render, summarise_policy
from cutscore.report.charts import draw_money
from cutscore.report.registry import charts
from cutscore.report.summary import RowCostResults, Summary
from cutscore.report.traces import money_trace

COSTS = cs.Costs(fp=4, fn="0.8*amount + 15")


def rows(n: int = 2000, seed: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.08
    return y, (rng.normal(size=n) + 2 * y).round(3), rng.lognormal(3.5, 1, n).round(2)


def policy(costs: cs.Costs = COSTS, column: str = "amount", **options: Any) -> cs.Policy:
    y, score, amount = rows()
    options = {"calibrator": "platt", "score": "risk"} | options
    return cs.Policy.choose_by_row(y, score, costs, {column: amount}, **options)


def results_of(p: cs.Policy) -> tuple[Summary, RowCostResults]:
    summary = summarise_policy(p, "policy.json")
    assert isinstance(summary, Summary)
    assert summary.row_costs is not None
    return summary, summary.row_costs


def words_of(page: str) -> str:
    body = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_numbers_are_those_of_the_policy() -> None:
    p = policy()
    point = p.point
    assert isinstance(point, RowCostPoint)
    summary, m = results_of(cs.Policy.from_json(p.to_json()))
    by = {one.name: one for one in m.rows}
    assert list(by) == ["decisions", "uniform", "flag none", "flag all"]
    for found, name in ((by["decisions"].cost, "cost"), (by["flag none"].saving, "saving")):
        promised = p.promises[name]
        assert found is not None
        assert found.value == promised.value
        assert tuple(found.interval or ()) == (promised.low, promised.high)
    assert point.uniform is not None
    assert (m.uniform, by["uniform"].cost.value) == point.uniform
    assert by["uniform"].saving is not None
    assert by["uniform"].saving.value == point.uniform_saving
    totals = {"decisions": point.total, "uniform": None} | point.baselines
    assert {one.name: one.total for one in m.rows} == totals
    assert (m.here, m.threshold, m.factor) == (point.value, p.threshold, point.factor)
    one = summary.scores[0]
    assert one.point.confusion == p.confusion
    assert one.auc.value == p.sweep.auc == p.promises["auc"].value
    assert one.probability is None
    assert summary.baselines == {name: by[name].cost.value for name in ("flag none", "flag all")}


def test_totals_by_hand() -> None:
    """Flagged: all but the last negative, by amounts of 20 and 500 beside false alarms of 4."""
    y, score, amount = (
        np.tile([1, 0, 1, 0], 10),
        np.tile([9.0, 8.0, 6.0, 1.0], 10),
        [20, 10, 500, 1],
    )
    costs, line = cs.Costs(fp=4, fn="amount"), {"amount": np.tile(amount, 10)}
    p = cs.Policy.choose_by_row(y, score, costs, line, threshold=1.5, calibrator=cs.Affine(1, 5))
    _, m = results_of(p)
    # 4 + ln 5, 3 + ln 2.5, 1 + ln 125 and −4 − ln 4.
    assert {one.name: one.total for one in m.rows if one.name != "uniform"} == {
        "decisions": 40.0,
        "flag none": 5200.0,
        "flag all": 80.0,
    }
    assert (m.flagged, m.here) == (0.75, 1.0)
    np.testing.assert_array_equal(1000 * m.curve.cost[[0, -1]], [130_000, 2000])


def test_terminal_and_json_and_page_say_the_same() -> None:
    p = policy(subject_to="flagged_rate <= 20 %")
    summary, m = results_of(p)
    plain = summary.as_dict()
    json.dumps(plain, allow_nan=False)
    found = plain["row_costs"]
    assert found["rule"] == m.rule
    assert [one["rule"] for one in found["rows"]] == [
        *("decisions", "uniform", "flag_none", "flag_all")
    ]
    assert found["rows"][0]["cost"]["value"] == p.promises["cost"].value
    assert found["rows"][2]["saving"]["low"] == p.promises["saving"].low
    assert found["per_period"] is None
    point = plain["scores"][0]["operating_point"]
    assert (point["rule"], point["threshold"]) == ("by row", None)
    assert point["limits"][0]["holds"] is True
    assert plain["asked"]["costs"]["fn"] == "0.8*amount + 15"
    text, page = " ".join(summary.text().split()), words_of(render(summary))
    assert m.limits[0].startswith("flagged_rate <= 0.2: met (")
    for said in (*m.sentences, *m.limits, m.rule, "best single threshold"):
        assert said in text
        assert said in page
    for row in m.table[1:]:
        assert " ".join(row) in text
        assert " ".join(row) in page
    # The verdict is first.
    assert text.startswith("Flag if odds × (0.8*amount + 15) ≥ ")
    assert summary.scores[0].verdict.headline == m.rule


def test_the_page_has_a_chart_and_no_slider() -> None:
    summary, m = results_of(policy())
    page = render(summary)
    assert "<script" not in page
    assert "script-src" not in page
    assert '<input type="range"' not in page
    assert 'role="slider"' not in page
    assert 'data-plot="money"' in page
    assert (
        page.index(unescape("Flag if odds")) < page.index('id="money"') < page.index('id="charts"')
    )
    assert "no threshold on the score is right for all, and there is no slider" in page
    assert not re.search(r"\b(nan|inf)\b", words_of(page))
    assert {chart.key for chart in charts(summary)} == {"roc", "pr", "shares"}
    chart = draw_money(summary)
    (panel,) = chart.panels
    assert [line.kind for line in panel.lines] == ["guide", "whisker"]
    (mark,) = panel.marks
    top = mark.y / (1000 * m.here)
    assert mark.x == m.flagged
    assert panel.lines[0].d == f"M0,{1000 - round(1e6 * top * m.rows[1].cost.value)}H1000"
    assert f"cost {number_text(1000 * m.here)}." in chart.description
    assert f'<p class="unseen" id="money-0-described">{chart.description}</p>' in page
    assert len(page) < 200_000


def test_the_curve_keeps_what_matters() -> None:
    rng = np.random.default_rng(1)
    flagged, cost = np.linspace(0, 1, 100_001), rng.normal(size=100_001)
    curve = MoneyCurve(-flagged, flagged, cost)
    few = money_trace(curve, 123)
    assert len(few) < 500
    assert {cost.min(), cost.max(), cost[0], cost[-1], cost[123]} <= set(few.cost.tolist())
    assert (np.diff(few.flagged) > 0).all()
    short = MoneyCurve(-flagged[:3], np.array([0.0, 0.5, 1.0]), cost[:3])
    np.testing.assert_array_equal(money_trace(short, 1).cost, short.cost)


def test_low_scores_that_mean_positive() -> None:
    y, score, amount = rows()
    columns = {"amount": amount}
    low = cs.Policy.choose_by_row(y, -score, COSTS, columns, calibrator="platt", reverse=True)
    high = cs.Policy.choose_by_row(y, score, COSTS, columns, calibrator="platt")
    (a, m), (b, n) = results_of(low), results_of(high)
    assert m.uniform is not None
    assert (-m.uniform, m.here, m.factor) == (n.uniform, n.here, n.factor)
    assert m.rule == n.rule.replace("LLR(score)", "LLR(−score)")
    assert a.scores[0].auc == b.scores[0].auc
    assert a.scores[0].verdict.headline == m.rule
    assert "LLR(−score)" in words_of(render(a))


def test_another_prior_has_no_totals() -> None:
    summary, m = results_of(policy(prior=0.01))
    assert {one.total for one in m.rows} == {None}
    assert m.table[0] == ["", "cost", "saving"]
    point = summary.scores[0].point
    assert m.here == point.value
    assert number_text(1000 * point.value) in words_of(render(summary))
    assert "Totals" not in summary.text()


def test_a_day_of_these_rows() -> None:
    y, score, amount = rows()
    day = np.arange(len(y)) // 50
    p = cs.Policy.choose_by_row(
        *(y, score, COSTS, {"amount": amount}),
        subject_to="flagged <= 12 per day",
        period=day,
        calibrator="platt",
    )
    summary, m = results_of(cs.Policy.from_json(p.to_json()))
    assert m.per_period == ("day", 40, m.rows[0].total / 40)  # type: ignore[operator]
    page = words_of(render(summary))
    assert f"On these rows a day cost {number_text(m.per_period[2])}, the mean of 40 days." in page
    assert "flagged <= 12 per day: met" in page
    assert summary.as_dict()["row_costs"]["per_period"]["periods"] == 40


@pytest.mark.parametrize("evidence", ["scores", "corners", "blocks"])
def test_compact_evidence(evidence: str) -> None:
    p = policy(evidence=evidence)
    summary, m = results_of(p)
    assert m.here == pytest.approx(policy().point.value)
    assert summary.scores[0].verdict.headline == m.rule
    render(summary)


def test_what_rules_decisions_out_is_said_first() -> None:
    y, score, amount = rows()
    noise = np.random.default_rng(2).permutation(score)
    rises = cs.Affine(1, -4)
    p = cs.Policy.choose_by_row(y, noise, COSTS, {"amount": amount}, calibrator=rises)
    summary, m = results_of(p)
    headline = summary.scores[0].verdict.headline
    # The AUC is that of the scores, as is its interval.
    assert headline.startswith(f"Not significantly better than chance: AUC {p.sweep.auc:.3f}")
    assert summary.text().startswith(headline)
    page = words_of(render(summary))
    assert f"If you need a threshold anyway: {m.rule[0].lower()}{m.rule[1:]}" in page
    broken, _ = results_of(policy(subject_to=["recall >= 99 %", "fpr <= 1 %"]))
    assert broken.scores[0].verdict.headline.startswith("No threshold meets recall ≥ 0.99")
    assert "violated" in words_of(render(broken))


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "src"]


@pytest.mark.parametrize(
    "name", ["</script><b onclick=1>", "'><img src=x onerror=alert(3)>", "a\nb\u2028\u202ec\x00"]
)
def test_hostile_columns_of_formulas_are_text(name: str) -> None:
    p = policy(cs.Costs(fp=4, fn=f'"{name}"'), name, score=name)
    page = render(summarise_policy(p, name), name)
    page.encode("utf-8")
    tags = _Tags()
    tags.feed(page)
    assert not {"script", "img", "b onclick=1"} & set(tags.tags)
    assert tags.handlers == []
    assert not {"\x00", "\u2028", "\u202e"} & set(page)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    y, score, amount = rows()
    table, saved, page = (tmp_path / name for name in ("pay.csv", "policy.json", "page.html"))
    lines = (f"{int(a)},{b},{c}" for a, b, c in zip(y, score, amount, strict=True))
    table.write_text("\n".join(("fraud,risk,amount", *lines)))
    asked = ["--label", "fraud", "--score", "risk", "--cost", "fp=4,fn=0.8*amount + 15"]
    main(["choose", str(table), *asked, "-o", str(saved)])
    capsys.readouterr()
    main(["report", str(saved), "-o", str(page)])
    assert "flagging none" in capsys.readouterr().out
    assert "Cost by share flagged" in page.read_text(encoding="utf-8")
    main(["report", str(saved), "--json"])
    assert json.loads(capsys.readouterr().out)["row_costs"]["rows"][0]["rule"] == "decisions"
