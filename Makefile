# Everything runs in .venv; a bare machine needs Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test lint bench soak paper docs notebooks clean

help:
	@echo "make demo    install, then the main job: a table of certified epsilons and a picture"
	@echo "make test    install what the tests need, and pass them"
	@echo "make lint    ruff and mypy"
	@echo "make bench   measure against named alternatives, in an environment of its own"
	@echo "make soak    the long random checks"
	@echo "make docs    the documentation site, into out/docs"
	@echo "make notebooks  every notebook at its full setting, into docs/notebooks"
	@echo "make paper   every LaTeX output through pdflatex, into out/paper"

# Which extras are in the environment is remembered by the stamp files.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	@touch $@

$(VENV)/test.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,test,docs]"
	@touch $@

$(VENV)/lint.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,test,lint]"
	@touch $@

$(VENV)/notebooks.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,notebooks]"
	@touch $@

$(VENV)/docs.stamp: setup.cfg pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[plot,docs]"
	@touch $@

demo: $(VENV)/demo.stamp
	$(BIN)/python -m symacct.explore.demo

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/lint.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/demo.stamp
	$(BIN)/python benchmarks/run.py

soak: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n $(JOBS) tests/soak

# Needs LaTeX; says what to install where it is missing.
paper: $(VENV)/test.stamp
	$(BIN)/python -m tests.paper.build

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -q -W --keep-going -b html docs out/docs
	@echo "the pages are in out/docs/index.html"

notebooks: $(VENV)/notebooks.stamp
	$(BIN)/python notebooks/render.py

clean:
	rm -rf $(VENV) out build *.egg-info .pytest_cache .hypothesis .ruff_cache .mypy_cache
