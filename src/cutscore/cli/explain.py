"""cutscore explain."""

from __future__ import annotations

from argparse import Namespace
from difflib import get_close_matches
from textwrap import wrap

from cutscore.cli import shared
from cutscore.core.errors import UsageError
from cutscore.core.findings import COMMAND, BadArgument, kinds
from cutscore.core.findings.page import meaning


def run(arguments: Namespace) -> tuple[str, int]:
    """What a code means, or the list of all."""
    known = kinds()
    if arguments.code is None:
        return "\n".join(f"{code:<24} {meaning(kind)[0]}" for code, kind in known.items()), 0
    if arguments.code not in known:
        near = get_close_matches(arguments.code, list(known), 3, 0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else "cutscore explain lists all codes."
        rule = "be a known one"
        raise UsageError(BadArgument("code", rule, arguments.code, hint, subject="the code"))
    kind = known[arguments.code]
    example = kind(**kind.example).render(COMMAND)
    lines = [f"{arguments.code} ({kind.severity})", ""]
    for part in (*meaning(kind), "", "Example:"):
        lines += wrap(part, shared.width()) or [""]
    lines += wrap(example, shared.width(), initial_indent="  ", subsequent_indent="  ")
    return "\n".join(lines), 0
