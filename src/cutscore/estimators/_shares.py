"""Settings given by class, as arrays in the order of the labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.findings.base import shown
from cutscore.core.types import Label
from cutscore.sweeps.sweep import Floats


def class_shares(prior: object, names: list[Label]) -> Floats:
    """The share of each class, from a sequence in the order of the labels or from a mapping."""
    given = by_label(prior)
    if isinstance(given, Mapping):
        check_labels(given, names, "prior")
        missing = [name for name in names if name not in given]
        if missing:
            raise DataError(BadArgument("prior", f"have a share of {missing[0]!r}", given))
        given = [given[name] for name in names]
    share = as_numbers(given)
    if share.shape != (len(names),):
        rule = f"be {len(names)} shares, one for each of {shown(names)}"
        raise DataError(BadArgument("prior", rule, prior))
    bad = ~((share > 0) & (share < 1))
    if bad.any():
        k = int(bad.argmax())
        hint = "For a class that does not occur, use a small share, such as 1e-9."
        subject, value = f"the prior of {names[k]!r}", float(share[k])
        raise DataError(BadArgument("prior", "be between 0 and 1", value, hint, subject))
    # Far more than rounding of shares in any format, far less than a class left out.
    if abs(share.sum() - 1) > 1e-6:
        total, hint = float(share.sum()), "Divide them by that."
        raise DataError(BadArgument("prior", "be 1", total, hint, subject="the sum of priors"))
    return np.asarray(share / share.sum())


def by_label(given: object) -> object:
    """A pandas series or frame as dicts, since its index may be in any order."""
    if not hasattr(given, "to_dict") or not hasattr(given, "index"):
        return given
    return given.to_dict("index") if hasattr(given, "columns") else given.to_dict()


def check_labels(given: Mapping[Label, object], names: list[Label], what: str) -> None:
    """Refuse a mapping with a key that is not a label."""
    unknown = [key for key in given if key not in names]
    if unknown:
        rule = f"have labels as keys, {shown(names)}"
        raise DataError(BadArgument(what, rule, unknown[0], subject=f"{what}, by label,"))


def as_numbers(given: object) -> Floats:
    """An array of floats, nan for non-numbers; a scalar nan if it is no array at all."""
    try:
        cells = np.array(given, dtype=object)
        return np.vectorize(number, otypes=[np.float64])(cells) if cells.size else np.zeros(0)
    except ValueError:  # rows of different lengths
        return np.full((), np.nan)
