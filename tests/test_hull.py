"""The hull: against gift wrapping in fractions, against isotonic regression, and for every cost."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st

import cutscore as cs
import oracle
from cutscore.core.findings.base import shown
from raising import finding
from strategies import Case, rows, weights


def wrapped(t: oracle.Table) -> list[oracle.Point]:
    """The upper hull by gift wrapping: from each vertex to the point of the steepest slope, and to
    the farthest of those."""
    points = oracle.points(t)
    out, at = [points[0]], 0
    while at < len(points) - 1:
        rest = range(at + 1, len(points))

        def steepness(k: int, at: int = at) -> tuple[Any, ...]:
            up, right = points[k].tp - points[at].tp, points[k].fp - points[at].fp
            return (1, 0, k) if right == 0 else (0, up / right, k)

        at = max(rest, key=steepness)
        out.append(points[at])
    return out


def same(h: cs.Hull, vertices: list[oracle.Point]) -> None:
    assert [Fraction(x) for x in h.tp.tolist()] == [v.tp for v in vertices]
    assert [Fraction(x) for x in h.fp.tolist()] == [v.fp for v in vertices]


@given(rows(both=True))
def test_hull_is_that_of_fractions(case: Case) -> None:
    s = cs.sweep(*case)
    h, t = cs.hull(s), oracle.table(*case)
    vertices = wrapped(t)
    same(h, vertices)
    assert h.tp.dtype == np.int64
    for slope, odds, (a, b) in zip(h.slope, h.odds, pairwise(vertices), strict=True):
        if a.fp == b.fp:
            assert slope == odds == np.inf
        else:
            exact = (b.tp - a.tp) / (b.fp - a.fp)
            assert odds == float(exact)
            assert slope == pytest.approx(float(exact * t.N / t.P), rel=4e-16)
    area = sum(
        ((b.fp - a.fp) * (a.tp + b.tp) / 2 for a, b in pairwise(vertices)), start=Fraction(0)
    )
    assert h.auc == float(area / (t.P * t.N))
    flagged = [np.inf, *s.threshold[h.cut[1:] - 1].tolist()]
    assert h.threshold.tolist() == flagged
    assert h.fpr.tolist() == [float(v.fp / t.N) for v in vertices]


@given(rows(both=True), st.data())
def test_hull_of_weights(case: Case, data: st.DataObject) -> None:
    w = data.draw(weights(len(case.y), exact=True))
    if not (w[case.y == 1].sum() and w[case.y == 0].sum()):
        return
    same(cs.hull(cs.sweep(*case, w)), wrapped(oracle.table(*case, w)))


def test_hull_of_any_weights_is_concave_and_above() -> None:
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-150, 1e150, 1e-290, 1e290):
        y = rng.integers(0, 2, 3000)
        s = cs.sweep(y, rng.standard_normal(3000).round(2) + y, scale * rng.exponential(size=3000))
        h = cs.hull(s)
        assert (np.diff(h.slope) < 0).all()
        above = np.interp(s.fp / s.N, h.fpr, h.tpr) - s.tp / s.P
        assert above.min() > -1e-12
        assert h.auc >= s.auc


@pytest.mark.parametrize("w", [1.0, 1e-200, 1e200, 1e-300, 1e300])
def test_hull_does_not_depend_on_the_scale_of_weights(w: float) -> None:
    y = [1, 0, 1, 1, 0, 1, 0, 0]
    s = cs.sweep(y, np.arange(8)[::-1], [w] * 8)
    assert cs.hull(s).cut.tolist() == cs.hull(cs.sweep(y, np.arange(8)[::-1])).cut.tolist()
    assert cs.thresholds_for(s, [0.05])[0] == cs.choose(s, cs.Costs(fp=1, fn=20)).threshold


def test_ratios_of_any_kind() -> None:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], np.arange(8)[::-1])
    one = cs.Costs(fp=1, fn=20)
    for several in ([Decimal("0.05"), Fraction(1, 20), one], (r for r in (0.05, 0.05, one))):
        assert cs.thresholds_for(s, several).tolist() == 3 * cs.thresholds_for(s, [0.05]).tolist()


def test_hull_of_extreme_weights() -> None:
    h = cs.hull(cs.sweep([1, 0, 1], [2, 1, 0], [1e300, 1e-300, 5e-324]))
    assert h.slope.tolist() == [np.inf, 0.0]


def test_counts_past_what_floats_tell_apart() -> None:
    # Slopes that differ by less than 1e-30: only products of 128 bits see the order.
    big = 2**51
    for shift, vertices in ((1, 3), (0, 2), (-1, 2)):
        s = cs.Sweep.from_counts([2, 1], [big // 2 + shift, big // 2], [big // 2, big // 2 + shift])
        assert len(cs.hull(s)) == vertices
        same(
            cs.hull(s),
            wrapped(
                oracle.Table([2, 1], *(list(map(Fraction, m.tolist())) for m in (s.pos, s.neg)))
            ),
        )


@given(rows(both=True))
def test_slopes_are_the_odds_of_isotonic_regression(case: Case) -> None:
    s = cs.sweep(*case)
    h = cs.hull(s)
    mass = s.pos + s.neg
    fit = scipy.optimize.isotonic_regression((s.pos / mass)[::-1], weights=mass[::-1]).x[::-1]
    with np.errstate(divide="ignore"):
        isotonic = fit / (1 - fit)
    mine = np.repeat(h.slope * (s.P / s.N), np.diff(h.cut))
    at_most = np.isfinite(mine) & (fit < 1)
    np.testing.assert_allclose(mine[at_most], isotonic[at_most], rtol=1e-12, atol=1e-12)
    assert (fit[~at_most] > 1 - 1e-12).all()


@given(rows(both=True), st.fractions(0, 20, max_denominator=50))
def test_vertices_are_best_for_every_ratio(case: Case, ratio: Fraction) -> None:
    s, t = cs.sweep(*case), oracle.table(*case)
    points = oracle.points(t)

    def cost(point: oracle.Point) -> Fraction:
        return ratio * point.fp + t.P - point.tp

    least = min(map(cost, points))
    h = cs.hull(s)
    vertices = [points[k] for k in h.cut]
    assert min(map(cost, vertices)) == least
    # By one binary search, and the fewest false alarms of the best; but where scores are +inf, no
    # threshold flags nothing.
    threshold = cs.thresholds_for(s, [float(ratio)])[0]
    if Fraction(float(ratio)) == ratio:
        possible = range(int(s.threshold[0] == np.inf), len(points))
        best = min(possible, key=lambda k: (cost(points[k]), points[k].fp, -points[k].tp))
        assert s.at(threshold).flagged == points[best].tp + points[best].fp


def test_thresholds_for_another_prior_and_many_ratios() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    s = cs.sweep(y, (rng.standard_normal(500) + y).round(1))
    ratios = np.concatenate(([0.0, 1e9, np.inf], rng.exponential(size=50)))
    for prior in (None, 0.001, 0.7):
        thresholds = cs.thresholds_for(s, ratios, prior=prior)
        for ratio, threshold in zip(ratios.tolist(), thresholds.tolist(), strict=True):
            if np.isfinite(ratio):
                p = cs.choose(s, cs.Costs(fp=ratio, fn=1), prior=prior)
                assert p.threshold == threshold
    assert (
        cs.thresholds_for(s, [cs.Costs(fp=1, fn=20), 0.05]).tolist()
        == [cs.choose(s, cs.Costs(fp=1, fn=20)).threshold] * 2
    )
    # Where misses cost nothing: all that is caught without a false alarm.
    assert cs.thresholds_for(s, [np.inf])[0] == cs.choose(s, cs.Costs(fp=1, fn=0)).threshold


# ------------------------------------------------------------------------------ several classifiers


@given(
    st.lists(rows(both=True, most=12), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4),
)
def test_joint_hull(cases: list[Case], spots: list[tuple[int, int]]) -> None:
    sweeps = [cs.sweep(*case) for case in cases]
    plain = [(a / 8, b / 8) for a, b in spots]
    h = cs.hull([*sweeps, *plain])
    # All points of all classifiers together, and the trivial ones.
    everything = {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    for case in cases:
        t = oracle.table(*case)
        everything |= {(p.fp / t.N, p.tp / t.P) for p in oracle.points(t)}
    everything |= {(Fraction(a, 8), Fraction(b, 8)) for a, b in spots}
    points = sorted(everything, key=lambda xy: (xy[0], xy[1]))
    vertices, at = [points[0]], points[0]
    while at != (1, 1):
        x, y = at
        rest = [p for p in points if p[0] >= x and p[1] >= y and p != at]
        at = max(rest, key=lambda p: (1, p[1]) if p[0] == x else (0, (p[1] - y) / (p[0] - x), p[0]))
        vertices.append(at)
    assert h.fpr.tolist() == [float(x) for x, _ in vertices]
    assert h.tpr.tolist() == [float(y) for _, y in vertices]
    for k, fpr, tpr, threshold in zip(h.classifier, h.fpr, h.tpr, h.threshold, strict=True):
        if k < 0:
            assert (fpr, tpr) in ((0.0, 0.0), (1.0, 1.0))
        elif k < len(sweeps):
            c = sweeps[k].at(threshold)
            assert (c.fpr, c.recall) == (fpr, tpr)
        else:
            assert plain[k - len(sweeps)] == (fpr, tpr)
            assert np.isnan(threshold)


def test_ranges_tell_who_is_best_where() -> None:
    s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1])
    h = cs.hull({"score": s, "rule": (0.1, 0.6), "bad": (0.5, 0.5)})
    assert h.ranges(prior=0.5) == [("score", 0.0, 1.0), ("rule", 1.0, 3.5), ("score", 3.5, np.inf)]
    shifted = h.ranges(prior=0.2)
    assert [r.name for r in shifted] == ["score", "rule", "score"]
    assert shifted[1].low == pytest.approx(0.25)
    for prior in (0.5, 0.2):
        for r in h.ranges(prior=prior):
            ratio = r.low + 0.1 if np.isinf(r.high) else (r.low + r.high) / 2
            cost = {"rule": ratio * (1 - prior) * 0.1 + prior * 0.4}
            p = cs.choose(s, cs.Costs(fp=ratio, fn=1), prior=prior)
            cost["score"] = p.value
            assert min(cost, key=lambda name: cost[name]) == r.name
    assert repr(h) == "JointHull of 5 vertices, area 0.8625: score, rule"
    assert "never best" in h._repr_html_()
    assert "<i>" not in cs.hull({"<i>": s})._repr_html_()


def test_flagging_all_or_none_may_be_best() -> None:
    h = cs.hull([(0.5, 0.6)])
    ranges = h.ranges(prior=0.5)
    assert [r.name for r in ranges] == ["flag all", "0", "flag none"]
    assert [r.low for r in ranges] == pytest.approx([0, 0.8, 1.2])


@pytest.mark.parametrize(
    ("given_", "subject", "value"),
    [
        ([], "", "[]"),
        ({}, "", "{}"),
        (3, "", 3),
        ([(0.5, 1.5)], "classifier 0", "(0.5, 1.5)"),
        ({"x": (0.5, np.nan)}, "classifier x", "(0.5, nan)"),
        ([(1, 2, 3)], "classifier 0", "(1, 2, 3)"),
        ([None], "classifier 0", None),
    ],
)
def test_bad_classifiers(given_: Any, subject: str, value: Any) -> None:
    with finding("bad-argument", cs.DataError, parameter="s", subject=subject) as error:
        cs.hull(given_)
    assert shown(error.value.finding.value) == str(value)


def test_one_class() -> None:
    with finding("one-class", cs.UndefinedError):
        cs.hull(cs.sweep([1, 1], [1, 2]))
    with pytest.raises(cs.UndefinedError):
        cs.hull([cs.sweep([], [])])


@pytest.mark.parametrize(
    ("ratios", "rule"),
    [
        ([-1], "be at least 0"),
        ([np.nan], "be at least 0"),
        (["1"], "be numbers or Costs"),
        (np.array([None], object), "be numbers or Costs"),
    ],
)
def test_bad_ratios(ratios: Any, rule: str) -> None:
    with finding("bad-argument", cs.DataError, parameter="cost_ratios", rule=rule):
        cs.thresholds_for(cs.sweep([1, 0], [2, 1]), ratios)
