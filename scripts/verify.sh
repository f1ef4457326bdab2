#!/bin/sh
# Checks what is committed, as someone would who has just cloned it.
set -eu
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || echo "verify: what is not committed is not looked at"
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
trap 'exit 130' INT TERM
git clone -q . "$clone/berth"
"$clone/berth/.ci/run"
