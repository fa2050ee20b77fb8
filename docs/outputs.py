"""Write what commands and examples print now into the pages that show it.

    python docs/outputs.py                   all pages that show commands, and the README
    python docs/outputs.py docs/start.md …   these

Commands stand in ```console blocks after ``$ ``; what they print replaces the lines below them.
Examples after ``>>> `` whose output has changed get the new one. Tests run the same pages: look at
the changes before you commit them.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from test_cli import shell  # noqa: E402 - as the tests run them


def python(code: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)


def start(page: str, folder: Path) -> None:
    make, decide, load = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    python(make, folder)
    (folder / "decide.py").write_text(decide, encoding="utf-8")
    (folder / "load.py").write_text(load, encoding="utf-8")
    shell("true", folder)  # makes bin/
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / "bin" / "python").chmod(0o755)


def command(page: str, folder: Path) -> None:
    python(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], folder)


def readme(_: str, folder: Path) -> None:
    (folder / ".venv").symlink_to(".", target_is_directory=True)
    shell("cutscore demo", folder)


def story(_: str, folder: Path) -> None:
    """The page's own code leaves its tables in a folder."""
    path = ROOT / "docs" / "stories" / "pictures.py"
    spec = importlib.util.spec_from_file_location("story_pictures", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file in module.run("clicks")["folder"].iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())


PAGES: dict[str, Callable[[str, Path], None]] = {
    "README.md": readme,
    "docs/start.md": start,
    "docs/howto/command.md": command,
    "docs/stories/clicks.md": story,
}


def with_commands(text: str, folder: Path) -> str:
    """The page with what its commands print. Several commands in a row without output stay so."""

    def block(found: re.Match[str]) -> str:
        pieces = [p.partition("\n") for p in re.split(r"^\$ ", found[1], flags=re.M)[1:]]
        silent = len(pieces) > 1 and not any(before.strip() for *_, before in pieces)
        printed = [(line, shell(line, folder)) for line, *_ in pieces]
        out = [f"$ {line}\n{'' if silent else text}" for line, text in printed]
        return "```console\n" + "".join(out) + "```"

    return re.sub(r"```console\n(.*?)```", block, text, flags=re.S)


def with_examples(text: str, name: str) -> str:
    """The page with what its examples print now."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    lines = text.splitlines(keepends=True)
    changes: list[tuple[doctest.Example, str]] = []

    class Runner(doctest.DocTestRunner):
        def report_failure(self, *said: Any) -> None:
            changes.append(said[-2:])

    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    Runner(verbose=False, optionflags=flags).run(test, out=lambda _: None)
    for example, got in reversed(changes):
        first = example.lineno + example.source.count("\n")
        last = first + example.want.count("\n")
        printed = got.rstrip("\n").split("\n")
        if example.exc_msg is not None:  # an error: without the lines of code that it came from
            printed = [printed[0], printed[-1]]
        new = [line or "<BLANKLINE>" for line in printed]
        lines[first:last] = [" " * example.indent + line + "\n" for line in new]
    return "".join(lines)


def main(names: list[str]) -> None:
    for name in names or PAGES:
        path = ROOT / name
        before = text = path.read_text("utf-8")
        with TemporaryDirectory() as folder:
            if name in PAGES:
                PAGES[name](text, Path(folder))
                text = with_commands(text, Path(folder))
            else:
                text = with_examples(text, name)
        path.write_text(text, encoding="utf-8")
        print(f"{name}: {'changed' if text != before else 'as it was'}")


if __name__ == "__main__":
    main(sys.argv[1:])
