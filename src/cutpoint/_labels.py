"""The positive label, named in words: which rows have it, and what it is told from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
        asked = typed(positive, boolean=kind == "b")
        if asked is None:
            raise other_kind(positive, "true and false" if kind == "b" else "numbers", name)
    y = np.asarray(values == asked, np.bool_)
    if kind == "f" and np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise DataError(
            f"{shown(name)} must have a label in every row; row {row + 1:,} has NaN. Drop such "
            "rows first."
        )
    others = list(dict.fromkeys(values[~y].tolist())) if kind in "OUST" else _unique(values[~y])
    if not y.any():
        raise no_label(positive, others, name)
    return Labelled(y, values[int(y.argmax())].item() if kind in "biuf" else asked, others)


def no_label(positive: Any, others: Sequence[Any], name: str) -> DataError:
    """The error for a positive label that no row has, with the one that may be meant."""
    some = ", ".join(map(shown, others[:5])) + (", …" if len(others) > 5 else "")
    known = {str(label).strip().casefold(): label for label in reversed(others)}
    near = known.get(str(positive).strip().casefold())
    hint = f" Did you mean {shown(near)}?" if near is not None else ""
    return DataError(
        f"the positive label must be one of those in {shown(name)}, {some}; it is "
        f"{shown(positive)}.{hint}"
    )


def typed(text: str, *, boolean: bool) -> bool | int | float | None:
    """A label of a column of booleans or of numbers, from text; None if it is none. Whole numbers
    as such: as floats, those beyond 2**53 are their neighbours, too."""
    if boolean:
        return _TRUTH.get(text.strip().lower())
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return None


def other_kind(positive: Any, kind: str, name: str) -> DataError:
    """The error for a positive label that is not of the kind that the column holds."""
    return DataError(
        f"the positive label must be one of those in {shown(name)}, which are {kind}; it is "
        f"{shown(positive)}."
    )


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
