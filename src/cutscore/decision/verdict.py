"""The verdict: whether a threshold should be used at all, before its numbers are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from cutscore.core.errors import UndefinedError
from cutscore.core.findings.report import (
    FewRows,
    FlagsAlike,
    Infeasible,
    Inverted,
    NoBetterThanChance,
    Notice,
    Trivial,
)
from cutscore.core.interval import Interval
from cutscore.decision.choice import OperatingPoint
from cutscore.decision.groups import GroupPoint
from cutscore.decision.normal import answers_without_positives, is_normal
from cutscore.decision.words import against_trivial, headline, shortage
from cutscore.inference.auc import auc_interval
from cutscore.inference.placements import sizes_of
from cutscore.inference.selection import Expected
from cutscore.measures.aim import Aim
from cutscore.sweeps.sweep import Sweep

# With fewer rows of a class than this, one row more or less moves its rates by ten points.
FEWEST = 10


class State(StrEnum):
    """What follows from a verdict."""

    USABLE = "usable"
    """Nothing speaks against the threshold."""
    UNPROVEN = "unproven"
    """It is not significantly better than flagging everything, or nothing."""
    UNUSABLE = "unusable"
    """Don't use it: the finding says why."""


@dataclass(frozen=True)
class Verdict:
    """Whether to use a threshold, and why not; made by ``cutscore.decision.verdict.judge``.

    Parameters
    ----------
    state : State
        Whether to use the threshold.
    headline : str
        One line: the reason not to use it, or what to flag.
    findings : tuple of Notice
        What speaks against it, the most important first; the headline is that of the first.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.decision.verdict import judge
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    >>> judge(cs.choose(s, cs.Costs(fp=1, fn=20)))
    Verdict(state=<State.USABLE: 'usable'>, headline='Flag scores ≥ 0.7', findings=())
    >>> print(judge(cs.choose(s, "recall", subject_to="precision >= 0.9")).headline)
    No threshold meets precision ≥ 0.9
    """

    state: State
    headline: str
    findings: tuple[Notice, ...] = ()

    @property
    def finding(self) -> Notice | None:
        """The first of them."""
        return self.findings[0] if self.findings else None


def judge(  # noqa: PLR0913 - options have names
    p: OperatingPoint,
    *,
    auc: Interval | None = None,
    score: str = "score",
    reverse: bool = False,
    probability: float | None = None,
    scores: Sweep | None = None,
) -> Verdict:
    """Judge an operating point: is the score better than chance, do the limits hold, are there
    enough rows, does it beat flagging everything or nothing?

    Parameters
    ----------
    p : OperatingPoint
        What :func:`cutscore.choose` found.
    auc : Interval, optional
        The interval of the AUC, where it is known already; that of a sweep of rows if left out.
    score : str, default 'score'
        The name of the score.
    reverse : bool, default False
        Whether low scores mean positive, so that ``p`` is of ``-score``.
    probability : float, optional
        The calibrated probability at the threshold, to be named beside it.
    scores : Sweep, optional
        The sweep of the score, where the threshold is on something else.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.decision.verdict import judge
    >>> found = judge(cs.choose(cs.sweep([1, 0, 1, 0], [4, 3, 2, 1]), "f1"))
    >>> found.state.value, found.headline, [one.code for one in found.findings]
    ('unusable', 'Too few positives: 2', ['few-rows', 'few-rows', 'no-better-than-chance'])
    """
    level = p.question.level
    s = p.sweep if scores is None else scores
    if auc is None:
        with suppress(UndefinedError):
            auc = auc_interval(s, level=level)
    if faults := tuple(_faults(p, s, auc, score, reverse)):
        return Verdict(State.UNUSABLE, _reason(faults[0], level), faults)
    doubts = tuple(_doubts(p))
    state = State.UNPROVEN if doubts else State.USABLE
    return Verdict(state, headline(p, reverse, probability, score), (*doubts, *p.findings))


def judge_groups(  # noqa: PLR0913 - options have names
    p: GroupPoint,
    s: Sweep,
    rule: str,
    *,
    auc: Interval | None = None,
    score: str = "score",
    reverse: bool = False,
) -> Verdict:
    """The same of thresholds for groups: the score and the rows are those of all groups, and the
    limits those in and between them.

    Parameters
    ----------
    p : GroupPoint
        What :func:`cutscore.choose_groups` found.
    s : Sweep
        The rows of all groups.
    rule : str
        What to flag, in a sentence: the headline if nothing speaks against it.
    auc, score, reverse
        As in :func:`judge`.

    Examples
    --------
    >>> import cutscore as cs
    >>> from cutscore.decision.verdict import judge_groups
    >>> groups = {"a": cs.sweep([1, 0], [4, 3]), "b": cs.sweep([1, 0], [7, 4])}
    >>> p = cs.choose_groups(groups, "youden")
    >>> judge_groups(p, p.sweeps.total, "Flag scores").headline
    'Too few positives: 2'
    """
    level = p.aim.level
    if auc is None:
        with suppress(UndefinedError):
            auc = auc_interval(s, level=level)
    faults = [*_score_faults(s, p.aim, auc, score, reverse)]
    if not p.feasible:
        broken = tuple(one.limit for one in p.status if not one.holds)
        faults.append(Infeasible(broken, p.aim.confidence, p.given))
    if faults:
        return Verdict(State.UNUSABLE, _reason(faults[0], level), tuple(faults))
    c = p.confusion
    if c.flagged in (0, c.total):
        what, limited = "everything" if c.flagged else "nothing", bool(p.status)
        return Verdict(
            State.UNPROVEN, rule, (FlagsAlike(what, p.aim.goal.name == "cost", limited),)
        )
    return Verdict(State.USABLE, rule)


def _faults(
    p: OperatingPoint, s: Sweep, auc: Interval | None, score: str, reverse: bool
) -> Iterator[Notice]:
    """What rules the threshold out."""
    yield from _score_faults(s, p.question, auc, score, reverse)
    if not p.feasible:
        limits = tuple(limit.text for limit in p.question.limits)
        if p.given:
            limits = tuple(one.limit for one in p.status if not one.holds)
        yield Infeasible(limits, p.question.confidence, p.given)


def _score_faults(
    s: Sweep, q: Aim, auc: Interval | None, score: str, reverse: bool
) -> Iterator[Notice]:
    """What rules any threshold out."""
    if auc is not None and auc.high < 0.5:
        yield Inverted(s.auc, score, reverse, auc.low, auc.high)
    with suppress(UndefinedError):  # weights without squares
        for of, rows in zip(("positive", "negative"), sizes_of(s, "a verdict"), strict=True):
            # Normal rows alone may answer what is asked.
            answered = of == "positive" and is_normal(s) and answers_without_positives(q)
            if rows < FEWEST and not answered:
                yield FewRows(of, rows, s.weighted)
    if auc is None and s.P > 0 < s.N and s.auc <= 0.5:
        yield NoBetterThanChance(s.auc)
    elif auc is not None and auc.low <= 0.5 <= auc.high:
        yield NoBetterThanChance(s.auc, auc.low, auc.high)


def _doubts(p: OperatingPoint) -> Iterator[Notice]:
    """What says that one may as well do without the score."""
    if p.trivial and p.cuts.review == p.cuts.block:
        what = "nothing" if p.confusion.flagged == 0 else "everything"
        limits = p.question.limits
        few = any(shortage(p, limit) for limit in limits)
        yield FlagsAlike(what, p.objective == "cost", bool(limits), few)
    elif (doubt := against_trivial(p)) is not None:
        yield Trivial(doubt)


def _reason(finding: Notice, level: float) -> str:
    """A finding as a headline."""
    match finding:
        case Inverted():
            return f"Worse than chance: {_area(finding, level)}"
        case NoBetterThanChance():
            return f"Not significantly better than chance: {_area(finding, level)}"
        case FewRows(of=of, rows=rows):
            return f"Too few {of}s: {rows:.3g}"
        case Infeasible(limits=limits):
            return finding.what(" and ".join(limits).replace(">=", "≥").replace("<=", "≤"))
    raise AssertionError(finding)  # the others rule no threshold out


def _area(finding: Inverted | NoBetterThanChance, level: float) -> str:
    if finding.low is None or finding.high is None:
        return f"AUC {finding.auc:.3f}"
    return f"AUC {Expected(finding.auc, finding.low, finding.high, level)!r}"
