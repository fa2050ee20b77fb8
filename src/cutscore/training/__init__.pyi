from cutscore.training.comparison import Compared as Compared
from cutscore.training.pipeline import Plane as Plane
from cutscore.training.pipeline import Trained as Trained
from cutscore.training.pipeline import train as train

__all__: list[str]
