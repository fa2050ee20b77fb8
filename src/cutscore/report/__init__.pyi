from cutscore.comparison.class_samples import ClassSample as ClassSample
from cutscore.report.analysis import summarise as summarise
from cutscore.report.analysis import summarise_sweeps as summarise_sweeps
from cutscore.report.page import render as render
from cutscore.report.policies import summarise_policy as summarise_policy
from cutscore.report.summary import CostOfRule as CostOfRule
from cutscore.report.summary import Difference as Difference
from cutscore.report.summary import Estimate as Estimate
from cutscore.report.summary import GroupResult as GroupResult
from cutscore.report.summary import GroupResults as GroupResults
from cutscore.report.summary import Groups as Groups
from cutscore.report.summary import Importance as Importance
from cutscore.report.summary import Learner as Learner
from cutscore.report.summary import Learners as Learners
from cutscore.report.summary import NormalSummary as NormalSummary
from cutscore.report.summary import PeriodLimit as PeriodLimit
from cutscore.report.summary import ProbabilityGrid as ProbabilityGrid
from cutscore.report.summary import RowCostResults as RowCostResults
from cutscore.report.summary import ScoreSummary as ScoreSummary
from cutscore.report.summary import Summary as Summary
from cutscore.report.summary import Weight as Weight
from cutscore.report.training import summarise_fit as summarise_fit

__all__: list[str]
