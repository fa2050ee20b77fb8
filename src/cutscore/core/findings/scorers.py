"""Models of other libraries as scorers: reading, checking and exporting them."""

from __future__ import annotations

from dataclasses import dataclass

from cutscore.core.findings.base import Finding, Surface, shown, spelled


@dataclass(frozen=True)
class ScorerDamaged(Finding):
    """A model of another library that this library can't read: cut off, edited, or of another
    format."""

    code = "scorer-damaged"
    example = {"library": "LightGBM", "reason": "its trees are not all there"}
    library: str
    reason: str

    def text(self, on: Surface) -> str:
        return f"this is no complete model of {self.library}: {self.reason}. Get the original file."


@dataclass(frozen=True)
class ScorerFileChanged(Finding):
    """The file of a model is not the one that the detector was made with."""

    code = "scorer-file-changed"
    example = {"path": "model.txt", "expected": "sha256:9f86d081…", "found": "sha256:60303ae2…"}
    path: str
    expected: str
    """The digest that it had."""
    found: str

    def text(self, on: Surface) -> str:
        return (
            f"{spelled(self.path)} has changed: its SHA-256 is {self.found[7:19]}…, not "
            f"{self.expected[7:19]}…. The threshold was chosen for the scores of the original: "
            "restore that file, or choose anew."
        )


@dataclass(frozen=True)
class ScoresUnusable(Finding):
    """A model that does not give each row one finite number."""

    code = "scores-unusable"
    example = {"library": "XGBoost", "reason": "it gives each row 3 scores"}
    library: str
    reason: str

    def text(self, on: Surface) -> str:
        return f"a model must give each row one finite score; {self.library}: {self.reason}."


@dataclass(frozen=True)
class ScorerUntrusted(Finding):
    """A scikit-learn model with types that skops does not know to be safe: they could run code."""

    code = "scorer-untrusted"
    example = {"types": ("mine.Scaler",)}
    types: tuple[str, ...]

    def text(self, on: Surface) -> str:
        names = ", ".join(map(shown, self.types))
        return (
            f"the model holds types that could run code when they are loaded: {names}. Export it "
            "to ONNX, or use types of scikit-learn."
        )


@dataclass(frozen=True)
class ScorerNotExportable(Finding):
    """A scorer that the other format can't express, or not exactly."""

    code = "scorer-not-exportable"
    example = {"format": "SQL", "reason": "its trees have 3,100 leaves, more than 2,000"}
    format: str
    reason: str

    def text(self, on: Surface) -> str:
        return f"this scorer can't be exported to {self.format}: {self.reason}."
