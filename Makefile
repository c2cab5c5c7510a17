# make demo and make test are what people type. The work is described in noxfile.py; this file provides nox.

PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
READY := .venv/nox/ready
NOX := .venv/nox/bin/nox

.PHONY: demo test lint format bench prepare clean help
.DEFAULT_GOAL := help

help:
	@echo 'make demo    build the wheel, install it in .venv, exchange real data with Go (TORCH=1 adds PyTorch)'
	@echo 'make test    every test, on every CPython from 3.11 on that this machine has'
	@echo 'make lint    formatters, linters and type checkers only'
	@echo 'make format  format C, Go and Python'
	@echo 'make bench   every crossing beside the libraries that do the same, into bench/RESULTS.md (Rust for two of them; 6 GB)'
	@echo 'make clean   remove .venv and everything that was built'

demo: $(READY)
	@$(NOX) -s demo

test: $(READY)
	@rm -rf .venv/reports
	@$(NOX); status=$$?; .venv/nox/bin/python tools/summary.py .venv/reports || status=1; exit $$status

lint: $(READY)
	@$(NOX) -s lint

format: $(READY)
	@$(NOX) -s format

bench: $(READY)
	@$(NOX) -s bench

prepare: $(READY)

clean:
	rm -rf .venv build dist out python/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): tools/requirements.txt
	@test -n '$(PYTHON)' || { echo 'no Python 3.11 or newer on PATH: install one, or make PYTHON=/path/to/python3.12 ...'; exit 1; }
	@$(PYTHON) tools/toolchain.py
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'this Python lacks venv (Debian: apt install python3-venv)'; exit 1; }
	@echo 'preparing .venv/nox'
	@$(PYTHON) -m venv .venv/nox
	@.venv/nox/bin/python -m pip install --quiet --disable-pip-version-check -r tools/requirements.txt
	@touch $@
