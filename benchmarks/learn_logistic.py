"""Times of ``Logistic`` beside scikit-learn's, and the objectives that both reach.

    python benchmarks/learn_logistic.py [--rows 1000000] [--repeat 3] [--libsvm file] [--cpu]

Whole calls of ``fit`` are timed, checks of the input included, in turns; the smallest time counts.
scikit-learn has one thread for BLAS, which on busy cores is its fastest. Objectives are computed in
float64 from what was fitted; "worse by" is (peer's − ours)/ours.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from cutscore.estimators import Logistic
from cutscore.linear.logistic import losses
from cutscore.linear.rows import ArrayRows
from run import Line, beside


class Case(NamedTuple):
    name: str
    X: Any
    y: Any
    C: float
    solvers: tuple[str, ...]


def made_up(rows: int) -> Iterator[Case]:
    """Tables of 50 float32 columns, well-conditioned and ill-conditioned."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 50), dtype=np.float32)
    w = (rng.standard_normal(50) * (1.5 / np.sqrt(50))).astype(np.float32)
    score, noise = X @ w, rng.logistic(size=rows)
    y = (score + noise > 1).astype(np.int64)
    both = ("newton-cholesky", "lbfgs")
    newton = ("newton-cholesky",)
    yield Case("well-conditioned", X, y, 1.0, both)
    yield Case("well-conditioned, C = 0.001", X, y, 1e-3, newton)
    yield Case("well-conditioned, C = 10⁶", X, y, 1e6, newton)
    yield Case("1 in 1,000 positive", X, (score + noise > 9).astype(np.int64), 1.0, newton)
    scaled = X * np.logspace(-4, 4, 50, dtype=np.float32)
    yield Case("scales 10⁻⁴ to 10⁴", scaled, y, 1.0, newton)
    yield Case("scales 10⁻⁴ to 10⁴, C = 10⁶", scaled, y, 1e6, newton)
    del scaled
    X[:, 25:] = X[:, :25] + 1e-3 * X[:, 25:]
    y = (X @ w + noise > 1).astype(np.int64)
    yield Case("columns correlated to 1 − 5·10⁻⁷", X, y, 1.0, newton)
    yield Case("the same, C = 10⁶", X, y, 1e6, newton)


def from_file(path: str) -> Iterator[Case]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(path)
    # liblinear reads no other indices
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    for C in (0.1, 1.0, 100.0):
        yield Case(f"file, C = {C:g}", X, y, C, ("newton-cholesky", "lbfgs", "liblinear"))


def objective(case: Case, w: Any, b: float) -> float:
    w = np.asarray(w, np.float64)
    rows = ArrayRows(case.X, case.y == case.y.max())
    loss = rows.reduce(lambda block: float(losses(block, w, b)[0][0]), lambda p, q: p + q)
    return 0.5 * float(w @ w) + case.C * loss


def timed(case: Case, name: str, clock: Callable[[], float]) -> tuple[float, Any]:
    start = clock()
    out = ours(case) if name == "ours" else peer(case, name)
    return clock() - start, out


def peer(case: Case, solver: str) -> Any:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and of Hessians that it can't invert
        return LogisticRegression(C=case.C, solver=solver).fit(case.X, case.y)


def ours(case: Case) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return Logistic(C=case.C).fit(case.X, case.y)


def fits(rows: int = 10**6) -> list[Line]:
    """Whole fits beside newton-cholesky's, and once beside lbfgs's, for ``make bench``."""
    lines = []
    for case in made_up(rows):
        plain = case.name == "well-conditioned"
        bars = {"newton-cholesky": 8.0, "lbfgs": 6.0} if plain else {"newton-cholesky": 1.0}
        for solver, bar in bars.items():
            what = f"`Logistic` / {solver}, {rows:,} × 50 float32, {case.name}"
            theirs = lambda c=case, solver=solver: peer(c, solver)  # noqa: E731
            lines.append(beside(what, theirs, lambda c=case: ours(c), bar, 3))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--libsvm", help="a file to fit instead of made-up tables")
    parser.add_argument(
        "--cpu", action="store_true", help="time of all processors, where others use them as well"
    )
    asked = parser.parse_args()
    clock = time.process_time if asked.cpu else time.perf_counter
    print("| table | ours, ms | steps | passes | peer | its ms | ratio | worse by |")
    print("|---|---|---|---|---|---|---|---|")
    for case in from_file(asked.libsvm) if asked.libsvm else made_up(asked.rows):
        best: dict[str, tuple[float, Any]] = dict.fromkeys(("ours", *case.solvers), (np.inf, None))
        for _ in range(asked.repeat):
            for name, least in best.items():
                best[name] = min(least, timed(case, name, clock), key=lambda pair: pair[0])
        seconds, model = best.pop("ours")
        value = objective(case, model.coef_[0], float(model.intercept_[0]))
        for name, (its, other) in best.items():
            worse = objective(case, other.coef_[0], float(other.intercept_[0])) / value - 1
            print(
                f"| {case.name} | {seconds * 1e3:.0f} | {model.n_iter_} | {model.fit_.passes} | "
                f"{name} | {its * 1e3:.0f} | {its / seconds:.1f} | {worse:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
