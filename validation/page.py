"""The page of sections that were each run whole, perhaps at different times."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "validation.md"
_MARK = re.compile(r"<!-- (\S+): (\S+) CPU minutes, library (.+) -->\n")


def library() -> str:
    """A digest of the library's sources."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "native").glob("*.?pp")]
    parts = (hashlib.sha256(path.read_bytes()).digest() for path in sorted(files))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:8]


@dataclass(frozen=True)
class Section:
    """The text of a section, and what it was run with."""

    text: str
    minutes: str
    library: str


def read() -> dict[str, Section]:
    """The sections of the page as it is."""
    _, *parts = _MARK.split(PAGE.read_text(encoding="utf-8"))
    return {
        name: Section(text.split("\n## How it was run\n")[0].strip("\n"), minutes, with_)
        for name, minutes, with_, text in zip(*(iter(parts),) * 4, strict=True)
    }


def write(sections: dict[str, Section]) -> None:
    """The page of these sections, and what each was run with."""
    lines = [INTRODUCTION]
    for name, s in sections.items():
        lines += [f"<!-- {name}: {s.minutes} CPU minutes, library {s.library} -->", s.text, ""]
    lines += [
        RUN_TEXT.format(library=library()),
        "| section | CPU minutes | library |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {s.minutes} | {s.library} |" for name, s in sections.items()]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


INTRODUCTION = """# Validation

How often do confidence intervals contain the true value, and how often are guarantees violated? We
simulate from distributions with known true values (`make validate`), with 5,000 samples per row
unless stated otherwise. A coverage outside 94 to 96 % is in bold. With 5,000 samples that happens
by chance once in a thousand rows.
"""

RUN_TEXT = """## How it was run

CPU time of each section of `validation/run.py`, and a digest of the library sources that it was run
with. The page was last written with {library}.
"""
