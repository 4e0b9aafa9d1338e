# make run: the app on http://127.0.0.1:8501     make serve: the book for a hall     make test: all tests
# make test-fast: a minute of them     make check: lint, format, types, audit     make docs: API pages
# make book: the pages as plain files; make scorm: as a course package
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# Dozens of processes of a test run import the same files: what Python compiled of them is kept, whatever the machine says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run serve test test-fast test-long check format bench docs book scorm release fuzz lock clean

run: $(VENV)/.app
	exec $(BIN)/streamlit run app.py

# For a hall: the book, written where BOOK names no other, and rooms; neither torch nor Streamlit. See deploy/README.md.
PORT ?= 8080
BOOK ?= build/book
serve: $(VENV)/.book $(BOOK)/index.html
	exec $(BIN)/python -m deploy $(BOOK) --port $(PORT) $(if $(SITE),--site $(SITE)) $(SERVE)

# The browser tests start first, in three groups of about a hundred processor seconds; what shares something costly keeps
# to one worker.
test: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder -m "not long"

# Laws, golden numbers, theory, figures, texts, walls and doctests: no browser, no server, no training.
FAST := $(wildcard tests/rope_core/test_*.py) tests/rope_core/theory tests/ui/figures tests/ui/film tests/ui/text \
	tests/test_architecture.py rope_core
test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not long" $(FAST)

test-long: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy rope_core ui tests pages app.py deploy benchmarks tools examples
	$(BIN)/python -m tools.audit

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.app

# API pages from the docstrings, in build/api: the idea's modules, then the rooms with all that is in them.
API := rope schemes layout rotation errors findings hf verification extension programs checks report theory kernels.entry kernels.norm lrpe.op bench lab ledger
docs: $(VENV)/.dev
	$(BIN)/python -m pdoc -d google --no-show-source -o build/api rope_core $(addprefix rope_core.,$(API))

# The book in build/book: every page as plain files, live in the reader's browser; needs node and npm. SITE=ADDRESS:
# where it will be. ROOMS=ADDRESS: of a hall on another host with its rooms.
export SITE
AT := $(if $(SITE),--site $(SITE)) $(if $(ROOMS),--rooms $(ROOMS))
book: $(VENV)/.book
	$(BIN)/python -m tools.book build/book $(AT)

build/book/index.html: | $(VENV)/.book
	$(BIN)/python -m tools.book build/book $(AT)

# The same as a course package for Moodle, Canvas and others: build/rope-lab-scorm.zip. WEEK=1, PAGES=clock,rotation: of
# those pages alone, each with its completion; MODELS=1: with the trained models.
UNITS := $(if $(WEEK),--week $(WEEK)) $(if $(PAGES),--pages $(PAGES)) $(if $(MODELS),--models)
scorm: $(VENV)/.book
	$(BIN)/python -m tools.book build/book --scorm build/rope-lab-scorm.zip $(UNITS) $(AT)

# The repository's address, URL=https://..., where the wheel and CITATION.cff say it.
release: $(VENV)/bin/python
	$(BIN)/python -m tools.release $(URL)

FUZZ_SECONDS ?= 600
fuzz: $(VENV)/.dev requirements-fuzz.lock
	$(INSTALL) --require-hashes -r requirements-fuzz.lock
	mkdir -p .fuzz
	PYTHONPATH=. $(BIN)/python tests/fuzz/fuzz_check.py .fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=1024 -len_control=0

clean:
	find rope_core -name '*.nb[ic]' -delete
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed, this is ' + sys.version.split()[0])"
	$(PYTHON) -m venv $(VENV)

# By hash, all of them but torch's builds from torch's own indexes and from a folder. uv comes first, by its hash in the lock: it takes a tenth of
# pip's processor time. Where it cannot (a mirror that only pip is told of), pip does.
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check -q
UV := $(BIN)/uv pip install -q --no-config --python $(BIN)/python
LOCKED = $(UV) --require-hashes -r $(1) 2>/dev/null || $(INSTALL) --require-hashes -r $(1)
# The first that answers: a folder of wheels that pip is told of (find-links); torch's own indexes, from which uv takes
# the build for the driver here, or the CPU's, a tenth of the bytes; the build of the public index, by its hashes. Without
# --no-config uv would leave out the CUDA libraries, which pyproject excludes from the other locks.
FOLDERS = $(or $(PIP_FIND_LINKS),$(shell $(BIN)/python -m pip config get global.find-links 2>/dev/null))
WHEELS = $(addprefix --find-links=,$(FOLDERS))
TORCH = $(if $(WHEELS),$(UV) --no-index $(WHEELS) -r requirements.txt 2>/dev/null ||) \
	$(UV) --torch-backend=auto -r requirements.txt 2>/dev/null || $(call LOCKED,requirements-torch.lock)
OWN = $(UV) --no-deps --no-build-isolation -e . 2>/dev/null || $(INSTALL) --no-deps --no-build-isolation -e .
TAKEN = @echo "torch $$($(BIN)/python -c 'from importlib.metadata import version as v; print(v("torch"))'), $$(du -sh $(VENV))"
$(BIN)/uv: | $(BIN)/python
	sed -n '/^uv==/,/# via/p' requirements-dev.lock > $(VENV)/uv.lock
	-$(INSTALL) --require-hashes --only-binary :all: -r $(VENV)/uv.lock

$(VENV)/.app: requirements.lock requirements.txt requirements-torch.lock | $(BIN)/uv
	$(call LOCKED,requirements.lock)
	$(TORCH)
	$(OWN)
	$(TAKEN)
	touch $@

$(VENV)/.dev: requirements-dev.lock requirements.txt requirements-torch.lock | $(BIN)/uv
	$(call LOCKED,requirements-dev.lock)
	$(TORCH)
	$(OWN)
	$(TAKEN)
	touch $@ $(VENV)/.app

$(VENV)/.book: requirements-book.lock | $(BIN)/uv
	$(call LOCKED,requirements-book.lock)
	touch $@

# The locks anew from requirements.txt and pyproject's dependency groups. What they hold already keeps its version;
# LOCK=--upgrade takes the newest.
COMPILE = $(BIN)/uv pip compile -q $(LOCK)
lock: $(VENV)/.dev
	$(COMPILE) requirements.txt --group dev -o requirements-dev.lock
	$(COMPILE) requirements.txt -c requirements-dev.lock --no-emit-package triton -o requirements.lock
	$(COMPILE) --group book -c requirements-dev.lock -o requirements-book.lock
	$(COMPILE) --group notebook -o requirements-notebook.lock
	$(COMPILE) --group fuzz -o requirements-fuzz.lock
	grep ^torch requirements.txt | $(COMPILE) --no-config --universal --generate-hashes --annotation-style line \
		--python-version 3.11 --custom-compile-command "make lock" -c requirements.lock - -o requirements-torch.lock
