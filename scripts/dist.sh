#!/bin/sh
# Builds the release: static binaries and their checksums, the same bytes for the same commit and
# Go version.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
version=$(git describe --tags --always --dirty 2>/dev/null) || version=devel

rm -rf dist
mkdir dist
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	os=${platform%/*} arch=${platform#*/}
	for program in berth:internal/cli berth-observer:internal/observer/command; do
		name=${program%:*} package=${program#*:}
		echo "dist: $name $version $platform"
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch "$go" build -trimpath -buildvcs=false \
			-ldflags "-s -w -X github.com/berthdev/berth/$package.version=$version" \
			-o "dist/$name-$os-$arch" "./cmd/$name"
	done
done
cd dist
if command -v sha256sum >/dev/null; then
	sha256sum berth-* >SHA256SUMS
else
	shasum -a 256 berth-* >SHA256SUMS
fi
cat SHA256SUMS
