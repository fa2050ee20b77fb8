"""A policy as one Python file without dependencies."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from cutscore.calibration.calibrators import (
    EPS,
    Affine,
    Beta,
    Calibrator,
    Chain,
    Gaussian,
    Monotone,
)
from cutscore.core.findings.rows import LARGEST_STAKE
from cutscore.core.types import Array
from cutscore.decision.money import FREE, GRID, on_grid
from cutscore.measures.expression import Expression
from cutscore.measures.prior import log_odds

if TYPE_CHECKING:
    from cutscore.policy.artefact import Policy


def to_python(policy: Policy) -> str:
    """The source of a module with ``decide``, ``llr`` and ``probability`` of one score; Python's
    standard library is all it needs. A policy of normal rows alone has ``decide``.

    A score that is missing, None or NaN, has None for a decision, LLR and probability. Decisions
    are those of :meth:`cutscore.Policy.decide`. Where groups have thresholds of their own it is
    ``decide(score, group)``: None for a group that is missing or has no threshold. Where costs
    differ by row it is ``decide(score, row)``, of a mapping with the columns of the costs.

    Examples
    --------
    >>> import cutscore as cs
    >>> s = cs.sweep([1, 0, 1, 0], [4, 3, 2, 1])
    >>> p = cs.Policy.choose(s, "f1", calibrator=cs.Affine(1.0, 2.5))
    >>> module = {}
    >>> exec(p.export("python"), module)
    >>> module["decide"](1.5), module["decide"](None), module["llr"](3)
    (True, None, 0.5)
    """
    c = policy.calibrator
    sign = "<=" if policy.reverse else ">="
    if policy.row_costs is not None:
        return _by_row(policy)
    form = _OF_GROUPS if policy.cuts.groups else _THREE_WAY if policy.three_way else _ONE_CUT
    own = "".join(f"    {name!r}: {_number(t)},\n" for name, (t,) in policy.cuts.groups.items())
    values = {
        "decision": form.format(
            thresholds=own or ", ".join(map(_number, policy.cuts.thresholds)), sign=sign
        ),
        "head": _one_line(f"{policy.labels.words or 'positives'}: {policy.rule}"),
        "aim": _one_line(policy.objective_words),
        "digest": _one_line(policy.provenance.digest),
    }
    if c is None:
        return (_HEAD + _IMPORT_INF + "{decision}\n\n" + _SCORE).format(**values)
    return (_HEAD + _CALIBRATED + _SCORE + "\n\n{steps}\n").format(**values, **_steps(policy, c))


def _steps(policy: Policy, c: Calibrator) -> dict[str, str]:
    """What LLRs and probabilities are computed by."""
    steps = c.steps if isinstance(c, Chain) else (c,)
    names = ", ".join(f"_step{k}" for k in range(len(steps)))
    return {
        "shift": _number(log_odds(policy.prior)),
        "towards": "0.0 - score" if policy.reverse else "score",
        "prior": f"{100 * policy.prior:.4g} %",
        "names": f"({names},)",
        "steps": "\n\n\n".join(_step(step, k) for k, step in enumerate(steps)),
    }


def _by_row(policy: Policy) -> str:
    """The module of a policy by the costs of each row."""
    costs = policy.aim.costs
    assert costs is not None
    own = {name: f"c{k}" for k, name in enumerate(costs.columns)}
    stakes = ", ".join(
        one.to_python(own.__getitem__) + (f" + {benefit!r}" if benefit else "")
        if isinstance(one, Expression)
        else repr(one + benefit)
        for one, benefit in ((costs.fn, costs.tp), (costs.fp, costs.tn))
    )
    decision = _BY_ROW.format(
        most=LARGEST_STAKE,
        free=FREE,
        grid=GRID,
        threshold=_number(float(on_grid(np.array([policy.threshold]))[0])),
        columns=repr(tuple(own)),
        names=", ".join(own.values()),
        stakes=stakes,
    )
    values = {
        "decision": decision,
        "head": _one_line(f"{policy.labels.words or 'positives'}: {policy.rule}"),
        "aim": _one_line(policy.objective_words),
        "digest": _one_line(policy.provenance.digest),
    }
    c = policy.needs_calibrator("a decision by costs of each row")
    return (_HEAD + _CALIBRATED + _SCORE + "\n\n{steps}\n").format(**values, **_steps(policy, c))


_BY_ROW = '''THRESHOLD = {threshold}
COLUMNS = {columns}


def decide(score, row):
    """Whether to flag a score, by the costs of its row, a mapping with COLUMNS; None if one of
    these is missing."""
    z, values = llr(score), [_score(row.get(name)) for name in COLUMNS]
    if z is None or None in values:
        return None
    try:
        miss, alarm = _stakes(*values)
    except ZeroDivisionError:
        miss = alarm = inf
    if not (0 <= miss <= {most!r} and 0 <= alarm <= {most!r}):
        raise ValueError(f"costs must be at least 0 and finite, got {{miss}} and {{alarm}}")
    gap = z - (log(max(alarm, {free!r})) - log(miss)) if miss else -inf
    return (gap if isinf(gap) else round(gap * {grid!r}) / {grid!r}) >= THRESHOLD


def _stakes({names}):
    return {stakes}
'''

_ONE_CUT = '''THRESHOLD = {thresholds}


def decide(score):
    """Whether to flag a score; None if it is missing."""
    score = _score(score)
    return None if score is None else score {sign} THRESHOLD
'''

_THREE_WAY = '''REVIEW, BLOCK = {thresholds}


def decide(score):
    """0 to pass, 1 to review, 2 to block a score; None if it is missing."""
    score = _score(score)
    return None if score is None else (score {sign} REVIEW) + (score {sign} BLOCK)
'''

_OF_GROUPS = '''THRESHOLDS = {{
{thresholds}}}


def decide(score, group):
    """Whether to flag a score of a group; None if it is missing or the group has no threshold."""
    score, threshold = _score(score), THRESHOLDS.get(_group(group))
    return None if score is None or threshold is None else score {sign} threshold


def _group(group):
    if isinstance(group, bool):
        return str(group).lower()
    if isinstance(group, float):
        group = None if isnan(group) else int(group) if group.is_integer() else group
    return None if group is None else str(group)
'''

_HEAD = '''"""A decision about scores, written by cutscore. It needs nothing but Python."""

# {head}
# objective: {aim}
# evidence: {digest}

'''

_IMPORT_INF = """from math import inf, isnan

"""

_CALIBRATED = '''from bisect import bisect_right
from math import exp, inf, isinf, isnan, log, log1p

PRIOR_LOG_ODDS = {shift}  # {prior} of the cases are positive
{decision}

def llr(score):
    """The log-likelihood ratio of a score; None if it is missing."""
    score = _score(score)
    if score is None:
        return None
    x = {towards}
    for step in {names}:
        x = None if x is None else step(x)
    return x


def probability(score, prior=None):
    """P(positive) where the share ``prior`` is positive; the policy's own if left out."""
    z = llr(score)
    if z is None:
        return None
    z += PRIOR_LOG_ODDS if prior is None else log(prior / (1 - prior))
    return 1 / (1 + exp(-z)) if z >= 0 else (exp(z) / (1 + exp(z)) if z > -745 else 0.0)


'''

_SCORE = """def _score(score):
    if score is None:
        return None
    score = float(score)
    return None if isnan(score) else score
"""


def _number(x: float) -> str:
    return repr(float(x)).replace("nan", "float('nan')")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _step(step: Calibrator, k: int) -> str:
    head, write = f"def _step{k}(x):\n", _WRITERS[type(step)]
    body = "\n".join(f"    {line}".rstrip() for line in write(step, k))
    return head + body


def _affine(c: Affine, _: int) -> list[str]:
    return [f"return {c.gamma!r} * (x - {c.d0!r})" if c.gamma else "return 0.0"]


def _beta(c: Beta, _: int) -> list[str]:
    return [
        "if not 0 <= x <= 1:",
        "    return None",
        f"p = min(max(x, {EPS!r}), {1 - EPS!r})",
        f"return {c.a!r} * log(p) - {c.b!r} * log1p(-p) + {c.c!r}",
    ]


def _gaussian(c: Gaussian, _: int) -> list[str]:
    return [
        "if isinf(x):",
        f"    return {_number(c.llr(float('inf')))} if x > 0 else {_number(c.llr(float('-inf')))}",
        f"u, v = (x - {c.neg_mean!r}) / {c.neg_sd!r}, (x - {c.pos_mean!r}) / {c.pos_sd!r}",
        f"return 0.5 * (u - v) * (u + v) + {log(c.neg_sd / c.pos_sd)!r}",
    ]


def _monotone(c: Monotone, _: int) -> list[str]:
    at, value = c._rising
    lines = [f"at = {_list(at)}", f"value = {_list(value)}", "k = bisect_right(at, x)"]
    if c.interpolate:
        lines += [
            "if k == 0 or k == len(at):",
            "    y = value[0 if k == 0 else -1]",
            "else:",
            "    slope = (value[k] - value[k - 1]) / (at[k] - at[k - 1])",
            "    y = slope * (x - at[k - 1]) + value[k - 1]",
        ]
    else:
        lines.append("y = value[k]")
    if c.tilt:
        lines += [
            f"z = min(max((x - {c.centre!r}) / {c.scale!r}, -1e300), 1e300)",
            f"y += {c.tilt!r} * (z / (1 + abs(z)))",
        ]
    return [*lines, "return y"]


def _list(values: Array) -> str:
    return "[" + ", ".join(map(_number, values.tolist())) + "]"


_WRITERS: dict[type, Any] = {
    Affine: _affine,
    Beta: _beta,
    Gaussian: _gaussian,
    Monotone: _monotone,
}
