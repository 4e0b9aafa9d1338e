# make run: the app on http://127.0.0.1:8501     make serve: the app for a hall     make test: all tests     make check: lint, format, types, audit
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: run serve test test-long check format bench fuzz clean

run: $(VENV)/.app
	$(BIN)/streamlit run app.py

# For a hall: REPLICAS processes behind nginx, under the names in HOSTS; see deploy/README.md.
REPLICAS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
PORT ?= 8080
serve: $(VENV)/.app
	exec $(BIN)/python -m deploy --replicas $(REPLICAS) --port $(PORT) --hosts "$(HOSTS)" $(SERVE)

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not long"

test-long: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy rope_core tests
	$(BIN)/python -m tools.audit

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.app

FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.dev requirements-fuzz.txt
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-fuzz.txt
	mkdir -p .fuzz
	PYTHONPATH=. $(BIN)/python tests/fuzz/fuzz_check.py .fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -len_control=0

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed, this is ' + sys.version.split()[0])"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	touch $@

$(VENV)/.dev: requirements-dev.txt requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	touch $@ $(VENV)/.app
