"""The scikit-learn contract, by scikit-learn's own checks, and what the wrapper adds to it."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import cutscore as cs
from cutscore import estimators
from cutscore.calibration import Affine, Beta, calibrate
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
from cutscore.sweeps.proper_scores import cllr, log_loss
from raising import finding, warned

X, Y = make_classification(
    600, n_features=6, n_informative=3, weights=[0.7], flip_y=0.1, random_state=0
)


@pytest.mark.slow
@parametrize_with_checks(
    [
        DecisionClassifier(LogisticRegression(), calibration="platt"),
        DecisionClassifier(GaussianNB(), calibration="auto"),
        DecisionClassifier(LinearSVC(), calibration="monotone"),
    ]
)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


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
    }
    assert expected_failed_checks(Structural("error")) == {}


@pytest.mark.parametrize("method", ["logistic", "platt", "gaussian", "monotone", "auto"])
def test_out_of_fold_scores_calibrate_the_final_classifier(method: str) -> None:
    d = DecisionClassifier(LinearSVC(), calibration=method, cv=4).fit(X, Y)
    scores = cross_val_predict(LinearSVC(), X, Y, cv=4, method="decision_function")
    options: Any = {"smooth": True} if method == "platt" else {}
    c = calibrate(cs.sweep(Y, scores), method, **options)
    final = LinearSVC().fit(X, Y).decision_function(X)
    expected = c.llr(final) + log(Y.mean() / (1 - Y.mean()))
    np.testing.assert_allclose(d.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert d.prior_ == pytest.approx(Y.mean())


def test_probabilities_and_decisions() -> None:
    d = DecisionClassifier(LinearSVC(), calibration="platt").fit(X, Y)
    odds, p = d.decision_function(X), d.predict_proba(X)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-15)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(d.predict_log_proba(X), np.log(p), rtol=1e-10)
    np.testing.assert_array_equal(d.predict(X), (p[:, 1] >= 0.5).astype(int))


def test_prior_and_costs_are_bound_late() -> None:
    d = DecisionClassifier(LinearSVC(), calibration="platt").fit(X, Y)
    odds = d.decision_function(X)
    d.set_params(prior=0.01)
    moved = log(0.01 / 0.99) - log(Y.mean() / (1 - Y.mean()))
    np.testing.assert_allclose(d.decision_function(X), odds + moved, rtol=1e-12, atol=1e-12)
    costs = cs.Costs(fp=1, fn=20)
    d.set_params(costs=costs)
    scores = LinearSVC().fit(X, Y).decision_function(X)
    expected = d.calibrator_.decide(scores, costs, 0.01)
    np.testing.assert_array_equal(d.predict(X).astype(bool), expected)
    assert 0 < expected.sum() < 600


def test_weights_are_repeated_rows() -> None:
    """With the folds given, integer weights and repeated rows are the same fit."""
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, 600)
    fold = np.arange(600) % 3
    again = np.repeat(np.arange(600), w)

    def splits(of: Any) -> Any:
        return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)]

    for method in ("platt", "monotone", "auto"):
        one = DecisionClassifier(LogisticRegression(tol=1e-12), calibration=method, cv=splits(fold))
        two = DecisionClassifier(
            LogisticRegression(tol=1e-12), calibration=method, cv=splits(fold[again])
        )
        one.fit(X, Y, sample_weight=w)
        two.fit(X[again], Y[again])
        np.testing.assert_allclose(
            one.decision_function(X), two.decision_function(X), rtol=1e-5, atol=1e-6
        )
        assert one.prior_ == pytest.approx(two.prior_)


def test_groups_stay_together() -> None:
    groups = np.arange(600) // 3
    folds = list(GroupKFold(4).split(X, Y, groups))
    one = DecisionClassifier(calibration="platt", cv=GroupKFold(4)).fit(X, Y, groups=groups)
    two = DecisionClassifier(calibration="platt", cv=folds).fit(X, Y)
    assert one.calibrator_ == two.calibrator_


def test_weights_that_the_classifier_does_not_take() -> None:
    w = np.linspace(0.5, 2, 600)
    with warned("weights-unused", UserWarning, model="KNeighborsClassifier", hint="") as said:
        d = DecisionClassifier(KNeighborsClassifier(), calibration="platt").fit(X, Y, sample_weight=w)
    assert len(said) == 1
    with warned("weights-unused", UserWarning, model="Pipeline"):
        DecisionClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y, w)
    plain = DecisionClassifier(KNeighborsClassifier(), calibration="platt").fit(X, Y)
    assert d.prior_ == pytest.approx(np.average(Y, weights=w))
    assert not np.allclose(d.predict_proba(X), plain.predict_proba(X))


def test_prefit() -> None:
    inner = LinearSVC().fit(X[:300], Y[:300])
    d = DecisionClassifier(inner, calibration="platt", cv="prefit").fit(X[300:], Y[300:])
    assert d.estimator_ is inner
    c = calibrate(cs.sweep(Y[300:], inner.decision_function(X[300:])), "platt", smooth=True)
    assert d.calibrator_ == c
    frozen = DecisionClassifier(FrozenEstimator(inner), calibration="platt").fit(X[300:], Y[300:])
    assert isinstance(frozen.calibrator_, Affine)
    np.testing.assert_allclose(frozen.predict_proba(X), d.predict_proba(X), rtol=1e-12)
    with finding("bad-argument", parameter="y"):
        DecisionClassifier(inner, cv="prefit").fit(X, Y + 5)
    with pytest.raises(ValueError, match="not fitted"):
        DecisionClassifier(LinearSVC(), cv="prefit").fit(X, Y)


def test_beta_reads_probabilities() -> None:
    d = DecisionClassifier(LogisticRegression(), calibration="beta").fit(X, Y)
    p = cross_val_predict(LogisticRegression(), X, Y, method="predict_proba")[:, 1]
    assert isinstance(d.calibrator_, Beta)
    assert d.calibrator_ == calibrate(cs.sweep(Y, p), "beta", smooth=True)
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba, which 'beta' needs"):
        DecisionClassifier(LinearSVC(), calibration="beta").fit(X, Y)


def test_classifiers_of_either_kind() -> None:
    for inner in (DecisionTreeClassifier(random_state=0), GaussianNB(), LinearSVC(), None):
        d = DecisionClassifier(inner).fit(X, Y)
        assert cs.sweep(Y, d.decision_function(X)).auc > 0.7
        assert d.calibrator_.comparison.chosen == d.calibrator_.method

    class Silent(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
            return self

    with pytest.raises(TypeError, match="Silent has no score: calibration needs"):
        DecisionClassifier(Silent()).fit(X, Y)


def test_it_calibrates() -> None:
    """Naive Bayes on copied columns is overconfident; calibrated, it is not."""
    wide = np.hstack([X] * 5)
    half = np.arange(600) < 300
    raw = GaussianNB().fit(wide[half], Y[half]).predict_proba(wide[~half])[:, 1]
    d = DecisionClassifier(GaussianNB()).fit(wide[half], Y[half])
    ours = d.predict_proba(wide[~half])[:, 1]
    s_raw, s_ours = (cs.sweep(Y[~half], np.clip(p, 1e-12, 1 - 1e-12)) for p in (raw, ours))
    assert log_loss(s_ours) < 0.6 * log_loss(s_raw)
    llr = d.decision_function(wide[~half]) - log(d.prior_ / (1 - d.prior_))
    assert cllr(cs.sweep(Y[~half], llr)) < 1


def test_labels_of_any_kind() -> None:
    names = np.where(Y == 1, "spam", "ham")
    d = DecisionClassifier(LinearSVC(), calibration="platt").fit(X, names)
    assert d.classes_.tolist() == ["ham", "spam"]
    plain = DecisionClassifier(LinearSVC(), calibration="platt").fit(X, Y)
    np.testing.assert_array_equal(d.predict(X) == "spam", plain.predict(X) == 1)


def test_tables_and_sparse_matrices() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    d = DecisionClassifier(inner, calibration="platt").fit(frame, pd.Series(Y))
    assert d.feature_names_in_.tolist() == list("abcdef")
    assert d.n_features_in_ == 6
    dense = DecisionClassifier(LogisticRegression(), calibration="platt").fit(X, Y)
    thin = DecisionClassifier(LogisticRegression(), calibration="platt").fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(
        thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-4
    )


def test_splitters() -> None:
    cv = KFold(3, shuffle=True, random_state=0)
    one = DecisionClassifier(LinearSVC(), calibration="platt", cv=cv).fit(X, Y)
    two = DecisionClassifier(LinearSVC(), calibration="platt", cv=StratifiedKFold(3)).fit(X, Y)
    assert one.calibrator_ != two.calibrator_
    with finding("bad-argument", parameter="cv"):
        DecisionClassifier(LinearSVC(), cv=ShuffleSplit(3, random_state=0)).fit(X, Y)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*3 classes"):
        DecisionClassifier().fit(X, np.arange(600) % 3)
    with finding("one-class", what="DecisionClassifier"):
        DecisionClassifier().fit(X, np.zeros(600))
    with finding("one-class", need="rows of two classes"):
        DecisionClassifier().fit(X, Y, sample_weight=Y)
    with finding("bad-argument", parameter="method"):
        DecisionClassifier(calibration="sigmoid").fit(X, Y)
    with finding("bad-argument", parameter="prior", value=2):
        DecisionClassifier(prior=2).fit(X, Y).predict(X)
    assert clone(DecisionClassifier(LinearSVC(), costs=cs.Costs(fp=1, fn=2))).costs.fn == 2


@pytest.mark.parametrize("costs", [{"fp": 5, "fn": 120}, "cost", (1, 2)])
def test_costs_that_are_none_show_at_the_fit(costs: Any) -> None:
    with finding("bad-argument", parameter="costs"):
        DecisionClassifier(calibration="platt", costs=costs).fit(X, Y)
    late = DecisionClassifier(calibration="platt").fit(X, Y).set_params(costs=costs)
    with finding("bad-argument", parameter="costs"):
        late.predict(X)
    with finding("bad-argument", parameter="prior", value=3):
        DecisionClassifier(calibration="platt", prior=3).fit(X, Y)


# ------------------------------------------------------------------------- which class is positive

COSTS = cs.Costs(fp=5, fn=12)
APART = X + Y[:, None]
FRAUD = np.where(Y == 1, "fraud", "legit")  # "legit" sorts last
# The settings that treat the classes differently, and how each is named in the error.
ONE_SIDED = [
    (DecisionClassifier(calibration="platt", costs=COSTS), "costs"),
    (DecisionClassifier(calibration="platt", prior=0.1), "prior"),
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


def test_costs_and_priors_that_come_late_need_a_positive_class() -> None:
    d = DecisionClassifier(calibration="platt").fit(APART, FRAUD)
    bank = DetectorBank().fit(APART, FRAUD)
    for model in (d, bank):
        model.set_params(costs=COSTS)
        with finding("bad-argument", parameter="y"):
            model.predict(APART)
    d.set_params(costs=None, prior=0.01)
    for ask in (d.predict, d.decision_function, d.predict_proba):
        with finding("bad-argument", parameter="y"):
            ask(APART)


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
