"""The import contract: imports point down only, siblings don't import each other, nothing heavy.

Read from the syntax, so that imports inside functions and under TYPE_CHECKING count as well.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cutscore
from cutscore.core.lazy import homes

SOURCE = Path(cutscore.__file__).parent

# From the top down. A package counts as one: what it imports inside itself is its own affair.
LAYERS = """
__main__
cli
report spark
plot estimators metrics torch training
detector
policy tables
comparison
decision linear
calibration inference
sweeps
measures
core
"""
DEPTH = {
    name: depth for depth, line in enumerate(LAYERS.strip().splitlines()) for name in line.split()
}

# Optional or slow to import: only inside functions, but for the modules that are made for them.
HEAVY = {"sklearn", "torch", "matplotlib", "pandas", "polars", "pyarrow", "scipy", "rich"}
HEAVY |= {"pyspark", "mlflow", "onnx", "duckdb", "threadpoolctl", "jinja2"}
HEAVY |= {"onnxruntime", "lightgbm", "xgboost", "catboost", "skops"}
MADE_FOR = {"torch": {"torch"}, "estimators": {"sklearn"}, "tables": {"pyarrow"}}
MADE_FOR |= {"report": {"rich"}, "detector": {"sklearn"}, "spark": {"pyarrow", "pyspark"}}

FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def _component(path: Path) -> str:
    """metrics for metrics.py as for metrics/anything.py."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def _imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Absolute names of the modules that are imported anywhere below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: -node.level + 1 or None] if node.level else []
            module = ".".join([*base, node.module] if node.module else base)
            if module == "cutscore":  # from cutscore import _native: the module, or the facade
                yield from (f"cutscore.{alias.name}" for alias in node.names)
            else:
                yield module


def _at_module_level(tree: ast.Module) -> ast.Module:
    """The module without the bodies of its functions, which run later."""

    class WithoutBodies(ast.NodeTransformer):
        def visit_FunctionDef(self, _: ast.FunctionDef) -> None:
            return None

        def visit_AsyncFunctionDef(self, _: ast.AsyncFunctionDef) -> None:
            return None

        def visit_If(self, node: ast.If) -> ast.AST | None:
            # For type checkers only; it never runs.
            if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
                return None
            return self.generic_visit(node)

    return WithoutBodies().visit(tree)  # type: ignore[no-any-return]


def _package(path: Path) -> str:
    parts = ["cutscore", *path.relative_to(SOURCE).parts[:-1]]
    return ".".join(parts)


def _faults(source: str, component: str, package: str = "cutscore") -> list[str]:
    """What is wrong with the imports of one module."""
    tree = ast.parse(source)
    out = []
    for name in _imported(tree, package):
        if name == "cutscore.__version__" or name.partition(".")[0] != "cutscore":
            continue
        other = name.partition(".")[2].partition(".")[0]
        if other not in DEPTH:
            out.append(f"{component} imports {name}, which is in no layer")
        elif other != component and DEPTH[other] <= DEPTH[component]:
            out.append(f"{component} imports {name}, which is not below it")
    allowed = MADE_FOR.get(component, set())
    for name in _imported(_at_module_level(tree), package):
        if name.partition(".")[0] in HEAVY - allowed:
            out.append(f"{component} imports {name} when it is imported itself")
    return out


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    component = _component(path)
    assert component in DEPTH, f"say in LAYERS where {component} belongs"
    assert _faults(path.read_text(encoding="utf-8"), component, _package(path)) == []


@pytest.mark.parametrize(
    ("component", "source"),
    [
        ("sweeps", "from cutscore.inference.rates import interval"),
        ("sweeps", "from cutscore import inference"),
        ("sweeps", "from ..inference import rates"),
        ("sweeps", "import cutscore.decision.choice"),
        ("sweeps", "import cutscore as cs"),
        ("sweeps", "from cutscore import roc"),
        ("sweeps", "def f():\n    from cutscore.decision.choice import choose"),
        ("sweeps", "if TYPE_CHECKING:\n    from cutscore.metrics import auc"),
        ("calibration", "from cutscore.inference.rates import interval"),
        ("core", "from cutscore.measures.confusion import Confusion"),
        ("sweeps", "import scipy.stats"),
        ("sweeps", "try:\n    from sklearn import metrics\nexcept ImportError: pass"),
        ("sweeps", "class A:\n    import torch"),
        ("plot", "import matplotlib.pyplot as plt"),
        ("metrics", "import sklearn"),
    ],
)
def test_the_contract_is_able_to_fail(component: str, source: str) -> None:
    assert len(_faults(source, component, f"cutscore.{component}")) == 1


@pytest.mark.parametrize(
    ("component", "source"),
    [
        ("inference", "from cutscore.sweeps.sweep import Sweep\nimport cutscore.core.errors"),
        ("inference", "from cutscore.core import _native\nfrom ..core import checks"),
        ("sweeps", "def f():\n    import scipy.stats"),
        ("sweeps", "if TYPE_CHECKING:\n    import pandas"),
        ("plot", "def f():\n    import matplotlib"),
        ("torch", "import torch"),
        ("report", "from cutscore.report.summary import Summary\nfrom cutscore.plot import roc"),
    ],
)
def test_the_contract_allows(component: str, source: str) -> None:
    assert _faults(source, component, f"cutscore.{component}") == []


def test_relative_imports_inside_a_package() -> None:
    assert _faults("from .summary import Summary", "report", "cutscore.report") == []
    assert _faults("from ..sweeps import curves", "report", "cutscore.report") == []
    assert len(_faults("from ..cli import main", "report", "cutscore.report")) == 1


# ------------------------------------------------------------------------------------- the facade


def _fresh(code: str) -> str:
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_light() -> None:
    code = (
        "import sys, cutscore; "
        "print(sorted({m.partition('.')[0] for m, there in sys.modules.items() if there}))"
    )
    loaded = set(ast.literal_eval(_fresh(code)))
    assert "cutscore" in loaded
    assert not loaded & (HEAVY | {"numpy"})


def test_a_sweep_needs_numpy_only() -> None:
    code = (
        "import sys, cutscore as cs; cs.roc(cs.sweep([1, 0], [2, 1])); cs.sweep; "
        "print(sorted({m.partition('.')[0] for m, there in sys.modules.items() if there}))"
    )
    loaded = set(ast.literal_eval(_fresh(code)))
    assert "numpy" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("stub", sorted(SOURCE.rglob("__init__.pyi")), ids=str)
def test_stubs_export_names_as_they_are(stub: Path) -> None:
    lines = [
        line for line in ast.parse(stub.read_text("utf-8")).body if isinstance(line, ast.ImportFrom)
    ]
    names = [alias for line in lines for alias in line.names]
    assert names
    # `as` the same name: that is how a stub re-exports.
    assert all(alias.asname == alias.name for alias in names)
    assert len({alias.name for alias in names}) == len(names)


def test_modules_of_other_packages_are_in_the_stub() -> None:
    typed = {name: f"{home}.{name}" for name, home in homes(cutscore.__file__).items()}
    elsewhere = {k: v for k, v in cutscore._MODULES.items() if v.count(".") > 1}
    assert {name: typed.get(name) for name in cutscore._MODULES if name in typed} == elsewhere


@pytest.mark.parametrize("name", sorted(cutscore._HOME))
def test_every_name_is_there(name: str) -> None:
    value = getattr(cutscore, name)
    assert value.__module__ in (cutscore._HOME[name], "cutscore")
    assert name in dir(cutscore)
    assert name in cutscore.__all__


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'cutscore' has no attribute 'rocc'"):
        _ = cutscore.rocc
