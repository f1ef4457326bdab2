#!/bin/sh
# Builds the release: static binaries, an archive of each with the licence, their checksums, and the manifest
# with which krew installs berth as a plugin of kubectl. The same bytes for the same commit and Go version,
# archives where tar is GNU's.
#
# BERTH_RELEASES is where the archives will be found; the manifest names it.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
version=$(git describe --tags --always --dirty 2>/dev/null) || version=devel
date=$(git log -1 --format=%ct 2>/dev/null) || date=0
releases=${BERTH_RELEASES:-https://github.com/berthdev/berth/releases/download/$version}

sum() {
	if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

# pack ARCHIVE FILE... puts files of the current folder into an archive.
pack() {
	archive=$1
	shift
	if tar --version 2>/dev/null | grep -q GNU; then
		tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$date" -cf - "$@" | gzip -n >"$archive"
	else
		tar -cf - "$@" | gzip -n >"$archive"
	fi
}

rm -rf dist
mkdir -p dist/pack
cp LICENSE dist/pack/
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	os=${platform%/*} arch=${platform#*/}
	for program in berth:internal/cli berth-observer:internal/observer/command; do
		name=${program%:*} package=${program#*:}
		echo "dist: $name $version $platform"
		CGO_ENABLED=0 GOOS=$os GOARCH=$arch "$go" build -trimpath -buildvcs=false \
			-ldflags "-s -w -X github.com/berthdev/berth/$package.version=$version" \
			-o "dist/$name-$os-$arch" "./cmd/$name"
	done
	cp "dist/berth-$os-$arch" dist/pack/kubectl-berth
	(cd dist/pack && pack "../kubectl-berth-$os-$arch.tar.gz" LICENSE kubectl-berth)
done
rm -r dist/pack

# The manifest wants a version as v1.2.3.
case $version in
v[0-9]*) krew=$version ;;
*) krew=v0.0.0-g$version ;;
esac
{
	cat <<-MANIFEST
		apiVersion: krew.googlecontainertools.github.com/v1alpha2
		kind: Plugin
		metadata:
		  name: berth
		spec:
		  version: $krew
		  homepage: https://github.com/berthdev/berth
		  shortDescription: Say why a workload is where it is, and what would help
		  description: |
		    "kubectl berth why" says why a workload is where it is, what stops it from moving, and what would
		    change if one rule were gone; for a pod that waits, why it waits. It reads with your own rights and
		    installs nothing. The other commands run pipelines as pods.
		  platforms:
	MANIFEST
	for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
		os=${platform%/*} arch=${platform#*/}
		file=kubectl-berth-$os-$arch.tar.gz
		cat <<-MANIFEST
			  - selector: {matchLabels: {os: $os, arch: $arch}}
			    uri: $releases/$file
			    sha256: $(sum "dist/$file" | cut -d ' ' -f 1)
			    bin: kubectl-berth
		MANIFEST
	done
} >dist/berth.yaml

cd dist
sum berth-* kubectl-berth-* >SHA256SUMS
cat SHA256SUMS
