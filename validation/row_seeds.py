"""The items of the five source documents: formulas, algorithms, worked examples and figures.

000 is on ROC curves and thresholds, 001 on probabilities of linear classifiers, 002 on bipartite
ranking, 003 on the AUC with a function in PyTorch, 004 on linear detectors. Where a document has a
slip, the check is of the corrected formula.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log, pi, sqrt
from typing import Any

import numpy as np
from scipy.optimize import minimize

import cutscore as cs
from cutscore import estimators, plot
from cutscore.linear import ArrayRows
from cutscore.linear.perceptron import perceptron
from cutscore.linear.structural import as_trainable, structural
from cutscore.linear.surrogates import Classes, Masses
from rows import row

# Document 003's first example, and its second, with ties.
Y8, S8 = [1, 0, 1, 1, 0, 1, 0, 0], [0.91, 0.85, 0.77, 0.72, 0.61, 0.48, 0.42, 0.33]
Y7, S7 = [1, 0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.3, 0.3, 0.9, 0.2, 0.2]


def near(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def same(a: Any, b: Any) -> None:
    assert a == b, (a, b)


def counts(y: Any, score: Any, t: float) -> tuple[int, int, int, int]:
    """TP, FP, FN, TN by counting rows."""
    y, flagged = np.asarray(y) == 1, np.asarray(score) >= t
    return tuple(
        int(np.sum(a & b)) for a, b in ((y, flagged), (~y, flagged), (y, ~flagged), (~y, ~flagged))
    )


def pairs_auc(y: Any, score: Any) -> Fraction:
    """P(s₊ > s₋) + ½ P(s₊ = s₋), pair by pair."""
    ones = [s for k, s in zip(y, score, strict=True) if k == 1]
    zeros = [s for k, s in zip(y, score, strict=True) if k != 1]
    won = sum(2 * (a > b) + (a == b) for a, b in product(ones, zeros))
    return Fraction(int(won), 2 * len(ones) * len(zeros))


def two_classes(n: int = 400, d: int = 2, gap: float = 1.5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    return rng.normal(size=(n, d)) + gap * y[:, None] * np.arange(1, d + 1) / d, y


def lines_of(ax: Any) -> list[tuple[Any, Any]]:
    return [(np.asarray(line.get_xdata()), np.asarray(line.get_ydata())) for line in ax.lines]


# ------------------------------------------------------- 000: ROC curve and threshold optimisation


@row("000.1", "the rule a(x, w) = sign(f(x, w) − w₀)")
def _() -> None:
    same(cs.sweep(Y8, S8).at(0.72).flagged, 4)
    line = cs.LinearDetector(np.array([2.0, -1.0]), -1.0)  # w₀ = 1
    same((line.scores(np.array([[2.0, 1.0], [1.0, 2.0]])) >= 0).tolist(), [True, False])


@row("000.2", "w₀ = ln(λ₋/λ₊)")
def _() -> None:
    identity = cs.Affine(gamma=1.0, d0=0.0)  # a score that is log posterior odds, at even odds
    at = log(3 / 7)
    got = identity.decide([at - 1e-9, at + 1e-9], cs.Costs(fp=3, fn=7), prior=0.5)
    same(got.tolist(), [False, True])


@row("000.3", "the ratio of losses is revised: the best cut for each, from the curve")
def _() -> None:
    s = cs.sweep(Y8, S8)
    for ratio in (0.05, 0.4, 0.9, 1.7, 30.0):
        t = cs.thresholds_for(s, [ratio])[0]
        costs = {u: ratio * c[1] + c[2] for u in [*S8, np.inf] if (c := counts(Y8, S8, u))}
        _, fp, fn, _ = counts(Y8, S8, t)
        near(ratio * fp + fn, min(costs.values()))


@row("000.4", "each point is an algorithm; a discrete set of them is a scatter plot")
def _() -> None:
    rules = {"good": (0.1, 0.7), "dominated": (0.5, 0.2)}
    ax = plot.roc(cs.roc(cs.sweep(Y8, S8)), points=rules)
    drawn = {(float(x[0]), float(y[0])) for x, y in lines_of(ax) if len(x) == 1}
    drawn |= {tuple(p) for c in ax.collections for p in np.asarray(c.get_offsets()).tolist()}
    assert set(rules.values()) <= drawn, drawn


@row("000.5", "FPR = Σ[y=−1][a(x)=+1] / Σ[y=−1]")
def _() -> None:
    for t in S8:
        _, fp, _, tn = counts(Y8, S8, t)
        near(cs.sweep(Y8, S8).at(t).fpr, fp / (fp + tn))


@row("000.6", "1 − FPR is the specificity, TNR")
def _() -> None:
    for t in S8:
        _, fp, _, tn = counts(Y8, S8, t)
        c = cs.sweep(Y8, S8).at(t)
        near([c.specificity, c.tnr, 1 - c.fpr], 3 * [tn / (fp + tn)])


@row("000.7", "TPR, the sensitivity = Σ[y=+1][a(x)=+1] / Σ[y=+1]")
def _() -> None:
    for t in S8:
        tp, _, fn, _ = counts(Y8, S8, t)
        near(cs.sweep(Y8, S8).at(t).sensitivity, tp / (tp + fn))


@row("000.8", "the curve never falls, and runs from (0, 0) to (1, 1)")
def _() -> None:
    rng = np.random.default_rng(0)
    r = cs.roc(cs.sweep(rng.random(300) < 0.3, rng.integers(0, 40, 300)))
    same([r.fpr[0], r.tpr[0], r.fpr[-1], r.tpr[-1]], [0, 0, 1, 1])
    assert (np.diff(r.fpr) >= 0).all()
    assert (np.diff(r.tpr) >= 0).all()


@row("000.9", "only the values that f takes on the sample are thresholds")
def _() -> None:
    s = cs.sweep(Y7, S7)
    same(s.threshold.tolist(), sorted(set(S7), reverse=True))
    for t in np.linspace(-0.05, 1, 43):  # no other gives another algorithm
        assert counts(Y7, S7, t) in [counts(Y7, S7, u) for u in [*S7, np.inf]]


@row("000.10", "the ideal curve passes through (0, 1)")
def _() -> None:
    r = cs.roc(cs.sweep([1, 1, 0, 0], [4, 3, 2, 1]))
    assert (0.0, 1.0) in set(zip(r.fpr.tolist(), r.tpr.tolist(), strict=True))
    same(cs.sweep([1, 1, 0, 0], [4, 3, 2, 1]).auc, 1.0)


@row("000.11", "the worst is the diagonal, which is drawn as a guide")
def _() -> None:
    same(cs.sweep([1, 0, 1, 0], [7, 7, 7, 7]).auc, 0.5)
    ax = plot.roc(cs.roc(cs.sweep(Y8, S8)))
    assert any(x.tolist() == [0, 1] and y.tolist() == [0, 1] for x, y in lines_of(ax))


@row("000.12", "the AUC, which depends on no threshold")
def _() -> None:
    same(Fraction(cs.sweep(Y7, S7).auc).limit_denominator(1000), pairs_auc(Y7, S7))
    same(cs.sweep(Y7, S7).auc, cs.sweep(Y7, np.exp(S7)).auc)


@row("000.13", "the algorithm, step by step: points and area without ties")
def _() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.where(rng.random(60) < 0.4, 1, -1)
    f = X @ np.array([1.0, -2.0, 0.5])
    points, area = [(Fraction(0), Fraction(0))], Fraction(0)
    neg, pos = int(np.sum(y == -1)), int(np.sum(y == 1))
    for i in np.argsort(-f):
        fpr, tpr = points[-1]
        if y[i] == -1:
            points.append((fpr + Fraction(1, neg), tpr))
            area += Fraction(1, neg) * tpr
        else:
            points.append((fpr, tpr + Fraction(1, pos)))
    s = cs.sweep(y, cs.LinearDetector(np.array([1.0, -2.0, 0.5]), 0.0).scores(X))
    r = cs.roc(s)
    near(r.fpr, [float(a) for a, _ in points])
    near(r.tpr, [float(b) for _, b in points])
    same(s.auc, float(area))


# -------------------------------------------------------------- 001: probabilities from distances

W, T = np.array([3.0, 4.0]), 5.0
LINE = cs.LinearDetector(W, -T)
POINTS = np.array([[3.0, 4.0], [3.0, 1.0], [0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [-1.0, 1.0]])
LABELS = np.array([1, 1, 0, 0, 1, 0])


@row("001.1", "score w·x − t; w' = w/‖w‖, t' = t/‖w‖")
def _() -> None:
    near(LINE.scores(POINTS), [sum(a * b for a, b in zip(W, x, strict=True)) - T for x in POINTS])
    near([*LINE.unit().w, LINE.unit().b], [0.6, 0.8, -1.0])


@row("001.2", "signed distance d = (w·x − t)/‖w‖ = ‖x‖ cos θ − t'; its sign is the side")
def _() -> None:
    d = LINE.signed_distance(POINTS)
    for x, got in zip(POINTS, d, strict=True):
        foot = x - (W @ x - T) / 25 * W  # the nearest point of the line
        near(abs(got), np.linalg.norm(x - foot))
        assert (got > 0) == (W @ x > T)


@row("001.3", "figure: a linear classifier, classes on both sides of its line")
def _() -> None:
    ax = plot.distances(cs.sweep(LABELS, LINE.signed_distance(POINTS)))
    assert any((x == 0).all() for x, _ in lines_of(ax))


@row("001.4", "mean distance of a class: w·μ − t with ‖w‖ = 1")
def _() -> None:
    from cutscore.calibration.methods import normal_classes

    c = normal_classes(cs.sweep(LABELS, LINE.signed_distance(POINTS)))
    for mean, k in ((c.pos_mean, 1), (c.neg_mean, 0)):
        near(mean, (W / 5) @ POINTS[k == LABELS].mean(axis=0) - T / 5)


@row("001.5", "normal densities P(d|±) around these means, with one variance")
def _() -> None:
    from scipy.stats import norm

    d = LINE.signed_distance(POINTS)
    ax = plot.distances(cs.sweep(LABELS, d), densities=True)
    means = [d[k == LABELS].mean() for k in (1, 0)]
    spread = sqrt(
        sum(((d[k == LABELS] - m) ** 2).sum() for k, m in zip((1, 0), means, strict=True)) / 6
    )
    drawn = [line for line in ax.lines if line.get_gid() == "density"]
    same(len(drawn), 2)
    for line, mean in zip(drawn, means, strict=True):
        near(line.get_ydata(), norm.pdf(line.get_xdata(), mean, spread))


@row("001.6", "Bayes' theorem p(A|B) = p(A) p(B|A) / p(B)")
def _() -> None:
    a, b_a, b_not = Fraction(1, 100), Fraction(9, 10), Fraction(1, 20)
    by_hand = a * b_a / (a * b_a + (1 - a) * b_not)
    near(cs.probability(log(b_a / b_not), prior=0.01), float(by_hand))


@row("001.7", "likelihood ratio: abnormal given disease over abnormal given health")
def _() -> None:
    near(
        cs.Confusion(tp=90, fp=50, fn=10, tn=950).lr_positive,
        float(Fraction(90, 100) / Fraction(50, 1000)),
    )


@row("001.8", "P(⊕|d) = LR/(LR + 1/clr)")
def _() -> None:
    lr, clr = 2.5, 0.25
    near(cs.probability(log(lr), prior=clr / (1 + clr)), lr / (lr + 1 / clr))


@row("001.9", "σ² = 1, means ±½, clr = 1: LR = exp(d)")
def _() -> None:
    from scipy.stats import norm

    for d in (-2.0, 0.0, 0.7):
        lr = norm.pdf(d, 0.5) / norm.pdf(d, -0.5)
        near([cs.Affine(1.0, 0.0).llr(d), log(lr)], [d, d])


@row("001.10", "the sigmoid d ↦ exp(d)/(exp(d) + 1)")
def _() -> None:
    from scipy.special import expit

    d = np.linspace(-30, 30, 61)
    near(cs.Affine(1.0, 0.0).probability(d, prior=0.5), expit(d), 1e-13)
    near(cs.probability(2.0, prior=0.5), exp(2) / (exp(2) + 1))


@row("001.11", "figure: the sigmoid")
def _() -> None:
    s = cs.sweep([1, 1, 0, 0], [1.5, -0.5, 0.5, -1.5])  # means ±½, σ² = 1
    _, right = plot.distances(s, densities=True, prior=0.5).figure.axes
    (line,) = right.lines
    near(line.get_ydata(), [1 / (1 + exp(-d)) for d in line.get_xdata()])


@row("001.12", "d̄₊ = −d̄₋: LR = exp(γd), γ = (d̄₊ − d̄₋)/σ²")
def _() -> None:
    from scipy.stats import norm

    s = cs.sweep([1, 1, 0, 0], [3, 1, -1, -3])  # means ±2, σ² = 1 by n
    c = cs.calibrate(s, "logistic")
    near(c.d0, 0.0)
    d = np.linspace(-3, 3, 7)
    near(c.llr(d), norm.logpdf(d, 2, 1) - norm.logpdf(d, -2, 1))


@row("001.13", "LR = exp(γ(d − d₀)), γ = (d̄₊ − d̄₋)/σ², d₀ = (d̄₊ + d̄₋)/2")
def _() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(2)
    y = np.arange(3000) % 2
    d = rng.normal(size=3000) * 1.3 + 2 * y - 0.4
    c = cs.calibrate(cs.sweep(y, d), "logistic")
    near(c.d0, (d[y == 1].mean() + d[y == 0].mean()) / 2)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(d[:, None], y)
    near(c.gamma, lda.coef_[0, 0], 2e-3)  # their variance is divided by n − 2
    near(c.gamma * -c.d0, lda.intercept_[0], 5e-3)


@row("001.14", "d₀ moves the boundary to the midpoint of the means")
def _() -> None:
    X, y = two_classes()
    line = cs.LinearDetector(np.array([1.0, 2.0]), 0.7).unit()
    c = cs.calibrate(cs.sweep(y, line.scores(X)), "logistic")
    middle = (X[y].mean(axis=0) + X[~y].mean(axis=0)) / 2
    near(line.then(c).scores(middle[None])[0], 0.0)


@row("001.15", "d ↦ 1/(1 + exp(−γ(d − d₀)))")
def _() -> None:
    c = cs.Affine(gamma=1.7, d0=0.3)
    for d in (-1.0, 0.3, 2.0):
        near(c.probability(d, prior=0.5), 1 / (1 + exp(-1.7 * (d - 0.3))))


@row("001.16", "basic classifier w = μ₊ − μ₋: its means are ‖μ₊ − μ₋‖ apart")
def _() -> None:
    X, y = two_classes()
    e = estimators.MeanDifference().fit(X, y)
    line = cs.LinearDetector(np.ravel(e.coef_), float(np.ravel(e.intercept_)[0]))
    gap = X[y].mean(axis=0) - X[~y].mean(axis=0)
    d = line.signed_distance(X)
    near(d[y].mean() - d[~y].mean(), np.linalg.norm(gap))
    near(line.unit().w, gap / np.linalg.norm(gap))


@row("001.17", "of which γ = ‖μ₊ − μ₋‖/σ² and d₀ = 0")
def _() -> None:
    X, y = two_classes()
    e = estimators.MeanDifference().fit(X, y)
    line = cs.LinearDetector(np.ravel(e.coef_), float(np.ravel(e.intercept_)[0]))
    d = line.signed_distance(X)
    c = cs.calibrate(cs.sweep(y, d), "logistic")
    within = sum(((d[k] - d[k].mean()) ** 2).sum() for k in (y, ~y))
    gap = np.linalg.norm(X[y].mean(axis=0) - X[~y].mean(axis=0))
    near(c.d0, 0.0)
    near(c.gamma, gap / (within / len(y)))


@row("001.18", "figure: the probability surface over two features")
def _() -> None:
    X, y = two_classes()
    c = cs.Affine(gamma=1.2, d0=0.5)
    ax = plot.surface(lambda Z: c.probability(LINE.unit().scores(Z), prior=0.5), X, y)
    (shades,) = ax.images
    p, (left, right, bottom, top) = np.asarray(shades.get_array()), shades.get_extent()
    for i, j in ((0, 0), (20, 70), (120, 120)):
        x = np.array([left + (right - left) * j / 120, bottom + (top - bottom) * i / 120])
        near(p[i, j], 1 / (1 + exp(-1.2 * ((W @ x - T) / 5 - 0.5))))


@row("001.19", "log-linear model: w' = γw, t' = γ(t + d₀)")
def _() -> None:
    folded = LINE.unit().then(cs.Affine(gamma=2.0, d0=0.25))
    near([*folded.w, -folded.b], [2 * 0.6, 2 * 0.8, 2 * (1.0 + 0.25)])


@row("001.20", "calibration moves the boundary, never its direction")
def _() -> None:
    X, y = two_classes()
    folded = LINE.then(cs.calibrate(cs.sweep(y, LINE.scores(X)), "logistic"))
    near(folded.w / np.linalg.norm(folded.w), W / 5)


@row("001.21", "figures: ROC hull, and the staircase with one step a segment (PAV)")
def _() -> None:
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(3)
    score = rng.normal(size=200)
    y = rng.random(200) < 1 / (1 + np.exp(-score))
    s = cs.sweep(y, score)
    fit = IsotonicRegression().fit(score, y.astype(float)).predict(score)
    c = cs.calibrate(s, "monotone", smooth=False, interpolate=False)
    got = c.probability(score, prior=y.mean())
    near(got, fit, 1e-9)
    h = cs.hull(s)
    same(len(np.unique(fit)), len(h.tp) - 1)  # a step a segment
    ax = plot.hull(h)
    assert any(len(x) == len(h.fpr) and np.allclose(x, h.fpr) for x, _ in lines_of(ax))
    plot.calibrator(c, s=s)


@row("001.22", "the staircase needs large data: it overfits small ones")
def _() -> None:
    rng, gap = np.random.default_rng(4), {}
    y_new = rng.random(20_000) < 0.5
    new = rng.normal(size=20_000) + 1.5 * y_new
    for n in (40, 4000):
        losses = []
        for _ in range(20 if n < 1000 else 2):
            y = np.arange(n) % 2 == 1
            s = cs.sweep(y, rng.normal(size=n) + 1.5 * y)
            both = [
                cs.calibrate(s, m, **o)
                for m, o in (("monotone", {"smooth": False}), ("logistic", {}))
            ]
            p = [np.clip(c.probability(new, prior=0.5), 1e-3, 1 - 1e-3) for c in both]
            losses.append([-np.mean(np.log(np.where(y_new, q, 1 - q))) for q in p])
        stairs, smooth = np.mean(losses, axis=0)
        gap[n] = stairs - smooth
    assert gap[40] > 0.05, gap
    assert gap[4000] < 0.02, gap


# ------------------------------------------------------------------------ 002: bipartite ranking

MEASURED = cs.Confusion(tp=30, fp=20, fn=10, tn=940)


@row("002.1", "of 0.1 % positives, flagging none has an error of 0.1 % and is worth nothing")
def _() -> None:
    c = cs.Confusion(tp=0, fp=0, fn=1, tn=999)
    near([c.error_rate, c.balanced_rate, c.f1], [0.001, 0.5, 0.0])


@row("002.2", "b(y') = sign(y' − θ)")
def _() -> None:
    same(
        counts(Y8, S8, 0.6),
        tuple(getattr(cs.sweep(Y8, S8).at(0.6), n) for n in ("tp", "fp", "fn", "tn")),
    )


@row("002.3", "a, b, c, d: true and false positives and negatives")
def _() -> None:
    from sklearn.metrics import confusion_matrix

    rng = np.random.default_rng(5)
    y, score = rng.random(500) < 0.2, rng.integers(0, 30, 500)
    tn, fp, fn, tp = confusion_matrix(y, score >= 12).ravel().tolist()
    c = cs.sweep(y, score).at(12)
    same((c.tp, c.fp, c.fn, c.tn), (tp, fp, fn, tn))


@row("002.4", "recall a/(a + c), precision a/(a + b)")
def _() -> None:
    near([MEASURED.recall, MEASURED.precision], [30 / 40, 30 / 50])


@row("002.5", "specificity d/(d + b)")
def _() -> None:
    near(MEASURED.specificity, 940 / 960)


@row("002.6", "θ rises: recall falls, and precision tends to rise")
def _() -> None:
    from sklearn.metrics import precision_recall_curve

    X, y = two_classes(2000, 1)
    s = cs.sweep(y, X[:, 0])
    curve = cs.pr(s)
    precision, recall, _ = precision_recall_curve(y, X[:, 0])
    assert (np.diff(curve.recall) >= 0).all()  # from the highest threshold down
    near(curve.recall[1:], recall[:-1][::-1])
    near(curve.precision[1:], precision[:-1][::-1])
    assert curve.precision[len(curve.precision) // 10] > curve.precision[-1]


@row("002.7", "0-1 loss (b + c)/(a + b + c + d)")
def _() -> None:
    from sklearn.metrics import zero_one_loss

    y, flag = np.array(Y8), np.array(S8) >= 0.6
    near(cs.sweep(Y8, S8).at(0.6).error_rate, zero_one_loss(y, flag))


@row("002.8", "Δ = 1 − ½(recall + specificity), 0 if b = c = 0")
def _() -> None:
    from sklearn.metrics import balanced_accuracy_score

    y, flag = np.array(Y8), np.array(S8) >= 0.6
    near(cs.sweep(Y8, S8).at(0.6).balanced_rate, balanced_accuracy_score(y, flag))
    same(1 - cs.Confusion(tp=3, fp=0, fn=0, tn=9).balanced_rate, 0.0)


@row("002.9", "F₁ = 2/(1/precision + 1/recall) = 2a/(2a + b + c)")
def _() -> None:
    harmonic = 2 / (1 / Fraction(30, 50) + 1 / Fraction(30, 40))
    near([MEASURED.f1, float(harmonic)], 2 * [60 / 90])


@row("002.10", "F_β = (1 + β²)a/((1 + β²)a + b + β²c)")
def _() -> None:
    from sklearn.metrics import fbeta_score

    y, flag = np.array(Y8), np.array(S8) >= 0.6
    for beta in (0.5, 1.0, 2.0):
        near(cs.sweep(Y8, S8).at(0.6).f(beta), fbeta_score(y, flag, beta=beta))


@row("002.11", "recall at k: a + b ≤ k")
def _() -> None:
    rng = np.random.default_rng(6)
    y, score = rng.random(300) < 0.2, rng.normal(size=300)
    for k in (1, 17, 299):
        top = np.argsort(-score)[:k]
        p = cs.choose(cs.sweep(y, score), f"recall@{k}")
        near(p.value, y[top].sum() / y.sum())
        assert p.confusion.flagged <= k


@row("002.12", "precision at k: a + b ≥ k")
def _() -> None:
    rng = np.random.default_rng(7)
    y, score = rng.random(300) < 0.2, rng.normal(size=300)
    for k in (1, 17, 299):
        top = np.argsort(-score)[:k]
        near(cs.choose(cs.sweep(y, score), f"precision@{k}").value, y[top].mean())
    best = max(y[np.argsort(-score)[:n]].mean() for n in range(40, 301))
    p = cs.choose(cs.sweep(y, score), "precision", subject_to="flagged >= 40")
    near(p.value, best)


@row("002.13", "b(y') is the argmax of Σ vᵢ y'ᵢ over {±1}ʳ")
def _() -> None:
    score = np.array([1.5, -0.2, 0.4, -3.0, 2.0])
    best = max(product((1, -1), repeat=5), key=lambda v: float(np.dot(v, score)))
    flagged = cs.LinearDetector(np.array([1.0]), 0.0).scores(score[:, None]) >= 0
    same(np.where(flagged, 1, -1).tolist(), list(best))


def losses(name: str, P: int, N: int) -> Any:
    """Δ of a labelling that catches a of P positives and flags b of N negatives."""

    def f_beta(a: int, b: int, beta: float) -> float:
        top = (1 + beta**2) * a
        return 1 - top / (top + b + beta**2 * (P - a))

    return {
        "balanced": lambda a, b: 1 - (a / P + (N - b) / N) / 2,
        "f1": lambda a, b: f_beta(a, b, 1.0),
        "f2": lambda a, b: f_beta(a, b, 2.0),
    }[name]


def _enumerated(name: str, s: Classes) -> tuple[float, tuple[int, ...], float]:
    """max over all labellings of Δ + Σ (vᵢ − yᵢ) sᵢ / 2n, its labelling, and Δ of the decisions.

    In the library's scale: a row on the wrong side counts by its score over n.
    """
    P, N = len(s.pos), len(s.neg)
    y, score = np.repeat([1, -1], (P, N)), np.concatenate(s)
    loss = losses(name, P, N)
    out = []
    for v in product((1, -1), repeat=P + N):
        a, b = v[:P].count(1), v[P:].count(1)
        out.append((loss(a, b) + float((np.array(v) - y) @ score) / 2 / (P + N), v))
    value, v = max(out)
    decided = np.where(score >= 0, 1, -1)
    return value, v, loss(int((decided[:P] == 1).sum()), int((decided[P:] == 1).sum()))


def _cases() -> list[tuple[str, Classes]]:
    rng = np.random.default_rng(8)
    return [
        (name, Classes(rng.normal(0.5, size=P), rng.normal(-0.5, size=N)))
        for name in ("balanced", "f1", "f2")
        for P, N in ((2, 3), (4, 5), (1, 6))
    ]


def _surrogate(name: str, s: Classes) -> Any:
    aim = as_trainable(cs.f(2.0) if name == "f2" else name)
    return aim.surrogate(Masses.of(None, len(s.pos), len(s.neg)))


@row("002.14", "the surrogate is at least Δ: Δ ≤ max over v of Δ(v) + Σ(vᵢ − yᵢ) w·xᵢ")
def _() -> None:
    for name, s in _cases():
        assert _surrogate(name, s).worst(s).value >= _enumerated(name, s)[2] - 1e-12


@row("002.15", "for given (a, b) the best takes the a and b highest: (P+1)(N+1) instead of 2ʳ")
def _() -> None:
    for name, s in _cases():
        near(_surrogate(name, s).worst(s).value, _enumerated(name, s)[0])


@row("002.16", "the algorithm, with its output v*")
def _() -> None:
    for name, s in _cases():
        got = _surrogate(name, s).worst(s, labelling=True).labelling
        value, v, _ = _enumerated(name, s)
        P, N = len(s.pos), len(s.neg)
        a, b = int((got.pos == 1).sum()), int((got.neg == 1).sum())
        y, score = np.repeat([1, -1], (P, N)), np.concatenate(s)
        mine = np.concatenate(got)
        assert set(mine.tolist()) <= {1.0, -1.0}
        near(losses(name, P, N)(a, b) + float((mine - y) @ score) / 2 / (P + N), value)
        same(mine.astype(int).tolist(), list(v))


@row("002.17", "then the parameters are learned: for F₁, and for recall and precision at any k")
def _() -> None:
    rng = np.random.default_rng(9)
    y = rng.random(600) < 0.1
    X = rng.normal(size=(600, 2)) + np.outer(y, [2.0, 0.5])
    e = estimators.Structural("f1", C=10.0).fit(X, y)
    f1 = cs.choose(cs.sweep(y, e.decision_function(X)), "f1").value
    best = max(
        cs.choose(cs.sweep(y, X @ np.array([np.cos(t), np.sin(t)])), "f1").value
        for t in np.linspace(0, 2 * pi, 181)
    )
    assert f1 > best - 0.05, (f1, best)
    at_any_k()


def at_any_k() -> None:
    """What is trained for recall and precision at k, on either side of P, is the least there is."""
    X, y = two_classes(9)
    for measure, k in (("recall", 2), ("recall", 6), ("precision", 2), ("precision", 6)):
        fit = structural(
            ArrayRows(X, y), as_trainable(f"{measure}@{k}", as_named=True), C=0.5, tol=1e-9
        )
        table = labellings(
            y,
            (lambda a, _b: 1 - a / 3) if measure == "recall" else (lambda a, b: 1 - a / (a + b)),
            (lambda n, k=k: n <= k) if measure == "recall" else (lambda n, k=k: n >= k),
        )

        def objective(w: Any, table: Any = table) -> float:
            return float(np.dot(w, w)) / 2 + 0.5 * table(X @ w[:2] + w[2])

        mine = np.array([*fit.detector.w, fit.detector.b])
        near(objective(mine), fit.objective, 1e-6)
        for start in (np.zeros(3), np.ones(3), mine):
            least = minimize(objective, start, method="Nelder-Mead", options={"xatol": 1e-9})
            assert fit.objective <= least.fun + 1e-6, (measure, k, fit.objective, least.fun)


def labellings(y: Any, loss: Any, allowed: Any = lambda _n: True) -> Any:
    """The greatest nΔ + Σ (vᵢ − yᵢ) sᵢ / 2 of all labellings that are allowed, at scores s."""
    V = np.array(list(product((1, -1), repeat=len(y))))
    V = V[[allowed(int(n)) for n in (V == 1).sum(axis=1)]]
    a, b = ((V[:, k] == 1).sum(axis=1) for k in (y, ~y))
    fixed = len(y) * np.array([loss(int(i), int(j)) for i, j in zip(a, b, strict=True)])
    moves = (V - np.where(y, 1, -1)) / 2
    return lambda s: float((fixed + moves @ s).max())


# ----------------------------------------------------------------------------- 003: roc_auc_score


@row("003.1", "the confusion matrix")
def _() -> None:
    c = cs.Confusion(tp=1, fp=2, fn=3, tn=4)
    same((c.positives, c.negatives, c.flagged), (4, 6, 3))


@row("003.2", "TPR = TP/(TP + FN), FPR = FP/(FP + TN)")
def _() -> None:
    c = cs.Confusion(tp=1, fp=2, fn=3, tn=4)
    near([c.tpr, c.fpr], [1 / 4, 2 / 6])


@row("003.3", "the eight confusion matrices of the example")
def _() -> None:
    table = [(1, 3, 0, 4), (1, 3, 1, 3), (2, 2, 1, 3), (3, 1, 1, 3), (3, 1, 2, 2), (4, 0, 2, 2)]
    table += [(4, 0, 3, 1), (4, 0, 4, 0)]
    s = cs.sweep(Y8, S8)
    for t, (tp, fn, fp, tn) in zip(S8, table, strict=True):
        c = s.at(t)
        same((c.tp, c.fn, c.fp, c.tn), (tp, fn, fp, tn))


@row("003.4", "its eight points")
def _() -> None:
    points = [(0, 0.25), (0.25, 0.25), (0.25, 0.5), (0.25, 0.75), (0.5, 0.75), (0.5, 1), (0.75, 1)]
    r = cs.roc(cs.sweep(Y8, S8))
    same(list(zip(r.fpr.tolist(), r.tpr.tolist(), strict=True))[1:], [*points, (1, 1)])


@row("003.5", "its area, 0.75")
def _() -> None:
    same(cs.sweep(Y8, S8).auc, 0.75)
    same(pairs_auc(Y8, S8), Fraction(3, 4))


@row("003.6", "roc_auc_score of tensors, (B), (B, 1) and (1, B), left as they are", slow=True)
def _() -> None:
    import torch

    from cutscore.torch import roc_auc_score

    y, s = torch.tensor(Y8, dtype=torch.float32), torch.tensor(S8)
    for shape in ((8,), (8, 1), (1, 8)):
        a, b = y.reshape(shape).clone(), s.reshape(shape).clone()
        near(float(roc_auc_score(a, b)), 0.75)
        same((tuple(a.shape), tuple(b.shape)), (shape, shape))
    near(float(roc_auc_score(torch.tensor([1.0, 0, 1]), torch.tensor([0.2, 0.1, 0.1]))), 0.75)


@row("003.7", "ties: scores descending, and one threshold for equal ones")
def _() -> None:
    same(cs.sweep(Y7, S7).threshold.tolist(), [0.9, 0.3, 0.2, 0.1])


@row("003.8", "ties: TP 1 2 3 4, FP 0 2 3 3, and the rates")
def _() -> None:
    s = cs.sweep(Y7, S7)
    same((s.tp.tolist(), s.fp.tolist()), ([1, 2, 3, 4], [0, 2, 3, 3]))
    r = cs.roc(s)
    near(r.tpr, [0, 0.25, 0.5, 0.75, 1])
    near(r.fpr, [0, 0, 2 / 3, 1, 1])


@row("003.9", "ties: the area, 0.458333")
def _() -> None:
    near(cs.sweep(Y7, S7).auc, 0.4583333134651184, 1e-7)
    same(cs.sweep(Y7, S7).auc, 11 / 24)


# ----------------------------------------------------------- 004: linear classifiers as detectors


def blobs(seed: int = 10) -> tuple[Any, Any, Any]:
    """Three normal classes of one covariance, and their true means."""
    rng = np.random.default_rng(seed)
    means = np.array([[0.0, 0.0], [2.0, 1.0], [-1.0, 2.0]])
    y = np.arange(1500) % 3
    root = np.array([[1.0, 0.0], [0.6, 0.8]])
    return rng.normal(size=(1500, 2)) @ root.T + means[y], y, means


@row("004.1", "the class of the greatest posterior makes the fewest errors; P and 1 − P")
def _() -> None:
    X, y, _ = blobs()
    e = estimators.GaussianDiscriminant().fit(X, y)
    p = e.predict_proba(X)
    near(p.sum(axis=1), 1)
    same((e.classes_[p.argmax(axis=1)] == e.predict(X)).all(), True)


@row("004.2", "generative and discriminative methods")
def _() -> None:
    from scipy.stats import multivariate_normal
    from sklearn.linear_model import LogisticRegression

    X, y = two_classes(600)
    g = estimators.GaussianDiscriminant().fit(X, y)  # generative: densities by Bayes' theorem
    scatter = sum((X[k] - X[k].mean(axis=0)).T @ (X[k] - X[k].mean(axis=0)) for k in (y, ~y))
    densities = (multivariate_normal(X[k].mean(axis=0), scatter / len(y)) for k in (y, ~y))
    a, b = (d.pdf(X) * share for d, share in zip(densities, (y.mean(), 1 - y.mean()), strict=True))
    near(g.predict_proba(X)[:, 1], a / (a + b))
    d = estimators.Logistic(C=1.0).fit(X, y)
    near(np.ravel(d.coef_), LogisticRegression(C=1.0, tol=1e-10).fit(X, y).coef_[0], 1e-4)


@row("004.3", "costs of errors bias the classification")
def _() -> None:
    s = cs.sweep(Y8, S8)
    cheap, dear = (cs.choose(s, cs.Costs(fp=1, fn=fn)).threshold for fn in (0.1, 20))
    assert dear < cheap
    for fn in (0.1, 20):
        got = cs.choose(s, cs.Costs(fp=1, fn=fn)).confusion
        near(
            got.fp + fn * got.fn,
            min(c[1] + fn * c[2] for t in [*S8, 9] if (c := counts(Y8, S8, t))),
        )


@row("004.4", "d(g(X)): K discriminants R^D → R^K, and a decision")
def _() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y, _ = blobs()
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    e = estimators.GaussianDiscriminant().fit(X, y)
    same(np.shape(e.decision_function(X)), (1500, 3))
    assert (e.predict(X) == theirs.predict(X)).mean() > 0.999
    for other in (estimators.LeastSquares(), estimators.Logistic()):
        g = other.fit(X, y).decision_function(X)
        same(g.shape, (1500, 3))
        same((other.classes_[g.argmax(axis=1)] == other.predict(X)).all(), True)
    bank = estimators.DetectorBank(estimators.Fisher()).fit(X, y)
    assert (bank.predict(X) == y).mean() > 0.75


@row("004.5", "a detector is K = 2: the pattern, y = +1, and everything else, y = −1")
def _() -> None:
    y = np.array(Y8)
    same(cs.sweep(np.where(y, 1, -1), S8).auc, cs.sweep(y, S8).auc)


@row("004.6", "hyperplane: w is its normal; with ‖w‖ = 1, b is its distance from the origin")
def _() -> None:
    near(abs(LINE.unit().b), 1.0)
    along = np.array([[-4.0, 3.0]])  # a step within the plane changes no score
    near(LINE.scores(POINTS + along), LINE.scores(POINTS))
    near(LINE.signed_distance(np.zeros((1, 2))), [-1.0])


@row("004.7", "d = y(w·x + w₀); the margin is the least of them; separable iff above 0")
def _() -> None:
    y = np.array([1, 0, 0], bool)
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]])
    m = LINE.margins(X, y)
    near(m.value, [4.0, 1.0, -0.4])
    near(m.smallest, -0.4)
    assert LINE.margins(X[:2], y[:2]).smallest > 0


@row("004.8", "the constant as a feature that is 1")
def _() -> None:
    with_one = cs.LinearDetector(np.array([-T, *W]), 0.0)
    near(with_one.scores(np.column_stack((np.ones(6), POINTS))), LINE.scores(POINTS))


@row("004.9", "w·x > 0 is P, else N; TP, TN, FP, FN")
def _() -> None:
    s = cs.sweep(LABELS, LINE.scores(POINTS))
    c = s.at(0.0)
    said = LINE.scores(POINTS) > 0
    right = said == (LABELS == 1)
    want = [
        (said & right).sum(),
        (~said & right).sum(),
        (said & ~right).sum(),
        (~said & ~right).sum(),
    ]
    same([c.tp, c.tn, c.fp, c.fn], [int(x) for x in want])


@row("004.10", "a bias B trades false positives for false negatives")
def _() -> None:
    for B in (-2.0, 0.0, 3.0):
        moved = cs.LinearDetector(W, -T + B).scores(POINTS)
        c = cs.sweep(LABELS, LINE.scores(POINTS)).at(-B)
        same((c.tp, c.fp, c.fn, c.tn), counts(LABELS, moved, 0.0))


@row("004.11", "least squares")
def _() -> None:
    X, y = two_classes()
    A = np.column_stack((X, np.ones(len(y))))
    exact, *_ = np.linalg.lstsq(A, np.where(y, 1.0, -1.0), rcond=None)
    e = estimators.LeastSquares().fit(X, y)
    w = np.ravel(e.coef_)
    near(w / np.linalg.norm(w), exact[:2] / np.linalg.norm(exact[:2]))
    near(e.intercept_ / w[0], exact[2] / exact[0])


@row("004.12", "regression: logistic, and of K classes")
def _() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y, _ = blobs()
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000).fit(X, y)
    mine = estimators.Logistic(C=1.0).fit(X, y)
    near(mine.predict_proba(X), theirs.predict_proba(X), 1e-5)


@row("004.13", "Bayesian discriminant; of Gaussian noise it is linear")
def _() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = two_classes()
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    mine = estimators.GaussianDiscriminant().fit(X, y)
    near(mine.decision_function(X) >= 0, theirs.predict(X))
    a, b = np.ravel(mine.coef_), np.ravel(theirs.coef_)
    near(a / np.linalg.norm(a), b / np.linalg.norm(b))


@row("004.14", "Fisher's discriminant")
def _() -> None:
    X, y = two_classes()
    scatter = sum((X[k] - X[k].mean(axis=0)).T @ (X[k] - X[k].mean(axis=0)) for k in (y, ~y))
    w = np.linalg.solve(scatter, X[y].mean(axis=0) - X[~y].mean(axis=0))
    mine = np.ravel(estimators.Fisher().fit(X, y).coef_)
    near(mine / np.linalg.norm(mine), w / np.linalg.norm(w))


@row("004.15", "ROC curve by sweeping B through all values")
def _() -> None:
    X, y = two_classes(150)
    score = LINE.scores(X)
    r = cs.roc(cs.sweep(y, score))
    mine = set(zip(r.fpr.round(12).tolist(), r.tpr.round(12).tolist(), strict=True))
    swept = set()
    for B in np.concatenate(([-1e9], -np.sort(score)[::-1], [1e9])):
        tp, fp, fn, tn = counts(y, score + B, 0.0)
        swept.add((round(fp / (fp + tn), 12), round(tp / (tp + fn), 12)))
    same(mine, swept)


@row("004.16", "#P = #TP + #FN, #N = #FP + #TN; TPR and FPR; the table of outcomes")
def _() -> None:
    for t in S8:
        c = cs.sweep(Y8, S8).at(t)
        same((c.positives, c.negatives), (c.tp + c.fn, c.fp + c.tn))
        near([c.tpr, c.fpr], [c.tp / 4, c.fp / 4])


@row("004.17", "TPR = FPR is no better than chance")
def _() -> None:
    rng = np.random.default_rng(11)
    s = cs.sweep(np.arange(20_000) % 2, rng.random(20_000))
    r = cs.roc(s)
    assert np.abs(r.tpr - r.fpr).max() < 0.03
    assert 0.5 in cs.auc_interval(s, level=0.999)


def _by_hand(X: Any, y: Any, passes: int, rate: float = 1.0) -> tuple[Any, float, list[Any]]:
    """The document's algorithm, line by line: w, w₀ and both after each pass."""
    w, w0, R, after = np.zeros(X.shape[1]), 0.0, max(np.linalg.norm(x) for x in X), []
    for _ in range(passes):
        update = False
        for x, label in zip(X, np.where(y, 1.0, -1.0), strict=True):
            if label * (w @ x + w0) <= 0:
                update = True
                w, w0 = w + rate * label * x, w0 + rate * label * R * R
        after.append((w, w0))
        if not update:
            break
    return w, w0, after


@row("004.18", "the perceptron's algorithm, with its limit on passes")
def _() -> None:
    X, y = two_classes(90, gap=6.0)
    w, w0, _ = _by_hand(X, y, 100, 0.5)
    fit = perceptron(ArrayRows(X, y), rate=0.5)
    near([*fit.detector.w, fit.detector.b], [*w, w0])
    assert fit.converged
    X, y = two_classes(90, gap=0.2)  # not separable
    w, w0, _ = _by_hand(X, y, 7)
    fit = perceptron(ArrayRows(X, y), max_passes=7)
    near([*fit.detector.w, fit.detector.b], [*w, w0])
    same((fit.converged, fit.passes), (False, 7))


@row("004.19", "it learns incrementally")
def _() -> None:
    X, y = two_classes(60, gap=1.0)
    e = estimators.Perceptron(max_passes=1)
    w, w0, square = np.zeros(2), 0.0, 0.0
    for part in (slice(30), slice(30, None)):
        e.partial_fit(X[part], y[part], classes=[False, True])
        square = max(square, *(x @ x for x in X[part]))
        for x, label in zip(X[part], np.where(y[part], 1.0, -1.0), strict=True):
            if label * (w @ x + w0) <= 0:
                w, w0 = w + label * x, w0 + label * square
        near([*np.ravel(e.coef_), *np.ravel(e.intercept_)], [*w, w0])


@row("004.20", "after each stage the margin of each sample")
def _() -> None:
    X, y = two_classes(90, gap=2.0)
    seen: list[Any] = []
    perceptron(ArrayRows(X, y), max_passes=6, on_pass=seen.append)
    *_, after = _by_hand(X, y, 6)
    same(len(seen), len(after))
    for p, (w, w0) in zip(seen, after, strict=True):
        near(p.margins.value, np.where(y, 1, -1) * (X @ w + w0) / np.linalg.norm(w))


@row("004.21", "its quality is the histogram of the margins, drawn")
def _() -> None:
    X, y = two_classes(90)
    m = LINE.margins(X, y)
    count, edges = m.histogram(20)
    near(count, np.histogram(np.where(y, 1, -1) * (X @ W - T) / 5, edges)[0])
    assert 0.0 in edges.round(12)
    ax = plot.margins(m)
    assert ax.patches or ax.lines or ax.collections
