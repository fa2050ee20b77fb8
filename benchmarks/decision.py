"""DecisionClassifier beside scikit-learn's TunedThresholdClassifierCV: one classifier, one set of
folds, one set of out-of-fold scores. How much time does the choice take, and how good is it?

Writes nothing; ``--rows N`` for other sizes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, cross_val_predict

import cutscore as cs
from cutscore.estimators import DecisionClassifier

AIMS = {"f1": "f1", "balanced_accuracy": "balanced", "accuracy": "accuracy"}


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose scores are there already: what is timed is the choice alone."""

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack((1 - X[:, 0], X[:, 0]))

    def predict(self, X: Any) -> Any:
        return (X[:, 0] >= 0.5).astype(int)


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    out = run()
    return time.perf_counter() - start, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    X, y = make_classification(
        arguments.rows, 20, n_informative=8, weights=[0.95], flip_y=0.02, random_state=0
    )
    folds = StratifiedKFold(5)
    p = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")[:, 1]
    given = Given().fit(p[:, None], y)
    s = cs.sweep(y, p)
    print(f"{arguments.rows:,} rows, {int(y.sum()):,} positive; {len(s):,} distinct scores")
    print(
        "aim                 scikit-learn  threshold alone        policy    values  (theirs, ours)"
    )
    for scoring, aim in AIMS.items():
        theirs, alone, ours = [], [], []
        for _ in range(arguments.turns):
            tuner = TunedThresholdClassifierCV(given, scoring=scoring, cv="prefit", refit=False)
            seconds, tuned = timed(lambda tuner=tuner: tuner.fit(p[:, None], y))
            theirs.append(seconds)
            alone.append(timed(lambda aim=aim: cs.choose(cs.sweep(y, p), aim))[0])
            classifier = DecisionClassifier(given, aim=aim, cv="prefit", calibration="isotonic")
            seconds, decided = timed(lambda c=classifier: c.fit(p[:, None], y))
            ours.append(seconds)
        values = [
            float(getattr(s.at(t), {"balanced": "balanced_rate"}.get(aim, aim)))
            for t in (tuned.best_threshold_, decided.threshold_)
        ]
        assert values[1] >= values[0], (scoring, values)
        a, b, c = min(theirs), min(alone), min(ours)
        print(
            f"{scoring:<18} {1000 * a:>9.1f} ms  {1000 * b:>7.2f} ms ({a / b:>5.0f} ×)"
            f"  {1000 * c:>7.1f} ms ({a / c:>5.1f} ×)  {values[0]:.6f}, {values[1]:.6f}"
        )


if __name__ == "__main__":
    main()
