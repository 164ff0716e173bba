# Everything is installed into .venv from the locked requirements; nothing else is needed than Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=
# The tests on real parts mostly wait.
JOBS ?= 3
DOCKER ?= docker
IMAGE ?= pokdeng-settlement
BASE ?= python:3.12-slim
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

.DEFAULT_GOAL := help
.PHONY: help install demo test check format lock schemas ops bench tools chart-readme fuzz image sbom audit-dependencies chaos faults clean

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | awk -F ':.*?## ' '{printf "  make %-18s %s\n", $$1, $$2}'

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
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(STAMP) ## lint, types, layers, schemas, the chart (where helm is: make tools)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pokdeng schemas --check
	$(BIN)/python scripts/helm/readme.py --check
	$(BIN)/python -m pytest -q tests/helm/test_manifests.py
	$(BIN)/python -m ops --check
	@if command -v promtool > /dev/null; then promtool test rules tests/ops/alerts/*.yaml; \
		else echo "promtool is not installed (Debian: prometheus): rules and alerts are not checked"; fi

format: $(STAMP) ## format the code
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

schemas: $(STAMP) ## write the JSON Schemas and the AsyncAPI document
	$(BIN)/pokdeng schemas

ops: $(STAMP) ## write the page of the metrics and the dashboard
	$(BIN)/python -m ops

faults: $(STAMP) ## play thousands of simulated bad days (RUNS=2000), or one again (SEED=...)
	$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(ARGS)

bench: $(STAMP) ## measure on Apache Kafka and Redis (POKDENG_TEST_KAFKA, or Java and Maven)
	$(BIN)/python -m bench $(ARGS)

tools: $(STAMP) ## fetch helm, kubeconform and schemas into .cache, for make check and the tests
	scripts/helm/tools

chart-readme: $(STAMP) ## write the table of values into the chart's README
	$(BIN)/python scripts/helm/readme.py

fuzz: $(STAMP) ## a million bad records through the decoder, and a million through the worker (ARGS="--records 50000 --seed 7")
	$(BIN)/python -m tests.fuzz $(ARGS)

chaos: $(STAMP) ## a storm of kills over workers, Kafka and Redis (ARGS="--bets 1000000 --kills 200 --seconds 1400"): minutes
	$(BIN)/python -m tests.chaos $(ARGS)

image: ## build the image (BASE=, IMAGE=, DOCKER=; ARGS for more build options)
	DOCKER_BUILDKIT=1 $(DOCKER) build --build-arg BASE=$(BASE) --build-arg VERSION=$(VERSION) \
		--build-arg REVISION=$$(git rev-parse HEAD 2> /dev/null || echo unknown) \
		--tag $(IMAGE):$(VERSION) --tag $(IMAGE):latest $(ARGS) .

lock: $(STAMP) ## renew the locked requirements
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade pyproject.toml -o requirements/runtime.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade --extra dev pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade -c requirements/dev.txt requirements/build.in -o requirements/build.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade --group pyproject.toml:audit -o requirements/audit.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade requirements/go.in -o requirements/go.txt
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --upgrade --no-deps requirements/kubernetes-schemas.in -o requirements/kubernetes-schemas.txt

AUDIT_BIN := build/audit/bin
AUDIT_STAMP := build/audit/.installed
ADVISORIES ?= pypi

$(AUDIT_STAMP): requirements/audit.txt | $(STAMP)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/audit
	$(BIN)/uv pip install --quiet --python $(AUDIT_BIN)/python --require-hashes -r requirements/audit.txt
	@touch $(AUDIT_STAMP)

sbom: $(AUDIT_STAMP) ## write what the service is made of, as CycloneDX, to build/sbom.json
	$(AUDIT_BIN)/cyclonedx-py requirements requirements/runtime.txt --pyproject pyproject.toml --mc-type application \
		--output-reproducible --of JSON -o build/sbom.json

audit-dependencies: $(AUDIT_STAMP) ## ask PyPI (or ADVISORIES=osv) for known weaknesses of what is locked
	$(AUDIT_BIN)/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -s $(ADVISORIES) \
		-r requirements/runtime.txt -r requirements/dev.txt

clean: ## remove what was installed and cached
	rm -rf $(VENV) build .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
