# shellcheck shell=bash
# packages.sh: which Debian packages each of our commands needs, and installing them. Sourced.

declare -A package_lists=(
	[build]="gcc libc6-dev pkg-config meson ninja-build libzmq3-dev libmsgpack-dev liblmdb-dev libxxhash-dev libjansson-dev
		python3 python3-dev gnuplot-nox"
	[demo]="python3-numpy python3-sklearn wamerican wbritish wfrench wngerman wspanish witalian wswedish wdutch wportuguese"
	[test]="libcmocka-dev clang python3-numpy python3-pytest python3-zmq python3-msgpack shellcheck strace scdoc"
)

# packages_missing LIST...: the packages of these lists that are not installed, one per line.
packages_missing() {
	local list package
	for list in "$@"; do
		for package in ${package_lists[$list]}; do
			[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
		done
	done | sort -u
}

# install_packages LOG LIST...: installs what is missing, as root or through sudo; asks the network for nothing otherwise.
install_packages() {
	local log=$1 missing as_root=()
	shift
	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || {
			echo "these Debian packages are missing, and installing them takes root: ${missing[*]}" >&2
			return 1
		}
		as_root=(sudo)
	fi
	"${as_root[@]}" true # the password, if any, before output goes to the log
	{
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
			"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
				apt-get install -q -y --no-install-recommends "${missing[@]}"
	} >"$log" 2>&1 </dev/null
}
