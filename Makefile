# plegscope's commands. `make` alone lists them.

PYTHON ?= python3
ARGS ?=
ONLY ?=
SEEDS ?= 100000
BIN := .venv/bin
SETUP := $(PYTHON) .ci/setup_env.py

# The version of uv that resolves the lock files.
UV := uv==0.13.9

.DEFAULT_GOAL := help
.PHONY: help python demo test conformance bench soak mutate lint format lock wheel clean

help: ## List the commands
	@echo "plegscope: watch a node's Pod Lifecycle Event Generator at work"
	@echo
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 22
	@echo
	@echo "Options go into ARGS, such as: make demo ARGS='--port 8000 --no-browser'"

python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer (on Debian: apt-get install -y python3 python3-venv) and run the same command again." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 7))' || { \
	  echo "$(PYTHON) is far too old. Install Python 3.11 or newer and run \`make PYTHON=<its path>\`." >&2; exit 1; }

demo: python ## Start a simulated node and its dashboard on 127.0.0.1
	@$(SETUP) run
	@exec $(BIN)/plegscope demo $(ARGS)

test: python ## Run every check and test; ONLY='lint unit' runs some of them
	@$(SETUP) test
	@exec $(BIN)/python .ci/run_tests.py $(ONLY)

conformance: python ## Run the checklist of PLEG behaviours; ARGS='A K4' runs some of it
	@$(SETUP) test
	@exec $(BIN)/python -m tests.conformance $(ARGS)

bench: python ## Measure against a bare loop on a real runtime, as ratios
	@$(SETUP) test
	@exec $(BIN)/python -m tests.bench $(ARGS)

soak: python ## Simulate SEEDS lives of the engine (100,000) under all faults
	@$(SETUP) test
	@exec $(BIN)/python -m tests.sweep --progress --seeds $(SEEDS) $(ARGS)

mutate: python ## Mutate app/engine and list what its tests do not notice
	@$(SETUP) test
	@exec $(BIN)/python -m tests.mutate $(ARGS)

lint: python ## Lint, types and import contracts only
	@$(SETUP) test
	@exec $(BIN)/python .ci/run_tests.py lint types contracts

format: python ## Format the code
	@$(SETUP) test
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet . || true

lock: python ## Resolve the dependencies anew and write .ci/lock
	@test -x .cache/lock/bin/python || $(PYTHON) -m venv .cache/lock
	@.cache/lock/bin/python -m pip install -qq --disable-pip-version-check '$(UV)'
	@.cache/lock/bin/python .ci/make_lock.py

wheel: python ## Build a wheel into dist/
	@$(SETUP) run
	@$(BIN)/python -m pip wheel -q --no-deps --no-build-isolation -w dist .

clean: ## Remove everything that was made here
	rm -rf .venv .cache build dist artifacts app/cri/pb app/sim/pb app/export/pb static/vendor
	rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage htmlcov
	find app tests proto .ci -name __pycache__ -type d -prune -exec rm -rf {} +
