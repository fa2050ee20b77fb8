"""The inverse of a calibrator: the score at which decisions change."""

from __future__ import annotations

from math import inf

import numpy as np

from cutscore.calibration.calibrators import Calibrator, Chain, Gaussian
from cutscore.core.errors import UndefinedError
from cutscore.core.findings.statistics import Undefined


def lowest_score(calibrator: Calibrator, llr: float) -> float:
    """The lowest score whose LLR is at least this; inf if there is none.

    Found by halving the floats, of which there are less than 2⁶⁴: for any calibrator that never
    falls. A quadratic one must not fall among the scores it was fitted to; all beyond them are
    taken as its lowest and highest.
    """
    if not calibrator.monotone:
        raise UndefinedError(
            Undefined(
                "the lowest score to flag",
                "does not exist: the calibrator's LLR is not increasing",
                "Use an increasing calibrator, such as 'isotonic'.",
            )
        )
    first = calibrator.steps[0] if isinstance(calibrator, Chain) else calibrator
    ends = (first.low, first.high) if isinstance(first, Gaussian) else first.domain
    if not calibrator.llr(ends[1]) >= llr:
        return inf
    if calibrator.llr(ends[0]) >= llr:
        return -inf
    low, high = map(_key, ends)
    while high - low > 1:
        middle = (low + high) // 2
        if calibrator.llr(_float(middle)) >= llr:
            high = middle
        else:
            low = middle
    return _float(high)


def _key(x: float) -> int:
    bits = int(np.float64(x).view(np.int64))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(key: int) -> float:
    x = float(np.int64(abs(key)).view(np.float64))
    return x if key >= 0 else -x
