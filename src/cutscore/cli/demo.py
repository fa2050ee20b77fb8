"""cutscore demo."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cutscore.cli.demonstration import run as demonstrate


def run(arguments: Namespace) -> tuple[str, int]:
    """Go through it all."""
    return demonstrate(Path(arguments.output)), 0
