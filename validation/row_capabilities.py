"""The capabilities that the project is judged by, rows 1 to 42."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from math import log, log2
from pathlib import Path
from typing import Any

import numpy as np

import cutscore as cs
from cutscore import estimators, metrics, plot
from cutscore.linear import ArrayRows
from row_seeds import (
    LABELS,
    LINE,
    POINTS,
    counts,
    near,
    pairs_auc,
    same,
    two_classes,
)
from rows import row


def drawn(n: int = 400, seed: int = 0, digits: int = 9, gap: float = 1.2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + gap * y, digits)


def placements(y: Any, score: Any, weight: Any = None) -> tuple[Any, Any]:
    """Of each row, the share of the other class that it is on the right side of."""
    a, b = score[y], score[~y]
    won = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    w = np.ones(len(y)) if weight is None else weight
    return np.average(won, axis=1, weights=w[~y]), np.average(won, axis=0, weights=w[y])


def command(*arguments: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cutscore", *map(str, arguments)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-300:]
    return done.stdout.decode()


def payments(folder: str, n: int = 600) -> Path:
    """A table with a label, two numbers, a word, and a missing value."""
    rng = np.random.default_rng(1)
    y = rng.random(n) < 0.3
    a, b = rng.normal(size=n) + 1.5 * y, 10 * rng.normal(size=n) - 5 * y
    words = np.where(rng.random(n) < 0.2 + 0.5 * y, "web", "shop")
    file = Path(folder) / "t.csv"
    lines = [f"{int(k)},{u:.6f},{v:.6f},{w}" for k, u, v, w in zip(y, a, b, words, strict=True)]
    lines[7] = f"0,,{b[7]:.6f},web"
    file.write_text("\n".join(["fraud,gap,amount,channel", *lines]) + "\n")
    return file


@row("1", "ROC points by one sort, ties right (000, 003)")
def _() -> None:
    from sklearn.metrics import roc_curve

    y, score = drawn(digits=1)
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    r = cs.roc(cs.sweep(y, score))
    near([r.fpr, r.tpr], [fpr, tpr], 1e-15)


@row("2", "exact AUC, integer arithmetic (000, 003)")
def _() -> None:
    for digits in (0, 1, 9):
        y, score = drawn(120, digits=digits)
        exact = pairs_auc(y, score)
        same(cs.sweep(y, score).auc, exact.numerator / exact.denominator)
    big = cs.Sweep.from_counts([2.0, 1.0], pos=[2**40, 1], neg=[1, 2**40])  # past float32, float64
    exact = Fraction(2 * 2**40 * 2**40 + 2**40 + 2**40, 2 * (2**40 + 1) ** 2)
    same(big.auc, exact.numerator / exact.denominator)


@row("3", "AUC on torch tensors on their device (003)", slow=True)
def _() -> None:
    import torch
    from sklearn.metrics import roc_auc_score as theirs

    from cutscore.torch import roc_auc_score

    y, score = drawn(2000, digits=2)
    a, b = torch.tensor(y), torch.tensor(score)
    for shape in ((-1,), (-1, 1), (1, -1)):
        got = roc_auc_score(a.reshape(shape), b.reshape(shape))
        near(float(got), theirs(y, score), 1e-12)


@row("4", "classifiers as points beside curves, joint hull (000)")
def _() -> None:
    from scipy.spatial import ConvexHull

    y, score = drawn(100)
    s = cs.sweep(y, score)
    rules = {"good": (0.05, 0.6), "bad": (0.6, 0.5)}
    h = cs.hull({"score": s, **rules})
    r = cs.roc(s)
    cloud = np.vstack((np.column_stack((r.fpr, r.tpr)), list(rules.values()), [(1, 0)]))
    around = {tuple(p) for p in cloud[ConvexHull(cloud).vertices].round(9).tolist()} - {(1.0, 0.0)}
    mine = set(zip(h.fpr.round(9).tolist(), h.tpr.round(9).tolist(), strict=True))
    same(mine, around)
    assert plot.hull(h).lines


@row("5", "threshold w₀ = ln(λ₋/λ₊), cost and prior late-bound (000, 001)")
def _() -> None:
    c = cs.Affine(gamma=2.0, d0=0.5)
    for fp, fn, prior in ((1, 1, 0.5), (1, 20, 0.1), (7, 2, 0.01)):
        at = 0.5 + (log(fp / fn) - log(prior / (1 - prior))) / 2
        got = c.decide([at - 1e-9, at + 1e-9], cs.Costs(fp=fp, fn=fn), prior=prior)
        same(got.tolist(), [False, True])


@row("6", "cost-optimal threshold exact over all cuts (000)")
def _() -> None:
    y, score = drawn(300, digits=1)
    for fp, fn in ((1, 1), (1, 7), (3, 0.5)):
        p = cs.choose(cs.sweep(y, score), cs.Costs(fp=fp, fn=fn))
        every = [
            c[1] * fp + c[2] * fn for t in [*np.unique(score), np.inf] if (c := counts(y, score, t))
        ]
        near(p.value * len(y), min(every))


@row("7", "all cost ratios at once from the hull (000)")
def _() -> None:
    y, score = drawn(300, digits=1)
    s, ratios = cs.sweep(y, score), np.geomspace(0.01, 100, 60)
    cuts = [counts(y, score, t) for t in [*np.unique(score), np.inf]]
    for ratio, t in zip(ratios, cs.thresholds_for(s, ratios), strict=True):
        _, fp, fn, _ = counts(y, score, t)
        near(ratio * fp + fn, min(ratio * c[1] + c[2] for c in cuts))


@row("8", "confusion a, b, c, d and its measures, F_β, balanced (002, 004)")
def _() -> None:
    from sklearn import metrics as theirs

    y, score = drawn()
    flag, c = score >= 0.7, cs.sweep(y, score).at(0.7)
    tn, fp, fn, tp = theirs.confusion_matrix(y, flag).ravel()
    same((c.tp, c.fp, c.fn, c.tn), (tp, fp, fn, tn))
    near(
        [c.recall, c.precision, c.f1, c.f(2), c.accuracy, c.balanced_rate, c.mcc],
        [
            theirs.recall_score(y, flag),
            theirs.precision_score(y, flag),
            theirs.f1_score(y, flag),
            theirs.fbeta_score(y, flag, beta=2),
            theirs.accuracy_score(y, flag),
            theirs.balanced_accuracy_score(y, flag),
            theirs.matthews_corrcoef(y, flag),
        ],
    )


@row("9", "recall@k, precision@k, ties right (002)")
def _() -> None:
    y, score = drawn(300)
    for k in (5, 60):
        top = np.argsort(-score)[:k]
        near(cs.choose(cs.sweep(y, score), f"precision@{k}").value, y[top].mean())
        near(cs.choose(cs.sweep(y, score), f"recall@{k}").value, y[top].sum() / y.sum())
    tied = cs.sweep([1, 0, 1, 0, 0], [3, 2, 2, 2, 1])  # no cut flags two rows
    same(cs.choose(tied, "recall@2").confusion.flagged, 1)


def _own(tp: Any, fp: Any, _fn: Any, _tn: Any) -> Any:
    return np.sqrt(tp) - 0.1 * fp


@row("10", "any objective under any constraints, exact")
def _() -> None:
    y, score = drawn(200, digits=1)
    s = cs.sweep(y, score)
    every = [counts(y, score, t) for t in [*np.unique(score), np.inf]]
    allowed = [(a, b, c, d) for a, b, c, d in every if a + b <= 80 and a + b and a / (a + b) >= 0.6]
    best = max(2 * a / (2 * a + b + c) for a, b, c, d in allowed)
    near(cs.choose(s, "f1", subject_to=["flagged <= 80", "precision >= 60 %"]).value, best)
    own = cs.choose(s, _own, subject_to="recall >= 0.5")
    half = [(a, b) for a, b, c, _ in every if a >= 0.5 * (a + c)]
    near(own.value, max(np.sqrt(a) - 0.1 * b for a, b in half))


@row("11", "signed distance, unit w, margin, margin histogram (001, 004)")
def _() -> None:
    near(LINE.signed_distance(POINTS), (POINTS @ [3, 4] - 5) / 5)
    m = LINE.margins(POINTS, LABELS == 1)
    near(m.value, np.where(LABELS, 1, -1) * (POINTS @ [3, 4] - 5) / 5)
    count, edges = m.histogram(5)
    same(count.tolist(), np.histogram(m.value, edges)[0].tolist())


@row("12", "logistic calibration γ, d₀ from moments, LR, clr (001)")
def _() -> None:
    from scipy.stats import norm

    y, d = drawn(3000)
    c = cs.calibrate(cs.sweep(y, d), "logistic")
    means = d[y].mean(), d[~y].mean()
    near(c.d0, sum(means) / 2)
    sigma = ((means[0] - means[1]) / c.gamma) ** 0.5
    pooled = np.concatenate((d[y] - means[0], d[~y] - means[1]))
    near(sigma, pooled.std(), 1e-3)
    lr = norm.pdf(0.7, means[0], sigma) / norm.pdf(0.7, means[1], sigma)
    near(c.probability(0.7, prior=0.2), lr / (lr + 1 / 0.25))


@row("13", "calibration folds into the line (001)")
def _() -> None:
    c = cs.Affine(gamma=1.5, d0=-0.2)
    near(LINE.then(c).scores(POINTS), [1.5 * ((3 * a + 4 * b - 5) + 0.2) for a, b in POINTS])


@row("14", "monotone calibration = ROC hull = PAV, exposed (001)")
def _() -> None:
    from scipy.optimize import isotonic_regression

    y, score = drawn(300, digits=2)
    s = cs.sweep(y, score)
    mass = s.pos + s.neg
    fit = isotonic_regression(s.pos / mass, weights=mass, increasing=False).x
    c = cs.calibrate(s, "monotone", smooth=False, interpolate=False)
    near(c.probability(s.threshold, prior=y.mean()), fit)
    h = cs.hull(s)
    same(len(np.unique(fit)), len(h.odds))
    with np.errstate(divide="ignore"):
        near(np.unique(fit)[::-1], 1 / (1 + 1 / h.odds))


@row("15", "probability surface, sigmoid, calibration pictures (001)")
def _() -> None:
    from cutscore.report import render, summarise_fit
    from cutscore.training import train

    X, y = two_classes(300)
    t = train({"y": y, "a": X[:, 0], "b": X[:, 1]}, "y", learner="fisher")
    s = summarise_fit(t).grid
    calibrator, line = t.detector.policy.calibrator, t.line
    z = [
        (v - c.mean) / c.scale for v, c in zip((s.x1[3], s.x2[9]), t.encoding.columns, strict=True)
    ]
    odds = calibrator.llr(float(line.w @ z + line.b)) + log(y.mean() / (1 - y.mean()))
    near(s.p[9, 3], 1 / (1 + np.exp(-odds)))
    assert "Probability of a positive" in render(summarise_fit(t), "t")
    ax = plot.distances(cs.sweep(y, LINE.signed_distance(X)), densities=True)
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "P(+|d)"
    plot.reliability(cs.reliability(cs.sweep(y, 1 / (1 + np.exp(-X[:, 0])))))


@row("16", "mean-difference classifier (001)")
def _() -> None:
    from sklearn.neighbors import NearestCentroid

    X, y = two_classes(400, 3)
    same(
        estimators.MeanDifference().fit(X, y).predict(X).tolist(),
        NearestCentroid().fit(X, y).predict(X).tolist(),
    )


@row("17", "least squares, regression (004)")
def _() -> None:
    from sklearn.linear_model import LogisticRegression, RidgeClassifier

    X, y = two_classes(400, 3)
    near(
        np.ravel(estimators.LeastSquares(alpha=2.0).fit(X, y).decision_function(X)) >= 0,
        RidgeClassifier(alpha=2.0).fit(X, y).decision_function(X) >= 0,
    )
    near(
        estimators.Logistic(C=0.5).fit(X, y).predict_proba(X),
        LogisticRegression(C=0.5, tol=1e-10).fit(X, y).predict_proba(X),
        1e-6,
    )


@row("18", "perceptron exactly as given, incremental, margins (004)")
def _() -> None:
    from rows import ROWS

    for key in ("004.18", "004.19", "004.20", "004.21"):
        next(r for r in ROWS if r.key == key).check()


@row("19", "Gaussian (Bayesian) and Fisher discriminant (004)")
def _() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = two_classes(400, 3)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    w = theirs.coef_[0] / np.linalg.norm(theirs.coef_)
    for e in (estimators.GaussianDiscriminant(), estimators.Fisher()):
        mine = np.ravel(e.fit(X, y).coef_)
        near(mine / np.linalg.norm(mine), w, 1e-8)
    same(
        estimators.GaussianDiscriminant().fit(X, y).predict(X).tolist(), theirs.predict(X).tolist()
    )


@row("20", "structural learning: balanced, F1, F_β (002)")
def _() -> None:
    from scipy.optimize import minimize

    import row_seeds
    from cutscore.linear.structural import as_trainable, structural

    rng = np.random.default_rng(2)
    y = np.arange(10) < 4
    X = rng.normal(size=(10, 1)) + 1.0 * y[:, None]
    for name in ("balanced", "f1", "f2"):
        aim = as_trainable(cs.f(2.0) if name == "f2" else name)
        fit = structural(ArrayRows(X, y), aim, C=0.3, tol=1e-9)
        table = row_seeds.labellings(y, row_seeds.losses(name, 4, 6))

        def objective(w: Any, table: Any = table) -> float:
            return float(np.dot(w, w)) / 2 + 0.3 * table(X[:, 0] * w[0] + w[1])

        least = minimize(objective, [fit.detector.w[0], fit.detector.b], method="Nelder-Mead")
        near(objective([fit.detector.w[0], fit.detector.b]), fit.objective)
        assert fit.objective <= least.fun + 1e-6


@row("21", "structural learning: precision@k, recall@k, AUC (002)")
def _() -> None:
    from scipy.optimize import minimize_scalar

    from cutscore.linear.structural import as_trainable, structural

    rng = np.random.default_rng(3)
    y = np.arange(40) < 15
    x = rng.normal(size=40) + 1.0 * y
    fit = structural(ArrayRows(x[:, None], y), as_trainable("auc"), C=0.2, tol=1e-9)

    def objective(w: float) -> float:  # pairs, each a hinge
        return w * w / 2 + 0.2 * 40 * np.maximum(0, 1 - w * (x[y][:, None] - x[~y])).mean()

    near(fit.objective, minimize_scalar(objective).fun, 1e-5)
    e = estimators.Structural("precision@10").fit(x[:, None], y)
    assert e.coef_[0, 0] > 0
    import row_seeds

    row_seeds.at_any_k()


@row("22", "argmax over (a, b) faster than P·N (002)")
def _() -> None:
    import time

    from cutscore.linear.structural import as_trainable
    from cutscore.linear.surrogates import Classes, Masses

    rng, seconds = np.random.default_rng(4), []
    for n in (20_000, 160_000):
        s = Classes(np.sort(rng.normal(0.2, size=n))[::-1], np.sort(rng.normal(size=n))[::-1])
        f1 = as_trainable("f1").surrogate(Masses.of(None, n, n))
        times = []
        for _ in range(4):
            start = time.process_time()
            f1.worst(s)
            times.append(time.process_time() - start)
        seconds.append(min(times))
    assert seconds[1] < 40 * seconds[0] + 0.1, seconds  # 64 × if it were P·N


@row("23", "K classes, g: R^D→R^K, decision d(g(x)) (004)")
def _() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, RidgeClassifier

    import row_seeds

    X, y, _ = row_seeds.blobs()
    for mine, theirs in (
        (estimators.GaussianDiscriminant(), LinearDiscriminantAnalysis()),
        (estimators.LeastSquares(alpha=1.0), RidgeClassifier(alpha=1.0)),
        (estimators.Logistic(C=1.0), LogisticRegression(C=1.0, tol=1e-9, max_iter=1000)),
    ):
        g = mine.fit(X, y).decision_function(X)
        same(g.shape, (len(y), 3))
        same(mine.classes_[g.argmax(axis=1)].tolist(), mine.predict(X).tolist())
        assert (mine.predict(X) == theirs.fit(X, y).predict(X)).mean() > 0.998


@row("24", "PR, DET, gain/lift, cost and net-benefit curves")
def _() -> None:
    from sklearn.metrics import det_curve, precision_recall_curve

    y, p = drawn()
    p = 1 / (1 + np.exp(-p))
    s = cs.sweep(y, p)
    precision, recall, _ = precision_recall_curve(y, p)
    near([cs.pr(s).precision[1:], cs.pr(s).recall[1:]], [precision[-2::-1], recall[-2::-1]])
    fpr, fnr, _ = det_curve(y, p)
    d = cs.det(s)
    assert set(zip(fpr.round(9).tolist(), fnr.round(9).tolist(), strict=True)) <= set(
        zip(d.fpr.round(9).tolist(), d.fnr.round(9).tolist(), strict=True)
    )
    top = np.argsort(-p)[:40]
    near(cs.lift(s).lift[40], y[top].mean() / y.mean())
    near(cs.gain(s).gain[40], y[top].sum() / y.sum())
    every = [counts(y, p, t) for t in [*p, 9]]
    near(cs.cost_curve(s).cost(0.5), min(b / (~y).sum() + c / y.sum() for _, b, c, _ in every) / 2)
    tp, fp, _, _ = counts(y, p, 0.4)
    near(np.ravel(cs.net_benefit_at(s, [0.4]).net_benefit.value), [(tp - fp * 2 / 3) / len(y)])


@row("25", "partial AUC any interval, AP, H, KS, EER")
def _() -> None:
    from scipy.integrate import quad
    from scipy.stats import beta, ks_2samp
    from sklearn.metrics import average_precision_score, roc_auc_score

    y, score = drawn(digits=1)
    s, r = cs.sweep(y, score), cs.roc(cs.sweep(y, score))
    near(cs.partial_auc(s, max_fpr=0.2, standardized=True), roc_auc_score(y, score, max_fpr=0.2))
    grid = np.union1d(np.linspace(0.1, 0.5, 40_001), r.fpr[(r.fpr > 0.1) & (r.fpr < 0.5)])
    near(
        cs.partial_auc(s, min_fpr=0.1, max_fpr=0.5),
        np.trapezoid(np.interp(grid, r.fpr, r.tpr), grid),
        1e-4,
    )
    near(cs.average_precision(s), average_precision_score(y, score))
    near(cs.kolmogorov_smirnov(s), ks_2samp(score[y], score[~y]).statistic)
    near(cs.equal_error_rate(s), np.interp(0.0, r.fpr - (1 - r.tpr), r.fpr))
    share = y.mean()
    w = beta(1 + share, 2 - share).pdf  # Hand & Anagnostopoulos 2014: its mode is at π₊
    of_cuts = np.column_stack(((1 - share) * r.fpr, share * (1 - r.tpr)))

    def least(c: float) -> float:
        return w(c) * np.min(of_cuts @ [c, 1 - c])

    def trivial(c: float) -> float:
        return w(c) * min(c * (1 - share), (1 - c) * share)

    loss, worst = (quad(f, 0, 1, limit=200)[0] for f in (least, trivial))
    near(cs.h_measure(s), 1 - loss / worst, 1e-5)


@row("26", "sample weights everywhere incl. intervals")
def _() -> None:
    from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

    rng = np.random.default_rng(5)
    y, score = drawn(300)
    w = rng.exponential(size=300)
    s = cs.sweep(y, score, w, squares=True)
    near(s.auc, roc_auc_score(y, score, sample_weight=w))
    near(cs.average_precision(s), average_precision_score(y, score, sample_weight=w))
    p = 1 / (1 + np.exp(-score))
    near(cs.brier(cs.sweep(y, p, w)), brier_score_loss(y, p, sample_weight=w))
    # A bootstrap of the rows, by hand, has the standard error of DeLong's and of our bootstrap.
    aucs = []
    for _ in range(200):
        at = np.concatenate([rng.choice(np.flatnonzero(k), k.sum()) for k in (y, ~y)])
        aucs.append(roc_auc_score(y[at], score[at], sample_weight=w[at]))
    near(
        [cs.bootstrap(s, n=400).standard_error, cs.auc_variance(s) ** 0.5], 2 * [np.std(aucs)], 0.15
    )
    # Equal weights are none: bootstrap, stability, the band, guarantees.
    plain, equal = cs.sweep(y, p), cs.sweep(y, p, np.full(300, 3.0), squares=True)
    near(cs.bootstrap(equal, n=50).replicates, cs.bootstrap(plain, n=50).replicates)
    near(cs.reliability(equal, n=50).high, cs.reliability(plain, n=50).high)
    both = [cs.choose(x, "f1").stability(30).threshold for x in (equal, plain)]
    near(*both)
    asked = {"subject_to": "fpr <= 0.1", "confidence": 0.9}
    same(*(cs.choose(x, "recall", **asked).threshold for x in (equal, plain)))
    assert cs.choose(cs.sweep(y, p, w, squares=True), "recall", **asked).confusion.fpr < 0.1


@row("27", "DeLong, paired test, bootstrap of anything")
def _() -> None:
    y, a = drawn(300, digits=1)
    b = a + np.random.default_rng(6).normal(size=300)
    (va, na), (vb, nb) = placements(y, a), placements(y, b)
    P, N = y.sum(), (~y).sum()
    near(cs.auc_variance(cs.sweep(y, a)), va.var(ddof=1) / P + na.var(ddof=1) / N)
    spread = ((va - vb).var(ddof=1) / P + (na - nb).var(ddof=1) / N) ** 0.5
    c = cs.compare(y, a, b)
    near([c.difference, c.z], [va.mean() - vb.mean(), (va.mean() - vb.mean()) / spread])
    boot = cs.bootstrap(cs.sweep(y, a), lambda s: s.at(1.0).recall, n=1000)
    recall = (a[y] >= 1.0).mean()
    near(boot.standard_error, (recall * (1 - recall) / P) ** 0.5, 0.1)


@row("28", "threshold/regret stability")
def _() -> None:
    y, score = drawn(200)
    p = cs.choose(cs.sweep(y, score), cs.Costs(fp=1, fn=3))
    moved = p.stability(40)

    def cost(t: float) -> float:
        _, fp, fn, _ = counts(y, score, t)
        return (fp + 3 * fn) / len(y)

    near(moved.regret, [cost(t) - cost(p.threshold) for t in moved.threshold])


@row("29", "guaranteed thresholds, finite sample, all cuts")
def _() -> None:
    from scipy.stats import binom

    y, score = drawn(600)
    p = cs.choose(cs.sweep(y, score), "recall", subject_to="fpr <= 0.1", confidence=0.95)
    N = int((~y).sum())
    k = max(j for j in range(N) if binom.cdf(j, N, 0.1) <= 0.05)  # Clopper–Pearson
    after = np.sort(score[~y])[::-1][k]  # what it flags must lie above this negative
    assert p.threshold > after
    same(p.confusion.tp, int((score[y] > after).sum()))


@row("30", "prior shift estimated and corrected")
def _() -> None:
    rng = np.random.default_rng(7)
    y = rng.random(8000) < 0.4
    new = rng.random(40_000) < 0.1
    s = cs.sweep(y, rng.normal(2.0 * y))
    found = cs.prior_shift(s, rng.normal(2.0 * new))
    assert abs(found.prior - 0.1) < 0.02
    assert 0.1 in found.interval
    llr = 0.7
    near(cs.probability(llr, prior=0.1), 1 / (1 + np.exp(-llr) * 9))


@row("31", "Platt, beta, Venn–Abers, comparison out of fold")
def _() -> None:
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    y, score = drawn(500)
    s, p = cs.sweep(y, score), 1 / (1 + np.exp(-score))
    plain = LogisticRegression(C=np.inf, tol=1e-12).fit(score[:, None], y)
    platt = cs.calibrate(s, "platt", smooth=False)
    near(platt.probability(score, prior=y.mean()), plain.predict_proba(score[:, None])[:, 1], 1e-4)
    X = np.column_stack((np.log(p), -np.log1p(-p)))
    two = LogisticRegression(C=np.inf, tol=1e-12, max_iter=5000).fit(X, y)
    beta = cs.calibrate(cs.sweep(y, p), "beta")
    near(beta.probability(p, prior=y.mean()), two.predict_proba(X)[:, 1], 1e-3)
    v = cs.venn_abers(s, [0.3])
    ends = []
    for label in (0, 1):
        iso = IsotonicRegression().fit(np.append(score, 0.3), np.append(y.astype(float), label))
        ends.append(iso.predict([0.3])[0])
    near([v.low[0], v.high[0]], ends)
    same(len(cs.cross_fit(y, score, "platt")), 500)


@row("32", "CORP reliability, score decomposition, Cllr")
def _() -> None:
    from scipy.optimize import isotonic_regression
    from sklearn.metrics import brier_score_loss

    y, score = drawn(400, digits=1)
    p = 1 / (1 + np.exp(-score))
    s = cs.sweep(y, p)
    mass = s.pos + s.neg
    best = isotonic_regression(s.pos / mass, weights=mass, increasing=False).x
    near(cs.reliability(s, level=None).calibrated, best)
    d = cs.decompose(s)
    recalibrated = float(np.sum(s.pos * (1 - best) ** 2 + s.neg * best**2)) / len(y)
    whole = brier_score_loss(y, p)
    base = y.mean() * (1 - y.mean())
    near(
        [d.score, d.miscalibration, d.discrimination],
        [whole, whole - recalibrated, base - recalibrated],
    )
    by_hand = (
        np.mean(np.log2(1 + np.exp(-score[y]))) + np.mean(np.log2(1 + np.exp(score[~y])))
    ) / 2
    near(cs.cllr(cs.sweep(y, score)), by_hand)
    near(cs.cllr(cs.sweep([1, 0], [0.0, 0.0])), log2(2))


@row("33", "per-group AUC (CTR)")
def _() -> None:
    from sklearn.metrics import roc_auc_score

    y, score = drawn(300, digits=1)
    group = np.arange(300) % 7
    g = cs.by_group(y, score, group)
    theirs = [roc_auc_score(y[group == k], score[group == k]) for k in range(7)]
    near(g.auc, theirs)
    sizes = [(group == k).sum() for k in range(7)]
    near([g.macro, g.weighted], [np.mean(theirs), np.average(theirs, weights=sizes)])


@row("34", "exact merge of partial results (monoid)")
def _() -> None:
    y, score = drawn(1000, digits=2)
    parts = [cs.sweep(y[k::7], score[k::7]) for k in range(7)]
    whole, merged = cs.sweep(y, score), sum(parts[::-1])
    for name in ("threshold", "pos", "neg"):
        same(getattr(merged, name).tolist(), getattr(whole, name).tolist())
    exact = pairs_auc(y, score)
    same(merged.auc, exact.numerator / exact.denominator)


@row("35", "constant-memory stream with a certified interval")
def _() -> None:
    rng = np.random.default_rng(8)
    y = rng.random(4000) < 0.2
    score = rng.normal(size=4000) + y
    batches = ((y[k : k + 500], score[k : k + 500]) for k in range(0, 4000, 500))
    b = cs.BinnedSweep.from_batches(batches, bits=10)
    exact = np.mean(placements(y, score)[0])
    assert b.auc.low <= exact <= b.auc.high
    same(len(b.bin_pos), 2**10)


LARGE = """
import json, resource, sys, time
import cutscore as cs
path, limit = sys.argv[1], sys.argv[2]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
cs.sweep_file(path, label="y", score="s", binned=True)
before = peak()
s = cs.sweep_file(path, label="y", score="s", memory_limit=limit)
p = cs.choose(s, cs.Costs(fp=1, fn=9))
i = cs.auc_interval(s, method="delong")
h = cs.hull(s)
out = [s.auc, p.threshold, p.confusion.tp, p.confusion.fp, i.low, i.high, h.auc, peak() - before]
print(json.dumps(out))
"""


@row("36", "bigger than memory on one machine", slow=True)
def _() -> None:
    """An exact sweep of 3·10⁷ distinct scores takes 720 MB; it is allowed 300."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from scipy.stats import norm, rankdata

    rng = np.random.default_rng(9)
    y = rng.random(3 * 10**7) < 0.1
    score = rng.normal(size=len(y)) + 1.5 * y
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table({"y": y, "s": score}), f"{folder}/t.parquet", row_group_size=10**6)
        done = subprocess.run(
            [sys.executable, "-c", LARGE, f"{folder}/t.parquet", "300 MB"],
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode().strip().splitlines()[-1]
        area, threshold, tp, fp, low, high, over, grown = json.loads(done.stdout)
    rank, P, N = rankdata(score), int(y.sum()), int((~y).sum())
    exact = (rank[y].sum() - P * (P + 1) / 2) / P / N
    near(area, exact, 1e-12)
    a = (rank[y] - rankdata(score[y])) / N
    b = 1 - (rank[~y] - rankdata(score[~y])) / P
    half = norm.ppf(0.975) * (a.var(ddof=1) / P + b.var(ddof=1) / N) ** 0.5
    near([low, high], [exact - half, exact + half])
    order = np.argsort(-score)
    tps, fps = np.cumsum(y[order]), np.cumsum(~y[order])
    cost = fps + 9 * (P - tps)
    same((tp, fp), (int(tps[cost.argmin()]), int(fps[cost.argmin()])))
    same(int((score >= threshold).sum()), tp + fp)
    assert over >= exact
    assert grown <= 300e6, grown


@row("37", "distributed and exact", slow=True)
def _() -> None:
    from cutscore import spark

    y, score = drawn(2000, digits=2)
    with spark.session("local[2]") as session:
        rows_ = [(bool(a), float(b)) for a, b in zip(y, score, strict=True)]
        frame = session.createDataFrame(rows_, "y boolean, s double").repartition(5)
        s = spark.sweep(frame, label="y", score="s")
        g = spark.by_group(
            session.createDataFrame(
                [(*r, k % 3) for k, r in enumerate(rows_)], "y boolean, s double, g int"
            ),
            label="y",
            score="s",
            group="g",
        )
    exact = pairs_auc(y, score)
    same(s.auc, exact.numerator / exact.denominator)
    for k, auc in zip(g.group, g.auc, strict=True):
        near(auc, float(pairs_auc(y[int(k) :: 3], score[int(k) :: 3])))


@row("38", "every learner from files and on the cluster", slow=True)
def _() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression

    from cutscore import spark
    from cutscore.linear.closed import fisher
    from cutscore.linear.logistic import logistic
    from cutscore.training.registry import LEARNERS

    X, y = two_classes(600)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).coef_[0]
    lr = LogisticRegression(C=1.0, tol=1e-10).fit(X, y).coef_[0]
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/t.parquet"
        pq.write_table(pa.table({"y": y, "a": X[:, 0], "b": X[:, 1]}), file, row_group_size=100)
        there = cs.rows_file(file, features=["a", "b"], label="y")
        near(logistic(there).detector.w, lr, 1e-4)
        for learner in LEARNERS.values():
            here = learner.fit(ArrayRows(X, y), None).detector
            away = learner.fit(there, None).detector
            near([*here.w, here.b], [*away.w, away.b], 1e-3)
        with spark.session("local[2]"):
            w = fisher(spark.rows(file, features=["a", "b"], label="y")).detector.w
    near(w / np.linalg.norm(w), lda / np.linalg.norm(lda), 1e-7)


@row("39", "table → detector → decision in one command", slow=True)
def _() -> None:
    from sklearn.metrics import roc_auc_score

    with tempfile.TemporaryDirectory() as folder:
        file, model = payments(folder), f"{folder}/m.json"
        command("fit", file, "--target", "fraud", "--cost", "fp=1,fn=5", "-o", model, "-q")
        out = f"{folder}/out.csv"
        command("apply", model, file, "-o", out, "-q")
        head, *lines = Path(out).read_text().splitlines()
        names = head.split(",")
        score = [float(line.split(",")[names.index("score")]) for line in lines]
        y = [int(line.split(",")[0]) for line in lines]
    assert roc_auc_score(y, score) > 0.85


@row("40", "artefact: readable, safe, exports SQL/ONNX/sklearn", slow=True)
def _() -> None:
    import duckdb
    import onnxruntime

    from cutscore.detector import Detector
    from cutscore.detector.export import onnx_inputs, to_onnx, to_sklearn, to_sql
    from cutscore.training import train

    X, y = two_classes(300)
    data = {"y": y, "a": X[:, 0], "b": X[:, 1]}
    d = train(data, "y", learner="fisher").detector
    score = d.scores(data)
    again = Detector.from_json(d.to_json())
    same(again.scores(data).tolist(), score.tolist())
    json.loads(d.to_json())
    import pyarrow as pa

    data_ = pa.table(data)  # DuckDB finds it by its name
    found = duckdb.sql(to_sql(d, "data_", dialect="duckdb")).fetchnumpy()
    near(np.sort(np.asarray(found["score"], float)), np.sort(score))
    run = onnxruntime.InferenceSession(to_onnx(d).SerializeToString())
    got = run.run(["score"], onnx_inputs(d, data))[0]
    near(np.ravel(got), score)
    import pandas as pd

    frame = pd.DataFrame({"a": data["a"], "b": data["b"]})
    near(to_sklearn(d).predict_proba(frame)[:, 1], d.probability(data))
    assert data_ is not None


@row("41", "interactive self-contained report")
def _() -> None:
    import re

    from cutscore.report import render, summarise

    y, score = drawn(200)
    page = render(summarise(y, {"<i>mine</i>": score}), "<b>T</b>", points={"old <u>": (0.5, 0.2)})
    assert "<b>T</b>" not in page
    assert "<i>mine" not in page
    assert "old &lt;u&gt;" in page
    assert not re.search(r'(src|href)="(?!#)', page)  # nothing is fetched
    assert "default-src 'none'" in page
    assert 'type="range"' in page
    state = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert state


@row("42", "sklearn contract: check_estimator, drop-in metrics", slow=True)
def _() -> None:
    from sklearn import metrics as theirs
    from sklearn.utils.estimator_checks import check_estimator

    from cutscore.estimators import expected_failed_checks

    y, score = drawn(digits=1)
    near(metrics.roc_auc_score(y, score), theirs.roc_auc_score(y, score))
    for a, b in zip(metrics.roc_curve(y, score), theirs.roc_curve(y, score), strict=True):
        near(a, b, 1e-15)
    for name in estimators.__all__:
        if isinstance(getattr(estimators, name), type):
            e = getattr(estimators, name)()
            check_estimator(e, expected_failed_checks=expected_failed_checks(e))
