"""What notebooks show of a result: a card, whose text is escaped and whose numbers are short."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import cutscore as cs
from cutscore.core.html import Card, fact_table, grid_table
from cutscore.core.numbers import estimate_text

RNG = np.random.default_rng(0)
Y = RNG.random(400) < 0.3
P = 1 / (1 + np.exp(1.5 - RNG.standard_normal(400) - 1.5 * Y))
S = cs.sweep(Y, P)

RESULTS: dict[str, Callable[[], Any]] = {
    "Sweep": lambda: S,
    "BinnedSweep": lambda: cs.BinnedSweep.of(Y, P),
    "Roc": lambda: cs.roc(S),
    "PrecisionRecall": lambda: cs.pr(S),
    "Det": lambda: cs.det(S),
    "Gain": lambda: cs.gain(S),
    "Lift": lambda: cs.lift(S),
    "Hull": lambda: cs.hull(S),
    "JointHull": lambda: cs.hull({"a": S, "b": (0.1, 0.2)}),
    "CostCurve": lambda: cs.cost_curve(S),
    "NetBenefit": lambda: cs.net_benefit(S),
    "NetBenefitAt": lambda: cs.net_benefit_at(S, [0.2, 0.4]),
    "Reliability": lambda: cs.reliability(S, n=20),
    "Decomposition": lambda: cs.decompose(S),
    "Interval": lambda: cs.auc_interval(S),
    "Bootstrap": lambda: cs.bootstrap(S, n=50),
    "Band": lambda: cs.roc_band(S),
    "SmoothRoc": lambda: cs.smooth_roc(S),
    "CurvePoint": lambda: cs.sensitivity_at(S, 0.9),
    "Comparison": lambda: cs.compare(Y, P, 1 - P),
    "AucCovariance": lambda: cs.auc_covariance(Y, {"a": P, "b": 1 - P}),
    "CurveTest": lambda: cs.compare_curves(Y, P, 1 - P, n=20),
    "GroupAuc": lambda: cs.by_group(Y, P, np.arange(400) % 3),
    "CalibrationLine": lambda: cs.calibration_line(S),
    "PriorShift": lambda: cs.prior_shift(S, P),
    "CorrectedPrevalence": lambda: cs.corrected_prevalence(S.at(0.5), 30, 100),
    "Agreement": lambda: cs.cohen_kappa(Y, P > 0.5),
    "Affine": lambda: cs.calibrate(S, "platt"),
    "OperatingPoint": lambda: cs.choose(S, "f1"),
    "Expected": lambda: cs.choose(S, "f1").expected,
    "Stability": lambda: cs.choose(S, "f1").stability(20),
    "Confusion": lambda: S.at(0.5),
    "Margins": lambda: cs.Margins(np.array([-1.0, 2.0])),
}


class Balance(HTMLParser):
    """Text of a page, whose tags must be closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """Nothing is left open."""

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_card(name: str) -> None:
    value = RESULTS[name]()
    assert type(value).__name__ == name
    words = " ".join(Balance(value._repr_html_()).text)
    assert re.search(r"\d", words)
    assert "nan" not in words
    assert not re.search(r"\d\.\d{9}", words)  # full precision is for JSON


def test_an_infeasible_point_says_so_first() -> None:
    p = cs.choose(S, "recall", subject_to=["precision >= 0.99", "recall >= 0.99"])
    first, *rest = Balance(p._repr_html_()).text
    assert first == "No threshold meets precision ≥ 0.99 and recall ≥ 0.99"
    assert any("the closest one is shown" in text for text in rest)
    fine = Balance(cs.choose(S, "f1")._repr_html_()).text
    assert fine[0] == "Operating point"


def test_a_score_no_better_than_chance_says_so_first() -> None:
    p = cs.choose(cs.sweep(Y, RNG.random(400)), "f1")
    assert Balance(p._repr_html_()).text[0].startswith("Not significantly better than chance")


def test_a_range_that_is_guaranteed_is_rounded_outwards() -> None:
    b = cs.BinnedSweep.of(Y, P, bits=12)
    words = next(text for text in Balance(b._repr_html_()).text if "guaranteed" in text)
    low, high = map(float, re.findall(r"\d\.\d+", words))
    assert low <= b.auc.low <= S.auc <= b.auc.high <= high
    certain = Balance(cs.Interval(0.25, 0.75)._repr_html_()).text
    assert certain == ["0.250–0.750", "guaranteed to contain the value"]


def test_one_class_and_no_rows_have_cards() -> None:
    for value in (cs.sweep([], []), cs.sweep([1], [1]), cs.BinnedSweep.of([1], [1])):
        assert "<svg" not in value._repr_html_()
        assert "AUC" not in value._repr_html_()
    Balance(cs.choose(cs.sweep([1, 1], [1, 2]), "recall")._repr_html_())


def test_values_and_intervals_have_the_same_decimals() -> None:
    assert estimate_text(0.8, cs.Interval(0.75, 0.9, 0.95)) == "0.800 (95 % CI 0.750–0.900)"
    assert estimate_text(0.0, cs.Interval(-0.1, 0.1, 0.9)) == "0.000 (90 % CI −0.100 to 0.100)"
    assert estimate_text(-1e-5, cs.Interval(-0.1, 0.1, 0.9)) == "0.000 (90 % CI −0.100 to 0.100)"


def test_text_of_data_is_escaped() -> None:
    class Odd(Card):
        def __repr__(self) -> str:
            return "<script>"

    for page in (
        Odd()._repr_html_(),
        fact_table("<script>", {"<script>": "<script>"}, warning="<script>"),
        grid_table("<script>", ("<script>",), [("<script>", "<script>")], "<script>"),
    ):
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
