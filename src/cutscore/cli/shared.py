"""What several commands have in common: opening tables, reading columns, costs, JSON."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import stat
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutscore.core.errors import DataError, UsageError
from cutscore.core.files import written_aside
from cutscore.core.findings import COMMAND, BadArgument, Conflict, Finding, Where, either, some
from cutscore.core.findings.arguments import PeriodsMissing
from cutscore.core.findings.command import (
    ColumnUnstated,
    LessIsBetter,
    TakenByName,
    Usage,
)
from cutscore.core.findings.statistics import CostsByRow
from cutscore.core.findings.tables import FileUnwritable
from cutscore.core.interval import Interval
from cutscore.core.labels import binarize, one_versus_rest_note
from cutscore.inference.guarantee import check_guarantee
from cutscore.inference.selection import Expected
from cutscore.measures.aim import Aim, as_objective
from cutscore.measures.costs import Costs
from cutscore.measures.limits import as_limits
from cutscore.measures.prior import check_level, check_prior
from cutscore.sweeps.proper_scores import check_seed
from cutscore.tables import Table, open_table
from cutscore.tables.files import check_decimal
from cutscore.tables.formats.registry import WRITTEN, written_as

if TYPE_CHECKING:
    from cutscore.decision.verdict import Verdict
    from cutscore.report.summary import NormalSummary, Summary

# A column that is called so is taken for what it says, if it is the only one, and that is said.
_LABELS = ("label", "y", "y_true", "target", "truth", "class", "outcome")
_SCORES = ("score", "s", "y_score", "y_prob", "prob", "probability", "prediction", "pred")


def remark(arguments: Namespace, found: Finding | str | None) -> None:
    """Say something that is not the result, if there is something, when the work is done."""
    if found and not arguments.quiet:
        arguments.remarks.append(found if isinstance(found, str) else found.render(COMMAND))


def remark_all(arguments: Namespace, found: Iterable[Finding]) -> None:
    """Say several such things."""
    for one in found:
        remark(arguments, one)


def source(arguments: Namespace) -> Table:
    """The table that was named."""
    try:
        check_decimal(arguments.decimal, arguments.separator)
    except DataError as error:
        raise UsageError(error.finding) from None
    table = open_table(
        arguments.paths or None,
        format=arguments.format,
        sql=arguments.sql,
        header=arguments.header,
        separator=arguments.separator,
        decimal=arguments.decimal,
        missing=arguments.missing,
    )
    for note in table.notes:
        remark(arguments, note)
    return table


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
    source: Table
    note: Finding | None
    """What to say of the labels."""
    costs: dict[str, Any]
    """The columns that costs are computed from."""


class Named(NamedTuple):
    """A table, and what its columns are for."""

    source: Table
    label: str
    """Empty if all rows are normal."""
    scores: list[str]


def named(arguments: Namespace) -> Named:
    """The columns that were named, or go without saying."""
    table = source(arguments)
    label = ""
    if not getattr(arguments, "normal", False):
        label = arguments.label or _by_name(table, _LABELS, "label")[0]
    scores = arguments.scores or _by_name(table, [n for n in _SCORES if n != label], "score")
    # After both: a failure is one line.
    for option, given, names in (
        ("label", arguments.label, [label]),
        ("score", arguments.scores, scores),
    ):
        if not given and names != [""]:
            remark(arguments, TakenByName(option, tuple(names)))
    twice = {name for name in scores if scores.count(name) > 1}
    if twice:
        raise UsageError(BadArgument("score", "be named once", min(twice)))
    if label in scores:
        rule = "a column can't be both label and score"
        raise UsageError(Conflict(("label", "score"), rule, "Name another column for {1}."))
    for name in arguments.reverse:
        if name not in scores:
            raise UsageError(BadArgument("reverse", f"be one of the scores, {some(scores)}", name))
    return Named(table, label, scores)


def has_label(table: Table) -> bool:
    """Whether a column is called as labels are."""
    return any(name.lower() in _LABELS for name in table.names)


def label_of(arguments: Namespace, table: Table) -> str:
    """The label column that goes without saying."""
    (label,) = _by_name(table, _LABELS, "label")
    remark(arguments, TakenByName("label", (label,)))
    return label


def rows(
    arguments: Namespace,
    what: Named,
    group: str | None = None,
    unit: str | None = None,
    costs: Sequence[str] = (),
) -> Rows:
    """Labels, scores, weights, groups, units and the columns of costs, in memory."""
    table, label, scores = what
    extra = [name for name in (arguments.weight, group, unit) if name]
    numbers = [*scores, *([arguments.weight] if arguments.weight else []), *costs]
    labels = [label] if label else []
    wanted = list(dict.fromkeys([*labels, *scores, *extra, *costs]))
    columns = table.columns(wanted, numbers=numbers)
    positive, note = None, None
    y = columns[label] if label else np.zeros(len(columns[scores[0]]), np.bool_)
    if arguments.positive is not None:
        found = binarize(y, arguments.positive, label)
        y, positive = found.y, found.positive
        note = one_versus_rest_note(found, label)
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
        {name: columns[name] for name in costs},
    )


def _by_name(table: Table, known: Sequence[str], option: str) -> list[str]:
    """Columns whose names say what they are. There may be several scores, but one label."""
    names = tuple(name for name in table.names if name.lower() in known)
    if not names or (option == "label" and len(names) > 1):
        raise DataError(ColumnUnstated(option, table.where, tuple(table.names), names))
    return list(names)


_COSTS = tuple(field.name for field in fields(Costs))


def costs(arguments: Namespace, *, by_row: bool = False) -> Costs | None:
    """Costs from ``fp=1,fn=20``; with ``by_row`` also formulas of columns."""
    text = arguments.costs
    if text is None:
        return None
    found: dict[str, Any] = {}
    rule = (
        "look like fp=1,fn=20 (no spaces), optionally with tp= and tn= for benefits and review= "
        "for the cost of a review; of choose and evaluate, fp and fn can be formulas of columns"
    )
    for part in _split(text):
        name, _, value = (piece.strip() for piece in part.partition("="))
        if not value or name not in _COSTS or name in found:
            raise UsageError(BadArgument("costs", rule, text))
        try:
            found[name] = float(value)
        except ValueError:
            if name not in ("fp", "fn"):
                raise UsageError(BadArgument("costs", rule, text)) from None
            found[name] = value
    absent = [name for name in ("fp", "fn") if name not in found]
    if absent:
        hint = f"Missing: {' and '.join(absent)}."
        raise UsageError(BadArgument("costs", rule, text, hint))
    try:
        made = Costs(**found)
    except DataError as error:
        raise UsageError(error.finding) from None
    if made.by_row and not by_row:
        raise UsageError(CostsByRow(repr(made)))
    return made


def _split(text: str) -> list[str]:
    """The parts between commas, but for those inside of parentheses or quotes."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += 0 if quoted else (c == "(") - (c == ")")
        if c == "," and not quoted and depth <= 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def check_options(arguments: Namespace, *, limits_known: bool = False) -> None:
    """Raise, before a table is read, if the options can't be meant: a value that is none of theirs,
    two aims, a confidence that is given for nothing or can't be had. ``limits_known``: limits may
    be in a file."""
    given = {
        name: value
        for name in ("prior", "confidence", "maximize", "subject_to", "gap", "seed")
        if (value := getattr(arguments, name, None)) is not None
    }
    for name, value in given.items():
        try:
            checked = _CHECKS[name](value)
        except DataError as error:
            raise UsageError(error.finding) from None
        if name == "maximize" and checked.better < 0:
            remark(arguments, LessIsBetter(value))
    if getattr(arguments, "folds", 2) < 2:
        raise UsageError(BadArgument("folds", "be at least 2", arguments.folds))
    if "subject_to" in given:
        _check_limits(arguments, limits_known)


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "prior": check_prior,
    "confidence": partial(check_level, name="confidence"),
    "maximize": as_objective,
    "subject_to": as_limits,
    "gap": as_limits,
    "seed": check_seed,
}


# What to do about an option that is nothing without another.
NEEDS = "Add {1}, or drop {0}."


def _check_limits(arguments: Namespace, limits_known: bool) -> None:
    if arguments.costs is not None and arguments.maximize is not None:
        raise UsageError(Conflict(("costs", "maximize"), "only one objective can be given"))
    limited = limits_known or arguments.subject_to or getattr(arguments, "gap", None)
    if arguments.confidence is not None and not limited:
        raise UsageError(
            Conflict(("confidence", "subject_to"), "a confidence applies to limits", NEEDS)
        )
    limits = tuple(as_limits(arguments.subject_to))
    for limit in limits:
        if limit.period is not None and not limits_known:
            _check_period(arguments, limit.text)
    if arguments.confidence is not None:
        goal = costs(arguments, by_row=True) or as_objective(arguments.maximize or "recall")
        three_way = Aim(goal, limits).three_way
        for limit in limits:
            try:
                check_guarantee(limit, arguments.prior, three_way=three_way)
            except DataError as error:
                raise UsageError(error.finding) from None


def _check_period(arguments: Namespace, limit: str) -> None:
    if not hasattr(arguments, "period"):
        rule = "count all rows: limits per period are for cutscore choose"
        raise UsageError(BadArgument("subject_to", rule, limit, subject="a limit"))
    if arguments.period is None:
        raise UsageError(PeriodsMissing(limit))


def as_json(value: object) -> str:
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


def plain_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict, for JSON."""
    return {
        "state": verdict.state.value,
        "headline": verdict.headline,
        "findings": [found.as_dict(COMMAND) for found in verdict.findings],
    }


def check_outputs(arguments: Namespace) -> None:
    """Raise before the work begins if a file could not be written after it."""
    for name, option in (("output", "-o"), ("report", "--report")):
        if arguments.command in ("fit", "evaluate") and getattr(arguments, name, None) == "-":
            file = "model.json" if name == "output" else "report.html"
            rule = "the summary already goes to standard output"
            raise UsageError(Usage(rule, f"Use {option} {file}."))
    outputs = [
        os.fspath(path)
        for path in (getattr(arguments, "output", None), getattr(arguments, "report", None))
        if path not in (None, "-")
    ]
    if len(outputs) == 2 and os.path.realpath(outputs[0]) == os.path.realpath(outputs[1]):
        raise _unwritable(outputs[0], "--output and --report name the same file")
    inputs = [path for path in (getattr(arguments, "paths", None) or []) if path != "-"]
    for path in outputs:
        if not path or "\0" in path:
            raise UsageError(BadArgument("output", "be a path", path))
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        folder = os.path.dirname(os.path.realpath(path))
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "its folder does not exist", path)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        models = (getattr(arguments, "model", None), *(getattr(arguments, "models", None) or ()))
        for read in (*inputs, *models):
            if read and os.path.realpath(path) == os.path.realpath(read):
                raise _unwritable(path, "it is also an input file", "Write to another file.")


def check_extension(path: str) -> None:
    """Raise if it does not say how to write a table."""
    if path != "-" and written_as(path) is None:
        reason = f"unsupported extension {os.path.splitext(path)[1] or '(none)'}"
        raise _unwritable(path, reason, f"Use {either(WRITTEN, show=str)}.")


def _unwritable(path: str, reason: str, hint: str = "") -> UsageError:
    return UsageError(FileUnwritable(reason, hint, where=Where(file=path)))


def as_bytes(content: str | bytes) -> bytes:
    """Text as UTF-8. What that can't hold, as a path that is no text, is escaped."""
    return content.encode(errors="backslashreplace") if isinstance(content, str) else content


def write_files(contents: Mapping[str, str | bytes]) -> None:
    """All of these files, or none of them."""
    before = None
    try:
        with ExitStack() as stack:
            for path, content in contents.items():
                file = stack.enter_context(written_aside(path))
                file.write(as_bytes(content))
                file.flush()
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    os.fsync(file.fileno())
            # All on the disk. They are only renamed now, and it is too late for an interrupt.
            with suppress(ValueError):
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def page(arguments: Namespace, summary: Summary | NormalSummary, title: str) -> str:
    """The report of a summary."""
    from cutscore.report import render

    command = shlex.join(["cutscore", *arguments.words])
    return render(summary, arguments.title or title, command, points=points(arguments))


def points(arguments: Namespace) -> dict[str, tuple[float, float]]:
    """The classifiers that are single points, by name."""
    for option in ("title", "point"):
        written = getattr(arguments, "report", None) or arguments.command == "report"
        if getattr(arguments, option, None) and not written:
            rule = f"a {option} applies to a report"
            raise UsageError(Conflict((option, "report"), rule, NEEDS))
    found: dict[str, tuple[float, float]] = {}
    for name, rates in getattr(arguments, "point", ()):
        if name in found:
            raise UsageError(BadArgument("point", "be named once", name))
        found[name] = rates
    return found


def width() -> int:
    """Of the terminal, within reason."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((80, 24)).columns, 60), 120)


def color() -> bool:
    """Whether to print in colour: on a terminal that has it, unless NO_COLOR asks for none."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def shown(summary: Summary | NormalSummary) -> str:
    """A summary for the terminal."""
    from cutscore.report.terminal import text

    return text(summary, width(), COMMAND, color=color())


def next_step(*words: str | None) -> str:
    """What to type next."""
    return "\n\nnext: " + shlex.join(["cutscore", *(word for word in words if word)])


def columns(arguments: Namespace, what: Named, score: str) -> list[str]:
    """The table and its columns, to be typed again."""
    words = [*arguments.paths, "--label", what.label]
    if arguments.positive is not None:
        words += ["--positive", arguments.positive]
    words += ["--score", score]
    return [*words, "--reverse", score] if score in arguments.reverse else words
