#!/bin/sh
# Installs what devplane's real nodes need. Prints nothing if nothing is missing. Where it can't
# install, it says what is missing and lets the caller go on: process nodes need none of it.
set -eu

missing=
need() { # PACKAGE, and the file or command that shows that it is there, from whatever package
	command -v "$2" >/dev/null 2>&1 || missing="$missing $1"
}
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

[ "$(uname -s)" = Linux ] || exit 0
need containerd containerd
need runc runc
need containernetworking-plugins /usr/lib/cni/bridge
need iproute2 ip
static_busybox() { busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1; }
static_busybox || missing="$missing busybox-static"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "deps: real nodes need root and, by Debian's names:$missing; without them there are process nodes only"
	exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() {
	# shellcheck disable=SC2086 # one word per package
	apt-get install -y --no-install-recommends $missing >>"$log" 2>&1 </dev/null
}
echo "deps: installing$missing"
if install || { apt-get update >>"$log" 2>&1 </dev/null && install; }; then
	exit 0
fi
cat "$log" >&2
echo "deps: apt-get could not install$missing; its output is above" >&2
exit 1
