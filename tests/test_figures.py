"""The figures of the pages: all are made by docs/figures.py, all are shown, none is missing."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

import cutscore as cs
from cutscore.linear.structural import as_trainable
from cutscore.linear.surrogates import Classes, Masses

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_figures", DOCS / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIGURES = script()
NAMES = sorted(FIGURES.FIGURES)


def shown() -> Iterator[tuple[Path, Path]]:
    """Each page, with each picture in it."""
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", page.read_text(encoding="utf-8")):
            yield page, (page.parent / name).resolve()


def draw(name: str, folder: Path) -> Path:
    """One figure, made now."""
    FIGURES.FIGURES[name](folder / name)
    return folder / name


def test_all_figures_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = {name: FIGURES.FIGURES[name] for name in ("sweep-flow.svg", "reduces.svg")}
    monkeypatch.setattr(FIGURES, "FIGURES", some)
    made = FIGURES.main(tmp_path / "images")
    assert made == [tmp_path / "images" / name for name in some]
    assert all(path.is_file() for path in made)


def test_pages_show_every_image_and_every_image_is_there():
    pictures = list(shown())
    missing = [(page.name, picture.name) for page, picture in pictures if not picture.is_file()]
    assert missing == []
    assert {path for path in IMAGES.iterdir() if path.is_file()} <= {path for _, path in pictures}


def test_pictures_say_what_they_show():
    for page in DOCS.rglob("*.md"):
        for words in re.findall(r"!\[([^]]*)\]\(", page.read_text(encoding="utf-8")):
            assert len(words.split()) >= 5, page.name


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_made_and_kept(name: str, tmp_path: Path) -> None:
    new, kept = draw(name, tmp_path), IMAGES / name
    assert kept.is_file()
    if name.endswith(".png"):
        assert new.read_bytes()[:8] == kept.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        return
    for path in (new, kept):
        text = path.read_text(encoding="utf-8")
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "date>" not in text
        assert not re.search(r'[" ,](nan|inf)[" ,]', text)
    # A kept file that shows something else has been forgotten; sizes differ between versions.
    assert 0.7 < new.stat().st_size / kept.stat().st_size < 1.4


@pytest.mark.parametrize("name", ["sweep-flow.svg", "reduces.svg"])
def test_drawn_by_hand_is_kept_to_the_byte(name: str, tmp_path: Path) -> None:
    assert draw(name, tmp_path).read_bytes() == (IMAGES / name).read_bytes()


def test_the_same_bytes_again(tmp_path: Path) -> None:
    for name in ("roc.svg", "sigmoid.svg"):
        one, other = (draw(name, tmp_path).read_bytes() for _ in range(2))
        assert one == other


def test_the_flow_shows_the_numbers_of_its_sweep(tmp_path: Path) -> None:
    s = cs.sweep(*FIGURES.TEN)
    drawn = ElementTree.parse(draw("sweep-flow.svg", tmp_path))
    texts = [e.text for e in drawn.iter() if e.tag.endswith("text")]
    table = texts.index("threshold")
    masses = texts[table + 3 : table + 3 + 3 * len(s)]
    columns = (s.threshold.tolist(), s.pos.tolist(), s.neg.tolist())
    assert masses == [f"{v:g}" for row in zip(*columns, strict=True) for v in row]
    assert f"AUC {s.auc:g}: a fraction" in texts
    t = cs.choose(s, "f1").threshold
    assert f"flag from {t:g} on:" in texts


def test_the_heat_map_has_the_surrogate_for_its_maximum():
    pos, neg = FIGURES.ranked()
    surrogate = as_trainable("f1").surrogate(Masses.of(None, len(pos), len(neg)))
    grid = FIGURES.candidates(pos, neg)
    assert grid.shape == (len(pos) + 1, len(neg) + 1)
    assert grid[-1, 0] == pytest.approx(0.0, abs=1e-12)  # the true labelling
    worst = surrogate.worst(Classes(pos, neg))
    assert worst.value == pytest.approx(grid.max(), rel=1e-12)
    a, b = np.unravel_index(grid.argmax(), grid.shape)
    assert (a, b) == (np.count_nonzero(worst.slope.pos == 0), np.count_nonzero(worst.slope.neg))


def test_the_staircase_overfits_few_rows_and_the_wrong_line_never_recovers() -> None:
    right, wrong = FIGURES.shapes()
    for shape, n, better in (
        (right, 50, "logistic"),
        (right, 2000, "logistic"),
        (wrong, 50, "logistic"),
        (wrong, 2000, "monotone"),
    ):
        found = FIGURES.out_of_sample(shape, n, 60, seed=7)
        mean = {method: np.mean(found[method]) for method in ("logistic", "monotone")}
        assert min(mean, key=mean.__getitem__) == better
        assert found["truth"] < min(mean.values())


def test_the_losses_are_those_of_the_true_probabilities() -> None:
    """By numerical integration over the densities themselves."""
    from scipy.integrate import quad
    from scipy.stats import norm

    def entropy(pos, neg):
        def at(x):
            a, b = pos(x), neg(x)
            return -(a * np.log(a / (a + b)) + b * np.log(b / (a + b))) / 2

        return at

    right, wrong = FIGURES.shapes()
    exact = quad(entropy(norm(1.5).pdf, norm.pdf), -7, 9)[0]
    assert FIGURES.out_of_sample(right, 50, 1, seed=0)["truth"] == pytest.approx(exact, abs=2e-4)
    exact = quad(entropy(lambda x: 8 * x**7, lambda _: 1.0), 1e-9, 1)[0]
    assert FIGURES.out_of_sample(wrong, 50, 1, seed=0)["truth"] == pytest.approx(exact, abs=2e-4)
