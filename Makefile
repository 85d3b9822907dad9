# `make` alone lists the targets. Everything is installed into .venv; nothing else is touched.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install -qq -c constraints.txt

# One thread a process: kernels are compared at one thread, and two test workers share the machine.
export OMP_NUM_THREADS = 1
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup check test test-all fuzz golden docs demo compiler

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

setup: $(VENV)/.developer ## Create .venv with the package and the tools of a developer

check: $(VENV)/.developer ## Formatting, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: $(VENV)/.developer compiler ## Every test except devices and long ones
	$(PYTEST) -m "not device and not long"

test-all: $(VENV)/.developer compiler ## Every test except devices
	$(PYTEST) -m "not device"

fuzz: $(VENV)/.developer compiler ## Thousands of drawn kernel programs: interpreter against C++ (an hour)
	KERNELWRIGHT_FUZZ_PROGRAMS=$${KERNELWRIGHT_FUZZ_PROGRAMS:-4000} \
	  $(BIN)/python -m pytest tests/property/dsl/test_program_fuzz.py -m long -q

golden: $(VENV)/.developer compiler ## Rewrite the golden files; review them with git diff
	$(BIN)/python -m pytest --update-golden

docs: $(VENV)/.docs ## Renew the generated sections and build the documentation into site/
	$(BIN)/python .ci/generated.py
	$(BIN)/zensical build --clean

demo: $(VENV)/.product compiler ## Solve examples/tasks/softmax.py from nothing
	$(BIN)/kernelwright solve examples/tasks/softmax.py --backend cpu --budget 12

# --- how it is done -------------------------------------------------------------------------

compiler:
	@command -v g++ >/dev/null || command -v clang++ >/dev/null || { \
	  echo "error: no C++ compiler: neither g++ nor clang++ is on PATH" >&2; \
	  echo "fix: install one, for example with 'apt-get install g++'" >&2; exit 3; }

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: '$(PYTHON)' is not Python 3.11 or newer" >&2; \
	  echo "fix: install one and name it, for example 'make $(MAKECMDGOALS) PYTHON=python3.12'" >&2; exit 3; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.pip: constraints.txt | $(BIN)/python
	@$(PIP) pip
	@touch $@

$(VENV)/.product: pyproject.toml constraints.txt $(VENV)/.pip
	@echo "installing the package and PyTorch into $(VENV): a minute or two"
	@$(PIP) -e .
	@touch $@

$(VENV)/.developer: $(VENV)/.product
	@echo "installing the developer's tools into $(VENV)"
	@$(PIP) --group test --group dev
	@touch $@

$(VENV)/.docs: $(VENV)/.developer
	@$(PIP) --group docs
	@touch $@
