"""DecisionClassifier: scikit-learn's contract, the exact choice on held-out scores, its policy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.calibration import Beta, calibrate
from cutscore.estimators import DecisionClassifier
from cutscore.sweeps.proper_scores import cllr, log_loss
from raising import finding, warned

X, Y = make_classification(
    600, n_features=6, n_informative=3, weights=[0.7], flip_y=0.1, random_state=0
)
NAMES = np.where(Y == 1, "fraud", "legit")  # "legit" sorts last
COSTS = cs.Costs(fp=1, fn=8)


@pytest.mark.slow
@parametrize_with_checks(
    [
        DecisionClassifier(LogisticRegression(), calibration="platt"),
        DecisionClassifier(GaussianNB()),
        DecisionClassifier(LinearSVC(), calibration="monotone"),
    ]
)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# --------------------------------------------------------------------------------------- the choice


@pytest.mark.parametrize(
    "aim",
    [
        "balanced",
        "f1",
        COSTS,
        "precision@50",
        cs.Aim("recall", "fpr <= 10 %", confidence=0.9),
        cs.Aim(COSTS, prior=0.2),
        lambda tp, fp, fn, tn: 2 * tp - 0.3 * fp - fn + tn,
    ],
)
def test_the_threshold_is_the_best_of_the_out_of_fold_scores(aim: Any) -> None:
    d = DecisionClassifier(LinearSVC(), aim=aim, cv=4, calibration="platt").fit(X, Y)
    scores = cross_val_predict(LinearSVC(), X, Y, cv=4, method="decision_function")
    point = cs.choose(cs.sweep(Y, scores), aim)
    assert d.threshold_ == point.threshold
    assert d.policy_.point.confusion == point.confusion
    final = LinearSVC().fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(d.predict(X), final >= point.threshold)
    np.testing.assert_allclose(d.decision_function(X), final - point.threshold)


@pytest.mark.parametrize("calibration", ["logistic", "platt", "monotone", "auto"])
def test_out_of_fold_scores_calibrate_the_final_classifier(calibration: str) -> None:
    d = DecisionClassifier(LinearSVC(), calibration=calibration, cv=4).fit(X, Y)
    scores = cross_val_predict(LinearSVC(), X, Y, cv=4, method="decision_function")
    options: Any = {"smooth": True} if calibration == "platt" else {}
    c = calibrate(cs.sweep(Y, scores), calibration, **options)
    final = LinearSVC().fit(X, Y).decision_function(X)
    odds = c.llr(final) + log(Y.mean() / (1 - Y.mean()))
    np.testing.assert_allclose(d.log_odds(X), odds, rtol=1e-12, atol=1e-12)
    p = d.predict_proba(X)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-15)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(d.predict_log_proba(X), np.log(p), rtol=1e-10)


def test_without_an_aim_the_more_probable_class_is_predicted() -> None:
    for calibration in ("platt", "isotonic"):
        d = DecisionClassifier(LinearSVC(), calibration=calibration).fit(X, Y)
        np.testing.assert_array_equal(d.predict(X), d.predict_proba(X).argmax(axis=1))
    worse = DecisionClassifier(FrozenEstimator(LinearSVC().fit(X, 1 - Y)), calibration="platt").fit(
        X, Y
    )
    assert isinstance(worse.policy_.calibrator, cs.Monotone)
    assert not worse.predict(X).any()  # worse than chance: the more frequent class


@pytest.mark.slow
def test_beside_the_tuner_of_scikit_learn() -> None:
    """On the same out-of-fold scores the value is never lower than that of its grid."""
    folds = list(StratifiedKFold(5).split(X, Y))
    p = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="predict_proba")[:, 1]
    s = cs.sweep(Y, p)
    for scoring, aim in (("f1", "f1"), ("balanced_accuracy", "balanced_rate")):
        theirs = TunedThresholdClassifierCV(LogisticRegression(), scoring=scoring, cv=folds)
        ours = DecisionClassifier(
            LogisticRegression(), aim=aim, cv=folds, response_method="predict_proba"
        )
        at = s.at(theirs.fit(X, Y).best_threshold_)
        assert getattr(s.at(ours.fit(X, Y).threshold_), aim) >= getattr(at, aim)


def test_a_given_threshold_decides_as_the_fixed_one_of_scikit_learn() -> None:
    options = {"threshold": 0.2, "response_method": "predict_proba"}
    theirs = FixedThresholdClassifier(LogisticRegression(), **options).fit(X, Y)
    ours = DecisionClassifier(LogisticRegression(), **options).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.policy_.given
    assert 0 < ours.policy_.promises["recall"].value < 1


def test_folds_have_thresholds_of_their_own() -> None:
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    d = DecisionClassifier(LinearSVC(), aim="f1", cv=folds).fit(X, Y)
    for (train, test), threshold in zip(folds, d.thresholds_by_fold_, strict=True):
        scores = LinearSVC().fit(X[train], Y[train]).decision_function(X[test])
        assert threshold == cs.choose(cs.sweep(Y[test], scores), "f1").threshold
    assert len(d.stability_.threshold) == 200
    first = Y[: len(Y) // 3]
    halves = [(np.flatnonzero(Y >= 0)[len(first) :], np.arange(len(first)))]
    rest = (np.arange(len(first)), np.arange(len(first), len(Y)))
    one_sided = np.concatenate((np.zeros_like(first), Y[len(first) :]))
    with pytest.raises(ValueError, match="class"):
        DecisionClassifier(LinearSVC(), cv=[*halves, rest]).fit(X, one_sided)


def test_a_single_held_out_set() -> None:
    split = StratifiedShuffleSplit(1, test_size=0.4, random_state=3)
    train, test = next(split.split(X, Y))
    d = DecisionClassifier(LinearSVC(), aim="f1", cv=0.4, random_state=3, refit=False).fit(X, Y)
    inner = LinearSVC().fit(X[train], Y[train])
    np.testing.assert_allclose(d.estimator_.coef_, inner.coef_)
    s = cs.sweep(Y[test], inner.decision_function(X[test]))
    assert d.threshold_ == cs.choose(s, "f1").threshold
    refitted = DecisionClassifier(LinearSVC(), aim="f1", cv=0.4, random_state=3).fit(X, Y)
    assert refitted.threshold_ == d.threshold_
    np.testing.assert_allclose(refitted.estimator_.coef_, LinearSVC().fit(X, Y).coef_)
    with finding("bad-argument", parameter="refit"):
        DecisionClassifier(refit=False).fit(X, Y)


def test_infinite_thresholds_keep_the_order_of_scores() -> None:
    for threshold, flagged in ((-np.inf, True), (np.inf, False)):
        d = DecisionClassifier(LinearSVC(), threshold=threshold, calibration="platt").fit(X, Y)
        assert (d.predict(X) == flagged).all()
        assert ((d.decision_function(X) > 0) == flagged).all()
        order = np.argsort(d.scores(X))
        assert (np.diff(d.decision_function(X)[order]) >= 0).all()


# --------------------------------------------------------------------------------------- the policy


def test_a_revision_fits_nothing_again(tmp_path: Any) -> None:
    d = DecisionClassifier(LinearSVC(), aim=COSTS, calibration="platt").fit(X, Y)
    other = cs.Costs(fp=1, fn=40)
    late = d.revised(costs=other, prior=0.05)
    again = DecisionClassifier(LinearSVC(), aim=cs.Aim(other, prior=0.05), calibration="platt")
    again.fit(X, Y)
    assert late.estimator_ is d.estimator_
    assert late.threshold_ == again.threshold_
    np.testing.assert_array_equal(late.predict(X), again.predict(X))
    np.testing.assert_allclose(late.predict_proba(X), again.predict_proba(X))
    assert d.threshold_ != late.threshold_  # the first is as it was
    assert clone(late).fit(X, Y).threshold_ == late.threshold_
    d.policy_.save(tmp_path / "policy.json")
    saved = cs.Policy.load(tmp_path / "policy.json")
    np.testing.assert_array_equal(saved.decide(d.scores(X)), d.predict(X) == 1)
    assert saved.provenance.scores == "LinearSVC, out-of-fold in 5 folds"
    assert (saved.labels.positive, saved.labels.negative) == (1, 0)


def test_it_pickles_clones_searches_and_stands_in_pipelines() -> None:
    d = DecisionClassifier(LinearSVC(), aim=cs.Aim("recall", "fpr <= 0.2")).fit(X, Y)
    back = pickle.loads(pickle.dumps(d))
    np.testing.assert_array_equal(back.predict(X), d.predict(X))
    assert back.threshold_ == d.threshold_
    assert clone(d).aim == d.aim
    search = GridSearchCV(
        DecisionClassifier(LogisticRegression(), calibration="platt"),
        {"estimator__C": [0.01, 1.0], "aim": ["f1", COSTS]},
        scoring="f1",
        cv=3,
    )
    assert search.fit(X, Y).best_params_["aim"] == "f1"
    line = make_pipeline(StandardScaler(), DecisionClassifier(LinearSVC(), calibration="platt"))
    assert cross_val_score(line, X, Y, scoring="roc_auc", cv=3).min() > 0.6


def test_it_calibrates() -> None:
    """Naive Bayes on copied columns is overconfident; calibrated, it is not."""
    wide = np.hstack([X] * 5)
    half = np.arange(600) < 300
    raw = GaussianNB().fit(wide[half], Y[half]).predict_proba(wide[~half])[:, 1]
    d = DecisionClassifier(GaussianNB()).fit(wide[half], Y[half])
    ours = d.predict_proba(wide[~half])[:, 1]
    s_raw, s_ours = (cs.sweep(Y[~half], np.clip(p, 1e-12, 1 - 1e-12)) for p in (raw, ours))
    assert log_loss(s_ours) < 0.6 * log_loss(s_raw)
    llr = d.log_odds(wide[~half]) - log(d.policy_.prior / (1 - d.policy_.prior))
    assert cllr(cs.sweep(Y[~half], llr)) < 1


# ------------------------------------------------------------------------- weights, groups, routing


def test_weights_are_repeated_rows() -> None:
    """With the folds given, integer weights and repeated rows are the same fit."""
    rng = np.random.default_rng(0)
    w = rng.integers(0, 4, 600)
    fold = np.arange(600) % 3
    again = np.repeat(np.arange(600), w)

    def splits(of: Any) -> Any:
        return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)]

    for calibration in ("platt", "monotone"):
        one, two = (
            DecisionClassifier(
                LogisticRegression(tol=1e-12), aim=COSTS, calibration=calibration, cv=splits(of)
            )
            for of in (fold, fold[again])
        )
        one.fit(X, Y, sample_weight=w)
        two.fit(X[again], Y[again])
        np.testing.assert_allclose(one.log_odds(X), two.log_odds(X), rtol=1e-5, atol=1e-6)
        assert one.threshold_ == pytest.approx(two.threshold_)


def test_groups_stay_together() -> None:
    groups = np.arange(600) // 3
    folds = list(GroupKFold(4).split(X, Y, groups))
    one = DecisionClassifier(calibration="platt", cv=GroupKFold(4)).fit(X, Y, groups=groups)
    two = DecisionClassifier(calibration="platt", cv=folds).fit(X, Y)
    assert one.policy_.calibrator == two.policy_.calibrator
    assert one.threshold_ == two.threshold_


def test_guarantees_count_clusters() -> None:
    groups = np.arange(600) // 30
    aim = cs.Aim("recall", "fpr <= 0.3", confidence=0.9)
    folds = list(GroupKFold(4).split(X, Y, groups))
    rows = DecisionClassifier(LinearSVC(), aim=aim, cv=folds).fit(X, Y)
    clusters = DecisionClassifier(LinearSVC(), aim=aim, cv=folds).fit(X, Y, groups=groups)
    assert clusters.policy_.evidence.units == 20
    assert clusters.threshold_ > rows.threshold_  # 20 clusters show less than 600 rows


def test_weights_that_the_classifier_does_not_take() -> None:
    w = np.linspace(0.5, 2, 600)
    with warned("weights-unused", UserWarning, model="KNeighborsClassifier", hint="") as said:
        d = DecisionClassifier(KNeighborsClassifier(), calibration="platt")
        d.fit(X, Y, sample_weight=w)
    assert len(said) == 1
    assert [one.filename for one in said] == [__file__]
    with warned("weights-unused", UserWarning, model="Pipeline"):
        DecisionClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y, w)
    assert d.policy_.prior == pytest.approx(np.average(Y, weights=w))


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what it was fitted with."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, amount: Any = None) -> Recorder:
        self.seen_ = (len(X), sample_weight, amount)
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, 0] + X[:, 1]


def test_metadata_is_routed() -> None:
    """Each of the classifier and the splitter gets what it asks for, row by row."""
    w, amount, groups = np.linspace(1, 2, 600), np.arange(600.0), np.arange(600) // 3
    with config_context(enable_metadata_routing=True):
        inner = Recorder().set_fit_request(sample_weight=True, amount=True)
        d = DecisionClassifier(inner, cv=GroupKFold(4), calibration="platt")
        d.fit(X, Y, sample_weight=w, groups=groups, amount=amount)
        rows, weights, amounts = d.estimator_.seen_
        assert rows == 600
        np.testing.assert_array_equal(weights, w)
        np.testing.assert_array_equal(amounts, amount)
        shy = Recorder().set_fit_request(sample_weight=False, amount=False)
        d = DecisionClassifier(shy, cv=GroupKFold(4), calibration="platt")
        d.fit(X, Y, sample_weight=w, groups=groups)
        assert d.estimator_.seen_ == (600, None, None)
        assert d.policy_.prior == pytest.approx(np.average(Y, weights=w))
        with pytest.raises(TypeError, match="unexpected"):
            d.fit(X, Y, groups=groups, amount=amount)


# ------------------------------------------------------------------- classifiers, labels, tables


def test_prefit() -> None:
    inner = LinearSVC().fit(X[:300], Y[:300])
    d = DecisionClassifier(inner, aim="f1", calibration="platt", cv="prefit").fit(X[300:], Y[300:])
    assert d.estimator_ is inner
    s = cs.sweep(Y[300:], inner.decision_function(X[300:]))
    assert d.threshold_ == cs.choose(s, "f1").threshold
    assert d.policy_.provenance.scores == "LinearSVC, held out"
    frozen = DecisionClassifier(FrozenEstimator(inner), aim="f1", calibration="platt")
    frozen.fit(X[300:], Y[300:])
    assert frozen.threshold_ == d.threshold_
    np.testing.assert_allclose(frozen.predict_proba(X), d.predict_proba(X), rtol=1e-12)
    with finding("bad-argument", parameter="y"):
        DecisionClassifier(inner, cv="prefit").fit(X, Y + 5)
    with pytest.raises(ValueError, match="not fitted"):
        DecisionClassifier(LinearSVC(), cv="prefit").fit(X, Y)


def test_which_score_is_taken() -> None:
    d = DecisionClassifier(LogisticRegression(), calibration="beta").fit(X, Y)
    p = cross_val_predict(LogisticRegression(), X, Y, method="predict_proba")[:, 1]
    assert isinstance(d.policy_.calibrator, Beta)
    assert d.policy_.calibrator == calibrate(cs.sweep(Y, p), "beta", smooth=True)
    assert 0 < d.threshold_ < 1
    for inner in (DecisionTreeClassifier(random_state=0), GaussianNB(), LinearSVC(), None):
        one = DecisionClassifier(inner, calibration="platt").fit(X, Y)
        assert cs.sweep(Y, one.decision_function(X)).auc > 0.7
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba"):
        DecisionClassifier(LinearSVC(), response_method="predict_proba").fit(X, Y)
    with finding("bad-argument", parameter="response_method"):
        DecisionClassifier(LinearSVC(), response_method="predict").fit(X, Y)


@pytest.mark.parametrize("inner", [LinearSVC(), GaussianNB()])
def test_the_positive_class_is_named(inner: Any) -> None:
    named = DecisionClassifier(inner, aim=COSTS, pos_label="fraud", calibration="platt")
    named.fit(X, NAMES)
    plain = DecisionClassifier(inner, aim=COSTS, calibration="platt").fit(X, Y)
    np.testing.assert_array_equal(named.predict(X) == "fraud", plain.predict(X) == 1)
    np.testing.assert_allclose(named.predict_proba(X)[:, 0], plain.predict_proba(X)[:, 1])
    assert ((named.decision_function(X) > 0) == (named.predict(X) == "legit")).all()
    assert (named.policy_.labels.positive, named.policy_.labels.negative) == ("fraud", "legit")


@pytest.mark.parametrize(
    "aim", [COSTS, "f1", cs.Aim(prior=0.1), cs.Aim("accuracy", "fpr <= 0.1"), "recall@10 %"]
)
def test_an_aim_that_treats_classes_differently_needs_one(aim: Any) -> None:
    """The alphabet is no reason to take 'legit' for the class whose misses cost 8."""
    with finding("bad-argument", parameter="pos_label"):
        DecisionClassifier(aim=aim).fit(X, NAMES)
    with finding("bad-argument", parameter="pos_label", value="Fraud"):
        DecisionClassifier(aim=aim, pos_label="Fraud").fit(X, NAMES)
    for labels in (NAMES == "fraud", 2 * Y - 1, Y.astype(float), Y.tolist(), pd.Series(Y)):
        DecisionClassifier(GaussianNB(), aim=aim, calibration="platt").fit(X, labels)


@pytest.mark.parametrize("aim", [None, "accuracy", "mcc", "youden", cs.Costs(fp=2, fn=2)])
def test_an_aim_that_treats_classes_alike_needs_none(aim: Any) -> None:
    d = DecisionClassifier(GaussianNB(), aim=aim, calibration="platt").fit(X, NAMES)
    assert set(d.predict(X)) == {"fraud", "legit"}


def test_tables_and_sparse_matrices() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    d = DecisionClassifier(inner, calibration="platt").fit(frame, pd.Series(Y))
    assert d.feature_names_in_.tolist() == list("abcdef")
    assert d.n_features_in_ == 6
    dense = DecisionClassifier(LogisticRegression(), calibration="platt").fit(X, Y)
    thin = DecisionClassifier(LogisticRegression(), calibration="platt")
    thin.fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(thin.log_odds(sparse.csr_matrix(X)), dense.log_odds(X), atol=1e-3)


def test_splitters() -> None:
    cv = KFold(3, shuffle=True, random_state=0)
    one = DecisionClassifier(LinearSVC(), calibration="platt", cv=cv).fit(X, Y)
    two = DecisionClassifier(LinearSVC(), calibration="platt", cv=StratifiedKFold(3)).fit(X, Y)
    assert one.policy_.calibrator != two.policy_.calibrator
    with finding("bad-argument", parameter="cv"):
        DecisionClassifier(LinearSVC(), cv=ShuffleSplit(3, random_state=0)).fit(X, Y)


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    one, two = (DecisionClassifier(LinearSVC(), cv=3, n_jobs=n).fit(X, Y) for n in (None, 2))
    assert one.threshold_ == two.threshold_


def test_bad_input() -> None:
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*3 classes"):
        DecisionClassifier().fit(X, np.arange(600) % 3)
    with finding("one-class", what="DecisionClassifier"):
        DecisionClassifier().fit(X, np.zeros(600))
    with finding("one-class", need="rows of two classes"):
        DecisionClassifier().fit(X, Y, sample_weight=Y)
    with finding("bad-argument", parameter="method"):
        DecisionClassifier(calibration="sigmoid").fit(X, Y)
    with finding("bad-argument", parameter="objective"):
        DecisionClassifier(aim=(1, 2)).fit(X, Y)
    with finding("bad-argument", parameter="threshold"):
        DecisionClassifier(threshold=float("nan")).fit(X, Y)


def test_costs_of_each_row() -> None:
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.05
    X = rng.normal(size=(4000, 3))
    X[:, 0] += 1.8 * y
    amount = rng.lognormal(3.5, 1, 4000).round(2)
    costs = cs.Costs(fp=4, fn="0.8*amount")
    model = DecisionClassifier(LogisticRegression(), aim=costs).fit(X, y, amount=amount)
    p = model.policy_
    flagged = model.predict(X, amount=amount)
    assert flagged.tolist() == p.decide(model.scores(X), columns={"amount": amount}).tolist()
    assert flagged.tolist() == (model.decision_function(X, amount=amount) >= 0).tolist()
    assert len(model.thresholds_by_fold_) == 5
    assert p.promises["saving"].low > 0
    # Those of a frame are its own columns; routing hands over the amount of a pipeline's rows.
    frame = pd.DataFrame({"a": X[:, 0], "amount": amount})
    by_frame = DecisionClassifier(LogisticRegression(max_iter=1000), aim=costs).fit(frame, y)
    assert by_frame.predict(frame).any()
    with config_context(enable_metadata_routing=True):
        step = DecisionClassifier(LogisticRegression(), aim=costs)
        step = step.set_fit_request(amount=True).set_predict_request(amount=True)
        whole = make_pipeline(StandardScaler(), step).fit(X, y, amount=amount)
        assert abs(int(whole.predict(X, amount=amount).sum()) - int(flagged.sum())) <= 5
    with finding("bad-argument", parameter="aim"):
        model.predict(X)
    with finding("undefined"):
        _ = model.stability_
