"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from cutscore.training.comparison import Compared as Compared
from cutscore.training.data import Elsewhere as Elsewhere
from cutscore.training.data import Target as Target
from cutscore.training.fitting import Plane as Plane
from cutscore.training.fitting import Trained as Trained
from cutscore.training.fitting import train as train

__all__ = ["Compared", "Plane", "Trained", "train"]
