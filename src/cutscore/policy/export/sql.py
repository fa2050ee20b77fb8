"""A policy as one SELECT, for DuckDB, SQLite and PostgreSQL; and a calibrator as an expression."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, log
from typing import TYPE_CHECKING

import numpy as np

from cutscore.calibration.calibrators import (
    EPS,
    Affine,
    Beta,
    Calibrator,
    Chain,
    Gaussian,
    Monotone,
)
from cutscore.core.checks import one_of
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.models import ColumnReserved, NotExportable
from cutscore.core.findings.rows import LARGEST_STAKE
from cutscore.core.names import quote_sql
from cutscore.decision.money import FREE, GRID, on_grid
from cutscore.measures.expression import Expression
from cutscore.measures.prior import log_odds

if TYPE_CHECKING:
    from cutscore.policy.artefact import Policy

DIALECTS = ("standard", "duckdb", "sqlite", "postgresql")
GIVEN = ("score", "llr", "probability", "decision")
LARGEST = 1.7976931348623157e308


def to_sql(
    policy: Policy, table: str = "data", *, dialect: str = "standard", keep: Sequence[str] = ()
) -> str:
    """One SELECT with the score, the LLR, the probability and the decision of each row of a table.

    Parameters
    ----------
    policy
        The policy; its ``score`` names the column.
    table
        The name of the table. A dot in it belongs to the name.
    dialect
        "standard" runs on DuckDB, SQLite and PostgreSQL alike. Calibrators with infinite LLRs need
        one of the three to be named. "sqlite" also reads numbers that are stored as text, as its
        ``.import`` does.
    keep
        Columns to put in front.

    Notes
    -----
    Decisions are those of :meth:`cutscore.Policy.decide`, at the threshold and for ±infinity too.
    Where the score is NULL or NaN, or text in SQLite, all four are NULL; LLR and probability also
    where a beta calibrator has no value. Where groups have thresholds of their own, their names are
    compared as text, and the decision is NULL for a group that has none and where it is NULL. So
    is it where costs differ by row, and one of a row is missing, negative or infinite.
    SQLite needs its mathematical functions, which most builds have. PostgreSQL refuses the query
    where an LLR is past every number, as of a score of 1e308.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    >>> p = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 2.5))
    >>> print(p.export("sql", table="cases"))
    WITH scored AS MATERIALIZED (SELECT
      CASE WHEN d."score" = d."score" + 0 AND LOWER(CAST(d."score" AS VARCHAR(40))) <> 'nan'
        THEN CAST(d."score" AS DOUBLE PRECISION) END AS "score"
    FROM "cases" AS d),
    step0 AS MATERIALIZED (SELECT *,
      CASE WHEN "score" IS NOT NULL THEN 1.0e0 * ("score" - 2.5e0) END AS "llr" FROM scored)
    SELECT "score", "llr",
      CASE WHEN "llr" + 0.0e0 > 700 THEN 1.0e0 WHEN "llr" + 0.0e0 < -700 THEN 0.0e0
        WHEN "llr" + 0.0e0 >= 0 THEN 1 / (1 + EXP(-("llr" + 0.0e0)))
        ELSE EXP("llr" + 0.0e0) / (1 + EXP("llr" + 0.0e0)) END AS "probability",
      CASE WHEN "score" IS NOT NULL THEN "score" >= 1.5e0 END AS "decision"
    FROM step0
    """
    one_of("dialect", dialect, DIALECTS)
    kept = check_kept(keep)
    group, decision = _by_group(policy, kept)
    if policy.row_costs is not None:
        group, decision = _by_row(policy, kept, dialect)
    score = _number(policy.score, dialect)
    front = "".join(f"d.{name_of(name)},\n  " for name in kept)
    scored = (
        f'WITH scored AS MATERIALIZED (SELECT\n  {front}{score} AS "score"{group}\n'
        f"FROM {name_of(table)} AS d)"
    )
    return scored + decided(
        policy.calibrator,
        policy.prior,
        policy.cuts.thresholds,
        kept,
        reverse=policy.reverse,
        dialect=dialect,
        decision=decision,
    )


def _number(name: str, dialect: str) -> str:
    """A column as a number; NULL where it has none."""
    column = f"d.{name_of(name)}"
    value = stored_number(column) if dialect == "sqlite" else column
    # Text in SQLite is above every number, and NaN elsewhere.
    return (
        f"CASE WHEN {value} = {value} + 0 AND LOWER(CAST({value} AS VARCHAR(40))) <> 'nan'\n"
        f"    THEN CAST({value} AS DOUBLE PRECISION) END"
    )


_COST = "cutscore cost"


def _by_row(policy: Policy, kept: Sequence[str], dialect: str) -> tuple[str, str]:
    """The columns that costs of each row are computed from, as numbers, and the decision that
    follows from them: NULL where a cost is missing, negative or infinite."""
    costs = policy.aim.costs
    assert costs is not None
    if any(name.casefold().startswith(_COST) for name in kept):
        raise DataError(ColumnReserved(_COST))
    own = {name: f'"{_COST} {k + 1}"' for k, name in enumerate(costs.columns)}
    columns = "".join(f",\n  {_number(name, dialect)} AS {own[name]}" for name in own)
    miss, alarm = (
        _plus(one.to_sql(own.__getitem__, literal), benefit)
        if isinstance(one, Expression)
        else literal(one + benefit)
        for one, benefit in ((costs.fn, costs.tp), (costs.fp, costs.tn))
    )
    threshold = float(on_grid(np.array([policy.threshold]))[0])
    # Rounded as in cutscore.decision.money.gaps.
    floor = f"CASE WHEN {alarm} > {literal(FREE)} THEN {alarm} ELSE {literal(FREE)} END"
    gap = f'ROUND(("llr" - (LN({floor}) - LN({miss}))) * {literal(GRID)}) / {literal(GRID)}'
    return columns, (
        f"CASE WHEN {miss} BETWEEN 0 AND {literal(LARGEST_STAKE)} AND {alarm} BETWEEN 0 AND "
        f"{literal(LARGEST_STAKE)} THEN\n"
        f"    CASE WHEN {miss} = 0 THEN {_always(threshold == -inf)}\n"
        f"      ELSE {_at_least(gap, threshold)} END END"
    )


def _plus(formula: str, benefit: float) -> str:
    return f"({formula} + {literal(benefit)})" if benefit else formula


def _always(flagged: bool) -> str:
    return "(1 = 1)" if flagged else "(1 = 0)"


def _at_least(value: str, threshold: float) -> str:
    if isfinite(threshold):
        return f"{value} >= {literal(threshold)}"
    return f"{value} > {literal(LARGEST)}" if threshold > 0 else _always(True)


_GROUP = "cutscore group"


def _by_group(policy: Policy, kept: Sequence[str]) -> tuple[str, str | None]:
    """A column with the number of each row's group, and the decision that follows from it; nothing
    if all rows have the same threshold."""
    own = policy.cuts.groups
    if not own or policy.groups is None:
        return "", None
    if any(name.casefold() == _GROUP for name in kept):
        raise DataError(ColumnReserved(_GROUP))
    names = "".join(f"\n    WHEN {text_literal(name)} THEN {k}" for k, name in enumerate(own))
    column = f"CAST(d.{name_of(policy.groups.column)} AS VARCHAR)"
    tests = "".join(
        f"\n    WHEN {k} THEN {decision_of(threshold, reverse=policy.reverse)}"
        for k, (threshold,) in enumerate(own.values())
    )
    number = f',\n  CASE {column}{names} END AS "{_GROUP}"'
    return number, f'CASE "{_GROUP}"{tests} END'


def text_literal(text: str) -> str:
    """A text in quotes.

    Examples
    --------
    >>> from cutscore.policy.export.sql import text_literal
    >>> text_literal("Côte d'Ivoire")
    "'Côte d''Ivoire'"
    """
    quoted = printed(text).replace("'", "''")
    return f"'{quoted}'"


def decided(  # noqa: PLR0913 - options have names
    calibrator: Calibrator | None,
    prior: float,
    thresholds: Sequence[float],
    kept: Sequence[str],
    *,
    reverse: bool = False,
    dialect: str = "standard",
    decision: str | None = None,
) -> str:
    """What follows a table ``scored`` with a column ``score``: its LLR, probability, decision;
    the decision alone if there is no calibrator. It follows from thresholds, unless it is given."""
    above = [decision_of(threshold, reverse=reverse) for threshold in thresholds]
    if len(above) == 2:  # 0 to pass, 1 to review, 2 to block
        above = [f"CASE WHEN {above[1]} THEN 2 WHEN {above[0]} THEN 1 ELSE 0 END"]
    decision = or_null(above[0] if decision is None else decision, '"score"')
    front = ", ".join([*map(name_of, kept), '"score"'])
    if calibrator is None:
        return f'\nSELECT {front},\n  {decision} AS "decision"\nFROM scored'
    steps = calibrator.steps if isinstance(calibrator, Chain) else (calibrator,)
    query, last = [""], "scored"
    before = '(-"score")' if reverse else '"score"'
    for k, step in enumerate(steps):
        name = '"llr"' if k == len(steps) - 1 else f'"llr {k + 1}"'
        of = '"score"' if k == 0 else before
        # MATERIALIZED: or a database may put the whole sum in each place where the score is used.
        query.append(
            f"step{k} AS MATERIALIZED (SELECT *,\n"
            f"  {or_null(llr_of(step, before, dialect), of)} AS {name} FROM {last})"
        )
        before, last = name, f"step{k}"
    odds = f'"llr" + {literal(log_odds(prior))}'
    # PostgreSQL refuses to compute what is past every float, or next to 0.
    return ",\n".join(query) + (
        f'\nSELECT {front}, "llr",\n'
        f"  CASE WHEN {odds} > 700 THEN 1.0e0 WHEN {odds} < -700 THEN 0.0e0\n"
        f"    WHEN {odds} >= 0 THEN 1 / (1 + EXP(-({odds})))\n"
        f'    ELSE EXP({odds}) / (1 + EXP({odds})) END AS "probability",\n'
        f'  {decision} AS "decision"\n'
        f"FROM {last}"
    )


def check_kept(keep: Sequence[str]) -> list[str]:
    """Columns to put in front, of which none may have the name of one that is added."""
    if isinstance(keep, str):
        raise DataError(BadArgument("keep", "be a list of names", keep))
    kept = list(dict.fromkeys(keep))
    for name in kept:
        if name.casefold() in GIVEN:
            raise DataError(ColumnReserved(name))
    return kept


def name_of(name: str) -> str:
    """A name in quotes."""
    return quote_sql(printed(name))


def printed(text: str) -> str:
    """A text that SQL can hold."""
    if "\0" in text:
        raise DataError(NotExportable(text, "SQL", "it contains a NUL character"))
    return check_unicode(text, "SQL")


def check_unicode(text: str, format: str) -> str:
    """A text that can be written as UTF-8; halves of surrogate pairs can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        reason = "it is not valid Unicode: it contains half of a surrogate pair"
        raise DataError(NotExportable(text, format, reason)) from None
    return text


def literal(x: float, dialect: str = "sqlite") -> str:
    """A literal of double precision: without an exponent DuckDB would take it as a decimal."""
    if isfinite(x):
        text = repr(float(x))
        return text if "e" in text else text + "e0"
    if dialect == "standard":
        rule = f"be one of {', '.join(DIALECTS[1:])}, since an LLR is infinite"
        raise DataError(BadArgument("dialect", rule))
    if dialect == "postgresql":
        return f"CAST('{'' if x > 0 else '-'}Infinity' AS DOUBLE PRECISION)"
    return "(1e308 * 10)" if x > 0 else "(-1e308 * 10)"


def stored_number(column: str) -> str:
    """A number of SQLite, which .import stores as text. Compared with a number, text that is one
    becomes it, and other text stays text: so what is not wholly a number is NULL."""
    text = f"TRIM({column})"
    return (
        f"(CASE WHEN TYPEOF({column}) <> 'text' THEN {column} "
        f"WHEN CAST({text} AS NUMERIC) = {text} THEN CAST({text} AS NUMERIC) END)"
    )


def decision_of(threshold: float, *, reverse: bool = False) -> str:
    """Whether a score is flagged. +inf is past the largest number, and nothing else is."""
    if isfinite(threshold):
        return f'"score" {"<=" if reverse else ">="} {literal(threshold)}'
    if (threshold > 0) == reverse:
        return "(1 = 1)"
    return f'"score" {"<" if reverse else ">"} {literal(-LARGEST if reverse else LARGEST)}'


def or_null(value: str, of: str) -> str:
    """A value, but NULL where the score it is made of is: of cases and constants it would be some
    number."""
    return f"CASE WHEN {of} IS NOT NULL THEN {value} END"


def llr_of(step: Calibrator, score: str, dialect: str = "standard") -> str:
    """A calibrator that is no chain as an expression of a score.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.policy.export.sql import llr_of
    >>> llr_of(cs.Affine(2.0, 0.5), '"score"')
    '2.0e0 * ("score" - 0.5e0)'
    """
    if isinstance(step, Affine):
        if not step.gamma:
            return "0e0"
        return f"{literal(step.gamma)} * ({score} - {literal(step.d0)})"
    if isinstance(step, Beta):
        return _beta(step, score)
    if isinstance(step, Gaussian):
        inner = _gaussian(step, score)
    else:
        assert isinstance(step, Monotone)
        inner = _monotone(step, score, dialect)
        if not step.tilt and not step.interpolate:
            return inner
    # At infinity both terms of a difference may be infinite; the limits are known.
    ends = []
    for sign, x in ((">", inf), ("<", -inf)):
        limit = float(step.llr(x))
        same = score if limit == x else f"(-{score})"
        value = literal(limit) if isfinite(limit) else same
        ends.append(f"WHEN {score} {sign} {literal(max(min(x, LARGEST), -LARGEST))} THEN {value} ")
    return f"(CASE {''.join(ends)}ELSE {inner} END)"


def _beta(step: Beta, score: str) -> str:
    low, high = literal(EPS), literal(1 - EPS)
    p = f"(CASE WHEN {score} < {low} THEN {low} WHEN {score} > {high} THEN {high} ELSE {score} END)"
    value = f"{literal(step.a)} * LN({p}) - {literal(step.b)} * LN(1 - {p}) + {literal(step.c)}"
    return f"CASE WHEN {score} BETWEEN 0 AND 1 THEN {value} END"


def _gaussian(step: Gaussian, score: str) -> str:
    u = f"(({score} - {literal(step.neg_mean)}) / {literal(step.neg_sd)})"
    v = f"(({score} - {literal(step.pos_mean)}) / {literal(step.pos_sd)})"
    return f"0.5e0 * ({u} - {v}) * ({u} + {v}) + {literal(log(step.neg_sd / step.pos_sd))}"


def _monotone(step: Monotone, score: str, dialect: str) -> str:
    at, value = step._rising
    if step.interpolate:
        pieces = [literal(value[0])]
        for a, b, y, z in zip(at[:-1], at[1:], value[:-1], value[1:], strict=True):
            slope = literal(float((z - y) / (b - a)))
            pieces.append(f"{slope} * ({score} - {literal(float(a))}) + {literal(float(y))}")
        pieces.append(literal(value[-1]))
    else:
        pieces = [literal(float(v), dialect) for v in value]
    out = _tree(score, [float(t) for t in at], pieces)
    if step.tilt:
        z = f"(({score} - {literal(step.centre)}) / {literal(step.scale)})"
        out = f"{out} + {literal(step.tilt)} * ({z} / (1 + ABS({z})))"
    return out


def _tree(score: str, at: list[float], pieces: list[str]) -> str:
    """The piece for a score, by halving: databases limit how long a chain of cases may be."""
    if len(pieces) == 1:
        return pieces[0]
    k = len(at) // 2
    low, high = _tree(score, at[:k], pieces[: k + 1]), _tree(score, at[k + 1 :], pieces[k + 1 :])
    test = f"{score} >= {literal(at[k])}" if at[k] < inf else f"{score} > {literal(LARGEST)}"
    return f"(CASE WHEN {test} THEN {high} ELSE {low} END)"
