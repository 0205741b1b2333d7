# Every target sets up .venv by itself; `make help` lists them.
# Needed on the machine: Python 3.11 or later with venv, make, git.

PYTHON ?= python3
WORKERS ?= 2
SECONDS ?= 1800
PYTEST_ARGS ?=
LOCK_ARGS ?=

BIN := .venv/bin
VENV := .venv/pyvenv.cfg
LOCKED := .venv/.locked
READY := .venv/.ready
STORED := $(addprefix tests/,api db graph maintenance mirror search sync vaults)
COVERAGE := --cov --cov-report=term

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-postgresql check soak package format lock bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## install what is needed into .venv (the other targets do so themselves)

demo: $(READY) ## serve the example notes and search them
	$(BIN)/crystal demo

test: $(READY) ## run the tests (PYTEST_ARGS=…, WORKERS=2)
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

check: $(READY) ## all that CI checks: format, lint, types, tests with branch coverage, PostgreSQL, a short soak
	$(BIN)/python -m pip check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/hadolint Dockerfile
	@$(MAKE) --no-print-directory test PYTEST_ARGS="$(COVERAGE) $(PYTEST_ARGS)"
	@$(MAKE) --no-print-directory test-postgresql
	@$(MAKE) --no-print-directory soak SECONDS=100
	@$(MAKE) --no-print-directory package

test-postgresql: $(READY) ## run what keeps notes in a database over PostgreSQL (it is installed with the rest)
	$(BIN)/python -m pytest -n $(WORKERS) --database=postgresql $(STORED) $(PYTEST_ARGS)

soak: $(READY) ## kill, damage, load and fuzz real servers, and print what they survived (SECONDS=1800)
	$(BIN)/python -m benchmarks.soak --seconds $(SECONDS) --json

package: $(READY) ## build sdist and wheel, install the wheel into an empty environment, run it there
	@rm -rf dist build/empty
	$(BIN)/python -m build --no-isolation --outdir dist .
	@$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet dist/*.whl
	cd build && empty/bin/crystal --version && empty/bin/crystal demo >/dev/null
	@echo 'The wheel runs on its own.'

format: $(READY) ## format the code and mend what the linter can
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .

bench: $(READY) ## measure scanning, searching, HTTP, embedding and words, and vectra beside us (needs npm)
	$(BIN)/python -m benchmarks.scan
	$(BIN)/python -m benchmarks.scan --precision float16
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.http
	$(BIN)/python -m benchmarks.embed
	$(BIN)/python -m benchmarks.lexical

lock: $(VENV) ## resolve requirements.lock anew (LOCK_ARGS=--upgrade for newer releases)
	$(BIN)/python -m pip install --quiet 'uv>=0.13,<0.14'
	$(BIN)/uv pip compile pyproject.toml --all-extras --output-file requirements.lock \
		--universal --python-version 3.11 --generate-hashes --no-config --quiet \
		--no-emit-index-url --no-emit-find-links --annotation-style line \
		--custom-compile-command 'make lock' $(LOCK_ARGS)

clean: ## remove .venv, caches and everything built
	rm -rf .venv build dist .coverage .coverage.* htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find app cli tests benchmarks docs alembic -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(READY): $(LOCKED) pyproject.toml
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(LOCKED): requirements.lock | $(VENV)
	@echo 'Installing the locked dependencies into .venv (some 100 MB to fetch the first time) …'
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@touch $@

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo '$(PYTHON) is missing or older than 3.11: install Python 3.11 or later, or name one with make PYTHON=…' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo '$(PYTHON) cannot make virtual environments: install its venv module (on Debian and Ubuntu: apt-get install python3-venv).' >&2; exit 1; }
	@$(PYTHON) -m venv .venv
