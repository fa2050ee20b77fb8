"""What several commands have in common: opening tables, reading columns, costs, JSON."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import signal
import stat
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cutscore._check import shown
from cutscore._files import written_aside
from cutscore._interval import Interval
from cutscore._labels import against, labelled
from cutscore._names import spelled
from cutscore.cli import UsageError
from cutscore.errors import DataError
from cutscore.findings import COMMAND, Finding
from cutscore.guarantee import check_guarantee
from cutscore.objectives import Costs, as_limits, as_objective, check_level, check_prior
from cutscore.scoring import check_seed
from cutscore.selection import Expected
from cutscore.tables import Source, open_table
from cutscore.tables.formats import EXTENSIONS, WRITTEN
from cutscore.tables.opening import check_decimal

# A column that is called so is taken for what it says, if it is the only one, and that is said.
_LABELS = ("label", "y", "y_true", "target", "truth", "class", "outcome")
_SCORES = ("score", "s", "y_score", "y_prob", "prob", "probability", "prediction", "pred")


def remark(arguments: Namespace, found: Finding | str | None) -> None:
    """Say something that is not the result, if there is something."""
    if found and not arguments.quiet:
        text = found if isinstance(found, str) else found.render(COMMAND)
        print(f"cutscore: {text}", file=sys.stderr)


def source(arguments: Namespace) -> Source:
    """The table that was named."""
    if not arguments.paths and arguments.sql is None:
        raise UsageError("which table? Name a file, - for the standard input, or a query: --sql.")
    if arguments.separator is not None and len(arguments.separator) != 1:
        raise UsageError(f"--separator must be one character; it is {shown(arguments.separator)}.")
    try:
        check_decimal(arguments.decimal, arguments.separator)
    except DataError as error:
        raise UsageError(error.finding) from None
    table = open_table(
        arguments.paths or None,
        format=arguments.format,
        sql=arguments.sql,
        header=False if arguments.no_header else None,
        separator=arguments.separator,
        decimal=arguments.decimal,
        missing=arguments.missing,
    )
    for note in table.notes:
        remark(arguments, note)
    return table


# What is said where scores rank the wrong way.
INVERTED = "the AUC is below one half. If low scores mean positive, say so: --reverse NAME."


class Rows(NamedTuple):
    """The columns that were asked for."""

    label: str
    y: Any
    scores: dict[str, Any]
    weight: Any
    group: Any
    unit: Any
    positive: Any
    """The label that was named to be it, or None: then labels are 0/1 or -1/1."""
    source: Source
    note: Finding | None
    """What to say of the labels."""


class Named(NamedTuple):
    """A table, and what its columns are for."""

    source: Source
    label: str
    scores: list[str]


def named(arguments: Namespace) -> Named:
    """The columns that were named, or go without saying."""
    table = source(arguments)
    remarks: list[str] = []
    label = arguments.label or _found(table, _LABELS, "--label", remarks, 1)[0]
    scores = arguments.score or _found(
        table, [n for n in _SCORES if n != label], "--score", remarks, None
    )
    for text in remarks:
        remark(arguments, text)
    twice = {name for name in scores if scores.count(name) > 1}
    if twice:
        raise UsageError(f"each score is named once; {shown(min(twice))} is named twice.")
    for name in arguments.reverse:
        if name not in scores:
            raise UsageError(
                f"--reverse says of a score that low means positive; {shown(name)} is not among "
                f"the scores, {', '.join(map(shown, scores))}. Name it there too: --score NAME."
            )
    return Named(table, label, scores)


def rows(
    arguments: Namespace, what: Named, group: str | None = None, unit: str | None = None
) -> Rows:
    """Labels, scores, weights, groups and units, in memory."""
    table, label, scores = what
    extra = [name for name in (arguments.weight, group, unit) if name]
    numbers = [*scores, *([arguments.weight] if arguments.weight else [])]
    columns = table.columns([label, *scores, *extra], numbers=numbers)
    y, positive, note = columns[label], None, None
    if arguments.positive is not None:
        found = labelled(y, arguments.positive, label)
        y, positive = found.y, found.positive
        note = against(found, label)
    return Rows(
        label,
        y,
        {name: columns[name] for name in scores},
        columns[arguments.weight] if arguments.weight else None,
        columns[group] if group else None,
        columns[unit] if unit else None,
        positive,
        table,
        note,
    )


def _found(
    table: Source, known: Sequence[str], option: str, remarks: list[str], most: int | None
) -> list[str]:
    names = [name for name in table.names if name.lower() in known]
    if not names or (most is not None and len(names) > most):
        what = "no column has a name that tells" if not names else f"{len(names)} columns could be"
        some = ", ".join(map(shown, table.names[:12])) + (" …" if len(table.names) > 12 else "")
        raise DataError(
            f"which column is it? {what}; {table.where} has {some}. Say so: {option} NAME."
        )
    remarks.append(f"{option[2:]}: {', '.join(map(shown, names))}, by name.")
    return names


def costs(arguments: Namespace) -> Costs | None:
    """Costs from ``fp=1,fn=20``."""
    text = arguments.cost
    if text is None:
        return None
    found: dict[str, float] = {}
    before = ""
    for part in text.split(","):
        name, sign, value = (piece.strip() for piece in part.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = None
        if not sign or number is None or name not in ("fp", "fn", "tp", "tn") or name in found:
            raise UsageError(
                "costs must be written as fp=1,fn=20, with tp and tn if they bring something in; "
                f"they are {shown(text)}.{_with_point(before, part)}{_in_one_word(arguments)}"
            )
        found[name], before = number, part
    if not {"fp", "fn"} <= set(found):
        raise UsageError(
            f"costs need fp and fn, as in fp=1,fn=20; they are {shown(text)}."
            f"{_in_one_word(arguments)}"
        )
    try:
        return Costs(**found)
    except DataError as error:
        raise UsageError(error.finding) from None


def _with_point(before: str, part: str) -> str:
    """The way out if a number has a unit, or a decimal comma cut it in two."""
    if re.search(r"=\s*([^\d\s.+-]+\s*[\d.]+|[\d.]+\s*[^\d\s.]+)$", part.strip()):
        return " Write numbers alone, in one unit: fp=4,fn=180."
    if not (re.search(r"[0-9]\s*$", before) and re.fullmatch(r"[0-9]+", part.strip())):
        return ""
    return f" Numbers have a point, not a comma: write {before.strip()}.{part.strip()}."


def _in_one_word(arguments: Namespace) -> str:
    """The way out if there was a space between them, and the rest was taken for files."""
    rest = [path for path in arguments.paths if re.match(r"(fp|fn|tp|tn)=", path)]
    if not rest:
        return ""
    whole = ",".join(word.strip(", ") for word in (arguments.cost, *rest))
    return f" Write them without a space: --cost {shlex.quote(whole)}."


def check_options(arguments: Namespace) -> None:
    """Raise, before a table is read, if the options can't be meant: a value that is none of theirs,
    two aims, a confidence that is given for nothing or can't be had."""
    given = {
        name: value
        for name in ("prior", "confidence", "maximize", "subject_to", "seed")
        if (value := getattr(arguments, name, None)) is not None
    }
    for name, value in given.items():
        try:
            checked = _CHECKS[name](value)
        except DataError as error:
            raise UsageError(error.finding) from None
        if name == "maximize" and checked.better < 0:
            remark(
                arguments,
                f"of {shown(value)} less is better: the threshold is chosen for the least of it.",
            )
    if getattr(arguments, "folds", 2) < 2:
        raise UsageError(f"--folds must be at least 2; it is {arguments.folds}.")
    if "subject_to" in given:
        _check_limits(arguments)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "prior": check_prior,
    "confidence": partial(check_level, name="confidence"),
    "maximize": as_objective,
    "subject_to": as_limits,
    "seed": check_seed,
}


def _check_limits(arguments: Namespace) -> None:
    if arguments.cost is not None and arguments.maximize is not None:
        raise UsageError("there must be one aim: give --cost or --maximize, not both.")
    if arguments.confidence is not None and not arguments.subject_to:
        raise UsageError(
            "--confidence is for limits: give --subject-to 'precision >= 0.9' as well."
        )
    if arguments.confidence is not None:
        for limit in as_limits(arguments.subject_to):
            try:
                check_guarantee(limit, arguments.prior)
            except DataError as error:
                raise UsageError(error.finding) from None


def as_json(value: Any) -> str:
    """JSON without NaN and Infinity, which it has not."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def finite(x: float | None) -> float | None:
    """A number for JSON; None for those that it has not."""
    return None if x is None or x != x or abs(x) == float("inf") else float(x)  # noqa: PLR0124


def estimate(value: float, interval: Interval | Expected | None) -> dict[str, Any]:
    """A number with its interval, for JSON."""
    return {
        "value": finite(value),
        "low": None if interval is None else finite(interval.low),
        "high": None if interval is None else finite(interval.high),
        "level": None if interval is None else interval.level,
    }


def check_outputs(arguments: Namespace) -> None:
    """Raise before the work begins if a file could not be written after it."""
    for name, option in (("output", "-o"), ("report", "--report")):
        if arguments.command in ("fit", "evaluate") and getattr(arguments, name, None) == "-":
            raise UsageError(
                f"the standard output takes the summary: name a file, {option} "
                f"{'model.json' if name == 'output' else 'report.html'}."
            )
    outputs = [
        os.fspath(path)
        for path in (getattr(arguments, "output", None), getattr(arguments, "report", None))
        if path not in (None, "-")
    ]
    if len(outputs) == 2 and os.path.realpath(outputs[0]) == os.path.realpath(outputs[1]):
        raise UsageError(f"model and report need a file each; both are {spelled(outputs[0])}.")
    inputs = [path for path in (getattr(arguments, "paths", None) or []) if path != "-"]
    for path in outputs:
        if not path or "\0" in path:
            raise UsageError(f"a path to write to must be text; it is {shown(path)}.")
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "its folder is not there", path)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        for read in (*inputs, getattr(arguments, "model", None)):
            if read and os.path.realpath(path) == os.path.realpath(read):
                raise UsageError(f"{spelled(path)} is read from; write to another file.")
        if arguments.command == "apply" and _written_as(path) not in WRITTEN:
            raise UsageError(
                f"the extension must tell how to write {spelled(path)}: .csv, .tsv, .parquet, "
                ".arrow, .feather or .jsonl. Choose one."
            )


def _written_as(path: str) -> str | None:
    return EXTENSIONS.get(Path(path).suffix.lower())


def write_files(contents: Mapping[str, str | bytes]) -> None:
    """All of these files, or none of them."""
    before = None
    try:
        with ExitStack() as stack:
            for path, content in contents.items():
                file = stack.enter_context(written_aside(path))
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    os.fsync(file.fileno())
            # All on the disk. They are only renamed now, and it is too late for an interrupt.
            with suppress(ValueError):
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def page(arguments: Namespace, summary: Any, title: str) -> str:
    """The report of a summary."""
    from cutscore.report import render

    command = shlex.join(["cutscore", *arguments.words])
    return render(summary, title, command, points=points(arguments))


def points(arguments: Namespace) -> dict[str, tuple[float, float]]:
    """The classifiers that are single points, by name."""
    found: dict[str, tuple[float, float]] = {}
    for name, rates in getattr(arguments, "point", ()):
        if name in found:
            raise UsageError(f"each point is named once; {shown(name)} is named twice.")
        found[name] = rates
    if found and not arguments.report:
        raise UsageError("--point is drawn on the page: give --report report.html as well.")
    return found


def width() -> int:
    """Of the terminal, within reason."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((80, 24)).columns, 60), 120)
