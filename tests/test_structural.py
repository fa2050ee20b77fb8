"""Lines trained for a measure: the worst labelling by enumeration, optima by other solvers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import cutscore as cs
from cutscore.estimators import Structural, StructuralCV, expected_failed_checks
from cutscore.linear import surrogates
from cutscore.linear.cutting_planes import minimise, on_simplex
from cutscore.linear.rows import ArrayRows
from cutscore.linear.structural import RowRisk, as_trainable, scaled_C, search_C, structural
from cutscore.linear.surrogates import Classes, Masses, Surrogate
from raising import finding, warned

# ------------------------------------------------------------------------------ the worst labelling

# Each measure: its surrogate, and its loss at (a, b, P, N); None if the labelling is not allowed.
Loss = Callable[[float, float, float, float], float | None]


def measures(k: float, beta: float) -> Iterator[tuple[str, Callable[[Masses], Surrogate], Loss]]:
    square = beta**2

    def f(a: float, b: float, P: float, _: float) -> float:
        return 1 - (1 + square) * a / ((1 + square) * a + b + square * (P - a))

    yield "balanced", surrogates.balanced, lambda a, b, P, N: 1 - (a / P + (N - b) / N) / 2
    yield "error", surrogates.error, lambda a, b, P, N: (P - a + b) / (P + N)
    yield "f", lambda m: surrogates.f_measure(m, beta), f
    yield (
        "precision@k",
        lambda m: surrogates.precision_at(m, k),
        lambda a, b, _, __: 1 - a / (a + b) if a + b >= k else None,
    )
    yield (
        "recall@k",
        lambda m: surrogates.recall_at(m, k),
        lambda a, b, P, _: 1 - a / P if a + b <= k else None,
    )
    yield "prbep", surrogates.break_even, lambda a, b, P, _: 1 - a / P if a + b == P else None


def consistent(surrogate: Surrogate, s: Classes, best: float) -> None:
    """The value is right, and it is that of the plane, but for scores that count as equal."""
    worst = surrogate.worst(s)
    scale = 1 + float(np.abs(s.pos).sum() + np.abs(s.neg).sum())
    assert abs(worst.value - best) <= 1e-13 * scale
    assert abs(worst.loss + worst.slope.dot(s) - worst.value) <= 1e-10 * scale


numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.sampled_from([0.0, 0.5, 1.0, -1.0]),
    st.floats(-50, 50, allow_subnormal=False),
)


@given(st.data())
def test_worst_labelling_by_enumeration(data: st.DataObject) -> None:
    P, N = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    s = Classes(*(np.array(data.draw(st.lists(numbers, min_size=m, max_size=m))) for m in (P, N)))
    k, beta = (
        data.draw(st.integers(1, P + N)),
        data.draw(st.sampled_from([0.1, 0.25, 0.5, 1, 2, 5])),
    )
    for _, make, loss in measures(k, beta):
        best = -np.inf
        for v in product((0, 1), repeat=P + N):
            up, down = np.array(v[:P], bool), np.array(v[P:], bool)
            value = loss(up.sum(), down.sum(), P, N)
            if value is not None:
                best = max(best, value + (s.neg[down].sum() - s.pos[~up].sum()) / (P + N))
        consistent(make(Masses.of(None, P, N)), s, best)


def test_worst_labelling_of_twelve_rows() -> None:
    rng = np.random.default_rng(5)
    v = np.array(list(product((0, 1), repeat=12)), bool)
    for trial in range(40):
        P = int(rng.integers(1, 12))
        score = rng.normal(size=12) * 10.0 ** rng.uniform(-1, 2)
        score = np.round(score) if trial % 2 else score
        k, beta = int(rng.integers(1, 13)), float(rng.choice([0.1, 0.25, 1, 2]))
        a, b = v[:, :P].sum(1), v[:, P:].sum(1)
        q = (v[:, P:] @ score[P:] - ~v[:, :P] @ score[:P]) / 12
        for _, make, loss in measures(k, beta):
            values = [loss(*ab, P, 12 - P) for ab in zip(a.tolist(), b.tolist(), strict=True)]
            best = max(x + y for x, y in zip(values, q.tolist(), strict=True) if x is not None)
            consistent(make(Masses.of(None, P, 12 - P)), Classes(score[:P], score[P:]), best)


@given(st.data())
def test_the_labelling_is_one_of_the_worst(data: st.DataObject) -> None:
    """v* is allowed, has the loss and the value that are said, and no labelling has more."""
    P, N = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    s = Classes(*(np.array(data.draw(st.lists(numbers, min_size=m, max_size=m))) for m in (P, N)))
    k, beta = data.draw(st.integers(1, P + N)), data.draw(st.sampled_from([0.25, 1, 2]))
    scale = 1 + float(np.abs(s.pos).sum() + np.abs(s.neg).sum())
    for _, make, loss in measures(k, beta):
        values = {}
        for v in product((-1, 1), repeat=P + N):
            up, down = np.array(v[:P]) > 0, np.array(v[P:]) > 0
            value = loss(up.sum(), down.sum(), P, N)
            if value is not None:
                values[v] = value + (s.neg[down].sum() - s.pos[~up].sum()) / (P + N)
        surrogate = make(Masses.of(None, P, N))
        worst = surrogate.worst(s, labelling=True)
        assert worst.labelling is not None
        found = tuple(int(x) for x in np.concatenate(worst.labelling))
        assert values[found] >= max(values.values()) - 1e-13 * scale
        assert worst.value == pytest.approx(values[found], abs=1e-13 * scale)
        up, down = worst.labelling.pos > 0, worst.labelling.neg > 0
        assert worst.loss == pytest.approx(loss(up.sum(), down.sum(), P, N), abs=1e-15)
        assert surrogate.worst(s).labelling is None


def test_a_labelling_of_weights_flags_rows_in_part() -> None:
    """Weights as numbers of rows: the labels of a row's copies have its mean."""
    rng = np.random.default_rng(4)
    for trial in range(20):
        s = Classes(np.round(rng.normal(1, 2, 6), 1), np.round(rng.normal(0, 2, 9), 1))
        w = Classes(*(rng.integers(1, 5, len(x)).astype(float) for x in s))
        copies = Classes(*(np.repeat(x, n.astype(int)) for x, n in zip(s, w, strict=True)))
        one, many = (
            surrogates.f_measure(Masses.of(given_w, len(x.pos), len(x.neg)), 1.0).worst(
                x, labelling=True
            )
            for given_w, x in ((w, s), (None, copies))
        )
        assert one.labelling is not None
        assert many.labelling is not None
        for v, of_copies, n in zip(one.labelling, many.labelling, w, strict=True):
            means = [part.mean() for part in np.split(of_copies, np.cumsum(n.astype(int))[:-1])]
            # Other labellings may be as bad where rounding decides: then the loss is the same.
            if one.loss == pytest.approx(many.loss, abs=1e-12):
                np.testing.assert_allclose(v, means, atol=1e-12, err_msg=str(trial))


def test_pairs_label_no_row() -> None:
    pairs = surrogates.Pairs(Masses.of(None, 1, 1))
    with finding("undefined", cs.UndefinedError):
        pairs.worst(Classes(np.zeros(1), np.zeros(1)), labelling=True)


@pytest.mark.parametrize("beta", [0.1, 0.25, 1.0, 4.0])
@pytest.mark.parametrize("ties", [False, True])
def test_worst_labelling_by_two_loops(beta: float, ties: bool) -> None:
    rng = np.random.default_rng(int(10 * beta))
    for P, N in ((1, 300), (40, 260), (200, 100), (299, 1)):
        score = rng.normal(size=P + N) * 10.0 ** rng.uniform(-1, 1.5)
        score = np.round(score) if ties else score
        pos, neg = np.sort(score[:P])[::-1], np.sort(score[P:])[::-1]
        a, b = np.arange(P + 1)[:, None], np.arange(N + 1)[None, :]
        caught = np.concatenate(([0], np.cumsum(pos)))[:, None]
        alarms = np.concatenate(([0], np.cumsum(neg)))[None, :]
        q = (alarms - (caught[-1] - caught)) / (P + N)
        for k in (1, P, (P + N) // 2, P + N):
            for _, make, loss in measures(k, beta):
                table = np.array(
                    [[loss(i, j, P, N) for j in range(N + 1)] for i in range(P + 1)], float
                )
                best = float(np.nanmax(table + q + 0 * a + 0 * b))
                consistent(
                    make(Masses.of(None, P, N)), Classes(score[:P].copy(), score[P:].copy()), best
                )


@given(st.data())
def test_pairs_are_never_formed_but_counted(data: st.DataObject) -> None:
    P, N = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
    s = Classes(*(np.array(data.draw(st.lists(numbers, min_size=m, max_size=m))) for m in (P, N)))
    best = np.maximum(0, 1 - (s.pos[:, None] - s.neg[None, :])).sum() / (P * N)
    consistent(surrogates.Pairs(Masses.of(None, P, N)), s, float(best))


@given(st.data())
def test_whole_weights_are_repeated_rows(data: st.DataObject) -> None:
    P, N = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    s = Classes(*(np.array(data.draw(st.lists(numbers, min_size=m, max_size=m))) for m in (P, N)))
    w = Classes(
        *(
            np.array(data.draw(st.lists(st.integers(1, 4), min_size=m, max_size=m)), float)
            for m in (P, N)
        )
    )
    copies = Classes(*(np.repeat(x, n.astype(int)) for x, n in zip(s, w, strict=True)))
    weighted = Masses.of(w, P, N)
    repeated = Masses.of(None, len(copies.pos), len(copies.neg))
    k = data.draw(st.integers(1, int(weighted.P + weighted.N)))
    beta = data.draw(st.sampled_from([0.25, 1, 3]))
    for _, make, _loss in measures(k, beta):
        consistent(make(weighted), s, make(repeated).worst(copies).value)
    consistent(surrogates.Pairs(weighted), s, surrogates.Pairs(repeated).worst(copies).value)


@given(st.data())
def test_other_weights_are_the_limit_of_repeated_rows(data: st.DataObject) -> None:
    """Of weights w·M, whole and large, the worst labelling is nearly that of weights w."""
    P, N, many = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), 4096
    s = Classes(*(np.array(data.draw(st.lists(numbers, min_size=m, max_size=m))) for m in (P, N)))
    halves = [
        np.array(data.draw(st.lists(st.integers(1, 9), min_size=m, max_size=m))) / 4 for m in (P, N)
    ]
    w, large = Classes(*halves), Classes(*(many * h for h in halves))
    few, lots = Masses.of(w, P, N), Masses.of(large, P, N)
    k = data.draw(st.floats(0.25, few.P + few.N))
    if few.whole:
        return
    # The losses are shares, and so are what scores are multiplied by.
    for name, make, _ in measures(k, 2.0):
        more = {n: m for n, m, _ in measures(np.rint(k * many), 2.0)}[name]
        exact, near = make(few).worst(s).value, more(lots).worst(s).value
        scale = 1 + np.abs(s.pos).max() + np.abs(s.neg).max()
        assert abs(exact - near) <= 20 * scale / many


def test_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    pos, neg = np.round(rng.normal(1, 2, 30)), np.round(rng.normal(0, 2, 50))
    p, n = rng.permutation(30), rng.permutation(50)
    masses = Masses.of(None, 30, 50)
    for _, make, _loss in measures(20, 1.0):
        here = make(masses).worst(Classes(pos, neg))
        there = make(masses).worst(Classes(pos[p], neg[n]))
        np.testing.assert_allclose(there.slope.pos, here.slope.pos[p], rtol=0, atol=1e-15)
        np.testing.assert_allclose(there.slope.neg, here.slope.neg[n], rtol=0, atol=1e-15)


# --------------------------------------------------------------------------------------- the solver


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_quadratic_problem_on_the_simplex(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, int(rng.integers(1, 6)))) * 10.0 ** rng.uniform(-2, 2)
    if m > 1 and seed % 3 == 0:
        A[0] = A[-1]  # planes that repeat each other
    H, e = A @ A.T, rng.normal(size=m)
    start = np.zeros(m)
    start[0] = 1
    x = on_simplex(H, e, start)
    assert (x >= 0).all()
    assert abs(x.sum() - 1) < 1e-12
    # Optimal: no entry has more to gain than those in use.
    gain = e - H @ x
    assert gain.max() - gain @ x <= 1e-9 * (np.abs(H).max() + np.abs(e).max())


X, Y = make_classification(
    700, n_features=6, n_informative=3, weights=[0.9], flip_y=0.05, random_state=3
)
AIMS = ["f1", cs.f(0.3), cs.f(3), "balanced", "error", "auc", "prbep", "precision@20", "recall@15%"]


def _named(aim: Any) -> str:
    return aim if isinstance(aim, str) else str(aim.name)


@pytest.mark.parametrize("aim", AIMS, ids=_named)
@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0])
def test_certificate(aim: Any, C: float) -> None:
    """The gap is closed, and the objective is what the certificate says."""
    a = as_trainable(aim)
    fit = structural(ArrayRows(X, Y == 1), a, C=C, tol=1e-6, max_iter=5000)
    assert fit.converged
    risk = RowRisk(ArrayRows(X, Y == 1), a.surrogate, 1.0)

    def objective(w: Any) -> float:
        return 0.5 * float(w @ w) + C * len(Y) * risk.worst(risk.scores(w)).value

    w = np.append(fit.detector.w, fit.detector.b)
    assert objective(w) == pytest.approx(fit.objective, rel=1e-9)
    assert fit.gap is not None
    assert fit.objective is not None
    assert -1e-9 * fit.objective <= fit.gap <= 1e-6 * fit.objective
    # Nothing near by is lower than the bound.
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1e-3, 1e-1):
        for _ in range(10):
            there = w + scale * np.linalg.norm(w) * rng.normal(size=len(w))
            assert objective(there) >= fit.objective - fit.gap


@pytest.mark.parametrize("aim", ["f1", "auc", "precision@20"])
def test_plain_cutting_planes_find_the_same_and_take_longer(aim: str) -> None:
    risk = RowRisk(ArrayRows(X, Y == 1), as_trainable(aim).surrogate, 1.0)
    fast = minimise(risk, 700.0, tol=1e-4)
    plain = minimise(risk, 700.0, tol=1e-4, line_search=False)
    assert fast.converged
    assert plain.converged
    assert fast.objective == pytest.approx(plain.objective, rel=2e-4)
    assert fast.passes < plain.passes


def test_errors_are_those_of_a_linear_svm() -> None:
    svm = LinearSVC(loss="hinge", C=0.5, tol=1e-10, max_iter=10**6).fit(X, Y)
    ours = Structural("error", C=0.5, tol=1e-8, max_iter=10**4).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, svm.coef_, rtol=0, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, svm.intercept_, rtol=0, atol=2e-3)


def test_auc_is_the_explicit_problem_of_pairs() -> None:
    """The same optimum as that of a quadratic programme with a slack for each pair."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(16, 3)), np.arange(16) < 6
    x[y] += 0.4
    d = (x[y][:, None] - x[~y][None]).reshape(-1, 3)
    C = 2.0 * 16 / len(d)
    # Its dual, in a box: max Σα − ½‖Σ α d‖², 0 ≤ α ≤ C.
    found = optimize.minimize(
        lambda a: (0.5 * np.sum((a @ d) ** 2) - a.sum(), d @ (a @ d) - 1),
        np.full(len(d), C / 2),
        jac=True,
        bounds=[(0, C)] * len(d),
        method="L-BFGS-B",
        options={"maxiter": 10**5, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10},
    )
    fit = structural(ArrayRows(x, y), as_trainable("auc"), C=2.0, tol=1e-9, max_iter=5000)
    assert fit.objective == pytest.approx(-found.fun, rel=1e-7)
    np.testing.assert_allclose(fit.detector.w, found.x @ d, rtol=0, atol=1e-3)


def every_labelling(x: Any, y: Any, C: float, loss: Loss) -> tuple[float, Any]:
    """The minimum of ½‖(w, b)‖² + C·n·ξ with a constraint for every allowed labelling of the rows,
    by SciPy: its value, and (w, b)."""
    n, P = len(y), int(y.sum())
    Z = np.column_stack((x, np.ones(n)))
    planes, losses = [], []
    for v in product((False, True), repeat=n):
        flagged = np.array(v)
        value = loss((flagged & y).sum(), (flagged & ~y).sum(), P, n - P)
        if value is not None:
            planes.append((Z[flagged & ~y].sum(0) - Z[~flagged & y].sum(0)) / n)
            losses.append(value)
    G, e = np.array(planes), np.array(losses)
    found = optimize.minimize(
        lambda t: (0.5 * t[:-1] @ t[:-1] + C * n * t[-1], np.append(t[:-1], C * n)),
        np.append(np.zeros(Z.shape[1]), e.max()),
        jac=True,
        constraints={
            "type": "ineq",
            "fun": lambda t: t[-1] - e - G @ t[:-1],
            "jac": lambda _: np.column_stack((-G, np.ones(len(G)))),
        },
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert found.success, found.message
    return float(found.fun), found.x[:-1]


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("name", ["precision", "recall"])
def test_at_any_k_as_named_by_every_labelling(name: str, k: int) -> None:
    """recall@k with k < P and precision@k with k > P too, where the true labelling is not one."""
    rng = np.random.default_rng(k)
    x, y = rng.normal(size=(8, 2)), np.arange(8) < 4
    x[y] += 0.7
    losses = {n: loss for n, _, loss in measures(k, 1.0)}
    best, line = every_labelling(x, y, 0.25, losses[f"{name}@k"])
    aim = as_trainable(f"{name}@{k}", as_named=True)
    fit = structural(ArrayRows(x, y), aim, C=0.25, tol=1e-10, max_iter=5000)
    assert fit.converged
    assert fit.objective == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose([*fit.detector.w, fit.detector.b], line, atol=1e-4)
    # The default is the surrogate of the other name where this one bars the true labelling.
    other = (
        {"precision": "recall", "recall": "precision"}[name]
        if (name == "precision") == (k > 4)
        else name
    )
    default = structural(ArrayRows(x, y), as_trainable(f"{name}@{k}"), C=0.25, tol=1e-10)
    if k != 4:
        best, _ = every_labelling(x, y, 0.25, losses[f"{other}@k"])
        assert default.objective == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("aim", ["recall@20", "recall@2%", "precision@200", "precision@40%"])
def test_as_named_ranks_and_its_constant_runs_away(aim: str) -> None:
    """Its folds cut the scores where k rows are flagged: b itself is about C·(P − k)."""
    named = Structural(aim, as_named=True, C=0.1, cv=3).fit(X, Y)
    assert named.converged_
    k = int({"recall@2%": 14, "precision@40%": 280}.get(aim, aim.partition("@")[2]))
    highest = np.argsort(-named.decision_function(X), kind="stable")[:k]
    assert Y[highest].sum() > 2 * k * Y.mean()
    assert abs(int(named.predict(X).sum()) - k) <= 0.3 * k
    raw = Structural(aim, as_named=True, C=0.1, threshold="zero").fit(X, Y)
    np.testing.assert_array_equal(raw.coef_, named.coef_)
    push = 0.1 * (int(Y.sum()) - k)
    assert raw.intercept_[0] / push > 0.5
    with finding("arguments-conflict", parameters=("as_named", "measure")):
        Structural("f1", as_named=True).fit(X, Y)


# ------------------------------------------------------------------------------------ the estimator


@pytest.mark.slow
@parametrize_with_checks(
    [
        Structural("f1"),
        Structural("balanced", C=0.1),
        Structural("auc", cv=2),
        Structural("precision@k", k=0.5, cv=2),
        Structural("error", threshold="cross-fit", cv=2),
        StructuralCV("f1", Cs=(0.1, 1.0), cv=2),
    ],
    expected_failed_checks=expected_failed_checks,
)
@pytest.mark.filterwarnings("ignore::cutscore.core.errors.CutscoreWarning")
def test_contract(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("aim", AIMS, ids=_named)
def test_weights(aim: Any) -> None:
    """Rows of weight 2 are two rows, those of weight 0 none."""
    weight = np.arange(len(Y)) % 3
    twice = np.repeat(np.arange(len(Y)), weight)
    options: Any = {"threshold": "zero", "tol": 1e-8, "C": 0.1}
    once = Structural(aim, **options).fit(X, Y, sample_weight=weight)
    many = Structural(aim, **options).fit(X[twice], Y[twice])
    assert once.objective_ == pytest.approx(many.objective_, rel=2e-8)
    np.testing.assert_allclose(once.coef_, many.coef_, rtol=0, atol=2e-3)


@pytest.mark.parametrize("aim", AIMS, ids=_named)
def test_where_it_stops_does_not_depend_on_how_weights_are_written(aim: Any) -> None:
    """At a gap of a tenth, far from the minimum: the same line for weights and for copies."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        x, y = make_classification(60, 4, weights=[0.6], flip_y=0.1, random_state=seed)
        weight = rng.integers(0, 4, 60)
        copies = rng.permutation(np.repeat(np.arange(60), weight))
        aim = "precision@6" if aim == "precision@20" else aim
        one = Structural(aim, threshold="zero", tol=0.1).fit(x, y, sample_weight=weight)
        two = Structural(aim, threshold="zero", tol=0.1).fit(x[copies], y[copies])
        assert one.n_iter_ == two.n_iter_
        np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("aim", AIMS, ids=_named)
def test_types_of_features_agree(aim: Any) -> None:
    fits = [
        Structural(aim, threshold="zero", tol=1e-9, max_iter=10**4).fit(x, Y)
        for x in (
            X,
            X.astype(np.float32),
            np.asfortranarray(X),
            sparse.csr_array(X),
            sparse.csr_matrix(X.astype(np.float32)),
        )
    ]
    for other in fits[1:]:
        np.testing.assert_allclose(other.coef_, fits[0].coef_, rtol=0, atol=2e-3)


def test_thresholds() -> None:
    zero = Structural("f1", threshold="zero").fit(X, Y)
    moved = Structural("f1", threshold="cross-fit", cv=3).fit(X, Y)
    np.testing.assert_array_equal(zero.coef_, moved.coef_)
    assert zero.intercept_ != moved.intercept_
    out = np.empty(len(Y))
    for train, test in StratifiedKFold(3).split(X, Y):
        part = Structural("f1", threshold="zero").fit(X[train], Y[train])
        out[test] = part.decision_function(X[test])
    expected = cs.choose(cs.sweep(Y, out), "f1").threshold
    assert zero.intercept_ - moved.intercept_ == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("aim", "k"), [("precision@k", 50), ("recall@k", 0.1), ("recall@7%", None), ("prbep", None)]
)
def test_at_k_flags_about_k(aim: str, k: float | None) -> None:
    line = Structural(aim, k=k, cv=5).fit(X, Y)
    wanted = {"recall@7%": 49, "prbep": int(Y.sum())}.get(aim, 50 if k == 50 else 70)
    assert abs(int(line.predict(X).sum()) - wanted) <= 0.3 * wanted


def _rare(n: int, shift: float) -> tuple[Any, Any]:
    """Positives that are 3 in 100 and lie further along two of eight features."""
    rng = np.random.default_rng(1)
    y = rng.random(n) < 0.03
    x = rng.normal(size=(n, 8))
    x[y, :2] += shift, shift / 2
    return x, y


def test_beats_logistic_regression_at_zero_on_rare_positives() -> None:
    x, y = _rare(20_000, 2.5)
    train, test = slice(0, 10_000), slice(10_000, None)
    plain = LogisticRegression().fit(x[train], y[train]).decision_function(x[test])
    line = Structural("f1", C=10).fit(x[train], y[train]).decision_function(x[test])

    def f1(scores: Any) -> float:
        return float(cs.sweep(y[test], scores).at(0.0).f1)

    assert f1(line) > f1(plain) + 0.02
    at_k = Structural("precision@150", threshold="zero").fit(x[train], y[train])

    def precision(scores: Any) -> float:
        return float(y[test][np.argsort(-scores)[:150]].mean())

    assert precision(at_k.decision_function(x[test])) >= precision(plain)


@pytest.mark.parametrize("aim", ["f1", "precision@k", "prbep"])
def test_says_when_the_surrogate_teaches_nothing(aim: str) -> None:
    x, y = _rare(4000, 1.0)
    k = 40 if aim == "precision@k" else None
    with warned("learned-nothing", UserWarning):
        line = Structural(aim, k=k, threshold="zero").fit(x, y)
    assert line.converged_
    assert not line.coef_.any()


def test_says_so_next_to_zero_as_well() -> None:
    """A minimum with 0.99999 of the objective at 0 taught nothing either, whatever tol is."""
    x, y = _rare(2000, 2.5)
    with warned("learned-nothing", UserWarning):
        line = Structural("balanced", C=1e-8, tol=1e-9).fit(x, y)
    assert line.coef_.any()
    fit = line.fit_
    assert 0.9999 * fit.at_zero < fit.objective < fit.at_zero


@pytest.mark.parametrize("aim", [*AIMS, cs.Costs(fp=1, fn=10)], ids=_named)
def test_scaled_C_means_the_same_at_any_size(aim: Any) -> None:
    """Copies of rows, other units of features and their offset change the scores by rounding."""
    one = Structural(aim, threshold="zero", tol=1e-6, max_iter=5000)
    k = {"precision@20": "precision@60"}
    three = Structural(k.get(aim, aim) if isinstance(aim, str) else aim, threshold="zero")
    three.set_params(tol=1e-6, max_iter=5000)
    first = one.fit(X, Y)
    copies = three.fit(np.tile(X, (3, 1)), np.tile(Y, 3))
    assert pytest.approx(first.C_ / 3, rel=0.01) == copies.C_
    scores, again = first.decision_function(X), copies.decision_function(X)
    np.testing.assert_allclose(again, scores, rtol=0, atol=0.02 * np.ptp(scores))
    C = first.C_
    assert pytest.approx(C / 1e6, rel=0.01) == one.fit(1000 * X + 7, Y).C_


@pytest.mark.parametrize("n", [1000, 100_000])
def test_the_default_C_is_near_the_best(n: int) -> None:
    x, y = _rare(n + 20_000, 2.5)
    train, test = slice(0, n), slice(n, None)

    def f1(model: Any) -> float:
        scores = model.fit(x[train], y[train]).decision_function(x[test])
        return float(cs.sweep(y[test], scores).at(0.0).f1)

    default = Structural("f1")
    value = f1(default)
    best = max(f1(Structural("f1", C=default.C_ * k, tol=1e-2)) for k in (0.1, 10.0))
    assert value > best - 0.03


def test_costs_are_weights_of_errors() -> None:
    costs = cs.Costs(fp=1, fn=8, tp=2)
    weight = np.where(Y == 1, 10.0, 1.0)
    n, mass = len(Y), weight.sum()
    ours = Structural(costs, C=0.5, tol=1e-8, max_iter=10**4).fit(X, Y)
    error = Structural("error", C=0.5 * n / mass, tol=1e-8, max_iter=10**4)
    error.fit(X, Y, sample_weight=weight)
    assert ours.objective_ == pytest.approx(error.objective_, rel=1e-7)
    np.testing.assert_allclose(ours.coef_, error.coef_, rtol=0, atol=2e-3)
    with finding("bad-argument", parameter="measure"):
        as_trainable(cs.Costs(fp=1, fn=8, review=0.1))


@pytest.mark.parametrize("aim", [*AIMS, cs.Costs(fp=1, fn=10)], ids=_named)
def test_a_search_scores_rows_left_out_by_the_measure(aim: Any) -> None:
    """The same as fits from nothing, to the tolerance of the search."""
    fold = np.arange(len(Y)) % 3
    found = search_C(ArrayRows(X, Y == 1), as_trainable(aim), fold, path=(1.0, 0.1))
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = StructuralCV(aim, Cs=(0.1, 1.0), cv=splits).fit(X, Y)
    assert model.Cs_.tolist() == list(found.Cs) == sorted(found.Cs)
    assert model.scores_.tolist() == list(found.scores)
    assert model.C_ == found.C
    measure = as_trainable(aim).for_rows(Masses.of(None, int(Y.sum()), int((1 - Y).sum())))
    for multiple, score in zip((0.1, 1.0), found.scores, strict=True):
        cold = []
        for k in range(3):
            rows = ArrayRows(X[fold != k], Y[fold != k] == 1)
            masses = RowRisk(rows, measure.surrogate, 1.0).masses
            C = multiple * scaled_C(rows, measure, masses)
            line = structural(rows, measure, C=C).detector
            cold.append(measure.held_out(Y[fold == k] == 1, line.scores(X[fold == k])))
        assert score == pytest.approx(np.mean(cold), abs=0.1 * max(abs(score), 0.2))


def test_the_measure_of_rows_left_out_by_another_route() -> None:
    rng = np.random.default_rng(0)
    scores, y = np.round(rng.normal(size=200) + Y[:200], 1), Y[:200] == 1
    weight = rng.integers(1, 4, 200).astype(float)
    s = cs.sweep(y, scores, weight)
    assert as_trainable("auc").held_out(y, scores, weight) == pytest.approx(s.auc, rel=1e-12)
    f1 = as_trainable("f1").held_out(y, scores, weight)
    assert f1 == pytest.approx(s.at(0.0).f1, rel=1e-12)
    distinct = rng.permutation(200).astype(float)
    top = y[np.argsort(-distinct)[:20]].mean()
    at_k = as_trainable("precision@20").held_out(y, distinct)
    assert at_k == pytest.approx(top * 20 / min(20, y.sum()), rel=1e-12)


def test_a_search_refuses_a_path_of_nothing() -> None:
    for path in ((), (0.0,), (-1.0, 1.0)):
        with finding("bad-argument", parameter="Cs"):
            StructuralCV(Cs=path).fit(X, Y)


def test_stalls_rather_than_looping_where_floats_are_at_their_end() -> None:
    x, y = _rare(500, 2.5)
    with warned("not-converged", ConvergenceWarning, learner="Structural"):
        line = Structural("f1", C=1.0, max_iter=10**6).fit(x * [1e-8, 1e8, 1, 1, 1, 1, 1, 1], y)
    assert line.n_iter_ < 1000


def test_in_a_grid_search() -> None:
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), Structural("f1")),
        {"structural__C": [0.01, 1.0], "structural__measure": ["f1", cs.f(2)]},
        scoring="f1",
        cv=3,
    ).fit(X, Y)
    assert grid.best_score_ > 0.3


def test_says_when_it_stops_early() -> None:
    with warned("not-converged", ConvergenceWarning, steps=2, most=2):
        line = Structural("f1", C=10, max_iter=2).fit(X, Y)
    assert not line.converged_
    assert line.gap_ > 1e-3 * line.objective_
    assert line.n_iter_ == 2
    assert line.passes_ == 4


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"C": 0}, "C"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"threshold": 0.5}, "threshold"),
        ({"threshold": "cross-fit", "cv": ShuffleSplit(2, random_state=0)}, "cv"),
    ],
)
def test_refusals(options: dict[str, Any], parameter: str) -> None:
    with finding("bad-argument", parameter=parameter):
        Structural(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"measure": "recall"}, {"code": "bad-argument", "parameter": "measure"}),
        ({"measure": cs.f(0)}, {"code": "bad-argument", "parameter": "measure"}),
        ({"measure": "precision@k"}, {"code": "bad-argument", "parameter": "k", "value": None}),
        (
            {"measure": "precision@k", "k": 2.5},
            {"code": "bad-argument", "parameter": "k", "value": 2.5},
        ),
        ({"measure": "precision@10", "k": 5}, {"code": "arguments-conflict"}),
        (
            {"measure": "f1", "k": 5},
            {"code": "arguments-conflict", "parameters": ("k", "measure")},
        ),
        ({"measure": "recall@k", "k": 10**6}, {"code": "bad-argument", "parameter": "k"}),
    ],
)
def test_measures_that_no_line_is_trained_for(
    options: dict[str, Any], found: dict[str, Any]
) -> None:
    with finding(**found):
        Structural(**options).fit(X, Y)


def test_a_fold_without_positives_to_train_on() -> None:
    y = np.zeros(60, int)
    y[:5] = 1
    with finding("bad-argument", parameter="cv"):
        Structural("auc", cv=KFold(2)).fit(X[:60], y)


def _odd_tables() -> Iterator[Any]:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4 == 0
    x = rng.normal(size=(60, 3))
    x[y] += 0.7
    yield pytest.param(np.column_stack((x, x[:, 0])), y, id="rank-deficient")
    yield pytest.param(np.column_stack((x, np.full(60, 7.0))), y, id="constant column")
    yield pytest.param(x, np.arange(60) == 11, id="one positive")
    yield pytest.param(x, np.arange(60) != 11, id="one negative")
    yield pytest.param(np.repeat(x[:10], 6, axis=0), y, id="duplicated rows")
    yield pytest.param(x * [1e-8, 1, 1e3], y, id="scales")
    yield pytest.param(np.zeros((60, 3)), y, id="all zero")
    yield pytest.param(rng.normal(size=(60, 200)), y, id="more columns than rows")
    yield pytest.param(x + 40 * y[:, None], y, id="separated")


@pytest.mark.parametrize("aim", AIMS, ids=_named)
@pytest.mark.parametrize(("x", "y"), list(_odd_tables()))
def test_odd_tables(aim: Any, x: Any, y: Any) -> None:
    a = as_trainable(aim)
    fit = structural(ArrayRows(x, y), a, C=0.1, max_iter=20_000)
    assert np.isfinite(fit.detector.w).all()
    assert fit.converged
    # Never above what w = 0 gives.
    risk = RowRisk(ArrayRows(x, y), a.surrogate, 1.0)
    zero = risk.worst(risk.scores(np.zeros(x.shape[1] + 1))).value
    assert fit.objective is not None
    assert fit.objective <= 0.1 * len(y) * zero * (1 + 1e-9)


@pytest.mark.parametrize("k", [30, 60, 71, 0.1, 0.103])
def test_folds_keep_the_share_and_the_surrogate(k: float) -> None:
    """Near k = P folds would otherwise train for different surrogates."""
    flagged = int(Structural("precision@k", k=k).fit(X, Y).predict(X).sum())
    wanted = k if k >= 1 else k * len(Y)
    assert abs(flagged - wanted) <= 0.25 * wanted


def test_folds_by_index_and_rows_without_weight() -> None:
    weight = np.where(np.arange(len(Y)) % 5 == 0, 0.0, 1.0)
    folds = list(StratifiedKFold(3).split(X, Y))
    some = weight > 0
    place = np.cumsum(some) - 1
    inner = [tuple(place[part][some[part]] for part in pair) for pair in folds]
    one = Structural("auc", cv=folds).fit(X, Y, sample_weight=weight)
    two = Structural("auc", cv=inner).fit(X[some], Y[some], sample_weight=weight[some])
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize(
    ("options", "weight", "found"),
    [
        ({"class_weight": {0: np.inf, 1: 1}}, None, {"parameter": "class_weight"}),
        ({"class_weight": {0: -1, 1: 1}}, None, {"parameter": "class_weight"}),
        ({}, 1e300, {"parameter": "sample_weight"}),
        ({}, 1e-300, {"parameter": "sample_weight"}),
        ({"C": "a"}, None, {"parameter": "C", "value": "a"}),
        ({"measure": "auc", "cv": 500}, None, {"code": "too-few", "need": 500}),
    ],
)
def test_more_refusals(
    options: dict[str, Any], weight: float | None, found: dict[str, Any]
) -> None:
    w = None if weight is None else np.full(len(Y), weight)
    with finding(**{"code": "bad-argument", **found}):
        Structural(**options).fit(X, Y, sample_weight=w)
