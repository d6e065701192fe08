# make demo      a real torch.compile run with TORCH_LOGS names of three packages (TORCH=0: a toy compiler, no PyTorch)
# make test      every test, with PyTorch
# make help      the other targets
#
# Each target makes the virtual environment that it needs, with pip, and makes it anew when a pyproject.toml changes.

PYTHON ?= python3
# the PyTorch to install: a requirement and options of pip install
TORCH_INSTALL ?= torch==2.13.0
TORCH = 1
# as many tests at a time as there are processors
PARALLEL = --numprocesses=auto --dist=worksteal
PYTEST_ARGS =
DIST = dist

PLUGINS := torch dynamo inductor distributed onnx rich otel
PROJECTS := . $(PLUGINS:%=plugins/%) examples/my-artifact
REQUIREMENTS := $(PROJECTS:%=%/pyproject.toml)
EMPTY :=
PLUGIN_SOURCES := $(subst $(EMPTY) $(EMPTY),:,$(PLUGINS:%=plugins/%/src))
SETTINGS := +inductor,output_code,my_artifact

VENV := .venv
DEMO_VENV := .venv-demo
BENCH_VENV := .venv-bench
TOY_VENV := .venv-demo-without-torch
PIP_OPTIONS := --disable-pip-version-check --quiet
# the backend is installed first, once, instead of anew for each project
INSTALL_EDITABLE := install $(PIP_OPTIONS) --no-build-isolation
BUILD_BACKEND := "hatchling>=1.26" "editables>=0.5"

.DEFAULT_GOAL := help
.PHONY: help demo demo-0 demo-1 test test-versions lint lint-style lint-types lint-imports docs bench wheels clean
.PHONY: test-core test-with-nothing-else

help:
	@echo 'make demo            compile a model with PyTorch; TORCH=0 runs a toy compiler without it'
	@echo 'make test            every test (PYTEST_ARGS="-k name" to choose)'
	@echo 'make test-versions   the tests of the core on each other Python >= 3.10 that is installed'
	@echo 'make lint            ruff, mypy --strict, the layers of the imports'
	@echo 'make docs            write docs/names.md and docs/rich.svg anew'
	@echo 'make bench           measure beside PyTorch and other libraries, write docs/benchmarks.md; ten minutes (ONLY=lines: one group)'
	@echo 'make wheels          build every distribution into $(DIST)/'
	@echo 'make clean           remove what these made'
	@echo
	@echo 'PYTHON=$(PYTHON) makes the environments; TORCH_INSTALL="$(TORCH_INSTALL)" is what pip is told to install.'

demo: demo-$(TORCH)

demo-1: $(DEMO_VENV)/installed
	TORCH_LOGS="$(SETTINGS)" $(DEMO_VENV)/bin/python examples/train.py

demo-0: $(TOY_VENV)/installed
	TORCH_LOGS="$(SETTINGS)" $(TOY_VENV)/bin/python examples/toy_compiler.py

test: $(VENV)/installed
	$(VENV)/bin/python -m pytest $(PARALLEL) $(PYTEST_ARGS)

# two at a time, each one's output in one piece
test-versions:
	@$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target \
	    $$(.ci/pythons "$(PYTHON)" | sed 's|^|test-with/|') test-with-nothing-else

test-with/%:
	@venv=".venv-$$("$*" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" && \
	    $(MAKE) --no-print-directory test-core PYTHON="$*" CORE_VENV="$$venv"

test-with-nothing-else:
	@:

CORE_VENV := .venv-core
test-core: $(CORE_VENV)/installed
	$(CORE_VENV)/bin/python -m pytest -p no:cacheprovider -m "not torch" tests/core tests/complog

lint: lint-style lint-types lint-imports

lint-style: $(VENV)/installed
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

lint-types: $(VENV)/installed
	MYPYPATH="$(PLUGIN_SOURCES)" $(VENV)/bin/mypy --strict src/core plugins/*/src docs
	MYPYPATH="$(PLUGIN_SOURCES):benchmarks" $(VENV)/bin/mypy --strict benchmarks/*.py

lint-imports: $(VENV)/installed
	$(VENV)/bin/lint-imports

docs: $(VENV)/installed
	$(VENV)/bin/python docs/write_names.py
	$(VENV)/bin/python docs/write_picture.py

bench: $(BENCH_VENV)/installed
	$(BENCH_VENV)/bin/python benchmarks/report.py $(ONLY)

wheels: $(VENV)/installed
	@for project in $(filter-out examples/%,$(PROJECTS)); do \
	    $(VENV)/bin/python -m build --no-isolation --outdir $(DIST) $$project || exit 1; \
	done

clean:
	rm -rf $(VENV) $(VENV)-* $(DIST) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/installed: requirements-dev.txt $(REQUIREMENTS)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install $(PIP_OPTIONS) -r requirements-dev.txt
	$(VENV)/bin/python -m pip install $(PIP_OPTIONS) $(TORCH_INSTALL)
	$(VENV)/bin/python -m pip $(INSTALL_EDITABLE) $(PROJECTS:%=-e ./%)
	@touch $@

$(DEMO_VENV)/installed: $(REQUIREMENTS)
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install $(PIP_OPTIONS) $(BUILD_BACKEND)
	$(DEMO_VENV)/bin/python -m pip install $(PIP_OPTIONS) numpy $(TORCH_INSTALL)
	$(DEMO_VENV)/bin/python -m pip $(INSTALL_EDITABLE) $(PROJECTS:%=-e ./%)
	@touch $@

# the bridge and the four families, not editable, as users have them: installed anew when a source changes
MEASURED := . $(addprefix ./plugins/,torch dynamo inductor distributed onnx)
$(BENCH_VENV)/installed: requirements-bench.txt $(REQUIREMENTS) $(shell find src plugins -name '*.py' -path '*src*')
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install $(PIP_OPTIONS) $(BUILD_BACKEND) -r requirements-bench.txt
	$(BENCH_VENV)/bin/python -m pip install $(PIP_OPTIONS) $(TORCH_INSTALL)
	$(BENCH_VENV)/bin/python -m pip install $(PIP_OPTIONS) --no-build-isolation --force-reinstall --no-deps \
	    $(MEASURED)
	$(BENCH_VENV)/bin/python -m pip install $(PIP_OPTIONS) --no-build-isolation $(MEASURED)
	@touch $@

$(TOY_VENV)/installed: $(REQUIREMENTS)
	$(PYTHON) -m venv $(TOY_VENV)
	$(TOY_VENV)/bin/python -m pip install $(PIP_OPTIONS) $(BUILD_BACKEND)
	$(TOY_VENV)/bin/python -m pip $(INSTALL_EDITABLE) $(PROJECTS:%=-e ./%)
	@touch $@

$(CORE_VENV)/installed: requirements-dev.txt $(REQUIREMENTS)
	$(PYTHON) -m venv $(CORE_VENV)
	$(CORE_VENV)/bin/python -m pip install $(PIP_OPTIONS) -r requirements-dev.txt
	$(CORE_VENV)/bin/python -m pip $(INSTALL_EDITABLE) $(PROJECTS:%=-e ./%)
	@touch $@
