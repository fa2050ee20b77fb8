"""Figures of cutpointr's README, on its data `suicide`: 532 people by DSI score and gender."""

from __future__ import annotations

import pytest

import cutscore as cs

# Counts of attempted suicides and of others at each score, from 11 down to 0.
SCORE = list(range(11, -1, -1))
FEMALE = ([0, 0, 1, 0, 3, 8, 4, 6, 0, 3, 1, 1], [0, 1, 0, 0, 0, 1, 6, 20, 8, 7, 36, 286])
MALE = ([1, 1, 0, 1, 0, 1, 0, 2, 1, 0, 1, 1], [0, 0, 0, 0, 0, 4, 4, 8, 4, 5, 16, 90])


def test_figures_of_its_readme() -> None:
    female, male = (cs.Sweep.from_counts(SCORE, *counts) for counts in (FEMALE, MALE))
    everybody = female + male
    assert (everybody.P, everybody.N) == (36, 496)
    for s, auc, cut, sensitivity, specificity in (
        (everybody, 0.923779, 2, 0.888889, 0.862903),
        (female, 0.944647, 2, 0.925926, 0.882192),
        (male, 0.861747, 3, 0.777778, 0.847328),
    ):
        p = cs.choose(s, "youden")  # sensitivity + specificity has its maximum at the same cut
        assert s.auc == pytest.approx(auc, abs=5e-7)
        assert cut - 1 < p.threshold <= cut
        assert p.confusion.recall == pytest.approx(sensitivity, abs=5e-7)
        assert p.confusion.specificity == pytest.approx(specificity, abs=5e-7)
