"""Evidence: the sweep of out-of-sample scores that a policy was chosen on, as its file keeps it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import one_of
from cutscore.core.errors import DataError
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.frozen import Frozen
from cutscore.core.json import Count, Extended, Mass, plain, read_fields
from cutscore.sweeps.sweep import Masses, Sweep, check_sweep

Kind = Literal["scores", "corners"]
KINDS = get_args(Kind)

ENTRIES = 100_000
"""So many entries of a sweep are kept as they are."""


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Frozen):
    """What a policy knows of the rows that it was chosen on.

    Parameters
    ----------
    kind
        ``"scores"``: every distinct score, with the mass of both classes. ``"corners"``: runs of
        scores of one class are merged, which keeps the ROC curve as it is; see
        :meth:`cutscore.Sweep.compact`.
    sweep
        The sweep.
    units
        How many units (patients, users) the rows come from, where rows of one are correlated.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.policy import Evidence
    >>> s = cs.sweep([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> Evidence.of(s), Evidence.of(s, keep="corners")
    (6 scores of 6 rows, 3 corners of 6 rows)
    """

    kind: Kind
    sweep: Sweep
    units: int | None = None

    @classmethod
    def of(
        cls, s: Sweep, keep: str = "auto", *, cut: int | None = None, units: int | None = None
    ) -> Evidence:
        """The evidence of a sweep.

        Parameters
        ----------
        s
            The sweep.
        keep
            What to keep: one of the kinds, or "auto" for the first of them that has at most
            100,000 entries.
        cut
            A cut that stays one, inside of a run of one class too: how many of the distinct scores
            it flags.
        units
            How many units the rows come from.
        """
        check_sweep(s)
        one_of("keep", keep, ("auto", *KINDS))
        if keep == "auto":
            keep = "corners" if s.merged or len(s) > ENTRIES else "scores"
        if keep == "scores":
            s.needs_scores("evidence of every score")
        kept = s if keep == "scores" else _corners(s, cut)
        # Where nothing was merged every score is there.
        return cls("corners" if kept.merged else "scores", kept, units)

    @property
    def digest(self) -> str:
        """SHA-256 of the scores and masses: rows in any order have the same."""
        return digest_of(self.sweep)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists."""
        s = self.sweep
        columns = {name: getattr(s, name) for name in _COLUMNS}
        return {
            "kind": self.kind,
            "entries": len(s),
            "positives": s.P,
            "negatives": s.N,
            "units": self.units,
            **{name: None if c is None else plain(c) for name, c in columns.items()},
        }

    @classmethod
    def from_dict(cls, data: Any, where: str = "") -> Evidence:
        """The evidence that :meth:`to_dict` described; anything else is a DataError."""
        saved: _Saved = read_fields(_Saved, data, where)
        arrays = {name: _array(getattr(saved, name)) for name in _COLUMNS}
        s = Sweep._adopt(**arrays)
        _check(s, saved, where)
        return cls(saved.kind, s, saved.units)

    def __repr__(self) -> str:
        s = self.sweep
        of = f"weight {s.P + s.N:,.6g}" if s.weighted else f"{s.P + s.N:,} rows"
        units = "" if self.units is None else f" from {self.units:,} units"
        return f"{len(s):,} {self.kind} of {of}{units}"


_COLUMNS = ("threshold", "top", "pos", "neg", "pos2", "neg2")


@dataclass(frozen=True)
class _Saved:
    """Evidence in a file."""

    kind: Kind
    entries: Count
    positives: Any
    negatives: Any
    units: Count | None
    threshold: tuple[Extended, ...]
    top: tuple[Extended, ...] | None
    pos: tuple[Any, ...]
    neg: tuple[Any, ...]
    pos2: tuple[Mass, ...] | None
    neg2: tuple[Mass, ...] | None


def _array(values: tuple[Any, ...] | None) -> NDArray[Any] | None:
    return None if values is None else np.array(values, _kind_of(values))


def _kind_of(values: tuple[Any, ...]) -> Any:
    return np.int64 if values and all(type(v) is int for v in values) else np.float64


def _check(s: Sweep, saved: _Saved, where: str) -> None:
    """Refuse columns that no sweep has."""
    columns = [c for name in _COLUMNS if (c := getattr(s, name)) is not None]
    top = s.threshold if s.top is None else s.top
    rules: list[tuple[str, str, Any]] = [
        ("entries", "the length of each column", {len(c) for c in columns} == {saved.entries}),
        ("pos2", "there exactly if neg2 is", (s.pos2 is None) == (s.neg2 is None)),
        ("pos", "of whole numbers exactly if neg is", s.pos.dtype == s.neg.dtype),
        ("top", "null exactly for the kind 'scores'", (s.top is None) == (saved.kind == "scores")),
    ]
    for name, rule, fits in rules:
        if not fits:
            raise DataError(FieldUnfit(f"{where}.{name}", rule))
    rules = [
        ("threshold", "decreasing", (s.threshold[1:] < s.threshold[:-1]).all()),
        ("top", "at least the threshold", (top >= s.threshold).all()),
        ("top", "below the threshold before", (top[1:] < s.threshold[:-1]).all()),
        ("pos", "above 0 where neg is 0", (s.pos + s.neg > 0).all()),
        ("positives", "the sum of pos", saved.positives == s.P),
        ("negatives", "the sum of neg", saved.negatives == s.N),
    ]
    for name, rule, fits in rules:
        if not fits:
            raise DataError(FieldUnfit(f"{where}.{name}", rule))


def _corners(s: Sweep, cut: int | None) -> Sweep:
    """The sweep with runs of one class merged, but not across a cut."""
    compact = s.compact()
    if compact is s or compact.top is None or cut is None or not 0 < cut < len(s):
        return compact
    last = float(s.threshold[cut - 1])
    k = int(np.searchsorted(-compact.threshold, -last))
    if compact.threshold[k] == last:
        return compact
    own = s.threshold if s.top is None else s.top
    first = int(np.searchsorted(-own, -compact.top[k]))

    def split(name: str) -> Masses | None:
        merged, each = getattr(compact, name), getattr(s, name)
        if merged is None:
            return None
        above = each[first:cut].sum()
        return np.concatenate((merged[:k], [above, merged[k] - above], merged[k + 1 :]))

    masses = map(split, _COLUMNS[2:])
    top = np.insert(compact.top, k + 1, own[cut])
    return Sweep._adopt(np.insert(compact.threshold, k, last), *masses, top)


def digest_of(s: Sweep) -> str:
    """SHA-256 of the scores and masses of a sweep."""
    sha = hashlib.sha256()
    for column in (s.threshold, s.pos, s.neg):
        sha.update(np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<")).tobytes())
    return "sha256:" + sha.hexdigest()
