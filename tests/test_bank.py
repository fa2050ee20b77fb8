"""The one-vs-rest bank: posteriors against known truth, decisions against brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, logit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.estimators import DecisionClassifier
from cutscore.estimators._bank import DetectorBank, _project
from raising import finding, warned

MEANS = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.8]])
SHARES = np.array([0.5, 0.3, 0.2])


def gaussians(n: int, seed: int, shares: Any = SHARES) -> tuple[Any, Any]:
    """Three classes of unit spread around ``MEANS``."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=shares)
    return MEANS[y] + rng.standard_normal((n, 2)), y


def log_densities(X: Any) -> Any:
    """ln p(x|k), up to a constant: the truth, by hand."""
    return -0.5 * ((X[:, None, :] - MEANS) ** 2).sum(2)


def posteriors(X: Any, shares: Any = SHARES) -> Any:
    joint = np.exp(log_densities(X)) * shares
    return joint / joint.sum(1, keepdims=True)


class Truth(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The exact LLR of one class against the rest; which one, it sees from the mean of its rows."""

    def __init__(self, shares: Any = SHARES) -> None:
        self.shares = shares

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Truth:
        assert sample_weight is None
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.k_ = int(((X[y == 1].mean(0) - MEANS) ** 2).sum(1).argmin())
        return self

    def decision_function(self, X: Any) -> Any:
        others = [j for j in range(3) if j != self.k_]
        log_p, share = log_densities(X), np.asarray(self.shares)[others]
        rest = logsumexp(log_p[:, others], axis=1, b=share / share.sum())
        return log_p[:, self.k_] - rest


X, Y = gaussians(600, 0)
NAMES = np.array(["ash", "beech", "cedar"])


@pytest.mark.slow
@parametrize_with_checks(
    [
        DetectorBank(cv=3),
        DetectorBank(GaussianNB(), method="monotone", cv=2),
        DetectorBank(LogisticRegression(), method=None),
    ]
)
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


# --------------------------------------------------------------------------------- the combination


@given(
    st.lists(
        st.floats(-1, 1) | st.floats(-40, 40) | st.floats(-1e4, 1e4) | st.sampled_from([0.0, 1.0]),
        min_size=2,
        max_size=7,
    )
)
def test_the_project_distribution_moves_all_log_odds_alike(row: list[float]) -> None:
    odds = np.array([row])
    log_p = _project(odds)[0]
    size = max(1.0, np.abs(odds).max())
    assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-14 * size)
    # Of classes below ½, whose own probability says their odds without a loss.
    small = log_p < np.log(0.5)
    own = log_p[small] - np.log1p(-np.exp(log_p[small]))
    moved = odds[0][small] - own
    if len(moved):
        assert np.ptp(moved) <= 1e-13 * size
        # The largest is moved by as much: what it leaves is what the others have.
        top = int(odds.argmax())
        others = logsumexp(np.delete(log_p, top))
        assert -np.logaddexp(0, odds[0, top] - moved[0]) == pytest.approx(others, abs=1e-12 * size)


def test_answers_that_add_up_to_1_are_left_alone() -> None:
    rng = np.random.default_rng(1)
    for k in (2, 3, 10):
        p = rng.dirichlet(np.full(k, 0.3), 200).clip(1e-12)
        p /= p.sum(1, keepdims=True)
        np.testing.assert_allclose(np.exp(_project(logit(p))), p, rtol=1e-10, atol=1e-14)


def test_it_is_project_in_divergence() -> None:
    """Brute force over the simplex: no other distribution has a smaller Σ KL(p_k ‖ q_k)."""
    rng = np.random.default_rng(2)
    q = rng.uniform(0.05, 0.95, (20, 3))

    def divergence(p: Any, q: Any) -> Any:
        return (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).sum(-1)

    p = np.exp(_project(logit(q)))
    for mine, given_q in zip(p, q, strict=True):
        near = mine * np.exp(0.01 * rng.standard_normal((300, 3)))
        for others in (rng.dirichlet([1, 1, 1], 2000), near / near.sum(1, keepdims=True)):
            assert (divergence(others, given_q) >= divergence(mine, given_q)).all()


def test_extreme_odds() -> None:
    """Far apart nothing underflows; infinite ones are as good as very large."""
    log_p = _project(np.array([[-2000.0, -1000.0, 3000.0], [-900.0, -900.0, -2950.0]]))
    # Of two far apart, λ is in the middle: both are moved by as much, 2000.
    np.testing.assert_allclose(log_p[0], [-3000.0, -2000.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(log_p[1], [-np.log(2), -np.log(2), -2050.0], rtol=1e-15)
    infinite = _project(np.array([[np.inf, -np.inf, -np.inf], [-np.inf] * 3, [np.inf] * 3]))
    np.testing.assert_allclose(np.exp(infinite), [[1, 0, 0], [1 / 3] * 3, [1 / 3] * 3])


# ------------------------------------------------------------------------------ against known truth


@pytest.fixture(scope="module")
def exact() -> DetectorBank:
    """A bank of exact LLRs: its calibrators are the identity."""
    shares = np.bincount(Y) / len(Y)
    bank = DetectorBank(Truth(shares)).fit(X, Y)
    affine = cs.Affine(1.0, 0.0)
    bank.detectors_ = [replace(d, calibrator=affine) for d in bank.detectors_]
    return bank


def test_posteriors_by_hand(exact: DetectorBank) -> None:
    new, _ = gaussians(500, 1)
    for prior in (None, SHARES, [0.01, 0.09, 0.9], [1 / 3] * 3):
        exact.set_params(prior=prior)
        p = posteriors(new, exact.prior_ if prior is None else np.array(prior))
        np.testing.assert_allclose(exact.predict_proba(new), p, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(exact.predict_log_proba(new), np.log(p), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(exact.decision_function(new), logit(p), rtol=1e-8, atol=1e-8)
        np.testing.assert_array_equal(exact.predict(new), p.argmax(1))
    exact.set_params(prior=None)


def test_far_away_the_odds_are_not_lost(exact: DetectorBank) -> None:
    """Where probabilities round to 0 and 1, log odds are still those of the densities."""
    far = np.array([[-60.0, -50.0], [90.0, -40.0], [1.0, 300.0]])
    exact.set_params(prior=None)
    joint = log_densities(far) + np.log(exact.prior_)
    by_hand = np.stack(
        [joint[:, k] - logsumexp(np.delete(joint, k, 1), axis=1) for k in range(3)], axis=1
    )
    np.testing.assert_allclose(exact.decision_function(far), by_hand, rtol=1e-12)
    assert (np.abs(by_hand) > 40).any(1).all()


def test_log_loss_is_near_that_of_the_truth() -> None:
    (train, y), (new, y_new) = gaussians(6000, 3), gaussians(20_000, 4)
    best = log_loss(y_new, posteriors(new))
    bank = DetectorBank(Truth()).fit(train, y)
    assert log_loss(y_new, bank.predict_proba(new)) < 1.002 * best
    lines = DetectorBank().fit(train, y)
    assert log_loss(y_new, lines.predict_proba(new)) < 1.02 * best
    accuracy = (posteriors(new).argmax(1) == y_new).mean()
    assert (lines.predict(new) == y_new).mean() > accuracy - 0.005


def test_a_moved_prior_is_calibrated_where_it_is_true() -> None:
    """Rows with other shares: with these as prior the loss is near the best there, and far better
    than without."""
    there = np.array([0.05, 0.15, 0.8])
    (train, y), (new, y_new) = gaussians(6000, 5), gaussians(20_000, 6, there)
    bank = DetectorBank(Truth()).fit(train, y)
    unmoved = log_loss(y_new, bank.predict_proba(new))
    moved = log_loss(y_new, bank.set_params(prior=there).predict_proba(new))
    best = log_loss(y_new, posteriors(new, there))
    assert moved < 1.005 * best
    assert unmoved > 1.3 * best


# --------------------------------------------------------------------------------------- decisions


@pytest.fixture(scope="module")
def bank() -> DetectorBank:
    return DetectorBank(GaussianNB()).fit(X, NAMES[Y])


def test_costs_decide_by_the_formula(bank: DetectorBank) -> None:
    rng = np.random.default_rng(7)
    some = slice(0, 60)
    seen = set()
    for _ in range(30):
        costs = rng.exponential(1, (3, 3)) ** 2
        costs[np.arange(3), np.arange(3)] = costs.min(1) * rng.uniform(-1, 1, 3)
        late = bank.set_params(costs=costs, prior=rng.dirichlet([2, 2, 2]))
        p = late.predict_proba(X[some])
        expected = late.expected_cost(X[some])
        decided = late.predict(X[some])
        for row in range(60):
            by_hand = [sum(p[row, i] * costs[i, j] for i in range(3)) for j in range(3)]
            assert expected[row].tolist() == pytest.approx(by_hand, rel=1e-12, abs=1e-14)
            least = by_hand.index(min(by_hand))
            assert decided[row] == NAMES[least]
            seen.add((int(p[row].argmax()), least))
    bank.set_params(costs=None, prior=None)
    assert len(seen) == 9  # from every most probable class to every decision


def test_without_costs_all_errors_cost_1(bank: DetectorBank) -> None:
    p = bank.predict_proba(X)
    np.testing.assert_allclose(bank.expected_cost(X), 1 - p, atol=1e-15)
    plain = bank.predict(X)
    alike = clone(bank).set_params(costs=1 - np.eye(3)).fit(X, NAMES[Y])
    np.testing.assert_array_equal(alike.predict(X), plain)
    np.testing.assert_array_equal(plain, NAMES[p.argmax(1)])
    np.testing.assert_array_equal(plain, NAMES[bank.decision_function(X).argmax(1)])
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-14)


def test_what_being_right_costs_changes_no_decision(bank: DetectorBank) -> None:
    costs = np.array([[0.0, 1, 3], [2, 0, 1], [5, 1, 0]])
    decided = bank.set_params(costs=costs).predict(X)
    # So large that expected costs are rounded to 1/8, yet the matrix is exact.
    due = np.array([[2.0**50], [-(2.0**50)], [2.0**49]])
    shifted = bank.set_params(costs=costs + due).predict(X)
    bank.set_params(costs=None)
    np.testing.assert_array_equal(decided, shifted)


def test_labels_instead_of_positions(bank: DetectorBank) -> None:
    costs = np.array([[0, 1, 7.0], [2, -0.5, 1], [3, 1, 0]])
    by_label = {
        "cedar": {"ash": 3, "beech": 1},
        "beech": {"ash": 2, "beech": -0.5, "cedar": 1},
        "ash": {"cedar": 7.0, "beech": 1, "ash": 0},
    }
    frame = pd.DataFrame(costs, NAMES, NAMES).loc[NAMES[::-1], NAMES[[1, 0, 2]]]
    want = bank.set_params(costs=costs).expected_cost(X)
    for given_costs in (by_label, frame, costs.tolist()):
        np.testing.assert_array_equal(bank.set_params(costs=given_costs).expected_cost(X), want)
    bank.set_params(costs=None, prior=[0.2, 0.3, 0.5])
    want = bank.predict_proba(X)
    shares = {"cedar": 0.5, "ash": 0.2, "beech": 0.3}
    for prior in (shares, pd.Series(shares), np.array([0.2, 0.3, 0.5])):
        np.testing.assert_array_equal(bank.set_params(prior=prior).predict_proba(X), want)
    bank.set_params(prior=None)


def test_ties_go_to_the_first_class() -> None:
    """No detector tells anything: shares decide, and where they are equal, the order."""
    flat = np.zeros((40, 1))
    y = np.repeat(np.arange(4), 10)
    bank = DetectorBank(DecisionTreeClassifier(), cv=2).fit(flat, y)
    assert np.ptp(bank.predict_proba(flat)) < 1e-12
    np.testing.assert_array_equal(bank.predict(flat), np.zeros(40))
    np.testing.assert_array_equal(bank.decision_function(flat).argmax(1), np.zeros(40))
    two = DetectorBank(DecisionTreeClassifier(), cv=2).fit(flat[:20], y[:20])
    np.testing.assert_array_equal(two.predict(flat), np.zeros(40))
    raw = DetectorBank(DecisionTreeClassifier(), method=None).fit(flat, y)
    np.testing.assert_array_equal(raw.predict(flat), np.zeros(40))


# ------------------------------------------------------------------------------------- invariances


@pytest.mark.parametrize("method", ["platt", "monotone", None])
def test_permuting_the_classes_permutes_everything(method: str | None) -> None:
    rng = np.random.default_rng(8)
    four = np.where(rng.random(600) < 0.2, 3, Y)
    order = np.array([2, 0, 3, 1])  # the new name of each class
    one = DetectorBank(GaussianNB(), method=method).fit(X, four)
    two = DetectorBank(GaussianNB(), method=method).fit(X, order[four])
    if method is not None:
        costs = rng.exponential(1, (4, 4)) * (1 - np.eye(4))
        prior = rng.dirichlet([3] * 4)
        back = np.argsort(order)
        one.set_params(costs=costs, prior=prior)
        two.set_params(costs=costs[np.ix_(back, back)], prior=prior[back])
        for name in ("predict_proba", "predict_log_proba", "expected_cost"):
            np.testing.assert_allclose(
                getattr(two, name)(X)[:, order], getattr(one, name)(X), rtol=1e-9, atol=1e-12
            )
    np.testing.assert_allclose(
        two.decision_function(X)[:, order], one.decision_function(X), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(two.predict(X), order[one.predict(X)])


@pytest.mark.parametrize("method", ["platt", "monotone"])
def test_two_classes_are_one_calibrated_classifier(method: str) -> None:
    some = Y < 2
    two, y = X[some], Y[some]
    bank = DetectorBank(LinearSVC(), method=method).fit(two, y)
    alone = DecisionClassifier(LinearSVC(), calibration=method).fit(two, y)
    assert len(bank.detectors_) == 1
    costs = cs.Costs(fp=3, fn=1, tp=0.5, tn=0.25)
    for prior, cost in ((None, None), (0.9, None), (0.2, costs)):
        bank.set_params(prior=None if prior is None else [1 - prior, prior], costs=cost)
        late = alone.revised(costs=cost or cs.Costs(fp=1, fn=1), prior=prior)
        odds = late.log_odds(two)
        np.testing.assert_allclose(bank.decision_function(two), odds, rtol=1e-10, atol=1e-12)
        for name in ("predict_proba", "predict_log_proba"):
            np.testing.assert_allclose(
                getattr(bank, name)(two), getattr(late, name)(two), rtol=1e-10, atol=1e-12
            )
        least = 0.0 if cost is None else cost.log_odds
        np.testing.assert_array_equal(bank.predict(two), odds > least)
    p = bank.predict_proba(two)
    np.testing.assert_allclose(bank.expected_cost(two), p @ [[-0.25, 3], [1, -0.5]], rtol=1e-12)


@pytest.mark.parametrize("method", ["platt", None])
def test_weights_are_repeated_rows(method: str | None) -> None:
    w = np.random.default_rng(9).integers(0, 4, 600)
    fold = np.arange(600) % 3
    again = np.repeat(np.arange(600), w)

    def splits(of: Any) -> Any:
        return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)]

    one = DetectorBank(GaussianNB(), method=method, cv=splits(fold)).fit(X, Y, sample_weight=w)
    two = DetectorBank(GaussianNB(), method=method, cv=splits(fold[again])).fit(X[again], Y[again])
    np.testing.assert_allclose(
        one.decision_function(X), two.decision_function(X), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(one.prior_, two.prior_, rtol=1e-15)
    plain = DetectorBank(GaussianNB(), method=method, cv=splits(fold)).fit(X, Y)
    assert not np.allclose(plain.decision_function(X), one.decision_function(X))


def test_weights_that_the_classifier_does_not_take() -> None:
    w = np.linspace(0.5, 2, 600)
    with warned("weights-unused", UserWarning, model="KNeighborsClassifier"):
        bank = DetectorBank(KNeighborsClassifier()).fit(X, Y, sample_weight=w)
    np.testing.assert_allclose(bank.prior_, np.bincount(Y, w) / w.sum(), rtol=1e-14)
    with pytest.raises(TypeError, match=r"KNeighborsClassifier takes no sample_weight.*Drop it"):
        DetectorBank(KNeighborsClassifier(), method=None).fit(X, Y, sample_weight=w)


# ------------------------------------------------------------------------------------------- parts


def test_each_detector_is_of_its_class_and_all_have_the_same_folds() -> None:
    """Folds hold all classes in their shares, not just this one and the rest."""
    bank = DetectorBank(GaussianNB()).fit(X, NAMES[Y])
    folds = list(StratifiedKFold(5).split(X, Y))
    for k, d in enumerate(bank.detectors_):
        alone = DecisionClassifier(GaussianNB(), calibration="platt", cv=folds).fit(
            X, np.equal(Y, k)
        )
        np.testing.assert_allclose(d.log_odds(X), alone.log_odds(X), rtol=1e-12)
        assert d.prior == pytest.approx(bank.prior_[k], rel=1e-14)
    assert bank.classes_.tolist() == NAMES.tolist()
    # At the training shares each posterior is what its detector says, moved by as much as others.
    odds = np.column_stack([d.log_odds(X) for d in bank.detectors_])
    moved = odds - bank.decision_function(X)
    np.testing.assert_allclose(moved, np.broadcast_to(moved[:, :1], moved.shape), atol=1e-9)
    np.testing.assert_allclose(expit(odds - moved[:, :1]).sum(1), 1, rtol=1e-10)


def test_raw_scores() -> None:
    bank = DetectorBank(LinearSVC(), method=None).fit(X, NAMES[Y])
    scores = np.column_stack(
        [LinearSVC().fit(X, np.equal(Y, k)).decision_function(X) for k in range(3)]
    )
    np.testing.assert_allclose(bank.decision_function(X), scores, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(bank.predict(X), NAMES[bank.decision_function(X).argmax(1)])
    for name in ("predict_proba", "predict_log_proba", "expected_cost"):
        assert not hasattr(bank, name)
        with pytest.raises(AttributeError):
            getattr(bank, name)
    two = Y < 2
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    bank = DetectorBank(tree, method=None).fit(X[two], Y[two])
    p = tree.fit(X[two], Y[two]).predict_proba(X[two])
    np.testing.assert_allclose(bank.decision_function(X[two]), p[:, 1] - p[:, 0], atol=1e-15)
    np.testing.assert_array_equal(bank.predict(X[two]), p.argmax(1))
    for wrong in ({"prior": [0.5, 0.5]}, {"costs": [[0, 1], [1, 0]]}):
        (name,) = wrong
        with finding("arguments-conflict", parameters=(name, "method")):
            DetectorBank(tree, method=None, **wrong).fit(X[two], Y[two])
    with finding("arguments-conflict", parameters=("costs", "method")):
        bank.set_params(costs=[[0, 1], [1, 0]]).predict(X[two])

    class Silent(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
            return self

    with pytest.raises(TypeError, match="Silent has no scores to decide among classes"):
        DetectorBank(Silent(), method=None).fit(X, Y).predict(X)


def test_tables_sparse_matrices_and_pipelines() -> None:
    frame = pd.DataFrame(X, columns=["a", "b"])
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    bank = DetectorBank(inner).fit(frame, pd.Series(NAMES[Y]))
    assert bank.feature_names_in_.tolist() == ["a", "b"]
    assert bank.n_features_in_ == 2
    assert cross_val_score(bank, frame, NAMES[Y], cv=2).mean() > 0.7
    thin, dense = DetectorBank(), DetectorBank()
    thin.fit(sparse.csr_matrix(X), Y)
    dense.fit(X, Y)
    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-4
    )
    assert thin.__sklearn_tags__().input_tags.sparse
    assert not DetectorBank(GaussianNB()).__sklearn_tags__().input_tags.sparse


def test_a_perceptron_bank_decides_as_well_as_it_is_calibrated() -> None:
    """Scores of any scale: calibrated they compare, raw they need not."""
    scaled = X * [1.0, 1e6]
    bank = DetectorBank(make_pipeline(StandardScaler(), Perceptron(random_state=0)))
    p = bank.fit(scaled, Y).predict_proba(scaled)
    assert log_loss(Y, p) < log_loss(Y, np.tile(bank.prior_, (600, 1)))


# --------------------------------------------------------------------------------------- bad input


def test_bad_rows() -> None:
    with finding("one-class", what="DetectorBank"):
        DetectorBank().fit(X, np.zeros(600))
    with finding("one-class", have="of 1 class, 'beech', or have weight 0"):
        DetectorBank().fit(X, NAMES[Y], sample_weight=Y == 1)
    with finding("too-few", what="class 'ash'", need=1, have=0):
        DetectorBank().fit(X, NAMES[Y], sample_weight=Y > 0)
    rare = np.concatenate((np.repeat(["a", "b"], 20), ["c"] * 3))
    # Fewer rows than folds: some folds have none of the class, and all leave some to learn from.
    with pytest.warns(UserWarning, match="less than n_splits=5"):
        assert len(DetectorBank().fit(X[:43], rare).detectors_) == 3
    assert len(DetectorBank(GaussianNB(), cv=3).fit(X[:43], rare).detectors_) == 3
    with finding("too-few", what="class 'c'", need=2, have=1):
        DetectorBank(cv=None).fit(X[:41], rare[:41])
    weight = np.ones(43)
    weight[-1] = 0
    weight[-2] = 0
    with finding("too-few", what="class 'c'", need=2, have=1):
        DetectorBank(cv=3).fit(X[:43], rare, sample_weight=weight)
    with finding("bad-argument", parameter="cv", hint="Use StratifiedKFold."):
        DetectorBank(cv=KFold(3)).fit(X[:43], rare)
    with finding("bad-argument", parameter="cv", value="prefit"):
        DetectorBank(cv="prefit").fit(X, Y)
    with finding("bad-argument", parameter="method"):
        DetectorBank(method="sigmoid").fit(X, Y)
    with pytest.raises(ValueError, match="Unknown label type"):
        DetectorBank().fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("prior", "fields"),
    [
        ([0.5, 0.5], {"value": "[0.5, 0.5]"}),
        (0.5, {"value": 0.5}),
        ("even", {"value": "even"}),
        ([[0.2, 0.3, 0.5]], {"subject": ""}),
        ([0.2, 0.3, 0.6], {"subject": "the sum of priors", "value": pytest.approx(1.1)}),
        ([0.0, 0.5, 0.5], {"subject": "the prior of 'ash'", "value": 0.0}),
        ([0.5, -0.5, 1.0], {"subject": "the prior of 'beech'", "value": -0.5}),
        ([0.5, 0.5, np.nan], {"subject": "the prior of 'cedar'"}),
        ([0.5, 0.5, "x"], {"subject": "the prior of 'cedar'"}),
        ({"ash": 0.5, "oak": 0.5}, {"value": "oak"}),
        ({"ash": 0.5, "cedar": 0.5}, {"rule": "have a share of 'beech'"}),
    ],
)
def test_bad_priors(bank: DetectorBank, prior: Any, fields: dict[str, Any]) -> None:
    with finding("bad-argument", cs.DataError, parameter="prior", **fields):
        DetectorBank(GaussianNB(), prior=prior).fit(X, NAMES[Y])
    late = clone(bank).fit(X, NAMES[Y]).set_params(prior=prior)
    with finding("bad-argument", cs.DataError, parameter="prior", **fields):
        late.predict(X)


OFF = {"beech": {"ash": 1, "cedar": 1}, "cedar": {"ash": 1, "beech": 1}}


@pytest.mark.parametrize(
    ("costs", "found"),
    [
        ([[0, 1], [1, 0]], {"code": "bad-argument", "value": "shape (2, 2)"}),
        ([[0, 1, 1], [1, 0]], {"code": "bad-argument", "value": "shape (2,)"}),
        (1.0, {"code": "bad-argument", "parameter": "costs"}),
        ([], {"code": "bad-argument", "parameter": "costs"}),
        ([[0, 1, 1], [1, 0, np.inf], [1, 1, 0]], {"code": "bad-argument"}),
        ([[0, 1, 1], ["x", 0, 1], [1, 1, 0]], {"code": "bad-argument"}),
        ([[0, 1, -1], [1, 0, 1], [1, 1, 0]], {"code": "bad-argument"}),
        ([[0, 1, 1], [1, 2, 1], [1, 1, 0]], {"code": "bad-argument"}),
        (np.zeros((3, 3)), {"code": "bad-argument"}),
        (np.array([[1.0], [-2.0], [3.0]]) * np.ones(3), {"code": "bad-argument"}),
        (cs.Costs(fp=1, fn=2), {"code": "bad-argument", "rule": "be a matrix for 3 classes"}),
        ({**OFF, "oak": {}}, {"code": "bad-argument", "parameter": "costs", "value": "oak"}),
        (
            {**OFF, "ash": {"beech": 1, "cedar": 1, "oak": 1}},
            {"code": "bad-argument", "parameter": "costs of 'ash'", "value": "oak"},
        ),
        (
            {**OFF, "ash": {"beech": 1}},
            {
                "code": "bad-argument",
                "rule": "include that of predicting 'cedar' for 'ash'",
            },
        ),
        (
            OFF,
            {
                "code": "bad-argument",
                "rule": "include that of predicting 'beech' for 'ash'",
            },
        ),
        ({**OFF, "ash": [0, 1, 1]}, {"code": "bad-argument", "subject": "costs of 'ash'"}),
        ({**OFF, "ash": {"beech": "1", "cedar": 1}}, {"code": "bad-argument"}),
    ],
)
def test_bad_costs(bank: DetectorBank, costs: Any, found: dict[str, Any]) -> None:
    with finding(**found):
        DetectorBank(GaussianNB(), costs=costs).fit(X, NAMES[Y])
    late = clone(bank).fit(X, NAMES[Y]).set_params(costs=costs)
    for ask in (late.predict, late.expected_cost):
        with finding(**found):
            ask(X)
