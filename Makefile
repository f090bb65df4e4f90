# Every target is complete by itself and safe to repeat; what is there already is neither downloaded nor built again.

PYTHON ?= python3
BIN    := .venv/bin
SEEDS  := 1 2 3
DEMO   := reports/runs/demo
DEMO_REPORT := reports/analysis/demo
DEMO_BUG := suites/kip_866/test_controller_failures.py::test_partitions_added_before_a_takeover_reach_zookeeper
BUGS   := reports/runs/resurrect
KAFKA  := 3.9.1
SUITE   = suites/$(subst -,_,$(1))
SUITES  = $(subst _,-,$(notdir $(patsubst %/,%,$(sort $(dir $(wildcard suites/*/test_*.py))))))
BASE_kip-866-draft = kip-866
TO_JUDGE = $(BASE_$(PROFILE)) $(PROFILE)
# Documents whose runs say something about it, too, where there are any.
BESIDE_kip-500 = kip-778 kip-866
# The last patch of each line that a document is about.
RELEASES = $(or $(RELEASES_$(PROFILE)),3.9.1)
RELEASES_kip-866 = 3.4.1 3.5.2 3.6.2 3.7.2 3.8.1 3.9.1
RELEASES_kip-778 = 3.3.2 3.6.2 3.9.1 4.0.2 4.1.2 4.2.1 4.3.0
RELEASES_kip-500 = $(RELEASES_kip-778)
CONFORMANCE = reports/runs/conformance/$(1)/$(patsubst _%,%,$(subst /,_,$(KAFKA)))
CERTIFIED = reports/runs/certificates/$(PROFILE)/$(patsubst _%,%,$(subst /,_,$(KAFKA)))
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
MUTATING = $(BIN)/python -m pytest_kmigrate.documents.kip_125.mutating "$(KAFKA)" reports/runs/mutants-of-reference
BROWSERS = $(shell which chromium chromium-browser google-chrome)

# Bytecode is kept, whatever the caller's environment says: tests start Python hundreds of times, and without it each
# start compiles the package anew, and pytest rewrites the assertions of every test file.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup cure browser engine clocks image demo test conformance certificate register matrix check pythons docs bench bench-scale nightly resurrect mutants mutants-of-reference mutation-score lock dist clean

# A night of drawn schedules: its folder, and the tables of the nights before.
HOURS := 8
CORES := 2
NIGHT := $(shell date +%F)
SEARCHED = $(or $(PROFILE),kip-866)
CHAOS = reports/runs/chaos/$(SEARCHED)
CHAOS_REPORT = reports/analysis/chaos-$(SEARCHED)

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: .venv/.installed ## an isolated environment with the product, all extras, and what the demo needs

# uv takes a third of pip's time; it is taken from PATH, or had by pip, and pip itself does the work where that fails.
INSTALL = uv=$$(command -v uv) || uv=$(BIN)/uv; \
	{ test -x "$$uv" || $(PIP) --require-hashes -r requirements-uv.lock; } && \
	"$$uv" pip install --quiet --python $(BIN)/python --require-hashes -r $(1) || \
	{ echo "uv is not to be had or failed, as said above: pip installs $(1), which takes longer" >&2; \
	  $(PIP) --require-hashes -r $(1); }

.venv/.installed: requirements-users.lock requirements-uv.lock pyproject.toml
	$(PYTHON) -m venv .venv
	@$(call INSTALL,requirements-users.lock)
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.developing: .venv/.installed requirements.lock
	@$(call INSTALL,requirements.lock)
	@touch $@

cure: setup
	@$(BIN)/kmigrate doctor --cure

INSTALL_PACKAGES = test ! -x /usr/bin/apt-get || test "$$(id -u)" != 0 || $(BIN)/python -m pytest_kmigrate.machine.packages

# The report is looked at in a real one; without it those tests are skipped, and say so.
browser: setup
	@test -n "$(BROWSERS)" || $(INSTALL_PACKAGES) chromium

# The docker provider is tried on one that the tests start themselves; without it those tests are skipped, and say so.
# A user's own: make demo and every suite run in containers by PYTEST_ADDOPTS="--kmigrate-provider docker".
engine: setup
	@test -n "$(shell which dockerd)" || $(INSTALL_PACKAGES) docker.io iptables iproute2 curl

# The fault Clock needs it; without it what names that fault is NOT_APPLICABLE.
clocks: setup
	@test -n "$(wildcard /usr/lib/*/faketime/libfaketimeMT.so.1)" || $(INSTALL_PACKAGES) libfaketime

image: .venv/.developing ## an image in your container engine that stands in for a vendor's: other paths, another user, scripts of its own
	$(BIN)/python -m tests.real.providers.stand_in.building

# Whether a violation is a failure pytest says, which knows the bugs of Kafka that are expected; a report (exit status 1)
# has every one.
demo: cure ## two live migrations under faults and one that meets a bug of a released Kafka, aggregated by Spark into one report
	@rm -rf $(DEMO) $(DEMO_REPORT)
	@$(PYTEST) suites/kip_866/test_live_migration.py $(DEMO_BUG) --kmigrate-seed 1 --kmigrate-runs $(DEMO) || failed=1; \
	$(PYTEST) suites/kip_866/test_live_migration.py --kmigrate-seed 2 --kmigrate-runs $(DEMO) || failed=1; \
	$(BIN)/kmigrate analyze $(DEMO) --out $(DEMO_REPORT) || test $$? = 1 || failed=1; \
	test -z "$$failed"

# Folder by folder: by default files of few tests come last, and these are the ones that start clusters of Spark.
# Two clusters side by side: a third of a test's time it waits, for a session to end or for a known bug to show. A scene,
# whose tests share a cluster, goes to one worker by loadgroup.
test: cure .venv/.developing browser engine ## the project's own tests, and a sample of each document's suite on real Kafka
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder --ignore tests/real tests
	$(PYTEST) -n 2 --dist loadgroup -v -m "real or sample" tests/real suites
	$(foreach each,$(filter-out kip-866,$(SUITES)),$(PYTEST) -n 2 --dist loadgroup -v -m sample $(call SUITE,$(each)) \
	  --kmigrate-profile $(each) &&) true

# A recipe line that names MAKE itself is carried out by `make --dry-run`, too, and with it all that the line holds.
AGAIN := $(MAKE)

ifneq ($(filter conformance certificate matrix,$(MAKECMDGOALS)),)
ifeq ($(and $(PROFILE),$(wildcard $(call SUITE,$(PROFILE))/test_*.py)),)
$(error PROFILE: expected a document that has a suite ($(SUITES)), got '$(PROFILE)': make $(MAKECMDGOALS) PROFILE=...)
endif
endif

# Whether a violation is a failure pytest says, as in demo; coverage ends with 1 or 3 for what any run violates or
# leaves open. A document that builds on another one is judged by that one's runs, too. File by file: by default single
# tests come last, and the longest ones, which wait for minutes, would then be waited for by everybody.
conformance: cure .venv/.developing ## a document's whole suite: PROFILE=kip-866 [KAFKA=3.9.1]; called again, it goes on where it was
	@$(foreach each,$(TO_JUDGE),$(PYTEST) -n 2 --dist loadgroup --no-loadscope-reorder -v $(call SUITE,$(each)) --kmigrate-resume \
	  --kmigrate-profile $(each) --kmigrate-kafka "$(KAFKA)" --kmigrate-runs "$(call CONFORMANCE,$(each))" || \
	  { failed=$$?; test $$failed = 1 || exit $$failed; };) \
	$(BIN)/kmigrate requirements --profile $(PROFILE) $(foreach each,$(TO_JUDGE),--coverage "$(call CONFORMANCE,$(each))"); \
	case $$? in 0|1|3) exit $${failed:-0};; *) exit 1;; esac

# The plan asks for three runs of each test with a fault. What ran with this very code is not run again.
certificate: cure .venv/.developing ## a document's whole suite with three seeds, certified: PROFILE=kip-500 [KAFKA=4.3.0] [KEY=x.key]; it goes on where it was
	@for seed in $(SEEDS); do \
	  $(PYTEST) -n 2 --dist loadgroup --no-loadscope-reorder -v $(call SUITE,$(PROFILE)) --kmigrate-resume --kmigrate-seed $$seed \
	    --kmigrate-profile $(PROFILE) --kmigrate-kafka "$(KAFKA)" --kmigrate-runs $(CERTIFIED) || test $$? = 1 || exit 1; \
	done; \
	$(BIN)/kmigrate certify $(CERTIFIED) --profile $(PROFILE) --out $(CERTIFIED)/$(PROFILE).kmcert --product "Apache Kafka $(KAFKA)" \
	  $(if $(KEY),--key $(KEY)) --allow apache-defects

register: setup ## every certificate in docs/certificates verified, and its page written: [FILES="x.kmcert"] files these first
	$(BIN)/kmigrate register docs/certificates $(FILES)

matrix: cure .venv/.developing ## a document's whole suite on the releases it is about, as a page in docs: PROFILE=kip-866 [RELEASES="3.8.1 3.9.1"]
	@$(foreach each,$(RELEASES),$(AGAIN) conformance PROFILE=$(PROFILE) KAFKA=$(each) || true;) \
	$(BIN)/python -m pytest_kmigrate.judging.matrix $(PROFILE) docs/conformance/$(PROFILE).md \
	  $(foreach kafka,$(RELEASES),$(foreach each,$(TO_JUDGE),$(kafka)=reports/runs/conformance/$(each)/$(kafka)) \
	    $(addprefix $(kafka)=,$(wildcard $(foreach each,$(BESIDE_$(PROFILE)),reports/runs/conformance/$(each)/$(kafka)))))

# A third of a test's time it waits, for processes and deadlines: a third worker has the processors meanwhile. The rules
# of the house come first, where no other worker takes over some of them and reads all files anew. Folders of
# tests that passed are removed by the workers, side by side, and not one after the other when these are done.
check: .venv/.developing ## what every commit must pass, in under a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST) -q -n 3 --dist worksteal -m "not slow" -o tmp_path_retention_policy=failed \
	  tests/test_house_rules.py tests/unit tests/contract

# What starts neither a JVM nor Spark; each Python has an environment of its own, with the newest versions of all libraries.
PYTHONS = $(shell for each in python3.12 python3.13 python3.14 $(HOME)/.pyenv/versions/*/bin/python3; do \
  $$each -c 'import sys; sys.version_info >= (3, 12) and print(sys.executable)' 2>/dev/null; done | sort -u)
ON_OTHERS = $(addprefix tests/unit/,checkers distributions faults judging machine model probes procedures recording redaction topology wire workloads)
pythons: .venv/.developing ## the quick tests on other Pythons of this machine: all that are found, or PYTHONS="/a/bin/python3.13"
	@test -n "$(PYTHONS)" || { echo "no Python from 3.12 on was found: install one, and name it by PYTHONS=" >&2; exit 2; }
	@for each in $(PYTHONS); do \
	  own=.venv/pythons$$each; echo "$$each:"; \
	  $(BIN)/uv venv --quiet --clear --python $$each $$own && \
	  $(BIN)/uv pip install --quiet --python $$own/bin/python -c requirements-constraints.txt hypothesis pyte pytest-xdist '.[docker,allure]' && \
	  $$own/bin/python -m pytest -q -n 2 -p no:cacheprovider -m "not slow" $(ON_OTHERS) || failed=1; \
	done; test -z "$$failed"

docs: .venv/.developing ## the generated tables of the reference and the plans of certificates, written anew from the code
	$(BIN)/python -m tests.run_folder_docs
	$(BIN)/python -m tests.run_folder_schemas
	$(BIN)/python -m tests.reference_docs
	$(BIN)/python -m tests.releases_docs
	$(BIN)/python -m pytest_kmigrate.plugin.planning
	$(BIN)/python -m pytest_kmigrate.judging.texts kip-866-draft docs/conformance/kip-866-draft.md

bench: cure .venv/.developing ## every figure beside its target: the provider, and the analysis against other engines and Allure
	$(BIN)/python -m tests.bench

bench-scale: .venv/.developing ## the analysis at its large sizes too: 100 million operations, 10,000 runs, 50 million rows
	$(BIN)/python -m tests.bench --scale calibration consistency runs engines

# The report before steers the draw, and shrinking gets a fifth of the night's time on top.
define CHAOS_NIGHT
{ test -e $(CHAOS)/$(NIGHT)/night.jsonl || expr '$(NIGHT)' : '[0-9][0-9-]*$$' >/dev/null || \
	  { echo "$(CHAOS)/$(NIGHT)/night.jsonl: expected the file of a night, got none: put it there, or give a date as NIGHT, by which one is drawn" >&2; false; }; } && \
	mkdir -p $(CHAOS)/$(NIGHT) && \
	{ test -e $(CHAOS)/$(NIGHT)/night.jsonl || $(BIN)/kmigrate chaos draw --profile $(SEARCHED) --hours $(HOURS) --cores $(CORES) --seed $(subst -,,$(NIGHT)) \
	  $(and $(wildcard $(CHAOS_REPORT)/tables/chaos_cells),--tables $(CHAOS_REPORT)/tables) --out $(CHAOS)/$(NIGHT)/night.jsonl; } && \
	{ $(PYTEST) -n $(CORES) --dist loadgroup $(call SUITE,$(SEARCHED))/test_chaos.py --kmigrate-profile $(SEARCHED) --kmigrate-nightly $(if $(EXERCISE),--kmigrate-exercise) \
	  --kmigrate-schedules $(CHAOS)/$(NIGHT)/night.jsonl --kmigrate-shard $(or $(SHARD),1/1) --kmigrate-resume \
	  --kmigrate-runs $(CHAOS)/$(NIGHT)/shard-$(subst /,-of-,$(or $(SHARD),1/1)) || test $$? = 1; } && \
	$(BIN)/kmigrate chaos shrink $(CHAOS)/$(NIGHT) --hours $$(awk 'BEGIN { print $(HOURS) / 5 }') && \
	{ $(BIN)/kmigrate analyze $(CHAOS) --out $(CHAOS_REPORT) || test $$? = 1 || test $$? = 3; }
endef
.PHONY: chaos
chaos: cure .venv/.developing ## a night of drawn schedules, its report, and its new reds shrunk: [HOURS=8] [CORES=2] [NIGHT=2026-11-29] [SHARD=3/8] [PROFILE=kip-866] [EXERCISE=1]; called again, it goes on
	@$(CHAOS_NIGHT)

NOTHING_COLLECTED = 5
nightly: cure clocks .venv/.developing ## the suites ten times over, every crash point, order and schedule, 20 SIGKILLs, bugs, mutants, a night of chaos, and reports
	@for seed in $$(seq 1 10); do \
	  $(foreach each,$(SUITES),$(PYTEST) $(call SUITE,$(each)) --kmigrate-profile $(each) --kmigrate-seed $$seed \
	    --kmigrate-runs reports/runs/nightly || failed=1;) \
	done; \
	$(foreach each,$(SUITES),$(PYTEST) $(call SUITE,$(each)) --kmigrate-profile $(each) --kmigrate-nightly -m nightly \
	  --kmigrate-runs reports/runs/nightly || test $$? = $(NOTHING_COLLECTED) || failed=1;) \
	$(PYTEST) tests/real/attach --kmigrate-nightly -m nightly || failed=1; \
	KMIGRATE_SIGKILLS=20 $(PYTEST) tests/real/test_sigkill.py --kmigrate-nightly || failed=1; \
	KMIGRATE_HARNESS_DEATHS=0+20 $(PYTEST) tests/real --kmigrate-nightly -m nightly || failed=1; \
	KMIGRATE_CONTRACT=whole $(PYTEST) tests/real/providers || failed=1; \
	$(BIN)/python -m pytest_kmigrate.reports.resurrection kip-866 $(BUGS) || failed=1; \
	$(MUTATING) || failed=1; \
	{ $(CHAOS_NIGHT); } || failed=1; \
	$(BIN)/kmigrate analyze reports/runs/nightly --out reports/analysis/nightly || test $$? = 1 || failed=1; \
	test -z "$$failed"

resurrect: cure .venv/.developing ## real bugs: red by name on the last release that has each, green on the next: all, or ONLY="id id"
	@$(BIN)/python -m pytest_kmigrate.reports.resurrection $(or $(PROFILE),kip-866) $(BUGS) $(ONLY)

mutants: cure .venv/.developing ## defects planted in Kafka, each seen by its requirement: all, or ONLY="id id" of mutants.toml
	@$(BIN)/python -m pytest_kmigrate.reports.mutants $(or $(PROFILE),kip-866) "$(KAFKA)" reports/runs/mutants $(ONLY)

# Which tests can notice a mutant is known from runs that recorded what they execute: made once, and used again.
N    := 60
SEED := 1
SCORED = reports/runs/mutation/$(or $(PROFILE),kip-866)/$(KAFKA)
EXERCISED = $(SCORED)/exercised
mutation-score: cure .venv/.developing ## generated defects of Kafka, which share the suite notices: [PROFILE=kip-866] [N=60] [SEED=1] [MINUTES=] [CLASSES=] [AT_ONCE=2]; it goes on where it was
	@$(PYTEST) -n 2 --dist loadgroup --no-loadscope-reorder $(call SUITE,$(or $(PROFILE),kip-866)) --kmigrate-resume --kmigrate-exercise \
	  $(if $(CLASSES),--kmigrate-classes "$(CLASSES)") --kmigrate-profile $(or $(PROFILE),kip-866) --kmigrate-kafka "$(KAFKA)" --kmigrate-runs $(EXERCISED)/runs || test $$? = 1
	@$(BIN)/kmigrate analyze $(EXERCISED)/runs --out $(EXERCISED) || { status=$$?; test $$status = 1 || test $$status = 3; }
	@$(BIN)/python -m pytest_kmigrate.reports.generated.score $(or $(PROFILE),kip-866) "$(KAFKA)" $(SCORED)/seed-$(SEED) \
	  $(EXERCISED) $(N) $(SEED) "$(MINUTES)" "$(CLASSES)" "$(AT_ONCE)"
	@$(BIN)/python -m pytest_kmigrate.reports.generated.unexecuted $(or $(PROFILE),kip-866) "$(KAFKA)" $(EXERCISED)/tables > $(SCORED)/executed.md

mutants-of-reference: cure .venv/.developing ## defects planted in the reference of KIP-125, each found by its requirement: all, or ONLY="id id"
	@$(MUTATING) $(ONLY)

LOCK = $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11
lock: .venv/.developing ## pin every dependency again
	$(LOCK) --all-extras --group dev -c requirements-constraints.txt pyproject.toml -o requirements.lock
	$(LOCK) --extra all --group setup -c requirements.lock pyproject.toml -o requirements-users.lock
	echo uv | $(LOCK) -c requirements.lock - -o requirements-uv.lock

dist: .venv/.developing ## what a release publishes: wheel, archive and bill of materials of this commit, each the same twice: [TRIAL=1]
	@$(BIN)/python -m tests.release $(if $(TRIAL),--trial)

clean: ## remove what these targets made here (the cache of this user stays)
	rm -rf .venv reports/runs reports/analysis dist .bench
