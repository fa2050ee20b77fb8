"""What takes the rows themselves: scores of the same rows, resampled units, groups of rows.

A sweep has forgotten which score belongs to which row. To compare two scores of the same rows, to
draw whole patients instead of rows, or to count only the pairs inside a group, one needs them.
"""

from cutscore.paired.comparing import AucCovariance as AucCovariance
from cutscore.paired.comparing import Comparison as Comparison
from cutscore.paired.comparing import ContrastTest as ContrastTest
from cutscore.paired.comparing import auc_covariance as auc_covariance
from cutscore.paired.comparing import compare as compare
from cutscore.paired.comparing import compare_unpaired as compare_unpaired
from cutscore.paired.curves import CurveTest as CurveTest
from cutscore.paired.curves import compare_curves as compare_curves
from cutscore.paired.curves import compare_curves_unpaired as compare_curves_unpaired
from cutscore.paired.drawing import bootstrap_rows as bootstrap_rows
from cutscore.paired.groups import GroupAuc as GroupAuc
from cutscore.paired.groups import by_group as by_group
from cutscore.paired.groups import compare_groups as compare_groups
from cutscore.paired.rows import units as units
