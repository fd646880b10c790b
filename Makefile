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
# How the extension is built, by a profile of Cargo.toml: `develop`, or `release`, which is what is published and what is measured;
# or `guided`: a release build by the profile of a run of `bench/holdall_bench/training.py`.
PROFILE ?= develop
# How long `make fuzz` and `make properties` run.
SECONDS := 60
# Bash counts its own SECONDS, so the recipes get the number under this name.
FUZZ_SECONDS = $(SECONDS)

# PyO3 builds against the environment that will import the extension, not against what python3 happens to be.
export PYO3_PYTHON := $(abspath $(BIN)/python)
# Another environment's build is kept apart: PyO3 is built anew for each Python.
ifneq ($(VENV),.venv)
export CARGO_TARGET_DIR ?= $(abspath target/$(VENV))
endif
# Hash seeds of their own make canonical output and set order differ where they can.
unexport PYTHONHASHSEED PYTHONPATH CONDA_PREFIX
# Hundreds of processes are started, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# A first build has nothing to go on from, and CI no second one that would go on from it: a fifth of the compiler's work.
ifneq ($(filter test,$(MAKECMDGOALS)),)
ifeq ($(wildcard target/develop),)
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEVELOP_CODEGEN_UNITS := 16
endif
endif

RUST_SOURCES := $(shell find crates -name target -prune -o -name fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print 2>/dev/null) \
	Cargo.toml $(wildcard Cargo.lock .cargo/config.toml rust-toolchain.toml)
# The format crate by itself: with every check, and soon built.
CHECKED := CARGO_PROFILE_DEVELOP_OPT_LEVEL=0 CARGO_PROFILE_DEVELOP_DEBUG_ASSERTIONS=true CARGO_PROFILE_DEVELOP_OVERFLOW_CHECKS=true cargo
TABLES := $(CHECKED) run --quiet --profile develop -p holdall-format --example tables
EXTENSION := $(VENV)/.stamp-develop
# A figure is worth something if it is that of what users install.
MEASURED := $(if $(filter guided,$(PROFILE)),guided,release)
RELEASE = +@$(MAKE) --no-print-directory PROFILE=$(MEASURED) $(EXTENSION)

##@ Use
.PHONY: help demo bench bench-lisp
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z-]*:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(EXTENSION) $(VENV)/.stamp-demo ## store and restore four real object graphs, next to pickle
	@$(BIN)/python demo/run.py

bench: $(VENV)/.stamp-build ## every data set against every peer, as ratios of interleaved runs
	$(RELEASE)
	+@$(MAKE) --no-print-directory PROFILE=$(MEASURED) $(VENV)/.stamp-bench
	@$(BIN)/python -m bench.targets $(ARGS)

bench-lisp: override ARGS += --only sbcl
bench-lisp: bench ## of these, cl-binary-store's data sets beside SBCL; CL_BINARY_STORE=the library's source

##@ Check
.PHONY: test-all versions-page bench-versions check test beside-the-build beside-the-tests lint ruff mypy rust-lint house docs-lint cargo-test pytest properties test-mongo check-julia check-lisp check-readers check-versions peers check-evolution-peers corpora test-integrations suites-integrations bench-integrations test-bundles test-oldest bench-bundles test-torch bench-torch test-scale bench-scale simulate-scale campaign-scale interpreter-tests zoo zoo-scan fuzz fuzz-rust miri check-debug sanitize complexity faults soak soak-log
# `+`: what stands in a variable is not seen to be make, which would keep its jobs to itself.
STEP = +@$(MAKE) --no-print-directory
# What takes more than a few seconds: hostile inputs, deep graphs, processes that are killed, random graphs, whole programs.
FAST = tests/api tests/cli tests/formats tests/host tests/repository $(patsubst %,--ignore=tests/%.py,api/test_documents api/log/test_crash \
	api/log/test_damage api/pickle/test_semantics cli/test_commands cli/test_shown cli/test_unpickle formats/bson/test_compat formats/bson/test_documents \
	formats/bson/test_options formats/hold/test_file_frames formats/julia/test_refcounts host/test_deep host/test_properties host/test_zoo_standard \
	repository/test_isomorphic)
check: lint $(EXTENSION) $(VENV)/.stamp-test ## lint and the fast half of the Python tests, for every day
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m 'not soak' $(FAST) $(ARGS)

# The compiler works on one thread for a good part of a build from nothing: what needs no extension runs beside it.
test: $(VENV)/.stamp-build ## lint, the Rust tests and the Python tests: what CI runs
	$(STEP) -j$(JOBS) --output-sync=target $(EXTENSION) beside-the-build
	$(STEP) -j$(JOBS) --output-sync=line pytest beside-the-tests
	$(STEP) docs-lint test-mongo

# One after another: pip likes no second one in the same folder.
beside-the-build:
	$(STEP) ruff
	$(STEP) mypy
	$(STEP) $(VENV)/.stamp-test
	$(STEP) house
	$(STEP) $(MONGO)/.stamp

# Nor does cargo, and what both need the build has made.
beside-the-tests:
	$(STEP) rust-lint
	$(STEP) cargo-test

lint: ruff mypy rust-lint house docs-lint ## ruff, mypy --strict, rustfmt, clippy -D warnings, the order of the floors, generated docs

ruff: $(VENV)/.stamp-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

mypy: $(VENV)/.stamp-lint
	$(BIN)/mypy

# As maturin says it: another one, or none, would have PyO3 built anew each time that the build follows on this, or this on the build.
SIGNATURE := 'import struct, sys; print("%s-%d.%d-%dbit" % (sys.implementation.name, *sys.version_info[:2], struct.calcsize("P") * 8))'
rust-lint: $(VENV)/.stamp-venv
	cargo fmt --all --check
	PYO3_ENVIRONMENT_SIGNATURE="$$($(BIN)/python -c $(SIGNATURE))" cargo clippy --profile develop --workspace --lib --tests --examples -- -D warnings

# No file takes from a floor above its own, or in a circle; none is too long.
house: $(VENV)/.stamp-venv
	$(BIN)/python -m tests.support.house

# Tables that are made from the code; one that lags behind is brought up to date here, and fails once.
DOCS_WITH_TABLES := docs/format.md docs/msgpack.md docs/bson.md docs/julia.md docs/lisp.md docs/types.md
WRITE_TABLES := $(TABLES) && $(BIN)/python -m tests.support.types_page && $(BIN)/python -m tests.support.evolution_page
docs-lint: $(EXTENSION) $(VENV)/.stamp-test
	@before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; cp $(DOCS_WITH_TABLES) "$$before"; $(WRITE_TABLES) || exit 1; behind=; \
	for page in $(DOCS_WITH_TABLES); do cmp -s "$$before/$${page##*/}" "$$page" || behind+=" $$page"; done; \
	test -z "$$behind" || { echo "did not match the code, and does now: commit$$behind"; exit 1; }

cargo-test:
	$(CHECKED) test --profile develop -p holdall-format

pytest: $(EXTENSION) $(VENV)/.stamp-test
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m 'not soak' $(ARGS)

# What `make test` tries are the same examples each time, a quarter as many.
properties: $(EXTENSION) $(VENV)/.stamp-test ## the property tests with new examples, as many rounds as begin in SECONDS=60
	@until=$$(($$(date +%s) + $(FUZZ_SECONDS))); while \
		$(BIN)/python -m pytest -q -n $(JOBS) --dist loadgroup -m 'hypothesis and not soak' --hypothesis-profile=random $(ARGS); \
	do test "$$(date +%s)" -lt $$until || exit 0; done; exit 1

# Each has an environment and a folder for its build of its own. `ARGS="--get"` has those that are missing from Debian.
test-all: $(VENV)/.stamp-venv ## the tests on every Python from 3.10 to 3.15, a line each: ARGS="--get 3.14 3.15-dbg"
	@JOBS=$(JOBS) nice -n 19 $(BIN)/python -m tests.versions.run $(ARGS)

# On a machine that does nothing else: its extension is a release build, as published.
bench-versions: $(VENV)/.stamp-venv ## five rows of speed on every version, beside the same version's pickle and msgspec: ARGS="3.15"
	@$(BIN)/python -m tests.versions.speed $(ARGS)
	@$(BIN)/python -m tests.versions.page

versions-page: $(VENV)/.stamp-venv ## write the table of docs/versions.md from what `make test-all` and `make bench-versions` have kept
	@$(BIN)/python -m tests.versions.page

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
	PYTHONPATH=python $(MONGO)/bin/python -m pytest --confcutdir=tests/mongo tests/mongo tests/formats/bson/test_install.py $(ARGS)

# Without one installed, Debian's is set up in .julia by root; BSON_JL= is a folder with BSON.jl's sources where they can't be cloned.
check-julia: $(EXTENSION) $(VENV)/.stamp-test ## Julia loads what we write, and we what Julia writes; sets a Julia up where it can
	@PYTHON=$(BIN)/python BSON_JL='$(BSON_JL)' VALUES=$$($(BIN)/python -m tests.support.places julia_values) tests/julia/check.sh

check-lisp: $(EXTENSION) $(VENV)/.stamp-test ## Lisp restores what we write of its own files; needs sbcl, and CL_BINARY_STORE=the library's source
	@PYTHON=$(abspath $(BIN)/python) CL_BINARY_STORE='$(CL_BINARY_STORE)' tests/lisp/check.sh

check-readers: ## the TypeScript reader agrees with all vectors, files and logs; needs Node 20 or newer, else it skips
	@readers/check.sh

# The extension is built for each of them, in an environment of its own.
PYTHONS ?= $(shell $(BIN)/python -m tests.versions.pythons 3.10 3.12 3.13 3.14 3.15 2>/dev/null | cut -d' ' -f2)
check-versions: $(EXTENSION) $(VENV)/.stamp-test ## canonical messages are the same by other Pythons: PYTHONS="python3.10 ..."
	@plans=$$(mktemp -d); trap 'rm -rf "$$plans"' EXIT; \
	$(BIN)/python -m tests.support.plans > "$$plans/plans"; $(BIN)/python -m tests.support.digests < "$$plans/plans" > "$$plans/here"; \
	for python in $(PYTHONS); do \
		$$python -c '' 2>/dev/null || { echo "$$python is not there"; continue; }; \
		venv=.venv-$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		$(MAKE) --no-print-directory VENV=$$venv PYTHON=$$python PROFILE=$(PROFILE) develop; \
		$$venv/bin/python -m tests.support.digests < "$$plans/plans" | cmp - "$$plans/here"; \
		echo "$$python: the same $$(wc -l < "$$plans/here") messages"; done

# Their tests come with their source archives, which are kept; the codecs under test are ours.
PEERS := .venv-peers
PEER_SOURCES := .peers
RUN_PEER = PYTHONPATH=$(abspath python):$(abspath tests/peers) $(abspath $(PEERS)/bin/python) -m pytest -q -c /dev/null -p no:cacheprovider
peers: $(EXTENSION) $(PEERS)/.stamp $(PEER_SOURCES)/.stamp ## the tests of msgpack, PyMongo and msgspec, run against our codecs
	cd $(PEER_SOURCES)/msgpack && $(RUN_PEER) --rootdir . -p with_msgpack test $(ARGS)
	cd $(PEER_SOURCES)/pymongo && $(RUN_PEER) --rootdir . -p with_bson \
		$(patsubst %,test/test_%.py,bson bson_corpus bson_binary_vector binary code custom_types dbref decimal128 json_util objectid raw_bson son timestamp) $(ARGS)
	cd $(PEER_SOURCES)/msgspec && $(RUN_PEER) --rootdir . -p with_msgspec \
		$(patsubst %,tests/unit/test_%.py,msgpack common constraints integration) $(ARGS)

check-evolution-peers: $(EXTENSION) $(VENV)/.stamp-test $(VENV)/.stamp-evolution-peers ## what docs/evolution.md says of Avro and protobuf, with fastavro and protobuf
	$(BIN)/python -m pytest -q tests/evolution/test_avro.py tests/evolution/test_protobuf.py $(ARGS)

corpora: $(VENV)/.stamp-venv ## fetch others' suites and documents that tests read, by pip and npm, into .corpora
	$(BIN)/python -m tests.support.corpora

# The libraries of docs/integrations, in an environment of their own. Of the same Python as the extension.
INTEGRATIONS := .venv-integrations
INTEGRATIONS_NEED := tests/integrations/requirements.txt
IN_INTEGRATIONS = PYTHONPATH=$(CURDIR):$(CURDIR)/python $(INTEGRATIONS)/bin/python
test-integrations: $(EXTENSION) $(INTEGRATIONS)/.stamp ## holdall in the place of other libraries' serializers, with those libraries; redis-server for some. ARGS="-k django"
	$(IN_INTEGRATIONS) -m pytest -q -p no:cacheprovider -c tests/integrations/pytest.ini --rootdir . tests/integrations $(ARGS)

# Those libraries' own tests of the layer that calls the serializer come with their source archives.
SUITES := .integration-suites
SUITE = cd $(SUITES)/$(1) && LIBRARY=$(2) PYTHONPATH=$(CURDIR)/tests/integrations/suites:$(CURDIR)/python timeout $(SUITE_TIME) \
	$(CURDIR)/$(INTEGRATIONS)/bin/python -m pytest -q -p no:cacheprovider -c /dev/null --rootdir . -p in_place
# Any of them takes about a minute.
SUITE_TIME := 10m
# huey's tests and rq's ask for Redis at its usual port, where nothing else may be.
suites-integrations: $(EXTENSION) $(SUITES)/.stamp ## the tests of diskcache, joblib, cachelib, Django, kombu, huey and rq of their serializer's layer, with ours in its place
	$(call SUITE,diskcache,diskcache) tests/test_core.py tests/test_fanout.py tests/test_deque.py tests/test_index.py $(ARGS)
	$(call SUITE,joblib,joblib) joblib/test/test_memory.py $(ARGS)
	$(call SUITE,cachelib,cachelib) tests/test_file_system_cache.py tests/test_simple_cache.py $(ARGS)
	$(call SUITE,kombu,kombu) -o 'python_classes=test_*' t/unit/transport/virtual \
		$(patsubst %,t/unit/test_%.py,simple messaging entity pidbox serialization) t/unit/transport/test_memory.py $(ARGS)
	cd $(SUITES)/django/tests && PYTHONPATH=$(CURDIR):$(CURDIR)/python:.. timeout $(SUITE_TIME) $(CURDIR)/$(INTEGRATIONS)/bin/python \
		runtests.py --settings=tests.integrations.suites.django_settings --parallel=1 cache sessions_tests
	@server=; if command -v redis-server >/dev/null; then \
		redis-server --port 6379 --bind 127.0.0.1 --save '' --dir /tmp > /dev/null & server=$$!; trap 'kill $$server' EXIT; sleep 1; \
		kill -0 $$server || { echo 'the tests of huey and rq did not run: port 6379 is taken'; exit 1; }; \
	fi; \
	($(call SUITE,huey,huey) $(patsubst %,huey/tests/test_%.py,api storage immediate priority registry) $(ARGS)) || exit 1; \
	test -n "$$server" || { echo 'the tests of rq did not run, and not those of huey with Redis: redis-server is missing'; exit 0; }; \
	$(call SUITE,rq,rq) $(patsubst %,tests/test_%.py,job queue serializers results callbacks job_lifecycle) $(ARGS)

bench-integrations: $(INTEGRATIONS)/.stamp ## the table of ratios to these libraries' own serializers, interleaved, into docs/integrations/README.md
	$(RELEASE)
	@$(IN_INTEGRATIONS) -m tests.integrations.ratios $(ARGS)

# Dask, Ray and Spark (with java), moto's server for S3's protocol. Of the same Python as the extension.
SCALE := .venv-scale
IN_SCALE = PYTHONPATH=$(CURDIR):$(CURDIR)/python RAY_AUTH_MODE=disabled $(SCALE)/bin/python
test-scale: $(EXTENSION) $(SCALE)/.stamp ## files over S3's protocol and HTTP; Dask, Ray and Spark, with workers that die. ARGS="-k dask"
	$(IN_SCALE) -m pytest -q -p no:cacheprovider -c tests/scale/pytest.ini --rootdir . tests/scale $(ARGS)

bench-scale: $(SCALE)/.stamp ## the tables of docs/scale.md: ratios to the engines' own, interleaved; requests and bytes a member. ARGS="--only dask"
	$(RELEASE)
	@$(IN_SCALE) -m tests.scale.bench $(ARGS)

simulate-scale: $(EXTENSION) $(SCALE)/.stamp ## 1,000 workers and 10^12 records on the real splitter, of which one in a hundred dies: into docs/scale.md
	@$(IN_SCALE) -m tests.scale.simulate $(ARGS)

campaign-scale: $(SCALE)/.stamp ## logs counted, filtered, joined, to Parquet and back by 3 workers of Dask, Ray and Spark, two of which are killed: ARGS="--records 10000000"
	$(RELEASE)
	@$(IN_SCALE) -m tests.scale.campaign $(ARGS)

# The libraries of docs/bundles.md, in an environment of their own. Of the same Python as the extension.
BUNDLES := .venv-bundles
BUNDLES_NEED := tests/bundles/requirements.txt
IN_BUNDLES = PYTHONPATH=$(CURDIR):$(CURDIR)/python $(BUNDLES)/bin/python
test-bundles: $(EXTENSION) $(BUNDLES)/.stamp ## the objects of pandas, pyarrow, scikit-learn and others that register_known permits, with those libraries. ARGS="-k pandas"
	$(IN_BUNDLES) -m pytest -q -p no:cacheprovider -c tests/bundles/pytest.ini --rootdir . tests/bundles $(ARGS)

# The oldest versions that docs/bundles.md and the extras of pyproject.toml name, all in one environment each.
test-oldest: ## test-bundles and test-integrations with the oldest versions of those libraries that are named anywhere. ARGS="-k pandas"
	$(STEP) test-bundles BUNDLES=.venv-bundles-oldest BUNDLES_NEED=tests/bundles/requirements-oldest.txt
	$(STEP) test-integrations INTEGRATIONS=.venv-integrations-oldest INTEGRATIONS_NEED=tests/integrations/requirements-oldest.txt

# PyTorch's wheel brings gigabytes of CUDA with it.
TORCH := .venv-torch
IN_TORCH = PYTHONPATH=$(CURDIR):$(CURDIR)/python $(TORCH)/bin/python
test-torch: $(EXTENSION) $(TORCH)/.stamp ## the same of PyTorch's, in an environment of 5 GB; its rows of docs/bundles.md's table
	$(IN_TORCH) -m pytest -q -p no:cacheprovider -c tests/bundles/pytest.ini --rootdir . \
		tests/bundles/test_contract.py tests/bundles/test_page.py tests/bundles/test_tensors.py -k "torch or tensors" $(ARGS)

bench-torch: $(TORCH)/.stamp ## PyTorch's rows of the table of ratios, into docs/bundles.md
	$(RELEASE)
	@$(IN_TORCH) -m tests.bundles.ratios --only torch --write $(ARGS)

bench-bundles: $(BUNDLES)/.stamp ## the table of ratios to pickle, interleaved, into docs/bundles.md
	$(RELEASE)
	@$(IN_BUNDLES) -m tests.bundles.ratios $(ARGS)

interpreter-tests: $(EXTENSION) $(VENV)/.stamp-test ## CPython's own tests of pickling and copying, with ours in their place
	$(BIN)/python tests/interpreter/run.py $(ARGS)

# A hundred packages, in an environment of their own. Of the same Python as the extension.
ZOO := .venv-zoo
zoo: $(EXTENSION) $(ZOO)/.stamp ## objects of a hundred packages compared with pickle, then the scan; ARGS="pandas numpy" for some
	@failed=; cd /; export PYTHONPATH=$(CURDIR):$(CURDIR)/python; $(CURDIR)/$(ZOO)/bin/python -m tests.zoo.run $(ARGS) || failed=yes; \
	test -n "$(ARGS)" || $(CURDIR)/$(ZOO)/bin/python -m tests.zoo.scan || failed=yes; test -z "$$failed"

zoo-scan: $(EXTENSION) $(ZOO)/.stamp ## handmade messages for every class of C code that these packages load
	@cd / && PYTHONPATH=$(CURDIR):$(CURDIR)/python $(CURDIR)/$(ZOO)/bin/python -m tests.zoo.scan $(ARGS)

fuzz: $(EXTENSION) $(VENV)/.stamp-test fuzz-rust ## damaged and made-up messages through Python, half of SECONDS=60 each; cargo-fuzz, SECONDS in all
	$(BIN)/python tests/fuzz/mutate.py --seconds $$(($(FUZZ_SECONDS) / 2)) --jobs $(JOBS)
	$(BIN)/python tests/fuzz/grammar.py --seconds $$(($(FUZZ_SECONDS) / 2)) --jobs $(JOBS)
	$(BIN)/python -m pytest -q -n $(JOBS) --full -m damage

# A stable toolchain takes the flags of AddressSanitizer where it is told to.
fuzz-rust: ## the targets of cargo-fuzz, with AddressSanitizer: SECONDS=60 in all
	@command -v cargo-fuzz >/dev/null || { echo 'fuzz-rust did not run: cargo-fuzz is missing (cargo install cargo-fuzz)'; exit 0; }; \
	cd crates/format; export RUSTC_BOOTSTRAP=1; targets=$$(cargo fuzz list); \
	for target in $$targets; do \
		cargo fuzz run "$$target" -- -max_total_time=$$(($(FUZZ_SECONDS) / $$(wc -w <<< "$$targets") + 1)) -max_len=4096; done

# The crate has no unsafe code of its own, so this looks at what it builds on. Left out are tests that go through every byte of many
# messages, which take hours here, and those of compression, which is C.
MIRI_SLOW := every boundaries takes_little a_byte_at codec file frame bounds
miri: ## the tests of the pure crate under Miri; needs a nightly toolchain with miri and rust-src
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo 'miri did not run: rustup toolchain install nightly --component miri,rust-src'; exit 0; }; \
	MIRIFLAGS=-Zmiri-disable-isolation cargo +nightly miri test -p holdall-format --lib -- $(or $(ARGS),$(addprefix --skip ,$(MIRI_SLOW)))

# CPython's own checks: assertions, freed memory that is overwritten, references that go below nothing. Packages are those of .venv,
# so it has to be of the same version.
DEBUG_PYTHON ?= python3.11-dbg
check-debug: $(EXTENSION) $(VENV)/.stamp-test ## the tests on a debug build of CPython (Debian's python3-dbg); ARGS=tests/api/log/test_functions.py for some
	@command -v $(DEBUG_PYTHON) >/dev/null || { echo 'check-debug did not run: $(DEBUG_PYTHON) is missing (apt install python3-dbg, or DEBUG_PYTHON=)'; exit 0; }; \
	version='import sys; print("%d.%d" % sys.version_info[:2])'; \
	test "$$($(DEBUG_PYTHON) -c "$$version")" = "$$($(BIN)/python -c "$$version")" || { echo 'check-debug did not run: $(DEBUG_PYTHON) is of another version'; exit 0; }; \
	PYTHONPATH=$(abspath python):$(abspath bench):$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') PYTHONMALLOC=debug \
		$(DEBUG_PYTHON) -X dev -m pytest -p no:cacheprovider $(or $(ARGS),-m 'not soak' $(SANITIZED))

# The extension in a package of its own, whose every access of memory is checked; Python's objects are malloc's then.
SANITIZE := .sanitize
LIBASAN = $(shell gcc -print-file-name=libasan.so 2>/dev/null)
# What measures time or memory, needs a small stack to be enough, or starts other programs or loads a library before them, is left
# to the usual tests.
SANITIZED = tests/api tests/formats tests/host tests/hostile $(patsubst %,--ignore=tests/%.py,formats/bson/test_memory \
	formats/julia/test_check host/test_deep host/test_zoo_standard hostile/test_faults hostile/test_fuzz hostile/test_memory)
# GCC makes constants of tables that zstd declares within functions, and takes their end of life as that of the stack's.
sanitize: $(VENV)/.stamp-venv $(VENV)/.stamp-test ## the extension under AddressSanitizer, with the tests; ARGS=tests/api/log/test_functions.py for some
	@test -e '$(LIBASAN)' || { echo "sanitize did not run: gcc's libasan.so is missing"; exit 0; }; \
	host=$$(rustc -vV | sed -n 's/^host: //p'); \
	CARGO_PROFILE_DEVELOP_DEBUG=line-tables-only RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CFLAGS=-fno-sanitize-address-use-after-scope cargo build --quiet -p holdall-python --lib --profile develop --target "$$host" --target-dir $(SANITIZE)/target; \
	rm -rf $(SANITIZE)/holdall; cp -r python/holdall $(SANITIZE)/; rm -f $(SANITIZE)/holdall/_core.*.so; \
	cp $(SANITIZE)/target/$$host/develop/libholdall_python.so $(SANITIZE)/holdall/_core.abi3.so; \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:suppressions=$(abspath tests/support/asan.supp) LD_PRELOAD='$(LIBASAN)' PYTHONMALLOC=malloc PYTHONPATH=$(abspath $(SANITIZE)) \
		$(BIN)/python -m pytest -p no:cacheprovider $(or $(ARGS),-m 'not soak and not resident' $(SANITIZED))

faults: $(EXTENSION) $(VENV)/.stamp-test ## every allocation, hook and write made to fail in turn; ARGS="rust hooks" for some
	$(BIN)/python -m tests.faults.run $(ARGS)

# The bounds are those of a release build, on a machine that does little else.
complexity: $(VENV)/.stamp-test ## what hostile inputs of 10 kB to 10 MB cost through every door; ARGS="--size 1M --door loads"
	$(RELEASE)
	@PYTHONPATH=.:python $(BIN)/python -m tests.complexity.run $(ARGS)

soak: $(EXTENSION) $(VENV)/.stamp-test ## 10,000 round trips and 10,000 failures of every kind, counts and memory level
	$(BIN)/python -m pytest -m soak $(ARGS)

soak-log: $(VENV)/.stamp-test ## 10 GB through Writer and Reader: speed, and memory that does not grow
	$(RELEASE)
	$(BIN)/python tests/soak_log.py $(ARGS)

##@ Make
.PHONY: develop guided docs vectors golden format
develop: $(EXTENSION) ## build the extension into .venv
	@$(BIN)/python -c 'import holdall; print("holdall", holdall.__version__, "is ready in $(VENV)")'

guided: ## the same, for speed: instrumented, trained, and built again by the profile; needs the llvm-profdata of the compiler's LLVM
	+@$(MAKE) --no-print-directory PROFILE=guided develop

docs: $(EXTENSION) $(VENV)/.stamp-test ## write the tables of docs/ anew: format.md, msgpack.md, bson.md, julia.md, lisp.md, types.md, evolution.md
	$(WRITE_TABLES)

vectors: $(EXTENSION) $(VENV)/.stamp-test ## write tests/vectors anew, and add data of new changes to tests/evolution; what was released before must stay readable
	$(BIN)/python tests/vectors/generate.py
	$(BIN)/python -m tests.support.evolution_golden

golden: $(EXTENSION) $(VENV)/.stamp-test ## write what this version stores into tests/golden, to be read by all later ones; never again what is there
	$(BIN)/python -m tests.release.golden
	$(BIN)/python tests/vectors/generate.py

format: $(VENV)/.stamp-lint ## let ruff and rustfmt lay out the sources
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	cargo fmt --all

##@ Publish
.PHONY: wheels release
wheels: $(VENV)/.stamp-wheels ## what is published, of every Python that is there, into dist/, checked; ARGS='--python python3.13 --profile develop' for one, soon
	$(BIN)/python -m tests.release.wheels $(ARGS)

# Says what is missing; WRITE=1 does it.
release: $(VENV)/.stamp-test ## a release by its check list: VERSION=1.2.3 says what is missing, WRITE=1 does it, DONE='bench fuzz ...' what was by hand
	@test -n '$(VERSION)' || { echo 'make release VERSION=1.2.3'; exit 1; }
	@$(BIN)/python -m tests.release.run '$(VERSION)' $(if $(WRITE),--write) --done $(DONE)

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

# `holdall bench` is a package of its own, whose sources are linked into the environment, too.
$(VENV)/.stamp-test: pyproject.toml bench/pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable bench
	@touch $@

# Its dependency on holdall is met by the extension.
$(VENV)/.stamp-bench: pyproject.toml bench/pyproject.toml | $(EXTENSION)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench --editable 'bench[peers]'
	@touch $@

# Of the same Python as the extension.
$(MONGO)/.stamp: Makefile | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(MONGO)
	$(MONGO)/bin/python -m pip install --quiet --disable-pip-version-check 'pymongo==4.13.*' 'pytest>=8'
	@touch $@

# Of the same Python as the extension.
$(PEERS)/.stamp: tests/peers/requirements.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# pip builds a package's metadata when it downloads it, and checks the archive before.
$(PEER_SOURCES)/.stamp: tests/peers/sources.txt | $(PEERS)/.stamp
	$(PEERS)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes \
		--dest $(PEER_SOURCES)/archives --requirement $<
	@set -e; for name in msgpack msgspec pymongo; do \
		rm -rf $(PEER_SOURCES)/$$name; mkdir $(PEER_SOURCES)/$$name; \
		version=$$(sed -n "s/^$$name==\([^ ]*\).*/\1/p" $<); \
		tar -xzf $(PEER_SOURCES)/archives/$$name-$$version.tar.gz --strip-components 1 -C $(PEER_SOURCES)/$$name; \
	done
# pip builds a package's metadata when it downloads it.
$(SUITES)/.stamp: tests/integrations/suites/sources.txt | $(INTEGRATIONS)/.stamp
	$(INTEGRATIONS)/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
		--require-hashes --dest $(SUITES)/archives --requirement $<
	@set -e; for archive in $(SUITES)/archives/*.tar.gz; do \
		name=$${archive##*/}; name=$${name%-*}; rm -rf $(SUITES)/$$name; mkdir $(SUITES)/$$name; \
		tar -xzf $$archive --strip-components 1 -C $(SUITES)/$$name; \
	done
	@touch $@

$(INTEGRATIONS)/.stamp: $(INTEGRATIONS_NEED) | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

$(SCALE)/.stamp: tests/scale/requirements.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(SCALE)
	$(SCALE)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

$(BUNDLES)/.stamp: $(BUNDLES_NEED) | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(BUNDLES)
	$(BUNDLES)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --requirement $<
	@touch $@

$(TORCH)/.stamp: tests/bundles/requirements-torch.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --requirement $<
	@touch $@

$(ZOO)/.stamp: tests/zoo/requirements.txt | $(VENV)/.stamp-venv
	$(BIN)/python -m venv $(ZOO)
	$(ZOO)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r tests/zoo/requirements.txt
	@touch $@

# The profile of the extension that is there. The recipe always runs, but only another profile makes the file newer.
.PHONY: always
$(VENV)/.profile: always | $(VENV)/.stamp-venv
	@test "$$(cat $@ 2>/dev/null)" = $(PROFILE) || echo $(PROFILE) > $@

# Python sources are linked into the environment, not copied, so only the Rust side asks for a build.
BUILD = --profile $(PROFILE)
ifeq ($(PROFILE),guided)
BUILD = --release --pgo
$(EXTENSION): $(VENV)/.stamp-test
# What the program imports that trains the build. maturin runs it in an environment of its own, which has the extension alone.
$(EXTENSION): export PYTHONPATH = bench:$(shell $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2>/dev/null)
# Debian's folder of llvm-profdata; rustup's `llvm-tools` are found without it.
$(EXTENSION): export PATH := /usr/lib/llvm-$(shell rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')/bin:$(PATH)
endif
$(EXTENSION): $(RUST_SOURCES) $(VENV)/.stamp-build $(VENV)/.profile
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop $(BUILD) --quiet
	@touch $@
