"""The scikit-learn contract, by scikit-learn's own checks, and what the wrapper adds to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import check_estimator

import cutscore as cs
from cutscore import estimators
from cutscore.estimators import (
    DecisionClassifier,
    DetectorBank,
    GaussianDiscriminant,
    LeastSquares,
    Logistic,
    Perceptron,
    Structural,
    expected_failed_checks,
)
from raising import finding, warned

X, Y = make_classification(
    600, n_features=6, n_informative=3, weights=[0.7], flip_y=0.1, random_state=0
)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in estimators.__all__ if n[0].isupper()])
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_passes_the_checks_of_scikit_learn(name: str) -> None:
    """All of them as they come. What is excused fails, or the excuse is none."""
    estimator = getattr(estimators, name)()
    excused = expected_failed_checks(estimator)
    results = check_estimator(estimator, expected_failed_checks=excused, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    excused_now = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert excused_now == set(excused)
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {
        "check_array_api_input"
    }
    assert len(results) > 50


def test_what_is_excused_is_one_short_table() -> None:
    excused = {
        name: sorted(expected_failed_checks(getattr(estimators, name)()))
        for name in estimators.__all__
        if name[0].isupper()
    }
    equivalence = "check_sample_weight_equivalence_on_{}_data"
    assert {name: checks for name, checks in excused.items() if checks} == {
        "Perceptron": [equivalence.format("dense"), equivalence.format("sparse")],
        "Structural": ["check_class_weight_classifiers"],
        "StructuralCV": ["check_class_weight_classifiers"],
    }
    assert expected_failed_checks(Structural("error")) == {}


# ------------------------------------------------------------------------- which class is positive

COSTS = cs.Costs(fp=5, fn=12)
APART = X + Y[:, None]
FRAUD = np.where(Y == 1, "fraud", "legit")  # "legit" sorts last
# The settings that treat the classes differently, and how each is named in the error.
ONE_SIDED = [
    (DetectorBank(costs=COSTS), "costs=Costs(...)"),
    (Logistic(class_weight=COSTS), "class_weight=Costs(...)"),
    (LeastSquares(class_weight=COSTS), "class_weight=Costs(...)"),
    (Perceptron(variant="averaged", class_weight=COSTS), "class_weight=Costs(...)"),
    (Structural("error", class_weight=COSTS), "class_weight=Costs(...)"),
    (GaussianDiscriminant(class_weight=COSTS), "class_weight=Costs(...)"),
    (GaussianDiscriminant(prior=0.1), "prior"),
    (DecisionClassifier(Logistic(class_weight=COSTS)), "class_weight=Costs(...)"),
]


@pytest.mark.parametrize(("estimator", "what"), ONE_SIDED)
def test_costs_and_priors_need_a_positive_class(estimator: Any, what: str) -> None:
    """The alphabet is no reason to take 'legit' for the class whose misses cost 12."""
    rule = f"be 0/1, False/True or -1/1 for {what}, which needs a positive class"
    with finding("bad-argument", parameter="y", rule=rule, value="'fraud' and 'legit'"):
        clone(estimator).fit(APART, FRAUD)
    for labels in (Y + 1, Y.astype(str), 2 * Y):
        with finding("bad-argument", parameter="y", rule=rule):
            clone(estimator).fit(APART, labels)


@pytest.mark.parametrize(("estimator", "_"), ONE_SIDED)
def test_labels_that_say_which_is_positive(estimator: Any, _: str) -> None:
    """The way out that the error shows, and all that needs none, decide alike."""
    wanted = clone(estimator).fit(APART, Y).predict(APART)
    assert 0 < wanted.sum() < len(wanted)
    for labels in (FRAUD == "fraud", 2 * Y - 1, Y.astype(float), Y.tolist(), pd.Series(Y)):
        model = clone(estimator).fit(APART, labels)
        np.testing.assert_array_equal(model.predict(APART) == model.classes_[1], wanted == 1)


def test_costs_that_come_late_need_a_positive_class() -> None:
    bank = DetectorBank().fit(APART, FRAUD).set_params(costs=COSTS)
    with finding("bad-argument", parameter="y"):
        bank.predict(APART)


def test_what_goes_by_label_needs_no_positive_class() -> None:
    """Balanced classes, weights and costs by label: no class is the positive one."""
    by_label = {"fraud": {"legit": 12}, "legit": {"fraud": 5}}
    named = DetectorBank(costs=by_label, prior={"fraud": 0.1, "legit": 0.9}).fit(APART, FRAUD)
    plain = DetectorBank(costs=COSTS, prior=[0.9, 0.1]).fit(APART, Y)
    np.testing.assert_array_equal(named.predict(APART) == "fraud", plain.predict(APART) == 1)
    one = Logistic(class_weight={"fraud": 12, "legit": 5}).fit(APART, FRAUD)
    two = Logistic(class_weight=COSTS).fit(APART, Y)
    np.testing.assert_allclose(one.coef_, -two.coef_, rtol=1e-4)
    even = Logistic(class_weight="balanced").fit(APART, FRAUD)
    assert even.classes_.tolist() == ["fraud", "legit"]


@pytest.mark.parametrize("measure", ["f1", cs.f(2), "precision@5%", "recall@5%", "prbep"])
def test_a_measure_of_the_positives_says_which_these_are(measure: Any) -> None:
    with warned("positive-assumed", UserWarning, positive="legit", negative="fraud") as said:
        one = Structural(measure, cv=2, tol=0.1).fit(APART, FRAUD)
    assert [w.filename for w in said] == [__file__]
    two = Structural(measure, cv=2, tol=0.1).fit(APART, FRAUD == "legit")  # says nothing
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("measure", ["auc", "balanced", "error"])
def test_a_measure_of_both_classes_says_nothing(measure: str) -> None:
    assert Structural(measure, cv=2, tol=0.1).fit(APART, FRAUD).classes_[1] == "legit"
