# Shared by the scripts beside it, which source it from the root of the repository.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the constants are for those scripts

# The oldest Go that the root module supports. It comes from the module proxy.
readonly GO_FLOOR=go1.25.4

# What `make lint` runs, by module path and version. Tools are built from source into .cache, which git ignores.
readonly GOLANGCI_LINT=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

say() { printf '%s\n' "$*"; }

die() {
	printf '%s\n' "$*" >&2
	exit 1
}

# need_go finds Go, on PATH or where its installer puts it, and checks that it can work in this workspace.
need_go() {
	if ! command -v go >/dev/null && [ -x /usr/local/go/bin/go ]; then
		PATH=$PATH:/usr/local/go/bin
		export PATH
	fi
	command -v go >/dev/null ||
		die "Go is needed and was not found. Install $(go_wanted) or newer from https://go.dev/dl/ and run this again."
	local problem
	problem=$(go list -m 2>&1 >/dev/null) ||
		die "$(go version) cannot work here: $problem" $'\n'"Install $(go_wanted) or newer from https://go.dev/dl/."
	say "using $(go version)"
}

go_wanted() { sed -n 's/^go \(.*\)/Go \1/p' go.work; }

# module_dirs lists the directories of the workspace's modules.
module_dirs() { go list -m -f '{{.Dir}}'; }

# tool prints the path of a tool, given as path@version, and builds it first if it is not in the cache.
tool() {
	local name version bin
	name=$(basename "${1%@*}")
	version=${1#*@}
	bin=$PWD/.cache/tools/$name-$version/$name
	if [ ! -x "$bin" ]; then
		say "building $1 into .cache (once; it takes some minutes)" >&2
		GOBIN=$(dirname "$bin") GOWORK=off GOFLAGS='' go install "$1" >&2
	fi
	say "$bin"
}
