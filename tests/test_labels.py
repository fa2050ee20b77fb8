"""The positive label, named in words."""

from __future__ import annotations

import numpy as np
import pytest

from cutscore._labels import Labelled, against, labelled


def test_labels_beyond_floats_are_told_apart():
    ids = np.array([2**53, 2**53 + 1, 2**53, 2**53])
    found = labelled(ids, str(2**53 + 1), "id")
    assert found.y.tolist() == [False, True, False, False]
    assert found.positive == 2**53 + 1
    assert labelled(np.array([0.5, 2.0]), "5e-1", "id").y.tolist() == [True, False]


LEAVE = "such as unknown, leave their rows out: --sql"
ALIKE = "differ only in case or blanks"


@pytest.mark.parametrize("dtype", [object, str])
def test_other_labels_are_named_with_their_rows(dtype: type):
    rows = ["unklar"] * 3 + ["ja"] * 4 + ["Nein"] + ["nein"] * 2000
    note = against(labelled(np.array(rows, dtype), "ja", "Krank", count=True), "Krank") or ""
    assert note.startswith(
        "'Krank': 'ja' is told from all other labels, 'nein' (2,000 rows), 'unklar' (3 rows), "
        "'Nein' (1 row). 'nein' and 'Nein' differ only in case or blanks: write them alike"
    )
    assert LEAVE in note


@pytest.mark.parametrize(
    ("rows", "said", "alike", "leave"),
    [
        (["ja", "nein"], None, False, False),
        (["ja", "nein", " Nein "], "'nein' and ' Nein ' differ", True, False),
        (["ja", "Ja", "nein"], "'ja' and 'Ja' differ", True, False),
        (["ja", "nein", "NEIN", "Nein"], "'nein', 'NEIN' and 'Nein' differ", True, False),
        (["ja", "a\x1b[2J", "b"], r"'a\x1b[2J' (1 row), 'b' (1 row). If some", False, True),
        (["ja", *"abcdef"], "'d' (1 row), … (6 in all). If some", False, True),
    ],
)
def test_labels_that_may_be_one_or_neither(
    rows: list[str], said: str | None, alike: bool, leave: bool
):
    note = against(labelled(np.array(rows), "ja", "y", count=True), "y")
    if said is None:
        assert note is None
        return
    assert note is not None
    assert said in note
    assert (ALIKE in note) == alike
    assert (LEAVE in note) == leave


def test_numbers_as_labels_and_labels_that_nobody_counted():
    found = labelled(np.array([3, 1, 2, 2]), "3", "grade", count=True)
    assert (found.others, found.counts) == ([1, 2], [1, 2])
    assert "all other labels, 2 (2 rows), 1 (1 row). If some" in (against(found, "grade") or "")
    for bare in (
        Labelled(np.empty(0, np.bool_), "a", ["b", "c"]),
        labelled(np.array(["b", "a", "c", "c"]), "a", "y"),
    ):
        note = against(bare, "y") or ""
        assert note.startswith("'y': 'a' is told from all other labels, 'b', 'c'. If some")
