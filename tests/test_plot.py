"""Plots draw what they are given: the data on the axes are checked, not pixels."""

from __future__ import annotations

from io import BytesIO

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


def saved(figure):
    """Drawn for real: some errors and warnings wait until then."""
    figure.savefig(BytesIO(), format="png")
    return figure


NEXT = np.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    "score",
    [
        [-1e308, 1e308, 0.0],
        [1e300, 1e300, 1e300],
        [1e300, np.nextafter(1e300, np.inf), 1e300],
        [1.0, NEXT, 1.0],
        [0.0, 5e-324, -5e-324],
        [0.0, 1e-199, 5e-200],
        [-np.inf, np.inf, 1e308],
    ],
    ids=str,
)
def test_scores_of_any_size_have_a_histogram_of_area_1(score):
    for weight in (None, [1e307] * 3, [5e-324] * 3):
        ax = cp.plot.distributions(cp.sweep([1, 0, 1], score, weight))
        saved(ax.figure)
        data = [patch.get_data() for patch in ax.patches]
        assert [np.sum(d.values * np.diff(d.edges)) for d in data] == pytest.approx([1.0] * 4)


def test_overview_of_extreme_scores_and_distributions_of_none():
    saved(cp.plot.overview(cp.sweep([1, 0, 1], [-1e308, 1e308, 0.0])))
    assert saved(cp.plot.distributions(cp.sweep([], [])).figure).axes[0].get_legend() is None


@pytest.mark.parametrize("label", ["$x_$", "$", r"\frac{", "<script>", "a\nb", "", "_hidden"])
def test_a_label_is_text_and_no_formula(s, label):
    ax = cp.plot.roc(cp.roc(s), label=label)
    saved(ax.figure)
    if label and not label.startswith("_"):  # which matplotlib keeps out of legends
        assert [t.get_text() for t in ax.get_legend().get_texts()] == [label]


def test_what_is_drawn_must_be_computed_first(s):
    for draw, given, call in (
        (cp.plot.roc, s, r"draws a Roc; got a Sweep. Call plot\.roc\(cp\.roc\(s\)\)"),
        (cp.plot.roc, cp.det(s), "draws a Roc; got a Det"),
        (cp.plot.pr, cp.roc(s), r"plot\.pr\(cp\.pr\(s\)\)"),
        (cp.plot.det, None, r"plot\.det\(cp\.det\(s\)\)"),
        (cp.plot.gain, s, r"plot\.gain\(cp\.gain\(s\)\)"),
        (cp.plot.lift, s, r"plot\.lift\(cp\.gain\(s\)\)"),
        (cp.plot.distributions, cp.roc(s), r"draws a Sweep; got a Roc"),
        (cp.plot.overview, cp.roc(s), r"plot\.overview\(cp\.sweep\(y, score\)\)"),
    ):
        with pytest.raises(cp.DataError, match=call):
            draw(given)
