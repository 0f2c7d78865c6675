# make run and make test are the whole set-up: a fresh machine needs Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CLIENT := $(shell find client -path client/node_modules -prune -o -path client/dist -prune -o -type f -print 2>/dev/null)
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: run test check lint format bench screenshots requirements system-deps lock clean

run: $(VENV)/run.stamp client/dist/app.js  ## the server on http://127.0.0.1:8080, local tutor, no account
	$(BIN)/python -m server

test: system-deps $(VENV)/dev.stamp client/dist/app.js check  ## everything that must hold
	$(BIN)/python -m pytest -n 3 --dist loadscope $(PYTEST_ARGS)

check: $(VENV)/dev.stamp lint  ## static checks and the client's own tests
	$(BIN)/python scripts/secret_scan.py
	PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix client run -s check
	PATH="$(CURDIR)/$(BIN):$$PATH" npm --prefix client run -s test

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/dev.stamp  ## one JSON object: the figures of the design's budgets, beside the budgets
	$(BIN)/python -m bench $(BENCH_ARGS)

screenshots: $(VENV)/dev.stamp client/dist/app.js  ## each screen, phone and desktop, into screenshots/
	$(BIN)/python -m scripts.screenshots

requirements: $(VENV)/dev.stamp  ## per area: which requirement ids no test carries
	$(BIN)/python scripts/requirements.py

# Debian packages for the browser tests. Elsewhere, or without root, those tests say what is missing.
DEBS := chromium firefox-esr webkit2gtk-driver xvfb pulseaudio pulseaudio-utils gstreamer1.0-pulseaudio espeak-ng pocketsphinx-testdata
# A real Firestore for the tests of the store and of its rules: one Java archive, in Google's package
# archive only. Where apt does not know it, CI fails and says so; elsewhere those tests are skipped.
EMULATOR := google-cloud-cli-firestore-emulator
system-deps:
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && ! dpkg -s $(DEBS) >/dev/null 2>&1; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(DEBS) >/dev/null; \
	fi
	@if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && apt-cache show $(EMULATOR) >/dev/null 2>&1 \
	  && ! { command -v java && dpkg -s $(EMULATOR); } >/dev/null 2>&1; then \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends default-jre-headless $(EMULATOR) >/dev/null; \
	fi

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements.lock pyproject.toml hatch_build.py | $(VENV)/bin/python
	$(PIP) install -q --require-hashes -r requirements.lock
	$(PIP) install -q --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/dev.stamp: requirements-dev.lock pyproject.toml hatch_build.py | $(VENV)/bin/python
	$(PIP) install -q --require-hashes -r requirements-dev.lock
	$(PIP) install -q --no-deps --no-build-isolation -e .
	touch $@ $(VENV)/run.stamp

client/dist/app.js: $(CLIENT)
	$(BIN)/python hatch_build.py

LOCK := $(BIN)/uv pip compile -q pyproject.toml --generate-hashes --universal --python-version 3.11 --no-header --no-annotate
lock: $(VENV)/dev.stamp  ## resolve again; the files name no index
	$(LOCK) --extra local --extra build --extra dev --upgrade -o requirements-dev.lock
	$(LOCK) --extra local --extra build -c requirements-dev.lock -o requirements.lock

clean:
	rm -rf $(VENV) client/dist client/node_modules
