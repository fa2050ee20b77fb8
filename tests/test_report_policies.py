"""Reports of policies with groups, of normal rows, and with limits per period."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.cli import main
from cutscore.decision.groups import choose_groups
from cutscore.report import render, summarise_policy
from cutscore.report.charts import MOST_GROUPS
from cutscore.report.registry import charts, charts_by_group
from cutscore.report.summary import NormalSummary, Summary

Capture = pytest.CaptureFixture[str]
HOSTILE = ["</script><b onclick=1>", "\"'><img src=x onerror=alert(3)>", "a\nb\u2028c\x00", "de"]


def rows(names: list[str], n: int = 4000, seed: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    place = rng.integers(len(names), size=n)
    y = rng.random(n) < 0.2
    return y, rng.normal(size=n) + 2.5 * y + 0.3 * (place == 0), np.array(names, object)[place]


def groups(names: list[str] | None = None, **options: Any) -> cs.GroupSweeps:
    return cs.sweeps_by_group(*rows(names or ["de", "fr", "pl"]), **options)


COSTS = cs.Costs(fp=1, fn=10)
POLICIES = {
    "common": lambda: cs.Policy.choose_groups(
        groups(), "recall", column="country", each="fpr <= 5 %", confidence=0.95
    ),
    "own": lambda: cs.Policy.choose_groups(
        groups(), COSTS, column="country", thresholds="group", gap="recall <= 5 %"
    ),
}


def words_of(page: str) -> str:
    body = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.mark.parametrize("kind", list(POLICIES))
def test_numbers_of_groups_are_those_of_the_policy(kind: str) -> None:
    p = POLICIES[kind]()
    summary = summarise_policy(p, "policy.json")
    assert isinstance(summary, Summary)
    g = summary.group_results
    assert g is not None
    assert p.groups is not None
    assert (g.column, g.own) == ("country", kind == "own")
    assert [one.rows for one in g.rows] == sorted((one.rows for one in g.rows), reverse=True)
    for one in g.rows:
        c = p.group_point.confusions[one.name]
        assert (one.rows, one.positives) == (c.total, c.positives)
        for name, found in one.measures.items():
            promise = p.groups.promises[one.name][name]
            assert (found.value, tuple(found.interval or ())[:2]) == (
                promise.value,
                (promise.low, promise.high),
            )
    point = summary.scores[0].point
    assert point.confusion == p.group_point.confusion
    # What is not promised follows from the rates that are.
    tp, fp = (p.promises[name].value for name in ("recall", "fpr"))
    tp, fp = tp * point.confusion.positives, fp * point.confusion.negatives
    assert summary.scores[0].measures["precision"].value == pytest.approx(tp / (tp + fp))
    plain = summary.as_dict()
    json.dumps(plain, allow_nan=False)
    (score,) = plain["scores"]
    assert score["operating_point"]["confusion"]["tp"] == point.confusion.tp
    assert {one["group"]: one["threshold"] for one in plain["group_results"]["groups"]} == {
        name: (p.cuts.groups.get(name) or p.cuts.thresholds)[0] for name in ("de", "fr", "pl")
    }
    text, page = summary.text(), render(summary)
    for line in p.group_point.limit_lines:
        assert line in " ".join(text.split())
        assert line in words_of(page)
    assert all(one.name in text for one in g.rows)
    cells = [cell for one in g.rows for cell in (f"{one.rows:,}", f"{one.positives:,}")]
    assert all(f"<td>{cell}</td>" in page for cell in cells)


def test_thresholds_of_groups_have_no_slider() -> None:
    summary = summarise_policy(POLICIES["own"]())
    assert isinstance(summary, Summary)
    page = render(summary)
    assert "Flag scores ≥ the threshold of their 'country'" in words_of(page)
    assert summary.scores[0].verdict.headline == "Flag scores ≥ the threshold of their 'country'"
    assert "<script" not in page
    assert "script-src" not in page
    assert '<input type="range"' not in page
    assert 'role="slider"' not in page
    assert not re.search(r"\bnan\b", words_of(page))
    assert {chart.key for chart in charts(summary)} == {"roc", "pr", "shares"}
    plain = summary.as_dict()["scores"][0]["operating_point"]
    assert (plain["rule"], plain["threshold"]) == ("by group", None)
    common = render(summarise_policy(POLICIES["common"]()))
    assert '<input type="range"' in common
    assert "script-src" in common


def test_low_scores_that_mean_positive() -> None:
    y, x, country = rows(["de", "fr"])
    s = cs.sweeps_by_group(y, -x, country)
    turned = {name: one.negated() for name, one in s.items()}
    for own in ("common", "group"):
        low = cs.Policy.choose_groups(s, COSTS, thresholds=own, reverse=True)
        high = cs.Policy.choose_groups(turned, COSTS, thresholds=own)
        a, b = (summarise_policy(p) for p in (low, high))
        assert isinstance(a, Summary)
        assert isinstance(b, Summary)
        assert a.group_results is not None
        assert b.group_results is not None
        assert [-one.threshold for one in a.group_results.rows] == [
            one.threshold for one in b.group_results.rows
        ]
        assert "≤" in a.group_results.rule
        assert a.scores[0].point.confusion == b.scores[0].point.confusion
        assert "≤" in words_of(render(a))


def test_charts_of_groups() -> None:
    p = POLICIES["common"]()
    summary = summarise_policy(p)
    assert isinstance(summary, Summary)
    found = {chart.key: chart for chart in charts_by_group(summary)}
    assert list(found) == ["by-group-recall", "by-group-fpr", "by-group-flagged_rate"]
    (panel,) = found["by-group-fpr"].panels
    kinds = [line.kind for line in panel.lines]
    assert kinds.count("span") == kinds.count("at") == 3
    assert kinds.count("guide limit") == 1
    assert [tick.text for tick in panel.y] == [one.name for one in summary.group_results.rows]  # type: ignore[union-attr]
    assert found["by-group-recall"].description.startswith(f"{panel.y[0].text}: ")
    own = summarise_policy(POLICIES["own"]())
    assert isinstance(own, Summary)
    assert [chart.key for chart in charts_by_group(own)][-1] == "by-group-cost"


def test_of_very_many_groups_the_largest_are_drawn() -> None:
    names = [f"g{k:02}" for k in range(MOST_GROUPS + 5)]
    p = cs.Policy.choose_groups(groups(names), COSTS, thresholds="group")
    summary = summarise_policy(p)
    assert isinstance(summary, Summary)
    page = render(summary)
    assert len(charts_by_group(summary)[0].panels[0].y) == MOST_GROUPS
    assert f"The {MOST_GROUPS} largest of {MOST_GROUPS + 5} groups are drawn" in page
    assert page.count('<th scope="row"><bdi>g') == len(names)


def test_a_group_of_one_class() -> None:
    s = dict(groups(["de", "fr"]).items())
    s["none"] = cs.sweep([0, 0, 0], [0.1, 2.0, 3.0])
    summary = summarise_policy(cs.Policy.choose_groups(s, COSTS, thresholds="group"))
    assert isinstance(summary, Summary)
    assert charts_by_group(summary)[0].panels[0].y[-1].text == "none (undefined)"
    assert not re.search(r"\bnan\b", words_of(render(summary)))
    assert not re.search(r"\bnan\b", summary.text())
    json.dumps(summary.as_dict(), allow_nan=False)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "src"]


@pytest.mark.parametrize("own", ["common", "group"])
def test_hostile_names_of_groups_are_text(own: str) -> None:
    p = cs.Policy.choose_groups(
        groups(HOSTILE), COSTS, column=HOSTILE[0], thresholds=own, score=HOSTILE[1]
    )
    page = render(summarise_policy(p, HOSTILE[2]), HOSTILE[1], HOSTILE[0])
    page.encode("utf-8")
    tags = _Tags()
    tags.feed(page)
    assert tags.tags.count("script") == (0 if own == "group" else 2)
    assert not {"img", "b onclick=1"} & set(tags.tags)
    assert tags.handlers == []
    assert "\x00" not in page
    assert "\u2028" not in page
    normal = cs.Policy.choose(
        cs.sweep([0] * 99, np.arange(99.0)), cs.Aim("recall", "fpr <= 0.1"), score=HOSTILE[1]
    )
    tags.feed(render(summarise_policy(normal, HOSTILE[2]), HOSTILE[0]))
    assert tags.handlers == []


# --------------------------------------------------------------------------------------- the limits


@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("seed", range(8))
def test_chosen_thresholds_keep_their_limits(seed: int, confidence: float | None) -> None:
    y, x, country = rows(["de", "fr", "pl"], 900, seed)
    s = cs.sweeps_by_group(y, x.round(1), country)
    asked: list[dict[str, Any]] = [
        {"each": "fpr <= 12 %"},
        {"each": ["fpr <= 30 %", "recall >= 40 %"]},
        {"each": "fpr <= 20 %", "thresholds": "group"},
        {"gap": ["recall <= 30 %", "fpr <= 30 %"], "thresholds": "group"},
        {"each": "fpr <= 20 %", "subject_to": "flagged_rate <= 30 %"},
    ]
    for options in asked:
        try:
            p = choose_groups(s, "youden", **options, confidence=confidence)
        except cs.UndefinedError:
            continue
        # Tested as if they had been given, by rules that count rows of one class.
        assert replace(p, given=p.common is not None).feasible, options
        assert all("met" in line for line in p.limit_lines if "too small" not in line)


def test_given_thresholds_may_break_their_limits() -> None:
    p = POLICIES["common"]()
    low = p.revised(threshold=0.5)
    assert not low.feasible
    (status,) = low.group_point.status
    worst = max(float(c.fpr) for c in low.group_point.confusions.values())
    assert (status.measure, status.bound, status.value, status.holds) == ("fpr", 0.05, worst, False)
    assert "can't be guaranteed at 95 % confidence" in low.group_point.limit_lines[0]
    summary = summarise_policy(low)
    assert isinstance(summary, Summary)
    assert summary.scores[0].verdict.state.value == "unusable"
    assert [one.code for one in summary.scores[0].verdict.findings] == ["infeasible"]
    high = p.revised(threshold=9.0)
    assert high.feasible
    assert cs.Policy.from_json(low.to_json()).feasible is False
    exact = cs.Policy.choose_groups(groups(), "recall", each="fpr <= 5 %").revised(threshold=0.5)
    assert exact.group_point.limit_lines[0].startswith("fpr <= 0.05 in each group: violated (")
    with pytest.raises(cs.DataError) as caught:
        p.revised(threshold=0.5, gap="recall <= 5 %")
    assert caught.value.finding.code == "arguments-conflict"


@pytest.mark.parametrize("evidence", ["scores", "corners", "blocks"])
def test_compact_evidence_knows_what_became_of_limits(evidence: str) -> None:
    for each in ("fpr <= 5 %", "precision >= 60 %"):
        p = cs.Policy.choose_groups(
            groups(), "recall", each=each, thresholds="group", confidence=0.9, evidence=evidence
        )
        assert p.group_point.feasible
        render(summarise_policy(p))


# -------------------------------------------------------------------------------------- normal rows


def normal(periods: bool = False, **options: Any) -> cs.Policy:
    x = np.random.default_rng(0).normal(size=4000)
    y, s = np.zeros(4000), cs.sweep(np.zeros(4000), x)
    if not periods:
        return cs.Policy.choose(s, cs.Aim("recall", "fpr <= 1 %", confidence=0.95), **options)
    days = cs.periods(y, x, np.repeat(np.arange(100), 40))
    aim = cs.Aim("recall", "fp <= 1 per day", confidence=0.95, periods=days)
    return cs.Policy.choose(s, aim, **options)


def test_normal_rows() -> None:
    p = normal()
    summary = summarise_policy(p, "policy.json")
    assert isinstance(summary, NormalSummary)
    promise = p.promises["fpr"]
    assert (summary.fpr.value, summary.N, summary.verdict.state.value) == (
        promise.value,
        4000,
        "usable",
    )
    assert int(summary.histogram.mass.sum()) == 4000
    ((words, alarms),) = summary.alarms
    assert words == "false alarms per 1,000 normal cases"
    assert alarms.value == pytest.approx(1000 * promise.value)
    assert alarms.interval is not None
    assert alarms.interval.high == pytest.approx(1000 * promise.high)
    page, text, plain = render(summary), summary.text(), summary.as_dict()
    json.dumps(plain, allow_nan=False)
    assert plain["schema"] == "cutscore.normal_summary/1"
    assert (plain["threshold"], plain["false_alarms"]) == (p.threshold, p.confusion.fp)
    for shown in (words_of(page), " ".join(text.split())):
        assert f"Flag scores ≥ {p.threshold!r}" in shown
        assert "is not known without positives" in shown
        assert "fpr <= 0.01 at 95 % confidence: met" in shown
        assert not re.search(r"\bnan\b", shown)
    assert "<script" not in page
    assert "ROC" not in words_of(page)
    assert str(summary) == text


def test_normal_rows_per_day() -> None:
    p = normal(periods=True)
    summary = summarise_policy(p)
    assert isinstance(summary, NormalSummary)
    _, (words, alarms) = summary.alarms
    assert words == "false alarms per day, at 40.0 normal cases per day"
    assert alarms.value == pytest.approx(p.confusion.fp / 100)
    assert "Limits per period" in words_of(render(summary))
    assert "Limits per period" in summary.text()


def test_normal_rows_of_which_low_scores_are_flagged() -> None:
    x = np.random.default_rng(0).normal(size=999)
    aim = cs.Aim("recall", "fpr <= 5 %")
    low = summarise_policy(cs.Policy.choose(cs.sweep(np.zeros(999), x), aim, reverse=True))
    assert isinstance(low, NormalSummary)
    assert (low.lowest, low.highest) == (x.min(), x.max())
    assert low.as_dict()["rule"] == "up to"
    assert "at most the threshold" in words_of(render(low))


def test_no_threshold_for_normal_rows() -> None:
    aim = cs.Aim("recall", "fpr <= 0.01 %", confidence=0.95)
    few = summarise_policy(cs.Policy.choose(cs.sweep([0] * 60, np.arange(60.0)), aim))
    assert "Flag nothing" in words_of(render(few))
    assert "requires at least 29,956 negatives" in words_of(render(few))
    for x in ([1.0] * 60, [-np.inf, np.inf] * 30, [1e300, -1e300] * 30):  # can be drawn at all
        aim = cs.Aim("recall", "fpr <= 50 %")
        page = render(summarise_policy(cs.Policy.choose(cs.sweep([0] * 60, x), aim)))
        assert not re.search(r"\bnan\b", words_of(page))


# ------------------------------------------------------------------------------------------ periods


@pytest.mark.parametrize("limit", ["flagged <= 20 per day", "fp <= 9 on 90 % of days"])
@pytest.mark.parametrize("confidence", [None, 0.95])
def test_limits_per_period(limit: str, confidence: float | None) -> None:
    y, x, _ = rows(["de"])
    days = cs.periods(y, x, np.repeat(np.arange(100), 40), exposure=110)
    s = cs.sweep(y, x)
    p = cs.Policy.choose(s, cs.Aim("recall", limit, confidence=confidence, periods=days))
    p = cs.Policy.from_json(p.to_json())
    summary = summarise_policy(p)
    assert isinstance(summary, Summary)
    (found,) = summary.periods
    c = p.confusion
    alarms = "fp" in limit
    assert (found.limit, found.holds, found.periods) == (limit, True, 110)
    assert found.count == (c.fp if alarms else c.flagged) <= found.most
    first, second = found.sentences
    for shown in (words_of(render(summary)), " ".join(summary.text().split())):
        assert first in shown
        assert second in shown
    assert summary.as_dict()["period_limits"][0]["count"] == found.count
    assert not summarise_policy(cs.Policy.choose(s, COSTS)).periods


def test_a_check_says_which_periods_have_no_rows() -> None:
    y, x, _ = rows(["de"])
    day = np.repeat(np.arange("2026-01-01", "2026-04-11", dtype="datetime64[D]"), 40)
    aim = cs.Aim("recall", "flagged <= 20 per day", periods=cs.periods(y, x, day))
    p = cs.Policy.choose(cs.sweep(y, x), aim)
    some = (day < day[400]) | (day >= day[480])
    found = p.check(y[some], x[some], period=day[some])
    assert [one.code for one in found.findings] == ["periods-empty"]
    assert p.check(y[some], x[some], period=day[some], exposure=100).findings == ()


# ------------------------------------------------------------------------------------- the command


def test_the_command(tmp_path: Path, capsys: Capture) -> None:
    made = {name: make() for name, make in POLICIES.items()} | {"normal": normal()}
    for name, p in made.items():
        path, page = tmp_path / f"{name}.json", tmp_path / f"{name}.html"
        p.save(path)
        assert main(["report", str(path), "-o", str(page)]) == 0
        out = capsys.readouterr().out
        assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
        assert out.startswith(("Flag scores ≥", "Flag s ≥"))
        assert main(["report", str(path), "--json"]) == 0
        plain = json.loads(capsys.readouterr().out)
        known = plain if name == "normal" else plain["scores"][0]
        assert known["verdict"]["state"] == "usable"
    made["common"].revised(threshold=0.5).save(tmp_path / "low.json")
    assert main(["report", str(tmp_path / "low.json")]) == 3
    out = capsys.readouterr().out
    assert out.startswith("This threshold can't be guaranteed to meet fpr ≤ 0.05 in each group")


def test_weighted_rows() -> None:
    y, x, country = rows(["de", "fr"])
    w = np.random.default_rng(3).random(len(y)) + 0.1
    s = cs.sweeps_by_group(y, x, country, weight=w, squares=True)
    p = cs.Policy.choose_groups(s, COSTS, thresholds="group")
    summary = summarise_policy(p)
    assert isinstance(summary, Summary)
    assert summary.group_results is not None
    first = summary.group_results.rows[0]
    c = p.group_point.confusions[first.name]
    assert first.measures["cost"].value == pytest.approx(float(COSTS(c)))
    json.dumps(summary.as_dict(), allow_nan=False)
    aim = cs.Aim("recall", "fpr <= 5 %", confidence=0.9)
    z = cs.sweep(np.zeros(4000), x, w, squares=True)
    light = summarise_policy(cs.Policy.choose(z, aim))
    assert isinstance(light, NormalSummary)
    assert light.rows is None
    assert f"normal rows of weight {z.N:,.6g}" in words_of(render(light))
    assert light.as_dict()["rows"]["count"] is None


def test_what_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[Any] = []
    monkeypatch.setattr("cutscore.policy.tracking.log", lambda *of: logged.append(of))
    p = normal()
    summarise_policy(p).log("x.")
    summarise_policy(POLICIES["own"]()).log()
    (metrics, params, files, prefix), (_, of_groups, _, _) = logged
    promise = p.promises["fpr"]
    assert metrics["fpr"] == (promise.value, promise.low, promise.high)
    assert (params["threshold"], prefix, list(files)) == (repr(p.threshold), "x.", ["report.html"])
    assert of_groups["threshold"] == "by group"
