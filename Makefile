# Everything happens in .venv inside the checkout; `constraints.txt` pins what is installed. CONTRIBUTING.md has the
# commands that are needed less often.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
# One process more than processors: the tests of the service wait for databases and browsers, and tests/conftest.py
# orders the files accordingly.
PARALLEL := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist loadfile --no-loadscope-reorder
# Line and branch coverage in per cent; it only rises. Not in `make test`, because tracing doubles its processor time.
FLOOR := 98
COVERED := --cov=evolabel.core --cov=evolabel.classifier --cov=evolabel.active --cov-report=term:skip-covered
unexport PYTHONDONTWRITEBYTECODE  # tests start many processes, and each would compile all of its sources anew
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo serve test check docs bench dist clean help

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evolabel needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable '.[check]'  # modules compile when they are first imported
	$(BIN)/python -m evolabel ready
	touch $(READY)

$(DOCS_READY): $(READY)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS_READY)

demo: $(READY)  ## learn a plant with known faults beside other learners; the report is demo/report.html
	$(BIN)/evolabel demo --out demo --force

serve: $(READY)  ## the labelling service with a demonstration project; open the link that it prints
	$(BIN)/evolabel serve --demo

test: $(READY)  ## run all tests but the slow ones
	$(BIN)/python -m pytest -m 'not slow' $(PARALLEL)

check: $(READY)  ## everything: gates, all tests compiled, interpreted and with bounds checks, the release, the site
	tools/gates
	$(BIN)/python -m pytest --hypothesis-profile=check $(COVERED) --cov-fail-under=$(FLOOR) $(PARALLEL)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m 'not compiled' --cov --cov-report=term $(PARALLEL)
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m 'not slow and not data' $(PARALLEL)
	$(MAKE) dist docs

docs: $(DOCS_READY)  ## build the site into docs/_build/html without a network (a warning is an error), check its links
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python tools/site_links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(READY)  ## speed: learning beside a BLAS floor, questions, first use, a million samples
	$(BIN)/python benchmarks/update_speed.py
	$(BIN)/python benchmarks/query_speed.py
	$(BIN)/python benchmarks/first_use.py
	$(BIN)/python benchmarks/soak.py

dist:  ## build wheel and source archive into dist/, check them, try them on every supported Python without the checkout
	$(PYTHON) tools/dist.py

clean:  ## remove the environment and compiled kernels
	-test ! -d $(VENV) || $(BIN)/python -c 'import shutil; from evolabel.engine.compile import all_caches; shutil.rmtree(all_caches(), True)'
	rm -rf $(VENV)
