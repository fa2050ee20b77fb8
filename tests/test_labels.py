"""The positive label, named in words."""

from __future__ import annotations

import numpy as np

from cutpoint._labels import labelled


def test_labels_beyond_floats_are_told_apart():
    ids = np.array([2**53, 2**53 + 1, 2**53, 2**53])
    found = labelled(ids, str(2**53 + 1), "id")
    assert found.y.tolist() == [False, True, False, False]
    assert found.positive == 2**53 + 1
    assert labelled(np.array([0.5, 2.0]), "5e-1", "id").y.tolist() == [True, False]
