"""The page of messages: every kind with its meaning and an example."""

from __future__ import annotations

from inspect import cleandoc

from cutscore.core.findings.base import COMMAND, PYTHON, Finding, kinds


def meaning(kind: type[Finding]) -> list[str]:
    """What a kind means, in paragraphs."""
    text = cleandoc(kind.__doc__ or "")
    return [" ".join(part.split()) for part in text.split("\n\n")]


def page() -> str:
    """The page in Markdown."""
    return "\n".join([_HEAD, *(_entry(kind) for kind in kinds().values())])


def _entry(kind: type[Finding]) -> str:
    example = kind(**kind.example)
    python, command = example.render(PYTHON), example.render(COMMAND)
    lines = [python] if python == command else [f"Python:  {python}", f"command: {command}"]
    parts = [f"## {kind.code}", f"*{kind.severity}*", *meaning(kind)]
    return "\n\n".join([*parts, "```text\n" + "\n".join(lines) + "\n```"]) + "\n"


_HEAD = """\
# Messages

Every error, warning and note is a finding: it has a code, fields with the values concerned, a
place, and possible fixes. An exception has it as `error.finding`; `--json` prints its fields;
`cutscore explain CODE` prints its entry on this page. Programs should use codes and fields, never
the text, which may change. In JSON, `{"shown": "…"}` replaces a value that is neither a number
nor text, and a fix whose value only you can know is `null`. `make messages` generates this page.
"""


if __name__ == "__main__":
    print(page(), end="")
