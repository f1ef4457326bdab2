# Berth's commands. Everything here works with GNU make 3.81 and up, and a POSIX shell.

GO ?= go

# Static binaries without a C compiler, and the same bytes wherever the checkout lies. devplane's
# builder uses the same flags: go test then finds in Go's build cache what the builder compiled.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath -buildvcs=false,$(GOFLAGS)) -trimpath -buildvcs=false)

# Prints the folder of the devplane binary, after building it if need be.
DEVPLANE = $(GO) -C devplane run ./build

# Runs go test with arguments $(1) in both modules, in the second even if the first fails. There
# without vet, which would first look through Kubernetes (`make check` vets what can be vetted), and
# without cached results: what containerd and the kernel do is in no key of Go's test cache.
define go_test
dir=`$(DEVPLANE)` || exit 1; BERTH_DEVPLANE=$$dir/devplane; export BERTH_DEVPLANE; \
status=0; \
echo "== github.com/berthdev/berth"; $(GO) test $(1) ./... || status=1; \
echo "== github.com/berthdev/berth/devplane"; $(GO) -C devplane test -vet=off -count=1 $(1) ./... || status=1; \
exit $$status
endef

.PHONY: help
help: ## print this
	@echo "usage: make TARGET"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "BERTH_CACHE says where the built devplane is kept (~/.cache/berth)."

.PHONY: demo
demo: need-go ## start a Kubernetes cluster with tainted node pools and run pipelines on it
	@command -v git >/dev/null || { echo "make: no git: the demo's pipeline clones this repository; install git and put it on PATH" >&2; exit 1; }
	@dir=`$(DEVPLANE)` || exit 1; \
	BERTH_DEVPLANE=$$dir/devplane $(GO) -C devplane run ./demo

.PHONY: test
test: need-go deps ## run every test, those against the real control plane included
	@$(call go_test,-timeout 10m)

.PHONY: check
check: need-go ## check format, vet, lint, generated files, modules, import lattice, scripts
	@GO='$(GO)' sh scripts/check.sh

.PHONY: bench
bench: need-go deps ## measure: times, allocations, memory
	@$(call go_test,-run '^$$' -bench . -benchmem -timeout 60m)

.PHONY: soak
soak: need-go deps ## run the tests five times, shuffled, with BERTH_SOAK=1
	@BERTH_SOAK=1; export BERTH_SOAK; $(call go_test,-count=5 -shuffle=on -timeout 4h)

.PHONY: verify
verify: need-go ## clone HEAD into a temporary folder and run .ci/run there
	@sh scripts/verify.sh

.PHONY: dist
dist: need-go ## build berth and berth-observer for Linux and macOS into dist/, the same bytes each time
	@GO='$(GO)' sh scripts/dist.sh

.PHONY: deps
deps: ## install what real nodes need (Debian and Ubuntu, as root; elsewhere say what is missing)
	@sh scripts/deps.sh

.PHONY: fmt
fmt: need-go ## format the Go sources
	@gofmt -l -w .

.PHONY: generate
generate: need-go ## write the generated files anew
	@$(GO) generate ./...

.PHONY: clean
clean: ## remove what was made in the checkout
	rm -rf dist

# For other targets.

.PHONY: devplane
devplane: need-go
	@$(DEVPLANE)

.PHONY: need-go
need-go:
	@command -v $(GO) >/dev/null || { echo "make: no Go toolchain: install Go 1.26 or newer and put it on PATH" >&2; exit 1; }
