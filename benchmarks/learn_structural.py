"""Lines trained for a measure, on real data: passes, times, and what it is good for.

Writes the tables of ``docs/structural.md``. Wants ``--data``, a folder with ``mammography.csv``
(OpenML) and ``a9a.libsvm`` (LIBSVM); ``dlib-bin`` is compared with if it is installed. Times are
those of the processor, on one thread.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import cutscore as cs
from cutscore.estimators import Structural
from cutscore.linear.cutting_planes import minimise
from cutscore.linear.rows import ArrayRows, one_thread_blas
from cutscore.linear.structural import RowRisk, as_trainable

PAGE = Path(__file__).parent.parent / "docs" / "structural.md"
Split = tuple[Any, Any, Any, Any]


def mammography(folder: Path) -> Split:
    lines = (folder / "mammography.csv").read_text().split()
    rows = [line.replace("'", "").replace('"', "").split(",") for line in lines]
    table = np.array(rows, np.float64)
    return split(table[:, :-1], table[:, -1] == 1, standard=True)


def a9a(folder: Path) -> Split:
    X, y = load_svmlight_file(str(folder / "a9a.libsvm"))
    return split(X, y == 1, standard=False)


def split(X: Any, y: Any, standard: bool) -> Split:
    """70 % to train on, 30 % to test on, as SVM-perf's figures were made."""
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
    if standard:
        X = (X - X[train].mean(0)) / X[train].std(0)
    return X[train], y[train], X[test], y[test]


def clock(call: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        out = call()
        best = min(best, time.process_time() - start)
    return best, out


def solvers(data: dict[str, Split]) -> Iterator[str]:
    """Passes and seconds to a gap of 0.1 %, with and without the search on the line."""
    yield "| data, measure, SVM-perf's C | passes | plain one-slack | seconds | plain | minimum |"
    yield "|---|--:|--:|--:|--:|--:|"
    for name, measure, c_perf in (
        ("mammography", "f1", 100),
        ("mammography", "f1", 10_000),
        ("mammography", "auc", 100),
        ("mammography", "precision@100", 1000),
        ("a9a", "f1", 1),
        ("a9a", "f1", 10),
        ("a9a", "auc", 1),
        ("a9a", "auc", 10),
        ("a9a", "precision@1000", 10),
        ("a9a", "error", 10),
    ):
        X, y, _, _ = data[name]
        risk = RowRisk(ArrayRows(X, y), as_trainable(measure).surrogate, 1.0)
        with one_thread_blas():
            fast, ours = clock(lambda r=risk, c=c_perf: minimise(r, 100.0 * c))
            slow, plain = clock(
                lambda r=risk, c=c_perf: minimise(r, 100.0 * c, line_search=False), rounds=1
            )
        yield (
            f"| {name}, {measure}, {c_perf:,} | {ours.iterations} × 2 | {plain.iterations} × 2 | "
            f"{fast:.3f} | {slow:.3f} | {ours.bound:,.1f}–{ours.objective:,.1f} |"
        )


def against_svm_perf(data: dict[str, Split]) -> Iterator[str]:
    yield "| SVM-perf, as published for this split | its CPU seconds | ours | ratio |"
    yield "|---|--:|--:|--:|"
    for name, measure, c_perf, theirs in (
        ("a9a", "f1", 1, 10.2),
        ("mammography", "f1", 10_000, 8.8),
        ("a9a", "auc", 1, 8.9),
    ):
        X, y, _, _ = data[name]
        line = Structural(measure, C=100 * c_perf / len(y), threshold="zero")
        ours, _ = clock(lambda line=line, X=X, y=y: line.fit(X, y), 4)
        yield (
            f"| {name}, {measure}, C = {c_perf:,} | {theirs} | {ours:.3f} | {theirs / ours:.0f} × |"
        )


def against_dlib(data: dict[str, Split]) -> Iterator[str]:
    """dlib's ranking SVM minimises ½‖w‖² + c·R too, without a constant: the same problem."""
    try:
        import dlib
    except ImportError:
        return
    yield "| data, c = C·n | dlib, s | ours, s | ratio | dlib's objective | ours | test AUC, both |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, (X, y, Xt, yt) in data.items():
        sparse = not isinstance(X, np.ndarray)
        pair = _dlib_rows(dlib, X, y, sparse)
        risk = RowRisk(ArrayRows(X, y), as_trainable("auc").surrogate, 1.0)
        for c in (100.0, 1000.0, 10_000.0):
            trainer = dlib.svm_rank_trainer_sparse() if sparse else dlib.svm_rank_trainer()
            trainer.c = c
            line = Structural("auc", C=c / len(y), threshold="zero")
            theirs = ours = np.inf
            for _ in range(3):
                ours = min(ours, clock(lambda line=line, X=X, y=y: line.fit(X, y), 1)[0])
                theirs = min(theirs, clock(lambda t=trainer, p=pair: t.train(p), 1)[0])
            w = np.zeros(X.shape[1])
            for j, v in enumerate(trainer.train(pair).weights):
                w[v.first if sparse else j] = v.second if sparse else v
            theirs_at = 0.5 * float(w @ w) + c * risk.worst(risk.scores(np.append(w, 0.0))).value
            auc = [cs.auc(cs.sweep(yt, s)) for s in (Xt @ w, line.decision_function(Xt))]
            yield (
                f"| {name}, {c:,.0f} | {theirs:.3f} | {ours:.3f} | {theirs / ours:.1f} × | "
                f"{theirs_at:,.2f} | {line.objective_:,.2f} | {auc[0]:.4f}, {auc[1]:.4f} |"
            )


def _dlib_rows(dlib: Any, X: Any, y: Any, sparse: bool) -> Any:
    pair = dlib.sparse_ranking_pair() if sparse else dlib.ranking_pair()
    for x, positive in zip(X, y.tolist(), strict=True):
        if sparse:
            vector = dlib.sparse_vector()
            for j, v in zip(x.indices.tolist(), x.data.tolist(), strict=True):
                vector.append(dlib.pair(j, v))
        else:
            vector = dlib.vector(x.tolist())
        (pair.relevant if positive else pair.nonrelevant).append(vector)
    return pair


def tuned(train: Any, y: Any, make: Callable[[], Any], measure: Any) -> float:
    """The threshold that is best on scores of rows left out."""
    out = np.empty(len(y))
    for a, b in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y):
        out[b] = make().fit(train[a], y[a]).decision_function(train[b])
    return cs.choose(cs.sweep(y, out), measure).threshold


def worth(data: dict[str, Split]) -> Iterator[str]:
    """What a test set says: as the line was fitted, with a threshold tuned on rows left out, and
    at k."""
    yield "| data, measure | model | as fitted | tuned |"
    yield "|---|---|--:|--:|"
    for name, (X, y, Xt, yt) in data.items():
        lines: dict[str, Callable[[], Any]] = {
            "logistic regression": lambda: LogisticRegression(max_iter=10_000)
        }
        chosen = best_c(X, y)
        lines[f"Structural, C = {chosen:.3g}"] = lambda c=chosen: Structural("f1", C=c)
        for label, make in lines.items():
            s = cs.sweep(yt, make().fit(X, y).decision_function(Xt))
            t = tuned(X, y, make, "f1")
            yield f"| {name}, F1 | {label} | {s.at(0.0).f1:.3f} | {s.at(t).f1:.3f} |"
        for share in (0.01, 0.05):
            k = round(share * len(yt))
            chosen = best_c(X, y, share)
            lines = {
                "logistic regression": lambda: LogisticRegression(max_iter=10_000),
                f"Structural, C = {chosen:.3g}": lambda c=chosen, share=share: Structural(
                    "precision@k", k=share, C=c
                ),
            }
            for label, make in lines.items():
                score = make().fit(X, y).decision_function(Xt)
                flagged = score >= 0
                at_zero = (flagged & yt).sum() / max(flagged.sum(), k)
                top = yt[np.argsort(-score, kind="stable")[:k]].mean()
                yield (
                    f"| {name}, precision at {k:,} ({100 * share:g} %) | {label} | {at_zero:.3f} | "
                    f"{top:.3f} |"
                )


def best_c(X: Any, y: Any, share: float | None = None) -> float:
    """C by the measure on rows left out, as a user would choose it."""
    found = {}
    for c in (0.01, 0.1, 1.0, 10.0, 100.0):
        total = 0.0
        for a, b in StratifiedKFold(3, shuffle=True, random_state=1).split(X, y):
            if share is None:
                line = Structural("f1", C=c, max_iter=300).fit(X[a], y[a])
                total += cs.sweep(y[b], line.decision_function(X[b])).at(0.0).f1
            else:
                line = Structural("precision@k", k=share, C=c, threshold="zero", max_iter=300)
                score = line.fit(X[a], y[a]).decision_function(X[b])
                total += y[b][np.argsort(-score)[: round(share * len(b))]].mean()
        found[c] = total
    return max(found, key=lambda c: found[c])


TABLES: dict[str, Callable[[dict[str, Split]], Iterator[str]]] = {
    "solvers": solvers,
    "svm-perf": against_svm_perf,
    "dlib": against_dlib,
    "worth": worth,
}


def main() -> None:
    os.environ["CUTSCORE_THREADS"] = "1"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", choices=TABLES)
    chosen = parser.parse_args()
    data = {"mammography": mammography(chosen.data), "a9a": a9a(chosen.data)}
    page = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        if chosen.only in (None, name):
            with threadpool_limits(1):
                lines = list(table(data))
            print("\n".join(lines), flush=True)
            start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
            before, _, rest = page.partition(start)
            page = f"{before}{start}\n" + "\n".join(lines) + f"\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
