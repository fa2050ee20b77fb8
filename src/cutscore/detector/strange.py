"""What rows have that training rows had not: said in words, since a score does not show it."""

from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np

from cutscore._check import shown
from cutscore.detector.columns import CategoryColumn, NumberColumn
from cutscore.detector.terms import CategoryTerm, Term
from cutscore.detector.values import in_words

# So many columns are spoken of.
_MOST = 5
# How often rows like those of training may be remarked upon, of all that is looked at together.
_BY_CHANCE = 0.001
# So many times the range of training rows out of it is worth a remark, be it a single row: of
# lognormal values with sigma = 1.5 that befalls the largest of 1,000 twice in a thousand times.
_FAR = 10
# Rare values are picked after they were counted, so rows like those of training have some more of
# them; odds that are so many times as high come from something else.
_OFTEN = 2
# So many different values of a column are counted, to name the commonest.
_VALUES = 4096


class Strange:
    """Counts values such as no training row had, batch by batch: unknown ones add nothing to a
    score, those without a weight of their own the weight of "other", and numbers out of the range
    may add anything."""

    def __init__(self, training: int) -> None:
        self.training = training
        self.unknown: dict[str, _Unknown] = {}
        self.gone: dict[str, int] = {}
        self.beyond: dict[tuple[str, str], _Beyond] = {}
        self.numbers: dict[str, int] = {}

    def watch(self, term: Term, has: Any, column: Any) -> None:
        """Look at what some rows have in one column: as the detector takes it, and as it came."""
        c = term.column
        if isinstance(term, CategoryTerm):
            states = len(term.column.levels)
            missing = has == states + 1
            found = self.unknown.setdefault(c.name, _Unknown(term.column))
            found.add(has == states, column)
        else:
            missing = np.isnan(has)
            self._range(term.column, has)
        if not c.missing and missing.any():
            self.gone[c.name] = self.gone.get(c.name, 0) + int(np.count_nonzero(missing))

    def _range(self, c: NumberColumn, x: Any) -> None:
        if c.low is None or c.high is None:
            return
        self.numbers[c.name] = self.numbers.get(c.name, 0) + int(np.count_nonzero(~np.isnan(x)))
        for side, out, end in (("above", x > c.high, c.high), ("below", x < c.low, c.low)):
            count = int(np.count_nonzero(out))
            if count:
                far = float(x[out].max() if side == "above" else x[out].min())
                seen = self.beyond.setdefault((c.name, side), _Beyond(c, end, c.high - c.low))
                seen.count += count
                if abs(far - end) > abs(seen.far - end):
                    seen.far = far

    def remarks(self, rows: int) -> list[str]:
        """A sentence for each column, the worst first."""
        said = [
            (u.count, u.sentence(rows)) for u in self.unknown.values() if self._is_worth_it(u, rows)
        ]
        said += [
            (n, f"{n:,} of {rows:,} rows have no {shown(name)}, which all training rows had.")
            for name, n in self.gone.items()
        ]
        said += [
            (b.count, b.sentence(side, rows))
            for (name, side), b in self.beyond.items()
            if b.is_far or self._is_no_chance(b, self.numbers[name])
        ]
        said.sort(key=lambda pair: -pair[0])
        out = [text for _, text in said[:_MOST]]
        if len(said) > _MOST:
            out.append(f"the same of {len(said) - _MOST:,} more columns.")
        return out

    @property
    def _log_chance(self) -> float:
        """What is less likely than this is no chance; both ends of each range are looked at."""
        others = sum(u.column.other > 0 for u in self.unknown.values())
        return log(_BY_CHANCE / (2 * len(self.numbers) + others))

    def _is_no_chance(self, b: _Beyond, m: int) -> bool:
        n = round(self.training * (1 - b.column.missing))
        return not n or log_chance_beyond(b.count, n, m) < self._log_chance

    def _is_worth_it(self, u: _Unknown, m: int) -> bool:
        share = u.column.other
        if not u.count or not share:
            return u.count > 0
        if u.count * (1 - share) < _OFTEN * share * (m - u.count):
            return False
        n = self.training
        return not n or log_chance_share(u.count, m, round(share * n), n) < self._log_chance


def log_chance_beyond(count: int, n: int, m: int) -> float:
    """ln P(at least ``count`` of m rows lie above the largest of n others like them).

    All orders of the n + m rows are equally likely: the topmost ``count`` must be of the m,
    P = ∏ (m − i) / (n + m − i) for i < count. With ties it is less.

    Examples
    --------
    >>> from math import exp
    >>> from cutscore.detector.strange import log_chance_beyond
    >>> round(exp(log_chance_beyond(2, n=2, m=2)), 6)  # 2/4 · 1/3
    0.166667
    """
    return (lgamma(m + 1) - lgamma(m - count + 1)) - (lgamma(n + m + 1) - lgamma(n + m - count + 1))


def log_chance_share(count: int, m: int, k: int, n: int) -> float:
    """A bound of ln P(at least ``count`` of m rows are so, if k of n others like them are).

    All choices of the rows that are so are equally likely. Let p = (count + k) / (m + n). Where
    count/m > p, ln P ≤ −m KL(count/m ‖ p); and ln P ≤ −n KL(k/n ‖ p), since then at most k of the
    others are so: Chvátal, "The tail of the hypergeometric distribution", Discrete Mathematics 25
    (1979), https://doi.org/10.1016/0012-365X(79)90084-0.

    Examples
    --------
    >>> from math import exp
    >>> from cutscore.detector.strange import log_chance_share
    >>> round(exp(log_chance_share(2, 2, k=1, n=4)), 6)  # both of 2, if 3 of 6 are: 3/6 · 2/5 = 0.2
    0.25
    """
    p = (count + k) / (m + n)
    return -max(m * _divergence(count / m, p), n * _divergence(k / n, p)) if count > m * p else 0.0


def _divergence(q: float, p: float) -> float:
    """KL(q ‖ p) of two shares, 0 < p < 1."""
    return sum(a * log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a)


class _Unknown:
    """How many values of a category have no weight of their own, and which are the commonest."""

    def __init__(self, column: CategoryColumn) -> None:
        self.column = column
        self.count = 0
        self.values: dict[str, int] = {}

    def add(self, which: Any, column: Any) -> None:
        """Some rows, and which of them are so."""
        import pyarrow as pa

        found = int(np.count_nonzero(which))
        self.count += found
        if not found or self._is_full:
            return
        some = column if found == len(which) else column.filter(pa.array(which))
        some = self.column.texts(some).value_counts()[:_VALUES]
        for value, n in zip(
            some.field("values").to_pylist(), some.field("counts").to_pylist(), strict=True
        ):
            self.values[value] = self.values.get(value, 0) + n

    @property
    def _is_full(self) -> bool:
        return len(self.values) >= _VALUES

    def sentence(self, rows: int) -> str:
        """In words."""
        what = "that the training rows never had"
        if self.column.other:
            share = f"{100 * self.column.other:.3g} %"
            what = (
                f"without a weight of its own, which counts as 'other' as in {share} of the "
                "training rows"
            )
        value = min(self.values, key=lambda value: (-self.values[value], value))
        # Of the first ones only, if there are that many.
        which = "one is" if self._is_full else "the commonest is"
        return (
            f"{self.count:,} of {rows:,} rows have a {shown(self.column.name)} {what}; {which} "
            f"{shown(value)}."
        )


# What is beyond the range: number or date, above or below it.
_WORDS = {
    ("number", "above"): ("above the largest", "the largest"),
    ("number", "below"): ("below the smallest", "the smallest"),
    ("date", "above"): ("after the latest", "the latest"),
    ("date", "below"): ("before the earliest", "the earliest"),
}


class _Beyond:
    """How many values of a column lie beyond one end of its training rows, and the farthest."""

    def __init__(self, column: NumberColumn, end: float, width: float) -> None:
        self.column, self.end, self.width = column, end, width
        self.count, self.far = 0, end

    @property
    def is_far(self) -> bool:
        """Whether the farthest is out of the range by many times the range."""
        return abs(self.far - self.end) > _FAR * self.width

    def sentence(self, side: str, rows: int) -> str:
        """In words."""
        end, far = (in_words(x, self.column.kind) for x in (self.end, self.far))
        beyond, which = _WORDS[self.column.kind, side]
        return (
            f"{self.count:,} of {rows:,} rows have {shown(self.column.name)} {beyond} of the "
            f"training rows, {end}; {which} is {far}. Decisions on such rows may be driven by it."
        )
