"""Calibration: from a score to a likelihood ratio, and with a prior to a probability."""

from cutscore.calibration.calibrators import Affine as Affine
from cutscore.calibration.calibrators import Beta as Beta
from cutscore.calibration.calibrators import Calibrator as Calibrator
from cutscore.calibration.calibrators import Chain as Chain
from cutscore.calibration.calibrators import Gaussian as Gaussian
from cutscore.calibration.calibrators import Monotone as Monotone
from cutscore.calibration.comparison import MethodComparison as MethodComparison
from cutscore.calibration.fitting import calibrate as calibrate
from cutscore.calibration.fitting import cross_fit as cross_fit
from cutscore.calibration.intervals import VennAbers as VennAbers
from cutscore.calibration.intervals import venn_abers as venn_abers
from cutscore.calibration.line import CalibrationLine as CalibrationLine
from cutscore.calibration.line import calibration_line as calibration_line
from cutscore.calibration.odds import llr as llr
from cutscore.calibration.odds import probability as probability
from cutscore.calibration.prevalence import CorrectedPrevalence as CorrectedPrevalence
from cutscore.calibration.prevalence import corrected_prevalence as corrected_prevalence
from cutscore.calibration.shift import PriorShift as PriorShift
from cutscore.calibration.shift import prior_shift as prior_shift
