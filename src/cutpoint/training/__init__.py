"""From a table to a detector: learners compared on rows they have not seen, one fitted to all."""

from cutpoint.training.comparing import Compared as Compared
from cutpoint.training.data import Elsewhere as Elsewhere
from cutpoint.training.data import Target as Target
from cutpoint.training.fitting import Trained as Trained
from cutpoint.training.fitting import train as train
from cutpoint.training.known import learners as learners

__all__ = ["Compared", "Trained", "learners", "train"]
