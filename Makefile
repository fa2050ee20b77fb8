# Three commands do everything on a fresh Linux machine with Python >= 3.11, GCC >= 12 and make:
#   make demo    makes .venv, installs cutscore, evaluates a made-up detector, leaves demo/report.html
#   make check   installs what the tests need and runs the quick ones
#   make test    runs them all
PYTHON ?= python3
BIN := .venv/bin
NATIVE := $(wildcard native/*.cpp native/*.hpp) CMakeLists.txt pyproject.toml
TORCH ?= torch==2.13.0

.PHONY: help demo check test lint bench validate rows attack fuzz sanitize messages outputs docs figures wheel release-check minimum clean
.DEFAULT_GOAL := help

help:
	@echo "make demo           installs cutscore into .venv and shows what it does, in demo/"
	@echo "make check          ruff, mypy and the quick tests: a minute or so"
	@echo "make test           ruff, mypy and all tests: ten minutes"
	@echo "make lint           ruff and mypy only"
	@echo "make docs           the documentation, in build/docs"
	@echo "make wheel          a source distribution and a wheel, in dist/"
	@echo "make clean          removes what the others made"
	@echo "make bench | validate | rows | attack | fuzz | sanitize | figures | release-check | minimum: see CONTRIBUTING.md"

# pip is told to be quiet, so each step that takes long says what it does.
$(BIN)/python:
	@echo "Making .venv for Python and what it needs ..."
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

# Editable: changes to Python files need no new install; changes to the native core get one, and so do
# new modules, since the install knows each by its file.
.venv/modules: $(BIN)/python FORCE
	@find src/cutscore -name '*.py' | sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
FORCE:

.venv/installed: $(BIN)/python $(NATIVE) .venv/modules
	@echo "Installing cutscore into .venv: compiles the native core, which takes a minute or two ..."
	$(BIN)/python -m pip install --quiet -e '.[plot,sklearn]'
	@touch $@

.venv/tools: $(BIN)/python $(NATIVE) .venv/modules
	@echo "Installing cutscore and what tests need, PyTorch and Spark among it: a large download, and the"
	@echo "native core is compiled. Some minutes ..."
	$(BIN)/python -m pip install --quiet '$(TORCH)' -e '.[plot,sklearn,spark,test]'
	@touch .venv/installed $@

demo: .venv/installed
	@echo "Learning from made-up payments, a few seconds ..."
	$(BIN)/cutscore demo -o demo
	@echo "To type cutscore commands in this shell: . .venv/bin/activate"

# Types are checked and tests run in so many processes. Compiled modules are kept, whatever the
# environment says: each of these processes, and each command that a test starts, would compile them
# again.
WORKERS ?= 2
lint: .venv/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(WORKERS)

PYTEST := $(BIN)/python -m pytest -n $(WORKERS)
unexport PYTHONDONTWRITEBYTECODE

# For every edit: unit tests and examples of the sources, with fewer examples of hypothesis. Pages and
# pictures, training and exports, what is for other libraries, and what is marked slow are for
# `make test`.
SLOW := $(addprefix tests/test_,$(addsuffix .py,alike browser export figures layouts metrics notebook plot \
  policy_export power readme rows rows_files start stories torch training training_files types)) \
  src/cutscore/torch.py
check: lint
	HYPOTHESIS_PROFILE=quick $(PYTEST) --dist worksteal -m 'not slow and not spark' \
	  $(SLOW:%=--ignore=%) tests src

# A process that needs Spark has one session for all its tests, so that these have a run of their own.
test: lint
	$(PYTEST) --dist worksteal -m 'not spark'
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m spark

# Times beside scikit-learn's in one run; writes docs/benchmarks.md. Wants an idle machine.
bench: .venv/tools
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/command.py
	$(BIN)/python benchmarks/policy.py

# Every function with arrays in every layout; then coverage of intervals and honesty of guarantees by
# simulation, which writes docs/validation.md.
validate: .venv/tools
	$(BIN)/python validation/layouts.py
	$(BIN)/python validation/run.py

# The 42 capabilities and the 82 items of the source documents, one check each with an oracle that is not
# ours; the quick ones are part of the tests. Some minutes: Spark, PyTorch and ten million rows are among it.
rows: .venv/tools
	$(BIN)/python validation/rows.py

# Tries to break things for half an hour or more: ATTACK='--minutes 5' bounds it. See SECURITY.md.
ATTACK ?=
attack: .venv/tools
	$(BIN)/python validation/attack.py $(ATTACK)

# The readers under atheris, a package that has to be installed into .venv first; FUZZ='--seconds 60' bounds it.
FUZZ ?=
fuzz: .venv/tools
	$(BIN)/python validation/fuzz.py $(FUZZ)

# The native core against a plain oracle: each build of the kernels with address and
# undefined-behaviour checks, then many threads under the race detector.
SELFTEST := -std=c++20 -O1 -g -Wall -Wextra -Wno-psabi -Inative -pthread native/tests/selftest.cpp native/dispatch.cpp \
  native/masses.cpp native/memory.cpp
CHECKS := -fsanitize=address,undefined -fno-sanitize-recover=all
# No fused products, as in the package: each build has to have the same bits.
KERNELS := -r -std=c++20 -O1 -g -ffp-contract=off -Wno-psabi -Inative $(CHECKS) native/features.cpp
X86 := $(filter x86_64,$(shell uname -m))
sanitize:
	@mkdir -p build/sanitize
	$(CXX) $(SELFTEST) native/kernels.cpp native/features.cpp $(CHECKS) -DCUTSCORE_ISA=cutscore::baseline \
	  -o build/sanitize/plain
	build/sanitize/plain 200
	$(if $(X86),$(CXX) $(KERNELS) native/kernels.cpp -mavx2 -mbmi2 -DCUTSCORE_ISA=cutscore::avx2 -o build/sanitize/avx2.o)
	$(if $(X86),$(CXX) $(KERNELS) -mavx2 -mbmi2 -mavx512f -mavx512vl -mavx512bw -mavx512dq \
	  -DCUTSCORE_ISA=cutscore::avx512 -o build/sanitize/avx512.o)
	$(if $(X86),$(CXX) $(SELFTEST) native/kernels.cpp native/features.cpp build/sanitize/avx2.o build/sanitize/avx512.o \
	  $(CHECKS) -DCUTSCORE_HAS_AVX -DCUTSCORE_ISA=cutscore::baseline -o build/sanitize/avx)
	$(if $(X86),build/sanitize/avx 200)
	$(CXX) $(SELFTEST) native/kernels.cpp native/features.cpp -fsanitize=thread -DCUTSCORE_ISA=cutscore::baseline \
	  -o build/sanitize/races
	build/sanitize/races 60

# What commands print, in the pages that show it. Look at the changes before you commit them.
outputs: .venv/tools
	PYTHONPATH=tests/plain $(BIN)/python docs/outputs.py

# The page of all messages, from the findings themselves; tests hold it to them.
messages: .venv/installed
	$(BIN)/python -m cutscore.core.findings.page > docs/messages.md

docs: .venv/docs
	$(BIN)/python -m sphinx -W -q -b html docs build/docs
	@echo "Open build/docs/index.html"

# The pictures of the documentation, drawn by the library itself.
figures: .venv/tools
	$(BIN)/python docs/figures.py
	$(BIN)/python docs/stories/pictures.py

.venv/docs: .venv/tools
	@echo "Installing Sphinx ..."
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

# Tools that build and inspect a release live apart, so that nothing of theirs is in .venv.
RELEASE := build/release/bin
$(RELEASE)/python:
	$(PYTHON) -m venv build/release
	$(RELEASE)/python -m pip install --quiet --upgrade pip build auditwheel

# The source distribution, and the wheel built from it alone.
wheel: $(RELEASE)/python
	@echo "Building the source distribution, and the wheel from it, which compiles the native core ..."
	rm -rf dist
	$(RELEASE)/python -m build --outdir dist .
	$(RELEASE)/auditwheel show dist/*.whl

# Installs what `wheel` made where there is nothing else, and uses it.
release-check: wheel
	$(RELEASE)/python packaging/check.py dist

# The tests with the oldest versions that pyproject.toml allows. What these say about each other's
# deprecations is no error here. PyTorch and Spark are left out: see CONTRIBUTING.md.
MINIMUM := build/minimum/bin
NEWER := tests/test_torch.py docs/torch.md docs/coming-from.md tests/test_spark.py \
  tests/test_spark_cluster.py tests/test_contract.py tests/test_docs.py docs/scale.md tests/test_browser.py
minimum:
	@echo "Installing the oldest versions that are allowed, and running the tests: 15 minutes ..."
	$(PYTHON) -m venv --clear build/minimum
	$(MINIMUM)/python -m pip install --quiet --upgrade pip
	$(MINIMUM)/python -m pip install --quiet --constraint packaging/minimum.txt \
	  --build-constraint packaging/minimum.txt '.[plot,sklearn,sql,onnx,test]'
	$(MINIMUM)/python -m pip check
	$(MINIMUM)/python -m pytest -W ignore::DeprecationWarning -p no:cacheprovider tests docs README.md \
	  $(addprefix --ignore ,$(NEWER))

clean:
	rm -rf .venv build dist demo
