"""Models of other libraries as scorers: reading and checking them."""

from __future__ import annotations

from cutscore.core.findings.base import Finding, Surface, shown, spelled


class ScorerDamaged(Finding, code="scorer-damaged"):
    """A model of another library can't be read: it is truncated, edited or in another format."""

    library: str
    reason: str
    template = "this is not a complete {library} model: {reason}. Use the original file."
    example = {"library": "LightGBM", "reason": "some trees are missing"}


class ScorerFileChanged(Finding, code="scorer-file-changed"):
    """A model file is not the one that the threshold was chosen for."""

    path: str
    expected: str
    """The SHA-256 that it had."""
    found: str
    example = {"path": "model.txt", "expected": "sha256:9f86d081…", "found": "sha256:60303ae2…"}

    def text(self, on: Surface) -> str:
        return (
            f"{spelled(self.path)} has changed: its SHA-256 is {self.found[7:19]}…, not "
            f"{self.expected[7:19]}…. The threshold was chosen for the scores of the original: "
            "restore that file, or choose a new threshold."
        )


class ColumnsMoved(Finding, code="columns-moved"):
    """Columns are named in another order than the model takes them."""

    column: str
    place: int
    """Where it was named, from 1 on,"""
    of_model: int
    """and which of the model's columns it is."""
    names: tuple[str, ...]
    """The model's columns in its order."""
    example = {"column": "income", "place": 1, "of_model": 2, "names": ("age", "income")}

    def text(self, on: Surface) -> str:
        names = ", ".join(map(shown, self.names))
        return (
            f"columns must be named in the order of the model; {shown(self.column)} is column "
            f"{self.of_model} of the model, and was named as column {self.place}. The order is "
            f"{names}."
        )


class CategoriesDiffer(Finding, code="categories-differ"):
    """A column is a category for the model and a number here, or the other way round."""

    column: str
    category: bool
    """Whether it is one for the model."""
    example = {"column": "job", "category": True}

    def text(self, on: Surface) -> str:
        what, other = ("a category", "numbers") if self.category else ("numbers", "a category")
        return (
            f"{shown(self.column)} is {what} for the model, and {other} here. Name its levels, in "
            "the order of their numbers, exactly if it is a category."
        )


class ScoresUnusable(Finding, code="scores-unusable"):
    """A model does not return one finite number per row."""

    library: str
    reason: str
    template = "a model must return one finite score per row; {library}: {reason}."
    example = {"library": "XGBoost", "reason": "it returns 3 scores per row"}


class ScorerUntrusted(Finding, code="scorer-untrusted"):
    """A scikit-learn model contains types that skops does not trust: they could run code."""

    types: tuple[str, ...]
    example = {"types": ("mine.Scaler",)}

    def text(self, on: Surface) -> str:
        names = ", ".join(map(shown, self.types))
        return (
            f"the model contains types that could run code when loaded: {names}. Export it to "
            "ONNX, or use scikit-learn's own types."
        )
