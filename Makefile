# Each target sets up what it needs; nothing has to be installed by hand but Python 3.11+, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test bench bench-gpu lint schemas golden web clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@echo "Setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 2; }
	@$(PYTHON) -m venv $(VENV)

# One stamp a set of extras: an edit of pyproject.toml installs again, nothing else does.
$(VENV)/.bench: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the ledger and its torch harness (a few minutes the first time)"
	@$(PIP) --editable '.[bench]'
	@touch $@

$(VENV)/.test: $(VENV)/.bench
	@$(PIP) --editable '.[bench,test,lint]'
	@touch $@

demo: $(VENV)/.bench ## The main job on real input: draft, freeze, run, ingest, decide, render, archive, verify
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

bench: $(VENV)/.test ## Benchmarks, as ratios in one run
	@$(BIN)/python benchmarks/startup.py
	@PYTHONPATH=. $(BIN)/python benchmarks/rules.py
	@PYTHONPATH=. $(BIN)/python benchmarks/harness.py

# It looks for a GPU before anything is installed. make ends with 2 whatever a recipe's status is: where a script needs
# to tell "no GPU" (5) from the rest, it calls `sh examples/gpu.sh` itself.
bench-gpu: ## A four-rung ladder on one GPU, from draft to archive
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/gpu.sh --look
	@$(MAKE) --no-print-directory $(VENV)/.bench
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/gpu.sh

test: $(VENV)/.test ## Lint, then every test
	@$(MAKE) --no-print-directory lint
	@$(BIN)/pytest -n 2 --dist loadgroup $(ARGS)

lint: $(VENV)/.test ## ruff, mypy strict, the floors
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

schemas: $(VENV)/.test ## Write schemas/ again from the models
	@$(BIN)/python -m tests.golden.generate schemas

golden: $(VENV)/.test ## Write tests/golden/ again
	@$(BIN)/python -m tests.golden.generate

web: $(VENV)/.test ## Only the tests in a real browser
	@$(BIN)/pytest tests/web $(ARGS)

clean: ## Remove what was built; records stay
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
