# Everything is installed into .venv from the locked requirements; nothing else is needed than Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install demo test check format lock schemas faults bench clean

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | awk -F ':.*?## ' '{printf "  make %-9s %s\n", $$1, $$2}'

install: $(STAMP) ## install the locked requirements and this project into .venv

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("pokdeng needs Python 3.11 or newer; make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: $(STAMP) ## play eight tables against the real worker, and prove that the books balance
	@$(BIN)/pokdeng demo $(ARGS)

test: $(STAMP) ## run the tests (on Apache Kafka and Redis too, where they are at hand)
	$(BIN)/python -m pytest $(ARGS)

check: $(STAMP) ## lint, types, layers, schemas, tidiness
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pokdeng schemas --check

format: $(STAMP) ## format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

schemas: $(STAMP) ## write the JSON Schemas and the AsyncAPI document
	$(BIN)/pokdeng schemas

faults: $(STAMP) ## play thousands of simulated bad days (RUNS=2000), or one again (SEED=...)
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(ARGS)

bench: $(STAMP) ## measure on Apache Kafka and Redis (POKDENG_TEST_KAFKA, or Java and Maven)
	$(BIN)/python -m bench $(ARGS)

lock: $(STAMP) ## renew the locked requirements
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade pyproject.toml -o requirements/runtime.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade --extra dev pyproject.toml -o requirements/dev.txt

clean: ## remove what was installed and cached
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
