"""Make the pictures of the stories: ``python docs/stories/pictures.py [FOLDER]``.

Each picture shows what the code of its page computes. The page is run first, and the picture is
drawn from the values that it leaves: neither can change without the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from doctest import DocTestParser
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cutscore as cs

HERE = Path(__file__).parent
IMAGES = HERE.parent / "images"

# Okabe and Ito's colours, in the order in which cutscore.plot takes them.
BLUE, RED, GREEN, PINK, YELLOW = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"
GREY = "0.45"

Page = dict[str, Any]


@cache
def run(page: str) -> Page:
    """Run the code of a story, and return the names that it leaves."""
    names: Page = {"__name__": page}
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    with redirect_stdout(StringIO()):
        for example in DocTestParser().get_examples(text):
            exec(compile(example.source, page, "exec"), names)
    return names


def draw(folder: Path = IMAGES) -> list[Path]:
    """Draw all pictures of all stories into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for page, pictures in STORIES.items():
        names = run(page)
        for picture in pictures:
            path = folder / f"story-{page}-{picture.__name__}.png"
            # Without the name of the program that wrote it, the same picture is the same file.
            picture(names).savefig(path, dpi=150, metadata={"Software": None})
            made.append(path)
    return made


def figure(width: float, height: float, columns: int = 1) -> tuple[Figure, Any]:
    made = Figure(figsize=(width, height), layout="constrained")
    made.get_layout_engine().set(wspace=0.06, w_pad=0.08, h_pad=0.1)
    return made, made.subplots(1, columns)


def plain(ax: Axes, x: str, y: str, title: str = "") -> Axes:
    """The look of cutscore.plot, for what it does not draw."""
    ax.set(xlabel=x, ylabel=y)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if title:
        ax.set_title(title, loc="left", fontsize=11)
    return ax


# A factory


def shifts(page: Page) -> Figure:
    """The false alarms of each shift: in the sample, in use, and with another oil."""
    made, ax = figure(10.6, 3.6)
    plain(ax, "shift", "false alarms")
    cut = page["policy"].threshold
    parts = {
        "sample": (page["score"], np.zeros(len(page["score"]), bool), page["shift"], BLUE),
        "in use": (page["score_next"], page["y_next"], page["shift_next"], GREEN),
        "another oil": (page["score_oil"], page["y_oil"], page["shift_oil"], RED),
    }
    start = 0
    for name, (score, cracked, shift, colour) in parts.items():
        alarms = np.bincount((shift - shift.min())[~cracked], score[~cracked] >= cut)
        at = start + np.arange(len(alarms))
        ax.bar(at, alarms, 0.8, color=colour, alpha=0.6)
        mean = alarms.mean()
        ax.plot(at[[0, -1]], [mean, mean], color=colour, linewidth=2)
        ax.annotate(
            f"{name}: {mean:.1f} per shift",
            (at.mean(), 1),
            (0, -4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="top",
            color=colour,
        )
        start = at[-1] + 3
    ax.axhline(10, color="0.15", linewidth=1.4)
    ax.text(-1.5, 11, "limit on\nthe mean", ha="right", va="bottom")
    ax.set(xlim=(-13, start - 1), xticks=[], ylim=(0, 1.12 * ax.get_ylim()[1]))
    return made


def guarantee(page: Page) -> Figure:
    """What thresholds really do in 100 runs, and what the guarantee costs."""
    made, (left, right) = figure(10.6, 4.3, 2)
    bins = np.arange(4, 14.5, 0.5)
    plain(left, "true false alarms per shift", "runs", "True rates of 100 thresholds")
    for (name, done), colour in zip(page["runs"].items(), (RED, YELLOW, BLUE), strict=True):
        alarms = [c.fp / 1000 for c in done]
        broken = sum(each > 10 for each in alarms)
        left.hist(alarms, bins, color=colour, alpha=0.35)
        left.hist(alarms, bins, color=colour, histtype="step", linewidth=1.3)
        label = f"{name}: {broken} above the limit"
        left.plot([], [], "s", color=colour, markersize=9, alpha=0.7, label=label)
    left.axvline(10, ymax=0.74, color="0.15", linewidth=1.4)
    left.set_ylim(top=1.45 * left.get_ylim()[1])
    left.text(10, 0.75 * left.get_ylim()[1], "limit", ha="center", va="bottom")
    left.legend(loc="upper left", frameon=False)
    plain(right, "shifts of good housings", "true recall", "What the guarantee costs")
    n, recall = list(page["price"]), list(page["price"].values())
    best = page["best"].confusion.recall
    right.axhline(best, color=RED, linewidth=1.4, linestyle=(0, (4, 3)))
    right.text(n[0], best + 0.012, "true optimum", color=RED, va="bottom")
    right.plot(n, recall, "-o", color=BLUE, linewidth=1.8, mec="white", markersize=8)
    for count, value in zip(n, recall, strict=True):
        right.annotate(
            f"{100 * value:.0f} %",
            (count, value),
            (3, -8),
            textcoords="offset points",
            ha="left",
            va="top",
            color=BLUE,
            fontsize=9,
        )
    right.set(xscale="log", ylim=(0, 1))
    right.set_xticks(n, [f"{count:,}" for count in n], fontsize=9)
    right.set_xticks([], minor=True)
    return made


def budget(page: Page) -> Figure:
    """The share of cracks found against the number of housings flagged."""
    made, ax = figure(7.4, 4.6)
    for name, s in page["sweeps"].items():
        label = "distance (normal rows only)" if name == "distance" else name
        cs.plot.gain(cs.gain(s), ax, label=label, drawstyle="steps-post")
    colours = [line.get_color() for line in ax.lines if line.get_gid() == "curve"]
    for (name, point), colour in zip(page["budget"].items(), colours, strict=True):
        c, own = point.confusion, page["sweeps"][name].at(0)
        ax.plot(
            c.flagged / c.total, c.recall, "o", color=colour, markersize=8, zorder=5, mec="white"
        )
        if name != "distance":  # whose scores are all above 0
            ax.plot(
                own.flagged / own.total,
                own.recall,
                "X",
                color=colour,
                markersize=9,
                mec="white",
                zorder=6,
            )
    ax.plot([], [], "o", color=GREY, label="threshold for the limit")
    ax.plot([], [], "X", color=GREY, label="classifier's own threshold")
    ax.set_aspect("auto")
    ax.set(xscale="log", xlim=(3e-4, 0.04), ylim=(0, 1.03))
    ticks = [1, 2, 5, 10, 20, 50]
    ax.set_xticks([tick / 2000 for tick in ticks], [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set(xlabel="housings flagged per shift, of 2,000", ylabel="share of cracks found")
    ax.legend(loc="lower right", frameon=False)
    return made


# Ad clicks


def groups(page: Page) -> Figure:
    """The AUC of each model, by which pairs are counted."""
    made, ax = figure(7.4, 3.1)
    plain(ax, "AUC", "")
    today, models = page["today"], page["knows"]
    rows = {
        "all pairs": {k: cs.sweep(today["click"], today[k]).auc for k in models},
        "within users": {k: page["inside"][k].weighted for k in models},
        "within advertisements": {k: page["per_ad"][k].weighted for k in models},
    }
    colours = dict(zip(models, (RED, BLUE, GREY), strict=True))
    for at, values in enumerate(rows.values()):
        ax.plot([0.5, 0.93], [-at] * 2, color="0.85", linewidth=1, zorder=1)
        for name, value in values.items():
            ax.plot(value, -at, "o", color=colours[name], markersize=11, mec="white", zorder=3)
            below = name == "both"
            ax.annotate(
                f"{name} {value:.2f}",
                (value, -at),
                (0, -10) if below else (0, 9),
                textcoords="offset points",
                ha="center",
                va="top" if below else "bottom",
                color=colours[name],
                fontsize=10,
            )
    ax.set_yticks([0, -1, -2], list(rows), fontsize=11)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    ax.set(xlim=(0.5, 0.93), ylim=(-2.5, 0.5))
    return made


def reliability(page: Page) -> Figure:
    """What the probabilities say, and how often it happened."""
    made, axes = figure(12, 4.9, 3)
    titles = {
        "the model's own": page["own"],
        "calibrated, yesterday's rate": page["p"],
        "calibrated, rate from the scores": page["p_today"],
    }
    for ax, colour, (title, p) in zip(axes, (RED, YELLOW, BLUE), titles.items(), strict=True):
        click = page["today"]["click"]
        r = cs.reliability(cs.sweep(click, p), n=250)
        cs.plot.reliability(r, ax, color=colour)
        expected = f"{p.sum():,.0f} clicks expected, {click.sum():,} actual"
        ax.set_title(f"{title}\n{expected}", loc="left", fontsize=11)
    return made


def drift(page: Page) -> Figure:
    """The rate of each day, as read from scores without labels and as it turned out."""
    made, ax = figure(8.6, 4.2)
    plain(ax, "day", "click rate, %")
    true = [100 * log["click"].mean() for log in page["logs"]]
    days = np.arange(14)
    ax.plot(days, true, "-o", color="0.15", linewidth=1.4, markersize=5, label="actual")
    ax.plot(days[7:], true[6:-1], "_", color=RED, markersize=18, mew=2, label="yesterday's rate")
    bar = {"color": BLUE, "linewidth": 8, "alpha": 0.45, "solid_capstyle": "butt"}
    for k, shift in page["shifts"].items():
        low, high = shift.interval
        label = "estimated from scores, 95 % CI" if k == 7 else None
        ax.plot([k, k], [100 * low, 100 * high], label=label, **bar)
        ax.plot(k, 100 * shift.prior, "o", color=BLUE, markersize=5, zorder=4)
    low, high = page["odd"].interval
    ax.plot([14, 14], [100 * low, 100 * high], **bar)
    ax.plot(14, 100 * page["odd"].prior, "o", color=BLUE, markersize=5, zorder=4)
    came = 100 * page["redesign"]["click"].mean()
    ax.plot(14, came, "o", color="0.15", markersize=5)
    ax.annotate(
        "new design:\nscores can't tell",
        (14, came),
        (12, 0),
        textcoords="offset points",
        ha="left",
        va="center",
        fontsize=9,
    )
    spans = {"training": (-0.4, 2.4), "calibration": (2.6, 6.4)}
    for name, (start, end) in spans.items():
        ax.axvspan(start, end, color="0.955", linewidth=0, zorder=0)
        ax.text((start + end) / 2, 0.3, name, ha="center", color=GREY, fontsize=9)
    ax.set(xlim=(-0.6, 16.6), ylim=(0, 12.5), xticks=np.arange(15))
    ax.legend(loc="upper left", frameon=False)
    return made


# A diagnostic test


def roc(page: Page) -> Figure:
    """Both ROC curves, their hull, and where each party would cut."""
    made, ax = figure(5.8, 5.6)
    for name, s in page["tests"].items():
        cs.plot.roc(cs.roc(s), ax, label=f"{name}, AUC {s.auc:.2f}", alpha=0.8)
    cs.plot.hull(page["both"], ax)
    for who, costs in page["table"].items():
        points = {k: cs.choose(s, costs, prior=0.02) for k, s in page["tests"].items()}
        best = min(points.values(), key=lambda point: point.value)
        x, y = best.confusion.fpr, best.confusion.recall
        ax.plot(x, y, "o", color="0.15", markersize=11, mfc="none", mew=1.6, zorder=6)
        # Above the curves there is room, but for the first, which is too near to the axis.
        dx, dy, ha = (18, -14, "left") if x < 0.1 else (-9, 3, "right")
        ax.annotate(who, (x, y), (dx, dy), textcoords="offset points", ha=ha, fontsize=11)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[:2], labels[:2], loc="lower right", frameon=False)
    return made


def costs(page: Page) -> Figure:
    """Cost curves of both tests, and where the parties are on them."""
    made, ax = figure(7.6, 4.6)
    for name, curve in page["curves"].items():
        cs.plot.cost_curve(curve, ax, label=name)
    for who, wanted in page["table"].items():
        x = wanted.probability_cost(prior=0.02)
        ax.axvline(x, ymax=0.93, color="0.35", linewidth=1, linestyle=(0, (1, 2)), zorder=1)
        ax.text(x, 0.535, f"{who}\n1 : {wanted.fn:g}", ha="center", va="bottom", fontsize=10)
    ax.set_ylim(-0.005, 0.575)
    ax.legend(loc="upper left", frameon=False)
    return made


def stability(page: Page) -> Figure:
    """The thresholds that resampled studies choose."""
    made, ax = figure(6.6, 3.9)
    cs.plot.stability(page["again"], ax, point=page["point"])
    return made


def people(page: Page) -> Figure:
    """A thousand people, and what either test says of them."""
    made, axes = figure(11.2, 4.4, 2)
    for ax, (name, s) in zip(axes, page["tests"].items(), strict=True):
        c = cs.choose(s, page["table"]["clinic"], prior=0.02).deployed
        tp, fn, fp = (round(1000 * count / c.total) for count in (c.tp, c.fn, c.fp))
        kinds = [
            (tp, RED, f"{tp} sick, found"),
            (fn, "0.1", f"{fn} sick, missed"),
            (fp, "#7fb8d8", f"{fp} healthy, positive test"),
            (1000 - tp - fn - fp, "0.87", f"{1000 - tp - fn - fp} healthy, negative test"),
        ]
        x, y = np.divmod(np.arange(1000), 25)
        start = 0
        for count, colour, label in kinds:
            some = slice(start, start + count)
            ax.scatter(x[some], -y[some], s=38, color=colour, linewidths=0, label=label)
            start += count
        ax.set_title(f"{name} test", loc="left", fontsize=12)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
    return made


def benefit(page: Page) -> Figure:
    """Decision curves of both tests."""
    made, ax = figure(7.6, 4.6)
    for name, curve in page["decision"].items():
        cs.plot.net_benefit(curve, ax, label=name)
    ax.set(xlim=(0, 0.12), ylim=(-0.003, 0.0205))
    ax.set_yticks(np.arange(0, 0.021, 0.005), ["0", "5", "10", "15", "20"])
    ax.set_xticks(
        np.arange(0, 0.121, 0.02), [f"{100 * t:.0f} %" for t in np.arange(0, 0.121, 0.02)]
    )
    ax.set(xlabel="threshold probability for a biopsy", ylabel="net benefit: cases found per 1,000")
    handles, labels = ax.get_legend_handles_labels()
    names = {"flag all": "biopsy for all", "flag none": "for none"}
    ax.legend(handles, [names.get(name, name) for name in labels], frameon=False)
    return made


# A language model as judge


def ratings(page: Page) -> Figure:
    """Ratings of both classes with the threshold, and the false positive rate of each task."""
    made, (left, right) = figure(10.6, 4.0, 2)
    check, at = page["check"], np.arange(1, 11)
    plain(left, "rating by the judge", "share of replies, %", "Ratings of 1,200 labelled replies")
    for shift, bad, name, colour in ((-0.2, False, "good", BLUE), (0.2, True, "failures", RED)):
        rated = check["rating"][check["bad"] == bad]
        share = 100 * np.bincount(rated, minlength=11)[1:] / len(rated)
        left.bar(at + shift, share, 0.4, color=colour, label=f"{name} ({len(rated):,})")
    left.axvline(page["t"], ymax=0.8, color="0.15", linewidth=1.4)
    left.set(xticks=at, ylim=(0, 38))
    left.text(page["t"], 31, "flagged →", ha="left", fontsize=10)
    left.grid(False, axis="x")
    left.legend(loc="upper right", frameon=False, ncols=2)
    plain(right, "good replies flagged, % (95 % CI)", "", "False positive rate by task")
    slices = {"all tasks": page["checked"], **page["slices"]}
    bar = {"linewidth": 7, "alpha": 0.4, "solid_capstyle": "butt"}
    for k, s in enumerate(slices.values()):
        rate, (low, high) = s.at(page["t"]).fpr, cs.interval(s, "fpr", at=page["t"])
        colour = "0.15" if k == 0 else BLUE
        right.plot([100 * low, 100 * high], [-k, -k], color=colour, **bar)
        right.plot(100 * rate, -k, "o", color=colour, markersize=7)
    right.axvline(5, color=RED, linewidth=1.4, linestyle=(0, (4, 3)))
    right.text(5.15, 0.55, "limit: 5 %", color=RED, va="center")
    right.set_yticks(-np.arange(len(slices)), list(slices), fontsize=11)
    right.set(xlim=(0, 16), ylim=(-3.5, 0.8))
    right.grid(False, axis="y")
    return made


def prevalence(page: Page) -> Figure:
    """The share of failures of two months: flagged, as estimated, and the truth."""
    made, axes = figure(10.6, 3.9, 2)
    t, checked = page["t"], page["checked"]
    bar = {"linewidth": 7, "alpha": 0.4, "solid_capstyle": "butt"}
    for ax, month in zip(axes, ("april", "may"), strict=True):
        log, n = page[month], page["n"]
        flags = int((log["rating"] >= t).sum())
        found = cs.corrected_prevalence(checked.at(t), flags, n)
        shift = page["shift"] if month == "april" else page["shift_may"]
        rows = {
            "flagged": (flags / n, None),
            "corrected": (found.prevalence, found.interval),
            "prior_shift": (shift.prior, shift.interval),
        }
        if month == "may":
            rows |= {k: (part.prevalence, part.interval) for k, part in page["parts"].items()}
        plain(ax, "share of failures, % (95 % CI)", "", month.capitalize())
        for k, (name, (value, interval)) in enumerate(rows.items()):
            own = name in page["parts"]
            colour = GREEN if own else GREY if interval is None else BLUE
            if interval is not None:
                ends = [100 * end for end in interval]
                ax.plot(ends, [-k, -k], color=colour, **bar)
            ax.plot(100 * value, -k, "o", color=colour, markersize=7)
            if own:  # the truth of this task
                true = 100 * log["bad"][log["task"] == name].mean()
                ax.plot([true, true], [-k - 0.3, -k + 0.3], color="0.15", linewidth=1.6)
        ax.plot([100 * log["bad"].mean()] * 2, [-2.4, 0.4], color="0.15", linewidth=1.6)
        ax.text(100 * log["bad"].mean(), 0.5, "truth", ha="center", va="bottom")
        ax.set_yticks(-np.arange(len(rows)), list(rows), fontsize=11)
        ax.set(xlim=(0, 15), ylim=(-len(rows) + 0.4, 1.1))
        ax.grid(False, axis="y")
    return made


def money(page: Page) -> Figure:
    """What it costs to hold the payments that are most worth it, and the best single threshold."""
    made, ax = figure(8.5, 4.4)
    cs.plot.money(page["by_amount"], ax)
    ax.set(xlim=(-0.3, 15), ylim=(0, 1400), xlabel="payments held, %")
    ax.set_ylabel("cost per 1,000 payments")
    for text in ax.texts[:1]:  # the dashed line ends outside of this part
        text.xy = (10.5, text.xy[1])
    return made


def days(page: Page) -> Figure:
    """Payments held on each day, by costs alone and under the limit."""
    made, axes = figure(8.5, 4.4, 2)
    ways = (
        ("by costs alone", page["per_day"]),
        ("at most 20 on 90 % of days", page["team_per_day"]),
    )
    for ax, (title, held) in zip(axes, ways, strict=True):
        over = held > 20
        at = np.arange(len(held))
        ax.bar(at[~over], held[~over], color=BLUE, width=0.8)
        ax.bar(at[over], held[over], color=RED, width=0.8)
        ax.axhline(20, color="0.15", linewidth=1.2)
        plain(ax, "day", "payments held", title)
        ax.set_ylim(0, 32)
    return made


STORIES: dict[str, list[Callable[[Page], Figure]]] = {
    "factory": [shifts, guarantee, budget],
    "clicks": [groups, reliability, drift],
    "diagnostic": [roc, costs, stability, people, benefit],
    "judge": [ratings, prevalence],
    "payments": [money, days],
}


if __name__ == "__main__":
    for path in draw(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES):
        print(path)
