# Every target makes what it needs: the virtual environment, the packages, the extension. A fresh clone needs only
# Python >= 3.10, a Rust toolchain and a connection to the package registries.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
export PATH := $(PATH):$(HOME)/.cargo/bin

VENV := .venv
BIN := $(VENV)/bin
# A name on the PATH may be a shim for a version that isn't installed, so it has to run.
PYTHON ?= $(shell for p in python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo $$p; break; }; done)
# pytest workers: CI has two cores.
JOBS ?= 2
# How the extension is built: `release`, or `quick`, which compiles in a fraction of the time and runs slower.
PROFILE ?= release
# How long `make fuzz` runs.
SECONDS := 60
# Bash counts its own SECONDS, so the recipes get the number under this name.
FUZZ_SECONDS = $(SECONDS)

# PyO3 builds against the environment that will import the extension, not against what python3 happens to be.
export PYO3_PYTHON := $(abspath $(BIN)/python)
# Hash seeds of their own make canonical output and set order differ where they can.
unexport PYTHONHASHSEED PYTHONPATH CONDA_PREFIX

RUST_SOURCES := $(shell find crates -name target -prune -o -name fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print 2>/dev/null) \
	Cargo.toml $(wildcard Cargo.lock .cargo/config.toml rust-toolchain.toml)
TABLES := cargo run --quiet -p holdall-format --example tables
EXTENSION := $(VENV)/.stamp-develop

##@ Use
.PHONY: help demo bench
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z-]*:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(EXTENSION) $(VENV)/.stamp-demo ## store and restore four real object graphs, next to pickle
	@$(BIN)/python demo/run.py

bench: $(EXTENSION) $(VENV)/.stamp-bench ## every data set against every peer, as ratios of interleaved runs
	@$(BIN)/python bench/run.py $(ARGS)

##@ Check
.PHONY: test lint ruff mypy rust-lint docs-lint cargo-test pytest test-mongo check-julia zoo zoo-scan fuzz soak soak-log
test: lint cargo-test pytest test-mongo ## lint, the Rust tests and the Python tests: what CI runs

lint: ruff mypy rust-lint docs-lint ## ruff, mypy --strict, rustfmt, clippy -D warnings, generated docs

ruff: $(VENV)/.stamp-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

mypy: $(VENV)/.stamp-lint
	$(BIN)/mypy

rust-lint: $(VENV)/.stamp-venv
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

# Tables that are made from the code; one that lags behind is brought up to date here, and fails once.
DOCS_WITH_TABLES := docs/format.md docs/msgpack.md docs/bson.md docs/julia.md docs/types.md
WRITE_TABLES := $(TABLES) && $(BIN)/python -m tests.support.types_page
docs-lint: $(EXTENSION) $(VENV)/.stamp-test
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; cp $(DOCS_WITH_TABLES) "$$before"; $(WRITE_TABLES) || exit 1; behind=; \
	for page in $(DOCS_WITH_TABLES); do cmp -s "$$before/$${page##*/}" "$$page" || behind+=" $$page"; done; \
	test -z "$$behind" || { echo "did not match the code, and does now: commit$$behind"; exit 1; }

cargo-test:
	cargo test -p holdall-format

pytest: $(EXTENSION) $(VENV)/.stamp-test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m 'not soak' $(ARGS)

# The server speaks the protocol of MongoDB 4.2, which is too old for PyMongo 4.20: hence an environment of its own.
MONGO := .venv-mongo
MONGO_JARS := tests/mongo/lib
test-mongo: $(EXTENSION) $(MONGO)/.stamp ## PyMongo with this codec and a server; needs java, and mvn once
	@skip() { echo "test-mongo did not run: $$1"; exit 0; }; \
	command -v java >/dev/null || skip 'java is missing'; \
	if [ ! -e $(MONGO_JARS)/.stamp ] || [ tests/mongo/pom.xml -nt $(MONGO_JARS)/.stamp ]; then \
		command -v mvn >/dev/null || skip 'mvn is missing, which fetches the server'; \
		rm -rf $(MONGO_JARS); \
		mvn --batch-mode --quiet --file tests/mongo/pom.xml dependency:copy-dependencies \
			-DoutputDirectory=$(abspath $(MONGO_JARS)) || skip 'mvn could not fetch the server'; \
		touch $(MONGO_JARS)/.stamp; \
	fi; \
	PYTHONPATH=python $(MONGO)/bin/python -m pytest --confcutdir=tests/mongo tests/mongo tests/test_bson_install.py $(ARGS)

check-julia: $(EXTENSION) $(VENV)/.stamp-test ## Julia loads what we write, and compares; needs julia with BSON.jl
	@PYTHON=$(BIN)/python tests/julia/check.sh

# A hundred packages, in an environment of their own. Of the same Python as the extension.
ZOO := .venv-zoo
zoo: $(EXTENSION) $(ZOO)/.stamp ## objects of a hundred packages compared with pickle, then the scan; ARGS="pandas numpy" for some
	@cd / && PYTHONPATH=$(CURDIR):$(CURDIR)/python $(CURDIR)/$(ZOO)/bin/python -m tests.zoo.run $(ARGS)
	@test -n "$(ARGS)" || $(MAKE) --no-print-directory zoo-scan

zoo-scan: $(EXTENSION) $(ZOO)/.stamp ## handmade messages for every class of C code that these packages load
	@cd / && PYTHONPATH=$(CURDIR):$(CURDIR)/python $(CURDIR)/$(ZOO)/bin/python -m tests.zoo.scan $(ARGS)

fuzz: $(EXTENSION) $(VENV)/.stamp-test ## mutated inputs through Python and cargo-fuzz, SECONDS=60 each
	$(BIN)/python tests/fuzz/mutate.py --seconds $(FUZZ_SECONDS)
	@if cargo fuzz --version >/dev/null 2>&1 && rustup toolchain list 2>/dev/null | grep -q ^nightly; then \
		cd crates/format && for target in $$(cargo +nightly fuzz list); do \
			cargo +nightly fuzz run "$$target" -- -max_total_time=$(FUZZ_SECONDS); done; \
	else echo 'cargo-fuzz and a nightly toolchain are not both installed: the Rust fuzz target did not run'; fi

soak: $(EXTENSION) $(VENV)/.stamp-test ## 10,000 round trips and 10,000 failures of every kind, counts and memory level
	$(BIN)/python -m pytest -m soak $(ARGS)

soak-log: $(EXTENSION) $(VENV)/.stamp-test ## 10 GB through Writer and Reader: speed, and memory that does not grow
	$(BIN)/python tests/soak_log.py $(ARGS)

##@ Make
.PHONY: develop docs vectors format
develop: $(EXTENSION) ## build the extension into .venv
	@$(BIN)/python -c 'import holdall; print("holdall", holdall.__version__, "is ready in $(VENV)")'

docs: $(EXTENSION) $(VENV)/.stamp-test ## write the tables of docs/ anew: format.md, msgpack.md, bson.md, julia.md, types.md
	$(WRITE_TABLES)

vectors: $(EXTENSION) $(VENV)/.stamp-test ## write tests/vectors anew; what was released before must stay readable
	$(BIN)/python tests/vectors/generate.py

format: $(VENV)/.stamp-lint ## let ruff and rustfmt lay out the sources
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	cargo fmt --all

# --- files ---
$(VENV)/.stamp-venv:
	@test -n "$(PYTHON)" || { echo 'Python 3.10 or newer is needed (set PYTHON=)'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

# One stamp for each dependency group of pyproject.toml.
$(VENV)/.stamp-%: pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group $*
	@touch $@

# Of the same Python as the extension.
$(MONGO)/.stamp: Makefile | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(MONGO)
	$(MONGO)/bin/python -m pip install --quiet --disable-pip-version-check 'pymongo==4.13.*' 'pytest>=8'
	@touch $@

$(ZOO)/.stamp: tests/zoo/requirements.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(ZOO)
	$(ZOO)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r tests/zoo/requirements.txt
	@touch $@

# Python sources are linked into the environment, not copied, so only the Rust side asks for a build.
$(EXTENSION): $(RUST_SOURCES) $(VENV)/.stamp-build
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile $(PROFILE) --quiet
	@touch $@
