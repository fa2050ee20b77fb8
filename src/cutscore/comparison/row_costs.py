"""choose_by_row: the best decisions where costs differ by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cutscore.calibration.calibrators import Calibrator
from cutscore.comparison.rows import encode_column, periods, read_rows, units
from cutscore.core.checks import as_vector, check_threshold
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument, Conflict
from cutscore.core.types import ArrayLike, Label
from cutscore.decision.money import RowCosts
from cutscore.decision.row_costs import RowCostPoint, point_of_rows
from cutscore.measures.aim import Aim
from cutscore.measures.costs import Costs, Stakes
from cutscore.measures.limits import LimitsLike, as_limits


def choose_by_row(  # noqa: PLR0913 - all but four are options
    y: ArrayLike,
    score: ArrayLike,
    costs: Costs | Aim,
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
    threshold: float | None = None,
) -> RowCostPoint:
    """The best decisions where a miss or a false alarm costs something else in each row.

    A row is flagged iff its expected loss by a miss is large enough beside that by a false alarm:
    iff LLR − ln((fp + tn)/(fn + tp)) is at least a threshold. The best of all thresholds is found
    exactly, under any limits; ``threshold`` sets it.

    Parameters
    ----------
    y, score : array-like of shape (n,)
        As in :func:`cutscore.sweep`.
    costs : Costs or Aim
        ``Costs(fp=2.5, fn="0.8*amount + 15")``: numbers, names of columns, formulas of columns or
        arrays. An aim has limits, prior and confidence of its own.
    columns : mapping of str to array-like, optional
        The columns that the costs name.
    subject_to, prior, confidence
        As in :func:`cutscore.choose`; limits count rows.
    calibrator : Calibrator or str, default "auto"
        From the score to the LLR: one, or a method of :func:`cutscore.calibrate`.
    weight : array-like of shape (n,), optional
        Weights of the rows.
    unit : array-like of shape (n,), optional
        Cluster id of each row, for intervals, and for limits with a confidence.
    period : array-like of shape (n,), optional
        The period of each row, for limits per period and for money per period.
    exposure : int, optional
        How many periods there are, if some have no rows.
    positive : label, optional
        The positive label.
    threshold : float, optional
        A threshold that is given: −ln clr takes the probabilities as they are.

    Returns
    -------
    RowCostPoint

    Examples
    --------
    >>> import cutscore as cs, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.04
    >>> score = rng.normal(size=5000) + 2 * y
    >>> amount = rng.lognormal(3.5, 1, 5000).round(2)
    >>> p = cs.choose_by_row(y, score, cs.Costs(fp=4, fn="amount"), {"amount": amount})
    >>> p.confusion
    5,000 cases, 201 positive; 138 caught, 63 missed, 366 false alarms
    >>> round(p.total, 2), {name: round(cost, 2) for name, cost in p.baselines.items()}
    (3782.5, {'flag none': 13623.27, 'flag all': 19196.0})
    """
    options = (subject_to, prior, confidence)
    if isinstance(costs, Aim):
        if options != (None, None, None):
            rule = "an Aim has its own limits, prior and confidence"
            raise DataError(Conflict(("costs", "subject_to"), rule, "Set them there."))
        aim = costs
    else:
        aim = Aim(costs, tuple(as_limits(subject_to)), prior, confidence)
    if aim.costs is None or not aim.costs.by_row:
        rule = "be Costs that differ by row, such as Costs(fp=2.5, fn='amount')"
        raise DataError(BadArgument("costs", rule, aim.words, "Otherwise use choose."))
    read = read_rows(y, {"score": score}, weight, positive)
    stakes = aim.costs.stakes(len(read.kept), columns)
    clusters, of_period = (
        None if column is None else encode_column(column, name, read)[1]
        for name, column in (("unit", unit), ("period", period))
    )
    rows = RowCosts.of(
        aim.costs,
        read.ones,
        read.scores[0],
        stakes if read.weight is None else Stakes(*(stake[read.kept] for stake in stakes)),
        calibrator,
        weight=read.weight,
        unit=clusters,
        period=of_period,
    )
    per_period = any(limit.period is not None for limit in aim.limits)
    if period is not None and (per_period or rows.weight is None):
        times = as_vector(period, "period")[read.kept]
        days = periods(rows.positive, rows.gap, times, exposure=exposure)
        aim = replace(aim, periods=days)
    if rows.unit is not None:
        aim = replace(aim, units=units(rows.positive, rows.gap, rows.unit, weight=rows.weight))
    return point_of_rows(rows, aim, None if threshold is None else check_threshold(threshold))
