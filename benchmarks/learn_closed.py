"""Learners in closed form beside scikit-learn's, which has one thread for its BLAS: on busy cores
its threads are slower than that. ``python benchmarks/learn_closed.py [--quick]`` runs it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from cutscore.estimators._closed import Fisher, GaussianDiscriminant, LeastSquares, MeanDifference
from run import Line, beside, shown

COLUMNS = 50


def rows(n: int, dtype: str = "float32") -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(np.int64)
    X = rng.standard_normal((n, COLUMNS), np.float32)
    X[:, :10] += 0.3 * y[:, None].astype(np.float32)
    return X.astype(dtype, copy=False), y


def fits(n: int = 10**6) -> list[Line]:
    """Whole fits, with all checks of the input."""
    lines = []
    for dtype in ("float32", "float64"):
        X, y = rows(n, dtype)
        lda = LinearDiscriminantAnalysis(solver="lsqr")
        with threadpool_limits(1):
            lda.fit(X, y)
        ours = GaussianDiscriminant().fit(X, y)
        np.testing.assert_allclose(
            ours.coef_, lda.coef_, rtol=1e-3 if dtype == "float32" else 1e-8, atol=1e-6
        )
        some = ESTIMATORS if dtype == "float32" else ESTIMATORS[:1]
        peers: list[tuple[Any, Any, float]] = [
            *((lda, mine, 12 if dtype == "float32" else 1) for mine in some),
            (Ridge(solver="cholesky"), LeastSquares(alpha=1.0), 2.5),
        ]
        for peer, mine, bar in peers:

            def theirs(peer: Any = peer, X: Any = X, y: Any = y) -> None:
                with threadpool_limits(1):
                    peer.fit(X, y)

            lines.append(
                beside(
                    f"`{type(mine).__name__}` / `{type(peer).__name__}`, {n:,} × {COLUMNS} {dtype}",
                    theirs,
                    lambda mine=mine, X=X, y=y: mine.fit(X, y),
                    bar,
                )
            )
    return lines


ESTIMATORS = [GaussianDiscriminant(), Fisher(), LeastSquares(), MeanDifference()]

MEMORY = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[3])
from learn_closed import rows
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from cutscore.estimators._closed import GaussianDiscriminant
from threadpoolctl import threadpool_limits
X, y = rows(int(sys.argv[1]))
model = {"ours": GaussianDiscriminant(), "theirs": LinearDiscriminantAnalysis(solver="lsqr")}
fit = model[sys.argv[2]].fit
fit(X[:1000], y[:1000])  # what is loaded at the first fit is no memory of this one
def memory(what):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew from what is there now
before = memory("VmRSS")
with threadpool_limits(1 if sys.argv[2] == "theirs" else None):
    fit(X, y)
print(json.dumps(memory("VmHWM") - before))
"""


def memory(n: int = 10**6) -> dict[str, int]:
    """Bytes that a fit takes beyond its input, at the peak."""
    out = {}
    for who in ("ours", "theirs"):
        command = [sys.executable, "-c", MEMORY, str(n), who, sys.path[0]]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        out[who] = json.loads(done.stdout)
    return out


def main() -> int:
    n = 10**5 if "--quick" in sys.argv else 10**6
    lines = fits(n)
    extra = memory(n)
    print(
        f"extra memory: {extra['ours'] / 2**20:.1f} MiB, theirs {extra['theirs'] / 2**20:.1f} MiB"
    )
    missed = [line for line in lines if line.ratio < line.bar]
    for line in missed:
        print(f"missed: {line.what}, {shown(line.ours)}, {line.ratio:.1f} x < {line.bar:g} x")
    return int(bool(missed) or extra["ours"] > 10 * 2**20)


if __name__ == "__main__":
    sys.exit(main())
