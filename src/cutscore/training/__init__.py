"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutscore.core.lazy import attributes

if TYPE_CHECKING:
    from cutscore.training.comparison import Compared as Compared
    from cutscore.training.data import Elsewhere as Elsewhere
    from cutscore.training.data import Target as Target
    from cutscore.training.fitting import Plane as Plane
    from cutscore.training.fitting import Trained as Trained
    from cutscore.training.fitting import train as train

_HOME = {
    "Compared": "comparison",
    "Elsewhere": "data",
    "Plane": "fitting",
    "Target": "data",
    "Trained": "fitting",
    "train": "fitting",
}

__all__ = ["Compared", "Plane", "Trained", "train"]

__getattr__ = attributes(__name__, _HOME)
