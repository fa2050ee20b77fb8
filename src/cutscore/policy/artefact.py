"""The policy: a decision that carries its evidence."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutscore.calibration.calibrators import Calibrator, Chain
from cutscore.calibration.fitting import calibrate
from cutscore.calibration.odds import reshape
from cutscore.comparison.row_costs import choose_by_row
from cutscore.core.checks import as_array, as_vector, check_threshold, one_of, score_column
from cutscore.core.errors import CutscoreError, DataError, UndefinedError
from cutscore.core.files import written_aside
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.findings.base import Shown, shown
from cutscore.core.findings.statistics import CountsRows, Undefined
from cutscore.core.frozen import derived
from cutscore.core.html import Card, Facts, thumbnail
from cutscore.core.interval import Interval
from cutscore.decision.choice import CutPair, OperatingPoint, Promised, choose, point_at, reach
from cutscore.decision.group_folds import expect_groups
from cutscore.decision.groups import GroupPoint, choose_groups, group_point_at
from cutscore.decision.money import flags, gaps_of
from cutscore.decision.normal import is_normal
from cutscore.decision.row_costs import RowCostPoint, point_of_money
from cutscore.decision.three_way import decide_scores
from cutscore.decision.words import headline
from cutscore.inference.auc import auc_interval
from cutscore.inference.guarantee import split_error
from cutscore.inference.periods import KnownPeriods, as_periods
from cutscore.inference.selection import Expected
from cutscore.inference.units import as_units
from cutscore.measures.aim import Aim, GoalLike, Top, as_objective
from cutscore.measures.confusion import Confusion
from cutscore.measures.costs import Costs, check_costs
from cutscore.measures.limits import LimitsLike, as_limits
from cutscore.measures.registry import MEASURES
from cutscore.policy.evidence import Evidence, digest_of
from cutscore.policy.groups import Groups, named_sweeps, thresholds_text
from cutscore.policy.parts import (
    Cuts,
    Label,
    Labels,
    Provenance,
    Threshold,
    cuts_of,
    given_cuts,
    turned,
    with_way_out,
)
from cutscore.policy.promises import promises_of
from cutscore.policy.row_costs import RowEvidence
from cutscore.policy.words import promise_name, promise_text
from cutscore.sweeps.sweep import Floats, Sweep, check_sweep

if TYPE_CHECKING:
    from cutscore.policy.check import PolicyCheck


@dataclass(frozen=True, eq=False, repr=False)
class Policy(Card):
    """A decision about scores that carries its evidence; make one with :meth:`Policy.choose`.

    A case is flagged iff its score is at least the threshold; with ``reverse``, at most. Whoever
    has the file can decide, choose anew for other costs, compare what was promised with what
    happened, and add the evidence of other sites: nothing else is needed.

    Parameters
    ----------
    aim
        What the threshold was chosen for.
    cuts
        The threshold, as people type it.
    calibrator
        From the score to its log-likelihood ratio; from −score with ``reverse``. None if all rows
        are normal: then there are decisions, but neither LLRs nor probabilities.
    evidence
        The sweep of out-of-sample scores that the threshold was chosen on; of −score with
        ``reverse``.
    labels
        What the classes are called.
    provenance
        Where it comes from.
    promises
        What to expect on new rows, by the name of the measure.
    score
        The column that has the score.
    reverse
        Whether low scores mean positive.
    given
        Whether the threshold was given, rather than chosen for the aim.
    feasible
        Whether the limits of the aim hold on the evidence: are shown to, if it has a confidence.
    groups
        The groups of rows that limits hold in, or that have thresholds of their own; see
        :meth:`Policy.choose_groups`.
    row_costs
        The money at stake, where costs differ by row; see :meth:`Policy.choose_by_row`.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[41, 500, 9439])
    >>> p = cs.Policy.choose(s, cs.Costs(fp=1, fn=20))
    >>> p.threshold, p.decide([0.95, 0.2])
    (0.7, array([ True, False]))
    >>> p.revised(costs=cs.Costs(fp=1, fn=500)).threshold
    0.3
    >>> cs.Policy.from_json(p.to_json()).to_json() == p.to_json()
    True
    """

    aim: Aim
    cuts: Cuts
    calibrator: Calibrator | None
    evidence: Evidence
    labels: Labels = field(default_factory=Labels)
    provenance: Provenance = field(default_factory=Provenance)
    promises: Mapping[str, Expected] = field(default_factory=dict)
    score: str = "score"
    reverse: bool = False
    given: bool = False
    feasible: bool = True
    groups: Groups | None = None
    row_costs: RowEvidence | None = None

    def __post_init__(self) -> None:
        c = self.calibrator
        if c is None and not is_normal(self.sweep):
            raise DataError(BadArgument("calibrator", "be one, unless all rows are normal", c))
        if c is not None and (not isinstance(c, Calibrator) or not c.monotone):
            rule = "be increasing, so that the threshold on the score is also one on the LLR"
            kind = Shown(f"a {type(self.calibrator).__name__}")
            raise DataError(BadArgument("calibrator", rule, kind))
        for name, promise in self.promises.items():
            if name in MEASURES and MEASURES[name].rate and not 0 <= promise.value <= 1:
                rule = f"have a share for {name}"
                raise DataError(BadArgument("promises", rule, promise.value))
        t = self.cuts.thresholds
        own = self.cuts.groups
        if own and (self.groups is None or set(own) != set(self.groups.evidence)):
            raise DataError(BadArgument("groups", "have a threshold and evidence each", tuple(own)))
        by_row = self.aim.costs is not None and self.aim.costs.by_row
        if by_row != (self.row_costs is not None) or (by_row and (own or c is None)):
            rule = "be given exactly if costs differ by row, with one threshold and a calibrator"
            raise DataError(BadArgument("row_costs", rule))
        if not own and len(t) != 1 + self.aim.three_way:
            rule = "be two, for reviewing and for blocking, exactly if the aim reviews cases"
            raise DataError(BadArgument("thresholds", rule, t))
        if not own and (t[0] < t[-1] if self.reverse else t[0] > t[-1]):
            rule = "be that for reviewing, then that for blocking, which blocks no more"
            raise DataError(BadArgument("thresholds", rule, t))
        if self.aim.units is not None or self.aim.periods is not self.evidence.periods:
            # No file holds units, and of periods just what became of limits.
            aim = replace(self.aim, units=None, periods=self.evidence.periods)
            object.__setattr__(self, "aim", aim)

    # ------------------------------------------------------------------------------------ making

    @classmethod
    def choose(  # noqa: PLR0913 - all but two are options
        cls,
        s: Sweep,
        aim: GoalLike | Aim,
        *,
        calibrator: Calibrator | str = "auto",
        evidence: str = "auto",
        threshold: Threshold | None = None,
        score: str = "score",
        reverse: bool = False,
        labels: Labels | None = None,
        provenance: Provenance | None = None,
    ) -> Policy:
        """Choose the best threshold for an aim, or two, and keep what they were chosen on.

        Parameters
        ----------
        s
            The sweep of scores of rows that the score was not fitted to.
        aim
            What to aim at: an :class:`cutscore.Aim`, or a goal as for :func:`cutscore.choose`.
        calibrator
            One, or the method of :func:`cutscore.calibrate`. If all rows are normal there is none.
        evidence
            What to keep of the rows, see :class:`cutscore.policy.Evidence`: ``"scores"``,
            ``"corners"``, ``"blocks"``, or "auto" for the first of these that is small enough.
        threshold
            A threshold that is given, as people type it; it is not chosen then. Of an aim that
            reviews cases two: that for reviewing, and that for blocking.
        score
            The name of the column that has the score.
        reverse
            Whether low scores mean positive.
        labels, provenance
            What the classes are called, and where the scores come from.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.sweep([1, 1, 0, 1, 0, 0], [310, 420, 540, 560, 690, 720])
        >>> p = cs.Policy.choose(s, "youden", calibrator=cs.Affine(0.01, 500), reverse=True)
        >>> p.rule
        'flag score ≤ 500.0'
        """
        check_sweep(s)
        asked = aim if isinstance(aim, Aim) else Aim(as_objective(aim))
        s = s.negated() if reverse else s
        if reverse:
            periods, units = as_periods(asked.periods), as_units(asked.units)
            asked = replace(
                asked,
                periods=None if periods is None else periods.negated(),
                units=None if units is None else units.negated(),
            )
        if threshold is None:
            point = choose(s, asked)
        else:
            point = point_at(s, asked, given_cuts(asked, threshold, reverse))
        return cls.from_point(
            point,
            calibrated(s, calibrator) if isinstance(calibrator, str) else calibrator,
            evidence=evidence,
            score=score,
            reverse=reverse,
            given=threshold is not None,
            labels=labels,
            provenance=provenance,
        )

    @classmethod
    def choose_groups(  # noqa: PLR0913 - all but two are options
        cls,
        sweeps: Mapping[Any, Sweep],
        aim: GoalLike | Aim,
        *,
        column: str = "group",
        each: LimitsLike = None,
        gap: LimitsLike = None,
        thresholds: str = "common",
        subject_to: LimitsLike = None,
        confidence: float | None = None,
        small: str = "pool",
        calibrator: Calibrator | str = "auto",
        evidence: str = "auto",
        score: str = "score",
        reverse: bool = False,
        labels: Labels | None = None,
        provenance: Provenance | None = None,
    ) -> Policy:
        """Choose for rows of several groups: one threshold under limits that hold in each group, or
        a threshold for each group; and keep the evidence of each group.

        Names of groups are kept as text: 49 and "49" are one group, in any table.

        Parameters
        ----------
        sweeps, aim, each, gap, thresholds, subject_to, confidence, small
            As for :func:`cutscore.choose_groups`.
        column
            The name of the column that has the group of a row.
        calibrator, evidence, score, reverse, labels, provenance
            As for :meth:`choose`. One calibrator is fitted to the rows of all groups.

        Examples
        --------
        >>> import cutscore as cs
        >>> de = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[17, 2, 1], neg=[4, 50, 940])
        >>> fr = cs.Sweep.from_counts([0.9, 0.5, 0.1], pos=[7, 12, 1], neg=[40, 30, 200])
        >>> p = cs.Policy.choose_groups(
        ...     {"de": de, "fr": fr}, cs.Costs(fp=1, fn=9), column="country", thresholds="group"
        ... )
        >>> p.rule, p.cuts.groups
        ("flag score ≥ the threshold of its 'country'", {'de': (0.7,), 'fr': (0.3,)})
        >>> p.decide([0.5, 0.5], groups=["de", "fr"])
        array([False,  True])
        """
        point = choose_groups(
            named_sweeps(sweeps, reverse=reverse),
            aim,
            each=each,
            gap=gap,
            thresholds=thresholds,
            subject_to=subject_to,
            confidence=confidence,
            small=small,
        )
        s = point.sweeps.total
        return cls(
            aim=point.aim,
            calibrator=calibrate(s, calibrator) if isinstance(calibrator, str) else calibrator,
            evidence=Evidence.of(s, evidence, cuts=_cuts_of_groups(point)),
            labels=labels or Labels(),
            provenance=_with_digest(provenance or Provenance(), s),
            score=score,
            reverse=reverse,
            **_of_groups(point, column, evidence, reverse),
        )

    @classmethod
    def from_point(  # noqa: PLR0913 - all but two are options
        cls,
        point: OperatingPoint,
        calibrator: Calibrator | None = None,
        *,
        evidence: str = "auto",
        score: str = "score",
        reverse: bool = False,
        given: bool = False,
        labels: Labels | None = None,
        provenance: Provenance | None = None,
        promises: Mapping[str, Expected] | None = None,
    ) -> Policy:
        """The policy of an operating point that was chosen already, together with a learner say.

        The point and the calibrator are of −score with ``reverse``. Promises are those of the
        point unless they are given. Decisions by the costs of each row have a calibrator already.
        """
        s, aim, cuts = point.sweep, point.question, point.cut_indices
        units, money = None if aim.units is None else len(aim.units), None
        if isinstance(point, RowCostPoint):
            rows = point.rows
            if rows is None:
                raise DataError(BadArgument("point", "have its rows"))
            rows.costs.needs_names()
            units = None if rows.unit is None else int(rows.unit.max()) + 1
            s, cuts, calibrator = rows.scores, (), rows.calibrator
            money = RowEvidence.of(point, evidence)
        known = _known_periods(aim)
        provenance = _with_digest(provenance or Provenance(), s)
        kept = Evidence.of(s, evidence, cuts=cuts, units=units, periods=known)
        if known is not None and kept.kind != "scores":  # on which no pair can be chosen
            kept = replace(kept, periods=known.at(point.confusion.flagged))
        return cls(
            aim=aim,
            cuts=cuts_of(point, reverse and money is None),
            calibrator=calibrator,
            evidence=kept,
            labels=labels or Labels(),
            provenance=provenance,
            promises=promises_of(point, given=given, of_scores=s) if promises is None else promises,
            score=score,
            reverse=reverse,
            given=given,
            feasible=point.feasible,
            row_costs=money,
        )

    @classmethod
    def choose_by_row(  # noqa: PLR0913 - all but four are options
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        aim: Costs | Aim,
        columns: Mapping[str, ArrayLike] | None = None,
        *,
        subject_to: LimitsLike = None,
        prior: float | None = None,
        confidence: float | None = None,
        calibrator: Calibrator | str = "auto",
        weight: ArrayLike | None = None,
        unit: ArrayLike | None = None,
        period: ArrayLike | None = None,
        exposure: int | None = None,
        positive: Label | None = None,
        evidence: str = "auto",
        threshold: float | None = None,
        score: str = "score",
        reverse: bool = False,
        labels: Labels | None = None,
        provenance: Provenance | None = None,
    ) -> Policy:
        """Choose the best decisions where costs differ by row, and keep the money at stake.

        Parameters
        ----------
        y, scores, aim, columns
            Labels, scores, costs and the columns that these name, as for
            :func:`cutscore.choose_by_row`.
        subject_to, prior, confidence, calibrator, weight, unit, period, exposure, positive
            As there.
        threshold
            A threshold that is given, on the gap between the odds of a row and those from which
            flagging it pays.
        evidence, score, reverse, labels, provenance
            As for :meth:`choose`.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> y = rng.random(5000) < 0.04
        >>> score = rng.normal(size=5000) + 2 * y
        >>> amount = rng.lognormal(3.5, 1, 5000).round(2)
        >>> p = cs.Policy.choose_by_row(
        ...     y, score, cs.Costs(fp=4, fn="amount"), {"amount": amount}, calibrator="platt"
        ... )
        >>> p.rule
        'flag if odds × amount ≥ 1.086 × 4 (exactly: LLR(score) + ln(amount / 4) ≥ 3.255)'
        >>> p.decide([1.5, 1.5], columns={"amount": [20, 2000]})
        array([False,  True])
        """
        x: Any = scores
        if reverse:
            x = 0.0 - score_column(as_vector(scores, "score")).astype(np.float64)
        point = choose_by_row(
            *(y, x, aim, columns),
            subject_to=subject_to,
            prior=prior,
            confidence=confidence,
            calibrator=calibrator,
            weight=weight,
            unit=unit,
            period=period,
            exposure=exposure,
            positive=positive,
            threshold=threshold,
        )
        return cls.from_point(
            point,
            evidence=evidence,
            score=score,
            reverse=reverse,
            given=threshold is not None,
            labels=labels,
            provenance=provenance,
        )

    # -------------------------------------------------------------------------------------- facts

    @property
    def threshold(self) -> float:
        """The threshold, as people type it; of two that for blocking."""
        return self.cuts.block

    @property
    def three_way(self) -> bool:
        """Whether cases may be reviewed: there are two thresholds."""
        return len(self.cuts.thresholds) == 2

    @property
    def sweep(self) -> Sweep:
        """The sweep of the evidence: of −score with ``reverse``."""
        return self.evidence.sweep

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest score of the evidence."""
        s = self.sweep
        low, high = float(s.threshold[-1]), float((s.threshold if s.top is None else s.top)[0])
        return (0.0 - high, 0.0 - low) if self.reverse else (low, high)

    @property
    def prior(self) -> float:
        """The share of positives where it is used: that of the aim, else of the evidence."""
        return self.sweep.prevalence if self.aim.prior is None else self.aim.prior

    @property
    def confusion(self) -> Confusion:
        """What the thresholds do on the evidence."""
        return self.group_point.confusion if self.cuts.groups else self.point.confusion

    @derived
    def group_point(self) -> GroupPoint:
        """What the thresholds do in each group of the evidence; with ``reverse`` for −score."""
        g = self.groups
        if g is None:
            why = "does not exist: the policy knows of no groups"
            hint = "Choose one with Policy.choose_groups."
            raise UndefinedError(Undefined("a decision about groups", why, hint))
        own: dict[Hashable, float] = {
            name: turned(t, self.reverse) for name, (t,) in self.cuts.groups.items()
        }
        if not own:
            own = dict.fromkeys(g.names, turned(self.threshold, self.reverse))
        return group_point_at(
            g.sweeps,
            self.aim,
            own,
            each=g.each,
            gap=g.gaps,
            pooled=g.pooled,
            own=bool(self.cuts.groups),
            small=g.small,
            given=self.given,
        )

    @derived
    def point(self) -> OperatingPoint:
        """The operating point on the evidence; with ``reverse`` that of −score."""
        if self.row_costs is not None:
            return self.row_point(self.threshold)
        cuts = CutPair(*(turned(t, self.reverse) for t in (self.cuts.review, self.cuts.block)))
        try:
            found = point_at(self.sweep, self._aim_of_all, cuts)
        except UndefinedError:  # a guarantee that needs every score: what is seen on the rows
            found = point_at(self.sweep, self.aim.on_rows, cuts)
        # Given thresholds are not chosen again on folds, and clusters are not known any more: what
        # to expect was said.
        said = self.given or self.evidence.units is not None
        among = Promised(self.aim, self.promises, given=self.given) if said else None
        return replace(found, feasible=self.feasible, among=among)

    def row_point(self, threshold: float) -> RowCostPoint:
        """What a decision by the costs of each row does on the evidence, at a threshold."""
        if self.row_costs is None or self.aim.costs is None:
            why, hint = "does not exist: costs are the same for all rows", "Use point."
            raise UndefinedError(Undefined("a decision by the costs of each row", why, hint))
        money, aim = self.row_costs.money(self.aim.costs), self.aim
        try:
            found = point_of_money(money, aim, threshold)
        except UndefinedError:  # a guarantee that needs every score: what is seen on the rows
            found = point_of_money(money, aim.on_rows, threshold)
        return replace(
            found,
            feasible=self.feasible,
            stored=self.row_costs.uniform,
            among=Promised(aim, self.promises, given=self.given),
        )

    @property
    def objective_words(self) -> str:
        """What the threshold was chosen for."""
        if self.given:
            return "set manually"
        return self._aim_of_all.words

    @property
    def _aim_of_all(self) -> Aim:
        """The aim, but for the confidence of limits of groups alone."""
        return self.aim if self.groups is None or self.aim.limits else self.aim.on_rows

    @property
    def reach(self) -> Interval:
        """An interval that certainly contains what the best threshold for the aim has on the rows.

        It is the value of the point itself unless the evidence is of blocks and the aim has
        limits: then a cut inside of a block may be better, by no more than this.
        """
        return reach(self.point)

    @property
    def rule(self) -> str:
        """The decision in words."""
        if self.row_costs is not None:
            point = self.point
            assert isinstance(point, RowCostPoint)
            return point.rule_text(self.score, reverse=self.reverse)
        if self.cuts.groups and self.groups is not None:
            side = "≤" if self.reverse else "≥"
            return f"flag {self.score} {side} the threshold of its {shown(self.groups.column)}"
        if self.three_way:
            text = headline(self.point, self.reverse)
            return text[0].lower() + text[1:].replace("scores", self.score)
        flags = -inf if self.reverse else inf
        if self.threshold == flags:
            return "flag nothing" if not self.confusion.flagged else f"flag score {flags}"
        if self.threshold == -flags:
            return "flag everything"
        # In full: a rounded threshold may be another rule.
        return f"flag {self.score} {'≤' if self.reverse else '≥'} {self.threshold!r}"

    # ---------------------------------------------------------------------------------- decisions

    def decide(
        self,
        scores: ArrayLike,
        groups: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> NDArray[Any]:
        """Whether to flag each score. Of two thresholds: 0 to pass, 1 to review, 2 to block it, as
        int8. NaN is refused.

        ``groups`` has the group of each score, where groups have thresholds of their own; one that
        has none is refused. ``columns`` has what the costs of each row are computed from.
        """
        if self.row_costs is not None:
            return flags(self.row_gaps(scores, columns), self.threshold)
        if not self.cuts.groups or self.groups is None:
            return decide_scores(scores, self.cuts.thresholds, reverse=self.reverse)
        if groups is None:
            rule = f"be given: each {shown(self.groups.column)} has a threshold of its own"
            raise DataError(BadArgument("groups", rule))
        x = as_vector(scores, "scores")
        return self.decide_known(x, self.groups.numbers(groups, len(x)))

    def row_gaps(self, scores: ArrayLike, columns: Mapping[str, ArrayLike] | None) -> Floats:
        """By how much the odds of each row exceed those from which flagging it pays, as logarithms
        and without the prior: what the threshold is on, where costs differ by row."""
        costs = self.aim.costs
        if self.row_costs is None or costs is None or self.calibrator is None:
            why = "are the same for all rows of this policy"
            raise UndefinedError(Undefined("costs", why, "Leave out the columns."))
        return gaps_of(costs, self.calibrator, self.towards(scores), columns)

    def decide_known(self, scores: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[Any]:
        """The same for groups by their numbers, which all have a threshold."""
        assert self.groups is not None
        out = np.empty(len(scores), np.bool_)
        for k, name in enumerate(self.groups.names):
            rows = np.flatnonzero(numbers == k)
            out[rows] = decide_scores(scores[rows], self.cuts.groups[name], reverse=self.reverse)
        return out

    def needs_calibrator(self, what: str) -> Calibrator:
        """The calibrator; raise if there is none, since all rows are normal."""
        if self.calibrator is None:
            why = "needs positives, and all rows of the evidence are normal"
            raise UndefinedError(Undefined(what, why, "Decisions need none."))
        return self.calibrator

    def llr(self, scores: ArrayLike) -> Floats:
        """The log-likelihood ratio of each score."""
        calibrator = self.needs_calibrator("a log-likelihood ratio")
        return np.asarray(calibrator.llr(self.towards(scores)))

    def probability(self, scores: ArrayLike, prior: float | None = None) -> Floats:
        """P(positive) of each score where the share ``prior`` is positive; its own if left out."""
        calibrator = self.needs_calibrator("a probability")
        at = self.prior if prior is None else prior
        return np.asarray(calibrator.probability(self.towards(scores), at))

    def towards(self, scores: ArrayLike) -> Any:
        """The scores, of which high ones mean positive."""
        if not self.reverse:
            return scores
        a = as_array(scores, "score")
        return reshape(0.0 - score_column(a.reshape(-1)).astype(np.float64), a.shape)

    # ----------------------------------------------------------------------------------- revision

    def revised(  # noqa: PLR0913 - the options of users
        self,
        *,
        costs: Costs | None = None,
        maximize: GoalLike | None = None,
        subject_to: LimitsLike | None = None,
        prior: float | None = None,
        confidence: float | None = None,
        threshold: Threshold | None = None,
        drop_limits: bool = False,
        each: LimitsLike | None = None,
        gap: LimitsLike | None = None,
    ) -> Policy:
        """The same policy for another aim: the threshold is chosen anew on the evidence.

        It is what :meth:`choose` finds on the rows, and comes with promises of its own.

        Parameters
        ----------
        costs, maximize
            What to aim at instead.
        subject_to
            Limits instead of those there are. Limits stay unless they are given anew or dropped.
        prior, confidence
            Another share of positives; another confidence of the limits.
        threshold
            A threshold that is given, whatever follows from the aim; two, (review, block), if it
            reviews cases.
        drop_limits
            Let go of the limits.
        each, gap
            Of a policy with groups, limits in each group and gaps between them instead of those
            there are; see :meth:`choose_groups`.

        Examples
        --------
        >>> import cutscore as cs
        >>> s = cs.sweep([1, 0, 1, 1, 0, 1, 0, 0], [.91, .85, .77, .72, .61, .48, .42, .33])
        >>> p = cs.Policy.choose(s, "f1")
        >>> p.threshold, p.revised(maximize="recall", subject_to="fpr <= 30 %").threshold
        (0.45, 0.67)
        """
        of_groups = self._of_groups(each, gap, threshold, drop_limits=drop_limits)
        aim = self._aimed(
            costs=costs,
            maximize=maximize,
            subject_to=subject_to,
            prior=prior,
            confidence=confidence,
            drop_limits=drop_limits,
            more_limits=bool(of_groups["each"] or of_groups["gap"]) if of_groups else False,
        )
        if of_groups:
            return self._revised_groups(aim, of_groups, threshold)
        if self.row_costs is not None or (costs is not None and costs.by_row):
            return self._revised_rows(aim, threshold)
        point = self._chosen(aim, threshold)
        given = threshold is not None
        # Rows of one unit are no independent evidence, and which are is not known here.
        known = self.evidence.units is None and self.evidence.periods is None
        return replace(
            self,
            aim=aim,
            evidence=replace(self.evidence, periods=_known_periods(aim)),
            cuts=cuts_of(point, self.reverse),
            promises=promises_of(point, given=given) if known else self._of_score,
            given=given,
            feasible=point.feasible,
        )

    @property
    def _of_score(self) -> dict[str, Expected]:
        """What is promised whatever the threshold is."""
        return {name: e for name, e in self.promises.items() if name == "auc"}

    def _of_groups(
        self,
        each: LimitsLike | None,
        gap: LimitsLike | None,
        threshold: Threshold | None,
        *,
        drop_limits: bool,
    ) -> dict[str, Any]:
        """The options of a choice for groups; none if the policy has no groups."""
        g = self.groups
        asked = each is not None or gap is not None
        if g is None:
            if asked:
                rule = "be left out: the policy knows of no groups"
                raise DataError(BadArgument("gap" if each is None else "each", rule))
            return {}
        if asked and drop_limits:
            rule = "limits can be replaced or dropped, not both"
            raise DataError(Conflict(("each", "drop_limits"), rule))
        if threshold is not None and self.cuts.groups:
            rule = "be left out: each group has a threshold of its own"
            raise DataError(BadArgument("threshold", rule, threshold))
        return {
            "each": () if drop_limits else g.each if each is None else as_limits(each),
            "gap": () if drop_limits else g.gaps if gap is None else as_limits(gap),
            "thresholds": "group" if self.cuts.groups else "common",
            "small": g.small,
        }

    def _revised_groups(
        self, aim: Aim, options: dict[str, Any], threshold: Threshold | None
    ) -> Policy:
        assert self.groups is not None
        sweeps, column = self.groups.sweeps, self.groups.column
        if threshold is None:
            try:
                point = choose_groups(sweeps, aim, **options)
            except UndefinedError as error:
                raise with_way_out(error) from error
        else:
            cut = given_cuts(aim, threshold, self.reverse).block
            options.pop("thresholds")
            if options["gap"]:
                rule, hint = "a gap needs group thresholds", "Drop {0}."
                raise DataError(Conflict(("gap", "threshold"), rule, hint))
            point = group_point_at(sweeps, aim, dict.fromkeys(sweeps, cut), **options)
        given = threshold is not None
        changes = _of_groups(point, column, "auto", self.reverse, given=given)
        # The evidence is the same, in the form that it was kept in.
        changes["groups"] = replace(changes["groups"], evidence=self.groups.evidence)
        return replace(self, aim=point.aim, given=given, feasible=point.feasible, **changes)

    def _revised_rows(self, aim: Aim, threshold: Threshold | None) -> Policy:
        """The same for costs of each row: the money of the evidence is that of new costs but for
        constant factors, or the rows are needed."""
        old, new = self.aim.costs, aim.costs
        if self.row_costs is None or old is None or new is None or not new.by_row:
            why = "needs the rows, since the policy stores " + (
                "no amounts" if self.row_costs is None else "the money of its own costs only"
            )
            hint = "Choose a policy on the rows again."
            raise UndefinedError(Undefined("this objective", why, hint))
        self._needs_known(aim)
        evidence = self.row_costs.rescaled(old, new)
        given = threshold is not None
        at = None if threshold is None else check_threshold(threshold)
        try:
            point = point_of_money(evidence.money(new), aim, at)
        except UndefinedError as error:
            raise with_way_out(error) from error
        known = self.evidence.units is None and self.evidence.periods is None
        return replace(
            self,
            aim=aim,
            evidence=replace(self.evidence, periods=_known_periods(aim)),
            cuts=Cuts((point.threshold,)),
            promises=promises_of(point, given=given, of_scores=self.sweep) if known else {},
            given=given,
            feasible=point.feasible,
            row_costs=evidence,
        )

    def _chosen(self, aim: Aim, threshold: Threshold | None) -> OperatingPoint:
        """What the evidence says for an aim; with ``reverse`` of −score."""
        self._needs_known(aim)
        try:
            if threshold is None:
                return choose(self.sweep, aim)
            return point_at(self.sweep, aim, given_cuts(aim, threshold, self.reverse))
        except UndefinedError as error:
            raise with_way_out(error) from error

    def _needs_known(self, aim: Aim) -> None:
        """Raise if an aim needs clusters or periods, which no file has."""
        if aim.confidence is not None and self.evidence.units is not None:
            hint = "Choose the policy on the rows again, with units."
            raise UndefinedError(CountsRows("a limit with a confidence", hint, "clusters"))
        if aim.periods is None and any(limit.period is not None for limit in aim.limits):
            why = "needs the rows with their periods, and the policy has none"
            hint = "Choose the policy on the rows again, with periods."
            raise UndefinedError(Undefined("a limit per period", why, hint))

    def _aimed(  # noqa: PLR0913 - the options of users
        self,
        *,
        costs: Costs | None,
        maximize: GoalLike | None,
        subject_to: LimitsLike,
        prior: float | None,
        confidence: float | None,
        drop_limits: bool,
        more_limits: bool = False,
    ) -> Aim:
        old = self.aim
        if costs is not None and maximize is not None:
            raise DataError(Conflict(("costs", "maximize"), "only one objective can be given"))
        if subject_to is not None and drop_limits:
            rule = "limits can be replaced or dropped, not both"
            raise DataError(Conflict(("subject_to", "drop_limits"), rule))
        goal: Any = old.goal
        if costs is not None:
            goal = check_costs(costs)
        elif maximize is not None:
            goal = as_objective(maximize)
        own = old.goal.limit if isinstance(old.goal, Top) else None
        limits = tuple(limit for limit in old.limits if limit != own)
        if subject_to is not None:
            limits = tuple(as_limits(subject_to))
        elif drop_limits:
            limits = ()
        if confidence is not None and not limits and not more_limits:
            rule, hint = "a confidence applies to limits", "Add {1}, such as 'fpr <= 0.001'."
            raise DataError(Conflict(("confidence", "subject_to"), rule, hint))
        limited = limits or more_limits
        sure = (old.confidence if confidence is None else confidence) if limited else None
        assumed = old.assumed and costs is None and maximize is None
        return Aim(
            goal,
            limits,
            old.prior if prior is None else prior,
            sure,
            level=old.level,
            assumed=assumed,
            periods=old.periods,
        )

    # ------------------------------------------------------------------------------------- checks

    def check(  # noqa: PLR0913 - options have names
        self,
        y: ArrayLike,
        scores: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        positive: Label | None = None,
        level: float | None = None,
        period: ArrayLike | None = None,
        exposure: int | None = None,
        groups: ArrayLike | None = None,
        unit: ArrayLike | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> PolicyCheck:
        """Compare what was promised with what happened on labelled rows.

        Each promise stands beside what the rows show, with both intervals and a test whether they
        agree; each limit holds, is exceeded on these rows, or is shown to be broken.

        Parameters
        ----------
        y, scores, weight
            Labels, scores and perhaps weights of rows that the policy was not chosen on.
        positive
            The positive label, if the policy does not know it.
        level
            Of intervals and tests; that of the aim if left out.
        period, exposure
            The period of each row, and how many there are if some have no rows: for limits per day
            or hour, which are tested over periods. Without them they are not tested.
        groups
            The group of each row, if the policy knows of groups: promises and limits of each group
            are tested as well, with Holm's correction over all tests.
        unit
            The cluster id of each row (patient, user), where rows of one cluster are correlated:
            intervals and tests are over clusters. Needed if the policy was chosen on clusters.
        columns
            The columns that costs of each row are computed from.

        Examples
        --------
        >>> import cutscore as cs, numpy as np
        >>> rng = np.random.default_rng(1)
        >>> y = rng.random(2000) < 0.3
        >>> x = rng.standard_normal(2000) + 1.5 * y
        >>> p = cs.Policy.choose(cs.sweep(y[:1000], x[:1000]), cs.Costs(fp=1, fn=3))
        >>> p.check(y[1000:], x[1000:]).headline
        'Consistent with expectations'
        >>> p.check(y[1000:], x[1000:] - 0.7).state.value
        'differs'
        """
        from cutscore.policy.check import check

        return check(
            *(self, y, scores, weight),
            positive=positive,
            level=level,
            period=period,
            exposure=exposure,
            groups=groups,
            unit=unit,
            columns=columns,
        )

    # ------------------------------------------------------------------------------------ merging

    def __add__(self, other: object) -> Policy:
        """The policy of the evidence of both: the threshold is chosen anew."""
        if not isinstance(other, Policy):
            return NotImplemented
        from cutscore.policy.merging import merged

        return merged(self, other)

    def __radd__(self, other: object) -> Policy:
        # For sum(): it starts from 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    # -------------------------------------------------------------------------------------- files

    def __eq__(self, other: object) -> bool:
        """Whether a file of it would be the same."""
        if not isinstance(other, Policy):
            return NotImplemented
        return self is other or self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.cuts.thresholds, self.provenance, self.score, self.reverse))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists: what :meth:`to_json` writes."""
        from cutscore.policy.file import as_dict

        return as_dict(self)

    @staticmethod
    def from_dict(data: object, where: str = "") -> Policy:
        """The policy that :meth:`to_dict` described; anything else is a DataError."""
        from cutscore.policy.file import from_dict

        return from_dict(data, where)

    def to_json(self) -> str:
        """A readable JSON text; floats are written so that they come back exactly."""
        from cutscore.policy.file import as_text

        return as_text(self)

    @staticmethod
    def from_json(text: str | bytes, *, verify: bool = True) -> Policy:
        """The policy that :meth:`to_json` wrote; anything else is a DataError.

        ``verify=False`` takes a text that was changed by hand, as long as it makes sense.
        """
        from cutscore.policy.file import from_text

        return from_text(text, verify=verify)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON file, aside first: a file that is there survives a failure."""
        text = self.to_json()
        with written_aside(path, text=True) as file:
            file.write(text + "\n")

    @staticmethod
    def load(path: str | os.PathLike[str], *, verify: bool = True) -> Policy:
        """Read the file that :meth:`save` wrote."""
        from cutscore.policy.file import from_file

        return from_file(path, verify=verify)

    def export(self, to: str = "sql", **options: object) -> Any:
        """The policy for other systems, which decide alike.

        Parameters
        ----------
        to
            ``"sql"``: a SELECT for DuckDB, SQLite and PostgreSQL, see
            :func:`cutscore.policy.export.to_sql`. ``"python"``: the source of one module without
            dependencies. ``"onnx"``: an ONNX model of calibrator and cut. ``"card"``: a model card
            in Markdown.
        **options
            Those of the function: ``table``, ``dialect`` and ``keep`` for SQL, ``dtype`` for ONNX,
            ``title`` for a card.
        """
        from cutscore.policy import export

        one_of("to", to, ("sql", "python", "onnx", "card"))
        return getattr(export, f"to_{to}")(self, **options)

    def log(self, prefix: str = "") -> None:
        """Write it to the active run of MLflow: promises with their intervals as metrics, rule and
        aim as parameters, ``policy.json`` and a card as artefacts.

        ``prefix`` stands in front of all names, where a run has several policies.
        """
        from cutscore.policy.tracking import log_policy

        log_policy(self, prefix)

    # -------------------------------------------------------------------------------------- shown

    def facts(self) -> list[tuple[str, str]]:
        """What there is to know about it, by name."""
        s = self.sweep
        facts = [
            ("detects", self.labels.words),
            ("rule", self.rule),
            ("thresholds", thresholds_text(self.cuts.groups)),
            ("objective", self.objective_words),
            ("limits", "" if self.feasible else "violated on the evidence"),
            ("costs", repr(self.aim.costs) if self.aim.costs else ""),
            ("prior", f"{100 * self.prior:.4g} %" if self.prior else ""),
            (
                "calibration",
                "" if self.calibrator is None else calibration_words(self.calibrator, self.reverse),
            ),
            ("evidence", f"{self.evidence!r}, {100 * s.prevalence:.3g} % positive"),
            ("scores", self.provenance.scores),
            *(
                (f"expected {promise_name(name)}", promise_text(name, e))
                for name, e in self.promises.items()
            ),
            *self.group_facts(),
        ]
        return [(name, value) for name, value in facts if value]

    def group_facts(self) -> list[tuple[str, str]]:
        """What there is to know about its groups, by name."""
        g = self.groups
        if g is None:
            return []
        sure = f", with {100 * self.aim.confidence:g} % confidence" if self.aim.confidence else ""
        return [
            ("limits of groups", ", ".join(g.limit_texts) + sure if g.limit_texts else ""),
            ("tested together", ", ".join(map(shown, g.pooled))),
            *(
                (
                    f"expected in {shown(group)}",
                    ", ".join(
                        f"{promise_name(name)} {promise_text(name, e, level=False)}"
                        for name, e in promises.items()
                        if name in ("recall", "fpr")
                    ),
                )
                for group, promises in g.promises.items()
            ),
        ]

    def __repr__(self) -> str:
        head = f"Policy for {self.labels.words}" if self.labels.words else "Policy"
        skip = ("detects", "rule")
        lines = [f"{head}: {self.rule}", *(f"{k}: {v}" for k, v in self.facts() if k not in skip)]
        return "\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines)

    def _facts(self) -> Facts:
        return self.facts()

    def _warning(self) -> str:
        return "" if self.feasible else "The limits are violated on the evidence."

    def _picture(self) -> str:
        s, c = self.sweep, self.confusion
        return thumbnail(*s.outline(), point=(c.fpr, c.recall)) if s.P > 0 and s.N > 0 else ""


def calibrated(s: Sweep, method: str = "auto") -> Calibrator | None:
    """The calibrator of a sweep; None if all rows are normal."""
    return None if is_normal(s) else calibrate(s, method)


def _known_periods(aim: Aim) -> KnownPeriods | None:
    """What a policy keeps of periods: what the limits came to, if there are limits per period."""
    periods = as_periods(aim.periods)
    if periods is None or all(limit.period is None for limit in aim.limits):
        return None
    error = None if aim.confidence is None else split_error(aim.limits, aim.confidence)
    return periods.known(aim.limits, error)


def calibration_words(calibrator: Calibrator, reverse: bool = False) -> str:
    """The calibrator in words, without the comparison of methods that it may come with."""
    steps = calibrator.steps if isinstance(calibrator, Chain) else (calibrator,)
    words = ", then ".join(repr(step).partition("\n")[0] for step in steps)
    return f"of −score: {words}" if reverse else words


def _of_groups(
    point: GroupPoint, column: str, evidence: str, reverse: bool, *, given: bool = False
) -> dict[str, Any]:
    """The fields of a policy that follow from a choice for groups."""
    own = {str(name): (turned(t, reverse),) for name, t in point.thresholds.items()}
    common = next(iter(own.values()))
    expected = expect_groups(point, point.aim.level, given=given)
    promises = dict(expected.total)
    with suppress(CutscoreError):
        s, level = point.sweeps.total, point.aim.level
        low, high = auc_interval(s, level=level)
        promises["auc"] = Expected(s.auc, low, high, level)
    return {
        "cuts": Cuts((), own) if point.own else Cuts(common),
        "promises": promises,
        "groups": Groups.of(point, column, evidence, expected.groups),
    }


def _cuts_of_groups(point: GroupPoint) -> list[int]:
    """The cuts that stay such in the evidence of all rows."""
    s = point.sweeps.total
    return [int(np.searchsorted(-s.threshold, -t, side="right")) for t in point.thresholds.values()]


def _with_digest(provenance: Provenance, s: Sweep) -> Provenance:
    if provenance.digest:
        return provenance
    rows = None if s.weighted else int(s.P + s.N)
    return replace(provenance, digest=digest_of(s), rows=rows)
