"""The API pages name every public name, and every public name has an example that runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache, reduce
from importlib import import_module
from pathlib import Path

import pytest

import cutscore

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = "".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("api/*.md")))
LISTED = re.findall(r"^\.\. auto(?:function|class|exception):: (\S+)$", PAGES, re.MULTILINE)

# The functions behind the estimators, for rows that live elsewhere than in arrays.
ADVANCED = ("linear.closed", "linear.logistic", "linear.perceptron", "linear.structural")
ADVANCED += ("linear.surrogates", "linear.multinomial")


@cache
def public() -> dict[str, object]:
    """Every public name once: what the package itself offers is not repeated by its modules.

    Called by tests only, since it imports PyTorch, which takes longer than all that is tested here.
    """
    names = {f"cutscore.{name}": getattr(cutscore, name) for name in cutscore._HOME}
    own = {id(value) for value in names.values()}
    modules = (name.removeprefix("cutscore.") for name in cutscore._MODULES.values())
    for short in (*modules, *ADVANCED):
        module = import_module(f"cutscore.{short}")
        for name in module.__all__:
            value = getattr(module, name)
            if id(value) not in own:
                names[f"cutscore.{short}.{name}"] = value
    return names


def test_the_api_pages_are_complete():
    assert sorted(LISTED) == sorted(public())


@pytest.mark.parametrize("name", sorted(LISTED))
def test_every_public_name_is_documented_and_exemplified(name):
    value = public()[name]
    text = inspect.getdoc(value) or ""
    assert len(text.split()) >= 5
    if not (isinstance(value, type) and issubclass(value, Exception)):
        # A result is exemplified where it is made, and says where that is.
        makers = re.findall(r"`cutscore\.([\w.]+)`", text) if isinstance(value, type) else []
        assert ">>>" in text or any(">>>" in (_named(m).__doc__ or "") for m in makers)


def _named(path: str) -> object:
    """What ``cutscore.path`` is."""
    return reduce(getattr, path.split("."), cutscore)


def test_every_page_is_in_the_table_of_contents():
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    assert sorted(_entries("index")) == sorted(pages - {"index"})


def _entries(page: str) -> Iterator[str]:
    """The pages that a table of contents lists, and those that their own tables list."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    folder = page.rpartition("/")[0]
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line[:1] not in (":", ""):
                entry = f"{folder}/{line}".strip("/")
                yield entry
                yield from _entries(entry)


@pytest.mark.parametrize(
    ("head", "there"),
    [
        (
            "| layer | modules | what |",
            {p.stem for p in Path(cutscore.__file__).parent.iterdir() if p.suffix in ("", ".py")}
            - {"__init__", "__main__", "__pycache__"},
        ),
        ("| file | what |", {p.name for p in (ROOT / "native").glob("*.?pp")}),
    ],
)
def test_the_design_page_names_every_module(head, there):
    page = (DOCS / "design.md").read_text(encoding="utf-8")
    rows = page.partition(head)[2].partition("\n\n")[0].splitlines()[2:]
    named = [name for row in rows for name in re.findall(r"`([\w.]+)`", row.split("|")[-3])]
    assert sorted(named) == sorted(there)
