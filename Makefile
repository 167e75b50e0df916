# Everything a person or CI does with this project. Each target sets up what it needs in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
FRAMEWORKS := $(patsubst requirements/frameworks/%.txt,$(VENV)/frameworks/%/.ready,$(wildcard requirements/frameworks/*.txt))
PEERS := $(patsubst requirements/peers/%.txt,$(VENV)/peers/%/.ready,$(wildcard requirements/peers/*.txt))
TRAINERS := $(patsubst requirements/trainers/%.txt,$(VENV)/trainers/%/.ready,$(wildcard requirements/trainers/*.txt))
ELSEWHERE := litellm deepeval results_deepeval results_lm_eval
WHEELS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/adjudge/wheels

.PHONY: help demo test worlds check bench peers oracle integration docs pictures browser soak train lock reference release-check clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

demo: $(VENV)/.run  ## a guided tour, offline
	@$(BIN)/adjudge demo

test: $(VENV)/.dev  ## every test (long fault tests at a tenth of their counts)
	$(BIN)/python -m pytest -q -n 4 --dist worksteal --durations 25

worlds: $(VENV)/.worlds  ## install the real ScienceWorld and ALFWorld; `make test` then plays them too

check: $(VENV)/.dev  ## style, types, layers, generated docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/house.py
	$(BIN)/python tools/reference.py --check

oracle: $(VENV)/.oracle $(VENV)/litellm/.ready $(VENV)/deepeval/.ready $(VENV)/lm-eval/.ready $(VENV)/promptfoo/.ready  ## differential tests against the peer packages
	ADJUDGE_PROMPTFOO=$(CURDIR)/$(VENV)/promptfoo/node_modules/.bin/promptfoo \
	    $(BIN)/python -m pytest -q -W default tests/oracle $(ELSEWHERE:%=--ignore tests/oracle/test_%.py)
	$(VENV)/litellm/bin/python -m pytest -q -W default tests/oracle/test_litellm.py
	$(VENV)/deepeval/bin/python -m pytest -q -W default -p no:deepeval tests/oracle/test_deepeval.py tests/oracle/test_results_deepeval.py
	$(VENV)/lm-eval/bin/python -m pytest -q -W default tests/oracle/test_results_lm_eval.py

integration: $(VENV)/.integration $(VENV)/mlflow/.ready $(VENV)/arize-phoenix/.ready $(FRAMEWORKS) $(TRAINERS)  ## on real servers, frameworks and trainers: llama.cpp, MLflow, LangGraph, TRL, ...
	ADJUDGE_MLFLOW=$(CURDIR)/$(VENV)/mlflow/bin/mlflow ADJUDGE_PHOENIX=$(CURDIR)/$(VENV)/arize-phoenix/bin/phoenix \
	    $(BIN)/python -m pytest -q -rP tests/integration
	for one in $(notdir $(TRAINERS:/.ready=)); do \
	    $(VENV)/trainers/$$one/bin/python -m pytest -q -W default tests/trainers/test_$$one.py tests/trainers/test_pages.py || exit 1; \
	done

pictures: $(VENV)/.browser  ## take the pictures of the docs anew, in Chromium
	$(BIN)/python tools/pictures.py

docs: $(VENV)/site/.ready  ## the documentation site in build/site; a broken link fails
	$(VENV)/site/bin/python tools/site.py $(VENV)/site/node_modules/iframe-worker/shim/index.js

browser: docs $(VENV)/.browser  ## the viewer and the site in Chromium, which apt installs: search, keyboard, axe, hostile texts
	$(BIN)/python -m pytest -q tests/browser

bench: $(VENV)/.oracle $(VENV)/.worlds $(VENV)/trainers/ray/.ready  ## speed and memory, as ratios to peers in the same run, into docs/reference/performance.md
	$(BIN)/python tools/performance.py
	$(VENV)/trainers/ray/bin/python benchmarks/scale.py

peers: $(VENV)/.run $(PEERS)  ## the same judged rows by other tools, into docs/explanation/peers.md
	$(BIN)/python benchmarks/peers/run.py

soak: $(VENV)/.worlds $(VENV)/trainers/ray/.ready  ## long fault tests at their full counts
	ADJUDGE_SOAK=1 $(BIN)/python -m pytest -q -m soak
	ADJUDGE_SOAK=1 $(VENV)/trainers/ray/bin/python -m pytest -q -W default tests/trainers/test_ray.py

train: $(VENV)/training/.ready  ## train the local judge anew, both tiers: minutes with a GPU, days without (TRAIN=--without-share-alike)
	$(VENV)/training/bin/python training/tier0.py $(TRAIN)
	$(VENV)/training/bin/python training/encoder_rows.py build/encoder/rows.npz $(TRAIN)
	$(VENV)/training/bin/python training/span_rows.py build/encoder/spans.npz $(TRAIN)
	$(VENV)/training/bin/python training/encoder_weights.py build/encoder/published.npz
	$(VENV)/training/bin/python training/encoder.py --folder build/encoder
	cp build/encoder/judge-held-out.npz build/encoder/spans-held-out.npz training/data/
	$(VENV)/training/bin/python training/encoder_onnx.py --folder build/encoder
	$(VENV)/training/bin/python training/tier1.py $(TRAIN)
	$(VENV)/training/bin/python training/thresholds.py

release-check: $(VENV)/release/.ready  ## build both distributions twice and check them as a stranger would (TAG=v1.2.3)
	TAG=$(TAG) $(VENV)/release/bin/python tools/release.py

reference: $(VENV)/.dev  ## write docs/reference from the docstrings
	$(BIN)/python tools/reference.py

lock: $(VENV)/.run  ## resolve and hash-lock the requirements again
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package adjudge-weights --no-header \
	    --python-version 3.11 --extra local --extra view pyproject.toml requirements/run.in -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package adjudge-weights --no-header \
	    --python-version 3.11 --extra images --extra inspect --extra language --extra local --extra parquet --extra schema --extra view --extra yaml pyproject.toml requirements/run.in requirements/dev.in -o requirements/dev.txt

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python requirements/run.txt pyproject.toml packages/weights/pyproject.toml
	$(BIN)/pip install --quiet --require-hashes -r requirements/run.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable ./packages/weights --editable .
	$(BIN)/python -m compileall -q src  # as an ordinary install does
	@touch $@

$(VENV)/training/.ready: training/requirements-encoder.txt
	$(PYTHON) -m venv $(VENV)/training
	$(VENV)/training/bin/pip install --quiet -r training/requirements-encoder.txt --editable ./packages/weights --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(BIN)/pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.worlds: $(VENV)/.dev requirements/worlds.txt
	@mkdir -p $(WHEELS)
	@echo "The wheels of ScienceWorld and ALFWorld go to $(WHEELS). The first time, two of them are compiled:"
	@echo "with cmake and a C++ compiler, 15 minutes or more on two cores. pip names each one; none is built again."
	$(BIN)/pip wheel --no-deps --find-links $(WHEELS) --wheel-dir $(WHEELS) -r requirements/worlds.txt
	$(BIN)/pip install --no-deps --no-index --find-links $(WHEELS) -r requirements/worlds.txt
	@touch $@

$(VENV)/.oracle: $(VENV)/.dev requirements/oracle.txt
	$(BIN)/pip install --quiet -r requirements/oracle.txt
	@touch $@

# axe-core is a package of Node.js.
$(VENV)/.browser: $(VENV)/.dev requirements/browser.txt
	command -v chromium > /dev/null || apt-get install -y chromium
	$(BIN)/pip install --quiet $$(grep ^playwright requirements/browser.txt)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe $$(sed -n 's/^axe-core==/axe-core@/p' requirements/browser.txt)
	@touch $@

# The site's search has a small script that is a package of Node.js.
$(VENV)/site/.ready: requirements/docs.txt
	$(PYTHON) -m venv $(VENV)/site
	$(VENV)/site/bin/pip install --quiet $$(grep ^zensical requirements/docs.txt)
	npm install --silent --no-audit --no-fund --prefix $(VENV)/site $$(sed -n 's/^iframe-worker==/iframe-worker@/p' requirements/docs.txt)
	@touch $@

$(VENV)/release/.ready: requirements/release.txt
	$(PYTHON) -m venv $(VENV)/release
	$(VENV)/release/bin/pip install --quiet -r requirements/release.txt
	@touch $@

$(VENV)/.integration: $(VENV)/.dev requirements/integration.txt
	$(BIN)/pip install --quiet --no-deps -r requirements/integration.txt
	@touch $@

$(VENV)/litellm/.ready $(VENV)/deepeval/.ready $(VENV)/lm-eval/.ready: $(VENV)/%/.ready: requirements/dev.txt requirements/servers.txt
	$(PYTHON) -m venv $(VENV)/$*
	$(VENV)/$*/bin/pip install --quiet --require-hashes -r requirements/dev.txt
	$(VENV)/$*/bin/pip install --quiet $$(grep ^$* requirements/servers.txt)
	$(VENV)/$*/bin/pip install --quiet --no-deps --no-build-isolation --editable ./packages/weights --editable .
	@touch $@

# promptfoo is a package of Node.js.
$(VENV)/promptfoo/.ready: requirements/promptfoo.txt
	mkdir -p $(VENV)/promptfoo
	npm install --silent --no-audit --no-fund --prefix $(VENV)/promptfoo $$(grep ^promptfoo requirements/promptfoo.txt)
	@touch $@

$(VENV)/mlflow/.ready $(VENV)/arize-phoenix/.ready: $(VENV)/%/.ready: requirements/servers.txt
	$(PYTHON) -m venv $(VENV)/$*
	$(VENV)/$*/bin/pip install --quiet $$(grep ^$* requirements/servers.txt)
	@touch $@

# The frameworks contradict one another: each has an environment of its own, from full pins.
$(FRAMEWORKS): $(VENV)/frameworks/%/.ready: requirements/frameworks/%.txt
	$(PYTHON) -m venv $(VENV)/frameworks/$*
	$(VENV)/frameworks/$*/bin/pip install --quiet --no-deps -r requirements/frameworks/$*.txt
	$(VENV)/frameworks/$*/bin/pip install --quiet --no-deps --no-build-isolation --editable ./packages/weights --editable .
	@touch $@

# So do the tools that we compare with.
$(PEERS): $(VENV)/peers/%/.ready: requirements/peers/%.txt
	$(PYTHON) -m venv $(VENV)/peers/$*
	$(VENV)/peers/$*/bin/pip install --quiet --no-deps -r requirements/peers/$*.txt
	@touch $@

# So do the trainers.
$(TRAINERS): $(VENV)/trainers/%/.ready: requirements/trainers/%.txt
	$(PYTHON) -m venv $(VENV)/trainers/$*
	$(VENV)/trainers/$*/bin/pip install --quiet --no-deps -r requirements/trainers/$*.txt
	$(VENV)/trainers/$*/bin/pip install --quiet --no-deps --no-build-isolation --editable ./packages/weights --editable .
	@touch $@

clean:  ## remove what the targets above made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
