"""Plots draw what they are given: the data on the axes are checked, not pixels."""

from __future__ import annotations

import itertools
from io import BytesIO

import numpy as np
import pytest

import cutscore as cs
from cutscore.core.findings.base import Where
from cutscore.core.numbers import format_like
from detectors import hand_made
from raising import finding

pytest.importorskip("matplotlib")


@pytest.fixture
def s():
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.1
    return cs.sweep(y, rng.standard_normal(3000) + 1.5 * y)


def curve_of(ax, n=0):
    return [line for line in ax.lines if line.get_gid() == "curve"][n].get_xydata()


def test_roc_draws_every_point_of_a_small_curve(s):
    curve = cs.roc(s)
    xy = curve_of(cs.plot.roc(curve))
    assert np.array_equal(xy, np.column_stack((curve.fpr, curve.tpr)))


def test_large_curves_are_thinned_below_what_a_picture_shows():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.5
    curve = cs.roc(cs.sweep(y, rng.standard_normal(200_000) + y))
    xy = curve_of(cs.plot.roc(curve))
    assert len(xy) < 10_000
    assert tuple(xy[0]) == (0, 0)
    assert tuple(xy[-1]) == (1, 1)
    drawn = np.interp(curve.fpr, xy[:, 0], xy[:, 1])
    assert np.abs(drawn - curve.tpr).max() < 2e-3


def test_a_second_curve_gets_its_own_colour_and_legend(s):
    ax = cs.plot.roc(cs.roc(s), label="a")
    assert cs.plot.roc(cs.roc(s), ax, label="b", linestyle=":") is ax
    lines = [line for line in ax.lines if line.get_gid() == "curve"]
    assert lines[0].get_color() != lines[1].get_color()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"]


def test_a_mapping_draws_each_under_its_name(s, probabilities):
    """As one call for each on the same axes, wherever there is a label."""
    other = cs.sweep([1, 0, 1, 0, 1, 0], [0.9, 0.7, 0.6, 0.3, 0.2, 0.1])
    for draw, compute in (
        (cs.plot.roc, cs.roc),
        (cs.plot.hull, cs.hull),
        (cs.plot.pr, cs.pr),
        (cs.plot.det, cs.det),
        (cs.plot.gain, cs.gain),
        (cs.plot.lift, cs.lift),
        (cs.plot.cost_curve, cs.cost_curve),
        (cs.plot.net_benefit, cs.net_benefit),
        (cs.plot.reliability, lambda s: cs.reliability(s, n=10)),
    ):
        several = {"new": compute(probabilities), 2026: compute(other)}
        ax = saved(draw(several, linewidth=3.0).figure).axes[0]
        curves = [line for line in ax.lines if line.get_gid() == "curve"]
        assert [line.get_label() for line in curves] == ["new", "2026"]
        assert {line.get_linewidth() for line in curves} == {3.0}
        one = draw(several["new"], label="new")
        both = draw(several[2026], one, label="2026")
        for k in range(2):
            assert np.array_equal(curve_of(ax, k), curve_of(both, k))
        assert (ax.get_xlim(), ax.get_ylim()) == (both.get_xlim(), both.get_ylim())
        legend = ax.get_legend().get_texts()
        assert texts(legend) == texts(both.get_legend().get_texts())
        assert draw(several, ax) is ax
        assert len([line for line in ax.lines if line.get_gid() == "curve"]) == 4
        name = draw.__name__
        with finding("bad-argument", parameter="label", value="both"):
            draw(several, label="both")
        with finding("bad-argument", parameter=name, rule="have at least one entry"):
            draw({}, ax)
        with finding("bad-argument", parameter=name, subject=f"what plot.{name} draws"):
            draw({"new": 3})
    with finding("bad-argument", parameter="band"):
        cs.plot.roc({"new": cs.roc(s)}, band=cs.roc_band(s))
    with finding("bad-argument", parameter="x", value=0.0):
        cs.plot.cost_curve({"new": cs.cost_curve(s)}, x=0.0)


def test_det_keeps_all_curves_in_sight(s):
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.5
    better = cs.det(cs.sweep(y, rng.standard_normal(20_000) + 4 * y))
    for several in ((cs.det(s), better), (better, cs.det(s))):
        ax = cs.plot.det(dict(zip("ab", several, strict=True)))
        for curve in several:
            (left, bottom), (right, top) = np.transpose([ax.get_xlim(), ax.get_ylim()])
            alone = cs.plot.det(curve)
            assert left <= alone.get_xlim()[0] < alone.get_xlim()[1] <= right
            assert bottom <= alone.get_ylim()[0] < alone.get_ylim()[1] <= top


def test_pr_gain_lift_det_and_distributions(s):
    pr, gain = cs.pr(s), cs.gain(s)
    xy = curve_of(cs.plot.pr(pr))
    assert xy[1:].tolist() == np.column_stack((pr.recall, pr.precision))[-len(xy) + 1 :].tolist()
    assert curve_of(cs.plot.gain(gain))[:, 1].tolist() == gain.gain.tolist()
    for curve in (gain, cs.lift(s)):
        xy = np.column_stack((gain.flagged, gain.lift))[gain.flagged >= 0.01]
        assert np.array_equal(curve_of(cs.plot.lift(curve)), xy)
    xy = curve_of(cs.plot.det(cs.det(s)))
    assert np.isfinite(xy).all()  # points at 0 and 1 have no place on these axes
    ax = cs.plot.distributions(s, bins=20)
    areas = [np.sum(p.get_data().values * np.diff(p.get_data().edges)) for p in ax.patches]
    assert areas == pytest.approx([1.0] * 4)


def test_precision_and_lift_have_no_bar_at_0():
    """The first rows are negative, then positive: both measures jump from 0 to their most."""
    y = np.repeat([0, 1, 0, 1, 0], (3, 20, 1000, 100, 4000))
    s = cs.sweep(y, -np.arange(len(y)))
    for draw in (cs.plot.pr, cs.plot.lift):
        x, height = curve_of(draw(s)).T
        assert np.ptp(height[x < 0.01]) < 0.2 * height.max() if (x < 0.01).any() else True
        assert x[-1] == 1
    # The staircase has the area of the curve, but for the first per cent.
    xy = curve_of(cs.plot.pr(s))
    area = np.sum(np.diff(xy[:, 0]) * xy[1:, 1])
    assert area == pytest.approx(cs.average_precision(s), abs=0.01)
    three = curve_of(cs.plot.pr(cs.sweep([1, 0, 1], [3, 2, 1])))
    assert three[0].tolist() == [0, 1]  # nothing is left out of few rows


def test_a_sweep_is_drawn_as_what_is_computed_from_it(s, probabilities):
    for draw, compute in (
        (cs.plot.roc, cs.roc),
        (cs.plot.hull, cs.hull),
        (cs.plot.pr, cs.pr),
        (cs.plot.det, cs.det),
        (cs.plot.gain, cs.gain),
        (cs.plot.lift, cs.lift),
        (cs.plot.cost_curve, cs.cost_curve),
        (cs.plot.net_benefit, cs.net_benefit),
        (cs.plot.reliability, cs.reliability),
    ):
        own, computed = draw(probabilities), draw(compute(probabilities))
        assert np.array_equal(curve_of(own), curve_of(computed))
        assert (own.get_xlim(), own.get_ylim()) == (computed.get_xlim(), computed.get_ylim())
    ax = cs.plot.roc({"new": s, "old": cs.roc(s)})
    low, high = cs.auc_interval(s)
    area = f"AUC {s.auc:.3f} (95 % CI {low:.3f}–{high:.3f})"
    assert texts(ax.get_legend().get_texts()) == [f"new, {area}", "old"]
    assert texts(cs.plot.roc(s).get_legend().get_texts()) == [area]
    weighted = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1], [1.0, 2.0, 0.5, 1.0])
    assert texts(cs.plot.roc(weighted).get_legend().get_texts()) == [f"AUC {weighted.auc:.3f}"]
    area = f"average precision {cs.average_precision(s):.3f}"
    assert texts(cs.plot.pr(s).get_legend().get_texts()) == [area]
    weighted = cs.sweep([1, 0, 1], [0.4, 0.3, 0.2], [1.0, 2.0, 0.5])
    assert cs.plot.reliability(weighted).get_legend() is None  # its band is not known


def test_axes_have_the_names_of_the_field(s, probabilities):
    fpr, recall = "False positive rate (1 − specificity)", "Recall (sensitivity)"
    for ax, x, y in (
        (cs.plot.roc(s), fpr, recall),
        (cs.plot.hull(s), fpr, recall),
        (cs.plot.pr(s), recall, "Precision (positive predictive value)"),
        (cs.plot.det(s), fpr, "False negative rate (1 − recall)"),
        (cs.plot.reliability(probabilities), "Predicted probability", "Observed event rate"),
        (cs.plot.net_benefit(probabilities), "Threshold probability", "Net benefit"),
    ):
        assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)


def test_det_without_a_point_inside_says_so():
    perfect = cs.sweep([1, 1, 0, 0], [4, 3, 2, 1])
    assert len(saved(cs.plot.det(perfect).figure).axes[0].texts) == 1
    assert not cs.plot.det(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])).texts


def test_odd_sweeps_draw_without_a_warning():
    for y, score in (
        ([1, 0], [1.0, 1.0]),
        ([1, 0, 1], [np.inf, -np.inf, 0.0]),
        ([1, 0], [np.inf, np.inf]),
        ([0, 1], [1e300, -1e300]),
    ):
        s = cs.sweep(y, score)
        for plot, curve in (
            (cs.plot.roc, cs.roc),
            (cs.plot.pr, cs.pr),
            (cs.plot.det, cs.det),
            (cs.plot.gain, cs.gain),
            (cs.plot.lift, cs.lift),
        ):
            plot(curve(s)).figure.canvas.draw()
        cs.plot.distributions(s).figure.canvas.draw()
    cs.plot.distributions(cs.sweep([0, 0], [1.0, 2.0])).figure.canvas.draw()


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
        ax = cs.plot.distributions(cs.sweep([1, 0, 1], score, weight))
        saved(ax.figure)
        data = [patch.get_data() for patch in ax.patches]
        assert [np.sum(d.values * np.diff(d.edges)) for d in data] == pytest.approx([1.0] * 4)


def test_overview_of_extreme_scores_and_distributions_of_none():
    saved(cs.plot.overview(cs.sweep([1, 0, 1], [-1e308, 1e308, 0.0])))
    assert saved(cs.plot.distributions(cs.sweep([], [])).figure).axes[0].get_legend() is None


@pytest.mark.parametrize("label", ["$x_$", "$", r"\frac{", "<script>", "a\nb", "", "_hidden"])
def test_a_label_is_text_and_no_formula(s, label):
    ax = cs.plot.roc(cs.roc(s), label=label)
    saved(ax.figure)
    if label and not label.startswith("_"):  # which matplotlib keeps out of legends
        assert [t.get_text() for t in ax.get_legend().get_texts()] == [label]


def test_what_is_drawn_must_be_computed_first(s):
    for draw, given, rule, how in (
        (cs.plot.roc, cs.det(s), "be a Roc, a SmoothRoc or a Sweep", "s"),
        (cs.plot.pr, cs.roc(s), "be a PrecisionRecall or a Sweep", "s"),
        (cs.plot.det, None, "be a Det or a Sweep", "s"),
        (cs.plot.gain, 3, "be a Gain or a Sweep", "s"),
        (cs.plot.lift, 3, "be a Lift, a Gain or a Sweep", "s"),
        (cs.plot.distributions, cs.roc(s), "be a Sweep", "cs.sweep(y, score)"),
        (cs.plot.overview, cs.roc(s), "be a Sweep", "cs.sweep(y, score)"),
        (cs.plot.hull, 3, "be a Hull, a JointHull or a Sweep", "s"),
        (cs.plot.cost_curve, 3, "be a CostCurve or a Sweep", "s"),
        (cs.plot.net_benefit, 3, "be a NetBenefit or a Sweep", "s"),
        (cs.plot.operating_point, s, "be an OperatingPoint", "cs.choose(s, objective)"),
        (cs.plot.stability, s, "be a Stability", "p.stability()"),
        (cs.plot.reliability, 3, "be a Reliability or a Sweep", "s"),
        (cs.plot.calibrator, s, "be a Calibrator", "cs.calibrate(s)"),
        (cs.plot.margins, s, "be a Margins", "detector.margins(X, y)"),
    ):
        with finding("bad-argument", parameter=draw.__name__, rule=rule) as caught:
            draw(given)
        assert caught.value.finding.hint.startswith(f"Call plot.{draw.__name__}({how}")


def texts(artists):
    return [text.get_text() for text in artists]


def drawn(ax, gid):
    return [line for line in ax.lines if line.get_gid() == gid]


@pytest.fixture
def probabilities(s):
    """The same order of cases as probabilities of about the right size."""
    return cs.Sweep(1 / (1 + np.exp(3.3 - 1.5 * s.threshold)), s.pos, s.neg)


# ------------------------------------------------------------------- the ROC curve's companions


def test_roc_with_band_hull_and_points(s):
    band, hull = cs.roc_band(s, level=0.9), cs.hull(s)
    points = [cs.choose(s, "f1"), cs.choose(s, "youden")]
    ax = cs.plot.roc(cs.roc(s), label="mine", band=band, hull=hull, point=points)
    saved(ax.figure)
    assert np.array_equal(curve_of(ax), np.column_stack((cs.roc(s).fpr, cs.roc(s).tpr)))
    edge = ax.collections[0].get_paths()[0].vertices
    for side in (band.low, band.high):
        assert {*zip(band.fpr, side, strict=True)} <= {*map(tuple, edge)}
    assert drawn(ax, "hull")[0].get_xydata().tolist() == list(
        map(list, zip(hull.fpr, hull.tpr, strict=True))
    )
    assert {(text.get_text(), *text.xy) for text in ax.texts} == {
        (f"≥ {format_like(p.threshold)[0]}", p.confusion.fpr, p.confusion.recall) for p in points
    }
    names = ["mine", "90 % confidence band", "convex hull"]
    assert texts(ax.get_legend().get_texts()) == names


def test_roc_marks_the_ends_and_leaves_out_points_without_rates(s):
    none = cs.choose(s, "fpr", subject_to="flagged <= 0")
    tied = cs.choose(cs.sweep([1, 0], [1.0, 1.0]), "recall")
    infinite = cs.choose(cs.sweep([1, 0], [np.inf, 0.0]), "f1")
    one_class = cs.choose(cs.sweep([1, 1], [1.0, 2.0]), "recall")
    ax = cs.plot.roc(cs.roc(s), point=(none, tied, infinite, one_class))
    saved(ax.figure)
    assert sorted((*text.xy, text.get_text()) for text in ax.texts) == [
        (0, 0, "flag none"),
        (0, 1, "≥ ∞"),
        (1, 1, "flag all"),
    ]


def test_labels_of_close_points_do_not_overlap(s):
    from matplotlib.text import Text

    points = [cs.choose(s, cs.Costs(fp=1, fn=fn)) for fn in (1, 2, 3, 4, 5, 6, 8, 10, 30, 80)]
    ax = cs.plot.roc(cs.roc(s), point=points)
    ax = cs.plot.roc(cs.roc(s), ax, point=points[2:4])  # again: neither text is put twice
    saved(ax.figure)
    assert len(ax.texts) == len({p.threshold for p in points})
    boxes = [Text.get_window_extent(text) for text in ax.texts]  # without its leader
    for k, a in enumerate(boxes):
        assert not any(a.overlaps(b) for b in boxes[:k])


@pytest.mark.parametrize("name", ["band", "hull", "point"])
def test_companions_must_be_computed_first(s, name):
    with finding("bad-argument", parameter=name):
        cs.plot.roc(cs.roc(s), **{name: s if name != "point" else [0.5]})
    with finding("bad-argument", parameter="point", rule="be an OperatingPoint", value=0.5):
        cs.plot.roc(cs.roc(s), point=0.5)


# ------------------------------------------------------------------------------------------ hulls


def test_hull_of_one_sweep(s):
    h = cs.hull(s)
    ax = cs.plot.hull(h, label="hull")
    assert np.array_equal(curve_of(ax), np.column_stack((h.fpr, h.tpr)))
    assert drawn(ax, "curve")[0].get_marker() == "o"
    assert cs.plot.hull(h, ax, label="again", marker="") is ax
    assert texts(ax.get_legend().get_texts()) == ["hull", "again"]
    x = np.linspace(0, 1, 400)  # a circle: all points are vertices
    round_one = cs.Sweep(
        x[::-1], np.round(1e9 * (1 - x)).astype(int), np.round(1e9 * x).astype(int)
    )
    assert len(cs.hull(round_one)) > 300
    assert drawn(cs.plot.hull(cs.hull(round_one)), "curve")[0].get_marker() == "none"


def test_joint_hull_has_vertices_by_classifier(s):
    other = cs.Sweep.from_counts([2.0, 1.0], pos=[97, 3], neg=[30, 70])
    h = cs.hull({"$a_$": s, "b": other, r"\rule{": (0.05, 0.8), "bad": (0.6, 0.5)})
    ax = saved(cs.plot.hull(h, label="best of all").figure).axes[0]
    (line,) = drawn(ax, "hull")
    assert np.array_equal(line.get_xydata(), np.column_stack((h.fpr, h.tpr)))
    for k, line in zip((0, 1, 2), drawn(ax, "vertices"), strict=True):
        mine = h.classifier == k
        assert mine.any()
        assert np.array_equal(line.get_xydata(), np.column_stack((h.fpr, h.tpr))[mine])
        assert line.get_label() == h.names[k]
        assert line.get_marker() == ("D" if k == 2 else "o")
    assert len({line.get_color() for line in drawn(ax, "vertices")}) == 3
    assert texts(ax.get_legend().get_texts()) == [
        "best of all",
        "$a_$",
        "b",
        r"\rule{",
        "bad (never best)",
    ]
    saved(cs.plot.roc(cs.roc(s), hull=h).figure)


def test_twenty_classifiers_differ_in_colour_or_marker():
    angle = np.linspace(0.1, 1.4, 20)
    h = cs.hull([(1 - np.cos(a), np.sin(a)) for a in angle])
    lines = drawn(saved(cs.plot.hull(h).figure).axes[0], "vertices")
    assert len(lines) == 20
    assert len({(line.get_color(), line.get_marker()) for line in lines}) == 20


def test_hulls_of_next_to_nothing():
    for y, score in (([1, 0], [1.0, 1.0]), ([0, 1], [2.0, 1.0]), ([1, 0], [np.inf, -np.inf])):
        h = cs.hull(cs.sweep(y, score))
        saved(cs.plot.roc(cs.roc(cs.sweep(y, score)), cs.plot.hull(h), hull=h).figure)
    chance = cs.hull({"chance": cs.sweep([0, 1], [2.0, 1.0])})  # no vertex but the ends
    assert texts(saved(cs.plot.hull(chance).figure).axes[0].get_legend().get_texts()) == [
        "chance (never best)"
    ]


# ------------------------------------------------------------------------------------------ costs


def test_cost_curve_is_the_envelope(s):
    curve = cs.cost_curve(s)
    ax = saved(cs.plot.cost_curve(curve, x=0.05).figure).axes[0]
    xy = curve_of(ax)
    assert xy[0].tolist() == [0, 0]
    assert xy[-1].tolist() == [1, 0]
    assert np.array_equal(xy[1:, 0], curve.high)
    at = np.linspace(0, 1, 1001)
    assert np.interp(at, *xy.T) == pytest.approx(curve.cost(at), abs=1e-12)
    shade = ax.collections[0].get_paths()[0].vertices
    assert [0.5, 0.5] in shade.tolist()
    assert texts(ax.texts) == [
        "flag none",
        "flag all",
        f"at 0.05: {curve.cost(0.05):.3f} instead of 0.050",
    ]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "Probability × cost of positives",
        "Normalised expected cost",
    )


def test_a_second_cost_curve_adds_its_line_only(s):
    ax = cs.plot.cost_curve(cs.cost_curve(s), label="a")
    before = len(ax.lines), len(ax.texts), len(ax.collections)
    cs.plot.cost_curve(cs.cost_curve(s), ax, label="$b")
    assert (len(ax.lines), len(ax.texts), len(ax.collections)) == (before[0] + 1, *before[1:])
    assert texts(ax.get_legend().get_texts()) == ["a", "$b"]


@pytest.mark.parametrize("x", [-0.1, 1.5, np.nan, "half", [0.1, 0.2]])
def test_a_probability_cost_lies_from_0_to_1(s, x):
    with finding("bad-argument", parameter="x"):
        cs.plot.cost_curve(cs.cost_curve(s), x=x)


def test_net_benefit_draws_model_best_cut_and_both_trivial_rules(probabilities):
    curve = cs.net_benefit(probabilities)
    ax = saved(cs.plot.net_benefit(curve).figure).axes[0]
    names = ["Model", "Model, best threshold", "Flag all", "Flag none"]
    assert texts(ax.get_legend().get_texts()) == names
    bottom, top = ax.get_ylim()
    assert top > curve.best[1:].max()
    assert -0.2 * top < bottom < 0
    shows = curve.net_benefit[1:] > bottom
    given = {*zip(curve.threshold[1:][shows], curve.net_benefit[1:][shows], strict=True)}
    model = curve_of(ax)
    assert given <= {*map(tuple, model)}
    assert np.all(np.diff(model[:, 0]) >= 0)
    assert model[0].tolist() == pytest.approx([0, probabilities.prevalence])
    assert model[-1].tolist() == [1, 0]
    best = drawn(ax, "best")[0].get_xydata()[::-1]
    assert np.array_equal(best, np.column_stack((curve.threshold, curve.best))[1:])
    flag_all = next(line for line in ax.lines if line.get_label() == "Flag all").get_xydata()
    at = curve.threshold[1:]
    near = curve.flag_all[1:] > bottom
    assert np.interp(at, *flag_all.T)[near] == pytest.approx(curve.flag_all[1:][near], abs=1e-4)


def test_net_benefit_with_intervals(probabilities):
    at = [0.6, 0.1, 0.3]  # in any order
    found = cs.net_benefit_at(probabilities, at, level=0.9)
    ax = saved(cs.plot.net_benefit(cs.net_benefit(probabilities), band=found).figure).axes[0]
    names = ["Model", "Model, best threshold", "90 % CI", "Flag all", "Flag none"]
    assert texts(ax.get_legend().get_texts()) == names
    (shade,) = ax.collections
    corners = {(x, round(y, 9)) for x, y in shade.get_paths()[0].vertices}
    for t, one in zip(at, found.net_benefit, strict=True):
        assert {(t, round(one.low, 9)), (t, round(one.high, 9))} <= corners
    with finding("bad-argument", parameter="band", rule="be a NetBenefitAt", value=3):
        cs.plot.net_benefit(cs.net_benefit(probabilities), band=3)
    with finding("bad-argument", parameter="band"):
        cs.plot.net_benefit({"a": cs.net_benefit(probabilities)}, band=found)


def test_smooth_curves_beside_the_counted_one(probabilities):
    curves = {"counted": cs.roc(probabilities), "binormal": cs.smooth_roc(probabilities)}
    ax = saved(cs.plot.roc(curves).figure).axes[0]
    area = repr(curves["binormal"]).partition(", ")[2]
    assert texts(ax.get_legend().get_texts()) == ["counted", f"binormal, {area}"]
    smooth = curve_of(ax, 1)
    assert np.array_equal(smooth, np.column_stack((curves["binormal"].fpr, curves["binormal"].tpr)))


def test_a_second_decision_curve_shares_the_trivial_rules(probabilities):
    one, other = (cs.net_benefit(probabilities, prior=p) for p in (None, 0.3))
    ax = cs.plot.net_benefit(one, label="a")
    names = ["a", "a, best threshold", "Flag all", "Flag none", "$b", "$b, best threshold"]
    assert texts(cs.plot.net_benefit(one, ax, label="$b").get_legend().get_texts()) == names
    cs.plot.net_benefit(other, ax, label="c")
    saved(ax.figure)
    assert texts(ax.get_legend().get_texts()) == [
        *names,
        "c",
        "c, best threshold",
        "Flag all, prevalence 30 %",
    ]
    assert ax.get_ylim()[1] > 0.3


def test_decision_curves_of_different_scores_share_the_trivial_rules(probabilities):
    """Their axes reach to different heights, and their priors differ by rounding."""
    s = probabilities
    weak = cs.Sweep(s.threshold[::7], s.pos[::7], s.neg[::7])
    ax = None
    for part in (weak, s, weak):
        ax = cs.plot.net_benefit(cs.net_benefit(part, prior=0.2), ax)
    assert texts(ax.get_legend().get_texts()) == [
        *("Model", "Model, best threshold", "Flag all", "Flag none"),
        *("Model 2", "Model 2, best threshold", "Model 3", "Model 3, best threshold"),
    ]


def test_a_decision_curve_ends_where_no_benefit_is_left():
    """Rare events: nobody acts from probabilities that no case has."""
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.02
    score = rng.standard_normal(20_000) + 1.2 * y
    s = cs.sweep(y, 1 / (1 + np.exp(-(-4.6 + 1.2 * score))))
    curve = cs.net_benefit(s)
    ax = cs.plot.net_benefit(s)
    left, right = ax.get_xlim()
    assert left < 0 < s.prevalence < right < 0.5
    beyond = curve.threshold > right
    assert curve.best[beyond].max() < 0.01 * s.prevalence
    wide = cs.net_benefit(cs.sweep([1, 0], [0.9, 0.1]))
    assert cs.plot.net_benefit(wide, ax).get_xlim()[1] > 0.9  # there is room for both


@pytest.mark.parametrize(
    ("y", "score"),
    [
        ([1, 0], [1.0, 1.0]),
        ([1, 0], [1.0, 0.0]),
        ([0, 1], [1.0, 0.0]),
        ([1, 0], [0.0, 0.0]),
        ([1, 0, 1], [0.5, 0.5, 0.5]),
        ([0, 1, 1], [1.0, 1.0, np.nextafter(1.0, 0.0)]),
    ],
)
def test_degenerate_costs_and_benefits_draw_without_a_warning(y, score):
    s = cs.sweep(y, score)
    ax = saved(cs.plot.net_benefit(cs.net_benefit(s)).figure).axes[0]
    assert np.isfinite(np.concatenate([line.get_xydata() for line in ax.lines])).all()
    ax = None
    for x in (None, 0, 0.5, 1):
        ax = cs.plot.cost_curve(cs.cost_curve(s), ax, x=x)
    saved(ax.figure)


def test_net_benefit_that_is_nan_is_left_out():
    nan = np.full(3, np.nan)
    t = np.array([np.inf, 0.5, 0.2])
    saved(cs.plot.net_benefit(cs.NetBenefit(t, nan, nan, nan)).figure)
    some = np.array([0.0, np.nan, 0.1])
    curve = cs.NetBenefit(t, some, np.array([-np.inf, -0.5, 0.1]), some)
    xy = curve_of(saved(cs.plot.net_benefit(curve).figure).axes[0])
    assert [0.2, 0.1] in xy.tolist()
    assert np.isfinite(xy).all()


def test_large_costs_benefits_and_bands_are_thinned():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.3
    s = cs.sweep(y, 1 / (1 + np.exp(0.8 - rng.standard_normal(200_000) - y)))
    curve = cs.net_benefit(s)
    ax = cs.plot.net_benefit(curve)
    assert all(len(line.get_xydata()) < 10_000 for line in ax.lines)
    xy = curve_of(ax)
    shows = curve.net_benefit > 0
    drawn_there = np.interp(curve.threshold[shows], *xy.T)
    assert np.abs(drawn_there - curve.net_benefit[shows]).max() < 1e-3
    ax = cs.plot.roc(cs.roc(s), band=cs.roc_band(s))
    assert len(ax.collections[0].get_paths()[0].vertices) < 20_000


# -------------------------------------------------------------------------------------- decisions


def test_operating_point_says_what_it_does(s):
    p = cs.choose(s, cs.Costs(fp=1, fn=20))
    ax = saved(cs.plot.operating_point(p, bins=20).figure).axes[0]
    c = p.confusion
    assert texts(ax.texts) == [
        "not flagged",
        f"FN {c.fn:,}",
        f"TN {c.tn:,}",
        "flagged",
        f"TP {c.tp:,}",
        f"FP {c.fp:,}",
    ]
    assert [line.get_xdata()[0] for line in ax.lines] == [p.threshold]
    title = f"Flag scores ≥ {format_like(p.threshold)[0]} (lowest cost)".replace("-", "−")
    assert ax.get_title(loc="left") == title
    assert texts(ax.get_legend().get_texts()) == ["positive", "negative"]
    tallest = max(patch.get_data().values.max() for patch in ax.patches[:4])
    assert tallest < 0.76 * ax.get_ylim()[1]  # the texts are above


def test_operating_points_at_the_ends_and_out_of_reach(s):
    for objective, limits, title in (
        ("fpr", "flagged <= 0", "Flag none (lowest fpr)"),
        (
            "recall",
            ["precision >= 0.99", "recall >= 0.99"],
            "No threshold meets precision ≥ 0.99 and recall ≥ 0.99\nFlag scores ≥ ",
        ),
    ):
        p = cs.choose(s, objective, subject_to=limits)
        ax = saved(cs.plot.operating_point(p).figure).axes[0]
        assert ax.get_title(loc="left").startswith(title)
        assert len(ax.lines) == np.isfinite(p.threshold)
    for y, score in (
        ([1, 0], [1.0, 1.0]),
        ([1, 1], [1.0, 2.0]),
        ([1, 0, 1], [np.inf, -np.inf, 0.0]),
        ([1, 0], [np.inf, np.inf]),
        ([0, 1, 1], [-1e308, 1e308, 1e307]),
        ([0, 1], [1.0, NEXT]),
        ([0, 1], [0.0, 5e-324]),
    ):
        saved(cs.plot.operating_point(cs.choose(cs.sweep(y, score), "recall")).figure)
    weighted = cs.choose(cs.sweep([1, 0, 1], [3, 2, 1], [0.25, 2.0, 0.5]), "precision")
    assert texts(cs.plot.operating_point(weighted).texts)[1:3] == ["FN 0.5", "TN 2"]


def test_an_objective_of_any_name_is_text(s):
    def profit(tp, fp, fn, tn):
        return tp - 0.1 * fp + 0 * (fn + tn)

    profit.__name__ = "$profit_$"
    ax = cs.plot.operating_point(cs.choose(s, profit))
    saved(ax.figure)
    assert not ax._left_title.get_parse_math()


def test_stability_is_a_histogram_of_thresholds(s):
    p = cs.choose(s, "f1")
    st = p.stability(100)
    ax = saved(cs.plot.stability(st, point=p, bins=10).figure).axes[0]
    bars = ax.patches[0].get_data()
    assert np.array_equal(bars.values, np.histogram(st.threshold, 10)[0])
    low, high = st.thresholds
    span = ax.patches[-1]
    assert (span.get_x(), span.get_x() + span.get_width()) == pytest.approx((low, high))
    assert ax.lines[0].get_xdata()[0] == p.threshold
    assert ax.get_title(loc="left") == (
        f"Mean regret {st.regret.mean():.3g} in 100 bootstrap samples"
    )
    assert texts(ax.get_legend().get_texts())[1:] == [
        f"95 % of them: {low:.2f} to {high:.2f}",
        f"chosen: ≥ {p.threshold:.2f}",
    ]
    broken = cs.choose(s, "recall", subject_to="fpr <= 5 %").stability(50)
    known = np.count_nonzero(broken.comparable)
    assert 0 < known < 50
    assert cs.plot.stability(broken).get_title(loc="left") == (
        f"Mean regret {broken.mean_regret:.3g} in {known} of 50 bootstrap samples; "
        f"limits violated in {100 * broken.broken.mean():.3g} %"
    )
    none = cs.Stability(st.threshold, np.full(100, np.nan), np.ones(100, np.bool_))
    assert cs.plot.stability(none).get_title(loc="left") == (
        "100 bootstrap samples; limits violated in 100 %"
    )


@pytest.mark.parametrize(
    "threshold",
    [
        [np.inf] * 3,
        [-np.inf] * 3,
        [-np.inf, 0.0, np.inf],
        [1.0] * 3,
        [1.0, NEXT, 1.0],
        [-1e308, 1e308, 1e308],
        [0.0, 5e-324, np.inf],
    ],
    ids=str,
)
def test_thresholds_of_any_size_have_a_bar(s, threshold):
    st = cs.Stability(np.array(threshold), np.full(3, np.nan), np.ones(3, np.bool_))
    for point in (None, cs.choose(s, "f1"), cs.choose(s, "fpr", subject_to="flagged <= 0")):
        ax = saved(cs.plot.stability(st, point=point).figure).axes[0]
        bars = [bar.get_height() for bar in ax.containers for bar in bar]
        assert ax.patches[0].get_data().values.sum() + sum(bars) == 3
        assert texts(ax.texts) == [
            sign
            for sign, end in (("−∞", -np.inf), ("∞", np.inf))
            if np.any(np.array(threshold) == end)
        ]


@pytest.mark.parametrize("bins", [0, -3, 2.5, "ten", None, True, 10**9])
def test_bins_are_a_whole_number(s, bins):
    p = cs.choose(s, "f1")
    for draw, given in (
        (cs.plot.distributions, s),
        (cs.plot.operating_point, p),
        (cs.plot.stability, p.stability(5)),
        (cs.plot.reliability, cs.reliability(cs.sweep([1, 0], [0.6, 0.4]), level=None)),
        (cs.plot.margins, cs.Margins(np.ones(3))),
        (cs.plot.passes, [cs.Margins(np.ones(3))]),
    ):
        with finding("bad-argument", parameter="bins"):
            draw(given, bins=bins)
    assert len(cs.plot.distributions(s, bins=np.int64(1)).patches[0].get_data().values) == 1


def test_functions_draw_on_given_axes(s, probabilities):
    from matplotlib.figure import Figure

    p = cs.choose(s, "f1")
    for draw, value in (
        (cs.plot.hull, cs.hull(s)),
        (cs.plot.cost_curve, cs.cost_curve(s)),
        (cs.plot.net_benefit, cs.net_benefit(probabilities)),
        (cs.plot.operating_point, p),
        (cs.plot.stability, p.stability(10)),
        (cs.plot.reliability, cs.reliability(probabilities, n=10)),
        (cs.plot.margins, cs.Margins(np.array([-1.0, 2.0]))),
        (cs.plot.passes, [cs.Margins(np.array([-1.0, 2.0]))]),
    ):
        ax = Figure(layout="constrained").add_subplot()
        assert draw(value, ax) is ax
        saved(ax.figure)


# ------------------------------------------------------------------------------------ calibration


def test_reliability_is_level_in_blocks_and_has_a_band_and_a_histogram(probabilities):
    r = cs.reliability(probabilities, level=0.9, n=50)
    ax = saved(cs.plot.reliability(r, label="$mine_$", bins=20).figure).axes[0]
    xy = curve_of(ax)
    assert len(xy) <= 2 * len(r.start)
    # Straight lines between the ends of the blocks go through every point in between.
    assert np.interp(r.forecast, *xy[::-1].T) == pytest.approx(r.calibrated, abs=1e-12)
    edge = {*map(tuple, ax.collections[0].get_paths()[0].vertices)}
    for side in (r.low, r.high):
        assert {*zip(r.forecast, side, strict=True)} <= edge
    bars = ax.patches[0].get_data()
    share = (bars.values - bars.baseline) / np.sum(bars.values - bars.baseline)
    count, edges = np.histogram(r.forecast, 20, (0, 1), weights=r.mass)
    assert share == pytest.approx(count / r.mass.sum())
    assert np.array_equal(bars.edges, edges)
    assert bars.values.max() < 0  # below the curve, never behind it
    assert texts(ax.get_legend().get_texts()) == ["$mine_$", "90 % consistency band"]
    assert [0, 1] in [line.get_xdata().tolist() for line in ax.lines]


def test_a_second_reliability_curve_shares_the_name_of_the_band(probabilities):
    r = cs.reliability(probabilities, n=20)
    ax = cs.plot.reliability(r, label="a")
    cs.plot.reliability(r, ax, label="b", linestyle=":")
    saved(ax.figure)
    assert texts(ax.get_legend().get_texts()) == ["a", "95 % consistency band", "b"]
    assert len({line.get_color() for line in drawn(ax, "curve")}) == 2
    assert len(ax.collections) == 2


def test_few_forecasts_are_points():
    few = cs.Sweep.from_counts([0.9, 0.7, 0.1], pos=[8, 3, 1], neg=[2, 3, 9])
    ax = saved(cs.plot.reliability(cs.reliability(few, n=20)).figure).axes[0]
    assert drawn(ax, "curve")[0].get_marker() == "o"
    assert len(ax.collections) == 2  # the band, and its width at each forecast
    ax = saved(cs.plot.reliability(cs.reliability(few, level=None)).figure).axes[0]
    assert len(ax.collections) == 0
    assert ax.get_legend() is None


@pytest.mark.parametrize(
    ("y", "score", "weight"),
    [
        ([1], [0.5], None),
        ([1, 0], [1.0, 0.0], None),
        ([0, 1], [1.0, 0.0], None),
        ([1, 1, 0], [5e-324, 5e-324, 0.0], None),
        ([1, 0], [0.7, 0.2], [8e307, 5e-324]),
    ],
)
def test_odd_reliability_curves_draw_without_a_warning(y, score, weight):
    r = cs.reliability(cs.sweep(y, score, weight), level=None if weight else 0.95, n=10)
    ax = saved(cs.plot.reliability(r).figure).axes[0]
    assert np.isfinite(curve_of(ax)).all()


def test_large_reliability_bands_are_thinned():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    r = cs.reliability(cs.sweep(rng.random(200_000) < p, p), n=10)
    ax = cs.plot.reliability(r)
    assert len(ax.collections[0].get_paths()[0].vertices) < 20_000


def test_a_calibrator_is_drawn_over_the_scores_of_a_sweep(s):
    ax = None
    for method in ("logistic", "gaussian", "monotone"):
        c = cs.calibrate(s, method)
        ax = cs.plot.calibrator(c, ax, s=s, label=method)
        x, llr = drawn(ax, "curve")[-1].get_xydata().T
        assert (x[0], x[-1]) == (s.threshold[-1], s.threshold[0])
        assert np.array_equal(llr, c.llr(x))
    saved(ax.figure)
    assert texts(ax.get_legend().get_texts()) == ["logistic", "gaussian", "monotone"]
    assert len(ax.lines) == 4  # one of them the line of LLR = 0
    # A staircase has two points at each step, as close as floats are.
    inner = c.threshold[:-1]
    assert {*inner, *np.nextafter(inner, -np.inf)} <= {*x}


def test_the_range_of_a_calibrator_is_given(s):
    c = cs.calibrate(s, "platt")

    def ends(ax):
        return drawn(ax, "curve")[-1].get_xdata()[[0, -1]].tolist()

    assert ends(cs.plot.calibrator(c, low=-2, high=np.float32(3))) == [-2, 3]
    assert ends(cs.plot.calibrator(c, s=s, low=0)) == [0, s.threshold[0]]
    beta = cs.Beta(1.0, 1.0, 0.0)
    assert ends(cs.plot.calibrator(beta, s=s)) == [0, 1]  # as far as it goes
    for kw, parameter in (
        ({}, "s"),
        ({"low": 0}, "s"),
        ({"low": np.inf}, "low"),
        ({"high": "3"}, "high"),
        ({"high": 10**400}, "high"),
        ({"low": 3, "high": 3}, "low"),
        ({"s": c}, "s"),
    ):
        with finding("bad-argument", parameter=parameter):
            cs.plot.calibrator(c, **kw)
    with finding("not-probabilities", what="a beta calibrator", score=-1.0):
        cs.plot.calibrator(beta, low=-1, high=1)


def test_infinite_llrs_are_signs_at_the_edge(s):
    c = cs.calibrate(s, "monotone", smooth=False)
    assert np.isinf(c.value[[0, -1]]).all()
    ax = saved(cs.plot.calibrator(c, s=s).figure).axes[0]
    assert texts(ax.texts) == ["∞", "−∞"]
    assert np.isnan(curve_of(ax)[[0, -1], 1]).all()


@pytest.mark.parametrize(
    "c",
    [
        cs.Affine(1e-300, 0.0),
        cs.Affine(5e-324, 1e308),
        cs.Affine(1e300, -1e300),
        cs.Gaussian(1.0, 1e-100, 0.0, 1.0, -1e308, 1e308),
        cs.Monotone(np.array([1.0, -np.inf]), np.array([np.inf, -np.inf])),
        cs.Monotone(np.array([-np.inf]), np.array([0.0])),
        cs.Monotone(np.array([1.0, 1.0 - 2**-53, -np.inf]), np.array([2.0, 1.0, 0.0])),
        cs.Monotone(np.array([1.5e308, -1.5e308, -np.inf]), np.array([2.0, 1.0, 0.0])),
        cs.Monotone(np.array([0.5]), np.array([2.0]), interpolate=True),
    ],
    ids=repr,
)
def test_odd_calibrators_draw_without_a_warning(c):
    saved(cs.plot.calibrator(c, low=-1e300, high=1e300).figure)
    saved(cs.plot.calibrator(c, s=cs.sweep([], [])).figure)
    saved(cs.plot.calibrator(c, s=cs.sweep([1, 0], [np.inf, 1.0])).figure)


# ---------------------------------------------------------------------------------------- margins


def bars(ax):
    """The filled histograms, by the word in their name."""
    named = [p for p in ax.patches if p.get_label().endswith(("correct", "wrong"))]
    return {patch.get_label().split()[-1]: patch.get_data() for patch in named}


def test_margins_are_wrong_below_0_and_correct_above():
    value = np.random.default_rng(0).normal(1, 1, 1000)
    ax = saved(cs.plot.margins(cs.Margins(value), bins=30).figure).axes[0]
    errors, wrong, correct = int(np.sum(value <= 0)), *(bars(ax)[k] for k in ("wrong", "correct"))
    assert wrong.edges[-1] == correct.edges[0] == 0
    assert (wrong.values.sum(), correct.values.sum()) == (errors, 1000 - errors)
    for side in (wrong, correct):
        assert np.array_equal(side.values, np.histogram(value, side.edges)[0])
    assert 30 <= len(wrong.values) + len(correct.values) <= 31
    zero, least = ax.lines
    assert zero.get_xdata() == [0, 0]
    assert list(least.get_xdata()) == [value.min()] * 2
    assert texts(ax.get_legend().get_texts()) == [
        f"{1000 - errors} correct",
        f"{errors} wrong",
        f"smallest margin: {value.min():.2f}".replace("-", "−"),
    ]
    assert max(wrong.values.max(), correct.values.max()) < 0.78 * ax.get_ylim()[1]


def test_a_line_that_separates_has_a_strip_without_rows():
    value = np.array([0.53, 0.6, 1.0, 2.0, 2.0])
    ax = saved(cs.plot.margins(cs.Margins(value), bins=10).figure).axes[0]
    assert [*bars(ax)] == ["correct"]
    data = bars(ax)["correct"]
    assert data.edges[0] == 0.53  # no bar reaches into it
    assert data.values.sum() == 5
    strip = ax.patches[-1]
    assert (strip.get_x(), strip.get_width()) == (0, 0.53)
    assert texts(ax.get_legend().get_texts()) == ["5 correct", "smallest margin: 0.530"]


def test_rows_on_the_line_are_errors():
    ax = saved(cs.plot.margins(cs.Margins(np.array([0.0, 0.0, 1.0])), bins=4).figure).axes[0]
    assert bars(ax)["wrong"].edges.tolist() == [-0.25, 0]
    assert bars(ax)["wrong"].values.tolist() == [2]
    assert bars(ax)["correct"].values.tolist() == [0, 0, 0, 1]
    both = bars(cs.plot.margins(cs.Margins(np.array([-1.0, 0.0, 1.0])), bins=4))
    assert both["wrong"].values.tolist() == [1, 1]
    assert both["correct"].values.tolist() == [0, 1]


@pytest.mark.parametrize(
    "value",
    [
        [0.0],
        [2.0],
        [-2.0],
        [-2.0, -1.0],
        [1.0, NEXT],
        [1e308, -1e308],
        [5e-324],
        [-5e-324, 5e-324],
        [1e-300, 1.0],
        [-0.3, 0.7],
    ],
    ids=str,
)
def test_margins_of_any_size_are_all_drawn(value):
    for bins in (1, 7, 60):
        ax = saved(cs.plot.margins(cs.Margins(np.array(value)), bins=bins).figure).axes[0]
        assert sum(data.values.sum() for data in bars(ax).values()) == len(value)
        assert all(np.all(np.diff(data.edges) > 0) for data in bars(ax).values())


@pytest.mark.parametrize(
    ("value", "bins"),
    [([1.6, 0.9, 1.1], 19), ([-0.5, 1.8, 0.3], 23), ([0.0, -0.2, -0.8], 19)],
)
def test_no_margin_is_lost_beyond_rounded_edges(value, bins):
    """Whole numbers of bins that, rounded, end just before the outermost row."""
    rows = bars(cs.plot.margins(cs.Margins(np.array(value)), bins=bins))
    assert sum(data.values.sum() for data in rows.values()) == 3


def test_margins_of_no_rows():
    with finding("too-few", what="a histogram of margins"):
        cs.plot.margins(cs.Margins(np.empty(0)))


def test_passes_have_one_histogram_each_on_one_scale():
    rng = np.random.default_rng(0)
    value = {k: rng.normal(k / 4, 1, 200) for k in (1, 2, 5)}
    value[5][:3] = 0  # on the line: errors
    ax = saved(cs.plot.passes({k: cs.Margins(v) for k, v in value.items()}, bins=30).figure).axes[0]
    wrong = {k: int(np.sum(v <= 0)) for k, v in value.items()}
    assert texts(ax.get_yticklabels()) == [f"pass {k}: {n} wrong" for k, n in wrong.items()]
    filled = [patch.get_data() for patch in ax.patches if patch.get_fill()]
    assert len(filled) == 6
    unit = {}
    for k, (left, right) in zip(value, zip(filled[::2], filled[1::2], strict=True), strict=True):
        assert left.edges[-1] == right.edges[0] == 0
        counts = np.concatenate(
            (
                [
                    np.sum((value[k] > a) & (value[k] <= b))
                    for a, b in itertools.pairwise(left.edges)
                ],
                [
                    np.sum((value[k] > a) & (value[k] <= b))
                    for a, b in itertools.pairwise(right.edges)
                ],
            )
        )
        heights = np.concatenate((left.values, right.values)) - left.baseline
        unit[k] = heights.sum() / 200
        np.testing.assert_allclose(heights, unit[k] * counts, atol=1e-12)
    assert max(unit.values()) == pytest.approx(min(unit.values()))
    strokes = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2][:3]
    assert strokes == [v.min() for v in value.values()]
    listed = cs.plot.passes([cs.Margins(value[1]), cs.Margins(value[2])])
    assert texts(listed.get_yticklabels())[1].startswith("pass 2: ")


@pytest.mark.parametrize("value", [[0.0], [2.0], [-2.0], [1e308, -1e308], [5e-324]], ids=str)
def test_passes_of_any_size_are_drawn(value):
    saved(cs.plot.passes([cs.Margins(np.array(value))] * 2, bins=7).figure)


@pytest.mark.parametrize("given", [[], {}, [cs.Margins(np.empty(0))], [3], {1: "margins"}])
def test_passes_need_margins(given):
    with pytest.raises(cs.DataError, match="Margins with rows, one for each pass"):
        cs.plot.passes(given)


def test_roc_draws_rules_as_points_wherever_they_lie(s):
    points = {"$a_$": (0.05, 0.8), "bad": (0.6, 0.5), "all": (1.0, 1.0), "none": (0, 0)}
    alone = saved(cs.plot.roc(points=points).figure).axes[0]
    one = cs.plot.roc(cs.roc(s), points=points)
    several = cs.plot.roc({"a": cs.roc(s), "b": cs.roc(s)}, points=points)
    for ax, curves in ((alone, 0), (one, 1), (several, 2)):
        assert len(drawn(ax, "curve")) == curves
        assert {text.get_text(): text.xy for text in ax.texts} == points
        dots = [line for line in ax.lines if line.get_marker() == "D"]
        assert {tuple(dot.get_xydata()[0]) for dot in dots} == set(points.values())
    saved(several.figure)


def test_points_must_be_rates_by_name(s):
    for wrong in ((0.1, 1.2), (0.1,), 0.1, "ab", (np.nan, 0.5)):
        with finding("bad-argument", parameter="points", subject="the point 'rule'"):
            cs.plot.roc(cs.roc(s), points={"rule": wrong})
    with finding("bad-argument", parameter="points", subject=""):
        cs.plot.roc(cs.roc(s), points=[(0.1, 0.6)])
    with finding("bad-argument", parameter="label", value="mine"):
        cs.plot.roc(points={"rule": (0.1, 0.6)}, label="mine")
    with finding("bad-argument", parameter="roc", value=None):
        cs.plot.roc(points={})


def test_points_below_a_joint_hull_are_drawn_hollow(s):
    worse = cs.Sweep.from_counts([2.0, 1.0], pos=[50, 50], neg=[50, 50])
    h = cs.hull({"s": s, "worse": worse, "rule": (0.05, 0.8), "bad": (0.6, 0.5)})
    assert np.array_equal(h.points, [[np.nan] * 2, [np.nan] * 2, [0.05, 0.8], [0.6, 0.5]], True)
    below = drawn(saved(cs.plot.hull(h).figure).axes[0], "below")
    assert [line.get_label() for line in below] == ["worse (never best)", "bad (never best)"]
    assert [line.get_xydata().tolist() for line in below] == [[], [[0.6, 0.5]]]
    assert below[1].get_markerfacecolor() == "white"
    assert below[1].get_marker() == "D"


def test_distances_have_the_densities_and_the_sigmoid_of_their_moments(s):
    d, weight = s.threshold, {True: s.pos, False: s.neg}
    mean = {k: np.average(d, weights=w) for k, w in weight.items()}
    squares = sum(np.sum(w * (d - mean[k]) ** 2) for k, w in weight.items())
    sd = np.sqrt(squares / (s.P + s.N))
    ax = cs.plot.distances(s, densities=True, prior=0.2)
    plus, minus = drawn(ax, "density")
    for line, k in ((plus, True), (minus, False)):
        x, y = line.get_xydata().T
        normal = np.exp(-(((x - mean[k]) / sd) ** 2) / 2) / (np.sqrt(2 * np.pi) * sd)
        assert np.allclose(y, normal, rtol=1e-9, atol=0)
        assert np.sum(y) * (x[1] - x[0]) == pytest.approx(1, abs=0.02)
    (left, right) = saved(ax.figure).axes
    assert left.get_xlabel() == "Signed distance d"
    (sigmoid,) = drawn(right, "sigmoid")
    x, y = sigmoid.get_xydata().T
    # Bayes' theorem with the two densities that are drawn.
    a, b = 0.2 * plus.get_ydata(), 0.8 * minus.get_ydata()
    assert np.allclose(y, a / (a + b), rtol=1e-9)
    assert len(drawn(cs.plot.distances(s), "density")) == 0
    assert len(cs.plot.distances(s).figure.axes) == 1


def test_densities_need_classes_that_vary():
    s = cs.sweep([1, 0], [1.0, 2.0])
    assert len(cs.plot.distances(s).lines) == 1  # the boundary
    with finding("no-variation", cs.UndefinedError):
        cs.plot.distances(s, densities=True)
    with finding("bad-argument", parameter="distances", rule="be a Sweep"):
        cs.plot.distances([1.0])


@pytest.fixture
def two_features():
    rng = np.random.default_rng(2)
    y = rng.random(3000) < 0.3
    return rng.normal(size=(3000, 2)) * [1.0, 10.0] + y[:, None], y


def test_a_surface_has_the_probability_everywhere_and_the_rows(two_features):
    X, y = two_features
    line = cs.LinearDetector(np.array([1.0, 0.1]), -0.5)
    asked = []

    def probability(rows):
        asked.append(rows)
        return cs.Affine(2.0, 0.0).probability(line.scores(rows), prior=0.3)

    ax = saved(cs.plot.surface(probability, X, y).figure).axes[0]
    (grid,) = asked
    assert np.all(grid.min(axis=0) < X.min(axis=0))
    assert np.all(grid.max(axis=0) > X.max(axis=0))
    (shades,) = ax.images
    assert np.array_equal(shades.get_array().ravel(), probability(grid))
    left, right, bottom, top = shades.get_extent()
    assert (left, bottom) == tuple(grid[0])
    assert (right, top) == tuple(grid[-1])
    rows = drawn(ax, "rows")
    assert [line.get_label() for line in rows] == ["positive", "negative"]
    assert sum(len(line.get_xydata()) for line in rows) == 2000
    known = {tuple(row): bool(k) for row, k in zip(X, y, strict=True)}
    for line, k in zip(rows, (True, False), strict=True):
        assert all(known[tuple(row)] is k for row in line.get_xydata().tolist())


def test_a_surface_of_three_dimensions(two_features):
    from matplotlib.figure import Figure

    X, y = two_features
    ax = Figure().add_subplot(projection="3d")
    assert cs.plot.surface(lambda X: np.full(len(X), 0.25), X, y, ax) is ax
    assert ax.get_zlim() == (0, 1)
    saved(ax.figure)


def test_surfaces_of_frames_estimators_and_detectors(two_features):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    from cutscore.detector import Encoding
    from cutscore.estimators import DecisionClassifier

    X, y = two_features
    frame = pd.DataFrame({"age": X[:, 0], "dose": X[:, 1]})
    e = Encoding.fit(frame)
    line = cs.LinearDetector(np.array([1.0, 2.0]), 0.5)
    d = hand_made((e, line), calibrator=cs.Affine(1.0, 0.0), aim=cs.Aim(prior=0.2), threshold=1.0)
    words = np.where(y, "ill", "well")
    model = DecisionClassifier(calibration="platt").fit(frame, words)
    for ax, ask in (
        (cs.plot.surface(model, frame, y), lambda f: model.predict_proba(f)[:, 1]),
        (cs.plot.surface(d, frame, y), d.probability),
        (cs.plot.surface(d, {**frame, "more": y}, words, positive="ill"), d.probability),
    ):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "dose")
        p, (left, right, bottom, top) = ax.images[0].get_array(), ax.images[0].get_extent()
        corners = pd.DataFrame({"age": [left, right, left], "dose": [bottom, bottom, top]})
        assert np.allclose(ask(corners), [p[0, 0], p[0, -1], p[-1, 0]], rtol=1e-12)
    with finding("column-missing", column="dose", table="X", names=("age",)):
        cs.plot.surface(d, {"age": X[:, 0]}, y)


def test_surfaces_say_what_they_need(two_features):
    X, y = two_features

    def half(rows):
        return np.full(len(rows), 0.5)

    line = cs.LinearDetector(np.array([1.0, 2.0]), 0.5)
    with finding("bad-argument", parameter="detector"):
        cs.plot.surface(line, X, y)
    with finding("bad-argument", parameter="X", value=3):
        cs.plot.surface(half, np.column_stack((X, y)), y)
    with finding("bad-argument", parameter="detector", subject="the output of detector"):
        cs.plot.surface(line.scores, X, y)
    far = X.copy()
    far[7, 1] = np.inf
    with finding("not-finite", value=np.inf, where=Where(7, column="x₂")):
        cs.plot.surface(half, far, y)
    saved(cs.plot.surface(half, [[1, 2], [1, 3]], [0, 1]).figure)  # a feature that does not vary
