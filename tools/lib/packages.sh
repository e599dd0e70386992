# shellcheck shell=bash
# packages.sh: which Debian packages each command of tools/ needs, installing them, and whose work the rest is. Sourced.

declare -A package_lists=(
	[build]="gcc libc6-dev pkg-config meson ninja-build scdoc libzmq3-dev libmsgpack-dev liblmdb-dev libxxhash-dev libjansson-dev
		libunistring-dev libmicrohttpd-dev libgnutls28-dev node-d3 python3 python3-dev gnuplot-nox"
	[demo]="python3-numpy python3-sklearn wamerican wbritish wfrench wngerman wspanish witalian wswedish wdutch wportuguese"
	[test]="libcmocka-dev g++ openssl python3-numpy python3-prometheus-client python3-pytest python3-sklearn python3-zmq python3-msgpack
		zsh fish"
	[browser]="chromium chromium-driver python3-selenium"
	[frameworks]="python3-venv"
	[spark]="openjdk-17-jre-headless python3-venv"
	[wheel]="git python3-venv dpkg-dev g++ make autoconf automake libtool"
	[fuzz]="clang libclang-rt-14-dev"
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

# install_packages LIST...: installs what is missing, as root or through sudo. With nothing missing it asks neither the
# network nor for a password. What apt-get says is shown if it fails.
install_packages() {
	local missing log as_root=()
	mapfile -t missing < <(packages_missing "$@")
	[ ${#missing[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "$0: Debian packages are missing, and installing them takes root: ${missing[*]}" >&2
			exit 1
		fi
		as_root=(sudo)
	fi
	echo "installing Debian packages: ${missing[*]}" | fold -s -w 110 | sed '1s/^/      /; 2,$s/^/        /'
	"${as_root[@]}" true # a password is asked for here, not into the log
	log=$(mktemp -t portolan-apt.XXXXXX)
	if ! { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
	} >"$log" 2>&1 </dev/null; then
		tail -n 25 "$log" >&2
		echo "$0: installing packages failed (everything apt-get said is in $log)" >&2
		exit 1
	fi
	rm -f "$log"
}

# rerun_as_user ARGUMENTS...: when root works in somebody else's clone (sudo tools/demo), starts the script again as that
# user, with --as-user before its arguments, so that no file of root's is left in the clone. To be called after the packages
# are installed, in the clone's root.
rerun_as_user() {
	local owner home
	[ "$(id -u)" = 0 ] || return 0
	owner=$(stat -c %U .)
	if [ "$owner" = root ] || [ "$owner" = UNKNOWN ] || ! runuser -u "$owner" -- test -w .; then
		return 0
	fi
	home=$(getent passwd "$owner" | cut -d: -f6)
	exec runuser -u "$owner" -- env HOME="$home" USER="$owner" LOGNAME="$owner" "tools/$(basename "$0")" --as-user "$@"
}
