# `make` lists the targets.

SHELL := bash
SEED  ?=
FOR   ?= 30s
STORE ?= all
BENCH ?=
PKG   ?=
RUN   ?=
PEERS ?=
SIM   := go run ./sim/cmd/tenure-sim -corpus sim/corpus.txt $(if $(SEED),-seed $(SEED)) -workers $$(getconf _NPROCESSORS_ONLN)

.DEFAULT_GOAL := help
.PHONY: help test test-all steady lint fmt tidy vet-all sim sim-short demo bench bench-stores bench-peers bench-docs servers build ci clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r target text; do \
		printf '  make %-16s %s\n' "$$target" "$$text"; done

test: ## test all that is quick, on real servers; make test PKG=stores/redis RUN=TestHandOver: one directory, whole
	@bash .ci/test $(if $(PKG),-in '$(PKG)') $(if $(RUN),-run '$(RUN)')

test-all: ## test the rest: slow tests, more servers, browsers, the race detector (a quarter of an hour)
	@bash bench/peers/get nest || [ -z "$$TENURE_NEED_SERVERS" ]
	@bash .ci/test -all $(if $(RUN),-run '$(RUN)')

steady: ## make test three times on a machine that is overloaded and stalls (twenty minutes; PKG and RUN as above)
	@for round in 1 2 3; do \
		echo "round $$round of 3"; \
		bash .ci/test -burn $$((3 * $$(getconf _NPROCESSORS_ONLN))) -stall 1s $(if $(PKG),-in '$(PKG)') $(if $(RUN),-run '$(RUN)') || exit 1; \
	done

lint: ## run the linters over every module (builds the pinned golangci-lint once)
	@bash .ci/lint

fmt: ## format all Go files as the linters want them
	@bash .ci/fmt

tidy: ## tidy go.mod and go.sum of every module
	@bash .ci/each-module go mod tidy

vet-all: ## compile and vet every module for Linux, macOS and Windows
	@bash .ci/vet

sim: ## simulate a million histories of elections, others each time (SEED=n repeats those of a run)
	@$(SIM) -histories 1000000

sim-short: ## simulate twenty thousand histories
	@$(SIM) -histories 20000

.PHONY: mutants mutants-short
SHARE  ?= 1/40
MUTANT := go run ./internal/mutate

mutants: ## change the engine's source in one place after another, each of which a test has to notice (hours; goes on after an interruption; MUTANTS="-match Machine.see")
	@mkdir -p .cache
	@$(MUTANT) -resume .cache/mutants.jsonl -out .cache/mutants.jsonl $(MUTANTS)

mutants-short: ## a share of that, some minutes (SHARE=2/40 for another; MUTANTS="-v")
	@$(MUTANT) -share $(SHARE) $(MUTANTS)

.PHONY: chaos chaos-short chaos-selfcheck chaos-docs
CHAOS := go run ./integration/cmd/tenure-chaos -seed $(or $(SEED),1)

chaos: ## strike elections over real servers with faults, and check them (STORE=redis FOR=10m SEED=7)
	@$(CHAOS) -store $(STORE) -for $(FOR)

chaos-short: ## a short share of that, on four stores
	@$(CHAOS) -store file,redis,postgres,natskv -for 25s

chaos-selfcheck: ## the same without each protection in turn, which has to be found
	@$(CHAOS) -selfcheck -ttl 2s

chaos-docs: ## the same as chaos into README.md and integration/README.md
	@$(CHAOS) -store $(STORE) -for $(FOR) -results integration/results -write README.md,integration/README.md

demo: ## watch leadership move between processes that are killed and frozen (FOR=30s)
	@go run ./cmd/tenure/demo --for $(FOR)

bench: bench-stores bench-peers ## the two that follow

bench-stores: ## measure what elections cost on every store (BENCH="-stores redis -for 20s")
	@go run ./bench/cmd/tenure-bench $(BENCH)

bench-peers: ## measure other libraries on the same servers (PEERS="-short -contenders redsync,pglock")
	@bash bench/peers/get || true
	@go run ./bench/peers/cmd/tenure-peers $(PEERS)

bench-docs: ## all that docs/benchmarks.md and docs/peers.md show, anew; half an hour and more on a quiet machine
	@go run ./bench/cmd/tenure-bench -write docs/benchmarks.md
	@bash bench/peers/get || true
	@go run ./bench/peers/cmd/tenure-peers -write docs/peers.md
	@$(MAKE) --no-print-directory bench-dual bench-plots

.PHONY: bench-dual bench-plots
bench-dual: ## count two leaders at once, ours and others', into docs/benchmarks.md (HISTORIES=200; a quarter of an hour)
	@go test ./bench/dualleader -run '^TestWriteDocument$$' -count=1 -timeout 2h -args -dual.histories $(or $(HISTORIES),200) \
		-dual.write $(CURDIR)/docs/benchmarks.md -dual.figures $(CURDIR)/docs/benchmarks

bench-plots: ## draw the figures of docs/benchmarks from the tables of the documents
	@go run ./bench/cmd/tenure-plot

servers: ## get the servers that the tests and the benchmark run against
	@bash .ci/servers

build: ## build the command into bin/
	@go build -trimpath -o bin/ ./cmd/tenure && echo "built bin/tenure"

ci: ## everything that CI checks
	@bash .ci/run

clean: ## remove what the targets above leave behind
	@rm -rf bin .cache sim-*.html demo-*.html
