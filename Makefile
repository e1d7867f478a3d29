# Everything runs in .venv; a bare machine needs Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
PEERS := .venv-peers
BIN := $(VENV)/bin
JOBS ?= 2
# A part of the tests, of under a minute, that meets every dependency.
QUICK := tests/laws/test_text.py tests/laws/test_register.py tests/cli/test_cli.py \
	tests/explore/test_plots.py tests/export/test_citation.py tests/export/test_latex.py \
	tests/kernel/sums tests/kernel/test_claims.py tests/test_reference.py \
	tests/theory/test_conversions.py

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench soak planted mutants certificates coq lowest peers peers-tests sdist paper docs notebooks clean

help:
	@echo "Use it"
	@echo "  make demo          install, then the main job: a table of certified epsilons and a picture"
	@echo "  make docs          the documentation site, into out/docs"
	@echo "Change it"
	@echo "  make test          install what the tests need, and pass them"
	@echo "  make lint          ruff and mypy, which are the hooks of .pre-commit-config.yaml too"
	@echo "  make bench         measure against named alternatives, in an environment of its own"
	@echo "Doubt it"
	@echo "  make soak          every law on new draws, and the long checks; SOAK_MINUTES=… bounds it"
	@echo "  make mutants       plant 400 faults over the package, print those that no test sees; MODULE=… in one"
	@echo "  make planted       faults in an accountant: which \`verify --quick\` finds; FULL=1, KEPT=FILE goes on"
	@echo "  make certificates  a thousand altered certificates, of which the checker must refute each"
	@echo "  make coq           the proofs in coq/ and certificates, true and false, through coqc, in out/coq"
	@echo "Look at other accountants"
	@echo "  make peers         verify all, each installed, and write their table into docs/peers.md; FULL=1"
	@echo "  make peers-tests   their own tests with ours in their place, and counts"
	@echo "Release it"
	@echo "  make lowest        a quick part of the tests with the lowest versions allowed"
	@echo "  make sdist         build, install what was built, and run a quick part of its tests there"
	@echo "  make notebooks     every notebook at its full setting, into docs/notebooks"
	@echo "  make paper         every LaTeX output and the two notes of paper/ through pdflatex, into out/paper"
	@echo "  make clean         remove environments, caches and what was built"

# Which extras are in the environment is remembered by the stamp files.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	@touch $@

$(VENV)/test.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,test,docs]"
	@touch $@

$(LOWEST)/test.stamp: setup.cfg tests/lowest.py
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) tests/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --requirement $(LOWEST)/lowest.txt
	@touch $@

# The packages bring their tests along; Opacus brings torch, some gigabytes.
$(PEERS)/test.stamp: setup.cfg tests/peers/packages.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --requirement tests/peers/packages.txt
	$(PEERS)/bin/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/lint.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,test,lint]"
	@touch $@

$(VENV)/mutants.stamp: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet --editable ".[mutants]"
	@touch $@

$(VENV)/notebooks.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,notebooks]"
	@touch $@

$(VENV)/docs.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,docs]"
	@touch $@

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py

# A file is run by one worker, so that what its tests share is worked out once; and modules are
# compiled once, whatever the environment says, not by each of the hundred processes.
test soak: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/demo.stamp
	$(BIN)/python benchmarks/run.py

soak: $(VENV)/test.stamp
	JOBS=$(JOBS) $(BIN)/python -m tests.soak

planted: $(VENV)/test.stamp
	$(BIN)/python -m tests.verify.planted $(if $(FULL),--full) $(if $(KEPT),--kept $(KEPT))

mutants: $(VENV)/mutants.stamp
	JOBS=$(JOBS) $(BIN)/python -m tests.soak.package_mutants $(MODULE)

certificates: $(VENV)/test.stamp
	$(BIN)/python -m pytest tests/evidence/test_certificates.py --hypothesis-profile=soak

lowest: $(LOWEST)/test.stamp
	PYTHONPATH=. $(LOWEST)/bin/python -m pytest -n $(JOBS) $(QUICK)

# That accountants have faults is no failure here: verify then ends with status 1 or 3.
peers: $(VENV)/demo.stamp
	mkdir -p out && rm -f out/peers.json
	-$(BIN)/symacct verify --all --install $(if $(FULL),,--quick) --json out/peers.json
	$(BIN)/python -m benchmarks.peers_table out/peers.json docs/peers.md

peers-tests: $(PEERS)/test.stamp
	$(PEERS)/bin/python -m tests.peers

# The tests are those of the unpacked archive, the package is the installed one.
sdist: $(VENV)/test.stamp
	rm -rf out/sdist
	$(PYTHON) -m venv out/sdist/venv
	out/sdist/venv/bin/python -m pip install --quiet build twine
	out/sdist/venv/bin/python -m build --outdir out/sdist .
	out/sdist/venv/bin/python -m twine check --strict out/sdist/symacct-*
	cd out/sdist && tar -xf *.tar.gz && mv symacct-*/ unpacked && rm -r unpacked/symacct
	out/sdist/venv/bin/python -m pip install --quiet "$$(ls out/sdist/*.whl)[plot,test]"
	cd out/sdist/unpacked && ../venv/bin/python -m pytest -n $(JOBS) $(QUICK)

# Needs LaTeX; says what to install where it is missing.
paper: $(VENV)/test.stamp
	$(BIN)/python -m tests.paper.build
	$(BIN)/python -m paper.build

# Needs Coq and coq-interval; says what to install where they are missing.
coq: $(VENV)/test.stamp
	$(BIN)/python -m tests.coq

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -q -W --keep-going -b html docs out/docs
	@echo "the pages are in out/docs/index.html"

notebooks: $(VENV)/notebooks.stamp
	$(BIN)/python notebooks/render.py

clean:
	rm -rf $(VENV) $(LOWEST) $(PEERS) out build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
