"""What is released: the source distribution, its metadata, the extras and the oldest versions.

Building and installing it takes minutes and is in ``make release-check``.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import cutscore

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "cutscore"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]

# For users; `test` and `docs` are for the repository.
OFFERED = {"plot", "sklearn", "torch", "sql", "onnx", "mlflow", "spark"}
OFFERED |= {"lightgbm", "xgboost", "catboost", "skops"}
# Where the module has another name than the distribution.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "mlflow": "mlflow-skinny"}
# Imported by what needs them, and brought along by it.
BROUGHT = {"py4j": "pyspark"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, as build tools ask for it."""
    folder = tmp_path_factory.mktemp("sdist")
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def metadata(sdist: Path) -> Message:
    with tarfile.open(sdist) as archive:
        member = archive.extractfile(f"{sdist.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None
        return Parser().parsestr(member.read().decode("utf-8"))


def test_the_sdist_has_what_it_is_built_from_and_nothing_else(sdist: Path) -> None:
    package = {path for path in SOURCE.rglob("*") if path.is_file()}
    package -= {path for path in package if path.suffix in (".so", ".pyc")}
    wanted = {str(path.relative_to(ROOT)) for path in (*package, *(ROOT / "native").glob("*.?pp"))}
    wanted |= {"CMakeLists.txt", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"}
    with tarfile.open(sdist) as archive:
        found = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    assert found == wanted | {"PKG-INFO"}
    assert {
        "src/cutscore/py.typed",
        "src/cutscore/core/_native.pyi",
        "src/cutscore/report/page.js",
    } <= found


def test_every_file_that_the_build_names_is_in_the_sdist(sdist: Path) -> None:
    """Read from the archive itself: sources in CMakeLists.txt, then what they include."""
    with tarfile.open(sdist) as archive:
        texts = {
            m.name.partition("/")[2]: archive.extractfile(m).read().decode("utf-8")  # type: ignore[union-attr]
            for m in archive.getmembers()
            if m.isfile()
        }
    todo = re.findall(r"native/\w+\.cpp", texts["CMakeLists.txt"])
    assert len(todo) >= 5
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += [f"native/{other}" for other in re.findall(r'#include "(\S+)"', texts[name])]
    assert seen == {name for name in texts if name.startswith("native/")}


def test_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "cutscore"
    assert metadata["Version"] == cutscore.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(metadata.get_all("Provides-Extra", [])) == OFFERED | {"test", "docs"}
    assert metadata["Description-Content-Type"] == "text/markdown"
    classifiers = metadata.get_all("Classifier", [])
    assert "Typing :: Typed" in classifiers
    assert [c for c in classifiers if c.startswith("Operating System")] == [
        "Operating System :: POSIX :: Linux"
    ]


def test_one_version() -> None:
    version = Version(cutscore.__version__)
    assert len(version.release) == 3
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## .*?(\d+\.\d+\.\d+\S*)", changes, re.MULTILINE)
    assert newest is not None
    assert newest[1].rstrip("])") == str(version)


# ----------------------------------------------------------------------------------- dependencies


def _names(requirements: Iterable[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def _third_party() -> set[str]:
    """Distributions that any line of the package imports."""
    modules = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules.add(node.module.partition(".")[0])
    modules -= {"cutscore", *sys.stdlib_module_names}
    return {BROUGHT.get(name, DISTRIBUTIONS.get(name, name)) for name in modules}


@pytest.mark.slow
def test_what_is_imported_is_required_and_what_is_required_is_imported() -> None:
    required = _names(PROJECT["dependencies"])
    optional = _names(line for extra in OFFERED for line in EXTRAS[extra])
    assert not required & optional
    # PySpark wants pandas for Arrow, and does not say so to pip.
    assert _third_party() | {"pandas"} == required | optional


def test_advice_names_extras_that_there_are() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    named = {
        extra
        for page in pages
        for words in re.findall(r"pip install '[^']*\[([\w,]+)\]'", page.read_text("utf-8"))
        for extra in words.split(",")
    }
    for module in SOURCE.rglob("*.py"):
        calls = re.findall(
            r"(?:missing_library|LibraryMissing|needs)\([^)]*\"(\w+)\"\)",
            module.read_text("utf-8"),
        )
        named.update(calls)
    assert named == OFFERED


def test_the_oldest_versions_are_those_that_are_tested() -> None:
    """Every requirement has one lower bound, and packaging/minimum.txt pins it."""
    lines = (ROOT / "packaging" / "minimum.txt").read_text("utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    pinned = {canonicalize_name(pin.name): _bound(pin, "==") for pin in pins}
    assert len(pinned) == len(pins)

    groups = [group for extra, group in EXTRAS.items() if extra not in ("docs", "torch", "spark")]
    lowest: dict[str, Version] = {}
    for group in (PROJECT["dependencies"], PYPROJECT["build-system"]["requires"], *groups):
        for requirement in map(Requirement, group):
            bound = _bound(requirement, ">=")
            assert lowest.setdefault(canonicalize_name(requirement.name), bound) == bound
    assert pinned == lowest


def _bound(requirement: Requirement, operator: str) -> Version:
    (bound,) = requirement.specifier
    assert bound.operator == operator
    return Version(bound.version)


# -------------------------------------------------------------------------------- what is installed


@pytest.mark.slow
def test_what_is_installed_works(tmp_path: Path) -> None:
    """What release checks and builders of wheels run, in the environment of the tests."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "smoke.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"cutscore {cutscore.__version__} works: ")


# What the project's own scripts install besides cutscore.
TOOLS = {"pip", "build", "auditwheel"}


def _installed(text: str) -> Iterable[str]:
    """What each command that installs asks for, without options. Texts in a row are one."""
    joined = re.sub(r"[\"']\s*\n\s*f?[\"'](?=\S)", "", text.replace("\\\n", ""))
    for found in re.finditer(r"(?:\b(?:pip3?|pipx) install|\buv add)([^\n`]*)", joined):
        asked = found[1].split(" in a clone")[0]
        for quoted, plain in re.findall(r"\s(?:['\"]([^'\"]+)|([^\s'\"]+))", asked):
            word = (quoted or plain).rstrip(".,:;")
            if not word.startswith("-"):
                yield word or "."


def _is_ours(word: str) -> bool:
    """A clone, a wheel of ours by its file name, a tool, or what a variable of make pins."""
    return (
        re.fullmatch(r"\.(\[[^]]*\])?|cutscore-[^/]*\.whl(\[[a-z,]+\])?|\$\(TORCH\)", word)
        is not None
        or word in TOOLS
        or word == "packaging/minimum.txt"
    )


def test_install_lines_name_a_clone_or_a_wheel() -> None:
    """A bare name belongs to whoever has it on the index; cutpoint is somebody else."""
    names = ("README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml", ".ci/run")
    files = [ROOT / name for name in names]
    for folder, ending in (("src", "*.py"), ("docs", "*.md"), ("packaging", "*")):
        files += (ROOT / folder).rglob(ending)
    asked = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in files
        if path.is_file() and path.suffix not in (".so", ".pyc")
        for word in _installed(path.read_text("utf-8"))
    }
    assert ("README.md", ".[plot,sklearn]") in asked
    for strange in (
        'pip install "stranger[sql]"',
        "pip3 install stranger",
        "uv add stranger",
        'raise E(\n    "get it: pip install "\n    "\'stranger[onnx]\'."\n)',
    ):
        assert any(not _is_ours(word) for word in _installed(strange)), strange
    assert {(path, word) for path, word in asked if not _is_ours(word)} == set()
