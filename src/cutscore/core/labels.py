"""The positive label by name: which rows have it, and which other labels there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutscore.core.errors import DataError
from cutscore.core.findings.base import Where
from cutscore.core.findings.rows import OneVersusRest, PositiveUnknown, ValueMissing
from cutscore.core.types import Label

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


class BinaryLabels(NamedTuple):
    """Which rows are positive."""

    y: NDArray[np.bool_]
    positive: Any
    """The label as the column has it."""
    others: list[Any]
    """All other labels, in their order."""
    counts: list[int] | None = None
    """How many rows have each of these, where that was asked for."""


def binarize(
    values: NDArray[Any], positive: Label, name: str, *, count: bool = False
) -> BinaryLabels:
    """The rows that have one label, against all the rest. Text reads as the column's type.

    ``count`` also counts the rows of each other label, which engines that read files don't.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.core.labels import binarize
    >>> binarize(np.array([3, 1, 2, 3]), "3", "grade", count=True)
    BinaryLabels(y=array([ True, False, False,  True]), positive=3, others=[1, 2], counts=[1, 1])
    """
    kind = values.dtype.kind
    if kind in "OUST":
        asked: Any = str(positive)
    elif not isinstance(positive, str):
        asked = positive
    else:
        asked = parse_label(positive, boolean=kind == "b")
        if asked is None:
            raise label_type_error(positive, "true and false" if kind == "b" else "numbers", name)
    y = np.asarray(values == asked, np.bool_)
    if kind == "f" and np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise DataError(ValueMissing("label", "NaN", where=Where(row, column=name)))
    others, counts = _count_labels(values[~y])
    if not y.any():
        raise unknown_label_error(positive, others, name)
    own = values[int(y.argmax())].item() if kind in "biuf" else asked
    return BinaryLabels(y, own, others, counts if count else None)


def unknown_label_error(positive: Label, others: Sequence[Any], name: str) -> DataError:
    """The error for a positive label that no row has, with the one that may be meant."""
    known = {str(label).strip().casefold(): label for label in reversed(others)}
    near = known.get(str(positive).strip().casefold(), ...)
    return DataError(PositiveUnknown(positive, tuple(others), column=name, near=near))


def parse_label(text: str, *, boolean: bool) -> bool | int | float | None:
    """A label of a column of booleans or of numbers, from text; None if it is none. Whole numbers
    as such: as floats, those beyond 2**53 are their neighbours, too."""
    if boolean:
        return _TRUTH.get(text.strip().lower())
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return None


def label_type_error(positive: Label, kind: str, name: str) -> DataError:
    """The error for a positive label that is not of the kind that the column holds."""
    return DataError(PositiveUnknown(positive, kind=kind, column=name))


def _count_labels(values: NDArray[Any]) -> tuple[list[Any], list[int]]:
    """The different labels, text as it comes and numbers in their order; and rows of each."""
    if values.dtype.kind in "OUST":
        found = Counter(values.tolist())
        return list(found), list(found.values())
    labels, counts = np.unique(values, return_counts=True)
    return labels.tolist(), counts.tolist()


def one_versus_rest_note(found: BinaryLabels, name: str) -> OneVersusRest | None:
    """The note where one label stands against several; None if there is one other.

    Examples
    --------
    >>> import numpy as np
    >>> from cutscore.core.labels import one_versus_rest_note, binarize
    >>> found = binarize(np.array(["yes", "no", "No", "no"]), "yes", "ill", count=True)
    >>> print(one_versus_rest_note(found, "ill").render())
    'ill' is treated as one-vs-rest: 'yes' is positive, the others are negative: 'no' (2 rows), 'No'
    (1 row).
    """
    if len(found.others) < 2:
        return None
    rows = None if found.counts is None else tuple(found.counts)
    return OneVersusRest(name, found.positive, tuple(found.others), rows)
