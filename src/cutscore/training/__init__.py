"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.core.lazy import attributes

if TYPE_CHECKING:
    from cutscore.training.comparison import Compared as Compared
    from cutscore.training.pipeline import Plane as Plane
    from cutscore.training.pipeline import Trained as Trained
    from cutscore.training.pipeline import train as train
    from cutscore.training.rows import Elsewhere as Elsewhere
    from cutscore.training.rows import Target as Target

_HOME = {
    "Compared": "comparison",
    "Elsewhere": "rows",
    "Plane": "pipeline",
    "Target": "rows",
    "Trained": "pipeline",
    "train": "pipeline",
}

__all__ = ["Compared", "Plane", "Trained", "train"]

__getattr__ = attributes(__name__, _HOME)
