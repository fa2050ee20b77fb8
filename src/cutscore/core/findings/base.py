"""What a finding is, and how each surface words it.

A finding is a fact: what went wrong or should be known, with the values that belong to it.
Exceptions carry one; warnings, notes in models and notices in reports are findings. Nobody reads
the text of one: whoever wants to know what happened asks for its code and its fields.
"""

from __future__ import annotations

import json
import os
import reprlib
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from importlib import import_module
from math import isfinite
from string import Formatter
from typing import Any, ClassVar, Self, dataclass_transform

from cutscore.core.parameters import PARAMETERS


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """It could not be done."""
    WARNING = "warning"
    """It was done; a number may not be what it seems."""
    NOTE = "note"
    """It was done; this is how."""


@dataclass(frozen=True)
class Where:
    """The place of a finding, as far as it is known. Rows are counted from 0, lines from 1."""

    row: int | None = None
    parameter: str | None = None
    """The argument that holds the row, where arrays were passed: "score"."""
    column: str | None = None
    """The column of a table."""
    file: str | None = None
    line: int | None = None
    part: str | None = None
    """Which of several things of one kind: "the score a", "partition 3"."""


@dataclass(frozen=True)
class Fix:
    """A way out: a parameter, and the value to give it. ``...`` stands for one of the user's."""

    parameter: str
    value: Any = ...


class Surface:
    """How places, parameters and fixes are named in Python."""

    name = "python"

    def parameter(self, name: str) -> str:
        """A parameter in a sentence."""
        return name

    def fix(self, fix: Fix) -> str:
        """What to write."""
        if fix.value is ...:
            return f"{fix.parameter}=..."
        value = repr(fix.value) if isinstance(fix.value, str) else shown(fix.value)
        return f"{fix.parameter}={value}"

    def place(self, where: Where) -> str:
        """The place of a value in a sentence: "score[3]", "row 4 of 'amount'"."""
        if where.parameter is not None and where.row is not None:
            return f"{where.parameter}[{where.row}]"
        return _place(where)


class Command(Surface):
    """On the command line a parameter is an option, and rows are those of a table."""

    name = "command"

    def parameter(self, name: str) -> str:
        known = PARAMETERS.get(name)
        return name if known is None else known.flag

    def fix(self, fix: Fix) -> str:
        known = PARAMETERS.get(fix.parameter)
        if known is None:
            return super().fix(fix)
        if not known.metavar:
            return known.flag
        value = known.metavar if fix.value is ... else shlex.quote(str(fix.value))
        return f"{known.flag} {value}"

    def place(self, where: Where) -> str:
        if where.parameter is not None and where.row is not None:
            return f"the {where.parameter} of row {where.row + 1:,}"
        return _place(where)


class Page(Surface):
    """A page is read by those who use either, and rows are those of a table."""

    name = "page"

    def fix(self, fix: Fix) -> str:
        return f"{COMMAND.fix(fix)}, in Python {PYTHON.fix(fix)}"

    def place(self, where: Where) -> str:
        return COMMAND.place(where)


PYTHON, COMMAND, PAGE = Surface(), Command(), Page()


def _place(where: Where) -> str:
    parts = []
    if where.row is not None:
        parts.append(f"row {where.row + 1:,}")
    if where.column is not None:
        parts.append(f"{'of ' if parts else ''}{shown(where.column)}")
    text = " ".join(parts)
    if where.file is not None:
        line = f"line {where.line:,} of " if where.line is not None else ""
        place = f"{line}{spelled(where.file)}"
        text = f"{text} ({place})" if text else place
    return text or where.part or "it"


def _unchanged(text: str) -> str:
    return text


# What every text goes through. A test puts another language here: nothing but words may change.
voice: Callable[[str], str] = _unchanged

_REGISTRY: dict[str, type[Finding]] = {}
# Where kinds of findings stand, for those that come back from a file or another process.
MODULES = (
    *("arguments", "rows", "statistics", "tables", "models", "training", "report", "cluster"),
    *("command", "scorers"),
)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class _Frozen:
    """Every subclass is a frozen dataclass, without a decorator of its own."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Finding(_Frozen):
    """One kind of fact a subclass; its docstring says what it means.

    A kind has a ``code``, fields of its own, and a ``template`` that words them, in the syntax of
    ``str.format``: see :class:`_Words`. If the words depend on the values, it overrides ``text``.
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.ERROR
    template: ClassVar[str] = ""
    example: ClassVar[Mapping[str, Any]] = {}
    """Fields of an example, for the page of messages."""

    where: Where | None = field(default=None, kw_only=True)
    fixes: tuple[Fix, ...] = field(default=(), kw_only=True)

    def __init_subclass__(cls, code: str = "") -> None:
        super().__init_subclass__()
        if code:
            cls.code = code
            known = _REGISTRY.setdefault(code, cls)
            if known.__qualname__ != cls.__qualname__:
                raise TypeError(f"{code} is the code of {known.__qualname__} already")

    def __post_init__(self) -> None:
        # An error that somebody keeps must not keep their table.
        for f in fields(self):
            if f.name not in _COMMON:
                object.__setattr__(self, f.name, keep(getattr(self, f.name)))

    def text(self, on: Surface) -> str:
        """The fact in a sentence or two, for a surface: rule, value, place, way out."""
        return _Words(self, on).format(self.template).strip()

    def render(self, on: Surface = PYTHON) -> str:
        """The text for a surface, with what it is about in front."""
        text = self.text(on)
        if self.where is not None and self.where.part is not None:
            text = f"{self.where.part}: {text}"
        return voice(text)

    def at(self, **place: Any) -> Self:
        """The same finding with more known of its place."""
        return replace(self, where=replace(self.where or Where(), **place))

    def as_dict(self, on: Surface = PYTHON) -> dict[str, Any]:
        """The finding for JSON: code, severity, place, fixes, its own fields, and the text."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _COMMON}
        own = {name: plain(value) for name, value in values.items() if value is not ...}
        where = self.where or Where()
        place = {f.name: v for f in fields(where) if (v := getattr(where, f.name)) is not None}
        return {
            "code": self.code,
            "severity": self.severity.value,
            "where": place or None,
            "fixes": [{"parameter": f.parameter, "value": plain(f.value)} for f in self.fixes],
            "fields": own,
            "text": self.render(on),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Finding:
        """What :meth:`as_dict` wrote. Of a kind that is not known here, code and text remain."""
        kind = kinds().get(data["code"])
        where = None if data["where"] is None else Where(**data["where"])
        fixes = tuple(
            Fix(f["parameter"], ... if f["value"] is None else _freeze(f["value"]))
            for f in data["fixes"]
        )
        if kind is None:
            return Foreign(data["code"], data["severity"], data["text"], where=where, fixes=fixes)
        own = {name: _freeze(value) for name, value in data["fields"].items()}
        return kind(**own, where=where, fixes=fixes)


_COMMON = ("where", "fixes")


class Warn(Finding):
    """A finding that doubts a number."""

    severity = Severity.WARNING


class Note(Finding):
    """A finding that says how something was done."""

    severity = Severity.NOTE


class _Words(Formatter):
    """Fills in a template. Names are attributes of the finding, and besides:

    ``{place}`` is where it is, ``{fix[costs]}`` is how to give costs; ``{x!r}`` is a value as
    messages show it, ``{x!l}`` the first of several, ``{x!f}`` a file, ``{x!p}`` a parameter;
    ``{x:row}`` is "1 row" or "2 rows", and ``{x:.3g %}`` a share in per cent.
    """

    def __init__(self, finding: Finding, on: Surface) -> None:
        self.finding, self.on = finding, on

    def get_value(self, key: int | str, args: object, kwargs: object) -> Any:
        if key == "fix":
            return self
        if key == "place":
            return self.on.place(self.finding.where or Where())
        return getattr(self.finding, str(key))

    def __getitem__(self, parameter: str) -> str:
        return self.on.fix(Fix(parameter))

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        ways: dict[str, Callable[[Any], str]]
        ways = {"r": shown, "l": some, "f": spelled, "p": self.on.parameter}
        return value if conversion is None else ways[conversion](value)

    def format_field(self, value: float, spec: str) -> str:
        if spec.endswith(" %"):
            return f"{100 * value:{spec.removesuffix(' %')}} %"
        return counted(value, spec) if len(spec) > 1 and spec.isalpha() else format(value, spec)


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "number" in value:
            return float(value["number"])
        return Shown(value["shown"])
    return tuple(map(_freeze, value)) if isinstance(value, list) else value


def plain(value: object) -> Any:
    """A value of a field for JSON; what JSON has no type for is worded."""
    if value is ...:
        return None
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return {"number": str(float(value))}
    if not isinstance(value, Shown) and isinstance(value, (str, int, float, type(None))):
        return value
    return {"shown": shown(value)}


def kinds() -> dict[str, type[Finding]]:
    """All kinds of findings by their code."""
    for name in MODULES:
        import_module(f"cutscore.core.findings.{name}")
    return dict(sorted(_REGISTRY.items()))


def dumps(finding: Finding) -> str:
    """A finding as a line of JSON, to cross processes."""
    return json.dumps(finding.as_dict())


def loads(text: str) -> Finding:
    """What :func:`dumps` wrote."""
    return Finding.from_dict(json.loads(text))


class Foreign(Finding):
    """A finding of another version of cutscore, of a kind that this one does not know."""

    name: str
    level: str
    said: str
    template = "{said}"

    def as_dict(self, on: Surface = PYTHON) -> dict[str, Any]:
        """As it came, but for its fields."""
        return super().as_dict(on) | {"code": self.name, "severity": self.level, "fields": {}}


# ------------------------------------------------------------------------------------------ words


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # Python prints no integers of thousands of digits
            return f"an integer of {x.bit_length():,} bits"


_short = _Short()


class Shown(str):
    """A value that is worded already: what a finding keeps of an object that it should not hold."""

    __slots__ = ()


def shown(value: object) -> str:
    """A value for a message: cut short, and never an error of its own."""
    if isinstance(value, Shown):
        return str(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.number, numpy.bool_)):
        return str(value)
    return _short.repr(value)


def keep(value: object) -> Any:
    """A value as a finding keeps it: numbers and short text as they are, of anything else its
    words; of a tuple each of its values."""
    if isinstance(value, tuple) and len(value) <= _MOST:
        return tuple(map(keep, value))
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.float64, numpy.integer, numpy.bool_)):
        return value.item()
    if value is ... or fits(value):
        return value
    return Shown(" ".join(shown(value).split()))  # on one line


# Names of columns may be as many.
_MOST = 100_000


def fits(value: object) -> bool:
    """Whether a value is small enough to be kept, and of one of Python's own types."""
    if type(value) is int:
        return value.bit_length() < 1000
    return type(value) in (bool, float, type(None)) or (
        isinstance(value, str) and len(value) < 1000
    )


def spelled(path: str | os.PathLike[str]) -> str:
    """A path in full, on one line: what can't be printed is escaped."""
    text = os.fspath(path)
    return text if text.isprintable() and text else repr(text)


def some(values: Iterable[Any], most: int = 5, *, show: Callable[[Any], str] = shown) -> str:
    """The first of several values, and how many there are."""
    listed = list(values)
    first = ", ".join(map(show, listed[:most]))
    return first + (f", … ({len(listed):,} in all)" if len(listed) > most else "")


def counted(n: float, noun: str, plural: str | None = None) -> str:
    """``1 row``, ``2 rows``."""
    number = f"{n:,}" if isinstance(n, int) else f"{n:.4g}"
    return f"{number} {noun if number == '1' else plural or noun + 's'}"


def either(values: Sequence[Any], last: str = "or", *, show: Callable[[Any], str] = shown) -> str:
    """``'a', 'b' or 'c'``."""
    words = [show(value) for value in values]
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def sentence(*parts: str) -> str:
    """Parts with a space between them; empty ones are left out."""
    return " ".join(filter(None, parts))
