"""Rows with a group each, as one sweep per group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cutscore.comparison.rows import encode_values
from cutscore.core.checks import check_rows
from cutscore.core.types import ArrayLike, Label
from cutscore.sweeps.groups import GroupSweeps
from cutscore.sweeps.sweep import sweep_of


def sweeps_by_group(  # noqa: PLR0913 - options have names
    y: ArrayLike,
    score: ArrayLike,
    group: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    positive: Label | None = None,
    squares: bool = False,
) -> GroupSweeps:
    """One sweep per group of rows: what :func:`cutscore.choose_groups` chooses thresholds on.

    Rows in a file: ``GroupSweeps(sweep_file(path, label=..., score=..., group=...))``.

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    group : array-like of shape (n,)
        The group of each row: numbers, text, dates or other hashable values. Missing ones are
        refused.
    weight : array-like of shape (n,), optional
        As in :func:`cutscore.sweep`.
    positive : label, optional
        As in :func:`cutscore.sweep`.
    squares : bool, default False
        As in :func:`cutscore.sweep`: guarantees and intervals of weighted rows need them.

    Returns
    -------
    GroupSweeps
        In the order in which groups first appear.

    Examples
    --------
    >>> import cutscore as cs
    >>> cs.sweeps_by_group([1, 0, 1, 0], [0.9, 0.2, 0.7, 0.8], ["de", "de", "fr", "fr"])
    2 groups: 'de' (2 rows, 1 positive), 'fr' (2 rows, 1 positive)
    """
    rows = check_rows(y, score, weight, positive)
    label, code = encode_values(group, "group", np.ones(len(rows.score), np.bool_))
    sweep_of(rows)  # errors name a row by its place among all rows
    # Few groups have short numbers, which NumPy sorts by their digits.
    order = np.argsort(code.astype(np.min_scalar_type(len(label))), kind="stable")
    ends = np.cumsum(np.bincount(code, minlength=len(label)))
    starts = np.append(0, ends[:-1])
    columns = {
        name: column[order]
        for name in ("label", "score", "weight")
        if (column := getattr(rows, name)) is not None
    }
    sweeps = {}
    for name, a, b in zip(label.tolist(), starts.tolist(), ends.tolist(), strict=True):
        part = {column: values[a:b] for column, values in columns.items()}
        sweeps[name] = sweep_of(replace(rows, **part), squares=squares)
    return GroupSweeps(sweeps)
