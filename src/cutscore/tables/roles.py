"""What the columns of a table mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cutscore.core.errors import DataError
from cutscore.core.findings import BadArgument, Conflict, Where, shown
from cutscore.core.names import missing_column_error


@dataclass(frozen=True)
class Roles:
    """What the columns of a table mean: labels, weights, units, and what features are made of.

    Parameters
    ----------
    target, positive
        The column of labels, and the label to detect.
    weight, unit
        The columns of weights and of cluster ids (patient, user).
    columns
        Which columns to make features of; all others if they are not named.
    exclude
        Which not to use.
    categories, numbers
        Columns that are to be used as such, whatever their type says.

    Examples
    --------
    >>> from cutscore.tables.roles import Roles
    >>> Roles("y", weight="w", exclude=["id"]).features(["id", "y", "w", "age"])
    ['age']
    """

    target: str | None = None
    positive: Any = None
    weight: str | None = None
    unit: str | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()

    def __post_init__(self) -> None:
        for what in ("columns", "exclude", "categories", "numbers"):
            if isinstance(getattr(self, what), str):
                raise DataError(BadArgument(what, "be a list of names", getattr(self, what)))
        for what, name in (("weight", self.weight), ("unit", self.unit)):
            if name is not None and name == self.target:
                raise _conflict(name, ("target", what))
        if self.target is not None and self.target in (self.columns or ()):
            raise _conflict(self.target, ("target", "columns"))
        for name in self.categories:
            if name in self.numbers:
                raise _conflict(name, ("categories", "numbers"))

    @property
    def label(self) -> str:
        """The column of labels, where there must be one."""
        assert self.target is not None
        return self.target

    @property
    def used(self) -> list[str]:
        """Columns of weights and units."""
        return [name for name in (self.weight, self.unit) if name is not None]

    @property
    def named(self) -> set[str]:
        """Columns that were asked for as features."""
        return {*(self.columns or ()), *self.categories, *self.numbers}

    def features(self, names: Sequence[str]) -> list[str]:
        """The columns to make features of, of a table that has these."""
        known = set(names)
        asked = [self.target, *self.used, *(self.columns or ()), *self.exclude]
        for name in (*asked, *self.categories, *self.numbers):
            if name is not None and name not in known:
                raise missing_column_error(name, names, "the table")
        drop = {self.target, *self.used, *self.exclude}
        wanted = names if self.columns is None else self.columns
        out = list(dict.fromkeys(name for name in wanted if name not in drop))
        for name in (*self.categories, *self.numbers):
            if name not in out:
                raise _conflict(name, (self._other(name), self._kinds[name]))
        return out

    @property
    def _kinds(self) -> dict[str, str]:
        return dict.fromkeys(self.categories, "categories") | dict.fromkeys(self.numbers, "numbers")

    def _other(self, name: str) -> str:
        """Which parameter gives a column another role than that of a feature, or leaves it out."""
        roles = {self.target: "target", self.weight: "weight", self.unit: "unit"}
        return roles.get(name, "exclude" if name in self.exclude else "columns")

    def kind(self, name: str) -> str | None:
        """What a column was said to be, if anything."""
        return {"categories": "category", "numbers": "number"}.get(self._kinds.get(name, ""))


def _conflict(name: str, roles: tuple[str, str]) -> DataError:
    rule, hint = f"{shown(name)} can have only one role", "Use it for {0} or {1}, not both."
    return DataError(Conflict(roles, rule, hint, where=Where(column=name)))
