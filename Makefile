# Everything happens in .venv inside the checkout; `constraints.txt` pins what is installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# One process more than processors: the tests of the service wait for databases and browsers, and tests/conftest.py
# orders the files accordingly.
PARALLEL := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist loadfile --no-loadscope-reorder
unexport PYTHONDONTWRITEBYTECODE  # tests start many processes, and each would compile all of its sources anew
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo serve test explore kernels gates check house words public-api lint types layers spelling coverage bounds dist accuracy comparison benchmarks same-bits active readme gallery docs clean help

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "evolabel needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --no-compile --constraint constraints.txt --editable '.[check]'  # modules compile when they are first imported
	$(BIN)/python -m evolabel.cli.ready
	touch $(READY)

demo: $(READY)  ## learn yeast beside the rivals; the report is demo/report.html
	$(BIN)/evolabel run --against ovr,chain,static,rls,knn,prior --out demo --force

serve: $(READY)  ## the labelling service with a demonstration project; open the link that it prints
	$(BIN)/evolabel serve --demo

test: $(READY)  ## run all tests but the slow ones
	$(BIN)/python -m pytest -m 'not slow' $(PARALLEL)

explore: $(READY)  ## run the tests that draw examples, with new and more of them
	$(BIN)/python -m pytest --hypothesis-profile=explore -m 'not data'

kernels: $(READY)  ## compile what tests need: kernels of the paper's profile, of full covariances, of steps, of active learning
	$(BIN)/python -c 'from evolabel import EvolvingFuzzyClassifier as C; from evolabel.active import BudgetedLearner as B; from evolabel.cli.ready import compile_kernels as k; k({"paper": C.paper(), "full": C(covariance="full"), "steps": C(alpha=0.5, follow_drift=False), "budget": B()})'

gates: house lint types layers spelling  ## what must hold before a commit: measures, linters, types, layers, spelling (a minute)

check: gates coverage bounds dist docs  ## everything: gates, all tests compiled, interpreted and with bounds checks, the release, the site

house:  ## measures of the source against tools/house_limits.toml, which only gets tighter
	$(PYTHON) tools/check_house.py

words: $(READY)  ## places that use a word of tests/banned_words.txt
	$(BIN)/python tools/plain_words.py src/evolabel README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs

public-api: $(READY)  ## write every public name and signature to tests/public_api.txt
	$(BIN)/python tools/public_api.py

lint: $(READY)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## mypy, strict
	$(BIN)/mypy

layers: $(READY)  ## import-linter
	$(BIN)/lint-imports

spelling: $(READY)  ## codespell
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples src

# Line and branch coverage in per cent; it only rises. Not in `make test`, because tracing doubles its processor time.
FLOOR := 98
COVERED := --cov=evolabel.core --cov=evolabel.classifier --cov=evolabel.active --cov-report=term:skip-covered

coverage: $(READY)  ## tests compiled, with the floor of coverage, then interpreted for the coverage of kernels
	$(BIN)/python -m pytest --hypothesis-profile=check $(COVERED) --cov-fail-under=$(FLOOR) $(PARALLEL)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m 'not compiled' --cov --cov-report=term $(PARALLEL)

bounds: $(READY)  ## tests with bounds checks in all kernels
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m 'not slow and not data' $(PARALLEL)

dist:  ## build wheel and source archive into dist/, check them, try them on every supported Python without the checkout
	$(PYTHON) tools/dist.py

accuracy: $(READY)  ## default classifier on the five data sets (EVOLABEL_DATA)
	$(BIN)/python benchmarks/accuracy.py

comparison: $(READY)  ## every rival on the five data sets, five shuffles (EVOLABEL_DATA; takes a while)
	$(BIN)/evolabel bench --out benchmarks/results --force

benchmarks: $(READY)  ## speed against a BLAS floor, and a million samples
	$(BIN)/python benchmarks/update_speed.py
	$(BIN)/python benchmarks/soak.py

same-bits: $(READY)  ## outputs of the commits BEFORE=... and AFTER=... (HEAD), bit for bit
	$(BIN)/python benchmarks/same_bits.py $(BEFORE) $(AFTER)

active: $(READY)  ## what questions are worth, also where answers are bad or the stream drifts, and what they cost
	$(BIN)/python benchmarks/active_learning.py
	$(BIN)/python benchmarks/active_robustness.py
	$(BIN)/python benchmarks/query_speed.py

readme: $(READY)  ## write the measured numbers into README.md and docs
	$(BIN)/python benchmarks/readme_tables.py
	$(BIN)/python benchmarks/readme_picture.py

gallery: $(READY)  ## draw every figure into docs/reference/figures.md
	$(BIN)/python benchmarks/gallery.py

DOCS_READY := $(VENV)/.docs-ready

$(DOCS_READY): $(READY)
	$(PIP) install --quiet --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS_READY)

docs: $(DOCS_READY)  ## build the site into docs/_build/html without a network (a warning is an error), check its links
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python tools/site_links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:  ## remove the environment and compiled kernels
	-test ! -d $(VENV) || $(BIN)/python -c 'import shutil; from evolabel.engine.compile import all_caches; shutil.rmtree(all_caches(), True)'
	rm -rf $(VENV)
