"""What each column of a table is, decided by what its rows have and said in words."""

from __future__ import annotations

import json
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cutscore._check import shown
from cutscore._sweep import Floats
from cutscore._written import (
    AMOUNT,
    CODE,
    COMMA,
    DATE,
    EUROPEAN,
    MOSTLY,
    NUMBER,
    OTHER_DATE,
    may_be_mark,
)
from cutscore.detector.columns import CategoryColumn, Column, NumberColumn
from cutscore.detector.values import (
    flags,
    in_words,
    limit_way,
    numbers,
    stream,
    texts,
    whole_numbers,
)
from cutscore.errors import DataError

# More different values than this are not counted any further.
_MOST_VALUES = 1 << 17
# From so many rows on a column of values that all differ is taken for an identifier.
_FEW = 20
# From so many values on, and up to nine for ten rows, a column may name units, such as patients,
# that have several rows each. How many rows have each value does not tell: of 1,200 rows with one
# of 8,000 zip codes 98 % have one that 10 rows or less have, as all those of 700 patients do. So
# text must have digits in it, which publishers, cities and states have not; and whole numbers must
# be in order, or none be left out from the smallest to the largest. In 40 tables each, of 60 to
# 5,000 rows, 20 patients or more were always found, users with very unequal shares in two of three
# from 1,200 rows on; ages, pulses, counts and amounts were never taken for them, diagnoses in two
# of 40 from 100 rows on. Zip codes are where most rows have a rare one, and so are amounts that a
# table is sorted by.
_UNITS = 20
_REPEATED = 0.9
# Days of the month and years repeat too, and tables are sorted by them. As far as numbers go, 30
# days are like 30 patients: a name that says what has rows of its own keeps them suspect.
_DAYS, _YEARS = (28, 31), (1900, 2100)
_OF_UNITS = re.compile(
    r"(?:^|[^a-z])(?:no|nr)(?:[^a-z]|$)|ids?(?:[^a-z]|$)|"
    "patient|subject|person|user|client|customer|member|unit",
    re.IGNORECASE,
)


def left_out(name: str) -> str:
    return (
        f"{shown(name)} is not used: every row has a number of its own, as if they were counted. "
        f"--number {shown(name)} uses it."
    )


class Table(NamedTuple):
    """Rows that columns are decided on. Those of weight 0 are ignored."""

    data: Any
    numbers: Sequence[str]
    """Columns that are known to be numbers."""
    weight: Floats | None

    def batches(self, columns: Sequence[str] | None) -> Iterator[tuple[Any, int, Floats | None]]:
        """Batches of all rows, each with the number of its first row and its weights."""
        start = 0
        for batch in stream(self.data, columns, self.numbers):
            end = start + batch.num_rows
            yield batch, start, None if self.weight is None else self.weight[start:end]
            start = end


def summed(table: Table, summaries: dict[str, Summary]) -> int:
    """Add up what there is to know of columns, and say how many rows count."""
    rows = counted = 0
    for batch, start, weight in table.batches(list(summaries) or None):
        rows = start + batch.num_rows
        if table.weight is not None and rows > len(table.weight):
            break
        for k, summary in enumerate(summaries.values()):
            summary.add(batch.column(k), start, weight)
        counted += batch.num_rows if weight is None else int(np.count_nonzero(weight))
    if table.weight is not None and rows != len(table.weight):
        raise DataError(
            f"there must be one weight for each row; there are {len(table.weight):,} weights and "
            f"{'more' if rows > len(table.weight) else f'{rows:,}'} rows."
        )
    if not counted and summaries:
        raise DataError("a table must have rows; this one has none with a weight.")
    return counted


def is_ordered(summary: Summary, rows: int) -> bool:
    """Whether whole numbers rise or fall from row to row: all differ."""
    return _may_be_given(summary, rows) and summary.runs == rows


def _may_be_given(summary: Summary, rows: int) -> TypeGuard[_Numbers]:
    """Whether there are rows enough, and each has a whole number."""
    if not isinstance(summary, _Numbers) or summary.missing or rows < _FEW:
        return False
    return summary.whole


def in_order(name: str) -> str:
    return (
        f"{shown(name)} is used, but every row has a number of its own, in order. If they were "
        f"given to the rows, leave it out: --exclude {shown(name)}."
    )


def running(
    table: Table, summaries: dict[str, Summary], rows: int
) -> tuple[set[str], dict[str, str]]:
    """The columns of running numbers: dense ones, for a table may be sorted by an amount. And those
    of numbers that may be given to units of several rows, with how many there are.

    Only those in no order, which is rare, are read once more, to see which numbers are there."""
    found: set[str] = set()
    units: dict[str, str] = {}
    dense: dict[str, tuple[int, NDArray[np.bool_]]] = {}
    # With more rows for each, nothing is left out of evenly drawn ages either.
    few = _few(rows) / 2
    for name, s in summaries.items():
        if not _may_be_given(s, rows):
            continue
        if s.runs is not None:
            if s.runs == rows and s.span <= 2 * rows:
                found.add(name)
            elif _may_be_units(s.runs, rows, _few(rows)):
                units[name] = _many(s.runs)
        elif rows <= s.span <= 2 * rows or _may_be_units(s.span, rows, few):
            dense[name] = s.least, np.zeros(s.span, np.bool_)
    for batch, start, weight in table.batches(list(dense)) if dense else ():
        for k, (name, (least, there)) in enumerate(dense.items()):
            column = counting(batch.column(k), weight)
            x = whole_numbers(column, numbers(column, name, start))
            if x is not None:
                there[x - least] = True
    for name, (_, there) in dense.items():
        values = int(np.count_nonzero(there))
        if values == rows:
            found.add(name)
        elif values == len(there) and _may_be_units(values, rows, few):
            units[name] = _many(values)
    return found, {n: values for n, values in units.items() if not _is_calendar(summaries[n])}


def _is_calendar(s: Summary) -> bool:
    """Whether whole numbers are days of the month or years, unless their name says otherwise."""
    if not isinstance(s, _Numbers) or _OF_UNITS.search(s.name):
        return False
    days = s.least == 1 and _DAYS[0] <= s.most <= _DAYS[1]
    return days or (_YEARS[0] <= s.least and s.most <= _YEARS[1])


def _many(values: int) -> str:
    return f"{values:,} values"


def _few(rows: int) -> int:
    """Up to so many rows are those of one unit rather than of a category."""
    return min(max(rows // 50, 5), 20)


def _may_be_units(values: int, rows: int, few: float) -> bool:
    """Whether there are several rows for each of many values, but no more than ``few``."""
    return _UNITS <= values <= _REPEATED * rows and rows <= few * values


def like_units(name: str, values: str, rows: int, column: Column | None) -> str:
    own = shown(name)
    unit = f"Keep the rows of each in one fold: --unit {own}"
    out = f"leave it out: --exclude {own}"
    if column is None:
        what, ways = "not used", f"{unit}, or say that there is no need to: --exclude {own}"
    elif isinstance(column, CategoryColumn):
        what = "taken for a category"
        values += f", of which {len(column.levels):,} stand in the model"
        ways = f"{unit}, {out}, or say that it is a category: --category {own}"
    else:
        what, ways = "a number", f"{unit}, {out}, or say that it is an amount: --number {own}"
    return (
        f"{own} is {what}, but looks like the name of a unit, such as a patient, that has several "
        f"rows: {rows:,} rows have {values}. {ways}."
    )


@dataclass(frozen=True)
class Limits:
    most: int
    least: int


def of_kind(kind: str, name: str, found: str | None) -> Summary:
    """What to keep of a column that is used as ``kind``, of which its type says ``found``."""
    if kind in ("number", "date"):
        return _Numbers(name, kind)
    return _Levels(name, kind, {"number": "whole", "date": "date"}.get(found or "", "text"))


class Summary(ABC):
    """What is kept of a column while its rows pass by."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.missing = 0
        """How many rows have no value."""
        self.mass = self.missing_mass = 0.0
        """How much all rows weigh, and those without a value."""

    @abstractmethod
    def add(self, column: Any, start: int, weight: Floats | None) -> None:
        """Take in some rows, of which the first is number ``start``."""

    def weigh(self, missing: NDArray[np.bool_], weight: Floats | None) -> None:
        """Take in how much rows weigh, and which of them have no value."""
        self.missing += int(np.count_nonzero(missing))
        self.mass += len(missing) if weight is None else float(weight.sum())
        gone = np.count_nonzero(missing) if weight is None else weight[missing].sum()
        self.missing_mass += float(gone)

    @property
    def share(self) -> float:
        """The share of the rows that has no value."""
        return self.missing_mass / self.mass

    @abstractmethod
    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, str]:
        """What the column becomes, and the sentence that says so."""

    def likely(self) -> Likely | None:
        """What the values are rather than what they are taken for, if that differs."""
        return None

    def units(self) -> str | None:
        """How many values there are, if they may be names of units that have several rows."""
        return None

    @abstractmethod
    def facts(self) -> list[Any]:
        """What the fingerprint is made of."""


class _Numbers(Summary):
    """Weight, mean and squares of a column of numbers, merged centred; and its ends.

    If all are ``whole``, the ``least``, the ``most`` and the ``last`` of them, exactly, and how
    often one is larger or smaller than that of the row before, up to where both have happened.
    """

    count = 0
    known = mean = squares = 0.0
    low, high = np.inf, -np.inf
    whole = True
    least = most = last = 0
    rises = falls = 0

    def add(self, column: Any, start: int, weight: Floats | None) -> None:
        # All of them: rows that count nothing are refused like others, by their own number.
        x = numbers(column, self.name, start, self.kind)
        if weight is not None:
            column, x, weight = counting(column, weight), x[weight > 0], weight[weight > 0]
        gone = np.isnan(x)
        self.weigh(gone, weight)
        there = x[~gone]
        if not len(there):
            return
        w = None if weight is None else weight[~gone]
        mass = float(len(there) if w is None else w.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float(there.mean() if w is None else w @ there / mass)
            away = np.square(there - mean)
            squares = float(away.sum() if w is None else w @ away)
            shift, total = mean - self.mean, self.known + mass
            self.squares += squares + shift * shift * self.known * mass / total
            self.mean += shift * mass / total
        if self.whole:
            self._follow(whole_numbers(column, x) if self.kind == "number" else None)
        self.count, self.known = self.count + len(there), total
        self.low = min(self.low, float(there.min()))
        self.high = max(self.high, float(there.max()))

    def _follow(self, x: NDArray[Any] | None) -> None:
        if x is None:
            self.whole = False
            return
        least, most = int(x.min()), int(x.max())
        if self.runs is not None:
            self.rises += int(np.count_nonzero(x[1:] > x[:-1]))
            self.falls += int(np.count_nonzero(x[1:] < x[:-1]))
        if self.count:
            self.rises += int(x[0]) > self.last
            self.falls += int(x[0]) < self.last
            least, most = min(least, self.least), max(most, self.most)
        self.least, self.most, self.last = least, most, int(x[-1])

    @property
    def runs(self) -> int | None:
        """How many different numbers there are, if none is after a larger one, or after a smaller
        one; None if they are in no order."""
        return None if self.rises and self.falls else self.rises + self.falls + 1

    @property
    def span(self) -> int:
        """How many whole numbers there are from the least to the largest."""
        return self.most - self.least + 1

    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, str]:  # noqa: ARG002
        name = shown(self.name)
        if not self.count:
            return None, f"{name} is not used: it has no values."
        share = self.share
        gone = f"; {_percent(share)} are missing: a feature too" if share else ""
        if self.low == self.high and not share:
            return None, f"{name} is not used: it is {in_words(self.low, self.kind)} in every row."
        scale = sqrt(self.squares / self.known)
        if not (np.isfinite(scale) and np.isfinite(self.mean)):
            raise DataError(
                f"numbers must be small enough to be squared; {name} reaches from {self.low:g} to "
                f"{self.high:g}. Rescale it."
            )
        # Of values so small that their squares vanish, half their range; of a single one, 1.
        scale = scale or self.high / 2 - self.low / 2 or 1.0
        column = NumberColumn(
            self.name, self.mean, scale, share, self.kind, self.low + 0.0, self.high + 0.0
        )
        what = "a number" if self.kind == "number" else "a date, in days"
        mean = in_words(self.mean, self.kind)
        return column, f"{name} is {what}: mean {mean}, standard deviation {scale:.6g}{gone}."

    def facts(self) -> list[Any]:
        ends = (repr(x + 0.0) for x in (self.low, self.high))  # -0.0 is 0.0
        return [self.name, self.kind, self.count, self.missing, *ends]


class _Levels(Summary):
    """How many rows have each value."""

    # Whether there are values without a feature of their own.
    many = True

    def __init__(self, name: str, kind: str, level_type: str) -> None:
        super().__init__(name, kind)
        self.level_type = level_type
        self.counts: dict[str, int] | None = {}
        self.masses: dict[str, float] = {}
        """How much the rows of each value weigh, where rows have weights."""
        self.most: Likely | None = None
        self.named: str | None = None

    def add(self, column: Any, start: int, weight: Floats | None) -> None:
        if self.kind == "boolean":
            values = flags(column, self.name, start)
        else:
            values = texts(column, self.name, start, self.level_type)
        if weight is not None:
            values, weight = counting(values, weight), weight[weight > 0]
        gone = np.asarray(values.is_null())
        self.weigh(gone, weight)
        if self.counts is None:
            return
        found = values.drop_null().dictionary_encode()
        code, levels = np.asarray(found.indices), found.dictionary.to_pylist()
        rows = np.bincount(code, minlength=len(levels)).tolist()
        for value, count in zip(levels, rows, strict=True):
            self.counts[value] = self.counts.get(value, 0) + count
        if weight is not None:
            masses = np.bincount(code, weight[~gone], minlength=len(levels)).tolist()
            for value, mass in zip(levels, masses, strict=True):
                self.masses[value] = self.masses.get(value, 0.0) + mass
        if len(self.counts) > _MOST_VALUES:
            self.most = _likely(self.counts, True)
            self.named = f"more than {_many(_MOST_VALUES)}" if _are_units(self.counts) else None
            self.counts = None

    def decided(self, rows: int, limits: Limits) -> tuple[Column | None, str]:
        name, share = shown(self.name), self.share
        if self.counts is None:
            return None, f"{name} is not used: it has more than {_MOST_VALUES:,} different values."
        if not self.counts:
            return None, f"{name} is not used: it has no values."
        if len(self.counts) == 1 and not self.missing:
            return None, f"{name} is not used: it is {shown(next(iter(self.counts)))} in every row."
        if len(self.counts) == rows - self.missing >= _FEW:
            return (
                None,
                f"{name} is not used: its values differ in every row, as an identifier's do.",
            )
        masses: Mapping[str, float] = self.masses or self.counts
        ordered = sorted(masses.items(), key=lambda item: (-item[1], item[0]))
        least = 0 if self.kind == "boolean" else limits.least
        kept = [(value, n) for value, n in ordered[: limits.most] if n >= least]
        rest = sum(n for _, n in ordered[len(kept) :])
        self.many = len(kept) < len(self.counts)
        column = CategoryColumn(
            self.name,
            tuple(value for value, _ in kept),
            tuple(n / self.mass for _, n in kept),
            rest / self.mass,
            share,
            self.kind,
            self.level_type,
        )
        if not column.features:
            return None, f"{name} is not used: no value is in {least} rows or more."
        return column, self._said(column, len(self.counts) - len(kept))

    def likely(self) -> Likely | None:
        if self.kind == "boolean" or self.counts is None:
            return self.most
        return _likely(self.counts, self.many)

    def units(self) -> str | None:
        if self.counts is None or not _are_units(self.counts):
            return self.named
        return _many(len(self.counts))

    def _said(self, column: CategoryColumn, others: int) -> str:
        shares = [
            f"{shown(v)} ({_percent(p)})" for v, p in zip(column.levels, column.shares, strict=True)
        ]
        some = ", ".join(shares[:4]) + (f", … {len(shares)} levels" if len(shares) > 4 else "")
        if others:
            what = f"{others:,} rarer value{'s' if others > 1 else ''} ({_percent(column.other)})"
            some += f"{', ' if some else ''}{what} together as 'other'"
        if column.missing:
            some += f"; {_percent(column.missing)} are missing: a level too"
        first = column.states[column.reference].removeprefix(self.name + " ")
        base = {"= other": "'other'", "is missing": "those that are missing"}.get(first)
        if base is None or column.reference < len(column.levels):
            base = shown(column.levels[column.reference])
        what = "a boolean" if self.kind == "boolean" else "a category"
        return f"{shown(self.name)} is {what}: {some}; features tell the others from {base}."

    def facts(self) -> list[Any]:
        counts = None if self.counts is None else sorted(self.counts.items())
        return [self.name, self.kind, self.missing, counts]


def counting(column: Any, weight: Floats | None) -> Any:
    """The rows of a column that count."""
    import pyarrow as pa

    return column if weight is None or weight.all() else column.filter(pa.array(weight > 0))


def _are_units(counts: dict[str, int]) -> bool:
    """Whether text may name units: nine rows in ten have a value that few have, with digits."""
    rows = sum(counts.values())
    few = _few(rows)
    if not _may_be_units(len(counts), rows, few):
        return False
    rare = sum(n for n in counts.values() if n <= few)
    digits = sum(bool(re.search("[0-9]", value)) for value in counts)
    return rare >= 0.9 * rows and digits >= MOSTLY * len(counts)


# More words than that are no marks of missing values.
_FEW_MARKS = 3
# What text may be, how that is written, and what to do about it. Not 0123: that is a code.
_KINDS = (
    ("numbers", NUMBER, "Clean it"),
    ("dates", DATE, "Clean it"),
    ("numbers with commas", COMMA, "Clean it"),
    ("dates in another form", OTHER_DATE, "Write them as 2025-04-24"),
    ("numbers with thousands or units", AMOUNT, "Write them as 1234.56, with nothing else"),
)


class Likely(NamedTuple):
    """What text is for the most part, whether it can be read as numbers, and what to do."""

    text: str
    numbers: bool = False
    way: str = "Clean it"
    dates: bool = False
    sign: str = ""
    """The decimal sign that they are written with, if that tells how to read them."""
    marks: tuple[str, ...] = ()
    """What may stand for a missing value, if it is all that makes them text."""


def _likely(counts: dict[str, int], many: bool) -> Likely | None:
    """Whether text is numbers or dates for the most part, and which value is not.

    Text that is nothing but numbers may be codes: it is amounts only where there are ``many``.
    """
    total = sum(counts.values())
    if _are_padded(counts):
        return None
    for what, pattern, usual in _KINDS:
        coded = pattern in (NUMBER, COMMA)
        bad = [v for v in counts if not re.search(pattern, v) or (coded and re.search(CODE, v))]
        share = 1 - sum(counts[value] for value in bad) / total if total else 0.0
        if share < MOSTLY or len(bad) == len(counts) or not (bad or many):
            continue
        text, way = f"all its values are {what}, stored as text", usual
        if bad:
            first, way = shown(bad[0]), limit_way(bad[0]) or usual
            text = f"{_percent(share)} of its values are {what}; the first that is not is {first}"
        readable = what == "numbers" and all(re.search(pattern, v) for v in bad)
        dates = pattern in (DATE, OTHER_DATE)
        sign = ""
        if way == usual and not dates:
            sign = _sign(counts) or _sign(set(counts).difference(bad))
        marks = tuple(bad) if 0 < len(bad) <= _FEW_MARKS and all(map(may_be_mark, bad)) else ()
        return Likely(text, readable, way, dates, sign, marks)
    return None


def _sign(numbers: Collection[str]) -> str:
    """The decimal sign of numbers in text, if they can be read with one only."""
    for sign, own, other in ((",", EUROPEAN, NUMBER), (".", NUMBER, EUROPEAN)):
        if _all(own, numbers) and not _all(other, numbers):
            return sign
    return ""


def _all(pattern: str, values: Collection[str]) -> bool:
    return all(re.search(pattern, value) for value in values)


def _are_padded(counts: dict[str, int]) -> bool:
    """Whether text is codes, such as 02 and 93: mostly digits, with zeros in front that fill them
    up to one width. No number has a fraction or fewer digits, as amounts would have, 7 and 05."""
    found = [v.strip() for v in counts if re.search(NUMBER, v)]
    zeros = {len(v) for v in found if re.search(CODE, v)}
    if not zeros or not all(map(str.isdigit, found)):
        return False
    rows = sum(n for v, n in counts.items() if re.search(NUMBER, v))
    return zeros == {min(map(len, found))} and rows >= MOSTLY * sum(counts.values())


def warned(name: str, likely: Likely, column: Column | None, decimal: str | None = None) -> str:
    """What to say of a column of text; ``decimal`` is the sign in files of CSV."""
    ways = [likely.way]
    if likely.sign == "," != decimal:
        ways.append('say --decimal , (in Python decimal=",") if all are written as 1.234,56')
    if likely.sign == "." and decimal == ",":
        ways.append("leave --decimal , out if all are written as 1234.56")
    elif likely.marks and decimal is not None:
        ways.append(_marked(likely.marks))
    elif likely.numbers:
        ways.append(f"use it as a number: --number {shown(name)}")
    # No new day is one of its levels.
    if column is None or likely.dates:
        ways.append(f"leave it out: --exclude {shown(name)}")
    if column is not None:
        ways.append(f"say that it is one: --category {shown(name)}")
    what = "not used" if column is None else "taken for a category"
    return f"{shown(name)} is {what}, but {likely.text}. {', '.join(ways[:-1])}, or {ways[-1]}."


def _marked(marks: Sequence[str]) -> str:
    options = " ".join(f"--missing {shlex.quote(mark)}" for mark in marks)
    called = f'"{marks[0]}"' if len(marks) == 1 else json.dumps(marks, ensure_ascii=False)
    stands = "that stands" if len(marks) == 1 else "they stand"
    return f"say {options} (in Python missing={called}) if {stands} for a missing value"


def _percent(share: float) -> str:
    """Never all where some are not."""
    text = f"{100 * share:.3g} %"
    return text if text != "100 %" or share == 1 else f"{100 * share:.6g} %"
