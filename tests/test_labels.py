"""The positive label, named in words."""

from __future__ import annotations

import numpy as np
import pytest

from cutscore.core.labels import BinaryLabels, binarize, one_versus_rest_note


def test_labels_beyond_floats_are_told_apart():
    ids = np.array([2**53, 2**53 + 1, 2**53, 2**53])
    found = binarize(ids, str(2**53 + 1), "id")
    assert found.y.tolist() == [False, True, False, False]
    assert found.positive == 2**53 + 1
    assert binarize(np.array([0.5, 2.0]), "5e-1", "id").y.tolist() == [True, False]


@pytest.mark.parametrize("dtype", [object, str])
def test_other_labels_are_counted(dtype: type) -> None:
    rows = ["unklar"] * 3 + ["ja"] * 4 + ["Nein"] + ["nein"] * 2000
    note = one_versus_rest_note(binarize(np.array(rows, dtype), "ja", "Krank", count=True), "Krank")
    assert note is not None
    assert (note.code, note.column, note.positive) == ("one-vs-rest", "Krank", "ja")
    assert dict(zip(note.others, note.rows or (), strict=True)) == {
        "nein": 2000,
        "unklar": 3,
        "Nein": 1,
    }
    assert "'nein' (2,000 rows), 'unklar' (3 rows), 'Nein' (1 row)" in note.render()


def test_two_labels_need_no_note() -> None:
    assert (
        one_versus_rest_note(binarize(np.array(["ja", "nein"]), "ja", "y", count=True), "y") is None
    )


def test_many_labels_are_cut_short_and_escaped() -> None:
    rows = ["ja", "a\x1b[2J", *"bcdef"]
    note = one_versus_rest_note(binarize(np.array(rows), "ja", "y", count=True), "y")
    assert note is not None
    text = note.render()
    assert r"'a\x1b[2J' (1 row)" in text
    assert "\x1b" not in text
    assert "… (6 in all)" in text


def test_numbers_as_labels_and_labels_that_nobody_counted() -> None:
    found = binarize(np.array([3, 1, 2, 2]), "3", "grade", count=True)
    assert (found.others, found.counts) == ([1, 2], [1, 2])
    for bare in (
        BinaryLabels(np.empty(0, np.bool_), "a", ["b", "c"]),
        binarize(np.array(["b", "a", "c", "c"]), "a", "y"),
    ):
        note = one_versus_rest_note(bare, "y")
        assert note is not None
        assert (note.others, note.rows) == (("b", "c"), None)
