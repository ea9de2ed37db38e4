# The door for people.  Every target installs what it needs first; a second call is instant.
#   make demo | run | test | lint | bench | test-long | dist | deb | image | clean      (make run ARGS="--port 8001")
#   make simulate SEEDS=1-100 STEPS=400                              (tests/simulation)
#   make cluster                    (two machines of a site, a Spark of two, and mounts are killed and cut off)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo run test lint bench test-long simulate cluster dist deb image clean python java servers requirements compiled

PYTHON ?= python3
BIN := .venv/bin
RUN_READY := .venv/.run-ready
TEST_READY := .venv/.test-ready
SPARK_READY := .venv/.spark-ready
# What Python compiles is kept: hundreds of processes of the tests would compile it again.
export PYTHONDONTWRITEBYTECODE :=
# Tests write in memory where there are 4 GB for it: on a disk, each commit waits for it.
test test-long cluster: export TMPDIR := $(shell df --output=avail /dev/shm 2>/dev/null | \
	awk 'END { print ($$1 > 4000000) ? "/dev/shm" : "/tmp" }')
# Four files of tests at a time, for much of a test is waiting; all that ask Spark in one process: see tests/conftest.py.
PYTEST := $(BIN)/python -m pytest -q -n 5 --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

# $(call need,WHAT,TEST,DEBIAN PACKAGE): install the package where root on Debian, else name it.
define need
	@if $(2); then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing $(3)"; log=$$(mktemp); \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $(3); } </dev/null >"$$log" 2>&1 \
			|| { tail -n 5 "$$log"; echo "Could not install $(3), needed for: $(1)."; exit 1; }; \
		rm -f "$$log"; \
	else \
		echo "Tapestry needs $(1). Install it, on Debian as root: apt-get install $(3)"; exit 1; \
	fi
endef

JAVA_17 = { "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 || true; } \
	| grep -Eq 'version "(1[7-9]|[2-9][0-9])'
PYTHON_311 = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
HAS_VENV = $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null
HAS_CHROMIUM = command -v chromium >/dev/null && command -v chromium-headless-shell >/dev/null
HAS_DOVECOT = [ -x "$$(PATH=$$PATH:/usr/sbin command -v dovecot || true)" ] \
	&& [ -e /usr/lib/dovecot/imap -o -e /usr/libexec/dovecot/imap ]

HAS_COMPILER = command -v gcc >/dev/null && [ -e /usr/include/stdio.h ]
HAS_SYSTEMD = command -v systemd-analyze >/dev/null && command -v man >/dev/null
HAS_BUILDAH = command -v mmdebstrap >/dev/null && command -v buildah >/dev/null && command -v ip >/dev/null
HAS_GLUSTER = command -v glusterd >/dev/null && command -v glusterfs >/dev/null
HAS_POSTGRES = ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null

# INN unpacked beside the virtual environment: its package would also bring a mail server.
INN := .venv/inn
INN_READY := $(INN)/usr/lib/news/bin/innd
INN_LIBRARIES = dpkg-deb -f $(INN)/inn2_*.deb Depends | tr ',' '\n' | sed -nE 's/^ *(lib(perl|python|sasl2|db|sqlite3|ssl|systemd)[^ ]*).*/\1/p'
HAS_INN_LIBRARIES = ! LD_LIBRARY_PATH="$$(echo $(INN)/usr/lib/news $(INN)/usr/lib/*-linux-gnu | tr ' ' :)" \
	ldd $(INN_READY) $(INN)/usr/lib/news/bin/nnrpd | grep 'not found' >/dev/null

demo: $(SPARK_READY)
	exec $(BIN)/python manage.py demo $(ARGS)

run: $(SPARK_READY)
	exec $(BIN)/python manage.py up $(ARGS)

test: servers $(TEST_READY)
	$(PYTEST) -m "not long" $(ARGS)

test-long: servers $(TEST_READY)
	$(call need,systemd-analyze and man (for the tests of the Debian package),$(HAS_SYSTEMD),systemd man-db)
	$(call need,mmdebstrap and buildah (for the tests of the container image),$(HAS_BUILDAH),mmdebstrap buildah iproute2)
	$(call need,GlusterFS (for the tests of a network file system),$(HAS_GLUSTER),glusterfs-server glusterfs-client)
	$(PYTEST) -m long --timeout=0 $(ARGS)

cluster: servers $(TEST_READY)
	$(call need,ip of iproute2 (for networks of this machine),command -v ip >/dev/null,iproute2)
	$(call need,GlusterFS (for the tests of a network file system),$(HAS_GLUSTER),glusterfs-server glusterfs-client)
	$(PYTEST) -n 2 -m long --timeout=0 tests/live/test_several_machines.py tests/live/test_spark_cluster.py \
		tests/live/test_site_over_spark_cluster.py tests/live/test_network_file_system.py $(ARGS)

SEEDS ?= 1-10
STEPS ?= 400
simulate: $(SPARK_READY) $(TEST_READY)
	$(BIN)/python -m tests.simulation --seeds $(SEEDS) --steps $(STEPS) --spark $(ARGS)

# Compiled once, the files of tests are not compiled by each process that runs them.
compiled: $(TEST_READY)
	$(BIN)/python -m pytest -q -m "not long" --collect-only | tail -n 1

lint: $(TEST_READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet --rules .ci/djlint_rules.yaml templates
	$(BIN)/python .ci/tree.py
	$(BIN)/python .ci/audit.py

bench: $(SPARK_READY)
	for name in compile ingest lookup incremental tick start; do $(BIN)/python manage.py bench $$name $(ARGS); done

# A wheel of what git has, with the manual and completion: nothing is fetched, nothing else gets in.
DIST ?= dist
dist: $(RUN_READY)
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; mkdir $$work/made $$work/out; \
	git ls-files -z -- filters tapestry templates pyproject.toml README.md LICENSE \
		| tar --create --null --files-from=- | tar --extract --directory=$$work; \
	made() { (cd $$work; $(CURDIR)/$(BIN)/python -m tapestry "$$@"); }; \
	made man >$$work/made/tapestry.1; \
	made completion bash >$$work/made/tapestry; \
	made completion zsh >$$work/made/_tapestry; \
	made completion fish >$$work/made/tapestry.fish; \
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct); \
	$(PIP) wheel --quiet --no-index --no-deps --no-build-isolation --wheel-dir $$work/out $$work; \
	mkdir -p $(DIST); mv $$work/out/*.whl $(DIST); ls $(DIST)/*.whl

# A Debian package of the wheel, for this architecture and /usr/bin/python3, or PYTHON=….
deb: dist
	filters/site/packaging/build_deb.sh $(DIST)/tapestry-*.whl $(DIST)

# A container image of that package, on a Debian of this machine's release, or BASE=….
IMAGE ?= localhost/tapestry
BASE ?= docker.io/library/debian:$(shell . /etc/os-release; echo $$VERSION_CODENAME)-slim
image: deb
	$(call need,buildah,command -v buildah >/dev/null,buildah)
	buildah build --quiet --build-arg BASE=$(BASE) --tag $(IMAGE) \
		--file filters/site/packaging/Containerfile $(DIST)

# After a change of the pins in pyproject.toml: everything they need, exactly, with its hashes.
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-emit-package pip \
	--custom-compile-command "make requirements"
requirements: $(TEST_READY)
	$(COMPILE) pyproject.toml --output-file requirements.txt
	$(COMPILE) --group test --constraints requirements.txt --output-file tests/requirements.txt

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache artifacts dist
	find . -name __pycache__ -prune -exec rm -rf {} +

python:
	$(call need,Python 3.11 or newer as “$(PYTHON)”,$(PYTHON_311),python3 python3-venv)
	@$(PYTHON_311) || { echo "“$(PYTHON)” is older than Python 3.11. Name another: make PYTHON=/path/to/python3.11"; exit 1; }
	$(call need,Python's venv module,$(HAS_VENV),python3-venv)

java:
	$(call need,Java 17 or newer (for Spark),$(JAVA_17),openjdk-17-jre-headless)

servers: $(SPARK_READY) $(INN_READY)
	$(call need,Dovecot's IMAP server (for the tests),$(HAS_DOVECOT),dovecot-imapd)
	$(call need,mbsync (for the tests),command -v mbsync >/dev/null,isync)
	$(call need,NeoMutt (for the tests),command -v neomutt >/dev/null,neomutt)
	$(call need,Pigeonhole's sieve-test (for the tests),command -v sieve-test >/dev/null,dovecot-sieve)
	@if [ -d /run/systemd/system ] && [ "$$(id -u)" = 0 ]; then \
		systemctl disable --quiet --now dovecot.service dovecot.socket 2>/dev/null || true; fi
	$(call need,Chromium and its headless shell (for the tests),$(HAS_CHROMIUM),chromium chromium-headless-shell)
	$(call need,a C compiler (for the tests),$(HAS_COMPILER),gcc libc6-dev)
	$(call need,PostgreSQL's server (for the tests),$(HAS_POSTGRES),postgresql)
	$(call need,the libraries of INN (for the tests),$(HAS_INN_LIBRARIES),$$($(INN_LIBRARIES)))

$(INN_READY): | $(BIN)/python
	@command -v apt-get dpkg-deb >/dev/null || { echo "The tests need INN 2, a news server, unpacked into $(INN)."; exit 1; }
	@echo "Fetching inn2"; mkdir -p $(INN); chmod 755 $(INN)
	@cd $(INN) && rm -f *.deb && log=$$(mktemp) && { { apt-get -q download inn2 inn2-inews libcanlock3 \
		|| { apt-get -qq update && apt-get -q download inn2 inn2-inews libcanlock3; }; } </dev/null >"$$log" 2>&1 \
		|| { tail -n 5 "$$log"; echo "Could not fetch inn2."; exit 1; }; }
	@cd $(INN) && for package in *.deb; do dpkg-deb -x "$$package" .; done
	@touch $@

$(BIN)/python: | python
	$(PYTHON) -m venv .venv

$(RUN_READY): requirements.txt | $(BIN)/python
	@echo "Installing requirements.txt into .venv (the first time takes a few minutes)"
	$(PIP) install --quiet --require-hashes -r requirements.txt
	@touch $@

$(SPARK_READY): $(RUN_READY) | java
	@echo "Preparing Spark, so that it starts in half the time (once, for half a minute)"
	@$(BIN)/python -m tapestry.spark.class_archive
	@touch $@

$(TEST_READY): tests/requirements.txt $(RUN_READY)
	@echo "Installing tests/requirements.txt into .venv"
	$(PIP) install --quiet --require-hashes -r tests/requirements.txt
	@touch $@
