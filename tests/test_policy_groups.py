"""Policies for rows of several groups: files, decisions, revision, checks and merging."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import cutscore as cs
from cutscore.core.findings.rows import GroupUnknown, ValueMissing
from cutscore.decision.group_folds import expect_groups
from cutscore.policy import Cuts, Policy
from cutscore.policy.groups import group_text

SCHEMA = json.loads(
    (Path(cs.__file__).parent / "policy" / "policy.schema.json").read_text(encoding="utf-8")
)
COSTS = cs.Costs(fp=1, fn=10)


def rows(n: int = 6000, seed: int = 5) -> tuple[Any, Any, Any]:
    """Labels, scores and countries."""
    rng = np.random.default_rng(seed)
    country = rng.choice(["de", "fr", "pl", "lu", "mt"], n, p=[0.6, 0.25, 0.13, 0.01, 0.01])
    y = rng.random(n) < 0.2
    higher = np.select([country == "fr", country == "pl"], [0.4, 0.8])
    return y, rng.normal(size=n) + np.where(y, 2.5, higher), country


def sweeps(n: int = 6000, seed: int = 5, sign: float = 1.0) -> cs.GroupSweeps:
    y, x, country = rows(n, seed)
    return cs.sweeps_by_group(y, sign * x, country)


def common(**more: Any) -> Policy:
    options = {"each": "fpr <= 5 %", "confidence": 0.95} | more
    return Policy.choose_groups(sweeps(), "recall", column="country", **options)


def own(**more: Any) -> Policy:
    return Policy.choose_groups(sweeps(), COSTS, column="country", thresholds="group", **more)


POLICIES = {
    "common": common(),
    "own": own(),
    "gap": own(gap="recall <= 5 %"),
    "reverse": Policy.choose_groups(
        sweeps(sign=-1.0), COSTS, column="country", thresholds="group", reverse=True
    ),
    "corners": own(evidence="corners"),
    "one class": Policy.choose_groups(
        {"a": cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "b": cs.sweep([0, 0], [2, 5])},
        COSTS,
        thresholds="group",
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_files_come_back(name: str) -> None:
    p = POLICIES[name]
    text = p.to_json()
    again = Policy.from_json(text)
    assert again == p
    assert again.to_json() == text
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert repr(again) == repr(p)
    assert again.confusion == p.confusion


def test_policies_without_groups_are_written_as_before() -> None:
    data = json.loads(Policy.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "f1").to_json())
    assert "groups" not in data
    assert data["cuts"]["groups"] == {}


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_thresholds_are_those_of_choose_groups(sign: float) -> None:
    point = cs.choose_groups(sweeps(), COSTS, thresholds="group", gap="fpr <= 2 %")
    p = Policy.choose_groups(
        sweeps(sign=sign), COSTS, thresholds="group", gap="fpr <= 2 %", reverse=sign < 0
    )
    assert {name: t for name, (t,) in p.cuts.groups.items()} == pytest.approx(
        {name: sign * t for name, t in point.thresholds.items()}
    )
    _, x, country = rows(500, 9)
    assert np.array_equal(p.decide(sign * x, country), point.decide(x, country))


def test_one_threshold_decides_without_groups() -> None:
    p = common()
    point = cs.choose_groups(sweeps(), "recall", each="fpr <= 5 %", confidence=0.95)
    assert p.threshold == point.common
    assert p.groups is not None
    assert p.groups.each == ("fpr <= 0.05",)
    assert p.decide([p.threshold, p.threshold - 1]).tolist() == [True, False]
    assert set(p.groups.pooled) == {"lu", "mt"}


def test_ties_are_flagged_and_types_of_names_do_not_matter() -> None:
    parts = {
        49: cs.sweep([1, 0, 1, 0], [4, 3, 3, 1]),
        33: cs.sweep([1, 0, 1, 0], [9, 6, 7, 6]),
    }
    p = Policy.choose_groups(parts, "youden", thresholds="group")
    cuts = {name: t for name, (t,) in p.cuts.groups.items()}
    assert set(cuts) == {"49", "33"}
    for names in ([49, 33], ["49", "33"], [49.0, 33.0], np.array([49, 33])):
        x = [cuts["49"], cuts["33"]]
        assert p.decide(x, names).tolist() == [True, True]
        assert p.decide(np.nextafter(x, -np.inf), names).tolist() == [False, False]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            ("de", "de"),
            (7, "7"),
            (7.0, "7"),
            (0.5, "0.5"),
            (np.int8(3), "3"),
            (1e20, "1" + 20 * "0"),
        ),
        *((True, "true"), (np.bool_(False), "false"), (date(2026, 1, 31), "2026-01-31")),
        *((None, None), (float("nan"), None)),
    ],
)
def test_names_of_groups(value: object, text: str | None) -> None:
    assert group_text(value) == text


def test_groups_unseen_missing_or_not_given() -> None:
    p = own()
    with pytest.raises(cs.DataError) as unseen:
        p.decide([1.0, 2.0], ["de", "it"])
    assert isinstance(unseen.value.finding, GroupUnknown)
    assert unseen.value.finding.group == "it"
    with pytest.raises(cs.DataError) as missing:
        p.decide([1.0, 2.0], ["de", None])
    assert isinstance(missing.value.finding, ValueMissing)
    with pytest.raises(cs.DataError, match="each 'country' has a threshold of its own"):
        p.decide([1.0])
    with pytest.raises(cs.DataError, match="one groups for each scores"):
        p.decide([1.0], ["de", "de"])
    with pytest.raises(cs.UndefinedError, match="each group has a threshold of its own"):
        _ = p.threshold
    with pytest.raises(cs.UndefinedError, match="knows of no groups"):
        _ = Policy.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "f1").group_point


def test_cuts_have_one_kind_of_thresholds() -> None:
    assert Cuts((), {"a": (1,)}).groups == {"a": (1.0,)}
    for thresholds, groups in (((1.0,), {"a": (1.0,)}), ((), {"a": (1.0, 2.0)}), ((), {})):
        with pytest.raises(cs.DataError):
            Cuts(thresholds, groups)
    with pytest.raises(cs.DataError, match="text"):
        Policy.choose_groups({1: sweeps()["de"], "1": sweeps()["fr"]}, "youden")


# ---------------------------------------------------------------------------------------- revision


def test_revised_is_what_choosing_again_finds() -> None:
    dearer = cs.Costs(fp=1, fn=50)
    again = Policy.choose_groups(sweeps(), dearer, column="country", thresholds="group")
    assert own().revised(costs=dearer).cuts == again.cuts
    assert own().revised(costs=dearer) == again
    stricter = common(each="fpr <= 4.5 %")
    assert common().revised(each="fpr <= 4.5 %").cuts == stricter.cuts
    sure = common(confidence=0.9)
    assert common().revised(confidence=0.9).cuts == sure.cuts
    free = common().revised(drop_limits=True)
    assert free.groups is not None
    assert free.groups.each == ()
    assert free.aim.confidence is None
    gaps = own().revised(gap="recall <= 1 %")
    assert gaps.cuts == own(gap="recall <= 1 %").cuts


def test_revised_by_hand() -> None:
    p = common().revised(threshold=1.5)
    assert p.given
    assert p.threshold == 1.5
    y, x, country = rows()
    here = (x[y & (country == "fr")] >= 1.5).mean()
    assert p.groups is not None
    assert p.groups.promises["fr"]["recall"].value == pytest.approx(here)
    with pytest.raises(cs.DataError, match="each group has a threshold of its own"):
        own().revised(threshold=1.5)
    with pytest.raises(cs.DataError, match="knows of no groups"):
        Policy.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "f1").revised(each="fpr <= 5 %")
    with pytest.raises(cs.UndefinedError) as compact:
        own(evidence="corners").revised(costs=cs.Costs(fp=1, fn=50))
    assert compact.value.finding.code == "sweep-compact"


# ------------------------------------------------------------------------------------------ checks


@pytest.mark.parametrize("name", ["common", "own", "reverse"])
def test_rows_like_the_evidence_agree(name: str) -> None:
    p = POLICIES[name]
    y, x, country = rows(seed=6)
    found = p.check(y, -x if p.reverse else x, groups=country)
    assert found.state.value == "agrees"
    assert {one.group for one in found.promises} == {None, "de", "fr", "pl", "lu", "mt"}
    for one in found.promises:
        if one.name == "recall" and one.observed is not None:
            own_rows = y & ((country == one.group) | (one.group is None))
            flagged = p.decide(-x if p.reverse else x, country)
            assert one.observed.value == pytest.approx(flagged[own_rows].mean())
    data = found.to_dict()
    assert "group" not in data["promises"][0]
    assert data["promises"][-1]["group"] in ("de", "fr", "pl", "lu", "mt")


def test_a_limit_is_broken_in_one_group() -> None:
    p = common()
    y, x, country = rows(seed=6)
    found = p.check(y, x + 1.5 * (country == "fr"), groups=country)
    states = {one.group: one.state for one in found.limits}
    assert states["fr"] == "broken"
    assert states["de"] == "holds"
    assert found.headline.startswith("Limit violated: fpr <= 0.05 in 'fr'")
    assert not found.ok


def test_small_groups_are_checked_together() -> None:
    p = common()
    y, x, country = rows(seed=6)
    found = p.check(y, x, groups=country)
    assert [one.group for one in found.limits][-1] == "other groups"


def test_a_gap_is_broken() -> None:
    p = POLICIES["gap"]
    y, x, country = rows(seed=6)
    found = p.check(y, x - 1.0 * (country == "fr"), groups=country)
    (gap,) = found.limits
    assert gap.limit == "gap(recall) <= 0.05"
    assert gap.state == "broken"
    rates = [one.observed.value for one in found.promises if one.name == "recall" and one.group]
    assert gap.observed is not None
    assert gap.observed.value == pytest.approx(max(rates) - min(rates))


def test_checks_need_groups_if_and_only_if_the_policy_has() -> None:
    y, x, country = rows(500)
    with pytest.raises(cs.DataError, match="knows of groups by 'country'"):
        own().check(y, x)
    with pytest.raises(cs.DataError, match="knows of no groups"):
        Policy.choose(sweeps().total, "f1").check(y, x, groups=country)


# ---------------------------------------------------------------------------------------- promises


def test_expected_rates_are_less_than_those_of_the_choice() -> None:
    """On few rows a choice looks better than it is."""
    over = []
    for seed in range(20):
        point = cs.choose_groups(sweeps(400, seed), cs.Costs(fp=1, fn=2), thresholds="group")
        over.append(expect_groups(point).total["cost"].value - point.value)
    assert np.mean(over) > 0
    given = expect_groups(point, given=True).total["cost"].value
    assert given == pytest.approx(point.value)


def test_where_the_choice_can_not_be_made_again_rates_have_a_band() -> None:
    y, x, country = rows(2000)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    parts = cs.sweeps_by_group(y, x, country, weight=weight, squares=True)
    p = Policy.choose_groups(parts, COSTS, column="country", thresholds="group")
    assert Policy.from_json(p.to_json()) == p
    assert p.groups is not None
    found = p.groups.promises["de"]
    assert set(found) == {"recall", "fpr", "flagged_rate"}
    assert found["recall"].value == pytest.approx(p.group_point.confusions["de"].recall)
    assert found["recall"].high - found["recall"].low > 0.05
    assert p.check(y, x, weight, groups=country).ok
    # Without squares nobody knows how many rows the weights are worth.
    parts = cs.sweeps_by_group(y, x, country, weight=weight)
    p = Policy.choose_groups(parts, COSTS, column="country", thresholds="group")
    assert p.groups is not None
    assert p.groups.promises["de"] == {}


# ----------------------------------------------------------------------------------------- merging


def test_merging_chooses_on_the_rows_of_both() -> None:
    y, x, country = rows()
    half = np.arange(len(y)) < 3000
    a, b = (cs.sweeps_by_group(y[k], x[k], country[k]) for k in (half, ~half))
    options: dict[str, Any] = {"column": "country", "thresholds": "group"}
    both = Policy.choose_groups(a, COSTS, **options) + Policy.choose_groups(b, COSTS, **options)
    whole = own()
    assert both.cuts.groups == whole.cuts.groups
    with pytest.raises(cs.DataError, match="groups"):
        _ = own() + Policy.choose(sweeps(seed=8).total, COSTS)
    with pytest.raises(cs.DataError, match="groups"):
        _ = own() + Policy.choose_groups(sweeps(seed=8), COSTS, column="land", thresholds="group")
