"""Drop-in for the functions of the same name in ``sklearn.metrics``: change the import line.

Signatures, orders, lengths, dtypes, warnings and errors are those of scikit-learn 1.9; the values
come from the native core. Plain input, which is nearly all there is, never imports scikit-learn.
Input that breaks a rule or has no plain answer (one class, NaN, a bad parameter) is handed on as it
came to scikit-learn's own function, which warns or raises in its own words. ``docs/metrics.md`` has
the details.
"""

from cutscore.metrics._areas import average_precision_score, roc_auc_score
from cutscore.metrics._curves import auc, det_curve, precision_recall_curve, roc_curve

__all__ = [
    "auc",
    "average_precision_score",
    "det_curve",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
]
