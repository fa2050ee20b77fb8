"""Detectors made by hand, for tests of what happens to them later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cutscore as cs
from cutscore.calibration.calibrators import Calibrator
from cutscore.detector import Detector, Encoding, LinearScorer, Scorer, Training
from cutscore.inference.selection import Expected
from cutscore.policy import Cuts, Evidence, Labels, Policy

# Scores of tests are far inside.
EVIDENCE = Evidence.of(cs.sweep([0, 1], [-1e9, 1e9]))


def policy_of(  # noqa: PLR0913
    calibrator: Calibrator | None = None,
    aim: cs.Aim | None = None,
    threshold: float = 0.0,
    *,
    given: bool = False,
    evidence: cs.Sweep | None = None,
    promises: Mapping[str, Expected] | None = None,
    **labels: Any,
) -> Policy:
    """A policy whose threshold nobody chose."""
    return Policy(
        aim or cs.Aim(prior=0.5),
        Cuts((threshold,)),
        calibrator or cs.Affine(1.0, 0.0),
        EVIDENCE if evidence is None else Evidence.of(evidence),
        Labels(**labels),
        given=given,
        promises=promises or {},
    )


def hand_made(
    scorer: Scorer | tuple[Encoding, cs.LinearDetector],
    *,
    training: Training | None = None,
    **policy: Any,
) -> Detector:
    """A detector of a scorer, or of a line in the space of an encoding's features."""
    fingerprint = ""
    if isinstance(scorer, tuple):
        fingerprint = scorer[0].fingerprint
        scorer = LinearScorer.of(*scorer)
    training = training or Training(0, 0, fingerprint=fingerprint)
    return Detector(scorer, policy_of(**policy), training)
