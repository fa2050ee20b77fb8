"""The command line."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from cutpoint import __version__
from cutpoint.errors import CutpointError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Exit codes: 0; 1, it could not be done; 2, it was asked for wrongly."""
    parser = argparse.ArgumentParser(prog="cutpoint", description="From scores to decisions.")
    parser.add_argument("--version", action="version", version=f"cutpoint {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="evaluate a made-up detector and leave a report to look at",
        description="Evaluate a made-up detector: print what matters and write its scores, a "
        "picture of its curves and a report.",
        epilog="example: cutpoint demo -o demo && open demo/report.html",
    )
    demo.add_argument(
        "-o", "--output", type=Path, default=Path("demo"), metavar="FOLDER", help="default: demo"
    )
    arguments = parser.parse_args(argv)
    try:
        from cutpoint.demo import run  # here, so that --help needs neither NumPy nor matplotlib

        text = run(arguments.output)
    except (CutpointError, OSError, ImportError) as error:
        print(f"cutpoint: {_explained(error)}", file=sys.stderr)
        return 1
    return _print(text)


def _print(text: str) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # an ASCII terminal has no dash like ours
    try:
        print(text, flush=True)
    except OSError as error:
        # Or the interpreter would try again at its exit, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0  # the reader has seen enough
        print(f"cutpoint: can't write to the standard output: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


def _explained(error: Exception) -> str:
    if isinstance(error, ImportError) and error.name == "matplotlib":
        return (
            "the demo draws with matplotlib, which is not installed: pip install 'cutpoint[plot]'"
        )
    if isinstance(error, OSError) and error.filename is not None:
        return f"can't write {error.filename}: {error.strerror}. Choose another folder with -o."
    return str(error)
