#!/bin/sh
# Runs every check, all of them even if one fails, and names those that failed.
set -u
cd "$(dirname "$0")/.."
go=${GO:-go}
tools=$PWD/tools/go.mod
failed=
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM

# step NAME COMMAND...
step() {
	name=$1
	shift
	begun=$(date +%s)
	if "$@" >"$temp/output" 2>&1; then
		result=ok
	else
		result=FAILED
		failed="$failed $name"
	fi
	printf '%-12s %-6s %3ss\n' "$name" "$result" "$(($(date +%s) - begun))"
	sed 's/^/    /' "$temp/output"
}

format() {
	unformatted=$(gofmt -l .) && [ -z "$unformatted" ] && return
	printf '%s\n' "$unformatted" "to format them: make fmt"
	return 1
}

# All packages of devplane but those that import Kubernetes' programs: checking these would mean
# to compile Kubernetes. They only hand over to it.
devplane() {
	module=$("$go" -C devplane list -m) || return
	packages=$("$go" -C devplane list -find ./...) || return
	packages=$(printf '%s\n' "$packages" | grep -vx -e "$module" -e "$module/internal/parts")
	echo "devplane without . and ./internal/parts, which import all of Kubernetes"
	# shellcheck disable=SC2086 # one word per package
	(cd devplane && "$@" $packages)
}

staticcheck() { "$go" tool -modfile="$tools" staticcheck "$@"; }

# The generated files are written anew in a copy of the checkout; nothing may change there.
generated() {
	mkdir "$temp/have" "$temp/want"
	tar -cf "$temp/tar" --exclude=./.git --exclude=./dist . || return
	(cd "$temp/have" && tar -xf "$temp/tar") && (cd "$temp/want" && tar -xf "$temp/tar") || return
	(cd "$temp/want" && "$go" generate ./...) || return
	(cd "$temp" && diff -r have want) && return
	echo "to write them anew: make generate"
	return 1
}

tidy() {
	status=0
	for module in . tools devplane; do
		"$go" -C $module mod tidy -diff || { echo "to mend it: go -C $module mod tidy"; status=1; }
	done
	return $status
}

# Parses every script: those that bash runs with bash, the others with sh.
scripts() {
	status=0
	for file in .ci/* scripts/*; do
		[ -f "$file" ] || continue
		case $(head -n 1 "$file") in
		*bash*) bash -n "$file" || status=1 ;;
		*) sh -n "$file" || status=1 ;;
		esac
	done
	return $status
}

lattice() { "$go" test ./internal/archtest; }

step format format
step scripts scripts
step tidy tidy
step vet "$go" vet ./...
step vet-devplane devplane "$go" vet
step lattice lattice
step generated generated
step lint staticcheck ./...
step lint-devplane devplane staticcheck
step vulns sh scripts/govulncheck.sh "$go" "$tools"

[ -z "$failed" ] && exit
echo "check: failed:$failed" >&2
exit 1
