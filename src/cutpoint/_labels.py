"""The positive label, named in words: which rows have it, and what it is told from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutpoint._check import shown
from cutpoint.errors import DataError

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class Labelled(NamedTuple):
    """Which rows are positive."""

    y: NDArray[np.bool_]
    positive: Any
    """The label as the column has it."""
    others: list[Any]
    """All other labels, in their order."""


def labelled(values: NDArray[Any], positive: Any, name: str) -> Labelled:
    """The rows that have one label, against all the rest. Text reads as the column's type.

    Examples
    --------
    >>> import numpy as np
    >>> from cutpoint._labels import labelled
    >>> labelled(np.array([3, 1, 2, 3]), "3", "grade")
    Labelled(y=array([ True, False, False,  True]), positive=3, others=[1, 2])
    """
    kind = values.dtype.kind
    if kind in "OUST":
        asked: Any = str(positive)
    elif not isinstance(positive, str):
        asked = positive
    else:
        try:
            asked = _TRUTH[positive.strip().lower()] if kind == "b" else float(positive)
        except (KeyError, ValueError):
            what = "true and false" if kind == "b" else "numbers"
            raise DataError(
                f"the positive label must be one of those in {shown(name)}, which are {what}; it "
                f"is {shown(positive)}."
            ) from None
    y = np.asarray(values == asked, np.bool_)
    if kind == "f" and np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise DataError(
            f"{shown(name)} must have a label in every row; row {row + 1:,} has NaN. Drop such "
            "rows first."
        )
    others = list(dict.fromkeys(values[~y].tolist())) if kind in "OUST" else _unique(values[~y])
    if not y.any():
        some = ", ".join(map(shown, others[:5])) + (", …" if len(others) > 5 else "")
        raise DataError(
            f"the positive label must be one of those in {shown(name)}, {some}; it is "
            f"{shown(positive)}."
        )
    return Labelled(y, values[int(y.argmax())].item() if kind in "biuf" else asked, others)


def _unique(values: NDArray[Any]) -> list[Any]:
    out: list[Any] = np.unique(values).tolist()
    return out


def against(found: Labelled, name: str) -> str | None:
    """What to say where one label is told from several; None if it is told from one."""
    if len(found.others) < 2:
        return None
    some = ", ".join(map(shown, found.others[:4]))
    more = f", … ({len(found.others):,} in all)" if len(found.others) > 4 else ""
    return f"{shown(name)}: {shown(found.positive)} is told from all other labels, {some}{more}."
