"""Costs as formulas: against Python's own arithmetic, and text that is no formula."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutscore.core.errors import DataError
from cutscore.measures.expression import Expression, RowValues, spelled_column
from raising import finding

NAMES = ["amount", "fee", "order total", 'say "hi"', "größe", "min", "_x1"]
numbers = st.sampled_from(["0", "1", "2.5", "0.8", "15", "1e3", "2.5E-3", ".5", "3."])


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3) -> tuple[str, Any]:
    """A formula, and a function of the columns that computes it in Python."""
    kind = draw(st.integers(0, 6 if depth else 1))
    if kind == 0:
        text = draw(numbers)
        return text, lambda _, x=float(text): x
    if kind == 1:
        name = draw(st.sampled_from(NAMES))
        return spelled_column(name), lambda row, n=name: row[n]
    (a, f), (b, g) = draw(formulas(depth=depth - 1)), draw(formulas(depth=depth - 1))
    space = draw(st.sampled_from(["", " ", "\t "]))
    if kind == 6:
        return f"-({a})", lambda row: 0.0 - f(row)
    if kind == 5:
        of = draw(st.sampled_from(["min", "max"]))
        pick = np.minimum if of == "min" else np.maximum
        return f"{of}({a},{space}{b})", lambda row: pick(f(row), g(row))
    sign = "+-*/"[draw(st.integers(0, 3))]
    ways = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
    return f"({a}){space}{sign}{space}({b})", lambda row: ways[sign](f(row), g(row))


@given(formulas(), st.lists(st.floats(-100, 100), min_size=7, max_size=7))
def test_values_are_those_of_python(made: tuple[str, Any], values: list[float]) -> None:
    text, of = made
    row = {name: np.float64(x) for name, x in zip(NAMES, values, strict=True)}
    with np.errstate(all="ignore"):
        wanted = of(row)
    e = Expression(text)
    np.testing.assert_array_equal(e.evaluate(row), wanted)
    columns = {name: np.array([x, 1.0]) for name, x in row.items()}
    np.testing.assert_array_equal(np.broadcast_to(e.evaluate(columns), 2)[0], wanted)
    if np.isfinite(wanted):  # the same in generated code
        python = e.to_python(lambda name: f"row[{name!r}]")
        plain = {name: float(x) for name, x in row.items()}
        with contextlib.suppress(ZeroDivisionError, OverflowError):
            assert eval(python, {"row": plain, "min": min, "max": max}) == wanted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 3*4", 14),
        ("2*3 + 4", 10),
        ("10 - 4 - 3", 3),
        ("24 / 4 / 3", 2),
        ("-2*3", -6),
        ("2*-3", -6),
        ("--2", 2),
        ("- - -2", -2),
        ("(1 + 2)*3", 9),
        ("min(3, 2, 5) + max(1, 4)", 6),
        ("0.8*amount + 15", 95),
        ("amount/3", 100 / 3),
        ("max(0.8*amount, 5) - min(amount, 2.5)", 77.5),
        ('"amount" * 1', 100),
        ("1e2 + .5", 100.5),
        ("max + 1", 8),
        ("max(max, 9)", 9),
    ],
)
def test_by_hand(text: str, value: float) -> None:
    assert Expression(text).evaluate({"amount": np.float64(100), "max": np.float64(7)}) == value


def test_names_in_their_order() -> None:
    e = Expression('b + "order total"*a - b/"say ""hi"""')
    assert e.names == ("b", "order total", "a", 'say "hi"')
    assert e == Expression(e.text)
    assert e.to_dict() == e.text


HOSTILE = (
    """
1 +|+ 1|* 2|amount amount|2 amount|amount 2|(1|1)|()|min|min()|min(1)|min(1,)|min(,1)|max 1, 2|1,2
__import__('os')|amount; 1|amount\\|'amount'|"amount|""|"|a.b|a[0]|a**2|a//b|a % b|a == 1|a < 1
lambda: 1|1e999|1e|0x10|1_000|١|²|½|−5|1 + ∞|nan nan|`a`|$a|a!|{a}|a\x001|#|a if b else c|not a|λ λ
""".strip()
    .replace("\n", "|")
    .split("|")
)


@pytest.mark.parametrize("text", [*HOSTILE, " ", "", "(" * 60 + "1" + ")" * 60, "1+" * 600 + "1"])
def test_what_is_no_formula(text: str) -> None:
    if text in ("min",):
        assert Expression(text).names == ("min",)  # a column may be called so
        return
    with finding("bad-argument", parameter="costs"):
        Expression(text)


@pytest.mark.parametrize(
    "text", ["-" * 900 + "1", "(" * 40 + "a" + ")" * 40, "+".join(["a"] * 400)]
)
def test_long_formulas(text: str) -> None:
    assert np.isfinite(Expression(text).evaluate({"a": np.float64(1)}))


@given(st.text(max_size=40))
def test_any_text_is_a_formula_or_refused(text: str) -> None:
    try:
        e = Expression(text)
    except DataError:
        pass
    else:
        e.evaluate(dict.fromkeys(e.names, np.float64(2)))


@given(st.text(min_size=1, max_size=20))
def test_any_name_can_be_spelled(name: str) -> None:
    assert Expression(spelled_column(name)).names == (name,)


def test_missing_numbers_stay_missing() -> None:
    x = {"a": np.array([1.0, np.nan]), "b": np.array([np.nan, 2.0])}
    for text in ("a + b", "min(a, b)", "max(a, b)", "max(b, a, 1)"):
        assert np.isnan(Expression(text).evaluate(x)).all()
    assert Expression("1/(a - 1)").evaluate(x)[0] == np.inf


def test_as_sql() -> None:
    e = Expression('max(0.8*amount, 5) - "order total"')
    sql = e.to_sql(lambda name: f'"{name}"', repr)
    a = '(0.8 * "amount")'
    case = f"(CASE WHEN {a} >= 5.0 THEN {a} WHEN {a} < 5.0 THEN 5.0 END)"
    assert sql == f'({case} - "order total")'


def test_arrays_have_no_name() -> None:
    values = RowValues(np.zeros(1234))
    assert repr(values) == "array of 1,234"
    with finding("bad-argument", parameter="costs"):
        values.to_dict()


def test_calls_are_few_since_sql_repeats_their_operands() -> None:
    assert Expression("max(a, b, c, d, e, f)").names == tuple("abcdef")
    with finding("bad-argument"):
        Expression("max(a, b, c, d, e, f, g)")
