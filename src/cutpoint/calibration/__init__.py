"""Calibration: from a score to a likelihood ratio, and with a prior to a probability."""

from cutpoint.calibration.calibrators import Affine as Affine
from cutpoint.calibration.calibrators import Beta as Beta
from cutpoint.calibration.calibrators import Calibrator as Calibrator
from cutpoint.calibration.calibrators import Chain as Chain
from cutpoint.calibration.calibrators import Gaussian as Gaussian
from cutpoint.calibration.calibrators import Monotone as Monotone
from cutpoint.calibration.comparison import MethodComparison as MethodComparison
from cutpoint.calibration.fitting import calibrate as calibrate
from cutpoint.calibration.fitting import cross_fit as cross_fit
from cutpoint.calibration.intervals import VennAbers as VennAbers
from cutpoint.calibration.intervals import venn_abers as venn_abers
from cutpoint.calibration.odds import llr as llr
from cutpoint.calibration.odds import probability as probability
from cutpoint.calibration.shift import PriorShift as PriorShift
from cutpoint.calibration.shift import prior_shift as prior_shift
