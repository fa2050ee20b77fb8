"""The sweeps of groups of rows, which are decided about together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument
from cutscore.core.frozen import derived
from cutscore.core.html import Card
from cutscore.measures.confusion import count_text
from cutscore.sweeps.sweep import Sweep, check_sweep


def sum_of(sweeps: Iterable[Sweep]) -> Sweep:
    """The sweep of the rows of all of these, of which there is at least one."""
    parts = list(sweeps)
    while len(parts) > 1:  # in pairs, so that each row is merged a few times only
        parts = [sum(parts[k + 1 : k + 2], parts[k]) for k in range(0, len(parts), 2)]
    return parts[0]


@dataclass(frozen=True, eq=False, repr=False)
class GroupSweeps(Card, Mapping[Hashable, Sweep]):
    """One sweep per group, by the name of the group; see :func:`cutscore.sweeps_by_group`.

    Parameters
    ----------
    sweeps : mapping
        The sweep of each group. Labels and scores mean the same in all of them.

    Examples
    --------
    >>> import cutscore as cs
    >>> de, fr = cs.sweep([1, 0], [3, 1]), cs.sweep([1, 0, 0], [2, 1, 4])
    >>> groups = cs.GroupSweeps({"de": de, "fr": fr})
    >>> groups
    2 groups: 'de' (2 rows, 1 positive), 'fr' (3 rows, 1 positive)
    >>> groups["fr"].auc, groups.total.auc
    (0.5, 0.666...)
    """

    sweeps: Mapping[Hashable, Sweep]

    def __post_init__(self) -> None:
        if not isinstance(self.sweeps, Mapping) or not self.sweeps:
            hint = "Make them with sweeps_by_group(y, score, group)."
            rule = "be a sweep for each of at least one group"
            raise DataError(BadArgument("sweeps", rule, self.sweeps, hint))
        own = {name: check_sweep(s) for name, s in self.sweeps.items()}
        for name, s in own.items():
            s.needs_rows(f"a decision about group {name!r}")
        object.__setattr__(self, "sweeps", own)

    @derived
    def total(self) -> Sweep:
        """The sweep of all rows."""
        return sum_of(self.sweeps.values())

    def __getitem__(self, name: Hashable) -> Sweep:
        return self.sweeps[name]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.sweeps)

    def __len__(self) -> int:
        return len(self.sweeps)

    def _facts(self) -> dict[str, str]:
        return {str(name): _size_text(s) for name, s in self.items()}

    def _title(self) -> str:
        return f"{len(self):,} groups"

    def __repr__(self) -> str:
        shown = list(self.items())[:5]
        text = ", ".join(f"{name!r} ({_size_text(s)})" for name, s in shown)
        more = f" and {len(self) - 5:,} more" if len(self) > 5 else ""
        return f"{len(self):,} {'group' if len(self) == 1 else 'groups'}: {text}{more}"


def _size_text(s: Sweep) -> str:
    size = count_text(s.P + s.N)
    return f"{f'weight {size}' if s.weighted else f'{size} rows'}, {count_text(s.P)} positive"
