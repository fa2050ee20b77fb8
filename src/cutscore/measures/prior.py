"""The share of positives where decisions are made, and levels of confidence."""

from __future__ import annotations

from math import log

from cutscore.core.checks import number
from cutscore.core.errors import DataError
from cutscore.core.findings.arguments import BadArgument


def check_prior(prior: object) -> float:
    """A prevalence strictly between 0 and 1."""
    p = number(prior)
    if not 0 < p < 1:
        hint = "It is the prevalence where decisions are made, such as 0.02 or 2 %."
        raise DataError(BadArgument("prior", "be between 0 and 1", prior, hint))
    return p


def log_odds(prior: float) -> float:
    """ln clr = ln(prior / (1 − prior)), of a prior strictly between 0 and 1."""
    p = check_prior(prior)
    return log(p / (1 - p))


def check_level(level: object, name: str = "level") -> float:
    """A confidence strictly between 0 and 1."""
    p = number(level)
    if not (p > 0 and (1 + p) / 2 < 1):
        raise DataError(BadArgument(name, "be between 0 and 1, such as 0.95", level))
    return p
