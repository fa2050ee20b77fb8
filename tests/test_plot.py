"""Plots draw what they are given: the data on the axes are checked, not pixels."""

from __future__ import annotations

import numpy as np
import pytest

import cutpoint as cp

pytest.importorskip("matplotlib")


@pytest.fixture
def s():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    return cp.sweep(y, rng.standard_normal(3000) + 1.5 * y)


def curve_of(ax, n=0):
    return [line for line in ax.lines if line.get_gid() == "curve"][n].get_xydata()


def test_roc_draws_every_point_of_a_small_curve(s):
    curve = cp.roc(s)
    xy = curve_of(cp.plot.roc(curve))
    assert np.array_equal(xy, np.column_stack((curve.fpr, curve.tpr)))


def test_large_curves_are_thinned_below_what_a_picture_shows():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.5
    curve = cp.roc(cp.sweep(y, rng.standard_normal(200_000) + y))
    xy = curve_of(cp.plot.roc(curve))
    assert len(xy) < 10_000
    assert tuple(xy[0]) == (0, 0)
    assert tuple(xy[-1]) == (1, 1)
    drawn = np.interp(curve.fpr, xy[:, 0], xy[:, 1])
    assert np.abs(drawn - curve.tpr).max() < 2e-3


def test_a_second_curve_gets_its_own_colour_and_legend(s):
    ax = cp.plot.roc(cp.roc(s), label="a")
    assert cp.plot.roc(cp.roc(s), ax, label="b", linestyle=":") is ax
    lines = [line for line in ax.lines if line.get_gid() == "curve"]
    assert lines[0].get_color() != lines[1].get_color()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"]


def test_pr_gain_lift_det_and_distributions(s):
    pr, gain = cp.pr(s), cp.gain(s)
    assert curve_of(cp.plot.pr(pr))[:, 1].tolist() == pr.precision.tolist()
    assert curve_of(cp.plot.gain(gain))[:, 1].tolist() == gain.gain.tolist()
    assert curve_of(cp.plot.lift(gain))[:, 1].tolist() == gain.lift[1:].tolist()
    xy = curve_of(cp.plot.det(cp.det(s)))
    assert np.isfinite(xy).all()  # points at 0 and 1 have no place on these axes
    ax = cp.plot.distributions(s, bins=20)
    areas = [np.sum(p.get_data().values * np.diff(p.get_data().edges)) for p in ax.patches]
    assert areas == pytest.approx([1.0] * 4)


def test_odd_sweeps_draw_without_a_warning():
    for y, score in (
        ([1, 0], [1.0, 1.0]),
        ([1, 0, 1], [np.inf, -np.inf, 0.0]),
        ([1, 0], [np.inf, np.inf]),
        ([0, 1], [1e300, -1e300]),
    ):
        s = cp.sweep(y, score)
        for plot, curve in (
            (cp.plot.roc, cp.roc),
            (cp.plot.pr, cp.pr),
            (cp.plot.det, cp.det),
            (cp.plot.gain, cp.gain),
            (cp.plot.lift, cp.gain),
        ):
            plot(curve(s)).figure.canvas.draw()
        cp.plot.distributions(s).figure.canvas.draw()
    cp.plot.distributions(cp.sweep([0, 0], [1.0, 2.0])).figure.canvas.draw()
