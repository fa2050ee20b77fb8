"""The report in a real browser: what it shows after sliders were moved is what the library says.

Chromium is driven over a pipe by its own protocol; no driver, no port, no other package.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import cutscore as cs
from cutscore.core.interval import Interval
from cutscore.core.numbers import number_text, per_cent
from cutscore.decision.words import headline, on_rows
from cutscore.measures.confusion import count_text
from cutscore.measures.registry import measure_text
from cutscore.report import (
    Estimate,
    Learner,
    Learners,
    Weight,
    render,
    summarise,
    summarise_policy,
)

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium on this machine")

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1280,900"),
]

# Chromium reads from 3 and writes to 4. Out of their way first, since they may be these.
AT_3_AND_4 = """
import fcntl, os, sys
a, b = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(a, 3), os.dup2(b, 4)
os.close(a), os.close(b)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """Chromium at the other end of two pipes; messages are JSON that ends with a zero byte."""

    def __init__(self, profile: Path) -> None:
        (theirs_in, self.out), (self.inn, theirs_out) = os.pipe(), os.pipe()
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", AT_3_AND_4, str(theirs_in), str(theirs_out), *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.events = b"", 0, []

    def close(self) -> None:
        self.send("Browser.close")
        self.process.wait(timeout=20)
        os.close(self.out)
        os.close(self.inn)

    def read(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            assert select.select([self.inn], [], [], 60)[0], "Chromium does not answer"
            more = os.read(self.inn, 1 << 16)
            assert more, "Chromium has gone"
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def send(self, method: str, session: str | None = None, **params: Any) -> Any:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data) :]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def wait(self, method: str, session: str | None) -> None:
        def there() -> bool:
            return any(e.get("method") == method and e["sessionId"] == session for e in self.events)

        while not there():
            self.events.append(self.read())


class Page:
    """A tab with a report in it."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.session, self.url = browser, None, ""
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def open(self, path: Path, *, script: bool = True, **media: str) -> None:
        features = [{"name": n.replace("_", "-"), "value": v} for n, v in media.items()]
        self.send("Emulation.clearDeviceMetricsOverride")
        self.send("Emulation.setEmulatedMedia", media="", features=features)
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.url = path.as_uri()
        self.browser.events.clear()
        self.send("Page.navigate", url=self.url)
        self.browser.wait("Page.loadEventFired", self.session)

    def send(self, method: str, **params: Any) -> Any:
        return self.browser.send(method, self.session, **params)

    def __call__(self, code: str) -> Any:
        done = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def live(self) -> dict[str, str]:
        """Every text that the script keeps up to date; the same key shows the same everywhere."""
        pairs = self(
            "[...document.querySelectorAll('[data-live]')]"
            ".map(e => [e.dataset.live, e.textContent])"
        )
        out = dict(pairs)
        assert all(out[key] == text for key, text in pairs)
        return out

    def slide(self, name: str, value: Any) -> None:
        self(
            f"{{ const e = document.getElementById('{name}'); e.value = {value};"
            " e.dispatchEvent(new Event('input', {bubbles: true})) }"
        )

    def type(self, name: str, text: str) -> None:
        self(
            f"{{ const e = document.getElementById('{name}'); e.value = '{text}';"
            " e.dispatchEvent(new Event('change', {bubbles: true})) }"
        )

    def press(self, key: str, times: int = 1) -> None:
        codes = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "PageUp": 33}
        for _ in range(times):
            for kind in ("rawKeyDown", "keyUp"):
                self.send(
                    "Input.dispatchKeyEvent",
                    type=kind,
                    key=key,
                    code=key,
                    windowsVirtualKeyCode=codes[key],
                )

    def mouse(self, kind: str, x: float, y: float) -> None:
        self.send(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            clickCount=1,
            button="none" if kind == "mouseMoved" else "left",
            buttons=0 if kind == "mouseReleased" else 1,
        )

    def box(self, query: str) -> list[float]:
        """Where an element is after it was scrolled into view, and the page has noticed."""
        return self(
            f"new Promise(done => {{ const e = document.querySelector('{query}');"
            " e.scrollIntoView({block: 'center'});"
            " requestAnimationFrame(() => requestAnimationFrame(() => {"
            " const b = e.getBoundingClientRect(); done([b.left, b.top, b.width, b.height]) })) })"
        )

    def troubles(self) -> list[Any]:
        """Errors on the console, and requests for anything but the page itself."""
        self("0")  # so that everything before it has arrived
        mine = [e for e in self.browser.events if e.get("sessionId") == self.session]
        out = [e for e in mine if e["method"] == "Runtime.exceptionThrown"]
        out += [e for e in mine if e["method"] in ("Runtime.consoleAPICalled", "Log.entryAdded")]
        asked = [
            e["params"]["request"]["url"]
            for e in mine
            if e["method"] == "Network.requestWillBeSent"
        ]
        return out + [url for url in asked if url != self.url and not url.startswith("data:")]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield Page(browser)
    browser.close()


@pytest.fixture
def open_page(tab: Page, tmp_path: Path) -> Any:
    def make(summary: Any, title: str = "A report", **options: Any) -> Page:
        path = tmp_path / "report.html"
        path.write_text(render(summary, title), encoding="utf-8")
        tab.open(path, **options)
        return tab

    return make


class _Live(HTMLParser):
    """The texts of a page as it was written, before its script ran."""

    def __init__(self) -> None:
        super().__init__()
        self.key: str | None = None
        self.out: dict[str, str] = {}

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self.key = dict(attrs).get("data-live", self.key)
        if self.key:
            self.out.setdefault(self.key, "")

    def handle_data(self, data: str) -> None:
        if self.key:
            self.out[self.key] = data

    def handle_endtag(self, _: str) -> None:
        self.key = None


def rows(n: int, share: float, seed: int, decimals: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    y[:2] = (True, False)
    return y, np.round(rng.standard_normal(n) + 1.3 * y, decimals)


def expected(p: cs.OperatingPoint) -> dict[str, str]:
    """What the page must show at an operating point, by the library alone."""
    rule = headline(p)
    d = p.deployed
    out = {
        "rule": rule[0].lower() + rule[1:],
        "natural": "O" + on_rows(p.confusion, p.question.prior)[1:],
        "threshold": repr(p.threshold).replace("inf", "∞"),
    }
    for cell in ("tp", "fp", "fn", "tn"):
        mass = getattr(p.confusion, cell)
        out[cell] = count_text(mass)
    for name in (
        "recall",
        "fpr",
        "precision",
        "flagged_rate",
        "specificity",
        "npv",
        "accuracy",
        "balanced_rate",
        "f1",
        "mcc",
        "lift",
    ):
        out[name] = measure_text(name, float(getattr(d, name)))
    if p.cost_per_1000 is not None:
        out["cost"] = number_text(p.cost_per_1000)
    return out


def same(page: Page, p: cs.OperatingPoint) -> None:
    shown, wanted = page.live(), expected(p)
    assert {key: shown[key] for key in wanted} == wanted


SETTINGS = [
    ("0.05", None),
    ("1", None),
    ("7", None),
    ("20", 0.002),
    ("400", 0.0003),
    ("1000", 0.5),
    ("0.7", 0.07),
]


@pytest.mark.parametrize(
    ("n", "share", "seed", "decimals"),
    [(8, 0.5, 0, 1), (60, 0.3, 1, 1), (500, 0.1, 2, 0), (9_000, 0.02, 3, 3), (120_000, 0.01, 4, 6)],
)
def test_sliders_choose_as_the_library_does(
    open_page: Any, n: int, share: float, seed: int, decimals: int
) -> None:
    y, score = rows(n, share, seed, decimals)
    s = cs.sweep(y, score)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=20)))
    same(page, cs.choose(s, cs.Costs(fp=1, fn=20)))
    for ratio, prior in SETTINGS:
        page("document.getElementById('reset').click()")
        page.type("ratio-number", ratio)
        if prior is not None:
            page.type("prior-number", f"{100 * prior:.6g}")
        same(page, cs.choose(s, cs.Costs(fp=1, fn=float(ratio)), prior=prior))
        t = cs.thresholds_for(s, [1 / float(ratio)], prior=prior)[0]
        assert page.live()["threshold"] == repr(float(t)).replace("inf", "∞")
    assert page.troubles() == []


REVIEWED = ("review_rate", "fnr", "fpr", "precision", "npv", "error_rate", "recall", "specificity")


def same_three_way(page: Page, p: cs.OperatingPoint, reverse: bool = False) -> None:
    c, d, shown = p.confusion, p.deployed, page.live()
    rule = headline(p, reverse)
    review, block = (repr(0.0 - t if reverse else t).replace("inf", "∞") for t in p.cuts)
    wanted = {
        "rule": rule[0].lower() + rule[1:],
        "natural": "O" + on_rows(c, p.question.prior)[1:],
        "threshold": block,
        "review-threshold": review,
        "rp": count_text(c.reviewed_pos),
        "rn-share": per_cent(c.reviewed_neg / c.negatives),
        "fn-share": per_cent(c.fn / c.positives),
    }
    wanted |= {name: measure_text(name, float(getattr(d, name))) for name in REVIEWED}
    if p.cost_per_1000 is not None:
        wanted["cost"] = number_text(p.cost_per_1000)
    assert {key: shown[key] for key in wanted} == wanted


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("drawn", [(60, 0.3, 1, 1), (9_000, 0.02, 3, 3), (30_000, 0.01, 4, 6)])
def test_two_thresholds_follow_costs_and_hands(open_page: Any, drawn: Any, reverse: bool) -> None:
    y, score = rows(*drawn)
    s, kept = cs.sweep(y, score), {"fp": 2.5, "review": 0.3, "review_miss": 0.1}
    name = ["mine"] if reverse else []
    column = 0.0 - score if reverse else score
    page = open_page(summarise(y, {"mine": column}, costs=cs.Costs(fn=50, **kept), reverse=name))
    same_three_way(page, cs.choose(s, cs.Costs(fn=50, **kept)), reverse)
    for ratio, prior in [*SETTINGS, ("0.001", None)]:
        page("document.getElementById('reset').click()")
        page.type("ratio-number", ratio)
        if prior is not None:
            page.type("prior-number", f"{100 * prior:.6g}")
        costs = cs.Costs(fn=float(ratio) * 2.5, **kept)
        same_three_way(page, cs.choose(s, costs, prior=prior), reverse)
    page("document.getElementById('reset').click()")
    last = int(page("document.getElementById('cut').max"))
    for slider, at in (("cut", last // 2), ("review", last // 3), ("review", last), ("cut", 0)):
        page.slide(slider, at)
        block, review = (
            int(page(f"document.getElementById('{k}').value")) for k in ("cut", "review")
        )
        assert review <= block
        assert {"cut": block, "review": review}[slider] == at
        assert page.live()["why"].startswith("Set by hand")
    link = page("location.hash")
    held = page.live()
    page("document.getElementById('reset').click()")
    page(f"location.hash = {link!r}")
    page("new Promise(done => setTimeout(done, 50))")
    assert page.live() == held
    assert page.troubles() == []


def test_a_drag_moves_the_nearer_of_two_handles(open_page: Any) -> None:
    y, score = rows(9_000, 0.1, 3, 3)
    limits = ["precision >= 0.5", "reviewed <= 500"]
    page = open_page(summarise(y, {"mine": score}, maximize="fnr", subject_to=limits))
    same_three_way(page, cs.choose(cs.sweep(y, score), "fnr", subject_to=limits))
    before = page.live()
    left, top, width, height = page.box("[data-plot=scores]")
    x, up = left + 0.2 * width, top + height / 2
    for kind, at in (("mousePressed", x), ("mouseMoved", x - 20), ("mouseReleased", x - 20)):
        page.mouse(kind, at, up)
    after = page.live()
    assert after["threshold"] == before["threshold"]
    assert float(after["review-threshold"]) < float(before["review-threshold"])
    page("document.getElementById('handle').focus()")
    page.press("ArrowRight")
    assert float(page.live()["threshold"]) > float(before["threshold"])
    assert page("document.getElementById('best').hidden")
    assert page.troubles() == []


def test_scores_of_which_low_ones_mean_positive(open_page: Any) -> None:
    y, score = rows(300, 0.2, 6, 1)
    s = cs.sweep(y, score)
    both = {"low": 700 - 50 * score, "mine": score}
    page = open_page(summarise(y, both, costs=cs.Costs(fp=1, fn=20), reverse=["low"]))
    turned = cs.sweep(y, 0.0 - both["low"])
    for ratio in ("20", "1", "0.001", "9999"):
        page.type("ratio-number", ratio)
        p, best = (cs.choose(x, cs.Costs(fp=1, fn=float(ratio))) for x in (turned, s))
        live = page.live()
        text = repr(0.0 - p.threshold).replace("inf", "∞")
        rule = {"inf": "everything", "-inf": "nothing"}.get(repr(-p.threshold), f"scores ≤ {text}")
        assert (live["headline"], live["threshold"]) == (f"Flag {rule}", text)
        assert live["sense"] == "Flag scores ≤"
        assert (live["best-0"], live["best-1"]) == (
            text,
            repr(best.threshold).replace("inf", "∞"),
        )
        assert live["tp"] == count_text(p.confusion.tp)
    page("document.querySelector('input[name=score][value=\"1\"]').click()")
    assert page.live()["sense"] == "Flag scores ≥"
    assert page.troubles() == []


def test_every_stop_of_the_sliders(open_page: Any) -> None:
    y, score = rows(300, 0.2, 5, 1)
    s = cs.sweep(y, score)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=2, fn=6)))
    data = json.loads(page("document.getElementById('data').textContent"))
    assert data["ratios"][data["ratioAt"]] == "3"
    for k in range(0, len(data["ratios"]), 5):
        page.slide("ratio", k)
        fn = 2 * float(data["ratios"][k])
        same(page, cs.choose(s, cs.Costs(fp=2, fn=fn)))
        assert page("document.getElementById('ratio-number').value") == data["ratios"][k]
    page.slide("ratio", data["ratioAt"])
    for k in range(0, len(data["priors"]), 4):
        page.slide("prior", k)
        same(page, cs.choose(s, cs.Costs(fp=2, fn=6), prior=data["priors"][k]))
    assert page.troubles() == []


def test_ties_go_to_fewer_false_alarms(open_page: Any) -> None:
    # Both segments of the hull have three positives to a negative: at a ratio of 1/3 all tie.
    s = cs.Sweep.from_counts([4, 3, 2, 1], pos=[30, 30, 3, 1], neg=[10, 10, 3, 10])
    y = np.repeat([1, 1, 1, 1, 0, 0, 0, 0], [30, 30, 3, 1, 10, 10, 3, 10])
    score = np.repeat([4, 3, 2, 1, 4, 3, 2, 1], [30, 30, 3, 1, 10, 10, 3, 10])
    page = open_page(summarise(y, {"mine": score}))
    for ratio in ("0.3333333333333333", "0.3333333333333334", "1", "10", "0.1"):
        page.type("ratio-number", ratio)
        same(page, cs.choose(s, cs.Costs(fp=1, fn=float(ratio))))


def test_as_written_is_as_computed(open_page: Any) -> None:
    """The script changes nothing when it starts: Python and it write the same."""
    y, score = rows(4_000, 0.05, 6, 3)
    cases: list[Any] = [
        summarise(y, {"mine": score}),
        summarise(y, {"mine": score, "other": -score}, costs=cs.Costs(fp=3, fn=1, tp=2)),
        summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=3), prior=0.001),
        summarise(y, {"mine": score}, maximize="recall", subject_to="fpr <= 0.01", confidence=0.9),
        summarise(
            y, {"mine": score}, maximize="recall", subject_to="precision >= 0.4", confidence=0.9
        ),
        summarise(y, {"mine": score}, maximize="precision", subject_to="recall >= 2 %"),
        summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=1e-9)),
        summarise(y, {"mine": score}, costs=cs.Costs(fp=0, fn=1)),
        summarise(y, {"p": 1 / (1 + np.exp(-score))}, maximize="f1"),
        summarise(y, {"mine": score}, weight=np.linspace(0.1, 3, len(y)), costs=cs.Costs(1, 9)),
        summarise(y, {"mine": np.where(score > 2.5, np.inf, score)}, costs=cs.Costs(1, 0.001)),
        summarise([1, 0], {"mine": [1e-7, 2e22]}),
        summarise([1, 0], {"mine": [5, 5]}),
    ]
    for summary in cases:
        before = _Live()
        before.feed(render(summary))
        page = open_page(summary)
        after = {key: text for key, text in page.live().items() if not key.startswith("best-")}
        wanted = {key: text for key, text in before.out.items() if not key.startswith("best-")}
        assert after == wanted
        assert page.troubles() == []


def test_weighted_rows(open_page: Any) -> None:
    y, score = rows(2_000, 0.1, 7, 2)
    weight = np.random.default_rng(0).integers(1, 5, len(y)) / 4  # sums of these are exact
    s = cs.sweep(y, score, weight, squares=True)
    page = open_page(summarise(y, {"mine": score}, weight=weight, costs=cs.Costs(fp=1, fn=5)))
    for ratio, prior in [("2", None), ("30", None), ("30", 0.01)]:
        page.type("ratio-number", ratio)
        if prior:
            page.type("prior-number", f"{100 * prior:g}")
        same(page, cs.choose(s, cs.Costs(fp=1, fn=float(ratio)), prior=prior))


def test_the_threshold_is_dragged_and_moved_by_keys(open_page: Any) -> None:
    y, score = rows(400, 0.3, 8, 2)
    s = cs.sweep(y, score)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=2)))
    start = page.live()

    def shown() -> cs.Confusion:
        live = page.live()
        assert live["headline"] == f"Flag scores ≥ {live['threshold']}"
        c = s.at(float(live["threshold"]))
        assert [live[k] for k in ("tp", "fp", "fn", "tn")] == [
            str(x) for x in (c.tp, c.fp, c.fn, c.tn)
        ]
        assert live["recall"] == per_cent(c.recall)
        assert live["precision"] == per_cent(c.precision)
        cost = (c.fp + 2 * c.fn) / 400
        assert live["cost"] == number_text(1000 * cost)
        regret = 1000 * (cost - cs.choose(s, cs.Costs(fp=1, fn=2)).value)
        if regret > 1e-6:
            assert f"would cost {number_text(regret)} less per 1,000 cases" in live["why"]
        return c

    left, top, width, height = page.box("[data-plot=scores]")
    page.mouse("mousePressed", left + 0.5 * width, top + 0.5 * height)
    half = shown()
    page.mouse("mouseMoved", left + 0.8 * width, top + 0.6 * height)
    most = shown()
    page.mouse("mouseReleased", left + 0.8 * width, top + 0.6 * height)
    page.mouse("mouseMoved", left + 0.2 * width, top + 0.6 * height)
    assert shown() == most
    assert most.flagged < half.flagged
    axis = json.loads(page("document.getElementById('data').textContent"))["scores"][0]["axis"]
    assert float(page.live()["threshold"]) == pytest.approx(
        axis[1] + 0.8 * (axis[2] - axis[1]), abs=0.03
    )

    page("document.getElementById('handle').focus()")
    cuts = [shown().flagged]
    for _ in range(5):
        page.press("ArrowLeft")
        cuts.append(shown().flagged)
    assert cuts == sorted(set(cuts))  # one score more each time
    page.press("ArrowRight", 5)
    assert shown().flagged == cuts[0]
    page.press("End")
    assert page.live()["headline"] == "Flag nothing"
    assert page.live()["precision"] == "–"
    page.press("Home")
    assert page.live()["headline"] == "Flag everything"
    assert (
        page("document.getElementById('handle').getAttribute('aria-valuetext')")
        == "flag everything"
    )

    page("document.getElementById('best').click()")
    back = page.live()
    assert back["why"] == "The best threshold for these costs."
    for key in ("why", "expected"):
        back[key] = start[key]
    assert back == start
    page("document.getElementById('reset').click()")
    assert page.live() == start
    assert page.troubles() == []


def test_costs_are_shown_once_they_are_set(open_page: Any) -> None:
    y, score = rows(2_000, 0.1, 17, 2)
    summary = summarise(y, {"mine": score}, maximize="f1")
    page = open_page(summary)
    marks = "dd[data-live=cost], td [data-live=cost], .dotdash, [data-draw=iso]"
    shown = f"[...document.querySelectorAll('{marks}')].map((e) => e.checkVisibility())"
    seen = "getComputedStyle(document.querySelector('[data-live=f1-expected]')).visibility"
    told = summary.scores[0].measures["f1"].text()
    assert page(shown) == [False] * 4
    assert (page.live()["f1-expected"], page(seen)) == (told, "visible")
    page.type("ratio-number", "15")
    assert page(shown) == [True] * 4
    assert page(seen) == "hidden"
    page("document.getElementById('reset').click()")
    assert page(shown) == [False] * 4
    assert (page.live()["f1-expected"], page(seen)) == (told, "visible")
    page.type("prior-number", "0.7")
    assert page(seen) == "hidden"
    assert page.troubles() == []
    given = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=20)))
    assert given(shown) == [True] * 4


def test_what_was_asked_stays_until_the_costs_move(open_page: Any) -> None:
    y, score = rows(2_000, 0.1, 17, 2)
    s = cs.sweep(y, score)
    limit = {"subject_to": "fpr <= 0.05", "confidence": 0.9}
    page = open_page(summarise(y, {"mine": score}, maximize="recall", **limit))
    p = cs.choose(s, "recall", **limit)
    page.type("prior-number", "0.7")
    live, d = page.live(), p.confusion.deployed(0.007)
    assert live["headline"] == f"Flag scores ≥ {p.threshold!r}"
    assert live["precision"] == per_cent(d.precision)
    assert live["why"].endswith("The threshold stays fixed when you change the prevalence.")
    page.type("ratio-number", "15")
    same(page, cs.choose(s, cs.Costs(fp=1, fn=15), prior=0.007))
    assert page.live()["why"] == "The best threshold for these costs, ignoring limits."
    for bad in ("", "0", "-1", "1e200"):
        page.type("ratio-number", bad)
        assert page("document.getElementById('ratio-number').ariaInvalid") == "true"
        same(page, cs.choose(s, cs.Costs(fp=1, fn=15), prior=0.007))
    page.type("prior-number", "100")
    same(page, cs.choose(s, cs.Costs(fp=1, fn=15), prior=0.007))
    assert page.troubles() == []


def test_plots_are_clicked(open_page: Any) -> None:
    y, score = rows(3_000, 0.3, 9, 3)
    s = cs.sweep(y, score)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=2)))
    left, top, width, height = page.box("[data-plot=roc]")
    page.mouse("mousePressed", left + 0.1 * width, top + 0.45 * height)
    page.mouse("mouseReleased", left + 0.1 * width, top + 0.45 * height)
    c = s.at(float(page.live()["threshold"]))
    curve = cs.roc(s)
    nearest = np.hypot(curve.fpr - 0.1, curve.tpr - 0.55).min()
    assert np.hypot(c.fpr - 0.1, c.recall - 0.55) <= nearest + 0.01
    assert page("document.getElementById('tip').hidden") is False
    assert f"recall {per_cent(c.recall)}" in page("document.getElementById('tip').textContent")
    # The marks are where the numbers say, in every picture.
    dot = page(
        "[...document.querySelectorAll('[data-dot=roc]')].map(e => [e.style.left, e.style.bottom])"
    )[0]
    assert [float(x.rstrip("%")) for x in dot] == pytest.approx(
        [100 * c.fpr, 100 * c.recall], abs=1e-3
    )
    left, top, width, height = page.box("[data-plot=nb]")
    page.mouse("mousePressed", left + 0.5 * width, top + 0.5 * height)
    page.mouse("mouseReleased", left + 0.5 * width, top + 0.5 * height)
    ratio = page("document.getElementById('ratio-number').value")
    assert float(ratio) == pytest.approx(1, rel=0.05)
    same(page, cs.choose(s, cs.Costs(fp=1, fn=float(ratio))))


def test_switching_scores(open_page: Any) -> None:
    y, a = rows(2_000, 0.1, 10, 2)
    b = np.round(1 / (1 + np.exp(-a - 0.5 * np.random.default_rng(1).standard_normal(len(y)))), 3)
    sweeps = {"first": cs.sweep(y, a), "second": cs.sweep(y, b)}
    page = open_page(summarise(y, {"first": a, "second": b}, costs=cs.Costs(fp=1, fn=8)))
    page.type("ratio-number", "12")
    for k, s in ((1, sweeps["second"]), (0, sweeps["first"]), (1, sweeps["second"])):
        page(f"document.querySelectorAll('input[name=score]')[{k}].click()")
        same(page, cs.choose(s, cs.Costs(fp=1, fn=12)))
        seen = page(
            "[...document.querySelectorAll('.of')].filter(e => e.offsetParent)"
            ".map(e => e.dataset.d)"
        )
        assert set(seen) == {str(k)}
        assert page("document.querySelector('#handle').closest('.of').dataset.d") == str(k)
    live = page.live()
    for k, s in enumerate(sweeps.values()):
        best = cs.choose(s, cs.Costs(fp=1, fn=12))
        assert live[f"best-{k}"] == repr(best.threshold)
        assert live[f"best-cost-{k}"] == number_text(best.cost_per_1000)
    assert page.troubles() == []


def corners(d: str) -> list[tuple[int, int]]:
    """Where a path turns: how many points are between does not matter."""
    points = [(int(x), int(y)) for x, y in (p.split(",") for p in d.lstrip("M").split())]
    out: list[tuple[int, int]] = []
    for p in points:
        if len(out) > 1:
            (a, b), (c, d_) = out[-2:]
            back = (c - a) * (p[0] - c) + (d_ - b) * (p[1] - d_) < 0
            if (a == c == p[0] or b == d_ == p[1]) and not back:
                out.pop()
        out.append(p)
    return out


def test_precision_recall_is_steps_wherever_it_is_drawn(open_page: Any) -> None:
    y, score = rows(200, 0.3, 20, 1)
    asked = render(summarise(y, {"mine": score}, prior=0.05))
    wanted = asked.rpartition('" data-draw="pr-0"')[0].rpartition('"')[2]
    page = open_page(summarise(y, {"mine": score}))
    page.type("prior-number", "5")
    path = page("document.querySelector('[data-draw=pr-0]').getAttribute('d')")
    assert corners(path) == corners(wanted)
    assert path.startswith("M0,")
    hidden = "document.querySelector('[data-dot=pr]').hidden"
    assert page(hidden) is False
    page("document.getElementById('handle').focus()")
    page.press("End")
    assert page.live()["headline"] == "Flag nothing"
    assert page(hidden) is True
    page.press("ArrowLeft")
    assert page(hidden) is False
    # Nor does a click find a cut that has no place there.
    left, top, *_ = page.box("[data-plot=pr]")
    page.mouse("mousePressed", left + 1, top + 1)
    page.mouse("mouseReleased", left + 1, top + 1)
    assert page.live()["precision"] != "–"
    assert page.troubles() == []


def test_a_constant_score_is_flagging_at_random(open_page: Any) -> None:
    page = open_page(summarise([1, 0, 0, 0], {"mine": [5, 5, 5, 5]}))
    page.type("prior-number", "10")
    assert page("document.querySelector('[data-draw=pr-0]').getAttribute('d')") == "M0,900 1000,900"


def test_the_point_of_net_benefit_is_on_its_curve_or_nowhere(open_page: Any) -> None:
    y, score = rows(2_000, 0.01, 21, 2)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=50)))
    at = (
        "(e => [e.hidden, parseFloat(e.style.left), parseFloat(e.style.bottom)])"
        "(document.querySelector('[data-dot=nb]'))"
    )
    for prevalence, end in ((None, 0.05), ("20", 1.0), ("3", 0.1)):
        if prevalence is not None:
            page.type("prior-number", prevalence)
        for ratio in ("50", "19", "9", "0.5"):
            page.type("ratio-number", ratio)
            t = 1 / (1 + float(ratio))
            hidden, left, bottom = page(at)
            assert hidden is (t > end)
            if not hidden:
                assert left == pytest.approx(100 * t / end, abs=1e-3)
                d = page("document.querySelector('[data-draw=nb-0]').getAttribute('d')")
                curve = corners(d)
                x, height = np.array(curve).T
                wanted = 100 - np.interp(1000 * t / end, x, height) / 10
                assert bottom == pytest.approx(wanted, abs=0.3)
        ticks = page("[...document.querySelectorAll('[data-plot=nb] .tx')].map(e => e.textContent)")
        assert float(ticks[-1]) == end
    page("document.getElementById('reset').click()")
    fresh = page("document.querySelector('[data-plot=nb]').innerHTML")
    assert 'data-draw="nb-0"' in fresh
    assert page.troubles() == []


@pytest.mark.parametrize("share", [0.207_331, 0.016_916])
def test_boxes_show_their_numbers_whole(open_page: Any, share: float) -> None:
    y, score = rows(2_000, share, 22, 2)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=7, fn=100_000 / 3)))
    for stop in (0, "document.getElementById('prior').max", 17):
        page.slide("prior", stop)
        assert cut_off(page) == []
    page("document.getElementById('reset').click()")
    assert cut_off(page) == []
    box = float(page("document.getElementById('prior-number').value"))
    assert box == float(f"{100 * np.mean(y):.4g}")


def cut_off(page: Any) -> list[str]:
    """The values of boxes that are wider than these."""
    return page(
        "[...document.querySelectorAll('input[type=number]')]"
        ".filter(e => e.scrollWidth > e.clientWidth).map(e => e.value)"
    )


HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "\"'><svg onload=window.hacked=1>",
    "line\nbreak\u2028and\u2029more",
    "\u202eright to left, שלום",
    "&lt;b&gt;",
    "{{7*7}} ${window.hacked = 1}",
]


def of_groups(names: list[str], **options: Any) -> Any:
    """What a page says of a policy with groups."""
    y, x = rows(3000, 0.2, 5)
    s = cs.sweeps_by_group(y, x, np.resize(np.array(names, object), len(y)))
    costs = cs.Costs(fp=1, fn=9)
    return summarise_policy(cs.Policy.choose_groups(s, costs, column="place", **options))


def of_normal_rows() -> Any:
    y, x = np.zeros(2000), np.random.default_rng(1).normal(size=2000)
    days = cs.periods(y, x, np.repeat(np.arange(50), 40))
    aim = cs.Aim("recall", ("fp <= 1 per day", "fpr <= 5 %"), confidence=0.9, periods=days)
    return summarise_policy(cs.Policy.choose(cs.sweep(y, x), aim))


def of_costs_by_row() -> Any:
    y, x = rows(1500, 0.2, 7)
    column = "an amount" + "x" * 99
    amount = np.random.default_rng(2).lognormal(3, 1, len(y)).round(2)
    costs = cs.Costs(fp=4, fn=f'"{column}" + 5')
    p = cs.Policy.choose_by_row(
        y, x, costs, {column: amount}, calibrator="platt", subject_to="fpr <= 30 %"
    )
    return summarise_policy(p)


OF_POLICIES = {
    "common": lambda: of_groups(["de", "fr", "x" * 99], each="fpr <= 9 %"),
    "own": lambda: of_groups(["de", "fr", "x" * 99], thresholds="group", gap="fpr <= 9 %"),
    "normal": of_normal_rows,
    "by row": of_costs_by_row,
}


@pytest.mark.parametrize("kind", list(OF_POLICIES))
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_pages_of_policies(open_page: Any, kind: str, width: int, theme: str) -> None:
    page = open_page(OF_POLICIES[kind](), prefers_color_scheme=theme)
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=width < 500,
    )  # fmt: skip
    assert page("document.documentElement.scrollWidth") <= width
    assert page("[...document.querySelectorAll('svg')].every(s => s.ariaLabel)")
    texts = "[...document.querySelectorAll('svg')].map(s => s.getAttribute('aria-describedby'))"
    ids = page(texts)
    assert all(page(f"document.getElementById('{one}').innerText") for one in ids)
    drawn = "[...document.querySelectorAll('.bygroup .span')].map(p => p.getBBox().width)"
    spans = page(drawn)
    assert len(spans) == (12 if kind in ("common", "own") else 0)
    assert all(0 <= one <= 1000 for one in spans)


def test_what_is_said_of_groups_leaves_with_the_threshold(open_page: Any) -> None:
    page = open_page(OF_POLICIES["common"]())
    seen = "getComputedStyle(document.querySelector('.as-is')).visibility"
    before = page("document.querySelector('#by-group').innerText")
    assert page(seen) == "visible"
    page("document.getElementById('cut').value = 3")
    page("document.getElementById('cut').dispatchEvent(new Event('input')) && 0")
    assert page(seen) == "hidden"
    assert page("document.querySelector('#by-group').innerText") == before


def test_a_threshold_under_limits_of_groups_stays_at_the_start(open_page: Any) -> None:
    """The best for the costs alone would be another."""
    y, x = rows(3000, 0.2, 5)
    s = cs.sweeps_by_group(y, x, np.resize(["de", "fr"], len(y)))
    costs = cs.Costs(fp=1, fn=9)
    p = cs.Policy.choose_groups(s, costs, each="fpr <= 5 %")
    assert p.threshold != cs.choose(s.total, costs).threshold
    page = open_page(summarise_policy(p))
    assert page("document.getElementById('answer').innerText").startswith(
        f"Flag scores ≥ {p.threshold!r}"
    )
    page.type("prior-number", "30")
    assert page("document.getElementById('answer').innerText").startswith(
        f"Flag scores ≥ {p.threshold!r}"
    )


def test_hostile_names_are_text(open_page: Any) -> None:
    y, score = rows(100, 0.4, 11, 1)
    group = np.resize(HOSTILE, len(y))
    summary = summarise(
        y,
        {name: score + k for k, name in enumerate(HOSTILE)},
        group=group,
        group_name=HOSTILE[0],
        label=HOSTILE[1],
        source=HOSTILE[2],
    )
    page = open_page(summary, title=HOSTILE[1])
    for k in range(len(HOSTILE)):
        page(f"document.querySelectorAll('input[name=score]')[{k}].click()")
        left, top, width, height = page.box("[data-plot=roc]")
        page.mouse("mouseMoved", left + 0.3 * width, top + 0.3 * height)
    assert page("window.hacked") is None
    assert page("document.title") == HOSTILE[1]
    names = page("[...document.querySelectorAll('.pick bdi')].map(e => e.textContent)")
    assert names == [
        n.replace("\u2028", "\ufffd").replace("\u2029", "\ufffd").replace("\u202e", "\ufffd")
        for n in HOSTILE
    ]
    assert page("document.querySelectorAll('img, main script, svg[onload]').length") == 0
    assert page.troubles() == []


def test_light_and_dark(open_page: Any) -> None:
    y, score = rows(100, 0.4, 12, 1)
    summary = summarise(y, {"mine": score})
    ground = "getComputedStyle(document.body).backgroundColor"
    page = open_page(summary, prefers_color_scheme="dark")
    assert page(ground) == "rgb(19, 21, 23)"
    page("document.getElementById('theme').click()")  # auto, then light
    assert page(ground) == "rgb(246, 246, 244)"
    page("document.getElementById('theme').click()")
    assert page(ground) == "rgb(19, 21, 23)"
    page("localStorage.clear()")
    assert open_page(summary, prefers_color_scheme="light")(ground) == "rgb(246, 246, 244)"


def test_without_scripts(open_page: Any) -> None:
    y, score = rows(1_000, 0.2, 13, 2)
    summary = summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=4))
    page = open_page(summary, script=False)
    document = page.send("DOM.getDocument", depth=0)["root"]["nodeId"]

    def text(query: str) -> str:
        node = page.send("DOM.querySelector", nodeId=document, selector=query)["nodeId"]
        return page.send("DOM.getOuterHTML", nodeId=node)["outerHTML"]

    p = summary.scores[0].point
    assert f"Flag scores ≥ {p.threshold!r}" in text(".answer")
    assert p.expected is not None
    for words in (
        Estimate.of(p.expected).times(1000).text(),
        "O" + on_rows(p.confusion, None)[1:],
    ):
        assert words in text(".answer")
    assert "M0,1000" in text("[data-plot=roc] .curve")
    controls = page.send("DOM.querySelector", nodeId=document, selector=".controls form")["nodeId"]
    with pytest.raises(AssertionError, match="box model"):  # nothing to slide, nothing shown
        page.send("DOM.getBoxModel", nodeId=controls)


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_no_width_needs_scrolling_sideways(open_page: Any, width: int) -> None:
    y, score = rows(3_000, 0.02, 14, 3)
    names = ["a rather long name of a score that somebody thought of", "b", "c_d_e_f_g_h" * 6]
    page = open_page(summarise(y, {name: score * (k + 1) for k, name in enumerate(names)}))
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=800,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    assert page("document.documentElement.scrollWidth") <= width


def test_prints_without_controls(open_page: Any) -> None:
    y, score = rows(500, 0.2, 15, 2)
    page = open_page(summarise(y, {"mine": score}), prefers_color_scheme="dark")
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert page("document.querySelector('.settings').checkVisibility()")
    assert page("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.send("Page.printToPDF")["data"]) > 10_000


@pytest.mark.parametrize("count", [3, 6])
def test_no_number_is_beyond_the_edge_of_a_sheet(open_page: Any, count: int) -> None:
    y, score = rows(3_000, 0.1, 18, 3)
    noise = np.random.default_rng(0).standard_normal((count, len(y)))
    names = [f"a score with a long name {k}" for k in range(count)]
    page = open_page(
        summarise(y, {name: score + noise[k] for k, name in enumerate(names)}, prior=0.0123)
    )
    sheet = 688  # A4 between its margins, in pixels
    page.send("Emulation.setEmulatedMedia", media="print")
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=sheet, height=1000, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    ends = page(
        "[...document.querySelectorAll('td, th')].map(e => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= sheet


def test_tables_that_go_on_show_it(open_page: Any) -> None:
    y, score = rows(3_000, 0.1, 19, 3)
    page = open_page(summarise(y, {name: score * k for k, name in enumerate("abc", 1)}))
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=360, height=800, deviceScaleFactor=1, mobile=True,
    )  # fmt: skip
    wide = page(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => [getComputedStyle(e).overflowX, getComputedStyle(e).backgroundAttachment])"
    )
    assert wide
    assert {tuple(one) for one in wide} == {("auto", "local, local, scroll, scroll")}


def test_learners_and_what_is_said_of_them_fit_a_window(open_page: Any) -> None:
    y, score = rows(3_000, 0.1, 19, 3)
    span = Interval(-0.0123456, 0.0123456, 0.95)
    note = "learned nothing in 3 of 5 folds: all weights are 0. " * 4
    compared = tuple(
        Learner(name, Estimate(0.123456, span), Estimate(-0.0012345, span), 0.0123, note)
        for name in ("mean-difference", "structural")
    )
    summary = replace(
        summarise(y, {"mine": score}), learners=Learners("f1", compared, "structural")
    )
    page = open_page(summary)
    page.send(
        "Emulation.setDeviceMetricsOverride",
        width=1200, height=800, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    beyond = page(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        ".map(e => e.textContent)"
    )
    assert beyond == []
    assert page("document.querySelectorAll('.said').length") == 2


def test_weights_diverge_from_one_line(open_page: Any) -> None:
    y, score = rows(3_000, 0.1, 19, 3)
    weights = tuple(Weight(f"x{k}", 1.0, w) for k, w in enumerate((2.0, -1.0, 0.5, -0.25, 0.0)))
    page = open_page(replace(summarise(y, {"mine": score}), weights=weights))
    bars = page(
        "[...document.querySelectorAll('.weight')].map(e => {"
        "const a = e.getBoundingClientRect(), b = e.firstElementChild.getBoundingClientRect();"
        "return [b.left - a.left, b.right - a.left].map(x => 4 * x / a.width - 2)})"
    )
    wanted = [[0, 2], [-1, 0], [0, 0.5], [-0.25, 0], [0, 0]]
    assert np.allclose(bars, wanted, atol=0.02)


# From `npm install --no-save axe-core` in the root of the repository.
AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_violations(open_page: Any, theme: str, width: int) -> None:
    y, score = rows(2_000, 0.1, 27, 2)
    other = np.round(1 / (1 + np.exp(2 - score)), 3)
    c = cs.calibrate(cs.sweep(y, score), "platt")
    learners = Learners("auc", (Learner("logistic", Estimate(0.8)),), "logistic", "The only one.")
    many = summarise(
        y,
        {"a": score, "b": other},
        costs=cs.Costs(fp=1, fn=8),
        calibrators={"a": c},
        group=np.resize(["x", "y"], len(y)),
    )
    for summary in (
        replace(many, learners=learners, weights=(Weight("x", 1.0, -2.0),), training=(("a", "b"),)),
        summarise(y, {"a": -score}),
        summarise(y, {"a": score}, maximize="recall", subject_to="precision >= 0.99"),
    ):
        page = open_page(summary, prefers_color_scheme=theme)
        page.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        page(AXE.read_text(encoding="utf-8") + "; 0")
        for moved in (False, True):
            if moved:
                page.type("ratio-number", "15")
            found = page("axe.run().then(r => r.violations)")
            told = [(v["id"], [n["html"][:200] for n in v["nodes"]][:3]) for v in found]
            assert told == []


def test_the_scenario_is_in_the_address(open_page: Any) -> None:
    y, score = rows(2_000, 0.1, 23, 2)
    other = np.round(score + np.random.default_rng(0).standard_normal(len(y)), 2)
    page = open_page(summarise(y, {"a": score, "b": other}, costs=cs.Costs(fp=1, fn=8)))
    assert page("location.hash") == ""
    page("document.querySelectorAll('input[name=score]')[1].click()")
    page.type("ratio-number", "12")
    page.type("prior-number", "3")
    page("document.getElementById('handle').focus()")
    page.press("ArrowLeft", 3)
    before, link = page.live(), page("location.href")
    assert "score=1" in link
    for url in ("about:blank", link):
        page.browser.events.clear()
        page.send("Page.navigate", url=url)
        page.browser.wait("Page.loadEventFired", page.session)
    assert page.live() == before
    assert page("document.getElementById('prior-number').value") == "3"
    page("document.querySelector('.contents a').click()")
    assert page("location.href") == link
    page("document.querySelectorAll('input[name=score]')[0].click()")
    page("document.getElementById('reset').click()")
    assert page("location.hash") == ""


def test_the_threshold_is_copied_and_charts_are_saved(open_page: Any) -> None:
    y, score = rows(500, 0.2, 24, 2)
    s = cs.sweep(y, score)
    page = open_page(summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=8)))
    page(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () {"
        " saved.push([this.download, this.href]) };"
        " Object.defineProperty(navigator, 'clipboard',"
        " {value: {writeText: async t => window.copied = t}})"
    )
    page("document.getElementById('copy').click()")
    assert page("window.copied") == repr(cs.choose(s, cs.Costs(fp=1, fn=8)).threshold)
    for chart in ("scores", "roc", "pr", "cost", "nb", "shares"):
        for kind in ("csv", "png"):
            page(f"document.querySelector('[data-chart={chart}] [data-export={kind}]').click()")
    count = "new Promise(done => setTimeout(() => done(saved.length), 500))"
    assert page(count) == 12
    saved = {name: unquote(href.partition(",")[2]) for name, href in page("saved") if "csv" in name}
    head, *lines = saved["roc.csv"].splitlines()
    assert head == "threshold,false_positive_rate,sensitivity"
    t, fpr, tpr = (float(x) for x in lines[40].split(","))
    c = s.at(t)
    assert (fpr, tpr) == pytest.approx((c.fpr, c.recall), rel=1e-12)
    bins = [line.split(",") for line in saved["scores.csv"].splitlines()[1:]]
    assert sum(float(one[2]) for one in bins) == pytest.approx(s.P, rel=1e-4)
    assert all(href.startswith("data:image/png") for name, href in page("saved") if "png" in name)
    assert page.troubles() == []


def test_counts_and_densities(open_page: Any) -> None:
    y, score = rows(500, 0.2, 24, 2)
    page = open_page(summarise(y, {"mine": score}))
    shown = (
        "['density', 'counts'].map(k => [...document.querySelectorAll("
        "`[data-chart=scores] .ty.${k}`)].every(e => e.checkVisibility()))"
    )
    assert page(shown) == [True, False]
    page("document.getElementById('scale').click()")
    assert page(shown) == [False, True]


def test_a_verdict_stays_while_sliders_move(open_page: Any) -> None:
    y, score = rows(500, 0.2, 25, 2)
    summary = summarise(y, {"wrong": -score, "right": score}, costs=cs.Costs(fp=1, fn=4))
    page = open_page(summary)
    red = "document.querySelector('.answer').classList.contains('unusable')"
    verdict = summary.scores[0].verdict.headline
    assert (page(red), page.live()["headline"]) == (True, verdict)
    page.type("ratio-number", "2")
    assert (page(red), page.live()["headline"]) == (True, verdict)
    page("document.querySelectorAll('input[name=score]')[1].click()")
    assert page(red) is False
    assert page.live()["headline"].startswith("Flag scores ≥ ")


def test_a_calibrated_probability_follows_the_prevalence(open_page: Any) -> None:
    y, score = rows(2_000, 0.1, 26, 2)
    c = cs.calibrate(cs.sweep(y, score), "platt")
    page = open_page(summarise(y, {"a": score}, costs=cs.Costs(fp=1, fn=8), calibrators={"a": c}))
    for prior in (None, 0.02, 0.4):
        if prior is not None:
            page.type("prior-number", f"{100 * prior:g}")
        p = cs.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=8), prior=prior)
        chance = 100 * float(c.probability(p.threshold, np.mean(y) if prior is None else prior))
        assert (
            page.live()["headline"]
            == f"Flag scores ≥ {p.threshold!r} (probability ≥ {chance:.3g} %)"
        )


def test_a_million_scores_make_a_small_page(open_page: Any) -> None:
    y, score = rows(1_000_000, 0.02, 16, 15)
    s = cs.sweep(y, score)
    assert len(s) > 990_000
    summary = summarise(y, {"mine": score}, costs=cs.Costs(fp=1, fn=20))
    assert len(render(summary).encode()) < 300_000
    page = open_page(summary)
    for ratio, prior in SETTINGS:
        page("document.getElementById('reset').click()")
        page.type("ratio-number", ratio)
        if prior is not None:
            page.type("prior-number", f"{100 * prior:.6g}")
        same(page, cs.choose(s, cs.Costs(fp=1, fn=float(ratio)), prior=prior))
