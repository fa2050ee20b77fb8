"""Evidence: the sweep of out-of-sample scores that a policy was chosen on, as its file keeps it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cutscore.core.checks import one_of
from cutscore.core.errors import DataError
from cutscore.core.findings.models import FieldUnfit
from cutscore.core.frozen import Frozen
from cutscore.core.interval import Interval
from cutscore.core.json import Count, Extended, Mass, read_fields, to_plain
from cutscore.decision.normal import is_normal
from cutscore.inference.periods import KnownPeriods
from cutscore.policy.packing import pack, pack_falling, unpack, unpack_falling
from cutscore.sweeps.sketch import Sketch, sketch
from cutscore.sweeps.sweep import Masses, Sweep, check_sweep

Kind = Literal["scores", "corners", "blocks"]
KINDS = get_args(Kind)

ENTRIES = 100_000
"""So many entries are kept exactly: all scores, or else the corners of the ROC curve."""
BLOCKS = 50_000
"""So many blocks are kept where there are more corners."""
LISTED = 1_000
"""So many entries are written as lists that people can read; more are packed."""

# More entries than this are no evidence that anybody wrote.
_MOST = 1 << 24


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Frozen):
    """What a policy knows of the rows that it was chosen on.

    Parameters
    ----------
    kind
        ``"scores"``: every distinct score, with the mass of both classes. ``"corners"``: runs of
        scores of one class are merged, which keeps the ROC curve as it is; see
        :meth:`cutscore.Sweep.compact`. ``"blocks"``: neighbouring scores are merged, but every
        vertex of the convex hull is kept, and what lies between is bounded; see
        :meth:`cutscore.Sweep.sketch`.
    sweep
        The sweep, of one of these kinds.
    units
        How many units (patients, users) the rows come from, where rows of one are correlated.
    periods
        What limits per day or hour came to, if there are some.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.policy import Evidence
    >>> s = cs.sweep([1, 1, 0, 0, 0, 1], [6, 5, 4, 3, 2, 1])
    >>> Evidence.of(s), Evidence.of(s, "corners")
    (6 distinct scores from 6 rows, 3 corners from 6 rows)
    """

    kind: Kind
    sweep: Sweep
    units: int | None = None
    periods: KnownPeriods | None = None

    @classmethod
    def of(
        cls,
        s: Sweep,
        kind: str = "auto",
        *,
        cuts: Sequence[int] = (),
        units: int | None = None,
        periods: KnownPeriods | None = None,
    ) -> Evidence:
        """The evidence of a sweep.

        Parameters
        ----------
        s
            The sweep.
        kind
            What to keep: one of the kinds, or "auto" for the first of them that is small enough:
            100,000 scores, 100,000 corners, else 50,000 blocks. If all rows are normal, the 50,000
            highest scores, and the others as one.
        cuts
            Cuts that stay such, inside of a run of one class too: how many of the distinct scores
            are above each.
        units
            How many units the rows come from.
        periods
            What limits per period came to.
        """
        check_sweep(s)
        one_of("evidence", kind, ("auto", *KINDS))
        if kind == "scores" or (kind == "auto" and not s.merged and len(s) <= ENTRIES):
            s.needs_scores("evidence of every score")
            return cls("scores", s, units, periods)
        if isinstance(s, Sketch):
            return cls("blocks", s, units, periods)
        if is_normal(s) and kind != "corners":
            # One run of one class: limits on false alarms need the scores at its top.
            return cls("corners", _merge_lowest(s, max(BLOCKS, *cuts)), units, periods)
        kept = _corners(s, cuts)
        if kind == "blocks" or (kind == "auto" and len(kept) > ENTRIES):
            some = sketch(kept, BLOCKS, _same_cuts(s, kept, cuts))
            return cls("blocks", some, units, periods)
        # Where nothing was merged every score is there.
        return cls("corners" if kept.merged else "scores", kept, units, periods)

    @property
    def digest(self) -> str:
        """SHA-256 of the scores and masses: rows in any order have the same."""
        return digest_of(self.sweep)

    @property
    def error(self) -> float:
        """How far TPR and FPR of a cut may be from those of the next that is kept; 0 but for
        blocks."""
        return self.sweep.error if isinstance(self.sweep, Sketch) else 0.0

    @property
    def auc(self) -> Interval | None:
        """An interval that certainly contains the AUC of the rows: of one point but for blocks.
        None if all rows are of one class, as those of a group may be."""
        s = self.sweep
        if not (s.P > 0 and s.N > 0):
            return None
        return s.auc_bounds if isinstance(s, Sketch) else Interval(s.auc, s.auc)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists."""
        s = self.sweep
        columns = {name: getattr(s, name) for name in _COLUMNS}
        packed = len(s) > LISTED
        if packed and s.top is not None:
            # One falling sequence of both ends of each block: most blocks are a single score.
            columns |= {"threshold": np.column_stack((s.top, s.threshold)).ravel(), "top": None}
        write = {name: _packed(name) if packed else to_plain for name in _COLUMNS}
        return {
            "kind": self.kind,
            "entries": len(s),
            "positives": s.P,
            "negatives": s.N,
            "units": self.units,
            "auc": None if self.auc is None else list(self.auc),
            "error": self.error,
            "packed": packed,
            **({} if self.periods is None else {"periods": to_plain(self.periods)}),
            **{name: None if c is None else write[name](c) for name, c in columns.items()},
        }

    @classmethod
    def from_dict(cls, data: object, where: str = "") -> Evidence:
        """The evidence that :meth:`to_dict` described; anything else is a DataError."""
        packed = isinstance(data, dict) and data.get("packed") is True
        if isinstance(data, dict):
            data = {"periods": None} | data  # which most files have not
        saved: Any = read_fields(_Packed if packed else _Listed, data, where)
        arrays = _unpacked(saved, where) if packed else _listed(saved, where)
        for column in arrays.values():
            if column is not None and len(column) != saved.entries:
                raise DataError(FieldUnfit(_at(where, "entries"), "the length of each column"))
        made = Sketch if saved.kind == "blocks" else Sweep
        s = made._adopt(**arrays)
        _check(s, saved, where)
        return cls(saved.kind, s, saved.units, saved.periods)

    def __repr__(self) -> str:
        s = self.sweep
        what = "distinct scores" if self.kind == "scores" else self.kind
        of = f"weight {s.P + s.N:,.6g}" if s.weighted else f"{s.P + s.N:,} rows"
        units = "" if self.units is None else f" in {self.units:,} clusters"
        if self.periods is not None:
            units += f" in {len(self.periods):,} periods"
        sure = f", rates within {self.error:.2g}" if self.kind == "blocks" else ""
        return f"{len(s):,} {what} from {of}{units}{sure}"


_COLUMNS = ("threshold", "top", "pos", "neg", "pos2", "neg2")


@dataclass(frozen=True)
class _Listed:
    """Evidence in a file."""

    kind: Kind
    entries: Count
    positives: Any
    negatives: Any
    units: Count | None
    auc: tuple[float, float] | None
    error: float
    packed: bool
    periods: KnownPeriods | None
    threshold: tuple[Extended, ...]
    top: tuple[Extended, ...] | None
    pos: tuple[Any, ...]
    neg: tuple[Any, ...]
    pos2: tuple[Mass, ...] | None
    neg2: tuple[Mass, ...] | None


@dataclass(frozen=True)
class _Packed:
    """Evidence of many entries in a file."""

    kind: Kind
    entries: Count
    positives: Any
    negatives: Any
    units: Count | None
    auc: tuple[float, float] | None
    error: float
    packed: bool
    periods: KnownPeriods | None
    threshold: str
    top: str | None
    pos: str
    neg: str
    pos2: str | None
    neg2: str | None


def _packed(name: str) -> Any:
    return pack_falling if name == "threshold" else pack


def _listed(saved: _Listed, where: str) -> dict[str, NDArray[Any] | None]:
    whole = all(isinstance(v, int) for v in (saved.positives, saved.negatives))
    for name in ("pos", "neg"):
        if whole and not all(isinstance(v, int) and v < 2**63 for v in getattr(saved, name)):
            raise DataError(FieldUnfit(_at(where, name), "integers, as their sums are"))
    kinds = dict.fromkeys(_COLUMNS, np.float64) | dict.fromkeys(
        ("pos", "neg"), np.int64 if whole else np.float64
    )
    columns = {name: getattr(saved, name) for name in _COLUMNS}
    return {n: None if c is None else np.array(c, kinds[n]) for n, c in columns.items()}


def _unpacked(saved: _Packed, where: str) -> dict[str, NDArray[Any] | None]:
    m = saved.entries
    if m > _MOST:
        raise DataError(FieldUnfit(_at(where, "entries"), f"at most {_MOST:,}", m))
    if saved.top is not None:
        raise DataError(FieldUnfit(_at(where, "top"), "null: it is packed with the threshold"))
    ends = 1 if saved.kind == "scores" else 2
    whole = all(isinstance(v, int) for v in (saved.positives, saved.negatives))
    falling = unpack_falling(saved.threshold, ends * m, _at(where, "threshold"))
    out: dict[str, NDArray[Any] | None] = {
        "threshold": falling[ends - 1 :: ends].copy(),
        "top": None if ends == 1 else falling[::2].copy(),
    }
    for name in _COLUMNS[2:]:
        text = getattr(saved, name)
        kind = np.int64 if whole and name in ("pos", "neg") else np.float64
        out[name] = None if text is None else unpack(text, m, kind, _at(where, name))
    return out


def _at(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _check(s: Sweep, saved: _Listed | _Packed, where: str) -> None:
    """Refuse columns that no sweep has. NaN fails every comparison."""
    top = s.threshold if s.top is None else s.top
    squares = [column for column in (s.pos2, s.neg2) if column is not None]
    masses = [s.pos, s.neg, *squares]
    rules: tuple[tuple[str, str, Any], ...] = (
        ("entries", "at least 1", len(s) > 0),
        ("neg2", "present if and only if pos2 is", len(squares) != 1),
        (
            "top",
            "null if and only if the kind is 'scores'",
            (s.top is None) == (saved.kind == "scores"),
        ),
        ("threshold", "decreasing numbers", _falls(s.threshold)),
        ("top", "at least the threshold", (top >= s.threshold).all()),
        ("top", "below the threshold before it", (top[1:] < s.threshold[:-1]).all()),
        ("pos", "finite and at least 0", all(((m >= 0) & np.isfinite(m)).all() for m in masses)),
        ("pos", "above 0 where neg is 0", ((s.pos > 0) | (s.neg > 0)).all()),
    )
    for name, rule, fits in rules:
        if not fits:
            raise DataError(FieldUnfit(_at(where, name), rule))
    for name, mass in (("positives", s.P), ("negatives", s.N)):
        if mass != getattr(saved, name):
            raise DataError(FieldUnfit(_at(where, name), "the sum of its column", mass))


def _falls(values: NDArray[np.float64]) -> bool:
    return bool((values[1:] < values[:-1]).all() and not np.isnan(values[:1]).any())


def _corners(s: Sweep, cuts: Sequence[int]) -> Sweep:
    """The sweep with runs of one class merged, but not across a cut."""
    kept = s.compact()
    for cut in cuts:
        if kept is not s and kept.top is not None and 0 < cut < len(s):
            kept = _split(kept, s, cut)
    return kept


def _merge_lowest(s: Sweep, most: int) -> Sweep:
    """The sweep with all but the highest of its scores merged into one entry."""
    most = min(most, len(s) - 1)
    first = np.append(np.arange(most), most)
    masses = (getattr(s, name) for name in _COLUMNS[2:])
    merged = [None if mass is None else np.add.reduceat(mass, first) for mass in masses]
    threshold = np.append(s.threshold[:most], s.threshold[-1])
    top = (s.threshold if s.top is None else s.top)[: most + 1].copy()
    return Sweep._adopt(threshold, *merged, top)


def _split(kept: Sweep, s: Sweep, cut: int) -> Sweep:
    """The same with one run in two, if a cut is inside of it."""
    assert kept.top is not None
    last = float(s.threshold[cut - 1])
    k = int(np.searchsorted(-kept.threshold, -last))
    if kept.threshold[k] == last:
        return kept
    own = s.threshold if s.top is None else s.top
    first = int(np.searchsorted(-own, -kept.top[k]))

    def split(name: str) -> Masses | None:
        merged, each = getattr(kept, name), getattr(s, name)
        if merged is None:
            return None
        above = each[first:cut].sum()
        return np.concatenate((merged[:k], [above, merged[k] - above], merged[k + 1 :]))

    masses = map(split, _COLUMNS[2:])
    top = np.insert(kept.top, k + 1, own[cut])
    return Sweep._adopt(np.insert(kept.threshold, k, last), *masses, top)


def _same_cuts(s: Sweep, kept: Sweep, cuts: Sequence[int]) -> list[int]:
    """Cuts of a sweep among those of its corners."""
    inside = [cut for cut in cuts if 0 < cut < len(s)]
    return [int(np.searchsorted(-kept.threshold, -s.threshold[cut - 1])) + 1 for cut in inside]


def digest_of(s: Sweep) -> str:
    """SHA-256 of the scores and masses of a sweep."""
    sha = hashlib.sha256()
    for column in (s.threshold, s.pos, s.neg):
        plain = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
        sha.update(plain.view(np.uint8).data)
    return "sha256:" + sha.hexdigest()
