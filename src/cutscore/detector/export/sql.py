"""A detector as one SELECT, for DuckDB, SQLite and what is like them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, shown
from cutscore.core.findings.models import (
    ColumnReserved,
    ScorerUnfit,
)
from cutscore.core.findings.tables import NamesRepeat
from cutscore.detector.artefact import Detector
from cutscore.detector.columns import Column, NumberColumn
from cutscore.detector.export.trees import Ensemble, Leaf, Node
from cutscore.detector.scorers.column import ColumnScorer
from cutscore.detector.scorers.linear import GROUP, LinearScorer, line_of
from cutscore.detector.scorers.model import ModelScorer
from cutscore.detector.terms import CategoryTerm, NumberTerm, Term
from cutscore.policy.export.sql import decided
from cutscore.policy.export.sql import literal as _float
from cutscore.policy.export.sql import name_of as _name
from cutscore.policy.export.sql import printed as _printed
from cutscore.policy.export.sql import stored_number as _number
from cutscore.tables.literals import EXACT, MISSING, NUMBER

_DIALECTS = ("standard", "duckdb", "sqlite")
_GIVEN = ("score", "llr", "probability", "decision")
_MOST = 1.7976931348623157e308
# What databases still take in one expression, and people as text.
_TREES, _LEAVES = 200, 5_000


def to_sql(
    detector: Detector,
    table: str = "data",
    *,
    dialect: str = "standard",
    keep: Sequence[str] = (),
) -> str:
    """One SELECT with the score, the LLR, the probability and the decision of each row of a table.

    Parameters
    ----------
    detector
        The detector.
    table
        The name of the table. A dot in it belongs to the name.
    dialect
        "standard" runs on DuckDB and SQLite alike. Only dates need one of the two to be named:
        "duckdb" or "sqlite"; and so do categories of whole numbers that are stored as text with
        signs, zeros in front or exponents.
    keep
        Columns to put in front.

    Notes
    -----
    Terms are added up in the order of the detector, in double precision: decisions are the same as
    those of :meth:`cutscore.detector.Detector.apply`, at the threshold too. Columns are named with
    their table, so that one that is not there is an error everywhere. NULL, NaN and empty text are
    missing values. What ``apply`` refuses, an infinite number or text among numbers, dates or
    booleans, gets NULL for score, LLR, probability and decision.

    A category of whole numbers may be stored as integers, decimals, floats or text; one of text as
    text, or as whole numbers. Numbers must be stored as numbers, except for the dialect "sqlite":
    its ``.import`` makes text of everything, which is read as numbers, with decimal points, and the
    words that are missing values in CSV (nothing, NA, NaN, null, …) as missing unless they are
    levels. Dates are of a date type in DuckDB, and ISO text in SQLite, to the microsecond.
    SQLite needs its mathematical functions, which most builds have.

    Trees of LightGBM and CatBoost are a nested CASE each, added up in their order, if there are
    few: up to 200 with 5,000 leaves. Those of XGBoost need DuckDB, since it adds up in float32.

    Examples
    --------
    >>> import numpy as np
    >>> import cutscore as cs
    >>> from cutscore.detector import Detector, Encoding, LinearScorer
    >>> from cutscore.detector.export import to_sql
    >>> table = {"age": [20, 40, 60, 80]}
    >>> linear = cs.LinearDetector(np.array([1.0]), 0.5)
    >>> scorer = LinearScorer.of(Encoding.fit(table), linear)
    >>> s = cs.sweep([0, 0, 1, 1], scorer.scores(table))
    >>> policy = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 0.0))
    >>> d = Detector(scorer, policy)
    >>> print(to_sql(d, "people"))
    WITH scored AS MATERIALIZED (SELECT
      0.5e0 + (
        CASE WHEN d."age" BETWEEN -1.7976931348623157e+308 AND 1.7976931348623157e+308
          THEN 0.044721359549995794e0 * (d."age" - 50.0e0)
          WHEN d."age" IS NULL OR LOWER(CAST(d."age" AS VARCHAR)) = 'nan' THEN 0.0e0 END) AS "score"
    FROM "people" AS d),
    step0 AS MATERIALIZED (SELECT *,
      CASE WHEN "score" IS NOT NULL THEN 1.0e0 * ("score" - 0.0e0) END AS "llr" FROM scored)
    SELECT "score", "llr",
      CASE WHEN "llr" + 0.0e0 > 700 THEN 1.0e0 WHEN "llr" + 0.0e0 < -700 THEN 0.0e0
        WHEN "llr" + 0.0e0 >= 0 THEN 1 / (1 + EXP(-("llr" + 0.0e0)))
        ELSE EXP("llr" + 0.0e0) / (1 + EXP("llr" + 0.0e0)) END AS "probability",
      CASE WHEN "score" IS NOT NULL THEN "score" >= 0.5e0 END AS "decision"
    FROM step0
    """
    if isinstance(detector.scorer, ColumnScorer):
        query: str = detector.policy.export("sql", table=table, dialect=dialect, keep=keep)
        return query
    if dialect not in _DIALECTS:
        raise DataError(BadArgument("dialect", f"be one of {', '.join(_DIALECTS)}", dialect))
    policy, names = detector.policy, detector.columns
    if isinstance(keep, str):
        raise DataError(BadArgument("keep", "be a list of names", keep))
    kept = list(dict.fromkeys(keep))
    _check_names([*names, *kept], kept)
    if isinstance(detector.scorer, ModelScorer):
        query = _trees(detector.scorer, table, kept, dialect)
    else:
        query = _line(line_of(detector.scorer, "SQL"), table, kept, dialect)
    # What is infinite is written alike in both databases.
    return query + decided(
        policy.calibrator, policy.prior, policy.cuts.thresholds, kept, dialect="sqlite"
    )


def _line(line: LinearScorer, table: str, kept: Sequence[str], dialect: str) -> str:
    """The table ``scored`` of a line."""
    groups = [
        " + ".join(f"\n    {_term(term, dialect)}" for term in line.terms[k : k + GROUP])
        for k in range(0, len(line.terms), GROUP)
    ]
    score = " + ".join([_float(line.base), *(f"({group})" for group in groups)])
    front = "".join(f"d.{_name(name)},\n  " for name in kept)
    return (
        f'WITH scored AS MATERIALIZED (SELECT\n  {front}{score} AS "score"\n'
        f"FROM {_name(table)} AS d)"
    )


def _trees(scorer: ModelScorer, table: str, kept: Sequence[str], dialect: str) -> str:
    """The table ``scored`` of trees: columns as the model takes them, then a case a tree."""
    ensemble = Ensemble.of(scorer, "SQL")
    count, leaves = len(ensemble.trees), ensemble.leaves
    if count > _TREES or leaves > _LEAVES:
        reason = f"it has {count:,} trees and {leaves:,} leaves, more than {_TREES} and {_LEAVES:,}"
        raise DataError(ScorerUnfit("model", "SQL", reason))
    if ensemble.single and dialect != "duckdb":
        reason = "XGBoost adds up in float32, which DuckDB can do (dialect duckdb) and others can't"
        raise DataError(ScorerUnfit("model", "SQL", reason))
    prefix = "x"
    while any(name.casefold().startswith(prefix) for name in kept):
        prefix += "x"
    values = [f'"{prefix}{k}"' for k in range(len(scorer.inputs))]
    # What is missing is infinite, or level -1; what is neither a value nor missing is NULL.
    terms = (_term(_value_of(column), dialect) for column in scorer.inputs)
    taken = [f"{term} AS {value}" for term, value in zip(terms, values, strict=True)]
    front = [f"d.{_name(name)}" for name in kept]
    number = (lambda x: f"CAST({_float(x)} AS FLOAT)") if ensemble.single else _float
    cases = [_case(tree, values, number) for tree in ensemble.trees]
    total = "\n    + ".join([number(ensemble.base), *cases])
    bad = " OR ".join(f"{value} IS NULL" for value in values)
    score = f"CASE WHEN NOT ({bad}) THEN CAST({total} AS DOUBLE) END"
    if dialect != "duckdb":
        score = f"CASE WHEN NOT ({bad}) THEN {total} END"
    inputs, scored = ",\n  ".join([*front, *taken]), ",\n  ".join([*map(_name, kept), score])
    return (
        f"WITH inputs AS MATERIALIZED (SELECT\n  {inputs}\nFROM {_name(table)} AS d),\n"
        f'scored AS MATERIALIZED (SELECT\n  {scored} AS "score"\nFROM inputs)'
    )


def _value_of(column: Column) -> Term:
    """The term that is a column itself, as the model takes it."""
    if isinstance(column, NumberColumn):
        return NumberTerm(replace(column, mean=0.0, scale=1.0), 1.0, inf)
    levels = len(column.levels)
    other = float(levels) if column.other else -1.0
    return CategoryTerm(column, tuple(map(float, range(levels))), other, -1.0)


def _case(node: Node, values: Sequence[str], number: Callable[[float], str]) -> str:
    if isinstance(node, Leaf):
        return number(node.value)
    x, missing = values[node.column], _float(inf)
    if isinstance(node.test, tuple):
        levels = [*node.test, *([-1] if node.missing else [])]
        test = f"{x} IN ({', '.join(f'{level}e0' for level in levels)})"
    else:
        test = f"{x} <= {_float(node.test)}" + (f" OR {x} = {missing}" if node.missing else "")
    yes, no = (_case(side, values, number) for side in (node.yes, node.no))
    return f"CASE WHEN {test} THEN {yes} ELSE {no} END"


def _check_names(names: Sequence[str], kept: Sequence[str]) -> None:
    folded: dict[str, str] = {}
    for name in names:
        key = name.casefold()
        if folded.setdefault(key, name) != name:
            raise DataError(NamesRepeat(folded[key], name))
    for name in kept:
        if name.casefold() in _GIVEN:
            raise DataError(ColumnReserved(name))


def _text(value: str) -> str:
    return "'" + _printed(value).replace("'", "''") + "'"


def _term(term: Term, dialect: str) -> str:
    column = f"d.{_name(term.column.name)}"
    if isinstance(term, CategoryTerm):
        write = _boolean if term.column.kind == "boolean" else _category
        return write(term, column, dialect)
    if term.column.kind == "date":
        value = f"({_days(_microseconds(term.column.name, column, dialect))})"
    else:
        value = _number(column) if dialect == "sqlite" else column
    # Nothing else: what is neither a number nor missing makes the whole sum NULL.
    return (
        f"CASE WHEN {value} BETWEEN {_float(-_MOST)} AND {_float(_MOST)}\n"
        f"      THEN {_float(term.weight)} * ({value} - {_float(term.column.mean)})\n"
        f"      WHEN {_gone(column, dialect)} THEN {_float(term.missing)} END"
    )


def _gone(column: str, dialect: str, levels: Sequence[str] = ()) -> str:
    """Whether a value is missing."""
    if dialect == "sqlite":
        # .import stores what is missing as it is written.
        return f"{column} IS NULL OR {column} IN ({_words(levels)})"
    return f"{column} IS NULL OR LOWER(CAST({column} AS VARCHAR)) = 'nan'"


def _words(levels: Sequence[str] = ()) -> str:
    return ", ".join(_text(word) for word in MISSING if word not in levels)


_DAY = 86_400_000_000


def _microseconds(name: str, column: str, dialect: str) -> str:
    """A date as a whole number since 1970, cut to microseconds; NULL for what is none."""
    if dialect == "duckdb":
        # epoch_us would round nanoseconds, and take a time of day.
        ns = f"epoch_ns({column})"
        return (
            f"CASE TYPEOF({column}) WHEN 'TIME' THEN NULL WHEN 'TIMESTAMP_NS' "
            f"THEN ({ns} - ({ns} % 1000 + 1000) % 1000) // 1000 ELSE epoch_us({column}) END"
        )
    if dialect == "sqlite":
        # Its own functions round to thousandths. So seconds come from the text without a fraction,
        # and the fraction from its digits; a day that is not in the calendar would be another one.
        zone = f"LTRIM(SUBSTR({column}, 20), '.0123456789')"
        seconds = f"CAST(STRFTIME('%s', SUBSTR({column}, 1, 19) || {zone}) AS INTEGER)"
        digits = f"CASE WHEN SUBSTR({column}, 20, 1) = '.' THEN SUBSTR({column}, 21, 6) ELSE '' END"
        rest = f"CAST(ROUND(CAST('0.' || {digits} AS REAL) * 1e6) AS INTEGER)"
        day = f"SUBSTR({column}, 1, 10)"
        return (
            f"CASE WHEN TYPEOF({column}) = 'text' AND DATE({day}, '+0 days') = {day} "
            f"AND SUBSTR({column}, 12, 2) < '24' AND {column} NOT LIKE '% ' "
            f"AND {column} NOT LIKE '%.' THEN 1000000 * {seconds} + {rest} END"
        )
    rule = f"be duckdb or sqlite, since {shown(name)} is a date, which databases write differently"
    raise DataError(BadArgument("dialect", rule))


def _days(microseconds: str) -> str:
    """Days since 1970, as the detector computes them: whole ones, and what is left of a day."""
    us = f"({microseconds})"
    rest = f"(({us} % {_DAY} + {_DAY}) % {_DAY})"
    return f"CAST(({us} - {rest}) / {_DAY} AS BIGINT) + {rest} / {_float(_DAY)}"


def _boolean(term: CategoryTerm, column: str, dialect: str) -> str:
    # By text, which tells 1 and 0 from NaN, and from all else.
    text = f"LOWER(TRIM(CAST({column} AS VARCHAR)))"
    weight = dict(zip(term.column.levels, term.weights, strict=True))
    yes, no = (weight.get(level, term.other) for level in ("true", "false"))
    gone = f"{_gone(column, dialect)} OR CAST({column} AS VARCHAR) IN ({_words()})"
    return (
        f"CASE WHEN {text} IN ('true', '1') OR {text} LIKE '1.0%' AND {_stripped(text)} = '1' "
        f"THEN {_float(yes)}\n"
        f"      WHEN {text} IN ('false', '0') OR {text} LIKE '0.0%' AND {_stripped(text)} = '0' "
        f"THEN {_float(no)}\n"
        f"      WHEN {gone} THEN {_float(term.missing)} END"
    )


def _stripped(text: str) -> str:
    """A number with a point, without zeros at its end: floats of whole numbers have one, decimals
    several."""
    return f"RTRIM(RTRIM({text}, '0'), '.')"


def _category(term: CategoryTerm, column: str, dialect: str) -> str:
    missing, other = _float(term.missing), _float(term.other)
    if term.column.level_type == "date":
        key = _microseconds(term.column.name, column, dialect)
        keys = [str(np.datetime64(level, "us").astype(np.int64)) for level in term.column.levels]
        known = f"WHEN {key} IS NOT NULL THEN {other} END"
        rest = f"WHEN {_gone(column, dialect)} THEN {missing} {known}"
    else:
        text, kind = f"CAST({column} AS VARCHAR)", f"UPPER(TYPEOF({column}))"
        is_float = f"({kind} IN ('DOUBLE', 'FLOAT', 'REAL') OR {kind} LIKE 'DECIMAL(%')"
        whole, is_whole = _whole(column, text, dialect)
        key, keys = f"CASE WHEN {is_float} THEN {whole} ELSE {text} END", []
        if term.column.level_type == "whole" and dialect != "standard":
            key, keys = _whole_of_text(column, text, dialect), list(term.column.levels)
        elif term.column.level_type == "whole":
            key = f"CASE WHEN {text} LIKE '%.%' THEN {_stripped(text)} ELSE {text} END"
        keys = keys or list(map(_text, term.column.levels))
        gone = f"{column} IS NULL OR {text} = '' OR ({is_float} AND {text} = 'nan')"
        if dialect == "sqlite":
            gone = _gone(column, dialect, term.column.levels)
        # What is no whole number is refused; as text these others would be other levels, or none.
        odd = f"{is_float} AND NOT {is_whole}"
        odd += f" OR {kind} IN ('BOOLEAN', 'DATE') OR {kind} LIKE 'TIME%'"
        rest = f"WHEN {gone} THEN {missing} WHEN {odd} THEN NULL ELSE {other} END"
    if not keys:
        return f"CASE {rest}"
    cases = "".join(
        f"\n      WHEN {level} THEN {_float(weight)}"
        for level, weight in zip(keys, term.weights, strict=True)
    )
    return f"CASE {key}{cases}\n      ELSE CASE {rest} END"


def _whole(column: str, text: str, dialect: str) -> tuple[str, str]:
    """The text of a whole number that is stored as a float or a decimal, and whether it is one."""
    if dialect == "sqlite":
        number = f"CAST({column} AS INTEGER)"
        is_whole = f"({column} = {number} AND ABS({column}) < {EXACT})"
        return f"CAST({number} AS TEXT)", is_whole
    if dialect == "duckdb":
        number = f"TRY_CAST({text} AS DOUBLE)"
        is_whole = f"(ABS({number}) < {EXACT} AND {number} = FLOOR({number}))"
        return f"CAST(TRY_CAST({number} AS BIGINT) AS VARCHAR)", is_whole
    # Without functions of a database: a point that is left, an exponent, or infinity.
    stripped = _stripped(text)
    return stripped, f"({text} LIKE '%.%' AND {stripped} NOT LIKE '%.%' AND {text} NOT LIKE '%e%')"


def _whole_of_text(column: str, text: str, dialect: str) -> str:
    """A whole number, however it is stored; NULL for anything else."""
    if dialect == "sqlite":
        return _number(column)
    trimmed = f"TRIM({text})"
    number = f"TRY_CAST({trimmed} AS DOUBLE)"
    return (
        f"CASE WHEN REGEXP_MATCHES({trimmed}, '^[+-]?[0-9]+$') THEN TRY_CAST({trimmed} AS HUGEINT) "
        f"WHEN REGEXP_MATCHES({trimmed}, {_text(NUMBER)}) AND ABS({number}) < {EXACT} "
        f"AND {number} = FLOOR({number}) THEN TRY_CAST({number} AS HUGEINT) END"
    )
