.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.installed-core
ALL := $(VENV)/.installed
PIP := $(BIN)/pip install --disable-pip-version-check -c constraints.txt
TEST := $(BIN)/pytest -n auto
ATTACK_SECONDS ?= 150

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(CORE): pyproject.toml constraints.txt
	@echo "Installing Fallow and PyTorch into $(VENV); the first time this takes some minutes …"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@touch $(CORE)

$(ALL): pyproject.toml constraints.txt
	@echo "Installing Fallow and the tools of its developers into $(VENV); the first time this takes some minutes …"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e '.[dev]'
	@touch $(CORE) $(ALL)

install: $(ALL)  ## virtual environment in .venv, Fallow and its tools

demo: $(CORE)  ## install Fallow alone, compare the paper's four policies on the same harvest and data, and report
	$(BIN)/fallow compare configs/quickstart.toml --out runs/demo
	$(BIN)/fallow report runs/demo --out runs/demo/report

test: install  ## install, then all tests but the slow ones
	$(TEST) --dist worksteal

test-slow: install  ## the tests that need minutes or extra programs
	$(TEST) --dist loadfile -m slow  # the tests of a file share what is costly to make

check: install  ## format, lint, strict types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(TEST) --dist worksteal

coverage: install  ## which lines and branches the tests but the slow ones reach
	$(TEST) --dist worksteal --cov --cov-report=term

format: install  ## put every file in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint-js: install  ## the linter of the report's scripts, which npm installs
	$(BIN)/python -m tests.reports.javascript

bench-world: install  ## client-slots a second and bytes a client
	$(BIN)/python benchmarks/world.py

bench-learning: install  ## training against a plain PyTorch loop, in one run
	$(BIN)/python benchmarks/learning.py
	$(BIN)/python benchmarks/epoch.py

bench-peers: install  ## Fallow beside a hand-written loop, pfl and Flower, each in an environment of its own
	$(BIN)/python benchmarks/simulators.py

bench-distances: install  ## what a client pays to compare models: by features and by parameters
	$(BIN)/python benchmarks/distances.py

bench-strategies: install  ## clients trained side by side, and in lockstep, by the arithmetic of a step
	$(BIN)/python benchmarks/strategies.py

bench-rules: install  ## each aggregation rule beside the mean of those received: time and memory
	$(BIN)/python benchmarks/rules.py

bench-flower: install  ## what a federation costs: nodes, bytes, and rounds beside epochs of the engine
	$(BIN)/python benchmarks/flower.py

bench-plan: install  ## device-years a second of fallow plan, and how long a plan takes
	$(BIN)/python benchmarks/plan.py

bench-startup: install  ## how long commands take to answer, against a bare import
	$(BIN)/python benchmarks/startup.py

kill-test: install  ## 500 kills, each resumed, and every byte compared
	$(BIN)/python -m tests.e2e.kill --kills 500

attack: install  ## ten minutes of hostile input: configs, run directories, plug-ins
	$(BIN)/python -m tests.attack.configs --seconds $(ATTACK_SECONDS)
	$(BIN)/python -m tests.attack.run_directories --seconds $(ATTACK_SECONDS)
	$(BIN)/python -m tests.attack.hostile_entries --seconds $(ATTACK_SECONDS)
	$(BIN)/python -m tests.attack.plugins --seconds $(ATTACK_SECONDS)

docs: install  ## the documentation site, in site/
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/python docs/generated.py
	$(BIN)/zensical build --clean --strict

clean:  ## remove the virtual environments and caches
	rm -rf $(VENV) .venv-peers .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.*

.PHONY: help install demo test test-slow check coverage format lint-js bench-world bench-learning bench-peers bench-distances bench-strategies bench-rules bench-flower bench-plan bench-startup kill-test attack docs clean
