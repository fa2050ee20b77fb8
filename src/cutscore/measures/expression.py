"""Costs as formulas of columns: ``0.8*amount + 15``, read by a small grammar and never evaluated as
code.

    sum      = product (("+" | "-") product)*
    product  = factor (("*" | "/") factor)*
    factor   = "-" factor | number | column | ("min" | "max") "(" sum ("," sum)+ ")" | "(" sum ")"

A column is a name, in double quotes if it is no single word. Operations are those of float64, one
by one and from the left, so that NumPy, Python and SQL compute the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.names import quote_sql

Floats = NDArray[np.float64]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    |(?P<name>[^\W\d]\w*)|"(?P<quoted>(?:[^"]|"")+)"|(?P<sign>[-+*/(),]))""",
    re.VERBOSE,
)
_RULE = (
    "be a number, or a formula of columns with + - * / ( ) min and max, such as '0.8*amount + 15'"
)
_MOST = 1_000
_DEEP = 50
_CALLS = 5


@dataclass(frozen=True)
class Expression:
    """A formula of columns.

    Parameters
    ----------
    text
        As people write it.

    Examples
    --------
    >>> from cutscore.measures.expression import Expression
    >>> e = Expression('max(0.8*amount, 5) + "fixed fee"')
    >>> e.names, e.evaluate({"amount": np.array([100.0, 2.0]), "fixed fee": 1.5})
    (('amount', 'fixed fee'), array([81.5,  6.5]))
    """

    text: str
    tree: tuple[Any, ...] = field(init=False, repr=False, compare=False)
    """Operations with their operands: ``("+", a, b)``, ``("column", name)``, ``("number", x)``."""

    def __post_init__(self) -> None:
        parser = _Parser(self.text)
        object.__setattr__(self, "tree", parser.read())
        # Of SQL each has its operands three times.
        if parser.calls > _CALLS:
            rule = f"call min and max at most {_CALLS} times"
            raise DataError(BadArgument("costs", rule, self.text, subject="a cost"))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in their order."""
        return tuple(dict.fromkeys(_columns(self.tree)))

    def evaluate(self, columns: Mapping[str, Any]) -> Any:
        """Its value in each row. Division by zero is infinite or NaN, for others to refuse."""
        with np.errstate(all="ignore"):
            return _value(self.tree, columns)

    def to_sql(self, column: Callable[[str], str], literal: Callable[[float], str]) -> str:
        """An expression of SQL; NULL where a column is."""
        return _written(self.tree, column, literal, sql=True)

    def to_python(self, column: Callable[[str], str]) -> str:
        """An expression of Python."""
        return _written(self.tree, column, repr, sql=False)

    def to_dict(self) -> str:
        """The text, as a file has it."""
        return self.text


class _Parser:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.calls = text, 0, 0, 0
        if not isinstance(text, str) or len(text) > _MOST:
            self.refuse()
        self.kind, self.token = "", ""
        self.step()

    def refuse(self) -> NoReturn:
        raise DataError(BadArgument("costs", _RULE, self.text, subject="a cost"))

    def step(self) -> None:
        """Read the next token; none at the end."""
        if not self.text[self.at :].strip():
            self.kind, self.token = "end", ""
            return
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            self.refuse()
        self.at, self.kind = found.end(), str(found.lastgroup)
        self.token = found[self.kind]
        if self.kind == "name" and not self.token.isidentifier():
            self.refuse()

    def take(self, *signs: str) -> str:
        """The sign that is next, if it is one of these."""
        if self.kind != "sign" or self.token not in signs:
            return ""
        sign = self.token
        self.step()
        return sign

    def read(self) -> tuple[Any, ...]:
        tree = self.sum()
        if self.kind != "end":
            self.refuse()
        return tree

    def sum(self) -> tuple[Any, ...]:
        self.depth += 1
        if self.depth > _DEEP:
            self.refuse()
        tree = self.product()
        while sign := self.take("+", "-"):
            tree = (sign, tree, self.product())
        self.depth -= 1
        return tree

    def product(self) -> tuple[Any, ...]:
        tree = self.factor()
        while sign := self.take("*", "/"):
            tree = (sign, tree, self.factor())
        return tree

    def factor(self) -> tuple[Any, ...]:
        signs = 0
        while self.take("-"):
            signs += 1
        tree = self.operand()
        return ("-", ("number", 0.0), tree) if signs % 2 else tree

    def operand(self) -> tuple[Any, ...]:
        if self.take("("):
            tree = self.sum()
            return tree if self.take(")") else self.refuse()
        kind, token = self.kind, self.token
        if kind == "number":
            self.step()
            return ("number", float(token)) if isfinite(float(token)) else self.refuse()
        if kind == "quoted":
            self.step()
            return ("column", token.replace('""', '"'))
        if kind != "name":
            self.refuse()
        self.step()
        if token not in ("min", "max") or not self.take("("):
            return ("column", token)
        tree = self.sum()
        if (self.kind, self.token) != ("sign", ","):
            self.refuse()
        while self.take(","):
            tree = (token, tree, self.sum())
            self.calls += 1
        return tree if self.take(")") else self.refuse()


def _columns(tree: tuple[Any, ...]) -> list[str]:
    if tree[0] in ("column", "number"):
        return [tree[1]] if tree[0] == "column" else []
    return [*_columns(tree[1]), *_columns(tree[2])]


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "min": np.minimum,
    "max": np.maximum,
}


def _value(tree: tuple[Any, ...], columns: Mapping[str, Any]) -> Any:
    if tree[0] == "number":
        return np.float64(tree[1])
    if tree[0] == "column":
        return columns[tree[1]]
    return _OPERATIONS[tree[0]](_value(tree[1], columns), _value(tree[2], columns))


def _written(
    tree: tuple[Any, ...],
    column: Callable[[str], str],
    literal: Callable[[float], str],
    *,
    sql: bool,
) -> str:
    if tree[0] == "number":
        return literal(tree[1])
    if tree[0] == "column":
        return column(tree[1])
    operation = tree[0]
    a, b = (_written(one, column, literal, sql=sql) for one in tree[1:])
    if operation not in ("min", "max"):
        return f"({a} {operation} {b})"
    if not sql:
        return f"{operation}({a}, {b})"
    # The names of such functions differ; NULL stays NULL, as in other operations.
    first, second = ("<=", ">") if operation == "min" else (">=", "<")
    return f"(CASE WHEN {a} {first} {b} THEN {a} WHEN {a} {second} {b} THEN {b} END)"


@dataclass(frozen=True, eq=False)
class RowValues:
    """Costs that are known for each row of an array, and by no name."""

    values: Floats

    def __repr__(self) -> str:
        return f"array of {len(self.values):,}"

    def to_dict(self) -> NoReturn:
        """Refuse: a file can't hold them."""
        rule = "name columns to be saved, such as fn='amount', in place of an array"
        raise DataError(BadArgument("costs", rule, subject="costs of each row"))


def spelled_column(name: str) -> str:
    """A column as a formula has it.

    Examples
    --------
    >>> from cutscore.measures.expression import spelled_column
    >>> print(spelled_column("amount"), spelled_column("order total"))
    amount "order total"
    """
    found = _TOKEN.fullmatch(name) if name.isidentifier() else None
    return quote_sql(name) if found is None else name
